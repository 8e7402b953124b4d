//! Loops whose iterations combine values: each chunk combines its own, and those
//! of all chunks are combined in their order.
//!
//! ```text
//! for i in … parallel(…, ParallelReduction) { t += x[i] }
//!
//! for i_chunk in 0..i_chunks chunks {
//!   var t_part: f64 = -0.0
//!   for i in … { t_part += x[i] }
//!   t_parts[i_chunk] = t_part
//! }
//! for t_at in 0..i_chunks { t += t_parts[t_at] }
//! ```
//!
//! One entry that no loop inside chooses is such a value too. Where iterations
//! choose the entry (`y[j] += …`), each chunk has a copy of the array, as long as
//! what was filled before the loop: fewer chunks, where the array is long, so that
//! copies are a part of the work. Copies are added up in chunks, too.
//!
//! Every engine runs this shape, on one thread too, so that floating-point sums have
//! the same bits everywhere. It is not the order of the source: `--strict` leaves
//! sums and products of floats as they stand. Atomic operations would add in the
//! order in which threads come, so `Atomics` is this as well.

use std::collections::{BTreeMap, HashSet};

use sparsec_base::{ElementType, Scalar};

use super::append::Appended;
use super::{Divider, Loop, PARTS, assign, difference, work};
use crate::ir::{Access, BinaryOp, Block, Buffer, BufferData, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::verify::{combined_by, is_read_beside};
use crate::walk::{for_each_block_mut, for_each_stmt, rewrite_exprs};

/// What the iterations of a loop combine.
#[derive(Debug, Default)]
pub(super) struct Combined {
    vars: BTreeMap<Var, BinaryOp>,
    /// Entries that no iteration chooses.
    entries: Vec<(Buffer, Expr, BinaryOp)>,
    arrays: Vec<Array>,
    /// What they append, where that is what they do.
    pub(super) appended: Option<Appended>,
}

/// An array of which iterations choose the entries.
#[derive(Debug)]
struct Array {
    buffer: Buffer,
    op: BinaryOp,
    /// The part of it that was filled.
    lo: Expr,
    hi: Expr,
}

/// What a loop over `body` combines, whose own workspaces are `own`; `None` if
/// there is no shape for it. `filled` has what was filled before, where that is
/// known.
pub(super) fn of(
    function: &Function,
    var: Var,
    body: &Block,
    own: &HashSet<Buffer>,
    filled: &dyn Fn(Buffer) -> Option<(Expr, Expr)>,
) -> Option<Combined> {
    let mut inside = HashSet::from([var]);
    let mut loaded = HashSet::new();
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Declare { var, .. } | Stmt::For { var, .. } = stmt {
            inside.insert(*var);
        }
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                if let Expr::Load { buffer, .. } = part {
                    loaded.insert(*buffer);
                }
                false
            });
        });
    });
    let mut vars = BTreeMap::new();
    let mut stores: BTreeMap<Buffer, Vec<(&Expr, Option<BinaryOp>)>> = BTreeMap::new();
    let mut known = true;
    for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Assign { var, value } if !inside.contains(var) => match combined_by(*var, value) {
            Some(op) => known &= *vars.entry(*var).or_insert(op) == op,
            None => known = false,
        },
        Stmt::Store {
            buffer,
            index,
            reduce,
            ..
        } if !own.contains(buffer) => {
            stores.entry(*buffer).or_default().push((index, *reduce));
        }
        Stmt::Fill { buffer, lo, .. } if !own.contains(buffer) => {
            stores.entry(*buffer).or_default().push((lo, None));
        }
        Stmt::Sort { .. } => known &= stmt.stored_buffers().all(|buffer| own.contains(&buffer)),
        _ => {}
    });
    // What counts places is no sum that chunks could begin anew.
    if is_read_beside(vars.keys().copied().collect(), body) {
        return None;
    }
    let mut combined = Combined {
        vars,
        ..Combined::default()
    };
    for (buffer, stores) in stores {
        let ops: Vec<BinaryOp> = stores.iter().filter_map(|(_, op)| *op).collect();
        let is_read = loaded.contains(&buffer);
        if ops.is_empty() && !is_read {
            // Nothing is combined there, so iterations store apart.
            continue;
        }
        let op = normal(*ops.first()?)?;
        let is_one = ops.iter().all(|other| normal(*other) == Some(op));
        if is_read || !is_one || ops.len() < stores.len() {
            return None;
        }
        let (index, _) = stores[0];
        let is_chosen = index.loads() || inside.iter().any(|var| index.reads(*var));
        if !is_chosen && stores.iter().all(|(other, _)| *other == index) {
            combined.entries.push((buffer, index.clone(), op));
        } else {
            let (lo, hi) = filled(buffer)?;
            combined.arrays.push(Array { buffer, op, lo, hi });
        }
    }
    let every = combined.ops(function);
    let has_identity = every.iter().all(|(op, ty)| identity(*op, *ty).is_some());
    (known && has_identity).then_some(combined)
}

