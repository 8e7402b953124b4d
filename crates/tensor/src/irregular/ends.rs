//! Finds the first and the last entries of a tensor whose positions are not its entries,
//! in bounded time.
//!
//! ```text
//! walk from the front ──► all entries, if they are few
//!                     ──► the first ones;  walk from the back ──► the last ones
//! ```
//!
//! Many places without an entry (padding, empty slots) may lie between two entries. A walk
//! ends after [`MOST_PLACES`] places, with the entries that it found.

use std::ops::ControlFlow;

use sparsec_base::Scalar;

use super::{Part, Visited, image, parts};
use crate::array::Element;
use crate::print::{Ends, Entry};
use crate::tensor::Tensor;
use crate::walk::{Walk, WalkLevel};
use crate::with_element;

/// How many positions and coordinates one walk looks at: some milliseconds.
const MOST_PLACES: usize = 1 << 20;

/// A part of a tensor with its levels at hand.
struct Ready<'a> {
    part: Part,
    walk: Walk<'a>,
    /// How many values stand before its own.
    first_value: usize,
}

/// A walk over places.
struct Steps {
    from_back: bool,
    /// Places that may still be looked at.
    left: usize,
}

impl Tensor {
    /// All entries if they are at most `most`, else `edge` at each end. The mirror image
    /// of an entry follows the entry.
    pub(crate) fn irregular_ends(&self, most: usize, edge: usize) -> Ends {
        let ready = self.ready_parts();
        let (mut first, has_ended) = self.walked(&ready, false, most.saturating_add(1));
        if has_ended && first.len() <= most {
            return Ends { first, last: None };
        }
        let (mut last, _) = self.walked(&ready, true, edge);
        // The mirror image of the last entry of a walk may be one too many.
        first.truncate(edge);
        last.truncate(edge);
        // If the walks gave up, both may have found the same entries.
        last.retain(|(coords, _)| first.iter().all(|(known, _)| known != coords));
        last.reverse();
        Ends {
            first,
            last: Some(last),
        }
    }

    fn ready_parts(&self) -> Vec<Ready<'_>> {
        let Ok(parts) = parts(self.format(), self.extents()) else {
            unreachable!("a tensor's coordinates can be counted");
        };
        let mut first_value = 0;
        let ready = parts.into_iter().map(|part| {
            let extents = part.extents(|level| self.level(level));
            let walk = Walk::of_part(self, &part.format, part.first_level, &extents);
            let here = first_value;
            first_value += match part.format.levels().len() {
                0 => 1,
                n => self.n_positions(part.first_level + n - 1),
            };
            Ready {
                part,
                walk,
                first_value: here,
            }
        });
        ready.collect()
    }

    /// Walks from the front or from the back until `most` entries are found; the entries
    /// in that order, and whether there are no more.
    fn walked(&self, parts: &[Ready<'_>], from_back: bool, most: usize) -> (Vec<Entry>, bool) {
        let mut steps = Steps {
            from_back,
            left: MOST_PLACES,
        };
        let mut entries = Vec::new();
        for number in 0..parts.len() {
            let Ready {
                part,
                walk,
                first_value,
            } = &parts[steps.place(number, parts.len())];
            let n_levels = walk.levels().len();
            let (mut scratch, mut modes) = (vec![0; n_levels], vec![0; self.order()]);
            let mut visit = |levels: &[u64], position: usize| {
                if let Visited::Entry(coords) = part.visited(levels, &mut scratch, &mut modes) {
                    let value = self.vals().get(first_value + position);
                    add(part, coords, value, from_back, &mut entries);
                }
                match entries.len() >= most {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let mut coords = vec![0; n_levels];
            let flow = match n_levels {
                0 => visit(&coords, 0),
                _ => steps.below(walk.levels(), 0, 0, &mut coords, &mut visit),
            };
            if flow.is_break() {
                return (entries, false);
            }
        }
        (entries, true)
    }
}

/// Adds an entry, and its mirror image behind it.
fn add(part: &Part, coords: &[u64], value: Scalar, from_back: bool, to: &mut Vec<Entry>) {
    let here = to.len();
    to.push((coords.to_vec(), value));
    let Some(mirror) = part.format.mirror() else {
        return;
    };
    let [a, b] = mirror.modes;
    if coords[a] == coords[b] {
        return;
    }
    let mut swapped = coords.to_vec();
    swapped.swap(a, b);
    let value = with_element!(value.element(), T => {
        T::from_scalar(value).map_or(value, |value| image(mirror.of.image(), value).scalar())
    });
    to.insert(here + usize::from(!from_back), (swapped, value));
}

impl Steps {
    /// The place that the walk visits at `step`, of `of` places.
    fn place(&self, step: usize, of: usize) -> usize {
        match self.from_back {
            true => of - 1 - step,
            false => step,
        }
    }

    /// Visits places in the last level below a position of the level above `number`.
    fn below(
        &mut self,
        levels: &[WalkLevel<'_>],
        number: usize,
        parent: usize,
        coords: &mut [u64],
        visit: &mut impl FnMut(&[u64], usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let positions = levels[number].positions(parent);
        for step in 0..positions.len() {
            let position = positions.start + self.place(step, positions.len());
            let run = levels[number].run(parent, position);
            self.look()?;
            let length = run.end.saturating_sub(run.start) as usize;
            for step in 0..length {
                coords[number] = run.start + self.place(step, length) as u64;
                match number + 1 == levels.len() {
                    true => visit(coords, position)?,
                    false => self.below(levels, number + 1, position, coords, visit)?,
                }
                self.look()?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Counts a place.
    fn look(&mut self) -> ControlFlow<()> {
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
