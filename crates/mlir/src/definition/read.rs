//! Reading definitions from their text.
//!
//! The text is part of the crate, so an error in it panics. A test reads all of it.

use crate::release::{Dialect, Releases};
use crate::types::{Float, Sign, Type};

use super::{
    Anchor, AttributeKind, AttributeSpec, Constraint, Count, Definition, Directive, Group,
    RegionSpec, Trait, TypeKind, Words,
};

/// The definitions of a table.
pub(super) fn read(table: &'static str) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    // The operations of a line share the form below.
    let mut first_of_line = 0;
    for line in table.lines() {
        let is_form = line.starts_with(' ');
        let line = line.trim();
        if line.is_empty() || line.starts_with(';') {
            continue;
        }
        match is_form {
            false => {
                first_of_line = found.len();
                found.extend(definitions(line));
            }
            true => {
                for definition in &mut found[first_of_line..] {
                    definition.form = form(line, definition);
                }
            }
        }
    }
    found
}

/// A line may define several operations that differ in their name: `arith.{addi subi}`.
fn definitions(line: &'static str) -> Vec<Definition> {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    match line.split_once(".{") {
        Some((dialect, rest)) if name.contains('{') => {
            let (names, rest) = rest.split_once('}').expect("a list of names ends");
            let one = |name: &str| definition(format!("{dialect}.{name}").leak(), rest);
            names.split_whitespace().map(one).collect()
        }
        _ => vec![definition(name, rest)],
    }
}

fn definition(name: &'static str, text: &'static str) -> Definition {
    let mut rest = text.trim();
    let mut definition = Definition {
        name,
        releases: Releases::ALL,
        operands: Vec::new(),
        results: Vec::new(),
        attributes: Vec::new(),
        regions: Vec::new(),
        traits: Vec::new(),
        form: Vec::new(),
    };
    while !rest.is_empty() {
        let first = rest.as_bytes()[0];
        let inside = |close: char| {
            let end = rest
                .find(close)
                .unwrap_or_else(|| panic!("{name}: `{close}` is missing"));
            (&rest[1..end], rest[end + 1..].trim_start())
        };
        match first {
            b'(' => {
                // Types contain parentheses of their own.
                let end = closing(rest).unwrap_or_else(|| panic!("{name}: `)` is missing"));
                definition.operands = groups(&rest[1..end]);
                rest = rest[end + 1..].trim_start();
            }
            b'-' => {
                let after = rest[2..].trim_start();
                let end = closing(after).unwrap_or_else(|| panic!("{name}: `)` is missing"));
                definition.results = groups(&after[1..end]);
                rest = after[end + 1..].trim_start();
            }
            b'{' => {
                let (text, after) = inside('}');
                definition.attributes = entries(text).map(attribute).collect();
                rest = after;
            }
            b'[' => {
                let (text, after) = inside(']');
                definition.regions = entries(text).map(region).collect();
                rest = after;
            }
            _ => {
                let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
                match word.strip_prefix('+') {
                    Some(word) => definition.traits.push(known(word)),
                    None => definition.releases = releases(word),
                }
                rest = after.trim_start();
            }
        }
    }
    definition
}

/// The place of the parenthesis that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

fn entries(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
}

fn releases(text: &str) -> Releases {
    let number = |text: &str, or: u8| match text {
        "" => or,
        digits => digits
            .parse()
            .unwrap_or_else(|_| panic!("`{digits}` is no release")),
    };
    match text.split_once("..") {
        Some((from, to)) => Releases {
            from: number(from, Dialect::OLDEST),
            to: number(to, Dialect::NEWEST),
        },
        None => Releases {
            from: number(text, 0),
            to: number(text, 0),
        },
    }
}

/// The name, the text after the colon, and the count.
fn counted(text: &'static str) -> (&'static str, &'static str, Count) {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let rest = rest.trim();
    let count = |text: &'static str| match text.as_bytes().last() {
        Some(b'?') => (&text[..text.len() - 1], Count::Optional),
        Some(b'*') => (&text[..text.len() - 1], Count::Any),
        _ => (text, Count::One),
    };
    match rest {
        "" => {
            let (name, count) = count(name.trim());
            (name, "", count)
        }
        rest => {
            let (rest, count) = count(rest);
            (name.trim(), rest, count)
        }
    }
}

