//! Which tensors a program names, and whether they may be read and assigned
//! where they are.
//!
//! A name may be assigned again. Each value is a tensor of its own; the last has
//! the name, earlier ones a number behind it, 0 for the value that is given:
//!
//! ```text
//! written                    tensors
//! A(i) = A(i) + b(i)         A_1(i) = A_0(i) + b(i)      A_0 is given as `A`
//! A(i) *= 2                  A(i) = A_1(i) * 2
//! ```

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, check_order, code};
use sparsec_index::{Operator, Program, TensorData, TensorRole, TensorVar, Tensors, Vars};

use super::{Declaration, Declarations};
use crate::syntax::{Assignment, Notation, TensorUse};

/// The tensors that one statement names.
#[derive(Debug)]
pub(crate) struct Named {
    /// The one that it assigns.
    pub(crate) result: TensorVar,
    /// The value that this one had before, if it had any.
    pub(crate) before: Option<TensorVar>,
    /// Those that it reads, by the name in the source.
    pub(crate) read: BTreeMap<String, TensorVar>,
}

/// The first tensor of each name in the source.
pub(crate) type Firsts<'a> = BTreeMap<&'a str, TensorVar>;

/// The tensors of a program, in the order in which the source names them, and
/// those of each statement. The types and fills of results follow with their
/// statements.
pub(crate) fn collect<'a>(
    notation: &'a Notation,
    declarations: &'a Declarations,
) -> Result<(Program, Vec<Named>, Firsts<'a>)> {
    let names = notation.tensor_names();
    let mut collector = Collector {
        notation,
        source: &notation.source,
        declarations,
        names: names.into_iter().map(|known| known.name).collect(),
        n_values: BTreeMap::new(),
        last: BTreeMap::new(),
        newest: BTreeMap::new(),
        first: Firsts::new(),
        n_assigned: BTreeMap::new(),
        tensors: Tensors::new(),
    };
    let vars = notation.index_variables().into_iter();
    collector.names.extend(vars.map(str::to_owned));
    for statement in &notation.statements {
        let name = statement.lhs.name.text.as_str();
        *collector.n_values.entry(name).or_default() += 1;
    }
    let mut named = Vec::new();
    for statement in &notation.statements {
        named.push(collector.statement(statement)?);
    }
    let program = Program {
        source: notation.source.clone(),
        tensors: collector.tensors,
        vars: Vars::new(),
        same_extent: Vec::new(),
        statements: Vec::new(),
    };
    Ok((program, named, collector.first))
}

struct Collector<'a> {
    notation: &'a Notation,
    source: &'a Source,
    declarations: &'a Declarations,
    /// The names of all tensors and index variables of the program.
    names: BTreeSet<String>,
    /// How many statements assign each name.
    n_values: BTreeMap<&'a str, usize>,
    /// The value that each name has now.
    last: BTreeMap<&'a str, TensorVar>,
    /// The tensor of each name that was added last: that of a left side while its right
    /// side is read.
    newest: BTreeMap<&'a str, TensorVar>,
    first: Firsts<'a>,
    /// How often each name was assigned.
    n_assigned: BTreeMap<&'a str, usize>,
    tensors: Tensors,
}

impl<'a> Collector<'a> {
    fn statement(&mut self, statement: &'a Assignment) -> Result<Named> {
        let name = statement.lhs.name.text.as_str();
        self.check_order(&statement.lhs)?;
        let goes_on = statement.goes_on() && !self.last.contains_key(name);
        if goes_on && self.declarations.is_given(name) {
            self.input(&statement.lhs)?;
        }
        let before = self.last.get(name).copied();
        let result = self.add(&statement.lhs, TensorRole::Result)?;
        let mut read = BTreeMap::new();
        let mut failed = Ok(());
        statement.rhs.for_each_access(&mut |tensor| {
            if failed.is_ok() {
                let found = self.read(tensor);
                failed = found.map(|found| {
                    read.insert(tensor.name.text.clone(), found);
                });
            }
        });
        failed?;
        // Read on the right, the value before may be named behind the left side.
        let before = before.or_else(|| read.get(name).copied());
        self.last.insert(name, result);
        *self.n_assigned.entry(name).or_default() += 1;
        Ok(Named {
            result,
            before,
            read,
        })
    }

