//! A loop over coordinates: everything, one operand, or several.
//!
//! ```text
//! everything           for i in 0..n { … }           walked operands keep pace:
//!                                                    hit = p < end and crd[p] == i
//! one operand          for p in lo..hi { i = crd[p] … }
//! one, repeating       while p < hi { i = crd[p]; run p..q of equal i … p = q }
//! several              see [`merge`](super::merge) and [`gallop`](super::gallop)
//! ```
//!
//! A level that stores `a * i + b` is walked as [`crate::affine`] says. Positions
//! at which nothing is stored are passed over. Of the operands that a loop could
//! walk, some may be looked up instead ([`sparsec_graph::lead`]). What is bound but not
//! walked yet is searched ([`crate::search`]).

use sparsec_base::ElementType;
use sparsec_graph::{Lead, Operand, Point};
use sparsec_index::concrete::{Steps, Stmt};
use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use super::cases::{Part, Walk, case};
use super::computed::on_curve;
use super::gallop::over_gallop;
use super::merge::over_merge;
use super::part::part_within;
use crate::context::{Context, Loop, Range};
use crate::level::{Coordinates, Holes, Segment};
use crate::prefetch::{prefetch_by, prefetch_from, prefetch_segment};
use crate::result::{reserve, with_result};
use crate::runs::begin_runs;
use crate::walker::{Walker, segment_of};

/// A loop over the coordinates of a variable, or over a range of them.
pub(super) fn over(b: &mut Builder, at: &Context<'_>, this: Loop<'_>) {
    let var = this.var;
    let is_stretch = at.ranges.contains_key(&var);
    let Lead {
        lattice, located, ..
    } = at.kernel.lead(var, this.body.stmt, is_stretch);
    let mut walk = Walk {
        this,
        at: at.clone(),
        walked: lattice.operands().into_iter().collect(),
        lattice,
        located,
        runs: Vec::new(),
    };
    if (walk.lattice.everything || walk.is_counted())
        && !is_stretch
        && let Some((range, above)) = part_within(b, at, var)
    {
        walk.at.ranges.insert(var, range);
        walk.at.inside.insert(above);
    }
    if walk.ascends() {
        walk.runs = begin_runs(b, &walk.at, var, this.body.stmt);
    }
    let is_plain = |operand: &Operand| at.kernel.access(*operand).plain_vars().is_some();
    if walk.lattice.everything {
        over_everything(b, &walk);
        return;
    }
    match (&walk.lattice.points[..], &walk.walked[..]) {
        ([], _) => {}
        ([point], [operand]) => over_one(b, &walk, point, *operand),
        ([_], all) if walk.gallops() && all.iter().all(is_plain) => over_gallop(b, &walk),
        _ => over_merge(b, &walk),
    }
}

impl Walk<'_, '_> {
    /// Whether positions follow coordinates in what the loop walks, so that a part of
    /// the coordinates is a part of the positions.
    fn is_counted(&self) -> bool {
        let at = &self.at;
        let is_counted = |operand: &Operand| {
            let access = at.kernel.access(*operand);
            let level = at.level_walked_at(*operand, self.this.var);
            let mode = at.kernel.levels(access.tensor)[level].mode();
            let entries = at.entries_below(*operand, level).entries;
            matches!(entries.crd, Coordinates::Counted(_))
                && access.var(mode) == Some(self.this.var)
        };
        !self.walked.is_empty() && self.walked.iter().all(is_counted)
    }

    /// Whether the loop goes from each coordinate to one not far behind: not where it leaps,
    /// nor along what has no order, nor in several places at once.
    fn ascends(&self) -> bool {
        let kernel = self.at.kernel;
        let is_ordered = |operand: &Operand| {
            let levels = kernel.levels(kernel.access(*operand).tensor);
            let number = kernel.walked_level(*operand, self.this.var);
            number.is_some_and(|number| levels[number].is_ordered())
        };
        let is_parallel = self.at.mark().parallel.is_some();
        !is_parallel && !self.gallops() && self.walked.iter().all(is_ordered)
    }
}

fn over_everything(b: &mut Builder, walk: &Walk<'_, '_>) {
    let (Loop { var, .. }, at) = (walk.this, &walk.at);
    let mut walkers = walk.begin(b);
    let i = at.kernel.coordinate(b, var);
    let (lo, hi, visited) = match at.ranges.get(&var) {
        Some(Range { lo, hi, .. }) => {
            let visited = hi.clone().binary(BinaryOp::Sub, lo.clone());
            (lo.clone(), hi.clone(), visited)
        }
        None => (Expr::int(0), at.extent(var), at.extent(var)),
    };
    reserve(b, at, walk.this, visited);
    b.marked_loop(i, lo..hi.clone(), at.mark(), |b| {
        prefetch_from(b, at, var, i, &hi);
        let inner = walk.inside(b, i);
        for walker in &mut walkers {
            let stored = walker.stored(Expr::Var(i));
            let here = walker.entries.coordinate(walker.position).equals(stored);
            let hit = walker.has_more().and(here);
            let hit = b.let_(&format!("{}_hit", walker.name), hit);
            walker.hit = Some(Expr::Var(hit));
            walker.take_run(b, i);
        }
        on_curve(b, &inner, var, |b| {
            with_result(b, &inner, walk.this, |b, inner| {
                let part = Part {
                    walk,
                    point: &walk.lattice.points[0],
                    walkers: &walkers,
                };
                let blocks = part.blocks(b, inner);
                part.chain(b, blocks, Vec::new());
            });
        });
        walkers.iter().for_each(|walker| walker.step(b));
    });
}

