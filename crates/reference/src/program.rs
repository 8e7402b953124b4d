//! Statement by statement: operands, extents, diagnostics.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::cancel::checkpoint;
use sparsec_base::{Diagnostic, Result, Scalar, Span, code};
use sparsec_index::function::Body;
use sparsec_index::{Access, Expr, IndexVar, Operator, Program, Statement, TensorData, TensorVar};
use sparsec_tensor::Tensor;

use crate::coordinate_map::CoordinateMap;
use crate::point::{Entry, Failure, Value, same};
use crate::rows::Rows;

/// The most points that an evaluation visits: an hour or so.
pub(crate) const MOST_POINTS: f64 = (1u64 << 36) as f64;

/// The most entries that values which stand for several are listed as: some gigabytes.
const MOST_LISTED: u64 = 1 << 28;

/// A tensor that a statement reads.
#[derive(Debug)]
pub(crate) enum Operand<'t> {
    /// Dense in all modes: looked up where it lies. The program says the fill, which a tensor that
    /// stores all entries need not share.
    Dense(&'t Tensor, Scalar),
    /// Anything else.
    Map(CoordinateMap),
}

impl<'t> Operand<'t> {
    fn of(tensor: &'t Tensor, fill: Scalar) -> Self {
        match tensor.format().is_all_dense() {
            true => Self::Dense(tensor, fill),
            false => Self::Map(CoordinateMap::of(tensor)),
        }
    }

    pub(crate) fn extents(&self) -> &[u64] {
        match self {
            Self::Dense(tensor, _) => tensor.extents(),
            Self::Map(map) => &map.extents,
        }
    }

    pub(crate) fn fill(&self) -> Scalar {
        match self {
            Self::Dense(_, fill) => *fill,
            Self::Map(map) => map.fill,
        }
    }

    /// How many entries are stored.
    pub(crate) fn entries(&self) -> f64 {
        match self {
            Self::Dense(tensor, _) => tensor
                .extents()
                .iter()
                .map(|extent| *extent as f64)
                .product(),
            Self::Map(map) => map.rows.len() as f64,
        }
    }

    /// Calls `visit` with every entry that is stored, in order of coordinates.
    pub(crate) fn for_each_stored(&self, visit: &mut dyn FnMut(&[u64], Entry)) {
        match self {
            Self::Dense(tensor, _) => for_each_point(tensor.extents(), &mut |coords| {
                visit(coords, self.entry(coords));
            }),
            Self::Map(map) => {
                (0..map.rows.len()).for_each(|n| visit(map.rows.row(n), map.rows.entry(n)));
            }
        }
    }

    /// What stands at these coordinates.
    pub(crate) fn entry(&self, coords: &[u64]) -> Entry {
        match self {
            Self::Dense(tensor, _) => Entry::stored(tensor.get(coords)),
            Self::Map(map) => match map.rows.find(coords) {
                Some(row) => map.rows.entry(row),
                None => Entry::unstored(Ok(map.fill)),
            },
        }
    }
}

/// One statement with all it reads.
#[derive(Debug)]
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) statement: &'p Statement,
    pub(crate) operands: &'p BTreeMap<TensorVar, Operand<'p>>,
    /// How far each index variable of the statement runs.
    pub(crate) extents: BTreeMap<IndexVar, u64>,
    /// More points than this are not visited.
    pub(crate) most_points: f64,
}

