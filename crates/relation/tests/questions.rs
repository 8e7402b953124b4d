//! Questions about relations: each test asks one kind, or solves one kind of constraint.

use sparsec_base::code;
use sparsec_relation::{Answer, Budget, Declarations, Relation, Set};

#[test]
fn what_is_not_determined_is_not_solved() {
    let below: Relation = "{[i] -> [j] : 0 <= j < i}".parse().expect("a relation");
    let error = below.solve(&Declarations::new()).expect_err("refused");
    assert_eq!(error.code(), code::RELATION_NOT_SOLVED);
    assert_eq!(
        error.message(),
        "nothing determines `j` from the first tuple"
    );
}

#[test]
fn inverses_of_injective_functions_solve() {
    let known: Declarations = "function perm : {[t]} -> {[i]} injective"
        .parse()
        .expect("declarations");
    let rows: Relation = "{[i] -> [t] : perm(t + 1) = i}"
        .parse()
        .expect("a relation");
    let solved = rows.solved(&known).expect("solved");
    assert_eq!(solved.to_string(), "{[i] -> [t] : t = perm.inverse(i) - 1}");
    assert!(rows.solve(&Declarations::new()).is_err());
}

#[test]
fn strictly_monotone_functions_have_inverses() {
    for word in ["increasing", "decreasing"] {
        let known: Declarations = format!("function f : {{[t]}} -> {{[i]}} {word}")
            .parse()
            .expect("declarations");
        let solved = |text: &str| {
            let relation: Relation = text.parse().expect("a relation");
            relation.solved(&known).expect("solved").to_string()
        };
        assert_eq!(
            solved("{[i] -> [t] : f(t + 1) = i}"),
            "{[i] -> [t] : t = f.inverse(i) - 1}"
        );
        // Equal values have equal arguments.
        assert_eq!(
            solved("{[i] -> [t] : f(t) = f(i + 1)}"),
            "{[i] -> [t] : t = i + 1}"
        );
    }
}

#[test]
fn injective_functions_of_several_arguments_have_inverses() {
    let known: Declarations = "assume 1 <= B
        function c : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[k] : 0 <= k < N * M} injective"
        .parse()
        .expect("declarations");
    let solved = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        assert_eq!(relation.is_function(&known), Answer::Yes);
        relation.solved(&known).expect("solved").to_string()
    };
    // Loop coalescing: one variable for two, and the inverse that recovers them.
    let coalesce: Relation = "{[i, j] -> [k] : c(i, j) = k && 0 <= i < N && 0 <= j < M}"
        .parse()
        .expect("a relation");
    assert_eq!(
        solved(&coalesce.inverse().to_string()),
        "{[k] -> [i, j] : i = c.inverse.0(k) && j = c.inverse.1(k)}"
    );
    assert_eq!(
        solved("{[k] -> [i, j] : c(i + j, j - 1) = k}"),
        "{[k] -> [i, j] : i = c.inverse.0(k) - c.inverse.1(k) - 1 && j = c.inverse.1(k) + 1}"
    );
    assert_eq!(
        solved("{[k, j] -> [b, e] : c(B * b + e, j) = k && 0 <= e < B}"),
        "{[k, j] -> [b, e] : b = c.inverse.0(k) floordiv B && e = c.inverse.0(k) mod B}"
    );
    let text = solved("{[k] -> [i, j] : c(i, j) = k}").replace("c.inverse.0(k)", "c.inverse(k)[0]");
    assert!(text.parse::<Relation>().is_ok());
}

#[test]
fn strips_are_quotients() {
    let known: Declarations = "assume 0 < B".parse().expect("declarations");
    let solved = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        let answer = relation.is_function(&known);
        let solved = relation.solved(&known).map(|solved| solved.to_string());
        (answer, solved.map_err(|error| error.code()))
    };
    assert_eq!(
        solved("{[i] -> [s] : 32 * s <= i + 1 < 32 * s + 32}"),
        (
            Answer::Yes,
            Ok("{[i] -> [s] : s = (i + 1) floordiv 32}".to_owned())
        )
    );
    assert_eq!(
        solved("{[i] -> [s] : B * s <= i < B * (s + 1)}"),
        (
            Answer::Yes,
            Ok("{[i] -> [s] : s = i floordiv B}".to_owned())
        )
    );
    let (answer, error) = solved("{[i] -> [s] : 32 * s <= i < 32 * s + 33}");
    assert_eq!(
        (answer, error),
        (Answer::No, Err(code::RELATION_NOT_SOLVED))
    );
    let all: Set = "{[i]}".parse().expect("a set");
    let strips: Set = "{[i] : exists s : 4 * s <= i < 4 * s + 4}"
        .parse()
        .expect("a set");
    assert_eq!(
        all.is_subset(&strips, &known).expect("of one shape"),
        Answer::Yes
    );
}

