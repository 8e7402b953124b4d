//! The loops of one conjunction.

use super::Step;
use super::bounds::{Bound, Bounds};
use super::item::{Finish, Item};
use super::nest::{Nest, Stuck};
use crate::expression::{Expression, Variable};
use crate::facts::{atom, to_constraint};
use crate::polynomial::{Polynomial, Row, Sign};

impl Nest<'_> {
    /// The loops of one item.
    pub(super) fn alone(&mut self, mut item: Item, mut level: usize) -> Result<Vec<Step>, Stuck> {
        let mut steps = Vec::new();
        loop {
            let conditions = item.enforce(&self.proofs, true);
            if !conditions.is_empty() {
                let never = |row: &Row| row.sum.value().is_some();
                if conditions.iter().any(never) {
                    return Ok(steps);
                }
                let body = self.alone(item, level)?;
                steps.push(Step::If {
                    conditions: conditions.iter().map(to_constraint).collect(),
                    body,
                });
                return Ok(steps);
            }
            if let Some((variable, value)) = item.determined(&self.proofs) {
                steps.push(Step::Let {
                    variable,
                    value: value.to_expression(),
                });
                item.bind(variable, &value);
                continue;
            }
            let Some(element) = item.order.get(level).cloned() else {
                break;
            };
            let open = item.open(&element);
            if open.is_empty() {
                level += 1;
                continue;
            }
            let next = self.next_variable(&mut item, level);
            let (variable, bounds) = self.choose(&item, next)?;
            return self.looped(item, level, variable, &bounds, steps);
        }
        let Some(&variable) = item.exists.first() else {
            steps.extend(self.finish(item)?);
            return Ok(steps);
        };
        let bounds = item.bounds(variable, &self.proofs);
        self.check(&bounds, variable, item.number)?;
        if matches!(item.finish, Finish::Found)
            || item.increases(variable, None, &mut self.names, &self.proofs)
        {
            return self.looped(item, level, variable, &bounds, steps);
        }
        let mut search = item.clone();
        search.finish = Finish::Found;
        let search = self.looped(search, level, variable, &bounds, Vec::new())?;
        steps.push(Step::Where {
            search,
            found: true,
            body: self.finish(item)?,
        });
        Ok(steps)
    }

    /// The loop that comes next: over the next element of the order, or over
    /// another variable that gives it in the same order.
    fn choose(&mut self, item: &Item, next: Variable) -> Result<(Variable, Bounds), Stuck> {
        let own = item.bounds(next, &self.proofs);
        let mut others: Vec<Variable> = Vec::new();
        for row in item.rows.iter().filter(|row| row.sign == Sign::Zero) {
            if let [a, b] = item.open(&row.sum)[..]
                && (a == next || b == next)
                && row.sum.factor(&[atom(next)]).abs() == 1
            {
                let other = if a == next { b } else { a };
                // Where neither needs more than a sum, the next is as good.
                let is_plain = row
                    .sum
                    .terms()
                    .all(|(atoms, _)| atoms.iter().all(|a| !a.is_partial()));
                let is_needed = !is_plain || !own.is_closed();
                if is_needed && !others.contains(&other) {
                    others.push(other);
                }
            }
        }
        for other in others {
            let bounds = item.direct(other, &self.proofs);
            if bounds.is_closed()
                && item.increases(other, Some(next), &mut self.names, &self.proofs)
            {
                return Ok((other, bounds));
            }
        }
        self.check(&own, next, item.number)?;
        Ok((next, own))
    }

    /// Whether a variable of an item of that number has both bounds.
    pub(super) fn check(
        &self,
        bounds: &Bounds,
        variable: Variable,
        number: usize,
    ) -> Result<(), Stuck> {
        let side = match (bounds.lower.is_empty(), bounds.upper.is_empty()) {
            (false, false) => return Ok(()),
            (true, true) => "lower and no upper",
            (true, false) => "lower",
            (false, true) => "upper",
        };
        Err(Stuck::Unbounded {
            number,
            variable: self.names.name(variable).to_owned(),
            side,
        })
    }

    fn looped(
        &mut self,
        mut item: Item,
        level: usize,
        variable: Variable,
        bounds: &Bounds,
        mut steps: Vec<Step>,
    ) -> Result<Vec<Step>, Stuck> {
        if let Some(only) = bounds.only() {
            let value = only.lower[0].value.clone();
            steps.push(Step::Let {
                variable,
                value: value.to_expression(),
            });
            item.within(variable, &only);
            item.bind(variable, &value);
            steps.extend(self.alone(item, level)?);
            return Ok(steps);
        }
        item.within(variable, bounds);
        let (lower, upper) = values(bounds);
        let body = self.alone(item, level)?;
        if !body.is_empty() {
            steps.push(Step::For {
                variable,
                lower: vec![lower],
                upper: vec![upper],
                body,
            });
        }
        Ok(steps)
    }

    /// The steps at a point.
    fn finish(&mut self, item: Item) -> Result<Vec<Step>, Stuck> {
        let Finish::Visit { earlier } = &item.finish else {
            return Ok(vec![Step::Found]);
        };
        let mut steps = vec![Step::Visit {
            number: item.number,
            tuple: item.tuple.iter().map(Polynomial::to_expression).collect(),
        }];
        for other in earlier.iter().rev() {
            let mut other = other.clone();
            for (at, value) in item.tuple.iter().enumerate() {
                let [variable] = other.tuple[at].variables().into_iter().collect::<Vec<_>>()[..]
                else {
                    continue;
                };
                other.substitute(variable, value).ok_or(Stuck::TooLarge)?;
            }
            other.known.clone_from(&item.known);
            other.context.clone_from(&item.context);
            other.finish = Finish::Found;
            let level = other.order.len();
            let search = self.alone(other, level)?;
            if matches!(search[..], [Step::Found]) {
                return Ok(Vec::new());
            }
            if !search.is_empty() {
                steps = vec![Step::Where {
                    search,
                    found: false,
                    body: steps,
                }];
            }
        }
        Ok(steps)
    }
}

fn values(bounds: &Bounds) -> (Vec<Expression>, Vec<Expression>) {
    let side = |side: &[Bound]| side.iter().map(|b| b.value.to_expression()).collect();
    (side(&bounds.lower), side(&bounds.upper))
}
