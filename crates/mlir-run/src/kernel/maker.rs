//! The inputs, index variables and statements of a kernel.

use std::collections::{BTreeMap, HashMap};

use sparsec_base::{ElementType, Result, Scalar, code};
use sparsec_format::Format;
use sparsec_index::build::Value as Expression;
use sparsec_index::{IndexExpr, IndexVar, ProgramBuilder, TensorVar};
use sparsec_mlir::affine::AffineOp;
use sparsec_mlir::{AffineExpr, Block, Module, Value};

use crate::body::{Expressions, definer};
use crate::constants::constant_number;
use crate::numbers::Algebra;
use crate::structured::{Body, Structured};

use super::statements::StatementOf;
use super::{Kernel, Known, Outcome, Source};

/// Makes the kernel of one operation.
pub(super) struct Maker<'a> {
    pub(super) structured: &'a Structured<'a>,
    pub(super) operands: &'a [Option<Known>],
    pub(super) extents: &'a [Option<u64>],
    pub(super) module: &'a Module,
    pub(super) builder: ProgramBuilder,
    pub(super) vars: Vec<IndexVar>,
    pub(super) inputs: Vec<Source>,
    pub(super) formats: BTreeMap<TensorVar, Format>,
}

const LETTERS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

impl<'a> Maker<'a> {
    pub(super) fn new(
        structured: &'a Structured<'a>,
        operands: &'a [Option<Known>],
        extents: &'a [Option<u64>],
    ) -> Self {
        let mut builder = ProgramBuilder::new();
        let n_loops = extents.len();
        // As index notation has them: results by `i` and `j`, and sums over `k`.
        let n_parallel = structured.reductions.iter().filter(|it| !**it).count();
        let by_letter = n_parallel <= 2 && n_loops - n_parallel <= 4;
        let (mut next, mut next_sum) = (0, 2);
        let vars = structured.reductions.iter().enumerate().map(|(n, is_sum)| {
            let counter = if *is_sum { &mut next_sum } else { &mut next };
            let letter = LETTERS[(*counter).min(5)];
            *counter += 1;
            match by_letter {
                true => builder.var(letter),
                false => builder.var(&format!("d{n}")),
            }
        });
        let vars = vars.collect();
        Self {
            structured,
            operands,
            extents,
            module: structured.op.module(),
            builder,
            vars,
            inputs: Vec::new(),
            formats: BTreeMap::new(),
        }
    }

    /// An input that is named like a value of the program.
    pub(super) fn input(
        &mut self,
        value: Value,
        element: ElementType,
        extents: &[Option<u64>],
    ) -> Result<TensorVar> {
        let name = self.name(value);
        let mut tried = name.clone();
        for n in 1.. {
            match self.builder.input(&tried, element, extents) {
                Err(refusal) if refusal.code() == code::INVALID_NAME && n < 100 => {
                    tried = format!("{name}_{n}");
                }
                other => return other,
            }
        }
        unreachable!("the loop has no end")
    }

