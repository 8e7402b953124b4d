//! Printing modules.
//!
//! [`Module::to_string`] prints each operation in the form of its definition, [`Module::generic`]
//! in the generic form. Both texts parse to the same module and print alike again: values and
//! aliases keep their names, and values without a name get the next free number.

use std::collections::HashMap;
use std::fmt;

use crate::attribute::{Attribute, Number};
use crate::definition::{Anchor, AttributeKind, AttributeSpec, Definition, Directive};
use crate::module::{Module, Op, Operation, Region, Value};
use crate::release::Dialect;
use crate::spell::{Spell, attribute_name, symbol};
use crate::types::Type;

mod custom;
mod generic;
mod names;
mod outline;

pub(crate) use outline::outline;

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(false))
    }
}

impl Module {
    /// The text in which every operation has the generic form.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::Module;
    /// let module = Module::parse(&Source::new("text", "%c = arith.constant 1 : index"), None)?;
    /// assert!(module.generic().contains("%c = \"arith.constant\"() {value = 1 : index} : () -> index"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn generic(&self) -> String {
        self.text(true)
    }

    fn text(&self, is_generic: bool) -> String {
        let mut printer = Printer {
            module: self,
            spell: self.spell(),
            names: self.names(),
            out: String::new(),
            indent: 0,
            is_generic,
        };
        printer.aliases();
        printer.op(self.root);
        printer.out
    }
}

struct Printer<'a> {
    module: &'a Module,
    spell: Spell<'a>,
    names: HashMap<Value, String>,
    out: String,
    indent: usize,
    is_generic: bool,
}

