//! Several rows in one tile: nests over rows that share a factor.
//!
//! ```text
//! for i in 0..m {
//!   for k in 0..n { for j in 0..l { C[i * l + j] += A[i * n + k] * B[k * l + j] } }
//! }
//! ```
//!
//! A tile of one row loads `B` once for each product. Here the loop over `k` does not depend
//! on `i`, so a tile of `R` rows goes through it once and uses an entry of `B` that is in a
//! register `R` times:
//!
//! ```text
//! for j_strip in 0..l // W {                        a strip of `B` stays in the cache
//!   for i_block in 0..m // R {
//!     load the tile
//!     for k in 0..n {
//!       for j_lane in 0..W { tile[j_lane] += A[…] * B[…] }          row i_block * R
//!       for j_lane in 0..W { tile[W + j_lane] += A[…] * B[…] }      row i_block * R + 1
//!       …                                                           R loops
//!     }
//!     store the tile
//!   }
//! }
//! the columns that are left, then the rows that are left
//! ```
//!
//! Rows that are left beside tiles of eight have a tile as well, in each strip: by themselves they
//! would go through all of `B` once each.
//!
//! Each entry takes the same values in the same order. Rows are apart: row `i` begins at
//! `(… + i) * l` and is no longer than `l`, or at `((… + i) * n + …) * l`. Every row has an
//! entry: each loop of the nest is entered, or the rows were filled before.

use std::collections::HashSet;

use super::Tiler;
use super::make::count;
use super::nest::{self, Row};
use super::size::Size;
use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::walk::rewrite_exprs;

/// A loop over rows, each of which one nest adds to.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) row: Row,
    pub(super) var: Var,
    /// How many rows there are; an extent.
    pub(super) n: Var,
    /// The number of entries from one row to the next: a product of extents.
    stride: Expr,
    /// The value that fills each row before its nest, with the bound of the row.
    filled: Option<(Expr, Expr)>,
    nest: Stmt,
    /// When each loop of the nest is entered.
    entered: Expr,
}

/// The rows that a loop goes through, if all that it does is to add to them.
pub(super) fn rows_of(function: &Function, stmt: &Stmt) -> Option<Rows> {
    let Stmt::For {
        var,
        lo,
        hi: Expr::Var(n),
        mark,
        body,
    } = stmt
    else {
        return None;
    };
    if *mark != Mark::default() || *lo != Expr::int(0) || !nest::is_extent(function, *n) {
        return None;
    }
    let body: Vec<&Stmt> = body.iter().filter(|stmt| !is_comment(stmt)).collect();
    let (fill, nest) = match body[..] {
        [nest] => (None, nest),
        [fill, nest] => (Some(fill), nest),
        _ => return None,
    };
    let row = nest::row_of(function, nest)?;
    let [column] = row.vars[..] else {
        return None;
    };
    let strides = strides(&row.base, *var)?;
    if !strides.iter().all(|it| nest::is_extent(function, *it)) {
        return None;
    }
    let last = *strides.first()?;
    let stride = strides.into_iter().rev().map(Expr::Var);
    let stride = stride.reduce(Expr::mul)?;
    let entered = entered(function, nest, *var, column)?;
    let filled = match fill {
        None => None,
        Some(Stmt::Fill {
            buffer,
            lo,
            hi,
            value: value @ Expr::Const(_),
        }) if *buffer == row.buffer && *lo == row.base => {
            (nest::length(lo, hi)? == last).then_some(())?;
            Some((value.clone(), hi.clone()))
        }
        Some(_) => return None,
    };
    Some(Rows {
        row,
        var: *var,
        n: *n,
        stride,
        filled,
        nest: nest.clone(),
        entered,
    })
}

fn is_comment(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Comment(_))
}

/// The factors of `i` in a sum of products, the outermost first: `l` and `n` of
/// `((x + i) * n + y) * l`.
fn strides(base: &Expr, i: Var) -> Option<Vec<Var>> {
    match base {
        Expr::Var(var) if *var == i => Some(Vec::new()),
        Expr::Binary(BinaryOp::Add, a, b) => match (a.reads(i), b.reads(i)) {
            (true, false) => strides(a, i),
            (false, true) => strides(b, i),
            _ => None,
        },
        Expr::Binary(BinaryOp::Mul, row, n) => match **n {
            Expr::Var(n) if n != i => {
                let mut found = vec![n];
                found.extend(strides(row, i)?);
                Some(found)
            }
            _ => None,
        },
        _ => None,
    }
}

