//! Reading chains of comparisons and the expressions that they compare.
//!
//! ```text
//! chain      := operand comparison operand { comparison operand }
//! operand    := sum | "[" [ sum { "," sum } ] "]"
//! comparison := "<" | "<=" | "=" | "==" | "!=" | ">" | ">="
//! sum        := product { ("+" | "-") product }
//! product    := sign { ("*" | "floordiv" | "mod") sign }
//! sign       := "-" sign | INTEGER [ sign ] | NAME | "(" sum ")"
//!             | NAME "(" [ sum { "," sum } ] ")" [ "[" INTEGER "]" ]
//!             | "floor" "(" sum "/" sign ")"
//! ```
//!
//! Tuples compare lexicographically, which leaves a choice:
//! `[a, b] < [c, d]` is `a < c`, or `a = c && b < d`. A call that is compared with a tuple has a
//! tuple for its value: `P(i, j) = [m, n]` is `P.0(i, j) = m && P.1(i, j) = n`, and so is `P(i,
//! j)[0] = m && P(i, j)[1] = n`. In `2i` the name follows the number without a space.

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, Result, Span, code};

use super::Parser;
use super::printed::FLOOR;
use crate::conjunction::Conjunction;
use crate::expression::{Comparison, Constraint, Expression};
use crate::key;

/// Operators and parentheses in one expression; keeps recursion shallow.
const LARGEST_EXPRESSION: usize = 200;

/// A disjunction of conjunctions of constraints.
pub(crate) type Alternatives = Vec<Vec<Constraint>>;

enum Operand {
    One(Expression, Span),
    Tuple(Vec<Expression>, Span),
}

/// The chain, if it compares integers only.
fn of_integers(operands: &[Operand], comparisons: &[Comparison]) -> Option<Constraint> {
    let mut integers = operands.iter().map(|operand| match operand {
        Operand::One(e, _) => Some(e.clone()),
        Operand::Tuple(..) => None,
    });
    let first = integers.next()??;
    let rest: Option<Vec<Expression>> = integers.collect();
    let rest = comparisons.iter().copied().zip(rest?).collect();
    Some(Constraint { first, rest })
}

/// The alternatives in which tuples compare like this. No two hold at once, unless the comparison
/// is `!=`.
pub(crate) fn compare_tuples(
    left: &[Expression],
    comparison: Comparison,
    right: &[Expression],
) -> Alternatives {
    let link =
        |k: usize, comparison| Constraint::new(left[k].clone(), comparison, right[k].clone());
    let strict = match comparison {
        Comparison::Equal => {
            return vec![(0..left.len()).map(|k| link(k, comparison)).collect()];
        }
        Comparison::NotEqual => {
            return (0..left.len()).map(|k| vec![link(k, comparison)]).collect();
        }
        Comparison::Less | Comparison::LessEqual => Comparison::Less,
        Comparison::Greater | Comparison::GreaterEqual => Comparison::Greater,
    };
    let last = left.len() - 1;
    let decided_at = |k| {
        let equal = (0..k).map(|before| link(before, Comparison::Equal));
        let decides = link(k, if k == last { comparison } else { strict });
        equal.chain([decides]).collect()
    };
    (0..left.len()).map(decided_at).collect()
}

/// That two tuples cannot be compared.
fn incomparable() -> Diagnostic {
    let message = "tuples that are compared differ in length or are empty";
    Diagnostic::new(code::RELATION_ARITY, message).help("compare tuples of the same length")
}

