//! The state of the checker: facts about arrays and entries.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_computation::{Computation, Statement};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Monotone, Set, Values,
};

use crate::curve;
use crate::entries::Entries;
use crate::held::{Held, Numbering, Segments};
use crate::order::{is_after, names_in, reads_itself};
use crate::pieces::{ImageValue, Piece, count_of, numbers_of};
use crate::side::Side;
use crate::{Question, Refusal};

/// The given array that holds 1 at places that hold an entry.
const MASK: &str = "A_stored";

/// The facts that the lines so far established.
pub(crate) struct State<'a> {
    pub(crate) computation: &'a Computation,
    pub(crate) question: &'a Question<'a>,
    /// The part of the destination at hand, and all parts.
    pub(crate) number: usize,
    pub(crate) parts: Vec<Side>,
    /// Whether the entries are those that the part takes.
    pub(crate) has_taken: bool,
    /// The piece of the source at hand, if its entries are listed. The list is then the destination.
    pub(crate) piece: Option<Piece>,
    /// Statements that write the arrays of the list for this piece.
    pub(crate) claimed: Vec<&'a Statement>,
    /// The statement that writes the values of the part.
    pub(crate) copy: Option<&'a Statement>,
    pub(crate) source: Side,
    pub(crate) destination: Side,
    pub(crate) known: Declarations,
    pub(crate) entries: Entries,
    /// The destination's tuple of an entry: the map's first tuple, then its `exists` variables.
    pub(crate) tuple: Vec<Expression>,
    /// Constraints on each entry that the computation asserts when it runs.
    pub(crate) demands: Vec<Constraint>,
    /// Equations and bounds for the values of arrays at each entry.
    pub(crate) facts: Vec<Constraint>,
    pub(crate) numberings: Vec<Numbering>,
    pub(crate) segments: Vec<Segments>,
    pub(crate) held: BTreeMap<String, Held>,
    /// Whether no two entries share a place of the source.
    pub(crate) are_apart: bool,
    /// Whether the tuple of each entry is in the destination's map.
    pub(crate) has_tuples: bool,
    /// Whether, in addition, no two tuples share a place.
    pub(crate) are_placed: bool,
    /// Whether no two entries have equal coordinates.
    pub(crate) are_distinct: bool,
    /// Whether each place holds an entry of the part.
    pub(crate) is_full: bool,
    /// Whether each place of the source holds an entry, of this part or another.
    source_is_full: bool,
    /// The number that counts entries, if there is one.
    pub(crate) counted: Option<Expression>,
}

impl<'a> State<'a> {
    pub(crate) fn new(
        question: &'a Question<'a>,
        stage: usize,
        tuple: &sparsec_relation::Relation,
    ) -> Result<Self, Refusal> {
        let [part] = tuple.parts() else {
            return Err(Refusal::of("the tuple of an entry is a union"));
        };
        let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
        let n_pieces = question.n_listed();
        let piece = question.source.get(stage).filter(|_| stage < n_pieces);
        let piece = piece.map(|piece| Piece {
            number: stage,
            n_pieces,
            value: piece.image.map_or(ImageValue::Same, |(_, value)| value),
        });
        let number = stage.saturating_sub(n_pieces);
        let parts = match piece {
            Some(_) => vec![question.list()?],
            None => Side::parts(question.destination)?,
        };
        let destination = parts[number].clone();
        let is_list = piece.is_none() && n_pieces > 0;
        let (source, mut entries, mut known) = match is_list {
            true => {
                let list = question.list()?;
                (
                    list.clone(),
                    Entries::of(&list, &names, &list.known())?,
                    list.known(),
                )
            }
            false => question.piece(stage.min(question.source.len().saturating_sub(1)), &names)?,
        };
        // Each count of a piece is proved not to be negative, so their sum is not either.
        let counts = (0..n_pieces).map(count_of).chain(["L_NZ".to_owned()]);
        for count in counts.filter(|_| n_pieces > 0) {
            let (zero, count) = (Expression::Integer(0), Expression::Constant(count));
            known.assume(Constraint::new(zero, Comparison::LessEqual, count));
        }
        for parameter in &question.computation.parameters {
            let parameter = Expression::Constant(parameter.clone());
            let zero = Expression::Integer(0);
            known.assume(Constraint::new(zero, Comparison::LessEqual, parameter));
        }
        let parameters = &question.computation.parameters;
        let is_given = |name: &str| parameters.iter().any(|it| it == name);
        known.extend(destination.declarations.of_constants(is_given));
        if question.has_mask && !is_list {
            known.declare(entries.mask(MASK, 1)?);
        }
        for before in &parts[..number] {
            known.declare(entries.mask(&before.mask(), 0)?);
        }
        let values = part.outputs().map(|output| {
            let links = part.constraints().iter();
            let mut values = links.filter_map(|link| match &link.rest[..] {
                [(Comparison::Equal, value)] if link.first == Expression::Variable(output) => {
                    Some(value.clone())
                }
                _ => None,
            });
            values.next()
        });
        let values: Option<Vec<Expression>> = values.collect();
        let map = &destination.map;
        let expected = map.inputs().len() + map.exists().len();
        let tuple = values.filter(|values| values.len() == expected);
        let tuple = tuple
            .ok_or_else(|| Refusal::of(format!("an entry has no tuple of {expected} elements")))?;
        Ok(Self {
            computation: question.computation,
            question,
            source,
            destination,
            known,
            entries,
            tuple,
            demands: Vec::new(),
            facts: Vec::new(),
            numberings: Vec::new(),
            segments: Vec::new(),
            held: BTreeMap::new(),
            are_apart: false,
            has_tuples: false,
            are_placed: false,
            are_distinct: question.is_unique,
            source_is_full: question.is_full && piece.is_none(),
            is_full: number == 0 && (is_list || question.is_full && piece.is_none()),
            piece,
            claimed: Vec::new(),
            number,
            parts,
            has_taken: false,
            copy: None,
            counted: None,
        })
    }

