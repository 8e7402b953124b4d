//! Dynamic programming over sets of parts.
//!
//! `best[S]` holds the cheapest trees of the set `S`, at most `keep`, cheapest first. Sets
//! are visited in the order of their bits, so all subsets of a set come before it; a masked
//! product `A B M` is added to its set from the split of `A ∪ B`.

use sparsec_base::cancel::checkpoint;

use super::MAX_NEST;
use super::shape::Shape;
use crate::estimate::{Estimator, Part};
use crate::tree::WRITE;

/// A set of parts as bits.
type Parts = u32;

/// One tree of a set: its cost and its last statement.
#[derive(Clone, Copy, Debug)]
struct Alternative {
    cost: f64,
    last: Last,
}

#[derive(Clone, Copy, Debug)]
enum Last {
    /// The set is one part.
    Part,
    /// The part is summed over what nothing else has.
    Sum,
    /// The trees of rank `ranks` of `left` and of the rest, times part `mask` if there is one.
    Product {
        left: Parts,
        ranks: [u16; 2],
        mask: Option<u8>,
    },
    /// All parts in one nest.
    Nest,
}

struct Exact<'a> {
    estimator: &'a Estimator<'a>,
    parts: &'a [Part],
    keep: usize,
    bound: f64,
    best: Vec<Vec<Alternative>>,
    /// The product of each set, once it is known to be worth it.
    products: Vec<Option<Part>>,
    /// For parts with index variables of their own, the part summed over them.
    sums: Vec<Option<Part>>,
    /// By set, the parts that share an index variable with a member.
    near: Vec<Parts>,
}

/// The `keep` cheapest shapes over `parts` that cost at most `bound`, with their costs.
///
/// # Panics
/// If there are more parts than bits.
pub(super) fn shapes(
    estimator: &Estimator<'_>,
    parts: &[Part],
    keep: usize,
    bound: f64,
) -> Vec<(Shape, f64)> {
    assert!(parts.len() < Parts::BITS as usize - 1);
    let n_sets = 1usize << parts.len();
    let mut exact = Exact {
        estimator,
        parts,
        keep,
        // Costs are sums in another order than the bound's.
        bound: bound * (1.0 + 1e-9),
        best: vec![Vec::new(); n_sets],
        products: vec![None; n_sets],
        sums: Vec::new(),
        near: near(parts),
    };
    exact.run();
    let all = n_sets - 1;
    let found = exact.best[all].iter().enumerate();
    found
        .map(|(rank, tree)| (exact.shape(all as Parts, rank), tree.cost))
        .collect()
}

