//! Hints to caches and to C compilers, which have functions for them, or nothing.
//!
//! Where a merge ends, and where only one operand has a row, a few entries are left to
//! copy; where a loop takes eight turns at a time, at most seven remain. C compilers make
//! vectors of such a loop, or a call of `memcpy` for each array, whose beginnings take
//! longer than the turns, and whose bounds take registers from the loops beside: an empty
//! `asm` statement keeps the loop as it is written.

use sparsec_loop::{Block, Buffer, Expr, Stmt};

use crate::stmt::Writer;

/// Hints to caches. Places are numbers here, since there need be no entry. Rows are long as
/// cache lines go: four of them a turn save what a branch for each would cost.
pub(crate) const PREFETCH: [(&str, &str); 2] = [
    (
        "sparsec_prefetch",
        "
/* Lets caches fetch the entry at `at`, if there is one. */
static inline void sparsec_prefetch(const void *data, int64_t at, int64_t size) {
#ifdef __GNUC__
  __builtin_prefetch((const void *)((uintptr_t)data + (uintptr_t)(at * size)));
#else
  (void)data, (void)at, (void)size;
#endif
}
",
    ),
    (
        "sparsec_prefetch_all",
        "
/* Lets caches fetch the entries from `lo` up to `hi`, line by line. */
static inline void sparsec_prefetch_all(const void *data, int64_t lo, int64_t hi, int64_t size) {
#ifdef __GNUC__
  const int64_t end = hi * size;
  int64_t at = lo * size;
  for (; at + 192 < end; at += 256) {
    sparsec_prefetch(data, at, 1);
    sparsec_prefetch(data, at + 64, 1);
    sparsec_prefetch(data, at + 128, 1);
    sparsec_prefetch(data, at + 192, 1);
  }
  for (; at < end; at += 64) sparsec_prefetch(data, at, 1);
#else
  (void)data, (void)lo, (void)hi, (void)size;
#endif
}
",
    ),
];

/// The statement for the body of a loop of few turns, and what it needs.
pub(crate) const SHORT_LOOP: (&str, &str) = (
    "sparsec_short_loop();",
    "
/* In a loop of few turns: it is not worth vectors, nor a call. */
static inline void sparsec_short_loop(void) {
#ifdef __GNUC__
  __asm__(\"\");
#endif
}
",
);

/// What stands between two parts of a condition that have jumps of their own, and what it needs.
pub(crate) const APART: (&str, &str) = (
    "sparsec_apart()",
    "
/* Between two parts of a condition: each has a jump of its own. */
static inline int sparsec_apart(void) {
#ifdef __GNUC__
  __asm__(\"\");
#endif
  return 1;
}
",
);

impl Writer<'_> {
    pub(crate) fn prefetch(&mut self, buffer: Buffer, lo: &Expr, hi: &Expr) {
        let is_one = lo.is_followed_by(hi);
        let array = self.buffer_name(buffer).to_owned();
        let lo = self.expr(lo);
        let hi = match is_one {
            true => None,
            false => Some(self.expr(hi)),
        };
        let name = self.helpers.prefetch(is_one);
        let bound = hi.map_or(String::new(), |hi| format!("{}, ", hi.text));
        self.line(&format!(
            "{name}({array}, {}, {bound}sizeof *{array});",
            lo.text
        ));
    }
}

/// Whether the body of a loop fills arrays and does nothing besides: in a merge, it copies
/// what one operand has alone.
pub(crate) fn copies(body: &Block) -> bool {
    let is_plain = |stmt: &Stmt| {
        matches!(
            stmt,
            Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Store { .. } | Stmt::Comment(_)
        )
    };
    let stores = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
    body.iter().all(is_plain) && body.iter().any(stores)
}
