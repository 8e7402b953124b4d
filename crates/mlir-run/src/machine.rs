//! The machine: functions, blocks, and the values of a run.
//!
//! A frame has the values of one call. Regions of loops and conditions share the frame of their
//! function, as they see its values. A value whose only use is in the block of its definition leaves
//! the frame with an operation that changes it, so `tensor.insert` in a loop copies nothing.

use std::collections::HashMap;
use std::rc::Rc;

use sparsec_base::arena::Id;
use sparsec_base::{Code, Diagnostic, ElementType, Result, Scalar, Span, code};
use sparsec_mlir::definition::Trait;
use sparsec_mlir::module::Origin;
use sparsec_mlir::{Attribute, Block, Module, Op, Operation, Type, Value};
use sparsec_tensor::{Array, Tensor};

use crate::constants::{constant_entries, constant_number};
use crate::datum::{Datum, State, TensorHandle};
use crate::host::Host;
use crate::kernel::{self, Use};
use crate::memory::MemRef;
use crate::numbers;

/// The most calls and regions inside one another.
const MOST_DEPTH: usize = 200;

/// The values of a call, by their numbers.
pub(crate) type Frame = Vec<Option<Datum>>;

/// A running program.
pub(crate) struct Machine<'a> {
    pub(crate) module: &'a Module,
    pub(crate) host: &'a mut dyn Host,
    functions: HashMap<&'a str, Op>,
    /// The uses of each value.
    pub(crate) uses: Vec<Use>,
    /// How many buffers there were.
    buffers: u64,
    depth: usize,
}

/// Runs a function without arguments, such as `main`. Its results are dropped.
///
/// # Errors
/// `E1065` for a function that is not there or takes arguments; for an operation that has no result,
/// with its place: `E1060` to `E1067`, `E1016`, `E1036`, `E1038` and `E1039`; those of the host.
pub fn run(module: &Module, entry: &str, host: &mut dyn Host) -> Result<()> {
    let mut machine = Machine::new(module, host);
    let refuse = |message: String, help: String| {
        Err(Diagnostic::new(code::NO_ENTRY_POINT, message).help(help))
    };
    let Some(op) = machine.functions.get(entry).copied() else {
        let mut names: Vec<&str> = machine.functions.keys().copied().collect();
        names.sort_unstable();
        let help = match names.is_empty() {
            true => "write `func.func @main() { … }`".to_owned(),
            false => format!("functions with bodies are {}", names.join(", ")),
        };
        return refuse(format!("no function `@{entry}` has a body"), help);
    };
    let block = module.op(op).region("body").block;
    if block.is_some_and(|block| !module.block(block).arguments.is_empty()) {
        return refuse(
            format!("`@{entry}` takes arguments"),
            "run a function that calls it with constants".to_owned(),
        );
    }
    machine.call(op, Vec::new()).map(drop)
}

impl<'a> Machine<'a> {
    fn new(module: &'a Module, host: &'a mut dyn Host) -> Self {
        let mut functions = HashMap::new();
        for op in module.walk() {
            let operation = module.op(op);
            let is_function = matches!(operation.name(), "func.func" | "builtin.func");
            if let (true, Some(Attribute::Text(name))) =
                (is_function, operation.attribute("sym_name"))
                && operation.region("body").block.is_some()
            {
                functions.insert(name.as_str(), op);
            }
        }
        Self {
            module,
            host,
            functions,
            uses: kernel::uses(module),
            buffers: 0,
            depth: 0,
        }
    }

