//! What a computation computes, point by point.
//!
//! All points of all statements are listed, sorted by time and run. This is the
//! second opinion on transformations and on loops made from computations, not a
//! fast way to run them.
//!
//! Which points a statement has may depend on index arrays that others write.
//! It is listed when the last point of their writers has run; should one of its
//! points come before that, the computation is refused.
//!
//! Integers wrap in 64 bits and are stored only where they fit; `f32` and `f64`
//! follow IEEE 754, where `min` and `max` give `NaN` if either side is `NaN`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_relation::{Environment, Expression};

mod numbers;

use numbers::{differ, float_32, float_64, integers, places, slot};

use crate::computation::{Computation, DataSpace, StatementId};
use crate::value::{Access, Key, Operator, Value, Window};

/// Values for what a computation is given.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The values of the parameters.
    pub parameters: BTreeMap<String, i64>,
    /// The entries of data, in the order of their indices, the last running
    /// fastest.
    pub data: BTreeMap<String, Vec<Scalar>>,
}

impl Computation {
    /// The entries of all data that are live out, in the order of their indices.
    ///
    /// Variables of iteration spaces take values `within` a range; what lies
    /// outside of it is not looked for. Time is proportional to the values
    /// tried, times the size of the constraints.
    ///
    /// # Errors
    /// `E0806` where points depend on entries that are written later, `E0808`
    /// for what is not given, entries outside of their data and values that do
    /// not fit.
    ///
    /// ```
    /// use sparsec_base::Scalar;
    /// use sparsec_computation::{Computation, Given};
    /// let sums: Computation = "computation sums {
    ///   parameters N
    ///   given x : f64[N]
    ///   out y : f64[N]
    ///   s0: y(i) += x(j) over {[i, j] : 0 <= j <= i < N}
    /// }".parse()?;
    /// let mut given = Given::default();
    /// given.parameters.insert("N".to_owned(), 3);
    /// given.data.insert("x".to_owned(), [1.0, 2.0, 4.0].map(Scalar::F64).into());
    /// let found = sums.evaluate(&given, 0..4)?;
    /// assert_eq!(found["y"], [1.0, 3.0, 7.0].map(Scalar::F64));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn evaluate(
        &self,
        given: &Given,
        within: Range<i64>,
    ) -> Result<BTreeMap<String, Vec<Scalar>>> {
        let mut run = Run {
            computation: self,
            parameters: &given.parameters,
            entries: BTreeMap::new(),
            windows: BTreeMap::new(),
        };
        run.bind(given)?;
        run.run(within)?;
        let live = self.spaces.iter().filter(|space| space.role.is_live_out());
        live.map(|space| Ok((space.name.clone(), run.all_entries(space)?)))
            .collect()
    }
}

struct Run<'a> {
    computation: &'a Computation,
    parameters: &'a BTreeMap<String, i64>,
    /// Entries that are given or were written; all others are zero.
    entries: BTreeMap<String, BTreeMap<Vec<i64>, Scalar>>,
    /// The values of a statement's windows, in the order of its value, at each point.
    windows: BTreeMap<(StatementId, Vec<i64>), Vec<i64>>,
}

/// A point of a statement: when it runs, and what it is.
type Point = (Vec<i64>, StatementId, Vec<i64>);

