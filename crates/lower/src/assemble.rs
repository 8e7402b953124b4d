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
//!
//! So entries are *appended*, one parent after the other. They may also be
//! counted and then *inserted* at their places: see [`insert`]. Those of a `hashed`
//! level are looked for in the table of their parent: see [`probe`].

use sparsec_base::{ElementType, Scalar};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar, Operator};
use sparsec_loop::{BinaryOp, Block, Expr, Stmt as Loop, Var};

mod chain;
mod insert;
mod probe;
mod room;

use self::chain::Chain;
use crate::cursor::{Bindings, Cursor, Place};
use crate::statement::Lowerer;
use crate::value::{first, store_combined};

/// The chains of a sparse result.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    chains: Vec<Chain>,
    /// Where entries are inserted, how many chains have their segments by now;
    /// where they are appended, none.
    known: Option<usize>,
}

impl Assembly {
    /// The chain whose entries a loop over `level` appends.
    fn chain_at(&self, level: usize) -> Option<usize> {
        let is_appended = |chain: &Chain| chain.last == level && chain.table.is_none();
        self.chains.iter().position(is_appended)
    }
}

impl Lowerer<'_> {
    /// What comes before all loops: fill of a dense result, counters and the
    /// first segment bounds of a sparse one.
    pub(crate) fn begin_result(&mut self) {
        let access = self.result_access();
        if self.formats.of(access.tensor).takes_any_order() {
            self.fill_dense_result(&access);
            return;
        }
        self.check_coordinates(&access);
        let mut chains = self.chains_of(&access);
        if self.concrete.inserts() {
            let known = Some(0);
            self.assembly = Some(Assembly { chains, known });
            return;
        }
        for number in 0..chains.len() {
            let counter = self.counter(&access, chains[number].last, Expr::int(0));
            chains[number].counter = Some(counter);
            chains[number].table = self.begin_tables(&access, &chains[number]);
            let parents = self.parents(&access, &chains, number);
            let chain = &chains[number];
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
        let known = None;
        self.assembly = Some(Assembly { chains, known });
    }

    /// A variable for the position that the next entry of a chain gets.
    fn counter(&mut self, access: &Access, last: usize, begin: Expr) -> Var {
        let name = &self.concrete.tensors[access.tensor].name;
        self.builder.var_(&format!("p{name}{last}"), begin)
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
            let Some(below) = self.chain_below(&access, level, bindings) else {
                return write(self, bindings);
            };
            let position = bindings.result_position().clone();
            self.begin_segment(&access, below, position.clone());
            write(self, bindings);
            self.close_segment(&access, below, position);
            return;
        };
        let counter = self.assembly().chains[number].counter();
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

    fn assembly_mut(&mut self) -> &mut Assembly {
        self.assembly.as_mut().expect("the result is sparse")
    }

    /// What an entry's children are counted from, before they are written.
    fn begin_entry(&mut self, access: &Access, number: usize) -> Option<Var> {
        if self.assembly().known.is_some() {
            return self.begin_inserted(access, number);
        }
        let chain = self.assembly().chains[number].clone();
        let name = &self.concrete.tensors[access.tensor].name;
        if let Some(child) = self.assembly().chains.get(number + 1) {
            let (child, skips) = (child.clone(), child.skips);
            let start = format!("p{name}{}_start", child.last);
            let start = self.builder.let_(&start, child.counter());
            let next = Expr::Var(chain.counter()).add(1);
            let pos = self.tensors[&access.tensor].pos(child.first);
            let len = self.product(access, chain.below.clone(), next).add(1);
            self.builder.push(Loop::Grow {
                buffer: pos,
                len: len.clone(),
            });
            if skips {
                let lo = self
                    .product(access, chain.below.clone(), Expr::Var(chain.counter()))
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
        let lo = self.product(access, chain.below.clone(), Expr::Var(chain.counter()));
        let hi = self.product(
            access,
            chain.below.clone(),
            Expr::Var(chain.counter()).add(1),
        );
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
        let kept = match (&child, chain.stored) {
            (Some(child), None) => Expr::Var(before).less(child.counter()),
            _ => Expr::Var(before),
        };
        let closes = child.is_some() && chain.below.is_empty();
        let then = self.block(|it| {
            if closes {
                it.close_segment(access, number + 1, Expr::Var(chain.counter()));
            }
            it.append(access, number, inner);
        });
        self.builder.push(Loop::If {
            condition: kept,
            then,
            otherwise: Block::new(),
        });
    }

    /// The chain whose segments begin and end in a loop over a full level: the one
    /// directly below, where the parent's position is known here.
    fn chain_below(&self, access: &Access, level: usize, bindings: &Bindings) -> Option<usize> {
        let levels = self.formats.of(access.tensor).levels();
        let cursor = bindings.result.as_ref()?;
        let mut chains = self.assembly().chains.iter();
        chains.position(|chain| {
            let mut between = level..chain.first.max(level);
            cursor.levels == chain.first
                && level < chain.first
                && between.all(|level| levels[level].kind.capabilities().full)
        })
    }

    /// Stores the end of the segment of a chain below `position`.
    fn close_segment(&mut self, access: &Access, number: usize, position: Expr) {
        let assembly = self.assembly();
        // Of chains whose entries are inserted, only one is being counted.
        if assembly.known.is_some_and(|known| known != number) {
            return;
        }
        let chain = assembly.chains[number].clone();
        let pos = self.tensors[&access.tensor].pos(chain.first);
        self.check_width(access, chain.counter());
        self.builder.store(pos, position.add(1), chain.counter());
        self.begin_next_table(&chain);
    }

    /// Appends the coordinates of an entry to a chain and counts it; the loop
    /// over the chain's last level has made room.
    fn append(&mut self, access: &Access, number: usize, bindings: &Bindings) {
        let chain = self.assembly().chains[number].clone();
        let levels = self.formats.of(access.tensor).levels();
        let next = Expr::Var(chain.counter()).add(1);
        let is_counted = self.assembly().is_counted(number);
        let appended = levels
            .iter()
            .enumerate()
            .take(chain.last + 1)
            .skip(chain.first)
            .filter(|_| !is_counted);
        for (number, level) in appended {
            let crd = self.tensors[&access.tensor].crd(number);
            let index = &access.indices[level.mode()];
            let coordinate = self.bound_coordinate(bindings, index);
            self.builder.store(crd, chain.counter(), coordinate);
        }
        self.builder.assign(chain.counter(), next);
        self.note_child(number);
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
            self.set_bits(lhs, bindings);
            return;
        };
        let number = assembly.chains.len() - 1;
        let chain = assembly.chains[number].clone();
        let is_computed = !self.counts();
        if let Some(table) = chain.table {
            return self.probe(lhs, &chain, table, reduce, value, bindings);
        }
        if let Some(stored) = chain.stored {
            if is_computed {
                // The row was filled with what the operator begins with.
                store_combined(&mut self.builder, vals, position, value, reduce);
            }
            self.builder.assign(stored, Expr::Const(Scalar::Bool(true)));
            return;
        }
        if is_computed {
            let value = first(&mut self.builder, vals, value, reduce);
            self.builder.store(vals, chain.counter(), value);
        }
        self.append(lhs, number, bindings);
    }

    /// What comes after all loops: the bounds still missing, and the lengths.
    pub(crate) fn end_result(&mut self) {
        let Some(Assembly {
            chains,
            known: None,
        }) = self.assembly.clone()
        else {
            return;
        };
        let access = self.result_access();
        for (number, chain) in chains.iter().enumerate() {
            let pos = self.tensors[&access.tensor].pos(chain.first);
            let parents = self.parents(&access, &chains, number);
            if chain.first == 0 {
                self.check_width(&access, chain.counter());
                self.builder.store(pos, 1, chain.counter());
            }
            if number > 0 {
                self.builder.push(Loop::Resize {
                    buffer: pos,
                    len: parents.clone().add(1),
                });
            }
            if chain.skips {
                let p = self.builder.fixed("p", ElementType::I64);
                self.for_loop(p, 0, parents.clone(), |it| {
                    let so_far = Expr::load(pos, p);
                    let next = Expr::Var(p).add(1);
                    it.builder
                        .store_reduce(pos, next, so_far, Some(BinaryOp::Max));
                });
            }
            self.end_rooms(&access, parents, chain.first);
            for level in chain.first..=chain.last {
                let crd = self.tensors[&access.tensor].crd(level);
                self.builder.push(Loop::Resize {
                    buffer: crd,
                    len: Expr::Var(chain.counter()),
                });
            }
        }
        let last = chains.last().expect("a sparse result has a chain");
        let len = self.product(&access, last.below.clone(), Expr::Var(last.counter()));
        let buffer = self.tensors[&access.tensor].vals;
        self.builder.push(Loop::Resize { buffer, len });
    }
}
