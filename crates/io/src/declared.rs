//! The comment by which a text file declares what its lines leave open.
//!
//! ```text
//! # sparsec: c128[3, 4]      in a .tns file: the type of the values, and the extents
//! 1 1 2 -0.5                 without it, 2 could be a third coordinate
//!
//! % sparsec: bool            in a .mtx file: the type alone, its header has the extents
//! ```
//!
//! The lines of a `.tns` file state neither, and a `.mtx` header knows four types of
//! values. The writers add the comment where the lines alone would read back as another
//! type or as no tensor; programs that skip comments read the rest as ever.

use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, Result, check_order, code};
use sparsec_tensor::Tensor;

use crate::input::Input;

/// The first word of the comment.
const MARK: &str = "sparsec:";

/// A declaration that a file makes in its comments.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The type of the values.
    pub(crate) element: ElementType,
    /// The extents, where the comment has them.
    pub(crate) extents: Option<Vec<u64>>,
    /// The bytes of the declaration.
    pub(crate) place: Range<usize>,
}

impl Declared {
    /// The first declaration in the comments that begin at `at`.
    ///
    /// # Errors
    /// `E0422` for one that cannot be read.
    pub(crate) fn find(text: &Input, mut at: usize, comment: u8) -> Result<Option<Self>> {
        while text.bytes().get(at) == Some(&comment) {
            let (line, next) = text.line(at);
            let words = text.bytes()[line.start + 1..line.end].trim_ascii_start();
            if let Some(declaration) = words.strip_prefix(MARK.as_bytes()) {
                let place = line.end - declaration.trim_ascii_start().len()..line.end;
                return Self::parse(text, place).map(Some);
            }
            at = next;
        }
        Ok(None)
    }

    fn parse(text: &Input, place: Range<usize>) -> Result<Self> {
        let words = std::str::from_utf8(&text.bytes()[place.clone()]);
        let Some((element, extents)) = words.ok().and_then(element_and_extents) else {
            return Err(text
                .fault(
                    code::BAD_HEADER,
                    format!("a comment `{MARK}` without a type"),
                    place,
                    "expected a type and extents, as in `f64[3, 4]`",
                )
                .help("correct the comment, or remove it"));
        };
        check_order(extents.as_ref().map_or(0, Vec::len))
            .map_err(|error| text.at(error, place.clone(), "the extents"))?;
        Ok(Self {
            element,
            extents,
            place,
        })
    }

    /// Refuses a declaration of other extents than those of the file's header.
    ///
    /// # Errors
    /// `E0422`.
    pub(crate) fn check_extents(&self, text: &Input, stated: &[u64]) -> Result<()> {
        match &self.extents {
            Some(extents) if extents != stated => Err(self.contradicts(
                text,
                format!("a comment declares extents {extents:?}, the header {stated:?}"),
            )),
            _ => Ok(()),
        }
    }

    /// The fault of a declaration that the rest of the file contradicts.
    pub(crate) fn contradicts(&self, text: &Input, message: String) -> Diagnostic {
        text.fault(
            code::BAD_HEADER,
            message,
            self.place.clone(),
            "declared here",
        )
        .help("correct the comment, or remove it")
    }
}

/// Takes `f64[3, 4]` or `f64` apart.
fn element_and_extents(text: &str) -> Option<(ElementType, Option<Vec<u64>>)> {
    let text = text.trim_end();
    let Some((name, extents)) = text.split_once('[') else {
        return Some((ElementType::parse(text)?, None));
    };
    let extents = extents.strip_suffix(']')?.trim();
    let extent = |text: &str| {
        let extent = text.trim().parse::<u64>().ok();
        extent.filter(|&extent| extent <= i64::MAX as u64)
    };
    let extents = match extents {
        "" => Vec::new(),
        _ => extents.split(',').map(extent).collect::<Option<_>>()?,
    };
    Some((ElementType::parse(name.trim_end())?, Some(extents)))
}

/// The comment that declares the type of a tensor.
pub(crate) fn of_element(tensor: &Tensor, comment: char) -> String {
    format!("{comment} {MARK} {}\n", tensor.element())
}

/// The comment that declares the type and the extents of a tensor.
pub(crate) fn of_tensor(tensor: &Tensor, comment: char) -> String {
    let extents = tensor.extents();
    format!("{comment} {MARK} {}{extents:?}\n", tensor.element())
}
