//! Loops and conditions of `scf`.

use sparsec_base::Result;

use crate::lex::Kind;
use crate::types::Type;

use super::super::Parser;
use super::super::pending::Pending;
use super::super::region::Argument;

impl Parser {
    /// `%i = %a to %b step %c iter_args(%x = %y) -> (f64) : i32 { … }`
    pub(super) fn for_form(&mut self, pending: &mut Pending) -> Result<()> {
        let token = self
            .cursor
            .expect_kind(Kind::Value, "the variable of the loop")?;
        let variable = self.cursor.slice(token.span)[1..].to_owned();
        self.cursor.expect("=")?;
        pending.operands[0] = vec![self.value_use()?];
        self.cursor.expect("to")?;
        pending.operands[1] = vec![self.value_use()?];
        self.cursor.expect("step")?;
        pending.operands[2] = vec![self.value_use()?];
        let mut carried = Vec::new();
        let mut types = Vec::new();
        if self.cursor.eat("iter_args") {
            carried = self.bindings()?;
            self.cursor.expect("->")?;
            types = self.result_types()?;
        }
        let mut ty = Type::Index;
        if self.cursor.eat(":") {
            ty = self.ty()?;
        }
        pending.operand_types[0] = Some(vec![ty.clone()]);
        pending.operand_types[3] = Some(types.clone());
        let mut arguments = vec![Argument {
            name: variable,
            span: token.span,
            ty,
        }];
        arguments.extend(self.carried(carried, &types, &mut pending.operands[3])?);
        pending.result_types[0] = Some(types);
        let region = self.region(pending.definition, Some(arguments))?;
        pending.regions.push(region);
        self.attributes_behind_region(pending)
    }

    /// `{a = b}`, if there is one.
    pub(super) fn attributes_behind_region(&mut self, pending: &mut Pending) -> Result<()> {
        if self.cursor.at("{") {
            pending.attributes.extend(self.dictionary()?);
        }
        Ok(())
    }

    /// `%c -> (f64) { … } else { … }`
    pub(super) fn if_form(&mut self, pending: &mut Pending) -> Result<()> {
        pending.operands[0] = vec![self.value_use()?];
        let mut types = Vec::new();
        if self.cursor.eat("->") {
            types = self.result_types()?;
        }
        pending.result_types[0] = Some(types);
        let then = self.region(pending.definition, None)?;
        pending.regions.push(then);
        let otherwise = match self.cursor.eat("else") {
            true => self.region(pending.definition, None)?,
            false => self.empty_region(self.cursor.before()),
        };
        pending.regions.push(otherwise);
        self.attributes_behind_region(pending)
    }

    /// `(%a = %x) : (f64) -> f64 { … } do { … }`
    pub(super) fn while_form(&mut self, pending: &mut Pending) -> Result<()> {
        let mut carried = Vec::new();
        if self.cursor.at("(") {
            carried = self.bindings()?;
        }
        let mut types = Vec::new();
        let mut results = Vec::new();
        if self.cursor.eat(":") {
            let ty = self.function_type()?;
            (types, results) = (ty.inputs, ty.results);
        }
        let arguments = self.carried(carried, &types, &mut pending.operands[0])?;
        pending.operand_types[0] = Some(types);
        pending.result_types[0] = Some(results);
        let before = self.region(pending.definition, Some(arguments))?;
        self.cursor.expect("do")?;
        let after = self.region(pending.definition, None)?;
        pending.regions = vec![before, after];
        if self.cursor.eat("attributes") {
            pending.attributes.extend(self.dictionary()?);
        }
        Ok(())
    }
}
