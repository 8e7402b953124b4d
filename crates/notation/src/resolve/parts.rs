//! What windows, sets and affine forms say of extents.
//!
//! ```text
//! A(i(2:9:3))     i = 3: the coordinates 2, 5, 8          the mode has to reach 9
//! A(i({4,1,7}))   i = 3: the coordinates 4, 1, 7          the mode has to reach 8
//! x(i+r) * k(r)   i = extent of x - extent of k + 1, unless something else says
//! y(2*i) = x(i)   y = 2 * extent of x - 1, unless something else says
//! ```
//!
//! A variable that stands alone somewhere runs over that mode. One that only
//! stands in affine forms runs as far as every coordinate is inside its mode;
//! where that says nothing, the caller has to.

use sparsec_base::{Code, Diagnostic, Result, Span, code};
use sparsec_index::{IndexExpr, IndexVar, Program, TensorRole};

use super::extents::{AccessUse, Uses};
use crate::syntax::{Index, IndexKind};

/// The extents that windows and sets give their variables.
pub(crate) fn counted(index: &Index) -> Option<(&Index, u64)> {
    match &index.kind {
        IndexKind::Window { from, to, step, .. } => Some((index, (to - from).div_ceil(*step))),
        IndexKind::Set { at, list } if at.as_var().is_some() => Some((at, list.len() as u64)),
        _ => None,
    }
}

/// A variable without an extent that counts a set, and how many coordinates that lists.
pub(crate) fn counted_by_number(program: &Program, uses: &Uses) -> Option<(IndexVar, u64)> {
    uses.numbers.iter().find_map(|(index, written)| {
        let (_, count) = counted(written)?;
        let var = *index.vars().first()?;
        program.vars[var].extent.is_none().then_some((var, count))
    })
}

/// The extent of a variable that only stands in affine forms: the largest with
/// which every coordinate of `accesses`, all that have it, is inside.
pub(crate) fn deduced<'a>(
    program: &Program,
    accesses: impl Iterator<Item = &'a AccessUse> + Clone,
    var: IndexVar,
) -> Option<u64> {
    let extent = |var: IndexVar| program.vars[var].extent;
    let mut least = None;
    // What is assigned runs as far as what is read, if that says it.
    let is_read = accesses.clone().any(|access| !access.is_left);
    for access in accesses {
        let data = &program.tensors[access.tensor];
        for (mode, index) in access.indices.iter().enumerate() {
            let is_beside = access.is_left && is_read;
            if !index.uses(var) || index.as_var().is_some() || is_beside {
                continue;
            }
            let valid = index.valid_extent(var, data.extents[mode]?, &extent)?;
            least = Some(least.map_or(valid, |known: u64| known.min(valid)));
        }
    }
    least
}

/// A mode of a result that only an affine form reaches, and its extent.
pub(crate) fn needed(program: &Program, access: &AccessUse) -> Option<(usize, u64)> {
    let extent = |var: IndexVar| program.vars[var].extent;
    let data = &program.tensors[access.tensor];
    if data.role != TensorRole::Result || !access.is_left {
        return None;
    }
    let mut modes = access.indices.iter().zip(&data.extents).enumerate();
    modes.find_map(|(mode, (index, known))| match known {
        Some(_) => None,
        None => Some((mode, index.extent_needed(&extent)?)),
    })
}

