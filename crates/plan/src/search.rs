//! From a statement to its best schedule.
//!
//! For each candidate order of loops, temporaries are put where the order
//! needs them, and the cheapest candidate that is lowerable wins. If no order
//! suits all operands, or one does only with a workspace of several modes, the
//! search goes on with some of them converted: first each alone, then pairs, and
//! so on.

use sparsec_base::{Result, code};
use sparsec_format::Format;
use sparsec_graph::{Formats, path};
use sparsec_index::concrete::Stmt;
use sparsec_index::{
    Access, Command, Concrete, IndexVar, Program, Schedule, TensorVar, concretize,
};

use crate::account::{Account, Considered};
use crate::copies::arranged;
use crate::cost::{Cost, cost};
use crate::draft::{Draft, walked};
use crate::estimate::Counts;
use crate::levels;
use crate::order::orders;
use crate::pieces;
use crate::rowwise;
use crate::waste::wasted_bytes;

/// The most operands of which every subset of that size is tried converted;
/// beyond, all are.
const MAX_CHOSEN: usize = 2;

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
    /// What else there was, and what it was thought to cost.
    pub account: Account,
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

/// Which operands a plan may convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversions {
    /// None: loops and temporaries have to do.
    None,
    /// Any, as few as possible.
    Any,
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
    /// What share of the entries of the tensor of a name lies apart from the entry stored
    /// before it, where that is known.
    pub scatter: &'a dyn Fn(&str) -> Option<f64>,
    /// About how far the index variable of a name runs, where the program does not say.
    pub extents: &'a dyn Fn(&str) -> Option<u64>,
    /// Whether floating-point numbers are computed with in the order of the source.
    pub strict: bool,
    /// How many threads there are.
    pub threads: &'a dyn Fn() -> usize,
    /// How much work is worth handing to one of them, in points of a statement.
    pub grain: u32,
}

