//! Forms that the table of definitions cannot describe: functions, loops, `linalg.generic`.

use sparsec_base::{Result, Span, code};

use crate::attribute::{Attribute, Dictionary};
use crate::lex::Kind;
use crate::release::Releases;
use crate::types::{FunctionType, Levels, Type};

use super::Parser;
use super::operation::counted;
use super::pending::{Pending, Use};
use super::region::Argument;

mod iterate;
mod scf;

/// An argument that a loop carries: its name, its place and its initial value.
type Binding = (String, Span, Use);

impl Parser {
    /// Reads the custom part of a form with this name.
    pub(super) fn custom(&mut self, name: &'static str, pending: &mut Pending) -> Result<()> {
        match name {
            "Module" => self.module_form(pending),
            "Function" => self.function_form(pending),
            "Constant" => self.constant_form(pending),
            "Generic" => self.generic_form(pending),
            "Left" => self.side_form("left_identity", pending),
            "Right" => self.side_form("right_identity", pending),
            "LevelRange" => self.level_range_form(pending),
            "For" => self.for_form(pending),
            "If" => self.if_form(pending),
            "While" => self.while_form(pending),
            "Iterate" => self.iterate_form(pending),
            "Coiterate" => self.coiterate_form(pending),
            other => unreachable!("no form is named {other}"),
        }
    }

    /// `module @name attributes {…} { … }`
    fn module_form(&mut self, pending: &mut Pending) -> Result<()> {
        if self.cursor.kind() == Kind::At {
            let name = self.symbol_name()?;
            pending
                .attributes
                .push(("sym_name".to_owned(), Attribute::Text(name)));
        }
        self.attributes_behind_word(pending)?;
        let region = self.region(pending.definition, None)?;
        pending.regions.push(region);
        Ok(())
    }

    /// `attributes {…}`
    fn attributes_behind_word(&mut self, pending: &mut Pending) -> Result<()> {
        if self.cursor.eat("attributes") {
            let start = self.cursor.peek().span;
            for (name, value) in self.dictionary()? {
                self.give(&mut pending.attributes, &name, value, start)?;
            }
        }
        Ok(())
    }

    /// `private @name(%a: f64 {…}) -> (f64 {…}) attributes {…} { … }`
    fn function_form(&mut self, pending: &mut Pending) -> Result<()> {
        for visibility in ["private", "public", "nested"] {
            if self.cursor.eat(visibility) {
                let value = Attribute::Text(visibility.to_owned());
                pending
                    .attributes
                    .push(("sym_visibility".to_owned(), value));
                break;
            }
        }
        let name = self.symbol_name()?;
        pending
            .attributes
            .push(("sym_name".to_owned(), Attribute::Text(name)));
        self.cursor.expect("(")?;
        let arguments = self.list(")", Self::parameter)?;
        let mut results = Vec::new();
        if self.cursor.eat("->") {
            results = match self.cursor.eat("(") {
                true => self.list(")", |parser| {
                    Ok((parser.ty()?, parser.dictionary_if_any()?))
                })?,
                false => vec![(self.ty()?, Dictionary::new())],
            };
        }
        let ty = FunctionType {
            inputs: arguments
                .iter()
                .map(|(argument, _)| argument.ty.clone())
                .collect(),
            results: results.iter().map(|(ty, _)| ty.clone()).collect(),
        };
        let key = match pending.definition.name {
            "builtin.func" => "type",
            _ => "function_type",
        };
        let ty = Attribute::Type(Type::Function(ty.into()));
        pending.attributes.push((key.to_owned(), ty));
        let all = |lists: Vec<Dictionary>| {
            let is_said = lists.iter().any(|list| !list.is_empty());
            is_said
                .then(|| Attribute::Array(lists.into_iter().map(Attribute::Dictionary).collect()))
        };
        let of_arguments = all(arguments.iter().map(|(_, list)| list.clone()).collect());
        let of_results = all(results.into_iter().map(|(_, list)| list).collect());
        for (name, value) in [("arg_attrs", of_arguments), ("res_attrs", of_results)] {
            pending
                .attributes
                .extend(value.map(|value| (name.to_owned(), value)));
        }
        self.attributes_behind_word(pending)?;
        let unnamed = arguments
            .iter()
            .find(|(argument, _)| argument.name.is_empty());
        if self.cursor.at("{") {
            if let Some((argument, _)) = unnamed {
                return Err(self
                    .fault(
                        code::BAD_REGION,
                        "an argument without a name in a function with a body",
                        argument.span,
                        "no name",
                    )
                    .help("name it: `%x: f64`"));
            }
            let arguments = arguments
                .into_iter()
                .map(|(argument, _)| argument)
                .collect();
            let region = self.region(pending.definition, Some(arguments))?;
            pending.regions.push(region);
        } else {
            let region = self.empty_region(self.cursor.before());
            pending.regions.push(region);
        }
        Ok(())
    }

    /// `%a: f64 {…}`, or in a declaration `f64 {…}`.
    fn parameter(&mut self) -> Result<(Argument, Dictionary)> {
        let argument = match self.cursor.kind() {
            Kind::Value => self.argument()?,
            _ => {
                let span = self.cursor.peek().span;
                Argument {
                    name: String::new(),
                    ty: self.ty()?,
                    span,
                }
            }
        };
        let list = self.dictionary_if_any()?;
        self.location_if_any()?;
        Ok((argument, list))
    }

    fn dictionary_if_any(&mut self) -> Result<Dictionary> {
        match self.cursor.at("{") {
            true => self.dictionary(),
            false => Ok(Dictionary::new()),
        }
    }

