//! Refuting a claim about elements of the destination, or about several entries.
//!
//! A goal is a conjunction that shall be impossible. What lemmas say of numbers cannot be said
//! in it, since it speaks of all entries at once. So a **witness** is taken for each element
//! that has one: an entry, with variables of its own.
//!
//! ```text
//! goal       {[p, q1, q2] : pos(p) <= q1 < q2 < pos(p + 1) && crd(q1) >= crd(q2)}
//! witness    of q1: (i, n, j)      i, n, j an entry,  B_q1(n) = q1,  j = p,  crd(q1) = i
//! witness    of q2: (i', n', j')   the same
//! cases      q1 < q2, so that (j, i, n, j) < (j', i', n', j') by the keys of B_q1, then visits:
//!                j < j'                       j = p = j'
//!                j = j' && i < i'             crd(q1) = i < i' = crd(q2)
//!                j = j' && i = i' && n < n'   one entry in two places
//! ```
//!
//! A case that the prover refutes is done; else the next pair of numbers, or the next array
//! with marks, is split. All cases have to be refuted within [`MOST_PROOFS`].

use std::cell::Cell;
use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set, Values, Variable};

use crate::entries::{At, variable};
use crate::order::spoken;
use crate::state::{Held, NumberingKind, State, after};

/// Proofs that may be tried for one goal.
const MOST_PROOFS: usize = 600;

/// A conjunction that shall be impossible.
#[derive(Clone)]
pub(crate) struct Goal {
    n: usize,
    constraints: Vec<Constraint>,
    /// A numbering, an expression that is the number of an entry, and where the entry's variables begin.
    numbers: Vec<(usize, Expression, usize)>,
    /// Entries with their variables.
    entries: Vec<usize>,
    /// Arrays that hold one of two things at an expression.
    choices: Vec<(String, Expression)>,
    /// Expressions whose order may matter.
    compared: Vec<(Expression, Expression)>,
    /// Entries that are one if their coordinates are equal.
    pairs: Vec<(usize, usize)>,
    /// Such entries of which this is looked at before numbers are.
    early: Vec<(usize, usize)>,
    /// Where the variables of the destination's tuples begin.
    tuples: Vec<usize>,
    /// Pairs of numbers that were compared.
    split: BTreeSet<(usize, usize)>,
}

impl Goal {
    /// Constraints on variables, of which there are `n`.
    pub(crate) fn new(n: usize, constraints: Vec<Constraint>) -> Self {
        Self {
            n,
            constraints,
            numbers: Vec::new(),
            entries: Vec::new(),
            choices: Vec::new(),
            compared: Vec::new(),
            tuples: Vec::new(),
            pairs: Vec::new(),
            early: Vec::new(),
            split: BTreeSet::new(),
        }
    }

    pub(crate) fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// Says that variables from here on are a tuple of the destination.
    pub(crate) fn tuple_at(&mut self, at: usize) {
        self.tuples.push(at);
    }

    /// Lets the order of two expressions be looked at, if nothing else helps.
    pub(crate) fn compare(&mut self, a: Expression, b: Expression) {
        if !self.compared.contains(&(a.clone(), b.clone())) {
            self.compared.push((a, b));
        }
    }

    /// As [`compare`](Self::compare), for the elements of the destination's tuple at two
    /// entries that coordinates determine.
    fn compare_tuples(&mut self, state: &State<'_>, from: usize, to: usize) {
        let n = state.destination.map.inputs().len();
        for element in state.tuple[..n].iter().rev() {
            let is_plain = |numbering: &crate::state::Numbering| {
                let mut speaks = false;
                element.visit(&mut |e| speaks |= *e == numbering.value);
                !speaks
            };
            let is_sum = !matches!(element, Expression::Variable(_));
            if is_sum && state.numberings.iter().all(is_plain) {
                self.compare(element.rewritten(&At(from)), element.rewritten(&At(to)));
            }
        }
    }

    /// An entry with variables of its own; returns the first of them.
    pub(crate) fn entry(&mut self, state: &State<'_>) -> usize {
        let at = self.n;
        self.n += state.entries.n();
        let own = state.entries.part.constraints().iter();
        self.constraints.extend(own.map(|it| it.rewritten(&At(at))));
        self.entries.push(at);
        at
    }

