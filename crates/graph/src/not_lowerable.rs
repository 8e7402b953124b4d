//! Why loops and formats do not fit together, as data.
//!
//! A search for a plan asks [`lowerable`](crate::lowerable()) of each candidate, and looks at
//! the kind of the refusal at most. Words are made of the one that the user gets
//! ([`NotLowerable::diagnostic`]).

use sparsec_base::{Code, Diagnostic, code};
use sparsec_index::concrete::Placed;
use sparsec_index::{Access, Concrete, IndexVar, TensorVar};

/// What diagnostics say at a command.
const ASKED: &str = "asked for here";

/// The first rule of [`lowerable`](mod@crate::lowerable) that a statement breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum NotLowerable {
    /// An access is used around the loop that a variable of it is computed in.
    ComputedInside {
        /// The access.
        access: Access,
        /// The variable.
        var: IndexVar,
    },
    /// The loops visit a level before one that is outside of it.
    LoopOrder {
        /// The operand.
        access: Access,
        /// The variable of the level outside.
        before: IndexVar,
        /// The variable of the level inside.
        after: IndexVar,
    },
    /// An operand without order is needed in order.
    Unordered {
        /// The operand.
        access: Access,
        /// What needs it.
        why: NeedsOrder,
    },
    /// A loop of a schedule searches an operand without order.
    Searched {
        /// The operand.
        operand: TensorVar,
        /// The variable of the loop.
        var: IndexVar,
    },
    /// Values are added up into entries of a result that does not take them.
    Reduced {
        /// Where the result is assigned.
        result: Access,
        /// Whether all of its levels are dense.
        is_dense: bool,
    },
    /// The loops come to entries of the result in another order than it is stored in.
    ResultOrder {
        /// Where the result is assigned.
        result: Access,
        /// The loops.
        loops: Vec<IndexVar>,
    },
    /// A workspace does not suit the loops around it.
    Workspace {
        /// The workspace.
        workspace: TensorVar,
        /// Why.
        why: UnfitWorkspace,
    },
    /// Nothing says how far a loop runs.
    UnknownExtent(IndexVar),
    /// The kernel of a loop would have too many cases.
    TooManyCases(IndexVar),
    /// The kernel has more cases than the caller takes.
    LongerThanAsked {
        /// How many it has.
        n_cases: usize,
    },
    /// A clause of a schedule asks for something that formats do not allow.
    Clause {
        /// The clause, with its place.
        clause: Box<Placed>,
        /// Why.
        why: UnfitClause,
    },
}

/// What needs the entries of an operand in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsOrder {
    /// The access has to search them.
    Search,
    /// A temporary is needed for each of them.
    Temporary,
    /// The result is assembled in order.
    Result,
    /// They repeat, and are not added up.
    Repeated,
    /// Another operand is merged with them.
    Streamed,
    /// As `Streamed`, of a level without order.
    Merged,
    /// A schedule takes them in stretches.
    Stretch,
    /// As `Result`, of a level without order.
    Appended,
}

/// Why a workspace does not suit the loops around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitWorkspace {
    /// It is dense, and stored levels are assembled from it.
    DenseFeeds,
    /// Its entries get values where no operand is stored, in no order.
    ValuesEverywhere,
    /// It matters which entries it has, and it is dense.
    DenseAsked,
    /// It is appended, and not written in order.
    NotAppended,
    /// It is read at a variable of a loop around its writer.
    ReadAt(IndexVar),
    /// It does not know which entries of a result to store, for a derived variable.
    Derived(IndexVar, TensorVar),
    /// It needs as many entries as there are positions of a variable.
    Positions(IndexVar),
}

