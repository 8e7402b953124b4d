//! Calls that leave every register as it is, for those that are hardly ever made.
//!
//! Room for more entries is asked for in loops, and there nearly always is room. But a
//! function may change most registers, so that what lives across a call of it is kept
//! in memory, and read from there in loops that never get to the call. So the kernel
//! calls a stub, which saves what the function may change:
//!
//! ```text
//! kernel ──preserve_all──► stub(function, given, arguments…) ──► function(arguments…)
//!    nothing is saved         *given = what it gives
//! ```
//!
//! Such a stub gives nothing back in registers, so it gets an address to write to. There
//! is one for each number of arguments, made when the first kernel needs it, and kept
//! for all kernels of the process.
//!
//! One more is bytes of ours, as Cranelift has no instruction that fetches early: it has
//! caches fetch the lines from one address up to another.

use std::array;
use std::sync::OnceLock;

use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind,
    UserFuncName, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use sparsec_base::{Diagnostic, Result};

use crate::emitter::{Emitter, of_frame};
use crate::memory::Code;

/// The most arguments that a function is called with by a stub: with two more, as many
/// as registers hold.
const MOST: usize = 4;

impl Emitter<'_, '_> {
    /// As [`Emitter::ask`], where that is hardly ever done: what the function of the
    /// context at this offset gives, which is an address.
    pub(crate) fn ask_aside(&mut self, offset: i32, arguments: &[Value]) -> Value {
        let (context, frame) = (self.context, of_frame());
        let function = self.b.ins().load(types::I64, frame, context, offset);
        let mut all = vec![context];
        all.extend(arguments);
        self.call_aside(function, &all)
    }

    /// What a function gives that is hardly ever called: an address, as its arguments are
    /// addresses and lengths.
    pub(crate) fn call_aside(&mut self, function: Value, arguments: &[Value]) -> Value {
        let stub = match stub(arguments.len(), self.isa) {
            Ok(stub) => stub.address(),
            Err(refused) => {
                self.refused.get_or_insert(refused);
                0
            }
        };
        let stub = self.int(stub);
        let slot = match self.given {
            Some(slot) => slot,
            None => {
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
                *self.given.insert(self.b.create_sized_stack_slot(slot))
            }
        };
        let given = self.b.ins().stack_addr(types::I64, slot, 0);
        let mut all = vec![function, given];
        all.extend(arguments);
        let signature = self.b.import_signature(signature(all.len()));
        self.b.ins().call_indirect(signature, stub, &all);
        self.b.ins().stack_load(types::I64, types::I64, slot, 0)
    }
}

impl Emitter<'_, '_> {
    /// Has caches fetch what lies from one address up to another, at least one line.
    pub(crate) fn fetch_early(&mut self, from: Value, to: Value) {
        if let Some(stub) = prefetcher() {
            let stub = self.int(stub.address());
            let signature = self.b.import_signature(signature(2));
            self.b.ins().call_indirect(signature, stub, &[from, to]);
        }
    }
}

/// The stub that fetches early, on processors that we have it for.
pub(crate) fn prefetcher() -> Option<&'static Code> {
    static STUB: OnceLock<Option<Code>> = OnceLock::new();
    let make = || PREFETCH.and_then(|bytes| Code::map(bytes).ok());
    STUB.get_or_init(make).as_ref()
}

#[cfg(all(target_arch = "x86_64", not(windows)))]
const PREFETCH: Option<&[u8]> = Some(&[
    0x57, // push rdi
    0x0f, 0x18, 0x0f, // prefetcht0 [rdi]
    0x48, 0x83, 0xc7, 0x40, // add rdi, 64
    0x48, 0x39, 0xf7, // cmp rdi, rsi
    0x72, 0xf4, // jb to the second instruction
    0x5f, // pop rdi
    0xc3, // ret
]);

#[cfg(not(all(target_arch = "x86_64", not(windows))))]
const PREFETCH: Option<&[u8]> = None;

fn signature(n_params: usize) -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params = vec![AbiParam::new(types::I64); n_params];
    signature
}

/// The stub for functions of so many arguments.
fn stub(n_arguments: usize, isa: &dyn TargetIsa) -> Result<&'static Code> {
    static STUBS: [OnceLock<std::result::Result<Code, Diagnostic>>; MOST + 1] =
        [const { OnceLock::new() }; MOST + 1];
    let made = STUBS[n_arguments].get_or_init(|| make(n_arguments, isa));
    made.as_ref().map_err(Clone::clone)
}

fn make(n_arguments: usize, isa: &dyn TargetIsa) -> Result<Code> {
    let mut made =
        ir::Function::with_name_signature(UserFuncName::default(), signature(2 + n_arguments));
    let mut scratch = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut made, &mut scratch);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let params = b.block_params(entry).to_vec();
    let [function, given] = array::from_fn(|number| params[number]);
    let mut called = Signature::new(isa.default_call_conv());
    called.params = vec![AbiParam::new(types::I64); n_arguments];
    called.returns = vec![AbiParam::new(types::I64)];
    let called = b.import_signature(called);
    let call = b.ins().call_indirect(called, function, &params[2..]);
    let value = b.inst_results(call)[0];
    b.ins().store(MemFlagsData::trusted(), value, given, 0);
    b.ins().return_(&[]);
    b.finalize(isa.frontend_config());
    crate::map("stub", made, isa)
}
