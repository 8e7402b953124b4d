//! The binary interface between a compiled kernel and whoever calls it.
//!
//! This page is its one definition; `sparsec-runtime` mirrors the three
//! structures, and a test there looks at them from C.
//!
//! ```text
//! int32_t NAME(sparsec_context *context, TENSOR, TENSOR, …)
//! ```
//!
//! * The result is `SPARSEC_OK` or the [status](Failure::status) of the failure
//!   that ended the kernel early. Result arrays then hold anything.
//! * Tensors come in the order in which the source names them. A tensor gives
//!   one extent for each mode and one `sparsec_array` for each array that its
//!   format declares, in the format's order.
//! * `data` points to `len` entries. A kernel stores only to the arrays of
//!   results. Where it appends, `capacity` says for how many entries there is
//!   room; the kernel asks `grow` for more, and at the end sets `len`.
//! * `grow(context, array, entries, entry_size)` makes room for at least
//!   `entries` entries, keeps the entries within the old capacity, updates
//!   `data` and `capacity`, and returns `data`; or it returns null and changes
//!   nothing. It should grow by a factor: kernels ask when an append does not
//!   fit, and for one entry more than they have.
//! * `workspace(context, entries, entry_size)` gives zeroed memory that stays
//!   valid until the kernel returns, or null. The caller frees it afterwards,
//!   also when the kernel failed.
//! * `sort_i32` and `sort_i64` sort `count` integers, ascending. `sort_pairs`
//!   moves the entries of a second array along, and leaves equal keys in their
//!   order. Each returns `SPARSEC_OK`. A kernel that gets another status returns it at
//!   once, and does not read the entries again.
//!
//! * `chunks(context, body, captured, own_size, n)` calls `body(context, captured,
//!   own, chunk)` for every chunk from 0 up to but without `n`, in any order or at
//!   once; it returns `SPARSEC_OK`, or what the first chunk returned that failed.
//!   While a chunk runs, nothing else runs with the same context or the same `own`:
//!   `own_size` bytes, at first zeros, that stay until the kernel returns. One after
//!   another will do: `for (p = 0; p < n && !status; p++) status = body(…);`
//!
//! * `turn(context)` is called by chunks, at most once by each: it waits until all
//!   chunks before have returned or passed theirs on, and returns `SPARSEC_OK`, or anything
//!   else where one of them failed. Where chunks run one after another there is nothing to wait for.
//!   From there on a chunk may `grow` results.
//! * `pass(context)` is called by chunks behind `turn`: `turn` of the next chunk may
//!   return, too. The chunk still stores to results, and grows them no more. So `grow`
//!   moves memory only once all chunks before have returned. One that does nothing will do:
//!   then chunks wait for others to return.
//! * `cancelled` points to what is not 0 once the kernel is to give up. It looks there
//!   between the turns of long loops, and returns the status of
//!   [`Failure::Cancelled`].
//!
//! Nothing else is called but functions of the C library.

use std::fmt::Write as _;

use sparsec_loop::Failure;

/// The status constant of a failure: `SPARSEC_OUT_OF_MEMORY`.
pub(crate) fn status_name(failure: Failure) -> String {
    format!("SPARSEC_{}", failure.name().to_uppercase())
}

/// The entry of the runtime for the kernel called `kernel`.
pub(crate) fn launch_name(kernel: &str) -> String {
    format!("{kernel}_launch")
}

/// The comment at the top of a file.
pub(crate) fn heading(lines: &[String]) -> String {
    let mut text = String::from("/*\n");
    for line in lines {
        let _ = writeln!(text, " * {}", comment_text(line));
    }
    if !lines.is_empty() {
        text.push_str(" *\n");
    }
    text.push_str(
        " * Written by sparsec. Compile as C11 with -fwrapv (integers wrap) and\n \
         * -ffp-contract=off (no fused operations but those written out).\n */\n",
    );
    text
}

/// `text` as it may stand inside a C comment.
pub(crate) fn comment_text(text: &str) -> String {
    text.replace("*/", "* /")
        .replace("/*", "/ *")
        .replace(['\n', '\r'], " ")
}

/// The declarations that every kernel needs.
pub(crate) fn prelude() -> String {
    let mut statuses = String::from("  SPARSEC_OK = 0");
    for failure in Failure::ALL {
        let _ = write!(
            statuses,
            ",\n  {} = {}",
            status_name(failure),
            failure.status()
        );
    }
    format!(
        "#ifndef SPARSEC_H
#define SPARSEC_H

/* What a kernel returns. */
enum {{
{statuses}
}};

/* An array of a tensor. Lengths are in entries. */
typedef struct sparsec_array {{
  void *data;
  int64_t len;
  int64_t capacity;
}} sparsec_array;

/* A tensor: an extent for each mode, and the arrays that its format declares. */
typedef struct sparsec_tensor {{
  const int64_t *extents;
  sparsec_array *arrays;
}} sparsec_tensor;

/* What a kernel asks of its caller. */
typedef struct sparsec_context {{
  void *state; /* the caller's own */
  /* Makes room for `entries` entries, keeping those there are; the data, or null. */
  void *(*grow)(struct sparsec_context *, sparsec_array *, int64_t entries, int64_t entry_size);
  /* Zeroed memory until the kernel returns, or null. */
  void *(*workspace)(struct sparsec_context *, int64_t entries, int64_t entry_size);
  /* Sorts, ascending; SPARSEC_OK, or the status that the kernel is to end with. */
  int32_t (*sort_i32)(struct sparsec_context *, int32_t *data, int64_t count);
  int32_t (*sort_i64)(struct sparsec_context *, int64_t *data, int64_t count);
  /* The same, and moves the entries of `along` as those of `data`. */
  int32_t (*sort_pairs)(struct sparsec_context *, int64_t *data, int64_t *along, int64_t count);
  /* Runs `body` for each chunk, at once or one after another; the first status that is not
     SPARSEC_OK. `own` is memory that no other chunk uses meanwhile, at first zeros. */
  int32_t (*chunks)(
      struct sparsec_context *,
      int32_t (*body)(struct sparsec_context *, const void *captured, void *own, int64_t chunk),
      const void *captured, int64_t own_size, int64_t n);
  /* Waits until all chunks before this one have returned, or passed their turn on. */
  int32_t (*turn)(struct sparsec_context *);
  /* Lets the next chunk have its turn; `grow` moves memory once all before have returned. */
  void (*pass)(struct sparsec_context *);
  /* What kernels look at now and then: not 0 once they are to give up. */
  const volatile int32_t *cancelled;
}} sparsec_context;

#endif
"
    )
}
