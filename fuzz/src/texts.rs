//! Targets for the languages: a text is refused with a diagnostic, or its print parses again and
//! prints alike.
//!
//! Each diagnostic is rendered as well, because its places have to lie in the text. Bytes that are
//! not UTF-8 become replacement characters.

use std::fmt::Display;

use sparsec::internals::compute::{ComputeStage, Transformations, compute};
use sparsec::internals::index::{Program, TensorData, TensorRole, Tensors};
use sparsec::internals::mlir::{Dialect, Module};
use sparsec::internals::notation::Einsum;
use sparsec::internals::relation::{Declarations, Descriptor, Relation, Set};
use sparsec::internals::schedule::{ProgramSchedule, parse_concrete};
use sparsec::internals::{Computation, Function, Notation, codegen_c, generate, generated_entries};
use sparsec::{
    ElementType, Entries, Format, FormatSpec, Result, Scalar, Source, Span, Tensor, parse_function,
};
use sparsec_loop::{passes, verify};
use sparsec_tensor::{Array, PackOptions};

use crate::choices::Choices;

/// The most entries that a target makes.
const MOST_ENTRIES: u64 = 1 << 14;

/// What an input says as text.
pub(crate) fn text_of(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// The result of a function, if it has one. A refusal is rendered, since rendering may panic.
pub(crate) fn drawn<T>(result: Result<T>) -> Option<T> {
    result
        .inspect_err(|refusal| drop(refusal.render(false)))
        .ok()
}

/// Parses a text. If it has a meaning, its print has to parse and to print alike.
fn reads_back<T: Display>(text: &str, parse: impl Fn(&Source) -> Result<T>) -> Option<T> {
    let value = drawn(parse(&Source::new("text", text)))?;
    let printed = value.to_string();
    match parse(&Source::new("print", printed.as_str())) {
        Ok(again) => assert_eq!(again.to_string(), printed, "from {text:?}"),
        Err(refusal) => panic!("the print of {text:?} is refused:\n{refusal}"),
    }
    Some(value)
}

/// Index notation, as text and resolved to a program.
pub fn expression(input: &[u8]) {
    let Some(notation) = reads_back(&text_of(input), Notation::parse) else {
        return;
    };
    let mut declarations = sparsec::internals::notation::Declarations::new();
    for tensor in notation.tensor_names() {
        let declaration = sparsec::internals::notation::Declaration::with_order(tensor.order);
        declarations.declare(tensor.name, declaration);
    }
    let Some(program) = drawn(notation.resolve(&declarations)) else {
        return;
    };
    for number in 0..program.statements.len() {
        concrete_of(&program, number);
    }
}

/// A statement as naive loops, which read back.
fn concrete_of(program: &Program, number: usize) {
    let printed = sparsec::internals::index::concretize(program, number).to_string();
    let source = Source::new("concrete", printed.as_str());
    match parse_concrete(&source, &program.tensors) {
        Ok(again) => assert_eq!(again.to_string(), printed),
        Err(refusal) => panic!("concrete notation is refused:\n{refusal}"),
    }
}

/// Schedules of programs.
pub fn schedule(input: &[u8]) {
    reads_back(&text_of(input), ProgramSchedule::parse);
}

/// Concrete index notation over the tensors that the text itself names.
pub fn concrete(input: &[u8]) {
    let text = text_of(input);
    let tensors = named_tensors(&text);
    reads_back(&text, |source| parse_concrete(source, &tensors));
}

/// The tensors of a text: each name before a parenthesis, with a mode for each comma inside.
fn named_tensors(text: &str) -> Tensors {
    let mut tensors = Tensors::new();
    for (at, _) in text.match_indices('(') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = text[..at].rsplit(|c| !is_name(c)).next().unwrap_or("");
        let inside = text[at + 1..].split(['(', ')']).next().unwrap_or("");
        let order = match inside.trim() {
            "" => 0,
            inside => inside.split(',').count(),
        };
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !starts_well || tensors.named(name).is_some() {
            continue;
        }
        tensors.push(TensorData {
            name: name.to_owned(),
            earlier_of: None,
            element: ElementType::F64,
            extents: vec![None; order],
            fill: Scalar::F64(0.0),
            role: match tensors.is_empty() {
                true => TensorRole::Result,
                false => TensorRole::Input,
            },
            span: Span::default(),
            levels_of: None,
        });
    }
    tensors
}

