//! Rewriting a module for another release.
//!
//! Most operations differ only in their name, or in whether the level is an operand or an
//! attribute. [`steps`] lists the differences. An operation takes steps until the wanted release
//! knows it:
//!
//! ```text
//! sparse_tensor.pointers %t, %c1     …..15
//!        │ the level is an attribute
//! sparse_tensor.pointers %t {dimension = 1}     16
//!        │ another name
//! sparse_tensor.positions %t {level = 1}     17..…
//! ```
//!
//! The printer spells encodings; this module only checks that the release can spell them. Anything
//! that the release cannot express is refused with its place, so a rewritten module keeps its
//! meaning.

use std::collections::HashMap;

use sparsec_base::{Diagnostic, Result, Span, code};

use crate::attribute::Attribute;
use crate::definition::Definition;
use crate::module::{Module, Op, OpData, Operation, Origin, Value};
use crate::parse::flags_of;
use crate::release::{Dialect, Releases};
use crate::types::Type;

mod arrays;
mod buffers;
mod coordinates;
mod escapes;
mod in_place;
mod insertions;
mod interleave;
mod limits;
pub(crate) mod names;
mod reshapes;
mod sizes;
mod steps;
mod symmetry;
mod values;

use steps::STEPS;

impl Module {
    /// The module in the spelling of `dialect`.
    ///
    /// # Errors
    /// `E1050` for an operation, an encoding or a type that the release lacks.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::{Dialect, Module};
    /// let old = "#SV = #sparse_tensor.encoding<{ dimLevelType = [\"compressed\"] }>
    /// func @f(%a: tensor<8xf64, #SV>) {
    ///   sparse_tensor.release %a : tensor<8xf64, #SV>
    ///   return
    /// }";
    /// let module = Module::parse(&Source::new("old", old), None)?;
    /// let text = module.rewritten(Dialect::Release(19))?.to_string();
    /// assert!(text.contains("map = (d0) -> (d0 : compressed)"));
    /// assert!(text.contains("bufferization.dealloc_tensor %a"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn rewritten(&self, dialect: Dialect) -> Result<Self> {
        let mut rewrite = Rewrite {
            module: self.clone(),
            dialect,
        };
        rewrite.encodings()?;
        rewrite.type_aliases()?;
        rewrite.insertions()?;
        for op in rewrite.module.walk() {
            rewrite.op(op)?;
        }
        rewrite.symmetry();
        rewrite.attributes()?;
        rewrite.module.dialect = dialect;
        if let Dialect::Release(number) = dialect {
            rewrite.module.releases = Releases::new(number, number);
        }
        rewrite.module.drop_unused();
        Ok(rewrite.module)
    }

    /// The parts of the module that do something else once it is rewritten for `dialect`: a message
    /// for each, with its line. They are symmetric files, of which releases read one triangle or
    /// both, and functions that compute in their arguments.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::{Dialect, Module};
    /// let old = "#SV = #sparse_tensor.encoding<{ dimLevelType = [\"dense\", \"compressed\"] }>
    /// func.func @f(%file: !llvm.ptr<i8>) -> tensor<?x?xf64, #SV> {
    ///   %a = sparse_tensor.new %file : !llvm.ptr<i8> to tensor<?x?xf64, #SV>
    ///   return %a : tensor<?x?xf64, #SV>
    /// }";
    /// let module = Module::parse(&Source::new("old.mlir", old), None)?;
    /// assert!(module.changes_in(Dialect::Release(19))[0].starts_with("old.mlir:3:"));
    /// assert!(module.changes_in(Dialect::Release(17)).is_empty());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn changes_in(&self, dialect: Dialect) -> Vec<String> {
        let mut changes = self.files_read_otherwise(dialect);
        changes.extend(self.computed_apart(dialect.release()));
        changes
    }

    /// `program.mlir:3:5`, the place of an operation.
    fn place_of(&self, op: Operation<'_>) -> String {
        let (line, column) = self.source().line_column(op.data().span.start);
        format!("{}:{line}:{column}", self.source().name())
    }

    /// Removes the marked constants that have no use left.
    fn drop_unused(&mut self) {
        let mut uses: HashMap<Value, usize> = HashMap::new();
        for op in self.walk() {
            for value in &self.ops[op].operands {
                *uses.entry(*value).or_default() += 1;
            }
        }
        for op in self.walk() {
            let data = &self.ops[op];
            let is_spent = data.attributes.iter().any(|(name, _)| name == SPENT);
            if !is_spent {
                continue;
            }
            let is_used = data.results.iter().any(|value| uses.contains_key(value));
            self.ops[op].attributes.retain(|(name, _)| name != SPENT);
            if let Some(block) = self.ops[op].block.filter(|_| !is_used) {
                self.blocks[block].ops.retain(|other| *other != op);
            }
        }
    }
}

