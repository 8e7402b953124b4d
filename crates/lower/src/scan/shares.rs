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

use sparsec_base::mark::Mark;
use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{Access, Update};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Expression, Step, Variable};

use super::emit::{Emitter, Point};
use super::filled::before_next;
use super::window::Visiting;

mod able;
mod cut;
pub(super) mod runs;

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
    /// How many there are.
    pub(super) fn count(self) -> Var {
        self.count
    }

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
pub(super) struct Sweep<'s> {
    pub(super) variable: Variable,
    pub(super) lower: &'s [Vec<Expression>],
    pub(super) upper: &'s [Vec<Expression>],
    pub(super) body: &'s [Step],
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
    pub(super) fn of(step: &'s Step) -> Option<Self> {
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
    pub(super) fn visits(&self) -> Vec<(usize, &'s [Expression])> {
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
        // An entry that is held in a variable belongs to one thread.
        let is_assigned = matches!(self.visiting, Visiting::Assign) && self.held.is_none();
        if self.grain.is_none() || !is_assigned {
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

    /// Runs over the points of one statement in shares.
    pub(super) fn visit_in_shares(&mut self, number: usize, shares: Shares, visiting: Visiting) {
        self.alone(number, |alone| {
            alone.visiting = visiting;
            alone.within = Some(shares);
            alone.make_all_places();
            alone.run();
        });
    }

    /// Does something for each segment between positions, in shares of about as many places: with
    /// the position where the share ends.
    pub(super) fn for_each_segment_in_shares(
        &mut self,
        positions: Buffer,
        n: Var,
        each: impl FnOnce(&mut Self, Var, Var),
    ) {
        let zero = self.builder.let_("begin", 0);
        let places = |_: &mut Self, at: Var| Expr::load(positions, at).add(at);
        let shares = self.cut_between([zero, n], None, Some(places), |_, _| None);
        self.for_each_share(shares, |this, _, lo, hi| {
            let end = Expr::load(positions, hi.clone());
            let end = this.builder.let_("share_end", end);
            this.for_each_at(lo, hi, |this, at| each(this, at, end));
        });
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
            this.for_nest(&sweep, lo, hi);
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
    pub(super) fn for_each_share(
        &mut self,
        shares: Shares,
        body: impl FnOnce(&mut Self, Var, Expr, Expr),
    ) {
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

/// The value that changes no other.
fn identity(update: Update) -> Scalar {
    Scalar::I64(match update {
        Update::Add | Update::Assign => 0,
        Update::Multiply => 1,
        Update::Minimum => i64::MAX,
        Update::Maximum => i64::MIN,
    })
}
