//! The statements of a conversion, as elements of the destination's tuple are found.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{
    Access, Computation, DataSpace, Key, Operator, Role, Statement, StatementId, Update, Value,
    Window,
};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Set, Variable,
};

use crate::entries::Entries;
use crate::named::Named;
use crate::unknown::{ListKey, Place, Run, Unknowns};
use crate::{Conversion, Types, refused};

/// The conversion of a source to a destination.
///
/// # Errors
/// `E0830` for an element that nothing determines, and other things that this does not do.
pub(crate) fn synthesized(
    source: &Named,
    destination: &Named,
    entries: &Entries,
    (element, types): (ElementType, &Types),
    extents: &[String],
) -> Result<Conversion> {
    let mut known = source.declarations.clone();
    for (name, value) in &source.constants {
        if let Some(value) = value {
            known.assume(value.clone().equals(Expression::Constant(name.clone())));
        }
    }
    for function in destination.declarations.functions() {
        known.declare(function.clone());
    }
    for name in extents {
        known.assume(at_least_zero(name));
    }
    let mut synthesis = Synthesis {
        source,
        destination,
        entries,
        extents,
        unknown_constants: unknown_constants(destination),
        found: BTreeMap::new(),
        written: BTreeSet::new(),
        space: entries.space.clone(),
        computation: Computation {
            name: "convert".to_owned(),
            parameters: extents.to_vec(),
            declarations: known.clone(),
            spaces: Vec::new(),
            statements: Vec::new(),
        },
    };
    synthesis.declare(element, types)?;
    let mut unknowns = Unknowns::new(destination, entries, &known);
    synthesis.demand(&unknowns, &known)?;
    while let Some(element) = unknowns.next() {
        match unknowns.determined(element) {
            Some(value) => unknowns.set(element, value),
            None => {
                let value = synthesis.found(element, &mut unknowns)?;
                unknowns.set(element, value);
                unknowns.establish(element);
            }
        }
        synthesis.demand(&unknowns, &known)?;
    }
    synthesis.keep(&mut unknowns, &known)?;
    synthesis.copy(&unknowns, &known)?;
    let mut computation = synthesis.computation.checked()?;
    crate::sweeps::schedule(&mut computation);
    let computation = computation.checked()?;
    Ok(Conversion { computation })
}

/// The constants of a destination that follow from its entries: those that say how long
/// its arrays are.
fn unknown_constants(destination: &Named) -> BTreeSet<String> {
    let mut unknown: BTreeSet<String> = BTreeSet::new();
    let constants = &destination.constants;
    for (name, value) in constants {
        if value.is_some() {
            unknown.insert(name.clone());
        }
    }
    let functions = destination.declarations.functions().iter();
    let domains = functions.map(|function| &function.domain);
    for set in domains.chain([&destination.values]) {
        for (_, end) in set.as_box().into_iter().flatten() {
            end.visit(&mut |e| {
                if let Expression::Constant(name) = e
                    && constants.iter().any(|(known, _)| known == name)
                {
                    unknown.insert(name.clone());
                }
            });
        }
    }
    // What coordinates are compared with is known before.
    for link in destination.comparisons() {
        let mut is_demand = true;
        let mut named = Vec::new();
        for e in link.expressions() {
            e.visit(&mut |e| match e {
                Expression::Variable(v) => {
                    is_demand &= destination.map.outputs().any(|output| output == *v);
                }
                Expression::Call(..) => is_demand = false,
                Expression::Constant(name) => named.push(name.clone()),
                _ => {}
            });
        }
        if is_demand {
            named.iter().for_each(|name| {
                unknown.remove(name);
            });
        }
    }
    unknown
}

struct Synthesis<'a> {
    source: &'a Named,
    destination: &'a Named,
    entries: &'a Entries,
    extents: &'a [String],
    unknown_constants: BTreeSet<String>,
    /// Listed elements by the arrays that hold their numbers: the keys that put them in
    /// their order, if they have one.
    found: BTreeMap<String, Option<Vec<Key>>>,
    /// Constants and functions that a statement computes.
    written: BTreeSet<String>,
    /// The entries that the destination can hold.
    space: Set,
    computation: Computation,
}

