//! Where a variable that is not on the left is summed over.
//!
//! The right side is a sum of **terms**: a chain of `+`, `-` and signs, in
//! parentheses or not. A variable that is not on the left is summed over each
//! term in which it occurs, and over the whole of that term:
//!
//! ```text
//! y(i) = A(i,j) * x(j) + z(i)       sum{j}(A(i,j) * x(j)) + z(i)
//! s    = b(i) + c(i)                sum{i}(b(i)) + sum{i}(c(i))
//! s    = b(i) * (c(i) + d(i))       sum{i}(b(i) * (c(i) + d(i)))
//! y(i) = (A(i,j) - c(i)) * x(j)     sum{j}((A(i,j) - c(i)) * x(j))
//! y(i) = (A(i,j) - c(i)) * 2        refused
//! y(i) = sqrt(A(i,j))               refused
//! ```
//!
//! So the sums of one term do not depend on the other terms, and adding a zero
//! changes nothing. A term is refused if the variable is **hidden** in it: if it
//! occurs only in summands beside one that lacks it, in divisors, in casts and in
//! arguments of functions. There a reader may well expect the sum further
//! inside, which has another value. An explicit reduction is as open as its body.
//!
//! `y(i) max= …` and the like reduce the whole right side.

use std::collections::HashMap;

use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_index::Operator;
use sparsec_index::operator::Style;

use crate::syntax::{Assignment, Index, Node, NodeKind, Word};

/// The variables to be summed over, by the part of the tree they are summed in.
/// A part is known by its address: the tree does not move while it is resolved.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    by_part: HashMap<*const Node, Vec<Word>>,
}

impl Sums {
    /// The variables summed over exactly `node`, in order of appearance.
    pub(crate) fn of(&self, node: &Node) -> &[Word] {
        self.by_part
            .get(&std::ptr::from_ref(node))
            .map_or(&[], Vec::as_slice)
    }
}

/// The sums that `assignment` leaves unsaid.
///
/// # Errors
/// `E0211`.
pub(crate) fn implied(source: &Source, assignment: &Assignment) -> Result<Sums> {
    let indices = &assignment.lhs.indices;
    let is_left = |var: &Word| indices.iter().any(|index| index.vars().contains(&var));
    let adds = matches!(assignment.op, None | Some(Operator::Add));
    let mut terms = Vec::new();
    match adds {
        true => add_terms(&assignment.rhs, &mut terms),
        false => terms.push(&assignment.rhs),
    }
    let mut sums = Sums::default();
    for term in terms {
        let mut missing = free_vars(term);
        missing.retain(|var| !is_left(var));
        if adds {
            refuse_hidden(source, term, &missing)?;
        }
        if !missing.is_empty() {
            sums.by_part.insert(std::ptr::from_ref(term), missing);
        }
    }
    Ok(sums)
}

/// Adds the terms of the chain of `+`, `-` and signs at `node`.
fn add_terms<'a>(node: &'a Node, terms: &mut Vec<&'a Node>) {
    match &node.kind {
        NodeKind::Apply {
            op: Operator::Add | Operator::Sub | Operator::Neg,
            args,
            ..
        } => args.iter().for_each(|arg| add_terms(arg, terms)),
        _ => terms.push(node),
    }
}

/// The variables of an expression that no reduction in it binds, at their
/// first uses.
pub(crate) fn free_vars(node: &Node) -> Vec<Word> {
    let mut found = Vec::new();
    add_free_vars(node, &mut Vec::new(), &mut found);
    found
}

fn add_free_vars(node: &Node, bound: &mut Vec<Word>, found: &mut Vec<Word>) {
    match &node.kind {
        NodeKind::Number(_) => {}
        NodeKind::Access(tensor) => {
            let indices = tensor.indices.iter();
            indices.for_each(|index| add_free_vars_of(index, bound, found));
        }
        NodeKind::Index(index) => add_free_vars_of(index, bound, found),
        NodeKind::Apply { args, .. } => {
            args.iter().for_each(|arg| add_free_vars(arg, bound, found));
        }
        NodeKind::Cast(_, body) => add_free_vars(body, bound, found),
        NodeKind::Reduce { vars, body, .. } => {
            let outer = bound.len();
            bound.extend(vars.iter().cloned());
            add_free_vars(body, bound, found);
            bound.truncate(outer);
        }
    }
}

fn add_free_vars_of(index: &Index, bound: &[Word], found: &mut Vec<Word>) {
    index.for_each_var(&mut |word| {
        if !bound.contains(word) && !found.contains(word) {
            found.push(word.clone());
        }
    });
}

/// How a variable occurs in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Occurrence {
    /// Only where the sum could also be meant further inside.
    Hidden,
    Open,
}

use Occurrence::{Hidden, Open};

