//! Loops over variables that a schedule derived: blocks, stretches, and values
//! that several variables are computed from.
//!
//! ```text
//! split(i, i0, i1, 32)            for i0 in 0..(n + 31) // 32 {
//!                                   let i_lo = 32 * i0
//!                                   let i_hi = min(i_lo + 32, n)
//!                                   for i in i_lo..i_hi { … } }
//!
//! … and A(i) compressed             var pA0 = first of A0.pos[0]..A0.pos[1]
//!                                     whose coordinate is at least i_lo
//!                                   …
//!
//! fuse(i, j, f); split(f, f0, f1, 32)   i = f // m, j = f % m
//! ```
//!
//! The innermost loop of a split goes through one stretch of the original
//! variable, so it is lowered as a loop over that variable which begins and ends
//! elsewhere ([`Bindings::ranges`]): levels are walked from where a search finds
//! the first coordinate of the stretch. What is computed otherwise is looked up
//! ([`crate::search`]), and tested where it may lie beyond an extent.
//!
//! Length: each clause is bound, computed and bounded beside the others.

use sparsec_index::IndexVar;
use sparsec_index::concrete::{Clause, Skew, Steps, Stmt};
use sparsec_loop::{BinaryOp, Block, Expr, Stmt as Loop, Var};

use crate::cursor::{Bindings, Range};
use crate::level::Segment;
use crate::statement::Lowerer;

