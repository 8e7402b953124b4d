//! Structured operations whose bodies no expression has, evaluated at each point.
//!
//! A body may use any scalar operation: shifts, `math.erf`, steps of a reduction that no operator
//! does. Only points of stored entries are visited if the body changes nothing at other points:
//!
//! | outputs                                 | at implicit inputs the body gives              |
//! |-----------------------------------------|------------------------------------------------|
//! | dense, or stored at the point           | the output itself, as `reduce` does            |
//! | implicit at the point                   | zero, which is not stored                      |
//! | sparse, at all coordinates of the loops | zero that is not stored, from implicit outputs |
//!
//! For other bodies every point is visited, so that large spaces are refused. Operations that are
//! none on numbers, such as loops, loads and prints, are run by the machine at each point.
//!
//! A result of `sparse_tensor.reduce` begins with the identity that the operation names.
//!
//! An entry of a sparse result is stored if its value is not zero, or if a value that it depends on
//! is stored:
//!
//! | value                           | is stored if                   |
//! |---------------------------------|--------------------------------|
//! | an entry of a sparse operand    | it is stored                   |
//! | an entry of a dense operand     | always                         |
//! | a product, or `arith.andi`      | all operands are, constants apart; zero otherwise |
//! | a result of another operation   | any operand is, or it is not zero |

use std::collections::HashMap;

use sparsec_base::{Result, Scalar, code};
use sparsec_mlir::{Attribute, Block, Operation, Value};
use sparsec_tensor::Tensor;

use crate::body::{definer, yielded};
use crate::constants::constant_number;
use crate::datum::Datum;
use crate::kernel::format_of;
use crate::machine::{Frame, Machine};
use crate::memory::n_places;
use crate::numbers;
use crate::structured::{Body, Structured};
use crate::tensors::structured::Operand;

mod operations;
mod points;
mod stored;

use points::Points;
use stored::{At, Stored};

/// The most outputs of which all combinations are tried, stored and not.
const MOST_OUTPUTS: usize = 4;

