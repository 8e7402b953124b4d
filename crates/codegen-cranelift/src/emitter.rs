//! Translating one function: the state that all parts of it share.
//!
//! ```text
//! block0(context, tensors):
//!   pointers and extents that the body uses
//!   … the body …
//!   return 0
//! cold: return 1      one such exit for each failure that may occur
//! ```
//!
//! Variables that are assigned are variables of the frontend, which finds their
//! values in SSA form; all others are the value that they were given, which the
//! verifier's rule of visibility makes available wherever they are used. So are
//! pointers: those that growth moves are variables.
//!
//! Every buffer is an alias region of its own, since no two share memory but those
//! that are only read.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{
    self, AbiParam, AliasRegionData, InstBuilder, MemFlagsData, Signature, Type, UserFuncName,
    Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use sparsec_base::arena::Id as _;
use sparsec_base::{Diagnostic, Result};
use sparsec_loop::growth::growth_groups;
use sparsec_loop::{Access, Block, Buffer, Failure, Function, Var};

use crate::abi::Layout;
use crate::complex::Formulas;
use crate::growth::Group;
use crate::helper::Helper;
use crate::host::refused;
use crate::memory::Code;
use crate::near::Frame;
use crate::number::{Number, register};
use crate::segments::Segments;
use crate::tiles::Tile;

const ABI: Layout = Layout::RELIED_ON;

/// Writes the Cranelift IR of one function.
pub(crate) struct Emitter<'f, 'b> {
    pub(crate) b: FunctionBuilder<'b>,
    /// Whose variables and buffers expressions name: the kernel, or a formula.
    pub(crate) function: &'f Function,
    pub(crate) formulas: &'f Formulas,
    pub(crate) isa: &'f dyn TargetIsa,
    pub(crate) vars: HashMap<Var, Cell>,
    pub(crate) buffers: HashMap<Buffer, Array>,
    pub(crate) groups: Vec<Group>,
    /// The variable of the innermost loop around.
    pub(crate) innermost: Option<Var>,
    /// Tiles that are variables.
    pub(crate) tiles: HashMap<Buffer, Tile>,
    /// The segments that loops around walk.
    pub(crate) segments: Vec<Segments>,
    /// The number of the single entry of a row that is computed.
    pub(crate) entry: Option<usize>,
    /// Variables that differ from turn to turn of the loop around, if that has no jumps.
    pub(crate) varying: HashSet<Var>,
    /// Whether the loop around is a merge that branches.
    pub(crate) is_branching: bool,
    pub(crate) context: Value,
    /// What the unit has of its own, in the body of a chunk.
    pub(crate) own: Option<Value>,
    /// How many entries begin what each unit has of its own.
    pub(crate) own_lens: HashMap<Buffer, Value>,
    /// Results that the chunk being made grows in its turn.
    pub(crate) grown_in_turn: Vec<Buffer>,
    /// The bodies of chunks, ready to run.
    pub(crate) parts: Vec<Code>,
    pub(crate) refused: Option<Diagnostic>,
    exits: HashMap<Failure, ir::Block>,
    signatures: HashMap<Vec<Type>, ir::SigRef>,
    /// Where what is asked for aside is given.
    pub(crate) given: Option<ir::StackSlot>,
    /// Where addresses are kept, if registers cannot hold all.
    pub(crate) frame: Option<Frame>,
}

/// What a variable is in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// One that never changes.
    Fixed(Number),
    /// One that is assigned.
    Real(Variable),
    /// One of a complex type that is assigned: its parts.
    Complex(Variable, Variable),
    /// An integer that is read from memory wherever it is used.
    Kept(ir::StackSlot),
}

/// What a buffer is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    /// Where its entries are.
    pub(crate) data: Pointer,
    /// The `sparsec_array` of a buffer that grows.
    pub(crate) array: Option<Value>,
    /// How it is accessed.
    pub(crate) flags: MemFlagsData,
}

