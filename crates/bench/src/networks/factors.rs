//! A sparse tensor times a dense matrix for each mode but one: the kernels of decompositions.
//!
//! ```text
//! mttkrp    M(i0,r)     = T(i0,i1,i2) * F1(i1,r)  * F2(i2,r)
//! ttmc50    Y(i0,r1,r2) = T(i0,i1,i2) * F1(i1,r1) * F2(i2,r2)
//! ```
//!
//! Generated tensors stand in for published ones with as many entries a fiber: 1 (vast), 4
//! (flickr), 8 (nell-1) and 230 (nell-2). Tensors of files have order 3 or 4. Ranks are 50, 16
//! and 50, as in the benchmark of CoNST. Networks whose result would take more than
//! [`MOST_BYTES`] are left out.
//!
//! Source: Raje et al., "CoNST", 2024, <https://arxiv.org/abs/2401.04836>, table 2.

use sparsec::internals::Inputs;
use sparsec::{Format, Result, Tensor};

use super::Scale;
use super::cases::{Case, Form, Listed};
use super::integrals::mixed;
use crate::case::made;
use crate::data::Given;

/// How the columns of matrices are multiplied, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Product {
    name: &'static str,
    /// Whether each column is multiplied with each, and not with that of the same number.
    is_outer: bool,
    rank: u64,
    /// The extents of modes 0 and 1 of generated tensors are at most these.
    extents: [u64; 2],
    /// Entries of generated tensors are spread over so many times the entries of a fiber.
    spread: u64,
    /// Entries of generated tensors, by scale.
    n_stored: [u64; 3],
}

const PRODUCTS: [Product; 3] = [
    Product {
        name: "mttkrp",
        is_outer: false,
        rank: 50,
        extents: [u64::MAX; 2],
        spread: 120,
        n_stored: [600, 400_000, 4_000_000],
    },
    TTMC,
    Product {
        name: "ttmc50",
        rank: 50,
        ..TTMC
    },
];

/// Rows of results are long, so there are fewer of them.
const TTMC: Product = Product {
    name: "ttmc16",
    is_outer: true,
    rank: 16,
    extents: [8000, 5000],
    spread: 12,
    n_stored: [600, 100_000, 1_000_000],
};

/// Entries of a fiber in generated tensors.
const FIBERS: [u64; 4] = [1, 4, 8, 230];

/// How large results may be.
const MOST_BYTES: u64 = 1 << 30;

/// The products of generated tensors, or of those of files, in every mode.
pub(super) fn listed(scale: Scale, given: &[Given]) -> Vec<Listed<'_>> {
    let mut listed = Vec::new();
    for mut product in PRODUCTS {
        if scale == Scale::Tiny {
            product.rank = 5;
        }
        if given.is_empty() {
            for (fiber, mode) in FIBERS
                .into_iter()
                .flat_map(|it| (0..3).map(move |m| (it, m)))
            {
                let name = format!("{}/{fiber}/{mode}", product.name);
                listed.push(Listed {
                    name: name.clone(),
                    is_usual: true,
                    case: Box::new(move || {
                        let tensor = product.generated(fiber, product.n_stored[scale as usize])?;
                        product.case(&name, tensor, mode)
                    }),
                });
            }
        }
        for given in given {
            let tensor = given.tensor();
            let fits = |mode: &usize| product.bytes(tensor, *mode) <= MOST_BYTES;
            let modes = (0..tensor.order()).filter(|_| [3, 4].contains(&tensor.order()));
            for mode in modes.filter(fits) {
                let name = format!("{}/{}/{mode}", product.name, given.name());
                listed.push(Listed {
                    name: name.clone(),
                    is_usual: true,
                    case: Box::new(move || product.case(&name, tensor.clone(), mode)),
                });
            }
        }
    }
    listed
}

impl Product {
    /// A tensor with fibers of so many entries at random places.
    fn generated(self, fiber: u64, n_stored: u64) -> Result<Tensor> {
        let n_fibers = (n_stored / fiber).max(1);
        let rows = (n_fibers / 12).clamp(3, self.extents[0]);
        let columns = (n_fibers / 20).clamp(5, self.extents[1]);
        let depth = (fiber * self.spread).max(2000);
        let apart = depth / fiber - 1;
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for n in 0..n_fibers {
            let (i, j) = (mixed(2 * n + 1) % rows, mixed(2 * n + 2) % columns);
            let from = mixed(n + 7) % depth;
            for entry in 0..fiber {
                coords.extend([i, j, (from + entry * apart) % depth]);
                values.push(1.0 + (mixed(entry + n) % 8) as f64);
            }
        }
        Tensor::pack(&Format::csf(3), &[rows, columns, depth], &coords, &values)
    }

    /// How large the result for a mode is.
    fn bytes(self, tensor: &Tensor, mode: usize) -> u64 {
        let columns = match self.is_outer {
            true => self.rank.pow(tensor.order() as u32 - 1),
            false => self.rank,
        };
        8 * columns * tensor.extents()[mode]
    }

    fn case(self, name: &str, tensor: Tensor, mode: usize) -> Result<Case> {
        let order = tensor.order();
        let others: Vec<usize> = (0..order).filter(|other| *other != mode).collect();
        let column = |other: usize| match self.is_outer {
            true => format!("r{other}"),
            false => "r".to_owned(),
        };
        let mut columns: Vec<String> = others.iter().map(|other| column(*other)).collect();
        let factors = others.iter().zip(&columns);
        let factors: Vec<String> = factors
            .map(|(other, column)| format!("F{other}(i{other},{column})"))
            .collect();
        columns.dedup();
        let modes: Vec<String> = (0..order).map(|mode| format!("i{mode}")).collect();
        let (columns, modes) = (columns.join(","), modes.join(","));
        let mut inputs = Inputs::new();
        for other in others {
            let spec = format!("dense:uniform(seed={})", other + 1);
            let matrix = made(
                &spec,
                &[tensor.extents()[other], self.rank],
                &Format::dense(2),
            )?;
            inputs.insert(format!("F{other}"), matrix);
        }
        inputs.insert("T".to_owned(), tensor);
        let text = include_str!("../../kernels/fibers.c");
        let outer = u8::from(self.is_outer);
        Ok(Case {
            name: name.to_owned(),
            expression: format!(
                "M(i{mode},{columns}) = T({modes}) * {}",
                factors.join(" * ")
            ),
            format: "dense",
            arguments: None,
            blocks: None,
            order: format!("reorder({modes},{columns})"),
            inputs,
            by_hand: format!(
                "#define ORDER {order}\n#define MODE {mode}\n#define OUTER {outer}\n{text}"
            ),
            is_beside_parts: false,
            forms: vec![
                Form::new("one nest", "nest"),
                Form::new("factored", "factored"),
            ],
            bar: 0.95,
        })
    }
}
