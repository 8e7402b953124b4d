//! Two loops along one array, or more, as one long loop.
//!
//! The columns of a dense product may be those of several modes. If the last mode is short, its
//! columns fill few [tiles](super::tile()), and what is left of them takes as long as a whole tile:
//! 75 columns are three tiles of 24 and a rest of 3. The modes lie one behind the other in memory,
//! so one loop goes along all of them:
//!
//! ```text
//! for j in 0..J {                             let n_flat: bool = C.n2 == B.n2 and B.n1 <= C.n1
//!   for m in 0..M {                           let j_left: i64 = select(n_flat, min(B.n1, 1), B.n1)
//!     for l in 0..L {                         let n_all: i64 = select(n_flat, B.n1 * B.n2, B.n2)
//!       for n in 0..N {                 ──►   for j in 0..j_left { for m … { for l … {
//!         C[(m * C.n1 + j) * C.n2 + n]          for n in 0..n_all { C[…] += A[…] * B[…] }
//!           += A[m * L + l]                   } } }
//!            * B[(l * B.n1 + j) * B.n2 + n]
//! } } } }
//! ```
//!
//! Bounds alone change. Where `j` is 0 and `n` goes on behind its row, `… + j) * N + n` is the place
//! of the next `j`. The test holds whenever arrays agree about the extents of their modes; for
//! others the loops are the ones that they were.
//!
//! | of the loops                         | has to hold                                    |
//! |--------------------------------------|------------------------------------------------|
//! | all that names `j` or `n`            | is a place `(… + j) * N + n`                   |
//! | an array that they store to          | is stored to by one statement, and not loaded  |
//! | where that statement stores          | says which row, `x * J + j`, or is the same in all loops between |
//! | everything else                      | computes the same for each `j`, and cannot fail |
//!
//! Each entry still takes the same values in the same order: which iterations of the loops between
//! come to it does not depend on `j`.
//!
//! Source: loop collapsing; Padua and Wolfe, "Advanced Compiler Optimizations for Supercomputers",
//! CACM 1986, <https://doi.org/10.1145/7902.7904>. There the loops are directly inside one another.

use std::collections::{BTreeSet, HashMap, HashSet};

use sparsec_base::ElementType;

use super::tile;
use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;

/// The loops that [`collapse`] would make longer for extents that are likely: the outermost
/// variable of each group.
pub fn collapsible(function: &Function, extent: &dyn Fn(Var) -> Option<u64>) -> Vec<Var> {
    let mut found = Vec::new();
    find(function, &function.body, extent, &mut |group| {
        found.push(group.vars[0]);
    });
    found
}

/// Has one loop go along several modes where that fills tiles better, by how far extents are
/// likely to go.
pub fn collapse(function: &mut Function, extent: &dyn Fn(Var) -> Option<u64>) {
    let mut groups = Vec::new();
    find(function, &function.body, extent, &mut |group| {
        groups.push(group);
    });
    if groups.is_empty() {
        return;
    }
    let mut bounds = Block::new();
    let mut longer: HashMap<Var, Var> = HashMap::new();
    for group in groups {
        group.declare(function, &mut bounds, &mut longer);
    }
    let mut body = std::mem::take(&mut function.body);
    crate::walk::for_each_block_mut(&mut body, &mut |block| {
        for stmt in block {
            if let Stmt::For { var, hi, .. } = stmt
                && let Some(bound) = longer.get(var)
            {
                *hi = (*bound).into();
            }
        }
    });
    body.splice(0..0, bounds);
    function.body = body;
    super::check_after("collapse", function);
}

/// The extents of the modes that a collapsed loop goes along, the last first, from its bound:
/// `select(n_flat, B.n1 * B.n2, B.n2)`.
pub(super) fn modes_of(function: &Function, bound: Var) -> Option<Vec<Var>> {
    let bounds = function.body.iter().map_while(|stmt| match stmt {
        Stmt::Declare { var, value } => Some((*var, value)),
        _ => None,
    });
    let (_, value) = bounds.into_iter().find(|(var, _)| *var == bound)?;
    let Expr::Select {
        then, otherwise, ..
    } = value
    else {
        return None;
    };
    let mut modes = Vec::new();
    let mut left = &**then;
    while let Expr::Binary(BinaryOp::Mul, first, mode) = left {
        modes.push(extent_of(function, mode)?);
        left = first;
    }
    modes.push(extent_of(function, left)?);
    let is_bound = modes.len() > 1 && **otherwise == Expr::Var(modes[0]);
    is_bound.then_some(modes)
}

