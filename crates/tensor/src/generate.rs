//! Tensors from a line of text, the same on every machine.
//!
//! | spec                                             | fills                                |
//! |--------------------------------------------------|--------------------------------------|
//! | `dense:zeros` `dense:ones` `dense:constant(2.5)` | every entry with one value           |
//! | `dense:iota`                                     | entries 0, 1, 2, … row by row        |
//! | `dense:uniform(seed=7, values=V)`                | every entry with a random value      |
//! | `random(density=0.01, seed=1, values=V)`         | that part of all entries             |
//! | `random(nnz=1000, seed=1, values=V)`             | that many entries                    |
//! | `band(width=5, seed=1, values=V)`                | that many diagonals of a matrix      |
//! | `identity`                                       | ones where all coordinates are equal |
//!
//! `V` is `uniform` (in `0..1`, the default for floats), `int` (integers from
//! -4 to 4 but not 0, the default for the other types; sums of their products
//! are exact), or `ones`. A seed that is not given is 1. Random values are drawn
//! in lexicographic order of coordinates, so the format makes no difference.
//!
//! Without a format the `dense:` generators give a dense tensor, the others a
//! `csr` matrix, or `csf` in mode order.

mod call;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, code};
use sparsec_format::Format;

use call::Call;

use crate::array::{Array, Element};
use crate::check::shape;
use crate::coords::Coords;
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::random::Random;
use crate::sort::sort;
use crate::tensor::Tensor;
use crate::with_element;

/// The tensor that a spec describes; see the [module](self).
///
/// Takes time and memory for the entries that it makes: all of them for the
/// `dense:` specs, the stored ones for the others.
///
/// # Errors
/// * `E0101` to `E0103` for text that is no spec;
/// * `E0409` for a generator that there is not, `E0410` for an argument that it
///   cannot use;
/// * those of [`Tensor::pack`] for a format that does not fit.
///
/// ```
/// use sparsec_base::{ElementType, Source};
/// use sparsec_tensor::generate;
/// let spec = Source::new("-g", "band(width=3, values=ones)");
/// let a = generate(&spec, &[4, 4], None, ElementType::F64)?;
/// assert_eq!(a.level(1).pos(), [0, 2, 5, 8, 10]);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn generate(
    spec: &Source,
    extents: &[u64],
    format: Option<&Format>,
    element: ElementType,
) -> Result<Tensor> {
    let mut call = Call::parse(spec)?;
    let order = extents.len();
    if call.name.starts_with("dense:") {
        let dense = Format::dense(order);
        let array = dense_values(&mut call, extents, element);
        let array = array.map_err(|fault| too_many(fault, extents))?;
        call.finish()?;
        let tensor = Tensor::new(
            dense.clone(),
            extents.to_vec(),
            element,
            element.zero(),
            vec![array],
        )?;
        return match format {
            Some(format) if !format.stores_like(&dense) => tensor.convert(format),
            _ => Ok(tensor),
        };
    }
    let entries = match call.name.as_str() {
        "random" => random(&mut call, extents, element),
        "band" => band(&mut call, extents, element),
        _ => identity(extents, element),
    };
    let entries = entries.map_err(|fault| too_many(fault, extents))?;
    call.finish()?;
    let natural = match order {
        2 => Format::csr(),
        _ => Format::csf(order),
    };
    Tensor::pack_entries(format.unwrap_or(&natural), entries, PackOptions::default())
}

/// A fault, which says of what size the tensor is if it is too large.
fn too_many(fault: Diagnostic, extents: &[u64]) -> Diagnostic {
    if fault.code() != code::TENSOR_TOO_LARGE {
        return fault;
    }
    fault.note(format!("the tensor has extents {}", shape(extents)))
}

