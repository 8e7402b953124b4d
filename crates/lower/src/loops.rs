//! What the loops of a statement are going to do, asked before they are written.

use sparsec_graph::Lattice;
use sparsec_index::concrete::{Steps, Stmt};
use sparsec_index::{Access, IndexVar};

use crate::kernel::Kernel;

impl Kernel<'_> {
    /// Whether the loop over `var` visits every coordinate, with one case.
    pub(crate) fn is_over_everything(&self, var: IndexVar, body: &Stmt) -> bool {
        let lattice = self.lattice(var, body);
        let is_derived = self.concrete.made_by(var).is_some();
        !is_derived && lattice.everything && lattice.operands().is_empty()
    }

    /// The variable of the coordinates that a loop goes through, and whether it goes
    /// through a stretch of them.
    fn through(&self, outer: &[IndexVar], var: IndexVar) -> Option<(IndexVar, bool)> {
        match self.concrete.steps(outer, var) {
            Steps::Coordinates => Some((var, false)),
            Steps::Stretch(original) => Some((original, true)),
            _ => None,
        }
    }

    /// Whether `stmt` reads an operand that is looked for, so that what is
    /// below may be skipped at any coordinate.
    pub(crate) fn searches(&self, stmt: &Stmt) -> bool {
        self.searches_around(stmt, None)
    }

    /// The same, but of operands that are looked up where others lead only those
    /// of loops around the one over `inner`.
    pub(crate) fn searches_around(&self, stmt: &Stmt, inner: Option<IndexVar>) -> bool {
        let mut found = self.looks_up(stmt) || self.locates(stmt, inner);
        stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                found |= self.is_searched(access) || self.is_met(access);
            });
        });
        found
    }

    fn is_searched(&self, access: &Access) -> bool {
        self.operands
            .is_searched(access, self.concrete, self.formats)
    }

    /// Whether an operand is looked for at constant coordinates.
    pub(crate) fn searches_before_loops(&self) -> bool {
        self.operands.ids().any(|operand| {
            let access = self.access(operand);
            let mut indices = access.indices.iter();
            indices.any(|index| index.vars().is_empty()) && self.is_searched(access)
        })
    }

    /// Whether a level of stored coordinates stands at a computed variable, as `j` of
    /// `A(j0,j,j1)` where no loop goes through `j`.
    fn is_met(&self, access: &Access) -> bool {
        let levels = self.levels(access.tensor).iter();
        let mut vars = levels
            .filter(|level| !level.is_full())
            .filter_map(|level| access.var(level.mode()));
        vars.any(|var| self.concrete.derived_by(var).is_some() && !self.has_loop_through(var))
    }

    /// Whether a loop of the statement, derived by a schedule, looks operands up
    /// rather than walking them.
    fn looks_up(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, var, _| {
            let steps = self.concrete.steps(outer, var);
            found |= matches!(steps, Steps::Positions(_) | Steps::Computed);
        });
        found
    }

    /// Whether a loop of the statement, of those around `inner` or of all, looks
    /// operands up where others lead.
    fn locates(&self, stmt: &Stmt, inner: Option<IndexVar>) -> bool {
        let mut found = false;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, var, body| {
            let Some((through, is_stretch)) = self.through(outer, var) else {
                return;
            };
            let is_around = |inner: IndexVar| {
                let loops = body.loops().into_iter();
                let mut originals = loops.flat_map(|var| self.concrete.originals(var));
                through != inner && originals.any(|original| original == inner)
            };
            let lead = self.lead(through, body, is_stretch);
            found |= inner.is_none_or(is_around) && !lead.located.is_empty();
        });
        found
    }

    /// Whether some loop of the kernel goes through coordinates of `var`.
    fn has_loop_through(&self, var: IndexVar) -> bool {
        let mut found = false;
        let stmt = &self.concrete.stmt;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, here, _| {
            found |= self.through(outer, here).is_some_and(|(it, _)| it == var);
        });
        found
    }

    /// The lattice of the loop that goes through coordinates of `var` around the
    /// assignment of the result.
    pub(crate) fn result_lattice(&self, var: IndexVar) -> Option<Lattice> {
        let mut found = None;
        let stmt = &self.concrete.stmt;
        for_each_loop(stmt, &mut Vec::new(), &mut |outer, here, body| {
            let is_through = self.through(outer, here).is_some_and(|(it, _)| it == var);
            if found.is_none() && is_through && self.assigned(body).is_some() {
                found = Some(body);
            }
        });
        Some(self.lattice(var, found?))
    }
}

/// Calls `visit` with every loop: those around it, its variable and its body.
fn for_each_loop<'s>(
    stmt: &'s Stmt,
    outer: &mut Vec<IndexVar>,
    visit: &mut dyn FnMut(&[IndexVar], IndexVar, &'s Stmt),
) {
    match stmt {
        Stmt::Assign { .. } => {}
        Stmt::Forall { var, body } => {
            visit(outer, *var, body);
            outer.push(*var);
            for_each_loop(body, outer, visit);
            outer.pop();
        }
        Stmt::Where { consumer, producer } => {
            for_each_loop(consumer, outer, visit);
            for_each_loop(producer, outer, visit);
        }
        Stmt::Sequence(stmts) => stmts
            .iter()
            .for_each(|stmt| for_each_loop(stmt, outer, visit)),
    }
}
