//! Sweeps by groups of the ranks that they give.
//!
//! A sweep over places that ranks them and then stores at their ranks has an access far from the
//! last one for each array. Where the order of points makes no difference, it runs group by group,
//! whose words give the ranks ([`groups`](super::groups)):
//!
//! ```text
//! for q in 0..n {                        for at in lo..hi {           of each group
//!   let i = row[q]                         let q = word[at] mod PLACES
//!   let j = col[q]                         let i = group
//!   let g = numbers[q]             ──►     let j = word[at] div PLACES
//!   crd[g] = j                             let g = rank of word[at]
//!   pos[i + 1] max= g + 1                  crd[g] = j
//!   vals[g] = A[q] }                       vals[g] = A[q] }
//!                                        pos[group + 1] max= hi        where lo < hi
//! ```
//!
//! Coordinates are computed from trimmed Morton keys ([`sorted`](super::sorted)). To read them in the
//! order of the curve would take longer, since each lies far from the last one.
//!
//! The order makes no difference if no statement reads entries that other points write, and each
//! statement assigns at the place or at its rank, which no two points share, or takes a maximum, a
//! minimum, or a sum or product of integers.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_computation::{Key, Role, Statement, Update, Value, Window};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Expression, Step, Variable};

use super::curve::Packed;
use super::emit::{Emitter, Point};
use super::groups::{Each, Group, Members};
use super::in_runs::without;
use super::sorted::Words;
use super::window::{Numbering, Visiting};

