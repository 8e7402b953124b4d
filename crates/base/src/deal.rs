//! Dealing the bits of several coordinates into one key, and back.
//!
//! ```text
//! morton(i, j)            alto(i, j), i with 3 bits, j with 1
//! … i1 j1 i0 j0           i2 i1 i0 j0      shortest mode first, from the low end
//! ```
//!
//! In `alto`, a coordinate whose bits are used up drops out; in `morton`, its places stay 0 until
//! they are [trimmed](Deal::trimmed). Keys have at most 63 bits.
//!
//! Bits are dealt four at a time, by tables of where the bits of each hexadecimal
//! digit go: those of a coordinate in the key, and those of a key in a coordinate.

/// Which bit of which coordinate each bit of a key is, lowest first.
///
/// ```
/// use sparsec_base::Deal;
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
    /// For each coordinate, digit by digit, the bits of the key.
    dealt: Vec<Vec<Digit>>,
    /// For each coordinate, digit by digit of the key, its own bits.
    gathered: Vec<Vec<Digit>>,
}

/// What the sixteen values of four bits become.
type Digit = [u64; 16];

/// Tables for bits that go from each place to another, `pairs` of them.
fn digits(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<Digit> {
    let mut digits: Vec<Digit> = Vec::new();
    for (from, to) in pairs {
        let (digit, bit) = ((from / 4) as usize, from % 4);
        digits.resize(digits.len().max(digit + 1), [0; 16]);
        let values = digits[digit].iter_mut().enumerate();
        for (_, to_bits) in values.filter(|(value, _)| value >> bit & 1 == 1) {
            *to_bits |= 1 << to;
        }
    }
    digits
}

/// The bits of a number after they went where tables say.
fn moved(digits: &[Digit], number: u64) -> u64 {
    let values = digits.iter().zip(0..);
    values.fold(0, |moved, (digit, at)| {
        moved | digit[(number >> (4 * at) & 15) as usize]
    })
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
        Self::of(bits, greatest.to_vec())
    }

    /// Without the bits that are zero in every key: keys compare as those with them do, and have
    /// other values.
    #[must_use]
    pub fn trimmed(self) -> Self {
        let Self {
            mut bits, greatest, ..
        } = self;
        bits.retain(|&(c, bit)| bit < n_bits(greatest[c]));
        Self::of(bits, greatest)
    }

    fn of(bits: Vec<(usize, u32)>, greatest: Vec<u64>) -> Self {
        let mut deal = Self {
            bits,
            greatest,
            dealt: Vec::new(),
            gathered: Vec::new(),
        };
        // Keys of more bits than a word has are never made.
        if deal.bits.len() <= 64 {
            let coordinates = 0..deal.greatest.len();
            let tables = |c| digits(deal.bits_of(c).map(|(at, bit)| (bit, at)));
            deal.dealt = coordinates.clone().map(tables).collect();
            deal.gathered = coordinates.map(|c| digits(deal.bits_of(c))).collect();
        }
        deal
    }

    /// The key of coordinates, none above the greatest.
    ///
    /// # Panics
    /// If keys have more than 64 bits, so that there is no [`greatest`](Self::greatest).
    pub fn key(&self, coordinate: impl Fn(usize) -> u64) -> u64 {
        assert!(self.bits.len() <= 64, "a key has at most 64 bits");
        let coordinates = self.dealt.iter().enumerate();
        coordinates.fold(0, |key, (c, digits)| key | moved(digits, coordinate(c)))
    }

    /// Coordinate number `c` of a key.
    pub fn coordinate(&self, key: u64, c: usize) -> u64 {
        moved(&self.gathered[c], key)
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
