//! Applying commands, and what they share: names of loops, names that are
//! free, and the words for a command that cannot be applied.

use std::collections::BTreeMap;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_index::concrete::{Clause, Placed};
use sparsec_index::{Concrete, Expr, IndexVar, IndexVarData, Stmt};

use super::{
    Command, Name, bound, convert, deal, fission, fuse, levels, mark, parallelize, pieces, pos,
    precompute, reorder, skew, split, store,
};

impl Command {
    /// The statement that the command makes of this one. Tensors that it adds
    /// come last in the arena.
    ///
    /// # Errors
    /// `E0310` for a name or an expression that the statement does not have,
    /// `E0311` where the loops are not as the command needs them, `E0336` to
    /// `E0346` for what particular commands ask, `E0316` for levels without
    /// coordinates, `E0317` for sums that leave out coordinates, `E0350` and `E0351` for
    /// what is no sum of pieces, `E0355` for places that are no loop, `E0115` for a format of
    /// another order.
    pub fn apply(&self, concrete: &Concrete) -> Result<Concrete> {
        match self {
            Self::Reorder { vars } => reorder::apply(concrete, vars),
            Self::Precompute {
                expr,
                vars,
                own,
                workspace,
                kind,
            } => {
                let own = own.as_deref();
                precompute::apply(concrete, expr, vars, own, workspace.as_ref(), *kind)
            }
            Self::Convert {
                tensor,
                indices,
                format,
            } => convert::apply(concrete, tensor, indices.as_deref(), format),
            Self::Levels { tensor, format } => levels::apply(concrete, tensor, format),
            Self::Pieces { tensor, format } => pieces::apply(concrete, tensor, format),
            Self::Fission { var } => fission::fission(concrete, var),
            Self::Store {
                workspace,
                kind,
                place,
            } => store::apply(concrete, workspace, *kind, place.as_ref()),
            Self::LoopFuse { var } => fission::loopfuse(concrete, var),
            Self::Clause { clause, span } => {
                let (mut said, made) = match clause {
                    Clause::Split { .. } | Clause::Divide { .. } => split::apply(concrete, clause),
                    Clause::Fuse { .. } => fuse::apply(concrete, clause),
                    Clause::Pos { .. } => pos::apply(concrete, clause),
                    Clause::Bound { .. } => bound::apply(concrete, clause),
                    Clause::Skew { .. } => skew::apply(concrete, clause),
                    Clause::Deal { .. } => deal::apply(concrete, clause),
                    Clause::Parallelize { .. } => parallelize::apply(concrete, clause),
                    Clause::Unroll { .. }
                    | Clause::MergeBy { .. }
                    | Clause::Prefetch { .. }
                    | Clause::Assemble { .. } => mark::apply(concrete, clause),
                }?;
                said.clauses.push(Placed {
                    clause: made,
                    source: source(clause).clone(),
                    span: *span,
                });
                refuse_long_derivations(&said)?;
                Ok(said)
            }
        }
    }
}

/// The most variables from which one may be computed, intermediate ones included. Each
/// `split` adds two; a `fuse` whose loop is split again doubles them.
const MOST_DERIVED: u64 = 128;

/// Refuses a last clause from which some variable is computed in too many steps:
/// every pass over loops computes bounds and conditions from them.
fn refuse_long_derivations(concrete: &Concrete) -> Result<()> {
    let mut sizes: BTreeMap<IndexVar, u64> = BTreeMap::new();
    for placed in concrete.clauses.iter().rev() {
        let Some((derived, _)) = placed.clause.derives() else {
            continue;
        };
        let from = placed.clause.computed_from();
        let from = from.iter().map(|var| sizes.get(*var).copied().unwrap_or(1));
        let size = from.fold(1, u64::saturating_add);
        for var in derived {
            sizes.insert(*var, size);
        }
    }
    let Some((var, _)) = sizes.iter().find(|(_, size)| **size > MOST_DERIVED) else {
        return Ok(());
    };
    let name = &concrete.vars[*var].name;
    let message = format!("`{name}` would be computed from more than {MOST_DERIVED} variables");
    let last = concrete.clauses.last().expect("a variable is derived");
    Err(last
        .error(code::SCHEDULE_SIZE, message)
        .help("leave out this command and those behind it"))
}

/// The text that a clause was read from.
pub(super) fn source(clause: &Clause<Name, Name>) -> &Source {
    match clause {
        Clause::Split { var, .. }
        | Clause::Divide { var, .. }
        | Clause::Fuse { outer: var, .. }
        | Clause::Pos { var, .. }
        | Clause::Bound { var, .. }
        | Clause::Skew { var, .. }
        | Clause::Deal { made: var, .. }
        | Clause::Unroll { var, .. }
        | Clause::Parallelize { var, .. }
        | Clause::MergeBy { var, .. }
        | Clause::Prefetch { var, .. }
        | Clause::Assemble { tensor: var, .. } => &var.source,
    }
}

