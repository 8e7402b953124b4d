//! Reading computations.
//!
//! ```text
//! text        := computation { computation }
//! computation := "computation" NAME "{" { header } { statement | call } "}"
//! header      := "parameters" NAME { "," NAME }
//!              | "assume" … | "function" … | "order" … | "key" … | "forall" …
//!              | role space { "," space }
//! role        := "given" | "temporary" | "out" | "inout"
//! space       := NAME ":" TYPE [ "[" sum { "," sum } "]" ]
//! statement   := NAME ":" assignment "over" set [ "at" "[" [ sum { "," sum } ] "]" ]
//! call        := "call" NAME "(" [ argument { "," argument } ] ")" "over" set [ "at" … ]
//! argument    := NAME "=" ( sum | access )
//! assignment  := access ( "=" | "+=" | "*=" | "min=" | "max=" ) value
//! access      := NAME [ "(" sum { "," sum } ")" ]
//! value       := term { ("+" | "-") term }
//! term        := factor { ("*" | "/" | "floordiv" | "mod") factor }
//! factor      := "-" factor | NUMBER | NAME | access | "(" value ")"
//!              | ("min" | "max") "(" value "," value ")" | TYPE "(" value ")"
//!              | ("ordinal" | "rank" | "dense_rank") "(" [ key { "," key } ] ")"
//! key         := sum "of" sum
//! ```
//!
//! Declarations, sets and sums are those of relations. A statement without `at`
//! runs after those before it, each point in the order of its tuple: the third
//! one over `{[i, j] : …}` is `at [2, i, j]`. A call becomes the statements of a
//! computation that stands before, see [`inline`](crate::inline).
//!
//! This is also where a computation is checked: what is read is valid, and what
//! a program puts together is printed and read ([`Computation::checked`]).

use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_relation::{Declarations, Expression, Parser};

use crate::computation::{Computation, DataSpace, Role, Statement};
use crate::script::{MOST_ELEMENTS, too_long};
use crate::value::Access;
use names::Names;

mod call;
mod keys;
mod names;
mod types;
mod value;

/// Words with a meaning of their own, besides those of relations.
const WORDS: [&str; 12] = [
    "computation",
    "parameters",
    "over",
    "at",
    "assume",
    "function",
    "min",
    "max",
    "of",
    "ordinal",
    "rank",
    "dense_rank",
];

impl Computation {
    /// Reads a computation from the whole of a source.
    ///
    /// # Errors
    /// As for relations and declarations; `E0801` for unknown names, `E0802`
    /// for a name that means two things, `E0803` for data in sets or indices
    /// that are no integers, `E0804` for types that do not fit, `E0805` for
    /// given data that are written.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let text = "
    /// computation scale {
    ///   parameters N
    ///   given x : f64[N]
    ///   out y : f64[N]
    ///   s0: y(i) = 2 * x(i) over {[i] : 0 <= i < N}
    /// }";
    /// let scale: Computation = text.parse()?;
    /// assert_eq!(scale.to_string().parse::<Computation>()?, scale);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(source: &Source) -> Result<Self> {
        Self::last_of(source).map_err(|error| match error.code() {
            code::UNEXPECTED_TOKEN => error.or_help(
                "a computation is written like `computation twice { parameters N given x : f64[N] \
                 out y : f64[N] s: y(i) = 2 * x(i) over {[i] : 0 <= i < N} }`",
            ),
            _ => error,
        })
    }

    /// The last computation of a text, with those before it in place of its calls.
    fn last_of(source: &Source) -> Result<Self> {
        let symbols = [&Parser::SYMBOLS[..], &["+=", "*="]].concat();
        let mut tokens = Tokens::new(source, &symbols)?;
        let mut library: Vec<Self> = Vec::new();
        loop {
            let mut reader = Reader {
                parser: Parser::new(tokens),
                names: Names::default(),
                size: 0,
                computation: Self {
                    name: String::new(),
                    parameters: Vec::new(),
                    declarations: Declarations::new(),
                    spaces: Vec::new(),
                    statements: Vec::new(),
                },
                library,
            };
            reader.computation()?;
            if !reader.parser.tokens.at("computation") {
                reader.parser.tokens.expect_end()?;
                return Ok(reader.computation);
            }
            (tokens, library) = (reader.parser.tokens, reader.library);
            library.push(reader.computation);
        }
    }
}

impl FromStr for Computation {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("computation", text))
    }
}

struct Reader {
    parser: Parser,
    names: Names,
    /// Operators and parentheses in the value being read.
    size: usize,
    computation: Computation,
    /// The computations before, which may be called.
    library: Vec<Computation>,
}

impl Reader {
    fn computation(&mut self) -> Result<()> {
        let is_format = self.parser.tokens.at_nth(0, "format");
        let begun = self.parser.tokens.expect("computation");
        begun.map_err(|error| match is_format {
            true => error.help(
                "a format is for an operand: `sparsec relations 'y(i) = A(i,j) * x(j)' -f A=FILE.fmt`",
            ),
            false => error,
        })?;
        let (name, place) = self.parser.tokens.name("a name")?;
        self.parser.check_without_primes(&name, place)?;
        self.computation.name = name;
        self.parser.tokens.expect("{")?;
        while self.header()? {}
        self.header_names()?;
        // Their order in the text is by role, as they print.
        let role = |space: &DataSpace| Role::ALL.iter().position(|r| *r == space.role);
        self.computation.spaces.sort_by_key(role);
        while !self.parser.tokens.eat("}") {
            match self.parser.tokens.at("call") && !self.parser.tokens.at_nth(1, ":") {
                true => self.call()?,
                false => self.statement()?,
            }
        }
        Ok(())
    }

