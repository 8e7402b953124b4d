//! Reading relations.
//!
//! ```text
//! relation   := part { "union" part }
//! part       := "{" tuple "->" tuple [ ":" body ] "}"
//! body       := "exists" NAME { "," NAME } [ ":" constraints ]  |  constraints
//! tuple      := "[" [ element { "," element } ] "]"
//! element    := NAME | sum
//! constraints:= chain { ("&&" | "and") chain }
//! chain      := sum comparison sum { comparison sum }
//! comparison := "<" | "<=" | "=" | "!=" | ">" | ">="
//! sum        := product { ("+" | "-") product }
//! product    := sign { "*" sign }
//! sign       := "-" sign | INTEGER | NAME | NAME "(" [ sum { "," sum } ] ")" | "(" sum ")"
//! ```
//!
//! A tuple element that is not a new name stands for a new variable equal to
//! it: `{[i] -> [i + 1, i]}` is `{[i] -> [e, i_1] : e = i + 1 && i_1 = i}`.

use std::collections::BTreeMap;
use std::str::FromStr;

use sparsec_base::arena::Id;
use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::relation::{Conjunction, RESERVED, Relation};

const SYMBOLS: [&str; 5] = ["->", "&&", "<=", ">=", "!="];

/// Operators and parentheses in one expression; keeps recursion shallow.
const LARGEST_EXPRESSION: usize = 200;

impl Relation {
    /// Reads a relation from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0130` for
    /// tuples or arguments of different lengths, `E0131` for a name in two
    /// roles.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(source)?;
        let mut parts = vec![parser.part()?];
        while parser.tokens.eat("union") {
            parts.push(parser.part()?);
        }
        parser.tokens.expect_end()?;
        Self::new(parts)
    }
}

impl FromStr for Relation {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("relation", text))
    }
}

impl Expression {
    /// Reads an expression of symbolic constants and functions.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(source)?;
        let e = parser.sum()?;
        parser.tokens.expect_end()?;
        Ok(e)
    }
}

/// What a free name is, and where it was so first.
struct Role {
    /// The number of arguments of a function; `None` for a constant.
    arguments: Option<usize>,
    place: Span,
}

struct Parser {
    tokens: Tokens,
    /// Operators and parentheses in the expression being read.
    size: usize,
    /// The names in the expressions of the part being read.
    uses: Vec<(String, Option<usize>, Span)>,
    /// The free names of all parts.
    roles: BTreeMap<String, Role>,
    /// The lengths of the first part's tuples.
    lengths: Option<(usize, usize)>,
}

/// The variables of a part, inputs first.
#[derive(Default)]
struct Head {
    variables: Vec<Declared>,
    /// Elements that are no new names, with their variables.
    elements: Vec<(Variable, Expression)>,
}

struct Declared {
    name: String,
    place: Span,
    /// Whether the text gives it this name; a variable that stands for an
    /// expression cannot be referred to.
    named: bool,
}

impl Head {
    fn find(&self, name: &str) -> Option<Variable> {
        self.variables
            .iter()
            .position(|variable| variable.named && variable.name == name)
            .map(Variable::from_index)
    }

    fn place(&self, variable: Variable) -> Span {
        self.variables[variable.index()].place
    }
}

impl Parser {
    fn new(source: &Source) -> Result<Self> {
        Ok(Self {
            tokens: Tokens::new(source, &SYMBOLS)?,
            size: 0,
            uses: Vec::new(),
            roles: BTreeMap::new(),
            lengths: None,
        })
    }

    fn part(&mut self) -> Result<Conjunction> {
        self.uses.clear();
        self.tokens.expect("{")?;
        let mut head = Head::default();
        let inputs = self.tuple(&mut head)?;
        let n_inputs = head.variables.len();
        self.tokens.expect("->")?;
        let outputs = self.tuple(&mut head)?;
        let lengths = (n_inputs, head.variables.len() - n_inputs);
        self.check_lengths(lengths, inputs, outputs)?;

        let names = |variables: &[Declared]| -> Vec<String> {
            variables.iter().map(|v| v.name.clone()).collect()
        };
        let (before, after) = head.variables.split_at(n_inputs);
        let mut part = Conjunction::new(names(before), names(after));
        let constraints = self.body(&mut part, &mut head)?;
        self.tokens.expect("}")?;
        self.check_names(&head)?;

        for (variable, e) in &head.elements {
            part.add(Expression::Variable(*variable).equals(e.rewritten(&head)));
        }
        for constraint in &constraints {
            part.add(constraint.rewritten(&head));
        }
        Ok(part)
    }

