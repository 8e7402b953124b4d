//! Values of points to entries of a result.
//!
//! A reduction adds up the points that agree in its free variables. A scan
//! keeps those together whose first free variables agree (its prefix), so only
//! the sums of one such group are open at a time:
//!
//! ```text
//! sum{k}(A(i,k) * B(k,j))     prefix i: the sums of one row of the result,
//!                             numbered as their j turn up
//! ```

use std::collections::HashMap;

use sparsec_base::ElementType;
use sparsec_index::Operator;

use crate::point::{Entry, Fold, Value};
use crate::rows::{Rows, ascending};

/// The most groups that are numbered by an array rather than by hashing.
const MOST_IN_ARRAY: u64 = 1 << 22;

/// Sums by the coordinates of the free variables, for one reduction.
pub(crate) struct Collector {
    op: Operator,
    element: ElementType,
    free: Vec<usize>,
    extents: Vec<u64>,
    /// Sums of finished groups, of which some may come again in a later scan.
    coords: Vec<u64>,
    folds: Vec<Fold>,
    group: Group,
}

/// The open sums.
#[derive(Default)]
struct Group {
    prefix: Vec<usize>,
    rest: Vec<usize>,
    /// The coordinates of the prefix.
    at: Vec<u64>,
    /// The coordinates of the rest, and the sum, of each number.
    coords: Vec<u64>,
    folds: Vec<Fold>,
    numbers: Numbers,
}

/// Numbers given to coordinates of the rest in the order they turn up.
#[derive(Default)]
enum Numbers {
    /// There is no rest.
    #[default]
    One,
    /// By position in row-major order; 0 where there is none yet.
    Array(Vec<u32>),
    Map(HashMap<Vec<u64>, u32>),
}

impl Collector {
    pub(crate) fn new(op: Operator, element: ElementType, free: &[usize], extents: &[u64]) -> Self {
        Self {
            op,
            element,
            free: free.to_vec(),
            extents: extents.to_vec(),
            coords: Vec::new(),
            folds: Vec::new(),
            group: Group::default(),
        }
    }

    /// Says how the points that follow are grouped.
    pub(crate) fn start(&mut self, prefix: &[usize]) {
        self.close();
        let is_rest = |var: &usize| !prefix.contains(var);
        let rest: Vec<usize> = self.free.iter().copied().filter(is_rest).collect();
        let mut extents = rest.iter().map(|var| self.extents[*var]);
        let n = extents.try_fold(1u64, |n, extent| n.checked_mul(extent));
        self.group = Group {
            prefix: prefix.to_vec(),
            numbers: match n {
                _ if rest.is_empty() => Numbers::One,
                Some(n) if n <= MOST_IN_ARRAY => Numbers::Array(vec![0; n as usize]),
                _ => Numbers::Map(HashMap::new()),
            },
            rest,
            ..Group::default()
        };
    }

    pub(crate) fn add(&mut self, bound: &[u64], entry: Entry) {
        let group = &self.group;
        let mut places = group.prefix.iter().zip(&group.at);
        if group.folds.is_empty() || places.any(|(var, at)| bound[*var] != *at) {
            self.close();
            let at = self.group.prefix.iter().map(|var| bound[*var]);
            self.group.at = at.collect();
        }
        let number = self.group.number(bound, &self.extents);
        if number == self.group.folds.len() {
            self.group.folds.push(Fold::new(&self.op, self.element));
        }
        self.group.folds[number].add(&self.op, entry);
    }

    /// Puts the open sums to the finished ones, in order of their coordinates.
    fn close(&mut self) {
        let group = &mut self.group;
        let width = group.rest.len();
        let row = |n: usize| &group.coords[n * width..(n + 1) * width];
        for n in ascending(&group.coords, width, group.folds.len()) {
            for var in &self.free {
                let in_prefix = group.prefix.iter().position(|other| other == var);
                let in_rest = group.rest.iter().position(|other| other == var);
                self.coords.push(match (in_prefix, in_rest) {
                    (Some(place), _) => group.at[place],
                    (_, Some(place)) => row(n)[place],
                    _ => unreachable!("a free variable is in the prefix or in the rest"),
                });
            }
            self.folds.push(group.folds[n]);
        }
        group.reset(&self.extents);
    }

    /// The sums of all `n` points each, of which those that were not added are
    /// `unstored`.
    pub(crate) fn finish(mut self, unstored: Value, n: u128) -> Rows {
        self.close();
        let width = self.free.len();
        let row = |n: usize| &self.coords[n * width..(n + 1) * width];
        let mut rows = Rows::new(width);
        let mut order = ascending(&self.coords, width, self.folds.len())
            .into_iter()
            .peekable();
        while let Some(first) = order.next() {
            let mut fold = self.folds[first];
            while let Some(other) = order.next_if(|other| row(*other) == row(first)) {
                fold.merge(&self.op, &self.folds[other]);
            }
            fold.fill_up(&self.op, unstored, n);
            rows.push(row(first), fold.entry());
        }
        rows
    }
}

impl Group {
    /// The number of the rest's coordinates; the next one for new ones.
    fn number(&mut self, bound: &[u64], extents: &[u64]) -> usize {
        let next = self.folds.len();
        let number = match &mut self.numbers {
            Numbers::One => return 0,
            Numbers::Array(numbers) => {
                let at = self
                    .rest
                    .iter()
                    .fold(0, |at, var| at * extents[*var] + bound[*var]);
                &mut numbers[at as usize]
            }
            Numbers::Map(numbers) => {
                let key: Vec<u64> = self.rest.iter().map(|var| bound[*var]).collect();
                numbers.entry(key).or_insert(0)
            }
        };
        if *number == 0 {
            *number = u32::try_from(next + 1).expect("fewer than 2^32 sums are open at a time");
            self.coords.extend(self.rest.iter().map(|var| bound[*var]));
        }
        *number as usize - 1
    }

    /// Forgets all sums, in time proportional to their number.
    fn reset(&mut self, extents: &[u64]) {
        match &mut self.numbers {
            Numbers::One => {}
            Numbers::Array(numbers) => {
                for coords in self.coords.chunks_exact(self.rest.len().max(1)) {
                    let places = self.rest.iter().zip(coords);
                    let at = places.fold(0, |at, (var, coord)| at * extents[*var] + coord);
                    numbers[at as usize] = 0;
                }
            }
            Numbers::Map(numbers) => numbers.clear(),
        }
        self.coords.clear();
        self.folds.clear();
    }
}