/// How many statements at the beginning of a function declare bounds of collapsed loops.
pub(super) fn n_bounds(function: &Function) -> usize {
    let declared = function.body.iter().map_while(|stmt| match stmt {
        Stmt::Declare { var, .. } => Some(*var),
        _ => None,
    });
    let declared: Vec<Var> = declared.collect();
    let last = declared
        .iter()
        .rposition(|var| modes_of(function, *var).is_some());
    last.map_or(0, |last| last + 1)
}

fn extent_of(function: &Function, expr: &Expr) -> Option<Var> {
    match expr {
        Expr::Var(var) if function.is_extent(expr) => Some(*var),
        _ => None,
    }
}

/// Calls `visit` with each group of loops that is worth collapsing, from the outside.
fn find(
    function: &Function,
    block: &Block,
    extent: &dyn Fn(Var) -> Option<u64>,
    visit: &mut dyn FnMut(Group),
) {
    for stmt in block {
        if matches!(stmt, Stmt::For { mark, .. } if mark.parallel.is_some()) {
            continue;
        }
        match Group::of(function, stmt).filter(|group| group.is_worth_it(function, stmt, extent)) {
            Some(group) => visit(group),
            None => {
                for inner in stmt.blocks() {
                    find(function, inner, extent, visit);
                }
            }
        }
    }
}

/// Loops over modes that lie one behind the other.
struct Group {
    /// Their variables, the outermost first.
    vars: Vec<Var>,
    /// Their bounds.
    extents: Vec<Var>,
    /// Pairs of extents that are equal if one loop may go along all modes.
    equal: BTreeSet<(Var, Var)>,
    /// Pairs of which the first is not larger than the second.
    within: BTreeSet<(Var, Var)>,
}

impl Group {
    /// The group of loops that begins with this one.
    fn of(function: &Function, stmt: &Stmt) -> Option<Self> {
        let mut nest = Nest {
            function,
            loops: Vec::new(),
            declared: HashSet::new(),
            around: Vec::new(),
            innermost: &[],
        };
        nest.walk(stmt)?;
        let (first, _) = *nest.loops.first()?;
        let stores = nest.stores()?;
        let place = Place::of(stores.first()?.1, first)?;
        let vars = place.vars;
        let extents = vars.iter().map(|var| {
            let known = nest.loops.iter().find(|(known, _)| known == var);
            known.and_then(|(_, extent)| *extent)
        });
        let mut group = Self {
            extents: extents.collect::<Option<_>>()?,
            vars,
            equal: BTreeSet::new(),
            within: BTreeSet::new(),
        };
        let last = nest.loops.last()?.0;
        if group.vars.len() < 2 || *group.vars.last()? != last {
            return None;
        }
        group.takes_in(&nest, &stores)?;
        Some(group)
    }

    /// Notes on which extents all that names the loops depends; `None` if it may not be reached by
    /// one long loop.
    fn takes_in(&mut self, nest: &Nest<'_>, stores: &[(Buffer, &Expr)]) -> Option<()> {
        for expr in &nest.around {
            self.is_free(expr).then_some(())?;
        }
        for stmt in nest.innermost {
            let mut is_reached = true;
            stmt.for_each_expr(&mut |expr| is_reached &= self.reaches(nest.function, expr));
            is_reached.then_some(())?;
        }
        for (_, index) in stores {
            let place = Place::of(index, self.vars[0])?;
            (place.vars == self.vars).then_some(())?;
            let Some(before) = place.before else {
                continue;
            };
            let varies = before.any(&mut |part| match part {
                Expr::Load { .. } => true,
                Expr::Var(var) => nest.declared.contains(var),
                _ => false,
            });
            if varies {
                let Expr::Binary(BinaryOp::Mul, _, n) = before else {
                    return None;
                };
                let n = extent_of(nest.function, n)?;
                self.within.insert((self.extents[0], n));
            }
        }
        self.within.retain(|(least, most)| least != most);
        Some(())
    }

