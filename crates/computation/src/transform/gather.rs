//! Entries of numbered groups, first collected in tables of their keys.
//!
//! Where dense ranks of one key are taken from a table ([`tables`](super::tables)), a statement that takes a
//! minimum or a maximum for each number has to wait for the numbers. For each key it does not:
//!
//! ```text
//! g_keys(k) = 1                              at [t, p, 0]
//! y(x) = c                                   at [u, x]          y_of(x) = c          at [t, x]
//! y(g(p)) min= v                             at [w, p]    ──►   y_of(k) min= v       at [t + 1, p, 1]
//! z(g(p)) = k                                at [w, p, 1]       g_at(x) = g_ranks(x) at [t + 3, x, 0]
//!                                                               y(g_at(x)) = y_of(x) at [t + 3, x, 1]
//!                                                               z(g_at(x)) = x       at [t + 3, x, 2]
//! ```
//!
//! The last three statements are over all `x` with `g_keys(x) = 1`. A sweep over all points is
//! left out, for one over all keys.

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Function, Set, Variable, fresh_name,
};

use super::recompute::{mentions, sweep, times};
use crate::{Access, Computation, DataSpace, Key, Role, Statement, StatementId, Update, Value};

/// The statements that are over keys in place of numbers.
#[derive(Clone, Debug)]
struct ByKey {
    /// The value that is assigned or combined for each number.
    combines: Statement,
    /// The statement that gives all entries one value before.
    begins: Option<Statement>,
}

/// The tables of a rank.
pub(super) struct Tables<'a> {
    pub(super) keys: &'a str,
    pub(super) ranks: &'a str,
    /// When keys are marked, and when their ranks and how many there are are known.
    pub(super) times: [i64; 2],
}

impl Computation {
    /// Has statements that combine values for each dense rank do so for each key.
    pub(super) fn gather(&mut self, ranked: StatementId, key: &Key, tables: &Tables<'_>) {
        let by_key = self.by_key(ranked, key);
        let numbering = self.statement(ranked).clone();
        let target = &numbering.target.space;
        let Some(numbers) = self.declarations.function(target).cloned() else {
            return;
        };
        if by_key.is_empty() {
            return;
        }
        let [marking, known] = tables.times;
        // Room before the marks, and behind the ranks.
        for statement in &mut self.statements {
            if let Some(Expression::Integer(at)) = statement.schedule.first_mut() {
                *at += i64::from(*at >= marking) + i64::from(*at > known);
            }
        }
        let x = Expression::Variable(Variable::from_index(0));
        let all = below(&x, &key.extent, None);
        let one = Expression::Integer(1);
        let of_x = |space: &str| Access {
            space: space.to_owned(),
            indices: vec![x.clone()],
        };
        let marked = Expression::Call(tables.keys.to_owned(), vec![x.clone()]);
        let marked = Constraint::new(marked, Comparison::Equal, one);
        let is_there = below(&x, &key.extent, Some(marked));
        let truth = below(&x, &Expression::Integer(2), None);
        let marks = plain(tables.keys.to_owned(), (all.clone(), truth));
        self.declarations.declare(marks);
        let at = self.fresh(&format!("{target}_at"));
        let at_x = plain(at.clone(), (all.clone(), numbers.range));
        self.declarations.declare(at_x);
        self.add_table(&at, key, ElementType::I64);
        let place = |place: usize| Expression::Integer(i64::try_from(place).expect("few"));
        let behind = |at: usize| vec![Expression::Integer(known + 2), x.clone(), place(at)];
        let mut gathered = vec![Statement {
            name: self.fresh_statement(&format!("{}_at", numbering.name)),
            space: is_there.clone(),
            schedule: behind(0),
            target: of_x(&at),
            update: Update::Assign,
            value: Value::Entry(of_x(tables.ranks)),
        }];
        let number = Expression::Call(at, vec![x.clone()]);
        for (which, ByKey { combines, begins }) in by_key.into_iter().enumerate() {
            let space = combines.target.space.clone();
            let id = self.find(&combines.name).expect("it was found");
            let at_number = Access {
                space: space.clone(),
                indices: vec![number.clone()],
            };
            if combines.update == Update::Assign {
                self.statements[id.index()] = Statement {
                    space: is_there.clone(),
                    schedule: behind(which + 1),
                    target: at_number,
                    value: Value::Variable(Variable::from_index(0)),
                    ..combines
                };
                continue;
            }
            let element = self.space(&space).expect("it is written").element;
            let table = self.fresh(&format!("{space}_of"));
            self.add_table(&table, key, element);
            let statement = &mut self.statements[id.index()];
            statement.target = Access {
                space: table.clone(),
                indices: vec![key.value.clone()],
            };
            statement.schedule[0] = Expression::Integer(marking + 1);
            if let Some(last) = statement.schedule.last_mut() {
                *last = place(which + 1);
            }
            if let Some(begins) = begins {
                let id = self.find(&begins.name).expect("it was found");
                let statement = &mut self.statements[id.index()];
                statement.space = all.clone();
                statement.schedule = vec![Expression::Integer(marking), x.clone(), place(which)];
                statement.target = of_x(&table);
            }
            gathered.push(Statement {
                name: self.fresh_statement(&format!("{}_at", combines.name)),
                space: is_there.clone(),
                schedule: behind(which + 1),
                target: at_number,
                update: Update::Assign,
                value: Value::Entry(of_x(&table)),
            });
        }
        self.statements.extend(gathered);
        // In the text, sweeps stand one behind the other.
        self.statements
            .sort_by_key(|it| (sweep(it), place_at_point(it)));
    }

