//! `precompute`: a reduction collected in a workspace.
//!
//! If `EXPR` is all that an assignment reduces, the `where` goes above the
//! outermost loop that reduces. The loops from there on that the left side has
//! are the modes of the workspace:
//!
//! ```text
//! forall i: forall k: forall j:           forall i: where(
//!   C(i,j) += A(i,k) * B(k,j)               forall j: C(i,j) = w(j),
//!                                           forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```
//!
//! If the workspace has all modes of the left side, the `where` goes above all loops of the nest. So
//! entries that come in any order are collected before they are stored in theirs:
//!
//! ```text
//! forall i: forall j:                     where(
//!   y(i) += A(i,j) * x(j)                   forall i: y(i) = w(i),
//!                                           forall i: forall j: w(i) += A(i,j) * x(j))
//! ```
//!
//! Temporaries that the reduced expression reads stay with it, in the producer.
//! `EXPR` may be some factors of what is reduced: see [`factor`], and [`contract`] for those
//! that share summed variables with the others.
//!
//! If `EXPR` is what a scalar workspace collects, that gets modes: see [`lift`].
//!
//! If `EXPR` is any other part of a right side, it is computed for all of the
//! innermost loops first, whatever becomes of it. Loops around these that do not change it
//! stay with the reader, which reads the workspace in each of their turns:
//!
//! ```text
//! forall i: forall j: forall k:           forall i: where(
//!   t += A(i,j) * A(j,k) * A(i,k)           forall j: forall k: t += A(i,j) * A(j,k) * w(k),
//!                                           forall k: w(k) += A(i,k))
//! ```
//!
//! `precompute(EXPR, k, kw, w)` gives the loops of the producer names of their
//! own: `forall kw: w(kw) += A(i,kw)`.

mod contract;
mod factor;
mod lift;
mod part;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_index::{
    Access, Concrete, Expr, IndexVar, Operator, Stmt, TensorData, TensorRole, TensorVar,
    WorkspaceKind,
};
use sparsec_notation::Node;

pub use factor::{Factors, factors, product};

use super::Name;
use super::apply::{distinct_vars, illegal, new_vars};
use super::expression::matches;
use contract::loops_around;

pub(super) fn apply(
    concrete: &Concrete,
    expr: &Node,
    names: &[Name],
    own: Option<&[Name]>,
    workspace: Option<&Name>,
    kind: Option<WorkspaceKind>,
) -> Result<Concrete> {
    let vars = distinct_vars(concrete, names)?;
    // Where neither a workspace nor a mode has a name, only the place is left.
    let place = workspace.or(names.first()).cloned();
    let place = place.expect("without a workspace's name there are those of loops");
    let mut rewrite = Rewrite {
        concrete: concrete.clone(),
        expr,
        own: vars.clone(),
        vars,
        workspace: match workspace {
            Some(name) => name.word.text.clone(),
            None => concrete.fresh_name("w"),
        },
        place,
        added: None,
        found: None,
    };
    rewrite.expect_free(workspace)?;
    rewrite.rename_loops(own)?;
    let mut stmt = concrete.stmt.rewrite(&mut |stmt| rewrite.nest(stmt));
    if !matches!(rewrite.found, Some(Ok(()))) {
        let computed = concrete.stmt.rewrite(&mut |stmt| rewrite.part(stmt));
        if matches!(rewrite.found, Some(Ok(()))) {
            stmt = computed;
        }
    }
    match rewrite.found {
        Some(result) => result?,
        None => {
            let message = "no assignment computes this expression";
            let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
            return Err(error
                .at(
                    &rewrite.place.source,
                    expr.span,
                    "has to be part of a right side",
                )
                .note(format!("the statement is\n{concrete}"))
                .help(
                    "write a right side, or factors of one, or a part as it is grouped: of \
                     `A + B + C` that is `A + B`",
                ));
        }
    }
    let mut kinds = rewrite.concrete.kinds;
    if let (Some(kind), Some(added)) = (kind, rewrite.added) {
        kinds.insert(added, kind);
    }
    Ok(Concrete {
        stmt,
        kinds,
        ..rewrite.concrete
    })
}

