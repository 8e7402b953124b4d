//! Descriptors of formats that levels cannot describe, and of what is none.

use sparsec_relation::Descriptor;

const JDS: &str = include_str!("../../../samples/jds.fmt");

const SELL: &str = include_str!("../../../samples/sell.fmt");

const FCOO: &str = include_str!("../../../samples/fcoo.fmt");

#[test]
fn what_levels_cannot_describe() {
    for text in [JDS, SELL, FCOO] {
        let descriptor: Descriptor = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let printed = descriptor.to_string();
        let again = printed.parse::<Descriptor>();
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), descriptor);
    }
}

/// Refused with this code, with a caret under this.
#[track_caller]
fn refused(text: &str, code: &str, under: &str) {
    let error = text.parse::<Descriptor>().expect_err("it is not complete");
    let label = &error.labels()[0];
    assert_eq!(
        (
            error.code().to_string().as_str(),
            label.source.slice(label.span)
        ),
        (code, under),
        "{error}"
    );
    assert!(error.help_text().is_some(), "{error}");
}

#[test]
fn what_is_not_complete() {
    let without = |line: &str| {
        let lines = JDS.lines().filter(|it| !it.contains(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let map = |text: &str| {
        let map = &text[text.find("map").expect("it has one")..];
        map[..map.find("data").expect("it has one")]
            .trim_end()
            .to_owned()
    };
    refused(&without("function col"), "E0720", "col");
    refused(
        &format!("{JDS}function row : {{[k] : 0 <= k < NNZ}} -> {{[i]}}"),
        "E0720",
        "row",
    );
    refused(
        &JDS.replace("{[t] : 0 <= t < NR}", "{[t] : 0 <= t}"),
        "E0722",
        "perm",
    );
    refused(&JDS.replace("[s, k, t]", "[s, k, t, w]"), "E0722", "w");
    refused(
        &JDS.replace("values {[k] : 0 <= k < NNZ}", "values {[k] : 0 <= k}"),
        "E0722",
        "values {[k] : 0 <= k}",
    );
    let no_column = JDS.replace("0 <= j < NC}\ndata", "0 <= j < NC && col(k) < 0}\ndata");
    refused(&no_column, "E0724", &map(&no_column));
    let declared = format!("{JDS}assume NR < ND && ND < NR\n");
    refused(&declared, "E0724", &map(JDS));
    let any_column = JDS.replace("j = col(k) && 0", "0 <= col(k) && 0");
    refused(&any_column, "E0721", &map(&any_column));
    refused(
        &JDS.replace("0 <= j < NC}\ndata", "0 <= j}\ndata")
            .replace("{[j] : 0 <= j < NC}", "{[j] : -1 <= j <= NC}"),
        "E0723",
        "j",
    );
    refused(
        &JDS.replace("data {[s, k, t] -> [k]}", "data {[s, k, t] -> [k + 1]}"),
        "E0723",
        "data {[s, k, t] -> [k + 1]}",
    );
    refused(
        &JDS.replace(
            "data {[s, k, t] -> [k]}",
            "data {[s, k, t] -> [k] : 1 <= k}",
        ),
        "E0721",
        "data {[s, k, t] -> [k] : 1 <= k}",
    );
    refused(
        &JDS.replace("extents NR, NC", "extents NR, NC, NL"),
        "E0130",
        &map(JDS),
    );
}

#[test]
fn a_line_that_is_missing_is_named_with_the_others() {
    for text in ["", "format x", "format x extents N data {[p] -> [p]}"] {
        let error = text.parse::<Descriptor>().expect_err("lines are missing");
        assert_eq!(
            error.code(),
            sparsec_base::code::UNEXPECTED_TOKEN,
            "{error}"
        );
        let help = error.help_text().expect("a way out");
        assert!(help.contains("`extents`, `map`"), "{help}");
    }
}
