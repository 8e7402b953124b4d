//! Where a variable that is not on the left is summed over.
//!
//! It is summed over the smallest additive term that holds its uses:
//!
//! ```text
//! y(i) = A(i,j) * x(j) + z(i)              sum{j}(A(i,j) * x(j)) + z(i)
//! s    = b(i) * (c(i) + d(i))              sum{i}(b(i) * (c(i) + d(i)))
//! s    = b(i) + c(i)                       sum{i}(b(i) + c(i))
//! y(i) = A(i,j)*x(j) + z(i) + B(i,j)*x(j)  sum{j}(A(i,j)*x(j)) + z(i) + sum{j}(B(i,j)*x(j))
//! y(i) = b(i) * (x(j) + c(i))              b(i) * (sum{j}(x(j)) + c(i))
//! y(i) = sqrt(A(i,j))                      refused
//! ```
//!
//! A chain of `+`, `-` and signs is one sum, whatever the parentheses; the
//! order of its terms makes no difference. Terms without the variable are never
//! repeated. Where every term of a chain has it, the chain is summed as one;
//! where only some have it, each of them is. Sums inside the argument of a
//! function, or inside a divisor, could be meant before or after it and are
//! refused.

use std::collections::HashMap;

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::notation::{Assignment, Index, Node, NodeKind, Word};
use crate::operator::{Operator, Style};

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

    fn add(&mut self, node: &Node, var: &Word) {
        let vars = self.by_part.entry(std::ptr::from_ref(node)).or_default();
        vars.push(var.clone());
    }
}

/// The sums that `assignment` leaves unsaid.
///
/// # Errors
/// `E0211`.
pub(crate) fn implied(source: &Source, assignment: &Assignment) -> Result<Sums> {
    let mut sums = Sums::default();
    for var in free_vars(&assignment.rhs) {
        let indices = &assignment.lhs.indices;
        if indices.iter().any(|index| index.vars().contains(&&var)) {
            continue;
        }
        match assignment.op {
            None | Some(Operator::Add) => {
                let mut placement = Placement {
                    source,
                    var: &var,
                    sums: &mut sums,
                };
                placement.place(&assignment.rhs, &assignment.rhs, None)?;
            }
            Some(_) => sums.add(&assignment.rhs, &var),
        }
    }
    Ok(sums)
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

fn has(node: &Node, var: &Word) -> bool {
    free_vars(node).contains(var)
}

/// Whether every term of the chain of `+` and `-` at `node` has the variable.
fn every_term_has(node: &Node, var: &Word) -> bool {
    match &node.kind {
        NodeKind::Apply {
            op: Operator::Add | Operator::Sub | Operator::Neg,
            args,
            ..
        } => args.iter().all(|arg| every_term_has(arg, var)),
        _ => has(node, var),
    }
}

/// The function or divisor around a part: its place, and what it is.
type Inside = Option<(Span, String)>;

struct Placement<'a> {
    source: &'a Source,
    var: &'a Word,
    sums: &'a mut Sums,
}

impl Placement<'_> {
    /// Finds the terms in `node`, which has the variable and lies in `term`.
    fn place(&mut self, node: &Node, term: &Node, inside: Inside) -> Result<()> {
        let NodeKind::Apply { op, op_span, args } = &node.kind else {
            return match &node.kind {
                NodeKind::Cast(element, body) => {
                    let inside = Some((node.span, format!("`{element}`")));
                    self.place(body, term, inside)
                }
                _ => self.settle(term, inside),
            };
        };
        if matches!(op, Operator::Add | Operator::Sub) {
            if every_term_has(node, self.var) {
                return self.settle(term, inside);
            }
            for arg in args.iter().filter(|arg| has(arg, self.var)) {
                self.place(arg, arg, inside.clone())?;
            }
            return Ok(());
        }
        let mut using = args
            .iter()
            .enumerate()
            .filter(|(_, arg)| has(arg, self.var));
        let (Some((at, only)), None) = (using.next(), using.next()) else {
            return self.settle(term, inside);
        };
        let divides = matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod);
        let linear = matches!(op, Operator::Neg | Operator::Mul | Operator::Div);
        let inside = if op.style() == Style::Call {
            Some((op_span.0, format!("`{}`", op.symbol())))
        } else if divides && at == 1 {
            Some((op_span.0, "a divisor".to_owned()))
        } else if linear || every_term_has(only, self.var) {
            inside
        } else {
            Some((op_span.0, format!("`{}`", op.symbol())))
        };
        self.place(only, term, inside)
    }

    fn settle(&mut self, term: &Node, inside: Inside) -> Result<()> {
        let Some((span, what)) = inside else {
            self.sums.add(term, self.var);
            return Ok(());
        };
        let var = &self.var.text;
        Err(Diagnostic::new(
            code::AMBIGUOUS_SUM,
            format!("`{var}` is summed over inside {what}"),
        )
        .at(
            self.source,
            self.var.span,
            format!("`{var}` is not on the left"),
        )
        .also(self.source, span, "before or after this?")
        .help(format!("write the sum: `sum{{{var}}}(…)`")))
    }
}
