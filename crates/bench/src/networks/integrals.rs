//! Operands of the three-index integrals of quantum chemistry, with the counts of CoNST's
//! benchmark.
//!
//! ```text
//! atoms on a square lattice     I(K,a,b)   pairs of atoms of a and b that are near, all K
//!   o o o o o                   C(a,i)     the nearest pairs of an atom and an orbital
//!   o o o o o                   P(b,m)     the nearest pairs, most of them
//!   …                           L(K,i)     neighbours
//! ```
//!
//! An atom has a tile of each index: so many auxiliary functions `K`, atomic orbitals `a`, `b`,
//! `m`, and one orbital `i`. Two atoms have a tile of a tensor or not; pairs at equal distances
//! are chosen by a hash. Atoms are numbered at random, as in the published data.
//!
//! | size   | `K`, `a`, `i`  | entries of I | of C  | of P    | of L  |
//! |--------|----------------|--------------|-------|---------|-------|
//! | small  | 175, 75, 25    | 511,875      | 843   | 5,625   | 735   |
//! | medium | 700, 300, 100  | 21,470,400   | 7,032 | 89,820  | 3,220 |
//! | large  | 900, 500, 100  | 61,200,000   | 9,800 | 232,075 | 4,140 |
//!
//! Source of the counts: the artifact of Raje et al., "CoNST", 2024,
//! <https://arxiv.org/abs/2401.04836>; its I of the small size has 511,075 entries.

use sparsec::internals::Inputs;
use sparsec::{Array, Entries, Format, PackOptions, Result, Tensor};

use super::Scale;
use super::cases::{Case, Form, Listed};

/// The size of a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Molecule {
    /// Its name in reports.
    pub(crate) name: &'static str,
    /// Atoms on a side of the lattice.
    side: u64,
    /// Atomic orbitals of an atom.
    orbitals: u64,
    /// Auxiliary functions of an atom.
    auxiliary: u64,
    /// The largest squared distance of atoms with a tile of `I`.
    reach: u64,
    /// Tiles of `C` and of `P`.
    tiles: [usize; 2],
}

impl Molecule {
    pub(crate) const TINY: Self = Self {
        name: "tiny",
        side: 2,
        orbitals: 3,
        auxiliary: 4,
        reach: 1,
        tiles: [9, 14],
    };
    pub(crate) const SMALL: Self = Self {
        name: "small",
        side: 5,
        auxiliary: 7,
        reach: 5,
        tiles: [281, 625],
        ..Self::TINY
    };
    pub(crate) const MEDIUM: Self = Self {
        name: "medium",
        side: 10,
        reach: 16,
        tiles: [2344, 9980],
        ..Self::SMALL
    };
    pub(crate) const LARGE: Self = Self {
        name: "large",
        orbitals: 5,
        auxiliary: 9,
        reach: 10,
        tiles: [1960, 9283],
        ..Self::MEDIUM
    };
    /// Every size.
    pub(crate) const ALL: [Self; 4] = [Self::TINY, Self::SMALL, Self::MEDIUM, Self::LARGE];

    /// The usual one of a scale.
    pub(crate) fn of(scale: Scale) -> Self {
        match scale {
            Scale::Tiny => Self::TINY,
            Scale::Small => Self::SMALL,
            Scale::Full => Self::MEDIUM,
        }
    }

    /// Whether ratios to forms by hand have bars.
    pub(super) fn is_large(self) -> bool {
        [Self::MEDIUM, Self::LARGE].contains(&self)
    }

    /// How many matrices of the result one nest computes, if not all.
    fn slice(self) -> Option<u64> {
        self.is_large().then_some(self.n_matrices() / 50)
    }

    /// How many orbitals, and how many atomic orbitals.
    pub(super) fn n_orbitals(self) -> [u64; 2] {
        [self.n_atoms(), self.n_atoms() * self.orbitals]
    }

    fn n_atoms(self) -> u64 {
        self.side * self.side
    }

    /// How many matrices `I` has, one for each auxiliary function.
    pub(crate) fn n_matrices(self) -> u64 {
        self.n_atoms() * self.auxiliary
    }

    /// Pairs of atoms, the nearest first; those at equal distances by a hash.
    fn pairs(self) -> Vec<(u64, [u64; 2])> {
        let n = self.n_atoms();
        let numbers = numbered(n);
        let mut pairs = Vec::new();
        for a in 0..n {
            for b in 0..n {
                let apart = |from: u64, to: u64| from.abs_diff(to).pow(2);
                let distance =
                    apart(a % self.side, b % self.side) + apart(a / self.side, b / self.side);
                pairs.push((distance, [numbers[a as usize], numbers[b as usize]]));
            }
        }
        pairs.sort_by_key(|(distance, [a, b])| (*distance, mixed(a * n + b)));
        pairs
    }

    /// `I`, `C` stored as told, `P`, and `L` for the restricted integrals.
    ///
    /// # Errors
    /// Those of packing.
    pub(crate) fn operands(self, c_format: &Format) -> Result<Inputs> {
        let pairs = self.pairs();
        let near = |reach: u64| pairs.iter().filter(move |(distance, _)| *distance <= reach);
        let (n, wide) = (self.n_atoms(), self.n_atoms() * self.orbitals);
        let csr = Format::csr();
        let mut i = List::new(&[self.n_matrices(), wide, wide]);
        for (_, [a, b]) in near(self.reach) {
            i.tile(
                [0, a * self.orbitals, b * self.orbitals],
                [self.n_matrices(), self.orbitals, self.orbitals],
            );
        }
        let mut c = List::new(&[wide, n]);
        for (_, [a, i]) in &pairs[..self.tiles[0]] {
            c.tile([a * self.orbitals, *i], [self.orbitals, 1]);
        }
        let mut p = List::new(&[wide, wide]);
        for (_, [b, m]) in &pairs[..self.tiles[1]] {
            p.tile([b * self.orbitals, m * self.orbitals], [self.orbitals; 2]);
        }
        let mut l = List::new(&[self.n_matrices(), n]);
        for (_, [k, i]) in near(1) {
            l.tile([k * self.auxiliary, *i], [self.auxiliary, 1]);
        }
        Ok(Inputs::from([
            ("I".to_owned(), i.packed(&Format::csf(3))?),
            ("C".to_owned(), c.packed(c_format)?),
            ("P".to_owned(), p.packed(&csr)?),
            ("L".to_owned(), l.packed(&csr)?),
        ]))
    }
}

