//! How well a processor guesses which of several operands comes next as they are merged.
//!
//! ```text
//! A   2   5   8     11    14          B lies one on: A, B, A, B, …
//! B     3   6   9     12    15        every guess is right
//!
//! A   2 3     9 10        14          anywhere: A, A, B, B, A, B, A, …
//! B         7      11  13             every other guess is wrong
//! ```
//!
//! It is a property of the operands together: each of those above may lie anywhere. So
//! merges are **walked**, beginning at some positions here and there of the operand that
//! stores most, and going on from there through its fibers; those of the others are found by
//! the coordinates above them. Each step is an outcome: the set of operands that
//! have an entry at the least coordinate. It is **guessed** as a processor would: for
//! each way in which the last few steps may have come out there is the outcome
//! that came next, with a counter of two bits that says how sure that is. What is
//! left of one operand when the others have come to an end is known.
//!
//! Levels are read as they are stored, so that what is sampled is what loops walk. Levels
//! that none merges in steps, without order or of runs, have no answer, and neither have
//! operands that have other fibers for the same coordinates above them.
//!
//! Source of the predictor: Yeh and Patt, "Two-Level Adaptive Training Branch Prediction",
//! MICRO 1991, <https://doi.org/10.1145/123465.123475>.

use std::ops::Range;

use sparsec_format::LevelKind;

use crate::irregular::parts;
use crate::tensor::Tensor;
use crate::walk::{Walk, WalkLevel};

/// Places at which merges are looked at.
const PLACES: usize = 16;
/// Steps that are followed from each of them.
const STEPS: usize = 32;
/// Bits of the outcomes before that a guess goes by: one for each operand and step.
const HISTORY: u32 = 6;
/// How sure a guess is at most: wrong so many times and once more, it is another.
const SURE: u8 = 3;

/// A tensor that is merged with others.
#[derive(Clone, Copy, Debug)]
pub struct Merged<'a> {
    /// The tensor.
    pub tensor: &'a Tensor,
    /// Which part of it, where it is a union of several; else 0.
    pub part: usize,
    /// The variables of its levels down to the one that is merged, which has the last: equal
    /// numbers for equal variables, in all that are merged.
    pub vars: &'a [usize],
}

/// What share of the steps of a merge a processor would guess wrong: 0 where the operands
/// come in turns, half where any may be next. Takes five hundred steps here and there, in some
/// ten microseconds; `None` where it cannot be told.
///
/// ```
/// use sparsec_base::{ElementType, Source};
/// use sparsec_tensor::guesses::{Merged, mispredicted};
/// use sparsec_tensor::{Tensor, generate};
/// let csr = "csr".parse::<sparsec_format::FormatSpec>()?.resolve(2)?;
/// let made = |text: &str| {
///     generate(&Source::new("generator", text), &[500, 500], Some(&csr), ElementType::F64)
/// };
/// let share = |a: &Tensor, b: &Tensor| {
///     mispredicted(&[a, b].map(|tensor| Merged { tensor, part: 0, vars: &[0, 1] }))
/// };
/// let [a, b] = [made("random(nnz=5000, seed=1)")?, made("random(nnz=5000, seed=2)")?];
/// assert!(share(&a, &b) > Some(0.3));
/// assert!(share(&a, &a) < Some(0.01));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn mispredicted(operands: &[Merged<'_>]) -> Option<f64> {
    let operands: Option<Vec<Operand<'_>>> = operands.iter().map(Operand::new).collect();
    let operands = operands?;
    let lead = operands.iter().rev().max_by_key(|it| it.n_positions)?;
    let is_known = |var: &usize| lead.above().contains(var);
    let share_fibers =
        |it: &Operand<'_>| it.merged() == lead.merged() && it.above().iter().all(is_known);
    if !operands.iter().all(share_fibers) {
        return None;
    }
    let mut guesses = Guesses::new(operands.len() as u32);
    let stride = (lead.n_positions / PLACES).max(STEPS);
    for place in (0..lead.n_positions).step_by(stride) {
        follow(&operands, lead, place, &mut guesses);
    }
    guesses.wrong_share()
}

