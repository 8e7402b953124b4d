//! Reading operations in the form of their definition.

use sparsec_base::{Diagnostic, Result, Span, code};

use crate::attribute::{Attribute, Number};
use crate::definition::{Anchor, AttributeKind, AttributeSpec, Count, Definition, Directive};
use crate::lex::Kind;
use crate::types::Type;

use super::Parser;
use super::pending::Pending;

impl Parser {
    /// Reads an operation after its name.
    pub(super) fn form(&mut self, definition: &'static Definition, span: Span) -> Result<Pending> {
        let mut pending = Pending::new(definition, span);
        if definition.form.is_empty() {
            let message = format!("`{}` has no form of its own", definition.name);
            return Err(self
                .fault(code::UNEXPECTED_TOKEN, message, span, "in quotes only")
                .help(format!("write `\"{}\"(…) : (…) -> …`", definition.name)));
        }
        let steps = self.steps(&definition.form, &mut pending);
        steps.map_err(|error| explained(error, definition))?;
        Ok(pending)
    }

    fn steps(&mut self, steps: &'static [Directive], pending: &mut Pending) -> Result<()> {
        steps.iter().try_for_each(|step| self.step(step, pending))
    }

    fn step(&mut self, step: &'static Directive, pending: &mut Pending) -> Result<()> {
        let definition = pending.definition;
        match step {
            Directive::Literal(text) => {
                self.cursor.expect(text)?;
            }
            Directive::Operands(group) => {
                pending.operands[*group] = match definition.operands[*group].count {
                    Count::One => vec![self.value_use()?],
                    Count::Optional if self.cursor.kind() == Kind::Value => vec![self.value_use()?],
                    Count::Optional => Vec::new(),
                    Count::Any => self.value_uses()?,
                };
            }
            Directive::Attribute(place) => {
                self.attribute_in_form(&definition.attributes[*place], pending)?
            }
            Directive::Region(_) => {
                let region = self.region(definition, None)?;
                pending.regions.push(region);
            }
            Directive::OperandTypes(group) => {
                let is_missing = definition.operands[*group].count != Count::One
                    && pending.operands[*group].is_empty();
                pending.operand_types[*group] = Some(match definition.operands[*group].count {
                    _ if is_missing && !self.at_type() => Vec::new(),
                    Count::Any => self.types()?,
                    _ => vec![self.ty()?],
                });
            }
            Directive::ResultTypes(group) => {
                pending.result_types[*group] = Some(match definition.results[*group].count {
                    Count::Any if !self.at_type() => Vec::new(),
                    // Parentheses hold several results.
                    Count::Any if self.cursor.at("(") => self.result_types()?,
                    Count::Any => self.types()?,
                    _ => vec![self.ty()?],
                });
            }
            Directive::Dictionary => {
                if self.cursor.at("{") {
                    let start = self.cursor.peek().span;
                    for (name, value) in self.dictionary()? {
                        self.give(&mut pending.attributes, &name, value, start)?;
                    }
                }
            }
            Directive::Functional(operands, results) => {
                let start = self.cursor.peek().span;
                let types = self.function_type()?;
                let counts: Vec<usize> = operands
                    .iter()
                    .map(|group| pending.operands[*group].len())
                    .collect();
                if counts.iter().sum::<usize>() != types.inputs.len() {
                    let message = format!(
                        "{} for {} operands",
                        super::operation::counted(types.inputs.len(), "type"),
                        counts.iter().sum::<usize>()
                    );
                    return Err(self
                        .fault(
                            code::BAD_COUNT,
                            message,
                            start.to(self.cursor.before()),
                            "of these",
                        )
                        .help("write a type for each operand"));
                }
                let mut at = 0;
                for (group, count) in operands.iter().zip(counts) {
                    pending.operand_types[*group] = Some(types.inputs[at..at + count].to_vec());
                    at += count;
                }
                pending.result_types[*results] = Some(types.results);
            }
            Directive::Arrow(results) => {
                let mut types = None;
                if self.cursor.eat("->") {
                    let mut given = self.result_types()?;
                    while self.cursor.eat(",") {
                        given.push(self.ty()?);
                    }
                    types = Some(given);
                }
                // Without types, the results follow from the outputs.
                pending.result_types[*results] = types.or(Some(Vec::new()));
            }
            Directive::List(operands, attribute) => {
                self.open_list(*operands, *attribute, pending)?
            }
            Directive::Optional(inside, anchor) => {
                if self.is_there(&inside[0], *anchor, pending) {
                    if let Anchor::Attribute(place) = anchor
                        && matches!(definition.attributes[*place].kind, AttributeKind::Unit)
                    {
                        self.give(
                            &mut pending.attributes,
                            definition.attributes[*place].name,
                            Attribute::Unit,
                            self.cursor.peek().span,
                        )?;
                    }
                    self.steps(inside, pending)?;
                }
            }
            Directive::Custom(name) => self.custom(name, pending)?,
        }
        Ok(())
    }

