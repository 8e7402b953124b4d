//! Where things are in the structures that a caller passes.
//!
//! They are those of the C back end's binary interface, on machines whose
//! pointers have 64 bits. The runtime compares [`Layout`] with the structures that
//! it passes when it is compiled.

/// Offsets and sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// `sparsec_context.grow`
    pub grow: i32,
    /// `sparsec_context.workspace`
    pub workspace: i32,
    /// `sparsec_context.sort_i32`
    pub sort_i32: i32,
    /// `sparsec_context.sort_i64`
    pub sort_i64: i32,
    /// `sparsec_context.sort_pairs`
    pub sort_pairs: i32,
    /// `sparsec_context.chunks`
    pub chunks: i32,
    /// `sparsec_context.turn`
    pub turn: i32,
    /// `sparsec_context.pass`
    pub pass: i32,
    /// `sparsec_context.cancelled`
    pub cancelled: i32,
    /// `sparsec_tensor.extents`
    pub extents: i32,
    /// `sparsec_tensor.arrays`
    pub arrays: i32,
    /// The size of `sparsec_array`.
    pub array: i32,
    /// `sparsec_array.data`
    pub data: i32,
    /// `sparsec_array.len`
    pub len: i32,
    /// `sparsec_array.capacity`
    pub capacity: i32,
}

impl Layout {
    /// What the code of this crate relies on.
    pub const RELIED_ON: Self = Self {
        grow: 8,
        workspace: 16,
        sort_i32: 24,
        sort_i64: 32,
        sort_pairs: 40,
        chunks: 48,
        turn: 56,
        pass: 64,
        cancelled: 72,
        extents: 0,
        arrays: 8,
        array: 24,
        data: 0,
        len: 8,
        capacity: 16,
    };

    /// Whether a caller with this layout may call code of this crate.
    pub const fn agrees(&self, other: &Self) -> bool {
        self.grow == other.grow
            && self.workspace == other.workspace
            && self.sort_i32 == other.sort_i32
            && self.sort_i64 == other.sort_i64
            && self.sort_pairs == other.sort_pairs
            && self.chunks == other.chunks
            && self.turn == other.turn
            && self.pass == other.pass
            && self.cancelled == other.cancelled
            && self.extents == other.extents
            && self.arrays == other.arrays
            && self.array == other.array
            && self.data == other.data
            && self.len == other.len
            && self.capacity == other.capacity
    }
}
