//! The automatic pipeline: which transformations to make.
//!
//! 1. Statements without effect are removed, until there are none.
//! 2. Statements are fused with an earlier one, as deeply as is right, where the
//!    two are at the same entry in the same iteration: both read it (*read
//!    reduction*), or one writes what the other reads (*producer and consumer*);
//!    and where the loops of one visit no iterations that those of the other do
//!    not, so that the loops become no more.
//! 3. Temporary data lose the modes that they do without.
//!
//! Before statements are fused, temporary data go whose values are arithmetic on the
//! indices where they are read, as the permutation of a sorted list is.
//!
//! Every choice is a command of a [`Script`].
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion
//! and Optimization", CGO 2023, §3.3.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{Answer, Conjunction, Expression, Relation, Set, Variable};

use crate::computation::{Computation, Role, StatementId};
use crate::script::{Command, Script};
use crate::value::Value;

impl Computation {
    /// The transformations that the automatic pipeline makes, and the result.
    ///
    /// # Errors
    /// As [`Relation::then`]; a transformation that is not right is not made.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let chain: Computation = "computation chain {
    ///   parameters N
    ///   given x : f64[N]
    ///   temporary t : f64[N]
    ///   out y : f64[N]
    ///   s0: t(i) = 2 * x(i) over {[i] : 0 <= i < N}
    ///   s1: y(i) = t(i) + 1 over {[i] : 0 <= i < N}
    /// }".parse()?;
    /// let (script, fused) = chain.optimised()?;
    /// assert_eq!(script.to_string(), "fuse(s0, s1, 2)\nshrink(t, 0)\n");
    /// assert!(fused.to_string().contains("s0: t = 2 * x(i)"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn optimised(&self) -> Result<(Script, Self)> {
        let mut script = Script::default();
        let mut new = self.clone();
        while let Some((command, after)) = new.first_removal()? {
            script.commands.push(command);
            new = after;
        }
        for space in new.spaces.clone() {
            if space.role == Role::Temporary && new.is_arithmetic(&space.name) {
                let command = Command::Substitute(space.name);
                if let Some(after) = attempt(&new, &command)? {
                    script.commands.push(command);
                    new = after;
                }
            }
        }
        for name in new
            .statements
            .iter()
            .map(|s| s.name.clone())
            .collect::<Vec<_>>()
        {
            let second = new.find(&name).expect("fusing keeps all statements");
            for first in new
                .ids()
                .filter(|id| *id < second)
                .rev()
                .collect::<Vec<_>>()
            {
                if let Some((command, after)) = new.deepest_fusion(first, second)? {
                    script.commands.push(command);
                    new = after;
                    break;
                }
            }
        }
        for space in new.spaces.clone() {
            let modes = (0..space.extents.len()).rev();
            for mode in modes.filter(|_| space.role == Role::Temporary) {
                let command = Command::Shrink(space.name.clone(), mode);
                if let Some(after) = attempt(&new, &command)? {
                    script.commands.push(command);
                    new = after;
                }
            }
        }
        Ok((script, new))
    }

    /// Whether what is written to data costs no more than reading them does.
    fn is_arithmetic(&self, name: &str) -> bool {
        self.writers(name).all(|id| {
            let value = &self.statement(id).value;
            match value {
                Value::Window(..) => true,
                _ => value.entries().is_empty() && value.windows().is_empty(),
            }
        })
    }

    fn first_removal(&self) -> Result<Option<(Command, Self)>> {
        for id in self.ids() {
            let command = Command::Remove(self.statement(id).name.clone());
            if let Some(after) = attempt(self, &command)? {
                return Ok(Some((command, after)));
            }
        }
        Ok(None)
    }

    fn deepest_fusion(
        &self,
        first: StatementId,
        second: StatementId,
    ) -> Result<Option<(Command, Self)>> {
        let (s, t) = (self.statement(first), self.statement(second));
        for depth in (1..=s.schedule.len().min(t.schedule.len())).rev() {
            let shared = self.fused_already(first, second, depth);
            if shared || !self.gains(first, second, depth)? {
                continue;
            }
            let command = Command::Fuse(s.name.clone(), t.name.clone(), depth);
            if let Some(after) = attempt(self, &command)? {
                return Ok(Some((command, after)));
            }
        }
        Ok(None)
    }

    fn fused_already(&self, first: StatementId, second: StatementId, depth: usize) -> bool {
        let (s, t) = (self.statement(first), self.statement(second));
        let mut elements = s.schedule.iter().zip(&t.schedule).take(depth);
        elements.all(|(a, b)| match (a, b) {
            (Expression::Integer(a), Expression::Integer(b)) => a == b,
            _ => true,
        })
    }

    /// Whether loops of this depth, the last element a loop, visit no iterations
    /// for one statement that they do not for the other, and both statements are
    /// at one entry in each.
    fn gains(&self, first: StatementId, second: StatementId, depth: usize) -> Result<bool> {
        let (Some(a), Some(b)) = (self.loops(first, depth), self.loops(second, depth)) else {
            return Ok(false);
        };
        let is_number = |e: &Expression| matches!(e, Expression::Integer(_));
        let last = |id| {
            self.statement(id)
                .schedule
                .get(depth - 1)
                .is_some_and(|e| !is_number(e))
        };
        if a.n_outputs() != b.n_outputs() || !last(first) || !last(second) {
            return Ok(false);
        }
        let known = self.known();
        let subset = |a: &Set, b: &Set| {
            let left = a.minus(b, &known);
            left.is_ok_and(|left| left.is_refuted(&known))
        };
        if !subset(&a.range(), &b.range()) && !subset(&b.range(), &a.range()) {
            return Ok(false);
        }
        for mine in self.references(first) {
            for other in self.references(second) {
                let meet = mine.space == other.space && mine.exact && other.exact;
                // From iterations to the entries that each of the two is at.
                if meet
                    && self.same_entries(
                        &a.inverse().then(&mine.relation)?,
                        &b.inverse().then(&other.relation)?,
                    )?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether each is at one entry in an iteration, and both at the same.
    fn same_entries(&self, a: &Relation, b: &Relation) -> Result<bool> {
        let known = self.known();
        Ok(a.union(b)?.is_function(&known) == Answer::Yes)
    }

    /// From points to iterations of the outer loops: the elements of the schedule
    /// that are no numbers. `None` where schedules are shorter than that.
    fn loops(&self, id: StatementId, depth: usize) -> Option<Relation> {
        let statement = self.statement(id);
        let elements = statement.schedule.get(..depth)?.iter();
        let loops: Vec<&Expression> = elements
            .filter(|e| !matches!(e, Expression::Integer(_)))
            .collect();
        let parts = statement.space.parts().iter().map(|part| {
            let names = part.inputs().map(|v| part.name(v).to_owned());
            let outputs = (0..loops.len()).map(|k| format!("t{k}"));
            let mut part_of = Conjunction::new(names, outputs.collect::<Vec<_>>());
            let inputs = part_of.inputs();
            part_of.conjoin_at(part, inputs);
            let outputs: Vec<Variable> = part_of.outputs().collect();
            for (output, e) in outputs.into_iter().zip(&loops) {
                part_of.add(Expression::Variable(output).equals((*e).clone()));
            }
            part_of
        });
        Relation::new(parts.collect()).ok()
    }
}

/// The computation after a transformation; `None` where that is not right.
fn attempt(computation: &Computation, command: &Command) -> Result<Option<Computation>> {
    match computation.transformed(command) {
        Ok(after) => Ok(Some(after)),
        Err(error) if is_refusal(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_refusal(error: &Diagnostic) -> bool {
    [code::TRANSFORMATION, code::DEPENDENCE_BROKEN].contains(&error.code())
}
