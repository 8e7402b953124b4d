//! A tensor in the place of an index: which product reads the same entries.
//!
//! Index notation has no indirect access. A matrix that stores 1 at chosen coordinates
//! chooses them in a product:
//!
//! | access               | proposed                                         |
//! |----------------------|--------------------------------------------------|
//! | `A(p(i), j)`         | `sum{k}(S(i,k) * A(k, j))`, 1 at each `k = p(i)` |
//! | `y(p(i)) = x(i)`     | `y(k) = S(i,k) * (x(i))`                         |

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Span, code};

use super::super::{Index, Word};
use super::Parser;

/// Names for the index variable and for the tensor of the proposed product.
const VARIABLES: [&str; 6] = ["k", "l", "m", "n", "p", "q"];
const SELECTIONS: [&str; 4] = ["S", "P", "Q", "R"];

impl Parser {
    /// The diagnostic for indices behind an index of `tensor`. The next token opens
    /// them.
    ///
    /// `None` where `tensor` reads like the name of a function: `foo(x(i))`.
    pub(super) fn indirect(&self, tensor: &Word, index: &Index) -> Option<Diagnostic> {
        let inner = index.as_var()?;
        // Tensors have names of one letter, or begin with a capital one.
        let name = &tensor.text;
        let is_tensor = name.len() == 1 || name.starts_with(|c: char| c.is_uppercase());
        if !is_tensor || closest(name, self.function_names()).is_some() {
            return None;
        }
        let mut behind = self.clone();
        let end = behind.end_of_list()?;
        let source = self.tokens.source();
        let text = |from: u32, to: u32| source.slice(Span::new(from as usize, to as usize));
        let access = text(inner.span.start, end.end).to_owned();
        let open = self.tokens.peek().span;
        let indices = text(open.end, end.start).to_owned();
        let close = behind.rest_of_list()?;

        let words = source
            .text()
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.collect();
        let new = |names: &[&'static str]| names.iter().find(|name| !words.contains(name)).copied();
        let (k, s) = (new(&VARIABLES)?, new(&SELECTIONS)?);
        let direct = [
            text(tensor.span.start, inner.span.start),
            k,
            text(end.end, close.end),
        ]
        .concat();
        let product = match behind.right_side() {
            Some(right) => format!("{direct} = {s}({indices},{k}) * ({right})"),
            None => format!("sum{{{k}}}({s}({indices},{k}) * {direct})"),
        };
        let message = format!("`{access}` is a tensor, which cannot be an index of `{name}`");
        let span = inner.span.to(end);
        let error = self.error(code::AFFINE_INDEX, message, span, "an indirect access");
        Some(error.help(format!(
            "write `{product}`, where `{s}` stores 1 at each `{k} = {access}`"
        )))
    }

    /// Takes a list in parentheses or brackets, which is next; where it ends.
    fn end_of_list(&mut self) -> Option<Span> {
        self.tokens.take();
        self.rest_of_list()
    }

    /// Takes the rest of a list in parentheses or brackets; returns the span of its end.
    fn rest_of_list(&mut self) -> Option<Span> {
        let mut open = 1;
        while !self.tokens.at_end() {
            let token = self.tokens.take();
            match self.tokens.text(token) {
                "(" | "[" => open += 1,
                ")" | "]" => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Some(token.span);
            }
        }
        None
    }

    /// The right side of a statement whose left side was taken. `None` if the taken tokens
    /// stand on a right side themselves.
    fn right_side(&mut self) -> Option<String> {
        if self.tokens.peek().starts_line {
            return None;
        }
        if !(self.tokens.eat("=") || self.tokens.eat("+=")) {
            return None;
        }
        // The list that was taken was open before.
        self.open = 0;
        let start = self.tokens.peek().span;
        let mut end = start;
        while !self.at_statement_end() {
            end = self.tokens.take().span;
        }
        Some(self.tokens.source().slice(start.to(end)).to_owned())
    }
}
