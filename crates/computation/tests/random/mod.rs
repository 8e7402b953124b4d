//! Random computations over small data, valid by construction.
//!
//! All values are integers, so that results compare exactly in any order.

use proptest::prelude::*;
use sparsec_computation::Computation;

/// The header of all: `N` is 4, `pos` the positions of 4 rows, `crd` has values
/// in `0..4`.
const HEADER: &str = "
  parameters N, NZ
  assume 0 < N
  function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
  function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < N}
  given pos : i32[N + 1], crd : i32[NZ], a : i64[NZ], x : i64[N]
  temporary t : i64[N], u : i64[N]
  out y : i64[N], z : i64[N, N], n : i64
";

/// Iteration spaces with expressions that lie in `0..N` on them, and their
/// variables.
const SPACES: [Space; 5] = [
    ("{[]}", &["0", "N - 1"], &[]),
    ("{[i] : 0 <= i < N}", &["i", "N - 1 - i", "0"], &["i"]),
    (
        "{[i, j] : 0 <= i < N && 0 <= j <= i}",
        &["i", "j", "i - j"],
        &["i", "j"],
    ),
    (
        "{[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}",
        &["i", "crd(p)"],
        &["i", "p"],
    ),
    (
        "{[i] : 0 <= i < N && i mod 2 = 0} union {[i] : i = 1 && 1 < N}",
        &["i", "i floordiv 2"],
        &["i"],
    ),
];

/// Loops that meet: rows, rows turned round now and then, and their entries.
const CHAIN: [Space; 3] = [
    ("{[i] : 0 <= i < N}", &["i"], &["i"]),
    ("{[i] : 0 <= i < N}", &["i", "i", "N - 1 - i"], &["i"]),
    (
        "{[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}",
        &["i"],
        &["i", "p"],
    ),
];

type Space = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(from)
}

fn statement(
    number: usize,
    spaces: &'static [Space],
    data: &'static [&'static str],
) -> impl Strategy<Value = String> {
    prop::sample::select(spaces).prop_flat_map(move |(space, within, variables)| {
        let entry = (pick(data), pick(within), pick(within)).prop_map(|(name, i, j)| match name {
            "z" => format!("z({i}, {j})"),
            "n" => "n".to_owned(),
            _ => format!("{name}({i})"),
        });
        let leaf = prop_oneof![
            (-3i64..4).prop_map(|n| n.to_string()),
            pick(within).prop_map(|i| format!("x({i})")),
            pick(within).prop_map(|i| format!("({i})")),
            entry.clone(),
        ];
        let value = leaf.prop_recursive(2, 4, 2, |e| {
            let operator = pick(&["+", "-", "min", "max"]);
            (operator, e.clone(), e).prop_map(|(operator, a, b)| match operator {
                "min" | "max" => format!("{operator}({a}, {b})"),
                _ => format!("({a} {operator} {b})"),
            })
        });
        let update = pick(&["=", "=", "+=", "min=", "max="]);
        let variables: Vec<String> = variables.iter().map(|v| (*v).to_owned()).collect();
        let time = prop_oneof![
            Just(None),
            (0i64..3, Just(variables).prop_shuffle(), 0i64..2).prop_map(|(first, v, last)| {
                let parts = [vec![first.to_string()], v, vec![last.to_string()]];
                Some(parts.concat().join(", "))
            }),
        ];
        (entry, update, value, time).prop_map(move |(target, update, value, time)| {
            let at = time.map_or(String::new(), |time| format!("at [{time}]"));
            format!("s{number}: {target} {update} {value} over {space} {at}\n")
        })
    })
}

pub(crate) fn computation() -> impl Strategy<Value = Computation> {
    let any = |number| statement(number, &SPACES, &["t", "u", "y", "z", "n"]);
    let chain = |number| statement(number, &CHAIN, &["t", "t", "y"]);
    let either = |number| prop_oneof![any(number), chain(number), chain(number)];
    // The last one wants what the ones before it make.
    let end = Just("s3: y(i) = y(i) + t(i) over {[i] : 0 <= i < N}\n".to_owned());
    let last = prop_oneof![either(3), end];
    (either(0), either(1), either(2), last, 0usize..3).prop_map(|(a, b, c, d, n)| {
        let statements = [a, b, c, d][n..].concat();
        let text = format!("computation random {{ {HEADER} {statements} }}");
        text.parse()
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    })
}
