//! What a level stores the coordinates of: an expression over the modes.
//!
//! ```text
//! i                  a mode
//! i floordiv 4       the block of a coordinate; with `i mod 4`, its place in it
//! j - i              the diagonal
//! morton(i, j)       the place along a curve through all modes
//! alto(i, j)         the same, where each mode has the bits that its extent needs
//! #i                 the rank of an entry among those of one `i`, in the order
//!                    of the other levels; `#i < 4` keeps the first four
//! ```
//!
//! An expression has a least and a greatest value, which follow from the
//! extents. A level counts its coordinates from the least, so that they begin
//! at 0 as those of a mode do: in a matrix of 3 rows `j - i` is at least -2, and
//! the main diagonal has coordinate 2.

use sparsec_base::Deal;
use std::collections::BTreeSet;
use std::fmt;

use sparsec_relation::{Comparison, Conjunction, Constraint, Expression};

/// The coordinate that a level stores, as an expression over the modes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// That of a mode, counted from 0.
    Mode(usize),
    /// A number.
    Integer(i64),
    /// `a + b`.
    Sum(Box<Self>, Box<Self>),
    /// `a - b`.
    Difference(Box<Self>, Box<Self>),
    /// `a floordiv n`: the quotient rounded down.
    FloorDivide(Box<Self>, u64),
    /// `a mod n`: the remainder, at least 0.
    Modulo(Box<Self>, u64),
    /// `morton(a, b, …)`: bits dealt in turn, the last argument lowest.
    Morton(Vec<Self>),
    /// `alto(i, j, …)`: bits dealt from the low end, the shortest mode first.
    Alto(Vec<usize>),
    /// `#(i, j)`: how many entries with the same coordinates in these modes come
    /// before this one.
    Rank {
        /// The modes.
        of: Vec<usize>,
        /// Only ranks below this are stored.
        below: Option<u64>,
    },
}

impl From<usize> for Coordinate {
    fn from(mode: usize) -> Self {
        Self::Mode(mode)
    }
}

impl Coordinate {
    /// The mode, where the expression is one and nothing else.
    pub fn mode(&self) -> Option<usize> {
        match self {
            Self::Mode(mode) => Some(*mode),
            _ => None,
        }
    }

    /// Whether the expression depends on the other entries of its tensor.
    pub fn is_rank(&self) -> bool {
        matches!(self, Self::Rank { .. })
    }

