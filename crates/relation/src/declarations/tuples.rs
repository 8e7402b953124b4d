//! Functions whose values are tuples.
//!
//! A permutation of coordinates gives a tuple for each argument. Each element of the tuple is a
//! function, named by its number. The range and `injective` relate the elements:
//!
//! ```text
//! function P : {[n] : 0 <= n < NZ} -> {[i, j] : 0 <= i <= j < N} injective
//!
//! P(n)[0], P.0(n)    its first element       0 <= P.0(n) < N
//! P(n)[1], P.1(n)    its second element      P.0(n) <= P.1(n)
//!                                            P.0(n) = P.0(m) && P.1(n) = P.1(m)  =>  n = m
//! ```
//!
//! Each element is also declared as a [`Function`], with the constraints of the range that contain
//! no other element. Code that looks at calls therefore need not know about tuples.

use std::fmt;

use super::{Clause, Declarations, Function};
use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression, Rewrite, Values, Variable};
use crate::names::Uses;
use crate::relation::Relation;
use crate::set::Set;
use sparsec_base::Result;
use sparsec_base::arena::Id;

/// A declared function whose values are tuples of two elements or more; see the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TupleFunction {
    /// The name. Elements are named after it.
    pub name: String,
    /// The arguments for which it has a value.
    pub domain: Set,
    /// A set that contains the values.
    pub range: Set,
    /// Whether it is injective.
    pub injective: bool,
}

impl TupleFunction {
    /// The name of an element in calls.
    pub fn element(&self, k: usize) -> String {
        format!("{}.{k}", self.name)
    }

    /// The names of the elements.
    pub fn elements(&self) -> impl Iterator<Item = String> + '_ {
        elements(&self.name, self.range.n_elements())
    }

    /// The elements as functions.
    pub(super) fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        self.elements().enumerate().map(|(k, name)| Function {
            name,
            domain: self.domain.clone(),
            range: alone(&self.range, k),
            injective: false,
            monotone: None,
        })
    }

    pub(super) fn clauses(&self) -> Vec<Clause> {
        let n = self.domain.n_elements();
        let variable = |k: usize| Expression::Variable(Variable::from_index(k));
        let call = |name: &str, from: usize| {
            Expression::Call(name.to_owned(), (from..from + n).map(variable).collect())
        };
        let differ = self.elements().map(|name| {
            let comparison = crate::expression::Comparison::NotEqual;
            Constraint::new(call(&name, 0), comparison, call(&name, n))
        });
        let differ: Vec<Constraint> = differ.collect();
        let arguments = (0..n).filter(|_| self.injective);
        let clauses = arguments.map(|k| {
            let equal = variable(k).equals(variable(n + k));
            Clause {
                n_variables: 2 * n,
                is_stated: false,
                literals: [&differ[..], &[equal]].concat(),
            }
        });
        clauses.collect()
    }
}

/// The names that calls have for the elements of the values of a function. An integer has one
/// element, with the name of the function.
pub(super) fn elements(name: &str, n: usize) -> impl Iterator<Item = String> + '_ {
    (0..n).map(move |k| match n {
        1 => name.to_owned(),
        _ => format!("{name}.{k}"),
    })
}

/// The range of one element: the constraints that contain no other element.
fn alone(range: &Set, k: usize) -> Set {
    let parts = range.parts().iter().map(|part| {
        let element = Variable::from_index(k);
        let mut alone = Conjunction::new([part.name(element)], []);
        let mut values = vec![Expression::Integer(0); part.n_variables()];
        values[k] = Expression::Variable(Variable::from_index(0));
        for link in part.constraints().iter().flat_map(Constraint::split) {
            let mut others = false;
            for e in link.expressions() {
                e.visit(&mut |e| {
                    others |= matches!(e, Expression::Variable(v) if *v != element);
                });
            }
            if !others {
                alone.add(link.rewritten(&Values(&values)));
            }
        }
        alone
    });
    Set::of(Relation::of_parts(parts.collect()))
}

impl Declarations {
    /// Declares a function whose values are tuples, with its elements.
    pub fn declare_tuple(&mut self, tuple: TupleFunction) {
        self.functions.extend(tuple.functions());
        self.tuples.push(tuple);
    }

    /// The declared functions whose values are tuples.
    pub fn tuples(&self) -> &[TupleFunction] {
        &self.tuples
    }

    /// The tuple function of an element with this name, and the number of the element.
    pub(crate) fn tuple_of(&self, name: &str) -> Option<(&TupleFunction, usize)> {
        let (tuple, k) = name.rsplit_once('.')?;
        let tuple = self.tuples.iter().find(|t| t.name == tuple)?;
        let k: usize = k.parse().ok()?;
        (k < tuple.range.n_elements() && tuple.element(k) == name).then_some((tuple, k))
    }

    /// Keeps only the tuple functions whose elements are all declared, and which do not contain the
    /// name `gone`.
    pub(super) fn retain_tuples(&mut self, gone: Option<&str>) {
        let functions = std::mem::take(&mut self.functions);
        self.tuples.retain(|tuple| {
            let is_declared = |name: &String| functions.iter().any(|f| f.name == *name);
            let speaks = |name: &str| {
                let sets = [&tuple.domain, &tuple.range].into_iter();
                let mut constraints = sets.flat_map(Set::parts).flat_map(Conjunction::constraints);
                constraints.any(|c| Uses::of([c]).names().contains(name))
            };
            let is_gone = |name: &str| tuple.elements().any(|e| e == name) || speaks(name);
            tuple.elements().all(|name| is_declared(&name)) && !gone.is_some_and(is_gone)
        });
        self.functions = functions;
    }

    /// The tuple functions under new names. A tuple function is left out if its elements do not get
    /// the names of one tuple.
    pub(super) fn tuples_rewritten(&self, names: &impl Rewrite) -> Result<Vec<TupleFunction>> {
        let mut rewritten = Vec::new();
        for tuple in &self.tuples {
            let new = TupleFunction {
                name: names.function(&tuple.name),
                domain: tuple.domain.rewritten(names)?,
                range: tuple.range.rewritten(names)?,
                injective: tuple.injective,
            };
            let elements = tuple.elements().map(|name| names.function(&name));
            if new.elements().eq(elements) {
                rewritten.push(new);
            }
        }
        Ok(rewritten)
    }
}

impl fmt::Display for TupleFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, domain, range) = (&self.name, &self.domain, &self.range);
        write!(f, "function {name} : {domain} -> {range}")?;
        f.write_str(if self.injective { " injective" } else { "" })
    }
}