impl Run<'_> {
    fn bind(&mut self, given: &Given) -> Result<()> {
        for name in &self.computation.parameters {
            if !given.parameters.contains_key(name) {
                return Err(self.fault(format!("the parameter `{name}` has no value")));
            }
        }
        for space in self.computation.spaces.iter().filter(|s| s.role.is_given()) {
            let name = &space.name;
            let Some(values) = given.data.get(name) else {
                return Err(self.fault(format!("`{name}` has no entries")));
            };
            let places = places(&self.extents(space)?);
            if places.len() != values.len() {
                let (n, expected) = (values.len(), places.len());
                return Err(self.fault(format!("`{name}` has {n} entries, not {expected}")));
            }
            if values.iter().any(|value| value.element() != space.element) {
                return Err(self.fault(format!("`{name}` does not hold `{}`", space.element)));
            }
            let entries = places.into_iter().zip(values.iter().copied()).collect();
            self.entries.insert(name.clone(), entries);
        }
        Ok(())
    }

    fn run(&mut self, within: Range<i64>) -> Result<()> {
        let mut waiting: Vec<StatementId> = self.computation.ids().collect();
        let mut points: BTreeSet<Point> = BTreeSet::new();
        let mut now: Option<Vec<i64>> = None;
        loop {
            let ready = |id: &StatementId| {
                let needs = self.computation.index_arrays(*id);
                let mut writers = needs.iter().flat_map(|name| self.computation.writers(name));
                !writers.any(|w| waiting.contains(&w) || points.iter().any(|(_, s, _)| *s == w))
            };
            if let Some(at) = waiting.iter().position(ready) {
                let id = waiting.remove(at);
                let listed = self.points(id, within.clone())?;
                let early = listed.first().filter(|point| Some(&point.0) < now.as_ref());
                if early.is_some() {
                    return Err(self.unsettled(id));
                }
                self.number(id, &listed)?;
                points.extend(listed);
                continue;
            }
            let Some((time, id, point)) = points.pop_first() else {
                break;
            };
            self.step(id, &point)?;
            now = Some(time);
        }
        match waiting.first() {
            None => Ok(()),
            Some(id) => Err(self.unsettled(*id)),
        }
    }

    fn points(&self, id: StatementId, within: Range<i64>) -> Result<BTreeSet<Point>> {
        let statement = self.computation.statement(id);
        let environment = self.environment();
        let time = statement.time(id, self.computation.schedule_length());
        let mut points = BTreeSet::new();
        for point in statement.space.enumerate(&environment, within)? {
            let when = time.iter().map(|e| environment.value(e, &point));
            let when = when
                .collect::<Option<Vec<i64>>>()
                .ok_or_else(|| self.fault_at(id, &point, "the schedule has no value".to_owned()))?;
            points.insert((when, id, point));
        }
        Ok(points)
    }

    /// Finds the values of a statement's windows, of which these are all points.
    fn number(&mut self, id: StatementId, points: &BTreeSet<Point>) -> Result<()> {
        let computation = self.computation;
        for (window, keys) in computation.statement(id).value.windows() {
            let mut taken = BTreeSet::new();
            let mut tuples = Vec::new();
            for (_, _, point) in points {
                tuples.push(self.keys(id, keys, point)?);
            }
            for ((place, tuple), (_, _, point)) in tuples.iter().enumerate().zip(points) {
                let earlier = &tuples[..place];
                let same = || earlier.iter().filter(|other| *other == tuple);
                let smaller = || tuples.iter().filter(|other| *other < tuple);
                let value = match window {
                    Window::Ordinal => same().count(),
                    Window::Rank => smaller().count() + same().count(),
                    Window::DenseRank => smaller().collect::<BTreeSet<_>>().len(),
                    Window::Slot => slot(tuple, &mut taken).ok_or_else(|| {
                        let message = "a table has no place for a key";
                        self.fault_at(id, point, message.to_owned())
                    })?,
                };
                let value = i64::try_from(value).expect("points are listed in memory");
                let values = self.windows.entry((id, point.clone())).or_default();
                values.push(value);
            }
        }
        Ok(())
    }

    fn keys(&self, id: StatementId, keys: &[Key], point: &[i64]) -> Result<Vec<i64>> {
        let environment = self.environment();
        let values = keys.iter().map(|key| {
            let extent = environment.value(&key.extent, &[])?;
            let value = environment.value(&key.value, point)?;
            (0..extent).contains(&value).then_some(value)
        });
        let values: Option<Vec<i64>> = values.collect();
        values.ok_or_else(|| {
            let message = "a key has no value, or one outside of its extent";
            self.fault_at(id, point, message.to_owned())
        })
    }

    fn environment(&self) -> Environment<'_> {
        let mut known = Environment::new();
        for (name, value) in self.parameters {
            known = known.constant(name, *value);
        }
        for key in self.computation.declarations.keys() {
            for (word, function) in key.words().iter().enumerate() {
                known = known.function(&function.name, move |at| key.word(word, at));
            }
        }
        let arrays = self.computation.spaces.iter();
        for space in arrays.filter(|space| space.is_index_array()) {
            if space.extents.is_empty() {
                if let Some(value) = self.integer(space, &[]) {
                    known = known.constant(&space.name, value);
                }
            } else {
                known = known.function(&space.name, |at| {
                    self.is_within(space, at).then(|| self.integer(space, at))?
                });
            }
        }
        known
    }

    fn integer(&self, space: &DataSpace, at: &[i64]) -> Option<i64> {
        i64::try_from(self.entry(space, at).to_integer()?).ok()
    }

    fn entry(&self, space: &DataSpace, at: &[i64]) -> Scalar {
        let entries = self.entries.get(&space.name);
        let entry = entries.and_then(|entries| entries.get(at));
        entry.copied().unwrap_or(space.element.zero())
    }

    fn extents(&self, space: &DataSpace) -> Result<Vec<i64>> {
        let environment = self.environment();
        let extents = space.extents.iter();
        let extents = extents.map(|e| environment.value(e, &[]).filter(|extent| *extent >= 0));
        extents.collect::<Option<Vec<i64>>>().ok_or_else(|| {
            self.fault(format!(
                "an extent of `{}` has no value or is negative",
                space.name
            ))
        })
    }

    fn is_within(&self, space: &DataSpace, at: &[i64]) -> bool {
        // Extents speak of parameters and of integers without extents only.
        let scalars = self.computation.spaces.iter();
        let mut known = Environment::new();
        for (name, value) in self.parameters {
            known = known.constant(name, *value);
        }
        for scalar in scalars.filter(|s| s.is_index_array() && s.extents.is_empty()) {
            if let Some(value) = self.integer(scalar, &[]) {
                known = known.constant(&scalar.name, value);
            }
        }
        let mut extents = space.extents.iter().map(|e| known.value(e, &[]));
        at.iter().all(|at| {
            extents
                .next()
                .flatten()
                .is_some_and(|n| (0..n).contains(at))
        })
    }

    fn all_entries(&self, space: &DataSpace) -> Result<Vec<Scalar>> {
        let places = places(&self.extents(space)?);
        Ok(places.iter().map(|at| self.entry(space, at)).collect())
    }

    fn step(&mut self, id: StatementId, point: &[i64]) -> Result<()> {
        let statement = self.computation.statement(id);
        let (space, at) = self.place(id, &statement.target, point)?;
        let windows = self.windows.get(&(id, point.to_vec()));
        let mut windows = windows.into_iter().flatten().copied();
        let mut value = self.value(id, &statement.value, point, &mut windows)?;
        if let Some(operator) = statement.update.operator() {
            value = self.combined(id, point, operator, self.read(space, &at), value)?;
        }
        let element = space.element;
        // A float that is too large is rounded to an infinity, as in a kernel.
        let stored = match element.is_float() || element.is_complex() {
            true => value.cast(element),
            false => value.as_type(element),
        };
        let stored = stored.ok_or_else(|| {
            let message = format!("{value} does not fit into `{}`", space.element);
            self.fault_at(id, point, message)
        })?;
        let entries = self.entries.entry(space.name.clone()).or_default();
        entries.insert(at, stored);
        Ok(())
    }

    /// The data and the place in it that an access means.
    fn place(
        &self,
        id: StatementId,
        access: &Access,
        point: &[i64],
    ) -> Result<(&DataSpace, Vec<i64>)> {
        let space = self.computation.space(&access.space);
        let space = space.expect("a checked computation names its data");
        let environment = self.environment();
        let at = access.indices.iter().map(|e| environment.value(e, point));
        let at = at.collect::<Option<Vec<i64>>>();
        match at.filter(|at| self.is_within(space, at)) {
            Some(at) => Ok((space, at)),
            None => {
                let message = format!("an index of `{}` outside of it", access.space);
                Err(self.fault_at(id, point, message))
            }
        }
    }

    /// An entry as values are computed with.
    fn read(&self, space: &DataSpace, at: &[i64]) -> Scalar {
        let entry = self.entry(space, at);
        match space.is_index_array() {
            true => entry.cast(ElementType::I64).unwrap_or(entry),
            false => entry,
        }
    }

    /// A value at a point; `windows` gives those in it, one after the other.
    fn value(
        &self,
        id: StatementId,
        value: &Value,
        point: &[i64],
        windows: &mut impl Iterator<Item = i64>,
    ) -> Result<Scalar> {
        let mut of = |value| self.value(id, value, point, &mut *windows);
        Ok(match value {
            Value::Integer(n) => Scalar::I64(*n),
            Value::Float(x) => Scalar::F64(*x),
            Value::Variable(variable) => Scalar::I64(point[variable.index()]),
            Value::Parameter(name) => Scalar::I64(self.parameters[name]),
            Value::Entry(access) => {
                let (space, at) = self.place(id, access, point)?;
                self.read(space, &at)
            }
            Value::Negate(a) => match of(a)? {
                Scalar::F32(x) => Scalar::F32(-x),
                Scalar::F64(x) => Scalar::F64(-x),
                a => self.combined(id, point, Operator::Subtract, Scalar::I64(0), a)?,
            },
            Value::Binary(operator, a, b) => self.combined(id, point, *operator, of(a)?, of(b)?)?,
            Value::Cast(ty, a) => of(a)?.cast(*ty).expect("numbers convert to floats"),
            Value::PowerOfTwo(a) => match of(a)? {
                Scalar::I64(..=0) => Scalar::I64(0),
                Scalar::I64(n) => match n.unsigned_abs().next_power_of_two().try_into() {
                    Ok(power) => Scalar::I64(power),
                    Err(_) => {
                        let message = "a power of two that does not fit into 64 bits";
                        return Err(self.fault_at(id, point, message.to_owned()));
                    }
                },
                other => other,
            },
            Value::Differs(a, b) => Scalar::I64(i64::from(differ(of(a)?, of(b)?))),
            Value::Conjugate(a) => match of(a)? {
                Scalar::C64(z) => Scalar::C64(z.conj()),
                Scalar::C128(z) => Scalar::C128(z.conj()),
                other => other,
            },
            Value::Curve(name, coordinates) => {
                let key = Expression::Call(name.clone(), coordinates.clone());
                let key = self.environment().value(&key, point);
                let message =
                    || format!("`{name}` has no value of 63 bits, or an argument outside");
                Scalar::I64(key.ok_or_else(|| self.fault_at(id, point, message()))?)
            }
            Value::Window(..) => Scalar::I64(windows.next().expect("found when it was listed")),
        })
    }

    /// An operation on numbers of one type; a literal takes the other's type.
    fn combined(
        &self,
        id: StatementId,
        point: &[i64],
        operator: Operator,
        a: Scalar,
        b: Scalar,
    ) -> Result<Scalar> {
        let float = [a, b].map(|side| side.element()).into_iter();
        let float = float.filter(|ty| ty.is_float()).min();
        let (a, b) = match float {
            Some(ty) => (a.cast(ty).unwrap_or(a), b.cast(ty).unwrap_or(b)),
            None => (a, b),
        };
        match (a, b) {
            (Scalar::F32(a), Scalar::F32(b)) => Ok(Scalar::F32(float_32(operator, a, b))),
            (Scalar::F64(a), Scalar::F64(b)) => Ok(Scalar::F64(float_64(operator, a, b))),
            (Scalar::I64(a), Scalar::I64(b)) => match integers(operator, a, b) {
                Some(value) => Ok(Scalar::I64(value)),
                None => Err(self.fault_at(id, point, "a division by zero".to_owned())),
            },
            _ => unreachable!("a checked computation combines numbers of one type"),
        }
    }

    fn unsettled(&self, id: StatementId) -> Diagnostic {
        self.computation.unsettled(id)
    }

    fn fault(&self, message: String) -> Diagnostic {
        let text = self.computation.to_string();
        let end = text.find('\n').unwrap_or(text.len());
        Diagnostic::new(code::COMPUTATION_ENTRY, message)
            .at(
                &Source::new("computation", text),
                Span::new(0, end),
                "when this is evaluated",
            )
            .help("give values to all parameters and given data, as many as extents say")
    }

    fn fault_at(&self, id: StatementId, point: &[i64], message: String) -> Diagnostic {
        let (source, place) = self.computation.place_of(id);
        Diagnostic::new(code::COMPUTATION_ENTRY, message)
            .at(&source, place, format!("at the point {point:?}"))
            .help("restrict the iteration space to points where all entries are there")
    }
}
