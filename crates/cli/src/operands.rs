//! Tensors from files (`-i`) and generators (`-g`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sparsec::internals::notation::Index;
use sparsec::internals::parallel::Bytes;
use sparsec::internals::{Inputs, generate_with, generated_entries};
use sparsec::io::{self, Content, FileTensor, ReadOptions};
use sparsec::{
    Diagnostic, ElementType, Format, MemoryLimit, PackOptions, Preset, RelationTensor, Result,
    Source, Tensor, code,
};

use crate::arguments::OperandArguments;
use crate::call::Call;
use crate::extents::Extents;
use crate::pairs::Pair;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::room::{Needed, Room};

/// Where operands come from.
#[derive(Debug)]
pub(crate) struct Operands {
    files: Vec<Pair>,
    generators: Vec<Pair>,
}

impl Operands {
    /// The operands that the options name.
    ///
    /// # Errors
    /// `E00` and `E0207` for options that are wrong.
    pub(crate) fn new(
        call: &Call,
        problem: &Problem,
        arguments: &OperandArguments,
    ) -> Result<Self> {
        let operands = Self {
            files: call.inputs(&arguments.inputs)?,
            generators: call.pairs("-g", "generate", &arguments.generators)?,
        };
        operands.check_names(call, problem)?;
        Ok(operands)
    }

    /// The files that they are read from.
    pub(crate) fn files(&self) -> &[Pair] {
        &self.files
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len() + self.generators.len()
    }

    fn check_names(&self, call: &Call, problem: &Problem) -> Result<()> {
        for pair in &self.files {
            call.file_type(&pair.value, pair.value_span)?;
        }
        for pair in self.files.iter().chain(&self.generators) {
            let tensor = problem.tensor(call, pair)?;
            if !tensor.may_be_input {
                let message = format!(
                    "`{}` is computed by the expression, not given to it",
                    pair.name
                );
                return Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
                    .at(call.source(), pair.name_span, "is computed")
                    .also(&problem.request.expression, tensor.span, "here")
                    .help(format!("to write it, say `-o {}=FILE`", pair.name)));
            }
        }
        let files = self.files.iter().map(|file| (file.name.as_str(), file));
        let files: BTreeMap<&str, &Pair> = files.collect();
        for pair in &self.generators {
            if let Some(first) = files.get(pair.name.as_str()) {
                return Err(call.said_twice(first, pair));
            }
        }
        Ok(())
    }

    /// Refuses a program of which some operand is not given.
    ///
    /// # Errors
    /// `E0314`.
    pub(crate) fn check_complete(&self, problem: &Problem) -> Result<()> {
        let wanted = problem.operands();
        let given = self.files.iter().chain(&self.generators);
        let given: BTreeSet<&str> = given.map(|pair| pair.name.as_str()).collect();
        let is_missing = |name: &str| wanted.contains(name) && !given.contains(name);
        let mut names = problem.names.iter();
        let missing = names.find(|tensor| is_missing(&tensor.name));
        match missing {
            None => Ok(()),
            Some(tensor) => {
                let name = &tensor.name;
                let message = format!("there is no tensor for `{name}`");
                let source = &problem.request.expression;
                Err(Diagnostic::new(code::MISSING_INPUT, message)
                    .at(
                        source,
                        problem.first_read(name).unwrap_or(tensor.span),
                        "read here, and neither given nor computed before",
                    )
                    .help(format!(
                        "give it a file, `-i {name}=FILE`, or fill it, `-g {name}=dense:ones`"
                    )))
            }
        }
    }

    /// Reads and generates every operand; files come first, since generated
    /// tensors take their extents from them.
    ///
    /// # Errors
    /// What is wrong with a file or a generator, `E0313` where the extents of a
    /// generated tensor do not follow from anything, and those of [`Room`].
    pub(crate) fn load(
        &self,
        call: &Call,
        problem: &mut Problem,
        progress: &Progress,
        room: &mut Room,
    ) -> Result<Loaded> {
        let mut inputs = Inputs::new();
        let mut stored = BTreeMap::new();
        let (mut waiting, mut origins) = (Vec::new(), Vec::new());
        let mut extents = Extents::new(&problem.notation, &problem.request.extents);
        for pair in &self.files {
            progress.step(format!("read {}", pair.value));
            let (file, needed) = read(call, problem, pair, progress, room)?;
            if let Content::Relation(tensor) = &file.content {
                stored.insert(pair.name.clone(), tensor.clone());
            }
            room.check(call, &needed)?;
            extents.know(&pair.name, &needed.extents);
            let origin = match file.states_extents {
                true => format!("read from `{}`", pair.value),
                false => format!("read from `{}`, which states no extents", pair.value),
            };
            origins.push((&pair.name, origin));
            // What is large whatever is stored waits until all else is known.
            match needed.is_large() {
                true => waiting.push((file, needed)),
                false => {
                    let tensor = pack(call, file, &needed, room)?;
                    room.take(call, pair, &tensor)?;
                    inputs.insert(pair.name.clone(), tensor);
                }
            }
        }
        let mut generated = Vec::new();
        for pair in &self.generators {
            let shape = extents.of(&pair.name);
            let shape = shape.map_err(|var| unknown_extent(call, problem, pair, var))?;
            let needed = of_generator(call, problem, pair, shape)?;
            room.check(call, &needed)?;
            generated.push(needed);
        }
        let files = waiting.iter().map(|(_, needed)| needed);
        room.check_all(
            call,
            problem,
            &inputs,
            &files.chain(&generated).collect::<Vec<_>>(),
        )?;
        for (file, needed) in waiting {
            let tensor = pack(call, file, &needed, room)?;
            room.take(call, needed.pair, &tensor)?;
            inputs.insert(needed.pair.name.clone(), tensor);
        }
        for needed in generated {
            let pair = needed.pair;
            progress.step(format!("generate {}", pair.name));
            let tensor = fill(call, problem, &needed, room)?;
            room.take(call, pair, &tensor)?;
            inputs.insert(pair.name.clone(), tensor);
            origins.push((&pair.name, format!("generated as `{}`", pair.value)));
        }
        for (name, tensor) in &stored {
            let own = || tensor.format().clone().into();
            problem.request.tensor(name).format.get_or_insert_with(own);
        }
        for (name, origin) in origins {
            problem.request.tensor(name).origin = origin;
        }
        Ok(Loaded { inputs, stored })
    }
}

