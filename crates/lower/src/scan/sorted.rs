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
//! A Morton key of several words is one word of the bits in use, if these are at most 62.
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
use sparsec_relation::{Expression, MortonWord, WORD_BITS};

use super::curve::TRIMMED;
use super::emit::Emitter;
use super::window::Visiting;
use super::within;

/// The largest word that holds several keys.
const LARGEST_WORD: i64 = 1 << 62;

/// Tables of keys may have as many entries as there are points, and these: longer ones are mostly
/// empty, and sorting takes less time (docs/decisions/groups-of-first-keys.md).
pub(super) const SMALL_TABLE: i64 = 1024;

/// Fewer points than that are counted in 32 bits.
pub(super) const MOST_COUNTED: i64 = 1 << 28;

/// The longest table that may be made.
pub(super) const LARGEST_TABLE: i64 = MOST_COUNTED + SMALL_TABLE;

/// The words of keys by which points are sorted.
pub(super) enum Words {
    /// One for each point, in the order of the keys.
    Sorted(Buffer),
    /// As these, each of them a trimmed Morton key.
    OnCurve(Buffer, OnCurve),
    /// Several for each point, in the order of the points.
    OfPoints(Vec<Buffer>),
}

/// The coordinates of trimmed Morton keys, and their ends.
#[derive(Clone)]
pub(super) struct OnCurve {
    pub(super) coordinates: Vec<Expression>,
    pub(super) ends: Vec<Expression>,
}

impl OnCurve {
    /// Of a trimmed key.
    fn of(arguments: &[Expression]) -> Self {
        let pairs = arguments.chunks_exact(2);
        Self {
            coordinates: pairs.clone().map(|pair| pair[0].clone()).collect(),
            ends: pairs.map(|pair| pair[1].clone()).collect(),
        }
    }
}

