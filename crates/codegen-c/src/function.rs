//! A kernel: its doc, its loops, and the function that unpacks its tensors.

use std::fmt::Write as _;

use sparsec_base::ElementType;
use sparsec_loop::{Access, Argument, Buffer, Function, Role};

use crate::helper::Helpers;
use crate::name::Names;
pub(crate) use crate::name::function_name;
use crate::stmt::Writer;
use crate::{Entry, abi};

/// Signatures longer than this get a line for each parameter.
const WIDTH: usize = 96;

/// One parameter of the loops: how it is declared, and what the kernel passes.
struct Parameter {
    declaration: String,
    value: String,
}

/// The loops of one kernel, with the functions that they call, and nothing around them.
pub(crate) fn loops(function: &Function, helpers: &mut Helpers) -> String {
    let tensors = tensor_names(function);
    let mut writer = Writer::new(function, helpers);
    writer.name_all();
    // This gives the arrays the names that the loops use.
    parameters(function, &tensors, &mut writer);
    writer.block(&function.body);
    let apart = writer.nests.concat() + &writer.chunks.concat();
    let body = writer.finish();
    let lines = body
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line));
    let lines: Vec<&str> = lines.collect();
    format!("{apart}{}\n", lines.join("\n"))
}

/// The text of one kernel.
pub(crate) fn kernel(function: &Function, entry: Entry, helpers: &mut Helpers) -> String {
    let name = function_name(&function.name);
    let loops = loops_name(function);
    let tensors = tensor_names(function);
    let mut writer = Writer::new(function, helpers);
    writer.name_all();
    let parameters = parameters(function, &tensors, &mut writer);
    prologue(function, &mut writer);
    writer.block(&function.body);
    if !matches!(function.body.last(), Some(sparsec_loop::Stmt::Fail(_))) {
        writer.line("return SPARSEC_OK;");
    }
    let used = |tensor: &str| {
        parameters.iter().any(|p| {
            p.value.starts_with(&format!("{tensor}->"))
                || p.value.starts_with(&format!("&{tensor}->"))
        })
    };
    let uses_context = writer.uses.context;
    let unused: Vec<&String> = tensors.iter().filter(|tensor| !used(tensor)).collect();
    let own = writer.own_structure();
    let chunks = writer.nests.concat() + &writer.chunks.concat();
    let body = writer.finish();

    let declarations: Vec<&str> = parameters.iter().map(|p| p.declaration.as_str()).collect();
    let mut values: Vec<&str> = parameters.iter().map(|p| p.value.as_str()).collect();
    // Kept ones are declared with their doc.
    let mut text = match entry {
        Entry::Plain | Entry::Launch => doc(function, &name),
        Entry::Kept => String::new(),
    };
    text.push_str(&own);
    text.push_str(&chunks);
    text.push_str(&signature(
        &format!("static inline int32_t {loops}"),
        &declarations,
    ));
    let _ = write!(text, " {{\n{body}}}\n\n{} {{\n", prototype(function, entry));
    if !uses_context {
        text.push_str("  (void)context;\n");
    }
    for tensor in unused {
        let _ = writeln!(text, "  (void){tensor};");
    }
    if uses_context && entry == Entry::Kept {
        let mut names = parameter_names(function);
        let (scope, status) = (names.fresh("scope"), names.fresh("status"));
        let enter = format!("sparsec_enter(&{scope}, context)");
        values[0] = &enter;
        let called = call(&format!("  const int32_t {status} = {loops}"), &values);
        let _ = writeln!(
            text,
            "  sparsec_scope {scope};\n{called};\n  return sparsec_leave(&{scope}, {status});\n}}"
        );
    } else {
        let _ = writeln!(text, "{};\n}}", call(&format!("  return {loops}"), &values));
    }
    if entry == Entry::Launch {
        text.push('\n');
        text.push_str(&launch(function, &name));
    }
    text
}

/// The head of the function that users call.
pub(crate) fn prototype(function: &Function, entry: Entry) -> String {
    let tensors = tensor_names(function);
    signature(
        &format!("int32_t {}", function_name(&function.name)),
        &tensor_parameters(function, &tensors, entry),
    )
}

