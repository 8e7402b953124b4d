//! The types of arrays of tensors, which releases up to 18 leave open and later ones infer.

use sparsec_base::Result;

use crate::module::{Op, Value};

use super::Rewrite;

impl Rewrite {
    /// Gives an array the type that releases from 19 on infer. Loads, transfers and extents do not
    /// depend on the type; other uses would need another type too.
    pub(super) fn infer_array(&mut self, op: Op) -> Result<()> {
        let Some(wanted) = self.module.op(op).array_type() else {
            return Ok(());
        };
        let array = self.module.op(op).result("result");
        if *self.module.ty(array) == wanted {
            return Ok(());
        }
        if let Some(user) = self.use_of_type(array) {
            let message = format!(
                "release {} gives this array the type `{}`",
                self.dialect,
                self.module.spell().ty(&wanted)
            );
            let span = self.module.ops[user].span;
            return Err(self
                .refuse(op, message)
                .also(self.module.source(), span, "depends on the type")
                .help("write that type, and `memref.cast` or `memref.copy` behind it"));
        }
        self.module.values[array].ty = wanted;
        Ok(())
    }

    /// An operation that uses a memref otherwise than to load entries or ask for an extent.
    fn use_of_type(&self, memref: Value) -> Option<Op> {
        let ops = self.module.walk().into_iter();
        let mut users = ops.filter(|op| self.module.ops[*op].operands.contains(&memref));
        users.find(|op| {
            let name = self.module.op(*op).name();
            !matches!(name, "memref.load" | "memref.dim" | "vector.transfer_read")
        })
    }
}