/// The address of the entries of a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pointer {
    /// One that does not change.
    Fixed(Value),
    /// One that growth changes.
    Moving(Variable),
    /// One that is read from memory, at this offset, wherever it is used.
    Kept(ir::StackSlot, i32),
}

/// A function without code that takes `n` words and returns a code of 32 bits.
pub(crate) fn function_of_words(isa: &dyn TargetIsa, n: usize) -> ir::Function {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(types::I64); n];
    signature.returns = vec![AbiParam::new(types::I32)];
    ir::Function::with_name_signature(UserFuncName::default(), signature)
}

/// Begins the code of a function of `N` words; also the words.
pub(crate) fn begin<'f, const N: usize>(
    made: &'f mut ir::Function,
    scratch: &'f mut FunctionBuilderContext,
) -> (FunctionBuilder<'f>, [Value; N]) {
    let mut builder = FunctionBuilder::new(made, scratch);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let words = builder.block_params(entry).try_into();
    let words = words.expect("the entry takes what its signature says");
    (builder, words)
}

/// The Cranelift IR of a kernel, and the code that it calls.
///
/// # Errors
/// `E0609` for processors with other than 64 bits.
pub(crate) fn emit(function: &Function, isa: &dyn TargetIsa) -> Result<(ir::Function, Vec<Code>)> {
    if isa.pointer_type() != types::I64 {
        return Err(refused("no kernel", "its addresses have no 64 bits"));
    }
    let mut made = function_of_words(isa, 2);
    let mut scratch = FunctionBuilderContext::new();
    let (builder, [context, tensors]) = begin(&mut made, &mut scratch);
    let formulas = Formulas::of(function);
    let emitter = Emitter::new(builder, function, &formulas, isa, context);
    let mut emitter = emitter.with_frame(&function.body);
    emitter.unpack(tensors);
    emitter.hold_tiles(&function.body, Access::Workspace);
    let (parts, refused) = emitter.finish(&function.body);
    match refused {
        Some(refused) => Err(refused),
        None => Ok((made, parts)),
    }
}

/// The flags of loads from the structures of the caller that nobody changes while the
/// function runs.
pub(crate) fn of_frame() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly()
}

/// The flags of loads from a `sparsec_array`. An array that grows changes its address,
/// its capacity and its length while the function runs.
fn of_array(grows: bool) -> MemFlagsData {
    match grows {
        true => MemFlagsData::trusted(),
        false => of_frame(),
    }
}

impl<'f, 'b> Emitter<'f, 'b> {
    pub(crate) fn new(
        b: FunctionBuilder<'b>,
        function: &'f Function,
        formulas: &'f Formulas,
        isa: &'f dyn TargetIsa,
        context: Value,
    ) -> Self {
        Self {
            b,
            function,
            formulas,
            isa,
            vars: HashMap::new(),
            buffers: HashMap::new(),
            groups: Vec::new(),
            innermost: None,
            tiles: HashMap::new(),
            segments: Vec::new(),
            entry: None,
            varying: HashSet::new(),
            is_branching: false,
            context,
            own: None,
            own_lens: HashMap::new(),
            grown_in_turn: Vec::new(),
            parts: Vec::new(),
            refused: None,
            exits: HashMap::new(),
            signatures: HashMap::new(),
            given: None,
            frame: None,
        }
    }

    /// Writes the body and ends the function; what it calls, and why it cannot be
    /// made, if so.
    pub(crate) fn finish(mut self, body: &Block) -> (Vec<Code>, Option<Diagnostic>) {
        self.block(body);
        let done = self.b.ins().iconst(types::I32, 0);
        self.b.ins().return_(&[done]);
        self.write_exits();
        self.b.finalize(self.isa.frontend_config());
        (self.parts, self.refused)
    }
}

