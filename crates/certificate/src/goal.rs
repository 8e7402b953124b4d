//! Proofs by refutation: a claim holds if the conjunction of its negation with the facts is
//! impossible.
//!
//! This conjunction is a **goal**. Lemmas speak of all entries, but a conjunction has room for a
//! few only. So the checker adds a **witness** for each element that has an entry: that entry, as
//! variables of its own.
//!
//! To prove that `crd` increases within each segment:
//!
//! ```text
//! goal       {[p, q1, q2] : pos(p) <= q1 < q2 < pos(p + 1) && crd(q1) >= crd(q2)}
//! witness    of q1: (i, n, j)      i, n, j an entry,  B_q1(n) = q1,  j = p,  crd(q1) = i
//! witness    of q2: (i', n', j')  likewise
//! cases      q1 < q2 means (j, i, n, j) < (j', i', n', j') by the keys of B_q1, then visits:
//!                j < j'                       j = p = j'
//!                j = j' && i < i'             crd(q1) = i < i' = crd(q2)
//!                j = j' && i = i' && n < n'   one entry in two places
//! ```
//!
//! A segment that is known not to be empty has a first and a last element, whose entries are witnesses
//! too if no other element is known: of `pos(p + 1) - pos(p) > 4` these are `pos(p)` and
//! `pos(p + 1) - 1`.
//!
//! If the prover refutes a case, the case is done. Otherwise it is split by the next pair of
//! numbers, or by the next array with marks. `MOST_PROOFS` limits the number of proofs of a goal.

use std::collections::BTreeSet;

mod cases;

use sparsec_base::arena::Id;
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Values, Variable};

use crate::entries::{At, entry, zero};
use crate::held::{Held, after};
use crate::state::State;

/// A conjunction to be refuted.
#[derive(Clone)]
pub(crate) struct Goal {
    n: usize,
    constraints: Vec<Constraint>,
    /// A numbering, an expression for the number of an entry, and the entry's first variable.
    numbers: Vec<(usize, Expression, usize)>,
    /// The first variable of each entry.
    entries: Vec<usize>,
    /// Arrays that hold one of two values at an expression.
    choices: Vec<(String, Expression)>,
    /// Arrays that increase within blocks of a length, with two arguments.
    blocks: Vec<(String, i64, [Expression; 2])>,
    /// Pairs of expressions to be split by their order.
    compared: Vec<(Expression, Expression)>,
    /// Pairs of entries to be split by whether their coordinates are equal, after numbers.
    pairs: Vec<(usize, usize)>,
    /// Pairs of entries to be split like `pairs`, but before numbers.
    early: Vec<(usize, usize)>,
    /// The first variable of each tuple of the destination.
    tuples: Vec<usize>,
    /// Pairs of numbers that are split already.
    split: BTreeSet<(usize, usize)>,
    /// The same for splits by a number between the two; `None` if the goal is not split by those.
    between: Option<BTreeSet<(usize, usize)>>,
}

impl Goal {
    /// A goal of `n` variables with these constraints.
    pub(crate) fn new(n: usize, constraints: Vec<Constraint>) -> Self {
        Self {
            n,
            constraints,
            numbers: Vec::new(),
            entries: Vec::new(),
            choices: Vec::new(),
            blocks: Vec::new(),
            compared: Vec::new(),
            tuples: Vec::new(),
            pairs: Vec::new(),
            early: Vec::new(),
            split: BTreeSet::new(),
            between: None,
        }
    }

    /// Splits two numbers, as a last resort, by whether there is a number between them.
    pub(crate) fn with_numbers_between(mut self) -> Self {
        self.between = Some(BTreeSet::new());
        self
    }

    pub(crate) fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// Declares the variables from `at` on to be a tuple of the destination.
    pub(crate) fn tuple_at(&mut self, at: usize) {
        self.tuples.push(at);
    }

