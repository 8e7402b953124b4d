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
use sparsec_index::index_expr::Term;
use sparsec_index::{Access, Concrete, Expr, IndexExpr, IndexVar, TensorVar};
use sparsec_schedule::Schedule;

use sparsec_base::Source;

use crate::draft::Draft;

/// Drafts in which loops walk tensors as they are stored, that of most tensors
/// first; the last is the one that is given.
pub(crate) fn alternatives<'a>(draft: &Draft<'a>) -> Vec<Draft<'a>> {
    let (concrete, formats) = (&draft.concrete, &draft.formats);
    let operands = seen(concrete, formats, false);
    let with_result = seen(concrete, formats, true);
    let mut lists: Vec<Vec<String>> = Vec::new();
    for tensors in [with_result, operands, Vec::new()] {
        let commands = commands(draft, &tensors).unwrap_or_default();
        if !commands.is_empty() && !lists.contains(&commands) {
            lists.push(commands);
        }
    }
    lists.push(Vec::new());
    let said = lists.into_iter().filter_map(|commands| {
        let mut start = draft.clone();
        let mut commands = commands.into_iter();
        commands
            .all(|command| start.say(command).is_ok())
            .then_some(start)
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
fn commands(draft: &Draft<'_>, tensors: &[TensorVar]) -> Option<Vec<String>> {
    let (concrete, formats) = (&draft.concrete, &draft.formats);
    let mut commands = Vec::new();
    let mut seen = concrete.clone();
    let apply = |text: String, seen: &mut Concrete, commands: &mut Vec<String>| {
        let schedule = Schedule::parse(&Source::new("schedule", text.as_str())).ok()?;
        *seen = schedule.apply(seen).ok()?;
        commands.push(text);
        Some(())
    };
    for tensor in tensors {
        let name = &concrete.tensors[*tensor].name;
        let format = formats.get(*tensor)?.clone().with_widths(Widths::default());
        let text = format!("levels({name}, {format})");
        // What is used where no sum of ranks can be is converted.
        let applied = apply(text, &mut seen, &mut commands);
        applied.or_else(|| format.has_ranks().then_some(()))?;
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
        let text = format!("split({name}, {outer}, {inner}, {size})");
        apply(text, &mut seen, &mut commands)?;
    }
    while let Some((var, sum)) = next_skew(&seen, &views) {
        let name = seen.vars[var].name.clone();
        let made = seen.fresh_name("d");
        apply(
            format!("skew({name}, {made}, {sum})"),
            &mut seen,
            &mut commands,
        )?;
    }
    while let Some(curve) = next_place(&seen, &views) {
        let made = seen.fresh_name("m");
        let text = format!("deal({made}, {curve})");
        apply(text, &mut seen, &mut commands)?;
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
fn next_place(concrete: &Concrete, views: &[TensorVar]) -> Option<String> {
    let mut found = None;
    for_each_access(concrete, &mut |access| {
        let mut indices = access
            .indices
            .iter()
            .filter(|_| views.contains(&access.tensor));
        let place = indices.find(|index| {
            let of = index.as_place().map(|(_, of)| of);
            of.is_some_and(|of| of.iter().all(|it| it.as_var().is_some()))
        });
        let text = place.map(|index| concrete.expr_text(&Expr::Index(index.clone())));
        found = found.take().or(text);
    });
    found
}

/// A variable to loop over the values of a sum in place of, and the sum: one
/// that no level of the tensor stores, so that it is computed.
fn next_skew(concrete: &Concrete, views: &[TensorVar]) -> Option<(IndexVar, String)> {
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
                let (other, of_other) = other.expect("there are two");
                let name = |var: IndexVar| &concrete.vars[var].name;
                let mut sum = String::new();
                for (var, factor) in [(var, of), (other, of_other)] {
                    let sign = if factor < 0 { "- " } else { "+ " };
                    // The first of a sum has no plus.
                    let sign = if sum.is_empty() && factor > 0 {
                        ""
                    } else {
                        sign
                    };
                    let times = match factor.unsigned_abs() {
                        1 => String::new(),
                        factor => format!("{factor} * "),
                    };
                    sum += &format!("{sign}{times}{} ", name(var));
                }
                if index.offset() != 0 {
                    let sign = if index.offset() < 0 { "-" } else { "+" };
                    sum += &format!("{sign} {}", index.offset().unsigned_abs());
                }
                found = Some((var, sum.trim_end().to_owned()));
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
