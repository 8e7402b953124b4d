//! Values along the points of one statement: whether keys ascend, and values grow.
//!
//! ```text
//! points in order   p ─► q ─► r          pairs      p, q   p, r   q, r
//!
//! keys ascend       key(p) <= key(q) <= key(r)      no pair has  key(first) > key(second)
//! a value grows     x(p) < x(q) < x(r)              no pair has  x(first) >= x(second)
//! ```
//!
//! The pairs and all that follows from their order are the same for each question, so a [`Course`]
//! derives them once.

use std::cell::OnceCell;

use sparsec_relation::{
    Answer, Comparison, Conjunction, Consequences, Constraint, Declarations, Expression, Relation,
};

use crate::computation::{Computation, StatementId};
use crate::order::{Shift, earlier};
use crate::value::Key;

impl Computation {
    /// Whether these keys of a statement's points never fall from one point to a later
    /// one, compared as tuples: whatever parameters and index arrays are, and proved.
    ///
    /// ```
    /// use sparsec_computation::{Computation, Value};
    /// let rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   given pos : i32[N + 1]
    ///   out y : i64[NZ]
    ///   s0: y(p) = dense_rank(i of N) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    /// }".parse()?;
    /// let statement = rows.find("s0").expect("there is one");
    /// let Value::Window(_, keys) = &rows.statement(statement).value else { panic!() };
    /// assert!(rows.keys_ascend(statement, keys));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn keys_ascend(&self, id: StatementId, keys: &[Key]) -> bool {
        self.course(id).later().keys_ascend(keys)
    }

    /// Whether a value grows from each point of a statement to each later one: by proof.
    pub fn grows(&self, id: StatementId, value: &Expression) -> bool {
        self.course(id).later().grows(value)
    }

    /// Whether points that differ in an element of their tuples write different entries: by proof.
    ///
    /// ```
    /// let rows: sparsec_computation::Computation = "computation rows {
    ///   parameters N, M
    ///   out y : f64[N * M], z : f64[N + M]
    ///   s0: y(i * M + j) = 1 over {[i, j] : 0 <= i < N && 0 <= j < M}
    ///   s1: z(i + j) += 1 over {[i, j] : 0 <= i < N && 0 <= j < M}
    /// }".parse()?;
    /// let [row, sum] = ["s0", "s1"].map(|name| rows.find(name).expect("there is one"));
    /// assert!(rows.writes_apart(row, 0) && !rows.writes_apart(sum, 0));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn writes_apart(&self, id: StatementId, element: usize) -> bool {
        let statement = self.statement(id);
        let shift = Shift(statement.variables().len());
        let Some(at) = statement.variables().nth(element).map(Expression::Variable) else {
            return false;
        };
        let is_less = Constraint::new(at.clone(), Comparison::Less, at.rewritten(&shift));
        let is_same =
            (statement.target.indices.iter()).map(|e| e.clone().equals(e.rewritten(&shift)));
        let all: Vec<Constraint> = [is_less].into_iter().chain(is_same).collect();
        let pairs = self.all_pairs(id);
        let meeting = pairs.parts().iter().map(|part| {
            let mut part = part.clone();
            all.iter().cloned().for_each(|it| part.add(it));
            part
        });
        let meeting = Relation::new(meeting.collect());
        meeting.is_ok_and(|meeting| meeting.is_empty(&self.known()) == Answer::Yes)
    }

    /// The points of a statement in their order.
    pub fn course(&self, id: StatementId) -> Course {
        let times = self.times();
        let order = earlier(self, (id, &times), (id, &times));
        Course {
            pairs: self.all_pairs(id),
            order: order.map_or_else(Vec::new, |order| order.parts().to_vec()),
            known: self.known(),
            n_variables: self.statement(id).variables().len(),
        }
    }
}

/// The points of a statement in their order.
pub struct Course {
    /// All pairs of points.
    pairs: Relation,
    /// The conjunctions of which one holds if the first point of a pair comes before the second.
    order: Vec<Conjunction>,
    known: Declarations,
    n_variables: usize,
}

/// The pairs of points of a statement in which the first one comes before the second, with what is
/// known of them: it is the same for all questions.
pub struct Later<'a> {
    course: &'a Course,
    pairs: Consequences<'a>,
    /// For each conjunction of the order, once a question needs it.
    parts: Vec<OnceCell<Consequences<'a>>>,
}

impl Course {
    /// The pairs of points in which the first one comes before the second.
    pub fn later(&self) -> Later<'_> {
        Later {
            course: self,
            pairs: Consequences::of_pairs(&self.pairs, &self.known),
            parts: self.order.iter().map(|_| OnceCell::new()).collect(),
        }
    }
}

impl Later<'_> {
    /// As [`Computation::keys_ascend`].
    pub fn keys_ascend(&self, keys: &[Key]) -> bool {
        let values: Vec<&Expression> = keys.iter().map(|key| &key.value).collect();
        self.ascend(&values, Comparison::Greater)
    }

    /// As [`Computation::grows`].
    pub fn grows(&self, value: &Expression) -> bool {
        self.ascend(&[value], Comparison::GreaterEqual)
    }

    /// Whether no tuple of values compares like `falls` with that of a later point, element by
    /// element.
    fn ascend(&self, values: &[&Expression], falls: Comparison) -> bool {
        let shift = Shift(self.course.n_variables);
        let mut equal: Vec<Constraint> = Vec::new();
        values.iter().all(|value| {
            let later = value.rewritten(&shift);
            let link = |comparison| Constraint::new((*value).clone(), comparison, later.clone());
            let falling = [&equal[..], &[link(falls)]].concat();
            let parts = self.parts.iter().zip(&self.course.order);
            let rises = parts.into_iter().all(|(part, order)| match part.get() {
                // For a single question, one proof takes less than all that follows.
                None if values.len() == 1 => {
                    let both = [order.constraints(), &falling[..]].concat();
                    self.pairs.exclude(&both)
                }
                _ => {
                    let part = part.get_or_init(|| self.pairs.under(order.constraints()));
                    part.exclude(&falling)
                }
            });
            equal.push(link(Comparison::Equal));
            rises
        })
    }
}
