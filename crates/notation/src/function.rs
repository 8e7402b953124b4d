//! Reading definitions of functions.
//!
//! ```text
//! definition := NAME "(" parameter { "," parameter } ")" "=" expr [ ":" property { "," property } ]
//! parameter  := NAME [ ":" TYPE ]
//! property   := "commutative" | "associative" | "idempotent" | "identity" NUMBER
//!             | "annihilator" NUMBER [ "at" NAME ]
//! ```
//!
//! The body is an expression over the parameters, which stand in it without
//! indices; it may call functions defined before.

use std::fmt;
use std::sync::Arc;

use sparsec_base::lex::Kind;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_index::function::{Definition, FunctionBody, MOST_CALLS, Parameter, Properties};
use sparsec_index::typing::Typer;
use sparsec_index::{Access, Expr, Operator, Tensors, UserFunction};

use crate::syntax::{Node, NodeKind, Parser, TensorUse, Word};
use crate::typed::typed;

const PROPERTIES: [&str; 5] = [
    "commutative",
    "associative",
    "idempotent",
    "identity",
    "annihilator",
];

/// Reads `NAME(PARAMETER, …) = BODY` with, behind a `:`, properties.
///
/// # Errors
/// `E0101` to `E0103` where the text does not follow the grammar, `E0240` to
/// `E0243` as [`code`](mod@code) explains.
pub fn parse_function(text: &str) -> Result<UserFunction> {
    parse_function_with(&Source::new("definition", text), &[])
}

/// As [`parse_function`], from a text that has a name for diagnostics; the body may
/// call `functions`.
///
/// # Errors
/// As of [`parse_function`].
pub fn parse_function_with(source: &Source, functions: &[UserFunction]) -> Result<UserFunction> {
    let mut parser = Parser::inside(source)?.knowing(functions);
    let function = parser.definition()?;
    parser.tokens.expect_end().map_err(|error| {
        error.help("behind the body come only properties: `least(a, b) = min(a, b) : associative`")
    })?;
    Ok(function)
}

/// The body of a function as it is written: an expression over the parameters.
#[derive(Debug)]
struct Body {
    node: Node,
    source: Source,
}

impl FunctionBody for Body {
    fn typed(&self, parameters: &Tensors) -> Result<Expr> {
        let typer = Typer {
            source: &self.source,
            tensors: parameters,
        };
        let value = typed(&typer, &self.node, &|leaf| {
            let NodeKind::Access(parameter) = leaf else {
                unreachable!("a body has no index variables");
            };
            let found = parameters.named(&parameter.name.text);
            Ok(Expr::Access(Access {
                tensor: found.expect("a body has only parameters"),
                indices: Vec::new(),
                span: parameter.span,
            }))
        })?;
        Ok(value.expr)
    }

    fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction)) {
        self.node.for_each_function(visit);
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}

impl Parser {
    /// Reads `def` and a definition wherever they stand, and knows the function
    /// from there on.
    pub fn definitions(&mut self) -> Result<()> {
        while self.tokens.at("def") && self.tokens.peek_at(1).kind == Kind::Name {
            self.tokens.take();
            self.start_statement();
            let function = self.definition()?;
            if !self.functions.contains(&function) {
                self.functions.push(function);
            }
            while self.tokens.eat(";") {}
        }
        Ok(())
    }

    /// A definition, without `def`.
    pub(crate) fn definition(&mut self) -> Result<UserFunction> {
        self.defined().map_err(|error| {
            error.or_help(
                "a definition is written like `least(a, b) = min(a, b) : associative, commutative`",
            )
        })
    }

    fn defined(&mut self) -> Result<UserFunction> {
        let name = self.word("a function")?;
        self.check_name(&name)?;
        let parameters = self.parameters()?;
        self.tokens.expect("=")?;
        self.defining = Some(name.text.clone());
        let body = self.expr()?;
        self.defining = None;
        check_body(self.tokens.source(), &body, &parameters)?;
        self.check_calls(&name, &body)?;
        let properties = match self.tokens.eat(":") {
            true => self.properties(&parameters)?,
            false => Properties::default(),
        };
        let function = UserFunction::of(Definition {
            name: name.text.clone(),
            parameters,
            body: Arc::new(Body {
                node: body,
                source: self.tokens.source().clone(),
            }),
            properties,
            source: self.tokens.source().clone(),
            span: name.span,
        });
        let known = self
            .functions
            .iter()
            .find(|known| known.name() == name.text);
        match known {
            Some(known) if *known != function => {
                Err(self.taken(&name, "a function that is defined already"))
            }
            // Said twice is said once.
            Some(_) => Ok(function),
            None => function.check().map(|()| function),
        }
    }

    /// Refuses a chain of calls so long that passes over it would overflow the stack.
    fn check_calls(&self, name: &Word, body: &Node) -> Result<()> {
        let mut most = 0;
        body.for_each_function(&mut |callee| most = most.max(callee.calls() + 1));
        if most <= MOST_CALLS {
            return Ok(());
        }
        let name_text = &name.text;
        let message =
            format!("`{name_text}` makes more than {MOST_CALLS} calls inside one another");
        Err(Diagnostic::new(code::STATEMENT_TOO_LARGE, message)
            .at(
                self.tokens.source(),
                name.span,
                "by the functions that it calls",
            )
            .help("write the bodies of some of them in place of the calls"))
    }

