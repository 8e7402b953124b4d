//! What is said of loops behind a statement: where their variables come from,
//! and how they are to run.
//!
//! ```text
//! forall i0: forall i1: y(i) = 2 * x(i) suchthat(split(i, i0, i1, 32))
//!
//! split(i, i0, i1, 32)      i = 32 * i0 + i1, 0 <= i1 < 32
//! divide(i, i0, i1, 4)      i = n * i0 + i1, 0 <= i0 < 4, n the least that covers i
//! fuse(i, j, f)             i = f // extent of j, j = f % extent of j
//! skew(j, d, j - i + 2)     j = i + d - 2
//! deal(m, morton(i, j))     i and j are the even and the odd bits of m
//! pos(j, p, A(i,j))         j = the coordinate at position p of A(i,:)
//! bound(i, ib, 64, MaxExact)  i = ib, and the extent of i is 64
//! unroll(i, 4)  parallelize(i, CPUThread, NoRaces)  mergeby(i, Gallop)
//! prefetch(j, B, 4)         B is fetched for the turn of j after the next three
//! assemble(A, Insert)       how the result is put together
//! ```
//!
//! The first seven **derive**: accesses keep naming `i`, loops go over `i0` and
//! `i1`, and `i` is bound where both are. A variable is derived from by one
//! clause at most, and later clauses derive from variables that earlier ones
//! made. The words are those of schedules, so a clause reads as the command
//! that made it.
//!
//! Source: Senanayake et al., "A Sparse Iteration Space Transformation
//! Framework for Sparse Tensor Algebra", OOPSLA 2020, §4 (provenance graphs),
//! <https://doi.org/10.1145/3428226>.

use std::fmt;

use sparsec_base::mark::{Races, Unit};
use sparsec_base::{Code, Diagnostic, Source, Span};

use super::words::{AssembleStrategy, BoundKind, MergeStrategy};
use crate::curve::Curve;
use crate::program::{IndexVar, TensorVar};

/// One clause; `V` and `T` are how variables and tensors are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause<V = IndexVar, T = TensorVar> {
    /// `split(var, outer, inner, size)`: blocks of `size` coordinates.
    Split {
        /// The variable derived from.
        var: V,
        /// Which block.
        outer: V,
        /// Where in the block.
        inner: V,
        /// Coordinates of a block; at least one.
        size: u64,
    },
    /// `divide(var, outer, inner, parts)`: `parts` blocks of equal size.
    Divide {
        /// The variable derived from.
        var: V,
        /// Which block.
        outer: V,
        /// Where in the block.
        inner: V,
        /// How many blocks; at least one.
        parts: u64,
    },
    /// `fuse(outer, inner, fused)`: two loops as one.
    Fuse {
        /// The variable of the outer loop, derived from.
        outer: V,
        /// The variable of the inner loop, derived from.
        inner: V,
        /// The variable of the one loop.
        fused: V,
    },
    /// `pos(var, pos, tensor(indices))`: positions instead of coordinates.
    Pos {
        /// The variable derived from.
        var: V,
        /// The position, counted from the first of the segment.
        pos: V,
        /// The tensor whose positions they are.
        tensor: T,
        /// The indices of its access; none for the only one that there is.
        indices: Vec<V>,
    },
    /// `bound(var, bound, extent, kind)`: what is known of an extent.
    Bound {
        /// The variable derived from.
        var: V,
        /// The variable of the same coordinates.
        bound: V,
        /// The bound.
        value: u64,
        /// Which kind of bound.
        kind: BoundKind,
    },
    /// `skew(var, made, ±var + factor * along + offset)`: the values of a sum.
    Skew {
        /// The variable derived from.
        var: V,
        /// The sum.
        made: V,
        /// The other variable of it, over which there is a loop too.
        along: V,
        /// The numbers of the sum.
        by: Skew,
    },
    /// `deal(made, curve(vars))`: places on a curve.
    Deal {
        /// The variables derived from, as the curve has them.
        vars: Vec<V>,
        /// The place.
        made: V,
        /// In which order it has their bits.
        curve: Curve,
    },
    /// `unroll(var, factor)`
    Unroll {
        /// The variable of the loop.
        var: V,
        /// How often to write the body.
        factor: u32,
    },
    /// `parallelize(var, unit, races)`
    Parallelize {
        /// The variable of the loop.
        var: V,
        /// What iterations run on.
        unit: Unit,
        /// What keeps them apart.
        races: Races,
    },
    /// `mergeby(var, strategy)`
    MergeBy {
        /// The variable of the loop.
        var: V,
        /// How operands are merged in it.
        strategy: MergeStrategy,
    },
    /// `prefetch(var, tensor, ahead)`: what later turns of a loop read is fetched early.
    Prefetch {
        /// The variable of the loop.
        var: V,
        /// What is read.
        tensor: T,
        /// How many turns early; at least one.
        ahead: u32,
    },
    /// `assemble(tensor, strategy)`
    Assemble {
        /// The result.
        tensor: T,
        /// How it is put together.
        strategy: AssembleStrategy,
        /// Whether its index arrays may be computed apart, where that is said.
        separate: Option<bool>,
    },
}

