//! Fills that are not zero, in text files, which read an entry that they lack as zero.
//!
//! Such a tensor is written with all its entries:
//!
//! ```text
//! B(i,j) + 1, csr, fill 1        a.tns
//!   (0, 1)  3.0                  1 1 1.0     an entry that is not stored
//!                                1 2 3.0     has the value of the fill
//!                                2 1 1.0
//!                                2 2 1.0
//! ```

use std::borrow::Cow;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_tensor::Tensor;

/// The most entries of a tensor that is written entry by entry for its fill: they make
/// half a gigabyte of text.
const MOST_LISTED: u64 = 1 << 24;

/// Refuses a tensor whose fill is not zero and that has too many entries to write each.
///
/// # Errors
/// `E0428`.
pub(crate) fn check_fill(tensor: &Tensor) -> Result<()> {
    if is_stated(tensor) {
        return Ok(());
    }
    let extents = tensor.extents().iter();
    let n_entries = extents.fold(1, |n: u64, &extent| n.saturating_mul(extent));
    if n_entries <= MOST_LISTED {
        return Ok(());
    }
    let fill = tensor.fill();
    let message = format!("a tensor whose fill is {fill} has too many entries to write each");
    let all = match n_entries {
        u64::MAX => "2^64 or more".to_owned(),
        n_entries => n_entries.to_string(),
    };
    Err(
        Diagnostic::new(code::NOT_EXPRESSIBLE_IN_FILE, message).note(format!(
            "`.mtx` and `.tns` files read an entry that they lack as zero, so all {all} entries \
         would be written; the most are {MOST_LISTED}"
        )),
    )
}

/// The tensor itself if its fill is zero, else the same tensor with every entry stored.
/// It passed [`check_fill`].
///
/// # Errors
/// `E0407` when memory is out.
pub(crate) fn stated(tensor: &Tensor) -> Result<Cow<'_, Tensor>> {
    match is_stated(tensor) {
        true => Ok(Cow::Borrowed(tensor)),
        false => {
            let dense = Format::dense(tensor.order());
            tensor.convert(&dense).map(Cow::Owned)
        }
    }
}

/// Whether the list of the stored entries says all: the others, if any, are zero.
fn is_stated(tensor: &Tensor) -> bool {
    tensor.fill().is_zero() || tensor.format().is_all_dense()
}
