//! How many points a set has, as a formula.
//!
//! ```text
//! {[i, q, j] : 0 <= i < N0 && A_pos1(i) <= q < A_pos1(i + 1) && A_crd1(q) = j && 0 <= j < N1}
//!
//! i    from 0 to N0                         N0 iterations
//! q    all segments of A_pos1               A_pos1(N0) - A_pos1(0) = A_pos1_end
//! j    follows from q                       no loop
//! ```
//!
//! Variables are taken one after the other: those that an equation gives, then those that run
//! through segments or from one fixed bound to another. Loops over segments replace the loops over the
//! variables in the argument of their function: `C * s < pos(c + 1) - pos(c)` has
//! `(pos(N) - pos(0) + (C - 1) * N) floordiv C` iterations of `s` for all `c`. An entry that ends a loop
//! counts as the greatest value that it may have. Other constraints are thought to hold.

use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Rewrite, Set, Variable,
};

use super::{difference, expanded, product, sum};

/// The loops over the points of one part of a set.
#[derive(Clone, Debug)]
pub struct Points {
    /// The variables of loops from the outermost on, each with the iterations that it has in all.
    pub loops: Vec<(Variable, Expression)>,
    /// The other variables with what gives them, in an order in which each depends on those before.
    pub given: Vec<(Variable, Expression)>,
}

/// The loops over the points of each part of a set; `None` if a part has no bound that is known.
///
/// ```
/// use sparsec_computation::{Computation, cost::points};
/// let rows: Computation = "computation rows {
///   parameters N, NZ
///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
///   assume pos(0) = 0
///   assume pos(N) = NZ
///   given pos : i32[N + 1], A : f64[NZ]
///   out y : f64[N]
///   s0: y(i) += A(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
/// }".parse()?;
/// let parts = points(&rows.statements[0].space, &rows.known()).expect("known bounds");
/// assert_eq!(format!("{:?}", parts[0].loops[0].1), r#"Constant("N")"#);
/// assert_eq!(rows.cost().expect("known bounds").total().steps, rows.cost().unwrap().sweeps[0].work.steps);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn points(space: &Set, known: &Declarations) -> Option<Vec<Points>> {
    let parts = space.parts().iter();
    parts.map(|part| Loops::of(part, known)).collect()
}

impl Points {
    /// How many points there are.
    pub fn count(&self) -> Expression {
        let last = self.loops.last();
        last.map_or(Expression::Integer(1), |(_, count)| count.clone())
    }

    /// The iterations of all loops.
    pub fn steps(&self) -> Expression {
        match self.loops.is_empty() {
            true => Expression::Integer(1),
            false => sum(self.loops.iter().map(|(_, count)| count.clone())),
        }
    }

    /// An expression in which variables that others give are replaced by what gives them.
    pub(super) fn resolved(&self, e: &Expression) -> Expression {
        let given = self.given.iter().rev();
        given.fold(e.clone(), |e, (variable, value)| {
            e.rewritten(&Replaced(*variable, value))
        })
    }

    /// The innermost loop that a resolved expression depends on.
    pub(super) fn innermost(&self, e: &Expression) -> Option<usize> {
        let found = super::sweeps::variables(e);
        self.loops.iter().rposition(|(v, _)| found.contains(v))
    }
}

/// An expression in place of a variable.
pub(super) struct Replaced<'a>(pub(super) Variable, pub(super) &'a Expression);

impl Rewrite for Replaced<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        match variable == self.0 {
            true => self.1.clone(),
            false => Expression::Variable(variable),
        }
    }
}

/// Which variable is looped over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It runs through segments of loops that are made.
    Segments,
    /// As an argument of a function it gives others their values.
    Argument,
    Other,
    /// A number says how often it runs, as within blocks.
    Few,
    /// A sum or a function gives it once the others are there, or bounds it.
    Waits,
}

