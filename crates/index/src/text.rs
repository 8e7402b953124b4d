//! Typed expressions as text: back to the tree of notation, and printed.

use std::fmt;

use sparsec_base::{ElementType, Scalar, Span};

use crate::expr::{Access, Expr};
use crate::function::UserFunction;
use crate::notation::{Index, IndexKind, Node, NodeKind, Number, Place, TensorUse, Word};
use crate::operator::Operator;
use crate::program::{Program, Tensors, Vars};

/// The names of tensors and index variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) tensors: &'a Tensors,
    pub(crate) vars: &'a Vars,
}

impl Names<'_> {
    /// The access as it would be written.
    pub(crate) fn access(&self, access: &Access) -> TensorUse {
        let name = |var| word(&self.vars[var].name);
        let indices = access.indices.iter();
        TensorUse {
            name: word(&self.tensors[access.tensor].name),
            indices: indices.map(|index| Index::of(index, &name)).collect(),
            span: access.span,
        }
    }

    /// The expression as it would be written.
    pub(crate) fn node(&self, expr: &Expr) -> Node {
        let kind = match expr {
            Expr::Literal(value) => number(*value),
            Expr::Access(access) => NodeKind::Access(self.access(access)),
            Expr::Index(index) => {
                let name = |var| word(&self.vars[var].name);
                return arithmetic(Index::of(index, &name));
            }
            Expr::Apply { op, args } => NodeKind::Apply {
                op: op.clone(),
                op_span: Place(Span::default()),
                args: self.arguments(op, args),
            },
            Expr::Cast(element, body) => NodeKind::Cast(*element, Box::new(self.node(body))),
            Expr::Reduce { op, vars, body } => {
                let of_stored = of_stored(op, body);
                NodeKind::Reduce {
                    op: op.clone(),
                    stored: of_stored.is_some(),
                    vars: vars.iter().map(|var| word(&self.vars[*var].name)).collect(),
                    body: Box::new(self.node(of_stored.unwrap_or(body))),
                }
            }
        };
        Node {
            kind,
            span: Span::default(),
        }
    }

    /// The arguments of an operator. Numbers take the type of what they stand beside;
    /// where all are numbers, the first says its own.
    fn arguments(&self, op: &Operator, args: &[Expr]) -> Vec<Node> {
        let mut nodes: Vec<Node> = args.iter().map(|arg| self.node(arg)).collect();
        let first = usize::from(*op == Operator::Select);
        let literals: Option<Vec<Scalar>> = args[first..].iter().map(Expr::literal).collect();
        let Some(literals) = literals.filter(|_| !matches!(op, Operator::Defined(_))) else {
            return nodes;
        };
        let mut read = literals.iter().zip(&nodes[first..]);
        if !read.all(|(literal, node)| alone(node) == Some(literal.element())) {
            let element = literals[0].element();
            let body = nodes[first].clone();
            let span = body.span;
            let kind = NodeKind::Cast(element, Box::new(body));
            nodes[first] = Node { kind, span };
        }
        nodes
    }
}

/// The type of a number that stands alone.
fn alone(node: &Node) -> Option<ElementType> {
    match node.kind {
        NodeKind::Number(Number::Bool(_)) => Some(ElementType::Bool),
        NodeKind::Number(Number::Integer(value)) if i64::try_from(value).is_ok() => {
            Some(ElementType::I64)
        }
        NodeKind::Number(Number::Float(_)) => Some(ElementType::F64),
        NodeKind::Number(Number::Imaginary(_)) => Some(ElementType::C128),
        _ => None,
    }
}

/// An index as an expression.
fn arithmetic(index: Index) -> Node {
    let kind = match index.kind {
        IndexKind::Number(value) => NodeKind::Number(Number::Integer(value.into())),
        IndexKind::Apply { op, args } => NodeKind::Apply {
            op,
            op_span: Place(Span::default()),
            args: args.into_iter().map(arithmetic).collect(),
        },
        _ => NodeKind::Index(index),
    };
    Node {
        kind,
        span: Span::default(),
    }
}

/// What a reduction of stored entries alone reduces.
fn of_stored<'e>(op: &Operator, body: &'e Expr) -> Option<&'e Expr> {
    let Expr::Apply {
        op: Operator::Select,
        args,
    } = body
    else {
        return None;
    };
    let [_, stored, Expr::Literal(otherwise)] = args.as_slice() else {
        return None;
    };
    let is_identity = op.identity(otherwise.element()) == Some(*otherwise);
    let is_alone = || *body == stored.clone().where_stored(*otherwise);
    (is_identity && is_alone()).then_some(stored)
}

fn word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        span: Span::default(),
    }
}

/// A number that reads back as `value` where its type stands beside it; of a
/// complex one with two parts, their sum.
fn number(value: Scalar) -> NodeKind {
    // The digits that tell `f32` values apart, not those of the `f64`.
    let single = |v: f32| Scalar::F32(v).to_string().parse().unwrap_or(v.into());
    let (re, im) = match value {
        Scalar::Bool(value) => return NodeKind::Number(Number::Bool(value)),
        Scalar::F32(v) => return NodeKind::Number(Number::Float(single(v))),
        Scalar::F16(_) | Scalar::Bf16(_) | Scalar::F64(_) => {
            return NodeKind::Number(Number::Float(value.to_f64()));
        }
        Scalar::C64(v) => (single(v.re), single(v.im)),
        Scalar::C128(v) => (v.re, v.im),
        integer => {
            return NodeKind::Number(Number::Integer(integer.to_integer().unwrap_or_default()));
        }
    };
    let (real, imaginary) = (Number::Float(re), Number::Imaginary(im));
    if im == 0.0 {
        return NodeKind::Number(real);
    }
    if re == 0.0 {
        return NodeKind::Number(imaginary);
    }
    let part = |number| Node {
        kind: NodeKind::Number(number),
        span: Span::default(),
    };
    NodeKind::Apply {
        op: Operator::Add,
        op_span: Place(Span::default()),
        args: vec![part(real), part(imaginary)],
    }
}

impl Program {
    /// The functions of the user that the program calls, callees first.
    pub fn functions(&self) -> Vec<UserFunction> {
        let mut found = Vec::new();
        for statement in &self.statements {
            let mut visit = |function: &UserFunction| found.push(function.clone());
            statement.rhs.for_each_function(&mut visit);
        }
        UserFunction::with_callees(&found)
    }
}

/// The statements with every sum and conversion written out.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&UserFunction::definitions(&self.functions()))?;
        for number in 0..self.statements.len() {
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.statement_text(number))?;
        }
        Ok(())
    }
}
