//! Runs of neighbouring coordinates that have one value.
//!
//! ```text
//! map  {[q0, q1, r1] -> [i, j] : q0 = i && pos1(q0) <= q1 < pos1(q0 + 1)
//!       && bounds1(q1 + q0) <= j < bounds1(q1 + q0 + 1) && r1 = j && …}
//!
//! row   . a a . b b      entries   a  a  b  b
//! runs  0 1 1 2 3 3      before    1  0  1  0     whether a run begins with the entry
//!                        after     0  1  0  0     whether one begins behind it, of the fill
//! ```
//!
//! Entries are listed by their parents and coordinates, `x` for the number of one. Each parent
//! begins with a run, and others begin where the value is another one than at the coordinate before:
//! that of the entry there, or the fill where there is none.
//!
//! ```text
//! before(x) = differs(value(x), fill)              where 0 < at(x)
//! before(x) = differs(value(x), value(x - 1))      where parent(x - 1) = parent(x) && at(x - 1) + 1 = at(x)
//! after(x) = differs(value(x), fill)               where at(x) + 1 < N1
//! after(x - 1) = 0                                 where parent(x - 1) = parent(x) && at(x - 1) + 1 = at(x)
//! run(x) = parent(x) + changes(x) + before(x)      changes(x): the sum of all before
//! bounds1(run(x) + parent(x)) = at(x)              where before(x) = 1
//! bounds1(run(x) + parent(x) + 1) = at(x) + 1      where after(x) = 1
//! bounds1(pos1(p + 1) + p) = N1                    for each parent
//! ```
//!
//! Zeros of two signs are two values, and so is each `NaN`.

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{Key, Operator, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Function, Set, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::{FILL, Synthesis};
use crate::terms::{add, below, entry, inside, plus_one, scalar};
use crate::unknown::{Unknowns, ValueRun};

/// The arrays of entries in their order, and the constant that says how many there are.
struct Sorted {
    end: Expression,
    parent: String,
    at: String,
    value: String,
    before: String,
    after: String,
}

impl Synthesis<'_> {
    /// The runs of entries.
    pub(crate) fn in_value_run(
        &mut self,
        element: Variable,
        value_run: &ValueRun,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let name = self.destination.map.name(element).to_owned();
        let prefix = format!("{}_{name}", self.destination.name);
        let n_parents = self.n_parents(&value_run.starts)?;
        let Some((_, above)) = self.range(&value_run.bounds) else {
            return Err(refused(format!("nothing bounds `{}`", value_run.bounds)));
        };
        let last = Expression::Subtract(Box::new(above), Box::new(Expression::Integer(1)));
        let extent = last.collected();
        let own = Key {
            value: value_run.value.clone(),
            extent: extent.clone(),
        };
        let parent = Key {
            value: value_run.parent.clone(),
            extent: n_parents.clone(),
        };
        let parents = self.parent_keys(&value_run.starts, &value_run.parent)?;
        let keys = [
            parents.unwrap_or_else(|| vec![parent.clone()]),
            vec![own.clone()],
        ]
        .concat();
        let told = self.told_by(&[parent, own.clone()]);
        if self.adds || !self.is_told_apart(&self.coordinates(), &told)? {
            return Err(
                refused(format!("several entries share a coordinate of `{name}`"))
                    .help("convert to a list of entries first, in which none is repeated: `scoo`"),
            );
        }
        let (number, end) = self.in_order(&prefix, keys)?;
        let sorted = self.sort(&prefix, value_run, (&number, end), [&n_parents, &extent])?;
        self.mark_changes(&sorted, &extent)?;
        let end = self.begin_runs(&prefix, &sorted, value_run, [&n_parents, &extent])?;
        let run = self.number_runs(&prefix, &sorted, &end)?;
        self.bound_runs(&run, &sorted, value_run, [&n_parents, &extent])?;
        for array in [&sorted.before, &sorted.after, &run] {
            self.writes(array, CaseKind::Runs);
        }
        for function in [&value_run.starts, &value_run.bounds] {
            self.writes(function, CaseKind::Runs);
            unknowns.functions.remove(function);
        }
        let value = Expression::Call(run, vec![number]);
        // It holds of all entries; proofs of places begin with it.
        self.space = self.space_with(inside(&value, &end))?;
        Ok(value)
    }

    /// The parents, coordinates and values of entries in their order.
    fn sort(
        &mut self,
        prefix: &str,
        value_run: &ValueRun,
        (number, end): (&Expression, String),
        [n_parents, extent]: [&Expression; 2],
    ) -> Result<Sorted> {
        let end = Expression::Constant(end);
        let named = |what: &str| format!("{prefix}_{what}");
        let sorted = Sorted {
            parent: named("parent"),
            at: named("at"),
            value: named("value"),
            before: named("before"),
            after: named("after"),
            end: end.clone(),
        };
        self.declare_values(&sorted.value, vec![end.clone()]);
        for (array, range) in [
            (&sorted.parent, n_parents.clone()),
            (&sorted.at, extent.clone()),
            (&sorted.before, Expression::Integer(2)),
            (&sorted.after, Expression::Integer(2)),
        ] {
            self.add_array(array, end.clone());
            self.computation.declarations.declare(Function {
                name: array.clone(),
                domain: below("x", &end)?,
                range: below("n", &range)?,
                injective: false,
                monotone: None,
            });
        }
        for (array, value) in [
            (&sorted.parent, self.integer(&value_run.parent)),
            (&sorted.at, self.integer(&value_run.value)),
            (&sorted.value, self.value_at_entry()),
        ] {
            let target = (array.clone(), vec![number.clone()]);
            self.add(self.space.clone(), target, (Update::Assign, value));
        }
        Ok(sorted)
    }

    /// Marks the entries that begin a run, and the entries behind which a run of the fill begins.
    fn mark_changes(&mut self, sorted: &Sorted, extent: &Expression) -> Result<()> {
        let (x, zero) = (x(), Expression::Integer(0));
        let at = call(&sorted.at, &x);
        let value = |place: &Expression| entry(&sorted.value, place);
        let fill = self.fill_value();
        let from_fill = self.another(value(&x), fill)?;
        let here = |array: &str| (array.to_owned(), vec![x.clone()]);
        let inside = Constraint::new(zero.clone(), Comparison::Less, at.clone());
        let space = sorted.with(&zero, vec![inside])?;
        let mark = (Update::Assign, from_fill.clone());
        self.add(space, here(&sorted.before), mark.clone());
        let inside = Constraint::new(plus_one(&at), Comparison::Less, extent.clone());
        let space = sorted.with(&zero, vec![inside])?;
        self.add(space, here(&sorted.after), mark);

        let before = minus_one(&x);
        let neighbours = vec![
            call(&sorted.parent, &before).equals(call(&sorted.parent, &x)),
            plus_one(&call(&sorted.at, &before)).equals(at),
        ];
        let space = sorted.with(&Expression::Integer(1), neighbours)?;
        let changes = self.another(value(&x), value(&before))?;
        self.add(
            space.clone(),
            here(&sorted.before),
            (Update::Assign, changes),
        );
        let target = (sorted.after.clone(), vec![before]);
        self.add(space, target, (Update::Assign, Value::Integer(0)));
        Ok(())
    }

    /// Says where the runs of each parent begin; returns how many there are.
    fn begin_runs(
        &mut self,
        prefix: &str,
        sorted: &Sorted,
        value_run: &ValueRun,
        [n_parents, extent]: [&Expression; 2],
    ) -> Result<Expression> {
        let (x, zero) = (x(), Expression::Integer(0));
        let count = format!("{prefix}_count");
        self.add_array(&count, n_parents.clone());
        let target = (count.clone(), vec![call(&sorted.parent, &x)]);
        let changes = add(entry(&sorted.before, &x), entry(&sorted.after, &x));
        let space = sorted.with(&zero, Vec::new())?;
        self.add(space, target, (Update::Add, changes));
        let starts = &value_run.starts;
        let mut parents = below("x", n_parents)?.parts()[0].clone();
        parents.add(Constraint::new(zero, Comparison::Less, extent.clone()));
        let runs = add(entry(&count, &x), Value::Integer(1));
        let target = (starts.clone(), vec![plus_one(&x)]);
        let next = (Update::Assign, add(entry(starts, &x), runs));
        self.add(Set::new(vec![parents])?, target, next);
        self.writes(starts, CaseKind::Runs);
        let end = self.end_of(starts, n_parents)?;
        let end = end.ok_or_else(|| refused(format!("nothing says where `{starts}` ends")))?;
        Ok(Expression::Constant(end))
    }

    /// The number of the run that each entry is in.
    fn number_runs(&mut self, prefix: &str, sorted: &Sorted, end: &Expression) -> Result<String> {
        let (x, zero) = (x(), Expression::Integer(0));
        let changes = format!("{prefix}_changes");
        self.add_array(&changes, sorted.end.clone());
        let next = plus_one(&x);
        let inside = Constraint::new(next.clone(), Comparison::Less, sorted.end.clone());
        let own = add(entry(&sorted.before, &x), entry(&sorted.after, &x));
        let value = (Update::Assign, add(entry(&changes, &x), own));
        let space = sorted.with(&zero, vec![inside])?;
        self.add(space, (changes.clone(), vec![next]), value);
        let run = format!("{prefix}_run");
        self.add_array(&run, sorted.end.clone());
        self.computation.declarations.declare(Function {
            name: run.clone(),
            domain: below("x", &sorted.end)?,
            range: below("q", end)?,
            injective: false,
            monotone: None,
        });
        let before = add(entry(&changes, &x), entry(&sorted.before, &x));
        let value = add(entry(&sorted.parent, &x), before);
        let space = sorted.with(&zero, Vec::new())?;
        self.add(space, (run.clone(), vec![x]), (Update::Assign, value));
        Ok(run)
    }

    /// Says where each run begins and the last ones end.
    fn bound_runs(
        &mut self,
        run: &str,
        sorted: &Sorted,
        value_run: &ValueRun,
        [n_parents, extent]: [&Expression; 2],
    ) -> Result<()> {
        let (x, zero) = (x(), Expression::Integer(0));
        let sum = |a: Expression, b: Expression| Expression::Add(Box::new(a), Box::new(b));
        let own = sum(call(run, &x), call(&sorted.parent, &x));
        let at = entry(&sorted.at, &x);
        for (array, place, value) in [
            (&sorted.before, own.clone(), at.clone()),
            (&sorted.after, plus_one(&own), add(at, Value::Integer(1))),
        ] {
            let begins = call(array, &x).equals(Expression::Integer(1));
            let space = sorted.with(&zero, vec![begins])?;
            let target = (value_run.bounds.clone(), vec![place]);
            self.add(space, target, (Update::Assign, value));
        }
        let last = sum(call(&value_run.starts, &plus_one(&x)), x);
        let target = (value_run.bounds.clone(), vec![last]);
        let value = (Update::Assign, self.integer(extent));
        self.add(below("x", n_parents)?, target, value);
        Ok(())
    }

    /// The value where no entry is.
    fn fill_value(&self) -> Value {
        let zero = Box::new(Value::Integer(0));
        match (self.has_fill, self.element()) {
            (true, _) => scalar(FILL),
            (false, element) if element.is_float() => Value::Cast(element, zero),
            (false, _) => *zero,
        }
    }

    fn element(&self) -> ElementType {
        let values = self.computation.space("A");
        values.expect("the values of the source").element
    }

    /// Whether two values differ, zeros of two signs too. Each `NaN` differs from all values.
    fn another(&self, a: Value, b: Value) -> Result<Value> {
        let differ = |a: Value, b: Value| Value::Differs(Box::new(a), Box::new(b));
        let inverse = |a: &Value| {
            let (one, a) = (Box::new(Value::Integer(1)), Box::new(a.clone()));
            Value::Binary(Operator::Divide, one, a)
        };
        match self.element() {
            ElementType::F32 | ElementType::F64 => {
                // Zeros have signs.
                let signs = differ(inverse(&a), inverse(&b));
                let values = Box::new(differ(a, b));
                Ok(Value::Binary(Operator::Maximum, values, Box::new(signs)))
            }
            element if element.is_integer() && element != ElementType::U64 => Ok(differ(a, b)),
            element => Err(refused(format!("no conversion finds runs of `{element}`"))
                .help("convert a tensor of integers, `f32` or `f64`")),
        }
    }
}

impl Sorted {
    /// The numbers of entries from `from` on that meet the constraints `more`.
    fn with(&self, from: &Expression, more: Vec<Constraint>) -> Result<Set> {
        let mut part = Conjunction::new(["x"], []);
        part.add(Constraint {
            first: from.clone(),
            ..inside(&x(), &self.end)
        });
        more.into_iter().for_each(|constraint| part.add(constraint));
        Set::new(vec![part])
    }
}

fn x() -> Expression {
    Expression::Variable(Variable::from_index(0))
}

fn minus_one(e: &Expression) -> Expression {
    Expression::Subtract(Box::new(e.clone()), Box::new(Expression::Integer(1)))
}

fn call(array: &str, at: &Expression) -> Expression {
    Expression::Call(array.to_owned(), vec![at.clone()])
}
