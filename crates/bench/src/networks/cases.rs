//! The networks: operands, and forms by hand.

use sparsec::{Diagnostic, Format, Inputs, Result, Tensor, code};

use super::Scale;
use super::integrals::{Molecule, mixed};
use crate::case::made;

/// A form of a kernel by hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) name: &'static str,
    /// The function of the C file.
    pub(super) function: &'static str,
    pub(super) bar: Option<f64>,
    /// How many outermost coordinates it computes, if not all.
    pub(super) slice: Option<u64>,
}

impl Form {
    const fn new(name: &'static str, function: &'static str) -> Self {
        Self {
            name,
            function,
            bar: None,
            slice: None,
        }
    }

    const fn bar(self, bar: f64) -> Self {
        Self {
            bar: Some(bar),
            ..self
        }
    }
}

/// A network with its operands and its forms by hand.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) expression: &'static str,
    /// The format of the result.
    pub(super) format: Format,
    /// Loops in an order that follows all operands as they are stored.
    pub(super) order: &'static str,
    pub(super) inputs: Inputs,
    pub(super) by_hand: &'static str,
    pub(super) forms: Vec<Form>,
    /// The least ratio to the fastest form.
    pub(super) bar: f64,
}

/// Entries of a fiber in the tensors of `mttkrp`.
const FIBERS: [u64; 4] = [1, 4, 8, 230];

/// The names of all networks.
fn names() -> Vec<String> {
    let integrals = Molecule::ALL.map(|it| format!("integrals/{}", it.name));
    let fibers = FIBERS.map(|n| format!("mttkrp/{n}"));
    let all = integrals.into_iter().chain(fibers);
    all.chain(["triangles".to_owned()]).collect()
}

pub(super) fn chosen(scale: Scale, only: &[&str]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for wanted in only {
        let is_named = |name: &String| {
            let group = name.split('/').next().unwrap_or_default();
            let size = name.split('/').next_back().unwrap_or_default();
            name == wanted || group == *wanted || size == *wanted
        };
        let before = found.len();
        found.extend(names().into_iter().filter(is_named));
        if found.len() == before {
            let message = format!("there is no benchmark `networks/{wanted}`");
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .help(format!("there are {}", names().join(", "))));
        }
    }
    if only.is_empty() {
        let size = match scale {
            Scale::Tiny => "tiny",
            Scale::Small => "small",
            Scale::Full => "medium",
        };
        found = names();
        found.retain(|name| !name.starts_with("integrals/") || name.ends_with(size));
    }
    Ok(found)
}

pub(super) fn case(name: &str, scale: Scale) -> Result<Case> {
    let (group, part) = name.split_once('/').unwrap_or((name, ""));
    match group {
        "integrals" => {
            let molecule = Molecule::ALL.into_iter().find(|it| it.name == part);
            integrals_case(molecule.expect("a name of the list"))
        }
        "mttkrp" => mttkrp_case(part.parse().expect("a name of the list"), scale),
        _ => triangles_case(scale),
    }
}

fn integrals_case(molecule: Molecule) -> Result<Case> {
    let mut inputs = molecule.operands()?;
    inputs.remove("L");
    let is_large = [Molecule::MEDIUM, Molecule::LARGE].contains(&molecule);
    let barred = |form: Form, bar: f64| match is_large {
        true => form.bar(bar),
        false => form,
    };
    let nest = Form {
        slice: is_large.then_some(molecule.n_matrices() / 50),
        ..Form::new("one nest", "nary")
    };
    let mut forms = vec![
        barred(nest, 1000.0),
        barred(Form::new("merges", "merges"), 40.0),
        barred(Form::new("by rows", "gustavson"), 5.0),
        barred(Form::new("fused", "fused"), 3.0),
        Form::new("fused, P dense", "fused_dense"),
        Form::new("fused, blocks", "blocked"),
    ];
    if has_library() {
        forms.push(Form::new("fused, dgemm", "library"));
    }
    Ok(Case {
        name: format!("integrals/{}", molecule.name),
        expression: "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)",
        format: Format::dense(3),
        order: "reorder(K, a, b, i, m)",
        inputs,
        by_hand: include_str!("../../kernels/integrals.c"),
        forms,
        bar: if is_large { 0.9 } else { 0.0 },
    })
}

/// Whether a library with a dense product can be found where the linker looks.
fn has_library() -> bool {
    let names = ["libmkl_rt.so.2", "libmkl_rt.so", "libopenblas.so.0"];
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib",
        "/usr/local/lib",
    ];
    folders.iter().any(|folder| {
        let folder = std::path::Path::new(folder);
        names.iter().any(|name| folder.join(name).exists())
    })
}

fn mttkrp_case(fiber: u64, scale: Scale) -> Result<Case> {
    let (n_stored, rank) = match scale {
        Scale::Tiny => (600, 5),
        Scale::Small => (400_000, 50),
        Scale::Full => (4_000_000, 50),
    };
    // Fibers of so many entries at random places.
    let n_fibers = (n_stored / fiber).max(1);
    let (rows, columns) = ((n_fibers / 12).max(3), (n_fibers / 20).max(5));
    let depth = (fiber * 120).max(2000);
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for n in 0..n_fibers {
        let (i, j) = (mixed(2 * n + 1) % rows, mixed(2 * n + 2) % columns);
        let from = mixed(n + 7) % depth;
        for entry in 0..fiber {
            coords.extend([i, j, (from + entry * 119) % depth]);
            values.push(1.0 + (mixed(entry + n) % 8) as f64);
        }
    }
    let tensor = Tensor::pack(&Format::csf(3), &[rows, columns, depth], &coords, &values)?;
    let dense = |extent: u64, seed: u64| {
        let spec = format!("dense:uniform(seed={seed})");
        made(&spec, &[extent, rank], &Format::dense(2))
    };
    Ok(Case {
        name: format!("mttkrp/{fiber}"),
        expression: "M(i,r) = T(i,j,k) * B(j,r) * D(k,r)",
        format: Format::dense(2),
        order: "reorder(i, j, k, r)",
        inputs: Inputs::from([
            ("T".to_owned(), tensor),
            ("B".to_owned(), dense(columns, 1)?),
            ("D".to_owned(), dense(depth, 2)?),
        ]),
        by_hand: include_str!("../../kernels/fibers.c"),
        forms: vec![
            Form::new("one nest", "nest"),
            Form::new("factored", "factored"),
        ],
        bar: 0.95,
    })
}

fn triangles_case(scale: Scale) -> Result<Case> {
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
    let graph = Tensor::pack(&Format::csr(), &[n, n], &coords, &values)?;
    Ok(Case {
        name: "triangles".to_owned(),
        expression: "t = A(i,j) * A(j,k) * A(i,k)",
        format: Format::dense(0),
        order: "reorder(i, j, k)",
        inputs: Inputs::from([("A".to_owned(), graph)]),
        by_hand: include_str!("../../kernels/triangles.c"),
        forms: vec![
            Form::new("merges", "merges"),
            Form::new("bitmaps", "bitmaps"),
            Form::new("hashing", "hashing"),
        ],
        bar: 1.0 / 1.2,
    })
}
