//! Statements that can go.
//!
//! | a statement is  | if                                                                  |
//! |-----------------|---------------------------------------------------------------------|
//! | **dead**        | walking backward from live-out data and assumptions along reads never comes to its target |
//! | **overwritten** | another writes each of its entries later, and nothing reads them before that |
//! | **repeated**    | another has done the same at the same points, and nothing it reads or writes has changed since |
//!
//! In the second case, `C` relates its points to those of the statement that
//! overwrites them, and three things are proved: each point has one, it comes
//! later, and there is no reader `r` between the two:
//!
//! ```text
//! s ── C ──► t         space(s) ⊆ domain(C)
//! │          ▲         C ∩ { t before s } = ∅
//! └───► r ───┘         ({ s before r, one entry } then { r before t }) ∩ C = ∅
//! ```
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion
//! and Optimization", CGO 2023, §3.3.

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Function, Relation, Rewrite,
};

use crate::accesses::{Effect, Reference};
use crate::computation::{Computation, Role, StatementId};
use crate::order::{Shift, earlier};
use crate::proofs::Proofs;
use crate::value::Update;

impl Computation {
    /// The computation without a statement that has no effect.
    pub(super) fn without(&self, id: StatementId) -> Result<Self> {
        let proofs = Proofs::of(self);
        let is_without_effect = self.is_dead(id)
            || self.is_overwritten(id, &proofs)?
            || self.is_repeated(id, &proofs)?;
        if !is_without_effect {
            let statement = self.statement(id);
            let (name, target) = (&statement.name, &statement.target.space);
            let (source, place) = self.place_of(id);
            let message = format!("`{name}` is not proved to be without effect");
            let error = proofs.noted(Diagnostic::new(code::TRANSFORMATION, message));
            return Err(error
            .at(&source, place, format!("its values of `{target}` may be wanted"))
            .help("remove what is neither read nor live out, is overwritten unread, or repeats another statement"));
        }
        let mut new = self.clone();
        new.statements.remove(sparsec_base::arena::Id::index(id));
        new.forget_unused();
        Ok(new)
    }

    /// Whether nothing that is live out depends on what a statement writes.
    pub(super) fn is_dead(&self, id: StatementId) -> bool {
        !self.live().contains(&self.statement(id).target.space)
    }

    /// The data on which live-out data and assumptions depend, themselves included.
    fn live(&self) -> BTreeSet<String> {
        let live_out = self.spaces.iter().filter(|space| space.role.is_live_out());
        let mut live: BTreeSet<String> = BTreeSet::new();
        for space in live_out {
            live.insert(space.name.clone());
        }
        // A computation whose assumptions do not hold is refused when it runs.
        let assumptions = self.declarations.assumptions().iter();
        for e in assumptions.flat_map(Constraint::expressions) {
            self.add_names(e, &mut live);
        }
        loop {
            let before = live.len();
            // Live data need their extents, and the bounds that are declared of them.
            for name in live.clone() {
                let extents = self.space(&name).map(|space| &space.extents);
                let function = self.declarations.function(&name);
                let bounds = function.into_iter().flat_map(Function::bounds);
                for e in extents.into_iter().flatten().chain(bounds) {
                    self.add_names(e, &mut live);
                }
            }
            for id in self.ids() {
                if live.contains(&self.statement(id).target.space) {
                    live.extend(self.spaces_of(id));
                }
            }
            if live.len() == before {
                return live;
            }
        }
    }

    /// Removes the dead statements, on which no data that outlive the computation depend, and the
    /// temporary data that nothing touches without them.
    pub fn remove_dead(&mut self) {
        let live = self.live();
        self.statements
            .retain(|statement| live.contains(&statement.target.space));
        self.forget_unused();
    }

