//! Hashed workspaces: a table with open addressing.
//!
//! ```text
//!   key ──hash──► slot ──► w.table   0  3  0  1  2  0  …    1 + the entry, 0 is none
//!                                       │     │  └─────┐
//!                          w.key   k0 ◄─┼─────┘  k1 ◄──┘  in the order of writing
//!                          w.vals  v0   └──► k2, v2
//! ```
//!
//! A slot that holds another key sends the search to the next. The table is
//! never more than half full: when it would be, it gets twice the slots and all
//! entries their new ones, which over all entries costs as much as writing them.
//! Only the slots in use are cleared, when the `where` begins.
//!
//! A key is one word of 64 bits for as many modes as fit it together, so that
//! `C(i,j)` with extents of 2^30 is found by one comparison and sorted as one
//! array, and as many words as that takes. Sorting is by the last word first,
//! each sort keeping the order of the ones before.
//!
//! Keys are hashed as those of tensors are ([`crate::level::hashed`]).

use std::ops::Range;

use sparsec_base::ElementType;
use sparsec_index::{Access, Operator};
use sparsec_loop::{BinaryOp, Buffer, Expr, Failure, Stmt as Loop, Var};

use super::stored::{FIRST_ROOM, Stored};
use crate::cursor::Bindings;
use crate::level::dense::locate;
use crate::level::hashed::first_slot;
use crate::statement::Lowerer;
use crate::value::{first, store_combined};

/// How many positions the modes of one word may have together.
const WORD: u64 = 1 << 62;
/// How many slots a table begins with: two for each entry.
const FIRST_SLOTS: i64 = 2 * FIRST_ROOM;
/// The most slots: hashes have 32 bits.
const MOST_SLOTS: i64 = 1 << 32;

/// Where entries are found by their keys.
#[derive(Clone, Debug)]
pub(super) struct Table {
    table: Buffer,
    pub(super) words: Vec<Word>,
    /// How many slots are in use, once the `where` has begun.
    slots: Option<Var>,
}

/// One word of the keys.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The modes that it numbers, row-major.
    pub(super) modes: Range<usize>,
    /// Of the entries in the order of writing.
    keys: Buffer,
    /// Of the entries in ascending order.
    pub(super) sorted: Buffer,
}

impl Table {
    fn slots(&self) -> Var {
        self.slots.expect("a table is begun before it is used")
    }
}

