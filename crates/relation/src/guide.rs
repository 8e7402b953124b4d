//! A walk through the examples of the literature.
//!
//! The examples come from Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion and
//! Optimization", CGO 2023, §§2 and 3, in our notation: composition reads from left to right
//! (`a.then(&b)` is their `b ∘ a`), and a weakly monotone function is declared by an implication in
//! one direction.
//!
//! # Loop interchange
//!
//! The iterations of a loop nest are a set of tuples, run in lexicographic
//! order; a transformation is a relation from old iterations to new ones.
//! Interchange swaps the elements (§2.1):
//!
//! ```
//! use sparsec_relation::{Answer, Declarations, Relation, Set};
//! let nest: Set = "{[i, j] : 0 <= i < M && 0 <= j < N}".parse()?;
//! let interchange: Relation = "{[i, j] -> [p, q] : p = j && q = i}".parse()?;
//! let new = interchange.apply(&nest)?.simplified_under(&Declarations::new());
//! assert_eq!(new.to_string(), "{[p, q] : 0 <= q < M && 0 <= p < N}");
//!
//! // Each old iteration has one new one, and each new one came from one old.
//! let nothing = Declarations::new();
//! assert_eq!(interchange.is_function(&nothing), Answer::Yes);
//! assert_eq!(interchange.inverse().is_function(&nothing), Answer::Yes);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # Loop coalescing
//!
//! Any injective function of two loop variables coalesces the loops. Its inverse recovers the old
//! variables:
//!
//! ```
//! use sparsec_relation::{Declarations, Relation};
//! let known: Declarations =
//!     "function c : {[i, j] : 0 <= i < M && 0 <= j < N} -> {[k] : 0 <= k} injective".parse()?;
//! let coalesce: Relation = "{[i, j] -> [k] : k = c(i, j) && 0 <= i < M && 0 <= j < N}".parse()?;
//! assert_eq!(
//!     coalesce.inverse().solved(&known)?.to_string(),
//!     "{[k] -> [i, j] : i = c.inverse.0(k) && j = c.inverse.1(k)}",
//! );
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # A sparse loop nest
//!
//! Bounds of loops over compressed rows are index arrays, which the constraints
//! call as functions (§2.1). With the arrays at hand the set can be listed:
//!
//! ```
//! use sparsec_relation::{Environment, Set};
//! let csr: Set = "{[i, k, j] : 0 <= i < N && rowptr(i) <= k < rowptr(i + 1) && j = col(k)}"
//!     .parse()?;
//! let arrays = Environment::new()
//!     .constant("N", 3)
//!     .table("rowptr", vec![0, 1, 1, 3])
//!     .table("col", vec![2, 0, 1]);
//! let entries = csr.enumerate(&arrays, 0..4)?;
//! assert!(entries.into_iter().eq([vec![0, 0, 2], vec![2, 1, 0], vec![2, 2, 1]]));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # What is known of index arrays
//!
//! A descriptor says where its functions have values and in what order (§3.1,
//! Table 1). From that follows that no entry of CSR is met twice: two rows
//! that claim one position contradict the order of `rowptr`.
//!
//! ```
//! use sparsec_relation::{Answer, Declarations, Relation};
//! let csr: Declarations = "
//!     function rowptr : {[i] : 0 <= i <= NR} -> {[q] : 0 <= q <= NNZ} nondecreasing
//!     function col : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
//!     forall i, k1, k2 : rowptr(i) <= k1 < k2 < rowptr(i + 1) => col(k1) < col(k2)
//! ".parse()?;
//! let row_of: Relation = "{[k] -> [i] : rowptr(i) <= k < rowptr(i + 1)}".parse()?;
//! assert_eq!(row_of.is_function(&csr), Answer::Yes);
//! assert_eq!(row_of.is_function(&Declarations::new()), Answer::Unknown);
//!
//! // Nor are two entries of one row at one column.
//! let position_of: Relation =
//!     "{[i, j] -> [k] : rowptr(i) <= k < rowptr(i + 1) && col(k) = j}".parse()?;
//! assert_eq!(position_of.is_function(&csr), Answer::Yes);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # From COO to Morton-ordered COO
//!
//! A conversion composes the map of the source to coordinates with the inverse
//! of the destination's (§3.2). In the inverse a permutation `P` is introduced,
//! whose values are tuples, so that coordinates determine the position:
//!
//! ```
//! use sparsec_relation::{Declarations, Relation};
//! let coo: Relation = "{[n, ii, jj] -> [i, j] : row1(n) = i && col1(n) = j && ii = i && jj = j
//!     && 0 <= i < NR && 0 <= j < NC && 0 <= n < NNZ}".parse()?;
//! let mcoo: Relation = "{[n, ii, jj] -> [i, j] : rowm(n) = i && colm(n) = j && ii = i && jj = j
//!     && P(i, j) = [n, ii, jj]}".parse()?;
//! let known: Declarations = "
//!     function row1 : {[n] : 0 <= n < NNZ} -> {[i] : 0 <= i < NR}
//!     function col1 : {[n] : 0 <= n < NNZ} -> {[j] : 0 <= j < NC}
//!     forall n1, n2 : n1 < n2 <=> MORTON(rowm(n1), colm(n1)) < MORTON(rowm(n2), colm(n2))
//! ".parse()?;
//! let convert = coo.then(&mcoo.inverse())?.simplified_under(&known);
//! assert_eq!(
//!     convert.to_string(),
//!     "{[n, ii, jj] -> [n_1, ii_1, jj_1] : ii = row1(n) && jj = col1(n) \
//!      && rowm(n_1) = row1(n) && colm(n_1) = col1(n) && ii_1 = row1(n) && jj_1 = col1(n) \
//!      && P.0(row1(n), col1(n)) = n_1 && P.1(row1(n), col1(n)) = ii_1 \
//!      && P.2(row1(n), col1(n)) = jj_1}",
//! );
//!
//! // Solved for the second tuple: where each stored entry goes.
//! assert_eq!(
//!     convert.solved(&known)?.to_string(),
//!     "{[n, ii, jj] -> [n_1, ii_1, jj_1] : n_1 = P.0(row1(n), col1(n)) \
//!      && ii_1 = row1(n) && jj_1 = col1(n)}",
//! );
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! `P` is what remains unknown: the order that the last declaration asks for
//! determines it.
