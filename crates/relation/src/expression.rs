//! Integer expressions and the constraints that compare them.

use sparsec_base::arena::Id;
use sparsec_base::define_id;

define_id!(
    /// A variable of one conjunction: first inputs, then outputs, then `exists` variables.
    pub struct Variable, "v"
);

/// An integer expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A number.
    Integer(i64),
    /// A symbolic constant.
    Constant(String),
    /// A variable of the conjunction that the expression is in.
    Variable(Variable),
    /// An uninterpreted function of arguments.
    Call(String, Vec<Expression>),
    /// `-a`.
    Negate(Box<Expression>),
    /// `a + b`.
    Add(Box<Expression>, Box<Expression>),
    /// `a - b`.
    Subtract(Box<Expression>, Box<Expression>),
    /// `a * b`.
    Multiply(Box<Expression>, Box<Expression>),
    /// `a floordiv b`: the quotient rounded down; no value where `b` is 0.
    FloorDivide(Box<Expression>, Box<Expression>),
    /// `a mod b`: `a - b * (a floordiv b)`, which has the sign of `b`.
    Modulo(Box<Expression>, Box<Expression>),
}

/// How two integers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// A chain of comparisons: `0 <= i < N`. All of them hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// The leftmost expression.
    pub first: Expression,
    /// Each further expression with how the one before it compares to it; at
    /// least one.
    pub rest: Vec<(Comparison, Expression)>,
}

/// Replacements for the names of an expression.
pub trait Rewrite {
    /// A replacement for a whole expression. By default only its parts are replaced.
    fn whole(&self, _expression: &Expression) -> Option<Expression> {
        None
    }

    /// In place of a variable.
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(variable)
    }

    /// In place of a symbolic constant.
    fn constant(&self, name: &str) -> Expression {
        Expression::Constant(name.to_owned())
    }

    /// The name of the function to call in place of `name`.
    fn function(&self, name: &str) -> String {
        name.to_owned()
    }
}

impl Comparison {
    /// All comparisons, longer symbols first.
    pub const ALL: [Self; 6] = [
        Self::LessEqual,
        Self::GreaterEqual,
        Self::NotEqual,
        Self::Less,
        Self::Greater,
        Self::Equal,
    ];

    /// The symbol in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    /// Whether `left` compares so to `right`.
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
        }
    }

    /// The comparison that holds exactly where this does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
        }
    }

    /// The comparison of the same two integers in the other order.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }
}

impl Constraint {
    /// One comparison.
    pub fn new(left: Expression, comparison: Comparison, right: Expression) -> Self {
        Self {
            first: left,
            rest: vec![(comparison, right)],
        }
    }

    /// The comparisons of the chain, one by one.
    pub fn links(&self) -> impl Iterator<Item = (&Expression, Comparison, &Expression)> {
        let lefts = std::iter::once(&self.first).chain(self.rest.iter().map(|(_, e)| e));
        lefts
            .zip(&self.rest)
            .map(|(left, (comparison, right))| (left, *comparison, right))
    }

    /// The expressions of the chain.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, e)| e))
    }

    /// The comparisons of the chain as constraints of one comparison each.
    pub fn split(&self) -> impl Iterator<Item = Self> {
        self.links()
            .map(|(left, comparison, right)| Self::new(left.clone(), comparison, right.clone()))
    }

    /// The constraint with other names.
    #[must_use]
    pub fn rewritten(&self, rewrite: &impl Rewrite) -> Self {
        let rest = self.rest.iter();
        Self {
            first: self.first.rewritten(rewrite),
            rest: rest.map(|(c, e)| (*c, e.rewritten(rewrite))).collect(),
        }
    }
}

impl Expression {
    /// The expression with other names; nothing is computed.
    #[must_use]
    pub fn rewritten(&self, rewrite: &impl Rewrite) -> Self {
        if let Some(whole) = rewrite.whole(self) {
            return whole;
        }
        let boxed = |e: &Self| Box::new(e.rewritten(rewrite));
        match self {
            Self::Integer(n) => Self::Integer(*n),
            Self::Constant(name) => rewrite.constant(name),
            Self::Variable(variable) => rewrite.variable(*variable),
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(|a| a.rewritten(rewrite));
                Self::Call(rewrite.function(name), arguments.collect())
            }
            Self::Negate(a) => Self::Negate(boxed(a)),
            Self::Add(a, b) => Self::Add(boxed(a), boxed(b)),
            Self::Subtract(a, b) => Self::Subtract(boxed(a), boxed(b)),
            Self::Multiply(a, b) => Self::Multiply(boxed(a), boxed(b)),
            Self::FloorDivide(a, b) => Self::FloorDivide(boxed(a), boxed(b)),
            Self::Modulo(a, b) => Self::Modulo(boxed(a), boxed(b)),
        }
    }

    /// The constraint that this equals `other`.
    pub fn equals(self, other: Self) -> Constraint {
        Constraint::new(self, Comparison::Equal, other)
    }

    /// Calls `visit` with this expression and every expression in it.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Integer(_) | Self::Constant(_) | Self::Variable(_) => {}
            Self::Call(_, arguments) => arguments.iter().for_each(|a| a.visit(visit)),
            Self::Negate(a) => a.visit(visit),
            Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::FloorDivide(a, b)
            | Self::Modulo(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
        }
    }
}

/// Puts expressions in place of variables, by their order.
///
/// ```
/// use sparsec_relation::{Conjunction, Expression, Values};
/// let pair = Conjunction::new(["i"], ["j"]);
/// let [i, j] = [pair.inputs().next(), pair.outputs().next()].map(|v| v.expect("one"));
/// let next = Expression::Add(Expression::Variable(i).into(), Expression::Integer(1).into());
/// let moved = next.rewritten(&Values(&[Expression::Variable(j)]));
/// assert_eq!(moved, Expression::Add(Expression::Variable(j).into(), Expression::Integer(1).into()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Values<'a>(pub &'a [Expression]);

impl Rewrite for Values<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        self.0[variable.index()].clone()
    }
}

/// The functions that constraints call, once for each call. `f.inverse` and `f.inverse.0` count as
/// `f`.
pub(crate) fn calls<'a>(constraints: impl IntoIterator<Item = &'a Constraint>) -> Vec<String> {
    let mut names = Vec::new();
    for e in constraints.into_iter().flat_map(Constraint::expressions) {
        e.visit(&mut |inner| {
            if let Expression::Call(name, _) = inner {
                let inverse = name.find(".inverse").filter(|at| {
                    let rest = &name[at + ".inverse".len()..];
                    rest.is_empty() || rest.starts_with('.')
                });
                names.push(name[..inverse.unwrap_or(name.len())].to_owned());
            }
        });
    }
    names
}