fn dense_values(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Array> {
    let too_large = || {
        Diagnostic::new(
            code::TENSOR_TOO_LARGE,
            "a dense tensor with too many entries to count",
        )
        .help("use `random`, which stores only some of them")
    };
    let n = extents
        .iter()
        .try_fold(1usize, |n, &extent| {
            n.checked_mul(usize::try_from(extent).ok()?)
        })
        .ok_or_else(too_large)?;
    match call.name.as_str() {
        "dense:zeros" => Array::zeroed(element, n),
        "dense:ones" => Array::filled(element.one(), n),
        "dense:constant" => Array::filled(call.constant(element)?, n),
        "dense:iota" => {
            let mut array = Array::zeroed(element, n)?;
            with_element!(element, T => {
                for (i, entry) in array.slice_mut::<T>().iter_mut().enumerate() {
                    *entry = of_integer(element, i as i64);
                }
            });
            Ok(array)
        }
        _ => {
            let values = call.values(element)?;
            let mut random = Random::new(call.seed()?);
            let mut array = Array::zeroed(element, n)?;
            values.draw(&mut random, &mut array);
            Ok(array)
        }
    }
}

fn of_integer<T: Element>(element: ElementType, value: i64) -> T {
    T::from_scalar(Scalar::from_i64(element, value)).unwrap_or(T::ZERO)
}

fn random(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Entries> {
    let all = extents
        .iter()
        .try_fold(1u128, |n, &extent| n.checked_mul(u128::from(extent)))
        .unwrap_or(u128::MAX);
    let n = call.stored(all)?;
    let values = call.values(element)?;
    let mut random = Random::new(call.seed()?);
    let coords = distinct_coords(&mut random, extents, all, n)?;
    let mut array = Array::zeroed(element, n)?;
    values.draw(&mut random, &mut array);
    Ok(Entries {
        extents: extents.to_vec(),
        coords: coords.into(),
        values: array,
    })
}

/// `n` distinct tuples of the `all` that there are, in lexicographic order.
fn distinct_coords(random: &mut Random, extents: &[u64], all: u128, n: usize) -> Result<Vec<u64>> {
    // Refuse what memory cannot hold before drawing anything.
    Array::zeroed(ElementType::I64, n.saturating_mul(extents.len().max(1)))?;
    if n as u128 * 3 < all {
        return by_rejection(random, extents, n);
    }
    let mut coords = Vec::with_capacity(n * extents.len());
    // So few that they can be counted: take each with the probability that
    // leaves `n` in the end.
    let mut wanted = n as u64;
    let all = all as u64;
    for number in 0..all {
        if random.below(all - number) < wanted {
            wanted -= 1;
            push_tuple(&mut coords, extents, number);
        }
    }
    Ok(coords)
}

/// Draws tuples until `n` are distinct.
fn by_rejection(random: &mut Random, extents: &[u64], n: usize) -> Result<Vec<u64>> {
    let modes: Vec<usize> = (0..extents.len()).collect();
    let mut coords = Vec::new();
    let mut found = 0;
    while found < n {
        for _ in found..n {
            coords.extend(extents.iter().map(|&extent| random.below(extent)));
        }
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.into(),
            values: Array::filled(Scalar::Bool(true), n)?,
        };
        let sorted = sort(entries, &modes, Duplicates::Add)?.into_entries(extents, &modes)?;
        found = sorted.len();
        coords = sorted.coords.wide().into_owned();
    }
    Ok(coords)
}

/// The coordinates of entry `number`, counted row by row.
fn push_tuple(coords: &mut Vec<u64>, extents: &[u64], number: u64) {
    let start = coords.len();
    let mut rest = number;
    for &extent in extents.iter().rev() {
        coords.push(rest % extent);
        rest /= extent;
    }
    coords[start..].reverse();
}

fn band(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Entries> {
    let &[rows, columns] = extents else {
        return Err(call.fault(
            call.name_span,
            format!("fills matrices, not tensors of order {}", extents.len()),
        ));
    };
    let width = call.width()?;
    let values = call.values(element)?;
    let mut random = Random::new(call.seed()?);
    let mut coords = Vec::new();
    for row in 0..rows {
        let first = row.saturating_sub(width / 2);
        let last = row.saturating_add((width - 1) / 2);
        for column in first..=last.min(columns.saturating_sub(1)) {
            if column < columns {
                coords.extend([row, column]);
            }
        }
    }
    let mut array = Array::zeroed(element, coords.len() / 2)?;
    values.draw(&mut random, &mut array);
    Ok(Entries {
        extents: extents.to_vec(),
        coords: coords.into(),
        values: array,
    })
}

fn identity(extents: &[u64], element: ElementType) -> Result<Entries> {
    let n = extents.iter().copied().min().unwrap_or(1);
    let values = Array::filled(element.one(), usize::try_from(n).unwrap_or(usize::MAX))?;
    let coords: Coords = (0..n)
        .flat_map(|c| extents.iter().map(move |_| c))
        .collect();
    Ok(Entries {
        extents: extents.to_vec(),
        coords,
        values,
    })
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    Uniform,
    Int,
    Ones,
}

impl Values {
    fn draw(self, random: &mut Random, array: &mut Array) {
        let element = array.element();
        with_element!(element, T => {
            for entry in array.slice_mut::<T>() {
                let value = match self {
                    Self::Uniform => Scalar::F64(random.unit()).cast(element),
                    // -4 to -1 and 1 to 4.
                    Self::Int => {
                        let n = random.below(8) as i64 - 4;
                        Some(Scalar::from_i64(element, n + i64::from(n >= 0)))
                    }
                    Self::Ones => Some(element.one()),
                };
                *entry = value.and_then(T::from_scalar).unwrap_or(T::ZERO);
            }
        });
    }
}