/// The results of an operation, in the formats of its outputs.
///
/// # Errors
/// `E1064` for too many points; `E1060` for an operation that no body may have; `E1061` for a
/// coordinate outside of an operand.
pub(crate) fn evaluate<'a>(
    machine: &mut Machine<'a>,
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
            Operand::Tensor(handle) => {
                let tensor = handle.tensor()?;
                if n_places(tensor.extents()).is_none() {
                    let message = format!(
                        "extents {:?}, which multiply to more than 2^128",
                        tensor.extents()
                    );
                    return Err(machine
                        .fault(op, code::RUN_LIMIT, message)
                        .help("use smaller extents"));
                }
                Some(Stored::of(&tensor, map)?)
            }
            Operand::Number(_) => None,
            Operand::Later(_) => return Err(machine.not_run(op)),
        });
    }
    let n_inputs = structured.n_inputs();
    let outputs = &machine.module.block(block).arguments[n_inputs..];
    let mut begins = Vec::new();
    for (n, value) in yielded(machine.module, block).iter().enumerate() {
        let reduce = definer(machine.module, *value);
        let reduce = reduce.filter(|op| op.name() == "sparse_tensor.reduce");
        if let (Some(reduce), Some(_)) = (reduce, &tensors[n_inputs + n])
            && [reduce.operand("x"), reduce.operand("y")].contains(&outputs[n])
        {
            let identity = reduce.operand("identity");
            begins.push((n_inputs + n, identity));
        }
    }
    let mut evaluation = Evaluation {
        machine,
        frame: frame.clone(),
        outputs,
        point: None,
        values: HashMap::new(),
    };
    for (place, identity) in begins {
        let identity = evaluation.outer_number(block, operands, &tensors, identity)?;
        if let Some(tensor) = &mut tensors[place] {
            tensor.begin_with(identity);
        }
    }
    let points = evaluation.points(block, operands, &tensors, n_inputs, &extents);
    let points = match points {
        Some(points) => points,
        None => Points::all(&extents).ok_or_else(|| {
            let message = format!("a body that is evaluated at all points of {extents:?}");
            evaluation.machine.fault(op, code::RUN_LIMIT, message).help(
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
                        let message = format!("the point {point:?} is outside of an operand");
                        evaluation.machine.outside(op, message)
                    })?;
                    tensor.at(place)
                }
                _ => return Err(evaluation.machine.not_run(op)),
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
    let machine = evaluation.machine;
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

/// The output among the arguments, if the other one is an implicit zero that adds nothing to it.
fn unchanged(op: Operation<'_>, args: &[At]) -> Option<At> {
    let [left, right] = args else { return None };
    let is_sum = match op.meaning() {
        "arith.addf" | "arith.addi" | "arith.ori" | "arith.xori" | "complex.add" => true,
        "arith.subf" | "arith.subi" | "arith.shli" | "arith.shrsi" | "arith.shrui"
        | "complex.sub" => false,
        _ => return None,
    };
    match (left.output, right.output) {
        (Some(_), None) if right.is_implicit_zero() => Some(*left),
        (None, Some(_)) if is_sum && left.is_implicit_zero() => Some(*right),
        _ => None,
    }
}

/// A body at one point.
struct Evaluation<'m, 'a> {
    machine: &'m mut Machine<'a>,
    /// The values from outside of the body, and those that operations of the machine compute.
    frame: Frame,
    /// The arguments of the body that are outputs.
    outputs: &'a [Value],
    /// The point; `None` for one at which no entry is stored.
    point: Option<Vec<i64>>,
    values: HashMap<Value, At>,
}

impl<'a> Evaluation<'_, 'a> {
    /// The points of stored entries, if the body changes nothing at other points.
    ///
    /// A body that fails at implicit entries, or asks for the point, is evaluated everywhere.
    fn points(
        &mut self,
        block: Block,
        operands: &[Operand],
        tensors: &[Option<Stored>],
        n_inputs: usize,
        extents: &[u64],
    ) -> Option<Points> {
        let mut implicit = Vec::new();
        for (operand, tensor) in operands.iter().zip(tensors) {
            implicit.push(match (operand, tensor) {
                (Operand::Number(value), _) => At::constant(*value),
                (_, tensor) => tensor.as_ref()?.implicit(),
            });
        }
        let outputs: Vec<&Stored> = tensors[n_inputs..].iter().flatten().collect();
        if outputs.len() > MOST_OUTPUTS {
            return None;
        }
        let gives_none = At::is_implicit_zero;
        // Each output may be stored at a point or not; dense ones are.
        let mut is_unchanged = true;
        for stored in 0..1usize << outputs.len() {
            let is_stored = |n: usize| outputs[n].places().is_none() || stored >> n & 1 == 1;
            let mut args = implicit.clone();
            for (n, at) in args[n_inputs..].iter_mut().enumerate() {
                if is_stored(n) {
                    at.is_stored = Some(true);
                    at.is_known = false;
                    at.output = Some(n);
                }
            }
            let found = self.yields(block, &args).ok()?;
            is_unchanged &= found.iter().enumerate().all(|(n, at)| match is_stored(n) {
                true => at.output == Some(n),
                false => gives_none(at),
            });
        }
        if is_unchanged {
            let inputs = tensors[..n_inputs].iter().flatten();
            let sparse: Vec<&Stored> = inputs.filter(|it| it.places().is_some()).collect();
            return match sparse.is_empty() {
                true => None,
                false => Points::of_entries(extents, sparse.into_iter()),
            };
        }
        // In other reductions, implicit entries may change values that others stored.
        let covers = |output: &&Stored| {
            let loops = output.map.projection();
            loops.is_some_and(|loops| loops.len() == extents.len())
        };
        let found = self.yields(block, &implicit).ok()?;
        match outputs.iter().all(covers) && found.iter().all(gives_none) {
            true => Points::of_entries(extents, tensors.iter().flatten()),
            false => None,
        }
    }

    /// The number of a value; its own operation is refused if it gives none.
    fn get(&self, value: Value) -> Result<At> {
        self.operand(self.definer(value), value)
    }

    /// An operand of an operation; the operation is refused if it takes no number.
    fn operand(&self, op: Operation<'a>, value: Value) -> Result<At> {
        if let Some(at) = self.values.get(&value) {
            return Ok(*at);
        }
        match self.machine.get(&self.frame, value)? {
            Datum::Number(value) => Ok(At::constant(value)),
            _ => Err(self.machine.not_run(op)),
        }
    }

    /// The values that the body yields for values of its arguments.
    fn yields(&mut self, block: Block, args: &[At]) -> Result<Vec<At>> {
        self.values.clear();
        self.block(block, args)?;
        let yields = yielded(self.machine.module, block).iter();
        yields.map(|value| self.get(*value)).collect()
    }

    fn definer(&self, value: Value) -> Operation<'a> {
        let module = self.machine.module;
        definer(module, value).unwrap_or_else(|| module.op(module.root()))
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
            // Bodies have no effects but the values that they yield.
            let is_end = matches!(
                op.meaning(),
                "linalg.yield" | "scf.yield" | "sparse_tensor.yield"
            );
            return match (is_end, op.meaning()) {
                (true, _) => Ok(()),
                (false, "cf.assert") => {
                    let condition = self.operand(op, op.operand("arg"))?;
                    match condition.is_known && condition.value == Scalar::Bool(true) {
                        true => Ok(()),
                        false => Err(self.machine.failed_assertion(op)),
                    }
                }
                _ => self.executed(op),
            };
        };
        let dialect = op.meaning().split('.').next().unwrap_or_default();
        let module = self.machine.module;
        let mut values = op.data().operands.iter().chain(&op.data().results);
        let is_scalar = (numbers::is_arithmetic(op)
            && values.all(|value| module.ty(*value).number().is_some()))
            || dialect == "sparse_tensor"
            || constant_number(op).is_some()
            || matches!(op.meaning(), "linalg.index" | "tensor.extract" | "scf.if");
        if !is_scalar {
            return self.executed(op);
        }
        if op.name() == "tensor.extract" {
            let at = self.extracted(op)?;
            self.values.insert(result, at);
            return Ok(());
        }
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
        let args = op.data().operands.iter();
        let args = args.map(|value| self.operand(op, *value));
        let args: Vec<At> = args.collect::<Result<_>>()?;
        if op.meaning() == "scf.if" {
            return self.branch(op, args[0]);
        }
        if let Some(output) = unchanged(op, &args) {
            self.values.insert(result, output);
            return Ok(());
        }
        let has = |at: &At| at.is_stored.unwrap_or(true);
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
                if chosen.is_some_and(|at| !at.is_known) {
                    return Err(self.machine.not_run(op));
                }
                let is_chosen = chosen.is_some_and(|at| at.value == Scalar::Bool(true));
                (is_chosen && has(&args[0])).then_some(args[0])
            }
            "sparse_tensor.reduce" => match (has(&args[0]), has(&args[1])) {
                (true, true) => self.region(block("region"), &args[..2])?,
                (true, false) if self.outputs.contains(&op.operand("y")) => {
                    self.region(block("region"), &[args[2], args[0]])?
                }
                (false, true) if self.outputs.contains(&op.operand("x")) => {
                    self.region(block("region"), &[args[2], args[1]])?
                }
                (true, false) => Some(args[0]),
                (false, true) => Some(args[1]),
                (false, false) => None,
            },
            _ if numbers::is_arithmetic(op) => {
                let is_known = args.iter().all(|arg| arg.is_known);
                let known: Vec<bool> = args.iter().filter_map(|arg| arg.is_stored).collect();
                let is_product = numbers::is_product(op);
                let is_stored = match known.is_empty() {
                    true => None,
                    // A number is everywhere, and so is its sum.
                    _ if numbers::is_sum(op) && known.len() < args.len() => {
                        known.iter().all(|it| *it).then_some(true)
                    }
                    _ if is_product => Some(known.iter().all(|it| *it)),
                    _ => Some(known.iter().any(|it| *it)),
                };
                // An implicit entry makes a product zero, whatever the other factor is.
                let is_zero = is_product && args.iter().any(At::is_implicit_zero);
                let is_known = is_known || is_zero;
                let values: Vec<Scalar> = args.iter().map(|arg| arg.value).collect();
                let values = match is_known && !is_zero {
                    true => numbers::values(op, &values)
                        .map_err(|fault| self.machine.placed(op, fault))?
                        .ok_or_else(|| self.machine.not_run(op))?,
                    false => {
                        let results = op.data().results.iter().map(|value| self.zero(op, *value));
                        results.collect::<Result<_>>()?
                    }
                };
                for (result, value) in op.data().results.iter().zip(values) {
                    // A number other than zero is present wherever it is, as constants are.
                    let is_number = is_known && !value.is_zero();
                    let at = At {
                        is_stored: is_stored.filter(|it| *it || !is_number),
                        is_known,
                        ..At::constant(value)
                    };
                    self.values.insert(*result, at);
                }
                return Ok(());
            }
            _ => return Err(self.machine.not_run(op)),
        };
        let at = match found {
            Some(at) => At {
                is_stored: Some(true),
                ..at
            },
            None => At::entry(self.zero(op, result)?, false),
        };
        self.values.insert(result, at);
        Ok(())
    }

    fn zero(&self, op: Operation<'a>, value: Value) -> Result<Scalar> {
        let element = self.machine.element(op, self.machine.module.ty(value))?;
        Ok(element.zero())
    }
}
