//! Tensors of few entries and huge extents: everything is stored and computed by
//! coordinates, and nothing has the size of an extent.

use sparsec::internals::{Inputs, Request, compile, reference};
use sparsec::{Format, FormatSpec, Session, Source, Tensor};

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

/// Runs a program, and compares a result with the reference's, bit by bit.
fn check(session: &Session, request: &Request, inputs: &Inputs, result: &str, case: &str) {
    let compiled = compile(request, inputs).expect(case);
    let found = session.run(&compiled, inputs).expect(case);
    let expected = reference::evaluate(compiled.resolved(), inputs).expect(case);
    let difference = reference::compare_exact(&expected[result], &found.tensors[result]);
    assert!(difference.is_none(), "{case}: {difference:?}");
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
                    check(&session, &request, &inputs, "C", &case);
                }
            }
        }
    }
}

/// Entries are counted in 64 bits, and positions are as wide as they have to be.
#[test]
fn entries_beyond_31_bits_are_counted() {
    const N: u64 = (1 << 30) + 5;
    let spec = FormatSpec::parse(&Source::new("format", "dense"));
    let dense = spec.and_then(|spec| spec.resolve(2)).expect("a preset");
    // Pages that nobody writes to are none.
    let zeros = sparsec::internals::generate(
        &Source::new("generator", "dense:zeros"),
        &[2, N],
        Some(&dense),
        sparsec::ElementType::U8,
    );
    let mut b = zeros.expect("fits in addresses");
    let values = b.values_mut::<u8>().expect("of this type");
    let last = values.len() - 1;
    (values[3], values[last]) = (7, 9);
    let request = Request::new(Source::new(
        "program",
        "s = sum{i,j}(b(i,j)); n = sum{i,j}(u64(b(i,j) < 9)); m = max{i}(max{j}(b(i,j)))",
    ));
    let inputs = Inputs::from([("b".to_owned(), b)]);
    let options = sparsec::Options::from_env().backend(sparsec::Backend::C);
    let session = Session::new(options);
    let compiled = compile(&request, &inputs).expect("a program");
    let found = session.run(&compiled, &inputs).expect("a result");
    let value = |name: &str| found.tensors[name].get(&[]).to_string();
    assert_eq!(value("s"), "16");
    assert_eq!(value("n"), (2 * N - 1).to_string());
    assert_eq!(value("m"), "9");
}

#[test]
fn positions_are_wide_where_entries_may_be_many() {
    const N: u64 = 1 << 17;
    let spec = FormatSpec::parse(&Source::new("format", "(i) -> (i : compressed)"));
    let vector = spec.and_then(|spec| spec.resolve(1)).expect("a format");
    let coords: Vec<u64> = (0..N).map(|n| 3 * n).collect();
    let x = Tensor::pack(&vector, &[1 << 20], &coords, &vec![1.0; N as usize]).expect("a vector");
    let widths = |text: &str| {
        let mut request = Request::new(Source::new("program", text));
        request.set_format("C", "csr").expect("a format");
        let inputs = Inputs::from([("x".to_owned(), x.clone()), ("y".to_owned(), x.clone())]);
        let compiled = compile(&request, &inputs).expect(text);
        compiled.format("C").expect("a result").widths()
    };
    // 2^34 entries, at coordinates below 2^20.
    let product = widths("C(i,j) = x(i) * y(j)");
    assert_eq!(product.pos, Some(sparsec::IndexWidth::W64));
    assert_eq!(product.crd, Some(sparsec::IndexWidth::W32));
}

/// Of the sums of two coordinates few are entries: no loop goes over the sums.
#[test]
fn convolutions_visit_what_is_stored() {
    let sparse = |entries: &[(u64, f64)]| {
        let (coords, values): (Vec<u64>, Vec<f64>) = entries.iter().copied().unzip();
        let tensor = Tensor::pack(&Format::csf(1), &[EXTENT], &coords, &values);
        tensor.expect("entries within the extents")
    };
    let mut request = Request::new(Source::new("program", "z(r) = x(i) * y(r - i)"));
    request.set_format("z", "csf").expect("a format");
    request.extents.insert("r".to_owned(), 2 * EXTENT - 1);
    let inputs = Inputs::from([
        ("x".to_owned(), sparse(&[(1, 2.0), (EXTENT - 9, 3.0)])),
        ("y".to_owned(), sparse(&[(0, 5.0), (7, 11.0)])),
    ]);
    let compiled = compile(&request, &inputs).expect("a plan");
    let outcome = Session::interpreter().run(&compiled, &inputs);
    let z = &outcome.expect("a result").tensors["z"];
    let last = EXTENT - 9;
    assert_eq!(
        z.level(0).crd(),
        [1, 8, last, last + 7].map(|crd| crd as i64)
    );
    assert_eq!(z.values::<f64>(), Some(&[10.0, 22.0, 15.0, 33.0][..]));
}

