//! The state of the checker: facts about arrays and entries.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_computation::{Computation, Statement};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Image, Monotone, Set,
    Values,
};

use crate::curve;
use crate::entries::{Entries, natural, sum, variable, within, zero};
use crate::held::{Held, Numbering, NumberingKind, Segments, before};
use crate::lemmas::changes::Changes;
use crate::lemmas::spread::Runs;
use crate::order::names_in;
use crate::pieces::{count_of, lengths_of, numbers_of};
use crate::side::Side;
use crate::stage::{Sides, Stage};
use crate::triangle::FIRST;
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
    /// The subject of this part of the certificate.
    pub(crate) stage: Stage,
    /// The maps of the values of the source, in order.
    pub(crate) images: Vec<Image>,
    /// The number of an entry in the list of all pieces, if the stage lists a piece.
    pub(crate) listed_at: Option<Expression>,
    /// The runs of entries that share places, if they do.
    pub(crate) runs: Option<Runs>,
    /// The changes of values along coordinates, if places of the destination hold runs.
    pub(crate) changes: Option<Changes>,
    /// Statements that belong to this stage alone, beside the one that writes values.
    pub(crate) claimed: Vec<&'a Statement>,
    /// Whether the values of entries with equal coordinates are added up.
    pub(crate) adds: bool,
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
    pub(crate) source_is_full: bool,
    /// The number that counts entries, if there is one.
    pub(crate) counted: Option<Expression>,
}

