//! Functions of the user: declared as text, known to an oracle as functions of Rust.
//!
//! ```text
//! definition      shiftmul(a, b) = (a - 3) * (b - 3) + 3 : …, identity 4, annihilator 3
//!   × program     y(i) = shiftmul{j}(gated(A(i,j), B(j,i)))
//!   × storage     A in dia with fill 3, B in hash with fill 0, …
//!   × schedule    none, or a command that leaves the meaning alone
//!        │
//!        ├─► interpreter, machine code on 1, 2 and 8 threads, C      the same bits,
//!        └─► every point of dense arrays, one after the other        and these values
//! ```
//!
//! Values are small and whole, so that no sum rounds.

use std::fmt::Debug;

use sparsec::{
    Backend, Bool8, Complex, Element, Options, Program, Session, Tensor, UserFunction,
    parse_function,
};

use super::interpreter;

const N: u64 = 4;

/// A definition, and what it means.
struct Function<T: 'static> {
    text: &'static str,
    arity: usize,
    value: fn(&[T]) -> T,
    /// Of those that reduce.
    identity: Option<T>,
}

impl<T> Function<T> {
    fn name(&self) -> &str {
        self.text.split('(').next().expect("a name")
    }
}

const fn maps<T>(text: &'static str, arity: usize, value: fn(&[T]) -> T) -> Function<T> {
    Function {
        text,
        arity,
        value,
        identity: None,
    }
}

const fn reduces<T>(text: &'static str, identity: T, value: fn(&[T]) -> T) -> Function<T> {
    Function {
        text,
        arity: 2,
        value,
        identity: Some(identity),
    }
}

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn one_of<'a, V>(&mut self, values: &'a [V]) -> &'a V {
        &values[self.below(values.len())]
    }
}

const MATRICES: &[&str] = &[
    "dense",
    "csr",
    "csc",
    "dcsr",
    "coo",
    "dia",
    "ell",
    "bsr(2, 2)",
    "hash",
    "bitmap",
    "alto",
    "hyb(1)",
    "csr, symmetric(i, j)",
    "(i, j) -> (i : dense, j : run_length)",
    "(i, j) -> (i : dense, j : range)",
];

const VECTORS: &[&str] = &[
    "dense",
    "(i) -> (i : compressed)",
    "(i) -> (i : bitmap)",
    "(i) -> (i : hashed)",
    "(i) -> (i : run_length)",
];

const SCHEDULES: &[&str] = &[
    "",
    "",
    "split(i, i0, i1, 3)",
    "parallelize(i, CPUThread, NoRaces)",
    "divide(j, j0, j1, 2); unroll(j1, 2)",
];

/// A stored operand, and the same with every entry written out.
struct Operand<T> {
    tensor: Tensor,
    dense: Vec<T>,
}

impl<T: Element> Operand<T> {
    fn new(random: &mut Random, order: usize, draw: fn(&mut Random) -> T, fills: &[T]) -> Self {
        let format = *random.one_of(if order == 1 { VECTORS } else { MATRICES });
        let symmetric = format.contains("symmetric");
        let fill = *random.one_of(fills);
        let extents = vec![N; order];
        let builder = Tensor::builder(format, &extents).expect(format);
        let mut builder = builder.fill(fill);
        let mut dense = vec![fill; N.pow(order as u32) as usize];
        let stored = *random.one_of(&[0, 1, 2, 4]);
        for at in 0..dense.len() {
            let (i, j) = (at as u64 / N, at as u64 % N);
            if random.below(4) >= stored || symmetric && i > j {
                continue;
            }
            let value = draw(random);
            dense[at] = value;
            match order {
                1 => builder.add([j], value),
                _ => builder.add([i, j], value),
            };
            if symmetric && i < j {
                dense[(j * N + i) as usize] = value;
                builder.add([j, i], value);
            }
        }
        let tensor = builder.build().unwrap_or_else(|e| panic!("{format}\n{e}"));
        Self { tensor, dense }
    }

    fn at(&self, coordinates: &[u64]) -> T {
        self.dense[coordinates.iter().fold(0, |at, c| at * N + c) as usize]
    }
}