impl Synthesis<'_> {
    /// Declares the arrays of both sides.
    fn declare(&mut self, element: ElementType, types: &Types) -> Result<()> {
        let type_of = |name: &str| types.get(name).copied().unwrap_or(ElementType::I64);
        for (name, _) in &self.source.constants {
            self.computation.parameters.push(name.clone());
        }
        for (side, role) in [(self.source, Role::Given), (self.destination, Role::Out)] {
            for function in side.declarations.functions() {
                self.computation.spaces.push(DataSpace {
                    name: function.name.clone(),
                    element: type_of(&function.name),
                    extents: side.lengths(Some(&function.name))?,
                    role,
                });
            }
            self.computation.spaces.push(DataSpace {
                name: side.name.clone(),
                element,
                extents: side.lengths(None)?,
                role,
            });
        }
        for (name, _) in &self.destination.constants {
            match self.unknown_constants.contains(name) {
                false => self.computation.parameters.push(name.clone()),
                true => self.add_number(name),
            }
        }
        Ok(())
    }

    /// An integer that is computed and not negative.
    fn add_number(&mut self, name: &str) {
        self.computation.spaces.push(DataSpace {
            name: name.to_owned(),
            element: ElementType::I64,
            extents: Vec::new(),
            role: Role::Temporary,
        });
        self.computation.declarations.assume(at_least_zero(name));
    }

    /// Keeps to entries that the destination can hold, and refuses others when it runs.
    fn demand(&mut self, unknowns: &Unknowns<'_>, known: &Declarations) -> Result<()> {
        let demands = unknowns.demands().into_iter();
        let demands = demands.filter(|demand| !self.space.implies(demand, known));
        let outside = format!("{}_outside", self.destination.name);
        for demand in demands.collect::<Vec<_>>() {
            if self.computation.space(&outside).is_none() {
                self.add_number(&outside);
                let none = Expression::Constant(outside.clone()).equals(Expression::Integer(0));
                self.computation.declarations.assume(none);
            }
            let (comparison, right) = &demand.rest[0];
            let broken = Constraint::new(demand.first.clone(), comparison.negated(), right.clone());
            let target = (outside.clone(), Vec::new());
            let one = (Update::Add, Value::Integer(1));
            self.add(self.space_with(broken)?, target, one);
            self.space = self.space_with(demand)?;
        }
        Ok(())
    }

    /// The entries of which one more thing holds.
    fn space_with(&self, constraint: Constraint) -> Result<Set> {
        let mut part = self.space.parts()[0].clone();
        part.add(constraint);
        Set::new(vec![part])
    }

    /// Finds an element of the destination's tuple that coordinates do not determine.
    fn found(&mut self, element: Variable, unknowns: &mut Unknowns<'_>) -> Result<Expression> {
        let keys = unknowns.keys(element);
        if !keys.is_empty() {
            return self.listed(element, &keys, unknowns);
        }
        if let Some(run) = unknowns.run(element) {
            return self.in_run(element, &run, unknowns);
        }
        let others = unknowns.others(element);
        match unknowns.place(element) {
            Some(Place::All) if !others.is_empty() => self.free(element, &others, unknowns),
            _ => {
                let name = self.destination.map.name(element);
                Err(refused(format!("nothing says which `{name}` an entry has"))
                    .note(format!("the destination's map is {}", self.text_of_map()))
                    .help("state what determines it, or convert to a format of levels"))
            }
        }
    }

    fn text_of_map(&self) -> String {
        self.destination.map.to_string()
    }

    /// Numbers the elements of a list by rank, and fills the arrays that speak of them.
    fn listed(
        &mut self,
        element: Variable,
        keys: &[ListKey],
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let place = unknowns.place(element);
        let Some(place) = place else {
            let name = self.destination.map.name(element);
            return Err(refused(format!("nothing bounds the list of `{name}`")));
        };
        let order = self.order(keys)?;
        let of_keys = |numbers: &[usize]| -> Result<Vec<Key>> {
            let keys = numbers.iter().map(|number| self.key(&keys[*number]));
            keys.collect()
        };
        let all: Vec<usize> = (0..keys.len()).collect();
        let parent_keys = match &place {
            Place::Segment { function, parent } => self.parent_keys(function, parent)?,
            Place::All => Some(Vec::new()),
        };
        let parents = match (&place, &parent_keys) {
            (_, Some(keys)) => keys.clone(),
            (Place::Segment { function, parent }, None) => vec![Key {
                value: parent.clone(),
                extent: self.n_parents(function)?,
            }],
            (Place::All, None) => Vec::new(),
        };
        let identity = [parents.clone(), of_keys(&all)?].concat();
        let is_entry = self.tell_apart(&identity)?;
        let (window, sorted) = match (&order, is_entry) {
            (Some(numbers), true) => (Window::Rank, [parents, of_keys(numbers)?].concat()),
            (None, true) => (Window::Rank, parents),
            (Some(numbers), false) if numbers.len() == keys.len() => {
                (Window::DenseRank, [parents, of_keys(numbers)?].concat())
            }
            (_, false) => (Window::DenseRank, identity.clone()),
        };
        let is_ordered = parent_keys.is_some() && order.is_some() && !is_entry;
        let number = match window {
            Window::Rank => self.ranked(element, keys, (sorted, &place), unknowns)?,
            _ => {
                let value = Value::Window(window, sorted.clone());
                let number = self.numbered(element, keys, value, false)?;
                if let Expression::Call(array, _) = &number {
                    let found = is_ordered.then_some(sorted);
                    self.found.insert(array.clone(), found);
                }
                number
            }
        };
        for key in keys {
            let target = (key.function.clone(), vec![number.clone()]);
            let value = (Update::Assign, self.integer(&key.value)?);
            self.add(self.space.clone(), target, value);
            self.written.insert(key.function.clone());
            unknowns.functions.remove(&key.function);
        }
        if let Place::Segment { function, parent } = place
            && unknowns.functions.remove(&function)
        {
            self.fill_segments(&function, &parent, &number)?;
        }
        Ok(number)
    }

    /// The elements of a list that has one for each entry.
    ///
    /// Ranks are stable, so that the last keys need not be compared where entries ascend by
    /// them. By what is left, entries are in order, or are counted into the segments of a
    /// function, or sorted.
    fn ranked(
        &mut self,
        element: Variable,
        keys: &[ListKey],
        (mut sorted, place): (Vec<Key>, &Place),
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let rises = |keys: &[Key]| self.visits().keys_ascend(StatementId::from_index(0), keys);
        let n = sorted.len();
        let first = (0..n).find(|first| rises(&sorted[*first..]));
        sorted.truncate(first.unwrap_or(n));
        if sorted.is_empty() {
            let growing = self.visits();
            if growing.grows(StatementId::from_index(0), &self.entries.place) {
                for end in self.ends(element, keys) {
                    self.count_entries(&end)?;
                }
                return Ok(self.entries.place.clone());
            }
            return self.numbered(element, keys, Value::Window(Window::Ordinal, sorted), true);
        }
        for end in self.ends(element, keys) {
            self.count_entries(&end)?;
        }
        if let (Place::Segment { function, parent }, [key]) = (place, &sorted[..])
            && key.value == *parent
        {
            let at = (function.clone(), vec![plus_one(parent)]);
            let one = (Update::Add, Value::Integer(1));
            self.add(self.space.clone(), at, one);
            self.add_up(function, Update::Add)?;
            unknowns.functions.remove(function);
            let start = Value::Entry(Access {
                space: function.clone(),
                indices: vec![parent.clone()],
            });
            let ordinal = Value::Window(Window::Ordinal, sorted);
            let value = Value::Binary(Operator::Add, Box::new(start), Box::new(ordinal));
            return self.numbered(element, keys, value, true);
        }
        self.numbered(element, keys, Value::Window(Window::Rank, sorted), true)
    }

    /// A computation that visits the entries.
    fn visits(&self) -> Computation {
        let mut visits = self.computation.clone();
        visits.statements.clear();
        let mut space = self.space.parts()[0].clone();
        for (name, value) in &self.source.constants {
            // The proof is about entries, which the constant bounds.
            if let Some(value) = value {
                space.add(value.clone().equals(Expression::Constant(name.clone())));
            }
        }
        let place = vec![self.entries.place.clone()];
        let tuple = self.space.parts()[0].inputs().map(Expression::Variable);
        visits.statements.push(Statement {
            name: "visit".to_owned(),
            schedule: tuple.collect(),
            space: Set::new(vec![space]).expect("it has the names that it had"),
            target: Access {
                space: self.source.name.clone(),
                indices: place,
            },
            update: Update::Assign,
            value: Value::Integer(0),
        });
        visits
    }

    /// Says that a constant is the number of entries.
    fn count_entries(&mut self, name: &str) -> Result<()> {
        if self.written.insert(name.to_owned()) {
            let n = self.integer(&self.entries.n_places)?;
            let same = Expression::Constant(name.to_owned()).equals(self.entries.n_places.clone());
            self.computation.declarations.assume(same);
            let target = (name.to_owned(), Vec::new());
            self.add(everywhere()?, target, (Update::Assign, n));
        }
        Ok(())
    }

    /// Gives each entry the number of its element, in an array by places; and says how many
    /// there are.
    fn numbered(
        &mut self,
        element: Variable,
        keys: &[ListKey],
        value: Value,
        is_entry: bool,
    ) -> Result<Expression> {
        let map = &self.destination.map;
        let array = format!("{}_{}", self.destination.name, map.name(element));
        let ends: Vec<String> = self.ends(element, keys);
        let end = match ends.first() {
            Some(end) => end.clone(),
            None => {
                let end = format!("{array}_end");
                self.add_number(&end);
                end
            }
        };
        self.computation.spaces.push(DataSpace {
            name: array.clone(),
            element: ElementType::I64,
            extents: vec![self.entries.n_places.clone()],
            role: Role::Temporary,
        });
        self.computation.declarations.declare(Function {
            name: array.clone(),
            domain: below("p", &self.entries.n_places)?,
            range: below("q", &Expression::Constant(end.clone()))?,
            injective: false,
            monotone: None,
        });
        let at = vec![self.entries.place.clone()];
        self.add(
            self.space.clone(),
            (array.clone(), at.clone()),
            (Update::Assign, value),
        );
        for end in ends.iter().chain(ends.is_empty().then_some(&end)) {
            if is_entry {
                self.count_entries(end)?;
            } else if self.written.insert(end.clone()) {
                let number = Value::Entry(Access {
                    space: array.clone(),
                    indices: at.clone(),
                });
                let one = Box::new(Value::Integer(1));
                let more = Value::Binary(Operator::Add, Box::new(number), one);
                let target = (end.clone(), Vec::new());
                self.add(self.space.clone(), target, (Update::Maximum, more));
            }
        }
        Ok(Expression::Call(array, at))
    }

    /// The constants that are one more than the last element of a list: where arrays of it
    /// end, and the list itself.
    fn ends(&self, element: Variable, keys: &[ListKey]) -> Vec<String> {
        let functions = keys.iter().map(|key| &key.function);
        let mut ends: Vec<String> = Vec::new();
        let mut note = |end: &Expression| {
            if let Expression::Constant(name) = end
                && self.unknown_constants.contains(name)
                && !ends.contains(name)
            {
                ends.push(name.clone());
            }
        };
        for function in functions {
            let declared = self.destination.declarations.function(function);
            let domain = declared.and_then(|function| function.domain.as_box());
            domain.iter().flatten().for_each(|(_, end)| note(end));
        }
        let element = Expression::Variable(element);
        for link in self.destination.comparisons() {
            if link.first == element
                && let [(Comparison::Less, end)] = &link.rest[..]
            {
                note(end);
            }
        }
        ends
    }

    /// Segments: where each begins is where the last one before it ends.
    fn fill_segments(
        &mut self,
        function: &str,
        parent: &Expression,
        number: &Expression,
    ) -> Result<()> {
        let next = plus_one(parent);
        let one = Box::new(Value::Integer(1));
        let end = Value::Binary(Operator::Add, Box::new(self.integer(number)?), one);
        let target = (function.to_owned(), vec![next]);
        self.add(self.space.clone(), target, (Update::Maximum, end));
        self.add_up(function, Update::Maximum)
    }

    /// Combines each entry of a function with the one before it.
    fn add_up(&mut self, function: &str, update: Update) -> Result<()> {
        let parents = below("x", &self.n_parents(function)?)?;
        let x = Expression::Variable(Variable::from_index(0));
        let before = Value::Entry(Access {
            space: function.to_owned(),
            indices: vec![x.clone()],
        });
        let target = (function.to_owned(), vec![plus_one(&x)]);
        self.add(parents, target, (update, before));
        self.written.insert(function.to_owned());
        Ok(())
    }

    /// Runs begin at the least of their values and end behind the largest.
    fn in_run(
        &mut self,
        element: Variable,
        run: &Run,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let name = self.destination.map.name(element).to_owned();
        let (starts, first) = (&run.starts, &run.first);
        let n_parents = self.n_parents(starts)?;
        let behind = format!("{}_{name}_behind", self.destination.name);
        self.computation.spaces.push(DataSpace {
            name: behind.clone(),
            element: ElementType::I64,
            extents: vec![n_parents.clone()],
            role: Role::Temporary,
        });
        let range = self.destination.declarations.function(first);
        let range = range.and_then(|function| function.range.as_box());
        let Some((_, above)) = range.and_then(|mut sides| sides.pop()) else {
            return Err(refused(format!("nothing bounds the values of `{first}`")));
        };
        let most = Expression::Subtract(Box::new(above), Box::new(Expression::Integer(1)));
        let parents = below("x", &n_parents)?;
        let x = Expression::Variable(Variable::from_index(0));
        let value = self.integer(&run.value)?;
        let at = |name: &str, index: &Expression| (name.to_owned(), vec![index.clone()]);
        let entry = |name: &str, index: &Expression| {
            Value::Entry(Access {
                space: name.to_owned(),
                indices: vec![index.clone()],
            })
        };
        let binary =
            |operator, a: Value, b: Value| Value::Binary(operator, Box::new(a), Box::new(b));
        use Operator::{Add, Maximum, Subtract};
        let most = self.integer(&most.simplified())?;
        self.add(parents.clone(), at(first, &x), (Update::Assign, most));
        let least = (Update::Minimum, value.clone());
        self.add(self.space.clone(), at(first, &run.parent), least);
        let end = (Update::Maximum, binary(Add, value, Value::Integer(1)));
        self.add(self.space.clone(), at(&behind, &run.parent), end);
        let length = binary(Subtract, entry(&behind, &x), entry(first, &x));
        let length = binary(Maximum, length, Value::Integer(0));
        let next = binary(Add, entry(starts, &x), length);
        self.add(parents, at(starts, &plus_one(&x)), (Update::Assign, next));
        for function in [starts, first] {
            self.written.insert(function.clone());
            unknowns.functions.remove(function);
        }
        // How many elements there are is where the last run ends.
        let end = Expression::Call(starts.clone(), vec![n_parents.clone()]);
        for (name, value) in &self.destination.constants {
            if value.as_ref().is_some_and(|value| *value == end) {
                let last = (Update::Assign, entry(starts, &n_parents));
                self.add(everywhere()?, (name.clone(), Vec::new()), last);
                self.written.insert(name.clone());
            }
        }
        let [first, start] =
            [first, starts].map(|name| Expression::Call(name.clone(), vec![run.parent.clone()]));
        let offset = Expression::Subtract(Box::new(run.value.clone()), Box::new(first));
        let value = Expression::Add(Box::new(start.clone()), Box::new(offset));
        // That it lies in its segment, the arrays say that were just filled.
        let next = Expression::Call(starts.clone(), vec![plus_one(&run.parent)]);
        self.space = self.space_with(Constraint {
            first: start,
            rest: vec![
                (Comparison::LessEqual, value.clone()),
                (Comparison::Less, next),
            ],
        })?;
        Ok(value)
    }

    /// An element that keeps entries apart.
    fn free(
        &mut self,
        element: Variable,
        others: &[Expression],
        unknowns: &Unknowns<'_>,
    ) -> Result<Expression> {
        let mut keys = Vec::new();
        for value in others {
            let mode = unknowns.entries.coordinates.iter();
            let mode = mode
                .clone()
                .position(|v| Expression::Variable(*v) == *value);
            let Some(mode) = mode else {
                let name = self.destination.map.name(element);
                return Err(refused(format!(
                    "what `{name}` keeps apart is no coordinate but a sum of several"
                )));
            };
            keys.push(Key {
                value: value.clone(),
                extent: Expression::Constant(self.extents[mode].clone()),
            });
        }
        self.numbered(element, &[], Value::Window(Window::Ordinal, keys), false)
    }

    /// Stores what arrays hold at elements that are no lists, and the other constants.
    fn keep(&mut self, unknowns: &mut Unknowns<'_>, known: &Declarations) -> Result<()> {
        let links = unknowns.comparisons.clone();
        for link in &links {
            let [(Comparison::Equal, right)] = &link.rest[..] else {
                continue;
            };
            for (call, value) in [(&link.first, right), (right, &link.first)] {
                let Expression::Call(name, arguments) = call else {
                    continue;
                };
                let places = arguments.iter().map(|at| unknowns.at_entry(at));
                let places: Option<Vec<Expression>> = places.collect();
                let (Some(places), Some(value)) = (places, unknowns.at_entry(value)) else {
                    continue;
                };
                if unknowns.functions.contains(name) {
                    self.mark(name, &value, known)?;
                    let value = (Update::Assign, self.integer(&value)?);
                    self.add(self.space.clone(), (name.clone(), places), value);
                    self.written.insert(name.clone());
                    unknowns.functions.remove(name);
                }
            }
        }
        for (name, value) in self.destination.constants.clone() {
            if let Some(Expression::Call(function, arguments)) = value
                && self.written.contains(&name)
                && !self.written.contains(&function)
            {
                let value = Value::Entry(Access {
                    space: name,
                    indices: Vec::new(),
                });
                self.written.insert(function.clone());
                unknowns.functions.remove(&function);
                self.add(
                    everywhere()?,
                    (function, arguments),
                    (Update::Assign, value),
                );
            }
        }
        let functions = self.destination.declarations.functions().iter();
        let constants = self.unknown_constants.iter();
        let names = functions.map(|function| &function.name).chain(constants);
        let missing = names.clone().find(|name| !self.written.contains(*name));
        match missing {
            None => Ok(()),
            Some(name) => Err(refused(format!(
                "nothing in the destination's map says what `{name}` is"
            ))
            .note(format!("the destination's map is {}", self.text_of_map()))),
        }
    }

    /// Fills an array with what no entry has there.
    fn mark(&mut self, name: &str, value: &Expression, known: &Declarations) -> Result<()> {
        let function = self.destination.declarations.function(name);
        let range = function.and_then(|function| function.range.as_box());
        let Some([(least, above)]) = range.as_deref() else {
            return Err(refused(format!("nothing bounds the values of `{name}`")));
        };
        let last = Expression::Subtract(Box::new(above.clone()), Box::new(Expression::Integer(1)));
        let last = last.simplified();
        let never = |comparison, bound: &Expression| {
            let asked = Constraint::new(value.clone(), comparison, bound.clone());
            self.space.implies(&asked, known)
        };
        let mark = match () {
            () if never(Comparison::Less, &last) => last,
            () if never(Comparison::Greater, least) => least.clone(),
            () => {
                return Err(refused(format!(
                    "places of `{name}` that hold no entry have no value to say so"
                ))
                .help("let its range go one beyond the coordinates"));
            }
        };
        let lengths = self.destination.lengths(Some(name))?;
        let [length] = &lengths[..] else {
            return Err(refused(format!("`{name}` has several indices")));
        };
        let places = below("x", length)?;
        let x = Expression::Variable(Variable::from_index(0));
        let mark = (Update::Assign, self.integer(&mark)?);
        self.add(places, (name.to_owned(), vec![x]), mark);
        Ok(())
    }

    /// Copies the values.
    fn copy(&mut self, unknowns: &Unknowns<'_>, known: &Declarations) -> Result<()> {
        let places = self.destination.data.solve(known)?;
        let [place] = &places[..] else {
            return Err(refused("values lie by several rules".to_owned()));
        };
        let place = unknowns.at_entry(&place[0]);
        let place = place.expect("all elements are found");
        let value = Value::Entry(Access {
            space: self.source.name.clone(),
            indices: vec![self.entries.place.clone()],
        });
        let target = (self.destination.name.clone(), vec![place]);
        self.add(self.space.clone(), target, (Update::Assign, value));
        Ok(())
    }

    /// The order that is asked of a list: the numbers of the keys that are compared.
    fn order(&self, keys: &[ListKey]) -> Result<Option<Vec<usize>>> {
        let of = |e: &Expression| match e {
            Expression::Call(name, _) => keys.iter().position(|key| key.function == *name),
            _ => None,
        };
        let declarations = &self.destination.declarations;
        for quantifier in declarations.quantifiers() {
            for conclusion in quantifier.conclusions() {
                let [(Comparison::Less | Comparison::LessEqual, _)] = &conclusion.rest[..] else {
                    continue;
                };
                if let Some(number) = of(&conclusion.first) {
                    return Ok(Some(vec![number]));
                }
                let Expression::Call(name, arguments) = &conclusion.first else {
                    continue;
                };
                let numbers: Option<Vec<usize>> = arguments.iter().map(of).collect();
                let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
                    continue;
                };
                if name != "LEX" {
                    return Err(refused(format!("the destination is sorted by `{name}`"))
                        .help("convert to a format that is sorted by coordinates"));
                }
                return Ok(Some(numbers));
            }
        }
        let [key] = keys else { return Ok(None) };
        let function = declarations.function(&key.function);
        let monotone = function.and_then(|function| function.monotone);
        Ok(monotone.map(|_| vec![0]))
    }

    /// A key of a list with its extent: what its array may hold.
    fn key(&self, key: &ListKey) -> Result<Key> {
        let function = self.destination.declarations.function(&key.function);
        let range = function.and_then(|function| function.range.as_box());
        let Some((least, above)) = range.and_then(|mut sides| sides.pop()) else {
            return Err(refused(format!(
                "nothing bounds the values of `{}`",
                key.function
            )));
        };
        let from_least = |e: &Expression| {
            Expression::Subtract(Box::new(e.clone()), Box::new(least.clone())).simplified()
        };
        Ok(Key {
            value: from_least(&key.value),
            extent: from_least(&above),
        })
    }

    /// The keys by which the parents of a segment are in their order; `None` where only
    /// their numbers say it.
    fn parent_keys(&self, function: &str, parent: &Expression) -> Result<Option<Vec<Key>>> {
        Ok(match parent {
            Expression::Integer(_) => Some(Vec::new()),
            Expression::Call(array, _) if self.found.contains_key(array) => {
                self.found[array].clone()
            }
            other => {
                let mut is_listed = false;
                other.visit(&mut |e| {
                    is_listed |=
                        matches!(e, Expression::Call(name, _) if self.found.contains_key(name));
                });
                match is_listed {
                    true => None,
                    false => Some(vec![Key {
                        value: other.clone(),
                        extent: self.n_parents(function)?,
                    }]),
                }
            }
        })
    }

    /// How many segments a function has.
    fn n_parents(&self, function: &str) -> Result<Expression> {
        let lengths = self.destination.lengths(Some(function))?;
        let [length] = &lengths[..] else {
            return Err(refused(format!("`{function}` has several indices")));
        };
        let one = Box::new(Expression::Integer(1));
        let parents = below("x", &Expression::Subtract(Box::new(length.clone()), one))?;
        let sides = parents.as_box().and_then(|mut sides| sides.pop());
        let (_, end) = sides.ok_or_else(|| refused(format!("nothing bounds `{function}`")))?;
        Ok(end)
    }

    /// Whether keys tell entries of different coordinates apart.
    fn tell_apart(&self, keys: &[Key]) -> Result<bool> {
        let part = &self.space.parts()[0];
        let names = |suffix: &str| -> Vec<String> {
            let names = part.inputs().map(|v| part.name(v));
            names.map(|name| format!("{name}{suffix}")).collect()
        };
        let n_inputs = part.inputs().len();
        let second = Shift(n_inputs);
        let mut both = Conjunction::new([names(""), names("_1")].concat(), []);
        let inputs = both.inputs();
        both.conjoin_at(part, inputs.take(n_inputs));
        let inputs = both.inputs();
        both.conjoin_at(part, inputs.skip(n_inputs));
        for key in keys {
            both.add(key.value.clone().equals(key.value.rewritten(&second)));
        }
        for coordinate in &self.entries.coordinates {
            let mut differ = both.clone();
            let coordinate = Expression::Variable(*coordinate);
            differ.add(Constraint::new(
                coordinate.clone(),
                Comparison::NotEqual,
                coordinate.rewritten(&second),
            ));
            let set = Set::new(vec![differ])?;
            let empty = set.as_relation().is_empty(&self.computation.declarations);
            if empty != sparsec_relation::Answer::Yes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An integer expression as a value.
    fn integer(&self, e: &Expression) -> Result<Value> {
        value(e).ok_or_else(|| refused(format!("values hold no `{e:?}`")))
    }

    /// Adds a statement behind all others.
    fn add(
        &mut self,
        space: Set,
        (target, indices): (String, Vec<Expression>),
        (update, value): (Update, Value),
    ) {
        let number = self.computation.statements.len();
        let time = i64::try_from(number).expect("few statements");
        let tuple = space.parts()[0].inputs().map(Expression::Variable);
        let schedule = [Expression::Integer(time)].into_iter().chain(tuple);
        self.computation.statements.push(Statement {
            name: format!("s{number}"),
            schedule: schedule.collect(),
            space,
            target: Access {
                space: target,
                indices,
            },
            update,
            value,
        });
    }
}

/// The one point of no dimension.
fn everywhere() -> Result<Set> {
    Set::new(vec![Conjunction::new::<String>([], [])])
}

/// An integer expression as a value.
fn value(e: &Expression) -> Option<Value> {
    use Operator::{Add, FloorDivide, Modulo, Multiply, Subtract};
    let both = |operator, a: &Expression, b: &Expression| {
        Some(Value::Binary(
            operator,
            Box::new(value(a)?),
            Box::new(value(b)?),
        ))
    };
    match e {
        Expression::Integer(n) => Some(Value::Integer(*n)),
        Expression::Variable(v) => Some(Value::Variable(*v)),
        Expression::Constant(name) => Some(Value::Parameter(name.clone())),
        Expression::Call(name, arguments) => Some(Value::Entry(Access {
            space: name.clone(),
            indices: arguments.clone(),
        })),
        Expression::Negate(a) => Some(Value::Negate(Box::new(value(a)?))),
        Expression::Add(a, b) => both(Add, a, b),
        Expression::Subtract(a, b) => both(Subtract, a, b),
        Expression::Multiply(a, b) => both(Multiply, a, b),
        Expression::FloorDivide(a, b) => both(FloorDivide, a, b),
        Expression::Modulo(a, b) => both(Modulo, a, b),
    }
}

fn at_least_zero(name: &str) -> Constraint {
    let zero = Expression::Integer(0);
    Constraint::new(
        zero,
        Comparison::LessEqual,
        Expression::Constant(name.to_owned()),
    )
}

fn plus_one(e: &Expression) -> Expression {
    let one = Box::new(Expression::Integer(1));
    Expression::Add(Box::new(e.clone()), one).simplified()
}

/// `{[x] : 0 <= x < end}`.
fn below(name: &str, end: &Expression) -> Result<Set> {
    let mut part = Conjunction::new([name], []);
    part.add(Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (
                Comparison::LessEqual,
                Expression::Variable(Variable::from_index(0)),
            ),
            (Comparison::Less, end.clone()),
        ],
    });
    Set::new(vec![part])
}

/// The variables of a second point behind those of a first.
struct Shift(usize);

impl sparsec_relation::Rewrite for Shift {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(Variable::from_index(variable.index() + self.0))
    }
}
