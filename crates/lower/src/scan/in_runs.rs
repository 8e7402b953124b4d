//! Dense ranks in sweeps whose outermost loop ascends by the first key.
//!
//! Iterations with the same first key are a run. No other run has points with this key, so a run can
//! be numbered by itself. It is visited twice: first to list its other keys, then with their numbers in
//! a table. No number and no key of a point is stored:
//!
//! ```text
//! while first < end {
//!   behind = first
//!   do { for each point of behind {
//!          if marks[key] <= before { marks[key] = before + 1; listed[n] = key; n += 1 } }
//!        behind += 1 } while behind < end && group(behind) == group(first)
//!   for at in 0..n {
//!     number = before + rank of listed[at]
//!     marks[listed[at]] = number + 1; crd[number] = listed[at] }
//!   for each point of first..behind { number = marks[key] - 1; … }
//!   before += n; n = 0; first = behind }
//! ```
//!
//! Statements that store the other key at its number do so as keys are numbered.
//!
//! A sweep that only counts the numbers visits each run once, and lists no keys:
//!
//! ```text
//! n max= number + 1                  n max= before
//! pos(group + 1) max= number + 1     pos(group + 1) max= before      where the run has points
//! ```

use sparsec_base::Scalar;
use sparsec_computation::segments::places;
use sparsec_computation::{Key, Update, Value, Window};
use sparsec_loop::{BinaryOp, Buffer, Expr, Failure, Stmt, Var};
use sparsec_relation::{Expression, Step};

use super::cleared::Filling;
use super::emit::{Emitter, Point};
use super::groups::FEW_KEYS;
use super::kept::touches;
use super::run::FirstKey;
use super::shares::Sweep;
use super::shares::runs::RunShares;
use super::sorted::{MOST_COUNTED, SMALL_TABLE};
use super::window::{Numbering, Visiting};

/// A window by its statement and its place there.
type Place = (usize, usize);

/// The arrays and counters that list the other keys of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// For each key its number and one, of the last run that has it.
    marks: Buffer,
    /// The keys of the run, where they are asked for.
    listed: Option<Listed>,
    /// How many the run has so far.
    n: Var,
    /// How many the runs before have.
    before: Var,
}

/// A statement that counts the numbers of runs, with its point.
pub(super) type Counted<'s> = (usize, &'s [Expression]);

/// A sweep by the runs of a ranked statement.
struct Runs<'s> {
    /// The statement, and its window.
    place: Place,
    keys: &'s [Key],
    sweep: &'s Sweep<'s>,
    /// How many other keys there may be.
    n_keys: Var,
    /// The other statements, if the sweep only counts numbers.
    counts: Option<Vec<Counted<'s>>>,
    shares: Option<RunShares>,
}

/// Where the keys of a run are listed.
#[derive(Clone, Copy, Debug)]
struct Listed {
    list: Buffer,
    /// The last one, and whether one was less than the one before it.
    last: Var,
    is_mixed: Var,
}