impl Parser {
    pub(crate) fn chain(&mut self) -> Result<Alternatives> {
        let begin = self.tokens.peek().span;
        let mut operands = vec![self.operand()?];
        let mut comparisons = Vec::new();
        while let Some(comparison) = self.comparison() {
            comparisons.push(comparison);
            operands.push(self.operand()?);
        }
        if comparisons.is_empty() {
            return Err(self.tokens.unexpected("a comparison"));
        }
        if let Some(chain) = of_integers(&operands, &comparisons) {
            return Ok(vec![vec![chain]]);
        }
        let mut alternatives = vec![Vec::new()];
        for (sides, comparison) in operands.windows(2).zip(comparisons) {
            let (left, right) = self.tuples(&sides[0], &sides[1])?;
            let links = compare_tuples(&left, comparison, &right);
            self.check_parts(alternatives.len() * links.len(), begin)?;
            alternatives = alternatives
                .iter()
                .flat_map(|before: &Vec<Constraint>| {
                    links.iter().map(|link| [&before[..], &link[..]].concat())
                })
                .collect();
        }
        Ok(alternatives)
    }

    fn operand(&mut self) -> Result<Operand> {
        let place = self.tokens.peek().span;
        let end = if self.tokens.eat("[") {
            "]"
        } else if self.tokens.at(key::LEX) && self.tokens.at_nth(1, "(") {
            self.tokens.take();
            self.tokens.take();
            ")"
        } else {
            return Ok(Operand::One(self.expression()?, place));
        };
        self.size = 0;
        let elements = self.list(end)?;
        self.check_print(&elements, place)?;
        Ok(if self.keeps_keys {
            Operand::One(Expression::Call(key::LEX.to_owned(), elements), place)
        } else {
            Operand::Tuple(elements, place)
        })
    }

    /// Both sides of a comparison as tuples of one length.
    fn tuples(
        &mut self,
        left: &Operand,
        right: &Operand,
    ) -> Result<(Vec<Expression>, Vec<Expression>)> {
        match (left, right) {
            (Operand::One(a, _), Operand::One(b, _)) => Ok((vec![a.clone()], vec![b.clone()])),
            (Operand::Tuple(a, place), Operand::Tuple(b, other)) => {
                if a.len() == b.len() && !a.is_empty() {
                    return Ok((a.clone(), b.clone()));
                }
                let integers = |tuple: &[Expression]| format!("{} integers", tuple.len());
                Err(incomparable()
                    .at(self.tokens.source(), *other, integers(b))
                    .also(self.tokens.source(), *place, integers(a)))
            }
            (Operand::One(..), Operand::Tuple(tuple, place))
            | (Operand::Tuple(tuple, place), Operand::One(..))
                if tuple.is_empty() =>
            {
                Err(incomparable().at(self.tokens.source(), *place, "0 integers"))
            }
            (Operand::One(call, place), Operand::Tuple(tuple, _)) => {
                Ok((self.components(call, tuple.len(), *place)?, tuple.clone()))
            }
            (Operand::Tuple(tuple, _), Operand::One(call, place)) => {
                Ok((tuple.clone(), self.components(call, tuple.len(), *place)?))
            }
        }
    }

    /// The elements of a call that is compared with a tuple: `P.0(i, j)`, `P.1(i, j)`, ….
    fn components(&mut self, e: &Expression, n: usize, place: Span) -> Result<Vec<Expression>> {
        let Expression::Call(name, arguments) = e else {
            return Err(Diagnostic::new(
                code::RELATION_ARITY,
                "an integer is compared with a tuple",
            )
            .at(self.tokens.source(), place, "one integer")
            .help("put it in brackets, or compare it with an integer"));
        };
        // The name stands for its components from here on.
        self.uses
            .retain(|(used, _, at)| used != name || at.start != place.start);
        let component = |k: usize| format!("{name}.{k}");
        for k in 0..n {
            self.uses.push((component(k), Some(arguments.len()), place));
        }
        let call = |k| Expression::Call(component(k), arguments.clone());
        Ok((0..n).map(call).collect())
    }

    fn comparison(&mut self) -> Option<Comparison> {
        if self.tokens.eat("==") {
            return Some(Comparison::Equal);
        }
        Comparison::ALL
            .into_iter()
            .find(|comparison| self.tokens.eat(comparison.symbol()))
    }