/// The function that assembles a result and then computes it.
pub(crate) fn both(assemble: &Function, name: &str) -> String {
    let evaluate = Function {
        name: format!("evaluate_{name}"),
        ..assemble.clone()
    };
    let mut values = vec!["context".to_owned()];
    values.extend(tensor_names(&evaluate));
    let status = parameter_names(&evaluate).fresh("status");
    let [assemble, compute] = parts_called(name);
    format!(
        "{} {{\n{};\n  if ({status}) return {status};\n{};\n}}\n",
        prototype(&evaluate, Entry::Kept),
        call(&format!("  const int32_t {status} = {assemble}"), &values),
        call(&format!("  return {compute}"), &values),
    )
}

/// The C names of the tensors; apart from the names of the loops.
fn tensor_names(function: &Function) -> Vec<String> {
    named_parameters(function).1
}

/// What a kernel's own variables may not be called.
fn parameter_names(function: &Function) -> Names {
    named_parameters(function).0
}

/// The names of a kernel's parameters, and which of them are tensors. None hides a
/// function that the kernel calls.
fn named_parameters(function: &Function) -> (Names, Vec<String>) {
    let mut names = Names::default();
    names.take("context");
    names.take(&loops_name(function));
    if let Some(name) = function.name.strip_prefix("evaluate_") {
        parts_called(name).iter().for_each(|part| names.take(part));
    }
    let arguments = function.arguments.iter();
    let tensors = arguments.map(|argument| names.fresh(&argument.name));
    let tensors = tensors.collect();
    (names, tensors)
}

fn loops_name(function: &Function) -> String {
    format!("{}_loops", function_name(&function.name))
}

/// What `evaluate_NAME` calls where it has no loops of its own.
fn parts_called(name: &str) -> [String; 2] {
    ["assemble", "compute"].map(|part| function_name(&format!("{part}_{name}")))
}

/// What the loops take: only what they use, in source order.
fn parameters(function: &Function, tensors: &[String], writer: &mut Writer<'_>) -> Vec<Parameter> {
    let mut list = Vec::new();
    if writer.uses.context {
        list.push(Parameter {
            declaration: "sparsec_context *context".to_owned(),
            value: "context".to_owned(),
        });
    }
    for (argument, tensor) in function.arguments.iter().zip(tensors) {
        for (mode, extent) in argument.extents.iter().enumerate() {
            if writer.uses.vars.contains(extent) {
                list.push(Parameter {
                    declaration: format!("int64_t {}", writer.var_name(*extent)),
                    value: format!("{tensor}->extents[{mode}]"),
                });
            }
        }
        for (place, &buffer) in argument.buffers.iter().enumerate() {
            if writer.uses.buffers.contains(&buffer) {
                list.push(array_parameter(buffer, tensor, place, writer));
            }
        }
    }
    list
}

fn array_parameter(
    buffer: Buffer,
    tensor: &str,
    place: usize,
    writer: &mut Writer<'_>,
) -> Parameter {
    let data = &writer.function.buffers[buffer];
    let (access, storage) = (data.access, data.storage);
    let ty = writer.c_type(storage);
    let names = writer.buffer_names(buffer);
    match access {
        Access::Grow => Parameter {
            declaration: format!("sparsec_array *{}", names.array),
            value: format!("&{tensor}->arrays[{place}]"),
        },
        Access::Read => Parameter {
            declaration: format!("const {ty} *restrict {}", names.data),
            value: format!("{tensor}->arrays[{place}].data"),
        },
        Access::Write | Access::Workspace | Access::Own => Parameter {
            declaration: format!("{ty} *restrict {}", names.data),
            value: format!("{tensor}->arrays[{place}].data"),
        },
    }
}

