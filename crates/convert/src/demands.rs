//! Demands: the constraints of the destination that hold at entries which it can hold.
//!
//! ```text
//! proved           nothing to do
//! of a part        later parts take the entries at which it does not hold
//! of the last part B_outside counts such entries, and the conversion refuses the tensor
//! ```

use sparsec_base::Result;
use sparsec_computation::{Update, Value};
use sparsec_relation::{Consequences, Constraint, Declarations, Expression};

use crate::refused;
use crate::synthesis::Synthesis;
use crate::unknown::Unknowns;

impl Synthesis<'_> {
    /// Keeps to the entries that the destination can hold.
    pub(crate) fn demand(&mut self, unknowns: &Unknowns<'_>) -> Result<()> {
        self.keep_to(unknowns.demands())
    }

    /// Keeps to the entries at which constraints hold. The conversion refuses others when it runs,
    /// unless it is proved that there are none.
    pub(crate) fn keep_to(&mut self, demands: impl IntoIterator<Item = Constraint>) -> Result<()> {
        let known = self.computation.relied_on();
        if !known.include(&self.met_by) {
            self.met.clear();
        }
        let mut demands = demands.into_iter();
        while let Some(demand) = self.unmet(&mut demands, &known) {
            if !self.is_last {
                if self.has_counted {
                    let name = &self.destination.name;
                    let message = format!("part `{name}` leaves out entries that it counts");
                    return Err(refused(message)
                        .help("let the last part of the format be the one that lists entries"));
                }
                self.space = self.space_with(demand)?;
                continue;
            }
            self.require(demand, &known)?;
        }
        self.met_by = known;
        Ok(())
    }

    /// Keeps to the entries at which a constraint holds, and counts the others.
    pub(crate) fn require(&mut self, demand: Constraint, known: &Declarations) -> Result<()> {
        let outside = "B_outside".to_owned();
        let (comparison, right) = &demand.rest[0];
        let broken = Constraint::new(demand.first.clone(), comparison.negated(), right.clone());
        let broken = self.space_with(broken)?;
        // A demand on a key that may have no value is not proved, nor ever broken. The next one
        // says that the key has a value.
        if broken.is_refuted(known) {
            return Ok(());
        }
        if self.computation.space(&outside).is_none() {
            self.add_number(&outside);
            let none = Expression::Constant(outside.clone()).equals(Expression::Integer(0));
            self.computation.declarations.assume(none);
        }
        let target = (outside, Vec::new());
        let one = (Update::Add, Value::Integer(1));
        self.add(broken, target, one);
        self.space = self.space_with(demand)?;
        Ok(())
    }

    /// The next demand that is not proved to hold at all entries.
    fn unmet(
        &mut self,
        demands: &mut impl Iterator<Item = Constraint>,
        known: &Declarations,
    ) -> Option<Constraint> {
        let entries = Consequences::of(&self.space, known);
        demands.find(|demand| {
            let is_met = self.met.contains(demand) || entries.implies(demand);
            if is_met {
                self.met.insert(demand.clone());
            }
            !is_met
        })
    }
}
