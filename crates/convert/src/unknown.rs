//! What is known of an element of the destination's tuple: the questions that synthesis
//! asks of the destination's map.
//!
//! Constraints are read with the coordinates of an entry in place of the second tuple, and
//! with what was found of elements before in place of those.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Relation, Rewrite, Variable,
};

use crate::entries::{Entries, same_variables};
use crate::named::Named;
use crate::segments::End;
use crate::terms::{calls_with, has_part, without_constants};

/// The destination, as far as it is solved.
pub(crate) struct Unknowns<'a> {
    pub(crate) destination: &'a Named,
    pub(crate) entries: &'a Entries,
    known: &'a Declarations,
    /// The comparisons of the map, in which elements that are always equal are one.
    pub(crate) comparisons: Vec<Constraint>,
    /// For each variable of the map the one that stands for it.
    pub(crate) same: Vec<Variable>,
    /// The value of each variable at an entry.
    pub(crate) values: Vec<Option<Expression>>,
    /// The functions that are not computed yet.
    pub(crate) functions: BTreeSet<String>,
    /// The comparisons that hold by the statements which fill lists and runs.
    established: BTreeSet<usize>,
}

/// A key of listed elements: the array `function` holds `value`.
#[derive(Clone, Debug)]
pub(crate) struct ListKey {
    pub(crate) function: String,
    pub(crate) value: Expression,
}

/// Where the elements of a list lie.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In segment `parent` of a function, which ends where the next one begins, or where
    /// another function says.
    Segment {
        function: String,
        parent: Expression,
        end: Option<End>,
    },
    /// From 0 up to a constant.
    All,
    /// As many places as are in each block: `first <= x < first + many`, and `parent` is the
    /// number of the block.
    Block { first: Expression, n_stored: i64 },
}

/// Elements of neighbouring coordinates that have one value:
/// `starts(parent) <= x < starts(parent + 1)`, `bounds(x + parent) <= value < bounds(x + parent + 1)`.
#[derive(Clone, Debug)]
pub(crate) struct ValueRun {
    pub(crate) starts: String,
    pub(crate) bounds: String,
    pub(crate) parent: Expression,
    pub(crate) value: Expression,
}

impl<'a> Unknowns<'a> {
    pub(crate) fn new(
        destination: &'a Named,
        entries: &'a Entries,
        known: &'a Declarations,
    ) -> Self {
        let map = &destination.map;
        let n = map.n_variables();
        let mut values = vec![None; n];
        for (output, coordinate) in map.outputs().zip(&entries.coordinates) {
            values[output.index()] = Some(Expression::Variable(*coordinate));
        }
        let comparisons = destination.comparisons();
        let elements: Vec<Variable> = map.inputs().chain(map.exists()).collect();
        let mut same = same_variables(&comparisons, &elements);
        same.extend((same.len()..n).map(Variable::from_index));
        let functions = destination.declarations.functions().iter();
        let mut unknowns = Self {
            destination,
            entries,
            known,
            comparisons: Vec::new(),
            values,
            established: BTreeSet::new(),
            functions: functions.map(|function| function.name.clone()).collect(),
            same,
        };
        let one = Same(&unknowns.same);
        let comparisons = comparisons.iter().map(|link| link.rewritten(&one));
        unknowns.comparisons = comparisons.collect();
        unknowns
    }

    /// The elements without a value.
    pub(crate) fn open(&self) -> impl Iterator<Item = Variable> {
        let map = &self.destination.map;
        let elements = map.inputs().chain(map.exists());
        elements.filter(|v| self.same[v.index()] == *v && self.values[v.index()].is_none())
    }

    /// Gives values to all elements that follow from those with values; returns them.
    pub(crate) fn determine(&mut self) -> Vec<(Variable, Expression)> {
        let mut found = Vec::new();
        let follows = |unknowns: &mut Self| {
            let open: Vec<Variable> = unknowns.open().collect();
            (open.into_iter()).find_map(|v| Some((v, unknowns.determined(v)?)))
        };
        while let Some((element, value)) = follows(self) {
            self.set(element, value.clone());
            found.push((element, value));
        }
        found
    }

    pub(crate) fn set(&mut self, element: Variable, value: Expression) {
        for (index, same) in self.same.iter().enumerate() {
            if *same == element {
                self.values[index] = Some(value.clone());
            }
        }
    }

    /// An expression at an entry, if all in it is known.
    pub(crate) fn at_entry(&self, e: &Expression) -> Option<Expression> {
        let mut is_known = true;
        e.visit(&mut |e| {
            is_known &= match e {
                Expression::Variable(v) => self.values[v.index()].is_some(),
                Expression::Call(name, _) => !self.functions.contains(name),
                _ => true,
            };
        });
        is_known.then(|| e.rewritten(&AtEntry(&self.values)).simplified().collected())
    }

