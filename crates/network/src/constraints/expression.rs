//! S-expressions, and formulas as S-expressions.

use std::fmt;

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::{Formula, Model, Section, System};

/// An S-expression with its place.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Atom(String),
    List(Vec<Expression>),
}

impl Expression {
    pub(super) fn atom(&self) -> Option<&str> {
        match &self.kind {
            Kind::Atom(text) => Some(text),
            Kind::List(_) => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Expression]> {
        match &self.kind {
            Kind::Atom(_) => None,
            Kind::List(list) => Some(list),
        }
    }

    /// The integer that this is: `3`, or `(- 3)`.
    pub(super) fn integer(&self) -> Option<i64> {
        match self.list() {
            None => self.atom()?.parse().ok(),
            Some([minus, number]) if minus.atom() == Some("-") => {
                let number: i64 = number.atom()?.parse().ok()?;
                number.checked_neg()
            }
            Some(_) => None,
        }
    }
}

/// Lists nested deeper than this are refused, so that walking them needs little stack.
const MAX_DEPTH: usize = 64;

/// Reads all S-expressions of a text. A comment runs from `;` to the end of its line.
pub(super) fn read(source: &Source) -> Result<Vec<Expression>> {
    let text = source.text();
    let mut open: Vec<(usize, Vec<Expression>)> = Vec::new();
    let mut top = Vec::new();
    let mut at = 0;
    let fault = |message: &str, at: usize| {
        Diagnostic::new(code::NETWORK_MODEL, message).at(source, Span::new(at, at + 1), "here")
    };
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let done = match c {
            '(' => {
                if open.len() == MAX_DEPTH {
                    return Err(fault("lists that are nested too deep", at));
                }
                open.push((at, Vec::new()));
                at += 1;
                None
            }
            ')' => {
                let Some((begin, list)) = open.pop() else {
                    return Err(fault("a `)` without its `(`", at));
                };
                at += 1;
                Some(Expression {
                    kind: Kind::List(list),
                    span: Span::new(begin, at),
                })
            }
            ';' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                None
            }
            c if c.is_whitespace() => {
                at += c.len_utf8();
                None
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || "();".contains(c);
                at += text[at..].find(ends).unwrap_or(text.len() - at);
                Some(Expression {
                    kind: Kind::Atom(text[start..at].to_owned()),
                    span: Span::new(start, at),
                })
            }
        };
        if let Some(done) = done {
            match open.last_mut() {
                Some((_, list)) => list.push(done),
                None => top.push(done),
            }
        }
    }
    match open.last() {
        Some((begin, _)) => Err(fault("a `(` without its `)`", *begin)),
        None => Ok(top),
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, word: &str, formulas: &[Self]| {
            write!(f, "({word}")?;
            for formula in formulas {
                write!(f, " {formula}")?;
            }
            write!(f, ")")
        };
        match self {
            Self::Below(variable, n) => write!(f, "(and (<= 0 {variable}) (< {variable} {n}))"),
            Self::Is(variable, value) => write!(f, "(= {variable} {value})"),
            Self::Less(left, right) => write!(f, "(< {left} {right})"),
            Self::Distinct(variables) => write!(f, "(distinct {})", variables.join(" ")),
            Self::All(formulas) => list(f, "and", formulas),
            Self::Any(formulas) => list(f, "or", formulas),
            Self::Not(formula) => write!(f, "(not {formula})"),
            Self::Implies(left, right) => write!(f, "(=> {left} {right})"),
        }
    }
}

