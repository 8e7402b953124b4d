//! A dense tensor as nested brackets.
//!
//! ```text
//! [[0.0  1.0  2.0  ... 97.0 98.0 99.0]      the edges of each mode
//!  ...
//!  [0.5  1.5  2.5  ... 97.5 98.5 99.5]]
//! ```

use super::PrintOptions;
use super::cell::{Cell, Column, cell};
use crate::tensor::Tensor;

/// The mark in place of coordinates that are left out.
const LEFT_OUT: &str = "...";

/// The array of a dense tensor as text. `None` for other formats, and for a tensor of so
/// many modes that one coordinate at each end of each mode already exceeds
/// [`PrintOptions::most_values`].
pub(super) fn text(tensor: &Tensor, options: PrintOptions) -> Option<String> {
    if !tensor.format().is_all_dense() {
        return None;
    }
    if tensor.extents().contains(&0) {
        return Some("[]".to_owned());
    }
    let shown = shown(tensor.extents(), options)?;
    let mut cells = Vec::new();
    collect(tensor, &shown, &mut Vec::new(), &mut cells);
    let mut grid = Grid {
        column: Column::of(cells.iter()),
        cells: cells.iter(),
        shown: &shown,
        width: options.width,
        out: String::new(),
    };
    grid.write(0);
    Some(grid.out)
}

/// The coordinates of each mode that are shown, `None` for a gap.
fn shown(extents: &[u64], options: PrintOptions) -> Option<Vec<Vec<Option<u64>>>> {
    let n_shown = |edge: u64| {
        let shown = extents
            .iter()
            .map(|&extent| extent.min(edge.saturating_mul(2)));
        shown.fold(1, u64::saturating_mul)
    };
    let most = options.most_values as u64;
    // An edge of more than `most` coordinates shows too many values, or all of them.
    let widest = (options.edge_values as u64).min(most);
    let edges = (1..=widest).rev();
    let mut edges = [u64::MAX].into_iter().chain(edges);
    let edge = edges.find(|&edge| n_shown(edge) <= most)?;
    let of_mode = |&extent: &u64| -> Vec<Option<u64>> {
        if extent <= edge.saturating_mul(2) {
            return (0..extent).map(Some).collect();
        }
        let ends = (0..edge).map(Some).chain([None]);
        ends.chain((extent - edge..extent).map(Some)).collect()
    };
    Some(extents.iter().map(of_mode).collect())
}

/// The values at the coordinates that are shown, last mode fastest.
fn collect(tensor: &Tensor, shown: &[Vec<Option<u64>>], at: &mut Vec<u64>, to: &mut Vec<Cell>) {
    let Some(coords) = shown.get(at.len()) else {
        let modes = tensor.format().level_order();
        let position = modes.iter().fold(0, |position, &mode| {
            position * tensor.extents()[mode] as usize + at[mode] as usize
        });
        return to.push(cell(tensor.vals().get(position)));
    };
    for coord in coords.iter().flatten() {
        at.push(*coord);
        collect(tensor, shown, at, to);
        at.pop();
    }
}

struct Grid<'a> {
    /// The values that are still to come.
    cells: std::slice::Iter<'a, Cell>,
    column: Column,
    shown: &'a [Vec<Option<u64>>],
    width: usize,
    out: String,
}

impl Grid<'_> {
    /// Writes the array below one coordinate of the mode above, behind `mode` characters
    /// on its line.
    fn write(&mut self, mode: usize) {
        self.out.push('[');
        match mode + 1 == self.shown.len() {
            true => self.row(mode + 1),
            false => {
                let lines = self.shown.len() - mode - 1;
                for (number, coord) in self.shown[mode].iter().enumerate() {
                    if number > 0 {
                        self.out.push_str(&"\n".repeat(lines));
                        self.out.push_str(&" ".repeat(mode + 1));
                    }
                    match coord {
                        Some(_) => self.write(mode + 1),
                        None => self.out.push_str(LEFT_OUT),
                    }
                }
            }
        }
        self.out.push(']');
    }

    /// Writes the values along the last mode, on lines that begin with `indent` blanks.
    fn row(&mut self, indent: usize) {
        let mut used = indent;
        // Below the last value there is room for the brackets that close.
        let most = self.width.saturating_sub(indent);
        for (number, coord) in self.shown[indent - 1].iter().enumerate() {
            let width = match coord {
                Some(_) => self.column.width(),
                None => LEFT_OUT.len(),
            };
            if number > 0 && used + 1 + width > most {
                self.out.truncate(self.out.trim_end().len());
                self.out.push('\n');
                self.out.push_str(&" ".repeat(indent));
                used = indent;
            } else if number > 0 {
                self.out.push(' ');
                used += 1;
            }
            used += width;
            match coord.and_then(|_| self.cells.next()) {
                Some(cell) => self.column.write(cell, &mut self.out),
                None => self.out.push_str(LEFT_OUT),
            }
        }
    }
}
