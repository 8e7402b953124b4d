//! Reading regions. Each has one block.
//!
//! ```text
//! { ^bb0(%i: index, %x: f64):   arguments, unless the form names them before the region
//!   %0 = …                      operations
//! }                             the terminator may be omitted
//! ```

use std::collections::HashMap;

use sparsec_base::{Diagnostic, Result, Span, code};

use crate::definition::{Definition, Trait};
use crate::lex::Kind;
use crate::module::{BlockData, Op, Origin, Region, RegionData, Value};
use crate::types::Type;

use super::Parser;
use super::operation::Scope;
use super::pending::Pending;

/// An argument of a block with its name in the text.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) ty: Type,
}

impl Parser {
    pub(super) fn no_blocks(&self, span: Span) -> Diagnostic {
        self.fault(
            code::BAD_REGION,
            "sparsec reads regions of one block",
            span,
            "another block",
        )
        .help("write loops and conditions as `scf.for`, `scf.while` and `scf.if`")
    }

    /// Reads a region, given the arguments if the form names them before it. The text may omit the
    /// terminator.
    pub(super) fn region(
        &mut self,
        of: &'static Definition,
        arguments: Option<Vec<Argument>>,
    ) -> Result<Region> {
        let always = arguments.is_some()
            || of.has(Trait::NoTerminator)
            || of.implicit_terminator().is_some();
        self.region_in_scope(of, arguments, of.implicit_terminator(), always)
    }

    /// Reads a region of the generic form, which has arguments and terminator.
    pub(super) fn generic_region(&mut self, of: &'static Definition) -> Result<Region> {
        self.region_in_scope(of, None, None, of.has(Trait::NoTerminator))
    }

    pub(super) fn region_in_scope(
        &mut self,
        of: &'static Definition,
        arguments: Option<Vec<Argument>>,
        terminator: Option<&'static str>,
        always: bool,
    ) -> Result<Region> {
        self.deeper(|parser| {
            let start = parser.cursor.expect("{")?;
            parser.scopes.stack.push(Scope {
                is_isolated: of.has(Trait::Isolated),
                dialect: of.inner_dialect(),
                names: HashMap::new(),
            });
            let region = parser.region_inside(arguments, terminator, start, always);
            parser.scopes.stack.pop();
            region
        })
    }

    pub(super) fn region_inside(
        &mut self,
        arguments: Option<Vec<Argument>>,
        terminator: Option<&'static str>,
        start: Span,
        always: bool,
    ) -> Result<Region> {
        let mut has_header = false;
        let mut values = Vec::new();
        for argument in arguments.unwrap_or_default() {
            values.push(self.new_argument(argument)?);
        }
        if self.cursor.kind() == Kind::Caret {
            let token = self.cursor.take();
            if !values.is_empty() {
                return Err(self
                    .fault(
                        code::BAD_REGION,
                        "a block with arguments that are named already",
                        token.span,
                        "a second list",
                    )
                    .help("leave this line out"));
            }
            has_header = true;
            if self.cursor.eat("(") {
                let named = self.list(")", Self::argument)?;
                for argument in named {
                    values.push(self.new_argument(argument)?);
                }
            }
            self.cursor.expect(":")?;
        }
        let mut ops = Vec::new();
        while !self.cursor.at("}") {
            match self.cursor.kind() {
                Kind::Caret => return Err(self.no_blocks(self.cursor.peek().span)),
                Kind::End => {
                    return Err(self
                        .cursor
                        .unexpected("an operation or `}`")
                        .or_help("close the region with `}`"));
                }
                _ => ops.push(self.operation()?),
            }
        }
        let end = self.cursor.take().span;
        let is_terminated = ops
            .last()
            .is_some_and(|op| self.module.ops[*op].definition.has(Trait::Terminator));
        if let Some(name) = terminator
            && !is_terminated
        {
            let definition = Definition::find(name)[0];
            ops.push(self.make(Pending::new(definition, end))?);
        }
        let has_block = always || has_header || !ops.is_empty();
        Ok(self.new_region(values, ops, start, has_block))
    }

    /// A region without operations, which the text omits.
    pub(super) fn empty_region(&mut self, span: Span) -> Region {
        self.new_region(Vec::new(), Vec::new(), span, false)
    }

    /// `%a : f64`
    pub(super) fn argument(&mut self) -> Result<Argument> {
        let token = self
            .cursor
            .expect_kind(Kind::Value, "the name of an argument")?;
        let name = self.cursor.slice(token.span)[1..].to_owned();
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        self.location_if_any()?;
        Ok(Argument {
            name,
            span: token.span,
            ty,
        })
    }

    pub(super) fn new_argument(&mut self, argument: Argument) -> Result<Value> {
        // Block and number are set when the region is complete.
        let origin = Origin::Argument(sparsec_base::arena::Id::from_index(0), 0);
        let value =
            self.module
                .add_value(argument.name.clone(), argument.ty, origin, argument.span);
        match argument.name.as_str() {
            "" => {}
            _ => self.define(argument.name, value, argument.span)?,
        }
        Ok(value)
    }

    pub(super) fn new_region(
        &mut self,
        arguments: Vec<Value>,
        ops: Vec<Op>,
        span: Span,
        has_block: bool,
    ) -> Region {
        let region = self.module.regions.push(RegionData {
            block: None,
            op: None,
            span,
        });
        if has_block {
            let block = self.module.blocks.push(BlockData {
                arguments: arguments.clone(),
                ops: ops.clone(),
                region,
                span,
            });
            for (n, value) in arguments.into_iter().enumerate() {
                self.module.values[value].origin = Origin::Argument(block, n);
            }
            for op in ops {
                self.module.ops[op].block = Some(block);
            }
            self.module.regions[region].block = Some(block);
        }
        region
    }
}
