//! The points over which statements run: those of entries, those of a range, or one.

use sparsec_computation::Statement;
use sparsec_relation::{Constraint, Expression, Set};

use crate::Refusal;
use crate::check::require;
use crate::curve;
use crate::entries::Entries;
use crate::order::{is_after, reads_itself};
use crate::state::State;

impl State<'_> {
    /// Checks that a statement has one point for each entry, and does not read the array that it
    /// writes.
    pub(crate) fn visits(&self, statement: &Statement) -> Result<(), Refusal> {
        require(
            !reads_itself(statement),
            statement,
            "it reads what it writes",
        )?;
        let rest = self.beyond_entries(statement)?;
        match rest.iter().find(|constraint| !self.at_entries(constraint)) {
            Some(_) => Err(Refusal::at(
                statement,
                "it may leave out entries of the source",
            )),
            None => Ok(()),
        }
    }

    /// The comparisons of a statement's iteration space that the entries' constraints lack. The
    /// iteration space must imply those constraints.
    pub(crate) fn beyond_entries(&self, statement: &Statement) -> Result<Vec<Constraint>, Refusal> {
        self.beyond(&self.entries, statement)
    }

    /// As [`beyond_entries`](Self::beyond_entries), for other entries.
    pub(crate) fn beyond(
        &self,
        entries: &Entries,
        statement: &Statement,
    ) -> Result<Vec<Constraint>, Refusal> {
        let wrong = |why: &str| Err(Refusal::at(statement, why));
        let [part] = statement.space.parts() else {
            return wrong("its space is a union");
        };
        let names = part.inputs().map(|v| part.name(v));
        if !names.eq(entries.names().iter()) || part.exists().len() != entries.n_hidden {
            return wrong("its points are not those of the entries");
        }
        let own = entries.part.constraints();
        // Where each place holds an entry, the coordinates of its key are those of the entry.
        let mut with_keys = part.clone();
        let keys = own.iter().flat_map(Constraint::split);
        let keys = keys.filter(|it| self.source_is_full && curve::has_key(part, it));
        keys.for_each(|key| with_keys.add(key));
        let space = Set::new(vec![with_keys]);
        let space = space.map_err(|_| Refusal::at(statement, "a name has two roles"))?;
        let is_met = |constraint: &Constraint| {
            part.constraints().contains(constraint)
                || !entries.hides(constraint) && space.implies(constraint, &self.known)
        };
        if !own.iter().all(is_met) {
            return wrong("it has points that are no entries of the source");
        }
        let beyond = part.constraints().iter().filter(|it| !own.contains(it));
        Ok(beyond.flat_map(Constraint::split).collect())
    }

    /// The `end` of a statement's iteration space `{[x] : 0 <= x < end}`.
    pub(crate) fn sweep(&self, statement: &Statement) -> Result<Expression, Refusal> {
        let sides = statement.space.as_box();
        match sides.as_deref() {
            Some([(least, end)]) if least.simplified() == Expression::Integer(0) => Ok(end.clone()),
            _ => Err(Refusal::at(statement, "it does not run from 0 to an end")),
        }
    }

    /// Checks that the iteration space of a statement is `{[x] : 0 <= x < end}`.
    pub(crate) fn sweeps(&self, statement: &Statement, end: &Expression) -> Result<(), Refusal> {
        require(
            self.are_equal(&self.sweep(statement)?, end),
            statement,
            "it does not reach exactly the end",
        )
    }

    /// Checks that a statement runs exactly once.
    pub(crate) fn runs_once(&self, statement: &Statement) -> Result<(), Refusal> {
        match statement.space.parts() {
            [part] if part.n_variables() == 0 && part.constraints().is_empty() => Ok(()),
            _ => Err(Refusal::at(statement, "it does not run exactly once")),
        }
    }

    /// Checks that a statement belongs to a later sweep than another.
    pub(crate) fn follows(&self, later: &Statement, earlier: &Statement) -> Result<(), Refusal> {
        match is_after(later, earlier) {
            true => Ok(()),
            false => Err(Refusal::at(
                later,
                format!("it does not follow `{}`", earlier.name),
            )),
        }
    }
}
