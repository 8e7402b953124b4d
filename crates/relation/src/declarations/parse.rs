//! Reading declarations.
//!
//! ```text
//! declarations := { assume | function | order | key | forall }
//! assume       := "assume" constraints [ "=>" constraints ]
//! function     := "function" NAME ":" set "->" set { property }
//! property     := "injective" | "nondecreasing" | "increasing" | "nonincreasing" | "decreasing"
//!               | "inverse" NAME
//! order        := "order" NAME "=" relation
//! forall       := "forall" NAME { "," NAME } ":" constraints [ ( "=>" | "<=>" ) constraints ]
//! ```
//!
//! Sets, relations and constraints have the syntax of relations; `key` that of
//! [`key_function`](crate::key_function).

use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::tuples::elements;
use super::{Declarations, Function, Monotone, TupleFunction};
use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression};
use crate::key::{LEX, is_variadic};
use crate::key_function::KeyFunction;
use crate::parse::{Parser, SYMBOLS};
use crate::set::Set;

impl Declarations {
    /// Reads declarations from the whole of a source.
    ///
    /// # Errors
    /// As for relations, and `E0702` for a name declared twice or a declaration
    /// that does not fit its function, `E0703` for a key compared with
    /// anything but a key of the same kind, `E0710` to `E0712` for key functions.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(Tokens::new(source, &SYMBOLS)?);
        let mut declarations = Self::default();
        while !parser.tokens.at_end() {
            parser.declaration(&mut declarations)?;
        }
        Ok(declarations)
    }
}

impl Parser {
    /// Words that declarations begin with.
    pub const DECLARES: [&'static str; 5] = ["assume", "function", "order", "key", "forall"];

    /// Reads one declaration and adds it to others.
    ///
    /// # Errors
    /// As [`Declarations::parse`].
    pub fn declaration(&mut self, declarations: &mut Declarations) -> Result<()> {
        self.keeps_keys = true;
        let read = Reader {
            parser: self,
            declarations,
        }
        .declaration();
        self.keeps_keys = false;
        read
    }
}

impl FromStr for Declarations {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("declarations", text))
    }
}

pub(super) struct Reader<'a> {
    pub(super) parser: &'a mut Parser,
    pub(super) declarations: &'a mut Declarations,
}

