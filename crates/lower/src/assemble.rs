//! Assembly of the result: what is written before, in and after its loops.
//!
//! The levels of a sparse result fall into **chains**: a `compressed` level,
//! the singletons that share its positions, and the full levels below them.
//! Each chain has one counter, the position that the next entry gets.
//!
//! ```text
//! csr       dense i │ compressed j               chain 0: level 1
//! coo       compressed i, singleton j            chain 0: levels 0–1
//! csf       compressed i │ compressed j │ …      chains 0, 1, …
//! ```
//!
//! Before a chain's first entry below one parent, its counter is the beginning
//! of the parent's segment; after the last, the end, stored at
//! `pos[parent + 1]`. An entry with children is kept only if a child was.
//! Where loops may skip parents, the ends they did not store are filled in
//! afterwards with a running maximum.

use sparsec_base::{ElementType, Scalar};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar, Operator};
use sparsec_loop::{BinaryOp, Block, Expr, Stmt as Loop, Var};

mod room;

use crate::cursor::{Bindings, Cursor, Place};
use crate::statement::Lowerer;
use crate::value::{first, store_combined};

/// The chains of a sparse result.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    chains: Vec<Chain>,
}

/// Levels that share their positions.
#[derive(Clone, Debug)]
struct Chain {
    /// The level with the `pos` array.
    first: usize,
    /// The last level with a `crd` array.
    last: usize,
    /// The full levels below, up to the next chain.
    below: std::ops::Range<usize>,
    /// The position that the next entry gets.
    counter: Var,
    /// Whether loops may skip parents, so that their ends are filled in.
    skips: bool,
    /// Where the values of an entry are a block: whether any was stored.
    stored: Option<Var>,
}

impl Assembly {
    fn chain_at(&self, level: usize) -> Option<usize> {
        self.chains.iter().position(|chain| chain.last == level)
    }
}

