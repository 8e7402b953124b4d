//! Loops over segments, each of which begins where the one before it ended.
//!
//! ```text
//!                                         end = pos[lo]
//! for i in lo..hi {                       for i in lo..hi {
//!   for p in pos[i]..pos[i + 1] { … }  ─►   (begin, end) = (end, pos[i + 1])
//! }                                         for p in begin..end { … }
//!                                         }
//! ```
//!
//! An iteration loads one position in place of two, as in compiled C. This pays for short segments: a
//! matrix of 20,000 rows with three entries each times a vector takes 24 µs in place of 26.
//!
//! The array is one that the kernel only reads. In a function that needs more registers than there
//! are, the positions would be kept in memory, so each iteration loads both.

use cranelift_codegen::ir::{Value, types};
use cranelift_frontend::Variable;
use sparsec_base::ElementType;
use sparsec_loop::{Access, Block, Buffer, Expr, Function, Mark, Stmt, Var};

use crate::emitter::Emitter;

/// The segments of one array in one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments {
    positions: Buffer,
    /// The variable of the loop, which numbers the segments.
    number: Var,
    /// Where the segment of the iteration before ended.
    end: Variable,
    /// Where the segment of this iteration begins and ends.
    bounds: Option<[Value; 2]>,
}

/// The array whose entries `number` and `number + 1` are these bounds.
fn positions(function: &Function, number: Var, lo: &Expr, hi: &Expr) -> Option<Buffer> {
    let (
        Expr::Load { buffer, index: at },
        Expr::Load {
            buffer: same,
            index: next,
        },
    ) = (lo, hi)
    else {
        return None;
    };
    let data = &function.buffers[*buffer];
    let is_fixed = data.access == Access::Read && data.compute == ElementType::I64;
    let follow = buffer == same && **at == Expr::Var(number) && at.is_followed_by(next);
    (is_fixed && follow).then_some(*buffer)
}

/// The arrays whose segments each iteration of a loop over `number` walks. An iteration that may
/// fail before it comes to its segment may have none.
fn walked(function: &Function, number: Var, body: &Block) -> Vec<Buffer> {
    let mut walked = Vec::new();
    for stmt in body {
        let mut may_fail = false;
        stmt.for_each(&mut |stmt| may_fail |= matches!(stmt, Stmt::Fail(_)));
        if may_fail {
            break;
        }
        if let Stmt::For {
            lo,
            hi,
            mark: Mark { chunks: false, .. },
            ..
        } = stmt
            && let Some(buffer) = positions(function, number, lo, hi)
            && !walked.contains(&buffer)
        {
            walked.push(buffer);
        }
    }
    walked
}

impl Emitter<'_, '_> {
    /// The arrays of which each iteration of a loop over `number` walks a segment, if registers can
    /// hold where they end.
    pub(crate) fn walked(&self, number: Var, body: &Block) -> Vec<Buffer> {
        match self.frame {
            Some(_) => Vec::new(),
            None => walked(self.function, number, body),
        }
    }

    /// Before the first iteration of a loop from `lo` on: where the first segments begin.
    pub(crate) fn begin_segments(&mut self, walked: &[Buffer], number: Var, lo: Value) {
        for &positions in walked {
            let place = self.place_at(positions, lo);
            let begin = self.load(place).real();
            let end = self.b.declare_var(types::I64);
            self.b.def_var(end, begin);
            self.segments.push(Segments {
                positions,
                number,
                end,
                bounds: None,
            });
        }
    }

    /// Begins an iteration: its segments begin where those before ended.
    pub(crate) fn next_segments(&mut self, number: Var, at: Value) {
        for place in 0..self.segments.len() {
            let Segments { positions, end, .. } = self.segments[place];
            if self.segments[place].number != number {
                continue;
            }
            let begin = self.b.use_var(end);
            let mut next = self.place_at(positions, at);
            next.offset += next.storage.size() as i32;
            let next = self.load(next).real();
            self.b.def_var(end, next);
            self.segments[place].bounds = Some([begin, next]);
        }
    }

    /// Leaves a loop over `number`.
    pub(crate) fn leave_segments(&mut self, number: Var) {
        self.segments.retain(|segments| segments.number != number);
    }

    /// The bounds of a loop, if it walks a segment of a loop around.
    pub(crate) fn segment(&self, lo: &Expr, hi: &Expr) -> Option<[Value; 2]> {
        let mut known = self.segments.iter();
        known.find_map(|known| {
            let is_it = positions(self.function, known.number, lo, hi) == Some(known.positions);
            known.bounds.filter(|_| is_it)
        })
    }
}
