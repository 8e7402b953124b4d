//! From the last result back to an operand.
//!
//! ```text
//! t(i) = exp(A(i,j)) summed, y = t(i) * t(i)          forward statements that are needed
//! d_t(i) = d_y * t(i) + t(i) * d_y                    one for each result between
//! d_A(i,j) = d_t(i) * exp(A(i,j))                     the gradient
//! ```
//!
//! The derivative by a tensor is one statement: a term for each access of the tensor. For each
//! term, the statement with the access is written again, in variables of the new statement: those
//! of the access become those of `d_A`, all others are new.
//!
//! [`back`](super::back) goes through expressions, and [`write`](super::write) writes them again.
//!
//! Invariant: a term depends on each variable of `d_A` and on each variable that it is summed over,
//! so that extents follow; where the derivative itself does not, [`Term::tied`] reads a tensor of
//! the statement that does.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Diagnostic, Kind, Result, code};
use sparsec_index::build::Value;
use sparsec_index::program::TensorRole;
use sparsec_index::{
    Access, IndexExpr, IndexVar, Operator, Program, ProgramBuilder, Statement, TensorVar,
};

use crate::Places;
use crate::partial::Values;
use crate::write::{Names, Renamed};

/// A gradient that is being built.
pub(crate) struct Derivation<'a> {
    pub(crate) program: &'a Program,
    target: TensorVar,
    places: Places,
    pub(crate) built: ProgramBuilder,
    /// The tensors of the program, in the new one.
    pub(crate) tensors: BTreeMap<TensorVar, TensorVar>,
    /// The derivatives by tensors of the program.
    derivatives: BTreeMap<TensorVar, TensorVar>,
    /// The number of the last tensor that holds extremes.
    pub(crate) n_extremes: usize,
}

/// The way from a statement to one of its accesses.
pub(crate) struct Path<'a> {
    pub(crate) statement: &'a Statement,
    /// How many accesses of the expression at hand are left of the one.
    pub(crate) number: usize,
    /// The variables of the statement's result, and those that are bound on the way.
    pub(crate) scope: Vec<IndexVar>,
}

/// One access of a tensor in a statement, from the left to the right.
struct Occurrence<'a> {
    statement: &'a Statement,
    /// How many accesses of the statement are left of it.
    number: usize,
    access: &'a Access,
}

impl<'a> Derivation<'a> {
    /// The gradient, with the forward statements of some results; of all, if none are said.
    pub(crate) fn of(
        program: &'a Program,
        target: TensorVar,
        places: Places,
        forward: Option<&BTreeSet<TensorVar>>,
    ) -> Result<Program> {
        let mut derivation = Self {
            program,
            target,
            places,
            built: ProgramBuilder::new(),
            tensors: BTreeMap::new(),
            derivatives: BTreeMap::new(),
            n_extremes: 0,
        };
        derivation.check()?;
        derivation.forward(forward)?;
        derivation.backward()?;
        derivation.built.finish()
    }

    pub(crate) fn refused(
        &self,
        span: sparsec_base::Span,
        message: String,
        help: &str,
    ) -> Diagnostic {
        Diagnostic::new(code::NO_DERIVATIVE, message)
            .at(&self.program.source, span, "here")
            .help(help.to_owned())
    }

    /// Refuses to read a value whose name is assigned again.
    pub(crate) fn assigned_again(&self, span: sparsec_base::Span) -> Diagnostic {
        let message = "the derivative reads a value whose name is assigned again".to_owned();
        self.refused(span, message, "give each value a name of its own")
    }

