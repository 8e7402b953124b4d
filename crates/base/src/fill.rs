//! The value of entries that are not stored, as the text of a format says it.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::lex::{Kind, Tokens, finite};
use crate::{Diagnostic, ElementType, Result, Scalar, code};

/// A fill that a format declares: equal where the bits are, so that `nan` equals itself.
///
/// ```
/// use sparsec_base::{ElementType, Fill, Scalar};
/// assert_eq!(Fill(f64::NAN).to_string(), "nan");
/// assert_eq!(Fill(1.0).as_type(ElementType::I32), Scalar::I32(1));
/// // No integer is 0.5: tensors of integers have the fill 0 then.
/// assert_eq!(Fill(0.5).as_type(ElementType::I32), Scalar::I32(0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fill(pub f64);

impl PartialEq for Fill {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Fill {}

impl Hash for Fill {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_nan() {
            true => f.write_str("nan"),
            false => self.0.fmt(f),
        }
    }
}

impl Fill {
    /// The fill of tensors of `element`s: 0 if the type has no such value.
    pub fn as_type(self, element: ElementType) -> Scalar {
        let fill = Scalar::F64(self.0).as_type(element);
        fill.unwrap_or_else(|| element.zero())
    }

    /// Reads what stands behind the word `fill`: a number, `inf` or `nan`, with a sign.
    ///
    /// # Errors
    /// `E0101` for anything else; `E0103` for a number that is no `f64`.
    pub fn read(tokens: &mut Tokens) -> Result<Self> {
        if tokens.at("=") {
            let sign = if tokens.at_nth(1, "-") { "-" } else { "" };
            let value = tokens.peek_at(1 + sign.len());
            let error = tokens.unexpected("a number, `inf` or `nan`");
            return Err(error.help(match value.kind {
                Kind::End => "write it like `fill 1`".to_owned(),
                _ => format!("leave out the `=`: `fill {sign}{}`", tokens.text(value)),
            }));
        }
        let is_negative = tokens.eat("-");
        let token = tokens.peek();
        let text = tokens.text(token).to_owned();
        let value = match (token.kind, text.as_str()) {
            (Kind::Name, "inf") => f64::INFINITY,
            (Kind::Name, "nan") => f64::NAN,
            (Kind::Integer | Kind::Float, _) => finite(&text).ok_or_else(|| {
                let message = format!("`{text}` does not fit in an f64");
                Diagnostic::new(code::BAD_NUMBER, message)
                    .at(tokens.source(), token.span, "too large")
                    .help("the largest is about 1.8e308; beyond it is `fill inf`")
            })?,
            _ => {
                let error = tokens.unexpected("a number, `inf` or `nan`");
                return Err(error.help("write it like `fill 1`"));
            }
        };
        tokens.take();
        Ok(Self(if is_negative { -value } else { value }))
    }
}
