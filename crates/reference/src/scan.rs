//! The points of one join, one after the other.
//!
//! A term of a [`Support`] says which operands must be
//! stored. A scan binds index variables step by step until a point is whole:
//!
//! ```text
//! A(i,k) * B(k,j) * d(j)    A and B in the term, d stores everything
//!
//! extend A        each entry of A                    binds i, k
//! extend B        each entry of B whose row is k     binds j
//!                 look up d(j)
//! ```
//!
//! An operand is looked up as soon as its variables are bound; one of the term
//! that is not stored there ends the branch. A variable that no operand of the
//! term has runs over its extent, after all others.
//!
//! Several terms may have the same point: the first one that does gives it.

mod planner;

use std::sync::Arc;

use sparsec_base::{ElementType, Scalar};

use crate::point::{Applied, Entry, Value};
use crate::rows::{Rows, Table};
use crate::support::Support;
use crate::values::Values;
use planner::Planner;

/// An entry as a function of the bound coordinates.
pub(crate) type Computed<'a> = Box<dyn Fn(&[u64]) -> Entry + 'a>;

/// The values of a variable, as a function of the other bound coordinates.
pub(crate) type Readings<'a> = Box<dyn Fn(&[u64], usize) -> Vec<u64> + 'a>;

/// An operand as a function of the point. Variables are places in the list of
/// bound coordinates.
pub(crate) enum Source<'a> {
    /// The values of a tensor that is dense in all modes.
    Array {
        values: Values<'a>,
        strides: Vec<(usize, usize)>,
    },
    /// Entries at every coordinate.
    Full {
        rows: Arc<Rows>,
        strides: Vec<(usize, usize)>,
    },
    /// Entries at some coordinates; one column a variable.
    Rows {
        vars: Vec<usize>,
        rows: Arc<Rows>,
        table: Table,
        unstored: Entry,
    },
    /// Computed when it is asked for.
    Computed {
        vars: Vec<usize>,
        entry: Computed<'a>,
        /// Where it may be stored along one variable, if few entries say so.
        solved: Option<Solved<'a>>,
    },
}

/// The values of one variable that entries of a tensor are read at.
pub(crate) struct Solved<'a> {
    /// How many entries there are, each of which is tried.
    pub(crate) n_entries: usize,
    /// Distinct values, given what else is bound.
    pub(crate) values: Readings<'a>,
}

impl Source<'_> {
    /// Entries of a tensor accessed with `vars`, of which some may be equal.
    pub(crate) fn of_rows(
        rows: &Arc<Rows>,
        vars: &[usize],
        extents: &[u64],
        unstored: Value,
    ) -> Self {
        let n = extents.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
        if n == Some(rows.len() as u64) && n != Some(0) {
            let strides = row_major(extents);
            return Self::Full {
                rows: Arc::clone(rows),
                strides: vars.iter().copied().zip(strides).collect(),
            };
        }
        let (rows, vars) = diagonal(rows, vars);
        let columns: Vec<usize> = (0..vars.len()).collect();
        Self::Rows {
            table: Table::new(&rows, &columns),
            vars,
            rows,
            unstored: Entry::unstored(unstored),
        }
    }

    fn has(&self, var: usize) -> bool {
        match self {
            Self::Array { strides, .. } | Self::Full { strides, .. } => {
                strides.iter().any(|(other, _)| *other == var)
            }
            Self::Rows { vars, .. } | Self::Computed { vars, .. } => vars.contains(&var),
        }
    }

    /// Whether every coordinate may be stored.
    pub(crate) fn support(&self, number: usize) -> Support {
        match self {
            Self::Rows { .. }
            | Self::Computed {
                solved: Some(_), ..
            } => Support::operand(number),
            _ => Support::everywhere(),
        }
    }

    fn look_up(&self, bound: &[u64], key: &mut Vec<u64>) -> Entry {
        match self {
            Self::Array { values, strides } => Entry::stored(values.get(position(strides, bound))),
            Self::Full { rows, strides } => rows.entry(position(strides, bound)),
            Self::Rows {
                vars,
                table,
                unstored,
                ..
            } => {
                key.clear();
                key.extend(vars.iter().map(|var| bound[*var]));
                match table.beginning_with(key).next() {
                    Some(row) => table.entry(row),
                    None => *unstored,
                }
            }
            Self::Computed { entry, .. } => entry(bound),
        }
    }
}

fn position(strides: &[(usize, usize)], bound: &[u64]) -> usize {
    let terms = strides
        .iter()
        .map(|(var, stride)| bound[*var] as usize * stride);
    terms.sum()
}

