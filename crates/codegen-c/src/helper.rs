//! Small inline functions for what C has no operator for.
//!
//! A helper is written once in a file, and only where a kernel uses it. Each
//! computes what the IR's operation computes, corners included: the least
//! integer divided by -1 wraps, and a comparison with `NaN` decides as the
//! table of the IR's operations says.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{ElementType, Kind};
use sparsec_loop::Intrinsic;
use sparsec_loop::complex::Operation;

use crate::hint::{APART, PREFETCH, SHORT_LOOP};
use crate::precedence::c_type;
use crate::{bits, complex, half};

/// What a helper computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// The absolute value of an integer.
    Abs,
    /// The floor of the quotient of two numbers.
    FloorDiv,
    /// The remainder that belongs to it.
    Mod,
    /// An integer to the power of another.
    Pow,
    /// The number of ones in the bits of an integer.
    PopCount,
    /// The number of zeros above the highest one.
    LeadingZeros,
    /// The number of zeros below the lowest one.
    TrailingZeros,
    /// The smaller of two numbers.
    Min,
    /// The larger of two numbers.
    Max,
    /// Zero less a float.
    FromZero,
    /// One of two floats, without a branch.
    Pick,
    /// Whether a float has an integer of the type near it.
    Fits,
    /// The single-precision number that a half is.
    Single,
    /// The half nearest to a single-precision number.
    Half,
    /// A double in single precision, to be rounded once more.
    Odd,
}

/// What the kernels of one file need beside the prelude.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    used: BTreeSet<(Helper, ElementType)>,
    /// Whether entries are fetched ahead one by one, and in stretches.
    prefetch: [bool; 2],
    /// Whether there are loops of few turns.
    short_loop: bool,
    /// Whether parts of conditions have jumps of their own.
    apart: bool,
    /// Complex operations by their names, as text.
    complex: BTreeMap<String, String>,
    /// Complex types.
    pairs: BTreeSet<ElementType>,
    library: BTreeSet<String>,
    bool: bool,
}

impl Helper {
    fn name(self, ty: ElementType) -> String {
        let stem = match self {
            Self::Abs => "abs",
            Self::FloorDiv => "floordiv",
            Self::Mod => "mod",
            Self::Pow => "pow",
            Self::PopCount => "popcount",
            Self::LeadingZeros => "clz",
            Self::TrailingZeros => "ctz",
            Self::Min => "min",
            Self::Max => "max",
            Self::FromZero => "from_zero",
            Self::Pick => "pick",
            Self::Fits => "fits",
            Self::Single => "f32_of",
            Self::Half => return format!("sparsec_{ty}_of_f32"),
            Self::Odd => return "sparsec_rounded_to_odd".to_owned(),
        };
        format!("sparsec_{stem}_{ty}")
    }