/// What runs kernels; C is slow to make.
pub(super) fn engines(cache: &std::path::Path) -> [(Session, usize); 5] {
    let session = |backend, threads| {
        let options = Options::from_env().backend(backend).threads(threads);
        Session::new(options.cache_dir(cache))
    };
    [
        (interpreter(), 1),
        (session(Backend::Cranelift, 1), 1),
        (session(Backend::Cranelift, 2), 1),
        (session(Backend::Cranelift, 8), 1),
        (session(Backend::C, 2), 12),
    ]
}

/// A reduction of a call over the variables that the result lacks.
const RESULTS: [(&str, &str); 4] = [("", "i,j"), ("(i)", "j"), ("(j)", "i"), ("(i,j)", "")];

/// Random programs over these functions, on every engine and against the oracle.
fn check<T: Element + Debug>(
    functions: &[Function<T>],
    fills: &[T],
    draw: fn(&mut Random) -> T,
    cases: usize,
) {
    let defined = functions
        .iter()
        .map(|function| parse_function(function.text).unwrap_or_else(|error| panic!("{error}")));
    let defined: Vec<UserFunction> = defined.collect();
    let cache = tempfile::tempdir().expect("a scratch directory");
    let engines = engines(cache.path());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let reducing: Vec<&Function<T>> = functions.iter().filter(|f| f.identity.is_some()).collect();
    let mut compared = 0;
    for case in 0..cases {
        let outer = random.one_of(functions);
        let inner = random.one_of(functions);
        let by = *random.one_of(&reducing);
        let operands = [2, 2, 1].map(|order| Operand::new(&mut random, order, draw, fills));
        // `outer(inner(A(i,j), …), …)`, with as many arguments as they take.
        let leaves = ["A(i,j)", "B(j,i)", "x(j)"];
        let call = |function: &Function<T>, leaves: &[String]| {
            let arguments = &leaves[..function.arity];
            format!("{}({})", function.name(), arguments.join(", "))
        };
        let mut leaves = leaves.map(str::to_owned);
        leaves[0] = call(inner, &leaves);
        let value = |i, j| {
            let [a, b, x] = &operands;
            let mut values = [a.at(&[i, j]), b.at(&[j, i]), x.at(&[j])];
            values[0] = (inner.value)(&values[..inner.arity]);
            (outer.value)(&values[..outer.arity])
        };
        let (indices, reduced) = *random.one_of(&RESULTS);
        let text = match reduced {
            "" => format!("C{indices} = {}", call(outer, &leaves)),
            _ => format!(
                "C{indices} = {}{{{reduced}}}({})",
                by.name(),
                call(outer, &leaves)
            ),
        };
        let schedule = *random.one_of(SCHEDULES);
        let shown = || {
            let [a, b, x] = operands.each_ref().map(|it| &it.tensor);
            format!("case {case}: {text}\n{schedule}\nA {a}\nB {b}\nx {x}")
        };
        let program = || {
            let mut program = Program::parse_with(&text, &defined)?;
            for name in program.tensors() {
                if let Some(at) = ["A", "B", "x"].iter().position(|it| *it == name.name) {
                    program = program.like(&name.name, &operands[at].tensor)?;
                }
            }
            match schedule {
                "" => Ok(program),
                _ => program.schedule(schedule),
            }
        };
        let program = program().unwrap_or_else(|error| panic!("{}\n{error}", shown()));
        let mut first: Option<Tensor> = None;
        for (session, every) in &engines {
            if case % every != 0 {
                continue;
            }
            let result = session.plan(&program).and_then(|kernel| {
                let mut binding = kernel.binding();
                for name in kernel.operands() {
                    let at = ["A", "B", "x"].iter().position(|it| *it == name);
                    binding = binding.bind(name, &operands[at.expect("an operand")].tensor)?;
                }
                binding.evaluate()
            });
            match (result, &first) {
                (Ok(result), None) => first = Some(result),
                (Ok(result), Some(first)) => assert_eq!(result, *first, "{}", shown()),
                // What a schedule asks for need not be possible.
                (Err(error), None) if !schedule.is_empty() => {
                    assert!(error.code().as_str().starts_with("E03"), "{error}");
                }
                (Err(error), _) => panic!("{}\n{error}", shown()),
            }
        }
        let Some(result) = first else { continue };
        compared += 1;
        let points = |vars: &str, name: char| match vars.contains(name) {
            true => 0..N,
            false => 0..1,
        };
        for (i, j) in points(indices, 'i').flat_map(|i| points(indices, 'j').map(move |j| (i, j))) {
            let mut expected = None;
            for (k, l) in
                points(reduced, 'i').flat_map(|i| points(reduced, 'j').map(move |j| (i, j)))
            {
                let value = value(i + k, j + l);
                expected = Some(match (expected, by.identity) {
                    (None, Some(identity)) if !reduced.is_empty() => (by.value)(&[identity, value]),
                    (None, _) => value,
                    (Some(before), _) => (by.value)(&[before, value]),
                });
            }
            let coordinates: &[u64] = match indices {
                "" => &[],
                "(i)" => &[i],
                "(j)" => &[j],
                _ => &[i, j],
            };
            let computed =
                T::from_scalar(result.get(coordinates)).expect("the type of the operands");
            assert_eq!(Some(computed), expected, "at {coordinates:?}, {}", shown());
        }
    }
    assert!(compared * 2 > cases, "{compared} of {cases} were compared");
}

