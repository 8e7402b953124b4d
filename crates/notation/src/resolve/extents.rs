//! How far each index variable runs, and each mode reaches.
//!
//! Every index of every access says that a mode and a variable have one
//! extent. A tensor of which a part is assigned keeps the extents of its value
//! before. Implied sums of one statement over one name run equally far:
//! `s = a(i) + b(i)` reads vectors of one length. Extents that are known spread over
//! these equations until nothing changes; two that meet and differ are a clash.
//! What changes has only those equations looked at again that it is in: an extent that
//! goes back through a chain of statements would take a pass over all for each.

mod equations;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_index::{IndexExpr, IndexVar, Program, Statement, TensorVar};

use super::tensors::with_origin;
use super::{Declarations, parts};
use crate::syntax::{Index, TensorUse};
use equations::{Due, Equation, Equations, Learnt};

/// What the accesses of a program say of extents.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    vars: Vec<VarUse>,
    accesses: Vec<AccessUse>,
    /// Indices that are numbers in an expression, each as it is written.
    pub(crate) numbers: Vec<(IndexExpr, Index)>,
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
pub(crate) struct AccessUse {
    pub(crate) tensor: TensorVar,
    pub(crate) indices: Vec<IndexExpr>,
    /// The access as it is written.
    pub(crate) written: TensorUse,
    /// Whether it is assigned.
    pub(crate) is_left: bool,
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
        is_left: bool,
    ) {
        self.accesses.push(AccessUse {
            tensor,
            indices: indices.to_vec(),
            written: written.clone(),
            is_left,
        });
    }

    /// Every access, in the order in which they were noted.
    pub(crate) fn accesses(&self) -> &[AccessUse] {
        &self.accesses
    }

    fn of(&self, var: IndexVar) -> &VarUse {
        let known = &self.vars[var.index()];
        assert_eq!(known.var, var, "every variable was noted when it was made");
        known
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
        equations: Equations::of(program, uses),
        due: Due::default(),
        program,
        declarations,
        uses,
    };
    unifier.due = unifier.equations.all_due(uses);
    unifier.count_parts()?;
    while unifier.spread()? || unifier.deduce() {}
    unifier.check_bound()?;
    parts::check(unifier.program, uses)
}

struct Unifier<'a> {
    program: &'a mut Program,
    declarations: &'a Declarations,
    uses: &'a Uses,
    /// For each variable, the access and mode that its extent was learnt from.
    learnt: Vec<Option<(usize, usize)>>,
    equations: Equations,
    due: Due,
}

