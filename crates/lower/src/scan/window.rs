//! Windows: what finds where a point stands among all points of its statement.
//!
//! | window              | is found by                                                   |
//! |---------------------|---------------------------------------------------------------|
//! | without keys        | a count of the points so far                                  |
//! | with keys that ascend from point to point, by proof | counts at which they change   |
//! | `ordinal` of a key  | a count for each value of the key                             |
//! | `f(k) + ordinal(k of n)` | a copy of `f`, which counts on from where each group begins |
//! | `slot`              | a mark for each place of all tables ([`table`](super::table)) |
//! | others              | a stable sort of all keys, before the first point             |
//!
//! The sort is of one word for each point, which holds all of its keys, if the product
//! of their extents fits in one, and of a word for each key, the last key first, if not:
//!
//! ```text
//! for each point         word[m] = i * M + j      points[m] = m        m = 0, 1, …
//! sort word along points
//! for s in 0..n          numbers[points[s]] = s                        rank
//! ```

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Operator, Statement, StatementId, Value, Window};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Conjunction, Expression, Set, Variable};

use super::emit::{Emitter, Point};
use super::filled::counted;
use super::{loops, within};
use crate::bisect::integer;

/// What finds the value of a window at the next point.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// It is 0 at each.
    Zero,
    /// As many points came before.
    Running(Var),
    /// A group begins where the keys differ from those of the point before.
    Ascending(Groups),
    /// As many points of each value of the key came before.
    Counted(Buffer),
    /// The value of the statement is the next one of each value of the key.
    Cursor(Buffer),
    /// A mark for each place of tables.
    Tables(Buffer),
    /// The numbers of all points in their order, and the place of the next one.
    Listed(Buffer, Var),
}

/// The groups of points that come one after the other.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// The keys of the last point.
    keys: Vec<Var>,
    /// How many groups have begun.
    begun: Var,
    /// How many points the last one has, where that is asked for.
    points: Option<Var>,
}

/// What is done at the points of a statement.
#[derive(Clone, Debug)]
pub(super) enum Visiting {
    /// The assignment.
    Assign,
    /// They are counted.
    Count(Var),
    /// The words of their keys are listed, behind as many as the variable says: one
    /// word for each key, or one for all. The number is that of the window.
    Keys(usize, Vec<Buffer>, Var),
}

/// The largest word that holds several keys.
const LARGEST_WORD: i64 = 1 << 62;

/// Tables of keys may have four times as many entries as there are points, and these.
const SMALL_TABLE: i64 = 1024;

/// Fewer points than that are counted in 32 bits.
const MOST_COUNTED: i64 = 1 << 28;