    fn check_name(&self, name: &Word) -> Result<()> {
        let text = name.text.as_str();
        let what = if Operator::function(text).is_some() {
            "a function"
        } else if Operator::reduction(text).is_some() {
            "a reduction"
        } else if ElementType::parse(text).is_some() {
            "a type"
        } else {
            return Ok(());
        };
        Err(self.taken(name, what))
    }

    fn taken(&self, name: &Word, what: &str) -> Diagnostic {
        let message = format!("`{}` is the name of {what}", name.text);
        Diagnostic::new(code::FUNCTION_NAME, message)
            .at(self.tokens.source(), name.span, "taken")
            .help("choose another name")
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>> {
        self.tokens.expect("(")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        loop {
            let Word { text: name, span } = self.word("a parameter")?;
            if parameters.iter().any(|known| known.name == name) {
                let message = format!("two parameters have the name `{name}`");
                return Err(Diagnostic::new(code::FUNCTION_BODY, message)
                    .at(self.tokens.source(), span, "the second")
                    .help("choose another name"));
            }
            let element = match self.tokens.eat(":") {
                true => Some(self.element()?),
                false => None,
            };
            parameters.push(Parameter { name, element });
            if !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect(")")?;
        Ok(parameters)
    }

    fn element(&mut self) -> Result<ElementType> {
        let token = self.tokens.peek();
        let name = self.tokens.text(token);
        let element = ElementType::parse(name).ok_or_else(|| {
            self.tokens
                .unexpected("a type, such as `f64`")
                .help(ElementType::advice(name))
        })?;
        self.tokens.take();
        Ok(element)
    }

    fn properties(&mut self, parameters: &[Parameter]) -> Result<Properties> {
        let mut properties = Properties::default();
        loop {
            let (name, span) = self.tokens.name("a property")?;
            let binary = |holds: &mut bool| {
                *holds = true;
                parameters.len() == 2
            };
            let fits = match name.as_str() {
                "commutative" => binary(&mut properties.commutative),
                "associative" => binary(&mut properties.associative),
                "idempotent" => binary(&mut properties.idempotent),
                "identity" => {
                    properties.identity = Some(self.constant()?);
                    parameters.len() == 2
                }
                "annihilator" => {
                    let value = self.constant()?;
                    let at = match self.tokens.eat("at") {
                        true => Some(self.parameter(parameters)?),
                        false => None,
                    };
                    properties.annihilators.push((value, at));
                    true
                }
                _ => return Err(self.unknown_property(&name, span)),
            };
            if !fits {
                let message = format!("`{name}` is a property of functions of two arguments");
                return Err(Diagnostic::new(code::FUNCTION_PROPERTY, message)
                    .at(
                        self.tokens.source(),
                        span,
                        format!("this one has {}", parameters.len()),
                    )
                    .help("leave the property out"));
            }
            if !self.tokens.eat(",") {
                return Ok(properties);
            }
        }
    }

    fn constant(&mut self) -> Result<Scalar> {
        let negative = self.tokens.eat("-");
        match self.number(negative)?.map(|node| node.kind) {
            Some(NodeKind::Number(number)) => Ok(number.value()),
            _ => Err(self.tokens.unexpected("a number")),
        }
    }

    fn parameter(&mut self, parameters: &[Parameter]) -> Result<usize> {
        let name = self.word("a parameter")?;
        let found = parameters.iter().position(|known| known.name == name.text);
        found.ok_or_else(|| {
            unknown_parameter(self.tokens.source(), &name.text, name.span, parameters)
        })
    }

    fn unknown_property(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::new(
            code::FUNCTION_PROPERTY,
            format!("unknown property `{name}`"),
        )
        .at(self.tokens.source(), span, "no property has this name");
        match closest(name, PROPERTIES) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!("these are: `{}`", PROPERTIES.join("`, `"))),
        }
    }
}

/// A body is made of parameters without indices, numbers, operators and calls.
fn check_body(source: &Source, body: &Node, parameters: &[Parameter]) -> Result<()> {
    match &body.kind {
        NodeKind::Number(_) => Ok(()),
        NodeKind::Access(tensor) => check_parameter(source, tensor, parameters),
        NodeKind::Apply { args, .. } => args
            .iter()
            .try_for_each(|arg| check_body(source, arg, parameters)),
        NodeKind::Cast(_, inner) => check_body(source, inner, parameters),
        _ => {
            let message = "the body of a function has no index variables";
            Err(Diagnostic::new(code::FUNCTION_BODY, message)
                .at(source, body.span, "runs over an index variable")
                .help("reduce where the function is called"))
        }
    }
}

fn check_parameter(source: &Source, tensor: &TensorUse, parameters: &[Parameter]) -> Result<()> {
    let name = &tensor.name.text;
    if !parameters.iter().any(|known| known.name == *name) {
        return Err(unknown_parameter(
            source,
            name,
            tensor.name.span,
            parameters,
        ));
    }
    if tensor.indices.is_empty() {
        return Ok(());
    }
    let message = format!("the parameter `{name}` is one value and has no indices");
    Err(Diagnostic::new(code::FUNCTION_BODY, message)
        .at(source, tensor.span, "has indices")
        .help(format!("write `{name}`")))
}

fn unknown_parameter(
    source: &Source,
    name: &str,
    span: Span,
    parameters: &[Parameter],
) -> Diagnostic {
    let names = parameters.iter().map(|parameter| parameter.name.as_str());
    let error = Diagnostic::new(
        code::FUNCTION_BODY,
        format!("the function has no parameter `{name}`"),
    )
    .at(source, span, "a function sees only its parameters");
    match closest(name, names) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error.help(format!("pass it: make `{name}` a parameter")),
    }
}
