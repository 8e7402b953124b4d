//! An independent evaluator over coordinate maps: what `--check` compares with,
//! and the oracle of the tests.
//!
//! Nothing here knows loops, lattices or kernels. A tensor is a list of stored
//! coordinates with their values and one fill ([`CoordinateMap`]); a program is
//! evaluated straight from what index notation means.
//!
//! # Meaning
//!
//! At a point, which is one coordinate for each index variable, every part of
//! an expression has a value and is either stored or not:
//!
//! | part         | stored                                | value                          |
//! |--------------|---------------------------------------|--------------------------------|
//! | literal      | no                                    | itself                         |
//! | `A(i,j)`     | if `A` stores an entry there          | that entry, else the fill      |
//! | index `i`    | yes                                   | the coordinate                 |
//! | `f(a, b)`    | if an argument is                     | `f` of the values              |
//! | the same     | no, if arguments that are not stored decide it, as zeros do `*` | what they decide |
//! | a call       | if its body is, and each argument that annihilates it | its body's |
//! | `sum{k}(…)`  | if the body is for some `k`           | all values in ascending order  |
//!
//! A variable that the left side lacks is summed over each term of the right side
//! in which it occurs, over the whole term ([`implied`]).
//!
//! So what is *not* stored has one value everywhere, the fill of the part. An
//! integer division by zero, or a cast of a float that no integer is near, is
//! an error where the entry of a result that needs it is stored; `select`, `and`
//! and `or` need only what decides them, a reduction all of its values.
//!
//! | module            | holds                                                       |
//! |-------------------|-------------------------------------------------------------|
//! | [`coordinate_map`] | [`CoordinateMap`]                                          |
//! | [`dense`]         | the evaluator that visits every point: short and slow       |
//! | `sparse`          | the evaluator that visits the points where something is stored |
//! | `support`         | which points those are: a union of joins                    |
//! | `scan`            | the points of one join, one after the other                 |
//! | `decided`         | what an operator is whatever its stored arguments are       |
//! | `factored`        | long products, summed factor by factor                      |
//! | `collect`         | values of points to entries of a result                     |
//! | `part`            | values assigned to a part of a tensor                       |
//! | `rows`            | sorted lists of coordinates with values                     |
//! | `point`           | what operators do to values that are stored or not          |
//! | `values`          | the values of an array, by their type                       |
//! | `rounding`        | how far another evaluation may lie from this one            |
//! | [`implied`]       | implied sums, written out                                   |
//! | `program`         | statement by statement: operands, extents, diagnostics      |
//! | [`mod@compare`]   | a result beside what was expected                           |
//!
//! ```
//! use std::collections::BTreeMap;
//! use sparsec_base::Source;
//! use sparsec_notation::{Declaration, Declarations, Notation};
//! use sparsec_tensor::{Format, Tensor};
//! let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 1, 1, 2], &[2.0, 5.0])?;
//! let x = Tensor::pack(&Format::dense(1), &[3], &[0, 1, 2], &[1.0, 10.0, 100.0])?;
//! let mut declarations = Declarations::new();
//! declarations.declare("A", Declaration::with_extents(&[2, 3]));
//! declarations.declare("x", Declaration::with_extents(&[3]));
//! let source = Source::new("expression", "y(i) = A(i,j) * x(j)");
//! let program = Notation::parse(&source)?.resolve(&declarations)?;
//! let inputs = BTreeMap::from([("A".to_owned(), a), ("x".to_owned(), x)]);
//! let results = sparsec_reference::evaluate(&program, &inputs)?;
//! assert_eq!(results["y"].to_string(), "{(0): 20.0, (1): 500.0}");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

pub mod compare;
pub mod coordinate_map;
pub mod dense;
pub mod implied;

mod collect;
mod decided;
mod factored;
mod part;
mod placed;
mod point;
mod program;
mod rounding;
mod rows;
mod scan;
mod sparse;
mod support;
mod values;

pub use compare::{Difference, compare, compare_exact};
pub use coordinate_map::CoordinateMap;
pub use program::refuse_to_compare;
pub use sparse::{evaluate, evaluate_statement, evaluate_statement_within};