/// The local variables that hold what of a growing array may change.
fn prologue(function: &Function, writer: &mut Writer<'_>) {
    for group in writer.growth.clone() {
        if function.buffers[group.buffers[0]].access.is_allocated() {
            continue;
        }
        for &buffer in &group.buffers {
            if !writer.uses.buffers.contains(&buffer) {
                continue;
            }
            let ty = writer.c_type(function.buffers[buffer].storage);
            let names = writer.buffer_names(buffer);
            writer.line(&format!("{ty} *{} = {}->data;", names.data, names.array));
            if !writer.uses.accessed.contains(&buffer) {
                writer.line(&format!("(void){};", names.data));
            }
        }
        if group
            .buffers
            .iter()
            .all(|buffer| writer.uses.grown.contains(buffer))
        {
            writer.set_capacity(&group, "int64_t ");
        }
    }
    writer.declare_workspaces();
}

fn tensor_parameters(function: &Function, tensors: &[String], entry: Entry) -> Vec<String> {
    let qualifier = match entry {
        Entry::Plain | Entry::Launch => "",
        // A call completes a copy of it.
        Entry::Kept => "const ",
    };
    let mut list = vec![format!("{qualifier}sparsec_context *context")];
    for (argument, tensor) in function.arguments.iter().zip(tensors) {
        let qualifier = match argument.role {
            Role::In => "const ",
            Role::Out => "",
        };
        list.push(format!("{qualifier}sparsec_tensor *{tensor}"));
    }
    list
}

/// `head(parameters)`, on one line or a line each.
pub(crate) fn signature(head: &str, parameters: &[impl AsRef<str>]) -> String {
    if parameters.is_empty() {
        return format!("{head}(void)");
    }
    call(head, parameters)
}

pub(crate) fn call(head: &str, parameters: &[impl AsRef<str>]) -> String {
    let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
    let line = format!("{head}({})", parameters.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let margin = head.len() - head.trim_start().len() + 4;
    let margin = " ".repeat(margin);
    format!(
        "{head}(\n{margin}{})",
        parameters.join(&format!(",\n{margin}"))
    )
}

/// The comment before the kernel: one line for each tensor, then its arrays.
fn doc(function: &Function, name: &str) -> String {
    let mut text = format!("/*\n * The kernel {name}; its loops come first.\n");
    if !function.arguments.is_empty() {
        text.push_str(" *\n");
    }
    text.push_str(&tensors_doc(function));
    text.push_str(" */\n");
    text
}

/// Lines of a comment: each tensor, then its arrays.
pub(crate) fn tensors_doc(function: &Function) -> String {
    let mut text = String::new();
    for argument in &function.arguments {
        let role = match argument.role {
            Role::In => "in ",
            Role::Out => "out",
        };
        let _ = writeln!(
            text,
            " * {role} {}: {}",
            abi::comment_text(&argument.name),
            abi::comment_text(&argument.doc)
        );
        let _ = writeln!(text, " *     arrays {}", arrays(function, argument));
    }
    text
}

fn arrays(function: &Function, argument: &Argument) -> String {
    let arrays: Vec<String> = argument
        .buffers
        .iter()
        .map(|&buffer| {
            let data = &function.buffers[buffer];
            let name = abi::comment_text(&data.name);
            format!("{name}: {}", entries_doc(data.storage))
        })
        .collect();
    arrays.join(", ")
}

/// What C programs call the entries of an array, without types of ours.
fn entries_doc(storage: ElementType) -> &'static str {
    match storage {
        ElementType::C64 => "pairs of float (real and imaginary)",
        ElementType::C128 => "pairs of double (real and imaginary)",
        ElementType::F16 => "uint16_t (bits of f16)",
        ElementType::Bf16 => "uint16_t (bits of bf16)",
        other => crate::precedence::c_type(other),
    }
}

/// The entry of the runtime.
fn launch(function: &Function, name: &str) -> String {
    let mut values = vec!["context".to_owned()];
    for place in 0..function.arguments.len() {
        values.push(format!("tensors[{place}]"));
    }
    let unused = if function.arguments.is_empty() {
        "  (void)tensors;\n"
    } else {
        ""
    };
    let head = signature(
        &format!("int32_t {}", abi::launch_name(name)),
        &["sparsec_context *context", "sparsec_tensor **tensors"],
    );
    format!(
        "{head} {{\n{unused}{};\n}}\n",
        call(&format!("  return {name}"), &values)
    )
}