/// The numbers of a sum `±var + factor * along + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// Whether the variable is subtracted.
    pub is_negative: bool,
    /// By what the other variable is multiplied; not 0.
    pub factor: i64,
    /// What is added.
    pub offset: i64,
}

impl Skew {
    /// By what the variable is multiplied: 1 or -1.
    pub const fn sign(&self) -> i64 {
        if self.is_negative { -1 } else { 1 }
    }

    /// The least value, for variables of these extents; `None` where it depends
    /// on one that is not known.
    pub fn least(&self, var: Option<u64>, along: Option<u64>) -> Option<i64> {
        let part = |factor: i64, extent: Option<u64>| match factor < 0 {
            true => factor.checked_mul(i64::try_from(extent?.saturating_sub(1)).ok()?),
            false => Some(0),
        };
        let parts = part(self.sign(), var)?.checked_add(part(self.factor, along)?)?;
        parts.checked_add(self.offset)
    }
}

/// A clause of a statement, and where it was said: in a schedule, or behind the
/// statement.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The clause.
    pub clause: Clause,
    /// The text.
    pub source: Source,
    /// The place.
    pub span: Span,
}

impl Placed {
    /// A diagnostic about the clause.
    pub fn error(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(&self.source, self.span, "asked for here")
    }
}

impl<V, T> Clause<V, T> {
    /// The variables that the clause derives from, and those that it makes.
    pub fn derives(&self) -> Option<(Vec<&V>, Vec<&V>)> {
        match self {
            Self::Split {
                var, outer, inner, ..
            }
            | Self::Divide {
                var, outer, inner, ..
            } => Some((vec![var], vec![outer, inner])),
            Self::Fuse {
                outer,
                inner,
                fused,
            } => Some((vec![outer, inner], vec![fused])),
            Self::Pos { var, pos, .. } => Some((vec![var], vec![pos])),
            Self::Bound { var, bound, .. } => Some((vec![var], vec![bound])),
            Self::Skew { var, made, .. } => Some((vec![var], vec![made])),
            Self::Deal { vars, made, .. } => Some((vars.iter().collect(), vec![made])),
            Self::Unroll { .. }
            | Self::Parallelize { .. }
            | Self::MergeBy { .. }
            | Self::Prefetch { .. }
            | Self::Assemble { .. } => None,
        }
    }

    /// Whether the clause is about this variable, beside others or alone.
    pub fn names(&self, var: &V) -> bool
    where
        V: PartialEq,
    {
        let is_marked = match self {
            Self::Unroll { var: marked, .. }
            | Self::Parallelize { var: marked, .. }
            | Self::MergeBy { var: marked, .. }
            | Self::Prefetch { var: marked, .. } => marked == var,
            _ => false,
        };
        let (from, made) = self.derives().unwrap_or_default();
        let derived = [from, made, self.computed_from()].concat();
        is_marked || derived.contains(&var)
    }

    /// The variables that those derived from are computed from: those that the
    /// clause makes, and the other one of a sum.
    pub fn computed_from(&self) -> Vec<&V> {
        let mut vars = self.derives().map_or(Vec::new(), |(_, made)| made);
        if let Self::Skew { along, .. } = self {
            vars.push(along);
        }
        vars
    }

