//! What statements read and write, as relations.
//!
//! ```text
//! s1: y(i) += A(p) * x(crd(p))   over {[i, p] : pos(i) <= p < pos(i + 1)}
//!
//! updates y    {[i, p] -> [a] : … && a = i}
//! reads   A    {[i, p] -> [a] : … && a = p}
//! reads   x    {[i, p] -> [a] : … && a = crd(p)}
//! reads   crd  {[i, p] -> [a] : … && a = p}
//! reads   pos  {[i, p] -> [a] : … }                  all of it: loops depend on it
//! ```
//!
//! An iteration space or schedule that calls a function reads all of its array,
//! since which points there are depends on it. So does a key of a window, since its
//! value depends on the keys of all points; so do the other entries of its value. So does, for want of anything
//! better, an access whose index is an entry that the computation writes: such
//! an index is not the same function at all times, so the access may be to any
//! entry, and is not [`exact`](Reference::exact).

use std::collections::BTreeSet;

use sparsec_base::{Source, Span};
use sparsec_relation::{Conjunction, Constraint, Expression, Relation};

use crate::computation::{Computation, Statement, StatementId};
use crate::value::{Access, Update};

/// What a statement does with some entries of a data space.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The name of the data.
    pub space: String,
    /// What is done with the entries.
    pub effect: Effect,
    /// From points of the iteration space to the indices of entries.
    pub relation: Relation,
    /// Whether these entries are touched for sure; else some of them may be.
    pub exact: bool,
}

/// What is done with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is read.
    Read,
    /// A value takes its place.
    Write,
    /// It is combined with a value. Updates of one kind may change places, up to
    /// the rounding of floating-point sums and products.
    Update(Update),
}

impl Effect {
    /// Whether the entry may have another value afterwards.
    pub fn is_write(self) -> bool {
        self != Self::Read
    }

    /// Whether it makes a difference which of two comes first.
    pub fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read, Self::Read) => false,
            (Self::Update(a), Self::Update(b)) => a != b,
            _ => true,
        }
    }

    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Update(_) => "updates",
        }
    }
}

impl Computation {
    /// What a statement reads and writes; the target comes first.
    pub fn references(&self, id: StatementId) -> Vec<Reference> {
        let statement = self.statement(id);
        let effect = match statement.update {
            Update::Assign => Effect::Write,
            update => Effect::Update(update),
        };
        let mut found = vec![self.reference(statement, &statement.target, effect)];
        for access in statement.value.entries() {
            found.push(self.reference(statement, access, Effect::Read));
        }
        for access in [&statement.target]
            .into_iter()
            .chain(statement.value.entries())
        {
            for access in self.inner(&access.indices) {
                found.push(self.reference(statement, &access, Effect::Read));
            }
        }
        for name in self.index_arrays(id) {
            let space = self.space(&name).expect("an array of the computation");
            found.push(Reference {
                effect: Effect::Read,
                relation: relation(statement, space.extents.len(), None),
                exact: false,
                space: name,
            });
        }
        found
    }

    /// The data that a statement reads and writes.
    pub(crate) fn spaces_of(&self, id: StatementId) -> BTreeSet<String> {
        let statement = self.statement(id);
        let mut names = self.index_arrays(id);
        for access in [&statement.target]
            .into_iter()
            .chain(statement.value.entries())
        {
            names.insert(access.space.clone());
            names.extend(self.inner(&access.indices).into_iter().map(|it| it.space));
        }
        names
    }

    /// The data that the iteration space, the schedule and the keys of a statement
    /// speak of, and the extents of what it touches.
    pub(crate) fn index_arrays(&self, id: StatementId) -> BTreeSet<String> {
        let statement = self.statement(id);
        let mut names = BTreeSet::new();
        for part in statement.space.parts() {
            let constraints = part.constraints().iter();
            for e in constraints.flat_map(Constraint::expressions) {
                self.add_names(e, &mut names);
            }
        }
        for e in &statement.schedule {
            self.add_names(e, &mut names);
        }
        for e in statement.value.expressions() {
            self.add_names(e, &mut names);
        }
        if !statement.value.windows().is_empty() {
            // Its value counts on from what other entries hold.
            let entries = statement.value.entries().into_iter();
            names.extend(entries.map(|access| access.space.clone()));
        }
        let entries = statement.value.entries().into_iter();
        for access in entries.chain([&statement.target]) {
            let inner = self.inner(&access.indices);
            for touched in inner.iter().chain([access]) {
                let space = self.space(&touched.space);
                for e in space.iter().flat_map(|space| &space.extents) {
                    self.add_names(e, &mut names);
                }
            }
        }
        names
    }

    pub(crate) fn add_names(&self, e: &Expression, names: &mut BTreeSet<String>) {
        e.visit(&mut |e| {
            if let Expression::Constant(name) | Expression::Call(name, _) = e
                && self.space(name).is_some()
            {
                names.insert(name.clone());
            }
        });
    }

    /// The entries that index expressions read.
    fn inner(&self, indices: &[Expression]) -> Vec<Access> {
        let mut found = Vec::new();
        for e in indices {
            e.visit(&mut |e| {
                let (space, indices) = match e {
                    Expression::Call(name, arguments) => (name, arguments.clone()),
                    Expression::Constant(name) => (name, Vec::new()),
                    _ => return,
                };
                if self.space(space).is_some() {
                    found.push(Access {
                        space: space.clone(),
                        indices,
                    });
                }
            });
        }
        found
    }

    fn reference(&self, statement: &Statement, access: &Access, effect: Effect) -> Reference {
        let mut names = BTreeSet::new();
        for e in &access.indices {
            self.add_names(e, &mut names);
        }
        let exact = !names.iter().any(|name| self.writers(name).next().is_some());
        let indices = exact.then_some(&access.indices[..]);
        Reference {
            space: access.space.clone(),
            effect,
            relation: relation(statement, access.indices.len(), indices),
            exact,
        }
    }

    /// The place of a statement in the text of the computation.
    pub(crate) fn place_of(&self, id: StatementId) -> (Source, Span) {
        let text = self.to_string();
        let statement = self.statement(id);
        let line = format!("  {}: ", statement.name);
        let lines = text.split_inclusive('\n');
        let mut at = 0;
        for text in lines {
            if text.starts_with(&line) {
                let place = Span::new(at + 2, at + text.trim_end().len());
                let name = format!("computation {}", self.name);
                return (Source::new(name, self.to_string()), place);
            }
            at += text.len();
        }
        unreachable!("a computation prints its statements")
    }
}

/// From the points of a statement to indices: these, or any.
fn relation(statement: &Statement, n_indices: usize, indices: Option<&[Expression]>) -> Relation {
    let parts = statement.space.parts().iter().map(|part| {
        let names = part.inputs().map(|v| part.name(v).to_owned());
        let outputs = (0..n_indices).map(|mode| format!("a{mode}"));
        let mut both = Conjunction::new(names, outputs.collect::<Vec<_>>());
        let inputs = both.inputs();
        both.conjoin_at(part, inputs);
        for (output, e) in both.outputs().zip(indices.unwrap_or_default()) {
            both.add(Expression::Variable(output).equals(e.clone()));
        }
        both
    });
    Relation::new(parts.collect()).expect("a checked computation has names in one role")
}
