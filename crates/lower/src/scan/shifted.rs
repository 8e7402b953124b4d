//! Starts of segments that move to the ends while points are numbered.
//!
//! Counts are added up so that each entry says where its segment begins, one place behind. Numbers
//! are taken from there, and after the last point each entry is the end of its segment, which is
//! where the next one begins: the numbers need no copy of the starts.
//!
//! ```text
//! s0: f(key + 1) += 1                  for q … { f[key + 1] += 1 }
//! s1: f(x + 1) += f(x)                 for x in 0..N { let n = f[x + 1]; f[x + 1] = sum; sum += n }
//! s2: g(q) = f(key) + ordinal(key)     for q … { g = f[key + 1]++ }
//! ```
//!
//! In between, nothing reads `f` but its first entry, which is 0, and its last one, which is the
//! number of points.

use sparsec_base::ElementType;
use sparsec_computation::{Key, Operator, Statement, Value, Window};
use sparsec_loop::{Expr, Var};
use sparsec_relation::{Expression, Monotone};

use super::emit::{Emitter, Point};
use super::filled::{Sums, sums};
use super::kept::touches;
use super::shares::Table;

impl Emitter<'_> {
    /// How data count points, if the starts that they are added up to can be taken for the numbers
    /// of a statement.
    fn shift(&self, name: &str) -> Option<Sums<'_>> {
        let sums = sums(self.whole, name).filter(|_| self.grain.is_none() && self.may_shift)?;
        let mut statements = self.whole.statements.iter();
        let mut numbering = statements.by_ref().filter(|statement| {
            let is_own = self
                .whole
                .writers(name)
                .any(|id| std::ptr::eq(self.whole.statement(id), *statement));
            touches(statement, name) && !is_own
        });
        let (Some(only), None) = (numbering.next(), numbering.next()) else {
            return None;
        };
        let (start, key) = numbers_from(only)?;
        // A stage finds how it numbers points before it adds up counts.
        let mut here = self.computation.statements.iter();
        let is_later = here.all(|statement| statement.name != only.name);
        let is_same = is_later
            && start == name
            && key.value == *sums.key
            && key.extent == sums.n_keys
            && only.space == sums.count.space;
        let function = self.whole.declarations.function(name)?;
        let rises = matches!(function.monotone, None | Some(Monotone::Nondecreasing));
        let range = function.range.as_box();
        let is_from_zero = matches!(range.as_deref(), Some([(Expression::Integer(0), _)]));
        let buffer = self.arrays.spaces[name];
        let is_loaded = self.builder.function().buffers[buffer].compute == ElementType::I64;
        (is_same && rises && is_from_zero && is_loaded).then_some(sums)
    }

    /// The starts that the numbers of a statement are taken from.
    pub(super) fn shifted_starts(&self, statement: &Statement) -> Option<Table> {
        let (start, _) = numbers_from(statement)?;
        self.arrays.totals_of_shifted.contains_key(start).then(|| {
            let starts = Table::of_all(self.arrays.spaces[start]);
            starts.behind()
        })
    }

    /// Begins the sums of data whose starts are shifted: those that this stage adds up, and whose
    /// sum is known.
    pub(super) fn begin_shifted(&mut self) {
        let mut names = Vec::new();
        for (name, total) in &self.totals {
            if self.shift(name).is_some() {
                names.push((name.clone(), *total));
            }
        }
        for (name, total) in names {
            let sum = self.builder.var_("sum", 0);
            self.sums.insert(name.clone(), sum);
            self.arrays.totals_of_shifted.insert(name, total);
        }
    }

    /// Adds up a count to a shifted start, if this is what the statement does.
    pub(super) fn is_shifted(&mut self, number: usize, tuple: &[Expression]) -> bool {
        let statement = &self.computation.statements[number];
        let target = &statement.target;
        let Some(&sum) = self.sums.get(&target.space) else {
            return false;
        };
        if !matches!(statement.value, Value::Entry(_)) {
            return false;
        }
        let target = target.rewritten(&Point(tuple));
        let buffer = self.arrays.spaces[&target.space];
        let at = self.index(&target.space, &target.indices);
        let at = self.builder.let_("at", at);
        let n = self.builder.let_("n", Expr::load(buffer, at));
        self.builder.store(buffer, at, sum);
        self.builder.assign(sum, Expr::Var(sum).add(n));
        true
    }

    /// The entry of shifted data, which only the first and the last one have.
    pub(super) fn entry_of_shifted(
        &mut self,
        name: &str,
        arguments: &[Expression],
    ) -> Option<Expr> {
        let total: Var = *self.arrays.totals_of_shifted.get(name)?;
        let sums = sums(self.whole, name).expect("its counts are added up");
        match arguments {
            [Expression::Integer(0)] => Some(Expr::int(0)),
            [at] if *at == sums.n_keys => Some(total.into()),
            _ => {
                self.missed = true;
                None
            }
        }
    }
}

/// The array `f` and the key of `f(key) + ordinal(key)`.
fn numbers_from(statement: &Statement) -> Option<(&str, &Key)> {
    let Value::Binary(Operator::Add, start, ordinal) = &statement.value else {
        return None;
    };
    match (&**start, &**ordinal) {
        (Value::Entry(start), Value::Window(Window::Ordinal, keys)) => match &keys[..] {
            [key] if start.indices == [key.value.clone()] => Some((&start.space, key)),
            _ => None,
        },
        _ => None,
    }
}
