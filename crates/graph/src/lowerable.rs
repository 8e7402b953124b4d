//! Whether loops and formats fit together. Planning asks this predicate, and lowering relies
//! on it.
//!
//! A statement is lowerable if
//!
//! 1. the loops visit each walked level of an operand after the levels outside of it;
//! 2. an operand without order, or with duplicates, is the only one that its loops walk, and is
//!    added into a dense result (it is *streamed*);
//! 3. the loops around a walked level of a result are the loops over its levels up to this one,
//!    in order, and the result is assigned without an operator;
//! 4. a workspace lists its coordinates if stored levels are assembled from it; where no operand
//!    is stored, an addition to the workspace adds the identity of its operator;
//! 5. an operand whose level has no order, such as a hash table, is walked alone and does not
//!    append to a result, or it is looked up;
//! 6. no loop merges so many operands that its kernel explodes (`cases`).

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Level};
use sparsec_index::concrete::{Nested, Stmt, for_each_nested};
use sparsec_index::{Access, Concrete, Expr, IndexExpr, IndexVar, TensorRole};

use crate::collects::collects;
use crate::operand::{Formats, Operands};
use crate::path::edges;
use crate::scheduled;
use crate::space::{Scope, Space, space};
use crate::workspace::feeds_stored_level;

mod cases;

/// Checks that `concrete` can be lowered with these formats. Returns an estimate of the cases
/// that its kernel writes out, a measure of the kernel's length.
///
/// # Errors
/// The first rule that is broken: `E0301` to `E0307`.
pub fn lowerable(concrete: &Concrete, formats: &Formats) -> Result<usize> {
    let concrete = &concrete.unfused();
    let operands = Operands::of(concrete);
    scheduled::check(concrete, formats, &operands)?;
    let check = Check {
        concrete,
        formats,
        operands: &operands,
    };
    let mut result = Ok(());
    for_each_nested(&concrete.stmt, &mut |nested| {
        if result.is_ok() {
            result = check.assign(nested);
        }
    });
    result?;
    check.extents()?;
    check.cases(&concrete.stmt, &[], 1, &BTreeSet::new())
}

/// Whether entries in this format may be unordered or repeated. Tensors in the format can only
/// be streamed.
pub fn is_irregular(format: &Format) -> bool {
    let levels = format.levels();
    levels.iter().any(|level| !level.ordered) || levels.last().is_some_and(|level| !level.unique)
}

struct Check<'a> {
    concrete: &'a Concrete,
    formats: &'a Formats,
    operands: &'a Operands,
}

