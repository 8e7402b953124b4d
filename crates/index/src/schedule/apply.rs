//! Applying commands: `reorder`, `convert`, and what they share.

use std::collections::BTreeSet;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_format::FormatSpec;

use super::{Command, Name, precompute};
use crate::concrete::{Concrete, Stmt};
use crate::expr::{Access, Expr};
use crate::program::{IndexVar, TensorData, TensorRole, TensorVar};

impl Command {
    /// The statement that the command makes of this one. Tensors that it adds
    /// come last in the arena.
    ///
    /// # Errors
    /// `E0310` for a name or an expression that the statement does not have,
    /// `E0311` where the loops are not as the command needs them, `E0115` for
    /// a format of another order.
    pub fn apply(&self, concrete: &Concrete) -> Result<Concrete> {
        match self {
            Self::Reorder { vars } => reorder(concrete, vars),
            Self::Precompute {
                expr,
                vars,
                workspace,
                kind,
            } => precompute::apply(concrete, expr, vars, workspace, *kind),
            Self::Convert {
                tensor,
                indices,
                format,
            } => convert(concrete, tensor, indices.as_deref(), format),
        }
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
            return Err(illegal(name, name.word.span, message, "again"));
        }
        vars.push(var);
    }
    Ok(vars)
}

fn unknown<'a>(what: &str, name: &Name, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let message = format!("the statement has no {what} `{name}`");
    let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
    let error = error.at(
        &name.source,
        name.word.span,
        format!("no {what} has this name"),
    );
    match closest(&name.word.text, known) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error,
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

fn reorder(concrete: &Concrete, names: &[Name]) -> Result<Concrete> {
    let wanted = distinct_vars(concrete, names)?;
    let [first, .., last] = names else {
        return Ok(concrete.clone());
    };
    let mut met = false;
    let mut done = false;
    let stmt = map_nests(&concrete.stmt, &mut |vars| {
        if done || !wanted.iter().all(|var| vars.contains(var)) {
            return None;
        }
        met = true;
        // The named loops change places among themselves; others stay.
        let mut order = wanted.iter();
        let exchanged = vars.iter().map(|var| match wanted.contains(var) {
            true => order.next().unwrap_or(var),
            false => var,
        });
        let exchanged: Vec<IndexVar> = exchanged.copied().collect();
        done = exchanged != vars;
        Some(exchanged)
    });
    if !met {
        let span = first.word.span.to(last.word.span);
        let message = "these loops are not directly inside one another";
        return Err(illegal(first, span, message, "not in one nest")
            .note(format!("the statement is\n{concrete}"))
            .help("reorder them before a `where` comes between"));
    }
    Ok(Concrete {
        stmt,
        ..concrete.clone()
    })
}

/// The statement with the loops of each nest as `map` wants them, from the
/// outside in.
fn map_nests(stmt: &Stmt, map: &mut dyn FnMut(&[IndexVar]) -> Option<Vec<IndexVar>>) -> Stmt {
    let (vars, inner) = stmt.nest();
    let order = map(&vars).unwrap_or(vars);
    let inner = match inner {
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(map_nests(consumer, map)),
            producer: Box::new(map_nests(producer, map)),
        },
        Stmt::Sequence(parts) => {
            Stmt::Sequence(parts.iter().map(|part| map_nests(part, map)).collect())
        }
        Stmt::Assign { .. } | Stmt::Forall { .. } => inner.clone(),
    };
    inner.in_loops(&order)
}

fn convert(
    concrete: &Concrete,
    name: &Name,
    indices: Option<&[Name]>,
    format: &FormatSpec,
) -> Result<Concrete> {
    let read = reads(concrete);
    let tensor = read
        .iter()
        .find(|var| concrete.tensors[**var].name == name.word.text);
    let Some(&tensor) = tensor else {
        let known = read.iter().map(|var| concrete.tensors[*var].name.as_str());
        return Err(unknown("operand", name, known));
    };
    let data = &concrete.tensors[tensor];
    if data.role == TensorRole::Workspace {
        let message = format!("`{name}` is a workspace, which has no format to convert from");
        return Err(illegal(name, name.word.span, message, "a workspace"));
    }
    let vars = match indices {
        Some(indices) => {
            let vars: Result<Vec<IndexVar>> =
                indices.iter().map(|name| var(concrete, name)).collect();
            Some(vars?)
        }
        None => None,
    };
    let chosen = |access: &Access| {
        access.tensor == tensor
            && vars
                .as_ref()
                .is_none_or(|vars| access.plain_vars().as_ref() == Some(vars))
    };
    if !concrete_accesses(concrete)
        .iter()
        .any(|access| chosen(access))
    {
        let span = indices
            .and_then(<[Name]>::last)
            .map_or(name.word.span, |last| name.word.span.to(last.word.span));
        let message = format!("`{name}` is not read with these indices");
        let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
        return Err(error.at(&name.source, span, "no such access"));
    }
    let format = format.resolve(data.order())?;
    let suffix = format.preset_name().unwrap_or("converted");
    let mut converted = concrete.clone();
    let copy = converted.tensors.push(TensorData {
        name: concrete.fresh_name(&format!("{}_{suffix}", data.name)),
        role: TensorRole::Input,
        ..data.clone()
    });
    converted.stmt = concrete.stmt.map_exprs(&mut |expr| {
        expr.map_accesses(&mut |access| {
            chosen(access).then(|| {
                Expr::Access(Access {
                    tensor: copy,
                    ..access.clone()
                })
            })
        })
    });
    Ok(converted)
}

fn concrete_accesses(concrete: &Concrete) -> Vec<&Access> {
    let mut found = Vec::new();
    concrete
        .stmt
        .for_each_assign(&mut |_, _, rhs| found.extend(rhs.accesses()));
    found
}

/// The tensors that the statement reads.
fn reads(concrete: &Concrete) -> BTreeSet<TensorVar> {
    let accesses = concrete_accesses(concrete);
    accesses.iter().map(|access| access.tensor).collect()
}