impl Emitter<'_, '_> {
    /// Loads what the tensors hold.
    fn unpack(&mut self, tensors: Value) {
        let moving = growth_groups(self.function);
        for (place, argument) in (0..).zip(&self.function.arguments) {
            let tensor = self
                .b
                .ins()
                .load(types::I64, of_frame(), tensors, 8 * place);
            let extents = self
                .b
                .ins()
                .load(types::I64, of_frame(), tensor, ABI.extents);
            for (mode, &var) in (0..).zip(&argument.extents) {
                let extent = self.b.ins().load(types::I64, of_frame(), extents, 8 * mode);
                self.vars.insert(var, Cell::Fixed(Number::Real(extent)));
            }
            let arrays = self
                .b
                .ins()
                .load(types::I64, of_frame(), tensor, ABI.arrays);
            for (place, &buffer) in (0..).zip(&argument.buffers) {
                let array = self
                    .b
                    .ins()
                    .iadd_imm_s(arrays, i64::from(ABI.array) * place);
                let grows = self.function.buffers[buffer].access == Access::Grow;
                let data = self
                    .b
                    .ins()
                    .load(types::I64, of_array(grows), array, ABI.data);
                self.buffer(buffer, data, grows.then_some(array));
            }
        }
        for (buffer, kind) in self.function.buffers.iter() {
            if kind.access == Access::Workspace {
                let nowhere = self.b.ins().iconst(types::I64, 0);
                self.buffer(buffer, nowhere, None);
            }
        }
        let own = |buffers: &[Buffer]| self.function.buffers[buffers[0]].access == Access::Own;
        let (_, moving): (Vec<_>, Vec<_>) = moving.into_iter().partition(|it| own(it));
        for buffers in moving {
            self.group(buffers);
        }
    }

    pub(crate) fn buffer(&mut self, buffer: Buffer, data: Value, array: Option<Value>) {
        let kind = &self.function.buffers[buffer];
        let region = self.b.func.dfg.alias_regions.insert(AliasRegionData {
            user_id: u32::try_from(buffer.index()).expect("a function has few buffers"),
            description: kind.name.clone().into(),
        });
        let moves = matches!(kind.access, Access::Grow | Access::Workspace | Access::Own);
        self.keep(buffer, data);
        let data = if moves {
            let var = self.b.declare_var(types::I64);
            self.b.def_var(var, data);
            Pointer::Moving(var)
        } else {
            Pointer::Fixed(data)
        };
        let flags = MemFlagsData::trusted().with_alias_region(Some(region));
        self.buffers.insert(buffer, Array { data, array, flags });
    }

    /// Where the entries of a buffer are.
    pub(crate) fn data(&mut self, buffer: Buffer) -> Value {
        match self.buffers[&buffer].data {
            Pointer::Fixed(data) => data,
            Pointer::Moving(var) => self.b.use_var(var),
            Pointer::Kept(slot, at) => self.kept(slot, at),
        }
    }

    /// Says where the entries of a buffer are from here on.
    pub(crate) fn move_data(&mut self, buffer: Buffer, data: Value) {
        self.keep(buffer, data);
        match self.buffers[&buffer].data {
            Pointer::Moving(var) => self.b.def_var(var, data),
            Pointer::Fixed(_) | Pointer::Kept(..) => {
                unreachable!("only results and workspaces that grow move")
            }
        }
    }

    /// Makes a variable that begins with `value`.
    pub(crate) fn declare(&mut self, var: Var, value: Number) {
        let data = &self.function.vars[var];
        if !data.mutable {
            self.vars.insert(var, Cell::Fixed(value));
            return;
        }
        let ty = register(data.element);
        let cell = match value {
            Number::Real(_) => Cell::Real(self.b.declare_var(ty)),
            Number::Complex(..) => Cell::Complex(self.b.declare_var(ty), self.b.declare_var(ty)),
        };
        self.vars.insert(var, cell);
        self.assign(var, value);
    }

