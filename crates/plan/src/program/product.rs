//! Statements whose sums inside of a product are planned as one product.

use sparsec_index::{Expr, concretize};

use super::State;
use crate::contractions;
use crate::draft::Draft;
use crate::search::{Facts, Plan, Size, plan};

impl State<'_> {
    /// The right side of a statement as one product, with its plan, where that costs less than
    /// that of sums inside of the product.
    pub(super) fn as_network(
        &self,
        number: usize,
        whole: Option<&Plan>,
        facts: Facts<'_>,
    ) -> Option<(Expr, Plan)> {
        let nested = self.program.statements[number].rhs.clone();
        let flat = self.flattened(number, &nested, facts)?;
        let mut program = self.program.clone();
        program.statements[number].rhs.clone_from(&flat);
        let plan = plan(&program, number, &self.formats, Size::Small, facts).ok()?;
        if whole.is_some_and(|whole| !plan.cost().is_less_than(&whole.cost())) {
            return None;
        }
        // The schedule is one of this product alone, so that it replays.
        let ways = self.ways(number, &nested, &nested, facts);
        let replayed = ways.plan(&mut program, number, &self.formats, &plan.schedule, facts);
        let is_followed = replayed.is_ok() && program.statements[number].rhs == flat;
        is_followed.then_some((flat, plan))
    }

    /// A right side with sums inside of a product as one product, if that is a network.
    pub(super) fn flattened(&self, number: usize, rhs: &Expr, facts: Facts<'_>) -> Option<Expr> {
        let keeps_tree = facts.networks.wanted.keep_tree;
        let flat = contractions::flattened(rhs, &self.program, keeps_tree)?;
        let mut program = self.program.clone();
        program.statements[number].rhs.clone_from(&flat);
        let naive = concretize(&program, number);
        contractions::is_network(&Draft::new(naive, &self.formats, facts)).then_some(flat)
    }
}
