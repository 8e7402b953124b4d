//! Key functions of a user's own: an order of entries by a number that is computed from their
//! coordinates.
//!
//! ```text
//! key DIAGONAL(i : 31, j : 31) : 63 {     i and j have 31 bits, the key has 63
//!   sum = i + j
//!   return sum << 31 or i
//! }
//! forall n, m : 0 <= n < m < NZ => DIAGONAL(row(n), col(n)) < DIAGONAL(row(m), col(m))
//! ```
//!
//! A key is a **total function of integers**: it has assignments to variables of its own, loops
//! over constant ranges, and one result. The first assignment of a name makes a variable, which
//! lives until the end of its block. A coordinate of more bits than its argument has no key.
//!
//! | operation                       | of                                                     |
//! |---------------------------------|--------------------------------------------------------|
//! | `a + b`, `a - b`, `a * b`       | all numbers                                            |
//! | `a floordiv b`, `a mod b`       | `0 < b`                                                |
//! | `a << n`, `a >> n`              | `0 <= a`, `0 <= n <= 127`; bits that `>>` shifts out go |
//! | `a and b`, `a xor b`, `a or b`  | `0 <= a`, `0 <= b`: of each bit                        |
//! | `a < b`, `=`, `!=`, …           | all numbers: 1 or 0                                    |
//! | `select(c, a, b)`               | `a` unless `c` is 0, else `b`; both are computed       |
//! | `min(a, b)`, `max(a, b)`        | all numbers                                            |
//!
//! Operators bind in this order, the tightest first: `* floordiv mod`, `+ -`, `<< >>`,
//! comparisons, `and`, `xor`, `or`.
//!
//! **No number overflows.** Values are exact integers from `-2^62` up to `2^128`. When a key is
//! read, [`range`] follows it through all iterations with the least and the largest value that
//! each number may have, and refuses a key in which one may leave these bounds, or the bits of the
//! result. So a key that was read needs no test when it runs, but of its arguments.
//!
//! **Words.** Expressions and arrays have integers of 64 bits, and kernels sort words of 62. A key
//! of up to 62 bits is one word, and its name is that of a function with an integer for its value.
//! A wider key is a tuple of words, of which the first has the highest bits:
//!
//! ```text
//! key WIDE(i : 31, j : 31, k : 31) : 93
//!   WIDE(i, j, k)[0], WIDE.0(i, j, k)    the upper 31 bits
//!   WIDE(i, j, k)[1], WIDE.1(i, j, k)    the lower 62 bits
//!   WIDE(a) < WIDE(b)                    is LEX(WIDE.0(a), WIDE.1(a)) < LEX(WIDE.0(b), WIDE.1(b))
//! ```
//!
//! To proofs a word is a declared function: it has values where each argument has its bits, and
//! they have the bits of the word. Equal arguments have equal keys. Equal keys have equal arguments if
//! the bits of the key determine those of the arguments, which a proof finds (`injective.rs`).

use std::fmt;

use crate::conjunction::Conjunction;
use crate::declarations::{Declarations, Function};
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::set::Set;
use sparsec_base::arena::Id;

mod injective;
mod number;
mod parse;
mod print;
mod range;
mod value;

pub use number::Number;
pub use range::Range;

/// The bits of a word: what kernels sort by.
pub const WORD_BITS: u32 = 62;

/// The bits that a key may have.
pub(crate) const MOST_BITS: u32 = 128;

/// A variable of a key: an argument, one that is assigned, or one of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Local(u32);

impl Id for Local {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("keys are short"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A key function; see the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFunction {
    name: String,
    /// The bits of each argument. Arguments are the first locals.
    arguments: Vec<u32>,
    bits: u32,
    locals: Vec<LocalData>,
    body: Vec<Step>,
    result: Term,
    /// Each word as a declared function.
    words: Vec<Function>,
    /// Whether different coordinates are known to have different keys.
    is_injective: bool,
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalData {
    /// Its name.
    pub name: String,
    /// Its least and its largest value.
    pub range: Range,
}

/// One step of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `x = e`
    Assign(Local, Term),
    /// `for b in 0..31 { … }`
    For {
        /// What counts the iterations.
        variable: Local,
        /// Its first value.
        from: u64,
        /// One more than its last value.
        to: u64,
        /// What is done in each iteration.
        body: Vec<Step>,
    },
}

/// A number in a key, and the values that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// How it is computed.
    pub kind: TermKind,
    /// Its least and its largest value in all iterations.
    pub range: Range,
}

/// How a number in a key is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A number.
    Number(u64),
    /// The value of a variable.
    Local(Local),
    /// An operation of two numbers.
    Binary(KeyOperator, Box<[Term; 2]>),
    /// `select(c, a, b)`
    Select(Box<[Term; 3]>),
}