#[test]
fn functions_of_floats_are_what_the_oracle_says() {
    let functions: &[Function<f64>] = &[
        maps("inc(x) = x + 1", 1, |v| v[0] + 1.0),
        maps("step(x) = select(x > 1, 1.0, 0.0)", 1, |v| {
            f64::from(v[0] > 1.0)
        }),
        maps(
            "gated(a, b) = select(a == 0, 0, b) : annihilator 0 at a",
            2,
            |v| {
                if v[0] == 0.0 { 0.0 } else { v[1] }
            },
        ),
        maps("mid(a, b, c) = max(min(a, b), min(max(a, b), c))", 3, |v| {
            v[0].min(v[1]).max(v[0].max(v[1]).min(v[2]))
        }),
        maps(
            "masked(m, a, d) = select(m != 0, a * d, 0) : annihilator 0",
            3,
            |v| if v[0] == 0.0 { 0.0 } else { v[1] * v[2] },
        ),
        // A function may have the name of an index variable.
        maps("j(x) = 5 - x", 1, |v| 5.0 - v[0]),
        maps("i(a, b) = a - b", 2, |v| v[0] - v[1]),
        reduces(
            "larger(a, b) = select(a > b, a, b) : associative, commutative, idempotent, identity -inf, annihilator inf",
            f64::NEG_INFINITY,
            |v| v[0].max(v[1]),
        ),
        reduces(
            "orplus(a, b) = a + b - a * b : associative, commutative, identity 0, annihilator 1",
            0.0,
            |v| v[0] + v[1] - v[0] * v[1],
        ),
        reduces(
            "shiftmul(a, b) = (a - 3) * (b - 3) + 3 : associative, commutative, identity 4, annihilator 3",
            4.0,
            |v| (v[0] - 3.0) * (v[1] - 3.0) + 3.0,
        ),
        // No value of its own is negative, so a lone argument is not what it gives.
        reduces(
            "absmax(a, b) = max(abs(a), abs(b)) : associative, commutative, idempotent, identity 0",
            0.0,
            |v| v[0].abs().max(v[1].abs()),
        ),
        reduces(
            "plus7(a, b) = (a + b) % 7 : associative, commutative, identity 0",
            0.0,
            |v| (v[0] + v[1]).rem_euclid(7.0),
        ),
    ];
    check(
        functions,
        &[0.0, 0.0, 1.0, 3.0, -1.0],
        |r| r.below(7) as f64 - 3.0,
        120,
    );
}

#[test]
fn tropical_functions_are_what_the_oracle_says() {
    let functions: &[Function<f64>] = &[
        maps("hop(x) = x + 1", 1, |v| v[0] + 1.0),
        maps("bottleneck(a, b) = max(a, b) : annihilator inf", 2, |v| {
            v[0].max(v[1])
        }),
        maps("relax(d, w, x) = min(d, w + x)", 3, |v| {
            v[0].min(v[1] + v[2])
        }),
        reduces(
            "tmin(a, b) = min(a, b) : associative, commutative, idempotent, identity inf",
            f64::INFINITY,
            |v| v[0].min(v[1]),
        ),
        reduces(
            "tplus(a, b) = a + b : associative, commutative, identity 0, annihilator inf",
            0.0,
            |v| v[0] + v[1],
        ),
    ];
    let fills = [f64::INFINITY, f64::INFINITY, 0.0];
    check(functions, &fills, |r| r.below(9) as f64, 100);
}

