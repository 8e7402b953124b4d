//! Reading relations and sets.
//!
//! ```text
//! relation   := [ parameters ] part { "union" part }
//! parameters := "[" [ NAME { "," NAME } ] "]" "->"
//! part       := "{" pairs { ";" pairs } "}"
//! pairs      := tuple "->" tuple [ ":" body ]
//! set        := the same with one tuple and no "->"; "{ :" has the empty tuple
//! body       := "exists" names [ ":" choice ]  |  "exists" "(" names [ ":" choice ] ")"  |  choice
//! names      := NAME { "," NAME }
//! choice     := constraints { ("||" | "or") constraints }
//! constraints:= chain { ("&&" | "and") chain }
//! tuple      := "[" [ element { "," element } ] "]"
//! element    := NAME | sum
//! ```
//!
//! [`expression`] has the chains. A tuple element that is not a new name stands
//! for a new variable equal to it: `{[i] -> [i + 1, i]}` is
//! `{[i] -> [e, i_1] : e = i + 1 && i_1 = i}`. A choice becomes parts of a union.
//!
//! The module `printed` reads the forms that ISL and papers print. They have `;` between pairs. A
//! source that holds one relation or set accepts it; in longer texts `;` begins a comment.

use std::collections::BTreeMap;
use std::str::FromStr;

use sparsec_base::arena::Id;
use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression, Rewrite, Variable};
use crate::relation::Relation;
use crate::set::Set;
use expression::Alternatives;

pub(crate) mod expression;
mod names;
mod printed;

pub(crate) const SYMBOLS: [&str; 10] = ["<=>", "->", "=>", "&&", "||", "<=", ">=", "!=", "==", "'"];

/// As [`SYMBOLS`], with `;` between the parts of a union.
const ALONE: [&str; 11] = [
    "<=>", "->", "=>", "&&", "||", "<=", ">=", "!=", "==", "'", ";",
];

/// Parts of a union that one text may have.
const MOST_PARTS: usize = 256;

impl Relation {
    /// Reads a relation from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0130` for
    /// tuples or arguments of different lengths, `E0131` for a name in two
    /// roles.
    pub fn parse(source: &Source) -> Result<Self> {
        whole(source, &ALONE, Parser::relation)
    }
}

impl FromStr for Relation {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("relation", text))
    }
}

impl Set {
    /// Reads a set from the whole of a source.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        whole(source, &ALONE, Parser::set)
    }
}

impl FromStr for Set {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("set", text))
    }
}

impl Expression {
    /// Reads an expression of symbolic constants and functions.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        whole(source, &SYMBOLS, Parser::expression)
    }
}

/// Reads the whole of a source with one function of the parser.
fn whole<T>(
    source: &Source,
    symbols: &'static [&'static str],
    read: impl FnOnce(&mut Parser) -> Result<T>,
) -> Result<T> {
    let mut parser = Parser::new(Tokens::new(source, symbols)?);
    let read = read(&mut parser)?;
    parser.tokens.expect_end()?;
    Ok(read)
}

/// The role of a free name, and its first place.
struct Role {
    /// The number of arguments of a function; `None` for a constant.
    arguments: Option<usize>,
    place: Span,
}

/// Reads relations, for languages that have them inside their text.
///
/// All that one parser reads shares its free names: a name is a constant
/// everywhere, or a function of one number of arguments.
pub struct Parser {
    /// The cursor; the language around takes its own tokens from it.
    pub tokens: Tokens,
    /// Operators and parentheses in the expression being read.
    size: usize,
    /// Whether a tuple is kept as a key `LEX(…)`, which declarations compare;
    /// else comparisons of tuples become comparisons of integers.
    pub(crate) keeps_keys: bool,
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
    /// Symbols that the tokens of a text with relations in it are cut by.
    pub const SYMBOLS: [&'static str; 10] = SYMBOLS;

    /// A parser of the text from the next token on.
    pub fn new(tokens: Tokens) -> Self {
        Self {
            tokens,
            size: 0,
            keeps_keys: false,
            uses: Vec::new(),
            roles: BTreeMap::new(),
            lengths: None,
        }
    }

    /// Reads a relation.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    pub fn relation(&mut self) -> Result<Relation> {
        Relation::new(self.parts(true)?)
    }

