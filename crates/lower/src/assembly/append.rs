//! Appending: entries come one parent after the other, and are counted on the way.
//!
//! Where loops may skip parents, the ends that they did not store are filled in afterwards with
//! a running maximum.

use std::rc::Rc;

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{BinaryOp, Builder, Expr};

use super::chain::{Chain, Chains, Kept};
use super::target::Target;

impl<'k> Chains<'k> {
    /// Begins to append: counters and the first segment bounds. `skips` says of the first level
    /// of a chain whether loops may pass over a parent of it.
    pub(crate) fn append(
        b: &mut Builder,
        target: Rc<Target<'k>>,
        skips: impl Fn(usize) -> bool,
    ) -> Self {
        let zero = || Expr::int(0);
        let mut it = Self {
            chains: Chain::all_of(target.format),
            target,
            known: None,
        };
        for number in 0..it.chains.len() {
            it.chains[number].counter = Some(it.new_counter(b, number, zero()));
            it.chains[number].table = it.begin_tables(b, number);
            let first = it.chains[number].first;
            it.chains[number].skips = skips(first);
            let pos = it.target.pos(first);
            if number > 0 {
                b.grow(pos, 1);
                b.store(pos, zero(), zero());
                continue;
            }
            let len = it.parents(0).add(1);
            b.resize(pos, len.clone());
            match it.chains[number].skips {
                true => b.fill(pos, zero()..len, zero()),
                false => b.store(pos, zero(), zero()),
            }
        }
        it
    }
}

impl Chains<'_> {
    /// Makes room for as many entries of a chain as a loop visits coordinates, so that
    /// appending needs no test.
    pub(crate) fn reserve(&self, b: &mut Builder, number: usize, visited: Expr) {
        if self.known.is_some() {
            return;
        }
        let chain = &self.chains[number];
        let len = Expr::Var(chain.counter()).add(visited);
        let is_leaf = chain.below.is_empty() && number + 1 == self.chains.len();
        let crds = (chain.first..=chain.last).map(|level| self.target.crd(level));
        for buffer in crds.chain(is_leaf.then_some(self.target.vals())) {
            b.grow(buffer, len.clone());
        }
    }

    /// Begins an entry that is appended: what its children are counted from, or the block of
    /// values that it has.
    pub(super) fn begin_appended(&mut self, b: &mut Builder, number: usize) -> Kept {
        let (target, chain) = (self.target.clone(), &self.chains[number]);
        let here = Expr::Var(chain.counter());
        let next = here.clone().add(1);
        if let Some(child) = self.chains.get(number + 1) {
            let start = self.called("p", child.last, "_start");
            let start = b.let_(&start, child.counter());
            let pos = target.pos(child.first);
            let len = target.product(chain.below.clone(), next).add(1);
            b.grow(pos, len.clone());
            if child.skips {
                let lo = target.product(chain.below.clone(), here).add(1);
                b.fill(pos, lo..len, 0);
            }
            return Kept::Above(start);
        }
        if chain.below.is_empty() {
            return Kept::Itself;
        }
        let flag = self.called("", chain.last, "_stored");
        let stored = b.var_(&flag, Expr::Const(Scalar::Bool(false)));
        let lo = target.product(chain.below.clone(), here);
        let hi = target.product(chain.below.clone(), next);
        b.grow(target.vals(), hi.clone());
        b.fill(target.vals(), lo..hi, target.fill);
        self.chains[number].stored = Some(stored);
        Kept::If(stored)
    }

    /// What comes after all loops: the bounds still missing, and the lengths.
    pub(crate) fn end(&self, b: &mut Builder) {
        if self.known.is_some() {
            return;
        }
        let target = &self.target;
        for (number, chain) in self.chains.iter().enumerate() {
            let pos = target.pos(chain.first);
            let parents = self.parents(number);
            if chain.first == 0 {
                target.check_width(b, chain.counter());
                b.store(pos, 1, chain.counter());
            }
            if number > 0 {
                b.resize(pos, parents.clone().add(1));
            }
            if chain.skips {
                let p = b.fixed("p", ElementType::I64);
                b.for_loop(p, 0, parents.clone(), |b| {
                    let so_far = Expr::load(pos, p);
                    let next = Expr::Var(p).add(1);
                    b.store_reduce(pos, next, so_far, Some(BinaryOp::Max));
                });
            }
            target.end_rooms(b, parents, chain.first);
            for level in chain.first..=chain.last {
                b.resize(target.crd(level), chain.counter());
            }
        }
        let last = self.chains.last().expect("a sparse result has a chain");
        let len = target.product(last.below.clone(), Expr::Var(last.counter()));
        b.resize(target.vals(), len);
    }
}
