//! Loops that several conjunctions share, the outermost first.

use super::Step;
use super::bounds::{Bound, Bounds};
use super::item::Item;
use super::proofs::Proofs;
use crate::declarations::Declarations;
use crate::expression::Variable;
use crate::facts::{Facts, atom, to_constraint};
use crate::names::Names;
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Makes loops; the names of variables grow on the way.
pub(super) struct Nest<'a> {
    pub(super) names: Names,
    pub(super) proofs: Proofs<'a>,
}

/// Why there are no loops.
#[derive(Debug)]
pub(super) enum Stuck {
    /// A variable has no bounds.
    Unbounded {
        /// Of the visit that it is of.
        number: usize,
        variable: String,
        side: &'static str,
    },
    /// A number does not fit 64 bits.
    TooLarge,
}

impl Nest<'_> {
    /// The loops of items whose first `level` elements of the order have values; the items share
    /// the first `shared` elements.
    pub(super) fn together(
        &mut self,
        mut items: Vec<Item>,
        mut level: usize,
        shared: usize,
    ) -> Result<Vec<Step>, Stuck> {
        if items.len() == 1 {
            return self.alone(items.remove(0), level);
        }
        let mut steps = Vec::new();
        loop {
            if let Some(conditions) = self.common_conditions(&mut items) {
                let body = self.together(items, level, shared)?;
                steps.push(Step::If {
                    conditions: conditions.iter().map(to_constraint).collect(),
                    body,
                });
                return Ok(steps);
            }
            if let Some(groups) = self.exclusive(&items) {
                for group in groups {
                    steps.extend(self.together(group, level, shared)?);
                }
                return Ok(steps);
            }
            if self.common_value(&mut items, &mut steps)? {
                continue;
            }
            if level >= shared {
                return self.one_after_another(items, level, steps);
            }
            let values: Vec<&Polynomial> = items.iter().map(|item| &item.order[level]).collect();
            if values.iter().all(|sum| sum.value().is_some()) {
                return self.by_number(items, level, shared, steps);
            }
            let is_known = |(item, sum): (&Item, &&Polynomial)| item.open(sum).is_empty();
            let same = values.iter().all(|sum| sum == &values[0]);
            if same && items.iter().zip(&values).all(is_known) {
                level += 1;
                continue;
            }
            return self.fused(items, level, shared, steps);
        }
    }

    /// Items with equal times, in the given order.
    fn one_after_another(
        &mut self,
        items: Vec<Item>,
        level: usize,
        mut steps: Vec<Step>,
    ) -> Result<Vec<Step>, Stuck> {
        let mut items = items.into_iter().peekable();
        while let Some(first) = items.next() {
            let mut group = vec![first];
            while items
                .peek()
                .is_some_and(|next| next.number == group[0].number)
            {
                group.extend(items.next());
            }
            let own = group[0].order.len();
            let inner = if group.len() > 1 && own > level {
                self.together(group, level, own)?
            } else {
                let mut each = Vec::new();
                for item in group {
                    each.extend(self.alone(item, level)?);
                }
                each
            };
            steps.extend(inner);
        }
        Ok(steps)
    }

    /// Items whose next element is a number, in the order of the numbers.
    fn by_number(
        &mut self,
        mut items: Vec<Item>,
        level: usize,
        shared: usize,
        mut steps: Vec<Step>,
    ) -> Result<Vec<Step>, Stuck> {
        items.sort_by_key(|item| item.order[level].value());
        while !items.is_empty() {
            let at = items[0].order[level].value();
            let here = |item: &Item| item.order[level].value() == at;
            let n = items.iter().take_while(|item| here(item)).count();
            let rest = items.split_off(n);
            steps.extend(self.together(items, level + 1, shared)?);
            items = rest;
        }
        Ok(steps)
    }

    /// Tests that all items make at this place. Known comparisons need none.
    fn common_conditions(&self, items: &mut [Item]) -> Option<Vec<Row>> {
        for item in items.iter_mut() {
            item.enforce(&self.proofs, false);
        }
        let mut tested = items.to_vec();
        let conditions: Vec<Vec<Row>> = tested
            .iter_mut()
            .map(|item| item.enforce(&self.proofs, true))
            .collect();
        let first = conditions[0].clone();
        if first.is_empty() || conditions.iter().any(|other| *other != first) {
            return None;
        }
        items.clone_from_slice(&tested);
        Some(first)
    }

    /// Groups of items of which only one has points here, by tests that can be made now outside of
    /// the loops.
    fn exclusive(&self, items: &[Item]) -> Option<Vec<Vec<Item>>> {
        let mut tested = items.to_vec();
        let mut n_tests = 0;
        for item in &mut tested {
            n_tests += usize::from(!item.enforce(&self.proofs, true).is_empty());
        }
        if n_tests < 2 {
            return None;
        }
        let may_meet = |a: &Item, b: &Item| {
            let rows = a.context.iter().chain(&b.context).cloned();
            !Facts::of_rows(rows, self.proofs.declarations).impossible()
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, item) in tested.iter().enumerate() {
            let meets =
                |group: &mut Vec<usize>| group.iter().any(|it| may_meet(&tested[*it], item));
            let mut group: Vec<usize> = groups.extract_if(.., meets).flatten().collect();
            group.push(at);
            group.sort_unstable();
            groups.push(group);
        }
        let items = |group: Vec<usize>| group.into_iter().map(|at| items[at].clone()).collect();
        (groups.len() > 1).then(|| groups.into_iter().map(items).collect())
    }

    /// Gives a variable its value in all items; whether there was one.
    fn common_value(&mut self, items: &mut [Item], steps: &mut Vec<Step>) -> Result<bool, Stuck> {
        let found: Vec<_> = items
            .iter()
            .map(|item| item.determined(&self.proofs))
            .collect();
        let Some((at, (variable, value))) = found
            .iter()
            .enumerate()
            .find_map(|(at, f)| Some((at, f.clone()?)))
        else {
            return Ok(false);
        };
        let same = |other: &Option<(Variable, Polynomial)>| {
            other.as_ref().is_some_and(|(_, other)| *other == value)
        };
        if found.iter().all(same) {
            steps.push(Step::Let {
                variable,
                value: value.to_expression(),
            });
            for (item, found) in items.iter_mut().zip(&found) {
                if let Some((own, _)) = found
                    && *own != variable
                {
                    alias(item, *own, variable)?;
                }
                item.bind(variable, &value);
            }
            return Ok(true);
        }
        if is_place(&value) {
            return Ok(false);
        }
        items[at].known.insert(variable);
        items[at]
            .substitute(variable, &value)
            .ok_or(Stuck::TooLarge)?;
        Ok(true)
    }

    /// One loop over the next element, or several where it is known which of the
    /// items come first.
    fn fused(
        &mut self,
        mut items: Vec<Item>,
        level: usize,
        shared: usize,
        mut steps: Vec<Step>,
    ) -> Result<Vec<Step>, Stuck> {
        let variables: Vec<Variable> = items
            .iter_mut()
            .map(|item| self.next_variable(item, level))
            .collect();
        let first = variables[0];
        for (item, own) in items.iter_mut().zip(&variables) {
            if *own != first {
                alias(item, *own, first)?;
            }
        }
        let bounds: Vec<Bounds> = items
            .iter()
            .map(|item| item.bounds(first, &self.proofs))
            .collect();
        for (bounds, (item, own)) in bounds.iter().zip(items.iter().zip(&variables)) {
            self.check(bounds, *own, item.number)?;
        }
        let groups = self.in_turn(&items, &bounds);
        if groups.len() > 1 {
            for group in groups {
                let mut own: Vec<Item> = group.iter().map(|&at| items[at].clone()).collect();
                // Each group goes over the element in a variable of its own.
                let variable = variables[group[0]];
                if variable != first {
                    for item in &mut own {
                        alias(item, first, variable)?;
                    }
                }
                steps.extend(self.together(own, level, shared)?);
            }
            return Ok(steps);
        }
        let context = common(&items);
        let lower = self.hull(&bounds, |bounds| &bounds.lower, 1, &context);
        let upper = self.hull(&bounds, |bounds| &bounds.upper, -1, &context);
        let inside = between(first, &lower, &upper);
        for (item, mut bounds) in items.iter_mut().zip(bounds) {
            item.context.extend(inside.iter().flatten().cloned());
            // Each item tests its own bounds.
            if lower[..] != [sums(&bounds.lower)] {
                bounds.lower.clear();
            }
            if upper[..] != [sums(&bounds.upper)] {
                bounds.upper.clear();
            }
            item.within(first, &bounds);
        }
        let [lower, upper] = [lower, upper].map(|side| {
            let each = side
                .iter()
                .map(|bounds| bounds.iter().map(Polynomial::to_expression));
            each.map(Iterator::collect).collect()
        });
        let body = self.together(items, level + 1, shared)?;
        steps.push(Step::For {
            variable: first,
            lower,
            upper,
            body,
        });
        Ok(steps)
    }

    /// One side of the bounds of all items, without bounds that another one includes; `sign` is 1
    /// for lower bounds and -1 for upper ones.
    fn hull(
        &self,
        bounds: &[Bounds],
        side: impl Fn(&Bounds) -> &Vec<Bound>,
        sign: i64,
        context: &[Row],
    ) -> Vec<Vec<Polynomial>> {
        let mut all: Vec<Vec<Polynomial>> = Vec::new();
        for bounds in bounds {
            let next = sums(side(bounds));
            if !all.contains(&next) {
                all.push(next);
            }
        }
        let within = |inner: &[Polynomial], outer: &[Polynomial]| {
            outer.iter().all(|outer| {
                inner.iter().any(|inner| {
                    let sum = Polynomial::default().plus(sign, inner);
                    let sum = sum.and_then(|sum| sum.plus(-sign, outer));
                    sum.is_some_and(|sum| {
                        let sign = Sign::NonNegative;
                        self.proofs.holds(context, &Row { sum, sign })
                    })
                })
            })
        };
        let mut at = all.len();
        while at > 0 {
            at -= 1;
            let mut others = (all.iter().enumerate()).filter(|(n, _)| *n != at);
            if others.any(|(_, other)| within(&all[at], other)) {
                all.remove(at);
            }
        }
        all
    }

    /// The items in groups. Each group is known to end with this element before the next begins.
    fn in_turn(&self, items: &[Item], bounds: &[Bounds]) -> Vec<Vec<usize>> {
        let before = |a: usize, b: usize| {
            let context = common(&[items[a].clone(), items[b].clone()]);
            bounds[a].upper.iter().any(|upper| {
                bounds[b].lower.iter().any(|lower| {
                    lower.value.plus(-1, &upper.value).is_some_and(|sum| {
                        let sign = Sign::NonNegative;
                        self.proofs.holds(&context, &Row { sum, sign })
                    })
                })
            })
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in 0..items.len() {
            // The place of the first group that does not come before this item.
            let is_before = |group: &Vec<usize>| group.iter().all(|&other| before(other, at));
            let is_after = |group: &Vec<usize>| group.iter().all(|&other| before(at, other));
            let from = groups.iter().take_while(|group| is_before(group)).count();
            let to = groups
                .iter()
                .rev()
                .take_while(|group| is_after(group))
                .count();
            let to = groups.len() - to;
            if to <= from {
                groups.insert(from.min(groups.len()), vec![at]);
            } else {
                let mut merged: Vec<usize> = groups.drain(from..to).flatten().collect();
                merged.push(at);
                merged.sort_unstable();
                groups.insert(from, merged);
            }
        }
        groups
    }

    /// The variable that the next element of the order is.
    pub(super) fn next_variable(&mut self, item: &mut Item, level: usize) -> Variable {
        let element = item.order[level].clone();
        if let [variable] = item.open(&element)[..]
            && element == Polynomial::atom(atom(variable))
        {
            return variable;
        }
        let variable = self.names.push("t");
        let value = Polynomial::atom(atom(variable));
        if let Some(sum) = value.plus(-1, &element) {
            item.add(Row {
                sum,
                sign: Sign::Zero,
            });
            item.order[level] = value;
        }
        variable
    }
}

