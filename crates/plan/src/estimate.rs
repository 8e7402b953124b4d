//! How much there is to do, estimated: at how many points an expression is
//! computed, and what workspaces and conversions move.
//!
//! Operands are taken to store their entries independently of each other and
//! evenly, so that an expression has a value at a fraction of all points:
//!
//! | expression                       | fraction of the points              |
//! |----------------------------------|-------------------------------------|
//! | `A(i,k)`, `A` with stored levels | entries of `A` / (extent of `i` · extent of `k`) |
//! | `x(k)`, all levels full          | 1                                   |
//! | `f(a, b)`, each decides it       | fraction of `a` · fraction of `b`   |
//! | `f(a, b)` otherwise              | the sum of both, at most 1          |
//!
//! What is not known when a program is compiled is taken to be middling
//! ([`UNKNOWN_EXTENT`], [`UNKNOWN_FIBER`]). A wrong estimate costs time, never a
//! wrong result.
//!
//! [`work`] adds up the cost of a statement from these numbers and from the figures of a
//! [`Machine`](sparsec_machine::Machine). The caller has formulas for the bytes that a conversion moves
//! ([`Facts::conversion`]).

pub(crate) mod skew;
mod tile;
pub(crate) mod work;
pub(crate) mod workspace;

use sparsec_base::cancel::checkpoint;
use sparsec_format::{Coordinate, Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::concrete::{Nested, Stmt, for_each_nested};
use sparsec_index::stored::{Answers, Found, stored};
use sparsec_index::{Access, Concrete, Expr, IndexVar, TensorData, TensorRole, TensorVar, Tensors};

use crate::search::{Conversion, Facts, Plan, View};

/// The extent of a mode of which nothing is known.
pub(crate) const UNKNOWN_EXTENT: f64 = 10_000.0;
/// How many entries an operand of which nothing is known stores for each
/// coordinate of its first mode.
pub(crate) const UNKNOWN_FIBER: f64 = 10.0;

/// How many times as long as an average row the longest one is taken to be.
const LONGEST: f64 = 1.5;

/// How many entries a tensor stores that a statement reads, where that is known.
pub type Counts<'a> = &'a dyn Fn(&TensorData) -> Option<u64>;

/// A tensor that is stored in another format.
#[derive(Clone, Copy, Debug)]
pub struct Converting<'a> {
    /// Its format.
    pub from: &'a Format,
    /// The other one.
    pub to: &'a Format,
    /// Its extents, where they are known.
    pub extents: &'a [Option<u64>],
    /// About how many entries it stores.
    pub n_stored: f64,
}

/// A statement with what is known of its operands.
#[derive(Clone, Copy)]
pub(crate) struct Estimate<'a> {
    /// The statement.
    pub concrete: &'a Concrete,
    /// How its tensors are stored.
    pub formats: &'a Formats,
    /// How many entries they store.
    pub counts: Counts<'a>,
    /// How many they are thought to store, where that is not counted.
    pub assumed: Counts<'a>,
    /// How far index variables run of which the program does not say it.
    pub extents: &'a dyn Fn(&str) -> Option<u64>,
    /// How many entries the segments of the tensor of a name have on average.
    pub segment: &'a dyn Fn(&str) -> Option<f64>,
    /// The sum of the squared degrees of the tensor of a name in a mode, where it is counted.
    pub squares: &'a dyn Fn(&str, usize) -> Option<f64>,
    /// Which tensors are others, seen by their levels.
    pub conversions: &'a [Conversion],
}

impl<'a> Estimate<'a> {
    /// What is known of what a plan computes.
    pub(crate) fn of(plan: &'a Plan, facts: Facts<'a>) -> Self {
        checkpoint();
        Self {
            concrete: &plan.concrete,
            formats: &plan.formats,
            counts: facts.counts,
            assumed: facts.assumed,
            extents: facts.extents,
            segment: facts.segment,
            squares: facts.squares,
            conversions: &plan.conversions,
        }
    }
}

