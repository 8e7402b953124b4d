//! Numbers of points by one key, and by several keys that [`groups`](super::groups) does not hold.
//!
//! Where the table is not much longer than there are points, the values of one key are counted, in
//! integers of 32 bits:
//!
//! ```text
//! for at in 0..n { next[key[at] + 1] += 1 }          how many points each value has
//! for x in 0..extent { next[x + 1] += next[x] }      where its points begin
//! for at in 0..n { numbers[at] = next[key[at]]++ }   rank
//! ```
//!
//! Upper words of a key along a curve are left out where all coordinates are small.
//!
//! Otherwise points are sorted by one word for each point, which holds all of its keys, if the product
//! of their extents fits in one, and of a word for each key, the last key first, if not:
//!
//! ```text
//! for each point         word[m] = i * M + j      points[m] = m        m = 0, 1, …
//! sort word along points
//! for s in 0..n          numbers[points[s]] = s                        rank
//! ```

use sparsec_base::ElementType;
use sparsec_computation::{Key, Window};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Comparison, Constraint, Expression, MortonWord};

use super::emit::Emitter;
use super::window::Visiting;

/// The largest word that holds several keys.
const LARGEST_WORD: i64 = 1 << 62;

/// Tables of keys may have four times as many entries as there are points, and these.
pub(super) const SMALL_TABLE: i64 = 1024;

/// Fewer points than that are counted in 32 bits.
pub(super) const MOST_COUNTED: i64 = 1 << 28;

/// The longest table that may be made.
pub(super) const LARGEST_TABLE: i64 = 4 * MOST_COUNTED + SMALL_TABLE;

