//! The descriptors of presets and other formats are complete, and print as text
//! that parses back to them.

use sparsec_format::{FormatSpec, presets};
use sparsec_relation::Descriptor;

#[test]
fn descriptors_are_complete() {
    let others = [
        (1, "(i) -> (i : run_length)"),
        (1, "(i) -> (i : loose_compressed)"),
        (2, "(i, j) -> (i : batch, j : range)"),
        (2, "(i, j) -> (i : hashed, j : run_length)"),
        (
            2,
            "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
        ),
        (2, "(i, j) -> (i + j : dense, j : compressed)"),
        (2, "csr, symmetric(i, j)"),
        (
            3,
            "(i, j, k) -> (i : dense, j : compressed(nonunique), k : singleton(nonordered))",
        ),
    ];
    let mut n = 0;
    for order in 0..4 {
        let named = presets().iter().filter(|preset| preset.fits(order));
        let others = others.iter().filter(|(fits, _)| *fits == order);
        let texts = named.map(|preset| preset.text(order));
        for text in texts.chain(others.map(|(_, text)| (*text).to_owned())) {
            let spec: FormatSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
            let format = spec
                .resolve(order)
                .unwrap_or_else(|error| panic!("{error}"));
            for descriptor in format.descriptors("tensor") {
                let printed = descriptor.to_string();
                let again = printed.parse::<Descriptor>();
                let again = again.unwrap_or_else(|error| panic!("{text}\n{printed}{error}"));
                assert_eq!(again.to_string(), printed, "{text}");
                n += 1;
            }
        }
    }
    assert!(n > 45, "{n}");
}
