//! Structured operations whose bodies no expression has, evaluated at each point.
//!
//! A body may use any scalar operation: shifts, `math.erf`, steps of a reduction that no operator
//! does. Where all tensors are sparse, and the body gives zero at implicit entries without a reduction,
//! only points of stored entries are visited. Elsewhere every point of the iteration space is, so that
//! large spaces are refused. An entry of a sparse result is stored if a value that it depends on is:
//!
//! | value                           | is stored if                   |
//! |---------------------------------|--------------------------------|
//! | an entry of a sparse operand    | it is stored                   |
//! | an entry of a dense operand     | always                         |
//! | a product, or `arith.andi`      | all operands are, constants apart |
//! | a result of another operation   | any operand is                 |

use std::collections::HashMap;

use sparsec_base::{Result, Scalar, code};
use sparsec_mlir::{Attribute, Block, Value};
use sparsec_tensor::Tensor;

use crate::body::yielded;
use crate::constants::constant_number;
use crate::datum::Datum;
use crate::kernel::format_of;
use crate::machine::{Frame, Machine};
use crate::numbers;
use crate::structured::{Body, Structured};
use crate::tensors::structured::Operand;

mod points;
mod stored;

use points::Points;
use stored::{At, Stored};

/// The results of an operation, in the formats of its outputs.
///
/// # Errors
/// `E1064` for too many points; `E1060` for an operation that no body may have; `E1061` for a
/// coordinate outside of an operand.
pub(crate) fn evaluate<'a>(
    machine: &Machine<'a>,
    frame: &Frame,
    structured: &Structured<'a>,
    operands: &[Operand],
    loops: &[Option<u64>],
) -> Result<Vec<Tensor>> {
    let op = structured.op;
    let Some(extents) = loops.iter().copied().collect::<Option<Vec<u64>>>() else {
        return Err(machine.not_run(op));
    };
    let Body::Region(block) = structured.body else {
        return Err(machine.not_run(op));
    };
    let mut tensors = Vec::new();
    for (operand, map) in operands.iter().zip(&structured.maps) {
        tensors.push(match operand {
            Operand::Tensor(handle) => Some(Stored::of(&*handle.tensor()?, map)?),
            Operand::Number(_) => None,
            Operand::Later(_) => return Err(machine.not_run(op)),
        });
    }
    let n_inputs = structured.n_inputs();
    let mut evaluation = Evaluation {
        machine,
        frame,
        point: None,
        values: HashMap::new(),
    };
    let implicit: Vec<At> = operands
        .iter()
        .zip(&tensors)
        .filter_map(|(operand, tensor)| match (operand, tensor) {
            (Operand::Number(value), _) => Some(At::constant(*value)),
            (_, Some(tensor)) => Some(tensor.implicit()),
            _ => None,
        })
        .collect();
    let gives_none = |at: &At| at.is_stored == Some(false) && at.value == at.value.element().zero();
    // In a reduction, implicit entries may change a value that others stored.
    let is_reduction = tensors[n_inputs..].iter().flatten().any(|tensor| {
        let loops = tensor.map.projection();
        loops.is_none_or(|loops| loops.len() < extents.len())
    });
    // A body that fails at implicit entries, or asks for the point, is evaluated everywhere.
    let is_sparse = !is_reduction
        && evaluation
            .yields(block, &implicit)
            .is_ok_and(|found| found.iter().all(gives_none));
    let points = match is_sparse {
        true => Points::of_entries(&extents, tensors.iter().flatten()),
        false => None,
    };
    let points = match points {
        Some(points) => points,
        None => Points::all(&extents).ok_or_else(|| {
            let message = format!("a body that is evaluated at all points of {extents:?}");
            machine.fault(op, code::RUN_LIMIT, message).help(
                "write the body with operations of `arith` and `math` that sparsec has operators for",
            )
        })?,
    };
    let mut points = points.into_iter(&extents);
    while let Some(point) = points.next_point() {
        let mut args = Vec::new();
        for (operand, tensor) in operands.iter().zip(&tensors) {
            args.push(match (operand, tensor) {
                (Operand::Number(value), _) => At::constant(*value),
                (_, Some(tensor)) => {
                    let place = tensor.place(point);
                    let place = place.ok_or_else(|| {
                        machine.outside(op, format!("the point {point:?} is outside of an operand"))
                    })?;
                    tensor.at(place)
                }
                _ => return Err(machine.not_run(op)),
            });
        }
        evaluation.point = Some(point.to_vec());
        let found = evaluation.yields(block, &args)?;
        for (n, at) in found.into_iter().enumerate() {
            if let Some(tensor) = &mut tensors[n_inputs + n]
                && let Some(place) = tensor.place(point)
            {
                tensor.set(place, at);
            }
        }
    }
    let mut results = Vec::new();
    for (tensor, value) in tensors
        .into_iter()
        .skip(n_inputs)
        .zip(op.operands("outputs"))
    {
        let Some(tensor) = tensor else {
            return Err(machine.not_run(op));
        };
        results.push(tensor.into_tensor(&format_of(machine.module.ty(*value))?)?);
    }
    Ok(results)
}

