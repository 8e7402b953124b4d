//! What a computation costs, as formulas of its parameters.
//!
//! Statements that share a sweep (the first number of their schedules) go through their points
//! together. Columns of a matrix from its rows, `csr` to `csc`:
//!
//! ```text
//! cost convert {
//!   arrays: 24 * A_pos1_end + 8 * N1 + 16
//!   s1: steps A_pos1_end + N0, streams 8 * A_pos1_end + 8 * N0, random A_pos1_end of 16 in 8 * N1 + 8
//!   s2: steps N1, streams 16 * N1
//!   …
//!   total: …
//! }
//! ```
//!
//! | word      | says                                                                          |
//! |-----------|-------------------------------------------------------------------------------|
//! | `arrays`  | the bytes of all arrays that the computation makes                            |
//! | `steps`   | the iterations of the loops of a sweep, and the comparisons of its sorts      |
//! | `streams` | the bytes that it reads and writes in the order in which they are stored      |
//! | `random c of b in r` | `c` accesses of `b` bytes each, anywhere in an array of `r` bytes  |
//!
//! A formula is an expression of parameters, extents and integers that the computation computes. It
//! is a sum of products ([`Expression::expanded`]). `LOG2(x)` is the logarithm of a number, and 0
//! where that is below 2.
//!
//! **Points.** Loops over a box have as many iterations as the product of their extents. Segments
//! `pos(i) <= p < pos(i + 1)` have `pos(N) - pos(0)` together, so the loops over rows and entries of
//! `csr` take `N0 + A_pos1_end` steps. Other constraints are thought to hold, so all formulas are
//! upper bounds ([`points`]).
//!
//! **Order.** An access is in order if its index is that of the innermost loop that it depends on,
//! or never falls from point to point by proof (`Computation::keys_ascend`). An access that depends
//! on outer loops alone counts once for each of their iterations, and so do two accesses that differ
//! by a constant.
//!
//! **Windows** cost what lowering makes of them: a running count costs nothing; an `ordinal` of one
//! key, a table of the extent of the key; a `rank` of one key, a counting sort; one of several keys,
//! groups of the first key that are sorted by the others.

mod points;
mod sweeps;
mod text;

use sparsec_relation::Expression;

pub use points::{Points, points};

/// The cost of a computation; see the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name of the computation.
    pub name: String,
    /// The bytes of all arrays that it makes: temporary ones, and results.
    pub arrays: Expression,
    /// The sweeps, in the order in which they run.
    pub sweeps: Vec<Sweep>,
}

/// The cost of statements that go through their points together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The names of the statements.
    pub statements: Vec<String>,
    /// Its steps, streamed bytes and random accesses.
    pub work: Work,
}

/// What a sweep does, or several together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Iterations of loops, and comparisons of sorts.
    pub steps: Expression,
    /// Bytes read and written in the order in which they are stored.
    pub streams: Expression,
    /// Accesses in any order.
    pub random: Vec<Random>,
}

/// Accesses to one array, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// How many there are.
    pub count: Expression,
    /// The bytes that each reads and writes.
    pub bytes: i64,
    /// The bytes of the array.
    pub array: Expression,
}

/// The values of formulas for some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Iterations of loops, and comparisons of sorts.
    pub steps: f64,
    /// Bytes read and written in order.
    pub streams: f64,
    /// Bytes read and written in any order.
    pub random: f64,
    /// Accesses in any order, to arrays of more bytes than a cache holds, weighed by the share of
    /// the array that it does not hold.
    pub misses: f64,
}

impl Cost {
    /// What all sweeps do together. Accesses to arrays of one size are added up.
    pub fn total(&self) -> Work {
        let sweeps = self.sweeps.iter().map(|sweep| &sweep.work);
        let mut random: Vec<Random> = Vec::new();
        for access in sweeps.clone().flat_map(|work| &work.random) {
            let like = |it: &&mut Random| it.bytes == access.bytes && it.array == access.array;
            match random.iter_mut().find(like) {
                Some(found) => found.count = sum([found.count.clone(), access.count.clone()]),
                None => random.push(access.clone()),
            }
        }
        Work {
            steps: sum(sweeps.clone().map(|work| work.steps.clone())),
            streams: sum(sweeps.map(|work| work.streams.clone())),
            random,
        }
    }
}

