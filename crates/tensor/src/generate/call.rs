//! The text of a generator: `name(argument = value, …)`.
//!
//! A [`Call`] holds the arguments until the generator asks for them; what is
//! left over at the end was of no use, and is refused.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};

use super::Values;

/// A generator, as a text names it.
struct Generator {
    name: &'static str,
    /// The arguments that it knows.
    arguments: &'static [&'static str],
    /// A call that works for every element type.
    example: &'static str,
}

const fn generator(
    name: &'static str,
    arguments: &'static [&'static str],
    example: &'static str,
) -> Generator {
    Generator {
        name,
        arguments,
        example,
    }
}

const GENERATORS: [Generator; 8] = [
    generator("dense:zeros", &[], "dense:zeros"),
    generator("dense:ones", &[], "dense:ones"),
    generator("dense:constant", &["value"], "dense:constant(2)"),
    generator("dense:iota", &[], "dense:iota"),
    generator(
        "dense:uniform",
        &["seed", "values"],
        "dense:uniform(seed=7, values=int)",
    ),
    generator(
        "random",
        &["density", "nnz", "seed", "values"],
        "random(density=0.01)",
    ),
    generator("band", &["width", "seed", "values"], "band(width=5)"),
    generator("identity", &[], "identity"),
];

/// What `values=` may be.
const VALUES: [&str; 3] = ["uniform", "int", "ones"];

/// A generator's name and arguments, as they stand in the text.
pub(super) struct Call {
    source: Source,
    pub(super) name: String,
    pub(super) name_span: Span,
    arguments: Vec<Argument>,
}

struct Argument {
    name: String,
    name_span: Span,
    /// The text of the value, with its sign.
    value: String,
    value_span: Span,
}

impl Call {
    pub(super) fn parse(source: &Source) -> Result<Self> {
        Self::read(source)
            .map_err(|error| error.or_help("write it like `dense:uniform(seed=1)` or `dense:ones`"))
    }

    fn read(source: &Source) -> Result<Self> {
        let mut tokens = Tokens::new(source, &[])?;
        let (mut name, mut name_span) = tokens.name("a generator, such as `dense:ones`")?;
        if tokens.eat(":") {
            let (rest, span) = tokens.name("what to fill with, such as `ones`")?;
            name = format!("{name}:{rest}");
            name_span = name_span.to(span);
        }
        let Some(generator) = GENERATORS.iter().find(|known| known.name == name) else {
            return Err(unknown(source, &name, name_span, tokens.at("(")));
        };
        let known = generator.arguments;
        let mut arguments = Vec::new();
        if tokens.eat("(") {
            while !tokens.eat(")") {
                if !arguments.is_empty() {
                    tokens.expect(",")?;
                }
                arguments.push(Argument::parse(&mut tokens, known).map_err(|error| {
                    error.help(format!("write for example `{}`", generator.example))
                })?);
            }
        }
        if !tokens.at_end() {
            return Err(tokens.unexpected("the end of the generator"));
        }
        let call = Self {
            source: source.clone(),
            name,
            name_span,
            arguments,
        };
        call.check_names(known)?;
        Ok(call)
    }