impl Unifier<'_> {
    /// One pass over the equations that something changed for; whether anything was learnt.
    ///
    /// Those behind the one that learnt it are looked at in this pass, others in the next, so
    /// that extents are learnt from where a pass over all would learn them.
    fn spread(&mut self) -> Result<bool> {
        let mut due = std::mem::take(&mut self.due.equations);
        let mut changed = false;
        while let Some(number) = due.pop_first() {
            for learnt in self.solve(self.equations.all[number])? {
                self.note(learnt);
                changed = true;
            }
            due.extend(self.due.equations.split_off(&(number + 1)));
        }
        Ok(changed)
    }

    /// Has everything looked at again that depends on what was learnt.
    fn note(&mut self, learnt: Learnt) {
        for number in self.equations.with(learnt) {
            self.due.add(&self.equations, self.uses, *number);
        }
    }

    /// Learns what one equation says.
    fn solve(&mut self, equation: Equation) -> Result<Vec<Learnt>> {
        match equation {
            Equation::Before(statement) => self.keep_before(statement),
            Equation::Access(access) => self.access(access),
            Equation::Same(pair) => {
                let (first, other) = self.program.same_extent[pair];
                Ok(self.share(first, other)?.into_iter().collect())
            }
        }
    }

    /// Has a value of which a part is assigned keep the extents of the value before.
    fn keep_before(&mut self, statement: usize) -> Result<Vec<Learnt>> {
        let statement = &self.program.statements[statement];
        let (Some(before), after) = (statement.before, statement.lhs.tensor) else {
            return Ok(Vec::new());
        };
        let mut learnt = Vec::new();
        for mode in 0..self.program.tensors[after].order() {
            let known = self.program.tensors[before].extents[mode];
            match (known, self.program.tensors[after].extents[mode]) {
                (Some(a), Some(b)) if a != b => {
                    return Err(changed_extent(self.program, statement, mode, a, b));
                }
                (Some(_), None) => {
                    self.program.tensors[after].extents[mode] = known;
                    learnt.push(Learnt::Tensor(after));
                }
                _ => {}
            }
        }
        Ok(learnt)
    }

    fn access(&mut self, number: usize) -> Result<Vec<Learnt>> {
        let access = &self.uses.accesses[number];
        let mut learnt = Vec::new();
        for (mode, index) in access.indices.iter().enumerate() {
            let Some(var) = index.as_var() else {
                continue;
            };
            let of_mode = self.program.tensors[access.tensor].extents[mode];
            let of_var = self.program.vars[var].extent;
            match (of_mode, of_var) {
                (Some(a), Some(b)) if a != b => return Err(self.clash(number, mode, var, a, b)),
                (Some(extent), None) => {
                    self.program.vars[var].extent = Some(extent);
                    self.learnt[var.index()] = Some((number, mode));
                    learnt.push(Learnt::Var(var));
                }
                (None, Some(extent)) => {
                    self.program.tensors[access.tensor].extents[mode] = Some(extent);
                    learnt.push(Learnt::Tensor(access.tensor));
                }
                _ => {}
            }
        }
        Ok(learnt)
    }

    /// Gives two variables one extent; which of them learnt it from the other.
    fn share(&mut self, first: IndexVar, other: IndexVar) -> Result<Option<Learnt>> {
        let vars = &self.program.vars;
        let (known, unknown) = match (vars[first].extent, vars[other].extent) {
            (Some(a), Some(b)) if a != b => {
                let (number, mode) = self.learnt[other.index()]
                    .or_else(|| self.first_use(other))
                    .expect("an extent comes from an access or from the call");
                return Err(self.clash(number, mode, first, b, a));
            }
            (Some(_), None) => (first, other),
            (None, Some(_)) => (other, first),
            _ => return Ok(None),
        };
        self.program.vars[unknown].extent = self.program.vars[known].extent;
        self.learnt[unknown.index()] = self.learnt[known.index()];
        Ok(Some(Learnt::Var(unknown)))
    }

    /// The first access and mode whose index has the variable.
    fn first_use(&self, var: IndexVar) -> Option<(usize, usize)> {
        let mut accesses = self.uses.accesses.iter().enumerate();
        accesses.find_map(|(number, access)| {
            let mode = access.indices.iter().position(|index| index.uses(var))?;
            Some((number, mode))
        })
    }

    /// Gives the variables of windows and sets their extents.
    fn count_parts(&mut self) -> Result<()> {
        for (number, access) in self.uses.accesses.iter().enumerate() {
            for (mode, written) in access.written.indices.iter().enumerate() {
                let Some((_, count)) = parts::counted(written) else {
                    continue;
                };
                let vars = access.indices[mode].vars();
                let var = *vars.first().expect("windows and sets have a variable");
                match self.program.vars[var].extent {
                    Some(known) if known != count => {
                        return Err(self.clash(number, mode, var, count, known));
                    }
                    _ => self.program.vars[var].extent = Some(count),
                }
                self.learnt[var.index()] = Some((number, mode));
            }
        }
        Ok(())
    }

    /// Finds an extent that only affine forms tell; whether there was one.
    fn deduce(&mut self) -> bool {
        while let Some(var) = self.due.vars.pop_first() {
            let accesses = self.equations.accesses(var);
            let accesses = accesses.map(|number| &self.uses.accesses[number]);
            if self.program.vars[var].extent.is_none()
                && let Some(extent) = parts::deduced(self.program, accesses, var)
            {
                self.program.vars[var].extent = Some(extent);
                self.note(Learnt::Var(var));
                return true;
            }
        }
        while let Some(number) = self.due.left.pop_first() {
            let access = &self.uses.accesses[number];
            if let Some((mode, extent)) = parts::needed(self.program, access) {
                self.program.tensors[access.tensor].extents[mode] = Some(extent);
                self.note(Learnt::Tensor(access.tensor));
                return true;
            }
        }
        if let Some((var, count)) = parts::counted_by_number(self.program, self.uses) {
            self.program.vars[var].extent = Some(count);
            self.note(Learnt::Var(var));
            return true;
        }
        false
    }

    fn clash(
        &self,
        number: usize,
        mode: usize,
        var: IndexVar,
        of_mode: u64,
        of_var: u64,
    ) -> Diagnostic {
        let access = &self.uses.accesses[number];
        let known = self.uses.of(var);
        let written = &known.written;
        let error = Diagnostic::new(
            code::EXTENT_MISMATCH,
            format!("index variable `{written}` has two extents, {of_var} and {of_mode}"),
        );
        let mut error = self.label(error, number, mode, of_mode, true);
        let mut named = vec![access.tensor];
        match self.learnt[var.index()] {
            Some((first, first_mode)) => {
                error = self.label(error, first, first_mode, of_var, false);
                named.push(self.uses.accesses[first].tensor);
            }
            None if known.given => {
                let text = format!("`{written}` is given extent {of_var}");
                error = match self.declarations.extent_places.get(written) {
                    Some((source, span)) => error.also(source, *span, text),
                    None => error.note(text),
                };
            }
            None => {}
        }
        named.dedup();
        for tensor in named.into_iter().rev() {
            let data = &self.program.tensors[tensor];
            error = with_origin(error, data.source_name(), self.declarations.of(data));
        }
        let first = self.learnt[var.index()];
        error.help(match (self.fitting(number, mode, of_var), first) {
            (Some(help), _) => help,
            (None, None) if of_mode > of_var && of_var > 0 => {
                let part = self.read_part(number, mode, of_var);
                format!("leave out the extent given for `{written}`, or take the part that fits: `{part}`")
            }
            (None, None) => {
                format!("leave out the extent given for `{written}`, or make it {of_mode}")
            }
            (None, Some(_)) if of_mode > of_var => self.part(number, mode, of_var),
            (None, Some((first, first_mode))) => self.part(first, first_mode, of_mode),
        })
    }

    /// The advice to read no more than `extent` coordinates of a mode.
    fn part(&self, number: usize, mode: usize, extent: u64) -> String {
        if extent == 0 {
            return "give one of them another index".into();
        }
        let part = self.read_part(number, mode, extent);
        format!("give one of them another index, or take the part that fits: `{part}`")
    }

    /// The access that reads the first `extent` coordinates of a mode.
    fn read_part(&self, number: usize, mode: usize, extent: u64) -> String {
        let access = &self.uses.accesses[number];
        let name = self.program.tensors[access.tensor].source_name();
        let written = |(at, index): (usize, &Index)| match (at == mode, index.as_var()) {
            (true, Some(var)) => format!("{}(0:{extent})", var.text),
            (true, None) => format!("i(0:{extent})"),
            (false, _) => index.to_string(),
        };
        let indices = access.written.indices.iter().enumerate().map(written);
        let indices: Vec<String> = indices.collect();
        format!("{name}({})", indices.join(", "))
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
        let data = &self.program.tensors[access.tensor];
        let name = data.source_name();
        let index = &access.written.indices[mode];
        let text = match index.as_var() {
            Some(_) => format!("mode {mode} of `{name}` has extent {extent}"),
            None => format!("`{index}` has {extent} coordinates"),
        };
        let here: Span = index.span;
        let source = &self.program.source;
        if primary {
            return error.at(source, here, text);
        }
        let declared = self.declarations.of(data);
        let declared = declared.filter(|_| index.as_var().is_some());
        let declared = declared.and_then(|known| known.places.get(mode));
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
        let name = data.source_name();
        Some(format!(
            "mode {other} of `{name}` has extent {wanted}; did you mean `{name}({})`?",
            indices.join(", ")
        ))
    }

    /// A variable that stands alone nowhere on the right needs an extent from
    /// elsewhere.
    fn check_bound(&self) -> Result<()> {
        for statement in &self.program.statements {
            let mut alone = Vec::new();
            let mut all = statement.lhs.vars();
            // `i - i` is no variable, but a sum over `i` runs all the same.
            all.extend(statement.rhs.bound_vars());
            all.extend(statement.rhs.vars());
            statement.rhs.for_each_access(&mut |access| {
                alone.extend(access.indices.iter().filter_map(IndexExpr::as_var));
            });
            for var in all {
                let is_known = self.program.vars[var].extent.is_some() || alone.contains(&var);
                // It may follow when the extents of operands are known; until
                // then the result has it.
                let may_follow = || statement.lhs.mode_of(var).is_some() && self.may_follow(var);
                if !is_known && !may_follow() {
                    return Err(self.unbound(statement.span, var));
                }
            }
        }
        Ok(())
    }

    /// Whether a mode that an affine form with `var` reaches has an extent that
    /// is not known yet.
    fn may_follow(&self, var: IndexVar) -> bool {
        self.equations.accesses(var).any(|number| {
            let access = &self.uses.accesses[number];
            let extents = &self.program.tensors[access.tensor].extents;
            let mut modes = std::iter::zip(&access.indices, extents);
            !access.is_left && modes.any(|(index, extent)| index.uses(var) && extent.is_none())
        })
    }

    fn unbound(&self, statement: Span, var: IndexVar) -> Diagnostic {
        let place = |is_left: bool| {
            self.uses.accesses.iter().find_map(|access| {
                let mode = access.indices.iter().position(|index| index.uses(var))?;
                (access.is_left == is_left).then(|| access.written.indices[mode].span)
            })
        };
        let name = &self.uses.of(var).written;
        let (span, label, otherwise) = match (place(false), place(true)) {
            (Some(span), _) => {
                let otherwise = format!("read a tensor at `{name}` alone");
                (span, "does not say it", otherwise)
            }
            (None, Some(span)) => {
                let otherwise = format!("have `{name}` on the right too");
                (span, "not on the right", otherwise)
            }
            (None, None) => {
                let otherwise = format!("read a tensor at `{name}` in each term that has it");
                (statement, "a term has it only as a number", otherwise)
            }
        };
        Diagnostic::new(
            code::UNBOUND_INDEX,
            format!("nothing says how far `{name}` runs"),
        )
        .at(&self.program.source, span, label)
        .help(format!(
            "give its extent (`.extent(\"{name}\", …)`), or {otherwise}"
        ))
    }
}

/// Refuses a part of a value that has another extent than what it is made of.
fn changed_extent(
    program: &Program,
    statement: &Statement,
    mode: usize,
    before: u64,
    after: u64,
) -> Diagnostic {
    let name = program.tensors[statement.lhs.tensor].source_name();
    let message = format!("mode {mode} of `{name}` has two extents, {before} and {after}");
    let label = "made of the value before it";
    Diagnostic::new(code::EXTENT_MISMATCH, message)
        .at(&program.source, statement.span, label)
        .help(format!(
            "assign all of `{name}` first, so that its extents are known"
        ))
}
