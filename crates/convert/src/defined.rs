//! Arrays of the destination that declarations define: by other arrays, or each entry by the one
//! before it.
//!
//! ```text
//! forall r : 0 <= r < N => tri(r + 1) = tri(r) + r + 1           B_tri(r + 1) = B_tri(r) + r + 1
//! forall r : 0 <= r < N => len(r) = ptr(r + 1) - ptr(r)          B_len(r) = B_ptr(r + 1) - B_ptr(r)
//! ```
//!
//! Entries of which no declaration speaks are 0, as arrays begin. Whoever makes a tensor checks it
//! against all declarations.

use sparsec_base::Result;
use sparsec_computation::Update;
use sparsec_relation::{Comparison, Constraint, Expression, Quantifier, Set};

use crate::cases::CaseKind;
use crate::synthesis::Synthesis;
use crate::terms::inside;
use crate::unknown::Unknowns;

/// An array, a place in it, and what it holds there.
type Definition<'a> = (&'a String, &'a Vec<Expression>, &'a Expression);

impl Synthesis<'_> {
    /// Fills arrays that declarations define by arrays that are known.
    pub(crate) fn define(&mut self, unknowns: &mut Unknowns<'_>) -> Result<()> {
        let destination = self.destination;
        let quantifiers = destination.declarations.quantifiers();
        let mut defined = true;
        while defined {
            defined = false;
            for quantifier in quantifiers {
                let found = definition(quantifier, unknowns);
                let Some((name, places, value)) = found else {
                    continue;
                };
                let space = Set::new(vec![quantifier.premises().clone()])?;
                let value = (Update::Assign, self.integer(value));
                self.add(space, (name.clone(), places.clone()), value);
                self.writes(name, CaseKind::Stored);
                unknowns.functions.remove(name);
                self.defined.insert(name.clone());
                if let [length] = &destination.lengths(Some(name))?[..] {
                    let last = Expression::Subtract(
                        Box::new(length.clone()),
                        Box::new(Expression::Integer(1)),
                    );
                    self.end_of(name, &last.collected())?;
                }
                defined = true;
            }
        }
        Ok(())
    }
}

impl Synthesis<'_> {
    /// Keeps to entries whose place lies among the values, if it depends on a defined array: proofs
    /// know no more of one than its range. The conversion refuses others when it runs.
    pub(crate) fn keep_within_values(&mut self, place: &Expression) -> Result<()> {
        let mut is_defined = false;
        place.visit(&mut |e| {
            is_defined |= matches!(e, Expression::Call(name, _) if self.defined.contains(name));
        });
        let lengths = self.destination.lengths(None)?;
        let (true, [length]) = (is_defined, &lengths[..]) else {
            return Ok(());
        };
        let known = self.computation.relied_on();
        for bound in inside(place, length).split() {
            match self.is_last {
                true => self.require(bound, &known)?,
                false => self.space = self.space_with(bound)?,
            }
        }
        Ok(())
    }
}

/// An entry of an unknown array that a quantifier gives in terms of known arrays.
fn definition<'a>(quantifier: &'a Quantifier, unknowns: &Unknowns<'_>) -> Option<Definition<'a>> {
    let is_known = |e: &Expression, but: Option<&Expression>| {
        let mut is_known = true;
        e.visit(&mut |e| match e {
            Expression::Call(name, _) if Some(e) != but => {
                is_known &= !unknowns.functions.contains(name);
            }
            _ => {}
        });
        is_known
    };
    let premises = quantifier.premises().constraints().iter();
    let mut premises = premises.flat_map(Constraint::expressions);
    if !premises.all(|e| is_known(e, None)) {
        return None;
    }
    quantifier.conclusions().iter().find_map(|conclusion| {
        let [(Comparison::Equal, right)] = &conclusion.rest[..] else {
            return None;
        };
        let sides = [(&conclusion.first, right), (right, &conclusion.first)];
        sides.into_iter().find_map(|(call, value)| {
            let Expression::Call(name, places) = call else {
                return None;
            };
            let is_open = unknowns.functions.contains(name);
            let before = before(name, places);
            let by_known = places.iter().all(|e| is_known(e, None));
            (is_open && by_known && is_known(value, before.as_ref()))
                .then_some((name, places, value))
        })
    })
}

/// The entry before a place, if the place is one behind a variable.
fn before(name: &str, places: &[Expression]) -> Option<Expression> {
    let [Expression::Add(v, one)] = places else {
        return None;
    };
    let is_next = matches!(
        (&**v, &**one),
        (Expression::Variable(_), Expression::Integer(1))
    );
    is_next.then(|| Expression::Call(name.to_owned(), vec![(**v).clone()]))
}
