//! Structured operations: iterators, maps, and bodies.
//!
//! ```text
//! linalg.matmul ins(%a, %b) outs(%c)    iterators m n parallel, k reduction
//!                                       a(m, k)  b(k, n)  c(m, n)
//!                                       c + a * b
//! ```
//!
//! Iterators and maps of named operations are those of [`sparsec_mlir::named_iteration`].

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::Operator;
use sparsec_mlir::{
    AffineExpr, AffineMap, Attribute, Block, Operation, affine::AffineOp, named_iteration,
};

/// A structured operation.
#[derive(Clone, Debug)]
pub(crate) struct Structured<'a> {
    pub(crate) op: Operation<'a>,
    /// Whether each iterator is a reduction.
    pub(crate) reductions: Vec<bool>,
    /// The map of each operand, those of `ins` first.
    pub(crate) maps: Vec<AffineMap>,
    pub(crate) body: Body,
}

/// The computation at each point.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// The values that the block yields.
    Region(Block),
    /// The first input.
    Copy,
    /// The product of the inputs, less their zero points if there are four, added to the output.
    Multiply,
    /// The first input combined with the output.
    Accumulate(Operator),
    /// The same, of integers without a sign.
    AccumulateUnsigned(Operator),
    /// The operation of `arith` or `math` with this name for floats, and for integers.
    Elementwise(&'static str, Option<&'static str>),
}

/// The operations of `arith` and `math` that named ones apply: of floats, and of integers.
const ELEMENTWISE: &[(&str, &str, Option<&str>)] = &[
    ("add", "addf", Some("addi")),
    ("sub", "subf", Some("subi")),
    ("mul", "mulf", Some("muli")),
    ("div", "divf", Some("divsi")),
    ("max", "maximumf", Some("maxsi")),
    ("min", "minimumf", Some("minsi")),
    ("abs", "absf", None),
    ("exp", "exp", None),
    ("log", "log", None),
    ("negf", "negf", None),
    ("floor", "floor", None),
    ("ceil", "ceil", None),
];

impl<'a> Structured<'a> {
    /// The parts of an operation; `None` for one that is not structured.
    ///
    /// # Errors
    /// `E1060` for iterators that have no loops.
    pub(crate) fn of(op: Operation<'a>) -> Result<Option<Self>> {
        let Some(word) = op.name().strip_prefix("linalg.") else {
            return Ok(None);
        };
        if word == "generic" {
            return generic(op).map(Some);
        }
        let rank = |group: &str| {
            let ty = op.operands(group).first().map(|it| op.module().ty(*it));
            ty.and_then(|ty| ty.shape()).map_or(0, |shape| shape.len())
        };
        let plain = |maps: Vec<AffineMap>, body: Body| Self {
            op,
            reductions: vec![false; maps.last().map_or(0, |map| map.n_dimensions)],
            maps,
            body,
        };
        let identities = |n: usize| vec![AffineMap::identity(rank("outputs")); n];
        if let Some(named) = named_iteration(op) {
            let ends = |end: &str| word.starts_with("pooling_") && word.ends_with(end);
            return Ok(Some(Self {
                op,
                maps: named.maps,
                reductions: named.reductions,
                body: match () {
                    () if ends("sum") => Body::Accumulate(Operator::Add),
                    () if ends("max") => Body::Accumulate(Operator::Max),
                    () if ends("min") => Body::Accumulate(Operator::Min),
                    () if ends("max_unsigned") => Body::AccumulateUnsigned(Operator::Max),
                    () if ends("min_unsigned") => Body::AccumulateUnsigned(Operator::Min),
                    () => Body::Multiply,
                },
            }));
        }
        if let Some((_, float, integer)) = ELEMENTWISE.iter().find(|(name, ..)| *name == word) {
            let n = op.operands("inputs").len() + 1;
            return Ok(Some(plain(
                identities(n),
                Body::Elementwise(float, *integer),
            )));
        }
        let numbers = |name: &str| -> Vec<usize> {
            let numbers = op.attribute(name).and_then(Attribute::integers);
            let numbers = numbers.unwrap_or_default();
            numbers.into_iter().map(|n| n as usize).collect()
        };
        Ok(match word {
            "copy" => Some(plain(identities(2), Body::Copy)),
            "transpose" => {
                // Mode `n` of the result is mode `permutation[n]` of the input.
                let permutation = numbers("permutation");
                let mut results = vec![AffineExpr::Constant(0); permutation.len()];
                for (n, mode) in permutation.into_iter().enumerate() {
                    if let Some(result) = results.get_mut(mode) {
                        *result = AffineExpr::Dimension(n);
                    }
                }
                let maps = vec![map_of(rank("outputs"), results), identities(1).remove(0)];
                Some(plain(maps, Body::Copy))
            }
            "broadcast" => {
                let added = numbers("dimensions");
                let kept = (0..rank("outputs")).filter(|n| !added.contains(n));
                let results = kept.map(AffineExpr::Dimension).collect();
                let maps = vec![map_of(rank("outputs"), results), identities(1).remove(0)];
                Some(plain(maps, Body::Copy))
            }
            _ => None,
        })
    }

