//! Constraints of a destination, solved for the array or the element that they speak of.
//!
//! A list is found by constraints that say which entry an array has at an element. The same
//! may be said of a coordinate that is a sum with the entry, or has it as a digit:
//!
//! ```text
//! j = r + off(d)                        ──►   off(d) = j - r
//! j = NC - 1 - col(k)                   ──►   col(k) = NC - 1 - j
//! j = 4 * col(k) + b && 0 <= b < 4      ──►   col(k) = j floordiv 4 && b = j mod 4
//! j = 4 * c + col(k)                    ──►   c = j floordiv 4 && col(k) = j mod 4, of a range 0..4
//! ```

use sparsec_relation::{Comparison, Conjunction, Constraint, Declarations, Expression, Variable};

use crate::terms::has_part;

/// The map with each equation for a coordinate solved: for its digits, and for the call in it, if
/// that is the only one and of one element.
pub(crate) fn isolated(map: &Conjunction, known: &Declarations) -> Conjunction {
    let names = |of: &mut dyn Iterator<Item = Variable>| -> Vec<String> {
        of.map(|v| map.name(v).to_owned()).collect()
    };
    let mut whole = Conjunction::new(names(&mut map.inputs()), names(&mut map.outputs()));
    for exists in map.exists() {
        whole.add_exists(map.name(exists));
    }
    let is_coordinate = |e: &Expression| match e {
        Expression::Variable(v) => map.outputs().any(|output| output == *v),
        _ => false,
    };
    for constraint in map.constraints() {
        let solved = match (&constraint.first, &constraint.rest[..]) {
            (left, [(Comparison::Equal, right)]) if is_coordinate(left) => {
                solved(left, right, (map, known))
            }
            (left, [(Comparison::Equal, right)]) if is_coordinate(right) => {
                solved(right, left, (map, known))
            }
            _ => None,
        };
        let solved = solved.unwrap_or_else(|| vec![constraint.clone()]);
        solved.into_iter().for_each(|link| whole.add(link));
    }
    whole
}

/// The equation of a coordinate and a sum, solved.
fn solved(
    coordinate: &Expression,
    sum: &Expression,
    of: (&Conjunction, &Declarations),
) -> Option<Vec<Constraint>> {
    let Some((digit, base, rest)) = last_digit(sum, of) else {
        return Some(vec![for_call(coordinate, sum)?]);
    };
    let divided = |by: fn(Box<Expression>, Box<Expression>) -> Expression| {
        by(
            Box::new(coordinate.clone()),
            Box::new(Expression::Integer(base)),
        )
    };
    let higher = divided(Expression::FloorDivide);
    let mut links = vec![digit.equals(divided(Expression::Modulo))];
    match solved(&higher, &rest, of) {
        Some(more) => links.extend(more),
        None => links.push(rest.equals(higher)),
    }
    Some(links)
}

/// The last digit of a sum `base * rest + digit`, where `0 <= digit < base` and the digit is an
/// element, or what an array holds at one.
fn last_digit(
    sum: &Expression,
    (map, known): (&Conjunction, &Declarations),
) -> Option<(Expression, i64, Expression)> {
    let terms = sum.terms();
    let is_element = |e: &Expression| match e {
        Expression::Variable(v) => map.outputs().all(|output| output != *v),
        Expression::Call(_, at) => matches!(at[..], [Expression::Variable(_)]),
        _ => false,
    };
    let range = |e: &Expression| match e {
        Expression::Call(name, _) => known.function(name)?.range.as_box()?.pop(),
        _ => None,
    };
    let links: Vec<Constraint> = (map.constraints().iter())
        .flat_map(Constraint::split)
        .collect();
    for (at, (is_negative, digit)) in terms.iter().enumerate() {
        if *is_negative || !is_element(digit) || terms.len() == 1 {
            continue;
        }
        let zero = Expression::Integer(0);
        let is_from_zero = |link: &Constraint| {
            link.first == zero && link.rest[0] == (Comparison::LessEqual, (*digit).clone())
        };
        let bounds = links.iter().filter(|link| link.first == **digit);
        let bounds = bounds.filter_map(|link| match &link.rest[0] {
            (Comparison::Less, Expression::Integer(bound)) => Some(*bound),
            _ => None,
        });
        let most = match range(digit) {
            Some((Expression::Integer(0), Expression::Integer(most))) => Some(most),
            _ if links.iter().any(is_from_zero) => bounds.min(),
            _ => None,
        };
        let Some(most) = most else { continue };
        let mut others = terms.iter().enumerate().filter(|(n, _)| *n != at);
        let factors = others.clone().map(|(_, (_, term))| factor(term));
        let Some(base) = factors
            .reduce(gcd)
            .filter(|base| *base > 1 && most <= *base)
        else {
            continue;
        };
        if others.any(|(_, (_, term))| has_part(term, digit)) {
            continue;
        }
        let others = terms.iter().enumerate().filter(|(n, _)| *n != at);
        let rest = others.fold(zero, |rest, (_, (is_negative, term))| {
            let (rest, term) = (Box::new(rest), Box::new(quotient(term, base)));
            match is_negative {
                true => Expression::Subtract(rest, term),
                false => Expression::Add(rest, term),
            }
        });
        return Some(((*digit).clone(), base, rest.simplified()));
    }
    None
}