    fn text(self, ty: ElementType) -> String {
        let (name, c) = (self.name(ty), c_type(ty));
        let binary = |doc: &str, body: &str| {
            format!(
                "\n/* {doc} */\nstatic inline {c} {name}({c} a, {c} b) {{\n{}}}\n",
                body.lines()
                    .map(|line| format!("  {}\n", line.trim_start()))
                    .collect::<String>()
            )
        };
        match self {
            Self::Abs => format!(
                "\n/* The absolute value; of the least integer, itself. */\n\
                 static inline {c} {name}({c} a) {{\n  return a < 0 ? -a : a;\n}}\n"
            ),
            Self::FloorDiv if ty.is_float() => {
                let half = if ty == ElementType::F32 {
                    "0.5f"
                } else {
                    "0.5"
                };
                let [fmod, floor, copysign] = FLOORED.map(|(name, _)| library_name(name, ty));
                binary(
                    "The floor of the exact quotient.",
                    &format!(
                        "if (b == 0) return a / b;
                         {c} rest = {fmod}(a, b);
                         {c} whole = (a - rest) / b;
                         if (rest != 0 && (rest < 0) != (b < 0)) whole -= 1;
                         if (whole == 0) return {copysign}(0, a / b);
                         {c} below = {floor}(whole);
                         return whole - below > {half} ? below + 1 : below;"
                    ),
                )
            }
            Self::FloorDiv => binary(
                "The floor of the quotient; b is not 0.",
                "if (b == -1) return -a;
                 return a / b - (a % b != 0 && (a < 0) != (b < 0));",
            ),
            Self::Mod if ty.is_float() => binary(
                "The remainder of the floored quotient, exact, with the sign of b.",
                &format!(
                    "{c} rest = {}(a, b);
                     if (rest == 0) return {}(0, b);
                     return (rest < 0) != (b < 0) ? rest + b : rest;",
                    library_name("fmod", ty),
                    library_name("copysign", ty)
                ),
            ),
            Self::Mod => binary(
                "The remainder of the floored quotient; b is not 0.",
                &format!(
                    "if (b == -1) return 0;
                     {c} rest = a % b;
                     return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;"
                ),
            ),
            Self::Pow => binary(
                "The low bits of a to the power b, which is not negative.",
                &format!(
                    "uint64_t result = 1, square = (uint64_t)a;
                     for (uint64_t left = (uint64_t)b; left; left >>= 1) {{
                     if (left & 1) result *= square;
                     square *= square;
                     }}
                     return ({c})result;"
                ),
            ),
            Self::PopCount => bits::counted(
                ty,
                &name,
                "The number of ones in the bits.",
                &[
                    "defined(__POPCNT__) || defined(__aarch64__)",
                    "for (; x; x &= x - 1) n += 1;",
                    "n = __builtin_popcountll(x);",
                ],
            ),
            Self::LeadingZeros => bits::counted(
                ty,
                &name,
                "The number of zeros above the highest one.",
                &[
                    "defined(__x86_64__) || defined(__aarch64__)",
                    "for (n = WIDTH; x; x >>= 1) n -= 1;",
                    "n = x ? __builtin_clzll(x) - (64 - WIDTH) : WIDTH;",
                ],
            ),
            Self::TrailingZeros => bits::counted(
                ty,
                &name,
                "The number of zeros below the lowest one.",
                &[
                    "defined(__x86_64__) || defined(__aarch64__)",
                    "for (n = x ? 0 : WIDTH; x && !(x & 1); x >>= 1) n += 1;",
                    "n = x ? __builtin_ctzll(x) : WIDTH;",
                ],
            ),
            Self::Min if ty.is_float() => binary(
                "The smaller; NaN if either is.",
                "return a < b || a != a ? a : b;",
            ),
            Self::Max if ty.is_float() => binary(
                "The larger; NaN if either is.",
                "return a > b || a != a ? a : b;",
            ),
            Self::Min => binary("The smaller.", "return a < b ? a : b;"),
            Self::Max => binary("The larger.", "return a > b ? a : b;"),
            Self::FromZero => format!(
                "\n/* 0 less a number: gcc takes 0.0 - fabs(x) for -fabs(x), which may be -0. */\n\
                 static inline {c} {name}({c} a) {{\n  return 0 - a;\n}}\n"
            ),
            Self::Pick => pick(ty, c, &name),
            Self::Fits => {
                let range = range(ty);
                format!(
                    "\n/* Whether a, truncated, is an {c}. */\n\
                     static inline int {name}(double a) {{\n  return {range};\n}}\n"
                )
            }
            Self::Single => half::single(ty).to_owned(),
            Self::Half => half::half(ty).to_owned(),
            Self::Odd => half::ODD.to_owned(),
        }
    }
}

/// The helper that chooses by a mask.
fn pick(ty: ElementType, c: &str, name: &str) -> String {
    let bits = format!("uint{}_t", 8 * ty.size());
    let by_bits = format!(
        "  union {{ {c} value; {bits} bits; }} x = {{ a }}, y = {{ b }};\n  \
         x.bits = (x.bits & ({bits})mask) | (y.bits & ~({bits})mask);\n  return x.value;\n"
    );
    // Where registers are few, floats stay in theirs.
    let (test, at_once) = match ty.is_float() {
        true => (
            "defined(__GNUC__)",
            format!(
                "  typedef {c} floats __attribute__((vector_size(16)));\n  \
                 typedef int64_t words __attribute__((vector_size(16)));\n  \
                 const words wanted = {{ mask }};\n  \
                 const floats x = {{ a }}, y = {{ b }};\n  \
                 return ((floats)(((words)x & wanted) | ((words)y & ~wanted)))[0];\n"
            ),
        ),
        false => (
            "defined(__GNUC__) && defined(__x86_64__)",
            "  __asm__(\"test %2, %2\\n\\tcmovs {%1, %0|%0, %1}\" : \"+r\"(b) : \"r\"(a), \"r\"(mask) : \"cc\");\n  \
             return b;\n"
                .to_owned(),
        ),
    };
    format!(
        "\n/* a where all bits of mask are set, b where none is; compilers would guess which, by a\n   \
         branch. */\nstatic inline {c} {name}(int64_t mask, {c} a, {c} b) {{\n\
         #if {test}\n{at_once}#else\n{by_bits}#endif\n}}\n"
    )
}

/// The condition that a double, truncated, is an integer of this type.
fn range(ty: ElementType) -> String {
    let bits = 8 * ty.size() as i32;
    let power = |bits: i32| 2f64.powi(bits);
    match (ty.kind(), bits) {
        (Kind::Unsigned, _) => format!("a > -1.0 && a < {:.1}", power(bits)),
        // The number below the least has no double of its own.
        (_, 64) => format!("a >= -{0:.1} && a < {0:.1}", power(63)),
        _ => format!(
            "a > -{:.1} && a < {:.1}",
            power(bits - 1) + 1.0,
            power(bits - 1)
        ),
    }
}