    pub(super) fn name(&self, value: Value) -> String {
        let name = &self.module.value(value).name;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name: String = name
            .chars()
            .map(|c| if is_word(c) { c } else { '_' })
            .collect();
        match name.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => name,
            _ => format!("t{name}"),
        }
    }

    pub(super) fn index(&self, expression: &AffineExpr) -> Option<IndexExpr> {
        Some(match expression {
            AffineExpr::Dimension(n) => IndexExpr::from(*self.vars.get(*n)?),
            AffineExpr::Constant(value) => IndexExpr::constant(*value),
            AffineExpr::Symbol(_) => return None,
            AffineExpr::Binary(op, a, b) => {
                let left = self.index(a)?;
                let extent = |var| {
                    let number = self.vars.iter().position(|known| *known == var)?;
                    self.extents[number]
                };
                let by = || match **b {
                    AffineExpr::Constant(by) => Some(by),
                    _ => None,
                };
                match op {
                    AffineOp::Add => left.plus(&self.index(b)?)?,
                    AffineOp::Subtract => left.minus(&self.index(b)?)?,
                    AffineOp::Multiply => match (by(), &**a) {
                        (Some(by), _) => left.times(by)?,
                        (None, AffineExpr::Constant(by)) => self.index(b)?.times(*by)?,
                        _ => return None,
                    },
                    AffineOp::FloorDivide => left.floor_div(by().filter(|by| *by > 0)?, &extent),
                    AffineOp::Modulo => left.modulo(by().filter(|by| *by > 0)?, &extent),
                    AffineOp::CeilDivide => return None,
                }
            }
        })
    }

    /// An access to an operand; `None` if its map has no index expressions.
    pub(super) fn access(&mut self, number: usize) -> Result<Option<Expression>> {
        let value = self.structured.op.data().operands[number];
        let Some(known) = &self.operands[number] else {
            return Ok(None);
        };
        let known = known.clone();
        let map = &self.structured.maps[number];
        let indices = map.results.iter().map(|result| self.index(result));
        let Some(indices) = indices.collect::<Option<Vec<IndexExpr>>>() else {
            return Ok(None);
        };
        let tensor = self.input(value, known.element, &known.extents)?;
        self.inputs.push(Source::Operand(number, value));
        self.formats.insert(tensor, known.format);
        self.builder.access(tensor, indices).map(Some)
    }

    /// A number from outside of the body.
    pub(super) fn captured(&mut self, value: Value) -> Result<Option<Expression>> {
        if let Some(number) = definer(self.module, value).and_then(constant_number) {
            return Expressions(&self.builder).number(number).map(Some);
        }
        let Some(element) = self.module.ty(value).number() else {
            return Ok(None);
        };
        let tensor = self.input(value, element, &[])?;
        self.inputs.push(Source::Captured(value));
        self.formats.insert(tensor, Format::dense(0));
        let none: [IndexExpr; 0] = [];
        self.builder.access(tensor, none).map(Some)
    }

    /// The values from outside that the operations of a block use, with those of its regions.
    pub(super) fn uses(&self, block: Block) -> Vec<Value> {
        let mut inside: Vec<Value> = self.module.block(block).arguments.clone();
        let mut used = Vec::new();
        let ops = self.module.block(block).ops.iter();
        for op in ops.flat_map(|op| self.module.walk_from(*op)) {
            let data = self.module.op(op).data();
            used.extend(&data.operands);
            inside.extend(&data.results);
            for region in &data.regions {
                if let Some(block) = self.module.region(*region).block {
                    inside.extend(&self.module.block(block).arguments);
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        inside.sort_unstable();
        used.retain(|value| inside.binary_search(value).is_err());
        used
    }

    pub(super) fn kernel(mut self) -> Result<Option<Kernel>> {
        let n_inputs = self.structured.n_inputs();
        let n_outputs = self.structured.maps.len() - n_inputs;
        let mut inputs = Vec::new();
        for number in 0..n_inputs {
            let value = self.structured.op.data().operands[number];
            let input = match self.operands[number] {
                Some(_) => self.access(number)?,
                None => self.captured(value)?,
            };
            let Some(input) = input else { return Ok(None) };
            inputs.push(input);
        }
        let mut before = Vec::new();
        for number in n_inputs..n_inputs + n_outputs {
            let Some(known) = &self.operands[number] else {
                return Ok(None);
            };
            before.push(match known.uniform {
                Some(value) => Expressions(&self.builder).number(value)?,
                None => match self.access(number)? {
                    Some(access) => access,
                    None => return Ok(None),
                },
            });
        }
        let mut values = HashMap::new();
        if let Body::Region(block) = self.structured.body {
            for value in self.uses(block) {
                let Some(captured) = self.captured(value)? else {
                    return Ok(None);
                };
                values.insert(value, captured);
            }
        }
        let mut statements = Vec::new();
        for number in 0..n_outputs {
            let statement = match self.structured.body {
                Body::Region(block) => {
                    self.of_region(block, number, &inputs, &before, values.clone())?
                }
                _ => self.of_name(&inputs, &before[number])?,
            };
            let Some(statement) = statement else {
                return Ok(None);
            };
            statements.push(statement);
        }
        self.finish(statements, n_inputs)
    }

    pub(super) fn finish(
        mut self,
        statements: Vec<StatementOf>,
        n_inputs: usize,
    ) -> Result<Option<Kernel>> {
        // Operands that a statement does not read have extents all the same.
        let values = statements
            .iter()
            .flat_map(|it| [Some(&it.value), it.kept.as_ref()]);
        for value in values.flatten() {
            let accesses = value.expr().accesses();
            let mut told: Vec<IndexVar> = Vec::new();
            for access in accesses {
                told.extend((0..access.indices.len()).filter_map(|mode| access.var(mode)));
            }
            for (var, extent) in self.vars.iter().zip(self.extents) {
                if let (false, Some(extent)) = (told.contains(var), extent) {
                    self.builder.set_extent(*var, *extent)?;
                }
            }
        }
        let (mut results, mut lists) = (Vec::new(), Vec::new());
        for (number, statement) in statements.into_iter().enumerate() {
            let map = &self.structured.maps[n_inputs + number];
            let Some(modes) = map.projection() else {
                return Ok(None);
            };
            let vars: Vec<IndexVar> = modes.iter().map(|mode| self.vars[*mode]).collect();
            let Some(known) = self.operands[n_inputs + number].clone() else {
                return Ok(None);
            };
            let own = self.structured.op.data().results.get(number);
            let name = match own {
                Some(value) => self.name(*value),
                None => format!("out{number}"),
            };
            results.push(Outcome {
                has_kept: statement.kept.is_some(),
                drops_fill: statement.drops_fill,
            });
            let tensor = self.result(&name, vars.len())?;
            self.builder.set_element(tensor, known.element)?;
            self.builder
                .assign(tensor, vars.iter().copied(), statement.value)?;
            self.formats.insert(tensor, known.format.clone());
            if let Some(kept) = statement.kept {
                let tensor = self.result(&format!("{name}_kept"), vars.len())?;
                self.builder.assign(tensor, vars.iter().copied(), kept)?;
                self.formats.insert(tensor, known.format);
                lists.push(tensor);
            }
        }
        let program = self.builder.finish()?;
        // A list of the entries that are left out is no list of those that are kept.
        let mut formats = self.formats;
        for tensor in lists {
            let data = &program.tensors[tensor];
            if data.fill == Scalar::Bool(true) {
                formats.insert(tensor, Format::dense(data.order()));
            }
        }
        Ok(Some(Kernel {
            program,
            n_inner: 0,
            formats,
            span: self.structured.op.data().span,
            inputs: self.inputs,
            results,
        }))
    }

    pub(super) fn result(&mut self, name: &str, order: usize) -> Result<TensorVar> {
        let mut tried = name.to_owned();
        for n in 1.. {
            match self.builder.result(&tried, order) {
                Err(refusal) if refusal.code() == code::INVALID_NAME && n < 100 => {
                    tried = format!("{name}_{n}");
                }
                other => return other,
            }
        }
        unreachable!("the loop has no end")
    }
}
