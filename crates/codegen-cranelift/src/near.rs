//! Addresses of arrays, in registers where they are used.
//!
//! An address that is found out once lives from there to the end, and there are more
//! arrays than registers. Cranelift then keeps what lives long in memory, and reads it
//! at each use, however deep the loop. So where a function needs more registers than
//! there are, it keeps the addresses in a **frame** on its stack, and each loop takes
//! those that it uses itself from there when it begins:
//!
//! ```text
//! for pB0 in …:                    near: B0.crd, B1.pos
//!   for pB1 in …:                  near: B1.crd, B2.pos
//!     for pB2 in …:                near: B2.crd, B.vals, c.vals
//! ```
//!
//! A loop that registers are enough for takes all that it uses, those of the loops inside
//! too. What moves while a loop runs is no address that it could take. Of an innermost
//! loop that uses more than there are registers, as a merge of three operands does, the ends
//! of its segments stay in memory, and then the addresses that it uses at the fewest places.
//!
//! Cranelift forwards what was stored to loads behind it, which would be the value again
//! that lives long. So each turn of an outermost loop stores to the frame what nobody
//! reads, and so does each turn of one that keeps in memory what it uses.

use std::collections::HashSet;

use cranelift_codegen::ir::{
    AliasRegionData, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value,
    types,
};
use cranelift_codegen::isa::TargetIsa;
use sparsec_base::ElementType;
use sparsec_base::arena::Id as _;
use sparsec_loop::walk::for_each_stmt;
use sparsec_loop::{Block, Buffer, Expr, Function, Mark, Stmt, Var};

use crate::emitter::{Cell, Emitter, Pointer};
use crate::number::Number;

/// The bytes of an address.
const WORD: i32 = 8;

/// Where the addresses of all arrays are kept, and what is near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    slot: StackSlot,
    /// The loops around.
    depth: usize,
    /// Whether all that loops inside use is near.
    all: bool,
}

/// What was where before a loop.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pointers: Vec<(Buffer, Pointer)>,
    vars: Vec<(Var, Cell)>,
    frame: Option<Frame>,
    /// Whether the loop reads addresses or ends from memory.
    pub(crate) keeps: bool,
}

/// What some statements use.
#[derive(Debug, Default)]
struct Uses {
    buffers: HashSet<Buffer>,
    /// Those that may be somewhere else afterwards.
    moved: HashSet<Buffer>,
    /// Variables that integer registers hold.
    vars: HashSet<Var>,
    n_bounds: usize,
    /// Whether what other threads do moves arrays.
    shares: bool,
}

impl Uses {
    fn expr(&mut self, function: &Function, expr: &Expr) {
        expr.any(&mut |part| {
            match part {
                Expr::Load { buffer, .. } => _ = self.buffers.insert(*buffer),
                Expr::Var(var) if !is_float(function.vars[*var].element) => {
                    self.vars.insert(*var);
                }
                _ => {}
            }
            false
        });
    }

    /// Those of a block, without the blocks of loops inside if only `near` ones count.
    fn block(&mut self, function: &Function, block: &Block, near: bool) {
        for stmt in block {
            self.buffers.extend(stmt.touched_buffers());
            if let Stmt::Prefetch { buffer, .. } = stmt {
                self.buffers.insert(*buffer);
            }
            if let Stmt::Alloc { buffer, .. }
            | Stmt::Grow { buffer, .. }
            | Stmt::Resize { buffer, .. } = stmt
            {
                self.moved.insert(*buffer);
            }
            let chunks = matches!(
                stmt,
                Stmt::For {
                    mark: Mark { chunks: true, .. },
                    ..
                }
            );
            self.shares |= chunks || matches!(stmt, Stmt::Turn);
            self.n_bounds += usize::from(matches!(stmt, Stmt::For { .. } | Stmt::Poll));
            let written = stmt.written_var();
            let written = written.filter(|var| !is_float(function.vars[*var].element));
            self.vars.extend(written);
            stmt.for_each_expr(&mut |expr| self.expr(function, expr));
            let is_loop = matches!(stmt, Stmt::For { .. } | Stmt::While { .. });
            if !(near && is_loop) {
                for block in stmt.blocks() {
                    self.block(function, block, near);
                }
            }
        }
    }

    /// How many registers that is, for numbers that are not floats.
    fn n_registers(&self) -> usize {
        self.buffers.len() + self.vars.len() + self.n_bounds
    }
}

/// Whether other registers hold values of this type.
fn is_float(element: ElementType) -> bool {
    element.is_complex() || (element.is_float() && element.computed() == element)
}

fn has_loops(body: &Block) -> bool {
    let mut has_loops = false;
    for_each_stmt(body, &mut |stmt| {
        has_loops |= matches!(stmt, Stmt::For { .. } | Stmt::While { .. });
    });
    has_loops
}

/// At how many places a buffer is used.
pub(crate) fn n_uses(body: &Block, buffer: Buffer) -> usize {
    let mut n_uses = 0;
    for_each_stmt(body, &mut |stmt| {
        n_uses += stmt.touched_buffers().filter(|it| *it == buffer).count();
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                let is_it = matches!(part, Expr::Load { buffer: it, .. } if *it == buffer);
                n_uses += usize::from(is_it);
                false
            });
        });
    });
    n_uses
}

fn is_read(body: &Block, var: Var) -> bool {
    let mut is_read = false;
    for_each_stmt(body, &mut |stmt| {
        stmt.for_each_expr(&mut |expr| is_read |= expr.reads(var));
    });
    is_read
}

/// How many registers a function has for integers and addresses.
fn n_registers(isa: &dyn TargetIsa) -> usize {
    match isa.name() {
        "x64" => 14,
        _ => 24,
    }
}

