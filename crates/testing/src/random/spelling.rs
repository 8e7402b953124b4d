//! Laws of spelling: programs that say the same have the same results.
//!
//! | law         | a program                       | says the same as                     |
//! |-------------|---------------------------------|--------------------------------------|
//! | [explicit]  | `Z = A(i,j) - c(i)`             | `Z = sum{i,j}(A(i,j)) - sum{i}(c(i))` |
//! | added zero  | `Z = A(i,j) - c(i)`             | `Z = 0 + (A(i,j) - c(i))`            |
//! | renamed     | `Z(i) = A(i,j)`                 | `Z(n9) = A(n9,m)`                    |
//! | term by term | `Z = A(i,j) - c(i)`            | `Z = A(i_0,j_0) - c(i_1)`            |
//!
//! The first is held against the oracle's own reading of the rule for implied
//! sums; the others are run. A program that the rule refuses is refused in every
//! spelling, and is run with an explicit sum around its right side.
//!
//! [explicit]: sparsec::internals::reference::implied

use std::collections::BTreeMap;

use sparsec::internals::index::Operator;
use sparsec::internals::notation::{Declaration, Declarations, Notation};
use sparsec::internals::notation::{Index, Node, NodeKind, Number, Place, Word};
use sparsec::internals::reference::{self, CoordinateMap, implied};
use sparsec::internals::{Inputs, Request, compile};
use sparsec::{Session, Source, Span, UserFunction, code};
use sparsec_base::Kind;

use super::check::fail_alike;
use super::expression::VARS;

/// What each of [`VARS`] is renamed to, so that their order by name is another.
const OTHERS: [&str; 4] = ["n9", "m", "b2", "a1"];

/// A program in which right sides that the rule for implied sums refuses are sums
/// over all that they are missing.
pub(super) fn unambiguous(text: String, functions: &[UserFunction]) -> String {
    let source = Source::new("program", text);
    let mut notation = parse(&source, functions);
    for assignment in &mut notation.statements {
        let alone = Notation {
            source: source.clone(),
            statements: vec![assignment.clone()],
        };
        if implied::explicit(&alone).is_some() {
            continue;
        }
        let mut vars: Vec<Word> = Vec::new();
        for (_, missing) in implied::terms(assignment) {
            let new = missing.into_iter().filter(|var| !vars.contains(var));
            vars.extend(new.collect::<Vec<Word>>());
        }
        let body = Box::new(assignment.rhs.clone());
        assignment.rhs.kind = NodeKind::Reduce {
            op: Operator::Add,
            stored: false,
            vars,
            body,
        };
    }
    let statements = notation.statements.iter().map(ToString::to_string);
    statements.collect::<Vec<String>>().join("\n")
}

fn parse(source: &Source, functions: &[UserFunction]) -> Notation {
    Notation::parse_with(source, functions).expect("the strategy writes programs")
}

