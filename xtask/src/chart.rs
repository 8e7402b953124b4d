//! The chart of the README, from the JSON of `sparsec bench`.
//!
//! ```text
//! sparsec bench kernels --size full --json > bench.json
//! cargo xtask chart bench.json                            writes docs/bench.svg
//!
//!                 0.5     1      2       4       8      times as long as sparsec
//! spmv/band        ·      ┃  ▲●        ■
//! add/uniform      ·      ┃        ●        ▲
//! ```
//!
//! Each kernel and pattern has a row, and each peer a mark in it. The mark says how many
//! times as long as sparsec the peer takes, on a logarithmic axis. Marks left of the line
//! are losses. The machine and the command stand below the rows, so the chart needs no
//! further text.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

/// The least and the largest ratio of the axis; marks beyond stand at its ends.
const AXIS: [f64; 2] = [0.5, 16.0];
/// The labels of the axis.
const TICKS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const LEFT: f64 = 170.0;
const WIDTH: f64 = 560.0;
const TOP: f64 = 92.0;
const ROW: f64 = 24.0;

/// A peer: its name in the JSON, its name in the chart, its colour and its mark.
struct Series {
    key: &'static str,
    name: &'static str,
    colour: &'static str,
    mark: fn(f64, f64) -> String,
}

/// People with any colour vision can tell these colours apart (Okabe and Ito, 2008), and
/// the marks differ without colour.
const SERIES: [Series; 5] = [
    Series {
        key: "by_hand",
        name: "C by hand, same flags",
        colour: "#000000",
        mark: |x, y| format!("<path d=\"M{x:.1} {:.1}v12\" stroke-width=\"3\"/>", y - 6.0),
    },
    Series {
        key: "plain C",
        name: "C as TACO generates it",
        colour: "#d55e00",
        mark: |x, y| format!("<path d=\"M{:.1} {:.1}l6 11h-12z\"/>", x, y - 6.0),
    },
    Series {
        key: "SciPy",
        name: "SciPy",
        colour: "#0072b2",
        mark: |x, y| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\"/>"),
    },
    Series {
        key: "MKL",
        name: "MKL",
        colour: "#009e73",
        mark: |x, y| {
            let (x, y) = (x - 5.0, y - 5.0);
            format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"10\" height=\"10\"/>")
        },
    },
    Series {
        key: "GraphBLAS",
        name: "GraphBLAS",
        colour: "#cc79a7",
        mark: |x, y| format!("<path d=\"M{x:.1} {:.1}l6 6l-6 6l-6-6z\"/>", y - 6.0),
    },
];

/// Reads the report at `from` and writes the chart to `to`.
///
/// # Errors
/// Text that names the file and the fault.
pub(crate) fn write(from: &Path, to: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(from);
    let text = text.map_err(|error| format!("{}: {error}", from.display()))?;
    let report: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{} is not JSON: {error}", from.display()))?;
    let chart = chart(&report).ok_or_else(|| {
        format!(
            "{} is not what `sparsec bench kernels --json` prints",
            from.display()
        )
    })?;
    std::fs::write(to, chart).map_err(|error| format!("{}: {error}", to.display()))
}

/// The ratio of a peer to sparsec in one row, if it was measured.
fn ratio(row: &Value, key: &str) -> Option<f64> {
    if key == "by_hand" {
        return row["ratio"].as_f64();
    }
    let groups = ["peers", "variants"].map(|group| row[group].as_array());
    let mut all = groups.into_iter().flatten().flatten();
    all.find(|peer| peer["name"] == key)?["ratio"].as_f64()
}

/// Where a ratio stands on the axis.
fn place(ratio: f64) -> f64 {
    let [least, most] = AXIS.map(f64::log2);
    let at = ratio.clamp(AXIS[0], AXIS[1]).log2();
    LEFT + WIDTH * (at - least) / (most - least)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn chart(report: &Value) -> Option<String> {
    let rows = report["kernels"].as_array()?;
    let bottom = TOP + ROW * rows.len() as f64;
    let (width, height) = (LEFT + WIDTH + 40.0, bottom + 92.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" \
         font-size=\"13\">\n<title>Time of other libraries, in times of sparsec's</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"24\" font-size=\"15\" font-weight=\"bold\">\
         Times as long as sparsec, one thread (right of the line: sparsec is faster)</text>\n"
    );
    let mut x = LEFT - 150.0;
    for series in &SERIES {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<g fill=\"{0}\" stroke=\"{0}\">{1}</g><text x=\"{2}\" y=\"52\">{3}</text>",
            series.colour,
            (series.mark)(x, 48.0),
            x + 12.0,
            series.name
        );
        x += 30.0 + 7.4 * series.name.len() as f64;
    }
    for tick in TICKS {
        let x = place(tick);
        let (colour, thick) = if tick == 1.0 {
            ("#000000", 2)
        } else {
            ("#cccccc", 1)
        };
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"{colour}\" stroke-width=\"{thick}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            TOP - 6.0,
            TOP - 12.0,
        );
    }
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (number as f64 + 0.5);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 12.0,
            y + 4.0,
            escaped(row["name"].as_str()?)
        );
        for series in &SERIES {
            if let Some(ratio) = ratio(row, series.key) {
                let _ = writeln!(
                    out,
                    "<g fill=\"{0}\" stroke=\"{0}\"><title>{1}: {ratio:.2}</title>{2}</g>",
                    series.colour,
                    series.name,
                    (series.mark)(place(ratio), y)
                );
            }
        }
    }
    let bandwidth = report["bandwidth"]["copy"].as_f64().unwrap_or(0.0) / 1e9;
    let lines = [
        format!(
            "{}; copies {bandwidth:.0} GB/s",
            report["machine"].as_str()?
        ),
        report["compiler"].as_str()?.to_owned(),
        format!(
            "sparsec bench kernels --size {} --json; medians of ratios taken in turns in one run",
            report["size"].as_str()?
        ),
    ];
    for (number, line) in lines.iter().enumerate() {
        let y = bottom + 28.0 + 18.0 * number as f64;
        let _ = writeln!(
            out,
            "<text x=\"20\" y=\"{y:.1}\" font-size=\"12\" fill=\"#555555\">{}</text>",
            escaped(line)
        );
    }
    out.push_str("</svg>\n");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_rows_with_a_mark_for_each_peer() {
        let report = serde_json::json!({
            "machine": "a machine", "compiler": "gcc", "size": "small",
            "bandwidth": { "copy": 1e10 },
            "kernels": [{
                "name": "spmv/band", "ratio": 1.1,
                "peers": [{ "name": "SciPy", "ratio": 0.4 }],
                "variants": [{ "name": "plain C", "ratio": 20.0 }],
            }],
        });
        let chart = chart(&report).unwrap();
        for part in [
            "spmv/band",
            "SciPy: 0.40",
            "generates it: 20.00",
            "copies 10 GB/s",
        ] {
            assert!(chart.contains(part), "{part} in {chart}");
        }
        // Losses stand left of the line, and what exceeds the axis at its end.
        assert!(place(0.4) < place(1.0));
        assert_eq!(place(20.0), place(16.0));
        assert_eq!(super::chart(&serde_json::json!({})), None);
    }
}
