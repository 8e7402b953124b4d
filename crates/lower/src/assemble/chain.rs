//! Chains: the levels of a sparse result that share their positions.

use sparsec_index::{Access, IndexVar};
use sparsec_loop::{Expr, Var};

use super::probe::Table;
use crate::statement::Lowerer;

/// Levels that share their positions.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The level with the `pos` array.
    pub(super) first: usize,
    /// The last level with a `crd` array.
    pub(super) last: usize,
    /// The full levels below, up to the next chain.
    pub(super) below: std::ops::Range<usize>,
    /// The position that the next entry gets; where entries are inserted, once a
    /// segment is begun.
    pub(super) counter: Option<Var>,
    /// Whether loops may skip parents, so that their ends are filled in.
    pub(super) skips: bool,
    /// Where the values of an entry are a block, or children of it are inserted:
    /// whether any was stored.
    pub(super) stored: Option<Var>,
    /// How many entries all segments have, once they are counted.
    pub(super) count: Option<Var>,
    /// Where entries are looked for, the table of the parent that they have.
    pub(super) table: Option<Table>,
}

impl Chain {
    /// The position that the next entry gets.
    pub(super) fn counter(&self) -> Var {
        self.counter.expect("entries are counted within a segment")
    }
}

impl Lowerer<'_> {
    /// The chains of the result, the outermost first.
    pub(super) fn chains_of(&mut self, access: &Access) -> Vec<Chain> {
        let format = self.formats.of(access.tensor);
        let levels = format.levels();
        let mut chains = Vec::new();
        let mut at = 0;
        while at < levels.len() {
            if levels[at].kind.capabilities().full {
                at += 1;
                continue;
            }
            let last = format.chain_end(at);
            let end = (last + 1..levels.len())
                .find(|level| !levels[*level].kind.capabilities().full)
                .unwrap_or(levels.len());
            chains.push(Chain {
                first: at,
                last,
                below: last + 1..end,
                counter: None,
                skips: self.may_skip(access, at),
                stored: None,
                count: None,
                table: None,
            });
            at = end;
        }
        chains
    }

    /// Whether some parent position of the chain that begins at `first` may
    /// be passed over: a loop over a full level between it and the chain
    /// before does not visit everything, or is inside a case that may not run.
    fn may_skip(&self, access: &Access, first: usize) -> bool {
        let levels = self.formats.of(access.tensor).levels();
        let begin = levels[..first]
            .iter()
            .rposition(|level| !level.kind.capabilities().full)
            .map_or(0, |walked| walked + 1);
        let inner = access.var(levels[first].mode());
        if begin < first && self.searches_around(&self.concrete.stmt, inner) {
            return true;
        }
        // In some cases of a loop outside, fewer operands are left, and the
        // loops inside may visit less.
        let has_cases = |level: usize| {
            let var = access.var(levels[level].mode());
            let lattice = var.and_then(|var| self.result_lattice(var));
            lattice.is_none_or(|lattice| lattice.points.len() > 1)
        };
        if begin < first && (0..begin).any(has_cases) {
            return true;
        }
        (begin..first).any(|level| {
            let Some(var) = access.var(levels[level].mode()) else {
                return true;
            };
            let Some(lattice) = self.result_lattice(var) else {
                return true;
            };
            let innermost = level + 1 == first;
            let passes_over = |var: IndexVar| {
                let lattice = self.result_lattice(var);
                lattice.is_some_and(|it| !it.everything || !it.operands().is_empty())
            };
            !lattice.everything
                || (!innermost && !lattice.operands().is_empty())
                || self.concrete.made_of(var).into_iter().any(passes_over)
        })
    }

    /// The lattice of the loop over `var` around the result's assignment.
    pub(crate) fn result_lattice(&self, var: IndexVar) -> Option<sparsec_graph::Lattice> {
        let body = self.result_loop(var)?;
        Some(sparsec_graph::Lattice::of(&sparsec_graph::space(
            self.scope(),
            body,
            var,
        )))
    }

    /// How many parent positions a chain has, when all its entries are there.
    pub(super) fn parents(&self, access: &Access, chains: &[Chain], number: usize) -> Expr {
        match number.checked_sub(1) {
            None => self.product(access, 0..chains[0].first, Expr::int(1)),
            Some(outer) => {
                let outer = &chains[outer];
                let count = outer.count.unwrap_or_else(|| outer.counter());
                self.product(access, outer.below.clone(), Expr::Var(count))
            }
        }
    }

    /// `times` multiplied by the extents of some levels of the result.
    pub(crate) fn product(
        &self,
        access: &Access,
        levels: std::ops::Range<usize>,
        times: Expr,
    ) -> Expr {
        let format = self.formats.of(access.tensor);
        levels.fold(times, |product, level| {
            let extent = self.mode_extent(access, format.levels()[level].mode());
            if product == Expr::int(1) {
                extent
            } else {
                product.mul(extent)
            }
        })
    }
}
