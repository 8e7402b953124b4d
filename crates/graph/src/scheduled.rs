//! Requirements of schedules on formats: the part of [`lowerable`](mod@crate::lowerable)
//! about clauses.
//!
//! ```text
//! forall p: y(i) += A(i,j) * x(j)
//! suchthat(fuse(i, j, f), pos(f, p, A(i,j)))       A : csr
//!
//! positions of A stand for (i, j) if          levels of A: i, then j, in this order
//!   nothing is done where A stores nothing    A(i,j) annihilates
//!   other operands can be searched            x : dense
//! ```
//!
//! Errors point at the command that asks for what is not there.

mod mark;

use sparsec_base::mark::Races;
use sparsec_format::Level;
use sparsec_index::concrete::{Clause, MergeStrategy, Placed, Steps, Stmt};
use sparsec_index::{Access, Concrete, IndexVar, TensorRole, TensorVar, WorkspaceKind};

use crate::lattice::Lattice;
use crate::lead::Lead;
use crate::lowerable::is_irregular;
use crate::not_lowerable::{NotLowerable, UnfitClause, UnfitWorkspace};
use crate::operand::{Formats, Operands, level_at};
use crate::space::{Scope, space};
use crate::workspace::{check_reads, workspace_kind};

/// Checks the clauses of a statement without fused loops that are two.
///
/// # Errors
/// `E0304`, `E0307`, `E0338` and `E0340` to `E0344`, at the clause.
pub(crate) fn check(
    concrete: &Concrete,
    formats: &Formats,
    operands: &Operands,
) -> Result<(), NotLowerable> {
    let check = Check {
        concrete,
        formats,
        operands,
    };
    for placed in &concrete.clauses {
        check.assembly(placed)?;
    }
    check_reads(concrete, formats)?;
    check.stmt(&concrete.stmt, &mut Vec::new())
}

/// The levels of a tensor that a loop over positions binds: their numbers, the
/// first to the last, and their variables.
///
/// `None` where the variables are not those of levels directly below one
/// another, in this order.
pub fn position_levels(
    access: &Access,
    originals: &[IndexVar],
    formats: &Formats,
) -> Option<std::ops::Range<usize>> {
    let format = formats.of(access.tensor);
    let (first, _) = level_at(access, *originals.first()?, format)?;
    let levels = format.levels().get(first..first + originals.len())?;
    let fits = levels.iter().zip(originals).all(|(level, var)| {
        level.kind.capabilities().positional && access.var(level.mode()) == Some(*var)
    });
    fits.then_some(first..first + originals.len())
}

/// The access whose positions a clause goes over.
pub fn position_access(concrete: &Concrete, tensor: TensorVar, indices: &[IndexVar]) -> Access {
    let span = concrete.tensors[tensor].span;
    Access::plain(tensor, indices, span)
}

struct Check<'a> {
    concrete: &'a Concrete,
    formats: &'a Formats,
    operands: &'a Operands,
}

