//! The part of the checklist that is about statements and expressions.

use std::collections::HashSet;

use sparsec_base::{Code, ElementType, code};

use super::Invalid;
use super::parallel::Shared;
use super::signature::check_signature;
use crate::ir::{
    Access, BinaryOp, Block, Buffer, BufferData, Expr, Function, Intrinsic, Stmt, UnaryOp, Var,
};
use crate::mark::Races;
use crate::text::REDUCTIONS;

/// Errors are on the heap: checks of expressions call themselves hundreds of times.
pub(super) type Check<T = ()> = Result<T, Box<Invalid>>;

pub(crate) fn check(function: &Function) -> Check {
    check_signature(function)?;
    let extents = function.arguments.iter().flat_map(|a| &a.extents);
    let mut checker = Checker {
        function,
        visible: extents.clone().copied().collect(),
        declared: extents.copied().collect(),
        workspaces: HashSet::new(),
        allocated: HashSet::new(),
        resized: HashSet::new(),
        shared: Vec::new(),
        n_loops: 0,
        in_chunks: false,
        in_turn: false,
        n_statements: 0,
        current: None,
    };
    let returns = checker.block(&function.body)?;
    checker.current = None;
    for (buffer, kind) in function.buffers.iter() {
        if returns && kind.access == Access::Grow && !checker.resized.contains(&buffer) {
            return Err(checker.invalid(
                code::LOOP_LIFETIME,
                format!("`{}` is not resized on every path that returns", kind.name),
            ));
        }
    }
    Ok(())
}

pub(super) struct Checker<'f> {
    pub(super) function: &'f Function,
    /// Variables that may be used here.
    pub(super) visible: HashSet<Var>,
    /// Variables that were declared anywhere so far.
    declared: HashSet<Var>,
    /// Workspaces that may be used here, and all that were allocated so far.
    pub(super) workspaces: HashSet<Buffer>,
    pub(super) allocated: HashSet<Buffer>,
    /// Buffers that are resized on every path to here.
    resized: HashSet<Buffer>,
    /// What iterations of the parallel loops around here share.
    shared: Vec<Shared>,
    pub(super) n_loops: usize,
    /// Whether chunks are around here.
    pub(super) in_chunks: bool,
    /// Whether the chunk around here has its turn.
    in_turn: bool,
    n_statements: usize,
    current: Option<(usize, &'f Stmt)>,
}

impl<'f> Checker<'f> {
    pub(super) fn invalid(&self, code: Code, message: String) -> Box<Invalid> {
        let (statement, text) = match self.current {
            Some((number, stmt)) => (Some(number), self.function.statement_text(stmt)),
            None => (None, format!("fn {}", self.function.name)),
        };
        Box::new(Invalid {
            code,
            message,
            help: None,
            statement,
            text,
        })
    }

    pub(super) fn helped(&self, code: Code, message: String, help: &'static str) -> Box<Invalid> {
        let mut invalid = self.invalid(code, message);
        invalid.help = Some(help);
        invalid
    }

    /// Checks a block; whether its end can be reached.
    fn block(&mut self, block: &'f Block) -> Check<bool> {
        let visible = self.visible.clone();
        let workspaces = self.workspaces.clone();
        let mut reached = true;
        for stmt in block {
            reached &= self.stmt(stmt)?;
        }
        self.visible = visible;
        self.workspaces = workspaces;
        Ok(reached)
    }

