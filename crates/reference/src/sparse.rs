//! The evaluator that visits the points where something is stored.
//!
//! An expression is a value where it is stored and one other value elsewhere,
//! so it is evaluated by listing where it is stored. A reduction first evaluates
//! the reductions inside it to lists of their own, which are then operands like
//! any other; one that would be too long a list is computed where the expression
//! around it asks.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_index::function::Body;
use sparsec_index::{Access, Expr, IndexVar, Operator, Program};
use sparsec_tensor::Tensor;

use crate::collect::Collector;
use crate::coordinate_map::CoordinateMap;
use crate::factored::factored;
use crate::placed;
use crate::point::{Applied, Entry, Failure, Fold, Value, repeated};
use crate::program::{Context, MOST_POINTS, Operand, body_of, run, run_statement};
use crate::rows::Rows;
use crate::scan::{Computed, Formula, Node, Scan, Source, State, Vars};
use crate::support::Support;
use crate::values::Values;

/// The result of every statement, by the name of its tensor.
///
/// `inputs` has each tensor that is given to the program, by its name in the
/// source.
/// Results that later statements read are taken to store what they are defined
/// to store, and no padding.
///
/// Time is proportional to the points where a product of the expression has
/// all operands that can make it zero, times the extents of variables that no
/// such operand has, and to sorting operands and results. Sums of products with
/// many points are taken factor by factor where that visits far fewer.
///
/// # Errors
/// `E0511` and `E0512` for what a kernel gives up at, `E0314` for an input that
/// is missing, `E0402` and `E0403` for one that is not what the program was
/// resolved for, `E0313` for an extent that is not known.
pub fn evaluate<T: Borrow<Tensor>>(
    program: &Program,
    inputs: &BTreeMap<String, T>,
) -> Result<BTreeMap<String, CoordinateMap>> {
    run(program, inputs, statement)
}

/// The result of one statement. `inputs` has each tensor that it reads, by its
/// name in the program, results of earlier statements included: those store what
/// they are given as storing.
///
/// # Errors
/// As of [`evaluate`].
///
/// # Panics
/// If the program has no statement of this number.
pub fn evaluate_statement<T: Borrow<Tensor>>(
    program: &Program,
    number: usize,
    inputs: &BTreeMap<String, T>,
) -> Result<CoordinateMap> {
    evaluate_statement_within(program, number, inputs, MOST_POINTS as u64)
}

/// As [`evaluate_statement`], where no more than so many points are worth it.
///
/// # Errors
/// As of [`evaluate`], and `E0516` for a statement that has more.
///
/// # Panics
/// If the program has no statement of this number.
pub fn evaluate_statement_within<T: Borrow<Tensor>>(
    program: &Program,
    number: usize,
    inputs: &BTreeMap<String, T>,
    most_points: u64,
) -> Result<CoordinateMap> {
    run_statement(program, number, inputs, most_points as f64, statement)
}

fn statement(context: &Context<'_>) -> Result<CoordinateMap> {
    let part = Part::new(context, &context.statement.rhs)?;
    let free = places(&context.statement.lhs.vars());
    let rows = part.rows_of(&context.statement.rhs, &free)?;
    match context.statement.is_partial() {
        true => context.part(&rows, part.unstored()),
        false => context.result(rows, part.unstored()),
    }
}

/// From how many points on a sum of products is taken factor by factor: as it is
/// written, it depends on less that could be wrong.
const FACTORED_FROM: f64 = (1u64 << 20) as f64;

/// The most points that a reduction inside an expression is listed for, where
/// the expression around it may need fewer.
const MOST_LISTED: u64 = 1 << 20;

/// An expression with at most one reduction, at its root.
struct Part<'a> {
    context: &'a Context<'a>,
    formula: Formula<'a>,
    reduction: Option<Operator>,
    /// The type of the body.
    element: ElementType,
    /// The variables bound by the reduction, and how many points they have.
    inner: Vec<usize>,
    n_inner: u128,
    /// The extent of each variable.
    extents: Vec<u64>,
}

impl<'a> Part<'a> {
    fn new(context: &'a Context<'a>, expr: &Expr) -> Result<Self> {
        let (reduction, inner, body) = match expr {
            Expr::Reduce { op, vars, body } => (Some(op.clone()), vars.as_slice(), body.as_ref()),
            _ => (None, [].as_slice(), expr),
        };
        let of_var = |var: IndexVar| context.extents.get(&var).copied().unwrap_or(0);
        let points = context.extents_of(inner).into_iter();
        Ok(Self {
            context,
            formula: Builder::new(context).formula(body)?,
            reduction,
            element: body.element(&context.program.tensors),
            inner: places(inner),
            n_inner: points.map(u128::from).fold(1, u128::saturating_mul),
            extents: context.program.vars.ids().map(of_var).collect(),
        })
    }

