//! Allocated tensors that leave a function.
//!
//! Releases 15 to 18 refuse sparse allocations that calls take or functions give. They accept what
//! `load` makes of them:
//!
//! ```text
//! %t = bufferization.alloc_tensor()      %t = bufferization.alloc_tensor()
//! return %t                              %0 = sparse_tensor.load %t
//!                                        return %0
//! ```

use crate::module::Op;

use super::{Rewrite, find};

impl Rewrite {
    /// Loads an allocated tensor before calls take it or the function gives it.
    pub(super) fn load_before_calls(&mut self, alloc: Op) {
        let tensor = self.module.ops[alloc].results[0];
        let leaves = |op: &Op| {
            let operation = self.module.op(*op);
            let (_, word) = operation.name().split_once('.').unwrap_or_default();
            matches!(word, "call" | "return") && operation.data().operands.contains(&tensor)
        };
        let users: Vec<Op> = self.module.walk().into_iter().filter(leaves).collect();
        if users.is_empty() {
            return;
        }
        let definition = find("sparse_tensor.load", 14);
        let load = self.new_op(definition, vec![tensor], Vec::new(), alloc, true);
        let loaded = self.new_result(load, self.module.ty(tensor).clone());
        self.module.ops[load].results.push(loaded);
        for user in users {
            for operand in &mut self.module.ops[user].operands {
                if *operand == tensor {
                    *operand = loaded;
                }
            }
        }
    }
}