    fn constraint_at_entry(&self, link: &Constraint, free: Option<Variable>) -> Option<Constraint> {
        let mut is_known = true;
        for e in link.expressions() {
            e.visit(&mut |e| {
                is_known &= match e {
                    Expression::Variable(v) => Some(*v) == free || self.values[v.index()].is_some(),
                    Expression::Call(name, _) => !self.functions.contains(name),
                    _ => true,
                };
            });
        }
        is_known.then(|| link.rewritten(&AtEntry(&self.values)))
    }

    /// The element as an expression of what is known, if constraints determine it.
    fn determined(&mut self, element: Variable) -> Option<Expression> {
        // As the map says it: solving would multiply out what proofs read as it stands.
        let itself = Expression::Variable(element);
        let said = self
            .comparisons
            .iter()
            .find_map(|link| match &link.rest[..] {
                [(Comparison::Equal, right)] if link.first == itself => self.at_entry(right),
                [(Comparison::Equal, right)] if *right == itself => self.at_entry(&link.first),
                _ => None,
            });
        if said.is_some() {
            return said;
        }
        let names = self.entries.names();
        let n = names.len();
        let unknown = self.destination.map.name(element).to_owned();
        let mut relation = Conjunction::new(names, [format!("{unknown}_")]);
        let free = Expression::Variable(Variable::from_index(n));
        self.values[element.index()] = Some(free);
        let links = self.comparisons.iter();
        let links: Vec<Constraint> = links
            .filter(|link| speaks_of(link, element))
            .filter_map(|link| self.constraint_at_entry(link, Some(element)))
            .collect();
        self.values[element.index()] = None;
        // Bounds that leave one value say that an element has no room, not which it is.
        let is_equation = |link: &Constraint| match &link.rest[..] {
            [(Comparison::Equal, right)] => link.first != *right,
            _ => false,
        };
        if !links.iter().any(is_equation) {
            return None;
        }
        links.into_iter().for_each(|link| relation.add(link));
        let relation = Relation::new(vec![relation]).ok()?;
        let solved = relation.solve(self.known).ok()?;
        Some(solved[0][0].simplified().collected())
    }

    /// The keys of a listed element: arrays that hold something known at it.
    pub(crate) fn keys(&self, element: Variable) -> Vec<ListKey> {
        let mut keys: Vec<ListKey> = Vec::new();
        for link in &self.comparisons {
            let [(Comparison::Equal, right)] = &link.rest[..] else {
                continue;
            };
            for (call, value) in [(&link.first, right), (right, &link.first)] {
                if let Expression::Call(name, arguments) = call
                    && arguments[..] == [Expression::Variable(element)]
                    && self.functions.contains(name)
                    && let Some(value) = self.at_entry(value)
                {
                    keys.push(ListKey {
                        function: name.clone(),
                        value,
                    });
                }
            }
        }
        keys
    }

    /// Where the elements of a list lie.
    pub(crate) fn place(&self, element: Variable) -> Option<Place> {
        let itself = element;
        let element = Expression::Variable(element);
        let mut is_bounded = false;
        let (mut from, mut end) = (None, None);
        for link in &self.comparisons {
            let (comparison, right) = &link.rest[0];
            match (comparison, &link.first, right) {
                (Comparison::LessEqual, Expression::Call(name, arguments), e)
                    if *e == element && self.functions.contains(name) =>
                {
                    return Some(Place::Segment {
                        function: name.clone(),
                        parent: self.at_entry(&arguments[0])?,
                        end: self.end_of_segment(itself, name),
                    });
                }
                (Comparison::LessEqual, first, e) if *e == element => {
                    // Of two lower bounds, the one other than 0 says where a block begins.
                    from = from
                        .filter(|it| *it != Expression::Integer(0))
                        .or(self.at_entry(first));
                }
                (Comparison::Less, e, bound) if *e == element => {
                    let bound = self.at_entry(bound);
                    is_bounded |= bound.is_some();
                    end = end.or(bound);
                }
                _ => {}
            }
        }
        match (from, end) {
            (Some(first), Some(end)) if first != Expression::Integer(0) => {
                let n_stored = number(&end).checked_sub(number(&first))?;
                let by = Box::new(Expression::Integer(n_stored));
                let behind = Expression::Add(Box::new(first.clone()), by);
                (behind.collected() == end).then_some(Place::Block { first, n_stored })
            }
            _ => is_bounded.then_some(Place::All),
        }
    }

