//! The part of the checklist that is about names and arguments.

use std::collections::HashSet;

use sparsec_base::{Code, ElementType, code};

use super::Invalid;
use crate::ir::{Access, Function, Role};
use crate::text::{is_name, is_reserved};

pub(super) fn check_signature(function: &Function) -> Result<(), Box<Invalid>> {
    check_names(function)?;
    let invalid = |message: String| Err(broken(function, code::LOOP_SIGNATURE, message));
    let mut names = HashSet::new();
    let mut extents = HashSet::new();
    let mut buffers = HashSet::new();
    for argument in &function.arguments {
        let name = &argument.name;
        if !names.insert(name) {
            return invalid(format!("two arguments are called `{name}`"));
        }
        for &var in &argument.extents {
            let kind = &function.vars[var];
            if kind.element != ElementType::I64 || kind.mutable {
                return invalid(format!("the extent `{}` is no fixed i64", kind.name));
            }
            if !extents.insert(var) {
                return invalid(format!("the extent `{}` belongs to two modes", kind.name));
            }
        }
        for &buffer in &argument.buffers {
            let kind = &function.buffers[buffer];
            if !buffers.insert(buffer) {
                return invalid(format!("the buffer `{}` is given twice", kind.name));
            }
            match (argument.role, kind.access) {
                (_, Access::Workspace | Access::Own) => {
                    return invalid(format!("the workspace `{}` is an argument", kind.name));
                }
                (Role::In, Access::Write | Access::Grow) => {
                    return invalid(format!("`{}` of an `in` argument is written", kind.name));
                }
                _ => {}
            }
        }
    }
    for (buffer, kind) in function.buffers.iter() {
        if !kind.access.is_allocated() && !buffers.contains(&buffer) {
            return invalid(format!("the buffer `{}` belongs to no argument", kind.name));
        }
        let (storage, compute) = (kind.storage, kind.compute);
        let fits = storage == compute
            || match compute {
                ElementType::I64 => storage.is_integer() && storage != ElementType::U64,
                ElementType::F64 => storage == ElementType::F32,
                _ => false,
            };
        if !fits {
            return invalid(format!(
                "`{}` cannot store {} as {}",
                kind.name, kind.compute, kind.storage
            ));
        }
    }
    Ok(())
}

fn check_names(function: &Function) -> Result<(), Box<Invalid>> {
    let invalid = |code: Code, message: String| Err(broken(function, code, message));
    for argument in &function.arguments {
        if !is_name(&argument.name) {
            let name = &argument.name;
            return invalid(code::LOOP_NAME, format!("`{name}` cannot be a name"));
        }
        if argument.doc.contains(['"', '\n', '\r']) {
            return invalid(
                code::LOOP_NAME,
                format!(
                    "the text of `{}` has a quote or a line break",
                    argument.name
                ),
            );
        }
    }
    if !is_name(&function.name) {
        let name = &function.name;
        return invalid(code::LOOP_NAME, format!("`{name}` cannot be a name"));
    }
    let vars = function.vars.iter().map(|(_, var)| &var.name);
    let buffers = function.buffers.iter().map(|(_, buffer)| &buffer.name);
    let mut seen = HashSet::new();
    for name in vars.chain(buffers) {
        if !is_name(name) || is_reserved(name) {
            return invalid(code::LOOP_NAME, format!("`{name}` cannot be a name"));
        }
        if !seen.insert(name) {
            return invalid(
                code::LOOP_DUPLICATE_NAME,
                format!("`{name}` is declared twice"),
            );
        }
    }
    Ok(())
}

fn broken(function: &Function, code: Code, message: String) -> Box<Invalid> {
    Box::new(Invalid {
        code,
        message,
        help: None,
        statement: None,
        text: format!("fn {}", function.name),
    })
}
