//! Instances of clauses for the terms in the rows.
//!
//! Monotone and injective functions and quantifiers are clauses: disjunctions that hold for all
//! values of their variables. So is the rule that equal arguments have equal values:
//!
//! ```text
//! f nondecreasing      a > b  or  f(a) <= f(b)
//! ```
//!
//! For `f(i)` and `f(j + 1)` in the rows, `a` and `b` take the values `i` and `j + 1`. This
//! instance is a **choice** and its literals are **members**. If all members but one are refuted,
//! the last one holds (unit propagation). Choices share their members, so each is refuted once.
//!
//! **New terms.** If one call determines all variables of a clause, the other calls of the clause
//! may be new. A new call has a value only in the domain of its function. The choice therefore gets
//! more members, which say that the call is outside of the domain:
//!
//! ```text
//! forall e : 0 <= e < m => ptr(e) <= diag(e)      and diag(c) in the rows
//!
//! c < 0  or  c >= m  or  ptr(c) <= diag(c)  or  c outside of the domain of ptr
//! ```
//!
//! A new call may create further calls, but those create none. A conclusion about a new call
//! depends on the rows that put it into its domain.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::form::{Form, Instances, place};
use super::theory::Theory;
use super::{Facts, MOST_ROUNDS};
use crate::budget::Budget;
use crate::declarations::Declarations;
use crate::key;
use crate::linear::{Except, Linear, Sources};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Terms for which one declared choice is tried.
pub(crate) const MOST_INSTANCES: usize = 600;
/// New calls that clauses may create.
pub(crate) const MOST_CREATED: usize = 24;
/// Generations of calls that are created from created calls.
const MOST_GENERATIONS: usize = 2;

/// The choices that are still open.
#[derive(Clone)]
pub(super) struct Choices {
    forms: Rc<[Form]>,
    /// For each form, how many calls of its functions there were when instances were made last.
    seen: Vec<usize>,
    /// How many atoms there were then.
    n_atoms: usize,
    /// The calls for which choices were made.
    calls: BTreeSet<Atom>,
    /// The opposite of the row of each member. A proof of it refutes the member.
    members: Vec<Rc<Linear>>,
    /// The members by these opposites.
    numbers: HashMap<Rc<Linear>, usize, FxBuildHasher>,
    tried: Vec<Tried>,
    made: HashSet<Rc<[usize]>, FxBuildHasher>,
    /// For each clause, the candidates of its variables whose instances are made.
    instantiated: Vec<Rc<Vec<Vec<Polynomial>>>>,
    /// For each clause, the calls that determine an instance, with their patterns, and the new calls
    /// that it was made with.
    determined: Vec<Rc<Determined>>,
    open: Vec<Choice>,
    /// Decided choices, with the rows that decided them.
    taken: Vec<(Choice, Sources)>,
    /// New calls, with their generation.
    created: HashMap<Atom, usize, FxBuildHasher>,
    /// New calls that a row contains by now, with the rows that give them a value.
    reasons: HashMap<Atom, Sources, FxBuildHasher>,
}

/// The new calls of instances that one call determines, by the number of its pattern and the call.
type Determined = HashMap<(usize, Atom), BTreeSet<Atom>, FxBuildHasher>;

/// An instance of a clause: one of the members holds. It depends on the rows `from`, which give its
/// calls a value.
#[derive(Clone)]
struct Choice {
    members: Rc<[usize]>,
    from: Sources,
}

/// What is known of a member.
#[derive(Clone, Copy)]
enum Tried {
    /// No proof refutes it as long as the facts have this version.
    Open((usize, usize)),
    Refuted(Sources),
}

impl Choices {
    pub(super) fn of(theory: &Theory) -> Self {
        let forms = Rc::clone(&theory.forms);
        Self {
            seen: vec![usize::MAX; forms.len()],
            instantiated: vec![Rc::default(); forms.len()],
            determined: vec![Rc::default(); forms.len()],
            n_atoms: usize::MAX,
            forms,
            calls: BTreeSet::new(),
            members: Vec::new(),
            numbers: HashMap::default(),
            tried: Vec::new(),
            made: HashSet::default(),
            open: Vec::new(),
            taken: Vec::new(),
            created: HashMap::default(),
            reasons: HashMap::default(),
        }
    }

