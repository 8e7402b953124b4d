//! Programs over tensors whose formats are relations give what they give over levels.

use std::collections::BTreeMap;

use sparsec::internals::{Inputs, Repeats, Request, compile};
use sparsec::{Source, Storage, Stored, Tensor};

use super::interpreter;
use super::stored::{DIA, ELLR, OWN, storage, tensor};

/// The results of a program with `A` and the result in formats of their own.
fn results(
    text: &str,
    formats: &[(&str, &str)],
    inputs: &Inputs,
) -> (BTreeMap<String, Tensor>, bool) {
    let mut request = Request::new(Source::new("expression", text));
    for (name, format) in formats {
        request
            .set_format(name, format)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let compiled = compile(&request, inputs).unwrap_or_else(|error| panic!("{text}: {error}"));
    let session = interpreter();
    let run = session.run_stored(
        &request,
        &compiled,
        (inputs, &BTreeMap::new()),
        Repeats::default(),
    );
    let run = run.unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut tensors = run.outcome.tensors;
    for (name, tensor) in run.stored {
        // What is stored is what was computed.
        let levels = session.convert_stored(&Stored::Relation(tensor), &storage("csr", 2));
        let Stored::Levels(levels) = levels
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .tensor
        else {
            panic!("levels");
        };
        assert_eq!(
            levels.equal_within(&tensors[&name], 0.0),
            None,
            "{text} {formats:?}"
        );
        tensors.insert(name, levels);
    }
    (tensors, run.is_walked)
}

fn inputs() -> Inputs {
    let a = tensor(&[5, 5], 11, 4)
        .convert(&sparsec::Format::csr())
        .expect("a matrix");
    let b = tensor(&[5, 5], 9, 6)
        .convert(&sparsec::Format::csr())
        .expect("a matrix");
    let x = Tensor::dense(&[5], [1.0, -2.0, 3.0, 4.0, -5.0]).expect("a vector");
    let d = Tensor::dense(&[5, 2], (0..10).map(f64::from).collect::<Vec<_>>()).expect("a matrix");
    [("A", a), ("B", b), ("x", x), ("D", d)]
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .into()
}

#[test]
fn relations_give_what_levels_give() {
    let programs = [
        ("y(i) = A(i,j) * x(j)", true),
        ("y(j) = A(i,j) * x(i)", false),
        ("y(i) = 2 * A(i,j) * x(j) - x(i)", true),
        ("C(i,k) = A(i,j) * D(j,k)", true),
        ("s = A(i,j)", true),
        ("C(i,j) = A(i,j) + B(i,j)", false),
        ("C(i,j) = A(i,k) * B(k,j)", false),
        ("y(i) = max{j}(A(i,j))", false),
        ("t(i) = A(i,j) * x(j); y(i) = t(i) + x(i)", false),
        ("y(i) = A(i,j) * A(i,j)", false),
        ("y(i) = A(i,i)", false),
        ("y(i) = A(i,j) * x(j) / 2", false),
    ];
    for (text, walks) in programs {
        let all = inputs();
        let names = sparsec::Program::parse(text).expect("a program").tensors();
        let is_named = |name: &String| names.iter().any(|it| it.name == *name);
        let given: Inputs = all.into_iter().filter(|(name, _)| is_named(name)).collect();
        let (over_levels, _) = results(text, &[], &given);
        for format in ["jds", "sell(2, 4)", DIA, ELLR, OWN] {
            let (found, is_walked) = results(text, &[("A", format)], &given);
            assert_eq!(found.len(), over_levels.len());
            for (name, tensor) in &over_levels {
                let differs = found[name].equal_within(tensor, 1e-12);
                assert_eq!(differs, None, "{text} over {format}");
            }
            if walks {
                assert!(is_walked, "{text} over {format}");
            }
        }
    }
}

/// Results are stored as relations, whatever computes them.
#[test]
fn results_are_relations() {
    let given: Inputs = inputs()
        .into_iter()
        .filter(|(name, _)| name == "A" || name == "B")
        .collect();
    for text in ["C(i,j) = A(i,j) + B(i,j)", "C(i,j) = A(i,k) * B(k,j)"] {
        let (over_levels, _) = results(text, &[("C", "csr")], &given);
        for format in ["jds", "sell(2, 4)", ELLR, OWN] {
            let (found, is_walked) = results(text, &[("A", "jds"), ("C", format)], &given);
            let differs = found["C"].equal_within(&over_levels["C"], 0.0);
            assert_eq!(differs, None, "{text} into {format}");
            assert!(!is_walked);
        }
    }
    assert!(matches!(storage("jds", 2), Storage::Relation(_)));
}