/// When each loop of a nest around the loop over `column` is entered, if they are the same for
/// every `i` and hold nothing but one another.
fn entered(function: &Function, nest: &Stmt, i: Var, column: Var) -> Option<Expr> {
    let mut inside = HashSet::from([i]);
    let mut conditions = Vec::new();
    let mut stmt = nest;
    loop {
        let Stmt::For {
            var, lo, hi, body, ..
        } = stmt
        else {
            return None;
        };
        let is_column = *var == column;
        if !is_column {
            for bound in [lo, hi] {
                let varies = bound.any(&mut |part| match part {
                    Expr::Load { .. } => true,
                    Expr::Var(var) => inside.contains(var),
                    _ => false,
                });
                if varies || function.can_fail(bound) {
                    return None;
                }
            }
            conditions.push(lo.clone().less(hi.clone()));
            inside.insert(*var);
        }
        let mut inner = None;
        for part in body {
            match part {
                Stmt::Comment(_) => {}
                Stmt::Declare { var, value } if !function.can_fail(value) => {
                    inside.insert(*var);
                }
                Stmt::Store { .. } if is_column => {}
                Stmt::For { .. } if inner.is_none() && !is_column => inner = Some(part),
                _ => return None,
            }
        }
        match inner {
            Some(next) => stmt = next,
            None => break,
        }
    }
    conditions.into_iter().reduce(Expr::and)
}

/// Rows in tiles of as many each.
struct Blocks {
    /// How many tiles.
    number: Var,
    /// The rows of each.
    n_rows: i64,
    /// The first row of the first; without one, row 0.
    first: Option<Var>,
}

/// The tile of some rows.
struct Tile<'a> {
    rows: &'a Rows,
    buffer: Buffer,
    size: [i64; 2],
    /// The first row and the first column.
    first: [Var; 2],
    names: [&'a str; 2],
}