/// Walks merges from a position of the operand that leads on.
fn follow(operands: &[Operand<'_>], lead: &Operand<'_>, place: usize, guesses: &mut Guesses) {
    let (mut place, mut left) = (place, STEPS);
    let (mut known, mut fibers) = (Vec::new(), Vec::with_capacity(operands.len()));
    let mut skips = true;
    while left > 0 && place < lead.n_positions {
        left -= 1;
        let mut next = place + 1;
        if let Some(first) = lead.coords(place, &mut known) {
            let own = lead.fiber(&known).map_or(0, |own| own.positions.end);
            next = next.max(own);
            fibers.clear();
            fibers.extend(operands.iter().filter_map(|it| it.fiber(&known)));
            if skips {
                fibers
                    .iter_mut()
                    .for_each(|it: &mut Fiber<'_>| it.skip_to(first));
            }
            if fibers.len() == operands.len() {
                left -= guesses.merge(&mut fibers, left);
            }
        }
        // Other fibers are followed from their beginnings.
        skips = false;
        place = next;
    }
}

/// The levels of an operand down to the one that is merged.
struct Operand<'a> {
    walk: Walk<'a>,
    vars: &'a [usize],
    /// Positions of the level that is merged.
    n_positions: usize,
}

impl<'a> Operand<'a> {
    fn new(merged: &Merged<'a>) -> Option<Self> {
        let &Merged { tensor, part, vars } = merged;
        let parts = parts(tensor.format(), tensor.extents()).ok()?;
        let part = parts.get(part)?;
        let levels = part.format.levels().get(..vars.len())?;
        let is_in_steps = |kind| !matches!(kind, LevelKind::Hashed | LevelKind::RunLength);
        let is_found = levels.iter().all(|it| it.ordered && is_in_steps(it.kind));
        let last = part.first_level + vars.len().checked_sub(1)?;
        let extents = part.extents(|level| tensor.level(level));
        is_found.then(|| Self {
            walk: Walk::of_part(tensor, &part.format, part.first_level, &extents),
            vars,
            n_positions: tensor.n_positions(last),
        })
    }

    fn above(&self) -> &'a [usize] {
        &self.vars[..self.vars.len() - 1]
    }

    fn merged(&self) -> usize {
        self.vars[self.vars.len() - 1]
    }

    /// The coordinate of a position of the level that is merged, after those above it, by
    /// variable; `None` if nothing is stored there.
    fn coords(&self, position: usize, above: &mut Vec<(usize, u64)>) -> Option<u64> {
        above.clear();
        let mut own = None;
        let mut position = position;
        let levels = self.walk.levels().iter().zip(self.vars);
        for (level, &var) in levels.take(self.vars.len()).rev() {
            let parent = level.parent(position);
            // Segments with room behind them do not hold every position.
            if !level.positions(parent).contains(&position) {
                return None;
            }
            let coord = level.coord(parent, position);
            match own {
                None => own = Some(coord),
                Some(_) => above.push((var, coord)),
            }
            position = parent;
        }
        own
    }

    /// What is stored below these coordinates; `None` where it cannot be told.
    fn fiber(&self, known: &[(usize, u64)]) -> Option<Fiber<'_>> {
        let mut parents = 0..1;
        for (number, level) in self.walk.levels()[..self.vars.len()].iter().enumerate() {
            let fiber = Fiber::below(level, parents)?;
            if number + 1 == self.vars.len() {
                return Some(fiber);
            }
            let (_, coord) = known.iter().find(|(var, _)| *var == self.vars[number])?;
            parents = fiber.at(*coord);
        }
        None
    }
}

/// The positions of a level below one position above, or below several of equal
/// coordinates.
struct Fiber<'a> {
    level: &'a WalkLevel<'a>,
    parent: usize,
    positions: Range<usize>,
}

