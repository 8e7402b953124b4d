//! Checked construction: what must hold of the arrays of a tensor.
//!
//! With `P` the number of positions of the level above (1 above the first):
//!
//! | level      | arrays                      | positions | must hold                          |
//! |------------|-----------------------------|-----------|------------------------------------|
//! | dense      |                             | `P * N`   | the product can be counted         |
//! | compressed | `pos[P + 1]`, `crd[pos[P]]` | `pos[P]`  | `pos[0] = 0`, `pos` never descends  |
//! | singleton  | `crd[P]`                    | `P`       |                                    |
//!
//! Every coordinate lies in `0..N`. A nonunique level and the singletons below
//! it keep one list of tuples, a **chain**; within each segment of its first
//! level the tuples ascend in every level that is ordered, and none stands twice
//! if the last level of the chain is unique:
//!
//! ```text
//! scoo   0.crd  0 0 2 2      (0,1) (0,3) (2,0) (2,0)
//!        1.crd  1 3 0 0                        ^ stands twice
//! ```
//!
//! The first entry that breaks a rule is named, whatever the number of threads.
//! Rules are tried in the order of this page: lengths and segments of all levels,
//! then bounds of all levels, then order.

mod coordinates;

use std::ops::Range;

use sparsec_base::{Bool8, Diagnostic, ElementType, IndexWidth, Result, Scalar, check_order, code};
use sparsec_format::{ArraySpec, Format, Holds, LevelKind, Role};
use sparsec_parallel::{map, ranges};

use crate::array::Array;
use crate::entries::plural;
use crate::index::Index;
use crate::irregular;

/// Array entries that one thread checks at a time.
const GRAIN: usize = 1 << 16;

/// How far arrays are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// All that this page says.
    Entries,
    /// What is needed to walk. Not looked at: entries of formats whose levels store expressions,
    /// whether entries without an order stand twice, and the order along a curve.
    Levels,
}

/// The number of positions of each level, if the arrays are a tensor.
pub(crate) fn check(
    format: &Format,
    extents: &[u64],
    element: ElementType,
    fill: Scalar,
    arrays: &[Array],
) -> Result<Vec<usize>> {
    check_to(Depth::Entries, format, extents, element, fill, arrays)
}

/// As [`check`], and no deeper than that.
pub(crate) fn check_to(
    depth: Depth,
    format: &Format,
    extents: &[u64],
    element: ElementType,
    fill: Scalar,
    arrays: &[Array],
) -> Result<Vec<usize>> {
    check_extents(format, extents)?;
    if fill.element() != element {
        return Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!(
                "the fill `{fill}` is {}, the values are {element}",
                fill.element()
            ),
        ));
    }
    let specs = format.arrays();
    if specs.len() != arrays.len() {
        let names: Vec<String> = specs.iter().map(|spec| name_of(spec.role)).collect();
        return Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!(
                "{} for a format that declares {}",
                plural(arrays.len(), "array"),
                specs.len()
            ),
        )
        .note(format!(
            "`{format}` declares, in this order: {}",
            names.join(", ")
        )));
    }
    for (&spec, array) in specs.iter().zip(arrays) {
        check_type(format, spec, array, element)?;
    }
    if !format.is_regular() {
        let positions = irregular::check::check(depth, format, extents, fill, arrays)?;
        check_truth_values(&arrays[arrays.len() - 1])?;
        return Ok(positions);
    }
    let checker = Checker {
        depth,
        format,
        extents,
        specs: &specs,
        arrays,
    };
    let positions = checker.levels()?;
    checker.length(Role::Vals, positions.last().copied().unwrap_or(1))?;
    check_truth_values(&arrays[arrays.len() - 1])?;
    Ok(positions)
}

/// The name of an array in messages: `1.pos`, `1.crd`, `vals`.
pub(crate) fn name_of(role: Role) -> String {
    ArraySpec { role }
        .name("")
        .trim_start_matches('.')
        .to_owned()
}

/// Checks that there is an extent for each mode, that there are not too many
/// modes, and that coordinates can be counted in 64 bits.
pub(crate) fn check_extents(format: &Format, extents: &[u64]) -> Result<()> {
    if extents.len() != format.order() {
        return Err(Diagnostic::new(
            code::LENGTH_MISMATCH,
            format!(
                "{} for a format of order {}",
                plural(extents.len(), "extent"),
                format.order()
            ),
        )
        .note(format!("the format is `{format}`"))
        .help("give one extent a mode, or a format of the tensor's order"));
    }
    check_order(extents.len())?;
    match extents.iter().position(|&extent| extent > i64::MAX as u64) {
        None => Ok(()),
        Some(mode) => Err(Diagnostic::new(
            code::INDEX_WIDTH_OVERFLOW,
            format!("mode {mode} has extent {}, beyond 2^63 - 1", extents[mode]),
        )
        .help("give a smaller extent, or two modes for the halves of the coordinate")),
    }
}

/// How many positions dense level `level` has below `parents` positions.
pub(crate) fn dense_positions(
    format: &Format,
    extents: &[u64],
    level: usize,
    parents: usize,
) -> Result<usize> {
    usize::try_from(extents[format.levels()[level].mode()])
        .ok()
        .and_then(|extent| parents.checked_mul(extent))
        .filter(|&n| n as u64 <= i64::MAX as u64)
        .ok_or_else(|| too_large(format, extents))
}

/// A tensor that has more positions than can be counted.
pub(crate) fn too_large(format: &Format, extents: &[u64]) -> Diagnostic {
    let fault = Diagnostic::new(
        code::TENSOR_TOO_LARGE,
        "a tensor with more positions than can be counted",
    );
    sized(
        fault.help("use compressed levels where most entries are zero"),
        format,
        extents,
    )
}

