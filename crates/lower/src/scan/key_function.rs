//! Key functions in loops: the steps of a key, in words.
//!
//! ```text
//! key WIDE(i : 31, j : 31, k : 31) : 93      if i < 0 or 2^31 <= i { fail }        each argument
//!   d = 0                                    var d = 0   var d_1 = 0               lower, upper word
//!   for b in 0..31 {                         for b in 0..31 {
//!     t = i >> b and 1                         t = i >> b & 1
//!     d = d << 3 or t                          d_1 = … d_1 << 3 | d >> 59 …
//!   }                                          d = (d & 2^59 - 1) << 3 | t
//!   return d                                 }
//! ```
//!
//! The ranges of a key say how many words each number needs. A number of one word may be negative,
//! and operations of one-word numbers whose result has one word are single operations of 64 bits.
//! Other numbers are lists of words of 62 bits, the lowest first, so that sums of two words and a
//! carry fit in 64 bits; [`key_words`](super::key_words) computes with them.

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::Access;
use sparsec_loop::{BinaryOp, Builder, Expr, Failure, Var};
use sparsec_relation::{
    Comparison, Expression, KeyFunction, KeyOperator, KeyStep, Term, TermKind, WORD_BITS,
};

use super::emit::Emitter;

impl Emitter<'_> {
    /// A word of a key; all of its words stay in variables for the statements behind this one.
    pub(super) fn word_of_key(
        &mut self,
        (key, word): (&KeyFunction, usize),
        arguments: &[Expression],
    ) -> Expr {
        let access = |word: usize| Access {
            space: key.words()[word].name.clone(),
            indices: arguments.to_vec(),
        };
        let wanted = access(word);
        let mut carried = self.carried.iter().rev();
        if let Some((_, var)) = carried.find(|(it, _)| *it == wanted) {
            return Expr::Var(*var);
        }
        let arguments: Vec<Expr> = arguments.iter().map(|e| self.expr(e)).collect();
        let mut locals: Vec<Words> = vec![Vec::new(); key.locals().len()];
        for (at, (argument, bits)) in std::iter::zip(arguments, key.arguments()).enumerate() {
            let argument = self.builder.let_(&key.locals()[at].name, argument);
            let end = Expr::int(1 << bits);
            let is_outside = Expr::Var(argument)
                .less(0)
                .binary(BinaryOp::Or, end.binary(BinaryOp::Le, argument));
            self.builder
                .if_then(is_outside, |b| b.fail(Failure::NotAsDeclared));
            // Steps may assign an argument.
            let data = &key.locals()[at];
            let words = padded(vec![argument.into()], data.range.n_words()).into_iter();
            let words = words.map(|word| self.builder.var_(&data.name, word).into());
            locals[at] = words.collect();
        }
        let mut written = Written {
            builder: self.builder,
            key,
            locals,
        };
        written.steps(key.body());
        let found = written.term(key.result());
        let n = key.n_words();
        let found = padded(found, n);
        let words: Vec<Var> = (0..n)
            .map(|word| self.builder.let_("key", found[n - 1 - word].clone()))
            .collect();
        for (word, var) in words.iter().enumerate() {
            self.carried.push((access(word), *var));
        }
        words[word].into()
    }
}

/// A number: one word, or words of 62 bits, the lowest first.
pub(super) type Words = Vec<Expr>;

/// A number in so many words.
pub(super) fn padded(mut number: Words, n: usize) -> Words {
    number.resize(n, Expr::int(0));
    number
}

pub(super) fn both(op: BinaryOp) -> impl Fn(Expr, Expr) -> Expr {
    move |a, b| a.binary(op, b)
}

pub(super) fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Select {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

/// What is written of a key.
pub(super) struct Written<'a> {
    pub(super) builder: &'a mut Builder,
    key: &'a KeyFunction,
    /// The words of each variable that has a value.
    locals: Vec<Words>,
}