    /// Adds a pair of expressions to be split by their order as a last resort.
    pub(crate) fn compare(&mut self, a: Expression, b: Expression) {
        if !self.compared.contains(&(a.clone(), b.clone())) {
            self.compared.push((a, b));
        }
    }

    /// Adds the elements of the destination's tuple at two entries to be split by their order. Only
    /// sums that contain no number are added, since coordinates determine these.
    fn compare_tuples(&mut self, state: &State<'_>, from: usize, to: usize) {
        let n = state.destination.map.inputs().len();
        for element in state.tuple[..n].iter().rev() {
            let is_plain = |numbering: &crate::held::Numbering| {
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

    /// Adds an entry with variables of its own, and returns the first of them.
    pub(crate) fn entry(&mut self, state: &State<'_>) -> usize {
        let at = self.n;
        self.n += state.entries.n();
        let own = state.entries.part.constraints().iter();
        self.constraints.extend(own.map(|it| it.rewritten(&At(at))));
        self.entries.push(at);
        at
    }

    /// Adds the number of an entry, to be compared with other numbers.
    pub(crate) fn number(&mut self, state: &State<'_>, numbering: usize, at: usize) {
        let value = state.numberings[numbering].value.rewritten(&At(at));
        let number = (numbering, value, at);
        if !self.numbers.contains(&number) {
            self.numbers.push(number);
        }
    }

    /// As [`number`](Self::number), for all numbers that an expression of an entry contains.
    pub(crate) fn numbers_in(&mut self, state: &State<'_>, e: &Expression, at: usize) {
        for (number, numbering) in state.numberings.iter().enumerate() {
            let mut speaks = false;
            e.visit(&mut |e| speaks |= *e == numbering.value);
            if speaks {
                self.number(state, number, at);
            }
        }
    }

    /// Returns the first variable that the constraints equate with a variable.
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

    /// Returns the witness of a number: an entry with this number, added unless there is one.
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

    /// Adds witnesses for the elements of segments and for the arguments of arrays in the
    /// constraints.
    pub(crate) fn with_witnesses(mut self, state: &State<'_>) -> Self {
        let given = self.constraints.clone();
        // Inner levels come last. Their witnesses serve the outer levels too, so they are added
        // first.
        let mut all: Vec<_> = given
            .iter()
            .rev()
            .flat_map(|it| members(state, it))
            .collect();
        all.extend(self.ends(state, &all));
        for (segments, at, element) in all {
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
        for (numbering, number, key, group) in counted(state, &given) {
            // Entries of other groups have the same number, so that each has its own witness.
            let at = self.entry(state);
            let value = state.numberings[numbering].value.rewritten(&At(at));
            self.add(value.equals(number.clone()));
            self.add(key.rewritten(&At(at)).equals(group));
            self.numbers.push((numbering, number, at));
        }
        let calls = calls(&given);
        for (at, (name, argument)) in calls.iter().enumerate() {
            match state.held.get(name) {
                Some(Held::Keys { numbering, value }) => {
                    let witness = self.witness(state, *numbering, argument);
                    let call = entry(name, argument.clone());
                    self.add(call.equals(value.rewritten(&At(witness))));
                    self.numbers_in(state, value, witness);
                }
                Some(Held::FilledUp { n_stored }) => {
                    let earlier = calls[..at].iter().filter(|(other, _)| other == name);
                    let pairs = earlier.map(|(_, other)| [other.clone(), argument.clone()]);
                    let pairs = pairs.map(|pair| (name.clone(), *n_stored, pair));
                    self.blocks.extend(pairs);
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

    /// The first and the last element of segments whose bounds the constraints speak of, if they are
    /// not empty and no other element is known. As [`members`].
    fn ends(&self, state: &State<'_>, known: &[Member]) -> Vec<Member> {
        let calls = calls(&self.constraints);
        let mut found = Vec::new();
        for (number, segments) in state.segments.iter().enumerate() {
            let own = calls.iter().filter(|(name, _)| *name == segments.array);
            for (name, at) in own {
                let call = |at: &Expression| entry(name, at.clone());
                let behind = calls
                    .iter()
                    .find(|(other, it)| other == name && it.simplified() == after(at));
                let Some((_, behind)) = behind else { continue };
                let is_known = known.iter().any(|it| it.0 == number && it.1 == *at);
                let mut empty = self.clone();
                empty.add(Constraint::new(
                    call(at),
                    Comparison::GreaterEqual,
                    call(behind),
                ));
                if !is_known && empty.is_refuted_at_once(state) {
                    let one = Box::new(Expression::Integer(1));
                    let last = Expression::Subtract(Box::new(call(behind)), one);
                    found.extend([call(at), last].map(|element| (number, at.clone(), element)));
                }
            }
        }
        found
    }

    /// Splits first by whether two witnesses are one entry.
    pub(crate) fn with_same_entries(mut self, state: &State<'_>) -> Self {
        let entries = &self.entries;
        let pairs = entries
            .iter()
            .enumerate()
            .flat_map(|(n, a)| entries[n + 1..].iter().map(|b| (*a, *b)));
        if state.are_distinct {
            self.early = pairs.collect();
        }
        self
    }
}

/// The elements that constraints put below the size of a group, `0 <= x < count(a)`: the numbering
/// within groups, `x`, the key of groups, and `a`.
fn counted(
    state: &State<'_>,
    given: &[Constraint],
) -> Vec<(usize, Expression, Expression, Expression)> {
    let links = || given.iter().flat_map(Constraint::split);
    let is_from_zero = |x: &Expression| {
        links()
            .any(|link| link.first == zero() && link.rest[0] == (Comparison::LessEqual, x.clone()))
    };
    let found = links().filter_map(|link| {
        let (Comparison::Less, Expression::Call(name, at)) = &link.rest[0] else {
            return None;
        };
        let Some(Held::Sizes {
            key,
            numbering: Some(numbering),
        }) = state.held.get(name)
        else {
            return None;
        };
        let x = link.first.clone();
        is_from_zero(&x).then(|| (*numbering, x, key.clone(), at[0].clone()))
    });
    found.collect()
}

/// The calls in constraints: functions with one argument, each once.
fn calls(constraints: &[Constraint]) -> Vec<(String, Expression)> {
    let mut calls: Vec<(String, Expression)> = Vec::new();
    for e in constraints.iter().flat_map(Constraint::expressions) {
        e.visit(&mut |e| {
            if let Expression::Call(name, arguments) = e
                && let [argument] = &arguments[..]
                && !calls.contains(&(name.clone(), argument.clone()))
            {
                calls.push((name.clone(), argument.clone()));
            }
        });
    }
    calls
}

/// The number of segments, a parent, and an element of its segment.
type Member = (usize, Expression, Expression);

/// The elements that a constraint puts into segments: for a chain `pos(a) <= q < pos(a + 1)` the
/// number of the segments, `a` and `q`.
fn members(state: &State<'_>, constraint: &Constraint) -> Vec<Member> {
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

/// The cases in which a comparison fails. Keys are compared lexicographically (`LEX`).
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
    if name != "LEX" {
        return Some(vec![vec![Constraint::new(
            link.first.clone(),
            negated,
            right.clone(),
        )]]);
    }
    if name != other || a.len() != b.len() {
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

/// The constraints of a conjunction with `values` in place of its variables.
pub(crate) fn at_values(part: &Conjunction, values: &[Expression]) -> Vec<Constraint> {
    part.constraints()
        .iter()
        .map(|it| it.rewritten(&Values(values)))
        .collect()
}

/// The variables of a conjunction, numbered from `from` on.
pub(crate) fn shifted(part: &Conjunction, from: usize) -> Vec<Expression> {
    (0..part.n_variables())
        .map(|n| Expression::Variable(Variable::from_index(from + n)))
        .collect()
}
