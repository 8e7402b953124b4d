//! Iteration spaces without what is known to hold, and computations without statements that
//! run at no point.
//!
//! ```text
//! s: y(g(q)) = i   over {[i, q] : … && 0 <= g(q) && g(q) < n}      g : … -> {[r] : 0 <= r < n}
//!                  over {[i, q] : …}
//! ```
//!
//! Constraints on temporary data are left out, and those that others say in other words. Ranges of
//! temporary data hold by construction, or are checked where the data are computed; what is declared
//! of results is to be established, and constraints on those may be what refuses a tensor.

use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Rewrite, Set,
};

use crate::computation::{Computation, Role};
use crate::segments::named;

impl Computation {
    /// Leaves out constraints that others imply or repeat, and statements
    /// without points: by proof.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut chain: Computation = "computation chain {
    ///   parameters N
    ///   function g : {[i] : 0 <= i < N} -> {[r] : 0 <= r < N}
    ///   temporary g : i64[N]
    ///   out y : i64[N]
    ///   s0: g(i) = i over {[i] : 0 <= i < N} at [0, i]
    ///   s1: y(g(i)) = i over {[i] : 0 <= i < N && g(i) < N} at [1, i]
    ///   s2: y(g(i)) = 1 over {[i] : 0 <= i < N && g(i) >= N} at [2, i]
    /// }".parse()?;
    /// chain.simplify_spaces();
    /// assert!(chain.to_string().contains("s1: y(g(i)) = i\n    over {[i] : 0 <= i < N}"), "{chain}");
    /// assert!(chain.find("s2").is_none());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// A space with existential variables is kept as it is, unless it has no points.
    pub fn simplify_spaces(&mut self) {
        let checked = Self {
            declarations: self.relied_on(),
            ..self.clone()
        };
        let known = checked.known();
        // Statements of a sweep share their space.
        let mut simpler: Vec<(Set, Option<Set>)> = Vec::new();
        let spaces = self.statements.iter().map(|statement| &statement.space);
        for space in spaces {
            if simpler.iter().all(|(before, _)| before != space) {
                let after = self.simplified(space, &known);
                simpler.push((space.clone(), after));
            }
        }
        self.statements.retain_mut(|statement| {
            let found = simpler
                .iter()
                .find(|(before, _)| *before == statement.space);
            let (_, after) = found.expect("each space was looked at");
            match after {
                Some(after) => statement.space = after.clone(),
                None => return false,
            }
            true
        });
    }

    /// A space without constraints that follow; `None` if it has no points.
    fn simplified(&self, space: &Set, known: &Declarations) -> Option<Set> {
        let [part] = space.parts() else {
            return Some(space.clone());
        };
        let all = part.constraints();
        let is_about_computed = |constraint: &Constraint| {
            let (mut found, mut is_of_results) = (false, false);
            for e in constraint.expressions() {
                e.visit(&mut |e| {
                    if let Expression::Call(name, _) = e {
                        let role = self.space(name).map(|space| space.role);
                        found |= role == Some(Role::Temporary);
                        is_of_results |= matches!(role, Some(Role::Out | Role::InOut));
                    }
                });
            }
            found && !is_of_results
        };
        let repeated = repeated(all, known);
        if repeated.is_empty() && !all.iter().any(is_about_computed) {
            return Some(space.clone());
        }
        if space.is_refuted(known) {
            return None;
        }
        if part.exists().len() > 0 {
            return Some(space.clone());
        }
        let once = all.iter().enumerate();
        let once = once.filter(|(number, _)| !repeated.contains(number));
        let mut kept: Vec<Constraint> = once.map(|(_, constraint)| constraint.clone()).collect();
        let mut at = 0;
        while at < kept.len() {
            if !is_about_computed(&kept[at]) {
                at += 1;
                continue;
            }
            let asked = kept.remove(at);
            if !with(part, &kept).implies(&asked, known) {
                kept.insert(at, asked);
                at += 1;
            }
        }
        Some(with(part, &kept))
    }
}

/// The numbers of constraints that others say in other words: `pos(0) <= q` beside `0 <= q`, where
/// `pos(0)` is 0.
fn repeated(constraints: &[Constraint], known: &Declarations) -> Vec<usize> {
    type Link = (Expression, Comparison, Expression);
    let named: Vec<Vec<Link>> = (constraints.iter())
        .map(|constraint| {
            let links = constraint.links();
            let named = links.map(|(a, comparison, b)| {
                (
                    a.rewritten(&Known(known)),
                    comparison,
                    b.rewritten(&Known(known)),
                )
            });
            named.collect()
        })
        .collect();
    let mut repeated = Vec::new();
    for (number, links) in named.iter().enumerate() {
        let own = constraints[number].links();
        let has_entry = own
            .zip(links)
            .any(|((a, _, b), (c, _, d))| (a, b) != (c, d));
        let others = || {
            let others = named.iter().enumerate();
            let others = others.filter(|(other, _)| *other != number && !repeated.contains(other));
            others.flat_map(|(_, links)| links)
        };
        if has_entry && links.iter().all(|link| others().any(|other| other == link)) {
            repeated.push(number);
        }
    }
    repeated
}

/// Puts the numbers and constants that entries are assumed to be in place of them.
struct Known<'a>(&'a Declarations);

impl Rewrite for Known<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let is_call = matches!(e, Expression::Call(..));
        let name = is_call.then(|| named(e.clone(), self.0))?;
        (name != *e).then_some(name)
    }
}

/// A part without existential variables, with other constraints.
fn with(part: &Conjunction, constraints: &[Constraint]) -> Set {
    let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
    let mut new = Conjunction::new(names, []);
    constraints.iter().cloned().for_each(|it| new.add(it));
    Set::new(vec![new]).expect("one part without outputs is a set")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_with_existential_variables_stay() {
        let mut of_ell: Computation = "computation of_ell {
          parameters N
          given crd : i64[N]
          function g : {[i] : 0 <= i < N} -> {[r] : 0 <= r < N}
          temporary g : i64[N]
          out y : i64[N]
          s0: g(i) = i over {[i] : 0 <= i < N} at [0, i]
          s1: y(i) = 1 over {[i] : exists j : 0 <= i < N && j = crd(i) && g(i) < N} at [1, i]
        }"
        .parse()
        .unwrap();
        of_ell.simplify_spaces();
        assert!(of_ell.find("s1").is_some(), "{of_ell}");
    }

    #[test]
    fn what_is_said_twice_is_left_out_once() {
        let mut of_list: Computation = "computation of_list {
          parameters NZ
          assume pos(0) = 0 && pos(1) = NZ
          function pos : {[p] : 0 <= p <= 1} -> {[q] : 0 <= q <= NZ} nondecreasing
          given pos : i32[2], x : f64[NZ]
          out y : f64[NZ]
          s0: y(q) = x(q) over {[q] : pos(0) <= q < pos(1) && 0 <= q < NZ} at [0, q]
        }"
        .parse()
        .unwrap();
        of_list.simplify_spaces();
        let text = of_list.to_string();
        assert!(text.contains("over {[q] : 0 <= q < NZ}"), "{text}");
    }
}
