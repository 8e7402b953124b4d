//! Names in the text of relations: each has one role.
//!
//! A name is a variable where its part brings it in; else it is free, and then a
//! constant everywhere or a function of one number of arguments everywhere.

use sparsec_base::{Diagnostic, Result, Span, code};

use super::{Head, Parser, Role};
use crate::key;
use crate::names::RESERVED;

impl Parser {
    /// Refuses a name that is a word of the language of relations.
    ///
    /// # Errors
    /// `E0131`.
    pub fn check_reserved(&self, name: &str, place: Span) -> Result<()> {
        if !RESERVED.contains(&name) {
            return Ok(());
        }
        let message = format!("`{name}` is a word of the language and cannot be a name");
        Err(Diagnostic::new(code::RELATION_NAME, message)
            .at(self.tokens.source(), place, "not a name")
            .help("choose another name"))
    }

    /// Refuses a name with a prime for an array, a parameter or a statement: these keep their names
    /// in kernels and files, which have no primes.
    ///
    /// # Errors
    /// `E0131`.
    pub fn check_without_primes(&self, name: &str, place: Span) -> Result<()> {
        if !name.contains('\'') {
            return Ok(());
        }
        let message = format!("`{name}` has a prime, which only variables may have");
        Err(Diagnostic::new(code::RELATION_NAME, message)
            .at(self.tokens.source(), place, "not a variable")
            .help(format!("rename it, as in `{}`", name.replace('\'', "_"))))
    }

    /// Takes the names that were used in expressions since this was last asked or
    /// a relation was read: each with its number of arguments and its place.
    pub fn take_uses(&mut self) -> Vec<(String, Option<usize>, Span)> {
        std::mem::take(&mut self.uses)
    }

    /// Adds a name that the language around reads in an expression.
    pub fn note_use(&mut self, name: String, arguments: Option<usize>, place: Span) {
        self.uses.push((name, arguments, place));
    }

    /// Whether this is a predefined function: a key such as `MORTON`.
    pub fn is_key(name: &str) -> bool {
        key::is_variadic(name)
    }

    /// The free names so far, with their numbers of arguments and first places.
    pub fn free_names(&self) -> impl Iterator<Item = (&str, Option<usize>, Span)> {
        let roles = self.roles.iter();
        roles.map(|(name, role)| (name.as_str(), role.arguments, role.place))
    }

    /// Notes that a free name is a function of so many arguments, or a constant.
    ///
    /// # Errors
    /// `E0130` and `E0131` if it was something else before.
    pub fn check_role(
        &mut self,
        name: String,
        arguments: Option<usize>,
        place: Span,
    ) -> Result<()> {
        if arguments.is_some() && key::is_variadic(&name) {
            return Ok(());
        }
        let Some(role) = self.roles.get(&name) else {
            self.roles.insert(name, Role { arguments, place });
            return Ok(());
        };
        let kind = |arguments: Option<usize>| match arguments {
            Some(_) => "a function here",
            None => "a constant here",
        };
        match (role.arguments, arguments) {
            (before, now) if before == now => Ok(()),
            (Some(before), Some(now)) => Err(Diagnostic::new(
                code::RELATION_ARITY,
                format!("`{name}` has different numbers of arguments"),
            )
            .at(self.tokens.source(), place, format!("{now} here"))
            .also(self.tokens.source(), role.place, format!("{before} here"))
            .help("give it the same number everywhere")),
            (before, now) => {
                Err(self.two_roles(&name, (place, kind(now)), (role.place, kind(before))))
            }
        }
    }

    pub(super) fn two_roles(
        &self,
        name: &str,
        now: (Span, &str),
        before: (Span, &str),
    ) -> Diagnostic {
        Diagnostic::new(code::RELATION_NAME, format!("`{name}` has two roles"))
            .at(self.tokens.source(), now.0, now.1)
            .also(self.tokens.source(), before.0, before.1)
            .help("rename one of them")
    }

    /// Refuses names that have two roles, in this part or in the relation.
    pub(super) fn check_names(&mut self, head: &Head) -> Result<()> {
        for (name, arguments, place) in std::mem::take(&mut self.uses) {
            match (head.find(&name), arguments) {
                (Some(first), Some(_)) => {
                    return Err(self.two_roles(
                        &name,
                        (place, "a function here"),
                        (head.place(first), "a variable here"),
                    ));
                }
                (Some(_), None) => {}
                (None, _) => self.check_role(name, arguments, place)?,
            }
        }
        Ok(())
    }

    pub(super) fn check_new(&self, head: &Head, name: &str, place: Span) -> Result<()> {
        let Some(first) = head.find(name) else {
            return Ok(());
        };
        Err(self.two_roles(
            name,
            (place, "brought in again"),
            (head.place(first), "a variable already"),
        ))
    }
}
