//! The check of a certificate's lines.
//!
//! Lines are checked in their order, since a lemma uses facts that earlier lines established.
//! Obligations that the certificate omits are added without a proof.

use sparsec_base::arena::Id;
use sparsec_computation::Statement;
use sparsec_relation::{Comparison, Constraint, Expression, Values};

use crate::certificate::{Certificate, Line, Obligation, Part, Proof};
use crate::entries::{At, entry, variable, within, zero};
use crate::goal::{Goal, failing};
use crate::held::Held;
use crate::lemma::Lemma;
use crate::lemmas::table::found;
use crate::obligations::{declared_of, obligations, text};
use crate::order::settled;
use crate::stage::Stage;
use crate::state::State;
use crate::{Question, Refusal};

pub(crate) type Outcome = Result<(), Refusal>;

/// Returns, for each part, each line of a certificate with the outcome of its check, then each
/// obligation that the certificate omits. With `until_refused` the list ends at the first line that
/// is refused or has no proof.
pub(crate) fn examine(
    question: &Question<'_>,
    certificate: &Certificate,
    until_refused: bool,
) -> Result<Vec<Vec<(Line, Outcome)>>, Refusal> {
    let stages = question.stages()?;
    let obligations = obligations(question, &stages)?;
    if obligations.is_empty() || certificate.parts.len() != obligations.len() {
        return Err(Refusal::of("the destination has another number of parts"));
    }
    let mut all = Vec::new();
    let mut copies: Vec<&Statement> = Vec::new();
    for (number, obligations) in obligations.into_iter().enumerate() {
        let part = &certificate.parts[number];
        let mut state = State::new(question, &stages[number], &part.tuple)?;
        let examined = examine_part(&mut state, part, (obligations, until_refused));
        for own in state.copy.iter().chain(&state.claimed) {
            require(
                !copies.iter().any(|it| std::ptr::eq(*it, *own)),
                own,
                "two parts or pieces have their values from it",
            )?;
            copies.push(own);
        }
        let is_met = |(line, outcome): &(Line, Outcome)| outcome.is_ok() && line.proof.is_some();
        let is_over = until_refused && !examined.iter().all(is_met);
        all.push(examined);
        if is_over {
            break;
        }
    }
    Ok(all)
}

fn examine_part(
    state: &mut State<'_>,
    part: &Part,
    (obligations, until_refused): (Vec<Obligation>, bool),
) -> Vec<(Line, Outcome)> {
    let mut examined = Vec::new();
    for line in &part.lines {
        let outcome = match &line.proof {
            Some(proof) => state.line(&line.obligation, proof),
            None => Ok(()),
        };
        let is_over = until_refused && (outcome.is_err() || line.proof.is_none());
        examined.push((line.clone(), outcome));
        if is_over {
            return examined;
        }
    }
    for obligation in obligations {
        let stands_for = |other: &Obligation| {
            *other == obligation
                || obligation == Obligation::OwnPlace && *other == Obligation::Alike
        };
        if !part.lines.iter().any(|line| stands_for(&line.obligation)) {
            let why = Refusal::of("the certificate does not mention it");
            examined.push((
                Line {
                    obligation,
                    proof: None,
                },
                Err(why),
            ));
        }
    }
    examined
}

pub(crate) fn refuse(met: bool, why: &str) -> Outcome {
    match met {
        true => Ok(()),
        false => Err(Refusal::of(why)),
    }
}

/// As [`refuse`], with the statement at fault.
pub(crate) fn require(met: bool, statement: &Statement, why: &str) -> Outcome {
    match met {
        true => Ok(()),
        false => Err(Refusal::at(statement, why)),
    }
}

