//! The conversions that the bench measures: pairs of formats on matrices, chosen by the names that the
//! caller gives.
//!
//! ```text
//! csr:csc              a pair, on all matrices        scattered        a matrix, all usual pairs
//! csr:csc/scattered    one row                        all/scattered    a matrix, all pairs
//! ```

use sparsec::Session;

use super::matrix::{GENERATED, Matrix, Scale};
use crate::data::Given;

/// What is converted: source, destination. `B` is the side of blocks of the matrix.
const PAIRS: [(&str, &str); 13] = [
    ("scoo", "csr"),
    ("coo", "csr"),
    ("scoo", "csc"),
    ("csr", "csc"),
    ("csc", "csr"),
    ("csr", "scoo"),
    ("csr", "dcsr"),
    ("csr", "ell"),
    ("scoo", "dia"),
    ("csr", "dia"),
    ("scoo", "bsr(B, B)"),
    ("csr", "bsr(B, B)"),
    ("scoo", "mcoo"),
];

/// All ordered pairs of these are measured when `all` is asked for: matrices, and other tensors.
const FORMATS: [&str; 16] = [
    "coo",
    "scoo",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "bsr(B, B)",
    "dia",
    "ell",
    "hyb(5)",
    "msr",
    "csb(128)",
    "hicoo(128)",
    "mcoo",
    "alto",
    "hash",
];
const FORMATS_OF_TENSORS: [&str; 7] = [
    "coo",
    "scoo",
    "csf",
    "(i, j, k) -> (k : compressed, i : compressed, j : compressed)",
    "hicoo(128)",
    "mcoo",
    "alto",
];

/// How rows are measured: the session, sizes, rounds and threads, and the names of rows.
pub(crate) struct Setting<'a> {
    pub(crate) session: &'a Session,
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
    pub(crate) threads: usize,
    pub(crate) bandwidth_bytes: usize,
    /// Files in place of generated matrices.
    pub(crate) given: &'a [Given],
    /// Matrices, pairs `from:to` and rows `from:to/matrix` to measure; all if empty.
    pub(crate) only: Vec<&'a str>,
}

impl Setting<'_> {
    /// Whether all pairs are measured on a matrix.
    fn wants_all(&self, matrix: &str) -> bool {
        self.only.contains(&"all") || self.only.contains(&&*format!("all/{matrix}"))
    }

    /// The pairs that are measured on a matrix.
    pub(super) fn pairs(&self, matrix: &Matrix) -> Vec<(&'static str, &'static str)> {
        let is_matrix = matrix.sorted.order() == 2;
        let is_usual = |pair: &(&str, &str)| {
            let is_of_matrices = pair.1 != "mcoo";
            PAIRS.contains(pair) && is_of_matrices == is_matrix
        };
        let is_named = |(from, to): &(&str, &str)| {
            let pair = format!("{from}:{to}");
            let names = [format!("{pair}/{}", matrix.name), pair];
            names.iter().any(|name| self.only.contains(&name.as_str()))
        };
        let wants_all = self.wants_all(&matrix.name);
        let all: &[&str] = match is_matrix {
            true => &FORMATS,
            false => &FORMATS_OF_TENSORS,
        };
        let pairs = all
            .iter()
            .flat_map(|from| all.iter().map(|to| (*from, *to)));
        let pairs = pairs.filter(|(from, to)| from != to);
        pairs
            .filter(|pair| wants_all || is_usual(pair) || is_named(pair))
            .collect()
    }

    /// The caller's names that select a row; none if it is not wanted.
    pub(super) fn names_of(&self, from: &str, to: &str, matrix: &str) -> Vec<&str> {
        let pair = format!("{from}:{to}");
        let of_all = ["all".to_owned(), format!("all/{matrix}")];
        let of_row = [matrix.to_owned(), format!("{pair}/{matrix}"), pair];
        let names: Vec<String> = of_all.into_iter().chain(of_row).collect();
        let only = self.only.iter().copied();
        only.filter(|asked| names.iter().any(|name| name == asked))
            .collect()
    }

    /// Whether a matrix is measured at all.
    pub(super) fn uses(&self, matrix: &str) -> bool {
        let of_other = |name: &&str| {
            let is_matrix = GENERATED.contains(name);
            let ends = name.rsplit_once('/');
            (is_matrix && *name != matrix) || ends.is_some_and(|(_, end)| end != matrix)
        };
        self.only.is_empty() || !self.only.iter().all(of_other)
    }
}
