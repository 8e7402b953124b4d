//! Making room in results and workspaces that grow.
//!
//! Room is made in line, as in C: an append that fits costs one comparison with
//! the capacity that a group of arrays shares; what does not fit asks the context
//! in a cold block.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::Variable;
use sparsec_base::ElementType;
use sparsec_loop::{Access, Buffer, Expr, Failure};

use crate::abi::Layout;
use crate::emitter::{Cell, Emitter};

const ABI: Layout = Layout::RELIED_ON;

/// Buffers that always grow together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) buffers: Vec<Buffer>,
    /// For how many entries all have room.
    pub(crate) capacity: Variable,
}

impl Emitter<'_, '_> {
    /// Makes the capacity of buffers that grow together.
    pub(crate) fn group(&mut self, buffers: Vec<Buffer>) {
        let capacity = self.b.declare_var(types::I64);
        let room = match self.function.buffers[buffers[0]].access {
            Access::Workspace | Access::Own => self.int(0),
            _ => self.room(&buffers),
        };
        self.b.def_var(capacity, room);
        self.groups.push(Group { buffers, capacity });
    }

    /// The least capacity of some arrays of results.
    pub(crate) fn room(&mut self, buffers: &[Buffer]) -> Value {
        let flags = MemFlagsData::trusted();
        let mut least = None;
        for buffer in buffers {
            let array = self.array(*buffer);
            let room = self.b.ins().load(types::I64, flags, array, ABI.capacity);
            least = Some(match least {
                None => room,
                Some(before) => self.b.ins().smin(before, room),
            });
        }
        least.expect("a group has a buffer")
    }

    pub(crate) fn array(&self, buffer: Buffer) -> Value {
        let array = self.buffers[&buffer].array;
        array.expect("only arrays of results are resized")
    }

    /// Makes room for `len` entries in every buffer of a run.
    pub(crate) fn grow(&mut self, run: &[Buffer], len: &Expr) -> Value {
        let kept = self.keep_positions(len);
        let len = self.expr(len).real();
        for group in self.groups.clone() {
            let first = group.buffers[0];
            if !run.contains(&first) {
                continue;
            }
            let (full, on) = (self.b.create_block(), self.b.create_block());
            self.b.set_cold_block(full);
            let capacity = self.b.use_var(group.capacity);
            let lacks = self.b.ins().icmp(IntCC::SignedGreaterThan, len, capacity);
            self.b.ins().brif(lacks, full, [], on, []);
            self.enter(full);
            let room = match self.function.buffers[first].access {
                Access::Workspace | Access::Own => self.move_workspace(first, capacity, len),
                _ => {
                    for &buffer in &group.buffers {
                        self.grow_array(buffer, len);
                    }
                    self.room(&group.buffers)
                }
            };
            self.b.def_var(group.capacity, room);
            self.b.ins().jump(on, []);
            self.enter(on);
        }
        for (position, slot) in kept {
            let value = self.b.ins().stack_load(types::I64, types::I64, slot, 0);
            self.b.def_var(position, value);
        }
        len
    }

    /// Where registers are few, keeps the positions that a length follows from on the stack
    /// while there may be a call. One that lives across it is in the way of the registers that
    /// arguments have to be in, and would be kept in memory for good, in all loops behind.
    fn keep_positions(&mut self, len: &Expr) -> Vec<(Variable, StackSlot)> {
        let mut positions = Vec::new();
        len.any(&mut |part| {
            if let Expr::Var(var) = part
                && self.function.vars[*var].element == ElementType::I64
                && let Cell::Real(position) = self.vars[var]
                && !positions.contains(&position)
            {
                positions.push(position);
            }
            false
        });
        if self.frame.is_none() {
            positions.clear();
        }
        let keep = |position: Variable| {
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
            let slot = self.b.create_sized_stack_slot(slot);
            let value = self.b.use_var(position);
            self.b.ins().stack_store(types::I64, value, slot, 0);
            (position, slot)
        };
        positions.into_iter().map(keep).collect()
    }

    fn grow_array(&mut self, buffer: Buffer, len: Value) {
        let array = self.array(buffer);
        let size = self.function.buffers[buffer].storage.size();
        let size = self.int(size as i64);
        let data = self.ask_aside(ABI.grow, &[array, len, size]);
        self.take_memory(buffer, data);
    }

    /// Moves a workspace to where there is room for twice what is asked; where it
    /// was is freed with all others when the kernel returns.
    fn move_workspace(&mut self, buffer: Buffer, capacity: Value, len: Value) -> Value {
        let before = self.data(buffer);
        let room = self.b.ins().ishl_imm_u(len, 1);
        self.ask_workspace(buffer, room);
        let size = self.function.buffers[buffer].storage.size();
        let bytes = self.b.ins().imul_imm_s(capacity, size as i64);
        let after = self.data(buffer);
        self.copy(after, before, bytes);
        self.keep_own(buffer, after, room);
        room
    }

    /// Calls `memcpy`.
    fn copy(&mut self, to: Value, from: Value, bytes: Value) {
        let copy = self.int(libc::memcpy as *const () as i64);
        self.call_aside(copy, &[to, from, bytes]);
    }

    /// Makes a workspace of `len` zeros.
    pub(crate) fn alloc(&mut self, buffer: Buffer, len: &Expr) {
        if self.tiles.contains_key(&buffer) {
            return;
        }
        let len = self.expr(len).real();
        if self.function.buffers[buffer].access == Access::Own {
            self.own_lens.insert(buffer, len);
            return;
        }
        self.ask_workspace(buffer, len);
        let own = |group: &&Group| group.buffers == [buffer];
        if let Some(capacity) = self.groups.iter().find(own).map(|group| group.capacity) {
            self.b.def_var(capacity, len);
        }
    }

    fn ask_workspace(&mut self, buffer: Buffer, len: Value) {
        let size = self.function.buffers[buffer].storage.size();
        let size = self.int(size as i64);
        let data = self.ask_aside(ABI.workspace, &[len, size]);
        self.take_memory(buffer, data);
    }

    /// Memory that was asked for, if there is any.
    fn take_memory(&mut self, buffer: Buffer, data: Value) {
        let refused = self.b.ins().icmp_imm_s(IntCC::Equal, data, 0);
        self.leave_if(refused, Failure::OutOfMemory);
        self.move_data(buffer, data);
    }

    /// Makes room in every buffer of a run and says that they end there.
    pub(crate) fn resize(&mut self, run: &[Buffer], len: &Expr) {
        let len = self.grow(run, len);
        for &buffer in run {
            let array = self.array(buffer);
            self.b
                .ins()
                .store(MemFlagsData::trusted(), len, array, ABI.len);
        }
    }
}