impl Reader<'_> {
    fn declaration(&mut self) -> Result<()> {
        if self.parser.tokens.eat("assume") {
            return self.assumption();
        }
        if self.parser.tokens.eat("function") {
            return self.function();
        }
        if self.parser.tokens.eat("order") {
            return self.order();
        }
        if self.parser.tokens.eat("key") {
            return self.key();
        }
        if self.parser.tokens.eat("forall") {
            return self.quantifier();
        }
        Err(self
            .parser
            .tokens
            .unexpected("`assume`, `function`, `order`, `key` or `forall`"))
    }

    fn assumption(&mut self) -> Result<()> {
        let constraints = self.closed()?;
        if !self.parser.tokens.eat("=>") {
            self.declarations.assumptions.extend(constraints);
            return Ok(());
        }
        let conclusions = self.closed()?;
        let mut premises = Conjunction::new([""; 0], []);
        constraints.into_iter().for_each(|it| premises.add(it));
        self.declarations.forall(premises, conclusions);
        Ok(())
    }

    /// Constraints without variables.
    fn closed(&mut self) -> Result<Vec<Constraint>> {
        let place = self.parser.tokens.peek().span;
        let constraints = self.parser.all_of(&[])?;
        let constraints = self.in_words(&constraints);
        self.check_keys(&constraints, place)?;
        Ok(constraints)
    }

    fn function(&mut self) -> Result<()> {
        let (name, place) = self.new_name("a function")?;
        self.parser.tokens.expect(":")?;
        let domain_place = self.parser.tokens.peek().span;
        let domain = self.parser.set()?;
        self.parser.tokens.expect("->")?;
        let range_place = self.parser.tokens.peek().span;
        let range = self.parser.set()?;
        for (set, place) in [(&domain, domain_place), (&range, range_place)] {
            for part in set.parts() {
                self.check_keys(part.constraints(), place)?;
            }
        }
        match range.n_elements() {
            0 => {
                return Err(self
                    .does_not_fit("a range of empty tuples", range_place)
                    .help("name the value, as in `{[x] : 0 <= x < N}`"));
            }
            1 => {}
            _ => return self.tuple_function((name, place), domain, range),
        }
        self.check_new_role(&name, &domain, &range, place)?;
        let mut function = Function {
            name,
            domain,
            range,
            injective: false,
            monotone: None,
        };
        let mut inverse = None;
        loop {
            let place = self.parser.tokens.peek().span;
            if self.parser.tokens.eat("injective") {
                function.injective = true;
                continue;
            }
            if self.parser.tokens.eat("inverse") {
                let Function {
                    name,
                    domain,
                    range,
                    ..
                } = &function;
                inverse = Some(self.inverse(name, domain, range, inverse.is_some(), place)?);
                function.injective = true;
                continue;
            }
            let mut words = Monotone::ALL.into_iter();
            let Some(monotone) = words.find(|m| self.parser.tokens.eat(m.word())) else {
                break;
            };
            if function.domain.n_elements() != 1 {
                return Err(self
                    .does_not_fit("a monotone function of other than one argument", place)
                    .help("state with `forall` how its values follow from its arguments"));
            }
            if function.monotone.is_some() {
                return Err(self
                    .does_not_fit("a function that is monotone in two ways", place)
                    .help("keep one of the two words"));
            }
            function.monotone = Some(monotone);
        }
        let (domain, range) = (function.domain.clone(), function.range.clone());
        let name = function.name.clone();
        self.declarations.functions.push(function);
        if let Some(inverse) = inverse {
            self.declare_inverse(&name, domain, range, inverse);
        }
        Ok(())
    }

    /// Refuses a function whose name, or the name of an element of its values, is in use.
    pub(super) fn check_new_role(
        &mut self,
        name: &str,
        domain: &Set,
        range: &Set,
        place: Span,
    ) -> Result<()> {
        for name in elements(name, range.n_elements()) {
            self.check_undeclared(&name, place)?;
            self.parser
                .check_role(name, Some(domain.n_elements()), place)?;
        }
        Ok(())
    }

    /// Reads a function whose values are tuples.
    fn tuple_function(
        &mut self,
        (name, place): (String, Span),
        domain: Set,
        range: Set,
    ) -> Result<()> {
        let mut tuple = TupleFunction {
            name,
            domain,
            range,
            injective: false,
        };
        self.check_new_role(&tuple.name, &tuple.domain, &tuple.range, place)?;
        let mut inverse = None;
        loop {
            let place = self.parser.tokens.peek().span;
            if self.parser.tokens.eat("injective") {
                tuple.injective = true;
                continue;
            }
            if self.parser.tokens.eat("inverse") {
                let TupleFunction {
                    name,
                    domain,
                    range,
                    ..
                } = &tuple;
                inverse = Some(self.inverse(name, domain, range, inverse.is_some(), place)?);
                tuple.injective = true;
                continue;
            }
            let mut words = Monotone::ALL.into_iter().map(Monotone::word);
            if words.any(|word| self.parser.tokens.at(word)) {
                return Err(self
                    .does_not_fit("a property of integers, of a function with tuples for values", place)
                    .help("state with `forall` what holds of its elements, as in `P(n)[0] <= P(n + 1)[0]`"));
            }
            let (domain, range) = (tuple.domain.clone(), tuple.range.clone());
            let name = tuple.name.clone();
            self.declarations.declare_tuple(tuple);
            if let Some(inverse) = inverse {
                self.declare_inverse(&name, domain, range, inverse);
            }
            return Ok(());
        }
    }

    fn order(&mut self) -> Result<()> {
        let (name, place) = self.new_name("an order")?;
        self.parser.tokens.expect("=")?;
        self.parser.keeps_keys = false;
        let order = self.parser.relation();
        self.parser.keeps_keys = true;
        let order = order?;
        if order.n_inputs() != order.n_outputs() || order.n_inputs() == 0 {
            return Err(self
                .does_not_fit("an order of tuples of different lengths", place)
                .help("relate tuples to tuples of the same length"));
        }
        self.parser
            .check_role(name.clone(), Some(order.n_inputs()), place)?;
        self.declarations.orders.push((name, order));
        Ok(())
    }

    fn key(&mut self) -> Result<()> {
        let (name, place) = self.new_name("a key function")?;
        self.parser.check_without_primes(&name, place)?;
        if is_variadic(&name) || name.contains('.') {
            return Err(self
                .does_not_fit(&format!("`{name}` cannot be a key function"), place)
                .help("choose another name"));
        }
        let used = {
            let mut used = self.parser.free_names();
            used.find(|(known, ..)| *known == name).map(|(.., at)| at)
        };
        let key = KeyFunction::read(self.parser, name.clone())?;
        if let (Some(used), 2..) = (used, key.n_words()) {
            let message = format!("`{name}` has more than 62 bits, and is declared behind its use");
            return Err(self
                .does_not_fit(&message, place)
                .also(self.parser.tokens.source(), used, "used here")
                .help("declare the key first"));
        }
        let n = key.arguments().len();
        let words: Vec<String> = key.words().iter().map(|word| word.name.clone()).collect();
        for name in words.into_iter().chain([name]) {
            self.parser.check_role(name, Some(n), place)?;
        }
        self.declarations.keys.push(key);
        Ok(())
    }

    /// Constraints with the words of keys that have several in place of them.
    fn in_words(&self, constraints: &[Constraint]) -> Vec<Constraint> {
        let in_words = |e: &Expression| {
            let Expression::Call(name, arguments) = e else {
                return e.clone();
            };
            let mut wide = self.declarations.keys.iter();
            match wide.find(|key| key.name() == name && key.n_words() > 1) {
                Some(key) => {
                    let words = key.words().iter();
                    let words =
                        words.map(|it| Expression::Call(it.name.clone(), arguments.clone()));
                    Expression::Call(LEX.to_owned(), words.collect())
                }
                None => e.clone(),
            }
        };
        let constraints = constraints.iter().map(|constraint| Constraint {
            first: in_words(&constraint.first),
            rest: (constraint.rest.iter())
                .map(|(comparison, e)| (*comparison, in_words(e)))
                .collect(),
        });
        constraints.collect()
    }

    fn quantifier(&mut self) -> Result<()> {
        let mut names: Vec<(String, Span)> = Vec::new();
        loop {
            let (name, place) = self.parser.tokens.name("a variable")?;
            self.parser.check_reserved(&name, place)?;
            if let Some((_, first)) = names.iter().find(|(known, _)| *known == name) {
                return Err(Diagnostic::new(
                    code::RELATION_NAME,
                    format!("`{name}` is brought in twice"),
                )
                .at(self.parser.tokens.source(), place, "here again")
                .also(self.parser.tokens.source(), *first, "here already")
                .help("rename one of them"));
            }
            names.push((name, place));
            if !self.parser.tokens.eat(",") {
                break;
            }
        }
        self.parser.tokens.expect(":")?;
        let place = self.parser.tokens.peek().span;
        let premises = self.parser.all_of(&names)?;
        let premises = self.in_words(&premises);
        self.check_keys(&premises, place)?;
        let both = self.parser.tokens.eat("<=>");
        let (premises, conclusions) = match both || self.parser.tokens.eat("=>") {
            true => {
                let place = self.parser.tokens.peek().span;
                let conclusions = self.parser.all_of(&names)?;
                let conclusions = self.in_words(&conclusions);
                self.check_keys(&conclusions, place)?;
                (premises, conclusions)
            }
            false => (Vec::new(), premises),
        };
        let names = || names.iter().map(|(name, _)| name.clone());
        let mut add = |from: &[Constraint], to: &[Constraint]| {
            let mut premises = Conjunction::new(names(), []);
            for premise in from {
                premises.add(premise.clone());
            }
            self.declarations.forall(premises, to.to_vec());
        };
        add(&premises, &conclusions);
        if both {
            add(&conclusions, &premises);
        }
        Ok(())
    }

    pub(super) fn new_name(&mut self, what: &str) -> Result<(String, Span)> {
        let (name, place) = self.parser.tokens.name(what)?;
        self.parser.check_reserved(&name, place)?;
        self.check_undeclared(&name, place)?;
        Ok((name, place))
    }

    fn check_undeclared(&self, name: &str, place: Span) -> Result<()> {
        let declarations = &*self.declarations;
        if declarations.function(name).is_none()
            && !declarations.tuples.iter().any(|tuple| tuple.name == name)
            && !declarations.orders.iter().any(|(order, _)| order == name)
            && !declarations.keys.iter().any(|key| key.name() == name)
        {
            return Ok(());
        }
        Err(self
            .does_not_fit(&format!("`{name}` is declared twice"), place)
            .help("join the two declarations, and state what else holds with `forall`"))
    }

    pub(super) fn does_not_fit(&self, message: &str, place: Span) -> Diagnostic {
        Diagnostic::new(code::BAD_DECLARATION, message).at(
            self.parser.tokens.source(),
            place,
            "here",
        )
    }

    /// A key that is no integer compares with a key of the same kind only.
    fn check_keys(&self, constraints: &[Constraint], place: Span) -> Result<()> {
        let kind = |e: &Expression| match e {
            Expression::Call(name, arguments) if self.is_key(name) => {
                Some((name.clone(), arguments.len()))
            }
            _ => None,
        };
        for e in constraints.iter().flat_map(Constraint::expressions) {
            let mut depth = 0;
            e.visit(&mut |inner| depth += usize::from(kind(inner).is_some()));
            if depth > usize::from(kind(e).is_some()) {
                return Err(self.key_misused("a key inside an expression", place));
            }
        }
        for (left, comparison, right) in constraints.iter().flat_map(Constraint::links) {
            let (left, right) = (kind(left), kind(right));
            if left != right || left.as_ref().is_some_and(|(_, n)| *n == 0) {
                return Err(self.key_misused("a key compared with something else", place));
            }
            if left.is_some_and(|(name, _)| name != LEX)
                && !matches!(comparison.symbol(), "<" | ">")
            {
                return Err(
                    self.key_misused("keys of a declared order compare by `<` and `>`", place)
                );
            }
        }
        Ok(())
    }

    fn is_key(&self, name: &str) -> bool {
        let is_wide = |key: &KeyFunction| key.n_words() > 1 && key.name() == name;
        name == LEX
            || self.declarations.keys.iter().any(is_wide)
            || self
                .declarations
                .orders
                .iter()
                .any(|(order, _)| order == name)
    }

    fn key_misused(&self, message: &str, place: Span) -> Diagnostic {
        Diagnostic::new(code::KEY_MISUSED, message)
            .at(self.parser.tokens.source(), place, "in this")
            .help("compare keys of one name with as many arguments, as in `LEX(i, j) < LEX(k, l)`")
    }
}
