//! Stored entries, one a line: coordinates and value.
//!
//! ```text
//!   (   0,    0)   4.0
//!   (   0,    1)  -1.0
//!   ...
//!   (1023, 1023)   4.0
//! ```

use sparsec_base::Scalar;

use super::PrintOptions;
use super::cell::{Cell, Column, cell};
use crate::tensor::Tensor;
use crate::walk::Cursor;

/// Some of the entries of a tensor, in storage order.
pub(crate) struct Ends {
    /// All of them, or those that come first.
    pub(crate) first: Vec<Entry>,
    /// Those that come last, if some between are left out.
    pub(crate) last: Option<Vec<Entry>>,
}

/// Coordinates in mode order, and the value there.
pub(crate) type Entry = (Vec<u64>, Scalar);

/// The entries of a tensor, or those at both ends of the list.
pub(super) fn text(tensor: &Tensor, options: PrintOptions) -> String {
    let ends = match tensor.format().is_regular() {
        true => ends(tensor, options),
        false => tensor.irregular_ends(options.most_entries, options.edge_entries),
    };
    let all = || ends.first.iter().chain(ends.last.iter().flatten());
    let cells: Vec<Cell> = all().map(|(_, value)| cell(*value)).collect();
    let column = Column::of(cells.iter());
    let digits = |mode: usize| {
        let largest = all().map(|(coords, _)| coords[mode]).max();
        largest.unwrap_or(0).to_string().len()
    };
    let digits: Vec<usize> = (0..tensor.order()).map(digits).collect();
    let line = |((coords, _), cell): (&Entry, &Cell)| {
        let coords = coords.iter().zip(&digits);
        let coords: Vec<String> = coords.map(|(coord, &n)| format!("{coord:n$}")).collect();
        let mut line = format!("  ({})  ", coords.join(", "));
        column.write(cell, &mut line);
        line.truncate(line.trim_end().len());
        line
    };
    let mut lines: Vec<String> = all().zip(&cells).map(line).collect();
    if ends.last.is_some() {
        lines.insert(ends.first.len(), "  ...".to_owned());
    }
    lines.join("\n")
}

/// The entries of a regular format, found by their positions.
fn ends(tensor: &Tensor, options: PrintOptions) -> Ends {
    let n = tensor.n_stored();
    // A cursor finds its first position by searching, and skips empty segments.
    let entry = |position: usize| {
        let mut cursor = Cursor::new(tensor, position..position + 1);
        let (coords, _) = cursor.next()?;
        Some((coords.to_vec(), tensor.vals().get(position)))
    };
    let list = |positions: std::ops::Range<usize>| positions.filter_map(entry).collect();
    let edges = options.edge_entries.saturating_mul(2);
    if n <= options.most_entries.max(edges) {
        return Ends {
            first: list(0..n),
            last: None,
        };
    }
    Ends {
        first: list(0..options.edge_entries),
        last: Some(list(n - options.edge_entries..n)),
    }
}
