//! Iteration spaces without what is known to hold, and computations without statements that
//! run at no point.
//!
//! ```text
//! s: y(g(q)) = i   over {[i, q] : … && 0 <= g(q) && g(q) < n}      g : … -> {[r] : 0 <= r < n}
//!                  over {[i, q] : …}
//! ```
//!
//! Only constraints on temporary data are left out. Their ranges hold by construction, or are
//! checked where the data are computed; what is declared of results is to be established,
//! and constraints on those may be what refuses a tensor.

use sparsec_relation::{Conjunction, Constraint, Declarations, Expression, Set};

use crate::computation::{Computation, Role};

impl Computation {
    /// Leaves out constraints on temporary data that follow from the others, and statements
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
        let all = part.constraints();
        if !all.iter().any(is_about_computed) {
            return Some(space.clone());
        }
        if space.is_refuted(known) {
            return None;
        }
        if part.exists().len() > 0 {
            return Some(space.clone());
        }
        let mut kept: Vec<Constraint> = all.to_vec();
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
}
