//! From the options of `run` and `compile` to a request.
//!
//! Everything that can be wrong with options is found here, before any file is
//! opened: names that the expression does not have, formats and types that
//! there are not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sparsec::internals::notation::Einsum;
use sparsec::internals::notation::{TensorUse, parse_function_with};
use sparsec::internals::suggest::closest;
use sparsec::internals::{Notation, Objective, Planner, Request, Wanted};
use sparsec::{Diagnostic, ElementType, MemoryLimit, Result, Source, Span, TensorName, code};

use crate::arguments::ProblemArguments;
use crate::call::Call;
use crate::pairs::Pair;
use crate::spec::format_spec;
use crate::usage::is_data;

/// An expression and what the options say of it.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What the library is asked.
    pub(crate) request: Request,
    /// The expression's text as a tree.
    pub(crate) notation: Notation,
    /// The tensors that it names.
    pub(crate) names: Vec<TensorName>,
    /// The place of each of them by its name.
    places: BTreeMap<String, usize>,
}

impl Problem {
    /// Reads the expression and the options.
    ///
    /// # Errors
    /// `E00` for options, `E01` and `E02` for the texts of the expression and
    /// the formats, `E0207` for names that the expression does not have.
    pub(crate) fn new(call: &Call, arguments: &ProblemArguments) -> Result<Self> {
        check_expression(call, &arguments.expression)?;
        let mut request = Request::new(source(&arguments.expression)?);
        for text in &arguments.definitions {
            let source = call.option_text("definition", text.as_str());
            let function = parse_function_with(&source, &request.functions)?;
            request.functions.push(function);
        }
        let notation = request.notation()?;
        let names = notation.tensor_names();
        let places = names.iter().enumerate();
        let mut problem = Self {
            request,
            places: places.map(|(at, known)| (known.name.clone(), at)).collect(),
            names,
            notation,
        };
        problem.request.strict = arguments.strict;
        problem.request.networks = networks(call, arguments)?;
        if !arguments.schedule.is_empty() {
            let commands = arguments.schedule.join("\n");
            problem.request.schedule = Some(call.option_text("schedule", commands));
        }
        for pair in call.pairs("-f", "format", &arguments.formats)? {
            problem.set_format(call, &pair)?;
        }
        for pair in call.pairs("-t", "type", &arguments.types)? {
            problem.set_type(call, &pair)?;
        }
        let vars = problem.notation.index_variables();
        for pair in call.pairs("-d", "extent", &arguments.extents)? {
            set_extent(&mut problem.request, call, &pair, &vars)?;
        }
        problem.read(
            problem
                .answers()
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        );
        Ok(problem)
    }

