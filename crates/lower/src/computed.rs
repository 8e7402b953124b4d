//! Loops over values that several variables are computed from.
//!
//! ```text
//! fuse(i, j, f)                   for f in 0..n * m {
//!                                   let i = f // m
//!                                   let j = f % m
//!                                   … }
//!
//! split(i, i0, i1, 4);            for i1 in 0..4 {
//! reorder(i1, i0)                   for i0 in 0..(n + 3) // 4 {
//!                                     let i = i0 * 4 + i1
//!                                     if i < n { … } } }
//! ```
//!
//! What is computed is looked up ([`crate::search`]), and tested where it may lie
//! beyond an extent. Where the innermost loop goes through every coordinate that it
//! is computed from, that loop goes through the part that stays within the extent
//! instead ([`Lowerer::part_within`]), and nothing is tested.

use sparsec_index::concrete::{Clause, Skew, Stmt};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Block, Expr, Stmt as Loop};

use crate::bits;
use crate::cursor::{Bindings, Range};
use crate::statement::Lowerer;

impl Lowerer<'_> {
    /// A loop over values that the variables of accesses are computed from.
    pub(crate) fn over_computed(
        &mut self,
        outer: &[IndexVar],
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
    ) {
        let new = self.concrete.newly_bound(outer, var);
        let hi = self.extent(var);
        let v = self.coordinate(var);
        let mark = self.concrete.mark(var);
        self.marked_loop(v, Expr::int(0), hi, mark, |it| {
            let mut inner = bindings.clone();
            inner.coordinates.insert(var, Expr::Var(v));
            it.with_computed(&new[1..], inner, &mut |it, inner| {
                let found = &mut |it: &mut Self, inner: &Bindings| it.found(body, inner);
                it.with_results(&new[1..], body, inner, found);
            });
        });
    }

    /// Binds variables to what they are computed as from those that are bound,
    /// and writes what is to run where all of them are below their extents.
    fn with_computed(
        &mut self,
        vars: &[IndexVar],
        mut bindings: Bindings,
        write: &mut dyn FnMut(&mut Self, &Bindings),
    ) {
        let mut within: Option<Expr> = None;
        for var in vars {
            let (value, is_bounded) = match self.concrete.derived_by(*var) {
                Some(Clause::Deal { made, .. }) => {
                    let place = bindings.coordinates[made].clone();
                    (self.dealt(*var, &place), false)
                }
                _ => self.computed(*var, &bindings),
            };
            let i = self.coordinate(*var);
            self.builder.declare(i, value);
            bindings.coordinates.insert(*var, Expr::Var(i));
            let is_inside = bindings.inside.contains(var) || self.is_of_entry(*var, &bindings);
            if !is_bounded && !is_inside {
                let mut fits = Expr::Var(i).less(self.extent(*var));
                if let Some(Clause::Skew { .. }) = self.concrete.derived_by(*var) {
                    fits = Expr::int(-1).less(i).and(fits);
                }
                within = Some(match within {
                    None => fits,
                    Some(within) => within.and(fits),
                });
            }
        }
        let mut write = |it: &mut Self| {
            it.advance(&mut bindings);
            write(it, &bindings);
        };
        let Some(condition) = within else {
            return write(self);
        };
        let then = self.block(write);
        self.builder.push(Loop::If {
            condition,
            then,
            otherwise: Block::new(),
        });
    }

    /// Whether a variable is a mode of a tensor, computed from its levels, that has been
    /// followed to an entry: listed entries lie within the extents.
    fn is_of_entry(&self, var: IndexVar, bindings: &Bindings) -> bool {
        bindings.cursors.iter().any(|(operand, cursor)| {
            let access = self.operands.access(*operand);
            let of = &self.concrete.tensors[access.tensor].levels_of;
            let is_mode = of.as_ref().is_some_and(|of| of.modes.contains(&var));
            if cursor.levels == 0 || !is_mode {
                return false;
            }
            let format = self.formats.of(access.tensor);
            let is_last = format.chain_end(cursor.levels - 1) + 1 == format.levels().len();
            is_last && format.lists_entries() && self.rests_on(var, access)
        })
    }

    /// Whether a variable is computed from those of an access alone.
    fn rests_on(&self, var: IndexVar, access: &Access) -> bool {
        access.uses(var)
            || self.concrete.derived_by(var).is_some_and(|clause| {
                let from = clause.computed_from();
                from.into_iter().all(|from| self.rests_on(*from, access))
            })
    }

    /// A coordinate out of the bits of a place on a curve.
    fn dealt(&mut self, var: IndexVar, place: &Expr) -> Expr {
        let Some(Clause::Deal { vars, curve, .. }) = self.concrete.derived_by(var) else {
            unreachable!("the variable is dealt from a place");
        };
        let extent = |var: &IndexVar| self.concrete.extent(*var).map(|it| it.saturating_sub(1));
        let last: Option<Vec<u64>> = vars.iter().map(extent).collect();
        let deal = last.and_then(|last| curve.deal(&last));
        let deal = deal.expect("places that a clause makes have at most 63 bits");
        let number = vars.iter().position(|it| *it == var).expect("one of them");
        let name = self.concrete.vars[var].name.clone();
        bits::coordinate(&mut self.builder, &name, place, &deal, number)
    }

    /// What runs at the place `i` of a loop over all places on a curve: nothing where
    /// that is the place of coordinates beyond the extents.
    pub(crate) fn on_curve(
        &mut self,
        var: IndexVar,
        bindings: &Bindings,
        write: impl FnOnce(&mut Self, &Bindings),
    ) {
        let Some(Clause::Deal { vars, .. }) = self.concrete.made_by(var) else {
            return write(self, bindings);
        };
        let place = bindings.coordinates[&var].clone();
        let mut within: Option<Expr> = None;
        for var in vars {
            let fits = self.dealt(*var, &place).less(self.extent(*var));
            within = Some(match within {
                None => fits,
                Some(within) => within.and(fits),
            });
        }
        let then = self.block(|it| write(it, bindings));
        self.builder.push(Loop::If {
            condition: within.expect("a curve goes through coordinates"),
            then,
            otherwise: Block::new(),
        });
    }

    /// The body of a loop over coordinates of a level, where variables that are
    /// computed from them are bound with it, and the levels of the result that
    /// store these.
    pub(crate) fn computing(
        &mut self,
        body: &Stmt,
        bindings: Bindings,
        write: &mut dyn FnMut(&mut Self, &Bindings),
    ) {
        let new = match bindings.loops.split_last() {
            Some((var, outer)) => self.concrete.newly_bound(outer, *var),
            None => Vec::new(),
        };
        let is_bound = |var: &IndexVar| bindings.coordinates.contains_key(var);
        // Positions are of coordinates that are bound with them; what was made of
        // these in between is nowhere asked for.
        let is_passed = |var: &IndexVar| {
            let originals = self.concrete.originals(*var);
            !self.concrete.is_accessed(*var) && originals.iter().all(is_bound)
        };
        let new = new.into_iter();
        let new: Vec<IndexVar> = new
            .filter(|var| !is_bound(var) && !is_passed(var))
            .collect();
        if new.is_empty() {
            return write(self, &bindings);
        }
        self.with_computed(&new, bindings, &mut |it, bindings| {
            it.with_results(&new, body, bindings, write);
        });
    }

    /// As [`Lowerer::with_result`], for several variables of one loop.
    fn with_results(
        &mut self,
        vars: &[IndexVar],
        body: &Stmt,
        bindings: &Bindings,
        write: &mut dyn FnMut(&mut Self, &Bindings),
    ) {
        let Some((var, rest)) = vars.split_first() else {
            return write(self, bindings);
        };
        self.reserve(*var, body, Expr::int(1));
        self.with_result(*var, body, bindings, |it, bindings| {
            it.with_results(rest, body, bindings, write);
        });
    }

    /// The part of a loop over `var` in which what is computed from it is within
    /// its extent, and what that is; `None` where tests have to tell.
    ///
    /// ```text
    /// split(i, i0, i1, 4)       i1 in 0..min(n - 4 * i0, 4)
    /// skew(j, d, j - i + 2)     i in max(0, 2 - d)..min(m, n + 2 - d)
    /// ```
    pub(crate) fn part_within(
        &mut self,
        var: IndexVar,
        bindings: &Bindings,
    ) -> Option<(Range, IndexVar)> {
        let clauses = self.concrete.clauses().cloned();
        let (value, above, ascends) = clauses
            .into_iter()
            .find_map(|clause| self.start_of(var, &clause, bindings))?;
        let within = self.extent(above);
        let end = self.extent(var);
        let difference = |a: Expr, b: &Expr| match *b == Expr::int(0) {
            true => a,
            false => a.binary(BinaryOp::Sub, b.clone()),
        };
        // The computed variable is `value` where this one is 0.
        let (lo, hi) = match ascends {
            Ascends::Blocks => (Expr::int(0), difference(within, &value)),
            Ascends::Up => (difference(Expr::int(0), &value), difference(within, &value)),
            Ascends::Down => {
                let past = value.add(1);
                (difference(past.clone(), &within), past)
            }
        };
        let lo = match lo {
            Expr::Const(_) => lo,
            lo => lo.binary(BinaryOp::Max, 0),
        };
        let name = self.concrete.vars[var].name.clone();
        let lo = self.bound(&format!("{name}_lo"), lo);
        let hi = self.bound(&format!("{name}_hi"), hi.binary(BinaryOp::Min, end));
        let range = Range {
            lo,
            hi,
            bases: vec![(var, Expr::int(0))],
        };
        Some((range, above))
    }

    /// What a clause computes where `var` is 0, if that needs nothing else that is
    /// not bound, which variable it is, and how it goes on with `var`.
    fn start_of(
        &self,
        var: IndexVar,
        clause: &Clause,
        bindings: &Bindings,
    ) -> Option<(Expr, IndexVar, Ascends)> {
        let bound = |var: &IndexVar| bindings.coordinates.get(var).cloned();
        match clause {
            Clause::Split {
                var: above,
                outer,
                inner,
                size,
            } if *inner == var => {
                let is_inside =
                    self.concrete.made_by(*above).is_some() || self.divides(var, *above);
                let first = bound(outer)?.mul(*size as i64);
                (!is_inside).then_some((first, *above, Ascends::Blocks))
            }
            Clause::Skew {
                var: above,
                made,
                along,
                by,
            } if by.factor.abs() == 1 && bound(above).is_none() => {
                let zero = Expr::int(0);
                let (value, factor) = if *along == var {
                    (unskewed(bound(made)?, zero, *by), -by.sign() * by.factor)
                } else if *made == var {
                    (unskewed(zero, bound(along)?, *by), by.sign())
                } else {
                    return None;
                };
                let ascends = match factor > 0 {
                    true => Ascends::Up,
                    false => Ascends::Down,
                };
                Some((value, *above, ascends))
            }
            _ => None,
        }
    }

    /// The value of a variable from those that it was made into, and whether
    /// that is below its extent.
    fn computed(&self, var: IndexVar, bindings: &Bindings) -> (Expr, bool) {
        let value = |var: &IndexVar| bindings.coordinates[var].clone();
        match self.concrete.derived_by(var) {
            Some(
                clause @ (Clause::Split { outer, inner, .. } | Clause::Divide { outer, inner, .. }),
            ) => {
                let first = value(outer).mul(self.block_size(*inner));
                let whole = matches!(clause, Clause::Split { .. }) && self.divides(*inner, var);
                (first.add(value(inner)), whole)
            }
            Some(Clause::Fuse {
                outer,
                inner,
                fused,
            }) => {
                let op = match *outer == var {
                    true => BinaryOp::FloorDiv,
                    false => BinaryOp::Mod,
                };
                (value(fused).binary(op, self.extent(*inner)), true)
            }
            Some(Clause::Bound { bound, .. }) => (value(bound), true),
            Some(Clause::Skew {
                made, along, by, ..
            }) => (unskewed(value(made), value(along), *by), false),
            _ => unreachable!("positions are visited in order"),
        }
    }
}

/// How a computed variable goes on with one of those that it is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ascends {
    /// In steps of one, from a coordinate that there is.
    Blocks,
    /// In steps of one, from anywhere.
    Up,
    /// In steps of minus one.
    Down,
}

/// The variable of a sum, from the sum and the other variable.
fn unskewed(sum: Expr, along: Expr, by: Skew) -> Expr {
    let other = match by.factor.abs() {
        1 => along,
        factor => along.mul(factor),
    };
    let is_zero = |expr: &Expr| *expr == Expr::int(0);
    let rest = match by.factor < 0 {
        _ if is_zero(&other) => sum,
        true if is_zero(&sum) => other,
        true => sum.add(other),
        false => sum.binary(BinaryOp::Sub, other),
    };
    let value = match by.offset {
        0 => rest,
        offset => rest.binary(BinaryOp::Sub, offset),
    };
    match by.is_negative {
        true => Expr::int(0).binary(BinaryOp::Sub, value),
        false => value,
    }
}
