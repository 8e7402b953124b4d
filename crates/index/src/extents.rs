//! How far index variables run, and tensors reach.
//!
//! Extents that are known spread over the accesses of all statements until nothing
//! changes, from operands to results and temporaries:
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)      A is 3x4, B is 4x5:  i = 3, k = 4, j = 5, C is 3x5
//! ```
//!
//! A variable that only stands in affine forms runs as far as every coordinate is inside
//! of its mode. Two extents that meet and differ are a [`Clash`].

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Arena, Span};

use crate::expr::Access;
use crate::program::{IndexVar, Program, TensorVar};

/// The extent of every index variable, where it is known.
pub type Extents = Arena<IndexVar, Option<u64>>;

/// The extents of every tensor's modes, where they are known.
pub type Modes = Arena<TensorVar, Vec<Option<u64>>>;

/// Two extents of one index variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The variable.
    pub var: IndexVar,
    /// Its extents.
    pub extents: [u64; 2],
    /// The access that says the second.
    pub span: Span,
}

/// The extents that a program itself knows of its variables.
pub fn known(program: &Program) -> Extents {
    collect(program.vars.iter().map(|(_, data)| data.extent))
}

/// The extents that a program itself knows of its tensors.
pub fn of_tensors(program: &Program) -> Modes {
    collect(program.tensors.iter().map(|(_, data)| data.extents.clone()))
}

/// The extents that follow from those of tensors, beside those that the program knows of
/// its variables.
///
/// # Errors
/// The first clash.
pub fn spread(program: &Program, tensors: Modes) -> Result<Spread, Clash> {
    let mut spread = Spread {
        vars: known(program),
        tensors,
    };
    while spread.pass(program)? || spread.deduce(program) {}
    Ok(spread)
}

fn collect<I: Id, T: Clone>(entries: impl Iterator<Item = T>) -> Arena<I, T> {
    let mut arena = Arena::new();
    for entry in entries {
        arena.push(entry);
    }
    arena
}

/// Extents that followed from others.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Of index variables.
    pub vars: Extents,
    /// Of tensors.
    pub tensors: Modes,
}

impl Spread {
    /// Goes over all accesses once; whether anything was learnt.
    fn pass(&mut self, program: &Program) -> Result<bool, Clash> {
        let mut learnt = false;
        for statement in &program.statements {
            for access in statement.rhs.accesses() {
                learnt |= self.access(access)?;
            }
            learnt |= self.access(&statement.lhs)?;
        }
        for (first, other) in &program.same_extent {
            learnt |= self.share(program, *first, *other)?;
        }
        Ok(learnt)
    }

    /// Gives two variables one extent; whether one of them learnt it.
    fn share(
        &mut self,
        program: &Program,
        first: IndexVar,
        other: IndexVar,
    ) -> Result<bool, Clash> {
        match (self.vars[first], self.vars[other]) {
            (Some(a), Some(b)) if a != b => Err(Clash {
                var: first,
                extents: [a, b],
                span: place_of(program, other),
            }),
            (Some(extent), None) => {
                self.vars[other] = Some(extent);
                Ok(true)
            }
            (None, Some(extent)) => {
                self.vars[first] = Some(extent);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Finds the extent of a variable that only stands in affine forms, as
    /// resolving does; whether there was one.
    fn deduce(&mut self, program: &Program) -> bool {
        for statement in &program.statements {
            let accesses = statement.rhs.accesses();
            let vars: BTreeSet<IndexVar> = accesses.iter().flat_map(|it| it.vars()).collect();
            for var in vars {
                if self.vars[var].is_none()
                    && let Some(extent) = self.deduced(&accesses, var)
                {
                    self.vars[var] = Some(extent);
                    return true;
                }
            }
        }
        false
    }

    fn deduced(&self, accesses: &[&Access], var: IndexVar) -> Option<u64> {
        let mut least = None;
        for access in accesses {
            let extents = &self.tensors[access.tensor];
            for (index, bound) in access.indices.iter().zip(extents) {
                if index.uses(var) && index.as_var().is_none() {
                    let valid = index.valid_extent(var, (*bound)?, &|var| self.vars[var])?;
                    least = Some(least.map_or(valid, |known: u64| known.min(valid)));
                }
            }
        }
        least
    }

    fn access(&mut self, access: &Access) -> Result<bool, Clash> {
        let mut learnt = false;
        for (mode, of_mode) in self.tensors[access.tensor].iter_mut().enumerate() {
            let Some(var) = access.var(mode) else {
                continue;
            };
            let of_var = &mut self.vars[var];
            match (*of_mode, *of_var) {
                (Some(a), Some(b)) if a != b => {
                    return Err(Clash {
                        var,
                        extents: [b, a],
                        span: access.span,
                    });
                }
                (Some(extent), None) => *of_var = Some(extent),
                (None, Some(extent)) => *of_mode = Some(extent),
                _ => continue,
            }
            learnt = true;
        }
        Ok(learnt)
    }
}

/// The first access with an index of `var`; the whole source if there is none.
fn place_of(program: &Program, var: IndexVar) -> Span {
    let accesses = program.statements.iter().flat_map(|it| it.rhs.accesses());
    let mut reading = accesses.filter(|access| access.vars().contains(&var));
    let whole = || Span::new(0, program.source.text().len());
    reading.next().map_or_else(whole, |access| access.span)
}