fn groups(text: &'static str) -> Vec<Group> {
    let group = |text| {
        let (name, ty, count) = counted(text);
        let ty = constraint(ty);
        Group { name, count, ty }
    };
    entries(text).map(group).collect()
}

fn constraint(text: &'static str) -> Constraint {
    if let Some((word, rest)) = text.split_once('(') {
        let of = rest.trim_end_matches(')');
        return match word {
            "same" => Constraint::Same(of),
            "tensorof" => Constraint::TensorOf(of),
            "part" => Constraint::Part(of),
            "element" => Constraint::Element(of),
            "boollike" => Constraint::BoolLike(of),
            _ => panic!("`{word}` is no constraint"),
        };
    }
    match text {
        "index" => return Constraint::Exactly(Type::Index),
        "i1" => return Constraint::Exactly(Type::BOOL),
        "f64" => return Constraint::Exactly(Type::Float(Float::F64)),
        _ => {}
    }
    let kind = |name: &str| {
        let found = TypeKind::ALL.iter().find(|(_, known, _)| *known == name);
        found
            .unwrap_or_else(|| panic!("`{name}` is no kind of types"))
            .0
    };
    Constraint::Kinds(text.split('|').map(kind).collect())
}

fn attribute(text: &'static str) -> AttributeSpec {
    let (name, kind, count) = counted(text);
    let kind = match kind {
        "any" => AttributeKind::Any,
        "unit" => AttributeKind::Unit,
        "bool" => AttributeKind::Bool,
        "index" => AttributeKind::Integer(&Type::Index),
        "i64" => AttributeKind::Integer(&Type::Integer(64, Sign::Signless)),
        "i32" => AttributeKind::Integer(&Type::Integer(32, Sign::Signless)),
        "constant" => AttributeKind::Constant,
        "text" => AttributeKind::Text,
        "symbol" => AttributeKind::Symbol,
        "map" => AttributeKind::Map,
        "array" => AttributeKind::Array,
        "i64s" => AttributeKind::Numbers,
        "type" => AttributeKind::Type,
        "function" => AttributeKind::Function,
        "encoding" => AttributeKind::Encoding,
        "dictionary" => AttributeKind::Dictionary,
        "fastmath" => AttributeKind::Dialect("arith.fastmath", "none"),
        "overflow" => AttributeKind::Dialect("arith.overflow", "none"),
        "punctuation" => AttributeKind::Dialect("vector.punctuation", "newline"),
        "combining" => AttributeKind::Dialect("vector.kind", "add"),
        name => AttributeKind::Word(
            Words::find(name).unwrap_or_else(|| panic!("`{name}` is no kind of attributes")),
        ),
    };
    AttributeSpec {
        name,
        kind,
        is_optional: count != Count::One,
    }
}

fn region(text: &'static str) -> RegionSpec {
    let (name, _, count) = counted(text);
    RegionSpec { name, count }
}

fn known(text: &'static str) -> Trait {
    let inside = |text: &'static str| text.trim_end_matches(')');
    match text.split_once('(') {
        None if text == "terminator" => Trait::Terminator,
        None if text == "isolated" => Trait::Isolated,
        None if text == "samesize" => Trait::SameSize,
        None if text == "open" => Trait::NoTerminator,
        None if text == "structured" => Trait::Structured,
        Some(("implicit", name)) => Trait::Implicit(inside(name)),
        Some(("within", name)) => Trait::Within(inside(name)),
        Some(("dialect", name)) => Trait::Dialect(inside(name)),
        _ => panic!("`{text}` is no trait"),
    }
}

/// Reads a form.
fn form(text: &'static str, definition: &Definition) -> Vec<Directive> {
    let mut reader = FormReader {
        words: words(text),
        at: 0,
        definition,
    };
    let (form, anchor) = reader.steps();
    assert!(
        anchor.is_none() && reader.at == reader.words.len(),
        "{}: `{text}`",
        definition.name
    );
    form
}

