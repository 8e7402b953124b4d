//! Loops whose chunks the caller runs, on as many threads as it likes.
//!
//! The body is a function of its own, made and mapped before the one around it,
//! which has its address:
//!
//! ```text
//! body(context, captured, own, chunk) -> status
//!
//! captured   on the stack of the kernel: 16 bytes a variable, 8 a buffer
//! own        the unit's: 16 bytes for each workspace, where it is and its capacity
//! ```

use cranelift_codegen::ir::{
    InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilderContext;
use sparsec_base::Result;
use sparsec_loop::growth::growth_groups;
use sparsec_loop::{Access, Block, Buffer, Captured, Expr, Failure, Function, Var, captured};

use crate::abi::Layout;
use crate::emitter::{Cell, Emitter, begin, function_of_words, of_frame};
use crate::memory::Code;
use crate::number::{Number, register};

const ABI: Layout = Layout::RELIED_ON;

/// The bytes of a captured variable, complex ones included.
const VAR: i32 = 16;

/// The bytes of a captured address or length.
const WORD: i32 = 8;

/// The bytes that a unit has for each workspace of its own.
const OWN: i32 = 16;

impl Emitter<'_, '_> {
    /// `for var in 0..n chunks { body }`
    pub(crate) fn hand_out(&mut self, var: Var, n: &Expr, body: &Block) {
        let n = self.expr(n).real();
        let captured = captured(self.function, var, body);
        let code = match self.part(&captured, var, body) {
            Ok(code) => code,
            Err(refused) => {
                self.refused.get_or_insert(refused);
                return;
            }
        };
        let address = self.int(code.address());
        self.parts.push(code);
        let frame = self.capture(&captured);
        let own = self.function.buffers.iter();
        let n_own = own.filter(|(_, data)| data.access == Access::Own).count();
        let own_size = self.int(i64::from(OWN) * n_own as i64);
        let status = self.ask(ABI.chunks, Some(types::I32), &[address, frame, own_size, n]);
        let status = status.expect("chunks have a status");
        self.leave_with(status);
        self.take_grown(&captured.grown);
    }

    /// `turn`
    pub(crate) fn turn(&mut self) {
        let status = self.ask(ABI.turn, Some(types::I32), &[]);
        let status = status.expect("a turn has a status");
        self.leave_with(status);
        let grown = std::mem::take(&mut self.grown_in_turn);
        let groups = growth_groups(self.function).into_iter();
        for buffers in groups.filter(|group| grown.contains(&group[0])) {
            self.group(buffers);
        }
        self.take_grown(&grown);
    }

    /// `poll`
    pub(crate) fn poll(&mut self) {
        // Where it stands never changes, so that it is found out before the loops around.
        let (context, fixed) = (self.context, of_frame().with_can_move());
        let cancelled = self.b.ins().load(types::I64, fixed, context, ABI.cancelled);
        // Another thread writes it, so what was loaded in the turn before is no answer.
        let flags = MemFlagsData::new();
        let cancelled = self.b.ins().atomic_load(types::I32, flags, cancelled);
        self.leave_if(cancelled, Failure::Cancelled);
    }

    /// Finds out where results are that may have been grown, and how much room they
    /// have.
    fn take_grown(&mut self, grown: &[Buffer]) {
        let flags = MemFlagsData::trusted();
        for &buffer in grown {
            let array = self.array(buffer);
            let data = self.b.ins().load(types::I64, flags, array, ABI.data);
            self.move_data(buffer, data);
        }
        for group in self.groups.clone() {
            if grown.contains(&group.buffers[0]) {
                let room = self.room(&group.buffers);
                self.b.def_var(group.capacity, room);
            }
        }
    }

    /// Writes what a body takes to the stack; where that is.
    fn capture(&mut self, captured: &Captured) -> Value {
        let size = VAR * captured.vars.len() as i32
            + WORD * (captured.grown.len() + captured.buffers.len() + captured.own.len()) as i32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size as u32, 3);
        let slot = self.b.create_sized_stack_slot(slot);
        let mut at = 0;
        for &var in &captured.vars {
            let parts = match self.variable(var) {
                Number::Real(value) => vec![value],
                Number::Complex(re, im) => vec![re, im],
            };
            for (value, offset) in parts.into_iter().zip([0, WORD]) {
                self.b
                    .ins()
                    .stack_store(types::I64, value, slot, at + offset);
            }
            at += VAR;
        }
        for &buffer in &captured.grown {
            let array = self.array(buffer);
            self.b.ins().stack_store(types::I64, array, slot, at);
            at += WORD;
        }
        for &buffer in &captured.buffers {
            let data = self.data(buffer);
            self.b.ins().stack_store(types::I64, data, slot, at);
            at += WORD;
        }
        for buffer in &captured.own {
            let len = self.own_lens[buffer];
            self.b.ins().stack_store(types::I64, len, slot, at);
            at += WORD;
        }
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// The code of a body.
    fn part(&mut self, captured: &Captured, var: Var, body: &Block) -> Result<Code> {
        let mut made = function_of_words(self.isa, 4);
        let mut scratch = FunctionBuilderContext::new();
        let (builder, [context, frame, own, chunk]) = begin(&mut made, &mut scratch);
        let function = self.function;
        let inner = Emitter::new(builder, function, self.formulas, self.isa, context);
        let mut inner = inner.with_frame(body);
        inner.own = Some(own);
        inner.vars.insert(var, Cell::Fixed(Number::Real(chunk)));
        inner.unpack_captured(captured, frame);
        inner.hold_tiles(body, Access::Own);
        let (_, refused) = inner.finish(body);
        match refused {
            Some(refused) => Err(refused),
            None => crate::map(&function.name, made, self.isa),
        }
    }

    /// Loads what the kernel wrote to its stack.
    fn unpack_captured(&mut self, captured: &Captured, frame: Value) {
        let mut at = 0;
        for &var in &captured.vars {
            let element = self.function.vars[var].element;
            let ty = register(element);
            let mut part = |offset| self.b.ins().load(ty, of_frame(), frame, at + offset);
            let value = match element.is_complex() {
                true => Number::Complex(part(0), part(WORD)),
                false => Number::Real(part(0)),
            };
            self.vars.insert(var, Cell::Fixed(value));
            at += VAR;
        }
        for &buffer in &captured.grown {
            let array = self.b.ins().load(types::I64, of_frame(), frame, at);
            let nowhere = self.int(0);
            self.buffer(buffer, nowhere, Some(array));
            at += WORD;
        }
        self.grown_in_turn.clone_from(&captured.grown);
        for &buffer in &captured.buffers {
            let data = self.b.ins().load(types::I64, of_frame(), frame, at);
            self.buffer(buffer, data, None);
            at += WORD;
        }
        for &buffer in &captured.own {
            let len = self.b.ins().load(types::I64, of_frame(), frame, at);
            self.take_own(buffer, len);
            at += WORD;
        }
    }

    /// The unit's own array, which its first chunk allocates.
    fn take_own(&mut self, buffer: Buffer, len: Value) {
        let (own, offset) = self.own_place(buffer);
        let flags = MemFlagsData::trusted();
        let known = self.b.ins().load(types::I64, flags, own, offset);
        let (make, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(make);
        let data = self.b.append_block_param(on, types::I64);
        self.b.ins().brif(known, on, &[known.into()], make, []);
        self.enter(make);
        let size = self.function.buffers[buffer].storage.size();
        let size = self.int(size as i64);
        let made = self.ask(ABI.workspace, Some(types::I64), &[len, size]);
        let made = made.expect("memory has an address");
        let refused =
            self.b
                .ins()
                .icmp_imm_s(cranelift_codegen::ir::condcodes::IntCC::Equal, made, 0);
        self.leave_if(refused, Failure::OutOfMemory);
        self.b.ins().store(flags, made, own, offset);
        self.b.ins().store(flags, len, own, offset + WORD);
        self.b.ins().jump(on, &[made.into()]);
        self.enter(on);
        self.buffer(buffer, data, None);
        if growth_groups(self.function).contains(&vec![buffer]) {
            self.group(vec![buffer]);
            let room = self.b.ins().load(types::I64, flags, own, offset + WORD);
            let capacity = self.groups.last().expect("a group was made").capacity;
            self.b.def_var(capacity, room);
        }
    }

    /// Notes where an array of the unit's own is from here on.
    pub(crate) fn keep_own(&mut self, buffer: Buffer, data: Value, room: Value) {
        if self.function.buffers[buffer].access == Access::Own {
            let (own, offset) = self.own_place(buffer);
            let flags = MemFlagsData::trusted();
            self.b.ins().store(flags, data, own, offset);
            self.b.ins().store(flags, room, own, offset + WORD);
        }
    }

    fn own_place(&self, wanted: Buffer) -> (Value, i32) {
        let function: &Function = self.function;
        let own = function.buffers.iter();
        let mut own = own.filter(|(_, data)| data.access == Access::Own);
        let number = own.position(|(buffer, _)| buffer == wanted);
        let number = number.expect("the buffer is a unit's own") as i32;
        let own = self.own.expect("what is a unit's own is used in chunks");
        (own, OWN * number)
    }
}