    /// Calls `visit` with the modes of the expression, as often as they stand in it.
    pub(crate) fn for_each_mode(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Mode(mode) => visit(*mode),
            Self::Integer(_) => {}
            Self::Sum(a, b) | Self::Difference(a, b) => {
                a.for_each_mode(visit);
                b.for_each_mode(visit);
            }
            Self::FloorDivide(a, _) | Self::Modulo(a, _) => a.for_each_mode(visit),
            Self::Morton(arguments) => arguments.iter().for_each(|a| a.for_each_mode(visit)),
            Self::Alto(modes) | Self::Rank { of: modes, .. } => {
                modes.iter().copied().for_each(visit);
            }
        }
    }

    /// The expression with other modes in place of its own.
    pub(crate) fn with_modes(&self, place: &impl Fn(usize) -> usize) -> Self {
        let boxed = |part: &Self| Box::new(part.with_modes(place));
        let all = |modes: &[usize]| modes.iter().map(|&mode| place(mode)).collect();
        match self {
            Self::Mode(mode) => Self::Mode(place(*mode)),
            Self::Integer(n) => Self::Integer(*n),
            Self::Sum(a, b) => Self::Sum(boxed(a), boxed(b)),
            Self::Difference(a, b) => Self::Difference(boxed(a), boxed(b)),
            Self::FloorDivide(a, by) => Self::FloorDivide(boxed(a), *by),
            Self::Modulo(a, by) => Self::Modulo(boxed(a), *by),
            Self::Morton(arguments) => {
                Self::Morton(arguments.iter().map(|a| a.with_modes(place)).collect())
            }
            Self::Alto(modes) => Self::Alto(all(modes)),
            Self::Rank { of, below } => Self::Rank {
                of: all(of),
                below: *below,
            },
        }
    }

    /// The least and the greatest value for modes of these extents; an empty
    /// mode counts as one of extent 1. `None` where 63 bits do not hold them,
    /// and for ranks, which extents do not bound.
    pub fn bounds(&self, extents: &[u64]) -> Option<(i64, i64)> {
        match self {
            Self::Mode(mode) => {
                let greatest = extents[*mode].saturating_sub(1);
                Some((0, i64::try_from(greatest).ok()?))
            }
            Self::Integer(n) => Some((*n, *n)),
            Self::Sum(a, b) => {
                let (a, b) = (a.bounds(extents)?, b.bounds(extents)?);
                Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
            }
            Self::Difference(a, b) => {
                let (a, b) = (a.bounds(extents)?, b.bounds(extents)?);
                Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))
            }
            Self::FloorDivide(a, by) => {
                let (by, (least, greatest)) = (i64::try_from(*by).ok()?, a.bounds(extents)?);
                Some((least.div_euclid(by), greatest.div_euclid(by)))
            }
            Self::Modulo(_, by) => Some((0, i64::try_from(*by).ok()? - 1)),
            Self::Morton(_) | Self::Alto(_) => Some((0, self.deal(extents)?.greatest()?)),
            Self::Rank { .. } => None,
        }
    }

    /// The value for these coordinates of the modes, which lie in the extents
    /// that `bounds` has been asked for.
    pub(crate) fn value(&self, coords: &[u64]) -> i64 {
        match self {
            Self::Mode(mode) => coords[*mode] as i64,
            Self::Integer(n) => *n,
            Self::Sum(a, b) => a.value(coords) + b.value(coords),
            Self::Difference(a, b) => a.value(coords) - b.value(coords),
            Self::FloorDivide(a, by) => a.value(coords).div_euclid(*by as i64),
            Self::Modulo(a, by) => a.value(coords).rem_euclid(*by as i64),
            Self::Morton(_) | Self::Alto(_) | Self::Rank { .. } => {
                unreachable!("curves and ranks are no parts of expressions")
            }
        }
    }

    /// How `morton` and `alto` deal bits; `None` for other expressions, and
    /// where an argument has no bounds or may be negative.
    pub(crate) fn deal(&self, extents: &[u64]) -> Option<Deal> {
        match self {
            Self::Morton(arguments) => {
                let greatest = arguments.iter().map(|argument| {
                    let (least, greatest) = argument.bounds(extents)?;
                    (least >= 0).then_some(greatest as u64)
                });
                Some(Deal::morton(&greatest.collect::<Option<Vec<u64>>>()?))
            }
            Self::Alto(modes) => {
                let greatest = modes.iter().map(|&mode| extents[mode].saturating_sub(1));
                Some(Deal::alto(&greatest.collect::<Vec<u64>>()))
            }
            _ => None,
        }
    }

    /// The expression as one over the variables `coordinates`, with extents
    /// `N0`, `N1`, …; ranks are variables of their own.
    pub(crate) fn expression(&self, coordinates: &[Expression]) -> Expression {
        let boxed = |part: &Self| Box::new(part.expression(coordinates));
        let number = |n: u64| Box::new(Expression::Integer(n as i64));
        match self {
            Self::Mode(mode) => coordinates[*mode].clone(),
            Self::Integer(n) => Expression::Integer(*n),
            Self::Sum(a, b) => Expression::Add(boxed(a), boxed(b)),
            Self::Difference(a, b) => Expression::Subtract(boxed(a), boxed(b)),
            Self::FloorDivide(a, by) => Expression::FloorDivide(boxed(a), number(*by)),
            Self::Modulo(a, by) => Expression::Modulo(boxed(a), number(*by)),
            Self::Morton(arguments) => {
                let arguments = arguments.iter().map(|a| a.expression(coordinates));
                Expression::Call("MORTON".to_owned(), arguments.collect())
            }
            Self::Alto(modes) => {
                let arguments = modes.iter().flat_map(|&mode| {
                    let extent = Expression::Constant(format!("N{mode}"));
                    [coordinates[mode].clone(), extent]
                });
                Expression::Call("ALTO".to_owned(), arguments.collect())
            }
            Self::Rank { .. } => unreachable!("a rank is a variable of its own"),
        }
    }

    /// How many values there are, where that does not depend on the extents.
    pub(crate) fn extent(&self) -> Option<Expression> {
        match self {
            Self::Modulo(_, by) => Some(Expression::Integer(*by as i64)),
            _ => None,
        }
    }

    /// The assumption that level `K`, of extent `LK`, has room for all values of the expression.
    /// An expression over several modes has a premise: no mode is empty. `None` for curves and
    /// ranks, and for expressions whose extent is a number.
    ///
    /// ```text
    /// i floordiv 4       assume N0 <= L0 * 4
    /// j - i              assume 0 < N0 && 0 < N1 => N0 + N1 - 1 <= L0
    /// ```
    pub(crate) fn extent_holds(&self, level: usize) -> Option<(Conjunction, Constraint)> {
        if !self.is_sum() || self.mode().is_some() || self.extent().is_some() {
            return None;
        }
        let (of, by) = match self {
            Self::FloorDivide(a, by) if a.least().simplified() == Expression::Integer(0) => {
                (&**a, i64::try_from(*by).ok()?)
            }
            other => (other, 1),
        };
        let boxed = Box::new;
        let range = Expression::Subtract(boxed(of.extreme(true)), boxed(of.least()));
        let n_values = Expression::Add(boxed(range), boxed(Expression::Integer(1)));
        let extent = Expression::Constant(format!("L{level}"));
        let room = Expression::Multiply(boxed(extent), boxed(Expression::Integer(by)));
        let holds = Constraint::new(
            n_values.collected(),
            Comparison::LessEqual,
            room.simplified(),
        );
        let mut modes = BTreeSet::new();
        self.for_each_mode(&mut |mode| {
            modes.insert(mode);
        });
        let mut premises = Conjunction::new([""; 0], []);
        for mode in modes.iter().filter(|_| modes.len() > 1) {
            let extent = Expression::Constant(format!("N{mode}"));
            premises.add(Constraint::new(
                Expression::Integer(0),
                Comparison::Less,
                extent,
            ));
        }
        Some((premises, holds))
    }

    /// Whether the expression is made of modes and numbers by sums, quotients and remainders.
    fn is_sum(&self) -> bool {
        match self {
            Self::Mode(_) | Self::Integer(_) => true,
            Self::Sum(a, b) | Self::Difference(a, b) => a.is_sum() && b.is_sum(),
            Self::FloorDivide(a, _) | Self::Modulo(a, _) => a.is_sum(),
            Self::Morton(_) | Self::Alto(_) | Self::Rank { .. } => false,
        }
    }

    /// The least value, as an expression over the extents `N0`, `N1`, ….
    pub(crate) fn least(&self) -> Expression {
        self.extreme(false)
    }

    fn extreme(&self, greatest: bool) -> Expression {
        let boxed = |part: &Self, greatest| Box::new(part.extreme(greatest));
        let integer = |n| Expression::Integer(n);
        match self {
            Self::Mode(mode) if greatest => {
                let extent = Expression::Constant(format!("N{mode}"));
                Expression::Subtract(Box::new(extent), Box::new(integer(1)))
            }
            Self::Modulo(_, by) if greatest => integer(*by as i64 - 1),
            Self::Integer(n) => integer(*n),
            Self::Sum(a, b) => Expression::Add(boxed(a, greatest), boxed(b, greatest)),
            Self::Difference(a, b) => Expression::Subtract(boxed(a, greatest), boxed(b, !greatest)),
            Self::FloorDivide(a, by) => {
                Expression::FloorDivide(boxed(a, greatest), Box::new(integer(*by as i64)))
            }
            _ => integer(0),
        }
    }

    /// The text, with these names of modes.
    pub fn text(&self, modes: &[String]) -> String {
        let named = Named {
            coordinate: self,
            modes,
        };
        named.to_string()
    }
}

