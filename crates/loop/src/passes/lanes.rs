//! Giving reductions lanes.
//!
//! ```text
//! for k in 0..n parallel(CPUVector, ParallelReduction) { t += x[k] * y[k] }
//!
//! var t_lane: f64 = -0.0          … and seven more
//! let k_blocks: i64 = n // 8
//! for k_block in 0..k_blocks {
//!   let k_first: i64 = k_block * 8
//!   t_lane += x[k_first] * y[k_first]
//!   t_lane_2 += x[k_first + 1] * y[k_first + 1]
//!   …
//! }
//! for k in k_blocks * 8..n unroll 1 { t += x[k] * y[k] }
//! t += t_lane + t_lane_5 + (t_lane_3 + t_lane_7) + (…)
//! ```
//!
//! A sum in one variable takes the time of one addition after the other. Eight that
//! do not wait for each other keep a processor busy, and C compilers make vectors of
//! them; they do not on their own, since the sum rounds otherwise. Here its shape is
//! part of the function, so that every engine computes the same bits.
//!
//! What remains behind the last eight is added to the variable itself. Loops whose
//! body does more than declare and combine variables run as they stand, and so do
//! reductions of integers, which C compilers take in any order.
//!
//! Source: DESIGN, "Meaning, decided": sums may be reassociated into lanes.

use std::collections::{BTreeMap, HashMap, HashSet};

use sparsec_base::ElementType;

use super::divide::{identity, normal};
use crate::ir::{BinaryOp, Block, Expr, Function, Stmt, Var, VarData};
use crate::mark::{Mark, Races, Unit};
use crate::verify::{combined_by, is_read_beside};
use crate::walk::{for_each_block_mut, rewrite_exprs};

/// How many sums there are in place of one: as many as eight additions under way
/// at once, or one vector of 64 bytes.
const LANES: i64 = 8;

/// Gives the reductions of loops that are marked for vectors lanes, in a valid
/// function. Floating-point sums and products round otherwise than before.
pub fn lanes(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let mut found = false;
    for_each_block_mut(&mut body, &mut |block| {
        for stmt in std::mem::take(block) {
            match Reduction::of(function, &stmt) {
                Some(reduction) => {
                    reduction.expand(function, block);
                    found = true;
                }
                None => block.push(stmt),
            }
        }
    });
    function.body = body;
    if found {
        super::simplify(function);
    }
    super::check_after("lanes", function);
}

/// A loop to expand.
struct Reduction<'s> {
    var: Var,
    lo: &'s Expr,
    hi: &'s Expr,
    mark: Mark,
    body: &'s Block,
    /// The variables that get lanes.
    reduced: BTreeMap<Var, BinaryOp>,
}

impl<'s> Reduction<'s> {
    /// The loop that `stmt` is, if its reductions can have lanes.
    fn of(function: &Function, stmt: &'s Stmt) -> Option<Self> {
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
        let parallel = mark.parallel?;
        if parallel.unit != Unit::CpuVector
            || matches!(parallel.races, Races::NoRaces | Races::IgnoreRaces)
        {
            return None;
        }
        let mut inside = HashSet::new();
        let mut reduced = BTreeMap::new();
        for stmt in body {
            match stmt {
                Stmt::Declare { var, .. } => {
                    inside.insert(*var);
                }
                Stmt::Assign { var, value } if !inside.contains(var) => {
                    let op = normal(combined_by(*var, value)?)?;
                    let ty = function.vars[*var].element;
                    if ty == ElementType::Bool {
                        continue;
                    }
                    identity(op, ty)?;
                    if *reduced.entry(*var).or_insert(op) != op {
                        return None;
                    }
                }
                Stmt::Comment(_) => {}
                _ => return None,
            }
        }
        let is_float = |var: &Var| !function.vars[*var].element.is_integer();
        let may = reduced.keys().any(is_float)
            && !is_read_beside(reduced.keys().copied().collect(), body);
        may.then_some(Self {
            var: *var,
            lo,
            hi,
            mark: *mark,
            body,
            reduced,
        })
    }