    /// Records that a row contains a new call for the first time, and the rows that this row
    /// follows from.
    pub(super) fn note_reason(&mut self, atom: &Atom, from: Sources) {
        if self.created.contains_key(atom) {
            self.reasons.insert(atom.clone(), from);
        }
    }

    /// Records that a given row contains a call, which therefore has a value.
    pub(super) fn give(&mut self, atom: &Atom) {
        if self.created.remove(atom).is_some() {
            self.reasons.remove(atom);
            self.seen.fill(usize::MAX);
            self.n_atoms = usize::MAX;
        }
    }

    /// Whether a clause created a call, which has a value only where the rows say so.
    pub(super) fn is_created(&self, atom: &Atom) -> bool {
        self.created.contains_key(atom)
    }

    /// The rows that give a call a value; none for a call of the given rows.
    pub(super) fn reason(&self, atom: &Atom) -> Sources {
        self.reasons.get(atom).copied().unwrap_or(Sources::NONE)
    }

    /// The number of a row as a member; `None` if it holds anyway.
    fn member(&mut self, row: &Linear) -> Option<usize> {
        let opposite = row.negated().filter(|_| !row.is_true())?;
        if let Some(number) = self.numbers.get(&opposite) {
            return Some(*number);
        }
        let number = self.members.len();
        let opposite = Rc::new(opposite);
        self.numbers.insert(opposite.clone(), number);
        self.members.push(opposite);
        self.tried.push(Tried::Open((usize::MAX, usize::MAX)));
        Some(number)
    }
}

impl Facts {
    /// Takes the one member of a choice that is left, for terms that fit.
    pub(super) fn hold_choices(&mut self) -> bool {
        self.make_choices();
        let mut new = false;
        for choice in std::mem::take(&mut self.choices.open) {
            match self.left(&choice, Except::default()) {
                Some((row, from)) => {
                    new |= self.hold(Some(row), from);
                    self.choices.taken.push((choice, from));
                }
                None => self.choices.open.push(choice),
            }
        }
        new
    }

    /// Decides choices again whose decision depended on given rows, as far as other rows suffice.
    pub(super) fn retake(&mut self, without: Sources) {
        let except = Except {
            sources: without,
            given: None,
        };
        for _ in 0..MOST_ROUNDS {
            let mut taken = std::mem::take(&mut self.choices.taken);
            let mut new = false;
            for (choice, from) in taken.iter_mut().filter(|(_, from)| from.meet(without)) {
                if let Some((row, others)) = self.left(choice, except) {
                    let row = self.system.linear(&row);
                    self.system.add(&row, others, None);
                    *from = others;
                    new = true;
                }
            }
            self.choices.taken = taken;
            if !new {
                return;
            }
        }
    }

    /// The only member that is not refuted, with the rows that refute the others.
    fn left(&mut self, choice: &Choice, except: Except) -> Option<(Row, Sources)> {
        let mut from = choice.from;
        if from.meet(except.sources) {
            return None;
        }
        let mut left = None;
        for member in &*choice.members {
            match self.refutation(*member, except) {
                Some(sources) => from = from.and(sources),
                None if left.is_some() => return None,
                None => left = Some(*member),
            }
        }
        // If all members are refuted, the rows contradict each other.
        let never = || Row {
            sum: Polynomial::integer(-1),
            sign: Sign::NonNegative,
        };
        let row = left.map(|member| {
            let row = self.choices.members[member].negated();
            self.system.row(&row.expect("it is the opposite of one"))
        });
        Some((row.unwrap_or_else(never), from))
    }

    /// The rows that refute a member, if there is a proof.
    fn refutation(&mut self, member: usize, except: Except) -> Option<Sources> {
        let opposite = self.choices.members[member].clone();
        if except != Except::default() {
            return self.trial(&opposite, except);
        }
        let version = (self.system.n_added(), self.known.len());
        match self.choices.tried[member] {
            Tried::Refuted(sources) => return Some(sources),
            Tried::Open(then) if then == version => return None,
            Tried::Open(_) => {}
        }
        let sources = self.trial(&opposite, except);
        self.choices.tried[member] = sources.map_or(Tried::Open(version), Tried::Refuted);
        sources
    }

