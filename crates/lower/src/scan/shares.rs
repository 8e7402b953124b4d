//! Sweeps in shares, which threads may run at once.
//!
//! A share of a sweep has the points between two values of the outermost variable. Shares end
//! where equal parts of the points do:
//!
//! ```text
//! s0: f(key + 1) += 1                 for c in 0..shares chunks {
//!                                       for q in cuts[c]..cuts[c + 1] { counts[c * N + key] += 1 } }
//! s1: f(x + 1) += f(x)                for x in 0..N {
//!                                       for c in 0..shares {
//!                                         let n = counts[c * N + x]
//!                                         counts[c * N + x] = sum; sum += n }
//!                                       f[x + 1] = sum }
//! s2: g(q) = f(key) + ordinal(key)    for c in 0..shares chunks {
//!                                       for q in cuts[c]..cuts[c + 1] { g = counts[c * N + key]++ } }
//! ```
//!
//! A sweep has shares if no point reads an entry that another point of the sweep writes, and each
//! of its statements is one of these:
//!
//! | statement                               | in shares                                      |
//! |-----------------------------------------|------------------------------------------------|
//! | writes an entry of its outermost variable, place or number | as it stands                |
//! | writes an entry of keys that ascend     | as it stands; shares end where keys change     |
//! | counts points of each key, which are added up | each share has counts of its own         |
//! | numbers points of each key              | each share begins where its counts say         |
//! | combines integers into one              | each share combines its own                    |
//!
//! The results have the same bits at every number of shares. More shares than counts are worth
//! are not made: all copies of the counts together are a quarter as long as the sweep.

use sparsec_base::arena::Id;
use sparsec_base::mark::Mark;
use sparsec_base::{ElementType, Scalar};
use sparsec_computation::segments::places_at;
use sparsec_computation::{Access, Key, Statement, StatementId, Update, Window};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Expression, Step, Variable};

use super::emit::{Emitter, Point};
use super::filled::{before_next, sums};
use super::for_each_expression;
use super::kept::{is_behind, touches};
use super::window::{Numbering, Visiting};

/// The most shares of a sweep.
const MOST_SHARES: i64 = 64;
/// The work of a count that a share has a copy of, in points: cleared, counted up and added up.
const COPY: i64 = 4;

/// Says that each value of the outermost variable has as many points.
const EACH_ALIKE: Option<fn(&mut Emitter<'_>, Var) -> Expr> = None;

/// Where the shares of a sweep end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    count: Var,
    /// The values of the outermost variable at which shares begin, and the end of the last one.
    cuts: Buffer,
}

/// An entry for each key, of which each share may have its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) buffer: Buffer,
    /// How many keys a share has entries for, if shares have their own.
    n_keys: Option<Var>,
    /// By how many entries the first key lies behind the first entry.
    begin: i64,
}

impl Table {
    /// Entries that all points share.
    pub(super) fn of_all(buffer: Buffer) -> Self {
        Self {
            buffer,
            n_keys: None,
            begin: 0,
        }
    }

    /// So many entries for each share.
    pub(super) fn of_shares(buffer: Buffer, n_keys: Var) -> Self {
        Self {
            n_keys: Some(n_keys),
            ..Self::of_all(buffer)
        }
    }

    /// The entries behind those of the keys: counts that are added up to starts.
    pub(super) fn behind(self) -> Self {
        Self { begin: 1, ..self }
    }
}

impl Shares {
    /// How many entries all shares have together, if each has one for each of so many keys.
    pub(super) fn entries(self, n_keys: Var) -> Expr {
        Expr::Var(self.count).mul(n_keys)
    }
}

/// The counts of all shares of a sweep.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    table: Table,
    shares: Shares,
    shape: Shape,
}

/// Which values the outermost variable of a sweep has, and where in the tuple it stands.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    lower: Vec<Vec<Expression>>,
    upper: Vec<Vec<Expression>>,
    element: usize,
    segments: Option<String>,
}

/// A loop outside of all others.
#[derive(Clone, Copy)]
struct Sweep<'s> {
    variable: Variable,
    lower: &'s [Vec<Expression>],
    upper: &'s [Vec<Expression>],
    body: &'s [Step],
}

/// What a share has of an entry that all shares combine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    value: Var,
    /// 1 if a point wrote it.
    is_there: Var,
}