    fn tuple(&mut self, head: &mut Head) -> Result<Span> {
        let open = self.tokens.expect("[")?;
        let mut close = self.tokens.peek().span;
        if self.tokens.eat("]") {
            return Ok(open.to(close));
        }
        loop {
            self.element(head)?;
            close = self.tokens.peek().span;
            if self.tokens.eat("]") {
                return Ok(open.to(close));
            }
            if !self.tokens.eat(",") {
                return Err(self.tokens.unexpected("`,` or `]`"));
            }
        }
    }

    fn element(&mut self, head: &mut Head) -> Result<()> {
        let token = self.tokens.peek();
        let name = self.tokens.text(token).to_owned();
        let alone = self.tokens.at_nth(1, ",") || self.tokens.at_nth(1, "]");
        let repeated = alone && head.find(&name).is_some();
        let named = token.kind == Kind::Name && alone && !repeated;
        if named {
            self.check_reserved(&name, token.span)?;
            self.tokens.take();
        } else {
            let variable = Variable::from_index(head.variables.len());
            head.elements.push((variable, self.expression()?));
        }
        head.variables.push(Declared {
            name: if named || repeated {
                name
            } else {
                "e".to_owned()
            },
            place: token.span,
            named,
        });
        Ok(())
    }

    fn body(&mut self, part: &mut Conjunction, head: &mut Head) -> Result<Vec<Constraint>> {
        let mut constraints = Vec::new();
        if !self.tokens.eat(":") {
            return Ok(constraints);
        }
        if self.tokens.eat("exists") {
            loop {
                let (name, place) = self.tokens.name("a variable")?;
                self.check_reserved(&name, place)?;
                if let Some(first) = head.find(&name) {
                    return Err(self.two_roles(
                        &name,
                        (place, "brought in again"),
                        (head.place(first), "a variable already"),
                    ));
                }
                part.add_exists(name.as_str());
                head.variables.push(Declared {
                    name,
                    place,
                    named: true,
                });
                if !self.tokens.eat(",") {
                    break;
                }
            }
            if !self.tokens.eat(":") {
                return Ok(constraints);
            }
        }
        loop {
            constraints.push(self.chain()?);
            if !self.tokens.eat("&&") && !self.tokens.eat("and") {
                return Ok(constraints);
            }
        }
    }

    fn chain(&mut self) -> Result<Constraint> {
        let first = self.expression()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison() {
            rest.push((comparison, self.expression()?));
        }
        if rest.is_empty() {
            return Err(self.tokens.unexpected("a comparison"));
        }
        Ok(Constraint { first, rest })
    }

    fn comparison(&mut self) -> Option<Comparison> {
        Comparison::ALL
            .into_iter()
            .find(|comparison| self.tokens.eat(comparison.symbol()))
    }

    fn expression(&mut self) -> Result<Expression> {
        self.size = 0;
        self.sum()
    }

