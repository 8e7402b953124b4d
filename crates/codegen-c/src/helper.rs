//! Small inline functions for what C has no operator for.
//!
//! A helper is written once in a file, and only where a kernel uses it. Each
//! computes what the IR's operation computes, corners included: the least
//! integer divided by -1 wraps, and a comparison with `NaN` decides as the
//! table of the IR's operations says.

use std::collections::BTreeSet;

use sparsec_base::ElementType;
use sparsec_loop::Intrinsic;

use crate::precedence::c_type;

/// What a helper computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// The absolute value of an integer.
    Abs,
    /// The floor of the quotient of two numbers.
    FloorDiv,
    /// The remainder that belongs to it.
    Mod,
    /// The smaller of two numbers.
    Min,
    /// The larger of two numbers.
    Max,
    /// Whether a float has an integer of the type near it.
    Fits,
}

/// What the kernels of one file need beside the prelude.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    used: BTreeSet<(Helper, ElementType)>,
    library: BTreeSet<String>,
    bool: bool,
}

impl Helper {
    fn name(self, ty: ElementType) -> String {
        let stem = match self {
            Self::Abs => "abs",
            Self::FloorDiv => "floordiv",
            Self::Mod => "mod",
            Self::Min => "min",
            Self::Max => "max",
            Self::Fits => "fits",
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
                let half = if ty == ElementType::F32 { "0.5f" } else { "0.5" };
                let [fmod, floor, copysign] = FLOORED.map(|name| library_name(name, ty));
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
            Self::Fits => {
                let range = match ty {
                    ElementType::I32 => "a > -2147483649.0 && a < 2147483648.0",
                    _ => "a >= -9223372036854775808.0 && a < 9223372036854775808.0",
                };
                format!(
                    "\n/* Whether a, truncated, is an {c}. */\n\
                     static inline int {name}(double a) {{\n  return {range};\n}}\n"
                )
            }
        }
    }
}

/// What floored division of floats is made of.
const FLOORED: [&str; 3] = ["fmod", "floor", "copysign"];

/// The name of a function of the C library for floats of this type.
fn library_name(name: &str, ty: ElementType) -> String {
    match ty {
        ElementType::F32 => format!("{name}f"),
        _ => name.to_owned(),
    }
}

impl Helpers {
    /// Notes that a helper is used; its name.
    pub(crate) fn helper(&mut self, helper: Helper, ty: ElementType) -> String {
        if matches!(helper, Helper::FloorDiv | Helper::Mod) && ty.is_float() {
            for name in FLOORED {
                self.library(name, ty);
            }
        }
        self.used.insert((helper, ty));
        helper.name(ty)
    }

    /// Notes that a function of the C library is used; its name.
    pub(crate) fn intrinsic(&mut self, function: Intrinsic, ty: ElementType) -> String {
        self.library(function.name(), ty)
    }

    /// As [`Helpers::intrinsic`], for those that the IR has as operators.
    pub(crate) fn library(&mut self, name: &str, ty: ElementType) -> String {
        let name = library_name(name, ty);
        let c = c_type(ty);
        let binary = ["pow", "fmod", "copysign"];
        let parameters = match binary.iter().any(|stem| name.starts_with(stem)) {
            true => format!("{c} x, {c} y"),
            false => format!("{c} x"),
        };
        self.library.insert(format!("{c} {name}({parameters});\n"));
        name
    }

    /// The C name of a type.
    pub(crate) fn c_type(&mut self, ty: ElementType) -> &'static str {
        self.bool |= ty == ElementType::Bool;
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
        if !self.library.is_empty() {
            text.push_str("\n/* Of the C library: link with -lm. */\n");
            text.extend(self.library.iter().map(String::as_str));
        }
        for &(helper, ty) in &self.used {
            text.push_str(&helper.text(ty));
        }
        text
    }
}
