//! Running loops over given values: a second opinion on `lower`, and the check of declarations.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use sparsec_base::arena::Id;

use super::{Loops, Step};
use crate::declarations::Declarations;
use crate::expression::{Constraint, Expression};
use crate::key::{self, Key, LEX};
use crate::key_function::KeyFunction;
use crate::simplify::{floor_divide, modulo};

/// Values of symbolic constants and of functions.
#[derive(Default)]
pub struct Data<'a> {
    constants: BTreeMap<String, i64>,
    arrays: BTreeMap<String, Array<'a>>,
    words: BTreeMap<String, Word>,
}

struct Array<'a> {
    extents: Vec<i64>,
    at: Box<dyn Fn(usize) -> i64 + 'a>,
}

/// A word of a key function.
struct Word {
    key: Arc<KeyFunction>,
    word: usize,
}

impl<'a> Data<'a> {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a symbolic constant a value.
    pub fn constant(&mut self, name: impl Into<String>, value: i64) {
        self.constants.insert(name.into(), value);
    }

    /// Gives a function the entries of an array with these extents, the last index
    /// running fastest.
    pub fn array(
        &mut self,
        name: impl Into<String>,
        extents: Vec<i64>,
        at: impl Fn(usize) -> i64 + 'a,
    ) {
        let at = Box::new(at);
        self.arrays.insert(name.into(), Array { extents, at });
    }

    /// Gives the words of declared key functions their values.
    pub fn keys(&mut self, declarations: &Declarations) {
        for key in declarations.keys() {
            let shared = Arc::new(key.clone());
            for (word, function) in key.words().iter().enumerate() {
                let key = Arc::clone(&shared);
                self.words.insert(function.name.clone(), Word { key, word });
            }
        }
    }

    /// Whether a function has values that are given.
    pub fn has(&self, function: &str) -> bool {
        self.arrays.contains_key(function)
    }

    /// Whether a function has values, given or computed.
    fn has_entries(&self, function: &str) -> bool {
        self.arrays.contains_key(function) || self.words.contains_key(function)
    }

    /// The value of an expression without variables; `None` where a call is outside
    /// of its array, a name is not known, or a number does not fit 64 bits.
    pub fn value(&self, e: &Expression) -> Option<i64> {
        self.value_at(e, &[])
    }

