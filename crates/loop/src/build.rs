//! Writing a function statement by statement.
//!
//! ```
//! use sparsec_base::ElementType;
//! use sparsec_loop::{Access, Argument, Builder, Expr, Role};
//! let mut b = Builder::new("iota");
//! let n = b.fixed("y.n0", ElementType::I64);
//! let vals = b.buffer("y.vals", ElementType::I64, ElementType::I64, Access::Write);
//! b.argument(Argument {
//!     name: "y".into(),
//!     role: Role::Out,
//!     doc: "(i) -> (i : dense)".into(),
//!     extents: vec![n],
//!     buffers: vec![vals],
//! });
//! let i = b.fixed("i", ElementType::I64);
//! b.for_loop(i, 0, n, |b| b.store(vals, i, i));
//! let function = b.finish();
//! assert_eq!(function.body.len(), 1);
//! ```

use std::collections::HashMap;
use std::ops::Range;

use sparsec_base::{ElementType, Table};

use crate::ir::{
    Access, Argument, BinaryOp, Block, Buffer, BufferData, Expr, Failure, Function, Stmt, Var,
    VarData,
};
use crate::mark::Mark;
use crate::text::is_reserved;

/// A function being written.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    /// Blocks being written, the innermost last.
    blocks: Vec<Block>,
    /// How often each name was asked for.
    names: HashMap<String, u32>,
}

impl Builder {
    /// A function without arguments or statements.
    pub fn new(name: &str) -> Self {
        Self {
            function: Function {
                name: name.to_owned(),
                arguments: Vec::new(),
                buffers: Table::new(),
                vars: Table::new(),
                body: Block::new(),
            },
            blocks: vec![Block::new()],
            names: HashMap::new(),
        }
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Adds an argument, after those that there are.
    pub fn argument(&mut self, argument: Argument) {
        self.function.arguments.push(argument);
    }

    /// A new buffer. A name in use, or a word of the language, gets a number
    /// behind it.
    pub fn buffer(
        &mut self,
        name: &str,
        storage: ElementType,
        compute: ElementType,
        access: Access,
    ) -> Buffer {
        let name = self.fresh(name);
        self.function.buffers.push(BufferData {
            name,
            storage,
            compute,
            access,
        })
    }

    /// A new variable that never changes after its declaration.
    pub fn fixed(&mut self, name: &str, element: ElementType) -> Var {
        self.var(name, element, false)
    }

    /// A new variable that assignments change.
    pub fn mutable(&mut self, name: &str, element: ElementType) -> Var {
        self.var(name, element, true)
    }

    fn var(&mut self, name: &str, element: ElementType, mutable: bool) -> Var {
        let name = self.fresh(name);
        self.function.vars.push(VarData {
            name,
            element,
            mutable,
        })
    }

    fn fresh(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        loop {
            let uses = self.names.entry(candidate.clone()).or_insert(0);
            *uses += 1;
            if *uses == 1 && !is_reserved(&candidate) {
                return candidate;
            }
            candidate = format!("{name}_{uses}");
        }
    }

    /// Adds a statement to the block being written.
    pub fn push(&mut self, stmt: Stmt) {
        self.blocks
            .last_mut()
            .expect("a builder always writes a block")
            .push(stmt);
    }

    /// Begins a block; statements go there until [`end_block`](Self::end_block).
    pub fn begin_block(&mut self) {
        self.blocks.push(Block::new());
    }

    /// Ends the block begun last and gives it back, part of nothing yet.
    pub fn end_block(&mut self) -> Block {
        assert!(
            self.blocks.len() > 1,
            "the body of the function is not ended"
        );
        self.blocks.pop().expect("counted above")
    }

    /// What `write` writes, as a block of its own.
    pub fn block(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        self.begin_block();
        write(self);
        self.end_block()
    }

    /// Adds the statements of a block that was written apart.
    pub fn extend(&mut self, block: Block) {
        block.into_iter().for_each(|stmt| self.push(stmt));
    }

    /// A remark for the reader of the generated code.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.push(Stmt::Comment(text.into()));
    }

    /// Declares `var`, made before by [`fixed`](Self::fixed) or [`mutable`](Self::mutable).
    pub fn declare(&mut self, var: Var, value: impl Into<Expr>) {
        let value = value.into();
        self.push(Stmt::Declare { var, value });
    }

    /// A new fixed variable, declared with `value`.
    pub fn let_(&mut self, name: &str, value: impl Into<Expr>) -> Var {
        let value = value.into();
        let var = self.fixed(name, self.function.type_of(&value));
        self.push(Stmt::Declare { var, value });
        var
    }

    /// `value` where it is a constant or a variable, else a new variable that holds it.
    pub fn named(&mut self, name: &str, value: Expr) -> Expr {
        match value {
            Expr::Const(_) | Expr::Var(_) => value,
            value => Expr::Var(self.let_(name, value)),
        }
    }

