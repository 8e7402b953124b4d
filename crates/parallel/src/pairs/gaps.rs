//! Closing the gaps that combined pairs leave at the end of each bucket.
//!
//! Every bucket moves down by the number of pairs that went before it, which
//! takes all pairs through memory once more, so threads share the work. What a
//! stretch takes from the places of the next one is saved before any moves:
//!
//! ```text
//! before   aaa.bbbb..ccc       two stretches:  aaa bbbb | ccc
//! saved                 ccc    the last of one lies in the other's places
//! after    aaabbbbccc
//! ```

use std::ops::Range;

use crate::memory::Plain;
use crate::pool::{map, ranges, split_mut};

/// Moves what the buckets kept to the front; returns how much that is.
pub(super) fn close_gaps<K: Plain, V: Plain>(
    buckets: &[usize],
    kept: &[usize],
    keys: &mut [K],
    values: &mut [V],
) -> usize {
    let (mut from, mut to) = (0, 0);
    let mut moves = Vec::new();
    for (bucket, &kept) in buckets.iter().zip(kept) {
        moves.push(Move {
            from,
            to,
            len: kept,
        });
        from += bucket;
        to += kept;
    }
    if from != to {
        // A few pairs are saved, so that every stretch can be moved by itself;
        // where that is many, there is less to move.
        let groups = ranges(moves.len(), 1);
        let gap = |group: &Range<usize>| moves[group.end - 1].from - moves[group.end - 1].to;
        if groups.iter().map(gap).sum::<usize>() < keys.len() / 8 {
            move_in_parallel(&moves, &groups, keys);
            move_in_parallel(&moves, &groups, values);
        } else {
            move_down(&moves, 0, keys);
            move_down(&moves, 0, values);
        }
    }
    to
}

/// Entries that move to a lower place, or stay.
struct Move {
    from: usize,
    to: usize,
    len: usize,
}

/// Moves in order; `items` begins at place `start`.
fn move_down<T: Copy>(moves: &[Move], start: usize, items: &mut [T]) {
    for Move { from, to, len } in moves {
        if from != to {
            let from = from - start;
            items.copy_within(from..from + len, to - start);
        }
    }
}

/// Moves each group of moves by a thread of its own. What the last move of a
/// group takes from the places of the next group is saved before.
fn move_in_parallel<T: Plain>(moves: &[Move], groups: &[Range<usize>], items: &mut [T]) {
    let ends: Vec<usize> = groups
        .iter()
        .map(|group| moves[group.end - 1].to + moves[group.end - 1].len)
        .collect();
    let starts: Vec<usize> = groups.iter().map(|group| moves[group.start].to).collect();
    let saved: Vec<Vec<Vec<T>>> = groups
        .iter()
        .zip(&ends)
        .map(|(group, &end)| {
            let tail = |step: &Move| {
                let start = step.from.max(end);
                items[start..start.max(step.from + step.len)].to_vec()
            };
            moves[group.clone()].iter().map(tail).collect()
        })
        .collect();
    let lengths = ends.iter().zip(&starts).map(|(end, start)| end - start);
    let pieces = split_mut(items, lengths);
    let work: Vec<_> = groups.iter().zip(pieces).zip(saved).zip(starts).collect();
    map(work, |(((group, piece), saved), start)| {
        for (step, tail) in moves[group.clone()].iter().zip(saved) {
            let to = step.to - start;
            let here = step.len - tail.len();
            if here > 0 {
                let from = step.from - start;
                piece.copy_within(from..from + here, to);
            }
            piece[to + here..to + step.len].copy_from_slice(&tail);
        }
    });
}
