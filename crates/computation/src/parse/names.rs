//! Names: what each one is, and that it is one thing only.
//!
//! The parser of relations knows of every free name whether it is called and
//! with how many arguments. A data space is a function of as many arguments as
//! it has extents, so wrong numbers of indices are found there; what is left to
//! check is that names are declared, are not declared twice, and are integers
//! where they stand in sets, schedules and indices.

use std::collections::BTreeMap;

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Span, code};
use sparsec_relation::{Conjunction, Constraint, Expression, KeyFunction, Parser, Set};

use super::{Reader, Use, WORDS};
use crate::computation::{Computation, Role};

/// What is declared, and where.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, (&'static str, Span)>);

impl Reader {
    /// Takes the name of something that has none yet.
    pub(super) fn new_name(&mut self, what: &'static str) -> Result<String> {
        let (name, place) = self.parser.tokens.name(what)?;
        self.parser.check_reserved(&name, place)?;
        self.parser.check_without_primes(&name, place)?;
        let is_word = WORDS.contains(&name.as_str())
            || Role::ALL.iter().any(|role| role.word() == name)
            || ElementType::parse(&name).is_some();
        if is_word {
            let message = format!("`{name}` is a word of the language and cannot be a name");
            return Err(Diagnostic::new(code::COMPUTATION_NAME, message)
                .at(self.parser.tokens.source(), place, "not a name")
                .help("choose another name"));
        }
        if let Some((before, first)) = self.names.0.get(&name) {
            return Err(self.two_things(&name, (place, what), (*first, before)));
        }
        self.names.0.insert(name.clone(), (what, place));
        Ok(name)
    }

    /// Takes the names of data and statements that a call at `place` brings in.
    pub(super) fn take_names(&mut self, inlined: &Computation, place: Span) -> Result<()> {
        let data = inlined.spaces.iter().map(|space| (&space.name, "data"));
        let statements = inlined.statements.iter().map(|s| (&s.name, "a statement"));
        for (name, what) in data.chain(statements) {
            self.names.0.entry(name.clone()).or_insert((what, place));
        }
        for space in &inlined.spaces {
            let n = Some(space.extents.len()).filter(|n| *n > 0);
            self.parser.check_role(space.name.clone(), n, place)?;
        }
        Ok(())
    }

    /// Notes the name of a key function, which stands at `place`.
    pub(super) fn note_key(&mut self, name: &str, place: Span) -> Result<()> {
        let what = "a key function";
        if let Some((before, first)) = self.names.0.get(name) {
            return Err(self.two_things(name, (place, what), (*first, before)));
        }
        self.names.0.insert(name.to_owned(), (what, place));
        Ok(())
    }

    /// Checks the names in declarations and extents, all of which are integers.
    pub(super) fn header_names(&mut self) -> Result<()> {
        let uses = self.parser.free_names();
        let uses: Vec<Use> = uses
            .map(|(name, n, place)| (name.to_owned(), n, place))
            .collect();
        let declarations = &self.computation.declarations;
        let keys = declarations.keys().iter().map(KeyFunction::name);
        let orders: Vec<&str> = declarations.orders().chain(keys).collect();
        for (name, arguments, place) in &uses {
            if !orders.contains(&name.as_str()) {
                self.check_integer(name, *arguments, *place)?;
            }
        }
        let spaces = self.computation.spaces.iter();
        let of_spaces = spaces.map(|s| (s.name.clone(), Some(s.extents.len()).filter(|n| *n > 0)));
        let parameters = self.computation.parameters.iter();
        let of_parameters = parameters.map(|name| (name.clone(), None));
        for (name, arguments) in of_spaces.chain(of_parameters).collect::<Vec<_>>() {
            let place = self.names.0[&name].1;
            self.parser.check_role(name, arguments, place)?;
        }
        Ok(())
    }