impl Tiler<'_> {
    /// Puts a loop over rows behind what comes `before` it, in tiles of several rows.
    pub(super) fn rows(
        &mut self,
        rows: &Rows,
        size: Size,
        stmt: Stmt,
        in_chunks: bool,
        before: &mut Block,
    ) {
        let name = |tiler: &Self, var: Var| tiler.function.vars[var].name.clone();
        let (i, j) = (name(self, rows.var), name(self, rows.row.vars[0]));
        let extent = rows.row.extent;
        let mut fits = Expr::Var(extent).binary(BinaryOp::Le, rows.stride.clone());
        if rows.filled.is_none() {
            fits = fits.and(rows.entered.clone());
        }
        let mut blocks: Vec<Blocks> = Vec::new();
        let mut in_blocks = None;
        for n_rows in [size.rows, size.last].into_iter().filter(|n| *n > 0) {
            let left = match in_blocks {
                None => Expr::Var(rows.n),
                Some(done) => Expr::Var(rows.n).binary(BinaryOp::Sub, done),
            };
            let number = Expr::Select {
                condition: Box::new(fits.clone()),
                then: Box::new(left.binary(BinaryOp::FloorDiv, n_rows)),
                otherwise: Box::new(Expr::int(0)),
            };
            let number = self.declare(&format!("{i}_blocks"), number, before);
            blocks.push(Blocks {
                number,
                n_rows,
                first: in_blocks,
            });
            let end = add(in_blocks, Expr::Var(number).mul(n_rows));
            in_blocks = Some(self.declare(&format!("{i}_rest"), end, before));
        }
        let in_blocks = in_blocks.expect("tiles have rows");

        let mut done = None;
        let widths = [size.width, size.rest].into_iter();
        for width in widths.filter(|width| *width > 0) {
            let left = match done {
                None => Expr::Var(extent),
                Some(done) => Expr::Var(extent).binary(BinaryOp::Sub, done),
            };
            let strips = left.binary(BinaryOp::FloorDiv, width);
            let strips = self.declare(&format!("{j}_strips"), strips, before);
            let strip = self.index(&format!("{j}_strip"));
            let mut body = Block::new();
            let first = add(done, Expr::Var(strip).mul(width));
            let first = self.declare(&format!("{j}_first"), first, &mut body);
            for blocks in &blocks {
                body.push(self.blocks(rows, blocks, (width, first), in_chunks));
            }
            before.push(count(strip, 0.into(), strips.into(), body));
            let end = add(done, Expr::Var(strips).mul(width));
            done = Some(self.declare(&format!("{j}_rest"), end, before));
        }
        let done = done.expect("tiles have a width");
        before.push(self.columns(rows, done, in_blocks));
        before.push(self.further_rows(stmt, in_blocks, size, in_chunks));
    }

    /// The columns from `done` on, of the rows up to `end`.
    fn columns(&mut self, rows: &Rows, done: Var, end: Var) -> Stmt {
        let mut nest = rows.nest.clone();
        innermost(&mut nest, &mut |stmt| {
            if let Stmt::For { lo, .. } = stmt {
                *lo = done.into();
            }
        });
        let mut body = Block::new();
        if let Some((value, hi)) = &rows.filled {
            body.push(Stmt::Fill {
                buffer: rows.row.buffer,
                lo: rows.row.base.clone().add(done),
                hi: hi.clone(),
                value: value.clone(),
            });
        }
        body.push(nest);
        let all = self
            .function
            .renamed(count(rows.var, 0.into(), end.into(), body));
        match rows.filled {
            Some(_) => all,
            None => Stmt::If {
                condition: Expr::Var(done).less(rows.row.extent),
                then: vec![all],
                otherwise: Block::new(),
            },
        }
    }

    /// The rows from `first` on, each in a tile of its own if that is worth it.
    fn further_rows(&mut self, mut stmt: Stmt, first: Var, size: Size, in_chunks: bool) -> Stmt {
        if let Stmt::For { lo, body, .. } = &mut stmt {
            *lo = first.into();
            if size.tiles_further_rows() {
                self.block(body, in_chunks);
            }
        }
        stmt
    }

    /// `for i_block in 0..blocks { … }` with tiles of this width, from column `column` on.
    fn blocks(
        &mut self,
        rows: &Rows,
        blocks: &Blocks,
        (width, column): (i64, Var),
        in_chunks: bool,
    ) -> Stmt {
        let size = [blocks.n_rows, width];
        let name = |var: Var| self.function.vars[var].name.clone();
        let names = [name(rows.var), name(rows.row.vars[0])];
        let block = self.index(&format!("{}_block", names[0]));
        let mut body = Block::new();
        let first = add(blocks.first, Expr::Var(block).mul(size[0]));
        let first = self.declare(&format!("{}_first", names[0]), first, &mut body);
        let tile = Tile {
            rows,
            buffer: self.workspace(rows.row.buffer, size[0] * size[1], in_chunks),
            size,
            first: [first, column],
            names: [&names[0], &names[1]],
        };
        match &rows.filled {
            Some((value, _)) => body.push(Stmt::Fill {
                buffer: tile.buffer,
                lo: 0.into(),
                hi: (size[0] * size[1]).into(),
                value: value.clone(),
            }),
            None => body.extend(self.lanes_of(&tile, &|tile, row, lane| Stmt::Store {
                buffer: tile.buffer,
                index: tile.place(row, lane),
                value: Expr::load(rows.row.buffer, tile.of_rows(row, lane)),
                reduce: None,
            })),
        }
        let mut nest = self.function.renamed(rows.nest.clone());
        self.move_into_tile(&tile, &mut nest);
        body.push(nest);
        body.extend(self.lanes_of(&tile, &|tile, row, lane| Stmt::Store {
            buffer: rows.row.buffer,
            index: tile.of_rows(row, lane),
            value: Expr::load(tile.buffer, tile.place(row, lane)),
            reduce: None,
        }));
        count(block, 0.into(), blocks.number.into(), body)
    }

    /// A statement for each entry of a tile: a loop for each row.
    fn lanes_of(&mut self, tile: &Tile<'_>, write: &dyn Fn(&Tile<'_>, i64, Var) -> Stmt) -> Block {
        let [rows, width] = tile.size;
        let rows = (0..rows).map(|row| {
            let lane = self.index(&format!("{}_lane", tile.names[1]));
            let entry = write(tile, row, lane);
            count(lane, 0.into(), width.into(), vec![entry])
        });
        rows.collect()
    }

    /// Has the loop over columns of a nest compute all rows of a tile in place of one.
    fn move_into_tile(&mut self, tile: &Tile<'_>, nest: &mut Stmt) {
        let Stmt::For { body, .. } = nest else {
            unreachable!("nests of rows are loops");
        };
        let is_around = |part: &Stmt| match part {
            Stmt::For { body, .. } => !body.iter().any(|it| matches!(it, Stmt::Store { .. })),
            _ => false,
        };
        if let Some(inner) = body.iter_mut().find(|part| is_around(part)) {
            return self.move_into_tile(tile, inner);
        }
        let mut of_row = HashSet::from([tile.rows.var]);
        let is_of_row = |part: &mut Stmt| match part {
            Stmt::Declare { var, value } => {
                let depends =
                    value.any(&mut |it| matches!(it, Expr::Var(var) if of_row.contains(var)));
                if depends {
                    of_row.insert(*var);
                }
                depends
            }
            Stmt::For { .. } => true,
            _ => false,
        };
        let mut columns: Block = body.extract_if(.., is_of_row).collect();
        let Some(Stmt::For {
            var: column,
            body: of_column,
            ..
        }) = columns.pop()
        else {
            unreachable!("the loop over columns comes last");
        };
        columns.extend(of_column);
        for row in 0..tile.size[0] {
            let lane = self.index(&format!("{}_lane", tile.names[1]));
            let mut of_row = columns.clone();
            for part in &mut of_row {
                if let Stmt::Store { buffer, index, .. } = part {
                    *buffer = tile.buffer;
                    *index = tile.place(row, lane);
                }
            }
            let place = Expr::Var(tile.first[1]).add(lane);
            let this_row = tile.row(row);
            rewrite_exprs(&mut of_row, &mut |part| {
                if *part == Expr::Var(tile.rows.var) {
                    *part = this_row.clone();
                } else if *part == Expr::Var(column) {
                    *part = place.clone();
                }
                // What goes along rows adds the variable of the loop last.
                if let Expr::Binary(BinaryOp::Add, start, last) = part
                    && **last == place
                {
                    *part = (**start).clone().add(tile.first[1]).add(lane);
                }
            });
            let of_row = count(lane, 0.into(), tile.size[1].into(), of_row);
            let of_row = self.function.renamed(of_row);
            body.push(of_row);
        }
    }
}

