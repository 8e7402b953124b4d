//! What a statement does at one point of its iteration space: one assignment.
//!
//! ```text
//! y(i) += A(p) * x(crd(p))
//! ────    ────────────────  value: an expression of entries, variables and numbers
//! target, with how the value is combined with what it holds
//! ```
//!
//! Indices are expressions of relations ([`Expression`]), where a call
//! `crd(p)` is the entry of an array of integers and a constant is a parameter
//! or the integer in data without extents. Values have types besides:
//!
//! | value                               | type                                     |
//! |-------------------------------------|------------------------------------------|
//! | a variable, a parameter             | integer                                  |
//! | an entry of `i8` … `i64`, `u8` … `u32` | integer: read as 64 bits, stored only if it fits |
//! | an entry of any other type          | that type                                |
//! | `3`                                 | whichever is asked for                   |
//! | `0.5`                               | whichever floating-point type is asked for |
//! | `f64(e)`, `f32(e)`                  | that type; `e` an integer, `f32` or `f64` |
//! | `a + b`, `a * b`, `min(a, b)`, …    | that of both, which is one               |
//! | `ordinal(k of n)`, `rank(k of n)`, `dense_rank(k of n)` | integer              |
//! | `slot(k of n, a of t, b of t)`: a place in a table, `power_of_two(a)` | integer |
//! | `MORTON(i, j)`, `ALTO(i, n, j, m)`: a place on a curve | integer               |
//! | `differs(a, b)`, of two values of one type | integer: 1 where they differ, 0 where they do not |
//! | `conj(a)`, of a complex number      | that type: its conjugate                 |
//!
//! **Windows.** The last three say where a point stands among all points of its
//! statement, by the values of integer keys there, each at least 0 and less than
//! the extent behind `of`. What they depend on is settled before the first point
//! runs.
//!
//! ```text
//! points in order        0    1    2    3    4
//! key k                  3    1    3    1    3
//!
//! ordinal(k of 4)        0    0    1    1    2     earlier points of the same key
//! rank(k of 4)           2    0    3    1    4     points of a smaller key, and those
//! dense_rank(k of 4)     1    0    1    0    1     smaller keys, each once
//! ```
//!
//! So `rank` is the place of a point in a stable sort, `ordinal` its place within its
//! group, and `dense_rank` the number of its group among those that have points.
//! Several keys are compared as a tuple; without keys all points are one group.
//!
//! `slot(k of n, a of t, b of t)` is a place in a table: the places from `a` up to `b`. In
//! their order, points take the first place that none has taken, from the one on that the
//! hash of `k` says ([`sparsec_base::hash`]), and around the end of the table. There is no
//! value where all places are taken.
//!
//! **Curves.** `MORTON` and `ALTO` deal the bits of coordinates into one integer, as in
//! relations. They have no value where a coordinate is negative, or the integer would have
//! more than 63 bits.
//!
//! **Comparing.** `differs` compares as IEEE 754 does: a `NaN` differs from all values, itself
//! included, and `0.0` is `-0.0`. So `differs(a, a)` tells a `NaN`, and
//! `max(differs(a, b), differs(1 / a, 1 / b))` tells zeros of two signs apart.
//!
//! Types that are neither integer nor `f32` or `f64` are only copied and compared, and complex
//! numbers conjugated. `f16` and `bf16` are only copied.

use sparsec_base::ElementType;
use sparsec_relation::{Declarations, Expression, Rewrite, Variable};

/// One entry of a data space: `A(p)`, or `n` of data without extents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The name of the data space.
    pub space: String,
    /// One index for each extent.
    pub indices: Vec<Expression>,
}

/// How a value is combined with what its target holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// `=`: it takes its place.
    Assign,
    /// `+=`: the sum.
    Add,
    /// `*=`: the product.
    Multiply,
    /// `min=`: the smaller one.
    Minimum,
    /// `max=`: the larger one.
    Maximum,
}

/// An operation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`, of floating-point numbers.
    Divide,
    /// `a floordiv b`, of integers: the quotient rounded down.
    FloorDivide,
    /// `a mod b`, of integers: what the rounded quotient leaves.
    Modulo,
    /// `min(a, b)`.
    Minimum,
    /// `max(a, b)`.
    Maximum,
}

/// Where a point stands among all points of its statement; see the module's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// The number of earlier points with the same keys.
    Ordinal,
    /// The number of points with smaller keys, and of earlier ones with the same.
    Rank,
    /// The number of different smaller keys that points have.
    DenseRank,
    /// The place that a table gives to a key.
    Slot,
}

/// A key of a [`Window`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Its value at a point, at least 0.
    pub value: Expression,
    /// More than the largest value, an expression of constants.
    pub extent: Expression,
}

