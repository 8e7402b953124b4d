//! Tensors from a line of text, the same on every machine.
//!
//! | spec                                             | fills                                |
//! |--------------------------------------------------|--------------------------------------|
//! | `dense:zeros` `dense:ones` `dense:constant(2.5)` | every entry with one value           |
//! | `dense:iota`                                     | entries 0, 1, 2, … row by row        |
//! | `dense:uniform(seed=7, values=V)`                | every entry with a random value      |
//! | `random(density=0.01, seed=1, values=V)`         | that part of all entries             |
//! | `random(nnz=1000, seed=1, values=V)`             | that many entries                    |
//! | `band(width=5, seed=1, values=V)`                | that many diagonals of a matrix      |
//! | `identity`                                       | ones where all coordinates are equal |
//!
//! `V` is `uniform` (in `0..1`, the default for floats), `int` (integers from
//! -4 to 4 but not 0, the default for the other types; sums of their products
//! are exact), or `ones`. A seed that is not given is 1. Random values are drawn
//! in lexicographic order of coordinates, so the format makes no difference.
//!
//! Without a format the `dense:` generators give a dense tensor, the others a
//! `csr` matrix, or `csf` in mode order.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_format::Format;

use crate::array::{Array, Element};
use crate::entries::Entries;
use crate::pack::{Duplicates, PackOptions};
use crate::random::Random;
use crate::sort::sort;
use crate::tensor::Tensor;
use crate::with_element;

/// Every generator with the arguments that it knows.
const GENERATORS: [(&str, &[&str]); 8] = [
    ("dense:zeros", &[]),
    ("dense:ones", &[]),
    ("dense:constant", &["value"]),
    ("dense:iota", &[]),
    ("dense:uniform", &["seed", "values"]),
    ("random", &["density", "nnz", "seed", "values"]),
    ("band", &["width", "seed", "values"]),
    ("identity", &[]),
];

/// What `values=` may be.
const VALUES: [&str; 3] = ["uniform", "int", "ones"];

/// The tensor that a spec describes; see the [module](self).
///
/// Takes time and memory for the entries that it makes: all of them for the
/// `dense:` specs, the stored ones for the others.
///
/// # Errors
/// * `E0101` to `E0103` for text that is no spec;
/// * `E0409` for a generator that there is not, `E0410` for an argument that it
///   cannot use;
/// * those of [`Tensor::pack`] for a format that does not fit.
///
/// ```
/// use sparsec_base::{ElementType, Source};
/// use sparsec_tensor::generate;
/// let spec = Source::new("-g", "band(width=3, values=ones)");
/// let a = generate(&spec, &[4, 4], None, ElementType::F64)?;
/// assert_eq!(a.level(1).pos(), [0, 2, 5, 8, 10]);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn generate(
    spec: &Source,
    extents: &[u64],
    format: Option<&Format>,
    element: ElementType,
) -> Result<Tensor> {
    let mut call = Call::parse(spec)?;
    let order = extents.len();
    if call.name.starts_with("dense:") {
        let dense = Format::dense(order);
        let array = dense_values(&mut call, extents, element)?;
        call.finish()?;
        let tensor = Tensor::new(
            dense.clone(),
            extents.to_vec(),
            element,
            element.zero(),
            vec![array],
        )?;
        return match format {
            Some(format) if !format.stores_like(&dense) => tensor.convert(format),
            _ => Ok(tensor),
        };
    }
    let entries = match call.name.as_str() {
        "random" => random(&mut call, extents, element)?,
        "band" => band(&mut call, extents, element)?,
        _ => identity(extents, element)?,
    };
    call.finish()?;
    let natural = match order {
        2 => Format::csr(),
        _ => Format::csf(order),
    };
    Tensor::pack_entries(format.unwrap_or(&natural), entries, PackOptions::default())
}