impl Lowerer<'_> {
    pub(super) fn allocate_table(&mut self, access: &Access) -> Table {
        let name = self.concrete.tensors[access.tensor].name.clone();
        let i64 = ElementType::I64;
        let ranges = self.words(access);
        let is_one = ranges.len() == 1;
        let mut words = Vec::new();
        for (number, modes) in ranges.into_iter().enumerate() {
            let part = |what: &str| match is_one {
                true => what.to_owned(),
                false => format!("{what}{number}"),
            };
            words.push(Word {
                modes,
                keys: self.workspace_array(&name, &part("key"), i64, i64, FIRST_ROOM),
                sorted: self.workspace_array(&name, &part("sorted"), i64, i64, FIRST_ROOM),
            });
        }
        Table {
            table: self.workspace_array(&name, "table", i64, i64, FIRST_SLOTS),
            words,
            slots: None,
        }
    }

    /// The modes in groups, each of which one word numbers.
    fn words(&self, access: &Access) -> Vec<Range<usize>> {
        let mut words: Vec<Range<usize>> = Vec::new();
        let mut positions = None;
        for mode in 0..access.indices.len() {
            let var = access.var(mode);
            let extent = var.and_then(|var| self.concrete.vars[var].extent);
            let together = match (positions, extent) {
                (Some(so_far), Some(extent)) => extent
                    .max(1)
                    .checked_mul(so_far)
                    .filter(|together| *together <= WORD),
                _ => None,
            };
            positions = match (together, words.last_mut()) {
                (Some(together), Some(word)) => {
                    word.end = mode + 1;
                    Some(together)
                }
                _ => {
                    words.push(mode..mode + 1);
                    extent.map(|extent| extent.max(1))
                }
            };
        }
        words
    }

    pub(super) fn begin_table(&mut self, name: &str, table: Table) -> Table {
        let slots = self.builder.var_(&format!("{name}.slots"), FIRST_SLOTS);
        self.clear_table(table.table, FIRST_SLOTS);
        Table {
            slots: Some(slots),
            ..table
        }
    }

    fn clear_table(&mut self, buffer: Buffer, hi: impl Into<Expr>) {
        self.builder.push(Loop::Fill {
            buffer,
            lo: Expr::int(0),
            hi: hi.into(),
            value: Expr::int(0),
        });
    }

    /// Finds the entry with these coordinates and combines into it, or writes it.
    pub(super) fn assign_hashed(
        &mut self,
        stored: &Stored,
        table: &Table,
        lhs: &Access,
        reduce: Option<&Operator>,
        value: Expr,
        bindings: &Bindings,
    ) {
        let name = self.concrete.tensors[lhs.tensor].name.clone();
        let keys: Vec<Expr> = table
            .words
            .iter()
            .map(|word| self.key(&name, word, lhs, bindings))
            .collect();
        let slots = table.slots();
        let slot = first_slot(&keys, slots);
        let slot = self.builder.var_(&format!("{name}.slot"), slot);
        let found = Expr::load(table.table, slot);
        let entry = self.builder.var_(&format!("{name}.entry"), found);
        let other = table.words.iter().zip(&keys).map(|(word, key)| {
            Expr::load(word.keys, before(entry)).binary(BinaryOp::Ne, key.clone())
        });
        let other = other.reduce(|a, b| a.binary(BinaryOp::Or, b));
        let other = other.expect("a key has a word");
        let next = self.block(|it| {
            it.next_slot(slot, slots);
            it.builder.assign(entry, Expr::load(table.table, slot));
        });
        self.builder.push(Loop::While {
            condition: Expr::int(0).less(entry).and(other),
            body: next,
        });
        let then = self.block(|it| {
            let at = before(entry);
            store_combined(&mut it.builder, stored.vals, at, value.clone(), reduce);
        });
        let otherwise = self.block(|it| {
            let value = first(&mut it.builder, stored.vals, value, reduce);
            it.append_hashed(stored, table, slot, &keys, value);
        });
        self.builder.push(Loop::If {
            condition: Expr::int(0).less(entry),
            then,
            otherwise,
        });
    }

    /// One word of the key of the coordinates that `lhs` has here.
    fn key(&mut self, name: &str, word: &Word, lhs: &Access, bindings: &Bindings) -> Expr {
        let mut key = Expr::int(0);
        for mode in word.modes.clone() {
            let extent = self.mode_extent(lhs, mode);
            key = locate(
                &key,
                extent,
                self.bound_coordinate(bindings, &lhs.indices[mode]),
            );
        }
        match key {
            key @ (Expr::Var(_) | Expr::Const(_)) => key,
            key => Expr::Var(self.builder.let_(&format!("{name}.at"), key)),
        }
    }

    /// Goes to the slot behind; behind the last is the first.
    fn next_slot(&mut self, slot: Var, slots: Var) {
        self.builder.assign(slot, Expr::Var(slot).add(1));
        self.builder
            .if_then(Expr::Var(slot).equals(slots), |b| b.assign(slot, 0));
    }

    fn append_hashed(
        &mut self,
        stored: &Stored,
        table: &Table,
        slot: Var,
        keys: &[Expr],
        value: Expr,
    ) {
        let n = stored.n();
        self.builder.store(stored.vals, n, value);
        for (word, key) in table.words.iter().zip(keys) {
            self.builder.store(word.keys, n, key.clone());
        }
        self.builder.assign(n, Expr::Var(n).add(1));
        self.builder.store(table.table, slot, n);
        let is_half_full = Expr::Var(n).mul(2).equals(table.slots());
        let then = self.block(|it| it.grow_table(stored, table));
        self.builder.push(Loop::If {
            condition: is_half_full,
            then,
            otherwise: Vec::new(),
        });
    }

    /// Twice as many slots as there are, and as many entries as those suffice for.
    fn grow_table(&mut self, stored: &Stored, table: &Table) {
        let (n, slots) = (stored.n(), table.slots());
        self.builder
            .if_then(Expr::Var(slots).equals(MOST_SLOTS), |b| {
                b.fail(Failure::OutOfMemory);
            });
        self.builder.assign(slots, Expr::Var(slots).mul(2));
        let keys = table.words.iter().map(|word| word.keys);
        for buffer in keys.chain([stored.vals]) {
            let len = Expr::Var(n).mul(2);
            self.builder.push(Loop::Grow { buffer, len });
        }
        let len = Expr::Var(slots);
        self.builder.push(Loop::Grow {
            buffer: table.table,
            len,
        });
        self.clear_table(table.table, slots);
        let e = self.builder.fixed("e", ElementType::I64);
        self.for_loop(e, 0, n, |it| {
            let keys: Vec<Expr> = table
                .words
                .iter()
                .map(|word| Expr::load(word.keys, e))
                .collect();
            let free = it.builder.var_("free", first_slot(&keys, slots));
            let body = it.block(|it| it.next_slot(free, slots));
            it.builder.push(Loop::While {
                condition: Expr::int(0).less(Expr::load(table.table, free)),
                body,
            });
            it.builder.store(table.table, free, Expr::Var(e).add(1));
        });
    }

    /// Sorts the keys; `stored.at` says which entry each of them is.
    pub(super) fn sort_table(&mut self, stored: &Stored, table: &Table) {
        let n = stored.n();
        let sorted = table.words.iter().map(|word| word.sorted);
        for buffer in sorted.chain([stored.at]) {
            let len = Expr::Var(n);
            self.builder.push(Loop::Grow { buffer, len });
        }
        let e = self.builder.fixed("e", ElementType::I64);
        let last = table.words.last().expect("a key has a word");
        self.for_loop(e, 0, n, |it| {
            it.builder.store(stored.at, e, e);
            it.builder.store(last.sorted, e, Expr::load(last.keys, e));
        });
        for (after, word) in table.words.iter().rev().enumerate() {
            if after > 0 {
                self.take_keys(stored, word);
            }
            self.builder.push(Loop::Sort {
                buffer: word.sorted,
                along: Some(stored.at),
                lo: Expr::int(0),
                hi: Expr::Var(n),
            });
        }
        // All words but the one sorted last were moved by sorts after their own.
        for word in table.words.iter().skip(1) {
            self.take_keys(stored, word);
        }
    }

    /// Copies one word of the keys in the order of `stored.at`.
    fn take_keys(&mut self, stored: &Stored, word: &Word) {
        let p = self.builder.fixed("p", ElementType::I64);
        self.for_loop(p, 0, stored.n(), |it| {
            let key = Expr::load(word.keys, Expr::load(stored.at, p));
            it.builder.store(word.sorted, p, key);
        });
    }
}

/// The entry that a slot names.
fn before(entry: Var) -> Expr {
    Expr::Var(entry).binary(BinaryOp::Sub, 1)
}