    /// A fault of an operation.
    pub(crate) fn fault(
        &self,
        op: Operation<'_>,
        code: Code,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, message).at(self.module.source(), op.data().span, "by this operation")
    }

    /// A diagnostic with the place of an operation, unless it has a place in the program. Places in
    /// kernels and formats that the library made are told beside it.
    pub(crate) fn placed(&self, op: Operation<'_>, fault: Diagnostic) -> Diagnostic {
        // The library's ways out are in the words of formats.
        let fault = match fault.code() {
            code::INDEX_WIDTH_OVERFLOW => {
                fault.help("widen `posWidth` or `crdWidth` of the encoding, or leave them out")
            }
            code::TENSOR_TOO_LARGE if op.name().starts_with("memref.") => {
                fault.help("use smaller extents, or a sparse tensor")
            }
            code::TENSOR_TOO_LARGE => fault.help(
                "store it in levels that hold entries alone, such as `(i : compressed, j : compressed)`",
            ),
            code::BLOCK_TOO_FULL => fault.help(
                "stored zeros are entries too: convert to a dense tensor first, which leaves them out",
            ),
            code::DIVISION_BY_ZERO => {
                fault.help("give every divisor another value than zero, as with `arith.select`")
            }
            _ => fault,
        };
        let source = self.module.source();
        let is_placed = fault.labels().iter().any(|label| label.source == *source);
        let fault = match is_placed {
            true => fault,
            false => fault.behind(source, op.data().span, "by this operation"),
        };
        fault.or_help("change the operands of this operation")
    }

    pub(crate) fn not_run(&self, op: Operation<'_>) -> Diagnostic {
        let message = format!("sparsec does not run this form of `{}`", op.name());
        self.fault(op, code::NOT_RUN, message)
            .help("write the program without it, or lower it by passes of MLIR")
    }

    pub(crate) fn function(&self, name: &str) -> Option<Op> {
        self.functions.get(name).copied()
    }

    /// Calls a function that has a body.
    pub(crate) fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>> {
        let op = self.module.op(function);
        let Some(block) = op.region("body").block else {
            return Err(self.not_run(op));
        };
        self.block(&mut Frame::new(), block, args)
    }

    /// Runs a block; the operands of its last operation.
    pub(crate) fn block(
        &mut self,
        frame: &mut Frame,
        block: Block,
        args: Vec<Datum>,
    ) -> Result<Vec<Datum>> {
        let data = self.module.block(block);
        if self.depth == MOST_DEPTH {
            let message = format!("more than {MOST_DEPTH} calls and regions inside one another");
            return Err(Diagnostic::new(code::RUN_LIMIT, message)
                .at(self.module.source(), data.span, "in this one")
                .help("write a loop in place of the recursion"));
        }
        self.depth += 1;
        let results = self.operations(frame, block, args);
        self.depth -= 1;
        results
    }

    fn operations(
        &mut self,
        frame: &mut Frame,
        block: Block,
        args: Vec<Datum>,
    ) -> Result<Vec<Datum>> {
        let data = self.module.block(block);
        for (value, datum) in data.arguments.iter().zip(args) {
            set(frame, *value, datum);
        }
        for op in &data.ops {
            let op = self.module.op(*op);
            if op.data().definition.has(Trait::Terminator) {
                let operands = op.data().operands.iter();
                return operands
                    .map(|value| self.taken(frame, op, *value))
                    .collect();
            }
            let done = self.host.poll().and_then(|()| self.operation(frame, op));
            done.map_err(|fault| self.placed(op, fault))?;
        }
        Ok(Vec::new())
    }

    pub(crate) fn operation(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        if numbers::is_arithmetic(op) {
            return self.arithmetic(frame, op);
        }
        let dialect = op.meaning().split('.').next().unwrap_or_default();
        let is_run = match dialect {
            "arith" | "complex" => self.constant(frame, op)?,
            "func" | "cf" | "scf" | "llvm" => self.control(frame, op)?,
            "linalg" => self.linalg(frame, op)?,
            "tensor" | "bufferization" => self.tensor_operation(frame, op)?,
            "memref" | "vector" => self.memref_operation(frame, op)?,
            "sparse_tensor" => self.sparse_operation(frame, op)?,
            // Functions and modules inside of modules are run when they are called.
            "builtin" => self.control(frame, op)?,
            _ => false,
        };
        match is_run {
            true => Ok(()),
            false => Err(self.not_run(op)),
        }
    }

    fn constant(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let result = op.data().results[0];
        self.element(op, self.module.ty(result))?;
        if let Some(number) = constant_number(op) {
            set(frame, result, Datum::Number(number));
            return Ok(true);
        }
        let datum = match (op.attribute("value"), self.module.ty(result)) {
            (Some(Attribute::Dense(dense)), ty) => {
                let Some(entries) = constant_entries(dense) else {
                    return Ok(false);
                };
                let extents = self.static_extents(op, ty)?;
                let n = match ty {
                    Type::Vector(_) => crate::memory::count_of_vector(&extents)?,
                    _ => crate::memory::count(&extents)?,
                };
                match ty {
                    Type::Vector(_) if dense.is_splat => {
                        Datum::Vector(Rc::new(vec![entries[0]; n]))
                    }
                    Type::Vector(_) => Datum::Vector(Rc::new(entries)),
                    _ if dense.is_splat && n > 0 => {
                        Datum::Tensor(TensorHandle::splat(entries[0], extents))
                    }
                    _ => {
                        let element = self.element(op, ty)?;
                        let mut array = Array::zeroed(element, entries.len())?;
                        for (n, entry) in entries.into_iter().enumerate() {
                            array.set(n, entry);
                        }
                        Datum::Tensor(TensorHandle::new(crate::datum::dense(extents, array)?))
                    }
                }
            }
            (Some(Attribute::Sparse(_)), ty) => {
                let Some(entries) = self.listed_constant(result)? else {
                    return Ok(false);
                };
                let handle = TensorHandle::of_state(State::Listed(Rc::new(entries)));
                match ty {
                    Type::Vector(_) => {
                        let tensor = handle.tensor()?;
                        let entries = tensor.vals();
                        let entries = (0..entries.len()).map(|n| entries.get(n));
                        Datum::Vector(Rc::new(entries.collect()))
                    }
                    _ => Datum::Tensor(handle),
                }
            }
            _ => return Ok(false),
        };
        set(frame, result, datum);
        Ok(true)
    }

    // Values.

    /// The value of an operand.
    pub(crate) fn get(&self, frame: &Frame, value: Value) -> Result<Datum> {
        match frame.get(value.index()) {
            Some(Some(datum)) => Ok(datum.clone()),
            _ => Err(Diagnostic::new(
                code::NOT_RUN,
                format!("`%{}` has no value here", self.module.value(value).name),
            )
            .help("use the value in the block that defines it")),
        }
    }

    /// The value of an operand, which leaves the frame if this is its only use.
    pub(crate) fn taken(
        &self,
        frame: &mut Frame,
        op: Operation<'_>,
        value: Value,
    ) -> Result<Datum> {
        let block = match self.module.value(value).origin {
            Origin::Result(origin, _) => self.module.op(origin).data().block,
            Origin::Argument(block, _) => Some(block),
        };
        let is_only = self.uses.get(value.index()).is_some_and(Use::is_only);
        if is_only && block == op.data().block {
            let found = frame.get_mut(value.index()).and_then(Option::take);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        self.get(frame, value)
    }

    pub(crate) fn number(&self, frame: &Frame, op: Operation<'_>, value: Value) -> Result<Scalar> {
        match self.get(frame, value)? {
            Datum::Number(number) => Ok(number),
            _ => Err(self.not_run(op)),
        }
    }

    pub(crate) fn integer(&self, frame: &Frame, op: Operation<'_>, value: Value) -> Result<i64> {
        let number = self.number(frame, op, value)?;
        match number.to_integer() {
            Some(integer) => Ok(integer as i64),
            None => Err(self.not_run(op)),
        }
    }

    pub(crate) fn integers(
        &self,
        frame: &Frame,
        op: Operation<'_>,
        values: &[Value],
    ) -> Result<Vec<i64>> {
        values
            .iter()
            .map(|value| self.integer(frame, op, *value))
            .collect()
    }

    /// Refuses a tensor or buffer that was released.
    pub(crate) fn live(&self, op: Operation<'_>, what: &str, released: Option<Span>) -> Result<()> {
        let Some(span) = released else { return Ok(()) };
        let source = self.module.source();
        let message = format!("`{}` uses a {what} that was released", op.name());
        Err(Diagnostic::new(code::RELEASED, message)
            .at(source, op.data().span, "used here")
            .also(source, span, "released here")
            .help("release it behind its last use"))
    }

    pub(crate) fn as_tensor(&self, op: Operation<'_>, datum: Datum) -> Result<TensorHandle> {
        let Datum::Tensor(handle) = datum else {
            return Err(self.not_run(op));
        };
        self.live(op, "tensor", handle.0.released.get())?;
        Ok(handle)
    }

    pub(crate) fn tensor_handle(
        &self,
        frame: &Frame,
        op: Operation<'_>,
        value: Value,
    ) -> Result<TensorHandle> {
        let datum = self.get(frame, value)?;
        self.as_tensor(op, datum)
    }

    /// The arrays of a tensor.
    pub(crate) fn stored(
        &self,
        frame: &Frame,
        op: Operation<'_>,
        value: Value,
    ) -> Result<Rc<Tensor>> {
        self.tensor_handle(frame, op, value)?.tensor()
    }

    pub(crate) fn memref(&self, frame: &Frame, op: Operation<'_>, value: Value) -> Result<MemRef> {
        let Datum::MemRef(memref) = self.get(frame, value)? else {
            return Err(self.not_run(op));
        };
        self.live(op, "memref", memref.buffer.released.get())?;
        Ok(memref)
    }

    /// The entries of a memref in order.
    pub(crate) fn memref_entries(&self, op: Operation<'_>, memref: &MemRef) -> Result<Array> {
        match memref.copied()? {
            Some(entries) => Ok(entries),
            None => Err(self.outside(op, "a part of the memref lies outside of its buffer")),
        }
    }

    pub(crate) fn outside(&self, op: Operation<'_>, message: impl Into<String>) -> Diagnostic {
        self.fault(op, code::OUT_OF_BOUNDS_ACCESS, message)
            .help("keep coordinates from 0 up to the extent")
    }

    /// A view of a new buffer with these entries.
    pub(crate) fn new_memref(&mut self, entries: Array, sizes: Vec<u64>) -> MemRef {
        self.buffers += 1;
        MemRef::new(entries, sizes, self.buffers)
    }

    /// The element type of a shaped type.
    pub(crate) fn element(&self, op: Operation<'_>, ty: &Type) -> Result<ElementType> {
        ty.element().number().ok_or_else(|| {
            let ty = self.module.spell().ty(ty.element());
            self.fault(
                op,
                code::NOT_RUN,
                format!("sparsec has no numbers of type {ty}"),
            )
            .help("use a type of 8, 16, 32 or 64 bits")
        })
    }

    /// The extents of a type, with those of operands in place of `?`.
    pub(crate) fn extents_of(
        &self,
        op: Operation<'_>,
        ty: &Type,
        dynamic: &[i64],
    ) -> Result<Vec<u64>> {
        let mut dynamic = dynamic.iter();
        let extents = ty.shape().unwrap_or_default().into_iter().map(|extent| {
            let extent = match extent {
                Some(extent) => Some(extent),
                None => dynamic
                    .next()
                    .and_then(|extent| u64::try_from(*extent).ok()),
            };
            extent.ok_or_else(|| {
                self.outside(op, "an extent is negative or missing")
                    .help("give an extent of 0 or more for each `?`")
            })
        });
        extents.collect()
    }

    pub(crate) fn static_extents(&self, op: Operation<'_>, ty: &Type) -> Result<Vec<u64>> {
        self.extents_of(op, ty, &[])
    }
}

/// Gives a value its datum.
pub(crate) fn set(frame: &mut Frame, value: Value, datum: Datum) {
    let n = value.index();
    if frame.len() <= n {
        frame.resize(n + 1, None);
    }
    frame[n] = Some(datum);
}
