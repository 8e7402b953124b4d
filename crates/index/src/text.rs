//! Typed expressions as index notation, with as few parentheses as it takes to read
//! back as the same.
//!
//! | expression                     | text                                      |
//! |--------------------------------|-------------------------------------------|
//! | the tensors' and variables' ids | their names                               |
//! | a literal beside another part  | its digits: it takes the type of that part |
//! | an operator of literals alone  | the first says its type: `f32(2.0) + 1.0` |
//! | `select(isstored(x), x, identity)` in a reduction | the reduction `stored_sum{k}(x)` |

use std::fmt::{self, Write};

use sparsec_base::{ElementType, Scalar};

use crate::expr::{Access, Expr};
use crate::function::UserFunction;
use crate::operator::Operator;
use crate::program::{Program, Tensors, Vars};

mod index;

/// Words that are no names.
const RESERVED: [&str; 9] = [
    "not", "and", "or", "true", "false", "inf", "infj", "nan", "nanj",
];

/// Whether a word has a meaning of its own in index notation, so that it is no name.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether a text reads back as the name of an index variable or a scalar.
pub(crate) fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = text.starts_with(|c: char| is_part(c) && !c.is_ascii_digit());
    begins && text.chars().all(is_part) && !is_reserved(text)
}

/// Whether a text reads back as the name of a tensor: before a parenthesis, functions and
/// types have theirs.
pub(crate) fn is_tensor_name(text: &str, order: usize) -> bool {
    let is_called = Operator::function(text).is_some() || ElementType::parse(text).is_some();
    is_word(text) && (order == 0 || !is_called)
}

/// The names of tensors and index variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) tensors: &'a Tensors,
    pub(crate) vars: &'a Vars,
}

impl Names<'_> {
    /// The access as it would be written.
    pub(crate) fn access(&self, access: &Access) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_access(&mut out, access);
        out
    }

    /// The expression as it would be written.
    pub(crate) fn expr(&self, expr: &Expr) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.bare(&mut out, expr);
        out
    }

    fn write_access(&self, out: &mut dyn Write, access: &Access) -> fmt::Result {
        out.write_str(&self.tensors[access.tensor].name)?;
        for (mode, index) in access.indices.iter().enumerate() {
            out.write_char(if mode > 0 { ',' } else { '(' })?;
            self.write_index(out, index)?;
        }
        match access.indices.is_empty() {
            true => Ok(()),
            false => out.write_char(')'),
        }
    }

    /// An expression in a place that wants it to bind at least `least`.
    pub(crate) fn write(&self, out: &mut dyn Write, expr: &Expr, least: u8) -> fmt::Result {
        if binding(expr) >= least {
            return self.bare(out, expr);
        }
        out.write_char('(')?;
        self.bare(out, expr)?;
        out.write_char(')')
    }

    /// An expression without parentheses around it.
    fn bare(&self, out: &mut dyn Write, expr: &Expr) -> fmt::Result {
        match expr {
            Expr::Literal(value) => out.write_str(&number(*value)),
            Expr::Access(access) => self.write_access(out, access),
            Expr::Index(index) => self.write_value(out, index),
            Expr::Apply { op, args } => {
                let said = says_type(op, args);
                let is_number = said.is_none() && is_number(&args[0]);
                op.write_applied(out, args.len(), is_number, &mut |out, at, least| match (
                    said, &args[at],
                ) {
                    (Some(saying), Expr::Literal(value)) if saying == at => {
                        write!(out, "{}({})", value.element(), number(*value))
                    }
                    (_, arg) => self.write(out, arg, least),
                })
            }
            Expr::Cast(element, body) => {
                write!(out, "{element}(")?;
                self.bare(out, body)?;
                out.write_char(')')
            }
            Expr::Reduce { op, vars, body } => {
                let of_stored = of_stored(op, body);
                let prefix = of_stored.map_or("", |_| Operator::STORED);
                let vars = vars.iter().map(|var| self.vars[*var].name.as_str());
                let vars: Vec<&str> = vars.collect();
                let name = op.reduction_name().unwrap_or_default();
                write!(out, "{prefix}{name}{{{}}}(", vars.join(","))?;
                self.bare(out, of_stored.unwrap_or(body))?;
                out.write_char(')')
            }
        }
    }
}

