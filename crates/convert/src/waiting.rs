//! The order in which elements of the destination's tuple are found.
//!
//! An element in a segment waits for the element that says which segment:
//!
//! ```text
//! f(q) <= p < f(q + 1)      p waits for q, wherever they stand in the tuple
//! g(p) <= q < g(p + 1)      q waits for p: neither can be found first
//! ```

use sparsec_base::Result;
use sparsec_relation::{Comparison, Expression, Variable};

use crate::refused;
use crate::unknown::Unknowns;

/// The segment of a function that an element lies in, and the element without a value that says
/// which one it is.
struct Wait {
    waiting: Variable,
    function: String,
    segment: Expression,
    needed: Variable,
}

impl Unknowns<'_> {
    /// The first element without a value that waits for no other one, if an element has no value.
    ///
    /// # Errors
    /// `E0830` for elements that wait for one another.
    pub(crate) fn next(&self) -> Result<Option<Variable>> {
        let Some(mut element) = self.open().next() else {
            return Ok(None);
        };
        let mut waits: Vec<Wait> = Vec::new();
        while let Some(wait) = self.wait(element) {
            element = wait.needed;
            waits.push(wait);
            if let Some(first) = waits.iter().position(|wait| wait.waiting == element) {
                return Err(self.cycle(&waits[first..]));
            }
        }
        Ok(Some(element))
    }

    /// The elements that an element waits for.
    fn wait(&self, element: Variable) -> Option<Wait> {
        self.comparisons.iter().find_map(|link| {
            let Expression::Call(function, arguments) = &link.first else {
                return None;
            };
            let [segment] = &arguments[..] else {
                return None;
            };
            let bounds = link.rest[0] == (Comparison::LessEqual, Expression::Variable(element));
            if !bounds || !self.functions.contains(function) {
                return None;
            }
            let mut needed = None;
            segment.visit(&mut |e| {
                if let Expression::Variable(v) = e {
                    needed = needed.or(self.open().find(|open| open == v && *open != element));
                }
            });
            needed.map(|needed| Wait {
                waiting: element,
                function: function.clone(),
                segment: segment.clone(),
                needed,
            })
        })
    }

    fn cycle(&self, waits: &[Wait]) -> sparsec_base::Diagnostic {
        let map = &self.destination.map;
        let names = waits
            .iter()
            .map(|wait| format!("`{}`", map.name(wait.waiting)));
        let names = names.collect::<Vec<_>>().join(" and ");
        let message = format!("the elements {names} wait for one another");
        let prefix = format!("{}_", self.destination.name);
        let error = waits.iter().fold(refused(message), |error, wait| {
            let function = &wait.function;
            error.note(format!(
                "`{}` lies in segment `{}` of `{}`",
                map.name(wait.waiting),
                map.text_of(&wait.segment),
                function.strip_prefix(&prefix).unwrap_or(function)
            ))
        });
        error.help("let one of them follow from the coordinates, or bound it by a constant")
    }
}