/// The number that a term is a multiple of, as it stands.
fn factor(term: &Expression) -> i64 {
    match term {
        Expression::Integer(n) => *n,
        Expression::Multiply(a, b) => match (&**a, &**b) {
            (Expression::Integer(n), _) | (_, Expression::Integer(n)) => *n,
            _ => 1,
        },
        _ => 1,
    }
}

/// A multiple of a number, divided by it.
fn quotient(term: &Expression, by: i64) -> Expression {
    match term {
        Expression::Integer(n) => Expression::Integer(n / by),
        Expression::Multiply(a, b) => match (&**a, &**b) {
            (Expression::Integer(n), e) | (e, Expression::Integer(n)) => {
                let n = Box::new(Expression::Integer(n / by));
                Expression::Multiply(n, Box::new(e.clone())).simplified()
            }
            _ => unreachable!("it is a multiple"),
        },
        _ => unreachable!("it is a multiple"),
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.saturating_abs(),
        _ => gcd(b, a.wrapping_rem(b)),
    }
}

/// `coordinate = a + f(x) - b` as `f(x) = coordinate - a + b`, and `coordinate = a - f(x)` as
/// `f(x) = a - coordinate`.
fn for_call(coordinate: &Expression, sum: &Expression) -> Option<Constraint> {
    let terms = sum.terms();
    let has_call = |e: &Expression| {
        let mut found = false;
        e.visit(&mut |e| found |= matches!(e, Expression::Call(..)));
        found
    };
    let mut calls = terms
        .iter()
        .enumerate()
        .filter(|(_, (_, term))| has_call(term));
    let (at, (is_subtracted, call)) = calls.next()?;
    let is_plain = match call {
        Expression::Call(_, arguments) => matches!(arguments[..], [Expression::Variable(_)]),
        _ => false,
    };
    if calls.next().is_some() || !is_plain || terms.len() == 1 {
        return None;
    }
    let others = terms.iter().enumerate().filter(|(number, _)| *number != at);
    let others = others.map(|(_, (is_negative, term))| (!*is_negative, *term));
    let sides = [(false, coordinate)].into_iter().chain(others);
    let signed = sides.map(|(is_negative, term)| (is_negative != *is_subtracted, term));
    // What is added stands first, so that no sum begins with 0.
    let (subtracted, added): (Vec<_>, Vec<_>) = signed.partition(|(is_negative, _)| *is_negative);
    let mut added = added.into_iter().map(|(_, term)| term.clone());
    let first = added.next().unwrap_or(Expression::Integer(0));
    let value = added.fold(first, |sum, term| {
        Expression::Add(Box::new(sum), Box::new(term))
    });
    let value = subtracted.into_iter().fold(value, |sum, (_, term)| {
        Expression::Subtract(Box::new(sum), Box::new(term.clone()))
    });
    Some((*call).clone().equals(value))
}
