//! The statements of a list: those that fill it, and those that go along it.

use std::cell::RefCell;

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Function, Monotone, Rewrite, Set, Variable,
    fresh_name,
};

use super::Listing;
use crate::computation::{Computation, DataSpace, Role, Statement, StatementId};
use crate::value::{Access, Key, Operator, Update, Value, Window};

impl Computation {
    /// Lists the points, and finds numbers along the list.
    pub(super) fn relist(&mut self, listing: &Listing, is_small: &dyn Fn(&Expression) -> bool) {
        let mut ranking = match listing.rank {
            Some(id) => self.statement(id).clone(),
            None => self.added_rank(listing),
        };
        let rank = Expression::Call(ranking.target.space.clone(), ranking.target.indices.clone());
        let columns = Columns {
            listing,
            rank: &rank,
            values: RefCell::new(listing.order.iter().map(|key| key.value.clone()).collect()),
            entries: RefCell::default(),
        };
        let moved = listing.moved.iter().map(|id| {
            let statement = self.statement(*id);
            let value = statement.value.with_leaves(&mut |leaf| columns.leaf(leaf));
            let target = match listing.numbers.contains(&statement.target.space) {
                true => Access {
                    indices: vec![n()],
                    ..statement.target.clone()
                },
                false => statement.target.rewritten(&columns),
            };
            (*id, target, value)
        });
        let moved: Vec<_> = moved.collect();
        let (values, entries) = (columns.values.into_inner(), columns.entries.into_inner());
        let lists = self.declare_lists(listing, &ranking.target.space, &values, &entries);
        let space = self.list_space(listing, &values, &lists);
        for (id, target, value) in moved {
            let statement = &mut self.statements[id.index()];
            statement.space = space.clone();
            statement.target = target;
            statement.value = value.with_entries(&mut |access| {
                let listed = entries.iter().position(|it| it == access);
                match listed {
                    Some(at) => Access {
                        space: lists[values.len() + at].clone(),
                        indices: vec![n()],
                    },
                    None => access.clone(),
                }
            });
        }
        let of_values = values
            .iter()
            .map(|e| Value::of_expression(e, &self.declarations));
        let of_entries = entries.iter().map(|access| Value::Entry(access.clone()));
        let stores = lists.iter().zip(of_values.chain(of_entries));
        let stores = stores.map(|(list, value)| Statement {
            name: self.fresh(&format!("{}_{list}", ranking.name)),
            space: listing.space.clone(),
            schedule: Vec::new(),
            target: Access {
                space: list.clone(),
                indices: vec![rank.clone()],
            },
            update: Update::Assign,
            value,
        });
        let stores: Vec<Statement> = stores.collect();
        let counts = match &listing.ranked[..] {
            [key] if is_small(&key.extent) => self.count_groups(&mut ranking, key, listing),
            _ => Vec::new(),
        };
        let early = listing.counts.iter().map(|id| self.statement(*id).clone());
        let listed = early.chain(counts).chain([ranking]).chain(stores);
        let listed: Vec<Statement> = listed.collect();
        let is_early = |id: StatementId| listing.counts.contains(&id) || listing.rank == Some(id);
        let old = std::mem::take(&mut self.statements).into_iter().enumerate();
        let old = old.map(|(at, statement)| (StatementId::from_index(at), statement));
        let old = old.filter(|(id, _)| !is_early(*id));
        let (before, after): (Vec<_>, Vec<_>) = old.partition(|(id, _)| *id < listing.first);
        let [before, after] = [before, after].map(|part| part.into_iter().map(|(_, it)| it));
        self.statements = before.chain(listed).chain(after).collect();
        for (time, statement) in (0..).zip(&mut self.statements) {
            let tuple = statement.variables().map(Expression::Variable);
            statement.schedule = [Expression::Integer(time)]
                .into_iter()
                .chain(tuple)
                .collect();
        }
    }

    /// A statement that ranks points which have no rank yet.
    fn added_rank(&mut self, listing: &Listing) -> Statement {
        let like = listing.numbers.iter().next().expect("there are numbers");
        let array = self.fresh(&format!("{like}_rank"));
        let (extent, above) = (listing.n_places.clone(), listing.n_places.clone());
        self.add_numbers(array.clone(), (extent, above), None);
        Statement {
            name: self.fresh(&array),
            space: listing.space.clone(),
            schedule: Vec::new(),
            target: Access {
                space: array,
                indices: vec![listing.place.clone()],
            },
            update: Update::Assign,
            value: Value::Window(Window::Rank, listing.ranked.clone()),
        }
    }

