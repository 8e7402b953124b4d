//! Keeping a row that many entries add to in a tile.
//!
//! Products with dense operands add a multiple of a row for each stored entry, always
//! to the same row. In memory that is a load and a store of the whole row an entry:
//!
//! ```text
//! fill C[i * n..(i + 1) * n], 0.0
//! for p in pos[i]..pos[i + 1] {                          the nest
//!   for k in 0..n { C[i * n + k] += a[p] * B[crd[p] * n + k] }
//! }
//! ```
//!
//! A **tile** is a workspace of a constant length, used in loops of constant bounds,
//! which a back end can hold in registers. The row is taken in strips as wide as the
//! tile, with the nest once for each; what is left of the row goes as it stands:
//!
//! ```text
//! alloc C.tile: f64[32]
//! for k_strip in 0..n // 32 {
//!   fill C.tile[0..32], 0.0
//!   for p in pos[i]..pos[i + 1] {
//!     for k_lane in 0..32 { C.tile[k_lane] += a[p] * B[crd[p] * n + k_strip * 32 + k_lane] }
//!   }
//!   for k_lane in 0..32 { C[i * n + k_strip * 32 + k_lane] = C.tile[k_lane] }
//! }
//! the rest of the row, if there is one
//! ```
//!
//! Each entry of the row still takes the same values in the same order, so the bits
//! are the same. A nest that is not right behind the filling of its row may come to
//! no entry, and then the row need not be there: so the first entry that it comes to
//! loads the row, and without one nothing is stored.
//!
//! | of a nest                                | has to hold                        |
//! |------------------------------------------|------------------------------------|
//! | its innermost loops that store           | combine into one row, from its first entry to an extent |
//! | where the row is                         | does not change in it              |
//! | the array of the row                     | is not used in it elsewhere        |
//! | everything else in it                    | may run again: it stores nothing, and gives variables of outside constants alone |
//!
//! Where a loop around the nest goes from row to row and the nest is the same for all of them,
//! as in a product of dense matrices, a tile holds several rows ([`rows`]).
//!
//! How wide a tile should be follows from how long rows are likely to be: one strip
//! for a row of up to [`MOST_BYTES`]. That is a guess and no promise, and where rows
//! turn out otherwise the function is as right.
//!
//! Source: register tiling as of dense products; Lam, Rothberg and Wolf, "The Cache
//! Performance and Optimizations of Blocked Algorithms", ASPLOS 1991,
//! <https://doi.org/10.1145/106972.106981>. Scalar promotion is Callahan, Carr and
//! Kennedy, PLDI 1990, <https://doi.org/10.1145/93542.93553>.

mod make;
mod nest;
mod rows;
mod size;

use sparsec_base::{ElementType, Scalar};

use super::collapse;
use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::rewrite_exprs;
use make::count;
use nest::Row;
use size::Size;

/// The bytes that a tile holds at most: eight of the widest registers there are, so
/// that operands have as many.
pub const MOST_BYTES: usize = 512;

/// The bytes that a tile of several rows holds at most.
pub const ROWS_BYTES: usize = size::MOST_BYTES;

/// The entries that a tile has at least: a row of one entry is no more work than its tile.
const LEAST: i64 = 2;

/// How wide the tile of a row is best, if one is of use.
///
/// ```
/// use sparsec_base::ElementType;
/// use sparsec_loop::passes::tile_width;
/// assert_eq!(tile_width(50, ElementType::F64), Some(50));
/// assert_eq!(tile_width(1000, ElementType::F64), Some(64));
/// assert_eq!(tile_width(3, ElementType::F64), Some(3));
/// assert_eq!(tile_width(1, ElementType::F64), None);
/// ```
pub fn tile_width(extent: u64, element: ElementType) -> Option<i64> {
    let most = MOST_BYTES / element.size();
    let width = usize::try_from(extent).map_or(most, |extent| extent.min(most));
    i64::try_from(width).ok().filter(|&width| width >= LEAST)
}

/// A tile: how many rows it holds, and of the rows left over, how much of each, and of the columns
/// left over.
pub type TileShape = [i64; 4];

/// The tiles that [`tile`] would keep rows in where `extent` says how far they are likely to
/// go; `None` for rows that it leaves as they are.
pub fn tile_shapes(
    function: &Function,
    extent: &dyn Fn(Var) -> Option<u64>,
) -> Vec<Option<TileShape>> {
    let mut found = Vec::new();
    let sizer = Sizer { function, extent };
    sizer.collect(&function.body, &mut found);
    found
}