impl<'a> Fiber<'a> {
    fn below(level: &'a WalkLevel<'a>, parents: Range<usize>) -> Option<Self> {
        let positions = match parents.len() {
            0 => 0..0,
            1 => level.positions(parents.start),
            // Where segments lie one behind the other.
            _ if matches!(level.kind, LevelKind::Compressed | LevelKind::Singleton) => {
                level.positions(parents.start).start..level.positions(parents.end - 1).end
            }
            _ => return None,
        };
        Some(Self {
            level,
            parent: parents.start,
            positions,
        })
    }

    fn coord(&self, position: usize) -> u64 {
        self.level.coord(self.parent, position)
    }

    /// The first of the positions that are left whose coordinate is at least this.
    fn first_from(&self, coord: u64) -> usize {
        let (mut low, mut high) = (self.positions.start, self.positions.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.coord(middle) < coord {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    fn at(&self, coord: u64) -> Range<usize> {
        self.first_from(coord)..self.first_from(coord + 1)
    }

    fn skip_to(&mut self, coord: u64) {
        self.positions.start = self.first_from(coord);
    }

    /// The next coordinate at which something is stored.
    fn next(&mut self) -> Option<u64> {
        let is_bitmap = self.level.kind == LevelKind::Bitmap;
        while is_bitmap
            && !self.positions.is_empty()
            && self.level.arrays.bits.at(self.positions.start) == 0
        {
            self.positions.start += 1;
        }
        let position = (!self.positions.is_empty()).then_some(self.positions.start)?;
        // The extent itself marks a place where nothing is.
        Some(self.coord(position)).filter(|coord| *coord < self.level.extent)
    }
}

/// What a processor would guess, and how that went.
struct Guesses {
    n_operands: u32,
    /// By what came before: what comes next, and how sure that is.
    next: [(u64, u8); 1 << HISTORY],
    /// The last outcomes, the latest in the lowest bits.
    before: u64,
    steps: usize,
    wrong: usize,
    /// The next coordinate of each fiber.
    coords: Vec<Option<u64>>,
}

impl Guesses {
    fn new(n_operands: u32) -> Self {
        Self {
            n_operands,
            next: [(0, 0); 1 << HISTORY],
            before: 0,
            steps: 0,
            wrong: 0,
            coords: Vec::new(),
        }
    }

    /// Merges fibers, at most so many steps, and says how many it took.
    fn merge(&mut self, fibers: &mut [Fiber<'_>], most: usize) -> usize {
        let before = self.steps;
        let mut coords = std::mem::take(&mut self.coords);
        coords.clear();
        coords.extend(fibers.iter_mut().map(Fiber::next));
        while self.steps - before < most {
            let Some(least) = coords.iter().flatten().copied().min() else {
                break;
            };
            if coords.iter().flatten().count() == 1 {
                let left: usize = fibers.iter().map(|fiber| fiber.positions.len()).sum();
                self.steps += left.min(most - (self.steps - before));
                break;
            }
            let mut outcome = 0;
            for (number, (fiber, coord)) in fibers.iter_mut().zip(&mut coords).enumerate() {
                if *coord == Some(least) {
                    outcome |= 1u64.checked_shl(number as u32).unwrap_or(0);
                    fiber.positions.start += 1;
                    *coord = fiber.next();
                }
            }
            self.meet(outcome);
        }
        self.coords = coords;
        self.steps - before
    }

    fn meet(&mut self, outcome: u64) {
        let (guess, sure) = &mut self.next[self.before as usize];
        self.steps += 1;
        if *guess == outcome {
            *sure = (*sure + 1).min(SURE);
        } else {
            self.wrong += 1;
            match *sure {
                0 => *guess = outcome,
                _ => *sure -= 1,
            }
        }
        let shifted = self.before.checked_shl(self.n_operands).unwrap_or(0);
        self.before = (shifted | outcome) % (1 << HISTORY);
    }

    fn wrong_share(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.wrong as f64 / self.steps as f64)
    }
}