impl<'a> State<'a> {
    /// Checks one line of the certificate and records the facts that it proves.
    fn line(&mut self, obligation: &Obligation, proof: &Proof) -> Outcome {
        let mut cited: Vec<&'a Statement> = Vec::new();
        for name in &proof.statements {
            let id = self.computation.find(name);
            let id = id.ok_or_else(|| Refusal::of(format!("there is no statement `{name}`")))?;
            let computation = self.computation;
            cited.push(&computation.statements[id.index()]);
        }
        if let Obligation::Values(name) = obligation {
            return self.values(name, proof.lemma, &cited);
        }
        let is_known = match obligation {
            Obligation::Settled => proof.lemma == Lemma::Schedule,
            Obligation::Visited => proof.lemma == Lemma::Space,
            Obligation::Apart if self.question.is_unique => proof.lemma == Lemma::Source,
            Obligation::Others => proof.lemma == Lemma::Untouched,
            Obligation::Found(_) => proof.lemma == Lemma::Search,
            Obligation::Injective(_)
            | Obligation::Declared(_)
            | Obligation::OneTuple
            | Obligation::OwnPlace
            | Obligation::Shared
            | Obligation::Alike
            | Obligation::Monotone(..) => {
                [Lemma::ByNumbers, Lemma::Arithmetic].contains(&proof.lemma)
                    || proof.lemma.of_arrays().is_some()
            }
            _ => true,
        };
        refuse(is_known, "no such lemma establishes it")?;
        let is_of_source = matches!(
            obligation,
            Obligation::Settled | Obligation::Apart | Obligation::Ascending
        );
        let is_last = self.number + 1 == self.parts.len();
        refuse(
            is_of_source || is_last || self.has_taken,
            "nothing says yet which entries the part takes",
        )?;
        match obligation {
            Obligation::Settled => settled(self.computation),
            Obligation::Visited if self.stage.is_triangle() => self.both_visited(&cited),
            Obligation::Visited => self.visited(&cited),
            Obligation::Apart => self.apart(),
            Obligation::Ascending => self.ascending(),
            Obligation::Length(name) => self.length(name),
            Obligation::Range(name) => self.in_range(name),
            Obligation::Monotone(name, _) => self.monotone(name),
            Obligation::Injective(name) => self.injective(name),
            Obligation::Declared(said) => self.declared(said),
            Obligation::Found(name) => found(self, name),
            Obligation::End(name, call) => self.end(name, call),
            Obligation::Inside => self.inside(),
            Obligation::Tuple => self.has_tuple(),
            Obligation::OneTuple => self.one_tuple(),
            Obligation::OwnPlace | Obligation::Shared => self.own_place(false),
            Obligation::Alike => self.own_place(true),
            Obligation::Holds | Obligation::Sums if self.stage.is_triangle() => {
                self.both_hold_values()
            }
            Obligation::Holds | Obligation::Sums => self.holds_value(),
            Obligation::Others => self.others(),
            Obligation::Values(_) => Err(Refusal::of("it is checked by its lemma")),
        }
    }

    /// Checks an array by the lemma about its statements, and records the facts of the lemma.
    fn values(&mut self, name: &str, lemma: Lemma, cited: &[&Statement]) -> Outcome {
        let check = lemma.of_arrays();
        let check = check.ok_or_else(|| Refusal::of("the lemma is not about arrays"))?;
        let own = cited.iter().copied().filter(|it| it.target.space == name);
        let own: Vec<&Statement> = own.collect();
        let missing = self
            .writers(name)
            .into_iter()
            .find(|it| !cited.iter().any(|own| std::ptr::eq(*own, *it)));
        match missing {
            Some(other) if ![Lemma::Tally, Lemma::Listed].contains(&lemma) => {
                return Err(Refusal::at(
                    other,
                    "it writes the array too, and is not cited",
                ));
            }
            _ => {}
        }
        if self.held.contains_key(name) && lemma != Lemma::Tally {
            return Err(Refusal::of(format!("`{name}` has two lemmas")));
        }
        check(self, name, &own)
    }

    /// No two entries of the source share a place.
    fn apart(&mut self) -> Outcome {
        let place = self.entries.place.clone();
        let tuple = self.entries.tuple();
        let within = self.is_within(place.clone(), self.entries.n_places.clone());
        refuse(within, "an entry may lie outside of the places")?;
        refuse(
            self.determines(&[place], &tuple),
            "two entries may have one place in the source",
        )?;
        let is_made_distinct = self.adds || !matches!(self.stage, Stage::Part(_));
        if !self.are_distinct && !is_made_distinct {
            let coordinates = self.entries.coordinates.clone();
            let place = [self.entries.place.clone()];
            refuse(
                self.determines(&coordinates, &place),
                "two entries may have the same coordinates",
            )?;
            self.are_distinct = true;
        }
        self.are_apart = true;
        Ok(())
    }

