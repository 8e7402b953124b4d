//! Arguments in which kernels compute.
//!
//! Up to release 14, a kernel computes in an argument `{linalg.inplaceable = true}` of its function, so
//! that callers see the result in their tensor. Later releases read nothing from this attribute.

use crate::attribute::Attribute;
use crate::module::{Module, Op};

use super::Rewrite;

/// The attribute of an argument.
const IN_PLACE: &str = "linalg.inplaceable";
/// The last release that reads it.
const LAST: u8 = 14;

impl Module {
    /// A message, with its line, for each function that computes in an argument no more once the
    /// module is rewritten for a release after [`LAST`].
    pub(super) fn computed_apart(&self, release: u8) -> Vec<String> {
        if self.dialect().release() > LAST || release <= LAST {
            return Vec::new();
        }
        let ops = self.walk().into_iter().map(|op| self.op(op));
        let functions = ops.filter(|op| match op.attribute("arg_attrs") {
            Some(Attribute::Array(all)) => all.iter().any(is_in_place),
            _ => false,
        });
        let messages = functions.map(|op| {
            format!(
                "{}: kernels computed in the argument with `{IN_PLACE} = true`, and compute beside it \
                 in dialect {release}; callers find the result in what the function returns",
                self.place_of(op)
            )
        });
        messages.collect()
    }
}

/// Whether the attributes of an argument let kernels compute in it.
fn is_in_place(own: &Attribute) -> bool {
    let Attribute::Dictionary(own) = own else {
        return false;
    };
    let mut own = own.iter();
    own.any(|(name, value)| name == IN_PLACE && *value == Attribute::Bool(true))
}

impl Rewrite {
    /// Drops the attribute where it had no meaning and would gain one.
    pub(super) fn in_place(&mut self, op: Op) {
        if self.module.dialect().release() <= LAST || self.dialect.release() > LAST {
            return;
        }
        let attributes = &mut self.module.ops[op].attributes;
        attributes.retain_mut(|(name, value)| {
            let ("arg_attrs", Attribute::Array(all)) = (name.as_str(), value) else {
                return true;
            };
            let mut is_dropped = false;
            for own in all.iter_mut() {
                if let Attribute::Dictionary(own) = own {
                    let n = own.len();
                    own.retain(|(name, _)| name != IN_PLACE);
                    is_dropped |= own.len() < n;
                }
            }
            let is_empty =
                |own: &Attribute| matches!(own, Attribute::Dictionary(own) if own.is_empty());
            !is_dropped || !all.iter().all(is_empty)
        });
    }
}
