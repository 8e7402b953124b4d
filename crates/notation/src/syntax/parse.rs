//! Reading index notation; the grammar stands in [`super`].

use sparsec_base::lex::Tokens;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_index::is_reserved;
use sparsec_index::operator::assignment_symbol;
use sparsec_index::{Operator, UserFunction};

mod advice;
mod expr;
mod index;
mod indirect;
mod left_side;

use super::{Assignment, Notation, TensorUse, Word};

/// Symbols of more than one character, those of formats in schedules included.
/// `;` is here because it separates statements, rather than beginning a comment.
const SYMBOLS: &[&str] = &["//", "==", "!=", "<=", ">=", "+=", "*=", ";", "->"];

/// A cursor over notation. Crate `schedule` reads the expressions inside of schedules and
/// of concrete notation with it.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Where it is.
    pub tokens: Tokens,
    /// How many parentheses are open: a newline inside them is a blank.
    open: usize,
    /// How many parts the statement has so far.
    parts: usize,
    /// How many expressions the one at hand is inside of.
    nested: usize,
    /// The functions of the user that are defined so far.
    pub functions: Vec<UserFunction>,
    /// The name of the function whose body is read.
    pub(crate) defining: Option<String>,
    /// The index variables of the left side and of the reductions around the current token.
    bound: Vec<String>,
}

impl Notation {
    /// Reads a program.
    ///
    /// # Errors
    /// * `E0101` to `E0103` where the text does not follow the grammar;
    /// * `E0212` for functions that there are not, `E0214` to `E0216` for
    ///   indices;
    /// * `E0213`, `E0217`, `E0220`, `E0221` as [`code`](mod@code) explains.
    pub fn parse(source: &Source) -> Result<Self> {
        Self::parse_with(source, &[])
    }

    /// As [`parse`](Self::parse); the program may call `functions` beside those
    /// that it defines.
    ///
    /// # Errors
    /// As of [`parse`](Self::parse).
    pub fn parse_with(source: &Source, functions: &[UserFunction]) -> Result<Self> {
        let mut parser = Parser::new(source, SYMBOLS)?.knowing(functions);
        let mut statements = Vec::new();
        loop {
            while parser.tokens.eat(";") {}
            parser.definitions()?;
            if parser.tokens.at_end() && !statements.is_empty() {
                break;
            }
            let continued = !statements.is_empty() && parser.infix(0).is_some();
            parser.start_statement();
            let start = parser.tokens.position();
            let statement = parser.assignment().map_err(|error| match continued {
                true => error.help("a newline ends a statement unless parentheses are open"),
                false => parser
                    .without_left_side(start)
                    .unwrap_or(error)
                    .or_help("a statement is written like `y(i) = A(i,j) * x(j)`"),
            });
            let mut statement = statement?;
            statement.find_index_values();
            statements.push(statement);
            if !parser.at_statement_end() {
                return Err(parser.expected_operator());
            }
        }
        Ok(Self {
            source: source.clone(),
            statements,
        })
    }
}

impl Parser {
    /// A cursor at the beginning of `source`; `symbols` holds at least those of
    /// expressions.
    pub fn new(source: &Source, symbols: &[&str]) -> Result<Self> {
        Ok(Self {
            tokens: Tokens::new(source, symbols)?,
            open: 0,
            parts: 0,
            nested: 0,
            functions: Vec::new(),
            defining: None,
            bound: Vec::new(),
        })
    }

    /// A cursor in a language where newlines mean nothing.
    pub fn inside(source: &Source) -> Result<Self> {
        let mut parser = Self::new(source, SYMBOLS)?;
        parser.open = 1;
        Ok(parser)
    }

    /// The same, which knows these functions of the user.
    pub fn knowing(mut self, functions: &[UserFunction]) -> Self {
        self.functions = functions.to_vec();
        self
    }

    /// Counts parts anew.
    pub fn start_statement(&mut self) {
        self.parts = 0;
    }

    /// A cursor where the statement at hand begins, outside of all parentheses.
    fn restarted(&self, start: usize) -> Self {
        let mut restarted = self.clone();
        restarted.tokens.go_back(start);
        (restarted.open, restarted.parts, restarted.nested) = (0, 0, 0);
        restarted
    }