/// Loop IR: a function that the verifier accepts goes through every pass and both back ends.
pub fn loops(input: &[u8]) {
    let text = text_of(input);
    let Some(function) = reads_back(&text, Function::parse) else {
        return;
    };
    if drawn(verify(&function)).is_none() {
        return;
    }
    let optimized = passes::optimize(function.clone(), &mut |pass, function| {
        if let Err(fault) = verify(function) {
            panic!("{pass} broke the function: {fault}");
        }
    });
    for function in [&function, &optimized] {
        assert!(!codegen_c::emit_unit(function).is_empty());
        drawn(sparsec::internals::runtime::Kernel::generate(function));
    }
}

/// Formats: text, and a small tensor packed and unpacked.
pub fn format(input: &[u8]) {
    let Some(spec) = reads_back(&text_of(input), FormatSpec::parse) else {
        return;
    };
    for order in 0..5 {
        if let Some(format) = drawn(spec.resolve(order)) {
            let printed = format.to_string();
            let again = Format::parse(&printed);
            let again = again.unwrap_or_else(|refusal| panic!("{printed}: {refusal}"));
            assert_eq!(again.to_string(), printed);
            let _ = (format.nearest(), format.parts(), format.arrays());
            packs_and_unpacks(&format);
        }
    }
}

/// A packed tensor has the entries that were given.
fn packs_and_unpacks(format: &Format) {
    const EXTENTS: [u64; 5] = [3, 3, 2, 4, 1];
    let extents = &EXTENTS[..format.order()];
    let points: u64 = extents.iter().product();
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for point in (0..points).step_by(2) {
        let mut rest = point;
        for extent in extents {
            coords.push(rest % extent);
            rest /= extent;
        }
        values.push(point as f64 + 1.0);
    }
    let options = PackOptions {
        memory: sparsec::MemoryLimit::Bytes(1 << 20),
        ..PackOptions::default()
    };
    let entries = Entries {
        extents: extents.to_vec(),
        coords: coords.into(),
        values: Array::from_vec(values),
    };
    let plain = Tensor::pack_entries(&Format::scoo(extents.len()), entries.clone(), options)
        .expect("distinct entries");
    if let Some(packed) = drawn(Tensor::pack_entries(format, entries, options)) {
        for (coords, value) in plain.iter() {
            assert_eq!(packed.get(&coords), value, "{format} at {coords:?}");
        }
        if packed.fill() == plain.fill() {
            assert!(packed.same_entries(&plain), "{format} holds other entries");
        }
    }
}

/// Programs of MLIR: one that verifies reads back from both of its forms, and from every
/// release that has words for it.
pub fn mlir(input: &[u8]) {
    let text = text_of(input);
    let source = Source::new("text", text.as_str());
    for dialect in [None, Some(Dialect::Sparsec)] {
        let Some(module) = drawn(Module::parse(&source, dialect)) else {
            continue;
        };
        let _ = (
            module.to_string(),
            module.generic(),
            module.encodings_text(),
        );
        if drawn(module.verify()).is_none() {
            continue;
        }
        same_module(&module, &text);
        for release in Dialect::OLDEST..=Dialect::NEWEST {
            if let Some(rewritten) = drawn(module.rewritten(Dialect::Release(release))) {
                same_module(&rewritten, &text);
            }
        }
    }
}

/// A module is read from what it prints.
fn same_module(module: &Module, text: &str) {
    let (printed, generic) = (module.to_string(), module.generic());
    for form in [&printed, &generic] {
        match Module::parse(&Source::new("print", form.as_str()), Some(module.dialect())) {
            Ok(again) => {
                assert_eq!(again.to_string(), printed, "from {text:?}");
                assert_eq!(again.generic(), generic, "from {text:?}");
            }
            Err(refusal) => panic!("the print of {text:?} is refused:\n{refusal}"),
        }
    }
}

