//! Iteration graphs: which loop must be inside which.
//!
//! A level of stored coordinates is walked below one position of the level
//! above it, so the loops over the variables of all outer levels come first.
//! `A(i,k)` in CSR asks for `i` before `k`, `B(k,j)` in CSR for `k` before `j`:
//!
//! ```text
//! i ──A──► k ──B──► j         the order i, k, j has every edge forward
//! ```
//!
//! Full levels are located, not walked, so they ask for nothing: a dense
//! tensor is read in any order. Nor does a level that repeats the variable of
//! an outer one, as in `A(i,i)`: it is searched where the outer one is.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017, §4.
//! We ask only for the edges that walking needs, so fewer graphs have cycles.

use std::fmt::Write;

use sparsec_format::{Format, Level};
use sparsec_index::concrete::for_each_nested;
use sparsec_index::{Access, Concrete, IndexVar};

use crate::operand::Formats;

/// One requirement: the loop over `before` is outside that over `after`.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The outer variable.
    pub before: IndexVar,
    /// The inner variable, that of a walked level.
    pub after: IndexVar,
    /// The access that asks for it.
    pub access: Access,
}

/// The variables of a statement with the edges between them.
#[derive(Clone, Debug)]
pub struct IterationGraph {
    /// Every variable with a loop, outermost first in the naive order.
    pub vars: Vec<IndexVar>,
    /// Every requirement of every access, results included.
    pub edges: Vec<Edge>,
}

/// The requirements of one access.
pub fn edges(access: &Access, format: &Format) -> Vec<Edge> {
    // Where a level of another access cannot be walked, it is searched.
    if access.plain_vars().is_none() {
        return Vec::new();
    }
    // A level that stores a number computed from modes asks for no order of their loops:
    // kernels walk it by loops over its own coordinates.
    let var = |level: &Level| access.var(level.coordinate.mode()?);
    let levels = format.levels();
    let mut edges = Vec::new();
    for (number, level) in levels.iter().enumerate() {
        if level.kind.capabilities().full {
            continue;
        }
        let Some(after) = var(level) else {
            continue;
        };
        let outer = levels[..number].iter();
        let outer = outer.filter_map(var);
        for before in outer.filter(|before| *before != after) {
            edges.push(Edge {
                before,
                after,
                access: access.clone(),
            });
        }
    }
    edges
}

impl IterationGraph {
    /// The graph of a statement. Workspaces, whose formats planning has yet to
    /// choose, ask for nothing.
    pub fn of(concrete: &Concrete, formats: &Formats) -> Self {
        let mut graph = Self {
            vars: Vec::new(),
            edges: Vec::new(),
        };
        for_each_nested(&concrete.stmt, &mut |nested| {
            for var in nested.loops {
                for var in concrete.originals(*var) {
                    if !graph.vars.contains(&var) {
                        graph.vars.push(var);
                    }
                }
            }
            let mut accesses = nested.rhs.accesses();
            accesses.push(nested.lhs);
            for access in accesses {
                let Some(format) = formats.get(access.tensor) else {
                    continue;
                };
                for edge in edges(access, format) {
                    if !graph.edges.contains(&edge) {
                        graph.edges.push(edge);
                    }
                }
            }
        });
        graph
    }

    /// The graph as text: a line for each variable with those that come after
    /// it, and which access asks.
    pub fn text(&self, concrete: &Concrete) -> String {
        let mut out = String::new();
        for var in &self.vars {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", concrete.vars[*var].name);
            for edge in self.edges.iter().filter(|edge| edge.before == *var) {
                let after = &concrete.vars[edge.after].name;
                let tensor = &concrete.tensors[edge.access.tensor].name;
                let _ = write!(out, " -{tensor}-> {after}");
            }
            out.push('\n');
        }
        out
    }
}