/// The end of a variable for which `left < right` is `c * v < e`, with a constant `c` from 1 on.
fn below(v: Variable, left: &Expression, right: &Expression) -> Option<Expression> {
    let space = difference(right.clone(), left.clone());
    let at = |n: i64| expanded(space.rewritten(&Replaced(v, &Expression::Integer(n))));
    let [none, one, two] = [0, 1, 2].map(at);
    let c = difference(none.clone(), one.clone());
    let is_negative = matches!(c, Expression::Integer(..=0) | Expression::Negate(_));
    if is_negative || !super::sweeps::variables(&c).is_empty() || difference(one, two) != c {
        return None;
    }
    if c == Expression::Integer(1) {
        return Some(none);
    }
    let e = sum([none, difference(c.clone(), Expression::Integer(1))]);
    Some(Expression::FloorDivide(Box::new(e), Box::new(c)))
}

/// The greatest value of functions in place of calls.
struct Greatest<'a>(&'a Declarations);

impl Rewrite for Greatest<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let Expression::Call(name, _) = e else {
            return None;
        };
        let range = self.0.function(name)?.range.as_box()?;
        let [(_, end)] = &range[..] else { return None };
        Some(difference(end.clone(), Expression::Integer(1)))
    }
}

/// How a loop over a variable runs.
struct Range {
    rank: Rank,
    /// Its own iterations.
    own: Expression,
    /// The loops whose iterations are counted in its own.
    parents: Vec<Variable>,
}

/// Loops that are made one after the other.
struct Loops<'a> {
    known: &'a Declarations,
    /// Each loop with its own iterations, which are 1 where segments replaced them.
    loops: Vec<(Variable, Expression)>,
    counts: Vec<Expression>,
    given: Vec<(Variable, Expression)>,
}

/// Puts variables in place of `v floordiv c` and `v mod c`, so that each has a loop of its own or
/// follows from others: `v = c * w + m`.
fn split(mut links: Vec<Link>, variables: &mut Vec<Variable>) -> Vec<Link> {
    for v in variables.clone() {
        let mut divisors = Vec::new();
        for e in links.iter().flat_map(|(left, _, right)| [left, right]) {
            e.visit(&mut |e| {
                if let Expression::FloorDivide(of, c) | Expression::Modulo(of, c) = e
                    && **of == Expression::Variable(v)
                    && let Expression::Integer(c) = **c
                    && c > 0
                    && !divisors.contains(&c)
                {
                    divisors.push(c);
                }
            });
        }
        let [c] = divisors[..] else { continue };
        let [w, m] = [0, 1].map(|n| Variable::from_index(variables.len() + n));
        let [of, quotient, rest] = [v, w, m].map(Expression::Variable);
        let c = Expression::Integer(c);
        let parts = Parts {
            of: &of,
            c: &c,
            quotient: &quotient,
            rest: &rest,
        };
        for (left, _, right) in &mut links {
            *left = left.rewritten(&parts);
            *right = right.rewritten(&parts);
        }
        let whole = sum([product(c.clone(), quotient.clone()), rest.clone()]);
        links.extend([
            (of.clone(), Comparison::Equal, whole),
            (Expression::Integer(0), Comparison::LessEqual, rest.clone()),
            (rest.clone(), Comparison::Less, c.clone()),
            (
                quotient,
                Comparison::Equal,
                Expression::FloorDivide(Box::new(of.clone()), Box::new(c.clone())),
            ),
            (
                rest,
                Comparison::Equal,
                Expression::Modulo(Box::new(of), Box::new(c)),
            ),
        ]);
        variables.extend([w, m]);
    }
    links
}

/// Variables in place of a quotient and a remainder.
struct Parts<'a> {
    of: &'a Expression,
    c: &'a Expression,
    quotient: &'a Expression,
    rest: &'a Expression,
}

impl Rewrite for Parts<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        match e {
            Expression::FloorDivide(of, c) if **of == *self.of && **c == *self.c => {
                Some(self.quotient.clone())
            }
            Expression::Modulo(of, c) if **of == *self.of && **c == *self.c => {
                Some(self.rest.clone())
            }
            _ => None,
        }
    }
}

/// A comparison of two expressions.
type Link = (Expression, Comparison, Expression);

