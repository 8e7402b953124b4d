//! Commands by which loops walk levels that store expressions over the modes.
//!
//! ```text
//! y(i) = A(i,j) * x(j)             A : bsr(4, 4)
//!
//! levels(A, bsr(4, 4))             A(i,j) is A_levels(i // 4, j // 4, i % 4, j % 4)
//! split(i, i0, i1, 4)
//! split(j, j0, j1, 4)              … is A_levels(i0, j0, i1, j1)
//!
//! levels(A, alto)                  A(i,j) is A_levels(alto(i, 9, j, 5))
//! deal(m, alto(i, 9, j, 5))        … is A_levels(m)
//! ```
//!
//! What is stored at quotients and remainders of a variable is walked in the same
//! way, as is what a statement assigns to every third row:
//!
//! ```text
//! C(i,j) = t(i // 3, i % 3, j)     t : csf
//!
//! split(i, i0, i1, 3)              t(i // 3, i % 3, j) is t(i0, i1, j)
//! ```
//!
//! A tensor is seen by its levels where loops then walk or locate all of them,
//! and where no other operand is walked along a variable that they compute: that
//! one would be searched at every step, and a conversion costs less.

use std::collections::BTreeMap;

use sparsec_format::{Format, Level, Way, Widths};
use sparsec_graph::Formats;
use sparsec_index::concrete::{Clause, Skew};
use sparsec_index::index_expr::Term;
use sparsec_index::{Access, Concrete, Curve, IndexExpr, IndexVar, TensorVar};
use sparsec_schedule::{Command, Schedule};

use crate::draft::Draft;

/// Drafts in which loops walk tensors as they are stored, that of most tensors
/// first; the last is the one that is given.
pub(crate) fn alternatives<'a>(draft: &Draft<'a>) -> Vec<Draft<'a>> {
    let (concrete, formats) = (&draft.concrete, &draft.formats);
    let operands = seen(concrete, formats, false);
    let with_result = seen(concrete, formats, true);
    let mut lists: Vec<Schedule> = Vec::new();
    for tensors in [with_result, operands, Vec::new()] {
        let commands = commands(draft, &tensors).unwrap_or_default();
        let text = commands.to_string();
        if !text.is_empty() && lists.iter().all(|known| known.to_string() != text) {
            lists.push(commands);
        }
    }
    lists.push(Schedule::default());
    let said = lists.into_iter().filter_map(|commands| {
        let mut start = draft.clone();
        start.commands(&commands.0).is_ok().then_some(start)
    });
    said.collect()
}

/// The tensors that kernels walk, or assemble, by their levels alone.
fn seen(concrete: &Concrete, formats: &Formats, with_result: bool) -> Vec<TensorVar> {
    let mut found = Vec::new();
    let mut look = |tensor: TensorVar, way: fn(&Format) -> Way| {
        let is_by_levels = formats.get(tensor).map(way) == Some(Way::Levels);
        if is_by_levels && !found.contains(&tensor) {
            found.push(tensor);
        }
    };
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        rhs.for_each_access(&mut |access| look(access.tensor, Format::read_by));
        if with_result {
            look(lhs.tensor, Format::written_by);
        }
    });
    found
}

/// The commands for some tensors; `None` where loops would not walk them all.
fn commands(draft: &Draft<'_>, tensors: &[TensorVar]) -> Option<Schedule> {
    let (concrete, formats) = (&draft.concrete, &draft.formats);
    let mut commands = Schedule::default();
    let mut seen = concrete.clone();
    let apply = |command: Command, seen: &mut Concrete, commands: &mut Schedule| {
        *seen = command.apply(seen).ok()?;
        commands.0.push(command);
        Some(())
    };
    for tensor in tensors {
        let name = &concrete.tensors[*tensor].name;
        let format = formats.get(*tensor)?.clone().with_widths(Widths::default());
        let has_ranks = format.has_ranks();
        // What is used where no sum of ranks can be is converted.
        let applied = apply(Command::levels(name, format), &mut seen, &mut commands);
        applied.or_else(|| has_ranks.then_some(()))?;
    }
    let made = seen.tensors.ids_from(concrete.tensors.len());
    // A nest before this one may have seen a tensor by its levels already.
    let views: Vec<TensorVar> = draft.of_levels().chain(made).collect();
    let in_blocks = stored_in_blocks(&seen, formats);
    let split: Vec<TensorVar> = views.iter().chain(&in_blocks).copied().collect();
    while let Some((var, size)) = next_split(&seen, &split)? {
        let name = seen.vars[var].name.clone();
        let outer = seen.fresh_name(&format!("{name}0"));
        let inner = seen.fresh_name(&format!("{name}1"));
        let split = Clause::Split {
            var: name.as_str(),
            outer: outer.as_str(),
            inner: inner.as_str(),
            size: size.unsigned_abs(),
        };
        apply(split.into(), &mut seen, &mut commands)?;
    }
    while let Some((var, along, by)) = next_skew(&seen, &views) {
        let [var, along] = [var, along].map(|var| seen.vars[var].name.clone());
        let made = seen.fresh_name("d");
        let skew = Clause::Skew {
            var: var.as_str(),
            made: made.as_str(),
            along: along.as_str(),
            by,
        };
        apply(skew.into(), &mut seen, &mut commands)?;
    }
    while let Some((curve, vars)) = next_place(&seen, &views) {
        let vars: Vec<String> = vars
            .iter()
            .map(|var| seen.vars[*var].name.clone())
            .collect();
        let made = seen.fresh_name("m");
        let deal = Clause::Deal {
            vars: vars.iter().map(String::as_str).collect(),
            made: made.as_str(),
            curve,
        };
        apply(deal.into(), &mut seen, &mut commands)?;
    }
    let mut fits = true;
    for_each_access(&seen, &mut |access| {
        fits &= match formats.get(access.tensor) {
            // Of the levels.
            None => !views.contains(&access.tensor) || access.plain_vars().is_some(),
            Some(format) => !is_searched(&seen, access, format),
        };
    });
    fits.then_some(commands)
}

