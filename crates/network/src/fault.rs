//! Everything that can be wrong with a network or a tree, as data.
//!
//! A fault names operands by their place in the product, so a caller that knows where the
//! operands stand in its own text can point there. [`Fault::diagnostic`] is the message
//! without a place.

use sparsec_base::{Diagnostic, code};

/// What is wrong. See each variant for the code of its diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `E0903`: none, or more than sets of the crate hold.
    TooLarge {
        /// "operands" or "index variables".
        what: &'static str,
        /// How many there are.
        n: usize,
    },
    /// `E0904`: a tensor is declared twice.
    DeclaredTwice {
        /// Its name.
        tensor: String,
    },
    /// `E0904`: a fact that a tensor cannot have.
    BadFact {
        /// The tensor.
        tensor: String,
        /// The reason why the tensor cannot have the fact.
        fact: &'static str,
    },
    /// `E0201`: an operand that is no declared tensor.
    UnknownTensor {
        /// The place of the operand.
        operand: usize,
        /// Its name.
        name: String,
    },
    /// `E0202`: an operand with too many or too few index variables.
    WrongOrder {
        /// The place of the operand.
        operand: usize,
        /// The order of its tensor.
        order: usize,
        /// How many index variables are given.
        given: usize,
    },
    /// `E0203`: an index variable with two extents.
    TwoExtents {
        /// The index variable.
        index: String,
        /// Operand, mode and extent where it first occurs.
        first: (usize, usize, u64),
        /// Operand, mode and extent that differ.
        second: (usize, usize, u64),
    },
    /// `E0905`: an index variable twice in one reference.
    Repeated {
        /// The place of the operand, or `None` for the result.
        operand: Option<usize>,
        /// The index variable.
        index: String,
    },
    /// `E0901`: an index variable of the result that no operand has.
    ResultIndex {
        /// The index variable.
        index: String,
    },
    /// `E0902`: a tree that is none of this network.
    Tree {
        /// What is wrong with it.
        message: String,
    },
}

impl Fault {
    /// The fault as a diagnostic without a place.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::TooLarge { what, n: 0 } => {
                Diagnostic::new(code::NETWORK_SIZE, format!("a network without {what}"))
            }
            Self::TooLarge { what, n } => Diagnostic::new(
                code::NETWORK_SIZE,
                format!("a network of {n} {what}; at most 128 are supported"),
            )
            .help("contract a part of it first, in a statement of its own"),
            Self::DeclaredTwice { tensor } => Diagnostic::new(
                code::NETWORK_FACT,
                format!("tensor `{tensor}` is declared twice"),
            ),
            Self::BadFact { tensor, fact } => {
                Diagnostic::new(code::NETWORK_FACT, format!("tensor `{tensor}`: {fact}"))
            }
            Self::UnknownTensor { name, .. } => {
                Diagnostic::new(code::UNKNOWN_TENSOR, format!("no tensor is named `{name}`"))
                    .help(format!("declare it: `tensor {name}[…]`"))
            }
            Self::WrongOrder { order, given, .. } => Diagnostic::new(
                code::WRONG_ORDER,
                format!("a tensor of order {order} with {given} index variables"),
            ),
            Self::TwoExtents {
                index,
                first,
                second,
            } => Diagnostic::new(
                code::EXTENT_MISMATCH,
                format!(
                    "index variable `{index}` has two extents, {} and {}",
                    first.2, second.2
                ),
            ),
            Self::Repeated { index, .. } => Diagnostic::new(
                code::NETWORK_REPEATED,
                format!("index variable `{index}` occurs twice in one reference"),
            )
            .help("copy the diagonal to a tensor of lower order first"),
            Self::ResultIndex { index } => Diagnostic::new(
                code::NETWORK_RESULT,
                format!("no operand has the index variable `{index}` of the result"),
            )
            .help(format!(
                "remove `{index}` from the result, or add an operand that has it"
            )),
            Self::Tree { message } => Diagnostic::new(code::NETWORK_TREE, message.clone()),
        }
    }
}
