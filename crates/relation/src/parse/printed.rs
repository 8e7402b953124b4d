//! The forms of relations that ISL and papers print.
//!
//! ```text
//! [N] -> { [i] -> [j] : exists (h : i = 2h and h < N); [i] -> [0] }     ISL
//! {[n] -> [i, j] : P(n)[0] == i && P(n)[1] == j}                        papers
//!
//! 2h, 2e0        2 * h, 2 * e0
//! floor(i/4)     i floordiv 4
//! P(n)[0]        P.0(n), an element of a tuple
//! a == b         a = b
//! { : N > 0 }    {[] : N > 0}
//! exists (e0 = floor((i)/2) : j = e0)      exists e0 : e0 = i floordiv 2 && j = e0
//! ```
//!
//! The names before the first `->` are the symbolic constants. If a text has this list, it is
//! complete: any other name that is no variable is refused, as in ISL.

use sparsec_base::lex::Kind;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};

use super::{Head, Parser};
use crate::expression::Expression;

/// The function that rounds a quotient down.
pub(crate) const FLOOR: &str = "floor";

impl Parser {
    /// Reads the list of symbolic constants before the first part, if there is one.
    pub(super) fn parameters(&mut self) -> Result<Option<Vec<(String, Span)>>> {
        if !self.tokens.eat("[") {
            return Ok(None);
        }
        let mut names = Vec::new();
        while !self.tokens.at("]") {
            let (name, place) = self.tokens.name("a symbolic constant")?;
            self.check_reserved(&name, place)?;
            self.check_role(name.clone(), None, place)?;
            names.push((name, place));
            if !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect("]")?;
        self.tokens.expect("->")?;
        Ok(Some(names))
    }

    /// Refuses a name that is neither a variable nor a listed constant, and a name that is both.
    pub(super) fn check_parameters(
        &self,
        parameters: &[(String, Span)],
        head: &Head,
    ) -> Result<()> {
        for (name, place) in parameters {
            if let Some(variable) = head.find(name) {
                let variable = (head.place(variable), "a variable here");
                return Err(self.two_roles(name, variable, (*place, "a constant here")));
            }
        }
        for (name, arguments, place) in &self.uses {
            let is_listed = || parameters.iter().any(|(listed, _)| listed == name);
            if arguments.is_some() || head.find(name).is_some() || is_listed() {
                continue;
            }
            let names = parameters.iter().map(|(listed, _)| listed.as_str());
            let message = format!("`{name}` is neither a variable nor a listed constant");
            let error = Diagnostic::new(code::RELATION_NAME, message);
            return Err(error.at(self.tokens.source(), *place, "not listed").help(
                match closest(name, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("list it before the first part: `[{name}] -> ...`"),
                },
            ));
        }
        Ok(())
    }

    /// A number, or its product with a name or parenthesis that follows without a space.
    pub(super) fn multiple(&mut self, factor: Expression) -> Result<Expression> {
        let next = self.tokens.peek();
        let is_adjacent = next.span.start == self.tokens.peek_before().end;
        if !is_adjacent || !(next.kind == Kind::Name || self.tokens.at("(")) {
            return Ok(factor);
        }
        self.grow()?;
        let of = self.sign()?;
        Ok(Expression::Multiply(Box::new(factor), Box::new(of)))
    }

    /// The product of a number and the name of a variable that ISL introduces, such as `2e0`. The
    /// lexer takes it for a floating-point number, which relations do not have.
    pub(super) fn multiple_of_e(&mut self) -> Result<Option<Expression>> {
        let token = self.tokens.peek();
        let text = self.tokens.text(token);
        let all_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let Some((factor, number)) = text.split_once('e') else {
            return Ok(None);
        };
        if token.kind != Kind::Float || !all_digits(factor) || !all_digits(number) {
            return Ok(None);
        }
        let end = token.span.range().end;
        let place = Span::new(end - number.len() - 1, end);
        let Ok(factor) = factor.parse::<i64>() else {
            return Ok(None);
        };
        let name = format!("e{number}");
        self.tokens.take();
        self.grow()?;
        self.uses.push((name.clone(), None, place));
        let (factor, of) = (Expression::Integer(factor), Expression::Constant(name));
        Ok(Some(Expression::Multiply(Box::new(factor), Box::new(of))))
    }

    /// Reads the quotient after `floor(`; `None` if no quotient follows.
    pub(super) fn rounded(&mut self) -> Result<Option<Expression>> {
        let begin = self.tokens.position();
        let n_uses = self.uses.len();
        if self.tokens.at(")") {
            return Ok(None);
        }
        let whole = self.sum()?;
        if !self.tokens.eat("/") {
            self.tokens.go_back(begin);
            self.uses.truncate(n_uses);
            return Ok(None);
        }
        let by = self.sign()?;
        self.tokens.expect(")")?;
        Ok(Some(Expression::FloorDivide(Box::new(whole), Box::new(by))))
    }

    /// Reads the number in `[0]` directly after a call; `None` if there is none.
    pub(super) fn element_of_value(&mut self) -> Result<Option<u64>> {
        let is_adjacent = self.tokens.peek().span.start == self.tokens.peek_before().end;
        let is_element = self.tokens.peek_at(1).kind == Kind::Integer && self.tokens.at_nth(2, "]");
        if !is_adjacent || !self.tokens.at("[") || !is_element {
            return Ok(None);
        }
        self.tokens.take();
        let (element, _) = self.tokens.integer("the number of an element")?;
        self.tokens.expect("]")?;
        Ok(Some(element))
    }
}
