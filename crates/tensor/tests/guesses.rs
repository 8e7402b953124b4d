//! How well merges are guessed does not depend on how operands are stored.

use sparsec_base::{ElementType, Source};
use sparsec_format::{Format, FormatSpec};
use sparsec_tensor::guesses::{Merged, mispredicted};
use sparsec_tensor::{Tensor, generate};

fn format(text: &str, order: usize) -> Format {
    let spec = text
        .parse::<FormatSpec>()
        .and_then(|spec| spec.resolve(order));
    spec.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn random(extents: &[u64], seed: u64) -> Tensor {
    let csf = Format::csf(extents.len());
    let source = Source::new("generator", format!("random(nnz=3000, seed={seed})"));
    generate(&source, extents, Some(&csf), ElementType::F64).expect("a tensor")
}

fn stored_as(tensor: &Tensor, text: &str) -> Tensor {
    let format = format(text, tensor.order());
    tensor.convert(&format).expect("an equal tensor")
}

fn share(tensors: &[&Tensor], vars: &[usize]) -> Option<f64> {
    let merged = tensors.iter().map(|tensor| Merged {
        tensor,
        part: 0,
        vars,
    });
    mispredicted(&merged.collect::<Vec<_>>())
}

#[test]
fn levels_that_hold_the_same_entries_are_guessed_alike() {
    let extents = [100, 300];
    let (a, b) = (random(&extents, 1), random(&extents, 2));
    let known = share(&[&a, &b], &[0, 1]);
    assert!(known > Some(0.3) && known < Some(0.6), "{known:?}");
    for text in [
        "csr",
        "csr, crd = 16",
        "scoo",
        "(i, j) -> (i : bitmap, j : compressed)",
        "(i, j) -> (i : range, j : compressed)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "csr | coo",
    ] {
        let stored = stored_as(&a, text);
        assert_eq!(share(&[&stored, &b], &[0, 1]), known, "{text}");
        assert_eq!(
            share(&[&b, &stored], &[0, 1]).map(|it| it > 0.3),
            Some(true),
            "{text}"
        );
    }
    // Positions of a bitmap are those of the extents: it leads, and other rows are seen.
    let bitmap = stored_as(&a, "(i, j) -> (i : dense, j : bitmap)");
    assert!(share(&[&bitmap, &b], &[0, 1]) > Some(0.3));
}

#[test]
fn operands_are_guessed_together() {
    let extents = [20, 30, 400];
    let [a, b, c] = [1, 2, 3].map(|seed| random(&extents, seed));
    let vars = [0, 1, 2];
    assert!(share(&[&a, &a], &vars) < Some(0.02));
    let two = share(&[&a, &b], &vars);
    assert!(
        share(&[&a, &b, &c], &vars) > two && two > Some(0.2),
        "{two:?}"
    );
    // One of far more entries is what comes next.
    let dense = stored_as(
        &random(&[30, 400], 4),
        "(i, j) -> (i : compressed, j : compressed)",
    );
    let merged = |tensor, vars| Merged {
        tensor,
        part: 0,
        vars,
    };
    let known = mispredicted(&[merged(&a, &vars), merged(&dense, &[1, 2])]);
    assert!(known < Some(0.2), "{known:?}");
    // Whose fibers are not those of the others.
    assert_eq!(
        mispredicted(&[merged(&a, &vars), merged(&dense, &[3, 2])]),
        None
    );
    // Levels that are not merged in steps.
    let hash = stored_as(&a, "(i, j, k) -> (i : dense, j : hashed, k : compressed)");
    assert_eq!(share(&[&hash, &b], &vars), None);
}

#[test]
fn nothing_is_guessed_of_nothing() {
    for extents in [[0, 0], [5, 0], [0, 5], [5, 5]] {
        for text in ["csr", "dcsr", "(i, j) -> (i : dense, j : bitmap)"] {
            let none = Tensor::pack(&format(text, 2), &extents, &[], &[]).expect("empty");
            let share = share(&[&none, &none], &[0, 1]);
            assert!(share.is_none_or(|share| share == 0.0), "{text} {extents:?}");
        }
    }
}
