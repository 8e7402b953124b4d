//! Operations and kinds of reductions that changed their name and nothing else.

use std::collections::HashMap;
use std::sync::LazyLock;

use sparsec_base::Result;

use crate::attribute::Attribute;
use crate::definition::COMBINING;
use crate::module::Op;
use crate::release::Dialect;
use crate::types::Type;

use super::Rewrite;
use super::steps::{Step, renamed};

/// The earlier name, the later one, and the first release of the later one. The first release of an
/// earlier name is the oldest one, or the one of the line that leads to it.
const NAMES: &[(&str, &str, u8)] = &[
    ("std.constant", "arith.constant", 14),
    ("std.addi", "arith.addi", 14),
    ("std.subi", "arith.subi", 14),
    ("std.muli", "arith.muli", 14),
    ("std.divi_signed", "arith.divsi", 14),
    ("std.divi_unsigned", "arith.divui", 14),
    ("std.remi_signed", "arith.remsi", 14),
    ("std.remi_unsigned", "arith.remui", 14),
    ("std.ceildivi_signed", "arith.ceildivsi", 14),
    ("std.floordivi_signed", "arith.floordivsi", 14),
    ("std.and", "arith.andi", 14),
    ("std.or", "arith.ori", 14),
    ("std.xor", "arith.xori", 14),
    ("std.shift_left", "arith.shli", 14),
    ("std.shift_right_signed", "arith.shrsi", 14),
    ("std.shift_right_unsigned", "arith.shrui", 14),
    ("std.addf", "arith.addf", 14),
    ("std.subf", "arith.subf", 14),
    ("std.mulf", "arith.mulf", 14),
    ("std.divf", "arith.divf", 14),
    ("std.remf", "arith.remf", 14),
    ("std.negf", "arith.negf", 14),
    ("std.cmpi", "arith.cmpi", 14),
    ("std.cmpf", "arith.cmpf", 14),
    ("std.sexti", "arith.extsi", 14),
    ("std.zexti", "arith.extui", 14),
    ("std.trunci", "arith.trunci", 14),
    ("std.fpext", "arith.extf", 14),
    ("std.fptrunc", "arith.truncf", 14),
    ("std.sitofp", "arith.sitofp", 14),
    ("std.uitofp", "arith.uitofp", 14),
    ("std.fptosi", "arith.fptosi", 14),
    ("std.fptoui", "arith.fptoui", 14),
    ("std.index_cast", "arith.index_cast", 14),
    ("std.absf", "math.abs", 14),
    ("math.abs", "math.absf", 16),
    ("std.ceilf", "math.ceil", 14),
    ("std.floorf", "math.floor", 14),
    ("std.copysign", "math.copysign", 14),
    ("std.fmaf", "math.fma", 14),
    ("std.rank", "tensor.rank", 14),
    ("std.splat", "tensor.splat", 15),
    ("std.call", "func.call", 15),
    ("std.return", "func.return", 15),
    ("std.assert", "cf.assert", 15),
    ("std.select", "arith.select", 15),
    ("linalg.tensor_collapse_shape", "tensor.collapse_shape", 14),
    ("linalg.tensor_expand_shape", "tensor.expand_shape", 14),
];

/// The renamed operations as steps.
pub(super) fn steps() -> impl Iterator<Item = Step> {
    NAMES.iter().map(|(from, to, release)| {
        let mut before = NAMES.iter().filter(|(_, later, _)| later == from);
        let since = before.next().map_or(Dialect::OLDEST, |(.., since)| *since);
        renamed((from, since), (to, *release))
    })
}

static LATEST: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let latest = |name: &'static str| {
        let mut found = name;
        while let Some((_, to, _)) = NAMES.iter().find(|(from, ..)| *from == found) {
            found = to;
        }
        found
    };
    NAMES
        .iter()
        .map(|(from, ..)| (*from, latest(from)))
        .collect()
});

/// The latest name of an operation that changed its name and nothing else.
pub(crate) fn latest(name: &'static str) -> &'static str {
    LATEST.get(name).copied().unwrap_or(name)
}

/// Kinds of reductions of vectors of floats, each with its names from early to late.
const KINDS_OF_FLOATS: [&[&str]; 2] = [&["max", "maxf", "maxnumf"], &["min", "minf", "minnumf"]];
/// Kinds of reductions of vectors of integers, each with its names from early to late.
const KINDS_OF_INTEGERS: [&[&str]; 2] = [&["max", "maxsi"], &["min", "minsi"]];

impl Rewrite {
    /// Gives a reduction of vectors the name that the release knows.
    pub(super) fn kind_of_reduction(&mut self, op: Op) -> Result<()> {
        let Some(Attribute::Dialect(dialect, kind)) = self.attribute(op, "kind") else {
            return Ok(());
        };
        let target = self.dialect;
        let is_known = |kind: &str| {
            let found = COMBINING.iter().find(|(known, _)| *known == kind);
            found.is_none_or(|(_, releases)| target.knows(*releases))
        };
        if is_known(&kind) {
            return Ok(());
        }
        let operand = self.module.ops[op].operands.first();
        let element = operand.map(|value| self.module.ty(*value).element());
        let kinds = match element {
            Some(Type::Float(_)) => KINDS_OF_FLOATS,
            _ => KINDS_OF_INTEGERS,
        };
        let mut kinds = kinds
            .into_iter()
            .filter(|names| names.contains(&kind.as_str()));
        let name = kinds.find_map(|names| names.iter().find(|name| is_known(name)));
        let Some(name) = name else {
            let message = format!("release {} has no reductions by `{kind}`", self.dialect);
            return Err(self.refuse(op, message).help("choose a later release"));
        };
        let renamed = Attribute::Dialect(dialect, (*name).to_owned());
        for (known, value) in &mut self.module.ops[op].attributes {
            if known == "kind" {
                *value = renamed.clone();
            }
        }
        Ok(())
    }
}