/// Counted from the end or not: what is stored is walked in the order of the loops.
#[test]
fn backwards_is_as_far_as_forwards() {
    let spec = |text: &str| FormatSpec::parse(&Source::new("format", text));
    let format = |text: &str, order| spec(text).and_then(|it| it.resolve(order));
    let last = EXTENT - 1;
    let programs = [
        format!("C({last} - i,j) = A(i,j)"),
        format!("C(j,{last} - i) = A(i,j)"),
        format!("C({last} - i,j) += A(i,j) * A(i,k)"),
        format!("C(i,j) = A(i,{last} - j) + A(j,i)"),
        format!("C(i,j) = A(i,{last} - j) + A(j,i) + A({last} - i,j)"),
        format!("C(i,j) = A({last} - i,k) * A({last} - k,j)"),
        format!("C(i,j) = A({last} - i,3) * A(j,{last} - j)"),
        format!("C(i,j) = A({last} - 3*i,2*j) + A(i,j)"),
    ];
    let session = Session::interpreter();
    for program in &programs {
        for (a, c) in [
            ("dcsr", "dcsr"),
            ("dcsc", "scoo"),
            ("scoo", "dcsc"),
            ("coo", "coo"),
        ] {
            let mut request = Request::new(Source::new("program", program.as_str()));
            let a = tensor(7, &format(a, 2).expect("a preset"));
            let inputs = Inputs::from([("A".to_owned(), a)]);
            request.set_format("C", c).expect("a format");
            for var in ["i", "j"] {
                request.extents.insert(var.to_owned(), EXTENT);
            }
            let case = format!("{program} into {c}");
            check(&session, &request, &inputs, "C", &case);
        }
    }
}

/// Both coordinates of an operand say one of the result's: loops start where that of the
/// other is stored, and what goes in no order of all operands has a temporary.
#[test]
fn sums_of_two_loops_are_found_from_what_is_stored() {
    let programs = [
        "C(i,j) = A(i - j + 5,j)",
        "C(i,j) = A(i + j,j) * 2",
        "C(i,j) = A(i - j,j) + A(i,j)",
        "C(i,j) = max(A(i - j,j), A(j - i,i))",
        "C(i,j) = A(i,j) * 3 + 2 * A(j - i,i) - A(j,i)",
        "C(i,j) += A(i - j,k) * A(k,j)",
    ];
    let spec = |text: &str| FormatSpec::parse(&Source::new("format", text));
    let format = |text: &str| spec(text).and_then(|it| it.resolve(2));
    for program in programs {
        for (a, c) in [("dcsr", "coo"), ("dcsc", "dcsr"), ("coo", "dcsc")] {
            let mut request = Request::new(Source::new("program", program));
            let a = tensor(7, &format(a).expect("a preset"));
            let inputs = Inputs::from([("A".to_owned(), a)]);
            request.set_format("C", c).expect("a format");
            for var in ["i", "j"] {
                request.extents.insert(var.to_owned(), EXTENT);
            }
            let case = format!("{program} into {c}");
            check(&Session::interpreter(), &request, &inputs, "C", &case);
        }
    }
}

/// All entries that are not stored are one value, wherever the operand is read.
#[test]
fn what_is_not_stored_is_reduced_at_once() {
    let last = EXTENT - 1;
    let programs = [
        format!("s = max{{i,j}}(A({last} - i,j))"),
        "s = max{i,j}(A(i + 3,j))".to_owned(),
        format!("s = min{{i,j}}(A(2*i,{last} - j) + 1)"),
        format!("s = max{{i,j}}(A(i,j) - A({last} - i,j))"),
        format!("s(i) = max{{j}}(A({last} - i,j))"),
    ];
    let spec = FormatSpec::parse(&Source::new("format", "dcsr"));
    let dcsr = spec.and_then(|it| it.resolve(2)).expect("a preset");
    let inputs = Inputs::from([("A".to_owned(), tensor(7, &dcsr))]);
    for program in programs {
        let mut request = Request::new(Source::new("program", program.as_str()));
        if program.starts_with("s(i)") {
            request.set_format("s", "csf").expect("a format");
        }
        for var in ["i", "j"] {
            request.extents.insert(var.to_owned(), EXTENT);
        }
        check(&Session::interpreter(), &request, &inputs, "s", &program);
    }
}
