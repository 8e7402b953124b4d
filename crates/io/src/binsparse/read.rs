//! The arrays of a container to a tensor.
//!
//! The levels say how long every array is, each from the ones above it, so that
//! an array which is too long or too short is found before anything is made of
//! it:
//!
//! ```text
//! CSR, 4x5     positions   arrays
//!                      1
//! dense                4
//! sparse               3   pointers_to_1: 4 + 1 entries, the last is 3;  indices_1: 3
//! element              3   values: 3, or 1 where they are `iso`
//! ```

use sparsec_base::{Diagnostic, ElementType, IndexWidth, Result, Scalar, code};
use sparsec_format::{Format, LevelKind, Role, Widths};
use sparsec_tensor::{Array, Duplicates, PackOptions, Tensor};

use super::container::Source;
use super::descriptor::Descriptor;
use super::levels::array_name;
use super::types::{DataType, reinterpret};
use crate::cast::cast;
use crate::content::{Content, FileTensor};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::triangle;

/// The tensor in a container.
///
/// # Errors
/// `E0460` to `E0466`; `E0401`, `E0404` and `E0405` for index arrays that are no
/// positions or coordinates; `E0429` for entries in the half that is not stored.
pub(super) fn read(source: &dyn Source, options: &ReadOptions) -> Result<FileTensor> {
    let name = format!("descriptor of {}", source.name());
    let text = Input::from_bytes(&name, source.descriptor()?.into_bytes());
    let reader = Reader {
        source,
        descriptor: Descriptor::parse(&text)?,
        element: options.element,
    };
    let tensor = reader.tensor()?;
    let n_stored = reader.descriptor.n_stored;
    let states_fill = reader.descriptor.has_fill;
    let Some(half) = reader.descriptor.half else {
        return Ok(FileTensor {
            n_stored,
            states_fill,
            ..FileTensor::of_tensor(tensor)
        });
    };
    let tensor = match options.keep_structure {
        true => tensor,
        false => triangle::completed(&tensor, half.structure, half.lower)?,
    };
    Ok(FileTensor {
        content: Content::Tensor(tensor),
        states_extents: true,
        states_fill,
        structure: half.structure,
        n_stored,
    })
}

struct Reader<'a> {
    source: &'a dyn Source,
    descriptor: Descriptor<'a>,
    element: Option<ElementType>,
}

