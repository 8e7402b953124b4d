//! Reading a function from text.

mod expr;
mod stmt;

use std::collections::HashMap;

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, Table, code};

use super::{is_name, is_reserved};
use crate::ir::{Access, Argument, Block, Buffer, BufferData, Function, Role, Var, VarData};
use crate::verify;

/// The symbols of more than one character.
const SYMBOLS: &[&str] = &[
    "..", "==", "!=", "<=", ">=", "<<", ">>", "//", "+=", "-=", "*=", "/=", "//=", "%=",
];

/// How deep statements may lie in each other, and how many operators and
/// parentheses one expression may have: all that walks a function recurses.
const MAX_NESTING: usize = 100;
const MAX_OPERATORS: usize = 400;

impl Function {
    /// Reads one function and checks that it is [valid](crate::verify()).
    ///
    /// # Errors
    /// `E01..` for text that is not of the [language](crate::text), `E06..`
    /// for a function that is not valid; both with the place.
    pub fn parse(source: &Source) -> Result<Self> {
        let tokens = Tokens::new(source, SYMBOLS)?;
        let comments = comments(&tokens);
        let mut parser = Parser {
            tokens,
            comments,
            function: Function {
                name: String::new(),
                arguments: Vec::new(),
                buffers: Table::new(),
                vars: Table::new(),
                body: Block::new(),
            },
            names: HashMap::new(),
            scopes: Vec::new(),
            statements: Vec::new(),
            depth: 0,
            operators: 0,
        };
        let signature = parser.function()?;
        let function = parser.function;
        verify::check(&function).map_err(|invalid| {
            let span = match invalid.statement {
                Some(n) => parser.statements[n],
                None => signature,
            };
            invalid.diagnostic(source, span)
        })?;
        Ok(function)
    }
}

