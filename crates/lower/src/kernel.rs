//! The kernel being written: its statement, and where the tensors of it lie.
//!
//! Nothing here changes while loops are written. What does is the [context](crate::context).

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Scalar};
use sparsec_format::Level;
use sparsec_graph::{Formats, Lattice, Lead, Operand, Operands, Scope, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, IndexExpr, IndexVar, Operator, TensorRole, TensorVar};
use sparsec_loop::{Access as BufferAccess, Buffer, Builder, Role, Var};

use crate::arrays::{Arrays, argument};

/// A statement with the arrays of its tensors.
#[derive(Debug)]
pub(crate) struct Kernel<'a> {
    pub(crate) concrete: &'a Concrete,
    pub(crate) formats: &'a Formats,
    pub(crate) operands: Operands,
    /// Those of arguments.
    pub(crate) tensors: BTreeMap<TensorVar, Arrays>,
    /// The arrays of index sets.
    pub(crate) lists: BTreeMap<Vec<u64>, Buffer>,
}

impl<'a> Kernel<'a> {
    /// Adds an argument for every tensor of the statement that is not a workspace, in the
    /// order in which the source names them.
    pub(crate) fn new(b: &mut Builder, concrete: &'a Concrete, formats: &'a Formats) -> Self {
        let mut tensors = BTreeMap::new();
        for tensor in concrete.used_tensors() {
            let data = &concrete.tensors[tensor];
            if data.role == TensorRole::Workspace {
                continue;
            }
            let role = match concrete.is_result(tensor) {
                true => Role::Out,
                false => Role::In,
            };
            let format = formats.of(tensor);
            let arrays = argument(b, &data.name, data.element, format, role);
            tensors.insert(tensor, arrays);
        }
        Self {
            concrete,
            formats,
            operands: Operands::of(concrete),
            tensors,
            lists: BTreeMap::new(),
        }
    }

    /// The same kernel, to be written for operands and workspaces in other formats.
    pub(crate) fn in_formats(&self, formats: &'a Formats) -> Self {
        Self {
            concrete: self.concrete,
            formats,
            operands: self.operands.clone(),
            tensors: self.tensors.clone(),
            lists: self.lists.clone(),
        }
    }

    /// Writes the arrays of all index sets, before all loops.
    pub(crate) fn write_lists(&mut self, b: &mut Builder) {
        let mut wanted: Vec<Vec<u64>> = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            let mut look = |index: &IndexExpr| {
                index.for_each_set(&mut |list, _| {
                    if !wanted.iter().any(|known| known == list) {
                        wanted.push(list.to_vec());
                    }
                });
            };
            rhs.for_each_index(&mut look);
            lhs.indices.iter().for_each(look);
        });
        for list in wanted {
            let element = ElementType::I64;
            let buffer = b.buffer("set", element, element, BufferAccess::Workspace);
            b.alloc(buffer, list.len() as i64);
            for (place, value) in list.iter().enumerate() {
                b.store(buffer, place as i64, Scalar::I64(*value as i64));
            }
            self.lists.insert(list, buffer);
        }
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            concrete: self.concrete,
            formats: self.formats,
            operands: &self.operands,
        }
    }

    /// How a tensor is called.
    pub(crate) fn name(&self, tensor: TensorVar) -> &'a str {
        &self.concrete.tensors[tensor].name
    }

    /// The levels of a tensor.
    pub(crate) fn levels(&self, tensor: TensorVar) -> &'a [Level] {
        self.formats.of(tensor).levels()
    }

    /// What an operand accesses.
    pub(crate) fn access(&self, operand: Operand) -> &Access {
        self.operands.access(operand)
    }

    /// The operand that an access of the statement is.
    pub(crate) fn operand(&self, access: &Access) -> Operand {
        let operand = self.operands.find(access);
        operand.expect("operands hold every access")
    }

    /// A fresh fixed `i64` variable for the coordinate of `var`.
    pub(crate) fn coordinate(&self, b: &mut Builder, var: IndexVar) -> Var {
        b.fixed(&self.concrete.vars[var].name, ElementType::I64)
    }

    /// The level of `operand` at `var`, if a loop over `var` walks it.
    pub(crate) fn walked_level(&self, operand: Operand, var: IndexVar) -> Option<usize> {
        self.operands.walked_level(operand, var, self.formats)
    }

    /// The value that a reduction into `tensor` begins with.
    pub(crate) fn identity(&self, tensor: TensorVar, reduce: Option<&Operator>) -> Scalar {
        let data = &self.concrete.tensors[tensor];
        let identity = reduce.and_then(|op| op.identity(data.element));
        identity.unwrap_or(data.fill)
    }

    /// Whether `stmt` assigns `result`, rather than another one or temporaries.
    pub(crate) fn assigns(&self, stmt: &Stmt, result: TensorVar) -> bool {
        let mut found = false;
        stmt.for_each_assign(&mut |lhs, _, _| found |= lhs.tensor == result);
        found
    }

    /// The left side that a statement has for a result; of a sequence that of its first
    /// nest.
    pub(crate) fn assigned(&self, stmt: &Stmt) -> Option<Access> {
        let mut found = None;
        stmt.for_each_assign(&mut |lhs, _, _| {
            if self.concrete.is_result(lhs.tensor) && found.is_none() {
                found = Some(lhs.clone());
            }
        });
        found
    }

    /// Which coordinates a loop over `var` visits.
    pub(crate) fn lattice(&self, var: IndexVar, body: &Stmt) -> Lattice {
        Lattice::of(&space(self.scope(), body, var))
    }

    /// What a loop over `var` walks, and what it looks up. Where `body` is what is
    /// left of a loop over everything, a leader without order may be too.
    pub(crate) fn lead(&self, var: IndexVar, body: &Stmt, is_stretch: bool) -> Lead {
        let lead = Lead::of(self.scope(), self.lattice(var, body), var);
        match lead.out_of_order(self.scope(), var, body, is_stretch) {
            Some(_) => lead.over_everything(self.scope(), var),
            None => lead,
        }
    }
}
