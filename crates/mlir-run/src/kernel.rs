//! Structured operations as programs of tensor expressions.
//!
//! ```text
//! linalg.generic ins(%A, %x) outs(%y)          inputs A, x (and y, if it is not zero)
//!   (i, j), (j), (i)                           y1(i) = y(i) + sum{j}(A(i,j) * x(j))
//!   %y + %A * %x
//! ```
//!
//! | the body yields                            | statement                          |
//! |--------------------------------------------|------------------------------------|
//! | a value without `%y`                       | `y1(i) = value`                    |
//! | a value, and no iterator is a reduction    | `y1(i) = value`, with `y(i)` for `%y` |
//! | `%y op value`, `op` reduces                | `y1(i) = y(i) op op{j}(value)`     |
//! | `sparse_tensor.reduce %y, value, identity` | the same of stored values          |
//!
//! A result of `sparse_tensor.reduce` begins with the identity that the operation names, not with the
//! output before. The reference begins with one or the other, depending on the order of loops; both
//! are the same where the output holds the identity.
//!
//! Other bodies have no kernel; `pointwise` evaluates them at each point.

mod fusion;
mod maker;
mod statements;
mod step;

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Span, code};
use sparsec_format::Format;
use sparsec_index::{Program, TensorVar};
use sparsec_mlir::{Module, Op, Type, Value};

use crate::body::definer;
use crate::constants::constant_number;
use crate::structured::Structured;

pub(crate) use fusion::{Use, reader, uses};
use maker::Maker;

/// A structured operation as a program, with those whose results only it reads.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program; a statement for each result, and for each one with `kept` another.
    pub program: Program,
    /// The number of statements, the first ones, whose results only later ones read. Their formats
    /// are those of results that are stored.
    pub n_inner: usize,
    /// The formats of inputs and results.
    pub formats: BTreeMap<TensorVar, Format>,
    /// The place of the operation.
    pub span: Span,
    /// The sources of the inputs, in order.
    pub(crate) inputs: Vec<Source>,
    /// The destinations of the results, in order.
    pub(crate) results: Vec<Outcome>,
}

/// The source of an input of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The operand with this number, those of `ins` first, and its value.
    Operand(usize, Value),
    /// A number from outside of the body.
    Captured(Value),
}

impl Source {
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Operand(_, value) | Self::Captured(value) => value,
        }
    }
}

/// The destination of a result of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether the next statement says which entries are kept.
    pub(crate) has_kept: bool,
    /// Whether entries that are not stored are zero, whatever the fill is.
    pub(crate) drops_fill: bool,
}

/// The facts that are known of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) element: ElementType,
    pub(crate) format: Format,
    pub(crate) extents: Vec<Option<u64>>,
    /// The value of all entries, if they are known to be equal.
    pub(crate) uniform: Option<Scalar>,
}

/// The programs of a module's structured operations, with the formats and extents of their types.
///
/// Operations without a kernel are left out. An operation whose result only one later operation
/// reads may be a part of the kernel of that one.
///
/// # Errors
/// Those of encodings that no format has.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_mlir::Module;
/// let text = "
///     #CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
///     func.func @f(%a: tensor<4x8xf64, #CSR>, %x: tensor<8xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
///       %0 = linalg.matvec ins(%a, %x : tensor<4x8xf64, #CSR>, tensor<8xf64>)
///                          outs(%y : tensor<4xf64>) -> tensor<4xf64>
///       return %0 : tensor<4xf64>
///     }";
/// let module = Module::parse(&Source::new("example", text), None)?;
/// let kernels = sparsec_mlir_run::kernels(&module)?;
/// assert_eq!(kernels[0].program.to_string(), "t0(i) = y(i) + sum{k}(a(i,k) * x(k))");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn kernels(module: &Module) -> Result<Vec<Kernel>> {
    all(module).map(|(kernels, _)| kernels)
}

