//! Insertions by an effect, of releases 14 and 15, as insertions that give a new tensor.
//!
//! ```text
//! sparse_tensor.lex_insert %t, %at, %x        %i = memref.load %at[%c0]
//!                                             %t1 = sparse_tensor.insert %x into %t[%i]
//! scf.for … { … lex_insert %t … }             %t2 = scf.for … iter_args(%a = %t1) { … yield %a1 }
//! sparse_tensor.load %t hasInserts            sparse_tensor.load %t2 hasInserts
//! ```
//!
//! Each use of a tensor behind an insertion becomes one of the newest tensor. Loops carry tensors
//! that their bodies insert into, and conditions give them as results. A function gives the tensors
//! that it inserts into, its arguments, behind its other results ([`effects`]).

use std::collections::HashMap;

use sparsec_base::Result;

use crate::definition::Definition;
use crate::module::{Block, BlockData, Op, OpData, Origin, RegionData, Value};
use crate::types::Type;

use super::{Rewrite, find};

mod effects;

use effects::Effects;

/// The newest tensor in place of one that was inserted into.
type Newest = HashMap<Value, Value>;

impl Rewrite {
    /// Rewrites the insertions of all functions, if the release has no effects.
    pub(super) fn insertions(&mut self) -> Result<()> {
        if self.dialect.release() < 16 || !self.has_effects() {
            return Ok(());
        }
        let effects = self.effects();
        for op in self.module.walk() {
            let operation = self.module.op(op);
            if !matches!(operation.name(), "func.func" | "builtin.func") {
                continue;
            }
            let Some(block) = operation.region("body").block else {
                continue;
            };
            let mut newest = Newest::new();
            self.block_of_insertions(block, &effects, &mut newest)?;
            self.gives_arguments(op, block, &effects, &newest);
        }
        Ok(())
    }

    fn has_effects(&self) -> bool {
        let ops = self.module.walk();
        ops.into_iter().any(|op| self.changed_by(op).is_some())
    }

    /// The tensor that an operation changes by an effect.
    fn changed_by(&self, op: Op) -> Option<Value> {
        let operation = self.module.op(op);
        let is_old = operation.data().definition.releases.to < 16;
        let names = ["sparse_tensor.lex_insert", "sparse_tensor.compress"];
        (is_old && names.contains(&operation.name())).then(|| operation.operand("tensor"))
    }

