//! The target for tensors: arrays of any content, given to the safe functions that make tensors.
//!
//! An input chooses a tensor and damage to its arrays, or slices of the caller. A tensor that
//! sparsec accepts has to work everywhere: conversions keep its entries, and kernels agree with
//! the oracle.

use sparsec::internals::{Inputs, Request, compile};
use sparsec::{
    Array, CooRef, CscRef, CsrRef, ElementType, Entries, Format, FormatSpec, MemoryLimit,
    PackOptions, Program, Result, Scalar, Source, Tensor,
};
use sparsec_testing::random::FORMATS;

use crate::choices::Choices;
use crate::programs::{judge, sessions};
use crate::texts::drawn;

/// The memory that a tensor may take.
const MEMORY: MemoryLimit = MemoryLimit::Bytes(16 << 20);

/// Programs by the order of their operand `A`. Other operands are dense.
pub(crate) const PROGRAMS: [&[&str]; 4] = [
    &["y = 2 * A", "y(i) = A * x(i)"],
    &[
        "y(i) = A(i) + x(i)",
        "s = A(i) * x(i)",
        "y(i) = A(i)",
        "y(i) = max(A(i), 1) * x(i)",
    ],
    &[
        "y(i) = A(i,j) * x(j)",
        "C(i,j) = A(i,j) + A(i,j)",
        "C(j,i) = A(i,j)",
        "s = A(i,j)",
        "y(i) = max{j}(A(i,j))",
        "C(i,k) = A(i,j) * B(j,k)",
    ],
    &[
        "C(i,k) = A(i,j,k) * x(j)",
        "s = A(i,j,k)",
        "C(k,j,i) = A(i,j,k)",
    ],
];

/// Damages the arrays of a tensor. If sparsec accepts them, calls the functions of the tensor
/// and runs kernels over it.
pub fn arrays(input: &[u8]) {
    let mut choices = Choices::new(input);
    if choices.once_in(4) {
        return views(&mut choices);
    }
    let Some(tensor) = drawn(tensor(&mut choices)) else {
        return;
    };
    let (format, mut extents, fill, mut arrays) = tensor.into_parts();
    let element = arrays.last().map_or(ElementType::F64, Array::element);
    for _ in 0..choices.below(4) {
        damage(&mut choices, &mut arrays, &mut extents);
    }
    let built = Tensor::new(format, extents, element, fill, arrays);
    if let Some(tensor) = drawn(built) {
        exercise(&tensor, &mut choices);
    }
}

/// A tensor of any format, type, extents and entries.
pub(crate) fn tensor(choices: &mut Choices<'_>) -> Result<Tensor> {
    let order = choices.below(4);
    let texts: Vec<String> = FORMATS
        .iter()
        .filter(|(fits, _)| *fits == order)
        .map(|(_, text)| (*text).to_owned())
        .chain(
            sparsec::presets()
                .iter()
                .filter(|preset| preset.fits(order))
                .map(|preset| preset.text(order)),
        )
        .collect();
    let text = &texts[choices.below(texts.len())];
    let format = FormatSpec::parse(&Source::new("format", text.as_str()))?.resolve(order)?;
    let element = choices.one_of(&ElementType::ALL);
    let extents: Vec<u64> = (0..order).map(|_| choices.below(6) as u64).collect();
    let places: u64 = extents.iter().product();
    let n = match places {
        0 => 0,
        _ => choices.below(12),
    };
    let mut entries = Entries::empty(&extents, element);
    let mut coords = Vec::new();
    let mut values = Array::zeroed(element, n)?;
    for at in 0..n {
        coords.extend(extents.iter().map(|it| choices.byte() as u64 % it));
        values.set(at, value(choices, element));
    }
    entries.coords = coords.into();
    entries.values = values;
    let options = PackOptions {
        fill: choices.once_in(5).then(|| value(choices, element)),
        memory: MEMORY,
        ..PackOptions::default()
    };
    Tensor::pack_entries(&format, entries, options)
}

/// A small value of a type.
fn value(choices: &mut Choices<'_>, element: ElementType) -> Scalar {
    let value = Scalar::I64(choices.below(9) as i64 - 2);
    value.cast(element).expect("integers convert")
}

/// Changes one thing of a tensor's parts.
fn damage(choices: &mut Choices<'_>, arrays: &mut Vec<Array>, extents: &mut [u64]) {
    let number = choices.below(arrays.len().max(1));
    let Some(array) = arrays.get_mut(number) else {
        return;
    };
    match choices.below(6) {
        0..=2 if !array.is_empty() => {
            let at = choices.below(array.len().min(256));
            let value = Scalar::I64(choices.integer()).cast(array.element());
            array.set(at, value.expect("integers convert"));
        }
        3 => {
            let longer = resized(array, choices.below(2 * array.len().clamp(1, 100)));
            *array = longer;
        }
        4 => {
            let element = choices.one_of(&ElementType::ALL);
            if let Ok(Some(cast)) = array.cast(element) {
                *array = cast;
            }
        }
        5 if !extents.is_empty() => {
            let mode = choices.below(extents.len());
            extents[mode] = choices.integer() as u64;
        }
        _ => {
            arrays.remove(number);
        }
    }
}

/// The array with another length; new elements are zero.
fn resized(array: &Array, len: usize) -> Array {
    let mut other = Array::zeroed(array.element(), len).expect("small arrays");
    for at in 0..len.min(array.len()) {
        other.set(at, array.get(at));
    }
    other
}

