//! `precompute` of a part of a right side, whatever becomes of it.

use sparsec_base::ElementType;
use sparsec_index::{Expr, IndexVar, Operator, Stmt};

use super::Rewrite;
use super::contract::implied;

impl Rewrite<'_> {
    /// Rewrites the innermost nest of loops around an assignment that has the
    /// expression in its right side.
    pub(super) fn part(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let (loops, inner) = stmt.nest();
        let Stmt::Assign { lhs, reduce, rhs } = inner else {
            return None;
        };
        if self.vars.is_empty() || matches!(self.found, Some(Ok(()))) {
            return None;
        }
        let part = self.find(rhs)?.clone();
        let outside = loops.len().checked_sub(self.vars.len())?;
        let (outer, around) = loops.split_at(outside);
        let (outer, repeated) = outer.split_at(self.n_needed(&part, outer));
        if let Err(error) = self.expect_modes(around, "the innermost loops around it") {
            self.found.get_or_insert(Err(error));
            return None;
        }
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
        let consumer = Stmt::Assign {
            lhs: lhs.clone(),
            reduce: reduce.clone(),
            rhs: rhs.map_parts(&mut |candidate| (*candidate == part).then(|| read.clone())),
        };
        let producer = Stmt::Assign {
            lhs: access,
            reduce: sum,
            rhs: value,
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(around).in_loops(repeated)),
            producer: Box::new(self.renamed(&producer.in_loops(around))),
        };
        self.found = Some(Ok(()));
        Some(both.in_loops(outer))
    }

    /// How many of the loops around a part change its value: those inside of them, which do
    /// not, read again what was computed once.
    fn n_needed(&self, part: &Expr, loops: &[IndexVar]) -> usize {
        let implied = implied(&self.concrete);
        let accesses = part.accesses().into_iter();
        let mut used = part.vars();
        used.extend(accesses.flat_map(|it| implied.get(&it.tensor).into_iter().flatten()));
        let is_needed = |var: &IndexVar| {
            let originals = self.concrete.originals(*var);
            used.contains(var) || originals.iter().any(|var| used.contains(var))
        };
        loops.iter().rposition(is_needed).map_or(0, |last| last + 1)
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
