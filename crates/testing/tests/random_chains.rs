//! Random chains: computations whose statements follow what others compute, on two engines
//! beside the evaluator.
//!
//! ```text
//! t0(n) = rank(a(n) of K)            at [0, n]
//! t1(t0(n)) max= n                   at [1, 0 - n]      follows t0
//! c += 1 where t1(n) < a(n)          at [2, n]
//! z(x) = t1(x)                       at [3, x]          as long as c
//! ```
//!
//! Declarations of computed arrays hold in some programs and not in others. Where one does
//! not hold, both engines refuse; otherwise both agree with the evaluator.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Backend, Options, Scalar, Session, Tensor, code};

const PROGRAMS: u64 = 400;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A computation of a few statements.
fn program(random: &mut Random) -> String {
    let bounds = ["N", "K", "N + 1", "K + N"].map(str::to_owned);
    let n_arrays = 1 + random.below(3);
    let declared: Vec<String> = (0..n_arrays)
        .map(|_| bounds[random.below(bounds.len())].clone())
        .collect();
    let mut text = "computation chain {\n  parameters N, K\n  assume 0 <= c\n".to_owned();
    let function = |name: &str, above: &str| {
        format!("  function {name} : {{[n] : 0 <= n < N}} -> {{[x] : 0 <= x < {above}}}\n")
    };
    text += &function("a", "K");
    text += &function("b", "N");
    for (t, above) in declared.iter().enumerate() {
        text += &function(&format!("t{t}"), above);
    }
    let temporaries: Vec<String> = (1..n_arrays).map(|t| format!(", t{t} : i64[N]")).collect();
    let width = random.of(&["i64", "i32"]);
    let _ = write!(
        text,
        "  given a : i32[N], b : i32[N]\n  temporary c : i64{}\n  out t0 : {width}[N], y : i64[N], z : i64[c]\n",
        temporaries.concat()
    );
    let mut time = 0;
    // First each array gets values, then entries change.
    for number in 0..n_arrays + 1 + random.below(3) {
        let n_ready = number.min(n_arrays);
        // An index that may be less than N, at a point `n`.
        let index = |random: &mut Random| match random.below(6) {
            0 => "N - 1 - n".to_owned(),
            1 => "b(n)".to_owned(),
            2 | 3 if n_ready > 0 => format!("t{}(n)", random.below(n_ready)),
            _ => "n".to_owned(),
        };
        let key = |random: &mut Random| match random.below(4) {
            0 => "b(n) of N".to_owned(),
            1 if n_ready > 0 => {
                let t = random.below(n_ready);
                format!("t{t}(n) of {}", declared[t])
            }
            2 => "n of N".to_owned(),
            _ => "a(n) of K".to_owned(),
        };
        let entry = |random: &mut Random| {
            let name = match random.below(3) {
                0 => "a".to_owned(),
                1 => "b".to_owned(),
                _ => format!("t{}", random.below(n_arrays)),
            };
            let at = match random.below(3) {
                0 => index(random),
                _ => "n".to_owned(),
            };
            format!("{name}({at})")
        };
        let value = match random.below(7) {
            0..3 => {
                let window = random.of(&["rank", "ordinal", "dense_rank"]);
                let keys: Vec<String> = (0..1 + random.below(2)).map(|_| key(random)).collect();
                format!("{window}({})", keys.join(", "))
            }
            3 => "n".to_owned(),
            4 => format!("{} + 1", entry(random)),
            _ => entry(random),
        };
        let update = random.of(&["=", "=", "+=", "max=", "min="]);
        let target = match random.below(6) {
            _ if number < n_arrays => format!("t{number}(n)"),
            0 | 1 => format!("y({})", index(random)),
            2 => format!("t{}({})", random.below(n_arrays), index(random)),
            3 => format!("t{}(n)", random.below(n_arrays)),
            _ => "c".to_owned(),
        };
        let condition = match random.below(5 + 5 * usize::from(number < n_arrays)) {
            0 => format!(" && {} < a(n)", entry(random)),
            1 => format!(" && exists x : x = {} && x < n", entry(random)),
            _ => String::new(),
        };
        let value = match (target.as_str(), value.contains("of")) {
            ("c", true) => "n".to_owned(),
            _ => value,
        };
        let order = random.of(&["n", "n", "0 - n"]);
        time += usize::from(number == 0 || random.below(4) > 0);
        let point = match condition.contains("exists") {
            true => format!(
                "{{[n] : exists x : 0 <= n < N{}}}",
                condition.replace("exists x : ", "")
            ),
            false => format!("{{[n] : 0 <= n < N{condition}}}"),
        };
        let _ = writeln!(
            text,
            "  s{number}: {target} {update} {value} over {point} at [{time}, {order}, {number}]"
        );
    }
    let _ = writeln!(
        text,
        "  count: c += 1 over {{[n] : 0 <= n < N && a(n) < b(n)}} at [{time}, n, 99]"
    );
    time += 1;
    let last = random.of(&["x", "2 * x"]);
    let _ = writeln!(
        text,
        "  last: z(x) = {last} over {{[x] : 0 <= x < c}} at [{time}, x, 0]\n}}"
    );
    text
}