/// Marks a constant that a rewritten operation used. No text contains this name.
const SPENT: &str = " spent";

/// Whether a release knows all words of an attribute.
fn is_spelt(value: &Attribute, dialect: Dialect) -> bool {
    match value {
        Attribute::Dialect(name, _) => {
            flags_of(name).is_none_or(|(_, releases)| dialect.knows(releases))
        }
        Attribute::Array(all) => all.iter().all(|value| is_spelt(value, dialect)),
        Attribute::Dictionary(all) => all.iter().all(|(_, value)| is_spelt(value, dialect)),
        _ => true,
    }
}

struct Rewrite {
    module: Module,
    dialect: Dialect,
}

impl Rewrite {
    fn refuse(&self, op: Op, message: String) -> Diagnostic {
        Diagnostic::new(code::NOT_IN_RELEASE, message).at(
            self.module.source(),
            self.module.ops[op].span,
            "not in this release",
        )
    }

    /// Checks that the release can spell all encodings.
    fn encodings(&self) -> Result<()> {
        for (name, encoding) in self.module.encodings() {
            let Some(why) = encoding.refusal(self.dialect) else {
                continue;
            };
            let message = format!(
                "`{name}` has no spelling in release {}: it {why}",
                self.dialect
            );
            let error = Diagnostic::new(code::NOT_IN_RELEASE, message);
            let mut ops = self.module.walk().into_iter();
            let op = ops.find(|op| self.module.encodings_of(*op).contains(&encoding));
            let types = self.module.aliases.types.iter();
            let mut types = types.filter(|(_, ty)| crate::encoding::list::has(ty, &encoding));
            let mut of_type = || types.find_map(|(name, _)| self.definition_of(name));
            let place = match (self.definition_of(&name), op) {
                (Some(span), _) => Some((span, "this encoding")),
                (None, Some(op)) => Some((self.module.ops[op].span, "this operation has it")),
                (None, None) => of_type().map(|span| (span, "this type has it")),
            };
            let error = match place {
                Some((span, label)) => error.at(self.module.source(), span, label),
                None => error,
            };
            return Err(error.help("`--emit encodings` shows which releases spell it"));
        }
        Ok(())
    }

