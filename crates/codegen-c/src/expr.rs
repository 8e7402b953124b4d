//! Expressions.
//!
//! Two things need care.
//!
//! **Types.** C computes in `int` what is narrower than `int64_t`, and in
//! `float` what is narrower than `double`. Each [`Piece`] knows in which type C
//! holds it; where the IR computes in a wider type than C would, one operand is
//! widened: `(int64_t)A1_crd[p] * B1_crd[q]`. Where it computes in a narrower one,
//! the result is cut: `(int8_t)(x[i] + y[i])`. Where C widens by itself, a cast of
//! the IR leaves no trace (`convert`).
//!
//! **Failures.** C cannot leave a function inside an expression. An operation
//! that may fail writes its check as a statement before the statement that
//! holds the expression. All expressions are free of effects, so evaluating a
//! part early changes nothing, as long as it is evaluated at all; a lazy
//! operator (`and`, `or`, `select`) whose lazy side may fail is written as an
//! `if` around that side's check:
//!
//! ```text
//! if d != 0 and n // d > 1 { … }       bool holds = d != 0;
//!                                      if (holds) {
//!                                        if (d == 0) return SPARSEC_DIVISION_BY_ZERO;
//!                                        holds = sparsec_floordiv_i64(n, d) > 1;
//!                                      }
//!                                      if (holds) { … }
//! ```

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_loop::complex::Operation;
use sparsec_loop::{BinaryOp, Expr, Failure, UnaryOp};

use crate::abi;
use crate::bits;
use crate::helper::Helper;
use crate::pick::is_picked;
use crate::precedence::{Piece, Precedence, Rank, joined};
use crate::rows::row_of;
use crate::stmt::Writer;
use crate::uses::{is_nonzero_constant, may_fail};

