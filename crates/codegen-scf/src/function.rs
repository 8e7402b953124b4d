//! A kernel: its doc, its parameters, its results.

use std::fmt::Write as _;

use sparsec_loop::{Access, Argument, Buffer, Function, Role};

use crate::helper::Helpers;
use crate::state::Slot;
use crate::types::Type;
use crate::writer::{Value, Writer};

/// Signatures longer than this get a line for each tensor.
const WIDTH: usize = 100;

/// The text of one kernel.
pub(crate) fn kernel(function: &Function, helpers: &mut Helpers) -> String {
    let symbol = helpers.symbol(&function.name);
    let mut writer = Writer::new(function, helpers);
    let mut tensors = Vec::new();
    for argument in &function.arguments {
        let parameters = parameters(argument, &mut writer);
        if !parameters.is_empty() {
            tensors.push(parameters.join(", "));
        }
    }
    let results = results(function);
    for &buffer in &results {
        let name = writer.fresh(&function.buffers[buffer].name);
        let ty = array_type(function, buffer);
        let zero = writer.integer(0, true);
        writer.line(&format!("{name} = memref.alloc({}) : {ty}", zero.name));
        writer.state.set(Slot::Array(buffer), Value::new(name, ty));
        writer.state.set(Slot::Len(buffer), zero);
    }
    writer.block(&function.body);
    let given: Vec<Value> = results
        .iter()
        .map(|&buffer| result(buffer, &mut writer))
        .collect();
    let types: Vec<String> = given.iter().map(|value| value.ty.to_string()).collect();
    let types = types.join(", ");
    match given.is_empty() {
        true => writer.line("return"),
        false => writer.line(&format!("return {} : {types}", names(&given))),
    }
    let arrow = match given.is_empty() {
        true => String::new(),
        false => format!(" -> ({types})"),
    };
    let joined = tensors.join(", ");
    let parameters = match symbol.len() + joined.len() + arrow.len() <= WIDTH {
        true => joined,
        false => format!("\n      {}", tensors.join(",\n      ")),
    };
    format!(
        "{}  func.func @{symbol}({parameters}){arrow} {{\n{}  }}\n",
        doc(function),
        writer.finish()
    )
}

/// The values of a list, as operations name them.
pub(crate) fn names(values: &[Value]) -> String {
    let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
    names.join(", ")
}

/// The arrays that the kernel makes, in order.
fn results(function: &Function) -> Vec<Buffer> {
    let buffers = function.arguments.iter().flat_map(|it| &it.buffers);
    let is_made = |buffer: &&Buffer| function.buffers[**buffer].access == Access::Grow;
    buffers.filter(is_made).copied().collect()
}

fn array_type(function: &Function, buffer: Buffer) -> Type {
    Type::Array(function.buffers[buffer].storage)
}

/// What a tensor adds to the parameters.
fn parameters(argument: &Argument, writer: &mut Writer<'_>) -> Vec<String> {
    let function = writer.function;
    let mut list = Vec::new();
    let mut add = |slot, name: &str, ty, writer: &mut Writer<'_>| {
        let value = Value::new(writer.fresh(name), ty);
        list.push(format!("{}: {ty}", value.name));
        writer.state.set(slot, value);
    };
    for extent in &argument.extents {
        let name = &function.vars[*extent].name;
        add(Slot::Var(*extent), name, Type::Index, writer);
    }
    for buffer in &argument.buffers {
        let data = &function.buffers[*buffer];
        if data.access != Access::Grow {
            let ty = array_type(function, *buffer);
            add(Slot::Array(*buffer), &data.name, ty, writer);
        }
    }
    list
}

/// The array that a result ends up as: of its length, which may be less than there is room for.
fn result(buffer: Buffer, writer: &mut Writer<'_>) -> Value {
    let array = writer.array(buffer);
    let len = writer.state.get(Slot::Len(buffer)).name.clone();
    let text = format!(
        "memref.reinterpret_cast {} to offset: [0], sizes: [{len}], strides: [1] : {} to {}",
        array.name, array.ty, array.ty
    );
    let value = writer.op(array.ty, &text);
    let name = writer.function.buffers[buffer].name.clone();
    writer.named(value, &name)
}

/// A comment: one line for each tensor, then its arrays.
fn doc(function: &Function) -> String {
    let mut text = String::new();
    for argument in &function.arguments {
        let role = match argument.role {
            Role::In => "in ",
            Role::Out => "out",
        };
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        let _ = writeln!(
            text,
            "  // {role} {}: {}",
            one_line(&argument.name),
            one_line(&argument.doc)
        );
    }
    text
}
