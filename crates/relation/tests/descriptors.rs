//! Descriptors of formats that levels cannot describe, and of what is none.

use sparsec_relation::{Descriptor, Image, Side};

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

/// The entries of one triangle, which stand for those of the other.
const TRIANGLE: &str = "
format triangle
extents N, M
map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n) && 0 <= i < N && 0 <= j <= i && j < M}
data {[n] -> [n]}
values {[n] : 0 <= n < NZ}
unique
padding
fill 2.5
mirror {[i, j] -> [j, i]} conjugate
assume N = M
function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < M}
";

#[test]
fn clauses_say_what_values_and_keys_are() {
    let triangle: Descriptor = TRIANGLE.parse().unwrap_or_else(|error| panic!("{error}"));
    let clauses = triangle.clauses();
    assert!(clauses.is_unique && clauses.has_padding);
    assert_eq!(clauses.fill.map(|fill| fill.0), Some(2.5));
    let mirror = clauses.mirror.expect("mirror images");
    assert_eq!((mirror.modes, mirror.image), ([0, 1], Image::Conjugate));
    assert_eq!(triangle.side_of([0, 1]), Some(Side::Lower));
    let printed = triangle.to_string();
    assert_eq!(
        printed.parse::<Descriptor>().expect("it reads back"),
        triangle
    );

    let table: Descriptor = TABLES.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(table.clauses().tables.iter().collect::<Vec<_>>(), ["row"]);
    assert_eq!(table.clauses().blocks.iter().collect::<Vec<_>>(), ["col"]);
    assert_eq!(
        table
            .to_string()
            .parse::<Descriptor>()
            .expect("it reads back"),
        table
    );
}

/// A table of rows, and two entries of each row.
const TABLES: &str = "
format tables
extents N, M
map {[k, l] -> [i, j] : pos(0) <= k < pos(1) && i = row(k) && 0 <= i < N
     && 2 * k <= l < 2 * k + 2 && col(l) = j && 0 <= j < M}
data {[k, l] -> [l]}
values {[l] : 0 <= l < 2 * pos(1)}
table row
block col
assume pos(0) = 0
function pos : {[p] : 0 <= p <= 1} -> {[k] : 0 <= k} nondecreasing
function row : {[k] : 0 <= k < pos(1)} -> {[i] : 0 <= i <= N}
function col : {[l] : 0 <= l < 2 * pos(1)} -> {[j] : 0 <= j <= M}
";

#[test]
fn clauses_name_arrays_of_keys() {
    for (clause, other, under) in [
        ("table row", "table pos", "pos"),
        ("table row", "table col", "col"),
        ("block col", "block row", "row"),
        ("block col", "block pos", "pos"),
    ] {
        refused(&TABLES.replacen(clause, other, 1), "E0702", under);
    }
    // A list has neither segments nor blocks.
    for clause in ["table col", "block col"] {
        refused(&TRIANGLE.replacen("fill 2.5", clause, 1), "E0702", "col");
    }
}

#[test]
fn clauses_that_do_not_fit_are_refused() {
    let with = |from: &str, to: &str| TRIANGLE.replacen(from, to, 1);
    let image = "mirror {[i, j] -> [j, i]} conjugate";
    refused(&with("fill 2.5", "padding"), "E0702", "padding");
    refused(&with("fill 2.5", "table columns"), "E0720", "columns");
    refused(&with("fill 2.5", "fill = 1"), "E0101", "=");
    refused(
        &with(image, "mirror {[i, j] -> [i, j]} same"),
        "E0702",
        "{[i, j] -> [i, j]}",
    );
    refused(
        &with(image, "mirror {[i, j] -> [j, i]} other"),
        "E0101",
        "other",
    );
    let three = "mirror {[i, j, k] -> [i, k, j]} same";
    refused(&with(image, three), "E0702", three);
    let three = "mirror {[i, j, k] -> [j, i, k]} same";
    refused(&with(image, three), "E0702", three);
    refused(&with("assume N = M\n", ""), "E0702", image);
    refused(&with("0 <= j <= i", "0 <= j"), "E0702", image);
}

/// The lower triangle, row by row, of which only an array says where each row begins.
#[test]
fn products_of_elements_are_told_the_way_out() {
    let packed = |place: &str, end: &str, more: &str| {
        format!(
            "format packed
             extents N, M
             map {{[r, c] -> [i, j] : 0 <= c <= r < N && i = r && j = c && 0 <= j < M}}
             data {{[r, c] -> [{place}]}}
             values {{[p] : 0 <= p < {end}}}
             padding
             {more}"
        )
    };
    let product = packed("r * (r + 1) floordiv 2 + c", "N * (N + 1) floordiv 2", "");
    let error = product.parse::<Descriptor>().expect_err("a product");
    assert_eq!(error.code().to_string(), "E0723", "{error}");
    let help = error.help_text().expect("a way out");
    assert!(help.contains("tri(r + 1) = tri(r) + r + 1"), "{help}");
    let by_array = packed(
        "tri(r) + c",
        "tri(N)",
        "assume tri(0) = 0
         function tri : {[r] : 0 <= r <= N} -> {[p] : 0 <= p} nondecreasing
         forall r : 0 <= r < N => tri(r + 1) = tri(r) + r + 1",
    );
    assert!(by_array.parse::<Descriptor>().is_ok());
}