    /// The tensors that answer the program: the last result, and those that no statement
    /// reads.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let last = self.notation.statements.last();
        let is_last = |name: &str| last.is_some_and(|last| last.lhs.name.text == name);
        let written = self.names.iter().filter(|known| known.written);
        let answers = written.filter(|known| is_last(&known.name) || !known.read);
        answers.map(|known| known.name.as_str()).collect()
    }

    /// The caller reads all results.
    pub(crate) fn read_all(&mut self) {
        self.request.results = None;
    }

    /// The caller reads these results, beside others.
    pub(crate) fn read(&mut self, names: impl IntoIterator<Item = String>) {
        let read = self.request.results.get_or_insert_default();
        read.extend(names);
    }

    fn set_format(&mut self, call: &Call, pair: &Pair) -> Result<()> {
        let order = self.tensor(call, pair)?.order;
        let name = format!("format of {}", pair.name);
        let format = format_spec(call, name, &pair.value, pair.value_span)?;
        format.storage(order).map_err(|error| {
            let named = self.named(&pair.name);
            let span = named.map(|known| known.span).unwrap_or_default();
            let uses = format!("`{}` has order {order} here", pair.name);
            error.also(&self.request.expression, span, uses)
        })?;
        self.request.tensor(&pair.name).format = Some(format);
        Ok(())
    }

    fn set_type(&mut self, call: &Call, pair: &Pair) -> Result<()> {
        self.tensor(call, pair)?;
        let element = element_type(call, pair)?;
        self.request.tensor(&pair.name).element = Some(element);
        Ok(())
    }

    /// States how many entries tensors are planned for.
    ///
    /// # Errors
    /// As of other options.
    pub(crate) fn set_counts(&mut self, call: &Call, texts: &[String]) -> Result<()> {
        for pair in call.pairs("-n", "entries", texts)? {
            self.tensor(call, &pair)?;
            let count = pair.value.parse().map_err(|_| {
                bad_value(call, &pair, format!("`{}` is no count", pair.value))
                    .help("a count is an integer from 0 to 2^64 - 1")
            })?;
            self.request.tensor(&pair.name).n_stored = Some(count);
        }
        Ok(())
    }

    /// Limits the memory that plans may count on, if a limit is stated.
    pub(crate) fn limit(&mut self, memory: MemoryLimit) {
        if let MemoryLimit::Bytes(bytes) = memory {
            self.request.networks.memory = Some(bytes);
        }
    }

    /// The tensor that an option is about.
    ///
    /// # Errors
    /// `E0207` if the expression has none of this name.
    pub(crate) fn tensor(&self, call: &Call, pair: &Pair) -> Result<&TensorName> {
        self.named(&pair.name).ok_or_else(|| {
            let message = format!("the expression has no tensor `{}`", pair.name);
            let names: Vec<&str> = self.names.iter().map(|known| known.name.as_str()).collect();
            suggest(unused(call, pair, message), &pair.name, &names)
        })
    }

    /// Every use of a tensor, in order.
    pub(crate) fn uses<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a TensorUse> {
        let statements = self.notation.statements.iter();
        let all = statements.flat_map(|statement| {
            let mut uses = vec![&statement.lhs];
            statement.rhs.for_each_access(&mut |used| uses.push(used));
            uses
        });
        all.filter(move |used| used.name.text == name)
    }

    /// Where a tensor is first read on a right side.
    pub(crate) fn first_read(&self, name: &str) -> Option<Span> {
        self.notation.statements.iter().find_map(|statement| {
            let mut first = None;
            statement.rhs.for_each_access(&mut |used| {
                if used.name.text == name {
                    first = first.or(Some(used.name.span));
                }
            });
            first
        })
    }

    /// The tensors that are read before a statement computes them.
    pub(crate) fn operands(&self) -> BTreeSet<&str> {
        let operands = self.names.iter().filter(|name| name.is_input);
        operands.map(|name| name.name.as_str()).collect()
    }

    fn named(&self, name: &str) -> Option<&TensorName> {
        Some(&self.names[*self.places.get(name)?])
    }
}

/// The text of an expression: index notation, or that of an einsum.
fn source(text: &str) -> Result<Source> {
    if text.contains(['=', '(']) || !text.contains("->") {
        return Ok(Source::new("expression", text));
    }
    let n_operands = text.matches(',').count() + 1;
    let einsum = Einsum::parse(text, n_operands)?;
    let name = format!("expression of `{text}`");
    Ok(Source::new(name, einsum.to_string()))
}

/// The options for products of several tensors.
fn networks(call: &Call, arguments: &ProblemArguments) -> Result<Wanted> {
    let unknown = |long: &str, word: &str, known: &[&str]| {
        let error = call.bad_value(long, format!("`--{long}` does not take `{word}`"));
        suggest(error, word, known)
    };
    let at_most = match &arguments.max_order {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            call.bad_value("max-order", format!("`--max-order` does not take `{text}`"))
                .help("an order is an integer from 0 on")
        })?),
    };
    let objective = match arguments.objective.as_deref() {
        Some("time") if at_most.is_some() => {
            let message = "`--max-order` is part of `--objective order`";
            return Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
                .at(call.source(), call.value_span("max-order", 0), "without it")
                .help("say `--objective order`, or leave out `--max-order`"));
        }
        None if at_most.is_none() => Objective::Time,
        Some("time") => Objective::Time,
        None | Some("order") => Objective::Order { at_most },
        Some(word) => return Err(unknown("objective", word, &["time", "order"])),
    };
    let planner = match arguments.planner.as_deref() {
        None | Some("search") => Planner::Search,
        Some("z3") => Planner::Z3,
        Some(word) => return Err(unknown("planner", word, &["search", "z3"])),
    };
    Ok(Wanted {
        keep_tree: arguments.keep_tree,
        objective,
        planner,
        memory: None,
    })
}

