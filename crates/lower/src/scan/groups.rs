//! Numbers of points by several keys: groups of one first key, and in each of them an order by
//! the other keys.
//!
//! Stable counting puts points into groups, unless their first keys ascend already. A word holds
//! the other keys of a point and the place of the point among all of them:
//!
//! ```text
//! for each point { next[first + 1] += 1 }            how many points each group has
//! for x in 0..extent { next[x + 1] += next[x] }      where its points begin
//! for each point { words[next[first]++] = rest * PLACES + place; place += 1 }
//! for each group lo..hi {
//!   for at in lo..hi { numbers[words[at] mod PLACES] = rank of words[at] } }
//! ```
//!
//! Short groups are not sorted: the rank of a word is the number of lesser words.
//!
//! Dense ranks sort the distinct keys of each group. A mark is one more than the number of a key:
//! those of earlier groups are at most `before`, so marks are never cleared:
//!
//! ```text
//! for at in lo..hi { if marks[rest[at]] <= before { listed[n++] = rest[at]; marks[rest[at]] = before + 1 } }
//! for s in before..n { marks[listed[s]] = rank of listed[s] + 1 }
//! for at in lo..hi { numbers[at] = marks[rest[at]] - 1 }
//! ```

use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{Key, Window};
use sparsec_loop::{BinaryOp, Block, Buffer, Expr, Stmt, UnaryOp, Var};

use super::emit::Emitter;
use super::shares::{Shares, Table};
use super::sorted::{MOST_COUNTED, SMALL_TABLE};
use super::window::Visiting;

/// The places of points that a word can hold: those below this power of two.
pub(super) const PLACES: i64 = MOST_COUNTED;
/// The largest product of extents of the other keys in a word: 34 bits beside a place. A single
/// key is listed in 32 bits.
const MOST_KEYS: i64 = 1 << 34;
const MOST_OF_ONE: i64 = (1 << 31) - 1;
/// Up to so many keys are ranked by comparing each with all. Measured in C, nanoseconds for a key: 0.9
/// of 16, 1.4 of 32, 2.6 of 64; sorted by insertion 8, 10 and 12.
pub(super) const FEW_KEYS: i64 = 64;
/// The same of words of points. What is done with a point loads its entries from anywhere, and the
/// more comparisons stand between two points, the fewer loads are under way at once: rows of 54 words
/// take 30 ms ranked and 21 ms sorted, rows of 10 take 17 and 21.
const FEW_WORDS: i64 = 16;

/// A group of points: `lo <= at < hi`.
pub(super) struct Group {
    /// The first key.
    pub(super) key: Expr,
    pub(super) lo: Var,
    pub(super) hi: Var,
    /// Where the last group ends that one thread takes.
    pub(super) end: Var,
}

/// Where the points of groups are, in their order.
#[derive(Clone, Copy)]
pub(super) enum Members {
    /// Each at its own place; the list has the other keys.
    InPlace(Buffer),
    /// In words.
    Words(Buffer),
}

/// What is done with each group.
pub(super) struct Each<F> {
    write: F,
    /// Whether no group reads an entry that another one writes.
    is_apart: bool,
}

impl<F> Each<F> {
    /// Groups that threads may take at once.
    pub(super) fn apart(write: F) -> Self {
        Self {
            write,
            is_apart: true,
        }
    }

    /// Groups of which each needs what those before it left.
    pub(super) fn in_turn(write: F) -> Self {
        Self {
            write,
            is_apart: false,
        }
    }
}

