//! The extents that follow from those that are known.
//!
//! A generated tensor has no extents of its own: they are those of its index
//! variables, which follow from the tensors that were read and from `-d`.
//!
//! ```text
//! y(i) = A(i,j) * x(j)       A : 1024 x 300  =>  i = 1024, j = 300  =>  x : 300
//! ```
//!
//! A tensor computed by one statement and read by another carries extents from
//! the variables of the one to those of the other, so this goes round until
//! nothing new follows. An index variable belongs to its statement, one that a
//! reduction binds to that reduction; `-d` speaks of all that have the name. A
//! tensor that is assigned again is another one from there on.

use std::collections::BTreeMap;

use sparsec::internals::Notation;
use sparsec::internals::notation::{Node, NodeKind, TensorUse, Word};

/// What is known of tensors and index variables.
#[derive(Debug)]
pub(crate) struct Extents<'a> {
    uses: Vec<ScopedUse<'a>>,
    tensors: BTreeMap<Tensor<'a>, Vec<Option<u64>>>,
    vars: BTreeMap<Var<'a>, u64>,
    given: &'a BTreeMap<String, u64>,
}

/// A tensor: its name, and how often it was assigned before.
type Tensor<'a> = (&'a str, usize);

/// An index variable: its name, and the scope that it belongs to.
type Var<'a> = (usize, &'a str);

/// A use of a tensor with its variables.
#[derive(Debug)]
struct ScopedUse<'a> {
    tensor: Tensor<'a>,
    /// The variable that stands alone at each mode.
    vars: Vec<Option<Var<'a>>>,
}

impl<'a> Extents<'a> {
    /// What follows from the extents of index variables that are `given`.
    pub(crate) fn new(notation: &'a Notation, given: &'a BTreeMap<String, u64>) -> Self {
        let mut scopes = Scopes::default();
        for statement in &notation.statements {
            scopes.n_scopes += 1;
            scopes.open.push((scopes.n_scopes, None));
            scopes.visit(&statement.rhs);
            if statement.goes_on() {
                scopes.note(&statement.lhs);
            }
            let name = statement.lhs.name.text.as_str();
            *scopes.n_assigned.entry(name).or_default() += 1;
            scopes.note(&statement.lhs);
            scopes.open.pop();
        }
        let mut extents = Self {
            uses: scopes.uses,
            tensors: BTreeMap::new(),
            vars: BTreeMap::new(),
            given,
        };
        extents.follow();
        extents
    }

    /// Adds a tensor whose extents are known, and what follows from it.
    pub(crate) fn know(&mut self, tensor: &'a str, extents: &[u64]) {
        let known = extents.iter().copied().map(Some).collect();
        self.tensors.insert((tensor, 0), known);
        self.follow();
    }

    /// The extents of a tensor, or the name of an index variable on which the
    /// first that is not known depends.
    pub(crate) fn of(&self, tensor: &str) -> Result<Vec<u64>, &'a str> {
        let Some(first) = self.uses.iter().find(|used| used.tensor == (tensor, 0)) else {
            return Ok(Vec::new());
        };
        let known = self
            .tensors
            .get(&(tensor, 0))
            .map_or(&[][..], Vec::as_slice);
        let modes = first.vars.iter().enumerate();
        modes
            .map(|(mode, var)| {
                let name = var.map_or("", |(_, name)| name);
                known.get(mode).copied().flatten().ok_or(name)
            })
            .collect()
    }

    fn follow(&mut self) {
        while self.follow_once() {}
    }

    /// Carries extents between tensors and variables once; whether that
    /// brought something new.
    fn follow_once(&mut self) -> bool {
        let mut news = false;
        for used in &self.uses {
            let modes = self.tensors.entry(used.tensor).or_default();
            modes.resize(modes.len().max(used.vars.len()), None);
            for (var, mode) in used.vars.iter().zip(modes) {
                let Some(var) = var else {
                    continue;
                };
                let known = self
                    .vars
                    .get(var)
                    .or_else(|| self.given.get(var.1))
                    .copied();
                match (known, &mode) {
                    (Some(extent), None) => {
                        *mode = Some(extent);
                        news = true;
                    }
                    (None, Some(extent)) => {
                        self.vars.insert(*var, *extent);
                        news = true;
                    }
                    // Extents that contradict are found when the program is resolved.
                    _ => {}
                }
            }
        }
        news
    }
}

