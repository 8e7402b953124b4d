//! `precompute` of factors that share summed variables with the others, or that are summed
//! over variables of their own as the others are: a contraction apart.
//!
//! ```text
//! forall K: forall i: forall a: forall b: forall m:
//!   E(K,i,m) += I(K,a,b) * C(a,i) * P(b,m)
//!
//!   precompute(I(K,a,b) * C(a,i), {b}, w)
//!
//! forall K: forall i: where(
//!   forall b: forall m: E(K,i,m) += w(b) * P(b,m),
//!   forall a: forall b: w(b) += I(K,a,b) * C(a,i))
//! ```
//!
//! The product of the factors is an intermediate tensor of the variables that they share with
//! the other factors or with the left side: `K`, `i` and `b`. Of these the workspace has the
//! modes that the command names. The others belong to the outermost loops, which go around
//! both parts, so that the workspace begins anew for each of their turns. Each part keeps the
//! loops over its own variables, in the order in which they were. A producer is reduced again
//! in the same way: a contraction tree is one command for each of its inner nodes.
//!
//! If nothing is summed, the workspace holds a product. Other factors that are the same product, with
//! other variables, read the workspace too:
//!
//! ```text
//!   precompute(A(i,l) * A(j,l), {l}, w)
//!
//! forall i: forall j: where(
//!   forall k: forall l: c += A(i,j) * A(k,l) * w(k) * w(l),      c += … * A(i,k) * A(j,k) * …
//!   forall l: w(l) += A(i,l) * A(j,l))
//! ```
//!
//! That is the same where the product distributes over the reduction. Of floating-point
//! numbers it is so up to rounding, if factors are finite.
//!
//! Source: Raje et al., "CoNST: Code Generator for Sparse Tensor Networks", 2024, Algorithm 1,
//! <https://arxiv.org/abs/2401.04836>.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Diagnostic, Result};
use sparsec_index::{Access, Concrete, Expr, IndexVar, Stmt, TensorRole, TensorVar};

use super::{Reduction, Rewrite};

