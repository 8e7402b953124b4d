//! Names of variables, in the one place that gives them.
//!
//! In memory a variable is an id, and operations move constraints between
//! conjunctions without looking at names. Text has nothing but names, so a
//! name must mean one thing in it:
//!
//! ```text
//! {[N] -> [j] : j = N}      `j` is the input
//! add  j < N                `N` is a symbolic constant
//! {[N_1] -> [j] : j = N_1 && j < N}
//! ```
//!
//! Invariant of [`Names::keep_apart`]: names are distinct, none is a word of the
//! language, and none is free, which means the name of a symbolic constant or of
//! a function. A constraint keeps its words; the variable is renamed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sparsec_base::arena::Id;

use crate::expression::{Constraint, Expression, Variable};
use crate::key::{LEX, is_variadic};

/// Names with a meaning of their own in relation text.
pub(crate) const RESERVED: [&str; 8] = [
    "and", "or", "exists", "union", "floordiv", "mod", "forall", LEX,
];

/// The name, or the name with the least number behind it that is not taken.
///
/// ```
/// use sparsec_relation::fresh_name;
/// assert_eq!(fresh_name("i", |name| ["i", "i_1"].contains(&name)), "i_2");
/// assert_eq!(fresh_name("j", |name| name == "i"), "j");
/// ```
pub fn fresh_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    match is_taken(name) {
        true => numbered(name, 1, is_taken).1,
        false => name.to_owned(),
    }
}

/// The name with the least number from `least` on that is not taken, and that number.
fn numbered(name: &str, least: u64, is_taken: impl Fn(&str) -> bool) -> (u64, String) {
    let mut all = (least..).map(|n| (n, format!("{name}_{n}")));
    let free = all.find(|(_, name)| !is_taken(name));
    free.expect("there is always a further number")
}

/// The names of variables, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Names(Vec<String>);

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Self {
        Self(names)
    }
}

impl Names {
    /// A further variable, to be kept apart from the others afterwards.
    pub(crate) fn push(&mut self, name: impl Into<String>) -> Variable {
        self.0.push(name.into());
        Variable::from_index(self.0.len() - 1)
    }

    /// A further variable that is named after another.
    pub(crate) fn twin(&mut self, of: Variable) -> Variable {
        self.push(self.0[of.index()].clone())
    }

    /// How many variables there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The name of a variable.
    pub(crate) fn name(&self, variable: Variable) -> &str {
        &self.0[variable.index()]
    }

    /// The first variables, with their names.
    pub(crate) fn first(&self, n: usize) -> Self {
        Self(self.0[..n].to_vec())
    }

    /// The same variables with `_` in place of primes. Two of them may then share a name.
    pub(crate) fn without_primes(self) -> Self {
        let plain = self.0.into_iter().map(|name| name.replace('\'', "_"));
        Self(plain.collect())
    }

    /// Whether a variable has one of these names.
    pub(crate) fn have_any(&self, free: &BTreeSet<&str>) -> bool {
        !free.is_empty() && self.0.iter().any(|name| free.contains(name.as_str()))
    }

    /// Renames variables whose name is free, a word of the language, or that of
    /// an earlier variable. Other variables keep their names.
    pub(crate) fn keep_apart(&mut self, free: &BTreeSet<&str>) {
        let means_more = |name: &str| RESERVED.contains(&name) || free.contains(name);
        let mut seen = HashSet::new();
        let mut renamed = Vec::new();
        for (at, name) in self.0.iter().enumerate() {
            if means_more(name) || !seen.insert(name.as_str()) {
                renamed.push(at);
            }
        }
        if renamed.is_empty() {
            return;
        }
        let mut taken: HashSet<String> = self.0.iter().cloned().collect();
        // Many variables may have one name: numbers below are taken already.
        let mut least: HashMap<String, u64> = HashMap::new();
        for at in renamed {
            let name = &mut self.0[at];
            let least = least.entry(name.clone()).or_insert(1);
            let is_taken = |name: &str| means_more(name) || taken.contains(name);
            let (number, fresh) = numbered(name, *least, is_taken);
            *least = number + 1;
            taken.insert(fresh.clone());
            *name = fresh;
        }
    }
}

/// The free names in constraints: symbolic constants and functions.
#[derive(Default)]
pub(crate) struct Uses<'a> {
    pub(crate) constants: Vec<&'a str>,
    /// Functions with their numbers of arguments.
    pub(crate) functions: Vec<(&'a str, usize)>,
}

impl<'a> Uses<'a> {
    pub(crate) fn of(constraints: impl IntoIterator<Item = &'a Constraint>) -> Self {
        let constraints = constraints.into_iter();
        Self::in_expressions(constraints.flat_map(Constraint::expressions))
    }

    pub(crate) fn in_expressions(expressions: impl IntoIterator<Item = &'a Expression>) -> Self {
        let mut uses = Self::default();
        for e in expressions {
            e.visit(&mut |e| match e {
                Expression::Constant(name) => uses.constants.push(name),
                Expression::Call(name, arguments) => uses.functions.push((name, arguments.len())),
                _ => {}
            });
        }
        uses
    }

    /// The free names, whatever they name.
    pub(crate) fn names(&self) -> BTreeSet<&'a str> {
        let functions = self.functions.iter().map(|(name, _)| *name);
        self.constants.iter().copied().chain(functions).collect()
    }
}

/// The roles of free names throughout a relation: each name is a constant, or a function
/// of one number of arguments.
#[derive(Clone, Default)]
pub(crate) struct Roles<'a>(BTreeMap<&'a str, Option<usize>>);

/// A free name in a second role.
pub(crate) enum Clash<'a> {
    /// A function of different numbers of arguments.
    Arity(&'a str),
    /// A function and a constant.
    Kind(&'a str),
}

impl<'a> Roles<'a> {
    /// Notes the roles of further uses.
    pub(crate) fn note(&mut self, uses: &Uses<'a>) -> Result<(), Clash<'a>> {
        let functions = uses.functions.iter().map(|(name, n)| (*name, Some(*n)));
        let constants = uses.constants.iter().map(|name| (*name, None));
        for (name, role) in functions.chain(constants) {
            let known = *self.0.entry(name).or_insert(role);
            match (known, role) {
                (Some(a), Some(b)) if a != b && !is_variadic(name) => {
                    return Err(Clash::Arity(name));
                }
                (Some(_), None) | (None, Some(_)) => return Err(Clash::Kind(name)),
                _ => {}
            }
        }
        Ok(())
    }
}
