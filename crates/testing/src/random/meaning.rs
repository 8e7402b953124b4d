//! Repairs of random right sides: few of them would be valid as they are drawn.
//!
//! A repaired reduction is over a variable that its body uses and that nothing around it
//! binds. Variables that the left side lacks are summed over explicitly:
//!
//! ```text
//! Z(i) = max{i}(A(i, j)) * c(k)       drawn
//! Z(i) = max{j}(A(i, j)) * c(k)       bound once, and used
//! Z(i) = sum{k}(max{j}(…) * c(k))     summed
//! ```

use super::expression::Node;
use super::index::Index;

/// The expression with a fitting variable for each reduction, and without reductions for
/// which there is none.
pub(crate) fn bound_once(node: Node, bound: &[usize]) -> Node {
    let of = |node: Node| bound_once(node, bound);
    match node {
        Node::Infix(symbol, left, right) => {
            Node::Infix(symbol, Box::new(of(*left)), Box::new(of(*right)))
        }
        Node::Call(name, args) => Node::Call(name, args.into_iter().map(of).collect()),
        Node::Reduce(name, var, body) => {
            let used = free(&body);
            let fits = |var: &usize| used.contains(var) && !bound.contains(var);
            let Some(var) = [var].iter().chain(&used).copied().find(fits) else {
                return of(*body);
            };
            let inside: Vec<usize> = bound.iter().copied().chain([var]).collect();
            let body = bound_once(*body, &inside);
            match free(&body).contains(&var) {
                true => Node::Reduce(name, var, Box::new(body)),
                false => body,
            }
        }
        leaf => leaf,
    }
}

/// The sum of an expression over the variables that are not on the left side.
pub(crate) fn summed(node: Node, lhs: &[usize]) -> Node {
    let missing = free(&node).into_iter().filter(|var| !lhs.contains(var));
    let sum = |body, var| Node::Reduce("sum", var, Box::new(body));
    missing.collect::<Vec<_>>().into_iter().fold(node, sum)
}

/// The variables that are used and not reduced over, each once.
fn free(node: &Node) -> Vec<usize> {
    let mut found: Vec<usize> = match node {
        Node::Access(_, indices) => indices.iter().flat_map(Index::vars).collect(),
        // It has as many of them as the result has modes.
        Node::Result(..) | Node::Literal(_) => Vec::new(),
        Node::Index(var) => vec![*var],
        Node::Infix(_, left, right) => [free(left), free(right)].concat(),
        Node::Call(_, args) => args.iter().flat_map(free).collect(),
        Node::Reduce(_, var, body) => free(body).into_iter().filter(|it| it != var).collect(),
    };
    found.sort_unstable();
    found.dedup();
    found
}