impl Reader<'_> {
    /// The tensor as it is stored, without the other half of a half-stored one.
    fn tensor(&self) -> Result<Tensor> {
        let format = self.descriptor.tree.format()?;
        let loaded = self.load(&format)?;
        match self.checked(loaded) {
            Err(error) if error.code() == code::BAD_COORDINATES => self.sorted(&format),
            checked => checked,
        }
    }

    /// The tensor of a file whose coordinates are distinct, but in no order.
    fn sorted(&self, format: &Format) -> Result<Tensor> {
        let loaded = self.load(format)?;
        let target = loaded.format.clone();
        let levels = target.levels().iter().map(|level| match level.is_full() {
            true => level.clone(),
            false => level.clone().nonordered(),
        });
        let format = Format::from_levels(levels.collect())?.with_widths(target.widths());
        let tensor = self.checked(Loaded { format, ..loaded })?;
        let options = PackOptions {
            fill: Some(tensor.fill()),
            duplicates: Duplicates::Refuse,
            ..PackOptions::default()
        };
        Tensor::pack_entries(&target, tensor.entries(), options)
    }

    fn checked(&self, loaded: Loaded) -> Result<Tensor> {
        let Loaded {
            format,
            fill,
            arrays,
        } = loaded;
        let specs = format.arrays();
        let extents = self.descriptor.shape.clone();
        let tensor = Tensor::new(format, extents, fill.element(), fill, arrays);
        tensor.map_err(|error| {
            let names = specs.into_iter().filter_map(|spec| {
                let ours = spec.name("").trim_start_matches('.').to_owned();
                Some(format!("`{ours}` is `{}`", array_name(spec.role)?))
            });
            let names: Vec<String> = names.collect();
            error.note(format!("in `{}` {}", self.source.name(), names.join(", ")))
        })
    }

    /// The arrays of the format, of the right lengths and types.
    fn load(&self, format: &Format) -> Result<Loaded> {
        let mut indices = Vec::new();
        let mut n_positions: u64 = 1;
        for (number, level) in format.levels().iter().enumerate() {
            let parents = n_positions;
            match level.kind {
                LevelKind::Compressed => {
                    let crd = self.index(Role::Crd(number))?;
                    n_positions = crd.len() as u64;
                    let pos = match array_name(Role::Pos(number)) {
                        None => whole_segment(&crd),
                        Some(_) => self.index(Role::Pos(number))?,
                    };
                    let why = "one more than the level above has positions";
                    self.length(Role::Pos(number), &pos, parents.saturating_add(1), why)?;
                    indices.extend([(Role::Pos(number), pos), (Role::Crd(number), crd)]);
                }
                LevelKind::Singleton => {
                    let crd = self.index(Role::Crd(number))?;
                    let why = format!("as many as `indices_{}`", number - 1);
                    self.length(Role::Crd(number), &crd, n_positions, &why)?;
                    indices.push((Role::Crd(number), crd));
                }
                // The tree of a file has three kinds of levels.
                _ => {
                    let extent = self.descriptor.shape[level.mode()];
                    n_positions = parents.checked_mul(extent).ok_or_else(|| {
                        let message = "the dense levels have too many positions to count";
                        Diagnostic::new(code::TENSOR_TOO_LARGE, message)
                            .help("use sparse levels where most entries are zero")
                    })?;
                }
            }
        }
        let vals = self.values(n_positions)?;
        let fill = match self.descriptor.has_fill {
            true => self.fill(vals.element())?,
            false => vals.element().zero(),
        };
        let (widths, mut arrays) = in_our_widths(indices)?;
        arrays.push(vals);
        Ok(Loaded {
            format: format.clone().with_widths(widths),
            fill,
            arrays,
        })
    }

    /// An array of the file, as the numbers that stand for its values.
    fn array(&self, name: &str) -> Result<(DataType, Array)> {
        let ty = self.descriptor.data_type(name)?;
        let Some(array) = self.source.array(name)? else {
            let message = format!("there is no array `{name}`");
            return Err(self
                .descriptor
                .fault("data_types", message, "the array is promised here")
                .help("write the file again: the array is missing"));
        };
        let is_truth = |element| matches!(element, ElementType::I8 | ElementType::Bool);
        let stored = match (ty.stored(), array.element()) {
            (stored, found) if stored == found => array,
            (ElementType::U8, found) if ty.element == ElementType::Bool && is_truth(found) => {
                Array::new(ElementType::U8, array.into_memory())
            }
            // Integers are the same numbers in every type that holds them.
            (stored, found) if ty.element.is_integer() && found.is_integer() => {
                cast(array, stored, name)?
            }
            // NumPy's own complex numbers, where two floats are asked for.
            (_, found) if found == ty.element => return Ok((ty, array)),
            (stored, found) => {
                let message = format!(
                    "`{name}` holds numbers of type {found}, not {stored} as its type `{}` says",
                    ty.name()
                );
                return Err(self
                    .descriptor
                    .fault("data_types", message, "the types are stated here")
                    .help("correct the type, or write the array in that type"));
            }
        };
        if ty.element.is_complex() && !stored.len().is_multiple_of(2) {
            let message = format!("`{name}` has {} parts of complex numbers", stored.len());
            return Err(self
                .descriptor
                .fault("data_types", message, "an even number is needed")
                .help("store a real and an imaginary part for each number"));
        }
        Ok((ty, reinterpret(stored, ty.element)?))
    }

    /// An array of positions or coordinates, in one of the types that they have here.
    fn index(&self, role: Role) -> Result<Array> {
        let name = array_name(role).expect("asked for arrays with names only");
        let (ty, array) = self.array(&name)?;
        if ty.element.is_integer() && !ty.iso {
            return signed(array, &name);
        }
        let message = format!("`{name}` has the type `{}`", ty.name());
        Err(self
            .descriptor
            .fault(
                "data_types",
                message,
                "positions and coordinates are integers",
            )
            .help("write the array as `int32`, `int64` or `uint64`"))
    }

    /// The values, one for each position.
    fn values(&self, n_positions: u64) -> Result<Array> {
        if self.descriptor.n_stored != n_positions {
            let message = format!(
                "{} stored values are promised, but the last level has {n_positions} positions",
                self.descriptor.n_stored
            );
            let label = "promised here";
            return Err(self
                .descriptor
                .fault("number_of_stored_values", message, label)
                .help("copy the file again, or correct the number"));
        }
        let (ty, array) = self.array("values")?;
        let array = if ty.iso {
            self.length(Role::Vals, &array, 1, "one that stands for all")?;
            let len = usize::try_from(n_positions).unwrap_or(usize::MAX);
            Array::filled(array.get(0), len)?
        } else {
            self.length(
                Role::Vals,
                &array,
                n_positions,
                "as many as the last level has positions",
            )?;
            array
        };
        match self.element {
            Some(element) => cast(array, element, "values"),
            None => Ok(array),
        }
    }

    fn fill(&self, element: ElementType) -> Result<Scalar> {
        let (_, array) = self.array("fill_value")?;
        if array.len() == 1 {
            return Ok(cast(array, element, "fill_value")?.get(0));
        }
        let message = format!("`fill_value` has {} entries, not 1", array.len());
        Err(self
            .descriptor
            .fault("fill", message, "promised here")
            .help("store one number, the value of implicit entries"))
    }

    fn length(&self, role: Role, array: &Array, wanted: u64, why: &str) -> Result<()> {
        if array.len() as u64 == wanted {
            return Ok(());
        }
        let name = array_name(role).unwrap_or_default();
        let message = format!("`{name}` has {} entries, not {wanted}", array.len());
        Err(self
            .descriptor
            .fault("format", message, "the format says how long arrays are")
            .note(format!("it has to have {why}"))
            .help("copy the file again if it is cut off, or write it again with the program that made it"))
    }
}