/// Slices of the caller, which may hold anything.
fn views(choices: &mut Choices<'_>) {
    let extents = [choices.below(5) as u64, choices.below(5) as u64];
    let list = |choices: &mut Choices<'_>, n: usize| -> Vec<i64> {
        (0..n).map(|_| choices.integer()).collect()
    };
    let n = choices.below(6);
    let (mut pos, crd) = (choices.below(7), choices.below(7).max(n));
    if !choices.once_in(4) {
        pos = extents[0] as usize + 1;
    }
    let (pos, crd) = (list(choices, pos), list(choices, crd));
    let values: Vec<f64> = (0..n).map(|_| choices.integer() as f64).collect();
    let narrow = |list: &[i64]| -> Vec<u8> { list.iter().map(|it| *it as u8).collect() };
    let wide = |list: &[i64]| -> Vec<usize> { list.iter().map(|it| *it as usize).collect() };
    let seen = match choices.below(4) {
        0 => CsrRef::new(extents, &pos, &crd, &values).as_tensor(),
        1 => {
            let (pos, crd) = (narrow(&pos), narrow(&crd));
            let seen = CscRef::new(extents, &pos, &crd, &values).as_tensor();
            if let Some(tensor) = drawn(seen) {
                exercise(&tensor, choices);
            }
            return;
        }
        2 => {
            let (pos, crd) = (wide(&pos), wide(&crd));
            let seen = CsrRef::new(extents, &pos, &crd, &values).as_tensor();
            if let Some(tensor) = drawn(seen) {
                exercise(&tensor, choices);
            }
            return;
        }
        _ => CooRef::new(extents.to_vec(), vec![&pos[..], &crd[..]], &values).as_tensor(),
    };
    if let Some(tensor) = drawn(seen) {
        exercise(&tensor, choices);
    }
}

/// Whether a tensor may be made dense, and be visited place by place.
fn is_small(tensor: &Tensor) -> bool {
    let places = tensor
        .extents()
        .iter()
        .try_fold(1u64, |n, it| n.checked_mul(*it));
    places.is_some_and(|places| places <= 1 << 10)
}

/// Calls the functions of a tensor, and runs a kernel over it.
fn exercise(tensor: &Tensor, choices: &mut Choices<'_>) {
    let _ = (tensor.n_stored(), tensor.n_filled(), tensor.has_padding());
    let _ = (
        tensor.scatter(),
        tensor.segment(),
        tensor.evenness(),
        tensor.footprint(),
    );
    assert!(!tensor.to_string().is_empty());
    drawn(tensor.statistics().map(|_| ()));
    if !is_small(tensor) {
        return;
    }
    let order = tensor.order();
    let entries = tensor.entries();
    assert!(
        entries
            .iter()
            .all(|(at, _)| at.to_vec().iter().zip(tensor.extents()).all(|(c, n)| c < n))
    );
    if let Some(list) = drawn(tensor.convert(&Format::scoo(order))) {
        assert!(list.same_entries(tensor), "a copy as a list of\n{tensor}");
    }
    if let Some(pruned) = drawn(tensor.prune(0.0)) {
        assert!(pruned.same_entries(tensor), "pruned\n{tensor}");
    }
    let mut modes: Vec<usize> = (0..order).collect();
    modes.reverse();
    if let Some(other) = drawn(tensor.permute(&modes)) {
        let again = other.permute(&modes).expect("a permutation back");
        assert!(again.same_entries(tensor), "turned\n{tensor}");
    }
    let programs = PROGRAMS.get(order).copied().unwrap_or_default();
    if let Some(text) = (!programs.is_empty()).then(|| choices.one_of(programs)) {
        run(text, tensor, choices);
    }
}

/// The dense operands of a program beside `A`.
pub(crate) fn others(text: &str, a: &Tensor) -> Inputs {
    let dense = |extents: Vec<u64>| {
        let n = extents.iter().product::<u64>() as usize;
        let values: Vec<f64> = (1..=n).map(|value| value as f64).collect();
        Tensor::dense(&extents, values).expect("small tensors")
    };
    let mut inputs = Inputs::new();
    let last = a.extents().last().copied().unwrap_or(2);
    if text.contains("x(j)") {
        let extent = a.extents().get(1).copied().unwrap_or(last);
        inputs.insert("x".to_owned(), dense(vec![extent]));
    } else if text.contains("x(i)") {
        inputs.insert("x".to_owned(), dense(vec![last]));
    }
    if text.contains("B(j,k)") {
        inputs.insert("B".to_owned(), dense(vec![last, 2]));
    }
    inputs
}

/// Compiles a program for a tensor, runs it on every engine, and compares with the oracle.
fn run(text: &str, a: &Tensor, choices: &mut Choices<'_>) {
    let mut inputs = others(text, a);
    inputs.insert("A".to_owned(), drawn(a.try_clone()).expect("small tensors"));
    let mut request = Request::new(Source::new("expression", text));
    request.strict = true;
    if let Some(compiled) = drawn(compile(&request, &inputs))
        && let Err(why) = judge(&compiled, &inputs)
    {
        panic!("{text}: {why}\n{a}");
    }
    let session = &sessions()[choices.below(2)];
    let evaluated = Program::parse(text)
        .and_then(|program| session.plan(&program.like("A", a)?))
        .and_then(|kernel| {
            let mut binding = kernel.binding();
            for (name, tensor) in &inputs {
                binding = binding.bind(name, tensor)?;
            }
            binding.evaluate()
        });
    drawn(evaluated);
}
