//! Which entries are assigned before anything else happens to them.

use sparsec_computation::{Access, Computation, DataSpace, Statement, Update};
use sparsec_relation::{
    Answer, Conjunction, Constraint, Declarations, Expression, Loops, Relation, Rewrite, Set, Step,
    Variable,
};

use super::emit::Point;
use super::filled::fills;
use super::{compute_type, within};

/// Whether the loop behind a visit does nothing with the visit's target but
/// combine values with it.
pub(super) fn is_held(computation: &Computation, steps: &[Step], at: usize) -> bool {
    let Some([Step::Visit { number, tuple }, next @ Step::For { .. }]) = steps.get(at..at + 2)
    else {
        return false;
    };
    let statement = &computation.statements[*number];
    let target = statement.target.rewritten(&Point(tuple));
    let stored = computation.space(&target.space).map(|space| space.element);
    let mut n_visits = 0;
    let mut is_combined = |statement: &Statement, tuple: &[Expression]| {
        n_visits += 1;
        statement.update != Update::Assign
            && statement.target.rewritten(&Point(tuple)) == target
            && !reads(statement, &target.space)
    };
    statement.update == Update::Assign
        && stored.is_some_and(|stored| stored == compute_type(stored))
        && all_visits(computation, std::slice::from_ref(next), &mut is_combined)
        && n_visits > 0
}

/// Where one statement assigns every entry of the data before anything else uses it: what
/// has to hold for that when it begins.
pub(super) fn assigned_first(
    (whole, computation): (&Computation, &Computation),
    space: &DataSpace,
    known: &Declarations,
    loops: &Loops,
) -> Option<Vec<Constraint>> {
    let mut writers = computation.writers(&space.name);
    writers.find_map(|id| {
        let first = computation.statement(id);
        let is_first = first.update == Update::Assign
            && !reads(first, &space.name)
            && begins(computation, &loops.body, first, &space.name);
        match is_first {
            true if covers(first, space, known) == Some(true) => Some(Vec::new()),
            true => fills((whole, computation), first, space, known),
            false => None,
        }
    })
}

/// Whether the first of these steps that uses the data has `first` do so before all others: each
/// later step finds them assigned.
fn begins(computation: &Computation, steps: &[Step], first: &Statement, space: &str) -> bool {
    let mut is_apart = |statement: &Statement, _: &[Expression]| {
        statement.target.space != space && !reads(statement, space)
    };
    let mut is_used =
        |step: &Step| !all_visits(computation, std::slice::from_ref(step), &mut is_apart);
    let mut is_other = |statement: &Statement, _: &[Expression]| !std::ptr::eq(statement, first);
    match steps.iter().position(&mut is_used) {
        Some(at)
            if matches!(steps[at], Step::For { .. })
                && all_visits(computation, &steps[at + 1..], &mut is_other) =>
        {
            is_first(computation, std::slice::from_ref(&steps[at]), first, space)
        }
        _ => is_first(computation, steps, first, space),
    }
}

/// Whether nothing uses the data in these steps before `first` does, nor behind it but to combine
/// values with the entry just assigned.
fn is_first(computation: &Computation, steps: &[Step], first: &Statement, space: &str) -> bool {
    let mut skip = false;
    steps.iter().enumerate().all(|(at, step)| {
        if std::mem::take(&mut skip) {
            return true;
        }
        if let Step::Visit { number, .. } = step
            && std::ptr::eq(&computation.statements[*number], first)
        {
            skip = is_held(computation, steps, at);
            return true;
        }
        let mut is_apart = |statement: &Statement, _: &[Expression]| {
            statement.target.space != space && !reads(statement, space)
        };
        match step {
            Step::For { body, .. } | Step::If { body, .. } => {
                is_first(computation, body, first, space)
            }
            other => all_visits(computation, std::slice::from_ref(other), &mut is_apart),
        }
    })
}

fn reads(statement: &Statement, space: &str) -> bool {
    let entries = statement.value.entries();
    entries
        .into_iter()
        .any(|access: &Access| access.space == space)
}

fn all_visits(
    computation: &Computation,
    steps: &[Step],
    holds: &mut impl FnMut(&Statement, &[Expression]) -> bool,
) -> bool {
    steps.iter().all(|step| match step {
        Step::Let { .. } | Step::Found => true,
        Step::For { body, .. } | Step::If { body, .. } => all_visits(computation, body, holds),
        Step::Where { search, body, .. } => {
            all_visits(computation, search, holds) && all_visits(computation, body, holds)
        }
        Step::Visit { number, tuple } => holds(&computation.statements[*number], tuple),
    })
}

/// Whether a statement writes every entry of its target.
pub(super) fn covers(
    statement: &Statement,
    space: &DataSpace,
    known: &Declarations,
) -> Option<bool> {
    let names = |prefix: &str, n: usize| (0..n).map(|k| format!("{prefix}{k}")).collect();
    let modes: Vec<String> = names("at", space.extents.len());
    let mut written = Vec::new();
    for part in statement.space.parts() {
        let inputs: Vec<String> = names("x", part.inputs().len());
        let mut image = Conjunction::new(inputs, modes.clone());
        let mut places: Vec<Variable> = image.inputs().collect();
        for variable in part.exists() {
            places.push(image.add_exists(part.name(variable)));
        }
        let places = Places(places);
        image.conjoin(part, &places);
        let outputs = image.outputs();
        for (output, index) in outputs.zip(&statement.target.indices) {
            image.add(Expression::Variable(output).equals(index.rewritten(&places)));
        }
        written.push(image);
    }
    let written = Relation::new(written).ok()?.range();
    let mut all = Conjunction::new(modes, []);
    let inside: Vec<Constraint> = (all.inputs().zip(&space.extents))
        .map(|(at, extent)| within(&Expression::Variable(at), extent))
        .collect();
    for constraint in inside {
        all.add(constraint);
    }
    let left = Set::new(vec![all]).ok()?.minus(&written, known).ok()?;
    Some(left.is_empty(known) == Answer::Yes)
}

struct Places(Vec<Variable>);

impl Rewrite for Places {
    fn variable(&self, variable: Variable) -> Expression {
        use sparsec_base::arena::Id;
        Expression::Variable(self.0[variable.index()])
    }
}
