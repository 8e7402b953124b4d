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
use sparsec_index::{Access, Operator};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use super::chain::Chain;
use crate::cursor::Bindings;
use crate::level::hashed::first_slot;
use crate::statement::Lowerer;
use crate::value::{first, store_combined};

/// The table of the parent whose entries are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Its first slot; behind its last is the counter of its chain.
    begin: Var,
    /// How many entries it has.
    n: Var,
}

impl Lowerer<'_> {
    /// The table of the first parent, if the chain has tables.
    pub(super) fn begin_tables(&mut self, access: &Access, chain: &Chain) -> Option<Table> {
        let level = &self.formats.of(access.tensor).levels()[chain.last];
        if !level.kind.capabilities().probing_insert {
            return None;
        }
        let name = &self.concrete.tensors[access.tensor].name;
        let (begin, n) = (
            format!("{name}{}_begin", chain.last),
            format!("n{name}{}", chain.last),
        );
        Some(Table {
            begin: self.builder.var_(&begin, 0),
            n: self.builder.var_(&n, 0),
        })
    }

    /// Begins the table of the next parent behind that of the one before.
    pub(super) fn begin_next_table(&mut self, chain: &Chain) {
        if let Some(Table { begin, n }) = chain.table {
            self.builder.assign(begin, Expr::Var(chain.counter()));
            self.builder.assign(n, 0);
        }
    }

    /// Combines a value into the entry that has the bound coordinates, or puts it into
    /// the table.
    pub(super) fn probe(
        &mut self,
        lhs: &Access,
        chain: &Chain,
        table: Table,
        reduce: Option<&Operator>,
        value: Expr,
        bindings: &Bindings,
    ) {
        let Table { begin, n } = table;
        let (counter, vals) = (chain.counter(), self.tensors[&lhs.tensor].vals);
        let crd = self.tensors[&lhs.tensor].crd(chain.last);
        let mode = self.formats.of(lhs.tensor).levels()[chain.last].mode();
        let empty = self.mode_extent(lhs, mode);
        let coordinate = self.bound_coordinate(bindings, &lhs.indices[mode]);
        let n_slots = Expr::Var(counter).binary(BinaryOp::Sub, begin);
        let is_half_full = n_slots.clone().binary(BinaryOp::Le, Expr::Var(n).mul(2));
        let then = self.block(|it| it.enlarge(lhs, chain, table));
        self.builder.push(Loop::If {
            condition: is_half_full,
            then,
            otherwise: Vec::new(),
        });
        let name = format!(
            "{}{}_slot",
            self.concrete.tensors[lhs.tensor].name, chain.last
        );
        let slot = first_slot(std::slice::from_ref(&coordinate), n_slots);
        let slot = self.builder.var_(&name, Expr::Var(begin).add(slot));
        let holds = |what: &Expr| Expr::load(crd, slot).binary(BinaryOp::Ne, what.clone());
        let body = self.block(|it| it.next_in(slot, begin, counter));
        self.builder.push(Loop::While {
            condition: holds(&coordinate).and(holds(&empty)),
            body,
        });
        let then = self.block(|it| {
            let value = first(&mut it.builder, vals, value.clone(), reduce);
            it.builder.store(crd, slot, coordinate);
            it.builder.store(vals, slot, value);
            it.builder.assign(n, Expr::Var(n).add(1));
        });
        let otherwise = self.block(|it| {
            store_combined(&mut it.builder, vals, Expr::Var(slot), value, reduce);
        });
        self.builder.push(Loop::If {
            condition: Expr::load(crd, slot).equals(empty),
            then,
            otherwise,
        });
    }

    /// Goes to the slot behind; behind the last is the first.
    fn next_in(&mut self, slot: Var, begin: impl Into<Expr>, end: impl Into<Expr>) {
        self.builder.assign(slot, Expr::Var(slot).add(1));
        let (begin, end) = (begin.into(), end.into());
        self.builder
            .if_then(Expr::Var(slot).equals(end), |b| b.assign(slot, begin));
    }

    /// Makes the table twice as large, or begins one.
    fn enlarge(&mut self, lhs: &Access, chain: &Chain, table: Table) {
        let Table { begin, .. } = table;
        let name = self.concrete.tensors[lhs.tensor].name.clone();
        let name = |part: &str| format!("{name}{}_{part}", chain.last);
        let arrays = &self.tensors[&lhs.tensor];
        let (crd, vals) = (arrays.crd(chain.last), arrays.vals);
        let mode = self.formats.of(lhs.tensor).levels()[chain.last].mode();
        let empty = self.mode_extent(lhs, mode);
        let fill: Expr = self.concrete.tensors[lhs.tensor].fill.into();
        let end = self.builder.let_(&name("end"), chain.counter());
        let n_slots = Expr::Var(end).binary(BinaryOp::Sub, begin).mul(2);
        let n_slots = n_slots.binary(BinaryOp::Max, 2);
        let n_slots = self.builder.let_(&name("slots"), n_slots);
        let room = Expr::Var(end).add(Expr::Var(n_slots));
        let room = self.builder.let_(&name("room"), room);
        for (buffer, value) in [(crd, empty.clone()), (vals, fill)] {
            let (lo, hi) = (Expr::Var(end), Expr::Var(room));
            let len = hi.clone();
            self.builder.push(Loop::Grow { buffer, len });
            self.builder.push(Loop::Fill {
                buffer,
                lo,
                hi,
                value,
            });
        }
        let old = self.builder.fixed("q", ElementType::I64);
        self.for_loop(old, begin, end, |it| {
            let coordinate = Expr::load(crd, old);
            let then = it.block(|it| {
                let slot = first_slot(std::slice::from_ref(&coordinate), n_slots);
                let slot = it.builder.var_("free", Expr::Var(end).add(slot));
                let body = it.block(|it| it.next_in(slot, end, room));
                it.builder.push(Loop::While {
                    condition: Expr::load(crd, slot).less(empty.clone()),
                    body,
                });
                it.move_entry(&[crd, vals], old, slot);
            });
            it.builder.push(Loop::If {
                condition: coordinate.clone().less(empty.clone()),
                then,
                otherwise: Vec::new(),
            });
        });
        let slot = self.builder.fixed("q", ElementType::I64);
        self.for_loop(slot, end, room, |it| {
            let ahead = Expr::Var(end).binary(BinaryOp::Sub, begin);
            let to = Expr::Var(slot).binary(BinaryOp::Sub, ahead);
            it.move_entry(&[crd, vals], slot, to);
        });
        let end = Expr::Var(begin).add(Expr::Var(n_slots));
        self.builder.assign(chain.counter(), end);
    }

    /// Copies what arrays have at one position to another.
    fn move_entry(&mut self, buffers: &[Buffer], from: Var, to: impl Into<Expr>) {
        let to = to.into();
        for &buffer in buffers {
            let value = Expr::load(buffer, from);
            self.builder.store(buffer, to.clone(), value);
        }
    }
}