/// How each variable that is free in an expression occurs in it.
///
/// All of them at once, from the leaves up: a term has hundreds of parts, and may have
/// thousands of variables.
fn occurrences(node: &Node) -> HashMap<&str, Occurrence> {
    let mut found = HashMap::new();
    match &node.kind {
        NodeKind::Number(_) => {}
        NodeKind::Access(_) | NodeKind::Index(_) => node.for_each_var(&mut |word| {
            found.insert(word.text.as_str(), Open);
        }),
        NodeKind::Cast(_, body) => {
            found = occurrences(body);
            found.values_mut().for_each(|it| *it = Hidden);
        }
        NodeKind::Reduce { vars, body, .. } => {
            found = occurrences(body);
            found.retain(|name, _| vars.iter().all(|var| var.text != *name));
        }
        NodeKind::Apply { op, args, .. } => {
            let mut n_parts: HashMap<&str, usize> = HashMap::new();
            for (at, arg) in args.iter().enumerate() {
                let hides = match op {
                    Operator::Div | Operator::FloorDiv | Operator::Mod => at > 0,
                    _ => op.style() == Style::Call,
                };
                for (name, here) in occurrences(arg) {
                    let here = if hides { Hidden } else { here };
                    let known = found.entry(name).or_insert(here);
                    *known = here.max(*known);
                    *n_parts.entry(name).or_default() += 1;
                }
            }
            if matches!(op, Operator::Add | Operator::Sub) {
                let in_all = |name: &str| n_parts[name] == args.len();
                let beside = found.iter_mut().filter(|(name, _)| !in_all(name));
                beside.for_each(|(_, it)| *it = Hidden);
            }
        }
    }
    found
}

/// Refuses a term in which one of the variables to be summed over is hidden.
fn refuse_hidden(source: &Source, term: &Node, missing: &[Word]) -> Result<()> {
    let found = occurrences(term);
    let is_hidden = |var: &&Word| found.get(var.text.as_str()) == Some(&Hidden);
    let hidden: Vec<Word> = missing.iter().filter(is_hidden).cloned().collect();
    let Some(var) = hidden.first() else {
        return Ok(());
    };
    let name = &var.text;
    let message = format!("the sum over `{name}` could stand in two places");
    let outside = summed(term.clone(), hidden.clone());
    let inside = summed_inside(term, &hidden);
    Err(Diagnostic::new(code::AMBIGUOUS_SUM, message)
        .at(source, var.span, format!("`{name}` is not on the left"))
        .also(source, obstacle(term, var), "before or after this?")
        .help(format!("write `{outside}` or `{inside}`")))
}

fn summed(body: Node, vars: Vec<Word>) -> Node {
    Node {
        span: body.span,
        kind: NodeKind::Reduce {
            op: Operator::Add,
            stored: false,
            vars,
            body: Box::new(body),
        },
    }
}

/// The expression with sums around the largest parts in which the variables are
/// open. A sum of truth values would count them, so in conditions the sums go around the
/// compared values.
fn summed_inside(node: &Node, vars: &[Word]) -> Node {
    let is_condition = matches!(
        &node.kind,
        NodeKind::Apply { op, .. } if op.is_comparison() || op.is_logical()
    );
    let found = occurrences(node);
    let at = |var: &Word| found.get(var.text.as_str()).copied();
    let (here, below): (Vec<Word>, Vec<Word>) = vars
        .iter()
        .filter(|var| at(var).is_some())
        .cloned()
        .partition(|var| !is_condition && at(var) == Some(Open));
    let mut node = node.clone();
    if !below.is_empty() {
        match &mut node.kind {
            NodeKind::Apply { args, .. } => {
                for arg in args {
                    *arg = summed_inside(arg, &below);
                }
            }
            NodeKind::Cast(_, body) | NodeKind::Reduce { body, .. } => {
                **body = summed_inside(body, &below);
            }
            NodeKind::Number(_) | NodeKind::Access(_) | NodeKind::Index(_) => {}
        }
    }
    match here.is_empty() {
        true => node,
        false => summed(node, here),
    }
}

/// The place of the outermost operator, function or type that hides a variable.
fn obstacle(node: &Node, var: &Word) -> Span {
    let (op, op_span, args) = match &node.kind {
        NodeKind::Apply { op, op_span, args } => (op, op_span.0, args),
        NodeKind::Reduce { body, .. } => return obstacle(body, var),
        NodeKind::Cast(element, _) => {
            let start = node.span.range().start;
            return Span::new(start, start + element.name().len());
        }
        NodeKind::Number(_) | NodeKind::Access(_) | NodeKind::Index(_) => return node.span,
    };
    let has = |arg: &Node| occurrences(arg).contains_key(var.text.as_str());
    let found: Vec<bool> = args.iter().map(has).collect();
    let hides = match op {
        Operator::Add | Operator::Sub => found.contains(&false),
        Operator::Div | Operator::FloorDiv | Operator::Mod => !found[0],
        _ => op.style() == Style::Call,
    };
    let first = found.iter().position(|it| *it);
    match first {
        Some(first) if !hides => obstacle(&args[first], var),
        _ => op_span,
    }
}