/// What has to hold when all extents are known that follow.
///
/// # Errors
/// `E0214` for numbers that leave 64 bits, `E0215` for a window and `E0216` for
/// a set outside of its mode.
pub(crate) fn check(program: &Program, uses: &Uses) -> Result<()> {
    let extent = |var: IndexVar| program.vars[var].extent;
    for (index, written) in &uses.numbers {
        check_sets(program, index, written)?;
    }
    for access in uses.accesses() {
        let data = &program.tensors[access.tensor];
        for (mode, index) in access.indices.iter().enumerate() {
            let written = &access.written.indices[mode];
            if index.as_var().is_some() {
                continue;
            }
            let refuse = |code: Code, message: String, span: Span, label: String, help: &str| {
                Err(Diagnostic::new(code, message)
                    .at(&program.source, span, label)
                    .help(help))
            };
            let name = data.source_name();
            check_sets(program, index, written)?;
            if index.has_places() {
                return Err(refused_place(program, written));
            }
            if let Some((least, most)) = index.range(&extent)
                && (i64::try_from(least).is_err() || i64::try_from(most).is_err())
            {
                return refuse(
                    code::AFFINE_INDEX,
                    format!("the coordinates `{written}` leave 64 bits"),
                    written.span,
                    format!("from {least} to {most}"),
                    "write smaller factors and offsets",
                );
            }
            let Some(bound) = data.extents[mode] else {
                continue;
            };
            if access.is_left
                && !index.has_none(&extent)
                && let Some((least, most)) = index.range(&extent)
                && (least < 0 || most >= i128::from(bound))
                && !matches!(
                    written.kind,
                    IndexKind::Window { .. } | IndexKind::Set { .. }
                )
            {
                return refuse(
                    code::ASSIGNED_OUTSIDE,
                    format!("entries outside of `{name}` are assigned"),
                    written.span,
                    format!(
                        "from {least} to {most}, and mode {mode} of `{name}` has extent {bound}"
                    ),
                    &inside(index, bound, program, uses),
                );
            }
            match &written.kind {
                IndexKind::Window { from, to, step, .. } if *to > bound => {
                    let last = to.saturating_sub(1);
                    let (window, reached) = (format!("{from}:{to}:{step}"), last.max(*from));
                    return refuse(
                        code::WINDOW,
                        format!("the window {window} is outside of its mode"),
                        written.span,
                        format!(
                            "mode {mode} of `{name}` has extent {bound}, not {}",
                            reached + 1
                        ),
                        &format!("end the window at {bound}"),
                    );
                }
                IndexKind::Set { list, .. } => {
                    if let Some(outside) = list.iter().find(|coord| **coord >= bound) {
                        return refuse(
                            code::INDEX_SET,
                            format!("the set has coordinate {outside}, outside of its mode"),
                            written.span,
                            format!("mode {mode} of `{name}` has extent {bound}"),
                            "list coordinates below the extent; they count from 0",
                        );
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// How an index on the left is kept inside of a mode.
fn inside(index: &IndexExpr, bound: u64, program: &Program, uses: &Uses) -> String {
    let extent = |var: IndexVar| program.vars[var].extent;
    let vars = index.vars();
    let Some(var) = vars.first() else {
        return format!("write a coordinate below {bound}; they count from 0");
    };
    let name = &program.vars[*var].name;
    let is_alone = |index: &IndexExpr| index.as_var() == Some(*var);
    let mut reads = uses.accesses().iter().filter(|access| !access.is_left);
    let is_read = reads.any(|access| access.indices.iter().any(is_alone));
    match (index.valid_extent(*var, bound, &extent), is_read) {
        (Some(valid @ 1..), true) => {
            format!("let `{name}` take {valid} values: read `{name}(0:{valid})` on the right")
        }
        (Some(valid @ 1..), false) => {
            format!("let `{name}` take {valid} values: `.extent(\"{name}\", {valid})`")
        }
        _ => format!("write an index that is below {bound} for every value of `{name}`"),
    }
}

/// Tensors are not indexed by places on curves: these are what levels store.
fn refused_place(program: &Program, written: &Index) -> Diagnostic {
    let error = Diagnostic::new(code::AFFINE_INDEX, format!("`{written}` is no index"));
    error
        .at(&program.source, written.span, "what a level may store")
        .help("index by the coordinates, and store the tensor so: `.format(\"A\", \"alto\")`")
}

/// The place in a set has to be one: `(i+j)({4,1,7})` only with `i + j < 3`.
fn check_sets(program: &Program, index: &IndexExpr, written: &Index) -> Result<()> {
    let extent = |var: IndexVar| program.vars[var].extent;
    let mut outside = None;
    index.for_each_set(&mut |list, at| {
        let is_empty = at.vars().iter().any(|var| extent(*var) == Some(0));
        if !is_empty && !at.is_within(Some(list.len() as u64), &extent) {
            outside = Some(list.len());
        }
    });
    let Some(len) = outside else {
        return Ok(());
    };
    Err(Diagnostic::new(
        code::INDEX_SET,
        "the place in a set is not sure to be one of its places",
    )
    .at(
        &program.source,
        written.span,
        format!("the set has {len} coordinates"),
    )
    .help("let a variable alone count its coordinates: `A(i({4,1,7}))`"))
}
