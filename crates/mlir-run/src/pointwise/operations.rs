//! Operations of a body that are none on numbers: branches, entries of tensors, and all that the
//! machine runs.

use sparsec_base::{Result, Scalar};
use sparsec_mlir::{Block, Operation, Value};

use crate::body::{sources, yielded};
use crate::datum::Datum;
use crate::machine::set;
use crate::tensors::structured::Operand;

use super::Evaluation;
use super::stored::{At, Stored};

impl<'a> Evaluation<'_, 'a> {
    /// The value of a reduction's identity, which no entry determines.
    pub(super) fn outer_number(
        &mut self,
        block: Block,
        operands: &[Operand],
        tensors: &[Option<Stored>],
        identity: Value,
    ) -> Result<Scalar> {
        if let Ok(at) = self.get(identity) {
            return Ok(at.value);
        }
        let mut args = Vec::new();
        for (operand, tensor) in operands.iter().zip(tensors) {
            args.push(match (operand, tensor) {
                (Operand::Number(value), _) => At::constant(*value),
                (_, Some(tensor)) => tensor.implicit(),
                (_, None) => return Err(self.machine.not_run(self.definer(identity))),
            });
        }
        let data = self.machine.module.block(block);
        self.values.clear();
        self.values.extend(data.arguments.iter().copied().zip(args));
        // The others need a point, or have effects.
        let sources = sources(self.machine.module, identity);
        for op in &data.ops {
            let mut results = self.machine.module.op(*op).data().results.iter();
            if results.any(|result| sources.contains(result)) {
                self.operation(*op)?;
            }
        }
        match self.get(identity)? {
            at if at.is_known => Ok(at.value),
            _ => Err(self.machine.not_run(self.definer(identity))),
        }
    }

    /// Runs an operation that is no operation on numbers, such as a loop or a load. It runs at points
    /// alone, since it may have effects.
    pub(super) fn executed(&mut self, op: Operation<'a>) -> Result<()> {
        if self.point.is_none() {
            return Err(self.machine.not_run(op));
        }
        let module = self.machine.module;
        let mut is_stored: Option<bool> = None;
        for inner in module.walk_from(op.id()) {
            for value in &module.op(inner).data().operands {
                let Some(at) = self.values.get(value) else {
                    continue;
                };
                set(&mut self.frame, *value, Datum::Number(at.value));
                if let Some(own) = at.is_stored {
                    is_stored = Some(is_stored.unwrap_or(false) || own);
                }
            }
        }
        self.machine.operation(&mut self.frame, op)?;
        for result in &op.data().results {
            if let Datum::Number(value) = self.machine.get(&self.frame, *result)? {
                let at = At {
                    is_stored,
                    ..At::constant(value)
                };
                self.values.insert(*result, at);
            }
        }
        Ok(())
    }

    /// The results of the branch that a condition takes.
    pub(super) fn branch(&mut self, op: Operation<'a>, condition: At) -> Result<()> {
        if !condition.is_known {
            return Err(self.machine.not_run(op));
        }
        let name = match condition.value {
            Scalar::Bool(true) => "thenRegion",
            _ => "elseRegion",
        };
        let Some(block) = op.region(name).block else {
            return Ok(());
        };
        self.block(block, &[])?;
        let yields = yielded(self.machine.module, block);
        for (result, value) in op.data().results.iter().zip(yields) {
            let at = self.get(*value)?;
            let is_stored = [at.is_stored, condition.is_stored];
            let at = At {
                is_stored: is_stored.into_iter().flatten().reduce(|a, b| a || b),
                ..at
            };
            self.values.insert(*result, at);
        }
        Ok(())
    }

    /// An entry of a tensor from outside of the body.
    pub(super) fn extracted(&self, op: Operation<'a>) -> Result<At> {
        let handle = self
            .machine
            .tensor_handle(&self.frame, op, op.operand("tensor"))?;
        let indices = op.operands("indices").iter().map(|value| self.get(*value));
        let indices: Vec<At> = indices.collect::<Result<_>>()?;
        let at = indices
            .iter()
            .map(|at| at.value.to_integer().map(|at| at as i64));
        let at: Option<Vec<i64>> = at.collect();
        let at = at.ok_or_else(|| self.machine.not_run(op))?;
        let coords = self.machine.checked(op, &at, &handle.extents())?;
        let value = match handle.uniform() {
            Some(value) => value,
            None => handle.tensor()?.get(&coords),
        };
        let is_stored = indices.iter().filter_map(|at| at.is_stored);
        Ok(At {
            is_stored: is_stored.reduce(|a, b| a || b),
            is_known: indices.iter().all(|at| at.is_known),
            ..At::constant(value)
        })
    }
}
