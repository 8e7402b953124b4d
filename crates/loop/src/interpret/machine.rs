//! The state of one run, and what each statement does to it.

use std::collections::HashSet;
use std::ops::Range;

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Scalar};

use super::Options;
use super::entries::Entries;
use super::fault::{Fault, FaultKind};
use super::memory::{Memory, Phase, Toucher};
use crate::ir::{Access, BinaryOp, Block, Buffer, Expr, Failure, Function, Stmt, Var};
use crate::mark::Mark;
use crate::ops;
use crate::walk::for_each_stmt;

/// Why a run stopped before its end.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(Failure),
    /// Boxed, since every evaluation returns a `Stop` and almost none is this.
    Fault(Box<Fault>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<FaultKind> for Stop {
    fn from(kind: FaultKind) -> Self {
        Self::Fault(Box::new(Fault {
            kind,
            statement: String::new(),
        }))
    }
}

type Run<T> = Result<T, Stop>;

/// After so many steps it asks whether anybody still waits, wherever the function does:
/// a step takes up to a microsecond.
const STEPS_UNASKED: u64 = 1 << 12;

/// Variables and buffers by their ids.
pub(super) struct Machine<'f> {
    function: &'f Function,
    vars: Vec<Option<Scalar>>,
    memory: Vec<Memory>,
    options: Options<'f>,
    steps: u64,
    /// How many bytes arrays may grow by.
    bytes_left: u64,
    /// The chunk that runs; none outside of chunks.
    chunk: Toucher,
}

impl<'f> Machine<'f> {
    pub(super) fn new(function: &'f Function, options: &Options<'f>) -> Self {
        Self {
            function,
            vars: vec![None; function.vars.len()],
            memory: function
                .buffers
                .iter()
                .map(|(_, kind)| Memory::empty(kind.storage))
                .collect(),
            options: *options,
            steps: 0,
            bytes_left: options.max_bytes.unwrap_or(u64::MAX),
            chunk: Toucher::default(),
        }
    }

    pub(super) fn set_extent(&mut self, var: Var, extent: i64) {
        self.vars[var.index()] = Some(Scalar::I64(extent));
    }

    pub(super) fn give(&mut self, buffer: Buffer, memory: Memory) {
        self.memory[buffer.index()] = memory;
    }

    pub(super) fn take(&mut self, buffer: Buffer) -> Entries {
        let kind = &self.function.buffers[buffer];
        let empty = Memory::empty(kind.storage);
        std::mem::replace(&mut self.memory[buffer.index()], empty).into_entries()
    }

    pub(super) fn run(&mut self) -> Run<()> {
        let function = self.function;
        self.block(&function.body)?;
        self.check_results()
    }