    /// The run of neighbouring coordinates with one value that an element is.
    pub(crate) fn value_run(&self, element: Variable) -> Option<ValueRun> {
        let Some(Place::Segment {
            function, parent, ..
        }) = self.place(element)
        else {
            return None;
        };
        let itself = Expression::Variable(element);
        // Each parent has one bound more than it has elements, so bounds are at x + parent.
        let is_place = |e: &Expression, more: i64| {
            let mut terms = e.terms();
            let Some(at) = terms.iter().position(|term| *term == (false, &itself)) else {
                return false;
            };
            terms.remove(at);
            let rest = terms.iter().map(|(is_negative, term)| {
                let term = self.at_entry(term)?;
                Some((*is_negative, term))
            });
            let rest = rest.collect::<Option<Vec<_>>>();
            let sum = rest.map(|rest| {
                let sum = rest.into_iter().fold(
                    Expression::Integer(-more),
                    |sum, (is_negative, term)| match is_negative {
                        true => Expression::Subtract(Box::new(sum), Box::new(term)),
                        false => Expression::Add(Box::new(sum), Box::new(term)),
                    },
                );
                sum.collected()
            });
            sum == Some(parent.collected())
        };
        let named = |e: &Expression, more: i64| match e {
            Expression::Call(name, arguments) => {
                let is_it = self.functions.contains(name)
                    && *name != function
                    && matches!(&arguments[..], [at] if is_place(at, more));
                is_it.then(|| name.clone())
            }
            _ => None,
        };
        self.comparisons.iter().find_map(|link| {
            let (comparison, right) = &link.rest[0];
            let bounds = named(&link.first, 0).filter(|_| *comparison == Comparison::LessEqual)?;
            let is_end = |other: &&Constraint| {
                let (comparison, end) = &other.rest[0];
                other.first == *right
                    && *comparison == Comparison::Less
                    && named(end, 1).as_ref() == Some(&bounds)
            };
            self.comparisons.iter().find(is_end)?;
            Some(ValueRun {
                starts: function.clone(),
                parent: parent.clone(),
                value: self.at_entry(right)?,
                bounds,
            })
        })
    }

    /// The bounds from above that are known of an element, as constraints on its value.
    pub(crate) fn bounds(&self, element: Variable, value: &Expression) -> Vec<Constraint> {
        let element = Expression::Variable(element);
        let links = self.comparisons.iter().filter_map(|link| {
            let (comparison, bound) = &link.rest[0];
            let is_bound = *comparison == Comparison::Less && link.first == element;
            let bound = is_bound.then(|| self.at_entry(bound))??;
            Some(Constraint::new(value.clone(), Comparison::Less, bound))
        });
        links.collect()
    }

    /// What else says where the entries lie that only a free element keeps apart: the
    /// known terms of the sum that an element with an array is, or of the place of an entry of an
    /// array.
    pub(crate) fn others(&self, free: Variable) -> Vec<Expression> {
        let mut others: Vec<Expression> = Vec::new();
        let mut add = |sum: &Expression| {
            let terms = sum.terms();
            let terms = terms.iter().map(|(_, term)| without_constants(term));
            let known = terms.filter_map(|term| self.at_entry(term));
            for term in known.filter(|term| !matches!(term, Expression::Integer(_))) {
                if !others.contains(&term) {
                    others.push(term);
                }
            }
        };
        let is_free = Expression::Variable(free);
        for link in &self.comparisons {
            let [(Comparison::Equal, right)] = &link.rest[..] else {
                continue;
            };
            for side in [&link.first, right] {
                match side {
                    Expression::Call(_, places)
                        if places.iter().any(|place| has_part(place, &is_free)) =>
                    {
                        places.iter().for_each(&mut add);
                    }
                    _ if speaks_of(link, free) && !calls_with(link, &is_free) => add(side),
                    _ => {}
                }
            }
        }
        others
    }

    /// Notes that what is said of an element, and of nothing unknown besides, holds by the
    /// statements that fill its list or run.
    pub(crate) fn establish(&mut self, element: Variable) {
        for (number, link) in self.comparisons.iter().enumerate() {
            if speaks_of(link, element) && self.constraint_at_entry(link, None).is_some() {
                self.established.insert(number);
            }
        }
    }

    /// The comparisons of what is known, which the destination asks of each entry.
    pub(crate) fn demands(&self) -> Vec<Constraint> {
        let links = self.comparisons.iter().enumerate();
        let links = links.filter(|(number, _)| !self.established.contains(number));
        let links = links.filter_map(|(_, link)| self.constraint_at_entry(link, None));
        links.collect()
    }
}

/// The number in a sum.
fn number(sum: &Expression) -> i64 {
    let numbers = sum
        .terms()
        .into_iter()
        .map(|(is_negative, term)| match term {
            Expression::Integer(n) if is_negative => n.wrapping_neg(),
            Expression::Integer(n) => *n,
            _ => 0,
        });
    numbers.fold(0, i64::wrapping_add)
}

fn speaks_of(link: &Constraint, variable: Variable) -> bool {
    let variable = Expression::Variable(variable);
    link.expressions().any(|e| has_part(e, &variable))
}

/// One variable for all that are equal.
struct Same<'a>(&'a [Variable]);

impl Rewrite for Same<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(self.0[variable.index()])
    }
}

/// Values at an entry in place of the variables of the destination.
struct AtEntry<'a>(&'a [Option<Expression>]);

impl Rewrite for AtEntry<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        let value = self.0[variable.index()].clone();
        value.expect("asked of what is known")
    }
}