/// Operands that were read and generated.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// All of them, in levels.
    pub(crate) inputs: Inputs,
    /// Those that their files have as relations.
    pub(crate) stored: BTreeMap<String, RelationTensor>,
}

/// Reads a file, and says how it is to be stored.
fn read<'p>(
    call: &Call,
    problem: &Problem,
    pair: &'p Pair,
    progress: &Progress,
    room: &Room,
) -> Result<(FileTensor, Needed<'p>)> {
    let path = Path::new(&pair.value);
    let spec = problem.request.tensors.get(&pair.name);
    let options = ReadOptions {
        element: spec.and_then(|spec| spec.element),
        extents: given_extents(problem, &pair.name),
        memory: room.left(),
        ..progress.reading()
    };
    let read = |options: &ReadOptions| {
        io::read(path, options).map_err(|error| call.about_file(pair.value_span, error))
    };
    let file = match read(&options) {
        // Extents were given for another order than the file's: say so in
        // terms of the program, whatever the order turns out to be.
        Err(error) if error.code() == code::LENGTH_MISMATCH && options.extents.is_some() => {
            let extents = None;
            let file = read(&ReadOptions { extents, ..options })?;
            check_order(problem, pair, file.order())?;
            return Err(error);
        }
        read => read?,
    };
    let order = file.order();
    check_order(problem, pair, order)?;
    let format = match spec.and_then(|spec| spec.format.as_ref()) {
        Some(spec) => spec.levels(order)?,
        None => default_format(order),
    };
    let needed = Needed {
        pair,
        with_fewer: None,
        extents: file.extents().to_vec(),
        element: file.element(),
        format,
        entries: match &file.content {
            Content::Entries(entries) => entries.len() as u64,
            Content::Tensor(tensor) => tensor.n_filled() as u64,
            Content::Relation(tensor) => tensor.values().len() as u64,
        },
        made: 0,
    };
    Ok((file, needed))
}