    fn is_free(&self, expr: &Expr) -> bool {
        !expr.any(&mut |part| matches!(part, Expr::Var(var) if self.vars.contains(var)))
    }

    /// Whether an expression names the loops at places of the group alone, whose strides it notes.
    fn reaches(&mut self, function: &Function, expr: &Expr) -> bool {
        if let Some(place) = Place::of(expr, self.vars[0])
            && place.vars == self.vars
            && place
                .strides
                .iter()
                .all(|it| function.is_extent(&Expr::Var(*it)))
        {
            let pairs = std::iter::zip(&place.strides, &self.extents[1..]);
            let unequal = pairs.filter(|(stride, extent)| stride != extent);
            self.equal.extend(unequal.map(|(a, b)| (*a, *b)));
            return place.before.is_none_or(|before| self.is_free(before));
        }
        if !self.is_free(expr) && matches!(expr, Expr::Var(_)) {
            return false;
        }
        let mut reaches = true;
        expr.for_each_operand(&mut |operand| reaches = reaches && self.reaches(function, operand));
        reaches
    }

    /// Whether tiles of several rows would have a rest of columns for each of the outer loops.
    fn is_worth_it(
        &self,
        function: &Function,
        stmt: &Stmt,
        extent: &dyn Fn(Var) -> Option<u64>,
    ) -> bool {
        let extents: Option<Vec<u64>> = self.extents.iter().map(|it| extent(*it)).collect();
        let Some(extents) = extents else {
            return false;
        };
        let all = extents
            .iter()
            .try_fold(1u64, |all, it| all.checked_mul(*it));
        let is_several = extents.iter().rev().skip(1).any(|it| *it > 1);
        let mut is_worth_it = false;
        stmt.for_each(&mut |inner| {
            is_worth_it |= all.is_some_and(|all| {
                let last = self.vars[self.vars.len() - 1];
                tile::is_filled_better(function, inner, (last, all), extent)
            });
        });
        is_several && is_worth_it
    }

    /// Declares the bounds of the loops, and notes which loop has which.
    fn declare(&self, function: &mut Function, bounds: &mut Block, longer: &mut HashMap<Var, Var>) {
        let name = |function: &Function, var: Var| function.vars[var].name.clone();
        let (Some((last, outer)), Some(n)) = (self.vars.split_last(), self.extents.last()) else {
            unreachable!("a group has two loops or more");
        };
        let equal = self.equal.iter().map(|(a, b)| Expr::Var(*a).equals(*b));
        let within = self.within.iter();
        let within = within.map(|(a, b)| Expr::Var(*a).binary(BinaryOp::Le, *b));
        let test = equal.chain(within).reduce(Expr::and);
        let test = test.unwrap_or(Expr::Const(sparsec_base::Scalar::Bool(true)));
        let flat = format!("{}_flat", name(function, *last));
        let flat = function.fresh_var(&flat, ElementType::Bool, false);
        bounds.push(Stmt::Declare {
            var: flat,
            value: test,
        });
        let mut bound =
            |function: &mut Function, var: Var, name: String, [then, otherwise]: [Expr; 2]| {
                let bound = function.fresh_var(&name, ElementType::I64, false);
                bounds.push(Stmt::Declare {
                    var: bound,
                    value: Expr::Select {
                        condition: Box::new(flat.into()),
                        then: Box::new(then),
                        otherwise: Box::new(otherwise),
                    },
                });
                longer.insert(var, bound);
            };
        for (var, extent) in std::iter::zip(outer, &self.extents) {
            let left = format!("{}_left", name(function, *var));
            let once = Expr::Var(*extent).binary(BinaryOp::Min, 1);
            bound(function, *var, left, [once, (*extent).into()]);
        }
        let extents = self.extents.iter().map(|it| Expr::Var(*it));
        let all = extents.reduce(Expr::mul).expect("there are several");
        let name = format!("{}_all", name(function, *last));
        bound(function, *last, name, [all, (*n).into()]);
    }
}