    /// `1 : index`
    fn constant_form(&mut self, pending: &mut Pending) -> Result<()> {
        if self.cursor.at("{") {
            pending.attributes = self.dictionary()?;
        }
        let start = self.cursor.peek().span;
        let value = self.attribute()?;
        let ty = match &value {
            Attribute::Bool(_) => Type::BOOL,
            Attribute::Integer(_, ty) | Attribute::Float(_, ty) => ty.clone(),
            Attribute::Dense(dense) => dense.ty.clone(),
            Attribute::Sparse(sparse) => sparse.ty.clone(),
            _ => {
                return Err(self
                    .fault(
                        code::BAD_CONSTANT,
                        "a constant is a number or a constant of numbers",
                        start.to(self.cursor.before()),
                        "no number",
                    )
                    .help("write `1 : index`, `0.5 : f32` or `dense<…> : tensor<…>`"));
            }
        };
        // `true` and `1 : i1` are the same constant.
        let value = match value {
            Attribute::Integer(n, ty) if ty == Type::BOOL => Attribute::Bool(n & 1 == 1),
            value => value,
        };
        pending.attributes.push(("value".to_owned(), value));
        pending.result_types[0] = Some(vec![ty]);
        Ok(())
    }

    /// `{…} ins(…) outs(…) attrs = {…} { … } -> type`. An alias may replace the dictionary.
    fn generic_form(&mut self, pending: &mut Pending) -> Result<()> {
        let start = self.cursor.peek().span;
        let entries = match self.attribute()? {
            Attribute::Dictionary(entries) => entries,
            _ => {
                return Err(self
                    .fault(
                        code::UNKNOWN_ATTRIBUTE,
                        "a dictionary is expected here",
                        start.to(self.cursor.before()),
                        "no dictionary",
                    )
                    .help("write `{indexing_maps = […], iterator_types = […]}`"));
            }
        };
        for (name, value) in entries {
            self.give(&mut pending.attributes, &name, value, start)?;
        }
        for (word, group) in [("ins", 0), ("outs", 1)] {
            if !self.cursor.eat(word) {
                continue;
            }
            self.cursor.expect("(")?;
            pending.operands[group] = self.value_uses()?;
            if !pending.operands[group].is_empty() {
                self.cursor.expect(":")?;
                pending.operand_types[group] = Some(self.types()?);
            }
            self.cursor.expect(")")?;
        }
        if self.cursor.eat("attrs") {
            self.cursor.expect("=")?;
            let start = self.cursor.peek().span;
            for (name, value) in self.dictionary()? {
                self.give(&mut pending.attributes, &name, value, start)?;
            }
        }
        let region = self.region(pending.definition, None)?;
        pending.regions.push(region);
        let mut results = Vec::new();
        if self.cursor.eat("->") {
            results = self.result_types()?;
            while self.cursor.eat(",") {
                results.push(self.ty()?);
            }
        }
        pending.result_types[0] = Some(results);
        Ok(())
    }

    /// One side of `sparse_tensor.binary`: `identity` or a region.
    fn side_form(&mut self, identity: &str, pending: &mut Pending) -> Result<()> {
        if self.cursor.at("identity") {
            let span = self.cursor.take().span;
            self.give(&mut pending.attributes, identity, Attribute::Unit, span)?;
            let region = self.empty_region(span);
            pending.regions.push(region);
            return Ok(());
        }
        let region = self.region(pending.definition, None)?;
        pending.regions.push(region);
        Ok(())
    }

    /// `lvls = 0 to 2`
    fn level_range_form(&mut self, pending: &mut Pending) -> Result<()> {
        let (from, to) = self.level_range()?;
        pending
            .attributes
            .push(("loLvl".to_owned(), Attribute::index(from)));
        pending
            .attributes
            .push(("hiLvl".to_owned(), Attribute::index(to)));
        Ok(())
    }

    /// `%a = %init, …` in parentheses.
    fn bindings(&mut self) -> Result<Vec<Binding>> {
        self.cursor.expect("(")?;
        self.list(")", |parser| {
            let token = parser
                .cursor
                .expect_kind(Kind::Value, "the name of an argument")?;
            let name = parser.cursor.slice(token.span)[1..].to_owned();
            parser.cursor.expect("=")?;
            Ok((name, token.span, parser.value_use()?))
        })
    }

    /// Adds the initial values of carried arguments to `operands`, and returns the arguments.
    fn carried(
        &self,
        bindings: Vec<Binding>,
        types: &[Type],
        operands: &mut Vec<Use>,
    ) -> Result<Vec<Argument>> {
        if types.len() != bindings.len() {
            let message = format!(
                "{} for {}",
                counted(bindings.len(), "value"),
                counted(types.len(), "type")
            );
            let span = self.cursor.before();
            return Err(self
                .fault(code::BAD_COUNT, message, span, "types of carried values")
                .help("write a type for each value that the loop carries"));
        }
        let mut arguments = Vec::new();
        for ((name, span, initial), ty) in bindings.into_iter().zip(types) {
            operands.push(initial);
            let ty = ty.clone();
            arguments.push(Argument { name, span, ty });
        }
        Ok(arguments)
    }

    /// The type of an iterator over a space, and the number of its levels.
    fn iterator_of(space: &Type) -> Option<(Type, u64)> {
        match space {
            Type::Space(levels) => {
                let n = levels.to - levels.from;
                Some((
                    Type::Iterator(std::sync::Arc::new(Levels {
                        encoding: levels.encoding.clone(),
                        from: levels.from,
                        to: levels.to,
                    })),
                    n,
                ))
            }
            _ => None,
        }
    }

    /// Narrows the releases to those with iterators.
    fn since_iterators(&mut self, span: Span) -> Result<()> {
        self.word_of(Releases::from(19), "sparse_tensor.iterate", span)
    }
}
