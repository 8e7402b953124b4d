//! Decisions read from bytes, so that an engine that changes bytes changes decisions.
//!
//! Each decision takes bytes from the front. When no byte is left, every decision is its first
//! alternative, so a short input is a simple case, and cutting an input simplifies the case.

/// The bytes of an input that no decision has taken yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// The decisions that an input holds.
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// One byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number below `n`, which is at most 256.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// One of a list.
    pub(crate) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Whether, once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Mostly a small integer, sometimes one near the ends of a type.
    pub(crate) fn integer(&mut self) -> i64 {
        match self.byte() {
            byte @ ..=199 => i64::from(byte % 12) - 2,
            byte @ 200..=239 => i64::from(byte) * 97 - 20_000,
            240 => i64::MAX,
            241 => i64::MIN,
            byte => (1 << (byte % 13 * 5)) - i64::from(byte & 1),
        }
    }
}
