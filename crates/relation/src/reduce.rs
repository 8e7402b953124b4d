//! The same pairs in fewer constraints.
//!
//! [`Relation::simplified_under`] eliminates `exists` variables, and drops implied comparisons and
//! empty parts:
//!
//! ```text
//! {[i] -> [k] : exists j : j = i + 1 && k = j + N && 0 <= i && 0 <= j}
//! {[i] -> [k] : k = i + 1 + N && 0 <= i}
//! ```
//!
//! The module `eliminate` describes the elimination. A comparison holds only if its calls have
//! values, so a call that would vanish from a part stays as `f(i) = f(i)`.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Constraint, Expression, Variable};
use crate::facts::Facts;
use crate::linear::Sources;
use crate::polynomial::{Atom, Polynomial, Row};
use crate::relation::Relation;
use crate::set::Set;
use eliminate::eliminated;

mod eliminate;

impl Relation {
    /// The same pairs, for functions and constants that are as declared, in
    /// fewer constraints. Simplifying twice changes nothing more.
    ///
    /// Each comparison is tried against the others, so time grows with their
    /// square; a proof gives up at a bound, and then the comparison stays.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Relation};
    /// let known: Declarations = "assume 0 <= N
    ///     function f : {[i] : 0 <= i < N} -> {[x] : 0 <= x < 9}".parse()?;
    /// let r: Relation = "{[i] -> [k] : exists j : 0 <= i < N && j = f(i) && j < 10 && k = j + 1}"
    ///     .parse()?;
    /// assert_eq!(r.simplified_under(&known).to_string(), "{[i] -> [k] : k = f(i) + 1}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn simplified_under(&self, declarations: &Declarations) -> Self {
        let mut parts: Vec<Conjunction> = Vec::new();
        for part in self.parts() {
            let part = reduced(part, declarations);
            if !is_never(&part) && !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.is_empty() {
            parts.push(never(&self.parts()[0]));
        }
        Self::of_parts(parts)
    }
}

impl Set {
    /// As [`Relation::simplified_under`].
    #[must_use]
    pub fn simplified_under(&self, declarations: &Declarations) -> Self {
        Self::of(self.as_relation().simplified_under(declarations))
    }
}

/// The conjunction of the same tuples that has no pairs.
pub(crate) fn never(part: &Conjunction) -> Conjunction {
    let one_is_zero = Expression::Integer(1).equals(Expression::Integer(0));
    part.without_exists(vec![one_is_zero])
}

fn is_never(part: &Conjunction) -> bool {
    *part == never(part)
}

/// A comparison and the chain that it is of.
struct Link {
    chain: usize,
    constraint: Constraint,
    row: Option<Row>,
    /// The calls and divisions that may have no value; `None` if they are not known.
    partial: Option<BTreeSet<Atom>>,
}

impl Link {
    fn new(chain: usize, constraint: Constraint) -> Rc<Self> {
        let (comparison, right) = &constraint.rest[0];
        Rc::new(Self {
            chain,
            row: Row::of(&constraint.first, *comparison, right),
            partial: partial(&constraint),
            constraint,
        })
    }
}

fn partial(constraint: &Constraint) -> Option<BTreeSet<Atom>> {
    let mut partial = BTreeSet::new();
    let mut known = true;
    for side in constraint.expressions() {
        side.visit(&mut |e| {
            if matches!(
                e,
                Expression::Call(..) | Expression::FloorDivide(..) | Expression::Modulo(..)
            ) {
                match Polynomial::of(e) {
                    Some(sum) => sum.visit(&mut |atom| {
                        if atom.is_partial() && !partial.contains(atom) {
                            partial.insert(atom.clone());
                        }
                    }),
                    None => known = false,
                }
            }
        });
    }
    known.then_some(partial)
}

