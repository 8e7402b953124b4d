//! The statements of a conversion, as elements of the destination's tuple are found.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{Access, Computation, DataSpace, Key, Role, Statement, Update, Value};
use sparsec_relation::{
    Constraint, Declarations, Expression, Function, Image, Relation, Set, Variable,
};

use crate::cases::{Case, CaseKind};
use crate::certify::Origin;
use crate::declare::unknown_constants;
use crate::entries::Entries;
use crate::named::Named;
use crate::pieces::Source;
use crate::problem::{Problem, image_of_value};
use crate::terms::{at_least_zero, below, entry, inside, scalar, with};
use crate::unknown::{Place, Unknowns};
use crate::{Conversion, Places, refused};

/// The value of entries that are not stored, where it is given.
pub(crate) const FILL: &str = "A_fill";

/// The conversion of a source to a destination of one part or several.
///
/// # Errors
/// `E0830` for an element that nothing determines, and other things that this does not do.
pub(crate) fn synthesized(
    source: &Source,
    destinations: &[Named],
    (problem, origin): (&Problem, Origin),
    extents: &[String],
) -> Result<Conversion> {
    let entries = &source.entries;
    let mut known = Declarations::new();
    for side in source.sides() {
        known.extend(side.declarations.clone());
        for (name, value) in &side.constants {
            if let Some(value) = value {
                known.assume(value.clone().equals(Expression::Constant(name.clone())));
            }
        }
    }
    for destination in destinations {
        for function in destination.declarations.functions() {
            known.declare(function.clone());
        }
        let keys = destination.declarations.keys().iter().cloned();
        keys.for_each(|key| known.declare_key(key));
        let unknown = unknown_constants(destination);
        let is_given = |name: &str| !unknown.contains(name);
        known.extend(destination.declarations.of_constants(is_given));
    }
    let flags = source.masks(problem).into_iter();
    let taken = destinations
        .split_last()
        .map_or(&[][..], |(_, before)| before);
    let taken = taken.iter().map(|part| (part.mask(), &entries.n_places));
    for (name, places) in flags.chain(taken) {
        known.declare(Function {
            name,
            domain: below("p", places)?,
            range: below("b", &Expression::Integer(2))?,
            injective: false,
            monotone: None,
        });
    }
    for name in extents {
        known.assume(at_least_zero(name));
    }
    source.assume(&mut known)?;
    let mut synthesis = Synthesis {
        source: &source.named,
        destination: &destinations[0],
        entries,
        extents,
        unknown_constants: BTreeSet::new(),
        found: BTreeMap::new(),
        written: BTreeSet::new(),
        defined: BTreeSet::new(),
        kinds: Vec::new(),
        space: entries.space.clone(),
        met: HashSet::new(),
        met_by: Declarations::new(),
        offset: Expression::Integer(0),
        copies: Vec::new(),
        is_last: true,
        adds: problem.adds,
        adds_repeated: source.adds,
        tables: problem.tables.clone(),
        blocks: problem.blocks.clone(),
        has_counted: false,
        are_all_entries: false,
        has_fill: problem.has_fill,
        value: source.value,
        computation: Computation {
            name: "convert".to_owned(),
            parameters: extents.to_vec(),
            declarations: known.clone(),
            spaces: Vec::new(),
            statements: Vec::new(),
        },
    };
    synthesis.declare(source, destinations, problem)?;
    source.list(&mut synthesis)?;
    if !problem.is_unique && !problem.adds {
        synthesis.check_places()?;
    }
    if problem.places == Places::Checked && source.is_one() {
        synthesis.check_full();
    }
    let mut cases = Vec::new();
    for (number, destination) in destinations.iter().enumerate() {
        synthesis.destination = destination;
        synthesis.is_last = number + 1 == destinations.len();
        synthesis.unknown_constants = unknown_constants(destination);
        synthesis.found.clear();
        synthesis.met.clear();
        synthesis.has_counted = false;
        synthesis.are_all_entries = false;
        let before = synthesis.space.clone();
        synthesis.fill(&known, (number, &mut cases))?;
        if !synthesis.is_last {
            synthesis.leave(before)?;
        }
    }
    synthesis.copy()?;
    let written = synthesis.computation.clone().checked()?;
    let mut computation = written.clone();
    crate::sweeps::schedule(&mut computation, true);
    let computation = computation.checked()?;
    let arrays = synthesis.kinds.iter();
    cases.extend(arrays.map(|(name, kind)| Case::array(&computation, name, *kind)));
    let mut relations = Vec::new();
    for from in source.sides() {
        for to in destinations {
            relations.push(relation(from, to, &known)?);
        }
    }
    Ok(Conversion {
        relations,
        cases,
        computation,
        written,
        origin,
    })
}

