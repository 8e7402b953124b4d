//! Running loops over arrays at hand, with every call checked.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_relation::{Constraint, Environment, Expression, Loops, Step, Variable};

/// What functions and constants are while loops run.
#[derive(Clone, Default)]
pub(crate) struct World {
    constants: BTreeMap<&'static str, i64>,
    /// Each with the first argument that has a value.
    arrays: BTreeMap<&'static str, (i64, Vec<i64>)>,
}

impl World {
    pub(crate) fn constant(mut self, name: &'static str, value: i64) -> Self {
        self.constants.insert(name, value);
        self
    }

    pub(crate) fn array(mut self, name: &'static str, values: &[i64]) -> Self {
        self.arrays.insert(name, (0, values.to_vec()));
        self
    }

    pub(crate) fn environment(&self) -> Environment<'_> {
        let mut known = Environment::new();
        for (name, value) in &self.constants {
            known = known.constant(*name, *value);
        }
        for (name, (from, values)) in &self.arrays {
            known = known.function(*name, move |arguments| {
                let at = usize::try_from(arguments[0] - from).ok()?;
                values.get(at).copied()
            });
        }
        known
    }

    fn call(&self, name: &str, argument: i64) -> i64 {
        if let Some((from, values)) = self.arrays.get(name) {
            let at = usize::try_from(argument - from).ok();
            return *at
                .and_then(|at| values.get(at))
                .unwrap_or_else(|| panic!("{name}({argument}) is outside of its domain"));
        }
        let (function, way) = name.rsplit_once('.').expect("a declared function");
        let (from, values) = &self.arrays[function];
        let place = match way {
            "first" if values.first() > values.last() => values.partition_point(|v| *v > argument),
            "first" => values.partition_point(|v| *v < argument),
            "inverse" => match values.iter().position(|v| *v == argument) {
                Some(at) => at,
                None => return from - 1,
            },
            _ => panic!("{name} is not known"),
        };
        from + place as i64
    }
}

struct Run<'a> {
    world: &'a World,
    values: BTreeMap<usize, i64>,
    visited: Vec<(usize, Vec<i64>)>,
    found: bool,
}

impl Run<'_> {
    fn value(&self, e: &Expression) -> i64 {
        let v = |e: &Expression| self.value(e);
        match e {
            Expression::Integer(n) => *n,
            Expression::Constant(name) => self.world.constants[name.as_str()],
            Expression::Variable(variable) => self.values[&variable.index()],
            Expression::Call(name, arguments) => self.world.call(name, v(&arguments[0])),
            Expression::Negate(a) => -v(a),
            Expression::Add(a, b) => v(a) + v(b),
            Expression::Subtract(a, b) => v(a) - v(b),
            Expression::Multiply(a, b) => v(a) * v(b),
            Expression::FloorDivide(a, b) => (v(a) - (v(a) % v(b) + v(b)) % v(b)) / v(b),
            Expression::Modulo(a, b) => (v(a) % v(b) + v(b)) % v(b),
        }
    }

    fn holds(&self, constraint: &Constraint) -> bool {
        let mut links = constraint.links();
        links.all(|(a, comparison, b)| comparison.holds(self.value(a), self.value(b)))
    }

    fn set(&mut self, variable: Variable, value: i64) {
        self.values.insert(variable.index(), value);
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Let { variable, value } => self.set(*variable, self.value(value)),
                Step::For {
                    variable,
                    lower,
                    upper,
                    body,
                } => {
                    let members = |all: &Vec<Expression>| -> Vec<i64> {
                        all.iter().map(|e| self.value(e)).collect()
                    };
                    let from = lower
                        .iter()
                        .map(|all| members(all).into_iter().max().unwrap());
                    let below = upper
                        .iter()
                        .map(|all| members(all).into_iter().min().unwrap());
                    for value in from.min().unwrap()..below.max().unwrap() {
                        self.set(*variable, value);
                        self.run(body);
                    }
                }
                Step::If { conditions, body } => {
                    if conditions.iter().all(|c| self.holds(c)) {
                        self.run(body);
                    }
                }
                Step::Where {
                    search,
                    found,
                    body,
                } => {
                    let outer = std::mem::replace(&mut self.found, false);
                    self.run(search);
                    let is_found = std::mem::replace(&mut self.found, outer);
                    if is_found == *found {
                        self.run(body);
                    }
                }
                Step::Found => self.found = true,
                Step::Visit { number, tuple } => {
                    let tuple = tuple.iter().map(|e| self.value(e)).collect();
                    self.visited.push((*number, tuple));
                }
            }
        }
    }
}

/// The points that loops visit, in order, each with the number of its set.
pub(crate) fn visited(loops: &Loops, world: &World) -> Vec<(usize, Vec<i64>)> {
    let mut run = Run {
        world,
        values: BTreeMap::new(),
        visited: Vec::new(),
        found: false,
    };
    run.run(&loops.body);
    run.visited
}
