//! Reading key functions.
//!
//! ```text
//! key      := "key" NAME "(" argument { "," argument } ")" ":" BITS
//!             "{" { step } "return" term "}"
//! argument := NAME ":" BITS
//! step     := NAME "=" term | "for" NAME "in" INTEGER ".." INTEGER "{" { step } "}"
//! term     := xor { "or" xor }
//! xor      := and { "xor" and }
//! and      := compared { "and" compared }
//! compared := shift [ ( "<" | "<=" | "=" | "==" | "!=" | ">" | ">=" ) shift ]
//! shift    := sum { ("<<" | ">>") sum }
//! sum      := product { ("+" | "-") product }
//! product  := atom { ("*" | "floordiv" | "mod") atom }
//! atom     := INTEGER | NAME | "(" term ")"
//!           | "select" "(" term "," term "," term ")" | ("min" | "max") "(" term "," term ")"
//! ```
//!
//! `<<` is cut as two symbols, since `<` and `>` are symbols of relations.

use sparsec_base::arena::Id;
use sparsec_base::lex::Kind;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};

use super::print::Binding;
use super::range::{Fault, MOST_STEPS, Range, follow};
use super::{
    KeyFunction, KeyOperator, Local, LocalData, MOST_BITS, Step, Term, TermKind, WORD_BITS,
};
use crate::expression::Comparison;
use crate::parse::Parser;

/// Assignments and loops that one key may have in its text.
const MOST_LINES: usize = 500;
/// Loops inside of each other.
const MOST_DEPTH: usize = 8;
/// Operators, calls and parentheses in one term; keeps recursion shallow.
const LARGEST_TERM: usize = 100;
/// Arguments of one key.
const MOST_ARGUMENTS: usize = 32;

/// Words that are no names of variables.
const WORDS: [&str; 7] = ["for", "in", "return", "select", "min", "max", "xor"];

/// Reads one key function, behind its name.
pub(super) struct Reader<'a> {
    parser: &'a mut Parser,
    key: KeyFunction,
    /// The variables that blocks around have, the innermost last.
    known: Vec<Local>,
    /// The variables of loops around.
    counters: Vec<Local>,
    /// Where each term and loop is, in the order in which [`follow`] numbers them.
    places: Vec<Span>,
    lines: usize,
    size: usize,
}

impl KeyFunction {
    /// Reads a key function from its arguments on.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0702` for numbers of bits,
    /// `E0710` for numbers that may be too large or of another sign than the operation takes,
    /// `E0711` for a key that takes too long, `E0712` for names.
    pub(crate) fn read(parser: &mut Parser, name: String) -> Result<Self> {
        let key = Self {
            name,
            arguments: Vec::new(),
            bits: 0,
            locals: Vec::new(),
            body: Vec::new(),
            result: Term {
                kind: TermKind::Number(0),
                range: Range::default(),
            },
            words: Vec::new(),
            is_injective: false,
        };
        let reader = Reader {
            parser,
            key,
            known: Vec::new(),
            counters: Vec::new(),
            places: Vec::new(),
            lines: 0,
            size: 0,
        };
        reader.read()
    }
}