    /// Reads one line of the header, if there is one.
    fn header(&mut self) -> Result<bool> {
        if self.parser.tokens.at_nth(1, ":") {
            return Ok(false);
        }
        if self.parser.tokens.eat("parameters") {
            loop {
                let name = self.new_name("a parameter")?;
                self.computation.parameters.push(name);
                if !self.parser.tokens.eat(",") {
                    return Ok(true);
                }
            }
        }
        if Parser::DECLARES
            .iter()
            .any(|word| self.parser.tokens.at(word))
        {
            let is_key = self.parser.tokens.at("key");
            let place = self.parser.tokens.peek_at(1).span;
            let declarations = &mut self.computation.declarations;
            self.parser.declaration(declarations)?;
            if let (true, Some(key)) = (is_key, declarations.keys().last()) {
                let name = key.name().to_owned();
                self.note_key(&name, place)?;
            }
            return Ok(true);
        }
        let Some(role) = Role::ALL
            .into_iter()
            .find(|role| self.parser.tokens.eat(role.word()))
        else {
            return Ok(false);
        };
        loop {
            let space = self.space(role)?;
            self.computation.spaces.push(space);
            if !self.parser.tokens.eat(",") {
                return Ok(true);
            }
        }
    }

    fn space(&mut self, role: Role) -> Result<DataSpace> {
        let name = self.new_name("data")?;
        self.parser.tokens.expect(":")?;
        let element = self.element_type()?;
        let mut extents = Vec::new();
        if self.parser.tokens.eat("[") {
            extents = self.parser.list("]")?;
            for (name, arguments, place) in self.parser.take_uses() {
                self.parser.check_role(name, arguments, place)?;
            }
        }
        Ok(DataSpace {
            name,
            element,
            extents,
            role,
        })
    }

    fn element_type(&mut self) -> Result<ElementType> {
        let (name, place) = self.parser.tokens.name("a type")?;
        if let Some(ty) = ElementType::parse(&name) {
            return Ok(ty);
        }
        Err(
            Diagnostic::new(code::UNEXPECTED_TOKEN, format!("`{name}` is not a type"))
                .at(self.parser.tokens.source(), place, "expected a type")
                .help(ElementType::advice(&name)),
        )
    }

    fn statement(&mut self) -> Result<()> {
        if !self.parser.tokens.at_nth(1, ":") {
            let expected = match self.computation.statements.is_empty() {
                true => "`parameters`, data, a declaration, a statement or `}`",
                false => "a statement or `}`",
            };
            return Err(self.parser.tokens.unexpected(expected));
        }
        let name = self.new_name("a statement")?;
        self.parser.tokens.expect(":")?;
        let (target, update, value) = self.assignment()?;
        let in_body = self.parser.take_uses();

        self.parser.tokens.expect("over")?;
        let begin = self.parser.tokens.peek().span;
        let space = self.parser.set()?;
        let end = self.parser.tokens.peek_before();
        self.set_names(&space, begin.to(end))?;

        let schedule = match self.parser.tokens.eat("at") {
            true => {
                let begin = self.parser.tokens.expect("[")?;
                let schedule = self.parser.list("]")?;
                if schedule.len() > MOST_ELEMENTS {
                    let place = begin.to(self.parser.tokens.peek_before());
                    return Err(too_long().at(self.parser.tokens.source(), place, "too long"));
                }
                Some(schedule)
            }
            false => None,
        };
        let uses = [in_body, self.parser.take_uses()].concat();
        self.names_at_points(uses, &space.parts()[0])?;

        let variables = Variables(&space.parts()[0]);
        let place = i64::try_from(self.computation.statements.len()).expect("few statements");
        let schedule = match schedule {
            Some(schedule) => schedule.iter().map(|e| e.rewritten(&variables)).collect(),
            None => {
                let point = variables.0.inputs().map(Expression::Variable);
                std::iter::once(Expression::Integer(place))
                    .chain(point)
                    .collect()
            }
        };
        let statement = Statement {
            name,
            schedule,
            target: target.rewritten(&variables),
            update,
            value: self.resolved(&value, &variables),
            space,
        };
        self.computation.statements.push(statement);
        Ok(())
    }

    fn access(&mut self, space: String) -> Result<Access> {
        let indices = match self.parser.tokens.eat("(") {
            true => self.parser.list(")")?,
            false => Vec::new(),
        };
        Ok(Access { space, indices })
    }
}

/// Puts the variables of an iteration space in place of their names.
struct Variables<'a>(&'a sparsec_relation::Conjunction);

impl Variables<'_> {
    fn find(&self, name: &str) -> Option<sparsec_relation::Variable> {
        self.0.inputs().find(|v| self.0.name(*v) == name)
    }
}

impl sparsec_relation::Rewrite for Variables<'_> {
    fn constant(&self, name: &str) -> Expression {
        match self.find(name) {
            Some(variable) => Expression::Variable(variable),
            None => Expression::Constant(name.to_owned()),
        }
    }
}

/// Where a name stands, for a diagnostic.
type Use = (String, Option<usize>, Span);
