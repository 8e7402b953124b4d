//! Which points have to run before which others, and whether they still do.
//!
//! Two points **conflict** if they touch the same entry, one of them writes it,
//! and it makes a difference which comes first. A transformation is right if
//! conflicting points run in the order in which they ran before. With `W` and
//! `R` the relations from points to entries,
//!
//! ```text
//! conflict  =  W then R⁻¹                      points s → t that meet at an entry
//! broken    =  conflict ∩ { s → t : before(s) < before(t) && after(t) < after(s) }
//! ```
//!
//! has to be empty whatever parameters and index arrays are, and that has to be
//! proved. Where it is not, the transformation is refused, with the dependence:
//! **flow** where an entry is written and then read, **anti** where it is read
//! and then written, **output** where it is written twice.
//!
//! A window that [follows the order](crate::Window::follows_order) of points keeps it: each two
//! points of its statement conflict.
//!
//! That loops depend on an index array is a conflict with all of its writes
//! (see [`Reference`]), so that one check covers inspectors as well.
//!
//! Source: Pugh and Wonnacott, "Constraint-based array dependence analysis",
//! TOPLAS 1998, <https://doi.org/10.1145/291889.291900>.

use std::fmt;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Relation, Rewrite, Variable,
};

use crate::accesses::Reference;
use crate::computation::{Computation, Statement, StatementId};
use crate::proofs::Proofs;

/// Points of one statement that have to run before points of another.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The statement that runs first.
    pub from: StatementId,
    /// The statement that depends on it.
    pub to: StatementId,
    /// What the two do with an entry.
    pub kind: DependenceKind,
    /// The data they meet at.
    pub space: String,
    /// From points of the first to points of the second.
    pub relation: Relation,
}

/// Why one point has to run before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependenceKind {
    /// It writes what the other reads.
    Flow,
    /// It reads what the other overwrites.
    Anti,
    /// Both write, and the other comes last.
    Output,
}

impl DependenceKind {
    fn of(first: &Reference, second: &Reference) -> Self {
        match (first.effect.is_write(), second.effect.is_write()) {
            (true, true) => Self::Output,
            (true, false) => Self::Flow,
            _ => Self::Anti,
        }
    }

    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Anti => "anti",
            Self::Output => "output",
        }
    }
}

/// When the points of a statement run, as in [`Statement::time`].
pub(crate) type Time = Vec<Expression>;

