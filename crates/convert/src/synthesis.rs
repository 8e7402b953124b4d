//! The statements of a conversion, as elements of the destination's tuple are found.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{ElementType, Result};
use sparsec_computation::{
    Access, Computation, DataSpace, Key, Role, Statement, Update, Value, Window,
};
use sparsec_relation::{Constraint, Declarations, Expression, Relation, Set, Variable};

use crate::cases::{Case, CaseKind};
use crate::entries::Entries;
use crate::named::Named;
use crate::terms::{at_least_zero, value};
use crate::unknown::{Place, Unknowns};
use crate::{Conversion, Wanted, refused};

/// The conversion of a source to a destination.
///
/// # Errors
/// `E0830` for an element that nothing determines, and other things that this does not do.
pub(crate) fn synthesized(
    source: &Named,
    destination: &Named,
    entries: &Entries,
    wanted: &Wanted,
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
        kinds: Vec::new(),
        space: entries.space.clone(),
        computation: Computation {
            name: "convert".to_owned(),
            parameters: extents.to_vec(),
            declarations: known.clone(),
            spaces: Vec::new(),
            statements: Vec::new(),
        },
    };
    synthesis.declare(wanted)?;
    if !wanted.is_one_to_one {
        synthesis.check_places()?;
    }
    let mut unknowns = Unknowns::new(destination, entries, &known);
    let mut cases = Vec::new();
    let mut note = |element: (Variable, CaseKind), value: &Expression| {
        cases.push(Case::element(destination, entries, element, value));
    };
    loop {
        for (element, value) in unknowns.determine() {
            note((element, CaseKind::Determined), &value);
        }
        synthesis.demand(&unknowns, &known)?;
        let Some(element) = unknowns.next() else {
            break;
        };
        let (kind, value) = synthesis.found(element, &mut unknowns)?;
        note((element, kind), &value);
        unknowns.set(element, value);
        unknowns.establish(element);
    }
    synthesis.keep(&mut unknowns, &known)?;
    synthesis.copy(&unknowns, &known)?;
    let mut computation = synthesis.computation.clone().checked()?;
    crate::sweeps::schedule(&mut computation);
    let computation = computation.checked()?;
    let arrays = synthesis.kinds.iter();
    cases.extend(arrays.map(|(name, kind)| Case::array(&computation, name, *kind)));
    Ok(Conversion {
        relation: relation(source, destination, &known)?,
        cases,
        computation,
        origin: None,
    })
}

/// Which tuples of both sides have the same coordinates: the source's map, then the
/// inverse of the destination's. Source: Popoola et al., CGO 2023, §3.2.
fn relation(source: &Named, destination: &Named, known: &Declarations) -> Result<Relation> {
    let [from, to] = [source, destination].map(|side| Relation::new(vec![side.map.clone()]));
    let relation = from?.then(&to?.inverse())?;
    Ok(relation.simplified_under(known))
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

/// A conversion, as far as it is written.
pub(crate) struct Synthesis<'a> {
    pub(crate) source: &'a Named,
    pub(crate) destination: &'a Named,
    pub(crate) entries: &'a Entries,
    pub(crate) extents: &'a [String],
    pub(crate) unknown_constants: BTreeSet<String>,
    /// Listed elements by the arrays that hold their numbers: the keys that put them in
    /// their order, if they have one.
    pub(crate) found: BTreeMap<String, Option<Vec<Key>>>,
    /// Constants and functions that a statement computes.
    pub(crate) written: BTreeSet<String>,
    /// What each of them is, in the order in which they are found.
    pub(crate) kinds: Vec<(String, CaseKind)>,
    /// The entries that the destination can hold.
    pub(crate) space: Set,
    pub(crate) computation: Computation,
}

