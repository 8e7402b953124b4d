//! Variables, workspaces and loops that tiles are made of.

use sparsec_base::ElementType;

use super::Tiler;
use crate::ir::{Access, Block, Buffer, BufferData, Expr, Stmt, Var};
use crate::mark::Mark;

impl Tiler<'_> {
    /// A tile for a row of `buffer`.
    pub(super) fn workspace(&mut self, buffer: Buffer, width: i64, in_chunks: bool) -> Buffer {
        let data = self.function.buffers[buffer].clone();
        let tensor = data.name.split('.').next().unwrap_or("row");
        let name = self.function.fresh_name(&format!("{tensor}.tile"));
        let tile = self.function.buffers.push(BufferData {
            name,
            access: match in_chunks {
                true => Access::Own,
                false => Access::Workspace,
            },
            ..data
        });
        self.made.push(Stmt::Alloc {
            buffer: tile,
            len: width.into(),
        });
        tile
    }

    pub(super) fn var(&mut self, name: &str, element: ElementType, mutable: bool) -> Var {
        self.function.fresh_var(name, element, mutable)
    }

    pub(super) fn declare(&mut self, name: &str, value: Expr, block: &mut Block) -> Var {
        let var = self.var(name, ElementType::I64, false);
        block.push(Stmt::Declare { var, value });
        var
    }

    /// A variable that counts.
    pub(super) fn index(&mut self, name: &str) -> Var {
        self.var(name, ElementType::I64, false)
    }
}

/// `for var in lo..hi { body }`
pub(super) fn count(var: Var, lo: Expr, hi: Expr, body: Block) -> Stmt {
    Stmt::For {
        var,
        lo,
        hi,
        mark: Mark::default(),
        body,
    }
}
