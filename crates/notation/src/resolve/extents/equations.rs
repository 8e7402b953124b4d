//! Which equations between extents there are, and which have to be looked at again.
//!
//! ```text
//! t(i) = x(i)           0: t and i    1: x and i    z is known: 4 tells k, so 3 is due
//! y(k) = t(k) * z(k)    2: y and k    3: t and k    4: z and k     and tells t, so 0 is due
//! ```
//!
//! Invariant: an equation that is not due says nothing new.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_index::{IndexExpr, IndexVar, Program, TensorVar};

use super::Uses;

/// That some extents are one, in the order in which a pass looks at them.
#[derive(Clone, Copy)]
pub(super) enum Equation {
    /// Of a value of which a part is assigned, by its statement, and the value before.
    Before(usize),
    /// Of the modes of an access and its variables.
    Access(usize),
    /// Of a pair of variables.
    Same(usize),
}

/// All equations of a program, and those that each tensor and each variable is in.
pub(super) struct Equations {
    pub(super) all: Vec<Equation>,
    of_tensor: Vec<Vec<usize>>,
    of_var: Vec<Vec<usize>>,
}

/// What has to be looked at: what it depends on has changed since it was.
#[derive(Default)]
pub(super) struct Due {
    pub(super) equations: BTreeSet<usize>,
    /// Variables in affine forms, which may tell their extents.
    pub(super) vars: BTreeSet<IndexVar>,
    /// Accesses on the left, which may tell how far their modes have to reach.
    pub(super) left: BTreeSet<usize>,
}

impl Equations {
    pub(super) fn of(program: &Program, uses: &Uses) -> Self {
        let before = program.statements.iter().enumerate();
        let before = before.filter(|(_, statement)| statement.before.is_some());
        let before = before.map(|(number, _)| Equation::Before(number));
        let accesses = (0..uses.accesses.len()).map(Equation::Access);
        let same = (0..program.same_extent.len()).map(Equation::Same);
        let mut equations = Self {
            all: before.chain(accesses).chain(same).collect(),
            of_tensor: vec![Vec::new(); program.tensors.len()],
            of_var: vec![Vec::new(); program.vars.len()],
        };
        for (number, equation) in equations.all.iter().enumerate() {
            let (tensors, mut vars) = match equation {
                Equation::Before(statement) => {
                    let statement = &program.statements[*statement];
                    let before = statement.before.into_iter();
                    (before.chain([statement.lhs.tensor]).collect(), Vec::new())
                }
                Equation::Access(access) => {
                    let access = &uses.accesses[*access];
                    let vars = access.indices.iter().flat_map(IndexExpr::vars);
                    (vec![access.tensor], vars.collect())
                }
                Equation::Same(pair) => {
                    let (first, other) = program.same_extent[*pair];
                    (Vec::new(), vec![first, other])
                }
            };
            vars.sort();
            vars.dedup();
            for tensor in tensors {
                equations.of_tensor[tensor.index()].push(number);
            }
            for var in vars {
                equations.of_var[var.index()].push(number);
            }
        }
        equations
    }

    /// Those that have what was learnt.
    pub(super) fn with(&self, learnt: Learnt) -> &[usize] {
        match learnt {
            Learnt::Tensor(tensor) => &self.of_tensor[tensor.index()],
            Learnt::Var(var) => &self.of_var[var.index()],
        }
    }

    /// The accesses with a variable, in order.
    pub(super) fn accesses(&self, var: IndexVar) -> impl Iterator<Item = usize> + Clone {
        let equations = self.of_var[var.index()].iter();
        equations.filter_map(|number| match self.all[*number] {
            Equation::Access(access) => Some(access),
            Equation::Before(_) | Equation::Same(_) => None,
        })
    }

    pub(super) fn all_due(&self, uses: &Uses) -> Due {
        let mut due = Due::default();
        for number in 0..self.all.len() {
            due.add(self, uses, number);
        }
        due
    }
}

impl Due {
    pub(super) fn add(&mut self, equations: &Equations, uses: &Uses, number: usize) {
        self.equations.insert(number);
        if let Equation::Access(number) = equations.all[number] {
            let access = &uses.accesses[number];
            let affine = access.indices.iter();
            let affine = affine.filter(|index| index.as_var().is_none());
            self.vars.extend(affine.flat_map(IndexExpr::vars));
            self.left.extend(access.is_left.then_some(number));
        }
    }
}

/// Whose extent was learnt.
#[derive(Clone, Copy)]
pub(super) enum Learnt {
    Tensor(TensorVar),
    Var(IndexVar),
}