    fn check_names(&self, known: &[&str]) -> Result<()> {
        for (n, argument) in self.arguments.iter().enumerate() {
            if !known.contains(&argument.name.as_str()) {
                let fault = self.fault(argument.name_span, "is no argument of this generator");
                return Err(match closest(&argument.name, known.iter().copied()) {
                    Some(close) => fault.help(format!("did you mean `{close}`?")),
                    None if known.is_empty() => fault.help("it takes no arguments"),
                    None => fault.help(format!("it takes {}", known.join(", "))),
                });
            }
            if self.arguments[..n].iter().any(|a| a.name == argument.name) {
                return Err(self.fault(argument.name_span, "is given twice"));
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Option<Argument> {
        let place = self.arguments.iter().position(|a| a.name == name)?;
        Some(self.arguments.remove(place))
    }

    /// Refuses arguments that nobody took.
    pub(super) fn finish(&self) -> Result<()> {
        match self.arguments.first() {
            None => Ok(()),
            Some(left) => Err(self.fault(left.name_span, "makes no difference here")),
        }
    }

    pub(super) fn fault(&self, span: Span, text: impl Into<String>) -> Diagnostic {
        Diagnostic::new(
            code::BAD_GENERATOR_ARGUMENT,
            format!("generator `{}` cannot be used like this", self.name),
        )
        .at(&self.source, span, text)
        .help(self.usage())
    }

    /// How the generator is called.
    fn usage(&self) -> String {
        let known = GENERATORS.iter().find(|known| known.name == self.name);
        let call = known.map_or(self.name.as_str(), |known| known.example);
        format!("write for example `{call}`")
    }

    fn number<T: std::str::FromStr>(&self, argument: &Argument, wanted: &str) -> Result<T> {
        let parsed = argument.value.parse();
        parsed.map_err(|_| self.fault(argument.value_span, format!("expected {wanted}")))
    }

    /// A number, `inf` or `nan`. Refuses a number in digits that is larger than any `f64`.
    fn float(&self, argument: &Argument) -> Result<f64> {
        let number: f64 = self.number(argument, "a number")?;
        let has_digits = argument
            .value
            .contains(|letter: char| letter.is_ascii_digit());
        if has_digits && number.is_infinite() {
            let fault = self.fault(argument.value_span, "does not fit in an f64");
            return Err(fault.help("the largest is about 1.8e308; beyond it is `inf`"));
        }
        Ok(number)
    }

    pub(super) fn seed(&mut self) -> Result<u64> {
        match self.take("seed") {
            None => Ok(1),
            Some(seed) => self.number(&seed, "an integer of at most 64 bits, 0 or more"),
        }
    }

    pub(super) fn constant(&mut self, element: ElementType) -> Result<Scalar> {
        let Some(value) = self.take("value") else {
            return Err(self.fault(self.name_span, "needs a value"));
        };
        let scalar = match value.value.parse() {
            Ok(integer) => Scalar::I64(integer),
            Err(_) => match value.value.parse() {
                Ok(natural) => Scalar::U64(natural),
                Err(_) => Scalar::F64(self.float(&value)?),
            },
        };
        let is_kept = |cast: &Scalar| match (cast.to_integer(), scalar.to_integer()) {
            (Some(cast), Some(given)) => cast == given,
            _ => cast.to_f64() == scalar.to_f64(),
        };
        // Only values that the type has: `dense:constant(2.5)` is no i32.
        scalar
            .as_type(element)
            .filter(|cast| element.is_float() || is_kept(cast))
            .ok_or_else(|| self.fault(value.value_span, format!("is no value of type {element}")))
    }

    pub(super) fn width(&mut self) -> Result<u64> {
        let Some(width) = self.take("width") else {
            return Err(self.fault(self.name_span, "needs a width"));
        };
        match self.number(&width, "an integer, 1 or more")? {
            0 => Err(self.fault(width.value_span, "is at least 1")),
            width => Ok(width),
        }
    }

    pub(super) fn values(&mut self, element: ElementType) -> Result<Values> {
        let Some(values) = self.take("values") else {
            return Ok(if element.is_float() {
                Values::Uniform
            } else {
                Values::Int
            });
        };
        match values.value.as_str() {
            "uniform" if element.is_float() => Ok(Values::Uniform),
            "uniform" => Err(self
                .fault(
                    values.value_span,
                    format!("lies between 0 and 1, where {element} has no values"),
                )
                .help("use `values=int`")),
            "int" => Ok(Values::Int),
            "ones" => Ok(Values::Ones),
            other => {
                let fault = self.fault(values.value_span, "expected `uniform`, `int` or `ones`");
                Err(match closest(other, VALUES) {
                    Some(close) => fault.help(format!("did you mean `{close}`?")),
                    None => fault,
                })
            }
        }
    }

    /// How many of the `all` entries are stored.
    pub(super) fn stored(&mut self, all: u128) -> Result<u128> {
        match (self.take("density"), self.take("nnz")) {
            (Some(density), None) => {
                let part: f64 = self.number(&density, "a number between 0 and 1")?;
                if !(0.0..=1.0).contains(&part) {
                    return Err(self.fault(density.value_span, "lies between 0 and 1"));
                }
                Ok((part * all as f64).round() as u128)
            }
            (None, Some(nnz)) => {
                let n: u64 = self.number(&nnz, "an integer, 0 or more")?;
                if u128::from(n) > all {
                    let text = format!("the tensor has {all} entries in all");
                    let fault = self.fault(nnz.value_span, text);
                    return Err(fault.help(format!("write `random(nnz={all})`, or fewer")));
                }
                Ok(n.into())
            }
            (Some(_), Some(nnz)) => {
                Err(self.fault(nnz.name_span, "is given beside `density`; one is enough"))
            }
            (None, None) => Err(self
                .fault(self.name_span, "needs a density or a number of entries")
                .help("write `random(density=0.01)` or `random(nnz=1000)`")),
        }
    }
}

impl Argument {
    /// `name = value`, or a bare number where there is one name it can be for.
    fn parse(tokens: &mut Tokens, known: &[&str]) -> Result<Self> {
        let (name, name_span) = match (tokens.peek().kind, known) {
            (Kind::Name, _) => {
                let name = tokens.name("an argument")?;
                tokens.expect("=")?;
                name
            }
            (_, [only]) => ((*only).to_owned(), tokens.peek().span),
            _ => return Err(tokens.unexpected("an argument, such as `seed=1`")),
        };
        let start = tokens.peek().span;
        let sign = if tokens.eat("-") { "-" } else { "" };
        let token = tokens.peek();
        if !matches!(token.kind, Kind::Integer | Kind::Float | Kind::Name) {
            return Err(tokens.unexpected("a value"));
        }
        tokens.take();
        Ok(Self {
            name,
            name_span,
            value: format!("{sign}{}", tokens.text(token)),
            value_span: start.to(token.span),
        })
    }
}

fn unknown(source: &Source, name: &str, span: Span, has_arguments: bool) -> Diagnostic {
    let fault = Diagnostic::new(
        code::UNKNOWN_GENERATOR,
        format!("there is no generator `{name}`"),
    )
    .at(source, span, "unknown");
    let names = GENERATORS.map(|known| known.name);
    let dense = format!("dense:{name}");
    let close = match names.contains(&dense.as_str()) {
        true => Some(dense.as_str()),
        false => closest(name, names),
    };
    let close = GENERATORS
        .iter()
        .find(|known| Some(known.name) == close)
        .map(|known| match has_arguments {
            true => known.name,
            false => known.example,
        });
    let all = names.join(", ");
    match close {
        Some(close) => fault.help(format!("did you mean `{close}`? The generators are {all}")),
        None => fault.help(format!("the generators are {all}")),
    }
}
