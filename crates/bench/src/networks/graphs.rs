//! Products over a graph of skewed degrees.

use sparsec::{Format, Inputs, Result, Tensor};

use super::Scale;
use super::cases::{Case, Form, Listed};
use super::integrals::mixed;

/// The products over graphs.
pub(super) fn listed(scale: Scale) -> Vec<Listed<'static>> {
    vec![Listed {
        name: "triangles".to_owned(),
        is_usual: true,
        case: Box::new(move || triangles(scale)),
    }]
}

/// A graph of so many vertices and about twice so many edges, each stored from both ends.
fn graph(n: u64, edges: u64) -> Result<Tensor> {
    // The end of an edge is `n u³`, so degrees are skewed.
    let end = |number: u64| {
        let u = (mixed(number) >> 11) as f64 / (1u64 << 53) as f64;
        (n as f64 * u.powi(3)) as u64
    };
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    let ends = (0..edges).map(|edge| (end(2 * edge + 1), end(2 * edge + 2)));
    let distinct: std::collections::BTreeSet<(u64, u64)> = ends
        .filter(|(a, b)| a != b)
        .flat_map(|(a, b)| [(a, b), (b, a)])
        .collect();
    for (a, b) in distinct {
        coords.extend([a, b]);
        values.push(1.0);
    }
    Tensor::pack(&Format::csr(), &[n, n], &coords, &values)
}

fn triangles(scale: Scale) -> Result<Case> {
    let graph = match scale {
        Scale::Tiny => graph(60, 300),
        Scale::Small => graph(20_000, 200_000),
        Scale::Full => graph(200_000, 2_000_000),
    }?;
    Ok(Case {
        name: "triangles".to_owned(),
        expression: "t = A(i,j) * A(j,k) * A(i,k)".to_owned(),
        format: "dense",
        order: "reorder(i, j, k)".to_owned(),
        inputs: Inputs::from([("A".to_owned(), graph)]),
        by_hand: include_str!("../../kernels/triangles.c").to_owned(),
        forms: vec![
            Form::new("merges", "merges"),
            Form::new("bitmaps", "bitmaps"),
            Form::new("hashing", "hashing"),
        ],
        bar: 1.0 / 1.2,
    })
}
