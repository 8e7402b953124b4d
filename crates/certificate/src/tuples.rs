//! Obligations about tuples of the destination, and about the bounds of all accesses.
//!
//! Each entry has a tuple. The tuple has a place of its own that holds the value of the entry.
//! Places of other tuples hold the fill.
//!
//! ```text
//! entry ──► tuple                       the certificate; the tuple is in the map           Tuple
//! tuple ──► place                       the data map; no two tuples share a place          Others
//! tuple ──► coordinates ──► entry       the map; no two entries have equal coordinates     OwnPlace
//! coordinates ──► tuple                 no two tuples have equal coordinates               OneTuple
//! B(place) = A(place in the source)     the only statement that writes B                   Holds
//! ```

use sparsec_base::arena::Id;
use sparsec_computation::{Key, Statement, Update, Value};
use sparsec_relation::{
    Answer, Comparison, Conjunction, Constraint, Expression, Image, Relation, Set, Values,
};

use crate::Refusal;
use crate::check::{Outcome, refuse, require};
use crate::curve;
use crate::entries::{natural, sum, variable};
use crate::goal::{Goal, at_values, shifted};
use crate::lemmas::{index, updates};
use crate::order::{accesses, time};
use crate::side::Side;
use crate::state::State;

/// The given value of places that hold no entry.
pub(crate) const FILL: &str = "A_fill";

/// Constraints that equate parts of two tuples, given as values of the map's variables.
pub(crate) type Same<'a> = &'a dyn Fn(&[Expression], &[Expression]) -> Vec<Constraint>;

impl<'a> State<'a> {
    /// Every index lies within the extent of its array, and every key within its extent, in the
    /// statements of the part or piece at hand.
    pub(crate) fn inside(&self) -> Outcome {
        self.copy()?;
        let arrays = self.destination.declarations.functions();
        let is_claimed = self.stage.piece().is_none() || self.claimed.len() == arrays.len();
        refuse(is_claimed, "nothing says which statements list the entries")?;
        let statements = self.computation.statements.iter();
        for statement in statements.filter(|it| self.is_own(it)) {
            let is_entries = self.beyond_entries(statement).is_ok();
            let own: Vec<Constraint> = statement.space.parts()[0].constraints().to_vec();
            let holds = |constraint: &Constraint| match is_entries {
                true => self.at_entries_with(&own, constraint),
                false => statement.space.implies(constraint, &self.known),
            };
            let mut bounds: Vec<(Expression, Expression)> = Vec::new();
            for access in accesses(statement) {
                let Some(space) = self.computation.space(&access.space) else {
                    continue;
                };
                if access.space == self.destination.name && self.parts.len() > 1 {
                    let n = self.destination.n_values()?;
                    let is_placed = self.is_placed(&access.indices, &n);
                    refuse(is_placed, "a value may be outside of its part")?;
                    continue;
                }
                bounds.extend(
                    access
                        .indices
                        .iter()
                        .cloned()
                        .zip(space.extents.iter().cloned()),
                );
            }
            let keys = statement
                .value
                .windows()
                .into_iter()
                .flat_map(|(_, keys)| keys);
            let is_proved = |key: &&Key| is_entries && curve::is_below(self, key);
            let keys = keys.filter(|key| !is_proved(key));
            bounds.extend(keys.map(|key| (key.value.clone(), key.extent.clone())));
            for (value, end) in bounds {
                let least = natural(value.clone());
                let most = Constraint::new(value, Comparison::Less, end);
                let is_within = holds(&least) && holds(&most);
                require(
                    !(!is_within && !self.is_place(statement, &most)),
                    statement,
                    "an index may be outside of its array",
                )?;
            }
        }
        Ok(())
    }

    /// Whether a bound is the upper bound of the place at which a statement writes a value, and the
    /// map implies it.
    fn is_place(&self, statement: &Statement, most: &Constraint) -> bool {
        let written = statement.target.space == self.destination.name;
        written
            && statement.target.indices[..] == [most.first.clone()]
            && self.is_placed(&statement.target.indices, &most.rest[0].1)
    }

    /// Whether an index is the place of an entry's tuple, and the map implies that the place lies
    /// between 0 and `end`, behind the places of the parts before. The place is looked at as an
    /// expression of the map's tuple: there the prover need not multiply out the expressions of its
    /// elements.
    fn is_placed(&self, indices: &[Expression], end: &Expression) -> bool {
        let map = &self.destination.map;
        let (Ok(at_entry), [index]) = (self.place(), indices) else {
            return false;
        };
        if !self.has_tuples || !self.agree(index, &at_entry) {
            return false;
        }
        let Ok(place) = self.destination.place(&self.known) else {
            return false;
        };
        let names = (0..map.n_variables()).map(|n| format!("v{n}"));
        let mut part = Conjunction::new(names.collect::<Vec<_>>(), []);
        map.constraints().iter().for_each(|it| part.add(it.clone()));
        let least = natural(place.clone());
        let most = Constraint::new(place, Comparison::Less, end.clone());
        Set::new(vec![part]).is_ok_and(|tuples| {
            let mut bounds = [least, most].into_iter();
            bounds.all(|bound| tuples.implies(&bound, &self.known))
        })
    }

