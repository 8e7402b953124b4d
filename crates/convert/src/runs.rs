//! Runs: the elements of a parent follow one another, and so do the values that tell them apart.
//!
//! The place of an element is counted from the beginning of its segment, or back from the end:
//!
//! ```text
//! x = f(a) + e - g(a)     g(a) min= e, behind(a) max= e + 1     f(a + 1) = f(a) + behind(a) - g(a)
//! x = f(a) + e            length(a) max= e + 1                  f(a + 1) = f(a) + length(a)
//! x = f(a + 1) + e        length(a) max= -e                     f(a + 1) = f(a) + length(a)
//! ```
//!
//! The terms may stand on either side of the equation. In the second form the destination holds only
//! entries with `0 <= e`, in the third only those with `e < 0`: the upper and the lower skyline of a
//! matrix are of these forms, with `e = j - i` and `e = j - i - 1`.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Operator, Update, Value};
use sparsec_relation::{Comparison, Constraint, Expression, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, binary, entry, has_part, plus_one};
use crate::unknown::{Place, Unknowns};

/// Elements that follow one another, in segments of `starts`.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) starts: String,
    pub(crate) begins: Begins,
    pub(crate) parent: Expression,
    pub(crate) value: Expression,
}

/// Which value the first element of a run has.
#[derive(Clone, Debug)]
pub(crate) enum Begins {
    /// The value that an array holds: `x = starts(parent) + value - first(parent)`.
    First(String),
    /// The value 0: `x = starts(parent) + value`.
    Zero,
    /// A negative one; the last element has the value -1: `x = starts(parent + 1) + value`.
    Negative,
}

impl Unknowns<'_> {
    /// The run that an element is in.
    pub(crate) fn run(&self, element: Variable) -> Option<Run> {
        let Some(Place::Segment {
            function, parent, ..
        }) = self.place(element)
        else {
            return None;
        };
        let links = self.comparisons.iter();
        let mut sums = links.filter_map(|link| solved_for(link, element));
        sums.find_map(|sum| self.run_of(&function, &parent, sum))
    }

    /// The run of an element that is this sum, in segments of `starts`.
    fn run_of(
        &self,
        starts: &str,
        parent: &Expression,
        mut sum: Vec<(bool, Expression)>,
    ) -> Option<Run> {
        let mut take = |negative: bool, is_wanted: &dyn Fn(&str) -> bool| {
            let at = sum.iter().position(|(is_negative, term)| {
                *is_negative == negative
                    && matches!(term, Expression::Call(name, _)
                        if is_wanted(name) && self.functions.contains(name))
            })?;
            match sum.remove(at).1 {
                Expression::Call(name, arguments) => Some((name, self.at_entry(&arguments[0])?)),
                _ => None,
            }
        };
        let (_, of) = take(false, &|name| name == starts)?;
        let first = take(true, &|name| name != starts);
        let begins = match first {
            Some((first, parent_of_first)) if of == *parent && parent_of_first == *parent => {
                Begins::First(first)
            }
            Some(_) => return None,
            None if of == *parent => Begins::Zero,
            None if of.collected() == plus_one(parent).collected() => Begins::Negative,
            None => return None,
        };
        let value = sum
            .into_iter()
            .fold(Expression::Integer(0), |sum, (is_negative, term)| {
                let (sum, term) = (Box::new(sum), Box::new(term));
                match is_negative {
                    false => Expression::Add(sum, term),
                    true => Expression::Subtract(sum, term),
                }
            });
        Some(Run {
            starts: starts.to_owned(),
            begins,
            parent: parent.clone(),
            value: self.at_entry(&value)?,
        })
    }
}

/// An equation solved for an element: the terms of the sum that equals it, and whether each term is
/// subtracted.
fn solved_for(link: &Constraint, element: Variable) -> Option<Vec<(bool, Expression)>> {
    let [(Comparison::Equal, right)] = &link.rest[..] else {
        return None;
    };
    let element = Expression::Variable(element);
    let left = link.first.terms().into_iter();
    let right = right.terms().into_iter();
    let mut terms: Vec<(bool, &Expression)> = left
        .chain(right.map(|(is_negative, term)| (!is_negative, term)))
        .collect();
    let at = terms.iter().position(|(_, term)| **term == element)?;
    let (is_negative, _) = terms.remove(at);
    // The other terms come to the other side.
    let others: Vec<(bool, Expression)> = terms
        .into_iter()
        .map(|(is_subtracted, term)| (is_subtracted == is_negative, term.clone()))
        .collect();
    let is_solved = !others.iter().any(|(_, term)| has_part(term, &element));
    is_solved.then_some(others)
}

