//! The nests of loops of a draft, and their orders.

use sparsec_base::Result;
use sparsec_index::IndexVar;
use sparsec_index::concrete::Stmt;
use sparsec_schedule::Command;

use super::Draft;

impl Draft<'_> {
    /// Puts the loops of every nest in the order in which `order` has them.
    pub(crate) fn reorder(&mut self, order: &[IndexVar]) -> Result<()> {
        for nest in nests(&self.concrete.stmt) {
            let mut wanted = nest.clone();
            wanted.sort_by_key(|var| order.iter().position(|known| known == var));
            self.reorder_nest(&nest, &wanted)?;
        }
        Ok(())
    }

    /// Puts the loops of one nest in this order.
    pub(crate) fn reorder_nest(&mut self, nest: &[IndexVar], order: &[IndexVar]) -> Result<()> {
        if nest == order {
            return Ok(());
        }
        let names: Vec<&str> = order.iter().map(|var| self.name(*var)).collect();
        self.command(Command::reorder(&names))
    }
}

/// Every group of loops directly inside one another.
pub(crate) fn nests(stmt: &Stmt) -> Vec<Vec<IndexVar>> {
    let (loops, inner) = stmt.nest();
    let mut found = vec![loops];
    match inner {
        Stmt::Where { consumer, producer } => {
            found.extend(nests(consumer));
            found.extend(nests(producer));
        }
        Stmt::Sequence(stmts) => found.extend(stmts.iter().flat_map(nests)),
        Stmt::Assign { .. } | Stmt::Forall { .. } => {}
    }
    found
}
