//! Why loops and formats do not fit together, as data.
//!
//! A search for a plan asks [`lowerable`](crate::lowerable()) of each candidate, and looks at
//! the kind of the refusal at most. Words are made of the one that the user gets
//! ([`NotLowerable::diagnostic`]).

mod words;

use sparsec_base::{Code, Diagnostic, code};
use sparsec_index::concrete::Placed;
use sparsec_index::{Access, Concrete, IndexVar, TensorVar};

use words::{ASKED, Words};

/// The first rule of [`lowerable`](mod@crate::lowerable) that a statement breaks.
#[derive(Clone, Debug)]
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
        /// Why order is needed.
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
    /// The extent of a variable is not known.
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

/// Why the entries of an operand are needed in order.
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
