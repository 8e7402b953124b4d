//! Structured operations whose bodies no expression has, evaluated point by point.
//!
//! A body may use any scalar operation: shifts, `math.erf`, steps of a reduction that no operator
//! does. The points are those at which a value that the result depends on is stored, if the body
//! gives one number at all others, or leaves the output as it is ([`support`]). Otherwise they are
//! all points of the iteration space. An entry of a sparse result is stored if a value that it
//! depends on is:
//!
//! | value                           | is stored if                       |
//! |---------------------------------|------------------------------------|
//! | an entry of a sparse operand    | it is stored                       |
//! | an entry of a dense operand     | always                             |
//! | a product, `arith.andi`         | no operand is an implicit zero     |
//! | a shift, a quotient of integers | the first operand is no such zero  |
//! | a result of another operation   | any operand is stored              |

mod points;
mod support;

use std::collections::{BTreeMap, HashMap};

use sparsec_base::{Diagnostic, Result, Scalar};
use sparsec_mlir::{AffineMap, Attribute, Block, Type, Value};
use sparsec_tensor::{Array, Entries, Tensor};

use crate::body::yielded;
use crate::constants::constant_number;
use crate::datum::{Datum, array_of, dense, pack};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine};
use crate::memory::{advance, count};
use crate::numbers;
use crate::structured::{Body, Structured};
use crate::tensors::structured::{MOST_POINTS, Operand};
use points::Points;
use support::{Part, Parts, Set, combined, either};

/// A value at a point: the number, and whether it is stored; `None` for a constant.
#[derive(Clone, Copy, Debug)]
struct At {
    value: Scalar,
    is_stored: Option<bool>,
}

/// The entries of an operand.
struct Stored {
    map: AffineMap,
    extents: Vec<u64>,
    values: Values,
}

enum Values {
    Dense(Array),
    Sparse {
        /// Each entry, and whether it is stored: the steps of a reduction may change one that is not.
        entries: BTreeMap<Vec<u64>, (Scalar, bool)>,
        fill: Scalar,
    },
}

impl Stored {
    fn of(tensor: &Tensor, map: &AffineMap) -> Result<Self> {
        let extents = tensor.extents().to_vec();
        let values = if tensor.format().has_sparse() {
            let mut entries = BTreeMap::new();
            tensor.for_each_stored(|at, value| {
                entries.insert(at.to_vec(), (value, true));
            });
            let fill = tensor.fill();
            Values::Sparse { entries, fill }
        } else {
            let mut values = Array::zeroed(tensor.element(), count(&extents)?)?;
            tensor.for_each_stored(|at, value| values.set(linear(at, &extents), value));
            Values::Dense(values)
        };
        Ok(Self {
            map: map.clone(),
            extents,
            values,
        })
    }

    /// The coordinates at a point; `None` outside of the operand.
    fn place(&self, point: &[i64]) -> Option<Vec<u64>> {
        let places = self.map.results.iter().zip(&self.extents);
        let places = places.map(|(result, extent)| {
            let at = u64::try_from(result.value(point, &[])?).ok()?;
            (at < *extent).then_some(at)
        });
        places.collect()
    }

    fn get(&self, at: &[u64]) -> At {
        let (value, is_stored) = match &self.values {
            Values::Dense(values) => (values.get(linear(at, &self.extents)), true),
            Values::Sparse { entries, fill } => entries.get(at).copied().unwrap_or((*fill, false)),
        };
        At {
            value,
            is_stored: Some(is_stored),
        }
    }

    fn set(&mut self, at: Vec<u64>, found: At) {
        let is_stored = found.is_stored.unwrap_or(true);
        match &mut self.values {
            Values::Dense(values) => values.set(linear(&at, &self.extents), found.value),
            Values::Sparse { entries, fill } => match entries.get_mut(&at) {
                Some(entry) => *entry = (found.value, entry.1 || is_stored),
                None if is_stored || found.value != *fill => {
                    entries.insert(at, (found.value, is_stored));
                }
                None => {}
            },
        }
    }

