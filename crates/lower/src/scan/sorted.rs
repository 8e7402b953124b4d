//! Numbers of points by keys that do not ascend: counted, or sorted.
//!
//! Where the tables are not much longer than there are points, points are put in order by
//! stable counting, from the last key to the first, in integers of 32 bits:
//!
//! ```text
//! for at in 0..n { next[key[at] + 1] += 1 }          how many points each value has
//! for x in 0..extent { next[x + 1] += next[x] }      where its points begin
//! for at in 0..n { order[next[key[at]]++] = at }     each point behind those before
//! ```
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

use super::emit::Emitter;
use super::window::Visiting;

/// The largest word that holds several keys.
const LARGEST_WORD: i64 = 1 << 62;

/// Tables of keys may have four times as many entries as there are points, and these.
const SMALL_TABLE: i64 = 1024;

/// Fewer points than that are counted in 32 bits.
const MOST_COUNTED: i64 = 1 << 28;

impl Emitter<'_> {
    /// Whether the values of all keys can be counted in tables that are not much longer than
    /// there are points.
    pub(super) fn are_few(&mut self, n: Var, keys: &[Key]) -> Expr {
        let most = Expr::Var(n).mul(4).add(SMALL_TABLE);
        let most = self.builder.let_("most_keys", most);
        let few = keys.iter().map(|key| {
            let extent = self.expr(&key.extent);
            extent.binary(BinaryOp::Le, most)
        });
        let few: Vec<Expr> = few.collect();
        let fits = Expr::Var(n).less(MOST_COUNTED);
        few.into_iter().fold(fits, Expr::and)
    }

    /// Numbers the points by stable counting, from the last key to the first.
    pub(super) fn count_keys(
        &mut self,
        (number, which): (usize, usize),
        (window, keys): (Window, &[Key]),
        n: Var,
        numbers: Buffer,
    ) {
        let words: Vec<Buffer> = keys.iter().map(|_| self.narrow("keys")).collect();
        words.iter().for_each(|word| self.alloc(*word, n));
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Keys(which, words.clone(), place));
        let mut before: Option<Buffer> = None;
        for (at_key, (word, key)) in words.iter().zip(keys).enumerate().rev() {
            let next = self.narrow("next");
            let extent = self.expr(&key.extent);
            let extent = self.builder.let_("extent", extent);
            self.alloc(next, Expr::Var(extent).add(1));
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, n, |b| {
                let above = Expr::load(*word, at).add(1);
                b.store_reduce(next, above, Expr::int(1), Some(BinaryOp::Add));
            });
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, extent, |b| {
                let above = Expr::Var(at).add(1);
                b.store_reduce(next, above, Expr::load(next, at), Some(BinaryOp::Add));
            });
            // The last pass puts points where they belong.
            let (is_last, to_numbers) = (at_key == 0, window == Window::Rank);
            let order = match is_last && to_numbers {
                true => numbers,
                false => {
                    let order = self.narrow("order");
                    self.alloc(order, n);
                    order
                }
            };
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, n, |b| {
                let point = match before {
                    None => Expr::Var(at),
                    Some(before) => b.let_("point", Expr::load(before, at)).into(),
                };
                let key = b.let_("key", Expr::load(*word, point.clone()));
                let to = b.let_("to", Expr::load(next, key));
                b.store(next, key, Expr::Var(to).add(1));
                match is_last && to_numbers {
                    true => b.store(order, point, to),
                    false => b.store(order, to, point),
                }
            });
            before = Some(order);
        }
        if window != Window::Rank {
            let order = before.expect("there is a key");
            self.number_groups(window, n, [order, numbers], &words);
        }
    }

    /// Sorts the points by their keys in one word if they fit, and numbers them.
    pub(super) fn sort_keys(
        &mut self,
        point: (usize, usize),
        (window, keys): (Window, &[Key]),
        n: Var,
        numbers: Buffer,
    ) {
        let points = self.workspace("points");
        self.alloc(points, n);
        let room = self.builder.var_("room", LARGEST_WORD);
        for key in keys {
            let extent = self.expr(&key.extent).binary(BinaryOp::Max, 1);
            let rest = Expr::Var(room).binary(BinaryOp::FloorDiv, extent);
            self.builder.assign(room, rest);
        }
        if let [_] = keys {
            return self.number(point, window, n, [points, numbers], 1);
        }
        self.builder.begin_block();
        self.number(point, window, n, [points, numbers], 1);
        let then = self.builder.end_block();
        self.builder.begin_block();
        self.number(point, window, n, [points, numbers], keys.len());
        let otherwise = self.builder.end_block();
        self.builder.push(Stmt::If {
            condition: Expr::int(0).less(room),
            then,
            otherwise,
        });
    }

    /// Sorts the points by words of keys, and numbers them.
    fn number(
        &mut self,
        (number, which): (usize, usize),
        window: Window,
        n: Var,
        [points, numbers]: [Buffer; 2],
        n_words: usize,
    ) {
        let words: Vec<Buffer> = (0..n_words).map(|_| self.workspace("keys")).collect();
        let sorted = self.workspace("sorted");
        for &buffer in words.iter().chain([&sorted]) {
            let len = n.into();
            self.builder.push(Stmt::Alloc { buffer, len });
        }
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Keys(which, words.clone(), place));
        let at = self.builder.fixed("at", ElementType::I64);
        self.builder.for_loop(at, 0, n, |b| b.store(points, at, at));
        for word in words.iter().rev() {
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, n, |b| {
                b.store(sorted, at, Expr::load(*word, Expr::load(points, at)));
            });
            self.builder.push(Stmt::Sort {
                buffer: sorted,
                along: Some(points),
                lo: Expr::int(0),
                hi: n.into(),
            });
        }
        self.number_groups(window, n, [points, numbers], &words);
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
