//! Thread pool, sorting, scans and reserved buffers of sparsec.
//!
//! | module     | holds                                                         |
//! |------------|---------------------------------------------------------------|
//! | [`mod@append`] | pieces found in parallel to one list                          |
//! | [`fault`]  | faults of the system that tests inject                        |
//! | [`memory`] | [`Memory`]: bytes that grow in place and fail with an error    |
//! | [`memory_limit`] | how much memory may be taken                            |
//! | [`pool`]   | our thread pool: how many threads, ordered parallel maps      |
//! | [`sort`]   | a stable radix sort of packed keys                            |
//! | [`pairs`]  | the same for keys with values, combining those at equal keys  |
//! | [`scan`]   | prefix sums: counts to offsets                                |
//!
//! Nothing here knows what a tensor is. Results never depend on the number of
//! threads: work is cut into ranges by its size alone, and put together in order.

pub mod append;
pub mod fault;
pub mod memory;
pub mod memory_limit;
pub mod pairs;
pub mod pool;
pub mod scan;
pub mod sort;

mod bytes;
mod error;
mod mapping;
mod recycle;

pub use append::append;
pub use bytes::Bytes;
pub use error::AllocError;
pub use memory::{Memory, Plain};
pub use memory_limit::MemoryLimit;
pub use pairs::{KeyList, Pairs, sort_pairs};
pub use pool::{Pool, chunks, join, map, ranges, set_threads, split_mut, threads, with_threads};
pub use scan::{counts_to_offsets, parts_to_offsets};
pub use sort::{Key, radix_sort};