impl<'a> Loops<'a> {
    fn of(part: &Conjunction, known: &'a Declarations) -> Option<Points> {
        let links = part.constraints().iter().flat_map(Constraint::links);
        let links =
            links.map(|(left, comparison, right)| (left.clone(), comparison, right.clone()));
        let mut variables: Vec<Variable> =
            (0..part.n_variables()).map(Variable::from_index).collect();
        let links = split(links.collect(), &mut variables);
        let mut made = Self {
            known,
            loops: Vec::new(),
            counts: Vec::new(),
            given: Vec::new(),
        };
        let mut left = variables;
        while !left.is_empty() {
            if let Some(at) = left.iter().position(|v| made.give(*v, &links)) {
                left.remove(at);
                continue;
            }
            let places = left.iter().enumerate();
            let ranked = places.filter_map(|(at, v)| Some((made.range(*v, &links)?, at)));
            let (range, at) = ranked.min_by_key(|(range, at)| (range.rank, *at))?;
            made.enter(left.remove(at), range);
        }
        let variables = made.loops.iter().map(|(variable, _)| *variable);
        Some(Points {
            loops: variables.zip(made.counts).collect(),
            given: made.given,
        })
    }

    fn is_made(&self, variable: Variable) -> bool {
        let mut made = self.loops.iter().chain(&self.given);
        made.any(|(made, _)| *made == variable)
    }

    fn is_there(&self, e: &Expression) -> bool {
        let mut variables = super::sweeps::variables(e).into_iter();
        variables.all(|variable| self.is_made(variable))
    }

    /// Has an equation give the variable, if there is one.
    fn give(&mut self, v: Variable, links: &[Link]) -> bool {
        let of = Expression::Variable(v);
        for (left, comparison, right) in links {
            if *comparison != Comparison::Equal {
                continue;
            }
            for (side, other) in [(left, right), (right, left)] {
                if *side == of && self.is_there(other) {
                    self.given.push((v, other.clone()));
                    return true;
                }
            }
            // `d = j - i` gives `i` where `d` and `j` are there.
            let sides = difference(left.clone(), right.clone());
            let mut others = super::sweeps::variables(&sides);
            others.retain(|other| *other != v);
            let rest = expanded(sides.rewritten(&Replaced(v, &Expression::Integer(0))));
            let factor = difference(sides, rest.clone());
            let is_linear = factor == of || factor == Expression::Negate(Box::new(of.clone()));
            if is_linear && others.iter().all(|other| self.is_made(*other)) {
                let value = match factor == of {
                    true => expanded(Expression::Negate(Box::new(rest))),
                    false => rest,
                };
                self.given.push((v, value));
                return true;
            }
        }
        false
    }

    /// The range of a loop over the variable, if its bounds are known.
    fn range(&self, v: Variable, links: &[Link]) -> Option<Range> {
        let of = Expression::Variable(v);
        let one = || Expression::Integer(1);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        let (mut is_called, mut is_sum, mut waits) = (false, false, false);
        for (left, comparison, right) in links {
            for (e, other) in [(left, right), (right, left)] {
                e.visit(&mut |e| {
                    if let Expression::Call(_, arguments) = e {
                        let mut variables = arguments.iter().flat_map(super::sweeps::variables);
                        is_called |= variables.any(|variable| variable == v);
                    }
                });
                let is_equal = *comparison == Comparison::Equal && *e == of;
                is_sum |= is_equal && matches!(other, Expression::Add(..));
                waits |= is_equal
                    && matches!(
                        other,
                        Expression::Add(..) | Expression::Subtract(..) | Expression::Call(..)
                    );
                // A remainder has a loop inside of that over its quotient.
                if let (true, Expression::Modulo(whole, c)) = (*e == of, other) {
                    let quotient = Expression::FloorDivide(whole.clone(), c.clone());
                    let mut equal = links.iter();
                    let is_apart = !equal.any(|(w, _, e)| *e == quotient && self.is_there(w));
                    if is_apart {
                        return None;
                    }
                }
            }
            let (left, right) = (left.clone(), right.clone());
            let next = |e: Expression| sum([e, one()]);
            match comparison {
                Comparison::LessEqual if right == of => lower.push(left),
                Comparison::Less if right == of => lower.push(next(left)),
                Comparison::Less if left == of => upper.push(right),
                Comparison::LessEqual if left == of => upper.push(next(right)),
                Comparison::Less => upper.extend(below(v, &left, &right)),
                Comparison::LessEqual => upper.extend(below(v, &left, &next(right))),
                _ => {}
            }
        }
        // It runs through segments once the loops over these are there.
        let mut bounds = lower.iter().chain(&upper);
        waits |= bounds.any(|e| matches!(e, Expression::Call(..)) && !self.is_there(e));
        lower.retain(|e| self.is_there(e));
        upper.retain(|e| self.is_there(e));
        let pairs = || {
            lower
                .iter()
                .flat_map(|from| upper.iter().map(move |end| (from, end)))
        };
        if let Some((own, parents)) = pairs().find_map(|(from, end)| self.in_segments(from, end)) {
            return Some(Range {
                rank: match is_sum {
                    true => Rank::Waits,
                    false => Rank::Segments,
                },
                own,
                parents,
            });
        }
        let greatest = |end: &Expression| end.rewritten(&Greatest(self.known));
        let fixed = pairs().map(|(from, end)| difference(greatest(end), from.clone()));
        let fixed = fixed.filter(|own| super::sweeps::variables(own).is_empty());
        let own = fixed.min_by_key(|own| !matches!(own, Expression::Integer(_)))?;
        let rank = match (&own, waits, is_called) {
            (_, true, _) => Rank::Waits,
            (Expression::Integer(_), ..) => Rank::Few,
            (_, _, true) => Rank::Argument,
            _ => Rank::Other,
        };
        Some(Range {
            rank,
            own,
            parents: Vec::new(),
        })
    }

