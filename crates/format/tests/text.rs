//! The text of formats: what reads as what, and what is refused.

mod common;

use common::{check, refuse, refused};
use proptest::prelude::*;
use sparsec_base::{Source, code, lex::Tokens};
use sparsec_format::{Format, FormatSpec, Level, LevelKind, Parameters, parse_spec, presets};

#[test]
fn maps() {
    check("() -> ()", 0, "() -> ()");
    check("(i)->(i:dense)", 1, "(i) -> (i : dense)");
    check(
        "(row, col) -> (col : dense, row : compressed(nonordered))",
        2,
        "(row, col) -> (col : dense, row : compressed(nonordered))",
    );
    check(
        "(i, j) -> (i : compressed(nonordered, nonunique), j : singleton(nonordered)) ; a list",
        2,
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    );
    check("(mod) -> (mod : dense)", 1, "(mod) -> (mod : dense)");
}

#[test]
fn widths() {
    check(
        "(i) -> (i : compressed), crd = 64, pos = 32",
        1,
        "(i) -> (i : compressed), pos = 32, crd = 64",
    );
    check(
        "(i) -> (i : compressed), crd = 8, pos = 16",
        1,
        "(i) -> (i : compressed), pos = 16, crd = 8",
    );
    check(
        "csc, pos = 64",
        2,
        "(i, j) -> (j : dense, i : compressed), pos = 64",
    );
}

#[test]
fn clauses_are_about_the_two_modes_of_a_matrix() {
    check(
        "csr, lower",
        2,
        "(i, j) -> (i : dense, j : compressed), lower(i, j)",
    );
    check(
        "csc, symmetric, upper",
        2,
        "(i, j) -> (j : dense, i : compressed), symmetric(i, j), upper(i, j)",
    );
    check(
        "(r, c) -> (c : dense, r : compressed), diagonal, pos = 32",
        2,
        "(r, c) -> (c : dense, r : compressed), diagonal(r, c), pos = 32",
    );
    let list: FormatSpec = "coo, skew".parse().expect("a format");
    assert_eq!(list.to_string(), "coo, skew(i, j)");
    let error = list.resolve(3).expect_err("three modes");
    refused(&error, code::BAD_CLAUSE, "skew", "`skew(i, j)`");
    refuse(
        "(i) -> (i : compressed), upper",
        code::BAD_CLAUSE,
        "upper",
        "leave it out",
    );
    let cube = "(i, j, k) -> (i : dense, j : dense, k : dense), hermitian";
    refuse(cube, code::BAD_CLAUSE, "hermitian", "`hermitian(i, j)`");
}

#[test]
fn presets_for_matrices() {
    check("dense", 2, "(i, j) -> (i : dense, j : dense)");
    check("csr", 2, "(i, j) -> (i : dense, j : compressed)");
    check("csc", 2, "(i, j) -> (j : dense, i : compressed)");
    check("dcsr", 2, "(i, j) -> (i : compressed, j : compressed)");
    check("dcsc", 2, "(i, j) -> (j : compressed, i : compressed)");
}

#[test]
fn presets_for_any_order() {
    for name in ["dense", "coo", "scoo", "csf"] {
        check(name, 0, "() -> ()");
    }
    check("coo", 1, "(i) -> (i : compressed(nonordered))");
    check("scoo", 1, "(i) -> (i : compressed)");
    check(
        "coo",
        3,
        "(i, j, k) -> (i : compressed(nonunique, nonordered), \
         j : singleton(nonunique, nonordered), k : singleton(nonordered))",
    );
    check(
        "scoo",
        3,
        "(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
    );
    check(
        "csf",
        8,
        "(i, j, k, l, m, n, o, p) -> (i : compressed, j : compressed, k : compressed, \
         l : compressed, m : compressed, n : compressed, o : compressed, p : compressed)",
    );
    for order in 0..12 {
        for preset in presets().iter().filter(|preset| preset.fits(order)) {
            let format = preset.format(order).expect("fits the order");
            assert_eq!(format.order(), order);
            assert_eq!(format.to_string().parse().as_ref(), Ok(&format));
            let spec: FormatSpec = preset.text(order).parse().expect("a preset");
            assert_eq!(spec.resolve(order), Ok(format));
            assert_eq!(spec.to_string(), preset.text(order));
        }
    }
}