    fn sum(&mut self) -> Result<Expression> {
        let mut e = self.product()?;
        loop {
            let operator = if self.tokens.eat("+") {
                Expression::Add
            } else if self.tokens.eat("-") {
                Expression::Subtract
            } else {
                return Ok(e);
            };
            self.grow()?;
            e = operator(Box::new(e), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression> {
        let mut e = self.sign()?;
        while self.tokens.eat("*") {
            self.grow()?;
            e = Expression::Multiply(Box::new(e), Box::new(self.sign()?));
        }
        Ok(e)
    }

    fn sign(&mut self) -> Result<Expression> {
        if self.tokens.eat("-") {
            self.grow()?;
            if self.tokens.peek().kind == Kind::Integer {
                return self.integer(true);
            }
            return Ok(Expression::Negate(Box::new(self.sign()?)));
        }
        if self.tokens.peek().kind == Kind::Integer {
            return self.integer(false);
        }
        if self.tokens.eat("(") {
            self.grow()?;
            let e = self.sum()?;
            self.tokens.expect(")")?;
            return Ok(e);
        }
        let (name, place) = self.tokens.name("an expression")?;
        self.check_reserved(&name, place)?;
        if !self.tokens.eat("(") {
            self.uses.push((name.clone(), None, place));
            return Ok(Expression::Constant(name));
        }
        self.grow()?;
        let arguments = self.arguments()?;
        self.uses.push((name.clone(), Some(arguments.len()), place));
        Ok(Expression::Call(name, arguments))
    }

    fn arguments(&mut self) -> Result<Vec<Expression>> {
        let mut arguments = Vec::new();
        if self.tokens.eat(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.sum()?);
            if self.tokens.eat(")") {
                return Ok(arguments);
            }
            if !self.tokens.eat(",") {
                return Err(self.tokens.unexpected("`,` or `)`"));
            }
        }
    }

    fn integer(&mut self, negative: bool) -> Result<Expression> {
        let (value, place) = self.tokens.integer("a number")?;
        let signed = if negative {
            0i64.checked_sub_unsigned(value)
        } else {
            i64::try_from(value).ok()
        };
        match signed {
            Some(value) => Ok(Expression::Integer(value)),
            None => Err(Diagnostic::new(
                code::BAD_NUMBER,
                "an integer that does not fit in 64 bits with its sign",
            )
            .at(self.tokens.source(), place, "too large")),
        }
    }

    fn grow(&mut self) -> Result<()> {
        self.size += 1;
        if self.size <= LARGEST_EXPRESSION {
            return Ok(());
        }
        Err(Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("an expression of more than {LARGEST_EXPRESSION} operators and parentheses"),
        )
        .at(self.tokens.source(), self.tokens.peek().span, "too large")
        .help("bring in variables with `exists` for parts of it"))
    }

    fn check_reserved(&self, name: &str, place: Span) -> Result<()> {
        if !RESERVED.contains(&name) {
            return Ok(());
        }
        let message = format!("`{name}` is a word of the language and cannot be a name");
        Err(Diagnostic::new(code::RELATION_NAME, message)
            .at(self.tokens.source(), place, "not a name")
            .help("choose another name"))
    }

    fn check_lengths(
        &mut self,
        lengths: (usize, usize),
        inputs: Span,
        outputs: Span,
    ) -> Result<()> {
        let first = *self.lengths.get_or_insert(lengths);
        let (place, n, expected) = if lengths.0 != first.0 {
            (inputs, lengths.0, first.0)
        } else if lengths.1 != first.1 {
            (outputs, lengths.1, first.1)
        } else {
            return Ok(());
        };
        Err(Diagnostic::new(
            code::RELATION_ARITY,
            "the parts of a union have tuples of different lengths",
        )
        .at(
            self.tokens.source(),
            place,
            format!("length {n}, but {expected} in the first part"),
        )
        .help("give all parts the same tuples"))
    }

    /// Refuses names that have two roles, in this part or in the relation.
    fn check_names(&mut self, head: &Head) -> Result<()> {
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

    fn check_role(&mut self, name: String, arguments: Option<usize>, place: Span) -> Result<()> {
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

    fn two_roles(&self, name: &str, now: (Span, &str), before: (Span, &str)) -> Diagnostic {
        Diagnostic::new(code::RELATION_NAME, format!("`{name}` has two roles"))
            .at(self.tokens.source(), now.0, now.1)
            .also(self.tokens.source(), before.0, before.1)
            .help("rename one of them")
    }
}

/// Puts the variables of the part in place of their names.
impl Rewrite for Head {
    fn constant(&self, name: &str) -> Expression {
        match self.find(name) {
            Some(variable) => Expression::Variable(variable),
            None => Expression::Constant(name.to_owned()),
        }
    }
}
