//! Checks of declarations against given values.
//!
//! Loops trust declarations, so arrays are checked before loops use them: lengths and ranges entry
//! by entry, orders between neighbours, and quantifiers at every point that satisfies the premises.
//! A conclusion that compares one expression at two variables, such as `crd(a) < crd(b)` for `lo <=
//! a < b < hi`, is transitive, so `b = a + 1` suffices.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::{Declarations, Function, Monotone, Quantifier, TupleFunction};
use crate::conjunction::Conjunction;
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Values, Variable};
use crate::relation::Relation;
use crate::scan::{Data, Ended};
use crate::set::Set;

/// A declaration that does not hold, or cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The declaration, as it is printed.
    pub declaration: String,
    /// The counterexample in words, with the entries that show it.
    pub why: String,
}

/// Steps that the check of one quantifier may take.
const MOST_STEPS: u64 = 1 << 32;

impl Declarations {
    /// Checks that constants and arrays are as declared. A function without an array
    /// is not looked at.
    ///
    /// Time: that of reading each array once, and of visiting the points of each
    /// quantifier.
    ///
    /// # Errors
    /// The first declaration that does not hold, and why.
    ///
    /// ```
    /// use sparsec_relation::{Data, Declarations};
    /// let known: Declarations = "assume 0 <= N
    ///     function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p} nondecreasing".parse()?;
    /// let mut data = Data::new();
    /// data.constant("N", 2);
    /// let pos = [0, 3, 1];
    /// data.array("pos", vec![3], move |at| pos[at]);
    /// let broken = known.check(&data).unwrap_err();
    /// assert_eq!(broken.why, "`pos` is not nondecreasing: pos(1) = 3 and pos(2) = 1");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn check(&self, data: &Data<'_>) -> Result<(), Broken> {
        let broken = |declaration: String, why| Broken { declaration, why };
        let free = Conjunction::new::<String>([], []);
        for constraint in &self.assumptions {
            if data.holds(constraint, &[]) != Some(true) {
                let text = free.list_of(std::slice::from_ref(constraint)).to_string();
                let why = format!("`{text}` does not hold");
                return Err(broken(text, why));
            }
        }
        for function in &self.functions {
            if data.has(&function.name) {
                let checked = function.check(data);
                checked.map_err(|why| broken(function.to_string(), why))?;
            }
        }
        for tuple in &self.tuples {
            if tuple.elements().all(|name| data.has(&name)) {
                let checked = tuple.check(data);
                checked.map_err(|why| broken(tuple.to_string(), why))?;
            }
        }
        for quantifier in &self.quantifiers {
            let checked = self.check_quantifier(quantifier, data);
            checked.map_err(|why| broken(quantifier.to_string(), why))?;
        }
        Ok(())
    }

    fn check_quantifier(&self, quantifier: &Quantifier, data: &Data<'_>) -> Result<(), String> {
        let unchecked = |why: &str| Err(format!("`{quantifier}` cannot be checked: {why}"));
        let mut calls = Vec::new();
        let premises = quantifier.premises.constraints().iter();
        let all = premises.chain(&quantifier.conclusions);
        for e in all.flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    calls.push((name.as_str(), arguments));
                }
            });
        }
        if self
            .orders
            .iter()
            .any(|(order, _)| calls.iter().any(|(name, _)| name == order))
        {
            return unchecked("it speaks of a declared order");
        }
        calls.retain(|(name, _)| !self.is_key(name));
        if calls.iter().any(|(name, _)| !data.has(name)) {
            // Nothing is looked up there.
            return Ok(());
        }
        let mut part = quantifier.premises.clone();
        for (name, arguments) in &calls {
            let Some([domain]) = self.function(name).map(|f| f.domain.parts()) else {
                return unchecked("a domain is a union");
            };
            for constraint in domain.constraints() {
                part.add(constraint.rewritten(&Values(arguments)));
            }
        }
        if let Some((a, b)) = neighbours(quantifier, &calls) {
            let next = Expression::Add(
                Box::new(Expression::Variable(a)),
                Box::new(Expression::Integer(1)),
            );
            part.add(Expression::Variable(b).equals(next));
        }
        let set = Set::of(Relation::of_parts(vec![part]));
        // The scan must not use the declarations that are being checked.
        let known = Self {
            quantifiers: Vec::new(),
            ..self.clone()
        };
        let Ok(loops) = set.scan(&known) else {
            return unchecked("its variables have no bounds");
        };
        let mut shown = None;
        let ended = loops.run(data, MOST_STEPS, &mut |_, point| {
            for conclusion in &quantifier.conclusions {
                let holds = data.holds(conclusion, point);
                let keyless = match holds {
                    None => self.without_key(conclusion, data, point),
                    Some(_) => None,
                };
                if holds == Some(false) || keyless.is_some() {
                    shown = Some((point.to_vec(), keyless));
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        match (ended, shown) {
            (_, Some((_, Some(keyless)))) => {
                Err(format!("`{quantifier}` does not hold: {keyless}"))
            }
            (_, Some((point, None))) => {
                let names = quantifier.premises.inputs().zip(point);
                let names = names.map(|(v, n)| format!("{} = {n}", quantifier.premises.name(v)));
                let names: Vec<String> = names.collect();
                let place = match &names[..] {
                    [] => String::new(),
                    names => format!(" for {}", names.join(", ")),
                };
                Err(format!("`{quantifier}` does not hold{place}"))
            }
            (Ended::Done, None) => Ok(()),
            (Ended::Steps, None) => unchecked("it has too many points"),
            (Ended::Value, None) => unchecked("a value does not fit 64 bits"),
        }
    }

    /// The first key in a constraint that has no value at a point, in words.
    fn without_key(&self, of: &Constraint, data: &Data<'_>, point: &[i64]) -> Option<String> {
        let mut found = None;
        for e in of.expressions() {
            e.visit(&mut |e| {
                let Expression::Call(name, arguments) = e else {
                    return;
                };
                let Some((key, _)) = self.key_of(name).filter(|_| found.is_none()) else {
                    return;
                };
                let values = arguments.iter().map(|e| data.value_at(e, point));
                let Some(values) = values.collect::<Option<Vec<i64>>>() else {
                    return;
                };
                if key.value(&values).is_none() {
                    let values: Vec<String> = values.iter().map(i64::to_string).collect();
                    let bits: Vec<String> = key.arguments().iter().map(u32::to_string).collect();
                    found = Some(format!(
                        "`{}({})` has no value, for arguments of {} bits",
                        key.name(),
                        values.join(", "),
                        bits.join(" and ")
                    ));
                }
            });
        }
        found
    }
}

impl Function {
    fn check(&self, data: &Data<'_>) -> Result<(), String> {
        let name = &self.name;
        let unchecked = |what: &str| format!("the {what} of `{name}` cannot be checked");
        let bounds = |set: &Set, what: &str| -> Result<Vec<(i64, i64)>, String> {
            let sides = set.as_box().ok_or_else(|| unchecked(what))?;
            let sides = sides.iter().map(|(a, b)| data.value(a).zip(data.value(b)));
            let sides: Option<Vec<_>> = sides.collect();
            sides.ok_or_else(|| unchecked(what))
        };
        let domain = bounds(&self.domain, "domain")?;
        let [range] = self.range.parts() else {
            return Err(unchecked("range"));
        };
        if range.exists().len() > 0 {
            return Err(unchecked("range"));
        }
        let least_and_most = self.range.as_box().and_then(|sides| {
            let (from, end) = sides.first()?;
            Some((data.value(from)?, data.value(end)?))
        });
        let mut before: Option<(i64, i64)> = None;
        let mut point: Vec<i64> = domain.iter().map(|(from, _)| *from).collect();
        if domain.iter().any(|(from, end)| from >= end) {
            return Ok(());
        }
        let n_points = domain.iter().try_fold(1i64, |n, (from, end)| {
            end.checked_sub(*from)
                .and_then(|length| n.checked_mul(length))
        });
        let n_points = n_points.unwrap_or(i64::MAX);
        let tells_apart = self.injective && !self.is_strict();
        let mut seen = tells_apart.then(|| Seen::among(least_and_most, n_points));
        let entries = data.entries(name);
        let entries = entries.ok_or_else(|| format!("`{name}` has no entries"))?;
        loop {
            let arguments = || {
                let numbers: Vec<String> = point.iter().map(i64::to_string).collect();
                numbers.join(", ")
            };
            let Some(value) = entries(&point) else {
                return Err(format!("`{name}` has no entry for {}", arguments()));
            };
            let is_inside = match least_and_most {
                Some((from, end)) => (from..end).contains(&value),
                None => range
                    .constraints()
                    .iter()
                    .all(|c| data.holds(c, &[value]) == Some(true)),
            };
            if !is_inside {
                return Err(format!(
                    "{name}({}) = {value} is not in {}",
                    arguments(),
                    self.range
                ));
            }
            if let (Some(monotone), Some((at, last))) = (self.monotone, before) {
                let follows = match monotone {
                    Monotone::Nondecreasing => last <= value,
                    Monotone::Increasing => last < value,
                    Monotone::Nonincreasing => last >= value,
                    Monotone::Decreasing => last > value,
                };
                if !follows {
                    return Err(format!(
                        "`{name}` is not {}: {name}({at}) = {last} and {name}({}) = {value}",
                        monotone.word(),
                        arguments()
                    ));
                }
            }
            if seen.as_mut().is_some_and(|seen| !seen.insert(value)) {
                return Err(format!(
                    "`{name}` is not injective: {name}({}) = {value} was there before",
                    arguments()
                ));
            }
            before = Some((point[point.len() - 1], value));
            if !advance(&mut point, &domain) {
                return Ok(());
            }
        }
    }
}

/// The values that an injective function has taken.
enum Seen {
    /// A bit for each value from the least on.
    Bits(i64, Vec<u64>),
    Values(HashSet<i64>),
}

impl Seen {
    /// An empty set for `n` values of a range. It has bits where these take no more memory than the
    /// values would.
    fn among(range: Option<(i64, i64)>, n: i64) -> Self {
        let length = range.and_then(|(from, end)| Some((from, end.checked_sub(from)?)));
        match length {
            Some((from, length @ 0..)) if length / i64::from(u64::BITS) <= n => {
                let words = length / i64::from(u64::BITS) + 1;
                let words = usize::try_from(words).expect("no more than there are values");
                Self::Bits(from, vec![0; words])
            }
            _ => Self::Values(HashSet::new()),
        }
    }

    /// Notes a value of the range; whether it is new.
    fn insert(&mut self, value: i64) -> bool {
        match self {
            Self::Bits(from, words) => {
                let at = value.abs_diff(*from);
                let word = &mut words[(at / u64::from(u64::BITS)) as usize];
                let bit = 1 << (at % u64::from(u64::BITS));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Self::Values(values) => values.insert(value),
        }
    }
}

impl TupleFunction {
    /// Checks the range and injectivity of whole tuples. Each element is checked as a function.
    fn check(&self, data: &Data<'_>) -> Result<(), String> {
        let name = &self.name;
        let unchecked = |what: &str| format!("the {what} of `{name}` cannot be checked");
        let sides = self.domain.as_box().ok_or_else(|| unchecked("domain"))?;
        let sides = sides.iter().map(|(a, b)| data.value(a).zip(data.value(b)));
        let domain: Option<Vec<(i64, i64)>> = sides.collect();
        let domain = domain.ok_or_else(|| unchecked("domain"))?;
        let [range] = self.range.parts() else {
            return Err(unchecked("range"));
        };
        if range.exists().len() > 0 {
            return Err(unchecked("range"));
        }
        if domain.iter().any(|(from, end)| from >= end) {
            return Ok(());
        }
        let mut seen = HashSet::new();
        let mut point: Vec<i64> = domain.iter().map(|(from, _)| *from).collect();
        let list = |numbers: &[i64]| {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            numbers.join(", ")
        };
        loop {
            let arguments: Vec<Expression> =
                point.iter().map(|n| Expression::Integer(*n)).collect();
            let calls = self.elements();
            let calls = calls.map(|name| Expression::Call(name, arguments.clone()));
            let values: Option<Vec<i64>> = calls.map(|call| data.value(&call)).collect();
            let Some(values) = values else {
                return Err(format!("`{name}` has no entry for {}", list(&point)));
            };
            let shown = || format!("{name}({}) = [{}]", list(&point), list(&values));
            let mut constraints = range.constraints().iter();
            if !constraints.all(|c| data.holds(c, &values) == Some(true)) {
                return Err(format!("{} is not in {}", shown(), self.range));
            }
            if self.injective && !seen.insert(values.clone()) {
                let shown = shown();
                return Err(format!(
                    "`{name}` is not injective: {shown} was there before"
                ));
            }
            if !advance(&mut point, &domain) {
                return Ok(());
            }
        }
    }
}

/// Advances to the next point of a box, the last element fastest; `false` at the end.
fn advance(point: &mut [i64], sides: &[(i64, i64)]) -> bool {
    for (at, (from, end)) in point.iter_mut().zip(sides).rev() {
        *at += 1;
        if *at < *end {
            return true;
        }
        *at = *from;
    }
    false
}

/// Two variables `a < b` for which `b = a + 1` suffices: premises bound `a` from below only and `b`
/// from above only, and conclusions are transitive.
fn neighbours(
    quantifier: &Quantifier,
    calls: &[(&str, &Vec<Expression>)],
) -> Option<(Variable, Variable)> {
    let premises = quantifier
        .premises
        .constraints()
        .iter()
        .flat_map(Constraint::links);
    let links: Vec<_> = premises.collect();
    let (a, b) = links.iter().find_map(|link| match link {
        (Expression::Variable(a), Comparison::Less, Expression::Variable(b)) => Some((*a, *b)),
        _ => None,
    })?;
    let is = |e: &Expression, v: Variable| *e == Expression::Variable(v);
    let apart = |e: &Expression| !mentions(e, a) && !mentions(e, b);
    let convex = |(left, comparison, right): &(&Expression, Comparison, &Expression)| {
        use Comparison::{Less, LessEqual};
        (apart(left) && apart(right))
            || (matches!(comparison, Less | LessEqual)
                && ((is(left, a) && is(right, b))
                    || (apart(left) && is(right, a))
                    || (is(left, b) && apart(right))))
    };
    let transitive = |(left, comparison, right): (&Expression, Comparison, &Expression)| {
        let moved = |e: &Expression, from, to| e.rewritten(&Moved(from, to));
        !matches!(comparison, Comparison::Equal | Comparison::NotEqual)
            && ((!mentions(left, b) && moved(left, a, b) == *right)
                || (!mentions(left, a) && moved(left, b, a) == *right))
    };
    let plain = |(_, arguments): &(&str, &Vec<Expression>)| {
        let mut all = arguments.iter();
        all.all(|e| apart(e) || is(e, a) || is(e, b))
    };
    let mut conclusions = quantifier.conclusions.iter().flat_map(Constraint::links);
    (links.iter().all(convex) && conclusions.all(transitive) && calls.iter().all(plain))
        .then_some((a, b))
}

fn mentions(e: &Expression, variable: Variable) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= *e == Expression::Variable(variable));
    found
}

struct Moved(Variable, Variable);

impl Rewrite for Moved {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(if variable == self.0 { self.1 } else { variable })
    }
}
