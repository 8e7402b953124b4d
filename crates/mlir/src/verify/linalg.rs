//! `linalg`: indexing maps, extents, and the body.

use sparsec_base::{Result, code};

use crate::affine::{AffineExpr, AffineMap};
use crate::attribute::Attribute;
use crate::definition::Trait;
use crate::module::Operation;
use crate::named::named_iteration;
use crate::parse::counted;
use crate::types::Type;

use super::Check;

impl Check<'_> {
    /// Rule 5 for `linalg`.
    pub(super) fn linalg(&self, op: Operation<'_>, word: &str) -> Result<()> {
        if word == "index" {
            return self.dimension(op);
        }
        if !op.data().definition.has(Trait::Structured) {
            return Ok(());
        }
        self.one_memory(op)?;
        self.outputs(op)?;
        if word == "fill"
            && let Some(input) = op.operands("inputs").first()
            && self.module.ty(*input).is_shaped()
        {
            let message = format!("a fill with `{}`", self.text(self.module.ty(*input)));
            return Err(self
                .of_op(op, code::OPERAND_TYPE, message)
                .help("fill with one number"));
        }
        if word == "broadcast" {
            return self.broadcast(op);
        }
        if word == "transpose" {
            self.permutation(op)?;
        }
        if word.contains("conv_") || word.starts_with("pooling_") {
            self.windows(op, word)?;
        }
        match word {
            "generic" => self.generic(op),
            word => match named_maps(word, op) {
                Some(maps) => {
                    self.maps_fit(op, &maps)?;
                    self.real_entries(op, word)
                }
                None => self.operands_of_word(op),
            },
        }
    }

    /// Checks that the results have the types of the outputs that are tensors.
    fn outputs(&self, op: Operation<'_>) -> Result<()> {
        let outputs = op.operand_types("outputs");
        let tensors: Vec<Type> = outputs
            .into_iter()
            .filter(|ty| matches!(ty, Type::Tensor(_)))
            .collect();
        let results = op.result_types();
        if tensors == results {
            return Ok(());
        }
        let spell = self.module.spell();
        let message = format!(
            "`{}` gives ({}), and its outputs are ({})",
            op.name(),
            spell.types(&results),
            spell.types(&tensors)
        );
        Err(self
            .of_op(op, code::TYPES_DIFFER, message)
            .help("give a result of the type of each output that is a tensor"))
    }

    /// Checks that a named operation has its operands: each has a map.
    fn operands_of_word(&self, op: Operation<'_>) -> Result<()> {
        let n = op.data().operands.len();
        match named_iteration(op) {
            Some(named) if named.maps.len() != n => Err(self
                .of_op(
                    op,
                    code::BAD_COUNT,
                    format!(
                        "{} for {} of `{}`",
                        counted(n, "operand"),
                        named.maps.len(),
                        op.name()
                    ),
                )
                .help("write its inputs in `ins` and its output in `outs`")),
            _ => Ok(()),
        }
    }

    /// Checks that functions of floats have floats, and that sums and products of entries have
    /// entries of one type.
    fn real_entries(&self, op: Operation<'_>, word: &str) -> Result<()> {
        let is_function = matches!(word, "abs" | "exp" | "log" | "negf" | "floor" | "ceil");
        let is_pair = matches!(word, "add" | "sub" | "mul" | "div" | "max" | "min");
        if !is_function && !is_pair {
            return Ok(());
        }
        let values = op.data().operands.iter();
        let types: Vec<&Type> = values
            .map(|value| self.module.ty(*value).element())
            .collect();
        if let Some(n) = types.iter().position(|ty| *ty != types[0]) {
            let message = format!(
                "entries of `{}` and `{}` in `{}`",
                self.text(types[0]),
                self.text(types[n]),
                op.name()
            );
            return Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help("convert entries before: these operations do not"));
        }
        match is_function && !matches!(types[0], Type::Float(_)) {
            false => Ok(()),
            true => Err(self
                .of_op(
                    op,
                    code::OPERAND_TYPE,
                    format!("`{}` of `{}`", op.name(), self.text(types[0])),
                )
                .help("use floats, or `linalg.generic` with an operation of integers")),
        }
    }

    /// Checks that operands are tensors or memrefs, not both.
    fn one_memory(&self, op: Operation<'_>) -> Result<()> {
        let types = || op.data().operands.iter().map(|it| self.module.ty(*it));
        let has_tensors = types().any(|ty| matches!(ty, Type::Tensor(_)));
        let has_memrefs = types().any(|ty| matches!(ty, Type::MemRef(_)));
        match has_tensors && has_memrefs && !self.is_before(17) {
            false => Ok(()),
            true => Err(self
                .of_op(op, code::OPERAND_TYPE, "tensors beside memrefs")
                .help("make tensors of the memrefs: `bufferization.to_tensor`")),
        }
    }

    /// Checks that the input has the modes of the output that `dimensions` leaves.
    fn broadcast(&self, op: Operation<'_>) -> Result<()> {
        let (inputs, outputs) = (op.operand_types("inputs"), op.operand_types("outputs"));
        let shapes = inputs.first().zip(outputs.first());
        let shapes = shapes.and_then(|(from, to)| from.shape().zip(to.shape()));
        let added = op.attribute("dimensions").and_then(Attribute::integers);
        let (Some((from, to)), Some(added)) = (shapes, added) else {
            return Ok(());
        };
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::SHAPE_MISMATCH, message)
                .help(help.to_owned()))
        };
        let is_mode = |mode: &i128| (0..to.len() as i128).contains(mode);
        if let Some(mode) = added.iter().find(|mode| !is_mode(mode)) {
            let message = format!("mode {mode} of an output of order {}", to.len());
            return bad(message, "modes are counted from 0");
        }
        let kept = (0..to.len()).filter(|mode| !added.contains(&(*mode as i128)));
        let kept: Vec<Option<u64>> = kept.map(|mode| to[mode]).collect();
        match kept == from && from.len() + added.len() == to.len() {
            true => Ok(()),
            false => bad(
                "an input of other extents than the modes of the output that are not added"
                    .to_owned(),
                "give `dimensions` the modes of the output that the input lacks",
            ),
        }
    }

    fn generic(&self, op: Operation<'_>) -> Result<()> {
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::BAD_INDEXING, message)
                .help(help.to_owned()))
        };
        let maps: Option<Vec<AffineMap>> = match op.attribute("indexing_maps") {
            Some(Attribute::Array(maps)) => {
                let map = |entry: &Attribute| match entry {
                    Attribute::Map(map) => Some(map.clone()),
                    _ => None,
                };
                maps.iter().map(map).collect()
            }
            _ => None,
        };
        let Some(maps) = maps else {
            return bad(
                "`indexing_maps` is a list of affine maps".to_owned(),
                "write `affine_map<(i) -> (i)>`",
            );
        };
        let n_operands = op.data().operands.len();
        if maps.len() != n_operands {
            let message = format!(
                "{} for {}",
                counted(maps.len(), "map"),
                counted(n_operands, "operand")
            );
            return bad(
                message,
                "write a map for each operand, those of `ins` first",
            );
        }
        let iterators: Option<Vec<&str>> = match op.attribute("iterator_types") {
            Some(Attribute::Array(list)) => list.iter().map(text_of).collect(),
            _ => None,
        };
        let is_known = |word: &&str| match *word {
            "parallel" | "reduction" => true,
            // An early kind of iterators, which computes as `reduction` does.
            "window" => self.is_before(16),
            _ => false,
        };
        let iterators = iterators.filter(|list| list.iter().all(is_known));
        let Some(iterators) = iterators else {
            return bad(
                "`iterator_types` is a list of `\"parallel\"` and `\"reduction\"`".to_owned(),
                "write one of them for each dimension of the maps",
            );
        };
        for map in &maps {
            if map.n_dimensions != iterators.len() || map.n_symbols > 0 {
                let message = format!(
                    "an indexing map of {} dimensions and {} symbols for {} iterators",
                    map.n_dimensions,
                    map.n_symbols,
                    iterators.len()
                );
                return bad(
                    message,
                    "give each map one dimension for each iterator, and no symbols",
                );
            }
        }
        self.maps_fit(op, &maps)?;
        let is_bare = |n: &usize| {
            let results = maps.iter().flat_map(|map| &map.results);
            results
                .into_iter()
                .any(|result| *result == AffineExpr::Dimension(*n))
        };
        if let Some(n) = (0..iterators.len()).find(|n| !is_bare(n)) {
            return bad(
                format!("no operand has the extent of d{n}"),
                "give one map the dimension alone as a result",
            );
        }
        if self.is_before(16) && !reduced_outputs(op).is_empty() {
            return bad(
                "an output at coordinates of a reduction".to_owned(),
                "releases up to 15 have outputs at parallel iterators",
            );
        }
        self.generic_body(op)
    }

    /// Checks that the body takes an entry of each operand and yields an entry of each output.
    fn generic_body(&self, op: Operation<'_>) -> Result<()> {
        let entry = |value: &crate::module::Value| self.module.ty(*value).element().clone();
        let all: Vec<Type> = op.data().operands.iter().map(entry).collect();
        let outputs: Vec<Type> = op.operands("outputs").iter().map(entry).collect();
        let region = op.data().regions[0];
        self.arguments_are(op, region, &all, "the body")?;
        self.yields_are(op, region, &outputs, "the body")
    }

    /// Checks that each map has a result for each mode of its operand, and that extents agree.
    fn maps_fit(&self, op: Operation<'_>, maps: &[AffineMap]) -> Result<()> {
        let mut extents: Vec<Option<(u64, usize)>> =
            vec![None; maps.first().map_or(0, |map| map.n_dimensions)];
        for (n, (value, map)) in op.data().operands.iter().zip(maps).enumerate() {
            let ty = self.module.ty(*value);
            let shape = ty.shape().unwrap_or_default();
            let span = op.data().operand_spans[n];
            if shape.len() != map.results.len() {
                let message = format!(
                    "{} has {}, and its indexing map {}",
                    self.named(*value),
                    counted(shape.len(), "mode"),
                    counted(map.results.len(), "result")
                );
                return Err(self
                    .fault(
                        code::BAD_INDEXING,
                        message,
                        span,
                        format!("`{}`", self.text(ty)),
                    )
                    .help("give the map a result for each mode"));
            }
            for (extent, result) in shape.iter().zip(&map.results) {
                let (Some(extent), AffineExpr::Dimension(dimension)) = (extent, result) else {
                    continue;
                };
                match extents[*dimension] {
                    Some((known, at)) if known != *extent => {
                        let message =
                            format!("dimension d{dimension} has two extents, {known} and {extent}");
                        return Err(self
                            .fault(
                                code::SHAPE_MISMATCH,
                                message,
                                span,
                                format!("{extent} here"),
                            )
                            .also(
                                self.module.source(),
                                op.data().operand_spans[at],
                                format!("{known} here"),
                            )
                            .help("use operands of the same extent along this dimension"));
                    }
                    Some(_) => {}
                    None => extents[*dimension] = Some((*extent, n)),
                }
            }
        }
        let extents = extents
            .into_iter()
            .map(|found| found.map(|(extent, _)| extent));
        match extents.collect::<Option<Vec<u64>>>() {
            Some(extents) => self.places_fit(op, maps, &extents),
            None => Ok(()),
        }
    }

    /// Checks that no map leads outside of its operand, where all extents are known.
    fn places_fit(&self, op: Operation<'_>, maps: &[AffineMap], loops: &[u64]) -> Result<()> {
        if loops.contains(&0) {
            return Ok(());
        }
        let last: Option<Vec<i64>> = loops.iter().map(|n| i64::try_from(n - 1).ok()).collect();
        let Some(last) = last else { return Ok(()) };
        let first = vec![0; last.len()];
        for (n, (value, map)) in op.data().operands.iter().zip(maps).enumerate() {
            let shape = self.module.ty(*value).shape().unwrap_or_default();
            for (extent, result) in shape.iter().zip(&map.results) {
                let ends = [&first, &last].map(|at| result.value(at, &[]));
                let (Some(extent), [Some(a), Some(b)]) = (extent, ends) else {
                    continue;
                };
                let (least, most) = (a.min(b), a.max(b));
                if least >= 0 && most < i64::try_from(*extent).unwrap_or(i64::MAX) {
                    continue;
                }
                let place = if least < 0 { least } else { most };
                let message = format!(
                    "{} of extent {extent} is read at place {place}",
                    self.named(*value)
                );
                return Err(self
                    .fault(
                        code::SHAPE_MISMATCH,
                        message,
                        op.data().operand_spans[n],
                        format!("`{}`", self.text(self.module.ty(*value))),
                    )
                    .help("give the operand an entry at each place of the windows"));
            }
        }
        Ok(())
    }
}

