//! Statements.

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, ElementType, Result, Span, code};

use super::{Entity, MAX_NESTING, Parser};
use crate::ir::{Access, BinaryOp, Block, Buffer, BufferData, Expr, Stmt};
use crate::mark::{Mark, Parallel, Races, Unit};
use crate::text::{REDUCTIONS, failure};

impl Parser {
    pub(super) fn block(&mut self) -> Result<Block> {
        self.tokens.expect("{")?;
        self.scopes.push(Vec::new());
        let mut block = Block::new();
        loop {
            self.comments(&mut block);
            if self.tokens.at("}") {
                break;
            }
            block.push(self.stmt()?);
        }
        self.tokens.take();
        self.close_scope();
        Ok(block)
    }

    fn close_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(name) = self.names.get_mut(&name) {
                name.visible = false;
            }
        }
    }

    /// Adds the comments before the next token as statements.
    fn comments(&mut self, block: &mut Block) {
        let next = self.tokens.peek().span;
        while self.comments.last().is_some_and(|(at, _)| *at < next.start) {
            if let Some((_, text)) = self.comments.pop() {
                self.statements.push(next);
                block.push(Stmt::Comment(text));
            }
        }
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let first = self.tokens.peek();
        if first.kind != Kind::Name {
            return Err(self.tokens.unexpected("a statement or `}`"));
        }
        if self.depth == MAX_NESTING {
            return Err(Diagnostic::new(
                code::UNEXPECTED_TOKEN,
                format!("statements lie more than {MAX_NESTING} deep in each other"),
            )
            .at(self.tokens.source(), first.span, "too deep"));
        }
        self.depth += 1;
        let number = self.statements.len();
        self.statements.push(first.span);
        let word = self.tokens.text(first).to_owned();
        let stmt = match word.as_str() {
            "let" => self.declare(false)?,
            "var" => self.declare(true)?,
            "for" => self.for_loop()?,
            "while" => {
                self.tokens.take();
                Stmt::While {
                    condition: self.expr()?,
                    body: self.block()?,
                }
            }
            "if" => self.branch()?,
            "fill" => {
                self.tokens.take();
                let (buffer, lo, hi) = self.stretch()?;
                self.tokens.expect(",")?;
                let value = self.expr()?;
                Stmt::Fill {
                    buffer,
                    lo,
                    hi,
                    value,
                }
            }
            "sort" => {
                self.tokens.take();
                let (buffer, lo, hi) = self.stretch()?;
                let along = match self.tokens.eat("with") {
                    true => Some(self.buffer()?),
                    false => None,
                };
                Stmt::Sort {
                    buffer,
                    along,
                    lo,
                    hi,
                }
            }
            "prefetch" => {
                self.tokens.take();
                let (buffer, lo, hi) = self.stretch()?;
                Stmt::Prefetch { buffer, lo, hi }
            }
            "turn" => {
                self.tokens.take();
                Stmt::Turn
            }
            "pass" => {
                self.tokens.take();
                Stmt::Pass
            }
            "poll" => {
                self.tokens.take();
                Stmt::Poll
            }
            "alloc" => self.alloc(Access::Workspace)?,
            "own" => self.alloc(Access::Own)?,
            "grow" => {
                let (buffer, len) = self.sized()?;
                Stmt::Grow { buffer, len }
            }
            "resize" => {
                let (buffer, len) = self.sized()?;
                Stmt::Resize { buffer, len }
            }
            "fail" => {
                self.tokens.take();
                let name = self.tokens.text(self.tokens.peek()).to_owned();
                let failure = failure(&name).ok_or_else(|| {
                    self.tokens.unexpected(
                        "`division_by_zero`, `cast_out_of_range`, `width_overflow` or \
                         `out_of_memory`",
                    )
                })?;
                self.tokens.take();
                Stmt::Fail(failure)
            }
            _ => self.assignment()?,
        };
        if stmt.blocks().is_empty() {
            self.statements[number] = self.up_to_here(first.span);
        }
        self.depth -= 1;
        Ok(stmt)
    }

    /// From `start` to before the next token, without the space between.
    fn up_to_here(&self, start: Span) -> Span {
        let end = self.tokens.peek().span.start;
        let span = Span { end, ..start };
        let text = self.tokens.source().slice(span);
        // A comment may stand behind the statement.
        let code = text.lines().next().unwrap_or("");
        let code = code.split(';').next().unwrap_or("").trim_end();
        Span::new(start.start as usize, start.start as usize + code.len())
    }

    fn declare(&mut self, mutable: bool) -> Result<Stmt> {
        self.tokens.take();
        let mut value = None;
        let var = self.declare_var("a variable", mutable, |parser| {
            parser.tokens.expect(":")?;
            let element = parser.element()?;
            parser.tokens.expect("=")?;
            value = Some(parser.expr()?);
            Ok(element)
        })?;
        let value = value.expect("read before the variable was made");
        Ok(Stmt::Declare { var, value })
    }

    fn for_loop(&mut self) -> Result<Stmt> {
        self.tokens.take();
        // The loop variable is visible in the body alone.
        self.scopes.push(Vec::new());
        let mut bounds = None;
        let var = self.declare_var("a loop variable", false, |parser| {
            parser.tokens.expect("in")?;
            bounds = Some(parser.range()?);
            Ok(ElementType::I64)
        })?;
        let (lo, hi) = bounds.expect("read before the variable was made");
        let mark = self.mark()?;
        let body = self.block()?;
        self.close_scope();
        Ok(Stmt::For {
            var,
            lo,
            hi,
            mark,
            body,
        })
    }

    /// `["unroll" N] ["parallel" "(" UNIT "," RACES ")"] ["chunks"]`
    fn mark(&mut self) -> Result<Mark> {
        let mut mark = Mark::default();
        if self.tokens.eat("unroll") {
            let token = self.tokens.peek();
            mark.unroll = match self.tokens.text(token).parse() {
                Ok(factor) if factor > 0 => factor,
                _ => return Err(self.tokens.unexpected("how often to unroll")),
            };
            self.tokens.take();
        }
        if self.tokens.eat("parallel") {
            self.tokens.expect("(")?;
            let unit = self.word_of("a unit", Unit::by_name)?;
            self.tokens.expect(",")?;
            let races = self.word_of("a strategy", Races::by_name)?;
            self.tokens.expect(")")?;
            mark.parallel = Some(Parallel { unit, races });
        }
        mark.chunks = self.tokens.eat("chunks");
        Ok(mark)
    }

    /// A name that `find` knows.
    fn word_of<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> Result<T> {
        let token = self.tokens.peek();
        match find(self.tokens.text(token)) {
            Some(found) => {
                self.tokens.take();
                Ok(found)
            }
            None => Err(self.tokens.unexpected(what)),
        }
    }

    fn branch(&mut self) -> Result<Stmt> {
        self.tokens.take();
        let condition = self.expr()?;
        let then = self.block()?;
        let mut otherwise = Block::new();
        if self.tokens.eat("else") {
            if self.tokens.at("if") {
                otherwise.push(self.stmt()?);
            } else {
                otherwise = self.block()?;
            }
        }
        Ok(Stmt::If {
            condition,
            then,
            otherwise,
        })
    }

    fn range(&mut self) -> Result<(Expr, Expr)> {
        let lo = self.expr()?;
        self.tokens.expect("..")?;
        Ok((lo, self.expr()?))
    }

    /// `NAME [ lo .. hi ]`
    fn stretch(&mut self) -> Result<(Buffer, Expr, Expr)> {
        let buffer = self.buffer()?;
        self.tokens.expect("[")?;
        let (lo, hi) = self.range()?;
        self.tokens.expect("]")?;
        Ok((buffer, lo, hi))
    }

    /// `WORD NAME , expr`
    fn sized(&mut self) -> Result<(Buffer, Expr)> {
        self.tokens.take();
        let buffer = self.buffer()?;
        self.tokens.expect(",")?;
        Ok((buffer, self.expr()?))
    }

    fn alloc(&mut self, access: Access) -> Result<Stmt> {
        self.tokens.take();
        let (name, span) = self.new_name("a workspace")?;
        self.tokens.expect(":")?;
        let compute = self.element()?;
        self.tokens.expect("[")?;
        let len = self.expr()?;
        self.tokens.expect("]")?;
        let storage = if self.tokens.eat("as") {
            self.element()?
        } else {
            compute
        };
        let buffer = self.function.buffers.push(BufferData {
            name: name.clone(),
            storage,
            compute,
            access,
        });
        self.enter(name, span, Entity::Buffer(buffer));
        Ok(Stmt::Alloc { buffer, len })
    }

    /// `var op= value` or `buffer[index] op= value`
    fn assignment(&mut self) -> Result<Stmt> {
        let (entity, span) = self.known("a variable or a buffer")?;
        match entity {
            Entity::Var(_) if self.tokens.at("[") => {
                Err(self.misused(span, "a variable", "a buffer"))
            }
            Entity::Var(var) => {
                let op = self.assignment_op()?;
                let value = self.expr()?;
                let value = match op {
                    None => value,
                    Some(op) => Expr::Var(var).binary(op, value),
                };
                Ok(Stmt::Assign { var, value })
            }
            Entity::Buffer(buffer) => {
                if !self.tokens.eat("[") {
                    return Err(self.misused(span, "a buffer", "a variable"));
                }
                let index = self.expr()?;
                self.tokens.expect("]")?;
                let reduce = self.assignment_op()?;
                let value = self.expr()?;
                Ok(Stmt::Store {
                    buffer,
                    index,
                    value,
                    reduce,
                })
            }
        }
    }

    /// `=`, or an operator and `=`.
    fn assignment_op(&mut self) -> Result<Option<BinaryOp>> {
        if self.tokens.eat("=") {
            return Ok(None);
        }
        for &op in REDUCTIONS {
            let symbol = op.symbol();
            if self.tokens.at(symbol) && self.tokens.at_nth(1, "=") {
                self.tokens.take();
                self.tokens.take();
                return Ok(Some(op));
            }
            if self.tokens.eat(&format!("{symbol}=")) {
                return Ok(Some(op));
            }
        }
        Err(self.tokens.unexpected("`=` or an operator and `=`"))
    }
}