    /// Reads an expression. Every name that is not called is a constant.
    ///
    /// # Errors
    /// As [`Relation::parse`](crate::Relation::parse).
    pub fn expression(&mut self) -> Result<Expression> {
        let place = self.tokens.peek().span;
        self.size = 0;
        let e = self.sum()?;
        self.check_print(std::slice::from_ref(&e), place)?;
        Ok(e)
    }

    /// Refuses expressions whose print would be too large to be read back: it may have more
    /// parentheses than the text.
    fn check_print(&self, expressions: &[Expression], place: Span) -> Result<()> {
        if self.size <= LARGEST_EXPRESSION / 4 {
            return Ok(());
        }
        let names = Conjunction::new([""; 0], []);
        let sizes = expressions.iter().map(|e| {
            let text = names.text_of(e).to_string();
            let symbols = text.bytes().filter(|byte| b"(+-*".contains(byte)).count();
            let words = [" floordiv ", " mod "].map(|word| text.matches(word).count());
            symbols + words.iter().sum::<usize>()
        });
        match sizes.sum::<usize>() <= LARGEST_EXPRESSION {
            true => Ok(()),
            false => Err(self.too_large(place)),
        }
    }

    pub(super) fn sum(&mut self) -> Result<Expression> {
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
        loop {
            let operator = if self.tokens.eat("*") {
                Expression::Multiply
            } else if self.tokens.eat("floordiv") {
                Expression::FloorDivide
            } else if self.tokens.eat("mod") {
                Expression::Modulo
            } else {
                return Ok(e);
            };
            self.grow()?;
            e = operator(Box::new(e), Box::new(self.sign()?));
        }
    }

    pub(super) fn sign(&mut self) -> Result<Expression> {
        if self.tokens.eat("-") {
            self.grow()?;
            if self.tokens.peek().kind == Kind::Integer {
                let factor = self.integer(true)?;
                return self.multiple(factor);
            }
            return Ok(Expression::Negate(Box::new(self.sign()?)));
        }
        if self.tokens.peek().kind == Kind::Integer {
            let factor = self.integer(false)?;
            return self.multiple(factor);
        }
        if let Some(product) = self.multiple_of_e()? {
            return Ok(product);
        }
        if self.tokens.eat("(") {
            self.grow()?;
            let e = self.sum()?;
            self.tokens.expect(")")?;
            return Ok(e);
        }
        let (mut name, place) = self.tokens.name("an expression")?;
        self.check_reserved(&name, place)?;
        if !self.tokens.eat("(") {
            self.uses.push((name.clone(), None, place));
            return Ok(Expression::Constant(name));
        }
        self.grow()?;
        if name == FLOOR
            && let Some(quotient) = self.rounded()?
        {
            return Ok(quotient);
        }
        let arguments = self.list(")")?;
        if let Some(element) = self.element_of_value()? {
            name = format!("{name}.{element}");
        }
        self.uses.push((name.clone(), Some(arguments.len()), place));
        Ok(Expression::Call(name, arguments))
    }

    /// Reads expressions with commas between them, and `end` behind.
    ///
    /// # Errors
    /// As [`expression`](Self::expression).
    pub fn list(&mut self, end: &str) -> Result<Vec<Expression>> {
        let mut elements = Vec::new();
        if self.tokens.eat(end) {
            return Ok(elements);
        }
        loop {
            elements.push(self.sum()?);
            if self.tokens.eat(end) {
                return Ok(elements);
            }
            if !self.tokens.eat(",") {
                return Err(self.tokens.unexpected(&format!("`,` or `{end}`")));
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

    pub(super) fn grow(&mut self) -> Result<()> {
        self.size += 1;
        if self.size <= LARGEST_EXPRESSION {
            return Ok(());
        }
        Err(self.too_large(self.tokens.peek().span))
    }

    fn too_large(&self, place: Span) -> Diagnostic {
        Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("an expression of more than {LARGEST_EXPRESSION} operators and parentheses"),
        )
        .at(self.tokens.source(), place, "too large")
        .help("split it: name parts of it with variables of `exists`")
    }
}
