//! Chooses the format that suits a tensor. The bytes of a format follow from counts, or the
//! tensor is packed in it.

use sparsec_base::Result;
use sparsec_format::Format;
use sparsec_format::choice::{Candidate, Choice};
use sparsec_format::statistics::Statistics;

use sparsec_parallel::MemoryLimit;

use crate::pack::PackOptions;
use crate::tensor::Tensor;

/// The most entries of a tensor that is packed to compare formats: more would take seconds.
const MOST_PACKED: u64 = 1 << 20;

/// A format that takes more than this many times the memory of the entries is not tried.
const MOST_TIMES: u64 = 16;

impl Tensor {
    /// Chooses the format that suits the entries, of all presets; see
    /// [`choice`](mod@sparsec_format::choice) for the rule. For more than 2^20 entries, only
    /// presets whose bytes follow from counts are compared.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    ///
    /// ```
    /// use sparsec_tensor::Tensor;
    /// let mut band = Tensor::builder("csr", &[100, 100])?;
    /// for i in 0..99 {
    ///     band = band.push([i, i], 2.0).push([i, i + 1], -1.0);
    /// }
    /// let choice = band.build()?.choose()?;
    /// // The values, and where the two diagonals are.
    /// assert_eq!(choice.smallest.name, "dia");
    /// assert!(choice.tried.len() > 15, "{:?}", choice.left_out);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn choose(&self) -> Result<Choice> {
        let statistics = self.statistics()?;
        let uncounted = statistics.uncounted();
        if statistics.n_entries > MOST_PACKED {
            let names = uncounted.into_iter().map(|(name, _)| name).collect();
            return Ok(statistics.choose_among(self.element(), Vec::new(), names));
        }
        let entries = self.try_entries()?;
        let each = 8 * self.order() as u64 + self.element().size() as u64;
        let room = (entries.len() as u64 + 1) * each * MOST_TIMES;
        let (mut packed, mut left_out) = (Vec::new(), Vec::new());
        for (name, format) in uncounted {
            let options = PackOptions {
                memory: MemoryLimit::Bytes(room),
                ..PackOptions::default()
            };
            // A format is refused that takes too much memory, or cannot hold the entries.
            match Self::pack_entries(&format, entries.clone(), options) {
                Ok(tensor) => packed.push(candidate(statistics, name, format, &tensor)),
                Err(_) => left_out.push(name),
            }
        }
        Ok(statistics.choose_among(self.element(), packed, left_out))
    }
}

/// A format with the bytes of the tensor that was packed in it.
fn candidate(statistics: &Statistics, name: String, format: Format, packed: &Tensor) -> Candidate {
    let levels = format.levels().len();
    // The rows of a union are those of its first part.
    let is_one = format.parts().len() == 1;
    let runs = match levels.checked_sub(2) {
        Some(above) if is_one => packed.n_positions(above) as u64,
        _ => packed.extents().first().copied().unwrap_or(1),
    };
    let (bytes, values) = (packed.bytes() as u64, packed.n_stored() as u64);
    statistics.candidate(name, format, bytes, values, runs)
}
