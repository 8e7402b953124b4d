//! Shifts, and functions that count bits.

use sparsec_base::ElementType;
use sparsec_loop::BinaryOp;

use crate::expr::widened;
use crate::precedence::{Piece, Precedence, c_type};

/// `<<` and `>>` by the low bits of a number.
pub(crate) fn shift(op: BinaryOp, a: Piece, b: &Piece, ty: ElementType) -> Piece {
    let most = 8 * ty.size() as i64 - 1;
    let n = match b.text.parse::<i64>() {
        Ok(n) if (0..=most).contains(&n) => b.text.clone(),
        _ => format!("({} & {most})", b.at(Precedence::Unary)),
    };
    let a = widened(a, ty);
    let a = a.at(Precedence::Unary);
    // The bits of a product that does not fit are those of an unsigned one.
    let text = match op {
        BinaryOp::ShiftLeft => format!("({})((uint64_t){a} << {n})", c_type(ty)),
        _ => return Piece::operation(format!("{a} >> {n}"), Precedence::Shift, ty),
    };
    Piece::operation(text, Precedence::Unary, ty)
}

/// A helper that counts bits: by a loop, and at once where the machine has an instruction for it.
/// Elsewhere compilers call a library that kernels are not linked with.
pub(crate) fn counted(
    ty: ElementType,
    name: &str,
    doc: &str,
    [with_instruction, plain, at_once]: &[&str; 3],
) -> String {
    let (c, width) = (c_type(ty), 8 * ty.size());
    let [plain, at_once] = [plain, at_once].map(|it| it.replace("WIDTH", &width.to_string()));
    format!(
        "\n/* {doc} */\nstatic inline {c} {name}({c} a) {{\n  uint64_t x = (uint{width}_t)a;\n  \
         int n = 0;\n#if defined(__GNUC__) && ({with_instruction})\n  {at_once}\n#else\n  {plain}\n#endif\n  return ({c})n;\n}}\n"
    )
}