    /// Whether another statement overwrites all entries of this one unread.
    fn is_overwritten(&self, id: StatementId, proofs: &Proofs) -> Result<bool> {
        let Some(target) = self.references(id).into_iter().next().filter(|r| r.exact) else {
            return Ok(false);
        };
        let others = self.writers(&target.space).filter(|t| *t != id);
        for other in others.collect::<Vec<_>>() {
            let by = &self.references(other)[0];
            if by.effect == Effect::Write
                && by.exact
                && self.hides((id, &target), (other, by), proofs)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn hides(
        &self,
        (id, target): (StatementId, &Reference),
        (other, by): (StatementId, &Reference),
        proofs: &Proofs,
    ) -> Result<bool> {
        let times = self.times();
        let back = earlier(self, (other, &times), (id, &times));
        'covers: for cover in self.covers((id, target), (other, by), proofs)? {
            if let Some(back) = &back
                && !proofs.is_none(&cover.intersect(&back.inverse())?)
            {
                continue;
            }
            for reader in self.ids().filter(|r| *r != id) {
                let before = earlier(self, (id, &times), (reader, &times));
                let after = earlier(self, (reader, &times), (other, &times));
                for read in self.references(reader) {
                    if read.space != target.space || read.effect == Effect::Write {
                        continue;
                    }
                    let meet = target.relation.then(&read.relation.inverse())?;
                    // What the same point reads, it reads before it writes.
                    if reader == other && !proofs.is_none(&meet.intersect(&cover)?) {
                        continue 'covers;
                    }
                    if let (Some(before), Some(after)) = (&before, &after) {
                        let between = meet.intersect(before)?.then(after)?;
                        if !proofs.is_none(&between.intersect(&cover)?) {
                            continue 'covers;
                        }
                    }
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Relations from the points of one statement to points of another that
    /// touch the same entry, with one for each point: those in the same
    /// iterations of loops that both are in, or all.
    pub(super) fn covers(
        &self,
        (id, target): (StatementId, &Reference),
        (other, by): (StatementId, &Reference),
        proofs: &Proofs,
    ) -> Result<Vec<Relation>> {
        let meet = target.relation.then(&by.relation.inverse())?;
        let aligned = meet.intersect(&self.same_iterations(id, other))?;
        let space = &self.statement(id).space;
        let is_full = |cover: &Relation| {
            // A difference that cannot be written leaves this unproved.
            let left = space.minus(&cover.domain(), proofs.known());
            left.is_ok_and(|left| proofs.is_none(left.as_relation()))
        };
        Ok([aligned, meet].into_iter().filter(is_full).collect())
    }

    /// From points of one statement to those of another at equal times, apart
    /// from numbers in the schedules.
    fn same_iterations(&self, first: StatementId, second: StatementId) -> Relation {
        let (a, b) = (self.statement(first), self.statement(second));
        let names = |id: StatementId| {
            let names = self.statement(id).names();
            names
                .inputs()
                .map(|v| names.name(v).to_owned())
                .collect::<Vec<_>>()
        };
        let shift = Shift(a.variables().len());
        let mut part = Conjunction::new(names(first), names(second));
        for (a, b) in a.schedule.iter().zip(&b.schedule) {
            let is_number = |e: &Expression| matches!(e, Expression::Integer(_));
            if !is_number(a) && !is_number(b) {
                part.add(a.clone().equals(b.rewritten(&shift)));
            }
        }
        Relation::new(vec![part]).expect("schedules use names in one role")
    }

    /// Whether an earlier statement has done the same.
    fn is_repeated(&self, id: StatementId, proofs: &Proofs) -> Result<bool> {
        let statement = self.statement(id);
        // A window counts the points of its own statement.
        if !statement.value.windows().is_empty() {
            return Ok(false);
        }
        let again = [Update::Assign, Update::Minimum, Update::Maximum];
        let mut reads = self.references(id).into_iter().skip(1);
        if !again.contains(&statement.update) || reads.any(|r| r.space == statement.target.space) {
            return Ok(false);
        }
        for other in self.ids().filter(|t| *t != id) {
            let like = self.statement(other);
            let same = like.variables().len() == statement.variables().len()
                && (&like.target, like.update, &like.value)
                    == (&statement.target, statement.update, &statement.value);
            if same && self.repeats(id, other, proofs)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether each point of a statement comes after the same point of another,
    /// and nothing that it touches is written between the two.
    fn repeats(&self, id: StatementId, other: StatementId, proofs: &Proofs) -> Result<bool> {
        let times = self.times();
        let space = &self.statement(id).space;
        let left = space.minus(&self.statement(other).space, proofs.known());
        if !left.is_ok_and(|left| proofs.is_none(left.as_relation())) {
            return Ok(false);
        }
        if let Some(too_early) = earlier(self, (id, &times), (other, &times)) {
            let same = self.same_point(id, other).restricted_to(space)?;
            if !proofs.is_none(&same.intersect(&too_early)?) {
                return Ok(false);
            }
        }
        let mine = self.references(id);
        for writer in self.ids() {
            let since = earlier(self, (other, &times), (writer, &times));
            let until = earlier(self, (writer, &times), (id, &times));
            let (Some(since), Some(until)) = (since, until) else {
                continue;
            };
            let between = since.intersect(&until.inverse())?;
            let written = &self.references(writer)[0];
            for touched in &mine {
                if touched.space != written.space || !touched.effect.conflicts(written.effect) {
                    continue;
                }
                let meet = touched.relation.then(&written.relation.inverse())?;
                if !proofs.is_none(&meet.intersect(&between)?) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// From each tuple to itself.
    fn same_point(&self, first: StatementId, second: StatementId) -> Relation {
        let shift = Shift(self.statement(first).variables().len());
        let names = |id: StatementId| {
            let names = self.statement(id).names();
            names
                .inputs()
                .map(|v| names.name(v).to_owned())
                .collect::<Vec<_>>()
        };
        let mut part = Conjunction::new(names(first), names(second));
        for variable in part.inputs() {
            part.add(Constraint::new(
                Expression::Variable(variable),
                Comparison::Equal,
                shift.variable(variable),
            ));
        }
        Relation::new(vec![part]).expect("a relation without names")
    }

    /// Drops temporary data that no statement touches, and what is declared of
    /// them.
    fn forget_unused(&mut self) {
        let mut used: BTreeSet<String> = BTreeSet::new();
        for id in self.ids() {
            used.extend(self.references(id).into_iter().map(|r| r.space));
        }
        for space in &self.spaces {
            for e in &space.extents {
                self.add_names(e, &mut used);
            }
        }
        let is_kept = |space: &crate::computation::DataSpace| {
            space.role != Role::Temporary || used.contains(&space.name)
        };
        for space in self.spaces.iter().filter(|space| !is_kept(space)) {
            self.declarations.forget(&space.name);
        }
        self.spaces.retain(is_kept);
    }
}
