//! Regions: their arguments, their terminators and the values that these yield.

use sparsec_base::{Result, code};

use crate::definition::Trait;
use crate::module::{Operation, Region};
use crate::parse::counted;
use crate::types::Type;

use super::Check;

impl Check<'_> {
    /// Rule 3: regions have the right blocks, arguments and terminators.
    pub(super) fn regions(&self, op: Operation<'_>) -> Result<()> {
        let data = op.data();
        self.placement(op)?;
        for (n, region) in data.regions.iter().enumerate() {
            self.ends(op, n, *region)?;
        }
        match op.name() {
            "scf.for" => self.loop_region(op),
            "scf.if" => self.if_regions(op),
            "scf.while" => self.while_regions(op),
            _ => Ok(()),
        }
    }

    /// Checks that a terminator ends its block, and that an operation is inside of its `Within`.
    fn placement(&self, op: Operation<'_>) -> Result<()> {
        let data = op.data();
        let Some(block) = data.block else {
            return Ok(());
        };
        let is_last = self.module.block(block).ops.last() == Some(&op.id());
        if data.definition.has(Trait::Terminator) && !is_last {
            let message = format!("`{}` ends its block, and operations follow", op.name());
            return Err(self
                .of_op(op, code::BAD_REGION, message)
                .help("move it behind them"));
        }
        let wanted = data.definition.traits.iter().find_map(|known| match known {
            Trait::Within(name) => Some(*name),
            _ => None,
        });
        let parent = self
            .module
            .parent(op.id())
            .map(|parent| self.module.op(parent).name());
        match wanted {
            Some(wanted) if parent != Some(wanted) => {
                let message = format!("`{}` stands in `{wanted}`", op.name());
                Err(self.of_op(op, code::BAD_REGION, message).help(format!(
                    "`{}` is in `{}`",
                    op.name(),
                    parent.unwrap_or("no operation")
                )))
            }
            _ => Ok(()),
        }
    }

    fn ends(&self, op: Operation<'_>, n: usize, region: Region) -> Result<()> {
        let definition = op.data().definition;
        let spec = definition.regions.get(n).or(definition.regions.last());
        let name = spec.map_or("region", |spec| spec.name);
        let name = name.strip_suffix("Region").unwrap_or(name);
        let Some(block) = self.module.region(region).block else {
            // These operations may have empty regions.
            let may_be_empty = matches!(
                op.name(),
                "sparse_tensor.binary"
                    | "sparse_tensor.unary"
                    | "builtin.module"
                    | "func.func"
                    | "builtin.func"
            ) || (op.name() == "scf.if" && n == 1);
            if may_be_empty {
                return Ok(());
            }
            let message = format!("`{name}` of `{}` is empty", op.name());
            return Err(self
                .fault(
                    code::BAD_REGION,
                    message,
                    self.module.region(region).span,
                    "no operations",
                )
                .help("end it with the operation that gives its result"));
        };
        if definition.has(Trait::NoTerminator) {
            return Ok(());
        }
        let last = self.module.block(block).ops.last();
        let last = last.map(|last| self.module.op(*last));
        let wanted = match (definition.name, n) {
            ("func.func", _) => "func.return",
            ("builtin.func", _) => "std.return",
            ("scf.while", 0) => "scf.condition",
            ("scf.for" | "scf.if" | "scf.while", _) => "scf.yield",
            (name, _) if name.starts_with("linalg.") => "linalg.yield",
            (name, _) if name.starts_with("sparse_tensor.") => "sparse_tensor.yield",
            (name, _) if name.starts_with("tensor.") => "tensor.yield",
            _ => return Ok(()),
        };
        match last {
            Some(last) if last.name() == wanted => Ok(()),
            last => {
                let (message, span) = match last {
                    Some(last) => (
                        format!(
                            "`{name}` of `{}` ends in `{}`, not in `{wanted}`",
                            op.name(),
                            last.name()
                        ),
                        last.data().span,
                    ),
                    None => (
                        format!("`{name}` of `{}` has no operation", op.name()),
                        self.module.region(region).span,
                    ),
                };
                Err(self
                    .fault(code::BAD_REGION, message, span, "the end of the region")
                    .help(format!("write `{wanted}` at its end")))
            }
        }
    }

    /// Checks the types of a region's arguments.
    pub(super) fn arguments_are(
        &self,
        op: Operation<'_>,
        region: Region,
        types: &[Type],
        what: &str,
    ) -> Result<()> {
        let Some(block) = self.module.region(region).block else {
            return Ok(());
        };
        let arguments = &self.module.block(block).arguments;
        if arguments.len() != types.len() {
            let message = format!(
                "{what} of `{}` has {}, not {}",
                op.name(),
                counted(arguments.len(), "argument"),
                types.len()
            );
            return Err(self
                .fault(
                    code::BAD_REGION,
                    message,
                    self.module.block(block).span,
                    "this region",
                )
                .help(format!(
                    "its arguments are of types {}",
                    self.module.spell().types(types)
                )));
        }
        for (n, (argument, wanted)) in arguments.iter().zip(types).enumerate() {
            let found = self.module.ty(*argument);
            if found != wanted {
                let message = format!(
                    "argument {n} of {what} of `{}` has type `{}`, not `{}`",
                    op.name(),
                    self.text(found),
                    self.text(wanted)
                );
                return Err(self
                    .fault(
                        code::BAD_REGION,
                        message,
                        self.module.value(*argument).span,
                        format!("`{}`", self.text(found)),
                    )
                    .help(format!("write `{}`", self.text(wanted))));
            }
        }
        Ok(())
    }

    /// Checks the types of the values that a region yields.
    pub(super) fn yields_are(
        &self,
        op: Operation<'_>,
        region: Region,
        types: &[Type],
        what: &str,
    ) -> Result<()> {
        let Some(block) = self.module.region(region).block else {
            return Ok(());
        };
        let Some(last) = self.module.block(block).ops.last() else {
            return Ok(());
        };
        let last = self.module.op(*last);
        // The first operand of `scf.condition` is the condition.
        let skipped = usize::from(last.name() == "scf.condition");
        let values = last.data().operands.get(skipped..).unwrap_or_default();
        if values.len() != types.len() {
            let message = format!(
                "{what} of `{}` gives {} values, not {}",
                op.name(),
                values.len(),
                types.len()
            );
            return Err(self
                .fault(code::BAD_REGION, message, last.data().span, "gives them")
                .help(match types.is_empty() {
                    true => "give none".to_owned(),
                    false => format!("give values of types {}", self.module.spell().types(types)),
                }));
        }
        for (n, (value, wanted)) in values.iter().zip(types).enumerate() {
            let found = self.module.ty(*value);
            if found != wanted {
                let message = format!(
                    "{what} of `{}` gives `{}`, not `{}`",
                    op.name(),
                    self.text(found),
                    self.text(wanted)
                );
                let span = last.data().operand_spans[n + skipped];
                return Err(self
                    .fault(
                        code::BAD_REGION,
                        message,
                        span,
                        format!("{} has type `{}`", self.named(*value), self.text(found)),
                    )
                    .help(format!("give a value of type `{}`", self.text(wanted))));
            }
        }
        Ok(())
    }

    fn loop_region(&self, op: Operation<'_>) -> Result<()> {
        let region = op.data().regions[0];
        let carried = op.operand_types("initArgs");
        let mut arguments = vec![op.operand_type("lowerBound").clone()];
        arguments.extend(carried.iter().cloned());
        self.same_results(op, &carried)?;
        self.arguments_are(op, region, &arguments, "the body")?;
        self.yields_are(op, region, &carried, "the body")
    }

    /// Checks that the results have the types of the values that a loop carries.
    pub(super) fn same_results(&self, op: Operation<'_>, carried: &[Type]) -> Result<()> {
        let results = op.result_types();
        if results == carried {
            return Ok(());
        }
        let spell = self.module.spell();
        let message = format!(
            "`{}` carries values of types ({}) and gives ({})",
            op.name(),
            spell.types(carried),
            spell.types(&results)
        );
        Err(self
            .of_op(op, code::TYPES_DIFFER, message)
            .help("give the results the types of the values that it begins with"))
    }

    fn if_regions(&self, op: Operation<'_>) -> Result<()> {
        let results = op.result_types();
        let [then, otherwise] = op.data().regions[..] else {
            return Ok(());
        };
        if !results.is_empty() && self.module.region(otherwise).block.is_none() {
            return Err(self
                .of_op(
                    op,
                    code::BAD_REGION,
                    "`scf.if` with results and without `else`",
                )
                .help("write `else` with a region that gives the results of the other case"));
        }
        for (region, what) in [(then, "the first region"), (otherwise, "`else`")] {
            self.arguments_are(op, region, &[], what)?;
            self.yields_are(op, region, &results, what)?;
        }
        Ok(())
    }

    fn while_regions(&self, op: Operation<'_>) -> Result<()> {
        let [before, after] = op.data().regions[..] else {
            return Ok(());
        };
        let (inits, results) = (op.operand_types("inits"), op.result_types());
        self.arguments_are(op, before, &inits, "the condition")?;
        self.yields_are(op, before, &results, "the condition")?;
        self.arguments_are(op, after, &results, "the body")?;
        self.yields_are(op, after, &inits, "the body")
    }
}
