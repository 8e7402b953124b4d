//! A tensor as a tree: its coordinates level by level, then its arrays.
//!
//! ```
//! # use sparsec_format::Format;
//! # use sparsec_tensor::Tensor;
//! let a = Tensor::pack(&Format::csr(), &[3, 5], &[2, 4, 0, 1, 2, 0], &[5.0, 2.0, 3.0])?;
//! assert_eq!(a.to_string(), "\
//! f64[3, 5], (i, j) -> (i : dense, j : compressed), 3 stored
//! ├ i = 0
//! │ └ j = 1: 2.0
//! ├ i = 1
//! └ i = 2
//!   ├ j = 0: 3.0
//!   └ j = 4: 5.0
//! 1.pos i32[4]  0 1 1 3
//! 1.crd i32[3]  1 0 4
//! vals  f64[3]  2.0 3.0 5.0
//! ");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! Of large tensors the beginning is shown: at most [`CHILDREN`] children of a
//! position, [`LINES`] lines of the tree, and [`NUMBERS`] entries of an array.

use std::fmt;

use crate::check::name_of;
use crate::tensor::Tensor;
use crate::walk::Walk;

/// Children shown of one position.
const CHILDREN: usize = 12;
/// Lines shown of the tree.
const LINES: usize = 60;
/// Entries shown of an array.
const NUMBERS: usize = 16;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.extents().iter().map(u64::to_string).collect();
        write!(
            f,
            "{}[{}], {}, {} stored",
            self.element(),
            extents.join(", "),
            self.format(),
            self.n_stored()
        )?;
        if !self.fill().is_zero() {
            write!(f, ", fill {}", self.fill())?;
        }
        writeln!(f)?;
        if self.order() > 0 {
            let mut tree = Tree {
                tensor: self,
                walk: Walk::new(self),
                lines: 0,
            };
            tree.children(f, 0, 0, &mut String::new())?;
        }
        self.write_arrays(f)
    }
}

impl Tensor {
    fn write_arrays(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let specs = self.format().arrays();
        let names: Vec<String> = specs.iter().map(|spec| name_of(spec.role)).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        for (name, array) in names.iter().zip(self.arrays()) {
            write!(f, "{name:width$} {}[{}] ", array.element(), array.len())?;
            for i in 0..array.len().min(NUMBERS) {
                write!(f, " {}", array.get(i))?;
            }
            writeln!(f, "{}", if array.len() > NUMBERS { " …" } else { "" })?;
        }
        Ok(())
    }
}

struct Tree<'a> {
    tensor: &'a Tensor,
    walk: Walk<'a>,
    lines: usize,
}

impl Tree<'_> {
    /// Writes the positions of level `number` below `parent`, each line after
    /// `indent`.
    fn children(
        &mut self,
        f: &mut fmt::Formatter<'_>,
        number: usize,
        parent: usize,
        indent: &mut String,
    ) -> fmt::Result {
        let level = &self.walk.levels()[number];
        let (positions, mode) = (level.positions(parent), level.mode);
        let last_level = number + 1 == self.walk.levels().len();
        for (shown, position) in positions.clone().enumerate() {
            if shown == CHILDREN || self.lines == LINES {
                let left = positions.len() - shown;
                return writeln!(f, "{indent}└ … {left} more");
            }
            self.lines += 1;
            let coord = self.walk.levels()[number].coord(parent, position);
            let last = position + 1 == positions.end;
            write!(
                f,
                "{indent}{} {} = {coord}",
                if last { '└' } else { '├' },
                self.tensor.format().modes()[mode]
            )?;
            if last_level {
                writeln!(f, ": {}", self.tensor.vals().get(position))?;
                continue;
            }
            writeln!(f)?;
            let length = indent.len();
            indent.push_str(if last { "  " } else { "│ " });
            self.children(f, number + 1, position, indent)?;
            indent.truncate(length);
        }
        Ok(())
    }
}