/// A fault of size, with what has that size.
pub(crate) fn sized(fault: Diagnostic, format: &Format, extents: &[u64]) -> Diagnostic {
    fault.note(format!(
        "the tensor has extents {} and the format `{}`",
        shape(extents),
        format.arrangement()
    ))
}

/// Extents as text: `4 x 5`.
pub(crate) fn shape(extents: &[u64]) -> String {
    let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
    extents.join(" x ")
}

fn check_type(format: &Format, spec: ArraySpec, array: &Array, element: ElementType) -> Result<()> {
    let found = array.element();
    let (fits, wanted) = match (spec.role.holds(), format.declared_width(spec.role)) {
        (Holds::Values, _) => (found == element, element.to_string()),
        (Holds::Bits, _) => (found == ElementType::U8, ElementType::U8.to_string()),
        (_, Some(width)) => (found == width.element(), width.element().to_string()),
        (_, None) => (
            IndexWidth::of(found).is_some(),
            "u8, u16, i32 or i64".to_owned(),
        ),
    };
    if fits {
        return Ok(());
    }
    Err(Diagnostic::new(
        code::ARRAY_MISMATCH,
        format!(
            "`{}` is an array of {found}, not of {wanted}",
            name_of(spec.role)
        ),
    ))
}

fn check_truth_values(vals: &Array) -> Result<()> {
    let Some(values) = vals.as_slice::<Bool8>() else {
        return Ok(());
    };
    let wrong = first(values.len(), |range| {
        values[range].iter().position(|value| value.byte() > 1)
    });
    match wrong {
        None => Ok(()),
        Some(at) => Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!(
                "`vals[{at}]` is {}, where a bool is 0 or 1",
                values[at].byte()
            ),
        )),
    }
}

struct Checker<'a> {
    depth: Depth,
    format: &'a Format,
    extents: &'a [u64],
    specs: &'a [ArraySpec],
    arrays: &'a [Array],
}

impl<'a> Checker<'a> {
    fn levels(&self) -> Result<Vec<usize>> {
        let mut positions = Vec::new();
        let mut parents = 1;
        for (number, level) in self.format.levels().iter().enumerate() {
            parents = match level.kind {
                LevelKind::Compressed => {
                    self.length(Role::Pos(number), parents + 1)?;
                    let n = self.segments(number)?;
                    self.length(Role::Crd(number), n)?;
                    n
                }
                LevelKind::Singleton => {
                    self.length(Role::Crd(number), parents)?;
                    parents
                }
                _ => dense_positions(self.format, self.extents, number, parents)?,
            };
            positions.push(parents);
        }
        self.coordinates()?;
        self.along_the_curve()?;
        Ok(positions)
    }

    fn place(&self, role: Role) -> (String, &'a Array) {
        let place = self.specs.iter().position(|spec| spec.role == role);
        let place = place.expect("a format declares the arrays of its levels");
        (name_of(role), &self.arrays[place])
    }

    fn index(&self, role: Role) -> (String, Index<'a>) {
        let (name, array) = self.place(role);
        (name, array.as_index())
    }

    fn length(&self, role: Role, wanted: usize) -> Result<()> {
        let (name, array) = self.place(role);
        if array.len() == wanted {
            return Ok(());
        }
        let why = match role {
            Role::Pos(_) => "one more than the level above has positions",
            Role::Crd(l) if self.format.levels()[l].kind == LevelKind::Compressed => {
                "the last entry of its `pos`"
            }
            Role::Vals => "as many as the last level has positions",
            _ => "as many as the level above has positions",
        };
        Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!(
                "`{name}` has {}, not {wanted}",
                if array.len() == 1 {
                    "1 entry".to_owned()
                } else {
                    format!("{} entries", array.len())
                }
            ),
        )
        .note(format!("it has to have {why}")))
    }

    /// Checks a `pos` array; returns how many positions it ends with.
    fn segments(&self, level: usize) -> Result<usize> {
        let (name, pos) = self.index(Role::Pos(level));
        let fault = |message: String| Err(Diagnostic::new(code::BAD_SEGMENTS, message));
        if pos.get(0) != 0 {
            return fault(format!("`{name}[0]` is {}, not 0", pos.get(0)));
        }
        let descends = first(pos.len() - 1, |range| match pos {
            Index::W8(pos) => descent(&pos[range.start..=range.end]),
            Index::W16(pos) => descent(&pos[range.start..=range.end]),
            Index::W32(pos) => descent(&pos[range.start..=range.end]),
            Index::W64(pos) => descent(&pos[range.start..=range.end]),
        });
        if let Some(at) = descends {
            return fault(format!(
                "`{name}[{}]` is {}, smaller than {} before it",
                at + 1,
                pos.get(at + 1),
                pos.get(at)
            ));
        }
        Ok(pos.at(pos.len() - 1))
    }
}

/// The first place in `0..len` that `find` gives, searched in parallel; `find`
/// answers relative to the start of its range.
fn first(len: usize, find: impl Fn(Range<usize>) -> Option<usize> + Sync + Send) -> Option<usize> {
    map(ranges(len, GRAIN), |range| {
        let start = range.start;
        find(range).map(|at| start + at)
    })
    .into_iter()
    .flatten()
    .next()
}

/// The first place whose next entry is smaller.
fn descent<T: PartialOrd>(entries: &[T]) -> Option<usize> {
    let pairs = entries.iter().zip(&entries[1..]);
    // Nearly all arrays pass, and without a branch the loop vectorises.
    match pairs.fold(false, |any, (a, b)| any | (b < a)) {
        false => None,
        true => entries.windows(2).position(|pair| pair[1] < pair[0]),
    }
}
