//! What to write instead where a token cannot stand: the way out of `E0101`.
//!
//! Most of these tokens are operators of other languages, which the reader of the
//! message knows, so that the nearest of ours is the shortest answer.

use sparsec_base::Diagnostic;
use sparsec_base::lex::{Kind, Tokens};

use super::Parser;

impl Parser {
    /// Something behind an expression that neither continues it nor ends the
    /// statement.
    pub(super) fn expected_operator(&self) -> Diagnostic {
        let error = self
            .tokens
            .unexpected("an operator or the end of the statement");
        error.help(match self.elsewhere() {
            Some(advice) => advice,
            None if self.tokens.at(")") => "no parenthesis is open here: leave it out",
            None if self.tokens.source().slice(self.tokens.peek_before()) == "if" => {
                "a choice is `select(condition, a, b)`"
            }
            None => {
                "operators stand between operands, as in `a * b`; `;` or a newline ends a statement"
            }
        })
    }

    /// Nothing that an expression may begin with.
    pub(super) fn expected_operand(&self) -> Diagnostic {
        let error = self.tokens.unexpected("a tensor, a number or `(`");
        let before = self.tokens.source().slice(self.tokens.peek_before());
        error.help(match self.elsewhere() {
            _ if self.tokens.at("*") => "a power is `pow(a, b)`",
            _ if self.tokens.at("+") => "leave the sign out",
            _ if self.tokens.at("=") => "these compare: `== != < <= > >=`",
            _ if self.tokens.at("<") || self.tokens.at(">") && before == ">" => {
                "bits are moved by `shl(a, n)` and `shr(a, n)`"
            }
            _ if self.tokens.at(">") => "`!=` says that two values differ",
            _ if self.tokens.at("[") || self.tokens.at("{") => "group with `(` and `)`",
            Some(advice) => advice,
            None => "an operator has an operand on each side, as in `A(i,j) * x(j)`",
        })
    }

    /// No end of an expression in parentheses.
    pub(super) fn expected_close_of_group(&self) -> Diagnostic {
        let error = self.tokens.unexpected("an operator or `)`");
        error.help(match self.elsewhere() {
            Some(advice) => advice,
            None if self.tokens.at(",") => {
                "this parenthesis groups one expression: close it with `)`"
            }
            None if is_operand(&self.tokens) => "a product is written `a * b`",
            None => "close the parenthesis with `)`",
        })
    }

    /// No end of a list of indices, variables or arguments.
    pub(super) fn expected_close(&self, close: &str) -> Diagnostic {
        let error = not_closed(&self.tokens, close);
        match self.elsewhere() {
            Some(advice) => error.help(advice),
            None => error,
        }
    }

    /// No index where one has to stand.
    pub(super) fn expected_index(&self) -> Diagnostic {
        let error = self.tokens.unexpected("an index variable");
        error.help("an index is a variable, a sum as `2*i - 1`, a window as `i(0:9)` or a set as `i({1, 4})`")
    }

    /// What the token means in other languages, said in this one.
    fn elsewhere(&self) -> Option<&'static str> {
        let known = [
            ("=", "`==` compares; a statement has one `=`"),
            (
                "&",
                "both hold where `a and b` does; of bits, `bitand(a, b)`",
            ),
            (
                "|",
                "`a or b` holds where one of them does; of bits, `bitor(a, b)`; an absolute value is `abs(a)`",
            ),
            ("!", "`not a` is the opposite, `a != b` compares"),
            ("~", "`not a` is the opposite; of bits, `bitxor(a, -1)`"),
            ("^", "a power is `pow(a, b)`; of bits, `bitxor(a, b)`"),
            (
                "@",
                "products name their indices: `C(i,j) = A(i,k) * B(k,j)`",
            ),
            (
                "'",
                "a transpose names its indices the other way round: `A(j,i)`",
            ),
            ("?", "a choice is `select(condition, a, b)`"),
            (
                "$",
                "sums need no sign: an index that is not on the left is summed over",
            ),
            ("if", "a choice is `select(condition, a, b)`"),
            ("mod", "the remainder is `a % b`"),
            ("div", "the whole part of a quotient is `a // b`"),
            ("\\", "the whole part of a quotient is `a // b`"),
        ];
        let found = known.iter().find(|(token, _)| self.tokens.at(token));
        found.map(|(_, advice)| *advice)
    }
}

/// The statement of an einsum, whose operands are lists of letters, one an index: of
/// `ij`, `j` and `i`, `y(i) = A(i,j) * x(j)`.
///
/// `None` where the names for operands do not suffice.
pub(super) fn einsum(operands: &[String], result: &str) -> Option<String> {
    let (mut vectors, mut matrices) = (["x", "z", "w"].iter(), ["A", "B", "D", "E"].iter());
    let mut named = Vec::new();
    for letters in operands {
        let names: &mut dyn Iterator<Item = &&str> = match letters.len() {
            1 => &mut vectors,
            _ => &mut matrices,
        };
        named.push(access(names.next()?, letters)?);
    }
    let name = match result.len() {
        0 => "s",
        1 => "y",
        _ => "C",
    };
    Some(format!("{} = {}", access(name, result)?, named.join(" * ")))
}

/// A tensor with an index for each letter; each letter may stand once.
fn access(name: &str, letters: &str) -> Option<String> {
    let all: Vec<String> = letters.chars().map(String::from).collect();
    let is_once = |(at, letter): (usize, &String)| {
        !all[..at].contains(letter) && letter.chars().all(|c| c.is_ascii_lowercase())
    };
    let is_plain = all.iter().enumerate().all(is_once);
    let text = match all.is_empty() {
        true => name.to_owned(),
        false => format!("{name}({})", all.join(",")),
    };
    is_plain.then_some(text)
}

/// A list that does not go on, and has no end either.
pub(super) fn not_closed(tokens: &Tokens, close: &str) -> Diagnostic {
    let error = tokens.unexpected(&format!("`,` or `{close}`"));
    match is_operand(tokens) {
        true => error.help("what a list names is separated by `,`"),
        false if tokens.at("/") => {
            error.help("coordinates are whole numbers: `i // 2` is the whole part of the quotient")
        }
        false => error.help(format!("close the list with `{close}`")),
    }
}

/// Whether an operand begins here.
fn is_operand(tokens: &Tokens) -> bool {
    let kind = tokens.peek().kind;
    tokens.at("(") || matches!(kind, Kind::Name | Kind::Integer | Kind::Float)
}
