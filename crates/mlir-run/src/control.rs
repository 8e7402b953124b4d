//! Functions, loops and conditions.

use std::rc::Rc;

use sparsec_base::{Result, Scalar, code};
use sparsec_mlir::{Attribute, Operation, Type, Value};

use crate::datum::Datum;
use crate::machine::{Frame, Machine, set};

impl<'a> Machine<'a> {
    /// Whether an operation of `func`, `scf`, `cf`, `llvm` or `builtin` was run.
    pub(crate) fn control(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let results: Vec<Datum> = match op.meaning() {
            "func.call" => self.call_operation(frame, op)?,
            "func.func" | "builtin.func" | "builtin.module" => Vec::new(),
            "func.constant" => vec![Datum::Function],
            "cf.assert" => {
                self.assert(frame, op)?;
                Vec::new()
            }
            "llvm.mlir.zero" | "llvm.mlir.null" => vec![Datum::Pointer(None)],
            "builtin.unrealized_conversion_cast" => vec![self.cast_of_same_data(frame, op)?],
            "scf.if" => {
                let condition = self.number(frame, op, op.operand("condition"))?;
                let region = match condition {
                    Scalar::Bool(true) => "thenRegion",
                    _ => "elseRegion",
                };
                match op.region(region).block {
                    Some(block) => self.block(frame, block, Vec::new())?,
                    None => Vec::new(),
                }
            }
            "scf.for" => self.for_loop(frame, op)?,
            "scf.while" => self.while_loop(frame, op)?,
            _ => return Ok(false),
        };
        self.set_results(frame, op, results)?;
        Ok(true)
    }

    /// A datum under another type of the same content: `i64` for `index`, or another pointer.
    fn cast_of_same_data(&self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let [operand] = op.data().operands[..] else {
            return Err(self.not_run(op));
        };
        let datum = self.get(frame, operand)?;
        let [result] = op.data().results[..] else {
            return Err(self.not_run(op));
        };
        let (from, to) = (self.module.ty(operand), self.module.ty(result));
        let is_same = match datum {
            Datum::Pointer(_) => matches!(to, Type::Pointer(_)),
            Datum::Number(_) => from.number() == to.number(),
            _ => from == to,
        };
        match is_same {
            true => Ok(datum),
            false => Err(self.not_run(op)),
        }
    }

    /// Gives all results of an operation their data.
    pub(crate) fn set_results(
        &self,
        frame: &mut Frame,
        op: Operation<'_>,
        data: Vec<Datum>,
    ) -> Result<()> {
        if data.len() != op.data().results.len() {
            return Err(self.not_run(op));
        }
        for (value, datum) in op.data().results.iter().zip(data) {
            set(frame, *value, datum);
        }
        Ok(())
    }

    fn call_operation(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Vec<Datum>> {
        let Some(Attribute::Symbol(path)) = op.attribute("callee") else {
            return Err(self.not_run(op));
        };
        let Some(name) = path.last() else {
            return Err(self.not_run(op));
        };
        let args: Vec<Datum> = op
            .data()
            .operands
            .iter()
            .map(|value| self.taken(frame, op, *value))
            .collect::<Result<_>>()?;
        match self.function(name) {
            Some(function) => self.call(function, args),
            None => {
                let mut found = self.runner_function(op, name, args)?;
                for (datum, result) in found.iter_mut().zip(&op.data().results) {
                    let Datum::Number(number) = datum else {
                        continue;
                    };
                    let declared = self.module.ty(*result).number();
                    *number = match (declared, number.to_integer()) {
                        (Some(element), _) if element == number.element() => *number,
                        // A narrower integer is the low bits.
                        (Some(element), Some(whole)) if !element.is_float() => {
                            Scalar::from_i64(element, whole as i64)
                        }
                        _ => {
                            let message = format!("`@{name}` gives {}", number.element());
                            let help = "declare its result as MLIR's runner does";
                            return Err(self.fault(op, code::NOT_RUN, message).help(help));
                        }
                    };
                }
                Ok(found)
            }
        }
    }

    fn assert(&mut self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        if self.number(frame, op, op.operand("arg"))? == Scalar::Bool(true) {
            return Ok(());
        }
        Err(self.failed_assertion(op))
    }

    /// An assertion that does not hold, with its own message.
    pub(crate) fn failed_assertion(&self, op: Operation<'_>) -> sparsec_base::Diagnostic {
        let text = match op.attribute("msg") {
            Some(Attribute::Text(text)) => text.as_str(),
            _ => "",
        };
        let message = format!("an assertion does not hold: {text}");
        self.fault(op, code::FAILED_ASSERTION, message)
            .help("the program states this condition; change its data or the condition")
    }

    /// The data of operands, which leave the frame if this is their only use.
    pub(crate) fn all_taken(
        &self,
        frame: &mut Frame,
        op: Operation<'_>,
        values: &[Value],
    ) -> Result<Vec<Datum>> {
        let values = values.iter();
        values.map(|value| self.taken(frame, op, *value)).collect()
    }

    fn for_loop(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Vec<Datum>> {
        let bound = |this: &Self, name: &str| this.number(frame, op, op.operand(name));
        let (from, to, by) = (
            bound(self, "lowerBound")?,
            bound(self, "upperBound")?,
            bound(self, "step")?,
        );
        let element = from.element();
        let [Some(from), Some(to), Some(by)] = [from, to, by].map(Scalar::to_integer) else {
            return Err(self.not_run(op));
        };
        if by <= 0 {
            return Err(self
                .fault(
                    op,
                    code::OUT_OF_BOUNDS_ACCESS,
                    format!("a loop with step {by}"),
                )
                .help("use a step from 1 on"));
        }
        let mut carried = self.all_taken(frame, op, op.operands("initArgs"))?;
        let Some(block) = op.region("region").block else {
            return Ok(carried);
        };
        let mut at = from;
        while at < to {
            let mut args = vec![Datum::Number(Scalar::from_i64(element, at as i64))];
            args.append(&mut carried);
            carried = self.block(frame, block, args)?;
            at += by;
        }
        Ok(carried)
    }

    fn while_loop(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Vec<Datum>> {
        let mut carried = self.all_taken(frame, op, op.operands("inits"))?;
        let (Some(before), Some(after)) = (op.region("before").block, op.region("after").block)
        else {
            return Err(self.not_run(op));
        };
        loop {
            let mut found = self.block(frame, before, carried)?;
            let condition = found.remove(0);
            let Datum::Number(Scalar::Bool(continues)) = condition else {
                return Err(self.not_run(op));
            };
            if !continues {
                return Ok(found);
            }
            carried = self.block(frame, after, found)?;
        }
    }

    /// A pointer to a path.
    pub(crate) fn path(path: &str) -> Datum {
        Datum::Pointer(Some(Rc::from(path)))
    }
}
