//! Relations with uninterpreted functions.
//!
//! A relation is a set of pairs of integer tuples, written as the constraints that its pairs
//! satisfy. An index array of a sparse format is a function with a name and unknown values:
//!
//! ```text
//! {[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && crd(q) = i}
//!  └──────────┘    └ chain ─┘    └ uninterpreted functions ────────────┘
//!     tuples       M, free: a symbolic constant
//! ```
//!
//! A name is a **variable** if a tuple or `exists` brings it in, a **function**
//! if parentheses follow it, and otherwise a **symbolic constant**. A relation
//! is a union of [`Conjunction`]s; each has variables of its own.
//!
//! A [`Set`] is a relation to the empty tuple. [`Declarations`] state facts about functions and
//! constants, and a [`Descriptor`] a sparse format.
//! The [`guide`] walks through the examples of the literature.
//!
//! | operation                            | gives                                           |
//! |--------------------------------------|-------------------------------------------------|
//! | [`Relation::parse`]                  | the relation of a text                          |
//! | `to_string`                          | the text; parses back to an equal relation      |
//! | [`Relation::inverse`]                | the pairs the other way round                   |
//! | [`Relation::then`]                   | `a → c` wherever `a → b` here and `b → c` there |
//! | [`Relation::union`], [`intersect`](Relation::intersect), [`minus`](Relation::minus) | as of sets |
//! | [`Relation::apply`], [`restricted_to`](Relation::restricted_to) | the image, the pairs from a set |
//! | [`Relation::domain`], [`without_outputs`](Relation::without_outputs) | projections |
//! | [`Relation::simplified`]             | the same pairs in a shorter text                |
//! | [`Relation::simplified_under`]       | the same pairs in fewer constraints             |
//! | [`Relation::closed_under`]           | the same pairs with implied constraints         |
//! | [`Relation::solve`]                  | the second tuple as a function of the first     |
//! | [`Relation::is_empty`], [`is_function`](Relation::is_function) | an [`Answer`] |
//! | [`Relation::is_subset`], [`is_equal`](Relation::is_equal) | an [`Answer`]  |
//! | [`Consequences`]                     | several questions about one set                 |
//! | [`Relation::to_isl`]                 | the text in the syntax of ISL                   |
//! | [`Set::scan`]                        | loops that visit the tuples in order            |
//! | [`Relation::enumerate`]              | the pairs, given values for constants and functions |
//!
//! Source: the sparse polyhedral framework; Strout, Hall and Olschanowsky,
//! "The Sparse Polyhedral Framework", Proceedings of the IEEE 2018,
//! <https://doi.org/10.1109/JPROC.2018.2857721>. Unlike there, products of
//! symbolic constants are expressions like any other, and `!=` is a comparison.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_relation::{Environment, Relation};
//! let rows = "{[i] -> [q] : 0 <= i < M && pos(i) <= q < pos(i + 1)}";
//! let rows: Relation = rows.parse()?;
//! let known = Environment::new().constant("M", 3).table("pos", vec![0, 2, 2, 3]);
//! let pairs = rows.enumerate(&known, 0..10)?;
//! let expect = [(0, 0), (0, 1), (2, 2)].map(|(i, q)| (vec![i], vec![q]));
//! assert!(pairs.into_iter().eq(expect));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod budget;
mod conjunction;
mod consequences;
mod declarations;
mod descriptor;
mod enumerate;
mod expression;
mod facts;
pub mod guide;
mod key;
mod key_function;
mod linear;
mod names;
mod operations;
mod parse;
mod polynomial;
mod print;
mod reduce;
mod relation;
pub mod scan;
mod set;
mod simplify;
mod solve;
mod subset;
mod sum;

pub use budget::Budget;
pub use conjunction::Conjunction;
pub use consequences::Consequences;
pub use declarations::{
    Broken, Declarations, Function, ListOrder, Monotone, Quantifier, TupleFunction,
};
pub use descriptor::{Clauses, Descriptor, Image, Mirror, Side};
pub use enumerate::{Environment, Pair};
pub use expression::{Comparison, Constraint, Expression, Rewrite, Values, Variable};
pub use facts::remembering;
pub use key::MortonWord;
pub use key_function::{
    KeyFunction, KeyOperator, Local, LocalData, Number, Range, Step as KeyStep, Term, TermKind,
    WORD_BITS,
};
pub use names::fresh_name;
pub use parse::Parser;
pub use relation::Relation;
pub use scan::{Data, Ended, Loops, Step, Visit, scan};
pub use set::Set;
pub use solve::Answer;
