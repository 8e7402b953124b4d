//! Indices as text.
//!
//! ```text
//! A(2*i + r - 1)          at a mode: a product without blanks
//! A(i) * (2 * i - 1)      as a value: like any expression
//! ```

use std::fmt::{self, Write};

use super::Names;
use crate::index_expr::{IndexExpr, Term};
use crate::operator::Operator;

/// How tightly an index binds.
pub(super) fn binding(index: &IndexExpr) -> u8 {
    match (index.terms(), index.offset()) {
        ([], _) => u8::MAX,
        ([(term, 1)], 0) => of_term(term),
        ([(_, factor)], 0) if is_minus(*factor) => Operator::Neg.binding(),
        ([_], 0) => Operator::Mul.binding(),
        _ => Operator::Add.binding(),
    }
}

fn of_term(term: &Term) -> u8 {
    match term {
        Term::FloorDiv(..) | Term::Mod(..) => Operator::FloorDiv.binding(),
        _ => u8::MAX,
    }
}

/// Whether a factor is written as a minus and a positive number; the least one is not,
/// which has no such number.
fn is_minus(factor: i64) -> bool {
    factor < 0 && factor != i64::MIN
}

/// Where an index stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At a mode of an access.
    Mode,
    /// In an expression, as a number.
    Value,
}

impl Names<'_> {
    /// An index at a mode of an access.
    pub(super) fn write_index(&self, out: &mut dyn Write, index: &IndexExpr) -> fmt::Result {
        self.sum(out, index, Place::Mode, 0)
    }

    /// An index as a value.
    pub(super) fn write_value(&self, out: &mut dyn Write, index: &IndexExpr) -> fmt::Result {
        self.sum(out, index, Place::Value, 0)
    }

    /// An index where it has to bind at least `least`.
    fn sum(&self, out: &mut dyn Write, index: &IndexExpr, place: Place, least: u8) -> fmt::Result {
        if binding(index) < least {
            out.write_char('(')?;
            self.sum(out, index, place, 0)?;
            return out.write_char(')');
        }
        // Positive terms first, so that a sum begins without a sign.
        let (positive, negative): (Vec<_>, Vec<_>) =
            index.terms().iter().partition(|(_, factor)| *factor > 0);
        let mut is_first = true;
        for (term, factor) in positive.into_iter().chain(negative) {
            let is_minus = is_minus(*factor);
            let sign = match (is_first, is_minus) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            out.write_str(sign)?;
            let least = match is_first && is_minus {
                true => Operator::Neg.binding(),
                false => 0,
            };
            let factor = if is_minus { -*factor } else { *factor };
            self.product(out, factor, term, place, least)?;
            is_first = false;
        }
        let offset = index.offset();
        match (is_first, is_minus(offset)) {
            (true, _) => write!(out, "{offset}"),
            (false, _) if offset == 0 => Ok(()),
            (false, true) => write!(out, " - {}", -offset),
            (false, false) => write!(out, " + {offset}"),
        }
    }

    /// A term so many times, where it has to bind at least `least`.
    fn product(
        &self,
        out: &mut dyn Write,
        factor: i64,
        term: &Term,
        place: Place,
        least: u8,
    ) -> fmt::Result {
        if factor == 1 {
            return self.term(out, term, place, least);
        }
        let own = Operator::Mul.binding();
        if own < least {
            out.write_char('(')?;
            self.product(out, factor, term, place, 0)?;
            return out.write_char(')');
        }
        let times = if place == Place::Mode { "*" } else { " * " };
        write!(out, "{factor}{times}")?;
        self.term(out, term, place, own + 1)
    }

    /// A term where it has to bind at least `least`.
    fn term(&self, out: &mut dyn Write, term: &Term, place: Place, least: u8) -> fmt::Result {
        if of_term(term) < least {
            out.write_char('(')?;
            self.term(out, term, place, 0)?;
            return out.write_char(')');
        }
        match term {
            Term::Var(var) => out.write_str(&self.vars[*var].name),
            Term::FloorDiv(inner, by) | Term::Mod(inner, by) => {
                let op = match term {
                    Term::Mod(..) => Operator::Mod,
                    _ => Operator::FloorDiv,
                };
                self.sum(out, inner, place, op.binding())?;
                write!(out, " {} {by}", op.symbol())
            }
            Term::Element(list, at) => {
                self.sum(out, at, Place::Mode, u8::MAX)?;
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                write!(out, "({{{}}})", list.join(","))
            }
            Term::Place(curve, coordinates) => {
                curve.write(out, coordinates.len(), &mut |out, number| {
                    self.sum(out, &coordinates[number], Place::Mode, 0)
                })
            }
        }
    }
}
