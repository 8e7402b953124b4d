//! The text of relations: what reads as what, and what is refused.

use sparsec_base::{Code, code};
use sparsec_relation::{Relation, Set};

/// Reads `text` and prints it again.
#[track_caller]
fn check(text: &str, expect: &str) {
    let relation: Relation = text.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(relation.to_string(), expect);
    let again: Relation = expect.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, relation);
}

/// Reads `text` and says what is wrong: the code, and what the caret is under.
#[track_caller]
fn refuse(text: &str, expected: Code, under: &str) {
    let error = text.parse::<Relation>().expect_err("refused");
    assert_eq!(error.code(), expected, "{error}");
    let label = &error.labels()[0];
    assert_eq!(label.source.slice(label.span), under, "{error}");
}

#[test]
fn tuples() {
    check("{[] -> []}", "{[] -> []}");
    check("{[i,j]->[j_2]}", "{[i, j] -> [j_2]}");
    check("{[i] -> [i]}", "{[i] -> [i_1] : i_1 = i}");
    check(
        "{[ii] -> [ii, ii + 1]}",
        "{[ii] -> [ii_1, e] : ii_1 = ii && e = ii + 1}",
    );
    check("{[j + 1] -> [j]}", "{[e] -> [j] : e = j + 1}");
    check("{[i, 0] -> [j]}", "{[i, e] -> [j] : e = 0}");
}

#[test]
fn chains_go_both_ways() {
    check(
        "{[i] -> [j] : 0 <= i < N && N > j >= 0 != i && i != j}",
        "{[i] -> [j] : 0 <= i < N && N > j >= 0 != i && i != j}",
    );
    check(
        "{[i] -> [] : i = 0 and i < M}",
        "{[i] -> [] : i = 0 && i < M}",
    );
}

#[test]
fn parentheses_are_few() {
    check(
        "{[i] -> [j] : ((i + 1) + 2) * N = (j * 3) + (4 - (5 - 6))}",
        "{[i] -> [j] : (i + 1 + 2) * N = j * 3 + (4 - (5 - 6))}",
    );
    check(
        "{[i] -> [j] : -i * -(j + 1) = - -3 - -4}",
        "{[i] -> [j] : -i * -(j + 1) = --3 - -4}",
    );
    check("{[i] -> [] : -(3) = i}", "{[i] -> [] : -(3) = i}");
    check(
        "{[i] -> [] : i = -9223372036854775808}",
        "{[i] -> [] : i = -9223372036854775808}",
    );
}

#[test]
fn functions_and_constants() {
    check(
        "{[p, i] -> [q] : pos(p) <= q < pos(p+1) && crd(q) = i && f(p, crd(q)) = g()}",
        "{[p, i] -> [q] : pos(p) <= q < pos(p + 1) && crd(q) = i && f(p, crd(q)) = g()}",
    );
}

#[test]
fn unions_and_existing() {
    check(
        "{[i] -> [j] : exists k, l : i = 2 * k && j = l} union {[i] -> [j] : exists k}",
        "{[i] -> [j] : exists k, l : i = 2 * k && j = l} union {[i] -> [j] : exists k}",
    );
}

#[test]
fn grammar_is_refused_with_a_caret() {
    refuse("{[i] -> [j] : i}", code::UNEXPECTED_TOKEN, "}");
    refuse("{[i] : i = 0}", code::UNEXPECTED_TOKEN, ":");
    refuse("{[i] -> [j] : i mod = 0}", code::UNEXPECTED_TOKEN, "=");
    refuse("{[i] -> [j] : i = 0 or}", code::UNEXPECTED_TOKEN, "}");
    refuse("{[i] -> [j] : i === 0}", code::UNEXPECTED_TOKEN, "=");
    refuse("{[i -> [j]}", code::UNEXPECTED_TOKEN, "->");
    refuse("{[i] -> [j] : f(i}", code::UNEXPECTED_TOKEN, "}");
    refuse("{[i] -> [j]} {[i] -> [j]}", code::UNEXPECTED_TOKEN, "{");
    refuse("{[i] -> [j] : 'i = 0}", code::UNEXPECTED_TOKEN, "'");
    refuse("", code::UNEXPECTED_TOKEN, "");
    refuse(
        "{[i] -> [] : i = 9223372036854775808}",
        code::BAD_NUMBER,
        "9223372036854775808",
    );
    refuse("{[i] -> [] : i = 1.5}", code::UNEXPECTED_TOKEN, "1.5");
}

