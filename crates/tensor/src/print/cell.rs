//! Values as text that lines up.
//!
//! ```text
//!     1.0         before the point: to the right
//!   -12.25        behind it: to the left
//!     1e-7        an exponent stands where the point would
//!      inf        without a point: to the right of the whole
//! ```
//!
//! A complex value is two of these, one behind the other: `1.0 +2.5j` above `10.25-0.5j`.

use sparsec_base::Scalar;

/// The text of a value, part by part: one part, or the two of a complex number.
pub(super) type Cell = Vec<Part>;

/// A real number as text.
pub(super) struct Part {
    /// The text before the point.
    whole: String,
    /// The point or the exponent, and the text behind it; `None` for `inf`, `nan`, `true`
    /// and `false`.
    rest: Option<String>,
}

/// The width of each part of a column of cells.
#[derive(Default)]
pub(super) struct Column {
    widths: Vec<Width>,
}

#[derive(Clone, Copy, Default)]
struct Width {
    whole: usize,
    rest: usize,
}

/// The parts of a value.
pub(super) fn cell(value: Scalar) -> Cell {
    let (re, im) = match value {
        Scalar::C64(v) => (Scalar::F32(v.re), Scalar::F32(v.im)),
        Scalar::C128(v) => (Scalar::F64(v.re), Scalar::F64(v.im)),
        real => return vec![part(&real.to_string(), "")],
    };
    let im = im.to_string();
    let sign = if im.starts_with('-') { "" } else { "+" };
    vec![part(&re.to_string(), ""), part(&format!("{sign}{im}"), "j")]
}

fn part(text: &str, unit: &str) -> Part {
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return Part {
            whole: format!("{text}{unit}"),
            rest: None,
        };
    }
    let point = text.find(['.', 'e']).unwrap_or(text.len());
    Part {
        whole: text[..point].to_owned(),
        rest: Some(format!("{}{unit}", &text[point..])),
    }
}

impl Column {
    /// As wide as the widest of these cells.
    pub(super) fn of<'c>(cells: impl Iterator<Item = &'c Cell> + Clone) -> Self {
        let mut column = Self::default();
        let parts = || {
            let cells = cells.clone();
            cells.flat_map(|cell| cell.iter().enumerate())
        };
        for (number, part) in parts() {
            column
                .widths
                .resize(column.widths.len().max(number + 1), Width::default());
            if let Some(rest) = &part.rest {
                let width = &mut column.widths[number];
                width.whole = width.whole.max(part.whole.len());
                width.rest = width.rest.max(rest.len());
            }
        }
        for (number, part) in parts().filter(|(_, part)| part.rest.is_none()) {
            let width = &mut column.widths[number];
            let missing = part.whole.len().saturating_sub(width.whole + width.rest);
            width.whole += missing;
        }
        column
    }

    /// How many characters a cell takes.
    pub(super) fn width(&self) -> usize {
        self.widths.iter().map(|it| it.whole + it.rest).sum()
    }

    /// Appends a cell, with blanks on both sides.
    pub(super) fn write(&self, cell: &Cell, out: &mut String) {
        for (part, width) in cell.iter().zip(&self.widths) {
            out.push_str(&match &part.rest {
                Some(rest) => {
                    let (left, right) = (width.whole, width.rest);
                    format!("{:>left$}{rest:<right$}", part.whole)
                }
                None => format!("{:>1$}", part.whole, width.whole + width.rest),
            });
        }
    }
}