    /// Lets the number of an entry be compared with others.
    pub(crate) fn number(&mut self, state: &State<'_>, numbering: usize, at: usize) {
        let value = state.numberings[numbering].value.rewritten(&At(at));
        self.numbers.push((numbering, value, at));
    }

    /// As [`number`](Self::number), for all numbers that an expression of an entry speaks of.
    pub(crate) fn numbers_in(&mut self, state: &State<'_>, e: &Expression, at: usize) {
        for (number, numbering) in state.numberings.iter().enumerate() {
            let mut speaks = false;
            e.visit(&mut |e| speaks |= *e == numbering.value);
            if speaks {
                self.number(state, number, at);
            }
        }
    }

    /// The first of the variables that the constraints make equal to a variable.
    fn first_equal(&self, e: &Expression) -> Expression {
        let mut first = e.clone();
        let is_variable = |e: &Expression| matches!(e, Expression::Variable(_));
        let links = self.constraints.iter().flat_map(Constraint::split);
        let links = links.filter(|link| {
            matches!(&link.rest[..], [(Comparison::Equal, b)]
            if is_variable(&link.first) && is_variable(b))
        });
        let links: Vec<Constraint> = links.collect();
        let index = |e: &Expression| match e {
            Expression::Variable(v) => v.index(),
            _ => usize::MAX,
        };
        while is_variable(&first) {
            let lesser = links.iter().find_map(|link| {
                let (a, b) = (&link.first, &link.rest[0].1);
                let other = if *a == first { b } else { a };
                let is_of = *a == first || *b == first;
                (is_of && index(other) < index(&first)).then(|| other.clone())
            });
            let Some(lesser) = lesser else { break };
            first = lesser;
        }
        first
    }

    /// A witness of a number: an entry that has it.
    fn witness(&mut self, state: &State<'_>, numbering: usize, number: &Expression) -> usize {
        let number = &self.first_equal(number);
        let known = self
            .numbers
            .iter()
            .find(|(n, e, _)| *n == numbering && e == number);
        if let Some((.., at)) = known {
            return *at;
        }
        let at = self.entry(state);
        let value = state.numberings[numbering].value.rewritten(&At(at));
        self.add(value.equals(number.clone()));
        self.numbers.push((numbering, number.clone(), at));
        at
    }