    /// Whether a type can begin here.
    fn at_type(&self) -> bool {
        match self.cursor.kind() {
            Kind::Name | Kind::Bang => true,
            _ => self.cursor.at("("),
        }
    }

    /// Whether optional steps are there.
    fn is_there(&self, first: &Directive, anchor: Anchor, pending: &Pending) -> bool {
        match (first, anchor) {
            // Types follow if the operands are there.
            (Directive::Literal(text), Anchor::Operands(group))
                if *text == "," || *text == "jointly" || *text == ":" =>
            {
                self.cursor.at(text)
                    && (!pending.operands[group].is_empty()
                        || self.cursor.second().kind == Kind::Value)
            }
            (Directive::Literal(text), _) => self.cursor.at(text),
            (Directive::Operands(_), _) => self.cursor.kind() == Kind::Value,
            (Directive::Attribute(_), _) => self.cursor.kind() == Kind::Name,
            _ => true,
        }
    }

    fn attribute_in_form(
        &mut self,
        spec: &'static AttributeSpec,
        pending: &mut Pending,
    ) -> Result<()> {
        let start = self.cursor.peek().span;
        let value = match spec.kind {
            // The word alone is the value.
            AttributeKind::Unit => return Ok(()),
            AttributeKind::Word(words) => {
                let token = self.cursor.peek();
                // Quotes around a word are left out or not.
                let written = match token.kind {
                    Kind::Text => self.cursor.unquoted(token.span),
                    _ => self.cursor.word().to_owned(),
                };
                match words.word(&written) {
                    Some(word) if matches!(token.kind, Kind::Name | Kind::Text) => {
                        self.cursor.take();
                        Attribute::Word(word)
                    }
                    _ => {
                        return Err(self
                            .cursor
                            .unexpected(&format!("`{}`", spec.name))
                            .help(format!("write one of {}", words.words.join(", "))));
                    }
                }
            }
            AttributeKind::Integer(ty) => {
                let (value, span) = self.signed("a number")?;
                // The generic form adds the type of the number.
                if !super::attribute::fits(value, 64, crate::types::Sign::Signless) {
                    return Err(self.cursor.too_large(span, u64::MAX));
                }
                Attribute::Integer(value, ty.clone())
            }
            AttributeKind::Symbol => Attribute::Symbol(self.symbol_path()?),
            AttributeKind::Dialect(name, _) => {
                let body = self.body()?;
                self.check_flags(name, &body, start.to(self.cursor.before()))?;
                Attribute::Dialect(name.to_owned(), body)
            }
            AttributeKind::Encoding => Attribute::Encoding(self.encoding_attribute()?),
            AttributeKind::Numbers => {
                self.cursor.expect("[")?;
                let numbers = self.list("]", |parser| {
                    Ok(Number::Integer(parser.signed("a number")?.0))
                })?;
                Attribute::Numbers(Type::integer(64), numbers)
            }
            _ => self.attribute()?,
        };
        let span = start.to(self.cursor.before());
        self.give(&mut pending.attributes, spec.name, value, span)
    }

    /// `[4, %n]`
    fn open_list(&mut self, group: usize, attribute: usize, pending: &mut Pending) -> Result<()> {
        let start = self.cursor.expect("[")?;
        let mut numbers = Vec::new();
        let entries = self.list("]", |parser| match parser.cursor.kind() {
            Kind::Value => Ok((OPEN, Some(parser.value_use()?))),
            _ => Ok((parser.signed("a number or a value")?.0, None)),
        })?;
        for (number, used) in entries {
            numbers.push(Number::Integer(number));
            pending.operands[group].extend(used);
        }
        let value = Attribute::Numbers(Type::integer(64), numbers);
        let name = pending.definition.attributes[attribute].name;
        self.give(&mut pending.attributes, name, value, start)
    }
}

/// The number in a list that stands for a dynamic extent, which an operand gives.
pub(crate) const OPEN: i128 = i64::MIN as i128;

/// Adds the form of the operation to an error, unless the error has a help text.
fn explained(error: Diagnostic, definition: &Definition) -> Diagnostic {
    match error.help_text() {
        Some(_) => error,
        None => {
            let shape = crate::print::outline(definition);
            error.help(format!("write it like `{shape}`"))
        }
    }
}
