//! Walking over statements and expressions.
//!
//! A pass says what it looks for; how the parts of a statement lie in it is
//! known here alone.

use std::collections::HashSet;

use sparsec_base::{Kind, Scalar};

use crate::ir::{BinaryOp, Block, Buffer, Expr, Failure, Function, Stmt, Var};

/// Where an expression reads a value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A variable.
    Var(Var),
    /// An entry of a buffer.
    Buffer(Buffer),
}

impl Expr {
    /// Calls `visit` with each direct operand, left to right.
    pub fn for_each_operand<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Const(_) | Self::Var(_) => {}
            Self::Load { index: value, .. } | Self::Unary(_, value) | Self::Cast(_, value) => {
                visit(value);
            }
            Self::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(visit),
            Self::Select {
                condition,
                then,
                otherwise,
            } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }

    /// Calls `visit` with each direct operand, to change it.
    pub fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Const(_) | Self::Var(_) => {}
            Self::Load { index: value, .. } | Self::Unary(_, value) | Self::Cast(_, value) => {
                visit(value);
            }
            Self::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Self::Call(_, arguments) => arguments.iter_mut().for_each(visit),
            Self::Select {
                condition,
                then,
                otherwise,
            } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }

    /// Whether `wanted` holds of this expression or of one inside it.
    pub fn any(&self, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = wanted(self);
        if !found {
            self.for_each_operand(&mut |operand| found = found || operand.any(wanted));
        }
        found
    }

    /// Changes every expression inside this one, then this one.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        self.for_each_operand_mut(&mut |operand| operand.rewrite(change));
        change(self);
    }

    /// Whether the other is one more than this, as far as that can be seen.
    pub fn is_followed_by(&self, other: &Self) -> bool {
        let parts = |expr: &Self| match expr {
            Self::Binary(BinaryOp::Add, base, offset) => match **offset {
                Self::Const(Scalar::I64(offset)) => ((**base).clone(), offset),
                _ => (expr.clone(), 0),
            },
            _ => (expr.clone(), 0),
        };
        let ((base, first), (same, second)) = (parts(self), parts(other));
        base == same && first.checked_add(1) == Some(second)
    }

    /// Calls `visit` with each variable and each load in this expression.
    pub fn for_each_read(&self, visit: &mut dyn FnMut(Read)) {
        self.any(&mut |part| {
            match part {
                Self::Var(var) => visit(Read::Var(*var)),
                Self::Load { buffer, .. } => visit(Read::Buffer(*buffer)),
                _ => {}
            }
            false
        });
    }

    /// Whether this expression reads the variable.
    pub fn reads(&self, var: Var) -> bool {
        self.any(&mut |expr| *expr == Expr::Var(var))
    }

    /// Whether this expression reads a buffer.
    pub fn loads(&self) -> bool {
        self.any(&mut |expr| matches!(expr, Expr::Load { .. }))
    }

    /// How many operations, loads included, it takes.
    pub fn n_operations(&self) -> usize {
        let mut n = usize::from(!matches!(self, Expr::Const(_) | Expr::Var(_)));
        self.for_each_operand(&mut |operand| n += operand.n_operations());
        n
    }
}

impl Stmt {
    /// Calls `visit` with each expression of this statement, but not of the
    /// statements inside it, in the order in which they are evaluated.
    pub fn for_each_expr<'s>(&'s self, visit: &mut dyn FnMut(&'s Expr)) {
        match self {
            Self::Comment(_) | Self::Turn | Self::Pass | Self::Poll | Self::Fail(_) => {}
            Self::Declare { value, .. } | Self::Assign { value, .. } => visit(value),
            Self::Store { index, value, .. } => {
                visit(index);
                visit(value);
            }
            Self::For { lo, hi, .. }
            | Self::Sort { lo, hi, .. }
            | Self::Prefetch { lo, hi, .. } => {
                visit(lo);
                visit(hi);
            }
            Self::While { condition, .. } | Self::If { condition, .. } => visit(condition),
            Self::Fill { lo, hi, value, .. } => {
                visit(lo);
                visit(hi);
                visit(value);
            }
            Self::Alloc { len, .. } | Self::Grow { len, .. } | Self::Resize { len, .. } => {
                visit(len);
            }
        }
    }

