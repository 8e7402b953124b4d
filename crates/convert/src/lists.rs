//! Listed elements: their numbers, the arrays that speak of them, and how many they are.

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{
    Access, Computation, DataSpace, Key, Later, Operator, Role, Statement, StatementId, Update,
    Value, Window,
};
use sparsec_relation::{Comparison, Constraint, Expression, Function, Set, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, between, entry, everywhere, plus_one};
use crate::unknown::{ListKey, Place, Unknowns};

impl Synthesis<'_> {
    /// Numbers the elements of a list by rank, and fills the arrays that speak of them.
    pub(crate) fn listed(
        &mut self,
        element: Variable,
        keys: &[ListKey],
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let Some(mut place) = unknowns.place(element) else {
            let name = self.destination.map.name(element);
            return Err(refused(format!("nothing bounds the list of `{name}`")));
        };
        if let (
            [key],
            Place::Segment {
                function, parent, ..
            },
        ) = (keys, &place)
            && self.tables.contains(&key.function)
        {
            return self.in_table(element, key, (function, parent), unknowns);
        }
        if let Place::Block { first, n_stored } = &place {
            return match keys {
                [key] if self.blocks.contains(&key.function) => {
                    self.in_block(element, key, (first, *n_stored), unknowns)
                }
                _ => {
                    let name = self.destination.map.name(element);
                    Err(refused(format!(
                        "nothing says which places of a block have no `{name}`"
                    ))
                    .help("convert to a format whose segments are as long as they have entries"))
                }
            };
        }
        let segments = match &mut place {
            Place::Segment { function, end, .. } => {
                let segments = self.segments((element, function), end.as_ref(), unknowns)?;
                function.clone_from(&segments.starts);
                Some(segments)
            }
            Place::All | Place::Block { .. } => None,
        };
        let order = self.order(keys)?;
        let all = keys.iter().map(|key| self.key(key));
        let all = all.collect::<Result<Vec<Key>>>()?;
        let parent_keys = match &place {
            Place::Segment {
                function, parent, ..
            } => self.parent_keys(function, parent)?,
            Place::All | Place::Block { .. } => Some(Vec::new()),
        };
        let parents = match (&place, &parent_keys) {
            (_, Some(keys)) => keys.clone(),
            (
                Place::Segment {
                    function, parent, ..
                },
                None,
            ) => vec![Key {
                value: parent.clone(),
                extent: self.n_parents(function)?,
            }],
            (Place::All | Place::Block { .. }, None) => Vec::new(),
        };
        let identity = [&parents[..], &all].concat();
        let is_entry = !self.adds && self.tell_apart(&identity)?;
        let (window, sorted) = match (&order, is_entry) {
            (Some(order), true) => (Window::Rank, [parents, order.sorted.clone()].concat()),
            (None, true) => (Window::Rank, parents),
            (Some(order), false) => {
                let mut rest = all;
                rest.retain(|key| !order.is_whole && !order.sorted.contains(key));
                let sorted = [parents, order.sorted.clone(), rest];
                (Window::DenseRank, sorted.concat())
            }
            (None, false) => (Window::DenseRank, identity.clone()),
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
        self.keep_keys(keys, &number, unknowns)?;
        if let (Place::Segment { parent, .. }, Some(segments)) = (&place, segments) {
            self.fill_segments(&segments, (parent, &number), unknowns)?;
        }
        Ok(number)
    }

    /// Stores the keys of the elements of a list.
    pub(crate) fn keep_keys(
        &mut self,
        keys: &[ListKey],
        number: &Expression,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<()> {
        for key in keys {
            let target = (key.function.clone(), vec![number.clone()]);
            let value = (Update::Assign, self.integer(&key.value));
            self.add(self.space.clone(), target, value);
            self.writes(&key.function, CaseKind::Keys);
            unknowns.functions.remove(&key.function);
        }
        Ok(())
    }

    /// The elements of a list that has one for each entry.
    ///
    /// Ranks are stable, so that the last keys need not be compared where entries ascend by
    /// them. By what is left, entries are in order, or are counted into the segments of a
    /// function, or sorted.
    pub(crate) fn ranked(
        &mut self,
        element: Variable,
        keys: &[ListKey],
        (mut sorted, place): (Vec<Key>, &Place),
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let visits = self.visits().course(StatementId::from_index(0));
        let visits = visits.later();
        sorted.truncate(first_ascending(&visits, &sorted));
        if sorted.is_empty() {
            if self.entries.is_full && visits.grows(&self.entries.place) {
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
        if let (
            Place::Segment {
                function, parent, ..
            },
            [key],
        ) = (place, &sorted[..])
            && key.value == *parent
        {
            let at = (function.clone(), vec![plus_one(parent)]);
            let one = (Update::Add, Value::Integer(1));
            self.add(self.space.clone(), at, one);
            self.add_up(function, Update::Add)?;
            unknowns.functions.remove(function);
            let start = entry(function, parent);
            let ordinal = Value::Window(Window::Ordinal, sorted);
            let value = Value::Binary(Operator::Add, Box::new(start), Box::new(ordinal));
            return self.numbered(element, keys, value, true);
        }
        self.numbered(element, keys, Value::Window(Window::Rank, sorted), true)
    }

    /// The number of each entry by keys that tell entries apart, and a constant that says how
    /// many there are.
    pub(crate) fn in_order(
        &mut self,
        name: &str,
        mut sorted: Vec<Key>,
    ) -> Result<(Expression, String)> {
        let visits = self.visits().course(StatementId::from_index(0));
        let visits = visits.later();
        sorted.truncate(first_ascending(&visits, &sorted));
        let end = format!("{name}_entries");
        self.add_number(&end);
        self.count_entries(&end)?;
        let grows = || visits.grows(&self.entries.place);
        if sorted.is_empty() && self.entries.is_full && grows() {
            return Ok((self.entries.place.clone(), end));
        }
        let window = match sorted.is_empty() {
            true => Window::Ordinal,
            false => Window::Rank,
        };
        let array = format!("{name}_rank");
        self.declare_numbers(&array, &Expression::Constant(end.clone()))?;
        let target = (array.clone(), vec![self.entries.place.clone()]);
        let value = (Update::Assign, Value::Window(window, sorted));
        self.add(self.space.clone(), target, value);
        Ok((self.number_at_entry(array)?, end))
    }

    /// A computation that visits the entries.
    pub(crate) fn visits(&self) -> Computation {
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
    pub(crate) fn count_entries(&mut self, name: &str) -> Result<()> {
        if self.writes(name, CaseKind::Count) {
            let target = (name.to_owned(), Vec::new());
            if !self.entries.is_full {
                let one = (Update::Add, Value::Integer(1));
                self.add(self.space.clone(), target, one);
                return Ok(());
            }
            let n = self.integer(&self.entries.n_places);
            let same = Expression::Constant(name.to_owned()).equals(self.entries.n_places.clone());
            self.computation.declarations.assume(same);
            self.add(everywhere()?, target, (Update::Assign, n));
        }
        Ok(())
    }

    /// Gives each entry the number of its element, in an array by places; and says how many
    /// there are.
    pub(crate) fn numbered(
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
        self.declare_numbers(&array, &Expression::Constant(end.clone()))?;
        let at = vec![self.entries.place.clone()];
        self.add(
            self.space.clone(),
            (array.clone(), at.clone()),
            (Update::Assign, value),
        );
        for end in ends.iter().chain(ends.is_empty().then_some(&end)) {
            if is_entry {
                self.count_entries(end)?;
            } else if self.writes(end, CaseKind::Count) {
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
        self.number_at_entry(array)
    }

    /// An array by places for numbers of elements below an end; where no entry is, it
    /// holds -1.
    pub(crate) fn declare_numbers(&mut self, array: &str, end: &Expression) -> Result<()> {
        let places = (self.entries.n_places.clone(), self.entries.is_full);
        self.declare_numbers_at(array, places, end)
    }

    /// As [`declare_numbers`](Self::declare_numbers), for `n_places` places. If `is_full`, each
    /// place holds an entry.
    pub(crate) fn declare_numbers_at(
        &mut self,
        array: &str,
        (n_places, is_full): (Expression, bool),
        end: &Expression,
    ) -> Result<()> {
        let places = below("p", &n_places)?;
        let element = self.element_of_numbers(end);
        self.computation.spaces.push(DataSpace {
            name: array.to_owned(),
            element,
            extents: vec![n_places],
            role: Role::Temporary,
        });
        let from = Expression::Integer(if is_full { 0 } else { -1 });
        self.computation.declarations.declare(Function {
            name: array.to_owned(),
            domain: places.clone(),
            range: between("q", &from, end)?,
            injective: false,
            monotone: None,
        });
        if !is_full {
            let all = vec![Expression::Variable(Variable::from_index(0))];
            let none = (Update::Assign, Value::Integer(-1));
            self.add(places, (array.to_owned(), all), none);
        }
        Ok(())
    }

    /// The type of numbers below `end`: 32 bits if an array of positions with such entries holds
    /// `end`, and 64 if not.
    fn element_of_numbers(&self, end: &Expression) -> ElementType {
        let behind = plus_one(end);
        let functions = self.destination.declarations.functions().iter();
        let ends_there = functions.filter(|function| {
            let range = function.range.as_box().unwrap_or_default();
            function.monotone.is_some() && range.iter().any(|(_, above)| *above == behind)
        });
        let spaces = ends_there.filter_map(|function| self.computation.space(&function.name));
        let mut elements = spaces.map(|space| space.element);
        match elements.any(|element| element == ElementType::I32) {
            true => ElementType::I32,
            false => ElementType::I64,
        }
    }

    /// The number of the element of an entry. Later statements run where there is one.
    pub(crate) fn number_at_entry(&mut self, array: String) -> Result<Expression> {
        let number = Expression::Call(array, vec![self.entries.place.clone()]);
        if !self.entries.is_full {
            let is_entry = (Comparison::LessEqual, number.clone());
            self.space = self.space_with(Constraint {
                first: Expression::Integer(0),
                rest: vec![is_entry],
            })?;
        }
        Ok(number)
    }

    /// The constants that are one more than the last element of a list: where arrays of it
    /// end, and the list itself.
    pub(crate) fn ends(&self, element: Variable, keys: &[ListKey]) -> Vec<String> {
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
                // An array says how many there are of each parent, and a constant how many at most.
                if let Expression::Call(counts, _) = end
                    && let Some((_, above)) = self.range(counts)
                {
                    let one = Box::new(Expression::Integer(1));
                    note(&Expression::Subtract(Box::new(above), one).collected());
                }
            }
        }
        ends
    }
}

/// The first of these keys from which on they never fall from one visit to a later one; their
/// number if the last one may fall.
fn first_ascending(visits: &Later<'_>, keys: &[Key]) -> usize {
    let mut from = 0..keys.len();
    let first = from.find(|first| visits.keys_ascend(&keys[*first..]));
    first.unwrap_or(keys.len())
}