/// The operands that store entries at a quotient or a remainder of a variable.
fn stored_in_blocks(concrete: &Concrete, formats: &Formats) -> Vec<TensorVar> {
    let mut found = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            let format = formats.get(access.tensor).filter(|it| it.is_native());
            let levels = format.map_or(&[][..], Format::levels);
            let is_block = |level: &Level| {
                !level.is_full() && block_of(&access.indices[level.mode()]).is_some()
            };
            if levels.iter().any(is_block) && !found.contains(&access.tensor) {
                found.push(access.tensor);
            }
        });
    });
    found
}

/// Whether a level of stored coordinates is at a variable that is computed.
fn is_searched(concrete: &Concrete, access: &Access, format: &Format) -> bool {
    let format = match format.is_native() {
        true => format.clone(),
        false => format.nearest(),
    };
    let is_computed = |var: &IndexVar| concrete.derived_by(*var).is_some();
    let mut levels = format.levels().iter();
    access.tensor != concrete.result
        && levels.any(|level| {
            let index = &access.indices[level.mode()];
            !level.is_full() && index.vars().iter().any(is_computed)
        })
}

/// A variable to split, and the size of its blocks; the outer `None` where
/// levels store blocks of several sizes of one variable.
#[allow(clippy::option_option)]
fn next_split(concrete: &Concrete, views: &[TensorVar]) -> Option<Option<(IndexVar, i64)>> {
    let mut sizes: BTreeMap<IndexVar, i64> = BTreeMap::new();
    let mut agree = true;
    for_each_access(concrete, &mut |access| {
        for index in access
            .indices
            .iter()
            .filter(|_| views.contains(&access.tensor))
        {
            let parts = index
                .as_place()
                .map_or(std::slice::from_ref(index), |(_, of)| of);
            for (var, size) in parts.iter().filter_map(block_of) {
                agree &= *sizes.entry(var).or_insert(size) == size;
            }
        }
    });
    agree.then(|| sizes.into_iter().next())
}

/// A place on a curve through variables, to loop over in place of these.
fn next_place(concrete: &Concrete, views: &[TensorVar]) -> Option<(Curve, Vec<IndexVar>)> {
    let mut found = None;
    for_each_access(concrete, &mut |access| {
        let mut indices = access
            .indices
            .iter()
            .filter(|_| views.contains(&access.tensor));
        let place = indices.find_map(|index| {
            let (curve, of) = index.as_place()?;
            let vars: Option<Vec<IndexVar>> = of.iter().map(IndexExpr::as_var).collect();
            Some((curve.clone(), vars?))
        });
        found = found.take().or(place);
    });
    found
}

/// A variable to loop over the values of a sum in place of, the other variable of the sum, and
/// its numbers. No level of the tensor stores the first one, so that it is computed.
fn next_skew(concrete: &Concrete, views: &[TensorVar]) -> Option<(IndexVar, IndexVar, Skew)> {
    let mut found = None;
    for_each_access(concrete, &mut |access| {
        if found.is_some() || !views.contains(&access.tensor) {
            return;
        }
        for index in &access.indices {
            let [(Term::Var(a), of_a), (Term::Var(b), of_b)] = index.terms() else {
                continue;
            };
            let may_go = |var: &IndexVar, factor: i64| {
                factor.abs() == 1 && !access.indices.iter().any(|it| it.as_var() == Some(*var))
            };
            // Of two, the one that is added: columns, of diagonals.
            let candidates = [(*a, *of_a), (*b, *of_b)];
            let fitting = candidates.into_iter().filter(|(var, of)| may_go(var, *of));
            if let Some((var, of)) = fitting.max_by_key(|(_, of)| *of) {
                let other = candidates.into_iter().find(|(it, _)| *it != var);
                let (other, factor) = other.expect("there are two");
                let by = Skew {
                    is_negative: of < 0,
                    factor,
                    offset: index.offset(),
                };
                found = Some((var, other, by));
                return;
            }
        }
    });
    found
}

/// The variable and the size, where an index is a block or a place in one. A variable
/// that is kept apart (`i // 1`) is none.
fn block_of(index: &IndexExpr) -> Option<(IndexVar, i64)> {
    match index.terms() {
        [(Term::FloorDiv(inner, by) | Term::Mod(inner, by), 1)] if *by > 1 => {
            Some((inner.as_var()?, *by))
        }
        _ => None,
    }
}

fn for_each_access(concrete: &Concrete, visit: &mut dyn FnMut(&Access)) {
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        rhs.for_each_access(&mut |access| visit(access));
        visit(lhs);
    });
}