    /// The entries of a function's array, by their indices.
    pub(crate) fn entries(&self, name: &str) -> Option<impl Fn(&[i64]) -> Option<i64> + '_> {
        let array = self.arrays.get(name)?;
        Some(|indices: &[i64]| {
            let mut index: i64 = 0;
            for (&at, &extent) in indices.iter().zip(&array.extents) {
                (0..extent).contains(&at).then_some(())?;
                index = index.checked_mul(extent)?.checked_add(at)?;
            }
            Some((array.at)(usize::try_from(index).ok()?))
        })
    }

    /// As [`value`](Self::value), with values for variables.
    pub fn value_at(&self, e: &Expression, variables: &[i64]) -> Option<i64> {
        let v = |e: &Expression| self.value_at(e, variables);
        match e {
            Expression::Integer(n) => Some(*n),
            Expression::Constant(name) => self.constants.get(name).copied(),
            Expression::Variable(variable) => variables.get(variable.index()).copied(),
            Expression::Call(name, arguments) => {
                let Some(array) = self.arrays.get(name) else {
                    let arguments: Option<Vec<i64>> = arguments.iter().map(v).collect();
                    if let Some(word) = self.words.get(name) {
                        return word.key.word(word.word, &arguments?);
                    }
                    return match key::value(name, &arguments?) {
                        Some(Key::Value(key)) => Some(key),
                        _ => None,
                    };
                };
                let mut index: i64 = 0;
                for (argument, &extent) in arguments.iter().zip(&array.extents) {
                    let at = v(argument).filter(|at| (0..extent).contains(at))?;
                    index = index.checked_mul(extent)?.checked_add(at)?;
                }
                Some((array.at)(usize::try_from(index).ok()?))
            }
            Expression::Negate(a) => v(a)?.checked_neg(),
            Expression::Add(a, b) => v(a)?.checked_add(v(b)?),
            Expression::Subtract(a, b) => v(a)?.checked_sub(v(b)?),
            Expression::Multiply(a, b) => v(a)?.checked_mul(v(b)?),
            Expression::FloorDivide(a, b) => floor_divide(v(a)?, v(b)?),
            Expression::Modulo(a, b) => modulo(v(a)?, v(b)?),
        }
    }

    /// Whether all comparisons of a chain hold; `None` where one has no value.
    pub fn holds(&self, constraint: &Constraint, variables: &[i64]) -> Option<bool> {
        for (left, comparison, right) in constraint.links() {
            let order = match (left, right) {
                (Expression::Call(name, a), Expression::Call(_, b)) if name == LEX => {
                    let mut order = Ordering::Equal;
                    for (a, b) in a.iter().zip(b) {
                        let pair = (self.value_at(a, variables)?, self.value_at(b, variables)?);
                        order = order.then(pair.0.cmp(&pair.1));
                    }
                    order
                }
                _ => self
                    .value_at(left, variables)?
                    .cmp(&self.value_at(right, variables)?),
            };
            if !comparison.holds(order as i64, 0) {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All points were visited, or the visitor had enough.
    Done,
    /// It took more steps than it may.
    Steps,
    /// An expression has no value with these data.
    Value,
}

impl Loops {
    /// Visits the points, in order, until `visit` breaks, in at most so many steps.
    pub fn run(
        &self,
        data: &Data<'_>,
        most_steps: u64,
        visit: &mut dyn FnMut(usize, &[i64]) -> ControlFlow<()>,
    ) -> Ended {
        let mut run = Run {
            data,
            variables: vec![0; self.variables.n_variables()],
            found: false,
            left: most_steps,
            visit,
        };
        match run.steps(&self.body) {
            ControlFlow::Continue(()) => Ended::Done,
            ControlFlow::Break(ended) => ended,
        }
    }
}

struct Run<'a> {
    data: &'a Data<'a>,
    variables: Vec<i64>,
    found: bool,
    left: u64,
    visit: &'a mut dyn FnMut(usize, &[i64]) -> ControlFlow<()>,
}

impl Run<'_> {
    fn value(&self, e: &Expression) -> ControlFlow<Ended, i64> {
        let value = match e {
            Expression::Call(name, arguments)
                if name.contains('.') && !self.data.has_entries(name) =>
            {
                self.place(name, &arguments[0])
            }
            Expression::Add(a, b) => self.value(a)?.checked_add(self.value(b)?),
            Expression::Subtract(a, b) => self.value(a)?.checked_sub(self.value(b)?),
            e => self.data.value_at(e, &self.variables),
        };
        value.map_or(ControlFlow::Break(Ended::Value), ControlFlow::Continue)
    }

    /// Where a function has reached a value, or has it: by trying all.
    fn place(&self, name: &str, value: &Expression) -> Option<i64> {
        let (function, way) = name.rsplit_once('.')?;
        let array = self.data.arrays.get(function)?;
        let n = array
            .extents
            .first()
            .copied()
            .filter(|_| array.extents.len() == 1)?;
        let wanted = self.data.value_at(value, &self.variables)?;
        let entry = |at: i64| (array.at)(at as usize);
        if way == "inverse" {
            return Some((0..n).find(|&at| entry(at) == wanted).unwrap_or(-1));
        }
        let falls = n > 0 && entry(n - 1) < entry(0);
        let (mut from, mut end) = (0, n);
        while from < end {
            let middle = from + (end - from) / 2;
            let is_before = match falls {
                true => entry(middle) > wanted,
                false => entry(middle) < wanted,
            };
            if is_before {
                from = middle + 1;
            } else {
                end = middle;
            }
        }
        Some(from)
    }

    fn steps(&mut self, steps: &[Step]) -> ControlFlow<Ended> {
        for step in steps {
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => return ControlFlow::Break(Ended::Steps),
            }
            match step {
                Step::Let { variable, value } => {
                    self.variables[variable.index()] = self.value(value)?;
                }
                Step::For {
                    variable,
                    lower,
                    upper,
                    body,
                } => {
                    let (mut from, mut end) = (i64::MAX, i64::MIN);
                    for bounds in lower {
                        let mut most = i64::MIN;
                        for e in bounds {
                            most = most.max(self.value(e)?);
                        }
                        from = from.min(most);
                    }
                    for bounds in upper {
                        let mut least = i64::MAX;
                        for e in bounds {
                            least = least.min(self.value(e)?);
                        }
                        end = end.max(least);
                    }
                    for value in from..end {
                        self.variables[variable.index()] = value;
                        self.steps(body)?;
                    }
                }
                Step::If { conditions, body } => {
                    let variables = &self.variables;
                    let mut all = conditions.iter();
                    if all.all(|c| self.data.holds(c, variables) == Some(true)) {
                        self.steps(body)?;
                    }
                }
                Step::Where {
                    search,
                    found,
                    body,
                } => {
                    let outer = std::mem::replace(&mut self.found, false);
                    self.steps(search)?;
                    if std::mem::replace(&mut self.found, outer) == *found {
                        self.steps(body)?;
                    }
                }
                Step::Found => self.found = true,
                Step::Visit { number, tuple } => {
                    let mut point = Vec::with_capacity(tuple.len());
                    for e in tuple {
                        point.push(self.value(e)?);
                    }
                    if (self.visit)(*number, &point).is_break() {
                        return ControlFlow::Break(Ended::Done);
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}
