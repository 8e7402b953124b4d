//! The cost of a statement: the steps of its loops, and the memory traffic that they wait for.
//!
//! Loops are gone through from the outside. Each begins as often as the loops around come to
//! something ([`Estimate::visited`]), and takes as many steps as the operands that it walks
//! hold there, or as the extent has:
//!
//! ```text
//! forall i: forall k: forall j: C(i,j) += A(i,k) * B(k,j)      10^3 rows of 10 entries
//!
//! i    1      · 10^3 rows          every row of a dense level
//! k    10^3   · 10 entries of A    a loop begins for each row
//! j    10^4   · 10 entries of B    a loop begins for each entry of A
//! ```
//!
//! An array is moved from memory as often as loops come back to it when caches have lost it.
//! The outermost loop in which a cache holds all that is touched of the array moves that, for
//! each of its turns; what the loops inside touch again is there.

mod beside;

use std::cell::Cell;
use std::collections::BTreeMap;

use sparsec_format::{Capabilities, Level};
use sparsec_graph::operand::level_at;
use sparsec_graph::{Lattice, Lead, Operands, Scope, is_listed_in_order, space, workspace_kind};
use sparsec_index::concrete::{MergeStrategy, Stmt, for_each_nested};
use sparsec_index::{Access, IndexVar, TensorRole, TensorVar};
use sparsec_machine::{Cache, Machine};

use super::Estimate;
use super::tile::{Around, Tiled};
use super::workspace::{Use, for_each_written, of_kind};
use crate::cost::Cost;

/// The bytes of a coordinate beside a value.
const COORDINATE: f64 = 4.0;

/// The cost of a statement, without that of conversions.
pub(crate) fn work(estimate: Estimate<'_>) -> Cost {
    work_and_points(estimate).0
}

/// At how many points the assignments of a statement run.
pub(crate) fn points(estimate: Estimate<'_>) -> f64 {
    work_and_points(estimate).1
}

fn work_and_points(estimate: Estimate<'_>) -> (Cost, f64) {
    let operands = Operands::of(estimate.concrete);
    let points = Cell::new(0.0);
    let loops = Loops {
        work: Work {
            estimate,
            operands: &operands,
            machine: Machine::MIDDLING,
            points: &points,
        },
        vars: Vec::new(),
        is_full: Vec::new(),
        n_shared: 0,
        turns: vec![1.0],
        read: Vec::new(),
        beside: 0.0,
    };
    let launched = Cost {
        launches: Machine::MIDDLING.launch,
        ..Cost::default()
    };
    let cost = launched + loops.stmt(&estimate.concrete.stmt).of_nest() + loops.result();
    (cost, points.get())
}

#[derive(Clone, Copy)]
struct Work<'a> {
    estimate: Estimate<'a>,
    operands: &'a Operands,
    machine: Machine,
    /// At how many points assignments run that were come to.
    points: &'a Cell<f64>,
}

/// The loops around a statement.
#[derive(Clone)]
struct Loops<'a> {
    work: Work<'a>,
    /// Their variables, the outermost first.
    vars: Vec<IndexVar>,
    /// Which of them go over all coordinates.
    is_full: Vec<bool>,
    /// How many of them are around other statements too.
    n_shared: usize,
    /// How often the inside of so many of them is run; one more than there are loops.
    turns: Vec<f64>,
    /// The accesses that earlier nests have read: each with the number of loops, counted from the
    /// outermost, that both nests stand in.
    read: Vec<(Access, usize)>,
    /// The bytes of arrays that other nests in these loops come back to, which the last cache holds
    /// beside those of this one.
    beside: f64,
}