    fn make_choices(&mut self) {
        // Instances follow from the atoms, of which there are never fewer.
        if std::mem::replace(&mut self.choices.n_atoms, self.atoms.len()) == self.atoms.len() {
            return;
        }
        let calls = self.atoms.iter();
        let calls = calls.filter(|atom| matches!(atom, Atom::Call(..)));
        let calls: BTreeSet<Atom> = calls.cloned().collect();
        let forms = self.choices.forms.clone();
        for (number, form) in forms.iter().enumerate() {
            let n_calls = form.n_calls(&calls);
            if std::mem::replace(&mut self.choices.seen[number], n_calls) == n_calls {
                continue;
            }
            self.make_instances(number, form, &calls);
            if form.is_stated {
                self.make_terms(number, form, &calls);
            }
        }
        if calls.len() > self.choices.calls.len() {
            self.make_congruences(&calls);
            self.choices.calls = calls;
        }
    }

    /// Equal arguments give equal values; equal keys on a curve are of equal
    /// coordinates.
    fn make_congruences(&mut self, calls: &BTreeSet<Atom>) {
        for first in calls {
            let is_old = self.choices.calls.contains(first);
            for second in calls.range(first..).skip(1) {
                let (Atom::Call(f, xs), Atom::Call(g, ys)) = (first, second) else {
                    continue;
                };
                if f != g {
                    break;
                }
                if xs.len() != ys.len() || is_old && self.choices.calls.contains(second) {
                    continue;
                }
                let compared = |x: &Polynomial, y: &Polynomial, sign| {
                    x.plus(-1, y).map(|sum| Row { sum, sign })
                };
                let [a, b] = [first, second].map(|call| Polynomial::atom(call.clone()));
                if key::is_injective(f) {
                    let pairs = || xs.iter().zip(&**ys).enumerate();
                    if pairs().any(|(at, (x, y))| key::is_extent(f, at) && x != y) {
                        continue;
                    }
                    for (_, (x, y)) in pairs().filter(|(at, _)| !key::is_extent(f, *at)) {
                        let differ = compared(&a, &b, Sign::NonZero);
                        self.open([differ, compared(x, y, Sign::Zero)]);
                    }
                }
                let pairs = xs.iter().zip(&**ys).filter(|(x, y)| x != y);
                let differ = pairs.map(|(x, y)| compared(x, y, Sign::NonZero));
                self.open(differ.chain([compared(&a, &b, Sign::Zero)]));
            }
        }
    }

    /// Adds the instances of a clause that contain no new call.
    fn make_instances(&mut self, number: usize, form: &Form, calls: &BTreeSet<Atom>) {
        let theory = Rc::clone(&self.theory);
        let mut instances = Instances::of(form, calls, &theory.declarations);
        let counts = instances.counts();
        let mut all = counts.iter();
        let n_instances = all.try_fold(1usize, |n, count| n.checked_mul(*count));
        let Some(n_instances) = n_instances.filter(|n| *n <= MOST_INSTANCES) else {
            self.spent.get_or_insert(Budget::Instances);
            return;
        };
        if n_instances == 0 {
            return;
        }
        // Instances of candidates that were there before are made, if they have no call that was new.
        let before = form
            .has_single_calls()
            .then(|| instances.are_among(&self.choices.instantiated[number]));
        self.choices.instantiated[number] = Rc::new(instances.candidates().to_vec());
        instances.number(&mut self.system);
        // A literal is the same member in all instances that agree in its variables.
        let members = form.literals.iter().map(|literal| {
            let n: usize = literal.variables.iter().map(|v| counts[*v]).product();
            vec![None; n]
        });
        let mut members: Vec<Vec<Option<Option<usize>>>> = members.collect();
        // The candidate of each variable; the last variable changes first.
        let mut at = vec![0; form.n_variables];
        for _ in 0..n_instances {
            let is_made = before.as_ref().is_some_and(|before| {
                let mut both = std::iter::zip(&at, before);
                both.all(|(at, before)| before[*at])
            });
            if !is_made {
                let literals = form.literals.iter().zip(&mut members);
                let instance = literals.map(|(literal, members)| {
                    let place = place(&literal.variables, &at, &counts);
                    *members[place].get_or_insert_with(|| {
                        let row = instances.row(literal, &at, &mut self.system)?;
                        self.choices.member(&row)
                    })
                });
                if let Some(instance) = instance.collect::<Option<Vec<usize>>>() {
                    self.open_members(instance);
                }
            }
            for (place, count) in at.iter_mut().zip(&counts).rev() {
                *place += 1;
                if *place < *count {
                    break;
                }
                *place = 0;
            }
        }
    }

