//! Programs of tensor expressions as `linalg.generic` over the encodings of MLIR's `sparse_tensor`.
//!
//! ```text
//! y(i) = sum{j}(A(i,j) * x(j))        A is csr
//!
//! #A = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
//! func.func @compute_y(%A: tensor<?x?xf64, #A>, %x: tensor<?xf64>) -> tensor<?xf64> {
//!   …
//!   %4 = linalg.generic {indexing_maps = […], iterator_types = ["parallel", "reduction"]}
//!       ins(%A, %x : tensor<?x?xf64, #A>, tensor<?xf64>) outs(%3 : tensor<?xf64>) {
//!   ^bb0(%5: f64, %6: f64, %7: f64):
//!     %8 = arith.mulf %5, %6 : f64
//!     %9 = arith.addf %7, %8 : f64
//!     linalg.yield %9 : f64
//!   } -> tensor<?xf64>
//!   return %4 : tensor<?xf64>
//! }
//! ```
//!
//! The module says what to compute and how tensors are stored. MLIR chooses the loops. A module of
//! the loops that sparsec chose comes from `codegen-scf`.
//!
//! # Meaning
//!
//! * Each statement is one operation, with reductions around a whole right side. [`apart`] gives
//!   other reductions statements of their own.
//! * The function returns the results of all statements that the program has by name.
//! * Sums, differences and products of stored entries are those of `arith`. MLIR knows which entries
//!   other operations keep only from `sparse_tensor.unary` and `binary`, whose regions follow from
//!   the values of the operator at zero (`body`).
//! * A program is refused if the module would have another value: operators that round or fail in
//!   another way, reductions whose implicit entries count, tensors whose implicit entries are not
//!   zero, formats without an encoding in release 19.
//!
//! Source: the definitions of the dialects, <https://mlir.llvm.org/docs/Dialects/Linalg/>,
//! <https://mlir.llvm.org/docs/Dialects/SparseTensorOps/>; Bik et al., TACO 2022, §4.

mod apart;
mod body;
mod statement;
mod types;
mod words;

use std::collections::BTreeMap;

use sparsec_base::{Code, Diagnostic, Result, Span, code};
use sparsec_format::Format;
use sparsec_index::{Program, TensorRole, TensorVar};

pub use apart::apart;

use types::Types;

/// A program as a module of MLIR, in the words of release 19.
///
/// `formats` has the format of each tensor; one that it lacks is dense. Every reduction of the
/// program is around the right side of a statement ([`apart`]), and every statement assigns a whole
/// tensor. Cost: O(size of the program).
///
/// # Errors
/// `E1051` with the place of an operator, index or tensor that the module cannot have, `E1028` and
/// `E1050` for formats without an encoding.
///
/// ```
/// use std::collections::BTreeMap;
/// use sparsec_base::ElementType::F64;
/// use sparsec_format::Format;
/// use sparsec_index::{Operator::Mul, ProgramBuilder};
/// let mut built = ProgramBuilder::new();
/// let c = built.result("C", 2)?;
/// let a = built.input("A", F64, &[Some(4), Some(8)])?;
/// let b = built.input("B", F64, &[Some(4), Some(8)])?;
/// let [i, j] = ["i", "j"].map(|name| built.var(name));
/// let product = built.apply(&Mul, [built.access(a, [i, j])?, built.access(b, [i, j])?])?;
/// built.assign(c, [i, j], product)?;
/// let formats = BTreeMap::from([(a, Format::csr()), (b, Format::csr()), (c, Format::csr())]);
/// let module = sparsec_codegen_linalg::emit(&built.finish()?, &formats)?;
/// assert!(module.contains("linalg.generic"));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn emit(program: &Program, formats: &BTreeMap<TensorVar, Format>) -> Result<String> {
    let types = Types::of(program, formats)?;
    let mut writer = Writer {
        program,
        types: &types,
        lines: String::new(),
        n_values: 0,
        values: BTreeMap::new(),
    };
    let mut parameters = Vec::new();
    for (tensor, data) in program.tensors.iter() {
        if data.role == TensorRole::Input {
            parameters.push(format!("%{}: {}", data.name, types.tensor(tensor)));
            writer.values.insert(tensor, format!("%{}", data.name));
        }
    }
    let mut results = Vec::new();
    for number in 0..program.statements.len() {
        writer.statement(number)?;
        let tensor = program.statements[number].lhs.tensor;
        let data = &program.tensors[tensor];
        if data.role == TensorRole::Result && data.earlier_of.is_none() {
            results.push(tensor);
        }
    }
    let names: Vec<&str> = results
        .iter()
        .map(|tensor| program.tensors[*tensor].name.as_str())
        .collect();
    let tys: Vec<String> = results.iter().map(|tensor| types.tensor(*tensor)).collect();
    let values: Vec<&str> = results
        .iter()
        .map(|tensor| writer.values[tensor].as_str())
        .collect();
    let all = match &tys[..] {
        [only] => only.clone(),
        tys => format!("({})", tys.join(", ")),
    };
    Ok(format!(
        "{}module {{\n  func.func @compute_{}({}) -> {all} {{\n{}    return {} : {}\n  }}\n}}\n",
        types.aliases(),
        names.join("_"),
        parameters.join(", "),
        writer.lines,
        values.join(", "),
        tys.join(", "),
    ))
}

/// A function that is written.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) types: &'a Types,
    pub(crate) lines: String,
    n_values: usize,
    /// The values of tensors that are given or computed.
    pub(crate) values: BTreeMap<TensorVar, String>,
}

impl Writer<'_> {
    /// The name of a new value.
    pub(crate) fn value(&mut self) -> String {
        self.n_values += 1;
        format!("%{}", self.n_values - 1)
    }

    /// A line of the function that gives a new value.
    pub(crate) fn define(&mut self, text: &str) -> String {
        let value = self.value();
        self.lines += &format!("    {value} = {text}\n");
        value
    }

    pub(crate) fn refused(&self, message: impl Into<String>, span: Span) -> Diagnostic {
        refused(self.program, message, span)
    }
}

/// A part of a program that the module cannot have.
pub(crate) fn refused(program: &Program, message: impl Into<String>, span: Span) -> Diagnostic {
    const CODE: Code = code::NO_GENERIC;
    Diagnostic::new(CODE, message)
        .at(&program.source, span, "here")
        .help("`Stage::Mlir` writes the loops of any program as a module")
}