    /// Checks a statement; whether what follows it can be reached.
    fn stmt(&mut self, stmt: &'f Stmt) -> Check<bool> {
        self.current = Some((self.n_statements, stmt));
        self.n_statements += 1;
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { var, value } => {
                self.has_type(value, self.function.vars[*var].element)?;
                self.declare(*var)?;
            }
            Stmt::Assign { var, value } => {
                let kind = &self.function.vars[*var];
                self.var(*var)?;
                if !kind.mutable {
                    return Err(self.helped(
                        code::LOOP_IMMUTABLE,
                        format!("`{}` never changes and is assigned", kind.name),
                        "declare it with `var`",
                    ));
                }
                if !self.shared.iter().all(|shared| shared.allows(*var, value)) {
                    return Err(self.helped(
                        code::LOOP_IMMUTABLE,
                        format!(
                            "`{}` is shared by the iterations of a parallel loop",
                            kind.name
                        ),
                        "store into a buffer, or declare it inside the loop",
                    ));
                }
                self.has_type(value, kind.element)?;
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => {
                self.stored(*buffer)?;
                self.has_type(index, ElementType::I64)?;
                let compute = self.function.buffers[*buffer].compute;
                self.has_type(value, compute)?;
                if let Some(op) = *reduce
                    && !(REDUCTIONS.contains(&op) && accepts(op, compute))
                {
                    let name = &self.function.buffers[*buffer].name;
                    return Err(self.invalid(
                        code::LOOP_TYPE,
                        format!("`{}` does not combine {compute} in `{name}`", op.symbol()),
                    ));
                }
            }
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => {
                self.has_type(lo, ElementType::I64)?;
                self.has_type(hi, ElementType::I64)?;
                let kind = &self.function.vars[*var];
                if kind.element != ElementType::I64 || kind.mutable {
                    return Err(self.invalid(
                        code::LOOP_TYPE,
                        format!("the loop variable `{}` is no fixed i64", kind.name),
                    ));
                }
                let n_shared = self.shared.len();
                if let Some(parallel) = mark.parallel {
                    self.shared.push(self.shared(parallel.races, body)?);
                }
                let outside = self.in_chunks;
                if mark.chunks {
                    self.chunks(lo, body)?;
                    self.shared.push(self.shared(Races::NoRaces, body)?);
                    self.in_chunks = true;
                }
                self.declare(*var)?;
                self.repeated(body)?;
                self.in_chunks = outside;
                self.in_turn &= outside;
                self.shared.truncate(n_shared);
                self.visible.remove(var);
            }
            Stmt::While { condition, body } => {
                self.has_type(condition, ElementType::Bool)?;
                self.repeated(body)?;
            }
            Stmt::If {
                condition,
                then,
                otherwise,
            } => {
                self.has_type(condition, ElementType::Bool)?;
                return self.branches(then, otherwise);
            }
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => {
                self.stored(*buffer)?;
                self.has_type(lo, ElementType::I64)?;
                self.has_type(hi, ElementType::I64)?;
                self.has_type(value, self.function.buffers[*buffer].compute)?;
            }
            Stmt::Alloc { buffer, len } => {
                self.has_type(len, ElementType::I64)?;
                self.alloc(*buffer)?;
            }
            Stmt::Grow { buffer, len } => {
                self.has_type(len, ElementType::I64)?;
                let kind = &self.function.buffers[*buffer];
                // To be divided, each unit gets workspaces of its own.
                let is_shared = match self.in_chunks {
                    true => {
                        kind.access != Access::Own && !(self.in_turn && kind.access == Access::Grow)
                    }
                    false => {
                        !self.shared.iter().all(Shared::appends) && !kind.access.is_allocated()
                    }
                };
                if is_shared {
                    let name = &kind.name;
                    return Err(self.helped(
                        code::LOOP_LIFETIME,
                        format!("`{name}` grows inside a parallel loop"),
                        "grow it before the loop",
                    ));
                }
                self.grows(*buffer, true)?;
            }
            Stmt::Resize { buffer, len } => {
                self.has_type(len, ElementType::I64)?;
                self.grows(*buffer, false)?;
                let name = &self.function.buffers[*buffer].name;
                if self.n_loops > 0 {
                    return Err(self.helped(
                        code::LOOP_LIFETIME,
                        format!("`{name}` is resized inside a loop"),
                        "resize it once, behind the loop; inside, `grow` it",
                    ));
                }
                if !self.resized.insert(*buffer) {
                    return Err(
                        self.invalid(code::LOOP_LIFETIME, format!("`{name}` is resized twice"))
                    );
                }
            }
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => {
                self.sorted(*buffer, *along)?;
                self.has_type(lo, ElementType::I64)?;
                self.has_type(hi, ElementType::I64)?;
            }
            Stmt::Prefetch { buffer, lo, hi } => {
                let BufferData { name, access, .. } = &self.function.buffers[*buffer];
                if *access == Access::Own {
                    return Err(self.helped(
                        code::LOOP_ACCESS,
                        format!("`{name}` is fetched ahead, and each unit has its own"),
                        "leave it out: what a unit writes and reads alone is in its cache",
                    ));
                }
                self.has_type(lo, ElementType::I64)?;
                self.has_type(hi, ElementType::I64)?;
                if self.function.can_fail(lo) || self.function.can_fail(hi) {
                    return Err(self.helped(
                        code::LOOP_ACCESS,
                        "what is fetched ahead may fail, where engines may leave it out".to_owned(),
                        "compute the bounds before, in a `let`",
                    ));
                }
            }
            Stmt::Turn if self.in_chunks => self.in_turn = true,
            Stmt::Pass if self.in_turn => self.in_turn = false,
            Stmt::Turn => {
                return Err(self.invalid(
                    code::LOOP_LIFETIME,
                    "chunks alone have their turn".to_owned(),
                ));
            }
            Stmt::Pass => {
                return Err(self.helped(
                    code::LOOP_LIFETIME,
                    "no turn is passed on here".to_owned(),
                    "write `pass` once, behind the `turn` of the chunk",
                ));
            }
            Stmt::Poll => {}
            Stmt::Fail(_) => return Ok(false),
        }
        Ok(true)
    }

