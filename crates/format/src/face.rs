//! The relation face of a format, composed from the fragments of its levels.
//!
//! A level's fragment relates a parent position `p` and a coordinate `i` to a
//! position `q`. In a format the parent's position is the position in the
//! level above, and the first level has one parent, at 0:
//!
//! ```text
//!            p     q0          q1               fragment of level 0:  0, j ↔ q0
//!            0 ──► ○ ───────► ○                 fragment of level 1:  q0, i ↔ q1
//!               j         i
//! csc: {[q0, q1] -> [i, j] : q0 = j && 0 <= j < N1 &&
//!                            0 <= q0 < N1 && pos1(q0) <= q1 < pos1(q0 + 1) &&
//!                            crd1(q1) = i && 0 <= i < N0}
//! ```
//!
//! `N0`, `N1`, … are the extents of the modes, `posL` and `crdL` the arrays of
//! level `L`. A level of another expression than a mode has that expression for
//! its coordinate, counted from its least value, and the extent `LL`; a rank is
//! an integer that only has to exist. The number `M` of parents that a fragment speaks of is the number
//! of positions in the level above, in the same terms.

use sparsec_base::{Source, arena::Id};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Relation, Rewrite, Variable,
};

use crate::coordinate::Coordinate;
use crate::format::Format;
use crate::level::LevelKind;
use crate::region::Side;

impl Format {
    /// The stored positions and the coordinates that they hold: a position in
    /// each level, outermost first, to a coordinate in each mode.
    ///
    /// The last position is that of the value. Symbolic are the extents `N0`,
    /// `N1`, … of the modes, `LL` of levels that store no mode, and `posL`, `crdL`
    /// and so on for the arrays of level `L`. Of a union this is the relation of
    /// the first part, and mirror images are left out.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// assert_eq!(
    ///     Format::csr().relation().to_string(),
    ///     "{[q0, q1] -> [i, j] : q0 = i && 0 <= i < N0 \
    ///      && 0 <= q0 < N0 && pos1(q0) <= q1 < pos1(q0 + 1) && crd1(q1) = j && 0 <= j < N1}",
    /// );
    /// ```
    ///
    /// # Panics
    /// If the fragment of a level kind is no relation `{[p, i] -> [q] : …}`.
    pub fn relation(&self) -> Relation {
        self.composed().0
    }

    /// The relation, where each level stands in it, and how many positions the last
    /// level has.
    pub(crate) fn composed(&self) -> (Relation, Vec<Place>, Expression) {
        let positions = (0..self.levels.len()).map(|level| format!("q{level}"));
        let mut whole = Conjunction::new(positions, self.modes.iter().cloned());
        let positions: Vec<Variable> = whole.inputs().collect();
        let coordinates: Vec<Variable> = whole.outputs().collect();

        let modes: Vec<Expression> = coordinates
            .iter()
            .copied()
            .map(Expression::Variable)
            .collect();
        let mut parent = Expression::Integer(0);
        let mut n_parents = Expression::Integer(1);
        let mut places = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            let position = Expression::Variable(positions[number]);
            let (coordinate, extent) = match &level.coordinate {
                Coordinate::Mode(mode) => (
                    modes[*mode].clone(),
                    Expression::Constant(format!("N{mode}")),
                ),
                Coordinate::Rank { below, .. } => {
                    let rank = whole.add_exists(format!("r{number}"));
                    let extent = match below {
                        Some(below) => Expression::Integer(*below as i64),
                        None => {
                            Expression::Call(format!("size{number}"), vec![Expression::Integer(0)])
                        }
                    };
                    (Expression::Variable(rank), extent)
                }
                computed => {
                    let value = Box::new(computed.expression(&modes));
                    let extent = computed.extent().unwrap_or_else(|| {
                        // Known once the extents of the modes are.
                        Expression::Constant(format!("L{number}"))
                    });
                    let least = Box::new(computed.least());
                    (Expression::Subtract(value, least), extent)
                }
            };
            let place = Place {
                level: number,
                kind: level.kind,
                may_mark: self.may_mark(number),
                tuple: [parent, coordinate, position.clone()],
                extent,
                n_parents,
            };
            whole.conjoin(&fragment(level.kind), &place);
            n_parents = n_positions(level.kind).rewritten(&place).simplified();
            parent = position;
            places.push(place);
        }
        self.bound_modes(&mut whole, &modes);
        let relation = Relation::new(vec![whole])
            .expect("fragments use names in one role")
            .simplified();
        (relation, places, n_parents)
    }

    /// The bounds of modes that no level stores as they are, and of the region.
    fn bound_modes(&self, whole: &mut Conjunction, modes: &[Expression]) {
        let is_stored = |mode| {
            let mut levels = self.levels.iter();
            levels.any(|level| level.coordinate.mode() == Some(mode))
        };
        for (mode, coordinate) in modes.iter().enumerate() {
            if !is_stored(mode) {
                whole.add(Constraint {
                    first: Expression::Integer(0),
                    rest: vec![
                        (Comparison::LessEqual, coordinate.clone()),
                        (Comparison::Less, Expression::Constant(format!("N{mode}"))),
                    ],
                });
            }
        }
        if let Some(region) = self.region {
            let [a, b] = region.modes.map(|mode| modes[mode].clone());
            let comparison = match region.side {
                Side::Lower => Comparison::GreaterEqual,
                Side::Upper => Comparison::LessEqual,
                Side::Diagonal => Comparison::Equal,
            };
            whole.add(Constraint::new(a, comparison, b));
        }
    }
}

