//! Arrays of the destination that are no keys of lists: what is said of elements that coordinates
//! determine, and marks where there is no entry.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::Update;
use sparsec_relation::{Comparison, Constraint, Declarations, Expression, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, entry, everywhere, plus_one, scalar};
use crate::unknown::Unknowns;

impl Synthesis<'_> {
    /// Combines each entry of a function with the one before it.
    pub(crate) fn add_up(&mut self, function: &str, update: Update) -> Result<()> {
        let parents = below("x", &self.n_parents(function)?)?;
        let x = Expression::Variable(Variable::from_index(0));
        let before = entry(function, &x);
        let target = (function.to_owned(), vec![plus_one(&x)]);
        self.add(parents, target, (update, before));
        self.writes(function, CaseKind::Segments);
        Ok(())
    }

    /// Says how many elements there are, where a constant is to say so: where the last segment
    /// ends. Returns the constant.
    pub(crate) fn end_of(
        &mut self,
        starts: &str,
        n_parents: &Expression,
    ) -> Result<Option<String>> {
        let end = Expression::Call(starts.to_owned(), vec![n_parents.clone()]);
        let mut constants = self.destination.constants.iter();
        let found = constants.find(|(_, value)| value.as_ref() == Some(&end));
        let Some((name, _)) = found else {
            return Ok(None);
        };
        let last = entry(starts, n_parents);
        let target = (name.clone(), Vec::new());
        self.add(everywhere()?, target, (Update::Assign, last));
        self.writes(name, CaseKind::Count);
        Ok(Some(name.clone()))
    }

    /// Stores what arrays hold at elements that are no lists, and the other constants.
    pub(crate) fn keep(&mut self, unknowns: &mut Unknowns<'_>, known: &Declarations) -> Result<()> {
        let links = unknowns.comparisons.clone();
        self.define(unknowns)?;
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
                    let value = (Update::Assign, self.integer(&value));
                    self.add(self.space.clone(), (name.clone(), places), value);
                    self.writes(name, CaseKind::Stored);
                    unknowns.functions.remove(name);
                }
            }
        }
        self.define(unknowns)?;
        for (name, value) in self.destination.constants.clone() {
            if let Some(Expression::Call(function, arguments)) = value
                && self.written.contains(&name)
                && !self.written.contains(&function)
            {
                let value = scalar(&name);
                self.writes(&function, CaseKind::Segments);
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
    pub(crate) fn mark(
        &mut self,
        name: &str,
        value: &Expression,
        known: &Declarations,
    ) -> Result<()> {
        let Some((least, above)) = self.range(name) else {
            return Err(refused(format!("nothing bounds the values of `{name}`")));
        };
        let last = Expression::Subtract(Box::new(above.clone()), Box::new(Expression::Integer(1)));
        let last = last.collected();
        let never = |comparison, bound: &Expression| {
            let asked = Constraint::new(value.clone(), comparison, bound.clone());
            self.space.implies(&asked, known)
        };
        let mark = match () {
            // No tuple has a place without an entry. Such places hold 0, as the array begins.
            () if self.are_all_entries && least == Expression::Integer(0) => return Ok(()),
            () if self.are_all_entries => least.clone(),
            () if never(Comparison::Less, &last) => last,
            () if never(Comparison::Greater, &least) => least.clone(),
            () => {
                return Err(refused(format!(
                    "places of `{name}` that hold no entry have no value to say so"
                ))
                .help("let its range go one beyond the coordinates"));
            }
        };
        let lengths = self.destination.lengths(Some(name))?;
        let [length] = &lengths[..] else {
            return Err(
                refused(format!("`{name}` has several indices")).help(format!(
                    "number its places by one index, as in `{name}(W * r + s)`"
                )),
            );
        };
        let places = below("x", length)?;
        let x = Expression::Variable(Variable::from_index(0));
        let mark = (Update::Assign, self.integer(&mark));
        self.add(places, (name.to_owned(), vec![x]), mark);
        Ok(())
    }
}