impl Loops<'_> {
    fn stmt(&self, stmt: &Stmt) -> Cost {
        match stmt {
            Stmt::Forall { var, body } => self.forall(*var, body),
            Stmt::Where { consumer, producer } => {
                let shared = self.shared();
                let nests = [producer, consumer].map(|nest| shared.stmt(nest).of_nest());
                nests[0] + nests[1] + self.workspaces(producer)
            }
            Stmt::Sequence(stmts) => {
                let mut nests = self.shared();
                let beside = self.beside(stmts);
                let costs = std::iter::zip(stmts, beside).map(|(stmt, beside)| {
                    nests.beside = self.beside + beside;
                    let cost = nests.stmt(stmt).of_nest();
                    nests.read_before(stmt);
                    cost
                });
                costs.fold(Cost::default(), |all, one| all + one)
            }
            Stmt::Assign { lhs, rhs, .. } => {
                let Work { points, .. } = self.work;
                points.set(points.get() + self.runs());
                let accesses = rhs.accesses().into_iter().chain([lhs]);
                let costs = accesses.map(|access| self.access(access));
                costs.fold(Cost::default(), |all, one| all + one)
            }
        }
    }

    /// How often the body of the innermost loop runs.
    fn runs(&self) -> f64 {
        *self.turns.last().expect("there is one more than loops")
    }

    fn forall(&self, var: IndexVar, body: &Stmt) -> Cost {
        let Work {
            estimate,
            operands,
            machine,
            ..
        } = self.work;
        let scope = Scope {
            concrete: estimate.concrete,
            formats: estimate.formats,
            operands,
        };
        let lead = Lead::of(scope, Lattice::of(&space(scope, body, var)), var);
        let mut inner = self.clone();
        inner.vars.push(var);
        let (outer, within) = (self.bound(), inner.bound());
        let led = lead.lattice.operands();
        let held: Vec<f64> = led
            .iter()
            .map(|operand| {
                let access = operands.access(*operand);
                let held = estimate.prefixes(access, &within) / estimate.prefixes(access, &outer);
                let skew = estimate.skew_of_rows(access, &outer);
                (held * skew).min(estimate.points(&[var]).max(held))
            })
            .collect();
        let walked: f64 = held.iter().sum();
        inner.is_full.push(lead.lattice.everything && walked == 0.0);
        let extent = estimate.points(&[var]);
        let runs = self.runs();
        let is_along = is_along_arrays(&inner, body);
        let n_further = inner.n_along(body).saturating_sub(1);
        let in_tile = is_along.then(|| inner.in_tile(body)).flatten();
        let goes_along_bits = led.len() == 1
            && led.iter().all(|operand| {
                let access = operands.access(*operand);
                let (concrete, formats) = (estimate.concrete, estimate.formats);
                let level = level_at(access, var, formats.of(access.tensor));
                level.is_some_and(|(_, level)| level.kind.capabilities().random_insert)
                    && !is_listed_in_order(concrete, formats, access.tensor)
            });
        // Bits are tested in step with the arrays that the loop goes along.
        let is_in_bits = is_along && goes_along_bits;
        let (steps, inside) = match lead.lattice.everything {
            false if is_in_bits => (extent * machine.dense_step, walked * runs),
            true => {
                let step = match is_along && walked == 0.0 {
                    true => machine.dense_step + n_further as f64 * machine.operand_step,
                    false => machine.step,
                };
                let steps = in_tile.unwrap_or(extent * step + walked * machine.merge_step);
                (steps, extent * runs)
            }
            false => {
                let steps = match estimate.concrete.merges_by(var) {
                    MergeStrategy::Gallop => machine.leaps(&held),
                    _ if lead.lattice.points.len() == 1 => {
                        machine.merged(&held, extent).min(machine.leaps(&held))
                    }
                    _ => machine.merged(&held, extent),
                };
                let of_bits = match goes_along_bits {
                    true => extent * machine.dense_step,
                    false => 0.0,
                };
                let mut visited: f64 = 0.0;
                body.for_each_assign(&mut |_, _, rhs| {
                    visited = visited.max(estimate.visited(rhs, &within));
                });
                (steps + of_bits, visited.min(walked * runs))
            }
        };
        let looked_up = lead.located.iter().map(|operand| {
            let access = operands.access(*operand);
            let levels = estimate.formats.of(access.tensor).levels();
            let is_any = |is: fn(&Capabilities) -> bool| {
                let mut levels = levels.iter();
                levels.any(|level| is(&level.kind.capabilities()))
            };
            if is_any(|it| it.probing_insert) {
                return machine.probe;
            }
            // A bit is tested, which is foreseen if it is mostly the same.
            let places = estimate.points(&access.vars());
            let share = (estimate.n_stored(access) / places).min(1.0);
            let wrong = match is_any(|it| it.random_insert && it.locate) {
                true => share.min(1.0 - share) * machine.wrong_guess,
                false => 0.0,
            };
            machine.step + wrong
        });
        let entry = match in_tile {
            Some(_) => 0.0,
            None => machine.loop_entry,
        };
        let each = entry + steps;
        let scattered = match body {
            // A load, an addition and a store wait for one another.
            Stmt::Assign {
                lhs,
                reduce: Some(_),
                ..
            } if walked > 0.0 && !is_in_bits && inner.moving(lhs) == Some(inner.vars.len()) => {
                inside * machine.scatter
            }
            _ => 0.0,
        };
        let found = inside * looked_up.sum::<f64>();
        // What is rarely come to may be come to once.
        inner.turns.push(inside.max(1.0));
        Cost::of_steps(runs * each + found + scattered) + inner.stmt(body)
    }

    /// The steps of the innermost loop in each row, if it goes along columns of tiles of several
    /// rows.
    fn in_tile(&self, body: &Stmt) -> Option<f64> {
        let Work {
            estimate, machine, ..
        } = self.work;
        let around = Around {
            estimate,
            vars: &self.vars,
            is_full: &self.is_full,
            n_shared: self.n_shared,
        };
        let Tiled { columns, bytes } = around.tiled(body)?;
        let all = estimate.points(&columns);
        let own = estimate.points(&columns[columns.len() - 1..]);
        Some(machine.in_tiles(all, bytes) * own / all)
    }

    fn bound(&self) -> Vec<IndexVar> {
        self.work.estimate.concrete.bound_in(&self.vars)
    }

    /// The cost of the workspaces that a producer writes, but for the arrays of its loops.
    /// Those that it reads are its own producers' ([`Loops::stmt`]).
    fn workspaces(&self, producer: &Stmt) -> Cost {
        let Estimate {
            concrete, formats, ..
        } = self.work.estimate;
        let mut written: BTreeMap<TensorVar, Use> = BTreeMap::new();
        let mut loops = self.vars.clone();
        for_each_written(producer, &mut loops, &mut |loops, lhs, rhs| {
            let data = &concrete.tensors[lhs.tensor];
            if data.role != TensorRole::Workspace || lhs.indices.is_empty() {
                return;
            }
            let used = written.entry(lhs.tensor).or_insert_with(|| Use {
                positions: self.work.estimate.points(&lhs.vars()),
                value_bytes: data.element.size() as f64,
                writes: 0.0,
                runs: self.runs(),
            });
            let loops = concrete.bound_in(loops);
            used.writes += self.work.estimate.visited(rhs, &loops);
        });
        let costs = written.into_iter().map(|(workspace, used)| {
            let kind = workspace_kind(concrete, formats, workspace);
            of_kind(kind, used, &self.work.machine)
        });
        costs.fold(Cost::default(), |all, one| all + one)
    }

    /// The cost of reaching an operand or the result at each turn of the innermost loop that
    /// moves it: a search, where levels are searched, and what caches do not hold.
    fn access(&self, access: &Access) -> Cost {
        let Work {
            estimate,
            operands,
            machine,
            ..
        } = self.work;
        let concrete = estimate.concrete;
        let is_workspace = concrete.tensors[access.tensor].role == TensorRole::Workspace;
        let is_array =
            || !workspace_kind(concrete, estimate.formats, access.tensor).is_walked_by_list();
        let Some(moving) = self.moving(access).filter(|_| !is_workspace || is_array()) else {
            return Cost::default();
        };
        let touches = self.turns[moving];
        let mut steps = 0.0;
        let format = estimate.formats.of(access.tensor);
        if !is_workspace && !concrete.is_result(access.tensor) && format.has_sparse() {
            let n = operands.n_searched(access, concrete, estimate.formats);
            let each = estimate.n_stored(access).max(2.0).log2() * machine.merge_step;
            steps = touches * n as f64 * each;
        }
        let entry = self.entry_bytes(access.tensor);
        let run = self.in_a_row(access, moving) * entry;
        let unit = entry.max(entry * Machine::LINE / run);
        let traffic = machine.caches.iter().map(|cache| {
            cache.miss * machine.byte * self.moved(access, *cache, moving, entry, unit)
        });
        let traffic: f64 = traffic.sum();
        let (traffic, ahead) = match run >= Machine::FORESEEN {
            true => (0.0, traffic),
            false => (traffic, 0.0),
        };
        Cost {
            steps,
            traffic,
            ahead,
            ..Cost::default()
        }
    }

    /// The cost of memory for the result, which is fresh.
    fn result(&self) -> Cost {
        let Work {
            estimate, machine, ..
        } = self.work;
        let concrete = estimate.concrete;
        let mut bytes = 0.0;
        for_each_nested(&concrete.stmt, &mut |nested| {
            if concrete.is_result(nested.lhs.tensor) {
                let entries = match estimate.formats.of(nested.lhs.tensor).has_sparse() {
                    true => estimate.written(nested),
                    false => estimate.points(&nested.lhs.vars()),
                };
                bytes += entries * self.entry_bytes(nested.lhs.tensor);
            }
        });
        Cost {
            traffic: bytes / Machine::PAGE * machine.page,
            ..Cost::default()
        }
    }

    /// The bytes of a stored entry of a tensor.
    fn entry_bytes(&self, tensor: TensorVar) -> f64 {
        let Estimate {
            concrete, formats, ..
        } = self.work.estimate;
        let value = concrete.tensors[tensor].element.size() as f64;
        let levels = formats.of(tensor).levels().iter();
        value + COORDINATE * levels.filter(|level| !level.is_full()).count() as f64
    }

    /// How many operands the innermost loop goes along.
    fn n_along(&self, body: &Stmt) -> usize {
        let Stmt::Assign { rhs, .. } = body else {
            return 0;
        };
        let accesses = rhs.accesses().into_iter();
        let along = accesses.filter(|access| self.moving(access) == Some(self.vars.len()));
        along.count()
    }

    /// How many loops there are down to the innermost one that moves an access.
    fn moving(&self, access: &Access) -> Option<usize> {
        let concrete = self.work.estimate.concrete;
        (1..=self.vars.len()).rev().find(|n| {
            let new = concrete.newly_bound(&self.vars[..n - 1], self.vars[n - 1]);
            new.iter().any(|var| access.uses(*var))
        })
    }

    /// How many bytes of an access come into a cache.
    fn moved(&self, access: &Access, cache: Cache, moving: usize, entry: f64, unit: f64) -> f64 {
        let Work { estimate, .. } = self.work;
        let touches = self.turns[moving];
        let stored = estimate.n_places(access);
        // What is touched in one turn of so many loops.
        let footprint = |depth: usize| {
            let bound = estimate.concrete.bound_in(&self.vars[..depth]);
            let below = (stored / estimate.prefixes(access, &bound)).max(1.0);
            (below * entry).min(touches / self.turns[depth] * unit)
        };
        let near = self.read_at(access);
        if near.is_some_and(|depth| depth <= moving && footprint(depth) <= cache.bytes) {
            return 0.0;
        }
        // Arrays that a nearer cache loses to others come back while loops compute: `A x` and `Aᵀ y`
        // in one pass, 1.6 MB each, take 0.8 of the time of two passes; 16 MB each, 1.15.
        let [.., last] = self.work.machine.caches;
        let beside = if cache == last { self.beside } else { 0.0 };
        let mut outside = footprint(0) + beside;
        if outside <= cache.bytes {
            return outside - beside;
        }
        for depth in 1..=moving {
            let inside = footprint(depth);
            if inside <= cache.bytes || depth == moving {
                let again = self.turns[depth] * inside;
                return again * cache.missed(outside);
            }
            outside = inside;
        }
        touches * unit
    }

    /// How many entries of an access, stored one behind the other, so many loops go along
    /// before they leap.
    fn in_a_row(&self, access: &Access, moving: usize) -> f64 {
        let levels = self.work.estimate.formats.of(access.tensor).levels();
        let mut in_a_row = 1.0;
        for (depth, level) in (1..=moving).rev().zip(levels.iter().rev()) {
            // Between turns of a loop that does not move it, an array begins anew.
            if !self.goes_along(access, level, depth) {
                break;
            }
            in_a_row *= (self.turns[depth] / self.turns[depth - 1]).max(1.0);
        }
        in_a_row
    }

    /// Whether the innermost of so many loops goes along the coordinates of a level.
    fn goes_along(&self, access: &Access, level: &Level, depth: usize) -> bool {
        let concrete = self.work.estimate.concrete;
        let index = &access.indices[level.mode()];
        let new = concrete.newly_bound(&self.vars[..depth - 1], self.vars[depth - 1]);
        new.iter().any(|var| {
            let linear = index.linear_in(*var);
            linear.is_some_and(|(factor, _)| factor.abs() == 1)
        })
    }
}

/// Whether a loop computes along arrays, so that several turns are computed at once: it is
/// innermost, and all that it moves is contiguous.
fn is_along_arrays(loops: &Loops<'_>, body: &Stmt) -> bool {
    let Stmt::Assign { lhs, rhs, .. } = body else {
        return false;
    };
    let depth = loops.vars.len();
    let mut accesses = rhs.accesses().into_iter().chain([lhs]);
    accesses.all(|access| {
        let is_moved = loops.moving(access) == Some(depth);
        let last = loops
            .work
            .estimate
            .formats
            .of(access.tensor)
            .levels()
            .last();
        !is_moved || last.is_none_or(|level| loops.goes_along(access, level, depth))
    })
}
