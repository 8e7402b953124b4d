//! The pairs of a relation, once everything symbolic has a value.
//!
//! Variables are given values one after the other, always the one with the
//! fewest left to try: an equality with a known side leaves one, a bound cuts
//! the range. This is the second opinion on code made from relations, not a
//! fast way to run them: time is proportional to the values tried, times the
//! size of the constraints.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::expression::{Comparison, Expression, Variable};
use crate::key::{self, Key};
use crate::relation::Relation;
use crate::simplify::{floor_divide, modulo};

/// A pair of tuples.
pub type Pair = (Vec<i64>, Vec<i64>);

/// Values that a search for one pair tries.
const MOST_VALUES: usize = 20_000;

type Function<'a> = Box<dyn Fn(&[i64]) -> Option<i64> + 'a>;

/// Values for symbolic constants and uninterpreted functions.
#[derive(Default)]
pub struct Environment<'a> {
    constants: BTreeMap<String, i64>,
    functions: BTreeMap<String, Function<'a>>,
}

impl<'a> Environment<'a> {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a symbolic constant a value.
    #[must_use]
    pub fn constant(mut self, name: impl Into<String>, value: i64) -> Self {
        self.constants.insert(name.into(), value);
        self
    }

    /// Gives a function values; `None` outside its domain.
    #[must_use]
    pub fn function(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&[i64]) -> Option<i64> + 'a,
    ) -> Self {
        self.functions.insert(name.into(), Box::new(value));
        self
    }

    /// Gives a function of one argument the values of an array; its domain is
    /// the array's indices.
    #[must_use]
    pub fn table(self, name: impl Into<String>, values: impl Into<Vec<i64>>) -> Self {
        let values = values.into();
        self.function(name, move |arguments| match arguments {
            [at] => values.get(usize::try_from(*at).ok()?).copied(),
            _ => None,
        })
    }
}

impl Relation {
    /// All pairs whose variables, `exists` variables included, lie `within` a range. A comparison
    /// with a call outside of its function's domain does not hold.
    ///
    /// # Errors
    /// `E0132` for a constant or function without a value, and for a number
    /// that does not fit in 64 bits.
    pub fn enumerate(
        &self,
        environment: &Environment<'_>,
        within: Range<i64>,
    ) -> Result<BTreeSet<Pair>> {
        let mut pairs = BTreeSet::new();
        for part in self.parts() {
            self.check_known(part, environment)?;
            let mut search = Search {
                part,
                environment,
                within: within.clone(),
                values: vec![None; part.n_variables()],
                pairs: &mut pairs,
                left: None,
            };
            let finished = search.run();
            finished.map_err(|Overflow| {
                self.unbound("a number that does not fit in 64 bits".to_owned())
                    .help("give constants and functions smaller values")
            })?;
        }
        Ok(pairs)
    }