    /// Takes witnesses for the elements of which the constraints speak.
    pub(crate) fn with_witnesses(mut self, state: &State<'_>) -> Self {
        let given = self.constraints.clone();
        // Segments of inner levels come last, and their witnesses do for outer ones.
        for (segments, at, element) in given.iter().rev().flat_map(|it| members(state, it)) {
            let segments = &state.segments[segments];
            let witness = self.witness(state, segments.numbering, &element);
            let parent = segments.parent.rewritten(&At(witness));
            self.add(parent.equals(at.clone()));
            if let Some(outer) = state.numbering(&segments.parent) {
                let at = self.first_equal(&at);
                let own = (outer, at.clone(), witness);
                if !self.numbers.contains(&own) {
                    self.numbers.push(own);
                }
            }
        }
        let mut calls: Vec<(String, Expression)> = Vec::new();
        for e in given.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e
                    && let [argument] = &arguments[..]
                    && !calls.contains(&(name.clone(), argument.clone()))
                {
                    calls.push((name.clone(), argument.clone()));
                }
            });
        }
        for (name, argument) in &calls {
            match state.held.get(name) {
                Some(Held::Keys { numbering, value }) => {
                    let witness = self.witness(state, *numbering, argument);
                    let call = Expression::Call(name.clone(), vec![argument.clone()]);
                    self.add(call.equals(value.rewritten(&At(witness))));
                }
                Some(Held::Marked { .. }) => self.choices.push((name.clone(), argument.clone())),
                Some(Held::Lengths { .. }) => {
                    let next = (name.clone(), after(argument));
                    if calls.contains(&next) {
                        self.choices.push((name.clone(), argument.clone()));
                    }
                }
                _ => {}
            }
        }
        self
    }

    /// Looks first at whether two witnesses are one entry.
    pub(crate) fn with_same_entries(mut self, state: &State<'_>) -> Self {
        let entries = &self.entries;
        let pairs = entries
            .iter()
            .enumerate()
            .flat_map(|(n, a)| entries[n + 1..].iter().map(|b| (*a, *b)));
        if state.are_apart {
            self.early = pairs.collect();
        }
        self
    }

    /// Whether there is a proof that the goal is impossible.
    pub(crate) fn is_refuted(&self, state: &State<'_>) -> bool {
        // What arrays hold at the entries of the goal.
        let mut goal = self.clone();
        let names = self.constraints.iter().flat_map(Constraint::expressions);
        let facts = state.relevant(names.flat_map(spoken).collect());
        for at in &self.entries {
            goal.constraints
                .extend(facts.iter().map(|fact| fact.rewritten(&At(*at))));
        }
        goal.refuted(state, &Cell::new(MOST_PROOFS))
    }

    fn is_impossible(&self, state: &State<'_>, budget: &Cell<usize>) -> bool {
        let Some(left) = budget.get().checked_sub(1) else {
            return false;
        };
        budget.set(left);
        let names: Vec<String> = (0..self.n).map(|n| format!("v{n}")).collect();
        let mut part = Conjunction::new(names, []);
        self.constraints.iter().for_each(|it| part.add(it.clone()));
        Set::new(vec![part]).is_ok_and(|set| set.is_refuted(&state.known))
    }

    fn refuted(&self, state: &State<'_>, budget: &Cell<usize>) -> bool {
        if self.is_impossible(state, budget) {
            return true;
        }
        if budget.get() == 0 {
            return false;
        }
        let case = |constraints: Vec<Constraint>| {
            let mut case = self.clone();
            case.constraints.extend(constraints);
            case
        };
        if let Some((pair, rest)) = self.early.split_last() {
            let mut without = self.clone();
            without.early = rest.to_vec();
            return without.same_entry(state, *pair, budget);
        }
        let n = self.numbers.len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let mut pairs = pairs.filter(|(a, b)| {
            let ((left, _, from), (right, _, to)) = (&self.numbers[*a], &self.numbers[*b]);
            left == right && from != to && !self.split.contains(&(*a, *b))
        });
        if let Some((a, b)) = pairs.next() {
            let mut split = self.clone();
            split.split.insert((a, b));
            let pair = (self.numbers[a].2, self.numbers[b].2);
            split.compare_tuples(state, pair.0, pair.1);
            if state.are_apart && !split.pairs.contains(&pair) {
                split.pairs.push(pair);
            }
            return split.compared_numbers(state, (a, b), budget);
        }
        if let Some(((name, at), rest)) = self.choices.split_last() {
            let mut without = self.clone();
            without.choices = rest.to_vec();
            return without.chosen(state, name, at, budget);
        }
        if let Some((pair, rest)) = self.pairs.split_last() {
            let mut without = self.clone();
            without.pairs = rest.to_vec();
            return without.same_entry(state, *pair, budget);
        }
        if let Some(((a, b), rest)) = self.compared.split_last() {
            let all = [Comparison::Less, Comparison::Greater, Comparison::Equal];
            return all.into_iter().all(|comparison| {
                let mut case = case(vec![Constraint::new(a.clone(), comparison, b.clone())]);
                case.compared = rest.to_vec();
                case.refuted(state, budget)
            });
        }
        false
    }

    /// Two entries are one if all their coordinates are equal; else one of these differs.
    fn same_entry(
        &self,
        state: &State<'_>,
        (from, to): (usize, usize),
        budget: &Cell<usize>,
    ) -> bool {
        let link = |e: &Expression, comparison| {
            Constraint::new(e.rewritten(&At(from)), comparison, e.rewritten(&At(to)))
        };
        let equal = |order: &[Expression]| -> Vec<Constraint> {
            order.iter().map(|e| link(e, Comparison::Equal)).collect()
        };
        let with = |constraints: Vec<Constraint>| {
            let mut case = self.clone();
            case.constraints.extend(constraints);
            case.refuted(state, budget)
        };
        let coordinates = &state.entries.coordinates;
        with([equal(coordinates), equal(&state.entries.tuple())].concat())
            && coordinates.iter().all(|coordinate| {
                let mut sides = [Comparison::Less, Comparison::Greater].into_iter();
                sides.all(|comparison| with(vec![link(coordinate, comparison)]))
            })
    }

    /// The three orders of two numbers, with what they say of the entries' keys.
    fn compared_numbers(
        &self,
        state: &State<'_>,
        (a, b): (usize, usize),
        budget: &Cell<usize>,
    ) -> bool {
        let ((numbering, first, from), (_, second, to)) = (&self.numbers[a], &self.numbers[b]);
        let numbering = &state.numberings[*numbering];
        let at = |e: &Expression, at: usize| e.rewritten(&At(at));
        let mut order = numbering.keys.clone();
        if numbering.kind == NumberingKind::Entries {
            order.extend(state.entries.tuple());
        }
        let link =
            |e: &Expression, comparison| Constraint::new(at(e, *from), comparison, at(e, *to));
        let equal = |order: &[Expression]| -> Vec<Constraint> {
            order.iter().map(|e| link(e, Comparison::Equal)).collect()
        };
        let with = |constraints: Vec<Constraint>| {
            let mut case = self.clone();
            case.constraints.extend(constraints);
            case
        };
        let numbers = |comparison| Constraint::new(first.clone(), comparison, second.clone());
        for comparison in [Comparison::Less, Comparison::Greater] {
            let case = with(vec![numbers(comparison)]);
            if case.is_impossible(state, budget) {
                continue;
            }
            if numbering.kind == NumberingKind::InGroups {
                if !case.refuted(state, budget) {
                    return false;
                }
                continue;
            }
            let all = (0..order.len()).all(|place| {
                let mut constraints = equal(&order[..place]);
                constraints.push(numbers(comparison));
                constraints.push(link(&order[place], comparison));
                with(constraints).refuted(state, budget)
            });
            if !all {
                return false;
            }
        }
        let same = numbers(Comparison::Equal);
        if numbering.kind != NumberingKind::InGroups {
            return with([equal(&order), vec![same]].concat()).refuted(state, budget);
        }
        // In one group, entries of one number are one.
        let differ = |key: &Expression| {
            [Comparison::Less, Comparison::Greater]
                .into_iter()
                .all(|comparison| {
                    with(vec![same.clone(), link(key, comparison)]).refuted(state, budget)
                })
        };
        let one = [
            equal(&numbering.keys),
            equal(&state.entries.tuple()),
            vec![same.clone()],
        ];
        with(one.concat()).refuted(state, budget) && numbering.keys.iter().all(differ)
    }

    /// What an array holds at an expression, in each case.
    fn chosen(&self, state: &State<'_>, name: &str, at: &Expression, budget: &Cell<usize>) -> bool {
        let call =
            |name: &str, at: &Expression| Expression::Call(name.to_owned(), vec![at.clone()]);
        let here = call(name, at);
        match state.held.get(name) {
            Some(Held::Marked { index, value, mark }) => {
                let mut marked = self.clone();
                marked.add(here.clone().equals(mark.clone()));
                let mut stored = self.clone();
                let entry = stored.entry(state);
                stored.add(index.rewritten(&At(entry)).equals(at.clone()));
                stored.add(here.equals(value.rewritten(&At(entry))));
                stored.numbers_in(state, index, entry);
                let facts = state.relevant(spoken(index));
                stored
                    .constraints
                    .extend(facts.iter().map(|fact| fact.rewritten(&At(entry))));
                // Elements of the tuple that are found by a number may be this entry's.
                let n = state.destination.map.inputs().len();
                for (place, element) in state.tuple[..n].iter().enumerate() {
                    if state.numbering(element).is_some() {
                        let element = element.rewritten(&At(entry));
                        let tuples = self.tuples.iter();
                        let pairs = tuples.map(|at| (variable(at + place), element.clone()));
                        stored.compared.extend(pairs);
                    }
                }
                marked.refuted(state, budget) && stored.refuted(state, budget)
            }
            Some(Held::Lengths { first, behind }) => {
                let next = call(name, &after(at));
                let (first, behind) = (call(first, at), call(behind, at));
                let mut none = self.clone();
                none.add(next.clone().equals(here.clone()));
                none.add(Constraint::new(
                    behind.clone(),
                    Comparison::LessEqual,
                    first.clone(),
                ));
                let mut some = self.clone();
                some.add(Constraint::new(
                    behind.clone(),
                    Comparison::GreaterEqual,
                    first.clone(),
                ));
                let length = Expression::Subtract(Box::new(behind), Box::new(first));
                some.add(next.equals(Expression::Add(Box::new(here), Box::new(length))));
                none.refuted(state, budget) && some.refuted(state, budget)
            }
            _ => self.refuted(state, budget),
        }
    }
}

