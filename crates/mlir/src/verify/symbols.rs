//! Functions and calls.

use std::collections::HashMap;

use sparsec_base::suggest::closest;
use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::module::{Block, Module, Op, Operation};
use crate::types::{FunctionType, Type};

use super::Check;

/// The name and the type of a function; `None` for other operations.
pub(crate) fn function(op: Operation<'_>) -> Option<(&str, &FunctionType)> {
    let key = match op.name() {
        "func.func" => "function_type",
        "builtin.func" => "type",
        _ => return None,
    };
    match (op.attribute("sym_name"), op.attribute(key)) {
        (Some(Attribute::Text(name)), Some(Attribute::Type(Type::Function(ty)))) => {
            Some((name, ty))
        }
        _ => None,
    }
}

/// The functions of each block by their names; the first one of a name.
pub(super) fn functions(module: &Module) -> HashMap<(Block, &str), Op> {
    let mut found = HashMap::new();
    for op in module.walk() {
        let op = module.op(op);
        if let (Some(block), Some((name, _))) = (op.data().block, function(op)) {
            found.entry((block, name)).or_insert(op.id());
        }
    }
    found
}

impl Check<'_> {
    /// Rule 4: symbols name functions, and calls fit their types.
    pub(super) fn symbols(&self, op: Operation<'_>) -> Result<()> {
        match op.name() {
            "builtin.module" => self.distinct_names(op),
            "func.func" | "builtin.func" => self.function(op),
            "func.return" | "std.return" => self.returns(op),
            "func.call" | "std.call" => self.call(op),
            _ => Ok(()),
        }
    }

    fn distinct_names(&self, op: Operation<'_>) -> Result<()> {
        let Some(block) = op
            .data()
            .regions
            .first()
            .and_then(|region| self.module.region(*region).block)
        else {
            return Ok(());
        };
        let mut known: HashMap<&str, Op> = HashMap::new();
        for inner in &self.module.block(block).ops {
            let Some((name, _)) = function(self.module.op(*inner)) else {
                continue;
            };
            if let Some(first) = known.insert(name, *inner) {
                let message = format!("two functions are named `@{name}`");
                return Err(self
                    .of_op(self.module.op(*inner), code::DEFINED_TWICE, message)
                    .also(
                        self.module.source(),
                        self.module.op(first).data().span,
                        "the first",
                    )
                    .help("rename one of them"));
            }
        }
        Ok(())
    }

    fn function(&self, op: Operation<'_>) -> Result<()> {
        let Some((name, ty)) = function(op) else {
            return Ok(());
        };
        let body = op
            .data()
            .regions
            .first()
            .filter(|region| self.module.region(**region).block.is_some());
        match body {
            Some(body) => self.arguments_are(op, *body, &ty.inputs, "the body"),
            None => {
                let is_private = matches!(op.attribute("sym_visibility"), Some(Attribute::Text(word)) if word == "private");
                match is_private {
                    true => Ok(()),
                    false => Err(self
                        .of_op(
                            op,
                            code::BAD_CALL_SYMBOL,
                            format!("`@{name}` has no body and is not private"),
                        )
                        .help(format!(
                            "declare it as `{} private @{name}`",
                            op.name().trim_start_matches("builtin.")
                        ))),
                }
            }
        }
    }

    fn returns(&self, op: Operation<'_>) -> Result<()> {
        let Some(parent) = self.module.parent(op.id()) else {
            return Ok(());
        };
        let Some((name, ty)) = function(self.module.op(parent)) else {
            return Ok(());
        };
        let types = op.operand_types("operands");
        if types == ty.results {
            return Ok(());
        }
        let spell = self.module.spell();
        let message = format!(
            "`@{name}` gives ({}), and returns ({})",
            spell.types(&ty.results),
            spell.types(&types)
        );
        let place = self.module.op(parent).data().span;
        Err(self
            .of_op(op, code::TYPES_DIFFER, message)
            .also(self.module.source(), place, "the function")
            .help("return values of the types behind `->`"))
    }

    fn call(&self, op: Operation<'_>) -> Result<()> {
        let Some(Attribute::Symbol(path)) = op.attribute("callee") else {
            return Ok(());
        };
        let name = path.join("::");
        // The nearest enclosing module.
        let mut around = Some(op.id());
        while let Some(outer) = around
            && self.module.op(outer).name() != "builtin.module"
        {
            around = self.module.parent(outer);
        }
        let block = around.and_then(|module| {
            let region = self.module.op(module).data().regions.first()?;
            self.module.region(*region).block
        });
        let called = block.and_then(|block| self.functions.get(&(block, &name)));
        let Some((_, ty)) = called.and_then(|called| function(self.module.op(*called))) else {
            let ops = block.map_or(&[] as &[Op], |block| &self.module.block(block).ops);
            let functions = ops
                .iter()
                .filter_map(|inner| function(self.module.op(*inner)));
            let error = self.of_op(
                op,
                code::BAD_CALL_SYMBOL,
                format!("no function is named `@{name}`"),
            );
            return Err(
                error.help(match closest(&name, functions.map(|(known, _)| known)) {
                    Some(close) => format!("did you mean `@{close}`?"),
                    None => format!("declare it: `func.func private @{name}(…) -> …`"),
                }),
            );
        };
        let (inputs, results) = (op.operand_types("operands"), op.result_types());
        if inputs == ty.inputs && results == ty.results {
            return Ok(());
        }
        let spell = self.module.spell();
        let message = format!(
            "`@{name}` is of type {}, and called as {}",
            spell.function(&ty.inputs, &ty.results),
            spell.function(&inputs, &results)
        );
        Err(self
            .of_op(op, code::BAD_CALL_SYMBOL, message)
            .help("call it with values of its types, and name results of its types"))
    }
}
