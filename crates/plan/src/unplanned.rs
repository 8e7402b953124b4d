//! Why a statement has no plan.
//!
//! A search asks of most of its candidates whether they can be lowered, and looks at the kind of
//! the answer at most. So a refusal stays data, and gets its words if the user is to read it.

use sparsec_base::{Code, Diagnostic, code};
use sparsec_graph::NotLowerable;
use sparsec_index::Concrete;

pub(crate) type Result<T> = std::result::Result<T, Unplanned>;

/// Why a statement has no plan.
#[derive(Debug)]
pub(crate) enum Unplanned {
    /// Loops and formats of a statement do not fit together, as commands have left it.
    NotLowerable(Box<(NotLowerable, Concrete)>),
    /// Commands do not fit the statement, or a network has no plan as the user asks for it.
    Refused(Box<Diagnostic>),
}

impl Unplanned {
    pub(crate) fn not_lowerable(refusal: NotLowerable, concrete: Concrete) -> Self {
        Self::NotLowerable(Box::new((refusal, concrete)))
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Self::NotLowerable(refused) => refused.0.code(),
            Self::Refused(error) => error.code(),
        }
    }

    /// Whether a shorter kernel may be a way out.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Self::NotLowerable(refused) if refused.0.is_too_large())
    }

    /// Whether a command cannot be applied to the statement that those before it lead to.
    pub(crate) fn is_illegal_command(&self) -> bool {
        matches!(self, Self::Refused(error) if error.code() == code::ILLEGAL_COMMAND)
    }

    /// The refusal in words.
    pub(crate) fn diagnostic(self) -> Diagnostic {
        match self {
            Self::NotLowerable(refused) => refused.0.diagnostic(&refused.1),
            Self::Refused(error) => *error,
        }
    }
}

impl From<Diagnostic> for Unplanned {
    fn from(error: Diagnostic) -> Self {
        Self::Refused(Box::new(error))
    }
}
