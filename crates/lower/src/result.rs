//! The result in its loops: when its segments and entries begin and end.
//!
//! ```text
//! forall i:                      for i in 0..n {            begin the segment of i
//!   forall j: C(i,j) = A(i,j)      for pA in … { let j = …  begin an entry
//!                                    C.vals[pC] = … }       store, end the entry
//!                                  C1.pos[i + 1] = pC }     close the segment
//! ```
//!
//! [`crate::assembly`] writes what that takes. This says which loop goes along which of its
//! levels, whether loops may pass over a parent, and where a dense result is filled:
//! shortly before use if the outer loops visit each row once, else before them, and
//! not at all if every place is assigned anyway. Padding is assigned by no loop.

use std::rc::Rc;

use sparsec_graph::has_padding;
use sparsec_index::concrete::{Steps, Stmt, for_each_nested};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{Builder, Expr};

use crate::assembly::{Assembly, Chains, Located, Target};
use crate::context::{Context, Loop};
use crate::cursor::Cursor;
use crate::kernel::Kernel;
use crate::value::Update;
use crate::workspace::reserve_appended;

/// What comes before all loops: fill of a dense result, counters and the
/// first segment bounds of a sparse one.
pub(crate) fn begin<'k>(b: &mut Builder, at: &Context<'k>) -> Assembly<'k> {
    let (kernel, access) = (at.kernel, &at.output.access);
    let data = &kernel.concrete.tensors[access.tensor];
    let modes = kernel.levels(access.tensor).iter().map(|it| it.mode());
    let target = Rc::new(Target {
        name: &data.name,
        format: kernel.formats.of(access.tensor),
        arrays: &kernel.tensors[&access.tensor],
        extents: modes.map(|mode| at.mode_extent(access, mode)).collect(),
        known: &data.extents,
        fill: data.fill,
    });
    if target.format.takes_any_order() {
        return Assembly::Located(begin_located(b, kernel, access, target));
    }
    target.check_coordinates(b);
    Assembly::Chains(match kernel.concrete.inserts() {
        true => Chains::insert(target),
        false => Chains::append(b, target, |level| may_skip(kernel, access, level)),
    })
}

fn begin_located<'k>(
    b: &mut Builder,
    kernel: &Kernel<'_>,
    access: &Access,
    target: Rc<Target<'k>>,
) -> Located<'k> {
    let concrete = kernel.concrete;
    let mut reduce = None;
    let mut overwritten = false;
    for_each_nested(&concrete.stmt, &mut |nested| {
        if nested.lhs.tensor == access.tensor {
            reduce = nested.reduce;
            let mut numbers = 0..nested.loops.len();
            let visits_all =
                |at: usize| visits_everything(kernel, &nested.loops[..at], nested.loops[at]);
            overwritten = reduce.is_none() && numbers.all(visits_all);
        }
    });
    let mut located = Located::new(target);
    let has_bits = located.clear_bits(b);
    let is_assigned = overwritten && !has_padding(concrete, access.tensor);
    if !is_assigned || has_bits || kernel.searches(&concrete.stmt) {
        let identity = kernel.identity(access.tensor, reduce);
        located.begin_fill(b, identity, level_filled_at(kernel, access));
    }
    located
}

/// Whether a loop around an assignment of the result visits every coordinate.
fn visits_everything(kernel: &Kernel<'_>, outer: &[IndexVar], var: IndexVar) -> bool {
    let var = match kernel.concrete.steps(outer, var) {
        Steps::Blocks => return true,
        Steps::Stretch(original) => original,
        Steps::Coordinates => var,
        Steps::Positions(_) | Steps::Computed => return false,
    };
    let lattice = kernel.result_lattice(var);
    lattice.is_some_and(|lattice| lattice.everything && lattice.operands().is_empty())
}

/// The innermost level of a dense result at whose loop its entries below
/// may be filled: the outermost loops are over everything of its outermost
/// levels, so each entry is filled once, shortly before it is used.
fn level_filled_at(kernel: &Kernel<'_>, access: &Access) -> Option<usize> {
    let levels = kernel.levels(access.tensor);
    let mut stmt = &kernel.concrete.stmt;
    // What is looked for before all loops may leave nothing of them, and nests of a
    // sequence come to an entry at different times.
    let mut is_sequence = false;
    stmt.for_each(&mut |part| is_sequence |= matches!(part, Stmt::Sequence(_)));
    if is_sequence || kernel.searches_before_loops() {
        return None;
    }
    let mut found = None;
    for (number, level) in levels.iter().enumerate() {
        let Stmt::Forall { var, body } = stmt else {
            break;
        };
        // In the last block a loop stops where the tensor does, and the level does not.
        if kernel.concrete.made_by(*var).is_some() {
            break;
        }
        let lattice = kernel.result_lattice(*var);
        let Some(lattice) = lattice.filter(|lattice| lattice.everything) else {
            break;
        };
        if access.var(level.mode()) != Some(*var) {
            break;
        }
        found = Some(number);
        // In some cases of a loop the loops inside may not run.
        if !lattice.operands().is_empty() || kernel.searches(body) {
            break;
        }
        stmt = body;
    }
    found
}

