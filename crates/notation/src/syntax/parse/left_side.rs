//! A statement without a left side: the one to propose.
//!
//! The proposed left side names the indices that a product does not contract, as in
//! NumPy's einsum without `->`:
//!
//! | expression           | proposed statement            |
//! |----------------------|-------------------------------|
//! | `A(i,j) * x(j)`      | `y(i) = A(i,j) * x(j)`        |
//! | `A(i,k) * B(k,j)`    | `C(i,j) = A(i,k) * B(k,j)`    |
//! | `A(i,j) + B(i,j)`    | `C(i,j) = A(i,j) + B(i,j)`    |
//! | `sum{i}(x(i))`       | `s = sum{i}(x(i))`            |
//! | `sum(A(i,j))`        | `s = sum{i,j}(A(i,j))`       |

use sparsec_base::{Diagnostic, Source, Span, code};
use sparsec_index::Operator;

use super::super::{Index, Node, NodeKind};
use super::Parser;

/// Names for a result with no mode, with one, and with more.
const NAMES: [&[&str]; 3] = [
    &["s", "t", "result"],
    &["y", "z", "result"],
    &["C", "D", "E", "Result"],
];

impl Parser {
    /// The diagnostic for a statement that is an expression alone. The statement begins at
    /// the position `start`; the cursor stands where an `=` was expected.
    ///
    /// `None` if the text is no expression either.
    pub(super) fn without_left_side(&self, start: usize) -> Option<Diagnostic> {
        let source = self.tokens.source();
        let end = self.tokens.peek().span.start as usize;
        let begin = self.restarted(start);
        let start = begin.tokens.peek().span.start as usize;
        // A fault behind an `=` has nothing to do with the left side.
        if begin.tokens.at_end() || source.slice(Span::new(start, end)).contains('=') {
            return None;
        }
        if let Some((reduction, behind)) = begin.over_all_indices() {
            let help = format!("name the result: `s = {reduction}`");
            return behind
                .at_statement_end()
                .then(|| begin.no_left_side().help(help));
        }
        let mut parser = begin.clone();
        let expr = parser.expr().ok().filter(|_| parser.at_statement_end())?;
        // Parentheses around the whole are no part of the tree.
        let whole = Span::new(start, parser.tokens.peek_before().end as usize);
        if let Some(statement) = assigned_by_equals(&expr, source, whole) {
            let help = format!("`==` compares, and `=` assigns: `{statement}`");
            return Some(begin.no_left_side().help(help));
        }
        let uses = Uses::of(&expr);
        let free: Vec<&str> = uses.free.iter().map(String::as_str).collect();
        let taken = |name: &&&str| !uses.tensors.iter().any(|known| known == **name);
        let names = NAMES[free.len().min(NAMES.len() - 1)];
        let name = names.iter().find(taken)?;
        let left = match free.is_empty() {
            true => (*name).to_owned(),
            false => format!("{name}({})", free.join(",")),
        };
        let text = source.slice(whole);
        let help = format!("name the result: `{left} = {text}`");
        Some(begin.no_left_side().help(help))
    }

    fn no_left_side(&self) -> Diagnostic {
        let message = "a statement without a left side and `=`";
        let start = self.tokens.peek().span.start as usize;
        Diagnostic::new(code::UNEXPECTED_TOKEN, message).at(
            self.tokens.source(),
            Span::new(start, start),
            "expected a tensor to assign and `=`",
        )
    }
}

/// The statement that `y(i) == x(i)` may have meant: a tensor, `==`, and an expression
/// without that tensor.
fn assigned_by_equals(expr: &Node, source: &Source, whole: Span) -> Option<String> {
    let NodeKind::Apply { op, op_span, args } = &expr.kind else {
        return None;
    };
    let (Operator::Eq, [left, right]) = (op, &args[..]) else {
        return None;
    };
    let NodeKind::Access(assigned) = &left.kind else {
        return None;
    };
    if Uses::of(right).tensors.contains(&assigned.name.text) {
        return None;
    }
    let at = op_span.0.start.checked_sub(whole.start)?;
    let (before, behind) = source.slice(whole).split_at_checked(at as usize)?;
    Some(format!("{before}={}", behind.strip_prefix("==")?))
}

/// The index variables of an expression that no reduction in it binds, in the order of
/// their first use.
pub(super) fn variables(node: &Node) -> Vec<String> {
    let mut uses = Uses::default();
    uses.add(node, false);
    uses.free
}

/// The names in an expression.
#[derive(Default)]
struct Uses {
    /// The tensors.
    tensors: Vec<String>,
    /// The index variables of the result, in the order of their first use.
    free: Vec<String>,
    /// Those that products sum over.
    contracted: Vec<String>,
}

impl Uses {
    /// Of an expression in which products sum over shared variables, as they do outside of
    /// functions and divisors.
    fn of(node: &Node) -> Self {
        let mut uses = Self::default();
        uses.add(node, true);
        uses
    }

    fn add(&mut self, node: &Node, contracts: bool) {
        match &node.kind {
            NodeKind::Access(access) => {
                self.tensors.push(access.name.text.clone());
                access.indices.iter().for_each(|index| self.index(index));
            }
            NodeKind::Index(index) => self.index(index),
            NodeKind::Number(_) => {}
            NodeKind::Cast(_, body) => self.add(body, false),
            NodeKind::Reduce { vars, body, .. } => {
                let mut inner = Self::default();
                inner.add(body, false);
                let is_bound = |free: &String| vars.iter().any(|var| var.text == *free);
                inner.free.retain(|free| !is_bound(free));
                self.join(inner, false);
            }
            NodeKind::Apply { op, args, .. } => {
                let is_product = contracts && *op == Operator::Mul;
                let mut all = Self::default();
                for (at, arg) in args.iter().enumerate() {
                    let contracts = contracts
                        && match op {
                            Operator::Mul | Operator::Add | Operator::Sub | Operator::Neg => true,
                            Operator::Div => at == 0,
                            _ => false,
                        };
                    let mut of_arg = Self::default();
                    of_arg.add(arg, contracts);
                    all.join(of_arg, is_product);
                }
                self.join(all, false);
            }
        }
    }

    /// Adds the names of another part; a product sums over the variables of both.
    fn join(&mut self, other: Self, is_product: bool) {
        self.contracted.extend(other.contracted);
        for var in other.free {
            match self.free.contains(&var) {
                true if is_product => self.contracted.push(var),
                true => {}
                false => self.free.push(var),
            }
        }
        if is_product {
            self.free.retain(|var| !self.contracted.contains(var));
        }
        self.tensors.extend(other.tensors);
    }

    fn index(&mut self, index: &Index) {
        index.for_each_var(&mut |var| {
            if !self.free.contains(&var.text) {
                self.free.push(var.text.clone());
            }
        });
    }
}
