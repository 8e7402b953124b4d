//! Reading assignments, and the types of their values.

use sparsec_base::lex::{Kind, finite};
use sparsec_base::{Diagnostic, ElementType, Result, Span, code};

use sparsec_relation::{Conjunction, Expression};

use super::types::{Type, way_out};
use super::{Reader, Variables};
use crate::computation::Role;
use crate::value::{Access, Key, Operator, Update, Value, Window};

/// Operators and parentheses in one value; keeps recursion shallow.
const LARGEST_VALUE: usize = 200;

/// A value that is read, with its type and its place.
pub(super) struct Typed {
    pub(super) value: Value,
    pub(super) ty: Type,
    pub(super) place: Span,
}

impl Reader {
    pub(super) fn assignment(&mut self) -> Result<(Access, Update, Value)> {
        let (name, place) = self.parser.tokens.name("data to write")?;
        let Some(space) = self.computation.space(&name) else {
            return Err(self.unknown(&name, place));
        };
        if space.role == Role::Given {
            return Err(self.is_given(&name, place));
        }
        let target_type = Type::of(space.element);
        let target = self.access(name.clone())?;
        self.entry(&target, place)?;

        let update = self.update()?;
        self.size = 0;
        let value = self.value()?;
        let fits = match update {
            // A number is converted to types that are only copied, too.
            Update::Assign if value.ty == Type::Integral => true,
            Update::Assign => target_type.with(value.ty) == Some(target_type),
            _ => target_type.is_computed() && target_type.with(value.ty) == Some(target_type),
        };
        if !fits {
            let message = format!("`{name}` does not hold such a value");
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(self.parser.tokens.source(), value.place, value.ty.name())
                .also(
                    self.parser.tokens.source(),
                    place,
                    format!("holds {}", target_type.name()),
                )
                .help(way_out(target_type, value.ty)));
        }
        Ok((target, update, value.value))
    }

    fn is_given(&self, name: &str, place: Span) -> Diagnostic {
        Diagnostic::new(
            code::COMPUTATION_GIVEN,
            format!("`{name}` is given and cannot be written"),
        )
        .at(self.parser.tokens.source(), place, "given")
        .help(format!(
            "declare `{name}` as `inout`, or write to other data"
        ))
    }

    /// Checks that an access has as many indices as the data have extents.
    fn entry(&mut self, access: &Access, place: Span) -> Result<()> {
        let n = Some(access.indices.len()).filter(|n| *n > 0);
        self.parser.check_role(access.space.clone(), n, place)
    }

    fn update(&mut self) -> Result<Update> {
        if self.parser.tokens.at_nth(1, "=") {
            for update in [Update::Minimum, Update::Maximum] {
                let word = update.operator().map_or("", Operator::symbol);
                if self.parser.tokens.eat(word) {
                    self.parser.tokens.expect("=")?;
                    return Ok(update);
                }
            }
        }
        for update in [Update::Assign, Update::Add, Update::Multiply] {
            if self.parser.tokens.eat(update.symbol()) {
                return Ok(update);
            }
        }
        Err(self
            .parser
            .tokens
            .unexpected("`=`, `+=`, `*=`, `min=` or `max=`"))
    }

    fn value(&mut self) -> Result<Typed> {
        let mut value = self.term()?;
        loop {
            let operator = if self.parser.tokens.eat("+") {
                Operator::Add
            } else if self.parser.tokens.eat("-") {
                Operator::Subtract
            } else {
                return Ok(value);
            };
            let right = self.term()?;
            value = self.binary(operator, value, right)?;
        }
    }

    fn term(&mut self) -> Result<Typed> {
        let mut value = self.factor()?;
        loop {
            let operators = [
                Operator::Multiply,
                Operator::Divide,
                Operator::FloorDivide,
                Operator::Modulo,
            ];
            let next = operators
                .into_iter()
                .find(|o| self.parser.tokens.eat(o.symbol()));
            let Some(operator) = next else {
                return Ok(value);
            };
            let right = self.factor()?;
            value = self.binary(operator, value, right)?;
        }
    }

    fn factor(&mut self) -> Result<Typed> {
        self.grow()?;
        let begin = self.parser.tokens.peek();
        let place = begin.span;
        if self.parser.tokens.eat("-") {
            let next = self.parser.tokens.peek().kind;
            if matches!(next, Kind::Integer | Kind::Float) {
                return self.number(true);
            }
            let a = self.factor()?;
            let place = place.to(a.place);
            return match a.ty.is_computed() {
                true => Ok(Typed {
                    value: Value::Negate(Box::new(a.value)),
                    ty: a.ty,
                    place,
                }),
                false => Err(self.only_copied(&a)),
            };
        }
        if matches!(begin.kind, Kind::Integer | Kind::Float) {
            return self.number(false);
        }
        if self.parser.tokens.eat("(") {
            let inner = self.value()?;
            let end = self.parser.tokens.expect(")")?;
            return Ok(Typed {
                place: place.to(end),
                ..inner
            });
        }
        let (name, _) = self.parser.tokens.name("a value")?;
        if self.parser.tokens.at("(") {
            for operator in [Operator::Minimum, Operator::Maximum] {
                if name == operator.symbol() {
                    return self.call_of_two(operator, place);
                }
            }
            if name == "power_of_two" {
                return self.power_of_two(place);
            }
            if name == "differs" {
                return self.differs(place);
            }
            if name == "conj" {
                return self.conjugate(place);
            }
            if self.is_key(&name) {
                return self.key(name, place);
            }
            if let Some(window) = Window::ALL.into_iter().find(|w| w.word() == name) {
                return self.window(window, place);
            }
            if let Some(ty) = ElementType::parse(&name) {
                return self.cast(ty, place);
            }
        }
        self.named(name, place)
    }

    /// A variable, a parameter or an entry. Which name is a variable is known
    /// only behind the value; see [`resolved`](Self::resolved).
    fn named(&mut self, name: String, place: Span) -> Result<Typed> {
        let is_called = self.parser.tokens.at("(");
        let Some(space) = self.computation.space(&name) else {
            if is_called {
                return Err(self.unknown(&name, place));
            }
            self.parser.note_use(name.clone(), None, place);
            return Ok(Typed {
                value: Value::Parameter(name),
                ty: Type::Integer,
                place,
            });
        };
        let ty = Type::of(space.element);
        let access = self.access(name)?;
        self.entry(&access, place)?;
        let end = self.parser.tokens.peek_before();
        Ok(Typed {
            value: Value::Entry(access),
            ty,
            place: place.to(end),
        })
    }

    fn number(&mut self, negative: bool) -> Result<Typed> {
        let token = self.parser.tokens.peek();
        let place = token.span;
        let too_large = |reader: &Self| {
            Diagnostic::new(code::BAD_NUMBER, "a number that is too large").at(
                reader.parser.tokens.source(),
                place,
                "too large",
            )
        };
        if token.kind == Kind::Float {
            self.parser.tokens.take();
            let number = finite(self.parser.tokens.text(token));
            let number = number.ok_or_else(|| too_large(self))?;
            return Ok(Typed {
                value: Value::Float(if negative { -number } else { number }),
                ty: Type::Fractional,
                place,
            });
        }
        let (number, _) = self.parser.tokens.integer("a number")?;
        let number = match negative {
            true => 0i64.checked_sub_unsigned(number),
            false => i64::try_from(number).ok(),
        };
        Ok(Typed {
            value: Value::Integer(number.ok_or_else(|| too_large(self))?),
            ty: Type::Integral,
            place,
        })
    }

    fn call_of_two(&mut self, operator: Operator, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let a = self.value()?;
        self.parser.tokens.expect(",")?;
        let b = self.value()?;
        let end = self.parser.tokens.expect(")")?;
        let both = self.binary(operator, a, b)?;
        Ok(Typed {
            place: begin.to(end),
            ..both
        })
    }

    fn window(&mut self, window: Window, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let mut keys = Vec::new();
        let end = loop {
            if keys.is_empty() && self.parser.tokens.at(")") {
                break self.parser.tokens.expect(")")?;
            }
            let value = self.parser.expression()?;
            self.parser.tokens.expect("of")?;
            let extent = self.extent()?;
            keys.push(Key { value, extent });
            if !self.parser.tokens.eat(",") {
                break self.parser.tokens.expect(")")?;
            }
        };
        if window == Window::Slot && keys.len() != 3 {
            let message = "`slot` of other than a key and two places";
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(self.parser.tokens.source(), begin.to(end), "no table")
                .help("write `slot(k of n, a of t, b of t)`: a key, and where its table begins and ends"));
        }
        Ok(Typed {
            value: Value::Window(window, keys),
            ty: Type::Integer,
            place: begin.to(end),
        })
    }

    fn power_of_two(&mut self, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let a = self.value()?;
        let end = self.parser.tokens.expect(")")?;
        let place = begin.to(end);
        if !matches!(a.ty, Type::Integer | Type::Integral) {
            let message = "`power_of_two` of numbers with fractions";
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(self.parser.tokens.source(), a.place, a.ty.name())
                .help("compute with integers"));
        }
        Ok(Typed {
            value: Value::PowerOfTwo(Box::new(a.value)),
            ty: Type::Integer,
            place,
        })
    }

    fn differs(&mut self, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let a = self.value()?;
        self.parser.tokens.expect(",")?;
        let b = self.value()?;
        let end = self.parser.tokens.expect(")")?;
        let source = self.parser.tokens.source();
        if let Some(copied) = [&a, &b].into_iter().find(|side| !side.ty.is_compared()) {
            return Err(self.only_copied(copied));
        }
        if a.ty.with(b.ty).is_none() {
            let message = "`differs` of two types";
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(source, b.place, b.ty.name())
                .also(source, a.place, a.ty.name())
                .help(way_out(a.ty, b.ty)));
        }
        Ok(Typed {
            value: Value::Differs(Box::new(a.value), Box::new(b.value)),
            ty: Type::Integer,
            place: begin.to(end),
        })
    }

    fn conjugate(&mut self, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let a = self.value()?;
        let end = self.parser.tokens.expect(")")?;
        let place = begin.to(end);
        if !matches!(a.ty, Type::Of(ty) if ty.is_complex()) {
            let message = "`conj` of a number that is not complex";
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(self.parser.tokens.source(), a.place, a.ty.name())
                .help("leave `conj` out: a real number is its own conjugate"));
        }
        Ok(Typed {
            value: Value::Conjugate(Box::new(a.value)),
            ty: a.ty,
            place,
        })
    }

    /// The extent of a key, which is the same at all points.
    fn extent(&mut self) -> Result<Expression> {
        let before = self.parser.take_uses();
        let extent = self.parser.expression()?;
        let uses = self.parser.take_uses();
        self.names_at_points(uses, &Conjunction::new::<String>([], []))?;
        for (name, arguments, place) in before {
            self.parser.note_use(name, arguments, place);
        }
        Ok(extent)
    }

    fn cast(&mut self, ty: ElementType, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let a = self.value()?;
        let end = self.parser.tokens.expect(")")?;
        let place = begin.to(end);
        if !matches!(ty, ElementType::F32 | ElementType::F64) {
            return Err(Diagnostic::new(
                code::COMPUTATION_TYPES,
                format!("values are not converted to `{ty}`"),
            )
            .at(self.parser.tokens.source(), place, "this conversion")
            .help("convert to `f32` or `f64`; integers of all widths are one type"));
        }
        if !a.ty.is_computed() {
            return Err(self.only_copied(&a));
        }
        Ok(Typed {
            value: Value::Cast(ty, Box::new(a.value)),
            ty: Type::Of(ty),
            place,
        })
    }

    fn binary(&self, operator: Operator, a: Typed, b: Typed) -> Result<Typed> {
        if let Some(copied) = [&a, &b].into_iter().find(|side| !side.ty.is_computed()) {
            return Err(self.only_copied(copied));
        }
        let source = self.parser.tokens.source();
        let Some(ty) = a.ty.with(b.ty) else {
            return Err(Diagnostic::new(
                code::COMPUTATION_TYPES,
                format!("`{}` of two types", operator.symbol()),
            )
            .at(source, b.place, b.ty.name())
            .also(source, a.place, a.ty.name())
            .help(way_out(a.ty, b.ty)));
        };
        let place = a.place.to(b.place);
        let fits = match operator {
            Operator::Divide => matches!(ty, Type::Of(_) | Type::Fractional),
            Operator::FloorDivide | Operator::Modulo => {
                matches!(ty, Type::Integer | Type::Integral)
            }
            _ => true,
        };
        if !fits {
            let (what, help) = match operator {
                Operator::Divide => ("integers", "write `floordiv`, or convert with `f64(…)`"),
                _ => (
                    "numbers with fractions",
                    "write `/`, or compute with integers",
                ),
            };
            let message = format!("`{}` of {what}", operator.symbol());
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(source, place, ty.name())
                .help(help));
        }
        Ok(Typed {
            value: Value::Binary(operator, Box::new(a.value), Box::new(b.value)),
            ty,
            place,
        })
    }

    fn only_copied(&self, value: &Typed) -> Diagnostic {
        let message = format!("{} is not computed with", value.ty.name());
        Diagnostic::new(code::COMPUTATION_TYPES, message)
            .at(self.parser.tokens.source(), value.place, "only copied")
            .help("assign it as it is")
    }

    fn grow(&mut self) -> Result<()> {
        self.size += 1;
        if self.size <= LARGEST_VALUE {
            return Ok(());
        }
        let tokens = &self.parser.tokens;
        Err(Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("a value of more than {LARGEST_VALUE} numbers, names and parentheses"),
        )
        .at(tokens.source(), tokens.peek().span, "too large")
        .help("compute parts of it in statements of their own"))
    }

    /// The value with variables where names of the iteration space stand.
    pub(super) fn resolved(&self, value: &Value, variables: &Variables<'_>) -> Value {
        let boxed = |a: &Value| Box::new(self.resolved(a, variables));
        match value {
            Value::Parameter(name) => match variables.find(name) {
                Some(variable) => Value::Variable(variable),
                None => Value::Parameter(name.clone()),
            },
            Value::Entry(access) => Value::Entry(access.rewritten(variables)),
            Value::Negate(a) => Value::Negate(boxed(a)),
            Value::Cast(ty, a) => Value::Cast(*ty, boxed(a)),
            Value::Binary(operator, a, b) => Value::Binary(*operator, boxed(a), boxed(b)),
            Value::Window(window, keys) => {
                let keys = keys.iter().map(|key| key.rewritten(variables));
                Value::Window(*window, keys.collect())
            }
            Value::PowerOfTwo(a) => Value::PowerOfTwo(boxed(a)),
            Value::Conjugate(a) => Value::Conjugate(boxed(a)),
            Value::Differs(a, b) => Value::Differs(boxed(a), boxed(b)),
            Value::Curve(name, coordinates) => {
                let coordinates = coordinates.iter().map(|e| e.rewritten(variables));
                Value::Curve(name.clone(), coordinates.collect())
            }
            Value::Integer(_) | Value::Float(_) | Value::Variable(_) => value.clone(),
        }
    }
}
