//! Whether tensors fit the program that was planned or compiled.
//!
//! | what is compared | a planned kernel ([`bind`](crate::Kernel::bind)) | compiled loops ([`run`](crate::Session::run)) |
//! |------------------|--------------|-------------------------------|
//! | order, element type, fill | as planned | as compiled               |
//! | format           | as planned, with index arrays of any width | any: converted first |
//! | extents          | any that fit together | as compiled; where none were known, any that fit together |
//!
//! A difference is a mistake of the caller and becomes a diagnostic.

use sparsec_base::{Diagnostic, Result, Span, code, suggest};
use sparsec_index::{Program, TensorData, TensorRole};
use sparsec_tensor::Tensor;

use crate::compiled::Compiled;
use crate::extents::{self, Extents};
use crate::kernel::needs_extents;
use crate::request::{Operands, check_tensor};

/// Refuses a tensor that the operand `name` was not planned for.
///
/// # Errors
/// `E0207` if the program has no tensor `name`, `E0020` if it computes it, `E0021` for
/// another format, type or fill.
pub(crate) fn check_operand(base: &Compiled, name: &str, tensor: &Tensor) -> Result<()> {
    let program = &base.program;
    let mut known: Vec<&str> = Vec::new();
    for (_, data) in base.resolved.tensors.iter() {
        if !known.contains(&data.source_name()) {
            known.push(data.source_name());
        }
    }
    let spans = base.resolved.statements.iter().map(|it| it.span);
    let place = spans.reduce(Span::to).unwrap_or_default();
    check_tensor(name, (&base.resolved.source, place), &known)?;
    let is_given = |data: &TensorData| data.role == TensorRole::Input;
    let input = program
        .tensors
        .find(|data| data.source_name() == name && is_given(data));
    let Some(id) = input else {
        return Err(computed(program, name));
    };
    let data = &program.tensors[id];
    let format = base.formats.of(id);
    if !tensor.format().arranges_like(format) {
        return Err(differs(
            program,
            data,
            "format",
            [format.to_string(), tensor.format().to_string()],
        )
        .help(format!(
            "plan with `.like(\"{name}\", …)`, or convert the tensor"
        )));
    }
    check_values(program, data, tensor)
}

/// How far index variables run over these operands of compiled loops.
///
/// # Errors
/// `E0021` for an operand of another order, type, fill or extent than was compiled for;
/// `E0203` for extents that do not fit together; `E0204` where loops depend on extents
/// that were not known.
pub(crate) fn check_operands(compiled: &Compiled, operands: &Operands<'_>) -> Result<Extents> {
    let program = &compiled.program;
    let mut unknown = None;
    for (_, data) in program.tensors.iter() {
        let given = operands.get(data.source_name());
        let (TensorRole::Input, Some(tensor)) = (data.role, given) else {
            continue;
        };
        if tensor.order() != data.order() {
            let orders = [data.order().to_string(), tensor.order().to_string()];
            return Err(differs(program, data, "order", orders).help("compile it for this tensor"));
        }
        check_values(program, data, tensor)?;
        let mut modes = std::iter::zip(&data.extents, tensor.extents());
        if modes.any(|(known, given)| known.is_some_and(|known| known != *given)) {
            let known = data.extents.iter().map(|extent| match extent {
                Some(extent) => extent.to_string(),
                None => "any".to_owned(),
            });
            let known: Vec<String> = known.collect();
            let given: Vec<String> = tensor.extents().iter().map(u64::to_string).collect();
            let extents = [known.join("x"), given.join("x")];
            return Err(differs(program, data, "extents", extents)
                .help("compile it for these inputs, or plan a kernel, which takes any extents"));
        }
        if data.extents.contains(&None) {
            unknown = unknown.or(Some(data));
        }
    }
    let Some(data) = unknown else {
        return Ok(extents::known(program));
    };
    if needs_extents(compiled) {
        let message = "these loops depend on extents that were not known when they were compiled";
        return Err(Diagnostic::new(code::MISSING_EXTENT, message)
            .at(&program.source, data.span, "the extents of this tensor")
            .help("compile the program for these inputs, or say the extents in the request"));
    }
    extents::of_operands(program, operands).map_err(|clash| clash.diagnostic(program))
}

/// Refuses a tensor of another element type or fill.
fn check_values(program: &Program, data: &TensorData, tensor: &Tensor) -> Result<()> {
    let name = data.source_name();
    if tensor.element() != data.element {
        let types = [data.element.to_string(), tensor.element().to_string()];
        return Err(differs(program, data, "type", types).help(format!(
            "plan with `.element(\"{name}\", ElementType::{:?})`, or convert the values",
            tensor.element()
        )));
    }
    if tensor.fill() != data.fill {
        let fills = [data.fill.to_string(), tensor.fill().to_string()];
        return Err(differs(program, data, "fill", fills).help(format!(
            "plan with `.fill(\"{name}\", …)` or `.like(\"{name}\", …)`"
        )));
    }
    Ok(())
}

/// That an operand is `planned` in one way and `given` in another.
fn differs(
    program: &Program,
    data: &TensorData,
    what: &str,
    [planned, given]: [String; 2],
) -> Diagnostic {
    let name = data.source_name();
    Diagnostic::new(
        code::NOT_AS_PLANNED,
        format!("`{name}` is planned with {what} `{planned}`, and given with `{given}`"),
    )
    .at(&program.source, data.span, "read here")
}

/// That the program computes the tensor `name` itself.
fn computed(program: &Program, name: &str) -> Diagnostic {
    let error = Diagnostic::new(
        code::NOT_AN_OPERAND,
        format!("`{name}` is computed by the program, so it cannot be given"),
    );
    let known = program.tensors.named(name);
    let error = match known {
        Some(id) => error.at(&program.source, program.tensors[id].span, "computed here"),
        None => error,
    };
    let inputs = program.tensors.iter();
    let inputs = inputs.filter(|(_, data)| data.role == TensorRole::Input);
    let operands: Vec<&str> = inputs.map(|(_, data)| data.source_name()).collect();
    match suggest::closest(name, operands.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.note(format!("the operands are {}", operands.join(", "))),
    }
}