    /// Reads a set.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    pub fn set(&mut self) -> Result<Set> {
        Relation::new(self.parts(false)?).map(Set::of)
    }

    fn parts(&mut self, pairs: bool) -> Result<Vec<Conjunction>> {
        self.lengths = None;
        let parameters = self.parameters()?;
        let mut parts = Vec::new();
        self.tokens.expect("{")?;
        loop {
            let place = self.tokens.peek().span;
            parts.extend(self.part(pairs, parameters.as_deref())?);
            self.check_parts(parts.len(), place)?;
            if self.tokens.eat(";") {
                continue;
            }
            self.tokens.expect("}")?;
            if !self.tokens.eat("union") {
                return Ok(parts);
            }
            self.tokens.expect("{")?;
        }
    }

    fn check_parts(&self, n: usize, place: Span) -> Result<()> {
        if n <= MOST_PARTS {
            return Ok(());
        }
        Err(Diagnostic::new(
            code::RELATION_TOO_LARGE,
            format!("a union of more than {MOST_PARTS} parts"),
        )
        .at(self.tokens.source(), place, "one more")
        .help("compare fewer tuples, or write fewer alternatives"))
    }

    /// One part of the text; with a choice in it, several parts of the union.
    fn part(
        &mut self,
        pairs: bool,
        parameters: Option<&[(String, Span)]>,
    ) -> Result<Vec<Conjunction>> {
        self.uses.clear();
        let mut head = Head::default();
        let is_empty_tuple = !pairs && self.tokens.at(":");
        let inputs = match is_empty_tuple {
            true => self.tokens.peek().span,
            false => self.tuple(&mut head)?,
        };
        let n_inputs = head.variables.len();
        let outputs = if pairs {
            self.tokens.expect("->")?;
            self.tuple(&mut head)?
        } else {
            inputs
        };
        let lengths = (n_inputs, head.variables.len() - n_inputs);
        self.check_lengths(lengths, inputs, outputs)?;

        let names = |variables: &[Declared]| -> Vec<String> {
            variables.iter().map(|v| v.name.clone()).collect()
        };
        let (before, after) = head.variables.split_at(n_inputs);
        let mut part = Conjunction::new(names(before), names(after));
        let alternatives = self.body(&mut part, &mut head)?;
        if let Some(parameters) = parameters {
            self.check_parameters(parameters, &head)?;
        }
        self.check_names(&head)?;

        for (variable, e) in &head.elements {
            part.add(Expression::Variable(*variable).equals(e.rewritten(&head)));
        }
        let with = |constraints: &Vec<Constraint>| {
            let mut part = part.clone();
            for constraint in constraints {
                part.add(constraint.rewritten(&head));
            }
            part
        };
        Ok(alternatives.iter().map(with).collect())
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

    fn body(&mut self, part: &mut Conjunction, head: &mut Head) -> Result<Alternatives> {
        if !self.tokens.eat(":") {
            return Ok(vec![Vec::new()]);
        }
        if self.tokens.eat("exists") {
            let in_parentheses = self.tokens.eat("(");
            let mut definitions = Vec::new();
            loop {
                let (name, place) = self.tokens.name("a variable")?;
                self.check_reserved(&name, place)?;
                self.check_new(head, &name, place)?;
                part.add_exists(name.as_str());
                head.variables.push(Declared {
                    name: name.clone(),
                    place,
                    named: true,
                });
                if self.tokens.eat("=") {
                    definitions.push(Expression::Constant(name).equals(self.expression()?));
                }
                if !self.tokens.eat(",") {
                    break;
                }
            }
            let mut alternatives = vec![Vec::new()];
            if self.tokens.eat(":") {
                alternatives = self.choice()?;
            }
            for alternative in &mut alternatives {
                alternative.splice(0..0, definitions.iter().cloned());
            }
            if in_parentheses {
                self.tokens.expect(")")?;
            }
            return Ok(alternatives);
        }
        self.choice()
    }

    fn choice(&mut self) -> Result<Alternatives> {
        let mut alternatives = self.constraints()?;
        while self.tokens.eat("||") || self.tokens.eat("or") {
            alternatives.extend(self.constraints()?);
        }
        Ok(alternatives)
    }

    /// Constraints that all hold; each chain may leave a choice.
    fn constraints(&mut self) -> Result<Alternatives> {
        let mut alternatives = vec![Vec::new()];
        loop {
            let place = self.tokens.peek().span;
            let chain = self.chain()?;
            self.check_parts(alternatives.len() * chain.len(), place)?;
            match &chain[..] {
                // Copies of all that came before would add up.
                [only] => {
                    for before in &mut alternatives {
                        before.extend_from_slice(only);
                    }
                }
                _ => {
                    let both = |before: &Vec<Constraint>| {
                        let before = before.clone();
                        chain
                            .iter()
                            .map(move |after| [&before[..], &after[..]].concat())
                    };
                    alternatives = alternatives.iter().flat_map(both).collect();
                }
            }
            if !self.tokens.eat("&&") && !self.tokens.eat("and") {
                return Ok(alternatives);
            }
        }
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
        .help("give the tuples of all parts the same length"))
    }

    /// Constraints of these variables that all hold, outside a part.
    pub(crate) fn all_of(&mut self, variables: &[(String, Span)]) -> Result<Vec<Constraint>> {
        let declared = |(name, place): &(String, Span)| Declared {
            name: name.clone(),
            place: *place,
            named: true,
        };
        let head = Head {
            variables: variables.iter().map(declared).collect(),
            elements: Vec::new(),
        };
        self.uses.clear();
        let alternatives = self.constraints()?;
        self.check_names(&head)?;
        let all = alternatives.iter().flatten();
        Ok(all.map(|constraint| constraint.rewritten(&head)).collect())
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
