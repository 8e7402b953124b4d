//! Which operands lead a loop, and which are looked up where those lead.
//!
//! A level that finds a coordinate in constant time need not be walked where
//! others say which coordinates there are:
//!
//! ```text
//! a(i) = b(i) * h(i)      b : compressed, h : hashed     b leads, h is looked up
//! a(i) = g(i) * h(i)      g : bitmap                     g leads: it is in order
//! a(i) = b(i) + h(i)                                     both lead: neither has all
//! a(i) = d(i) + h(i)      d : dense                      all coordinates, h looked up
//! ```
//!
//! Of several that could be looked up, those without an order are first, and then
//! those that have a position for every coordinate; what leads is in order where
//! it can be. Looking up finds an operand or does not, so the cases of the loop
//! are those of its leaders, each with a test inside.
//!
//! Source: Chou et al., "Format Abstraction for Sparse Tensor Algebra Compilers",
//! OOPSLA 2018, §5 (locate in place of co-iteration). The rule is ours.

use std::collections::BTreeSet;

use sparsec_format::Level;
use sparsec_index::IndexVar;
use sparsec_index::concrete::Stmt;

use crate::lattice::{Lattice, Point};
use crate::not_lowerable::NeedsOrder;
use crate::operand::Operand;
use crate::space::Scope;

/// A loop taken apart into what it walks and what it looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The lattice of the operands that are walked.
    pub lattice: Lattice,
    /// The operands that are looked up at each coordinate.
    pub located: BTreeSet<Operand>,
    /// How many sets of operands, walked or looked up, leave something to compute.
    n_points: usize,
}

impl Lead {
    /// Takes apart the loop over `var` with this lattice.
    pub fn of(scope: Scope<'_>, lattice: Lattice, var: IndexVar) -> Self {
        let mut lead = Self {
            n_points: lattice.points.len().max(1),
            lattice,
            located: BTreeSet::new(),
        };
        for operand in candidates(scope, &lead.lattice, var) {
            let without = lead.lattice.without(operand);
            let leads = |point: &Point| !point.0.is_empty();
            if without.everything || without.points.iter().all(leads) {
                lead.lattice = without;
                lead.located.insert(operand);
            }
        }
        lead
    }

    /// The operand without order that leads although the loop needs order, and
    /// why: what has none can be neither merged nor taken in stretches, and what
    /// is appended to takes its entries in order.
    pub fn out_of_order(
        &self,
        scope: Scope<'_>,
        var: IndexVar,
        body: &Stmt,
        is_stretch: bool,
    ) -> Option<(Operand, NeedsOrder)> {
        let walked = self.lattice.operands();
        let (concrete, formats) = (scope.concrete, scope.formats);
        let operand = *walked.iter().find(|it| !is_ordered(scope, **it, var))?;
        let mut appends = false;
        body.for_each_assign(&mut |lhs, _, _| {
            let format = formats.of(lhs.tensor);
            // What is looked for below one parent comes in any order there.
            let above = &format.levels()[..format.levels().len().saturating_sub(1)];
            let is_above = |level: &Level| lhs.var(level.mode()) == Some(var);
            let takes = match format.is_probed() {
                true => !above.iter().any(is_above),
                false => format.takes_any_order(),
            };
            appends |= concrete.is_result(lhs.tensor) && !takes;
        });
        let why = if walked.len() > 1 {
            NeedsOrder::Merged
        } else if is_stretch {
            NeedsOrder::Stretch
        } else if appends {
            NeedsOrder::Appended
        } else {
            return None;
        };
        Some((operand, why))
    }

    /// The loop over all coordinates: it walks ordered levels beside the variable and looks
    /// up unordered ones.
    #[must_use]
    pub fn over_everything(mut self, scope: Scope<'_>, var: IndexVar) -> Self {
        self.lattice.everything = true;
        for operand in self.lattice.operands() {
            if !is_ordered(scope, operand, var) {
                self.lattice = self.lattice.without(operand);
                self.located.insert(operand);
            }
        }
        self
    }

    /// How many cases the loop has, those of looking up included.
    pub fn n_cases(&self) -> usize {
        let mut n_found = 1usize << self.located.len().min(20);
        if !self.lattice.everything {
            n_found = n_found.min(self.n_points);
        }
        self.lattice.n_cases().saturating_mul(n_found)
    }
}

/// Whether the level of an operand that a loop walks has its coordinates in order.
fn is_ordered(scope: Scope<'_>, operand: Operand, var: IndexVar) -> bool {
    let number = scope.operands.walked_level(operand, var, scope.formats);
    let format = scope.formats.of(scope.operands.access(operand).tensor);
    number.is_none_or(|number| format.levels()[number].kind.capabilities().ordered)
}

/// The operands of a lattice that find a coordinate, those first that should
/// lead last.
fn candidates(scope: Scope<'_>, lattice: &Lattice, var: IndexVar) -> Vec<Operand> {
    let mut found = Vec::new();
    for operand in lattice.operands() {
        let number = scope.operands.walked_level(operand, var, scope.formats);
        let format = scope.formats.of(scope.operands.access(operand).tensor);
        let kind = number.map(|number| format.levels()[number].kind);
        let Some(can) = kind.map(|kind| kind.capabilities()) else {
            continue;
        };
        if can.locate {
            found.push((can.ordered, !can.random_insert, operand));
        }
    }
    found.sort();
    found.into_iter().map(|(_, _, operand)| operand).collect()
}