impl Check<'_> {
    fn assign(&self, nested: Nested<'_, '_>) -> Result<()> {
        let bound = self.concrete.bound_in(nested.loops);
        for access in nested.rhs.accesses().into_iter().chain([nested.lhs]) {
            if let Some(var) = access.vars().into_iter().find(|var| !bound.contains(var)) {
                let (name, var) = (self.name(access), self.var(var));
                let message = format!("`{var}` is computed inside of where `{name}` is used");
                return Err(self
                    .error(code::SCHEDULE_SKEW, access, message)
                    .help("put the loops that it is computed from outside"));
            }
        }
        for access in nested.rhs.accesses() {
            self.operand(nested.loops, access)?;
            if is_irregular(self.formats.of(access.tensor)) {
                self.streamed(nested, access)?;
            }
        }
        if self.concrete.tensors[nested.lhs.tensor].role == TensorRole::Workspace {
            return self.workspace(nested);
        }
        self.result(nested)
    }

    fn operand(&self, loops: &[IndexVar], access: &Access) -> Result<()> {
        let place = |var: IndexVar| self.concrete.bound_at(loops, var);
        for edge in edges(access, self.formats.of(access.tensor)) {
            // What a loop computes from its variable comes after what it walks, in parts or
            // as a whole.
            let is_walked = loops.contains(&edge.after) && !loops.contains(&edge.before);
            let is_computed = self.concrete.is_computed_from(edge.before, edge.after);
            let is_late = (is_walked || is_computed) && place(edge.before) == place(edge.after);
            if is_late || place(edge.before) > place(edge.after) {
                return Err(self
                    .error(
                        code::LOOP_ORDER,
                        access,
                        format!(
                            "`{}` stores `{}` outside `{}`, but the loops visit `{}` first",
                            self.name(access),
                            self.var(edge.before),
                            self.var(edge.after),
                            self.var(edge.after),
                        ),
                    )
                    .help(format!(
                        "put the loop over `{}` outside, or store `{}` in another mode order",
                        self.var(edge.before),
                        self.name(access),
                    )));
            }
        }
        Ok(())
    }

    fn streamed(&self, nested: Nested<'_, '_>, access: &Access) -> Result<()> {
        let Nested {
            loops, lhs, reduce, ..
        } = nested;
        let format = self.formats.of(access.tensor);
        let refuse = |why: &str| {
            Err(self
                .error(
                    code::UNORDERED,
                    access,
                    format!(
                        "the entries of `{}` are in no order, {why}",
                        self.name(access),
                    ),
                )
                .help(format!(
                    "convert `{}` to an ordered format, such as `scoo`",
                    self.name(access)
                )))
        };
        let repeats = |(mode, index)| access.indices[..mode].contains(index);
        if access.indices.iter().enumerate().any(repeats) || access.plain_vars().is_none() {
            return refuse("and this access would have to search them");
        }
        let nests = match &self.concrete.stmt {
            Stmt::Sequence(nests) => nests.as_slice(),
            nest => std::slice::from_ref(nest),
        };
        let is_read = |nest: &&Stmt| {
            let mut found = false;
            nest.for_each_assign(&mut |_, _, rhs| found |= rhs.accesses().contains(&access));
            found
        };
        let Some(nest) = nests
            .iter()
            .find(is_read)
            .filter(|nest| is_perfect_nest(nest))
        else {
            return refuse("and this statement needs a temporary for each of them");
        };
        if !self.formats.of(lhs.tensor).is_scattered_to() {
            return refuse("and the result is assembled in order");
        }
        if reduce.is_none() && !format.is_unique() {
            return refuse("they repeat, and this statement does not add them up");
        }
        for var in loops {
            let walked = self.operands.is_sparse_at(access, *var, self.formats) == Some(true);
            let scope = self.scope();
            if walked && !matches!(space(scope, nest, *var), Space::Stored(_)) {
                return refuse("and another operand is merged with them");
            }
        }
        Ok(())
    }

    fn workspace(&self, nested: Nested<'_, '_>) -> Result<()> {
        let Nested { lhs, rhs, .. } = nested;
        let result = &self.concrete.tensors[self.concrete.result];
        let refuse = |why: String, help: String| {
            Err(Diagnostic::new(code::WORKSPACE_MODES, why)
                .at(
                    &self.concrete.source,
                    result.span,
                    "needs a workspace that lists its entries",
                )
                .help(help))
        };
        if lhs.indices.is_empty() {
            return Ok(());
        }
        if !self.formats.of(lhs.tensor).has_sparse() {
            if feeds_stored_level(self.concrete, self.formats, lhs.tensor) {
                let name = &self.concrete.tensors[lhs.tensor].name;
                return refuse(
                    format!(
                        "`{name}` is dense, and does not say which entries of `{}` are stored",
                        result.name
                    ),
                    format!("write `{name} : listed`, or leave the kind out"),
                );
            }
            return Ok(());
        }
        let element = self.concrete.tensors[lhs.tensor].element;
        let fills =
            |access: &Access| Some(Expr::Literal(self.concrete.tensors[access.tensor].fill));
        let absent = rhs.map_accesses(&mut { fills }).simplify().literal();
        if absent.is_none() || absent != nested.reduce.and_then(|op| op.identity(element)) {
            return refuse(
                format!(
                    "the entries of `{}` get values where no operand is stored, in no order",
                    result.name,
                ),
                format!(
                    "store an operand in another mode order, or `{}` as `dense`",
                    result.name
                ),
            );
        }
        Ok(())
    }

    fn result(&self, nested: Nested<'_, '_>) -> Result<()> {
        let Nested {
            loops, lhs, reduce, ..
        } = nested;
        let format = self.formats.of(lhs.tensor);
        let levels = format.levels();
        let name = self.name(lhs);
        // Nests that follow one another come to the same rows, none of which is open
        // in all of them.
        let open = match self.nests_that_assign(lhs) {
            1 => loops,
            _ => &[],
        };
        if reduce.is_some() && !collects(self.concrete, format, nested, open) {
            let (why, help) = match format.is_all_dense() {
                true => (
                    "whose padding does not begin as its entries do",
                    "collect the values first, as in `precompute(…, {}, t)`".to_owned(),
                ),
                false => ("which is sparse", format!("store `{name}` as `dense`")),
            };
            return Err(self
                .error(
                    code::SPARSE_REDUCTION,
                    lhs,
                    format!("values are added up into entries of `{name}`, {why}"),
                )
                .help(help));
        }
        let random = |level: &Level| level.kind.capabilities().random_insert;
        // Of segments that have their places the parents come in any order.
        let n_free = match self.concrete.inserts() {
            true => levels.iter().take_while(|level| random(level)).count(),
            false => 0,
        };
        for (number, level) in levels.iter().enumerate() {
            if random(level) {
                continue;
            }
            // What is looked for comes in any order below the levels above.
            let n_ordered = number + usize::from(!level.kind.capabilities().probing_insert);
            let wanted = levels[..n_ordered].iter();
            let mut wanted: Vec<_> = wanted.map(|level| lhs.var(level.mode())).collect();
            // What names the variables of loops is written as they come.
            let made = |var: &IndexVar| self.concrete.made_by(*var).is_some();
            let mut in_order = match lhs.vars().iter().any(made) {
                true => loops.iter().copied().map(Some).collect(),
                false => self.concrete.in_order(loops),
            };
            in_order.truncate(n_ordered);
            let n_free = n_free.min(in_order.len());
            wanted[..n_free].sort();
            in_order[..n_free].sort();
            if in_order != wanted {
                let order: Vec<&str> = loops.iter().map(|var| self.var(*var)).collect();
                return Err(self
                    .error(
                        code::RESULT_ORDER,
                        lhs,
                        format!(
                            "`{name}` does not get its entries in order from the loops {}",
                            order.join(", "),
                        ),
                    )
                    .help(format!(
                        "store `{name}` as `dense`, or in the order in which it is produced"
                    )));
            }
        }
        Ok(())
    }

    /// How many assignments a tensor has.
    fn nests_that_assign(&self, lhs: &Access) -> usize {
        let mut n = 0;
        let stmt = &self.concrete.stmt;
        stmt.for_each_assign(&mut |other, _, _| n += usize::from(other.tensor == lhs.tensor));
        n
    }

    /// A kernel takes extents from the arguments where a variable stands alone;
    /// others have to be known.
    fn extents(&self) -> Result<()> {
        let (mut used, mut alone) = (BTreeSet::new(), BTreeSet::new());
        self.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            used.extend(rhs.vars());
            for access in rhs.accesses().into_iter().chain([lhs]) {
                used.extend(access.vars());
                alone.extend(access.indices.iter().filter_map(IndexExpr::as_var));
            }
        });
        let is_unknown = |var: &&IndexVar| self.concrete.vars[**var].extent.is_none();
        // Those that others are computed from end where these do.
        for var in self.concrete.stmt.loops() {
            used.extend(self.concrete.originals(var));
            alone.extend(self.concrete.made_by(var).map(|_| var));
        }
        let Some(&var) = used.difference(&alone).find(is_unknown) else {
            return Ok(());
        };
        let name = self.var(var);
        let result = &self.concrete.tensors[self.concrete.result];
        Err(Diagnostic::new(
            code::MISSING_EXTENT,
            format!("the extent of `{name}` is not known"),
        )
        .at(&self.concrete.source, result.span, "needed to compute this")
        .help(format!("say it (`-d {name}=…`), or give the operands")))
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            concrete: self.concrete,
            formats: self.formats,
            operands: self.operands,
        }
    }

    fn name(&self, access: &Access) -> &str {
        &self.concrete.tensors[access.tensor].name
    }

    fn var(&self, var: IndexVar) -> &str {
        &self.concrete.vars[var].name
    }

    fn error(&self, code: sparsec_base::Code, access: &Access, message: String) -> Diagnostic {
        Diagnostic::new(code, message).at(&self.concrete.source, access.span, "here")
    }
}

/// Whether the statement is one assignment inside loops.
pub fn is_perfect_nest(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Assign { .. } => true,
        Stmt::Forall { body, .. } => is_perfect_nest(body),
        Stmt::Where { .. } | Stmt::Sequence(_) => false,
    }
}