impl Written<'_> {
    fn steps(&mut self, steps: &[KeyStep]) {
        for step in steps {
            match step {
                KeyStep::Assign(local, term) => {
                    let data = &self.key.locals()[local.index()];
                    let value = padded(self.term(term), data.range.n_words());
                    let is_new = self.locals[local.index()].is_empty();
                    // Words of the old value may be words of the new one.
                    let value = match value.len() {
                        1 => value,
                        _ => self.named(value),
                    };
                    if is_new {
                        let words = value.into_iter();
                        let words = words.map(|word| self.builder.var_(&data.name, word).into());
                        self.locals[local.index()] = words.collect();
                        continue;
                    }
                    for (word, value) in std::iter::zip(self.locals[local.index()].clone(), value) {
                        let Expr::Var(var) = word else {
                            unreachable!("variables are held in variables");
                        };
                        self.builder.assign(var, value);
                    }
                }
                KeyStep::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    let name = &self.key.locals()[variable.index()].name;
                    let turn = self.builder.fixed(name, ElementType::I64);
                    let mut known = self.locals.clone();
                    known[variable.index()] = vec![turn.into()];
                    let key = self.key;
                    let [from, to] = [*from, *to].map(|n| n as i64);
                    self.builder.for_loop(turn, from, to, |builder| {
                        let mut inside = Written {
                            builder,
                            key,
                            locals: known,
                        };
                        inside.steps(body);
                    });
                }
            }
        }
    }

    /// Words as variables.
    pub(super) fn named(&mut self, words: Words) -> Words {
        let words = words.into_iter();
        let words = words.map(|word| match word {
            Expr::Const(_) => word,
            word => self.builder.let_("word", word).into(),
        });
        words.collect()
    }

    /// The words of a term: as many as its range needs.
    fn term(&mut self, term: &Term) -> Words {
        let n = term.range.n_words();
        if let Some(n) = term.range.single().and_then(|it| it.unsigned()) {
            let words = (0..n_words(n)).map(|word| {
                let word = (n >> (word as u32 * WORD_BITS)) & ((1 << WORD_BITS) - 1);
                Expr::int(word as i64)
            });
            return words.collect();
        }
        match &term.kind {
            TermKind::Number(n) => vec![Expr::int(*n as i64)],
            TermKind::Local(local) => {
                let mut words = self.locals[local.index()].clone();
                words.truncate(n);
                words
            }
            TermKind::Select(parts) => {
                let [condition, a, b] = &**parts;
                let condition = self.condition(condition);
                let condition = self.builder.let_("holds", condition);
                let a = self.term(a);
                let b = self.term(b);
                let sides = std::iter::zip(padded(a, n), padded(b, n));
                let sides = sides.map(|(a, b)| select(condition.into(), a, b));
                sides.collect()
            }
            TermKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let widths = [a, b, term].map(|it| it.range.n_words());
                let amount = b.range.most();
                let [left, right] = [a, b].map(|side| self.term(side));
                match widths {
                    [1, 1, 1] => {
                        let [a, b] = [&left[0], &right[0]].map(Expr::clone);
                        vec![self.single(*operator, a, b, amount.unsigned())]
                    }
                    _ => self.several(*operator, (left, right), n, amount.unsigned()),
                }
            }
        }
    }

    /// Whether a term is not 0.
    fn condition(&mut self, term: &Term) -> Expr {
        if let TermKind::Binary(KeyOperator::Compare(comparison), sides) = &term.kind
            && sides.iter().all(|side| side.range.n_words() == 1)
        {
            let [a, b] = &**sides;
            let [a, b] = [a, b].map(|side| self.term(side).remove(0));
            return a.binary(compared(*comparison), b);
        }
        let words = self.term(term).into_iter();
        let any = words.map(|word| word.binary(BinaryOp::Ne, Expr::int(0)));
        any.reduce(both(BinaryOp::Or)).expect("a word at least")
    }

    /// An operation of numbers of one word, whose result is one.
    fn single(&mut self, operator: KeyOperator, a: Expr, b: Expr, most: Option<u128>) -> Expr {
        let op = match operator {
            KeyOperator::Add => BinaryOp::Add,
            KeyOperator::Subtract => BinaryOp::Sub,
            KeyOperator::Multiply => BinaryOp::Mul,
            KeyOperator::FloorDivide => BinaryOp::FloorDiv,
            KeyOperator::Modulo => BinaryOp::Mod,
            KeyOperator::ShiftLeft => BinaryOp::ShiftLeft,
            KeyOperator::ShiftRight => BinaryOp::ShiftRight,
            KeyOperator::And => BinaryOp::BitAnd,
            KeyOperator::Xor => BinaryOp::BitXor,
            KeyOperator::Or => BinaryOp::BitOr,
            KeyOperator::Minimum => BinaryOp::Min,
            KeyOperator::Maximum => BinaryOp::Max,
            KeyOperator::Compare(comparison) => {
                let holds = a.binary(compared(comparison), b);
                return select(holds, Expr::int(1), Expr::int(0));
            }
        };
        // The IR shifts by the lowest six bits of an amount.
        if op == BinaryOp::ShiftRight && most.is_none_or(|most| most > 63) {
            let amount = self.builder.let_("amount", b);
            let is_all = Expr::int(63).less(amount);
            return select(is_all, Expr::int(0), a.binary(op, amount));
        }
        a.binary(op, b)
    }
}

/// The comparison in the loop IR.
fn compared(comparison: Comparison) -> BinaryOp {
    match comparison {
        Comparison::Less => BinaryOp::Lt,
        Comparison::LessEqual => BinaryOp::Le,
        Comparison::Equal => BinaryOp::Eq,
        Comparison::NotEqual => BinaryOp::Ne,
        Comparison::Greater => BinaryOp::Gt,
        Comparison::GreaterEqual => BinaryOp::Ge,
    }
}

/// How many words a number has.
fn n_words(n: u128) -> usize {
    (u128::BITS - n.leading_zeros()).div_ceil(WORD_BITS).max(1) as usize
}
