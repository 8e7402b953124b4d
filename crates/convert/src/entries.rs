//! The entries of the source: the points at which statements of a conversion run.
//!
//! ```text
//! map   {[q0, q1] -> [i, j] : q0 = i && A_pos1(q0) <= q1 < A_pos1(q0 + 1) && A_crd1(q1) = j && …}
//! data  {[q0, q1] -> [q] : q = q1}
//!
//! space {[i, q1, j] : A_pos1(i) <= q1 < A_pos1(i + 1) && A_crd1(q1) = j && …}   coordinates i, j   place q1
//! ```
//!
//! Elements that are always equal are one, at the first place of them and by the name of a
//! coordinate among them.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Consequences, Constraint, Declarations, Expression, Rewrite, Set,
    Variable,
};

use crate::named::Named;
use crate::problem::Problem;
use crate::terms::{has_part, plus_one};
use crate::{Places, refused};

/// For each variable the first of `tuple` that is always equal to it.
pub(crate) fn same_variables(comparisons: &[Constraint], tuple: &[Variable]) -> Vec<Variable> {
    let n = tuple.iter().map(|v| v.index() + 1).max().unwrap_or(0);
    let mut same: Vec<Variable> = (0..n).map(Variable::from_index).collect();
    for link in comparisons {
        if let (Expression::Variable(a), [(Comparison::Equal, Expression::Variable(b))]) =
            (&link.first, &link.rest[..])
            && [a, b].iter().all(|v| tuple.contains(v))
        {
            let (a, b) = (same[a.index()], same[b.index()]);
            let (kept, gone) = (a.min(b), a.max(b));
            for other in same.iter_mut().filter(|other| **other == gone) {
                *other = kept;
            }
        }
    }
    same
}

/// Constraints with the coordinates of each place on a curve that an array holds:
///
/// ```text
/// crd0(q0) = MORTON(i floordiv 4, j floordiv 4)
///   ──►   i floordiv 4 = UNMORTON(crd0(q0), 0, 2) && j floordiv 4 = UNMORTON(crd0(q0), 1, 2)
/// ```
fn taken_apart(constraints: &[Constraint]) -> Vec<Constraint> {
    let links: Vec<Constraint> = constraints.iter().flat_map(Constraint::split).collect();
    let mut places: Vec<(Expression, Expression)> = Vec::new();
    for link in &links {
        let [(Comparison::Equal, right)] = &link.rest[..] else {
            continue;
        };
        for (key, place) in [(right, &link.first), (&link.first, right)] {
            if matches!(key, Expression::Call(name, _) if ["MORTON", "ALTO"].contains(&&name[..]))
                && !places.iter().any(|(known, _)| known == key)
            {
                places.push((key.clone(), place.clone()));
                break;
            }
        }
    }
    if places.is_empty() {
        return constraints.to_vec();
    }
    let put = InPlace(&places);
    let mut all: Vec<Constraint> = links.iter().map(|link| link.rewritten(&put)).collect();
    for (key, place) in &places {
        let Expression::Call(name, arguments) = key else {
            continue;
        };
        let (coordinates, curve): (Vec<&Expression>, Vec<Expression>) = match &name[..] {
            "ALTO" => (
                arguments.iter().step_by(2).collect(),
                arguments.iter().skip(1).step_by(2).cloned().collect(),
            ),
            _ => {
                let n = i64::try_from(arguments.len()).expect("few modes");
                (arguments.iter().collect(), vec![Expression::Integer(n)])
            }
        };
        for (c, coordinate) in (0..).zip(coordinates) {
            let arguments = [vec![place.clone(), Expression::Integer(c)], curve.clone()];
            let value = Expression::Call(format!("UN{name}"), arguments.concat());
            all.push(coordinate.clone().equals(value));
        }
    }
    all
}

/// Arrays in place of the keys that they hold.
struct InPlace<'a>(&'a [(Expression, Expression)]);

