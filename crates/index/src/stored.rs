//! The entries that an expression stores, and its value elsewhere.
//!
//! A tensor has its fill wherever it stores no entry. So an expression has a fill too, and it is
//! stored where entries of its operands may change that:
//!
//! | expression           | is stored                                              | fill                |
//! |----------------------|--------------------------------------------------------|---------------------|
//! | literal `c`          | nowhere                                                | `c`                 |
//! | an index as a number | everywhere                                             | unknown             |
//! | `A(i,j)`             | where `A` is                                           | that of `A`         |
//! | `f(a, b, …)`         | where each decision of `f` has an argument that is     | the decided value   |
//! | the same, no decision | where any argument is                                 | unknown             |
//! | `sum{k}(a)`          | where `a` is                                           | that of `a`, reduced |
//!
//! The [decisions](Operator::decisions) of an operator follow from the fills of its arguments: a zero
//! decides `a * b` alone, so a product is stored where both factors are; zeros decide `a + b`
//! together, so a sum is stored where one of its terms is. A function of the user is stored where
//! its body is, and where each argument is that annihilates it.
//!
//! One walk answers all who ask. An answer is a set of coordinates for the loops of a statement
//! (`graph`), a condition in a kernel (`lower`), a fraction of all points for estimates (`plan`), or
//! a bound on the number of entries. The [`Answers`] say how to combine them.

use sparsec_base::Scalar;
use sparsec_base::arena::Id;

use crate::expr::{Access, Expr, points};
use crate::function::UserFunction;
use crate::operator::Operator;
use crate::program::{Tensors, Vars};

/// Where an expression is stored, and its value elsewhere, if that is known.
pub type Found<W> = (W, Option<Scalar>);

/// Answers to the question where operands are stored, and how they combine.
pub trait Answers {
    /// A place where something is stored: a set, a condition, a fraction, a number.
    type Where: Clone;

    /// Where a literal is stored.
    fn nowhere(&self) -> Self::Where;

    /// Where an index is stored as a number.
    fn everywhere(&self) -> Self::Where;

    /// Where an operand is stored, and its value elsewhere; `None` if that is not known.
    fn of_access(&self, access: &Access) -> Found<Self::Where>;

    /// Where one of two is stored.
    fn either(&self, one: Self::Where, other: Self::Where) -> Self::Where;

    /// Where both are stored.
    fn both(&self, one: Self::Where, other: Self::Where) -> Self::Where;

    /// Where an expression without a known fill is stored, from where any of its operands is.
    fn of_unknown(&self, any: Self::Where) -> Self::Where {
        any
    }

    /// Where an argument that decides nothing still matters; `None` if it narrows nothing.
    fn of_other(&self, _argument: Self::Where) -> Option<Self::Where> {
        None
    }
}

/// Where an expression is stored, and its value elsewhere; see the [module](self).
///
/// The value is `None` if an extent matters and is not known, or if a kernel would leave with an
/// error. Costs one visit of each part; bodies of functions are walked once for each call.
///
/// ```
/// use sparsec_base::{ElementType, Scalar};
/// use sparsec_index::stored::{Answers, stored};
/// use sparsec_index::{Access, Operator, Program, ProgramBuilder};
///
/// /// How many entries there are at most, if each operand has so many.
/// struct AtMost(u64);
///
/// impl Answers for AtMost {
///     type Where = u64;
///     fn nowhere(&self) -> u64 { 0 }
///     fn everywhere(&self) -> u64 { u64::MAX }
///     fn of_access(&self, _: &Access) -> (u64, Option<Scalar>) { (self.0, Some(Scalar::F64(0.0))) }
///     fn either(&self, one: u64, other: u64) -> u64 { one.saturating_add(other) }
///     fn both(&self, one: u64, other: u64) -> u64 { one.min(other) }
/// }
///
/// let mut program = ProgramBuilder::new();
/// let y = program.result("y", 1)?;
/// let a = program.input("a", ElementType::F64, &[Some(9)])?;
/// let b = program.input("b", ElementType::F64, &[Some(9)])?;
/// let i = program.var("i");
/// let [a, b] = [program.access(a, [i])?, program.access(b, [i])?];
/// let sum = program.apply(&Operator::Add, [a, b])?;
/// program.assign(y, [i], sum)?;
/// let Program { tensors, vars, statements, .. } = program.finish()?;
///
/// let found = stored(&AtMost(3), &statements[0].rhs, &tensors, &vars);
/// assert_eq!(found, (6, Some(Scalar::F64(0.0))));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn stored<A: Answers>(
    answers: &A,
    expr: &Expr,
    tensors: &Tensors,
    vars: &Vars,
) -> Found<A::Where> {
    let walk = Walk {
        answers,
        tensors,
        vars,
    };
    walk.of(expr, &|access| answers.of_access(access))
}

