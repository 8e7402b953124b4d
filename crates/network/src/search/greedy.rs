//! Greedy contraction with seeded noise, and its improvement in windows.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use sparsec_base::cancel::checkpoint;

use super::shape::Shape;
use super::{SLACK, WINDOW, exact};
use crate::estimate::{Estimator, Part};
use crate::tree::WRITE;

/// Pairs that all restarts together may look at, so that planning 100 operands stays below a
/// second. Source: 0.5 µs a pair in `examples/planning.rs`.
const MAX_PAIRS: usize = 1 << 18;

/// Restarts of small networks.
const MAX_RESTARTS: usize = 32;

/// Trees that are improved in windows, which takes longer than finding them.
const MAX_IMPROVED: usize = 3;

/// Random numbers that disturb the choice of the next pair.
pub(super) struct Noise {
    state: u64,
    scale: f64,
    /// How much the entries that a product replaces count against those that it adds.
    replaced: f64,
}

impl Noise {
    /// No noise: the plain greedy choice.
    pub(super) fn none() -> Self {
        Self {
            state: 0,
            scale: 0.0,
            replaced: 1.0,
        }
    }

    fn restart(seed: u64, restart: usize) -> Self {
        if restart == 0 {
            return Self::none();
        }
        let mut noise = Self {
            state: seed ^ (restart as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            scale: 0.0,
            replaced: 0.0,
        };
        noise.scale = 2.0 * noise.unit();
        noise.replaced = noise.unit();
        noise
    }

    /// A number in 0..1, by SplitMix64.
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as f64 / u64::MAX as f64
    }
}

/// Two parts that could be contracted next.
struct Candidate {
    score: f64,
    pair: [usize; 2],
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    /// The lowest score is the greatest, as a heap wants it; equal ones by their parts.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| other.pair.cmp(&self.pair))
    }
}

/// A greedy shape over `parts` with its cost.
pub(super) fn shape(estimator: &Estimator<'_>, parts: &[Part], noise: &mut Noise) -> (Shape, f64) {
    checkpoint();
    let mut live: Vec<Option<(Shape, Part)>> = parts
        .iter()
        .enumerate()
        .map(|(n, &part)| Some((Shape::Part(n), part)))
        .collect();
    let mut heap = BinaryHeap::new();
    for left in 0..live.len() {
        add_candidates(estimator, &live[..=left], left, noise, &mut heap);
    }
    let mut cost = 0.0;
    let mut n_live = live.len();
    while n_live > 1 {
        let next = heap.pop().map(|candidate: Candidate| candidate.pair);
        let pair = next.unwrap_or_else(|| smallest(&live));
        let [Some((left, a)), Some((right, b))] = pair.map(|n| live[n].clone()) else {
            continue;
        };
        for n in pair {
            live[n] = None;
        }
        let product = estimator.summed(a.operands.union(b.operands));
        cost += estimator.pair(&a, &b) + WRITE * product.entries;
        live.push(Some((Shape::Join(vec![left, right]), product)));
        n_live -= 1;
        add_candidates(estimator, &live, live.len() - 1, noise, &mut heap);
    }
    let last = live.into_iter().flatten().next();
    let (shape, part) = last.expect("one part is left");
    match shape {
        Shape::Part(_) => {
            let written = WRITE * estimator.summed(part.operands).entries;
            (Shape::Join(vec![shape]), part.entries + written)
        }
        Shape::Join(_) => (shape, cost),
    }
}

/// Adds the pairs of part `new` with those before it that share an index variable.
fn add_candidates(
    estimator: &Estimator<'_>,
    live: &[Option<(Shape, Part)>],
    new: usize,
    noise: &mut Noise,
    heap: &mut BinaryHeap<Candidate>,
) {
    let Some((_, right)) = &live[new] else {
        return;
    };
    for (place, other) in live[..new].iter().enumerate() {
        let Some((_, left)) = other else { continue };
        if left.kept.meets(right.kept) {
            let product = estimator.summed(left.operands.union(right.operands));
            let added = product.entries + estimator.pair(left, right);
            let replaced = left.entries + right.entries;
            let score = added.max(1.0).ln() - noise.replaced * replaced.max(1.0).ln();
            heap.push(Candidate {
                score: score + noise.scale * noise.unit(),
                pair: [place, new],
            });
        }
    }
}