/// The integrals of molecules of every size.
pub(super) fn listed(scale: Scale) -> Vec<Listed<'static>> {
    let usual = Molecule::of(scale);
    let both = [("integrals", false), ("restricted", true)];
    both.into_iter()
        .flat_map(|(group, is_restricted)| {
            Molecule::ALL.map(|molecule| Listed {
                name: format!("{group}/{}", molecule.name),
                is_usual: molecule == usual,
                case: Box::new(move || match is_restricted {
                    false => all(molecule),
                    true => restricted(molecule),
                }),
            })
        })
        .collect()
}

fn text(is_restricted: bool) -> String {
    let product = include_str!("../../kernels/product.c");
    let text = include_str!("../../kernels/integrals.c");
    format!(
        "{product}\n#define RESTRICTED {}\n{text}",
        u8::from(is_restricted)
    )
}

fn all(molecule: Molecule) -> Result<Case> {
    let mut inputs = molecule.operands(&Format::csr())?;
    inputs.remove("L");
    let bar = |bar: f64| molecule.is_large().then_some(bar);
    let mut forms = vec![
        Form::new("one nest", "nary")
            .barred(bar(1000.0))
            .slice(molecule.slice()),
        Form::new("merges", "merges").barred(bar(40.0)),
        Form::new("by rows", "gustavson").barred(bar(5.0)),
        Form::new("fused", "fused").barred(bar(3.0)),
        Form::new("fused, P dense", "fused_dense"),
        Form::new("fused, blocks", "blocked"),
    ];
    if has_library() {
        forms.push(Form::new("fused, dgemm", "library"));
    }
    Ok(Case {
        name: format!("integrals/{}", molecule.name),
        expression: "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)".to_owned(),
        format: "dense",
        arguments: None,
        blocks: None,
        order: "reorder(K, a, b, i, m)".to_owned(),
        inputs,
        by_hand: text(false),
        is_beside_parts: false,
        forms,
        bar: bar(0.9).unwrap_or(0.0),
    })
}

fn restricted(molecule: Molecule) -> Result<Case> {
    let bar = |bar: f64| molecule.is_large().then_some(bar);
    Ok(Case {
        name: format!("restricted/{}", molecule.name),
        expression: "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)".to_owned(),
        format: "(K, i, m) -> (K : dense, i : compressed, m : dense), pos = 32, crd = 32",
        arguments: None,
        blocks: None,
        order: "reorder(K, i, a, b, m)".to_owned(),
        inputs: molecule.operands(&Format::csc())?,
        by_hand: text(true),
        is_beside_parts: false,
        forms: vec![
            Form::new("one nest", "nary").slice(molecule.slice()),
            Form::new("fused", "fused").barred(bar(2.0)),
            Form::new("fused, P dense", "fused_dense"),
        ],
        bar: bar(0.9).unwrap_or(0.0),
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

/// A number that follows from another one, the same everywhere.
pub(crate) fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// The numbers below `n` in some order.
fn numbered(n: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..n).collect();
    numbers.sort_by_key(|number| mixed(number + 1));
    numbers
}

/// Entries in any order.
struct List {
    extents: Vec<u64>,
    coords: Vec<u32>,
    values: Vec<f64>,
}

impl List {
    fn new(extents: &[u64]) -> Self {
        Self {
            extents: extents.to_vec(),
            coords: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Every place of a tile.
    fn tile<const N: usize>(&mut self, from: [u64; N], sizes: [u64; N]) {
        let n: u64 = sizes.iter().product();
        for place in 0..n {
            let mut rest = place;
            let start = self.coords.len();
            for (from, size) in from.iter().zip(sizes).rev() {
                self.coords.push((from + rest % size) as u32);
                rest /= size;
            }
            self.coords[start..].reverse();
            let value = mixed(self.values.len() as u64 + 1) >> 11;
            self.values.push(value as f64 / (1u64 << 53) as f64);
        }
    }

    fn packed(self, format: &Format) -> Result<Tensor> {
        let entries = Entries {
            extents: self.extents,
            coords: sparsec::Coords::narrow(self.coords),
            values: Array::from_vec(self.values),
        };
        Tensor::pack_entries(format, entries, PackOptions::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_benchmark() {
        let small = Molecule::SMALL.operands(&Format::csr()).expect("packs");
        let counts = ["I", "C", "P", "L"].map(|name| small[name].n_stored());
        assert_eq!(counts, [511_875, 843, 5_625, 735]);
        // Tiles of the larger ones, which take longer to pack.
        for (molecule, tiles, neighbours) in
            [(Molecule::MEDIUM, 3408, 460), (Molecule::LARGE, 2720, 460)]
        {
            let pairs = molecule.pairs();
            let near = |reach: u64| pairs.iter().filter(|(d, _)| *d <= reach).count();
            assert_eq!((near(molecule.reach), near(1)), (tiles, neighbours));
        }
    }
}
