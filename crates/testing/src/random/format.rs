//! Random formats: presets, maps of levels of all kinds, and more.

use proptest::prelude::*;
use sparsec::{Format, FormatSpec, Source};

use super::expression::VARS;

/// Formats beside presets and maps of plain levels, with their order.
pub const OTHERS: [(usize, &str); 42] = [
    // Index arrays that some of the results here do not fit.
    (1, "(i) -> (i : compressed), pos = 8, crd = 8"),
    (2, "csr, pos = 8, crd = 8"),
    (2, "(i, j) -> (j : compressed, i : dense), pos = 8"),
    (2, "coo, crd = 8"),
    (
        2,
        "(i, j) -> (i : compressed, j : compressed), pos = 8, crd = 8",
    ),
    (3, "csf, pos = 8, crd = 8"),
    (1, "(i) -> (i : run_length)"),
    (1, "(i) -> (i : loose_compressed)"),
    (1, "(i) -> (i : range)"),
    (1, "(i) -> (i floordiv 3 : hashed, i mod 3 : bitmap)"),
    (1, "(i) -> (i : batch)"),
    (2, "bsr(3, 1), crd = 8"),
    (2, "bsr(2, 2)"),
    (2, "(i, j) -> (j - i : compressed, i : dense)"),
    (2, "(i, j) -> (i - j : compressed, j : compressed)"),
    (
        3,
        "(i, j, k) -> (k : compressed, i + j : compressed, i : dense)",
    ),
    (2, "csb(2)"),
    (
        1,
        "(i) -> (i floordiv 2 : compressed, i mod 2 : compressed)",
    ),
    (
        2,
        "(i, j) -> (j floordiv 2 : compressed, i : dense, j mod 2 : dense)",
    ),
    (
        3,
        "(i, j, k) -> (k : dense, i floordiv 2 : compressed, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : compressed)",
    ),
    (2, "(i, j) -> (j : hashed, i : compressed)"),
    (2, "(i, j) -> (i : dense, j : loose_compressed(nonordered))"),
    (2, "(i, j) -> (i + j : compressed, j : dense)"),
    (
        2,
        "(i, j) -> (i : compressed, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
    ),
    (
        2,
        "(i, j) -> (j : compressed(pos = 16), i : run_length), crd = 32",
    ),
    (2, "csr, lower(i, j) | csc, crd = 16"),
    (
        3,
        "(i, j, k) -> (k : batch, #(i, k) : dense, i : dense, j : singleton)",
    ),
    (3, "(i, j, k) -> (morton(i, k) : compressed, j : range)"),
    (
        1,
        "(i) -> (morton(i floordiv 2) : compressed, i mod 2 : dense)",
    ),
    (2, "(i, j) -> (alto(j, i) : hashed)"),
    (
        2,
        "(i, j) -> (morton(j floordiv 2, i) : compressed, j mod 2 : compressed)",
    ),
    (3, "(i, j, k) -> (j : dense, alto(k, i) : compressed)"),
    (2, "csr, symmetric(i, j)"),
    (2, "(i, j) -> (j : compressed, i : compressed), skew(i, j)"),
    (2, "dense, hermitian(i, j), upper(i, j)"),
    (2, "bsr(2, 2), symmetric(i, j)"),
    (2, "csc, upper(i, j)"),
    (
        3,
        "(i, j, k) -> (k : compressed, i : dense, j : compressed), symmetric(i, j)",
    ),
    (2, "(i, j) -> (j : compressed), diagonal(i, j)"),
    (2, "bsr(2, 2), lower(i, j) | dcsc"),
    (2, "dense, lower(i, j) | csr"),
    (
        3,
        "(i, j, k) -> (i : dense, k : compressed), diagonal(i, j) | csf",
    ),
];