/// Why a clause of a schedule does not fit formats.
#[derive(Clone, Debug, PartialEq)]
pub enum UnfitClause {
    /// Positions are not visited in order.
    PositionOrder,
    /// The levels of the tensor are not those of the loop.
    PositionLevels(TensorVar),
    /// Several positions may have one coordinate.
    PositionRepeats(TensorVar),
    /// No loop outside binds a variable above the positions.
    PositionBelow(TensorVar, IndexVar),
    /// The statement does something where the tensor stores nothing.
    PositionMisses(TensorVar),
    /// Iterations list entries of a workspace one after the other.
    RaceOfList(IndexVar, TensorVar),
    /// A loop moves along its operands in step.
    RaceInStep(IndexVar),
    /// Iterations append entries of a result one after the other.
    RaceOfResult {
        /// The loop.
        var: IndexVar,
        /// The result.
        result: TensorVar,
        /// Whether entries are counted and inserted.
        inserts: bool,
        /// The outermost loop whose iterations have segments of their own.
        outer: Option<IndexVar>,
    },
    /// The loop is no intersection.
    NoIntersection(IndexVar),
    /// The loop does not lead to entries of the tensor.
    LeadsNowhere(IndexVar, TensorVar),
    /// A dense result has no entries to count.
    CountsDense(TensorVar),
    /// Entries get their places in tables as they come.
    CountsProbed(TensorVar),
    /// A dense level is between two that store coordinates.
    CountsBelowDense(TensorVar),
}

impl NotLowerable {
    /// The code of its diagnostic.
    pub fn code(&self) -> Code {
        use UnfitClause as C;
        match self {
            Self::ComputedInside { .. } => code::SCHEDULE_SKEW,
            Self::LoopOrder { .. } => code::LOOP_ORDER,
            Self::Unordered { .. } | Self::Searched { .. } => code::UNORDERED,
            Self::Reduced { .. } => code::SPARSE_REDUCTION,
            Self::ResultOrder { .. } => code::RESULT_ORDER,
            Self::Workspace { .. } => code::WORKSPACE_MODES,
            Self::UnknownExtent(_) => code::MISSING_EXTENT,
            Self::TooManyCases(_) | Self::LongerThanAsked { .. } => code::MERGE_TOO_LARGE,
            Self::Clause { why, .. } => match why {
                C::PositionOrder => code::SCHEDULE_ORDER,
                C::PositionLevels(_)
                | C::PositionRepeats(_)
                | C::PositionBelow(..)
                | C::PositionMisses(_) => code::SCHEDULE_POSITIONS,
                C::RaceOfList(..) | C::RaceInStep(_) | C::RaceOfResult { .. } => {
                    code::SCHEDULE_RACE
                }
                C::NoIntersection(_) => code::SCHEDULE_GALLOP,
                C::LeadsNowhere(..) => code::SCHEDULE_PREFETCH,
                C::CountsDense(_) | C::CountsProbed(_) | C::CountsBelowDense(_) => {
                    code::SCHEDULE_ASSEMBLY
                }
            },
        }
    }

    /// Whether a kernel of fewer cases may be a way out.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooManyCases(_) | Self::LongerThanAsked { .. })
    }

    /// The refusal in words, with the place in the source of the statement that it is about.
    pub fn diagnostic(&self, concrete: &Concrete) -> Diagnostic {
        let words = Words { concrete };
        let (message, help) = words.of(self);
        let error = Diagnostic::new(self.code(), message);
        let source = &concrete.source;
        let result = concrete.tensors[concrete.result].span;
        let error = match self {
            Self::ComputedInside { access, .. }
            | Self::LoopOrder { access, .. }
            | Self::Unordered { access, .. }
            | Self::Reduced { result: access, .. }
            | Self::ResultOrder { result: access, .. } => error.at(source, access.span, "here"),
            Self::Searched { var, .. } => words.derived(error, *var),
            Self::Workspace { why, .. } => words.of_workspace(error, *why),
            Self::UnknownExtent(_) => error.at(source, result, "needed to compute this"),
            Self::TooManyCases(_) => {
                error.at(source, result, "in the statement that computes this")
            }
            Self::LongerThanAsked { .. } => error,
            Self::Clause { clause, .. } => error.at(&clause.source, clause.span, ASKED),
        };
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

/// Refusals in words, with the names of a statement.
struct Words<'a> {
    concrete: &'a Concrete,
}

impl Words<'_> {
    fn tensor(&self, tensor: TensorVar) -> &str {
        &self.concrete.tensors[tensor].name
    }

    fn var(&self, var: IndexVar) -> &str {
        &self.concrete.vars[var].name
    }

    /// The message, and the way out.
    fn of(&self, refusal: &NotLowerable) -> (String, Option<String>) {
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
                    format!("say it (`-d {name}=…`), or give the operands"),
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
    fn of_workspace(&self, error: Diagnostic, why: UnfitWorkspace) -> Diagnostic {
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
    fn derived(&self, error: Diagnostic, var: IndexVar) -> Diagnostic {
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