/// The reduction iterators whose coordinates outputs have.
pub(crate) fn reduced_outputs(op: Operation<'_>) -> Vec<usize> {
    let (Some(Attribute::Array(maps)), Some(Attribute::Array(iterators))) = (
        op.attribute("indexing_maps"),
        op.attribute("iterator_types"),
    ) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for map in maps.iter().rev().take(op.operands("outputs").len()) {
        let Attribute::Map(map) = map else { continue };
        for result in &map.results {
            result.for_each_dimension(&mut |n| {
                let is_reduced = iterators.get(n).and_then(text_of) == Some("reduction");
                if is_reduced {
                    found.push(n);
                }
            });
        }
    }
    found
}

/// The indexing maps of a named operation.
pub(crate) fn named_maps(word: &str, op: Operation<'_>) -> Option<Vec<AffineMap>> {
    match word {
        "transpose" => transposed(op),
        "copy" | "add" | "sub" | "mul" | "div" | "max" | "min" | "abs" | "exp" | "log" | "negf"
        | "floor" | "ceil" => {
            let order = op
                .module()
                .ty(*op.operands("outputs").first()?)
                .shape()?
                .len();
            let n = op.data().operands.len();
            Some(vec![AffineMap::identity(order); n])
        }
        _ => {
            let maps = named_iteration(op)?.maps;
            (maps.len() == op.data().operands.len()).then_some(maps)
        }
    }
}

/// The content of a text attribute.
fn text_of(attribute: &Attribute) -> Option<&str> {
    match attribute {
        Attribute::Text(text) => Some(text),
        _ => None,
    }
}

/// Mode `n` of the output is mode `permutation[n]` of the input.
fn transposed(op: Operation<'_>) -> Option<Vec<AffineMap>> {
    let order = op
        .module()
        .ty(*op.operands("outputs").first()?)
        .shape()?
        .len();
    let permutation = op.attribute("permutation")?.integers()?;
    let mut input = vec![AffineExpr::Constant(0); order];
    for (n, mode) in permutation.iter().enumerate() {
        *input.get_mut(usize::try_from(*mode).ok()?)? = AffineExpr::Dimension(n);
    }
    let map = AffineMap {
        n_dimensions: order,
        n_symbols: 0,
        results: input,
    };
    Some(vec![map, AffineMap::identity(order)])
}