    /// The values of the parts follow one another: the array is as long as all parts together, and
    /// the part at hand has no negative length.
    pub(crate) fn has_room(&self) -> Outcome {
        let lengths = self.parts.iter().map(Side::n_values);
        let lengths = lengths.collect::<Result<Vec<_>, _>>()?;
        let own = natural(lengths[self.number].clone());
        refuse(self.always(&own), "a part may have a negative length")?;
        let total = lengths.into_iter().reduce(sum);
        let total = total.ok_or_else(|| Refusal::of("there are no parts"))?;
        let extent = self.extent(&self.destination.name)?;
        refuse(
            self.are_equal(&extent, &total),
            "it may have another length",
        )
    }

    /// The destination's tuple and the coordinates of an entry, in the order of the map's
    /// variables.
    pub(crate) fn at_entry(&self) -> Vec<Expression> {
        let n = self.destination.map.inputs().len();
        let mut values = self.tuple[..n].to_vec();
        values.extend(self.entries.coordinates.iter().cloned());
        values.extend(self.tuple[n..].iter().cloned());
        values
    }

    /// The tuple of each entry satisfies the map.
    pub(crate) fn has_tuple(&mut self) -> Outcome {
        let constraints = at_values(&self.destination.map, &self.at_entry());
        let links: Vec<Constraint> = constraints.iter().flat_map(Constraint::split).collect();
        self.has_tuples = links.iter().all(|link| self.at_entries(link));
        refuse(
            self.has_tuples,
            "the tuple of an entry may not satisfy the map",
        )?;
        Ok(())
    }

    /// Whether no two different tuples of the map agree in `same`, or, without `same`, in their
    /// coordinates.
    pub(crate) fn no_two(&self, same: Option<Same<'_>>) -> bool {
        let map = &self.destination.map;
        let n = map.n_variables();
        let [first, mut second] = [0, n].map(|from| shifted(map, from));
        if same.is_none() {
            for output in map.outputs() {
                second[output.index()] = first[output.index()].clone();
            }
        }
        let n_elements = map.inputs().len();
        (0..n_elements).all(|place| {
            let mut claim = [at_values(map, &first), at_values(map, &second)].concat();
            claim.extend(same.iter().flat_map(|same| same(&first, &second)));
            let equal = (0..place).map(|at| first[at].clone().equals(second[at].clone()));
            claim.extend(equal);
            claim.push(Constraint::new(
                first[place].clone(),
                Comparison::Less,
                second[place].clone(),
            ));
            let mut goal = Goal::new(2 * n, claim);
            goal.tuple_at(0);
            goal.tuple_at(n);
            for at in (place + 1..n_elements).rev() {
                goal.compare(first[at].clone(), second[at].clone());
            }
            if goal.is_refuted(self) {
                return true;
            }
            let goal = goal.with_witnesses(self);
            let is_one = same.is_none() && goal.clone().with_same_entries(self).is_refuted(self);
            is_one || goal.is_refuted(self)
        })
    }

    pub(crate) fn one_tuple(&self) -> Outcome {
        refuse(
            self.no_two(None),
            "two tuples may have the same coordinates",
        )
    }

    /// The place of an entry's value in the destination.
    fn place(&self) -> Result<Expression, Refusal> {
        let place = self.destination.place(&self.known)?;
        let place = place.rewritten(&Values(&self.at_entry()));
        Ok(match self.offset()? {
            Some(offset) => sum(offset, place),
            None => place,
        })
    }

    /// A place determines a tuple, a tuple its coordinates, and coordinates their entry. With `in_runs`,
    /// a place determines a run, which has one value.
    pub(crate) fn own_place(&self, in_runs: bool) -> Outcome {
        match in_runs {
            true => refuse(
                self.are_in_runs(),
                "values are not known to be those of runs",
            )?,
            false => refuse(
                self.are_placed,
                "entries are not known to be in tuples that share no place",
            )?,
        }
        let map = Relation::new(vec![self.destination.map.clone()]);
        let is_function = map.is_ok_and(|map| map.is_function(&self.known) == Answer::Yes);
        refuse(is_function, "a tuple may have several coordinates")?;
        let are_told_apart = match self.stage.is_triangle() && !in_runs {
            // No two entries on one side of the diagonal have the same coordinates.
            true => self.question.is_unique || self.question.adds,
            false => self.are_distinct || self.adds && !in_runs,
        };
        let are_told_apart = self.are_apart && are_told_apart;
        refuse(are_told_apart, "two entries may have the same coordinates")
    }

