//! The target for operands that a kernel was not made for.
//!
//! An input chooses two tensors of any format, type, extents and order, and a program. The target
//! plans a kernel, or compiles loops, for the first tensor and gives it the second. sparsec has to
//! refuse, or to give the result of the same program made for the second tensor.

use std::collections::BTreeMap;

use sparsec::internals::{Request, TensorSpec, compile};
use sparsec::{Kernel, Program, Result, Source, Tensor};

use crate::choices::Choices;
use crate::library::{PROGRAMS, others, tensor};
use crate::programs::sessions;
use crate::texts::drawn;

/// Results by name.
type Results = BTreeMap<String, Tensor>;

/// A kernel planned or compiled for one tensor, given another.
pub fn misfit(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (Some(planned), Some(given)) = (drawn(tensor(&mut choices)), drawn(tensor(&mut choices)))
    else {
        return;
    };
    let text = choices.one_of(PROGRAMS[planned.order()]);
    let mut inputs = others(text, &given);
    let keeps_others = choices.once_in(2);
    if keeps_others {
        inputs = others(text, &planned);
    }
    inputs.insert("A".to_owned(), given.clone());
    if choices.once_in(8) {
        inputs.remove("A");
    }

    // The result of the program for these operands, if it has one.
    let mut request = Request::new(Source::new("expression", text));
    request.strict = true;
    let interpreter = &sessions()[0];
    let right = compile(&request, &inputs)
        .and_then(|compiled| interpreter.run(&compiled, &inputs))
        .map(|outcome| outcome.tensors);

    let session = &sessions()[choices.below(2)];
    // By a kernel that is planned.
    let planning = Program::parse(text)
        .and_then(|program| session.plan(&program.strict().like("A", &planned)?));
    if let Some(kernel) = drawn(planning) {
        let bound = |kernel: &Kernel| {
            let mut binding = kernel.binding();
            for (name, tensor) in &inputs {
                binding = binding.bind(name, tensor)?;
            }
            binding.evaluate_all()
        };
        agree("bound", text, bound(&kernel), &right);
    }
    // By loops compiled for other data.
    let mut for_planned = others(text, &planned);
    for_planned.insert("A".to_owned(), planned.clone());
    if choices.once_in(2) {
        // Declarations may say less than the tensor, or contradict it.
        let spec = TensorSpec {
            element: Some(planned.element()),
            ..TensorSpec::default()
        };
        request.tensors.insert("A".to_owned(), spec);
        if choices.once_in(2) {
            for_planned.clear();
        }
    }
    if let Some(compiled) = drawn(compile(&request, &for_planned)) {
        let ran = session
            .run(&compiled, &inputs)
            .map(|outcome| outcome.tensors);
        agree("run", text, ran, &right);
    }
}

/// Checks that a run was refused, or gave the results of a program made for these operands.
fn agree(how: &str, text: &str, found: Result<Results>, right: &Result<Results>) {
    let Some(found) = drawn(found) else {
        return;
    };
    let right = match right {
        Ok(right) => right,
        // No plan for these formats, or too little memory for that plan.
        Err(refusal) if refusal.code().as_str().starts_with("E03") => return,
        Err(refusal) if refusal.code().as_str().starts_with("E05") => return,
        Err(refusal) => panic!("{text}, {how}, gives {found:?}\nin place of\n{refusal}"),
    };
    for (name, tensor) in &found {
        let expected = &right[name];
        assert!(
            tensor.extents() == expected.extents() && tensor.same_entries(expected),
            "{text}, {how}, gives\n{tensor}\nin place of\n{expected}"
        );
    }
}
