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
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr};

use crate::absent::without;
use crate::bisect::{Wanted, bisect};
use crate::context::{Body, Context};
use crate::cursor::Cursor;
use crate::level::dense::locate;
use crate::level::hashed::{first_slot, next_slot};
use crate::level::{Coordinates, Segment};
use crate::walker::{Walker, segment_of};

/// An operand whose next level is at a coordinate that is bound.
#[derive(Clone, Debug)]
struct Next {
    operand: Operand,
    coordinate: Expr,
}

/// A search for a coordinate in a segment.
#[derive(Clone, Debug)]
struct Search {
    operand: Operand,
    /// The number of the level.
    level: usize,
    /// How the position that is found is called.
    name: String,
    segment: Segment,
    /// Whether equal coordinates are taken together.
    repeats: bool,
    coordinate: Expr,
}

/// The body of a loop, with every operand looked for whose next level
/// stores a coordinate that is bound.
pub(crate) fn found(b: &mut Builder, body: Body<'_>, at: &Context<'_>) {
    let Some(next) = next_search(body.stmt, at) else {
        return body.write(b, at);
    };
    let kernel = at.kernel;
    let access = kernel.access(next.operand);
    let (condition, cursor) = search(b, &next, at);
    let write = |b: &mut Builder| {
        let mut inner = at.clone();
        inner.cursors.insert(next.operand, cursor);
        inner.advance();
        found(b, body, &inner);
    };
    let Some(condition) = condition else {
        return write(b);
    };
    b.if_else(condition, write, |b| {
        let is_it = |other: &_| other == access;
        if let Some(stmt) = without(kernel.concrete, body.stmt, &is_it, &at.unfilled()) {
            found(
                b,
                Body {
                    stmt: &stmt,
                    ..body
                },
                at,
            );
        }
    });
}

/// An operand of `body` to look for.
fn next_search(body: &Stmt, at: &Context<'_>) -> Option<Next> {
    let mut found = None;
    body.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            if found.is_some() {
                return;
            }
            let operand = at.kernel.operand(access);
            let levels = at.kernel.levels(access.tensor);
            let Some(level) = levels.get(at.cursors[&operand].levels) else {
                return;
            };
            let mode = level.mode();
            if level.is_computed() && is_inside(access, mode, at.kernel.concrete) {
                return;
            }
            let coordinate = at.coordinate_of(&access.indices[mode]);
            found = coordinate.map(|coordinate| Next {
                operand,
                coordinate,
            });
        });
    });
    found
}

/// Searches a level; where it has the coordinate, if it may not, and the cursor
/// there.
fn search(b: &mut Builder, next: &Next, at: &Context<'_>) -> (Option<Expr>, Cursor) {
    let Next {
        operand,
        mut coordinate,
    } = next.clone();
    let access = at.kernel.access(operand);
    let cursor = &at.cursors[&operand];
    let number = cursor.levels;
    let level = &at.kernel.levels(access.tensor)[number];
    let mode = level.mode();
    let mut within = None;
    if !is_inside(access, mode, at.kernel.concrete) {
        let name = format!("i{}{number}", at.kernel.name(access.tensor));
        let here = b.let_(&name, coordinate);
        coordinate = Expr::Var(here);
        let extent = at.mode_extent(access, mode);
        within = Some(Expr::int(-1).less(here).and(Expr::Var(here).less(extent)));
    }
    if level.is_computed() {
        let extent = at.mode_extent(access, mode);
        let position = locate(cursor.position(), extent, coordinate);
        return (within, Cursor::at(number + 1, position));
    }
    let (segment, repeats) = segment_of(b, at, operand, number);
    let crd = segment.entries.crd.clone();
    let search = Search {
        operand,
        level: number,
        name: at.position_name(operand, number),
        segment,
        repeats,
        coordinate,
    };
    let (here, cursor) = match crd {
        Coordinates::Counted(zero) => return search.count(b, zero, within),
        Coordinates::Runs { bounds, before } => {
            return (within, search.bisect_runs(b, bounds, before));
        }
        Coordinates::Hashed(crd) => search.probe(b, crd),
        Coordinates::Listed(crd) => search.look_through(b, at, crd, level.is_ordered()),
    };
    (within.into_iter().chain([here]).reduce(Expr::and), cursor)
}

