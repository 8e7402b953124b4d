//! Functions that insert into their arguments.
//!
//! ```text
//! func.func @f(%t: T) {                       func.func @f(%t: T) -> T {
//!   sparse_tensor.lex_insert %t, …              %t1 = sparse_tensor.insert … into %t[…]
//!   return                                      return %t1 : T
//! }                                           }
//! call @f(%a) : (T) -> ()                     %a1 = call @f(%a) : (T) -> T
//! ```
//!
//! A function changes an argument if it inserts into it, or calls a function that does.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::Result;

use crate::attribute::Attribute;
use crate::module::{Block, Op, Value};
use crate::types::{FunctionType, Type};

use super::super::Rewrite;
use super::Newest;

/// The arguments that functions change, by their names.
pub(super) type Effects = BTreeMap<String, Vec<usize>>;

impl Rewrite {
    /// The arguments that each function changes.
    pub(super) fn effects(&self) -> Effects {
        let mut effects = Effects::new();
        // Each round finds the arguments that are changed by one more call.
        loop {
            let mut next = Effects::new();
            for op in self.module.walk() {
                let Some((name, block)) = self.function(op) else {
                    continue;
                };
                let changed = self.changed_in(block, &effects);
                let arguments = self.module.blocks[block].arguments.iter().enumerate();
                let places = arguments.filter(|(_, argument)| changed.contains(argument));
                let places: Vec<usize> = places.map(|(place, _)| place).collect();
                if !places.is_empty() {
                    next.insert(name, places);
                }
            }
            if next == effects {
                return effects;
            }
            effects = next;
        }
    }

    /// The name and the body of a function.
    fn function(&self, op: Op) -> Option<(String, Block)> {
        let operation = self.module.op(op);
        if !matches!(operation.name(), "func.func" | "builtin.func") {
            return None;
        }
        let Some(Attribute::Text(name)) = operation.attribute("sym_name") else {
            return None;
        };
        Some((name.clone(), operation.region("body").block?))
    }

    /// The tensors that an operation changes by an effect of its own or of the function that it calls.
    pub(super) fn all_changed_by(&self, op: Op, effects: &Effects) -> Vec<Value> {
        if let Some(tensor) = self.changed_by(op) {
            return vec![tensor];
        }
        let operands = &self.module.ops[op].operands;
        let places = self.places(op, effects);
        places
            .iter()
            .filter_map(|place| operands.get(*place).copied())
            .collect()
    }

    /// The operands that the function changes which an operation calls.
    fn places<'e>(&self, op: Op, effects: &'e Effects) -> &'e [usize] {
        let path = match self.module.op(op).attribute("callee") {
            Some(Attribute::Symbol(path)) => path.last(),
            _ => None,
        };
        let places = path.and_then(|name| effects.get(name));
        places.map_or(&[], Vec::as_slice)
    }

    /// A call gives the tensors that the function changes.
    pub(super) fn called(&mut self, op: Op, effects: &Effects, newest: &mut Newest) -> Result<()> {
        let tensors = self.all_changed_by(op, effects);
        let operands = &self.module.ops[op].operands;
        for tensor in &tensors {
            if operands.iter().filter(|other| *other == tensor).count() > 1 {
                let message =
                    "a function that inserts into a tensor which it is given twice".to_owned();
                return Err(self
                    .refuse(op, message)
                    .help("give the function the tensor once"));
            }
        }
        for tensor in tensors {
            let result = self.more_result(op, tensor);
            self.is_now(tensor, result, newest);
        }
        Ok(())
    }

    /// A function gives the arguments that it changes, behind its other results.
    pub(super) fn gives_arguments(
        &mut self,
        op: Op,
        block: Block,
        effects: &Effects,
        newest: &Newest,
    ) {
        let places = self.function(op).and_then(|(name, _)| effects.get(&name));
        let Some(places) = places else { return };
        let arguments = &self.module.blocks[block].arguments;
        let given: Vec<Value> = places
            .iter()
            .map(|place| newest.get(&arguments[*place]).copied())
            .zip(places.iter().map(|place| arguments[*place]))
            .map(|(new, old)| new.unwrap_or(old))
            .collect();
        if let Some(last) = self.module.blocks[block].ops.last().copied() {
            let data = &mut self.module.ops[last];
            data.operand_spans.extend(given.iter().map(|_| data.span));
            match data.operand_groups.last_mut() {
                Some(group) => *group += given.len(),
                None => data.operand_groups.push(given.len()),
            }
            data.operands.extend(&given);
        }
        let types: Vec<Type> = given
            .iter()
            .map(|value| self.module.ty(*value).clone())
            .collect();
        for (name, value) in &mut self.module.ops[op].attributes {
            match value {
                Attribute::Type(Type::Function(ty))
                    if name == "type" || name == "function_type" =>
                {
                    let results = ty.results.iter().cloned().chain(types.clone());
                    *ty = Arc::new(FunctionType {
                        inputs: ty.inputs.clone(),
                        results: results.collect(),
                    });
                }
                Attribute::Array(list) if name == "res_attrs" => {
                    list.extend(types.iter().map(|_| Attribute::Dictionary(Vec::new())));
                }
                _ => {}
            }
        }
    }
}