/// The value of an expression where nothing is stored, as [`stored`] has it, from that of its
/// operands.
pub fn unstored(
    expr: &Expr,
    tensors: &Tensors,
    vars: &Vars,
    of_access: &dyn Fn(&Access) -> Option<Scalar>,
) -> Option<Scalar> {
    stored(&Values(of_access), expr, tensors, vars).1
}

/// Answers without places: only the values elsewhere are wanted.
struct Values<'a>(&'a dyn Fn(&Access) -> Option<Scalar>);

impl Answers for Values<'_> {
    type Where = ();

    fn nowhere(&self) {}

    fn everywhere(&self) {}

    fn of_access(&self, access: &Access) -> ((), Option<Scalar>) {
        ((), (self.0)(access))
    }

    fn either(&self, (): (), (): ()) {}

    fn both(&self, (): (), (): ()) {}
}

struct Walk<'a, A> {
    answers: &'a A,
    tensors: &'a Tensors,
    vars: &'a Vars,
}

impl<A: Answers> Walk<'_, A> {
    fn of(&self, expr: &Expr, of_access: &dyn Fn(&Access) -> Found<A::Where>) -> Found<A::Where> {
        match expr {
            Expr::Literal(value) => (self.answers.nowhere(), Some(*value)),
            Expr::Index(_) => (self.answers.everywhere(), None),
            Expr::Access(access) => of_access(access),
            Expr::Cast(element, body) => {
                let (place, fill) = self.of(body, of_access);
                self.known(place, fill.and_then(|fill| fill.cast(*element)))
            }
            Expr::Apply { op, args } => {
                let parts = args.iter().map(|arg| self.of(arg, of_access));
                let (places, fills): (Vec<A::Where>, Vec<Option<Scalar>>) = parts.unzip();
                match op {
                    Operator::Defined(function) => {
                        self.called((op, function), args, &places, &fills)
                    }
                    _ => self.applied(op, &places, &fills),
                }
            }
            Expr::Reduce {
                op,
                vars: bound,
                body,
            } => {
                let (place, fill) = self.of(body, of_access);
                // Nothing is reduced to the identity, whatever its fill would be.
                let nothing = op.identity(body.element(self.tensors));
                if nothing.is_some() && points(self.vars, bound) == Some(0) {
                    return (place, nothing);
                }
                let fill = fill.and_then(|fill| match Some(fill) == op.identity(fill.element()) {
                    true => Some(fill),
                    false => op.repeat(fill, points(self.vars, bound)?),
                });
                self.known(place, fill)
            }
        }
    }

    /// Where an expression with such a fill is stored.
    fn known(&self, place: A::Where, fill: Option<Scalar>) -> Found<A::Where> {
        match fill {
            Some(_) => (place, fill),
            None => (self.answers.of_unknown(place), None),
        }
    }

    fn applied(
        &self,
        op: &Operator,
        places: &[A::Where],
        fills: &[Option<Scalar>],
    ) -> Found<A::Where> {
        let answers = self.answers;
        let any = |args: &mut dyn Iterator<Item = usize>| {
            args.map(|at| places[at].clone())
                .reduce(|one, other| answers.either(one, other))
                .unwrap_or_else(|| answers.nowhere())
        };
        let decisions = op.decisions(fills);
        let Some(first) = decisions.first() else {
            return self.known(any(&mut (0..places.len())), None);
        };
        // Where fewer arguments decide already, more leave out nothing.
        let is_least = |number: &usize| {
            let own = &decisions[*number].args;
            let mut others = decisions.iter().enumerate().filter(|(at, _)| at != number);
            !others.any(|(at, it)| {
                let is_within = it.args.iter().all(|arg| own.contains(arg));
                is_within && (it.args.len() < own.len() || at < *number)
            })
        };
        let least = (0..decisions.len()).filter(is_least);
        let needed = least.map(|number| any(&mut decisions[number].args.iter().copied()));
        let decides = |at: &usize| decisions.iter().any(|decision| decision.args.contains(at));
        let others = (0..places.len()).filter(|at| !decides(at));
        let others = others.filter_map(|at| answers.of_other(places[at].clone()));
        let place = needed
            .chain(others)
            .reduce(|one, other| answers.both(one, other))
            .expect("there is a decision");
        (place, Some(first.value))
    }

    /// A call of a function of the user: its body, and the properties that are declared beside it.
    fn called(
        &self,
        (op, function): (&Operator, &UserFunction),
        args: &[Expr],
        places: &[A::Where],
        fills: &[Option<Scalar>],
    ) -> Found<A::Where> {
        let body = function.with_literals(args, self.tensors);
        let (mut place, fill) = self.of(&body, &|parameter| {
            let at = parameter.tensor.index();
            (places[at].clone(), fills[at])
        });
        for (at, argument) in fills.iter().enumerate() {
            if let Some(value) = argument
                && op.annihilator(at, value.element()) == Some(*value)
            {
                place = self.answers.both(place, places[at].clone());
            }
        }
        let decided = op.decisions(fills).into_iter().next();
        (place, decided.map(|decision| decision.value).or(fill))
    }
}
