//! Two computations in a chain: results of the first are given data of the second.
//!
//! ```text
//! computation list { … out S_crd : i64[S_NZ] … }      computation count { … given A_crd : i64[NZ] … }
//!
//! list.followed_by(count, [(NZ, S_NZ), (A_crd, S_crd)])
//! ```

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_relation::{Declarations, Expression, Relation};

use super::names::Bound;
use super::{Call, Computation};
use crate::computation::{DataSpace, Role, Statement};
use crate::value::Access;

impl Computation {
    /// This computation, then `next`, in which names of this computation stand for others: `given`
    /// pairs a parameter or given data of `next` with data of this computation. All else that is
    /// given has one name in both. Results of this computation become temporary data, and results of
    /// `next` are renamed if they share a name with them.
    ///
    /// # Errors
    /// `E0809` for a computation whose schedules do not begin with numbers; as
    /// [`checked`](Self::checked).
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let twice: Computation = "computation twice {
    ///   parameters N
    ///   given x : f64[N]
    ///   out y : f64[N]
    ///   s0: y(i) = 2 * x(i) over {[i] : 0 <= i < N}
    /// }".parse()?;
    /// let both = twice.followed_by(&twice, &[("x", "y")])?;
    /// assert!(both.to_string().contains("s0_1: y_1(i) = 2 * y(i)"), "{both}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn followed_by(&self, next: &Self, given: &[(&str, &str)]) -> Result<Self> {
        let mut new = self.clone();
        for space in &mut new.spaces {
            if space.role == Role::Out {
                space.role = Role::Temporary;
            }
        }
        let own = given.iter().map(|(name, own)| (*name, (*own).to_owned()));
        let mut names: BTreeMap<&str, String> = own.collect();
        for space in &next.spaces {
            let is_shared = space.role.is_given() && new.space(&space.name).is_some();
            if !is_shared && !names.contains_key(space.name.as_str()) {
                names.insert(&space.name, new.fresh(&space.name));
            }
        }
        new.append(next, &names)?;
        new.checked()
    }

    /// The same computation by other names of some data.
    ///
    /// # Errors
    /// As [`followed_by`](Self::followed_by).
    pub fn renamed(&self, name: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let mut new = self.empty();
        let spaces = self.spaces.iter().map(|space| &space.name);
        let named = spaces.chain(&self.parameters);
        let named = named.filter_map(|it| Some((it.as_str(), name(it)?)));
        new.append(self, &named.collect())?;
        new.checked()
    }

    /// The same computation with given data in place of others, which are gone.
    pub(crate) fn in_place_of(&self, given: &BTreeMap<String, String>) -> Result<Self> {
        let mut new = Self {
            spaces: self.spaces.clone(),
            ..self.empty()
        };
        let gone = given.keys().map(|name| DataSpace {
            name: name.clone(),
            element: ElementType::I64,
            extents: Vec::new(),
            role: Role::Given,
        });
        let mut with_gone = self.clone();
        with_gone.spaces.extend(gone);
        let names = given.iter().map(|(name, own)| (name.as_str(), own.clone()));
        new.append(&with_gone, &names.collect())?;
        new.checked()
    }

    fn empty(&self) -> Self {
        Self {
            name: self.name.clone(),
            parameters: Vec::new(),
            declarations: Declarations::new(),
            spaces: Vec::new(),
            statements: Vec::new(),
        }
    }

    /// Appends all of another computation by other names of its data and parameters. Data that are
    /// here already stay as they are.
    fn append(&mut self, next: &Self, names: &BTreeMap<&str, String>) -> Result<()> {
        let mut bound = Bound::default();
        for space in &next.spaces {
            let name = names.get(space.name.as_str()).unwrap_or(&space.name);
            let access = Access {
                space: name.clone(),
                indices: Vec::new(),
            };
            bound.data.insert(space.name.clone(), access);
        }
        for parameter in &next.parameters {
            let name = names.get(parameter.as_str()).unwrap_or(parameter);
            let value = Expression::Constant(name.clone());
            bound.values.insert(parameter.clone(), value);
            if self.space(name).is_none() && !self.parameters.contains(name) {
                self.parameters.push(name.clone());
            }
        }
        for key in next.declarations.keys() {
            if !self.declarations.keys().contains(key) {
                self.declarations.declare_key(key.clone());
            }
        }
        let mut declared = next.declarations.rewritten(&bound)?;
        for function in self.declarations.functions_mut() {
            if let Some(other) = declared.function(&function.name) {
                function.monotone = function.monotone.or(other.monotone);
            }
        }
        declared.retain_functions(|it| self.declarations.function(&it.name).is_none());
        self.declarations.extend(declared);
        for space in &next.spaces {
            let name = bound.data[&space.name].space.clone();
            if self.space(&name).is_none() {
                let mut own = space.clone();
                own.name = name;
                let extents = space.extents.iter().map(|e| e.rewritten(&bound));
                own.extents = extents.collect();
                self.spaces.push(own);
            }
        }
        let once: Relation = "{[] -> []}".parse()?;
        let call = Call {
            over: once.domain(),
            at: Vec::new(),
            arguments: Vec::new(),
        };
        let last = self.statements.iter().map(time).collect::<Result<Vec<_>>>();
        let first = last?.into_iter().max().map_or(0, |last| last + 1);
        for statement in &next.statements {
            let name = self.fresh(&statement.name);
            let mut moved = self.moved_in(statement, &call, &bound, name)?;
            // The schedule of a call begins with a number of its own.
            moved.schedule.remove(0);
            moved.schedule[0] = Expression::Integer(first + time(statement)?);
            self.statements.push(moved);
        }
        Ok(())
    }
}

/// The number with which a schedule begins.
fn time(statement: &Statement) -> Result<i64> {
    match statement.schedule.first() {
        Some(Expression::Integer(time)) => Ok(*time),
        _ => {
            let message = format!(
                "the schedule of `{}` does not begin with a number",
                statement.name
            );
            Err(Diagnostic::new(code::TRANSFORMATION, message)
                .help("number the sweeps, as in `at [0, i]`"))
        }
    }
}
