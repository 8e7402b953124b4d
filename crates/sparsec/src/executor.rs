//! Expressions over operands whose formats are relations.

use sparsec_base::{Diagnostic, Result, Source, code, suggest};
use sparsec_computation::Computation;
use sparsec_index::{Declaration, Declarations, Notation};

pub use sparsec_executor::{Operands, Types};

/// The computation of an expression whose operands of these names are stored as
/// their descriptors say, and all other tensors dense, row by row.
///
/// Its index arrays have names such as `A_ptr` for `ptr` of the format of `A`; the
/// extent of `i` is `Ni`. `types` are of tensors and of index arrays: else entries
/// are `f64`, and index arrays `i32`.
///
/// # Errors
/// Those of the expression, `E0207` for an operand that it does not have and a type
/// of neither, `E0820` where it is no sum of products.
///
/// ```
/// use sparsec::executor::{Operands, Types, executor};
/// use sparsec::Source;
/// let diagonals = "
///     format dia
///     extents NR, NC
///     map {[d, r] -> [i, j] : 0 <= d < ND && 0 <= r < NR && i = r && j = r + off(d) && 0 <= j < NC}
///     data {[d, r] -> [NR * d + r]}
///     values {[p] : 0 <= p < ND * NR}
///     function off : {[d] : 0 <= d < ND} -> {[k] : 0 - NR < k < NC} increasing
/// ".parse()?;
/// let expression = Source::new("expression", "y(i) = A(i,j) * x(j)");
/// let spmv = executor(
///     &expression,
///     &Operands::from([("A".to_owned(), diagonals)]),
///     &Types::from([("A_off".to_owned(), sparsec::ElementType::I64)]),
/// )?;
/// assert!(spmv.to_string().contains("y(i) += A(d * Ni + r) * x(j)"));
/// assert!(spmv.to_string().contains("given A_off : i64[A_ND]"));
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn executor(expression: &Source, operands: &Operands, types: &Types) -> Result<Computation> {
    let notation = Notation::parse(expression)?;
    let names = notation.tensor_names();
    for operand in operands.keys() {
        if !names.iter().any(|known| known.name == *operand) {
            let known = names.iter().map(|known| known.name.as_str());
            let message = format!("the expression has no tensor `{operand}`");
            let error = Diagnostic::new(code::UNUSED_NAME, message);
            return Err(match suggest::closest(operand, known.clone()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("one of {}", known.collect::<Vec<_>>().join(", "))),
            });
        }
    }
    let mut declarations = Declarations::new();
    for name in names.iter().filter(|name| name.may_be_input) {
        let declaration = Declaration {
            element: types.get(&name.name).copied(),
            ..Declaration::with_order(name.order)
        };
        declarations.declare(name.name.as_str(), declaration);
    }
    let program = notation.resolve(&declarations)?;
    let made = sparsec_executor::executor(&program, operands, types)?;
    for name in types.keys() {
        if !made.spaces.iter().any(|space| space.name == *name) {
            let message = format!("there is no tensor or index array `{name}`");
            let known: Vec<&str> = made.spaces.iter().map(|space| &*space.name).collect();
            let error = Diagnostic::new(code::UNUSED_NAME, message);
            return Err(match suggest::closest(name, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("one of {}", known.join(", "))),
            });
        }
    }
    Ok(made)
}
