//! Kernels: planned once, for any extents and widths, from any thread.

use sparsec::{
    Backend, Cancel, Duplicates, ElementType, Error, Format, Kernel, Options, Program, Scalar,
    Session, Stage, Tensor, code, parse_function,
};

use super::{a, interpreter, matrix, spmv, x};

#[test]
fn errors_and_kernels_go_between_threads() {
    fn check<T: Send + Sync + 'static>() {}
    fn is_error<T: std::error::Error>() {}
    check::<Error>();
    check::<Kernel>();
    check::<Session>();
    check::<Program>();
    check::<Tensor>();
    is_error::<Error>();
}

#[test]
fn one_kernel_takes_operands_of_any_extents() {
    let kernel = spmv(&interpreter());
    let y = kernel
        .bind("A", &a())
        .unwrap()
        .bind("x", &x())
        .unwrap()
        .evaluate();
    assert_eq!(y.unwrap().values::<f64>(), Some(&[201.0, 30.0][..]));
    let wide = matrix("csr", [1, 5], &[([0, 4], 2.0)]);
    let ones = Tensor::dense(&[5], [1.0; 5]).unwrap();
    let binding = kernel.bind("A", &wide).unwrap().bind("x", &ones).unwrap();
    assert_eq!(
        binding.evaluate().unwrap().values::<f64>(),
        Some(&[2.0][..])
    );
    // A binding may be given other data.
    let twos = Tensor::dense(&[5], [2.0; 5]).unwrap();
    let binding = binding.bind("x", &twos).unwrap();
    assert_eq!(
        binding.evaluate().unwrap().values::<f64>(),
        Some(&[4.0][..])
    );
}

/// On every engine, on one thread and on two, whatever loops a kernel spends its time in;
/// none would end while a test waits.
#[test]
fn kernels_end_when_nobody_waits_any_longer() {
    let n = 1 << 10;
    let x = Tensor::dense(&[n], vec![1.0; 1 << 10]).unwrap();
    let row = Tensor::builder("csr", &[1, 1 << 46]).unwrap();
    let row = row.push([0, 7], 1.0).build().unwrap();
    let many = 1 << 46;
    for (text, extents) in [
        // Many loops inside one another, none of them long.
        (
            "s = max{i,j,k,l}(pow(x(i), 0.3) + pow(x(j) * x(k), x(l)))",
            vec![],
        ),
        // One loop that is long, and has eight sums or none.
        ("s = sum{i}(sqrt(i + x(3)))", vec![("i", many)]),
        ("s = max{i}(sqrt(i + x(3)))", vec![("i", many)]),
        // A short loop around a long one, and the other way round.
        ("y(j) = max{i}(sqrt(i + x(j)))", vec![("i", many >> 10)]),
        ("s = max{i,j}(sqrt(i + x(j)))", vec![("i", many >> 10)]),
        // Two long loops inside a short one.
        (
            "y(j) = max{i,k}(sqrt(i + k * x(j)))",
            vec![("i", 1 << 18), ("k", 1 << 18)],
        ),
        // A long loop along what is hardly stored.
        ("s = max{i,j}(R(i,j) + sqrt(j))", vec![]),
    ] {
        let mut program = Program::parse(text).unwrap();
        for (name, tensor) in [("x", &x), ("R", &row)] {
            if text.contains(&format!("{name}(")) {
                program = program.like(name, tensor).unwrap();
            }
        }
        for (var, extent) in extents {
            program = program.extent(var, extent);
        }
        for (backend, threads) in [
            (Backend::C, 1),
            (Backend::Cranelift, 1),
            (Backend::Cranelift, 2),
            (Backend::Interpreter, 1),
        ] {
            let options = Options::from_env().backend(backend).threads(threads);
            let kernel = Session::new(options).plan(&program).unwrap();
            let cancel = Cancel::default();
            let elsewhere = cancel.clone();
            let waiting = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(100));
                elsewhere.set();
            });
            let mut binding = kernel.binding().until(&cancel);
            for (name, tensor) in [("x", &x), ("R", &row)] {
                if text.contains(&format!("{name}(")) {
                    binding = binding.bind(name, tensor).unwrap();
                }
            }
            let refused = binding.evaluate().map(|_| ()).unwrap_err();
            assert_eq!(refused.code(), code::CANCELLED, "{backend:?}: {text}");
            waiting.join().unwrap();
        }
    }
}