#[test]
fn papers_texts_read_as_printed() {
    check(
        "{[n] -> [i', j''] : P(n)[0] == i' and P(n)[1] == j'' && i' != j''}",
        "{[n] -> [i', j''] : P.0(n) = i' && P.1(n) = j'' && i' != j''}",
    );
    check(
        "{[i] -> [j] : 2i + -3j = 4N - 2(i + 1) floordiv 2 && 2i' < 0}",
        "{[i] -> [j] : 2 * i + -3 * j = 4 * N - 2 * (i + 1) floordiv 2 && 2 * i' < 0}",
    );
    check(
        "[N] -> { [i] -> [j] : exists (h : i = 2h and j = floor((i + 1)/N)); [i] -> [0] }",
        "{[i] -> [j] : exists h : i = 2 * h && j = (i + 1) floordiv N} \
         union {[i] -> [e] : e = 0}",
    );
    check(
        "[N] -> { [i] -> [j] : exists (e0 = floor((i)/2), e1: j = 2e0 - 3e1 and i > N) }",
        "{[i] -> [j] : exists e0, e1 : e0 = i floordiv 2 && j = 2 * e0 - 3 * e1 && i > N}",
    );
    check(
        "{ [i] -> [j] : exists e0: -2e0 = i or 4e0 = j }",
        "{[i] -> [j] : exists e0 : -(2 * e0) = i} union {[i] -> [j] : exists e0 : 4 * e0 = j}",
    );
    check(
        "[] -> {[i] -> [i + floor(i)]}",
        "{[i] -> [e] : e = i + floor(i)}",
    );
    // With a space between them, a number and a name are no product.
    refuse("{[i] -> [j] : i = 2 j}", code::UNEXPECTED_TOKEN, "j");
    refuse("{[i] -> [j] : i = f(j) [0]}", code::UNEXPECTED_TOKEN, "[");
    refuse("[N] -> {[i] -> [j] : i = M}", code::RELATION_NAME, "M");
    refuse("[N] -> {[i] -> [j] : i = 2e0}", code::RELATION_NAME, "e0");
    refuse("{[i] -> [j] : i = 2.5e0}", code::UNEXPECTED_TOKEN, "2.5e0");
    refuse("{[i] -> [j] : i = 2e0(j)}", code::UNEXPECTED_TOKEN, "(");
    refuse("[i] -> {[i] -> [j] : j = i}", code::RELATION_NAME, "i");
    let positive: Set = "[N] -> { : N > 0 }".parse().expect("a set");
    assert_eq!(positive.to_string(), "{[] : N > 0}");
    assert_eq!(positive.to_isl(), "[N] -> { [] : N > 0 }");
}

#[test]
fn isl_texts_read_back() {
    for text in [
        "{[] -> []}",
        "{[i] -> [j] : exists k, l : i = 2 * k && j = l} union {[i] -> [j] : exists k}",
        "{[i] -> [j] : i mod (2 * 3) floordiv 2 = -(3) - -i * -(j + N)}",
        "{[i'] -> [j] : P.0(i', j) = 0 <= P.1(i', j) floordiv (M floordiv 2) < f.0x() mod N}",
    ] {
        let relation: Relation = text.parse().expect("a relation");
        let isl = relation.to_isl();
        assert_eq!(
            isl.parse::<Relation>().expect("it reads back"),
            relation,
            "{isl}"
        );
    }
}

#[test]
fn large_expressions_are_refused() {
    let deep = "(".repeat(100_000);
    let text = format!("{{[i] -> [] : {deep}");
    refuse(&text, code::UNEXPECTED_TOKEN, "(");
    let long = format!("{{[i] -> [] : i = 0{}}}", " + 1".repeat(100_000));
    refuse(&long, code::UNEXPECTED_TOKEN, "1");
}

#[test]
fn arity() {
    refuse(
        "{[i] -> [j]} union {[i, k] -> [j]}",
        code::RELATION_ARITY,
        "[i, k]",
    );
    refuse("{[i] -> [j]} union {[i] -> []}", code::RELATION_ARITY, "[]");
    refuse("{[i] -> [j] : f(i) = f(i, j)}", code::RELATION_ARITY, "f");
    let one: Relation = "{[i] -> [j]}".parse().expect("a relation");
    let two: Relation = "{[i, j] -> []}".parse().expect("a relation");
    assert_eq!(one.then(&two).unwrap_err().code(), code::RELATION_ARITY);
    assert_eq!(one.union(&two).unwrap_err().code(), code::RELATION_ARITY);
    assert_eq!(
        Relation::new(Vec::new()).unwrap_err().code(),
        code::RELATION_ARITY
    );
}