/// Packs what was read.
fn pack(call: &Call, file: FileTensor, needed: &Needed<'_>, room: &Room) -> Result<Tensor> {
    let tensor = file.into_tensor(&needed.format, packing(room));
    tensor.map_err(|error| too_large(call, needed, *room, error))
}

fn packing(room: &Room) -> PackOptions {
    PackOptions {
        memory: room.left(),
        ..PackOptions::default()
    }
}

/// Says where a tensor comes from that does not fit in memory, and what to do.
fn too_large(call: &Call, needed: &Needed<'_>, room: Room, error: Diagnostic) -> Diagnostic {
    let error = call.about_file(needed.pair.value_span, error);
    match (error.code() == code::TENSOR_TOO_LARGE, room.left()) {
        (true, MemoryLimit::Bytes(left)) => error
            .note(format!("`--memory` leaves {} for it", Bytes(left.into())))
            .help(needed.way_out(room.left())),
        // The system has no more, or the tensor is far larger than its entries.
        (true, left) if error.message().starts_with("out of memory") => {
            error.help(needed.way_out(left))
        }
        (true, left) => error.help(needed.way_out(left.growing_from(needed.bytes_of_entries()))),
        (false, _) => error,
    }
}

/// The extents that `-d` gives the modes of a tensor, if it gives any.
fn given_extents(problem: &Problem, name: &str) -> Option<Vec<Option<u64>>> {
    let mut extents: Vec<Option<u64>> = Vec::new();
    for used in problem.uses(name) {
        extents.resize(extents.len().max(used.indices.len()), None);
        for (extent, index) in extents.iter_mut().zip(&used.indices) {
            let Some(word) = index.as_var() else {
                continue;
            };
            *extent = extent.or(problem.request.extents.get(&word.text).copied());
        }
    }
    extents.iter().any(Option::is_some).then_some(extents)
}

/// A matrix is `csr`, every other tensor of a file `csf` in mode order.
pub(crate) fn default_format(order: usize) -> Format {
    match order {
        2 => Format::csr(),
        _ => Format::csf(order),
    }
}

/// A list of coordinates in order, which takes memory for entries alone,
/// whatever the extents are.
pub(crate) fn list_format(order: usize) -> Format {
    let list = Preset::find("scoo").and_then(|preset| preset.format(order));
    list.unwrap_or_else(|| Format::csf(order))
}

/// Compares the order of a file with that of the expression, before a format
/// that is meant for the one is applied to the other.
fn check_order(problem: &Problem, pair: &Pair, order: usize) -> Result<()> {
    let name = &pair.name;
    let Some(used) = problem.uses(name).find(|used| used.indices.len() != order) else {
        return Ok(());
    };
    let indices = match used.indices.len() {
        0 => "no index".to_owned(),
        1 => "one index".to_owned(),
        n => format!("{n} indices"),
    };
    let message = format!("`{name}` has order {order}, and is used with {indices}");
    Err(Diagnostic::new(code::WRONG_ORDER, message)
        .at(
            &problem.request.expression,
            used.span,
            format!("{indices} here"),
        )
        .note(format!("`{name}` is read from `{}`", pair.value))
        .help(format!(
            "give it one index for each of its {order} modes, or read another file"
        )))
}

/// The format that a tensor was given, if it was.
fn said_format(problem: &Problem, name: &str, order: usize) -> Result<Option<Format>> {
    let spec = problem.request.tensors.get(name);
    let format = spec.and_then(|spec| spec.format.as_ref());
    format.map(|format| format.levels(order)).transpose()
}

/// How a generated tensor is to be stored.
fn of_generator<'p>(
    call: &Call,
    problem: &Problem,
    pair: &'p Pair,
    extents: Vec<u64>,
) -> Result<Needed<'p>> {
    let order = extents.len();
    let source = text_of_generator(call, pair);
    let is_dense = source.text().starts_with("dense:");
    let natural = || match is_dense {
        true => Format::dense(order),
        false => default_format(order),
    };
    let spec = problem.request.tensors.get(&pair.name);
    let element = spec.and_then(|spec| spec.element);
    let element = element.unwrap_or(ElementType::F64);
    let entries = generated_entries(&source, &extents);
    let entries = entries.map_err(|error| call.about_file(pair.value_span, error))?;
    // Values, and of what is not dense 64 bits for each coordinate.
    let each = element.size() + if is_dense { 0 } else { 8 * order };
    let said = said_format(problem, &pair.name, order)?;
    // A generator of few entries has a sparse format where the call says none.
    let with_fewer = || said.clone().unwrap_or_else(|| default_format(order));
    let with_fewer = (order > 0).then(with_fewer);
    Ok(Needed {
        pair,
        with_fewer,
        format: said.unwrap_or_else(natural),
        extents,
        element,
        entries: u64::try_from(entries).unwrap_or(u64::MAX),
        made: entries.saturating_mul(each as u128),
    })
}