struct Rewrite<'a> {
    /// The statement as it was; the workspace is added to its tensors.
    concrete: Concrete,
    expr: &'a Node,
    /// The modes of the workspace.
    vars: Vec<IndexVar>,
    /// The variables of the producer's loops, one for each mode.
    own: Vec<IndexVar>,
    workspace: String,
    /// A name of the command, which says what text it is from.
    place: Name,
    /// The workspace, once it is made.
    added: Option<TensorVar>,
    /// Whether the expression was found, and why it could not be rewritten.
    found: Option<Result<()>>,
}

impl Rewrite<'_> {
    fn expect_free(&self, name: Option<&Name>) -> Result<()> {
        let Some(name) = name.filter(|name| self.concrete.tensor(&name.word.text).is_some()) else {
            return Ok(());
        };
        let message = format!("there is a tensor called `{name}` already");
        let error = illegal(name, name.word.span, message, "taken");
        Err(error.help("choose another name"))
    }

    /// Makes variables for the producer's loops, where they get names.
    fn rename_loops(&mut self, own: Option<&[Name]>) -> Result<()> {
        let Some(names) = own else {
            return Ok(());
        };
        if names.len() != self.vars.len() {
            let message = format!("{} loops get {} names", self.vars.len(), names.len());
            return Err(self.illegal(&message).help("give each loop one name"));
        }
        let derived = |var: &&IndexVar| self.concrete.made_by(**var).is_some();
        if let Some(var) = self.vars.iter().find(derived) {
            let name = &self.concrete.vars[*var].name;
            let message = format!("`{name}` is derived, and its loops keep their name");
            return Err(self
                .illegal(&message)
                .help("write `{…}` with the loops alone"));
        }
        for (name, var) in names.iter().zip(self.vars.clone()) {
            // The same name again is no other variable.
            if name.word.text != self.concrete.vars[var].name {
                let extent = self.concrete.vars[var].extent;
                let made = new_vars(&mut self.concrete, &[name])?[0];
                self.concrete.vars[made].extent = extent;
                let at = self.vars.iter().position(|known| *known == var);
                self.own[at.expect("one of them")] = made;
            }
        }
        Ok(())
    }

    /// The producer with its loops over variables of their own.
    fn renamed(&self, producer: &Stmt) -> Stmt {
        let own = |var: IndexVar| {
            let at = self.vars.iter().position(|known| *known == var);
            at.map_or(var, |at| self.own[at])
        };
        producer.renamed(&own)
    }

    /// Rewrites a nest of loops, if the expression is in its innermost part.
    fn nest(&mut self, stmt: &Stmt) -> Option<Stmt> {
        if self.found.is_some() {
            return None;
        }
        let (loops, inner) = stmt.nest();
        let result = match self.reduction(inner) {
            Some(reduction) => self.collect(&loops, inner, &reduction)?,
            None => {
                let Stmt::Where { consumer, producer } = inner else {
                    return None;
                };
                let (temporary, lifted) = self.producer_to_lift(consumer, producer)?;
                self.lift(&loops, temporary, lifted)
            }
        };
        match result {
            Ok(stmt) => {
                self.found = Some(Ok(()));
                Some(stmt)
            }
            Err(error) => {
                self.found = Some(Err(error));
                None
            }
        }
    }

    /// The assignment that `stmt` comes down to, if it reduces the expression.
    fn reduction(&self, stmt: &Stmt) -> Option<Reduction> {
        let mut loops = Vec::new();
        let mut inner = stmt;
        loop {
            let (more, next) = inner.nest();
            loops.extend(more);
            match next {
                // What a `where` computes first is no part of the assignment.
                Stmt::Where { consumer, .. } => inner = consumer,
                Stmt::Assign {
                    lhs,
                    reduce: Some(reduce),
                    rhs,
                } => {
                    let factors = match self.is_expr(rhs) {
                        true => None,
                        false => Some(self.some_factors(reduce, rhs)?),
                    };
                    let lhs = lhs.clone();
                    return Some(Reduction {
                        loops,
                        lhs,
                        reduce: reduce.clone(),
                        factors,
                    });
                }
                _ => return None,
            }
        }
    }

    fn is_expr(&self, expr: &Expr) -> bool {
        matches(self.expr, expr, &self.concrete)
    }

    /// A workspace between the loops that reduce, of which the outermost is
    /// one of `loops`, and the left side; `None` if it is further inside.
    fn collect(
        &mut self,
        loops: &[IndexVar],
        inner: &Stmt,
        reduction: &Reduction,
    ) -> Option<Result<Stmt>> {
        if let Some(contracted) = self.contract(loops, inner, reduction) {
            return contracted;
        }
        let lhs = &reduction.lhs;
        if self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace {
            return Some(Err(self
                .illegal("it is collected in a workspace already")
                .help("leave the command out")));
        }
        let reduces = |var: &IndexVar| {
            let originals = self.concrete.originals(*var);
            !originals.into_iter().all(|var| lhs.uses(var))
        };
        let Some(first) = loops.iter().position(reduces) else {
            if reduction.loops.iter().any(reduces) {
                return None;
            }
            return Some(Err(self
                .illegal("no loop around this reduces it")
                .help("leave the command out: there is nothing to collect")));
        };
        let kept = |from: usize| -> Vec<IndexVar> {
            let inside = loops[from..].iter().chain(&reduction.loops);
            inside.copied().filter(|var| !reduces(var)).collect()
        };
        let mut places = [first, 0].into_iter();
        let Some(place) = places.find(|it| self.are_modes(&kept(*it))) else {
            let what = "the loops inside the first that reduces";
            return Some(Err(self.other_modes(&kept(first), what)));
        };
        let (outer, reducing) = loops.split_at(place);
        let mut around = match inner {
            Stmt::Assign { rhs, .. } => loops_around(&self.concrete.stmt, lhs, rhs),
            _ => Vec::new(),
        };
        around.retain(|var| !reducing.contains(var));
        around.extend(outer.iter().chain(&self.vars));
        let bound = self.concrete.bound_in(&around);
        if !lhs.vars().iter().all(|var| bound.contains(var)) {
            let why = "a fused loop reduces it and names entries of the left side at once";
            return Some(Err(self
                .illegal(why)
                .help("give this command first, and fuse the loops behind it")));
        }
        if let Some(factors) = &reduction.factors
            && !self.may_leave(&factors.outside, &bound, inner)
        {
            let left: Vec<String> = factors
                .outside
                .iter()
                .map(|factor| format!("`{}`", self.concrete.expr_text(factor)))
                .collect();
            let message = format!(
                "the other factors, {}, change in the loops that the workspace sums over",
                left.join(", ")
            );
            return Some(Err(self.illegal(&message).help(
                "name them in the expression too, or move the loops that change them outside of \
                 those that sum; a copy of one factor has its innermost index as mode: \
                 `precompute(A(i,k), {k}, w : marked)`",
            )));
        }
        let data = &self.concrete.tensors[lhs.tensor];
        let element = data.element;
        let collected = reduction.factors.as_ref();
        let collected = collected.map(|factors| factors.product(&factors.inside));
        let fill = match &collected {
            None => data.fill,
            Some(inside) => {
                let reduced = reducing.iter().chain(&reduction.loops);
                let reduced = reduced.copied().filter(|var| reduces(var));
                self.fill_of_sum(&reduction.reduce, reduced, inside)
            }
        };
        let access = self.new_workspace(element, fill);
        let rhs = match &reduction.factors {
            None => Expr::Access(access.clone()),
            Some(factors) => {
                let mut outside = factors.outside.clone();
                outside.push(Expr::Access(access.clone()));
                factors.product(&outside)
            }
        };
        // Another nest may add to the same entries.
        let is_added_to = self.n_assigned(lhs) > 1;
        let consumer = Stmt::Assign {
            lhs: lhs.clone(),
            reduce: is_added_to.then(|| reduction.reduce.clone()),
            rhs,
        };
        let producer = assigned_to(inner, &access, collected.as_ref()).in_loops(reducing);
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(&self.vars)),
            producer: Box::new(self.renamed(&producer)),
        };
        Some(Ok(both.in_loops(outer)))
    }

    /// The modes that the command names have to be these, in any order.
    fn expect_modes(&self, wanted: &[IndexVar], what: &str) -> Result<()> {
        match self.are_modes(wanted) {
            true => Ok(()),
            false => Err(self.other_modes(wanted, what)),
        }
    }

    /// Whether the command names these modes, in any order.
    fn are_modes(&self, wanted: &[IndexVar]) -> bool {
        wanted.len() == self.vars.len() && wanted.iter().all(|var| self.vars.contains(var))
    }

    fn other_modes(&self, wanted: &[IndexVar], what: &str) -> Diagnostic {
        let names: Vec<&str> = wanted
            .iter()
            .map(|var| self.concrete.vars[*var].name.as_str())
            .collect();
        let names = names.join(", ");
        self.illegal(&format!("the modes of the workspace have to be {what}"))
            .help(format!("write `{{{names}}}`"))
    }

    fn illegal(&self, message: &str) -> Diagnostic {
        illegal(&self.place, self.expr.span, message, "computed here")
            .note(format!("the statement is\n{}", self.concrete))
    }

    /// The fill of a workspace in which `part` is reduced over these variables. Factors outside of
    /// it decide that of the left side, and not this one.
    fn fill_of_sum(
        &self,
        reduce: &Operator,
        vars: impl Iterator<Item = IndexVar>,
        part: &Expr,
    ) -> Scalar {
        let mut vars: Vec<IndexVar> = vars.flat_map(|var| self.concrete.originals(var)).collect();
        vars.sort_unstable();
        vars.dedup();
        let sum = Expr::Reduce {
            op: reduce.clone(),
            vars,
            body: Box::new(part.clone()),
        };
        sum.fill_of_temporary(&self.concrete.tensors, &self.concrete.vars)
    }

    /// The workspace.
    fn new_workspace(&mut self, element: ElementType, fill: Scalar) -> Access {
        let extents = self.vars.iter().map(|var| self.concrete.extent(*var));
        let span = self.concrete.tensors[self.concrete.result].span;
        let data = TensorData {
            name: self.workspace.clone(),
            earlier_of: None,
            element,
            extents: extents.collect(),
            fill,
            role: TensorRole::Workspace,
            span,
            levels_of: None,
        };
        let added = self.concrete.tensors.push(data);
        self.added = Some(added);
        Access::plain(added, &self.vars, span)
    }
}

/// `stmt` with another left side of the assignment that it comes down to, and
/// another right side if there is one.
fn assigned_to(stmt: &Stmt, access: &Access, value: Option<&Expr>) -> Stmt {
    match stmt {
        Stmt::Assign { reduce, rhs, .. } => Stmt::Assign {
            lhs: access.clone(),
            reduce: reduce.clone(),
            rhs: value.unwrap_or(rhs).clone(),
        },
        Stmt::Forall { var, body } => Stmt::Forall {
            var: *var,
            body: Box::new(assigned_to(body, access, value)),
        },
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(assigned_to(consumer, access, value)),
            producer: producer.clone(),
        },
        Stmt::Sequence(_) => unreachable!("a reduction is no sequence"),
    }
}

/// An assignment that reduces, and the loops around it.
struct Reduction {
    loops: Vec<IndexVar>,
    lhs: Access,
    reduce: Operator,
    /// The product that it reduces, where the expression is a part of that.
    factors: Option<Factors>,
}
