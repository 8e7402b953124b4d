//! Products over a graph of skewed degrees.
//!
//! | network             | computes                                                        |
//! |---------------------|-----------------------------------------------------------------|
//! | `triangles/whole`   | triangles over all edges, each from both ends                   |
//! | `triangles/ordered` | triangles over edges to vertices of larger degree, each once    |
//! | `cliques`           | cliques of four vertices over the same edges                    |
//! | `attention`         | sampled products of rows of `X` and `Y`, times `Z`              |
//! | `step`              | a step of a breadth-first search from many vertices, with a mask |
//! | `jaccard`           | the Jaccard similarity of the ends of each edge                 |
//!
//! Source of ordered edges: Latapy, "Main-memory triangle computations for very large
//! (sparse (power-law)) graphs", Theoretical Computer Science 2008,
//! <https://doi.org/10.1016/j.tcs.2008.07.017>, §3.

use std::collections::BTreeSet;

use sparsec::internals::Inputs;
use sparsec::{Format, Result, Tensor};

use super::Scale;
use super::cases::{Case, Form, Listed};
use super::integrals::mixed;
use crate::case::made;

/// The least ratio to the best form of counting.
const COUNTING: f64 = 1.0 / 1.2;
/// The least ratio to the best form of other products.
const BAR: f64 = 0.95;
/// Columns of dense matrices.
const COLUMNS: u64 = 32;

/// The products over graphs.
pub(super) fn listed(scale: Scale) -> Vec<Listed<'static>> {
    let listed = |name: &'static str, case: fn(&'static str, Graph) -> Result<Case>| Listed {
        name: name.to_owned(),
        is_usual: true,
        case: Box::new(move || case(name, Graph::of(scale))),
    };
    vec![
        listed("triangles/whole", |name, graph| {
            triangles(name, graph.whole()?)
        }),
        listed("triangles/ordered", |name, graph| {
            triangles(name, graph.ordered()?)
        }),
        listed("cliques", cliques),
        listed("attention", attention),
        listed("step", step),
        listed("jaccard", jaccard),
    ]
}

/// A graph without loops.
struct Graph {
    n: u64,
    /// The edges, from both ends.
    edges: BTreeSet<(u64, u64)>,
}

impl Graph {
    fn of(scale: Scale) -> Self {
        let (n, edges) = match scale {
            Scale::Tiny => (60, 300),
            Scale::Small => (20_000, 200_000),
            Scale::Full => (200_000, 2_000_000),
        };
        // The end of an edge is `n u³`, so degrees are skewed.
        let end = |number: u64| {
            let u = (mixed(number) >> 11) as f64 / (1u64 << 53) as f64;
            (n as f64 * u.powi(3)) as u64
        };
        let ends = (0..edges).map(|edge| (end(2 * edge + 1), end(2 * edge + 2)));
        let edges = ends
            .filter(|(a, b)| a != b)
            .flat_map(|(a, b)| [(a, b), (b, a)]);
        Self {
            n,
            edges: edges.collect(),
        }
    }

    fn degrees(&self) -> Vec<f64> {
        let mut degrees = vec![0.0; self.n as usize];
        for (a, _) in &self.edges {
            degrees[*a as usize] += 1.0;
        }
        degrees
    }

    /// Each edge from both ends.
    fn whole(&self) -> Result<Tensor> {
        packed(self.n, self.edges.iter().copied())
    }

    /// Each edge once, with vertices numbered by their degrees.
    fn ordered(&self) -> Result<Tensor> {
        let degrees = self.degrees();
        let mut vertices: Vec<usize> = (0..self.n as usize).collect();
        vertices.sort_by(|a, b| degrees[*a].total_cmp(&degrees[*b]));
        let mut numbers = vec![0; vertices.len()];
        for (number, vertex) in vertices.into_iter().enumerate() {
            numbers[vertex] = number as u64;
        }
        let edges = self.edges.iter();
        let edges = edges.map(|(a, b)| (numbers[*a as usize], numbers[*b as usize]));
        packed(self.n, edges.filter(|(a, b)| a < b))
    }
}

fn packed(n: u64, edges: impl Iterator<Item = (u64, u64)>) -> Result<Tensor> {
    let coords: Vec<u64> = edges.flat_map(|(a, b)| [a, b]).collect();
    let values = vec![1.0; coords.len() / 2];
    Tensor::pack(&Format::csr(), &[n, n], &coords, &values)
}

