//! Quantifiers that say that a list is in order.
//!
//! ```text
//! forall n, m : 0 <= n < m < N => LEX(row(n), col(n)) <= LEX(row(m), col(m))
//! ```
//!
//! Such an order holds if it holds of neighbours, which one pass over the list shows. A list may
//! descend as well: `row(n) > row(m)`, or `row(m) < row(n)`.

use super::Quantifier;
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::key::LEX;

/// The order of a list, as a quantifier states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOrder {
    /// The first place of the list.
    pub begin: Expression,
    /// The place behind the last one.
    pub end: Expression,
    /// The arrays that hold the keys of each place; the first one weighs most.
    pub keys: Vec<String>,
    /// Whether no two places have the same keys.
    pub is_strict: bool,
}

impl Quantifier {
    /// The order that this states of a list; `None` if it states something else.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let known: Declarations =
    ///     "forall n, m : 0 <= n < m < N => LEX(row(n), col(n)) <= LEX(row(m), col(m))".parse()?;
    /// let order = known.quantifiers()[0].list_order().expect("an order");
    /// assert_eq!((&order.keys[..], order.is_strict), (&["row".to_owned(), "col".to_owned()][..], false));
    /// let known: Declarations = "forall n : 0 <= n < N => row(n) < col(n)".parse()?;
    /// assert!(known.quantifiers()[0].list_order().is_none());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn list_order(&self) -> Option<ListOrder> {
        let variables: Vec<Variable> = self.premises.inputs().collect();
        let &[first, second] = &variables[..] else {
            return None;
        };
        if self.premises.n_variables() != 2 {
            return None;
        }
        let [n, m] = [first, second].map(Expression::Variable);
        let (mut begin, mut end, mut is_pair) = (None, None, false);
        let premises = self.premises.constraints().iter();
        for (left, comparison, right) in premises.flat_map(Constraint::links) {
            match comparison {
                Comparison::LessEqual if *right == n && begin.is_none() => begin = Some(left),
                Comparison::Less if (left, right) == (&n, &m) => is_pair = true,
                Comparison::Less if *left == m && end.is_none() => end = Some(right),
                _ => return None,
            }
        }
        let (begin, end) = (begin?, end?);
        let [conclusion] = &self.conclusions[..] else {
            return None;
        };
        let [(comparison, right)] = &conclusion.rest[..] else {
            return None;
        };
        let is_strict = match comparison {
            Comparison::Less => true,
            Comparison::LessEqual => false,
            _ => return None,
        };
        let left = &conclusion.first;
        let keys = match left {
            Expression::Call(name, keys) if name == LEX => &keys[..],
            single => std::slice::from_ref(single),
        };
        let array = |key: &Expression| match key {
            Expression::Call(name, at) if *at == [n.clone()] => Some(name.clone()),
            _ => None,
        };
        let keys: Option<Vec<String>> = keys.iter().map(array).collect();
        let is_same = left.rewritten(&AtSecond(first, second)) == *right;
        (is_pair && is_same && is_fixed(begin) && is_fixed(end)).then_some(())?;
        Some(ListOrder {
            begin: begin.clone(),
            end: end.clone(),
            keys: keys?,
            is_strict,
        })
    }
}

impl Quantifier {
    /// Whether a conclusion says that what it compares descends along a list: `Some(false)` if it
    /// ascends, `None` if the conclusion does not compare one expression at two places of a list.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let descends = |text: &str| -> sparsec_base::Result<Option<bool>> {
    ///     let known: Declarations = text.parse()?;
    ///     let quantifier = &known.quantifiers()[0];
    ///     Ok(quantifier.descends(&quantifier.conclusions()[0]))
    /// };
    /// assert_eq!(descends("forall n, m : 0 <= n < m < N => row(n) >= row(m)")?, Some(true));
    /// assert_eq!(descends("forall n, m : 0 <= n < m < N => row(m) >= row(n)")?, Some(false));
    /// assert_eq!(descends("forall n : 0 <= n < N - 1 => row(n) < row(n + 1)")?, Some(false));
    /// assert_eq!(descends("forall n, m : 0 <= n < m < N => row(n) < col(m)")?, None);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn descends(&self, conclusion: &Constraint) -> Option<bool> {
        let [(comparison, right)] = &conclusion.rest[..] else {
            return None;
        };
        let falls = match comparison {
            Comparison::Less | Comparison::LessEqual => false,
            Comparison::Greater | Comparison::GreaterEqual => true,
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        // From an expression to itself at a later place.
        let leads = |from: &Expression, to: &Expression| {
            let premises = self.premises.constraints().iter();
            let mut pairs = premises.flat_map(Constraint::links);
            let is_pair =
                pairs.any(|(left, comparison, other)| {
                    use Comparison::{Greater, GreaterEqual, Less, LessEqual};
                    let (before, after) = match (left, comparison, other) {
                        (Expression::Variable(a), Less | LessEqual, Expression::Variable(b))
                        | (
                            Expression::Variable(b),
                            Greater | GreaterEqual,
                            Expression::Variable(a),
                        ) => (*a, *b),
                        _ => return false,
                    };
                    from.rewritten(&AtSecond(before, after)) == *to
                });
            is_pair
                || self
                    .premises
                    .inputs()
                    .any(|n| from.rewritten(&AtNext(n)) == *to)
        };
        let left = &conclusion.first;
        match () {
            () if left == right => None,
            () if leads(left, right) => Some(falls),
            () if leads(right, left) => Some(!falls),
            () => None,
        }
    }
}

/// Whether an expression is one of numbers and constants alone.
fn is_fixed(e: &Expression) -> bool {
    let mut is_fixed = true;
    e.visit(&mut |e| is_fixed &= !matches!(e, Expression::Variable(_) | Expression::Call(..)));
    is_fixed
}

/// The second variable in place of the first.
struct AtSecond(Variable, Variable);

impl Rewrite for AtSecond {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(if variable == self.0 { self.1 } else { variable })
    }
}

/// The place behind a variable in place of it.
struct AtNext(Variable);

impl Rewrite for AtNext {
    fn variable(&self, variable: Variable) -> Expression {
        let place = Expression::Variable(variable);
        match variable == self.0 {
            true => Expression::Add(Box::new(place), Box::new(Expression::Integer(1))),
            false => place,
        }
    }
}