impl Emitter<'_> {
    /// Whether the sweep of a statement can run by runs of the first key.
    pub(super) fn has_runs(&self, number: usize, window: Window, keys: &[Key]) -> bool {
        let is_ranked = window == Window::DenseRank && keys.len() > 1;
        let statement = &self.computation.statements[number];
        let mut visits = Vec::new();
        all_visits(&self.loops.body, &mut visits);
        let is_visited_once = visits.iter().filter(|(it, _)| *it == number).count() == 1;
        // A loop goes by the runs of one window.
        let is_taken = || {
            let mut steps = self.loops.body.iter();
            let step = steps.find(|step| visited(std::slice::from_ref(step), number).is_some());
            step.and_then(|step| self.window_of_runs(step)).is_some()
        };
        is_ranked
            && matches!(self.visiting, Visiting::Assign)
            && is_visited_once
            && !is_taken()
            && self.first_key(number, &keys[0], &self.loops.body).is_some()
            && self.keys_ascend(number, &keys[..1])
            && places(statement, self.known).is_some()
    }

    /// The window by whose runs a loop goes.
    pub(super) fn window_of_runs(&self, step: &Step) -> Option<Place> {
        let Step::For { body, .. } = step else {
            return None;
        };
        let mut windows = self.windows.iter();
        let found = windows.find(|((number, _), numbering)| {
            matches!(numbering, Numbering::InRuns) && visited(body, *number).is_some()
        });
        found.map(|(place, _)| *place)
    }

    /// The loop by runs if there is room for a table of the other keys, and after a sort if not.
    pub(super) fn run_in_runs(
        &mut self,
        (number, which): Place,
        sweep: &Sweep<'_>,
        (lo, hi): (Expr, Expr),
    ) {
        let statement = &self.computation.statements[number];
        let (window, keys) = statement.value.windows()[which];
        let places = places(statement, self.known).expect("asked before");
        let [begin, end] = [&places.begin, &places.end].map(|e| self.expr(e));
        let n = end.binary(BinaryOp::Sub, begin).binary(BinaryOp::Max, 0);
        let n = self.builder.let_("n_points", n);
        let most = Expr::Var(n).add(SMALL_TABLE);
        let room = self.builder.var_("room", most);
        let mut n_keys = Expr::int(1);
        for key in &keys[1..] {
            let extent = self.expr(&key.extent).binary(BinaryOp::Max, 1);
            let extent = self.builder.let_("extent", extent);
            let left = Expr::Var(room).binary(BinaryOp::FloorDiv, extent);
            self.builder.assign(room, left);
            n_keys = n_keys.mul(extent);
        }
        let fits = Expr::Var(n).less(MOST_COUNTED);
        let fits = fits.and(Expr::int(0).less(room));
        let fits = self.builder.let_("fits", fits);
        // Where they do not fit, their product may be anything.
        let none = Expr::int(0);
        let n_keys = self.builder.let_(
            "n_keys",
            Expr::Select {
                condition: Box::new(fits.into()),
                then: Box::new(n_keys),
                otherwise: Box::new(none),
            },
        );
        let counts = self.counts_of_runs(number, keys, sweep);
        let shares = self.shares_of_runs((number, keys), sweep, counts.as_deref(), n_keys);
        let runs = Runs {
            place: (number, which),
            keys,
            sweep,
            n_keys,
            counts,
            shares,
        };
        let then = self.written(|this| this.by_runs(&runs, (lo.clone(), hi.clone())));
        self.settled.remove(&number);
        let otherwise = self.written(|this| {
            this.fill_for(number);
            let numbers = this.workspace("numbers");
            this.alloc(numbers, n);
            this.sort_keys((number, which), (window, keys), n, numbers);
            let next = this.builder.var_("point", 0);
            let listed = Numbering::Listed(numbers, next);
            this.windows.insert((number, which), listed);
            this.for_each(sweep.variable, lo, hi, sweep.body);
        });
        self.builder.push(Stmt::If {
            condition: fits.into(),
            then,
            otherwise,
        });
    }

    fn by_runs(&mut self, runs: &Runs<'_>, (lo, hi): (Expr, Expr)) {
        let (number, _) = runs.place;
        let first_key = self.first_key(number, &runs.keys[0], &self.loops.body);
        let first_key = first_key.expect("asked before");
        let mut table = |name: &str| {
            let buffer = match runs.shares {
                None => self.narrow(name),
                Some(_) => self.narrow_of_thread(name),
            };
            self.alloc(buffer, runs.n_keys);
            buffer
        };
        let marks = table("marks");
        let list = runs.counts.is_none().then(|| table("listed"));
        self.windows.insert(runs.place, Numbering::Marked(marks));
        let (stored, _) = self.keys_stored(number, runs.keys, runs.sweep.body);
        let Some(shares) = &runs.shares else {
            let fillings = self.begin_filling(number, &stored, None);
            let before = self.builder.var_("before", 0);
            self.each_run(runs, (&first_key, marks, list), (lo, hi), before, &fillings);
            return self.fill_rest(before, &fillings);
        };
        let totals = shares.totals;
        self.for_each_share(shares.shares, |this, share, lo, hi| {
            this.clear_marks(marks, runs.n_keys);
            let next = Expr::Var(share).add(1);
            let [first, behind] = match runs.counts {
                Some(_) => [Expr::int(0), Expr::int(0)],
                None => [Expr::load(totals, share), Expr::load(totals, next.clone())],
            };
            let first = this.builder.let_("first_number", first);
            let behind = this.builder.let_("behind_numbers", behind);
            let fillings = this.begin_filling(number, &stored, Some([first, behind]));
            let before = this.builder.var_("before", first);
            this.each_run(runs, (&first_key, marks, list), (lo, hi), before, &fillings);
            match runs.counts {
                Some(_) => this.builder.store(totals, next, before),
                None => this.fill_rest(before, &fillings),
            }
        });
        match &runs.counts {
            Some(counts) => self.add_up_runs(shares, (&first_key, runs.keys), counts),
            None => {
                let all = Expr::load(totals, shares.shares.count());
                let all = self.builder.let_("n_numbers", all);
                self.fill_behind(number, all);
            }
        }
    }

    /// Visits runs one after the other; `before` numbers were given before the first one.
    fn each_run(
        &mut self,
        runs: &Runs<'_>,
        (first_key, marks, list): (&FirstKey, Buffer, Option<Buffer>),
        (lo, hi): (Expr, Expr),
        before: Var,
        fillings: &[Filling],
    ) {
        let Runs {
            place: (number, which),
            keys,
            sweep,
            counts,
            ..
        } = runs;
        let (variable, body) = (sweep.variable, sweep.body);
        let (stored, rest) = self.keys_stored(*number, keys, body);
        let first = self.builder.var_("first", lo);
        let end = self.builder.let_("end", hi);
        let run = self.written(|this| {
            let group = this.key_at(first_key, first.into());
            let group = this.builder.let_("group", group);
            let n = this.builder.var_("n", 0);
            let none = this.builder.let_("none", 0);
            let listed = list.map(|list| Listed {
                list,
                last: this.builder.var_("last", -1),
                is_mixed: this.builder.var_("is_mixed", Scalar::Bool(false)),
            });
            let run = Marks {
                marks,
                listed,
                n,
                before,
            };
            this.visiting = Visiting::Mark((*number, *which), run);
            let alone = only(body, *number);
            let steps = (variable, &alone[..]);
            let behind = this.visit_run(first_key, keys, (first, group, end), steps);
            this.visiting = Visiting::Assign;
            match (counts, listed) {
                (None, Some(listed)) => {
                    let so_far = this.builder.let_("so_far", Expr::Var(before).add(n));
                    this.settle_below(*number, so_far);
                    this.fill_up_to(so_far, fillings);
                    let list = (listed.list, FEW_KEYS, Some(listed.is_mixed));
                    this.for_each_ranked(list, (none, n), |this, rank, key| {
                        let place = this.builder.let_("place", Expr::Var(before).add(rank));
                        this.builder.store(marks, key, Expr::Var(place).add(1));
                        for statement in &stored {
                            this.store_key(*statement, (place, key));
                        }
                    });
                    this.for_each(variable, first.into(), behind.into(), &rest);
                    this.builder.assign(before, so_far);
                }
                (counts, _) => {
                    let so_far = Expr::Var(before).add(n);
                    this.builder.assign(before, so_far);
                    let stores = this.written(|this| {
                        this.key_at(first_key, first.into());
                        for (counted, tuple) in counts.iter().flatten() {
                            let counted = &this.computation.statements[*counted];
                            let target = counted.target.rewritten(&Point(tuple));
                            // What shares combine has its value once all have counted.
                            if runs.shares.is_none() || !target.indices.is_empty() {
                                let most = Some(BinaryOp::Max);
                                this.store_at(&target, before.into(), most);
                            }
                        }
                    });
                    this.branch(Expr::int(0).less(n), stores, true);
                }
            }
            this.builder.assign(first, behind);
        });
        let goes_on = Expr::Var(first).less(end);
        self.builder.while_loop(goes_on, |b| {
            run.into_iter().for_each(|stmt| b.push(stmt));
        });
    }

    /// Checks once for several points that their numbers are as declared, which are less than
    /// `so_far`.
    pub(super) fn settle_below(&mut self, number: usize, so_far: Var) {
        let statement = &self.computation.statements[number];
        let mut carries = self.carries.iter();
        let function = carries.find(|it| it.name == statement.target.space);
        let range = function.and_then(|function| function.range.as_box());
        let Some([(Expression::Integer(0), end)]) = range.as_deref() else {
            return;
        };
        if matches!(statement.value, Value::Window(..)) {
            let end = self.expr(end);
            let is_more = end.less(so_far);
            self.builder
                .if_then(is_more, |b| b.fail(Failure::NotAsDeclared));
            self.settled.insert(number);
        }
    }

    /// The statements that store the other key of each number, and the steps without them.
    fn keys_stored(&self, number: usize, keys: &[Key], body: &[Step]) -> (Vec<usize>, Vec<Step>) {
        let ranked = &self.computation.statements[number];
        let target = &ranked.target;
        let index = Expression::Call(target.space.clone(), target.indices.clone());
        let mut stored = Vec::new();
        let mut visits = Vec::new();
        all_visits(body, &mut visits);
        for (visited, _) in visits {
            let statement = &self.computation.statements[visited];
            let is_key = match keys {
                [_, key] => statement.value.to_expression().as_ref() == Some(&key.value),
                _ => false,
            };
            let is_at_number = statement.target.indices == [index.clone()];
            let is_alone = self.computation.writers(&statement.target.space).count() == 1;
            if is_key
                && is_at_number
                && is_alone
                && matches!(ranked.value, Value::Window(..))
                && statement.update == Update::Assign
                && statement.space == ranked.space
                && !self.is_read(&statement.target.space)
            {
                stored.push(visited);
            }
        }
        let rest = without(body, &stored);
        (stored, rest)
    }

    /// Whether a statement of the stage reads or follows data.
    pub(super) fn is_read(&self, name: &str) -> bool {
        self.computation.statements.iter().any(|statement| {
            let is_other = statement.target.space != name;
            is_other && touches(statement, name)
        })
    }

    /// Stores a key at its number, for a statement that does so at each point.
    fn store_key(&mut self, statement: usize, (place, key): (Var, Var)) {
        let target = self.computation.statements[statement].target.clone();
        self.store_entry(&target, place.into(), key.into(), None);
    }

    /// Notes another key at a point of a run.
    pub(super) fn mark(&mut self, run: Marks, key: Expr) {
        let key = self.builder.let_("key", key);
        let is_new = Expr::load(run.marks, key).binary(BinaryOp::Le, run.before);
        self.builder.if_then(is_new, |b| {
            b.store(run.marks, key, Expr::Var(run.before).add(1));
            if let Some(listed) = run.listed {
                let is_less = Expr::Var(key).less(listed.last);
                let is_mixed = Expr::Var(listed.is_mixed).binary(BinaryOp::Or, is_less);
                b.assign(listed.is_mixed, is_mixed);
                b.assign(listed.last, key);
                b.store(listed.list, run.n, key);
            }
            b.assign(run.n, Expr::Var(run.n).add(1));
        });
    }
}