/// Functions of the user.
pub fn function(input: &[u8]) {
    drawn(parse_function(&text_of(input)));
}

/// Einsums; the first byte says of how many operands.
pub fn einsum(input: &[u8]) {
    let mut choices = Choices::new(input);
    let n_operands = choices.below(4);
    let text = text_of(input.get(1..).unwrap_or_default());
    if let Some(einsum) = drawn(Einsum::parse(&text, n_operands)) {
        let notation = einsum.to_string();
        let parsed = Notation::parse(&Source::new("einsum", notation.as_str()));
        parsed.unwrap_or_else(|refusal| panic!("{text:?} is {notation}: {refusal}"));
    }
}

/// Generators of tensors; the first two bytes choose extents and the type.
pub fn generator(input: &[u8]) {
    let mut choices = Choices::new(input);
    let shapes: [&[u64]; 8] = [
        &[],
        &[0],
        &[5],
        &[3, 4],
        &[0, 3],
        &[4, 4],
        &[2, 3, 2],
        &[1 << 40, 1 << 40],
    ];
    let extents = choices.one_of(&shapes);
    let element = choices.one_of(&ElementType::ALL);
    let spec = Source::new("-g", text_of(input.get(2..).unwrap_or_default()));
    let Some(expected) = drawn(generated_entries(&spec, extents)) else {
        return;
    };
    if expected > u128::from(MOST_ENTRIES) {
        return;
    }
    if let Some(tensor) = drawn(generate(&spec, extents, None, element)) {
        // A tensor without modes stores its entry in any case.
        let expected = if extents.is_empty() { 1 } else { expected };
        assert_eq!(tensor.n_stored() as u128, expected, "{}", spec.text());
    }
}

/// Relations and sets; inverses and simplified relations.
pub fn relation(input: &[u8]) {
    let text = text_of(input);
    reads_back(&text, Set::parse);
    let Some(relation) = reads_back(&text, Relation::parse) else {
        return;
    };
    assert_eq!(
        relation.inverse().inverse().to_string(),
        relation.to_string()
    );
    let simplified = relation.simplified().to_string();
    if let Err(refusal) = simplified.parse::<Relation>() {
        panic!("{text:?} simplified is refused:\n{refusal}");
    }
}

/// Declarations of functions and constants.
pub fn declarations(input: &[u8]) {
    reads_back(&text_of(input), Declarations::parse);
}

/// Formats that are stated as relations, the content of `.fmt` files.
pub fn descriptor(input: &[u8]) {
    reads_back(&text_of(input), Descriptor::parse);
}

/// Computations over relations, and every stage of those that are right.
pub fn computation(input: &[u8]) {
    let text = text_of(input);
    if reads_back(&text, Computation::parse).is_none() {
        return;
    }
    let source = Source::new("computation", text.as_str());
    if let Some(computed) = drawn(compute(&source, &Transformations::Nothing)) {
        for (stage, ..) in ComputeStage::ALL {
            drawn(computed.emit(stage));
        }
    }
}

/// Scripts of transformations, replayed on two loops over a matrix.
pub fn script(input: &[u8]) {
    let text = text_of(input);
    if reads_back(&text, sparsec::internals::computation::Script::parse).is_none() {
        return;
    }
    let nest = "computation nest {
  parameters N, M
  given x : f64[M]
  out y : f64[N], z : f64[N, M]
  s0: y(i) = 0 over {[i] : 0 <= i < N} at [0, i]
  s1: z(i, j) = x(j) over {[i, j] : 0 <= i < N && 0 <= j < M} at [1, i, 0, j]
  s2: y(i) += z(i, j) over {[i, j] : 0 <= i < N && 0 <= j < M} at [1, i, 1, j]
}";
    let script = Transformations::Script(Source::new("script", text));
    if let Some(computed) = drawn(compute(&Source::new("nest", nest), &script)) {
        drawn(computed.emit(ComputeStage::Loop));
    }
}