/// Plans statement `number` of a program whose tensors all have formats.
///
/// # Errors
/// Why the first candidate cannot be lowered.
pub fn plan(
    program: &Program,
    number: usize,
    formats: &Formats,
    conversions: Conversions,
    size: Size,
    facts: Facts<'_>,
) -> Result<Plan> {
    let naive = Draft::new(concretize(program, number), formats, facts).no_longer_than(size);
    best(&naive, conversions, Asked::default()).or_else(|error| {
        let divided = rowwise::divided(&naive).ok_or_else(|| error.clone())?;
        best(&divided, conversions, Asked::default()).map_err(|_| error)
    })
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
pub fn complete(
    program: &Program,
    number: usize,
    formats: &Formats,
    schedule: &Schedule,
    size: Size,
    facts: Facts<'_>,
) -> Result<Plan> {
    let naive = Draft::new(concretize(program, number), formats, facts).no_longer_than(size);
    let commands = &schedule.0[..];
    let search = |asked| best(&naive, Conversions::Any, asked);
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
        return match error.code() == code::ILLEGAL_COMMAND {
            true => search(amid).map_err(|_| error),
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
    let traffic = (whole.traffic + whole.foreign) as u64;
    let error = match whole.finish() {
        Ok(mut plan) => {
            let cost = cost(&plan.concrete, &plan.formats, traffic);
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
        true => Search::new(scheduled, asked).run(Conversions::Any),
        false => in_turn(scheduled, Conversions::Any, &asked),
    };
    followed
        .map(|(_, plan)| plan)
        .or_else(|_| search(last))
        .map_err(|_| error)
}

/// The best plan of what alternatives there are to begin with.
fn best(naive: &Draft<'_>, conversions: Conversions, asked: Asked<'_>) -> Result<Plan> {
    let starts = pieces::alternatives(naive);
    let found = least(starts, |start| {
        match nests(&start.concrete.stmt).is_empty() {
            true => best_nest(&start, conversions, asked.clone()),
            false => in_turn(start, conversions, &asked),
        }
    });
    found.map(|(_, plan)| plan)
}

/// The best plan of a statement that has no sequence of nests.
fn best_nest(
    naive: &Draft<'_>,
    conversions: Conversions,
    asked: Asked<'_>,
) -> Result<(Cost, Plan)> {
    let alternatives = levels::alternatives(naive);
    least(alternatives, |start| {
        Search::new(start, asked.clone()).run(conversions)
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
fn in_turn(
    mut whole: Draft<'_>,
    conversions: Conversions,
    asked: &Asked<'_>,
) -> Result<(Cost, Plan)> {
    let mut cost = Cost::default();
    whole.convert_foreign_result()?;
    let of_nests = Asked {
        ordered: asked.ordered.clone(),
        ..Asked::default()
    };
    for number in 0..nests(&whole.concrete.stmt).len() {
        let nest = nests(&whole.concrete.stmt).swap_remove(number);
        let mut alone = whole.nest(nest);
        (alone.traffic, alone.foreign) = (0.0, 0.0);
        let (of_nest, plan) = best_nest(&alone, conversions, of_nests.clone())?;
        cost = cost + of_nest;
        let n_said = whole.said().len();
        whole.commands(&plan.schedule.0[n_said..])?;
    }
    // What is read outside of the nests.
    whole.convert_foreign()?;
    cost.traffic += (whole.traffic + whole.foreign) as u64;
    whole.commands(asked.amid)?;
    whole.commands(asked.last)?;
    let plan = match asked.amid.is_empty() && asked.last.is_empty() {
        true => pieces::finish_together(whole)?,
        false => whole.finish()?,
    };
    let mut account = Account::default();
    account.add(considered(&plan, cost));
    Ok((cost, Plan { account, ..plan }))
}

fn considered(plan: &Plan, cost: Cost) -> Considered {
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
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
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
    /// Pairs of loops whose order commands have said.
    ordered: Vec<(IndexVar, IndexVar)>,
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

struct Search<'a> {
    start: Draft<'a>,
    asked: Asked<'a>,
    vars: Vec<IndexVar>,
    /// Accesses with walked levels.
    operands: Vec<Access>,
    /// Which of them may be converted: not what a command has converted already,
    /// or has seen by its levels, for then it need not have.
    convertible: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(start: Draft<'a>, asked: Asked<'a>) -> Self {
        let operands = sparse_operands(&start.concrete, &start.formats);
        let may_be_converted = |at: &usize| !start.is_converted(operands[*at].tensor);
        Self {
            vars: start.concrete.stmt.loops(),
            convertible: (0..operands.len()).filter(may_be_converted).collect(),
            operands,
            start,
            asked,
        }
    }

    /// The best plan, with its cost and that of converting what kernels do not
    /// walk.
    fn run(&self, conversions: Conversions) -> Result<(Cost, Plan)> {
        let most_converted = match conversions {
            Conversions::None => 0,
            Conversions::Any => self.convertible.len(),
        };
        let mut first_error = None;
        let few = (0..=most_converted).filter(|n| *n <= MAX_CHOSEN);
        let all = (most_converted > MAX_CHOSEN).then_some(most_converted);
        let mut best: Option<(Cost, Beside, Plan)> = None;
        let mut account = Account::default();
        for n_converted in few.chain(all) {
            for chosen in subsets(self.convertible.len(), n_converted) {
                let converted: Vec<usize> = chosen.iter().map(|at| self.convertible[*at]).collect();
                for order in orders(&self.vars, &self.edges(&converted)) {
                    match self.candidate(&order, &converted) {
                        Ok((cost, beside, plan)) => {
                            account.add(considered(&plan, beside.added(cost)));
                            if best.as_ref().is_none_or(|(least, _, _)| cost < *least) {
                                best = Some((cost, beside, plan));
                            }
                        }
                        // Neither another order nor a conversion merges less.
                        Err(error) if error.code() == code::MERGE_TOO_LARGE => return Err(error),
                        Err(error) => _ = first_error.get_or_insert(error),
                    }
                }
            }
            // Converting more may still spare steps in vain.
            let is_best = |(cost, beside, _): &(Cost, Beside, Plan)| match n_converted {
                0 => cost.traffic == 0,
                _ => beside.wasted == 0,
            };
            if best.as_ref().is_some_and(is_best) {
                break;
            }
        }
        match (best, first_error) {
            (Some((cost, beside, plan)), _) => Ok((beside.added(cost), Plan { account, ..plan })),
            (None, Some(error)) => Err(error),
            // No order suits what may not be converted: the naive one says why.
            (None, None) => {
                let (cost, beside, plan) = self.candidate(&self.vars, &[])?;
                let cost = beside.added(cost);
                account.add(considered(&plan, cost));
                Ok((cost, Plan { account, ..plan }))
            }
        }
    }

    /// The edges that operands ask for, but for those to be converted.
    fn edges(&self, converted: &[usize]) -> Vec<(IndexVar, IndexVar)> {
        let kept = self
            .operands
            .iter()
            .enumerate()
            .filter(|(number, _)| !converted.contains(number));
        kept.flat_map(|(_, access)| path::edges(access, walked(&self.start.formats, access)))
            .map(|edge| (edge.before, edge.after))
            .chain(self.asked.ordered.iter().copied())
            .collect()
    }

    /// A plan with its cost, and what there is beside that.
    fn candidate(&self, order: &[IndexVar], converted: &[usize]) -> Result<(Cost, Beside, Plan)> {
        let mut draft = self.start.clone();
        for number in converted {
            let access = &self.operands[*number];
            let format = walked(&self.start.formats, access);
            let extents = &draft.concrete.tensors[access.tensor].extents;
            draft.convert(access, arranged(format, access, extents, order)?)?;
        }
        draft.convert_foreign()?;
        draft.reorder(order)?;
        draft.commands(self.asked.amid)?;
        draft.add_temporaries()?;
        draft.commands(self.asked.last)?;
        let facts = draft.facts();
        let (traffic, foreign) = (draft.traffic as u64, draft.foreign as u64);
        let plan = draft.finish()?;
        let wasted = wasted_bytes(&plan, facts);
        let traffic = traffic.saturating_add(wasted);
        let cost = cost(&plan.concrete, &plan.formats, traffic);
        Ok((cost, Beside { foreign, wasted }, plan))
    }
}

/// Bytes that a candidate moves, beside its cost.
#[derive(Clone, Copy)]
struct Beside {
    /// In conversions that kernels cannot do without: not counted.
    foreign: u64,
    /// In steps that come to nothing: counted already.
    wasted: u64,
}

impl Beside {
    /// A cost with what is not counted in it.
    fn added(self, cost: Cost) -> Cost {
        let traffic = cost.traffic.saturating_add(self.foreign);
        Cost { traffic, ..cost }
    }
}

/// Distinct accesses of the right sides that have walked levels.
fn sparse_operands(concrete: &Concrete, formats: &Formats) -> Vec<Access> {
    let mut found: Vec<Access> = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        for access in rhs.accesses() {
            let is_sparse = formats
                .walked(access.tensor)
                .is_some_and(Format::has_sparse);
            if is_sparse && !found.contains(access) {
                found.push(access.clone());
            }
        }
    });
    found
}

/// All sets of `size` numbers below `n`, in order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    (0..n)
        .flat_map(|last| {
            subsets(last, size - 1).into_iter().map(move |mut subset| {
                subset.push(last);
                subset
            })
        })
        .collect()
}