/// The operator that partial results are combined by.
pub(in crate::passes) fn normal(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Sub => Some(BinaryOp::Add),
        _ => BinaryOp::COMBINE.contains(&op).then_some(op),
    }
}

/// The value that changes nothing, on either side of `op`; of floats, not the sign of a
/// zero either.
pub fn identity(op: BinaryOp, ty: ElementType) -> Option<Scalar> {
    let float = |value: f64| Scalar::F64(value).cast(ty);
    let extreme = |sign: f64, bits: fn(u32, bool) -> i64| match ty {
        ElementType::Bool => None,
        _ if ty.is_float() => float(sign * f64::INFINITY),
        _ if ty.is_integer() => {
            let signed = Scalar::from_i64(ty, -1).to_f64() < 0.0;
            Some(Scalar::from_i64(ty, bits(8 * ty.size() as u32, signed)))
        }
        _ => None,
    };
    match op {
        // Unlike 0, it leaves -0 as it is.
        BinaryOp::Add if ty.is_float() => float(-0.0),
        BinaryOp::Add | BinaryOp::BitOr | BinaryOp::BitXor => Some(ty.zero()),
        BinaryOp::BitAnd => Some(Scalar::from_i64(ty, -1)),
        BinaryOp::Mul => Some(ty.one()),
        BinaryOp::And => Some(Scalar::Bool(true)),
        BinaryOp::Or => Some(Scalar::Bool(false)),
        BinaryOp::Min if ty == ElementType::Bool => Some(Scalar::Bool(true)),
        BinaryOp::Max if ty == ElementType::Bool => Some(Scalar::Bool(false)),
        // The bits of the greatest integer: all but the sign.
        BinaryOp::Min => extreme(1.0, |bits, signed| match signed {
            true => i64::MAX >> (64 - bits),
            false => -1,
        }),
        BinaryOp::Max => extreme(-1.0, |bits, signed| match signed {
            true => i64::MIN >> (64 - bits),
            false => 0,
        }),
        _ => None,
    }
}

impl Combined {
    /// Nothing, but what is appended.
    pub(super) fn appending(appended: Appended) -> Self {
        Self {
            appended: Some(appended),
            ..Self::default()
        }
    }

    /// The flags of outside that iterations raise which combine nothing else.
    pub(super) fn flags(body: &Block) -> Self {
        let mut inside = HashSet::new();
        let mut vars = BTreeMap::new();
        for_each_stmt(body, &mut |stmt| match stmt {
            Stmt::Declare { var, .. } => _ = inside.insert(*var),
            Stmt::Assign { var, .. } if !inside.contains(var) => {
                vars.insert(*var, BinaryOp::Or);
            }
            _ => {}
        });
        Self {
            vars,
            ..Self::default()
        }
    }