    /// Refuses programs that have no derivative by the target.
    fn check(&self) -> Result<()> {
        let data = &self.program.tensors[self.target];
        if data.element.kind() != Kind::Float {
            let message = format!(
                "`{}` is {}, which has no derivatives",
                data.name, data.element
            );
            let help = "derivatives are by real numbers: `f32` or `f64`";
            return Err(self.refused(data.span, message, help));
        }
        let reached = self.reached();
        for statement in &self.program.statements {
            let lhs = &self.program.tensors[statement.lhs.tensor];
            if reached.contains(&statement.lhs.tensor) && statement.is_partial() {
                let message = format!("a part of `{}` is assigned", lhs.name);
                let help = "assign whole tensors";
                return Err(self.refused(statement.span, message, help));
            }
        }
        let last = self.program.statements.last();
        let last = last.expect("a program has a statement");
        if !reached.contains(&last.lhs.tensor) {
            let name = &self.program.tensors[last.lhs.tensor].name;
            let message = format!("`{name}` does not depend on `{}`", data.name);
            let help = "name an operand that the last statement depends on";
            return Err(self.refused(last.span, message, help));
        }
        Ok(())
    }

    /// The target, and all results that depend on it.
    fn reached(&self) -> BTreeSet<TensorVar> {
        let mut reached = BTreeSet::from([self.target]);
        for statement in &self.program.statements {
            let read = statement.rhs.accesses();
            if read.iter().any(|access| reached.contains(&access.tensor)) {
                reached.insert(statement.lhs.tensor);
            }
        }
        reached
    }

    /// Declares all tensors, and writes the statements of results that are wanted.
    fn forward(&mut self, wanted: Option<&BTreeSet<TensorVar>>) -> Result<()> {
        let program = self.program;
        let last = program.statements.last().map(|last| last.lhs.tensor);
        let is_wanted = |tensor: TensorVar| match wanted {
            Some(wanted) => wanted.contains(&tensor),
            None => true,
        };
        for (tensor, data) in program.tensors.iter() {
            let is_read = Some(tensor) != last || wanted.is_some_and(|it| it.contains(&tensor));
            let made = match data.role {
                TensorRole::Input => {
                    let made = self.built.input(&data.name, data.element, &data.extents)?;
                    self.built.set_fill(made, data.fill)?;
                    made
                }
                _ if is_read && is_wanted(tensor) => self.built.result(&data.name, data.order())?,
                _ => continue,
            };
            self.tensors.insert(tensor, made);
        }
        for statement in &program.statements {
            let Some(&result) = self.tensors.get(&statement.lhs.tensor) else {
                continue;
            };
            if program.tensors[statement.lhs.tensor].role == TensorRole::Input {
                continue;
            }
            let mut names = Names::beside(self.program);
            let mut renamed = Renamed::new();
            let vars = statement.lhs.vars();
            for var in &vars {
                renamed.insert(*var, self.var(&mut names, *var));
            }
            let element = program.tensors[statement.lhs.tensor].element;
            self.built.set_element(result, element)?;
            let value = self.value(&statement.rhs, &mut renamed, &mut names)?;
            let vars: Vec<IndexVar> = vars.iter().map(|var| renamed[var]).collect();
            self.built.assign(result, vars, value)?;
        }
        Ok(())
    }

    /// Writes the derivatives by all results that depend on the target, and by the target.
    fn backward(&mut self) -> Result<()> {
        let program = self.program;
        let reached = self.reached();
        let last = program.statements.last();
        let seed = last.expect("a program has a statement").lhs.tensor;
        let data = &program.tensors[seed];
        let name = self.name_of(seed);
        let given = self.built.input(&name, data.element, &data.extents)?;
        self.derivatives.insert(seed, given);
        let results = program.statements.iter().rev().map(|it| it.lhs.tensor);
        let wanted: Vec<TensorVar> = results
            .filter(|tensor| *tensor != seed && reached.contains(tensor))
            .chain([self.target])
            .collect();
        for tensor in wanted {
            let occurrences = self.occurrences(tensor);
            // A result that nothing reads has no derivative.
            if occurrences.is_empty() {
                continue;
            }
            let name = self.name_of(tensor);
            let made = self.built.result(&name, program.tensors[tensor].order())?;
            self.derivative(tensor, made, &occurrences)?;
            self.derivatives.insert(tensor, made);
        }
        Ok(())
    }