#[test]
fn parts_of_what_a_program_assigns_may_be_assigned_again() {
    let program = "y(i) = w(i); y(k(0:2)) = A(1,k(1:3))";
    let a = matrix("csr", [2, 5], &[([1, 1], 7.0), ([1, 2], 8.0)]);
    let kernel = interpreter()
        .plan(&Program::parse(program).unwrap())
        .unwrap();
    for n in [4, 3] {
        let w = Tensor::dense(&[n], vec![1.0; n as usize]).unwrap();
        let bound = kernel.bind("w", &w).unwrap().bind("A", &a).unwrap();
        let y = bound.evaluate().unwrap();
        assert_eq!(y.values::<f64>().unwrap()[..3], [7.0, 8.0, 1.0]);
        assert_eq!(y.extents(), [n]);
    }
}

/// Plans follow what is bound: large operands run on the threads of their session.
#[test]
fn sessions_have_threads_of_their_own() {
    let n = 1 << 14;
    let entries = (0..n).flat_map(|i| (0..32).map(move |k| ([i, (i * 7 + k * k * 13) % n], 0.1)));
    let mut builder = Tensor::builder("csr", &[n, n]).unwrap();
    builder.extend(entries);
    let large = builder.build().unwrap();
    let small = matrix("csr", [2, 2], &[([0, 1], 2.0), ([1, 0], 3.0)]);
    let program = Program::parse("C(i,j) = A(i,j) + A(j,i)").unwrap();
    let program = program.like("A", &large).unwrap();
    let program = program.format("C", "csr").unwrap();
    let mut results = Vec::new();
    for threads in [1, 2, 5] {
        let options = Options::from_env()
            .backend(Backend::Cranelift)
            .threads(threads);
        let kernel = Session::new(options).plan(&program).unwrap();
        let schedule = |a: &Tensor| {
            let bound = kernel.bind("A", a).unwrap();
            bound.emit(&Stage::Schedule).unwrap()
        };
        assert_eq!(schedule(&large).contains("CPUThread"), threads > 1);
        assert!(!schedule(&small).contains("CPUThread"));
        let bound = kernel.bind("A", &large).unwrap();
        let computed = bound.evaluate().unwrap();
        let mut assembled = bound.assemble().unwrap();
        assert_eq!(*assembled.compute().unwrap(), computed);
        results.push(computed);
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn index_arrays_may_be_of_any_width() {
    let kernel = spmv(&interpreter());
    for format in [
        "csr, pos = 64, crd = 64",
        "csr, pos = 8",
        "csr, pos = 16, crd = 8",
        "csr",
    ] {
        let a = a().convert(&Format::parse(format).unwrap()).unwrap();
        let x = x();
        let binding = kernel.bind("A", &a).unwrap().bind("x", &x).unwrap();
        let y = binding.evaluate().unwrap();
        assert_eq!(y.values::<f64>(), Some(&[201.0, 30.0][..]), "{format}");
    }
}

#[test]
fn results_are_as_wide_as_their_coordinates() {
    let session = interpreter();
    let far = 1u64 << 40;
    let a = Tensor::builder("coo", &[far]).unwrap();
    let a = a.push([far - 1], 2.0).build().unwrap();
    let b = session.evaluate("b(i) = 2 * a(i)", [("a", &a)]).unwrap();
    assert_eq!(b.get(&[far - 1]), Scalar::F64(4.0));
    let near = Tensor::builder("coo", &[7])
        .unwrap()
        .push([6], 2.0)
        .build()
        .unwrap();
    let kernel = session
        .plan(
            &Program::parse("b(i) = 2 * a(i)")
                .unwrap()
                .like("a", &a)
                .unwrap(),
        )
        .unwrap();
    let b = kernel.bind("a", &near).unwrap().evaluate().unwrap();
    assert_eq!(b.get(&[6]), Scalar::F64(4.0));
}

#[test]
fn a_second_plan_is_the_first() {
    let session = interpreter();
    let program = || Program::parse("y(i) = A(i,j) * x(j)").unwrap();
    let same =
        |a: &Kernel, b: &Kernel| std::ptr::eq(a.format("A").unwrap(), b.format("A").unwrap());
    let first = session.plan(&program()).unwrap();
    assert!(same(&first, &session.plan(&program()).unwrap()));
    assert!(same(&first, &session.clone().plan(&program()).unwrap()));
    let by_columns = program().format("A", "csc").unwrap();
    assert!(!same(&first, &session.plan(&by_columns).unwrap()));
    let single = program().element("A", ElementType::F32).unwrap();
    assert!(!same(&first, &session.plan(&single).unwrap()));
    assert!(!same(&first, &interpreter().plan(&program()).unwrap()));
}

#[test]
fn programs_say_what_is_known() {
    let kernel = interpreter()
        .plan(
            &Program::parse("t(i,j) = A(i,k) * B(k,j)\ns(r) = t(i,j)")
                .unwrap()
                .format("A", Format::csc())
                .unwrap()
                .format("t", "coo, crd = 64")
                .unwrap()
                .element("B", ElementType::F32)
                .unwrap()
                .extent("r", 2),
        )
        .unwrap();
    assert_eq!(kernel.operands().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(kernel.results().collect::<Vec<_>>(), ["t", "s"]);
    assert_eq!(kernel.format("A"), Some(&Format::csc()));
    assert_eq!(kernel.element("B"), Some(ElementType::F32));
    assert_eq!(kernel.element("t"), Some(ElementType::F64));
    assert_eq!((kernel.format("z"), kernel.element("z")), (None, None));
    assert!(kernel.emit(&Stage::C).unwrap().contains("int"));
    assert!(format!("{kernel:?}").contains("A(i,k)"), "{kernel:?}");
}

#[test]
fn programs_of_several_statements_give_every_result() {
    let kernel = interpreter()
        .plan(
            &Program::parse("r(i) = A(i,j) * x(j)\nn = r(i) * r(i)\nz(i,k) = 2 * r(i)")
                .unwrap()
                .extent("k", 2),
        )
        .unwrap();
    let (a, x) = (a(), x());
    let binding = kernel.bind("A", &a).unwrap().bind("x", &x).unwrap();
    let all = binding.evaluate_all().unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["n", "r", "z"]);
    assert_eq!(all["n"].get(&[]), Scalar::F64(201.0 * 201.0 + 900.0));
    assert_eq!(all["z"].extents(), [2, 2]);
    assert_eq!(binding.evaluate().unwrap(), all["z"]);
    let mut assembled = binding.assemble().unwrap();
    assembled.compute().unwrap();
    assert_eq!(assembled.into_tensors(), all);
}

#[test]
fn fills_that_depend_on_extents_are_right() {
    let session = interpreter();
    let filled = |n: u64| {
        let builder = Tensor::builder("csr", &[2, n]).unwrap();
        builder.fill(1.0).push([0, 0], 5.0).build().unwrap()
    };
    let program = Program::parse("y(i) = A(i,j)").unwrap();
    let kernel = session
        .plan(
            &program
                .like("A", &filled(3))
                .unwrap()
                .format("y", "coo")
                .unwrap(),
        )
        .unwrap();
    for n in [3, 7] {
        let a = filled(n);
        let y = kernel.bind("A", &a).unwrap().evaluate().unwrap();
        assert_eq!(y.get(&[0]), Scalar::F64(n as f64 + 4.0));
        assert_eq!(y.get(&[1]), Scalar::F64(n as f64));
    }
}

#[test]
fn kernels_run_on_many_threads_at_once() {
    let kernel = Session::new(Options::from_env().backend(Backend::Auto))
        .plan(
            &Program::parse("C(i,j) = A(i,k) * A(k,j)")
                .unwrap()
                .format("C", "csr")
                .unwrap(),
        )
        .unwrap();
    // Each thread has data of its own, and the first call of all is a race.
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let kernel = kernel.clone();
            scope.spawn(move || {
                let n = 50 + thread;
                let ring = |value: f64| {
                    let mut builder = Tensor::builder("csr", &[n, n]).unwrap();
                    builder.extend((0..n).map(|i| ([i, (i + 1) % n], value)));
                    builder.build().unwrap()
                };
                let pattern = ring(1.0);
                let mut assembled = kernel.bind("A", &pattern).unwrap().assemble().unwrap();
                for round in 0..20 {
                    let value = (thread * 100 + round) as f64;
                    let a = ring(value);
                    let c = kernel.bind("A", &a).unwrap().evaluate().unwrap();
                    assert_eq!(c.n_stored() as u64, n);
                    assert_eq!(c.get(&[n - 1, 1]), Scalar::F64(value * value));
                    assert_eq!(*assembled.compute_with([("A", &a)]).unwrap(), c);
                }
            });
        }
    });
}