/// Evaluates every statement with `evaluate`.
pub(crate) fn run<T: Borrow<Tensor>>(
    program: &Program,
    inputs: &BTreeMap<String, T>,
    evaluate: impl Fn(&Context<'_>) -> Result<CoordinateMap>,
) -> Result<BTreeMap<String, CoordinateMap>> {
    let mut operands = BTreeMap::new();
    let mut results = BTreeMap::new();
    for statement in &program.statements {
        let computed = |access: &Access| program.tensors[access.tensor].name.clone();
        for access in reads(statement) {
            let access = &access;
            let operand = match results.get(&computed(access)) {
                _ if operands.contains_key(&access.tensor) => continue,
                Some(result) => Operand::Map(CoordinateMap::clone(result)),
                None => {
                    let data = &program.tensors[access.tensor];
                    input(program, access, data.source_name(), inputs)?
                }
            };
            operands.insert(access.tensor, operand);
        }
        let context = Context::new(program, statement, &operands)?;
        results.insert(computed(&statement.lhs), evaluate(&context)?);
    }
    Ok(results)
}

/// Evaluates one statement, all of whose operands are inputs.
pub(crate) fn run_statement<T: Borrow<Tensor>, R>(
    program: &Program,
    number: usize,
    inputs: &BTreeMap<String, T>,
    most_points: f64,
    evaluate: impl Fn(&Context<'_>) -> Result<R>,
) -> Result<R> {
    let statement = &program.statements[number];
    let mut operands = BTreeMap::new();
    for access in reads(statement) {
        let access = &access;
        let name = &program.tensors[access.tensor].name;
        operands.insert(access.tensor, input(program, access, name, inputs)?);
    }
    evaluate(&Context {
        most_points,
        ..Context::new(program, statement, &operands)?
    })
}

/// What a statement reads: the accesses of its right side, and the value that its
/// result had before.
fn reads(statement: &Statement) -> Vec<Access> {
    let mut found: Vec<Access> = statement.rhs.accesses().into_iter().cloned().collect();
    found.extend(statement.before.map(|tensor| Access {
        tensor,
        ..statement.lhs.clone()
    }));
    found
}

fn input<'t, T: Borrow<Tensor>>(
    program: &Program,
    access: &Access,
    name: &str,
    inputs: &'t BTreeMap<String, T>,
) -> Result<Operand<'t>> {
    let data = &program.tensors[access.tensor];
    let Some(tensor) = inputs.get(name).map(Borrow::borrow) else {
        let message = format!("there is no tensor for `{name}`");
        return Err(Diagnostic::new(code::MISSING_INPUT, message)
            .at(&program.source, access.span, "read here")
            .help("give every tensor that is read and not computed"));
    };
    check(program, data, tensor)?;
    refuse_to_list(program, access.span, name, tensor)?;
    Ok(Operand::of(tensor, data.fill))
}

/// Refuses a tensor in which few values stand for more entries than memory is sure to
/// hold one by one.
fn refuse_to_list(program: &Program, span: Span, name: &str, tensor: &Tensor) -> Result<()> {
    let entries = tensor.most_entries();
    if entries <= MOST_LISTED
        || tensor.format().is_all_dense()
        || entries == tensor.n_stored() as u64
    {
        return Ok(());
    }
    let message = format!("the reference evaluator would list {entries} entries of `{name}`");
    Err(Diagnostic::new(code::TOO_MANY_POINTS, message)
        .at(&program.source, span, "this one")
        .note(format!("its format is `{}`", tensor.format()))
        .help("check the expression with smaller extents, or run it without `--check`"))
}

/// Refuses to compare the result of a statement where that would list too many entries.
///
/// # Errors
/// `E0516`.
///
/// # Panics
/// If the program has no statement of this number.
pub fn refuse_to_compare(program: &Program, number: usize, result: &Tensor) -> Result<()> {
    let lhs = &program.statements[number].lhs;
    let name = program.tensors[lhs.tensor].source_name();
    refuse_to_list(program, lhs.span, name, result)
}

/// A program was resolved for certain orders, extents and types.
fn check(program: &Program, data: &TensorData, tensor: &Tensor) -> Result<()> {
    let refuse = |code, what: String| {
        let message = format!("the tensor given for `{}` {what}", data.name);
        Err(Diagnostic::new(code, message)
            .at(&program.source, data.span, "read here")
            .help("resolve the program with the declarations of the tensors it is evaluated on"))
    };
    let fits = data.order() == tensor.order()
        && std::iter::zip(&data.extents, tensor.extents())
            .all(|(declared, extent)| declared.is_none_or(|declared| declared == *extent));
    if !fits {
        let what = format!("has extents {:?}", tensor.extents());
        return refuse(code::LENGTH_MISMATCH, what);
    }
    if data.element != tensor.element() {
        let what = format!("has entries of {}, not {}", tensor.element(), data.element);
        return refuse(code::ARRAY_MISMATCH, what);
    }
    Ok(())
}

impl<'p> Context<'p> {
    fn new(
        program: &'p Program,
        statement: &'p Statement,
        operands: &'p BTreeMap<TensorVar, Operand<'p>>,
    ) -> Result<Self> {
        let mut extents = BTreeMap::new();
        for access in statement.rhs.accesses() {
            for (mode, extent) in operands[&access.tensor].extents().iter().enumerate() {
                let Some(var) = access.var(mode) else {
                    continue;
                };
                if *extents.entry(var).or_insert(*extent) != *extent {
                    let name = &program.vars[var].name;
                    let known = extents[&var];
                    let message = format!("`{name}` has the extents {known} and {extent}");
                    return Err(Diagnostic::new(code::LENGTH_MISMATCH, message)
                        .at(&program.source, access.span, "here")
                        .help("give tensors whose extents agree"));
                }
            }
        }
        for (var, data) in program.vars.iter() {
            if let Some(extent) = data.extent {
                extents.entry(var).or_insert(extent);
            }
        }
        let lhs = statement.lhs.vars();
        if let Some(var) = lhs.into_iter().find(|var| !extents.contains_key(var)) {
            let name = &program.vars[var].name;
            let message = format!("the extent of `{name}` is not known");
            return Err(Diagnostic::new(code::MISSING_EXTENT, message)
                .at(&program.source, statement.lhs.span, "needed here")
                .help(format!("say it: `.extent(\"{name}\", …)`")));
        }
        Ok(Self {
            program,
            statement,
            operands,
            extents,
            most_points: MOST_POINTS,
        })
    }