impl Emitter<'_> {
    /// Whether the sweep that a ranked statement is in can run in the order of the ranks.
    pub(super) fn can_turn(&self, number: usize) -> bool {
        let mut steps = self.loops.body.iter();
        let is_its = |step: &Step| match step {
            Step::For { variable, body, .. } => self.turns(number, *variable, body),
            _ => false,
        };
        matches!(self.visiting, Visiting::Assign) && steps.any(is_its)
    }

    fn turns(&self, number: usize, variable: Variable, body: &[Step]) -> bool {
        let visits = body.iter().filter_map(|step| match step {
            Step::Visit { number, tuple } => Some((*number, tuple)),
            _ => None,
        });
        let is_flat = |step: &Step| matches!(step, Step::Let { .. } | Step::Visit { .. });
        let visits: Vec<(usize, &Vec<Expression>)> = visits.collect();
        let own = visits.iter().position(|(visited, _)| *visited == number);
        let Some(own_at) = own.filter(|_| body.iter().all(is_flat)) else {
            return false;
        };
        let tuple = visits[own_at].1;
        let ranked = &self.computation.statements[number];
        let Value::Window(Window::Rank, keys) = &ranked.value else {
            return false;
        };
        let [Expression::Variable(place)] = ranked.target.indices[..] else {
            return false;
        };
        let is_place = tuple[place.index()] == Expression::Variable(variable);
        // Points whose first keys ascend are not far from their ranks.
        is_place
            && keys.len() > 1
            && !self.keys_ascend(number, &keys[..1])
            && visits.iter().enumerate().all(|(at, (visited, _))| {
                let statement = &self.computation.statements[*visited];
                let others = visits.iter().filter(|(other, _)| other != visited);
                let mut others = others.map(|(other, _)| &self.computation.statements[*other]);
                statement.space == ranked.space
                    && self.is_free(statement, ranked, own_at < at)
                    && others.all(|other| other.target.space != statement.target.space)
            })
    }

    /// Whether a statement of a sweep does the same in every order of its points. Behind the
    /// ranked statement, ranks tell points apart.
    fn is_free(&self, statement: &Statement, ranked: &Statement, is_behind: bool) -> bool {
        let target = &ranked.target;
        let rank = Expression::Call(target.space.clone(), target.indices.clone());
        let is_integer = self.element(&statement.target).is_integer();
        let commutes = match statement.update {
            Update::Assign => {
                let indices = &statement.target.indices;
                *indices == target.indices || is_behind && *indices == [rank]
            }
            Update::Minimum | Update::Maximum => true,
            Update::Add | Update::Multiply => is_integer,
        };
        let is_written = |space: &str| {
            let mut statements = self.computation.statements.iter();
            statements.any(|it| it.target.space == space)
        };
        let entries = statement.value.entries();
        let windows = statement.value.windows();
        commutes
            && (windows.is_empty() || statement.name == ranked.name)
            && entries
                .iter()
                .all(|access| *access == target || !is_written(&access.space))
    }

    /// Whether points with different first keys write different entries: at the place or the rank,
    /// or at the first key.
    fn are_groups_apart(&self, keys: &[Key], body: &[Step]) -> bool {
        body.iter().all(|step| match step {
            Step::Visit { number, .. } => {
                let statement = &self.computation.statements[*number];
                let at_key = match &statement.target.indices[..] {
                    [Expression::Add(e, n)] => {
                        **e == keys[0].value && matches!(**n, Expression::Integer(_))
                    }
                    [e] => *e == keys[0].value,
                    _ => false,
                };
                statement.update == Update::Assign || at_key
            }
            _ => true,
        })
    }

    /// The ranked statement of a loop that runs in the order of its ranks.
    pub(super) fn turned(&self, body: &[Step]) -> Option<usize> {
        body.iter().find_map(|step| match step {
            Step::Visit { number, .. } => {
                let numbering = self.windows.get(&(*number, 0));
                matches!(numbering, Some(Numbering::Turned)).then_some(*number)
            }
            _ => None,
        })
    }

    /// The loop in the order of the ranks, which words of each group give if keys fit in them, and one
    /// sort of all points if not.
    pub(super) fn turn(
        &mut self,
        number: usize,
        variable: Variable,
        (lo, hi): (Expr, Expr),
        body: &[Step],
    ) {
        let statement = &self.computation.statements[number];
        let Value::Window(window, keys) = &statement.value else {
            unreachable!("a sweep turns by the ranks of a statement");
        };
        let lo = self.builder.let_("begin", lo);
        let n = hi
            .clone()
            .binary(BinaryOp::Sub, lo)
            .binary(BinaryOp::Max, 0);
        let n = self.builder.let_("n_points", n);
        let condition = self.fit_groups(n, *window, keys);
        let name = self.loops.name(variable);
        let counts = self.counts_of_groups(number, keys, body);
        let numbers: Vec<usize> = counts.iter().map(|(counted, _)| *counted).collect();
        let rest = without(body, &numbers);
        let then = self.written(|this| {
            let is_apart = this.are_groups_apart(keys, body);
            this.settle_below(number, n);
            let read = match this.keys_ascend(number, &keys[..1]) {
                // Points of a group are neighbours.
                true => Vec::new(),
                false => {
                    let of_word = if keys.len() == 2 { 2 } else { 1 };
                    let found = keys[..of_word].iter();
                    let found = found.filter_map(|key| variable_of(number, &key.value, body));
                    this.read_at_place((number, variable), body, &found.collect::<Vec<_>>())
                }
            };
            let write = |this: &mut Self, group: &Group, members| {
                this.fetch_members(lo, (group, members), &read);
                this.for_each_member(group, members, |this, rank, (other, point)| {
                    let place = this.builder.let_(name, Expr::Var(lo).add(point));
                    this.variables.insert(variable, Expr::Var(place));
                    this.windows.insert((number, 0), Numbering::At(rank));
                    let found = found(number, keys, [&group.key, &other], body);
                    let is_open = |step: &&Step| match step {
                        Step::Let { variable, .. } => !found.contains_key(variable),
                        _ => true,
                    };
                    let open: Vec<Step> = rest.iter().filter(is_open).cloned().collect();
                    this.variables.extend(found.clone());
                    this.steps(&open);
                });
                let stores = this.written(|this| {
                    for (counted, (variable, tuple)) in &counts {
                        this.variables.insert(*variable, group.key.clone());
                        let target = &this.computation.statements[*counted].target;
                        let target = target.rewritten(&Point(tuple));
                        this.store_at(&target, group.hi.into(), Some(BinaryOp::Max));
                    }
                });
                if !stores.is_empty() {
                    this.branch(Expr::Var(group.lo).less(group.hi), stores, true);
                }
            };
            let each = match is_apart {
                true => Each::apart(write),
                false => Each::in_turn(write),
            };
            this.for_each_group((number, 0), (*window, keys), n, each);
        });
        self.settled.remove(&number);
        let otherwise = self.written(|this| {
            let points = this.workspace("points");
            this.alloc(points, n);
            let point = (number, variable, lo);
            // Only loops that compute coordinates from keys differ by the way of sorting.
            let is_on_curve = this.is_on_curve(number, keys);
            this.sort_points(number, keys, (n, points), &mut |this, words| {
                if is_on_curve {
                    this.in_turn(point, (n, points), Some(words), body);
                }
            });
            if !is_on_curve {
                this.in_turn(point, (n, points), None, body);
            }
        });
        self.builder.push(Stmt::If {
            condition,
            then,
            otherwise,
        });
    }
}