impl Synthesis<'_> {
    /// Declares the arrays of both sides.
    fn declare(&mut self, wanted: &Wanted) -> Result<()> {
        let element = wanted.element;
        let type_of = |name: &str| wanted.types.get(name).copied().unwrap_or(ElementType::I64);
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

    /// Refuses a source that may hold two entries at one coordinate; and, when the conversion
    /// runs, places without an entry.
    fn check_places(&mut self) -> Result<()> {
        let place = &self.entries.place;
        if !self.is_told_apart(std::slice::from_ref(place), &self.coordinates())? {
            let message = format!(
                "`{}` may hold two entries at one coordinate",
                self.source.name
            );
            return Err(refused(message)
                .note(format!("its map is {}", self.source.map))
                .help("declare what tells them apart: `increasing`, `injective`, or `forall …`"));
        }
        let count = format!("{}_entries", self.source.name);
        self.add_number(&count);
        let all = Expression::Constant(count.clone()).equals(self.entries.n_places.clone());
        self.computation.declarations.assume(all);
        let one = (Update::Add, Value::Integer(1));
        self.add(self.space.clone(), (count, Vec::new()), one);
        Ok(())
    }

    /// The coordinates of an entry.
    pub(crate) fn coordinates(&self) -> Vec<Expression> {
        let coordinates = self.entries.coordinates.iter();
        coordinates.copied().map(Expression::Variable).collect()
    }

    /// An integer that is computed and not negative.
    pub(crate) fn add_number(&mut self, name: &str) {
        self.computation.spaces.push(DataSpace {
            name: name.to_owned(),
            element: ElementType::I64,
            extents: Vec::new(),
            role: Role::Temporary,
        });
        self.computation.declarations.assume(at_least_zero(name));
    }

    /// Keeps to entries that the destination can hold, and refuses others when it runs.
    pub(crate) fn demand(&mut self, unknowns: &Unknowns<'_>, known: &Declarations) -> Result<()> {
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
    pub(crate) fn space_with(&self, constraint: Constraint) -> Result<Set> {
        let mut part = self.space.parts()[0].clone();
        part.add(constraint);
        Set::new(vec![part])
    }

    /// Finds an element of the destination's tuple that coordinates do not determine.
    fn found(
        &mut self,
        element: Variable,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<(CaseKind, Expression)> {
        let keys = unknowns.keys(element);
        if !keys.is_empty() {
            let value = self.listed(element, &keys, unknowns)?;
            return Ok((CaseKind::Listed, value));
        }
        if let Some(run) = unknowns.run(element) {
            return Ok((CaseKind::InRun, self.in_run(element, &run, unknowns)?));
        }
        let others = unknowns.others(element);
        match unknowns.place(element) {
            Some(Place::All) if !others.is_empty() => {
                Ok((CaseKind::Free, self.free(element, &others, unknowns)?))
            }
            _ => {
                let name = self.destination.map.name(element);
                Err(refused(format!("nothing says which `{name}` an entry has"))
                    .note(format!("the destination's map is {}", self.text_of_map()))
                    .help("state what determines it, or convert to a format of levels"))
            }
        }
    }

    pub(crate) fn text_of_map(&self) -> String {
        self.destination.map.to_string()
    }

    /// An element that keeps entries apart.
    pub(crate) fn free(
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

    /// Copies the values.
    pub(crate) fn copy(&mut self, unknowns: &Unknowns<'_>, known: &Declarations) -> Result<()> {
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

    /// Notes that statements compute an array or a constant; returns whether this is new.
    pub(crate) fn writes(&mut self, name: &str, kind: CaseKind) -> bool {
        let is_new = self.written.insert(name.to_owned());
        if is_new {
            self.kinds.push((name.to_owned(), kind));
        }
        is_new
    }

    /// An integer expression as a value.
    pub(crate) fn integer(&self, e: &Expression) -> Result<Value> {
        value(e).ok_or_else(|| refused(format!("values hold no `{e:?}`")))
    }

    /// Adds a statement behind all others.
    pub(crate) fn add(
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
