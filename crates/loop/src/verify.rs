//! What makes a function valid: the checklist that every pass keeps and every
//! back end relies on.
//!
//! Signature
//! * Names of variables and buffers are distinct, [read back](crate::text) and
//!   are no words of the language; the texts of arguments read back too.
//! * Arguments have distinct names. Each extent is an `i64` that never changes.
//!   Each extent and each buffer belongs to one argument; a buffer that belongs
//!   to none is a workspace.
//! * Buffers of an `in` argument have access `read`.
//! * A buffer is stored as its compute type, or `i64` as any narrower integer type, or
//!   `f64` as `f32`.
//!
//! Variables
//! * A variable is declared by one statement, and used only after that, within
//!   the block that holds the declaration. A loop's variable is an `i64`, and
//!   visible in the loop's body.
//! * Only a mutable variable is assigned; in a parallel loop, only one that is
//!   declared inside of it, or that iterations combine into by the
//!   loop's strategy and do not read; one that counts what they append may be read.
//!
//! Types
//! * Both operands of an operation have one type. `+ - *`, `-x` and `abs` take
//!   all but `bool`; `//` and `%` not complex numbers either; `/` takes floats and
//!   complex numbers; `and`, `or`, `not` and conditions are `bool`; `==` and `!=`
//!   take any, `min`, `max` and the other comparisons all that have an order;
//!   `conj`, `real` and `imag` take complex numbers. Library functions take
//!   floats; `sqrt`, `exp`, `log` and `pow` complex numbers too, `pow` integers.
//! * No operation takes `f16` or `bf16`; casts and `select` do.
//! * A complex number is cast to a complex type or to `bool`.
//! * Indices, lengths and bounds are `i64`; what is stored has the buffer's
//!   compute type. An operator that a store combines with is one of
//!   `+ - * / // % min max and or`, and fits that type.
//!
//! Buffers
//! * A `read` buffer is never stored to; it alone is fetched ahead. Only buffers stored as `i32`
//!   or `i64` are sorted; where another moves along, both are stored as `i64`.
//! * A workspace is allocated by one statement that is in no loop, and used
//!   only after that, within the block that holds it.
//! * Only a `grow` buffer is resized: in no loop, and exactly once on every
//!   path that returns without an error. Only it or a workspace is grown; in a
//!   parallel loop only a workspace or what iterations append to, in chunks only one
//!   that is a unit's own, and in a chunk's turn a result.
//! * A unit's own workspace is used in chunks, and nowhere else. Chunks are counted
//!   from 0, and do not stand in chunks. They assign no variable of outside. A chunk
//!   has one turn at most, and passes it on once at most, in none of its loops and branches.

mod buffers;
mod check;
mod parallel;
mod signature;

use sparsec_base::code::Code;
use sparsec_base::{Diagnostic, Result, Source, Span};

use crate::ir::Function;

pub(crate) use check::check;
pub(crate) use parallel::{combined_by, is_read_beside};

/// The first rule that a function breaks.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// The statement's number, outer before inner; `None` for the signature.
    pub(crate) statement: Option<usize>,
    /// The statement's first line, or what the signature is about.
    pub(crate) text: String,
}

impl Invalid {
    /// The diagnostic, with the place in `source`.
    pub(crate) fn diagnostic(self, source: &Source, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code, self.message).at(source, span, "not valid");
        match self.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

/// Checks that a function is valid: all that the [list](self) says.
///
/// Time grows with the size of the function.
///
/// # Errors
/// `E06..` for the first rule that is broken, with the text of the statement
/// that breaks it.
pub fn verify(function: &Function) -> Result<()> {
    check(function).map_err(|invalid| {
        let source = Source::new(format!("loop IR of `{}`", function.name), &*invalid.text);
        let span = Span::new(0, invalid.text.len());
        invalid.diagnostic(&source, span)
    })
}