/// The loop variable that a schedule names.
pub(super) fn var(concrete: &Concrete, name: &Name) -> Result<IndexVar> {
    let text = &name.word.text;
    concrete.var(text).ok_or_else(|| {
        let loops = concrete.stmt.loops();
        let known = loops.iter().map(|var| concrete.vars[*var].name.as_str());
        unknown("loop", name, known)
    })
}

/// The names of variables, each of a loop and each once.
pub(super) fn distinct_vars(concrete: &Concrete, names: &[Name]) -> Result<Vec<IndexVar>> {
    let mut vars = Vec::new();
    for name in names {
        let var = var(concrete, name)?;
        if vars.contains(&var) {
            let message = format!("`{name}` is named twice");
            let error = illegal(name, name.word.span, message, "again");
            return Err(error.help("name each loop once"));
        }
        vars.push(var);
    }
    Ok(vars)
}

pub(super) fn unknown<'a>(
    what: &str,
    name: &Name,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("the statement has no {what} `{name}`");
    let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
    let error = error.at(
        &name.source,
        name.word.span,
        format!("no {what} has this name"),
    );
    let known: Vec<&str> = known.into_iter().collect();
    match closest(&name.word.text, known.iter().copied()) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => error.help("leave the command out"),
        None => error.help(format!("these are: `{}`", known.join("`, `"))),
    }
}

/// Why a command cannot be applied, at `span` of the text that `name` is from.
pub(super) fn illegal(
    name: &Name,
    span: Span,
    message: impl Into<String>,
    label: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(code::ILLEGAL_COMMAND, message).at(&name.source, span, label)
}

/// Makes variables with names that nothing in the statement has.
pub(super) fn new_vars(concrete: &mut Concrete, names: &[&Name]) -> Result<Vec<IndexVar>> {
    let mut made = Vec::new();
    for name in names {
        let text = &name.word.text;
        if concrete.fresh_name(text) != *text {
            let message = format!("`{name}` is the name of something else already");
            return Err(Diagnostic::new(code::SCHEDULE_NAME, message)
                .at(&name.source, name.word.span, "taken")
                .help(format!(
                    "choose another, such as `{}`",
                    concrete.fresh_name(text)
                )));
        }
        made.push(concrete.vars.push(IndexVarData {
            name: text.clone(),
            extent: None,
        }));
    }
    Ok(made)
}

/// The loop that a command derives others from: no clause may have marked it.
pub(super) fn loop_to_derive(concrete: &Concrete, name: &Name) -> Result<IndexVar> {
    let var = var(concrete, name)?;
    let marks = |clause: &&Clause| match clause {
        Clause::Unroll { var: marked, .. }
        | Clause::Parallelize { var: marked, .. }
        | Clause::MergeBy { var: marked, .. }
        | Clause::Prefetch { var: marked, .. } => *marked == var,
        _ => false,
    };
    match concrete.clauses().find(marks) {
        None => Ok(var),
        Some(clause) => {
            let clause = concrete.clause_text(clause);
            let message = format!("`{name}` has been marked: {clause}");
            let error = illegal(name, name.word.span, message, "derived from after that");
            Err(error.help("mark the loops that are derived from it instead"))
        }
    }
}

/// The statement with every loop over `var` made into loops over `made`.
pub(super) fn replace_loops(stmt: &Stmt, var: IndexVar, made: &[IndexVar]) -> Stmt {
    match stmt {
        Stmt::Forall { var: known, body } => {
            let body = replace_loops(body, var, made);
            match *known == var {
                true => body.in_loops(made),
                false => body.in_loops(&[*known]),
            }
        }
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(replace_loops(consumer, var, made)),
            producer: Box::new(replace_loops(producer, var, made)),
        },
        Stmt::Sequence(stmts) => {
            let replaced = stmts.iter().map(|stmt| replace_loops(stmt, var, made));
            Stmt::Sequence(replaced.collect())
        }
        Stmt::Assign { .. } => stmt.clone(),
    }
}

/// How the statement reads a tensor, for those who wrote other indices.
pub(super) fn as_read(concrete: &Concrete, name: &str) -> String {
    let mut accesses: Vec<String> = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            if concrete.tensors[access.tensor].name == name {
                let text = concrete.expr_text(&Expr::Access(access.clone()));
                if !accesses.contains(&text) {
                    accesses.push(text);
                }
            }
        });
    });
    match accesses.is_empty() {
        true => format!("the statement does not read `{name}`: leave the command out"),
        false => format!("it is read as `{}`", accesses.join("` and `")),
    }
}
