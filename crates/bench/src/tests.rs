//! Every kernel at sizes where the launch is all there is.

use super::*;

fn tiny() -> Sizes {
    Sizes {
        rows: 60,
        product_rows: 50,
        tensor_extents: [7, 5, 9],
        tensor_stored: 60,
        bandwidth_bytes: 1 << 16,
    }
}

fn options(json: bool) -> Options {
    Options {
        repeat: 1,
        json,
        ..Options::default()
    }
}

#[test]
fn every_kernel_agrees_with_c_by_hand() {
    let mut out = Vec::new();
    let report = measure(&options(false), &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let text = String::from_utf8(out).expect("what is printed is text");
    for (case, pattern) in choose(&[]).expect("all kernels") {
        assert!(text.contains(&case.full_name(pattern)), "{text}");
    }
    assert_eq!(report.rows.len(), 13);
    assert_eq!(report.latencies.len(), 2);
    assert!(report.rows.iter().all(|row| row.ratio > 0.0));
}

#[test]
fn json_is_one_object() {
    let mut options = options(true);
    options.only = vec!["spmv/band".to_owned(), "mttkrp".to_owned()];
    options.suite = Suite::Kernels;
    let mut out = Vec::new();
    measure(&options, &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(value["kernels"][0]["name"], "spmv/band");
    assert_eq!(value["kernels"][1]["name"], "mttkrp/uniform");
    assert_eq!(value["latencies"], serde_json::json!([]));
}

#[test]
fn unknown_names_are_refused() {
    let mut options = options(false);
    options.only = vec!["spmvv".to_owned()];
    let error = run(&options, &mut Vec::new()).expect_err("there is no such kernel");
    assert_eq!(error.code(), code::BAD_OPTION_VALUE);
    assert_eq!(error.help_text(), Some("did you mean `spmv`?"));
}
