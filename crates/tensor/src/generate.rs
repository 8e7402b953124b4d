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
mod pattern;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, code};
use sparsec_format::Format;

use call::Call;
use pattern::Pattern;

use crate::array::{Array, Element};
use crate::check::shape;
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::random::Random;
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
    generate_with(spec, extents, format, element, PackOptions::default())
}

/// As [`generate`], packed as `options` say.
///
/// # Errors
/// Those of [`generate`].
pub fn generate_with(
    spec: &Source,
    extents: &[u64],
    format: Option<&Format>,
    element: ElementType,
    options: PackOptions,
) -> Result<Tensor> {
    let mut call = Call::parse(spec)?;
    let pattern = Pattern::of(&mut call, extents)?;
    let order = extents.len();
    let n = pattern.n_entries(extents);
    let n = usize::try_from(n).map_err(|_| {
        let fault = "a tensor with too many entries to count";
        let fault = Diagnostic::new(code::TENSOR_TOO_LARGE, fault);
        too_many(
            fault.help("make fewer, as `random(nnz=1000)` does"),
            extents,
        )
    })?;
    if let Pattern::All = pattern {
        let array = dense_values(&mut call, n, element);
        let array = array.map_err(|fault| too_many(fault, extents))?;
        call.finish()?;
        let dense = Format::dense(order);
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
    let values = match pattern {
        Pattern::Diagonal => Values::Ones,
        _ => call.values(element)?,
    };
    let mut random = Random::new(call.seed()?);
    call.finish()?;
    let coords = pattern.coords(&mut random, extents, n);
    let coords = coords.map_err(|fault| too_many(fault, extents))?;
    let array = Array::zeroed(element, n);
    let mut array = array.map_err(|fault| too_many(fault, extents))?;
    values.draw(&mut random, &mut array);
    let entries = Entries {
        extents: extents.to_vec(),
        coords: coords.into(),
        values: array,
    };
    let natural = match order {
        2 => Format::csr(),
        _ => Format::csf(order),
    };
    Tensor::pack_entries(format.unwrap_or(&natural), entries, options)
}

/// How many entries [`generate`] makes of a spec, known before any is made.
///
/// # Errors
/// Those of the spec.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_tensor::generated_entries;
/// let spec = Source::new("-g", "band(width=3)");
/// assert_eq!(generated_entries(&spec, &[1 << 40, 1 << 40])?, (3 << 40) - 2);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn generated_entries(spec: &Source, extents: &[u64]) -> Result<u128> {
    let mut call = Call::parse(spec)?;
    Ok(Pattern::of(&mut call, extents)?.n_entries(extents))
}

/// A fault, which says of what size the tensor is if it is too large.
fn too_many(fault: Diagnostic, extents: &[u64]) -> Diagnostic {
    if fault.code() != code::TENSOR_TOO_LARGE {
        return fault;
    }
    fault.note(format!("the tensor has extents {}", shape(extents)))
}

fn dense_values(call: &mut Call, n: usize, element: ElementType) -> Result<Array> {
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