/// Keys that loop variables are computed from.
struct TakenApart {
    keys: Buffer,
    packed: Packed,
    /// The variable of each coordinate, where the loop has one.
    variables: Vec<Option<Variable>>,
    /// The given arrays that statements read at the place.
    read: Vec<Buffer>,
}

/// A loop over keys fetches the data of a point so many points ahead. Computing coordinates from keys
/// leaves few loads in flight. Source: C by hand, ns a point: 27.6 without and 11.0 with 10 M points,
/// 4.3 and 3.2 with 1 M; 23.0 and 7.5 with all coordinates read in place of keys taken apart.
const AHEAD: i64 = 16;

/// The same of loops over groups of words. Source: C by hand on a busy machine, ms without and with:
/// 2,000,000 points at random in groups of 10, 39 and 16; 1,750,000 in groups of 7, 29 and 8; 70,000,
/// which the cache holds, 0.34 and 0.32.
const WORDS_AHEAD: i64 = 64;

impl Emitter<'_> {
    /// Trimmed Morton keys of a sweep's points, where two of their coordinates at least are
    /// variables of the loop: these take more time to read, far from the last ones.
    fn taken_apart(
        &mut self,
        (number, variable): (usize, Variable),
        words: &Words,
        body: &[Step],
    ) -> Option<TakenApart> {
        let Words::OnCurve(keys, curve) = words else {
            return None;
        };
        let of = |e: &Expression| variable_of(number, e, body);
        let variables: Vec<Option<Variable>> = curve.coordinates.iter().map(of).collect();
        let is_worth = variables.iter().flatten().count() > 1;
        let found: Vec<Variable> = variables.iter().flatten().copied().collect();
        is_worth.then(|| TakenApart {
            keys: *keys,
            packed: self.make_packed(&curve.ends),
            read: self.read_at_place((number, variable), body, &found),
            variables,
        })
    }

    /// The given arrays that the steps read at the place of a point: for values of statements, and for
    /// variables other than those that are found without.
    fn read_at_place(
        &self,
        (number, variable): (usize, Variable),
        body: &[Step],
        found: &[Variable],
    ) -> Vec<Buffer> {
        let place = &self.computation.statements[number].target.indices;
        let mut read: Vec<&str> = Vec::new();
        for step in body {
            match step {
                Step::Visit { number, .. } => match &self.computation.statements[*number].value {
                    Value::Entry(access) if access.indices == *place => read.push(&access.space),
                    _ => {}
                },
                Step::Let {
                    variable: it,
                    value,
                } if !found.contains(it) => value.visit(&mut |e| match e {
                    Expression::Call(name, at) if at[..] == [Expression::Variable(variable)] => {
                        read.push(name);
                    }
                    _ => {}
                }),
                _ => {}
            }
        }
        let mut given: Vec<Buffer> = Vec::new();
        for name in read {
            let space = self.whole.space(name);
            let buffer = self.arrays.spaces.get(name);
            if let (Some(space), Some(buffer)) = (space, buffer)
                && space.role == Role::Given
                && !given.contains(buffer)
            {
                given.push(*buffer);
            }
        }
        given
    }

    /// Fetches entries at the place of a later point.
    fn fetch_ahead(&mut self, (lo, n): (Var, Var), (points, at): (Buffer, Var), read: &[Buffer]) {
        if read.is_empty() {
            return;
        }
        let last = Expr::Var(n).binary(BinaryOp::Sub, 1);
        let later = Expr::Var(at).add(AHEAD).binary(BinaryOp::Min, last);
        let place = Expr::Var(lo).add(Expr::load(points, later));
        let place = Expr::Var(self.builder.let_("later", place));
        for buffer in read {
            let range = place.clone()..place.clone().add(1);
            self.builder.prefetch(*buffer, range);
        }
    }

    /// Fetches entries at the places of the members of later groups, as many words ahead as a group
    /// has. Threads sort the words of the groups that they take, so none looks at those of another.
    fn fetch_members(&mut self, begin: Var, (group, members): (&Group, Members), read: &[Buffer]) {
        let (Members::Words(words), false) = (members, read.is_empty()) else {
            return;
        };
        self.for_each_at(group.lo, group.hi, |this, at| {
            let last = Expr::Var(group.end).binary(BinaryOp::Sub, 1);
            let later = Expr::Var(at).add(WORDS_AHEAD).binary(BinaryOp::Min, last);
            let word = this.builder.let_("later", Expr::load(words, later));
            let (_, point) = this.parts_of_word(word);
            let place = Expr::Var(this.builder.let_("place", Expr::Var(begin).add(point)));
            for buffer in read {
                this.builder
                    .prefetch(*buffer, place.clone()..place.clone().add(1));
            }
        });
    }

    /// The loop in the order of a list of points, sorted by these words.
    fn in_turn(
        &mut self,
        (number, variable, lo): (usize, Variable, Var),
        (n, points): (Var, Buffer),
        words: Option<&Words>,
        body: &[Step],
    ) {
        let name = self.loops.name(variable);
        let keys = words.and_then(|words| self.taken_apart((number, variable), words, body));
        self.for_each_at(Expr::int(0), n, |this, at| {
            let place = Expr::Var(lo).add(Expr::load(points, at));
            let place = this.builder.let_(name, place);
            this.variables.insert(variable, Expr::Var(place));
            this.windows.insert((number, 0), Numbering::At(at));
            match &keys {
                Some(keys) => {
                    this.fetch_ahead((lo, n), (points, at), &keys.read);
                    this.steps_of_key(keys, at, body);
                }
                None => this.steps(body),
            }
        });
    }

    /// The steps of a loop whose variables are computed from a key.
    fn steps_of_key(&mut self, taken: &TakenApart, at: Var, body: &[Step]) {
        let coordinates = self.unpacked(Expr::load(taken.keys, at), &taken.packed);
        for (variable, coordinate) in std::iter::zip(&taken.variables, coordinates) {
            if let Some(variable) = variable {
                let name = self.loops.name(*variable);
                let coordinate = self.builder.let_(name, coordinate);
                self.variables.insert(*variable, Expr::Var(coordinate));
            }
        }
        let is_open = |step: &&Step| match step {
            Step::Let { variable, .. } => !taken.variables.contains(&Some(*variable)),
            _ => true,
        };
        let open: Vec<Step> = body.iter().filter(is_open).cloned().collect();
        self.steps(&open);
    }
}

