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
    let search = Search {
        naive: &naive,
        formats,
        counts,
        vars: naive.stmt.loops(),
        operands: sparse_operands(&naive, formats),
    };
    let most = match conversions {
        Conversions::None => 0,
        Conversions::Any => search.operands.len(),
    };
    search.run(most)
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
    naive: &'a Concrete,
    formats: &'a Formats,
    counts: Counts<'a>,
    vars: Vec<IndexVar>,
    /// Accesses with walked levels, which may have to be converted.
    operands: Vec<Access>,
}

impl Search<'_> {
    fn run(&self, most_converted: usize) -> Result<Plan> {
        let mut first_error = None;
        let few = (0..=most_converted).filter(|n| *n <= MAX_CHOSEN);
        let all = (most_converted > MAX_CHOSEN).then_some(most_converted);
        let mut best: Option<(Cost, Plan)> = None;
        for n_converted in few.chain(all) {
            for converted in subsets(self.operands.len(), n_converted) {
                for order in orders(&self.vars, &self.edges(&converted)) {
                    match self.candidate(&order, &converted) {
                        Ok((traffic, plan)) => {
                            let cost = cost(&plan.concrete, &plan.formats, traffic);
                            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                                best = Some((cost, plan));
                            }
                        }
                        // Neither another order nor a conversion merges less.
                        Err(error) if error.code() == code::MERGE_TOO_LARGE => return Err(error),
                        Err(error) => _ = first_error.get_or_insert(error),
                    }
                }
            }
            let is_best = |cost: &Cost| n_converted > 0 || cost.traffic == 0;
            if best.as_ref().is_some_and(|(cost, _)| is_best(cost)) {
                break;
            }
        }
        match (best, first_error) {
            (Some((_, plan)), _) => Ok(plan),
            (None, Some(error)) => Err(error),
            // No order suits what may not be converted: the naive one says why.
            (None, None) => self.candidate(&self.vars, &[]).map(|(_, plan)| plan),
        }
    }

    /// The edges that operands ask for, but for those to be converted.
    fn edges(&self, converted: &[usize]) -> Vec<(IndexVar, IndexVar)> {
        let kept = self
            .operands
            .iter()
            .enumerate()
            .filter(|(number, _)| !converted.contains(number));
        kept.flat_map(|(_, access)| path::edges(access, walked(self.formats, access)))
            .map(|edge| (edge.before, edge.after))
            .collect()
    }

    /// A plan with what its conversions and its workspaces of several modes move.
    fn candidate(&self, order: &[IndexVar], converted: &[usize]) -> Result<(u64, Plan)> {
        let mut draft = Draft::new(self.naive.clone(), self.formats, self.counts);
        for number in converted {
            let access = &self.operands[*number];
            let format = walked(self.formats, access);
            draft.convert(access, reordered(format, access, order)?)?;
        }
        draft.convert_foreign()?;
        draft.reorder(order)?;
        draft.add_temporaries()?;
        Ok((draft.traffic as u64, draft.finish()?))
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
