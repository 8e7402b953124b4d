//! Where loop variables come from: which loops bind which variables.
//!
//! ```text
//! split(i, i0, i1, 32)  split(i1, i2, i3, 4)
//!
//!        i                 loops i0, i2, i3: i is bound at the last of them
//!       / \                i = 32 * i0 + 4 * i2 + i3
//!      i0  i1
//!         /  \             the loop over i3, being the innermost, goes through
//!        i2   i3           one stretch of i (a block, or what is left of it)
//! ```
//!
//! An access may name a variable that a clause makes, where that is the
//! coordinate that a level stores: `B(i0,i1)` of a tensor of blocks of 32. A loop
//! over it goes through coordinates as one over `i` does, and `i` is computed.
//!
//! What a loop goes through follows from the clauses and from the loops around
//! it, and is one of [`Steps`]. A fused loop is two loops in one another
//! ([`Concrete::unfused`]) unless it was split or goes over positions.

use sparsec_base::mark::{Mark, Parallel};

use super::{AssembleStrategy, Clause, Concrete, MergeStrategy, Placed, Stmt};
use crate::expr::Access;
use crate::program::{IndexVar, TensorRole, TensorVar};

/// What a loop goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// The coordinates of a variable that accesses name: one that no clause made,
    /// or one that is what a level stores.
    Coordinates,
    /// Blocks: no variable of an access is bound yet.
    Blocks,
    /// One stretch of coordinates of this variable, which accesses name, in order.
    Stretch(IndexVar),
    /// Positions of a tensor, in order; with the clause's number.
    Positions(usize),
    /// Values from which several variables, or coordinates with gaps, are computed.
    Computed,
}

impl Concrete {
    /// The clauses, in the order in which they were said.
    pub fn clauses(&self) -> impl DoubleEndedIterator<Item = &Clause> + ExactSizeIterator {
        self.clauses.iter().map(|placed| &placed.clause)
    }

    /// How the loop over `var` is marked.
    pub fn mark(&self, var: IndexVar) -> Mark {
        let mut mark = Mark::default();
        for clause in self.clauses() {
            match clause {
                Clause::Unroll {
                    var: marked,
                    factor,
                } if *marked == var => mark.unroll = *factor,
                Clause::Parallelize {
                    var: marked,
                    unit,
                    races,
                } if *marked == var => {
                    mark.parallel = Some(Parallel {
                        unit: *unit,
                        races: *races,
                    });
                }
                _ => {}
            }
        }
        mark
    }

    /// What is fetched early in the loop over `var`, and how many turns.
    pub fn prefetched(&self, var: IndexVar) -> impl Iterator<Item = (TensorVar, u32)> {
        self.clauses().filter_map(move |clause| match clause {
            Clause::Prefetch {
                var: marked,
                tensor,
                ahead,
            } if *marked == var => Some((*tensor, *ahead)),
            _ => None,
        })
    }

    /// How the loop over `var` merges what it walks.
    pub fn merges_by(&self, var: IndexVar) -> MergeStrategy {
        let said = self.clauses().find_map(|clause| match clause {
            Clause::MergeBy {
                var: marked,
                strategy,
            } if *marked == var => Some(*strategy),
            _ => None,
        });
        said.unwrap_or(MergeStrategy::TwoFinger)
    }

    /// Whether entries of the result are counted and then inserted at their places,
    /// rather than appended.
    pub fn inserts(&self) -> bool {
        self.clauses().any(|clause| {
            matches!(clause, Clause::Assemble { tensor, strategy: AssembleStrategy::Insert, .. }
                if *tensor == self.result)
        })
    }

    /// The extent of a variable, where it is known; of positions it never is.
    pub fn extent(&self, var: IndexVar) -> Option<u64> {
        self.extent_by(var, &|var| self.vars[var].extent)
    }

