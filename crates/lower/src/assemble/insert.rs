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
//! The statement is lowered once more for each [chain](super): in pass `k`,
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

use sparsec_base::{ElementType, Scalar};
use sparsec_index::Access;
use sparsec_loop::{Block, Buffer, Expr, Stmt as Loop, Var, walk};

use super::Assembly;
use crate::cursor::Bindings;
use crate::statement::Lowerer;
use crate::workspace::Workspace;

impl Assembly {
    /// Whether entries of a chain are counted and not stored.
    pub(super) fn is_counted(&self, number: usize) -> bool {
        self.known.is_some_and(|known| number >= known)
    }
}

impl Lowerer<'_> {
    /// Whether this pass over the statement counts and stores no values.
    pub(crate) fn counts(&self) -> bool {
        let assembly = self.assembly.as_ref();
        assembly.is_some_and(|assembly| assembly.is_counted(assembly.chains.len() - 1))
    }

    /// All passes but the last, where entries are inserted: counts the entries of
    /// each chain and makes room for them.
    pub(crate) fn count_entries(&mut self, bindings: &Bindings) {
        let assembly = self.assembly.as_ref();
        if assembly.and_then(|assembly| assembly.known).is_none() {
            return;
        }
        let access = self.result_access();
        for number in 0..self.assembly().chains.len() {
            let chains = self.assembly().chains.to_vec();
            let parents = self.parents(&access, &chains, number);
            let pos = self.tensors[&access.tensor].pos(chains[number].first);
            let len = parents.clone().add(1);
            self.builder.push(Loop::Resize {
                buffer: pos,
                len: len.clone(),
            });
            self.builder.push(Loop::Fill {
                buffer: pos,
                lo: Expr::int(0),
                hi: len,
                value: Expr::int(0),
            });
            self.begin_root(&access);
            let mut counting = self.block(|it| it.found(&it.concrete.stmt, bindings));
            without_stores(&mut counting, &self.workspace_values());
            counting
                .into_iter()
                .for_each(|stmt| self.builder.push(stmt));
            if chains[number].first == 0 {
                self.close_segment(&access, number, Expr::int(0));
            } else {
                self.sum_up(&access, pos, parents.clone());
            }
            self.make_room(&access, number, Expr::load(pos, parents.clone()));
            self.end_rooms(&access, parents, chains[number].first);
        }
        self.begin_root(&access);
    }

    /// Begins the segment of a chain that has no level above it.
    fn begin_root(&mut self, access: &Access) {
        if self.assembly().chains[0].first == 0 {
            self.begin_segment(access, 0, Expr::int(0));
        }
    }

    /// Makes the ends of segments of their lengths.
    fn sum_up(&mut self, access: &Access, pos: Buffer, parents: Expr) {
        let name = &self.concrete.tensors[access.tensor].name;
        let end = self.builder.var_(&format!("p{name}_end"), 0);
        let p = self.builder.fixed("p", ElementType::I64);
        self.for_loop(p, 0, parents, |it| {
            let next = Expr::Var(p).add(1);
            let so_far = Expr::Var(end).add(Expr::load(pos, next.clone()));
            it.builder.assign(end, so_far);
            it.check_width(access, end);
            it.builder.store(pos, next, end);
        });
    }

    /// Makes room for all entries of a chain, of which there are `count`.
    fn make_room(&mut self, access: &Access, number: usize, count: Expr) {
        let chain = self.assembly().chains[number].clone();
        let name = &self.concrete.tensors[access.tensor].name;
        let count = self.builder.let_(&format!("n{name}{}", chain.last), count);
        for level in chain.first..=chain.last {
            let buffer = self.tensors[&access.tensor].crd(level);
            let len = Expr::Var(count);
            self.builder.push(Loop::Resize { buffer, len });
        }
        if number + 1 == self.assembly().chains.len() {
            let buffer = self.tensors[&access.tensor].vals;
            let len = self.product(access, chain.below.clone(), Expr::Var(count));
            self.builder.push(Loop::Resize {
                buffer,
                len: len.clone(),
            });
            if !chain.below.is_empty() {
                let value = self.concrete.tensors[access.tensor].fill.into();
                self.builder.push(Loop::Fill {
                    buffer,
                    lo: Expr::int(0),
                    hi: len,
                    value,
                });
            }
        }
        let assembly = self.assembly_mut();
        assembly.chains[number].count = Some(count);
        assembly.known = Some(number + 1);
    }

    /// Begins the segment of a chain below `position`: where entries are
    /// inserted, its counter is its own.
    pub(super) fn begin_segment(&mut self, access: &Access, number: usize, position: Expr) {
        let Some(known) = self.assembly().known else {
            return;
        };
        let chain = self.assembly().chains[number].clone();
        let begin = match number < known {
            true => Expr::load(self.tensors[&access.tensor].pos(chain.first), position),
            false => Expr::int(0),
        };
        let counter = self.counter(access, chain.last, begin);
        self.assembly_mut().chains[number].counter = Some(counter);
    }

    /// Begins an entry that is inserted; whether it will be kept, where that
    /// depends on what is below.
    pub(super) fn begin_inserted(&mut self, access: &Access, number: usize) -> Option<Var> {
        let chain = self.assembly().chains[number].clone();
        let has_children = number + 1 < self.assembly().chains.len();
        if !has_children && chain.below.is_empty() {
            return None;
        }
        let name = &self.concrete.tensors[access.tensor].name;
        let flag = format!("{name}{}_stored", chain.last);
        let stored = self.builder.var_(&flag, Expr::Const(Scalar::Bool(false)));
        self.assembly_mut().chains[number].stored = Some(stored);
        if has_children {
            self.begin_segment(access, number + 1, Expr::Var(chain.counter()));
        }
        Some(stored)
    }

    /// Remembers that an entry of a chain was stored below one of the chain outside.
    pub(super) fn note_child(&mut self, number: usize) {
        let outer = number
            .checked_sub(1)
            .map(|outer| &self.assembly().chains[outer]);
        if let Some(stored) = outer.and_then(|outer| outer.stored) {
            self.builder.assign(stored, Expr::Const(Scalar::Bool(true)));
        }
    }

    /// The arrays with the values of workspaces.
    fn workspace_values(&self) -> HashSet<Buffer> {
        let workspaces = self.workspaces.values();
        workspaces.filter_map(Workspace::values).collect()
    }
}

/// Takes out of a block what writes to these buffers, which nothing in it reads
/// for anything else.
fn without_stores(block: &mut Block, buffers: &HashSet<Buffer>) {
    walk::for_each_block_mut(block, &mut |block| {
        block.retain(|stmt| match stmt {
            Loop::Store { buffer, .. } | Loop::Fill { buffer, .. } | Loop::Grow { buffer, .. } => {
                !buffers.contains(buffer)
            }
            _ => true,
        });
    });
}
