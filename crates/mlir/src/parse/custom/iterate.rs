//! Loops over iteration spaces: `sparse_tensor.iterate` and `coiterate`.

use sparsec_base::{Diagnostic, Result, Span, code};

use crate::attribute::Attribute;
use crate::lex::Kind;
use crate::module::{Origin, Value};
use crate::release::Releases;
use crate::types::Type;

use super::super::Parser;
use super::super::counted;
use super::super::pending::Pending;
use super::super::region::Argument;
use super::Binding;

/// The most levels and spaces, since a set of 64 bits marks the ones in use.
const MOST: usize = 64;

impl Parser {
    /// `%it in %space at(%i, _) iter_args(%x = %y) : type -> (types) { … }`
    pub(super) fn iterate_form(&mut self, pending: &mut Pending) -> Result<()> {
        self.since_iterators(pending.span)?;
        let token = self
            .cursor
            .expect_kind(Kind::Value, "the name of the iterator")?;
        let iterator = self.cursor.slice(token.span)[1..].to_owned();
        self.cursor.expect("in")?;
        pending.operands[0] = vec![self.value_use()?];
        let coords = self.used_coordinates()?;
        let mut carried = Vec::new();
        if self.cursor.eat("iter_args") {
            carried = self.bindings()?;
        }
        self.cursor.expect(":")?;
        let start = self.cursor.peek().span;
        let space = self.ty()?;
        let carried = self.carried_types(carried, pending)?;
        let Some((iterator_type, n_levels)) = Self::iterator_of(&space) else {
            return Err(self.no_space(start));
        };
        if !coords.is_empty() && coords.len() as u64 != n_levels {
            let message = format!(
                "{} of {}",
                counted(coords.len(), "coordinate"),
                counted(n_levels as usize, "level")
            );
            return Err(self
                .fault(code::BAD_COUNT, message, start, "the space")
                .help("name one coordinate for each level, or `_`"));
        }
        let mut arguments = vec![Argument {
            name: iterator,
            span: token.span,
            ty: iterator_type,
        }];
        let used = self.coordinate_arguments(coords, &mut arguments);
        arguments.extend(carried);
        pending.operand_types[0] = Some(vec![space]);
        pending.attributes.push(("crdUsedLvls".to_owned(), used));
        let region = self.region(pending.definition, Some(arguments))?;
        pending.regions.push(region);
        self.attributes_behind_region(pending)
    }

    fn no_space(&self, span: Span) -> Diagnostic {
        self.fault(
            code::OPERAND_TYPE,
            "a loop over what is no iteration space",
            span,
            "another type",
        )
        .help("write `!sparse_tensor.iter_space<#CSR, lvls = 0>`")
    }

    /// `at(%i, _)`: the name of each coordinate, `None` for `_`.
    fn used_coordinates(&mut self) -> Result<Vec<Option<(String, Span)>>> {
        if !self.cursor.eat("at") {
            return Ok(Vec::new());
        }
        self.cursor.expect("(")?;
        let found = self.list(")", Self::name_or_none)?;
        match found.len() > MOST {
            true => Err(self
                .fault(
                    code::BAD_NUMBER,
                    format!("{} coordinates", found.len()),
                    self.cursor.before(),
                    "too many",
                )
                .help(format!("name at most {MOST}"))),
            false => Ok(found),
        }
    }

    fn name_or_none(&mut self) -> Result<Option<(String, Span)>> {
        if self.cursor.eat("_") {
            return Ok(None);
        }
        let token = self.cursor.expect_kind(Kind::Value, "a name or `_`")?;
        Ok(Some((
            self.cursor.slice(token.span)[1..].to_owned(),
            token.span,
        )))
    }

    /// Gives the bodies of loops over iteration spaces in the generic form the order of arguments
    /// that the forms have: the iterator first in `iterate`, and coordinates before carried values.
    /// Release 20 writes carried values, coordinates and iterators.
    pub(in super::super) fn order_arguments(&mut self, pending: &Pending) -> Result<()> {
        let is_iterate = pending.definition.name == "sparse_tensor.iterate";
        if !is_iterate && pending.definition.name != "sparse_tensor.coiterate" {
            return Ok(());
        }
        let n_carried = pending.operands[1].len();
        for region in &pending.regions {
            let Some(block) = self.module.regions[*region].block else {
                continue;
            };
            let mut arguments = self.module.blocks[block].arguments.clone();
            let is_iterator = |value: &Value| matches!(self.module.ty(*value), Type::Iterator(_));
            let n_iterators = arguments.iter().filter(|it| is_iterator(it)).count();
            let n_others = arguments.len() - n_iterators;
            let is_last = arguments[n_others..].iter().all(is_iterator);
            if is_iterate && n_others > 0 {
                let releases = match is_last {
                    true => Releases::from(20),
                    false => Releases::until(19),
                };
                self.word_of(releases, pending.definition.name, pending.span)?;
            }
            // Bodies with other arguments are refused where operations are verified.
            if !is_last || n_carried > n_others {
                continue;
            }
            arguments[..n_others].rotate_left(n_carried);
            if is_iterate {
                arguments.rotate_right(n_iterators);
            }
            for (n, value) in arguments.iter().enumerate() {
                self.module.values[*value].origin = Origin::Argument(block, n);
            }
            self.module.blocks[block].arguments = arguments;
        }
        Ok(())
    }

