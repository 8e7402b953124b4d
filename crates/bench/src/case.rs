//! The kernels that are measured.
//!
//! | kernel     | what                                   | by hand (`kernels/`)                  |
//! |------------|----------------------------------------|---------------------------------------|
//! | `spmv`     | `y = A x`                              | a dot product a row                   |
//! | `residual` | `y = b - A x`                          | the same                              |
//! | `spmm`     | `C = A B`, 64 columns                  | a multiple of a row of `B` an entry   |
//! | `sddmm`    | `A = B .* (C D')`, 128 inner           | a dot product an entry                |
//! | `mttkrp`   | mode 0, rank 32, compressed fibers     | four loops, accumulating in the result |
//! | `add`      | `C = A + B`                            | a merge that appends, room doubling   |
//! | `add3`     | `D = A + B + C`                        | the same of three                     |
//! | `spgemm`   | `C = A B`, all compressed rows         | Gustavson's, coordinates listed and sorted |
//! | `ttv`      | a tensor times a vector, last mode     | a dot product a fiber                 |
//! | `ttm`      | the same with a matrix of 16 columns   | a row a fiber                         |
//! | `inner`    | the inner product of two tensors       | merges that go deeper where they meet |
//! | `tensor_add` | the sum of two tensors               | merges at each level, room doubling   |
//!
//! Matrices are square and in compressed rows, with ten entries a row: `band`
//! has them around the diagonal, where caches and prefetchers work at their
//! best, `uniform` anywhere, where they do not. Everything is generated from
//! seeds, the same on every machine, unless a file is given ([`Data`]).
//!
//! Source of the algorithms: Saad, "Iterative Methods for Sparse Linear
//! Systems", 2nd ed., §3.4, <https://doi.org/10.1137/1.9780898718003>; Gustavson,
//! "Two Fast Algorithms for Sparse Matrices", TOMS 1978,
//! <https://doi.org/10.1145/355791.355796>; Smith et al., "SPLATT", IPDPS 2015,
//! <https://doi.org/10.1109/IPDPS.2015.27>.

use std::fmt;

use sparsec::internals::{Inputs, Request, generate};
use sparsec::{ElementType, Format, Result, Source, Tensor};

use crate::Size;
use crate::conversions::Scale;
use crate::data::Data;
use crate::io::IoSizes;
use crate::networks;

/// One kernel.
#[derive(Debug)]
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    /// What it computes; one statement.
    pub expression: &'static str,
    /// How tensors are stored, where not by default.
    pub formats: &'static [(&'static str, &'static str)],
    /// The same by hand: the C after the prelude of emitted kernels.
    pub by_hand: &'static str,
    /// The least ratio of the two times, by hand over ours, if there is one to keep.
    pub bar: Option<f64>,
    /// The same over C as TACO generates it, of which results are made anew.
    pub plain_bar: f64,
    /// The share of the speed of reading what it reads that is as good, if there is one.
    pub read_bar: Option<f64>,
    /// Sparse operands with a level whose coordinates lead to rows of a dense one.
    pub gathers: &'static [(&'static str, usize, &'static str)],
    /// Whether inner loops are dense, so that C makes vectors of them.
    pub is_dense: bool,
    /// Whether sparse operands are multiplied with one another, and so are square.
    pub is_chain: bool,
    /// The patterns of operands that it is measured with.
    pub patterns: &'static [Pattern],
    /// The operands.
    inputs: fn(&Data<'_>) -> Result<Inputs>,
}

/// Where the entries of sparse operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Ten diagonals.
    Band,
    /// Anywhere, with ten entries a row on average.
    Uniform,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Band => "band",
            Self::Uniform => "uniform",
        })
    }
}

/// The share of the speed of C by hand that kernels keep at least.
const BAR: f64 = 0.95;

/// Compressed rows with index arrays of 32 bits, as the C by hand has them.
const NARROW: &str = "csr, pos = 32, crd = 32";

const BOTH: &[Pattern] = &[Pattern::Band, Pattern::Uniform];