    /// Every result array is resized, and what the function stores to is
    /// stored in full.
    fn check_results(&self) -> Run<()> {
        let stored = self.function.stored_buffers();
        for (buffer, kind) in self.function.buffers.iter() {
            let memory = &self.memory[buffer.index()];
            let len = match kind.access {
                Access::Read | Access::Workspace | Access::Own => continue,
                Access::Write => memory.len(),
                Access::Grow => memory
                    .resized
                    .ok_or_else(|| FaultKind::NotResized(kind.name.clone()))?,
            };
            if !stored.contains(&buffer) {
                continue;
            }
            if let Some(index) = memory.first_undefined(0..len) {
                let buffer = kind.name.clone();
                return Err(FaultKind::Undefined { buffer, index }.into());
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Run<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_UNASKED) {
            self.poll()?;
        }
        if let Some(max_steps) = self.options.max_steps.filter(|max| self.steps > *max) {
            return Err(FaultKind::StepLimit(max_steps).into());
        }
        Ok(())
    }

    /// Stops if nobody waits any longer.
    fn poll(&self) -> Run<()> {
        match self.options.cancelled {
            Some(cancelled) if cancelled() => Err(Failure::Cancelled.into()),
            _ => Ok(()),
        }
    }

    fn block(&mut self, block: &Block) -> Run<()> {
        for stmt in block {
            self.stmt(stmt).map_err(|stop| self.name(stop, stmt))?;
        }
        Ok(())
    }

    /// Names the statement in a fault that has none yet: the innermost.
    fn name(&self, stop: Stop, stmt: &Stmt) -> Stop {
        match stop {
            Stop::Fault(mut fault) if fault.statement.is_empty() => {
                fault.statement = self.function.statement_text(stmt);
                Stop::Fault(fault)
            }
            stop => stop,
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Run<()> {
        self.step()?;
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { var, value } | Stmt::Assign { var, value } => {
                let value = self.eval(value)?;
                self.vars[var.index()] = Some(value);
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => self.store(*buffer, index, value, *reduce)?,
            Stmt::For {
                var,
                hi,
                mark: Mark { chunks: true, .. },
                body,
                ..
            } => self.chunks(*var, hi, body)?,
            Stmt::For {
                var, lo, hi, body, ..
            } => {
                let (lo, hi) = (self.int(lo)?, self.int(hi)?);
                for i in lo..hi {
                    self.step()?;
                    self.vars[var.index()] = Some(Scalar::I64(i));
                    self.block(body)?;
                }
            }
            Stmt::While { condition, body } => {
                while self.truth(condition)? {
                    self.step()?;
                    self.block(body)?;
                }
            }
            Stmt::If {
                condition,
                then,
                otherwise,
            } => {
                let block = if self.truth(condition)? {
                    then
                } else {
                    otherwise
                };
                self.block(block)?;
            }
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => {
                let (lo, hi) = (self.int(lo)?, self.int(hi)?);
                let value = self.eval(value)?;
                if let Some(range) = self.range(*buffer, lo, hi)? {
                    for at in range {
                        if at.is_multiple_of(STEPS_UNASKED as usize) {
                            self.poll()?;
                        }
                        self.set(*buffer, at, value)?;
                    }
                }
            }
            Stmt::Alloc { buffer, len } => {
                let len = self.length(*buffer, len)?;
                if std::mem::replace(&mut self.memory[buffer.index()].allocated, true) {
                    return Err(FaultKind::AllocatedTwice(self.buffer_name(*buffer)).into());
                }
                self.extend_to(*buffer, len)?;
            }
            Stmt::Grow { buffer, len } => {
                let len = self.length(*buffer, len)?;
                self.extend_to(*buffer, len)?;
            }
            Stmt::Resize { buffer, len } => {
                let len = self.length(*buffer, len)?;
                if self.memory[buffer.index()].resized.replace(len).is_some() {
                    return Err(FaultKind::ResizedTwice(self.buffer_name(*buffer)).into());
                }
                self.extend_to(*buffer, len)?;
            }
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => {
                let (lo, hi) = (self.int(lo)?, self.int(hi)?);
                let order = self.sort(*buffer, lo, hi)?;
                if let Some(along) = along
                    && let Some(range) = self.range(*along, lo, hi)?
                {
                    self.check_defined(*along, range.clone())?;
                    self.check_moved(*along, range.clone())?;
                    let moved = self.memory[along.index()].permute(range, &order);
                    moved.ok_or(Failure::OutOfMemory)?;
                }
            }
            Stmt::Prefetch { lo, hi, .. } => {
                self.int(lo)?;
                self.int(hi)?;
            }
            Stmt::Turn => self.chunk.phase = Phase::Turn,
            Stmt::Pass => self.chunk.phase = Phase::Passed,
            Stmt::Poll => self.poll()?,
            Stmt::Fail(failure) => return Err((*failure).into()),
        }
        Ok(())
    }

    /// Sorts entries of a buffer; which entry of the range each of them was.
    fn sort(&mut self, buffer: Buffer, lo: i64, hi: i64) -> Run<Vec<usize>> {
        let Some(range) = self.range(buffer, lo, hi)? else {
            return Ok(Vec::new());
        };
        self.check_defined(buffer, range.clone())?;
        self.check_moved(buffer, range.clone())?;
        let memory = &mut self.memory[buffer.index()];
        let order = memory.order(range.clone());
        let moved = order.and_then(|order| memory.permute(range, &order).map(|()| order));
        Ok(moved.ok_or(Failure::OutOfMemory)?)
    }

    /// That no other chunk touches entries that are moved.
    fn check_moved(&self, buffer: Buffer, mut range: Range<usize>) -> Run<()> {
        let memory = &self.memory[buffer.index()];
        match range.find(|&at| !memory.writes(at, self.chunk)) {
            Some(at) => Err(self.race(buffer, at)),
            None => Ok(()),
        }
    }

    /// Runs chunks one after another, and looks at what they share.
    fn chunks(&mut self, var: Var, hi: &Expr, body: &Block) -> Run<()> {
        let hi = self.int(hi)?;
        let mut stored = HashSet::new();
        for_each_stmt(body, &mut |stmt| stored.extend(stmt.stored_buffers()));
        let function = self.function;
        let own = |buffer: &Buffer| function.buffers[*buffer].access == Access::Own;
        let shared: Vec<Buffer> = stored.into_iter().filter(|buffer| !own(buffer)).collect();
        for buffer in &shared {
            self.memory[buffer.index()].watch(true);
        }
        for (number, chunk) in (0..hi).zip(1..) {
            self.step()?;
            for (buffer, kind) in function.buffers.iter() {
                if kind.access == Access::Own {
                    self.memory[buffer.index()].clear();
                }
            }
            self.chunk = Toucher {
                chunk,
                phase: Phase::Before,
            };
            self.vars[var.index()] = Some(Scalar::I64(number));
            self.block(body)?;
        }
        self.chunk = Toucher::default();
        for buffer in shared {
            self.memory[buffer.index()].watch(false);
        }
        Ok(())
    }

    fn check_defined(&self, buffer: Buffer, range: Range<usize>) -> Run<()> {
        match self.memory[buffer.index()].first_undefined(range) {
            None => Ok(()),
            Some(index) => {
                let buffer = self.buffer_name(buffer);
                Err(FaultKind::Undefined { buffer, index }.into())
            }
        }
    }

    fn store(
        &mut self,
        buffer: Buffer,
        index: &Expr,
        value: &Expr,
        reduce: Option<BinaryOp>,
    ) -> Run<()> {
        let index = self.int(index)?;
        let value = match reduce {
            None => self.eval(value)?,
            Some(op) => {
                let old = self.load(buffer, index)?;
                self.binary(op, old, value)?
            }
        };
        let at = self.place(buffer, index)?;
        self.set(buffer, at, value)
    }

    /// Stores a value of the compute type.
    fn set(&mut self, buffer: Buffer, at: usize, value: Scalar) -> Run<()> {
        let storage = self.function.buffers[buffer].storage;
        let value = value
            .cast(storage)
            .expect("no compute type is a float where the storage type is none");
        let memory = &mut self.memory[buffer.index()];
        if !memory.writes(at, self.chunk) {
            return Err(self.race(buffer, at));
        }
        self.memory[buffer.index()].set(at, value);
        Ok(())
    }

    fn race(&self, buffer: Buffer, index: usize) -> Stop {
        let buffer = self.buffer_name(buffer);
        FaultKind::Race { buffer, index }.into()
    }

    /// Reads a value as the compute type.
    fn load(&self, buffer: Buffer, index: i64) -> Run<Scalar> {
        let at = self.place(buffer, index)?;
        if !self.memory[buffer.index()].reads(at, self.chunk) {
            return Err(self.race(buffer, at));
        }
        let kind = &self.function.buffers[buffer];
        match self.memory[buffer.index()].get(at) {
            Some(value) => Ok(value
                .cast(kind.compute)
                .expect("no storage type is a float where the compute type is none")),
            None => Err(FaultKind::Undefined {
                buffer: kind.name.clone(),
                index: at,
            }
            .into()),
        }
    }

    fn eval(&self, expr: &Expr) -> Run<Scalar> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Var(var) => self.vars[var.index()].expect("a variable is declared before use"),
            Expr::Load { buffer, index } => self.load(*buffer, self.int(index)?)?,
            Expr::Unary(op, value) => ops::unary(*op, self.eval(value)?),
            Expr::Binary(op, left, right) => self.binary(*op, self.eval(left)?, right)?,
            Expr::Call(function, arguments) => {
                let mut values = [Scalar::Bool(false); 3];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = self.eval(argument)?;
                }
                ops::call(*function, &values[..arguments.len()])?
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => {
                if self.truth(condition)? {
                    self.eval(then)?
                } else {
                    self.eval(otherwise)?
                }
            }
            Expr::Cast(element, value) => ops::cast(*element, self.eval(value)?)?,
        })
    }