    /// Whether two entries with equal `keys` always have equal `values`.
    pub(crate) fn determines(&self, keys: &[Expression], values: &[Expression]) -> bool {
        values.iter().all(|value| {
            let mut goal = Goal::new(0, Vec::new());
            let [a, b] = [(); 2].map(|()| goal.entry(self));
            for key in keys {
                goal.add(key.rewritten(&At(a)).equals(key.rewritten(&At(b))));
                [a, b].iter().for_each(|at| goal.numbers_in(self, key, *at));
                // Places of two segments are told apart by their parents.
                key.visit(&mut |e| {
                    if let Expression::Call(_, parent) = e
                        && let [parent] = &parent[..]
                    {
                        goal.compare(parent.rewritten(&At(a)), parent.rewritten(&At(b)));
                    }
                });
            }
            let (left, right) = (value.rewritten(&At(a)), value.rewritten(&At(b)));
            for e in self.entries.tuple() {
                goal.compare(e.rewritten(&At(a)), e.rewritten(&At(b)));
            }
            goal.add(Constraint::new(left, Comparison::NotEqual, right));
            goal.is_refuted(self) || goal.with_same_entries(self).is_refuted(self)
        })
    }

    /// Whether, of two entries with equal `same`, the one whose keys come first in their order always has
    /// the lesser value.
    pub(crate) fn ascends(
        &self,
        value: &Expression,
        (same, keys): (&[Expression], &[Expression]),
    ) -> bool {
        (0..keys.len()).all(|place| {
            let mut goal = Goal::new(0, Vec::new());
            let [a, b] = [(); 2].map(|()| goal.entry(self));
            let mut pair = |e: &Expression, comparison| {
                let [left, right] = [a, b].map(|at| e.rewritten(&At(at)));
                goal.add(Constraint::new(left, comparison, right));
            };
            let equal = same.iter().chain(&keys[..place]);
            equal.for_each(|e| pair(e, Comparison::Equal));
            pair(&keys[place], Comparison::Less);
            pair(value, Comparison::GreaterEqual);
            for at in [a, b] {
                goal.numbers_in(self, value, at);
                keys.iter().for_each(|key| goal.numbers_in(self, key, at));
            }
            goal.is_refuted(self) || goal.with_same_entries(self).is_refuted(self)
        })
    }

    /// Entries that are visited later have greater places. Places are then a numbering of the
    /// entries.
    fn ascending(&mut self) -> Outcome {
        let known = self.are_apart && self.is_full;
        refuse(known, "entries may be fewer than places")?;
        let rises = self.ascends(&self.entries.place, (&[], &self.entries.tuple()));
        refuse(rises, "an entry may have a lesser place than one before")?;
        self.numberings.push(crate::held::Numbering {
            value: self.entries.place.clone(),
            keys: Vec::new(),
            kind: crate::held::NumberingKind::Entries,
            end: Some(self.entries.n_places.clone()),
        });
        Ok(())
    }

    fn length(&self, name: &str) -> Outcome {
        if *name == self.destination.name && self.parts.len() > 1 {
            return self.has_room();
        }
        let declared = self.destination.extents(name);
        let declared = declared.ok_or_else(|| Refusal::of("its domain does not begin at 0"))?;
        let space = self.computation.space(name);
        let has = space.map(|space| &space.extents[..]).unwrap_or_default();
        let are_equal = declared.len() == has.len()
            && declared.iter().zip(has).all(|(a, b)| self.are_equal(a, b));
        refuse(are_equal, "it may have another length")
    }

    /// Whether a constraint on the argument `v0` holds on the whole domain of an array.
    fn throughout(&self, name: &str, constraint: &Constraint) -> bool {
        let Some(function) = self.known.function(name) else {
            return false;
        };
        function.domain.implies(constraint, &self.known)
    }

    fn in_range(&self, name: &str) -> Outcome {
        let function = self.destination.declarations.function(name);
        let range = function.map(|function| function.range.clone());
        let range = range.ok_or_else(|| Refusal::of("it is no array of the destination"))?;
        let [part] = range.parts() else {
            return Err(Refusal::of("its range is a union"));
        };
        let call = [entry(name, variable(0))];
        let mut links = part.constraints().iter().flat_map(Constraint::split);
        let within = links.all(|link| {
            self.throughout(name, &link.rewritten(&Values(&call))) || self.is_each(name, &link)
        });
        refuse(within, "a value may be outside of it")
    }

