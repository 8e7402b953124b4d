//! Searching an operand for a coordinate that is bound already.
//!
//! `A(i,i)` in CSR: the loop over `i` moves below the dense level, and the
//! compressed level inside stores `i` again. It is searched where the loop is:
//!
//! ```text
//! var p = pos[i]
//! while p < pos[i + 1] and crd[p] < i { p += 1 }       != where unordered
//! if p < pos[i + 1] and crd[p] == i { … } else { … as not stored }
//! ```

use sparsec_graph::Operand;
use sparsec_index::IndexVar;
use sparsec_index::concrete::Stmt;
use sparsec_loop::{BinaryOp, Expr, Stmt as Loop};

use crate::absent::without;
use crate::cursor::Bindings;
use crate::statement::Lowerer;

impl Lowerer<'_> {
    /// The body of a loop, with every operand searched whose next level is
    /// walked and stores a variable that is bound.
    pub(crate) fn found(&mut self, body: &Stmt, bindings: &Bindings) {
        let Some((operand, var)) = self.next_search(body, bindings) else {
            return self.stmt(body, bindings);
        };
        let i = &bindings.coordinates[&var];
        let access = self.operands.access(operand).clone();
        let level = bindings.cursors[&operand].levels;
        let is_ordered = self.formats.of(access.tensor).levels()[level].ordered;
        let mut walker = self.begin_walk_at(operand, level, bindings);
        let p = Expr::Var(walker.position);
        let left = p.clone().less(walker.end.clone());
        let here = Expr::load(walker.crd, p.clone());
        let beyond = if is_ordered {
            BinaryOp::Lt
        } else {
            BinaryOp::Ne
        };
        let next = self.block(|it| it.builder.assign(walker.position, p.add(1)));
        self.builder.push(Loop::While {
            condition: left.clone().and(here.clone().binary(beyond, i.clone())),
            body: next,
        });
        self.take_run(&mut walker, i.clone());
        let then = self.block(|it| {
            let mut inner = bindings.clone();
            inner.cursors.insert(operand, walker.cursor());
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
            condition: left.and(here.equals(i.clone())),
            then,
            otherwise,
        });
    }

    /// Whether `stmt` reads an operand that has to be searched, so that what
    /// is below may be skipped at any coordinate.
    pub(crate) fn searches(&self, stmt: &Stmt) -> bool {
        let mut found = self.looks_up(stmt);
        stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let levels = self.formats.of(access.tensor).levels();
                let vars: Vec<Option<IndexVar>> = levels
                    .iter()
                    .map(|level| access.var(level.mode()))
                    .collect();
                found |= levels.iter().enumerate().any(|(number, level)| {
                    !level.is_full() && vars[..number].contains(&vars[number])
                });
            });
        });
        found
    }

    /// An operand of `body` to be searched, with the variable to search for.
    fn next_search(&self, body: &Stmt, bindings: &Bindings) -> Option<(Operand, IndexVar)> {
        let mut found = None;
        body.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operand = self
                    .operands
                    .find(access)
                    .expect("operands hold every access");
                if found.is_some() {
                    return;
                }
                let levels = self.formats.of(access.tensor).levels();
                let Some(level) = levels.get(bindings.cursors[&operand].levels) else {
                    return;
                };
                let Some(var) = access.var(level.mode()) else {
                    return;
                };
                if !level.is_full() && bindings.coordinates.contains_key(&var) {
                    found = Some((operand, var));
                }
            });
        });
        found
    }
}
