//! Kernels to keep: a file that needs nothing but the C library.
//!
//! ```text
//! int32_t assemble_C(const sparsec_context *, sparsec_tensor *C, const sparsec_tensor *A, …);
//! int32_t compute_C(const sparsec_context *, sparsec_tensor *C, const sparsec_tensor *A, …);
//! int32_t evaluate_C(const sparsec_context *, sparsec_tensor *C, const sparsec_tensor *A, …);
//! ```
//!
//! The kernels are those that sparsec itself runs; what its runtime would give
//! them (room for results, workspaces, sorting) stands in the file as small
//! functions, which a context of the caller may replace one by one. A [`header`]
//! has the declarations alone, for other files of a program; headers of several
//! kernels stand side by side, and [`file`](fn@file)s link together where their kernels'
//! names differ.

use std::fmt::Write as _;

use sparsec_loop::Function;

use crate::helper::Helpers;
use crate::uses::Uses;
use crate::{Entry, abi, function};

/// One statement as kernels to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptKernel {
    /// What follows `assemble_`, `compute_` and `evaluate_`.
    pub name: String,
    /// What is computed and how, in lines for a reader.
    pub doc: Vec<String>,
    /// Builds positions and coordinates, and makes room for values.
    pub assemble: Function,
    /// Computes values where the structure is there.
    pub compute: Function,
    /// Both at once; `None` where assembling and then computing costs no more.
    pub evaluate: Option<Function>,
}

/// The whole of a file: declarations, what kernels call, kernels.
pub fn file(kernels: &[KeptKernel], heading: &[String]) -> String {
    let mut helpers = Helpers::default();
    let mut bodies = String::new();
    for kernel in kernels {
        let parts = [
            ("assemble", Some(&kernel.assemble)),
            ("compute", Some(&kernel.compute)),
            ("evaluate", kernel.evaluate.as_ref()),
        ];
        for (part, function) in parts {
            let Some(function) = function else { continue };
            bodies.push('\n');
            let function = named(function, part, &kernel.name);
            bodies.push_str(&function::kernel(&function, Entry::Kept, &mut helpers));
        }
        if kernel.evaluate.is_none() {
            bodies.push('\n');
            bodies.push_str(&function::both(&kernel.assemble, &kernel.name));
        }
    }
    let mut text = abi::heading(heading);
    text.push_str(&top(&helpers));
    for kernel in kernels {
        text.push('\n');
        text.push_str(&declarations(kernel));
    }
    text.push_str(&bodies);
    text
}

/// The file of one kernel that has no parts. `given` are the results whose arrays the caller allocates,
/// each with its length: `y : f64[N]`.
///
/// ```
/// use sparsec_loop::{Builder, Failure};
/// let mut b = Builder::new("refuse");
/// b.fail(Failure::DivisionByZero);
/// let c = sparsec_codegen_c::kept::alone(&b.finish(), &[]);
/// assert!(c.contains("int32_t refuse(const sparsec_context *context);"));
/// assert!(c.contains("return SPARSEC_DIVISION_BY_ZERO;"));
/// ```
pub fn alone(function: &Function, given: &[String]) -> String {
    let mut helpers = Helpers::default();
    let kernel = function::kernel(function, Entry::Kept, &mut helpers);
    let mut text = abi::heading(&[]);
    match Uses::of(function, &function.body).context {
        true => text.push_str(&top(&helpers)),
        false => text.push_str(&crate::declarations(&helpers)),
    }
    let tensors = function::tensors_doc(function);
    let prototype = function::prototype(function, Entry::Kept);
    let mut lengths = String::new();
    if !given.is_empty() {
        lengths +=
            " *\n * The caller allocates these arrays of results, which may hold anything:\n";
        for line in given {
            let _ = writeln!(lengths, " *     {}", abi::comment_text(line));
        }
        lengths += " * What the conventions below say of arrays of results holds of the others.\n";
    }
    let _ = write!(
        text,
        "\n/*\n{tensors}{lengths}{CONVENTIONS} */\n{prototype};\n\n{kernel}"
    );
    text
}

/// The text above kernels: includes, types, and the functions that they call.
fn top(helpers: &Helpers) -> String {
    let mut text = String::from("#include <stdbool.h>\n#include <stdint.h>\n");
    text.push_str("#include <stdlib.h>\n#include <string.h>\n\n");
    text.push_str(&abi::prelude());
    text.push('\n');
    text.push_str(&support());
    text.push_str(&helpers.text());
    text
}

/// The declarations of a [`file`](fn@file), to be included by others, C or C++.
pub fn header(kernels: &[KeptKernel], heading: &[String]) -> String {
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
    let guard = function::function_name(&format!("SPARSEC_{}_H", names.join("_")));
    let mut text = abi::heading(heading);
    let _ = write!(
        text,
        "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
    );
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text.push_str(&abi::prelude());
    for kernel in kernels {
        text.push('\n');
        text.push_str(&declarations(kernel));
    }
    text.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// The conventions of calls, in lines of a comment.
const CONVENTIONS: &str = " *
 * Each tensor has an extent for each mode and the arrays above in that order.
 * Extents of results are set by the caller, whose arrays of results begin as
 * {NULL, 0, 0} and grow by `realloc`; `free` each one's data when done with it.
 * Operands are trusted: positions ascend, coordinates lie below their extents.
 * The context may be null, and so may each of its functions. The answer is
 * SPARSEC_OK or why a kernel gave up; results then hold anything. Calls with
 * different results may run at once.
";

/// The three functions of one kernel, with what a caller has to know.
fn declarations(kernel: &KeptKernel) -> String {
    let mut text = String::from("/*\n");
    for line in &kernel.doc {
        let _ = writeln!(text, " * {}", abi::comment_text(line));
    }
    text.push_str(" *\n");
    text.push_str(&function::tensors_doc(&kernel.assemble));
    text.push_str(CONVENTIONS);
    text.push_str(" */\n");
    let parts = [
        (
            "assemble",
            "Positions and coordinates of the result, and room for its values.",
        ),
        (
            "compute",
            "Its values: after `assemble`, as often as operands get new values.",
        ),
        ("evaluate", "Both."),
    ];
    for (part, says) in parts {
        let function = named(&kernel.assemble, part, &kernel.name);
        let _ = writeln!(
            text,
            "/* {says} */\n{};",
            function::prototype(&function, Entry::Kept)
        );
    }
    text
}

/// The same function under the name of a part.
fn named(function: &Function, part: &str, name: &str) -> Function {
    Function {
        name: format!("{part}_{name}"),
        ..function.clone()
    }
}

fn support() -> String {
    let sort = include_str!("kept/sort.c");
    let mut sorts = String::new();
    for bits in ["32", "64"] {
        let text = sort.replace("TYPE_t", &format!("int{bits}_t"));
        sorts.push_str(&text.replace("_TYPE", &format!("_i{bits}")));
        sorts.push('\n');
    }
    sorts.push_str(include_str!("kept/sort_pairs.c"));
    include_str!("kept/support.c").replace("SORTS\n", &format!("{sorts}\n"))
}
