//! The terms of a value, in each of which a tensor can be replaced by its summands
//! one at a time.

use sparsec_base::Scalar;
use sparsec_index::{Access, Concrete, Expr, IndexVar, Operator, TensorRole, TensorVar};

use super::{NotAdditive, Summand, use_in};

/// One term of what is assigned, with the loops that it is added up in.
#[derive(Clone)]
pub(super) struct Term {
    pub lhs: Access,
    pub loops: Vec<IndexVar>,
    pub value: Expr,
    /// Where it counts.
    pub conditions: Vec<Expr>,
}

impl Term {
    /// The term with a summand in place of every use of a tensor that is `access`.
    pub(super) fn with(&self, access: &Access, summand: Summand) -> Result<Self, NotAdditive> {
        let mut term = Self {
            loops: [&self.loops[..], &summand.loops].concat(),
            value: self
                .value
                .map_accesses(&mut |it| (it == access).then(|| summand.expr.clone())),
            ..self.clone()
        };
        term.conditions.extend(summand.condition);
        let Some([one, other]) = summand.equal.filter(|[one, other]| one != other) else {
            return Ok(term);
        };
        let (Some(var), Some(same)) = (one.as_var(), other.as_var()) else {
            return Err(NotAdditive {
                why: "a diagonal is not read along a loop",
                span: access.span,
            });
        };
        if !term.loops.contains(&var) {
            return Err(NotAdditive {
                why: "a diagonal is read inside of the loops over its rows and columns",
                span: access.span,
            });
        }
        let rename = |it: IndexVar| if it == var { same } else { it };
        term.loops.retain(|it| *it != var);
        term.lhs = term.lhs.renamed(&rename);
        term.value = term.value.renamed(&rename);
        for condition in &mut term.conditions {
            *condition = condition.renamed(&rename);
        }
        Ok(term)
    }

    /// A workspace is written at variables of which none stands twice.
    pub(super) fn expect_distinct(&self, concrete: &Concrete) -> Result<(), NotAdditive> {
        let is_workspace = concrete.tensors[self.lhs.tensor].role == TensorRole::Workspace;
        match is_workspace && self.lhs.vars().len() < self.lhs.indices.len() {
            true => Err(NotAdditive {
                why: "the diagonal of a workspace would be written alone",
                span: self.lhs.span,
            }),
            false => Ok(()),
        }
    }

    /// A term is added once for each turn of its loops, which end where others that
    /// name their variables do.
    pub(super) fn expect_ends(&self, concrete: &Concrete) -> Result<(), NotAdditive> {
        let vars = self.value.vars();
        let is_endless = |var: &IndexVar| {
            let is_named = self.lhs.uses(*var) || vars.contains(var);
            !is_named && concrete.vars[*var].extent.is_none()
        };
        match self.loops.iter().any(is_endless) {
            true => Err(NotAdditive {
                why: "a term is without variables whose extents are not known",
                span: self.lhs.span,
            }),
            false => Ok(()),
        }
    }

    /// The value where the term counts, and what changes nothing elsewhere: the whole
    /// value, for the other factors of a product may not be finite.
    pub(super) fn counted(&self, identity: Scalar) -> Expr {
        let conditions = self.conditions.iter().cloned();
        let Some(condition) = conditions.reduce(|left, right| Expr::Apply {
            op: Operator::And,
            args: vec![left, right],
        }) else {
            return self.value.clone();
        };
        let select = |value: &Expr, identity: Scalar| Expr::Apply {
            op: Operator::Select,
            args: vec![condition.clone(), value.clone(), Expr::Literal(identity)],
        };
        match &self.value {
            // Narrow numbers are for storage, and are not chosen between.
            Expr::Cast(element, body) if *element != element.computed() => {
                let identity = identity.cast(element.computed()).unwrap_or(identity);
                Expr::Cast(*element, Box::new(select(body, identity)))
            }
            value => select(value, identity),
        }
    }
}

/// What a sum is taken apart by.
pub(super) struct Sums<'a> {
    pub concrete: &'a Concrete,
    pub tensor: TensorVar,
    /// What values are combined by.
    pub sum: &'a Operator,
    /// What changes nothing there.
    pub identity: Scalar,
    /// Whether entries of the tensor may be stored several times.
    pub repeats: bool,
}