/// Every kernel.
pub const CASES: &[Case] = &[
    Case {
        name: "spmv",
        expression: "y(i) = A(i,j) * x(j)",
        formats: &[],
        by_hand: include_str!("../kernels/spmv.c"),
        bar: Some(BAR),
        plain_bar: 1.2,
        read_bar: Some(0.6),
        gathers: &[("A", 1, "x")],
        is_dense: false,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| {
            Ok(inputs([
                ("A", data.matrix(1)?),
                ("x", dense(&[data.columns()], 2)?),
            ]))
        },
    },
    Case {
        name: "residual",
        expression: "y(i) = b(i) - A(i,j) * x(j)",
        formats: &[],
        by_hand: include_str!("../kernels/residual.c"),
        bar: Some(BAR),
        plain_bar: 1.0,
        read_bar: None,
        gathers: &[("A", 1, "x")],
        is_dense: false,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| {
            Ok(inputs([
                ("A", data.matrix(1)?),
                ("b", dense(&[data.rows()], 2)?),
                ("x", dense(&[data.columns()], 3)?),
            ]))
        },
    },
    Case {
        name: "spmm",
        expression: "C(i,k) = A(i,j) * B(j,k)",
        formats: &[("C", "dense")],
        by_hand: include_str!("../kernels/spmm.c"),
        bar: Some(BAR),
        plain_bar: 1.5,
        read_bar: Some(0.6),
        gathers: &[("A", 1, "B")],
        is_dense: true,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| {
            Ok(inputs([
                ("A", data.matrix(1)?),
                ("B", dense(&[data.columns(), 64], 2)?),
            ]))
        },
    },
    Case {
        name: "sddmm",
        expression: "A(i,j) = B(i,j) * sum{k}(C(i,k) * D(j,k))",
        formats: &[("A", NARROW)],
        by_hand: include_str!("../kernels/sddmm.c"),
        bar: Some(BAR),
        plain_bar: 2.0,
        read_bar: None,
        gathers: &[("B", 1, "D")],
        is_dense: true,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| {
            Ok(inputs([
                ("B", data.matrix(1)?),
                ("C", dense(&[data.rows(), 128], 2)?),
                ("D", dense(&[data.columns(), 128], 3)?),
            ]))
        },
    },
    Case {
        name: "mttkrp",
        expression: "A(i,r) = B(i,j,k) * C(j,r) * D(k,r)",
        formats: &[("A", "dense")],
        by_hand: include_str!("../kernels/mttkrp.c"),
        bar: Some(BAR),
        plain_bar: 1.2,
        read_bar: None,
        gathers: &[("B", 1, "C"), ("B", 2, "D")],
        is_dense: true,
        is_chain: false,
        patterns: &[Pattern::Uniform],
        inputs: |data| {
            let [_, j, k] = data.extents();
            Ok(inputs([
                ("B", data.tensor(1)?),
                ("C", dense(&[j, 32], 2)?),
                ("D", dense(&[k, 32], 3)?),
            ]))
        },
    },
    Case {
        name: "add",
        expression: "C(i,j) = A(i,j) + B(i,j)",
        formats: &[("C", NARROW)],
        by_hand: include_str!("../kernels/add.c"),
        bar: Some(BAR),
        plain_bar: 2.5,
        read_bar: None,
        gathers: &[],
        is_dense: false,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| Ok(inputs([("A", data.matrix(1)?), ("B", data.matrix(2)?)])),
    },
    Case {
        name: "add3",
        expression: "D(i,j) = A(i,j) + B(i,j) + C(i,j)",
        formats: &[("D", NARROW)],
        by_hand: include_str!("../kernels/add3.c"),
        bar: Some(BAR),
        plain_bar: 2.5,
        read_bar: None,
        gathers: &[],
        is_dense: false,
        is_chain: false,
        patterns: BOTH,
        inputs: |data| {
            Ok(inputs([
                ("A", data.matrix(1)?),
                ("B", data.matrix(2)?),
                ("C", data.matrix(3)?),
            ]))
        },
    },
    Case {
        name: "spgemm",
        expression: "C(i,j) = A(i,k) * B(k,j)",
        formats: &[("C", NARROW)],
        by_hand: include_str!("../kernels/spgemm.c"),
        bar: None,
        plain_bar: 1.5,
        read_bar: None,
        gathers: &[],
        is_dense: false,
        is_chain: true,
        patterns: BOTH,
        inputs: |data| Ok(inputs([("A", data.factor(1)?), ("B", data.factor(2)?)])),
    },
    Case {
        name: "ttv",
        expression: "A(i,j) = B(i,j,k) * c(k)",
        formats: &[("A", "dcsr, pos = 32, crd = 32")],
        by_hand: include_str!("../kernels/ttv.c"),
        bar: Some(BAR),
        plain_bar: 1.0,
        read_bar: None,
        gathers: &[("B", 2, "c")],
        is_dense: false,
        is_chain: false,
        patterns: &[Pattern::Uniform],
        inputs: |data| {
            Ok(inputs([
                ("B", data.tensor(1)?),
                ("c", dense(&data.extents()[2..], 2)?),
            ]))
        },
    },
    Case {
        name: "ttm",
        expression: "A(i,j,l) = B(i,j,k) * C(k,l)",
        formats: &[(
            "A",
            "(i, j, l) -> (i : compressed, j : compressed, l : dense), pos = 32, crd = 32",
        )],
        by_hand: include_str!("../kernels/ttm.c"),
        bar: Some(BAR),
        plain_bar: 3.0,
        read_bar: None,
        gathers: &[("B", 2, "C")],
        is_dense: true,
        is_chain: false,
        patterns: &[Pattern::Uniform],
        inputs: |data| {
            Ok(inputs([
                ("B", data.tensor(1)?),
                ("C", dense(&[data.extents()[2], 16], 2)?),
            ]))
        },
    },
    Case {
        name: "inner",
        expression: "s = B(i,j,k) * C(i,j,k)",
        formats: &[],
        by_hand: include_str!("../kernels/inner.c"),
        bar: Some(BAR),
        plain_bar: 1.0,
        read_bar: None,
        gathers: &[],
        is_dense: false,
        is_chain: false,
        patterns: &[Pattern::Uniform],
        inputs: |data| Ok(inputs([("B", data.tensor(1)?), ("C", data.tensor(2)?)])),
    },
    Case {
        name: "tensor_add",
        expression: "A(i,j,k) = B(i,j,k) + C(i,j,k)",
        formats: &[("A", "csf, pos = 32, crd = 32")],
        by_hand: include_str!("../kernels/tensor_add.c"),
        bar: Some(BAR),
        plain_bar: 2.0,
        read_bar: None,
        gathers: &[],
        is_dense: false,
        is_chain: false,
        patterns: &[Pattern::Uniform],
        inputs: |data| Ok(inputs([("B", data.tensor(1)?), ("C", data.tensor(2)?)])),
    },
];