#[test]
fn operands_are_borrowed_where_they_lie() {
    let row_ptr = [0i32, 2, 3];
    let columns = [0i32, 2, 1];
    let values = [1.0, 2.0, 3.0];
    let arrays = vec![
        sparsec::ArrayRef::index(&row_ptr),
        sparsec::ArrayRef::index(&columns),
        sparsec::ArrayRef::from(&values[..]),
    ];
    let a = sparsec::TensorRef::new(Format::csr(), vec![2, 3], Scalar::F64(0.0), arrays).unwrap();
    let x = x();
    let y = spmv(&interpreter())
        .bind("A", &a)
        .unwrap()
        .bind("x", &x)
        .unwrap();
    assert_eq!(
        y.evaluate().unwrap().values::<f64>(),
        Some(&[201.0, 30.0][..])
    );
}

#[test]
fn duplicates_and_fills_reach_kernels() {
    let session = interpreter();
    let a = Tensor::builder("csr", &[2, 2])
        .unwrap()
        .push([0, 1], 5)
        .push([0, 1], 3)
        .duplicates(Duplicates::Max)
        .build()
        .unwrap();
    let y = session.evaluate("s = A(i,j)", [("A", &a)]).unwrap();
    assert_eq!(y.get(&[]).to_string(), "5");
}