    /// Whether a constraint `link` on a value holds for each value that an array computes from its
    /// index.
    fn is_each(&self, name: &str, link: &Constraint) -> bool {
        let (Some(Held::Each { from, value }), Ok(extent)) =
            (self.held.get(name), self.extent(name))
        else {
            return false;
        };
        let never = |least: &Expression, end: &Expression, value: &Expression| {
            let within = within(least.clone(), variable(0), end.clone());
            let inside = Constraint::new(variable(0), Comparison::Less, extent.clone());
            let (comparison, right) = &link.rest[0];
            let broken = Constraint::new(link.first.clone(), comparison.negated(), right.clone());
            let broken = broken.rewritten(&Values(std::slice::from_ref(value)));
            let goal = Goal::new(1, vec![within, inside, broken]).with_numbers_between();
            goal.with_witnesses(self).is_refuted(self)
        };
        never(&zero(), from, &zero()) && never(from, &extent, value)
    }

    fn monotone(&self, name: &str) -> Outcome {
        use sparsec_relation::Monotone::{Decreasing, Increasing, Nondecreasing, Nonincreasing};
        let function = self.destination.declarations.function(name);
        let monotone = function.and_then(|function| function.monotone);
        let monotone = monotone.ok_or_else(|| Refusal::of("nothing is declared of its order"))?;
        let known = self
            .known
            .function(name)
            .and_then(|function| function.monotone);
        if known == Some(monotone) {
            return Ok(());
        }
        let broken = match monotone {
            Nondecreasing => Comparison::Greater,
            Increasing => Comparison::GreaterEqual,
            Nonincreasing => Comparison::Less,
            Decreasing => Comparison::LessEqual,
        };
        refuse(
            self.never_at(name, broken),
            "a later value may be out of order",
        )
    }

    fn injective(&self, name: &str) -> Outcome {
        refuse(
            self.never_at(name, Comparison::Equal),
            "it may take a value twice",
        )
    }

    /// Whether the values of an array at two ascending arguments never compare like this.
    fn never_at(&self, name: &str, comparison: Comparison) -> bool {
        let call = |n: usize| entry(name, variable(n));
        let ascend = Constraint::new(variable(0), Comparison::Less, variable(1));
        let claim = vec![ascend, Constraint::new(call(0), comparison, call(1))];
        self.held.contains_key(name) && Goal::new(2, claim).with_witnesses(self).is_refuted(self)
    }

    /// An assumption or a `forall` of the descriptor holds.
    fn declared(&self, said: &str) -> Outcome {
        let declared = declared_of(&self.destination);
        let found = declared.into_iter().find(|(text, _)| text == said);
        let (_, found) = found.ok_or_else(|| Refusal::of("the destination does not say so"))?;
        let number = match found {
            Ok(assumed) => {
                let holds = assumed.split().all(|link| self.always(&link));
                return refuse(holds, "what is known does not imply it");
            }
            Err(number) => number,
        };
        let quantifier = &self.destination.declarations.quantifiers()[number];
        let premises = quantifier.premises();
        let n = premises.n_variables();
        for link in quantifier.conclusions().iter().flat_map(Constraint::split) {
            let cases = failing(&link)
                .ok_or_else(|| Refusal::of("it compares by a key that is no `LEX`"))?;
            for case in cases {
                let claim = [premises.constraints(), &case[..]].concat();
                let goal = Goal::new(n, claim).with_witnesses(self);
                refuse(goal.is_refuted(self), "a counterexample is not excluded")?;
            }
        }
        Ok(())
    }

    /// A constant equals the entry of an array that it stands for.
    fn end(&self, name: &str, call: &str) -> Outcome {
        let mut ends = self.destination.ends.iter();
        let found = ends.find(|(end, value)| end == name && text(value) == call);
        let (_, value) =
            found.ok_or_else(|| Refusal::of("the destination has no such constant"))?;
        let number = Expression::Constant(name.to_owned());
        refuse(self.are_equal(&number, value), "it may be another number")
    }
}