/// The figures that sizes of tiles depend on.
struct Sizer<'f> {
    function: &'f Function,
    extent: &'f dyn Fn(Var) -> Option<u64>,
}

impl Sizer<'_> {
    fn collect(&self, block: &Block, found: &mut Vec<Option<TileShape>>) {
        for stmt in block.iter().filter(|stmt| !nest::is_shared(stmt)) {
            if let Some((_, size)) = self.rows(stmt) {
                found.push(Some([size.rows, size.last, size.width, size.rest]));
                if !size.tiles_further_rows() {
                    continue;
                }
            }
            match nest::row_of(self.function, stmt) {
                Some(row) => found.push(self.row(&row).map(|width| [1, 0, width, 0])),
                None => {
                    for inner in stmt.blocks() {
                        self.collect(inner, found);
                    }
                }
            }
        }
    }

    /// The width of the tile of a row.
    fn row(&self, row: &Row) -> Option<i64> {
        let element = self.function.buffers[row.buffer].storage;
        tile_width(self.length(row.extent)?, element)
    }

    /// How long a row is likely to be.
    fn length(&self, extent: Var) -> Option<u64> {
        let Some(modes) = collapse::modes_of(self.function, extent) else {
            return (self.extent)(extent);
        };
        let mut extents = modes.into_iter().map(|mode| (self.extent)(mode));
        extents.try_fold(1, |all: u64, extent| all.checked_mul(extent?))
    }

    /// The rows that a loop goes through, with their tile.
    fn rows(&self, stmt: &Stmt) -> Option<(rows::Rows, Size)> {
        let rows = rows::rows_of(self.function, stmt)?;
        let element = self.function.buffers[rows.row.buffer].storage;
        let (n_rows, extent) = ((self.extent)(rows.n)?, self.length(rows.row.extent)?);
        let size = Size::of(n_rows, extent, element.size())?;
        Some((rows, size))
    }
}

/// Whether tiles of several rows that this statement goes through are filled better with so many
/// columns than with those of the loop over `column`.
pub(super) fn is_filled_better(
    function: &Function,
    stmt: &Stmt,
    (column, columns): (Var, u64),
    extent: &dyn Fn(Var) -> Option<u64>,
) -> bool {
    let sizes = || {
        let rows = rows::rows_of(function, stmt)?;
        let bytes = function.buffers[rows.row.buffer].storage.size();
        let (n_rows, narrow) = (extent(rows.n)?, extent(rows.row.extent)?);
        let all = Size::of(n_rows, columns, bytes)?;
        let is_better = match Size::of(n_rows, narrow, bytes) {
            Some(few) => few.width < all.width || narrow % few.width.unsigned_abs() != 0,
            None => true,
        };
        Some(is_better && rows.row.vars == [column])
    };
    sizes().unwrap_or(false)
}

/// Keeps rows in tiles where `extent` says how far they are likely to go.
pub fn tile(function: &mut Function, extent: &dyn Fn(Var) -> Option<u64>) {
    let n_bounds = collapse::n_bounds(function);
    let mut body = function.body.split_off(n_bounds);
    let mut tiler = Tiler {
        function,
        extent,
        made: Block::new(),
        strips: Block::new(),
    };
    tiler.block(&mut body, false);
    let (made, strips) = (tiler.made, tiler.strips);
    let is_changed = !made.is_empty();
    let rewritten = made.into_iter().chain(strips).chain(body);
    function.body.extend(rewritten);
    if is_changed {
        super::simplify(function);
    }
    super::check_after("tile", function);
}

struct Tiler<'f> {
    /// Without its body, which is being changed, but for the bounds that begin it.
    function: &'f mut Function,
    extent: &'f dyn Fn(Var) -> Option<u64>,
    /// Allocations, for the beginning of the function.
    made: Block,
    /// What counts the strips of rows, behind them.
    strips: Block,
}

/// A row and its tile.
struct Tile {
    row: Row,
    buffer: Buffer,
    width: i64,
    /// Where the strip at hand begins in its row.
    first: Var,
    /// What counts the entries of a strip is called.
    lane: String,
}

/// Where the row was filled right before its nest.
struct Filled {
    value: Expr,
    hi: Expr,
    /// How long the row is; an extent.
    len: Var,
}

