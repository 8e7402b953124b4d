//! Operations on numbers, and on vectors and tensors of them entry by entry.

use std::rc::Rc;

use sparsec_base::{Diagnostic, Result, Scalar};
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
        let refuse = |fault: Diagnostic| self.placed(op, fault);
        if numbers.len() == args.len() {
            let values = super::values(op, &numbers).map_err(refuse)?;
            let values = values.ok_or_else(|| self.not_run(op))?;
            let values = values.into_iter().map(Datum::Number).collect();
            return self.set_results(frame, op, values);
        }
        // `arith.select` of anything by one condition.
        if let [Datum::Number(Scalar::Bool(condition)), then, otherwise] = &args[..] {
            let chosen = if *condition { then } else { otherwise };
            set(frame, result, chosen.clone());
            return Ok(());
        }
        let columns: Vec<Rc<Vec<Scalar>>> = args
            .iter()
            .map(|arg| match arg {
                Datum::Vector(entries) => Ok(entries.clone()),
                Datum::Tensor(handle) => {
                    let tensor = handle.tensor()?;
                    if tensor.format().has_sparse() {
                        return Err(self.not_run(op));
                    }
                    let vals = tensor.vals();
                    Ok(Rc::new((0..vals.len()).map(|n| vals.get(n)).collect()))
                }
                _ => Err(self.not_run(op)),
            })
            .collect::<Result<_>>()?;
        let n = columns.first().map_or(0, |column| column.len());
        let results = &op.data().results;
        let mut found = vec![Vec::with_capacity(n); results.len()];
        for n in 0..n {
            let args: Vec<Scalar> = columns.iter().map(|column| column[n]).collect();
            let values = super::values(op, &args).map_err(refuse)?;
            let values = values.ok_or_else(|| self.not_run(op))?;
            for (entries, value) in found.iter_mut().zip(values) {
                entries.push(value);
            }
        }
        let data = found.into_iter().zip(results).map(|(entries, result)| {
            let Datum::Tensor(handle) = &args[0] else {
                return Ok(Datum::Vector(Rc::new(entries)));
            };
            let element = self.element(op, self.module.ty(*result))?;
            let tensor = dense(handle.extents(), array_of(element, &entries)?)?;
            Ok(Datum::Tensor(TensorHandle::new(tensor)))
        });
        let data = data.collect::<Result<_>>()?;
        self.set_results(frame, op, data)
    }
}