    /// An error at `span`.
    fn error(
        &self,
        code: code::Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, message).at(self.tokens.source(), span, label)
    }

    fn at_statement_end(&self) -> bool {
        let next = self.tokens.peek();
        self.tokens.at_end() || self.tokens.at(";") || (self.open == 0 && next.starts_line)
    }

    /// `access op= expr`
    pub fn assignment(&mut self) -> Result<Assignment> {
        let lhs = self.tensor("a tensor to assign")?;
        let op = self.assignment_op();
        let op = op.map_err(|error| match self.after_arrow(&lhs) {
            Some(statement) => error.help(format!("the result is on the left: `{statement}`")),
            None => error,
        })?;
        self.bound.clear();
        for index in &lhs.indices {
            index.for_each_var(&mut |var| self.bound.push(var.text.clone()));
        }
        let rhs = self.expr()?;
        Ok(Assignment {
            span: lhs.span.to(rhs.span),
            lhs,
            op,
            rhs,
        })
    }

    /// `=` or `op=`; the second may be a word and a symbol, as in `min=`.
    fn assignment_op(&mut self) -> Result<Option<Operator>> {
        if self.tokens.eat("=") {
            return Ok(None);
        }
        let defined = self.functions.iter().cloned().map(Operator::Defined);
        for op in Operator::REDUCTIONS.into_iter().chain(defined) {
            if self.tokens.eat(&assignment_symbol(&op)) {
                return Ok(Some(op));
            }
            if self.tokens.at(op.symbol()) && self.tokens.at_nth(1, "=") {
                let word = self.tokens.take();
                self.tokens.take();
                self.check_reduces(&op, word.span)?;
                return Ok(Some(op));
            }
        }
        let error = self.tokens.unexpected("`=`");
        Err(error.help(match () {
            () if self.tokens.at(",") || self.tokens.at("->") => {
                "einsum's `ij,j->i` is written `y(i) = A(i,j) * x(j)`"
            }
            () if self.tokens.at("-") => "what is taken away is added: `y(i) += -x(i)`",
            () if self.tokens.at("/") => "dividing is multiplying: `y(i) *= 1 / x(i)`",
            () => "these assign: `= += *= min= max= or= and= bitor= bitand= bitxor=`",
        }))
    }

    /// The statement that `A(i,j), x(j) -> y(i)` means, whose first tensor was taken.
    fn after_arrow(&self, first: &TensorUse) -> Option<String> {
        let mut parser = self.clone();
        let mut operands = vec![first.clone()];
        while parser.tokens.eat(",") {
            operands.push(parser.tensor("a tensor").ok()?);
        }
        parser.tokens.expect("->").ok()?;
        let is_over = parser.at_statement_end();
        let result = (!is_over).then(|| parser.tensor("a tensor"));
        let result = result.transpose().ok()?;
        if !parser.at_statement_end() {
            return None;
        }
        let text = |used: &TensorUse| self.tokens.source().slice(used.span).to_owned();
        if operands.iter().any(|used| used.indices.is_empty()) {
            let letters = |used: &TensorUse| used.indices.is_empty().then(|| text(used));
            let operands: Option<Vec<String>> = operands.iter().map(letters).collect();
            let result = result.as_ref().map_or(Some(String::new()), letters);
            return advice::einsum(&operands?, &result?);
        }
        let operands: Vec<String> = operands.iter().map(text).collect();
        Some(format!(
            "{} = {}",
            text(result.as_ref()?),
            operands.join(" * ")
        ))
    }

    /// A tensor with plain index variables.
    pub fn tensor(&mut self, what: &str) -> Result<TensorUse> {
        let name = self.word(what)?;
        self.indices(name)
    }

    /// The indices behind the name of a tensor, if there are any.
    fn indices(&mut self, name: Word) -> Result<TensorUse> {
        let mut indices = Vec::new();
        let mut span = name.span;
        if let Some(close) = self.open_list() {
            if self.defining.as_ref() == Some(&name.text) {
                return Err(self.calls_itself(&name));
            }
            while !self.tokens.at(close) {
                indices.push(self.index(&name)?);
                if !self.tokens.eat(",") {
                    break;
                }
            }
            span = span.to(self.close(close)?);
        }
        Ok(TensorUse {
            name,
            indices,
            span,
        })
    }

    /// Opens a list of indices and gives what closes it.
    fn open_list(&mut self) -> Option<&'static str> {
        if self.at_statement_end() {
            return None;
        }
        let close = match () {
            () if self.tokens.eat("(") => ")",
            () if self.tokens.eat("[") => "]",
            () => return None,
        };
        self.open += 1;
        Some(close)
    }

    /// Closes a list.
    fn close(&mut self, close: &str) -> Result<Span> {
        if !self.tokens.at(close) {
            return Err(self.expected_close(close));
        }
        self.open -= 1;
        self.tokens.expect(close)
    }

    fn calls_itself(&self, name: &Word) -> Diagnostic {
        let message = format!("`{}` calls itself", name.text);
        let label = "not defined before its body ends";
        self.error(code::FUNCTION_BODY, message, name.span, label)
            .help("a body calls only functions defined before it: write out the steps, or reduce over an index where the function is called")
    }

    fn unknown_function(&self, name: &Word) -> Diagnostic {
        let text = &name.text;
        let error = self.error(
            code::UNKNOWN_FUNCTION,
            format!("unknown function `{text}`"),
            name.span,
            "no function has this name",
        );
        if !ElementType::elsewhere(text).is_empty() {
            return error.help(ElementType::advice(text));
        }
        let types = ElementType::ALL.map(ElementType::name);
        let reductions = self.reduction_names();
        let known = self.function_names().chain(types).chain(reductions);
        match closest(text, known) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!(
                "`sparsec explain E0212` lists the functions; the indices of a tensor are made of variables and numbers, as in `{text}(2*i + 1)`"
            )),
        }
    }

    /// A name that has no meaning of its own.
    pub fn word(&mut self, what: &str) -> Result<Word> {
        let (text, span) = self.tokens.name(what)?;
        let why = if is_reserved(&text) {
            "has a meaning of its own"
        } else if text.contains('.') {
            "has a point in it"
        } else {
            return Ok(Word { text, span });
        };
        let message = format!("`{text}` cannot be the name of {what}");
        let error = self.error(code::INVALID_NAME, message, span, why);
        // NumPy's transpose.
        Err(match text.strip_suffix(".T") {
            Some(matrix) => error.help(format!(
                "a transpose names its indices the other way round: `{matrix}(j,i)`"
            )),
            None => error.help("choose another name"),
        })
    }
}
