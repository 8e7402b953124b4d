//! Merge lattices: which operands still hold entries in each part of one loop.
//!
//! `b(i) * c(i)` is done when either operand runs out, `b(i) + c(i)` only when
//! both have. The lattice lists the parts of the loop. For `b(i) + c(i)`:
//!
//! ```text
//!        {b, c}        while both remain:  a = b + c, or b, or c
//!        /    \
//!      {b}    {c}      one tail loop each
//!        \    /
//!         { }          done
//! ```
//!
//! | space        | points                                          |
//! |--------------|-------------------------------------------------|
//! | `∅`          | none                                            |
//! | `b`          | `{b}`                                           |
//! | `all`        | `{}`, and the loop is over everything           |
//! | `l ∩ r`      | `p ∪ q` for each `p` in `l` and each `q` in `r` |
//! | `l ∪ r`      | those of `l ∩ r`, of `l`, and of `r`            |
//!
//! Points are closed under union, so that among those whose operands are all
//! present at a coordinate there is one largest: that is the case of the
//! coordinate, and every operand outside it counts as not stored. Where the
//! loop is over everything, its points are cases of one loop; else each
//! point becomes one `while` loop.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017, §5,
//! <https://doi.org/10.1145/3133901>. We keep the points, not the edges.

use std::collections::BTreeSet;

use crate::operand::Operand;
use crate::space::Space;

/// The operands that still hold entries in one part of a loop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point(pub BTreeSet<Operand>);

/// The parts of one loop, larger ones first, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    /// Whether the loop visits every coordinate.
    pub everything: bool,
    /// The points. Without any, the loop visits nothing.
    pub points: Vec<Point>,
}

impl Lattice {
    /// The lattice of a space.
    pub fn of(space: &Space) -> Self {
        let mut lattice = Self::build(space);
        lattice.sort();
        lattice
    }

    fn sort(&mut self) {
        self.points.sort_by(|left, right| {
            right
                .0
                .len()
                .cmp(&left.0.len())
                .then_with(|| left.cmp(right))
        });
        self.points.dedup();
    }

    fn build(space: &Space) -> Self {
        match space {
            Space::Nothing => Self {
                everything: false,
                points: Vec::new(),
            },
            Space::Everything => Self {
                everything: true,
                points: vec![Point(BTreeSet::new())],
            },
            Space::Stored(operand) => Self {
                everything: false,
                points: vec![Point(BTreeSet::from([*operand]))],
            },
            Space::Intersection(left, right) => {
                let (left, right) = (Self::of(left), Self::of(right));
                Self {
                    everything: left.everything && right.everything,
                    points: left.joined(&right),
                }
            }
            Space::Union(left, right) => {
                let (left, right) = (Self::of(left), Self::of(right));
                let mut points = left.joined(&right);
                points.extend(left.points);
                points.extend(right.points);
                Self {
                    everything: left.everything || right.everything,
                    points,
                }
            }
        }
    }

    fn joined(&self, other: &Self) -> Vec<Point> {
        self.points
            .iter()
            .flat_map(|p| {
                other
                    .points
                    .iter()
                    .map(move |q| Point(p.0.union(&q.0).copied().collect()))
            })
            .collect()
    }

    /// The points as they are where an operand is not asked for.
    #[must_use]
    pub fn without(&self, operand: Operand) -> Self {
        let rest = |point: &Point| {
            let others = point.0.iter().filter(|other| **other != operand);
            Point(others.copied().collect())
        };
        let mut lattice = Self {
            everything: self.everything,
            points: self.points.iter().map(rest).collect(),
        };
        lattice.sort();
        lattice
    }

    /// Every operand that the loop walks.
    pub fn operands(&self) -> BTreeSet<Operand> {
        self.points
            .iter()
            .flat_map(|point| point.0.iter().copied())
            .collect()
    }

    /// The points inside `point`, itself first: the cases of its loop.
    pub fn cases<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = &'a Point> {
        self.points.iter().filter(|case| case.0.is_subset(&point.0))
    }

    /// How many points the lattice of a space has at most, found without
    /// making them: never more than there are sets of its operands.
    pub fn n_points_at_most(space: &Space) -> usize {
        Self::bound(space).0
    }

    /// How many points there are at most, and the operands that they are of.
    fn bound(space: &Space) -> (usize, BTreeSet<Operand>) {
        let (left, right, is_union) = match space {
            Space::Nothing => return (0, BTreeSet::new()),
            Space::Everything => return (1, BTreeSet::new()),
            Space::Stored(operand) => return (1, BTreeSet::from([*operand])),
            Space::Intersection(left, right) => (left, right, false),
            Space::Union(left, right) => (left, right, true),
        };
        let ((left, mut operands), (right, others)) = (Self::bound(left), Self::bound(right));
        operands.extend(others);
        let both = left.saturating_mul(right);
        let points = match is_union {
            true => both.saturating_add(left).saturating_add(right),
            false => both,
        };
        let sets = u32::try_from(operands.len()).ok();
        let sets = sets.and_then(|n| 1usize.checked_shl(n));
        (points.min(sets.unwrap_or(usize::MAX)), operands)
    }

    /// How many cases the loop has over all its parts.
    pub fn n_cases(&self) -> usize {
        if self.everything {
            return self.points.len();
        }
        self.points
            .iter()
            .map(|point| self.cases(point).count())
            .sum()
    }

    /// The lattice as text, with operands named by `name`: `{b0, c0} {b0} {c0}`,
    /// behind `all` where the loop is over everything.
    pub fn text(&self, name: &dyn Fn(Operand) -> String) -> String {
        let mut words = Vec::new();
        if self.everything {
            words.push("all".to_owned());
        }
        for point in &self.points {
            let names: Vec<String> = point.0.iter().map(|operand| name(*operand)).collect();
            words.push(format!("{{{}}}", names.join(", ")));
        }
        if words.is_empty() {
            words.push("nothing".to_owned());
        }
        words.join(" ")
    }
}