#[test]
fn subsets_and_equality() {
    let known: Declarations = "assume 0 < N
        function f : {[i] : 0 <= i < N} -> {[k] : 0 <= k < N} increasing"
        .parse()
        .expect("declarations");
    let check = |one: &str, other: &str, subset: Answer, equal: Answer| {
        let (one, other): (Set, Set) = (one.parse().expect("a set"), other.parse().expect("a set"));
        let found = one.is_subset(&other, &known).expect("of one shape");
        assert_eq!(found, subset, "{one} in {other}");
        let found = one.is_equal(&other, &known).expect("of one shape");
        assert_eq!(found, equal, "{one} equals {other}");
    };
    let (yes, no, unknown) = (Answer::Yes, Answer::No, Answer::Unknown);
    check("{[i] : 0 <= i < N}", "{[i] : i < N}", yes, no);
    check(
        "{[i] : i != 0}",
        "{[i] : i < 0} union {[i] : i > 0}",
        yes,
        yes,
    );
    check("{[i] : i = 3 || i = 4}", "{[i] : 3 <= i <= 4}", yes, yes);
    check(
        "{[i, j] : f(i) < f(j)}",
        "{[i, j] : 0 <= i < j < N}",
        yes,
        yes,
    );
    check(
        "{[i, j] : f(i) < f(j)}",
        "{[i, j] : i + 1 < j}",
        unknown,
        unknown,
    );
    check(
        "{[i] : i = 5 * N}",
        "{[i] : exists k : i - 2 = k && k < 5 * N}",
        yes,
        no,
    );
    check("{[i] : 1 < i < 1}", "{[i] : exists k : i = 2 * k}", yes, no);
    let pairs: Set = "{[i, j]}".parse().expect("a set");
    let one: Set = "{[i]}".parse().expect("a set");
    let error = one.is_subset(&pairs, &known).expect_err("refused");
    assert_eq!(error.code(), code::RELATION_ARITY);
}

#[test]
fn elements_of_one_value_are_tied() {
    let known: Declarations = "
        function P : {[n] : 0 <= n < NZ} -> {[i, j] : 0 <= i <= j < N} injective
        function Q : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[a, b]} injective"
        .parse()
        .expect("declarations");
    let empty = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        relation.is_empty(&known)
    };
    assert_eq!(empty("{[n] -> [i] : P(n)[0] = i && i >= N}"), Answer::Yes);
    assert_eq!(
        empty("{[n] -> [j] : P(n)[1] = j && P(n)[0] > j}"),
        Answer::Yes
    );
    assert_eq!(
        empty("{[n] -> [m] : P(n)[0] = P(m)[0] && n < m}"),
        Answer::Unknown
    );
    let same = "{[n] -> [m] : P(n)[0] = P(m)[0] && P(n)[1] = P(m)[1] && n < m}";
    assert_eq!(empty(same), Answer::Yes);
    let solved = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        relation
            .solved(&known)
            .map(|solved| solved.to_string())
            .map_err(|error| error.code())
    };
    assert_eq!(
        solved("{[i, j] -> [n] : P(n) = [i, j + 1]}").as_deref(),
        Ok("{[i, j] -> [n] : n = P.inverse(i, j + 1)}")
    );
    assert_eq!(
        solved("{[a, b] -> [i, j] : Q(i, j) = [a, b]}").as_deref(),
        Ok("{[a, b] -> [i, j] : i = Q.inverse.0(a, b) && j = Q.inverse.1(a, b)}")
    );
    // One element of the tuple does not determine the argument.
    assert_eq!(
        solved("{[i] -> [n] : P(n)[0] = i}"),
        Err(code::RELATION_NOT_SOLVED)
    );
}

