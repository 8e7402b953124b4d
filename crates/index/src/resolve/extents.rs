//! How far each index variable runs, and each mode reaches.
//!
//! Every index of every access says that a mode and a variable have one
//! extent. Extents that are known spread over these equations until nothing
//! changes; two that meet and differ are a clash.

use sparsec_base::{Diagnostic, Result, Span, code};

use super::Declarations;
use super::tensors::with_origin;
use crate::index_expr::IndexExpr;
use crate::notation::TensorUse;
use crate::program::{IndexVar, Program, TensorVar};

/// What the accesses of a program say of extents.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    vars: Vec<VarUse>,
    accesses: Vec<AccessUse>,
}

#[derive(Debug)]
struct VarUse {
    var: IndexVar,
    /// The name as it is written.
    written: String,
    /// Whether the caller gave its extent.
    given: bool,
}

#[derive(Debug)]
struct AccessUse {
    tensor: TensorVar,
    indices: Vec<IndexExpr>,
    /// The access as it is written.
    written: TensorUse,
}

impl Uses {
    pub(crate) fn note_var(&mut self, var: IndexVar, written: &str, extent: Option<u64>) {
        self.vars.push(VarUse {
            var,
            written: written.to_owned(),
            given: extent.is_some(),
        });
    }

    pub(crate) fn note_access(
        &mut self,
        tensor: TensorVar,
        indices: &[IndexExpr],
        written: &TensorUse,
    ) {
        self.accesses.push(AccessUse {
            tensor,
            indices: indices.to_vec(),
            written: written.clone(),
        });
    }

    fn of(&self, var: IndexVar) -> &VarUse {
        let found = self.vars.iter().find(|known| known.var == var);
        found.expect("every variable was noted")
    }
}

/// Spreads the extents that are known over the program.
///
/// # Errors
/// `E0203` for a clash, `E0204` for a variable of a left side that nothing
/// gives an extent.
pub(crate) fn unify(program: &mut Program, declarations: &Declarations, uses: &Uses) -> Result<()> {
    let mut unifier = Unifier {
        learnt: vec![None; uses.vars.len()],
        program,
        declarations,
        uses,
    };
    while unifier.spread()? {}
    unifier.check_bound()
}

struct Unifier<'a> {
    program: &'a mut Program,
    declarations: &'a Declarations,
    uses: &'a Uses,
    /// For each variable, the access and mode that its extent was learnt from.
    learnt: Vec<Option<(usize, usize)>>,
}

impl Unifier<'_> {
    /// One pass over all accesses; whether anything was learnt.
    fn spread(&mut self) -> Result<bool> {
        let mut changed = false;
        for (number, access) in self.uses.accesses.iter().enumerate() {
            for (mode, index) in access.indices.iter().enumerate() {
                let Some(var) = index.as_var() else {
                    continue;
                };
                let of_mode = self.program.tensors[access.tensor].extents[mode];
                let of_var = self.program.vars[var].extent;
                match (of_mode, of_var) {
                    (Some(a), Some(b)) if a != b => return Err(self.clash(number, mode, a, b)),
                    (Some(extent), None) => {
                        self.program.vars[var].extent = Some(extent);
                        let place = self.place(var);
                        self.learnt[place] = Some((number, mode));
                        changed = true;
                    }
                    (None, Some(extent)) => {
                        self.program.tensors[access.tensor].extents[mode] = Some(extent);
                        changed = true;
                    }
                    _ => {}
                }
            }
        }
        Ok(changed)
    }

    fn place(&self, var: IndexVar) -> usize {
        let mut vars = self.uses.vars.iter();
        vars.position(|known| known.var == var)
            .expect("every variable was noted")
    }

    fn clash(&self, number: usize, mode: usize, of_mode: u64, of_var: u64) -> Diagnostic {
        let access = &self.uses.accesses[number];
        let var = access.indices[mode].as_var();
        let var = var.expect("only plain variables clash");
        let known = self.uses.of(var);
        let written = &known.written;
        let error = Diagnostic::new(
            code::EXTENT_MISMATCH,
            format!("index variable `{written}` has two extents, {of_var} and {of_mode}"),
        );
        let mut error = self.label(error, number, mode, of_mode, true);
        let mut named = vec![access.tensor];
        match self.learnt[self.place(var)] {
            Some((first, first_mode)) => {
                error = self.label(error, first, first_mode, of_var, false);
                named.push(self.uses.accesses[first].tensor);
            }
            None if known.given => {
                error = error.note(format!("the call gives `{written}` extent {of_var}"));
            }
            None => {}
        }
        named.dedup();
        for tensor in named.into_iter().rev() {
            let name = &self.program.tensors[tensor].name;
            error = with_origin(error, name, self.declarations.get(name));
        }
        match self.fitting(number, mode, of_var) {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// Shows where a mode has its extent: where a text declares it, and else
    /// at the index.
    fn label(
        &self,
        error: Diagnostic,
        number: usize,
        mode: usize,
        extent: u64,
        primary: bool,
    ) -> Diagnostic {
        let access = &self.uses.accesses[number];
        let name = &self.program.tensors[access.tensor].name;
        let text = format!("mode {mode} of `{name}` has extent {extent}");
        let here: Span = access.written.indices[mode].span;
        let source = &self.program.source;
        if primary {
            return error.at(source, here, text);
        }
        let declared = self
            .declarations
            .get(name)
            .and_then(|known| known.places.get(mode));
        match declared {
            Some((source, span)) => error.also(source, *span, text),
            None => error.also(source, here, text),
        }
    }

    /// The exchange of two indices that would fit, if there is one.
    fn fitting(&self, number: usize, mode: usize, wanted: u64) -> Option<String> {
        let access = &self.uses.accesses[number];
        let data = &self.program.tensors[access.tensor];
        let fits = |index: &IndexExpr, mode: usize| {
            let extent = index.as_var().map(|var| self.program.vars[var].extent);
            extent.is_some_and(|extent| extent.is_none() || extent == data.extents[mode])
        };
        let other = (0..access.indices.len()).find(|&other| {
            other != mode
                && data.extents[other] == Some(wanted)
                && fits(&access.indices[other], mode)
        })?;
        let mut indices: Vec<String> = access
            .written
            .indices
            .iter()
            .map(|index| index.to_string())
            .collect();
        indices.swap(mode, other);
        let name = &data.name;
        Some(format!(
            "mode {other} of `{name}` has extent {wanted}; did you mean `{name}({})`?",
            indices.join(", ")
        ))
    }

    /// A variable of the left side that the right side does not have needs an
    /// extent from elsewhere.
    fn check_bound(&self) -> Result<()> {
        for statement in &self.program.statements {
            let mut read = Vec::new();
            statement
                .rhs
                .for_each_access(&mut |access| read.extend(access.vars()));
            for var in statement.lhs.vars() {
                let data = &self.program.vars[var];
                if data.extent.is_some() || read.contains(&var) {
                    continue;
                }
                let accesses = &self.uses.accesses;
                let here = accesses.iter().find_map(|access| {
                    let mode = access.indices.iter().position(|index| index.uses(var))?;
                    Some(access.written.indices[mode].span)
                });
                let span = here.unwrap_or(statement.span);
                let name = &data.name;
                return Err(Diagnostic::new(
                    code::UNBOUND_INDEX,
                    format!("nothing says how far `{name}` runs"),
                )
                .at(&self.program.source, span, "not on the right")
                .help(format!("give its extent (`-d {name}=…`), or leave it out")));
            }
        }
        Ok(())
    }
}
