//! The differences between releases, as steps forth and back.
//!
//! A step names two definitions, each by its name and its first release. If a direction cannot be
//! expressed, `why` explains it.

use sparsec_base::Result;

use crate::attribute::Attribute;
use crate::definition::Definition;
use crate::module::Op;
use crate::release::Dialect;
use crate::types::Type;

use super::Rewrite;
use super::buffers::{one_type, release_of_sparse};
use super::coordinates::{
    levels_of_modes, levels_of_sixteen, modes_of_levels, modes_of_sixteen, sixteen_of_levels,
    sixteen_of_modes,
};
use super::interleave::one_array;
use super::reshapes::{drop_shape, shape_from_type};
use super::sizes::{sizes_of_dimensions, sizes_of_levels};
use super::values::{drop_open_extents, no_open_extents, tensors_of_memrefs};

/// Changes an operation into one of another definition.
pub(super) type Change = fn(&mut Rewrite, Op, &'static Definition) -> Result<()>;

/// Two definitions with the same meaning.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The earlier definition: its name and its first release.
    pub(super) from: (&'static str, u8),
    /// The later definition: its name and its first release.
    pub(super) to: (&'static str, u8),
    /// Changes the earlier form into the later one.
    pub(super) forth: Option<Change>,
    /// Changes the later form into the earlier one.
    pub(super) back: Option<Change>,
    /// The reason why a direction is missing.
    pub(super) why: &'static str,
}

/// The first release.
const FIRST: u8 = Dialect::OLDEST;

pub(super) const fn renamed(from: (&'static str, u8), to: (&'static str, u8)) -> Step {
    Step {
        from,
        to,
        forth: Some(rename),
        back: Some(rename),
        why: "",
    }
}

const fn changed(
    from: (&'static str, u8),
    to: (&'static str, u8),
    forth: Change,
    back: Change,
) -> Step {
    Step {
        from,
        to,
        forth: Some(forth),
        back: Some(back),
        why: "",
    }
}

const fn only_forth(
    from: (&'static str, u8),
    to: (&'static str, u8),
    forth: Change,
    why: &'static str,
) -> Step {
    Step {
        from,
        to,
        forth: Some(forth),
        back: None,
        why,
    }
}

pub(super) static STEPS: &[Step] = &[
    // Arrays.
    changed(
        ("sparse_tensor.pointers", FIRST),
        ("sparse_tensor.pointers", 16),
        level_to_attribute,
        level_to_operand,
    ),
    changed(
        ("sparse_tensor.indices", FIRST),
        ("sparse_tensor.indices", 16),
        level_to_attribute,
        level_to_operand,
    ),
    changed(
        ("sparse_tensor.pointers", 16),
        ("sparse_tensor.positions", 17),
        dimension_to_level,
        level_to_dimension,
    ),
    changed(
        ("sparse_tensor.indices", 16),
        ("sparse_tensor.coordinates", 17),
        dimension_to_level,
        level_to_dimension,
    ),
    renamed(
        ("sparse_tensor.indices_buffer", 16),
        ("sparse_tensor.coordinates_buffer", 17),
    ),
    // Tensors.
    changed(
        ("sparse_tensor.release", 14),
        ("bufferization.dealloc_tensor", 15),
        rename,
        release_of_sparse,
    ),
    changed(
        ("sparse_tensor.init", 14),
        ("bufferization.alloc_tensor", 15),
        all_extents_to_open,
        open_extents_to_all,
    ),
    changed(
        ("sparse_tensor.new", FIRST),
        ("sparse_tensor.new", 16),
        rename,
        drop_symmetry,
    ),
    changed(
        ("sparse_tensor.new", 16),
        ("sparse_tensor.new", 18),
        drop_symmetry,
        rename,
    ),
    renamed(("sparse_tensor.pack", 17), ("sparse_tensor.assemble", 18)),
    renamed(
        ("sparse_tensor.unpack", 17),
        ("sparse_tensor.disassemble", 18),
    ),
    changed(
        ("sparse_tensor.assemble", 18),
        ("sparse_tensor.assemble", 19),
        values_in_other_place,
        values_in_other_place,
    ),
    changed(
        ("sparse_tensor.disassemble", 18),
        ("sparse_tensor.disassemble", 19),
        outputs_in_other_place,
        outputs_in_other_place,
    ),
    changed(
        ("sparse_tensor.insert", 16),
        ("tensor.insert", FIRST),
        modes_of_sixteen,
        sixteen_of_modes,
    ),
    changed(
        ("sparse_tensor.insert", 16),
        ("sparse_tensor.insert", 17),
        levels_of_sixteen,
        sixteen_of_levels,
    ),
    changed(
        ("sparse_tensor.insert", 17),
        ("tensor.insert", FIRST),
        modes_of_levels,
        levels_of_modes,
    ),
    // Workspaces and sorting.
    changed(
        ("sparse_tensor.expand", 14),
        ("sparse_tensor.expand", 16),
        count_is_index,
        rename,
    ),
    only_forth(
        ("sparse_tensor.sort_coo", 16),
        ("sparse_tensor.sort_coo", 17),
        stable_to_algorithm,
        "an algorithm is named since release 17",
    ),
    only_forth(
        ("sparse_tensor.sort_coo", 17),
        ("sparse_tensor.sort", 18),
        order_of_all,
        "`perm_map` orders coordinates since release 18",
    ),
    only_forth(
        ("sparse_tensor.sort", 17),
        ("sparse_tensor.sort", 18),
        one_array,
        "an order of coordinates is named since release 18",
    ),
    only_forth(
        ("sparse_tensor.tensor", 13),
        ("sparse_tensor.assemble", 18),
        tensors_of_memrefs,
        "tensors are made of memrefs in release 13 alone",
    ),
    only_forth(
        ("sparse_tensor.sort", 16),
        ("sparse_tensor.sort", 17),
        stable_to_algorithm,
        "an algorithm is named since release 17",
    ),
    // The operations around a kernel.
    changed(
        ("builtin.func", FIRST),
        ("func.func", 15),
        type_to_function_type,
        function_type_to_type,
    ),
    renamed(("arith.maxf", 14), ("arith.maximumf", 17)),
    renamed(("arith.minf", 14), ("arith.minimumf", 17)),
    renamed(("memref.buffer_cast", 13), ("bufferization.to_memref", 14)),
    renamed(("memref.tensor_load", 13), ("bufferization.to_tensor", 14)),
    changed(
        ("bufferization.to_memref", 14),
        ("bufferization.to_memref", 20),
        rename,
        one_type,
    ),
    changed(
        ("bufferization.to_tensor", 14),
        ("bufferization.to_tensor", 20),
        rename,
        one_type,
    ),
    renamed(
        ("linalg.conv_2d_ngchw_fgchw", 15),
        ("linalg.conv_2d_ngchw_gfchw", 18),
    ),
    renamed(("llvm.mlir.null", FIRST), ("llvm.mlir.zero", 17)),
    changed(
        ("tensor.expand_shape", 14),
        ("tensor.expand_shape", 19),
        shape_from_type,
        drop_shape,
    ),
    renamed(("linalg.fill", FIRST), ("linalg.fill", 15)),
    changed(
        ("tensor.splat", 15),
        ("tensor.splat", 18),
        no_open_extents,
        drop_open_extents,
    ),
    changed(
        ("sparse_tensor.storage_specifier.get", 16),
        ("sparse_tensor.storage_specifier.get", 17),
        sizes_of_levels,
        sizes_of_dimensions,
    ),
    changed(
        ("sparse_tensor.storage_specifier.set", 16),
        ("sparse_tensor.storage_specifier.set", 17),
        sizes_of_levels,
        sizes_of_dimensions,
    ),
    changed(
        ("linalg.init_tensor", FIRST),
        ("tensor.empty", 16),
        drop_static_sizes,
        not_empty,
    ),
];

fn rename(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.rename(op, to);
    Ok(())
}

/// `%t, %c1` becomes `%t {dimension = 1 : index}`.
fn level_to_attribute(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let level = rewrite.module.ops[op].operands[1];
    let number = rewrite
        .constant(level)
        .and_then(|number| u64::try_from(number).ok());
    let Some(number) = number else {
        let message = format!("`{}` of a level that the program computes", to.name);
        return Err(rewrite
            .refuse(op, message)
            .help("give the level as a constant"));
    };
    rewrite.remove_operands(op, 1);
    rewrite.module.ops[op]
        .attributes
        .push(("dimension".to_owned(), Attribute::index(number)));
    rename(rewrite, op, to)
}

fn level_to_operand(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let number = rewrite
        .attribute(op, "dimension")
        .and_then(|value| value.natural())
        .unwrap_or_default();
    let value = rewrite.new_constant(op, number);
    rewrite.remove_attribute(op, "dimension");
    let data = &mut rewrite.module.ops[op];
    data.operands.push(value);
    data.operand_spans.push(data.span);
    data.operand_groups.push(1);
    rename(rewrite, op, to)
}

fn dimension_to_level(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.rename_attribute(op, "dimension", "level");
    rename(rewrite, op, to)
}

fn level_to_dimension(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.rename_attribute(op, "level", "dimension");
    rename(rewrite, op, to)
}

/// Replaces the extents of all modes by those of the dynamic modes.
fn all_extents_to_open(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let result = rewrite.module.ops[op].results[0];
    let shape = rewrite.module.ty(result).shape().unwrap_or_default();
    let data = &mut rewrite.module.ops[op];
    let is_open = |n: &usize| shape.get(*n).is_some_and(Option::is_none);
    let kept: Vec<usize> = (0..data.operands.len()).filter(is_open).collect();
    let closed: Vec<_> = (0..data.operands.len())
        .filter(|n| !kept.contains(n))
        .map(|n| data.operands[n])
        .collect();
    data.operands = kept.iter().map(|&n| data.operands[n]).collect();
    data.operand_spans = kept.iter().map(|&n| data.operand_spans[n]).collect();
    data.operand_groups = vec![kept.len(), 0, 0];
    // Marks the constants of static extents, which may have no use left.
    for value in closed {
        rewrite.constant(value);
    }
    rename(rewrite, op, to)
}

/// `sparse_tensor.init` makes tensors with an encoding only. `linalg.init_tensor` makes the others.
fn open_extents_to_all(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    if rewrite.module.ops[op].operand_groups[1..] != [0, 0] {
        let message = "`bufferization.alloc_tensor` with a copy or a hint".to_owned();
        return Err(rewrite.refuse(op, message).help("choose a later release"));
    }
    let result = rewrite.module.ops[op].results[0];
    let ty = rewrite.module.ty(result).clone();
    if ty.encoding().is_none() {
        rewrite.module.ops[op].operand_groups.truncate(1);
        return static_sizes_of_type(rewrite, op, super::find("linalg.init_tensor", FIRST));
    }
    let mut open = std::mem::take(&mut rewrite.module.ops[op].operands).into_iter();
    let mut all = Vec::new();
    for extent in ty.shape().unwrap_or_default() {
        all.push(match extent {
            None => open.next().expect("a value for each open extent"),
            Some(extent) => rewrite.new_constant(op, extent),
        });
    }
    let data = &mut rewrite.module.ops[op];
    data.operand_spans = vec![data.span; all.len()];
    data.operand_groups = vec![all.len()];
    data.operands = all;
    rename(rewrite, op, to)
}

/// Before `tensor.empty`, `bufferization.alloc_tensor` makes sparse tensors and
/// `linalg.init_tensor` the others.
fn not_empty(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let result = rewrite.module.ops[op].results[0];
    if rewrite.module.ty(result).encoding().is_none() {
        return static_sizes_of_type(rewrite, op, to);
    }
    rewrite.module.ops[op].operand_groups.extend([0, 0]);
    rename(rewrite, op, super::find("bufferization.alloc_tensor", 15))
}

fn drop_static_sizes(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.remove_attribute(op, "static_sizes");
    rename(rewrite, op, to)
}

fn static_sizes_of_type(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let result = rewrite.module.ops[op].results[0];
    let sizes = sizes(&rewrite.module.ty(result).shape().unwrap_or_default());
    rewrite.module.ops[op]
        .attributes
        .push(("static_sizes".to_owned(), sizes));
    rename(rewrite, op, to)
}

/// The extents as numbers, with [`OPEN`](crate::parse::OPEN) for dynamic ones.
pub(super) fn sizes(shape: &[Option<u64>]) -> Attribute {
    use crate::attribute::Number;
    let number =
        |extent: &Option<u64>| Number::Integer(extent.map_or(crate::parse::OPEN, i128::from));
    Attribute::Numbers(Type::integer(64), shape.iter().map(number).collect())
}

/// Refuses `expandSymmetry`, which other releases do not have.
fn drop_symmetry(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    if rewrite.attribute(op, "expandSymmetry").is_some() {
        let message = format!("release {} has no `expand_symmetry`", rewrite.dialect);
        return Err(rewrite
            .refuse(op, message)
            .help("write the file with both triangles"));
    }
    rename(rewrite, op, to)
}

/// Values stand in front of levels in some releases, behind them in others.
fn values_in_other_place(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.reorder_operands(op, &[1, 0]);
    rename(rewrite, op, to)
}

/// Values of outputs stand in front of levels in some releases, behind them in others.
fn outputs_in_other_place(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.reorder_operands(op, &[0, 2, 1]);
    rewrite.reorder_results(op, &[1, 0, 3, 2]);
    rename(rewrite, op, to)
}

/// The number of entries must be an `index`, not a buffer.
fn count_is_index(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let count = *rewrite.module.ops[op].results.last().expect("four results");
    if *rewrite.module.ty(count) != Type::Index {
        let message = "`sparse_tensor.expand` that counts in a buffer".to_owned();
        return Err(rewrite.refuse(op, message).help("count in an `index`"));
    }
    rename(rewrite, op, to)
}

fn stable_to_algorithm(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let word = match rewrite.attribute(op, "stable") {
        Some(_) => "insertion_sort_stable",
        None => "hybrid_quick_sort",
    };
    rewrite.remove_attribute(op, "stable");
    rewrite.module.ops[op]
        .attributes
        .push(("algorithm".to_owned(), Attribute::Word(word)));
    rename(rewrite, op, to)
}

/// The most coordinates of a tuple whose order is written out.
const MOST_SORTED: u64 = 64;

/// Without a map, coordinates are sorted in their own order.
fn order_of_all(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    if rewrite.attribute(op, "perm_map").is_none() {
        let n = rewrite
            .attribute(op, "nx")
            .and_then(|value| value.natural())
            .unwrap_or(1);
        if n > MOST_SORTED {
            let message = format!("tuples of {n} coordinates");
            let help =
                format!("sort tuples of at most {MOST_SORTED}, or name their order by `perm_map`");
            return Err(rewrite.refuse(op, message).help(help));
        }
        let map = crate::affine::AffineMap::identity(n as usize);
        rewrite.module.ops[op]
            .attributes
            .push(("perm_map".to_owned(), Attribute::Map(map)));
    }
    rewrite.remove_attribute(op, "nx");
    rename(rewrite, op, to)
}

fn type_to_function_type(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.rename_attribute(op, "type", "function_type");
    rename(rewrite, op, to)
}

fn function_type_to_type(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.rename_attribute(op, "function_type", "type");
    rename(rewrite, op, to)
}