    /// The statements that write the values of entries, one for each part. If the fill is given, one
    /// before them writes the fill to all places; without, places begin with 0.
    fn copies(&self) -> Result<Vec<&'a Statement>, Refusal> {
        let name = &self.destination.name;
        let mut writers = self.writers(name);
        writers.sort_by_key(|statement| time(statement).ok());
        let piece = self.stage.piece();
        if self.question.has_fill && piece.is_none() && !writers.is_empty() {
            let fill = writers.remove(0);
            self.fills(fill, &[])?;
            writers
                .iter()
                .try_for_each(|copy| self.follows(copy, fill))?;
        }
        let n_copies = piece.map_or(self.parts.len(), |piece| piece.n_pieces);
        let is_each = writers.len() == n_copies;
        refuse(is_each, "not one statement writes the values of each part")?;
        writers
            .iter()
            .try_for_each(|copy| updates(copy, self.update()))?;
        Ok(writers)
    }

    /// How the values of entries are stored.
    pub(crate) fn update(&self) -> Update {
        match self.adds {
            true => Update::Add,
            false => Update::Assign,
        }
    }

    /// Checks that a statement writes the image of the fill to all places of its array.
    pub(crate) fn fills(&self, fill: &Statement, images: &[Image]) -> Outcome {
        updates(fill, Update::Assign)?;
        self.sweeps(fill, &self.extent(&fill.target.space)?)?;
        let value = imaged(&fill.value, images);
        let is_fill = matches!(value, Some(Value::Entry(read))
            if read.space == FILL && read.indices.is_empty());
        let given = self.computation.space(FILL);
        let is_given = given.is_some_and(|space| space.role.is_given());
        require(
            is_fill && is_given && !self.question.adds && *index(fill)? == variable(0),
            fill,
            "it does not write the fill to all places",
        )?;
        Ok(())
    }

    /// The statement that writes the values of the part at hand, which has one point for each entry.
    pub(crate) fn visited(&mut self, cited: &[&'a Statement]) -> Outcome {
        let copies = self.copies()?;
        let copy = match cited {
            [copy] if copies.iter().any(|it| std::ptr::eq(*it, *copy)) => *copy,
            _ => {
                return Err(Refusal::of(
                    "it is not about one statement that copies values",
                ));
            }
        };
        let is_other = |own: &'a Statement| !std::ptr::eq(own, copy);
        refuse(
            !self.copy.is_some_and(is_other),
            "two statements copy the values of one part",
        )?;
        self.visits(copy)?;
        self.copy = Some(copy);
        Ok(())
    }

    /// The statement that writes the values of the part at hand.
    pub(crate) fn copy(&self) -> Result<&'a Statement, Refusal> {
        let copy = self.copy;
        copy.ok_or_else(|| Refusal::of("nothing says which statement copies values"))
    }

    /// One statement writes values: the value of each entry to its place. Sums hold all entries of
    /// their coordinates, since these have one tuple.
    pub(crate) fn holds_value(&self) -> Outcome {
        self.copies_values(self.copy()?)
    }

    /// Checks that a statement writes the values of entries to the places of their tuples.
    pub(crate) fn copies_values(&self, copy: &Statement) -> Outcome {
        let place = self.place()?;
        require(
            self.agree(index(copy)?, &place),
            copy,
            "it may write to another place than that of the entry's tuple",
        )?;
        let is_value = match imaged(&copy.value, &self.images) {
            Some(Value::Entry(read)) => {
                read.space == self.source.name
                    && matches!(&read.indices[..], [at] if self.agree(at, &self.entries.place))
            }
            _ => false,
        };
        require(is_value, copy, "it may copy another value than the entry's")
    }

    /// Places of no entry hold the fill: one statement writes values to places of entries, and no two
    /// tuples share a place.
    /// Runs that share a place may hold it too: it is known of them which values they have.
    pub(crate) fn others(&mut self) -> Outcome {
        self.copy()?;
        if self.changes.is_some() {
            return refuse(
                self.are_in_runs(),
                "values are not known to be those of runs",
            );
        }
        let place = self.destination.place(&self.known)?;
        let same = |a: &[Expression], b: &[Expression]| -> Vec<Constraint> {
            vec![
                place
                    .rewritten(&Values(a))
                    .equals(place.rewritten(&Values(b))),
            ]
        };
        refuse(self.no_two(Some(&same)), "two tuples may share a place")?;
        self.are_placed = self.has_tuples;
        Ok(())
    }
}

/// The value of which another is the image by these steps, one after the other.
fn imaged<'v>(value: &'v Value, images: &[Image]) -> Option<&'v Value> {
    let steps = images.iter().rev();
    let mut steps = steps.filter(|image| **image != Image::Same);
    steps.try_fold(value, |value, image| match (value, image) {
        (Value::Negate(value), Image::Negative) | (Value::Conjugate(value), Image::Conjugate) => {
            Some(&**value)
        }
        _ => None,
    })
}
