//! Key functions in computations: random ones on every engine, beside the evaluator, whose numbers
//! are those of the key's own page.

use std::fmt::Write as _;

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Array, Backend, Format, Options, Scalar, Session, Tensor, code};

/// Pseudo-random numbers, the same at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        let step = self.0.wrapping_mul(6364136223846793005);
        self.0 = step.wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// The text of a term in these variables.
    fn term(&mut self, names: &[&str], depth: u32) -> String {
        if depth == 0 || self.below(8) == 0 {
            return match self.below(4) {
                0 => self
                    .pick(&["0", "1", "3", "62", "4611686018427387903"])
                    .to_owned(),
                1 => self.below(1 << 20).to_string(),
                _ => self.pick(names).to_owned(),
            };
        }
        let of = |random: &mut Self| random.term(names, depth - 1);
        let (a, b) = (of(self), of(self));
        match self.below(16) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a}) * ({b})"),
            3 => format!("max(({a}) - ({b}), 0)"),
            4 => format!("(({a}) - ({b})) mod {}", self.below(40) + 1),
            5 => format!("(({a}) or 1048576) - (({b}) and 1048575)"),
            6 => format!(
                "({a}) floordiv {}",
                self.pick(&["2", "7", "max(b, 1)", "1024"])
            ),
            7 => format!("({a}) mod {}", self.pick(&["2", "7", "max(b, 1)", "1024"])),
            8 => format!(
                "(({a}) << {})",
                self.pick(&["1", "20", "61", "62", "b", "b * 2"])
            ),
            9 => format!(
                "(({a}) >> {})",
                self.pick(&["1", "20", "61", "62", "b", "b * 3"])
            ),
            10 => format!("(({a}) and {b})"),
            11 => format!("(({a}) or {b})"),
            12 => format!("(({a}) xor {b})"),
            13 => {
                let sign = self.pick(&["<", "<=", "=", "!=", ">", ">="]);
                format!("select(({a}) {sign} ({b}), {a}, {b} + 1)")
            }
            14 => format!("min({a}, {b})"),
            _ => format!("max({a}, {b})"),
        }
    }

    /// The text of a key of `a`, which has 40 bits, and `b`, which has 5; mostly a valid one.
    fn key(&mut self, name: &str) -> String {
        let mut text = format!("key {name}(a : 40, b : 5) : 128 {{\n");
        let depth = 1 + self.below(3) as u32;
        let (first, second) = (
            self.term(&["a", "b"], depth),
            self.term(&["a", "b", "d"], depth),
        );
        let _ = writeln!(text, "d = {first}\na = {second}");
        let _ = writeln!(text, "for x in {}..{} {{", self.below(3), 3 + self.below(4));
        let names = ["a", "b", "d", "x"];
        let (first, second) = (self.term(&names, depth), self.term(&names, depth));
        let _ = writeln!(
            text,
            "t = {first}\nd = d + t and {}\na = {second}\n}}",
            u64::MAX
        );
        let _ = writeln!(text, "return {}\n}}", self.term(&["a", "b", "d"], depth));
        text
    }
}

fn numbers(values: Vec<i64>) -> Tensor {
    let element = sparsec::ElementType::I64;
    let extents = vec![values.len() as u64];
    let arrays = vec![Array::from_vec(values)];
    Tensor::new(Format::dense(1), extents, element, element.zero(), arrays).expect("a vector")
}

#[test]
fn random_keys_are_those_of_the_evaluator() {
    let mut random = Random(5);
    let (mut header, mut spaces, mut body) = (String::new(), Vec::new(), String::new());
    let (mut n_made, mut n_wide, mut n_tried) = (0, 0, 0);
    while n_made < 60 {
        n_tried += 1;
        assert!(n_tried < 4000, "{n_made} of {n_tried} keys are valid");
        let name = format!("K{n_made}");
        let text = random.key(&name);
        let Ok(known) = text.parse::<sparsec_relation::Declarations>() else {
            continue;
        };
        let n_words = known.keys()[0].n_words();
        // Each of them is asked for all of its words: it states 128 bits.
        header += &text;
        let locals = known.keys()[0].locals();
        n_wide += usize::from(locals.iter().any(|local| local.range.n_words() > 1));
        for word in 0..n_words {
            let array = format!("w{n_made}_{word}");
            let _ = writeln!(
                body,
                "s{array}: {array}(i) = {name}(f(i), g(i))[{word}] over {{[i] : 0 <= i < N}}"
            );
            spaces.push(format!("{array} : i64[N]"));
        }
        n_made += 1;
    }
    assert!(n_wide > 15, "{n_wide}");
    let text = format!(
        "computation keys {{ parameters N {header}
         function f : {{[i] : 0 <= i < N}} -> {{[x] : 0 <= x < 1099511627776}}
         function g : {{[i] : 0 <= i < N}} -> {{[x] : 0 <= x < 32}}
         given f : i64[N], g : i64[N] out {} {body} }}",
        spaces.join(", ")
    );
    let computation: Computation = text.parse().unwrap_or_else(|error| panic!("{error}"));
    let printed: Computation = computation.to_string().parse().expect("it reads back");
    assert_eq!(printed, computation);
    let compiled = compile_computation(&computation).expect("loops compute keys");
    let most = (1 << 40) - 1;
    let mut f = vec![0, 0, most, most, 1, 5];
    let mut g = vec![0, 31, 0, 31, 1, 3];
    for _ in 0..24 {
        f.push((random.below(1 << 40) as i64 * 512) & most);
        g.push(random.below(32) as i64);
    }
    let mut evaluated = sparsec::internals::computation::Given::default();
    let n = f.len() as i64;
    evaluated.parameters.insert("N".to_owned(), n);
    for (name, values) in [("f", &f), ("g", &g)] {
        let values = values.iter().map(|n| Scalar::I64(*n)).collect();
        evaluated.data.insert(name.to_owned(), values);
    }
    let expected = computation
        .evaluate(&evaluated, 0..n)
        .expect("all have keys");
    let (f, g) = (numbers(f), numbers(g));
    for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
        let session = Session::new(Options::from_env().backend(backend));
        let given = Given::new().parameter("N", n).data("f", &f).data("g", &g);
        let found = session.compute(&compiled, &given).expect("it runs");
        for (name, expected) in &expected {
            let values = found[name].entries().values;
            let values: Vec<_> = (0..values.len()).map(|at| values.get(at)).collect();
            let key = name.split('_').next().unwrap_or_default();
            let key = computation.declarations.keys()[key[1..].parse::<usize>().expect("a number")]
                .to_string();
            assert_eq!(values, *expected, "{name} {key}");
        }
    }
}

#[test]
fn arguments_without_their_bits_end_a_kernel() {
    let text = "computation outside {
      parameters N
      key K(i : 4) : 62 { return i * i }
      out y : i64[N]
      s0: y(i) = K(i) over {[i] : 0 <= i < N}
    }";
    let computation: Computation = text.parse().expect("it is well formed");
    let compiled = compile_computation(&computation).expect("loops compute it");
    for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
        let session = Session::new(Options::from_env().backend(backend));
        let run = |n| session.compute(&compiled, &Given::new().parameter("N", n));
        assert!(run(16).is_ok());
        let error = run(17).expect_err("16 has five bits");
        assert_eq!(error.code(), code::NOT_AS_DECLARED);
    }
}
