//! Expressions.

use sparsec_base::lex::{Kind, Token};
use sparsec_base::{Complex, Diagnostic, ElementType, Result, Scalar, Span, code};

use super::{Entity, MAX_OPERATORS, Parser};
use crate::ir::{BinaryOp, Expr, Intrinsic, UnaryOp};
use crate::text::{Binding, special};

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
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::BitAnd,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
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
            Kind::Name => special(self.tokens.text(token)).is_some(),
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
        if let (Some(element), [re, im]) = (element, &arguments[..])
            && element.is_complex()
        {
            let Some(value) = complex(element, re, im) else {
                let message = format!(
                    "the parts of a `{name}` are constants of {}",
                    element.part()
                );
                return Err(Diagnostic::new(code::LOOP_TYPE, message).at(
                    source,
                    span,
                    "these parts",
                ));
            };
            return Ok(Expr::Const(value));
        }
        let unary = UnaryOp::ALL
            .into_iter()
            .find(|op| op.is_call() && op.symbol() == name);
        let wanted = match name {
            "min" | "max" => 2,
            "select" => 3,
            _ if unary.is_some() => 1,
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
        Ok(match (name, element, unary) {
            (_, Some(element), _) => Expr::Cast(element, next()?),
            (_, _, Some(op)) => Expr::Unary(op, next()?),
            ("min", ..) => Expr::Binary(BinaryOp::Min, next()?, next()?),
            ("max", ..) => Expr::Binary(BinaryOp::Max, next()?, next()?),
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
        let is_integer = token.kind == Kind::Integer;
        let element = match suffix.as_str() {
            "" if is_integer => Some(ElementType::I64),
            "" => Some(ElementType::F64),
            name => ElementType::parse(name),
        };
        let Some(element) = element.filter(|ty| ty.is_float() || (is_integer && ty.is_integer()))
        else {
            return Err(bad("a number with letters behind it")
                .help("the letters may be a type, as in `5u8` and `0.5f32`"));
        };
        let value = if is_integer && element.is_integer() {
            integer(element, &signed)
                .ok_or_else(|| bad(&format!("an integer that {element} does not hold")))?
        } else {
            float(element, &signed).ok_or_else(|| bad("not a number"))?
        };
        if token.kind != Kind::Name && value.to_f64().is_infinite() {
            return Err(bad("a number that is too large").help("write `inf` for infinity"));
        }
        Ok(Expr::Const(value))
    }
}

/// The integer of this type, if the type holds it.
fn integer(element: ElementType, text: &str) -> Option<Scalar> {
    let value: i128 = text.parse().ok()?;
    let narrow = match element {
        ElementType::U64 => Scalar::U64(u64::try_from(value).ok()?),
        _ => Scalar::I64(i64::try_from(value).ok()?),
    };
    let cast = narrow.cast(element)?;
    (cast.to_integer() == Some(value)).then_some(cast)
}

/// The float of this type, rounded once. There is one `NaN` in text, whatever
/// its sign.
fn float(element: ElementType, text: &str) -> Option<Scalar> {
    let value = match element {
        ElementType::F32 => Scalar::F32(text.parse().ok()?),
        _ => Scalar::F64(text.parse().ok()?).cast(element)?,
    };
    let is_nan = value.to_f64().is_nan();
    Some(if is_nan {
        Scalar::F64(f64::NAN).cast(element)?
    } else {
        value
    })
}

/// The complex constant of two constants of its part.
fn complex(element: ElementType, re: &Expr, im: &Expr) -> Option<Scalar> {
    match (element, re, im) {
        (ElementType::C64, Expr::Const(Scalar::F32(re)), Expr::Const(Scalar::F32(im))) => {
            Some(Scalar::C64(Complex::new(*re, *im)))
        }
        (ElementType::C128, Expr::Const(Scalar::F64(re)), Expr::Const(Scalar::F64(im))) => {
            Some(Scalar::C128(Complex::new(*re, *im)))
        }
        _ => None,
    }
}