    /// Whether there is a pair with all variables `within` a range. Gives up,
    /// with `false`, after a bounded number of values.
    pub(crate) fn has_pair(
        &self,
        environment: &Environment<'_>,
        within: Range<i64>,
    ) -> Result<bool> {
        let mut pairs = BTreeSet::new();
        for part in self.parts() {
            self.check_known(part, environment)?;
            let mut search = Search {
                part,
                environment,
                within: within.clone(),
                values: vec![None; part.n_variables()],
                pairs: &mut pairs,
                left: Some(MOST_VALUES),
            };
            // A number that is too large gives no example.
            let _: std::result::Result<(), Overflow> = search.run();
            if !pairs.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_known(&self, part: &Conjunction, environment: &Environment<'_>) -> Result<()> {
        let uses = part.uses();
        let constant = |name: &&&str| !environment.constants.contains_key(**name);
        if let Some(name) = uses.constants.iter().find(constant) {
            return Err(self
                .unbound(format!("the symbolic constant `{name}` has no value"))
                .help(format!("give `{name}` a value")));
        }
        let mut functions = uses.functions.iter().map(|(name, _)| *name);
        match functions
            .find(|name| !environment.functions.contains_key(*name) && !key::is_variadic(name))
        {
            Some(name) => Err(self
                .unbound(format!("the function `{name}` has no values"))
                .help(format!("give `{name}` its values"))),
            None => Ok(()),
        }
    }

    fn unbound(&self, message: String) -> Diagnostic {
        let text = self.to_string();
        let whole = Span::new(0, text.len());
        Diagnostic::new(code::RELATION_UNBOUND, message).at(
            &Source::new("relation", text),
            whole,
            "cannot be enumerated",
        )
    }
}

struct Search<'a> {
    part: &'a Conjunction,
    environment: &'a Environment<'a>,
    within: Range<i64>,
    values: Vec<Option<i64>>,
    pairs: &'a mut BTreeSet<Pair>,
    /// Where one pair is enough: the values that may still be tried.
    left: Option<usize>,
}

struct Overflow;

/// The value of an expression where only some variables have one.
enum Value {
    Known(i64),
    /// Some variable has no value yet.
    Open,
    /// A call outside its function's domain.
    None,
}

impl Search<'_> {
    fn run(&mut self) -> std::result::Result<(), Overflow> {
        let Some((variable, candidates)) = self.narrowest()? else {
            if self.consistent()? {
                self.pairs.insert(self.pair());
            }
            return Ok(());
        };
        for value in candidates {
            if let Some(left) = &mut self.left {
                if *left == 0 || !self.pairs.is_empty() {
                    break;
                }
                *left -= 1;
            }
            self.values[variable] = Some(value);
            if self.consistent()? {
                self.run()?;
            }
        }
        self.values[variable] = None;
        Ok(())
    }

    fn pair(&self) -> Pair {
        let tuple = |variables: &mut dyn Iterator<Item = Variable>| {
            variables
                .map(|v| self.values[v.index()].expect("all variables have values"))
                .collect()
        };
        (
            tuple(&mut self.part.inputs()),
            tuple(&mut self.part.outputs()),
        )
    }

    /// The variable without a value that has the fewest candidates.
    fn narrowest(&self) -> std::result::Result<Option<(usize, Range<i64>)>, Overflow> {
        let mut ranges = vec![self.within.clone(); self.values.len()];
        let constraints = self.part.constraints().iter();
        for (left, comparison, right) in constraints.flat_map(|c| c.links()) {
            self.narrow(&mut ranges, left, comparison, right)?;
            self.narrow(&mut ranges, right, comparison.flipped(), left)?;
        }
        let open = (0..self.values.len()).filter(|&v| self.values[v].is_none());
        let n_candidates = |&v: &usize| i128::from(ranges[v].end) - i128::from(ranges[v].start);
        Ok(open
            .min_by_key(n_candidates)
            .map(|v| (v, ranges[v].clone())))
    }

    /// Cuts the range of `left`, if that is a variable and `right` is known.
    fn narrow(
        &self,
        ranges: &mut [Range<i64>],
        left: &Expression,
        comparison: Comparison,
        right: &Expression,
    ) -> std::result::Result<(), Overflow> {
        let Expression::Variable(variable) = left else {
            return Ok(());
        };
        let Value::Known(bound) = self.value(right)? else {
            return Ok(());
        };
        let range = &mut ranges[variable.index()];
        let least = |bound: i64| range.start.max(bound);
        let end = |bound: i64| range.end.min(bound);
        *range = match comparison {
            Comparison::Less => range.start..end(bound),
            Comparison::LessEqual => range.start..end(bound.saturating_add(1)),
            Comparison::Greater => least(bound.saturating_add(1))..range.end,
            Comparison::GreaterEqual => least(bound)..range.end,
            Comparison::Equal => least(bound)..end(bound.saturating_add(1)),
            Comparison::NotEqual => return Ok(()),
        };
        Ok(())
    }

    fn value(&self, e: &Expression) -> std::result::Result<Value, Overflow> {
        self.environment.value_at(e, &self.values)
    }