#[test]
fn functions_of_integers_wrap_and_are_what_the_oracle_says() {
    let functions: &[Function<i64>] = &[
        maps("mix(a, b) = a * 31 + b * 9223372036854775807 - 4", 2, |v| {
            let (a, b) = (v[0].wrapping_mul(31), v[1].wrapping_mul(i64::MAX));
            a.wrapping_add(b).wrapping_sub(4)
        }),
        maps("half(x) = x // 2", 1, |v| v[0].div_euclid(2)),
        maps("even(c, a, b) = select(c % 2 == 0, a, b)", 3, |v| {
            v[1 + v[0].rem_euclid(2) as usize]
        }),
        reduces(
            "mul_mod5(a, b) = (a % 5 * (b % 5)) % 5 : associative, commutative, identity 1, annihilator 0",
            1,
            |v| (v[0].rem_euclid(5) * v[1].rem_euclid(5)).rem_euclid(5),
        ),
        reduces(
            "circle(a, b) = a * b + a + b : associative, commutative, identity 0, annihilator -1",
            0,
            |v| {
                v[0].wrapping_mul(v[1])
                    .wrapping_add(v[0])
                    .wrapping_add(v[1])
            },
        ),
        reduces(
            "most(a, b) = max(a, b) : associative, commutative, idempotent, identity -9223372036854775808",
            i64::MIN,
            |v| v[0].max(v[1]),
        ),
    ];
    let draw = |r: &mut Random| match r.below(12) {
        0 => i64::MAX,
        small => small as i64 - 6,
    };
    check(functions, &[0, 0, 1, -1, i64::MIN], draw, 100);
}

#[test]
fn functions_of_truth_values_are_what_the_oracle_says() {
    let functions: &[Function<Bool8>] = &[
        maps("inv(a: bool) = not a", 1, |v| Bool8::from(!v[0].get())),
        maps("implies(a: bool, b: bool) = not a or b", 2, |v| {
            Bool8::from(!v[0].get() || v[1].get())
        }),
        maps("ite(c: bool, a: bool, b: bool) = select(c, a, b)", 3, |v| {
            if v[0].get() { v[1] } else { v[2] }
        }),
        reduces(
            "odd(a: bool, b: bool) = a != b : associative, commutative, identity false",
            Bool8::FALSE,
            |v| Bool8::from(v[0] != v[1]),
        ),
        reduces(
            "both(a: bool, b: bool) = a and b : associative, commutative, idempotent, identity true, annihilator false",
            Bool8::TRUE,
            |v| Bool8::from(v[0].get() && v[1].get()),
        ),
    ];
    let fills = [Bool8::FALSE, Bool8::FALSE, Bool8::TRUE];
    check(functions, &fills, |r| Bool8::from(r.below(2) == 1), 80);
}

#[test]
fn functions_of_complex_numbers_are_what_the_oracle_says() {
    type C = Complex<f64>;
    let functions: &[Function<C>] = &[
        maps("turn(x) = (0 + 1j) * x", 1, |v| C::new(-v[0].im, v[0].re)),
        maps("hdot(a, b) = conj(a) * b : annihilator 0", 2, |v| {
            v[0].conj() * v[1]
        }),
        maps("shift(a) = a + (2 - 3j)", 1, |v| v[0] + C::new(2.0, -3.0)),
        reduces(
            "cplus1(a, b) = a + b + 1 : associative, commutative, identity -1",
            C::new(-1.0, 0.0),
            |v| v[0] + v[1] + 1.0,
        ),
        reduces(
            "cmul(a, b) = a * b : associative, commutative, identity 1, annihilator 0",
            C::new(1.0, 0.0),
            |v| v[0] * v[1],
        ),
    ];
    let draw = |r: &mut Random| C::new(r.below(5) as f64 - 2.0, r.below(3) as f64 - 1.0);
    let fills = [C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(1.0, 0.0)];
    check(functions, &fills, draw, 80);
}
