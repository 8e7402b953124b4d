//! `convert`: accesses of an operand read a copy of it in another format, or the
//! result is computed in another one.

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::FormatSpec;

use super::Name;
use super::apply::{illegal, unknown, var};
use crate::concrete::{Concrete, Stmt};
use crate::expr::{Access, Expr};
use crate::program::{IndexVar, TensorData, TensorRole, TensorVar};

pub(super) fn apply(
    concrete: &Concrete,
    name: &Name,
    indices: Option<&[Name]>,
    format: &FormatSpec,
) -> Result<Concrete> {
    let result = &concrete.tensors[concrete.result];
    if result.name == name.word.text && indices.is_none() {
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

/// The result is computed in another tensor, and converted from that.
fn convert_result(concrete: &Concrete, format: &FormatSpec) -> Result<Concrete> {
    let data = concrete.tensors[concrete.result].clone();
    let format = format.resolve(data.order())?;
    let suffix = format.preset_name().unwrap_or("converted");
    let mut converted = concrete.clone();
    let computed = converted.tensors.push(TensorData {
        name: concrete.fresh_name(&format!("{}_{suffix}", data.name)),
        ..data
    });
    converted.result = computed;
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