impl Sums<'_> {
    /// The terms of a value: in each that uses the tensor, the fill of it makes the
    /// whole what changes nothing.
    pub(super) fn terms(&self, term: Term) -> Result<Vec<Term>, NotAdditive> {
        let Some(access) = use_in(&term.value, self.tensor) else {
            return Ok(vec![term]);
        };
        if self.vanishes(&term.value) {
            return match self.repeats && !self.is_linear(&term.value) {
                true => Err(self.fault(access, "what is stored twice would not be added up first")),
                false => Ok(vec![term]),
            };
        }
        let parts = self.parts(&term.value);
        let Some(parts) = parts else {
            let why = "where it stores nothing, the value still adds something";
            return Err(self.fault(access, why));
        };
        let mut terms = Vec::new();
        for (loops, value) in parts {
            let loops = [term.loops.clone(), loops].concat();
            let lhs = term.lhs.clone();
            let conditions = Vec::new();
            terms.extend(self.terms(Term {
                lhs,
                loops,
                value,
                conditions,
            })?);
        }
        Ok(terms)
    }

    /// The terms without the tensor that have the same loops as one.
    pub(super) fn joined(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut joined: Vec<Term> = Vec::new();
        for term in terms {
            let is_other = |it: &Expr| use_in(it, self.tensor).is_none();
            let like = joined
                .iter_mut()
                .find(|it| it.loops == term.loops && is_other(&it.value))
                .filter(|_| is_other(&term.value));
            match like {
                Some(like) => like.value = self.apply(self.sum, [like.value.clone(), term.value]),
                None => joined.push(term),
            }
        }
        joined
    }

    /// A value as several that are combined, each with loops that it is reduced over.
    fn parts(&self, value: &Expr) -> Option<Vec<(Vec<IndexVar>, Expr)>> {
        let alone = |value: &Expr| (Vec::new(), value.clone());
        match value {
            Expr::Reduce { op, vars, body } if op == self.sum => {
                Some(vec![(vars.clone(), (**body).clone())])
            }
            Expr::Apply { op, args } if op == self.sum => Some(args.iter().map(alone).collect()),
            Expr::Apply {
                op: Operator::Sub,
                args,
            } if *self.sum == Operator::Add => {
                let negative = self.apply(&Operator::Neg, [args[1].clone()]);
                Some(vec![alone(&args[0]), (Vec::new(), negative)])
            }
            Expr::Apply { op, args } => {
                let element = value.element(&self.concrete.tensors);
                let is_negative = *op == Operator::Neg && *self.sum == Operator::Add;
                if !is_negative && !op.distributes_over(self.sum, element) {
                    return None;
                }
                // One factor is taken apart at a time.
                let at = args.iter().position(|arg| self.is_sum(arg))?;
                let mut others = args.iter().enumerate().filter(|(other, _)| *other != at);
                let rounds = element.is_float() || element.is_complex();
                if *op == Operator::Mul && rounds && !others.all(|(_, it)| self.is_finite(it)) {
                    return None;
                }
                let parts = self.parts(&args[at])?.into_iter().map(|(vars, part)| {
                    let mut args = args.clone();
                    args[at] = part;
                    let op = op.clone();
                    (vars, Expr::Apply { op, args })
                });
                Some(parts.collect())
            }
            _ => None,
        }
    }

    /// Whether nothing says that a factor is infinite, or no number: with one that is,
    /// `f * (a + b)` is a number where `f * a + f * b` may not be.
    fn is_finite(&self, factor: &Expr) -> bool {
        let Concrete { tensors, vars, .. } = self.concrete;
        let is_finite = |value: Scalar| value.to_c128().is_finite();
        let mut accesses = factor.accesses().into_iter();
        match factor.fill(tensors, vars) {
            Some(fill) => is_finite(fill),
            None => accesses.all(|it| is_finite(tensors[it.tensor].fill)),
        }
    }

    /// Whether a factor uses the tensor and has parts.
    fn is_sum(&self, value: &Expr) -> bool {
        use_in(value, self.tensor).is_some() && self.parts(value).is_some()
    }

    /// Whether a value changes nothing where any one use of the tensor is of nothing
    /// stored, whatever else it uses; and looks at one entry for each.
    fn vanishes(&self, value: &Expr) -> bool {
        let Concrete { tensors, vars, .. } = self.concrete;
        let fill = tensors[self.tensor].fill;
        let vanishes_at = |used: &Access| {
            let absent = value.map_accesses(&mut |it| (it == used).then_some(Expr::Literal(fill)));
            let absent = absent.simplify_with(&|part| part.fill(tensors, vars));
            absent.literal() == Some(self.identity)
        };
        let mut uses = value.accesses().into_iter();
        uses.all(|it| it.tensor != self.tensor || vanishes_at(it)) && self.is_pointwise(value)
    }

    /// Whether a value is computed of one entry of the tensor, and not of several or
    /// of whether one is stored.
    fn is_pointwise(&self, value: &Expr) -> bool {
        match value {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => true,
            Expr::Cast(_, body) => self.is_pointwise(body),
            Expr::Apply { op, args } if *op != Operator::IsStored => {
                args.iter().all(|arg| self.is_pointwise(arg))
            }
            Expr::Apply { .. } | Expr::Reduce { .. } => use_in(value, self.tensor).is_none(),
        }
    }

    /// Whether a value of several entries is the sum of the values of each.
    fn is_linear(&self, value: &Expr) -> bool {
        let uses_tensor = |part: &Expr| use_in(part, self.tensor).is_some();
        match value {
            Expr::Access(_) => *self.sum == Operator::Add,
            Expr::Apply { op, args } => {
                let mut used = args.iter().filter(|arg| uses_tensor(arg));
                let is_one = matches!((used.next(), used.next()), (Some(arg), None)
                    if self.is_linear(arg));
                is_one && matches!(op, Operator::Mul | Operator::Neg)
            }
            _ => false,
        }
    }

    fn apply<const N: usize>(&self, op: &Operator, args: [Expr; N]) -> Expr {
        Expr::Apply {
            op: op.clone(),
            args: args.to_vec(),
        }
    }

    fn fault(&self, access: &Access, why: &'static str) -> NotAdditive {
        NotAdditive {
            why,
            span: access.span,
        }
    }
}
