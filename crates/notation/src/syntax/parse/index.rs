//! Reading indices: variables, affine forms, windows and sets.

use sparsec_base::lex::Kind;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_index::{Curve, Operator};

use super::super::{Index, IndexKind, Word};
use super::Parser;

/// How many coordinates a set may list: a kernel has all of them in its text.
const MOST_IN_SET: usize = 10_000;

impl Parser {
    /// One index of `tensor`.
    pub(super) fn index(&mut self, tensor: &Word) -> Result<Index> {
        if self.tokens.at_end() || self.tokens.at(",") {
            return Err(self.expected_index());
        }
        let mut behind = self.tokens.clone();
        self.index_sum(tensor).map_err(|error| {
            // A variable and then an operator: the list was not closed.
            let starts_plain = behind.peek().kind == Kind::Name && !behind.at_nth(1, "(");
            let is_like_function = closest(&tensor.text, self.function_names()).is_some();
            if error.code() != code::UNKNOWN_FUNCTION || !starts_plain || is_like_function {
                return error;
            }
            behind.take();
            super::advice::not_closed(&behind, ")")
        })
    }

    /// `a + b - c`
    fn index_sum(&mut self, tensor: &Word) -> Result<Index> {
        let mut left = self.index_product(tensor)?;
        while let Some(op) = self.index_operator(&[Operator::Add, Operator::Sub])? {
            left = joined(op, left, self.index_product(tensor)?);
        }
        Ok(left)
    }

    /// `a * b // c % d`
    fn index_product(&mut self, tensor: &Word) -> Result<Index> {
        let mut left = self.index_prefix(tensor)?;
        let operators = [Operator::Mul, Operator::FloorDiv, Operator::Mod];
        while let Some(op) = self.index_operator(&operators)? {
            left = joined(op, left, self.index_prefix(tensor)?);
        }
        Ok(left)
    }

    fn index_operator(&mut self, operators: &[Operator]) -> Result<Option<Operator>> {
        let found = operators.iter().find(|op| self.tokens.at(op.symbol()));
        if found.is_some() {
            let token = self.tokens.take();
            self.count(token.span)?;
        }
        Ok(found.cloned())
    }

    fn index_prefix(&mut self, tensor: &Word) -> Result<Index> {
        if !self.tokens.at("-") {
            return self.index_atom(tensor);
        }
        let minus = self.tokens.take();
        self.count(minus.span)?;
        let arg = self.index_prefix(tensor)?;
        Ok(Index {
            span: minus.span.to(arg.span),
            kind: match arg.kind {
                IndexKind::Number(value) => IndexKind::Number(-value),
                _ => IndexKind::Apply {
                    op: Operator::Neg,
                    args: vec![arg],
                },
            },
        })
    }

    pub(super) fn index_atom(&mut self, tensor: &Word) -> Result<Index> {
        let token = self.tokens.peek();
        let atom = match token.kind {
            Kind::Name if self.at_curve() => self.curve(tensor)?,
            Kind::Name => Index::from(self.word("an index variable")?),
            Kind::Integer if self.tokens.at_nth(3, ":") && self.tokens.at_nth(4, "-") => {
                let (from, start) = self.number_of_index()?;
                for _ in [":", "to", ":"] {
                    self.tokens.take();
                }
                return Err(self.backward(tensor, from, "i", start));
            }
            Kind::Integer if self.tokens.at_nth(1, ":") => return Err(self.no_variable(tensor)),
            _ if self.tokens.at("{") => return Err(self.no_variable(tensor)),
            Kind::Integer => {
                let (value, span) = self.number_of_index()?;
                let value = i64::try_from(value).map_err(|_| self.too_large(span))?;
                Index {
                    kind: IndexKind::Number(value),
                    span,
                }
            }
            _ if self.tokens.at("(") => {
                let open = self.tokens.take();
                self.count(open.span)?;
                let inner = self.index_sum(tensor)?;
                let close = self.tokens.expect(")")?;
                Index {
                    span: open.span.to(close),
                    ..inner
                }
            }
            _ => return Err(self.no_index(tensor)),
        };
        match () {
            () if self.tokens.at("(") => self.part(tensor, atom),
            // No window begins so; a list of indices may.
            () if self.tokens.at("[") => match self.indirect(tensor, &atom) {
                Some(error) => Err(error),
                None => Ok(atom),
            },
            () => Ok(atom),
        }
    }

