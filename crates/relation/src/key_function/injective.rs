//! Whether a key tells all coordinates apart: a proof that its bits determine those of its arguments.
//!
//! A key runs through the same steps whatever its arguments are, so its bits are a circuit of theirs.
//! The bits of the result are **determined**: given the key, they have one value. Other bits follow:
//!
//! | gate               | is determined if           | and determines             |
//! |--------------------|----------------------------|----------------------------|
//! | `a xor b`          | `a` and `b` are            | one of both from the other |
//! | `a and b`          | `a` and `b` are            | where `a` is 1, `b`        |
//! | `select(c, a, b)`  | `c`, `a` and `b` are       | where `c` is known, `a` or `b` |
//!
//! If the condition of a `select` is determined, there are two cases, and what is determined in both is
//! determined. A curve that turns is decoded so: the first two bits of the key are those of the
//! coordinates, and say how the others are turned:
//!
//! ```text
//! i' = select(y, i, x xor j),  j' = select(y, j, x xor i)      i', j', x, y determined
//! y is 1       i = i',  j = j'
//! y is 0       x xor j = i',  x xor i = j'                     so i and j are determined in both cases
//! ```
//!
//! A key of which this finds no proof may still tell all coordinates apart.

use std::collections::HashMap;

use sparsec_base::arena::Id;

use super::{KeyFunction, KeyOperator, Step, Term, TermKind};
use crate::expression::Comparison;

/// Gates that a circuit may have.
const MOST_GATES: usize = 1 << 16;
/// Cases that the search may look at.
const MOST_CASES: usize = 2000;

/// A gate, or its opposite if the lowest bit is set.
type Bit = usize;

/// Gate 0 is the bit 0.
const ZERO: Bit = 0;
const ONE: Bit = 1;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    Zero,
    /// A bit of an argument.
    Given(usize),
    Xor(Bit, Bit),
    And(Bit, Bit),
    /// The second bit if the first is 1, else the third.
    Select(Bit, Bit, Bit),
}

/// The bits of a number that is not negative, the lowest first.
type Word = Vec<Bit>;

struct Circuit {
    gates: Vec<Gate>,
    numbers: HashMap<Gate, usize>,
}

impl KeyFunction {
    /// Whether different coordinates are known to have different keys.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let known: Declarations = "
    ///     key GRAY(i : 8) : 8 { return i xor (i >> 1) }
    ///     key LOW(i : 8) : 4 { return i and 15 }
    /// ".parse()?;
    /// assert!(known.keys()[0].is_injective() && !known.keys()[1].is_injective());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_injective(&self) -> bool {
        self.is_injective
    }

    /// Looks for a proof that different coordinates have different keys.
    pub(super) fn prove_injective(&self) -> bool {
        let mut circuit = Circuit {
            gates: vec![Gate::Zero],
            numbers: HashMap::new(),
        };
        let mut locals = vec![Word::new(); self.locals.len()];
        for (local, bits) in std::iter::zip(&mut locals, &self.arguments) {
            let first = circuit.gates.len();
            *local = (0..*bits as usize)
                .map(|bit| circuit.gate(Gate::Given(first + bit)))
                .collect();
        }
        let found = circuit
            .run(&self.body, &mut locals)
            .and_then(|()| circuit.value(&self.result, &locals));
        found.is_some_and(|key| circuit.determines_given(&key))
    }
}

