//! What is known of a file, as JSON: every number as it was counted.

use serde_json::{Value, json};
use sparsec::Storage;
use sparsec::internals::choice::Candidate;
use sparsec::internals::statistics::{Distribution, MatrixStatistics};

use super::Info;

impl Info<'_> {
    /// Everything.
    pub(super) fn value(&self) -> Value {
        let statistics = self.statistics;
        let memory: serde_json::Map<String, Value> = self
            .choice
            .tried
            .iter()
            .map(|tried| (tried.name.clone(), json!(tried.bytes)))
            .collect();
        json!({
            "file": self.path,
            "file_bytes": self.bytes,
            "element": self.tensor.element().name(),
            "extents": statistics.extents,
            "states_extents": self.states_extents,
            "structure": self.structure.name(),
            "n_stated": self.n_stated,
            "n_entries": statistics.n_entries,
            "stored": self.stored.as_ref().map(|storage| match storage {
                Storage::Levels(format) => format.to_string(),
                Storage::Relation(format) => format.name().to_owned(),
            }),
            "modes": statistics.modes.iter().map(distribution).collect::<Vec<_>>(),
            "matrix": statistics.matrix.as_ref().map(|matrix| {
                matrix_value(matrix, statistics.n_entries)
            }),
            "bytes": memory,
            "formats": self.choice.tried.iter().map(candidate).collect::<Vec<_>>(),
            "n_formats_tried": self.choice.tried.len(),
            "formats_left_out": self.choice.left_out,
            "smallest": candidate(&self.choice.smallest),
            "choice": {
                "name": self.choice.chosen.name,
                "format": self.choice.chosen.format.to_string(),
                "bytes": self.choice.chosen.bytes,
                "seconds": self.choice.chosen.seconds(),
                "reason": self.choice.reason,
            },
        })
    }
}

/// A format with the memory of the tensor in it; seconds are of a product with a vector.
fn candidate(candidate: &Candidate) -> Value {
    let estimate = &candidate.estimate;
    json!({
        "name": candidate.name,
        "format": candidate.format.to_string(),
        "bytes": candidate.bytes,
        "seconds": candidate.seconds(),
        "estimate": {
            "values": estimate.values,
            "seconds_for_value": estimate.seconds_for_value,
            "runs": estimate.runs,
            "seconds_for_run": estimate.seconds_for_run,
            "views": estimate.views,
            "converted": estimate.converted,
        },
    })
}

/// How the entries spread over one mode.
fn distribution(mode: &Distribution) -> Value {
    let histogram: Vec<Value> = mode
        .buckets()
        .map(|(least, most, n)| json!({ "least": least, "most": most, "n": n }))
        .collect();
    json!({
        "n": mode.n,
        "n_empty": mode.n_empty,
        "min": mode.min,
        "mean": mode.mean(),
        "max": mode.max,
        "deviation": mode.deviation(),
        "histogram": histogram,
    })
}

fn matrix_value(matrix: &MatrixStatistics, n_entries: u64) -> Value {
    let blocks: Vec<Value> = matrix
        .blocks
        .iter()
        .map(|block| {
            json!({
                "rows": block.rows,
                "columns": block.columns,
                "n": block.n_blocks,
                "fill": block.fill(n_entries),
            })
        })
        .collect();
    let symmetry = matrix.symmetry;
    json!({
        "lower_bandwidth": matrix.lower_bandwidth,
        "upper_bandwidth": matrix.upper_bandwidth,
        "lower_profile": matrix.lower_profile,
        "upper_profile": matrix.upper_profile,
        "n_on_diagonal": matrix.n_on_diagonal,
        "n_diagonals": matrix.n_diagonals,
        "n_mirrored": symmetry.n_mirrored,
        "pattern_symmetric": symmetry.pattern,
        "symmetric": symmetry.symmetric,
        "skew_symmetric": symmetry.skew,
        "hermitian": symmetry.hermitian,
        "blocks": blocks,
    })
}