impl Rewrite<'_> {
    /// The nest with some factors of its reduction contracted apart; `None` where these share
    /// no summed variable with the others, and `Some(None)` where the assignment is in a nest
    /// further inside.
    #[allow(clippy::option_option)]
    pub(super) fn contract(
        &mut self,
        loops: &[IndexVar],
        inner: &Stmt,
        reduction: &Reduction,
    ) -> Option<Option<Result<Stmt>>> {
        let factors = reduction.factors.as_ref()?;
        let all = loops.iter().chain(&reduction.loops);
        let all: Vec<IndexVar> = all.copied().collect();
        let is_derived = |var: &IndexVar| self.concrete.made_by(*var).is_some();
        if all.iter().any(is_derived) {
            return None;
        }
        let implied = implied(&self.concrete);
        let uses = |factors: &[Expr], var: &IndexVar| {
            let mut factors = factors.iter();
            factors.any(|factor| {
                let mut tensors = factor.accesses().into_iter().map(|access| access.tensor);
                factor.vars().contains(var)
                    || tensors.any(|it| implied.get(&it).is_some_and(|vars| vars.contains(var)))
            })
        };
        let inside = |var: &IndexVar| uses(&factors.inside, var);
        let outside = |var: &IndexVar| uses(&factors.outside, var) || reduction.lhs.uses(*var);
        let is_shared = |var: &IndexVar| inside(var) && outside(var);
        let is_summed = |var: &IndexVar| is_shared(var) && !reduction.lhs.uses(*var);
        let is_contracted = |var: &IndexVar| inside(var) && !outside(var);
        // Summed over variables of their own as well, the others are no factors of a sum.
        let is_left = |var: &IndexVar| !inside(var) && outside(var) && !reduction.lhs.uses(*var);
        // A factor alone of which nothing is summed is a copy: that is a part of a right side.
        let is_product = !all.iter().any(is_contracted);
        let is_copy = factors.inside.len() == 1 && is_product;
        // Of narrow types each product wraps, and their sum does not.
        let element = self.concrete.tensors[reduction.lhs.tensor].element;
        let of_factors = factors.inside.iter().chain(&factors.outside);
        let mut elements = of_factors.map(|factor| factor.element(&self.concrete.tensors));
        if !elements.all(|of_factor| of_factor == element) {
            return None;
        }
        // An entry of a workspace is collected in another one where a factor comes later.
        let data = &self.concrete.tensors[reduction.lhs.tensor];
        let is_nested = data.role == TensorRole::Workspace && all.iter().any(is_contracted);
        let all_around = match inner {
            Stmt::Assign { rhs, .. } => loops_around(&self.concrete.stmt, &reduction.lhs, rhs),
            _ => all,
        };
        let is_apart = all_around.iter().any(is_contracted) && all_around.iter().any(is_left);
        if is_copy || !(is_nested || is_apart || all_around.iter().any(is_summed)) {
            return None;
        }
        if !matches!(inner, Stmt::Assign { .. }) {
            return Some(None);
        }
        // Loops around both parts: those of the intermediate that the workspace lacks.
        let around = |var: &&IndexVar| is_shared(var) && !self.vars.contains(var);
        let n_around = loops.iter().take_while(around).count();
        let (outer, rest) = loops.split_at(n_around);
        let modes: Vec<IndexVar> = rest.iter().copied().filter(is_shared).collect();
        if let Err(error) = self.expect_contracted(&modes, outer) {
            return Some(Some(Err(error)));
        }
        let inside_product = factors.product(&factors.inside);
        let contracted = loops.iter().chain(&reduction.loops);
        let contracted = contracted.copied().filter(is_contracted);
        let fill = self.fill_of_sum(&reduction.reduce, contracted, &inside_product);
        let access = self.new_workspace(element, fill);
        let own = |of: &dyn Fn(&IndexVar) -> bool| -> Vec<IndexVar> {
            rest.iter().copied().filter(|var| of(var)).collect()
        };
        let (consuming, producing) = (own(&outside), own(&inside));
        let mut left = factors.outside.clone();
        if is_product {
            self.read_again(&factors.inside, &access, &consuming, &mut left);
        }
        left.push(Expr::Access(access.clone()));
        // What another nest adds to is added to here as well, and workspaces always are.
        let around_both = all_around.iter().filter(|var| !rest.contains(var));
        let mut summing = around_both.chain(&consuming);
        let is_added_to = self.n_assigned(&reduction.lhs) > 1
            || self.concrete.tensors[reduction.lhs.tensor].role == TensorRole::Workspace
            || summing.any(|var| !reduction.lhs.uses(*var));
        let consumer = Stmt::Assign {
            reduce: is_added_to.then(|| reduction.reduce.clone()),
            lhs: reduction.lhs.clone(),
            rhs: factors.product(&left),
        };
        let producer = Stmt::Assign {
            reduce: Some(reduction.reduce.clone()),
            lhs: access,
            rhs: inside_product,
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(&consuming)),
            producer: Box::new(self.renamed(&producer.in_loops(&producing))),
        };
        Some(Some(Ok(both.in_loops(outer))))
    }

    /// Replaces other factors by the workspace if they are the same product with other variables: after
    /// `w(l) += A(i,l) * A(j,l)`, `A(i,k) * A(j,k)` is `w(k)`. Both variables index the same mode of a
    /// tensor, so they have the same extent.
    fn read_again(
        &self,
        inside: &[Expr],
        access: &Access,
        vars: &[IndexVar],
        others: &mut Vec<Expr>,
    ) {
        let is_index = |var: &IndexVar| {
            let mut accesses = inside.iter().flat_map(Expr::accesses);
            accesses
                .any(|access| (0..access.indices.len()).any(|mode| access.var(mode) == Some(*var)))
        };
        if !self.vars.iter().all(is_index) {
            return;
        }
        for own in choices(vars, self.vars.len()) {
            let renamed = |var: IndexVar| {
                let at = self.vars.iter().position(|mode| *mode == var);
                at.map_or(var, |at| own[at])
            };
            let mut rest = others.clone();
            let is_there = inside.iter().all(|factor| {
                let factor = factor.renamed(&renamed);
                let at = rest.iter().position(|other| *other == factor);
                at.map(|at| rest.remove(at)).is_some()
            });
            if is_there {
                rest.push(Expr::Access(access.renamed(&renamed)));
                *others = rest;
            }
        }
    }

    /// How many assignments a tensor has.
    pub(super) fn n_assigned(&self, lhs: &Access) -> usize {
        let mut n = 0;
        let stmt = &self.concrete.stmt;
        stmt.for_each_assign(&mut |other, _, _| n += usize::from(other.tensor == lhs.tensor));
        n
    }

    /// The modes of the workspace have to be those of the intermediate that no loop around
    /// both parts has.
    fn expect_contracted(&self, wanted: &[IndexVar], outer: &[IndexVar]) -> Result<()> {
        let same =
            wanted.len() == self.vars.len() && wanted.iter().all(|var| self.vars.contains(var));
        if same {
            return Ok(());
        }
        let names = |vars: &[IndexVar]| {
            let names = vars
                .iter()
                .map(|var| self.concrete.vars[*var].name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let wanted = names(wanted);
        let message = match outer {
            [] => "the workspace has to have all modes that the factors share with the others",
            _ => "the workspace has to have the modes that no loop around both parts has",
        };
        let error: Diagnostic = self.illegal(message);
        Err(error.help(format!(
            "write `{{{wanted}}}`, or put the loops that the workspace is to lack outermost"
        )))
    }
}

/// The loops that the entries of each workspace depend on beside its modes: those around its
/// `where` that its producer reads by.
pub(super) fn implied(concrete: &Concrete) -> BTreeMap<TensorVar, Vec<IndexVar>> {
    let mut found = BTreeMap::new();
    imply(&concrete.stmt, &mut Vec::new(), &mut found);
    found
}

fn imply(stmt: &Stmt, loops: &mut Vec<IndexVar>, found: &mut BTreeMap<TensorVar, Vec<IndexVar>>) {
    match stmt {
        Stmt::Assign { .. } => {}
        Stmt::Forall { var, body } => {
            loops.push(*var);
            imply(body, loops, found);
            loops.pop();
        }
        Stmt::Where { consumer, producer } => {
            let mut read = BTreeSet::new();
            producer.for_each_assign(&mut |_, _, rhs| read.extend(rhs.vars()));
            producer.for_each_assign(&mut |lhs, _, _| {
                let around = loops.iter().copied().filter(|var| read.contains(var));
                // A producer inside this one depends on more loops.
                found.insert(lhs.tensor, around.collect());
            });
            imply(consumer, loops, found);
            imply(producer, loops, found);
        }
        Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| imply(stmt, loops, found)),
    }
}