impl Emitter<'_> {
    /// Whether the values of a key can be counted in a table that is not much longer than there
    /// are points.
    pub(super) fn are_few(&mut self, n: Var, key: &Key) -> Expr {
        let most = Expr::Var(n).add(SMALL_TABLE);
        let extent = self.expr(&key.extent);
        let is_table = extent.binary(BinaryOp::Le, most);
        Expr::Var(n).less(MOST_COUNTED).and(is_table)
    }

    /// Numbers the points by how many there are of each value of the key, or, for dense ranks, by
    /// whether there is one.
    pub(super) fn count_keys(
        &mut self,
        number: usize,
        (window, key): (Window, &Key),
        n: Var,
        numbers: Buffer,
    ) {
        let word = self.narrow("keys");
        self.alloc(word, n);
        let place = self.builder.var_("place", 0);
        let keys = vec![key.clone()];
        self.visit_all(number, Visiting::Keys(keys, vec![word], place));
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
        self.sort_points(point.0, keys, (n, points), &mut |this, words| {
            this.number_groups(window, n, [points, numbers], words);
        });
    }

    /// Lists the points in the order of their keys: of one word if they fit. Calls `then` wherever
    /// they are sorted, with the words of the keys.
    pub(super) fn sort_points(
        &mut self,
        number: usize,
        keys: &[Key],
        (n, points): (Var, Buffer),
        then: &mut dyn FnMut(&mut Self, &Words),
    ) {
        let Some((curve, ends, rest)) = self.trimmed(number, keys) else {
            return self.sort_all(number, keys, (n, points), then);
        };
        let widths: Vec<Var> = ends.iter().map(|end| self.width(end)).collect();
        let n_bits = widths.into_iter().map(Expr::from).reduce(Expr::add);
        let n_bits = n_bits.expect("a curve has coordinates");
        let is_one_word = n_bits.binary(BinaryOp::Le, i64::from(WORD_BITS));
        let trimmed = self.written(|this| {
            let Expression::Call(name, arguments) = &curve.value else {
                unreachable!("keys along curves are calls");
            };
            this.make_curve(name, arguments);
            let keys = [std::slice::from_ref(&curve), rest].concat();
            this.sort_all(number, &keys, (n, points), &mut |this, words| match words {
                Words::Sorted(word) if rest.is_empty() => {
                    then(this, &Words::OnCurve(*word, OnCurve::of(arguments)));
                }
                words => then(this, words),
            });
        });
        let otherwise = self.written(|this| this.sort_all(number, keys, (n, points), then));
        self.builder.push(Stmt::If {
            condition: is_one_word,
            then: trimmed,
            otherwise,
        });
    }

    /// Whether points may be sorted by trimmed Morton keys.
    pub(super) fn is_on_curve(&self, number: usize, keys: &[Key]) -> bool {
        self.trimmed(number, keys).is_some()
    }

    /// The key that compares as the words of a Morton key do, with which `keys` begin; the ends of its
    /// coordinates; and the keys behind these words.
    fn trimmed<'k>(
        &self,
        number: usize,
        keys: &'k [Key],
    ) -> Option<(Key, Vec<Expression>, &'k [Key])> {
        let words = keys.iter().map_while(|key| MortonWord::of(&key.value));
        let words: Vec<MortonWord<'_>> = words.collect();
        let coordinates = &words.first()?.coordinates;
        let Expression::Add(most, _) = &keys[0].extent else {
            return None;
        };
        let ends = MortonWord::of(most)?.coordinates;
        let follows = |pair: &[MortonWord<'_>]| {
            let [upper, lower] = pair else { return false };
            let above = lower.n_bits.map(|n_bits| lower.shift + n_bits);
            lower.coordinates == *coordinates && above == Some(upper.shift)
        };
        let n_words = 1 + words.windows(2).take_while(|pair| follows(pair)).count();
        let space = &self.computation.statements[number].space;
        let is_below = |(coordinate, end): (&&Expression, &&Expression)| {
            let within = within(coordinate, end);
            space.implies(&within, self.known)
        };
        let are_below = words[0].n_bits.is_none()
            && coordinates.len() == ends.len()
            && coordinates.iter().zip(&ends).all(is_below);
        if !are_below {
            return None;
        }
        let one = || Box::new(Expression::Integer(1));
        let upper = |e: &Expression| match words[n_words - 1].shift {
            0 => e.clone(),
            shift => {
                let below = Box::new(Expression::Integer(1 << shift));
                Expression::FloorDivide(Box::new(e.clone()), below)
            }
        };
        let end = |end: &Expression| match words[n_words - 1].shift {
            0 => end.clone(),
            _ => Expression::Add(Box::new(upper(end)), one()),
        };
        let ends: Vec<Expression> = ends.into_iter().map(end).collect();
        let key = |of: &mut dyn Iterator<Item = Expression>| {
            let pairs = of.zip(&ends).flat_map(|(e, end)| [e, end.clone()]);
            Expression::Call(TRIMMED.to_owned(), pairs.collect())
        };
        let mut last = ends.iter().map(|end| {
            let end = Box::new(end.clone());
            Expression::Subtract(end, one())
        });
        let curve = Key {
            extent: Expression::Add(Box::new(key(&mut last)), one()),
            value: key(&mut coordinates.iter().map(|e| upper(e))),
        };
        Some((curve, ends, &keys[n_words..]))
    }

    /// As [`sort_points`](Self::sort_points), by all keys.
    fn sort_all(
        &mut self,
        number: usize,
        keys: &[Key],
        (n, points): (Var, Buffer),
        then: &mut dyn FnMut(&mut Self, &Words),
    ) {
        let mut sorted = |this: &mut Self, n_words: usize| {
            let words = this.sort_words((number, keys), (n, points), n_words);
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

    /// Sorts the points by words of the keys.
    fn sort_words(
        &mut self,
        (number, keys): (usize, &[Key]),
        (n, points): (Var, Buffer),
        n_words: usize,
    ) -> Words {
        let words: Vec<Buffer> = (0..n_words).map(|_| self.workspace("keys")).collect();
        for &word in &words {
            self.alloc(word, n);
        }
        let place = self.builder.var_("place", 0);
        self.visit_all(number, Visiting::Keys(keys.to_vec(), words.clone(), place));
        let at = self.builder.fixed("at", ElementType::I64);
        self.builder.for_loop(at, 0, n, |b| b.store(points, at, at));
        if let [word] = words[..] {
            self.builder
                .sort(word, Some(points), Expr::int(0)..n.into());
            return Words::Sorted(word);
        }
        let sorted = self.workspace("sorted");
        self.alloc(sorted, n);
        for word in words.iter().rev() {
            let at = self.builder.fixed("at", ElementType::I64);
            self.builder.for_loop(at, 0, n, |b| {
                b.store(sorted, at, Expr::load(*word, Expr::load(points, at)));
            });
            self.builder
                .sort(sorted, Some(points), Expr::int(0)..n.into());
        }
        Words::OfPoints(words)
    }

    /// Numbers the points, which `points` lists in the order of their keys.
    fn number_groups(
        &mut self,
        window: Window,
        n: Var,
        [points, numbers]: [Buffer; 2],
        words: &Words,
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
                let differs = |word: &Buffer, at: Var, other: Var| {
                    Expr::load(*word, at).binary(BinaryOp::Ne, Expr::load(*word, other))
                };
                let differs = match words {
                    Words::Sorted(word) | Words::OnCurve(word, _) => differs(word, at, before),
                    Words::OfPoints(words) => {
                        let other = b.let_("other", Expr::load(points, before));
                        let differ = words.iter().map(|word| differs(word, point, other));
                        let differ = differ.reduce(|a, b| a.binary(BinaryOp::Or, b));
                        differ.expect("there is a word")
                    }
                };
                b.if_then(differs, |b| {
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
