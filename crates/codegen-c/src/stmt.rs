//! Statements, one line of the IR after the other.
//!
//! * A loop's bound stays in the loop's head where evaluating it again gives
//!   the same value, as in `pA1 < A1_pos[i + 1]`; else it gets a name first.

use std::collections::HashMap;

use sparsec_base::ElementType;
use sparsec_loop::growth::growth_run;
use sparsec_loop::{Access, BinaryOp, Block, Buffer, Expr, Failure, Function, Mark, Stmt, Var};

use crate::abi;
use crate::growth::Growth;
use crate::helper::Helpers;
use crate::loops::is_tile;
use crate::name::Names;
use crate::nest;
use crate::precedence::{Piece, Precedence};
use crate::rows::Row;
use crate::scope::local_names;
use crate::uses::{Uses, may_fail};

/// Lines longer than this are not joined from several.
pub(crate) const WIDTH: usize = 96;

/// Writes the body of one function.
pub(crate) struct Writer<'f> {
    pub(crate) function: &'f Function,
    pub(crate) helpers: &'f mut Helpers,
    pub(crate) names: Names,
    pub(crate) uses: Uses,
    vars: HashMap<Var, String>,
    buffers: HashMap<Buffer, BufferNames>,
    pub(crate) growth: Vec<Growth>,
    /// Rows that loops around go along, with their pointers.
    pub(crate) rows: Vec<(Row, String)>,
    /// Functions that the kernel's loops hand to the caller, in order.
    pub(crate) chunks: Vec<String>,
    /// Nests that are functions of their own, before those.
    pub(crate) nests: Vec<String>,
    /// Whether the body of the loop around sorts.
    pub(crate) is_sorting: bool,
    /// Whether several loops of the block at hand store along arrays, a few entries each.
    pub(crate) is_tile: bool,
    /// Whether the loop around has constant bounds.
    pub(crate) is_in_constant: bool,
    /// Results that the chunk being written grows in its turn.
    pub(crate) grown_in_turn: Vec<Buffer>,
    lines: Vec<String>,
    pub(crate) indent: usize,
    /// How many loops around here go on until an operand ends.
    pub(crate) merges: usize,
    /// Whether the loop around is a merge that branches.
    pub(crate) is_branching: bool,
}

/// What the C calls the parts of one buffer.
#[derive(Clone, Debug)]
pub(crate) struct BufferNames {
    /// The pointer to the entries.
    pub(crate) data: String,
    /// For buffers that grow: the pointer to the `sparsec_array`.
    pub(crate) array: String,
    /// For what is each unit's own: how many entries it begins with.
    pub(crate) len: String,
}

impl<'f> Writer<'f> {
    pub(crate) fn new(function: &'f Function, helpers: &'f mut Helpers) -> Self {
        Self {
            function,
            helpers,
            names: Names::default(),
            uses: Uses::of(function, &function.body),
            vars: HashMap::new(),
            buffers: HashMap::new(),
            growth: Vec::new(),
            rows: Vec::new(),
            chunks: Vec::new(),
            nests: Vec::new(),
            is_sorting: false,
            is_tile: false,
            is_in_constant: false,
            grown_in_turn: Vec::new(),
            lines: Vec::new(),
            indent: 1,
            merges: 0,
            is_branching: false,
        }
    }

    /// Gives every variable and buffer its name, so that the names that the
    /// source knows come out unchanged and ours give way.
    pub(crate) fn name_all(&mut self) {
        self.names.fresh("context");
        for argument in &self.function.arguments {
            for &var in &argument.extents {
                let name = self.names.fresh(&self.function.vars[var].name);
                self.vars.insert(var, name);
            }
        }
        for (buffer, data) in self.function.buffers.iter() {
            let is_own = data.access == Access::Own;
            let data = self.names.fresh(&data.name);
            let names = BufferNames {
                array: self.names.fresh(&format!("{data}_array")),
                len: match is_own {
                    true => self.names.fresh(&format!("{data}_len")),
                    false => String::new(),
                },
                data,
            };
            self.buffers.insert(buffer, names);
        }
        self.name_locals();
        self.name_capacities();
    }

    /// Calls a variable that nothing declares by this text.
    pub(crate) fn call_var(&mut self, var: Var, text: String) {
        self.vars.insert(var, text);
    }

    /// Names the variables that the body declares.
    pub(crate) fn name_locals(&mut self) {
        let locals = local_names(self.function, &mut self.names);
        self.vars.extend(locals);
    }

    pub(crate) fn var_name(&self, var: Var) -> &str {
        &self.vars[&var]
    }

    pub(crate) fn buffer_name(&self, buffer: Buffer) -> &str {
        &self.buffers[&buffer].data
    }

    pub(crate) fn buffer_names(&self, buffer: Buffer) -> BufferNames {
        self.buffers[&buffer].clone()
    }