    /// `left op right`, where `and` and `or` evaluate `right` only if needed.
    fn binary(&self, op: BinaryOp, left: Scalar, right: &Expr) -> Run<Scalar> {
        match (op, left) {
            (BinaryOp::And, Scalar::Bool(false)) | (BinaryOp::Or, Scalar::Bool(true)) => Ok(left),
            _ => Ok(ops::binary(op, left, self.eval(right)?)?),
        }
    }

    fn int(&self, expr: &Expr) -> Run<i64> {
        match self.eval(expr)? {
            Scalar::I64(value) => Ok(value),
            other => panic!("{} where i64 belongs", other.element()),
        }
    }

    fn truth(&self, expr: &Expr) -> Run<bool> {
        match self.eval(expr)? {
            Scalar::Bool(value) => Ok(value),
            other => panic!("{} where {} belongs", other.element(), ElementType::Bool),
        }
    }

    fn length(&self, buffer: Buffer, len: &Expr) -> Run<usize> {
        let len = self.int(len)?;
        usize::try_from(len).map_err(|_| {
            FaultKind::NegativeLength {
                buffer: self.buffer_name(buffer),
                len,
            }
            .into()
        })
    }

    fn extend_to(&mut self, buffer: Buffer, len: usize) -> Run<()> {
        let memory = &mut self.memory[buffer.index()];
        let bytes = memory.bytes_to_extend(len);
        let left = self.bytes_left.checked_sub(bytes);
        let Some(left) = left.filter(|_| memory.extend_to(len)) else {
            return Err(Failure::OutOfMemory.into());
        };
        self.bytes_left = left;
        Ok(())
    }

    fn place(&self, buffer: Buffer, index: i64) -> Run<usize> {
        let memory = &self.memory[buffer.index()];
        memory.place(index).ok_or_else(|| {
            FaultKind::OutOfBounds {
                buffer: self.buffer_name(buffer),
                index,
                len: memory.len(),
            }
            .into()
        })
    }

    /// The places `lo..hi`, or `None` if there are none.
    fn range(&self, buffer: Buffer, lo: i64, hi: i64) -> Run<Option<std::ops::Range<usize>>> {
        if lo >= hi {
            return Ok(None);
        }
        let first = self.place(buffer, lo)?;
        let last = self.place(buffer, hi - 1)?;
        Ok(Some(first..last + 1))
    }

    fn buffer_name(&self, buffer: Buffer) -> String {
        self.function.buffers[buffer].name.clone()
    }
}