    /// Gives a variable a new value.
    pub(crate) fn assign(&mut self, var: Var, value: Number) {
        match (self.vars[&var], value) {
            (Cell::Real(var), Number::Real(value)) => self.b.def_var(var, value),
            (Cell::Complex(re, im), Number::Complex(a, b)) => {
                self.b.def_var(re, a);
                self.b.def_var(im, b);
            }
            _ => unreachable!("a variable that is assigned keeps its type"),
        }
    }

    /// What a variable holds.
    pub(crate) fn variable(&mut self, var: Var) -> Number {
        match self.vars[&var] {
            Cell::Fixed(value) => value,
            Cell::Real(var) => Number::Real(self.b.use_var(var)),
            Cell::Complex(re, im) => Number::Complex(self.b.use_var(re), self.b.use_var(im)),
            Cell::Kept(slot) => Number::Real(self.kept(slot, 0)),
        }
    }

    /// A new block that is run next and that nothing else jumps to later.
    pub(crate) fn enter(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    /// Leaves the function with `failure` where the condition holds.
    pub(crate) fn leave_if(&mut self, condition: Value, failure: Failure) {
        let exit = self.exit(failure);
        let on = self.b.create_block();
        self.b.ins().brif(condition, exit, [], on, []);
        self.enter(on);
    }

    /// Leaves the function with a status that is not 0.
    pub(crate) fn leave_with(&mut self, status: Value) {
        let (failed, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(status, failed, [], on, []);
        self.enter(failed);
        self.b.ins().return_(&[status]);
        self.enter(on);
    }

    /// Leaves the function. What follows is never run.
    pub(crate) fn leave(&mut self, failure: Failure) {
        let exit = self.exit(failure);
        self.b.ins().jump(exit, []);
        let never = self.b.create_block();
        self.enter(never);
    }

    fn exit(&mut self, failure: Failure) -> ir::Block {
        if let Some(&exit) = self.exits.get(&failure) {
            return exit;
        }
        let exit = self.b.create_block();
        self.b.set_cold_block(exit);
        self.exits.insert(failure, exit);
        exit
    }

    fn write_exits(&mut self) {
        for failure in Failure::ALL {
            if let Some(exit) = self.exits.remove(&failure) {
                self.enter(exit);
                let status = self.b.ins().iconst(types::I32, i64::from(failure.status()));
                self.b.ins().return_(&[status]);
            }
        }
    }

    /// Calls a function of this program.
    pub(crate) fn call(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let address = self.b.ins().iconst(types::I64, helper.address as i64);
        self.call_address(address, helper.takes, Some(helper.gives), arguments)
            .expect("helpers give something")
    }

    /// Calls the function of the context at this offset, with the context as its
    /// first argument.
    pub(crate) fn ask(
        &mut self,
        offset: i32,
        gives: Option<Type>,
        arguments: &[Value],
    ) -> Option<Value> {
        let address = self
            .b
            .ins()
            .load(types::I64, of_frame(), self.context, offset);
        let mut all = vec![self.context];
        all.extend(arguments);
        self.call_address(address, &vec![types::I64; all.len()], gives, &all)
    }

    fn call_address(
        &mut self,
        address: Value,
        takes: &[Type],
        gives: Option<Type>,
        arguments: &[Value],
    ) -> Option<Value> {
        let mut shape = takes.to_vec();
        shape.push(gives.unwrap_or(types::INVALID));
        let signature = match self.signatures.get(&shape) {
            Some(&known) => known,
            None => {
                let mut signature = Signature::new(self.isa.default_call_conv());
                signature.params = takes.iter().copied().map(AbiParam::new).collect();
                signature.returns = gives.map(AbiParam::new).into_iter().collect();
                let made = self.b.import_signature(signature);
                self.signatures.insert(shape, made);
                made
            }
        };
        let call = self.b.ins().call_indirect(signature, address, arguments);
        self.b.inst_results(call).first().copied()
    }
}