impl Lowerer<'_> {
    pub(crate) fn forall(&mut self, var: IndexVar, body: &Stmt, bindings: &Bindings) {
        let steps = self.concrete.steps(&bindings.loops, var);
        let mut bindings = bindings.clone();
        self.begin_positions(var, &bindings);
        let outer = bindings.loops.clone();
        bindings.loops.push(var);
        match steps {
            Steps::Coordinates => self.over(var, body, &bindings),
            Steps::Stretch(original) => {
                let range = self.stretch(var, original, &bindings);
                bindings.ranges.insert(original, range);
                self.over(original, body, &bindings);
            }
            Steps::Blocks => self.over_blocks(&outer, var, body, &bindings),
            Steps::Positions(number) => self.over_positions(number, var, body, &bindings),
            Steps::Computed => self.over_computed(&outer, var, body, &bindings),
        }
    }

    /// Whether a loop of the statement, derived by a schedule, looks operands up
    /// rather than walking them.
    pub(crate) fn looks_up(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, var, _| {
            let steps = self.concrete.steps(outer, var);
            found |= matches!(steps, Steps::Positions(_) | Steps::Computed);
        });
        found
    }

    /// Whether a loop of the statement, of those around `inner` or of all, looks
    /// operands up where others lead.
    pub(crate) fn locates(&self, stmt: &Stmt, inner: Option<IndexVar>) -> bool {
        let mut found = false;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, var, body| {
            let (through, is_stretch) = match self.concrete.steps(outer, var) {
                Steps::Coordinates => (var, false),
                Steps::Stretch(original) => (original, true),
                _ => return,
            };
            let is_around = |inner: IndexVar| {
                let loops = body.loops().into_iter();
                let mut originals = loops.flat_map(|var| self.concrete.originals(var));
                through != inner && originals.any(|original| original == inner)
            };
            let lead = self.lead(through, body, is_stretch);
            found |= inner.is_none_or(is_around) && !lead.located.is_empty();
        });
        found
    }

    /// The body of the loop that goes through coordinates of `var` around the
    /// assignment of the result.
    pub(crate) fn result_loop(&self, var: IndexVar) -> Option<&Stmt> {
        let mut found = None;
        for_each_loop(
            &self.concrete.stmt,
            &mut Vec::new(),
            &mut |outer, here, body| {
                let through = match self.concrete.steps(outer, here) {
                    Steps::Coordinates => Some(here),
                    Steps::Stretch(original) => Some(original),
                    _ => None,
                };
                if found.is_none() && through == Some(var) && self.assigns_result(body) {
                    found = Some(body);
                }
            },
        );
        found
    }

    /// The clause-made variables from `var` up to `last`, each with what it is
    /// where `var` is 0; the last is `last` itself.
    fn bases(
        &mut self,
        var: IndexVar,
        last: IndexVar,
        bindings: &Bindings,
    ) -> Vec<(IndexVar, Expr)> {
        let mut bases = vec![(var, Expr::int(0))];
        let mut at = var;
        while at != last {
            let base = bases.last().expect("it begins with one").1.clone();
            match self.concrete.made_by(at).cloned() {
                Some(Clause::Split { var, outer, .. } | Clause::Divide { var, outer, .. }) => {
                    let block = bindings.coordinates[&outer].clone();
                    let first = block.mul(self.block_size(at));
                    let is_zero = base == Expr::int(0);
                    bases.push((var, if is_zero { first } else { first.add(base) }));
                    at = var;
                }
                Some(Clause::Bound { var, .. }) => {
                    bases.push((var, base));
                    at = var;
                }
                _ => unreachable!("a stretch is made of blocks"),
            }
        }
        bases
    }

    /// Where a loop over `var` goes through a stretch of `last`.
    pub(crate) fn stretch(&mut self, var: IndexVar, last: IndexVar, bindings: &Bindings) -> Range {
        let bases = self.bases(var, last, bindings);
        let name = self.concrete.vars[last].name.clone();
        let (_, base) = bases.last().cloned().expect("it begins with one");
        let lo = self.bound(&format!("{name}_lo"), base);
        // Each variable ends at its own extent.
        let mut hi: Option<Expr> = None;
        for (number, (above, base)) in bases.iter().enumerate() {
            if number > 0 && self.divides(bases[number - 1].0, *above) {
                continue;
            }
            let extent = self.extent(*above);
            let end = match (*above == last, *base == Expr::int(0)) {
                (true, _) => extent,
                (false, true) => lo.clone().add(extent),
                (false, false) => lo.clone().add(extent.binary(BinaryOp::Sub, base.clone())),
            };
            hi = Some(match hi {
                None => end,
                Some(hi) => hi.binary(BinaryOp::Min, end),
            });
        }
        let hi = hi.expect("a variable has an extent");
        // A block of a split begins within what is split; others may not.
        let begins_within = match bases.len() {
            1 => true,
            2 => matches!(self.concrete.made_by(var), Some(Clause::Split { .. })),
            _ => false,
        };
        let hi = match begins_within {
            true => hi,
            false => hi.binary(BinaryOp::Max, lo.clone()),
        };
        let hi = self.bound(&format!("{name}_hi"), hi);
        Range { lo, hi, bases }
    }

    /// Whether `above` is known to be made of whole blocks over `inner`.
    fn divides(&self, inner: IndexVar, above: IndexVar) -> bool {
        let (extent, clause) = (self.concrete.extent(above), self.concrete.made_by(inner));
        match (extent, clause) {
            (_, Some(Clause::Bound { .. })) => true,
            (Some(extent), Some(Clause::Split { size, .. })) => extent % size == 0,
            (Some(extent), Some(Clause::Divide { parts, .. })) => extent % parts == 0,
            _ => false,
        }
    }

    /// A bound as a variable, unless it is a constant or one already.
    pub(crate) fn bound(&mut self, name: &str, value: Expr) -> Expr {
        match value {
            Expr::Const(_) | Expr::Var(_) => value,
            value => Expr::Var(self.builder.let_(name, value)),
        }
    }

    /// How many coordinates a block has, of which `inner` is within one.
    fn block_size(&self, inner: IndexVar) -> Expr {
        match self.concrete.made_by(inner) {
            Some(Clause::Split { size, .. }) => Expr::int(*size as i64),
            Some(Clause::Divide { var, parts, .. }) => match self.concrete.extent(*var) {
                Some(extent) => Expr::int(extent.div_ceil(*parts) as i64),
                None => rounded_up(self.extent(*var), *parts),
            },
            _ => unreachable!("blocks are made by splitting"),
        }
    }

    /// How many coordinates a block has, where `var` is within one of a fixed size.
    pub(crate) fn size_of_block_of(&self, var: IndexVar) -> Option<u64> {
        match self.concrete.made_by(var)? {
            Clause::Split { inner, size, .. } if *inner == var => Some(*size),
            _ => None,
        }
    }

    /// The extent of a variable that a clause made.
    pub(crate) fn derived_extent(&self, var: IndexVar) -> Option<Expr> {
        let known = self
            .concrete
            .extent(var)
            .map(|extent| Expr::int(extent as i64));
        Some(match self.concrete.made_by(var)? {
            Clause::Split {
                var: above,
                outer,
                size,
                ..
            } => match *outer == var {
                true => known.unwrap_or_else(|| rounded_up(self.extent(*above), *size)),
                false => Expr::int(*size as i64),
            },
            Clause::Divide { outer, parts, .. } => match *outer == var {
                true => Expr::int(*parts as i64),
                false => self.block_size(var),
            },
            Clause::Fuse { outer, inner, .. } => {
                known.unwrap_or_else(|| self.extent(*outer).mul(self.extent(*inner)))
            }
            Clause::Bound { var: above, .. } => self.extent(*above),
            Clause::Skew { var, along, by, .. } => known.unwrap_or_else(|| {
                let last = |var: IndexVar| self.extent(var).binary(BinaryOp::Sub, 1);
                let mut most = Expr::int(by.offset + 1);
                if by.factor > 0 {
                    most = last(*along).mul(by.factor).add(most);
                }
                match by.is_negative {
                    true => most,
                    false => last(*var).add(most),
                }
            }),
            Clause::Pos { pos, .. } => {
                let span = &self.positions[pos];
                span.n_positions()
            }
            _ => unreachable!("other clauses make no variables"),
        })
    }

    /// A loop over blocks, in which nothing of an access is bound yet.
    fn over_blocks(&mut self, outer: &[IndexVar], var: IndexVar, body: &Stmt, bindings: &Bindings) {
        let new = self.concrete.newly_bound(outer, var);
        let last = new.last().copied().unwrap_or(var);
        let mut inner = bindings.clone();
        let range = self.stretch(var, last, &inner);
        let i = self.coordinate(last);
        let mark = self.concrete.mark(var);
        self.marked_loop(i, range.lo.clone(), range.hi.clone(), mark, |it| {
            range.bind(&Expr::Var(i), &mut inner);
            it.advance(&mut inner);
            it.stmt(body, &inner);
        });
    }

    /// A loop over values that the variables of accesses are computed from.
    fn over_computed(
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
                it.found(body, inner);
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
            let (value, is_bounded) = self.computed(*var, &bindings);
            let i = self.coordinate(*var);
            self.builder.declare(i, value);
            bindings.coordinates.insert(*var, Expr::Var(i));
            if !is_bounded && !bindings.inside.contains(var) {
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
        let new: Vec<IndexVar> = new.into_iter().filter(|var| !is_bound(var)).collect();
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

    /// The part of a segment whose coordinates are in the stretch that a loop
    /// goes through.
    pub(crate) fn narrowed(&mut self, name: &str, segment: Segment, range: &Range) -> Segment {
        let Segment { lo, hi, entries } = segment;
        let hi = self.bound(&format!("{name}_end"), hi);
        let (first, end) = (range.lo.clone(), range.hi.clone());
        let lo = self.first_from(&format!("{name}_lo"), &entries, lo, hi.clone(), first);
        let hi = self.first_from(&format!("{name}_hi"), &entries, Expr::Var(lo), hi, end);
        Segment {
            lo: Expr::Var(lo),
            hi: Expr::Var(hi),
            entries,
        }
    }

    /// `for var in lo..hi mark { … }`
    pub(crate) fn marked_loop(
        &mut self,
        var: Var,
        lo: Expr,
        hi: Expr,
        mark: sparsec_loop::Mark,
        write: impl FnOnce(&mut Self),
    ) {
        let body = self.block(write);
        self.builder.push(Loop::For {
            var,
            lo,
            hi,
            mark,
            body,
        });
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

/// `extent` divided by `by`, rounded up.
fn rounded_up(extent: Expr, by: u64) -> Expr {
    match by {
        1 => extent,
        _ => extent
            .add(by as i64 - 1)
            .binary(BinaryOp::FloorDiv, by as i64),
    }
}

/// Calls `visit` with every loop: those around it, its variable and its body.
fn for_each_loop<'s>(
    stmt: &'s Stmt,
    outer: &mut Vec<IndexVar>,
    visit: &mut dyn FnMut(&[IndexVar], IndexVar, &'s Stmt),
) {
    match stmt {
        Stmt::Assign { .. } => {}
        Stmt::Forall { var, body } => {
            visit(outer, *var, body);
            outer.push(*var);
            for_each_loop(body, outer, visit);
            outer.pop();
        }
        Stmt::Where { consumer, producer } => {
            for_each_loop(consumer, outer, visit);
            for_each_loop(producer, outer, visit);
        }
        Stmt::Sequence(stmts) => stmts
            .iter()
            .for_each(|stmt| for_each_loop(stmt, outer, visit)),
    }
}
