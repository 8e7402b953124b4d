//! The text of levels that store expressions, of clauses and of unions.

mod common;

use common::{check, refuse};
use sparsec_base::code;
use sparsec_format::Format;

#[test]
fn levels_of_expressions() {
    let same = |text: &str| {
        let format: Format = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format.to_string(), text);
    };
    same("(i, j) -> (j - i : compressed, i : range)");
    same("(i) -> (i mod 16 floordiv 4 : dense, i floordiv 16 : dense, i mod 16 mod 4 : bitmap)");
    same(
        "(i, j) -> (i + j - (i - 2) : compressed, j floordiv 3 : dense, j mod 3 : dense, i : hashed)",
    );
    same("(i, j) -> ((i + j) floordiv 2 : dense, (i + j) mod 2 : dense, j : dense)");
    same("(i, j, k) -> (morton(i floordiv 4, j, k) : compressed, i mod 4 : run_length)");
    same("(i, j) -> (alto(j, i) : loose_compressed(nonordered), i : dense)");
    same("(i, j, k) -> (#(i, j) < 3 : dense, j : dense, i : dense, k : singleton)");
    same("(b, i, j) -> (b : batch, i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])");
    same("(i, j) -> (i : dense, j : compressed(pos = 16, crd = 8)), pos = 64, crd = 32");
    same("(i, j) -> (i : dense), diagonal(i, j)");
    same("(i, j) -> (i : dense, j : compressed), symmetric(i, j)");
    same("(i, j) -> (i : dense, j : compressed), hermitian(i, j), upper(i, j), fill -1.5");
    same("(i, j) -> (i : dense, j : dense), fill inf");
    check(
        "coo, order morton(j, i), crd = 8",
        2,
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered)), \
         order morton(j, i), crd = 8",
    );
    check(
        "csr, skew(i, j)",
        2,
        "(i, j) -> (i : dense, j : compressed), skew(i, j)",
    );
    check(
        "(a, b) -> (a : dense), diagonal(a, b) | csc",
        2,
        "(a, b) -> (a : dense), diagonal(a, b) | (a, b) -> (b : dense, a : compressed)",
    );
    check(
        "(i) -> (i : compressed(nonunique), i floordiv 2 : singleton(soa))",
        1,
        "(i) -> (i : compressed(nonunique), i floordiv 2 : singleton)",
    );
}

#[test]
fn what_is_no_format_is_refused() {
    use code::{BAD_CLAUSE, BAD_LEVEL_EXPRESSION, KIND_MISPLACED, NOT_DETERMINED};
    let blocks = "(i, j) -> (i floordiv 4 : dense, j : compressed)";
    refuse(blocks, NOT_DETERMINED, "i floordiv 4", "`i mod 4 : dense`");
    refuse(
        "(i, j) -> (i + j : dense, j mod 2 : dense)",
        NOT_DETERMINED,
        "i + j",
        "",
    );
    refuse(
        "(i) -> (i mod 4 : dense)",
        NOT_DETERMINED,
        "i mod 4",
        "floordiv 4",
    );
    refuse(
        "(i, j) -> (#i : dense, i : dense)",
        code::MODE_NOT_STORED,
        "j",
        "",
    );
    for (text, under) in [
        ("i floordiv 0", "i floordiv 0"),
        ("2", "2"),
        ("morton(i - 1)", "morton(i - 1)"),
        ("i + morton(i)", "i + morton(i)"),
        ("alto(i, i)", "alto(i, i)"),
        ("alto(i mod 2)", "alto"),
    ] {
        let text = format!("(i) -> ({text} : dense)");
        refuse(&text, BAD_LEVEL_EXPRESSION, under, "");
    }
    let deep = format!("(i) -> ({}i{} : dense)", "(".repeat(60), ")".repeat(60));
    refuse(&deep, BAD_LEVEL_EXPRESSION, "(", "");
    let long = format!("(i) -> (i{} : dense)", " + 1".repeat(100));
    refuse(&long, BAD_LEVEL_EXPRESSION, "+", "");
    for (text, under) in [
        ("(i, j) -> (i : run_length, j : dense)", "run_length"),
        ("(i, j) -> (i : dense, j : batch)", "batch"),
        ("(i) -> (i : structured[2, 4])", "structured[2, 4]"),
        (
            "(i) -> (i floordiv 4 : dense, i mod 4 : structured[5, 4])",
            "structured[5, 4]",
        ),
        (
            "(i, j) -> (#i : compressed, i : dense, j : singleton)",
            "compressed",
        ),
        ("(i, j) -> (#i : dense, i : compressed, j : dense)", "dense"),
        (
            "(i, j) -> (#i : dense, i : dense, j : run_length)",
            "run_length",
        ),
    ] {
        refuse(text, KIND_MISPLACED, under, "");
    }
    refuse(
        "csr, symmetric(i, i)",
        BAD_CLAUSE,
        "symmetric(i, i)",
        "two modes",
    );
    refuse(
        "csr, symmetric(i, j), diagonal(i, j)",
        BAD_CLAUSE,
        "symmetric(i, j), diagonal(i, j)",
        "`lower` or `upper`",
    );
    refuse(
        "csr, lower(i, j), upper(i, j)",
        BAD_CLAUSE,
        "upper",
        "leave one out",
    );
    refuse(
        "csr, order morton(i, j)",
        BAD_CLAUSE,
        "order morton(i, j)",
        "`coo`",
    );
    refuse("csr, lower(i, k)", code::UNKNOWN_MODE, "k", "`i`, `j`");
    refuse("csr, symmetric(i, j) | coo", code::UNION_PART, "csr", "");
    refuse("csr, fill 1 | coo", code::UNION_PART, "csr", "");
    // A place of the second part that nobody put an entry at would be stored twice.
    for (text, part) in [
        ("msr | dense", "dense"),
        ("(i, j) -> (i : dense), diagonal(i, j) | bsr(2, 2)", "bsr"),
        ("csr, lower(i, j) | dense, upper(i, j)", "dense"),
        (
            "(i, j) -> (i : dense), diagonal(i, j) | (i, j) -> (i : dense, j : range)",
            "(i, j)",
        ),
    ] {
        refuse(text, code::UNION_PART, part, "`compressed`");
    }
    for text in [
        "dense, upper(i, j) | csr, lower(i, j)",
        "sky | (i, j) -> (j : dense, i : range), upper(i, j)",
        "(i, j) -> (i : dense), diagonal(i, j) | sky",
    ] {
        assert!(Format::parse(text).is_ok(), "{text}");
    }
    refuse(
        "csr | (i) -> (i : dense)",
        code::FORMAT_ORDER,
        "(i)",
        "as many modes",
    );
    refuse(
        "(i) -> (i : dense(soa))",
        code::PROPERTY_MISFIT,
        "soa",
        "leave `soa` out",
    );
}
