//! Numbers of several words, which are not negative: sums by words, products by halves of words.
//!
//! ```text
//! a + b    sum = a_0 + b_0        word 0 = sum & 2^62 - 1      carry = sum >> 62
//!          sum = a_1 + b_1 + carry …
//!
//! a << n   word 1 = (a_1 & 2^(62 - n) - 1) << n | a_0 >> 62 - n          for n up to 62
//!          word 0 = (a_0 & 2^(62 - n) - 1) << n                          and once more for more
//! ```

use sparsec_loop::{BinaryOp, Expr};
use sparsec_relation::{Comparison, KeyOperator, WORD_BITS};

use super::key_function::{Words, Written, both, padded, select};

/// All bits of a word.
const MASK: i64 = (1 << WORD_BITS) - 1;
/// The bits of a half of a word.
const HALF_BITS: i64 = WORD_BITS as i64 / 2;
const HALF_MASK: i64 = (1 << HALF_BITS) - 1;

impl Written<'_> {
    /// An operation of numbers that are not negative, some of several words.
    pub(super) fn several(
        &mut self,
        operator: KeyOperator,
        (a, b): (Words, Words),
        n: usize,
        most: Option<u128>,
    ) -> Words {
        let (a, b) = (self.named(a), self.named(b));
        let width = a.len().max(b.len()).max(n);
        let wide = |number: &Words| padded(number.clone(), width);
        let pairs = || std::iter::zip(wide(&a), wide(&b));
        let mut found: Words = match operator {
            KeyOperator::And => pairs()
                .map(|(a, b)| a.binary(BinaryOp::BitAnd, b))
                .collect(),
            KeyOperator::Xor | KeyOperator::Or => {
                let op = match operator {
                    KeyOperator::Xor => BinaryOp::BitXor,
                    _ => BinaryOp::BitOr,
                };
                let zero = Expr::int(0);
                let pairs = pairs().map(|(a, b)| match (a == zero, b == zero) {
                    (_, true) => a,
                    (true, _) => b,
                    _ => a.binary(op, b),
                });
                pairs.collect()
            }
            KeyOperator::Add => self.sum(wide(&a), wide(&b)),
            KeyOperator::Subtract => self.difference(wide(&a), wide(&b)),
            KeyOperator::Multiply => self.product(&a, &b, n),
            KeyOperator::ShiftLeft => self.shifted(wide(&a), &b[0], most, Self::up),
            KeyOperator::ShiftRight => self.shifted(wide(&a), &b[0], most, Self::down),
            // The divisor is a power of two, whose words are known.
            KeyOperator::FloorDivide => {
                let by = most.map_or(0, u128::trailing_zeros);
                let amount = Expr::int(by.into());
                self.shifted(wide(&a), &amount, Some(by.into()), Self::down)
            }
            KeyOperator::Modulo => {
                let last = most.map_or(0, |by| by - 1);
                let word = |at: usize| (last >> (at as u32 * WORD_BITS)) as i64 & MASK;
                let words = wide(&a).into_iter().enumerate();
                let words = words.map(|(at, a)| a.binary(BinaryOp::BitAnd, Expr::int(word(at))));
                words.collect()
            }
            KeyOperator::Minimum | KeyOperator::Maximum => {
                let is_less = self.compare(Comparison::Less, &wide(&a), &wide(&b));
                let is_less = self.builder.let_("less", is_less);
                let pairs = pairs().map(|(a, b)| match operator {
                    KeyOperator::Minimum => select(is_less.into(), a, b),
                    _ => select(is_less.into(), b, a),
                });
                pairs.collect()
            }
            KeyOperator::Compare(comparison) => {
                let holds = self.compare(comparison, &wide(&a), &wide(&b));
                vec![select(holds, Expr::int(1), Expr::int(0))]
            }
        };
        found.truncate(n);
        found
    }

    fn sum(&mut self, a: Words, b: Words) -> Words {
        let mut carry = Expr::int(0);
        let mut found = Vec::new();
        for (a, b) in std::iter::zip(a, b) {
            let sum = self.builder.let_("sum", a.add(b).add(carry));
            found.push(Expr::Var(sum).binary(BinaryOp::BitAnd, MASK));
            carry = Expr::Var(sum).binary(BinaryOp::ShiftRight, i64::from(WORD_BITS));
        }
        found
    }

    /// The difference of a number and one that is not larger.
    fn difference(&mut self, a: Words, b: Words) -> Words {
        let mut borrow = Expr::int(0);
        let mut found = Vec::new();
        for (a, b) in std::iter::zip(a, b) {
            let rest = a.binary(BinaryOp::Sub, b).binary(BinaryOp::Sub, borrow);
            let rest = self.builder.let_("rest", rest);
            found.push(Expr::Var(rest).binary(BinaryOp::BitAnd, MASK));
            borrow = select(Expr::Var(rest).less(0), Expr::int(1), Expr::int(0));
        }
        found
    }

    /// The product, by halves of words as by digits.
    fn product(&mut self, a: &Words, b: &Words, n: usize) -> Words {
        let halves = |words: &Words| -> Words {
            let halves = words.iter().flat_map(|word| {
                let low = word.clone().binary(BinaryOp::BitAnd, HALF_MASK);
                [low, word.clone().binary(BinaryOp::ShiftRight, HALF_BITS)]
            });
            halves.collect()
        };
        let (a, b) = (self.named(halves(a)), self.named(halves(b)));
        let mut found = vec![Expr::int(0); 2 * n];
        for (i, a) in a.iter().enumerate() {
            let mut carry = Expr::int(0);
            for (digit, found) in found[i..].iter_mut().enumerate() {
                // Behind the last digit of `b` there is the carry alone.
                let part = match b.get(digit) {
                    Some(b) => a.clone().binary(BinaryOp::Mul, b.clone()),
                    None => Expr::int(0),
                };
                let sum = part.add(found.clone()).add(carry);
                let sum = self.builder.let_("sum", sum);
                *found = Expr::Var(sum).binary(BinaryOp::BitAnd, HALF_MASK);
                carry = Expr::Var(sum).binary(BinaryOp::ShiftRight, HALF_BITS);
            }
        }
        let found = self.named(found);
        let words = found.chunks(2).map(|halves| {
            let high = halves[1].clone().binary(BinaryOp::ShiftLeft, HALF_BITS);
            high.binary(BinaryOp::BitOr, halves[0].clone())
        });
        words.collect()
    }

    /// A number shifted by up to `most` bits, a word at a time.
    fn shifted(
        &mut self,
        mut number: Words,
        amount: &Expr,
        most: Option<u128>,
        shift: fn(&[Expr], &Expr) -> Words,
    ) -> Words {
        let word = i64::from(WORD_BITS);
        let most = most.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let mut before = 0;
        while (before == 0 || before < most) && before < word * number.len() as i64 {
            let rest = match before {
                0 => amount.clone(),
                _ => {
                    let rest = amount.clone().binary(BinaryOp::Sub, before);
                    rest.binary(BinaryOp::Max, 0)
                }
            };
            let rest = match most - before > word {
                true => rest.binary(BinaryOp::Min, word),
                false => rest,
            };
            let rest = self.named(vec![rest]);
            number = self.named(shift(&number, &rest[0]));
            before += word;
        }
        number
    }

    /// Towards the higher words, by up to a word.
    fn up(number: &[Expr], by: &Expr) -> Words {
        let left = Expr::int(i64::from(WORD_BITS)).binary(BinaryOp::Sub, by.clone());
        let kept = Expr::int(MASK).binary(BinaryOp::ShiftRight, by.clone());
        let words = number.iter().enumerate().map(|(at, word)| {
            let own = word.clone().binary(BinaryOp::BitAnd, kept.clone());
            let own = own.binary(BinaryOp::ShiftLeft, by.clone());
            match at.checked_sub(1) {
                Some(below) => {
                    let from = number[below].clone();
                    own.binary(
                        BinaryOp::BitOr,
                        from.binary(BinaryOp::ShiftRight, left.clone()),
                    )
                }
                None => own,
            }
        });
        words.collect()
    }

    /// Towards the lower words, by up to a word.
    fn down(number: &[Expr], by: &Expr) -> Words {
        let left = Expr::int(i64::from(WORD_BITS)).binary(BinaryOp::Sub, by.clone());
        let gone = Expr::int(MASK).binary(BinaryOp::ShiftRight, left.clone());
        let words = number.iter().enumerate().map(|(at, word)| {
            let own = word.clone().binary(BinaryOp::ShiftRight, by.clone());
            match number.get(at + 1) {
                Some(above) => {
                    let from = above.clone().binary(BinaryOp::BitAnd, gone.clone());
                    own.binary(
                        BinaryOp::BitOr,
                        from.binary(BinaryOp::ShiftLeft, left.clone()),
                    )
                }
                None => own,
            }
        });
        words.collect()
    }

    /// Whether numbers of as many words compare so.
    fn compare(&mut self, comparison: Comparison, a: &Words, b: &Words) -> Expr {
        let pairs = || std::iter::zip(a.clone(), b.clone());
        let equal = || {
            let equal = pairs().map(|(a, b)| a.binary(BinaryOp::Eq, b));
            equal.reduce(both(BinaryOp::And)).expect("a word at least")
        };
        // From the lowest word on: a higher one decides, unless it is the same.
        let less = |a: &Words, b: &Words| {
            let mut less: Option<Expr> = None;
            for (a, b) in std::iter::zip(a.clone(), b.clone()) {
                let here = a.clone().less(b.clone());
                less = Some(match less {
                    None => here,
                    Some(below) => {
                        let same = a.binary(BinaryOp::Eq, b).binary(BinaryOp::And, below);
                        here.binary(BinaryOp::Or, same)
                    }
                });
            }
            less.expect("a word at least")
        };
        let not = |e: Expr| Expr::Unary(sparsec_loop::UnaryOp::Not, Box::new(e));
        match comparison {
            Comparison::Equal => equal(),
            Comparison::NotEqual => not(equal()),
            Comparison::Less => less(a, b),
            Comparison::GreaterEqual => not(less(a, b)),
            Comparison::Greater => less(b, a),
            Comparison::LessEqual => not(less(b, a)),
        }
    }
}
