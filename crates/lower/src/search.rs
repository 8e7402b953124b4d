//! Looking for an operand at a coordinate that is bound already.
//!
//! `A(i,i)` in CSR: the loop over `i` moves below the dense level, and the
//! compressed level inside stores `i` again. It is searched where the loop is,
//! by bisection if it is ordered; else from its beginning:
//!
//! ```text
//! p = first of pos[i]..pos[i + 1] with crd[p] >= i
//! if p < pos[i + 1] and crd[p] == i { … } else { … as not stored }
//! ```
//!
//! Other kinds find a coordinate in their own ways ([`crate::level`]): a bit is
//! tested, a table probed, a position within a run computed.
//!
//! `A(i+r)` in a dense format: the position is computed, where there is one:
//!
//! ```text
//! if i + r >= 0 and i + r < N { … } else { … as not stored }
//! ```

use sparsec_graph::Operand;
use sparsec_graph::operand::is_inside;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop};

use crate::absent::without;
use crate::bisect::Wanted;
use crate::cursor::{Bindings, Cursor, Place};
use crate::level::dense::locate;
use crate::level::hashed::first_slot;
use crate::level::{Coordinates, Segment};
use crate::statement::Lowerer;

/// An operand whose next level is at a coordinate that is bound.
#[derive(Clone, Debug)]
struct Next {
    operand: Operand,
    coordinate: Expr,
}