    /// The value where nothing is stored.
    fn unstored(&self) -> Value {
        match &self.reduction {
            None => self.formula.unstored,
            Some(op) if self.n_inner == 0 => Fold::new(op, self.element).entry().value,
            Some(op) => repeated(op, self.formula.unstored, self.n_inner).value,
        }
    }

    /// The same as [`rows`](Self::rows), factor by factor where that visits far fewer
    /// points; `expr` is what the part was made of.
    fn rows_of(&self, expr: &Expr, free: &[usize]) -> Result<Rows> {
        let is_worth = |fewer: f64| {
            let points = self.points_of(&self.scans(free));
            points > FACTORED_FROM && fewer < points / 4.0
        };
        let factored = factored(self.context, expr).filter(|(_, fewer)| is_worth(*fewer));
        // Too many points that way, and values that are not finite, leave the sum as it is.
        let rows = factored.and_then(|(expr, _)| {
            let part = Part::new(self.context, &expr).ok()?;
            part.rows(free).ok().filter(Rows::is_finite)
        });
        match rows {
            Some(rows) => Ok(rows),
            None => self.rows(free),
        }
    }

    /// What is stored, with one column a variable of `free`.
    fn rows(&self, free: &[usize]) -> Result<Rows> {
        let scans = self.scans(free);
        self.refuse_beyond(&scans)?;
        let mut state = State::new(&self.formula, vec![0; self.extents.len()]);
        let Some(op) = &self.reduction else {
            let mut rows = Rows::new(free.len());
            let mut row = Vec::new();
            for scan in scans {
                scan.run(&self.formula, &mut state, &mut |bound, entry| {
                    row.clear();
                    row.extend(free.iter().map(|var| bound[*var]));
                    rows.push(&row, entry);
                });
            }
            rows.sort(|_, _| unreachable!("each point is visited once"));
            return Ok(rows);
        };
        let mut sums = Collector::new(op.clone(), self.element, free, &self.extents);
        for scan in scans {
            sums.start(&scan.prefix);
            scan.run(&self.formula, &mut state, &mut |bound, entry| {
                sums.add(bound, entry);
            });
        }
        Ok(sums.finish(self.formula.unstored, self.n_inner))
    }

    fn scans(&self, free: &[usize]) -> Vec<Scan> {
        self.formula.scans(Vars {
            known: &[],
            free,
            inner: &self.inner,
            extents: &self.extents,
        })
    }

    /// About how many points the scans visit.
    fn points_of(&self, scans: &[Scan]) -> f64 {
        let points = scans
            .iter()
            .map(|scan| scan.points(&self.formula, &self.extents));
        points.sum()
    }

    fn refuse_beyond(&self, scans: &[Scan]) -> Result<()> {
        self.context.refuse_beyond(self.points_of(scans))
    }

    /// Whether listing what is stored may take far longer than computing what
    /// an expression around this one asks for.
    fn is_wide(&self, free: &[usize]) -> bool {
        let extents = free.iter().map(|var| self.extents[*var]);
        extents.fold(1, u64::saturating_mul) > MOST_LISTED && self.formula.leaves_open(free)
    }

    /// The reduction as a function of its free variables.
    fn computed(self, op: Operator, free: &[usize]) -> Result<Computed<'a>> {
        let scans = self.formula.scans(Vars {
            known: free,
            free: &[],
            inner: &self.inner,
            extents: &self.extents,
        });
        self.refuse_beyond(&scans)?;
        let unstored = Entry::unstored(self.unstored());
        Ok(Box::new(move |bound| {
            let mut state = State::new(&self.formula, bound.to_vec());
            let mut fold = Fold::new(&op, self.element);
            for scan in &scans {
                scan.run(&self.formula, &mut state, &mut |_, entry| {
                    fold.add(&op, entry)
                });
            }
            if !fold.entry().stored {
                return unstored;
            }
            fold.fill_up(&op, self.formula.unstored, self.n_inner);
            fold.entry()
        }))
    }
}

/// The places of variables in lists with one entry a variable.
fn places(vars: &[IndexVar]) -> Vec<usize> {
    vars.iter().map(|var| var.index()).collect()
}

/// Takes an expression apart into operands and what is done with them.
struct Builder<'a> {
    context: &'a Context<'a>,
    accesses: HashMap<Access, usize>,
    sources: Vec<Source<'a>>,
}

/// A part of an expression: how it is computed, where it is stored, and what
/// it is elsewhere.
struct Piece {
    node: Node,
    support: Support,
    unstored: Value,
}

