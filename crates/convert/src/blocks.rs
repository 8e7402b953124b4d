//! Blocks that all store the same number of entries: those with fewer are filled up.
//!
//! ```text
//! map  {[q0, q1, q2] -> [i, j] : … && 2 * q1 <= q2 < 2 * q1 + 2 && crd2(q2) = j mod 4 && …}
//!
//! B_q2_count(q1) += 1                          at most 2, or the tensor is refused
//! B_crd2(2 * p + s) = s                        for each block p and each place s of it
//! B_q2(e) = 2 * q1 + min(ordinal + 2 - B_q2_count(q1), j mod 4)
//! B_crd2(B_q2(e)) = j mod 4
//! ```
//!
//! The least coordinates that no entry of the block has fill it up. Of an entry with coordinate `c`
//! behind `o` others, `c - o` such coordinates are less than `c`, and all that fill the block up
//! are `K - n`: it stands behind `o + min(K - n, c - o)` places. So each place holds its own number
//! until the block is full, and entries from there on.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Operator, StatementId, Update, Value, Window};
use sparsec_relation::{Conjunction, Expression, Function, Set, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, binary, entry, inside, plus_one};
use crate::unknown::{ListKey, Unknowns};

impl Synthesis<'_> {
    /// The places of entries in the blocks of their parents.
    pub(crate) fn in_block(
        &mut self,
        element: Variable,
        key: &ListKey,
        (first, n_stored): (&Expression, i64),
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let name = self.destination.map.name(element).to_owned();
        let length = self.destination.lengths(Some(&key.function))?;
        let refuse = || refused(format!("nothing says which block `{name}` is in"));
        let [length] = &length[..] else {
            return Err(refuse());
        };
        let (Some(parent), Some(n_parents)) = (divided(first, n_stored), divided(length, n_stored))
        else {
            return Err(refuse());
        };
        let own = self.key(key)?;
        let parent_key = Key {
            value: parent.clone(),
            extent: n_parents.clone(),
        };
        let keys = [parent_key.clone(), own.clone()];
        let told = self.told_by(&keys);
        if self.adds || !self.is_told_apart(&self.coordinates(), &told)? {
            return Err(
                refused(format!("several entries share a place of `{name}`"))
                    .help("convert to blocks of entries: the last level of the format"),
            );
        }
        self.bound_parent(&parent, &n_parents)?;
        let count_of = self.counted(&name, &parent, &n_parents, n_stored)?;
        self.fill_blocks(&key.function, &n_parents, n_stored)?;
        let ordinal = self.ordinal_in_block(&name, keys, &count_of)?;
        let integer = |n| Box::new(Value::Integer(n));
        let entry = entry(&count_of, &parent);
        use Operator::{Add, Minimum, Subtract};
        let behind = binary(
            Add,
            ordinal,
            Value::Binary(Subtract, integer(n_stored), Box::new(entry)),
        );
        let place = binary(Minimum, behind, self.integer(&own.value));
        let place = binary(Add, self.integer(first), place);
        let array = format!("{}_{name}", self.destination.name);
        self.declare_numbers(&array, length)?;
        self.writes(&count_of, CaseKind::Count);
        let target = (array.clone(), vec![self.entries.place.clone()]);
        self.add(self.space.clone(), target, (Update::Assign, place));
        self.writes(&array, CaseKind::Listed);
        let number = self.number_at_entry(array)?;
        self.keep_keys(std::slice::from_ref(key), &number, unknowns)?;
        Ok(number)
    }

    /// How many entries each block has: not more than it stores.
    fn counted(
        &mut self,
        name: &str,
        parent: &Expression,
        n_parents: &Expression,
        n_stored: i64,
    ) -> Result<String> {
        let count = format!("{}_{name}_count", self.destination.name);
        self.add_array(&count, n_parents.clone());
        self.computation.declarations.declare(Function {
            name: count.clone(),
            domain: below("p", n_parents)?,
            range: below("n", &Expression::Integer(n_stored + 1))?,
            injective: false,
            monotone: None,
        });
        let target = (count.clone(), vec![parent.clone()]);
        let one = (Update::Add, Value::Integer(1));
        self.add(self.space.clone(), target, one);
        Ok(count)
    }

    /// Places hold their numbers in the block.
    fn fill_blocks(&mut self, function: &str, n_parents: &Expression, n_stored: i64) -> Result<()> {
        let [p, s] = [0, 1].map(|at| Expression::Variable(Variable::from_index(at)));
        let mut places = Conjunction::new(["p", "s"], []);
        for (variable, end) in [(&p, n_parents), (&s, &Expression::Integer(n_stored))] {
            places.add(inside(variable, end));
        }
        let block = Expression::Multiply(Box::new(p), Box::new(Expression::Integer(n_stored)));
        let place = Expression::Add(Box::new(block), Box::new(s));
        let value = Value::Variable(Variable::from_index(1));
        let target = (function.to_owned(), vec![place]);
        self.add(Set::new(vec![places])?, target, (Update::Assign, value));
        Ok(())
    }

    /// How many entries of the block come before one.
    fn ordinal_in_block(&mut self, name: &str, keys: [Key; 2], count: &str) -> Result<Value> {
        let [parent, own] = keys;
        let rises = self
            .visits()
            .keys_ascend(StatementId::from_index(0), std::slice::from_ref(&own));
        let both = [parent.clone(), own];
        let is_sorted = rises || self.visits().keys_ascend(StatementId::from_index(0), &both);
        if is_sorted {
            return Ok(Value::Window(Window::Ordinal, vec![parent]));
        }
        let starts = format!("{}_{name}_start", self.destination.name);
        self.add_array(&starts, plus_one(&parent.extent));
        let x = Expression::Variable(Variable::from_index(0));
        let next = binary(Operator::Add, entry(&starts, &x), entry(count, &x));
        let target = (starts.clone(), vec![plus_one(&x)]);
        self.add(below("x", &parent.extent)?, target, (Update::Assign, next));
        let rank = Value::Window(Window::Rank, both.to_vec());
        Ok(binary(
            Operator::Subtract,
            rank,
            entry(&starts, &parent.value),
        ))
    }
}

/// A product divided by a number, if its constant factor is a multiple of the number.
fn divided(product: &Expression, by: i64) -> Option<Expression> {
    let mut factors = vec![product];
    let mut number = 1_i64;
    let mut others: Vec<Expression> = Vec::new();
    while let Some(factor) = factors.pop() {
        match factor {
            Expression::Multiply(a, b) => factors.extend([&**b, &**a]),
            Expression::Integer(n) => number = number.checked_mul(*n)?,
            other => others.push(other.clone()),
        }
    }
    let rest = number.checked_div(by).filter(|rest| rest * by == number)?;
    let times = |a: Expression, b: Expression| Expression::Multiply(Box::new(a), Box::new(b));
    match others.into_iter().reduce(times) {
        None => Some(Expression::Integer(rest)),
        Some(others) if rest == 1 => Some(others),
        Some(others) => Some(times(Expression::Integer(rest), others)),
    }
}
