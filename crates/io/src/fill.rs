//! Fills in files of text, where an entry that is not stated is zero.
//!
//! ```text
//! B(i,j) + 1, csr, fill 1        a.tns
//!   (0, 1)  3.0                  1 1 1.0     every entry, those that are
//!                                1 2 3.0     not stored by their fill
//!                                2 1 1.0
//!                                2 2 1.0
//! ```

use std::borrow::Cow;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_tensor::Tensor;

/// Entries that are stated one by one so that their fill is: text of half a gigabyte.
const MOST_LISTED: u64 = 1 << 24;

/// Refuses a tensor whose entries that are not stored would read back as zero, and are
/// too many to state.
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
    let message = format!("a tensor whose fill is {fill} has too many entries to state each");
    let all = match n_entries {
        u64::MAX => "more than 2^64".to_owned(),
        n_entries => n_entries.to_string(),
    };
    Err(
        Diagnostic::new(code::NOT_EXPRESSIBLE_IN_FILE, message).note(format!(
            "an entry that a `.mtx` or `.tns` file does not state is zero; of {all} entries at most \
         {MOST_LISTED} are stated by their fill"
        )),
    )
}

/// The tensor with every entry stored where its fill is not zero; it passed
/// [`check_fill`].
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

/// Whether no entry has a value that a list of the stored ones lacks.
fn is_stated(tensor: &Tensor) -> bool {
    tensor.fill().is_zero() || tensor.format().is_all_dense()
}