/// What the shares of a sweep do.
#[derive(Debug, Default)]
struct Shared {
    /// The statements that count points of each key.
    counting: Vec<usize>,
    /// The data whose counts say where numbers of points begin.
    numbering: Option<String>,
    /// The key that all points of a value have in one share.
    run: Option<Expression>,
    /// Statements that combine integers into one.
    combining: Vec<usize>,
}

impl<'s> Sweep<'s> {
    fn of(step: &'s Step) -> Option<Self> {
        match step {
            Step::For {
                variable,
                lower,
                upper,
                body,
            } => Some(Self {
                variable: *variable,
                lower,
                upper,
                body,
            }),
            _ => None,
        }
    }

    /// The visits of its points, by statement and tuple.
    fn visits(&self) -> Vec<(usize, &'s [Expression])> {
        let mut visits = Vec::new();
        each_visit(self.body, &mut visits);
        visits
    }

    /// The function whose segments the loop inside runs over: its value at the variable says how
    /// many points come before.
    fn segments(&self) -> Option<String> {
        self.body.iter().find_map(|step| {
            let Step::For { lower, upper, .. } = step else {
                return None;
            };
            let ([lower], [upper]) = (&lower[..], &upper[..]) else {
                return None;
            };
            let ([Expression::Call(name, from)], [Expression::Call(end, to)]) =
                (&lower[..], &upper[..])
            else {
                return None;
            };
            let at = Expression::Variable(self.variable);
            let is_next = before_next(to).is_some_and(|before| *before == at);
            (name == end && from[..] == [at] && is_next).then(|| name.clone())
        })
    }

    fn shape(&self, tuple: &[Expression]) -> Option<Shape> {
        let at = Expression::Variable(self.variable);
        Some(Shape {
            lower: self.lower.to_vec(),
            upper: self.upper.to_vec(),
            element: tuple.iter().position(|element| *element == at)?,
            segments: self.segments(),
        })
    }
}

fn each_visit<'s>(steps: &'s [Step], visits: &mut Vec<(usize, &'s [Expression])>) {
    for step in steps {
        match step {
            Step::Visit { number, tuple } => visits.push((*number, tuple)),
            Step::For { body, .. } | Step::If { body, .. } => each_visit(body, visits),
            Step::Where { search, body, .. } => {
                each_visit(search, visits);
                each_visit(body, visits);
            }
            Step::Let { .. } | Step::Found => {}
        }
    }
}

