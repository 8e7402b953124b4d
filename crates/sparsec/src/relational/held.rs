//! Whether a tensor in a relation holds what it was made from.
//!
//! A derived conversion to a relation whose certificate has lines that are not proved might lose
//! entries. So a tensor is read back unless a certificate proves that it holds all of them:
//!
//! ```text
//! large, and all is proved      held by proof
//! else                          read back, and compared with the entries of the source
//! ```

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_relation::{Image, Mirror};
use sparsec_tensor::{Array, Coords, Entries, Format, PackOptions, RelationTensor, Stored, Tensor};

/// A tensor in a relation that a derived conversion made.
pub(super) struct Derived {
    pub(super) tensor: RelationTensor,
    /// Whether a certificate proves the conversion for all tensors.
    pub(super) is_proved: bool,
}

/// The tensor, if it holds the entries that it was made from: by proof, or as they are read back.
pub(super) fn holds_all(
    made: Derived,
    entries: impl FnOnce() -> Result<Entries>,
) -> Result<RelationTensor> {
    let tensor = made.tensor;
    if !made.is_proved {
        let fill = tensor.fill();
        let entries = [entries()?, tensor.entries()?];
        let entries = entries.map(|entries| without(entries, |value| value == fill));
        let [wanted, found] = entries.map(|entries| in_order(entries?, tensor.order()));
        if !are_same(&wanted?, &found?) {
            let name = tensor.format().name();
            let message = format!("nothing says how `{name}` holds all entries of this tensor");
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .note("entries that the derived conversion stored were not read back"));
        }
    }
    Ok(tensor)
}

/// Entries as a sorted list, added up where coordinates are equal.
pub(super) fn in_order(entries: Entries, order: usize) -> Result<Tensor> {
    Tensor::pack_entries(&Format::scoo(order), entries, PackOptions::default())
}

/// Whether two sorted lists have the same entries, bit for bit.
pub(super) fn are_same(a: &Tensor, b: &Tensor) -> bool {
    let mut arrays = a.arrays().iter().zip(b.arrays());
    arrays.all(|(a, b)| a.as_bytes() == b.as_bytes())
}

/// The coordinates of the first entry that is in one list alone, or has another value there.
pub(super) fn first_other(a: &Tensor, b: &Tensor) -> Vec<u64> {
    let (mut a, mut b) = (a.iter(), b.iter());
    loop {
        // As texts, since a NaN is the same as another one here.
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a.0 == b.0 && a.1.to_string() == b.1.to_string() => {}
            (Some(a), Some(b)) => return a.0.min(b.0),
            (Some(one), None) | (None, Some(one)) => return one.0,
            (None, None) => return Vec::new(),
        }
    }
}

/// The first entry that differs from its mirror image, as packing into a triangle names it, which is
/// to be stored in a format.
pub(super) fn unmirrored(tensor: &Stored, mirror: Mirror, format: &str) -> Option<Diagnostic> {
    let tensor = tensor.as_levels().ok()?;
    let names: Vec<String> = (0..tensor.order()).map(|mode| format!("i{mode}")).collect();
    let levels: Vec<String> = names
        .iter()
        .map(|name| format!("{name} : compressed"))
        .collect();
    let [a, b] = mirror.modes;
    let word = match mirror.image {
        Image::Same => "symmetric",
        Image::Negative => "skew",
        Image::Conjugate => "hermitian",
    };
    let (modes, levels) = (names.join(", "), levels.join(", "));
    let triangle = format!("({modes}) -> ({levels}), {word}(i{a}, i{b})");
    let triangle: Format = triangle.parse().expect("it is well formed");
    let error = tensor.convert(&triangle).err()?;
    let own = Diagnostic::new(error.code(), error.message());
    Some(
        own.note(format!("`{format}` says `mirror`")).help(
            "convert to a format that stores all entries, without `mirror` in its description",
        ),
    )
}

/// The entries but for those of some values.
pub(super) fn without(entries: Entries, is_left_out: impl Fn(Scalar) -> bool) -> Result<Entries> {
    let all = 0..entries.len();
    let kept: Vec<usize> = all
        .filter(|e| !is_left_out(entries.values.get(*e)))
        .collect();
    match kept.len() == entries.len() {
        true => Ok(entries),
        false => only(&entries, kept),
    }
}

/// The entries with these numbers.
pub(super) fn only(
    entries: &Entries,
    kept: impl IntoIterator<Item = usize, IntoIter: ExactSizeIterator>,
) -> Result<Entries> {
    let kept = kept.into_iter();
    let mut values = Array::zeroed(entries.element(), kept.len())?;
    let mut coords: Vec<u64> = Vec::new();
    for (to, from) in kept.enumerate() {
        values.set(to, entries.values.get(from));
        coords.extend(entries.coords(from).iter());
    }
    Ok(Entries {
        extents: entries.extents.clone(),
        coords: Coords::from(coords),
        values,
    })
}