    /// The coordinates of the stored entries.
    fn coords(&self) -> Vec<Vec<u64>> {
        match &self.values {
            Values::Dense(_) => Vec::new(),
            Values::Sparse { entries, .. } => entries.keys().cloned().collect(),
        }
    }

    /// The value as an operand of a body, if it does not change meanwhile.
    fn part(&self, number: usize) -> Part {
        match &self.values {
            Values::Dense(_) => Part::anywhere(),
            Values::Sparse { fill, .. } => Part {
                stored: Some(Set::Stored(number)),
                elsewhere: Some(*fill),
            },
        }
    }

    fn tensor(self, ty: &Type) -> Result<Tensor> {
        let (entries, fill) = match self.values {
            Values::Dense(values) => return dense(self.extents, values),
            Values::Sparse { entries, fill } => (entries, fill),
        };
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for (at, (value, is_stored)) in entries {
            if is_stored {
                coords.extend(at);
                values.push(value);
            }
        }
        let entries = Entries {
            coords: coords.into(),
            values: array_of(fill.element(), &values)?,
            extents: self.extents,
        };
        pack(&format_of(ty)?, entries)
    }
}

fn linear(at: &[u64], extents: &[u64]) -> usize {
    let places = at.iter().zip(extents);
    places.fold(0, |place, (at, extent)| {
        place * *extent as usize + *at as usize
    })
}

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
    let mut held = Vec::new();
    for (operand, map) in operands.iter().zip(&structured.maps) {
        held.push(match operand {
            Operand::Tensor(handle) => Held::Tensor(Stored::of(&*handle.tensor()?, map)?),
            Operand::Number(value) => Held::Number(*value),
            Operand::Later(_) => return Err(machine.not_run(op)),
        });
    }
    let set = points(machine, frame, structured, block, &mut held);
    let relation = |number: usize| match &held[number] {
        Held::Tensor(tensor) => (tensor.coords(), &tensor.map),
        Held::Number(_) => (Vec::new(), &structured.maps[number]),
    };
    let few = |fault: Diagnostic| {
        machine.placed(op, fault).help(
            "write a body that gives zero for implicit zeros, or one with operations of `arith` and \
             `math` that sparsec has operators for",
        )
    };
    let visited = match set {
        None => Some(Vec::new()),
        Some(set) => {
            let points = Points::of(&set, &extents, &relation).map_err(few)?;
            let points = points.map(|it| it.in_order(&extents)).transpose();
            points.map_err(few)?
        }
    };
    let mut point = vec![0i64; extents.len()];
    match visited {
        Some(points) => {
            for at in points {
                for (point, at) in point.iter_mut().zip(at) {
                    *point = at as i64;
                }
                visit(machine, frame, structured, block, &point, &mut held)?;
            }
        }
        None => {
            let n_points = count(&extents)?;
            if n_points as u64 > MOST_POINTS {
                return Err(few(points::too_many(n_points)));
            }
            for _ in 0..n_points {
                visit(machine, frame, structured, block, &point, &mut held)?;
                advance(&mut point, &extents);
            }
        }
    }
    let outputs = held.into_iter().skip(structured.n_inputs());
    let results = outputs.zip(op.operands("outputs"));
    let results = results.map(|(held, value)| match held {
        Held::Tensor(tensor) => tensor.tensor(machine.module.ty(*value)),
        Held::Number(_) => Err(machine.not_run(op)),
    });
    results.collect()
}

/// An operand.
enum Held {
    Number(Scalar),
    Tensor(Stored),
}

