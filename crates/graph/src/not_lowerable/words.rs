//! Refusals in words.

use sparsec_base::Diagnostic;
use sparsec_index::{Concrete, IndexVar, TensorVar};

use super::{NeedsOrder, NotLowerable, UnfitClause, UnfitWorkspace};

/// The label of diagnostics at a command.
pub(super) const ASKED: &str = "asked for here";

/// Refusals in words, with the names of a statement.
pub(super) struct Words<'a> {
    pub(super) concrete: &'a Concrete,
}

impl Words<'_> {
    fn tensor(&self, tensor: TensorVar) -> &str {
        &self.concrete.tensors[tensor].name
    }

    fn var(&self, var: IndexVar) -> &str {
        &self.concrete.vars[var].name
    }

    /// The message, and the way out.
    pub(super) fn of(&self, refusal: &NotLowerable) -> (String, Option<String>) {
        let (message, help) = match refusal {
            NotLowerable::ComputedInside { access, var } => {
                let (name, var) = (self.tensor(access.tensor), self.var(*var));
                (
                    format!("`{var}` is computed inside of where `{name}` is used"),
                    "put the loops that it is computed from outside".to_owned(),
                )
            }
            NotLowerable::LoopOrder {
                access,
                before,
                after,
            } => {
                let name = self.tensor(access.tensor);
                let (before, after) = (self.var(*before), self.var(*after));
                (
                    format!(
                        "`{name}` stores `{before}` outside `{after}`, but the loops visit \
                         `{after}` first"
                    ),
                    format!(
                        "put the loop over `{before}` outside, or store `{name}` in another mode \
                         order"
                    ),
                )
            }
            NotLowerable::Unordered { access, why } => {
                let name = self.tensor(access.tensor);
                (
                    format!("the entries of `{name}` are in no order, {}", why.words()),
                    format!(
                        "convert `{name}` to an ordered format, such as `{}`",
                        why.format()
                    ),
                )
            }
            NotLowerable::Searched { operand, .. } => {
                let name = self.tensor(*operand);
                (
                    format!("the entries of `{name}` are in no order to be searched in"),
                    format!("convert `{name}` to an ordered format, such as `scoo`"),
                )
            }
            NotLowerable::Reduced { result, is_dense } => {
                let name = self.tensor(result.tensor);
                let (why, help) = match is_dense {
                    true => (
                        "whose padding does not begin as its entries do",
                        "collect the values first, as in `precompute(…, {}, t)`".to_owned(),
                    ),
                    false => ("which is sparse", format!("store `{name}` as `dense`")),
                };
                (
                    format!("values are added up into entries of `{name}`, {why}"),
                    help,
                )
            }
            NotLowerable::ResultOrder { result, loops } => {
                let name = self.tensor(result.tensor);
                let order: Vec<&str> = loops.iter().map(|var| self.var(*var)).collect();
                (
                    format!(
                        "`{name}` does not get its entries in order from the loops {}",
                        order.join(", ")
                    ),
                    format!("store `{name}` as `dense`, or in the order in which it is produced"),
                )
            }
            NotLowerable::Workspace { workspace, why } => self.workspace(*workspace, *why),
            NotLowerable::UnknownExtent(var) => {
                let name = self.var(*var);
                (
                    format!("the extent of `{name}` is not known"),
                    format!("say it (`.extent(\"{name}\", …)`), or give the operands"),
                )
            }
            NotLowerable::TooManyCases(var) => (
                format!(
                    "the loop over `{}` merges too many operands",
                    self.var(*var)
                ),
                "give part of the expression a name, in a statement of its own".to_owned(),
            ),
            NotLowerable::LongerThanAsked { n_cases } => {
                return (format!("a kernel of {n_cases} cases"), None);
            }
            NotLowerable::Clause { why, .. } => self.clause(why),
        };
        (message, Some(help))
    }

    fn workspace(&self, workspace: TensorVar, why: UnfitWorkspace) -> (String, String) {
        let name = self.tensor(workspace);
        let result = self.tensor(self.concrete.result);
        let listed = || format!("write `{name} : listed`, or leave the kind out");
        match why {
            UnfitWorkspace::DenseFeeds => (
                format!(
                    "`{name}` is dense, and does not say which entries of `{result}` are stored"
                ),
                listed(),
            ),
            UnfitWorkspace::ValuesEverywhere => (
                format!(
                    "the entries of `{result}` get values where no operand is stored, in no order"
                ),
                format!("store an operand in another mode order, or `{result}` as `dense`"),
            ),
            UnfitWorkspace::DenseAsked => (
                format!("it matters which entries `{name}` has, and it is dense"),
                listed(),
            ),
            UnfitWorkspace::NotAppended => (
                format!("`{name}` is not written in order, and it is appended"),
                listed(),
            ),
            UnfitWorkspace::ReadAt(var) => (
                format!(
                    "`{name}` is read at `{}`, of a loop around what writes it",
                    self.var(var)
                ),
                format!("store it without: `store({name}, dense, root)`"),
            ),
            UnfitWorkspace::Derived(_, result) => {
                let result = self.tensor(result);
                (
                    format!("`{name}` does not know which entries of `{result}` to store"),
                    format!("store `{result}` as `dense`"),
                )
            }
            UnfitWorkspace::Positions(var) => (
                format!(
                    "how many entries `{name}` needs is not known before positions `{}` are",
                    self.var(var)
                ),
                "precompute over the coordinates, and loop over positions inside".to_owned(),
            ),
        }
    }

    /// Where a workspace does not fit.
    pub(super) fn of_workspace(&self, error: Diagnostic, why: UnfitWorkspace) -> Diagnostic {
        let source = &self.concrete.source;
        let result = self.concrete.tensors[self.concrete.result].span;
        let computes = "in the statement that computes this";
        match why {
            UnfitWorkspace::DenseFeeds | UnfitWorkspace::ValuesEverywhere => {
                error.at(source, result, "needs a workspace that lists its entries")
            }
            UnfitWorkspace::DenseAsked => error.at(source, result, computes).note(
                "a dense workspace has a value for every coordinate, and no list of those written",
            ),
            UnfitWorkspace::NotAppended => error.at(source, result, computes).note(
                "an appended workspace takes each coordinate once, in ascending order: from one \
                 loop over its one mode, along levels that are stored so",
            ),
            UnfitWorkspace::ReadAt(_) => {
                error.note("a workspace with a list is walked by a loop of its own")
            }
            UnfitWorkspace::Derived(var, _) | UnfitWorkspace::Positions(var) => {
                self.derived(error, var)
            }
        }
    }

    fn clause(&self, why: &UnfitClause) -> (String, String) {
        match why {
            UnfitClause::PositionOrder => (
                "positions are not visited in order".to_owned(),
                "put the loop over blocks of positions outside".to_owned(),
            ),
            UnfitClause::PositionLevels(tensor) => (
                format!(
                    "the levels of `{}` are not those of the loop, in its order",
                    self.tensor(*tensor)
                ),
                "fuse loops in the order of the levels, or store the tensor in another".to_owned(),
            ),
            UnfitClause::PositionRepeats(tensor) => (
                format!(
                    "several positions of `{}` may have one coordinate",
                    self.tensor(*tensor)
                ),
                "fuse the loops over the levels below it too, or store the tensor in another"
                    .to_owned(),
            ),
            UnfitClause::PositionBelow(tensor, var) => {
                let (name, var) = (self.tensor(*tensor), self.var(*var));
                (
                    format!("positions of `{name}` are below `{var}`, which no loop outside binds"),
                    format!("put the loop over `{var}` outside, or fuse it too"),
                )
            }
            UnfitClause::PositionMisses(tensor) => (
                format!(
                    "the statement does something where `{}` stores nothing",
                    self.tensor(*tensor)
                ),
                "take the positions of an operand without which nothing is done".to_owned(),
            ),
            UnfitClause::RaceOfList(var, workspace) => (
                format!(
                    "iterations over `{}` list entries of `{}` one after the other",
                    self.var(*var),
                    self.tensor(*workspace)
                ),
                "parallelize a loop around the workspace".to_owned(),
            ),
            UnfitClause::RaceInStep(var) => {
                let name = self.var(*var);
                (
                    format!("the loop over `{name}` moves along its operands in step"),
                    format!(
                        "split it, and parallelize the blocks: \
                         `split({name}, {name}0, {name}1, 256)`"
                    ),
                )
            }
            UnfitClause::RaceOfResult {
                var,
                result,
                inserts,
                outer,
            } => {
                let (name, result) = (self.var(*var), self.tensor(*result));
                (
                    format!(
                        "iterations over `{name}` append entries of `{result}` one after the other"
                    ),
                    match (inserts, outer) {
                        (false, _) => {
                            "choose `Temporary`, by which iterations append to pieces of their own"
                                .to_owned()
                        }
                        (true, Some(outer)) => format!(
                            "parallelize the loop over `{}`, or store `{result}` as `dense`",
                            self.var(*outer)
                        ),
                        (true, None) => {
                            format!("store `{result}` with a dense level outside, or as `dense`")
                        }
                    },
                )
            }
            UnfitClause::NoIntersection(var) => {
                let name = self.var(*var);
                (
                    format!("the loop over `{name}` is no intersection of stored coordinates"),
                    format!("leave it out, or write `mergeby({name}, TwoFinger)`"),
                )
            }
            UnfitClause::LeadsNowhere(var, tensor) => (
                format!(
                    "the loop over `{}` does not lead to entries of `{}`",
                    self.var(*var),
                    self.tensor(*tensor)
                ),
                "name a loop whose variable stands in an access of it, or leave it out".to_owned(),
            ),
            UnfitClause::CountsDense(tensor)
            | UnfitClause::CountsProbed(tensor)
            | UnfitClause::CountsBelowDense(tensor) => {
                let name = self.tensor(*tensor);
                let message = match why {
                    UnfitClause::CountsDense(_) => {
                        format!("`{name}` is dense: there are no entries to count and insert")
                    }
                    UnfitClause::CountsProbed(_) => format!(
                        "entries of `{name}` get their places in tables as they come, and are \
                         not counted first"
                    ),
                    _ => format!(
                        "`{name}` has a dense level between two that store coordinates, whose \
                         entries cannot be counted one after the other"
                    ),
                };
                (
                    message,
                    format!("write `assemble({name}, Append)`, or leave it out"),
                )
            }
        }
    }

    /// An error at the clause that made `var`, if a clause did.
    pub(super) fn derived(&self, error: Diagnostic, var: IndexVar) -> Diagnostic {
        match self.concrete.said(var) {
            Some(placed) => error.at(&placed.source, placed.span, ASKED),
            None => error,
        }
    }
}

impl NeedsOrder {
    fn words(self) -> &'static str {
        match self {
            Self::Search => "and this access would have to search them",
            Self::Temporary => "and this statement needs a temporary for each of them",
            Self::Result => "and the result is assembled in order",
            Self::Repeated => "they repeat, and this statement does not add them up",
            Self::Streamed | Self::Merged => "and another operand is merged with them",
            Self::Stretch => "and the schedule takes them in stretches",
            Self::Appended => "and the result is assembled in order",
        }
    }

    /// The preset that has them in order.
    fn format(self) -> &'static str {
        match self {
            Self::Merged | Self::Stretch | Self::Appended => "csf",
            _ => "scoo",
        }
    }
}