    /// The clause with other names.
    ///
    /// # Errors
    /// Those of the two functions.
    pub fn try_map<W, U, E>(
        &self,
        v: &mut dyn FnMut(&V) -> Result<W, E>,
        t: &mut dyn FnMut(&T) -> Result<U, E>,
    ) -> Result<Clause<W, U>, E> {
        Ok(match self {
            Self::Split {
                var,
                outer,
                inner,
                size,
            } => Clause::Split {
                var: v(var)?,
                outer: v(outer)?,
                inner: v(inner)?,
                size: *size,
            },
            Self::Divide {
                var,
                outer,
                inner,
                parts,
            } => Clause::Divide {
                var: v(var)?,
                outer: v(outer)?,
                inner: v(inner)?,
                parts: *parts,
            },
            Self::Fuse {
                outer,
                inner,
                fused,
            } => Clause::Fuse {
                outer: v(outer)?,
                inner: v(inner)?,
                fused: v(fused)?,
            },
            Self::Pos {
                var,
                pos,
                tensor,
                indices,
            } => Clause::Pos {
                var: v(var)?,
                pos: v(pos)?,
                tensor: t(tensor)?,
                indices: indices.iter().map(v).collect::<Result<_, E>>()?,
            },
            Self::Bound {
                var,
                bound,
                value,
                kind,
            } => Clause::Bound {
                var: v(var)?,
                bound: v(bound)?,
                value: *value,
                kind: *kind,
            },
            Self::Skew {
                var,
                made,
                along,
                by,
            } => Clause::Skew {
                var: v(var)?,
                made: v(made)?,
                along: v(along)?,
                by: *by,
            },
            Self::Deal { vars, made, curve } => Clause::Deal {
                vars: vars.iter().map(&mut *v).collect::<Result<_, E>>()?,
                made: v(made)?,
                curve: curve.clone(),
            },
            Self::Unroll { var, factor } => Clause::Unroll {
                var: v(var)?,
                factor: *factor,
            },
            Self::Parallelize { var, unit, races } => Clause::Parallelize {
                var: v(var)?,
                unit: *unit,
                races: *races,
            },
            Self::MergeBy { var, strategy } => Clause::MergeBy {
                var: v(var)?,
                strategy: *strategy,
            },
            Self::Prefetch { var, tensor, ahead } => Clause::Prefetch {
                var: v(var)?,
                tensor: t(tensor)?,
                ahead: *ahead,
            },
            Self::Assemble {
                tensor,
                strategy,
                separate,
            } => Clause::Assemble {
                tensor: t(tensor)?,
                strategy: *strategy,
                separate: *separate,
            },
        })
    }
}

/// As a schedule has it.
impl<V: fmt::Display, T: fmt::Display> fmt::Display for Clause<V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Split {
                var,
                outer,
                inner,
                size,
            } => write!(f, "split({var}, {outer}, {inner}, {size})"),
            Self::Divide {
                var,
                outer,
                inner,
                parts,
            } => write!(f, "divide({var}, {outer}, {inner}, {parts})"),
            Self::Fuse {
                outer,
                inner,
                fused,
            } => write!(f, "fuse({outer}, {inner}, {fused})"),
            Self::Pos {
                var,
                pos,
                tensor,
                indices,
            } => {
                let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
                match indices.is_empty() {
                    true => write!(f, "pos({var}, {pos}, {tensor})"),
                    false => write!(f, "pos({var}, {pos}, {tensor}({}))", indices.join(",")),
                }
            }
            Self::Bound {
                var,
                bound,
                value,
                kind,
            } => write!(f, "bound({var}, {bound}, {value}, {})", kind.name()),
            Self::Skew {
                var,
                made,
                along,
                by,
            } => {
                let sign = if by.is_negative { "-" } else { "" };
                let and = |n: i64| if n < 0 { "-" } else { "+" };
                write!(f, "skew({var}, {made}, {sign}{var} {} ", and(by.factor))?;
                if by.factor.abs() != 1 {
                    write!(f, "{} * ", by.factor.unsigned_abs())?;
                }
                write!(f, "{along}")?;
                if by.offset != 0 {
                    write!(f, " {} {}", and(by.offset), by.offset.unsigned_abs())?;
                }
                f.write_str(")")
            }
            Self::Deal { vars, made, curve } => {
                write!(f, "deal({made}, ")?;
                curve.write(f, vars.len(), &mut |f, number| {
                    write!(f, "{}", vars[number])
                })?;
                f.write_str(")")
            }
            Self::Unroll { var, factor } => write!(f, "unroll({var}, {factor})"),
            Self::Parallelize { var, unit, races } => {
                write!(f, "parallelize({var}, {}, {})", unit.name(), races.name())
            }
            Self::MergeBy { var, strategy } => write!(f, "mergeby({var}, {})", strategy.name()),
            Self::Prefetch { var, tensor, ahead } => {
                write!(f, "prefetch({var}, {tensor}, {ahead})")
            }
            Self::Assemble {
                tensor,
                strategy,
                separate,
            } => {
                write!(f, "assemble({tensor}, {}", strategy.name())?;
                match separate {
                    Some(separate) => write!(f, ", {separate})"),
                    None => f.write_str(")"),
                }
            }
        }
    }
}