    /// A new mutable variable, declared with `value`.
    pub fn var_(&mut self, name: &str, value: impl Into<Expr>) -> Var {
        let value = value.into();
        let var = self.mutable(name, self.function.type_of(&value));
        self.push(Stmt::Declare { var, value });
        var
    }

    /// `var = value`
    pub fn assign(&mut self, var: Var, value: impl Into<Expr>) {
        let value = value.into();
        self.push(Stmt::Assign { var, value });
    }

    /// `buffer[index] = value`
    pub fn store(&mut self, buffer: Buffer, index: impl Into<Expr>, value: impl Into<Expr>) {
        self.store_reduce(buffer, index, value, None);
    }

    /// `buffer[index] = value`, or `buffer[index] op= value`
    pub fn store_reduce(
        &mut self,
        buffer: Buffer,
        index: impl Into<Expr>,
        value: impl Into<Expr>,
        reduce: Option<BinaryOp>,
    ) {
        self.push(Stmt::Store {
            buffer,
            index: index.into(),
            value: value.into(),
            reduce,
        });
    }

    /// `alloc buffer, len`
    pub fn alloc(&mut self, buffer: Buffer, len: impl Into<Expr>) {
        let len = len.into();
        self.push(Stmt::Alloc { buffer, len });
    }

    /// `grow buffer, len`
    pub fn grow(&mut self, buffer: Buffer, len: impl Into<Expr>) {
        let len = len.into();
        self.push(Stmt::Grow { buffer, len });
    }

    /// `resize buffer, len`
    pub fn resize(&mut self, buffer: Buffer, len: impl Into<Expr>) {
        let len = len.into();
        self.push(Stmt::Resize { buffer, len });
    }

    /// `fill buffer[lo..hi], value`
    pub fn fill(&mut self, buffer: Buffer, range: Range<Expr>, value: impl Into<Expr>) {
        self.push(Stmt::Fill {
            buffer,
            lo: range.start,
            hi: range.end,
            value: value.into(),
        });
    }

    /// `sort buffer[lo..hi]`, which moves the entries of `along` with those of the buffer
    pub fn sort(&mut self, buffer: Buffer, along: Option<Buffer>, range: Range<Expr>) {
        self.push(Stmt::Sort {
            buffer,
            along,
            lo: range.start,
            hi: range.end,
        });
    }

    /// `prefetch buffer[lo..hi]`
    pub fn prefetch(&mut self, buffer: Buffer, range: Range<Expr>) {
        self.push(Stmt::Prefetch {
            buffer,
            lo: range.start,
            hi: range.end,
        });
    }

    /// `for var in lo..hi { … }`
    pub fn for_loop(
        &mut self,
        var: Var,
        lo: impl Into<Expr>,
        hi: impl Into<Expr>,
        write: impl FnOnce(&mut Self),
    ) {
        self.marked_loop(var, lo.into()..hi.into(), Mark::default(), write);
    }

    /// `for var in lo..hi mark { … }`
    pub fn marked_loop(
        &mut self,
        var: Var,
        range: Range<Expr>,
        mark: Mark,
        write: impl FnOnce(&mut Self),
    ) {
        let body = self.block(write);
        self.push(Stmt::For {
            var,
            lo: range.start,
            hi: range.end,
            mark,
            body,
        });
    }

    /// `while condition { … }`
    pub fn while_loop(&mut self, condition: impl Into<Expr>, write: impl FnOnce(&mut Self)) {
        let body = self.block(write);
        self.push(Stmt::While {
            condition: condition.into(),
            body,
        });
    }

    /// `if condition { … }`
    pub fn if_then(&mut self, condition: impl Into<Expr>, write: impl FnOnce(&mut Self)) {
        let then = self.block(write);
        self.push(Stmt::If {
            condition: condition.into(),
            then,
            otherwise: Block::new(),
        });
    }

    /// `if condition { … } else { … }`
    pub fn if_else(
        &mut self,
        condition: impl Into<Expr>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.push(Stmt::If {
            condition: condition.into(),
            then,
            otherwise,
        });
    }

    /// What `write` writes, where `condition` holds; where there is none, always.
    pub fn if_some(&mut self, condition: Option<Expr>, write: impl FnOnce(&mut Self)) {
        match condition {
            Some(condition) => self.if_then(condition, write),
            None => write(self),
        }
    }

    /// `fail failure`
    pub fn fail(&mut self, failure: Failure) {
        self.push(Stmt::Fail(failure));
    }

    /// The finished function.
    pub fn finish(mut self) -> Function {
        assert_eq!(self.blocks.len(), 1, "a block is still being written");
        self.function.body = self.blocks.pop().expect("counted above");
        self.function
    }
}