/// The conjunction after as many passes as make it smaller. A constraint that one pass
/// drops may have hidden an elimination or a proof from it, which the next pass finds.
/// There are few passes, since each makes the result smaller, and simplifying the result
/// again changes nothing.
fn reduced(part: &Conjunction, declarations: &Declarations) -> Conjunction {
    let mut least = part.clone();
    loop {
        let next = reduced_once(&least, declarations);
        if size(&next) >= size(&least) {
            return least;
        }
        least = next;
    }
}

/// Variables that have to exist, then comparisons, then operators and operands.
fn size(part: &Conjunction) -> (usize, usize, usize) {
    if is_never(part) {
        return (0, 0, 0);
    }
    let mut words = 0;
    for e in part.constraints().iter().flat_map(Constraint::expressions) {
        e.visit(&mut |_| words += 1);
    }
    let comparisons = part.constraints().iter().map(|c| c.rest.len()).sum();
    (part.exists().len(), comparisons, words)
}

/// The conjunction with constants folded, without the variables that can be eliminated,
/// then without the comparisons that the others imply.
fn reduced_once(part: &Conjunction, declarations: &Declarations) -> Conjunction {
    let mut links = simple_links(part);
    let mut gone = BTreeSet::new();
    while let Some((variable, fewer)) = part
        .exists()
        .filter(|v| !gone.contains(v))
        .find_map(|v| eliminated(&links, v).map(|links| (v, links)))
    {
        gone.insert(variable);
        links = fewer;
    }
    for link in &mut links {
        if let Some(simple) = link.constraint.simplified() {
            *link = Link::new(link.chain, simple);
        }
    }
    let rows = links.iter().enumerate();
    let rows = rows.filter_map(|(number, link)| Some((number, link.row.clone()?)));
    let mut facts = Rc::unwrap_or_clone(Facts::of_numbered(rows, declarations));
    if facts.impossible() {
        return never(part);
    }
    drop_implied(&mut links, &mut facts);
    let used = |v: &Variable| !gone.contains(v) && links.iter().any(|link| speaks_of(link, *v));
    let exists: Vec<Variable> = part.exists().filter(used).collect();
    part.keeping(&exists, joined(&links))
}

/// The simplified comparisons of a conjunction. A repeated comparison stays at its last place.
fn simple_links(part: &Conjunction) -> Vec<Rc<Link>> {
    let simple = part.constraints().iter().map(Constraint::simplified);
    let mut links: Vec<Rc<Link>> = Vec::new();
    for (chain, constraint) in simple.flatten().enumerate() {
        for link in constraint.split() {
            links.retain(|said| said.constraint != link);
            links.push(Link::new(chain, link));
        }
    }
    links
}

fn speaks_of(link: &Link, variable: Variable) -> bool {
    let mut found = false;
    for e in link.constraint.expressions() {
        e.visit(&mut |e| found |= *e == Expression::Variable(variable));
    }
    found
}

/// Drops links that the others imply. A call or division stays in some link, so the facts about it
/// remain.
fn drop_implied(links: &mut Vec<Rc<Link>>, facts: &mut Facts) {
    let all = links.iter().map(|link| link.partial.as_ref());
    let Some(partial) = all.collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut kept: Vec<usize> = (0..links.len()).collect();
    let mut gone = Sources::NONE;
    for (at, link) in links.iter().enumerate() {
        let others = || kept.iter().copied().filter(|other| *other != at);
        let stays = |atom: &Atom| others().any(|other| partial[other].contains(atom));
        let Some(row) = link.row.as_ref().filter(|_| partial[at].iter().all(stays)) else {
            continue;
        };
        if facts.is_implied(at, row, gone) {
            kept.retain(|other| *other != at);
            gone = gone.and(Sources::of(at));
        }
    }
    *links = kept.iter().map(|at| links[*at].clone()).collect();
}