impl Search {
    /// The position is computed, and may be outside of the segment or a hole.
    fn count(self, b: &mut Builder, zero: Expr, within: Option<Expr>) -> (Option<Expr>, Cursor) {
        let Segment { lo, hi, entries } = self.segment;
        let p = match zero == Expr::int(0) {
            true => self.coordinate,
            false => zero.add(self.coordinate),
        };
        let p = b.named(&self.name, p);
        let stored = entries.is_stored(p.clone());
        // Where there are holes, every coordinate has a position.
        let inside = match (within, &stored) {
            (None, Some(_)) => None,
            _ => {
                let from = lo.binary(BinaryOp::Le, p.clone());
                Some(from.and(p.clone().less(hi)))
            }
        };
        let condition = inside.into_iter().chain(stored).reduce(Expr::and);
        (condition, Cursor::at(self.level + 1, p))
    }

    /// The run that the coordinate is in, which there is.
    fn bisect_runs(self, b: &mut Builder, bounds: Buffer, before: Expr) -> Cursor {
        let (name, Segment { lo, hi, .. }) = (self.name, self.segment);
        // The first bound is that of the first run, and 0.
        let lo = lo.add(before.clone()).add(1);
        let hi = hi.add(before.clone()).add(1);
        let wanted = Wanted::Above(self.coordinate);
        let end = bisect(b, &format!("{name}_found"), bounds, lo..hi, &wanted);
        let run = Expr::Var(end).binary(BinaryOp::Sub, before.add(1));
        Cursor::at(self.level + 1, b.let_(&name, run))
    }

    /// From slot to slot until the coordinate or an empty one is met.
    fn probe(self, b: &mut Builder, crd: Buffer) -> (Expr, Cursor) {
        let (name, Segment { lo, hi, entries }) = (self.name, self.segment);
        let lo = b.named(&format!("{name}_lo"), lo);
        let end = b.named(&format!("{name}_end"), hi);
        let n_slots = end.clone().binary(BinaryOp::Sub, lo.clone());
        let slot = first_slot(std::slice::from_ref(&self.coordinate), n_slots);
        let p = b.var_(&name, lo.clone().add(slot));
        // A table of no slots has nothing to look at.
        let left = Expr::Var(p).less(end.clone());
        let here = || Expr::load(crd, p);
        let other = here().binary(BinaryOp::Ne, self.coordinate.clone());
        let stored = entries.is_stored(p);
        let goes_on = stored.into_iter().fold(left.clone().and(other), Expr::and);
        b.while_loop(goes_on, |b| next_slot(b, p, lo, end));
        let is_it = left.and(here().equals(self.coordinate));
        (is_it, Cursor::at(self.level + 1, p))
    }

    /// By bisection where the list is ordered, else from its beginning.
    fn look_through(
        self,
        b: &mut Builder,
        at: &Context<'_>,
        crd: Buffer,
        is_ordered: bool,
    ) -> (Expr, Cursor) {
        let i = self.coordinate;
        let (level, entries) = ((self.operand, self.level), (self.segment, self.repeats));
        let mut walker = Walker::begin_at(b, at, level, entries);
        let p = Expr::Var(walker.position);
        let left = walker.has_more();
        let here = Expr::load(crd, p.clone());
        if is_ordered {
            let name = format!("{}_found", walker.name);
            let wanted = Wanted::AtLeast(i.clone());
            let found = bisect(b, &name, crd, p..walker.end.clone(), &wanted);
            b.assign(walker.position, found);
        } else {
            let beyond = here.clone().binary(BinaryOp::Ne, i.clone());
            b.while_loop(left.clone().and(beyond), |b| {
                b.assign(walker.position, p.add(1));
            });
        }
        walker.take_run(b, i.clone());
        (left.and(here.equals(i)), walker.cursor())
    }
}