    /// The name of the derivative by a tensor: `d_A`, with more `_` where it is taken.
    fn name_of(&self, tensor: TensorVar) -> String {
        let mut name = format!("d_{}", self.program.tensors[tensor].name);
        while self.is_taken(&name) {
            name.insert(1, '_');
        }
        name
    }

    /// Whether a tensor of the program has a name, or an index variable of either program:
    /// those of the new one may have a number behind the name that they have in the other.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let is_var = |var: &str| {
            let number = name.strip_prefix(var);
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let mut vars = self.program.vars.iter();
        self.program.tensors.named(name).is_some() || vars.any(|(_, data)| is_var(&data.name))
    }

    /// The accesses of a tensor in statements whose results have a derivative.
    fn occurrences(&self, tensor: TensorVar) -> Vec<Occurrence<'a>> {
        let statements = self.program.statements.iter();
        let mut found = Vec::new();
        for statement in statements.filter(|it| self.derivatives.contains_key(&it.lhs.tensor)) {
            let accesses = statement.rhs.accesses().into_iter().enumerate();
            let own = accesses.filter(|(_, access)| access.tensor == tensor);
            found.extend(own.map(|(number, access)| Occurrence {
                statement,
                number,
                access,
            }));
        }
        found
    }

    /// The statement of the derivative by a tensor.
    fn derivative(
        &mut self,
        tensor: TensorVar,
        made: TensorVar,
        occurrences: &[Occurrence<'a>],
    ) -> Result<()> {
        let data = &self.program.tensors[tensor];
        let mut names = Names::beside(self.program);
        let first = occurrences[0].access;
        let own: Vec<IndexVar> = (0..data.order())
            .map(|mode| match first.var(mode) {
                Some(var) => self.var(&mut names, var),
                None => {
                    let name = names.fresh(&format!("i{mode}"));
                    self.built.var(&name)
                }
            })
            .collect();
        let mut sum: Option<Value> = None;
        for occurrence in occurrences {
            let Some(term) = self.term(occurrence, &own, &mut names)? else {
                continue;
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.built.apply(&Operator::Add, [sum, term])?,
            });
        }
        let values = Values(&self.built);
        let mut value = sum.unwrap_or_else(|| values.number(0.0));
        let is_stored = tensor == self.target && self.places == Places::Stored;
        let made_of = self.tensors.get(&tensor).copied();
        let access = match made_of {
            Some(tensor) => Some(self.built.access(tensor, own.iter().copied())?),
            None => None,
        };
        if let (true, Some(access)) = (is_stored, &access) {
            let stored = values.one(&Operator::IsStored, access)?;
            value = values.select(&stored, &value, &values.number(0.0))?;
        } else if let (Some(access), Some(itself)) = (&access, made_of)
            && own.iter().any(|var| !self.has_extent(&value, *var, itself))
        {
            // The tensor itself says how far its modes run.
            value = self.tied(value, access)?;
        }
        if value.element().kind() == Kind::Float && value.element() != data.element {
            value = self.built.cast(data.element, value)?;
        }
        self.built.set_element(made, data.element)?;
        self.built.assign(made, own, value)
    }

    /// Whether an operand, or the tensor itself, gives a variable of a value its extent.
    fn has_extent(&self, value: &Value, var: IndexVar, own: TensorVar) -> bool {
        let is_operand = |tensor: TensorVar| {
            let made = self.tensors.iter().find(|(_, made)| **made == tensor);
            made.is_some_and(|(of, _)| self.program.tensors[*of].role == TensorRole::Input)
        };
        let last = self.program.statements.last().map(|last| last.lhs.tensor);
        let seed = last.and_then(|last| self.derivatives.get(&last));
        let says = |access: &&Access| {
            let tensor = access.tensor;
            is_operand(tensor) || tensor == own || seed == Some(&tensor)
        };
        let accesses = value.expr().accesses().into_iter();
        let mut indices = accesses.filter(says).flat_map(|access| &access.indices);
        indices.any(|index| index.as_var() == Some(var))
    }

    /// A value that depends on all variables of an access, and on nothing of its value.
    fn tied(&self, value: Value, access: &Value) -> Result<Value> {
        let values = Values(&self.built);
        let always = values.two(&Operator::Eq, access, access)?;
        values.select(&always, &value, &value)
    }

    /// What one access adds to the derivative by its tensor.
    fn term(
        &mut self,
        occurrence: &Occurrence<'a>,
        own: &[IndexVar],
        names: &mut Names,
    ) -> Result<Option<Value>> {
        let Occurrence {
            statement, access, ..
        } = occurrence;
        let plain = access.plain_vars();
        let plain = plain.filter(|vars| (1..vars.len()).all(|at| !vars[..at].contains(&vars[at])));
        let mut renamed = Renamed::new();
        if let Some(vars) = &plain {
            renamed.extend(vars.iter().copied().zip(own.iter().copied()));
        }
        for var in statement.lhs.vars() {
            self.rename(var, &mut renamed, names);
        }
        let seed = self.derivatives[&statement.lhs.tensor];
        let places: Vec<IndexVar> = statement
            .lhs
            .vars()
            .iter()
            .map(|var| renamed[var])
            .collect();
        let seed = self.built.access(seed, places.iter().copied())?;
        let mut path = Path {
            number: occurrence.number,
            scope: statement.lhs.vars(),
            statement,
        };
        let derived = self.back(&statement.rhs, seed, &mut path, &mut renamed, names)?;
        let Some(mut value) = derived else {
            return Ok(None);
        };
        if plain.is_none() {
            // Entries of which each is read at several coordinates, or only some are read.
            let values = Values(&self.built);
            for (index, var) in access.indices.iter().zip(own) {
                let here = self.built.index(index.renamed(&|var| renamed[&var]))?;
                let there = self.built.index(IndexExpr::from(*var))?;
                let meets = values.two(&Operator::Eq, &there, &here)?;
                value = values.select(&meets, &value, &values.number(0.0))?;
            }
        }
        let over = path.scope.iter().map(|var| renamed[var]);
        let over: Vec<IndexVar> = over.filter(|var| !own.contains(var)).collect();
        for var in &over {
            if !value.expr().vars().contains(var) {
                value = self.depends(value, *var, &path, &renamed)?;
            }
        }
        if over.is_empty() {
            return Ok(Some(value));
        }
        self.built.reduce(&Operator::Add, over, value).map(Some)
    }

    /// A value that depends on a variable, by an access of the statement that says how far it runs.
    fn depends(
        &self,
        value: Value,
        var: IndexVar,
        path: &Path<'_>,
        renamed: &Renamed,
    ) -> Result<Value> {
        let accesses = path.statement.rhs.accesses().into_iter();
        let mut fitting = accesses.filter(|access| {
            let vars = access.plain_vars();
            vars.is_some_and(|vars| {
                vars.iter().any(|it| renamed.get(it) == Some(&var))
                    && vars.iter().all(|it| path.scope.contains(it))
            })
        });
        let Some(access) = fitting.next() else {
            let message = "the derivative sums over a variable that nothing says the extent of";
            let help = "give the sum a name, in a statement of its own";
            return Err(self.refused(path.statement.span, message.to_owned(), help));
        };
        let Some(tensor) = self.tensors.get(&access.tensor) else {
            return Err(self.assigned_again(access.span));
        };
        let vars = access.vars().into_iter().map(|var| renamed[&var]);
        let access = self.built.access(*tensor, vars)?;
        self.tied(value, &access)
    }
}
