//! Writing a function as text.

use std::fmt::{self, Write};

use sparsec_base::Scalar;

use super::{Binding, REDUCTIONS};
use crate::ir::{Access, BinaryOp, Block, Buffer, Expr, Function, Role, Stmt, UnaryOp};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer {
            function: self,
            out: String::new(),
            depth: 0,
        };
        printer.function();
        f.write_str(&printer.out)
    }
}

impl Function {
    /// An expression of this function, as text.
    pub fn expr_text(&self, expr: &Expr) -> String {
        let mut printer = self.printer();
        printer.expr(expr, Binding::Or);
        printer.out
    }

    /// A statement of this function, as text; of one that holds others, the
    /// first line.
    pub fn statement_text(&self, stmt: &Stmt) -> String {
        let mut printer = self.printer();
        match stmt {
            // Only the first line is wanted, so the rest need not be written.
            Stmt::For { .. } | Stmt::While { .. } | Stmt::If { .. } => printer.head(stmt),
            _ => printer.stmt(stmt),
        }
        printer.out.trim_end().to_owned()
    }

    fn printer(&self) -> Printer<'_> {
        Printer {
            function: self,
            out: String::new(),
            depth: 0,
        }
    }
}

struct Printer<'f> {
    function: &'f Function,
    out: String,
    depth: usize,
}

/// Appends formatted text; writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($text:tt)*) => {
        $printer.out.write_fmt(format_args!($($text)*)).expect("a string takes all text")
    };
}

impl<'f> Printer<'f> {
    fn function(&mut self) {
        put!(self, "fn {}(", self.function.name);
        for (n, argument) in self.function.arguments.iter().enumerate() {
            let role = match argument.role {
                Role::In => "in",
                Role::Out => "out",
            };
            let comma = if n == 0 { "" } else { "," };
            put!(
                self,
                "{comma}\n  {role} {} \"{}\" {{",
                argument.name,
                argument.doc
            );
            let extents = argument
                .extents
                .iter()
                .map(|&var| format!("extent {}", self.function.vars[var].name));
            let buffers = argument.buffers.iter().map(|&buffer| {
                let access = match self.function.buffers[buffer].access {
                    Access::Read => "read",
                    Access::Write => "write",
                    Access::Grow => "grow",
                    Access::Workspace => "workspace",
                    Access::Own => "own",
                };
                let (compute, storage) = self.buffer_types(buffer);
                format!("{access} {}: {compute}{storage}", self.buffer_name(buffer))
            });
            let parts: Vec<String> = extents.chain(buffers).collect();
            if parts.is_empty() {
                put!(self, "}}");
            } else if parts.iter().map(|part| part.len() + 2).sum::<usize>() <= 60 {
                put!(self, " {} }}", parts.join(", "));
            } else {
                put!(self, "\n    {} }}", parts.join(",\n    "));
            }
        }
        put!(self, ") ");
        self.block(&self.function.body);
        self.out.push('\n');
    }

    /// The compute type, and ` as ` the storage type where it differs.
    fn buffer_types(&self, buffer: Buffer) -> (String, String) {
        let kind = &self.function.buffers[buffer];
        let storage = if kind.storage == kind.compute {
            String::new()
        } else {
            format!(" as {}", kind.storage)
        };
        (kind.compute.to_string(), storage)
    }

