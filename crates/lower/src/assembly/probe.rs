//! Tables: entries of a `hashed` level of a result.
//!
//! ```text
//! C(i,j) += A(i,k) * B(k,j)       C : (i : dense, j : hashed)
//!
//!            tables that are done     the table of row i
//! C1.crd   [ 8 N N 3 ………………………… ]   [ N 5 N N 2 N N 7 ]
//!                                  C1_begin            pC1
//! ```
//!
//! An entry is looked for in the table of its parent, and put where the search ends
//! if it is not there: so coordinates come in any order, and as often as they
//! like. Parents come one after the other, which makes the table of one the last.
//! It is never more than half full. When one more entry would make it so, a table
//! twice as large is made behind it, and moved to where it was: all moves together
//! cost as much as the entries of the row.
//!
//! Where a row has no entry, it has no table.
//!
//! Source: Knuth, The Art of Computer Programming, vol. 3, §6.4 (linear probing). The
//! slots are those of [`crate::level::hashed`].

use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Var};

use super::chain::{Chain, Chains, Table};
use crate::level::hashed::{first_slot, next_slot};
use crate::value::Update;

impl Chains<'_> {
    /// The table of the first parent, if the chain has tables.
    pub(super) fn begin_tables(&self, b: &mut Builder, number: usize) -> Option<Table> {
        let last = self.chains[number].last;
        let has_tables = self.target.level(last).kind.capabilities().probing_insert;
        has_tables.then(|| Table {
            begin: b.var_(&self.called("", last, "_begin"), 0),
            n: b.var_(&self.called("n", last, ""), 0),
        })
    }

    /// Combines a value into the entry of the last chain that has the coordinate, or puts it
    /// into the table.
    pub(super) fn probe(
        &self,
        b: &mut Builder,
        table: Table,
        coordinate: Expr,
        update: Update<'_>,
    ) {
        let Table { begin, n } = table;
        let chain = self.chains.last().expect("tables are of a chain");
        let (crd, vals) = (self.target.crd(chain.last), self.target.vals());
        let (counter, empty) = (chain.counter(), self.target.extents[chain.last].clone());
        let n_slots = Expr::Var(counter).binary(BinaryOp::Sub, begin);
        let is_half_full = n_slots.clone().binary(BinaryOp::Le, Expr::Var(n).mul(2));
        b.if_then(is_half_full, |b| self.enlarge(b, chain, begin));
        let name = self.called("", chain.last, "_slot");
        let slot = first_slot(std::slice::from_ref(&coordinate), n_slots);
        let slot = b.var_(&name, Expr::Var(begin).add(slot));
        let holds = |what: &Expr| Expr::load(crd, slot).binary(BinaryOp::Ne, what.clone());
        b.while_loop(holds(&coordinate).and(holds(&empty)), |b| {
            next_slot(b, slot, begin, counter);
        });
        let is_new = Expr::load(crd, slot).equals(empty);
        let first = |b: &mut Builder| {
            let value = update.clone().first(b, vals);
            b.store(crd, slot, coordinate);
            b.store(vals, slot, value);
            b.assign(n, Expr::Var(n).add(1));
        };
        b.if_else(is_new, first, |b| {
            update.clone().store(b, vals, Expr::Var(slot));
        });
    }

    /// Makes the table that begins at `begin` twice as large, or begins one.
    fn enlarge(&self, b: &mut Builder, chain: &Chain, begin: Var) {
        let name = |part: &str| self.called("", chain.last, part);
        let (crd, vals) = (self.target.crd(chain.last), self.target.vals());
        let empty = self.target.extents[chain.last].clone();
        let end = b.let_(&name("_end"), chain.counter());
        let n_slots = Expr::Var(end).binary(BinaryOp::Sub, begin).mul(2);
        let n_slots = n_slots.binary(BinaryOp::Max, 2);
        let n_slots = b.let_(&name("_slots"), n_slots);
        let room = Expr::Var(end).add(Expr::Var(n_slots));
        let room = b.let_(&name("_room"), room);
        for (buffer, value) in [(crd, empty.clone()), (vals, self.target.fill.into())] {
            b.grow(buffer, room);
            b.fill(buffer, end.into()..room.into(), value);
        }
        let old = b.fixed("q", ElementType::I64);
        b.for_loop(old, begin, end, |b| {
            let coordinate = Expr::load(crd, old);
            let is_entry = coordinate.clone().less(empty.clone());
            b.if_then(is_entry, |b| {
                let slot = first_slot(std::slice::from_ref(&coordinate), n_slots);
                let slot = b.var_("free", Expr::Var(end).add(slot));
                let is_taken = Expr::load(crd, slot).less(empty);
                b.while_loop(is_taken, |b| next_slot(b, slot, end, room));
                move_entry(b, [crd, vals], old, slot);
            });
        });
        let slot = b.fixed("q", ElementType::I64);
        b.for_loop(slot, end, room, |b| {
            let ahead = Expr::Var(end).binary(BinaryOp::Sub, begin);
            let to = Expr::Var(slot).binary(BinaryOp::Sub, ahead);
            move_entry(b, [crd, vals], slot, to);
        });
        let end = Expr::Var(begin).add(Expr::Var(n_slots));
        b.assign(chain.counter(), end);
    }
}

/// Copies what arrays have at one position to another.
fn move_entry(b: &mut Builder, buffers: [Buffer; 2], from: Var, to: impl Into<Expr>) {
    let to = to.into();
    for buffer in buffers {
        b.store(buffer, to.clone(), Expr::load(buffer, from));
    }
}