impl Check<'_> {
    fn stmt(&self, stmt: &Stmt, loops: &mut Vec<IndexVar>) -> Result<(), NotLowerable> {
        match stmt {
            Stmt::Assign { lhs, rhs, .. } => self.workspaces(lhs, &rhs.accesses()),
            Stmt::Forall { var, body } => {
                self.forall(*var, body, loops)?;
                loops.push(*var);
                self.stmt(body, loops)?;
                loops.pop();
                Ok(())
            }
            Stmt::Where { consumer, producer } => {
                self.stmt(consumer, loops)?;
                self.stmt(producer, loops)
            }
            Stmt::Sequence(stmts) => stmts.iter().try_for_each(|stmt| self.stmt(stmt, loops)),
        }
    }

    fn forall(&self, var: IndexVar, body: &Stmt, loops: &[IndexVar]) -> Result<(), NotLowerable> {
        let steps = self.concrete.steps(loops, var);
        if let Some(number) = self.concrete.positions_above(var) {
            let is_first = !loops
                .iter()
                .any(|outer| self.concrete.positions_above(*outer) == Some(number));
            if is_first {
                self.positions(number, body, loops)?;
            }
            if steps == Steps::Computed {
                let placed = &self.concrete.clauses[number];
                return Err(unfit(placed, UnfitClause::PositionOrder));
            }
        }
        match &steps {
            // Variables that are computed here are looked up.
            Steps::Coordinates => {
                let mut new = self.concrete.newly_bound(loops, var);
                new.retain(|known| *known != var);
                self.searched(&new, None, body, var)?;
            }
            Steps::Blocks => {}
            Steps::Stretch(original) => self.searched(&[*original], None, body, var)?,
            Steps::Positions(number) => {
                let tensor = match &self.concrete.clauses[*number].clause {
                    Clause::Pos { tensor, .. } => Some(*tensor),
                    _ => None,
                };
                self.searched(&self.concrete.originals(var), tensor, body, var)?;
            }
            Steps::Computed => self.searched(&self.concrete.originals(var), None, body, var)?,
        }
        for placed in &self.concrete.clauses {
            match &placed.clause {
                Clause::Parallelize { var: marked, .. } if *marked == var => {
                    self.parallel(placed, var, &steps, body)?;
                }
                Clause::MergeBy {
                    var: marked,
                    strategy: MergeStrategy::Gallop,
                } if *marked == var => self.gallop(placed, var, &steps, body)?,
                Clause::Prefetch {
                    var: marked,
                    tensor,
                    ..
                } if *marked == var => self.prefetch(placed, var, *tensor, body)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A loop over positions has to do all that the coordinates do.
    fn positions(
        &self,
        number: usize,
        body: &Stmt,
        loops: &[IndexVar],
    ) -> Result<(), NotLowerable> {
        let placed = &self.concrete.clauses[number];
        let Clause::Pos {
            var,
            tensor,
            indices,
            ..
        } = &placed.clause
        else {
            return Ok(());
        };
        let access = position_access(self.concrete, *tensor, indices);
        let originals = self.concrete.originals(*var);
        let format = self.formats.of(*tensor);
        let refuse = |why: UnfitClause| Err(unfit(placed, why));
        let Some(levels) = position_levels(&access, &originals, self.formats) else {
            return refuse(UnfitClause::PositionLevels(*tensor));
        };
        let repeats =
            |last: usize| !format.levels()[last].unique && levels.end < format.levels().len();
        if levels.end.checked_sub(1).is_some_and(repeats) {
            return refuse(UnfitClause::PositionRepeats(*tensor));
        }
        let bound = self.concrete.bound_in(loops);
        let outer = format.levels()[..levels.start].iter();
        for var in outer.filter_map(|level| access.var(level.mode())) {
            if !bound.contains(&var) {
                return refuse(UnfitClause::PositionBelow(*tensor, var));
            }
        }
        let last_walked = levels
            .rev()
            .find(|level| !format.levels()[*level].is_full());
        let Some(level) = last_walked else {
            return Ok(());
        };
        let var = access.var(format.levels()[level].mode());
        let var = var.expect("the levels have these variables");
        let lattice = Lattice::of(&space(self.scope(), body, var));
        let operand = self.operands.find(&access);
        let is_needed = operand.is_some_and(|operand| {
            let mut points = lattice.points.iter();
            !lattice.everything && points.all(|point| point.0.contains(&operand))
        });
        if !is_needed {
            return refuse(UnfitClause::PositionMisses(*tensor));
        }
        Ok(())
    }

    /// Operands that a loop looks up, or walks from within, have to be in order.
    fn searched(
        &self,
        originals: &[IndexVar],
        walked: Option<TensorVar>,
        body: &Stmt,
        var: IndexVar,
    ) -> Result<(), NotLowerable> {
        let mut result = Ok(());
        let here = |access: &Access| originals.iter().any(|var| access.uses(*var));
        body.for_each_assign(&mut |_, _, rhs| {
            for access in rhs.accesses().into_iter().filter(|access| here(access)) {
                if result.is_err() {
                    return;
                }
                if Some(access.tensor) != walked
                    && self.formats.get(access.tensor).is_some_and(is_irregular)
                {
                    result = Err(NotLowerable::Searched {
                        operand: access.tensor,
                        var,
                    });
                }
            }
        });
        result
    }

    /// A workspace over derived variables knows nothing of what is stored.
    fn workspaces(&self, lhs: &Access, accesses: &[&Access]) -> Result<(), NotLowerable> {
        let is_workspace =
            |access: &Access| self.concrete.tensors[access.tensor].role == TensorRole::Workspace;
        let is_sparse = self.concrete.tensors[lhs.tensor].role != TensorRole::Workspace
            && !self.formats.of(lhs.tensor).is_all_dense();
        let temporaries = accesses.iter().copied().chain([lhs]);
        for access in temporaries.filter(|access| is_workspace(access)) {
            let vars = access.vars();
            let derived = vars
                .iter()
                .find(|var| self.concrete.made_by(**var).is_some());
            let knows = self
                .kind_of(access.tensor)
                .is_some_and(WorkspaceKind::knows_entries);
            if let Some(var) = derived.filter(|_| is_sparse || knows) {
                let why = UnfitWorkspace::Derived(*var, lhs.tensor);
                let workspace = access.tensor;
                return Err(NotLowerable::Workspace { workspace, why });
            }
            let is_workspace = self.concrete.tensors[access.tensor].role == TensorRole::Workspace;
            let position = |var: &&IndexVar| self.concrete.positions_above(**var).is_some();
            if let Some(var) = vars.iter().find(position).filter(|_| is_workspace) {
                let why = UnfitWorkspace::Positions(*var);
                let workspace = access.tensor;
                return Err(NotLowerable::Workspace { workspace, why });
            }
        }
        Ok(())
    }

    /// How `tensor` is kept, if it is a workspace.
    fn kind_of(&self, tensor: TensorVar) -> Option<WorkspaceKind> {
        let is_workspace = self.concrete.tensors[tensor].role == TensorRole::Workspace;
        is_workspace.then(|| workspace_kind(self.concrete, self.formats, tensor))
    }

    /// Whether iterations can be divided among units.
    fn parallel(
        &self,
        placed: &Placed,
        var: IndexVar,
        steps: &Steps,
        body: &Stmt,
    ) -> Result<(), NotLowerable> {
        let refuse = |why: UnfitClause| Err(unfit(placed, why));
        let own = temporaries(body);
        let mut appended = None;
        let mut listed = None;
        body.for_each_assign(&mut |lhs, _, _| {
            let kind = self.kind_of(lhs.tensor);
            if kind.is_some_and(WorkspaceKind::has_list) && !own.contains(&lhs.tensor) {
                listed = Some(lhs.tensor);
            }
            if lhs.tensor == self.concrete.result && !self.formats.of(lhs.tensor).is_all_dense() {
                appended = Some(lhs.tensor);
            }
        });
        let appends = matches!(
            &placed.clause,
            Clause::Parallelize {
                races: Races::Temporary,
                ..
            }
        );
        let is_appended = |result: TensorVar| {
            let mut levels = self.formats.of(result).levels().iter();
            let is_behind = |level: &Level| level.kind.capabilities().positional;
            appends && !self.concrete.inserts() && levels.all(is_behind)
        };
        if let Some(result) = appended.filter(|result| !is_appended(*result)) {
            self.parallel_result(placed, var, result)?;
        }
        if let Some(workspace) = listed {
            return refuse(UnfitClause::RaceOfList(var, workspace));
        }
        let original = match steps {
            Steps::Coordinates => var,
            Steps::Stretch(original) => *original,
            Steps::Blocks | Steps::Positions(_) | Steps::Computed => return Ok(()),
        };
        let lattice = Lattice::of(&space(self.scope(), body, original));
        let lattice = Lead::of(self.scope(), lattice, original).lattice;
        let walked = lattice.operands();
        let repeats = walked.iter().any(|operand| {
            let access = self.operands.access(*operand);
            let format = self.formats.of(access.tensor);
            level_at(access, original, format)
                .is_some_and(|(number, level)| !level.unique && number + 1 < format.levels().len())
        });
        let in_step = match lattice.everything {
            true => !walked.is_empty(),
            false => walked.len() > 1 || repeats,
        };
        if in_step {
            return refuse(UnfitClause::RaceInStep(var));
        }
        Ok(())
    }

    /// Iterations put entries of a sparse result in place each for itself if they
    /// have segments of their own, whose places are known; or they append to pieces,
    /// with the strategy `Temporary`.
    fn parallel_result(
        &self,
        placed: &Placed,
        var: IndexVar,
        result: TensorVar,
    ) -> Result<(), NotLowerable> {
        let mut parents = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |lhs, _, _| {
            if lhs.tensor == result {
                let levels = self.formats.of(result).levels().iter();
                let outer = levels.take_while(|level| level.is_full());
                parents = outer.filter_map(|level| lhs.var(level.mode())).collect();
            }
        });
        let has_segments = self
            .concrete
            .originals(var)
            .iter()
            .all(|var| parents.contains(var));
        if has_segments && self.concrete.inserts() {
            return Ok(());
        }
        let why = UnfitClause::RaceOfResult {
            var,
            result,
            inserts: self.concrete.inserts(),
            outer: parents.first().copied(),
        };
        Err(unfit(placed, why))
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            concrete: self.concrete,
            formats: self.formats,
            operands: self.operands,
        }
    }
}

/// A clause that asks for something that formats do not allow.
fn unfit(placed: &Placed, why: UnfitClause) -> NotLowerable {
    NotLowerable::Clause {
        clause: Box::new(placed.clone()),
        why,
    }
}

/// The temporaries that `stmt` makes and reads itself.
fn temporaries(stmt: &Stmt) -> Vec<TensorVar> {
    let mut found = Vec::new();
    stmt.for_each(&mut |part| {
        if let Stmt::Where { producer, .. } = part {
            producer.for_each_assign(&mut |lhs, _, _| found.push(lhs.tensor));
        }
    });
    found
}
