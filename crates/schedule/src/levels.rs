//! `levels`: accesses of a tensor name the coordinates of its levels.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   levels(A, bsr(4, 4))
//!
//! forall i: forall j: y(i) += A_levels(i // 4, j // 4, i % 4, j % 4) * x(j)
//! ```
//!
//! `A_levels` is what the arrays of `A` hold, seen as a tensor of plain levels
//! ([`Format::level_space`]): nothing is copied. Loops that walk it come by
//! splitting those over `i` and `j`.
//!
//! A result is computed in the same way into the arrays that it is made of.
//!
//! A rank of entries, as in `ell`, does not follow from coordinates: the tensor is the
//! sum over all ranks, which have an entry at most one of.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   levels(A, ell)
//!
//! forall rank: forall i: forall j: y(i) += A_levels(rank,i,j) * x(j)
//! ```

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Coordinate, Format, FormatSpec};
use sparsec_index::{
    Access, Concrete, Curve, Expr, IndexExpr, IndexVar, IndexVarData, LevelsOf, Stmt, TensorData,
    TensorRole, TensorVar,
};

use super::Name;
use super::additive::{Replaced, Summand, summed};
use super::apply::unknown;

pub(super) fn apply(concrete: &Concrete, name: &Name, format: &FormatSpec) -> Result<Concrete> {
    let named = concrete.tensor(&name.word.text);
    let seen = named.filter(|tensor| concrete.tensors[*tensor].role != TensorRole::Workspace);
    let Some(tensor) = seen else {
        let known = concrete.tensors.iter().map(|(_, data)| data.name.as_str());
        return Err(unknown("tensor", name, known));
    };
    let data = &concrete.tensors[tensor];
    let format = format.resolve(data.order())?;
    let view = Seen {
        of: tensor,
        name,
        format: &format,
        extents: &data.extents,
        concrete,
    };
    if format.is_plain() {
        let error = view.refuse("store the coordinates of its modes");
        return Err(error.help("leave the command out: accesses name these coordinates already"));
    }
    if format.level_space().is_none() {
        return Err(view.refuse("store parts, triangles or a curve"));
    }
    let mut seen = concrete.clone();
    let levels = seen.tensors.push(TensorData {
        name: concrete.fresh_name(&format!("{}_levels", data.name)),
        extents: format.level_extents(&data.extents),
        levels_of: Some(LevelsOf {
            tensor,
            modes: modes(concrete, tensor),
        }),
        ..data.clone()
    });
    if format.has_ranks() {
        return view.summed(&seen, levels);
    }
    let mut failed = None;
    let mut of_levels = |access: &Access| {
        if access.tensor != tensor {
            return None;
        }
        let indices = view.indices(access, &[]);
        let indices = indices.map_err(|error| failed = Some(error)).ok()?;
        Some(Access {
            tensor: levels,
            indices,
            span: access.span,
        })
    };
    seen.stmt = concrete.stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Assign { lhs, reduce, rhs } => Some(Stmt::Assign {
            lhs: of_levels(lhs).unwrap_or_else(|| lhs.clone()),
            reduce: reduce.clone(),
            rhs: rhs.map_accesses(&mut |access| of_levels(access).map(Expr::Access)),
        }),
        _ => None,
    });
    if tensor == concrete.result {
        seen.result = levels;
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(seen),
    }
}

/// The variables that are coordinates of a tensor by themselves in all of its accesses.
fn modes(concrete: &Concrete, tensor: TensorVar) -> Vec<IndexVar> {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        let mut look = |access: &Access| {
            if access.tensor == tensor {
                for index in &access.indices {
                    match index.as_var() {
                        Some(var) => alone.push(var),
                        None => beside.extend(index.vars()),
                    }
                }
            }
        };
        look(lhs);
        rhs.for_each_access(&mut look);
    });
    // In `A(j,i) + A(i,j + l)` entries of the second say nothing of `j`.
    alone.retain(|var| !beside.contains(var));
    alone
}

/// A tensor on its way to being seen by its levels.
struct Seen<'a> {
    of: TensorVar,
    name: &'a Name,
    format: &'a Format,
    extents: &'a [Option<u64>],
    concrete: &'a Concrete,
}

