//! The cases of a goal. The prover refutes a case, or the case is split further.
//!
//! |  split by                  | cases                                                        |
//! |----------------------------|--------------------------------------------------------------|
//! | two numbers of a numbering | less, greater, by each key in turn; equal                    |
//! | a number between two       | they are next to each other; or an entry has the number between |
//! | the value of an array      | the mark, or the value of an entry; an empty run, or a run with elements |
//! | two places of blocks | in one block: before, behind or the same; in blocks one behind the other |
//! | whether two entries are one | they are one; a coordinate differs                          |
//! | two expressions            | less, greater, equal                                         |

use std::cell::Cell;
use std::collections::BTreeSet;

use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set};

use super::Goal;
use crate::entries::{At, variable};
use crate::held::{Held, NumberingKind, after};
use crate::order::names_in;
use crate::state::State;

/// The most proofs that one goal may take.
const MOST_PROOFS: usize = 600;

impl Goal {
    /// Whether the checker proves that the goal is impossible.
    pub(crate) fn is_refuted(&self, state: &State<'_>) -> bool {
        // Adds the facts about the arrays at the entries of the goal.
        let mut goal = self.clone();
        let keys = self.numbers.iter().map(|it| &state.numberings[it.0].keys);
        let names = self.constraints.iter().flat_map(Constraint::expressions);
        let names = names.chain(keys.flatten()).flat_map(names_in);
        let facts = state.relevant(names.collect());
        for at in &self.entries {
            goal.constraints
                .extend(facts.iter().map(|fact| fact.rewritten(&At(*at))));
        }
        goal.refuted(state, &Cell::new(MOST_PROOFS))
    }

