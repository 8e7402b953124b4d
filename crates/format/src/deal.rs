//! Dealing the bits of several coordinates into one key, and back.
//!
//! ```text
//! morton(i, j)            alto(i, j), i with 3 bits, j with 1
//! … i1 j1 i0 j0           i2 i1 i0 j0      shortest mode first, from the low end
//! ```
//!
//! A coordinate whose bits are used up drops out. Keys have at most 63 bits.

/// Which bit of which coordinate each bit of a key is, lowest first.
///
/// ```
/// use sparsec_format::Deal;
/// let deal = Deal::morton(&[7, 7]);
/// let key = deal.key(|c| [0b101, 0b011][c]);
/// assert_eq!(key, 0b10_01_11);
/// assert_eq!([0, 1].map(|c| deal.coordinate(key, c)), [0b101, 0b011]);
/// assert_eq!(deal.bits_of(1).collect::<Vec<_>>(), [(0, 0), (2, 1), (4, 2)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deal {
    /// Number of the coordinate, bit of the coordinate.
    bits: Vec<(usize, u32)>,
    /// The greatest coordinates.
    greatest: Vec<u64>,
}

impl Deal {
    /// All coordinates in turn, the last one first, with as many bits each as
    /// the greatest of them needs.
    pub fn morton(greatest: &[u64]) -> Self {
        let order: Vec<usize> = (0..greatest.len()).rev().collect();
        let width = greatest.iter().map(|&c| n_bits(c)).max().unwrap_or(0);
        Self::dealt(greatest, &order, |_| width)
    }

    /// All coordinates in turn, those with fewer bits first and of equal ones
    /// the last, until their bits are used.
    pub fn alto(greatest: &[u64]) -> Self {
        let mut order: Vec<usize> = (0..greatest.len()).rev().collect();
        order.sort_by_key(|&c| n_bits(greatest[c]));
        Self::dealt(greatest, &order, |c| n_bits(greatest[c]))
    }

    fn dealt(greatest: &[u64], order: &[usize], width: impl Fn(usize) -> u32) -> Self {
        let most = order.iter().map(|&c| width(c)).max().unwrap_or(0);
        let mut bits = Vec::new();
        for bit in 0..most {
            let has = order.iter().filter(|&&c| bit < width(c));
            bits.extend(has.map(|&c| (c, bit)));
        }
        // Bits above all those of the coordinates are zero in every key.
        let is_used = |&(c, bit): &(usize, u32)| bit < n_bits(greatest[c]);
        bits.truncate(bits.iter().rposition(is_used).map_or(0, |at| at + 1));
        Self {
            bits,
            greatest: greatest.to_vec(),
        }
    }

    /// The key of coordinates, none above the greatest.
    ///
    /// # Panics
    /// If keys have more than 64 bits, so that there is no [`greatest`](Self::greatest).
    pub fn key(&self, coordinate: impl Fn(usize) -> u64) -> u64 {
        let bits = self.bits.iter().enumerate();
        bits.fold(0, |key, (at, &(c, bit))| {
            key | (coordinate(c) >> bit & 1) << at
        })
    }

    /// Coordinate number `c` of a key.
    pub fn coordinate(&self, key: u64, c: usize) -> u64 {
        let bits = self.bits.iter().enumerate();
        let own = bits.filter(|(_, (of, _))| *of == c);
        own.fold(0, |coordinate, (at, (_, bit))| {
            coordinate | (key >> at & 1) << bit
        })
    }

    /// The greatest key; `None` where it has more than 63 bits.
    pub fn greatest(&self) -> Option<i64> {
        // A key has the greatest coordinates only where it is greatest.
        (self.bits.len() <= 63).then(|| self.key(|c| self.greatest[c]) as i64)
    }

    /// How many bits a key has.
    pub fn n_bits(&self) -> usize {
        self.bits.len()
    }

    /// Where in a key the bits of coordinate number `c` are, and which of its bits
    /// these are, lowest first.
    pub fn bits_of(&self, c: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let bits = self.bits.iter().enumerate();
        bits.filter_map(move |(at, &(of, bit))| (of == c).then_some((at as u32, bit)))
    }

    /// Whether every coordinate of a key is at most the greatest.
    pub fn holds(&self, key: u64) -> bool {
        let mut coordinates = self.greatest.iter().enumerate();
        (self.bits.len() >= 64 || key >> self.bits.len() == 0)
            && coordinates.all(|(c, &greatest)| self.coordinate(key, c) <= greatest)
    }
}

fn n_bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::Deal;
    use sparsec_relation::IndexMap;

    /// Keys are those of relations, grow with their coordinates, and give them back.
    fn check(deal: &Deal, greatest: [u64; 3], key: &str) {
        let map: IndexMap = format!("(i, j, k) -> ({key})").parse().expect("a map");
        for i in 0..=greatest[0] {
            for j in 0..=greatest[1] {
                for k in 0..=greatest[2] {
                    let tuple = [i, j, k];
                    let key = deal.key(|c| tuple[c]);
                    let expected = map.value(&tuple.map(|c| c as i64)).expect("a key");
                    assert_eq!(expected, Some(vec![key as i64]));
                    assert!(key as i64 <= deal.greatest().expect("few bits"));
                    assert_eq!([0, 1, 2].map(|c| deal.coordinate(key, c)), tuple);
                }
            }
        }
    }

    #[test]
    fn keys_are_those_of_relations() {
        let greatest = [4, 1, 6];
        check(&Deal::morton(&greatest), greatest, "MORTON(i, j, k)");
        check(&Deal::alto(&greatest), greatest, "ALTO(i, 5, j, 2, k, 7)");
    }

    #[test]
    fn keys_have_63_bits() {
        assert!(
            Deal::alto(&[u32::MAX.into(), i32::MAX as u64])
                .greatest()
                .is_some()
        );
        assert_eq!(
            Deal::alto(&[u32::MAX.into(), u32::MAX.into()]).greatest(),
            None
        );
    }
}