    fn ops(&self, function: &Function) -> Vec<(BinaryOp, ElementType)> {
        let ty = |buffer: &Buffer| function.buffers[*buffer].compute;
        let vars = self
            .vars
            .iter()
            .map(|(var, op)| (*op, function.vars[*var].element));
        let entries = self.entries.iter().map(|(buffer, _, op)| (*op, ty(buffer)));
        let arrays = self
            .arrays
            .iter()
            .map(|array| (array.op, ty(&array.buffer)));
        vars.chain(entries).chain(arrays).collect()
    }

    /// Whether the order in which values are combined shows in the result.
    pub(super) fn rounds(&self, function: &Function) -> bool {
        let rounds = |(op, ty): &(BinaryOp, ElementType)| {
            matches!(op, BinaryOp::Add | BinaryOp::Mul) && !ty.is_integer()
        };
        self.ops(function).iter().any(rounds)
    }

    /// Whether there are entries that have to be there.
    pub(super) fn has_entries(&self) -> bool {
        !self.entries.is_empty()
    }

    /// How many entries a chunk copies.
    pub(super) fn copied(&self) -> Option<Expr> {
        let lengths = self
            .arrays
            .iter()
            .map(|array| difference(&array.hi, &array.lo));
        lengths.reduce(Expr::add)
    }
}

/// What a chunk does before and after its iterations, and the loop after all chunks.
#[derive(Default)]
pub(super) struct Shape {
    pub(super) before: Block,
    pub(super) after: Block,
    pub(super) behind: Block,
}