impl<'a> Builder<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            accesses: HashMap::new(),
            sources: Vec::new(),
        }
    }

    fn formula(mut self, expr: &Expr) -> Result<Formula<'a>> {
        let Piece {
            node,
            support,
            unstored,
        } = self.piece(expr)?;
        Ok(Formula {
            node,
            sources: self.sources,
            support,
            unstored,
        })
    }

    fn piece(&mut self, expr: &Expr) -> Result<Piece> {
        Ok(match expr {
            Expr::Literal(value) => Piece {
                node: Node::Literal(*value),
                support: Support::nowhere(),
                unstored: Ok(*value),
            },
            Expr::Access(access) => {
                let unstored = Ok(self.context.operands[&access.tensor].fill());
                let key = access.clone();
                let known = self.accesses.get(&key).copied();
                let number = known.unwrap_or_else(|| {
                    let source = self.source(access);
                    self.add(source)
                });
                self.accesses.insert(key, number);
                self.operand(number, unstored)
            }
            Expr::Index(index) => {
                let number = self.add(placed::index_source(index));
                self.operand(number, Err(Failure::NeverUnstored))
            }
            Expr::Cast(element, body) => {
                let body = self.piece(body)?;
                Piece {
                    node: Node::Cast(*element, Box::new(body.node)),
                    unstored: Entry::unstored(body.unstored).cast(*element).value,
                    support: body.support,
                }
            }
            Expr::Apply { op, args } => {
                let body = body_of(op, args, self.context);
                let args: Result<_> = args.iter().map(|arg| self.piece(arg)).collect();
                applied(op.clone(), body, args?)
            }
            Expr::Reduce { op, .. } => {
                let free = free_vars(expr);
                let part = Part::new(self.context, expr)?;
                let unstored = part.unstored();
                let source = if part.is_wide(&free) {
                    let entry = part.computed(op.clone(), &free)?;
                    Source::Computed {
                        vars: free,
                        entry,
                        solved: None,
                    }
                } else {
                    let extents: Vec<u64> = free.iter().map(|var| part.extents[*var]).collect();
                    Source::of_rows(
                        &Arc::new(part.rows_of(expr, &free)?),
                        &free,
                        &extents,
                        unstored,
                    )
                };
                let number = self.add(source);
                self.operand(number, unstored)
            }
        })
    }

    fn add(&mut self, source: Source<'a>) -> usize {
        self.sources.push(source);
        self.sources.len() - 1
    }

    fn operand(&self, number: usize, unstored: Value) -> Piece {
        Piece {
            node: Node::Source(number),
            support: self.sources[number].support(number),
            unstored,
        }
    }

    fn source(&self, access: &Access) -> Source<'a> {
        let operand = &self.context.operands[&access.tensor];
        let Some(vars) = access.plain_vars() else {
            let extents = |var: IndexVar| self.context.extents.get(&var).copied().unwrap_or(0);
            return placed::source(operand, access, &extents);
        };
        let vars = places(&vars);
        match operand {
            Operand::Dense(tensor, _) => {
                let mut strides = Vec::new();
                let mut stride = 1;
                for level in tensor.format().levels().iter().rev() {
                    strides.push((vars[level.mode()], stride));
                    stride *= tensor.extents()[level.mode()] as usize;
                }
                Source::Array {
                    values: Values::of(tensor.vals()),
                    strides,
                }
            }
            Operand::Map(map) => Source::of_rows(&map.rows, &vars, &map.extents, Ok(map.fill)),
        }
    }
}

fn applied(op: Operator, body: Option<Arc<Body>>, args: Vec<Piece>) -> Piece {
    let applied = Applied {
        op,
        body,
        fills: args.iter().map(|arg| arg.unstored).collect(),
    };
    let decides = |(at, _): &(usize, &Piece)| applied.is_decided_by(*at);
    let needed = args.iter().enumerate().filter(decides);
    let needed = needed.map(|(_, arg)| arg.support.clone());
    let all = args.iter().map(|arg| arg.support.clone());
    let support = needed
        .reduce(Support::intersection)
        .or_else(|| all.reduce(Support::union))
        .unwrap_or_else(Support::nowhere);
    Piece {
        support,
        unstored: applied.unstored(),
        node: Node::Apply(
            Box::new(applied),
            args.into_iter().map(|arg| arg.node).collect(),
        ),
    }
}

/// The variables of an expression that no reduction in it binds, ascending.
fn free_vars(expr: &Expr) -> Vec<usize> {
    fn bound(expr: &Expr, found: &mut BTreeSet<IndexVar>) {
        match expr {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => {}
            Expr::Cast(_, body) => bound(body, found),
            Expr::Apply { args, .. } => args.iter().for_each(|arg| bound(arg, found)),
            Expr::Reduce { vars, body, .. } => {
                found.extend(vars);
                bound(body, found);
            }
        }
    }
    let mut inner = BTreeSet::new();
    bound(expr, &mut inner);
    let used = expr.vars().into_iter();
    let free: BTreeSet<IndexVar> = used.filter(|var| !inner.contains(var)).collect();
    free.iter().map(|var| var.index()).collect()
}
