//! Dividing parallel loops into chunks.
//!
//! ```text
//! for i in 0..n parallel(CPUThread, NoRaces) { y[i] = … }
//!
//! var i_chunks: i64 = 1                          as many as there is work for
//! var i_step: i64 = 64
//! while i_chunks < 64 and i_chunks * 16384 < n * 8 { i_chunks *= 2; i_step //= 2 }
//! for i_chunk in 0..i_chunks chunks {
//!   let i_first: i64 = n * (i_chunk * i_step) // 64
//!   let i_last: i64 = n * ((i_chunk + 1) * i_step) // 64
//!   for i in i_first..i_last { y[i] = … }
//! }
//! ```
//!
//! How many chunks there are, and where they end, follows from sizes and positions
//! alone: never from the number of threads, so that results do not either.
//!
//! * Work is estimated from bounds ([`work`]). A loop without enough of it is one
//!   chunk, which the unit that comes by runs.
//! * Where inner loops go through segments, chunks end where equal shares of the
//!   entries do: a search in the array of positions finds the place ([`work`]).
//! * A workspace that only such loops use, each of them to store and to read, is
//!   made each unit's [own](crate::Access::Own).
//!
//! * What iterations append, chunks append to pieces, and put these behind one
//!   another in their turn ([`append`]); or to where it belongs, if that is known before
//!   ([`reserve`]).
//! * What iterations combine, chunks combine, and then their results ([`combine`]).
//!
//! Loops inside of chunks, and those that there is no shape for, run as they stand;
//! so do loops that grow what is not their own.

mod append;
mod combine;
mod own;
mod reserve;
mod shifts;
mod work;

use std::collections::BTreeMap;

use sparsec_base::ElementType;

pub use self::combine::identity;
pub(super) use self::combine::normal;
use self::combine::{Combined, Shape};
use crate::ir::{Access, BinaryOp, Block, Buffer, BufferData, Expr, Function, Stmt, Var};
use crate::mark::{Mark, Races, Unit};
use crate::walk::for_each_block_mut;

/// Chunks end at these parts of the work.
const PARTS: i64 = 64;

/// Those that append to pieces do at more of them, so that these fit into the caches of a
/// processor.
const PARTS_OF_PIECES: i64 = 256;

/// The work of an entry that a chunk has a copy of: filled, and added up afterwards.
const COPY: i64 = 4;

/// How loops are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Division {
    /// How much work, in operations, makes a chunk worth its while.
    pub grain: u32,
    /// Whether sums and products of floats keep the order of the source.
    pub strict: bool,
}

impl Default for Division {
    /// Chunks of about ten microseconds, against which handing one out is little.
    fn default() -> Self {
        Self {
            grain: 16_384,
            strict: false,
        }
    }
}

/// Divides the outermost parallel loops of a valid function.
pub fn divide(function: &mut Function, division: Division) {
    let mut body = std::mem::take(&mut function.body);
    let mut loops = own::divisible(function, &body);
    if division.strict {
        loops.retain(|_, combined| !combined.rounds(function));
    }
    own::take(function, &body, &loops.keys().copied().collect::<Vec<_>>());
    let mut divider = Divider {
        function,
        division,
        loops: &loops,
        made: Block::new(),
    };
    divider.block(&mut body);
    let allocations = std::mem::take(&mut divider.made);
    body.splice(0..0, allocations);
    function.body = body;
    if !loops.is_empty() {
        super::simplify(function);
    }
    super::check_after("divide", function);
}

/// Whether iterations are to be given to threads.
fn is_parallel(mark: Mark) -> bool {
    mark.parallel
        .is_some_and(|parallel| parallel.unit == Unit::CpuThread)
}

/// Whether nothing that they do has to be combined.
fn is_independent(mark: Mark) -> bool {
    mark.parallel
        .is_some_and(|parallel| matches!(parallel.races, Races::NoRaces | Races::IgnoreRaces))
}