impl<'a> State<'a> {
    pub(crate) fn new(
        question: &'a Question<'a>,
        stage: &Stage,
        tuple: &sparsec_relation::Relation,
    ) -> Result<Self, Refusal> {
        let [part] = tuple.parts() else {
            return Err(Refusal::of("the tuple of an entry is a union"));
        };
        let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
        let Sides {
            source,
            mut entries,
            mut known,
            parts,
            number,
            facts,
        } = question.sides(stage, &names)?;
        let destination = parts[number].clone();
        let is_list = question.is_listed() && stage.piece().is_none();
        let is_folded = question.triangle.is_some();
        let is_alone = stage.piece().is_none() && !is_list;
        let images = match stage {
            Stage::Piece(piece) => piece.values.clone(),
            _ if is_list => Vec::new(),
            _ => question
                .source
                .iter()
                .filter_map(|it| it.image)
                .map(|(_, value)| value)
                .collect(),
        };
        let declared = question.computation.declarations.keys().iter();
        for key in declared {
            let sides = [&known, &destination.declarations].into_iter();
            let mut same = sides
                .flat_map(|it| it.keys())
                .filter(|it| it.name() == key.name());
            if same.any(|it| it != key) {
                let why = format!("`{}` is another key than that of the format", key.name());
                return Err(Refusal::of(why));
            }
        }
        for parameter in &question.computation.parameters {
            let parameter = Expression::Constant(parameter.clone());
            known.assume(natural(parameter));
        }
        let parameters = &question.computation.parameters;
        let is_given = |name: &str| parameters.iter().any(|it| it == name);
        known.extend(destination.declarations.of_constants(is_given));
        curve::note_injective(&mut known, &destination.declarations);
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
            facts,
            numberings: Vec::new(),
            segments: Vec::new(),
            held: BTreeMap::new(),
            are_apart: false,
            has_tuples: false,
            are_placed: false,
            // Of a triangle, the order of its list says so.
            are_distinct: question.is_unique && !(is_folded && is_list),
            source_is_full: question.is_full,
            is_full: number == 0 && (is_list || question.is_full && is_alone),
            stage: stage.clone(),
            images,
            listed_at: None,
            runs: None,
            changes: None,
            claimed: Vec::new(),
            adds: question.adds
                && match stage {
                    Stage::Piece(_) => false,
                    Stage::Triangle => true,
                    Stage::Part(_) => !is_folded,
                },
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

    /// Records a constraint on each point of a statement. Every call in it must have a value there.
    pub(crate) fn note_over(
        &mut self,
        statement: &Statement,
        fact: Constraint,
    ) -> Result<(), Refusal> {
        match statement.space.parts() {
            [part] if part.exists().len() == 0 && self.is_valued_over(statement, &fact) => {
                self.known.forall(part.clone(), vec![fact]);
                Ok(())
            }
            _ => Err(Refusal::at(
                statement,
                "an index may be outside of an array",
            )),
        }
    }

    /// Whether every call in a constraint has a value at each point of a statement.
    pub(crate) fn is_valued_over(&self, statement: &Statement, constraint: &Constraint) -> bool {
        let holds = |it: &Constraint| statement.space.implies(it, &self.known);
        constraint.expressions().all(|e| self.has_value(e, &holds))
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
        let is_in = |list: &str| {
            let rest = target.strip_prefix(list);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        match &self.stage {
            Stage::Piece(piece) => {
                let mut claimed = self.claimed.iter().chain(&self.copy);
                let own = [count_of, numbers_of, lengths_of].map(|name| name(piece.number));
                return own.contains(target) || claimed.any(|it| std::ptr::eq(*it, statement));
            }
            Stage::Triangle => return is_in("T") || target == FIRST,
            Stage::Part(_) if self.question.is_listed() && (is_in("L") || is_in("T")) => {
                return false;
            }
            Stage::Part(_) => {}
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
                    .filter(|name| !name.starts_with('A'))
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

    /// Whether an expression is from 0 on and less than `end` at each entry.
    pub(crate) fn is_within(&self, x: Expression, end: Expression) -> bool {
        let bounds = within(zero(), x, end);
        bounds.split().all(|link| self.at_entries(&link))
    }

    /// Whether two expressions are equal at each entry.
    pub(crate) fn agree(&self, a: &Expression, b: &Expression) -> bool {
        a == b || self.at_entries(&a.clone().equals(b.clone()))
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
        let extent = self.extent(name)?;
        let one = Box::new(Expression::Integer(1));
        let less = || Expression::Subtract(Box::new(extent.clone()), one);
        Ok(before(&extent).unwrap_or_else(less).simplified())
    }

    /// The numbering with this expression for the number of an entry.
    pub(crate) fn numbering(&self, value: &Expression) -> Option<usize> {
        self.numberings.iter().position(|it| it.value == *value)
    }

    /// Whether an element of the destination's tuple has a segment of an array that rises.
    pub(crate) fn has_segment(&self, element: usize) -> bool {
        let mut has_segment = false;
        let constraints = self.destination.map.constraints().iter();
        for e in constraints.flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(array, at) = e
                    && at[..] == [variable(element)]
                {
                    let function = self.known.function(array);
                    has_segment |= function.is_some_and(|it| it.monotone.is_some());
                }
            });
        }
        has_segment
    }

    /// The numbering of the entries of each group, if this is its number: from 0 on, without gaps.
    pub(crate) fn ordinal(&self, value: &Expression) -> Option<usize> {
        let found = self.numbering(value).filter(|it| {
            let it = &self.numberings[*it];
            it.kind == NumberingKind::InGroups && !it.keys.is_empty()
        });
        // Numbers of the entries of all parts are none of one part's.
        found.filter(|_| self.parts.len() == 1 && !self.has_taken)
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
        let mut bounds = Constraint::new(least, Comparison::LessEqual, variable(0));
        bounds.rest.extend(end.map(|end| (Comparison::Less, end)));
        value.add(bounds);
        let mut domain = Conjunction::new(["at"], []);
        domain.add(within(zero(), variable(0), self.extent(name)?));
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

    /// Records that an array takes no value twice.
    pub(crate) fn note_injective(&mut self, name: &str) {
        let functions = self.known.functions_mut().iter_mut();
        let own = functions.filter(|function| function.name == name);
        own.for_each(|function| function.injective = true);
    }

    /// Records the order of an array.
    pub(crate) fn note_order(&mut self, name: &str, order: Monotone) {
        let functions = self.known.functions_mut().iter_mut();
        let own = functions.filter(|function| function.name == name);
        own.for_each(|function| function.monotone = Some(order));
    }
}
