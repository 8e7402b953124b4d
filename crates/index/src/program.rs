//! A resolved program: tensors, index variables, typed statements.

use sparsec_base::table::Named;
use sparsec_base::{ElementType, Scalar, Source, Span, Table, define_id};

use crate::expr::{Access, Expr};
use crate::operator::{Operator, assignment_symbol};
use crate::text::Names;

define_id!(
    /// A tensor of a program.
    pub struct TensorVar, "t"
);
define_id!(
    /// An index variable of one statement of a program.
    pub struct IndexVar, "x"
);

/// Tensors, found by name.
pub type Tensors = Table<TensorVar, TensorData>;
/// Index variables. Several may have one name, and the first is found by it.
pub type Vars = Table<IndexVar, IndexVarData>;

impl Named for TensorData {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for IndexVarData {
    fn name(&self) -> &str {
        &self.name
    }
}

/// One or more statements over named tensors.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text that the program was read from.
    pub source: Source,
    /// Every tensor, in the order in which the source first names them.
    pub tensors: Tensors,
    /// The index variables of all statements. Each belongs to one statement:
    /// `i` of one and `i` of another are different variables.
    pub vars: Vars,
    /// Variables that have one extent: the implied sums of a statement over one name,
    /// as those of `s = a(i) + b(i)`.
    pub same_extent: Vec<(IndexVar, IndexVar)>,
    /// The statements, in order.
    pub statements: Vec<Statement>,
}

/// What a tensor of levels is of.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelsOf {
    /// The tensor whose arrays it has.
    pub tensor: TensorVar,
    /// The variables that are coordinates of that tensor by themselves wherever it is
    /// read, so that its entries are within their extents: `i` of `A(i,i + l)`, and not
    /// `l`.
    pub modes: Vec<IndexVar>,
}

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorData {
    /// The name, which no other tensor has.
    pub name: String,
    /// The name in the source, of a tensor that is an earlier value of one that
    /// is assigned again; the last value has that name itself.
    pub earlier_of: Option<String>,
    /// The type of its entries.
    pub element: ElementType,
    /// The extent of each mode, where known; as many as the tensor's order.
    pub extents: Vec<Option<u64>>,
    /// The value of entries that are not stored.
    pub fill: Scalar,
    /// Where the tensor comes from and goes to.
    pub role: TensorRole,
    /// Where the source first names it.
    pub span: Span,
    /// The tensor whose arrays it has and whose levels are its modes, where it is
    /// not one of its own: each entry of it is one of that tensor, at the coordinates
    /// that the statement computes from those of the levels.
    pub levels_of: Option<LevelsOf>,
}

/// Where a tensor comes from and goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorRole {
    /// Given by the caller.
    Input,
    /// Computed by a statement; the result of the last one is the program's.
    Result,
    /// The temporary of a `where`, local to a kernel.
    Workspace,
}

/// What is known of an index variable.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexVarData {
    /// The name.
    pub name: String,
    /// The extent, where known.
    pub extent: Option<u64>,
}

/// One assignment. Every index variable of the right side is on the left side
/// or bound by exactly one [`Expr::Reduce`]; no two share a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What is assigned. Where each mode has a variable of its own that is a whole
    /// tensor; else a part, and other entries are what they were
    /// ([`gather`](crate::gather())).
    pub lhs: Access,
    /// The value; its type is that of the left side's tensor, and the one that is
    /// computed with where values are combined.
    pub rhs: Expr,
    /// The value that the tensor had before, where a part of it is assigned.
    pub before: Option<TensorVar>,
    /// How values are combined with those before and with one another, where a part
    /// of a tensor is assigned so.
    pub reduce: Option<Operator>,
    /// The statement's place in the source.
    pub span: Span,
}

impl Statement {
    /// Whether a part of a tensor is assigned.
    pub fn is_partial(&self) -> bool {
        self.lhs.plain_vars().is_none() || self.lhs.vars().len() < self.lhs.indices.len()
    }
}

impl TensorData {
    /// The name that the source has for the tensor.
    pub fn source_name(&self) -> &str {
        self.earlier_of.as_deref().unwrap_or(&self.name)
    }

    /// How many modes the tensor has.
    pub fn order(&self) -> usize {
        self.extents.len()
    }
}

impl Program {
    /// Statement `number` as index notation, with its sums written out.
    pub fn statement_text(&self, number: usize) -> String {
        self.text_of(&self.statements[number])
    }

    /// A statement over the tensors of the program as index notation.
    pub(crate) fn text_of(&self, statement: &Statement) -> String {
        let names = Names {
            tensors: &self.tensors,
            vars: &self.vars,
        };
        let Statement {
            lhs, rhs, reduce, ..
        } = statement;
        let symbol = reduce.as_ref().map_or("=".to_owned(), assignment_symbol);
        format!("{} {symbol} {}", names.access(lhs), names.expr(rhs))
    }
}
