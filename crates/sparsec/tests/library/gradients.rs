//! Derivatives of programs, beside differences of their results.

use sparsec::{Diagnostic, Kernel, Program, Session, Stage, Tensor, code};

/// Numbers between 0.2 and 1.8, away from kinks and poles.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn value(&mut self) -> f64 {
        0.2 + 1.6 * self.next() as f64 / (1u64 << 31) as f64
    }
}

/// The extents of `i`, `j` and `k`.
const EXTENTS: [u64; 3] = [3, 4, 2];

/// The operands: a name, its indices, and a format.
const OPERANDS: [(&str, &[usize], &str); 5] = [
    ("A", &[0, 1], "csr"),
    ("B", &[0, 1], "dense"),
    ("C", &[1, 2], "csc"),
    ("x", &[1], "dense"),
    ("s", &[], "dense"),
];

fn operand(name: &str, values: &mut Numbers) -> Tensor {
    let (_, modes, format) = OPERANDS.iter().find(|it| it.0 == name).unwrap();
    let extents: Vec<u64> = modes.iter().map(|mode| EXTENTS[*mode]).collect();
    let mut coords = vec![Vec::new()];
    for extent in &extents {
        coords = (coords.iter())
            .flat_map(|at: &Vec<u64>| (0..*extent).map(move |c| [at.clone(), vec![c]].concat()))
            .collect();
    }
    let format: sparsec::FormatSpec = format.parse().unwrap();
    let format = format.resolve(extents.len()).unwrap();
    let kept = coords
        .iter()
        .filter(|_| !format.has_sparse() || values.below(3) > 0);
    let entries: Vec<(Vec<u64>, f64)> = kept.map(|at| (at.clone(), 0.0)).collect();
    let flat: Vec<u64> = entries.iter().flat_map(|it| it.0.clone()).collect();
    let numbers: Vec<f64> = entries.iter().map(|_| values.value()).collect();
    Tensor::pack(&format, &extents, &flat, &numbers).unwrap()
}

/// An expression over `i` and `j`, and over `k` inside of sums.
fn expression(numbers: &mut Numbers, depth: u32) -> String {
    if depth == 0 {
        let leaves = ["A(i,j)", "B(i,j)", "x(j)", "s", "1.5"];
        return leaves[numbers.below(5) as usize].to_owned();
    }
    let mut part = || expression(numbers, depth - 1);
    let (a, b) = (part(), part());
    match numbers.below(16) {
        0 => format!("({a} + {b})"),
        1 => format!("({a} - 0.3 * {b})"),
        2 | 3 => format!("{a} * {b}"),
        4 => format!("{a} / (1 + {b} * {b})"),
        5 => format!("exp(-{a})"),
        6 => format!("sin({a}) * cos({b})"),
        7 => format!("sqrt(1 + {a} * {a})"),
        8 => format!("log1p({a} * {a})"),
        9 => format!("tanh({a})"),
        10 => format!("max({a}, 0.9 * {b})"),
        11 => format!("pow(1.5 + {a} * {a}, 2)"),
        12 => format!("select({a} > 0.7, {b}, {a} * {a})"),
        13 => format!("atan2({a}, 2 + {b} * {b})"),
        14 => format!("sum{{k}}(C(j,k) * C(j,k)) * {a}"),
        _ => format!("abs({a}) * {b}"),
    }
}

fn planned(program: &str) -> Kernel {
    planned_beside(program, None)
}

/// A kernel that reads the derivatives by a result, too, which are dense.
fn planned_beside(program: &str, seed: Option<&str>) -> Kernel {
    let mut made = Program::parse(program).unwrap();
    let names: Vec<String> = made.tensors().into_iter().map(|it| it.name).collect();
    for (name, _, format) in OPERANDS {
        if names.iter().any(|it| it == name) {
            made = made.format(name, format).unwrap();
        }
    }
    if let Some(seed) = seed {
        made = made.format(seed, "dense").unwrap();
    }
    Session::interpreter().plan(&made).unwrap()
}

