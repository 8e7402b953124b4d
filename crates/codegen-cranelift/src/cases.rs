//! Cases that ask for the same things, as a tree of questions.
//!
//! Merges have a case for each set of operands that are there, from the largest on:
//!
//! ```text
//! if jA == j and jB == j { AB }                jA == j ─┬─ yes: jB == j ─┬─ yes: AB
//! else if jA == j { A }                 ─►              │                └─ no:  A
//! else { B }                                            └─ no:  B
//! ```
//!
//! One after another, the last case of three operands comes after a dozen questions, most of
//! them answered before. In the tree none is asked twice on the way to a case. What is asked
//! are comparisons of variables, so that nobody can tell in what order.

use std::collections::HashSet;

use cranelift_codegen::ir::{self, InstBuilder};
use sparsec_loop::{BinaryOp, Block, Expr, Function, Stmt};

use crate::again::Again;
use crate::condition::is_lazy;
use crate::emitter::Emitter;

/// A tree of more questions is larger than what it saves.
const MOST_QUESTIONS: usize = 4;

/// A chain of cases, and what is done where none holds.
pub(crate) struct Cases<'f> {
    cases: Vec<(Vec<&'f Expr>, &'f Block)>,
    otherwise: &'f Block,
}

impl<'f> Cases<'f> {
    /// The chain that begins here, if it asks for something twice.
    pub(crate) fn of(function: &Function, chain: &'f Stmt) -> Option<Self> {
        let (mut cases, mut questions, mut n_asked) = (Vec::new(), Vec::new(), 0);
        let mut rest = chain;
        loop {
            let Stmt::If {
                condition,
                then,
                otherwise,
            } = rest
            else {
                return None;
            };
            let mut asked = Vec::new();
            parts(condition, &mut asked);
            n_asked += asked.len();
            for question in &asked {
                if !questions.contains(question) {
                    questions.push(*question);
                }
            }
            cases.push((asked, then));
            match otherwise.as_slice() {
                [next @ Stmt::If { .. }] => rest = next,
                _ => {
                    let is_tree = n_asked > questions.len()
                        && questions.len() <= MOST_QUESTIONS
                        && !questions.iter().any(|part| is_lazy(function, part));
                    return is_tree.then_some(Self { cases, otherwise });
                }
            }
        }
    }
}

/// The parts of a condition that all have to hold.
pub(crate) fn parts<'f>(condition: &'f Expr, found: &mut Vec<&'f Expr>) {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) => {
            parts(left, found);
            parts(right, found);
        }
        part => found.push(part),
    }
}

impl Emitter<'_, '_> {
    /// Asks what has to be asked, and does what its case says; then the loop goes on, if
    /// `again` says when.
    pub(crate) fn cases(&mut self, cases: &Cases<'_>, again: Option<&Again<'_>>) {
        let on = self.b.create_block();
        let mut bodies = Vec::new();
        let mut open = Vec::new();
        for (asked, body) in &cases.cases {
            let block = self.b.create_block();
            bodies.push((block, *body));
            open.push((asked.clone(), block));
        }
        let last = self.b.create_block();
        bodies.push((last, cases.otherwise));
        let mut reached = HashSet::new();
        self.ask_for(open, last, &mut reached);
        for (block, body) in bodies {
            if reached.contains(&block) {
                self.enter(block);
                match again {
                    Some(again) => self.turn_of(again, body),
                    None => {
                        self.block(body);
                        self.b.ins().jump(on, []);
                    }
                }
            }
        }
        if again.is_none() {
            self.enter(on);
        }
    }

    /// Goes to the first of the cases that are still open and of which everything holds.
    fn ask_for(
        &mut self,
        open: Vec<(Vec<&Expr>, ir::Block)>,
        last: ir::Block,
        reached: &mut HashSet<ir::Block>,
    ) {
        let question = match open.first() {
            Some((asked, block)) => match asked.first() {
                Some(question) => *question,
                None => {
                    reached.insert(*block);
                    self.b.ins().jump(*block, []);
                    return;
                }
            },
            None => {
                reached.insert(last);
                self.b.ins().jump(last, []);
                return;
            }
        };
        let [yes, no] = std::array::from_fn(|_| self.b.create_block());
        self.branch(question, yes, no);
        let mut holds = open.clone();
        for (asked, _) in &mut holds {
            asked.retain(|other| *other != question);
        }
        self.enter(yes);
        self.ask_for(holds, last, reached);
        let mut fails = open;
        fails.retain(|(asked, _)| !asked.contains(&question));
        self.enter(no);
        self.ask_for(fails, last, reached);
    }
}