/// The arrays of a file in the types of ours, not checked yet.
struct Loaded {
    format: Format,
    fill: Scalar,
    arrays: Vec<Array>,
}

/// The `pos` array of a level with one parent, whose coordinates are these: of
/// their type, so that all index arrays of a file have the same.
fn whole_segment(crd: &Array) -> Array {
    let n = crd.len();
    match (crd.element(), i32::try_from(n)) {
        (ElementType::I64, _) | (_, Err(_)) => Array::from_vec(vec![0, n as i64]),
        (_, Ok(n)) => Array::from_vec(vec![0, n]),
    }
}

/// Integers as one of the types that index arrays have; those without sign in
/// place where they fit.
fn signed(array: Array, name: &str) -> Result<Array> {
    match array.element() {
        ElementType::I8 | ElementType::I16 => cast(array, ElementType::I32, name),
        ElementType::U32 => {
            let narrow = |&entry: &u32| i32::try_from(entry).is_ok();
            match array.slice::<u32>().iter().all(narrow) {
                true => reinterpret(array, ElementType::I32),
                false => cast(array, ElementType::I64, name),
            }
        }
        ElementType::U64 => {
            let entries = array.slice::<u64>();
            let Some(at) = entries.iter().position(|&entry| entry > i64::MAX as u64) else {
                return reinterpret(array, ElementType::I64);
            };
            let message = format!("`{name}[{at}]` is {}, beyond 2^63 - 1", entries[at]);
            Err(Diagnostic::new(code::BINSPARSE_ARRAY, message)
                .help("write coordinates and positions below 2^63"))
        }
        _ => Ok(array),
    }
}

/// Index arrays in the widths that a format can declare.
///
/// All `pos` arrays of a format have one declared width, and all `crd` arrays
/// one, or none and 32 or 64 bits each. So a narrow type that all of a kind
/// share is declared, and arrays of a narrow type that others do not share are
/// widened. The `pos` of the first level, which no file has, follows the others.
fn in_our_widths(indices: Vec<(Role, Array)>) -> Result<(Widths, Vec<Array>)> {
    let is_pos = |role: &Role| matches!(role, Role::Pos(_));
    let shared = |pos: bool| -> Option<IndexWidth> {
        let of_kind = indices
            .iter()
            .filter(|(role, _)| is_pos(role) == pos && *role != Role::Pos(0));
        let mut widths = of_kind.map(|(_, array)| array.as_index().width());
        let first = widths.next()?;
        let is_narrow = matches!(first, IndexWidth::W8 | IndexWidth::W16);
        (is_narrow && widths.all(|width| width == first)).then_some(first)
    };
    let fits = |&width: &IndexWidth| {
        let first = indices.iter().find(|(role, _)| *role == Role::Pos(0));
        first.is_none_or(|(_, pos)| pos.index(1) as u64 <= width.max())
    };
    let widths = Widths {
        pos: shared(true).filter(fits),
        crd: shared(false),
    };
    let arrays = indices.into_iter().map(|(role, array)| {
        let declared = match is_pos(&role) {
            true => widths.pos,
            false => widths.crd,
        };
        let narrow = matches!(array.element(), ElementType::U8 | ElementType::U16);
        match declared {
            Some(width) => cast(array, width.element(), "pointers"),
            None if narrow => cast(array, ElementType::I32, "indices"),
            None => Ok(array),
        }
    });
    Ok((widths, arrays.collect::<Result<_>>()?))
}