/// A vector with ones at every `step`-th place.
fn sparse(n: u64, step: u64) -> Result<Tensor> {
    let coords: Vec<u64> = (0..n).step_by(step as usize).collect();
    let values = vec![1.0; coords.len()];
    Tensor::pack(&Format::csf(1), &[n], &coords, &values)
}

fn inputs<const N: usize>(named: [(&str, Tensor); N]) -> Inputs {
    let named = named.into_iter();
    named
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .collect()
}

fn triangles(name: &str, graph: Tensor) -> Result<Case> {
    Ok(Case {
        name: name.to_owned(),
        expression: "t = A(i,j) * A(j,k) * A(i,k)".to_owned(),
        format: "dense",
        arguments: None,
        blocks: None,
        order: "reorder(i, j, k)".to_owned(),
        inputs: inputs([("A", graph)]),
        by_hand: include_str!("../../kernels/triangles.c").to_owned(),
        is_beside_parts: false,
        forms: vec![
            Form::new("merges", "merges"),
            Form::new("bitmaps", "bitmaps"),
            Form::new("hashing", "hashing"),
        ],
        bar: COUNTING,
    })
}

fn cliques(name: &str, graph: Graph) -> Result<Case> {
    Ok(Case {
        name: name.to_owned(),
        expression: "c = A(i,j) * A(i,k) * A(i,l) * A(j,k) * A(j,l) * A(k,l)".to_owned(),
        format: "dense",
        arguments: None,
        blocks: None,
        order: "reorder(i, j, k, l)".to_owned(),
        inputs: inputs([("A", graph.ordered()?)]),
        by_hand: include_str!("../../kernels/cliques.c").to_owned(),
        is_beside_parts: false,
        forms: vec![
            Form::new("merges", "merges"),
            Form::new("bitmaps", "bitmaps"),
        ],
        bar: COUNTING,
    })
}

fn attention(name: &str, graph: Graph) -> Result<Case> {
    let matrix = |seed: u64| {
        let spec = format!("dense:uniform(seed={seed})");
        made(&spec, &[graph.n, COLUMNS], &Format::dense(2))
    };
    Ok(Case {
        name: name.to_owned(),
        expression: "O(i,f) = A(i,j) * X(i,d) * Y(j,d) * Z(j,f)".to_owned(),
        format: "dense",
        arguments: None,
        blocks: None,
        order: "reorder(i, j, d, f)".to_owned(),
        inputs: inputs([
            ("A", graph.whole()?),
            ("X", matrix(1)?),
            ("Y", matrix(2)?),
            ("Z", matrix(3)?),
        ]),
        by_hand: include_str!("../../kernels/attention.c").to_owned(),
        is_beside_parts: false,
        forms: vec![
            Form::new("one nest", "nest"),
            Form::new("two kernels", "apart"),
            Form::new("fused", "fused"),
        ],
        bar: BAR,
    })
}

fn step(name: &str, graph: Graph) -> Result<Case> {
    Ok(Case {
        name: name.to_owned(),
        expression: "y(j) = M(j) * A(i,j) * x(i)".to_owned(),
        format: "dense",
        arguments: None,
        blocks: None,
        order: "reorder(i, j)".to_owned(),
        inputs: inputs([
            ("M", sparse(graph.n, 2)?),
            ("A", graph.whole()?),
            ("x", sparse(graph.n, 5)?),
        ]),
        by_hand: include_str!("../../kernels/step.c").to_owned(),
        is_beside_parts: false,
        forms: vec![
            Form::new("masked at the end", "pushed"),
            Form::new("masked entries", "masked"),
        ],
        bar: BAR,
    })
}

fn jaccard(name: &str, graph: Graph) -> Result<Case> {
    let both = "sum{k}(A(i,k) * A(j,k))";
    Ok(Case {
        name: name.to_owned(),
        expression: format!(
            "N(i,j) = A(i,j) * {both}\nJ(i,j) = A(i,j) * (N(i,j) / (d(i) + d(j) - N(i,j)))"
        ),
        format: "csr, pos = 32, crd = 32",
        arguments: Some("J(i,j) = A(i,j) * d(i) * d(j)"),
        blocks: None,
        order: "reorder(i, j)".to_owned(),
        inputs: inputs([
            ("A", graph.whole()?),
            ("d", Tensor::dense(&[graph.n], graph.degrees())?),
        ]),
        by_hand: include_str!("../../kernels/jaccard.c").to_owned(),
        is_beside_parts: false,
        forms: vec![
            Form::new("merges", "merges"),
            Form::new("bitmaps", "bitmaps"),
        ],
        bar: BAR,
    })
}