/// A value at one point of an iteration space.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number, of the type that is asked for.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A variable of the iteration space.
    Variable(Variable),
    /// A parameter.
    Parameter(String),
    /// An entry.
    Entry(Access),
    /// `-a`.
    Negate(Box<Value>),
    /// An operation.
    Binary(Operator, Box<Value>, Box<Value>),
    /// `f64(a)`: the value as another type.
    Cast(ElementType, Box<Value>),
    /// `rank(i of N, j of M)`.
    Window(Window, Vec<Key>),
    /// `MORTON(i, j)`: the place of coordinates on a curve that the language of relations
    /// knows, by its name.
    Curve(String, Vec<Expression>),
    /// `power_of_two(a)`: the least power of two that is not less than an integer; 0 where
    /// that is not positive.
    PowerOfTwo(Box<Value>),
    /// `differs(a, b)`: 1 where two values of one type differ, and 0 where they do not.
    Differs(Box<Value>, Box<Value>),
    /// `conj(a)`: the conjugate of a complex number.
    Conjugate(Box<Value>),
}

impl Window {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ordinal, Self::Rank, Self::DenseRank, Self::Slot];

    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ordinal => "ordinal",
            Self::Rank => "rank",
            Self::DenseRank => "dense_rank",
            Self::Slot => "slot",
        }
    }

    /// Whether it depends on the order in which points run.
    pub fn follows_order(self) -> bool {
        self != Self::DenseRank
    }
}

impl Key {
    /// The key with other names in it.
    #[must_use]
    pub fn rewritten(&self, rewrite: &impl Rewrite) -> Self {
        Self {
            value: self.value.rewritten(rewrite),
            extent: self.extent.rewritten(rewrite),
        }
    }
}

impl Update {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Assign,
        Self::Add,
        Self::Multiply,
        Self::Minimum,
        Self::Maximum,
    ];

    /// The symbol in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Assign => "=",
            Self::Add => "+=",
            Self::Multiply => "*=",
            Self::Minimum => "min=",
            Self::Maximum => "max=",
        }
    }

    /// The operation that combines what was there with the value; `None` where
    /// the value takes its place.
    pub fn operator(self) -> Option<Operator> {
        match self {
            Self::Assign => None,
            Self::Add => Some(Operator::Add),
            Self::Multiply => Some(Operator::Multiply),
            Self::Minimum => Some(Operator::Minimum),
            Self::Maximum => Some(Operator::Maximum),
        }
    }
}

impl Operator {
    /// The symbol or word in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "floordiv",
            Self::Modulo => "mod",
            Self::Minimum => "min",
            Self::Maximum => "max",
        }
    }
}

impl Access {
    /// The access with other names in its indices.
    #[must_use]
    pub fn rewritten(&self, rewrite: &impl Rewrite) -> Self {
        let indices = self.indices.iter().map(|e| e.rewritten(rewrite));
        Self {
            space: self.space.clone(),
            indices: indices.collect(),
        }
    }
}

impl Value {
    /// The same value as an expression over a statement's variables; `None` if it is none of
    /// integers, or has a window.
    ///
    /// ```
    /// use sparsec_computation::{Access, Value};
    /// use sparsec_relation::Expression;
    /// let entry = Access { space: "n".to_owned(), indices: Vec::new() };
    /// assert_eq!(Value::Entry(entry).to_expression(), Some(Expression::Constant("n".to_owned())));
    /// assert_eq!(Value::Float(0.5).to_expression(), None);
    /// ```
    pub fn to_expression(&self) -> Option<Expression> {
        Some(match self {
            Self::Integer(n) => Expression::Integer(*n),
            Self::Variable(variable) => Expression::Variable(*variable),
            Self::Parameter(name) => Expression::Constant(name.clone()),
            Self::Curve(name, coordinates) => Expression::Call(name.clone(), coordinates.clone()),
            Self::Entry(Access { space, indices }) => match &indices[..] {
                [] => Expression::Constant(space.clone()),
                _ => Expression::Call(space.clone(), indices.clone()),
            },
            Self::Negate(a) => Expression::Negate(Box::new(a.to_expression()?)),
            Self::Binary(operator, a, b) => {
                let [a, b] = [a.to_expression()?, b.to_expression()?].map(Box::new);
                match operator {
                    Operator::Add => Expression::Add(a, b),
                    Operator::Subtract => Expression::Subtract(a, b),
                    Operator::Multiply => Expression::Multiply(a, b),
                    Operator::FloorDivide => Expression::FloorDivide(a, b),
                    Operator::Modulo => Expression::Modulo(a, b),
                    Operator::Divide | Operator::Minimum | Operator::Maximum => return None,
                }
            }
            Self::Float(_)
            | Self::Cast(..)
            | Self::Window(..)
            | Self::PowerOfTwo(_)
            | Self::Differs(..)
            | Self::Conjugate(_) => return None,
        })
    }