    /// A temporary array of an extent, with numbers from 0 up to one.
    fn add_numbers(
        &mut self,
        name: String,
        (extent, above): (Expression, Expression),
        monotone: Option<Monotone>,
    ) {
        self.declarations.declare(Function {
            name: name.clone(),
            domain: below("p", &extent),
            range: below("q", &above),
            injective: false,
            monotone,
        });
        self.spaces.push(DataSpace {
            name,
            element: ElementType::I64,
            extents: vec![extent],
            role: Role::Temporary,
        });
    }

    /// Takes a rank by one key from the places at which its groups begin; the statements that find
    /// these.
    fn count_groups(
        &mut self,
        ranking: &mut Statement,
        key: &Key,
        listing: &Listing,
    ) -> Vec<Statement> {
        let starts = self.fresh(&format!("{}_starts", ranking.target.space));
        let behind = |e: &Expression| {
            let one = Box::new(Expression::Integer(1));
            Expression::Add(Box::new(e.clone()), one)
        };
        let numbers = (behind(&key.extent), behind(&listing.end));
        self.add_numbers(starts.clone(), numbers, Some(Monotone::Nondecreasing));
        let at = |e: Expression| Access {
            space: starts.clone(),
            indices: vec![e],
        };
        let x = Expression::Variable(Variable::from_index(0));
        let counts = Statement {
            name: self.fresh(&format!("{}_counts", ranking.name)),
            target: at(behind(&key.value)),
            update: Update::Add,
            value: Value::Integer(1),
            ..ranking.clone()
        };
        let sums = Statement {
            name: self.fresh(&format!("{}_starts", ranking.name)),
            space: below("x", &key.extent),
            schedule: Vec::new(),
            target: at(behind(&x)),
            update: Update::Add,
            value: Value::Entry(at(x)),
        };
        let start = Box::new(Value::Entry(at(key.value.clone())));
        let ordinal = Box::new(Value::Window(Window::Ordinal, vec![key.clone()]));
        ranking.value = Value::Binary(Operator::Add, start, ordinal);
        vec![counts, sums]
    }

    /// Declares an array for each value and for each entry, and the order of those that hold keys.
    fn declare_lists(
        &mut self,
        listing: &Listing,
        rank: &str,
        values: &[Expression],
        entries: &[Access],
    ) -> Vec<String> {
        let part = &listing.space.parts()[0];
        let of_values = values.iter().map(|e| match e {
            Expression::Variable(v) => (part.name(*v), self.element_of(*v, listing)),
            _ => ("key", ElementType::I64),
        });
        let of_entries = entries.iter().map(|access| {
            let space = self.space(&access.space).expect("it is read");
            (&*access.space, space.element)
        });
        let wanted: Vec<(String, ElementType)> = of_values
            .chain(of_entries)
            .map(|(word, element)| (format!("{rank}_{word}"), element))
            .collect();
        let mut lists = Vec::new();
        for (number, (name, element)) in wanted.into_iter().enumerate() {
            let name = self.fresh(&name);
            if let Some(key) = listing.order.get(number) {
                self.declarations.declare(Function {
                    name: name.clone(),
                    domain: below("n", &listing.end),
                    range: below("k", &key.extent),
                    injective: false,
                    monotone: None,
                });
            }
            self.spaces.push(DataSpace {
                name: name.clone(),
                element,
                extents: vec![listing.end.clone()],
                role: Role::Temporary,
            });
            lists.push(name);
        }
        let mut pairs = Conjunction::new(["n", "m"], []);
        let [n, m] = [0, 1].map(|at| Expression::Variable(Variable::from_index(at)));
        pairs.add(Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, n.clone()),
                (Comparison::Less, m.clone()),
                (Comparison::Less, listing.end.clone()),
            ],
        });
        let keys = |at: &Expression| {
            let keys = lists[..listing.order.len()].iter();
            let keys = keys.map(|name| Expression::Call(name.clone(), vec![at.clone()]));
            Expression::Call("LEX".to_owned(), keys.collect())
        };
        let rises = Constraint::new(keys(&n), Comparison::LessEqual, keys(&m));
        self.declarations.forall(pairs, vec![rises]);
        lists
    }

    /// The type of an array that is assigned a variable of the points.
    fn element_of(&self, variable: Variable, listing: &Listing) -> ElementType {
        let mut users = self.statements.iter().filter(|it| {
            let assigns = it.update == Update::Assign && it.value == Value::Variable(variable);
            assigns && it.space == listing.space
        });
        let array = users.find_map(|it| self.space(&it.target.space));
        array.map_or(ElementType::I64, |space| space.element)
    }

    /// `{[n, k, i] : 0 <= n < NZ && r_k(n) = k && r_i(n) = i}`
    fn list_space(&self, listing: &Listing, values: &[Expression], lists: &[String]) -> Set {
        let part = &listing.space.parts()[0];
        let mut names = vec![self.fresh("n")];
        for e in values {
            let name = match e {
                Expression::Variable(v) => part.name(*v),
                _ => "key",
            };
            let name = fresh_name(name, |it| names.iter().any(|name| name == it));
            names.push(name);
        }
        let mut points = Conjunction::new(names, []);
        points.add(inside(&n(), &listing.end));
        for (at, list) in (0..values.len()).zip(lists) {
            let entry = Expression::Call(list.clone(), vec![n()]);
            points.add(entry.equals(Expression::Variable(Variable::from_index(at + 1))));
        }
        Set::new(vec![points]).expect("one tuple")
    }
}