/// Neighbours of one chain that share an expression, as chains again.
fn joined(links: &[Rc<Link>]) -> Vec<Constraint> {
    let mut chains: Vec<(usize, Constraint)> = Vec::new();
    for link in links {
        let (comparison, right) = &link.constraint.rest[0];
        match chains.last_mut() {
            Some((chain, constraint))
                if *chain == link.chain
                    && constraint.expressions().last() == Some(&link.constraint.first) =>
            {
                constraint.rest.push((*comparison, right.clone()));
            }
            _ => chains.push((link.chain, link.constraint.clone())),
        }
    }
    chains
        .into_iter()
        .map(|(_, constraint)| constraint)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declarations: &str, text: &str, expect: &str) {
        let known: Declarations = declarations.parse().unwrap_or_else(|e| panic!("{e}"));
        let relation: Relation = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let simple = relation.simplified_under(&known);
        assert_eq!(simple.to_string(), expect);
        assert_eq!(simple.simplified_under(&known), simple);
    }

    #[test]
    fn variables_that_exist_are_eliminated() {
        check(
            "",
            "{[i] -> [k] : exists j : j = i + 1 && k = j + N && 0 <= i && 0 <= j}",
            "{[i] -> [k] : k = i + 1 + N && 0 <= i}",
        );
        check(
            "",
            "{[i] -> [k] : exists j : i < j < k}",
            "{[i] -> [k] : i + 1 < k}",
        );
        check(
            "",
            "{[i] -> [] : exists j : i = 2 * j}",
            "{[i] -> [] : exists j : i = 2 * j}",
        );
        check(
            "assume 0 <= N",
            "{[i] -> [b, e] : exists j : b = j floordiv 4 && e = j mod 4 && j < N && i = f(j mod 4)}",
            "{[i] -> [b, e] : 4 * b + e < N && i = f(e) && 0 <= e < 4}",
        );
        check(
            "",
            "{[i] -> [] : exists j : f(i) < j}",
            "{[i] -> [] : f(i) = f(i)}",
        );
    }

    #[test]
    fn what_is_implied_goes() {
        check(
            "",
            "{[i] -> [j] : 0 <= i < N && i < N + 1 && i >= -1 && i != N && j = i && j < N}",
            "{[i] -> [j] : 0 <= i && j = i && j < N}",
        );
        check(
            "",
            "{[i] -> [j] : i < j && j < i} union {[i] -> [j] : j = 0} union {[i] -> [j] : j = 0}",
            "{[i] -> [j] : j = 0}",
        );
        check(
            "",
            "{[i] -> [j] : 2 * i = 2 * j + 1}",
            "{[i] -> [j] : 1 = 0}",
        );
    }

    /// Incomplete LU: `i = colidx(kp)` follows from the others only once the last
    /// comparison, which follows from them as well, is gone.
    #[test]
    fn what_one_pass_drops_serves_the_next() {
        check(
            "function rowptr : {[i]} -> {[k]} increasing
            function diagptr : {[i]} -> {[k]} increasing",
            "{[i, k] -> [ip, kp] : k >= rowptr(i) && i = colidx(kp)
                && -k + rowptr(colidx(kp) + 1) - 2 >= 0
                && -diagptr(colidx(kp)) + rowptr(i + 1) - 2 >= 0
                && diagptr(i + 1) >= rowptr(i + 1) && -k + rowptr(i + 1) - 2 >= 0}",
            "{[i, k] -> [ip, kp] : k >= rowptr(i) && -k + rowptr(colidx(kp) + 1) - 2 >= 0 \
             && -diagptr(colidx(kp)) + rowptr(i + 1) - 2 >= 0 && diagptr(i + 1) >= rowptr(i + 1)}",
        );
    }

    #[test]
    fn declared_properties_imply() {
        check(
            "function pos : {[p] : 0 <= p <= N} -> {[q] : 0 <= q <= M} nondecreasing",
            "{[p] -> [q] : 0 <= q < M && pos(p) <= q < pos(p + 1)}",
            "{[p] -> [q] : pos(p) <= q < pos(p + 1)}",
        );
    }
}