    /// The extents of these variables.
    pub(crate) fn extents_of(&self, vars: &[IndexVar]) -> Vec<u64> {
        vars.iter().map(|var| self.extents[var]).collect()
    }

    /// The result with these entries; `unstored` is what the right side is
    /// where it is not stored.
    ///
    /// A result holds what is stored, and, where that differs from its fill,
    /// what is not; that happens where the fill was not known beforehand. What
    /// has no value where nothing is stored has to be stored everywhere.
    pub(crate) fn result(&self, rows: Rows, unstored: Value) -> Result<CoordinateMap> {
        if let Some(failure) = rows.values.iter().find_map(|value| value.err()) {
            return Err(self.diagnose(failure));
        }
        let fill = self.program.tensors[self.statement.lhs.tensor].fill;
        let extents = self.extents_of(&self.statement.lhs.vars());
        let n = extents.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
        let is_full = n == Some(rows.len() as u64);
        let rows = match unstored {
            _ if is_full => rows,
            Err(failure) => return Err(self.diagnose(failure)),
            Ok(value) if !same(value, fill) => {
                self.refuse_beyond(extents.iter().map(|extent| *extent as f64).product())?;
                filled(&rows, &extents, value)
            }
            Ok(_) => rows,
        };
        Ok(CoordinateMap {
            extents,
            fill,
            rows: Arc::new(rows),
        })
    }

    /// Refuses to visit more points than anybody waits for.
    pub(crate) fn refuse_beyond(&self, points: f64) -> Result<()> {
        if points <= self.most_points {
            return Ok(());
        }
        let message = format!("the reference evaluator would visit about {points:.0e} points");
        Err(Diagnostic::new(code::TOO_MANY_POINTS, message)
            .at(&self.program.source, self.statement.span, "for this")
            .help("check the expression with smaller extents, or run it without `--check`"))
    }

    pub(crate) fn diagnose(&self, failure: Failure) -> Diagnostic {
        let (code, message) = match failure {
            Failure::DivisionByZero => (code::DIVISION_BY_ZERO, "an integer is divided by zero"),
            Failure::CastOutOfRange => (
                code::CAST_OUT_OF_RANGE,
                "a number does not fit the integer type it is converted to",
            ),
            Failure::NegativePower => (
                code::NEGATIVE_POWER,
                "an integer is raised to a negative power",
            ),
            Failure::NeverUnstored => unreachable!("entries with an index are stored"),
        };
        Diagnostic::new(code, message)
            .at(&self.program.source, self.statement.span, "computed here")
            .help("entries that a sparse tensor does not store have its fill")
    }
}

/// The body of a function of the user for arguments of these types.
pub(crate) fn body_of(op: &Operator, args: &[Expr], context: &Context<'_>) -> Option<Arc<Body>> {
    let Operator::Defined(function) = op else {
        return None;
    };
    let types = args.iter().map(|arg| arg.element(&context.program.tensors));
    let body = function.body(&types.collect::<Vec<_>>());
    Some(body.expect("calls are typed"))
}

/// The rows with every coordinate stored.
fn filled(rows: &Rows, extents: &[u64], value: Scalar) -> Rows {
    let mut all = Rows::new(extents.len());
    for_each_point(extents, &mut |coords| {
        let entry = rows.find(coords).map(|row| rows.entry(row));
        all.push(coords, entry.unwrap_or(Entry::stored(value)));
    });
    all
}

/// Calls `visit` with every coordinate of a space, in lexicographic order.
pub(crate) fn for_each_point(extents: &[u64], visit: &mut dyn FnMut(&[u64])) {
    fn go(extents: &[u64], coords: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64])) {
        let Some(extent) = extents.get(coords.len()) else {
            checkpoint();
            return visit(coords);
        };
        for coord in 0..*extent {
            coords.push(coord);
            go(extents, coords, visit);
            coords.pop();
        }
    }
    go(extents, &mut Vec::new(), visit);
}
