//! Implied sums written out, by the occurrences of each variable.
//!
//! ```text
//! y(i) = A(i,j) * x(j) - z(i)      y(i) = sum{j}(A(i,j) * x(j)) - z(i)
//! y(i) = (A(i,j) - z(i)) * 2       none: `j` occurs beside `z(i)` only
//! ```
//!
//! The right side is a sum of terms. A variable that the left side lacks is
//! summed over each term in which it occurs. One occurrence has to be **open**:
//! no function, cast or divisor lies around it, and no `+` or `-` inside the
//! term whose other summand lacks the variable. `op=` with another operator
//! than `+` reduces the whole right side, open or not.
//!
//! Resolving a program decides the same bottom up; this second reading of the
//! rule is the oracle that tests compare it with.

use sparsec_index::Operator;
use sparsec_index::operator::Style;
use sparsec_notation::{Assignment, Index, Node, NodeKind, Notation, Word};

/// The program with a reduction in place of every implied one; `None` where the
/// rule refuses a term.
pub fn explicit(notation: &Notation) -> Option<Notation> {
    let statements = notation.statements.iter().map(explicit_statement);
    Some(Notation {
        source: notation.source.clone(),
        statements: statements.collect::<Option<_>>()?,
    })
}

fn explicit_statement(assignment: &Assignment) -> Option<Assignment> {
    let indices = &assignment.lhs.indices;
    let left: Vec<&Word> = indices.iter().flat_map(Index::vars).collect();
    let rhs = match &assignment.op {
        None | Some(Operator::Add) => spell(&assignment.rhs, &left)?,
        Some(op) => {
            let vars = missing(&assignment.rhs, &left);
            reduce(op.clone(), vars, assignment.rhs.clone())
        }
    };
    Some(Assignment {
        rhs,
        ..assignment.clone()
    })
}

/// A sum with each of its terms summed over the variables that it is missing.
fn spell(node: &Node, left: &[&Word]) -> Option<Node> {
    let mut spelled = node.clone();
    if let NodeKind::Apply { op, args, .. } = &mut spelled.kind
        && matches!(op, Operator::Add | Operator::Sub | Operator::Neg)
    {
        for arg in args {
            *arg = spell(arg, left)?;
        }
        return Some(spelled);
    }
    let vars = missing(node, left);
    vars.iter()
        .all(|var| is_open(node, var))
        .then(|| reduce(Operator::Add, vars, spelled))
}

/// The terms of the right side, each with the variables that it is missing.
pub fn terms(assignment: &Assignment) -> Vec<(&Node, Vec<Word>)> {
    let indices = &assignment.lhs.indices;
    let left: Vec<&Word> = indices.iter().flat_map(Index::vars).collect();
    let mut found = Vec::new();
    let mut open = vec![&assignment.rhs];
    while let Some(node) = open.pop() {
        match &node.kind {
            NodeKind::Apply {
                op: Operator::Add | Operator::Sub | Operator::Neg,
                args,
                ..
            } if matches!(assignment.op, None | Some(Operator::Add)) => {
                open.extend(args.iter().rev());
            }
            _ => found.push((node, missing(node, &left))),
        }
    }
    found
}

/// Whether an occurrence of a variable is open.
fn is_open(node: &Node, var: &Word) -> bool {
    match &node.kind {
        NodeKind::Cast(..) => false,
        NodeKind::Reduce { vars, body, .. } => !vars.contains(var) && is_open(body, var),
        NodeKind::Apply { op, args, .. } => match op {
            Operator::Add | Operator::Sub => {
                args.iter().all(|arg| occurs(arg, var)) && args.iter().any(|arg| is_open(arg, var))
            }
            Operator::Div | Operator::FloorDiv | Operator::Mod => is_open(&args[0], var),
            _ => op.style() != Style::Call && args.iter().any(|arg| is_open(arg, var)),
        },
        _ => occurs(node, var),
    }
}

/// The variables that occur free in an expression, and not on the left, in order of
/// appearance.
fn missing(node: &Node, left: &[&Word]) -> Vec<Word> {
    let mut vars = Vec::new();
    node.for_each_var(&mut |word| {
        if !left.contains(&word) && !vars.contains(word) && occurs(node, word) {
            vars.push(word.clone());
        }
    });
    vars
}

/// Whether a variable occurs outside of the reductions that bind it.
fn occurs(node: &Node, var: &Word) -> bool {
    match &node.kind {
        NodeKind::Number(_) => false,
        NodeKind::Access(tensor) => {
            let mut vars = tensor.indices.iter().flat_map(Index::vars);
            vars.any(|it| it == var)
        }
        NodeKind::Index(index) => index.vars().contains(&var),
        NodeKind::Apply { args, .. } => args.iter().any(|arg| occurs(arg, var)),
        NodeKind::Cast(_, body) => occurs(body, var),
        NodeKind::Reduce { vars, body, .. } => !vars.contains(var) && occurs(body, var),
    }
}

fn reduce(op: Operator, vars: Vec<Word>, body: Node) -> Node {
    if vars.is_empty() {
        return body;
    }
    Node {
        span: body.span,
        kind: NodeKind::Reduce {
            op,
            stored: false,
            vars,
            body: Box::new(body),
        },
    }
}