impl Estimate<'_> {
    /// How many points some loops have together.
    pub(crate) fn points(&self, vars: &[IndexVar]) -> f64 {
        product(vars.iter().map(|var| self.extent(*var)))
    }

    /// How far a variable runs, where that is known.
    pub(crate) fn extent(&self, var: IndexVar) -> Option<u64> {
        let vars = &self.concrete.vars;
        let of = |var: IndexVar| {
            let said = vars[var].extent.or_else(|| (self.extents)(&vars[var].name));
            said.or_else(|| self.n_ranks(var))
        };
        self.concrete.extent_by(var, &of)
    }

    /// How many entries some row may have whose ranks a variable runs over; rows differ.
    fn n_ranks(&self, var: IndexVar) -> Option<u64> {
        let of_levels = self.conversions.iter();
        let mut of_levels = of_levels.filter(|it| it.view == Some(View::Levels));
        of_levels.find_map(|view| {
            let format = self.formats.get(view.from)?;
            let mut ranks = format.levels().iter().enumerate();
            ranks.find_map(|(number, level)| {
                let Coordinate::Rank { of, below } = &level.coordinate else {
                    return None;
                };
                let mut is_over = false;
                self.concrete.stmt.for_each_assign(&mut |_, _, rhs| {
                    rhs.for_each_access(&mut |access| {
                        is_over |= access.tensor == view.to && access.var(number) == Some(var);
                    });
                });
                let extents = &self.concrete.tensors[view.from].extents;
                let rows = product(of.iter().map(|mode| extents[*mode]));
                let stored = self.count(view.from);
                let row = stored.map_or(UNKNOWN_FIBER, |stored| stored as f64 / rows);
                let most = (LONGEST * row).ceil().max(1.0) as u64;
                is_over.then_some(below.map_or(most, |below| below.min(most)))
            })
        })
    }

    /// How many entries a tensor stores, or the one that it is a copy or a view of.
    fn count(&self, tensor: TensorVar) -> Option<u64> {
        let mut counted = tensor;
        while let Some(made) = self.conversions.iter().find(|it| it.to == counted) {
            counted = made.from;
        }
        (self.counts)(&self.concrete.tensors[counted])
    }

    /// The extents of the modes that an access reads or writes, where they are known.
    pub(crate) fn extents(&self, access: &Access) -> Vec<Option<u64>> {
        let declared = self.concrete.tensors[access.tensor].extents.iter();
        let modes = declared.enumerate();
        modes
            .map(|(mode, extent)| extent.or_else(|| self.extent(access.var(mode)?)))
            .collect()
    }

    /// How many coordinates an access asks for along each mode, those outside of its tensor
    /// too; the extent, where it goes no further.
    pub(crate) fn reached(&self, access: &Access) -> Vec<Option<u64>> {
        let extent = |var| self.extent(var);
        let reached = self.extents(access).into_iter().zip(&access.indices);
        let reached = reached.map(|(bound, index)| {
            let (least, most) = index.range(&extent)?;
            Some(bound?.max(u64::try_from(most - least + 1).ok()?))
        });
        reached
            .zip(self.extents(access))
            .map(|(reached, bound)| reached.or(bound))
            .collect()
    }

    /// What is known of the statement before any choice, which has no copies and no views.
    pub(crate) fn of_naive<'n>(&self, naive: &'n Concrete) -> Estimate<'n>
    where
        Self: 'n,
    {
        Estimate {
            concrete: naive,
            conversions: &[],
            ..*self
        }
    }

    /// How many entries the operands and the result of a naive statement store.
    pub(crate) fn entries(&self, naive: &Concrete) -> f64 {
        let estimate = self.of_naive(naive);
        let mut entries = 0.0;
        for_each_nested(&naive.stmt, &mut |nested| {
            let read = nested.rhs.accesses().into_iter();
            entries += read.map(|access| estimate.n_stored(access)).sum::<f64>();
            entries += estimate.written(nested);
        });
        entries
    }

    /// How many entries an assignment writes at most.
    pub(crate) fn written(&self, nested: Nested<'_, '_>) -> f64 {
        let computed = self.computed(nested.rhs, nested.loops);
        computed.min(self.visited(nested.rhs, &nested.lhs.vars()))
    }

    /// At how many points of these loops an expression is computed.
    pub(crate) fn computed(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        self.skewed(self.fraction(expr), expr, vars) * self.points(vars)
    }

    /// How many entries an operand stores.
    pub(crate) fn n_stored(&self, access: &Access) -> f64 {
        let extents = self.extents(access);
        let all = product(extents.iter().copied());
        if self.is_workspace(access) {
            return self.n_collected(access.tensor).min(all);
        }
        let is_full = self
            .formats
            .get(access.tensor)
            .is_none_or(|format| !format.has_sparse());
        if is_full {
            return all;
        }
        let first = product(extents.iter().copied().take(1));
        let assumed = || (self.assumed)(&self.concrete.tensors[access.tensor]);
        let stored = match self.count(access.tensor).or_else(assumed) {
            Some(count) => count as f64,
            None => UNKNOWN_FIBER * first,
        };
        stored.min(all)
    }

    /// For how many entries the arrays of an operand have places.
    pub(crate) fn n_places(&self, access: &Access) -> f64 {
        let format = self.formats.of(access.tensor);
        let has_all = format.levels().iter().all(|level| {
            let capabilities = level.kind.capabilities();
            capabilities.locate && capabilities.random_insert
        });
        match has_all {
            true => product(self.extents(access).into_iter()),
            false => self.n_stored(access),
        }
    }

    fn is_workspace(&self, access: &Access) -> bool {
        self.concrete.tensors[access.tensor].role == TensorRole::Workspace
    }

    /// How many entries a workspace holds when its consumer reads it, after one run of its
    /// producer. Values of one entry count once.
    fn n_collected(&self, workspace: TensorVar) -> f64 {
        let mut n = 0.0;
        self.for_each_collected(workspace, &mut |nested, bound| {
            let modes = nested.lhs.vars();
            let mut reduced = nested.rhs.vars();
            // Loops around run it where there is something to collect.
            let mut around = reduced.clone();
            around.retain(|var| !bound.contains(var));
            reduced.retain(|var| bound.contains(var) && !modes.contains(var));
            let hit = self.hit(nested.rhs, &reduced) / self.share(nested.rhs, &around);
            n += hit.min(1.0) * self.points(&modes);
        });
        n.max(1.0)
    }

    /// The fraction of the points of some loops at which a workspace may have a value further
    /// in; of all loops around a place where it is read, if none are said.
    fn collected(&self, workspace: TensorVar, vars: Option<&[IndexVar]>) -> f64 {
        let mut share = 0.0;
        self.for_each_collected(workspace, &mut |nested, bound| {
            let mut below = nested.rhs.vars();
            below.retain(|var| match vars {
                Some(vars) => !vars.contains(var),
                None => bound.contains(var) && !nested.lhs.uses(*var),
            });
            share += self.hit(nested.rhs, &below);
        });
        share.min(1.0)
    }

    /// Calls `visit` with each assignment to a workspace, and the variables that loops of its
    /// producer bind.
    fn for_each_collected(
        &self,
        workspace: TensorVar,
        visit: &mut dyn FnMut(Nested<'_, '_>, &[IndexVar]),
    ) {
        // The innermost `where` is the one that computes it.
        let mut producers: Vec<&Stmt> = Vec::new();
        self.concrete.stmt.for_each(&mut |stmt| {
            if let Stmt::Where { producer, .. } = stmt {
                producers.push(producer);
            }
        });
        for producer in producers.into_iter().rev() {
            let mut is_found = false;
            for_each_nested(producer, &mut |nested| {
                if nested.lhs.tensor == workspace {
                    is_found = true;
                    visit(nested, &self.concrete.bound_in(nested.loops));
                }
            });
            if is_found {
                return;
            }
        }
    }

    /// How likely an expression has a value at one of the points of some loops.
    fn hit(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        let share = self.fraction(expr).min(1.0);
        -(self.points(vars) * (-share).ln_1p()).exp_m1()
    }

    /// The fraction of all points at which an expression has a value.
    fn fraction(&self, expr: &Expr) -> f64 {
        self.fraction_by(expr, &|access| match self.is_workspace(access) {
            true => self.collected(access.tensor, None),
            false => self.n_stored(access) / product(self.reached(access).into_iter()),
        })
    }

    /// The fraction of points at which an expression has a value, from those of its operands.
    fn fraction_by(&self, expr: &Expr, of_access: &dyn Fn(&Access) -> f64) -> f64 {
        let Concrete { tensors, vars, .. } = self.concrete;
        stored(&Fractions { tensors, of_access }, expr, tensors, vars).0
    }
}

