//! Looking for an operand at a coordinate that is bound already.
//!
//! `A(i,i)` in CSR: the loop over `i` moves below the dense level, and the
//! compressed level inside stores `i` again. It is searched where the loop is,
//! by bisection if it is ordered; else from its beginning:
//!
//! ```text
//! p = first of pos[i]..pos[i + 1] with crd[p] >= i
//! if p < pos[i + 1] and crd[p] == i { … } else { … as not stored }
//! ```
//!
//! `A(i+r)` in a dense format: the position is computed, where there is one:
//!
//! ```text
//! if i + r >= 0 and i + r < N { … } else { … as not stored }
//! ```

use sparsec_graph::Operand;
use sparsec_graph::operand::is_inside;
use sparsec_index::Access;
use sparsec_index::concrete::Stmt;
use sparsec_loop::{BinaryOp, Expr, Stmt as Loop};

use crate::absent::without;
use crate::bisect::Wanted;
use crate::cursor::{Bindings, Cursor, Place};
use crate::level::dense::locate;
use crate::statement::Lowerer;

/// An operand whose next level is at a coordinate that is bound.
struct Next {
    operand: Operand,
    coordinate: Expr,
}

impl Lowerer<'_> {
    /// The body of a loop, with every operand looked for whose next level
    /// stores a coordinate that is bound.
    pub(crate) fn found(&mut self, body: &Stmt, bindings: &Bindings) {
        let Some(next) = self.next_search(body, bindings) else {
            return self.stmt(body, bindings);
        };
        let access = self.operands.access(next.operand).clone();
        let level = bindings.cursors[&next.operand].levels;
        let is_full = self.formats.of(access.tensor).levels()[level].is_full();
        let (condition, cursor) = match is_full {
            true => self.inside_mode(&access, level, &next, bindings),
            false => self.search(&access, level, &next, bindings),
        };
        let then = self.block(|it| {
            let mut inner = bindings.clone();
            inner.cursors.insert(next.operand, cursor);
            it.advance(&mut inner);
            it.found(body, &inner);
        });
        let otherwise = self.block(|it| {
            if let Some(body) = without(it.concrete, body, &|other| *other == access, it.unfilled())
            {
                it.found(&body, bindings);
            }
        });
        self.builder.push(Loop::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Where a full level has the coordinate, and the cursor there.
    fn inside_mode(
        &mut self,
        access: &Access,
        level: usize,
        next: &Next,
        bindings: &Bindings,
    ) -> (Expr, Cursor) {
        let mode = self.formats.of(access.tensor).levels()[level].mode();
        let extent = self.mode_extent(access, mode);
        let name = &self.concrete.tensors[access.tensor].name;
        let at = self
            .builder
            .let_(&format!("i{name}{level}"), next.coordinate.clone());
        let condition = Expr::int(-1).less(Expr::Var(at));
        let condition = condition.and(Expr::Var(at).less(extent.clone()));
        let position = bindings.cursors[&next.operand].position();
        let cursor = Cursor {
            levels: level + 1,
            place: Place::At(locate(position, extent, Expr::Var(at))),
        };
        (condition, cursor)
    }

    /// Searches a level; where it has the coordinate, and the cursor there.
    fn search(
        &mut self,
        access: &Access,
        level: usize,
        next: &Next,
        bindings: &Bindings,
    ) -> (Expr, Cursor) {
        let Next {
            operand,
            coordinate,
        } = next;
        let is_ordered = self.formats.of(access.tensor).levels()[level].ordered;
        let mut walker = self.begin_walk_at(*operand, level, bindings, None);
        let p = Expr::Var(walker.position);
        let left = p.clone().less(walker.end.clone());
        let here = Expr::load(walker.crd, p.clone());
        if is_ordered {
            let found = self.bisect(
                &format!("{}_found", self.position_name(*operand, level)),
                walker.crd,
                p.clone(),
                walker.end.clone(),
                &Wanted::AtLeast(coordinate.clone()),
            );
            self.builder.assign(walker.position, found);
        } else {
            let next = self.block(|it| it.builder.assign(walker.position, p.add(1)));
            let beyond = here.clone().binary(BinaryOp::Ne, coordinate.clone());
            self.builder.push(Loop::While {
                condition: left.clone().and(beyond),
                body: next,
            });
        }
        self.take_run(&mut walker, coordinate.clone());
        let condition = left.and(here.equals(coordinate.clone()));
        (condition, walker.cursor())
    }

    /// Whether `stmt` reads an operand that is looked for, so that what is
    /// below may be skipped at any coordinate.
    pub(crate) fn searches(&self, stmt: &Stmt) -> bool {
        let mut found = self.looks_up(stmt);
        stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operands = &self.operands;
                found |= operands.is_searched(access, self.concrete, self.formats);
            });
        });
        found
    }

    /// Whether an operand is looked for at constant coordinates.
    pub(crate) fn searches_before_loops(&self) -> bool {
        self.operands.ids().any(|operand| {
            let access = self.operands.access(operand);
            let is_constant = access.indices.iter().any(|index| index.vars().is_empty());
            is_constant
                && self
                    .operands
                    .is_searched(access, self.concrete, self.formats)
        })
    }

    /// An operand of `body` to look for.
    fn next_search(&self, body: &Stmt, bindings: &Bindings) -> Option<Next> {
        let mut found = None;
        body.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operand = self.operands.find(access);
                let operand = operand.expect("operands hold every access");
                if found.is_some() {
                    return;
                }
                let levels = self.formats.of(access.tensor).levels();
                let Some(level) = levels.get(bindings.cursors[&operand].levels) else {
                    return;
                };
                if level.is_full() && is_inside(access, level.mode(), self.concrete) {
                    return;
                }
                let index = &access.indices[level.mode()];
                let coordinate = self.coordinate_of(index, &bindings.coordinates);
                found = coordinate.map(|coordinate| Next {
                    operand,
                    coordinate,
                });
            });
        });
        found
    }
}