#[test]
fn names_of_presets() {
    let name = |text: &str| text.parse::<Format>().expect("a format").preset_name();
    assert_eq!(name("(a, b) -> (b : dense, a : compressed)"), Some("csc"));
    assert_eq!(
        name("(a, b) -> (a : compressed, b : compressed)"),
        Some("dcsr")
    );
    assert_eq!(name("(a) -> (a : compressed)"), Some("csf"));
    assert_eq!(name("() -> ()"), Some("dense"));
    assert_eq!(name("(a, b) -> (b : dense, a : dense)"), None);
    assert_eq!(name("csr, pos = 32"), None);
    for preset in presets().iter().filter(|preset| preset.fits(2)) {
        let format = preset.format(2).expect("fits matrices");
        // Presets with sizes are told by their maps.
        let expect = match preset.parameters {
            Parameters::None if preset.name == "csf" => Some("dcsr"),
            Parameters::None => Some(preset.name),
            _ => None,
        };
        assert_eq!(format.preset_name(), expect);
        let short = expect.map_or(format.to_string(), str::to_owned);
        assert_eq!(format.short_name(), short);
    }
    let clauses = [
        "csr, pos = 32",
        "coo, skew(i, j), upper(i, j), fill 1, crd = 8",
    ];
    for text in clauses {
        let spec: FormatSpec = text.parse().expect(text);
        assert_eq!(spec.resolve(2).expect(text).short_name(), text);
    }
}

#[test]
fn the_order_has_to_fit() {
    let resolve = |text: &str, order| {
        let spec: FormatSpec = text.parse().expect("a format");
        spec.resolve(order).expect_err("another order")
    };
    refused(&resolve("csr", 3), code::FORMAT_ORDER, "csr", "`csf`");
    refused(
        &resolve("dcsc, pos = 32", 1),
        code::FORMAT_ORDER,
        "dcsc",
        "`csf`",
    );
    refused(&resolve("csr", 0), code::FORMAT_ORDER, "csr", "`dense`");
    refused(
        &resolve("(i, j) -> (i : dense, j : dense)", 3),
        code::FORMAT_ORDER,
        "(i, j)",
        "3 modes",
    );
    let alone = "coo".parse::<Format>().expect_err("no order");
    refused(
        &alone,
        code::FORMAT_ORDER,
        "coo",
        "(i, j) -> (i : compressed(",
    );
    assert_eq!("csr".parse(), Ok(Format::csr()));
}

#[test]
fn grammar_is_refused_with_a_caret() {
    refuse("", code::UNEXPECTED_TOKEN, "", "");
    refuse("(i) -> (i dense)", code::UNEXPECTED_TOKEN, "dense", "");
    refuse("(i) (i : dense)", code::UNEXPECTED_TOKEN, "(", "");
    refuse("(i) -> (i : dense", code::UNEXPECTED_TOKEN, "", "");
    refuse("(i,) -> (i : dense)", code::UNEXPECTED_TOKEN, ")", "");
    refuse("csr csc", code::UNEXPECTED_TOKEN, "csc", "");
    refuse("coo(2)", code::PRESET_ARGUMENTS, "coo(2)", "write `coo`");
    refuse("bsr", code::PRESET_ARGUMENTS, "bsr", "write `bsr(2, 2)`");
    refuse("hyb(2, 3)", code::PRESET_ARGUMENTS, "hyb(2, 3)", "`hyb(2)`");
    refuse("csb(0)", code::PRESET_ARGUMENTS, "0", "`csb(2)`");
    refuse("(i) -> (i : compressed())", code::UNEXPECTED_TOKEN, ")", "");
    refuse("(i) -> (i : dense) €", code::UNKNOWN_CHARACTER, "€", "");
    refuse(
        "csr, pos = 99999999999999999999",
        code::BAD_NUMBER,
        "99999999999999999999",
        "",
    );
}

#[test]
fn unknown_names() {
    refuse("crs", code::UNKNOWN_FORMAT, "crs", "did you mean `csr`?");
    refuse("wavelet", code::UNKNOWN_FORMAT, "wavelet", "`dense`, `csr`");
    refuse(
        "(i) -> (i : compresed)",
        code::UNKNOWN_LEVEL_KIND,
        "compresed",
        "did you mean `compressed`?",
    );
    refuse(
        "(i) -> (i : tree)",
        code::UNKNOWN_LEVEL_KIND,
        "tree",
        "`singleton`",
    );
    refuse(
        "(i) -> (i : compressed(nonuniqe))",
        code::UNKNOWN_PROPERTY,
        "nonuniqe",
        "did you mean `nonunique`?",
    );
    refuse(
        "(i) -> (i : compressed(sorted))",
        code::UNKNOWN_PROPERTY,
        "sorted",
        "`nonordered`",
    );
    refuse(
        "(i) -> (i : compressed(unique))",
        code::UNKNOWN_PROPERTY,
        "unique",
        "leave it out: a level is unique where nothing says `nonunique`",
    );
    refuse(
        "csr, width = 32",
        code::UNKNOWN_CLAUSE,
        "width",
        "`pos = 32`",
    );
    refuse("csr, inf", code::UNKNOWN_CLAUSE, "inf", "`fill inf`");
    refuse("csr, fill 1e999", code::BAD_NUMBER, "1e999", "`fill inf`");
    refuse("csr, fill -1e999", code::BAD_NUMBER, "1e999", "`fill inf`");
    refuse(
        "csr, poss = 32",
        code::UNKNOWN_CLAUSE,
        "poss",
        "did you mean `pos`?",
    );
    refuse(
        "(i, j) -> (i : dense, k : dense)",
        code::UNKNOWN_MODE,
        "k",
        "`i`, `j`",
    );
    refuse("() -> (i : dense)", code::UNKNOWN_MODE, "i", "`() -> ()`");
}

