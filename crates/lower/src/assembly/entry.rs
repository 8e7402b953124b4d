//! Entries of chains: begun, stored, kept.
//!
//! ```text
//! begin      what tells later whether it is kept      p = counter of its children
//! store      values, and coordinates in between       C.vals[p] = …
//! end        kept if a child was: coordinates         if p < … { C0.crd[…] = i; … }
//! ```

use sparsec_base::Scalar;
use sparsec_loop::{Builder, Expr};

use super::chain::{Chains, Kept};
use crate::value::Update;

impl Chains<'_> {
    /// Begins an entry of a chain.
    pub(crate) fn begin_entry(&mut self, b: &mut Builder, number: usize) -> Kept {
        match self.known {
            None => self.begin_appended(b, number),
            Some(_) => self.begin_inserted(b, number),
        }
    }

    /// Keeps an entry whose children were written, if any were. `coordinate` is that of a
    /// level, here.
    pub(crate) fn end_entry(
        &self,
        b: &mut Builder,
        number: usize,
        kept: Kept,
        coordinate: impl Fn(usize) -> Expr,
    ) {
        let child = self.chains.get(number + 1);
        let condition = match kept {
            Kept::Itself => return,
            Kept::If(stored) => Expr::Var(stored),
            Kept::Above(start) => {
                let child = child.expect("children are counted in a chain");
                Expr::Var(start).less(child.counter())
            }
        };
        let chain = &self.chains[number];
        b.if_then(condition, |b| {
            if child.is_some() && chain.below.is_empty() {
                self.close_segment(b, number + 1, Expr::Var(chain.counter()));
            }
            self.add(b, number, coordinate);
        });
    }

    /// Adds an entry to a chain, as a child of one of the chain outside: its coordinates, unless it
    /// is only counted. The loop over the chain's last level has made room.
    fn add(&self, b: &mut Builder, number: usize, coordinate: impl Fn(usize) -> Expr) {
        let chain = &self.chains[number];
        let next = Expr::Var(chain.counter()).add(1);
        if !self.is_counted(number) {
            for level in chain.first..=chain.last {
                let crd = self.target.crd(level);
                b.store(crd, chain.counter(), coordinate(level));
            }
        }
        b.assign(chain.counter(), next);
        let outer = number.checked_sub(1).map(|outer| &self.chains[outer]);
        if let Some(stored) = outer.and_then(|outer| outer.stored) {
            b.assign(stored, Expr::Const(Scalar::Bool(true)));
        }
    }

    /// Stores a value at `position`, and adds its coordinate where the last level is added to.
    pub(crate) fn store(
        &self,
        b: &mut Builder,
        position: Expr,
        update: Update<'_>,
        coordinate: impl Fn(usize) -> Expr,
    ) {
        let number = self.chains.len() - 1;
        let chain = &self.chains[number];
        let vals = self.target.vals();
        let is_computed = !self.counts();
        if let Some(table) = chain.table {
            let coordinate = coordinate(chain.last);
            return self.probe(b, table, coordinate, update);
        }
        if let Some(stored) = chain.stored {
            if is_computed {
                // The row was filled with what the operator begins with.
                update.store(b, vals, position);
            }
            return b.assign(stored, Expr::Const(Scalar::Bool(true)));
        }
        if is_computed {
            let value = update.first(b, vals);
            b.store(vals, chain.counter(), value);
        }
        self.add(b, number, coordinate);
    }
}