    /// Whether the prover refutes the goal without its entries' facts and without cases.
    pub(super) fn is_refuted_at_once(&self, state: &State<'_>) -> bool {
        self.is_impossible(state, &Cell::new(1))
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
            if state.are_distinct && !split.pairs.contains(&pair) {
                split.pairs.push(pair);
            }
            return split.compared_numbers(state, (a, b), budget);
        }
        if let Some(done) = &self.between {
            let pairs = self.split.iter().filter(|pair| !done.contains(pair));
            let mut pairs = pairs.filter(|(a, _)| {
                let numbering = &state.numberings[self.numbers[*a].0];
                numbering.kind != NumberingKind::InGroups && numbering.end.is_some()
            });
            if let Some(pair) = pairs.next() {
                return self.numbers_between(state, *pair, budget);
            }
        }
        if let Some(((name, at), rest)) = self.choices.split_last() {
            let mut without = self.clone();
            without.choices = rest.to_vec();
            return without.chosen(state, name, at, budget);
        }
        if let Some((block, rest)) = self.blocks.split_last() {
            let mut without = self.clone();
            without.blocks = rest.to_vec();
            return without.in_blocks(state, block, budget);
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

    /// Splits two entries: they are one if all coordinates are equal, else a coordinate differs.
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

    /// Splits two numbers by their order, which is the order of the entries' keys.
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
            if !numbering.kind.is_ordered() {
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
        if numbering.kind.is_ordered() {
            return with([equal(&order), vec![same]].concat()).refuted(state, budget);
        }
        // Within a group, entries with equal numbers are one.
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

    /// Splits two numbers by whether they are next to each other. A number between them is that of an
    /// entry, since numbers have no gaps.
    fn numbers_between(
        &self,
        state: &State<'_>,
        (a, b): (usize, usize),
        budget: &Cell<usize>,
    ) -> bool {
        let (numbering, first, _) = &self.numbers[a];
        let second = &self.numbers[b].1;
        let mut without = self.clone();
        without.between.iter_mut().for_each(|done| {
            done.insert((a, b));
        });
        let near = [(first, second), (second, first)]
            .map(|(e, other)| Constraint::new(e.clone(), Comparison::LessEqual, after(other)));
        let mut next = without.clone();
        next.constraints.extend(near);
        next.refuted(state, budget)
            && [(first, second), (second, first)]
                .iter()
                .all(|(lesser, greater)| {
                    let mut apart = without.clone();
                    let far = Constraint::new(after(lesser), Comparison::Less, (*greater).clone());
                    apart.add(far);
                    if apart.is_impossible(state, budget) {
                        return true;
                    }
                    let entry = apart.entry(state);
                    let value = state.numberings[*numbering].value.rewritten(&At(entry));
                    apart.add(value.equals(after(lesser)));
                    let facts = state.relevant(
                        self.constraints
                            .iter()
                            .flat_map(Constraint::expressions)
                            .flat_map(names_in)
                            .collect(),
                    );
                    let facts = facts.iter().map(|fact| fact.rewritten(&At(entry)));
                    apart.constraints.extend(facts);
                    let all: BTreeSet<usize> = self.numbers.iter().map(|it| it.0).collect();
                    all.into_iter()
                        .for_each(|it| apart.number(state, it, entry));
                    apart.refuted(state, budget)
                })
    }

    /// Splits two places of an array that increases within blocks of `n` places. Between places of
    /// different blocks a block begins.
    fn in_blocks(
        &self,
        state: &State<'_>,
        (name, n, [a, b]): &(String, i64, [Expression; 2]),
        budget: &Cell<usize>,
    ) -> bool {
        use Comparison::{Equal, Greater, Less, LessEqual};
        let begin = Expression::Multiply(
            Box::new(variable(self.n)),
            Box::new(Expression::Integer(*n)),
        );
        let end = Expression::Add(Box::new(begin.clone()), Box::new(Expression::Integer(*n)));
        let mut with = self.clone();
        with.n += 1;
        // The block is one that the constraints speak of, or lies before or behind it.
        let mut numbers: Vec<Expression> = Vec::new();
        for e in self.constraints.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Multiply(number, by) = e
                    && **by == Expression::Integer(*n)
                    && !numbers.contains(number)
                {
                    numbers.push((**number).clone());
                }
            });
        }
        numbers
            .into_iter()
            .for_each(|number| with.compare(variable(self.n), number));
        let refuted = |constraints: Vec<Constraint>| {
            let mut case = with.clone();
            case.constraints.extend(constraints);
            case.refuted(state, budget)
        };
        let within = |place: &Expression| Constraint {
            first: begin.clone(),
            rest: vec![(LessEqual, place.clone()), (Less, end.clone())],
        };
        let between = |before: &Expression, behind: &Expression| Constraint {
            first: before.clone(),
            rest: vec![(Less, begin.clone()), (LessEqual, behind.clone())],
        };
        let call = |at: &Expression| Expression::Call(name.clone(), vec![at.clone()]);
        let both = |comparison| {
            [
                within(a),
                within(b),
                Constraint::new(a.clone(), comparison, b.clone()),
                Constraint::new(call(a), comparison, call(b)),
            ]
        };
        let mut one_block = [Less, Equal, Greater].into_iter();
        one_block.all(|comparison| refuted(both(comparison).to_vec()))
            && refuted(vec![between(a, b)])
            && refuted(vec![between(b, a)])
    }

    /// Splits an array at an expression by the values that the array can hold there.
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
                let facts = state.relevant(names_in(index));
                stored
                    .constraints
                    .extend(facts.iter().map(|fact| fact.rewritten(&At(entry))));
                // Elements that are numbers or have segments may belong to this entry.
                let map = &state.destination.map;
                let is_of = |tuple: &usize| {
                    let own = (*tuple..tuple + map.n_variables()).map(variable);
                    !matches!(at, Expression::Variable(_)) || own.into_iter().any(|it| it == *at)
                };
                let tuples: Vec<usize> = self.tuples.iter().copied().filter(is_of).collect();
                let elements = state.tuple[..map.inputs().len()].iter().enumerate();
                for (place, element) in elements {
                    if state.numbering(element).is_some() || state.has_segment(place) {
                        let element = element.rewritten(&At(entry));
                        let tuples = tuples.iter();
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