    /// An integer expression as a value. Calls of `known` keys on curves are such, others entries.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_computation::Value;
    /// use sparsec_relation::{Declarations, Expression};
    /// let e = Expression::parse(&Source::new("e", "crd(4) + 1"))?;
    /// let value = Value::of_expression(&e, &Declarations::new());
    /// assert_eq!(value.to_expression(), Some(e));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn of_expression(e: &Expression, known: &Declarations) -> Self {
        use Operator::{Add, FloorDivide, Modulo, Multiply, Subtract};
        let both = |operator, a: &Expression, b: &Expression| {
            let [a, b] = [a, b].map(|e| Box::new(Self::of_expression(e, known)));
            Self::Binary(operator, a, b)
        };
        match e {
            Expression::Integer(n) => Self::Integer(*n),
            Expression::Variable(v) => Self::Variable(*v),
            Expression::Constant(name) => Self::Parameter(name.clone()),
            Expression::Call(name, arguments) if known.is_key(name) => {
                Self::Curve(name.clone(), arguments.clone())
            }
            Expression::Call(name, arguments) => Self::Entry(Access {
                space: name.clone(),
                indices: arguments.clone(),
            }),
            Expression::Negate(a) => Self::Negate(Box::new(Self::of_expression(a, known))),
            Expression::Add(a, b) => both(Add, a, b),
            Expression::Subtract(a, b) => both(Subtract, a, b),
            Expression::Multiply(a, b) => both(Multiply, a, b),
            Expression::FloorDivide(a, b) => both(FloorDivide, a, b),
            Expression::Modulo(a, b) => both(Modulo, a, b),
        }
    }

    /// Calls `visit` with this value and every value in it.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Negate(a) | Self::Cast(_, a) | Self::PowerOfTwo(a) | Self::Conjugate(a) => {
                a.visit(visit);
            }
            Self::Binary(_, a, b) | Self::Differs(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Self::Integer(_)
            | Self::Float(_)
            | Self::Variable(_)
            | Self::Parameter(_)
            | Self::Entry(_)
            | Self::Window(..)
            | Self::Curve(..) => {}
        }
    }

    /// The windows in the value.
    pub fn windows(&self) -> Vec<(Window, &[Key])> {
        let mut windows = Vec::new();
        self.visit(&mut |value| {
            if let Self::Window(window, keys) = value {
                windows.push((*window, &keys[..]));
            }
        });
        windows
    }

    /// The integer expressions that the value depends on, apart from indices of entries:
    /// keys of windows with their extents, and coordinates on curves.
    pub fn expressions(&self) -> Vec<&Expression> {
        let mut expressions = Vec::new();
        self.visit(&mut |value| match value {
            Self::Window(_, keys) => {
                expressions.extend(keys.iter().flat_map(|key| [&key.value, &key.extent]));
            }
            Self::Curve(_, coordinates) => expressions.extend(coordinates),
            _ => {}
        });
        expressions
    }

    /// The entries that are read, apart from those that indices read.
    pub fn entries(&self) -> Vec<&Access> {
        let mut entries = Vec::new();
        self.visit(&mut |value| {
            if let Self::Entry(access) = value {
                entries.push(access);
            }
        });
        entries
    }

    /// The value with each access changed.
    #[must_use]
    pub fn with_entries(&self, change: &mut impl FnMut(&Access) -> Access) -> Self {
        self.with_leaves(&mut |leaf| match leaf {
            Self::Entry(access) => Self::Entry(change(access)),
            leaf => leaf.clone(),
        })
    }

    /// The value with other values in place of those that have none in them: numbers,
    /// variables, parameters, entries and windows.
    #[must_use]
    pub fn with_leaves(&self, change: &mut impl FnMut(&Self) -> Self) -> Self {
        match self {
            Self::Negate(a) => Self::Negate(Box::new(a.with_leaves(change))),
            Self::Cast(ty, a) => Self::Cast(*ty, Box::new(a.with_leaves(change))),
            Self::PowerOfTwo(a) => Self::PowerOfTwo(Box::new(a.with_leaves(change))),
            Self::Conjugate(a) => Self::Conjugate(Box::new(a.with_leaves(change))),
            Self::Differs(a, b) => Self::Differs(
                Box::new(a.with_leaves(change)),
                Box::new(b.with_leaves(change)),
            ),
            Self::Binary(operator, a, b) => Self::Binary(
                *operator,
                Box::new(a.with_leaves(change)),
                Box::new(b.with_leaves(change)),
            ),
            leaf => change(leaf),
        }
    }
}
