//! Chains: the levels of a sparse result that share their positions.
//!
//! The levels of a sparse result fall into chains: a `compressed` level, the singletons that
//! share its positions, and the full levels below them. Each chain has one counter, the position
//! that the next entry gets.
//!
//! ```text
//! csr       dense i │ compressed j               chain 0: level 1
//! coo       compressed i, singleton j            chain 0: levels 0–1
//! csf       compressed i │ compressed j │ …      chains 0, 1, …
//! ```
//!
//! Before a chain's first entry below one parent, its counter is the beginning of the parent's
//! segment; after the last, the end, stored at `pos[parent + 1]`. An entry with children is kept
//! only if a child was.

use std::ops::Range;
use std::rc::Rc;

use sparsec_format::Format;
use sparsec_loop::{Builder, Expr, Var};

use super::target::Target;

/// The chains of a result.
#[derive(Clone, Debug)]
pub(crate) struct Chains<'k> {
    pub(super) target: Rc<Target<'k>>,
    /// The outermost first.
    pub(super) chains: Vec<Chain>,
    /// Where entries are inserted, how many chains have their segments by now;
    /// where they are appended, none.
    pub(super) known: Option<usize>,
}

/// Levels that share their positions.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The level with the `pos` array.
    pub(super) first: usize,
    /// The last level with a `crd` array.
    pub(super) last: usize,
    /// The full levels below, up to the next chain.
    pub(super) below: Range<usize>,
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

/// The table of the parent whose entries are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Its first slot; behind its last is the counter of its chain.
    pub(super) begin: Var,
    /// How many entries it has.
    pub(super) n: Var,
}

impl Chain {
    /// The chains of a format, the outermost first.
    pub(super) fn all_of(format: &Format) -> Vec<Self> {
        let levels = format.levels();
        let is_full = |level: &usize| levels[*level].kind.capabilities().full;
        let mut chains = Vec::new();
        let mut at = 0;
        while at < levels.len() {
            if is_full(&at) {
                at += 1;
                continue;
            }
            let last = format.chain_end(at);
            let mut behind = last + 1..levels.len();
            let end = behind.find(|level| !is_full(level));
            let end = end.unwrap_or(levels.len());
            chains.push(Self {
                first: at,
                last,
                below: last + 1..end,
                counter: None,
                skips: false,
                stored: None,
                count: None,
                table: None,
            });
            at = end;
        }
        chains
    }

    /// The position that the next entry gets.
    pub(super) fn counter(&self) -> Var {
        self.counter.expect("entries are counted within a segment")
    }
}

/// When an entry that was begun is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    /// It keeps itself when it is stored.
    Itself,
    /// If this became true.
    If(Var),
    /// If the counter of its children went beyond this.
    Above(Var),
}

impl Chains<'_> {
    /// The chain whose entries a loop over `level` adds.
    pub(crate) fn number_at(&self, level: usize) -> Option<usize> {
        let is_added = |chain: &Chain| chain.last == level && chain.table.is_none();
        self.chains.iter().position(is_added)
    }

    /// The chain whose segments begin and end in a loop over a full level: the one
    /// directly below, where the first `n_levels` levels are behind.
    pub(crate) fn below(&self, level: usize, n_levels: usize) -> Option<usize> {
        let is_full = |level: usize| self.target.level(level).kind.capabilities().full;
        let is_below = |chain: &Chain| {
            let mut between = level..chain.first.max(level);
            n_levels == chain.first && level < chain.first && between.all(is_full)
        };
        self.chains.iter().position(is_below)
    }

    /// The position that the next entry of a chain gets.
    pub(crate) fn counter(&self, number: usize) -> Var {
        self.chains[number].counter()
    }

    /// Stores the end of the segment of a chain below `position`.
    pub(crate) fn close_segment(&self, b: &mut Builder, number: usize, position: Expr) {
        // Of chains whose entries are inserted, only one is being counted.
        if self.known.is_some_and(|known| known != number) {
            return;
        }
        let chain = &self.chains[number];
        self.target.check_width(b, chain.counter());
        let pos = self.target.pos(chain.first);
        b.store(pos, position.add(1), chain.counter());
        if let Some(Table { begin, n }) = chain.table {
            // The table of the next parent begins behind this one.
            b.assign(begin, chain.counter());
            b.assign(n, 0);
        }
    }

    /// Whether entries of a chain are counted and not stored.
    pub(super) fn is_counted(&self, number: usize) -> bool {
        self.known.is_some_and(|known| number >= known)
    }

    /// Whether this pass over the loops counts and stores no values.
    pub(crate) fn counts(&self) -> bool {
        self.is_counted(self.chains.len() - 1)
    }

    /// A variable for the position that the next entry of a chain gets.
    pub(super) fn new_counter(&self, b: &mut Builder, number: usize, begin: Expr) -> Var {
        let last = self.chains[number].last;
        b.var_(&self.called("p", last, ""), begin)
    }

    /// How a variable of a level is called.
    pub(super) fn called(&self, before: &str, level: usize, after: &str) -> String {
        format!("{before}{}{level}{after}", self.target.name)
    }

    /// How many parent positions a chain has, when all its entries are there.
    pub(super) fn parents(&self, number: usize) -> Expr {
        match number.checked_sub(1) {
            None => self.target.product(0..self.chains[0].first, Expr::int(1)),
            Some(outer) => {
                let outer = &self.chains[outer];
                let count = outer.count.unwrap_or_else(|| outer.counter());
                self.target.product(outer.below.clone(), Expr::Var(count))
            }
        }
    }
}
