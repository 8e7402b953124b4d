//! Making room in results and workspaces that grow.
//!
//! Room is made in line, so that an append that fits costs one comparison with a
//! local variable. Arrays that always grow together share the comparison and its
//! variable:
//!
//! ```text
//! if (pC1 + 1 > C_capacity) {
//!   C1_crd = context->grow(context, C1_crd_array, pC1 + 1, sizeof(int32_t));
//!   if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
//!   …
//!   C_capacity = C1_crd_array->capacity;
//!   …
//! }
//! ```

use sparsec_base::ElementType;
use sparsec_loop::growth::growth_groups;
use sparsec_loop::{Access, Buffer, Expr, Failure};

use crate::precedence::{Piece, Precedence};
use crate::stmt::{BufferNames, Writer};

/// Buffers that always grow together.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    /// The buffers.
    pub(crate) buffers: Vec<Buffer>,
    /// The variable that holds for how many entries all have room.
    pub(crate) capacity: String,
}

impl Writer<'_> {
    /// Names the capacity of each group of buffers.
    pub(crate) fn name_capacities(&mut self) {
        for buffers in growth_groups(self.function) {
            let of = match buffers.as_slice() {
                [one] => self.buffer_name(*one).to_owned(),
                _ => self.argument_of(buffers[0]).to_owned(),
            };
            let capacity = self.names.fresh(&format!("{of}_capacity"));
            self.growth.push(Growth { buffers, capacity });
        }
    }

    /// The name of the argument that has `buffer`.
    fn argument_of(&self, buffer: Buffer) -> &str {
        let argument = self
            .function
            .arguments
            .iter()
            .find(|argument| argument.buffers.contains(&buffer));
        argument.map_or("result", |argument| &argument.name)
    }

    /// Makes room in every buffer of a run; the length, as something that may be
    /// repeated.
    pub(crate) fn grow(&mut self, run: &[Buffer], len: &Expr) -> Piece {
        let mut len = self.expr(len);
        let repeatable = |c: char| c.is_alphanumeric() || "_+- ".contains(c);
        if !len.text.chars().all(repeatable) {
            len = self.bind(len, ElementType::I64, "room");
        }
        let groups: Vec<Growth> = self
            .growth
            .iter()
            .filter(|group| run.contains(&group.buffers[0]))
            .cloned()
            .collect();
        for group in groups {
            let [first, ..] = group.buffers[..] else {
                continue;
            };
            if self.function.buffers[first].access.is_allocated() {
                self.grow_workspace(first, &group.capacity, &len);
                continue;
            }
            self.line(&format!("if ({} > {}) {{", len.text, group.capacity));
            self.indented(|w| {
                for &buffer in &group.buffers {
                    let BufferNames { data, array, .. } = w.buffer_names(buffer);
                    let ty = w.c_type(w.function.buffers[buffer].storage);
                    w.line(&format!(
                        "{data} = context->grow(context, {array}, {}, sizeof({ty}));",
                        len.text
                    ));
                    w.leave_if(&format!("!{data}"), Failure::OutOfMemory);
                }
                w.set_capacity(&group, "");
            });
            self.line("}");
        }
        len
    }

    /// Moves a workspace to where there is room, for twice what is asked; where it
    /// was is freed with all others, when the kernel returns.
    fn grow_workspace(&mut self, buffer: Buffer, capacity: &str, len: &Piece) {
        let data = self.buffer_name(buffer).to_owned();
        let ty = self.c_type(self.function.buffers[buffer].storage);
        let moved = self.names.fresh(&format!("{data}_moved"));
        let len = len.at(Precedence::Product);
        self.line(&format!("if ({len} > {capacity}) {{"));
        self.indented(|w| {
            w.line(&format!(
                "{ty} *{moved} = context->workspace(context, 2 * {len}, sizeof({ty}));"
            ));
            w.leave_if(&format!("!{moved}"), Failure::OutOfMemory);
            let at = w.names.fresh("at");
            w.line(&format!(
                "for (int64_t {at} = 0; {at} < {capacity}; {at}++) {moved}[{at}] = {data}[{at}];"
            ));
            w.line(&format!("{data} = {moved};"));
            w.line(&format!("{capacity} = 2 * {len};"));
            if w.function.buffers[buffer].access == Access::Own {
                w.line(&format!("own->{data} = {data};"));
                w.line(&format!("own->{capacity} = {capacity};"));
            }
        });
        self.line("}");
    }

    /// The variable that holds for how many entries a growing buffer has room,
    /// if it grows by itself.
    pub(crate) fn capacity_of(&self, buffer: Buffer) -> Option<String> {
        let group = self.growth.iter().find(|group| group.buffers == [buffer])?;
        Some(group.capacity.clone())
    }

    /// Sets the capacity of a group to the least of its arrays'.
    pub(crate) fn set_capacity(&mut self, group: &Growth, declare: &str) {
        let capacity = &group.capacity;
        let (first, others) = group.buffers.split_at(1);
        let first = self.buffer_names(first[0]).array;
        self.line(&format!("{declare}{capacity} = {first}->capacity;"));
        for &buffer in others {
            let array = self.buffer_names(buffer).array;
            self.line(&format!(
                "if ({array}->capacity < {capacity}) {capacity} = {array}->capacity;"
            ));
        }
    }
}