    /// The statements that write an array.
    pub(crate) fn writers(&self, name: &str) -> Vec<&'a Statement> {
        let statements = self.computation.statements.iter();
        statements.filter(|it| it.target.space == name).collect()
    }

    /// Whether a constraint on constants holds.
    pub(crate) fn always(&self, constraint: &Constraint) -> bool {
        let everywhere = Set::new(vec![Conjunction::new::<String>([], [])]);
        everywhere.is_ok_and(|set| set.implies(constraint, &self.known))
    }

    /// Whether every call in an expression is inside the domain of its function, given a test
    /// `holds` of constraints. A fact about a call without a value would be a contradiction, from
    /// which everything follows.
    fn has_value(&self, e: &Expression, holds: &dyn Fn(&Constraint) -> bool) -> bool {
        let mut calls = Vec::new();
        e.visit(&mut |e| {
            if let Expression::Call(name, arguments) = e {
                calls.push((name.clone(), arguments.clone()));
            }
        });
        calls.iter().all(|(name, arguments)| {
            if let Some(mut needs) = curve::needs(name, arguments) {
                return needs.all(|it| holds(&it));
            }
            let domain = self
                .known
                .function(name)
                .map(|function| function.domain.parts());
            let Some([domain]) = domain else {
                return false;
            };
            let links = domain.constraints().iter().flat_map(Constraint::split);
            let mut links = links.map(|link| link.rewritten(&Values(arguments)));
            links.all(|link| holds(&link))
        })
    }

    /// Whether every call in a constraint has a value at each entry.
    pub(crate) fn is_valued(&self, constraint: &Constraint) -> bool {
        let holds = |it: &Constraint| self.at_entries(it);
        constraint.expressions().all(|e| self.has_value(e, &holds))
    }

    /// Records a constraint on each entry. Every call in it must have a value.
    pub(crate) fn note_fact(&mut self, fact: Constraint) -> Result<(), Refusal> {
        if !self.is_valued(&fact) {
            return Err(Refusal::of("an entry may be outside of an array"));
        }
        self.facts.push(fact);
        Ok(())
    }

    /// Records a constraint on constants. Every call in it must have a value.
    pub(crate) fn assume(&mut self, fact: Constraint) -> Result<(), Refusal> {
        if !fact
            .expressions()
            .all(|e| self.has_value(e, &|it| self.always(it)))
        {
            return Err(Refusal::of("an index may be outside of an array"));
        }
        self.known.assume(fact);
        Ok(())
    }

    /// How many entries there are, if a constant says so.
    pub(crate) fn n_entries(&self) -> Option<Expression> {
        let places = (self.is_full && self.are_apart).then(|| self.entries.n_places.clone());
        places.or_else(|| self.counted.clone())
    }

    /// Whether a statement belongs to the part at hand. Those of no part belong to the last.
    pub(crate) fn is_own(&self, statement: &Statement) -> bool {
        let target = &statement.target.space;
        let of = |part: &Side| part.owns(target);
        let is_of_list = *target == "L" || target.starts_with("L_");
        if let Some(piece) = self.piece {
            let mut claimed = self.claimed.iter().chain(&self.copy);
            let own = [count_of(piece.number), numbers_of(piece.number)];
            return own.contains(target) || claimed.any(|it| std::ptr::eq(*it, statement));
        }
        if self.question.n_listed() > 0 && is_of_list {
            return false;
        }
        if *target == self.destination.name {
            let own = self.copy();
            return own.is_ok_and(|own| std::ptr::eq(own, statement));
        }
        match self.number + 1 == self.parts.len() {
            true => !self.parts[..self.number].iter().any(of),
            false => of(&self.destination),
        }
    }

    /// Where the values of the part at hand begin: behind those of the parts before it.
    pub(crate) fn offset(&self) -> Result<Option<Expression>, Refusal> {
        let lengths = self.parts[..self.number].iter().map(Side::n_values);
        let lengths = lengths.collect::<Result<Vec<_>, _>>()?;
        let sum = |a, b| Expression::Add(Box::new(a), Box::new(b));
        Ok(lengths.into_iter().reduce(sum))
    }

    /// Whether two expressions of constants are equal.
    pub(crate) fn are_equal(&self, a: &Expression, b: &Expression) -> bool {
        a == b || self.always(&a.clone().equals(b.clone()))
    }

    /// The facts that share an array with `names`, directly or through other facts.
    pub(crate) fn relevant(&self, mut names: BTreeSet<String>) -> Vec<Constraint> {
        let all: Vec<&Constraint> = self.demands.iter().chain(&self.facts).collect();
        let calls = |constraint: &Constraint| -> BTreeSet<String> {
            let names = constraint.expressions().flat_map(names_in);
            names
                .filter(|name| self.known.function(name).is_some())
                .collect()
        };
        let mut kept = vec![false; all.len()];
        loop {
            let mut has_grown = false;
            for (kept, fact) in kept.iter_mut().zip(&all) {
                let of = calls(fact);
                let of: BTreeSet<String> = of
                    .into_iter()
                    .filter(|name| name.starts_with(['B', 'L']))
                    .collect();
                if !*kept && (of.is_empty() || !of.is_disjoint(&names)) {
                    *kept = true;
                    has_grown = true;
                    names.extend(of);
                }
            }
            if !has_grown {
                break;
            }
        }
        let kept = kept.iter().zip(all).filter(|(kept, _)| **kept);
        kept.map(|(_, fact)| fact.clone()).collect()
    }

    /// Whether a constraint holds at each entry, and its calls have values there.
    pub(crate) fn at_entries(&self, constraint: &Constraint) -> bool {
        self.at_entries_with(&[], constraint)
    }

    pub(crate) fn at_entries_with(&self, given: &[Constraint], constraint: &Constraint) -> bool {
        let own = self.entries.part.constraints().iter();
        if own
            .chain(&self.demands)
            .chain(&self.facts)
            .any(|it| it == constraint)
            || curve::is_of_key(&self.entries.part, constraint)
        {
            return true;
        }
        let names = constraint.expressions().flat_map(names_in).collect();
        let mut part = self.entries.part.clone();
        self.relevant(names)
            .into_iter()
            .for_each(|fact| part.add(fact));
        given.iter().for_each(|fact| part.add(fact.clone()));
        Set::new(vec![part]).is_ok_and(|set| set.implies(constraint, &self.known))
    }

    /// Whether two expressions are equal at each entry.
    pub(crate) fn agree(&self, a: &Expression, b: &Expression) -> bool {
        a == b || self.at_entries(&a.clone().equals(b.clone()))
    }

    /// Checks that a statement has one point for each entry, and does not read the array that it
    /// writes.
    pub(crate) fn visits(&self, statement: &Statement) -> Result<(), Refusal> {
        if reads_itself(statement) {
            return Err(Refusal::at(statement, "it reads what it writes"));
        }
        let rest = self.beyond_entries(statement)?;
        match rest.iter().find(|constraint| !self.at_entries(constraint)) {
            Some(_) => Err(Refusal::at(
                statement,
                "it may leave out entries of the source",
            )),
            None => Ok(()),
        }
    }

    /// The comparisons of a statement's iteration space that the entries' constraints lack. The
    /// iteration space must imply those constraints.
    pub(crate) fn beyond_entries(&self, statement: &Statement) -> Result<Vec<Constraint>, Refusal> {
        let wrong = |why: &str| Err(Refusal::at(statement, why));
        let [part] = statement.space.parts() else {
            return wrong("its space is a union");
        };
        let names = part.inputs().map(|v| part.name(v));
        if !names.eq(self.entries.names().iter()) || part.exists().len() != self.entries.n_hidden {
            return wrong("its points are not those of the entries");
        }
        let own = self.entries.part.constraints();
        // Where each place holds an entry, the coordinates of its key are those of the entry.
        let mut with_keys = part.clone();
        let keys = own.iter().flat_map(Constraint::split);
        let keys = keys.filter(|it| self.source_is_full && curve::has_key(part, it));
        keys.for_each(|key| with_keys.add(key));
        let space = Set::new(vec![with_keys]);
        let space = space.map_err(|_| Refusal::at(statement, "a name has two roles"))?;
        let is_met = |constraint: &Constraint| {
            part.constraints().contains(constraint)
                || !self.entries.hides(constraint) && space.implies(constraint, &self.known)
        };
        if !own.iter().all(is_met) {
            return wrong("it has points that are no entries of the source");
        }
        let beyond = part.constraints().iter().filter(|it| !own.contains(it));
        Ok(beyond.flat_map(Constraint::split).collect())
    }

    /// The `end` of a statement's iteration space `{[x] : 0 <= x < end}`.
    pub(crate) fn sweep(&self, statement: &Statement) -> Result<Expression, Refusal> {
        let sides = statement.space.as_box();
        match sides.as_deref() {
            Some([(least, end)]) if least.simplified() == Expression::Integer(0) => Ok(end.clone()),
            _ => Err(Refusal::at(statement, "it does not run from 0 to an end")),
        }
    }

    /// Checks that the iteration space of a statement is `{[x] : 0 <= x < end}`.
    pub(crate) fn sweeps(&self, statement: &Statement, end: &Expression) -> Result<(), Refusal> {
        match self.are_equal(&self.sweep(statement)?, end) {
            true => Ok(()),
            false => Err(Refusal::at(statement, "it does not reach exactly the end")),
        }
    }

    /// Checks that a statement runs exactly once.
    pub(crate) fn runs_once(&self, statement: &Statement) -> Result<(), Refusal> {
        match statement.space.parts() {
            [part] if part.n_variables() == 0 && part.constraints().is_empty() => Ok(()),
            _ => Err(Refusal::at(statement, "it does not run exactly once")),
        }
    }

    /// Checks that a statement belongs to a later sweep than another.
    pub(crate) fn follows(&self, later: &Statement, earlier: &Statement) -> Result<(), Refusal> {
        match is_after(later, earlier) {
            true => Ok(()),
            false => Err(Refusal::at(
                later,
                format!("it does not follow `{}`", earlier.name),
            )),
        }
    }

    /// The extent of an array with one index.
    pub(crate) fn extent(&self, name: &str) -> Result<Expression, Refusal> {
        match self.computation.space(name).map(|space| &space.extents[..]) {
            Some([extent]) => Ok(extent.clone()),
            _ => Err(Refusal::of(format!("`{name}` has not one index"))),
        }
    }

    /// The number of segments that an array bounds: its extent less 1.
    pub(crate) fn n_segments(&self, name: &str) -> Result<Expression, Refusal> {
        let one = Box::new(Expression::Integer(1));
        Ok(Expression::Subtract(Box::new(self.extent(name)?), one))
    }

    /// The numbering with this expression for the number of an entry.
    pub(crate) fn numbering(&self, value: &Expression) -> Option<usize> {
        self.numberings.iter().position(|it| it.value == *value)
    }

    /// The declared range of an array of the destination.
    pub(crate) fn range(&self, name: &str) -> Option<(Expression, Expression)> {
        let function = self.destination.declarations.function(name)?;
        function.range.as_box()?.pop()
    }

    /// Records an array with the range, the order and the values that its statements give it.
    pub(crate) fn note(
        &mut self,
        name: &str,
        range: (Expression, Option<Expression>),
        monotone: Option<Monotone>,
        held: Held,
    ) -> Result<(), Refusal> {
        let mut value = Conjunction::new(["value"], []);
        let (least, end) = range;
        let mut bounds = Constraint::new(least, Comparison::LessEqual, crate::entries::variable(0));
        bounds.rest.extend(end.map(|end| (Comparison::Less, end)));
        value.add(bounds);
        let mut domain = Conjunction::new(["at"], []);
        domain.add(Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, crate::entries::variable(0)),
                (Comparison::Less, self.extent(name)?),
            ],
        });
        let set = |part| Set::new(vec![part]).map_err(|_| Refusal::of("a name has two roles"));
        self.known
            .retain_functions(|function| function.name != name);
        self.known.declare(Function {
            name: name.to_owned(),
            domain: set(domain)?,
            range: set(value)?,
            injective: false,
            monotone,
        });
        self.held.insert(name.to_owned(), held);
        Ok(())
    }
}