    /// Checks the names in an iteration space, which stands at `place`.
    pub(super) fn set_names(&self, set: &Set, place: Span) -> Result<()> {
        let mut tokens = None;
        let mut find = |name: &str| {
            let tokens = tokens.get_or_insert_with(|| self.tokens_of(place));
            let at = tokens.iter().find(|(text, _)| text == name);
            at.map_or(place, |(_, place)| *place)
        };
        for part in set.parts() {
            let variables = part.inputs().chain(part.exists());
            for name in variables.map(|v| part.name(v)) {
                if let Some((before, first)) = self.names.0.get(name) {
                    return Err(self.two_things(
                        name,
                        (find(name), "a variable"),
                        (*first, before),
                    ));
                }
            }
            let constraints = part.constraints().iter();
            for e in constraints.flat_map(Constraint::expressions) {
                let mut fault = None;
                e.visit(&mut |e| {
                    let (name, arguments) = match e {
                        Expression::Constant(name) => (name, None),
                        Expression::Call(name, arguments) => (name, Some(arguments.len())),
                        _ => return,
                    };
                    if fault.is_none() && self.check_integer(name, arguments, place).is_err() {
                        fault = Some((name.clone(), arguments));
                    }
                });
                if let Some((name, arguments)) = fault {
                    self.check_integer(&name, arguments, find(&name))?;
                }
            }
        }
        Ok(())
    }

    /// Checks names in schedules and indices of statements over a space.
    pub(super) fn names_at_points(&mut self, uses: Vec<Use>, space: &Conjunction) -> Result<()> {
        for (name, arguments, place) in uses {
            let is_variable = space.inputs().any(|v| space.name(v) == name);
            match arguments {
                None if is_variable => continue,
                Some(_) if is_variable => {
                    return Err(self.not_called(&name, place));
                }
                _ => {}
            }
            self.check_integer(&name, arguments, place)?;
            self.parser.check_role(name, arguments, place)?;
        }
        Ok(())
    }

    pub(super) fn not_called(&self, name: &str, place: Span) -> Diagnostic {
        let message = format!("`{name}` is a variable and has no entries");
        Diagnostic::new(code::COMPUTATION_NAME, message)
            .at(self.parser.tokens.source(), place, "not data")
            .help("rename the variable or the data")
    }

    fn check_integer(&self, name: &str, arguments: Option<usize>, place: Span) -> Result<()> {
        if arguments.is_some() && self.computation.declarations.is_key(name) {
            return Ok(());
        }
        if self
            .computation
            .parameters
            .iter()
            .any(|known| known == name)
        {
            return Ok(());
        }
        let Some(space) = self.computation.space(name) else {
            let mut keys = self.computation.declarations.keys().iter();
            return Err(match keys.find(|key| key.name() == name) {
                Some(_) => self.not_a_word(name, place),
                None => self.unknown(name, place),
            });
        };
        if space.is_index_array() {
            return Ok(());
        }
        let message = match space.element {
            ElementType::U64 => {
                format!("`{name}` holds `u64`: integers in sets and indices are those of `i64`")
            }
            element => format!("`{name}` holds `{element}`, not integers"),
        };
        Err(Diagnostic::new(code::COMPUTATION_NOT_INTEGER, message)
            .at(self.parser.tokens.source(), place, "must be an integer")
            .also(
                self.parser.tokens.source(),
                self.names.0[name].1,
                "declared here",
            )
            .help("keep what sets and indices need in an array of `i32` or `i64`"))
    }

    /// That a name is nothing that is declared.
    pub(super) fn unknown(&self, name: &str, place: Span) -> Diagnostic {
        let known = self.names.0.keys().map(String::as_str);
        let found = Diagnostic::new(
            code::COMPUTATION_UNKNOWN,
            format!("`{name}` is not declared"),
        )
        .at(self.parser.tokens.source(), place, "unknown");
        // `c inverse g` declares `g.0` and `g.1`, but says not where their values lie.
        if self.computation.declarations.function(name).is_some() {
            return found.help(format!(
                "it is a function that needs data: `given {name} : i64[…]`, an entry for each argument"
            ));
        }
        found.help(match closest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it: `parameters {name}`, or as data that are `given`"),
        })
    }

    fn two_things(&self, name: &str, now: (Span, &str), before: (Span, &str)) -> Diagnostic {
        let source = self.parser.tokens.source();
        Diagnostic::new(code::COMPUTATION_NAME, format!("`{name}` means two things"))
            .at(source, now.0, format!("{} here", now.1))
            .also(source, before.0, format!("{} here", before.1))
            .help("rename one of them")
    }

    /// The names within a part of the text, with their places.
    fn tokens_of(&self, place: Span) -> Vec<(String, Span)> {
        let source = self.parser.tokens.source();
        let mut found = Vec::new();
        if let Ok(mut tokens) = Tokens::new(source, &Parser::SYMBOLS) {
            while !tokens.at_end() {
                let token = tokens.take();
                let inside = place.start <= token.span.start && token.span.end <= place.end;
                if inside && token.kind == Kind::Name {
                    found.push((tokens.text(token).to_owned(), token.span));
                }
            }
        }
        found
    }
}
