//! Operations on numbers, and on vectors and tensors of them entry by entry.

use std::rc::Rc;

use sparsec_base::{Result, Scalar, code};
use sparsec_mlir::Operation;

use crate::datum::{Datum, TensorHandle, array_of, dense};
use crate::machine::{Frame, Machine, set};

impl<'a> Machine<'a> {
    /// An operation on numbers, or on vectors and tensors of them entry by entry.
    pub(crate) fn arithmetic(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let operands = &op.data().operands;
        let args: Vec<Datum> = operands
            .iter()
            .map(|value| self.get(frame, *value))
            .collect::<Result<_>>()?;
        let mut numbers = Vec::new();
        for arg in &args {
            match arg {
                Datum::Number(number) => numbers.push(*number),
                _ => break,
            }
        }
        let result = op.data().results[0];
        if numbers.len() == args.len() {
            let values = self.values(op, &numbers)?;
            let values = values.into_iter().map(Datum::Number).collect();
            return self.set_results(frame, op, values);
        }
        // `arith.select` of anything by one condition.
        if let [Datum::Number(Scalar::Bool(condition)), then, otherwise] = &args[..] {
            let chosen = if *condition { then } else { otherwise };
            set(frame, result, chosen.clone());
            return Ok(());
        }
        let mut columns: Vec<Rc<Vec<Scalar>>> = Vec::new();
        let mut shape: Option<Vec<u64>> = None;
        for arg in &args {
            columns.push(match arg {
                Datum::Vector(entries) => entries.clone(),
                Datum::Tensor(handle) => {
                    let tensor = self.row_major(op, handle.tensor()?)?;
                    let extents = tensor.extents();
                    let known = shape.get_or_insert_with(|| extents.to_vec());
                    if known != extents {
                        let message = format!("extents {known:?} and {extents:?}");
                        return Err(self
                            .fault(op, code::SHAPE_MISMATCH, message)
                            .help("give all operands the same extents"));
                    }
                    let vals = tensor.vals();
                    Rc::new((0..vals.len()).map(|n| vals.get(n)).collect())
                }
                _ => return Err(self.not_run(op)),
            });
        }
        let n = columns.first().map_or(0, |column| column.len());
        let results = &op.data().results;
        let mut found = vec![Vec::with_capacity(n); results.len()];
        for n in 0..n {
            let args: Vec<Scalar> = columns.iter().map(|column| column[n]).collect();
            let values = self.values(op, &args)?;
            for (entries, value) in found.iter_mut().zip(values) {
                entries.push(value);
            }
        }
        let mut data = Vec::new();
        for (entries, result) in found.into_iter().zip(results) {
            let Some(extents) = &shape else {
                data.push(Datum::Vector(Rc::new(entries)));
                continue;
            };
            let ty = self.module.ty(*result);
            let entries = array_of(self.element(op, ty)?, &entries)?;
            let made = TensorHandle::new(dense(extents.clone(), entries)?);
            data.push(self.in_format(op, made, ty)?);
        }
        self.set_results(frame, op, data)
    }

    fn values(&self, op: Operation<'a>, args: &[Scalar]) -> Result<Vec<Scalar>> {
        let values = super::values(op, args).map_err(|fault| self.placed(op, fault))?;
        values.ok_or_else(|| self.not_run(op))
    }
}
