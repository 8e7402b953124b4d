//! Workspaces: arrays that the kernel asks its context for, or has in its frame.
//!
//! A small one of constant length is an array of C: loops of constant bounds over it
//! are unrolled, and it is then kept in registers.

use sparsec_loop::{Access, Buffer, Expr, Failure, Stmt};

use crate::stmt::Writer;

impl Writer<'_> {
    pub(crate) fn alloc(&mut self, buffer: Buffer, len: &Expr) {
        if let Some(len) = self.function.local_len(buffer) {
            if self.function.buffers[buffer].access == Access::Workspace {
                self.local(buffer, len);
            }
            return;
        }
        let len = self.expr(len);
        if self.function.buffers[buffer].access == Access::Own {
            return self.alloc_own(buffer, &len);
        }
        let name = self.buffer_name(buffer).to_owned();
        let ty = self.c_type(self.function.buffers[buffer].storage);
        // A workspace that every path allocates is declared where it is made.
        let declaration = if self.indent == 1 {
            format!("{ty} *")
        } else {
            String::new()
        };
        self.line(&format!(
            "{declaration}{name} = context->workspace(context, {}, sizeof({ty}));",
            len.text
        ));
        self.leave_if(&format!("!{name}"), Failure::OutOfMemory);
        if let Some(capacity) = self.capacity_of(buffer) {
            let declaration = if self.indent == 1 { "int64_t " } else { "" };
            self.line(&format!("{declaration}{capacity} = {};", len.text));
        }
        if !self.uses.accessed.contains(&buffer) {
            self.line(&format!("(void){name};"));
        }
    }

    /// Declares a workspace in the frame of the function.
    pub(crate) fn local(&mut self, buffer: Buffer, len: i64) {
        let name = self.buffer_name(buffer).to_owned();
        let ty = self.c_type(self.function.buffers[buffer].storage);
        self.line(&format!("{ty} {name}[{len}] = {{0}};"));
        if !self.uses.accessed.contains(&buffer) {
            self.line(&format!("(void){name};"));
        }
    }

    /// Declares the workspaces that some path does not allocate: they live until
    /// the function returns, not to the end of their block.
    pub(crate) fn declare_workspaces(&mut self) {
        for (buffer, data) in self.function.buffers.iter() {
            let always =
                self.function.body.iter().any(
                    |stmt| matches!(stmt, Stmt::Alloc { buffer: made, .. } if *made == buffer),
                );
            if data.access == Access::Workspace && self.uses.buffers.contains(&buffer) && !always {
                let name = self.buffer_name(buffer).to_owned();
                let ty = self.c_type(data.storage);
                self.line(&format!("{ty} *{name} = 0;"));
                if let Some(capacity) = self.capacity_of(buffer) {
                    self.line(&format!("int64_t {capacity} = 0;"));
                }
            }
        }
    }
}