#[test]
fn levels_whose_arrays_differ_in_width_are_operands() {
    let session = interpreter();
    let far = (1u64 << 40) - 1;
    let a = Tensor::builder("csf", &[2, 2, far + 1])
        .unwrap()
        .push([0, 1, far], 2.0)
        .push([1, 1, 7], 3.0)
        .build()
        .unwrap();
    let widths = [0, 2].map(|level| a.level(level).crd().width());
    assert_ne!(widths[0], widths[1]);
    let y = session.evaluate("y(i) = A(i,j,k)", [("A", &a)]).unwrap();
    assert_eq!(y.get(&[0]), Scalar::F64(2.0));
    let request =
        sparsec::internals::Request::new(sparsec::Source::new("expression", "y(i) = A(i,j,k)"));
    let inputs = sparsec::internals::Inputs::from([("A".to_owned(), a)]);
    let compiled = sparsec::internals::compile(&request, &inputs).unwrap();
    let outcome = session.run(&compiled, &inputs).unwrap();
    assert_eq!(outcome.tensors["y"].get(&[1]), Scalar::F64(3.0));
}

/// Each part of a request takes part in the comparison with requests that were planned
/// before: the same text means another thing where one of them differs.
#[test]
fn plans_are_remembered_by_the_whole_request() {
    let session = interpreter();
    let x = Tensor::dense(&[2], [1.0, 2.0]).unwrap();
    let run = |program: &Program| {
        let kernel = session.plan(program).unwrap();
        let y = kernel.bind("x", &x).unwrap().evaluate().unwrap();
        y.values::<f64>().unwrap().to_vec()
    };
    let with = |definition: &str| {
        let function = parse_function(definition).unwrap();
        Program::parse_with("y(i) = g(x(i))", &[function]).unwrap()
    };
    for _ in 0..2 {
        assert_eq!(run(&with("g(x) = x * 2")), [2.0, 4.0]);
        assert_eq!(run(&with("g(x) = x * 10")), [10.0, 20.0]);
    }
    // A function that another calls differs too.
    let calling = |definition: &str| {
        let text = format!("def h(x) = {definition}\ny(i) = h(x(i))");
        Program::parse(&text).unwrap()
    };
    assert_eq!(run(&calling("x + 1")), [2.0, 3.0]);
    assert_eq!(run(&calling("x + 5")), [6.0, 7.0]);
    // Formats, extents, schedules and strictness tell kernels apart as well.
    let text = "y(i) = x(i)";
    let plain = Program::parse(text).unwrap();
    assert_eq!(run(&plain), [1.0, 2.0]);
    let sparse = Program::parse(text)
        .unwrap()
        .format("y", "(i) -> (i : compressed)")
        .unwrap();
    let kernel = session.plan(&sparse).unwrap();
    assert_eq!(
        kernel.format("y").unwrap().to_string(),
        "(i) -> (i : compressed)"
    );
    let other = session.plan(&plain).unwrap();
    assert_eq!(other.format("y").unwrap().to_string(), "(i) -> (i : dense)");
}