fn row_major(extents: &[u64]) -> Vec<usize> {
    let inner = |mode: usize| extents[mode + 1..].iter().product::<u64>() as usize;
    (0..extents.len()).map(inner).collect()
}

/// The rows in which equal variables have equal coordinates, with one column a
/// variable. They stay sorted: what is left out follows from what is kept.
fn diagonal(rows: &Arc<Rows>, vars: &[usize]) -> (Arc<Rows>, Vec<usize>) {
    let first = |mode: usize| vars.iter().position(|var| *var == vars[mode]);
    let kept: Vec<usize> = (0..vars.len())
        .filter(|mode| first(*mode) == Some(*mode))
        .collect();
    if kept.len() == vars.len() {
        return (Arc::clone(rows), vars.to_vec());
    }
    let mut left = Rows::new(kept.len());
    let mut row = Vec::new();
    for n in 0..rows.len() {
        let all = rows.row(n);
        if (0..vars.len()).all(|mode| first(mode).is_some_and(|first| all[first] == all[mode])) {
            row.clear();
            row.extend(kept.iter().map(|mode| all[*mode]));
            left.push(&row, rows.entry(n));
        }
    }
    (
        Arc::new(left),
        kept.iter().map(|mode| vars[*mode]).collect(),
    )
}

/// An expression over sources.
pub(crate) enum Node {
    Literal(Scalar),
    Source(usize),
    Cast(ElementType, Box<Node>),
    Apply(Box<Applied>, Vec<Node>),
}

impl Node {
    fn entry(&self, found: &[Entry]) -> Entry {
        match self {
            Self::Literal(value) => Entry::unstored(Ok(*value)),
            Self::Source(number) => found[*number],
            Self::Cast(element, body) => body.entry(found).cast(*element),
            Self::Apply(applied, args) => match args.as_slice() {
                [a] => applied.to(&[a.entry(found)]),
                [a, b] => applied.to(&[a.entry(found), b.entry(found)]),
                args => {
                    let args: Vec<Entry> = args.iter().map(|arg| arg.entry(found)).collect();
                    applied.to(&args)
                }
            },
        }
    }
}

/// An expression without reductions, its operands, and where it is stored.
pub(crate) struct Formula<'a> {
    pub(crate) node: Node,
    pub(crate) sources: Vec<Source<'a>>,
    pub(crate) support: Support,
    /// The value where it is not stored.
    pub(crate) unstored: Value,
}

/// Which variables a scan binds.
#[derive(Clone, Copy)]
pub(crate) struct Vars<'v> {
    /// Those that are bound before it starts.
    pub(crate) known: &'v [usize],
    /// Those that tell results apart: bound before others where there is a choice.
    pub(crate) free: &'v [usize],
    /// The others.
    pub(crate) inner: &'v [usize],
    /// The extent of each variable.
    pub(crate) extents: &'v [u64],
}

impl<'a> Formula<'a> {
    fn solved(&self, source: usize) -> &Solved<'a> {
        match &self.sources[source] {
            Source::Computed {
                solved: Some(solved),
                ..
            } => solved,
            _ => unreachable!("steps solve for what can be solved"),
        }
    }

    /// Whether some term leaves one of these variables to run over its extent.
    pub(crate) fn leaves_open(&self, vars: &[usize]) -> bool {
        self.support.terms.iter().any(|term| {
            let lists = |source: &Source<'_>| matches!(source, Source::Rows { .. });
            let covers = |n: &usize, var| lists(&self.sources[*n]) && self.sources[*n].has(var);
            let covered = |var: &usize| term.iter().any(|n| covers(n, *var));
            !vars.iter().all(covered)
        })
    }

    /// One scan a term.
    pub(crate) fn scans(&self, vars: Vars<'_>) -> Vec<Scan> {
        (0..self.support.terms.len())
            .map(|term| Scan::new(self, term, vars))
            .collect()
    }
}

/// How to visit the points of one term.
pub(crate) struct Scan {
    term: usize,
    /// What is looked up before the first step.
    first: Vec<LookUp>,
    steps: Vec<Step>,
    /// The first variables bound that are free: results with equal coordinates
    /// of these come one after the other.
    pub(crate) prefix: Vec<usize>,
}

struct Step {
    kind: StepKind,
    /// What is looked up when the step has bound its variables.
    then: Vec<LookUp>,
}

enum StepKind {
    /// Each coordinate of the variable.
    Loop { var: usize, extent: u64 },
    /// Each coordinate of the variable that entries of a source are read at.
    Solve { source: usize, var: usize },
    /// Each entry of a source that agrees with what is bound: the first
    /// `n_bound` columns of its table.
    Extend {
        source: usize,
        table: Table,
        columns: Vec<usize>,
        n_bound: usize,
    },
}