impl Emitter<'_> {
    /// Whether the values of a key can be counted in a table that is not much longer than there
    /// are points.
    pub(super) fn are_few(&mut self, n: Var, key: &Key) -> Expr {
        let most = Expr::Var(n).mul(4).add(SMALL_TABLE);
        let extent = self.expr(&key.extent);
        let is_table = extent.binary(BinaryOp::Le, most);
        Expr::Var(n).less(MOST_COUNTED).and(is_table)
    }

    /// Numbers the points by how many there are of each value of the key, or, for dense ranks, by
    /// whether there is one.
    pub(super) fn count_keys(
        &mut self,
        (number, which): (usize, usize),
        (window, key): (Window, &Key),
        n: Var,
        numbers: Buffer,
    ) {
        let word = self.narrow("keys");
        self.alloc(word, n);
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Keys((which, 0), vec![word], place));
        let extent = self.expr(&key.extent);
        let extent = self.builder.let_("extent", extent);
        let is_rank = window == Window::Rank;
        // Dense ranks count the values of the key, each once.
        let counts = is_rank.then_some(BinaryOp::Add);
        let next = self.narrow("next");
        self.alloc(next, Expr::Var(extent).add(1));
        self.for_each_at(Expr::int(0), n, |this, at| {
            let above = Expr::load(word, at).add(1);
            this.builder.store_reduce(next, above, Expr::int(1), counts);
        });
        self.add_up(next, extent);
        self.for_each_at(Expr::int(0), n, |this, at| {
            let key = this.builder.let_("key", Expr::load(word, at));
            let to = this.builder.let_("to", Expr::load(next, key));
            if is_rank {
                this.builder.store(next, key, Expr::Var(to).add(1));
            }
            this.builder.store(numbers, at, to);
        });
    }

    /// Sorts the points by their keys, and numbers them.
    pub(super) fn sort_keys(
        &mut self,
        point: (usize, usize),
        (window, keys): (Window, &[Key]),
        n: Var,
        numbers: Buffer,
    ) {
        let points = self.workspace("points");
        self.alloc(points, n);
        self.sort_points(point, keys, (n, points), &mut |this, words| {
            this.number_groups(window, n, [points, numbers], words);
        });
    }

    /// Lists the points in the order of their keys: of one word if they fit. Calls `then` wherever
    /// they are sorted, with the words of the keys.
    pub(super) fn sort_points(
        &mut self,
        point: (usize, usize),
        keys: &[Key],
        (n, points): (Var, Buffer),
        then: &mut dyn FnMut(&mut Self, &[Buffer]),
    ) {
        let Some((n_upper, is_short)) = self.upper_words(point.0, keys) else {
            return self.sort_all(point, keys, (n, points), then);
        };
        let short = self.written(|this| {
            let lower = &keys[n_upper..];
            let words = this.sort_words(point, (n, points), (n_upper, lower.len()));
            then(this, &words);
        });
        let otherwise = self.written(|this| this.sort_all(point, keys, (n, points), then));
        self.builder.push(Stmt::If {
            condition: is_short,
            then: short,
            otherwise,
        });
    }

    /// How many of the first keys are the upper words of a key along a curve, and whether all
    /// coordinates are so small that these are 0.
    fn upper_words(&mut self, number: usize, keys: &[Key]) -> Option<(usize, Expr)> {
        let coordinates = MortonWord::of(&keys[0].value)?.coordinates;
        let Expression::Add(most, _) = &keys[0].extent else {
            return None;
        };
        let ends = MortonWord::of(most)?.coordinates;
        let words = keys.iter().map_while(|key| MortonWord::of(&key.value));
        let upper = words.take_while(|word| word.shift > 0 && word.coordinates == coordinates);
        let shifts: Vec<u32> = upper.map(|word| word.shift).collect();
        let lowest = *shifts.iter().min()?;
        let space = &self.computation.statements[number].space;
        let is_below = |(coordinate, end): (&&Expression, &&Expression)| {
            let (coordinate, end) = ((*coordinate).clone(), (*end).clone());
            let below = Constraint::new(coordinate, Comparison::Less, end);
            space.implies(&below, self.known)
        };
        let are_below = coordinates.len() == ends.len()
            && coordinates.iter().zip(&ends).all(is_below)
            && shifts.len() < keys.len();
        if !are_below {
            return None;
        }
        let are_small = ends.iter().map(|end| {
            let end = self.expr(end);
            end.binary(BinaryOp::Le, 1i64 << lowest)
        });
        let are_small = are_small
            .collect::<Vec<_>>()
            .into_iter()
            .reduce(Expr::and)?;
        Some((shifts.len(), are_small))
    }

    /// As [`sort_points`](Self::sort_points), by all keys.
    fn sort_all(
        &mut self,
        point: (usize, usize),
        keys: &[Key],
        (n, points): (Var, Buffer),
        then: &mut dyn FnMut(&mut Self, &[Buffer]),
    ) {
        let mut sorted = |this: &mut Self, n_words: usize| {
            let words = this.sort_words(point, (n, points), (0, n_words));
            then(this, &words);
        };
        // Keys that are too large for one word whatever the tensor is.
        let known = keys.iter().map(|key| match key.extent {
            Expression::Integer(extent) => extent.max(1),
            _ => 1,
        });
        let room = known.fold(LARGEST_WORD, |room, extent| room / extent);
        if let (0, [_, _, ..]) = (room, keys) {
            return sorted(self, keys.len());
        }
        if let [_] = keys {
            return sorted(self, 1);
        }
        let room = self.builder.var_("room", LARGEST_WORD);
        for key in keys {
            let extent = self.expr(&key.extent).binary(BinaryOp::Max, 1);
            let rest = Expr::Var(room).binary(BinaryOp::FloorDiv, extent);
            self.builder.assign(room, rest);
        }
        let one = self.written(|this| sorted(this, 1));
        let otherwise = self.written(|this| sorted(this, keys.len()));
        self.builder.push(Stmt::If {
            condition: Expr::int(0).less(room),
            then: one,
            otherwise,
        });
    }

    /// Sorts the points by words of the keys from `from` on.
    fn sort_words(
        &mut self,
        (number, which): (usize, usize),
        (n, points): (Var, Buffer),
        (from, n_words): (usize, usize),
    ) -> Vec<Buffer> {
        let words: Vec<Buffer> = (0..n_words).map(|_| self.workspace("keys")).collect();
        let sorted = self.workspace("sorted");
        for &buffer in words.iter().chain([&sorted]) {
            self.builder.alloc(buffer, n);
        }
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Keys((which, from), words.clone(), place));
        let at = self.builder.fixed("at", ElementType::I64);
        self.builder.for_loop(at, 0, n, |b| b.store(points, at, at));
        for word in words.iter().rev() {
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, n, |b| {
                b.store(sorted, at, Expr::load(*word, Expr::load(points, at)));
            });
            self.builder
                .sort(sorted, Some(points), Expr::int(0)..n.into());
        }
        words
    }

    /// Numbers the points, which `points` lists in the order of their keys.
    fn number_groups(
        &mut self,
        window: Window,
        n: Var,
        [points, numbers]: [Buffer; 2],
        words: &[Buffer],
    ) {
        // Where a group of the same keys begins, and how many groups began before.
        let first = self.builder.var_("first", 0);
        let group = self.builder.var_("group", 0);
        let at = self.builder.fixed("at", ElementType::I64);
        self.builder.for_loop(at, 0, n, |b| {
            let point = b.let_("point", Expr::load(points, at));
            if window != Window::Rank {
                let before = Expr::Var(at).binary(BinaryOp::Sub, 1);
                let before = b.let_("before", before.binary(BinaryOp::Max, 0));
                let other = b.let_("other", Expr::load(points, before));
                let differs = words.iter().map(|word| {
                    Expr::load(*word, point).binary(BinaryOp::Ne, Expr::load(*word, other))
                });
                let differs = differs.reduce(|a, b| a.binary(BinaryOp::Or, b));
                b.if_then(differs.expect("there is a word"), |b| {
                    b.assign(first, at);
                    b.assign(group, Expr::Var(group).add(1));
                });
            }
            let value = match window {
                Window::Rank => Expr::Var(at),
                Window::Ordinal => Expr::Var(at).binary(BinaryOp::Sub, first),
                Window::DenseRank => group.into(),
                Window::Slot => unreachable!("tables are not sorted"),
            };
            b.store(numbers, point, value);
        });
    }
}
