//! Dense ranks along a list that is in the order of ranks.
//!
//! A tree of coordinates numbers its nodes level by level: each level by one key more. Found apart, each
//! of these numbers takes a sort of all points. One sort is enough if points are listed in its order:
//!
//! ```text
//! g(p) = dense_rank(k of K, i of N)      over {[p, i, j, k] : …}
//! crd(g(p)) = i
//! r(p) = rank(k of K, i of N, j of M)
//! pos(g(p) + 1) max= r(p) + 1
//! y(r(p)) = A(p)
//!     ──►
//! r(p) = rank(k of K, i of N, j of M)    over {[p, i, j, k] : …}
//! r_k(r(p)) = k
//! r_i(r(p)) = i
//! y(r(p)) = A(p)
//! g(n) = dense_rank(k of K, i of N)      over {[n, k, i] : 0 <= n < NZ && r_k(n) = k && r_i(n) = i}
//! crd(g(n)) = i
//! pos(g(n) + 1) max= n + 1
//! forall n, m : 0 <= n < m < NZ => LEX(r_k(n), r_i(n)) <= LEX(r_k(m), r_i(m))
//! ```
//!
//! The declared order makes `g` a count of changes. Statements that speak of such a number move to
//! the list; those that speak of `r` alone stay. If no statement has a rank of all points, one is
//! added. Ranks are stable, so keys by which points ascend already are left out, and sums have
//! their terms in the order in which they had them. A rank by one key of small extent is the place where
//! its group begins and the ordinal in it.

use std::collections::BTreeSet;

use sparsec_relation::{Conjunction, Constraint, Expression, Set};

use super::recompute::sweep;
use crate::computation::{Computation, Role, Statement, StatementId};
use crate::segments::places;
use crate::value::{Access, Key, Update, Value, Window};

mod relist;

/// Which numbers of points are found along a list.
struct Listing {
    /// The points.
    space: Set,
    /// The place of a point, of which there are `n_places`; their ranks are below `end`, which
    /// is as many.
    place: Expression,
    n_places: Expression,
    end: Expression,
    /// The statement that ranks the points, if there is one.
    rank: Option<StatementId>,
    /// The keys by which points are ranked, and those by which the list is in order.
    ranked: Vec<Key>,
    order: Vec<Key>,
    /// The arrays of dense ranks.
    numbers: BTreeSet<String>,
    /// The statements that move to the list.
    moved: Vec<StatementId>,
    /// Where the list is made, and the statements that assign `end` before it.
    first: StatementId,
    counts: Vec<StatementId>,
}

