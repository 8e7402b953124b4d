//! Reading expressions: operators by how tightly they bind.

use sparsec_base::lex::{Kind, Token, finite};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Span, code};
use sparsec_index::expr::MOST_PARTS;
use sparsec_index::operator::Style;
use sparsec_index::{Operator, UserFunction};

use super::super::{Node, NodeKind, Number, Place, Word};
use super::Parser;

/// How deep expressions may be inside one another. A level takes several
/// frames of the stack while it is read.
const MOST_NESTED: usize = 100;

impl Parser {
    /// An expression.
    pub fn expr(&mut self) -> Result<Node> {
        self.nested(0)
    }

    /// An expression inside another one, of operators that bind at least `least`.
    fn nested(&mut self, least: u8) -> Result<Node> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            let span = self.tokens.peek().span;
            let message = format!("expressions more than {MOST_NESTED} deep inside one another");
            return Err(self
                .error(code::STATEMENT_TOO_LARGE, message, span, "too deep")
                .help("give parts of it names, in statements of their own"));
        }
        let node = self.binary(least)?;
        self.nested -= 1;
        Ok(node)
    }

    /// Counts a part of the statement.
    pub fn count(&mut self, span: Span) -> Result<()> {
        self.parts += 1;
        if self.parts <= MOST_PARTS {
            return Ok(());
        }
        let message = format!("a statement with more than {MOST_PARTS} operators and parentheses");
        Err(self
            .error(code::STATEMENT_TOO_LARGE, message, span, "one too many")
            .help("give parts of it names, in statements of their own"))
    }

    /// An expression of operators that bind at least `least`.
    fn binary(&mut self, least: u8) -> Result<Node> {
        let mut left = self.prefix(least)?;
        let mut compared = false;
        while !self.at_statement_end()
            && let Some((op, binds)) = self.infix(least)
        {
            let token = self.tokens.take();
            self.count(token.span)?;
            if op.is_comparison() && compared {
                return Err(self.chained(token));
            }
            compared |= op.is_comparison();
            let right = self.binary(binds + 1)?;
            left = apply(op, token.span, vec![left, right]);
        }
        Ok(left)
    }

    /// The operator at hand, if it binds at least `least`.
    pub(super) fn infix(&self, least: u8) -> Option<(Operator, u8)> {
        let token = self.tokens.peek();
        if !matches!(token.kind, Kind::Name | Kind::Symbol) {
            return None;
        }
        let op = Operator::infix(self.tokens.text(token))?;
        match op.style() {
            Style::Infix(binds) if binds >= least => Some((op, binds)),
            _ => None,
        }
    }

    fn chained(&self, token: Token) -> Diagnostic {
        self.error(
            code::CHAINED_COMPARISON,
            "comparisons do not chain",
            token.span,
            "compares a truth value",
        )
        .help("write `a < b and b < c`")
    }

    fn prefix(&mut self, least: u8) -> Result<Node> {
        let token = self.tokens.peek();
        let reduces = self.tokens.at_nth(1, "{");
        let op = match () {
            () if self.tokens.at("-") => Operator::Neg,
            () if self.tokens.at("not") && !reduces => Operator::Not,
            () => return self.atom(),
        };
        self.tokens.take();
        self.count(token.span)?;
        let Style::Prefix(binds) = op.style() else {
            unreachable!("both are prefix operators");
        };
        if op == Operator::Neg
            && let Some(number) = self.number(true)?
        {
            return Ok(Node {
                span: token.span.to(number.span),
                ..number
            });
        }
        if binds < least {
            let error = Diagnostic::new(
                code::UNEXPECTED_TOKEN,
                "`not` binds less than what is before it",
            );
            return Err(error
                .at(self.tokens.source(), token.span, "expected `(`")
                .help("put parentheses around it"));
        }
        let arg = self.nested(binds)?;
        Ok(apply(op, token.span, vec![arg]))
    }

    /// A number, negative if it stands behind a minus.
    pub(crate) fn number(&mut self, negative: bool) -> Result<Option<Node>> {
        let token = self.tokens.peek();
        let text = self.tokens.text(token).to_owned();
        let alone = !(self.tokens.at_nth(1, "(") || self.tokens.at_nth(1, "["));
        let sign = if negative { "-" } else { "" };
        let infinity = if negative {
            -f64::INFINITY
        } else {
            f64::INFINITY
        };
        let number = match (token.kind, text.as_str()) {
            (Kind::Integer, _) => match format!("{sign}{text}").parse::<i128>() {
                Ok(value) if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() => {
                    Number::Integer(value)
                }
                _ => {
                    let message = format!("`{sign}{text}` does not fit in 64 bits");
                    return Err(self
                        .error(code::BAD_NUMBER, message, token.span, "too large")
                        .help(format!("write `{text}.0` for a floating-point number")));
                }
            },
            (Kind::Float, _) => match finite(&format!("{sign}{text}")) {
                Some(value) => Number::Float(value),
                None => {
                    let message = format!("`{sign}{text}` does not fit in an f64");
                    return Err(self
                        .error(code::BAD_NUMBER, message, token.span, "too large")
                        .help("the largest is about 1.8e308; beyond it is `inf`"));
                }
            },
            (Kind::Name, "inf") if alone => Number::Float(infinity),
            (Kind::Name, "infj") if alone => Number::Imaginary(infinity),
            (Kind::Name, "nan") if alone && !negative => Number::Float(f64::NAN),
            (Kind::Name, "nanj") if alone && !negative => Number::Imaginary(f64::NAN),
            (Kind::Name, "true") if alone && !negative => Number::Bool(true),
            (Kind::Name, "false") if alone && !negative => Number::Bool(false),
            _ => return Ok(None),
        };
        self.tokens.take();
        let next = self.tokens.peek();
        if next.kind == Kind::Name && next.span.start == token.span.end {
            if let Some(imaginary) = self.imaginary(number, next) {
                self.tokens.take();
                return Ok(Some(Node {
                    kind: NodeKind::Number(imaginary),
                    span: token.span.to(next.span),
                }));
            }
            let letters = self.tokens.text(next);
            let message = format!("`{text}{letters}` is no number");
            return Err(self
                .error(code::BAD_NUMBER, message, token.span.to(next.span), "here")
                .help(format!(
                    "a product is `{text} * {letters}`, a type is given by `f32({text})`"
                )));
        }
        Ok(Some(Node {
            kind: NodeKind::Number(number),
            span: token.span,
        }))
    }

    /// The number as an imaginary one, if a `j` stands behind it.
    fn imaginary(&self, number: Number, suffix: Token) -> Option<Number> {
        match number {
            Number::Integer(value) if self.tokens.text(suffix) == "j" => {
                Some(Number::Imaginary(value as f64))
            }
            Number::Float(value) if self.tokens.text(suffix) == "j" => {
                Some(Number::Imaginary(value))
            }
            _ => None,
        }
    }

    fn atom(&mut self) -> Result<Node> {
        if let Some(number) = self.number(false)? {
            return Ok(number);
        }
        let token = self.tokens.peek();
        if self.tokens.at("(") {
            self.tokens.take();
            self.count(token.span)?;
            self.open += 1;
            let inner = self.expr()?;
            self.close_expr()?;
            return Ok(inner);
        }
        if token.kind != Kind::Name {
            return Err(self.expected_operand());
        }
        let text = self.tokens.text(token).to_owned();
        if self.tokens.at_nth(1, "{") {
            return self.reduce(&text);
        }
        if self.tokens.at_nth(1, "(") {
            if let Some(element) = ElementType::parse(&text) {
                return self.cast(element);
            }
            if let Some(op) = self.function(&text) {
                return self.call(op);
            }
            let name = text.strip_prefix(Operator::STORED).unwrap_or(&text);
            if Operator::reduction(name).is_some() {
                let message = format!("`{text}` needs the index variables that it runs over");
                return Err(self
                    .error(
                        code::UNEXPECTED_TOKEN,
                        message,
                        token.span,
                        "expected `{` behind this",
                    )
                    .help(match self.over_all_indices() {
                        Some((reduction, _)) => format!("write `{reduction}`"),
                        None => format!(
                            "write `{text}{{k}}(…)`, with an index variable `k` that is not on the left"
                        ),
                    }));
            }
        }
        if self.at_set() {
            let place = Word {
                text,
                span: token.span,
            };
            let index = self.index_atom(&place)?;
            return Ok(Node {
                span: index.span,
                kind: NodeKind::Index(index),
            });
        }
        let tensor = self.tensor("a tensor")?;
        Ok(Node {
            span: tensor.span,
            kind: NodeKind::Access(tensor),
        })
    }

    /// Whether a name with a set alone behind it is next: `i({4,1,7})`.
    fn at_set(&self) -> bool {
        let starts = self.tokens.at_nth(1, "(") && self.tokens.at_nth(2, "{");
        let is_inside = |n: &usize| {
            let is_end = self.tokens.peek_at(*n).kind == Kind::End;
            !is_end && !self.tokens.at_nth(*n, "}")
        };
        let close = (3..).find(|n| !is_inside(n));
        starts && close.is_some_and(|close| self.tokens.at_nth(close + 1, ")"))
    }

    /// `sum(A(i,j))`, which is next, as the reduction that it means, and the cursor behind
    /// it.
    pub(super) fn over_all_indices(&self) -> Option<(String, Self)> {
        if !self.tokens.at_nth(1, "(") {
            return None;
        }
        let name = self.tokens.text(self.tokens.peek());
        let mut parser = self.clone();
        let (_, args, _) = parser.arguments().ok()?;
        let text = self.over_indices(name, &args)?;
        Some((text, parser))
    }

    /// A reduction of the only argument over each index that nothing around it binds.
    fn over_indices(&self, name: &str, args: &[Node]) -> Option<String> {
        let plain = name.strip_prefix(Operator::STORED).unwrap_or(name);
        let ([body], Some(_)) = (args, Operator::reduction(plain)) else {
            return None;
        };
        let mut vars = super::left_side::variables(body);
        vars.retain(|var| !self.bound.contains(var));
        let body = self.tokens.source().slice(body.span);
        (!vars.is_empty()).then(|| format!("{name}{{{}}}({body})", vars.join(",")))
    }

    fn close_expr(&mut self) -> Result<Span> {
        if !self.tokens.at(")") {
            return Err(self.expected_close_of_group());
        }
        self.open -= 1;
        self.tokens.expect(")")
    }

    fn cast(&mut self, element: ElementType) -> Result<Node> {
        let (start, mut args, end) = self.arguments()?;
        if args.len() != 1 {
            return Err(self.argument_count(element.name(), 1, args.len(), start));
        }
        Ok(Node {
            kind: NodeKind::Cast(element, Box::new(args.remove(0))),
            span: start.to(end),
        })
    }

    fn call(&mut self, op: Operator) -> Result<Node> {
        let (start, args, end) = self.arguments()?;
        if args.len() != op.arity() {
            let error = self.argument_count(op.symbol(), op.arity(), args.len(), start);
            return Err(match self.over_indices(op.symbol(), &args) {
                Some(reduction) => error.help(format!("over indices it is `{reduction}`")),
                None => error,
            });
        }
        Ok(Node {
            kind: NodeKind::Apply {
                op,
                op_span: Place(start),
                args,
            },
            span: start.to(end),
        })
    }

    /// The function with this name, of the language or of the user.
    fn function(&self, name: &str) -> Option<Operator> {
        let defined = self.functions.iter().find(|known| known.name() == name);
        Operator::function(name).or_else(|| defined.cloned().map(Operator::Defined))
    }

    /// The names of all functions.
    pub(super) fn function_names(&self) -> impl Iterator<Item = &str> {
        let defined = self.functions.iter().map(UserFunction::name);
        Operator::functions().chain(defined)
    }

    /// The names of all reductions.
    pub(super) fn reduction_names(&self) -> impl Iterator<Item = &str> {
        let defined = self.functions.iter().filter(|function| function.reduces());
        Operator::reduction_names().chain(defined.map(UserFunction::name))
    }

    /// Refuses a function of the user that does not reduce.
    pub(super) fn check_reduces(&self, op: &Operator, span: Span) -> Result<()> {
        if op.reduction_name().is_some() {
            return Ok(());
        }
        let message = format!("`{}` does not reduce", op.symbol());
        Err(self
            .error(code::NO_REDUCTION, message, span, "used as a reduction")
            .help("a function of two arguments reduces that is declared `associative, commutative, identity V`"))
    }

    fn argument_count(&self, name: &str, takes: usize, has: usize, span: Span) -> Diagnostic {
        let plural = if takes == 1 { "" } else { "s" };
        self.error(
            code::ARGUMENT_COUNT,
            format!("`{name}` takes {takes} argument{plural}, here it has {has}"),
            span,
            format!("takes {takes} argument{plural}"),
        )
        .help(match (name, has) {
            ("min" | "max", 3..) => {
                format!("nest it: `{name}({name}(a, b), c)`; over an index, `{name}{{i}}(…)`")
            }
            _ => {
                let arguments = ["a", "b", "c", "d"].map(str::to_owned).into_iter();
                let arguments = arguments.chain((5..).map(|n| format!("a{n}")));
                let arguments: Vec<String> = arguments.take(takes).collect();
                format!("write `{name}({})`", arguments.join(", "))
            }
        })
    }

    /// A name and its arguments: the place of the name, they, the place of `)`.
    fn arguments(&mut self) -> Result<(Span, Vec<Node>, Span)> {
        let name = self.tokens.take().span;
        self.count(name)?;
        self.tokens.expect("(")?;
        self.open += 1;
        let mut args = Vec::new();
        while !self.tokens.at(")") {
            args.push(self.expr()?);
            if !self.tokens.eat(",") {
                break;
            }
        }
        let end = self.close(")")?;
        Ok((name, args, end))
    }

    fn reduce(&mut self, name: &str) -> Result<Node> {
        let start = self.tokens.peek().span;
        let named = |name: &str| {
            let defined = self.functions.iter().find(|known| known.name() == name);
            Operator::reduction(name).or(defined.cloned().map(Operator::Defined))
        };
        let all = named(name).map(|op| (op, false));
        let of_stored = || named(name.strip_prefix(Operator::STORED)?).map(|op| (op, true));
        let Some((op, stored)) = all.or_else(of_stored) else {
            let names: Vec<&str> = self.reduction_names().collect();
            let of_stored: Vec<String> = names
                .iter()
                .map(|name| format!("{}{name}", Operator::STORED))
                .collect();
            // The closest name would be another function: `min` for `sin`.
            if let Some(function) = self.function(name) {
                let message = format!("`{name}` is a function, and does not reduce");
                let arguments = vec!["x(j)"; function.arity()].join(", ");
                return Err(self
                    .error(code::NO_REDUCTION, message, start, "used as a reduction")
                    .help(format!(
                        "put it inside of a reduction, as in `sum{{j}}({name}({arguments}))`"
                    )));
            }
            let error = self.error(
                code::UNKNOWN_FUNCTION,
                format!("unknown reduction `{name}`"),
                start,
                "no reduction has this name",
            );
            let known = names.iter().copied();
            return Err(
                match closest(name, known.chain(of_stored.iter().map(String::as_str))) {
                    Some(meant) => error.help(format!("did you mean `{meant}`?")),
                    None => error.help(format!(
                        "the reductions are `{}`; `{}sum` and the like reduce stored entries alone",
                        names.join(" "),
                        Operator::STORED,
                    )),
                },
            );
        };
        self.check_reduces(&op, start)?;
        self.tokens.take();
        self.count(start)?;
        self.tokens.expect("{")?;
        self.open += 1;
        let summed = |parse: &mut Self| {
            let var = parse.word("an index variable");
            var.map_err(|error| {
                error.help(format!(
                    "name the variables that it goes over: `{name}{{j}}(…)`"
                ))
            })
        };
        let mut vars = vec![summed(self)?];
        while self.tokens.eat(",") {
            vars.push(summed(self)?);
        }
        self.close("}")?;
        let n_bound = self.bound.len();
        self.bound.extend(vars.iter().map(|var| var.text.clone()));
        self.tokens
            .expect("(")
            .map_err(|error| error.help(format!("write `{name}{{…}}(…)`")))?;
        self.open += 1;
        let body = self.expr()?;
        let end = self.close_expr()?;
        self.bound.truncate(n_bound);
        Ok(Node {
            kind: NodeKind::Reduce {
                op,
                stored,
                vars,
                body: Box::new(body),
            },
            span: start.to(end),
        })
    }
}

fn apply(op: Operator, op_span: Span, args: Vec<Node>) -> Node {
    let span = args.iter().fold(op_span, |span, arg| span.to(arg.span));
    Node {
        kind: NodeKind::Apply {
            op,
            op_span: Place(op_span),
            args,
        },
        span,
    }
}
