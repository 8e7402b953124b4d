//! Inserting: entries are counted before there is room for them.
//!
//! ```text
//! C(i,j) = A(i,j) + B(i,j)      A, B, C : csr      assemble(C, Insert)
//!
//! for i in 0..n { count what row i stores      → C1.pos[i + 1] }
//! sum up                                         C1.pos[i + 1] += C1.pos[i]
//! for i in 0..n { p = C1.pos[i]
//!                 compute row i again          → C1.crd[p], C.vals[p]; p += 1 }
//! ```
//!
//! The loops are written once more for each [chain](super::chain): in pass `k`,
//! chains before the `k`-th have their segments and get their coordinates, the
//! entries of the `k`-th are counted, and those below count only as children. The
//! last pass stores values too. As every segment has its place, parents may be
//! visited in any order, or at once.
//!
//! Counting needs no values, so what only they need is taken out of its loops.
//!
//! Between two chains there must be no full level: which of its positions are
//! kept would be known too late.
//!
//! Source: Kjolstad et al., OOPSLA 2017, §5.2 (assembly apart from computing);
//! the passes are those of Chou et al., PLDI 2020, §5, over chains.

use std::collections::HashSet;
use std::rc::Rc;

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{Block, Buffer, Builder, Expr, Stmt, walk};

use super::chain::{Chain, Chains, Kept};
use super::target::Target;

impl<'k> Chains<'k> {
    /// Entries are going to be counted, and then inserted.
    pub(crate) fn insert(target: Rc<Target<'k>>) -> Self {
        Self {
            chains: Chain::all_of(target.format),
            target,
            known: Some(0),
        }
    }

    /// All passes but the last, where entries are inserted: counts the entries of each chain
    /// and makes room for them. `write` writes the loops as these chains ask for them;
    /// `values` are arrays that nothing reads but what computes values.
    pub(crate) fn count(
        &mut self,
        b: &mut Builder,
        values: &HashSet<Buffer>,
        write: impl Fn(&mut Builder, &Self),
    ) {
        if self.known.is_none() {
            return;
        }
        for number in 0..self.chains.len() {
            let first = self.chains[number].first;
            let (pos, parents) = (self.target.pos(first), self.parents(number));
            let len = parents.clone().add(1);
            b.resize(pos, len.clone());
            b.fill(pos, Expr::int(0)..len, 0);
            self.begin_root(b);
            let mut counting = b.block(|b| write(b, self));
            without_stores(&mut counting, values);
            b.extend(counting);
            match first {
                0 => self.close_segment(b, number, Expr::int(0)),
                _ => self.sum_up(b, pos, parents.clone()),
            }
            self.make_room(b, number, Expr::load(pos, parents.clone()));
            self.target.end_rooms(b, parents, first);
        }
        self.begin_root(b);
    }
}

impl Chains<'_> {
    /// Begins the segment of a chain that has no level above it.
    fn begin_root(&mut self, b: &mut Builder) {
        if self.chains[0].first == 0 {
            self.begin_segment(b, 0, Expr::int(0));
        }
    }

    /// Makes the ends of segments of their lengths.
    fn sum_up(&self, b: &mut Builder, pos: Buffer, parents: Expr) {
        let end = b.var_(&format!("p{}_end", self.target.name), 0);
        let p = b.fixed("p", ElementType::I64);
        b.for_loop(p, 0, parents, |b| {
            let next = Expr::Var(p).add(1);
            let so_far = Expr::Var(end).add(Expr::load(pos, next.clone()));
            b.assign(end, so_far);
            self.target.check_width(b, end);
            b.store(pos, next, end);
        });
    }

    /// Makes room for all entries of a chain, of which there are `count`.
    fn make_room(&mut self, b: &mut Builder, number: usize, count: Expr) {
        let (target, chain) = (&self.target, &self.chains[number]);
        let count = b.let_(&self.called("n", chain.last, ""), count);
        for level in chain.first..=chain.last {
            b.resize(target.crd(level), count);
        }
        if number + 1 == self.chains.len() {
            let len = target.product(chain.below.clone(), Expr::Var(count));
            b.resize(target.vals(), len.clone());
            if !chain.below.is_empty() {
                b.fill(target.vals(), Expr::int(0)..len, target.fill);
            }
        }
        self.chains[number].count = Some(count);
        self.known = Some(number + 1);
    }

    /// Begins the segment of a chain below `position`: where entries are
    /// inserted, its counter is its own.
    pub(crate) fn begin_segment(&mut self, b: &mut Builder, number: usize, position: Expr) {
        let Some(known) = self.known else {
            return;
        };
        let begin = match number < known {
            true => Expr::load(self.target.pos(self.chains[number].first), position),
            false => Expr::int(0),
        };
        let counter = self.new_counter(b, number, begin);
        self.chains[number].counter = Some(counter);
    }

    /// Begins an entry that is inserted; it says itself when it is kept, unless that depends
    /// on what is below.
    pub(super) fn begin_inserted(&mut self, b: &mut Builder, number: usize) -> Kept {
        let chain = &self.chains[number];
        let has_children = number + 1 < self.chains.len();
        if !has_children && chain.below.is_empty() {
            return Kept::Itself;
        }
        let flag = self.called("", chain.last, "_stored");
        let stored = b.var_(&flag, Expr::Const(Scalar::Bool(false)));
        self.chains[number].stored = Some(stored);
        if has_children {
            let position = Expr::Var(self.chains[number].counter());
            self.begin_segment(b, number + 1, position);
        }
        Kept::If(stored)
    }
}

/// Takes out of a block what writes to these buffers, which nothing in it reads
/// for anything else.
fn without_stores(block: &mut Block, buffers: &HashSet<Buffer>) {
    walk::for_each_block_mut(block, &mut |block| {
        block.retain(|stmt| match stmt {
            Stmt::Store { buffer, .. } | Stmt::Fill { buffer, .. } | Stmt::Grow { buffer, .. } => {
                !buffers.contains(buffer)
            }
            _ => true,
        });
    });
}