    fn repeated(&mut self, body: &'f Block) -> Check {
        self.n_loops += 1;
        self.block(body)?;
        self.n_loops -= 1;
        Ok(())
    }

    /// What is resized behind a branch is what both sides resize, except that
    /// a side that leaves the function does not count.
    fn branches(&mut self, then: &'f Block, otherwise: &'f Block) -> Check<bool> {
        let current = self.current;
        let before = self.resized.clone();
        let then_ends = self.block(then)?;
        let after_then = std::mem::replace(&mut self.resized, before);
        let otherwise_ends = self.block(otherwise)?;
        match (then_ends, otherwise_ends) {
            (true, true) if after_then != self.resized => {
                self.current = current;
                return Err(self.invalid(
                    code::LOOP_LIFETIME,
                    "only one side of this resizes a result".to_owned(),
                ));
            }
            (true, false) => self.resized = after_then,
            _ => {}
        }
        Ok(then_ends || otherwise_ends)
    }

    fn declare(&mut self, var: Var) -> Check {
        if !self.declared.insert(var) {
            let name = &self.function.vars[var].name;
            return Err(self.invalid(
                code::LOOP_DUPLICATE_NAME,
                format!("`{name}` is declared twice"),
            ));
        }
        self.visible.insert(var);
        Ok(())
    }

    fn var(&self, var: Var) -> Check<ElementType> {
        let kind = &self.function.vars[var];
        if self.visible.contains(&var) {
            return Ok(kind.element);
        }
        let name = &kind.name;
        Err(self.invalid(
            code::LOOP_UNKNOWN_NAME,
            format!("`{name}` is used where it is not declared"),
        ))
    }

    fn has_type(&self, expr: &Expr, wanted: ElementType) -> Check {
        match self.expr(expr)? {
            found if found == wanted => Ok(()),
            found => Err(self.other_type(expr, found, wanted)),
        }
    }

    fn other_type(&self, expr: &Expr, found: ElementType, wanted: ElementType) -> Box<Invalid> {
        let text = self.function.expr_text(expr);
        self.invalid(
            code::LOOP_TYPE,
            format!("`{text}` is {found}, where {wanted} is needed"),
        )
    }