impl Rewrite for InPlace<'_> {
    fn whole(&self, expression: &Expression) -> Option<Expression> {
        let mut places = self.0.iter();
        let found = places.find(|(key, _)| key == expression);
        found.map(|(_, place)| place.clone())
    }
}

/// The variables of a space in place of those of a map.
struct Now(Vec<Variable>);

impl Rewrite for Now {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(self.0[variable.index()])
    }
}

/// The values of the variables of a point.
struct Values<'a>(&'a [Expression]);

impl Rewrite for Values<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        self.0[variable.index()].clone()
    }
}

/// The variables of a point without one of them.
struct Without(Variable);

impl Rewrite for Without {
    fn variable(&self, variable: Variable) -> Expression {
        let behind = usize::from(variable > self.0);
        Expression::Variable(Variable::from_index(variable.index() - behind))
    }
}

/// The entries of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    /// A point for each, in the order in which they are stored.
    pub(crate) space: Set,
    /// The variables of a point that are its coordinates.
    pub(crate) coordinates: Vec<Variable>,
    /// The place of its value.
    pub(crate) place: Expression,
    /// How many places there are.
    pub(crate) n_places: Expression,
    /// Whether each of them holds an entry.
    pub(crate) is_full: bool,
    /// The entries of one place, where it may hold several.
    pub(crate) shared: Option<Shared>,
}

/// Entries that have one place: a run of coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// A point for each place: the variables of an entry, without the coordinate.
    pub(crate) places: Set,
    /// The coordinate at an entry.
    coordinate: Variable,
    /// Where the run begins, and where it ends.
    from: Expression,
    end: Expression,
}

impl Shared {
    /// How many entries a place has.
    pub(crate) fn length(&self) -> Expression {
        let (end, from) = (Box::new(self.end.clone()), Box::new(self.from.clone()));
        self.at_place(&Expression::Subtract(end, from))
    }

    /// What does not depend on the coordinate, in the variables of a place.
    pub(crate) fn at_place(&self, e: &Expression) -> Expression {
        e.rewritten(&Without(self.coordinate))
    }

    /// Leaves out the places of which a constraint on the points of `space` does not hold.
    fn restrict(&mut self, constraint: &Constraint, space: &Conjunction) -> Result<()> {
        let itself = Expression::Variable(self.coordinate);
        if constraint.expressions().any(|e| has_part(e, &itself)) {
            let condition = space.list_of(std::slice::from_ref(constraint));
            let message =
                format!("entries that share a place may lie on both sides of `{condition}`");
            return Err(
                refused(message).help("convert to a format that lists all entries first: `scoo`")
            );
        }
        let mut part = self.places.parts()[0].clone();
        part.add(constraint.rewritten(&Without(self.coordinate)));
        self.places = Set::new(vec![part])?;
        Ok(())
    }

    /// The coordinate that a run goes over.
    pub(crate) fn coordinate(&self) -> Expression {
        Expression::Variable(self.coordinate)
    }

    /// How many of them come before an entry.
    pub(crate) fn offset(&self) -> Expression {
        let coordinate = Box::new(Expression::Variable(self.coordinate));
        Expression::Subtract(coordinate, Box::new(self.from.clone()))
    }