    fn enter(&mut self, v: Variable, range: Range) {
        for (variable, own) in &mut self.loops {
            if range.parents.contains(variable) {
                *own = Expression::Integer(1);
            }
        }
        self.loops.push((v, range.own));
        let all = self.loops.iter().map(|(_, own)| own.clone());
        let count = all.reduce(product).expect("there is a loop");
        self.counts.push(count);
    }

    /// The entries of all segments from `f(a)` to `f(a + 1)`, and the variables of the loops that
    /// count no more: those in `a`. With an end `(f(a + 1) - f(a) + k) floordiv c`, each segment has a
    /// `c`th of the entries, and `k` are added for each.
    fn in_segments(
        &self,
        from: &Expression,
        end: &Expression,
    ) -> Option<(Expression, Vec<Variable>)> {
        let (sum, c) = match (from.simplified(), end) {
            (Expression::Integer(0), Expression::FloorDivide(sum, c)) => {
                ((**sum).clone(), Some((**c).clone()))
            }
            _ => (difference(end.clone(), from.clone()), None),
        };
        let mut calls = Vec::new();
        sum.visit(&mut |e| {
            if let Expression::Call(f, at) = e
                && let [at] = &at[..]
            {
                calls.push((e.clone(), f.clone(), at.clone()));
            }
        });
        let pairs = calls
            .iter()
            .flat_map(|from| calls.iter().map(move |end| (from, end)));
        let mut segments = pairs.filter_map(|((from, f, a), (end, g, b))| {
            let is_next = f == g && difference(b.clone(), a.clone()) == Expression::Integer(1);
            let length = difference(end.clone(), from.clone());
            let more = is_next.then(|| difference(sum.clone(), length))?;
            let is_constant = super::sweeps::variables(&more).is_empty();
            is_constant.then_some((f, a, more))
        });
        let (f, a, more) = segments.next()?;
        let domain = self.known.function(f)?.domain.as_box()?;
        let [(first, behind)] = &domain[..] else {
            return None;
        };
        let last = difference(behind.clone(), Expression::Integer(1));
        let entry = |x: &Expression| Expression::Call(f.clone(), vec![expanded(x.clone())]);
        let all = difference(entry(&last), entry(first));
        let parents = self.resolved_variables(a);
        let loops = self.loops.iter().filter(|(v, _)| parents.contains(v));
        let n_segments = loops.map(|(_, own)| own.clone()).fold(more, product);
        let all = super::sum([all, n_segments]);
        let own = match c {
            Some(c) => Expression::FloorDivide(Box::new(all), Box::new(c)),
            None => all,
        };
        Some((own, parents))
    }

    /// The variables of loops that an expression depends on.
    fn resolved_variables(&self, e: &Expression) -> Vec<Variable> {
        let given = self.given.iter().rev();
        let e = given.fold(e.clone(), |e, (variable, value)| {
            e.rewritten(&Replaced(*variable, value))
        });
        super::sweeps::variables(&e)
    }
}