/// The place `(… + j) * N + n` along the modes of `j` and `n`, or of more.
struct Place<'e> {
    /// The loops, the outermost first.
    vars: Vec<Var>,
    /// The number of places in each mode but the first: `N`.
    strides: Vec<Var>,
    /// The term that the first loop's variable is added to: `…`.
    before: Option<&'e Expr>,
}

impl<'e> Place<'e> {
    /// The place that an expression is, if the outermost mode is that of `first`.
    fn of(expr: &'e Expr, first: Var) -> Option<Self> {
        let (mut vars, mut strides) = (Vec::new(), Vec::new());
        let mut left = expr;
        loop {
            let (before, var) = match left {
                Expr::Var(var) => (None, *var),
                Expr::Binary(BinaryOp::Add, before, last) => match **last {
                    Expr::Var(var) => (Some(&**before), var),
                    _ => return None,
                },
                _ => return None,
            };
            vars.insert(0, var);
            if var == first {
                return Some(Self {
                    vars,
                    strides,
                    before,
                });
            }
            let Some(Expr::Binary(BinaryOp::Mul, row, stride)) = before else {
                return None;
            };
            let Expr::Var(stride) = **stride else {
                return None;
            };
            strides.insert(0, stride);
            left = row;
        }
    }
}

/// Loops that hold one another and nothing but what they compute with.
struct Nest<'f> {
    function: &'f Function,
    /// Their variables, the outermost first, with their extents if they go through all of one.
    loops: Vec<(Var, Option<Var>)>,
    /// What they declare, their variables too.
    declared: HashSet<Var>,
    /// Bounds, and what is computed in loops around the innermost.
    around: Vec<&'f Expr>,
    /// The body of the innermost.
    innermost: &'f [Stmt],
}

impl<'f> Nest<'f> {
    /// Goes through a loop and those inside.
    fn walk(&mut self, stmt: &'f Stmt) -> Option<()> {
        let Stmt::For {
            var,
            lo,
            hi,
            mark,
            body,
        } = stmt
        else {
            return None;
        };
        (*mark == Mark::default()).then_some(())?;
        let extent = extent_of(self.function, hi).filter(|_| *lo == Expr::int(0));
        self.loops.push((*var, extent));
        self.declared.insert(*var);
        self.around.extend([lo, hi]);
        let mut inner = body.iter().filter(|it| matches!(it, Stmt::For { .. }));
        match (inner.next(), inner.next()) {
            (None, _) => self.innermost = body,
            (Some(inner), None) => {
                for part in body {
                    match part {
                        Stmt::Comment(_) | Stmt::For { .. } => {}
                        Stmt::Declare { var, value } => {
                            self.declared.insert(*var);
                            self.around.push(value);
                        }
                        _ => return None,
                    }
                }
                self.walk(inner)?;
            }
            _ => return None,
        }
        let mut fails = false;
        stmt.for_each_expr(&mut |expr| fails |= self.function.can_fail(expr));
        for part in body {
            fails |= super::dead_code::can_fail(self.function, part);
        }
        (!fails).then_some(())
    }

    /// The arrays that the innermost loop stores to, and where.
    fn stores(&self) -> Option<Vec<(Buffer, &'f Expr)>> {
        let mut stores: Vec<(Buffer, &Expr)> = Vec::new();
        for stmt in self.innermost {
            match stmt {
                Stmt::Comment(_) | Stmt::Declare { .. } => {}
                Stmt::Store { buffer, index, .. } => stores.push((*buffer, index)),
                _ => return None,
            }
        }
        let stored: HashSet<Buffer> = stores.iter().map(|(buffer, _)| *buffer).collect();
        let mut is_loaded = false;
        let mut look = |expr: &Expr| {
            is_loaded |= expr.any(
                &mut |part| matches!(part, Expr::Load { buffer, .. } if stored.contains(buffer)),
            );
        };
        self.around.iter().for_each(|expr| look(expr));
        for stmt in self.innermost {
            stmt.for_each_expr(&mut look);
        }
        (stored.len() == stores.len() && !is_loaded).then_some(stores)
    }
}