impl Emitter<'_> {
    /// Runs a loop outside of all others in shares, if it can.
    pub(super) fn run_in_shares(&mut self, step: &Step) -> bool {
        let (Some(sweep), true) = (Sweep::of(step), self.is_outermost) else {
            return false;
        };
        if let Some(shares) = self.within {
            self.run_shares(sweep, shares, &[]);
            return true;
        }
        if self.grain.is_none() || !matches!(self.visiting, Visiting::Assign) {
            return false;
        }
        if self.is_added_up(&sweep) {
            return true;
        }
        let Some(shared) = self.shared(&sweep) else {
            return false;
        };
        let shares = match &shared.numbering {
            Some(starts) => self.arrays.counts[starts].shares,
            None => self.count_in_shares(&sweep, &shared),
        };
        self.run_shares(sweep, shares, &shared.combining);
        true
    }

    /// The counts that say where the numbers of a statement's points begin in each share, if its
    /// sweep has shares.
    pub(super) fn counts_of_shares(&self, number: usize, starts: &str) -> Option<Table> {
        let counts = self.arrays.counts.get(starts)?;
        let sweep = self.loops.body.iter().filter_map(Sweep::of);
        let mut sweeps = sweep.filter(|sweep| {
            let visits = sweep.visits();
            visits.iter().any(|(visited, _)| *visited == number)
        });
        let (Some(sweep), None) = (sweeps.next(), sweeps.next()) else {
            return None;
        };
        let shared = self.shared(&sweep)?;
        (shared.numbering.as_deref() == Some(starts)).then_some(counts.table)
    }

    /// What the shares of a sweep do, if it can have shares.
    fn shared(&self, sweep: &Sweep<'_>) -> Option<Shared> {
        self.grain?;
        let visits = sweep.visits();
        let mut shared = Shared::default();
        for (at, (number, tuple)) in visits.iter().enumerate() {
            let statement = &self.computation.statements[*number];
            let is_alike = visits[..at].iter().all(|(other, at)| {
                let other_statement = &self.computation.statements[*other];
                other != number && writes_alike((statement, tuple), (other_statement, at))
            });
            if !is_alike || !self.reads_its_own(*number, &visits) {
                return None;
            }
            self.number_in_shares((*number, tuple), sweep, &mut shared)?;
            if self.is_one_entry(statement) {
                self.combines(*number, &visits).then_some(())?;
                shared.combining.push(*number);
            } else if self.is_apart((*number, tuple), sweep, &visits) {
            } else if self.counts_in_shares(*number, sweep) {
                shared.counting.push(*number);
            } else {
                let key = self.run_of((*number, tuple), sweep)?;
                if shared.run.as_ref().is_some_and(|run| *run != key) {
                    return None;
                }
                shared.run = Some(key);
            }
        }
        let is_cut_twice =
            shared.numbering.is_some() && (shared.run.is_some() || !shared.counting.is_empty());
        (!is_cut_twice && !visits.is_empty()).then_some(shared)
    }

    /// Whether a statement reads no entry that another point of the sweep writes.
    fn reads_its_own(&self, number: usize, visits: &[(usize, &[Expression])]) -> bool {
        let statement = &self.computation.statements[number];
        let is_own = |space: &str, indices: &[Expression]| {
            let mut others = visits
                .iter()
                .map(|(other, _)| &self.computation.statements[*other]);
            let writes = |other: &&Statement| other.target.space == space;
            let mut is_written = others.clone().filter(writes).peekable();
            is_written.peek().is_none()
                || others.any(|other| {
                    writes(&other)
                        && other.target.indices == indices
                        && other.update == Update::Assign
                        && is_behind(statement, other)
                })
        };
        let entries = statement.value.entries();
        let mut reads = entries
            .iter()
            .all(|access| is_own(&access.space, &access.indices));
        for_each_expression(statement, &mut |e| {
            e.visit(&mut |e| match e {
                Expression::Call(name, indices) => reads &= is_own(name, indices),
                Expression::Constant(name) => reads &= is_own(name, &[]),
                _ => {}
            });
        });
        reads
    }

    /// Whether all points of a statement write one entry.
    fn is_one_entry(&self, statement: &Statement) -> bool {
        let mut is_one = true;
        for index in &statement.target.indices {
            index.visit(&mut |e| {
                is_one &= !matches!(e, Expression::Variable(_) | Expression::Call(..));
            });
        }
        is_one
    }

    /// Whether shares can combine what a statement writes to one entry: integers that the sweep
    /// does not read.
    fn combines(&self, number: usize, visits: &[(usize, &[Expression])]) -> bool {
        let statement = &self.computation.statements[number];
        let target = &statement.target;
        let reads = |(other, _): &(usize, &[Expression])| {
            let other = &self.computation.statements[*other];
            let mut others = other.value.entries().into_iter();
            let mut is_followed = others.any(|access| access.space == target.space);
            for_each_expression(other, &mut |e| {
                is_followed |= super::first_name(e, &|name| name == target.space).is_some();
            });
            is_followed
        };
        self.element(target) == ElementType::I64 && !visits.iter().any(reads)
    }

    /// Notes how the points of a statement are numbered; `None` if not in shares.
    fn number_in_shares(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
        shared: &mut Shared,
    ) -> Option<()> {
        let statement = &self.computation.statements[number];
        for (place, (window, keys)) in statement.value.windows().into_iter().enumerate() {
            match (window, keys) {
                (Window::DenseRank, []) => {}
                (Window::Ordinal, [key]) if !self.is_at_place(number, place) => {
                    let starts = self.starts(statement, key)?;
                    let counts = self.arrays.counts.get(&starts)?;
                    let is_other = shared.numbering.as_ref().is_some_and(|it| *it != starts);
                    let is_same = self.is_counted(number)
                        && Some(&counts.shape) == sweep.shape(tuple).as_ref();
                    if is_other || !is_same {
                        return None;
                    }
                    shared.numbering = Some(starts);
                }
                _ if self.is_at_place(number, place) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether the number of a point follows from its place alone.
    fn is_at_place(&self, number: usize, place: usize) -> bool {
        let listed = || {
            let id = StatementId::from_index(number);
            let place = self.place(number);
            place.is_some_and(|(at, _)| self.computation.grows(id, &Expression::Variable(at)))
        };
        match self.windows.get(&(number, place)) {
            Some(Numbering::InPlace(_) | Numbering::InLoop(_)) => true,
            Some(Numbering::Listed(..)) => listed(),
            _ => false,
        }
    }

    /// Whether points at different values of the outermost variable write different entries.
    fn is_apart(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
        visits: &[(usize, &[Expression])],
    ) -> bool {
        let statement = &self.computation.statements[number];
        let is_place = |e: &Expression| match e {
            Expression::Variable(at) => places_at(statement, *at, self.known).is_some(),
            _ => false,
        };
        let is_number = |e: &Expression| {
            let Expression::Call(name, arguments) = e else {
                return false;
            };
            let mut others = visits
                .iter()
                .map(|(other, _)| (*other, &self.computation.statements[*other]));
            let is_numbered = others.any(|(other, it)| {
                it.target.space == *name
                    && it.target.indices == *arguments
                    && self.is_counted(other)
            });
            let function = self.known.function(name);
            let is_injective = function.is_some_and(|function| {
                use sparsec_relation::Monotone::{Decreasing, Increasing};
                function.injective || matches!(function.monotone, Some(Increasing | Decreasing))
            });
            matches!(&arguments[..], [at] if is_place(at)) && (is_numbered || is_injective)
        };
        let at = Expression::Variable(sweep.variable);
        let is_outermost = |e: &Expression| {
            let e = e.rewritten(&Point(tuple));
            e == at
                || matches!(&e, Expression::Add(a, b) if **a == at && matches!(**b, Expression::Integer(_)))
        };
        // Values from 0 to n, beside multiples of n.
        let is_remainder = |e: &Expression| {
            let Expression::Add(many, one) = e.rewritten(&Point(tuple)) else {
                return false;
            };
            let (zero, n) = (Expression::Integer(0), &sweep.upper);
            let is_multiple = match &*many {
                Expression::Multiply(a, b) => n
                    .iter()
                    .any(|n| n[..] == [(**a).clone()] || n[..] == [(**b).clone()]),
                _ => false,
            };
            let is_whole = sweep.lower == [[zero]] && n.len() == 1;
            *one == at && is_multiple && is_whole
        };
        let mut indices = statement.target.indices.iter();
        indices.any(|e| is_outermost(e) || is_place(e) || is_number(e) || is_remainder(e))
            || sweep.shape(tuple).is_some_and(|shape| {
                let id = StatementId::from_index(number);
                self.computation.writes_apart(id, shape.element)
            })
    }

    /// Whether a statement numbers points of each key from the starts that counts of the same points
    /// give, so no two of them have one number.
    fn is_counted(&self, number: usize) -> bool {
        let statement = &self.computation.statements[number];
        super::filled::counted((self.whole, self.computation), statement, self.known).is_some()
    }

    /// Whether a statement counts points of keys that a loop of its own adds up, and nothing else
    /// of the stage reads.
    fn counts_in_shares(&self, number: usize, sweep: &Sweep<'_>) -> bool {
        let statement = &self.computation.statements[number];
        let name = &statement.target.space;
        let Some(sums) = sums(self.whole, name).filter(|_| self.totals.contains_key(name)) else {
            return false;
        };
        let buffer = self.arrays.spaces[name];
        let is_loaded = self.builder.function().buffers[buffer].compute == ElementType::I64;
        let mut statements = self.computation.statements.iter().enumerate();
        let is_alone = statements
            .all(|(other, it)| other == number || !touches(it, name) || self.is_sum(other, name));
        let mut sweeps = self.loops.body.iter().filter_map(Sweep::of);
        let is_added_up = sweeps.any(|other| match other.visits()[..] {
            [(sum, _)] => self.is_sum(sum, name),
            _ => false,
        });
        let visits = sweep.visits();
        let visit = visits.iter().find(|(visited, _)| *visited == number);
        let has_shape = visit.is_some_and(|(_, tuple)| sweep.shape(tuple).is_some());
        sums.count.name == statement.name && is_loaded && is_alone && is_added_up && has_shape
    }

    /// Whether a statement adds up the counts of data.
    fn is_sum(&self, number: usize, name: &str) -> bool {
        let statement = &self.computation.statements[number];
        statement.target.space == name
            && matches!(statement.value, sparsec_computation::Value::Entry(_))
    }

    /// The key of a statement that writes at its key, if keys ascend.
    fn run_of(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
    ) -> Option<Expression> {
        let statement = &self.computation.statements[number];
        let [index] = &statement.target.indices[..] else {
            return None;
        };
        let value = before_next(std::slice::from_ref(index)).unwrap_or(index);
        let key = Key {
            value: value.clone(),
            extent: Expression::Integer(0),
        };
        let id = StatementId::from_index(number);
        let is_flat = sweep
            .body
            .iter()
            .all(|step| matches!(step, Step::Let { .. } | Step::Visit { .. }));
        let key_at = self.in_terms_of(&value.rewritten(&Point(tuple)), sweep)?;
        (is_flat && self.computation.keys_ascend(id, &[key])).then_some(key_at)
    }

    /// An expression of the variables that a sweep defines, by its outermost variable alone.
    fn in_terms_of(&self, e: &Expression, sweep: &Sweep<'_>) -> Option<Expression> {
        struct Definitions<'s>(&'s [Step]);
        impl sparsec_relation::Rewrite for Definitions<'_> {
            fn variable(&self, wanted: Variable) -> Expression {
                let value = self.0.iter().find_map(|step| match step {
                    Step::Let { variable, value } if *variable == wanted => Some(value),
                    _ => None,
                });
                match value {
                    Some(value) => value.rewritten(self),
                    None => Expression::Variable(wanted),
                }
            }
        }
        let e = e.rewritten(&Definitions(sweep.body));
        let mut is_of_variable = true;
        e.visit(&mut |e| {
            if let Expression::Variable(variable) = e {
                is_of_variable &= *variable == sweep.variable;
            }
        });
        is_of_variable.then_some(e)
    }

    /// Cuts a sweep into shares, and makes the counts that each has of its own.
    fn count_in_shares(&mut self, sweep: &Sweep<'_>, shared: &Shared) -> Shares {
        let mut tables = Vec::new();
        let mut copied: Option<Expr> = None;
        for &number in &shared.counting {
            let name = self.computation.statements[number].target.space.clone();
            let sums = sums(self.whole, &name).expect("it counts");
            let n_keys = self.expr(&sums.n_keys).binary(BinaryOp::Max, 0);
            let n_keys = self.builder.let_("n_keys", n_keys);
            copied = Some(match copied {
                None => n_keys.into(),
                Some(before) => before.add(n_keys),
            });
            tables.push((number, name, n_keys));
        }
        let shares = self.cut(sweep, copied, shared.run.as_ref());
        for (number, name, n_keys) in tables {
            let buffer = self.arrays.spaces[&name];
            let buffer = match self.builder.function().buffers[buffer].storage {
                ElementType::I64 => self.workspace("counts"),
                _ => self.narrow("counts"),
            };
            self.alloc(buffer, shares.entries(n_keys));
            let table = Table::of_shares(buffer, n_keys);
            self.counting.insert(number, table);
            let visits = sweep.visits();
            let visit = visits.iter().find(|(visited, _)| *visited == number);
            let shape = sweep.shape(visit.expect("it is visited").1);
            let counts = Counts {
                table,
                shares,
                shape: shape.expect("asked before"),
            };
            self.arrays.counts.insert(name, counts);
        }
        shares
    }

    /// The shares of the loops over one statement's points, for counts of so many keys; `None` if
    /// they have none.
    pub(super) fn shares_of(&mut self, number: usize, n_keys: Var) -> Option<Shares> {
        self.grain?;
        let (place, _) = self.place(number)?;
        let id = StatementId::from_index(number);
        if !self.computation.grows(id, &Expression::Variable(place)) {
            return None;
        }
        self.alone(number, |alone| {
            let [step] = &alone.loops.body[..] else {
                return None;
            };
            let sweep = Sweep::of(step)?;
            Some(alone.cut(&sweep, Some(n_keys.into()), None))
        })
    }

    /// Runs over the points of one statement in shares.
    pub(super) fn visit_in_shares(&mut self, number: usize, shares: Shares, visiting: Visiting) {
        self.alone(number, |alone| {
            alone.visiting = visiting;
            alone.within = Some(shares);
            alone.make_all_places();
            alone.run();
        });
    }

    /// The variable of a statement that is a place, and the first place.
    fn place(&self, number: usize) -> Option<(Variable, Expression)> {
        let statement = &self.computation.statements[number];
        let mut variables = statement.variables();
        variables.find_map(|at| Some((at, places_at(statement, at, self.known)?.begin)))
    }

    /// How many points of a statement come before this one, whose place says it.
    pub(super) fn place_of(&mut self, number: usize, tuple: &[Expression]) -> Expr {
        let (place, begin) = self.place(number).expect("asked before");
        let place = self.expr(&tuple[place.index()]);
        match begin {
            Expression::Integer(0) => place,
            begin => place.binary(BinaryOp::Sub, self.expr(&begin)),
        }
    }

    /// Does something for each segment between positions, in shares of about as many places.
    pub(super) fn for_each_segment_in_shares(
        &mut self,
        positions: Buffer,
        n: Var,
        each: impl FnOnce(&mut Self, Var),
    ) {
        let zero = self.builder.let_("begin", 0);
        let places = |_: &mut Self, at: Var| Expr::load(positions, at).add(at);
        let shares = self.cut_between([zero, n], None, Some(places), |_, _| None);
        self.for_each_share(shares, |this, _, lo, hi| this.for_each_at(lo, hi, each));
    }

    /// Cuts a sweep into shares of about as many points, so many that copies of `copied` entries
    /// for each are a part of the work. All points with one value of `run` are in one share.
    fn cut(&mut self, sweep: &Sweep<'_>, copied: Option<Expr>, run: Option<&Expression>) -> Shares {
        let lo = self.bound(sweep.lower, BinaryOp::Min, BinaryOp::Max);
        let hi = self.bound(sweep.upper, BinaryOp::Max, BinaryOp::Min);
        let lo = self.builder.let_("begin", lo);
        let hi = self.builder.let_("end", hi.binary(BinaryOp::Max, lo));
        let segments = sweep.segments();
        let points = segments.map(|name| {
            move |this: &mut Self, at: Var| {
                this.variables.insert(sweep.variable, at.into());
                let e = Expression::Call(name.clone(), vec![Expression::Variable(sweep.variable)]);
                this.expr(&e).add(at)
            }
        });
        let run = |this: &mut Self, at: Expr| {
            run.map(|run| {
                this.variables.insert(sweep.variable, at);
                this.expr(run)
            })
        };
        self.cut_between([lo, hi], copied, points, run)
    }

    /// Cuts `lo..hi` into shares. `points` says how many points come before a value, up to a
    /// constant, if each value does not have as many; `run` may name values that stay together.
    fn cut_between(
        &mut self,
        [lo, hi]: [Var; 2],
        copied: Option<Expr>,
        points: Option<impl Fn(&mut Self, Var) -> Expr>,
        run: impl Fn(&mut Self, Expr) -> Option<Expr>,
    ) -> Shares {
        let count = self.builder.var_("shares", 1);
        let cuts = self.workspace("cuts");
        self.alloc(cuts, MOST_SHARES + 1);
        self.builder.store(cuts, 0, lo);
        let then = self.written(|this| {
            let [first, last] = [lo, hi].map(|at| match &points {
                None => at,
                Some(points) => {
                    let at = points(this, at);
                    this.builder.let_("points", at)
                }
            });
            let work = Expr::Var(last).binary(BinaryOp::Sub, first);
            let work = this.builder.let_("work", work);
            let mut each = Expr::int(this.grain.unwrap_or(i64::MAX >> 8));
            if let Some(copied) = copied {
                each = each.add(copied.mul(COPY));
            }
            let each = this.builder.let_("each", each);
            let is_worth = Expr::Var(count).mul(each).less(work);
            let goes_on = Expr::Var(count).less(MOST_SHARES).and(is_worth);
            this.builder
                .while_loop(goes_on, |b| b.assign(count, Expr::Var(count).mul(2)));
            this.for_each_at(Expr::int(1), count, |this, share| {
                let part = Expr::Var(work).mul(share).binary(BinaryOp::FloorDiv, count);
                let wanted = this.builder.let_("wanted", Expr::Var(first).add(part));
                let before = Expr::Var(share).binary(BinaryOp::Sub, 1);
                let at = Expr::load(cuts, before);
                let at = match &points {
                    None => this.builder.var_("cut", at.binary(BinaryOp::Max, wanted)),
                    Some(points) => this.first_after(points, wanted, [at, hi.into()]),
                };
                // A share begins where another run does.
                let inside = Expr::Var(lo).less(at).and(Expr::Var(at).less(hi));
                let now = run(this, at.into());
                let before = run(this, Expr::Var(at).binary(BinaryOp::Sub, 1));
                if let (Some(now), Some(before)) = (now, before) {
                    let goes_on = inside.and(now.equals(before));
                    this.builder
                        .while_loop(goes_on, |b| b.assign(at, Expr::Var(at).add(1)));
                }
                this.builder.store(cuts, share, at);
            });
        });
        self.builder.push(Stmt::If {
            condition: Expr::Var(lo).less(hi),
            then,
            otherwise: Vec::new(),
        });
        self.builder.store(cuts, count, hi);
        Shares { count, cuts }
    }

    /// The first value from `lo` on, or else `hi`, before which so many points come.
    fn first_after(
        &mut self,
        points: &impl Fn(&mut Self, Var) -> Expr,
        wanted: Var,
        [lo, hi]: [Expr; 2],
    ) -> Var {
        let at = self.builder.var_("cut", lo);
        let above = self.builder.var_("above", hi);
        let body = self.written(|this| {
            let middle = Expr::Var(above).binary(BinaryOp::Sub, at);
            let middle = Expr::Var(at).add(middle.binary(BinaryOp::FloorDiv, 2));
            let middle = this.builder.let_("middle", middle);
            let condition = points(this, middle).less(wanted);
            let then = this.written(|this| this.builder.assign(at, Expr::Var(middle).add(1)));
            let otherwise = this.written(|this| this.builder.assign(above, middle));
            this.builder.push(Stmt::If {
                condition,
                then,
                otherwise,
            });
        });
        let condition = Expr::Var(at).less(above);
        self.builder.push(Stmt::While { condition, body });
        at
    }

    /// Runs the shares of a sweep, and combines the integers that they combined.
    fn run_shares(&mut self, sweep: Sweep<'_>, shares: Shares, combining: &[usize]) {
        let mut parts: Vec<(Access, Update, [Buffer; 2])> = Vec::new();
        for &number in combining {
            let statement = &self.computation.statements[number];
            let (target, update) = (statement.target.clone(), statement.update);
            if !parts.iter().any(|(other, ..)| *other == target) {
                let buffers = ["parts", "has_part"].map(|name| self.workspace(name));
                for buffer in buffers {
                    self.alloc(buffer, MOST_SHARES);
                }
                parts.push((target, update, buffers));
            }
        }
        self.for_each_share(shares, |this, share, lo, hi| {
            for (target, update, _) in &parts {
                let part = Part {
                    value: this.builder.var_("part", identity(*update)),
                    is_there: this.builder.var_("is_there", 0),
                };
                this.parts.insert(target.space.clone(), part);
            }
            this.for_each(sweep.variable, lo, hi, sweep.body);
            for (target, _, [values, are_there]) in &parts {
                let part = this.parts.remove(&target.space).expect("just made");
                this.builder.store(*values, share, part.value);
                this.builder.store(*are_there, share, part.is_there);
            }
        });
        // In their order: the last share that has a point assigns the entry.
        for (target, update, [values, are_there]) in parts {
            self.for_each_at(Expr::int(0), shares.count, |this, share| {
                let then = this.written(|this| {
                    let part = Expr::load(values, share);
                    this.store_at(&target, part, Emitter::operation(update));
                });
                this.builder.push(Stmt::If {
                    condition: Expr::int(0).less(Expr::load(are_there, share)),
                    then,
                    otherwise: Vec::new(),
                });
            });
        }
    }

    /// Combines a value with the part of the share at hand, if shares combine its target.
    pub(super) fn is_combined_in_share(
        &mut self,
        target: &Access,
        value: &Expr,
        operation: Option<BinaryOp>,
    ) -> bool {
        let Some(&part) = self.parts.get(&target.space) else {
            return false;
        };
        let value = match operation {
            None => value.clone(),
            Some(op) => Expr::Var(part.value).binary(op, value.clone()),
        };
        self.builder.assign(part.value, value);
        self.builder.assign(part.is_there, 1);
        true
    }

    /// `for share in 0..n chunks { body from its begin to its end }`
    fn for_each_share(&mut self, shares: Shares, body: impl FnOnce(&mut Self, Var, Expr, Expr)) {
        let share = self.builder.fixed("share", ElementType::I64);
        self.share = Some(share);
        let next = Expr::Var(share).add(1);
        let body = self.written(|this| {
            let [lo, hi] = [("first", share.into()), ("last", next)]
                .map(|(name, at)| this.builder.let_(name, Expr::load(shares.cuts, at)));
            body(this, share, lo.into(), hi.into());
        });
        self.share = None;
        self.builder.push(Stmt::For {
            var: share,
            lo: Expr::int(0),
            hi: shares.count.into(),
            mark: Mark {
                chunks: true,
                ..Mark::default()
            },
            body,
        });
    }

    /// Where the entry of a key is, in the share at hand.
    pub(super) fn at_key(&mut self, table: Table, key: Expr) -> Expr {
        match (table.n_keys, self.share) {
            (Some(n_keys), Some(share)) => Expr::Var(share).mul(n_keys).add(key),
            _ if table.begin != 0 => key.add(table.begin),
            _ => key,
        }
    }

    /// Counts a point, if its statement counts in shares.
    pub(super) fn is_counted_in_share(&mut self, number: usize, tuple: &[Expression]) -> bool {
        let Some(&table) = self.counting.get(&number) else {
            return false;
        };
        let target = self.computation.statements[number]
            .target
            .rewritten(&Point(tuple));
        let key = before_next(&target.indices).expect("it counts behind its key");
        let key = self.expr(key);
        self.count(table, key);
        true
    }

    /// Adds up the counts of shares, if that is what a sweep does.
    fn is_added_up(&mut self, sweep: &Sweep<'_>) -> bool {
        let [(number, _)] = sweep.visits()[..] else {
            return false;
        };
        let name = &self.computation.statements[number].target.space;
        let Some(counts) = self
            .arrays
            .counts
            .get(name)
            .filter(|_| self.is_sum(number, name))
        else {
            return false;
        };
        let (table, shares, sums) = (counts.table, counts.shares, self.arrays.spaces[name]);
        self.add_up_shares(table, shares, sums);
        true
    }

    /// Adds up what shares counted: `sums[x + 1]` has all points of keys up to `x`, and each share
    /// the number of its first point of each key.
    pub(super) fn add_up_shares(&mut self, table: Table, counted: Shares, sums: Buffer) {
        let n_keys = table.n_keys.expect("shares have counts");
        let zero = self.builder.let_("begin", 0);
        let shares = self.cut_between([zero, n_keys], None, EACH_ALIKE, |_, _| None);
        let totals = self.workspace("totals");
        self.alloc(totals, MOST_SHARES + 1);
        let entry = |share: Var, key: Var| Expr::Var(share).mul(n_keys).add(key);
        self.for_each_share(shares, |this, part, lo, hi| {
            let sum = this.builder.var_("sum", 0);
            this.for_each_at(lo, hi, |this, key| {
                this.for_each_at(Expr::int(0), counted.count, |this, share| {
                    let n = Expr::load(table.buffer, entry(share, key));
                    this.builder.assign(sum, Expr::Var(sum).add(n));
                });
            });
            this.builder.store(totals, Expr::Var(part).add(1), sum);
        });
        self.add_up(totals, shares.count);
        self.for_each_share(shares, |this, part, lo, hi| {
            let sum = this.builder.var_("sum", Expr::load(totals, part));
            this.for_each_at(lo, hi, |this, key| {
                this.for_each_at(Expr::int(0), counted.count, |this, share| {
                    let at = this.builder.let_("at", entry(share, key));
                    let n = this.builder.let_("n", Expr::load(table.buffer, at));
                    this.builder.store(table.buffer, at, sum);
                    this.builder.assign(sum, Expr::Var(sum).add(n));
                });
                this.builder.store(sums, Expr::Var(key).add(1), sum);
            });
        });
    }
}

/// Whether two statements write different data, or the same entries in the same way.
fn writes_alike(
    (a, at_a): (&Statement, &[Expression]),
    (b, at_b): (&Statement, &[Expression]),
) -> bool {
    let entry = |of: &Statement, at: &[Expression]| of.target.rewritten(&Point(at));
    a.target.space != b.target.space
        || entry(a, at_a) == entry(b, at_b) && a.space == b.space && a.update == b.update
}

/// The value that changes no other.
fn identity(update: Update) -> Scalar {
    Scalar::I64(match update {
        Update::Add | Update::Assign => 0,
        Update::Multiply => 1,
        Update::Minimum => i64::MAX,
        Update::Maximum => i64::MIN,
    })
}