#[test]
fn what_this_version_does_not_support_is_named() {
    let check = |text: &str, under: &str, what: &str| {
        let error = text.parse::<FormatSpec>().expect_err("refused");
        refused(&error, code::FORMAT_UNSUPPORTED, under, "`.fmt` file");
        assert!(error.message().contains(what), "{error}");
    };
    check("{[n] -> [i]}", "{", "a format given as a relation");
}

/// What is no tree of levels is a relation, and says so where levels are needed.
#[test]
fn relations_are_formats_without_levels() {
    for (text, order, only) in [
        ("jds", 2, true),
        ("sell(8, 32)", 2, true),
        ("fcoo(1)", 2, false),
        ("fcoo(1)", 3, false),
        ("fcoo(4)", 5, false),
        ("bcsf(4)", 2, false),
        ("bcsf(4)", 3, false),
        ("bcsf(4)", 5, false),
    ] {
        let spec: FormatSpec = text.parse().expect("a format");
        assert_eq!((spec.order(), spec.fill()), (only.then_some(order), None));
        assert_eq!(spec.to_string(), text);
        assert_eq!(spec.storage(order).expect("a format").short_name(), text);
        assert!(spec.levels(order).is_ok() && spec.storage(1).is_err());
        assert_eq!(spec.storage(order + 1).is_err(), only);
        let error = spec.resolve(order).expect_err("no levels");
        refused(&error, code::FORMAT_UNSUPPORTED, text, "near to it: `cs");
        assert!(text.parse::<Format>().is_err());
        // The text of the format is the format too.
        let relation = spec.relation(order).expect("it fits").expect("a relation");
        let again: FormatSpec = relation.text().parse().expect("a format");
        assert_eq!(
            again.relation(order).expect("it fits"),
            Some(relation.clone())
        );
        assert_eq!(again.to_string(), relation.text());
    }
    refuse("sell", code::PRESET_ARGUMENTS, "sell", "`sell(8, 32)`");
    refuse(
        "sell(8)",
        code::PRESET_ARGUMENTS,
        "sell(8)",
        "`sell(8, 32)`",
    );
    refuse("sell(8, 0)", code::PRESET_ARGUMENTS, "0", "`sell(8, 32)`");
    refuse("fcoo(64)", code::PRESET_ARGUMENTS, "64", "`fcoo(0)`");
    let by_last: FormatSpec = "fcoo(3)".parse().expect("a format");
    let error = by_last.storage(3).expect_err("there is no such mode");
    refused(&error, code::PRESET_ARGUMENTS, "fcoo(3)", "`fcoo(0)`");
    refuse("jds(1)", code::PRESET_ARGUMENTS, "jds(1)", "`jds`");
    refuse("jds | coo", code::UNION_PART, "jds", "`.fmt` file");
    refuse("csr | bcsf(4)", code::UNION_PART, "bcsf(4)", "`.fmt` file");
    refuse("jsd", code::UNKNOWN_FORMAT, "jsd", "did you mean `jds`?");
    refuse("jds, pos = 32", code::UNEXPECTED_TOKEN, ",", "");
}

#[test]
fn modes_and_levels_pair_up() {
    refuse(
        "(i, i) -> (i : dense, i : dense)",
        code::DUPLICATE_MODE,
        "i",
        "",
    );
    refuse(
        "(i, j) -> (i : dense, i : dense)",
        code::MODE_STORED_TWICE,
        "i",
        "",
    );
    refuse(
        "(i, j) -> (j : dense)",
        code::MODE_NOT_STORED,
        "i",
        "`i : compressed`",
    );
    refuse("(i) -> ()", code::MODE_NOT_STORED, "i", "");
}

#[test]
fn properties_fit_their_level() {
    refuse(
        "(i) -> (i : dense(nonunique))",
        code::PROPERTY_MISFIT,
        "nonunique",
        "`compressed`",
    );
    refuse(
        "(i) -> (i : dense(nonordered))",
        code::PROPERTY_MISFIT,
        "nonordered",
        "",
    );
    refuse(
        "(i) -> (i : compressed(nonordered, nonordered))",
        code::PROPERTY_MISFIT,
        "nonordered",
        "leave one out",
    );
}

