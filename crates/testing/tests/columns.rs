//! Dense products whose columns are those of several modes.
//!
//! Random products of two and three dense tensors, in any order of modes, give what the reference
//! evaluator says: by the interpreter, as machine code and as C. In some of them one loop goes along
//! several modes, and tiles of several rows have rows and columns left.

use sparsec::internals::runtime::Environment;
use sparsec::internals::{Inputs, Request, compile, reference};
use sparsec::{Backend, Format, Options, Session, Source, Stage, Tensor};

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Small integers, whose sums are exact in any order.
    fn tensor(&mut self, extents: &[u64]) -> Tensor {
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for mut place in 0..extents.iter().product() {
            let first = coords.len();
            for extent in extents.iter().rev() {
                coords.push(place % extent);
                place /= extent;
            }
            coords[first..].reverse();
            values.push(self.below(7) as f64 - 3.0);
        }
        let format = Format::dense(extents.len());
        Tensor::pack(&format, extents, &coords, &values).expect("entries within the extents")
    }
}

/// A program with its operands.
fn case(seed: u64) -> (String, Inputs) {
    let mut numbers = Numbers(seed);
    let mut extent = |from: u64, to: u64| from + numbers.below(to + 1 - from);
    let extents = [
        ('i', extent(1, 3)),
        ('m', extent(4, 21)),
        ('l', extent(1, 5)),
        ('j', extent(1, 6)),
        ('n', extent(1, 31)),
        ('o', extent(1, 4)),
    ];
    let has = |mode: char| {
        extents
            .iter()
            .find(|(known, _)| *known == mode)
            .expect("a mode")
            .1
    };
    // Most have columns that lie one behind the other.
    let v = numbers.pick(&["mjn", "mjn", "mjn", "mjon", "imjn", "jmn", "mnj"]);
    let w = numbers.pick(&["ml", "lm"]);
    let mut f = numbers.pick(&["ljn", "ljn", "jln", "lnj"]).to_owned();
    if v.contains('o') {
        f = f.replace('j', numbers.pick(&["jo", "oj"]));
    }
    let w = if v.contains('i') {
        format!("i{w}")
    } else {
        w.to_owned()
    };
    let modes = |of: &str| of.chars().map(String::from).collect::<Vec<_>>().join(",");
    let text = format!("V({}) = W({}) * F({})", modes(v), modes(&w), modes(&f));
    let mut tensor = |of: &str| numbers.tensor(&of.chars().map(has).collect::<Vec<_>>());
    let inputs = Inputs::from([("W".to_owned(), tensor(&w)), ("F".to_owned(), tensor(&f))]);
    (text, inputs)
}

#[test]
fn columns_of_several_modes_are_what_the_reference_says() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|it| it.parse().ok());
    let n = cases.unwrap_or(80);
    let with = |backend| {
        let options = Options::from_env().backend(backend);
        Session::new(options.environment(Environment::of_process()))
    };
    let [interpreter, cranelift, c] = [
        Session::interpreter(),
        with(Backend::Cranelift),
        with(Backend::C),
    ];
    let mut n_collapsed = 0;
    for seed in 0..n {
        let (text, inputs) = case(seed);
        let mut request = Request::new(Source::new("program", text.as_str()));
        request.set_format("V", "dense").expect("a format");
        let compiled = compile(&request, &inputs).unwrap_or_else(|e| panic!("{text}: {e}"));
        let kernel = compiled.emit(&Stage::LoopAfter("collapse".to_owned()));
        let is_collapsed = kernel.expect("a stage").contains("_flat: bool");
        n_collapsed += u64::from(is_collapsed);
        let expected = reference::evaluate(compiled.resolved(), &inputs);
        let expected = &expected.unwrap_or_else(|e| panic!("{text}: {e}"))["V"];
        let mut sessions = vec![&interpreter, &cranelift];
        if is_collapsed && seed % 6 == 0 {
            sessions.push(&c);
        }
        for session in sessions {
            let found = session.run(&compiled, &inputs);
            let found = found.unwrap_or_else(|e| panic!("seed {seed}: {text}: {e}"));
            let difference = reference::compare_exact(expected, &found.tensors["V"]);
            assert!(difference.is_none(), "seed {seed}: {text}: {difference:?}");
        }
    }
    assert!(n_collapsed * 10 > n, "{n_collapsed} of {n} are one loop");
}