    /// The tensors from outside of a block that operations in it change, in the order of the text.
    fn changed_in(&self, block: Block, effects: &Effects) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let ops = self.module.blocks[block].ops.iter();
        let inside: Vec<Op> = ops.flat_map(|op| self.module.walk_from(*op)).collect();
        for op in &inside {
            for tensor in self.all_changed_by(*op, effects) {
                let tensor = self.carried_from(tensor, block);
                let is_inside = match self.module.values[tensor].origin {
                    Origin::Result(origin, _) => inside.contains(&origin),
                    Origin::Argument(..) => false,
                };
                if !is_inside && !found.contains(&tensor) {
                    found.push(tensor);
                }
            }
        }
        found
    }

    /// The tensor outside of a block that a loop in or around it carries as this value.
    fn carried_from(&self, mut tensor: Value, block: Block) -> Value {
        let around = self.module.regions[self.module.blocks[block].region].op;
        while let Origin::Argument(of, place) = self.module.values[tensor].origin {
            let Some(op) = self.module.regions[self.module.blocks[of].region].op else {
                break;
            };
            let is_here = around.is_some_and(|around| self.module.walk_from(around).contains(&op));
            let operation = self.module.op(op);
            if !is_here || operation.name() != "scf.for" || place == 0 {
                break;
            }
            tensor = operation.operands("initArgs")[place - 1];
        }
        tensor
    }

    fn block_of_insertions(
        &mut self,
        block: Block,
        effects: &Effects,
        newest: &mut Newest,
    ) -> Result<()> {
        for op in self.module.blocks[block].ops.clone() {
            for tensor in self.all_changed_by(op, effects) {
                self.has_one_name(op, tensor, newest)?;
            }
            for operand in &mut self.module.ops[op].operands {
                if let Some(new) = newest.get(operand) {
                    *operand = *new;
                }
            }
            match self.module.op(op).name() {
                "sparse_tensor.lex_insert" => self.inserted(op, newest),
                "sparse_tensor.compress" if self.changed_by(op).is_some() => {
                    self.compressed(op, newest);
                }
                "func.call" | "std.call" => self.called(op, effects, newest)?,
                _ => self.regions_of_insertions(op, effects, newest)?,
            }
        }
        Ok(())
    }

    /// Refuses insertions into a tensor that another value means too: one that a condition or a loop
    /// chose among others, or the result of an operation that may give its operand back.
    fn has_one_name(&self, op: Op, tensor: Value, newest: &Newest) -> Result<()> {
        let is_known = newest.contains_key(&tensor) || newest.values().any(|it| *it == tensor);
        let Origin::Result(by, _) = self.module.values[tensor].origin else {
            return Ok(());
        };
        if is_known {
            return Ok(());
        }
        let maker = self.module.op(by);
        let ty = self.module.ty(tensor);
        let (message, label, help) = match maker.name() {
            "scf.if" | "scf.for" | "scf.while" | "arith.select" | "std.select" => (
                "insertions into a tensor that is one of several",
                "chosen here",
                "insert in each branch, into its tensor",
            ),
            "func.call" | "std.call" | "tensor.cast" | "sparse_tensor.load"
                if maker
                    .data()
                    .operands
                    .iter()
                    .any(|it| is_like(self.module.ty(*it), ty)) =>
            {
                (
                    "insertions into a tensor that has another name",
                    "named again here",
                    "insert into the operand of this operation",
                )
            }
            _ => return Ok(()),
        };
        let span = self.module.ops[by].span;
        Err(self
            .refuse(op, message.to_owned())
            .also(self.module.source(), span, label)
            .help(help))
    }

    /// The first coordinates of a memref, read before an operation.
    fn coordinates(&mut self, op: Op, memref: Value, n: usize) -> Vec<Value> {
        (0..n)
            .map(|level| {
                let place = self.new_constant(op, level as u64);
                let load = find("memref.load", crate::release::Dialect::OLDEST);
                let load = self.new_op(load, vec![memref, place], Vec::new(), op, false);
                let value = self.new_result(load, Type::Index);
                self.module.ops[load].results.push(value);
                value
            })
            .collect()
    }

    /// Gives an operation operands, and the new tensor as its result.
    fn gives_tensor(
        &mut self,
        op: Op,
        to: &'static Definition,
        groups: &[&[Value]],
        tensor: Value,
        newest: &mut Newest,
    ) {
        let ty = self.module.ty(tensor).clone();
        let new = self.new_result(op, ty);
        let data = &mut self.module.ops[op];
        data.definition = to;
        data.operands = groups.concat();
        data.operand_spans = vec![data.span; data.operands.len()];
        data.operand_groups = groups.iter().map(|group| group.len()).collect();
        data.results = vec![new];
        data.result_groups = vec![1];
        self.is_now(tensor, new, newest);
    }

    /// From here on a tensor is another value.
    fn is_now(&self, tensor: Value, new: Value, newest: &mut Newest) {
        for value in newest.values_mut() {
            if *value == tensor {
                *value = new;
            }
        }
        newest.insert(tensor, new);
    }

    fn inserted(&mut self, op: Op, newest: &mut Newest) {
        let operation = self.module.op(op);
        let (tensor, memref) = (operation.operand("tensor"), operation.operand("indices"));
        let value = operation.operand("value");
        let n_levels = operation.operand_type("tensor").encoding();
        let n_levels = n_levels.map_or(0, |encoding| encoding.n_levels());
        let levels = self.coordinates(op, memref, n_levels);
        let to = find("sparse_tensor.insert", 16);
        self.gives_tensor(op, to, &[&[value], &[tensor], &levels], tensor, newest);
    }

    fn compressed(&mut self, op: Op, newest: &mut Newest) {
        let operation = self.module.op(op);
        let (tensor, memref) = (operation.operand("tensor"), operation.operand("indices"));
        let arrays = ["values", "filled", "added", "count"].map(|name| operation.operand(name));
        let n_levels = operation.operand_type("tensor").encoding();
        let n_outer = n_levels.map_or(0, |encoding| encoding.n_levels() - 1);
        let levels = self.coordinates(op, memref, n_outer);
        let to = find("sparse_tensor.compress", 16);
        let [values, filled, added, count] = arrays;
        let groups: [&[Value]; 6] = [&[values], &[filled], &[added], &[count], &[tensor], &levels];
        self.gives_tensor(op, to, &groups, tensor, newest);
    }

    /// Carries tensors that regions insert into.
    fn regions_of_insertions(
        &mut self,
        op: Op,
        effects: &Effects,
        newest: &mut Newest,
    ) -> Result<()> {
        let regions = self.module.ops[op].regions.clone();
        let blocks = regions
            .iter()
            .map(|region| self.module.regions[*region].block);
        let blocks: Vec<Option<Block>> = blocks.collect();
        let now = |tensor: &Value, newest: &Newest| newest.get(tensor).copied().unwrap_or(*tensor);
        let mut changed: Vec<Value> = Vec::new();
        for block in blocks.iter().flatten() {
            // The text names the tensors as they were before.
            for tensor in self.changed_in(*block, effects) {
                let newest_of = now(&tensor, newest);
                if !changed.iter().any(|known| now(known, newest) == newest_of) {
                    changed.push(tensor);
                }
            }
        }
        if changed.is_empty() {
            for block in blocks.iter().flatten() {
                self.block_of_insertions(*block, effects, &mut newest.clone())?;
            }
            self.same_tensors(op, &blocks, newest);
            return Ok(());
        }
        let name = self.module.op(op).name();
        // `scf.while` carries tensors through two regions.
        let inside = self.module.walk_from(op).into_iter();
        let inner = inside.flat_map(|op| self.module.ops[op].regions.clone());
        let inner = inner.map(|region| self.module.regions[region].block);
        let inner: Vec<Option<Block>> = inner.collect();
        let is_carried = |tensor: &&Value| match self.module.values[**tensor].origin {
            Origin::Argument(block, _) => inner.contains(&Some(block)),
            Origin::Result(..) => false,
        };
        if changed.iter().any(|it| is_carried(&it)) {
            let message = "insertions into a tensor that `scf.while` carries".to_owned();
            return Err(self.refuse(op, message).help(
                "insert into the tensor from outside of the loop, which need not be carried",
            ));
        }
        let is_loop = match name {
            "scf.for" | "scf.while" => true,
            "scf.if" => false,
            _ => {
                let message = format!("insertions inside of `{name}`");
                return Err(self
                    .refuse(op, message)
                    .help("insert in `scf.for`, `scf.if` and `scf.while`"));
            }
        };
        // A loop may carry some of the tensors already.
        let places: Vec<Option<usize>> = changed
            .iter()
            .map(|tensor| match name {
                "scf.for" => {
                    let carried = self.module.op(op).operands("initArgs");
                    carried.iter().position(|it| *it == now(tensor, newest))
                }
                _ => None,
            })
            .collect();
        for tensor in changed.iter().filter(|_| name == "scf.for") {
            let carried = self.module.op(op).operands("initArgs").iter();
            if carried.filter(|it| **it == now(tensor, newest)).count() > 1 {
                let message = "insertions into a tensor that the loop carries twice".to_owned();
                return Err(self.refuse(op, message).help("carry each tensor once"));
            }
        }
        if is_loop {
            let added = changed
                .iter()
                .zip(&places)
                .filter(|(_, place)| place.is_none());
            let initial: Vec<Value> = added.map(|(it, _)| now(it, newest)).collect();
            let data = &mut self.module.ops[op];
            data.operand_spans.extend(initial.iter().map(|_| data.span));
            if let Some(last) = data.operand_groups.last_mut() {
                *last += initial.len();
            }
            data.operands.extend(initial);
        }
        for (number, block) in blocks.into_iter().enumerate() {
            let block = match block {
                Some(block) => block,
                None => self.new_branch(op, regions[number]),
            };
            let mut inner = newest.clone();
            if is_loop {
                for (tensor, carried) in changed.iter().zip(&places) {
                    if let Some(carried) = carried {
                        let argument = self.module.blocks[block].arguments[carried + 1];
                        self.is_now(now(tensor, newest), argument, &mut inner);
                        inner.insert(*tensor, argument);
                        continue;
                    }
                    let place = self.module.blocks[block].arguments.len();
                    let outside = now(tensor, newest);
                    let (ty, span) = (self.module.ty(*tensor).clone(), self.module.ops[op].span);
                    let origin = Origin::Argument(block, place);
                    let argument = self.module.add_value(String::new(), ty, origin, span);
                    self.module.blocks[block].arguments.push(argument);
                    self.is_now(outside, argument, &mut inner);
                    inner.insert(*tensor, argument);
                }
            }
            self.block_of_insertions(block, effects, &mut inner)?;
            let mut added = Vec::new();
            for (tensor, carried) in changed.iter().zip(&places) {
                let last = now(tensor, &inner);
                match carried {
                    None => added.push(last),
                    Some(place) if self.yielded(block, *place) == Some(last) => {}
                    Some(_) => {
                        let message = "a loop that carries a tensor and yields another".to_owned();
                        return Err(self
                            .refuse(op, message)
                            .help("yield the tensor that the loop inserts into"));
                    }
                }
            }
            self.yields(op, block, added)?;
        }
        for (tensor, place) in changed.into_iter().zip(places) {
            let result = match place {
                Some(place) => self.module.ops[op].results[place],
                None => self.more_result(op, tensor),
            };
            self.is_now(now(&tensor, newest), result, newest);
            newest.insert(tensor, result);
        }
        Ok(())
    }

    /// Notes results that are a tensor from outside: those that a loop carries unchanged, and those
    /// that both branches of a condition yield.
    fn same_tensors(&self, op: Op, blocks: &[Option<Block>], newest: &mut Newest) {
        let operation = self.module.op(op);
        for (place, result) in operation.data().results.iter().enumerate() {
            let outside = match (operation.name(), blocks) {
                ("scf.for", [Some(body)]) => {
                    let carried = self.module.blocks[*body].arguments.get(place + 1);
                    let is_unchanged = self.yielded(*body, place).as_ref() == carried;
                    is_unchanged.then(|| operation.operands("initArgs")[place])
                }
                ("scf.if", [Some(first), Some(second)]) => {
                    let given = self.yielded(*first, place);
                    given.filter(|_| given == self.yielded(*second, place))
                }
                _ => None,
            };
            if let Some(outside) = outside.filter(|it| self.module.ty(*it).encoding().is_some()) {
                newest.insert(*result, outside);
            }
        }
    }

    /// Gives an operation one more result, of the type of a tensor.
    fn more_result(&mut self, op: Op, tensor: Value) -> Value {
        let place = self.module.ops[op].results.len();
        let (ty, span) = (self.module.ty(tensor).clone(), self.module.ops[op].span);
        let origin = Origin::Result(op, place);
        let result = self.module.add_value(String::new(), ty, origin, span);
        let data = &mut self.module.ops[op];
        data.results.push(result);
        match data.result_groups.last_mut() {
            Some(last) => *last += 1,
            None => data.result_groups.push(1),
        }
        result
    }

    /// An operand of the last operation of a block.
    fn yielded(&self, block: Block, place: usize) -> Option<Value> {
        let last = *self.module.blocks[block].ops.last()?;
        self.module.ops[last].operands.get(place).copied()
    }

    /// Adds operands to the last operation of a block.
    fn yields(&mut self, op: Op, block: Block, values: Vec<Value>) -> Result<()> {
        let last = self.module.blocks[block].ops.last().copied();
        let Some(last) = last.filter(|last| self.module.op(*last).name().starts_with("scf."))
        else {
            let error = self.refuse(op, "a region without `scf.yield`".to_owned());
            return Err(error.help("end the region by `scf.yield`"));
        };
        let data = &mut self.module.ops[last];
        data.operand_spans.extend(values.iter().map(|_| data.span));
        if let Some(group) = data.operand_groups.last_mut() {
            *group += values.len();
        }
        data.operands.extend(values);
        Ok(())
    }

    /// A branch that does nothing, for a condition without one.
    pub(super) fn new_branch(&mut self, op: Op, region: crate::module::Region) -> Block {
        let span = self.module.ops[op].span;
        let block = self.module.blocks.push(BlockData {
            arguments: Vec::new(),
            ops: Vec::new(),
            region,
            span,
        });
        let end = self.module.ops.push(OpData {
            definition: find("scf.yield", crate::release::Dialect::OLDEST),
            operands: Vec::new(),
            operand_spans: Vec::new(),
            operand_groups: vec![0],
            results: Vec::new(),
            result_groups: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
            block: Some(block),
            span,
        });
        self.module.blocks[block].ops.push(end);
        let RegionData { block: of, .. } = &mut self.module.regions[region];
        *of = Some(block);
        block
    }
}

/// Whether tensors of these types may be the same: extents may be known in one of them alone.
fn is_like(a: &Type, b: &Type) -> bool {
    a.encoding() == b.encoding() && a.encoding().is_some() && a.element() == b.element()
}