/// The elements that a constraint puts into segments: `pos(a) <= q < pos(a + 1)` in a chain,
/// as the number of the segments, `a` and `q`.
fn members(state: &State<'_>, constraint: &Constraint) -> Vec<(usize, Expression, Expression)> {
    let chain: Vec<&Expression> = constraint.expressions().collect();
    let mut found = Vec::new();
    for (number, segments) in state.segments.iter().enumerate() {
        let of = |e: &Expression| match e {
            Expression::Call(name, at) if *name == segments.array => Some(at[0].clone()),
            _ => None,
        };
        for (from, at) in chain
            .iter()
            .enumerate()
            .filter_map(|(n, e)| Some((n, of(e)?)))
        {
            let end = Some(after(&at));
            let to =
                (from + 1..chain.len()).find(|to| of(chain[*to]).map(|e| e.simplified()) == end);
            let Some(to) = to else { continue };
            let comparisons = &constraint.rest[from..to];
            let rises = comparisons
                .iter()
                .all(|(c, _)| matches!(c, Comparison::Less | Comparison::LessEqual));
            if rises
                && comparisons
                    .last()
                    .is_some_and(|(c, _)| *c == Comparison::Less)
            {
                let elements = chain[from + 1..to].iter();
                found.extend(elements.map(|e| (number, at.clone(), (*e).clone())));
            }
        }
    }
    found
}