/// The places of structured operations that have no kernel: their bodies are evaluated at stored
/// entries, or at each point if implicit entries change the result.
///
/// # Errors
/// Those of encodings that no format has.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_mlir::Module;
/// let text = "func.func @f(%a: tensor<8xi32>, %y: tensor<i32>) -> tensor<i32> {
///   %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
///                        iterator_types = [\"reduction\"]}
///        ins(%a : tensor<8xi32>) outs(%y : tensor<i32>) {
///   ^bb0(%x: i32, %s: i32):
///     %1 = arith.shli %s, %x : i32
///     linalg.yield %1 : i32
///   } -> tensor<i32>
///   return %0 : tensor<i32>
/// }";
/// let module = Module::parse(&Source::new("a.mlir", text), None)?;
/// assert_eq!(sparsec_mlir_run::evaluated(&module)?, ["a.mlir:2:8"]);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn evaluated(module: &Module) -> Result<Vec<String>> {
    let (_, others) = all(module)?;
    let place = |op: Op| place_of(module, module.op(op).data().span);
    Ok(others.into_iter().map(place).collect())
}

/// `a.mlir:3:8`
pub fn place_of(module: &Module, span: Span) -> String {
    let (line, column) = module.source().line_column(span.start);
    format!("{}:{line}:{column}", module.source().name())
}

/// The kernels of a module, and the structured operations without one.
fn all(module: &Module) -> Result<(Vec<Kernel>, Vec<Op>)> {
    let (mut found, mut others): (Vec<Kernel>, Vec<Op>) = (Vec::new(), Vec::new());
    let uses = uses(module);
    // Kernels that wait for their only reader, by their results.
    let mut waiting: Vec<(Value, Op, Kernel)> = Vec::new();
    for op in module.walk() {
        let Some(structured) = Structured::of(module.op(op))? else {
            continue;
        };
        let operands = &structured.op.data().operands;
        if operands.len() != structured.maps.len() {
            others.push(op);
            continue;
        }
        let known: Vec<Option<Known>> = operands
            .iter()
            .map(|operand| declared(module, *operand))
            .collect::<Result<_>>()?;
        let n_loops = structured.reductions.len();
        let mut extents = vec![None; n_loops];
        for (known, map) in known.iter().zip(&structured.maps) {
            let Some(known) = known else { continue };
            for (extent, result) in known.extents.iter().zip(&map.results) {
                if let Some(n) = result.dimension() {
                    extents[n] = extents[n].or(*extent);
                }
            }
        }
        // Those that wait for this operation are inside of its kernel, or before it.
        let (here, rest) = waiting
            .into_iter()
            .partition(|(_, reader, _)| *reader == op);
        waiting = rest;
        let here: Vec<(Value, Op, Kernel)> = here;
        let Some(mut kernel) = of_structured(&structured, &known, &extents)? else {
            found.extend(here.into_iter().map(|(.., kernel)| kernel));
            others.push(op);
            continue;
        };
        for (value, _, producer) in here {
            match kernel.after_value(&producer, value) {
                Some(both) => kernel = both,
                None => found.push(producer),
            }
        }
        let result = structured.op.data().results.first();
        let reader = result.and_then(|result| reader(module, op, *result, &uses));
        match (reader, result) {
            (Some(reader), Some(result)) if kernel.may_wait() => {
                waiting.push((*result, reader, kernel));
            }
            _ => found.push(kernel),
        }
    }
    found.extend(waiting.into_iter().map(|(.., kernel)| kernel));
    Ok((found, others))
}

/// The facts that the type of an operand states; `None` for a number.
fn declared(module: &Module, operand: Value) -> Result<Option<Known>> {
    let ty = module.ty(operand);
    let (Some(shape), Some(element)) = (ty.shape(), ty.element().number()) else {
        return Ok(None);
    };
    Ok(Some(Known {
        element,
        format: format_of(ty)?,
        extents: shape,
        uniform: uniform(module, operand, element),
    }))
}

/// The value of all entries of a tensor, if the operation that makes it tells.
fn uniform(module: &Module, value: Value, element: ElementType) -> Option<Scalar> {
    if is_undefined(module, value) {
        return Some(element.zero());
    }
    let op = definer(module, value)?;
    if op.name() != "linalg.fill" {
        return None;
    }
    let filled = definer(module, *op.operands("inputs").first()?)?;
    constant_number(filled)?.cast(element)
}