impl Lowerer<'_> {
    /// What comes before all loops: fill of a dense result, counters and the
    /// first segment bounds of a sparse one.
    pub(crate) fn begin_result(&mut self) {
        let access = self.result_access();
        if self.formats.of(access.tensor).is_all_dense() {
            self.fill_dense_result(&access);
            return;
        }
        self.check_coordinates(&access);
        let mut chains = self.chains_of(&access);
        for number in 0..chains.len() {
            let parents = self.parents(&access, &chains, number);
            let chain = &mut chains[number];
            let pos = self.tensors[&access.tensor].pos(chain.first);
            let zero = Expr::int(0);
            if number == 0 {
                let len = parents.add(1);
                self.builder.push(Loop::Resize {
                    buffer: pos,
                    len: len.clone(),
                });
                if chain.skips {
                    self.builder.push(Loop::Fill {
                        buffer: pos,
                        lo: zero,
                        hi: len,
                        value: Expr::int(0),
                    });
                } else {
                    self.builder.store(pos, zero.clone(), zero);
                }
            } else {
                self.builder.push(Loop::Grow {
                    buffer: pos,
                    len: Expr::int(1),
                });
                self.builder.store(pos, zero.clone(), zero);
            }
        }
        self.assembly = Some(Assembly { chains });
    }

    fn chains_of(&mut self, access: &Access) -> Vec<Chain> {
        let format = self.formats.of(access.tensor);
        let levels = format.levels();
        let name = self.concrete.tensors[access.tensor].name.clone();
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
            let counter = self.builder.var_(&format!("p{name}{last}"), 0);
            chains.push(Chain {
                first: at,
                last,
                below: last + 1..end,
                counter,
                skips: self.may_skip(access, at),
                stored: None,
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
        if begin < first && self.searches(&self.concrete.stmt) {
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
            let var = access.var(levels[level].mode());
            let Some(lattice) = var.and_then(|var| self.result_lattice(var)) else {
                return true;
            };
            let innermost = level + 1 == first;
            !lattice.everything || (!innermost && !lattice.operands().is_empty())
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
    fn parents(&self, access: &Access, chains: &[Chain], number: usize) -> Expr {
        match number.checked_sub(1) {
            None => self.product(access, 0..chains[0].first, Expr::int(1)),
            Some(outer) => {
                let outer = &chains[outer];
                self.product(access, outer.below.clone(), Expr::Var(outer.counter))
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

    /// Whether `stmt` assigns the result, rather than computing temporaries.
    pub(crate) fn assigns_result(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        stmt.for_each_assign(&mut |lhs, _, _| found |= lhs.tensor == self.concrete.result);
        found
    }

    /// Writes a loop body between what the result's level at `var` needs
    /// before and after it.
    pub(crate) fn with_result(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        write: impl FnOnce(&mut Self, &Bindings),
    ) {
        let access = self.result_access();
        let levels = self.formats.of(access.tensor).levels();
        let level = levels
            .iter()
            .position(|level| access.var(level.mode()) == Some(var));
        if let (Some(number), Some(fill)) = (level, self.fill)
            && fill.level == level
            && self.assigns_result(body)
        {
            let position = bindings.result_position().clone();
            self.fill_block(&access, position, number + 1);
        }
        let (Some(level), true, true) = (level, self.assembly.is_some(), self.assigns_result(body))
        else {
            return write(self, bindings);
        };
        let Some(number) = self.chain_appended_at(var, body) else {
            write(self, bindings);
            if !levels[level].kind.capabilities().full {
                return;
            }
            self.close_segments(&access, level, bindings.result_position().clone());
            return;
        };
        let counter = self.assembly().chains[number].counter;
        let mut inner = bindings.clone();
        inner.result = Some(Cursor {
            levels: level + 1,
            place: Place::At(Expr::Var(counter)),
        });
        let before = self.begin_entry(&access, number);
        write(self, &inner);
        self.end_entry(&access, number, before, &inner);
    }

    fn assembly(&self) -> &Assembly {
        self.assembly.as_ref().expect("the result is sparse")
    }

    /// What an entry's children are counted from, before they are written.
    fn begin_entry(&mut self, access: &Access, number: usize) -> Option<Var> {
        let chain = self.assembly().chains[number].clone();
        let name = &self.concrete.tensors[access.tensor].name;
        if let Some(child) = self.assembly().chains.get(number + 1) {
            let (child, skips) = (child.clone(), child.skips);
            let start = format!("p{name}{}_start", child.last);
            let start = self.builder.let_(&start, child.counter);
            let next = Expr::Var(chain.counter).add(1);
            let pos = self.tensors[&access.tensor].pos(child.first);
            let len = self.product(access, chain.below.clone(), next).add(1);
            self.builder.push(Loop::Grow {
                buffer: pos,
                len: len.clone(),
            });
            if skips {
                let lo = self
                    .product(access, chain.below, Expr::Var(chain.counter))
                    .add(1);
                self.builder.push(Loop::Fill {
                    buffer: pos,
                    lo,
                    hi: len,
                    value: Expr::int(0),
                });
            }
            return Some(start);
        }
        if chain.below.is_empty() {
            return None;
        }
        let flag = format!("{name}{}_stored", chain.last);
        let stored = self.builder.var_(&flag, Expr::Const(Scalar::Bool(false)));
        let vals = self.tensors[&access.tensor].vals;
        let lo = self.product(access, chain.below.clone(), Expr::Var(chain.counter));
        let hi = self.product(access, chain.below, Expr::Var(chain.counter).add(1));
        self.builder.push(Loop::Grow {
            buffer: vals,
            len: hi.clone(),
        });
        let value = self.concrete.tensors[access.tensor].fill.into();
        self.builder.push(Loop::Fill {
            buffer: vals,
            lo,
            hi,
            value,
        });
        let assembly = self.assembly.as_mut().expect("the result is sparse");
        assembly.chains[number].stored = Some(stored);
        Some(stored)
    }

    /// Keeps an entry whose children were written, if any were. Entries of the
    /// last chain without full levels below keep themselves when they are stored.
    fn end_entry(&mut self, access: &Access, number: usize, before: Option<Var>, inner: &Bindings) {
        let chain = self.assembly().chains[number].clone();
        let Some(before) = before else {
            return;
        };
        let child = self.assembly().chains.get(number + 1).cloned();
        let (kept, closes) = match &child {
            Some(child) => (
                Expr::Var(before).less(child.counter),
                chain.below.is_empty(),
            ),
            None => (Expr::Var(before), false),
        };
        let then = self.block(|it| {
            if closes {
                it.close_segments(access, chain.last, Expr::Var(chain.counter));
            }
            it.append(access, number, inner);
        });
        self.builder.push(Loop::If {
            condition: kept,
            then,
            otherwise: Block::new(),
        });
    }

    /// Stores the end of the segments below `position` of `level`.
    fn close_segments(&mut self, access: &Access, level: usize, position: Expr) {
        let chains = &self.assembly().chains;
        let Some(child) = chains.iter().find(|chain| chain.first == level + 1) else {
            return;
        };
        let counter = child.counter;
        let pos = self.tensors[&access.tensor].pos(child.first);
        self.check_width(access, counter);
        self.builder.store(pos, position.add(1), counter);
    }

    /// Appends the coordinates of an entry to a chain and counts it; the loop
    /// over the chain's last level has made room.
    fn append(&mut self, access: &Access, number: usize, bindings: &Bindings) {
        let chain = self.assembly().chains[number].clone();
        let levels = self.formats.of(access.tensor).levels();
        let next = Expr::Var(chain.counter).add(1);
        let appended = levels
            .iter()
            .enumerate()
            .take(chain.last + 1)
            .skip(chain.first);
        for (number, level) in appended {
            let crd = self.tensors[&access.tensor].crd(number);
            let index = &access.indices[level.mode()];
            let coordinate = self.bound_coordinate(bindings, index);
            self.builder.store(crd, chain.counter, coordinate);
        }
        self.builder.assign(chain.counter, next);
    }

    /// Stores a value of the result, and appends its coordinate where the last
    /// level is appended to.
    pub(crate) fn store_result(
        &mut self,
        lhs: &Access,
        reduce: Option<&Operator>,
        value: Expr,
        bindings: &Bindings,
    ) {
        let vals = self.tensors[&lhs.tensor].vals;
        let cursor = bindings.result.as_ref().expect("the result has a cursor");
        let position = cursor.position().clone();
        let Some(assembly) = &self.assembly else {
            store_combined(&mut self.builder, vals, position, value, reduce);
            return;
        };
        let number = assembly.chains.len() - 1;
        let chain = assembly.chains[number].clone();
        let value = first(&mut self.builder, vals, value, reduce);
        if let Some(stored) = chain.stored {
            self.builder.store(vals, position, value);
            self.builder.assign(stored, Expr::Const(Scalar::Bool(true)));
            return;
        }
        self.builder.store(vals, chain.counter, value);
        self.append(lhs, number, bindings);
    }

    /// What comes after all loops: the bounds still missing, and the lengths.
    pub(crate) fn end_result(&mut self) {
        let Some(Assembly { chains }) = self.assembly.clone() else {
            return;
        };
        let access = self.result_access();
        for (number, chain) in chains.iter().enumerate() {
            let pos = self.tensors[&access.tensor].pos(chain.first);
            let parents = self.parents(&access, &chains, number);
            if chain.first == 0 {
                self.check_width(&access, chain.counter);
                self.builder.store(pos, 1, chain.counter);
            }
            if number > 0 {
                self.builder.push(Loop::Resize {
                    buffer: pos,
                    len: parents.clone().add(1),
                });
            }
            if chain.skips {
                let p = self.builder.fixed("p", ElementType::I64);
                self.for_loop(p, 0, parents, |it| {
                    let so_far = Expr::load(pos, p);
                    let next = Expr::Var(p).add(1);
                    it.builder
                        .store_reduce(pos, next, so_far, Some(BinaryOp::Max));
                });
            }
            for level in chain.first..=chain.last {
                let crd = self.tensors[&access.tensor].crd(level);
                self.builder.push(Loop::Resize {
                    buffer: crd,
                    len: Expr::Var(chain.counter),
                });
            }
        }
        let last = chains.last().expect("a sparse result has a chain");
        let len = self.product(&access, last.below.clone(), Expr::Var(last.counter));
        let buffer = self.tensors[&access.tensor].vals;
        self.builder.push(Loop::Resize { buffer, len });
    }
}