    /// As [`Concrete::extent`], from other extents of the variables that no command made.
    pub fn extent_by(&self, var: IndexVar, of: &dyn Fn(IndexVar) -> Option<u64>) -> Option<u64> {
        let extent = |var: IndexVar| self.extent_by(var, of);
        match self.made_by(var) {
            None => of(var),
            Some(Clause::Split {
                var: above,
                outer,
                size,
                ..
            }) => match *outer == var {
                true => Some(extent(*above)?.div_ceil(*size)),
                false => Some(*size),
            },
            Some(Clause::Divide {
                var: above,
                outer,
                parts,
                ..
            }) => match *outer == var {
                true => Some(*parts),
                false => Some(extent(*above)?.div_ceil(*parts)),
            },
            Some(Clause::Fuse { outer, inner, .. }) => extent(*outer)?.checked_mul(extent(*inner)?),
            Some(Clause::Bound { var: above, .. }) => extent(*above),
            // A sum has no values where one of its variables has none.
            Some(Clause::Skew { var, along, by, .. }) => {
                let n_values = [extent(*var)?, extent(*along)?];
                if n_values.contains(&0) {
                    return Some(0);
                }
                let [own, other] = n_values.map(|n| i128::from(n) - 1);
                let own = i128::from(by.sign().max(0)) * own;
                let other = i128::from(by.factor.max(0)) * other;
                u64::try_from(own + other + i128::from(by.offset) + 1).ok()
            }
            Some(Clause::Deal { vars, curve, .. }) => {
                let last = |var: &IndexVar| Some(extent(*var)?.checked_sub(1));
                let last: Option<Vec<u64>> = vars.iter().map(last).collect::<Option<_>>()?;
                last.map_or(Some(0), |last| Some(curve.place(&last)? + 1))
            }
            Some(_) => None,
        }
    }

    /// The clause that derives from `var`, so that no loop is over it.
    pub fn derived_by(&self, var: IndexVar) -> Option<&Clause> {
        self.clauses().find(|clause| {
            let derives = clause.derives();
            derives.is_some_and(|(from, _)| from.contains(&&var))
        })
    }

    /// The clause that makes `var`.
    pub fn made_by(&self, var: IndexVar) -> Option<&Clause> {
        self.clauses().find(|clause| {
            let derives = clause.derives();
            derives.is_some_and(|(_, made)| made.contains(&&var))
        })
    }

    /// The clause that makes `var`, with its place.
    pub fn said(&self, var: IndexVar) -> Option<&Placed> {
        self.clauses.iter().find(|placed| {
            let derives = placed.clause.derives();
            derives.is_some_and(|(_, made)| made.contains(&&var))
        })
    }

    /// The number of the clause by which `var`, or what it is a block of, is a
    /// position.
    pub fn positions_above(&self, var: IndexVar) -> Option<usize> {
        match self.made_by(var)? {
            Clause::Pos { .. } => self.position_clause(var),
            Clause::Split { var: above, .. }
            | Clause::Divide { var: above, .. }
            | Clause::Bound { var: above, .. } => self.positions_above(*above),
            _ => None,
        }
    }

    /// Every variable that is bound inside loops over `loops`.
    pub fn bound_in(&self, loops: &[IndexVar]) -> Vec<IndexVar> {
        let mut bound = loops.to_vec();
        loop {
            let before = bound.len();
            // Later clauses mostly derive from what earlier ones made.
            for clause in self.clauses().rev() {
                let Some((from, _)) = clause.derives() else {
                    continue;
                };
                let is_bound = |var: &&IndexVar| bound.contains(var);
                if clause.computed_from().iter().all(is_bound) {
                    let new = from.into_iter().filter(|var| !is_bound(var)).copied();
                    bound.extend(new.collect::<Vec<_>>());
                }
            }
            if bound.len() == before {
                return bound;
            }
        }
    }

    /// The variables that a loop over `var` binds inside loops over `outer`,
    /// itself first.
    pub fn newly_bound(&self, outer: &[IndexVar], var: IndexVar) -> Vec<IndexVar> {
        let before = self.bound_in(outer);
        let mut loops = vec![var];
        loops.extend(outer);
        let mut now = self.bound_in(&loops);
        now.retain(|var| !before.contains(var));
        now
    }

