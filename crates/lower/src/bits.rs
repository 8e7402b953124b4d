//! Bits: coordinates out of places on a curve, and places from coordinates.
//!
//! ```text
//! morton(i, j), 8 bits each     … i2 j2 i1 j1 i0 j0
//!
//! let j_1 = m & 0x5555          . . j2 . j1 . j0
//! let j_2 = (j_1 + j_1 // 2) & 0x3333            pairs of bits side by side
//! let j_4 = (j_2 + j_2 // 4) & 0x0f0f            fours
//! let j = (j_4 + j_4 // 16) & 0x00ff             all
//! ```
//!
//! Bits that are evenly apart come together by doubling, in as many steps as their
//! number has bits; sums do for `or`, since no two have a bit in common. Where they
//! are not, as in `alto(i, j)` of modes of different extents, each even stretch is
//! taken alone.
//!
//! Source: Warren, Hacker's Delight, 2nd ed., §7-2 (unshuffling) and §7-4
//! (compress), for strides of any width.

use sparsec_base::Deal;
use sparsec_loop::{BinaryOp, Builder, Expr};

/// Bits of a coordinate that are evenly apart in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// Where the first is in the place, and which bit of the coordinate it is.
    at: u32,
    bit: u32,
    /// How many there are, and how far it is from one to the next.
    n: u32,
    stride: u32,
}

/// The bits of a coordinate as stretches, lowest first.
fn stretches(bits: impl Iterator<Item = (u32, u32)>) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (at, bit) in bits {
        if let Some(last) = found.last_mut() {
            let stride = at - (last.at + last.stride * (last.n - 1));
            if last.n == 1 || stride == last.stride {
                last.stride = stride;
                last.n += 1;
                continue;
            }
        }
        let (n, stride) = (1, 1);
        found.push(Stretch { at, bit, n, stride });
    }
    found
}

/// The bits of a stretch in groups of `group` side by side, from bit 0.
fn mask(stretch: Stretch, group: u32) -> i64 {
    let bits = (0..stretch.n).map(|bit| bit / group * group * stretch.stride + bit % group);
    bits.fold(0, |mask, at| mask | 1 << at)
}

/// `value // 2^n`
fn shifted(value: Expr, n: u32) -> Expr {
    match n {
        0 => value,
        n => value.binary(BinaryOp::FloorDiv, 1i64 << n),
    }
}

/// Coordinate number `c` of a place, which is not negative; `name` is that of steps.
pub(crate) fn coordinate(
    builder: &mut Builder,
    name: &str,
    place: &Expr,
    deal: &Deal,
    c: usize,
) -> Expr {
    let parts = stretches(deal.bits_of(c)).into_iter().map(|stretch| {
        let Stretch { at, bit, n, stride } = stretch;
        let mut value = shifted(place.clone(), at);
        let is_top = stride == 1 && (at + n) as usize == deal.n_bits();
        if !is_top {
            value = value.binary(BinaryOp::BitAnd, mask(stretch, 1));
        }
        let mut group = 1;
        while stride > 1 && group < n {
            let part = Expr::Var(builder.let_(&format!("{name}_{group}"), value));
            let beside = shifted(part.clone(), group * (stride - 1));
            group *= 2;
            let both = part.add(beside);
            value = both.binary(BinaryOp::BitAnd, mask(stretch, group));
        }
        match bit {
            0 => value,
            bit => value.mul(1i64 << bit),
        }
    });
    parts.reduce(Expr::add).unwrap_or(Expr::int(0))
}

/// The place of coordinates, which are within those that bits are dealt for.
pub(crate) fn place(coordinates: &[Expr], deal: &Deal) -> Expr {
    let mut parts = Vec::new();
    for (c, coordinate) in coordinates.iter().enumerate() {
        for stretch in stretches(deal.bits_of(c)) {
            // Bits side by side go together, others alone.
            let (n, width) = match stretch.stride {
                1 => (1, stretch.n),
                _ => (stretch.n, 1),
            };
            for number in 0..n {
                let bit = shifted(coordinate.clone(), stretch.bit + number);
                let bit = bit.binary(BinaryOp::BitAnd, (1i64 << width) - 1);
                let at = stretch.at + number * stretch.stride;
                parts.push(match at {
                    0 => bit,
                    at => bit.mul(1i64 << at),
                });
            }
        }
    }
    parts.into_iter().reduce(Expr::add).unwrap_or(Expr::int(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(deal: &Deal, c: usize) -> Vec<(u32, u32, u32, u32)> {
        let found = stretches(deal.bits_of(c)).into_iter();
        found.map(|it| (it.at, it.bit, it.n, it.stride)).collect()
    }

    #[test]
    fn bits_evenly_apart_are_one_stretch() {
        assert_eq!(of(&Deal::morton(&[255, 255]), 1), [(0, 0, 8, 2)]);
        let deal = Deal::alto(&[1023, 7]);
        assert_eq!(of(&deal, 1), [(0, 0, 3, 2)]);
        assert_eq!(of(&deal, 0), [(1, 0, 3, 2), (6, 3, 7, 1)]);
    }

    #[test]
    fn masks_double() {
        let stretch = Stretch {
            at: 1,
            bit: 0,
            n: 8,
            stride: 2,
        };
        let masks = [1, 2, 4, 8].map(|group| mask(stretch, group));
        assert_eq!(masks, [0x5555, 0x3333, 0x0f0f, 0x00ff]);
    }
}