/// Formats of dense blocks and diagonals, which reach beyond most tensors.
const PADDED: [(usize, &str); 16] = [
    (1, "(i) -> (i floordiv 4 : dense, i mod 4 : dense)"),
    (1, "(i) -> (i floordiv 3 : bitmap, i mod 3 : dense)"),
    (
        1,
        "(i) -> ((i floordiv 2) floordiv 2 : dense, (i floordiv 2) mod 2 : dense, i mod 2 : dense)",
    ),
    (1, "(i) -> (i + 2 : dense)"),
    (1, "(i) -> (0 - i : dense)"),
    (
        2,
        "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : dense, i mod 2 : dense, j mod 3 : dense)",
    ),
    (
        2,
        "(i, j) -> (j floordiv 4 : dense, i : dense, j mod 4 : dense)",
    ),
    (
        2,
        "(i, j) -> (i floordiv 3 : dense, j : bitmap, i mod 3 : dense)",
    ),
    (
        2,
        "(i, j) -> (i : dense, j floordiv 3 : dense, j mod 3 : bitmap)",
    ),
    (2, "(i, j) -> (j - i : dense, i : dense)"),
    (2, "(i, j) -> (j - i : dense, j : compressed)"),
    (2, "(i, j) -> (i + j : dense, j : dense)"),
    (2, "(i, j) -> (morton(i, j) : dense)"),
    (
        3,
        "(i, j, k) -> (i floordiv 2 : dense, j : dense, k floordiv 2 : dense, i mod 2 : dense, k mod 2 : dense)",
    ),
    (3, "(i, j, k) -> (k - i : dense, i : dense, j : compressed)"),
    (
        3,
        "(i, j, k) -> (j floordiv 3 : compressed, i floordiv 2 : dense, k : dense, j mod 3 : dense, i mod 2 : dense)",
    ),
];

/// A format of an operand.
pub(crate) fn format(order: usize) -> BoxedStrategy<String> {
    any(order, &|_| true)
}

/// A format of a result, whose entries may be anywhere.
pub(crate) fn format_of_result(order: usize) -> BoxedStrategy<String> {
    any(order, &|format| {
        format.n_parts() > 1 || format.region().is_none()
    })
}

fn any(order: usize, fits: &dyn Fn(&Format) -> bool) -> BoxedStrategy<String> {
    let presets: Vec<String> = sparsec::presets()
        .iter()
        .filter(|preset| preset.fits(order))
        .map(|preset| preset.text(order))
        .collect();
    let listed = |list: &[(usize, &str)]| -> Vec<String> {
        let fitting = list.iter().filter(|(fits, _)| *fits == order);
        fitting.map(|(_, text)| (*text).to_owned()).collect()
    };
    let others = listed(&OTHERS);
    // A scalar has none.
    let padded = Some(listed(&PADDED)).filter(|padded| !padded.is_empty());
    let padded = padded.unwrap_or_else(|| presets.clone());
    let named = [presets, others].concat().into_iter().filter(|text| {
        let spec = FormatSpec::parse(&Source::new("format", text.as_str()));
        fits(&(spec.and_then(|spec| spec.resolve(order))).expect("a format"))
    });
    let named: Vec<String> = named.collect();
    let map = (
        Just((0..order).collect::<Vec<usize>>()).prop_shuffle(),
        prop::collection::vec(kind(), order),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(modes, mut kinds, has_runs)| {
            if let (true, Some(last)) = (has_runs, kinds.last_mut()) {
                *last = "run_length";
            }
            let names: Vec<&str> = VARS[..modes.len()].to_vec();
            let levels: Vec<String> = modes
                .iter()
                .zip(kinds)
                .map(|(mode, kind)| format!("{} : {kind}", VARS[*mode]))
                .collect();
            format!("({}) -> ({})", names.join(", "), levels.join(", "))
        });
    let padded = prop::sample::select(padded);
    prop_oneof![4 => prop::sample::select(named), 4 => map, 1 => padded].boxed()
}

/// A kind of level that stands anywhere.
fn kind() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("dense"),
        4 => Just("compressed"),
        2 => Just("bitmap"),
        2 => Just("hashed"),
        1 => Just("range"),
        1 => Just("loose_compressed"),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use sparsec_format::LevelKind;

    use super::*;

    #[test]
    fn results_have_levels_of_every_kind() {
        let mut runner = TestRunner::deterministic();
        let mut found = BTreeSet::new();
        for order in 1..4 {
            let formats = format_of_result(order);
            for _ in 0..400 {
                let text = formats.new_tree(&mut runner).expect("a format").current();
                let spec = FormatSpec::parse(&Source::new("format", text.as_str()));
                let format = spec.and_then(|spec| spec.resolve(order)).expect("a format");
                let parts = format.parts();
                let levels = parts.iter().flat_map(Format::levels);
                found.extend(levels.map(|level| level.kind.spec().name));
            }
        }
        let all = LevelKind::ALL.map(|kind| kind.spec().name);
        assert_eq!(found, BTreeSet::from(all));
    }
}
