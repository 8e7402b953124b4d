//! The context: the bindings, cursors and conditions that hold at one point of the kernel.
//!
//! ```text
//! for i in 0..n {                  i ↦ i, A: 1 level at i, y: 1 level at i
//!   var t = 0                      t ↦ t
//!   for pA1 in … { let j = …       j ↦ j, A: 2 levels at pA1, x: 1 level at j
//!     t += A.vals[pA1] * x.vals[j]
//! ```
//!
//! A loop makes a context for its body out of the one around it, so that nothing has to be
//! taken back at its end.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_graph::Operand;
use sparsec_index::concrete::{MergeStrategy, Stmt};
use sparsec_index::{Access, IndexVar, TensorVar};
use sparsec_loop::{BinaryOp, Builder, Expr, Mark};

use crate::assembly::Assembly;
use crate::cursor::Cursor;
use crate::kernel::Kernel;
use crate::positions::Positions;
use crate::temporary::Workspace;

/// What is known at one point of the program being written.
#[derive(Clone, Debug)]
pub(crate) struct Context<'k> {
    pub(crate) kernel: &'k Kernel<'k>,
    /// The coordinate of each bound index variable.
    pub(crate) coordinates: BTreeMap<IndexVar, Expr>,
    /// How far each operand has been followed.
    pub(crate) cursors: BTreeMap<Operand, Cursor>,
    /// The loops around here, outermost first.
    pub(crate) loops: Vec<IndexVar>,
    /// Where the loop over a variable goes through a part of its coordinates.
    pub(crate) ranges: BTreeMap<IndexVar, Range>,
    /// Variables that are within their extents wherever they are computed.
    pub(crate) inside: BTreeSet<IndexVar>,
    /// The positions that loops go over, by the variable that counts them.
    pub(crate) positions: BTreeMap<IndexVar, Positions>,
    /// Where temporaries are kept; scalar ones only inside of their `where`.
    pub(crate) workspaces: BTreeMap<TensorVar, Workspace>,
    /// Temporaries known to hold something, or whose zeros count as entries.
    pub(crate) certain: BTreeSet<TensorVar>,
    pub(crate) output: Output<'k>,
    /// The results that loops compute beside it. They are dense, so that no loop changes how
    /// they are assembled.
    pub(crate) beside: BTreeMap<TensorVar, Assembly<'k>>,
}

/// The result that is computed at one point of the program.
#[derive(Clone, Debug)]
pub(crate) struct Output<'k> {
    /// The left side that it has. Only nests of a sequence have others.
    pub(crate) access: Access,
    /// How far it has been followed.
    pub(crate) cursor: Cursor,
    /// How it is assembled, once that is begun.
    pub(crate) assembly: Option<Assembly<'k>>,
}

/// The coordinates that a loop goes through.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The first.
    pub(crate) lo: Expr,
    /// The bound.
    pub(crate) hi: Expr,
    /// The variables that go through it together, each with its value at the
    /// first coordinate; that of the coordinates comes last.
    pub(crate) bases: Vec<(IndexVar, Expr)>,
}

/// Writes a statement.
pub(crate) type Write = fn(&mut Builder, &Stmt, &Context<'_>);

/// What runs inside a loop, and what writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'s> {
    pub(crate) stmt: &'s Stmt,
    pub(crate) write: Write,
}

impl Body<'_> {
    pub(crate) fn write(self, b: &mut Builder, at: &Context<'_>) {
        (self.write)(b, self.stmt, at);
    }
}

/// A loop to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop<'s> {
    pub(crate) var: IndexVar,
    pub(crate) body: Body<'s>,
}

impl<'k> Context<'k> {
    /// Outside of all loops.
    pub(crate) fn root(kernel: &'k Kernel<'k>) -> Self {
        let assigned = kernel.assigned(&kernel.concrete.stmt);
        let cursors = kernel.operands.ids().map(|it| (it, Cursor::root()));
        Self {
            kernel,
            coordinates: BTreeMap::new(),
            cursors: cursors.collect(),
            loops: Vec::new(),
            ranges: BTreeMap::new(),
            inside: BTreeSet::new(),
            positions: BTreeMap::new(),
            workspaces: BTreeMap::new(),
            certain: BTreeSet::new(),
            output: Output {
                access: assigned.expect("a statement assigns its result"),
                cursor: Cursor::root(),
                assembly: None,
            },
            beside: BTreeMap::new(),
        }
    }

    /// Where this result is computed, before all loops of it but those around here.
    pub(crate) fn at_result(&self, access: Access) -> Self {
        let mut at = self.clone();
        if access.tensor != at.output.access.tensor {
            let other = at.beside.remove(&access.tensor);
            let last = std::mem::replace(&mut at.output.assembly, other);
            let last = last.map(|assembly| (at.output.access.tensor, assembly));
            at.beside.extend(last);
        }
        at.output.access = access;
        at.output.cursor = Cursor::root();
        at.advance();
        at
    }

    /// Binds the variable of a loop, and those that go with it.
    pub(crate) fn bind(&mut self, var: IndexVar, value: Expr) {
        match self.ranges.get(&var).cloned() {
            Some(range) => range.bind(&value, self),
            None => _ = self.coordinates.insert(var, value),
        }
    }

    /// How the innermost of the loops around here merges.
    pub(crate) fn merges_by(&self) -> Option<MergeStrategy> {
        let innermost = self.loops.last();
        innermost.map(|var| self.kernel.concrete.merges_by(*var))
    }

    /// How the innermost of the loops around here is marked.
    pub(crate) fn mark(&self) -> Mark {
        let innermost = self.loops.last();
        innermost.map_or_else(Mark::default, |var| self.kernel.concrete.mark(*var))
    }

    /// How the positions of a level of an operand are called.
    pub(crate) fn position_name(&self, operand: Operand, level: usize) -> String {
        let tensor = self.kernel.access(operand).tensor;
        let name = self.kernel.name(tensor);
        let is_vector = self.kernel.levels(tensor).len() == 1;
        match is_vector && self.workspaces.contains_key(&tensor) {
            true => format!("p{name}"),
            false => format!("p{name}{level}"),
        }
    }

    /// The results every entry of which is going to be assigned, so that nothing is filled
    /// before.
    pub(crate) fn unfilled(&self) -> Vec<TensorVar> {
        let is_unfilled = |assembly: &Assembly<'_>| matches!(assembly, Assembly::Located(it) if it.fill.is_none());
        let own = self.output.assembly.iter();
        let own = own.map(|assembly| (&self.output.access.tensor, assembly));
        let all = own.chain(&self.beside);
        all.filter(|(_, assembly)| is_unfilled(assembly))
            .map(|(tensor, _)| *tensor)
            .collect()
    }

    /// Whether this pass over the statement counts and stores no values.
    pub(crate) fn counts(&self) -> bool {
        self.output.assembly.as_ref().is_some_and(Assembly::counts)
    }
}

impl Range {
    /// Binds every variable of the range where the last has `value`.
    pub(crate) fn bind(&self, value: &Expr, at: &mut Context<'_>) {
        let last = self.bases.len() - 1;
        for (number, (var, base)) in self.bases.iter().enumerate() {
            let since = || value.clone().binary(BinaryOp::Sub, self.lo.clone());
            let value = match (number == last, *base == Expr::int(0)) {
                (true, _) => value.clone(),
                (false, true) => since(),
                (false, false) => since().add(base.clone()),
            };
            at.coordinates.insert(*var, value);
        }
    }
}
