//! From a statement to its best schedule.
//!
//! For each candidate order of loops, temporaries are put where the order
//! needs them, and the cheapest candidate that is lowerable wins. If no order
//! suits all operands, or one does only with a workspace of several modes, the
//! search goes on with some of them converted: first each alone, then pairs, and
//! so on.

mod nest;

use std::sync::Arc;

use sparsec_format::Format;
use sparsec_graph::Formats;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Concrete, IndexVar, Program, TensorVar, concretize};
use sparsec_network::Network;
use sparsec_schedule::{Command, Schedule};

use crate::account::{Account, Considered};
use crate::contractions;
use crate::cost::Cost;
use crate::draft::Draft;
use crate::effort::Effort;
use crate::estimate::work::work;
use crate::estimate::{Converting, Counts, Estimate};
use crate::levels;
use crate::merges::Merge;
use crate::networks::Networks;
use crate::pieces;
use crate::rowwise;
use crate::unplanned::{Result, Unplanned};
use nest::Search;

/// A statement that can be lowered, and how it came to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The commands that lead from the naive statement to this one.
    pub schedule: Schedule,
    /// The statement with all commands applied.
    pub concrete: Concrete,
    /// The format of every tensor of it, workspaces included.
    pub formats: Formats,
    /// Operands to convert before the statement runs.
    pub conversions: Vec<Conversion>,
    /// The format that the result is converted to after the statement has run,
    /// where kernels cannot assemble it.
    pub converts_result: Option<Format>,
    /// The format that the arrays of the result are of, where the statement
    /// writes them as those of a tensor of its levels.
    pub levels_of_result: Option<Format>,
    /// The product of several tensors that the statement sums, with what is known of them.
    pub network: Option<Arc<Network>>,
    /// What else there was, and what it was thought to cost.
    pub account: Account,
    /// The result of an earlier statement whose loops compute this one too.
    pub computed_with: Option<TensorVar>,
}

impl Plan {
    /// What it was thought to cost.
    pub fn cost(&self) -> Cost {
        let chosen = self.account.considered.first();
        chosen.map_or(Cost::default(), |chosen| chosen.cost)
    }
}

/// An operand that is needed in another format.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The tensor as it is.
    pub from: TensorVar,
    /// The tensor as the statement reads it.
    pub to: TensorVar,
    /// The format of the latter.
    pub format: Format,
    /// How the arrays of the former are those of the latter; `None` where they are
    /// copies.
    pub view: Option<View>,
}

/// How the arrays of a tensor are seen as another tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All of them, as the tensor of its levels.
    Levels,
    /// Those of one part of a union, or of all that is stored, as a piece.
    Part(usize),
}

/// How long the kernel of a plan may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As long as a few merges need, for a statement that might be split instead.
    Small,
    /// As long as kernels may be at all.
    Any,
}

/// What a plan has to go by, beside the statement and its formats.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// How many entries an input stores, where that is known.
    pub counts: Counts<'a>,
    /// How many entries the result of an earlier statement is thought to store, where its
    /// operands are not counted.
    pub assumed: Counts<'a>,
    /// The bytes that a conversion moves.
    pub conversion: &'a dyn Fn(&Converting<'_>) -> f64,
    /// What share of the entries of the tensor of a name lies apart from the entry stored
    /// before it, where that is known.
    pub scatter: &'a dyn Fn(&str) -> Option<f64>,
    /// What share of the steps of a merge a processor would guess wrong, where that is
    /// known.
    pub mispredicted: &'a dyn Fn(&Merge) -> Option<f64>,
    /// What share of the segments of the tensor of a name is as long as the one stored
    /// before it, where that is known.
    pub evenness: &'a dyn Fn(&str) -> Option<f64>,
    /// How many entries the segments of the tensor of a name have on average, where that
    /// is known.
    pub segment: &'a dyn Fn(&str) -> Option<f64>,
    /// The sum of the squared degrees of the tensor of a name in a mode, where it is counted.
    pub squares: &'a dyn Fn(&str, usize) -> Option<f64>,
    /// About how far the index variable of a name runs, where the program does not say.
    pub extents: &'a dyn Fn(&str) -> Option<u64>,
    /// Options and facts that contraction networks are planned by.
    pub networks: Networks<'a>,
    /// Whether floating-point numbers are computed with in the order of the source.
    pub strict: bool,
    /// How many threads there are.
    pub threads: &'a dyn Fn() -> usize,
    /// How much work is worth handing to one of them, in points of a statement.
    pub grain: u32,
    /// The time that searches have taken so far.
    pub effort: &'a Effort,
    /// How many runs share the conversions of operands.
    pub runs: u32,
}

