//! A tensor as a tree, `{:#}`: its coordinates level by level, then its arrays.
//!
//! ```
//! # use sparsec_format::Format;
//! # use sparsec_tensor::Tensor;
//! let a = Tensor::pack(&Format::csr(), &[3, 5], &[2, 4, 0, 1, 2, 0], &[5.0, 2.0, 3.0])?;
//! assert_eq!(format!("{a:#}"), "\
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
//! A large tensor is cut: at most [`CHILDREN`] children of a position, [`LINES`]
//! lines of the tree, and [`NUMBERS`] entries of an array are shown.

use std::fmt;

use super::headline;
use crate::check::name_of;
use crate::irregular::parts;
use crate::tensor::Tensor;
use crate::walk::Walk;

/// Children shown of one position.
const CHILDREN: usize = 12;
/// Lines shown of the tree.
const LINES: usize = 60;
/// Entries shown of an array.
const NUMBERS: usize = 16;

impl Tensor {
    /// Writes the headline with the whole format, the tree, and the arrays.
    pub(super) fn write_tree(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", headline(self, &self.format().to_string()))?;
        if self.order() > 0 {
            self.write_trees(f)?;
        }
        self.write_arrays(f)
    }

    /// The tree of each part.
    fn write_trees(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(parts) = parts(self.format(), self.extents()) else {
            unreachable!("a tensor's coordinates can be counted");
        };
        let mut n_values = 0;
        for part in parts {
            if part.format.levels().is_empty() {
                writeln!(f, "└ {}", self.vals().get(n_values))?;
                n_values += 1;
                continue;
            }
            let extents = part.extents(|level| self.level(level));
            let levels = part.format.levels().iter().enumerate();
            let names = levels.map(|(number, level)| Name {
                text: level.coordinate.text(self.format().modes()),
                least: part.map.least(number),
            });
            let mut tree = Tree {
                tensor: self,
                names: names.collect(),
                n_values,
                lines: 0,
                walk: Walk::of_part(self, &part.format, part.first_level, &extents),
            };
            tree.children(f, 0, 0, &mut String::new())?;
            n_values += self.n_positions(part.first_level + part.format.levels().len() - 1);
        }
        Ok(())
    }

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

/// The expression that a level stores, and the value at its coordinate 0.
struct Name {
    text: String,
    least: i64,
}

/// One part of a tensor.
struct Tree<'a> {
    tensor: &'a Tensor,
    names: Vec<Name>,
    /// How many values the parts before it have.
    n_values: usize,
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
        let mut children = Vec::new();
        let level = &self.walk.levels()[number];
        level.for_each_child(parent, &mut |coord, position| {
            children.push((coord, position))
        });
        let last_level = number + 1 == self.walk.levels().len();
        for (shown, &(coord, position)) in children.iter().enumerate() {
            if shown == CHILDREN || self.lines == LINES {
                let left = children.len() - shown;
                return writeln!(f, "{indent}└ … {left} more");
            }
            self.lines += 1;
            let last = shown + 1 == children.len();
            let name = &self.names[number];
            write!(
                f,
                "{indent}{} {} = {}",
                if last { '└' } else { '├' },
                name.text,
                coord as i64 + name.least
            )?;
            if last_level {
                writeln!(f, ": {}", self.tensor.vals().get(self.n_values + position))?;
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