impl Lowerer<'_> {
    /// The body of a loop, with every operand looked for whose next level
    /// stores a coordinate that is bound.
    pub(crate) fn found(&mut self, body: &Stmt, bindings: &Bindings) {
        let Some(next) = self.next_search(body, bindings) else {
            return self.stmt(body, bindings);
        };
        let access = self.operands.access(next.operand).clone();
        let (condition, cursor) = self.search(&access, &next, bindings);
        let write = |it: &mut Self| {
            let mut inner = bindings.clone();
            inner.cursors.insert(next.operand, cursor);
            it.advance(&mut inner);
            it.found(body, &inner);
        };
        let Some(condition) = condition else {
            return write(self);
        };
        let then = self.block(write);
        let otherwise = self.block(|it| {
            if let Some(body) = without(it.concrete, body, &|other| *other == access, it.unfilled())
            {
                it.found(&body, bindings);
            }
        });
        self.builder.push(Loop::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Searches a level; where it has the coordinate, if it may not, and the cursor
    /// there.
    fn search(
        &mut self,
        access: &Access,
        next: &Next,
        bindings: &Bindings,
    ) -> (Option<Expr>, Cursor) {
        let number = bindings.cursors[&next.operand].levels;
        let level = &self.formats.of(access.tensor).levels()[number];
        let (is_computed, is_ordered, mode) =
            (level.is_computed(), level.is_ordered(), level.mode());
        let mut next = next.clone();
        let mut within = None;
        if !is_inside(access, mode, self.concrete) {
            let name = &self.concrete.tensors[access.tensor].name;
            let name = format!("i{name}{number}");
            let at = self.builder.let_(&name, next.coordinate);
            next.coordinate = Expr::Var(at);
            let extent = self.mode_extent(access, mode);
            within = Some(Expr::int(-1).less(at).and(Expr::Var(at).less(extent)));
        }
        if is_computed {
            let extent = self.mode_extent(access, mode);
            let position = bindings.cursors[&next.operand].position();
            let place = Place::At(locate(position, extent, next.coordinate));
            let levels = number + 1;
            return (within, Cursor { levels, place });
        }
        let (segment, _) = self.segment_of(next.operand, number, bindings);
        let (condition, cursor) = match segment.entries.crd {
            Coordinates::Counted(_) => self.search_counted(&next, number, &segment, &within),
            Coordinates::Runs { .. } => (within, self.search_runs(&next, number, segment)),
            Coordinates::Hashed(crd) => {
                let (here, cursor) = self.search_table(&next, number, &segment, crd);
                (within.into_iter().chain([here]).reduce(Expr::and), cursor)
            }
            Coordinates::Listed(crd) => {
                let (here, cursor) = self.search_list(&next, number, crd, is_ordered, bindings);
                (within.into_iter().chain([here]).reduce(Expr::and), cursor)
            }
        };
        (condition, cursor)
    }

    /// The position is computed, and may be outside of the segment or a hole.
    fn search_counted(
        &mut self,
        next: &Next,
        number: usize,
        segment: &Segment,
        within: &Option<Expr>,
    ) -> (Option<Expr>, Cursor) {
        let name = self.position_name(next.operand, number);
        let Coordinates::Counted(zero) = &segment.entries.crd else {
            unreachable!("coordinates are counted");
        };
        let p = match *zero == Expr::int(0) {
            true => next.coordinate.clone(),
            false => zero.clone().add(next.coordinate.clone()),
        };
        let p = self.bound(&name, p);
        let stored = segment.entries.is_stored(p.clone());
        // Where there are holes, every coordinate has a position.
        let inside = match (within, &stored) {
            (None, Some(_)) => None,
            _ => {
                let from = segment.lo.clone().binary(BinaryOp::Le, p.clone());
                Some(from.and(p.clone().less(segment.hi.clone())))
            }
        };
        let condition = inside.into_iter().chain(stored).reduce(Expr::and);
        let cursor = Cursor {
            levels: number + 1,
            place: Place::At(p),
        };
        (condition, cursor)
    }

    /// The run that a coordinate is in, which there is.
    fn search_runs(&mut self, next: &Next, number: usize, segment: Segment) -> Cursor {
        let name = self.position_name(next.operand, number);
        let Segment { lo, hi, entries } = segment;
        let Coordinates::Runs { bounds, before } = entries.crd else {
            unreachable!("the level has runs");
        };
        // The first bound is that of the first run, and 0.
        let lo = lo.add(before.clone()).add(1);
        let hi = hi.add(before.clone()).add(1);
        let wanted = Wanted::Above(next.coordinate.clone());
        let end = self.bisect(&format!("{name}_found"), bounds, lo, hi, &wanted);
        let run = Expr::Var(end).binary(BinaryOp::Sub, before.add(1));
        let run = self.builder.let_(&name, run);
        Cursor {
            levels: number + 1,
            place: Place::At(Expr::Var(run)),
        }
    }

    /// From slot to slot until the coordinate or an empty one is met.
    fn search_table(
        &mut self,
        next: &Next,
        number: usize,
        segment: &Segment,
        crd: Buffer,
    ) -> (Expr, Cursor) {
        let name = self.position_name(next.operand, number);
        let lo = self.bound(&format!("{name}_lo"), segment.lo.clone());
        let end = self.bound(&format!("{name}_end"), segment.hi.clone());
        let n_slots = end.clone().binary(BinaryOp::Sub, lo.clone());
        let slot = first_slot(std::slice::from_ref(&next.coordinate), n_slots);
        let p = self.builder.var_(&name, lo.clone().add(slot));
        // A table of no slots has nothing to look at.
        let left = Expr::Var(p).less(end.clone());
        let here = || Expr::load(crd, p);
        let other = here().binary(BinaryOp::Ne, next.coordinate.clone());
        let stored = segment.entries.is_stored(p);
        let goes_on = stored.into_iter().fold(left.clone().and(other), Expr::and);
        let body = self.block(|it| {
            it.builder.assign(p, Expr::Var(p).add(1));
            let is_last = Expr::Var(p).equals(end);
            it.builder.if_then(is_last, |b| b.assign(p, lo));
        });
        self.builder.push(Loop::While {
            condition: goes_on,
            body,
        });
        let cursor = Cursor {
            levels: number + 1,
            place: Place::At(Expr::Var(p)),
        };
        (left.and(here().equals(next.coordinate.clone())), cursor)
    }

    /// By bisection where the list is ordered, else from its beginning.
    fn search_list(
        &mut self,
        next: &Next,
        number: usize,
        crd: Buffer,
        is_ordered: bool,
        bindings: &Bindings,
    ) -> (Expr, Cursor) {
        let i = &next.coordinate;
        let mut walker = self.begin_walk_at(next.operand, number, bindings, None);
        let p = Expr::Var(walker.position);
        let left = p.clone().less(walker.end.clone());
        let here = Expr::load(crd, p.clone());
        if is_ordered {
            let name = format!("{}_found", self.position_name(next.operand, number));
            let wanted = Wanted::AtLeast(i.clone());
            let found = self.bisect(&name, crd, p, walker.end.clone(), &wanted);
            self.builder.assign(walker.position, found);
        } else {
            let body = self.block(|it| it.builder.assign(walker.position, p.add(1)));
            let beyond = here.clone().binary(BinaryOp::Ne, i.clone());
            self.builder.push(Loop::While {
                condition: left.clone().and(beyond),
                body,
            });
        }
        self.take_run(&mut walker, i.clone());
        (left.and(here.equals(i.clone())), walker.cursor())
    }

    /// Whether `stmt` reads an operand that is looked for, so that what is
    /// below may be skipped at any coordinate.
    pub(crate) fn searches(&self, stmt: &Stmt) -> bool {
        self.searches_around(stmt, None)
    }

    /// The same, but of operands that are looked up where others lead only those
    /// of loops around the one over `inner`.
    pub(crate) fn searches_around(&self, stmt: &Stmt, inner: Option<IndexVar>) -> bool {
        let mut found = self.looks_up(stmt) || self.locates(stmt, inner);
        stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operands = &self.operands;
                found |= operands.is_searched(access, self.concrete, self.formats)
                    || self.is_met(access);
            });
        });
        found
    }

    /// Whether a level of stored coordinates stands at a computed variable, as `j` of
    /// `A(j0,j,j1)` where no loop goes through `j`.
    fn is_met(&self, access: &Access) -> bool {
        let levels = self.formats.of(access.tensor).levels().iter();
        let mut vars = levels
            .filter(|level| !level.is_full())
            .filter_map(|level| access.var(level.mode()));
        vars.any(|var| self.concrete.derived_by(var).is_some() && !self.has_loop_through(var))
    }

    /// Whether an operand is looked for at constant coordinates.
    pub(crate) fn searches_before_loops(&self) -> bool {
        self.operands.ids().any(|operand| {
            let access = self.operands.access(operand);
            let is_constant = access.indices.iter().any(|index| index.vars().is_empty());
            is_constant
                && self
                    .operands
                    .is_searched(access, self.concrete, self.formats)
        })
    }

    /// An operand of `body` to look for.
    fn next_search(&self, body: &Stmt, bindings: &Bindings) -> Option<Next> {
        let mut found = None;
        body.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operand = self.operands.find(access);
                let operand = operand.expect("operands hold every access");
                if found.is_some() {
                    return;
                }
                let levels = self.formats.of(access.tensor).levels();
                let Some(level) = levels.get(bindings.cursors[&operand].levels) else {
                    return;
                };
                if level.is_computed() && is_inside(access, level.mode(), self.concrete) {
                    return;
                }
                let index = &access.indices[level.mode()];
                let coordinate = self.coordinate_of(index, &bindings.coordinates);
                found = coordinate.map(|coordinate| Next {
                    operand,
                    coordinate,
                });
            });
        });
        found
    }
}
