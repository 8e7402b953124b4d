//! A loop over an intersection in which operands that are behind leap.
//!
//! ```text
//! while pb < eb and pc < ec {
//!   ib = crd_b[pb]; ic = crd_c[pc]; i = max(ib, ic)
//!   if ib == i and ic == i { … pb += 1; pc += 1 }
//!   else {                                    each that is behind i:
//!     var step = 1
//!     while pb + step < eb and crd_b[pb + step] < i { pb += step; step *= 2 }
//!     pb = the first in pb + 1..min(pb + step, eb) at least i } }
//! ```
//!
//! Time: the smaller operand's entries times the logarithm of the gaps between
//! their places in the larger.
//!
//! Source: Bentley, Yao, "An almost optimal algorithm for unbounded searching",
//! Information Processing Letters 5(3), 1976.

use sparsec_graph::{Lattice, Operand};
use sparsec_index::IndexVar;
use sparsec_index::concrete::Stmt;
use sparsec_loop::{BinaryOp, Expr, Stmt as Loop, Var};

use crate::bisect::Wanted;
use crate::cursor::Bindings;
use crate::level::Coordinates;
use crate::statement::Lowerer;
use crate::walker::Walker;

impl Lowerer<'_> {
    pub(crate) fn over_gallop(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        walked: &[Operand],
    ) {
        let walkers: Vec<Walker> = walked
            .iter()
            .map(|operand| self.begin_walk(*operand, var, bindings))
            .collect();
        self.reserve(var, body, walkers[0].left());
        let more = walkers
            .iter()
            .map(|walker| Expr::Var(walker.position).less(walker.end.clone()))
            .reduce(Expr::and)
            .expect("an intersection has walkers");
        let turn = self.block(|it| {
            let (i, all_equal) = it.greatest_coordinate(var, &walkers);
            let then = it.block(|it| {
                let mut here = walkers.clone();
                for walker in &mut here {
                    it.take_run(walker, i);
                }
                let inner = it.inside_loop(var, i, bindings);
                it.with_result(var, body, &inner, |it, inner| {
                    it.case(var, body, inner, &lattice.points[0], &here);
                });
                it.step(&here);
            });
            let otherwise = it.block(|it| {
                for walker in &walkers {
                    it.leap(walker, i);
                }
            });
            it.builder.push(Loop::If {
                condition: all_equal,
                then,
                otherwise,
            });
        });
        self.builder.push(Loop::While {
            condition: more,
            body: turn,
        });
    }

    /// Declares the greatest of the coordinates that operands are at; and
    /// whether all are at it.
    fn greatest_coordinate(&mut self, var: IndexVar, walkers: &[Walker]) -> (Var, Expr) {
        let name = self.concrete.vars[var].name.clone();
        let mut read = Vec::new();
        for walker in walkers {
            let tensor = self.operands.access(walker.operand).tensor;
            let label = format!("{name}{}", self.concrete.tensors[tensor].name);
            let coordinate = walker.entries.coordinate(walker.position);
            read.push(self.builder.let_(&label, coordinate));
        }
        let greatest = read.iter().map(|var| Expr::Var(*var));
        let greatest = greatest.reduce(|a, b| a.binary(BinaryOp::Max, b));
        let i = self.coordinate(var);
        let greatest = greatest.expect("an intersection has walkers");
        self.builder.declare(i, greatest);
        let equal = read.iter().map(|read| Expr::Var(*read).equals(i));
        (
            i,
            equal
                .reduce(Expr::and)
                .expect("an intersection has walkers"),
        )
    }

    /// Moves a walker that is behind `i` to its first coordinate from there on.
    fn leap(&mut self, walker: &Walker, i: Var) {
        let p = walker.position;
        let behind = self.block(|it| {
            let name = it.builder.function().vars[p].name.clone();
            let Coordinates::Listed(crd) = walker.entries.crd else {
                // What is counted is where it is.
                let (lo, end) = (Expr::Var(p), walker.end.clone());
                let name = format!("{name}_leap");
                let found = it.first_from(&name, &walker.entries, lo, end, Expr::Var(i));
                it.builder.assign(p, Expr::Var(found));
                return it.skip(walker);
            };
            let step = it.builder.var_(&format!("{name}_step"), 1);
            let ahead = || Expr::Var(p).add(step);
            let turn = it.block(|it| {
                it.builder.assign(p, ahead());
                it.builder.assign(step, Expr::Var(step).mul(2));
            });
            let far = Expr::load(crd, ahead()).less(i);
            it.builder.push(Loop::While {
                condition: ahead().less(walker.end.clone()).and(far),
                body: turn,
            });
            let end = ahead().binary(BinaryOp::Min, walker.end.clone());
            let lo = Expr::Var(p).add(1);
            let wanted = Wanted::AtLeast(Expr::Var(i));
            let found = it.bisect(&format!("{name}_leap"), crd, lo, end, &wanted);
            it.builder.assign(p, Expr::Var(found));
            it.skip(walker);
        });
        self.builder.push(Loop::If {
            condition: walker.entries.coordinate(p).less(i),
            then: behind,
            otherwise: Vec::new(),
        });
    }
}