impl Computation {
    /// Lists points in the order of their ranks, where that saves sorts for dense ranks by several
    /// keys. Ranks by one key are found without a sort if `is_small` holds of its extent. Each
    /// statement gets a sweep of its own, in the order of the text.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut tree: Computation = "computation tree {
    ///   parameters N, M, NZ
    ///   function row : {[p] : 0 <= p < NZ} -> {[i] : 0 <= i < N}
    ///   function col : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
    ///   function r : {[p] : 0 <= p < NZ} -> {[q] : 0 <= q < NZ}
    ///   given row : i32[NZ], col : i32[NZ]
    ///   temporary g : i64[NZ], r : i64[NZ]
    ///   out crd : i32[NZ], end : i64[NZ + 1]
    ///   s0: g(p) = dense_rank(j of M, i of N) over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j}
    ///   s1: crd(g(p)) = i over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j}
    ///   s2: r(p) = rank(j of M, i of N) over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j}
    ///   s3: end(g(p) + 1) max= r(p) + 1 over {[p, i, j] : 0 <= p < NZ && row(p) = i && col(p) = j}
    /// }".parse()?;
    /// tree.list_by_rank(&|_| true);
    /// let text = tree.checked()?.to_string();
    /// assert!(text.contains("s3: end(g(n) + 1) max= n + 1"), "{text}");
    /// assert!(text.contains("over {[n, j, i] : 0 <= n < NZ && r_j(n) = j && r_i(n) = i}"), "{text}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn list_by_rank(&mut self, is_small: &dyn Fn(&Expression) -> bool) {
        let times: Vec<Option<i64>> = self.statements.iter().map(sweep).collect();
        let is_in_order = times.iter().all(Option::is_some) && times.is_sorted();
        if self.statements.len() > 1 && !is_in_order && times.iter().any(Option::is_some) {
            return;
        }
        let mut spaces: Vec<Set> = Vec::new();
        for statement in &self.statements {
            if !spaces.contains(&statement.space) {
                spaces.push(statement.space.clone());
            }
        }
        for space in spaces {
            if let Some(listing) = self.listing(&space) {
                self.relist(&listing, is_small);
            }
        }
    }

    /// What is found along a list of the points of a space; `None` if that saves no sort, or is not
    /// known to be right.
    fn listing(&self, space: &Set) -> Option<Listing> {
        let of_space: Vec<StatementId> = self
            .ids()
            .filter(|id| self.statement(*id).space == *space)
            .collect();
        let (mut ranks, mut dense) = (Vec::new(), Vec::new());
        for id in &of_space {
            match &self.statement(*id).value {
                Value::Window(Window::Rank, keys) if !keys.is_empty() => ranks.push((*id, keys)),
                Value::Window(Window::DenseRank, keys) if !keys.is_empty() => {
                    dense.push((*id, keys));
                }
                _ => {}
            }
        }
        let is_sorted = |(id, keys): &&(StatementId, &Vec<Key>)| {
            keys.len() > 1 && !self.keys_ascend(*id, &keys[..1])
        };
        let n_sorts = dense.iter().filter(is_sorted).count();
        if n_sorts == 0 || n_sorts + ranks.len() < 2 || ranks.len() > 1 {
            return None;
        }
        let all = || ranks.iter().chain(&dense);
        let order = all().map(|(_, keys)| *keys).max_by_key(|keys| keys.len())?;
        if !all().all(|(_, keys)| order.starts_with(keys)) {
            return None;
        }
        let first = all().map(|(id, _)| *id).min()?;
        let ascend = |from: usize| self.keys_ascend(first, &order[from..]);
        let n_ranked = match ranks.first() {
            Some((_, keys)) if keys.len() == order.len() || ascend(keys.len()) => keys.len(),
            Some(_) => return None,
            None => (1..order.len()).find(|n| ascend(*n)).unwrap_or(order.len()),
        };
        let (place, n_places) = self.places_of(first)?;
        let is_number = |id: StatementId| {
            let statement = self.statement(id);
            let target = &statement.target;
            let role = self.space(&target.space).map(|space| space.role);
            statement.update == Update::Assign
                && target.indices == [place.clone()]
                && role == Some(Role::Temporary)
                && self.writers(&target.space).count() == 1
        };
        if !all().all(|(id, _)| is_number(*id)) {
            return None;
        }
        let end = match ranks.first() {
            Some((id, _)) => self.end_of_ranks(*id, &n_places)?,
            None => n_places.clone(),
        };
        let names = dense.iter().map(|(id, _)| self.statement(*id));
        let numbers: BTreeSet<String> = names.map(|it| it.target.space.clone()).collect();
        let speaks = |id: StatementId| {
            let spaces = self.spaces_of(id);
            numbers.iter().any(|name| spaces.contains(name))
        };
        let moved: Vec<StatementId> = self.ids().filter(|id| speaks(*id)).collect();
        let first = all()
            .map(|(id, _)| *id)
            .chain(moved.first().copied())
            .min()?;
        let counts = self.counts_behind(&end, first)?;
        let listing = Listing {
            space: space.clone(),
            place,
            n_places,
            end,
            rank: ranks.first().map(|(id, _)| *id),
            ranked: order[..n_ranked].to_vec(),
            order: order.clone(),
            numbers,
            moved,
            first,
            counts,
        };
        self.can_move(&listing, &of_space).then_some(listing)
    }

    /// The place of a statement's points, and how many there are, if each place belongs to a point.
    fn places_of(&self, id: StatementId) -> Option<(Expression, Expression)> {
        let statement = self.statement(id);
        let [Expression::Variable(place)] = statement.target.indices[..] else {
            return None;
        };
        let [n_places] = &self.space(&statement.target.space)?.extents[..] else {
            return None;
        };
        let known = self.known();
        let found = places(statement, &known)?;
        let is_all = self.are_same(&found.end, n_places) && found.from_zero(&known).is_none();
        is_all.then(|| (Expression::Variable(place), n_places.clone()))
    }

    /// The integer below which ranks of all points are declared to be, if it is as many as there are points.
    fn end_of_ranks(&self, id: StatementId, n_places: &Expression) -> Option<Expression> {
        let ranks = self
            .declarations
            .function(&self.statement(id).target.space)?;
        let [(Expression::Integer(0), end)] = &ranks.range.as_box()?[..] else {
            return None;
        };
        self.are_same(end, n_places).then(|| end.clone())
    }

    /// The statements from `first` on that assign an integer, which can do so earlier.
    fn counts_behind(&self, end: &Expression, first: StatementId) -> Option<Vec<StatementId>> {
        let Expression::Constant(end) = end else {
            return None;
        };
        let is_given = |id: &StatementId| {
            let statement = self.statement(*id);
            let spaces = self.spaces_of(*id);
            let mut read = spaces.iter().filter(|name| *name != end);
            statement.variables().len() == 0 && read.all(|name| self.writers(name).next().is_none())
        };
        let counts: Vec<StatementId> = self.writers(end).filter(|id| *id >= first).collect();
        counts.iter().all(is_given).then_some(counts)
    }

    /// Whether two expressions of constants are known to have one value.
    fn are_same(&self, a: &Expression, b: &Expression) -> bool {
        let same = a.clone().equals(b.clone());
        let anywhere = Set::new(vec![Conjunction::new([""; 0], [])]);
        a == b || anywhere.is_ok_and(|it| it.implies(&same, &self.known()))
    }

    /// Whether the statements of a listing may run later than those of its space that stay, and
    /// speak of nothing but the point at hand.
    fn can_move(&self, listing: &Listing, of_space: &[StatementId]) -> bool {
        let first = listing.first;
        let rank = listing.rank.map(|id| &self.statement(id).target);
        let is_fixed = |e: &Expression| {
            let mut is_fixed = true;
            e.visit(&mut |e| {
                if let Expression::Call(name, _) | Expression::Constant(name) = e {
                    let is_before = |id| id < first || listing.counts.contains(&id);
                    is_fixed &= self.writers(name).all(is_before);
                }
            });
            is_fixed
        };
        let constraints = listing.space.parts().iter();
        let mut of_points = constraints
            .flat_map(Conjunction::constraints)
            .flat_map(Constraint::expressions);
        let mut of_keys = listing
            .order
            .iter()
            .flat_map(|key| [&key.value, &key.extent]);
        let is_single = listing.space.parts().len() == 1;
        let moved = listing.moved.iter().all(|id| {
            let statement = self.statement(*id);
            let is_number = listing.numbers.contains(&statement.target.space);
            let entries = statement.value.entries();
            let at_point = |access: &&Access| access.indices == [listing.place.clone()];
            let windows = statement.value.windows();
            of_space.contains(id)
                && (windows.is_empty() || is_number)
                && (is_number || !statement.target.indices.contains(&listing.place))
                && entries.iter().all(at_point)
                && self.calls_at_point(statement, listing, rank)
        });
        // What stays runs before.
        let after = |id: &StatementId| *id > first && !listing.moved.contains(id);
        let stays = of_space.iter().filter(|id| after(id)).all(|id| {
            let others = listing.moved.iter().map(|it| &self.statement(*it).target);
            let spaces = self.spaces_of(*id);
            !others.map(|it| &it.space).any(|name| spaces.contains(name))
        });
        is_single && of_points.all(is_fixed) && of_keys.all(is_fixed) && moved && stays
    }

    /// Whether indices of a statement have no entries but numbers of the point at hand.
    fn calls_at_point(
        &self,
        statement: &Statement,
        listing: &Listing,
        rank: Option<&Access>,
    ) -> bool {
        let mut is_at_point = true;
        for e in &statement.target.indices {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    let is_number = listing.numbers.contains(name)
                        || rank.is_some_and(|rank| rank.space == *name);
                    is_at_point &= is_number && *arguments == [listing.place.clone()];
                }
            });
        }
        is_at_point
    }
}