/// What a generator says, as the library reads it.
fn text_of_generator(call: &Call, pair: &Pair) -> Source {
    call.option_text(
        format!("generator of {}", pair.name),
        generator(&pair.value),
    )
}

fn fill(call: &Call, problem: &Problem, needed: &Needed<'_>, room: &Room) -> Result<Tensor> {
    let (pair, shape, element) = (needed.pair, &needed.extents, needed.element);
    let format = said_format(problem, &pair.name, shape.len())?;
    let source = text_of_generator(call, pair);
    generate_with(&source, shape, format.as_ref(), element, packing(room))
        .map_err(|error| too_large(call, needed, *room, error))
}

/// A generator as the library takes it: `2.5` and `constant(2.5)` fill every
/// entry with that number.
pub(crate) fn generator(text: &str) -> String {
    match (text.parse::<i128>(), text.parse::<f64>()) {
        // As a float it might lose digits.
        (Ok(integer), _) => format!("dense:constant(value={integer})"),
        // The library refuses digits that no float is near, where they stand.
        (_, Ok(float)) if float.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
            format!("dense:constant(value={text})")
        }
        (_, Ok(float)) => format!("dense:constant(value={float:?})"),
        _ if text.trim_start().starts_with("constant") => format!("dense:{}", text.trim_start()),
        _ => text.to_owned(),
    }
}

fn unknown_extent(call: &Call, problem: &Problem, pair: &Pair, var: &str) -> Diagnostic {
    if var.is_empty() {
        let name = &pair.name;
        let message = format!("what extents `{name}` has does not follow from where it is read");
        let order = problem.uses(name).map(|used| used.indices.len()).next();
        let vars: Vec<String> = (1..=order.unwrap_or(1).max(1))
            .map(|n| format!("n{n}"))
            .collect();
        let (list, first) = (vars.join(","), &vars[0]);
        return Diagnostic::new(code::MISSING_EXTENT, message)
            .at(call.source(), pair.name_span, "cannot be generated")
            .help(format!(
                "read it with variables alone first: `t({list}) = {name}({list})` with `-d {first}=100`, then `t`"
            ));
    }
    let message = format!(
        "nothing says how far `{var}` runs, so `{}` cannot be generated",
        pair.name
    );
    let error = Diagnostic::new(code::MISSING_EXTENT, message).at(
        call.source(),
        pair.name_span,
        "has no extents of its own",
    );
    let place = problem
        .uses(&pair.name)
        .flat_map(|used| used.indices.iter().flat_map(Index::vars))
        .find(|word| word.text == var);
    let error = match place {
        Some(word) => error.also(&problem.request.expression, word.span, "used here"),
        None => error,
    };
    error.help(format!("say it: `-d {var}=100`"))
}

#[cfg(test)]
mod tests {
    use super::generator;

    #[test]
    fn numbers_are_constants() {
        assert_eq!(generator("2.5"), "dense:constant(value=2.5)");
        assert_eq!(generator("-1"), "dense:constant(value=-1)");
        assert_eq!(generator("+7"), "dense:constant(value=7)");
        assert_eq!(generator(".5"), "dense:constant(value=0.5)");
        assert_eq!(generator("-inf"), "dense:constant(value=-inf)");
        assert_eq!(generator("1e999"), "dense:constant(value=1e999)");
        assert_eq!(generator("nan"), "dense:constant(value=NaN)");
        assert_eq!(
            generator("9007199254740993"),
            "dense:constant(value=9007199254740993)"
        );
        assert_eq!(generator("constant(3)"), "dense:constant(3)");
        assert_eq!(generator("dense:ones"), "dense:ones");
    }
}
