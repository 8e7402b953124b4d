//! Complex numbers as structures of two parts.
//!
//! C11 has complex types, but leaves their products to the compiler: gcc calls a
//! function that looks for infinite parts, and other compilers round otherwise.
//! So each operation is a small inline function over parts, printed from the
//! formula that every engine shares ([`sparsec_loop::complex`]):
//!
//! ```text
//! static inline sparsec_c128 sparsec_mul_c128(sparsec_c128 a, sparsec_c128 b) {
//!   return (sparsec_c128){ a.re * b.re + a.im * -b.im, a.re * b.im + a.im * b.re };
//! }
//! ```

use std::fmt::Write as _;

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::complex::{Operation, formula};
use sparsec_loop::{BinaryOp, UnaryOp};

use crate::helper::Helpers;
use crate::precedence::{Piece, Precedence};
use crate::stmt::Writer;

/// The definition of the function that computes an operation.
pub(crate) fn text(
    operation: Operation,
    ty: ElementType,
    name: &str,
    helpers: &mut Helpers,
) -> String {
    let formula = formula(operation, ty.part());
    let c = helpers.c_type(ty);
    let mut parameters = Vec::new();
    let mut writer = Writer::new(&formula.function, helpers);
    for (&(re, im), operand) in formula.parameters.iter().zip(["a", "b"]) {
        parameters.push(format!("{c} {operand}"));
        writer.names.fresh(operand);
        writer.call_var(re, format!("{operand}.re"));
        writer.call_var(im, format!("{operand}.im"));
    }
    writer.name_locals();
    for result in &formula.results {
        writer.uses.expr(result);
    }
    writer.block(&formula.function.body);
    let results: Vec<String> = formula
        .results
        .iter()
        .map(|it| writer.expr(it).text)
        .collect();
    let (given, value) = match (results.as_slice(), &formula.results[0]) {
        ([re, im], _) => (c, format!("({c}){{ {re}, {im} }}")),
        ([one], expr) => {
            let ty = formula.function.type_of(expr);
            (writer.c_type(ty), one.clone())
        }
        _ => unreachable!("an operation gives one or two values"),
    };
    writer.line(&format!("return {value};"));
    let body = writer.finish();
    let mut text = String::new();
    let _ = write!(
        text,
        "\nstatic inline {given} {name}({}) {{\n{}}}\n",
        parameters.join(", "),
        body.trim_start_matches('\n')
    );
    text
}

impl Writer<'_> {
    /// A constant as a compound literal.
    pub(crate) fn complex_constant(&mut self, value: Scalar) -> Piece {
        let (ty, re, im) = match value {
            Scalar::C64(v) => (ElementType::C64, Scalar::F32(v.re), Scalar::F32(v.im)),
            Scalar::C128(v) => (ElementType::C128, Scalar::F64(v.re), Scalar::F64(v.im)),
            other => panic!("{other} is no complex number"),
        };
        let (re, im) = (self.constant(re), self.constant(im));
        self.pair(ty, &re.text, &im.text)
    }

    /// The number with these parts.
    pub(crate) fn pair(&mut self, ty: ElementType, re: &str, im: &str) -> Piece {
        let c = self.helpers.c_type(ty);
        Piece::primary(format!("({c}){{ {re}, {im} }}"), ty)
    }

    /// A part of a complex number: `z.re`.
    pub(crate) fn part(&self, piece: &Piece, part: &str) -> Piece {
        let text = format!("{}.{part}", piece.at(Precedence::Primary));
        Piece {
            simple: piece.simple,
            ..Piece::primary(text, piece.held.part())
        }
    }

    /// An operation on one complex number.
    pub(crate) fn complex_unary(&mut self, op: UnaryOp, piece: &Piece, ty: ElementType) -> Piece {
        match op {
            UnaryOp::Real => self.part(piece, "re"),
            UnaryOp::Imag => self.part(piece, "im"),
            _ => {
                let name = self.helpers.complex(Operation::Unary(op), ty);
                Piece::primary(format!("{name}({})", piece.text), op.result_type(ty))
            }
        }
    }

    /// An operation on two complex numbers.
    pub(crate) fn complex_binary(
        &mut self,
        op: BinaryOp,
        a: &Piece,
        b: &Piece,
        ty: ElementType,
    ) -> Piece {
        let (computed, negated) = match op {
            BinaryOp::Ne => (BinaryOp::Eq, true),
            op => (op, false),
        };
        let name = self.helpers.complex(Operation::Binary(computed), ty);
        let text = format!("{name}({}, {})", a.text, b.text);
        let truth = ElementType::Bool;
        match (op.is_comparison(), negated) {
            (true, true) => Piece::operation(format!("!{text}"), Precedence::Unary, truth),
            (true, false) => Piece::primary(text, truth),
            _ => Piece::primary(text, ty),
        }
    }
}