impl Divider<'_> {
    /// Has iterations of `body` combine into what their chunk has; what to do around.
    pub(super) fn combine(
        &mut self,
        combined: &Combined,
        chunk: Var,
        chunks: Var,
        body: &mut Block,
        block: &mut Block,
    ) -> Shape {
        let mut shape = Shape::default();
        let mut ending = Block::new();
        let at = self.var("part", false);
        for (&var, &op) in &combined.vars {
            let data = self.function.vars[var].clone();
            let part = self.partial(&data.name, data.element, op, &mut shape.before);
            rename(body, var, part);
            let parts = self.parts(&data.name, data.element, chunk, part, &mut shape.after);
            let value = Expr::Var(var).binary(op, Expr::load(parts, at));
            ending.push(assign(var, value));
        }
        for (buffer, index, op) in &combined.entries {
            let (name, ty) = self.named_entry(*buffer);
            let part = self.partial(&name, ty, *op, &mut shape.before);
            for_each_block_mut(body, &mut |block| {
                for stmt in block {
                    if let Stmt::Store {
                        buffer: stored,
                        value,
                        reduce: Some(op),
                        ..
                    } = stmt
                        && stored == buffer
                    {
                        let value = value.clone();
                        *stmt = assign(part, Expr::Var(part).binary(*op, value));
                    }
                }
            });
            let parts = self.parts(&name, ty, chunk, part, &mut shape.after);
            ending.push(Stmt::Store {
                buffer: *buffer,
                index: index.clone(),
                value: Expr::load(parts, at),
                reduce: Some(*op),
            });
        }
        if !ending.is_empty() {
            shape.behind.push(Stmt::For {
                var: at,
                lo: Expr::int(0),
                hi: chunks.into(),
                mark: Mark::default(),
                body: ending,
            });
        }
        for array in &combined.arrays {
            self.copy(array, chunk, chunks, body, block, &mut shape);
        }
        shape
    }

    /// The value of a chunk, which begins with the identity.
    fn partial(&mut self, name: &str, ty: ElementType, op: BinaryOp, before: &mut Block) -> Var {
        let part = self.function.fresh_var(&format!("{name}_part"), ty, true);
        let value = identity(op, ty).expect("it was looked for");
        before.push(Stmt::Declare {
            var: part,
            value: value.into(),
        });
        part
    }

    /// An array that the value of each chunk is stored to.
    fn parts(
        &mut self,
        name: &str,
        ty: ElementType,
        chunk: Var,
        part: Var,
        after: &mut Block,
    ) -> Buffer {
        let buffer = self.workspace(&format!("{name}_parts"), ty);
        self.made.push(Stmt::Alloc {
            buffer,
            len: Expr::int(PARTS),
        });
        after.push(Stmt::Store {
            buffer,
            index: chunk.into(),
            value: part.into(),
            reduce: None,
        });
        buffer
    }

    /// Gives each chunk a copy of an array.
    fn copy(
        &mut self,
        array: &Array,
        chunk: Var,
        chunks: Var,
        body: &mut Block,
        block: &mut Block,
        shape: &mut Shape,
    ) {
        let (name, ty) = self.named_entry(array.buffer);
        let copies = self.workspace(&format!("{name}_parts"), ty);
        let len = difference(&array.hi, &array.lo);
        let len = self.declare(&format!("{name}_len"), len, false, block);
        block.push(Stmt::Alloc {
            buffer: copies,
            len: Expr::Var(chunks).mul(len),
        });
        let begin = |chunk: Var| {
            let begin = Expr::Var(chunk).mul(len);
            difference(&begin, &array.lo)
        };
        let base = self.declare(
            &format!("{name}_base"),
            begin(chunk),
            false,
            &mut shape.before,
        );
        let value = identity(array.op, ty).expect("it was looked for");
        let first = Expr::Var(chunk).mul(len);
        shape.before.push(Stmt::Fill {
            buffer: copies,
            lo: first.clone(),
            hi: first.add(len),
            value: value.into(),
        });
        for_each_block_mut(body, &mut |block| {
            for stmt in block {
                if let Stmt::Store { buffer, index, .. } = stmt
                    && *buffer == array.buffer
                {
                    *buffer = copies;
                    *index = Expr::Var(base).add(index.clone());
                }
            }
        });

        let at = self.var(&format!("{name}_at"), false);
        let range = Loop {
            var: at,
            name: self.function.vars[at].name.clone(),
            lo: array.lo.clone(),
            hi: array.hi.clone(),
            parts: PARTS,
        };
        let mut work = work::Work {
            total: difference(&array.hi, &array.lo),
            weight: chunks.into(),
            positions: Vec::new(),
        };
        let behind = &mut shape.behind;
        let (n, step) = self.count(&range, &mut work, None, behind);
        let stretch = self.var(&format!("{}_chunk", range.name), false);
        let mut ends = Block::new();
        let (lo, hi) = self.ends(&range, stretch, step, &mut ends);
        let part = self.var(&format!("{name}_part"), false);
        let copied = Expr::load(copies, begin(part).add(at));
        ends.push(Stmt::For {
            var: part,
            lo: Expr::int(0),
            hi: chunks.into(),
            mark: Mark::default(),
            body: vec![Stmt::For {
                var: at,
                lo,
                hi,
                mark: Mark::default(),
                body: vec![Stmt::Store {
                    buffer: array.buffer,
                    index: at.into(),
                    value: copied,
                    reduce: Some(array.op),
                }],
            }],
        });
        behind.push(super::chunks(stretch, n, ends));
    }

    fn named_entry(&self, buffer: Buffer) -> (String, ElementType) {
        let data = &self.function.buffers[buffer];
        (data.name.replace('.', "_"), data.compute)
    }

    fn workspace(&mut self, name: &str, ty: ElementType) -> Buffer {
        let name = self.function.fresh_name(name);
        self.function.buffers.push(BufferData {
            name,
            storage: ty,
            compute: ty,
            access: Access::Workspace,
        })
    }
}

/// Puts `part` in the place of `var`.
pub(super) fn rename(body: &mut Block, var: Var, part: Var) {
    rewrite_exprs(body, &mut |expr| {
        if *expr == Expr::Var(var) {
            *expr = Expr::Var(part);
        }
    });
    for_each_block_mut(body, &mut |block| {
        for stmt in block {
            if let Stmt::Assign { var: assigned, .. } = stmt
                && *assigned == var
            {
                *assigned = part;
            }
        }
    });
}
