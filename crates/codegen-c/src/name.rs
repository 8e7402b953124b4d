//! Names of the IR as C identifiers.
//!
//! Dots become underscores: `A1.pos` is `A1_pos`. What is no identifier, is
//! reserved, or is taken gets an underscore or a number behind it. No name
//! shadows another, so a block of the IR is a block of C.

use std::collections::HashSet;

use sparsec_loop::Intrinsic;

/// Words that mean something else in the files that we write: keywords, types and
/// macros of the headers that they include, and functions of the C library that
/// the compiler knows by name.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "main",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "typedef",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "void",
    "volatile",
    "while", //
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "intptr_t",
    "intmax_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "uintmax_t",
    "size_t", //
    "BIG_ENDIAN",
    "BYTE_ORDER",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "FD_SETSIZE",
    "LITTLE_ENDIAN",
    "NFDBITS",
    "NULL",
    "PDP_ENDIAN",
    "WCONTINUED",
    "WEXITED",
    "WNOHANG",
    "WNOWAIT",
    "WSTOPPED",
    "WUNTRACED", //
    "fabs",
    "fabsf", // words of C++, which reads headers of kernels
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
];

/// Names that a *function* must not have beside the reserved ones, because the
/// C library has them with another type.
const LIBRARY: &[&str] = &[
    "abort",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atexit",
    "bcmp",
    "bcopy",
    "bsearch",
    "bzero",
    "cabs",
    "calloc",
    "cbrt",
    "cimag",
    "conj",
    "copysign",
    "cosh",
    "creal",
    "div",
    "drem",
    "erf",
    "erfc",
    "exit",
    "exp2",
    "expm1",
    "fdim",
    "ffs",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "free",
    "frexp",
    "gamma",
    "hypot",
    "ilogb",
    "index",
    "isalpha",
    "isinf",
    "isnan",
    "j0",
    "j1",
    "jn",
    "labs",
    "ldexp",
    "lgamma",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "nan",
    "printf",
    "puts",
    "rand",
    "read",
    "realloc",
    "remainder",
    "remquo",
    "rindex",
    "rint",
    "round",
    "scalb",
    "signbit",
    "significand",
    "sinh",
    "snprintf",
    "sort",
    "sprintf",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strdup",
    "strlen",
    "tgamma",
    "time",
    "trunc",
    "write",
    "y0",
    "y1",
    "yn",
];

/// The C name of the kernel called `name`.
pub(crate) fn function_name(name: &str) -> String {
    let name = identifier(name);
    if LIBRARY.contains(&name.as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

/// The identifiers of one C function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// An identifier like `name` that is not in use yet.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let stem = identifier(name);
        let mut candidate = stem.clone();
        let mut number = 1;
        while !self.taken.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{stem}_{number}");
        }
        candidate
    }

    /// Says that an identifier is in use.
    pub(crate) fn take(&mut self, identifier: &str) {
        self.taken.insert(identifier.to_owned());
    }
}

/// `name` as an identifier that is not reserved.
fn identifier(name: &str) -> String {
    let mut text: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    // Identifiers that begin like `__x` or `_X` belong to the compiler, macros
    // in capitals to the headers, and `sparsec_` to the prelude.
    let ours = text.starts_with("sparsec_") || text.starts_with("SPARSEC_");
    let bound = text.ends_with("_MAX") || text.ends_with("_MIN");
    let headers = text.starts_with("INT") || text.starts_with("UINT") || bound;
    if text.is_empty() || text.starts_with(|c: char| c == '_' || c.is_ascii_digit()) {
        text.insert(0, 'v');
    } else if ours || headers || RESERVED.contains(&text.as_str()) || is_called(&text) {
        text.push('_');
    }
    text
}

/// Whether a kernel may call a function of this name: of doubles, or of floats
/// with an `f` behind it.
fn is_called(name: &str) -> bool {
    let single = name.strip_suffix('f');
    let mut functions = Intrinsic::ALL.iter().map(|function| function.name());
    functions.any(|function| function == name || Some(function) == single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: &str) {
        assert_eq!(identifier(name), expect);
    }

    #[test]
    fn dots_become_underscores() {
        check("A1.pos", "A1_pos");
    }

    #[test]
    fn what_c_reserves_is_escaped() {
        check("int", "int_");
        check("exp", "exp_");
        check("_Bool", "v_Bool");
        check("class", "class_");
        check("2nd", "v2nd");
        check("INT64_MAX", "INT64_MAX_");
        check("SIZE_MAX", "SIZE_MAX_");
        check("NULL", "NULL_");
        check("sparsec_array", "sparsec_array_");
        check("", "v");
        check("é", "v_");
        assert_eq!(function_name("index"), "index_");
    }

    #[test]
    fn names_in_use_get_a_number() {
        let mut names = Names::default();
        assert_eq!(names.fresh("A.n0"), "A_n0");
        assert_eq!(names.fresh("A_n0"), "A_n0_2");
        assert_eq!(names.fresh("A_n0"), "A_n0_3");
    }
}
