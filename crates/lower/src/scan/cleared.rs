//! Results that are filled with zeros as they are numbered.
//!
//! A block has zeros where it has no entry. If all of an array were filled first, it would have left
//! the caches when entries are stored to it. Where numbers are given run by run ([`in_runs`](super::in_runs)),
//! the places of the next numbers are filled when a run needs them:
//!
//! ```text
//! fill vals[0..n], 0                 for each run {
//! for each run {                       …
//!   …                                  if cleared < 16 * so_far {
//!   for each point {            ──►      to = min(max(cleared + AHEAD, 16 * so_far), n)
//!     vals[16 * number + …] = … } }      fill vals[cleared..to], 0;  cleared = to }
//!                                      for each point { vals[16 * number + …] = … } }
//!                                    fill vals[cleared..n], 0
//! ```

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{DataSpace, Role, Statement, Value};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Comparison, Constraint, Expression, Step};

use super::emit::Emitter;
use super::in_runs::all_visits;
use super::loaded_type;
use super::window::Numbering;

/// So many bytes are filled at a time. Measured in C, 40 MB in blocks of 4 × 4: 16 to 512 KB take the same
/// time, 2.3 to 2.5 ms with the entries; 1 KB, or all first, 4.4 and 4.7 ms.
const BYTES_AHEAD: i64 = 1 << 16;

/// A result that its first sweep is to fill with zeros.
#[derive(Clone, Debug)]
pub(super) struct Unfilled {
    /// The statement that numbers the points, and the one that stores.
    ranked: usize,
    storing: usize,
    buffer: Buffer,
    element: ElementType,
    /// How many entries the result has, and how many of them belong to one number.
    len: Var,
    per_number: i64,
}

impl Unfilled {
    fn fill(&self, lo: Expr, hi: Expr) -> Stmt {
        Stmt::Fill {
            buffer: self.buffer,
            lo,
            hi,
            value: Scalar::from_i64(loaded_type(self.element), 0).into(),
        }
    }
}

/// The arrays that are still to be filled while a sweep runs.
pub(super) struct Filling {
    of: Unfilled,
    /// Up to where it is filled.
    cleared: Var,
    /// Where the entries end of the numbers that are given.
    end: Var,
    /// Whether the sweep stores an entry of each number as it gives the number.
    is_stored: bool,
}

