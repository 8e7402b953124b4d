//! What follows from rows, for the questions that making loops asks.
//!
//! ```text
//! 0 <= i, i < N      does 0 <= pos(i) hold?     the consequences, and the answer
//! 0 <= i, i < N      does i + 1 <= N hold?      the same consequences
//! 0 <= i, i < N      does 0 <= pos(i) hold?     the same answer
//! ```
//!
//! Items that share loops have the same context, and tests are tried before one is chosen. So most
//! questions come again. What holds where fewer rows do holds where more do: a context has
//! consequences of its own only if a question has no answer without them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::declarations::Declarations;
use crate::facts::Facts;
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Consequences of rows, and answers that follow from them.
pub(super) struct Proofs<'a> {
    pub(super) declarations: &'a Declarations,
    /// Of the rows of items, all of which count.
    all: RefCell<Tree>,
    /// Of contexts. A row that follows from those before it adds nothing.
    contexts: RefCell<Tree>,
}

/// Sequences of rows, by their beginnings: each node adds a row to that of its parent.
struct Tree {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// The parent, and what this adds to it; none of the root.
    added: Option<(usize, Row)>,
    children: Vec<(Row, usize)>,
    known: Option<Rc<Known>>,
}

struct Known {
    facts: Rc<Facts>,
    answers: RefCell<BTreeMap<Row, Vec<Answer>>>,
}

/// Whether a row is known to hold where others do too.
struct Answer {
    others: Vec<Row>,
    holds: bool,
}

impl Known {
    /// Whether a row is known to hold where others do too, if that was asked or is a proof of one
    /// step.
    fn answer(&self, others: &[Row], row: &Row) -> Option<bool> {
        let answers = self.answers.borrow();
        let mut asked = answers.get(row).into_iter().flatten();
        let answer = asked.find(|answer| answer.others == others);
        let answer = answer.map(|answer| answer.holds);
        answer.or_else(|| self.facts.entails(row).then_some(true))
    }
}

impl Tree {
    fn new() -> Self {
        Self {
            nodes: vec![Node::default()],
        }
    }

    /// The node of some rows. Those that `is_implied` by rows before them are left out.
    fn node(&mut self, rows: &[Row], is_implied: impl Fn(&Facts, &Row) -> bool) -> usize {
        rows.iter().fold(0, |at, row| {
            let children = &self.nodes[at].children;
            if let Some((_, child)) = children.iter().find(|(next, _)| next == row) {
                return *child;
            }
            let before = self.nearest(at);
            let child = match before.is_some_and(|known| is_implied(&known.facts, row)) {
                true => at,
                false => self.nodes.len(),
            };
            self.nodes[at].children.push((row.clone(), child));
            if child != at {
                self.nodes.push(Node {
                    added: Some((at, row.clone())),
                    ..Node::default()
                });
            }
            child
        })
    }

    /// What follows from most of the rows of a node, as far as that was asked for: it holds for
    /// all of them.
    fn nearest(&self, node: usize) -> Option<&Rc<Known>> {
        let mut at = node;
        loop {
            let node = &self.nodes[at];
            if node.known.is_some() {
                return node.known.as_ref();
            }
            at = node.added.as_ref()?.0;
        }
    }

    /// What follows from the rows of a node.
    fn known(&mut self, node: usize, declarations: &Declarations) -> Rc<Known> {
        // What follows from fewer rows follows from these.
        let (mut at, mut rows) = (node, Vec::new());
        let facts = loop {
            if let Some(known) = &self.nodes[at].known {
                if at == node {
                    return Rc::clone(known);
                }
                rows.reverse();
                break known.facts.under(&rows);
            }
            let Some((parent, row)) = &self.nodes[at].added else {
                break Facts::of_rows(rows.into_iter().rev(), declarations);
            };
            rows.push(row.clone());
            at = *parent;
        };
        let answers = RefCell::default();
        let known = Rc::new(Known { facts, answers });
        self.nodes[node].known = Some(Rc::clone(&known));
        known
    }
}

impl<'a> Proofs<'a> {
    pub(super) fn new(declarations: &'a Declarations) -> Self {
        Self {
            declarations,
            all: RefCell::new(Tree::new()),
            contexts: RefCell::new(Tree::new()),
        }
    }

    /// Calls `ask` with the rows and all that follows from them.
    pub(super) fn of<R>(&self, rows: &[Row], ask: impl FnOnce(&Facts) -> R) -> R {
        let known = {
            let mut all = self.all.borrow_mut();
            let node = all.node(rows, |_, _| false);
            all.known(node, self.declarations)
        };
        ask(&known.facts)
    }

    /// Calls `ask` with what follows where a context holds.
    pub(super) fn within<R>(&self, context: &[Row], ask: impl FnOnce(&Facts) -> R) -> R {
        let mut contexts = self.contexts.borrow_mut();
        let node = contexts.node(context, Facts::includes);
        let known = contexts.known(node, self.declarations);
        drop(contexts);
        ask(&known.facts)
    }

    /// Whether a call or division has a value where a context holds.
    pub(super) fn has_value(&self, context: &[Row], atom: &Atom) -> bool {
        let mut contexts = self.contexts.borrow_mut();
        let node = contexts.node(context, Facts::includes);
        let before = contexts.nearest(node);
        before.is_some_and(|known| known.facts.has_value(atom)) || {
            let known = contexts.known(node, self.declarations);
            known.facts.has_value(atom)
        }
    }

    /// Whether a row is known to hold where a context does. Its calls have values.
    pub(super) fn holds(&self, context: &[Row], row: &Row) -> bool {
        self.holds_with(context, &[], row)
    }

    /// Whether a row is known to hold where a context and further rows do. Its calls have values.
    pub(super) fn holds_with(&self, context: &[Row], others: &[Row], row: &Row) -> bool {
        if let Some(value) = row.sum.value() {
            return match row.sign {
                Sign::Zero => value == 0,
                Sign::NonNegative => value >= 0,
                Sign::NonZero => value != 0,
            };
        }
        if context.contains(row) || others.contains(row) {
            return true;
        }
        let mut contexts = self.contexts.borrow_mut();
        let node = contexts.node(context, Facts::includes);
        let before = contexts.nearest(node);
        if before.is_some_and(|known| known.answer(others, row) == Some(true)) {
            return true;
        }
        let known = contexts.known(node, self.declarations);
        drop(contexts);
        if let Some(answer) = known.answer(others, row) {
            return answer;
        }
        let refuted = |sum: Option<Polynomial>, sign| {
            sum.is_some_and(|sum| {
                let opposite = [Row { sum, sign }];
                known.facts.excludes(&[others, &opposite].concat())
            })
        };
        let below = || Polynomial::integer(-1).plus(-1, &row.sum);
        let above = || Polynomial::integer(-1).plus(1, &row.sum);
        let holds = match row.sign {
            Sign::NonNegative => refuted(below(), Sign::NonNegative),
            Sign::Zero => {
                refuted(below(), Sign::NonNegative) && refuted(above(), Sign::NonNegative)
            }
            Sign::NonZero => refuted(Some(row.sum.clone()), Sign::Zero),
        };
        let mut answers = known.answers.borrow_mut();
        answers.entry(row.clone()).or_default().push(Answer {
            others: others.to_vec(),
            holds,
        });
        holds
    }
}
