//! One sum of a product laid over another: which factors are the same, with variables renamed.

use std::collections::BTreeMap;

use sparsec_index::IndexVar;

use super::Sum;

/// How many pairs of factors are tried to lay one sum over another: all of five different
/// ones, in any order.
const MOST_PAIRS: usize = 1 << 10;

/// Variables of one sum as those of another, and back.
#[derive(Clone, Default)]
pub(super) struct Renaming(
    pub(super) BTreeMap<IndexVar, IndexVar>,
    BTreeMap<IndexVar, IndexVar>,
);

impl Renaming {
    /// With these variables as those; `None` where one of them is another already.
    fn with(&self, from: &[IndexVar], to: &[IndexVar]) -> Option<Self> {
        let mut renaming = self.clone();
        for (a, b) in from.iter().zip(to) {
            let there = *renaming.0.entry(*a).or_insert(*b);
            let back = *renaming.1.entry(*b).or_insert(*a);
            if there != *b || back != *a {
                return None;
            }
        }
        Some(renaming)
    }
}

/// Factors of one sum, each with the factor of another that it is.
#[derive(Clone, Default)]
pub(super) struct Overlay {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) renaming: Renaming,
}

/// The most factors of two sums that are the same.
pub(super) fn overlay(first: &Sum<'_>, second: &Sum<'_>, wanted: &[usize]) -> Overlay {
    let mut best = Overlay::default();
    let mut n_left = MOST_PAIRS;
    let start = Overlay::default();
    lay(first, second, wanted, start, &mut best, &mut n_left);
    best
}

fn lay(
    first: &Sum<'_>,
    second: &Sum<'_>,
    left: &[usize],
    so_far: Overlay,
    best: &mut Overlay,
    n_left: &mut usize,
) {
    if so_far.pairs.len() > best.pairs.len() {
        *best = so_far.clone();
    }
    let Some((&at, rest)) = left.split_first() else {
        return;
    };
    if so_far.pairs.len() + left.len() <= best.pairs.len() {
        return;
    }
    if let Some((access, vars)) = first.access(at) {
        for other in 0..second.factors.len() {
            if *n_left == 0 {
                return;
            }
            let is_taken = so_far.pairs.iter().any(|(_, known)| *known == other);
            // The same factor again lays nothing else over the first.
            let is_tried = second.factors[..other].contains(&second.factors[other]);
            let read = second.access(other).filter(|_| !is_taken);
            let Some((_, read_vars)) = read.filter(|(read, _)| read.tensor == access.tensor) else {
                continue;
            };
            *n_left -= 1;
            if let Some(renaming) = so_far.renaming.with(&vars, &read_vars)
                && !(is_tried && is_free(second, other, &so_far))
            {
                let mut pairs = so_far.pairs.clone();
                pairs.push((at, other));
                let further = Overlay { pairs, renaming };
                lay(first, second, rest, further, best, n_left);
            }
        }
    }
    lay(first, second, rest, so_far, best, n_left);
}

/// Whether a factor like this one stands before it and is not laid over another.
fn is_free(sum: &Sum<'_>, at: usize, so_far: &Overlay) -> bool {
    let mut before = sum.factors[..at].iter().enumerate();
    before.any(|(other, factor)| {
        *factor == sum.factors[at] && !so_far.pairs.iter().any(|(_, known)| *known == other)
    })
}
