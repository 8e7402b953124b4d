//! Expressions that walk operands where they are stored, in formats that are relations.
//!
//! The loops go over the sparse space of such an operand's [`Descriptor`], and read the
//! coordinates of each tuple; no copy is made. A statement becomes a computation with one
//! statement for each term:
//!
//! ```text
//! y(i) = A(i,j) * x(j)        A : dia, {[d, r] -> [i, j] : … && i = r && j = r + off(d)}
//!
//! term0: y(i) += A(NR * d + r) * x(j)
//!   over {[d, r, i, j] : … && i = r && j = r + off(d)}
//! ```
//!
//! **Which expressions.** Terms are added up, and are nothing where an operand in
//! such a format stores nothing: products of accesses, numbers and indices.
//! Other operands and the result are dense. Anything else is refused (`E0820`),
//! and is computed from copies in formats of levels: [`copies`] says where each
//! value of an operand belongs.
//!
//! **Names.** The index arrays and constants of operand `A` get names of their own,
//! `A_off` and `A_ND`; arrays are of 32 bits where no [`Types`] say otherwise. Its values are `A`. Extents are named by the index variables:
//! `Ni` for `i`, so that one extent has one name.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion and
//! Optimization", CGO 2023, §3.1: a sparse-to-dense map "can be derived from a
//! computation that iterates through" what is stored; here it becomes one.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_walk::{Operands, Types, walk};
//! use sparsec_notation::{Declaration, Declarations, Notation};
//! let coo = "
//!     format coo
//!     extents NR, NC
//!     map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
//!     data {[n] -> [n]}
//!     values {[n] : 0 <= n < NZ}
//!     function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
//!     function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
//! ".parse()?;
//! let notation = Notation::parse(&Source::new("expression", "y(i) = A(i,j) * x(j)"))?;
//! let mut declarations = Declarations::new();
//! declarations.declare("A", Declaration::with_order(2));
//! declarations.declare("x", Declaration::with_order(1));
//! let program = notation.resolve(&declarations)?;
//! let computation = walk(&program, &Operands::from([("A".to_owned(), coo)]), &Types::new())?;
//! let text = computation.to_string();
//! assert!(text.contains("y(i) += A(n) * x(j)"), "{text}");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod arrays;
mod copy;
mod statement;
mod term;

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Computation, DataSpace, Role};
use sparsec_index::{Program, TensorRole};
use sparsec_relation::{Declarations, Descriptor, Expression};

use crate::arrays::Described;
pub use crate::copy::{Copied, CopiedPart, copies};

/// The descriptors of operands, by name.
pub type Operands = BTreeMap<String, Descriptor>;

/// The types of index arrays, by the names that they have in the computation.
pub type Types = BTreeMap<String, ElementType>;

/// The computation of a program whose operands of these names are stored as their
/// descriptors say, and all other tensors dense, row by row.
///
/// # Errors
/// `E0820` for a statement that is not a sum of terms, each nothing where an operand
/// with a descriptor stores nothing; for parts of results, for operands with mirror images, and for
/// types that computations do not have.
pub fn walk(program: &Program, operands: &Operands, types: &Types) -> Result<Computation> {
    let mut computation = Computation {
        name: "walk".to_owned(),
        parameters: Vec::new(),
        declarations: Declarations::new(),
        spaces: Vec::new(),
        statements: Vec::new(),
    };
    let mut described = BTreeMap::new();
    for (id, tensor) in program.tensors.iter() {
        let Some(descriptor) = operands.get(&tensor.name) else {
            continue;
        };
        stores_all(&tensor.name, descriptor)?;
        described.insert(id, Described::new(program, id, descriptor, types)?);
    }
    for extent in statement::extents(program) {
        computation.parameters.push(extent);
    }
    for equal in statement::equal_extents(program) {
        computation.declarations.assume(equal);
    }
    for operand in described.values() {
        operand.add_to(&mut computation);
    }
    let last = program.statements.last().map(|it| it.lhs.tensor);
    for (id, tensor) in program.tensors.iter() {
        if described.contains_key(&id) {
            continue;
        }
        let role = match tensor.role {
            TensorRole::Input => Role::Given,
            _ if Some(id) == last => Role::Out,
            _ => Role::Temporary,
        };
        let extents = statement::extents_of(program, id)
            .into_iter()
            .map(Expression::Constant);
        computation.spaces.push(DataSpace {
            name: tensor.name.clone(),
            element: tensor.element,
            extents: extents.collect(),
            role,
        });
    }
    for number in 0..program.statements.len() {
        statement::add(program, number, &described, &mut computation)?;
    }
    computation.checked()
}

/// Refuses operands whose entries stand for others.
fn stores_all(name: &str, descriptor: &Descriptor) -> Result<()> {
    match descriptor.clauses().mirror {
        None => Ok(()),
        Some(_) => {
            let message = format!("entries of `{name}` stand for their mirror images");
            let error = Diagnostic::new(code::NO_WALK, message);
            Err(error.help("convert it to a format of levels, such as `csr`"))
        }
    }
}