/// Which tuples of both sides have the same coordinates: the source's map, then the
/// inverse of the destination's. Source: Popoola et al., CGO 2023, §3.2.
pub(crate) fn relation(
    source: &Named,
    destination: &Named,
    known: &Declarations,
) -> Result<Relation> {
    let [from, to] = [source, destination].map(|side| Relation::new(vec![side.map.clone()]));
    let relation = from?.then(&to?.inverse())?;
    Ok(relation.simplified_under(known))
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
    /// Arrays that declarations define.
    pub(crate) defined: BTreeSet<String>,
    /// What each of them is, in the order in which they are found.
    pub(crate) kinds: Vec<(String, CaseKind)>,
    /// The entries that the part at hand can hold.
    pub(crate) space: Set,
    /// Demands of the part at hand that are proved to hold at all of these entries, and what they
    /// are proved by.
    pub(crate) met: HashSet<Constraint>,
    pub(crate) met_by: Declarations,
    /// Where the values of the part at hand begin.
    pub(crate) offset: Expression,
    /// For each part the entries that it holds, and the places of their values.
    pub(crate) copies: Vec<(Set, Expression)>,
    /// Whether it is the last part, which has to hold all entries that are left.
    pub(crate) is_last: bool,
    /// Whether entries of one coordinate are added up.
    pub(crate) adds: bool,
    /// Whether repeated entries of the source are added up when they are listed.
    pub(crate) adds_repeated: bool,
    /// The arrays of the destination that hold the keys of hash tables.
    pub(crate) tables: BTreeSet<String>,
    /// Those that hold the coordinates of blocks which are filled up.
    pub(crate) blocks: BTreeSet<String>,
    /// Whether entries of the part at hand were counted.
    pub(crate) has_counted: bool,
    /// Whether each tuple of the part at hand is that of an entry.
    pub(crate) are_all_entries: bool,
    /// Whether places without an entry hold the given fill.
    pub(crate) has_fill: bool,
    /// What becomes of the source's values.
    value: Image,
    pub(crate) computation: Computation,
}

