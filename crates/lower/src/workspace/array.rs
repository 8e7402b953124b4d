//! Arrays of workspaces, allocated once for the whole kernel.

use sparsec_base::ElementType;
use sparsec_loop::{Access, Buffer, Builder, Expr};

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
        let buffer = b.buffer(&name, element, element, Access::Workspace);
        b.alloc(buffer, len);
        buffer
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
        let buffer = b.buffer(&name, width, ElementType::I64, Access::Workspace);
        b.alloc(buffer, len);
        buffer
    }
}