/// The comments of a text with the bytes at which they begin, last first.
fn comments(tokens: &Tokens) -> Vec<(u32, String)> {
    let mut tokens = tokens.clone();
    let text = tokens.source().text().to_owned();
    let mut found = Vec::new();
    let mut end = 0;
    loop {
        let token = tokens.take();
        let start = token.span.start as usize;
        let mut line_start = end;
        // Between two tokens there is nothing but space and comments.
        for line in text.get(end..start).unwrap_or("").split_inclusive('\n') {
            if let Some(at) = line.find(';') {
                let words = line[at + 1..].trim_end();
                let words = words.strip_prefix(' ').unwrap_or(words);
                let begin = u32::try_from(line_start + at).unwrap_or(u32::MAX);
                found.push((begin, words.to_owned()));
            }
            line_start += line.len();
        }
        end = token.span.end as usize;
        if token.kind == Kind::End {
            break;
        }
    }
    found.reverse();
    found
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Entity {
    Var(Var),
    Buffer(Buffer),
}

struct Name {
    entity: Entity,
    span: Span,
    visible: bool,
}

struct Parser {
    tokens: Tokens,
    /// Comments not yet placed, the next one last.
    comments: Vec<(u32, String)>,
    function: Function,
    names: HashMap<String, Name>,
    /// The variables declared in each open block.
    scopes: Vec<Vec<String>>,
    /// The place of each statement, outer before inner.
    statements: Vec<Span>,
    /// How many statements hold the current one.
    depth: usize,
    /// How many operators the current expression has so far.
    operators: usize,
}

impl Parser {
    /// Reads all; returns the place of the head.
    fn function(&mut self) -> Result<Span> {
        let start = self.tokens.expect("fn")?;
        let (name, span) = self.tokens.name("the name of the function")?;
        self.function.name = name;
        self.tokens.expect("(")?;
        while !self.tokens.at(")") {
            self.argument()?;
            if !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect(")")?;
        let body_start = self.tokens.peek().span.start;
        while self.comments.last().is_some_and(|(at, _)| *at < body_start) {
            self.comments.pop();
        }
        self.function.body = self.block()?;
        self.tokens.expect_end()?;
        Ok(start.to(span))
    }

    fn argument(&mut self) -> Result<()> {
        let role = if self.tokens.eat("in") {
            Role::In
        } else if self.tokens.eat("out") {
            Role::Out
        } else {
            return Err(self.tokens.unexpected("`in`, `out` or `)`"));
        };
        let (name, _) = self.tokens.name("the name of an argument")?;
        let doc = self.tokens.peek();
        if doc.kind != Kind::Text {
            return Err(self.tokens.unexpected("the format in quotes"));
        }
        self.tokens.take();
        let doc = self.tokens.text(doc).trim_matches('"').to_owned();
        let mut argument = Argument {
            name,
            role,
            doc,
            extents: Vec::new(),
            buffers: Vec::new(),
        };
        self.tokens.expect("{")?;
        while !self.tokens.at("}") {
            self.part(&mut argument)?;
            if !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect("}")?;
        self.function.arguments.push(argument);
        Ok(())
    }

    fn part(&mut self, argument: &mut Argument) -> Result<()> {
        if self.tokens.eat("extent") {
            let var = self.declare_var("an extent", false, |_| Ok(ElementType::I64))?;
            argument.extents.push(var);
            return Ok(());
        }
        let access = if self.tokens.eat("read") {
            Access::Read
        } else if self.tokens.eat("write") {
            Access::Write
        } else if self.tokens.eat("grow") {
            Access::Grow
        } else {
            return Err(self
                .tokens
                .unexpected("`extent`, `read`, `write` or `grow`"));
        };
        let (name, span) = self.new_name("a buffer")?;
        self.tokens.expect(":")?;
        let compute = self.element()?;
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
        argument.buffers.push(buffer);
        Ok(())
    }

    fn element(&mut self) -> Result<ElementType> {
        let token = self.tokens.peek();
        let Some(element) = ElementType::parse(self.tokens.text(token)) else {
            let names: Vec<String> = ElementType::ALL.map(|ty| format!("`{ty}`")).into();
            return Err(self
                .tokens
                .unexpected(&format!("a type: {}", names.join(", "))));
        };
        self.tokens.take();
        Ok(element)
    }

    /// Takes a name that nothing has yet.
    fn new_name(&mut self, what: &str) -> Result<(String, Span)> {
        let (name, span) = self.tokens.name(what)?;
        let source = self.tokens.source();
        if let Some(first) = self.names.get(&name) {
            return Err(Diagnostic::new(
                code::LOOP_DUPLICATE_NAME,
                format!("`{name}` is declared twice"),
            )
            .at(source, span, "declared again")
            .also(source, first.span, "declared first")
            .help("choose another name for one of them"));
        }
        if is_reserved(&name) || !is_name(&name) {
            return Err(
                Diagnostic::new(code::LOOP_NAME, format!("`{name}` cannot be a name"))
                    .at(source, span, "a word of the language")
                    .help(format!("choose another name, such as `{name}_1`")),
            );
        }
        Ok((name, span))
    }

    /// Makes a name visible until the end of the current block.
    fn enter(&mut self, name: String, span: Span, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.clone());
        }
        self.names.insert(
            name,
            Name {
                entity,
                span,
                visible: true,
            },
        );
    }

    /// Takes a new variable's name, then lets `rest` read its type, after which
    /// the name is known.
    fn declare_var(
        &mut self,
        what: &str,
        mutable: bool,
        rest: impl FnOnce(&mut Self) -> Result<ElementType>,
    ) -> Result<Var> {
        let (name, span) = self.new_name(what)?;
        let element = rest(self)?;
        let var = self.function.vars.push(VarData {
            name: name.clone(),
            element,
            mutable,
        });
        self.enter(name, span, Entity::Var(var));
        Ok(var)
    }

    /// Takes a name that is declared and visible.
    fn known(&mut self, what: &str) -> Result<(Entity, Span)> {
        let (name, span) = self.tokens.name(what)?;
        let source = self.tokens.source();
        let unknown = |label: &str| {
            Diagnostic::new(
                code::LOOP_UNKNOWN_NAME,
                format!("`{name}` is not declared here"),
            )
            .at(source, span, label)
        };
        match self.names.get(&name) {
            Some(known) if known.visible => Ok((known.entity, span)),
            Some(hidden) => Err(unknown("no longer visible")
                .also(source, hidden.span, "declared in a block that has ended")
                .help("declare it in a block that holds this use")),
            None => Err(unknown("unknown name").help(format!("declare {what} before its use"))),
        }
    }

    fn buffer(&mut self) -> Result<Buffer> {
        match self.known("a buffer")? {
            (Entity::Buffer(buffer), _) => Ok(buffer),
            (Entity::Var(_), span) => Err(self.misused(span, "a variable", "a buffer")),
        }
    }

    fn misused(&self, span: Span, is: &str, wanted: &str) -> Diagnostic {
        let source = self.tokens.source();
        let name = source.slice(span);
        Diagnostic::new(code::LOOP_TYPE, format!("`{name}` is {is}, not {wanted}")).at(
            source,
            span,
            format!("{wanted} is needed"),
        )
    }
}
