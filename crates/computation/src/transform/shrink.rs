//! Temporary data that do not need all their modes.
//!
//! After fusion a temporary often holds one entry at a time for which anybody
//! still asks:
//!
//! ```text
//! for i:  t(i) = 2 * x(i)                  for i:  t = 2 * x(i)
//!         y(i) = t(i) + 1       ──►                y(i) = t + 1
//! ```
//!
//! Without a mode, entries that differ only there become one. That is right if
//! each read finds what it found before: it has a **cover**, a write of its entry
//! before it (see [`remove`](super::remove)), and between the two nothing is
//! written to an entry that becomes the same one:
//!
//! ```text
//! r ── C ──► w               space(r) ⊆ domain(C)
//!            │               C ∩ { r before w } = ∅
//! r ◄── w' ◄─┘               (C then { w before w' }) ∩ { r → w' : w' before r, other entry } = ∅
//! ```
//!
//! An update reads its entry, so it needs a cover as well.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Relation};

use crate::accesses::{Effect, Reference};
use crate::computation::{Computation, Role, StatementId};
use crate::order::earlier;
use crate::proofs::Proofs;
use crate::value::Access;

impl Computation {
    /// The computation in which temporary data lack a mode.
    pub(super) fn shrunk(&self, name: &str, mode: usize) -> Result<Self> {
        let refused =
            |message: String, help: &str| Diagnostic::new(code::TRANSFORMATION, message).help(help);
        let Some(at) = self.spaces.iter().position(|space| space.name == name) else {
            let message = format!("there are no data `{name}`");
            return Err(Diagnostic::new(code::COMPUTATION_UNKNOWN, message)
                .help("name temporary data of the computation"));
        };
        let space = &self.spaces[at];
        if space.role != Role::Temporary {
            let message = format!("`{name}` is not temporary");
            return Err(refused(
                message,
                "data that are given or wanted keep their modes",
            ));
        }
        if mode >= space.extents.len() {
            let message = format!("`{name}` has no mode {mode}");
            return Err(refused(message, "modes count from 0"));
        }
        let is_index = |id| self.index_arrays(id).contains(name);
        let mut rest = self.declarations.clone();
        rest.forget(name);
        if self.ids().any(is_index) || rest != self.declarations {
            let message = format!("`{name}` is an index array");
            return Err(refused(message, "loops that depend on it need all of it"));
        }
        let proofs = Proofs::of(self);
        if let Some((id, what)) = self.obstacle(name, mode, &proofs)? {
            let (source, place) = self.place_of(id);
            let message = format!("`{name}` is not proved to do without mode {mode}");
            return Err(proofs
                .noted(Diagnostic::new(code::TRANSFORMATION, message))
                .at(&source, place, what)
                .help("fuse the statements that write it with those that read it first"));
        }
        let mut new = self.clone();
        new.spaces[at].extents.remove(mode);
        let shrink = |access: &Access| {
            let mut access = access.clone();
            if access.space == name {
                access.indices.remove(mode);
            }
            access
        };
        for statement in &mut new.statements {
            statement.target = shrink(&statement.target);
            statement.value = statement.value.with_entries(&mut |access| shrink(access));
        }
        Ok(new)
    }

    /// A statement that may then read another entry than before, and why.
    fn obstacle(
        &self,
        name: &str,
        mode: usize,
        proofs: &Proofs,
    ) -> Result<Option<(StatementId, String)>> {
        for id in self.ids() {
            let references = self.references(id);
            let here = references.iter().filter(|r| r.space == name);
            for read in here.filter(|r| r.effect != Effect::Write) {
                if !read.exact {
                    let why = format!("which entry of `{name}` this reads is not known");
                    return Ok(Some((id, why)));
                }
                let mut covered = false;
                for writer in self.writers(name).filter(|w| *w != id) {
                    covered = covered || self.keeps((id, read), writer, mode, proofs)?;
                }
                if !covered {
                    let why = format!("it may read an entry of `{name}` that changes");
                    return Ok(Some((id, why)));
                }
            }
        }
        Ok(None)
    }

    /// Whether what `writer` wrote for each point that reads is still there.
    fn keeps(
        &self,
        (id, read): (StatementId, &Reference),
        writer: StatementId,
        mode: usize,
        proofs: &Proofs,
    ) -> Result<bool> {
        let written = &self.references(writer)[0];
        if written.effect != Effect::Write || !written.exact {
            return Ok(false);
        }
        let times = self.times();
        let late = earlier(self, (id, &times), (writer, &times));
        'covers: for cover in self.covers((id, read), (writer, written), proofs)? {
            if let Some(late) = &late
                && !proofs.is_none(&cover.intersect(late)?)
            {
                continue;
            }
            for other in self.writers(&read.space).collect::<Vec<_>>() {
                let target = &self.references(other)[0];
                let since = earlier(self, (writer, &times), (other, &times));
                let until = earlier(self, (other, &times), (id, &times));
                let (Some(since), Some(until)) = (since, until) else {
                    continue;
                };
                let clash = clash(read, target, mode)?.intersect(&until.inverse())?;
                if !proofs.is_none(&cover.then(&since)?.intersect(&clash)?) {
                    continue 'covers;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }
}

/// From points that read an entry to points that write one that differs from it
/// in one mode only.
fn clash(read: &Reference, written: &Reference, mode: usize) -> Result<Relation> {
    let n = read.relation.n_outputs();
    let names = |with: &str| (0..n).map(|k| format!("{with}{k}")).collect::<Vec<_>>();
    let mut differs = Conjunction::new(names("a"), names("b"));
    let pairs: Vec<_> = differs.inputs().zip(differs.outputs()).collect();
    for (a, b) in pairs {
        let comparison = match a.index() == mode {
            true => Comparison::NotEqual,
            false => Comparison::Equal,
        };
        differs.add(Constraint::new(
            Expression::Variable(a),
            comparison,
            Expression::Variable(b),
        ));
    }
    let differs = Relation::new(vec![differs])?;
    read.relation
        .then(&differs)?
        .then(&written.relation.inverse())
}
