//! Room for what a result appends, and whether its index arrays can count it.

use sparsec_base::{ElementType, IndexWidth};
use sparsec_format::{Level, LevelKind, Role};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Expr, Failure, Stmt as Loop, Var};

use crate::signature::{crd_width, pos_width};
use crate::statement::Lowerer;

impl Lowerer<'_> {
    /// Leaves the kernel where the coordinates of a mode do not fit the width of
    /// `crd`: what is compiled before extents are known runs with any.
    pub(super) fn check_coordinates(&mut self, access: &Access) {
        let format = self.formats.of(access.tensor);
        let width = crd_width(format);
        if width == IndexWidth::W64 {
            return;
        }
        let known = &self.concrete.tensors[access.tensor].extents;
        // Empty slots of tables have the extent for a coordinate.
        let largest = |level: &Level| match level.kind.capabilities().probing_insert {
            true => width.max(),
            false => width.max() + 1,
        };
        let modes = format
            .arrays()
            .into_iter()
            .filter_map(|spec| match spec.role {
                Role::Crd(level) => Some(&format.levels()[level]),
                _ => None,
            });
        let fits =
            |level: &Level| known[level.mode()].is_some_and(|extent| extent <= largest(level));
        let modes = modes.filter(|level| !fits(level));
        let modes: Vec<(usize, u64)> = modes.map(|level| (level.mode(), largest(level))).collect();
        for (mode, largest) in modes {
            let extent = self.tensors[&access.tensor].extents[mode];
            let too_large = Expr::Var(extent).binary(BinaryOp::Gt, largest as i64);
            self.builder
                .if_then(too_large, |b| b.fail(Failure::WidthOverflow));
        }
    }

    /// Leaves the kernel where a position does not fit the width of `pos`.
    pub(super) fn check_width(&mut self, access: &Access, counter: Var) {
        let width = pos_width(self.formats.of(access.tensor));
        if width == IndexWidth::W64 {
            return;
        }
        let max = i64::try_from(width.max()).expect("widths are below 64 bits");
        let too_large = Expr::Var(counter).binary(BinaryOp::Gt, max);
        self.builder
            .if_then(too_large, |b| b.fail(Failure::WidthOverflow));
    }

    /// Makes room for the entries that a loop over `var` may append, so that
    /// appending needs no test: one for each coordinate that it visits.
    pub(crate) fn reserve(&mut self, var: IndexVar, body: &Stmt, visited: Expr) {
        self.reserve_appended(body, &visited);
        let Some(number) = self.chain_appended_at(var, body) else {
            return;
        };
        if self.assembly().known.is_some() {
            return;
        }
        let access = self.result_access();
        let chain = &self.assembly().chains[number];
        let (levels, is_leaf) = (chain.first..=chain.last, chain.below.is_empty());
        let len = Expr::Var(chain.counter()).add(visited);
        let is_leaf = is_leaf && number + 1 == self.assembly().chains.len();
        let arrays = &self.tensors[&access.tensor];
        let crds = levels.map(|level| arrays.crd(level));
        let vals = is_leaf.then_some(arrays.vals);
        for buffer in crds.chain(vals).collect::<Vec<_>>() {
            self.builder.push(Loop::Grow {
                buffer,
                len: len.clone(),
            });
        }
    }

    /// Where segments may end before the next begins, says that they do not.
    pub(super) fn end_rooms(&mut self, access: &Access, parents: Expr, level: usize) {
        if self.formats.of(access.tensor).levels()[level].kind != LevelKind::LooseCompressed {
            return;
        }
        let arrays = &self.tensors[&access.tensor];
        let (pos, end) = (arrays.pos(level), arrays.index(Role::End(level)));
        self.builder.push(Loop::Resize {
            buffer: end,
            len: parents.clone(),
        });
        let p = self.builder.fixed("p", ElementType::I64);
        self.for_loop(p, 0, parents, |it| {
            let next = Expr::load(pos, Expr::Var(p).add(1));
            it.builder.store(end, p, next);
        });
    }

    /// The chain whose last level is at `var`, if `body` assigns the result.
    pub(super) fn chain_appended_at(&self, var: IndexVar, body: &Stmt) -> Option<usize> {
        let assembly = self.assembly.as_ref()?;
        let access = self.result_access();
        let levels = self.formats.of(access.tensor).levels();
        let level = levels
            .iter()
            .position(|level| access.var(level.mode()) == Some(var))?;
        let number = assembly.chain_at(level)?;
        self.assigns_result(body).then_some(number)
    }
}