/// Extents come with operands. A sum of two indices has no values where one of them has none.
#[test]
fn kernels_take_operands_without_rows() {
    let formats = [
        "(i, j) -> (i + j : dense, j : compressed)",
        "(i, j) -> (i + j : dense, i : dense)",
        "(i, j) -> (j - i : dense, j : compressed)",
        "(i, j) -> (j floordiv 2 : dense, i : dense, j mod 2 : dense)",
    ];
    for backend in [Backend::Interpreter, Backend::Cranelift] {
        let session = Session::new(Options::from_env().backend(backend));
        for format in formats {
            let program = Program::parse("s = A(i,j)").unwrap();
            let kernel = session.plan(&program.format("A", format).unwrap()).unwrap();
            for [n, m] in [[0, 3], [3, 0], [0, 0], [1, 1], [2, 3]] {
                let all = (0..n).flat_map(|i| (0..m).map(move |j| ([i, j], 1.0)));
                let a = matrix(format, [n, m], &all.collect::<Vec<_>>());
                let s = kernel.bind("A", &a).unwrap().evaluate().unwrap();
                let sum = (n * m) as f64;
                assert_eq!(s.values::<f64>(), Some(&[sum][..]), "{n}×{m} in {format}");
            }
        }
    }
}

/// A statement as deep as any may be, on a thread with the stack that threads have unless
/// they ask for more.
#[test]
fn five_hundred_operators_fit_on_the_stack_of_a_thread() {
    let evaluated = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        let text = format!("y(i) = {}", ["x(i)"; 501].join(" + "));
        let x = Tensor::dense(&[1], [1.0]).unwrap();
        let kernel = Program::parse(&text).unwrap().plan().unwrap();
        let y = kernel.bind("x", &x).unwrap().evaluate().unwrap();
        y.values::<f64>().unwrap()[0]
    });
    assert_eq!(evaluated.unwrap().join().unwrap(), 501.0);
}
