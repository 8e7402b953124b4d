//! Expressions of the program, written again in variables of another statement.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::Result;
use sparsec_index::build::Value;
use sparsec_index::{Expr, IndexVar, Program};

use crate::derive::Derivation;

/// The variables of a statement that is written again.
pub(crate) type Renamed = BTreeMap<IndexVar, IndexVar>;

/// Names of variables, each once in a statement.
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// Names that no tensor of a program has: a name alone may mean either.
    pub(crate) fn beside(program: &Program) -> Self {
        let tensors = program.tensors.iter();
        Self(tensors.map(|(_, data)| data.name.clone()).collect())
    }

    /// The name itself, or with the first number that makes it new.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let mut numbered = (1..).map(|number| format!("{name}{number}"));
        let mut fresh = name.to_owned();
        while !self.0.insert(fresh.clone()) {
            fresh = numbered.next().expect("there are more numbers");
        }
        fresh
    }
}

impl Derivation<'_> {
    /// An expression of the program, in the variables of the statement that is being written. Those
    /// that it binds get names of their own.
    pub(crate) fn value(
        &mut self,
        expr: &Expr,
        renamed: &mut Renamed,
        names: &mut Names,
    ) -> Result<Value> {
        match expr {
            Expr::Literal(value) => Ok(self.built.number(*value)),
            Expr::Access(access) => {
                let Some(&tensor) = self.tensors.get(&access.tensor) else {
                    return Err(self.assigned_again(access.span));
                };
                let indices = access.indices.iter();
                let indices = indices.map(|index| index.renamed(&|var| renamed[&var]));
                self.built.access(tensor, indices)
            }
            Expr::Index(index) => self.built.index(index.renamed(&|var| renamed[&var])),
            Expr::Cast(element, body) => {
                let body = self.value(body, renamed, names)?;
                match body.element() == *element {
                    true => Ok(body),
                    false => self.built.cast(*element, body),
                }
            }
            Expr::Apply { op, args } => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.value(arg, renamed, names)?);
                }
                self.built.apply(op, values)
            }
            Expr::Reduce { op, vars, body } => {
                let mut new = Vec::new();
                for var in vars {
                    let made = self.var(names, *var);
                    renamed.insert(*var, made);
                    new.push(made);
                }
                let body = self.value(body, renamed, names)?;
                self.built.reduce(op, new, body)
            }
        }
    }

    /// Gives a variable of the program one of the statement, if it has none.
    pub(crate) fn rename(&mut self, var: IndexVar, renamed: &mut Renamed, names: &mut Names) {
        if let Entry::Vacant(entry) = renamed.entry(var) {
            entry.insert(self.var(names, var));
        }
    }

    /// A variable like one of the program, with a name that the statement does not have.
    pub(crate) fn var(&mut self, names: &mut Names, like: IndexVar) -> IndexVar {
        let data = &self.program.vars[like];
        let name = names.fresh(&data.name);
        self.built.var(&name)
    }
}