/// What statements along a list read of it, as they ask for it.
struct Columns<'a> {
    listing: &'a Listing,
    rank: &'a Expression,
    /// Each is a variable of the points of the list, behind the place.
    values: RefCell<Vec<Expression>>,
    entries: RefCell<Vec<Access>>,
}

impl Columns<'_> {
    fn leaf(&self, leaf: &Value) -> Value {
        match leaf {
            Value::Variable(v) => match self.variable(*v) {
                Expression::Variable(v) => Value::Variable(v),
                _ => unreachable!("values of a list are variables"),
            },
            Value::Entry(access) => {
                let call = Expression::Call(access.space.clone(), access.indices.clone());
                match self.whole(&call) {
                    Some(Expression::Variable(place)) => Value::Variable(place),
                    Some(Expression::Call(space, indices)) => {
                        Value::Entry(Access { space, indices })
                    }
                    Some(_) => unreachable!("numbers of points are entries"),
                    None if access.indices.is_empty() => leaf.clone(),
                    None => {
                        let mut entries = self.entries.borrow_mut();
                        if !entries.contains(access) {
                            entries.push(access.clone());
                        }
                        leaf.clone()
                    }
                }
            }
            Value::Window(window, keys) => {
                let keys = keys.iter().map(|key| key.rewritten(self));
                Value::Window(*window, keys.collect())
            }
            Value::Curve(name, coordinates) => {
                let coordinates = coordinates.iter().map(|e| e.rewritten(self));
                Value::Curve(name.clone(), coordinates.collect())
            }
            other => other.clone(),
        }
    }

    /// The variable that is a value at a point of the list.
    fn value(&self, e: &Expression) -> Expression {
        let mut values = self.values.borrow_mut();
        let at = values.iter().position(|known| known == e);
        let at = at.unwrap_or_else(|| {
            values.push(e.clone());
            values.len() - 1
        });
        Expression::Variable(Variable::from_index(at + 1))
    }
}

impl Rewrite for Columns<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        if e == self.rank {
            return Some(n());
        }
        if self.listing.order.iter().any(|key| key.value == *e) {
            return Some(self.value(e));
        }
        match e {
            // A number of the point at hand.
            Expression::Call(name, _) if self.listing.numbers.contains(name) => {
                Some(Expression::Call(name.clone(), vec![n()]))
            }
            _ => None,
        }
    }

    fn variable(&self, variable: Variable) -> Expression {
        self.value(&Expression::Variable(variable))
    }
}

/// The place of a point in the list.
fn n() -> Expression {
    Expression::Variable(Variable::from_index(0))
}

/// `{[x] : 0 <= x < extent}`
fn below(name: &str, extent: &Expression) -> Set {
    let mut all = Conjunction::new([name], []);
    all.add(inside(&n(), extent));
    Set::new(vec![all]).expect("one variable")
}

/// `0 <= e < end`
fn inside(e: &Expression, end: &Expression) -> Constraint {
    Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, e.clone()),
            (Comparison::Less, end.clone()),
        ],
    }
}