impl Emitter<'_> {
    /// Leaves it to a sweep in runs to fill a result of `n` entries.
    pub(super) fn is_filled_in_runs(
        &mut self,
        space: &DataSpace,
        buffer: Buffer,
        n: &Expr,
    ) -> bool {
        let Some((ranked, storing, per_number)) = self.numbered(space) else {
            return false;
        };
        let len = self.builder.let_("len", n.clone());
        self.unfilled.push(Unfilled {
            ranked,
            storing,
            buffer,
            element: space.element,
            len,
            per_number,
        });
        true
    }

    /// Fills the results that no sweep in runs will fill.
    pub(super) fn fill_others(&mut self) {
        for unfilled in std::mem::take(&mut self.unfilled) {
            match self.windows.get(&(unfilled.ranked, 0)) {
                Some(Numbering::InRuns) => self.unfilled.push(unfilled),
                _ => {
                    let fill = unfilled.fill(Expr::int(0), unfilled.len.into());
                    self.builder.push(fill);
                }
            }
        }
    }

    /// Fills the whole array before the sweep, if the sweep cannot fill it run by run.
    pub(super) fn fill_for(&mut self, ranked: usize) {
        for unfilled in self.unfilled.clone() {
            if unfilled.ranked == ranked {
                let fill = unfilled.fill(Expr::int(0), unfilled.len.into());
                self.builder.push(fill);
            }
        }
    }

    /// Before runs that store at `stored` as they give numbers: those between two, or all of them.
    pub(super) fn begin_filling(
        &mut self,
        ranked: usize,
        stored: &[usize],
        numbers: Option<[Var; 2]>,
    ) -> Vec<Filling> {
        let own = self.unfilled.iter().filter(|it| it.ranked == ranked);
        let own: Vec<Unfilled> = own.cloned().collect();
        let fillings = own.into_iter().map(|of| {
            let [begin, end] = match numbers {
                None => [Expr::int(0), of.len.into()],
                Some(numbers) => numbers.map(|number| Expr::Var(number).mul(of.per_number)),
            };
            Filling {
                cleared: self.builder.var_("cleared", begin),
                end: self.builder.let_("end", end),
                is_stored: stored.contains(&of.storing),
                of,
            }
        });
        fillings.collect()
    }

    /// Before entries of the numbers below `so_far` are stored.
    pub(super) fn fill_up_to(&mut self, so_far: Var, fillings: &[Filling]) {
        for filling in fillings.iter().filter(|filling| !filling.is_stored) {
            let Filling {
                of, cleared, end, ..
            } = filling;
            let size = i64::try_from(of.element.size()).expect("elements are small");
            let needed = Expr::Var(so_far).mul(of.per_number);
            let needed = self.builder.let_("needed", needed);
            let ahead = Expr::Var(*cleared).add(BYTES_AHEAD / size);
            let to = ahead.binary(BinaryOp::Max, needed);
            let to = to.binary(BinaryOp::Min, *end);
            self.builder.if_then(Expr::Var(*cleared).less(needed), |b| {
                let to = b.let_("to", to);
                b.push(of.fill(Expr::Var(*cleared), to.into()));
                b.assign(*cleared, to);
            });
        }
    }

    /// After the runs, which gave the numbers below `n_numbers`.
    pub(super) fn fill_rest(&mut self, n_numbers: Var, fillings: &[Filling]) {
        for Filling {
            of,
            cleared,
            end,
            is_stored,
        } in fillings
        {
            let from = if *is_stored { n_numbers } else { *cleared };
            let fill = of.fill(from.into(), (*end).into());
            self.builder.push(fill);
        }
    }

    /// Fills the places behind those of all `n_numbers` numbers.
    pub(super) fn fill_behind(&mut self, ranked: usize, n_numbers: Var) {
        for unfilled in self.unfilled.clone() {
            if unfilled.ranked == ranked {
                let from = Expr::Var(n_numbers).mul(unfilled.per_number);
                let fill = unfilled.fill(from, unfilled.len.into());
                self.builder.push(fill);
            }
        }
    }

    /// The statement that numbers the places at which the only statement stores that uses a result,
    /// that statement, and how many entries belong to a number.
    fn numbered(&self, space: &DataSpace) -> Option<(usize, usize, i64)> {
        let mut writers = self.computation.writers(&space.name);
        let storing = writers.next()?.index();
        let statement = &self.computation.statements[storing];
        let [index] = &statement.target.indices[..] else {
            return None;
        };
        let mut own = statement.value.entries().into_iter();
        let is_used = writers.next().is_some()
            || self.is_read(&space.name)
            || own.any(|access| access.space == space.name);
        if space.role != Role::Out || is_used {
            return None;
        }
        let mut all = self.computation.statements.iter().enumerate();
        all.find_map(|(ranked, other)| {
            let per_number = self.entries_for(statement, index, other)?;
            let Value::Window(window, keys) = &other.value else {
                return None;
            };
            let goes = self.has_runs(ranked, *window, keys) && self.share_a_loop([ranked, storing]);
            goes.then_some((ranked, storing, per_number))
        })
    }

    /// How many entries belong to each number that a statement gives, if an index is among those of
    /// the number at the point.
    pub(super) fn entries_for(
        &self,
        statement: &Statement,
        index: &Expression,
        ranked: &Statement,
    ) -> Option<i64> {
        let target = &ranked.target;
        let number = Expression::Call(target.space.clone(), target.indices.clone());
        let n = factor(index, &number).filter(|n| *n > 0)?;
        let times = |k: i64| Box::new(Expression::Integer(k));
        let first = Expression::Multiply(times(n), Box::new(number));
        let end = Expression::Add(Box::new(first.clone()), times(n));
        let is_inside = Constraint {
            first,
            rest: vec![
                (Comparison::LessEqual, index.clone()),
                (Comparison::Less, end),
            ],
        };
        let is_at_point = statement.space == ranked.space;
        let holds = is_at_point && statement.space.implies(&is_inside, self.known);
        holds.then_some(n)
    }

    /// Whether all visits of both statements are in one outermost loop.
    fn share_a_loop(&self, numbers: [usize; 2]) -> bool {
        let visits = |steps: &[Step]| {
            let mut found = Vec::new();
            all_visits(steps, &mut found);
            numbers.map(|number| found.iter().filter(|(it, _)| *it == number).count())
        };
        let all = visits(&self.loops.body);
        let mut steps = self.loops.body.iter();
        steps.any(|step| {
            matches!(step, Step::For { .. }) && visits(std::slice::from_ref(step)) == all
        })
    }
}

/// How many times an expression has another one as a summand.
fn factor(e: &Expression, other: &Expression) -> Option<i64> {
    if e == other {
        return Some(1);
    }
    let mut is_inside = false;
    e.visit(&mut |e| is_inside |= e == other);
    if !is_inside {
        return Some(0);
    }
    match e {
        Expression::Add(a, b) => factor(a, other)?.checked_add(factor(b, other)?),
        Expression::Subtract(a, b) => factor(a, other)?.checked_sub(factor(b, other)?),
        Expression::Multiply(a, b) => match (&**a, &**b) {
            (e, Expression::Integer(n)) | (Expression::Integer(n), e) => {
                factor(e, other)?.checked_mul(*n)
            }
            _ => None,
        },
        _ => None,
    }
}
