//! Where the shares of a sweep end.
//!
//! ```text
//! var shares = 1
//! while shares < 64 and shares * (grain + 4 * copied) < work { shares *= 2 }
//! cuts[c] = the first value before which a part c of all points come
//! ```

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::StatementId;
use sparsec_computation::segments::places_at;
use sparsec_loop::{BinaryOp, Expr, Stmt, Var};
use sparsec_relation::{Expression, Variable};

use super::{COPY, Counts, MOST_SHARES, Shared, Shares, Sweep, Table};
use crate::scan::emit::Emitter;
use crate::scan::filled::sums;

impl Emitter<'_> {
    /// Cuts a sweep into shares, and makes the counts that each has of its own.
    pub(super) fn count_in_shares(&mut self, sweep: &Sweep<'_>, shared: &Shared) -> Shares {
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
    pub(in crate::scan) fn shares_of(&mut self, number: usize, n_keys: Var) -> Option<Shares> {
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

    /// The variable of a statement that is a place, and the first place.
    pub(super) fn place(&self, number: usize) -> Option<(Variable, Expression)> {
        let statement = &self.computation.statements[number];
        let mut variables = statement.variables();
        variables.find_map(|at| Some((at, places_at(statement, at, self.known)?.begin)))
    }

    /// How many points of a statement come before this one, whose place says it.
    pub(in crate::scan) fn place_of(&mut self, number: usize, tuple: &[Expression]) -> Expr {
        let (place, begin) = self.place(number).expect("asked before");
        let place = self.expr(&tuple[place.index()]);
        match begin {
            Expression::Integer(0) => place,
            begin => place.binary(BinaryOp::Sub, self.expr(&begin)),
        }
    }

    /// Cuts a sweep into shares of about as many points, so many that copies of `copied` entries
    /// for each are a part of the work. All points with one value of `run` are in one share.
    pub(super) fn cut(
        &mut self,
        sweep: &Sweep<'_>,
        copied: Option<Expr>,
        run: Option<&Expression>,
    ) -> Shares {
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
    pub(super) fn cut_between(
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
}
