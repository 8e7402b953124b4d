//! Segments of lists: where each begins and ends.
//!
//! ```text
//! pos(r) <= k < pos(r + 1)               pos(r + 1) max= k + 1        one more than there are parents
//! pos(r) <= k < end(r)                   end(r) = pos(r + 1)
//! begin(r) <= k < end(r)                 starts as pos, begin(r) = starts(r), end(r) = starts(r + 1)
//! begin(r) <= k < begin(r) + len(r)      len(r) = starts(r + 1) - starts(r)
//! ```
//!
//! Where an array has a beginning for each parent and none behind the last one, a temporary array of
//! one entry more takes its place until all segments are known.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Operator, Update, Value};
use sparsec_relation::{Comparison, Expression, Function, Monotone, Variable};

use crate::cases::CaseKind;
use crate::synthesis::Synthesis;
use crate::terms::{below, between, binary, entry, plus_one};
use crate::unknown::Unknowns;

/// How a function says where segments end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It holds their ends.
    At(String),
    /// It holds their lengths.
    Length(String),
}

impl End {
    fn function(&self) -> &String {
        match self {
            Self::At(function) | Self::Length(function) => function,
        }
    }
}

/// The segments of a list.
pub(crate) struct Segments {
    /// Where each begins, with an entry behind the last one.
    pub(crate) starts: String,
    /// The array of the destination that `starts` replaces, if that array lacks the last entry.
    begin: Option<String>,
    end: Option<End>,
}

impl Unknowns<'_> {
    /// What says where the segment of an element ends that begins where `starts` says; `None` for
    /// `starts` itself.
    pub(crate) fn end_of_segment(&self, element: Variable, starts: &str) -> Option<End> {
        let element = Expression::Variable(element);
        let is_open = |name: &String| self.functions.contains(name) && name != starts;
        let is_start = |e: &Expression| matches!(e, Expression::Call(name, _) if name == starts);
        self.comparisons.iter().find_map(|link| {
            let [(Comparison::Less, end)] = &link.rest[..] else {
                return None;
            };
            if link.first != element {
                return None;
            }
            match end {
                Expression::Call(name, _) if is_open(name) => Some(End::At(name.clone())),
                Expression::Add(a, b) => match (&**a, &**b) {
                    (start, Expression::Call(name, _)) | (Expression::Call(name, _), start)
                        if is_start(start) && is_open(name) =>
                    {
                        Some(End::Length(name.clone()))
                    }
                    _ => None,
                },
                _ => None,
            }
        })
    }
}

impl Synthesis<'_> {
    /// The segments that a function begins, in which elements have numbers below `last`.
    pub(crate) fn segments(
        &mut self,
        (element, function): (Variable, &str),
        end: Option<&End>,
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Segments> {
        let mut segments = Segments {
            starts: function.to_owned(),
            begin: None,
            end: end.cloned(),
        };
        let Some(end) = end else {
            return Ok(segments);
        };
        let lengths = self.destination.lengths(Some(function))?;
        let [n_parents] = &lengths[..] else {
            return Ok(segments);
        };
        if self.destination.lengths(Some(end.function()))? != lengths {
            return Ok(segments);
        }
        let name = self.destination.map.name(element);
        segments.starts = format!("{}_{name}_starts", self.destination.name);
        segments.begin = Some(function.to_owned());
        let n_starts = plus_one(n_parents);
        let above = self.range(function).map(|(_, above)| above);
        let above = above.unwrap_or(Expression::Integer(i64::MAX));
        self.add_array(&segments.starts, n_starts.clone());
        self.computation.declarations.declare(Function {
            name: segments.starts.clone(),
            domain: below("p", &n_starts)?,
            range: between("q", &Expression::Integer(0), &above)?,
            injective: false,
            monotone: Some(Monotone::Nondecreasing),
        });
        unknowns.functions.insert(segments.starts.clone());
        Ok(segments)
    }

    /// Fills the segments of elements with these numbers, in segments `parent`.
    pub(crate) fn fill_segments(
        &mut self,
        segments: &Segments,
        (parent, number): (&Expression, &Expression),
        unknowns: &mut Unknowns<'_>,
    ) -> Result<()> {
        let starts = &segments.starts;
        if unknowns.functions.remove(starts) {
            let one = Box::new(Value::Integer(1));
            let end = Value::Binary(Operator::Add, Box::new(self.integer(number)), one);
            let target = (starts.clone(), vec![plus_one(parent)]);
            self.add(self.space.clone(), target, (Update::Maximum, end));
            self.add_up(starts, Update::Maximum)?;
        }
        let x = Expression::Variable(Variable::from_index(0));
        let [start, next] = [&x, &plus_one(&x)].map(|at| entry(starts, at));
        let begin = segments.begin.iter();
        let mut ends: Vec<(&String, Value)> = begin.map(|begin| (begin, start.clone())).collect();
        ends.extend(segments.end.as_ref().map(|end| match end {
            End::At(function) => (function, next),
            End::Length(function) => (function, binary(Operator::Subtract, next, start)),
        }));
        for (function, value) in ends {
            if unknowns.functions.remove(function) {
                let parents = below("x", &self.n_parents(starts)?)?;
                let target = (function.clone(), vec![x.clone()]);
                self.add(parents, target, (Update::Assign, value));
                self.writes(function, CaseKind::Segments);
            }
        }
        Ok(())
    }
}