    fn buffer_name(&self, buffer: Buffer) -> &'f str {
        &self.function.buffers[buffer].name
    }

    fn indent(&mut self) {
        let depth = self.depth;
        put!(self, "{:1$}", "", 2 * depth);
    }

    fn block(&mut self, block: &Block) {
        self.out.push_str("{\n");
        self.depth += 1;
        for stmt in block {
            self.indent();
            self.stmt(stmt);
            self.out.push('\n');
        }
        self.depth -= 1;
        self.indent();
        self.out.push('}');
    }

    /// The first line of a statement that holds others, without its `{`.
    fn head(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For {
                var, lo, hi, mark, ..
            } => {
                put!(self, "for {} in ", self.function.vars[*var].name);
                self.range(lo, hi);
                put!(self, "{mark}");
            }
            Stmt::While { condition, .. } => {
                put!(self, "while ");
                self.expr(condition, Binding::Or);
            }
            Stmt::If { condition, .. } => {
                put!(self, "if ");
                self.expr(condition, Binding::Or);
            }
            _ => unreachable!("only these hold others"),
        }
        self.out.push(' ');
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(text) => {
                for (n, line) in text.split('\n').enumerate() {
                    if n > 0 {
                        self.out.push('\n');
                        self.indent();
                    }
                    put!(self, "{}", format!("; {line}").trim_end());
                }
            }
            Stmt::Declare { var, value } => {
                let kind = &self.function.vars[*var];
                let word = if kind.mutable { "var" } else { "let" };
                put!(self, "{word} {}: {} = ", kind.name, kind.element);
                self.expr(value, Binding::Or);
            }
            Stmt::Assign { var, value } => {
                put!(self, "{}", self.function.vars[*var].name);
                match value {
                    Expr::Binary(op, left, right)
                        if **left == Expr::Var(*var) && REDUCTIONS.contains(op) =>
                    {
                        self.assigned(Some(*op), right);
                    }
                    _ => self.assigned(None, value),
                }
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => {
                put!(self, "{}[", self.buffer_name(*buffer));
                self.expr(index, Binding::Or);
                put!(self, "]");
                self.assigned(*reduce, value);
            }
            Stmt::For { body, .. } | Stmt::While { body, .. } => {
                self.head(stmt);
                self.block(body);
            }
            Stmt::If {
                then, otherwise, ..
            } => {
                self.head(stmt);
                self.block(then);
                match &otherwise[..] {
                    [] => {}
                    [chained @ Stmt::If { .. }] => {
                        put!(self, " else ");
                        self.stmt(chained);
                    }
                    _ => {
                        put!(self, " else ");
                        self.block(otherwise);
                    }
                }
            }
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => {
                put!(self, "fill {}[", self.buffer_name(*buffer));
                self.range(lo, hi);
                put!(self, "], ");
                self.expr(value, Binding::Or);
            }
            Stmt::Alloc { buffer, len } => {
                let (compute, storage) = self.buffer_types(*buffer);
                let word = match self.function.buffers[*buffer].access {
                    Access::Own => "own",
                    _ => "alloc",
                };
                put!(self, "{word} {}: {compute}[", self.buffer_name(*buffer));
                self.expr(len, Binding::Or);
                put!(self, "]{storage}");
            }
            Stmt::Grow { buffer, len } => self.sized("grow", *buffer, len),
            Stmt::Resize { buffer, len } => self.sized("resize", *buffer, len),
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => {
                put!(self, "sort {}[", self.buffer_name(*buffer));
                self.range(lo, hi);
                put!(self, "]");
                if let Some(along) = along {
                    put!(self, " with {}", self.buffer_name(*along));
                }
            }
            Stmt::Prefetch { buffer, lo, hi } => {
                put!(self, "prefetch {}[", self.buffer_name(*buffer));
                self.range(lo, hi);
                put!(self, "]");
            }
            Stmt::Turn => put!(self, "turn"),
            Stmt::Pass => put!(self, "pass"),
            Stmt::Poll => put!(self, "poll"),
            Stmt::Fail(failure) => put!(self, "fail {}", failure.name()),
        }
    }

    fn sized(&mut self, word: &str, buffer: Buffer, len: &Expr) {
        put!(self, "{word} {}, ", self.buffer_name(buffer));
        self.expr(len, Binding::Or);
    }

    fn assigned(&mut self, op: Option<BinaryOp>, value: &Expr) {
        put!(self, " {}= ", op.map_or("", BinaryOp::symbol));
        self.expr(value, Binding::Or);
    }

    fn range(&mut self, lo: &Expr, hi: &Expr) {
        self.expr(lo, Binding::Or);
        put!(self, "..");
        self.expr(hi, Binding::Or);
    }

    /// The expression, in parentheses if it binds looser than `least`.
    fn expr(&mut self, expr: &Expr, least: Binding) {
        let binding = binding(expr);
        if binding < least {
            self.out.push('(');
        }
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Var(var) => put!(self, "{}", self.function.vars[*var].name),
            Expr::Load { buffer, index } => {
                put!(self, "{}[", self.buffer_name(*buffer));
                self.expr(index, Binding::Or);
                put!(self, "]");
            }
            Expr::Unary(UnaryOp::Neg, value) => {
                put!(self, "-");
                if let Expr::Const(value) = **value {
                    put!(self, "(");
                    self.constant(value);
                    put!(self, ")");
                } else {
                    self.expr(value, Binding::Negation);
                }
            }
            Expr::Unary(UnaryOp::Not, value) => {
                put!(self, "not ");
                self.expr(value, Binding::Not);
            }
            Expr::Unary(op, value) => self.call(op.symbol(), &[value]),
            Expr::Binary(op, left, right) => match Binding::of(*op) {
                None => self.call(op.symbol(), &[left, right]),
                Some(binding) => {
                    // Equal operators lean left; comparisons do not chain.
                    let left_least = if binding == Binding::Comparison {
                        binding.tighter()
                    } else {
                        binding
                    };
                    self.expr(left, left_least);
                    put!(self, " {} ", op.symbol());
                    self.expr(right, binding.tighter());
                }
            },
            Expr::Call(function, arguments) => {
                self.call(function.name(), &arguments.iter().collect::<Vec<_>>());
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => self.call("select", &[condition, then, otherwise]),
            Expr::Cast(element, value) => self.call(element.name(), &[value]),
        }
        if binding < least {
            self.out.push(')');
        }
    }

    fn call(&mut self, name: &str, arguments: &[&Expr]) {
        put!(self, "{name}(");
        for (n, argument) in arguments.iter().enumerate() {
            if n > 0 {
                put!(self, ", ");
            }
            self.expr(argument, Binding::Or);
        }
        put!(self, ")");
    }

    fn constant(&mut self, value: Scalar) {
        let parts = match value {
            Scalar::C64(v) => (Scalar::F32(v.re), Scalar::F32(v.im)),
            Scalar::C128(v) => (Scalar::F64(v.re), Scalar::F64(v.im)),
            Scalar::Bool(_) | Scalar::I64(_) | Scalar::F64(_) => return put!(self, "{value}"),
            other => return put!(self, "{value}{}", other.element()),
        };
        put!(self, "{}(", value.element());
        self.constant(parts.0);
        put!(self, ", ");
        self.constant(parts.1);
        put!(self, ")");
    }
}

fn binding(expr: &Expr) -> Binding {
    match expr {
        Expr::Unary(UnaryOp::Neg, _) => Binding::Negation,
        Expr::Unary(UnaryOp::Not, _) => Binding::Not,
        Expr::Binary(op, ..) => Binding::of(*op).unwrap_or(Binding::Atom),
        _ => Binding::Atom,
    }
}
