//! Windows: what finds where a point stands among all points of its statement.
//!
//! | window              | is found by                                                   |
//! |---------------------|---------------------------------------------------------------|
//! | without keys        | a count of the points so far                                  |
//! | `ordinal` of the loops around the innermost one | where in that loop the point stands |
//! | with keys that ascend from point to point, by proof | counts at which they change   |
//! | `ordinal` of a key  | a count for each value of the key                             |
//! | `f(k) + ordinal(k of n)` | a copy of `f`, which counts on from where each group begins, or `f` itself ([`shifted`](super::shifted)) |
//! | `slot`              | a mark for each place of all tables ([`table`](super::table)) |
//! | `dense_rank`, if the first key ascends with the outermost loop | lists of the other keys, for each run of the first ([`in_runs`](super::in_runs)) |
//! | others, of one key  | counting or sorting the keys, before the first point ([`sorted`](super::sorted)) |
//! | others, of several  | groups of the first key, sorted by the others ([`groups`](super::groups)) |

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::segments::places;
use sparsec_computation::{Key, Operator, Statement, Value, Window};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Expr, Failure, Stmt, Var};
use sparsec_relation::{Conjunction, Expression, Set, Variable};

use super::emit::{Emitter, Point};
use super::filled::counted;
use super::groups::PLACES;
use super::in_runs::Marks;
use super::numbers::is_below_table;
use super::shares::Table;
use super::sorted::LARGEST_TABLE;
use super::values::range;
use super::{loops, within};
use crate::bisect::integer;

/// What finds the value of a window at the next point.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// It is 0 at each.
    Zero,
    /// As many points came before.
    Running(Var),
    /// As many iterations of the loop over the variable came before.
    InLoop(Variable),
    /// A group begins where the keys differ from those of the point before.
    Ascending(Groups),
    /// As many points of each value of the key came before.
    Counted(Table),
    /// The value of the statement is the next one of each value of the key.
    Cursor(Table),
    /// A mark for each place of tables.
    Tables(Buffer),
    /// The numbers of all points in their order, and the place of the next one.
    Listed(Buffer, Var),
    /// The array that the statement assigns holds the numbers already.
    InPlace(Buffer),
    /// Its sweep is to run in the order of the numbers ([`turned`](super::turned)).
    Turned,
    /// Points are visited in the order of their numbers, of which this is the next.
    At(Var),
    /// Its sweep is to run by runs of the first key ([`in_runs`](super::in_runs)).
    InRuns,
    /// For each value of the other keys the number and one, of the run at hand.
    Marked(Buffer),
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
    /// word for each key, of which the last holds all keys that are left.
    Keys(Vec<Key>, Vec<Buffer>, Var),
    /// They are counted by their first keys.
    CountFirst(usize, Table),
    /// Words of the other keys are stored at the next place of each first key. The variable counts
    /// the points, if their places do not say how many came before.
    Words(usize, Table, Buffer, Option<Var>),
    /// The other keys of a window are listed, each once.
    Mark((usize, usize), Marks),
}

