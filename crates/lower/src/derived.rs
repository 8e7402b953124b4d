//! Loops over variables that a schedule derived: blocks and stretches, and the
//! extents of what its clauses make.
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
//! ```
//!
//! The innermost loop of a split goes through one stretch of the original
//! variable, so it is lowered as a loop over that variable which begins and ends
//! elsewhere ([`Bindings::ranges`]): levels are walked from where a search finds
//! the first coordinate of the stretch. What is computed otherwise is in
//! [`crate::computed`].

use sparsec_index::IndexVar;
use sparsec_index::concrete::{Clause, Steps, Stmt};
use sparsec_loop::{BinaryOp, Expr, Stmt as Loop, Var};

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

    /// Whether some loop of the kernel goes through coordinates of `var`.
    pub(crate) fn has_loop_through(&self, var: IndexVar) -> bool {
        let mut found = false;
        for_each_loop(
            &self.concrete.stmt,
            &mut Vec::new(),
            &mut |outer, here, _| {
                found |= match self.concrete.steps(outer, here) {
                    Steps::Coordinates => here == var,
                    Steps::Stretch(original) => original == var,
                    _ => false,
                };
            },
        );
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
    pub(crate) fn divides(&self, inner: IndexVar, above: IndexVar) -> bool {
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
    pub(crate) fn block_size(&self, inner: IndexVar) -> Expr {
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
                let extents = [self.extent(*var), self.extent(*along)];
                let [own, other] = extents.clone().map(|it| it.binary(BinaryOp::Sub, 1));
                let mut n_values = Expr::int(by.offset + 1);
                if by.factor > 0 {
                    n_values = other.mul(by.factor).add(n_values);
                }
                if !by.is_negative {
                    n_values = own.add(n_values);
                }
                // A sum has no values where one of its variables has none.
                let [var, along] = extents;
                let shortest = var.binary(BinaryOp::Min, along);
                Expr::Select {
                    condition: Box::new(Expr::int(0).less(shortest)),
                    then: Box::new(n_values),
                    otherwise: Box::new(Expr::int(0)),
                }
            }),
            Clause::Deal { .. } => known.expect("the extents of what is dealt are known"),
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