    /// Finds the run of coordinates that share the places of entries.
    fn of(source: &Named, space: &Conjunction, place: &Expression) -> Result<Option<Self>> {
        let links = space.constraints().iter().flat_map(Constraint::split);
        let links: Vec<Constraint> = links.collect();
        let speaks = |e: &Expression, v: Variable| has_part(e, &Expression::Variable(v));
        // The coordinate of a run has bounds, and is nowhere else.
        let bounds = |variable: Variable| -> Option<[Vec<(Expression, Constraint)>; 2]> {
            let itself = Expression::Variable(variable);
            let mut bounds = [Vec::new(), Vec::new()];
            for link in &links {
                let (comparison, right) = &link.rest[0];
                let left = &link.first;
                match [left, right].map(|side| speaks(side, variable)) {
                    [false, false] => {}
                    [false, true] if *right == itself => match comparison {
                        Comparison::LessEqual => bounds[0].push((left.clone(), link.clone())),
                        Comparison::Less => bounds[0].push((plus_one(left), link.clone())),
                        _ => return None,
                    },
                    [true, false] if *left == itself => match comparison {
                        Comparison::Less => bounds[1].push((right.clone(), link.clone())),
                        Comparison::LessEqual => {
                            bounds[1].push((plus_one(right), link.clone()));
                        }
                        _ => return None,
                    },
                    _ => return None,
                }
            }
            bounds.iter().all(|it| !it.is_empty()).then_some(bounds)
        };
        let open: Vec<Variable> = space.inputs().collect();
        let open = open.into_iter().filter(|v| !speaks(place, *v));
        let mut open = open.filter_map(|v| Some((v, bounds(v)?)));
        let Some((coordinate, bounds)) = open.next() else {
            return Ok(None);
        };
        let several = || {
            refused(format!(
                "a place of `{}` holds several entries",
                source.name
            ))
            .help("convert from a format whose places hold an entry each")
        };
        if open.next().is_some() || space.exists().len() > 0 {
            return Err(several());
        }
        let has_call = |e: &Expression| {
            let mut found = false;
            e.visit(&mut |e| found |= matches!(e, Expression::Call(..)));
            found
        };
        let [from, end] = bounds.map(|sides| {
            let called = sides.iter().position(|(bound, _)| has_call(bound));
            sides[called.unwrap_or(0)].clone()
        });
        // The two bounds have to imply all others, or the length of the run is another.
        let names = |of: &dyn Fn(&Variable) -> bool| -> Vec<String> {
            let names = space.inputs().filter(of);
            names.map(|v| space.name(v).to_owned()).collect()
        };
        let mut run = Conjunction::new(names(&|_| true), []);
        let mut places = Conjunction::new(names(&|v| *v != coordinate), []);
        let mut others = Vec::new();
        for link in links {
            let is_of = link.expressions().any(|e| speaks(e, coordinate));
            if !is_of {
                places.add(link.rewritten(&Without(coordinate)));
                run.add(link);
            } else if link == from.1 || link == end.1 {
                run.add(link);
            } else {
                others.push(link);
            }
        }
        let run = Set::new(vec![run])?;
        let known = &source.declarations;
        if !others.iter().all(|other| run.implies(other, known)) {
            return Err(several());
        }
        Ok(Some(Self {
            places: Set::new(vec![places])?,
            coordinate,
            from: from.0,
            end: end.0,
        }))
    }
}

impl Entries {
    pub(crate) fn of(source: &Named, problem: &Problem) -> Result<Self> {
        let map = &source.map;
        let comparisons = source.comparisons();
        let tuple: Vec<Variable> = map.inputs().chain(map.outputs()).collect();
        let same = same_variables(&comparisons, &tuple);
        // What is kept, under the last name of its group.
        let kept: Vec<Variable> = tuple
            .iter()
            .copied()
            .filter(|v| same[v.index()] == *v)
            .collect();
        let names = kept.iter().map(|kept| {
            let mut group = tuple.iter().rev();
            let last = group.find(|v| same[v.index()] == *kept);
            map.name(*last.expect("it is in its group")).to_owned()
        });
        let mut space = Conjunction::new(names.collect::<Vec<_>>(), []);
        let mut now: Vec<Variable> = Vec::new();
        for variable in (0..map.n_variables()).map(Variable::from_index) {
            now.push(match tuple.contains(&variable) {
                true => {
                    let at = kept.iter().position(|kept| *kept == same[variable.index()]);
                    Variable::from_index(at.expect("each group is kept"))
                }
                false => space.add_exists(map.name(variable)),
            });
        }
        let now = Now(now);
        for constraint in &taken_apart(map.constraints()) {
            let constraint = constraint.rewritten(&now);
            let is_trivial = (constraint.rest.iter())
                .all(|(c, e)| *c == Comparison::Equal && *e == constraint.first);
            if !is_trivial && !space.constraints().contains(&constraint) {
                space.add(constraint);
            }
        }
        let places = source.data.solve(&source.declarations)?;
        let [place] = &places[..] else {
            let message = format!("the values of `{}` lie by several rules", source.name);
            return Err(refused(message));
        };
        let coordinates = map.outputs().map(|v| now.0[v.index()]);
        let [n_places] = &source.lengths(None)?[..] else {
            let message = format!("the values of `{}` have several indices", source.name);
            return Err(refused(message));
        };
        let place = place[0].rewritten(&now);
        if problem.has_padding {
            let stored = Expression::Call(source.mask(), vec![place.clone()]);
            space.add(stored.equals(Expression::Integer(1)));
        }
        let shared = Shared::of(source, &space, &place)?;
        Ok(Self {
            coordinates: coordinates.collect(),
            space: Set::new(vec![space])?,
            place,
            n_places: n_places.clone(),
            is_full: problem.places != Places::Some && !problem.has_padding,
            shared,
        })
    }