    fn by_key(&self, ranked: StatementId, key: &Key) -> Vec<ByKey> {
        let found = self.ids().filter_map(|id| {
            let combines = self.statement(id);
            let begins = self.is_by_key(id, ranked, key)?;
            let combines = combines.clone();
            Some(ByKey { combines, begins })
        });
        found.collect()
    }

    /// Whether a statement can be over keys, and the one that begins its entries.
    fn is_by_key(
        &self,
        id: StatementId,
        ranked: StatementId,
        key: &Key,
    ) -> Option<Option<Statement>> {
        let (statement, numbering) = (self.statement(id), self.statement(ranked));
        let (name, number) = (&statement.target.space, &numbering.target);
        let call = Expression::Call(number.space.clone(), number.indices.clone());
        let space = self.space(name)?;
        let now = sweep(statement)?;
        let value = statement.value.to_expression()?;
        let mut is_given = statement.value.entries().is_empty();
        value.visit(&mut |e| is_given &= !matches!(e, Expression::Call(..)));
        let combines = match statement.update {
            Update::Minimum | Update::Maximum => space.is_index_array(),
            Update::Assign => value == key.value,
            Update::Add | Update::Multiply => false,
        };
        let same_time = match (times(statement)?, times(numbering)?) {
            ([_, one @ ..], [_, other @ ..]) => one == other,
            _ => false,
        };
        let fits = id != ranked
            && combines
            && is_given
            && same_time
            && statement.target.indices == [call]
            && statement.space == numbering.space;
        if !fits {
            return None;
        }
        let mut begins = self.writers(name).filter(|writer| *writer != id);
        let (first, second) = (begins.next(), begins.next());
        let is_sized = |other: &DataSpace| {
            let mut extents = other.extents.iter();
            extents.any(|extent| mentions(extent, name))
        };
        let mut others = self
            .ids()
            .filter(|other| *other != id && Some(*other) != first);
        let is_later = others.all(|other| {
            let user = self.statement(other);
            let reads = user.value.entries();
            let reads = reads.iter().any(|access| access.space == *name);
            let touches = reads || user.target.space == *name || self.follows(other, name);
            !touches || sweep(user).is_some_and(|time| time > now)
        });
        if second.is_some() || !is_later || self.spaces.iter().any(is_sized) {
            return None;
        }
        let Some(first) = first.map(|first| self.statement(first)) else {
            return Some(None);
        };
        let mut variables = first.variables();
        let x = Expression::Variable(variables.next()?);
        let is_constant = |value: &Value| {
            let e = value.to_expression().filter(|_| value.entries().is_empty());
            matches!(e, Some(Expression::Constant(_) | Expression::Integer(_)))
        };
        let covers = first.space.as_box().is_some_and(|sides| {
            let whole = (Expression::Integer(0), space.extents[0].clone());
            sides == [whole] && variables.next().is_none()
        });
        let is_beginning = first.update == Update::Assign
            && first.target.indices == [x]
            && covers
            && is_constant(&first.value)
            && sweep(first).is_some_and(|time| time < now)
            && statement.update != Update::Assign;
        is_beginning.then(|| Some(first.clone()))
    }