/// What floored division of floats is made of, with numbers of arguments.
const FLOORED: [(&str, usize); 3] = [("fmod", 2), ("floor", 1), ("copysign", 2)];

/// The name of a function of the C library for floats of this type.
fn library_name(name: &str, ty: ElementType) -> String {
    match ty {
        ElementType::F32 => format!("{name}f"),
        _ => name.to_owned(),
    }
}

/// gcc fuses products with a sum and a difference that stand side by side, whatever `-ffp-contract`
/// says. It also makes vectors of the two parts, with which sums of products take half as long again.
/// Releases before 12 do neither, and take the pragma for all flags.
const NOT_FUSED: &str = "\n/* The two parts of a number are rounded as they are written. */\n\
    #if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)\n\
    #pragma GCC optimize (\"no-tree-slp-vectorize\")\n#endif\n";

impl Helpers {
    /// Notes that a helper is used; its name.
    pub(crate) fn helper(&mut self, helper: Helper, ty: ElementType) -> String {
        if matches!(helper, Helper::FloorDiv | Helper::Mod) && ty.is_float() {
            for (name, arity) in FLOORED {
                self.library(name, arity, ty);
            }
        }
        self.used.insert((helper, ty));
        helper.name(ty)
    }

    /// Notes that entries are fetched ahead, one by one or in stretches; the name for it.
    pub(crate) fn prefetch(&mut self, is_one: bool) -> &'static str {
        self.prefetch[0] = true;
        self.prefetch[1] |= !is_one;
        PREFETCH[usize::from(!is_one)].0
    }

    /// Notes that there is a loop of few turns; the statement for its body.
    pub(crate) fn short_loop(&mut self) -> &'static str {
        self.short_loop = true;
        SHORT_LOOP.0
    }

    /// Notes that parts of a condition have jumps of their own; what stands between them.
    pub(crate) fn apart(&mut self) -> &'static str {
        self.apart = true;
        APART.0
    }

    /// Notes that a complex operation is used; its name.
    pub(crate) fn complex(&mut self, operation: Operation, ty: ElementType) -> String {
        let name = operation.function_name(ty);
        if !self.complex.contains_key(&name) {
            let text = complex::text(operation, ty, &name, self);
            self.complex.insert(name.clone(), text);
        }
        name
    }

    /// Notes that a function of the C library is used; its name.
    pub(crate) fn intrinsic(&mut self, function: Intrinsic, ty: ElementType) -> String {
        self.library(function.name(), function.arity(), ty)
    }

    /// As [`Helpers::intrinsic`], for those that the IR has as operators.
    pub(crate) fn library(&mut self, name: &str, arity: usize, ty: ElementType) -> String {
        let name = library_name(name, ty);
        let c = c_type(ty);
        let parameters = ["x", "y", "z"].iter().take(arity);
        let parameters: Vec<String> = parameters.map(|name| format!("{c} {name}")).collect();
        let parameters = parameters.join(", ");
        self.library.insert(format!("{c} {name}({parameters});\n"));
        name
    }

    /// The C name of a type.
    pub(crate) fn c_type(&mut self, ty: ElementType) -> &'static str {
        self.bool |= ty == ElementType::Bool;
        if ty.is_complex() {
            self.pairs.insert(ty);
        }
        c_type(ty)
    }

    /// Notes that `true` or `false` is used.
    pub(crate) fn use_bool(&mut self) {
        self.bool = true;
    }

    pub(crate) fn needs_bool(&self) -> bool {
        self.bool
    }

    /// The declarations and definitions of everything used.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if !self.pairs.is_empty() {
            text.push_str(NOT_FUSED);
        }
        for &ty in &self.pairs {
            let (name, part) = (c_type(ty), c_type(ty.part()));
            text.push_str(&format!(
                "\n/* A complex number. */\ntypedef struct {name} {{\n  {part} re;\n  {part} im;\n}} {name};\n"
            ));
        }
        if !self.library.is_empty() {
            text.push_str("\n/* Of the C library: link with -lm. */\n");
            text.extend(self.library.iter().map(String::as_str));
        }
        for ((_, definition), is_used) in PREFETCH.iter().zip(self.prefetch) {
            text.push_str(if is_used { definition } else { "" });
        }
        text.push_str(if self.short_loop { SHORT_LOOP.1 } else { "" });
        text.push_str(if self.apart { APART.1 } else { "" });
        for &(helper, ty) in &self.used {
            text.push_str(&helper.text(ty));
        }
        text.extend(self.complex.values().map(String::as_str));
        text
    }
}
