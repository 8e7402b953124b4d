//! `convert`: accesses of an operand read a copy of it in another format, or the
//! result is computed in another one.

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::FormatSpec;
use sparsec_index::concrete::Clause;
use sparsec_index::{Access, Concrete, Expr, IndexExpr, Stmt, TensorData, TensorRole, TensorVar};
use sparsec_notation::{Index, Word};

use super::Name;
use super::apply::{as_read, illegal, unknown, var};

pub(super) fn apply(
    concrete: &Concrete,
    name: &Name,
    written: Option<&[Index]>,
    format: &FormatSpec,
) -> Result<Concrete> {
    let result = &concrete.tensors[concrete.result];
    if result.name == name.word.text && written.is_none() {
        return convert_result(concrete, format);
    }
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
        let error = illegal(name, name.word.span, message, "a workspace");
        return Err(error.help(format!("say how it is kept: `store({name}, hashed)`")));
    }
    let var_of = |word: &Word| {
        let name = Name {
            word: word.clone(),
            source: name.source.clone(),
        };
        var(concrete, &name)
    };
    let expr = |index: &Index| index.expr(&name.source, &var_of);
    let indices: Option<Vec<IndexExpr>> = written
        .map(|written| written.iter().map(expr).collect())
        .transpose()?;
    let chosen = |access: &Access| {
        access.tensor == tensor
            && indices
                .as_ref()
                .is_none_or(|indices| access.indices == *indices)
    };
    if !concrete_accesses(concrete)
        .iter()
        .any(|access| chosen(access))
    {
        let span = written
            .and_then(<[Index]>::last)
            .map_or(name.word.span, |last| name.word.span.to(last.span));
        let message = format!("`{name}` is not read with these indices");
        let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
        return Err(error
            .at(&name.source, span, "no such access")
            .help(as_read(concrete, &name.word.text)));
    }
    let format = format.resolve(data.order())?;
    let suffix = format.preset_name().unwrap_or("converted");
    let mut converted = concrete.clone();
    let copy = converted.tensors.push(TensorData {
        name: concrete.fresh_name(&format!("{}_{suffix}", data.name)),
        earlier_of: None,
        role: TensorRole::Input,
        levels_of: None,
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
    // Positions are those of what is read.
    for placed in &mut converted.clauses {
        if let Clause::Pos {
            tensor: walked,
            indices,
            ..
        } = &mut placed.clause
            && chosen(&Access::plain(*walked, indices, data.span))
        {
            *walked = copy;
        }
    }
    Ok(converted)
}

/// The result is computed in another tensor, and converted from that.
fn convert_result(concrete: &Concrete, format: &FormatSpec) -> Result<Concrete> {
    let data = concrete.tensors[concrete.result].clone();
    let format = format.resolve(data.order())?;
    let suffix = format.preset_name().unwrap_or("converted");
    let mut converted = concrete.clone();
    let computed = converted.tensors.push(TensorData {
        name: concrete.fresh_name(&format!("{}_{suffix}", data.name)),
        earlier_of: None,
        levels_of: None,
        ..data
    });
    converted.result = computed;
    // What was said of how the result is put together goes with it.
    for placed in &mut converted.clauses {
        if let Clause::Assemble { tensor, .. } = &mut placed.clause {
            *tensor = computed;
        }
    }
    converted.stmt = concrete.stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Assign { lhs, reduce, rhs } if lhs.tensor == concrete.result => Some(Stmt::Assign {
            lhs: Access {
                tensor: computed,
                ..lhs.clone()
            },
            reduce: reduce.clone(),
            rhs: rhs.clone(),
        }),
        _ => None,
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
