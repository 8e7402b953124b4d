//! References as text: `A(i,j)` in networks and trees, `A[j,i]` in fused plans.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, Result, Span, code, lex};

use crate::network::{IndexVar, Named, Network};

/// The symbols of more than one character in the languages of this crate.
pub(crate) const SYMBOLS: &[&str] = &["+="];

/// A reference with the places of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) named: Named,
    /// The whole reference.
    pub(crate) span: Span,
    /// One for each index variable.
    pub(crate) indices: Vec<Span>,
}

/// Takes `A(i,j)`, or `A[i,j]` if `open` is `[`; a name alone has order 0.
pub(crate) fn take(tokens: &mut Tokens, open: &str) -> Result<Placed> {
    let (tensor, start) = tokens.name("a tensor")?;
    let close = match open {
        "(" => ")",
        _ => "]",
    };
    let mut names = Vec::new();
    let mut spans = Vec::new();
    let mut span = start;
    if tokens.eat(open) {
        if !tokens.at(close) {
            loop {
                let (name, at) = tokens.name("an index variable")?;
                names.push(name);
                spans.push(at);
                if !tokens.eat(",") {
                    break;
                }
            }
        }
        span = start.to(tokens.expect(close)?);
    }
    Ok(Placed {
        named: Named {
            tensor,
            indices: names,
        },
        span,
        indices: spans,
    })
}

/// Takes `A(i,j) * B(j,k) * …`.
pub(crate) fn take_product(tokens: &mut Tokens, open: &str) -> Result<Vec<Placed>> {
    let mut product = vec![take(tokens, open)?];
    while tokens.eat("*") {
        product.push(take(tokens, open)?);
    }
    Ok(product)
}

/// Takes a count: digits, also with an exponent or a fraction.
pub(crate) fn take_number(tokens: &mut Tokens) -> Result<(f64, Span)> {
    let token = tokens.peek();
    if !matches!(token.kind, Kind::Integer | Kind::Float) {
        return Err(tokens.unexpected("a number"));
    }
    tokens.take();
    match lex::finite(tokens.text(token)) {
        Some(number) => Ok((number, token.span)),
        None => Err(
            Diagnostic::new(code::BAD_NUMBER, "a number that no `f64` holds").at(
                tokens.source(),
                token.span,
                "too large",
            ),
        ),
    }
}

/// `name(i,j)`, or `name[i,j]` if `open` is `[`. Order 0 is the name alone.
pub(crate) fn print(network: &Network, name: &str, indices: &[IndexVar], open: char) -> String {
    if indices.is_empty() {
        return name.to_owned();
    }
    let close = if open == '(' { ')' } else { ']' };
    format!("{name}{open}{}{close}", names(network, indices, ","))
}

/// The names of index variables.
pub(crate) fn names(network: &Network, indices: &[IndexVar], separator: &str) -> String {
    let names: Vec<&str> = indices
        .iter()
        .map(|&index| network.variable(index).name.as_str())
        .collect();
    names.join(separator)
}
