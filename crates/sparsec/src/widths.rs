//! How wide index arrays are: 32 bits where a bound shows that all values
//! fit, else 64.

use sparsec_base::{Diagnostic, IndexWidth, Result, code};
use sparsec_format::level::Part;
use sparsec_format::{ArraySpec, Format, Holds, Level, LevelKind, Role, Way, Widths};
use sparsec_index::stored::{Answers, Found, stored};
use sparsec_index::{Access, IndexVar, Program, Statement, TensorRole};
use sparsec_tensor::Tensor;

/// What is known of the data when widths are chosen.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The extent of an index variable.
    pub(crate) extent: &'a dyn Fn(IndexVar) -> Option<u64>,
    /// How many entries the operand of this name stores.
    pub(crate) n_stored: &'a dyn Fn(&str) -> Option<u64>,
}

/// `format` with the widths that it declares, else those of `input`'s arrays.
pub(crate) fn of_input(format: &Format, input: &Tensor) -> Format {
    if !is_read(format) {
        return format.clone();
    }
    let declared = format.widths();
    if !input.format().stores_like(format) {
        // The input is going to be packed again, as its data asks.
        return format.clone().with_widths(of_copy(format, input));
    }
    let own = of_arrays(input);
    format.clone().with_widths(Widths {
        pos: own.pos.or(declared.pos),
        crd: own.crd.or(declared.crd),
    })
}

/// The widths that hold a copy of `tensor` in a format, as far as it declares none.
pub(crate) fn of_copy(format: &Format, tensor: &Tensor) -> Widths {
    let declared = format.widths();
    let positions = most_positions(format, tensor.extents(), tensor.most_entries());
    let crd = holding_levels(format, tensor.extents());
    Widths {
        pos: declared.pos.or(Some(IndexWidth::holding(positions))),
        crd: declared.crd.or(Some(crd)),
    }
}

/// Whether kernels may read the arrays of a tensor of this format.
pub(crate) fn is_read(format: &Format) -> bool {
    format.read_by() != Way::Conversion
}

/// The widths that a tensor has in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Chosen {
    /// Of its own arrays.
    pub(crate) own: Widths,
    /// Of what kernels read or write in its place, where they do.
    pub(crate) nearest: Widths,
}

/// The widths of a tensor that is given.
pub(crate) fn of_operand(tensor: &Tensor) -> Chosen {
    let own = match is_read(tensor.format()) {
        true => of_arrays(tensor),
        false => Widths::default(),
    };
    let nearest = match tensor.format().is_native() {
        true => own,
        false => of_entries(tensor),
    };
    Chosen { own, nearest }
}

/// The widths that hold the entries of a tensor in any format.
pub(crate) fn of_entries(tensor: &Tensor) -> Widths {
    Widths {
        pos: Some(IndexWidth::holding(tensor.most_entries())),
        crd: Some(holding_extents(tensor.extents())),
    }
}

/// The widths that the index arrays of a tensor have: the widest of each role,
/// as arrays of several levels may differ and a format declares one width.
fn of_arrays(tensor: &Tensor) -> Widths {
    let width = |wanted: fn(Role) -> bool| {
        let specs = tensor.format().arrays();
        let arrays = specs.iter().zip(tensor.arrays());
        arrays
            .filter(|(spec, _)| wanted(spec.role))
            .filter_map(|(_, array)| IndexWidth::of(array.element()))
            .max()
    };
    Widths {
        pos: width(|role| role.holds() == Holds::Positions),
        crd: width(|role| role.holds() == Holds::Coordinates),
    }
}

/// The largest position that arrays of a tensor of so many entries may hold: tables
/// have empty slots, runs hold what lies between their entries, and runs of one value
/// have others between them.
fn most_positions(format: &Format, extents: &[u64], n_entries: u64) -> u64 {
    let arrays = format.arrays();
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let extents = format.level_extents(&known);
    let (mut held, mut most, mut above) = (n_entries, n_entries, 1u64);
    for (number, (level, extent)) in format.levels().iter().zip(extents).enumerate() {
        let extent = extent.unwrap_or(u64::MAX);
        most = match level.kind {
            LevelKind::Hashed => most.saturating_mul(4),
            LevelKind::Range => most.saturating_mul(extent),
            LevelKind::RunLength => most.saturating_mul(2).saturating_add(above),
            _ => most,
        };
        above = match level.is_full() {
            true => above.saturating_mul(extent),
            false => most,
        };
        let is_held = |array: &ArraySpec| {
            array.role.level() == Some(number) && array.role.holds() == Holds::Positions
        };
        if arrays.iter().any(is_held) {
            held = held.max(most);
        }
    }
    held
}