    /// Checks an expression; its type.
    ///
    /// Each kind has a function of its own, and errors are made apart: an expression may
    /// be hundreds of operators deep, and the frame of one function has room for all that
    /// its arms hold.
    fn expr(&self, expr: &Expr) -> Check<ElementType> {
        match expr {
            Expr::Const(value) => Ok(value.element()),
            Expr::Var(var) => self.var(*var),
            Expr::Load { buffer, index } => {
                self.has_type(index, ElementType::I64)?;
                self.buffer(*buffer)
            }
            Expr::Unary(op, value) => self.unary(*op, self.expr(value)?, expr),
            Expr::Binary(op, left, right) => {
                let element = self.expr(left)?;
                self.has_type(right, element)?;
                self.binary(*op, element, expr)
            }
            Expr::Call(function, arguments) => {
                let wanted = self.call(*function, arguments, expr)?;
                for argument in &arguments[1..] {
                    self.has_type(argument, wanted)?;
                }
                Ok(wanted)
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => {
                self.has_type(condition, ElementType::Bool)?;
                let element = self.expr(then)?;
                self.has_type(otherwise, element)?;
                Ok(element)
            }
            Expr::Cast(element, value) => self.cast(*element, self.expr(value)?, expr),
        }
    }

    fn unary(&self, op: UnaryOp, element: ElementType, whole: &Expr) -> Check<ElementType> {
        let takes = computes(element)
            && match op {
                UnaryOp::Neg | UnaryOp::Abs => element != ElementType::Bool,
                UnaryOp::Not => element == ElementType::Bool,
                UnaryOp::Conj | UnaryOp::Real | UnaryOp::Imag => element.is_complex(),
                UnaryOp::PopCount | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {
                    element.is_integer()
                }
            };
        match takes {
            true => Ok(op.result_type(element)),
            false => Err(self.not_taken(op.symbol(), element, whole)),
        }
    }

    fn binary(&self, op: BinaryOp, element: ElementType, whole: &Expr) -> Check<ElementType> {
        match accepts(op, element) {
            true if op.is_comparison() => Ok(ElementType::Bool),
            true => Ok(element),
            false => Err(self.not_taken(op.symbol(), element, whole)),
        }
    }

    /// Checks how many arguments a call has, and the first of them; its type.
    fn call(&self, function: Intrinsic, arguments: &[Expr], whole: &Expr) -> Check<ElementType> {
        let Some(first) = arguments
            .first()
            .filter(|_| arguments.len() == function.arity())
        else {
            return Err(self.invalid(
                code::LOOP_TYPE,
                format!("`{}` takes {} arguments", function.name(), function.arity()),
            ));
        };
        let element = self.expr(first)?;
        let complex = element.is_complex() && function.takes_complex();
        let integer = element.is_integer() && function.takes_integers();
        if !computes(element) || !(element.is_float() || complex || integer) {
            return Err(self.not_taken(function.name(), element, whole));
        }
        Ok(element)
    }

    fn cast(&self, to: ElementType, from: ElementType, whole: &Expr) -> Check<ElementType> {
        if from.is_complex() && !to.is_complex() && to != ElementType::Bool {
            return Err(self.not_taken(to.name(), from, whole));
        }
        Ok(to)
    }

    fn not_taken(&self, operation: &str, element: ElementType, whole: &Expr) -> Box<Invalid> {
        let text = self.function.expr_text(whole);
        self.invalid(
            code::LOOP_TYPE,
            format!("`{operation}` does not take {element}, in `{text}`"),
        )
    }
}

/// Whether there are operations on values of this type.
fn computes(element: ElementType) -> bool {
    element == element.computed()
}

/// Whether an operation takes operands of this type.
fn accepts(op: BinaryOp, element: ElementType) -> bool {
    let fits = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => element != ElementType::Bool,
        BinaryOp::FloorDiv | BinaryOp::Mod => element != ElementType::Bool && !element.is_complex(),
        BinaryOp::Div => element.is_float() || element.is_complex(),
        BinaryOp::And | BinaryOp::Or => element == ElementType::Bool,
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => element.is_integer(),
        BinaryOp::Eq | BinaryOp::Ne => true,
        _ => !element.is_complex(),
    };
    fits && computes(element)
}