    /// The tensor that is read here: the last value, or what is given.
    fn read(&mut self, tensor: &'a TensorUse) -> Result<TensorVar> {
        self.check_order(tensor)?;
        let name = tensor.name.text.as_str();
        match self.last.get(name) {
            Some(last) => Ok(*last),
            None => self.input(tensor),
        }
    }

    /// The tensor that is given by this name.
    fn input(&mut self, tensor: &'a TensorUse) -> Result<TensorVar> {
        let name = tensor.name.text.as_str();
        if self.declarations.of_input(name).is_none() {
            return Err(self.unknown(tensor));
        }
        let input = self.add(tensor, TensorRole::Input)?;
        self.last.insert(name, input);
        Ok(input)
    }

    /// Checks how many indices a tensor has, here and where it was named before.
    fn check_order(&self, tensor: &TensorUse) -> Result<()> {
        let name = &tensor.name.text;
        let order = tensor.indices.len();
        check_order(order).map_err(|error| error.at(self.source, tensor.span, "too many"))?;
        if let Some(newest) = self.newest.get(name.as_str()) {
            let known = &self.tensors[*newest];
            if known.order() == order {
                return Ok(());
            }
            let error = self.wrong_order(tensor, known.order());
            return Err(error.also(self.source, known.span, first_use(known.order())));
        }
        for declaration in [
            self.declarations.get(name),
            self.declarations.of_input(name),
        ] {
            if let Some(known) = declaration.and_then(Declaration::known_order)
                && known != order
            {
                let error = self.wrong_order(tensor, known);
                return Err(with_origin(error, name, declaration));
            }
        }
        Ok(())
    }

    /// Adds a tensor where a value of its name is first used.
    fn add(&mut self, tensor: &'a TensorUse, role: TensorRole) -> Result<TensorVar> {
        let name = &tensor.name.text;
        let declaration = match role {
            TensorRole::Input => self.declarations.of_input(name),
            _ => self.declarations.get(name),
        };
        let element = declaration.and_then(|known| known.element);
        let element = element.unwrap_or(ElementType::F64);
        let extents = declaration.and_then(|known| known.extents.as_ref());
        let fill = match declaration.and_then(|known| known.fill) {
            Some(fill) if role == TensorRole::Input => {
                let held = fill.as_type(element);
                Some(held.ok_or_else(|| self.no_such_fill(tensor, fill, element))?)
            }
            // What fill a result has follows from its statement.
            _ => None,
        };
        let (numbered, earlier_of) = self.name_of_value(name, role);
        let added = self.tensors.push(TensorData {
            name: numbered,
            earlier_of,
            element,
            extents: match extents {
                Some(extents) => extents.iter().copied().map(Some).collect(),
                None => vec![None; tensor.indices.len()],
            },
            fill: fill.unwrap_or_else(|| element.zero()),
            role,
            span: tensor.name.span,
            levels_of: None,
        });
        self.newest.insert(name, added);
        self.first.entry(name).or_insert(added);
        Ok(added)
    }

    fn no_such_fill(&self, tensor: &TensorUse, fill: Scalar, element: ElementType) -> Diagnostic {
        let name = &tensor.name.text;
        let message = format!("`{name}` has fill {fill}, which no {element} is");
        Diagnostic::new(code::FILL_MISMATCH, message)
            .at(self.source, tensor.name.span, format!("of type {element}"))
            .help("declare a type that has the fill, such as `f64`, or another fill")
    }

    /// What the next value of a name is called, and the name if that is another.
    fn name_of_value(&self, name: &str, role: TensorRole) -> (String, Option<String>) {
        let n_values = self.n_values.get(name).copied().unwrap_or(0);
        let number = match role {
            TensorRole::Input => 0,
            _ => 1 + self.n_assigned.get(name).copied().unwrap_or(0),
        };
        if number == n_values {
            return (name.to_owned(), None);
        }
        let mut numbered = format!("{name}_{number}");
        while self.names.contains(numbered.as_str()) {
            numbered.insert(name.len(), '_');
        }
        (numbered, Some(name.to_owned()))
    }