/// The point at which steps visit a statement, searches apart.
pub(super) fn visited(steps: &[Step], number: usize) -> Option<&[Expression]> {
    steps.iter().find_map(|step| match step {
        Step::Visit { number: it, tuple } => (*it == number).then_some(&tuple[..]),
        Step::For { body, .. } | Step::If { body, .. } => visited(body, number),
        Step::Let { .. } | Step::Where { .. } | Step::Found => None,
    })
}

pub(super) fn all_visits(steps: &[Step], found: &mut Vec<(usize, Vec<Expression>)>) {
    for step in steps {
        match step {
            Step::Visit { number, tuple } => found.push((*number, tuple.clone())),
            Step::For { body, .. } | Step::If { body, .. } => all_visits(body, found),
            Step::Where { search, body, .. } => {
                all_visits(search, found);
                all_visits(body, found);
            }
            Step::Let { .. } | Step::Found => {}
        }
    }
}

/// The steps that visit one statement.
fn only(steps: &[Step], number: usize) -> Vec<Step> {
    let kept = steps.iter().filter_map(|step| match step {
        Step::Let { .. } => Some(step.clone()),
        Step::Visit { number: it, .. } => (*it == number).then(|| step.clone()),
        Step::For {
            variable,
            lower,
            upper,
            body,
        } => visited(body, number).map(|_| Step::For {
            variable: *variable,
            lower: lower.clone(),
            upper: upper.clone(),
            body: only(body, number),
        }),
        Step::If { conditions, body } => visited(body, number).map(|_| Step::If {
            conditions: conditions.clone(),
            body: only(body, number),
        }),
        Step::Where { .. } | Step::Found => None,
    });
    kept.collect()
}

/// The steps that visit other statements than these.
pub(super) fn without(steps: &[Step], left_out: &[usize]) -> Vec<Step> {
    let kept = steps.iter().filter_map(|step| match step {
        Step::Visit { number, .. } if left_out.contains(number) => None,
        Step::For {
            variable,
            lower,
            upper,
            body,
        } => Some(Step::For {
            variable: *variable,
            lower: lower.clone(),
            upper: upper.clone(),
            body: without(body, left_out),
        }),
        Step::If { conditions, body } => Some(Step::If {
            conditions: conditions.clone(),
            body: without(body, left_out),
        }),
        other => Some(other.clone()),
    });
    kept.collect()
}
