//! Operands and results of the generic form, in the groups of a definition.
//!
//! One group of variable size gets all values that the others leave. If several groups have a
//! variable size, an attribute lists the sizes: `operandSegmentSizes = array<i32: 1, 2>`.

use sparsec_base::{Result, Span, code};

use crate::attribute::{Attribute, Dictionary};
use crate::definition::{Constraint, Count, Definition, Group, Trait};
use crate::types::{FunctionType, Type};

use super::Parser;
use super::operation::counted;
use super::pending::{Pending, Use};

/// The names of the attribute with the sizes of groups of operands.
const SEGMENTS: [&str; 2] = ["operandSegmentSizes", "operand_segment_sizes"];
/// The names of the attribute with the sizes of groups of results.
const RESULT_SEGMENTS: [&str; 2] = ["resultSegmentSizes", "result_segment_sizes"];

impl Parser {
    /// Sorts operands and types of the generic form into the groups of a definition.
    pub(super) fn grouped(
        &self,
        definition: &'static Definition,
        operands: &[Use],
        types: &FunctionType,
        attributes: &Dictionary,
        span: Span,
    ) -> Result<Pending> {
        let mut pending = Pending::new(definition, span);
        let segments = |names: &[&str]| {
            let given = attributes
                .iter()
                .find(|(name, _)| names.contains(&name.as_str()));
            given.and_then(|(_, value)| value.integers())
        };
        let sizes = segments(&SEGMENTS).map(|mut sizes| {
            // Release 15 has no hint of a size.
            if definition.name == "bufferization.alloc_tensor" && sizes.len() == 2 {
                sizes.push(0);
            }
            sizes
        });
        let counts = self.counts(
            &definition.operands,
            operands.len(),
            sizes,
            "operand",
            &pending,
        )?;
        let mut at = 0;
        for (n, count) in counts.into_iter().enumerate() {
            pending.operands[n] = operands[at..at + count].to_vec();
            // Definitions of one name may differ in this type only.
            if let Constraint::Exactly(wanted) = &definition.operands[n].ty
                && let Some(other) = types.inputs[at..at + count].iter().find(|ty| *ty != wanted)
            {
                let spell = self.module.spell();
                let message = format!(
                    "`{}` of `{}` has type `{}`, not `{}`",
                    definition.operands[n].name,
                    definition.name,
                    spell.ty(other),
                    spell.ty(wanted)
                );
                return Err(self
                    .fault(
                        code::TYPES_DIFFER,
                        message,
                        operands[at].span,
                        "another type",
                    )
                    .help(format!("give it a value of type `{}`", spell.ty(wanted))));
            }
            pending.operand_types[n] = Some(types.inputs[at..at + count].to_vec());
            at += count;
        }
        let counts = self.counts(
            &definition.results,
            types.results.len(),
            segments(&RESULT_SEGMENTS),
            "result",
            &pending,
        )?;
        let mut at = 0;
        for (n, count) in counts.into_iter().enumerate() {
            pending.result_types[n] = Some(types.results[at..at + count].to_vec());
            at += count;
        }
        let is_segments = |name: &str| SEGMENTS.contains(&name) || RESULT_SEGMENTS.contains(&name);
        let is_own = |(name, _): &&(String, Attribute)| {
            // The name of an operation determines these attributes.
            !is_segments(name) && name != "linalg.memoized_indexing_maps"
        };
        pending.attributes = attributes.iter().filter(is_own).cloned().collect();
        Ok(pending)
    }

    /// Checks that the values of `assemble` and `disassemble` have the type of the tensor's entries.
    /// Releases 18 and 19 differ in the order of the operands, and this tells them apart.
    pub(super) fn values_fit(&self, pending: &Pending) -> Result<()> {
        let definition = pending.definition;
        let words = ["assemble", "pack", "disassemble", "unpack"];
        let word = definition.name.strip_prefix("sparse_tensor.");
        if !word.is_some_and(|word| words.contains(&word)) {
            return Ok(());
        }
        let groups = definition.operands.iter().zip(&pending.operand_types);
        let given = groups.filter(|(group, _)| group.name.ends_with("values"));
        let values = given
            .filter_map(|(_, types)| types.as_ref()?.first())
            .next();
        let of_tensor = |types: &Vec<Option<Vec<Type>>>| {
            let types = types.iter().flatten().flatten();
            types
                .into_iter()
                .find(|ty| ty.encoding().is_some())
                .cloned()
        };
        let tensor = of_tensor(&pending.operand_types).or(of_tensor(&pending.result_types));
        let (Some(values), Some(tensor)) = (values, tensor) else {
            return Ok(());
        };
        if values.element() == tensor.element() {
            return Ok(());
        }
        let spell = self.module.spell();
        let (found, wanted) = (spell.ty(values.element()), spell.ty(tensor.element()));
        Err(self
            .fault(
                code::BUFFER_TYPE,
                format!("values are `{wanted}`, not `{found}`"),
                pending.span,
                "of this operation",
            )
            .help(format!("give values of type `{wanted}`")))
    }

    pub(super) fn counts(
        &self,
        groups: &[Group],
        n: usize,
        segments: Option<Vec<i128>>,
        thing: &str,
        pending: &Pending,
    ) -> Result<Vec<usize>> {
        let wrong = |help: &str| {
            let message = format!(
                "`{}` does not have {}",
                pending.definition.name,
                counted(n, thing)
            );
            Err(self
                .fault(code::BAD_COUNT, message, pending.span, "of this operation")
                .help(help.to_owned()))
        };
        let open = groups
            .iter()
            .filter(|group| group.count != Count::One)
            .count();
        let fixed = groups.len() - open;
        if open > 1 {
            let is_even = pending.definition.has(Trait::SameSize)
                && n >= fixed
                && (n - fixed).is_multiple_of(open);
            if is_even && thing == "result" && segments.is_none() {
                let count = |group: &Group| match group.count {
                    Count::One => 1,
                    _ => (n - fixed) / open,
                };
                return Ok(groups.iter().map(count).collect());
            }
            let Some(segments) = segments else {
                return wrong(&format!(
                    "say how many each group has: `{thing}SegmentSizes = array<i32: …>`"
                ));
            };
            let counts: Option<Vec<usize>> =
                segments.iter().map(|n| usize::try_from(*n).ok()).collect();
            let counts = counts.filter(|counts| {
                let sum = counts.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
                counts.len() == groups.len() && sum == Some(n)
            });
            return match counts {
                Some(counts) => Ok(counts),
                None => wrong(&format!(
                    "`{thing}SegmentSizes` is to have {} that add up to {n}",
                    counted(groups.len(), "number")
                )),
            };
        }
        if n < fixed || (open == 0 && n > fixed) {
            let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
            return wrong(&format!("its {thing}s are {}", names.join(", ")));
        }
        let count = |group: &Group| match group.count {
            Count::One => 1,
            _ => n - fixed,
        };
        Ok(groups.iter().map(count).collect())
    }
}