/// Whether they may append, each behind those before.
fn appends(mark: Mark) -> bool {
    mark.parallel
        .is_some_and(|parallel| parallel.races == Races::Temporary)
}

struct Divider<'f> {
    /// Without its body, which is being changed.
    function: &'f mut Function,
    division: Division,
    /// The loops to divide, by their variables, with what they combine.
    loops: &'f BTreeMap<Var, Combined>,
    /// Allocations, for the beginning of the function.
    made: Block,
}

/// A loop to divide.
struct Loop {
    var: Var,
    name: String,
    lo: Expr,
    hi: Expr,
    /// Chunks end at these parts of the work.
    parts: i64,
}

impl Loop {
    /// `whole * parts // self.parts`
    fn share(&self, whole: Expr, parts: Expr) -> Expr {
        whole.mul(parts).binary(BinaryOp::FloorDiv, self.parts)
    }
}

impl Divider<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in std::mem::take(block) {
            match stmt {
                Stmt::For {
                    var,
                    lo,
                    hi,
                    mark,
                    body,
                } if self.loops.contains_key(&var) => {
                    self.divide(var, [lo, hi], mark, body, block);
                }
                mut stmt => {
                    stmt.blocks_mut()
                        .into_iter()
                        .for_each(|inner| self.block(inner));
                    block.push(stmt);
                }
            }
        }
    }

    fn divide(
        &mut self,
        var: Var,
        bounds: [Expr; 2],
        mark: Mark,
        mut body: Block,
        block: &mut Block,
    ) {
        unmark(&mut body);
        let name = self.function.vars[var].name.clone();
        let [lo, hi] = bounds;
        let combined = &self.loops[&var];
        let range = Loop {
            var,
            lo: self.named(lo, &format!("{name}_begin"), block),
            hi: self.named(hi, &format!("{name}_end"), block),
            name,
            parts: match &combined.appended {
                Some(appended) if appended.has_pieces() => PARTS_OF_PIECES,
                _ => PARTS,
            },
        };
        let mut divided = Block::new();
        let mut work = work::of(&range, self.function, &body, self.division.grain);
        let is_guarded =
            !self.is_ascending(&range) && (combined.has_entries() || !work.positions.is_empty());
        let (chunks, step) = self.count(&range, &mut work, combined.copied(), &mut divided);
        let chunk = self.var(&format!("{}_chunk", range.name), false);
        let mut shape = match combined.appended {
            None => self.combine(combined, chunk, chunks, &mut body, &mut divided),
            Some(_) => Shape::default(),
        };
        let mut ends = shape.before;
        let (lo, hi) = match work.positions.is_empty() {
            true => self.ends(&range, chunk, step, &mut ends),
            false => {
                let cuts = self.cuts(&range, &work, chunks, step, &mut divided);
                let next = Expr::Var(chunk).add(1);
                (Expr::load(cuts, chunk), Expr::load(cuts, next))
            }
        };
        if let Some(appended) = &combined.appended {
            let between = [lo.clone(), hi.clone()];
            shape = self.append(appended, &range, between, &mut body, &mut divided);
            ends.extend(shape.before);
        }
        let mark = Mark {
            parallel: None,
            ..mark
        };
        ends.push(Stmt::For {
            var,
            lo,
            hi,
            mark,
            body,
        });
        ends.extend(shape.after);
        divided.push(self::chunks(chunk, chunks, ends));
        divided.extend(shape.behind);
        match is_guarded {
            true => block.push(Stmt::If {
                condition: range.lo.less(range.hi),
                then: divided,
                otherwise: Block::new(),
            }),
            false => block.append(&mut divided),
        }
    }

    /// Where a chunk begins and ends, if each has as many iterations.
    fn ends(&mut self, range: &Loop, chunk: Var, step: Var, block: &mut Block) -> (Expr, Expr) {
        let mut cut = |name: &str, chunk: Expr| {
            let extent = difference(&range.hi, &range.lo);
            let at = range.lo.clone().add(range.share(extent, chunk.mul(step)));
            Expr::Var(self.declare(&format!("{}_{name}", range.name), at, false, block))
        };
        let next = Expr::Var(chunk).add(1);
        (cut("first", chunk.into()), cut("last", next))
    }

    /// Counts the chunks: their number, and how many parts of the work each has.
    /// Each copies so many entries.
    fn count(
        &mut self,
        range: &Loop,
        work: &mut work::Work,
        copied: Option<Expr>,
        block: &mut Block,
    ) -> (Var, Var) {
        let chunks = self.declare(&format!("{}_chunks", range.name), 1, true, block);
        let step = self.declare(&format!("{}_step", range.name), range.parts, true, block);
        if !work.positions.is_empty() {
            let total = work.total.clone();
            let total = self.declare(&format!("{}_work", range.name), total, false, block);
            work.total = total.into();
        }
        let mut each = Expr::int(i64::from(self.division.grain));
        if let Some(copied) = copied {
            each = each.add(copied.mul(COPY));
        }
        let each = Expr::Var(chunks).mul(each);
        let more = Expr::Var(chunks)
            .less(range.parts)
            .and(each.less(work.total.clone().mul(work.weight.clone())));
        block.push(Stmt::While {
            condition: more,
            body: vec![
                assign(chunks, Expr::Var(chunks).mul(2)),
                assign(step, Expr::Var(step).binary(BinaryOp::FloorDiv, 2)),
            ],
        });
        (chunks, step)
    }

    /// `expr`, or a variable that has its value, where it might change or is long.
    fn named(&mut self, expr: Expr, name: &str, block: &mut Block) -> Expr {
        match &expr {
            Expr::Const(_) => expr,
            Expr::Var(var) if !self.function.vars[*var].mutable => expr,
            _ => self.declare(name, expr, false, block).into(),
        }
    }

    /// Whether a loop is known to end where it begins, or behind that.
    fn is_ascending(&self, range: &Loop) -> bool {
        range.lo == Expr::int(0) && self.function.is_extent(&range.hi)
    }

    /// A workspace of `len` integers.
    fn fixed_array(&mut self, name: &str, len: i64) -> Buffer {
        let name = self.function.fresh_name(name);
        let buffer = self.function.buffers.push(BufferData {
            name,
            storage: ElementType::I64,
            compute: ElementType::I64,
            access: Access::Workspace,
        });
        self.made.push(Stmt::Alloc {
            buffer,
            len: Expr::int(len),
        });
        buffer
    }

    fn var(&mut self, name: &str, mutable: bool) -> Var {
        self.function.fresh_var(name, ElementType::I64, mutable)
    }

    fn declare(
        &mut self,
        name: &str,
        value: impl Into<Expr>,
        mutable: bool,
        block: &mut Block,
    ) -> Var {
        let var = self.var(name, mutable);
        let value = value.into();
        block.push(Stmt::Declare { var, value });
        var
    }
}

/// `for chunk in 0..n chunks { body }`
fn chunks(chunk: Var, n: Var, body: Block) -> Stmt {
    Stmt::For {
        var: chunk,
        lo: Expr::int(0),
        hi: n.into(),
        mark: Mark {
            chunks: true,
            ..Mark::default()
        },
        body,
    }
}

fn difference(more: &Expr, less: &Expr) -> Expr {
    match *less == Expr::int(0) {
        true => more.clone(),
        false => more.clone().binary(BinaryOp::Sub, less.clone()),
    }
}

fn assign(var: Var, value: Expr) -> Stmt {
    Stmt::Assign { var, value }
}

/// Loops inside of chunks run as they stand.
fn unmark(body: &mut Block) {
    for_each_block_mut(body, &mut |block| {
        for stmt in block {
            if let Stmt::For { mark, .. } = stmt
                && mark
                    .parallel
                    .is_some_and(|parallel| parallel.unit == Unit::CpuThread)
            {
                mark.parallel = None;
            }
        }
    });
}