impl Emitter<'_> {
    /// Whether points can be numbered in groups: tables of keys have at most as many
    /// entries as there are points, and the other keys fit in a word beside the place of a point.
    pub(super) fn fit_groups(&mut self, n: Var, window: Window, keys: &[Key]) -> Expr {
        let (first, rest) = keys.split_first().expect("there are keys");
        let most = Expr::Var(n).add(SMALL_TABLE);
        let most = self.builder.let_("most_keys", most);
        let room = match (window, rest) {
            (Window::Rank, [_]) => Expr::int(MOST_OF_ONE),
            (Window::Rank, _) => Expr::int(MOST_KEYS),
            _ => most.into(),
        };
        let room = self.builder.var_("room", room);
        for key in rest {
            let extent = self.expr(&key.extent).binary(BinaryOp::Max, 1);
            let left = Expr::Var(room).binary(BinaryOp::FloorDiv, extent);
            self.builder.assign(room, left);
        }
        let is_table = self.expr(&first.extent).binary(BinaryOp::Le, most);
        let fits = Expr::Var(n).less(MOST_COUNTED).and(is_table);
        fits.and(Expr::int(0).less(room))
    }

    /// Numbers the points in groups.
    pub(super) fn number_in_groups(
        &mut self,
        point: (usize, usize),
        (window, keys): (Window, &[Key]),
        n: Var,
        numbers: Buffer,
    ) {
        if window == Window::Rank {
            let each = Each::apart(|this: &mut Self, group: &Group, members| {
                this.for_each_member(group, members, |this, rank, (_, point)| {
                    this.builder.store(numbers, point, rank);
                });
            });
            return self.for_each_group(point, (window, keys), n, each);
        }
        let marks = self.narrow("marks");
        let extents = keys[1..].iter().map(|key| self.expr(&key.extent));
        let extents = extents.collect::<Vec<_>>().into_iter();
        let len = extents.reduce(Expr::mul).expect("there are other keys");
        self.alloc(marks, len);
        if window == Window::Ordinal {
            let each = Each::in_turn(|this: &mut Self, group: &Group, members| {
                this.for_each_at(group.lo, group.hi, |this, at| {
                    let (key, point) = this.member(members, at);
                    let now = this.builder.let_("ordinal", Expr::load(marks, key.clone()));
                    this.builder.store(numbers, point, now);
                    this.builder.store(marks, key, Expr::Var(now).add(1));
                });
                this.for_each_at(group.lo, group.hi, |this, at| {
                    let (key, _) = this.member(members, at);
                    this.builder.store(marks, key, 0);
                });
            });
            return self.for_each_group(point, (window, keys), n, each);
        }
        let listed = self.narrow("listed");
        self.alloc(listed, n);
        let n_listed = self.builder.var_("n_listed", 0);
        let each = Each::in_turn(|this: &mut Self, group: &Group, members| {
            let before = this.builder.let_("before", n_listed);
            this.for_each_at(group.lo, group.hi, |this, at| {
                let (key, _) = this.member(members, at);
                let is_new = Expr::load(marks, key.clone()).binary(BinaryOp::Le, before);
                this.builder.if_then(is_new, |b| {
                    b.store(listed, n_listed, key.clone());
                    b.assign(n_listed, Expr::Var(n_listed).add(1));
                    b.store(marks, key, Expr::Var(before).add(1));
                });
            });
            let list = (listed, FEW_KEYS, None);
            this.for_each_ranked(list, (before, n_listed), |this, rank, key| {
                let mark = Expr::Var(rank).add(1);
                this.builder.store(marks, key, mark);
            });
            this.for_each_at(group.lo, group.hi, |this, at| {
                let (key, point) = this.member(members, at);
                let number = Expr::load(marks, key).binary(BinaryOp::Sub, 1);
                this.builder.store(numbers, point, number);
            });
        });
        self.for_each_group(point, (window, keys), n, each);
    }

    /// Lists the keys of a statement's points, and does something for each group of them.
    pub(super) fn for_each_group(
        &mut self,
        (number, which): (usize, usize),
        (window, keys): (Window, &[Key]),
        n: Var,
        each: Each<impl FnOnce(&mut Self, &Group, Members)>,
    ) {
        if self.keys_ascend(number, &keys[..1]) {
            return self.for_each_run(number, (window, keys), n, each);
        }
        let extent = self.expr(&keys[0].extent);
        let extent = self.builder.let_("extent", extent);
        if let Some(shares) = self.shares_of(number, extent) {
            return self.for_each_group_in_shares((number, which), (n, extent), shares, each);
        }
        let next = self.narrow("next");
        self.alloc(next, Expr::Var(extent).add(1));
        let counts = Table::of_all(next);
        self.visit_all(number, Visiting::CountFirst(which, counts.behind()));
        self.add_up(next, extent);
        let words = self.workspace("words");
        self.alloc(words, n);
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Words(which, counts, words, Some(place)));
        // Each entry has moved on to the end of its group.
        let lo = self.builder.var_("first", 0);
        self.for_each_at(Expr::int(0), extent, |this, group| {
            let hi = this.builder.let_("end", Expr::load(next, group));
            let key = group.into();
            let end = n;
            (each.write)(this, &Group { key, lo, hi, end }, Members::Words(words));
            this.builder.assign(lo, hi);
        });
    }

    /// As [`for_each_group`](Self::for_each_group), where shares of the points are put into groups
    /// at once.
    fn for_each_group_in_shares(
        &mut self,
        (number, which): (usize, usize),
        (n, extent): (Var, Var),
        shares: Shares,
        each: Each<impl FnOnce(&mut Self, &Group, Members)>,
    ) {
        let counts = self.narrow("counts");
        self.alloc(counts, shares.entries(extent));
        let counts = Table::of_shares(counts, extent);
        self.visit_in_shares(number, shares, Visiting::CountFirst(which, counts));
        let starts = self.narrow("starts");
        self.alloc(starts, Expr::Var(extent).add(1));
        self.add_up_shares(counts, shares, starts);
        let words = self.workspace("words");
        self.alloc(words, n);
        self.visit_in_shares(number, shares, Visiting::Words(which, counts, words, None));
        let group = |this: &mut Self, group: Var, end: Var| {
            let lo = this.builder.let_("first", Expr::load(starts, group));
            let hi = Expr::load(starts, Expr::Var(group).add(1));
            let hi = this.builder.let_("end", hi);
            let key = group.into();
            (each.write)(this, &Group { key, lo, hi, end }, Members::Words(words));
        };
        match each.is_apart {
            true => self.for_each_segment_in_shares(starts, extent, group),
            false => self.for_each_at(Expr::int(0), extent, |this, at| group(this, at, n)),
        }
    }

    /// As [`for_each_group`](Self::for_each_group), where first keys ascend from point to point.
    fn for_each_run(
        &mut self,
        number: usize,
        (window, keys): (Window, &[Key]),
        n: Var,
        each: Each<impl FnOnce(&mut Self, &Group, Members)>,
    ) {
        let is_narrow = window != Window::Rank || keys.len() == 2;
        let first = self.narrow("keys");
        let rest = match is_narrow {
            true => self.narrow("keys"),
            false => self.workspace("keys"),
        };
        self.alloc(first, n);
        self.alloc(rest, n);
        let place = self.builder.var_("place", 0);
        let listed = Visiting::Keys(keys.to_vec(), vec![first, rest], place);
        self.visit_all(number, listed);
        let members = match window {
            Window::Rank => {
                let words = self.workspace("words");
                self.alloc(words, n);
                self.for_each_at(Expr::int(0), n, |this, at| {
                    let word = Expr::load(rest, at).mul(PLACES).add(at);
                    this.builder.store(words, at, word);
                });
                Members::Words(words)
            }
            _ => Members::InPlace(rest),
        };
        let lo = self.builder.var_("first", 0);
        let body = self.written(|this| {
            let key = this.builder.let_("group", Expr::load(first, lo));
            let hi = this.builder.var_("end", Expr::Var(lo).add(1));
            let is_same = Expr::load(first, hi).equals(key);
            this.builder
                .while_loop(Expr::Var(hi).less(n).and(is_same), |b| {
                    b.assign(hi, Expr::Var(hi).add(1));
                });
            let key = key.into();
            let end = n;
            (each.write)(this, &Group { key, lo, hi, end }, members);
            this.builder.assign(lo, hi);
        });
        let goes_on = Expr::Var(lo).less(n);
        self.builder.while_loop(goes_on, |b| push_all(b, body));
    }

    /// Adds up counts: where the points of each key begin.
    pub(super) fn add_up(&mut self, next: Buffer, extent: Var) {
        self.for_each_at(Expr::int(0), extent, |this, at| {
            let above = Expr::Var(at).add(1);
            let before = Expr::load(next, at);
            let add = Some(BinaryOp::Add);
            this.builder.store_reduce(next, above, before, add);
        });
    }

    /// The other keys of a member of a group, and its place among all points.
    fn member(&mut self, members: Members, at: Var) -> (Expr, Expr) {
        match members {
            Members::InPlace(rest) => {
                let key = self.builder.let_("key", Expr::load(rest, at));
                (key.into(), at.into())
            }
            Members::Words(words) => {
                let word = self.builder.let_("word", Expr::load(words, at));
                self.parts_of_word(word)
            }
        }
    }

    pub(super) fn parts_of_word(&mut self, word: Var) -> (Expr, Expr) {
        let key = Expr::Var(word).binary(BinaryOp::FloorDiv, PLACES);
        let key = self.builder.let_("key", key);
        let point = Expr::Var(word).binary(BinaryOp::Sub, Expr::Var(key).mul(PLACES));
        let point = self.builder.let_("point", point);
        (key.into(), point.into())
    }

    /// Does something for each member of a group of words: with its rank among all points, its other
    /// keys and its place.
    pub(super) fn for_each_member(
        &mut self,
        group: &Group,
        members: Members,
        body: impl FnOnce(&mut Self, Var, (Expr, Expr)),
    ) {
        let Members::Words(words) = members else {
            unreachable!("keys alone do not tell points apart");
        };
        let words = (words, FEW_WORDS, None);
        self.for_each_ranked(words, (group.lo, group.hi), |this, rank, word| {
            let parts = this.parts_of_word(word);
            body(this, rank, parts);
        });
    }

    /// Does something for each entry of `lo <= at < hi` of a list without repetition: with its rank,
    /// counted from `lo` on, and the entry.
    ///
    /// A list that ascends, which `is_mixed` tells if it is known, is in order already. For each entry
    /// of another list of at most `few`, the entries that are less are counted: C compilers vectorize these
    /// loops, which no branch leaves early. A longer one is sorted.
    pub(super) fn for_each_ranked(
        &mut self,
        (list, few, is_mixed): (Buffer, i64, Option<Var>),
        (lo, hi): (Var, Var),
        body: impl FnOnce(&mut Self, Var, Var),
    ) {
        let n = Expr::Var(hi).binary(BinaryOp::Sub, lo);
        let is_long = self.builder.let_("is_long", Expr::int(few).less(n));
        let is_mixed = is_mixed.map_or(Expr::Const(Scalar::Bool(true)), Expr::from);
        let is_sorted = Expr::Var(is_long).and(is_mixed.clone());
        self.builder.if_then(is_sorted, |b| {
            b.push(Stmt::Sort {
                buffer: list,
                along: None,
                lo: lo.into(),
                hi: hi.into(),
            });
        });
        let is_short = Expr::Unary(UnaryOp::Not, Box::new(is_long.into()));
        let counts = self.builder.let_("counts", is_short.and(is_mixed));
        self.for_each_at(lo, hi, |this, at| {
            let entry = this.builder.let_("word", Expr::load(list, at));
            let rank = this.builder.var_("rank", at);
            let count = this.written(|this| {
                this.builder.assign(rank, lo);
                this.for_each_at(lo, hi, |this, other| {
                    let one = Expr::Select {
                        condition: Box::new(Expr::load(list, other).less(entry)),
                        then: Box::new(Expr::int(1)),
                        otherwise: Box::new(Expr::int(0)),
                    };
                    this.builder.assign(rank, Expr::Var(rank).add(one));
                });
            });
            this.branch(counts.into(), count, true);
            let rank = this.builder.let_("rank", rank);
            body(this, rank, entry);
        });
    }

    /// `for at in lo..hi { … }`
    pub(super) fn for_each_at(
        &mut self,
        lo: impl Into<Expr>,
        hi: impl Into<Expr>,
        body: impl FnOnce(&mut Self, Var),
    ) {
        let at = self.builder.fixed("at", ElementType::I64);
        let body = self.written(|this| body(this, at));
        self.builder.for_loop(at, lo, hi, |b| push_all(b, body));
    }

    /// The statements that `write` writes, as a block of their own.
    pub(super) fn written(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        let carried = self.carried.len();
        let curves = self.curves.clone();
        let is_outermost = std::mem::replace(&mut self.is_outermost, false);
        self.builder.begin_block();
        write(self);
        self.is_outermost = is_outermost;
        // Variables and tables of a block end with it.
        self.carried.truncate(carried);
        self.curves = curves;
        self.builder.end_block()
    }
}

fn push_all(builder: &mut sparsec_loop::Builder, block: Block) {
    block.into_iter().for_each(|stmt| builder.push(stmt));
}
