//! `deal`: a loop over places on a curve in place of those over coordinates.
//!
//! ```text
//! forall i: forall j: y(i) += A_levels(morton(i, j)) * x(j)
//!
//!   deal(m, morton(i, j))
//!
//! forall m: y(i) += A_levels(m) * x(j) suchthat(deal(m, morton(i, j)))
//! ```
//!
//! The bits of `m` are those of `i` and `j`, which are computed from it; places of
//! coordinates beyond the extents are passed over. A coordinate that is such a place
//! is named `m`, so a tensor that is sorted along the curve is walked by this loop.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::concrete::Clause;
use sparsec_index::{Concrete, Curve, IndexExpr, IndexVar, Stmt};
use sparsec_notation::{Index, IndexKind, Parser};

use super::Name;
use super::apply::{distinct_vars, loop_to_derive, new_vars};
use super::parse::next_name;
use super::reorder::map_nests;
use super::split::with_indices;

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Deal { vars, made, curve } = clause else {
        unreachable!("only this deals");
    };
    let dealt = distinct_vars(concrete, vars)?;
    for name in vars {
        loop_to_derive(concrete, name)?;
    }
    let refuse = |message: String, help: &str| {
        let ends = (vars.first().unwrap_or(made), vars.last().unwrap_or(made));
        let span = ends.0.word.span.to(ends.1.word.span);
        Err(Diagnostic::new(code::SCHEDULE_DEAL, message)
            .at(&made.source, span, "cannot be one loop")
            .note(format!("the statement is\n{concrete}"))
            .help(help))
    };
    if let Some(number) = dealt.iter().position(|var| concrete.extent(*var).is_none()) {
        let message = format!("the extent of `{}` is not known", vars[number]);
        return refuse(message, "give the extents of all tensors");
    }
    let extents: Vec<u64> = dealt
        .iter()
        .filter_map(|var| concrete.extent(*var))
        .collect();
    if let Curve::Alto(said) = curve
        && *said != extents
    {
        let is_other = |number: &usize| said[*number] != extents[*number];
        let number = (0..said.len()).find(is_other).unwrap_or(0);
        let (name, extent) = (&vars[number], extents[number]);
        let message = format!("the extent of `{name}` is {extent}, not {}", said[number]);
        return refuse(message, "say the extents as they are");
    }
    let last: Vec<u64> = extents
        .iter()
        .map(|extent| extent.saturating_sub(1))
        .collect();
    if curve.place(&last).is_none() {
        let message = "places have more than 63 bits".to_owned();
        return refuse(message, "loop over the coordinates themselves");
    }
    let mut one = concrete.clone();
    let place = new_vars(&mut one, &[made])?[0];
    let mut is_whole = true;
    one.stmt = map_nests(&concrete.stmt, &mut |loops| {
        let n_dealt = loops.iter().filter(|var| dealt.contains(var)).count();
        is_whole &= n_dealt == 0 || n_dealt == dealt.len();
        let outermost = loops.iter().position(|var| dealt.contains(var))?;
        let mut loops = loops.to_vec();
        loops[outermost] = place;
        loops.retain(|var| !dealt.contains(var));
        Some(loops)
    });
    if !is_whole {
        let message = format!("the loops over `{}` are not directly inside one another", {
            let names: Vec<String> = vars.iter().map(ToString::to_string).collect();
            names.join("`, `")
        });
        return refuse(message, "deal them before a `where` comes between");
    }
    one.stmt = named(&one.stmt, curve, &dealt, place);
    let clause = Clause::Deal {
        vars: dealt,
        made: place,
        curve: curve.clone(),
    };
    Ok((one, clause))
}

/// `NAME "," curve`
pub(super) fn parse(parser: &mut Parser) -> Result<Clause<Name, Name>> {
    let made = next_name(parser, "a name for the loop over places")?;
    let index = parser.curve(&made.word)?;
    let source = parser.tokens.source().clone();
    let IndexKind::Place { curve, of } = index.kind else {
        unreachable!("a curve is a place");
    };
    let named = |index: Index| match index.kind {
        IndexKind::Var(word) => Ok(Name {
            word,
            source: source.clone(),
        }),
        _ => Err(
            Diagnostic::new(code::SCHEDULE_DEAL, format!("`{index}` is no loop"))
                .at(&source, index.span, "not a variable")
                .help("split loops first, so that each coordinate of the place is one"),
        ),
    };
    Ok(Clause::Deal {
        vars: of.into_iter().map(named).collect::<Result<_>>()?,
        made,
        curve,
    })
}

/// The statement with every coordinate that is the place of `vars` named so.
fn named(stmt: &Stmt, curve: &Curve, vars: &[IndexVar], place: IndexVar) -> Stmt {
    let is_place = |index: &IndexExpr| {
        index.as_place().is_some_and(|(known, of)| {
            let of: Option<Vec<IndexVar>> = of.iter().map(IndexExpr::as_var).collect();
            known == curve && of.as_deref() == Some(vars)
        })
    };
    with_indices(stmt, &|index| match is_place(index) {
        true => place.into(),
        false => index.clone(),
    })
}