impl Reader<'_> {
    fn read(mut self) -> Result<KeyFunction> {
        self.parser.tokens.expect("(")?;
        loop {
            let (name, place) = self.new_name("an argument")?;
            if self.find(&name).is_some() || self.key.arguments.len() == MOST_ARGUMENTS {
                let message = match self.find(&name) {
                    Some(_) => format!("`{name}` is two arguments"),
                    None => format!("a key of more than {MOST_ARGUMENTS} arguments"),
                };
                return Err(self
                    .misnamed(message, place)
                    .help("rename or drop one of them"));
            }
            self.parser.tokens.expect(":")?;
            let bits = self.bits(WORD_BITS, "an argument")?;
            self.key.arguments.push(bits);
            let local = self.local(name);
            self.known.push(local);
            if !self.parser.tokens.eat(",") {
                break;
            }
        }
        self.parser.tokens.expect(")")?;
        self.parser.tokens.expect(":")?;
        self.key.bits = self.bits(MOST_BITS, "a key")?;
        self.parser.tokens.expect("{")?;
        self.key.body = self.steps("return")?;
        self.parser.tokens.expect("return")?;
        self.key.result = self.whole_term()?;
        self.parser.tokens.expect("}")?;
        if let Err((fault, at)) = follow(&mut self.key) {
            let place = self.places[at - 1];
            let shown = match fault {
                Fault::Steps => "too many iterations here",
                Fault::Number(..) => "this",
            };
            let found = fault.diagnostic(&self.key.name);
            return Err(found.at(self.parser.tokens.source(), place, shown));
        }
        self.key.name_words();
        self.key.is_injective = self.key.prove_injective();
        Ok(self.key)
    }

    fn bits(&mut self, most: u32, of: &str) -> Result<u32> {
        let (bits, place) = self.parser.tokens.integer("a number of bits")?;
        match u32::try_from(bits) {
            Ok(bits) if (1..=most).contains(&bits) => Ok(bits),
            _ => Err(Diagnostic::new(
                code::BAD_DECLARATION,
                format!("{of} of a key function has {bits} bits"),
            )
            .at(self.parser.tokens.source(), place, format!("1 to {most}"))
            .help(format!("state a number of bits from 1 to {most}"))),
        }
    }

    fn local(&mut self, name: String) -> Local {
        let range = Range::default();
        self.key.locals.push(LocalData { name, range });
        Local::from_index(self.key.locals.len() - 1)
    }

    fn find(&self, name: &str) -> Option<Local> {
        let mut known = self.known.iter().rev();
        known
            .find(|local| self.key.locals[local.index()].name == name)
            .copied()
    }

    fn new_name(&mut self, what: &str) -> Result<(String, Span)> {
        let (name, place) = self.parser.tokens.name(what)?;
        self.parser.check_reserved(&name, place)?;
        self.parser.check_without_primes(&name, place)?;
        if WORDS.contains(&name.as_str()) || name.contains('.') {
            let message = format!("`{name}` cannot be a variable of a key");
            return Err(self.misnamed(message, place).help("choose another name"));
        }
        Ok((name, place))
    }

    fn misnamed(&self, message: String, place: Span) -> Diagnostic {
        Diagnostic::new(code::KEY_NAME, message).at(self.parser.tokens.source(), place, "here")
    }

    /// Reads the steps of a block, up to the token `end`.
    fn steps(&mut self, end: &str) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        while !self.parser.tokens.at(end) {
            let place = self.parser.tokens.peek().span;
            self.lines += 1;
            if self.lines > MOST_LINES || self.counters.len() > MOST_DEPTH {
                return Err(Diagnostic::new(
                    code::KEY_STEPS,
                    format!(
                        "a key of more than {MOST_LINES} lines, or of loops more than {MOST_DEPTH} deep"
                    ),
                )
                .at(self.parser.tokens.source(), place, "one more")
                .help("let loops run over the bits of the arguments"));
            }
            let step = match self.parser.tokens.eat("for") {
                true => self.for_loop(place)?,
                false => self.assignment(end)?,
            };
            steps.push(step);
        }
        Ok(steps)
    }

    fn for_loop(&mut self, begin: Span) -> Result<Step> {
        let (name, place) = self.new_name("the variable of the loop")?;
        if self.find(&name).is_some() {
            let message = format!("`{name}` is a variable already");
            return Err(self.misnamed(message, place).help("count with another"));
        }
        self.parser.tokens.expect("in")?;
        let (from, _) = self.parser.tokens.integer("the first value")?;
        self.parser.tokens.expect(".")?;
        self.parser.tokens.expect(".")?;
        let (to, end) = self.parser.tokens.integer("the end of the range")?;
        let place = begin.to(end);
        let is_wide = to > 1 << WORD_BITS;
        if from >= to || to - from > MOST_STEPS || is_wide {
            let message = match from >= to {
                true => "a loop of no iterations".to_owned(),
                false if is_wide => format!("a loop to a number of more than {WORD_BITS} bits"),
                false => format!("a loop of {} iterations", to - from),
            };
            return Err(Diagnostic::new(code::KEY_STEPS, message)
                .at(self.parser.tokens.source(), place, "this range")
                .help("let it run over the bits of the arguments, as in `for b in 0..31`"));
        }
        self.places.push(place);
        let n_known = self.known.len();
        let variable = self.local(name);
        self.known.push(variable);
        self.counters.push(variable);
        self.parser.tokens.expect("{")?;
        let body = self.steps("}")?;
        self.parser.tokens.expect("}")?;
        self.counters.pop();
        self.known.truncate(n_known);
        Ok(Step::For {
            variable,
            from,
            to,
            body,
        })
    }

    fn assignment(&mut self, end: &str) -> Result<Step> {
        if self.parser.tokens.peek().kind != Kind::Name {
            let expected = format!("an assignment, `for` or `{end}`");
            return Err(self.parser.tokens.unexpected(&expected));
        }
        let (name, place) = self.new_name("a variable")?;
        let local = self.find(&name);
        if local.is_some_and(|local| self.counters.contains(&local)) {
            let message = format!("`{name}` counts the iterations of a loop");
            return Err(self
                .misnamed(message, place)
                .help("assign another variable"));
        }
        self.parser.tokens.expect("=")?;
        let term = self.whole_term()?;
        // The name is none of its own first value.
        let local = local.unwrap_or_else(|| {
            let local = self.local(name);
            self.known.push(local);
            local
        });
        Ok(Step::Assign(local, term))
    }

    fn whole_term(&mut self) -> Result<Term> {
        self.size = 0;
        self.term(Binding::Or)
    }

    /// A term whose operators bind at least as tightly as `least`.
    fn term(&mut self, least: Binding) -> Result<Term> {
        if least == Binding::Atom {
            return self.atom();
        }
        let begin = self.parser.tokens.peek().span;
        let mut left = self.term(least.tighter())?;
        while let Some(operator) = self.operator(least) {
            self.grow()?;
            let right = self.term(least.tighter())?;
            let place = begin.to(self.parser.tokens.peek_before());
            let kind = TermKind::Binary(operator, Box::new([left, right]));
            left = self.made(kind, place);
            if least == Binding::Comparison {
                break;
            }
        }
        Ok(left)
    }

    /// Takes an operator that binds like this, if it comes next.
    fn operator(&mut self, binding: Binding) -> Option<KeyOperator> {
        let tokens = &mut self.parser.tokens;
        for sign in ["<", ">"] {
            let (first, second) = (tokens.peek_at(0).span, tokens.peek_at(1).span);
            let is_shift = first.range().end == second.range().start;
            if tokens.at_nth(0, sign) && tokens.at_nth(1, sign) && is_shift {
                if binding != Binding::Shift {
                    return None;
                }
                tokens.take();
                tokens.take();
                return Some(match sign {
                    "<" => KeyOperator::ShiftLeft,
                    _ => KeyOperator::ShiftRight,
                });
            }
        }
        if binding == Binding::Comparison && tokens.eat("==") {
            return Some(KeyOperator::Compare(Comparison::Equal));
        }
        KeyOperator::INFIX
            .into_iter()
            .filter(|operator| operator.binding() == Some(binding))
            .find(|operator| tokens.eat(operator.symbol()))
    }

    fn atom(&mut self) -> Result<Term> {
        let token = self.parser.tokens.peek();
        if token.kind == Kind::Integer {
            let (n, place) = self.parser.tokens.integer("a number")?;
            return Ok(self.made(TermKind::Number(n), place));
        }
        if self.parser.tokens.eat("(") {
            self.grow()?;
            let inner = self.term(Binding::Or)?;
            self.parser.tokens.expect(")")?;
            return Ok(inner);
        }
        let (name, place) = self.parser.tokens.name("a number, a variable or `(`")?;
        if self.parser.tokens.at("(") {
            return self.call(&name, place);
        }
        let Some(local) = self.find(&name) else {
            let known = self.known.iter();
            let known = known.map(|local| self.key.locals[local.index()].name.as_str());
            let help = match closest(&name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("assign it before, in this block or around it: `{name} = 0`"),
            };
            let message = format!("`{name}` is no variable here");
            return Err(self.misnamed(message, place).help(help));
        };
        Ok(self.made(TermKind::Local(local), place))
    }

    fn call(&mut self, name: &str, begin: Span) -> Result<Term> {
        let n = match name {
            "select" => 3,
            "min" | "max" => 2,
            _ => {
                let message = format!("`{name}` is no function of keys");
                return Err(self
                    .misnamed(message, begin)
                    .help("these are `select(c, a, b)`, `min(a, b)` and `max(a, b)`"));
            }
        };
        self.grow()?;
        self.parser.tokens.expect("(")?;
        let mut parts = vec![self.term(Binding::Or)?];
        for _ in 1..n {
            self.parser.tokens.expect(",")?;
            parts.push(self.term(Binding::Or)?);
        }
        let place = begin.to(self.parser.tokens.expect(")")?);
        let kind = match <[Term; 3]>::try_from(parts) {
            Ok(parts) => TermKind::Select(Box::new(parts)),
            Err(parts) => {
                let operator = match name {
                    "min" => KeyOperator::Minimum,
                    _ => KeyOperator::Maximum,
                };
                let sides = <[Term; 2]>::try_from(parts).expect("as many as it takes");
                TermKind::Binary(operator, Box::new(sides))
            }
        };
        Ok(self.made(kind, place))
    }

    fn made(&mut self, kind: TermKind, place: Span) -> Term {
        self.places.push(place);
        let range = Range::default();
        Term { kind, range }
    }

    fn grow(&mut self) -> Result<()> {
        self.size += 1;
        if self.size <= LARGEST_TERM {
            return Ok(());
        }
        Err(Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("a term of more than {LARGEST_TERM} operators and parentheses"),
        )
        .at(
            self.parser.tokens.source(),
            self.parser.tokens.peek().span,
            "too large",
        )
        .help("assign parts of it to variables"))
    }
}