impl Seen<'_> {
    /// The statement with each use of the tensor as the sum over the ranks of entries
    /// of what `levels` holds, which has each entry once.
    fn summed(&self, seen: &Concrete, levels: TensorVar) -> Result<Concrete> {
        if self.of == seen.result {
            return Err(self.refuse("count entries, and results have none yet"));
        }
        let mut failed = None;
        let mut of_ranks = |concrete: &mut Concrete, access: &Access| {
            let counted = self.format.levels().iter();
            let ranks = counted.filter_map(|level| match level.coordinate {
                Coordinate::Rank { below, .. } => Some(below),
                _ => None,
            });
            let vars = ranks.map(|extent| {
                let name = concrete.fresh_name("rank");
                concrete.vars.push(IndexVarData { name, extent })
            });
            let loops: Vec<IndexVar> = vars.collect();
            let indices = self.indices(access, &loops).unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            });
            let expr = Expr::Access(Access {
                tensor: levels,
                indices,
                span: access.span,
            });
            vec![Summand {
                loops,
                ..expr.into()
            }]
        };
        let replaced = summed(
            seen,
            &mut Replaced {
                tensor: self.of,
                repeats: !self.format.is_unique(),
                summands: &mut of_ranks,
            },
        );
        let replaced = replaced.map_err(|fault| {
            let message = format!("`{}` is used where no sum can be", self.name);
            Diagnostic::new(code::NOT_ADDITIVE, message)
                .at(&seen.source, fault.span, fault.why)
                .note(format!("the statement is\n{seen}"))
                .help(format!("convert it instead: `convert({}, csf)`", self.name))
        });
        match failed {
            Some(error) => Err(error),
            None => replaced,
        }
    }

    /// The coordinates of the levels, where the modes have those of `access` and
    /// entries have these ranks.
    fn indices(&self, access: &Access, ranks: &[IndexVar]) -> Result<Vec<IndexExpr>> {
        let mut ranks = ranks.iter();
        let extents = self.format.level_extents(self.extents);
        let levels = self.format.levels().iter().zip(extents);
        let indices = levels.map(|(level, extent)| {
            let coordinate = &level.coordinate;
            if coordinate.is_rank() {
                let rank = ranks.next().expect("each rank has a variable");
                return Ok((*rank).into());
            }
            let least = coordinate.least_known(self.extents);
            let Some(least) = least else {
                return Err(self.refuse("depend on extents that are not known"));
            };
            if let Coordinate::Alto(modes) = coordinate
                && modes.iter().any(|mode| self.extents[*mode].is_none())
            {
                return Err(self.refuse("depend on extents that are not known"));
            }
            let index = index_of(coordinate, &access.indices, self.extents);
            let index = index.and_then(|index| index.minus(&IndexExpr::constant(least)));
            let index =
                index.ok_or_else(|| self.refuse("store sums of numbers that leave 64 bits"))?;
            // A variable alone runs as far as the mode it stands at; here, it may not.
            Ok(match index.as_var() {
                Some(var)
                    if !matches!(coordinate, Coordinate::Mode(_))
                        && (extent.is_none() || extent != self.concrete.extent(var)) =>
                {
                    index.apart()
                }
                _ => index,
            })
        });
        indices.collect()
    }

    fn refuse(&self, why: &str) -> Diagnostic {
        let name = self.name;
        Diagnostic::new(
            code::NO_LEVEL_COORDINATES,
            format!("the levels of `{name}` {why}"),
        )
        .at(&name.source, name.word.span, "seen by its levels here")
        .note(format!("the format is `{}`", self.format))
        .help(format!("convert it: `convert({name}, csf)`"))
    }
}

/// What a level stores where the modes have these coordinates, for extents that are
/// known where it has their bits; `None` for ranks, and where a number leaves 64 bits.
fn index_of(
    coordinate: &Coordinate,
    modes: &[IndexExpr],
    extents: &[Option<u64>],
) -> Option<IndexExpr> {
    let unknown = |_| None;
    let of = |part: &Coordinate| index_of(part, modes, extents);
    match coordinate {
        Coordinate::Mode(mode) => Some(modes[*mode].clone()),
        Coordinate::Integer(n) => Some(IndexExpr::constant(*n)),
        Coordinate::Sum(a, b) => of(a)?.plus(&of(b)?),
        Coordinate::Difference(a, b) => of(a)?.minus(&of(b)?),
        Coordinate::FloorDivide(a, by) => {
            let by = i64::try_from(*by).ok().filter(|by| *by > 0)?;
            Some(of(a)?.floor_div(by, &unknown))
        }
        Coordinate::Modulo(a, by) => {
            let by = i64::try_from(*by).ok().filter(|by| *by > 0)?;
            Some(of(a)?.modulo(by, &unknown))
        }
        Coordinate::Morton(arguments) => {
            let arguments: Option<Vec<IndexExpr>> = arguments.iter().map(of).collect();
            Some(IndexExpr::place(Curve::Morton, arguments?))
        }
        Coordinate::Alto(named) => {
            let extents: Option<Vec<u64>> = named.iter().map(|mode| extents[*mode]).collect();
            let coordinates = named.iter().map(|mode| modes[*mode].clone());
            Some(IndexExpr::place(
                Curve::Alto(extents?),
                coordinates.collect(),
            ))
        }
        Coordinate::Rank { .. } => None,
    }
}