impl Case {
    /// The name with the pattern of the operands: `spmv/band`.
    pub fn full_name(&self, pattern: Pattern) -> String {
        format!("{}/{pattern}", self.name)
    }

    /// The order of its sparse operands: tensors of order 3 have no band.
    pub fn order(&self) -> usize {
        match self.patterns.contains(&Pattern::Band) {
            true => 2,
            false => 3,
        }
    }

    /// What to compile.
    ///
    /// # Errors
    /// None but for a case that is written wrong.
    pub fn request(&self) -> Result<Request> {
        let mut request = Request::new(Source::new(self.name, self.expression));
        for (name, format) in self.formats {
            request.set_format(name, format)?;
        }
        Ok(request)
    }

    /// The operands that are made of this.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn inputs(&self, data: &Data<'_>) -> Result<Inputs> {
        (self.inputs)(data)
    }
}

/// The sizes of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows and columns of matrices.
    pub rows: u64,
    /// Rows and columns of the matrices whose product is sparse.
    pub product_rows: u64,
    /// The extents of tensors of order 3.
    pub tensor_extents: [u64; 3],
    /// The stored entries of tensors of order 3.
    pub tensor_stored: u64,
    /// The bytes that the bandwidth of memory is measured with.
    pub bandwidth_bytes: usize,
    /// How large tensors are that are converted.
    pub conversions: Scale,
    /// Files and matrices of the `io` suite.
    pub io: IoSizes,
    /// How large products of several tensors are.
    pub networks: networks::Scale,
}

impl Size {
    /// What this size means for operands.
    pub fn sizes(self) -> Sizes {
        let small = Sizes {
            rows: 100_000,
            product_rows: 100_000,
            tensor_extents: [12_000, 9_000, 28_000],
            tensor_stored: 500_000,
            bandwidth_bytes: 64 << 20,
            conversions: Scale::Small,
            io: IoSizes {
                n: 100_000,
                file_entries: 600_000,
                triplets: 1_000_000,
            },
            networks: networks::Scale::Small,
        };
        match self {
            Self::Small => small,
            Self::Full => Sizes {
                rows: 1_000_000,
                tensor_stored: 5_000_000,
                bandwidth_bytes: 512 << 20,
                conversions: Scale::Full,
                io: IoSizes {
                    n: 1_000_000,
                    file_entries: 5_800_000,
                    triplets: 10_000_000,
                },
                networks: networks::Scale::Full,
                ..small
            },
        }
    }
}

fn inputs<const N: usize>(named: [(&str, Tensor); N]) -> Inputs {
    named
        .into_iter()
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .collect()
}

pub(crate) fn dense(extents: &[u64], seed: u64) -> Result<Tensor> {
    let spec = format!("dense:uniform(seed={seed})");
    made(&spec, extents, &Format::dense(extents.len()))
}

pub(crate) fn made(spec: &str, extents: &[u64], format: &Format) -> Result<Tensor> {
    let source = Source::new("generator", spec);
    generate(&source, extents, Some(format), ElementType::F64)
}