/// The numbers that the results hold, or `None` for a chain that is refused as it runs.
type Found = Option<BTreeMap<String, Vec<i64>>>;

fn number(value: Scalar) -> i64 {
    match value {
        Scalar::I32(n) => n.into(),
        Scalar::I64(n) => n,
        other => panic!("{other}"),
    }
}

#[test]
fn chains_are_refused_or_right() {
    let engines = [Backend::Interpreter, Backend::Cranelift]
        .map(|backend| Session::new(Options::from_env().backend(backend).threads(1)));
    let (mut n_right, mut n_refused, mut n_not_compiled) = (0, 0, 0);
    for seed in 1..=PROGRAMS {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let text = program(&mut random);
        let computation: Computation = match text.parse() {
            Ok(computation) => computation,
            Err(error) => panic!("{text}\n{error}"),
        };
        let Ok(compiled) = compile_computation(&computation) else {
            n_not_compiled += 1;
            continue;
        };
        for (n, k) in [(5_i64, 3_i64), (1, 1), (0, 2), (4, 1)] {
            let mut list = |most: i64| -> Vec<i32> {
                let values = (0..n).map(|_| random.below(most as usize) as i32);
                values.collect()
            };
            let (a, b) = (list(k.max(1)), list(n.max(1)));
            let mut given = sparsec::internals::computation::Given::default();
            given.parameters.insert("N".to_owned(), n);
            given.parameters.insert("K".to_owned(), k);
            for (name, values) in [("a", &a), ("b", &b)] {
                let values = values.iter().copied().map(Scalar::I32);
                given.data.insert(name.to_owned(), values.collect());
            }
            let expected = computation.evaluate(&given, -40..40);
            let tensor = |values: &[i32]| Tensor::dense(&[n as u64], values.to_vec());
            let (a, b) = (tensor(&a).expect("a vector"), tensor(&b).expect("a vector"));
            let given = Given::new()
                .parameter("N", n)
                .parameter("K", k)
                .data("a", &a)
                .data("b", &b);
            let shared = compiled.clone().in_shares(1);
            let runs = [
                (&engines[0], &compiled),
                (&engines[1], &compiled),
                (&engines[0], &shared),
            ];
            let found = runs.map(|(engine, compiled)| -> Found {
                let results = match engine.compute(compiled, &given) {
                    Ok(results) => results,
                    Err(error) if error.code() == code::NOT_AS_DECLARED => return None,
                    // A value that a narrow result cannot hold.
                    Err(error) if error.code() == code::WIDTH_OVERFLOW => return None,
                    Err(error) => panic!("{text}\nN = {n}, K = {k}\n{error}"),
                };
                let values = results.into_iter().map(|(name, tensor)| {
                    let all = (0..tensor.vals().len()).map(|at| number(tensor.vals().get(at)));
                    (name, all.collect())
                });
                Some(values.collect())
            });
            assert_eq!(found[0], found[1], "{text}\nN = {n}, K = {k}");
            assert_eq!(found[0], found[2], "{text}\nN = {n}, K = {k}, in shares");
            let Some(found) = &found[0] else {
                n_refused += 1;
                continue;
            };
            let expected = match expected {
                Ok(expected) => expected,
                Err(error) => panic!("{text}\nN = {n}, K = {k}\nthe evaluator refuses: {error}"),
            };
            let expected: BTreeMap<String, Vec<i64>> = expected
                .into_iter()
                .map(|(name, values)| (name, values.into_iter().map(number).collect()))
                .collect();
            assert_eq!(*found, expected, "{text}\nN = {n}, K = {k}");
            n_right += 1;
        }
    }
    // Programs that nothing runs would prove nothing.
    assert!(
        n_right > PROGRAMS && n_refused > PROGRAMS / 40,
        "{n_right} right, {n_refused} refused, {n_not_compiled} not compiled"
    );
}
