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
use sparsec_index::Access;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Failure, Var};

use super::array::{Allocated, FIRST_ROOM};
use crate::context::Context;
use crate::level::dense::locate;
use crate::level::hashed::{first_slot, next_slot};
use crate::temporary::{Stored, Table, Word};
use crate::value::Update;

/// How many positions the modes of one word may have together.
const WORD: u64 = 1 << 62;
/// How many slots a table begins with: two for each entry.
const FIRST_SLOTS: i64 = 2 * FIRST_ROOM;
/// The most slots: hashes have 32 bits.
const MOST_SLOTS: i64 = 1 << 32;

pub(super) fn allocate_table(b: &mut Builder, at: &Context<'_>, access: &Access) -> Table {
    let arrays = Allocated::of(at.kernel.name(access.tensor));
    let ranges = words(at, access);
    let is_one = ranges.len() == 1;
    let mut words = Vec::new();
    for (number, modes) in ranges.into_iter().enumerate() {
        let part = |what: &str| match is_one {
            true => what.to_owned(),
            false => format!("{what}{number}"),
        };
        words.push(Word {
            modes,
            keys: arrays.integers(b, &part("key"), FIRST_ROOM),
            sorted: arrays.integers(b, &part("sorted"), FIRST_ROOM),
        });
    }
    Table {
        table: arrays.integers(b, "table", FIRST_SLOTS),
        words,
        slots: None,
    }
}

/// The modes in groups, each of which one word numbers.
fn words(at: &Context<'_>, access: &Access) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut positions = None;
    for mode in 0..access.indices.len() {
        let var = access.var(mode);
        let extent = var.and_then(|var| at.kernel.concrete.vars[var].extent);
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

pub(super) fn begin_table(b: &mut Builder, name: &str, table: Table) -> Table {
    let slots = b.var_(&format!("{name}.slots"), FIRST_SLOTS);
    clear(b, table.table, FIRST_SLOTS);
    Table {
        slots: Some(slots),
        ..table
    }
}

fn clear(b: &mut Builder, buffer: Buffer, hi: impl Into<Expr>) {
    b.fill(buffer, Expr::int(0)..hi.into(), 0);
}

/// Finds the entry with the coordinates that `lhs` has here and combines into it, or writes
/// it.
pub(super) fn assign_hashed(
    b: &mut Builder,
    at: &Context<'_>,
    (stored, table): (&Stored, &Table),
    lhs: &Access,
    update: Update<'_>,
) {
    let name = at.kernel.name(lhs.tensor);
    let mut keys = Vec::new();
    for word in &table.words {
        let key = key(at, word, lhs);
        keys.push(b.named(&format!("{name}.at"), key));
    }
    let slots = table.slots();
    let slot = b.var_(&format!("{name}.slot"), first_slot(&keys, slots));
    let found = Expr::load(table.table, slot);
    let entry = b.var_(&format!("{name}.entry"), found);
    let other =
        table.words.iter().zip(&keys).map(|(word, key)| {
            Expr::load(word.keys, before(entry)).binary(BinaryOp::Ne, key.clone())
        });
    let other = other.reduce(|a, b| a.binary(BinaryOp::Or, b));
    let other = other.expect("a key has a word");
    b.while_loop(Expr::int(0).less(entry).and(other), |b| {
        next_slot(b, slot, 0, slots);
        b.assign(entry, Expr::load(table.table, slot));
    });
    let combine = |b: &mut Builder| update.clone().store(b, stored.vals, before(entry));
    b.if_else(Expr::int(0).less(entry), combine, |b| {
        let value = update.clone().first(b, stored.vals);
        append(b, (stored, table), slot, &keys, value);
    });
}

/// One word of the key of the coordinates that `lhs` has here.
fn key(at: &Context<'_>, word: &Word, lhs: &Access) -> Expr {
    word.modes.clone().fold(Expr::int(0), |key, mode| {
        let coordinate = at.bound_coordinate(&lhs.indices[mode]);
        locate(&key, at.mode_extent(lhs, mode), coordinate)
    })
}

fn append(
    b: &mut Builder,
    (stored, table): (&Stored, &Table),
    slot: Var,
    keys: &[Expr],
    value: Expr,
) {
    let n = stored.n();
    b.store(stored.vals, n, value);
    for (word, key) in table.words.iter().zip(keys) {
        b.store(word.keys, n, key.clone());
    }
    b.assign(n, Expr::Var(n).add(1));
    b.store(table.table, slot, n);
    let is_half_full = Expr::Var(n).mul(2).equals(table.slots());
    b.if_then(is_half_full, |b| grow(b, stored, table));
}

/// Twice as many slots as there are, and as many entries as those suffice for.
fn grow(b: &mut Builder, stored: &Stored, table: &Table) {
    let (n, slots) = (stored.n(), table.slots());
    b.if_then(Expr::Var(slots).equals(MOST_SLOTS), |b| {
        b.fail(Failure::OutOfMemory);
    });
    b.assign(slots, Expr::Var(slots).mul(2));
    let keys = table.words.iter().map(|word| word.keys);
    for buffer in keys.chain([stored.vals]) {
        b.grow(buffer, Expr::Var(n).mul(2));
    }
    b.grow(table.table, slots);
    clear(b, table.table, slots);
    let e = b.fixed("e", ElementType::I64);
    b.for_loop(e, 0, n, |b| {
        let keys = table.words.iter().map(|word| Expr::load(word.keys, e));
        let keys: Vec<Expr> = keys.collect();
        let free = b.var_("free", first_slot(&keys, slots));
        let is_taken = Expr::int(0).less(Expr::load(table.table, free));
        b.while_loop(is_taken, |b| next_slot(b, free, 0, slots));
        b.store(table.table, free, Expr::Var(e).add(1));
    });
}

/// Sorts the keys; `stored.at` says which entry each of them is.
pub(super) fn sort_table(b: &mut Builder, stored: &Stored, table: &Table) {
    let n = stored.n();
    let sorted = table.words.iter().map(|word| word.sorted);
    for buffer in sorted.chain([stored.at]) {
        b.grow(buffer, n);
    }
    let e = b.fixed("e", ElementType::I64);
    let last = table.words.last().expect("a key has a word");
    b.for_loop(e, 0, n, |b| {
        b.store(stored.at, e, e);
        b.store(last.sorted, e, Expr::load(last.keys, e));
    });
    for (after, word) in table.words.iter().rev().enumerate() {
        if after > 0 {
            take_keys(b, stored, word);
        }
        b.sort(word.sorted, Some(stored.at), Expr::int(0)..n.into());
    }
    // All words but the one sorted last were moved by sorts after their own.
    for word in table.words.iter().skip(1) {
        take_keys(b, stored, word);
    }
}

/// Copies one word of the keys in the order of `stored.at`.
fn take_keys(b: &mut Builder, stored: &Stored, word: &Word) {
    let p = b.fixed("p", ElementType::I64);
    b.for_loop(p, 0, stored.n(), |b| {
        let key = Expr::load(word.keys, Expr::load(stored.at, p));
        b.store(word.sorted, p, key);
    });
}

/// The entry that a slot names.
fn before(entry: Var) -> Expr {
    Expr::Var(entry).binary(BinaryOp::Sub, 1)
}