impl Work {
    /// The values of its formulas, where parameters and computed integers have these values and a
    /// cache holds `cache` bytes; `None` if the value of a name is not known.
    ///
    /// ```
    /// use sparsec_computation::cost::Work;
    /// let work: Work = "steps NZ, streams 8 * NZ, random NZ of 8 in 8 * NZ".parse()?;
    /// let figures = work.figures(&|_| Some(1000.0), 6000.0).expect("a value for `NZ`");
    /// assert_eq!((figures.steps, figures.streams, figures.random), (1000.0, 8000.0, 8000.0));
    /// assert_eq!(figures.misses, 250.0);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn figures(&self, of: &dyn Fn(&str) -> Option<f64>, cache: f64) -> Option<Figures> {
        let (mut random, mut misses) = (0.0, 0.0);
        for access in &self.random {
            let (count, array) = (value(&access.count, of)?, value(&access.array, of)?);
            random += count * access.bytes as f64;
            misses += count * (1.0 - cache / array.max(cache));
        }
        Some(Figures {
            steps: value(&self.steps, of)?,
            streams: value(&self.streams, of)?,
            random,
            misses,
        })
    }
}

/// The name of the logarithm in formulas.
pub const LOG2: &str = "LOG2";

/// The keys of a curve in the language of relations.
const MORTON: &str = "MORTON";

/// The value of a formula, where names have these values.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_computation::cost::value;
/// use sparsec_relation::Expression;
/// let e = Expression::parse(&Source::new("steps", "NZ * LOG2(NZ floordiv N)"))?;
/// let of = |name: &str| [("NZ", 80.0), ("N", 10.0)].into_iter().find(|it| it.0 == name).map(|it| it.1);
/// assert_eq!(value(&e, &of), Some(240.0));
/// assert_eq!(value(&e, &|_| None), None);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn value(e: &Expression, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    Some(match e {
        Expression::Integer(n) => *n as f64,
        Expression::Constant(name) => of(name)?,
        Expression::Variable(_) => return None,
        Expression::Call(name, arguments) => match &arguments[..] {
            [x] if name == LOG2 => value(x, of)?.max(1.0).log2(),
            // About the greatest key of coordinates up to these.
            coordinates if name == MORTON => {
                let mut keys = 1.0;
                for coordinate in coordinates {
                    keys *= value(coordinate, of)?.max(0.0) + 1.0;
                }
                keys - 1.0
            }
            _ => return None,
        },
        Expression::Negate(a) => -value(a, of)?,
        Expression::Add(a, b) => value(a, of)? + value(b, of)?,
        Expression::Subtract(a, b) => value(a, of)? - value(b, of)?,
        Expression::Multiply(a, b) => value(a, of)? * value(b, of)?,
        Expression::FloorDivide(a, b) => {
            let by = value(b, of)?;
            (by != 0.0).then_some((value(a, of)? / by).floor())?
        }
        Expression::Modulo(a, b) => {
            let (a, by) = (value(a, of)?, value(b, of)?);
            (by != 0.0).then_some(a - by * (a / by).floor())?
        }
    })
}

/// The sum of formulas as a sum of products.
fn sum(terms: impl IntoIterator<Item = Expression>) -> Expression {
    let add = |a, b| Expression::Add(Box::new(a), Box::new(b));
    let all = terms.into_iter().reduce(add);
    expanded(all.unwrap_or(Expression::Integer(0)))
}

/// The product of formulas as a sum of products.
fn product(a: Expression, b: Expression) -> Expression {
    expanded(Expression::Multiply(Box::new(a), Box::new(b)))
}

/// The difference of formulas as a sum of products.
fn difference(a: Expression, b: Expression) -> Expression {
    expanded(Expression::Subtract(Box::new(a), Box::new(b)))
}

/// A formula as a sum of products, where its factors have 64 bits.
fn expanded(e: Expression) -> Expression {
    e.expanded().unwrap_or(e)
}