    /// Calls `visit` with each expression of this statement, to change it.
    pub fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Comment(_) | Self::Turn | Self::Pass | Self::Poll | Self::Fail(_) => {}
            Self::Declare { value, .. } | Self::Assign { value, .. } => visit(value),
            Self::Store { index, value, .. } => {
                visit(index);
                visit(value);
            }
            Self::For { lo, hi, .. }
            | Self::Sort { lo, hi, .. }
            | Self::Prefetch { lo, hi, .. } => {
                visit(lo);
                visit(hi);
            }
            Self::While { condition, .. } | Self::If { condition, .. } => visit(condition),
            Self::Fill { lo, hi, value, .. } => {
                visit(lo);
                visit(hi);
                visit(value);
            }
            Self::Alloc { len, .. } | Self::Grow { len, .. } | Self::Resize { len, .. } => {
                visit(len);
            }
        }
    }

    /// The blocks inside this statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Self::For { body, .. } | Self::While { body, .. } => vec![body],
            Self::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// The blocks inside this statement, to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Self::For { body, .. } | Self::While { body, .. } => vec![body],
            Self::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// Calls `visit` with this statement, then with all inside it.
    pub fn for_each<'s>(&'s self, visit: &mut dyn FnMut(&'s Stmt)) {
        visit(self);
        for block in self.blocks() {
            for_each_stmt(block, visit);
        }
    }

    /// The variable that this statement declares or assigns.
    pub fn written_var(&self) -> Option<Var> {
        match self {
            Self::Declare { var, .. } | Self::Assign { var, .. } | Self::For { var, .. } => {
                Some(*var)
            }
            _ => None,
        }
    }

    /// The buffers whose entries this statement changes.
    pub fn stored_buffers(&self) -> impl Iterator<Item = Buffer> + use<> {
        let (first, second) = match self {
            Self::Store { buffer, .. } | Self::Fill { buffer, .. } => (Some(*buffer), None),
            Self::Sort { buffer, along, .. } => (Some(*buffer), *along),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Stmt {
    /// The buffers that this statement changes or makes room in.
    pub fn touched_buffers(&self) -> impl Iterator<Item = Buffer> + use<> {
        let sized = match self {
            Self::Alloc { buffer, .. }
            | Self::Grow { buffer, .. }
            | Self::Resize { buffer, .. } => Some(*buffer),
            _ => None,
        };
        self.stored_buffers().chain(sized)
    }
}

/// Calls `visit` with every statement of a block, outer before inner.
pub fn for_each_stmt<'s>(block: &'s Block, visit: &mut dyn FnMut(&'s Stmt)) {
    for stmt in block {
        stmt.for_each(visit);
    }
}

/// Calls `change` with every block, inner before outer.
pub fn for_each_block_mut(block: &mut Block, change: &mut dyn FnMut(&mut Block)) {
    for stmt in block.iter_mut() {
        for inner in stmt.blocks_mut() {
            for_each_block_mut(inner, change);
        }
    }
    change(block);
}

/// Changes every expression of every statement of a block, inner first.
pub fn rewrite_exprs(block: &mut Block, change: &mut dyn FnMut(&mut Expr)) {
    for stmt in block {
        stmt.for_each_expr_mut(&mut |expr| expr.rewrite(change));
        for inner in stmt.blocks_mut() {
            rewrite_exprs(inner, change);
        }
    }
}

impl Function {
    /// Every buffer that some statement stores to.
    pub fn stored_buffers(&self) -> HashSet<Buffer> {
        let mut stored = HashSet::new();
        for_each_stmt(&self.body, &mut |stmt| stored.extend(stmt.stored_buffers()));
        stored
    }

    /// Whether evaluating the expression may leave the function with an error.
    /// Loads do not count: in a valid run they succeed.
    pub fn can_fail(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| self.own_failure(part).is_some())
    }

    /// How an operation may fail whose operands do not.
    pub fn own_failure(&self, expr: &Expr) -> Option<Failure> {
        match expr {
            Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Mod, left, right) => {
                let divides = matches!(**right, Expr::Const(divisor) if !divisor.is_zero());
                let fails = self.type_of(left).is_integer() && !divides;
                fails.then_some(Failure::DivisionByZero)
            }
            Expr::Call(function, arguments) => {
                let is_signed = self.type_of(&arguments[0]).kind() == Kind::Signed;
                let is_positive = |exponent: Scalar| exponent.to_integer() >= Some(0);
                let is_known =
                    matches!(arguments.last(), Some(Expr::Const(power)) if is_positive(*power));
                let fails = function.takes_integers() && is_signed && !is_known;
                fails.then_some(Failure::NegativePower)
            }
            Expr::Cast(to, value) => {
                let fails = to.is_integer() && self.type_of(value).is_float();
                fails.then_some(Failure::CastOutOfRange)
            }
            _ => None,
        }
    }

    /// Whether an expression is the extent of an argument, which is not negative.
    pub fn is_extent(&self, expr: &Expr) -> bool {
        let is_one = |var: &Var| {
            let mut arguments = self.arguments.iter();
            arguments.any(|argument| argument.extents.contains(var))
        };
        matches!(expr, Expr::Var(var) if is_one(var))
    }
}