/// The cases in which a comparison fails. Tuples are compared by `LEX`.
pub(crate) fn failing(link: &Constraint) -> Option<Vec<Vec<Constraint>>> {
    let (comparison, right) = &link.rest[0];
    let negated = comparison.negated();
    let (Expression::Call(name, a), Expression::Call(other, b)) = (&link.first, right) else {
        return Some(vec![vec![Constraint::new(
            link.first.clone(),
            negated,
            right.clone(),
        )]]);
    };
    if !sparsec_relation::Parser::is_key(name) {
        return Some(vec![vec![Constraint::new(
            link.first.clone(),
            negated,
            right.clone(),
        )]]);
    }
    if name != "LEX" || name != other || a.len() != b.len() {
        return None;
    }
    let pair = |k: usize, comparison| Constraint::new(a[k].clone(), comparison, b[k].clone());
    let equal =
        |n: usize| -> Vec<Constraint> { (0..n).map(|k| pair(k, Comparison::Equal)).collect() };
    let by = |comparison| (0..a.len()).map(move |k| (k, comparison));
    let sides = match negated {
        Comparison::Equal => return Some(vec![equal(a.len())]),
        Comparison::NotEqual => by(Comparison::Less)
            .chain(by(Comparison::Greater))
            .collect(),
        Comparison::Less | Comparison::LessEqual => by(Comparison::Less).collect(),
        Comparison::Greater | Comparison::GreaterEqual => {
            by(Comparison::Greater).collect::<Vec<_>>()
        }
    };
    let mut cases: Vec<Vec<Constraint>> = sides
        .into_iter()
        .map(|(k, comparison)| [equal(k), vec![pair(k, comparison)]].concat())
        .collect();
    if matches!(negated, Comparison::LessEqual | Comparison::GreaterEqual) {
        cases.push(equal(a.len()));
    }
    Some(cases)
}

/// Constraints with the variables of a conjunction at these expressions.
pub(crate) fn at_values(part: &Conjunction, values: &[Expression]) -> Vec<Constraint> {
    part.constraints()
        .iter()
        .map(|it| it.rewritten(&Values(values)))
        .collect()
}

/// The variables of a part from a place on.
pub(crate) fn shifted(part: &Conjunction, from: usize) -> Vec<Expression> {
    (0..part.n_variables())
        .map(|n| Expression::Variable(Variable::from_index(from + n)))
        .collect()
}