fn computed(kernel: &Kernel, operands: &[(&str, &Tensor)]) -> Tensor {
    let mut binding = kernel.binding();
    for name in kernel.operands() {
        let (_, tensor) = operands.iter().find(|it| it.0 == name).unwrap();
        binding = binding.bind(name, tensor).unwrap();
    }
    binding.evaluate().unwrap()
}

/// The sum of the results, each times its weight.
fn total(result: &Tensor, weights: &[f64]) -> f64 {
    let entries = result
        .convert(&sparsec::Format::dense(result.order()))
        .unwrap();
    let values = entries.values::<f64>().unwrap();
    values
        .iter()
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum()
}

/// Compares the gradient of a program by each operand with differences.
fn check(program: &str, seed: u64) {
    let mut numbers = Numbers(seed);
    let kernel = planned(program);
    let names: Vec<String> = kernel.operands().map(str::to_owned).collect();
    let tensors: Vec<Tensor> = names
        .iter()
        .map(|name| operand(name, &mut numbers))
        .collect();
    let given = |tensors: &[Tensor]| -> Vec<(String, Tensor)> {
        names.iter().cloned().zip(tensors.iter().cloned()).collect()
    };
    let run = |tensors: &[Tensor]| {
        let given = given(tensors);
        let given: Vec<(&str, &Tensor)> = given.iter().map(|(n, t)| (n.as_str(), t)).collect();
        computed(&kernel, &given)
    };
    let result = run(&tensors);
    let n: u64 = result.extents().iter().product();
    let weights: Vec<f64> = (0..n).map(|_| numbers.value()).collect();
    let seeds = Tensor::dense(result.extents(), weights.clone()).unwrap();
    let last = kernel.results().last().unwrap().to_owned();
    for (at, name) in names.iter().enumerate() {
        let text = match kernel.emit(&Stage::Gradient(name.clone())) {
            Ok(text) => text,
            Err(error) if error.to_string().contains("does not depend") => continue,
            Err(error) => panic!("{program}: {error}"),
        };
        // What prints parses back.
        let seed_name = format!("d_{last}");
        let gradient = planned_beside(text.trim(), Some(&seed_name));
        let own = given(&tensors);
        let mut operands: Vec<(&str, &Tensor)> = own.iter().map(|(n, t)| (n.as_str(), t)).collect();
        operands.push((&seed_name, &seeds));
        let made = computed(&gradient, &operands);
        let entries = tensors[at].entries();
        for entry in 0..entries.len() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut changed = tensors.clone();
                changed[at].values_mut::<f64>().unwrap()[entry] += by;
                total(&run(&changed), &weights)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let coords: Vec<u64> = entries.coords(entry).iter().collect();
            let derived = made.get(&coords).to_f64();
            assert!(
                (derived - difference).abs() <= 1e-6 * (1.0 + difference.abs()),
                "{program}\n{text}by `{name}` at {coords:?}: {derived}, not {difference}"
            );
        }
    }
}

#[test]
fn random_programs_have_the_derivatives_that_differences_show() {
    let mut numbers = Numbers(7);
    for seed in 0..3 {
        let depth = 1 + numbers.below(3) as u32;
        // Whatever is drawn, `B` says how far `i` and `j` run.
        let body = format!("({}) * B(i,j)", expression(&mut numbers, depth));
        check(&format!("y(i,j) = {body}"), seed);
        check(&format!("y(i) = sum{{j}}({body})"), seed);
        check(&format!("y = sum{{i,j}}({body})"), seed);
    }
}

#[test]
fn programs_of_several_statements() {
    check("t(i) = sum{j}(A(i,j) * x(j))\ny = sum{i}(t(i) * t(i))", 1);
    check(
        "t(i,j) = exp(-A(i,j) * s)\nu(i) = sum{j}(t(i,j))\ny(i,j) = t(i,j) / u(i)",
        2,
    );
    check(
        "t(j) = x(j) * x(j)\ny(i,k) = sum{j}(A(i,j) * C(j,k) * t(j)) + s",
        3,
    );
    check("m(i) = max{j}(B(i,j))\ny(i,j) = exp(B(i,j) - m(i))", 4);
    check("y(i) = min{j}(B(i,j) * x(j)) + max{j}(x(j))", 5);
}

