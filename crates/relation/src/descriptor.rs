//! Descriptors: sparse formats as relations.
//!
//! A descriptor states the tuples that a format stores, the coordinates and the place of the value
//! of each tuple, and facts about the index arrays. Its text is a `.fmt` file, in which a comment
//! runs from `;` to the end of the line:
//!
//! ```text
//! ; Jagged diagonals: rows by falling length, the first entry of each, the second, …
//! format jds
//! extents NR, NC
//! map {[s, k, t] -> [i, j] : 0 <= s < ND && ptr(s) <= k < ptr(s + 1) && t = k - ptr(s)
//!      && i = perm(t) && 0 <= i < NR && j = col(k) && 0 <= j < NC}
//! data {[s, k, t] -> [k]}
//! values {[k] : 0 <= k < NNZ}
//! function perm : {[t] : 0 <= t < NR} -> {[i] : 0 <= i < NR} injective
//! function ptr : {[s] : 0 <= s <= ND} -> {[k] : 0 <= k <= NNZ} nondecreasing
//! function col : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
//! ```
//!
//! | line      | states                                                                   |
//! |-----------|--------------------------------------------------------------------------|
//! | `extents` | the symbolic constants that are the extents of the modes                 |
//! | `map`     | the **sparse space**, and the coordinates of each of its tuples          |
//! | `data`    | the place of a tuple's value among the values                            |
//! | `values`  | the set of all places                                                    |
//! | `unique`, `padding`, `fill`, `mirror`, `table`, `block` | [`Clauses`]                |
//! | others    | [`Declarations`]: domains and ranges of index arrays, orders, quantifiers |
//!
//! A descriptor must be **complete**: each tuple of the sparse space has one place and, inside of
//! the extents, one coordinate in each mode; the space has bounds; each called function is
//! declared, on a domain with bounds, and each declared function is called. `check` proves this
//! from the declarations. A fact without a proof can be declared. `unique` is declared where it does not
//! follow from orders of index arrays; whoever makes a tensor checks it of the arrays.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion
//! and Optimization", CGO 2023, §3.1 and Table 1. Unlike there, the extents, the
//! places of values and all ranges are stated, and order is one implication.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use crate::declarations::Declarations;
use crate::expression::{Expression, Rewrite, Variable};
use crate::parse::Parser;
use crate::relation::Relation;
use crate::set::Set;

mod bounds;
mod check;
mod clauses;
mod parse;

pub use clauses::{Clauses, Image, Mirror, Side};

/// A sparse format as relations; see the module's page.
///
/// ```
/// use sparsec_relation::Descriptor;
/// let diagonals: Descriptor = "
///     format dia
///     extents NR, NC
///     map {[d, i] -> [i, j] : 0 <= d < ND && 0 <= i < NR && j = i + off(d) && 0 <= j < NC}
///     data {[d, i] -> [NR * d + i]}
///     values {[p] : 0 <= p < ND * NR}
///     function off : {[d] : 0 <= d < ND} -> {[k] : 0 - NR < k < NC} increasing
/// ".parse()?;
/// assert_eq!(diagonals.name(), "dia");
/// assert_eq!(diagonals.to_string().parse::<Descriptor>()?, diagonals);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    name: String,
    extents: Vec<String>,
    map: Relation,
    data: Relation,
    values: Set,
    clauses: Clauses,
    declarations: Declarations,
}

impl Descriptor {
    /// A descriptor of parts that are known to be complete, without a check.
    ///
    /// `data` relates the tuples that `map` relates to coordinates to one element
    /// each, which is in `values`; `extents` has a name for each coordinate.
    pub fn composed(
        name: impl Into<String>,
        extents: Vec<String>,
        map: Relation,
        data: Relation,
        values: Set,
        declarations: Declarations,
    ) -> Self {
        Self {
            name: name.into(),
            extents,
            map,
            data,
            values,
            clauses: Clauses::default(),
            declarations,
        }
    }

    /// The name of the format.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The symbolic constants that are the extents of the modes.
    pub fn extents(&self) -> &[String] {
        &self.extents
    }

    /// The number of modes.
    pub fn order(&self) -> usize {
        self.extents.len()
    }

    /// From the sparse space to coordinates.
    pub fn map(&self) -> &Relation {
        &self.map
    }

    /// From the sparse space to places of values.
    pub fn data(&self) -> &Relation {
        &self.data
    }

    /// The places of values.
    pub fn values(&self) -> &Set {
        &self.values
    }

    /// What the format says of its values and keys beside the relations.
    ///
    /// ```
    /// use sparsec_relation::Descriptor;
    /// let list: Descriptor = "
    ///     format list
    ///     extents N
    ///     map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
    ///     data {[n] -> [n]}
    ///     values {[n] : 0 <= n < NZ}
    ///     unique
    ///     fill 1.5
    ///     function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
    /// ".parse()?;
    /// assert!(list.clauses().is_unique && list.clauses().fill.is_some());
    /// assert_eq!(list.to_string().parse::<Descriptor>()?, list);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn clauses(&self) -> &Clauses {
        &self.clauses
    }

    /// The same with other clauses.
    #[must_use]
    pub fn with(self, clauses: Clauses) -> Self {
        Self { clauses, ..self }
    }

    /// The declarations of functions and constants.
    pub fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// The symbolic constants that are no extents.
    ///
    /// ```
    /// use sparsec_relation::Descriptor;
    /// let list: Descriptor = "
    ///     format list
    ///     extents N
    ///     map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
    ///     data {[n] -> [n]}
    ///     values {[n] : 0 <= n < NZ}
    ///     function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
    /// ".parse()?;
    /// assert!(list.constants().iter().eq(["NZ"]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn constants(&self) -> BTreeSet<String> {
        struct Names(RefCell<BTreeSet<String>>);
        impl Rewrite for Names {
            fn variable(&self, variable: Variable) -> Expression {
                Expression::Variable(variable)
            }
            fn constant(&self, name: &str) -> Expression {
                self.0.borrow_mut().insert(name.to_owned());
                Expression::Constant(name.to_owned())
            }
        }
        let names = Names(RefCell::default());
        // Nothing is renamed, so nothing can go wrong.
        let _ = self.map.rewritten(&names);
        let _ = self.data.rewritten(&names);
        let _ = self.values.rewritten(&names);
        let _ = self.declarations.rewritten(&names);
        let mut names = names.0.into_inner();
        names.retain(|name| !self.extents.contains(name) && !Parser::is_key(name));
        names
    }
}

impl Descriptor {
    /// The map, the places and the values as [`Relation::to_isl`] prints them. ISL has no syntax
    /// for declarations of functions.
    pub fn to_isl(&self) -> String {
        let (map, data) = (self.map.to_isl(), self.data.to_isl());
        format!(
            "map    {map}\ndata   {data}\nvalues {}\n",
            self.values.to_isl()
        )
    }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "format {}", self.name)?;
        writeln!(
            f,
            "{}",
            format!("extents {}", self.extents.join(", ")).trim_end()
        )?;
        writeln!(f, "map {}", self.map)?;
        writeln!(f, "data {}", self.data)?;
        writeln!(f, "values {}", self.values)?;
        self.write_clauses(f)?;
        write!(f, "{}", self.declarations)
    }
}
