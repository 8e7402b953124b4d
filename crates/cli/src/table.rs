//! Columns of text.

/// Rows as lines, each column but the last as wide as its widest cell.
/// Lines have no blanks at their end.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A duration with three digits: `1.23 ms`.
pub(crate) fn duration(time: std::time::Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// A count with its noun: `1 kernel`, `2 kernels`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `1 entry`, `2 entries`.
pub(crate) fn counted_entries(n: u64) -> String {
    format!("{n} {}", if n == 1 { "entry" } else { "entries" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "b", ""], ["long", "µ", "c"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     b\nlong  µ  c\n");
    }

    #[test]
    fn durations_have_three_digits() {
        let check = |nanos, expect| assert_eq!(duration(Duration::from_nanos(nanos)), expect);
        check(1_234, "1.23 µs");
        check(45_600_000, "45.6 ms");
        check(2_000_000_000, "2.00 s");
        check(345_000_000_000, "345 s");
    }
}
