//! The loop IR: typed, structured loops over named arrays.
//!
//! `lower` writes it, passes improve it, back ends translate it, and the
//! interpreter runs it with every access checked. It knows buffers, not
//! formats: what a buffer is for stands in the signature as text.
//!
//! ```text
//! fn spmv(
//!   out y "(i) -> (i : dense)" { extent y.n0, write y.vals: f64 },
//!   in A "(i, j) -> (i : dense, j : compressed)" {
//!     extent A.n0, extent A.n1,
//!     read A1.pos: i64 as i32, read A1.crd: i64 as i32, read A.vals: f64 },
//!   in x "(j) -> (j : dense)" { extent x.n0, read x.vals: f64 }) {
//!   for i in 0..A.n0 {
//!     var t: f64 = 0.0
//!     for pA1 in A1.pos[i]..A1.pos[i + 1] {
//!       let j: i64 = A1.crd[pA1]
//!       t += A.vals[pA1] * x.vals[j]
//!     }
//!     y.vals[i] = t
//!   }
//! }
//! ```
//!
//! # Meaning
//!
//! * A **variable** has one type. `let` declares one that never changes, `var`
//!   one that assignments change; a loop declares its own. A variable is
//!   visible from its declaration to the end of the block that holds it.
//! * Indices, extents and positions are `i64`. A buffer has a **storage type**
//!   (what its bytes are) and a **compute type** (what a load gives and a store
//!   takes); a store to a narrower integer storage type keeps the low bits,
//!   and it is `lower`'s duty that the value fits or to emit the check.
//! * Integers wrap. `//` and `%` floor. Integer division by zero, and a cast
//!   from a float that no integer of the type is near, leave the function with
//!   the error of that name. Shifts and pointer arithmetic do not exist.
//! * Every [`ElementType`](sparsec_base::ElementType) is a type of values.
//!   Integers of 8 and 16 bits have arithmetic of their own width. `f16` and
//!   `bf16` have none: they are loaded, stored, chosen and converted, and computed
//!   with as `f32`. Complex numbers are pairs; back ends spell their operations
//!   out by the formulas of [`complex`].
//! * Floats follow IEEE 754 in the order written: no reassociation, no
//!   contraction. `min` and `max` of floats give `NaN` if either side is `NaN`.
//!   The table of [`ops`] has the corners of each operation.
//! * `select`, `and` and `or` evaluate only what they need, and so do `and=` and
//!   `or=`: a reduction `b[i] op= e` is `b[i] = b[i] op e`.
//! * `alloc` makes a workspace of so many zero entries that lives until the
//!   function returns; a second `alloc` of the same buffer is an error.
//! * `own` makes a workspace of which each unit that runs chunks has its own. The
//!   iterations of a loop marked `chunks` run in any order, or at once, as if in
//!   theirs; of several that fail, the first gives the error.
//! * `grow b, n` makes room for at least `n` entries; the entries so far keep
//!   their values, new ones are undefined until stored, and 0 in a workspace.
//!   `resize b, n` says that
//!   the array of a result ends up with `n` entries, and makes room for them.
//!   Every result array is resized exactly once on every path that returns
//!   without an error, unless its buffer has access `write`, whose
//!   length the caller fixed.
//! * `sort b[lo..hi] with c` sorts `b`, ascending, and moves the entries of `c` as
//!   those of `b`; equal entries stay in their order.
//! * `fail e` leaves the function with error `e`.
//!
//! | module             | holds                                                 |
//! |--------------------|-------------------------------------------------------|
//! | [`text`]           | the grammar; the printer and the parser               |
//! | [`verify`](mod@verify) | the checklist of a valid function; every pass keeps it |
//! | [`interpret`](mod@interpret) | runs a function with every access checked   |
//! | [`ops`]            | what each operation computes, on values               |
//! | [`complex`]        | complex arithmetic in terms of real, for every engine |
//! | [`passes`]         | functions that make a function better                 |
//! | [`walk`]           | walking over statements and expressions               |

mod build;
mod captured;
pub mod complex;
mod fresh;
pub mod growth;
pub mod interpret;
mod ir;
pub mod ops;
pub mod passes;
pub mod text;
pub mod verify;
pub mod walk;
mod work;
mod workspaces;

pub use build::Builder;
pub use captured::{Captured, captured};
pub use interpret::interpret;
pub use ir::{
    Access, Argument, BinaryOp, Block, Buffer, BufferData, Expr, Failure, Function, Intrinsic,
    Role, Stmt, UnaryOp, Var, VarData,
};
pub use sparsec_base::mark;
pub use sparsec_base::mark::{Mark, Parallel, Races, Unit};
pub use verify::verify;
pub use work::{Work, most_work};
pub use workspaces::workspace_bytes;