    fn add_table(&mut self, name: &str, key: &Key, element: ElementType) {
        self.spaces.push(DataSpace {
            name: name.to_owned(),
            element,
            extents: vec![key.extent.clone()],
            role: Role::Temporary,
        });
    }

    fn fresh_statement(&self, name: &str) -> String {
        fresh_name(name, |it| self.find(it).is_some())
    }
}

/// The number with which a schedule ends.
fn place_at_point(statement: &Statement) -> Option<i64> {
    match statement.schedule.last() {
        Some(Expression::Integer(place)) => Some(*place),
        _ => None,
    }
}

/// A function of which nothing is said but where it has values.
fn plain(name: String, (domain, range): (Set, Set)) -> Function {
    Function {
        name,
        domain,
        range,
        injective: false,
        monotone: None,
    }
}

/// `{[x] : 0 <= x < extent && …}`
fn below(x: &Expression, extent: &Expression, also: Option<Constraint>) -> Set {
    let mut all = Conjunction::new(["x"], []);
    all.add(Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, x.clone()),
            (Comparison::Less, extent.clone()),
        ],
    });
    also.into_iter().for_each(|constraint| all.add(constraint));
    Set::new(vec![all]).expect("one variable")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "computation columns {
  parameters M, N, NZ
  function row : {[p] : 0 <= p < NZ} -> {[i] : 0 <= i < M}
  function col : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < N}
  function g : {[p] : 0 <= p < NZ} -> {[r] : 0 <= r < n}
  given row : i32[NZ], col : i32[NZ]
  temporary n : i64, g : i64[NZ]
  out crd : i64[n], first : i64[n]
  s0: g(p) = dense_rank(j of N) over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j} at [0, p, i, j, 0]
  s1: n max= g(p) + 1 over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j} at [0, p, i, j, 1]
  s2: first(x) = M over {[x] : 0 <= x < n} at [1, x, 0]
  s3: crd(g(p)) = j over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j} at [2, p, i, j, 0]
  s4: first(g(p)) min= i over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j} at [2, p, i, j, 1]
}";

    fn tabulated(text: &str) -> String {
        let parsed: sparsec_base::Result<Computation> = text.parse();
        let mut columns = parsed.unwrap_or_else(|e| panic!("{e}"));
        columns.tabulate_ranks(&|_| true);
        let columns = columns.checked().unwrap_or_else(|e| panic!("{e}"));
        columns.to_string()
    }

    #[test]
    fn minima_of_numbers_are_taken_for_keys() {
        let text = tabulated(COLUMNS);
        for statement in [
            "s2: first_of(x) = M",
            "s4: first_of(j) min= i",
            "s0_at: g_at(x) = g_ranks(x)",
            "s3: crd(g_at(x)) = x",
            "s4_at: first(g_at(x)) = first_of(x)",
            "over {[x] : 0 <= x < N && g_keys(x) = 1}",
        ] {
            assert!(text.contains(statement), "{statement} in {text}");
        }
    }

    #[test]
    fn what_is_read_before_the_last_point_stays_a_sweep_over_points() {
        let read = "  s5: first(g(p)) min= row(g(p)) over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j && g(p) < NZ} at [2, p, i, j, 2]\n}";
        let text = tabulated(&COLUMNS.replace("1]\n}", &format!("1]\n{read}")));
        assert!(text.contains("s4: first(g(p)) min= i"), "{text}");
        assert!(text.contains("s3: crd(g_at(x)) = x"), "{text}");
    }
}
