//! Conversions between types.
//!
//! Where C converts by itself, to a type that holds every value of the other, a
//! cast of the IR leaves no trace: the piece remembers in which type C holds it.
//! All others are written out. Halves go through `float`, complex numbers by
//! their parts.

use sparsec_base::{ElementType, Kind};
use sparsec_loop::{Expr, Failure};

use crate::helper::Helper;
use crate::precedence::{Piece, Precedence};
use crate::stmt::Writer;

impl Writer<'_> {
    /// The value as type `ty`.
    pub(crate) fn cast(&mut self, ty: ElementType, value: &Expr) -> Piece {
        let from = self.function.type_of(value);
        let piece = self.expr(value);
        match (from.kind(), ty.kind()) {
            _ if from == ty => piece,
            (Kind::Complex, Kind::Complex) => {
                let piece = self.bind(piece, from, "value");
                let parts = ["re", "im"].map(|part| {
                    let part = self.part(&piece, part);
                    self.convert(part, from.part(), ty.part()).text
                });
                self.pair(ty, &parts[0], &parts[1])
            }
            (Kind::Complex, _) => {
                let piece = self.bind(piece, from, "value");
                let [re, im] = ["re", "im"].map(|part| self.part(&piece, part).text);
                let text = format!("{re} != 0.0 || {im} != 0.0");
                Piece::operation(text, Precedence::Or, ElementType::Bool)
            }
            (_, Kind::Complex) => {
                let part = self.convert(piece, from, ty.part());
                self.pair(ty, &part.text, "0")
            }
            _ => self.convert(piece, from, ty),
        }
    }

    /// A piece of real type `from` as the real type `ty`.
    fn convert(&mut self, piece: Piece, from: ElementType, ty: ElementType) -> Piece {
        if from == ty {
            return piece;
        }
        if from != from.computed() {
            let single = self.helpers.helper(Helper::Single, from);
            let piece = Piece::primary(format!("{single}({})", piece.text), ElementType::F32);
            return self.convert(piece, ElementType::F32, ty);
        }
        if ty != ty.computed() {
            return self.half_of(piece, from, ty);
        }
        match (from.kind(), ty.kind()) {
            (_, Kind::Bool) => {
                let zero = if from.is_float() { "0.0" } else { "0" };
                let text = format!("{} != {zero}", piece.at(Precedence::Sum));
                Piece::operation(text, Precedence::Equality, ElementType::Bool)
            }
            (Kind::Float, Kind::Signed | Kind::Unsigned) => {
                let piece = self.bind(piece, from, "value");
                let fits = self.helpers.helper(Helper::Fits, ty);
                self.leave_if(&format!("!{fits}({})", piece.text), Failure::CastOutOfRange);
                piece.cast(ty)
            }
            (_, Kind::Signed | Kind::Unsigned) if holds_all(ty, from) => {
                // C widens by itself wherever the value is used.
                let held = match piece.held {
                    ElementType::Bool => ElementType::I32,
                    held => held,
                };
                Piece { held, ..piece }
            }
            // `long double` does not occur, so every other conversion is one cast.
            _ => piece.cast(ty),
        }
    }

    fn half_of(&mut self, piece: Piece, from: ElementType, ty: ElementType) -> Piece {
        let single = match from {
            ElementType::F64 => {
                let odd = self.helpers.helper(Helper::Odd, ElementType::F64);
                Piece::primary(format!("{odd}({})", piece.text), ElementType::F32)
            }
            _ => self.convert(piece, from, ElementType::F32),
        };
        let half = self.helpers.helper(Helper::Half, ty);
        Piece::primary(format!("{half}({})", single.text), ty)
    }
}

/// Whether one integer type holds every value of another, or of `bool`.
fn holds_all(ty: ElementType, from: ElementType) -> bool {
    match (from.kind(), ty.kind()) {
        (Kind::Bool, _) => true,
        (one, other) if one == other => from.size() <= ty.size(),
        (Kind::Unsigned, Kind::Signed) => from.size() < ty.size(),
        _ => false,
    }
}
