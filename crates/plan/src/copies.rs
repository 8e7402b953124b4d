//! Formats that loops can follow, to convert operands to.
//!
//! Levels come in the order of the loops. Where an index descends in the innermost
//! of its loops, coordinates are stored counted from the end, so that the entries
//! come in the order in which the loop meets them:
//!
//! ```text
//! forall i: forall j: y(i) += A(99 - i,j) * x(j)       A : dcsr, 100 rows
//!
//!   convert(A(-i + 99,j), (i, j) -> (0 - i : compressed, j : compressed))
//!   levels(A_converted, …)
//!
//! forall i: forall j: y(i) += A_converted_levels(i,j) * x(j)
//! ```
//!
//! A level counts its coordinates from the least that there are, here -99: at row
//! `99 - i` that is coordinate `i`. What is assigned at descending places is read so
//! too, for a statement that says `Z(99 - i) = y(i)` is `Z(i) = y(99 - i)`.

use sparsec_base::Result;
use sparsec_format::{Coordinate, Format, Level, LevelKind, Widths};
use sparsec_index::{Access, IndexExpr, IndexVar};

/// The format with its levels in the order of the loops, and its entries in the order
/// in which these go and once. Full levels inside others become compressed: there they
/// would store entries that the operand does not.
pub(crate) fn arranged(
    format: &Format,
    access: &Access,
    extents: &[Option<u64>],
    order: &[IndexVar],
) -> Result<Format> {
    // What is reduced below the loops comes after them.
    let innermost = |mode: &usize| {
        let places = places(&access.indices[*mode], order);
        places.map(|place| place.unwrap_or(order.len())).max()
    };
    let mut modes: Vec<usize> = (0..format.order()).collect();
    modes.sort_by_key(innermost);
    let n_levels = format.levels().len();
    // Entries beside each other are followed where coordinates are those of loops.
    let is_list = access.plain_vars().is_some();
    let mut is_outermost = true;
    let mut levels = Vec::new();
    for (number, (level, mode)) in format.levels().iter().zip(modes).enumerate() {
        is_outermost &= level.is_full() && number + 1 < n_levels;
        let kind = match level.kind {
            kind if kind.is_computed() && is_outermost => kind,
            // Parents keep their positions, one for each entry.
            LevelKind::Singleton if is_list => LevelKind::Singleton,
            _ => LevelKind::Compressed,
        };
        let is_turned = !kind.is_computed()
            && extents[mode].is_some()
            && descends(&access.indices[mode], order);
        levels.push(Level {
            coordinate: match is_turned {
                true => {
                    Coordinate::Difference(Box::new(Coordinate::Integer(0)), Box::new(mode.into()))
                }
                false => mode.into(),
            },
            kind,
            ordered: true,
            widths: Widths::default(),
            unique: level.unique || !is_list || number + 1 == n_levels,
        });
    }
    Ok(Format::from_levels(levels)?.with_widths(format.widths()))
}

/// Where the loops over the variables of an index are.
fn places(index: &IndexExpr, order: &[IndexVar]) -> impl Iterator<Item = Option<usize>> {
    let vars = index.vars().into_iter();
    vars.map(|var| order.iter().position(|known| *known == var))
}

/// Whether an index becomes less from one turn of the innermost of its loops to the next.
fn descends(index: &IndexExpr, order: &[IndexVar]) -> bool {
    let Some(innermost) = places(index, order).max().flatten() else {
        return false;
    };
    let linear = index.linear_in(order[innermost]);
    places(index, order).all(|place| place.is_some())
        && linear.is_some_and(|(factor, _)| factor < 0)
}