impl Emitter<'_> {
    /// Makes what finds the windows of the stage's statements.
    pub(super) fn make_windows(&mut self) {
        let computation = self.computation;
        for (number, statement) in computation.statements.iter().enumerate() {
            let mut carries = self.carries.iter();
            let function = carries.find(|it| it.name == statement.target.space);
            let is_below = |it| is_below_table(self.whole, statement, it) == Some(true);
            if function.is_some_and(is_below) {
                self.settled.insert(number);
            }
            for (place, (window, keys)) in statement.value.windows().into_iter().enumerate() {
                let numbering = match (window, keys) {
                    (Window::Ordinal, _) if self.shifted_starts(statement).is_some() => {
                        let starts = self.shifted_starts(statement);
                        let end = counted((self.whole, computation), statement, self.known);
                        if let Some(end) = &end
                            && self.is_settled_by_end(number, end)
                        {
                            self.settled.insert(number);
                        }
                        Numbering::Cursor(starts.expect("just asked"))
                    }
                    (Window::DenseRank, []) => Numbering::Zero,
                    (Window::Slot, keys) => Numbering::Tables(self.places_of_tables(keys)),
                    (_, []) => Numbering::Running(self.builder.var_("points", 0)),
                    (Window::Ordinal, keys) if self.loop_of_keys(number, keys).is_some() => {
                        let variable = self.loop_of_keys(number, keys);
                        Numbering::InLoop(variable.expect("just asked"))
                    }
                    _ if self.keys_ascend(number, keys) => self.follow(window, keys),
                    (Window::Ordinal, [key]) if self.starts(statement, key).is_some() => {
                        let starts = self.starts(statement, key).expect("just asked");
                        let end = counted((self.whole, computation), statement, self.known);
                        if let Some(end) = &end
                            && self.is_settled_by_end(number, end)
                        {
                            self.settled.insert(number);
                        }
                        let counts = self.counts_of_shares(number, &starts);
                        Numbering::Cursor(match counts {
                            Some(counts) => counts,
                            None => self.cursor(&starts, key, end.is_some()),
                        })
                    }
                    (Window::Ordinal, [key]) => {
                        let counts = self.workspace("counts");
                        let len = self.expr(&key.extent);
                        let len = self.builder.let_("extent", len);
                        self.alloc(counts, len);
                        Numbering::Counted(Table::of_all(counts))
                    }
                    _ if self.can_turn(number) => Numbering::Turned,
                    _ if self.has_runs(number, window, keys) => Numbering::InRuns,
                    _ => self.list(number, place, window, keys),
                };
                self.windows.insert((number, place), numbering);
            }
        }
    }

    /// The array `f` of `f(k) + ordinal(k of n)`, if it has entries for all keys.
    pub(super) fn starts(&self, statement: &Statement, key: &Key) -> Option<String> {
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
    fn cursor(&mut self, starts: &str, key: &Key, counted: bool) -> Table {
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
        Table::of_all(cursor)
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
        let statement = &self.computation.statements[number];
        let n = match places(statement, self.known) {
            Some(places) => {
                let [begin, end] = [&places.begin, &places.end].map(|e| self.expr(e));
                let n = end.binary(BinaryOp::Sub, begin).binary(BinaryOp::Max, 0);
                self.builder.let_("n_points", n)
            }
            None => {
                let n = self.builder.var_("n_points", 0);
                self.visit_all(number, Visiting::Count(n));
                n
            }
        };
        let in_place = self.filled_by_window(number);
        if let Some(array) = in_place {
            let (_, most) = range(self.builder.function().buffers[array].storage);
            if most < i64::MAX {
                let is_more = Expr::int(most).less(n);
                self.builder
                    .if_then(is_more, |b| b.fail(Failure::CastOutOfRange));
            }
        }
        let numbers = in_place.unwrap_or_else(|| {
            let numbers = self.workspace("numbers");
            self.alloc(numbers, n);
            numbers
        });
        let point = (number, which);
        let found = |this: &mut Self| match in_place {
            Some(array) => Numbering::InPlace(array),
            None => Numbering::Listed(numbers, this.builder.var_("point", 0)),
        };
        // No table has an entry for each value of the first key.
        if let Some(Expression::Integer(extent)) = keys.first().map(|key| &key.extent)
            && *extent > LARGEST_TABLE
        {
            self.sort_keys(point, (window, keys), n, numbers);
            return found(self);
        }
        let condition = match keys {
            [key] => self.are_few(n, key),
            _ => self.fit_groups(n, window, keys),
        };
        let then = self.written(|this| match keys {
            [key] => this.count_keys(number, (window, key), n, numbers),
            _ => this.number_in_groups(point, (window, keys), n, numbers),
        });
        let otherwise = self.written(|this| this.sort_keys(point, (window, keys), n, numbers));
        self.builder.push(Stmt::If {
            condition,
            then,
            otherwise,
        });
        found(self)
    }

    /// Runs over the points of one statement in their order.
    pub(super) fn visit_all(&mut self, number: usize, visiting: Visiting) {
        self.alone(number, |emitter| {
            emitter.visiting = visiting;
            emitter.make_all_places();
            emitter.run();
        });
    }

    /// Has `write` write loops over the points of one statement.
    pub(super) fn alone<R>(
        &mut self,
        number: usize,
        write: impl FnOnce(&mut Emitter<'_>) -> R,
    ) -> R {
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
        emitter.curves = curves;
        emitter.grain = self.grain;
        let written = write(&mut emitter);
        self.arrays = emitter.arrays;
        self.scanned = Some((number, loops));
        written
    }

    /// Does at a point what is done besides the assignment.
    pub(super) fn note(&mut self, number: usize, tuple: &[Expression]) {
        let windows = self.computation.statements[number].value.windows();
        match self.visiting.clone() {
            Visiting::Assign => unreachable!("assignments are made elsewhere"),
            Visiting::Mark((it, which), run) => {
                if it == number {
                    let (_, keys) = windows[which];
                    let key = self.packed(&keys[1..], tuple);
                    self.mark(run, key);
                }
            }
            Visiting::Count(n) => self.builder.assign(n, Expr::Var(n).add(1)),
            Visiting::Keys(keys, words, place) => {
                let (last, single) = words.split_last().expect("there is a word");
                let (alone, rest) = keys.split_at(single.len());
                for (word, key) in single.iter().zip(alone) {
                    let value = self.packed(std::slice::from_ref(key), tuple);
                    self.builder.store(*word, place, value);
                }
                let value = self.packed(rest, tuple);
                self.builder.store(*last, place, value);
                self.builder.assign(place, Expr::Var(place).add(1));
            }
            Visiting::CountFirst(which, next) => {
                let (_, keys) = windows[which];
                let key = self.packed(&keys[..1], tuple);
                self.count(next, key);
            }
            Visiting::Words(which, next, words, count) => {
                let (_, keys) = windows[which];
                let key = self.packed(&keys[..1], tuple);
                let to = self.take_next(next, key);
                let place = match count {
                    Some(count) => count.into(),
                    None => self.place_of(number, tuple),
                };
                let word = self.packed(&keys[1..], tuple).mul(PLACES).add(place);
                self.builder.store(words, to, word);
                if let Some(count) = count {
                    self.builder.assign(count, Expr::Var(count).add(1));
                }
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
                Numbering::InLoop(variable) => {
                    let begin = self.begins[&variable].clone();
                    self.variables[&variable]
                        .clone()
                        .binary(BinaryOp::Sub, begin)
                }
                Numbering::Ascending(groups) => self.next_of(&groups, keys, tuple),
                Numbering::Cursor(cursor) => {
                    let key = self.packed(keys, tuple);
                    return self.take_next(cursor, key).into();
                }
                Numbering::Counted(counts) => {
                    let key = self.packed(keys, tuple);
                    self.take_next(counts, key).into()
                }
                Numbering::Tables(taken) => self.next_place(taken, keys, tuple),
                Numbering::InPlace(array) => {
                    let target = &self.computation.statements[number].target;
                    let index = target.rewritten(&Point(tuple)).indices;
                    let index = self.index(&target.space, &index);
                    integer(self.builder, array, index)
                }
                Numbering::Turned => unreachable!("its sweep is turned"),
                Numbering::InRuns => unreachable!("its sweep goes by runs"),
                Numbering::Marked(marks) => {
                    let key = self.packed(&keys[1..], tuple);
                    Expr::load(marks, key).binary(BinaryOp::Sub, 1)
                }
                Numbering::At(number) => number.into(),
                Numbering::Listed(numbers, _) if self.share.is_some() => {
                    let place = self.place_of(number, tuple);
                    Expr::load(numbers, place)
                }
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

    /// Counts a point of a key.
    pub(super) fn count(&mut self, table: Table, key: Expr) {
        let key = self.at_key(table, key);
        let one = Some(BinaryOp::Add);
        self.builder
            .store_reduce(table.buffer, key, Expr::int(1), one);
    }

    /// The next number of a key.
    pub(super) fn take_next(&mut self, table: Table, key: Expr) -> Var {
        let key = self.at_key(table, key);
        let key = self.builder.let_("key", key);
        let next = table.buffer;
        let now = self.builder.let_("next", Expr::load(next, key));
        self.builder.store(next, key, Expr::Var(now).add(1));
        self.scattered.numbers.push(now);
        now
    }

    pub(super) fn alloc(&mut self, buffer: Buffer, len: impl Into<Expr>) {
        let len = len.into();
        self.builder.push(Stmt::Alloc { buffer, len });
    }

    /// A workspace of numbers that 32 bits hold.
    pub(super) fn narrow(&mut self, name: &str) -> Buffer {
        let (storage, loaded) = (ElementType::I32, ElementType::I64);
        self.builder
            .buffer(name, storage, loaded, BufferAccess::Workspace)
    }

    pub(super) fn workspace(&mut self, name: &str) -> Buffer {
        let element = ElementType::I64;
        self.builder
            .buffer(name, element, element, BufferAccess::Workspace)
    }
}