/// Whether a tensor has no entries, or entries that nothing defines.
fn is_undefined(module: &Module, value: Value) -> bool {
    definer(module, value).is_some_and(|op| {
        matches!(
            op.name(),
            "tensor.empty" | "sparse_tensor.init" | "linalg.init_tensor"
        ) || op.name() == "bufferization.alloc_tensor" && op.operands("copy").is_empty()
    })
}

/// The format of tensors of a type.
///
/// # Errors
/// Those of encodings that no format has.
pub(crate) fn format_of(ty: &Type) -> Result<Format> {
    match ty.encoding() {
        Some(encoding) => {
            let mut whole = (**encoding).clone();
            whole.slices.clear();
            whole.to_format()
        }
        None => Ok(Format::dense(ty.shape().map_or(0, |shape| shape.len()))),
    }
}

/// The kernel of an operation; `None` if its body has none.
///
/// # Errors
/// Those of extents that no program has.
pub(crate) fn of_structured(
    structured: &Structured<'_>,
    operands: &[Option<Known>],
    extents: &[Option<u64>],
) -> Result<Option<Kernel>> {
    if has_effects(structured.op) {
        return Ok(None);
    }
    let maker = Maker::new(structured, operands, extents);
    // An expression may be too large, or have no types; such bodies are evaluated.
    Ok(maker.kernel().unwrap_or(None))
}

/// Whether a body holds an operation without results, such as `vector.print`: no expression has it.
fn has_effects(op: sparsec_mlir::Operation<'_>) -> bool {
    let module = op.module();
    let inside = module
        .walk_from(op.id())
        .into_iter()
        .map(|it| module.op(it));
    let mut inside = inside.filter(|inner| inner.id() != op.id());
    inside.any(|inner| inner.data().results.is_empty() && !inner.name().ends_with(".yield"))
}

/// Extents that operands give loops.
///
/// # Errors
/// `E1016` if two operands disagree.
pub(crate) fn loop_extents(
    structured: &Structured<'_>,
    extents: &[Option<Vec<u64>>],
) -> Result<Vec<Option<u64>>> {
    let mut found: Vec<Option<u64>> = vec![None; structured.reductions.len()];
    for (operand, map) in extents.iter().zip(&structured.maps) {
        let Some(operand) = operand else { continue };
        for (extent, result) in operand.iter().zip(&map.results) {
            let Some(n) = result.dimension() else {
                continue;
            };
            if let Some(known) = found[n].replace(*extent)
                && known != *extent
            {
                let message = format!("one loop has extents {known} and {extent}");
                return Err(Diagnostic::new(code::SHAPE_MISMATCH, message)
                    .help("give operands the same extents along each iterator"));
            }
        }
    }
    Ok(found)
}

/// The conversions of a program, which are no kernels: the place of each, and the formats from and
/// to that `sparsec convert` takes.
///
/// # Errors
/// Those of encodings that no format has.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_mlir::Module;
/// let text = "#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
/// func.func @f(%a: tensor<8xf64>) {
///   %0 = sparse_tensor.convert %a : tensor<8xf64> to tensor<8xf64, #SV>
///   return
/// }";
/// let module = Module::parse(&Source::new("a.mlir", text), None)?;
/// let [(place, from, to)] = &sparsec_mlir_run::conversions(&module)?[..] else { panic!() };
/// assert_eq!(place, "a.mlir:3:8");
/// assert_eq!(from.to_string(), "(i) -> (i : dense)");
/// assert_eq!(to.to_string(), "(d0) -> (d0 : compressed)");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn conversions(module: &Module) -> Result<Vec<(String, Format, Format)>> {
    let ops = module.walk().into_iter().map(|op| module.op(op));
    let ops = ops.filter(|op| op.name() == "sparse_tensor.convert");
    let described = ops.map(|op| {
        let place = place_of(module, op.data().span);
        let from = format_of(op.operand_type("source"))?;
        Ok((place, from, format_of(op.result_type("dest"))?))
    });
    described.collect()
}