impl Circuit {
    fn gate(&mut self, gate: Gate) -> Bit {
        let next = self.gates.len();
        let number = *self.numbers.entry(gate).or_insert(next);
        if number == next {
            self.gates.push(gate);
        }
        2 * number
    }

    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let opposite = (a ^ b) & 1;
        let (a, b) = ((a & !1).min(b & !1), (a & !1).max(b & !1));
        opposite
            ^ match (a, b) {
                (ZERO, b) => b,
                (a, b) if a == b => ZERO,
                (a, b) => self.gate(Gate::Xor(a, b)),
            }
    }

    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.min(b), a.max(b)) {
            (ZERO, _) => ZERO,
            (ONE, b) => b,
            (a, b) if a == b => a,
            (a, b) if a == b ^ 1 => ZERO,
            (a, b) => self.gate(Gate::And(a, b)),
        }
    }

    fn or(&mut self, a: Bit, b: Bit) -> Bit {
        self.and(a ^ 1, b ^ 1) ^ 1
    }

    fn select(&mut self, c: Bit, a: Bit, b: Bit) -> Bit {
        let (c, a, b) = match c & 1 {
            0 => (c, a, b),
            _ => (c ^ 1, b, a),
        };
        match (a, b) {
            _ if c == ZERO => b,
            (a, b) if a == b => a,
            (a, b) if a == b ^ 1 => self.xor(c, b),
            (ZERO, b) => self.and(c ^ 1, b),
            (ONE, b) => self.or(c, b),
            (a, ZERO) => self.and(c, a),
            (a, ONE) => self.or(c ^ 1, a),
            (a, b) => self.gate(Gate::Select(c, a, b)),
        }
    }

    fn run(&mut self, steps: &[Step], locals: &mut [Word]) -> Option<()> {
        for step in steps {
            match step {
                Step::Assign(local, term) => locals[local.index()] = self.value(term, locals)?,
                Step::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    for iteration in *from..*to {
                        locals[variable.index()] = number(iteration);
                        self.run(body, locals)?;
                    }
                }
            }
        }
        Some(())
    }

    /// The bits of a term; `None` for operations that have no circuit here.
    fn value(&mut self, term: &Term, locals: &[Word]) -> Option<Word> {
        if self.gates.len() > MOST_GATES || term.range.may_be_negative() {
            return None;
        }
        let mut word = match &term.kind {
            TermKind::Number(n) => number(*n),
            TermKind::Local(local) => locals[local.index()].clone(),
            TermKind::Select(parts) => {
                let [c, a, b] = &**parts;
                let [c, a, b] = [c, a, b].map(|term| self.value(term, locals));
                let c = c?.into_iter().fold(ZERO, |any, bit| self.or(any, bit));
                self.each(&a?, &b?, |circuit, a, b| circuit.select(c, a, b))
            }
            TermKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let [a, b] = [a, b].map(|term| self.value(term, locals));
                self.combined(*operator, &a?, &b?)?
            }
        };
        // The number has no more bits than the largest of its range.
        word.truncate(term.range.most().n_bits() as usize);
        Some(word)
    }

    fn each(&mut self, a: &[Bit], b: &[Bit], of: impl Fn(&mut Self, Bit, Bit) -> Bit) -> Word {
        let n = a.len().max(b.len());
        (0..n).map(|k| of(self, at(a, k), at(b, k))).collect()
    }

    fn combined(&mut self, operator: KeyOperator, a: &[Bit], b: &[Bit]) -> Option<Word> {
        let one = |bit: Bit| Some(vec![bit]);
        match operator {
            KeyOperator::Add => Some(self.sum(a, b)),
            KeyOperator::Subtract => Some(self.difference(a, b).0),
            KeyOperator::Multiply => {
                let mut sum = Word::new();
                for (k, bit) in b.iter().enumerate() {
                    let part = a.iter().map(|a| self.and(*a, *bit));
                    let part: Word = std::iter::repeat_n(ZERO, k).chain(part).collect();
                    sum = self.sum(&sum, &part);
                }
                Some(sum)
            }
            KeyOperator::ShiftLeft => {
                let zeros = std::iter::repeat_n(ZERO, constant(b)?);
                Some(zeros.chain(a.iter().copied()).collect())
            }
            KeyOperator::ShiftRight => Some(a.iter().skip(constant(b)?).copied().collect()),
            KeyOperator::And => Some(self.each(a, b, Self::and)),
            KeyOperator::Xor => Some(self.each(a, b, Self::xor)),
            KeyOperator::Or => Some(self.each(a, b, Self::or)),
            KeyOperator::Minimum | KeyOperator::Maximum => {
                let less = self.difference(a, b).1 ^ usize::from(operator == KeyOperator::Maximum);
                Some(self.each(a, b, |circuit, a, b| circuit.select(less, a, b)))
            }
            KeyOperator::Compare(comparison) => {
                let different = self.each(a, b, Self::xor);
                let differ = different
                    .into_iter()
                    .fold(ZERO, |any, bit| self.or(any, bit));
                one(match comparison {
                    Comparison::Equal => differ ^ 1,
                    Comparison::NotEqual => differ,
                    Comparison::Less => self.difference(a, b).1,
                    Comparison::GreaterEqual => self.difference(a, b).1 ^ 1,
                    Comparison::Greater => self.difference(b, a).1,
                    Comparison::LessEqual => self.difference(b, a).1 ^ 1,
                })
            }
            KeyOperator::FloorDivide | KeyOperator::Modulo => {
                let by = constant(b).filter(|by| by.is_power_of_two())?;
                let n_bits = by.trailing_zeros() as usize;
                Some(match operator {
                    KeyOperator::Modulo => a.iter().take(n_bits).copied().collect(),
                    _ => a.iter().skip(n_bits).copied().collect(),
                })
            }
        }
    }

    fn sum(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        let mut carry = ZERO;
        let mut sum = self.each(a, b, |_, a, _| a);
        for (k, bit) in sum.iter_mut().enumerate() {
            let (a, b) = (at(a, k), at(b, k));
            let half = self.xor(a, b);
            *bit = self.xor(half, carry);
            let [both, more] = [self.and(a, b), self.and(half, carry)];
            carry = self.or(both, more);
        }
        sum.push(carry);
        sum
    }

    /// The difference, and whether the first number is less than the second.
    fn difference(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Bit) {
        let mut borrow = ZERO;
        let mut difference = self.each(a, b, |_, a, _| a);
        for (k, bit) in difference.iter_mut().enumerate() {
            let (a, b) = (at(a, k), at(b, k));
            let half = self.xor(a, b);
            *bit = self.xor(half, borrow);
            let [less, more] = [self.and(a ^ 1, b), self.and(half ^ 1, borrow)];
            borrow = self.or(less, more);
        }
        (difference, borrow)
    }

    /// Whether these bits determine those of the arguments.
    fn determines_given(&self, key: &[Bit]) -> bool {
        let mut uses: Vec<Vec<usize>> = vec![Vec::new(); self.gates.len()];
        let mut conditions = Vec::new();
        for (number, gate) in self.gates.iter().enumerate() {
            for of in parts(*gate) {
                uses[of / 2].push(number);
            }
            if let Gate::Select(c, ..) = gate {
                conditions.push(c / 2);
            }
        }
        conditions.sort_unstable();
        conditions.dedup();
        let mut determined = vec![false; self.gates.len()];
        let key = std::iter::once(ZERO).chain(key.iter().copied());
        self.close(
            &uses,
            None,
            &mut determined,
            key.map(|bit| bit / 2).collect(),
        );
        let mut left = MOST_CASES;
        loop {
            let are_given = std::iter::zip(&self.gates, &determined)
                .all(|(gate, is_known)| *is_known || !matches!(gate, Gate::Given(_)));
            if are_given {
                return true;
            }
            let before = determined.iter().filter(|it| **it).count();
            // Later conditions first: they say how a number was turned after the earlier ones.
            for condition in conditions.iter().rev() {
                if left == 0 || !determined[*condition] {
                    continue;
                }
                left -= 1;
                let cases = [false, true].map(|value| {
                    let mut case = determined.clone();
                    let known = uses[*condition].clone();
                    self.close(&uses, Some((*condition, value)), &mut case, known);
                    case
                });
                let [zero, one] = cases;
                let both = std::iter::zip(zero, one).map(|(a, b)| a && b);
                let new: Vec<usize> = both
                    .enumerate()
                    .filter(|(number, is_known)| *is_known && !determined[*number])
                    .map(|(number, _)| number)
                    .collect();
                self.close(&uses, None, &mut determined, new);
            }
            if determined.iter().filter(|it| **it).count() == before || left == 0 {
                return false;
            }
        }
    }

    /// Adds what follows from determined gates. Those of `known` that are not yet determined and are no
    /// users of an assumed condition are determined themselves.
    fn close(
        &self,
        uses: &[Vec<usize>],
        assumed: Option<(usize, bool)>,
        determined: &mut [bool],
        known: Vec<usize>,
    ) {
        let mut new = Vec::new();
        match assumed {
            None => {
                for number in known {
                    if !std::mem::replace(&mut determined[number], true) {
                        new.push(number);
                    }
                }
            }
            Some(_) => known
                .into_iter()
                .for_each(|user| self.follow(user, assumed, determined, &mut new)),
        }
        while let Some(number) = new.pop() {
            self.follow(number, assumed, determined, &mut new);
            for user in &uses[number] {
                self.follow(*user, assumed, determined, &mut new);
            }
        }
    }

    /// What follows at one gate.
    fn follow(
        &self,
        number: usize,
        assumed: Option<(usize, bool)>,
        determined: &mut [bool],
        new: &mut Vec<usize>,
    ) {
        let is_known = |bit: Bit| determined[bit / 2];
        let own = 2 * number;
        let value_of = |bit: Bit| match assumed {
            Some((condition, value)) if condition == bit / 2 => Some(value ^ (bit % 2 == 1)),
            _ => None,
        };
        let found: Option<[Bit; 2]> = match self.gates[number] {
            Gate::Zero | Gate::Given(_) => None,
            Gate::Xor(a, b) => match [own, a, b].map(is_known) {
                [false, true, true] => Some([own, own]),
                [true, false, true] => Some([a, a]),
                [true, true, false] => Some([b, b]),
                _ => None,
            },
            Gate::And(a, b) => match value_of(a)
                .map(|it| (it, b))
                .or(value_of(b).map(|it| (it, a)))
            {
                Some((true, same)) => (is_known(own) || is_known(same)).then_some([own, same]),
                Some((false, _)) => Some([own, own]),
                None => (is_known(a) && is_known(b)).then_some([own, own]),
            },
            Gate::Select(c, a, b) => match value_of(c) {
                Some(value) => {
                    let same = if value { a } else { b };
                    (is_known(own) || is_known(same)).then_some([own, same])
                }
                None => [c, a, b].into_iter().all(is_known).then_some([own, own]),
            },
        };
        for bit in found.into_iter().flatten() {
            if !std::mem::replace(&mut determined[bit / 2], true) {
                new.push(bit / 2);
            }
        }
    }
}

fn at(word: &[Bit], k: usize) -> Bit {
    word.get(k).copied().unwrap_or(ZERO)
}

fn number(n: u64) -> Word {
    let n_bits = u64::BITS - n.leading_zeros();
    (0..n_bits).map(|k| (n >> k & 1) as Bit).collect()
}

/// The number of bits that are all known.
fn constant(word: &[Bit]) -> Option<usize> {
    let mut n = 0;
    for (k, bit) in word.iter().enumerate().filter(|(_, bit)| **bit != ZERO) {
        n |= (*bit == ONE && k < 16).then_some(1 << k)?;
    }
    Some(n)
}

fn parts(gate: Gate) -> Vec<Bit> {
    match gate {
        Gate::Zero | Gate::Given(_) => Vec::new(),
        Gate::Xor(a, b) | Gate::And(a, b) => vec![a, b],
        Gate::Select(c, a, b) => vec![c, a, b],
    }
}
