//! Which tensors a program names, and whether they may be read and assigned
//! where they are.

use std::collections::BTreeMap;

use sparsec_base::suggest::closest;
use sparsec_base::{Arena, Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_format::check_order;

use super::{Declaration, Declarations};
use crate::notation::{Index, Notation, TensorUse};
use crate::operator::Operator;
use crate::program::{Program, TensorData, TensorRole};

/// The tensors of a program, in the order in which the source names them. The
/// types and fills of results follow with their statements.
pub(crate) fn collect(notation: &Notation, declarations: &Declarations) -> Result<Program> {
    let mut collector = Collector {
        source: &notation.source,
        declarations,
        written: BTreeMap::new(),
        read: BTreeMap::new(),
        tensors: Arena::new(),
    };
    for statement in &notation.statements {
        collector.add(&statement.lhs, TensorRole::Result)?;
        let mut result = Ok(());
        statement.rhs.for_each_access(&mut |tensor| {
            if result.is_ok() {
                result = collector.read(notation, tensor);
            }
        });
        result?;
        collector.write(&statement.lhs)?;
    }
    Ok(Program {
        source: notation.source.clone(),
        tensors: collector.tensors,
        vars: Arena::new(),
        statements: Vec::new(),
    })
}

struct Collector<'a> {
    source: &'a Source,
    declarations: &'a Declarations,
    /// Where each tensor is assigned.
    written: BTreeMap<&'a str, Span>,
    /// Where each tensor is first read.
    read: BTreeMap<&'a str, Span>,
    tensors: Arena<crate::program::TensorVar, TensorData>,
}

impl<'a> Collector<'a> {
    /// Adds a tensor where it is first named, and checks its order.
    fn add(&mut self, tensor: &TensorUse, role: TensorRole) -> Result<()> {
        let name = &tensor.name.text;
        let declaration = self.declarations.get(name);
        let order = tensor.indices.len();
        check_order(order).map_err(|error| error.at(self.source, tensor.span, "too many"))?;
        if let Some(known) = self.tensors.find(|known| known.name == *name) {
            let known = &self.tensors[known];
            if known.order() == order {
                return Ok(());
            }
            let error = self.wrong_order(tensor, known.order());
            return Err(error.also(self.source, known.span, first_use(known.order())));
        }
        if let Some(known) = declaration.and_then(Declaration::known_order)
            && known != order
        {
            let error = self.wrong_order(tensor, known);
            return Err(with_origin(error, name, declaration));
        }
        let element = declaration.and_then(|known| known.element);
        let element = element.unwrap_or(ElementType::F64);
        let extents = declaration.and_then(|known| known.extents.as_ref());
        let fill = declaration.and_then(|known| known.fill?.cast(element));
        self.tensors.push(TensorData {
            name: name.clone(),
            element,
            extents: match extents {
                Some(extents) => extents.iter().copied().map(Some).collect(),
                None => vec![None; order],
            },
            fill: fill.unwrap_or_else(|| element.zero()),
            role,
            span: tensor.name.span,
        });
        Ok(())
    }

    fn wrong_order(&self, tensor: &TensorUse, known: usize) -> Diagnostic {
        let name = &tensor.name.text;
        let used = indices(tensor.indices.len());
        Diagnostic::new(
            code::WRONG_ORDER,
            format!("`{name}` has order {known}, but is used with {used}"),
        )
        .at(self.source, tensor.span, used)
    }

    fn read(&mut self, notation: &Notation, tensor: &'a TensorUse) -> Result<()> {
        let name = tensor.name.text.as_str();
        let known = self.written.contains_key(name) || self.declarations.get(name).is_some();
        let assigned = |text: &str| {
            let mut statements = notation.statements.iter();
            statements.any(|statement| statement.lhs.name.text == text)
        };
        if !known && !assigned(name) {
            return Err(self.unknown(notation, tensor));
        }
        self.add(tensor, TensorRole::Input)?;
        self.read.entry(name).or_insert(tensor.name.span);
        Ok(())
    }

    fn unknown(&self, notation: &Notation, tensor: &TensorUse) -> Diagnostic {
        let name = tensor.name.text.as_str();
        let error = Diagnostic::new(code::UNKNOWN_TENSOR, format!("unknown tensor `{name}`"));
        let is_index = notation.statements.iter().any(|statement| {
            let mut found = false;
            let mut look = |tensor: &TensorUse| {
                let mut indices = tensor.indices.iter().flat_map(Index::vars);
                found |= indices.any(|word| word.text == name);
            };
            look(&statement.lhs);
            statement.rhs.for_each_access(&mut look);
            found
        });
        if is_index && tensor.indices.is_empty() {
            return error
                .at(
                    self.source,
                    tensor.name.span,
                    "an index variable is not a value",
                )
                .help(format!(
                    "read the numbers from a tensor: `n({name})` of `-g n=dense:iota`"
                ));
        }
        let error = error.at(self.source, tensor.name.span, "no tensor has this name");
        let declared = self.declarations.tensors.keys().map(String::as_str);
        let written = self.written.keys().copied();
        let functions = Operator::functions();
        let near = closest(name, declared.chain(written))
            .or_else(|| closest(name, functions).filter(|_| tensor.indices.len() == 1));
        match near {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!(
                "give it, or compute it in a statement above: `{tensor} = …`"
            )),
        }
    }

    /// Every name is assigned once, and read only after that.
    fn write(&mut self, tensor: &'a TensorUse) -> Result<()> {
        let name = tensor.name.text.as_str();
        let before = match (self.read.get(name), self.written.get(name)) {
            (_, Some(before)) => Some((*before, "assigned here already")),
            (Some(before), None) => Some((*before, "read here already")),
            (None, None) => None,
        };
        self.written.insert(name, tensor.name.span);
        let Some((before, label)) = before else {
            return Ok(());
        };
        Err(Diagnostic::new(
            code::REDEFINED_TENSOR,
            format!("`{name}` is assigned, but has a value already"),
        )
        .at(self.source, tensor.name.span, "assigned here")
        .also(self.source, before, label)
        .help("give the new value a name of its own"))
    }
}

/// Whatever was declared has to be there.
pub(crate) fn check_all_used(
    notation: &Notation,
    declarations: &Declarations,
    program: &Program,
) -> Result<()> {
    let tensors: Vec<&str> = names(program.tensors.iter().map(|(_, data)| &data.name));
    let mut vars = Vec::new();
    for statement in &notation.statements {
        let mut note = |tensor: &TensorUse| {
            let indices = tensor.indices.iter().flat_map(Index::vars);
            vars.extend(indices.map(|word| word.text.clone()));
        };
        note(&statement.lhs);
        statement.rhs.for_each_access(&mut note);
    }
    let vars: Vec<&str> = names(vars.iter());
    for name in declarations.tensors.keys() {
        if !tensors.contains(&name.as_str()) {
            return Err(unused(notation, "tensor", name, &tensors));
        }
    }
    for name in declarations.extents.keys() {
        if !vars.contains(&name.as_str()) {
            return Err(unused(notation, "index variable", name, &vars));
        }
    }
    Ok(())
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    names.map(String::as_str).collect()
}

fn unused(notation: &Notation, what: &str, name: &str, known: &[&str]) -> Diagnostic {
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