/// Whether some parent position of the chain that begins at `first` may
/// be passed over: a loop over a full level between it and the chain
/// before does not visit everything, or is inside a case that may not run.
fn may_skip(kernel: &Kernel<'_>, access: &Access, first: usize) -> bool {
    let levels = kernel.levels(access.tensor);
    let begin = levels[..first]
        .iter()
        .rposition(|level| !level.kind.capabilities().full)
        .map_or(0, |walked| walked + 1);
    let inner = access.var(levels[first].mode());
    if begin < first && kernel.searches_around(&kernel.concrete.stmt, inner) {
        return true;
    }
    // In some cases of a loop outside, fewer operands are left, and the
    // loops inside may visit less.
    let has_cases = |level: usize| {
        let var = access.var(levels[level].mode());
        let lattice = var.and_then(|var| kernel.result_lattice(var));
        lattice.is_none_or(|lattice| lattice.points.len() > 1)
    };
    if begin < first && (0..begin).any(has_cases) {
        return true;
    }
    (begin..first).any(|level| {
        let Some(var) = access.var(levels[level].mode()) else {
            return true;
        };
        let Some(lattice) = kernel.result_lattice(var) else {
            return true;
        };
        let innermost = level + 1 == first;
        let passes_over = |var: IndexVar| {
            let lattice = kernel.result_lattice(var);
            lattice.is_some_and(|it| !it.everything || !it.operands().is_empty())
        };
        !lattice.everything
            || (!innermost && !lattice.operands().is_empty())
            || kernel.concrete.made_of(var).into_iter().any(passes_over)
    })
}

/// The level of the result that a loop over `var` goes along, if `body` assigns it.
fn level_along(at: &Context<'_>, var: IndexVar, body: &Stmt) -> Option<usize> {
    let access = &at.output.access;
    let mut levels = at.kernel.levels(access.tensor).iter();
    let level = levels.position(|level| access.var(level.mode()) == Some(var))?;
    let result = access.tensor;
    at.kernel.assigns(body, result).then_some(level)
}

/// Makes room for the entries that a loop may append: one for each coordinate that it visits.
pub(crate) fn reserve(b: &mut Builder, at: &Context<'_>, this: Loop<'_>, visited: Expr) {
    let Loop { var, body } = this;
    reserve_appended(b, at, body.stmt, &visited);
    let Some(Assembly::Chains(chains)) = &at.output.assembly else {
        return;
    };
    let level = level_along(at, var, body.stmt);
    if let Some(number) = level.and_then(|level| chains.number_at(level)) {
        chains.reserve(b, number, visited);
    }
}

/// Writes a loop's body between what the result's level needs before and after it.
pub(crate) fn with_result(
    b: &mut Builder,
    at: &Context<'_>,
    this: Loop<'_>,
    write: impl FnOnce(&mut Builder, &Context<'_>),
) {
    let level = level_along(at, this.var, this.body.stmt);
    let (level, chains) = match (level, &at.output.assembly) {
        (Some(level), Some(Assembly::Chains(chains))) => (level, chains),
        (Some(level), Some(Assembly::Located(located))) => {
            located.fill_at(b, level, &at.output.cursor);
            return write(b, at);
        }
        _ => return write(b, at),
    };
    let cursor = &at.output.cursor;
    let mut inner = at.clone();
    let mut chains = chains.clone();
    if let Some(number) = chains.number_at(level) {
        inner.output.cursor = Cursor::at(level + 1, chains.counter(number));
        let kept = chains.begin_entry(b, number);
        inner.output.assembly = Some(Assembly::Chains(chains.clone()));
        write(b, &inner);
        chains.end_entry(b, number, kept, |level| coordinate(&inner, level));
    } else if let Some(number) = chains.below(level, cursor.levels) {
        let position = cursor.position();
        chains.begin_segment(b, number, position.clone());
        inner.output.assembly = Some(Assembly::Chains(chains.clone()));
        write(b, &inner);
        chains.close_segment(b, number, position.clone());
    } else {
        write(b, at);
    }
}

/// The coordinate of a level of the result, here.
fn coordinate(at: &Context<'_>, level: usize) -> Expr {
    let access = &at.output.access;
    let mode = at.kernel.levels(access.tensor)[level].mode();
    at.bound_coordinate(&access.indices[mode])
}

/// Stores a value of the result, and adds its coordinate where levels list them.
pub(crate) fn store(b: &mut Builder, at: &Context<'_>, update: Update<'_>) {
    let position = at.output.cursor.position().clone();
    let coordinate = |level| coordinate(at, level);
    match at.output.assembly.as_ref().expect("the result is begun") {
        Assembly::Located(located) => located.store(b, position, update, coordinate),
        Assembly::Chains(chains) => chains.store(b, position, update, coordinate),
    }
}