    /// How many of `loops`, which are inside one another, it takes to bind `var`.
    pub fn bound_at(&self, loops: &[IndexVar], var: IndexVar) -> Option<usize> {
        (1..=loops.len()).find(|n| self.bound_in(&loops[..*n]).contains(&var))
    }

    /// Whether the value of `var` is computed from that of `other` wherever it is bound.
    pub fn is_computed_from(&self, var: IndexVar, other: IndexVar) -> bool {
        let from = self.derived_by(var).map(Clause::computed_from);
        let mut from = from.into_iter().flatten();
        from.any(|&from| from == other || self.is_computed_from(from, other))
    }

    /// The variables that no clause makes among those from which `var` is derived.
    pub fn originals(&self, var: IndexVar) -> Vec<IndexVar> {
        match self.made_by(var).and_then(Clause::derives) {
            None => vec![var],
            Some((from, _)) => from
                .into_iter()
                .flat_map(|var| self.originals(*var))
                .collect(),
        }
    }

    /// Whether an access names other entries for each value of `var`: it has a mode of
    /// it, or of everything that it is derived from.
    ///
    /// A sum `d = i + l` takes both: one `i` comes at several `d`.
    pub fn tells_apart(&self, access: &Access, var: IndexVar) -> bool {
        let clause = self.made_by(var);
        access.mode_of(var).is_some()
            || clause.and_then(Clause::derives).is_some_and(|(from, _)| {
                let along = match clause {
                    Some(Clause::Skew { along, .. }) => Some(along),
                    _ => None,
                };
                let mut from = from.into_iter().chain(along);
                from.all(|var| self.tells_apart(access, *var))
            })
    }

    /// What the loop over `var` goes through inside loops over `outer`.
    pub fn steps(&self, outer: &[IndexVar], var: IndexVar) -> Steps {
        if self.made_by(var).is_none() || self.is_accessed(var) {
            return Steps::Coordinates;
        }
        let new = self.newly_bound(outer, var);
        let Some(last) = self.stretch(&new, var) else {
            return Steps::Computed;
        };
        if let Some(number) = self.position_clause(last) {
            return Steps::Positions(number);
        }
        match self.made_by(last) {
            None => Steps::Stretch(last),
            Some(_) if self.is_accessed(last) => Steps::Stretch(last),
            // What the clause derives from waits for another loop.
            Some(_) if new.last() == Some(&last) => Steps::Blocks,
            Some(_) => Steps::Computed,
        }
    }

    /// Whether a level of an operand or of the result stores coordinates of
    /// `var`. Temporaries have modes of any variables, and no level to walk.
    pub fn is_accessed(&self, var: IndexVar) -> bool {
        let mut found = false;
        self.stmt.for_each_assign(&mut |lhs, _, rhs| {
            let mut look = |access: &Access| {
                let is_stored = self.tensors[access.tensor].role != TensorRole::Workspace;
                found |= is_stored && access.uses(var);
            };
            rhs.for_each_access(&mut look);
            look(lhs);
        });
        found
    }

    /// The clause by which `var` is a position.
    pub fn position_clause(&self, var: IndexVar) -> Option<usize> {
        self.clauses()
            .position(|clause| matches!(clause, Clause::Pos { pos, .. } if *pos == var))
    }

    /// The last variable above `var` that is bound with it and goes through a
    /// stretch as `var` does; `None` where one of them has gaps.
    fn stretch(&self, new: &[IndexVar], var: IndexVar) -> Option<IndexVar> {
        let above = match self.made_by(var) {
            Some(
                Clause::Split {
                    var: above, inner, ..
                }
                | Clause::Divide {
                    var: above, inner, ..
                },
            ) => {
                if !new.contains(above) {
                    return Some(var);
                }
                if *inner != var {
                    return None;
                }
                *above
            }
            Some(Clause::Bound { var: above, .. }) => *above,
            _ => return Some(var),
        };
        self.stretch(new, above)
    }