/// The words of a form. White space separates them. A parenthesis is a word of its own unless it
/// stands in quotes or after a name.
fn words(text: &'static str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '`' => rest[1..].find('`').expect("a literal ends") + 2,
            '(' => 1,
            ')' if rest.starts_with(")?") => 2,
            ')' => 1,
            _ => {
                let word = rest.find([' ', '(', ')', '`']).unwrap_or(rest.len());
                match rest[word..].starts_with('(') {
                    // `type($x)` is one word.
                    true => word + rest[word..].find(')').expect("`)` follows") + 1,
                    false => word,
                }
            }
        };
        found.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    found
}

struct FormReader<'a> {
    words: Vec<&'static str>,
    at: usize,
    definition: &'a Definition,
}

impl FormReader<'_> {
    fn steps(&mut self) -> (Vec<Directive>, Option<Anchor>) {
        let mut steps = Vec::new();
        let mut anchor = None;
        while let Some(&word) = self.words.get(self.at) {
            if word == ")?" {
                break;
            }
            self.at += 1;
            if word == "(" {
                let (inside, anchor) = self.steps();
                assert_eq!(
                    self.words.get(self.at),
                    Some(&")?"),
                    "{}",
                    self.definition.name
                );
                self.at += 1;
                let anchor = anchor.unwrap_or_else(|| panic!("{}: no `^`", self.definition.name));
                steps.push(Directive::Optional(inside, anchor));
                continue;
            }
            let plain = word.strip_prefix('^');
            let step = self.step(plain.unwrap_or(word));
            if plain.is_some() {
                anchor = Some(match &step {
                    Directive::Operands(group) | Directive::OperandTypes(group) => {
                        Anchor::Operands(*group)
                    }
                    Directive::Attribute(attribute) => Anchor::Attribute(*attribute),
                    Directive::ResultTypes(group) => Anchor::Results(*group),
                    _ => panic!("{}: nothing tells by `{word}`", self.definition.name),
                });
            }
            steps.push(step);
        }
        (steps, anchor)
    }

    fn step(&self, word: &'static str) -> Directive {
        let inside = |prefix: &str| {
            let text = word
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix('('));
            text.and_then(|text| text.strip_suffix(')'))
        };
        if let Some(literal) = word.strip_prefix('`') {
            return Directive::Literal(literal.trim_end_matches('`'));
        }
        if word == "attr-dict" {
            return Directive::Dictionary;
        }
        if let Some(name) = inside("custom") {
            return Directive::Custom(name);
        }
        if let Some(name) = inside("type") {
            let name = name.trim_start_matches('$');
            return match self.operand(name) {
                Some(group) => Directive::OperandTypes(group),
                None => Directive::ResultTypes(self.result(name)),
            };
        }
        if let Some(names) = inside("functional") {
            let (operands, result) = names.split_once(',').expect("operands and results");
            let operands = operands.split_whitespace().map(|name| {
                let name = name.trim_start_matches('$');
                self.operand(name).expect("a group of operands")
            });
            let result = self.result(result.trim().trim_start_matches('$'));
            return Directive::Functional(operands.collect(), result);
        }
        if let Some(name) = inside("arrow") {
            return Directive::Arrow(self.result(name.trim_start_matches('$')));
        }
        if let Some(names) = inside("list") {
            let (operands, attribute) = names.split_once(',').expect("operands and an attribute");
            let operands = self.operand(operands.trim().trim_start_matches('$'));
            let attributes = &self.definition.attributes;
            let place = attributes
                .iter()
                .position(|known| known.name == attribute.trim());
            return Directive::List(operands.expect("operands"), place.expect("an attribute"));
        }
        let name = word
            .strip_prefix('$')
            .unwrap_or_else(|| panic!("{}: `{word}`", self.definition.name));
        if let Some(group) = self.operand(name) {
            return Directive::Operands(group);
        }
        let attributes = &self.definition.attributes;
        if let Some(place) = attributes.iter().position(|known| known.name == name) {
            return Directive::Attribute(place);
        }
        let place = self
            .definition
            .regions
            .iter()
            .position(|known| known.name == name);
        Directive::Region(
            place.unwrap_or_else(|| panic!("{}: nothing is `{name}`", self.definition.name)),
        )
    }

    fn operand(&self, name: &str) -> Option<usize> {
        self.definition
            .operands
            .iter()
            .position(|group| group.name == name)
    }

    fn result(&self, name: &str) -> usize {
        self.definition.result(name)
    }
}
