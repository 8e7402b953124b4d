//! Arrays of workspaces, allocated once for the whole kernel.

use sparsec_base::ElementType;
use sparsec_index::Access;
use sparsec_loop::{Access as BufferAccess, Buffer, Builder, Expr};

use crate::context::Context;
use crate::level::dense::locate;

/// How many entries arrays that grow begin with.
pub(super) const FIRST_ROOM: i64 = 32;

/// The arrays of one workspace, by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocated<'a>(&'a str);

impl<'a> Allocated<'a> {
    pub(super) fn of(workspace: &'a str) -> Self {
        Self(workspace)
    }

    /// An array whose values are computed with as they are stored.
    pub(super) fn values(
        self,
        b: &mut Builder,
        part: &str,
        element: ElementType,
        len: impl Into<Expr>,
    ) -> Buffer {
        let name = format!("{}.{part}", self.0);
        let buffer = b.buffer(&name, element, element, BufferAccess::Workspace);
        b.alloc(buffer, len);
        buffer
    }

    /// An array of bits, a byte each.
    pub(super) fn bits(self, b: &mut Builder, part: &str, len: impl Into<Expr>) -> Buffer {
        self.list(b, part, ElementType::U8, len)
    }

    /// An array of positions or coordinates in 64 bits.
    pub(super) fn integers(self, b: &mut Builder, part: &str, len: impl Into<Expr>) -> Buffer {
        self.values(b, part, ElementType::I64, len)
    }

    /// An array of positions or coordinates that are stored in another width.
    pub(super) fn list(
        self,
        b: &mut Builder,
        part: &str,
        width: ElementType,
        len: impl Into<Expr>,
    ) -> Buffer {
        let name = format!("{}.{part}", self.0);
        let buffer = b.buffer(&name, width, ElementType::I64, BufferAccess::Workspace);
        b.alloc(buffer, len);
        buffer
    }
}

impl Context<'_> {
    /// How many entries an array over the modes of a workspace has.
    pub(super) fn workspace_len(&self, access: &Access) -> Expr {
        let extents = access.vars().into_iter().map(|var| self.extent(var));
        extents.reduce(Expr::mul).unwrap_or(Expr::int(1))
    }

    /// The position of an entry of an array workspace: row-major.
    pub(super) fn workspace_position(&self, access: &Access) -> Expr {
        let vars = access.vars().into_iter();
        vars.fold(Expr::int(0), |position, var| {
            let coordinate = self.coordinates[&var].clone();
            locate(&position, self.extent(var), coordinate)
        })
    }
}
