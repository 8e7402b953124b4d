//! Extents: of index variables, those that clauses of a schedule made included, and of modes.

use sparsec_index::concrete::{Clause, Skew};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Expr, Var};

use crate::context::Context;
use crate::kernel::Kernel;

impl Context<'_> {
    /// The extent of an index variable, from the first argument that has it.
    pub(crate) fn extent(&self, var: IndexVar) -> Expr {
        if let Some(extent) = self.derived_extent(var) {
            return extent;
        }
        let kernel = self.kernel;
        let mut same = vec![var];
        let mut at = 0;
        // A mode of a workspace has one extent, whatever variables stand there.
        while let Some(var) = same.get(at).copied() {
            if let Some(extent) = argument_extent(kernel, var) {
                return Expr::Var(extent);
            }
            for other in beside_in_workspaces(kernel, var) {
                if !same.contains(&other) {
                    same.push(other);
                }
            }
            at += 1;
        }
        match kernel.concrete.vars[var].extent {
            Some(extent) => Expr::int(extent as i64),
            None => panic!("a lowerable statement has extents for its loops"),
        }
    }

    /// The extent of one mode of an access; of a workspace, that of its variable.
    pub(crate) fn mode_extent(&self, access: &Access, mode: usize) -> Expr {
        // A level of places in blocks has as many as a block.
        let var = access.var(mode);
        if let Some(size) = var.and_then(|var| self.kernel.size_of_block_of(var)) {
            return Expr::int(size as i64);
        }
        match self.kernel.tensors.get(&access.tensor) {
            Some(arrays) => Expr::Var(arrays.extents[mode]),
            None => self.extent(var.expect("workspaces have plain variables")),
        }
    }

    /// How many coordinates a block has, of which `inner` is within one.
    pub(crate) fn block_size(&self, inner: IndexVar) -> Expr {
        let concrete = self.kernel.concrete;
        match concrete.made_by(inner) {
            Some(Clause::Split { size, .. }) => Expr::int(*size as i64),
            Some(Clause::Divide { var, parts, .. }) => match concrete.extent(*var) {
                Some(extent) => Expr::int(extent.div_ceil(*parts) as i64),
                None => rounded_up(self.extent(*var), *parts),
            },
            _ => unreachable!("blocks are made by splitting"),
        }
    }

    /// The extent of a variable that a clause made.
    fn derived_extent(&self, var: IndexVar) -> Option<Expr> {
        let concrete = self.kernel.concrete;
        let known = concrete.extent(var);
        let known = known.map(|extent| Expr::int(extent as i64));
        Some(match concrete.made_by(var)? {
            Clause::Split {
                var: above,
                outer,
                size,
                ..
            } => match *outer == var {
                true => known.unwrap_or_else(|| rounded_up(self.extent(*above), *size)),
                false => Expr::int(*size as i64),
            },
            Clause::Divide { outer, parts, .. } => match *outer == var {
                true => Expr::int(*parts as i64),
                false => self.block_size(var),
            },
            Clause::Fuse { outer, inner, .. } => {
                known.unwrap_or_else(|| self.extent(*outer).mul(self.extent(*inner)))
            }
            Clause::Bound { var: above, .. } => self.extent(*above),
            Clause::Skew { var, along, by, .. } => {
                known.unwrap_or_else(|| n_sums([self.extent(*var), self.extent(*along)], *by))
            }
            Clause::Deal { .. } => known.expect("the extents of what is dealt are known"),
            Clause::Pos { pos, .. } => self.positions[pos].n_positions(),
            _ => unreachable!("other clauses make no variables"),
        })
    }
}

impl Kernel<'_> {
    /// How many coordinates a block has, where `var` is within one of a fixed size.
    pub(crate) fn size_of_block_of(&self, var: IndexVar) -> Option<u64> {
        match self.concrete.made_by(var)? {
            Clause::Split { inner, size, .. } if *inner == var => Some(*size),
            _ => None,
        }
    }

    /// Whether `above` is known to be made of whole blocks over `inner`.
    pub(crate) fn divides(&self, inner: IndexVar, above: IndexVar) -> bool {
        let (extent, clause) = (self.concrete.extent(above), self.concrete.made_by(inner));
        match (extent, clause) {
            (_, Some(Clause::Bound { .. })) => true,
            (Some(extent), Some(Clause::Split { size, .. })) => extent % size == 0,
            (Some(extent), Some(Clause::Divide { parts, .. })) => extent % parts == 0,
            _ => false,
        }
    }
}

/// How many values a sum of two variables has, from their extents.
fn n_sums(extents: [Expr; 2], by: Skew) -> Expr {
    let [own, other] = extents.clone().map(|it| it.binary(BinaryOp::Sub, 1));
    let mut n_values = Expr::int(by.offset + 1);
    if by.factor > 0 {
        n_values = other.mul(by.factor).add(n_values);
    }
    if !by.is_negative {
        n_values = own.add(n_values);
    }
    // A sum has no values where one of its variables has none.
    let [var, along] = extents;
    let shortest = var.binary(BinaryOp::Min, along);
    Expr::Select {
        condition: Box::new(Expr::int(0).less(shortest)),
        then: Box::new(n_values),
        otherwise: Box::new(Expr::int(0)),
    }
}

fn argument_extent(kernel: &Kernel<'_>, var: IndexVar) -> Option<Var> {
    let mut found = None;
    for_each_access(kernel, &mut |access| {
        let arrays = kernel.tensors.get(&access.tensor);
        if let (None, Some(mode), Some(arrays)) = (found, access.mode_of(var), arrays) {
            found = Some(arrays.extents[mode]);
        }
    });
    found
}

/// The variables at the modes of workspaces at which `var` is too.
fn beside_in_workspaces(kernel: &Kernel<'_>, var: IndexVar) -> Vec<IndexVar> {
    let mut modes = Vec::new();
    for_each_access(kernel, &mut |access| {
        let is_workspace = !kernel.tensors.contains_key(&access.tensor);
        if let (true, Some(mode)) = (is_workspace, access.mode_of(var)) {
            modes.push((access.tensor, mode));
        }
    });
    let mut found = Vec::new();
    for_each_access(kernel, &mut |access| {
        for (tensor, mode) in &modes {
            if access.tensor == *tensor {
                found.extend(access.var(*mode));
            }
        }
    });
    found
}

fn for_each_access(kernel: &Kernel<'_>, visit: &mut dyn FnMut(&Access)) {
    kernel.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        rhs.for_each_access(&mut |access| visit(access));
        visit(lhs);
    });
}

/// `extent` divided by `by`, rounded up.
fn rounded_up(extent: Expr, by: u64) -> Expr {
    let by = by as i64;
    match by {
        1 => extent,
        _ => extent.add(by - 1).binary(BinaryOp::FloorDiv, by),
    }
}
