//! Operations on complex numbers give the same bits on every engine, where compilers make vectors
//! of a loop too.

use sparsec::internals::{Inputs, Request, compile};
use sparsec::{
    Array, Backend, Complex, ElementType, Format, Options, Scalar, Session, Source, Tensor,
};

/// A dense tensor whose products all round.
fn dense(extents: &[u64], element: ElementType, step: u64) -> Tensor {
    let n = extents.iter().product::<u64>();
    let part = |place: u64| 1.0 / (1.0 + (place * step % 101) as f64) - 0.3;
    let mut array = Array::filled(element.zero(), n as usize).expect("memory");
    for place in 0..n {
        let (re, im) = (part(2 * place), part(3 * place + 1));
        let value = match element {
            ElementType::C64 => Scalar::C64(Complex::new(re as f32, im as f32)),
            _ => Scalar::C128(Complex::new(re, im)),
        };
        array.set(place as usize, value);
    }
    let format = Format::dense(extents.len());
    let arrays = vec![array];
    Tensor::new(format, extents.to_vec(), element, element.zero(), arrays).expect("a dense tensor")
}

#[test]
fn engines_round_complex_numbers_alike() {
    let sessions = [Backend::Interpreter, Backend::Cranelift, Backend::C]
        .map(|backend| Session::new(Options::from_env().backend(backend).threads(1)));
    let programs = [
        "c(j) = A(i,j) * y(i)",
        "c(i) = A(i,j) * y(j)",
        "c(i) = conj(A(i,j)) * y(j)",
        "c(i) = A(i,j) * conj(y(j)) - y(i)",
        "c(i,j) = A(i,j) / y(j)",
        "c(i,j) = y(i) / A(i,j) + conj(A(i,j))",
        "c(i,j) = real(y(i)) * A(i,j) + conj(y(j))",
        "c(i,j) = A(i,j) * A(i,j) * y(j) - conj(A(i,j) * y(i))",
        "c(i) = y(i) * y(i) * A(i,i)",
    ];
    for element in [ElementType::C64, ElementType::C128] {
        let inputs = Inputs::from([
            ("A".to_owned(), dense(&[37, 37], element, 7)),
            ("y".to_owned(), dense(&[37], element, 5)),
        ]);
        for program in programs {
            let request = Request::new(Source::new("program", program));
            let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
            let bits = sessions.each_ref().map(|session| {
                let result = session.run(&compiled, &inputs).expect("it runs");
                let values = result.tensors["c"].entries().values;
                let bits = |at| match values.get(at) {
                    Scalar::C64(z) => [z.re, z.im].map(|part| u64::from(part.to_bits())),
                    Scalar::C128(z) => [z.re, z.im].map(f64::to_bits),
                    other => panic!("{other} is no complex number"),
                };
                (0..values.len()).map(bits).collect::<Vec<_>>()
            });
            assert_eq!(bits[0], bits[1], "{program}, {element}, in memory");
            assert_eq!(bits[0], bits[2], "{program}, {element}, compiled C");
        }
    }
}