/// Plans statement `number` of a program whose tensors all have formats.
///
/// # Errors
/// Why the first candidate cannot be lowered.
pub(crate) fn plan(
    program: &Program,
    number: usize,
    formats: &Formats,
    size: Size,
    facts: Facts<'_>,
) -> Result<Plan> {
    let naive = Draft::new(concretize(program, number), formats, facts).no_longer_than(size);
    let counted = contractions::counted(&naive);
    let Some(contracted) = contractions::contracted(&naive, counted)? else {
        return searched(&naive, None);
    };
    let best = contracted.best.map(|(cost, mut plan)| {
        plan.account.n_looked = plan.account.n_looked.max(1);
        plan.account.add(considered(&plan, cost));
        plan
    });
    let plan = match best {
        Some(best) if contracted.is_fixed => best,
        best => searched(&naive, best)?,
    };
    let network = Some(contracted.network);
    Ok(Plan { network, ..plan })
}

/// The best plan of a statement as a nest, or the plan that contracts it in parts if that
/// costs less.
fn searched(naive: &Draft<'_>, contracted: Option<Plan>) -> Result<Plan> {
    let asked = || Asked {
        may_turn_result: true,
        has_parts: naive.is_small(),
        less_than: contracted.as_ref().map(|plan| plan.cost().nanoseconds()),
        ..Asked::default()
    };
    let mut found = best(naive, asked());
    if let Some(divided) = rowwise::divided(naive) {
        found = lesser(found, best(&divided, asked()));
    }
    match contracted {
        Some(contracted) => lesser(found, Ok(contracted)),
        None => found,
    }
}

/// The plan that costs less, with the candidates of both; the first of equals. If there is
/// none, why there is no first one.
fn lesser(first: Result<Plan>, second: Result<Plan>) -> Result<Plan> {
    match (first, second) {
        (Ok(first), Ok(second)) => {
            let (mut least, other) = match second.cost().is_less_than(&first.cost()) {
                true => (second, first),
                false => (first, second),
            };
            least.account.merge(other.account);
            Ok(least)
        }
        (first, second) => first.or_else(|error| second.map_err(|_| error)),
    }
}

/// Plans a statement that a user has given commands for.
///
/// ```text
/// split(i, i0, i1, 32)     is kept as it is, if that can be lowered; else it is
///                            followed by what is missing, or follows that
/// precompute(…, {j}, w)    needs loops in another order, which is planned first
/// parallelize(i, …)        says nothing of loops, which are planned first
/// ```
///
/// # Errors
/// `E0310` and `E0311` for commands that do not fit, and why the statement
/// they lead to cannot be lowered, whatever is done beside.
pub(crate) fn complete(
    program: &Program,
    number: usize,
    formats: &Formats,
    schedule: &Schedule,
    size: Size,
    facts: Facts<'_>,
) -> Result<Plan> {
    let naive = Draft::new(concretize(program, number), formats, facts).no_longer_than(size);
    let network = contractions::counted(&naive);
    let plan = completed(&naive, &schedule.0, size)?;
    Ok(Plan { network, ..plan })
}

/// Plans statements that the same loops compute, by commands or without any.
///
/// # Errors
/// As [`complete`].
pub(crate) fn completed_together(naive: &Draft<'_>, commands: &Schedule) -> Result<Plan> {
    completed(naive, &commands.0, Size::Any)
}

/// The best plan of statements that the same loops compute.
///
/// # Errors
/// Why the last candidate cannot be lowered.
pub(crate) fn searched_together(naive: &Draft<'_>) -> Result<Plan> {
    best(naive, Asked::default())
}

fn completed(naive: &Draft<'_>, commands: &[Command], size: Size) -> Result<Plan> {
    let facts = naive.facts();
    let search = |asked| best(naive, asked);
    let last = Asked {
        last: commands,
        ..Asked::default()
    };
    let mut scheduled = naive.clone();
    if let Err(error) = scheduled.commands(commands) {
        // Loops in another order may be what the commands need.
        let amid = Asked {
            amid: commands,
            ..Asked::default()
        };
        let error = Unplanned::from(error);
        return match error.is_illegal_command() {
            true => search(amid).map_err(|found| telling(found, error, size)),
            false => Err(error),
        };
    }
    if commands.iter().all(Command::is_mark)
        && let Ok(plan) = search(last.clone())
    {
        return Ok(plan);
    }
    let mut whole = scheduled.clone();
    whole.convert_foreign()?;
    let converted = whole.converted;
    let error = match whole.finish() {
        Ok(mut plan) => {
            let cost = converted + work(Estimate::of(&plan, facts));
            plan.account.add(considered(&plan, cost));
            return Ok(plan);
        }
        Err(error) => error,
    };
    let asked = Asked {
        ordered: said_order(commands, &scheduled.concrete),
        ..Asked::default()
    };
    let followed = match nests(&scheduled.concrete.stmt).is_empty() {
        true => Search::new(scheduled, asked).run(),
        false => in_turn(scheduled, &asked),
    };
    followed
        .map(|(_, plan)| plan)
        .or_else(|_| search(last))
        .map_err(|found| telling(found, error, size))
}

/// Which of two reasons is told: that of what the commands lead to, unless larger
/// kernels may be a way out.
fn telling(found: Unplanned, error: Unplanned, size: Size) -> Unplanned {
    match size == Size::Small && found.is_too_large() {
        true => found,
        false => error,
    }
}