impl Writer<'_> {
    /// The expression as C; checks that it needs are written first.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Piece {
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Var(var) => {
                Piece::simple(self.var_name(*var).to_owned(), self.function.type_of(expr))
            }
            Expr::Load { buffer, index } => {
                let row = row_of(*buffer, index)
                    .and_then(|row| self.rows.iter().find(|(known, _)| *known == row).cloned());
                let text = match row {
                    Some((row, pointer)) => format!("{pointer}[{}]", self.var_name(row.var)),
                    None => {
                        let index = self.expr(index);
                        format!("{}[{}]", self.buffer_name(*buffer), index.text)
                    }
                };
                let data = &self.function.buffers[*buffer];
                Piece::primary(text, data.storage)
            }
            Expr::Unary(op, value) => self.unary(*op, value),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.lazy(*op, left, right)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Call(function, arguments) => {
                let ty = self.function.type_of(expr);
                if ty.is_integer() {
                    return self.power(&arguments[0], &arguments[1], ty);
                }
                let name = match ty.is_complex() {
                    true => self.helpers.complex(Operation::Call(*function), ty),
                    false => self.helpers.intrinsic(*function, ty),
                };
                let arguments: Vec<String> =
                    arguments.iter().map(|arg| self.expr(arg).text).collect();
                Piece::primary(format!("{name}({})", arguments.join(", ")), ty)
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => self.select(condition, then, otherwise),
            Expr::Cast(ty, value) => self.cast(*ty, value),
        }
    }

    /// The expression as C that may be repeated: a name or a constant. What is
    /// neither gets a name of its own, like `name`.
    pub(crate) fn simple(&mut self, expr: &Expr, name: &str) -> Piece {
        let piece = self.expr(expr);
        self.bind(piece, self.function.type_of(expr), name)
    }

    /// `piece` itself if it is a name or a constant, else a new variable that
    /// holds it.
    pub(crate) fn bind(&mut self, piece: Piece, ty: ElementType, name: &str) -> Piece {
        if piece.simple {
            return piece;
        }
        let name = self.names.fresh(name);
        let c = self.helpers.c_type(ty);
        self.line(&format!("{c} {name} = {};", piece.text));
        Piece::simple(name, ty)
    }

    pub(crate) fn constant(&mut self, value: Scalar) -> Piece {
        let ty = value.element();
        let (text, held) = match value {
            Scalar::Bool(v) => {
                self.helpers.use_bool();
                (v.to_string(), ElementType::Bool)
            }
            Scalar::I32(i32::MIN) => ("INT32_MIN".to_owned(), ty),
            Scalar::I64(i64::MIN) => ("INT64_MIN".to_owned(), ty),
            // C holds a decimal constant in the first of int and long that fits,
            // and with a `u` in the first of their unsigned kin.
            Scalar::I64(v) if i32::try_from(v).is_ok() && v != i64::from(i32::MIN) => {
                (v.to_string(), ElementType::I32)
            }
            Scalar::U32(v) => (format!("{v}u"), ty),
            Scalar::U64(v) if u32::try_from(v).is_ok() => (format!("{v}u"), ElementType::U32),
            Scalar::U64(v) => (format!("{v}u"), ty),
            Scalar::F16(v) => (format!("0x{:04x}", v.to_bits()), ty),
            Scalar::Bf16(v) => (format!("0x{:04x}", v.to_bits()), ty),
            Scalar::F32(_) => (float_text(f64::from(value.to_f64() as f32), "f", value), ty),
            Scalar::F64(v) => (float_text(v, "", value), ty),
            Scalar::C64(_) | Scalar::C128(_) => return self.complex_constant(value),
            _ => (value.to_string(), ty),
        };
        if text.starts_with('-') {
            let mut piece = Piece::operation(text, Precedence::Unary, held);
            piece.simple = true;
            return piece;
        }
        Piece::simple(text, held)
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr) -> Piece {
        let ty = self.function.type_of(value);
        let piece = self.expr(value);
        if ty.is_complex() {
            return self.complex_unary(op, &piece, ty);
        }
        match op {
            UnaryOp::Not => Piece::operation(
                format!("!{}", piece.at(Precedence::Primary)),
                Precedence::Unary,
                ty,
            ),
            UnaryOp::Neg => {
                let piece = widened(piece, ty);
                // A space or a cast in between would do; parentheses are clear.
                let text = if piece.text.starts_with('-') {
                    format!("-({})", piece.text)
                } else {
                    format!("-{}", piece.at(Precedence::Unary))
                };
                narrowed(Piece::operation(text, Precedence::Unary, ty), ty)
            }
            UnaryOp::Abs if ty.kind() == Kind::Unsigned => piece,
            UnaryOp::Abs => {
                let name = if ty.is_float() {
                    self.helpers.library("fabs", 1, ty)
                } else {
                    self.helpers.helper(Helper::Abs, ty)
                };
                Piece::primary(format!("{name}({})", piece.text), ty)
            }
            UnaryOp::PopCount | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {
                let helper = match op {
                    UnaryOp::PopCount => Helper::PopCount,
                    UnaryOp::LeadingZeros => Helper::LeadingZeros,
                    _ => Helper::TrailingZeros,
                };
                let name = self.helpers.helper(helper, ty);
                Piece::primary(format!("{name}({})", piece.text), ty)
            }
            UnaryOp::Conj | UnaryOp::Real | UnaryOp::Imag => {
                unreachable!("only complex numbers have parts")
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Piece {
        let ty = self.function.type_of(left);
        let a = self.expr(left);
        match op {
            BinaryOp::FloorDiv | BinaryOp::Mod if ty.is_integer() => {
                let b = self.divisor(right, ty);
                self.divide(op, a, &b, ty)
            }
            _ => {
                let b = self.expr(right);
                self.combine(op, a, b, ty)
            }
        }
    }

    /// An integer to the power of another, checked not to be negative.
    fn power(&mut self, base: &Expr, exponent: &Expr, ty: ElementType) -> Piece {
        let base = self.expr(base);
        let mut piece = self.expr(exponent);
        if ty.kind() == Kind::Signed && !matches!(exponent, Expr::Const(_)) {
            piece.simple &= matches!(exponent, Expr::Var(_));
            piece = self.bind(piece, ty, "exponent");
            self.leave_if(&format!("{} < 0", piece.text), Failure::NegativePower);
        }
        let name = self.helpers.helper(Helper::Pow, ty);
        Piece::primary(format!("{name}({}, {})", base.text, piece.text), ty)
    }

    /// The right side of an integer `//` or `%`, checked not to be zero.
    pub(crate) fn divisor(&mut self, right: &Expr, ty: ElementType) -> Piece {
        if is_nonzero_constant(right) {
            return self.expr(right);
        }
        let piece = self.expr(right);
        let b = if matches!(right, Expr::Var(_)) {
            piece
        } else {
            let mut piece = piece;
            piece.simple = false;
            self.bind(piece, ty, "divisor")
        };
        self.leave_if(&format!("{} == 0", b.text), Failure::DivisionByZero);
        b
    }

    /// An integer `//` or `%` whose divisor is checked.
    pub(crate) fn divide(&mut self, op: BinaryOp, a: Piece, b: &Piece, ty: ElementType) -> Piece {
        if ty.kind() == Kind::Unsigned {
            let symbol = if op == BinaryOp::FloorDiv { "/" } else { "%" };
            let a = if held_below(b, ty) { widened(a, ty) } else { a };
            let (a, b) = (a.at(Precedence::Product), b.at(Precedence::Unary));
            let text = format!("{a} {symbol} {b}");
            return Piece::operation(text, Precedence::Product, ty);
        }
        // Every compiler that we know shifts signed numbers with their sign, which
        // floors; and cuts bits off in two's complement.
        let power = b.text.parse::<i64>().ok().filter(|by| by.count_ones() == 1);
        if let Some(by) = power.filter(|by| *by > 1) {
            let (symbol, amount, precedence) = match op {
                BinaryOp::FloorDiv => (">>", by.trailing_zeros().into(), Precedence::Shift),
                _ => ("&", by - 1, Precedence::Bits),
            };
            let a = widened(a, ty).at(Precedence::Unary);
            return Piece::operation(format!("{a} {symbol} {amount}"), precedence, ty);
        }
        let helper = match op {
            BinaryOp::FloorDiv => Helper::FloorDiv,
            _ => Helper::Mod,
        };
        let name = self.helpers.helper(helper, ty);
        Piece::primary(format!("{name}({}, {})", a.text, b.text), ty)
    }

    /// An operation that cannot fail, on values of type `ty`.
    pub(crate) fn combine(&mut self, op: BinaryOp, a: Piece, b: Piece, ty: ElementType) -> Piece {
        if ty.is_complex() {
            return self.complex_binary(op, &a, &b, ty);
        }
        let a = if op.is_comparison() {
            comparable(a, &b, ty)
        } else {
            a
        };
        let infix = |symbol: &str, a: Piece, b: Piece, precedence, held| {
            // The next tighter precedence on the right: C groups to the left.
            let (left, right) = match precedence {
                Precedence::Sum => (Precedence::Sum, Precedence::Product),
                Precedence::Product => (Precedence::Product, Precedence::Unary),
                Precedence::And => (Precedence::And, Precedence::And),
                Precedence::Or => (Precedence::Or, Precedence::Or),
                // They warn of sums inside of `&` too.
                Precedence::Bits => (Precedence::Unary, Precedence::Unary),
                // Compilers warn of comparisons of comparisons without parentheses.
                _ => (Precedence::Sum, Precedence::Sum),
            };
            // They also warn of `&&` inside `||`.
            let mixed =
                |piece: &Piece| precedence == Precedence::Or && piece.precedence == Precedence::And;
            let signed = precedence >= Precedence::Sum && b.text.starts_with('-');
            let side = |piece: &Piece, least, wrap| {
                if wrap {
                    format!("({})", piece.text)
                } else {
                    piece.at(least)
                }
            };
            let left = side(&a, left, mixed(&a));
            let right = side(&b, right, mixed(&b) || signed);
            Piece::operation(format!("{left} {symbol} {right}"), precedence, held)
        };
        let arithmetic = |symbol: &str, precedence| {
            let a = if held_below(&b, ty) {
                widened(a.clone(), ty)
            } else {
                a.clone()
            };
            narrowed(infix(symbol, a, b.clone(), precedence, ty), ty)
        };
        let truth = ElementType::Bool;
        match op {
            BinaryOp::Add => match b.text.strip_prefix('-') {
                Some(amount) if b.simple => {
                    let amount = Piece::simple(amount.to_owned(), b.held);
                    let a = if held_below(&b, ty) {
                        widened(a, ty)
                    } else {
                        a
                    };
                    narrowed(infix("-", a, amount, Precedence::Sum, ty), ty)
                }
                _ => arithmetic("+", Precedence::Sum),
            },
            // Not for what may be -0 as far as gcc can see.
            BinaryOp::Sub if ty.is_float() && is_zero(&a) && b.text.contains('(') => {
                let name = self.helpers.helper(Helper::FromZero, ty);
                Piece::primary(format!("{name}({})", b.text), ty)
            }
            BinaryOp::Sub => arithmetic("-", Precedence::Sum),
            BinaryOp::Mul => arithmetic("*", Precedence::Product),
            BinaryOp::Div => arithmetic("/", Precedence::Product),
            BinaryOp::FloorDiv | BinaryOp::Mod if ty.is_float() => {
                let helper = match op {
                    BinaryOp::Mod => Helper::Mod,
                    _ => Helper::FloorDiv,
                };
                let name = self.helpers.helper(helper, ty);
                Piece::primary(format!("{name}({}, {})", a.text, b.text), ty)
            }
            BinaryOp::FloorDiv | BinaryOp::Mod => self.divide(op, a, &b, ty),
            BinaryOp::And => infix("&&", a, b, Precedence::And, truth),
            BinaryOp::Or => infix("||", a, b, Precedence::Or, truth),
            BinaryOp::Min if ty == truth => infix("&&", a, b, Precedence::And, truth),
            BinaryOp::Max if ty == truth => infix("||", a, b, Precedence::Or, truth),
            BinaryOp::Min | BinaryOp::Max => self.extremum(op, &a, &b, ty),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let b = match b.text.parse::<i64>() {
                    Ok(mask @ 10..) => Piece::simple(format!("{mask:#x}"), b.held),
                    _ => b.clone(),
                };
                let symbol = op.symbol();
                narrowed(infix(symbol, widened(a, ty), b, Precedence::Bits, ty), ty)
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => bits::shift(op, a, &b, ty),
            BinaryOp::Eq => infix("==", a, b, Precedence::Equality, truth),
            BinaryOp::Ne => infix("!=", a, b, Precedence::Equality, truth),
            BinaryOp::Lt => infix("<", a, b, Precedence::Relation, truth),
            BinaryOp::Le => infix("<=", a, b, Precedence::Relation, truth),
            BinaryOp::Gt => infix(">", a, b, Precedence::Relation, truth),
            BinaryOp::Ge => infix(">=", a, b, Precedence::Relation, truth),
        }
    }

    /// `min` or `max`: of integers that are names in the open, else by a helper.
    fn extremum(&mut self, op: BinaryOp, a: &Piece, b: &Piece, ty: ElementType) -> Piece {
        let min = op == BinaryOp::Min;
        if ty.is_integer() && a.simple && b.simple && comparable(a.clone(), b, ty).simple {
            let sign = if min { "<" } else { ">" };
            let text = format!("{0} {sign} {1} ? {0} : {1}", a.text, b.text);
            let held = joined(a.held, b.held);
            return Piece::operation(text, Precedence::Conditional, held);
        }
        let helper = if min { Helper::Min } else { Helper::Max };
        let name = self.helpers.helper(helper, ty);
        Piece::primary(format!("{name}({}, {})", a.text, b.text), ty)
    }

    fn lazy(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Piece {
        let a = self.expr(left);
        if !may_fail(self.function, right) {
            let b = self.expr(right);
            return self.combine(op, a, b, ElementType::Bool);
        }
        let holds = self.named(&a, ElementType::Bool, "holds");
        let gate = match op {
            BinaryOp::And => format!("if ({holds}) {{"),
            _ => format!("if (!{holds}) {{"),
        };
        self.line(&gate);
        self.indented(|w| w.assign_piece(&holds, right));
        self.line("}");
        Piece::simple(holds, ElementType::Bool)
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Piece {
        let ty = self.function.type_of(then);
        let c = self.expr(condition);
        if !may_fail(self.function, then) && !may_fail(self.function, otherwise) {
            let (a, b) = (self.expr(then), self.expr(otherwise));
            if is_picked(self.function, condition, then, otherwise) {
                return self.pick(condition, &c, [a, b], ty);
            }
            let a = comparable(a, &b, ty);
            let held = joined(a.held, b.held);
            let text = format!(
                "{} ? {} : {}",
                c.at(Precedence::Or),
                a.at(Precedence::Or),
                b.at(Precedence::Conditional)
            );
            return Piece::operation(text, Precedence::Conditional, held);
        }
        let name = self.names.fresh("chosen");
        let declared = self.helpers.c_type(ty);
        self.line(&format!("{declared} {name};"));
        self.line(&format!("if ({}) {{", c.text));
        self.indented(|w| w.assign_piece(&name, then));
        self.line("} else {");
        self.indented(|w| w.assign_piece(&name, otherwise));
        self.line("}");
        Piece::simple(name, ty)
    }

    /// A new variable that holds `piece`, even if that is simple: it will change.
    pub(crate) fn named(&mut self, piece: &Piece, ty: ElementType, name: &str) -> String {
        let name = self.names.fresh(name);
        let c = self.helpers.c_type(ty);
        self.line(&format!("{c} {name} = {};", piece.text));
        name
    }

    fn assign_piece(&mut self, name: &str, value: &Expr) {
        let value = self.expr(value);
        self.line(&format!("{name} = {};", value.text));
    }

    /// Writes the statement that leaves the kernel where `condition` holds.
    pub(crate) fn leave_if(&mut self, condition: &str, failure: Failure) {
        self.line(&format!(
            "if ({condition}) return {};",
            abi::status_name(failure)
        ));
    }
}

/// Whether C would compute with `piece` in a narrower type than with `ty`.
fn held_below(piece: &Piece, ty: ElementType) -> bool {
    Rank::of(piece.held) < Rank::of(ty)
}

/// `piece`, made to be of type `ty` where C computes with it in a narrower one.
pub(crate) fn widened(piece: Piece, ty: ElementType) -> Piece {
    if held_below(&piece, ty) {
        piece.cast(ty)
    } else {
        piece
    }
}

/// The result of arithmetic of the IR's type `ty`: C computes in `int` what is
/// narrower than that.
fn narrowed(piece: Piece, ty: ElementType) -> Piece {
    if ty.is_integer() && ty.size() < 4 {
        piece.cast(ty)
    } else {
        piece
    }
}

/// `a` such that C compares it with `b` by value: beside an `unsigned`, a
/// negative `int` would count as a large number.
fn comparable(a: Piece, b: &Piece, ty: ElementType) -> Piece {
    let wider = Rank::of(a.held).max(Rank::of(b.held));
    if wider == Rank::Unsigned && wider < Rank::of(ty) {
        a.cast(ty)
    } else {
        a
    }
}

/// A float constant that C reads back as exactly this value.
fn float_text(value: f64, suffix: &str, scalar: Scalar) -> String {
    if value.is_nan() {
        return format!("__builtin_nan{suffix}(\"\")");
    }
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}__builtin_inf{suffix}()");
    }
    format!("{scalar}{suffix}")
}

/// Whether the text is that of a float's 0.
fn is_zero(piece: &Piece) -> bool {
    let number = piece.text.trim_end_matches('f').parse::<f64>();
    number.is_ok_and(|number| number.to_bits() == 0)
}