#[derive(Clone, Copy)]
struct LookUp {
    source: usize,
    /// Whether the branch ends where nothing is stored.
    required: bool,
}

/// What is bound and found on the way to a point.
pub(crate) struct State {
    bound: Vec<u64>,
    found: Vec<Entry>,
    key: Vec<u64>,
}

impl State {
    /// The state in which these coordinates are bound, one a variable.
    pub(crate) fn new(formula: &Formula<'_>, bound: Vec<u64>) -> Self {
        Self {
            bound,
            found: vec![Entry::unstored(Ok(Scalar::Bool(false))); formula.sources.len()],
            key: Vec::new(),
        }
    }
}

impl Scan {
    fn new(formula: &Formula<'_>, term: usize, vars: Vars<'_>) -> Self {
        let mut planner = Planner {
            formula,
            term: &formula.support.terms[term],
            vars,
            bound: vars.known.to_vec(),
            ready: Vec::new(),
            steps: Vec::new(),
        };
        let first = planner.look_ups();
        while let Some(source) = planner.next() {
            planner.extend(source);
        }
        while let Some((source, var)) = planner.solvable() {
            planner.solve(source, var);
        }
        for var in vars.free.iter().chain(vars.inner) {
            planner.run_over(*var);
        }
        let new = &planner.bound[vars.known.len()..];
        let prefix = new.iter().take_while(|var| vars.free.contains(var));
        Self {
            term,
            first,
            prefix: prefix.copied().collect(),
            steps: planner.steps,
        }
    }

    /// About how many points the scan looks at, the steps that lead there as well: few
    /// entries may agree with what many turns of a loop have bound.
    pub(crate) fn points(&self, formula: &Formula<'_>, extents: &[u64]) -> f64 {
        let each = self.steps.iter().map(|step| match &step.kind {
            StepKind::Loop { extent, .. } => *extent as f64,
            StepKind::Solve { source, .. } => formula.solved(*source).n_entries as f64,
            StepKind::Extend {
                source,
                columns,
                n_bound,
                ..
            } => {
                let Source::Rows { rows, .. } = &formula.sources[*source] else {
                    unreachable!("terms hold operands that do not store everything");
                };
                let bound = columns[..*n_bound].iter().map(|var| extents[*var] as f64);
                rows.len() as f64 / bound.product::<f64>().max(1.0)
            }
        });
        let mut so_far = 1.0;
        let visited = each.map(|n| {
            so_far *= n;
            so_far
        });
        visited.fold(1.0, f64::max)
    }

    /// Calls `emit` with what is bound at every point where the formula is
    /// stored, unless an earlier term has the point.
    pub(crate) fn run(
        &self,
        formula: &Formula<'_>,
        state: &mut State,
        emit: &mut dyn FnMut(&[u64], Entry),
    ) {
        self.branch(0, &self.first, formula, state, emit);
    }

    fn branch(
        &self,
        step: usize,
        look_ups: &[LookUp],
        formula: &Formula<'_>,
        state: &mut State,
        emit: &mut dyn FnMut(&[u64], Entry),
    ) {
        for LookUp { source, required } in look_ups {
            let entry = formula.sources[*source].look_up(&state.bound, &mut state.key);
            if *required && !entry.stored {
                return;
            }
            state.found[*source] = entry;
        }
        let Some(Step { kind, then }) = self.steps.get(step) else {
            let earlier = &formula.support.terms[..self.term];
            let has = |term: &Vec<usize>| term.iter().all(|source| state.found[*source].stored);
            let entry = formula.node.entry(&state.found);
            if entry.stored && !earlier.iter().any(has) {
                emit(&state.bound, entry);
            }
            return;
        };
        match kind {
            StepKind::Loop { var, extent } => {
                for coord in 0..*extent {
                    state.bound[*var] = coord;
                    self.branch(step + 1, then, formula, state, emit);
                }
            }
            StepKind::Solve { source, var } => {
                for coord in (formula.solved(*source).values)(&state.bound, *var) {
                    state.bound[*var] = coord;
                    self.branch(step + 1, then, formula, state, emit);
                }
            }
            StepKind::Extend {
                source,
                table,
                columns,
                n_bound,
            } => {
                state.key.clear();
                let key = columns[..*n_bound].iter().map(|var| state.bound[*var]);
                state.key.extend(key);
                for row in table.beginning_with(&state.key) {
                    for (var, coord) in columns.iter().zip(table.row(row)).skip(*n_bound) {
                        state.bound[*var] = *coord;
                    }
                    state.found[*source] = table.entry(row);
                    self.branch(step + 1, then, formula, state, emit);
                }
            }
        }
    }
}
