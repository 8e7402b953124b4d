//! Statements over one matrix, which one pass computes, beside a kernel for each.
//!
//! | network           | computes                                                  |
//! |-------------------|-----------------------------------------------------------|
//! | `together/csr`    | `r(i) = A(i,j) * x(j)` and `c(j) = A(i,j) * y(i)`, 10 entries a row |
//! | `together/dense`  | the same of a dense matrix                                |
//! | `together/norms`  | the sums of rows, and of their squares                    |

use sparsec::internals::Inputs;
use sparsec::{Format, Result};

use super::Scale;
use super::cases::{Case, Listed};
use crate::case::{dense, made};

/// The least ratio of the time of a kernel for each to that of one pass.
const BAR: f64 = 1.0;

/// Matrices of each kind.
pub(super) fn listed(scale: Scale) -> Vec<Listed<'static>> {
    let listed = |name: &'static str, case: fn(Scale) -> Result<Case>| Listed {
        name: format!("together/{name}"),
        is_usual: true,
        case: Box::new(move || case(scale)),
    };
    vec![
        listed("csr", |scale| both_sides("csr", sparse(scale)?)),
        listed("dense", |scale| {
            let n = match scale {
                Scale::Tiny => 20,
                Scale::Small => 2000,
                Scale::Full => 8000,
            };
            both_sides("dense", dense(&[n, n], 1)?)
        }),
        listed("norms", |scale| {
            let text = "s(i) = A(i,j)\nn(i) = A(i,j) * A(i,j)";
            let inputs = Inputs::from([("A".to_owned(), sparse(scale)?)]);
            Ok(case("norms", text, inputs))
        }),
    ]
}

/// A matrix of ten entries a row on average.
fn sparse(scale: Scale) -> Result<sparsec::Tensor> {
    let n = match scale {
        Scale::Tiny => 50,
        Scale::Small => 200_000,
        Scale::Full => 2_000_000,
    };
    let spec = format!("random(nnz={}, seed=7)", 10 * n);
    made(&spec, &[n, n], &Format::csr())
}

/// Products of a matrix with a vector from the right, and with one from the left.
fn both_sides(name: &str, matrix: sparsec::Tensor) -> Result<Case> {
    let [rows, columns] = [0, 1].map(|mode| matrix.extents()[mode]);
    let inputs = Inputs::from([
        ("A".to_owned(), matrix),
        ("x".to_owned(), dense(&[columns], 2)?),
        ("y".to_owned(), dense(&[rows], 3)?),
    ]);
    let text = "r(i) = A(i,j) * x(j)\nc(j) = A(i,j) * y(i)";
    Ok(case(name, text, inputs))
}

fn case(name: &str, text: &str, inputs: Inputs) -> Case {
    Case {
        name: format!("together/{name}"),
        expression: text.to_owned(),
        format: "dense",
        arguments: None,
        order: String::new(),
        inputs,
        blocks: None,
        by_hand: String::new(),
        forms: Vec::new(),
        is_beside_parts: true,
        bar: BAR,
    }
}