/// The two smallest parts, for an outer product where nothing is connected.
fn smallest(live: &[Option<(Shape, Part)>]) -> [usize; 2] {
    let mut places: Vec<usize> = (0..live.len()).filter(|&n| live[n].is_some()).collect();
    places.sort_by(|&a, &b| {
        let entries = |n: usize| live[n].as_ref().map_or(0.0, |(_, part)| part.entries);
        entries(a).total_cmp(&entries(b))
    });
    [places[0], places[1]]
}

/// The cheapest `keep` shapes of several restarts, improved, cheapest first.
pub(super) fn shapes(
    estimator: &Estimator<'_>,
    parts: &[Part],
    keep: usize,
    seed: u64,
) -> Vec<(Shape, f64)> {
    let n_restarts = (MAX_PAIRS / (parts.len() * parts.len()).max(1)).clamp(4, MAX_RESTARTS);
    let mut found: Vec<(Shape, f64)> = (0..n_restarts)
        .map(|restart| shape(estimator, parts, &mut Noise::restart(seed, restart)))
        .collect();
    sort(&mut found);
    found.truncate(keep);
    for (shape, cost) in found.iter_mut().take(MAX_IMPROVED) {
        loop {
            let (better, price) = improve(estimator, parts, shape);
            let gains = price < *cost * (1.0 - 1e-6);
            if gains {
                (*shape, *cost) = (better, price);
            } else {
                break;
            }
        }
    }
    sort(&mut found);
    found
}

fn sort(found: &mut [(Shape, f64)]) {
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
}

/// The shape with each window from the leaves to the root searched exactly, and its cost.
fn improve(estimator: &Estimator<'_>, parts: &[Part], shape: &Shape) -> (Shape, f64) {
    let better = improved(estimator, parts, shape);
    let cost = cost_of(estimator, parts, &better);
    (better, cost)
}

fn improved(estimator: &Estimator<'_>, parts: &[Part], shape: &Shape) -> Shape {
    let Shape::Join(shapes) = shape else {
        return shape.clone();
    };
    let shapes: Vec<Shape> = shapes
        .iter()
        .map(|shape| improved(estimator, parts, shape))
        .collect();
    if shapes.len() == 1 {
        return Shape::Join(shapes);
    }
    let joined = Shape::Join(shapes);
    let window = open(estimator, parts, &joined);
    let window_parts: Vec<Part> = window
        .iter()
        .map(|shape| part_of(estimator, parts, shape))
        .collect();
    let below: f64 = window
        .iter()
        .map(|shape| cost_of(estimator, parts, shape))
        .sum();
    let before = cost_of(estimator, parts, &joined);
    let own = (before - below).max(0.0);
    let found = exact::shapes(estimator, &window_parts, 1, own.min(f64::MAX / SLACK));
    match found.first() {
        Some((better, cost)) if *cost < own => better.with_parts(&window),
        _ => joined,
    }
}

/// The subtrees below a join, opened from the largest on until the window is full.
fn open(estimator: &Estimator<'_>, parts: &[Part], shape: &Shape) -> Vec<Shape> {
    let mut window = vec![shape.clone()];
    loop {
        let opened = window
            .iter()
            .enumerate()
            .filter_map(|(place, shape)| match shape {
                Shape::Join(shapes) if shapes.len() > 1 => Some((
                    part_of(estimator, parts, shape).entries,
                    place,
                    shapes.clone(),
                )),
                _ => None,
            })
            .filter(|(_, _, shapes)| window.len() - 1 + shapes.len() <= WINDOW)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match opened {
            Some((_, place, shapes)) => {
                window.splice(place..=place, shapes);
            }
            None => return window,
        }
    }
}

fn part_of(estimator: &Estimator<'_>, parts: &[Part], shape: &Shape) -> Part {
    match shape {
        Shape::Part(n) => parts[*n],
        Shape::Join(shapes) => {
            let operands = shapes
                .iter()
                .map(|shape| part_of(estimator, parts, shape).operands)
                .reduce(|left, right| left.union(right));
            estimator.summed(operands.expect("a join has a part"))
        }
    }
}

fn cost_of(estimator: &Estimator<'_>, parts: &[Part], shape: &Shape) -> f64 {
    let Shape::Join(shapes) = shape else {
        return 0.0;
    };
    let below: f64 = shapes
        .iter()
        .map(|shape| cost_of(estimator, parts, shape))
        .sum();
    let factors: Vec<Part> = shapes
        .iter()
        .map(|shape| part_of(estimator, parts, shape))
        .collect();
    let written = part_of(estimator, parts, shape).entries;
    below + estimator.nest(&factors) + WRITE * written
}