    /// Whether a curve is next, and no part of a variable of that name.
    fn at_curve(&self) -> bool {
        let is_curve = self.tokens.at("morton") || self.tokens.at("alto");
        let is_part = self.tokens.at_nth(2, "{") || self.tokens.at_nth(3, ":");
        is_curve && self.tokens.at_nth(1, "(") && !is_part
    }

    /// `morton(i, j)`, `alto(i, 8, j, 2)`: the place of coordinates on a curve.
    pub fn curve(&mut self, tensor: &Word) -> Result<Index> {
        let (name, start) = self.tokens.name("`morton` or `alto`")?;
        if name != "morton" && name != "alto" {
            let error = Diagnostic::new(code::UNEXPECTED_TOKEN, format!("no curve `{name}`"));
            return Err(error
                .at(self.tokens.source(), start, "not a curve")
                .help("these are: `morton`, `alto`"));
        }
        self.tokens.expect("(")?;
        let (mut of, mut extents) = (Vec::new(), Vec::new());
        loop {
            of.push(self.index_sum(tensor)?);
            if name == "alto" {
                self.tokens.expect(",")?;
                extents.push(self.number_of_index()?.0);
            }
            if !self.tokens.eat(",") {
                break;
            }
        }
        let end = self.tokens.expect(")")?;
        let curve = match &name[..] {
            "morton" => Curve::Morton,
            _ => Curve::Alto(extents),
        };
        Ok(Index {
            kind: IndexKind::Place { curve, of },
            span: start.to(end),
        })
    }

    /// What stands in parentheses behind an index: a window or a set.
    fn part(&mut self, tensor: &Word, index: Index) -> Result<Index> {
        let is_set = self.tokens.at_nth(1, "{");
        // A bound below 0 has a sign.
        let is_window =
            self.tokens.at_nth(2, ":") || self.tokens.at_nth(1, "-") && self.tokens.at_nth(3, ":");
        if !is_set && !is_window {
            let indirect = self.indirect(tensor, &index);
            return Err(indirect.unwrap_or_else(|| self.unknown_function(tensor)));
        }
        self.tokens.take();
        let kind = match is_set {
            true => self.set(index.clone())?,
            false => self.window(tensor, &index)?,
        };
        let span = index.span.to(self.tokens.expect(")")?);
        Ok(Index { kind, span })
    }

    /// `{4, 1, 7}`
    fn set(&mut self, at: Index) -> Result<IndexKind> {
        let open = self.tokens.take();
        let mut list = Vec::new();
        while !self.tokens.at("}") {
            let (value, span) = self.number_of_index()?;
            list.push(value);
            if list.len() > MOST_IN_SET {
                return Err(self
                    .error(
                        code::INDEX_SET,
                        format!("a set of more than {MOST_IN_SET} coordinates"),
                        span,
                        "one too many",
                    )
                    .help("multiply by a tensor that selects them, `S(i,j)`"));
            }
            if !self.tokens.eat(",") {
                break;
            }
        }
        let close = self.tokens.expect("}")?;
        if list.is_empty() {
            return Err(self
                .error(
                    code::INDEX_SET,
                    "a set of no coordinates",
                    open.span.to(close),
                    "lists nothing",
                )
                .help("list at least one coordinate"));
        }
        Ok(IndexKind::Set {
            at: Box::new(at),
            list,
        })
    }

