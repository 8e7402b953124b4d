//! Counted elements: each parent has as many as an array says, or as a number says, and nothing else
//! tells them apart.
//!
//! ```text
//! 0 <= s < len(r)      s = ordinal(r of NR)     an entry is the next one of its parent
//!                      len(r) += 1
//!                      W max= s + 1             where `len(r) <= W` is declared
//! 0 <= s < W           s = ordinal(r of NR)     W max= s + 1
//! 0 <= s < 8           s = ordinal(r of NR)     entries with another `s` have no place
//! ```

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::unknown::Unknowns;

/// An element `0 <= x < function(parent)`.
pub(crate) struct Counted {
    function: String,
    parent: Expression,
}

impl Unknowns<'_> {
    /// The array that says how many of an element there are, if it is counted.
    pub(crate) fn counted(&self, element: Variable) -> Option<Counted> {
        let itself = Expression::Variable(element);
        let zero = Expression::Integer(0);
        let is_from_zero = |link: &Constraint| {
            link.first == zero && link.rest[0] == (Comparison::LessEqual, itself.clone())
        };
        if !self.comparisons.iter().any(is_from_zero) {
            return None;
        }
        self.comparisons.iter().find_map(|link| {
            let (comparison, bound) = &link.rest[0];
            let Expression::Call(function, arguments) = bound else {
                return None;
            };
            let [parent] = &arguments[..] else {
                return None;
            };
            let is_bound = link.first == itself
                && *comparison == Comparison::Less
                && self.functions.contains(function);
            let parent = self.at_entry(parent).filter(|_| is_bound)?;
            Some(Counted {
                function: function.clone(),
                parent,
            })
        })
    }

    /// Whether the tuple of the destination has this element and the variables of its parent
    /// alone, so that each tuple is an entry's.
    fn is_whole(&self, element: Variable, counted: &Counted) -> bool {
        let mut parents: Vec<Variable> = Vec::new();
        for link in &self.comparisons {
            if let (Comparison::Less, Expression::Call(function, arguments)) = &link.rest[0]
                && *function == counted.function
            {
                arguments.iter().for_each(|argument| {
                    if let Expression::Variable(parent) = argument {
                        parents.push(*parent);
                    }
                });
            }
        }
        let map = &self.destination.map;
        let mut elements = map.inputs().chain(map.exists());
        elements.all(|it| {
            let it = self.same[it.index()];
            it == element || parents.contains(&it)
        })
    }
}

impl Synthesis<'_> {
    /// An element that keeps entries apart.
    pub(crate) fn free(
        &mut self,
        element: Variable,
        others: &[Expression],
        unknowns: &Unknowns<'_>,
    ) -> Result<Expression> {
        let mut keys = Vec::new();
        for value in others {
            let mode = unknowns.entries.coordinates.iter();
            let mode = mode
                .clone()
                .position(|v| Expression::Variable(*v) == *value);
            let Some(mode) = mode else {
                let name = self.destination.map.name(element);
                return Err(refused(format!(
                    "what `{name}` keeps apart is no coordinate but a sum of several"
                )));
            };
            keys.push(Key {
                value: value.clone(),
                extent: Expression::Constant(self.extents[mode].clone()),
            });
        }
        self.numbered(element, &[], Value::Window(Window::Ordinal, keys), false)
    }

    /// Numbers the entries of each parent, and counts them.
    pub(crate) fn in_parent(
        &mut self,
        element: Variable,
        counted: &Counted,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let Counted { function, parent } = counted;
        let declared = self.destination.declarations.function(function);
        let domain = declared.and_then(|function| function.domain.as_box());
        let [(Expression::Integer(0), extent)] = &domain.unwrap_or_default()[..] else {
            return Err(refused(format!(
                "nothing bounds the parents of `{function}`"
            )));
        };
        let key = Key {
            value: parent.clone(),
            extent: extent.clone(),
        };
        self.are_all_entries = unknowns.is_whole(element, counted);
        let ordinal = Value::Window(Window::Ordinal, vec![key]);
        let number = self.numbered(element, &[], ordinal, false)?;
        // Constants that bound lengths grow with the entries, and numbers do not.
        if let Some((_, above)) = self.range(function)
            && let most @ Expression::Integer(_) =
                Expression::Subtract(Box::new(above), Box::new(Expression::Integer(1))).collected()
        {
            self.keep_to([Constraint::new(number.clone(), Comparison::Less, most)])?;
        }
        let target = (function.clone(), vec![parent.clone()]);
        let one = (Update::Add, Value::Integer(1));
        self.add(self.space.clone(), target, one);
        self.writes(function, CaseKind::Count);
        unknowns.functions.remove(function);
        Ok(number)
    }
}