    /// Whether no comparison of known values fails.
    fn consistent(&self) -> std::result::Result<bool, Overflow> {
        let constraints = self.part.constraints().iter();
        for (left, comparison, right) in constraints.flat_map(|c| c.links()) {
            match (self.value(left)?, self.value(right)?) {
                (Value::None, _) | (_, Value::None) => return Ok(false),
                (Value::Known(left), Value::Known(right)) if !comparison.holds(left, right) => {
                    return Ok(false);
                }
                _ => {}
            }
        }
        Ok(true)
    }
}

impl Environment<'_> {
    /// The value of an expression whose variables have these values; `None`
    /// where it has none: outside a function's domain, for a name without a
    /// value, for a number that does not fit in 64 bits.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_relation::{Environment, Expression};
    /// let known = Environment::new().constant("N", 3).table("pos", vec![0, 2, 5]);
    /// let last = Expression::parse(&Source::new("expression", "pos(N - 1) - 1"))?;
    /// assert_eq!(known.value(&last, &[]), Some(4));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn value(&self, e: &Expression, variables: &[i64]) -> Option<i64> {
        let values: Vec<Option<i64>> = variables.iter().copied().map(Some).collect();
        match self.value_at(e, &values) {
            Ok(Value::Known(value)) => Some(value),
            Ok(Value::Open | Value::None) | Err(Overflow) => None,
        }
    }

    fn value_at(
        &self,
        e: &Expression,
        values: &[Option<i64>],
    ) -> std::result::Result<Value, Overflow> {
        let binary =
            |a, b, compute: fn(i64, i64) -> Option<i64>| self.binary((a, b), values, compute);
        let known = match e {
            Expression::Integer(n) => Some(*n),
            Expression::Constant(name) => self.constants.get(name).copied(),
            Expression::Variable(variable) => match values[variable.index()] {
                Some(value) => Some(value),
                None => return Ok(Value::Open),
            },
            Expression::Call(name, arguments) => return self.call(name, arguments, values),
            Expression::Negate(a) => {
                return binary(&Expression::Integer(0), a, i64::checked_sub);
            }
            Expression::Add(a, b) => return binary(a, b, i64::checked_add),
            Expression::Subtract(a, b) => return binary(a, b, i64::checked_sub),
            Expression::Multiply(a, b) => return binary(a, b, i64::checked_mul),
            Expression::FloorDivide(a, b) => return self.divide((a, b), values, floor_divide),
            Expression::Modulo(a, b) => return self.divide((a, b), values, modulo),
        };
        Ok(known.map_or(Value::None, Value::Known))
    }

    fn call(
        &self,
        name: &str,
        arguments: &[Expression],
        values: &[Option<i64>],
    ) -> std::result::Result<Value, Overflow> {
        let mut known = Vec::with_capacity(arguments.len());
        let mut open = false;
        for argument in arguments {
            match self.value_at(argument, values)? {
                Value::Known(value) => known.push(value),
                Value::Open => open = true,
                Value::None => return Ok(Value::None),
            }
        }
        if open {
            return Ok(Value::Open);
        }
        if let Some(function) = self.functions.get(name) {
            return Ok(function(&known).map_or(Value::None, Value::Known));
        }
        match key::value(name, &known) {
            Some(Key::Value(key)) => Ok(Value::Known(key)),
            Some(Key::TooLarge) => Err(Overflow),
            Some(Key::Outside) | None => Ok(Value::None),
        }
    }

    fn divide(
        &self,
        (a, b): (&Expression, &Expression),
        values: &[Option<i64>],
        compute: fn(i64, i64) -> Option<i64>,
    ) -> std::result::Result<Value, Overflow> {
        match self.value_at(b, values)? {
            Value::Known(0) => Ok(Value::None),
            _ => self.binary((a, b), values, compute),
        }
    }

    fn binary(
        &self,
        (a, b): (&Expression, &Expression),
        values: &[Option<i64>],
        compute: fn(i64, i64) -> Option<i64>,
    ) -> std::result::Result<Value, Overflow> {
        match (self.value_at(a, values)?, self.value_at(b, values)?) {
            (Value::None, _) | (_, Value::None) => Ok(Value::None),
            (Value::Known(a), Value::Known(b)) => compute(a, b).map(Value::Known).ok_or(Overflow),
            _ => Ok(Value::Open),
        }
    }
}