/// The best plan of what alternatives there are to begin with.
fn best(naive: &Draft<'_>, asked: Asked<'_>) -> Result<Plan> {
    let starts = pieces::alternatives(naive);
    let found = least(starts, |start| {
        match nests(&start.concrete.stmt).is_empty() {
            true => best_nest(&start, asked.clone()),
            false => in_turn(start, &asked),
        }
    });
    found.map(|(_, plan)| plan)
}

/// The best plan of a statement that has no sequence of nests.
fn best_nest(naive: &Draft<'_>, asked: Asked<'_>) -> Result<(Cost, Plan)> {
    let alternatives = levels::alternatives(naive);
    least(alternatives, |start| {
        Search::new(start, asked.clone()).run()
    })
}

/// The nests of the sequence in a statement; none if it has no such.
fn nests(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Sequence(nests) => nests.clone(),
        Stmt::Where { producer, .. } => nests(producer),
        Stmt::Assign { .. } | Stmt::Forall { .. } => Vec::new(),
    }
}

/// The best plan of each nest of a sequence, one after the other: what is planned of
/// one may be of use to those after it, as a conversion is.
fn in_turn(mut whole: Draft<'_>, asked: &Asked<'_>) -> Result<(Cost, Plan)> {
    whole.convert_foreign_result()?;
    let mut looked = Account::default();
    let of_nests = Asked {
        ordered: asked.ordered.clone(),
        ..Asked::default()
    };
    for number in 0..nests(&whole.concrete.stmt).len() {
        let nest = nests(&whole.concrete.stmt).swap_remove(number);
        let mut alone = whole.nest(nest);
        alone.converted = Cost::default();
        let (of_nest, plan) = best_nest(&alone, of_nests.clone())?;
        whole.converted += of_nest.of_conversions();
        looked.add_search(&plan.account);
        let n_said = whole.said().len();
        whole.commands(&plan.schedule.0[n_said..])?;
    }
    // What is read outside of the nests.
    whole.convert_foreign()?;
    whole.commands(asked.amid)?;
    whole.commands(asked.last)?;
    // Commands may ask for what kernels cannot read.
    whole.convert_foreign()?;
    let (converted, facts) = (whole.converted, whole.facts());
    let plan = match asked.amid.is_empty() && asked.last.is_empty() {
        true => pieces::finish_together(whole)?,
        false => whole.finish()?,
    };
    let cost = converted + work(Estimate::of(&plan, facts));
    let mut account = looked;
    account.add(considered(&plan, cost));
    Ok((cost, Plan { account, ..plan }))
}

pub(crate) fn considered(plan: &Plan, cost: Cost) -> Considered {
    Considered {
        schedule: plan.schedule.clone(),
        cost,
    }
}

/// The cheapest of what comes of alternatives, the first of equals; if there is
/// none, why the last one fails.
fn least<A>(
    alternatives: Vec<A>,
    mut plan: impl FnMut(A) -> Result<(Cost, Plan)>,
) -> Result<(Cost, Plan)> {
    let mut best: Option<(Cost, Plan)> = None;
    let mut last_error = None;
    let mut account = Account::default();
    for alternative in alternatives {
        match plan(alternative) {
            Ok((cost, mut plan)) => {
                account.merge(std::mem::take(&mut plan.account));
                if best
                    .as_ref()
                    .is_none_or(|(least, _)| cost.is_less_than(least))
                {
                    best = Some((cost, plan));
                }
            }
            Err(error) => last_error = Some(error),
        }
    }
    match (best, last_error) {
        (Some((cost, plan)), _) => Ok((cost, Plan { account, ..plan })),
        (None, error) => Err(error.expect("the last alternative is the statement as it is")),
    }
}

/// What a user asks of a plan.
#[derive(Clone, Default)]
struct Asked<'a> {
    /// Commands that come once loops are ordered.
    amid: &'a [Command],
    /// Commands that come last.
    last: &'a [Command],
    /// Whether the statement is planned in parts if it has no plan.
    has_parts: bool,
    /// The cost of a plan that is known, in nanoseconds: one that costs more is of no use.
    less_than: Option<f64>,
    /// Pairs of loops whose order commands have said.
    ordered: Vec<(IndexVar, IndexVar)>,
    /// Whether the result may be assembled in another order than it is stored in: who
    /// says how loops go or what they append to, has that in mind, as have nests that
    /// have the result together.
    may_turn_result: bool,
}

/// The loops that commands name, each before the next in the statement that they
/// lead to.
fn said_order(commands: &[Command], scheduled: &Concrete) -> Vec<(IndexVar, IndexVar)> {
    let is_said = |var: &IndexVar| {
        let name = &scheduled.vars[*var].name;
        let reordered = commands.iter().any(|command| match command {
            Command::Reorder { vars } => vars.iter().any(|said| said.word.text == *name),
            _ => false,
        });
        reordered || scheduled.made_by(*var).is_some()
    };
    let loops = scheduled.stmt.loops().into_iter();
    let said: Vec<IndexVar> = loops.filter(is_said).collect();
    said.windows(2).map(|pair| (pair[0], pair[1])).collect()
}
