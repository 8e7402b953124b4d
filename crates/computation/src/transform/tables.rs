//! Dense ranks of one key from a table of the keys that there are.
//!
//! ```text
//! s: g(p) = dense_rank(k of K)   at [t, p, 0]
//!
//! g_keys(k) = 1                  at [t, p, 0]       a mark for each key that there is
//! g_ranks(x) = ordinal()         at [t + 1, x, 0]   over all x with g_keys(x) = 1
//! n max= g_ranks(x) + 1          at [t + 1, x, 1]   was `n max= g(p) + 1` over the points
//! s: g(p) = g_ranks(k)           at [t + 2, p, 0]   statements from t on move here
//! ```
//!
//! No point is sorted, and the rank of a point is found again by one load. The tables are as long as the
//! key's extent, so whoever asks says which extents are small. Entries of keys that no point has are
//! neither written nor read: most pages of a table of a few keys are never touched. Values that are
//! combined for each number are combined for each key (`gather`).

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Set, Variable, fresh_name,
};

use super::gather::Tables;
use crate::computation::{Computation, DataSpace, Role, Statement, StatementId};
use crate::value::{Access, Key, Operator, Update, Value, Window};

impl Computation {
    /// Takes dense ranks of one key that does not ascend from tables, where `is_small` holds
    /// of its extent.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut columns: Computation = "computation columns {
    ///   parameters N, NZ
    ///   function col : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < N}
    ///   given col : i32[NZ]
    ///   out y : i64[NZ]
    ///   s0: y(p) = dense_rank(j of N) over {[p, j] : 0 <= p < NZ && col(p) = j} at [0, p, j, 0]
    /// }".parse()?;
    /// columns.tabulate_ranks(&|_| true);
    /// assert!(columns.to_string().contains("s0: y(p) = y_ranks(j)"), "{columns}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn tabulate_ranks(&mut self, is_small: &dyn Fn(&Expression) -> bool) {
        let names: Vec<String> = self.statements.iter().map(|it| it.name.clone()).collect();
        for name in names {
            let id = self.find(&name).expect("statements keep their names");
            if let Some(key) = self.ranked_by(id, is_small) {
                self.tabulate(id, &key);
            }
        }
    }

    /// The key of a dense rank that is taken from a table.
    fn ranked_by(&self, id: StatementId, is_small: &dyn Fn(&Expression) -> bool) -> Option<Key> {
        let statement = self.statement(id);
        let Value::Window(Window::DenseRank, keys) = &statement.value else {
            return None;
        };
        let [key] = &keys[..] else { return None };
        let timed = self
            .statements
            .iter()
            .all(|statement| matches!(statement.schedule.first(), Some(Expression::Integer(_))));
        let wanted = timed && is_small(&key.extent) && !self.keys_ascend(id, keys);
        wanted.then(|| key.clone())
    }

    fn tabulate(&mut self, id: StatementId, key: &Key) {
        let target = self.statement(id).target.space.clone();
        let taken = |it: &str| {
            self.space(it).is_some()
                || self.declarations.function(it).is_some()
                || self.parameters.iter().any(|name| name == it)
        };
        let [keys, ranks] =
            ["keys", "ranks"].map(|word| fresh_name(&format!("{target}_{word}"), taken));
        let Some(Expression::Integer(time)) = self.statement(id).schedule.first().cloned() else {
            return;
        };
        for (name, element) in [(&keys, ElementType::U8), (&ranks, ElementType::I64)] {
            self.spaces.push(DataSpace {
                name: name.clone(),
                element,
                extents: vec![key.extent.clone()],
                role: Role::Temporary,
            });
        }
        for statement in &mut self.statements {
            if let Some(Expression::Integer(at)) = statement.schedule.first_mut()
                && *at >= time
            {
                *at += 2;
            }
        }
        let x = Expression::Variable(Variable::from_index(0));
        let mut there = Conjunction::new(["x"], []);
        there.add(Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, x.clone()),
                (Comparison::Less, key.extent.clone()),
            ],
        });
        let mark_of = Expression::Call(keys.clone(), vec![x.clone()]);
        let one = Expression::Integer(1);
        there.add(Constraint::new(mark_of, Comparison::Equal, one));
        let there = Set::new(vec![there]).expect("one variable");
        let rank = Access {
            space: ranks.clone(),
            indices: vec![x.clone()],
        };
        let times = vec![Expression::Integer(time + 1), x, Expression::Integer(0)];
        self.count_by_table(id, &rank, (&there, &times));
        let ranked = &mut self.statements[id.index()];
        ranked.value = Value::Entry(Access {
            space: ranks.clone(),
            indices: vec![key.value.clone()],
        });
        let ranked = ranked.clone();
        let mut mark = Statement {
            target: Access {
                space: keys.clone(),
                indices: vec![key.value.clone()],
            },
            value: Value::Integer(1),
            name: fresh_name(&format!("{}_keys", ranked.name), |it| {
                self.find(it).is_some()
            }),
            ..ranked.clone()
        };
        mark.schedule[0] = Expression::Integer(time);
        let number = Statement {
            name: fresh_name(&format!("{}_ranks", ranked.name), |it| {
                self.find(it).is_some()
            }),
            space: there,
            schedule: times,
            target: rank,
            update: Update::Assign,
            value: Value::Window(Window::Ordinal, Vec::new()),
        };
        self.statements
            .splice(id.index()..id.index(), [mark, number]);
        let ranked = self.find(&ranked.name).expect("it was just there");
        let tables = Tables {
            keys: &keys,
            ranks: &ranks,
            times: [time, time + 1],
        };
        self.gather(ranked, key, &tables);
    }

    /// Takes how many ranks there are from those of the table, where a maximum over all points of the
    /// statement that ranks them says it.
    fn count_by_table(
        &mut self,
        id: StatementId,
        rank: &Access,
        (there, times): (&Set, &[Expression]),
    ) {
        let ranked = self.statement(id).clone();
        let next = |rank: &Access| {
            Value::Binary(
                Operator::Add,
                Box::new(Value::Entry(rank.clone())),
                Box::new(Value::Integer(1)),
            )
        };
        let of_points = next(&ranked.target);
        let is_count = |statement: &Statement| {
            let is_one_entry = || {
                let mut has_variable = false;
                for index in &statement.target.indices {
                    index.visit(&mut |e| has_variable |= matches!(e, Expression::Variable(_)));
                }
                !has_variable
            };
            statement.update == Update::Maximum
                && statement.value == of_points
                && statement.space == ranked.space
                && is_one_entry()
        };
        let counts = self.statements.iter_mut().filter(|it| is_count(it));
        for (place, statement) in (1..).zip(counts) {
            statement.space = there.clone();
            statement.schedule = times.to_vec();
            if let Some(last) = statement.schedule.last_mut() {
                *last = Expression::Integer(place);
            }
            statement.value = next(rank);
        }
    }
}