    /// Adds the instances of a clause that one call determines and that contain new calls.
    fn make_terms(&mut self, number: usize, form: &Form, calls: &BTreeSet<Atom>) {
        for call in calls {
            let mut patterns = form.patterns.iter().enumerate();
            let patterns = patterns.by_ref().filter(|(_, pattern)| pattern.is_of(call));
            for (place, pattern) in patterns {
                let generation = self.choices.created.get(call).copied().unwrap_or(0);
                if generation >= MOST_GENERATIONS {
                    break;
                }
                let key = (place, call.clone());
                // Calls stay, so an instance changes only if a new call of it is none any more.
                let before = self.choices.determined[number].get(&key);
                if before.is_some_and(|new| new.is_disjoint(calls)) {
                    continue;
                }
                let values = pattern.matched(call, form.n_variables);
                let rows = values.and_then(|values| {
                    let rows = form.literals.iter().map(|literal| literal.row.at(&values));
                    rows.collect::<Option<Vec<Row>>>()
                });
                let new = rows.and_then(|rows| {
                    let new = new_calls(&rows, calls, &self.theory.declarations)?;
                    Some((rows, new)).filter(|(_, new)| !new.is_empty())
                });
                let Some((mut rows, new)) = new else {
                    Rc::make_mut(&mut self.choices.determined[number]).insert(key, BTreeSet::new());
                    continue;
                };
                let count = new
                    .iter()
                    .filter(|n| !self.choices.created.contains_key(*n));
                if self.choices.created.len() + count.count() > MOST_CREATED {
                    self.spent.get_or_insert(Budget::Calls);
                    continue;
                }
                let outside: Option<Vec<Vec<Row>>> =
                    new.iter().map(|call| self.outside(call)).collect();
                let Some(outside) = outside else { continue };
                rows.extend(outside.into_iter().flatten());
                for call in &new {
                    let created = self.choices.created.entry(call.clone());
                    created.or_insert(generation + 1);
                }
                Rc::make_mut(&mut self.choices.determined[number]).insert(key, new);
                self.open(rows.into_iter().map(Some));
            }
        }
    }

    /// The comparisons of which one holds if a call is outside of its domain; `None` if they are
    /// unknown.
    fn outside(&self, call: &Atom) -> Option<Vec<Row>> {
        let Atom::Call(name, arguments) = call else {
            return Some(Vec::new());
        };
        let domain = self
            .theory
            .declarations
            .function(name)?
            .domain_at(arguments)?;
        let outside = domain.iter().map(|link| {
            let (comparison, right) = &link.rest[0];
            Row::of(&link.first, comparison.negated(), right)
        });
        outside.collect()
    }

    /// Opens a choice of rows, unless one of them is none or holds anyway.
    fn open(&mut self, rows: impl IntoIterator<Item = Option<Row>>) {
        let members = rows.into_iter().map(|row| {
            let row = self.system.linear(&row?);
            self.choices.member(&row)
        });
        if let Some(members) = members.collect() {
            self.open_members(members);
        }
    }

    fn open_members(&mut self, members: Vec<usize>) {
        if self.choices.made.contains(&members[..]) {
            return;
        }
        let members: Rc<[usize]> = members.into();
        let mut from = Sources::NONE;
        if !self.choices.reasons.is_empty() {
            for member in &*members {
                let row = &self.choices.members[*member];
                let reason = |atom: &Atom| self.choices.reason(atom);
                self.system
                    .visit(row, &mut |atom| from = from.and(reason(atom)));
            }
        }
        self.choices.made.insert(members.clone());
        self.choices.open.push(Choice { members, from });
    }
}

/// The calls of rows that are not in `calls`; `None` if a quotient may have no value.
fn new_calls(rows: &[Row], calls: &BTreeSet<Atom>, known: &Declarations) -> Option<BTreeSet<Atom>> {
    let mut new = BTreeSet::new();
    let mut is_known = true;
    for row in rows {
        row.sum.visit(&mut |atom| match atom {
            Atom::Call(name, _) if known.is_key(name) => {}
            Atom::Call(..) if !calls.contains(atom) => {
                new.insert(atom.clone());
            }
            Atom::Call(..) => {}
            _ => is_known &= !atom.is_partial(),
        });
    }
    is_known.then_some(new)
}