impl Tiler<'_> {
    fn block(&mut self, block: &mut Block, in_chunks: bool) {
        let mut before = Block::new();
        for mut stmt in std::mem::take(block) {
            if nest::is_shared(&stmt) {
                before.push(stmt);
                continue;
            }
            let sizer = Sizer {
                function: self.function,
                extent: self.extent,
            };
            if let Some((rows, size)) = sizer.rows(&stmt) {
                self.rows(&rows, size, stmt, in_chunks, &mut before);
                continue;
            }
            let row = nest::row_of(self.function, &stmt);
            let wide = row.and_then(|row| {
                let width = sizer.row(&row)?;
                Some((row, width))
            });
            match wide {
                Some((row, width)) => self.strip(row, width, stmt, in_chunks, &mut before),
                None => {
                    let in_chunks =
                        in_chunks || matches!(&stmt, Stmt::For { mark, .. } if mark.chunks);
                    for inner in stmt.blocks_mut() {
                        self.block(inner, in_chunks);
                    }
                    before.push(stmt);
                }
            }
        }
        *block = before;
    }

    /// Puts a nest behind what comes `before` it, strip by strip.
    fn strip(&mut self, row: Row, width: i64, nest: Stmt, in_chunks: bool, before: &mut Block) {
        let name = self.function.vars[row.vars[0]].name.clone();
        let filled = self.take_fill(&row, before);
        let mut n_strips = Expr::Var(row.extent);
        if let Some(filled) = filled.as_ref().filter(|it| it.len != row.extent) {
            n_strips = n_strips.binary(BinaryOp::Min, filled.len);
        }
        let n_strips = n_strips.binary(BinaryOp::FloorDiv, width);
        let mut strips = std::mem::take(&mut self.strips);
        let n_strips = self.declare(&format!("{name}_strips"), n_strips, &mut strips);
        let rest = Expr::Var(n_strips).mul(width);
        let rest = self.declare(&format!("{name}_rest"), rest, &mut strips);
        self.strips = strips;

        let strip = self.var(&format!("{name}_strip"), ElementType::I64, false);
        let mut body = Block::new();
        let first = Expr::Var(strip).mul(width);
        let first = self.declare(&format!("{name}_first"), first, &mut body);
        let tile = Tile {
            buffer: self.workspace(row.buffer, width, in_chunks),
            lane: format!("{name}_lane"),
            row,
            width,
            first,
        };
        let untiled = self.rest(&tile.row, rest, &nest);
        match &filled {
            Some(filled) => self.begin_filled(&tile, &filled.value, nest, &mut body),
            None => self.begin_empty(&tile, nest, &mut body),
        }
        before.push(count(strip, 0.into(), n_strips.into(), body));
        if let Some(Filled { value, hi, .. }) = filled {
            before.push(Stmt::Fill {
                buffer: tile.row.buffer,
                lo: tile.row.base.clone().add(rest),
                hi,
                value,
            });
        }
        // A nest says more than its row: it runs once even where the row is empty.
        let none = Expr::Var(rest).equals(0);
        before.push(Stmt::If {
            condition: Expr::Var(rest)
                .less(tile.row.extent)
                .binary(BinaryOp::Or, none),
            then: vec![untiled],
            otherwise: Block::new(),
        });
    }

    /// The filling of the row, if it is all that comes right before the nest.
    fn take_fill(&self, row: &Row, before: &mut Block) -> Option<Filled> {
        let is_passed = |stmt: &Stmt| match stmt {
            Stmt::Comment(_) => true,
            Stmt::Declare { value, .. } => !value.any(
                &mut |part| matches!(part, Expr::Load { buffer, .. } if *buffer == row.buffer),
            ),
            _ => false,
        };
        let at = before.iter().rposition(|stmt| !is_passed(stmt))?;
        let Stmt::Fill {
            buffer,
            lo,
            hi,
            value: value @ Expr::Const(_),
        } = &before[at]
        else {
            return None;
        };
        let len = nest::length(lo, hi)?;
        if *buffer != row.buffer || *lo != row.base || !nest::is_extent(self.function, len) {
            return None;
        }
        let filled = Filled {
            value: value.clone(),
            hi: hi.clone(),
            len,
        };
        before.remove(at);
        Some(filled)
    }

    /// A strip of a row that is known to hold `value`.
    fn begin_filled(&mut self, tile: &Tile, value: &Expr, nest: Stmt, body: &mut Block) {
        body.push(Stmt::Fill {
            buffer: tile.buffer,
            lo: 0.into(),
            hi: tile.width.into(),
            value: value.clone(),
        });
        let move_into_tile = |tiler: &mut Self, stmt: Stmt| tiler.lanes(tile, stmt, true);
        body.push(self.replaced(nest, &tile.row, &move_into_tile));
        body.push(self.store_back(tile));
    }

    /// A strip of a row that the first entry loads.
    fn begin_empty(&mut self, tile: &Tile, nest: Stmt, body: &mut Block) {
        let name = &self.function.buffers[tile.buffer].name;
        let name = format!("{}_loaded", name.replace('.', "_"));
        let loaded = self.var(&name, ElementType::Bool, true);
        body.push(Stmt::Declare {
            var: loaded,
            value: Scalar::Bool(false).into(),
        });
        let move_into_tile = |tiler: &mut Self, stmt: Stmt| {
            let first = tiler.function.renamed(stmt.clone());
            let further = tiler.lanes(tile, stmt, true);
            let mut first = tiler.lanes(tile, first, false);
            first.push(Stmt::Assign {
                var: loaded,
                value: Scalar::Bool(true).into(),
            });
            vec![Stmt::If {
                condition: loaded.into(),
                then: further,
                otherwise: first,
            }]
        };
        body.push(self.replaced(nest, &tile.row, &move_into_tile));
        body.push(Stmt::If {
            condition: loaded.into(),
            then: vec![self.store_back(tile)],
            otherwise: Block::new(),
        });
    }

    /// The nest from entry `rest` of the row on, as it stands.
    fn rest(&mut self, row: &Row, rest: Var, nest: &Stmt) -> Stmt {
        let from_rest = |_: &mut Self, mut stmt: Stmt| {
            if let Stmt::For { lo, .. } = &mut stmt {
                *lo = rest.into();
            }
            vec![stmt]
        };
        let nest = self.replaced(nest.clone(), row, &from_rest);
        self.function.renamed(nest)
    }

    /// A nest with something in the place of the loops over its row.
    fn replaced(
        &mut self,
        mut nest: Stmt,
        row: &Row,
        replace: &dyn Fn(&mut Self, Stmt) -> Block,
    ) -> Stmt {
        for block in nest.blocks_mut() {
            for stmt in std::mem::take(block) {
                match &stmt {
                    Stmt::For { var, .. } if row.vars.contains(var) => {
                        block.extend(replace(self, stmt));
                    }
                    _ => block.push(self.replaced(stmt, row, replace)),
                }
            }
        }
        nest
    }

    /// `for lane in 0..width { row = tile }`
    fn store_back(&mut self, tile: &Tile) -> Stmt {
        let lane = self.var(&tile.lane, ElementType::I64, false);
        let store = Stmt::Store {
            buffer: tile.row.buffer,
            index: tile.of_row(lane),
            value: Expr::load(tile.buffer, lane),
            reduce: None,
        };
        count(lane, 0.into(), tile.width.into(), vec![store])
    }

    /// A loop over the row as one over the strip, which combines into the tile or,
    /// where that is not `loaded`, with the row.
    fn lanes(&mut self, tile: &Tile, stmt: Stmt, loaded: bool) -> Block {
        let Stmt::For { var, mut body, .. } = stmt else {
            unreachable!("rows are gone along by loops");
        };
        let lane = self.var(&tile.lane, ElementType::I64, false);
        let behind = nest::take_notes(&mut body);
        for stmt in &mut body {
            if let Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } = stmt
            {
                *buffer = tile.buffer;
                *index = lane.into();
                if !loaded && let Some(op) = reduce.take() {
                    let old = Expr::load(tile.row.buffer, tile.of_row(lane));
                    *value = old.binary(op, value.clone());
                }
            }
        }
        let place = Expr::Var(tile.first).add(lane);
        rewrite_exprs(&mut body, &mut |part| {
            if *part == Expr::Var(var) {
                *part = place.clone();
            }
            // What goes along rows adds the variable of the loop last.
            if let Expr::Binary(BinaryOp::Add, start, last) = part
                && **last == place
            {
                *part = (**start).clone().add(tile.first).add(lane);
            }
        });
        let mut lanes = vec![count(lane, 0.into(), tile.width.into(), body)];
        lanes.extend(behind);
        lanes
    }
}

impl Tile {
    /// An entry of the row, by its place in the strip.
    fn of_row(&self, lane: Var) -> Expr {
        self.row.base.clone().add(self.first).add(lane)
    }
}