/// Whether two conjunctions are known to have no tuple in common.
pub(super) fn are_disjoint(a: &Item, b: &Item, declarations: &Declarations) -> bool {
    let (mut rows, mut theirs) = (a.rows.clone(), b.rows.clone());
    for (a, b) in a.tuple.iter().zip(&b.tuple) {
        let variable = match b.as_atom() {
            Some(Atom::Variable(variable)) if !a.has(*variable) => Some(*variable),
            _ => None,
        };
        // In place of their variable, so that the same terms of both are the same.
        let put = |row: &mut Row| -> Option<()> {
            row.sum = row.sum.substituted(variable?, a)?;
            Some(())
        };
        if variable.is_some() {
            if theirs.iter_mut().try_for_each(put).is_none() {
                return false;
            }
            continue;
        }
        let Some(sum) = a.plus(-1, b) else {
            return false;
        };
        rows.push(Row {
            sum,
            sign: Sign::Zero,
        });
    }
    rows.append(&mut theirs);
    Facts::of_rows(rows, declarations).impossible()
}

fn alias(item: &mut Item, from: Variable, to: Variable) -> Result<(), Stuck> {
    let value = Polynomial::atom(atom(to));
    item.substitute(from, &value).ok_or(Stuck::TooLarge)
}

/// Whether a value is looked up, which takes a statement of its own.
fn is_place(value: &Polynomial) -> bool {
    let mut found = false;
    value.visit(&mut |atom| {
        if let Atom::Call(name, _) = atom {
            found |= name.ends_with(".first") || name.ends_with(".inverse");
        }
    });
    found
}

/// The comparisons that hold for all items where the loops are.
fn common(items: &[Item]) -> Vec<Row> {
    let (first, rest) = items.split_first().expect("there are items");
    let in_all = |row: &&Row| rest.iter().all(|item| item.context.contains(row));
    first.context.iter().filter(in_all).cloned().collect()
}

/// The rows about a loop variable, if each side of its bounds belongs to one item.
fn between(
    variable: Variable,
    lower: &[Vec<Polynomial>],
    upper: &[Vec<Polynomial>],
) -> Option<Vec<Row>> {
    let value = Polynomial::atom(atom(variable));
    let mut rows = Vec::new();
    let mut hold = |sum| {
        rows.push(Row {
            sum,
            sign: Sign::NonNegative,
        });
    };
    if let [lower] = lower {
        for bound in lower {
            hold(value.plus(-1, bound)?);
        }
    }
    if let [upper] = upper {
        for bound in upper {
            hold(bound.plus(-1, &value)?.plus(-1, &Polynomial::integer(1))?);
        }
    }
    Some(rows)
}

fn sums(side: &[Bound]) -> Vec<Polynomial> {
    side.iter().map(|bound| bound.value.clone()).collect()
}