impl Tile<'_> {
    /// A row of the tile among all rows.
    fn row(&self, row: i64) -> Expr {
        match row {
            0 => self.first[0].into(),
            row => Expr::Var(self.first[0]).add(row),
        }
    }

    /// An entry of the tile.
    fn place(&self, row: i64, lane: Var) -> Expr {
        match row {
            0 => lane.into(),
            row => Expr::int(row * self.size[1]).add(lane),
        }
    }

    /// The entry of the rows that it holds.
    fn of_rows(&self, row: i64, lane: Var) -> Expr {
        let row = self.row(row);
        let mut base = self.rows.row.base.clone();
        base.rewrite(&mut |part| {
            if *part == Expr::Var(self.rows.var) {
                *part = row.clone();
            }
        });
        base.add(self.first[1]).add(lane)
    }
}

/// `first + more`, where there is a first.
fn add(first: Option<Var>, more: Expr) -> Expr {
    match first {
        Some(first) => Expr::Var(first).add(more),
        None => more,
    }
}

/// Changes the innermost loop of a nest.
fn innermost(nest: &mut Stmt, change: &mut dyn FnMut(&mut Stmt)) {
    if let Stmt::For { body, .. } = nest
        && let Some(inner) = body.iter_mut().find(|it| matches!(it, Stmt::For { .. }))
    {
        return innermost(inner, change);
    }
    change(nest);
}