/// An operation of a key on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOperator {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a floordiv b`
    FloorDivide,
    /// `a mod b`
    Modulo,
    /// `a << b`
    ShiftLeft,
    /// `a >> b`
    ShiftRight,
    /// `a and b`
    And,
    /// `a xor b`
    Xor,
    /// `a or b`
    Or,
    /// `min(a, b)`
    Minimum,
    /// `max(a, b)`
    Maximum,
    /// `a < b` and the like.
    Compare(Comparison),
}

impl KeyFunction {
    /// The name in calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bits each argument has.
    pub fn arguments(&self) -> &[u32] {
        &self.arguments
    }

    /// The variables, arguments first.
    pub fn locals(&self) -> &[LocalData] {
        &self.locals
    }

    /// What is done before the result is computed.
    pub fn body(&self) -> &[Step] {
        &self.body
    }

    /// The result.
    pub fn result(&self) -> &Term {
        &self.result
    }

    /// How many words a key has.
    pub fn n_words(&self) -> usize {
        self.bits.div_ceil(WORD_BITS) as usize
    }

    /// The words as functions with names, domains and ranges, the highest bits first.
    pub fn words(&self) -> &[Function] {
        &self.words
    }

    /// How many bits a word has.
    pub fn bits_of(&self, word: usize) -> u32 {
        let below = (self.n_words() - 1 - word) as u32 * WORD_BITS;
        (self.bits - below).min(WORD_BITS)
    }

    /// The function under another name.
    fn renamed(&self, names: &impl Rewrite) -> Self {
        let mut renamed = self.clone();
        renamed.name = names.function(&self.name);
        renamed.name_words();
        renamed
    }

    /// Declares the words.
    fn name_words(&mut self) {
        let within = |names: &[&str], bits: &[u32]| {
            let mut part = Conjunction::new(names.iter().copied(), []);
            let inputs: Vec<Variable> = part.inputs().collect();
            for (variable, bits) in std::iter::zip(inputs, bits) {
                part.add(Constraint {
                    first: Expression::Integer(0),
                    rest: vec![
                        (Comparison::LessEqual, Expression::Variable(variable)),
                        (Comparison::Less, Expression::Integer(1 << bits)),
                    ],
                });
            }
            Set::new(vec![part]).expect("it has no free names")
        };
        let n = self.arguments.len();
        let names: Vec<&str> = self.locals[..n].iter().map(|it| it.name.as_str()).collect();
        let words = (0..self.n_words()).map(|word| Function {
            name: match self.n_words() {
                1 => self.name.clone(),
                _ => format!("{}.{word}", self.name),
            },
            domain: within(&names, &self.arguments),
            range: within(&["key"], &[self.bits_of(word)]),
            injective: false,
            monotone: None,
        });
        self.words = words.collect();
    }
}

impl Declarations {
    /// The declared key functions.
    pub fn keys(&self) -> &[KeyFunction] {
        &self.keys
    }

    /// Adds a key function.
    pub fn declare_key(&mut self, key: KeyFunction) {
        self.keys.push(key);
    }

    /// The key function that a function is a word of, and the number of the word.
    pub fn key_of(&self, name: &str) -> Option<(&KeyFunction, usize)> {
        self.keys.iter().find_map(|key| {
            let word = key.words.iter().position(|word| word.name == name)?;
            Some((key, word))
        })
    }

    /// Whether a function is computed from its arguments, and in no array: a predefined key such
    /// as `MORTON`, or a word of a declared one.
    pub fn is_key(&self, name: &str) -> bool {
        crate::key::is_variadic(name) || self.key_of(name).is_some()
    }

    pub(crate) fn keys_rewritten(&self, names: &impl Rewrite) -> Vec<KeyFunction> {
        self.keys.iter().map(|key| key.renamed(names)).collect()
    }
}

impl fmt::Display for KeyFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}