type Counted = (usize, (Variable, Vec<Expression>));

impl Emitter<'_> {
    /// The statements that take a maximum of the number and one for each first key, which the end of
    /// its group is: with the loop variable of the key and their points.
    fn counts_of_groups(&self, number: usize, keys: &[Key], body: &[Step]) -> Vec<Counted> {
        let visits = body.iter().filter_map(|step| match step {
            Step::Visit { number, tuple } => Some((*number, tuple)),
            _ => None,
        });
        let counted = visits.filter_map(|(visited, tuple)| {
            let Expression::Variable(key) = keys[0].value else {
                return None;
            };
            let Expression::Variable(variable) = tuple[key.index()] else {
                return None;
            };
            let is_count = visited != number && self.counts_by_run((visited, number), keys);
            is_count.then(|| (visited, (variable, tuple.clone())))
        });
        counted.collect()
    }
}

/// The loop variable that a variable of the statement is, if steps of the loop give it its value.
fn variable_of(number: usize, e: &Expression, body: &[Step]) -> Option<Variable> {
    let tuple = body.iter().find_map(|step| match step {
        Step::Visit { number: it, tuple } if *it == number => Some(tuple),
        _ => None,
    });
    let Expression::Variable(variable) = e else {
        return None;
    };
    let Expression::Variable(variable) = tuple?[variable.index()] else {
        return None;
    };
    let is_let = |step: &Step| matches!(step, Step::Let { variable: it, .. } if *it == variable);
    body.iter().any(is_let).then_some(variable)
}

/// The loop variables that are keys of the statement, with what groups say of them.
fn found(
    number: usize,
    keys: &[Key],
    [first, rest]: [&Expr; 2],
    body: &[Step],
) -> BTreeMap<Variable, Expr> {
    let mut found = BTreeMap::new();
    let mut note = |key: &Key, value: &Expr| {
        let variable = variable_of(number, &key.value, body);
        found.extend(variable.map(|variable| (variable, value.clone())));
    };
    note(&keys[0], first);
    if let [_, only] = keys {
        note(only, rest);
    }
    found
}