/// `format` with the widths that it declares, else such that every position
/// and coordinate of the result is sure to fit.
pub(crate) fn of_result(
    program: &Program,
    statement: &Statement,
    format: &Format,
    known: Known<'_>,
) -> Format {
    let declared = format.widths();
    let extents: Option<Vec<u64>> = statement
        .lhs
        .vars()
        .into_iter()
        .map(|var| (known.extent)(var))
        .collect();
    let Some(extents) = extents else {
        // Compiled before data is known: a kernel checks what it counts.
        return format.clone();
    };
    let dense = extents
        .iter()
        .fold(1u64, |product, extent| product.saturating_mul(*extent));
    let bounds = Bounds {
        program,
        statement,
        known,
    };
    let (stored, fill) = stored(&bounds, &statement.rhs, &program.tensors, &program.vars);
    let result = &program.tensors[statement.lhs.tensor];
    let unchanged = match &statement.reduce {
        Some(op) => op.identity(result.element),
        None => Some(result.fill),
    };
    // Other values are stored everywhere, and values that were there before stay.
    let stored = match fill.is_some() && fill == unchanged && statement.before.is_none() {
        true => stored,
        false => u64::MAX,
    };
    // Positions between full levels count dense entries.
    let has_inner_full = format.levels().iter().skip(1).any(|level| level.is_full());
    let bound = if has_inner_full {
        dense
    } else {
        dense.min(stored)
    };
    let bound = match format.is_assembled() && !format.is_probed() {
        true => bound,
        false => most_positions(format, &extents, bound),
    };
    format.clone().with_widths(Widths {
        pos: declared.pos.or(Some(IndexWidth::holding(bound))),
        crd: declared.crd.or(Some(holding_extents(&extents))),
    })
}

/// The width that holds every coordinate that levels store.
fn holding_levels(format: &Format, extents: &[u64]) -> IndexWidth {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let parts = format.parts();
    let of_levels = parts
        .iter()
        .flat_map(|part| part.level_extents(&known))
        .flatten();
    holding_extents(&of_levels.chain(extents.iter().copied()).collect::<Vec<_>>())
}

fn holding_extents(extents: &[u64]) -> IndexWidth {
    IndexWidth::holding(extents.iter().copied().max().unwrap_or(0))
}

/// How many entries a result stores at most, of an expression with known operands.
struct Bounds<'a> {
    program: &'a Program,
    statement: &'a Statement,
    known: Known<'a>,
}

impl Answers for Bounds<'_> {
    type Where = u64;

    fn nowhere(&self) -> u64 {
        0
    }

    fn everywhere(&self) -> u64 {
        u64::MAX
    }

    fn of_access(&self, access: &Access) -> Found<u64> {
        let data = &self.program.tensors[access.tensor];
        let is_input = data.role == TensorRole::Input;
        let n_stored = is_input.then(|| (self.known.n_stored)(data.source_name()));
        // Modes of the result that the operand lacks repeat its entries.
        let lhs = self.statement.lhs.vars();
        let repeated = lhs.iter().filter(|var| !access.uses(**var));
        let bound = match n_stored.flatten() {
            Some(n_stored) => repeated.fold(n_stored, |bound, var| {
                bound.saturating_mul((self.known.extent)(*var).unwrap_or(u64::MAX))
            }),
            None => u64::MAX,
        };
        (bound, Some(data.fill))
    }

    fn either(&self, one: u64, other: u64) -> u64 {
        one.saturating_add(other)
    }

    fn both(&self, one: u64, other: u64) -> u64 {
        one.min(other)
    }

    fn of_unknown(&self, _any: u64) -> u64 {
        u64::MAX
    }
}

/// Whether a tensor's arrays are those of `format`, widths included.
pub(crate) fn is_stored_as(tensor: &Tensor, format: &Format) -> bool {
    // Not `stores_like`: that compares declared widths, and a tensor that
    // declares none has arrays of some width all the same.
    tensor.format().arranges_like(format)
        && format
            .arrays()
            .iter()
            .zip(tensor.arrays())
            .all(|(spec, array)| {
                format
                    .declared_width(spec.role)
                    .is_none_or(|width| width.element() == array.element())
            })
}

/// Refuses a result whose coordinates do not fit the width declared for them.
pub(crate) fn check_coordinates(name: &str, format: &Format, extents: &[u64]) -> Result<()> {
    let Some(width) = format.widths().crd else {
        return Ok(());
    };
    let has_list = |level: &&Level| level.kind.spec().arrays.contains(&Part::Crd);
    let walked = format.levels().iter().filter(has_list);
    // The largest coordinate is one less than the extent, which marks empty slots.
    let largest = |level: &Level| match level.kind {
        LevelKind::Hashed => extents[level.mode()],
        _ => extents[level.mode()].saturating_sub(1),
    };
    match walked.map(largest).max() {
        Some(largest) if largest > width.max() => Err(Diagnostic::new(
            code::INDEX_WIDTH_OVERFLOW,
            format!(
                "coordinates of `{name}` go up to {largest}, which {} bits do not hold",
                width.bits(),
            ),
        )
        .help(
            match IndexWidth::ALL
                .into_iter()
                .find(|&it| IndexWidth::max(it) >= largest)
            {
                Some(enough) => format!("declare `crd = {}`, or no width", enough.bits()),
                None => "declare no width".to_owned(),
            },
        )),
        _ => Ok(()),
    }
}