#[test]
fn a_bijection_and_its_inverse() {
    let known: Declarations = "
        function f : {[i] : 0 <= i < N} -> {[k] : 0 <= k < N} inverse g
        function pos : {[k] : 0 <= k <= N} -> {[p]} increasing"
        .parse()
        .expect("declarations");
    let again = known.to_string().parse::<Declarations>();
    assert_eq!(again.expect("it parses"), known);
    let empty = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        relation.is_empty(&known)
    };
    assert_eq!(empty("{[i] -> [k] : f(i) = k && i != g(k)}"), Answer::Yes);
    assert_eq!(empty("{[i] -> [k] : g(k) = i && f(i) != k}"), Answer::Yes);
    assert_eq!(empty("{[i] -> [k] : f(g(k)) != k}"), Answer::Yes);
    assert_eq!(empty("{[i] -> [k] : g(f(i)) < i}"), Answer::Yes);
    assert_eq!(
        empty("{[i] -> [k] : pos(f(i)) <= pos(k) && i = g(k + 1)}"),
        Answer::Yes
    );
    assert_eq!(
        empty("{[i] -> [k] : f(i) = k && i != g(k + 1)}"),
        Answer::Unknown
    );
    let solved = |text: &str, known: &Declarations| {
        let relation: Relation = text.parse().expect("a relation");
        relation.solved(known).expect("solved").to_string()
    };
    // Of several arguments, and back.
    let several: Declarations =
        "function c : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[k] : 0 <= k < N * M} inverse g"
            .parse()
            .expect("declarations");
    assert_eq!(
        solved("{[k] -> [i, j] : c(i, j + 1) = k}", &several),
        "{[k] -> [i, j] : i = g.0(k) && j = g.1(k) - 1}"
    );
    assert_eq!(
        solved("{[i, j] -> [k] : g(k - 1) = [i, j]}", &several),
        "{[i, j] -> [k] : k = c(i, j) + 1}"
    );
    let empty = |text: &str| {
        let relation: Relation = text.parse().expect("a relation");
        relation.is_empty(&several)
    };
    assert_eq!(
        empty("{[i, j] -> [k] : c(i, j) = k && g(k)[0] != i}"),
        Answer::Yes
    );
    assert_eq!(
        empty("{[i, j] -> [k] : g(k) = [i, j] && c(i, j) < k}"),
        Answer::Yes
    );
    assert_eq!(
        empty("{[i, j] -> [k] : c(j, i) = k && g(k)[0] != i}"),
        Answer::Unknown
    );
    let turned: Relation = "{[i] -> [j] : f(j + 1) = i}".parse().expect("a relation");
    assert_eq!(
        turned.solved(&known).expect("solved").to_string(),
        "{[i] -> [j] : j = g(i) - 1}"
    );
}

#[test]
fn quantifiers_create_terms() {
    let known: Declarations = "
        function rowptr : {[i] : 0 <= i <= m} -> {[q]} increasing
        function diagptr : {[i] : 0 <= i < m} -> {[q]}
        forall e : 0 <= e < m => rowptr(e) <= diagptr(e)"
        .parse()
        .expect("declarations");
    let dead: Set = "{[i, c, j] : diagptr(c) < j < rowptr(i + 1) && c > i}"
        .parse()
        .expect("a set");
    assert_eq!(dead.is_empty(&known), Answer::Yes);
    let alive: Set = "{[i, c, j] : diagptr(c) < j < rowptr(i + 1) && c >= i}"
        .parse()
        .expect("a set");
    assert_eq!(alive.is_empty(&known), Answer::Unknown);
    // A new call needs a value, and `rowptr` may have none at `c` here.
    let narrow = known.to_string().replace("0 <= i <= m}", "0 <= i < n}");
    let narrow: Declarations = narrow.parse().expect("declarations");
    assert_eq!(dead.is_empty(&narrow), Answer::Unknown);
    // A quantifier without premises always holds.
    let always = "function a : {[i]} -> {[x]} function b : {[i]} -> {[x]}
        function d : {[i]} -> {[x]}
        forall e : a(e) < b(e) forall e : b(e) <= d(e)";
    let always: Declarations = always.parse().expect("declarations");
    assert!(always.to_string().contains("forall e : a(e) < b(e)\n"));
    assert_eq!(
        always.to_string().parse::<Declarations>().expect("parses"),
        always
    );
    let none: Set = "{[i] : d(i) <= a(i)}".parse().expect("a set");
    assert_eq!(none.is_empty(&always), Answer::Yes);
}