    /// Writes what stands in its place.
    fn expand(&self, function: &mut Function, block: &mut Block) {
        let name = function.vars[self.var].name.clone();
        let lanes: Vec<BTreeMap<Var, Var>> =
            (0..LANES).map(|_| self.lane(function, block)).collect();
        let extent = match *self.lo == Expr::int(0) && function.is_extent(self.hi) {
            true => self.hi.clone(),
            // Bounds that cross are no turns, not a negative number of them.
            false => (self.hi.clone())
                .binary(BinaryOp::Sub, self.lo.clone())
                .binary(BinaryOp::Max, 0),
        };
        let whole = extent.binary(BinaryOp::FloorDiv, LANES);
        let blocks = declare(function, &format!("{name}_blocks"), whole, block);
        let turn = function.fresh_var(&format!("{name}_block"), ElementType::I64, false);
        let mut turned = Block::new();
        let at = self.lo.clone().add(Expr::Var(turn).mul(LANES));
        let first = declare(function, &format!("{name}_first"), at, &mut turned);
        for (number, lane) in (0..).zip(&lanes) {
            self.turn(function, Expr::Var(first).add(number), lane, &mut turned);
        }
        block.push(Stmt::For {
            var: turn,
            lo: Expr::int(0),
            hi: blocks.into(),
            mark: Mark::default(),
            body: turned,
        });
        block.push(Stmt::For {
            var: self.var,
            lo: self.lo.clone().add(Expr::Var(blocks).mul(LANES)),
            hi: self.hi.clone(),
            mark: Mark {
                parallel: None,
                unroll: 1,
                ..self.mark
            },
            body: self.body.clone(),
        });
        for (&var, &op) in &self.reduced {
            let values: Vec<Expr> = lanes.iter().map(|lane| lane[&var].into()).collect();
            let value = Expr::Var(var).binary(op, tree(op, &values));
            block.push(Stmt::Assign { var, value });
        }
    }

    /// Declares the variables of a lane.
    fn lane(&self, function: &mut Function, block: &mut Block) -> BTreeMap<Var, Var> {
        let one = |(&var, &op): (&Var, &BinaryOp)| {
            let VarData { name, element, .. } = function.vars[var].clone();
            let lane = function.fresh_var(&format!("{name}_lane"), element, true);
            let value = identity(op, element).expect("it was looked for").into();
            block.push(Stmt::Declare { var: lane, value });
            (var, lane)
        };
        self.reduced.iter().map(one).collect()
    }

    /// The body at one value of the loop variable, for the variables of a lane.
    fn turn(
        &self,
        function: &mut Function,
        at: Expr,
        lane: &BTreeMap<Var, Var>,
        block: &mut Block,
    ) {
        let mut renamed: HashMap<Var, Var> = lane.iter().map(|(&a, &b)| (a, b)).collect();
        let mut body = self.body.clone();
        for stmt in &mut body {
            match stmt {
                Stmt::Declare { var, .. } => {
                    let VarData {
                        name,
                        element,
                        mutable,
                    } = function.vars[*var].clone();
                    let own = function.fresh_var(&name, element, mutable);
                    renamed.insert(*var, own);
                    *var = own;
                }
                Stmt::Assign { var, .. } => *var = renamed.get(var).copied().unwrap_or(*var),
                _ => {}
            }
        }
        rewrite_exprs(&mut body, &mut |expr| {
            if let Expr::Var(var) = expr {
                match renamed.get(var) {
                    Some(own) => *var = *own,
                    None if *var == self.var => *expr = at.clone(),
                    None => {}
                }
            }
        });
        block.append(&mut body);
    }
}

/// `values` combined in halves, each with the one half as far again.
fn tree(op: BinaryOp, values: &[Expr]) -> Expr {
    match values {
        [one] => one.clone(),
        _ => {
            let (low, high) = values.split_at(values.len() / 2);
            let pairs: Vec<Expr> = (low.iter().zip(high))
                .map(|(low, high)| low.clone().binary(op, high.clone()))
                .collect();
            tree(op, &pairs)
        }
    }
}

fn declare(function: &mut Function, name: &str, value: Expr, block: &mut Block) -> Var {
    let var = function.fresh_var(name, ElementType::I64, false);
    block.push(Stmt::Declare { var, value });
    var
}
