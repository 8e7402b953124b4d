//! A walk through the examples of the literature.
//!
//! The examples are those of Popoola et al., "Code Synthesis for Sparse Tensor
//! Format Conversion and Optimization", CGO 2023, §§2.1 and 3.3.
//!
//! # Loop interchange
//!
//! A loop nest is one statement, the points at which it runs, and their order.
//! Another order of loops is another schedule; that no dependence is turned
//! round is proved (§2.1):
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_computation::{Computation, Script};
//! let nest: Computation = "computation nest {
//!   parameters M, N
//!   out y : f64[M, N]
//!   s0: y(i, j) = f64(i) + f64(j)
//!     over {[i, j] : 0 <= i < M && 0 <= j < N}
//!     at [i, j]
//! }".parse()?;
//! let script = Source::new("script", "interchange(s0, 0, 1)");
//! let turned = Script::replay(&script, &nest)?;
//! assert_eq!(
//!     turned.statements[0].to_string(),
//!     "  s0: y(i, j) = f64(i) + f64(j)
//!     over {[i, j] : 0 <= i < M && 0 <= j < N}
//!     at [j, i]",
//! );
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # The coordinates of a matrix in compressed rows
//!
//! Index arrays bound loops, and are data that the statement reads (§2.1). What
//! the paper's example prints goes to two arrays here:
//!
//! ```
//! use std::collections::BTreeMap;
//! use sparsec_base::Scalar;
//! use sparsec_computation::{Computation, Given};
//! let coordinates: Computation = "computation coordinates {
//!   parameters N, M, NZ
//!   function rowptr : {[i] : 0 <= i <= N} -> {[k] : 0 <= k <= NZ} nondecreasing
//!   given rowptr : i32[N + 1], col : i32[NZ]
//!   out rows : i32[NZ], cols : i32[NZ]
//!   s0: rows(k) = i
//!     over {[i, k] : 0 <= i < N && rowptr(i) <= k < rowptr(i + 1)}
//!   s1: cols(k) = j
//!     over {[i, k, j] : 0 <= i < N && rowptr(i) <= k < rowptr(i + 1) && j = col(k)}
//! }".parse()?;
//! let integers = |values: &[i32]| values.iter().map(|v| Scalar::I32(*v)).collect::<Vec<_>>();
//! let given = Given {
//!     parameters: [("N", 3), ("M", 3), ("NZ", 3)].map(|(n, v)| (n.to_owned(), v)).into(),
//!     data: BTreeMap::from([
//!         ("rowptr".to_owned(), integers(&[0, 1, 1, 3])),
//!         ("col".to_owned(), integers(&[2, 0, 1])),
//!     ]),
//! };
//! let found = coordinates.evaluate(&given, 0..4)?;
//! assert_eq!(found["rows"], integers(&[0, 2, 2]));
//! assert_eq!(found["cols"], integers(&[2, 0, 1]));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! # An inspector and its optimisation
//!
//! What synthesis writes for COO to CSR has statements that find the same
//! coordinates twice, and a permutation that sorted entries do not need. The
//! pipeline removes both, and brings together what reads the same row (§3.3):
//!
//! ```
//! use sparsec_computation::Computation;
//! let inspector: Computation = "computation coo_to_csr {
//!   parameters N, M, NZ
//!   function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N} nondecreasing
//!   function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < M}
//!   given row : i32[NZ], col : i32[NZ], A : f64[NZ]
//!   temporary P : i64[N, M]
//!   out pos : i64[N + 1], len : i64[N], crd : i64[NZ], B : f64[NZ]
//!   s0: P(row(n), col(n)) = n       over {[n] : 0 <= n < NZ}
//!   s1: crd(n) = col(n)             over {[n] : 0 <= n < NZ}
//!   s2: crd(n) = j                  over {[n, j] : 0 <= n < NZ && j = col(n)}
//!   s3: pos(row(n) + 1) max= n + 1  over {[n] : 0 <= n < NZ}
//!   s4: len(row(n)) += 1            over {[n] : 0 <= n < NZ}
//!   s5: pos(i + 1) max= pos(i)      over {[i] : 0 <= i < N}
//!   s6: B(n) = A(n)                 over {[n] : 0 <= n < NZ}
//! }".parse()?;
//! let (script, optimised) = inspector.optimised()?;
//! assert_eq!(script.to_string(), "remove(s0)\nremove(s1)\nfuse(s3, s4, 2)\n");
//! assert!(optimised.space("P").is_none());
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! `s5` stays behind `s3`: it reads entries of `pos` that `s3` writes, and where
//! in the loop over `n` a row ends is not known from the sets.