/// Sets the extent of one of `vars`, the index variables of the expression.
fn set_extent(
    request: &mut Request,
    call: &Call,
    pair: &Pair,
    vars: &BTreeSet<&str>,
) -> Result<()> {
    if !vars.contains(pair.name.as_str()) {
        let message = format!("the expression has no index variable `{}`", pair.name);
        let error = unused(call, pair, message);
        let vars: Vec<&str> = vars.iter().copied().collect();
        return Err(match vars.is_empty() {
            true => error.help("it has none at all: leave this out"),
            false => suggest(error, &pair.name, &vars),
        });
    }
    let extent = pair
        .value
        .parse()
        .ok()
        .filter(|extent| i64::try_from(*extent).is_ok());
    let extent = extent.ok_or_else(|| {
        let error = bad_value(call, pair, format!("`{}` is no extent", pair.value));
        match listed(pair) {
            Some(options) => error.help(format!("give each an option of its own: `{options}`")),
            None => error.help("an extent is an integer from 0 to 2^63 - 1"),
        }
    })?;
    request.extents.insert(pair.name.clone(), extent);
    let place = (call.source().clone(), pair.value_span);
    request.extent_places.insert(pair.name.clone(), place);
    Ok(())
}

/// Refuses a file in the place of the expression.
fn check_expression(call: &Call, text: &str) -> Result<()> {
    let is_notation = text.contains(['=', '(']);
    if is_notation || !(is_data(text) || Path::new(text).is_file()) {
        return Ok(());
    }
    let command = call.words().find(|word| !word.starts_with('-'));
    let command = command.unwrap_or("run");
    let place = call.find_word(text).unwrap_or(call.end());
    let message = format!("`{text}` is a file, and the expression is missing");
    let help = match is_data(text) {
        true => format!(
            "say what to compute, here of a matrix: `sparsec {command} 'y(i) = A(i,j) * x(j)' -i A={text} -g x=dense:ones`"
        ),
        false => format!(
            "expressions stand on the command line: if the file holds one, `sparsec {command} \"$(cat {text})\"`"
        ),
    };
    Err(Diagnostic::new(code::BAD_CALL, message)
        .at(call.source(), place, "expected an expression")
        .help(help))
}

fn unused(call: &Call, pair: &Pair, message: String) -> Diagnostic {
    Diagnostic::new(code::UNUSED_NAME, message).at(
        call.source(),
        pair.name_span,
        "not in the expression",
    )
}

/// The options that state the extents of a list, as `-d i=3 -d j=4` those of `i=3,j=4`.
fn listed(pair: &Pair) -> Option<String> {
    if !pair.value.contains(',') {
        return None;
    }
    let text = format!("{}={}", pair.name, pair.value);
    let each: Option<Vec<String>> = text
        .split(',')
        .map(|one| {
            let (index, extent) = one.split_once('=')?;
            let extent: u64 = extent.trim().parse().ok()?;
            Some(format!("-d {}={extent}", index.trim()))
        })
        .collect();
    Some(each?.join(" "))
}

/// A value that an option does not take.
pub(crate) fn bad_value(call: &Call, pair: &Pair, message: String) -> Diagnostic {
    let label = format!("`{}` does not take this", pair.option);
    Diagnostic::new(code::BAD_OPTION_VALUE, message).at(call.source(), pair.value_span, label)
}

/// The help that names what is close to `word`, or all there is.
pub(crate) fn suggest(error: Diagnostic, word: &str, known: &[&str]) -> Diagnostic {
    match closest(word, known.iter().copied()) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None if known.is_empty() => error,
        None => error.help(format!("one of {}", known.join(", "))),
    }
}

/// The type of entries that an option names.
///
/// # Errors
/// A bad value, where there is no such type.
pub(crate) fn element_type(call: &Call, pair: &Pair) -> Result<ElementType> {
    ElementType::parse(&pair.value).ok_or_else(|| {
        bad_value(call, pair, format!("there is no type `{}`", pair.value))
            .help(ElementType::advice(&pair.value))
    })
}