/// One level's fragment as a conjunction.
fn fragment(kind: LevelKind) -> Conjunction {
    let relation: Relation = kind
        .fragment()
        .parse()
        .expect("the fragment of a kind is a relation");
    let [part] = relation.parts() else {
        panic!("the fragment of a kind has one part");
    };
    let lengths = (
        relation.n_inputs(),
        relation.n_outputs(),
        part.exists().len(),
    );
    assert_eq!(lengths, (2, 1, 0), "a fragment relates [p, i] to [q]");
    part.clone()
}

fn n_positions(kind: LevelKind) -> Expression {
    let source = Source::new("level kind", kind.spec().n_positions);
    Expression::parse(&source).expect("the size of a kind is an expression")
}

/// Where a level stands in a format: what the names of its kind mean there.
pub(crate) struct Place {
    pub(crate) level: usize,
    pub(crate) kind: LevelKind,
    /// Whether a coordinate may be the mark of no entry.
    may_mark: bool,
    /// In place of `p`, `i` and `q`.
    pub(crate) tuple: [Expression; 3],
    /// In place of `N`.
    extent: Expression,
    /// In place of `M`.
    n_parents: Expression,
}

impl Rewrite for Place {
    /// `p * N` with 0 for `p`: an extent has a value, be it that of an array.
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let Expression::Multiply(a, b) = e else {
            return None;
        };
        let zero = Expression::Integer(0);
        let is_zero = [a, b].iter().any(|e| e.rewritten(self) == zero);
        is_zero.then_some(zero)
    }

    fn variable(&self, variable: Variable) -> Expression {
        self.tuple[variable.index()].clone()
    }

    fn constant(&self, name: &str) -> Expression {
        match name {
            "N" => self.extent.clone(),
            "E" if self.may_mark => Expression::Add(
                Box::new(self.extent.clone()),
                Box::new(Expression::Integer(1)),
            ),
            "E" => self.extent.clone(),
            "M" => self.n_parents.clone(),
            "K" => match self.kind {
                LevelKind::Structured { n, .. } => Expression::Integer(n.into()),
                _ => panic!("only `structured` stores a number of coordinates"),
            },
            _ => panic!("a level kind speaks of `M`, `N`, `E` and `K` only, not of `{name}`"),
        }
    }

    fn function(&self, name: &str) -> String {
        format!("{name}{}", self.level)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, LevelKind};

    fn check(format: &str, expect: &str) {
        let format: Format = format.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format.relation().to_string(), expect);
    }

    #[test]
    fn fragments_are_relations() {
        for kind in LevelKind::ALL {
            super::fragment(kind);
            super::n_positions(kind);
        }
    }

    #[test]
    fn a_scalar_is_stored_once() {
        check("() -> ()", "{[] -> []}");
    }

    #[test]
    fn positions_of_levels_above_count_parents() {
        check(
            "(i, j, k) -> (k : dense, i : dense, j : compressed)",
            "{[q0, q1, q2] -> [i, j, k] : q0 = k && 0 <= k < N2 \
             && q1 = q0 * N0 + i && 0 <= q0 < N2 && 0 <= i < N0 \
             && 0 <= q1 < N2 * N0 && pos2(q1) <= q2 < pos2(q1 + 1) && crd2(q2) = j \
             && 0 <= j < N1}",
        );
        check(
            "(i, j) -> (i : compressed(nonunique), j : singleton)",
            "{[q0, q1] -> [i, j] : pos0(0) <= q0 < pos0(1) && crd0(q0) = i && 0 <= i < N0 \
             && 0 <= q0 < pos0(1) && q1 = q0 && crd1(q1) = j && 0 <= j < N1}",
        );
    }

    #[test]
    fn modes_make_way_for_other_names() {
        check(
            "(q0) -> (q0 : dense)",
            "{[q0] -> [q0_1] : q0 = q0_1 && 0 <= q0_1 < N0}",
        );
        check(
            "(crd0, union) -> (crd0 : compressed, union : dense)",
            "{[q0, q1] -> [crd0_1, union_1] : pos0(0) <= q0 < pos0(1) && crd0(q0) = crd0_1 \
             && 0 <= crd0_1 < N0 && q1 = q0 * N1 + union_1 && 0 <= q0 < pos0(1) \
             && 0 <= union_1 < N1}",
        );
    }
}
