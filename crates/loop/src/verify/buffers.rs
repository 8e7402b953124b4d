//! The part of the checklist that is about buffers: who may read, change, grow
//! and sort which.

use sparsec_base::{ElementType, code};

use super::check::{Check, Checker};
use crate::ir::{Access, Buffer};

impl Checker<'_> {
    /// Checks that a buffer may be read here; its compute type.
    pub(super) fn buffer(&self, buffer: Buffer) -> Check<ElementType> {
        let kind = &self.function.buffers[buffer];
        if kind.access == Access::Own && !self.in_chunks {
            return Err(self.helped(
                code::LOOP_LIFETIME,
                format!(
                    "`{}` is a unit's own, and used outside of chunks",
                    kind.name
                ),
                "allocate what is used elsewhere too with `alloc`",
            ));
        }
        if !kind.access.is_allocated() || self.workspaces.contains(&buffer) {
            return Ok(kind.compute);
        }
        Err(self.helped(
            code::LOOP_LIFETIME,
            format!(
                "the workspace `{}` is used where it is not allocated",
                kind.name
            ),
            "allocate it before, in a block that holds this use",
        ))
    }

    pub(super) fn stored(&self, buffer: Buffer) -> Check {
        self.buffer(buffer)?;
        let kind = &self.function.buffers[buffer];
        if kind.access == Access::Read {
            return Err(self.invalid(
                code::LOOP_ACCESS,
                format!("`{}` is only read, and changed here", kind.name),
            ));
        }
        Ok(())
    }

    pub(super) fn grows(&self, buffer: Buffer, may_be_workspace: bool) -> Check {
        let kind = &self.function.buffers[buffer];
        match kind.access {
            Access::Grow => return Ok(()),
            Access::Workspace | Access::Own if may_be_workspace => {
                return self.buffer(buffer).map(drop);
            }
            _ => {}
        }
        Err(self.invalid(
            code::LOOP_ACCESS,
            format!("`{}` does not grow, and is given a length", kind.name),
        ))
    }

    pub(super) fn alloc(&mut self, buffer: Buffer) -> Check {
        let kind = &self.function.buffers[buffer];
        let name = &kind.name;
        if !kind.access.is_allocated() {
            return Err(self.invalid(
                code::LOOP_ACCESS,
                format!("`{name}` is no workspace, and is allocated"),
            ));
        }
        if self.n_loops > 0 {
            return Err(self.helped(
                code::LOOP_LIFETIME,
                format!("`{name}` is allocated inside a loop"),
                "allocate it before the loop, and `fill` it inside",
            ));
        }
        if !self.allocated.insert(buffer) {
            return Err(self.invalid(code::LOOP_LIFETIME, format!("`{name}` is allocated twice")));
        }
        self.workspaces.insert(buffer);
        Ok(())
    }

    /// Checks that a buffer may be sorted, and another moved along.
    pub(super) fn sorted(&self, buffer: Buffer, along: Option<Buffer>) -> Check {
        self.stored(buffer)?;
        let kind = &self.function.buffers[buffer];
        let is_sorted = match along {
            None => matches!(kind.storage, ElementType::I32 | ElementType::I64),
            Some(_) => kind.storage == ElementType::I64,
        };
        if !is_sorted {
            return Err(self.invalid(
                code::LOOP_ACCESS,
                format!("`{}` is not stored as i32 or i64, and is sorted", kind.name),
            ));
        }
        let Some(along) = along else {
            return Ok(());
        };
        self.stored(along)?;
        let kind = &self.function.buffers[along];
        if along == buffer || kind.storage != ElementType::I64 {
            return Err(self.invalid(
                code::LOOP_ACCESS,
                format!("`{}` cannot be moved along by a sort", kind.name),
            ));
        }
        Ok(())
    }
}