fn over_one(b: &mut Builder, walk: &Walk<'_, '_>, point: &Point, operand: Operand) {
    let (Loop { var, body }, at) = (walk.this, &walk.at);
    let level = at.level_walked_at(operand, var);
    let (mut segment, repeats) = segment_of(b, at, operand, level);
    let repeats = repeats && !at.goes_through(operand, level, body.stmt);
    let affine = at.affine(operand, level, var);
    let name = at.position_name(operand, level);
    let i = at.kernel.coordinate(b, var);
    if repeats {
        return over_runs(b, walk, point, i);
    }
    if let Some(affine) = &affine {
        segment = affine.part(b, &name, segment);
    }
    let list = at.list_of(operand);
    let list = list.filter(|_| affine.is_none() && !at.ranges.contains_key(&var));
    let p = b.fixed(&name, ElementType::I64);
    if let Some((list, n)) = list {
        // Each position in the list has its bit set.
        segment.entries.holes = Holes::None;
        let walker = Walker::at(at, (operand, level), segment.entries, p);
        let place = b.fixed(&format!("{name}_place"), ElementType::I64);
        reserve(b, at, walk.this, n.into());
        b.marked_loop(place, Expr::int(0)..n.into(), at.mark(), |b| {
            b.declare(p, Expr::load(list, place));
            b.declare(i, walker.coordinate(p));
            inside(b, walk, point, i, &[walker]);
        });
        return;
    }
    let Segment { lo, hi, entries } = segment;
    reserve(
        b,
        at,
        walk.this,
        hi.clone().binary(BinaryOp::Sub, lo.clone()),
    );
    let is_one = hi == lo.clone().add(1);
    let write = |b: &mut Builder| {
        let walker = Walker {
            affine,
            ..Walker::at(at, (operand, level), entries, p)
        };
        prefetch_by(b, at, var, &walker);
        b.if_some(walker.belongs(p), |b| {
            b.declare(i, walker.coordinate(p));
            inside(b, walk, point, i, &[walker]);
        });
    };
    // A parent has one entry below it.
    if is_one {
        b.declare(p, lo);
        return write(b);
    }
    prefetch_segment(b, at, operand, level, &lo);
    b.marked_loop(p, lo..hi, at.mark(), write);
}

/// A loop over the runs of equal coordinates of one operand.
fn over_runs(b: &mut Builder, walk: &Walk<'_, '_>, point: &Point, i: Var) {
    let [mut walker] = <[Walker; 1]>::try_from(walk.begin(b)).expect("one operand is walked");
    reserve(b, &walk.at, walk.this, walker.left());
    b.while_loop(walker.has_more(), |b| {
        b.declare(i, walker.coordinate(walker.position));
        walker.take_run(b, i);
        inside(b, walk, point, i, std::slice::from_ref(&walker));
        walker.step(b);
    });
}

/// The body of a loop whose only case is `point`.
fn inside(b: &mut Builder, walk: &Walk<'_, '_>, point: &Point, i: Var, walkers: &[Walker]) {
    let inner = walk.inside(b, i);
    with_result(b, &inner, walk.this, |b, inner| {
        case(b, walk, inner, point, walkers);
    });
}

impl Context<'_> {
    /// Whether loops directly inside one another go through the other coordinates of
    /// entries whose first ones may repeat, and nothing is done between them: then each
    /// entry is as good as a run of those that have one coordinate in common.
    fn goes_through(&self, operand: Operand, level: usize, body: &Stmt) -> bool {
        let kernel = self.kernel;
        let access = kernel.access(operand);
        let format = kernel.formats.of(access.tensor);
        let mut result_takes_any_order = true;
        body.for_each_assign(&mut |lhs, _, _| {
            result_takes_any_order &= kernel.formats.of(lhs.tensor).is_scattered_to();
        });
        let mut outer = self.loops.clone();
        let mut stmt = body;
        for inner in &format.levels()[level + 1..=format.chain_end(level)] {
            let Stmt::Forall { var, body } = stmt else {
                return false;
            };
            let Lead {
                lattice, located, ..
            } = kernel.lead(*var, body, false);
            let is_alone = !lattice.everything
                && located.is_empty()
                && lattice.points.len() == 1
                && lattice.operands().into_iter().eq([operand]);
            let is_coordinate = kernel.concrete.steps(&outer, *var) == Steps::Coordinates;
            if !is_alone || !is_coordinate || access.var(inner.mode()) != Some(*var) {
                return false;
            }
            outer.push(*var);
            stmt = body;
        }
        result_takes_any_order
    }
}