    pub(crate) fn c_type(&mut self, ty: ElementType) -> &'static str {
        self.helpers.c_type(ty)
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.lines
            .push(format!("{}{text}", "  ".repeat(self.indent)));
    }

    pub(crate) fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    /// The lines written so far.
    pub(crate) fn finish(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    pub(crate) fn block(&mut self, block: &Block) {
        let outside = std::mem::replace(&mut self.is_tile, is_tile(block));
        let mut rest = block.as_slice();
        while let Some(stmt) = rest.first() {
            let run = growth_run(rest);
            match stmt {
                Stmt::Grow { len, .. } => {
                    self.grow(&run, len);
                }
                Stmt::Resize { len, .. } => {
                    let len = self.grow(&run, len);
                    for &buffer in &run {
                        let array = self.buffer_names(buffer).array;
                        self.line(&format!("{array}->len = {};", len.text));
                    }
                }
                _ => self.stmt(stmt),
            }
            rest = &rest[run.len().max(1)..];
        }
        self.is_tile = outside;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(text) => {
                let text = abi::comment_text(text);
                self.line(&format!("/* {text} */"));
            }
            Stmt::Declare { var, value } => self.declare(*var, value),
            Stmt::Assign { var, value } => self.assign(*var, value),
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => self.store(*buffer, index, value, *reduce),
            Stmt::For {
                var,
                hi,
                mark: Mark { chunks: true, .. },
                body,
                ..
            } => self.hand_out(*var, hi, body),
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => match self.is_sorting && nest::is_one(self.function, stmt) {
                true => self.nest(stmt),
                false => self.for_loop(*var, lo, hi, *mark, body),
            },
            Stmt::While { condition, body } => self.while_loop(condition, body),
            Stmt::If {
                condition,
                then,
                otherwise,
            } => self.branch(condition, then, otherwise),
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => self.fill(*buffer, lo, hi, value),
            Stmt::Alloc { buffer, len } => self.alloc(*buffer, len),
            Stmt::Grow { .. } | Stmt::Resize { .. } => {
                unreachable!("a block takes these in runs")
            }
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => self.sort(*buffer, *along, lo, hi),
            Stmt::Prefetch { buffer, lo, hi } => self.prefetch(*buffer, lo, hi),
            Stmt::Turn => self.turn(),
            Stmt::Pass => self.line("context->pass(context);"),
            Stmt::Poll => self.leave_if("*context->cancelled", Failure::Cancelled),
            Stmt::Fail(failure) => {
                self.line(&format!("return {};", abi::status_name(*failure)));
            }
        }
    }

    fn declare(&mut self, var: Var, value: &Expr) {
        let value = self.expr(value);
        let ty = self.c_type(self.function.vars[var].element);
        let name = self.var_name(var).to_owned();
        self.line(&format!("{ty} {name} = {};", value.text));
        if !self.uses.vars.contains(&var) {
            self.line(&format!("(void){name};"));
        }
    }

    fn assign(&mut self, var: Var, value: &Expr) {
        let name = self.var_name(var).to_owned();
        let ty = self.function.vars[var].element;
        if let Expr::Binary(op, left, right) = value
            && **left == Expr::Var(var)
            && let Some(symbol) = compound(*op, ty)
            && !self.needs_laziness(*op, right)
        {
            let right = self.expr(right);
            self.update(&name, symbol, &right);
            return;
        }
        let value = self.expr(value);
        self.line(&format!("{name} = {};", value.text));
    }

    /// Whether `old op= value` must not touch `value` where `old` decides: C's
    /// `&=` and `|=` always evaluate it, and what it loads may not be there.
    fn needs_laziness(&self, op: BinaryOp, value: &Expr) -> bool {
        matches!(op, BinaryOp::And | BinaryOp::Or)
            && (may_fail(self.function, value) || value.loads())
    }

    /// `target += value;`, or `target++;`.
    fn update(&mut self, target: &str, symbol: char, value: &Piece) {
        match (symbol, value.text.as_str()) {
            ('+', "1") => self.line(&format!("{target}++;")),
            ('-', "1") => self.line(&format!("{target}--;")),
            ('+', text) if text.starts_with('-') && value.simple => {
                self.line(&format!("{target} -= {};", &text[1..]));
            }
            (_, text) => self.line(&format!("{target} {symbol}= {text};")),
        }
    }

    fn store(&mut self, buffer: Buffer, at: &Expr, value: &Expr, reduce: Option<BinaryOp>) {
        let data = &self.function.buffers[buffer];
        let (storage, compute) = (data.storage, data.compute);
        let index = self.expr(at);
        let target = |index: &Piece, w: &Self| format!("{}[{}]", w.buffer_name(buffer), index.text);
        if let Some(op) = reduce
            && self.needs_laziness(op, value)
        {
            let old = Box::new(Expr::load(buffer, at.clone()));
            let new = Expr::Binary(op, old, Box::new(value.clone()));
            let new = self.expr(&new);
            let target = target(&index, self);
            self.line(&format!("{target} = {};", new.text));
            return;
        }
        let Some(op) = reduce else {
            let value = self.expr(value);
            let target = target(&index, self);
            self.line(&format!("{target} = {};", value.text));
            return;
        };
        let exact = storage == compute || (storage.is_integer() && compute.is_integer());
        if let Some(symbol) = compound(op, compute)
            && exact
        {
            let value = self.expr(value);
            let target = target(&index, self);
            self.update(&target, symbol, &value);
            return;
        }
        let divides = matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod) && compute.is_integer();
        let value = if divides {
            self.divisor(value, compute)
        } else {
            self.expr(value)
        };
        let index = if index.text.len() > 12 {
            self.bind(index, ElementType::I64, "at")
        } else {
            index
        };
        let target = target(&index, self);
        let old = Piece::primary(target.clone(), storage);
        let new = self.combine(op, old, value, compute);
        self.line(&format!("{target} = {};", new.text));
    }

    /// An `if` with its chain of `else if`. Without braces where every branch is
    /// one short statement.
    fn branch(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let mut arms: Vec<(String, Vec<String>)> = Vec::new();
        let condition = self.condition(condition);
        arms.push((format!("if ({})", condition.text), self.capture(then)));
        let mut rest = otherwise;
        while let [
            Stmt::If {
                condition,
                then,
                otherwise,
            },
        ] = rest.as_slice()
            && !may_fail(self.function, condition)
        {
            let condition = self.condition(condition);
            arms.push((format!("else if ({})", condition.text), self.capture(then)));
            rest = otherwise;
        }
        if !rest.is_empty() {
            arms.push(("else".to_owned(), self.capture(rest)));
        }
        let margin = 2 * self.indent;
        let brief = arms.iter().all(|(head, body)| match body.as_slice() {
            [line] => {
                let line = line.trim_start();
                let plain = line.ends_with(';') && !line.starts_with("if ");
                plain && margin + head.len() + 1 + line.len() <= WIDTH
            }
            _ => false,
        });
        if brief {
            for (head, body) in arms {
                self.line(&format!("{head} {}", body[0].trim_start()));
            }
            return;
        }
        for (number, (head, body)) in arms.into_iter().enumerate() {
            let close = if number == 0 { "" } else { "} " };
            self.line(&format!("{close}{head} {{"));
            self.lines.extend(body);
        }
        self.line("}");
    }

    /// The lines that `write` writes as the body of a function of their own.
    pub(crate) fn apart(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let outside = (
            std::mem::take(&mut self.lines),
            std::mem::replace(&mut self.indent, 1),
        );
        write(self);
        let lines = std::mem::replace(&mut self.lines, outside.0);
        self.indent = outside.1;
        lines.join("\n") + "\n"
    }

    /// The lines of `block`, one step further in, apart from those so far.
    fn capture(&mut self, block: &Block) -> Vec<String> {
        let before = std::mem::take(&mut self.lines);
        self.indented(|w| w.block(block));
        std::mem::replace(&mut self.lines, before)
    }

    fn fill(&mut self, buffer: Buffer, lo: &Expr, hi: &Expr, value: &Expr) {
        let lo = self.expr(lo);
        let hi = self.simple(hi, "end");
        let ty = self.function.buffers[buffer].compute;
        let value = self.expr(value);
        let value = self.bind(value, ty, "value");
        let at = self.names.fresh("at");
        self.line(&format!(
            "for (int64_t {at} = {}; {at} < {}; {at}++) {}[{at}] = {};",
            lo.text,
            hi.text,
            self.buffer_name(buffer).to_owned(),
            value.text
        ));
    }

    fn sort(&mut self, buffer: Buffer, along: Option<Buffer>, lo: &Expr, hi: &Expr) {
        let lo = self.simple(lo, "first");
        let hi = self.expr(hi);
        let ty = self.function.buffers[buffer].storage;
        let from_lo = |w: &Self, buffer: Buffer| match lo.text.as_str() {
            "0" => w.buffer_name(buffer).to_owned(),
            _ => format!("{} + {}", w.buffer_name(buffer), lo.at(Precedence::Product)),
        };
        let data = from_lo(self, buffer);
        let along = along.map(|along| from_lo(self, along));
        let count = match lo.text.as_str() {
            "0" => hi.text,
            _ => self.combine(BinaryOp::Sub, hi, lo, ElementType::I64).text,
        };
        let call = match along {
            None => format!("sort_{ty}(context, {data}, {count})"),
            Some(along) => format!("sort_pairs(context, {data}, {along}, {count})"),
        };
        let status = self.names.fresh("status");
        self.line(&format!("const int32_t {status} = context->{call};"));
        self.line(&format!("if ({status}) return {status};"));
    }
}

/// The sign of the compound assignment that computes `op`.
fn compound(op: BinaryOp, ty: ElementType) -> Option<char> {
    match op {
        _ if ty == ElementType::Bool => match op {
            BinaryOp::And | BinaryOp::Min => Some('&'),
            BinaryOp::Or | BinaryOp::Max => Some('|'),
            _ => None,
        },
        _ if ty.is_complex() => None,
        BinaryOp::Add => Some('+'),
        BinaryOp::Sub => Some('-'),
        BinaryOp::Mul => Some('*'),
        BinaryOp::Div => Some('/'),
        BinaryOp::BitAnd => Some('&'),
        _ => None,
    }
}