#[test]
fn budgets_that_run_out_are_said() {
    let known: Declarations = "function f : {[i]} -> {[x]} nondecreasing"
        .parse()
        .expect("declarations");
    // Any two of the 40 calls may imply each other.
    let all: Vec<String> = (0..40).map(|k| format!("f(i * {k}) <= j")).collect();
    let many: Relation = format!("{{[i] -> [j] : {}}}", all.join(" && "))
        .parse()
        .expect("a relation");
    assert_eq!(many.is_empty(&known), Answer::GaveUp(Budget::Instances));
    let error = many.solve(&known).expect_err("nothing gives `j`");
    assert_eq!(error.code(), code::RELATION_NOT_SOLVED);
    let note = "the proof ran out of its budget of 600 instances of one declaration";
    assert_eq!(error.notes(), [note]);
    // A proof that ends before the budget remains valid.
    let none: Relation = format!("{{[i] -> [j] : j < i && i < j && {}}}", all.join(" && "))
        .parse()
        .expect("a relation");
    assert_eq!(none.is_empty(&known), Answer::Yes);
    // Numbers beyond 64 bits end a search.
    let large = "{[i] -> [j] : 9223372036854775807 * i + 9223372036854775806 * j = f(i)
        && 9223372036854775805 * j + 9223372036854775803 * i = f(j) && f(i) < f(j) < i < j}";
    let large: Relation = large.parse().expect("a relation");
    assert_eq!(large.is_empty(&known), Answer::GaveUp(Budget::Search));
    let few: Relation = "{[i] -> [j] : f(i) <= j}".parse().expect("a relation");
    assert_eq!(few.is_empty(&known), Answer::Unknown);
    assert_eq!(
        few.solve(&known).expect_err("nothing gives `j`").notes(),
        [""; 0]
    );
}

/// A call that a quantifier creates has a value because of the premises. A conclusion from that
/// value therefore must not prove a premise.
#[test]
fn new_calls_prove_no_premise() {
    let known: Declarations = "
        function pos : {[p] : 0 <= p <= 4} -> {[q] : 0 <= q <= 5} nondecreasing
        function up : {[p] : 0 <= p < 4} -> {[q] : -1 <= q} increasing
        forall a : 0 <= a < 4 => pos(a) <= up(a + 0) + 6"
        .parse()
        .expect("declarations");
    let relation: Relation = "{[i] -> [j] : 0 != pos(j + 1) && j - 2 = i && i < 1}"
        .parse()
        .expect("a relation");
    let simple = relation.simplified_under(&known).to_string();
    assert!(simple.contains("i < 1"), "{simple}");
}

/// Numbers of several digits, whose radices are symbolic constants, have each digit once.
#[test]
fn digits_of_symbolic_radices_are_told_apart() {
    let known = Declarations::new();
    let is_once = |digits: &str, number: &str, bounds: &str| {
        let second = |text: &str| {
            let names = digits.split(", ");
            names.fold(text.to_owned(), |text, name| {
                text.replace(name, &format!("{name}{name}"))
            })
        };
        let (numbers, others) = (second(number), second(bounds));
        let differ = |digit: &str| {
            let text = format!(
                "{{[{digits}] -> [{}] : {bounds} && {others} && {number} = {numbers} && {digit} != {}}}",
                second(digits),
                second(digit)
            );
            let relation: Relation = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            relation.is_refuted(&known)
        };
        digits.split(", ").all(differ)
    };
    for (digits, number, bounds) in [
        ("d, r", "N * d + r", "0 <= r < N"),
        ("d, r", "N * d - r", "0 <= r < N"),
        ("d, r", "4 * N * d + r", "0 <= r < 4 * N"),
        ("d, r", "N * M * d + r", "0 <= r < N * M"),
        ("d, e, r", "M * (N * d + e) + r", "0 <= e < N && 0 <= r < M"),
    ] {
        assert!(is_once(digits, number, bounds), "{number} where {bounds}");
    }
    for (digits, number, bounds) in [
        ("d, r", "N * d + r", "0 <= r <= N"),
        ("d, r", "N * d + r", "-1 <= r < N"),
        ("d, r", "N * d + r", "0 <= r < M"),
        ("d, r", "4 * N * d + r", "0 <= r < 5 * N"),
        ("d, e, r", "M * (N * d + e) + r", "0 <= e < M && 0 <= r < N"),
    ] {
        assert!(!is_once(digits, number, bounds), "{number} where {bounds}");
    }
}
