//! Networks with their operands and their forms by hand.

use sparsec::internals::{Inputs, Request, compile};
use sparsec::{Diagnostic, Result, Source, Stage, code};

use super::{Scale, factors, four_index, graphs, integrals, together};
use crate::data::Given;

/// A form of a kernel by hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) name: &'static str,
    /// The function of the C file.
    pub(super) function: &'static str,
    /// The least ratio to it that is good enough, if there is one.
    pub(super) bar: Option<f64>,
    /// How many outermost coordinates it computes, if not all.
    pub(super) slice: Option<u64>,
}

impl Form {
    pub(super) const fn new(name: &'static str, function: &'static str) -> Self {
        Self {
            name,
            function,
            bar: None,
            slice: None,
        }
    }

    pub(super) const fn barred(self, bar: Option<f64>) -> Self {
        Self { bar, ..self }
    }

    pub(super) const fn slice(self, slice: Option<u64>) -> Self {
        Self { slice, ..self }
    }
}

/// A network with its operands and its forms by hand.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) expression: String,
    /// The format of the result of each statement.
    pub(super) format: &'static str,
    /// An expression whose kernel takes the arguments of forms by hand, where that of the
    /// network does not.
    pub(super) arguments: Option<&'static str>,
    /// Loops in an order that follows all operands as they are stored.
    pub(super) order: String,
    pub(super) inputs: Inputs,
    /// Blocks of the result, of which `inputs` is the first one.
    pub(super) blocks: Option<Blocks>,
    /// C with a function for each form.
    pub(super) by_hand: String,
    pub(super) forms: Vec<Form>,
    /// Whether ours is timed beside kernels of each statement alone.
    pub(super) is_beside_parts: bool,
    /// The least ratio to the fastest form.
    pub(super) bar: f64,
}

/// A result in blocks of equal sizes, one after the other.
pub(super) struct Blocks {
    pub(super) number: u64,
    /// The operands of a block.
    pub(super) inputs: Box<dyn Fn(u64) -> Result<Inputs> + Send + Sync>,
    /// The sum of the entries of the result for these operands.
    pub(super) sum: fn(&Inputs) -> f64,
}

impl Case {
    pub(super) fn request(&self) -> Result<Request> {
        self.request_of(&self.expression)
    }

    /// What a kernel by hand takes the arguments of: a nest that reads operands as they are.
    pub(super) fn nest(&self) -> Result<Request> {
        self.scheduled(self.arguments.unwrap_or(&self.expression), &self.order)
    }

    /// An expression by the commands of a schedule.
    pub(super) fn scheduled(&self, expression: &str, schedule: &str) -> Result<Request> {
        let mut request = self.request_of(expression)?;
        request.schedule = Some(Source::new("schedule", schedule));
        Ok(request)
    }

    fn request_of(&self, expression: &str) -> Result<Request> {
        let mut request = Request::new(Source::new("expression", expression));
        for statement in expression.lines() {
            request.set_format(computed(statement), self.format)?;
        }
        Ok(request)
    }

    /// The program with each statement planned alone.
    pub(super) fn in_parts(&self) -> Result<Request> {
        let mut schedule = String::new();
        for statement in self.expression.lines() {
            let inputs = self.inputs.iter();
            let own = inputs.filter(|(name, _)| statement.contains(&format!("{name}(")));
            let own = own.map(|(name, tensor)| (name.clone(), tensor.clone()));
            let alone = compile(&self.request_of(statement)?, &own.collect())?;
            let commands = alone.emit(&Stage::Schedule)?;
            schedule.push_str(&format!("{}:\n{commands}", computed(statement)));
        }
        self.scheduled(&self.expression, &schedule)
    }

    /// The name of the result.
    pub(super) fn result(&self) -> &str {
        computed(self.expression.lines().next_back().unwrap_or_default())
    }
}

/// The name that a statement assigns to.
fn computed(statement: &str) -> &str {
    statement.split(['(', ' ']).next().unwrap_or_default()
}

/// A network that can be measured.
pub(super) struct Listed<'g> {
    pub(super) name: String,
    /// Whether it is measured if no networks are named.
    pub(super) is_usual: bool,
    pub(super) case: Box<dyn Fn() -> Result<Case> + 'g>,
}

/// The networks that are named, or the usual ones of a scale, and whether to try the other
/// plans of each.
///
/// | name        | networks                                                       |
/// |-------------|----------------------------------------------------------------|
/// | `mttkrp/4`  | those with these parts in their names, one after the other     |
/// | `search`    | the usual ones, with their other plans                         |
/// | `search/mttkrp/4` | the named ones, with their other plans                   |
///
/// Files take the place of generated tensors, and leave the networks that have an operand
/// like them.
///
/// # Errors
/// `E0004` for a name that there is not.
pub(super) fn chosen<'g>(
    scale: Scale,
    only: &[&str],
    given: &'g [Given],
) -> Result<Vec<(Listed<'g>, bool)>> {
    let mut all = match given {
        [] => integrals::listed(scale),
        _ => Vec::new(),
    };
    all.extend(factors::listed(scale, given));
    if given.is_empty() {
        all.extend(four_index::listed(scale));
        all.extend(graphs::listed(scale));
        all.extend(together::listed(scale));
    }
    let wanted: Vec<(&str, bool)> = only
        .iter()
        .map(|name| match name.split_once('/') {
            Some(("search", name)) => (name, true),
            _ if *name == "search" => ("", true),
            _ => (*name, false),
        })
        .collect();
    let is_named = |listed: &Listed<'_>, wanted: &str| match wanted {
        "" => listed.is_usual,
        _ => format!("/{}/", listed.name).contains(&format!("/{wanted}/")),
    };
    for (name, _) in &wanted {
        if !all.iter().any(|listed| is_named(listed, name)) {
            let message = format!("there is no benchmark `networks/{name}`");
            let names: Vec<&str> = all.iter().map(|listed| listed.name.as_str()).collect();
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .help(format!("there are {}", names.join(", "))));
        }
    }
    let chosen = all.into_iter().filter_map(|listed| {
        let mut named = wanted.iter().filter(|(name, _)| is_named(&listed, name));
        let first = match only {
            [] => listed.is_usual.then_some(false),
            _ => named.next().map(|(_, tries)| *tries),
        };
        let tries = first? || named.any(|(_, tries)| *tries);
        Some((listed, tries))
    });
    Ok(chosen.collect())
}