    /// The place of the name in the line that defines an alias.
    pub(super) fn definition_of(&self, name: &str) -> Option<Span> {
        let text = self.module.source().text();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let at = start + line.len() - line.trim_start().len();
            let rest = line.trim_start().strip_prefix(name).map(str::trim_start);
            if rest.is_some_and(|rest| rest.starts_with('=')) {
                return Some(Span::new(at, at + name.len()));
            }
            start += line.len();
        }
        None
    }

    fn op(&mut self, op: Op) -> Result<()> {
        let written = self.module.ops[op].definition.name;
        let has_block = self.module.ops[op].block.is_some();
        // Each step leads to other releases, so the number of steps is a bound.
        for _ in Dialect::OLDEST..=Dialect::NEWEST {
            let definition = self.module.ops[op].definition;
            if self.dialect.knows(definition.releases) && self.dialect != Dialect::Sparsec {
                return self.types(op);
            }
            if self.dialect == Dialect::Sparsec {
                return Ok(());
            }
            let is_back = self.dialect.release() < definition.releases.from;
            let name = definition.name;
            let mut steps = STEPS.iter().copied().chain(names::steps());
            let step = steps.find(|step| {
                let from = if is_back { step.to } else { step.from };
                from == (name, definition.releases.from)
            });
            let Some(step) = step else {
                let message = format!("release {} has no `{written}`", self.dialect);
                let help = match name == written {
                    true => format!("it is known to {}", definition.releases),
                    false => format!("`{name}` is known to {}", definition.releases),
                };
                return Err(self.refuse(op, message).help(help));
            };
            let target = if is_back { step.from } else { step.to };
            let target = find_like(definition, target.0, target.1);
            let change = if is_back { step.back } else { step.forth };
            let Some(change) = change else {
                let message = format!("`{name}` cannot be written in release {}", self.dialect);
                return Err(self.refuse(op, message).help(step.why));
            };
            change(self, op, target)?;
            // A step may take the operation out of its block.
            if has_block && self.module.ops[op].block.is_none() {
                return Ok(());
            }
        }
        let name = self.module.ops[op].definition.name;
        Err(self
            .refuse(op, format!("release {} has no `{name}`", self.dialect))
            .help("choose another release"))
    }

    /// Drops `fastmath`, `restrict` and other attributes that the release lacks. They only permit
    /// optimizations.
    fn attributes(&mut self) -> Result<()> {
        let release = self.dialect.release();
        for op in self.module.walk() {
            let definition = self.module.ops[op].definition;
            let is_known = |name: &str, value: &Attribute| match value {
                Attribute::Dialect(dialect, _) if dialect == "arith.fastmath" => {
                    release
                        >= match definition.name {
                            "arith.extf" => 19,
                            "arith.cmpf" | "vector.reduction" => 17,
                            name if name.starts_with("complex.") => 17,
                            _ => 16,
                        }
                }
                Attribute::Dialect(dialect, _) if dialect == "arith.overflow" => release >= 18,
                // Attributes that a definition does not list have no meaning.
                value if definition.attribute(name).is_none() => is_spelt(value, self.dialect),
                Attribute::Unit if definition.name.starts_with("bufferization.to_") => {
                    release >= 17
                }
                _ => true,
            };
            self.module.ops[op]
                .attributes
                .retain(|(name, value)| is_known(name, value));
            self.in_place(op);
            // Releases from 17 on bufferize such tensors alone, earlier ones all.
            let has_restrict = self.attribute(op, "restrict").is_some();
            if definition.name == "bufferization.to_tensor"
                && self.module.dialect.release() < 17
                && release >= 17
                && !has_restrict
            {
                let restrict = ("restrict".to_owned(), Attribute::Unit);
                self.module.ops[op].attributes.push(restrict);
            }
            self.kind_of_reduction(op)?;
            definition.sort(&mut self.module.ops[op].attributes);
        }
        Ok(())
    }

    // The building blocks of steps.

    /// Gives an operation another definition with the same groups.
    fn rename(&mut self, op: Op, to: &'static Definition) {
        self.module.ops[op].definition = to;
    }

    fn attribute(&self, op: Op, name: &str) -> Option<Attribute> {
        let found = self.module.ops[op]
            .attributes
            .iter()
            .find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    fn rename_attribute(&mut self, op: Op, from: &str, to: &str) {
        for (name, _) in &mut self.module.ops[op].attributes {
            if name == from {
                *name = to.to_owned();
            }
        }
    }

    fn remove_attribute(&mut self, op: Op, name: &str) {
        self.module.ops[op]
            .attributes
            .retain(|(known, _)| known != name);
    }

    /// Removes a group of operands, and returns them.
    fn remove_operands(&mut self, op: Op, group: usize) -> Vec<Value> {
        let data = &mut self.module.ops[op];
        let from: usize = data.operand_groups[..group].iter().sum();
        let n = data.operand_groups.remove(group);
        data.operand_spans.drain(from..from + n);
        data.operands.drain(from..from + n).collect()
    }

    /// Reorders the groups of operands: group `n` becomes the former group `order[n]`.
    fn reorder_operands(&mut self, op: Op, order: &[usize]) {
        let data = &mut self.module.ops[op];
        let starts: Vec<usize> = (0..data.operand_groups.len())
            .map(|n| data.operand_groups[..n].iter().sum())
            .collect();
        let pick = |n: &usize| starts[*n]..starts[*n] + data.operand_groups[*n];
        let operands: Vec<Value> = order
            .iter()
            .flat_map(|n| data.operands[pick(n)].to_vec())
            .collect();
        let spans = order
            .iter()
            .flat_map(|n| data.operand_spans[pick(n)].to_vec())
            .collect();
        let groups = order.iter().map(|n| data.operand_groups[*n]).collect();
        data.operands = operands;
        data.operand_spans = spans;
        data.operand_groups = groups;
    }

    /// As [`reorder_operands`](Self::reorder_operands), for results.
    fn reorder_results(&mut self, op: Op, order: &[usize]) {
        let data = &mut self.module.ops[op];
        let starts: Vec<usize> = (0..data.result_groups.len())
            .map(|n| data.result_groups[..n].iter().sum())
            .collect();
        let pick = |n: &usize| starts[*n]..starts[*n] + data.result_groups[*n];
        let results: Vec<Value> = order
            .iter()
            .flat_map(|n| data.results[pick(n)].to_vec())
            .collect();
        let groups = order.iter().map(|n| data.result_groups[*n]).collect();
        data.results = results.clone();
        data.result_groups = groups;
        for (n, value) in results.into_iter().enumerate() {
            self.module.values[value].origin = Origin::Result(op, n);
        }
    }

    /// The integer of a constant, which is marked as [`SPENT`].
    fn constant(&mut self, value: Value) -> Option<i128> {
        let Origin::Result(op, _) = self.module.values[value].origin else {
            return None;
        };
        if self.module.op(op).meaning() != "arith.constant" {
            return None;
        }
        let Some(Attribute::Integer(number, _)) = self.attribute(op, "value") else {
            return None;
        };
        if self.attribute(op, SPENT).is_none() {
            self.module.ops[op]
                .attributes
                .push((SPENT.to_owned(), Attribute::Unit));
        }
        Some(number)
    }

    /// Adds a constant of type `index` before an operation.
    fn new_constant(&mut self, before: Op, number: u64) -> Value {
        let definition = match self.dialect.release() {
            ..14 => find("std.constant", Dialect::OLDEST),
            _ => find("arith.constant", 14),
        };
        let attributes = vec![("value".to_owned(), Attribute::index(number))];
        let op = self.new_op(definition, Vec::new(), attributes, before, false);
        let value = self.new_result(op, Type::Index);
        self.module.ops[op].results.push(value);
        value
    }

    /// Adds a cast between `index` and an integer type, before or after an operation.
    fn new_cast(&mut self, at: Op, value: Value, to: Type, is_after: bool) -> Value {
        let definition = find("arith.index_cast", 14);
        let op = self.new_op(definition, vec![value], Vec::new(), at, is_after);
        let value = self.new_result(op, to);
        self.module.ops[op].results.push(value);
        value
    }

    /// A value that an operation is to give in place of its first one.
    fn new_result(&mut self, op: Op, ty: Type) -> Value {
        let span = self.module.ops[op].span;
        self.module
            .add_value(String::new(), ty, Origin::Result(op, 0), span)
    }

    /// Gives the name and the uses of the result of a new operation to an older value.
    fn moved_result(&mut self, new: Value, old: Value) {
        let origin = self.module.values[new].origin;
        self.module.values[old].origin = origin;
        if let Origin::Result(op, _) = origin {
            self.module.ops[op].results[0] = old;
        }
    }

    /// Adds an operation of one result, which is still to be made, before or after another.
    fn new_op(
        &mut self,
        definition: &'static Definition,
        operands: Vec<Value>,
        attributes: Vec<(String, Attribute)>,
        at: Op,
        is_after: bool,
    ) -> Op {
        let span = self.module.ops[at].span;
        let op = self.module.ops.push(OpData {
            definition,
            operand_spans: vec![span; operands.len()],
            operand_groups: operands.iter().map(|_| 1).collect(),
            operands,
            results: Vec::new(),
            result_groups: vec![1],
            attributes,
            regions: Vec::new(),
            block: self.module.ops[at].block,
            span,
        });
        if let Some(block) = self.module.ops[at].block {
            let ops = &mut self.module.blocks[block].ops;
            let place = ops.iter().position(|other| *other == at);
            ops.insert(place.unwrap_or_default() + usize::from(is_after), op);
        }
        op
    }
}

/// The definition of a name whose first release is `from`. If there are several forms, the one in
/// the place of `like` among the forms of its own name.
fn find_like(like: &Definition, name: &str, from: u8) -> &'static Definition {
    let forms = |name: &str, from: u8| {
        let known = Definition::find(name).iter().copied();
        known.filter(move |known| known.releases.from == from)
    };
    let mut own = forms(like.name, like.releases.from);
    let place = own.position(|known| std::ptr::eq(known, like));
    let mut found = forms(name, from);
    let found = found.nth(place.unwrap_or(0));
    found.unwrap_or_else(|| find(name, from))
}

/// The definition of a name whose first release is `from`.
fn find(name: &str, from: u8) -> &'static Definition {
    let found = Definition::find(name)
        .iter()
        .find(|known| known.releases.from == from);
    found.unwrap_or_else(|| panic!("`{name}` is defined from release {from} on"))
}
