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
use sparsec_index::{Access, Concrete, IndexVar, Program, Schedule, TensorVar, concretize};

use crate::cost::{Cost, cost};
use crate::draft::{Draft, reordered, walked};
use crate::estimate::Counts;
use crate::levels;
use crate::order::orders;

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
    /// Whether they are the same arrays, and the latter is the tensor of the
    /// levels of the former.
    pub is_view: bool,
}

/// Which operands a plan may convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversions {
    /// None: loops and temporaries have to do.
    None,
    /// Any, as few as possible.
    Any,
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
    counts: Counts<'_>,
) -> Result<Plan> {
    let naive = concretize(program, number);
    let mut best: Option<(Cost, Plan)> = None;
    let mut last_error = None;
    for commands in levels::alternatives(&naive, formats) {
        let mut start = Draft::new(naive.clone(), formats, counts);
        if !commands
            .into_iter()
            .all(|command| start.say(command).is_ok())
        {
            continue;
        }
        let search = Search::new(start);
        let most = match conversions {
            Conversions::None => 0,
            Conversions::Any => search.convertible.len(),
        };
        match search.run(most) {
            Ok((cost, plan)) => {
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, plan));
                }
            }
            Err(error) => last_error = Some(error),
        }
    }
    match (best, last_error) {
        (Some((_, plan)), _) => Ok(plan),
        (None, error) => Err(error.expect("the last alternative has no commands")),
    }
}

/// Applies the commands of a user to a naive statement.
///
/// # Errors
/// `E0310` and `E0311` for commands that do not fit, and why the statement
/// they lead to cannot be lowered.
pub fn apply(
    program: &Program,
    number: usize,
    formats: &Formats,
    schedule: &Schedule,
) -> Result<Plan> {
    let mut draft = Draft::new(concretize(program, number), formats, &|_| None);
    for command in &schedule.0 {
        draft.command(command.clone())?;
    }
    draft.convert_foreign()?;
    draft.finish()
}

struct Search<'a> {
    start: Draft<'a>,
    vars: Vec<IndexVar>,
    /// Accesses with walked levels.
    operands: Vec<Access>,
    /// Which of them may be converted: what is seen by its levels may not, for
    /// then it need not be seen so.
    convertible: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(start: Draft<'a>) -> Self {
        let operands = sparse_operands(&start.concrete, &start.formats);
        let may_be_converted = |at: &usize| !start.is_view(operands[*at].tensor);
        Self {
            vars: start.concrete.stmt.loops(),
            convertible: (0..operands.len()).filter(may_be_converted).collect(),
            operands,
            start,
        }
    }

    /// The best plan, with its cost and that of converting what kernels do not
    /// walk.
    fn run(&self, most_converted: usize) -> Result<(Cost, Plan)> {
        let mut first_error = None;
        let few = (0..=most_converted).filter(|n| *n <= MAX_CHOSEN);
        let all = (most_converted > MAX_CHOSEN).then_some(most_converted);
        let mut best: Option<(Cost, u64, Plan)> = None;
        for n_converted in few.chain(all) {
            for chosen in subsets(self.convertible.len(), n_converted) {
                let converted: Vec<usize> = chosen.iter().map(|at| self.convertible[*at]).collect();
                for order in orders(&self.vars, &self.edges(&converted)) {
                    match self.candidate(&order, &converted) {
                        Ok((traffic, foreign, plan)) => {
                            let cost = cost(&plan.concrete, &plan.formats, traffic);
                            if best.as_ref().is_none_or(|(least, _, _)| cost < *least) {
                                best = Some((cost, foreign, plan));
                            }
                        }
                        // Neither another order nor a conversion merges less.
                        Err(error) if error.code() == code::MERGE_TOO_LARGE => return Err(error),
                        Err(error) => _ = first_error.get_or_insert(error),
                    }
                }
            }
            let is_best = |cost: &Cost| n_converted > 0 || cost.traffic == 0;
            if best.as_ref().is_some_and(|(cost, _, _)| is_best(cost)) {
                break;
            }
        }
        match (best, first_error) {
            (Some((mut cost, foreign, plan)), _) => {
                cost.traffic = cost.traffic.saturating_add(foreign);
                Ok((cost, plan))
            }
            (None, Some(error)) => Err(error),
            // No order suits what may not be converted: the naive one says why.
            (None, None) => {
                let (traffic, foreign, plan) = self.candidate(&self.vars, &[])?;
                let all = traffic.saturating_add(foreign);
                Ok((cost(&plan.concrete, &plan.formats, all), plan))
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
            .collect()
    }

    /// A plan with what its conversions and its workspaces of several modes move,
    /// and what conversions move that kernels cannot do without.
    fn candidate(&self, order: &[IndexVar], converted: &[usize]) -> Result<(u64, u64, Plan)> {
        let mut draft = self.start.clone();
        for number in converted {
            let access = &self.operands[*number];
            let format = walked(&self.start.formats, access);
            draft.convert(access, reordered(format, access, order)?)?;
        }
        draft.convert_foreign()?;
        draft.reorder(order)?;
        draft.add_temporaries()?;
        Ok((draft.traffic as u64, draft.foreign as u64, draft.finish()?))
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