/// The loops around an assignment that its nest shares with producers.
pub(super) fn loops_around(stmt: &Stmt, lhs: &Access, rhs: &Expr) -> Vec<IndexVar> {
    let mut loops = Vec::new();
    find(stmt, lhs, rhs, &mut loops);
    loops
}

fn find(stmt: &Stmt, lhs: &Access, rhs: &Expr, loops: &mut Vec<IndexVar>) -> bool {
    match stmt {
        Stmt::Assign {
            lhs: own,
            rhs: value,
            ..
        } => own == lhs && value == rhs,
        Stmt::Forall { var, body } => {
            loops.push(*var);
            let is_found = find(body, lhs, rhs, loops);
            if !is_found {
                loops.pop();
            }
            is_found
        }
        Stmt::Where { consumer, producer } => {
            find(consumer, lhs, rhs, loops) || find(producer, lhs, rhs, loops)
        }
        Stmt::Sequence(stmts) => stmts.iter().any(|stmt| find(stmt, lhs, rhs, loops)),
    }
}

/// All ways to choose `n` different variables, in order.
fn choices(vars: &[IndexVar], n: usize) -> Vec<Vec<IndexVar>> {
    let Some(n) = n.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let behind = |var: &IndexVar| {
        let others: Vec<IndexVar> = vars.iter().copied().filter(|it| it != var).collect();
        choices(&others, n)
    };
    let each = vars.iter().flat_map(|var| {
        behind(var)
            .into_iter()
            .map(|rest| [vec![*var], rest].concat())
    });
    each.collect()
}