    /// Adds an argument for each named coordinate, and returns the set of their levels.
    fn coordinate_arguments(
        &self,
        coords: Vec<Option<(String, Span)>>,
        to: &mut Vec<Argument>,
    ) -> Attribute {
        let mut used = 0i128;
        for (level, coordinate) in coords.into_iter().enumerate() {
            if let Some((name, span)) = coordinate {
                used |= 1 << level;
                to.push(Argument {
                    name,
                    span,
                    ty: Type::Index,
                });
            }
        }
        Attribute::Integer(used, Type::integer(64))
    }

    /// Reads `-> (types)` for the values that a loop carries, and returns their arguments.
    fn carried_types(
        &mut self,
        bindings: Vec<Binding>,
        pending: &mut Pending,
    ) -> Result<Vec<Argument>> {
        let mut types = Vec::new();
        if self.cursor.eat("->") {
            types = self.result_types()?;
        }
        let carried = self.carried(bindings, &types, &mut pending.operands[1])?;
        pending.operand_types[1] = Some(types.clone());
        pending.result_types[0] = Some(types);
        Ok(carried)
    }

    /// `(%a, %b) at(%i) iter_args(…) : (types) -> types case %it, _ { … } …`
    pub(super) fn coiterate_form(&mut self, pending: &mut Pending) -> Result<()> {
        self.cursor.expect("(")?;
        pending.operands[0] = self.list(")", Self::value_use)?;
        let coords = self.used_coordinates()?;
        let mut carried = Vec::new();
        if self.cursor.eat("iter_args") {
            carried = self.bindings()?;
        }
        self.cursor.expect(":")?;
        self.cursor.expect("(")?;
        let start = self.cursor.peek().span;
        let spaces = self.list(")", Self::ty)?;
        let carried = self.carried_types(carried, pending)?;
        let iterators: Option<Vec<Type>> = spaces
            .iter()
            .map(|space| Self::iterator_of(space).map(|(ty, _)| ty))
            .collect();
        let iterators = iterators
            .filter(|found| found.len() <= MOST)
            .ok_or_else(|| self.no_space(start))?;
        let mut shared = Vec::new();
        let used = self.coordinate_arguments(coords, &mut shared);
        shared.extend(carried);
        pending.operand_types[0] = Some(spaces);
        let mut cases = Vec::new();
        while self.cursor.eat("case") {
            let mut names = vec![self.name_or_none()?];
            while self.cursor.eat(",") {
                names.push(self.name_or_none()?);
            }
            if names.len() != iterators.len() {
                let message = format!(
                    "a case of {} iterators for {} spaces",
                    names.len(),
                    iterators.len()
                );
                return Err(self
                    .fault(
                        code::BAD_COUNT,
                        message,
                        self.cursor.before(),
                        "in this case",
                    )
                    .help("name an iterator of each space, or write `_`"));
            }
            let mut case = 0i128;
            let copied = shared.iter().map(|argument| Argument {
                name: argument.name.clone(),
                span: argument.span,
                ty: argument.ty.clone(),
            });
            let mut arguments: Vec<Argument> = copied.collect();
            for (n, (name, ty)) in names.into_iter().zip(&iterators).enumerate() {
                if let Some((name, span)) = name {
                    case |= 1 << n;
                    arguments.push(Argument {
                        name,
                        span,
                        ty: ty.clone(),
                    });
                }
            }
            cases.push(Attribute::Integer(case, Type::integer(64)));
            let region = self.region(pending.definition, Some(arguments))?;
            pending.regions.push(region);
        }
        pending.attributes.push(("crdUsedLvls".to_owned(), used));
        pending
            .attributes
            .push(("cases".to_owned(), Attribute::Array(cases)));
        self.attributes_behind_region(pending)
    }
}