/// Fractions of points, as if operands stored entries independently of each other.
struct Fractions<'a> {
    tensors: &'a Tensors,
    of_access: &'a dyn Fn(&Access) -> f64,
}

impl Answers for Fractions<'_> {
    type Where = f64;

    fn nowhere(&self) -> f64 {
        0.0
    }

    fn everywhere(&self) -> f64 {
        1.0
    }

    fn of_access(&self, access: &Access) -> Found<f64> {
        (
            (self.of_access)(access),
            Some(self.tensors[access.tensor].fill),
        )
    }

    fn either(&self, one: f64, other: f64) -> f64 {
        (one + other).min(1.0)
    }

    fn both(&self, one: f64, other: f64) -> f64 {
        one * other
    }
}

impl Estimate<'_> {
    /// How many coordinates an operand holds in the modes that these variables say.
    pub(crate) fn prefixes(&self, access: &Access, vars: &[IndexVar]) -> f64 {
        let extents = self.extents(access);
        let (all, is_full) = self.places(access, vars, &extents);
        if is_full {
            return all;
        }
        // Those below which there is an entry, of so many in so many places.
        let (points, _) = self.places(access, &access.vars(), &extents);
        let share = (self.n_stored(access) / points).min(1.0);
        let is_hit = -(points / all * (-share).ln_1p()).exp_m1();
        match self.n_fibers(access, vars) {
            Some((fibers, Prefix::Whole)) => fibers,
            Some((fibers, Prefix::Begun)) => (all * is_hit).min(fibers).max(1.0),
            None => (all * is_hit).max(1.0),
        }
    }

    /// How many fibers an operand lists, if the variables give coordinates of a fiber and none
    /// along it. Entries of real tensors share more fibers than entries at random places.
    fn n_fibers(&self, access: &Access, vars: &[IndexVar]) -> Option<(f64, Prefix)> {
        let data = &self.concrete.tensors[access.tensor];
        let is_copy = self.conversions.iter().any(|it| it.to == access.tensor);
        let format = self.formats.of(access.tensor);
        let (last, leading) = format.levels().split_last()?;
        let lists = |level: &Level| level.kind == LevelKind::Compressed && level.unique;
        if data.role != TensorRole::Input
            || is_copy
            || !format.is_plain()
            || !lists(last)
            || !leading.last().is_some_and(lists)
        {
            return None;
        }
        let is_said = |mode: usize| {
            let index = access.indices[mode].vars();
            index.iter().all(|var| vars.contains(var))
        };
        let said = leading.iter().filter(|level| is_said(level.mode())).count();
        if is_said(last.mode()) || said == 0 {
            return None;
        }
        let fibers = self.n_stored(access) / (self.segment)(data.source_name())?.max(1.0);
        Some((
            fibers,
            match said == leading.len() {
                true => Prefix::Whole,
                false => Prefix::Begun,
            },
        ))
    }

    /// How many coordinates there are in the modes that these variables say, of such
    /// extents, and whether levels of those hold all.
    fn places(&self, access: &Access, vars: &[IndexVar], extents: &[Option<u64>]) -> (f64, bool) {
        let (mut all, mut is_full) = (1.0, true);
        let levels = self.formats.of(access.tensor).levels();
        for (mode, index) in access.indices.iter().enumerate() {
            if !index.vars().iter().all(|var| vars.contains(var)) {
                continue;
            }
            all *= extents[mode].map_or(UNKNOWN_EXTENT, |extent| extent.max(1) as f64);
            // Levels of expressions, blocks and diagonals, hold some.
            let mut of_mode = levels.iter();
            let of_mode = of_mode.find(|level| level.coordinate.mode() == Some(mode));
            is_full &= of_mode.is_some_and(Level::is_full);
        }
        (all, is_full)
    }

    /// At how many points of these loops those inside of them are run.
    pub(crate) fn visited(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        self.skewed(self.share(expr, vars), expr, vars) * self.points(vars)
    }

    /// The fraction of the points of some loops at which an expression may have a
    /// value further in.
    fn share(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        self.fraction_by(expr, &|access| {
            if self.is_workspace(access) {
                return self.collected(access.tensor, Some(vars));
            }
            let (all, _) = self.places(access, vars, &self.reached(access));
            self.prefixes(access, vars) / all
        })
    }
}

