//! Every diagnostic code, with a title and the long form that
//! `sparsec explain` prints.
//!
//! | codes   | about                                         | list        |
//! |---------|-----------------------------------------------|-------------|
//! | `E00..` | the call: options, names of files and tensors | `call`      |
//! | `E01..` | the text of a language: tokens, formats       | `syntax`    |
//! | `E02..` | index notation: names, extents, types         | `notation`  |
//! | `E03..` | planning and lowering                         | `lowering`  |
//! | `E04..` | tensors and the files that hold them          | `data`      |
//! | `E05..` | compiling, caching, launching                 | `kernel`    |
//! | `E06..` | loop IR given as text                         | `loops`     |
//! | `E07..` | relations, their declarations and operations  | `relations` |
//! | `E08..` | computations and their transformations        | `computations` |
//! | `E09..` | contraction networks, their trees and plans | `networks`  |
//! | `E10..` | MLIR text and the encodings in it             | `mlir`      |
//! | `E11..` | shards, and the clusters that compute them    | `shards`    |
//!
//! A code never changes its meaning and is never used again.

use std::fmt;

mod call;
mod computations;
mod data;
mod kernel;
mod loops;
mod lowering;
mod mlir;
mod networks;
mod notation;
mod relations;
mod shards;
mod syntax;

pub use call::*;
pub use computations::*;
pub use data::*;
pub use kernel::*;
pub use loops::*;
pub use lowering::*;
pub use mlir::*;
pub use networks::*;
pub use notation::*;
pub use relations::*;
pub use shards::*;
pub use syntax::*;

/// The code of a diagnostic, such as `E0203`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(&'static str);

/// A code with what there is to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The code.
    pub code: Code,
    /// The fault in a few words.
    pub title: &'static str,
    /// What it means, an example, and the way out; Markdown.
    pub text: &'static str,
}

impl Code {
    /// The code as text.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What there is to know about this code.
    pub fn explanation(self) -> &'static Explanation {
        explain(self.0).expect("every code is in a list")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The lists of all codes, by hundred.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    [
        call::LIST,
        syntax::LIST,
        notation::LIST,
        lowering::LIST,
        data::LIST,
        kernel::LIST,
        loops::LIST,
        relations::LIST,
        computations::LIST,
        networks::LIST,
        mlir::LIST,
        shards::LIST,
    ]
    .into_iter()
    .flatten()
}

/// Finds a code by its text, such as `E0203` or `e0203`.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    all().find(|entry| entry.code.0.eq_ignore_ascii_case(code))
}

/// Declares the codes of one hundred: a constant each, and their list.
macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:expr;)*) => {
        $(
            #[doc = concat!("`", $code, "`: ", $title, ".")]
            pub const $name: $crate::code::Code = $crate::code::Code($code);
        )*
        pub(super) const LIST: &[$crate::code::Explanation] = &[
            $($crate::code::Explanation { code: $name, title: $title, text: $text },)*
        ];
    };
}
use codes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_explained() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in all() {
            assert!(seen.insert(entry.code), "{} is declared twice", entry.code);
            assert!(
                !entry.title.is_empty() && entry.text.len() > 80,
                "{} wants an explanation",
                entry.code
            );
        }
    }

    #[test]
    fn explain_ignores_case() {
        assert_eq!(
            explain("e0101").map(|entry| entry.code),
            Some(UNEXPECTED_TOKEN)
        );
        assert!(explain("E9999").is_none());
    }
}
