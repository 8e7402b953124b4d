//! Stored sparse tensors: arrays, checks, pack and unpack.
//!
//! A [`Tensor`] is a format, extents, and the typed arrays that the format
//! declares. It exists only with arrays that were checked, so a kernel may
//! follow every position and coordinate without looking. Index arrays are
//! frozen while it lives; values may be changed.
//!
//! ```text
//! csr, 4x5                          1.pos  0 1 1 3 3     segment of each row
//!     . 2 . . .                     1.crd  1 0 4         column of each entry
//!     . . . . .       is stored     vals   2 3 5
//!     3 . . . 5
//!     . . . . .
//! ```
//!
//! | module       | holds                                                       |
//! |--------------|-------------------------------------------------------------|
//! | [`mod@array`] | [`Array`]: numbers of one element type                       |
//! | [`index`]    | [`Index`]: positions and coordinates of any width            |
//! | [`borrowed`] | [`ArrayRef`] and [`TensorRef`]: slices of the caller used as they are |
//! | [`entries`]  | [`Entries`]: coordinates and values, in any order            |
//! | [`alias`]    | [`TensorAlias`]: arrays read under another format            |
//! | `coords`     | [`Coords`]: lists of coordinates, in words of 32 or 64 bits  |
//! | [`tensor`]   | [`Tensor`] and what can be asked of it                       |
//! | `check`      | checked construction: what must hold of the arrays           |
//! | `tuples`, `sort` | entries in storage order, duplicates combined           |
//! | [`duplicates`] | what becomes of entries at equal coordinates              |
//! | `build`      | sorted entries to arrays, level by level                    |
//! | [`pack`]     | entries in any order to a tensor                             |
//! | [`transform`] | prune, slice, permute                                       |
//! | `runs`       | join, and slices along the outermost level                   |
//! | [`unpack`]   | arrays back to entries; one format to another                |
//! | [`builder`]  | a tensor entry by entry                                     |
//! | [`views`]    | matrices as slices of known types, in and out without copying |
//! | `interop`    | from and to types of other crates, each behind a feature    |
//! | [`compare`]  | the first entry in which two tensors differ                  |
//! | [`mod@statistics`] | what is known of the entries, counted once and kept      |
//! | [`guesses`]  | how well processors guess the steps of merges               |
//! | [`print`](mod@print) | a tensor as text, as NumPy and SciPy print theirs, or as a tree |
//! | [`mod@generate`] | tensors from a line of text, the same on every machine       |
//!
//! Nothing here opens a file or knows of expressions and kernels.

pub mod alias;
pub mod array;
pub mod borrowed;
pub mod builder;
pub mod compare;
pub mod duplicates;
pub mod entries;
pub mod generate;
pub mod guesses;
pub mod index;
pub mod pack;
mod parts;
pub mod print;
pub mod relational;
mod runs;
pub mod statistics;
pub mod tensor;
pub mod transform;
pub mod unpack;
pub mod views;

mod alloc;
mod build;
mod check;
mod coords;
mod draw;
#[cfg(any(
    feature = "faer",
    feature = "nalgebra-sparse",
    feature = "ndarray",
    feature = "serde",
    feature = "sprs"
))]
mod interop;
mod irregular;
mod random;
mod sort;
mod tuples;
mod walk;

pub use alias::{TensorAlias, level_extents};
pub use array::{Array, Element};
pub use borrowed::{ArrayRef, TensorRef};
pub use builder::TensorBuilder;
pub use compare::Difference;
pub use coords::{CoordWord, Coords, Tuple};
pub use duplicates::Duplicates;
pub use entries::Entries;
pub use generate::{generate, generate_with, generated_entries};
pub use index::{Index, IndexInteger};
pub use pack::PackOptions;
pub use print::PrintOptions;
pub use relational::{RelationTensor, Stored};
pub use sparsec_base::{Bool8, Complex, bf16, f16};
pub use sparsec_format::{Format, Role};
pub use tensor::{LevelView, Tensor};
pub use transform::Window;
pub use views::{CooRef, CscRef, CsrRef};