/// Finds the scope of every variable in a walk over the statements.
#[derive(Default)]
struct Scopes<'a> {
    /// Scopes that are open, each with the variables that it binds; those of a
    /// statement bind all others.
    open: Vec<(usize, Option<&'a [Word]>)>,
    n_scopes: usize,
    /// How often each tensor was assigned so far.
    n_assigned: BTreeMap<&'a str, usize>,
    uses: Vec<ScopedUse<'a>>,
}

impl<'a> Scopes<'a> {
    fn note(&mut self, used: &'a TensorUse) {
        let vars = used.indices.iter().map(|index| {
            let word = index.as_var()?;
            Some((self.scope_of(&word.text), word.text.as_str()))
        });
        let name = used.name.text.as_str();
        let n_assigned = self.n_assigned.get(name).copied();
        let scoped = ScopedUse {
            tensor: (name, n_assigned.unwrap_or(0)),
            vars: vars.collect(),
        };
        self.uses.push(scoped);
    }

    fn scope_of(&self, name: &str) -> usize {
        let binds = |bound: &Option<&[Word]>| {
            bound.is_none_or(|bound| bound.iter().any(|word| word.text == name))
        };
        let scope = self.open.iter().rev().find(|(_, bound)| binds(bound));
        scope.map_or(0, |(scope, _)| *scope)
    }

    fn visit(&mut self, node: &'a Node) {
        match &node.kind {
            NodeKind::Number(_) | NodeKind::Index(_) => {}
            NodeKind::Access(used) => self.note(used),
            NodeKind::Apply { args, .. } => args.iter().for_each(|arg| self.visit(arg)),
            NodeKind::Cast(_, body) => self.visit(body),
            NodeKind::Reduce { vars, body, .. } => {
                self.n_scopes += 1;
                self.open.push((self.n_scopes, Some(vars)));
                self.visit(body);
                self.open.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec::Source;

    /// Checks what follows for `tensor`, given lines like `A 4 5` and `j = 3`.
    fn check(
        expression: &str,
        known: &[(&str, &[u64])],
        given: &[(&str, u64)],
        tensor: &str,
        expect: Result<&[u64], &str>,
    ) {
        let notation = Notation::parse(&Source::new("expression", expression)).expect(expression);
        let given = given
            .iter()
            .map(|(name, extent)| ((*name).to_owned(), *extent))
            .collect();
        let mut extents = Extents::new(&notation, &given);
        for (name, known) in known {
            extents.know(name, known);
        }
        assert_eq!(
            extents.of(tensor),
            expect.map(<[u64]>::to_vec),
            "`{tensor}` in {expression}"
        );
    }

    #[test]
    fn variables_carry_extents_between_operands() {
        check(
            "y(i) = A(i,j) * x(j)",
            &[("A", &[4, 5])],
            &[],
            "x",
            Ok(&[5]),
        );
        check("y(i) = A(i,j) * x(j)", &[], &[("j", 7)], "x", Ok(&[7]));
        check("y(i) = A(i,j) * x(j)", &[], &[], "x", Err("j"));
        check("s = alpha * 2", &[], &[], "alpha", Ok(&[]));
    }

    #[test]
    fn statements_carry_them_on() {
        check(
            "t(i) = A(i,j)\ny(k) = t(k) * z(k)",
            &[("A", &[4, 5])],
            &[],
            "z",
            Ok(&[4]),
        );
        check(
            "x(i) = A(i,j) * x(j)\nx(i) += 1",
            &[("A", &[4, 5])],
            &[],
            "x",
            Ok(&[5]),
        );
        check("x(i) += A(i,j)", &[("A", &[4, 5])], &[], "x", Ok(&[4]));
        check(
            "y(k) = t(k) * z(k)\nu(i) = z(i) + A(i,j)",
            &[("A", &[4, 5])],
            &[],
            "t",
            Ok(&[4]),
        );
    }

    #[test]
    fn variables_of_other_statements_are_others() {
        check(
            "t(i) = A(i,j)\ns = z(i)",
            &[("A", &[4, 5])],
            &[],
            "z",
            Err("i"),
        );
        check(
            "s = sum{i}(a(i)) + sum{i}(b(i))",
            &[("a", &[4])],
            &[],
            "b",
            Err("i"),
        );
        check(
            "s = sum{i}(a(i) * b(i))",
            &[("a", &[4])],
            &[],
            "b",
            Ok(&[4]),
        );
    }
}
