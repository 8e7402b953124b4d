//! Room for operands: what formats take for sure is compared before they are packed.
//!
//! ```text
//! --memory 4G ─► operand ─► operand ─► … ─► what is left for results and workspaces
//! ```
//!
//! Without a bound it is what the system has left at each step.

use sparsec::{Diagnostic, ElementType, Format, MemoryLimit, Result, Tensor, code, least_bytes};

use crate::call::{Call, Pair};

/// Memory that operands take one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    limit: MemoryLimit,
}

impl Room {
    /// As much as `limit` says.
    pub(crate) fn new(limit: MemoryLimit) -> Self {
        Self { limit }
    }

    /// Refuses an operand that takes more than is left, whatever is stored in it.
    ///
    /// # Errors
    /// `E0508`.
    pub(crate) fn check(
        self,
        call: &Call,
        pair: &Pair,
        format: &Format,
        extents: &[u64],
        element: ElementType,
    ) -> Result<()> {
        let bytes = least_bytes(format, extents, element);
        if u64::try_from(bytes).is_ok_and(|bytes| self.limit.can_give(0, bytes)) {
            return Ok(());
        }
        let help = match format.has_sparse() {
            true => {
                let list = if extents.len() == 2 { "dcsr" } else { "scoo" };
                format!(
                    "store it with compressed levels alone: `-f {}={list}`",
                    pair.name
                )
            }
            false => format!(
                "generate fewer entries: `-g '{}=random(nnz=1000)'`",
                pair.name
            ),
        };
        Err(self.too_large(call, pair, format, bytes).help(help))
    }

    /// Takes the memory of an operand that is packed.
    ///
    /// # Errors
    /// `E0508` where there was less.
    pub(crate) fn take(&mut self, call: &Call, pair: &Pair, tensor: &Tensor) -> Result<()> {
        let MemoryLimit::Bytes(left) = self.limit else {
            return Ok(());
        };
        let bytes = tensor.bytes() as u64;
        let Some(rest) = left.checked_sub(bytes) else {
            let error = self.too_large(call, pair, tensor.format(), bytes.into());
            return Err(error.help("allow more with `--memory`"));
        };
        self.limit = MemoryLimit::Bytes(rest);
        Ok(())
    }

    /// What is left.
    pub(crate) fn left(self) -> MemoryLimit {
        self.limit
    }

    fn too_large(self, call: &Call, pair: &Pair, format: &Format, bytes: u128) -> Diagnostic {
        let bytes = match bytes {
            u128::MAX => "more bytes than can be counted".to_owned(),
            bytes => format!("{bytes} bytes"),
        };
        let message = format!(
            "`{}` would take {bytes}, and {} are left",
            pair.name,
            self.limit.bytes()
        );
        Diagnostic::new(code::TOO_LARGE_FOR_MEMORY, message)
            .also(call.source(), pair.value_span, "too large for memory")
            .note(format!("its format is `{}`", format.arrangement()))
    }
}