impl Computation {
    /// The dependences between statements that are not proved to be empty, in
    /// the order of the statements.
    ///
    /// # Errors
    /// As [`Relation::then`].
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let scan: Computation = "computation scan {
    ///   parameters N
    ///   inout x : f64[N]
    ///   s0: x(i) = x(i) + x(i - 1) over {[i] : 1 <= i < N}
    /// }".parse()?;
    /// let found = scan.dependences()?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(
    ///     scan.dependence_text(&found[0]).to_string(),
    ///     "flow s0 -> s0 through x: {[i] -> [i_1] : 1 <= i && i_1 < N && i = i_1 - 1}",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn dependences(&self) -> Result<Vec<Dependence>> {
        let known = self.known();
        let times = self.times();
        let mut found = Vec::new();
        self.for_conflicts(|from, to, kind, space, conflict| {
            let order = earlier(self, (from, &times), (to, &times));
            let Some(order) = order else { return Ok(()) };
            let relation = conflict.intersect(&order)?;
            if !relation.is_refuted(&known) {
                found.push(Dependence {
                    from,
                    to,
                    kind,
                    space: space.to_owned(),
                    relation: without_empty_parts(&relation, &known),
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// A dependence with the names of its statements.
    pub fn dependence_text<'a>(&'a self, dependence: &'a Dependence) -> impl fmt::Display + 'a {
        struct Text<'a>(&'a Computation, &'a Dependence);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self(computation, dependence) = self;
                let name = |id| &computation.statement(id).name;
                let (from, to) = (name(dependence.from), name(dependence.to));
                let kind = dependence.kind.word();
                write!(f, "{kind} {from} -> {to} through {}: ", dependence.space)?;
                write!(f, "{}", dependence.relation)
            }
        }
        Text(self, dependence)
    }

    /// Checks that index arrays are written before any iteration space or
    /// schedule speaks of them.
    ///
    /// # Errors
    /// `E0806` where that is not proved.
    pub fn check_settled(&self) -> Result<()> {
        let proofs = Proofs::of(self);
        let times = self.times();
        for id in self.ids() {
            let arrays = self.index_arrays(id);
            for writer in arrays.iter().flat_map(|name| self.writers(name)) {
                let Some(late) = earlier(self, (id, &times), (writer, &times)) else {
                    continue;
                };
                let of = |id: StatementId| &self.statement(id).space;
                let late = late.restricted_to(of(id))?;
                let late = late.range_restricted_to(of(writer))?;
                if id == writer || !proofs.is_none(&late) {
                    return Err(proofs.noted(self.unsettled(id)));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn unsettled(&self, id: StatementId) -> Diagnostic {
        let (source, place) = self.place_of(id);
        let arrays = self.index_arrays(id);
        let mut written = arrays
            .iter()
            .filter(|name| self.writers(name).next().is_some());
        let array = written.next().map_or("", String::as_str);
        let name = &self.statement(id).name;
        let writers: Vec<&str> = self
            .writers(array)
            .map(|id| self.statement(id).name.as_str())
            .collect();
        Diagnostic::new(
            code::COMPUTATION_UNSETTLED,
            format!("the points of `{name}` depend on `{array}` before it is written"),
        )
        .at(&source, place, format!("its loops depend on `{array}`"))
        .help(format!(
            "schedule it after the last point of `{}`",
            writers.join("` and `")
        ))
    }

    /// When the points of each statement run.
    pub(crate) fn times(&self) -> Vec<Time> {
        let length = self.schedule_length();
        let times = self.ids().map(|id| self.statement(id).time(id, length));
        times.collect()
    }

    /// Checks that conflicting points run in the order in which they ran at the
    /// times `before`, which speak of this computation's variables.
    ///
    /// # Errors
    /// `E0807` with the first dependence that is not proved to be kept.
    pub(crate) fn check_order(&self, before: &[Time]) -> Result<()> {
        let proofs = Proofs::of(self);
        let after = self.times();
        self.for_conflicts(|from, to, kind, space, conflict| {
            let was = earlier(self, (from, before), (to, before));
            let is_not = earlier(self, (to, &after), (from, &after));
            let (Some(was), Some(is_not)) = (was, is_not) else {
                return Ok(());
            };
            let broken = was.intersect(&is_not.inverse())?;
            if proofs.is_none(&broken) {
                return Ok(());
            }
            let broken = conflict.intersect(&broken)?;
            if proofs.is_none(&broken) {
                return Ok(());
            }
            let refused = self.broken(&Dependence {
                from,
                to,
                kind,
                space: space.to_owned(),
                relation: without_empty_parts(&broken, proofs.known()),
            });
            Err(proofs.noted(refused))
        })
    }

    fn broken(&self, dependence: &Dependence) -> Diagnostic {
        let (source, place) = self.place_of(dependence.to);
        let name = |id| &self.statement(id).name;
        let (from, to) = (name(dependence.from), name(dependence.to));
        let (kind, space) = (dependence.kind.word(), &dependence.space);
        let article = match dependence.kind {
            DependenceKind::Flow => "a",
            DependenceKind::Anti | DependenceKind::Output => "an",
        };
        let message = format!("{article} {kind} dependence of `{to}` on `{from}` would break");
        let found = Diagnostic::new(code::DEPENDENCE_BROKEN, message).at(
            &source,
            place,
            format!("meets `{from}` at `{space}`"),
        );
        let first = self.place_of(dependence.from).1;
        let found = match dependence.from == dependence.to {
            true => found,
            false => found.also(&source, first, "has to come first"),
        };
        found
            .note(format!("not proved to be none: {}", dependence.relation))
            .help("leave this order as it is, or declare what makes the dependence impossible")
    }

    /// Calls `visit` for each two statements that meet at an entry, in both
    /// orders, with the points that do.
    fn for_conflicts(
        &self,
        mut visit: impl FnMut(StatementId, StatementId, DependenceKind, &str, &Relation) -> Result<()>,
    ) -> Result<()> {
        for id in self.ids() {
            let windows = self.statement(id).value.windows();
            if windows.iter().any(|(window, _)| window.follows_order()) {
                let name = &self.statement(id).name;
                let pairs = self.all_pairs(id);
                visit(id, id, DependenceKind::Output, name, &pairs)?;
            }
        }
        let references: Vec<Vec<Reference>> = self.ids().map(|id| self.references(id)).collect();
        for from in self.ids() {
            for to in self.ids() {
                let pairs = references[from.index()]
                    .iter()
                    .flat_map(|first| references[to.index()].iter().map(move |s| (first, s)));
                let mut seen: Vec<Relation> = Vec::new();
                for (first, second) in pairs {
                    let meet = first.space == second.space;
                    if !meet || !first.effect.conflicts(second.effect) {
                        continue;
                    }
                    let conflict = first.relation.then(&second.relation.inverse())?;
                    if !seen.contains(&conflict) {
                        let kind = DependenceKind::of(first, second);
                        visit(from, to, kind, &first.space, &conflict)?;
                        seen.push(conflict);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Computation {
    /// From each point of a statement to each.
    pub(crate) fn all_pairs(&self, id: StatementId) -> Relation {
        let space = &self.statement(id).space;
        let mut pairs = Vec::new();
        for first in space.parts() {
            for second in space.parts() {
                let names = |part: &Conjunction| -> Vec<String> {
                    part.inputs().map(|v| part.name(v).to_owned()).collect()
                };
                let mut both = Conjunction::new(names(first), names(second));
                let (inputs, outputs) = (both.inputs(), both.outputs());
                both.conjoin_at(first, inputs);
                both.conjoin_at(second, outputs);
                pairs.push(both);
            }
        }
        Relation::new(pairs).expect("spaces use names in one role")
    }
}

/// From points of one statement to those of another that come after them;
/// `None` if there are none by the form of the times.
pub(crate) fn earlier(
    computation: &Computation,
    (from, from_times): (StatementId, &[Time]),
    (to, to_times): (StatementId, &[Time]),
) -> Option<Relation> {
    let first = computation.statement(from);
    let second = computation.statement(to);
    let shift = Shift(first.variables().len());
    let to_time: Vec<Expression> = to_times[to.index()]
        .iter()
        .map(|e| e.rewritten(&shift))
        .collect();
    let names = |statement: &Statement| -> Vec<String> {
        let part = statement.names();
        part.inputs().map(|v| part.name(v).to_owned()).collect()
    };
    let parts = lexicographic(&from_times[from.index()], &to_time);
    let parts: Vec<Conjunction> = parts
        .into_iter()
        .map(|constraints| {
            let mut part = Conjunction::new(names(first), names(second));
            constraints.into_iter().for_each(|c| part.add(c));
            part
        })
        .collect();
    match parts.is_empty() {
        true => None,
        false => Some(Relation::new(parts).expect("schedules use names in one role")),
    }
}

/// Speaks of the variables of a second tuple in place of those of a first.
pub(crate) struct Shift(pub(crate) usize);

impl Rewrite for Shift {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(Variable::from_index(variable.index() + self.0))
    }
}

/// When one tuple comes before another: alternatives, decided early where
/// elements are numbers.
fn lexicographic(first: &[Expression], second: &[Expression]) -> Vec<Vec<Constraint>> {
    let mut alternatives = Vec::new();
    let mut equal: Vec<Constraint> = Vec::new();
    for (a, b) in first.iter().zip(second) {
        if a == b {
            continue;
        }
        if let (Expression::Integer(a), Expression::Integer(b)) = (a, b) {
            if a < b {
                alternatives.push(equal);
            }
            return alternatives;
        }
        let link = |comparison| Constraint::new(a.clone(), comparison, b.clone());
        let mut less = equal.clone();
        less.push(link(Comparison::Less));
        alternatives.push(less);
        equal.push(link(Comparison::Equal));
    }
    alternatives
}

/// The same pairs in fewer words.
fn without_empty_parts(relation: &Relation, known: &Declarations) -> Relation {
    let parts = relation.parts().iter().filter(|part| {
        let alone = Relation::new(vec![(*part).clone()]).expect("a part of a relation");
        !alone.is_refuted(known)
    });
    let kept: Vec<Conjunction> = parts.cloned().collect();
    match kept.is_empty() {
        true => relation.clone(),
        false => Relation::new(kept)
            .expect("parts of a relation")
            .simplified_under(known),
    }
}
