//! Segments that are filled with one value each, a few entries ahead.
//!
//! ```text
//! for i in 0..N {                              for i in 0..N {
//!   for q in pos[i]..pos[i + 1] {                var first = pos[i]
//!     row[q] = i                                 if first + 8 <= pos[N] {
//!     col[q] = crd[q]                              for t in 0..8 { row[first + t] = i }
//!   } }                                            first += 8 }
//!                                                for q in first..pos[i + 1] { row[q] = i } }
//!                                              for q in pos[0]..pos[N] { col[q] = crd[q] }
//! ```
//!
//! Entries behind the end of a segment belong to later segments, which fill them again. Eight stores of
//! one value are one instruction, and most segments need no loop of their own, whose end no branch
//! predictor expects: rows of coordinates took 1.02 ms for 300,000 entries, three a row, and take 0.17.
//!
//! What else the loops do must not depend on the segment, nor on what is filled.

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::{Update, Value};
use sparsec_loop::{BinaryOp, Expr};
use sparsec_relation::{Expression, Step};

use super::emit::{Emitter, Point};
use super::telescoped::Telescoped;

/// The entries that are stored at once.
const AHEAD: i64 = 8;

impl Emitter<'_> {
    /// Writes loops over segments so, if they fill some arrays and nothing else follows the segment;
    /// returns whether it did.
    pub(super) fn run_ahead(&mut self, all: &Telescoped<'_>, [lo, hi]: [&Expr; 2]) -> bool {
        let (fills, rest): (Vec<Step>, Vec<Step>) = all
            .body
            .iter()
            .cloned()
            .partition(|step| self.is_fill(step, all));
        let is_apart = |step: &Step| match step {
            Step::Let { .. } => !self.depends(step, all),
            Step::Visit { number, .. } => {
                let statement = &self.computation.statements[*number];
                let mut spaces = statement
                    .value
                    .entries()
                    .into_iter()
                    .chain([&statement.target]);
                !self.depends(step, all)
                    && !spaces.any(|access| self.is_filled(&access.space, &fills))
            }
            _ => false,
        };
        if fills.is_empty() || !rest.iter().all(is_apart) {
            return false;
        }
        let [begin, end] = self.bounds_of(all, [lo, hi]);
        let end = self.builder.let_("end", end);
        let segment = self
            .builder
            .fixed(self.loops.name(all.segment), ElementType::I64);
        self.variables.insert(all.segment, Expr::Var(segment));
        let body = self.written(|this| this.fill_ahead(&fills, all, end));
        self.builder.push(sparsec_loop::Stmt::For {
            var: segment,
            lo: lo.clone(),
            hi: hi.clone(),
            mark: Default::default(),
            body,
        });
        if !rest.is_empty() {
            self.for_whole(all.variable, begin, end.into(), &rest);
        }
        true
    }

    /// Fills one segment, of which all end before `end`.
    fn fill_ahead(&mut self, fills: &[Step], all: &Telescoped<'_>, end: sparsec_loop::Var) {
        let [from, to] = all.segment_bounds();
        let from = self.expr(&from);
        let first = self.builder.var_("first", from);
        let next = Expr::Var(first).add(AHEAD);
        let eight = self.written(|this| {
            let t = this.builder.fixed("t", ElementType::I64);
            let body = this.written(|this| {
                let at = this
                    .builder
                    .let_(this.loops.name(all.variable), Expr::Var(first).add(t));
                this.variables.insert(all.variable, at.into());
                this.steps(fills);
            });
            this.builder.push(sparsec_loop::Stmt::For {
                var: t,
                lo: Expr::int(0),
                hi: Expr::int(AHEAD),
                mark: Default::default(),
                body,
            });
            this.builder.assign(first, next.clone());
        });
        self.branch(next.binary(BinaryOp::Le, end), eight, true);
        let to = self.expr(&to);
        self.for_each(all.variable, first.into(), to, fills);
    }

    /// Whether a step stores the segment itself at the place of each point.
    fn is_fill(&self, step: &Step, all: &Telescoped<'_>) -> bool {
        let Step::Visit { number, tuple } = step else {
            return false;
        };
        let statement = &self.computation.statements[*number];
        let target = &statement.target;
        let indices = target.indices.iter();
        let indices: Vec<Expression> = indices.map(|e| e.rewritten(&Point(tuple))).collect();
        let is_segment = matches!(&statement.value, Value::Variable(of)
            if tuple[of.index()] == Expression::Variable(all.segment));
        let is_kept = self.locals.contains(&target.space)
            || self.in_variables.contains(&target.space)
            || self
                .carries
                .iter()
                .any(|carried| carried.name == target.space);
        is_segment
            && !is_kept
            && statement.update == Update::Assign
            && indices == [Expression::Variable(all.variable)]
    }

    /// Whether fills store to an array.
    fn is_filled(&self, space: &str, fills: &[Step]) -> bool {
        fills.iter().any(|fill| match fill {
            Step::Visit { number, .. } => {
                self.computation.statements[*number].target.space == space
            }
            _ => false,
        })
    }
}