impl Formula {
    /// Whether the formula holds.
    ///
    /// # Panics
    /// If the model lacks a variable of it.
    pub fn holds(&self, model: &Model) -> bool {
        match self {
            Self::Below(variable, n) => (0..*n).contains(&model[variable]),
            Self::Is(variable, value) => model[variable] == *value,
            Self::Less(left, right) => model[left] < model[right],
            Self::Distinct(variables) => {
                let mut values: Vec<i64> = variables.iter().map(|name| model[name]).collect();
                values.sort_unstable();
                values.windows(2).all(|pair| pair[0] != pair[1])
            }
            Self::All(formulas) => formulas.iter().all(|formula| formula.holds(model)),
            Self::Any(formulas) => formulas.iter().any(|formula| formula.holds(model)),
            Self::Not(formula) => !formula.holds(model),
            Self::Implies(left, right) => !left.holds(model) || right.holds(model),
        }
    }

    fn read(expression: &Expression) -> Option<Self> {
        let [word, rest @ ..] = expression.list()? else {
            return None;
        };
        let name = |expression: &Expression| {
            let atom = expression.atom()?;
            let starts = atom.starts_with(|c: char| c.is_ascii_alphabetic());
            starts.then(|| atom.to_owned())
        };
        let all = || rest.iter().map(Self::read).collect::<Option<Vec<Self>>>();
        Some(match (word.atom()?, rest) {
            ("and", [low, high]) if Self::read(low).is_none() => {
                let [less, zero, variable] = low.list()? else {
                    return None;
                };
                let [below, same, n] = high.list()? else {
                    return None;
                };
                let fits = less.atom() == Some("<=")
                    && zero.integer() == Some(0)
                    && below.atom() == Some("<")
                    && same.atom() == variable.atom();
                return fits.then_some(Self::Below(name(variable)?, n.integer()?));
            }
            ("and", _) => Self::All(all()?),
            ("or", _) => Self::Any(all()?),
            ("distinct", _) => Self::Distinct(rest.iter().map(name).collect::<Option<_>>()?),
            ("not", [formula]) => Self::Not(Box::new(Self::read(formula)?)),
            ("=>", [left, right]) => {
                Self::Implies(Box::new(Self::read(left)?), Box::new(Self::read(right)?))
            }
            ("=", [variable, value]) => Self::Is(name(variable)?, value.integer()?),
            ("<", [left, right]) => Self::Less(name(left)?, name(right)?),
            _ => return None,
        })
    }
}

impl System {
    /// Reads a system that [`smt2`](Self::smt2) printed.
    ///
    /// # Errors
    /// `E0907` at an expression that no system has.
    pub fn parse(text: &str) -> Result<Self> {
        let source = Source::new("smt2", text);
        let mut sections = Vec::new();
        let mut section = Section {
            title: String::new(),
            variables: Vec::new(),
            formulas: Vec::new(),
        };
        let mut from = 0;
        for expression in read(&source)? {
            // A comment line before an expression begins a section.
            let between = &text[from..expression.span.start as usize];
            let mut title = between.lines().filter_map(|line| line.strip_prefix("; "));
            if let Some(title) = title.next_back() {
                let next = Section {
                    title: title.to_owned(),
                    variables: Vec::new(),
                    formulas: Vec::new(),
                };
                let done = std::mem::replace(&mut section, next);
                if !done.title.is_empty() {
                    sections.push(done);
                }
            }
            from = expression.span.end as usize;
            let fault = || {
                Diagnostic::new(code::NETWORK_MODEL, "no expression of a constraint system").at(
                    &source,
                    expression.span,
                    "here",
                )
            };
            let list = expression.list().ok_or_else(fault)?;
            let word = list.first().and_then(Expression::atom);
            match (word, list) {
                (Some("set-logic" | "check-sat" | "get-model"), _) => {}
                (Some("declare-const"), [_, name, _]) => {
                    let name = name.atom().ok_or_else(fault)?;
                    section.variables.push(name.to_owned());
                }
                (Some("assert"), [_, formula]) => {
                    let formula = Formula::read(formula).ok_or_else(fault)?;
                    section.formulas.push(formula);
                }
                _ => return Err(fault()),
            }
        }
        sections.push(section);
        Ok(Self { sections })
    }
}
