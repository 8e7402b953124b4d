//! Operators as operations of `arith`, `math` and `complex` with the same meaning.

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_index::Operator;

use crate::Writer;

/// The operation of an operator on values of one type; `None` if none has the same meaning.
pub(crate) fn plain(
    op: &Operator,
    args: &[&str],
    element: ElementType,
    writer: &mut Writer<'_>,
) -> Option<String> {
    use Operator::{
        Abs, Acos, Acosh, Add, And, Asin, Asinh, Atan, Atan2, Atanh, BitAnd, BitOr, BitXor, Cbrt,
        Ceil, CopySign, Cos, Cosh, Div, Eq, Erf, Exp, Exp2, Expm1, Floor, Fma, Ge, Gt, Imag, Le,
        LeadingZeros, Log, Log1p, Log2, Log10, Lt, Max, Min, Mul, Ne, Neg, Not, Or, PopCount, Pow,
        Real, Round, Select, ShiftLeft, ShiftRight, Sin, Sinh, Sqrt, Sub, Tan, Tanh, TrailingZeros,
        Trunc,
    };
    let kind = element.kind();
    let is_unsigned = kind == Kind::Unsigned;
    let ty = writer.types.element(element);
    let list = args.join(", ");
    let of = |dialect: &str, word: &str| Some(format!("{dialect}.{word} {list} : {ty}"));
    let by_kind = |words| {
        let dialect = if kind == Kind::Complex {
            "complex"
        } else {
            "arith"
        };
        of(dialect, word(kind, words)?)
    };
    let function = |word| match kind {
        Kind::Float => of("math", word),
        _ => None,
    };
    match op {
        Add if kind == Kind::Bool => of("arith", "ori"),
        Mul if kind == Kind::Bool => of("arith", "andi"),
        Add => by_kind(["addf", "addi", "add"]),
        Sub => by_kind(["subf", "subi", "sub"]),
        Mul => by_kind(["mulf", "muli", "mul"]),
        Div => by_kind(["divf", "", "div"]),
        Neg if matches!(kind, Kind::Signed | Kind::Unsigned) => {
            let zero = writer.define(&writer.types.constant(element.zero()));
            Some(format!("arith.subi {zero}, {list} : {ty}"))
        }
        Neg => by_kind(["negf", "", "neg"]),
        Abs => match kind {
            Kind::Float => of("math", "absf"),
            Kind::Signed => of("math", "absi"),
            Kind::Complex => of("complex", "abs"),
            _ => None,
        },
        Real if kind == Kind::Complex => of("complex", "re"),
        Imag if kind == Kind::Complex => of("complex", "im"),
        Max if is_unsigned => of("arith", "maxui"),
        Min if is_unsigned => of("arith", "minui"),
        Max => by_kind(["maximumf", "maxsi", ""]),
        Min => by_kind(["minimumf", "minsi", ""]),
        Eq | Ne | Lt | Le | Gt | Ge => {
            let (float, integer) = match op {
                Eq => ("oeq", "eq"),
                Ne => ("une", "ne"),
                Lt => ("olt", "lt"),
                Le => ("ole", "le"),
                Gt => ("ogt", "gt"),
                _ => ("oge", "ge"),
            };
            let sign = match (op, kind) {
                (Eq | Ne, _) => "",
                (_, Kind::Signed) => "s",
                _ => "u",
            };
            match kind {
                Kind::Float => Some(format!("arith.cmpf {float}, {list} : {ty}")),
                Kind::Complex => None,
                _ => Some(format!("arith.cmpi {sign}{integer}, {list} : {ty}")),
            }
        }
        And => of("arith", "andi"),
        Or => of("arith", "ori"),
        Not => {
            let truth = writer.define("arith.constant true");
            Some(format!("arith.xori {list}, {truth} : i1"))
        }
        Select => of("arith", "select"),
        Sqrt => function("sqrt"),
        Exp => function("exp"),
        Exp2 => function("exp2"),
        Expm1 => function("expm1"),
        Log => function("log"),
        Log2 => function("log2"),
        Log10 => function("log10"),
        Log1p => function("log1p"),
        Sin => function("sin"),
        Cos => function("cos"),
        Tan => function("tan"),
        Asin => function("asin"),
        Acos => function("acos"),
        Atan => function("atan"),
        Atan2 => function("atan2"),
        Asinh => function("asinh"),
        Acosh => function("acosh"),
        Atanh => function("atanh"),
        Erf => function("erf"),
        CopySign => function("copysign"),
        Fma => function("fma"),
        BitAnd => of("arith", "andi"),
        BitOr => of("arith", "ori"),
        BitXor => of("arith", "xori"),
        PopCount => of("math", "ctpop"),
        LeadingZeros => of("math", "ctlz"),
        TrailingZeros => of("math", "cttz"),
        ShiftLeft | ShiftRight => {
            let [value, by] = args else { return None };
            Some(shifted(op, value, by, element, writer))
        }
        Sinh => function("sinh"),
        Cosh => function("cosh"),
        Tanh => function("tanh"),
        Cbrt => function("cbrt"),
        Floor => function("floor"),
        Ceil => function("ceil"),
        Round => function("roundeven"),
        Trunc => function("trunc"),
        Pow => function("powf"),
        _ => None,
    }
}

/// A shift by any amount: that of MLIR has no value past the width.
fn shifted(
    op: &Operator,
    value: &str,
    by: &str,
    element: ElementType,
    writer: &mut Writer<'_>,
) -> String {
    let ty = writer.types.element(element);
    let width = 8 * element.size() as i64;
    let constant = |writer: &mut Writer<'_>, n: i64| {
        writer.define(&writer.types.constant(Scalar::from_i64(element, n)))
    };
    if *op == Operator::ShiftRight && element.kind() == Kind::Signed {
        let most = constant(writer, width - 1);
        let by = writer.define(&format!("arith.minui {by}, {most} : {ty}"));
        return format!("arith.shrsi {value}, {by} : {ty}");
    }
    let word = match op {
        Operator::ShiftLeft => "shli",
        _ => "shrui",
    };
    let (limit, zero) = (constant(writer, width), constant(writer, 0));
    let is_within = writer.define(&format!("arith.cmpi ult, {by}, {limit} : {ty}"));
    let moved = writer.define(&format!("arith.{word} {value}, {by} : {ty}"));
    format!("arith.select {is_within}, {moved}, {zero} : {ty}")
}

/// The words for operations on numbers of a kind: floats, integers and complex numbers.
fn word(kind: Kind, words: [&'static str; 3]) -> Option<&'static str> {
    let [float, integer, complex] = words;
    let word = match kind {
        Kind::Float => float,
        Kind::Complex => complex,
        Kind::Signed | Kind::Unsigned => integer,
        Kind::Bool => "",
    };
    Some(word).filter(|word| !word.is_empty())
}