    fn wrong_order(&self, tensor: &TensorUse, known: usize) -> Diagnostic {
        let name = &tensor.name.text;
        let used = indices(tensor.indices.len());
        Diagnostic::new(
            code::WRONG_ORDER,
            format!("`{name}` has order {known}, but is used with {used}"),
        )
        .at(self.source, tensor.span, used)
        .help(one_index_a_mode(name, known))
    }

    fn unknown(&self, tensor: &TensorUse) -> Diagnostic {
        let name = tensor.name.text.as_str();
        let mut statements = self.notation.statements.iter();
        if let Some(assigned) = statements.find(|it| it.lhs.name.text == name) {
            let message = format!("`{name}` is read before it has a value");
            return Diagnostic::new(code::READ_BEFORE_ASSIGNED, message)
                .at(self.source, tensor.name.span, "read here")
                .also(self.source, assigned.lhs.name.span, "assigned here")
                .help(format!(
                    "give `{name}` a value to begin with, or assign it above"
                ));
        }
        let error = Diagnostic::new(code::UNKNOWN_TENSOR, format!("unknown tensor `{name}`"));
        let error = error.at(self.source, tensor.name.span, "no tensor has this name");
        let declared = self.declarations.tensors.keys().map(String::as_str);
        let known = declared.chain(self.last.keys().copied());
        let functions = Operator::functions();
        let near = closest(name, known)
            .or_else(|| closest(name, functions).filter(|_| tensor.indices.len() == 1));
        match near {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!(
                "give it, or compute it in a statement above: `{tensor} = …`"
            )),
        }
    }
}

/// Whatever was declared has to be there.
pub(crate) fn check_all_used(
    notation: &Notation,
    declarations: &Declarations,
    program: &Program,
) -> Result<()> {
    let tensors = program.tensors.iter();
    let tensors: BTreeSet<&str> = tensors.map(|(_, it)| it.source_name()).collect();
    let vars = notation.index_variables();
    for name in declarations.tensors.keys().chain(declarations.given.keys()) {
        if !tensors.contains(name.as_str()) {
            return Err(unused(notation, "tensor", name, &tensors));
        }
    }
    for name in declarations.extents.keys() {
        if !vars.contains(name.as_str()) {
            return Err(unused(notation, "index variable", name, &vars));
        }
    }
    Ok(())
}

fn unused(notation: &Notation, what: &str, name: &str, known: &BTreeSet<&str>) -> Diagnostic {
    let spans = notation.statements.iter().map(|statement| statement.span);
    let span = spans.reduce(Span::to).unwrap_or_default();
    let error = Diagnostic::new(
        code::UNUSED_NAME,
        format!("the program has no {what} `{name}`"),
    )
    .at(&notation.source, span, format!("no `{name}` in here"));
    match closest(name, known.iter().copied()) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error.help(format!("leave out what is said of `{name}`")),
    }
}

/// Adds where a tensor comes from to a diagnostic.
pub(crate) fn with_origin(
    error: Diagnostic,
    name: &str,
    declaration: Option<&Declaration>,
) -> Diagnostic {
    match declaration {
        Some(known) if !known.origin.is_empty() => {
            error.note(format!("`{name}` is {}", known.origin))
        }
        _ => error,
    }
}

fn indices(n: usize) -> String {
    match n {
        0 => "no index".to_owned(),
        1 => "1 index".to_owned(),
        n => format!("{n} indices"),
    }
}

fn first_use(order: usize) -> String {
    format!("first used with {}", indices(order))
}

/// How a tensor of an order is used.
pub fn one_index_a_mode(name: &str, order: usize) -> String {
    match order {
        0 => format!("a scalar has no indices: `{name}`"),
        1 => format!("write one index: `{name}(i)`"),
        _ => {
            let names = (0..order).map(|mode| match b"ijklmn".get(mode) {
                Some(letter) if order <= 6 => char::from(*letter).to_string(),
                _ => format!("i{mode}"),
            });
            let names: Vec<String> = names.collect();
            format!(
                "write an index for each mode: `{name}({})`",
                names.join(",")
            )
        }
    }
}
