//! The operands of a statement: its distinct accesses, with their formats.
//!
//! `A(i,k)` used twice is one operand, walked once; `A(i,j)` and `A(j,i)` are
//! two. The level of an operand that stores an index variable is found here.

use std::collections::BTreeMap;

use sparsec_base::{Arena, define_id};
use sparsec_format::{Format, Level};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr, IndexVar, Operator, TensorVar};

define_id!(
    /// A distinct access of a statement.
    pub struct Operand, "o"
);

/// The format of every tensor of a statement.
///
/// Kernels cannot walk every format, nor assemble every one that they can walk.
/// For tensors of the others there is a format that kernels use instead: what
/// stands between the two is a conversion.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    formats: BTreeMap<TensorVar, Format>,
    /// What kernels use in place of formats that they cannot assemble.
    native: BTreeMap<TensorVar, Format>,
}

impl Formats {
    /// No formats yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how `tensor` is stored.
    pub fn set(&mut self, tensor: TensorVar, format: Format) {
        if format.is_assembled() {
            self.native.remove(&tensor);
        } else {
            self.native.insert(tensor, format.nearest());
        }
        self.formats.insert(tensor, format);
    }

    /// Says what kernels use in place of the format of `tensor`, in place of the
    /// nearest that there is.
    pub fn set_native(&mut self, tensor: TensorVar, format: Format) {
        self.native.insert(tensor, format);
    }

    /// The format in which kernels read `tensor`, where its own was said.
    pub fn walked(&self, tensor: TensorVar) -> Option<&Format> {
        let own = self.get(tensor)?;
        if own.is_native() {
            return Some(own);
        }
        self.native.get(&tensor)
    }

    /// The format in which kernels write `tensor`, where its own was said.
    pub fn assembled(&self, tensor: TensorVar) -> Option<&Format> {
        self.native.get(&tensor).or_else(|| self.get(tensor))
    }

    /// How `tensor` is stored, where it was said.
    pub fn get(&self, tensor: TensorVar) -> Option<&Format> {
        self.formats.get(&tensor)
    }

    /// How `tensor` is stored.
    ///
    /// # Panics
    /// If it was not said; every tensor of a planned statement has a format.
    pub fn of(&self, tensor: TensorVar) -> &Format {
        self.get(tensor).expect("every tensor has a format")
    }
}

/// The distinct accesses of a statement.
#[derive(Clone, Debug)]
pub struct Operands {
    accesses: Arena<Operand, Access>,
}

impl Operands {
    /// The operands of a statement, left to right; results come where they
    /// are read, as accumulated workspaces do.
    pub fn of(concrete: &Concrete) -> Self {
        let mut operands = Self {
            accesses: Arena::new(),
        };
        concrete.stmt.for_each_assign(&mut |_, _, rhs: &Expr| {
            rhs.for_each_access(&mut |access| {
                if operands.find(access).is_none() {
                    operands.accesses.push(access.clone());
                }
            });
        });
        operands
    }

    /// The operand that an access is.
    pub fn find(&self, access: &Access) -> Option<Operand> {
        self.accesses.find(|known| known == access)
    }

    /// The access that an operand is.
    pub fn access(&self, operand: Operand) -> &Access {
        &self.accesses[operand]
    }

    /// All operands.
    pub fn ids(&self) -> impl Iterator<Item = Operand> + use<> {
        self.accesses.ids()
    }

    /// Whether the level of `access` at `var` holds only stored coordinates,
    /// so that a loop over `var` walks it; `None` where no level is at `var`.
    pub fn is_sparse_at(&self, access: &Access, var: IndexVar, formats: &Formats) -> Option<bool> {
        let (_, level) = level_at(access, var, formats.of(access.tensor))?;
        Some(!level.kind.capabilities().full)
    }

    /// The operand's name and level at `var`, such as `B1`.
    pub fn label(
        &self,
        operand: Operand,
        var: IndexVar,
        concrete: &Concrete,
        formats: &Formats,
    ) -> String {
        let access = self.access(operand);
        let name = &concrete.tensors[access.tensor].name;
        match level_at(access, var, formats.of(access.tensor)) {
            Some((level, _)) => format!("{name}{level}"),
            None => name.clone(),
        }
    }
}

/// The first level of `format` that stores the mode where `access` has `var`.
pub fn level_at<'f>(
    access: &Access,
    var: IndexVar,
    format: &'f Format,
) -> Option<(usize, &'f Level)> {
    format
        .levels()
        .iter()
        .enumerate()
        .find(|(_, level)| access.var(level.mode()) == Some(var))
}

/// One assignment with the loops around it.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'a, 'l> {
    /// The variables of the loops around it, outermost first.
    pub loops: &'l [IndexVar],
    /// What is assigned.
    pub lhs: &'a Access,
    /// How the value is combined with what is there.
    pub reduce: Option<&'a Operator>,
    /// The value.
    pub rhs: &'a Expr,
}

/// Calls `visit` on every assignment of `stmt`, consumers before producers.
pub fn for_each_nested<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(Nested<'a, '_>)) {
    visit_nested(stmt, &mut Vec::new(), visit);
}

fn visit_nested<'a>(
    stmt: &'a Stmt,
    loops: &mut Vec<IndexVar>,
    visit: &mut dyn FnMut(Nested<'a, '_>),
) {
    match stmt {
        Stmt::Assign { lhs, reduce, rhs } => visit(Nested {
            loops,
            lhs,
            reduce: reduce.as_ref(),
            rhs,
        }),
        Stmt::Forall { var, body } => {
            loops.push(*var);
            visit_nested(body, loops, visit);
            loops.pop();
        }
        Stmt::Where { consumer, producer } => {
            visit_nested(consumer, loops, visit);
            visit_nested(producer, loops, visit);
        }
        Stmt::Sequence(stmts) => {
            for stmt in stmts {
                visit_nested(stmt, loops, visit);
            }
        }
    }
}