struct Named<'a> {
    coordinate: &'a Coordinate,
    modes: &'a [String],
}

impl Named<'_> {
    fn part<'b>(&'b self, coordinate: &'b Coordinate) -> Named<'b> {
        Named {
            coordinate,
            modes: self.modes,
        }
    }

    /// An operand that binds tighter than a sum.
    fn operand(&self, f: &mut fmt::Formatter<'_>, coordinate: &Coordinate) -> fmt::Result {
        let part = self.part(coordinate);
        match coordinate {
            Coordinate::Sum(..) | Coordinate::Difference(..) => write!(f, "({part})"),
            Coordinate::Integer(n) if *n < 0 => write!(f, "({part})"),
            _ => write!(f, "{part}"),
        }
    }

    fn mode(&self, mode: usize) -> String {
        match self.modes.get(mode) {
            Some(name) => name.clone(),
            // Of a format that is refused.
            None => mode.to_string(),
        }
    }

    fn list(&self, modes: &[usize]) -> String {
        let names: Vec<String> = modes.iter().map(|&mode| self.mode(mode)).collect();
        names.join(", ")
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.coordinate {
            Coordinate::Mode(mode) => f.write_str(&self.mode(*mode)),
            Coordinate::Integer(n) => write!(f, "{n}"),
            Coordinate::Sum(a, b) => {
                write!(f, "{} + ", self.part(a))?;
                self.operand(f, b)
            }
            Coordinate::Difference(a, b) => {
                write!(f, "{} - ", self.part(a))?;
                self.operand(f, b)
            }
            Coordinate::FloorDivide(a, by) => {
                self.operand(f, a)?;
                write!(f, " floordiv {by}")
            }
            Coordinate::Modulo(a, by) => {
                self.operand(f, a)?;
                write!(f, " mod {by}")
            }
            Coordinate::Morton(arguments) => {
                let texts: Vec<String> =
                    arguments.iter().map(|a| self.part(a).to_string()).collect();
                write!(f, "morton({})", texts.join(", "))
            }
            Coordinate::Alto(modes) => write!(f, "alto({})", self.list(modes)),
            Coordinate::Rank { of, below } => {
                match of[..] {
                    [mode] => write!(f, "#{}", self.mode(mode))?,
                    _ => write!(f, "#({})", self.list(of))?,
                }
                below.map_or(Ok(()), |below| write!(f, " < {below}"))
            }
        }
    }
}