impl Emitter<'_, '_> {
    /// Keeps addresses in a frame, where `body` needs more registers than there are.
    pub(crate) fn with_frame(mut self, body: &Block) -> Self {
        let mut uses = Uses::default();
        uses.block(self.function, body, false);
        if uses.n_registers() > n_registers(self.isa) {
            let bytes = WORD * (1 + self.function.buffers.len() as i32);
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes as u32, 3);
            self.frame = Some(Frame {
                slot: self.b.create_sized_stack_slot(slot),
                depth: 0,
                all: false,
            });
        }
        self
    }

    /// Keeps an address in the frame, if there is one.
    pub(crate) fn keep(&mut self, buffer: Buffer, data: Value) {
        if let Some(frame) = self.frame {
            let at = WORD * (1 + buffer.index() as i32);
            self.b.ins().stack_store(types::I64, data, frame.slot, at);
        }
    }

    /// Takes the addresses that a loop uses, of which the body and the condition are
    /// these, before it begins.
    pub(crate) fn bring_near(&mut self, condition: Option<&Expr>, body: &Block) -> Before {
        let mut before = Before {
            frame: self.frame,
            ..Before::default()
        };
        let Some(frame) = &mut self.frame else {
            return before;
        };
        frame.depth += 1;
        if frame.all {
            return before;
        }
        let mut uses = Uses::default();
        uses.block(self.function, body, false);
        if let Some(condition) = condition {
            uses.expr(self.function, condition);
        }
        let (moved, shares) = (std::mem::take(&mut uses.moved), uses.shares);
        frame.all = uses.n_registers() < n_registers(self.isa) && moved.is_empty() && !shares;
        if !frame.all {
            uses = Uses::default();
            uses.block(self.function, body, true);
            if let Some(condition) = condition {
                uses.expr(self.function, condition);
            }
        }
        let slot = frame.slot;
        let mut excess = uses.n_registers().saturating_sub(n_registers(self.isa));
        if has_loops(body) {
            excess = 0;
        }
        if let Some(condition) = condition
            && excess > 0
        {
            before.vars = self.keep_ends(condition, body, excess);
            excess -= before.vars.len();
            before.keeps = true;
        }
        let mut buffers: Vec<Buffer> = uses.buffers.difference(&moved).copied().collect();
        buffers.sort_by_key(|buffer| (n_uses(body, *buffer), *buffer));
        for (number, buffer) in buffers.into_iter().enumerate() {
            let before_it = self.buffers[&buffer].data;
            if shares && matches!(before_it, Pointer::Moving(_)) {
                continue;
            }
            let at = WORD * (1 + buffer.index() as i32);
            let pointer = match condition.is_some() && number < excess {
                true => Pointer::Kept(slot, at),
                false => Pointer::Fixed(self.b.ins().stack_load(types::I64, types::I64, slot, at)),
            };
            self.point(buffer, pointer);
            before.pointers.push((buffer, before_it));
        }
        before
    }

    /// Keeps at most so many variables in memory that the condition of a loop asks for and
    /// its body does not, but for those that change; what they were.
    fn keep_ends(&mut self, condition: &Expr, body: &Block, most: usize) -> Vec<(Var, Cell)> {
        let mut ends = Vec::new();
        condition.any(&mut |part| {
            if let Expr::Var(var) = part
                && let cell @ Cell::Fixed(Number::Real(value)) = self.vars[var]
                && self.b.func.dfg.value_type(value) == types::I64
                && !ends.iter().any(|(other, _, _)| other == var)
                && !is_read(body, *var)
            {
                ends.push((*var, cell, value));
            }
            false
        });
        ends.truncate(most);
        let keep = |(var, cell, value)| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, WORD as u32, 3);
            let slot = self.b.create_sized_stack_slot(data);
            self.b.ins().stack_store(types::I64, value, slot, 0);
            self.vars.insert(var, Cell::Kept(slot));
            (var, cell)
        };
        ends.into_iter().map(keep).collect()
    }

    /// What is kept in memory while a loop runs.
    pub(crate) fn kept(&mut self, slot: StackSlot, at: i32) -> Value {
        let flags = self.of_kept();
        let address = self.b.ins().stack_addr(types::I64, slot, at);
        self.b.ins().load(types::I64, flags, address, 0)
    }

    /// Begins a turn of a loop that keeps some of what it uses in memory.
    pub(crate) fn begin_turn_with_kept(&mut self) {
        if let Some(Frame { slot, .. }) = self.frame {
            let (nothing, flags) = (self.int(0), self.of_kept());
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            self.b.ins().store(flags, nothing, address, 0);
        }
    }

    /// Nothing else is in that region, so that stores to arrays are not in the way.
    fn of_kept(&mut self) -> MemFlagsData {
        let region = self.b.func.dfg.alias_regions.insert(AliasRegionData {
            user_id: u32::MAX,
            description: "kept".into(),
        });
        MemFlagsData::trusted().with_alias_region(Some(region))
    }

    /// Begins a turn of a loop.
    pub(crate) fn begin_turn(&mut self) {
        if let Some(Frame { slot, depth: 1, .. }) = self.frame {
            let nothing = self.int(0);
            self.b.ins().stack_store(types::I64, nothing, slot, 0);
        }
    }

    /// Leaves a loop behind.
    pub(crate) fn leave_loop(&mut self, before: Before) {
        for (buffer, pointer) in before.pointers {
            self.point(buffer, pointer);
        }
        self.vars.extend(before.vars);
        self.frame = before.frame;
    }

    fn point(&mut self, buffer: Buffer, data: Pointer) {
        let array = self.buffers.get_mut(&buffer);
        array.expect("every buffer has an address").data = data;
    }
}