impl Synthesis<'_> {
    /// Fills the arrays of a run; returns the place of an entry's element.
    pub(crate) fn in_run(
        &mut self,
        element: Variable,
        run: &Run,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let one = Expression::Integer(1);
        let value = run.value.clone();
        let (origin, offset) = match &run.begins {
            Begins::First(first) => {
                self.with_first(element, run, first, unknowns)?;
                let first = Expression::Call(first.clone(), vec![run.parent.clone()]);
                let offset = Expression::Subtract(Box::new(value), Box::new(first));
                (run.parent.clone(), offset)
            }
            Begins::Zero => {
                let zero = Expression::Integer(0);
                self.keep_to([Constraint::new(zero, Comparison::LessEqual, value.clone())])?;
                self.by_length(element, run, &plus_one(&value))?;
                (run.parent.clone(), value)
            }
            Begins::Negative => {
                let zero = Expression::Integer(0);
                self.keep_to([Constraint::new(value.clone(), Comparison::Less, zero)])?;
                // Written as one more than a number, as the lengths of other runs are.
                let most = Expression::Negate(Box::new(value.clone()));
                let most = Expression::Subtract(Box::new(most), Box::new(one)).collected();
                self.by_length(element, run, &plus_one(&most))?;
                (plus_one(&run.parent), value)
            }
        };
        self.writes(&run.starts, CaseKind::Runs);
        unknowns.functions.remove(&run.starts);
        let n_parents = self.n_parents(&run.starts)?;
        self.end_of(&run.starts, &n_parents)?;
        let starts = |at: &Expression| Expression::Call(run.starts.clone(), vec![at.clone()]);
        let place = Expression::Add(Box::new(starts(&origin)), Box::new(offset));
        // That it lies in its segment, the arrays say that were just filled.
        self.space = self.space_with(Constraint {
            first: starts(&run.parent),
            rest: vec![
                (Comparison::LessEqual, place.clone()),
                (Comparison::Less, starts(&plus_one(&run.parent))),
            ],
        })?;
        Ok(place)
    }

    /// Runs begin at the least of their values and end behind the largest.
    fn with_first(
        &mut self,
        element: Variable,
        run: &Run,
        first: &str,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<()> {
        let n_parents = self.n_parents(&run.starts)?;
        let name = self.destination.map.name(element);
        let behind = format!("{}_{name}_behind", self.destination.name);
        self.add_array(&behind, n_parents.clone());
        let range = self.destination.declarations.function(first);
        let range = range.and_then(|function| function.range.as_box());
        let Some((_, above)) = range.and_then(|mut sides| sides.pop()) else {
            return Err(refused(format!("nothing bounds the values of `{first}`")));
        };
        let most = Expression::Subtract(Box::new(above), Box::new(Expression::Integer(1)));
        let parents = below("x", &n_parents)?;
        let x = Expression::Variable(Variable::from_index(0));
        let value = self.integer(&run.value);
        let most = self.integer(&most.collected());
        use Operator::{Add, Maximum, Subtract};
        let at = |name: &str, index: &Expression| (name.to_owned(), vec![index.clone()]);
        self.add(parents, at(first, &x), (Update::Assign, most));
        let least = (Update::Minimum, value.clone());
        self.add(self.space.clone(), at(first, &run.parent), least);
        let end = (Update::Maximum, binary(Add, value, Value::Integer(1)));
        self.add(self.space.clone(), at(&behind, &run.parent), end);
        let length = binary(Subtract, entry(&behind, &x), entry(first, &x));
        self.add_lengths(
            &run.starts,
            &n_parents,
            binary(Maximum, length, Value::Integer(0)),
        )?;
        self.writes(first, CaseKind::Runs);
        unknowns.functions.remove(first);
        Ok(())
    }

    /// Each run is as long as the largest of the lengths that its entries need.
    fn by_length(&mut self, element: Variable, run: &Run, length: &Expression) -> Result<()> {
        let n_parents = self.n_parents(&run.starts)?;
        let name = self.destination.map.name(element);
        let lengths = format!("{}_{name}_length", self.destination.name);
        self.add_array(&lengths, n_parents.clone());
        let target = (lengths.clone(), vec![run.parent.clone()]);
        let length = (Update::Maximum, self.integer(length));
        self.add(self.space.clone(), target, length);
        let x = Expression::Variable(Variable::from_index(0));
        self.add_lengths(&run.starts, &n_parents, entry(&lengths, &x))
    }

    /// Each segment begins where the one before ends: `starts(x + 1) = starts(x) + length`.
    fn add_lengths(&mut self, starts: &str, n_parents: &Expression, length: Value) -> Result<()> {
        let x = Expression::Variable(Variable::from_index(0));
        let next = binary(Operator::Add, entry(starts, &x), length);
        let target = (starts.to_owned(), vec![plus_one(&x)]);
        self.add(below("x", n_parents)?, target, (Update::Assign, next));
        Ok(())
    }
}