/// The points that a body is evaluated at; `None` for none. Entries elsewhere have their values.
fn points(
    machine: &Machine<'_>,
    frame: &Frame,
    structured: &Structured<'_>,
    block: Block,
    held: &mut [Held],
) -> Option<Set> {
    let n_inputs = structured.n_inputs();
    let is_reduction = structured.reductions.contains(&true);
    let args = held.iter().enumerate().map(|(number, held)| match held {
        Held::Number(value) => Part {
            stored: None,
            elsewhere: Some(*value),
        },
        Held::Tensor(_) if is_reduction && number >= n_inputs => Part::anywhere(),
        Held::Tensor(tensor) => tensor.part(number),
    });
    let captured = |value| match machine.get(frame, value) {
        Ok(Datum::Number(number)) => Some(number),
        _ => None,
    };
    let parts = Parts::of(machine.module, block, args.collect(), &captured);
    if is_reduction {
        return Some(parts.of_reductions(block, n_inputs).unwrap_or(Set::All));
    }
    let arguments = &machine.module.block(block).arguments;
    let mut all = None;
    for (n, value) in yielded(machine.module, block).iter().enumerate() {
        let number = n_inputs + n;
        let part = parts.get(*value);
        let Some(Held::Tensor(output)) = held.get_mut(number) else {
            return Some(Set::All);
        };
        let changes = parts.changes(*value, arguments[number]);
        let is_whole = output.map.permutation().is_some();
        let set = match (&mut output.values, changes, part.elsewhere) {
            // Entries that the output has may get other values.
            (Values::Sparse { .. }, ..) => {
                let stored = part.stored.unwrap_or(Set::All);
                either(Some(stored), Some(Set::Stored(number)))
            }
            (_, Some(changes), _) => changes,
            (Values::Dense(values), None, Some(elsewhere))
                if is_whole && !matches!(part.stored, Some(Set::All)) =>
            {
                for place in 0..values.len() {
                    values.set(place, elsewhere);
                }
                part.stored
            }
            _ => Some(Set::All),
        };
        all = either(all, set);
    }
    all
}

/// Evaluates a body at a point.
fn visit(
    machine: &Machine<'_>,
    frame: &Frame,
    structured: &Structured<'_>,
    block: Block,
    point: &[i64],
    held: &mut [Held],
) -> Result<()> {
    let op = structured.op;
    let mut args = Vec::new();
    for held in held.iter() {
        args.push(match held {
            Held::Number(value) => At {
                value: *value,
                is_stored: None,
            },
            Held::Tensor(tensor) => {
                let place = tensor.place(point);
                let place = place.ok_or_else(|| {
                    machine.outside(op, format!("the point {point:?} is outside of an operand"))
                })?;
                tensor.get(&place)
            }
        });
    }
    let mut body = Evaluation {
        machine,
        frame,
        point,
        values: HashMap::new(),
    };
    body.block(block, &args)?;
    let yields = yielded(machine.module, block).iter();
    let found: Vec<At> = yields
        .map(|value| body.get(*value))
        .collect::<Result<_>>()?;
    for (held, at) in held.iter_mut().skip(structured.n_inputs()).zip(found) {
        if let Held::Tensor(tensor) = held
            && let Some(place) = tensor.place(point)
        {
            tensor.set(place, at);
        }
    }
    Ok(())
}

/// A body at one point.
struct Evaluation<'m, 'a> {
    machine: &'m Machine<'a>,
    frame: &'m Frame,
    point: &'m [i64],
    values: HashMap<Value, At>,
}

impl Evaluation<'_, '_> {
    fn get(&self, value: Value) -> Result<At> {
        if let Some(at) = self.values.get(&value) {
            return Ok(*at);
        }
        match self.machine.get(self.frame, value)? {
            Datum::Number(value) => Ok(At {
                value,
                is_stored: None,
            }),
            _ => Err(self.machine.not_run(self.definer(value))),
        }
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
        let constant = |value| At {
            value,
            is_stored: None,
        };
        if let Some(number) = constant_number(op) {
            self.values.insert(result, constant(number));
            return Ok(());
        }
        if op.name() == "linalg.index" {
            let dim = op
                .attribute("dim")
                .and_then(Attribute::natural)
                .unwrap_or(0);
            let at = self.point.get(dim as usize).copied().unwrap_or(0);
            self.values.insert(result, constant(Scalar::I64(at)));
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
                let supports = args.iter().map(|arg| {
                    let is_zero = arg.value.is_zero();
                    (arg.is_stored, is_zero || arg.is_stored == Some(true))
                });
                let (is_stored, _) = combined(op, &supports.collect::<Vec<_>>());
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
