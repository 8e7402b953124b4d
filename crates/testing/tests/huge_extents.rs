//! Tensors of few entries and huge extents: everything is stored and computed by
//! coordinates, and nothing has the size of an extent.

use sparsec::{Format, FormatSpec, Inputs, Request, Session, Source, Tensor, compile, reference};

const EXTENT: u64 = 1 << 33;

const PROGRAMS: [&str; 6] = [
    "C(i,j) = A(i,k) * B(k,j)",
    "C(i,j) = A(k,i) * B(k,j)",
    "C(i,j) = A(i,k) * B(j,k)",
    "C(i,j) = A(i,j) + B(j,i)",
    "C(i,j) = A(j,i) * B(i,j)",
    "C(i,j) = sum{k}(A(i,k) * B(k,j)) + A(j,i)",
];
const FORMATS: [&str; 4] = ["dcsr", "dcsc", "scoo", "coo"];

/// Forty entries, some of them where others are in one mode.
fn tensor(seed: u64, format: &Format) -> Tensor {
    let mut state = seed;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) % n
    };
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        coords.extend([0, 1].map(|_| next(6) * (EXTENT / 6) + next(2)));
        values.push(next(7) as f64 - 3.0);
    }
    let tensor = Tensor::pack(format, &[EXTENT, EXTENT], &coords, &values);
    tensor.expect("entries within the extents")
}

#[test]
fn what_is_sparse_stays_sparse() {
    let session = Session::interpreter();
    for program in PROGRAMS {
        for a in FORMATS {
            for b in FORMATS {
                for c in ["dcsr", "dcsc", "scoo"] {
                    let mut request = Request::new(Source::new("program", program));
                    let mut inputs = Inputs::new();
                    for (seed, (name, format)) in [("A", a), ("B", b)].into_iter().enumerate() {
                        let spec = FormatSpec::parse(&Source::new("format", format));
                        let format = spec.and_then(|spec| spec.resolve(2)).expect("a preset");
                        inputs.insert(name.to_owned(), tensor(seed as u64, &format));
                    }
                    request.set_format("C", c).expect("a format");
                    let case = format!("{program} with {a}, {b} into {c}");
                    let compiled = compile(&request, &inputs).expect(&case);
                    let found = session.run(&compiled, &inputs).expect(&case);
                    let expected = reference::evaluate(compiled.resolved(), &inputs).expect(&case);
                    let difference = reference::compare_exact(&expected["C"], &found.tensors["C"]);
                    assert!(difference.is_none(), "{case}: {difference:?}");
                }
            }
        }
    }
}
