//! Coordinates of keys: the bits of all coordinates, side by side in one word.
//!
//! ```text
//! word = 0
//! for digit in 0..as many as keys have { word += table[digit * 256 + (rest & 255)]; rest //= 256 }
//! i = word >> (bits of j and k) & mask of i,  j = word >> (bits of k) & mask of j,  k = word & mask of k
//! ```

use sparsec_loop::{BinaryOp, Buffer, Expr, Var};
use sparsec_relation::Expression;

use super::Called;
use crate::scan::emit::Emitter;

/// The table that takes keys apart.
#[derive(Clone, Debug)]
pub(in crate::scan) struct Packed {
    table: Buffer,
    n_bits: Expr,
    /// The bits below each coordinate in the word that holds all of them, and a mask of its own.
    fields: Vec<(Var, Var)>,
}

impl Packed {
    /// A coordinate in the word of all.
    pub(super) fn coordinate(&self, word: Var, c: usize) -> Expr {
        let (below, mask) = self.fields[c];
        let above = Expr::Var(word).binary(BinaryOp::ShiftRight, below);
        above.binary(BinaryOp::BitAnd, mask)
    }
}

impl Emitter<'_> {
    /// Makes the table that takes trimmed keys of coordinates below these ends apart.
    pub(in crate::scan) fn make_packed(&mut self, ends: &[Expression]) -> Packed {
        self.table_of_coordinates(&Called::of_trimmed(ends))
    }

    pub(super) fn table_of_coordinates(&mut self, called: &Called<'_>) -> Packed {
        let (table, widths, n_bits) = self.dealt(called);
        let mut below = Expr::int(0);
        let mut fields = Vec::new();
        for width in widths.into_iter().rev() {
            let power = Expr::int(1).binary(BinaryOp::ShiftLeft, width.clone());
            let mask = power.binary(BinaryOp::Sub, 1);
            let field = self.builder.let_("below", below.clone());
            fields.push((field, self.builder.let_("mask", mask)));
            below = below.add(width);
        }
        fields.reverse();
        Packed {
            table,
            n_bits,
            fields,
        }
    }

    /// The coordinates of a trimmed key.
    pub(in crate::scan) fn unpacked(&mut self, key: Expr, packed: &Packed) -> Vec<Expr> {
        let rest = self.builder.var_("rest", key);
        let word = self.word(rest, packed);
        let fields = 0..packed.fields.len();
        fields.map(|c| packed.coordinate(word, c)).collect()
    }

    /// The word of all coordinates of a key.
    pub(super) fn word(&mut self, key: Var, packed: &Packed) -> Var {
        let word = self.builder.var_("word", 0);
        self.add_digits((key, packed.n_bits.clone()), (packed.table, 0), word);
        word
    }
}
