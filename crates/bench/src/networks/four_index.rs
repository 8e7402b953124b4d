//! Integrals of four indices, whole or in blocks of orbitals.
//!
//! ```text
//! V(i,m,j,n) = E(K,i,m) * D(K,L) * F(L,j,n)      E, F: integrals of three indices, all stored
//!
//! medium: V has 7.2 GB, so blocks of a few i, each checked by the sum of its entries
//!                                                                and dropped
//! ```
//!
//! The sum of a block is known without it: with the sums `e(K)` and `f(L)` of the matrices of
//! `E` and `F`, it is the sum of `e(K) D(K,L) f(L)`.
//!
//! Source: Raje et al., "CoNST", 2024, <https://arxiv.org/abs/2401.04836>; its program has a
//! random dense `D`.

use sparsec::internals::Inputs;
use sparsec::{Array, Entries, Format, PackOptions, Result, Tensor};

use super::Scale;
use super::cases::{Blocks, Case, Form, Listed};
use super::integrals::{Molecule, mixed};
use crate::case::made;

/// A block of the result has at most so many bytes.
const BLOCK: u64 = 400 << 20;

/// The integrals of molecules of every size.
pub(super) fn listed(scale: Scale) -> Vec<Listed<'static>> {
    // Larger ones take minutes.
    let usual = match scale {
        Scale::Tiny => Molecule::TINY,
        Scale::Small | Scale::Full => Molecule::SMALL,
    };
    let listed = |molecule: Molecule| Listed {
        name: format!("four-index/{}", molecule.name),
        is_usual: molecule == usual,
        case: Box::new(move || case(molecule)),
    };
    Molecule::ALL.map(listed).into()
}

fn case(molecule: Molecule) -> Result<Case> {
    let [orbitals, wide] = molecule.n_orbitals();
    let row = 8 * wide * orbitals * wide;
    // Blocks of equal sizes, so that one kernel computes all.
    let sizes = (1..=orbitals).filter(|size| orbitals % size == 0 && size * row <= BLOCK);
    let size = sizes.max().unwrap_or(1);
    let n = molecule.n_matrices();
    let d = made("dense:uniform(seed=3)", &[n, n], &Format::dense(2))?;
    let f = integrals([n, orbitals, wide], 0)?;
    let inputs = move |block: u64| -> Result<Inputs> {
        let e = integrals([n, size, wide], 1 + block)?;
        let named = [("E", e), ("D", d.clone()), ("F", f.clone())];
        Ok(named.map(|(name, tensor)| (name.to_owned(), tensor)).into())
    };
    let text = include_str!("../../kernels/four_index.c");
    let slice = (size > 1).then_some(1);
    Ok(Case {
        name: format!("four-index/{}", molecule.name),
        expression: "V(i,m,j,n) = E(K,i,m) * D(K,L) * F(L,j,n)".to_owned(),
        format: "dense",
        arguments: None,
        order: "reorder(K, L, i, m, j, n)".to_owned(),
        inputs: inputs(0)?,
        blocks: Some(Blocks {
            number: orbitals / size,
            inputs: Box::new(inputs),
            sum: sum_of_result,
        }),
        by_hand: format!("{}\n{text}", include_str!("../../kernels/product.c")),
        is_beside_parts: false,
        forms: match molecule.is_large() {
            // One nest would take hours.
            true => vec![Form::new("fused", "fused"), Form::new("blocks", "blocked")],
            false => vec![
                Form::new("one nest", "nary").slice(slice),
                Form::new("fused", "fused"),
                Form::new("blocks", "blocked"),
            ],
        },
        bar: if molecule.is_large() { 0.9 } else { 0.0 },
    })
}

/// Integrals of three indices, all of which are stored.
fn integrals(extents: [u64; 3], seed: u64) -> Result<Tensor> {
    let n: u64 = extents.iter().product();
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for place in 0..n {
        let (outer, last) = (place / extents[2], place % extents[2]);
        coords.extend([outer / extents[1], outer % extents[1], last].map(|at| at as u32));
        values.push((mixed(place + (seed << 40) + 1) >> 11) as f64 / (1u64 << 53) as f64);
    }
    let entries = Entries {
        extents: extents.to_vec(),
        coords: sparsec::Coords::narrow(coords),
        values: Array::from_vec(values),
    };
    Tensor::pack_entries(&Format::csf(3), entries, PackOptions::default())
}

/// The sum of all entries of the result.
fn sum_of_result(inputs: &Inputs) -> f64 {
    let sums = |tensor: &Tensor| {
        let mut sums = vec![0.0; tensor.extents()[0] as usize];
        tensor.for_each_stored(|entry, value| sums[entry[0] as usize] += value.to_f64());
        sums
    };
    let (e, f) = (sums(&inputs["E"]), sums(&inputs["F"]));
    let d = inputs["D"].values::<f64>().unwrap_or_default();
    let rows = e.iter().zip(d.chunks_exact(f.len()));
    rows.map(|(e, row)| e * row.iter().zip(&f).map(|(d, f)| d * f).sum::<f64>())
        .sum()
}