#[test]
fn names_have_one_role() {
    refuse("{[i] -> [q] : q = i(q)}", code::RELATION_NAME, "i");
    refuse("{[i] -> [q] : q = f + f(q)}", code::RELATION_NAME, "f");
    refuse("{[i] -> [q] : exists i : q = 0}", code::RELATION_NAME, "i");
    refuse("{[i] -> [union] : i = 0}", code::RELATION_NAME, "union");
    refuse(
        "{[i] -> [] : f(i) = 0} union {[i] -> [] : f = 0}",
        code::RELATION_NAME,
        "f",
    );
    let function: Relation = "{[i] -> [j] : f(i) = j}".parse().expect("a relation");
    let constant: Relation = "{[i] -> [j] : f + i = j}".parse().expect("a relation");
    assert_eq!(
        function.then(&constant).unwrap_err().code(),
        code::RELATION_NAME
    );
}

#[test]
fn a_variable_makes_way_for_a_constant() {
    let first: Relation = "{[i] -> [N] : N = i + 1}".parse().expect("a relation");
    let second: Relation = "{[i] -> [k] : k = i + N}".parse().expect("a relation");
    let composed = first.then(&second).expect("composes").to_string();
    assert_eq!(
        composed,
        "{[i] -> [k] : exists N_1 : N_1 = i + 1 && k = N_1 + N}"
    );
}

#[test]
fn simplified() {
    let check = |text: &str, expect: &str| {
        let relation: Relation = text.parse().expect("a relation");
        assert_eq!(relation.simplified().to_string(), expect);
        assert_eq!(relation.simplified().simplified(), relation.simplified());
    };
    check(
        "{[i] -> [q] : q = 0 * N + i && 0 <= 0 < 1 && 0 <= i < 1 * N}",
        "{[i] -> [q] : q = i && 0 <= i < N}",
    );
    check("{[i] -> [] : 0 <= 0 < N}", "{[i] -> [] : 0 < N}");
    check("{[i] -> [] : i < 0 < 1}", "{[i] -> [] : i < 0}");
    check("{[i] -> [] : 1 < 0}", "{[i] -> [] : 1 < 0}");
    check(
        "{[i] -> [] : 0 * f(i) = i - 0}",
        "{[i] -> [] : 0 * f(i) = i}",
    );
    check("{[i] -> [] : i = --2}", "{[i] -> [] : i = 2}");
}

#[test]
fn divisions() {
    check(
        "{[i] -> [b, e] : b = i floordiv B && e = i mod B and i mod (2 * 3) floordiv 2 = 1}",
        "{[i] -> [b, e] : b = i floordiv B && e = i mod B && i mod (2 * 3) floordiv 2 = 1}",
    );
    let simple: Relation = "{[i] -> [] : 7 floordiv -2 = i mod 1 - 7 mod -4}"
        .parse()
        .expect("a relation");
    assert_eq!(simple.simplified().to_string(), "{[i] -> [] : -4 = 1}");
}

#[test]
fn choices_become_parts() {
    check(
        "{[i] -> [j] : i < j || i > j && j = 0}",
        "{[i] -> [j] : i < j} union {[i] -> [j] : i > j && j = 0}",
    );
    check(
        "{[i, j] -> [k, l] : [i, j] < [k, l] and i >= 0}",
        "{[i, j] -> [k, l] : i < k && i >= 0} union {[i, j] -> [k, l] : i = k && j < l && i >= 0}",
    );
    check(
        "{[i, j] -> [k, l] : LEX(i, j) = LEX(k, l)}",
        "{[i, j] -> [k, l] : i = k && j = l}",
    );
    let many = ["[i, j] != [0, 0]"; 9].join(" && ");
    refuse(
        &format!("{{[i, j] -> [] : {many}}}"),
        code::RELATION_TOO_LARGE,
        "[",
    );
}

#[test]
fn functions_with_tuples_for_values() {
    check(
        "{[i, j] -> [m, n] : P(i, j) = [m, n]}",
        "{[i, j] -> [m, n] : P.0(i, j) = m && P.1(i, j) = n}",
    );
    refuse("{[i] -> [m] : i = [m]}", code::RELATION_ARITY, "i");
    refuse("{[i] -> [m] : [i, m] = [m]}", code::RELATION_ARITY, "[");
    refuse("{[i] -> [m] : f(i) > []}", code::RELATION_ARITY, "[");
    refuse("{[i] -> [m] : [] <= f(i)}", code::RELATION_ARITY, "[");
    refuse(
        "{[i] -> [m] : P(i) = [m] && P.0(i, m) = 0}",
        code::RELATION_ARITY,
        "P.0",
    );
}

#[test]
fn sets_have_one_tuple() {
    let check = |text: &str, expect: &str| {
        let set: Set = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(set.to_string(), expect);
        assert_eq!(expect.parse::<Set>().expect("a set"), set);
    };
    check("{[i,j]: 0 <= i < N}", "{[i, j] : 0 <= i < N}");
    check("{[i]} union {[0]}", "{[i]} union {[e] : e = 0}");
    check("{[]}", "{[]}");
    assert!("{[i] -> [j]}".parse::<Set>().is_err());
}
