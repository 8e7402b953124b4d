//! Expressions.

use sparsec_base::lex::{Kind, Token};
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Span, code};

use super::{Entity, MAX_OPERATORS, Parser};
use crate::ir::{BinaryOp, Expr, Intrinsic, UnaryOp};
use crate::text::Binding;

/// Infix operators by symbol.
const INFIX: &[BinaryOp] = &[
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Mod,
];

impl Parser {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.operators = 0;
        self.binding(Binding::Or)
    }

    /// Counts one more operator or parenthesis.
    fn count(&mut self) -> Result<()> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(());
        }
        Err(Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("an expression of more than {MAX_OPERATORS} operations"),
        )
        .at(self.tokens.source(), self.tokens.peek().span, "too much")
        .help("declare a variable for a part of it"))
    }

    /// An expression that binds at least as tightly as `least`.
    fn binding(&mut self, least: Binding) -> Result<Expr> {
        let mut left = self.prefix(least)?;
        // What may still follow: nothing looser than what `left` holds, and no
        // second comparison.
        let mut most = Binding::Atom;
        while let Some((op, binding)) = self.infix() {
            if binding < least || binding > most {
                break;
            }
            self.count()?;
            self.tokens.take();
            let right = self.binding(binding.tighter())?;
            left = left.binary(op, right);
            most = match binding {
                Binding::Comparison => Binding::And,
                binding => binding,
            };
        }
        Ok(left)
    }

    fn infix(&self) -> Option<(BinaryOp, Binding)> {
        let op = INFIX
            .iter()
            .copied()
            .find(|op| self.tokens.at(op.symbol()))?;
        Some((op, Binding::of(op)?))
    }

    fn prefix(&mut self, least: Binding) -> Result<Expr> {
        self.count()?;
        if least <= Binding::Not && self.tokens.eat("not") {
            let value = self.binding(Binding::Not)?;
            return Ok(Expr::Unary(UnaryOp::Not, Box::new(value)));
        }
        if self.tokens.at("-") {
            let minus = self.tokens.take();
            let next = self.tokens.peek();
            let touches = next.span.start == minus.span.end;
            if touches && self.starts_number(next) {
                return self.number(true);
            }
            let value = self.prefix(Binding::Negation)?;
            return Ok(Expr::Unary(UnaryOp::Neg, Box::new(value)));
        }
        self.atom()
    }

    fn starts_number(&self, token: Token) -> bool {
        match token.kind {
            Kind::Integer | Kind::Float => true,
            Kind::Name => matches!(self.tokens.text(token), "inf" | "nan" | "inff32" | "nanf32"),
            _ => false,
        }
    }

    fn atom(&mut self) -> Result<Expr> {
        let token = self.tokens.peek();
        if self.starts_number(token) {
            return self.number(false);
        }
        if self.tokens.eat("(") {
            let inner = self.binding(Binding::Or)?;
            self.tokens.expect(")")?;
            return Ok(inner);
        }
        if token.kind != Kind::Name {
            return Err(self.tokens.unexpected("an expression"));
        }
        let word = self.tokens.text(token).to_owned();
        if self.tokens.at_nth(1, "(") {
            self.tokens.take();
            return self.call(&word, token.span);
        }
        match word.as_str() {
            "true" | "false" => {
                self.tokens.take();
                Ok(Expr::Const(Scalar::Bool(word == "true")))
            }
            "not" => Err(self.tokens.unexpected("`not` in parentheses")),
            _ => self.variable_or_load(),
        }
    }

    fn variable_or_load(&mut self) -> Result<Expr> {
        let (entity, span) = self.known("a variable or a buffer")?;
        match entity {
            Entity::Var(var) => Ok(Expr::Var(var)),
            Entity::Buffer(buffer) => {
                if !self.tokens.eat("[") {
                    return Err(self.misused(span, "a buffer", "a value"));
                }
                let index = self.binding(Binding::Or)?;
                self.tokens.expect("]")?;
                Ok(Expr::load(buffer, index))
            }
        }
    }

    fn call(&mut self, name: &str, span: Span) -> Result<Expr> {
        let mut arguments = Vec::new();
        self.tokens.expect("(")?;
        while !self.tokens.at(")") {
            arguments.push(self.binding(Binding::Or)?);
            if !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect(")")?;
        let given = arguments.len();
        let source = self.tokens.source();
        let wrong_count = |wanted: usize| {
            Diagnostic::new(
                code::LOOP_TYPE,
                format!("`{name}` takes {wanted} arguments, not {given}"),
            )
            .at(source, span, format!("{given} arguments"))
        };
        let intrinsic = Intrinsic::ALL.into_iter().find(|f| f.name() == name);
        if let Some(function) = intrinsic {
            if given != function.arity() {
                return Err(wrong_count(function.arity()));
            }
            return Ok(Expr::Call(function, arguments));
        }
        let element = ElementType::parse(name);
        let wanted = match name {
            "min" | "max" => 2,
            "select" => 3,
            "abs" => 1,
            _ if element.is_some() => 1,
            _ => {
                return Err(Diagnostic::new(
                    code::LOOP_UNKNOWN_NAME,
                    format!("no function is called `{name}`"),
                )
                .at(source, span, "unknown function"));
            }
        };
        let mut boxed = arguments.into_iter().map(Box::new);
        let mut next = || boxed.next().ok_or_else(|| wrong_count(wanted));
        if given != wanted {
            return Err(wrong_count(wanted));
        }
        Ok(match (name, element) {
            (_, Some(element)) => Expr::Cast(element, next()?),
            ("min", _) => Expr::Binary(BinaryOp::Min, next()?, next()?),
            ("max", _) => Expr::Binary(BinaryOp::Max, next()?, next()?),
            ("abs", _) => Expr::Unary(UnaryOp::Abs, next()?),
            _ => Expr::Select {
                condition: next()?,
                then: next()?,
                otherwise: next()?,
            },
        })
    }

    /// A constant; `minus` if a `-` stands right before it.
    fn number(&mut self, minus: bool) -> Result<Expr> {
        let token = self.tokens.take();
        let source = self.tokens.source().clone();
        let bad = |what: &str| {
            Diagnostic::new(code::BAD_NUMBER, what.to_owned()).at(
                &source,
                token.span,
                "this number",
            )
        };
        let text = self.tokens.text(token).to_owned();
        let (digits, suffix) = if token.kind == Kind::Name {
            (&text[..3], text[3..].to_owned())
        } else {
            let next = self.tokens.peek();
            let touches = next.kind == Kind::Name && next.span.start == token.span.end;
            let suffix = if touches {
                self.tokens.take();
                self.tokens.text(next).to_owned()
            } else {
                String::new()
            };
            (&text[..], suffix)
        };
        let signed = format!("{}{digits}", if minus { "-" } else { "" });
        let integer = token.kind == Kind::Integer;
        let value = match suffix.as_str() {
            "" if integer => Scalar::I64(
                signed
                    .parse()
                    .map_err(|_| bad("an integer that does not fit in 64 bits"))?,
            ),
            "i32" if integer => Scalar::I32(
                signed
                    .parse()
                    .map_err(|_| bad("an integer that does not fit in 32 bits"))?,
            ),
            "" => Scalar::F64(signed.parse().map_err(|_| bad("not a number"))?),
            "f32" => Scalar::F32(signed.parse().map_err(|_| bad("not a number"))?),
            _ => {
                return Err(bad("a number with letters behind it")
                    .help("the letters may be `i32` or `f32`, as in `5i32` and `0.5f32`"));
            }
        };
        if token.kind == Kind::Float && value.to_f64().is_infinite() {
            return Err(bad("a number that is too large").help("write `inf` for infinity"));
        }
        // There is one NaN in text, whatever its sign.
        Ok(Expr::Const(match value {
            Scalar::F64(v) if v.is_nan() => Scalar::F64(f64::NAN),
            Scalar::F32(v) if v.is_nan() => Scalar::F32(f32::NAN),
            value => value,
        }))
    }
}
