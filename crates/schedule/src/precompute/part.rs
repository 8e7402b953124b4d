//! `precompute` of a part of a right side, whatever becomes of it.

use sparsec_base::{ElementType, Result};
use sparsec_index::concrete::for_each_nested;
use sparsec_index::{Expr, IndexVar, Operator, Stmt};

use super::Rewrite;
use super::contract::implied;

/// Loops around two parts of a statement, around the first, and around the second.
type Divided<'l> = (&'l [IndexVar], &'l [IndexVar], Vec<IndexVar>);

impl Rewrite<'_> {
    /// Rewrites the outermost nest of loops that does not change the expression, or the
    /// innermost one around an assignment that has it in its right side.
    pub(super) fn part(&mut self, stmt: &Stmt) -> Option<Stmt> {
        if self.vars.is_empty() || matches!(self.found, Some(Ok(()))) {
            return None;
        }
        let (loops, inner) = stmt.nest();
        let mut found = None;
        for_each_nested(inner, &mut |nested| {
            if found.is_none()
                && let Some(part) = self.find(nested.rhs)
            {
                found = Some((part.clone(), nested.loops.to_vec()));
            }
        });
        let (part, below) = found?;
        let divided = match inner {
            Stmt::Assign { .. } => self.loops_of(&part, &loops),
            _ => Ok(self.loops_outside(&part, &loops, &below, inner)?),
        };
        let (outer, repeated, modes) = match divided {
            Ok(found) => found,
            Err(error) => {
                self.found.get_or_insert(Err(error));
                return None;
            }
        };
        let element = part.element(&self.concrete.tensors).computed();
        let value = match part.element(&self.concrete.tensors) == element {
            true => part.clone(),
            false => Expr::Cast(element, Box::new(part.clone())),
        };
        // Adding to the identity lets loops visit what is stored and no more.
        let sum = if element == ElementType::Bool {
            Operator::Or
        } else {
            Operator::Add
        };
        let absent = value.fill(&self.concrete.tensors, &self.concrete.vars);
        let sum = Some(sum).filter(|op| absent.is_some() && absent == op.identity(element));
        let fill = value.fill_of_temporary(&self.concrete.tensors, &self.concrete.vars);
        let access = self.new_workspace(element, fill);
        let read = match part.element(&self.concrete.tensors) == element {
            true => Expr::Access(access.clone()),
            false => Expr::Cast(
                part.element(&self.concrete.tensors),
                Box::new(Expr::Access(access.clone())),
            ),
        };
        let consumer = inner.map_exprs(&mut |rhs| {
            rhs.map_parts(&mut |candidate| (*candidate == part).then(|| read.clone()))
        });
        let producer = Stmt::Assign {
            lhs: access,
            reduce: sum,
            rhs: value,
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(repeated)),
            producer: Box::new(self.renamed(&producer.in_loops(&modes))),
        };
        self.found = Some(Ok(()));
        Some(both.in_loops(outer))
    }

    /// The loops around both what computes a part and what reads it, those around what reads
    /// it, and those around what computes it.
    ///
    /// Loops that do not change a part read again what was computed once. The modes are the
    /// innermost loops, or those of the loops that do change it that the workspace is read in.
    fn loops_of<'l>(&self, part: &Expr, loops: &'l [IndexVar]) -> Result<Divided<'l>> {
        let used = self.used(part);
        let changes = |var: &IndexVar| self.changes(&used, *var);
        let is_mode = |var: &IndexVar| self.vars.contains(var);
        let is_needed = |var: &IndexVar| changes(var) && !is_mode(var);
        let n_outer = loops.iter().rposition(is_needed).map_or(0, |last| last + 1);
        let (outer, inside) = loops.split_at(n_outer);
        let modes: Vec<IndexVar> = inside.iter().copied().filter(is_mode).collect();
        if modes.len() == self.vars.len() && modes.iter().all(changes) {
            return Ok((outer, inside, modes));
        }
        let n_outside = loops.len().saturating_sub(self.vars.len());
        let (outside, innermost) = loops.split_at(n_outside);
        self.expect_modes(innermost, "the innermost loops around it")?;
        let (outer, inside) = loops.split_at(n_outer.min(outside.len()));
        Ok((outer, inside, innermost.to_vec()))
    }

    /// As [`loops_of`](Self::loops_of), where `inner`, which computes temporaries, has the part
    /// further in, in loops over `below`: if some of `loops` do not change it.
    fn loops_outside<'l>(
        &self,
        part: &Expr,
        loops: &'l [IndexVar],
        below: &[IndexVar],
        inner: &Stmt,
    ) -> Option<Divided<'l>> {
        let used = self.used(part);
        let is_mode = |var: &IndexVar| self.vars.contains(var);
        let is_needed = |var: &IndexVar| self.changes(&used, *var) && !is_mode(var);
        let modes: Vec<IndexVar> = below.iter().copied().filter(is_mode).collect();
        let mut is_computed_inside = false;
        inner.for_each(&mut |stmt| {
            if let Stmt::Where { producer, .. } = stmt {
                let made = producer.temporaries();
                let mut read = part.accesses().into_iter();
                is_computed_inside |= read.any(|access| made.contains(&access.tensor));
            }
        });
        let n_outer = loops.iter().rposition(is_needed).map_or(0, |last| last + 1);
        let (outer, repeated) = loops.split_at(n_outer);
        let is_whole = modes.len() == self.vars.len();
        let is_outside = is_whole && !below.iter().any(is_needed) && !is_computed_inside;
        let changes = |var: &IndexVar| self.changes(&used, *var);
        let is_moved = is_outside && !repeated.is_empty() && modes.iter().all(changes);
        is_moved.then_some((outer, repeated, modes))
    }

    /// The variables that a part is computed from, those included that the temporaries that it
    /// reads are.
    fn used(&self, part: &Expr) -> Vec<IndexVar> {
        let implied = implied(&self.concrete);
        let accesses = part.accesses().into_iter();
        let mut used = part.vars();
        used.extend(accesses.flat_map(|it| implied.get(&it.tensor).into_iter().flatten()));
        used
    }

    /// Whether a value that is computed from these variables differs between iterations of a loop.
    fn changes(&self, used: &[IndexVar], var: IndexVar) -> bool {
        let originals = self.concrete.originals(var);
        used.contains(&var) || originals.iter().any(|var| used.contains(var))
    }

    /// The first part of an expression that is what the command names.
    fn find<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        if self.is_expr(expr) {
            return Some(expr);
        }
        match expr {
            Expr::Apply { args, .. } => args.iter().find_map(|arg| self.find(arg)),
            Expr::Cast(_, body) | Expr::Reduce { body, .. } => self.find(body),
            _ => None,
        }
    }
}