    /// The first place that a map gives outside of its operand, whose extents come with it.
    pub(crate) fn outside(
        &self,
        extents: &[Option<Vec<u64>>],
        loops: &[Option<u64>],
    ) -> Option<String> {
        if loops.contains(&Some(0)) {
            return None;
        }
        let operands = extents.iter().zip(&self.maps).enumerate();
        operands.into_iter().find_map(|(number, (extents, map))| {
            let places = extents.as_ref()?.iter().zip(&map.results);
            places.into_iter().find_map(|(extent, result)| {
                let place = match range(result, loops)? {
                    Range::Within(least, _) if least < 0 => least.to_string(),
                    Range::Within(_, most) if most >= i128::from(*extent) => most.to_string(),
                    Range::Within(..) => return None,
                    Range::Beyond => "a coordinate of more than 128 bits".to_owned(),
                };
                Some(format!(
                    "operand {number} of extent {extent} is read at {place}"
                ))
            })
        })
    }

    /// The operands, those of `ins` first.
    pub(crate) fn n_inputs(&self) -> usize {
        self.op.operands("inputs").len()
    }
}

/// The values of an expression over the loops.
enum Range {
    /// From the least to the greatest.
    Within(i128, i128),
    /// Past 128 bits, and so outside of every operand.
    Beyond,
}

/// The range of an expression; `None` if it is not known.
fn range(expression: &AffineExpr, loops: &[Option<u64>]) -> Option<Range> {
    let within = |least: Option<i128>, most: Option<i128>| match (least, most) {
        (Some(least), Some(most)) => Range::Within(least, most),
        _ => Range::Beyond,
    };
    let (op, a, b) = match expression {
        AffineExpr::Dimension(n) => {
            return Some(Range::Within(0, i128::from((*loops.get(*n)?)?) - 1));
        }
        AffineExpr::Constant(value) => {
            return Some(Range::Within((*value).into(), (*value).into()));
        }
        AffineExpr::Symbol(_) => return None,
        AffineExpr::Binary(op, a, b) => (op, a, b),
    };
    let is_variable = a.dimension().is_some();
    let (Range::Within(a_least, a_most), Range::Within(b_least, b_most)) =
        (range(a, loops)?, range(b, loops)?)
    else {
        return Some(Range::Beyond);
    };
    let divisor = (b_least == b_most && b_least > 0).then_some(b_least);
    Some(match (op, divisor) {
        (AffineOp::Add, _) => within(a_least.checked_add(b_least), a_most.checked_add(b_most)),
        (AffineOp::Subtract, _) => within(a_least.checked_sub(b_most), a_most.checked_sub(b_least)),
        (AffineOp::Multiply, _) => {
            let corners = [a_least, a_most].map(|a| [b_least, b_most].map(|b| a.checked_mul(b)));
            let corners = corners.concat().into_iter().collect::<Option<Vec<i128>>>();
            let corners = corners.unwrap_or_default();
            within(corners.iter().min().copied(), corners.iter().max().copied())
        }
        (AffineOp::FloorDivide, Some(by)) => {
            Range::Within(a_least.div_euclid(by), a_most.div_euclid(by))
        }
        (AffineOp::CeilDivide, Some(by)) => {
            let up = |value: i128| value.div_euclid(by) + i128::from(value.rem_euclid(by) > 0);
            Range::Within(up(a_least), up(a_most))
        }
        // A loop goes through all remainders before it comes to one again.
        (AffineOp::Modulo, Some(by)) if is_variable => Range::Within(0, a_most.min(by - 1)),
        _ => return None,
    })
}

fn map_of(n_dimensions: usize, results: Vec<AffineExpr>) -> AffineMap {
    AffineMap {
        n_dimensions,
        n_symbols: 0,
        results,
    }
}

fn generic(op: Operation<'_>) -> Result<Structured<'_>> {
    let list = |name: &str| match op.attribute(name) {
        Some(Attribute::Array(list)) => list.as_slice(),
        _ => &[],
    };
    let maps = list("indexing_maps").iter().filter_map(|map| match map {
        Attribute::Map(map) => Some(map.clone()),
        _ => None,
    });
    let mut reductions = Vec::new();
    for iterator in list("iterator_types") {
        let name = match iterator {
            Attribute::Text(name) | Attribute::Dialect(_, name) => name.as_str(),
            _ => "",
        };
        match name {
            "parallel" => reductions.push(false),
            "reduction" => reductions.push(true),
            _ => {
                let module = op.module();
                let message = format!("an iterator of type `{name}` has no loop");
                return Err(Diagnostic::new(code::NOT_RUN, message)
                    .at(module.source(), op.data().span, "of this operation")
                    .help("write `parallel` or `reduction`"));
            }
        }
    }
    let Some(block) = op.region("region").block else {
        let message = "a body without operations";
        return Err(Diagnostic::new(code::NOT_RUN, message)
            .at(op.module().source(), op.data().span, "of this operation")
            .help("yield a value for each result"));
    };
    Ok(Structured {
        op,
        reductions,
        maps: maps.collect(),
        body: Body::Region(block),
    })
}