impl Synthesis<'_> {
    /// Fills the arrays of the part at hand.
    fn fill(&mut self, known: &Declarations, (part, cases): (usize, &mut Vec<Case>)) -> Result<()> {
        let (destination, entries) = (self.destination, self.entries);
        let raised = self.raise_constants()?;
        let mut unknowns = Unknowns::new(destination, entries, known);
        self.define(&mut unknowns)?;
        let mut note = |element: (Variable, CaseKind), value: &Expression| {
            cases.push(Case::element((destination, part), entries, element, value));
        };
        loop {
            for (element, value) in unknowns.determine() {
                note((element, CaseKind::Determined), &value);
            }
            self.demand(&unknowns)?;
            let Some(element) = unknowns.next()? else {
                break;
            };
            let (kind, value) = self.found(element, &mut unknowns)?;
            note((element, kind), &value);
            unknowns.set(element, value);
            unknowns.establish(element);
        }
        for name in raised {
            self.writes(&name, CaseKind::Count);
        }
        self.keep(&mut unknowns, known)?;
        let places = self.destination.data.solve(known)?;
        let [place] = &places[..] else {
            return Err(refused("values lie by several rules".to_owned()));
        };
        let place = unknowns.at_entry(&place[0]);
        let place = place.expect("all elements are found");
        self.keep_within_values(&place)?;
        let place = match &self.offset {
            Expression::Integer(0) => place,
            offset => Expression::Add(Box::new(offset.clone()), Box::new(place)),
        };
        self.copies.push((self.space.clone(), place));
        Ok(())
    }

    /// Leaves the entries `before` the part at hand that it does not hold to later parts.
    fn leave(&mut self, before: Set) -> Result<()> {
        let taken = self.destination.mask();
        let place = self.entries.place.clone();
        let target = (taken.clone(), vec![place.clone()]);
        self.add(
            self.space.clone(),
            target,
            (Update::Assign, Value::Integer(1)),
        );
        self.space = before;
        let is_taken = Expression::Call(taken, vec![place]);
        self.space = self.space_with(is_taken.equals(Expression::Integer(0)))?;
        let [length] = &self.destination.lengths(None)?[..] else {
            return Err(refused("values of a part have several indices".to_owned()));
        };
        let (before, own) = (Box::new(self.offset.clone()), Box::new(length.clone()));
        self.offset = Expression::Add(before, own).simplified();
        Ok(())
    }

    /// Refuses a source of which it is not proved that each coordinate has one place, and each
    /// place one coordinate.
    fn check_places(&mut self) -> Result<()> {
        let place = std::slice::from_ref(&self.entries.place);
        let coordinates = self.coordinates();
        let refuse = |what: &str, help: &str| {
            let message = format!("`{}` may hold two entries at one {what}", self.source.name);
            Err(refused(message)
                .note(format!("its map is {}", self.source.map))
                .help(help))
        };
        if !self.is_told_apart(place, &coordinates)? {
            return refuse(
                "coordinate",
                "declare what tells them apart: `increasing`, `injective`, or `forall …`",
            );
        }
        if !self.is_told_apart(&coordinates, place)? {
            return refuse("place", "give each tuple a place of its own in `data`");
        }
        Ok(())
    }

    /// Refuses, when the conversion runs, tensors with places that hold no entry.
    fn check_full(&mut self) {
        let count = format!("{}_entries", self.source.name);
        self.add_number(&count);
        let all = Expression::Constant(count.clone()).equals(self.entries.n_places.clone());
        self.computation.declarations.assume(all);
        let one = (Update::Add, Value::Integer(1));
        self.add(self.space.clone(), (count, Vec::new()), one);
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

    /// A temporary array of integers.
    pub(crate) fn add_array(&mut self, name: &str, length: Expression) {
        self.computation.spaces.push(DataSpace {
            name: name.to_owned(),
            element: ElementType::I64,
            extents: vec![length],
            role: Role::Temporary,
        });
    }

    /// The entries at which a constraint holds too.
    pub(crate) fn space_with(&self, constraint: Constraint) -> Result<Set> {
        with(&self.space, constraint)
    }

    /// Restricts entries to those with `0 <= parent < n_parents`, which are all of them. Proofs of
    /// places below a listed parent need this bound.
    pub(crate) fn bound_parent(
        &mut self,
        parent: &Expression,
        n_parents: &Expression,
    ) -> Result<()> {
        if matches!(parent, Expression::Call(..)) {
            self.space = self.space_with(inside(parent, n_parents))?;
        }
        Ok(())
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
        if let Some(run) = unknowns.value_run(element) {
            let value = self.in_value_run(element, &run, unknowns)?;
            return Ok((CaseKind::InValueRun, value));
        }
        let counted = unknowns.counted(element);
        if self.adds && (counted.is_some() || unknowns.place(element).is_some()) {
            let name = self.destination.map.name(element);
            return Err(
                refused(format!("`{name}` counts entries, which may be repeated"))
                    .help("convert to a list of entries first, in which none is repeated: `scoo`"),
            );
        }
        if let Some(counted) = counted {
            let value = self.in_parent(element, &counted, unknowns)?;
            return Ok((CaseKind::Counted, value));
        }
        let others = unknowns.others(element);
        match unknowns.place(element) {
            Some(Place::All) if !others.is_empty() => {
                let value = self.free(element, &others, unknowns)?;
                // There may be more entries to keep apart than numbers.
                self.keep_to(unknowns.bounds(element, &value))?;
                Ok((CaseKind::Free, value))
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

    /// Copies the values, once all parts are so long as they are.
    fn copy(&mut self) -> Result<()> {
        let update = match self.adds {
            true => Update::Add,
            false => Update::Assign,
        };
        if self.has_fill {
            let values = self.computation.space("B").map(|space| &space.extents[..]);
            if let Some([length]) = values {
                let places = below("x", length)?;
                let x = vec![Expression::Variable(Variable::from_index(0))];
                let fill = scalar(FILL);
                self.add(places, ("B".to_owned(), x), (Update::Assign, fill));
            }
        }
        for (space, place) in std::mem::take(&mut self.copies) {
            let value = self.value_at_entry();
            self.add(space, ("B".to_owned(), vec![place]), (update, value));
        }
        Ok(())
    }

    /// The value of an entry.
    pub(crate) fn value_at_entry(&self) -> Value {
        image_of_value(self.value, entry(&self.source.name, &self.entries.place))
    }

    /// Notes that statements compute an array or a constant; returns whether this is new.
    pub(crate) fn writes(&mut self, name: &str, kind: CaseKind) -> bool {
        use CaseKind::{Count, Keys, Runs, Segments};
        let is_own = || {
            let function = self.destination.declarations.function(name);
            function.is_some() || self.unknown_constants.contains(name)
        };
        self.has_counted |= [Count, Keys, Runs, Segments].contains(&kind) && is_own();
        let is_new = self.written.insert(name.to_owned());
        if is_new {
            self.kinds.push((name.to_owned(), kind));
        }
        is_new
    }

    /// An integer expression as a value.
    pub(crate) fn integer(&self, e: &Expression) -> Value {
        Value::of_expression(e, &self.computation.declarations)
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
