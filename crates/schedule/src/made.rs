//! Commands that are made, not read.
//!
//! Planning makes its commands of names. Each prints as the text that says the same, which
//! [`Schedule::parse`](crate::Schedule::parse) reads back. Diagnostics of such a command show
//! the name alone, since there is no text around it.

use std::convert::Infallible;

use sparsec_base::{Result, Source, Span};
use sparsec_format::Format;
use sparsec_index::concrete::Clause;
use sparsec_index::{Access, Concrete, Expr, IndexExpr, WorkspaceKind};
use sparsec_notation::{Index, Node, NodeKind, Parser, Place, TensorUse, Word};

use super::apply::source;
use super::{Command, Name};

impl Name {
    /// A name that stands in no text.
    ///
    /// ```
    /// use sparsec_schedule::{Command, Name};
    /// let vars = ["k", "i"].map(Name::new).to_vec();
    /// assert_eq!(Command::Reorder { vars }.to_string(), "reorder(k, i)");
    /// ```
    pub fn new(text: &str) -> Self {
        Self {
            word: word(text),
            source: Source::new("schedule", text),
        }
    }
}

impl Command {
    /// `reorder(i, k, j)`
    pub fn reorder(loops: &[&str]) -> Self {
        Self::Reorder { vars: names(loops) }
    }

    /// `precompute(EXPR, {j}, w)`, of an expression of this statement.
    ///
    /// # Errors
    /// Those of [`Schedule::parse`](crate::Schedule::parse), for an index that no text says.
    pub fn precompute(
        concrete: &Concrete,
        expr: &Expr,
        modes: &[&str],
        workspace: &str,
        kind: Option<WorkspaceKind>,
    ) -> Result<Self> {
        Ok(Self::Precompute {
            expr: written(concrete, expr)?,
            vars: names(modes),
            own: None,
            workspace: Some(Name::new(workspace)),
            kind,
        })
    }

    /// `fission(i)`
    pub fn fission(var: &str) -> Self {
        Self::Fission {
            var: Name::new(var),
        }
    }

    /// `loopfuse(i)`
    pub fn loop_fuse(var: &str) -> Self {
        Self::LoopFuse {
            var: Name::new(var),
        }
    }

    /// `convert(A, FORMAT)`
    pub fn convert(tensor: &str, format: Format) -> Self {
        Self::Convert {
            tensor: Name::new(tensor),
            indices: None,
            format: format.into(),
        }
    }

    /// `convert(A(i,k), FORMAT)`, of an access of this statement.
    ///
    /// # Errors
    /// As of [`precompute`](Self::precompute).
    pub fn convert_access(concrete: &Concrete, access: &Access, format: Format) -> Result<Self> {
        let TensorUse { name, indices, .. } = tensor_use(concrete, access)?;
        Ok(Self::Convert {
            tensor: Name::new(&name.text),
            indices: (!indices.is_empty()).then_some(indices),
            format: format.into(),
        })
    }

    /// `levels(A, FORMAT)`
    pub fn levels(tensor: &str, format: Format) -> Self {
        Self::Levels {
            tensor: Name::new(tensor),
            format: format.into(),
        }
    }

    /// `pieces(A, FORMAT)`
    pub fn pieces(tensor: &str, format: Format) -> Self {
        Self::Pieces {
            tensor: Name::new(tensor),
            format: format.into(),
        }
    }
}

/// The command that leaves a clause.
impl From<Clause<&str, &str>> for Command {
    fn from(clause: Clause<&str, &str>) -> Self {
        let named: std::result::Result<_, Infallible> = clause
            .try_map(&mut |var| Ok(Name::new(var)), &mut |tensor| {
                Ok(Name::new(tensor))
            });
        let Ok(clause) = named;
        let span = Span::new(0, source(&clause).text().len());
        Self::Clause { clause, span }
    }
}

fn names(texts: &[&str]) -> Vec<Name> {
    texts.iter().copied().map(Name::new).collect()
}

fn word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        span: Span::new(0, text.len()),
    }
}

/// An expression as a schedule says it.
fn written(concrete: &Concrete, expr: &Expr) -> Result<Node> {
    let span = Span::default();
    let kind = match expr {
        Expr::Access(access) => NodeKind::Access(tensor_use(concrete, access)?),
        Expr::Apply { op, args } if args.iter().all(is_of_accesses) => NodeKind::Apply {
            op: op.clone(),
            op_span: Place(span),
            args: args
                .iter()
                .map(|arg| written(concrete, arg))
                .collect::<Result<_>>()?,
        },
        // Where literals, casts and reductions say their types depends on what is beside them.
        _ => return read(concrete, expr),
    };
    Ok(Node { kind, span })
}

fn is_of_accesses(expr: &Expr) -> bool {
    match expr {
        Expr::Access(_) => true,
        Expr::Apply { args, .. } => args.iter().all(is_of_accesses),
        _ => false,
    }
}

fn tensor_use(concrete: &Concrete, access: &Access) -> Result<TensorUse> {
    let index = |index: &IndexExpr| {
        let var = index.as_var()?;
        Some(Index::from(word(&concrete.vars[var].name)))
    };
    let indices: Option<Vec<Index>> = access.indices.iter().map(index).collect();
    let name = &concrete.tensors[access.tensor].name;
    match indices {
        Some(indices) => Ok(TensorUse {
            name: word(name),
            indices,
            span: Span::default(),
        }),
        None => match read(concrete, &Expr::Access(access.clone()))?.kind {
            NodeKind::Access(tensor) => Ok(tensor),
            _ => unreachable!("an access reads back as one"),
        },
    }
}

/// An expression, read from the text that it prints as.
fn read(concrete: &Concrete, expr: &Expr) -> Result<Node> {
    let source = Source::new("schedule", concrete.expr_text(expr));
    Parser::inside(&source)?
        .knowing(&concrete.functions())
        .expr()
}