impl Emitter<'_> {
    /// Makes what finds the windows of the stage's statements.
    pub(super) fn make_windows(&mut self) {
        let computation = self.computation;
        for (number, statement) in computation.statements.iter().enumerate() {
            for (place, (window, keys)) in statement.value.windows().into_iter().enumerate() {
                let numbering = match (window, keys) {
                    (Window::DenseRank, []) => Numbering::Zero,
                    (Window::Slot, keys) => Numbering::Tables(self.places_of_tables(keys)),
                    (_, []) => Numbering::Running(self.builder.var_("points", 0)),
                    _ if computation.keys_ascend(StatementId::from_index(number), keys) => {
                        self.follow(window, keys)
                    }
                    (Window::Ordinal, [key]) if self.starts(statement, key).is_some() => {
                        let starts = self.starts(statement, key).expect("just asked");
                        let counted = counted((self.whole, computation), statement).is_some();
                        Numbering::Cursor(self.cursor(&starts, key, counted))
                    }
                    (Window::Ordinal, [key]) => {
                        let counts = self.workspace("counts");
                        let len = self.expr(&key.extent);
                        let len = self.builder.let_("extent", len).into();
                        let buffer = counts;
                        self.builder.push(Stmt::Alloc { buffer, len });
                        Numbering::Counted(counts)
                    }
                    _ => self.list(number, place, window, keys),
                };
                self.windows.insert((number, place), numbering);
            }
        }
    }

    /// The array `f` of `f(k) + ordinal(k of n)`, if it has entries for all keys.
    fn starts(&self, statement: &Statement, key: &Key) -> Option<String> {
        let Value::Binary(Operator::Add, start, ordinal) = &statement.value else {
            return None;
        };
        let (Value::Entry(start), Value::Window(..)) = (&**start, &**ordinal) else {
            return None;
        };
        let space = self.computation.space(&start.space)?;
        let [extent] = &space.extents[..] else {
            return None;
        };
        let mut keys = Conjunction::new(["x"], []);
        let x = Expression::Variable(Variable::from_index(0));
        keys.add(within(&x, &key.extent));
        let keys = Set::new(vec![keys]).ok()?;
        let fits = keys.implies(&within(&x, extent), self.known);
        let is_of_key = start.indices == [key.value.clone()] && space.is_index_array();
        (fits && is_of_key).then(|| start.space.clone())
    }

    /// A copy of the entries of `f` for all keys; where points are counted, they stay below
    /// its last entry, and fit where its entries do.
    fn cursor(&mut self, starts: &str, key: &Key, counted: bool) -> Buffer {
        let space = self.computation.space(starts).expect("just found");
        let cursor = match (counted, space.element) {
            (true, ElementType::I32) => self.narrow("cursor"),
            _ => self.workspace("cursor"),
        };
        let len = self.expr(&key.extent);
        let len = self.builder.let_("extent", len);
        self.builder.push(Stmt::Alloc {
            buffer: cursor,
            len: len.into(),
        });
        let starts = self.arrays.spaces[starts];
        let at = self.builder.fixed("at", ElementType::I64);
        self.builder.for_loop(at, 0, len, |b| {
            let start = integer(b, starts, at);
            b.store(cursor, at, start);
        });
        cursor
    }

    /// What numbers points whose keys ascend.
    fn follow(&mut self, window: Window, keys: &[Key]) -> Numbering {
        if window == Window::Rank {
            return Numbering::Running(self.builder.var_("points", 0));
        }
        let last = keys.iter().map(|_| self.builder.var_("last", 0));
        Numbering::Ascending(Groups {
            keys: last.collect(),
            begun: self.builder.var_("begun", 0),
            points: (window == Window::Ordinal).then(|| self.builder.var_("points", 0)),
        })
    }

    /// The number of the point at hand, whose keys ascend.
    fn next_of(&mut self, groups: &Groups, keys: &[Key], tuple: &[Expression]) -> Expr {
        let mut differs = Expr::Var(groups.begun).binary(BinaryOp::Eq, 0);
        let mut now = Vec::new();
        for (key, last) in keys.iter().zip(&groups.keys) {
            let value = self.expr(&key.value.rewritten(&Point(tuple)));
            let value = self.builder.let_("key", value);
            let other = Expr::Var(value).binary(BinaryOp::Ne, *last);
            differs = differs.binary(BinaryOp::Or, other);
            now.push((*last, value));
        }
        self.builder.if_then(differs, |b| {
            for (last, value) in now {
                b.assign(last, value);
            }
            b.assign(groups.begun, Expr::Var(groups.begun).add(1));
            if let Some(points) = groups.points {
                b.assign(points, 0);
            }
        });
        match groups.points {
            None => Expr::Var(groups.begun).binary(BinaryOp::Sub, 1),
            Some(points) => {
                let now = self.builder.let_("ordinal", points);
                self.builder.assign(points, Expr::Var(points).add(1));
                now.into()
            }
        }
    }

    /// The numbers of all points of a statement.
    fn list(&mut self, number: usize, which: usize, window: Window, keys: &[Key]) -> Numbering {
        let n = self.builder.var_("n_points", 0);
        self.visit_all(number, Visiting::Count(n));
        let numbers = self.workspace("numbers");
        self.alloc(numbers, n);
        let point = (number, which);
        let few = self.are_few(n, keys);
        self.builder.begin_block();
        self.count_keys(point, (window, keys), n, numbers);
        let then = self.builder.end_block();
        self.builder.begin_block();
        self.sort_keys(point, (window, keys), n, numbers);
        let otherwise = self.builder.end_block();
        self.builder.push(Stmt::If {
            condition: few,
            then,
            otherwise,
        });
        Numbering::Listed(numbers, self.builder.var_("point", 0))
    }

    /// Whether the values of all keys can be counted in tables that are not much longer than
    /// there are points.
    fn are_few(&mut self, n: Var, keys: &[Key]) -> Expr {
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
    fn count_keys(
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
    fn sort_keys(
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

    /// Runs over the points of one statement in their order.
    fn visit_all(&mut self, number: usize, visiting: Visiting) {
        let mut alone = self.computation.clone();
        alone.statements = vec![alone.statements.swap_remove(number)];
        let loops = match self.scanned.take() {
            Some((of, loops)) if of == number => loops,
            _ => loops(&alone, self.known).expect("its set was scanned with others"),
        };
        let (arrays, curves) = (std::mem::take(&mut self.arrays), self.curves.clone());
        let mut emitter = Emitter::new(
            self.builder,
            (self.whole, &alone),
            self.known,
            &loops,
            arrays,
        );
        emitter.visiting = visiting;
        emitter.curves = curves;
        emitter.make_all_places();
        emitter.run();
        self.arrays = emitter.arrays;
        self.scanned = Some((number, loops));
    }

    /// Does at a point what is done besides the assignment.
    pub(super) fn note(&mut self, number: usize, tuple: &[Expression]) {
        let windows = self.computation.statements[number].value.windows();
        match self.visiting.clone() {
            Visiting::Assign => unreachable!("assignments are made elsewhere"),
            Visiting::Count(n) => self.builder.assign(n, Expr::Var(n).add(1)),
            Visiting::Keys(which, words, place) => {
                let (_, keys) = windows[which];
                let values: Vec<Expr> = match words.len() {
                    1 => vec![self.packed(keys, tuple)],
                    _ => (keys.iter())
                        .map(|key| self.expr(&key.value.rewritten(&Point(tuple))))
                        .collect(),
                };
                for (word, value) in words.iter().zip(values) {
                    self.builder.store(*word, place, value);
                }
                self.builder.assign(place, Expr::Var(place).add(1));
            }
        }
    }

    /// All keys in one number, the first one weighing most.
    fn packed(&mut self, keys: &[Key], tuple: &[Expression]) -> Expr {
        let mut all: Option<Expr> = None;
        for key in keys {
            let value = self.expr(&key.value.rewritten(&Point(tuple)));
            all = Some(match all {
                None => value,
                Some(before) => before.mul(self.expr(&key.extent)).add(value),
            });
        }
        all.expect("there is a key")
    }

    /// The value of a statement at a point.
    pub(super) fn value_of(
        &mut self,
        number: usize,
        tuple: &[Expression],
        element: ElementType,
    ) -> Expr {
        let value = &self.computation.statements[number].value;
        let mut here = Vec::new();
        for (place, (_, keys)) in value.windows().into_iter().enumerate() {
            let found = match self.windows[&(number, place)].clone() {
                Numbering::Zero => Expr::int(0),
                Numbering::Running(count) => {
                    let now = self.builder.let_("ordinal", count);
                    self.builder.assign(count, Expr::Var(count).add(1));
                    now.into()
                }
                Numbering::Ascending(groups) => self.next_of(&groups, keys, tuple),
                Numbering::Cursor(cursor) => {
                    let key = self.packed(keys, tuple);
                    let key = self.builder.let_("key", key);
                    let now = self.builder.let_("place", Expr::load(cursor, key));
                    self.builder.store(cursor, key, Expr::Var(now).add(1));
                    return now.into();
                }
                Numbering::Counted(counts) => {
                    let key = self.packed(keys, tuple);
                    let key = self.builder.let_("key", key);
                    let now = self.builder.let_("ordinal", Expr::load(counts, key));
                    self.builder.store(counts, key, Expr::Var(now).add(1));
                    now.into()
                }
                Numbering::Tables(taken) => self.next_place(taken, keys, tuple),
                Numbering::Listed(numbers, next) => {
                    let now = self.builder.let_("number", Expr::load(numbers, next));
                    self.builder.assign(next, Expr::Var(next).add(1));
                    now.into()
                }
            };
            here.push(found);
        }
        self.here = here.into_iter();
        self.value(value, tuple, element)
    }

    fn alloc(&mut self, buffer: Buffer, len: impl Into<Expr>) {
        let len = len.into();
        self.builder.push(Stmt::Alloc { buffer, len });
    }

    /// A workspace of numbers that 32 bits hold.
    fn narrow(&mut self, name: &str) -> Buffer {
        let (storage, loaded) = (ElementType::I32, ElementType::I64);
        self.builder
            .buffer(name, storage, loaded, BufferAccess::Workspace)
    }

    fn workspace(&mut self, name: &str) -> Buffer {
        let element = ElementType::I64;
        self.builder
            .buffer(name, element, element, BufferAccess::Workspace)
    }
}