    /// Declares that coordinates which are computed from arrays lie inside of the tensor, if each place
    /// holds an entry:
    ///
    /// ```text
    /// forall q0 : 0 <= q0 < A_pos0_end => UNALTO(A_crd0(q0), 0, N0, N1) < N0
    /// ```
    ///
    /// # Errors
    /// As [`Set::new`].
    pub(crate) fn assume_inside(&self, known: &mut Declarations) -> Result<()> {
        let part = &self.space.parts()[0];
        if !self.is_full || self.shared.is_some() || part.exists().len() > 0 {
            return Ok(());
        }
        let is_coordinate = |v: &Variable| self.coordinates.contains(v);
        let places: Vec<Variable> = part.inputs().filter(|v| !is_coordinate(v)).collect();
        // The places are the variables of the fact.
        let of_place = |v: Variable| {
            let n = places.iter().position(|place| *place == v);
            n.map(|n| Expression::Variable(Variable::from_index(n)))
        };
        let numbers: Vec<Expression> = part
            .inputs()
            .map(|v| of_place(v).unwrap_or(Expression::Variable(v)))
            .collect();
        let solved = part.solved_for(&places, known).into_iter();
        let values = solved
            .zip(part.inputs())
            .map(|(value, v)| match of_place(v) {
                Some(place) => Some(place),
                None => Some(value?.rewritten(&Values(&numbers))),
            });
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            return Ok(());
        };
        let values = Values(&values);
        let mut points = Conjunction::new(places.iter().map(|v| part.name(*v)), []);
        let mut bounds = Vec::new();
        let is_coordinate = |e: &Expression| match e {
            Expression::Variable(v) => self.coordinates.contains(v),
            _ => false,
        };
        for link in part.constraints().iter().flat_map(Constraint::split) {
            let is_equation = link.rest[0].0 == Comparison::Equal;
            let of = |v: &Variable| {
                link.expressions()
                    .any(|e| has_part(e, &Expression::Variable(*v)))
            };
            if !self.coordinates.iter().any(of) {
                points.add(link.rewritten(&values));
            } else if !is_equation && link.expressions().any(is_coordinate) {
                bounds.push(link.rewritten(&values));
            }
        }
        let all = Set::new(vec![points.clone()])?;
        let follows = Consequences::of(&all, known);
        bounds.retain(|bound| !follows.implies(bound));
        if !bounds.is_empty() {
            known.forall(points, bounds);
        }
        Ok(())
    }

    /// Leaves out entries of which a constraint does not hold.
    pub(crate) fn restrict(&mut self, constraint: Constraint) -> Result<()> {
        let mut part = self.space.parts()[0].clone();
        part.add(constraint.clone());
        self.space = Set::new(vec![part])?;
        self.is_full = false;
        if let Some(shared) = &mut self.shared {
            shared.restrict(&constraint, &self.space.parts()[0])?;
        }
        Ok(())
    }

    /// The names of the variables of a point.
    pub(crate) fn names(&self) -> Vec<String> {
        let part = &self.space.parts()[0];
        part.inputs().map(|v| part.name(v).to_owned()).collect()
    }
}