    /// The variables that clauses make of `var`, whether loops are over them or not.
    pub fn made_of(&self, var: IndexVar) -> Vec<IndexVar> {
        let made = self.derived_by(var).and_then(Clause::derives);
        let made = made.into_iter().flat_map(|(_, made)| made);
        made.flat_map(|var| [vec![*var], self.made_of(*var)].concat())
            .collect()
    }

    /// The loops that bind `var`, from coarse to fine.
    pub fn leaves(&self, var: IndexVar) -> Vec<IndexVar> {
        match self.derived_by(var).and_then(Clause::derives) {
            None => vec![var],
            Some((_, made)) => made.into_iter().flat_map(|var| self.leaves(*var)).collect(),
        }
    }

    /// The originals that loops inside one another bind, in the order in which
    /// entries come: `None` at a loop after which they come in no order.
    ///
    /// A variable comes in order if its loops directly follow one another,
    /// from coarse to fine.
    pub fn in_order(&self, loops: &[IndexVar]) -> Vec<Option<IndexVar>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(var) = loops.get(at) {
            let original = match &self.originals(*var)[..] {
                [original] => *original,
                _ => {
                    found.push(None);
                    at += 1;
                    continue;
                }
            };
            // A sum ascends with its variable where the other one stays.
            if let Some(Clause::Skew {
                var: from,
                along,
                by,
                ..
            }) = self.made_by(*var)
            {
                let stays = self.bound_in(&loops[..at]).contains(along) && !by.is_negative;
                found.push((stays && *from == original).then_some(original));
                at += 1;
                continue;
            }
            // Nor does what a part of a sum leads to come in order.
            if self.is_skewed(original) {
                found.push(None);
                at += 1;
                continue;
            }
            let leaves = self.leaves(original);
            // A part of a fused loop comes back to what it is fused of.
            let is_own = |leaf: &IndexVar| self.originals(*leaf) == [original];
            if loops[at..].starts_with(&leaves) && leaves.iter().all(is_own) {
                found.push(Some(original));
                at += leaves.len();
            } else {
                found.push(None);
                at += 1;
            }
        }
        found
    }

    /// Whether a variable is computed from a sum that loops go over.
    fn is_skewed(&self, var: IndexVar) -> bool {
        match self.derived_by(var) {
            Some(Clause::Skew { .. }) => true,
            Some(clause) => {
                let made = clause.derives().into_iter().flat_map(|(_, made)| made);
                made.into_iter().any(|made| self.is_skewed(*made))
            }
            None => false,
        }
    }

    /// The statement with every fused loop that is neither split nor over
    /// positions, nor a mode of a workspace, as the two loops that it is made of.
    #[must_use]
    pub fn unfused(&self) -> Self {
        let mut unfused = self.clone();
        while let Some((fused, outer, inner)) = unfused.nest_to_unfuse() {
            unfused.stmt = unfused.stmt.rewrite(&mut |stmt| match stmt {
                Stmt::Forall { var, body } if *var == fused => {
                    Some((**body).clone().in_loops(&[outer, inner]))
                }
                _ => None,
            });
            for placed in &mut unfused.clauses {
                match &mut placed.clause {
                    Clause::Parallelize { var, .. } if *var == fused => *var = outer,
                    Clause::Unroll { var, .. } if *var == fused => *var = inner,
                    _ => {}
                }
            }
            unfused.clauses.retain(
                |placed| !matches!(placed.clause, Clause::Fuse { fused: var, .. } if var == fused),
            );
        }
        unfused
    }

    fn nest_to_unfuse(&self) -> Option<(IndexVar, IndexVar, IndexVar)> {
        let loops = self.stmt.loops();
        // A mode of a workspace has one variable.
        let mut named = Vec::new();
        self.stmt.for_each_assign(&mut |lhs, _, rhs| {
            named.extend(lhs.vars());
            named.extend(rhs.vars());
        });
        let stays = |fused| named.contains(fused) || !loops.contains(fused);
        self.clauses().find_map(|clause| match clause {
            Clause::Fuse {
                outer,
                inner,
                fused,
            } if !stays(fused) => Some((*fused, *outer, *inner)),
            _ => None,
        })
    }
}