    /// `2:9` or `2:9:3`
    fn window(&mut self, tensor: &Word, index: &Index) -> Result<IndexKind> {
        let Some(var) = index.as_var().cloned() else {
            return Err(self
                .error(
                    code::WINDOW,
                    "a window of an index that is no variable",
                    index.span,
                    "no variable",
                )
                .help("write the sum: `A(2*i + 1)`"));
        };
        let (from, first) = self.number_of_index()?;
        self.tokens.expect(":")?;
        let (to, mut last) = self.number_of_index()?;
        let mut step = 1;
        if self.tokens.eat(":") {
            if self.tokens.at("-") {
                return Err(self.backward(tensor, from, &var.text, first));
            }
            (step, last) = self.number_of_index()?;
        }
        let refuse = |message: &str, help: &str| {
            Err(self
                .error(code::WINDOW, message, first.to(last), "this window")
                .help(help))
        };
        if step == 0 {
            return refuse(
                "a window with steps of 0",
                "leave the step out, or make it 1",
            );
        }
        if from > to {
            return refuse(
                "a window that ends before it begins",
                "write the smaller bound first",
            );
        }
        Ok(IndexKind::Window {
            var,
            from,
            to,
            step,
        })
    }

    /// A window whose step has a sign, which is next; its text begins at `start`.
    fn backward(&mut self, tensor: &Word, from: u64, var: &str, start: Span) -> Diagnostic {
        let minus = self.tokens.take().span;
        let (step, end) = match self.number_of_index() {
            Ok(step) => step,
            Err(error) => return error,
        };
        let factor = match step {
            0 | 1 => String::new(),
            _ => format!("{step}*"),
        };
        let span = start.to(minus).to(end);
        self.error(
            code::WINDOW,
            "a window with steps below 0",
            span,
            "this window",
        )
        .help(format!(
            "count down from the first coordinate, as in `{}({from} - {factor}{var})`",
            tensor.text
        ))
    }

    /// Digits of an index.
    fn number_of_index(&mut self) -> Result<(u64, Span)> {
        let token = self.tokens.peek();
        if token.kind != Kind::Integer {
            let error = self.tokens.unexpected("a whole number");
            return Err(error.help(
                "coordinates, bounds and steps are numbers from 0 on: `i(0:9:2)`, `i({1, 4})`",
            ));
        }
        let parsed = self.tokens.text(token).parse::<u64>();
        let value = parsed.ok().filter(|value| i64::try_from(*value).is_ok());
        let value = value.ok_or_else(|| self.too_large(token.span))?;
        self.tokens.take();
        Ok((value, token.span))
    }

    fn too_large(&self, span: Span) -> Diagnostic {
        self.error(
            code::AFFINE_INDEX,
            "a number that no coordinate reaches",
            span,
            "more than 63 bits",
        )
        .help("coordinates are below 2^63")
    }

    /// A window or a set stands behind the variable that counts it.
    fn no_variable(&self, tensor: &Word) -> Diagnostic {
        let mut tokens = self.tokens.clone();
        let (open, start) = (tokens.at("{"), tokens.peek().span);
        let mut end = start;
        while !tokens.at_end() && !tokens.at(")") && !tokens.at("]") && (open || !tokens.at(",")) {
            let closes = tokens.at("}");
            end = tokens.take().span;
            if closes {
                break;
            }
        }
        let what = if open { "a set" } else { "a window" };
        let written = self.tokens.source().slice(start.to(end)).to_owned();
        self.error(
            code::UNEXPECTED_TOKEN,
            format!("{what} without the variable that counts it"),
            start.to(end),
            "expected an index variable",
        )
        .help(format!(
            "put a variable before it: `{}(i({written}), …)`",
            tensor.text
        ))
    }

    /// What is wrong where no index stands.
    fn no_index(&self, tensor: &Word) -> Diagnostic {
        let token = self.tokens.peek();
        let closes = [")", "]", ":", "=", ";"]
            .iter()
            .any(|end| self.tokens.at(end));
        let is_constant = matches!(token.kind, Kind::Float | Kind::Text)
            && closest(&tensor.text, self.function_names()).is_none();
        match closes || is_constant || token.kind == Kind::End {
            true => self.expected_index(),
            false => self.unknown_function(tensor),
        }
    }
}

fn joined(op: Operator, left: Index, right: Index) -> Index {
    Index {
        span: left.span.to(right.span),
        kind: IndexKind::Apply {
            op,
            args: vec![left, right],
        },
    }
}
