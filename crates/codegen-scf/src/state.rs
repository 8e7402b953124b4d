//! The values that variables and arrays have at a place, and those that a block changes.
//!
//! MLIR has values and no variables: a statement that assigns a variable makes a new value, and
//! this module knows which is the one to read. Arrays that grow move, so the array of a buffer and
//! the length of a result are variables too.
//!
//! ```text
//! if c { t = 1.0 }        %t_1 = scf.if %c -> (f64) { scf.yield %cst } else { scf.yield %t }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use sparsec_loop::walk::for_each_stmt;
use sparsec_loop::{Block, Buffer, Stmt, Var};

use crate::writer::Value;

/// Something that has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// A variable.
    Var(Var),
    /// The array of a buffer.
    Array(Buffer),
    /// The length of the array that a result ends up with.
    Len(Buffer),
}

/// Values by what has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(BTreeMap<Slot, Value>);

impl State {
    pub(crate) fn get(&self, slot: Slot) -> &Value {
        &self.0[&slot]
    }

    pub(crate) fn set(&mut self, slot: Slot, value: Value) {
        self.0.insert(slot, value);
    }

    /// Everything from here that blocks change, in one order.
    pub(crate) fn changed_by(&self, blocks: &[&Block]) -> Vec<Slot> {
        let mut changed = BTreeSet::new();
        for block in blocks {
            for_each_stmt(block, &mut |stmt| match stmt {
                Stmt::Assign { var, .. } => _ = changed.insert(Slot::Var(*var)),
                Stmt::Grow { buffer, .. } => _ = changed.insert(Slot::Array(*buffer)),
                Stmt::Resize { buffer, .. } => {
                    changed.extend([Slot::Array(*buffer), Slot::Len(*buffer)]);
                }
                _ => {}
            });
        }
        changed.retain(|slot| self.0.contains_key(slot));
        changed.into_iter().collect()
    }
}
