//! Conversions of halves in compiled kernels give the bits that [`Scalar::cast`] gives:
//! for every half, and for numbers around every half and between any two.

use sparsec_base::{ElementType, Scalar, Source};
use sparsec_codegen_c::{emit_unit, launch_name};
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Environment, Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::{Array, Format, Tensor};

mod trusted;

/// `given` converted to `to`, by C and by code made in memory.
fn converted(given: &[Scalar], to: ElementType) -> [Array; 2] {
    let from = given[0].element();
    let text = format!(
        "fn convert(
          out y \"(i) -> (i : dense)\" {{ extent y.n0, write y.vals: {to} }},
          in x \"(i) -> (i : dense)\" {{ extent x.n0, read x.vals: {from} }}) {{
          for i in 0..y.n0 {{ y.vals[i] = {to}(x.vals[i]) }}
        }}"
    );
    let function = Function::parse(&Source::new("kernel", text)).unwrap();
    let environment = Environment {
        cache_dir: Some(env!("CARGO_TARGET_TMPDIR").into()),
        ..Environment::of_process()
    };
    let cache = Cache::open(&environment).unwrap();
    let compiler = Compiler::detect(&environment, &cache).unwrap();
    let c = emit_unit(&function);
    let entry = launch_name(&function);
    let compiled = trusted::compile_c(&function, &c, &entry, &compiler, &cache).unwrap();
    let generated = Kernel::generate(&function).unwrap();

    let extents = vec![given.len() as u64];
    let mut array = Array::zeroed(from, given.len()).unwrap();
    for (at, value) in given.iter().enumerate() {
        array.set(at, *value);
    }
    let dense = Format::dense(1);
    let x = Tensor::new(
        dense.clone(),
        extents.clone(),
        from,
        from.zero(),
        vec![array],
    )
    .unwrap();
    let y = &function.arguments[0];
    [compiled, generated].map(|kernel| {
        let (dense, extents) = (dense.clone(), extents.clone());
        let mut output = OutputTensor::new(&function, y, dense, extents, to.zero()).unwrap();
        let mut arguments = vec![KernelArgument::Out(&mut output), KernelArgument::In(&x)];
        trusted::launch(&kernel, &mut arguments).unwrap();
        drop(arguments);
        output.arrays()[0].clone()
    })
}

fn check(given: &[Scalar], to: ElementType) {
    for found in converted(given, to) {
        for (at, value) in given.iter().enumerate() {
            let expect = value.cast(to).unwrap();
            assert_eq!(found.get(at), expect, "{value:?} as {to}");
        }
    }
}

fn half(to: ElementType, bits: u16) -> Scalar {
    match to {
        ElementType::F16 => Scalar::F16(sparsec_base::f16::from_bits(bits)),
        _ => Scalar::Bf16(sparsec_base::bf16::from_bits(bits)),
    }
}

#[test]
fn every_half_is_the_single_that_it_is() {
    for from in [ElementType::F16, ElementType::Bf16] {
        let all: Vec<Scalar> = (0..=u16::MAX).map(|bits| half(from, bits)).collect();
        check(&all, ElementType::F32);
        check(&all, ElementType::F64);
        let other = match from {
            ElementType::F16 => ElementType::Bf16,
            _ => ElementType::F16,
        };
        check(&all, other);
    }
}

#[test]
fn singles_and_doubles_are_rounded_to_the_nearest_half() {
    for to in [ElementType::F16, ElementType::Bf16] {
        let (mut singles, mut doubles) = (Vec::new(), Vec::new());
        for bits in 0..u16::MAX {
            let value = half(to, bits).to_f64();
            let middle = (value + half(to, bits + 1).to_f64()) / 2.0;
            for near in [value, middle] {
                let single = near as f32;
                singles.extend([single, single.next_up(), single.next_down()]);
                doubles.extend([near, near.next_up(), near.next_down()]);
            }
        }
        // Bits of every kind of single, NaNs among them.
        singles.extend((0..1 << 16).map(|n: u32| f32::from_bits(n.wrapping_mul(0x9e37_79b1))));
        check(
            &singles.into_iter().map(Scalar::F32).collect::<Vec<_>>(),
            to,
        );
        check(
            &doubles.into_iter().map(Scalar::F64).collect::<Vec<_>>(),
            to,
        );
    }
}