fn dense_values(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Array> {
    let too_large = || {
        Diagnostic::new(
            code::TENSOR_TOO_LARGE,
            format!("a dense tensor of extents {extents:?} has too many entries to count"),
        )
        .help("use `random`, which stores only some of them")
    };
    let n = extents
        .iter()
        .try_fold(1usize, |n, &extent| {
            n.checked_mul(usize::try_from(extent).ok()?)
        })
        .ok_or_else(too_large)?;
    match call.name.as_str() {
        "dense:zeros" => Array::zeroed(element, n),
        "dense:ones" => Array::filled(element.one(), n),
        "dense:constant" => Array::filled(call.constant(element)?, n),
        "dense:iota" => {
            let mut array = Array::zeroed(element, n)?;
            with_element!(element, T => {
                for (i, entry) in array.slice_mut::<T>().iter_mut().enumerate() {
                    *entry = of_integer(element, i as i64);
                }
            });
            Ok(array)
        }
        _ => {
            let values = call.values(element)?;
            let mut random = Random::new(call.seed()?);
            let mut array = Array::zeroed(element, n)?;
            values.draw(&mut random, &mut array);
            Ok(array)
        }
    }
}

fn of_integer<T: Element>(element: ElementType, value: i64) -> T {
    T::from_scalar(Scalar::from_i64(element, value)).unwrap_or(T::ZERO)
}

fn random(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Entries> {
    let all = extents
        .iter()
        .try_fold(1u128, |n, &extent| n.checked_mul(u128::from(extent)))
        .unwrap_or(u128::MAX);
    let n = call.stored(all)?;
    let values = call.values(element)?;
    let mut random = Random::new(call.seed()?);
    let coords = distinct_coords(&mut random, extents, all, n)?;
    let mut array = Array::zeroed(element, n)?;
    values.draw(&mut random, &mut array);
    Ok(Entries {
        extents: extents.to_vec(),
        coords,
        values: array,
    })
}

/// `n` distinct tuples of the `all` that there are, in lexicographic order.
fn distinct_coords(random: &mut Random, extents: &[u64], all: u128, n: usize) -> Result<Vec<u64>> {
    // Refuse what memory cannot hold before drawing anything.
    Array::zeroed(ElementType::I64, n.saturating_mul(extents.len().max(1)))?;
    if n as u128 * 3 < all {
        return by_rejection(random, extents, n);
    }
    let mut coords = Vec::with_capacity(n * extents.len());
    // So few that they can be counted: take each with the probability that
    // leaves `n` in the end.
    let mut wanted = n as u64;
    let all = all as u64;
    for number in 0..all {
        if random.below(all - number) < wanted {
            wanted -= 1;
            push_tuple(&mut coords, extents, number);
        }
    }
    Ok(coords)
}

/// Draws tuples until `n` are distinct.
fn by_rejection(random: &mut Random, extents: &[u64], n: usize) -> Result<Vec<u64>> {
    let modes: Vec<usize> = (0..extents.len()).collect();
    let mut coords = Vec::new();
    let mut found = 0;
    while found < n {
        for _ in found..n {
            coords.extend(extents.iter().map(|&extent| random.below(extent)));
        }
        let entries = Entries {
            extents: extents.to_vec(),
            coords,
            values: Array::filled(Scalar::Bool(true), n)?,
        };
        let sorted = sort(entries, &modes, Duplicates::Add)?;
        found = sorted.len();
        coords = sorted.coords;
    }
    Ok(coords)
}

/// The coordinates of entry `number`, counted row by row.
fn push_tuple(coords: &mut Vec<u64>, extents: &[u64], number: u64) {
    let start = coords.len();
    let mut rest = number;
    for &extent in extents.iter().rev() {
        coords.push(rest % extent);
        rest /= extent;
    }
    coords[start..].reverse();
}

fn band(call: &mut Call, extents: &[u64], element: ElementType) -> Result<Entries> {
    let &[rows, columns] = extents else {
        return Err(call.fault(
            call.name_span,
            format!("fills matrices, not tensors of order {}", extents.len()),
        ));
    };
    let width = call.width()?;
    let values = call.values(element)?;
    let mut random = Random::new(call.seed()?);
    let mut coords = Vec::new();
    for row in 0..rows {
        let first = row.saturating_sub(width / 2);
        let last = row.saturating_add((width - 1) / 2);
        for column in first..=last.min(columns.saturating_sub(1)) {
            if column < columns {
                coords.extend([row, column]);
            }
        }
    }
    let mut array = Array::zeroed(element, coords.len() / 2)?;
    values.draw(&mut random, &mut array);
    Ok(Entries {
        extents: extents.to_vec(),
        coords,
        values: array,
    })
}

fn identity(extents: &[u64], element: ElementType) -> Result<Entries> {
    let n = extents.iter().copied().min().unwrap_or(1);
    let values = Array::filled(element.one(), usize::try_from(n).unwrap_or(usize::MAX))?;
    let coords = (0..n)
        .flat_map(|c| extents.iter().map(move |_| c))
        .collect();
    Ok(Entries {
        extents: extents.to_vec(),
        coords,
        values,
    })
}

/// How values are drawn.
#[derive(Clone, Copy, Debug)]
enum Values {
    Uniform,
    Int,
    Ones,
}

impl Values {
    fn draw(self, random: &mut Random, array: &mut Array) {
        let element = array.element();
        with_element!(element, T => {
            for entry in array.slice_mut::<T>() {
                let value = match self {
                    Self::Uniform => Scalar::F64(random.unit()).cast(element),
                    // -4 to -1 and 1 to 4.
                    Self::Int => {
                        let n = random.below(8) as i64 - 4;
                        Some(Scalar::from_i64(element, n + i64::from(n >= 0)))
                    }
                    Self::Ones => Some(element.one()),
                };
                *entry = value.and_then(T::from_scalar).unwrap_or(T::ZERO);
            }
        });
    }
}

/// A generator's name and arguments, as they stand in the text.
struct Call {
    source: Source,
    name: String,
    name_span: Span,
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
    fn parse(source: &Source) -> Result<Self> {
        let mut tokens = Tokens::new(source, &[])?;
        let (mut name, mut name_span) = tokens.name("a generator, such as `dense:ones`")?;
        if tokens.eat(":") {
            let (rest, span) = tokens.name("what to fill with, such as `ones`")?;
            name = format!("{name}:{rest}");
            name_span = name_span.to(span);
        }
        let Some((_, known)) = GENERATORS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(source, &name, name_span));
        };
        let mut arguments = Vec::new();
        if tokens.eat("(") {
            while !tokens.eat(")") {
                if !arguments.is_empty() {
                    tokens.expect(",")?;
                }
                arguments.push(Argument::parse(&mut tokens, known)?);
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
    fn finish(&self) -> Result<()> {
        match self.arguments.first() {
            None => Ok(()),
            Some(left) => Err(self.fault(left.name_span, "makes no difference here")),
        }
    }

    fn fault(&self, span: Span, text: impl Into<String>) -> Diagnostic {
        Diagnostic::new(
            code::BAD_GENERATOR_ARGUMENT,
            format!("generator `{}` cannot be used like this", self.name),
        )
        .at(&self.source, span, text)
    }

    fn number<T: std::str::FromStr>(&self, argument: &Argument, wanted: &str) -> Result<T> {
        let parsed = argument.value.parse();
        parsed.map_err(|_| self.fault(argument.value_span, format!("expected {wanted}")))
    }

    fn seed(&mut self) -> Result<u64> {
        match self.take("seed") {
            None => Ok(1),
            Some(seed) => self.number(&seed, "an integer of at most 64 bits, 0 or more"),
        }
    }

    fn constant(&mut self, element: ElementType) -> Result<Scalar> {
        let Some(value) = self.take("value") else {
            return Err(self
                .fault(self.name_span, "needs a value")
                .help("write `dense:constant(2.5)`"));
        };
        let scalar = match value.value.parse() {
            Ok(integer) => Scalar::I64(integer),
            Err(_) => Scalar::F64(self.number(&value, "a number")?),
        };
        // Only values that the type has: `dense:constant(2.5)` is no i32.
        scalar
            .cast(element)
            .filter(|cast| element.is_float() || cast.to_f64() == scalar.to_f64())
            .ok_or_else(|| self.fault(value.value_span, format!("is no value of type {element}")))
    }

    fn width(&mut self) -> Result<u64> {
        let Some(width) = self.take("width") else {
            return Err(self
                .fault(self.name_span, "needs a width")
                .help("write `band(width=5)`"));
        };
        match self.number(&width, "an integer, 1 or more")? {
            0 => Err(self.fault(width.value_span, "is at least 1")),
            width => Ok(width),
        }
    }

    fn values(&mut self, element: ElementType) -> Result<Values> {
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
    fn stored(&mut self, all: u128) -> Result<usize> {
        match (self.take("density"), self.take("nnz")) {
            (Some(density), None) => {
                let part: f64 = self.number(&density, "a number between 0 and 1")?;
                if !(0.0..=1.0).contains(&part) {
                    return Err(self.fault(density.value_span, "lies between 0 and 1"));
                }
                Ok((part * all as f64).round() as usize)
            }
            (None, Some(nnz)) => {
                let n: u64 = self.number(&nnz, "an integer, 0 or more")?;
                if u128::from(n) > all {
                    return Err(self.fault(
                        nnz.value_span,
                        format!("the tensor has {all} entries in all"),
                    ));
                }
                Ok(n as usize)
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

fn unknown(source: &Source, name: &str, span: Span) -> Diagnostic {
    let fault = Diagnostic::new(
        code::UNKNOWN_GENERATOR,
        format!("there is no generator `{name}`"),
    )
    .at(source, span, "unknown");
    let dense = format!("dense:{name}");
    let names = || GENERATORS.iter().map(|(known, _)| *known);
    match names()
        .find(|known| *known == dense)
        .or_else(|| closest(name, names()))
    {
        Some(close) => fault.help(format!("did you mean `{close}`?")),
        None => fault.help(format!(
            "there are {}",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}
