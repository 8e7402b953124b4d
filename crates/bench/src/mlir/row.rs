//! One kernel beside MLIR, as text and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::report::{mark, milliseconds};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct MlirRow {
    /// Kernel and pattern: `spmv/band`.
    pub name: String,
    /// Our median time.
    pub ours: Duration,
    /// The median time of MLIR.
    pub theirs: Duration,
    /// The median over rounds of `theirs / ours`: above 1, ours is faster.
    pub ratio: f64,
    /// The least ratio that is good enough.
    pub bar: f64,
}

impl MlirRow {
    /// How to read the columns, and the line above the rows.
    pub(crate) fn heading() -> String {
        format!(
            "ratio: MLIR / ours, above 1 ours is faster; bar: the least ratio that is good enough\n\
             {:18} {:>10} {:>10} {:>7} {:>6}\n",
            "beside MLIR", "ours", "MLIR", "ratio", "bar"
        )
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "{:18} {:>10} {:>10} {:>7.3} {:>6.2}{}\n",
            self.name,
            milliseconds(self.ours),
            milliseconds(self.theirs),
            self.ratio,
            self.bar,
            mark(self.keeps_bar()),
        )
    }

    /// Whether the ratio reaches its bar.
    pub fn keeps_bar(&self) -> bool {
        self.ratio >= self.bar
    }

    /// The row as JSON; times in seconds.
    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "ours": self.ours.as_secs_f64(),
            "mlir": self.theirs.as_secs_f64(),
            "ratio": self.ratio,
            "bar": self.bar,
        })
    }
}