/// Compares the implied sums of a program with those that the oracle writes out.
///
/// # Errors
/// How they differ.
pub(super) fn check_explicit(text: &str, request: &Request, inputs: &Inputs) -> Result<(), String> {
    let source = Source::new("program", text);
    let notation = parse(&source, &request.functions);
    let mut declarations = Declarations::new();
    for (name, tensor) in inputs.iter() {
        let declaration = Declaration::with_extents(tensor.extents()).of(tensor.element());
        let declaration = Declaration {
            fill: Some(tensor.fill()),
            ..declaration
        };
        declarations.declare(name, declaration);
    }
    for (var, extent) in &request.extents {
        declarations.set_extent(var, *extent);
    }
    let resolved = notation.resolve(&declarations);
    let is_refused = matches!(&resolved, Err(error) if error.code() == code::AMBIGUOUS_SUM);
    let explicit = implied::explicit(&notation);
    match (resolved, explicit) {
        (Err(error), Some(_)) if is_refused => {
            Err(format!("the oracle finds no fault in\n{text}\n{error}"))
        }
        (Ok(_), None) => Err(format!("the oracle refuses the sums of\n{text}")),
        // Reductions that are written out share no extents, so they may lack one.
        (Ok(resolved), Some(explicit)) => match explicit.resolve(&declarations) {
            Ok(other) if other.to_string() != resolved.to_string() => {
                Err(format!("{resolved}\nis, as the oracle reads it,\n{other}"))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Runs another spelling of a program, one of three by its number, and compares
/// the results.
///
/// # Errors
/// How they differ.
pub(super) fn check_respelled(
    number: usize,
    request: &Request,
    inputs: &Inputs,
    session: &Session,
) -> Result<(), String> {
    let notation = parse(&request.expression, &request.functions);
    let mut other = request.clone();
    let text = match number % 3 {
        0 => with_zeros(notation, request, inputs),
        1 => with_names(&notation, &mut other, &|_, word| {
            let place = VARS.iter().position(|var| *var == word);
            place.map(|place| OTHERS[place].to_owned())
        }),
        _ => {
            // A window bounds a variable that its own term alone names, and shares one
            // that another term bounds.
            if !state_extents(&mut other, inputs) {
                return Ok(());
            }
            with_names(&notation, &mut other, &|term, word| {
                Some(format!("{word}_{}", term?))
            })
        }
    };
    other.expression = Source::new("program", &*text);
    let respelled = parse(&other.expression, &other.functions);
    let known = respelled.index_variables();
    other.extents.retain(|var, _| known.contains(var.as_str()));
    let run = |request: &Request| {
        let compiled = compile(request, inputs)?;
        let outcome = session.run(&compiled, inputs)?;
        Ok((compiled, outcome))
    };
    let found: [sparsec::Result<_>; 2] = [run(request), run(&other)];
    let (compiled, one, respelled) = match found {
        [Ok((compiled, one)), Ok((_, other))] => (compiled, one, other),
        [Err(one), Err(other)] if fail_alike(&one, &other) => return Ok(()),
        // A variable that is only a number in its term is one by the other terms, and has
        // its extent from them.
        [_, Err(error)]
            if number % 3 == 2
                && [code::UNBOUND_INDEX, code::UNKNOWN_TENSOR].contains(&error.code()) =>
        {
            return Ok(());
        }
        [Err(error), _] | [_, Err(error)] => {
            return Err(format!("spelled as\n{text}\nit ends otherwise: {error}"));
        }
    };
    for name in compiled.results() {
        let [one, other] = [&one, &respelled].map(|outcome| outcome.value(name));
        let (Some(one), Some(other)) = (one, other) else {
            continue;
        };
        let difference = match one.element() == other.element() {
            true => reference::compare(&CoordinateMap::of(one), other).map(|it| it.to_string()),
            false => Some(format!("{} and {}", one.element(), other.element())),
        };
        if let Some(difference) = difference {
            return Err(format!("spelled as\n{text}\n{name}: {difference}"));
        }
    }
    Ok(())
}

/// States the extents that index variables have; returns whether each name has one.
///
/// Index variables of one name in the source, as in `B(k) + max{k}(T(2*k))`, have numbers
/// behind it: `k` and `k1`.
fn state_extents(request: &mut Request, inputs: &Inputs) -> bool {
    let Ok(compiled) = compile(request, inputs) else {
        return true;
    };
    let vars = compiled.resolved().vars.iter();
    let mut stated = vars.filter_map(|(_, var)| Some((&var.name, var.extent?)));
    stated.all(|(name, extent)| {
        let written = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let known = request.extents.entry(written.to_owned()).or_insert(extent);
        *known == extent
    })
}

/// A program with a zero beside each right side, but for truth values, which are no
/// numbers.
fn with_zeros(mut notation: Notation, request: &Request, inputs: &Inputs) -> String {
    let is_bool = compile(request, inputs).map_or(true, |compiled| {
        let tensors = compiled.resolved().tensors.iter();
        let mut elements = tensors.map(|(_, data)| data.element);
        elements.any(|element| element.kind() == Kind::Bool)
    });
    for (number, assignment) in notation.statements.iter_mut().enumerate() {
        if is_bool {
            break;
        }
        let rhs = assignment.rhs.clone();
        let span = rhs.span;
        let zero = Node {
            kind: NodeKind::Number(Number::Integer(0)),
            span,
        };
        let (op, args) = match number % 2 {
            0 => (Operator::Add, vec![zero, rhs]),
            _ => (Operator::Sub, vec![rhs, zero]),
        };
        let op_span = Place(span);
        assignment.rhs.kind = NodeKind::Apply { op, op_span, args };
    }
    let statements = notation.statements.iter().map(ToString::to_string);
    statements.collect::<Vec<String>>().join("\n")
}

/// A program with other names for its index variables: `name` says which, given the
/// term that is missing the variable, if one is.
fn with_names(
    notation: &Notation,
    request: &mut Request,
    name: &dyn Fn(Option<usize>, &str) -> Option<String>,
) -> String {
    let mut renamed: BTreeMap<usize, (Span, String)> = BTreeMap::new();
    let mut extents = request.extents.clone();
    let mut rename = |term: Option<usize>, word: &Word| {
        let Some(name) = name(term, &word.text) else {
            return;
        };
        if let Some(extent) = request.extents.get(&word.text) {
            extents.insert(name.clone(), *extent);
        }
        renamed.insert(word.span.range().start, (word.span, name));
    };
    for assignment in &notation.statements {
        for word in assignment.lhs.indices.iter().flat_map(Index::vars) {
            rename(None, word);
        }
        assignment.rhs.for_each_var(&mut |word| rename(None, word));
        for (term, (node, missing)) in implied::terms(assignment).into_iter().enumerate() {
            node.for_each_var(&mut |word| {
                if missing.contains(word) {
                    rename(Some(term), word);
                }
            });
        }
    }
    request.extents = extents;
    let mut text = notation.source.text().to_owned();
    for (span, name) in renamed.into_values().rev() {
        text.replace_range(span.range(), &name);
    }
    text
}