/// How much is said of the coordinates of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    /// Some of them.
    Begun,
    /// All.
    Whole,
}

/// Whether the entries of all operands of the statement are counted, and the extents known.
pub(crate) fn is_known(plan: &Plan, formats: &Formats, facts: Facts<'_>) -> bool {
    let tensors = &plan.concrete.tensors;
    let is_counted = |tensor: TensorVar| {
        let data = &tensors[tensor];
        // Results of statements before are counted if the operands of those were.
        plan.concrete.is_result(tensor)
            || data.role == TensorRole::Workspace
            || plan.conversions.iter().any(|it| it.to == tensor)
            || (facts.counts)(data).is_some()
            || formats
                .get(tensor)
                .is_some_and(|format| !format.has_sparse())
    };
    let converted = plan.conversions.iter().map(|it| it.from);
    let mut used = plan.concrete.used_tensors().into_iter().chain(converted);
    used.all(is_counted) && has_extents(plan, facts)
}

/// Whether it is known how far every mode goes that is read or written.
fn has_extents(plan: &Plan, facts: Facts<'_>) -> bool {
    let estimate = Estimate::of(plan, facts);
    let is_known = |access: &Access| estimate.extents(access).iter().all(Option::is_some);
    let mut all = true;
    plan.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        all &= is_known(lhs) && rhs.accesses().into_iter().all(is_known);
    });
    all
}

/// How many coordinates modes of these extents have together; at least one.
fn product(extents: impl Iterator<Item = Option<u64>>) -> f64 {
    let known = |extent: Option<u64>| extent.map_or(UNKNOWN_EXTENT, |known| known.max(1) as f64);
    extents.map(known).product()
}