impl Exact<'_> {
    fn run(&mut self) {
        for (place, &part) in self.parts.iter().enumerate() {
            let summed = self.estimator.summed(part.operands);
            let is_smaller = part.kept != summed.kept;
            self.sums.push(is_smaller.then_some(summed));
            self.products[1 << place] = Some(part);
            self.best[1 << place].push(Alternative {
                cost: 0.0,
                last: Last::Part,
            });
        }
        if let [part] = self.parts {
            let summed = self.estimator.summed(part.operands);
            self.best[1] = vec![Alternative {
                cost: part.entries + WRITE * summed.entries,
                last: Last::Sum,
            }];
            return;
        }
        self.add_nests();
        for set in 1..self.best.len() as Parts {
            if set.count_ones() >= 2 && self.is_kept(set) {
                self.split(set);
            }
        }
    }

    /// Whether a set may be an intermediate: apart from parts of the network that nothing
    /// else is connected to, it falls into at most two connected parts.
    fn is_kept(&self, set: Parts) -> bool {
        let mut rest = set;
        let mut n_open = 0;
        while rest != 0 {
            let mut part = rest & rest.wrapping_neg();
            let mut closed = false;
            while !closed {
                let wider = part | (self.near[part as usize] & set);
                closed = wider == part;
                part = wider;
            }
            n_open += usize::from(self.near[part as usize] & !part != 0);
            rest &= !part;
        }
        n_open <= 2
    }

    /// Adds nests over all small sets: [`Estimator::nest`] for all of them at once.
    fn add_nests(&mut self) {
        let mut joins: Vec<Option<Part>> = vec![None; self.best.len()];
        let mut steps = vec![f64::INFINITY; self.best.len()];
        for set in 1..self.best.len() {
            if set.is_power_of_two() {
                joins[set] = Some(self.parts[set.trailing_zeros() as usize]);
                steps[set] = 0.0;
                continue;
            }
            if set.count_ones() as usize > MAX_NEST {
                continue;
            }
            let (mut least, mut before_least) = (f64::INFINITY, f64::INFINITY);
            let mut joined = None;
            for last in members(set as Parts) {
                let before = set & !(1 << last);
                let Some(left) = joins[before] else { continue };
                let right = &self.parts[last];
                least = least.min(self.estimator.pair(&left, right));
                before_least = before_least.min(steps[before]);
                joined = Some(Part {
                    operands: left.operands.union(right.operands),
                    kept: left.kept.union(right.kept),
                    entries: least,
                });
            }
            steps[set] = least + before_least;
            // A join beyond the bound is part of no nest below it.
            joins[set] = joined
                .filter(|_| steps[set] <= self.bound)
                .map(|part| Part {
                    entries: least,
                    ..part
                });
            if set.count_ones() > 2 && steps[set] <= self.bound {
                let written = self.product(set as Parts).entries;
                self.insert(
                    set as Parts,
                    Alternative {
                        cost: steps[set] + WRITE * written,
                        last: Last::Nest,
                    },
                );
            }
        }
    }

    fn product(&mut self, set: Parts) -> Part {
        let place = set as usize;
        match self.products[place] {
            Some(part) => part,
            None => {
                let operands = members(set)
                    .map(|part| self.parts[part].operands)
                    .reduce(|left, right| left.union(right));
                let part = self.estimator.summed(operands.expect("a set has a member"));
                self.products[place] = Some(part);
                part
            }
        }
    }

    /// Adds the products of all splits of `set` in two, and masks to them.
    fn split(&mut self, set: Parts) {
        checkpoint();
        let lowest = set & set.wrapping_neg();
        let others = set ^ lowest;
        // All proper subsets of `set` that have its lowest member.
        let mut rest = others;
        loop {
            rest = rest.wrapping_sub(1) & others;
            let left = rest | lowest;
            let right = set ^ left;
            if !self.best[left as usize].is_empty() && !self.best[right as usize].is_empty() {
                self.join(left, right);
            }
            if rest == 0 {
                return;
            }
        }
    }

    fn join(&mut self, left: Parts, right: Parts) {
        let set = left | right;
        let below = self.best[left as usize][0].cost + self.best[right as usize][0].cost;
        if below > self.bound {
            return;
        }
        let masks = self.near[left as usize] & self.near[right as usize] & !set;
        let written = WRITE * self.product(set).entries;
        // Each entry that is written takes a step at least.
        let limit = self.limit(set);
        if below + written > limit && masks == 0 {
            return;
        }
        let (a, b) = (self.product(left), self.product(right));
        if below + written <= limit {
            let steps = self.estimator.pair(&a, &b);
            if below + steps + written <= limit {
                self.insert_all(left, right, None, steps + written);
            }
            self.join_summed(left, right);
        }
        for mask in members(masks) {
            let part = self.parts[mask];
            let fits = part.kept.is_subset(a.kept.union(b.kept))
                && !part.kept.is_subset(a.kept)
                && !part.kept.is_subset(b.kept);
            let whole = set | 1 << mask;
            if !fits || below > self.limit(whole) {
                continue;
            }
            let written = WRITE * self.product(whole).entries;
            if below + written > self.limit(whole) {
                continue;
            }
            let steps = self.estimator.nest(&[a, b, part]);
            self.insert_all(left, right, Some(mask as u8), steps + written);
        }
    }

    /// Adds products of parts that are summed over their own index variables first.
    fn join_summed(&mut self, left: Parts, right: Parts) {
        let sum = |set: Parts| match set.is_power_of_two() {
            true => self.sums[set.trailing_zeros() as usize],
            false => None,
        };
        let sums = [sum(left), sum(right)];
        if sums == [None, None] {
            return;
        }
        let plain = [self.product(left), self.product(right)];
        let written = WRITE * self.product(left | right).entries;
        for choice in 1..4usize {
            let chosen = |side: usize| choice >> side & 1 == 1;
            if (0..2).any(|side| chosen(side) && sums[side].is_none()) {
                continue;
            }
            let mut extra = written;
            let mut parts = plain;
            for side in (0..2).filter(|&side| chosen(side)) {
                if let Some(summed) = sums[side] {
                    extra += plain[side].entries + WRITE * summed.entries;
                    parts[side] = summed;
                }
            }
            // Rank 1 of a single part stands for its sum.
            let ranks = [0, 1].map(|side| u16::from(chosen(side)));
            let other = |side: usize, set: Parts| match chosen(side) {
                true => 0.0,
                false => self.best[set as usize][0].cost,
            };
            let cost = extra
                + self.estimator.pair(&parts[0], &parts[1])
                + other(0, left)
                + other(1, right);
            self.insert(
                left | right,
                Alternative {
                    cost,
                    last: Last::Product {
                        left,
                        ranks,
                        mask: None,
                    },
                },
            );
        }
    }

    /// Adds a product for each pair of trees of its two sides.
    fn insert_all(&mut self, left: Parts, right: Parts, mask: Option<u8>, own: f64) {
        let set = left | right | mask.map_or(0, |mask| 1 << mask);
        let n_left = self.best[left as usize].len();
        for rank in 0..n_left {
            for other in 0..self.best[right as usize].len() {
                let below =
                    self.best[left as usize][rank].cost + self.best[right as usize][other].cost;
                if below + own > self.limit(set) {
                    break;
                }
                self.insert(
                    set,
                    Alternative {
                        cost: below + own,
                        last: Last::Product {
                            left,
                            ranks: [rank as u16, other as u16],
                            mask,
                        },
                    },
                );
            }
        }
    }

    /// The most that a tree of `set` may cost to be kept.
    fn limit(&self, set: Parts) -> f64 {
        let best = &self.best[set as usize];
        match best.len() < self.keep {
            true => self.bound,
            false => best[self.keep - 1].cost,
        }
    }

    fn insert(&mut self, set: Parts, tree: Alternative) {
        if tree.cost > self.limit(set) {
            return;
        }
        let best = &mut self.best[set as usize];
        let place = best.partition_point(|other| other.cost <= tree.cost);
        best.insert(place, tree);
        best.truncate(self.keep);
    }

    fn shape(&self, set: Parts, rank: usize) -> Shape {
        let part = |set: Parts| Shape::Part(set.trailing_zeros() as usize);
        let single = set.is_power_of_two();
        match self.best[set as usize].get(rank).map(|tree| tree.last) {
            Some(Last::Part) => part(set),
            Some(Last::Sum) | None if single => Shape::Join(vec![part(set)]),
            Some(Last::Nest) => Shape::Join(members(set).map(Shape::Part).collect()),
            Some(Last::Product { left, ranks, mask }) => {
                let masked = mask.map_or(0, |mask| 1 << mask);
                let right = set & !left & !masked;
                let mut shapes = vec![
                    self.shape(left, ranks[0] as usize),
                    self.shape(right, ranks[1] as usize),
                ];
                shapes.extend(mask.map(|mask| Shape::Part(mask as usize)));
                Shape::Join(shapes)
            }
            Some(Last::Sum) | None => unreachable!("ranks are those of trees that were kept"),
        }
    }
}

/// By set, the parts that share an index variable with a member.
fn near(parts: &[Part]) -> Vec<Parts> {
    let mut near: Vec<Parts> = vec![0; 1 << parts.len()];
    for set in 1..near.len() {
        let lowest = set.trailing_zeros() as usize;
        let own = match set.is_power_of_two() {
            true => (0..parts.len())
                .filter(|&other| parts[other].kept.meets(parts[lowest].kept))
                .fold(0, |bits, other| bits | 1 << other),
            false => near[1 << lowest],
        };
        near[set] = own | near[set & (set - 1)];
    }
    near
}

fn members(set: Parts) -> impl Iterator<Item = usize> + Clone {
    let mut rest = set;
    std::iter::from_fn(move || {
        let next = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(next)
    })
}