impl Printer<'_> {
    fn aliases(&mut self) {
        let aliases = &self.module.aliases;
        // The text of an alias must not use the alias itself or a later one.
        let mut above = crate::spell::Aliases::default();
        for (name, value) in &aliases.attributes {
            let spell = Spell {
                dialect: self.spell.dialect,
                aliases: &above,
            };
            let text = spell.whole(value);
            self.out.push_str(&format!("{name} = {text}\n"));
            above.attributes.push((name.clone(), value.clone()));
        }
        let spell = Spell {
            dialect: self.spell.dialect,
            aliases: &above,
        };
        let word = match self.spell.dialect.release() {
            ..=14 => "type ",
            _ => "",
        };
        for (name, ty) in &aliases.types {
            let text = spell.whole_type(ty);
            self.out.push_str(&format!("{name} = {word}{text}\n"));
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(self.indent));
    }

    /// Prints an operation and the end of its line.
    fn op(&mut self, op: Op) {
        let operation = self.module.op(op);
        self.results(operation);
        // Without an attribute that the form needs, an operation has the generic form only.
        let definition = operation.data().definition;
        let is_whole = definition.attributes.iter().all(|spec| {
            spec.is_optional
                || operation
                    .attribute(spec.name)
                    .is_some_and(|value| spec.kind.holds(value))
        });
        // With the words of all releases, the generic form may be ambiguous between two definitions
        // of one name.
        let is_ambiguous = self.spell.dialect == Dialect::Sparsec
            && !definition.releases.has(Dialect::USUAL)
            && Definition::find(definition.name).len() > 1;
        // Its form has no spelling for the types of no arrays.
        let is_of_no_array = match operation.name() {
            "sparse_tensor.assemble" | "sparse_tensor.pack" => {
                operation.operands("levels").is_empty()
            }
            "sparse_tensor.disassemble" | "sparse_tensor.unpack" => {
                operation.operands("out_levels").is_empty()
            }
            _ => false,
        };
        let is_generic = (self.is_generic || is_of_no_array) && !is_ambiguous;
        match is_generic || definition.form.is_empty() || !is_whole {
            true => self.generic_op(operation),
            false => self.custom_op(operation),
        }
        if self.indent == 0 {
            self.out.push('\n');
        }
    }

    /// `%a, %b:2 = `
    fn results(&mut self, operation: Operation<'_>) {
        let results = &operation.data().results;
        let mut texts: Vec<String> = Vec::new();
        for value in results {
            let name = &self.names[value];
            match name.split_once('#') {
                None => texts.push(format!("%{name}")),
                Some((base, "0")) => {
                    let shares =
                        |other: &&Value| self.names[*other].split('#').next() == Some(base);
                    texts.push(format!("%{base}:{}", results.iter().filter(shares).count()));
                }
                Some(_) => {}
            }
        }
        if !texts.is_empty() {
            self.out.push_str(&format!("{} = ", texts.join(", ")));
        }
    }

    fn value(&self, value: Value) -> String {
        format!("%{}", self.names[&value])
    }

    fn values(&self, values: &[Value]) -> String {
        let texts: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
        texts.join(", ")
    }

    fn types_of(&self, values: &[Value]) -> String {
        let texts: Vec<String> = values
            .iter()
            .map(|value| self.spell.ty(self.module.ty(*value)))
            .collect();
        texts.join(", ")
    }

    /// Prints a region in braces; with `header`, its arguments have a line of their own.
    fn region(&mut self, region: Region, definition: &Definition, header: bool) {
        self.out.push('{');
        let block = self.module.regions[region].block;
        let is_empty = block.is_none_or(|block| self.module.blocks[block].ops.is_empty());
        // A module has a block, whose label alone shows it.
        if self.is_generic && is_empty && definition.name == "builtin.module" {
            self.line();
            self.out.push_str("^bb0:");
        }
        if let Some(block) = block {
            let block = &self.module.blocks[block];
            if header && !block.arguments.is_empty() {
                let argument = |value: &Value| {
                    format!(
                        "{}: {}",
                        self.value(*value),
                        self.spell.ty(self.module.ty(*value))
                    )
                };
                let arguments = self.order_of_arguments(region, &block.arguments);
                let texts: Vec<String> = arguments.iter().map(argument).collect();
                self.line();
                self.out.push_str(&format!("^bb0({}):", texts.join(", ")));
            }
            self.indent += 1;
            for op in &block.ops {
                if !self.is_generic && self.is_implied(*op, definition) {
                    continue;
                }
                self.line();
                self.op(*op);
            }
            self.indent -= 1;
        }
        self.line();
        self.out.push('}');
    }

    /// Whether the text omits this terminator.
    fn is_implied(&self, op: Op, of: &Definition) -> bool {
        let data = &self.module.ops[op];
        of.implicit_terminator() == Some(data.definition.name)
            && data.operands.is_empty()
            && data.attributes.is_empty()
    }

    /// The name of an operation as it is written here.
    fn name(&self, operation: Operation<'_>) -> &'static str {
        let name = operation.name();
        let (dialect, word) = name.split_once('.').expect("a name has a dialect");
        let parent = self.module.parent(operation.id());
        let inner = parent.and_then(|parent| self.module.ops[parent].definition.inner_dialect());
        match dialect {
            // The text omits this dialect everywhere.
            "builtin" if word != "unrealized_conversion_cast" => word,
            "std" => word,
            _ if inner == Some(dialect) => word,
            _ => name,
        }
    }

    fn custom_op(&mut self, operation: Operation<'_>) {
        self.out.push_str(self.name(operation));
        let definition = operation.data().definition;
        let has_attribute = |name| operation.attribute(name).is_some();
        // MLIR would take the name behind a bare print for its operand.
        if definition.name == "vector.print"
            && operation.data().operands.is_empty()
            && !["punctuation", "stringLiteral"]
                .into_iter()
                .any(has_attribute)
        {
            self.out.push_str(" punctuation <newline>");
            return;
        }
        let has_lines = matches!(
            definition.name,
            "sparse_tensor.binary" | "sparse_tensor.unary"
        );
        self.indent += usize::from(has_lines);
        self.steps(&definition.form, operation);
        self.indent -= usize::from(has_lines);
    }

    /// Adds the space before a brace.
    fn space(&mut self) {
        if !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }

    fn steps(&mut self, steps: &'static [Directive], operation: Operation<'_>) {
        for step in steps {
            self.step(step, operation);
        }
    }

    fn step(&mut self, step: &'static Directive, operation: Operation<'_>) {
        let definition = operation.data().definition;
        match step {
            // Each of these regions begins a line.
            Directive::Literal(text @ ("overlap" | "left" | "right" | "present" | "absent")) => {
                self.line();
                self.out.push_str(text);
            }
            Directive::Literal(text) => self.word(text),
            Directive::Operands(group) => {
                let values = operation.operands(definition.operands[*group].name);
                let text = self.values(values);
                self.word(&text);
            }
            Directive::Attribute(place) => {
                self.attribute(&definition.attributes[*place], operation)
            }
            Directive::Region(place) => {
                self.space();
                self.region(operation.data().regions[*place], definition, true);
            }
            Directive::OperandTypes(group) => {
                let text = self.types_of(operation.operands(definition.operands[*group].name));
                self.word(&text);
            }
            Directive::ResultTypes(group) => {
                let text = self.types_of(operation.results(definition.results[*group].name));
                self.word(&text);
            }
            Directive::Dictionary => {
                let shown = shown(&definition.form, definition);
                let text = self.dictionary(operation, &shown);
                self.word(&text);
            }
            Directive::Functional(operands, results) => {
                let operands = operands
                    .iter()
                    .flat_map(|group| operation.operand_types(definition.operands[*group].name));
                let results = operation.results(definition.results[*results].name);
                let results: Vec<Type> = results
                    .iter()
                    .map(|value| self.module.ty(*value).clone())
                    .collect();
                let text = self.spell.function(&operands.collect::<Vec<_>>(), &results);
                self.word(&text);
            }
            Directive::Arrow(results) => {
                let results = operation.results(definition.results[*results].name);
                if !results.is_empty() {
                    let text = format!("-> {}", self.types_of(results));
                    self.word(&text);
                }
            }
            Directive::List(group, attribute) => {
                let text =
                    self.open_list(operation, *group, definition.attributes[*attribute].name);
                self.word(&text);
            }
            Directive::Optional(inside, anchor) => {
                let is_there = match anchor {
                    Anchor::Operands(group) => operation.data().operand_groups[*group] > 0,
                    Anchor::Results(group) => operation.data().result_groups[*group] > 0,
                    Anchor::Attribute(place) => operation
                        .attribute(definition.attributes[*place].name)
                        .is_some(),
                };
                if is_there {
                    self.steps(inside, operation);
                }
            }
            Directive::Custom(name) => self.custom(name, operation),
        }
    }

    /// Appends a word, after a space unless the signs around it need none.
    fn word(&mut self, text: &str) {
        let opens = ["(", "[", "<"];
        let glued = [",", ")", "]", ">", "<"];
        let is_call =
            |out: &str| out.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '"');
        let is_glued = match text {
            text if glued.contains(&text) => true,
            "(" | "[" => is_call(&self.out) && !self.out.ends_with(" in"),
            text if text.starts_with("<") => true,
            _ => opens.iter().any(|open| self.out.ends_with(open)),
        };
        if text.is_empty() {
            return;
        }
        if !is_glued && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn attribute(&mut self, spec: &AttributeSpec, operation: Operation<'_>) {
        let Some(value) = operation.attribute(spec.name) else {
            return;
        };
        let text = match (spec.kind, value) {
            (AttributeKind::Unit, _) => return,
            (AttributeKind::Integer(_), Attribute::Integer(value, _)) => value.to_string(),
            (AttributeKind::Dialect(..), Attribute::Dialect(_, body)) => format!("<{body}>"),
            (AttributeKind::Symbol, Attribute::Symbol(path)) => symbol(path),
            // Behind its name, MLIR would take a colon for the type of the attribute.
            (AttributeKind::Encoding, value) => {
                let text = self.spell.attribute(value);
                match text.strip_prefix("#sparse_tensor.encoding") {
                    Some(keys) if self.out.ends_with(' ') => keys.to_owned(),
                    Some(keys) => format!(" {keys}"),
                    None => text,
                }
            }
            (AttributeKind::Numbers, value) => {
                let numbers = value.integers().unwrap_or_default();
                let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                format!("[{}]", texts.join(", "))
            }
            (_, value) => self.spell.attribute(value),
        };
        self.word(&text);
    }

    /// The attributes that the form does not show, in braces; empty if there are none.
    fn dictionary(&self, operation: Operation<'_>, shown: &[&str]) -> String {
        let attributes = &operation.data().attributes;
        let rest = attributes
            .iter()
            .filter(|(name, _)| !shown.contains(&name.as_str()));
        let texts: Vec<String> = rest
            .map(|(name, value)| self.entry(operation, name, value))
            .collect();
        match texts.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", texts.join(", ")),
        }
    }

    /// One attribute in the generic form.
    fn entry(&self, operation: Operation<'_>, name: &str, value: &Attribute) -> String {
        let spec = operation.data().definition.attribute(name);
        let text = match (spec.map(|spec| spec.kind), value) {
            (_, Attribute::Unit) => return attribute_name(name),
            (Some(AttributeKind::Word(words)), Attribute::Word(word)) => match words.prefix {
                Some((dialect, prefix)) => format!("#{dialect}<{prefix}{word}>"),
                None => {
                    let number = words.words.iter().position(|known| known == word);
                    format!("{} : i64", number.unwrap_or_default())
                }
            },
            // Iterator types are attributes of the dialect since release 16.
            (_, Attribute::Array(list))
                if name == "iterator_types"
                    && self.spell.dialect.release() >= 16
                    && self.is_generic =>
            {
                let dialect = operation.name().split('.').next().unwrap_or_default();
                let word = |entry: &Attribute| match entry {
                    Attribute::Text(word) => format!("#{dialect}.iterator_type<{word}>"),
                    entry => self.spell.attribute(entry),
                };
                format!("[{}]", list.iter().map(word).collect::<Vec<_>>().join(", "))
            }
            // Lists of numbers are `array<…>` since release 16.
            (_, Attribute::Numbers(_, numbers)) if self.spell.dialect.release() < 16 => {
                // These releases mark open sizes by -1, and open offsets and strides as later ones.
                let is_size = matches!(name, "static_sizes" | "static_low" | "static_high");
                let number = |number: &Number| match number {
                    Number::Integer(crate::parse::OPEN) if is_size => "-1".to_owned(),
                    Number::Integer(value) => value.to_string(),
                    _ => String::new(),
                };
                format!(
                    "[{}]",
                    numbers.iter().map(number).collect::<Vec<_>>().join(", ")
                )
            }
            (_, value) => self.spell.attribute(value),
        };
        format!("{} = {text}", attribute_name(name))
    }

    fn open_list(&self, operation: Operation<'_>, group: usize, attribute: &str) -> String {
        let definition = operation.data().definition;
        let mut values = operation.operands(definition.operands[group].name).iter();
        let numbers = operation
            .attribute(attribute)
            .and_then(Attribute::integers)
            .unwrap_or_default();
        let text = |number: &i128| match number {
            &crate::parse::OPEN => values
                .next()
                .map_or_else(|| number.to_string(), |value| self.value(*value)),
            number => number.to_string(),
        };
        let texts: Vec<String> = numbers.iter().map(text).collect();
        format!("[{}]", texts.join(", "))
    }
}

/// The attributes that a form shows outside of braces.
fn shown<'a>(steps: &'a [Directive], definition: &'a Definition) -> Vec<&'a str> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Directive::Attribute(place) | Directive::List(_, place) => {
                found.push(definition.attributes[*place].name)
            }
            Directive::Optional(inside, anchor) => {
                found.extend(shown(inside, definition));
                if let Anchor::Attribute(place) = anchor {
                    found.push(definition.attributes[*place].name);
                }
            }
            Directive::Custom("Left") => found.push("left_identity"),
            Directive::Custom("Right") => found.push("right_identity"),
            Directive::Custom("LevelRange") => found.extend(["loLvl", "hiLvl"]),
            _ => {}
        }
    }
    found
}