#[test]
fn accesses_of_every_kind() {
    check("y(j) = x(j) + sum{i}(B(i,j))", 1);
    check("y = sum{i,j}(x(j) * B(i,j)) + sum{j}(x(j))", 2);
    check("y(i,j) = B(i,j) * s + s", 3);
    check("y(i) = sum{j}(B(i,j)) * sum{j}(B(i,j))", 4);
    check("y(j) = x(j) - 2 * x(j - 1)", 5);
    check("y(j) = x(j) * x(3 - j)", 6);
    check(
        "def f(a, b) = a * a * exp(b)\ny(i,j) = f(B(i,j), A(i,j)) + f(x(j), 0.5)",
        7,
    );
}

#[test]
fn powers_have_derivatives_at_zero() {
    let program = "y(j) = pow(x(j), 0 * x(j) + 2) + pow(x(j), s)";
    for (of, expected) in [("x", [0.0; 4]), ("s", [0.0; 4])] {
        let gradient = planned(program).emit(&Stage::Gradient(of.to_owned()));
        let gradient = planned_beside(gradient.unwrap().trim(), Some("d_y"));
        let zeros = Tensor::dense(&[4], vec![0.0; 4]).unwrap();
        let ones = Tensor::dense(&[4], vec![1.0; 4]).unwrap();
        let s = Tensor::scalar(sparsec::Scalar::F64(2.0));
        let made = computed(&gradient, &[("x", &zeros), ("d_y", &ones), ("s", &s)]);
        let values = made.values::<f64>().unwrap();
        assert!(
            values.iter().zip(expected).all(|(a, b)| *a == b),
            "{values:?}"
        );
    }
}

/// The derivative of `sqrt` is no number at -1, nor is that of `log` at 0.
#[test]
fn what_is_not_chosen_has_no_part() {
    let program = "y(j) = select(x(j) > 0, sqrt(x(j)), 2 * x(j)) + relu(log(x(j)))";
    let gradient = planned(program).emit(&Stage::Gradient("x".to_owned()));
    let gradient = planned_beside(gradient.unwrap().trim(), Some("d_y"));
    let x = Tensor::dense(&[4], [-1.0, 0.0, 4.0, -2.0]).unwrap();
    let ones = Tensor::dense(&[4], [1.0; 4]).unwrap();
    let made = computed(&gradient, &[("x", &x), ("d_y", &ones)]);
    assert_eq!(made.values::<f64>(), Some(&[2.0, 2.0, 0.5, 2.0][..]));
}

#[test]
fn the_classics() {
    let emit = |program: &str, of: &str| {
        let text = planned(program)
            .emit(&Stage::Gradient(of.to_owned()))
            .unwrap();
        text.trim().to_owned()
    };
    let spmm = "y(i,k) = A(i,j) * C(j,k)";
    // The samples of a product of dense matrices, where `A` stores entries.
    assert_eq!(
        emit(spmm, "A"),
        "d_A(i,j) = select(isstored(A(i,j)), sum{k}(d_y(i,k) * C(j,k)), 0.0)"
    );
    assert_eq!(
        emit("y(i) = B(i,j) * x(j)", "x"),
        "d_x(j) = sum{i}(d_y(i) * B(i,j))"
    );
}

fn refused(program: &str, of: &str) -> Diagnostic {
    planned(program)
        .emit(&Stage::Gradient(of.to_owned()))
        .unwrap_err()
}

#[test]
fn what_has_no_derivative_says_so() {
    for (program, of, words) in [
        ("y = prod{j}(x(j))", "x", "`prod`"),
        ("y(j) = 2 * x(j)\nz(i) = B(i,j)", "x", "does not depend"),
    ] {
        let error = refused(program, of);
        assert_eq!(error.code(), code::NO_DERIVATIVE, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(refused("y(j) = 2 * x(j)", "X").code(), code::UNUSED_NAME);
    assert_eq!(refused("y(j) = 2 * x(j)", "y").code(), code::NOT_AN_OPERAND);
}