/// How tightly an expression binds.
fn binding(expr: &Expr) -> u8 {
    match expr {
        Expr::Apply { op, .. } => op.binding(),
        Expr::Literal(value) if parts(*value).is_some_and(|(re, im)| re != 0.0 && im != 0.0) => {
            Operator::Add.binding()
        }
        Expr::Index(index) => index::binding(index),
        _ => u8::MAX,
    }
}

/// Whether the text is one number, of which a minus before it would become part.
fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => binding(expr) == u8::MAX,
        Expr::Index(index) => index.as_constant().is_some(),
        _ => false,
    }
}

/// Which argument has to say its type, since no other part does: the first of literals
/// alone, unless each would be read as what it is.
fn says_type(op: &Operator, args: &[Expr]) -> Option<usize> {
    let first = usize::from(*op == Operator::Select);
    let literals: Option<Vec<Scalar>> = args[first..].iter().map(Expr::literal).collect();
    let literals = literals.filter(|_| !matches!(op, Operator::Defined(_)))?;
    let mut literals = literals.into_iter();
    (!literals.all(|literal| read_as(literal) == Some(literal.element()))).then_some(first)
}

/// The type that the digits of a literal are read as where they stand alone.
fn read_as(value: Scalar) -> Option<ElementType> {
    match (value, parts(value)) {
        (Scalar::Bool(_), _) => Some(ElementType::Bool),
        (_, Some((_, 0.0))) => Some(ElementType::F64),
        (_, Some((0.0, _))) => Some(ElementType::C128),
        (_, Some(_)) => None,
        _ => {
            let small = value
                .to_integer()
                .is_some_and(|value| i64::try_from(value).is_ok());
            small.then_some(ElementType::I64)
        }
    }
}

/// The real and the imaginary part of a float or complex number, as `f64` whose digits
/// read back as the value in its type.
fn parts(value: Scalar) -> Option<(f64, f64)> {
    // The digits that tell `f32` values apart, not those of the `f64`.
    let single = |v: f32| Scalar::F32(v).to_string().parse().unwrap_or(v.into());
    match value {
        Scalar::F32(v) => Some((single(v), 0.0)),
        Scalar::F16(_) | Scalar::Bf16(_) | Scalar::F64(_) => Some((value.to_f64(), 0.0)),
        Scalar::C64(v) => Some((single(v.re), single(v.im))),
        Scalar::C128(v) => Some((v.re, v.im)),
        _ => None,
    }
}

/// A number that reads back as `value` where its type stands beside it; of a
/// complex one with two parts, their sum.
fn number(value: Scalar) -> String {
    match (value, parts(value)) {
        (Scalar::Bool(value), _) => value.to_string(),
        (_, Some((re, 0.0))) => Scalar::F64(re).to_string(),
        (_, Some((0.0, im))) => format!("{}j", Scalar::F64(im)),
        (_, Some((re, im))) => format!("{} + {}j", Scalar::F64(re), Scalar::F64(im)),
        (integer, None) => integer.to_integer().unwrap_or_default().to_string(),
    }
}

/// What a reduction of stored entries alone reduces.
pub(crate) fn of_stored<'e>(op: &Operator, body: &'e Expr) -> Option<&'e Expr> {
    let Expr::Apply {
        op: Operator::Select,
        args,
    } = body
    else {
        return None;
    };
    let [_, stored, Expr::Literal(otherwise)] = args.as_slice() else {
        return None;
    };
    let is_identity = op.identity(otherwise.element()) == Some(*otherwise);
    let is_alone = || *body == stored.clone().where_stored(*otherwise);
    (is_identity && is_alone()).then_some(stored)
}

impl Program {
    /// The functions of the user that the program calls, callees first.
    pub fn functions(&self) -> Vec<UserFunction> {
        let mut found = Vec::new();
        for statement in &self.statements {
            let mut visit = |function: &UserFunction| found.push(function.clone());
            statement.rhs.for_each_function(&mut visit);
        }
        UserFunction::with_callees(&found)
    }
}

/// The statements with every sum and conversion written out.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&UserFunction::definitions(&self.functions()))?;
        for number in 0..self.statements.len() {
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.statement_text(number))?;
        }
        Ok(())
    }
}