#[test]
fn chains_are_whole() {
    refuse(
        "(i) -> (i : singleton)",
        code::SINGLETON_PARENT,
        "singleton",
        "",
    );
    refuse(
        "(i, j) -> (i : compressed, j : singleton(nonordered))",
        code::SINGLETON_PARENT,
        "singleton(nonordered)",
        "`compressed(nonunique)`",
    );
    refuse(
        "(i, j) -> (i : dense, j : singleton)",
        code::SINGLETON_PARENT,
        "singleton",
        "make this level `compressed`",
    );
    refuse(
        "(i, j) -> (i : compressed(nonunique), j : compressed)",
        code::NONUNIQUE_PARENT,
        "nonunique",
        "`singleton`",
    );
    refuse(
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton)",
        code::ORDER_BELOW_NONORDERED,
        "singleton",
        "`nonordered` too",
    );
    check(
        "(i, j) -> (i : compressed(nonunique), j : singleton(nonunique, nonordered))",
        2,
        "(i, j) -> (i : compressed(nonunique), j : singleton(nonunique, nonordered))",
    );
}

#[test]
fn widths_are_checked() {
    refuse("csr, crd = 48", code::BAD_WIDTH, "48", "8, 16, 32 or 64");
    refuse(
        "csr, crd = 32, crd = 32",
        code::BAD_WIDTH,
        "crd",
        "leave one out",
    );
}

#[test]
fn formats_that_programs_build_are_checked_too() {
    let dense = |mode| Level::new(mode, LevelKind::Dense);
    let error = Format::new(["i", "j"], vec![dense(0), dense(7)]).unwrap_err();
    refused(&error, code::UNKNOWN_MODE, "7", "");
    let error = Format::new(["i", "2j"], vec![dense(0), dense(1)]).unwrap_err();
    refused(&error, code::UNEXPECTED_TOKEN, "2j", "a name is letters");
    let error = Format::new(["i"], vec![dense(0).nonunique()]).unwrap_err();
    refused(&error, code::PROPERTY_MISFIT, "nonunique", "");
    let error = Format::csr().with_mode_order(&[1, 1]).unwrap_err();
    refused(&error, code::MODE_STORED_TWICE, "j", "");
    let error = Format::csr().with_mode_order(&[0]).unwrap_err();
    refused(&error, code::MODE_NOT_STORED, "j", "");
    let error = Format::csr().with_mode_order(&[0, 1, 0]).unwrap_err();
    refused(&error, code::MODE_STORED_TWICE, "i", "");
}

#[test]
fn a_format_inside_a_larger_text() {
    let source = Source::new("program", "csr, pos = 32, 7");
    let mut tokens = Tokens::new(&source, &["->"]).expect("tokens");
    let spec = parse_spec(&mut tokens).expect("a format");
    assert_eq!(spec.to_string(), "csr, pos = 32");
    assert!(tokens.at(","));
}

#[test]
fn queries() {
    let format: Format = "(i, j, k, l) -> (k : dense, i : compressed(nonunique), \
                          l : singleton(nonunique), j : singleton(nonordered))"
        .parse()
        .expect("a format");
    assert_eq!(format.level_order(), [2, 0, 3, 1]);
    assert_eq!(
        [0, 1, 2, 3].map(|mode| format.level_of_mode(mode)),
        [1, 3, 0, 2]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|level| format.chain_end(level)),
        [0, 3, 3, 3]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|level| format.chain_start(level)),
        [0, 1, 1, 1]
    );
    assert!(format.has_sparse() && format.is_unique() && !format.is_ordered());
    assert!(Format::coo(2).is_unique() && !Format::coo(2).is_ordered());
    assert!(Format::scoo(2).is_ordered());
    assert!(Format::dense(0).is_all_dense() && Format::dense(0).is_unique());
    let renamed: Format = "(a, b) -> (a : dense, b : compressed)"
        .parse()
        .expect("a format");
    assert!(renamed.stores_like(&Format::csr()) && renamed != Format::csr());
    let names: Vec<String> = Format::coo(2)
        .arrays()
        .iter()
        .map(|array| array.name("A"))
        .collect();
    assert_eq!(names, ["A0.pos", "A0.crd", "A1.crd", "A.vals"]);
}

proptest! {
    #[test]
    fn print_then_parse(format in common::formats(0..=8)) {
        prop_assert_eq!(format.to_string().parse(), Ok(format.clone()));
        let spec: FormatSpec = format.to_string().parse().expect("printed text parses");
        prop_assert_eq!(spec.resolve(format.order()), Ok(format));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[(ij,) >:|-]{0,12}|(csr|dense|i|->|\\(|\\)|:|,|=|32| ){0,12}") {
        let _ = text.parse::<FormatSpec>();
    }
}
