//! Constants of a destination that entries count and extents of modes bound from below.
//!
//! ```text
//! assume N0 <= 3 * B_NB        B_NB max= (N0 + 2) floordiv 3
//! ```
//!
//! Without the statement, the number of blocks would be that up to the last one with an entry.

use sparsec_base::Result;
use sparsec_computation::Update;
use sparsec_relation::{Comparison, Constraint, Expression};

use crate::synthesis::Synthesis;
use crate::terms::everywhere;

impl Synthesis<'_> {
    /// Adds statements that raise the constants of the part at hand to the least values which
    /// assumptions allow; returns the constants. Entries may raise them further.
    pub(crate) fn raise_constants(&mut self) -> Result<Vec<String>> {
        let mut raised = Vec::new();
        let assumptions = self.destination.declarations.assumptions().iter();
        let links: Vec<Constraint> = assumptions.flat_map(Constraint::split).collect();
        for link in links {
            let (comparison, right) = &link.rest[0];
            let sides = match comparison {
                Comparison::LessEqual => vec![(&link.first, right)],
                Comparison::Equal => vec![(&link.first, right), (right, &link.first)],
                _ => Vec::new(),
            };
            for (bound, multiple) in sides {
                let Some((factor, name)) = self.counted_multiple(multiple) else {
                    continue;
                };
                if self.is_of_extents(bound) {
                    let more = Box::new(Expression::Integer(factor - 1));
                    let sum = Expression::Add(Box::new(bound.clone()), more).collected();
                    let factor = Box::new(Expression::Integer(factor));
                    let least = Expression::FloorDivide(Box::new(sum), factor).simplified();
                    let least = (Update::Maximum, self.integer(&least));
                    self.add(everywhere()?, (name.clone(), Vec::new()), least);
                    raised.push(name);
                }
            }
        }
        Ok(raised)
    }

    /// The constant that an expression is a multiple of, if entries say its value.
    fn counted_multiple(&self, e: &Expression) -> Option<(i64, String)> {
        let (factor, constant) = match e {
            Expression::Constant(name) => (1, name),
            Expression::Multiply(a, b) => match (&**a, &**b) {
                (Expression::Integer(n), Expression::Constant(name))
                | (Expression::Constant(name), Expression::Integer(n)) => (*n, name),
                _ => return None,
            },
            _ => return None,
        };
        let is_counted = factor > 0 && self.unknown_constants.contains(constant);
        is_counted.then(|| (factor, constant.clone()))
    }

    /// Whether an expression has the extents of modes and nothing else that is not a number.
    fn is_of_extents(&self, e: &Expression) -> bool {
        let (mut is_of_them, mut has_one) = (true, false);
        e.visit(&mut |e| match e {
            Expression::Constant(name) => {
                has_one = true;
                is_of_them &= self.extents.contains(name);
            }
            Expression::Variable(_) | Expression::Call(..) => is_of_them = false,
            _ => {}
        });
        is_of_them && has_one
    }
}
