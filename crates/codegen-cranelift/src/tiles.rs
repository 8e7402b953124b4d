//! Tiles in registers.
//!
//! A product with a dense operand adds to a row of it for each stored entry, in a **tile**: a short
//! workspace, used in loops of constant bounds alone. In memory, each addition waits until the one
//! before it is stored:
//!
//! ```text
//! alloc C.tile: f64[5]
//! for p in pos[i]..pos[i + 1] {
//!   for k in 0..5 { C.tile[k] += a[p] * B[crd[p] * n + k] }      (v0, v1, r) += a * (B.., B.., B)
//! }
//! ```
//!
//! A tile that fits in a few registers becomes variables: one for each whole vector, then one for each
//! remaining entry. A matrix of 20,000 rows with 10 entries times 5 columns takes 0.4 ms in place of
//! 0.55.
//!
//! Invariants: each use of such a tile in a body is its allocation, a fill of all of it, or entry
//! `k` in a loop over all of its `k` that goes along rows ([`Rows`]). It holds zeros at first, as
//! workspaces do.

use cranelift_codegen::ir::{InstBuilder, Type, Value};
use cranelift_frontend::Variable;
use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{Access, Block, Buffer, Expr, Function, Mark, Stmt, Var};

use crate::emitter::{Cell, Emitter};
use crate::lanes::{Rows, WIDTH};
use crate::near::n_uses;
use crate::number::{Number, register};

/// Registers that tiles hold at most: half of those for floats.
const MOST: usize = 8;

/// A tile in variables.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    vectors: Vec<Variable>,
    /// Entries behind the last whole vector.
    rest: Vec<Variable>,
    per_vector: usize,
}

/// How many registers hold a tile of so many entries: whole vectors, and single entries.
fn registers(element: ElementType, len: usize) -> (usize, usize) {
    let per_vector = WIDTH as usize / element.size();
    (len / per_vector, len % per_vector)
}

/// The uses of a tile of so many entries that registers allow.
fn n_fitting(function: &Function, body: &Block, tile: Buffer, len: i64) -> usize {
    let n = |block: &Block| n_fitting(function, block, tile, len);
    let of_stmt = |stmt: &Stmt| match stmt {
        Stmt::Alloc { buffer, .. } if *buffer == tile => 1,
        Stmt::Fill { buffer, lo, hi, .. } if *buffer == tile => {
            usize::from(*lo == Expr::int(0) && *hi == Expr::int(len))
        }
        Stmt::For {
            mark: Mark { chunks: true, .. },
            ..
        } => 0,
        Stmt::For {
            var, lo, hi, body, ..
        } if *lo == Expr::int(0) && *hi == Expr::int(len) => {
            let rows = Rows::of(function, *var, body);
            match rows.is_some_and(|rows| rows.is_short(len)) && uses_all(body, tile, *var) {
                true => n_uses(body, tile),
                false => n(body),
            }
        }
        stmt => stmt.blocks().into_iter().map(n).sum(),
    };
    body.iter().map(of_stmt).sum()
}

/// Whether all entries of a tile that a body uses are number `var`.
fn uses_all(body: &Block, tile: Buffer, var: Var) -> bool {
    let is_it = |index: &Expr| *index == Expr::Var(var);
    body.iter().all(|stmt| {
        let mut fits = match stmt {
            Stmt::Store { buffer, index, .. } => *buffer != tile || is_it(index),
            _ => true,
        };
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                fits &= !matches!(part, Expr::Load { buffer, index } if *buffer == tile && !is_it(index));
                false
            });
        });
        fits
    })
}

impl Emitter<'_, '_> {
    /// Makes variables of the tiles that `body` uses, if `access` is theirs.
    pub(crate) fn hold_tiles(&mut self, body: &Block, access: Access) {
        let function = self.function;
        let mut left = MOST;
        for (buffer, data) in function.buffers.iter() {
            let element = data.storage;
            let is_float = matches!(element, ElementType::F32 | ElementType::F64);
            if data.access != access || !is_float || data.compute != element {
                continue;
            }
            let Some(len) = function.local_len(buffer) else {
                continue;
            };
            let (vectors, rest) = registers(element, len as usize);
            if vectors + rest > left || n_uses(body, buffer) == 0 {
                continue;
            }
            if n_fitting(function, body, buffer, len) != n_uses(body, buffer) {
                continue;
            }
            left -= vectors + rest;
            let zero = self.constant(element.zero()).real();
            let single = register(element);
            let per_vector = WIDTH as usize / element.size();
            let vector = single.by(per_vector as u32).expect("a vector of floats");
            let zeros = self.b.ins().splat(vector, zero);
            let tile = Tile {
                vectors: self.variables(vectors, vector, zeros),
                rest: self.variables(rest, single, zero),
                per_vector,
            };
            self.tiles.insert(buffer, tile);
        }
    }

    fn variables(&mut self, n: usize, ty: Type, value: Value) -> Vec<Variable> {
        let make = |_| {
            let made = self.b.declare_var(ty);
            self.b.def_var(made, value);
            made
        };
        (0..n).map(make).collect()
    }

    /// The variable of the vector that lies so many bytes behind the first entry, if the buffer
    /// is held.
    pub(crate) fn held_vector(&self, buffer: Buffer, offset: i32) -> Option<Variable> {
        let tile = self.tiles.get(&buffer)?;
        Some(tile.vectors[(offset / WIDTH) as usize])
    }

    /// The variable of the entry that is computed, if the buffer is held.
    pub(crate) fn held_entry(&self, buffer: Buffer) -> Option<Variable> {
        let tile = self.tiles.get(&buffer)?;
        let entry = self.entry.expect("single entries have numbers");
        Some(tile.rest[entry - tile.vectors.len() * tile.per_vector])
    }

    /// Fills a tile, if it is held; whether it is.
    pub(crate) fn fill_tile(&mut self, buffer: Buffer, value: Number) -> bool {
        let Some(tile) = self.tiles.get(&buffer).cloned() else {
            return false;
        };
        let value = value.real();
        for held in &tile.rest {
            self.b.def_var(*held, value);
        }
        if let Some(first) = tile.vectors.first() {
            let old = self.b.use_var(*first);
            let vector = self.b.func.dfg.value_type(old);
            let value = self.b.ins().splat(vector, value);
            for held in &tile.vectors {
                self.b.def_var(*held, value);
            }
        }
        true
    }

    /// Whether a body uses a tile that is held.
    pub(crate) fn uses_tiles(&self, body: &Block) -> bool {
        self.tiles.keys().any(|tile| n_uses(body, *tile) > 0)
    }

    /// Runs a body for the single entries `from..to` of a row, one after another.
    pub(crate) fn each_entry(&mut self, var: Var, from: i64, to: i64, body: &Block) {
        for entry in from..to {
            let number = self.constant(Scalar::I64(entry));
            self.vars.insert(var, Cell::Fixed(number));
            self.entry = Some(entry as usize);
            self.block(body);
        }
        self.entry = None;
    }
}