/// A body at one point.
struct Evaluation<'m, 'a> {
    machine: &'m Machine<'a>,
    frame: &'m Frame,
    /// The point; `None` for one at which no entry is stored.
    point: Option<Vec<i64>>,
    values: HashMap<Value, At>,
}

impl Evaluation<'_, '_> {
    fn get(&self, value: Value) -> Result<At> {
        if let Some(at) = self.values.get(&value) {
            return Ok(*at);
        }
        match self.machine.get(self.frame, value)? {
            Datum::Number(value) => Ok(At::constant(value)),
            _ => Err(self.machine.not_run(self.definer(value))),
        }
    }

    /// The values that the body yields for values of its arguments.
    fn yields(&mut self, block: Block, args: &[At]) -> Result<Vec<At>> {
        self.values.clear();
        self.block(block, args)?;
        let yields = yielded(self.machine.module, block).iter();
        yields.map(|value| self.get(*value)).collect()
    }

    fn definer(&self, value: Value) -> sparsec_mlir::Operation<'_> {
        let module = self.machine.module;
        crate::body::definer(module, value).unwrap_or_else(|| module.op(module.root()))
    }

    fn block(&mut self, block: Block, args: &[At]) -> Result<()> {
        let data = self.machine.module.block(block);
        self.values
            .extend(data.arguments.iter().copied().zip(args.iter().copied()));
        for op in &data.ops {
            self.operation(*op)?;
        }
        Ok(())
    }

    /// The values that a region yields; `None` for a region without operations.
    fn region(&mut self, block: Option<Block>, args: &[At]) -> Result<Option<At>> {
        let Some(block) = block else { return Ok(None) };
        self.block(block, args)?;
        match yielded(self.machine.module, block).first() {
            Some(value) => self.get(*value).map(Some),
            None => Ok(None),
        }
    }

    fn operation(&mut self, op: sparsec_mlir::Op) -> Result<()> {
        let op = self.machine.module.op(op);
        let Some(result) = op.data().results.first().copied() else {
            return Ok(());
        };
        if let Some(number) = constant_number(op) {
            self.values.insert(result, At::constant(number));
            return Ok(());
        }
        if op.name() == "linalg.index" {
            let dim = op
                .attribute("dim")
                .and_then(Attribute::natural)
                .unwrap_or(0);
            let point = self.point.as_ref();
            let point = point.ok_or_else(|| self.machine.not_run(op))?;
            let at = point.get(dim as usize).copied().unwrap_or(0);
            self.values.insert(result, At::constant(Scalar::I64(at)));
            return Ok(());
        }
        let args = op.data().operands.iter().map(|value| self.get(*value));
        let args: Vec<At> = args.collect::<Result<_>>()?;
        let has = |at: &At| at.is_stored.unwrap_or(true);
        let zero = |this: &Self| -> Result<Scalar> {
            Ok(this
                .machine
                .element(op, this.machine.module.ty(result))?
                .zero())
        };
        let block = |name: &str| op.region(name).block;
        let found = match op.name() {
            "sparse_tensor.unary" => {
                let x = args[0];
                match has(&x) {
                    true => self.region(block("presentRegion"), &args)?,
                    false => self.region(block("absentRegion"), &[])?,
                }
            }
            "sparse_tensor.binary" => match (has(&args[0]), has(&args[1])) {
                (true, true) => self.region(block("overlapRegion"), &args)?,
                (true, false) if op.attribute("left_identity").is_some() => Some(args[0]),
                (true, false) => self.region(block("leftRegion"), &args[..1])?,
                (false, true) if op.attribute("right_identity").is_some() => Some(args[1]),
                (false, true) => self.region(block("rightRegion"), &args[1..])?,
                (false, false) => None,
            },
            "sparse_tensor.select" => {
                let chosen = self.region(block("region"), &args)?;
                let is_chosen = chosen.is_some_and(|at| at.value == Scalar::Bool(true));
                (is_chosen && has(&args[0])).then_some(args[0])
            }
            "sparse_tensor.reduce" => match (has(&args[0]), has(&args[1])) {
                (true, true) => self.region(block("region"), &args[..2])?,
                (true, false) => Some(args[0]),
                (false, true) => Some(args[1]),
                (false, false) => None,
            },
            _ if numbers::is_arithmetic(op) => {
                let values: Vec<Scalar> = args.iter().map(|arg| arg.value).collect();
                let value =
                    numbers::value(op, &values).map_err(|fault| self.machine.placed(op, fault))?;
                let value = value.ok_or_else(|| self.machine.not_run(op))?;
                let known: Vec<bool> = args.iter().filter_map(|arg| arg.is_stored).collect();
                let is_product = op.meaning().contains(".mul") || op.meaning() == "arith.andi";
                let is_stored = match (known.is_empty(), is_product) {
                    (true, _) => None,
                    (_, true) => Some(known.iter().all(|it| *it)),
                    (_, false) => Some(known.iter().any(|it| *it)),
                };
                self.values.insert(result, At { value, is_stored });
                return Ok(());
            }
            _ => return Err(self.machine.not_run(op)),
        };
        let at = match found {
            Some(at) => At {
                value: at.value,
                is_stored: Some(true),
            },
            None => At {
                value: zero(self)?,
                is_stored: Some(false),
            },
        };
        self.values.insert(result, at);
        Ok(())
    }
}
