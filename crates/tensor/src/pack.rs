//! Packing: entries in any order to the arrays of a format.
//!
//! Three steps, each in a file of its own:
//!
//! ```text
//! entries ──► sort: storage order, duplicates combined ──► build: the arrays of each level
//!                          └── tuples: what both know of coordinates ──┘
//! ```
//!
//! Formats whose positions are not their entries are packed in `irregular/build.rs`.

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::{Curve, Format, LevelKind};
use sparsec_parallel::MemoryLimit;

use crate::alloc::ask;
use crate::array::Array;
use crate::build::build;
use crate::check::{check_extents, sized};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::irregular;
use crate::sort::{sort, sort_along};
use crate::tensor::Tensor;

/// How entries are packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    /// The value of entries that are not stored; if not given, what the format
    /// declares, else zero.
    pub fill: Option<Scalar>,
    /// What becomes of entries at equal coordinates.
    pub duplicates: Duplicates,
    /// How many bytes an array of the tensor may take: formats that store more than the
    /// entries may take far more than these. If nothing is said, 16 times the bytes of the
    /// entries, one GiB in any case, and no more than the system has left.
    pub memory: MemoryLimit,
}

impl Tensor {
    /// Builds a tensor of `f64` in `format` from entries given in any order.
    ///
    /// Entries at equal coordinates are added; a sum of zero stays stored.
    ///
    /// * `extents`: `N` extents, one a mode, where `N` is the order.
    /// * `coords`: `M * N` coordinates counted from 0; entry `e` begins at `e * N`.
    /// * `values`: `M` values.
    ///
    /// Time `O(N M)` for each eight bits that a tuple of coordinates has, plus
    /// the size of the result; about five words an entry of scratch.
    ///
    /// # Errors
    /// * `E0402` where the three lists disagree with the order;
    /// * `E0401` for the first entry and mode outside its extent;
    /// * `E0406` for an index width that is too narrow for the data;
    /// * `E0134` to `E0136` for entries that the format cannot store;
    /// * `E0407` where an array takes more memory than there is, or far more than the entries
    ///   ([`PackOptions::memory`]).
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[4, 5], &[2, 4, 0, 1, 2, 0], &[5.0, 2.0, 3.0])?;
    /// assert_eq!(a.level(1).pos(), [0, 1, 1, 3, 3]);
    /// assert_eq!(a.level(1).crd(), [1, 0, 4]);
    /// assert_eq!(a.values::<f64>(), Some(&[2.0, 3.0, 5.0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// Source: Chou et al., OOPSLA 2018, <https://doi.org/10.1145/3276493>.
    pub fn pack(format: &Format, extents: &[u64], coords: &[u64], values: &[f64]) -> Result<Self> {
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.to_vec().into(),
            values: Array::from_vec(values.to_vec()),
        };
        Self::pack_entries(format, entries, PackOptions::default())
    }

    /// Builds a tensor in `format` from entries of any type; see [`Tensor::pack`].
    ///
    /// # Errors
    /// As [`Tensor::pack`], `E0407` also where an array takes more than
    /// [`PackOptions::memory`]; `E0403` for a fill of another type than the
    /// values, `E0408` for a duplicate where [`Duplicates::Refuse`] is asked for.
    pub fn pack_entries(format: &Format, entries: Entries, options: PackOptions) -> Result<Self> {
        check_extents(format, &entries.extents)?;
        let options = PackOptions {
            memory: options.memory.growing_from(entries.bytes()),
            ..options
        };
        let element = entries.element();
        let fill = match (options.fill, format.fill()) {
            (Some(fill), _) => fill,
            (None, Some(declared)) => fill_of_type(declared, element)?,
            (None, None) => element.zero(),
        };
        if fill.element() != element {
            return Err(Diagnostic::new(
                code::ARRAY_MISMATCH,
                format!(
                    "the fill `{fill}` is {}, the values are {element}",
                    fill.element()
                ),
            ));
        }
        options.duplicates.check(element)?;
        let extents = entries.extents.clone();
        check_full(format, &extents, element, options.memory)?;
        if !format.is_regular() {
            return irregular::build::build(format, entries, options, fill);
        }
        if let Some(curve) = Curve::new(format, &extents)? {
            let sorted = sort_along(&curve, entries, options.duplicates)?;
            return build(format, &extents, sorted, options.memory, fill);
        }
        let sorted = sort(entries, &format.level_order(), options.duplicates)?;
        build(format, &extents, sorted, options.memory, fill)
    }
}

/// Refuses values beyond a limit where extents alone say how many there are, before entries are
/// sorted.
fn check_full(
    format: &Format,
    extents: &[u64],
    element: ElementType,
    memory: MemoryLimit,
) -> Result<()> {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    for part in format.parts() {
        let levels = part.level_extents(&known).into_iter();
        let mut levels = levels.zip(part.levels()).map(|(extent, level)| {
            let is_full = matches!(
                level.kind,
                LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap
            );
            extent.filter(|_| is_full)
        });
        let bytes = levels.try_fold(element.size() as u64, |bytes, extent| {
            Some(bytes.saturating_mul(extent?))
        });
        // Others are counted level by level.
        if let Some(bytes) = bytes.filter(|bytes| *bytes < u64::MAX) {
            ask(memory, bytes).map_err(|fault| sized(fault, format, extents))?;
        }
    }
    Ok(())
}

/// The fill that a format declares, as one of the values.
fn fill_of_type(declared: f64, element: ElementType) -> Result<Scalar> {
    Scalar::F64(declared).as_type(element).ok_or_else(|| {
        let message = format!("the format says `fill {declared}`, which no {element} is");
        Diagnostic::new(code::ARRAY_MISMATCH, message)
            .help("give the values a type that has it, such as `f64`, or another fill")
    })
}
