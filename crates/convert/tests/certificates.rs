//! Certificates of conversions: all obligations between formats of levels are proved, for all
//! sizes; and claims that are not so are refused.

use sparsec_base::{ElementType, code};
use sparsec_convert::{
    Certificate, Conversion, Lemma, Obligation, Optimisation, Places, Wanted, convert,
};
use sparsec_format::Format;
use sparsec_relation::Descriptor;

const LISTS: &[&str] = &[
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : dense, i mod 2 : compressed(nonunique), j mod 3 : singleton)",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    "(i, j) -> (j - i : compressed, i : compressed)",
];

const OTHERS: &[&str] = &[
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : batch, j : compressed)",
    "(i, j) -> (i : dense, j : dense)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "(i, j) -> (j floordiv 2 : compressed, i floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "dia",
    "ell",
    "(i, j) -> (i : dense, j : range)",
    "sky",
];

const LIST: &str = "
    format list
    extents NR, NC
    map {[n] -> [i, j] : 0 <= n < NZ && row(n) = i && col(n) = j && 0 <= i < NR && 0 <= j < NC}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
    forall n, m : 0 <= n < m < NZ => LEX(row(n), col(n)) != LEX(row(m), col(m))
";

const DIAGONALS: &str = "
    format diagonals
    extents NR, NC
    map {[d, i] -> [i, j] : 0 <= d < ND && 0 <= i < NR && off(d) = j - i && 0 <= j < NC}
    data {[d, i] -> [NR * d + i]}
    values {[p] : 0 <= p < ND * NR}
    padding
    function off : {[d] : 0 <= d < ND} -> {[k] : 0 - NR < k < NC} increasing
";

fn conversion(from: &str, to: &str) -> Conversion {
    let format = |text: &str| -> Format { text.parse().unwrap_or_else(|e| panic!("{text}: {e}")) };
    let source = format(from).descriptors("source").remove(0);
    let destination = format(to).descriptors("destination").remove(0);
    let wanted = Wanted {
        is_unique: true,
        places: Places::Full,
        ..Wanted::of(ElementType::F64)
    };
    convert(&source, &destination, &wanted).unwrap_or_else(|e| panic!("{from} to {to}: {e}"))
}

/// Checks that all is proved, by the proposal as it stands and after a round trip as text.
fn prove(from: &str, to: &str) {
    let made = conversion(from, to);
    let certificate = made.certificate().expect("it is a conversion");
    let unproved: Vec<String> = certificate.unproved().map(ToString::to_string).collect();
    assert!(
        unproved.is_empty(),
        "{from} to {to}: {}",
        unproved.join("; ")
    );
    let read: Certificate = certificate.to_string().parse().expect("it parses");
    assert_eq!(read, certificate);
}

/// Coordinates that are computed lie inside of the tensor, so each place is an entry's, and one list
/// serves all levels of a tree.
#[test]
fn entries_on_curves_and_in_blocks_are_sorted_once() {
    let blocks = "(i, j, k) -> (morton(i floordiv 2, j floordiv 2, k floordiv 2) : compressed, \
         i mod 2 : compressed(nonunique), j mod 2 : singleton(nonunique), k mod 2 : singleton)";
    let tree = "(i, j, k) -> (i : compressed, j : compressed, k : compressed)";
    for (from, fact) in [
        (
            "(i, j, k) -> (alto(i, j, k) : compressed)",
            "UNALTO(A_crd0(q0), 2, N0, N1, N2) < N2",
        ),
        (blocks, "A_crd3(q3) + 2 * UNMORTON(A_crd0(q0), 2, 3) < N2"),
    ] {
        prove(from, tree);
        let made = conversion(from, tree).optimised(Optimisation::All, &|_| true);
        let text = made.expect("it is optimised").to_string();
        assert!(text.contains(fact), "{text}");
        assert_eq!(text.matches(" = rank(").count(), 1, "{text}");
        let (_, apart) = text.split_once(" = rank(").expect("it is there");
        let ranks: Vec<&str> = apart.split(" = dense_rank(").skip(1).collect();
        let is_listed = |it: &&str| it.contains("over {[n, i, j, k] :");
        assert!(!ranks.is_empty() && ranks.iter().all(is_listed), "{text}");
    }
}

#[test]
fn conversions_of_lists_are_proved() {
    for from in &LISTS[..5] {
        LISTS.iter().chain(OTHERS).for_each(|to| prove(from, to));
    }
}

#[test]
fn conversions_of_other_orders_are_proved() {
    for from in &LISTS[5..] {
        LISTS.iter().chain(OTHERS).for_each(|to| prove(from, to));
    }
}

/// Places of values are numbers of two digits, the radix of which is an extent.
#[test]
fn places_of_several_digits_are_told_apart() {
    let source: Descriptor = DIAGONALS.parse().expect("diagonals");
    let format: Format = "csr".parse().expect("a format");
    let wanted = Wanted {
        places: Places::Some,
        ..Wanted::of(ElementType::F64)
    };
    let made = convert(&source, &format.descriptors("destination")[0], &wanted);
    let certificate = made.expect("a conversion").certificate().expect("one");
    assert_eq!(certificate.unproved().count(), 0, "{certificate}");

    // Rows may be longer than the places of a diagonal.
    let overlapping = DIAGONALS.replace("[NR * d + i]}", "[NC * d + i]}");
    let overlapping = overlapping.replace("p < ND * NR}", "p < NR + ND * NC}");
    let source: Descriptor = overlapping.parse().expect("diagonals");
    let made = convert(&source, &format.descriptors("destination")[0], &wanted);
    let error = made.expect_err("places are shared");
    assert!(
        error.message().contains("two entries at one place"),
        "{error}"
    );
}

/// A conversion from rows to a descriptor, with its certificate.
fn from_rows(destination: &str) -> (Conversion, Certificate) {
    let source: Format = "csr".parse().expect("a format");
    let source = source.descriptors("source").remove(0);
    let destination: Descriptor = destination.parse().expect("a descriptor");
    let wanted = Wanted {
        is_unique: true,
        places: Places::Full,
        ..Wanted::of(ElementType::F64)
    };
    let made = convert(&source, &destination, &wanted).expect("a conversion");
    let certificate = made.certificate().expect("it is a conversion");
    (made, certificate)
}

#[test]
fn lists_are_sorted_by_sums_and_by_declared_keys() {
    let list = |order: &str| {
        LIST.replace(
            "forall n, m : 0 <= n < m < NZ => LEX(row(n), col(n)) != LEX(row(m), col(m))",
            order,
        )
    };
    let (made, certificate) = from_rows(&list(
        "forall n, m : 0 <= n < m < NZ => LEX(row(n) - col(n), row(n)) < LEX(row(m) - col(m), row(m))",
    ));
    let text = made.computation.to_string();
    assert!(
        text.contains("rank(i + N1 - j - 1 of N0 + N1 - 1)"),
        "{text}"
    );
    assert_eq!(certificate.unproved().count(), 0, "{certificate}");
    // Nothing says that no two entries have one key.
    let (_, certificate) = from_rows(&list(
        "key HALF(i : 31, j : 31) : 31 {
          return i >> 1
        }
        forall n, m : 0 <= n < m < NZ => HALF(row(n), col(n)) <= HALF(row(m), col(m))",
    ));
    assert_eq!(certificate.unproved().count(), 0, "{certificate}");
    let (_, certificate) = from_rows(&list(
        "key HALF(i : 31, j : 31) : 31 {
          return i >> 1
        }
        forall n, m : 0 <= n < m < NZ => HALF(row(n), col(n)) < HALF(row(m), col(m))",
    ));
    let unproved: Vec<&Obligation> = certificate.unproved().collect();
    assert!(
        matches!(unproved[..], [Obligation::Declared(_)]),
        "{certificate}"
    );
}

#[test]
fn elements_of_counted_rows_are_ordinals() {
    let (made, certificate) = from_rows(
        "format padded
        extents NR, NC
        map {[s, r] -> [i, j] : 0 <= r < NR && 0 <= s < len(r) && i = r && j = col(NR * s + r) && 0 <= j < NC}
        data {[s, r] -> [NR * s + r]}
        values {[p] : 0 <= p < W * NR}
        unique
        function len : {[r] : 0 <= r < NR} -> {[n] : 0 <= n <= W}
        function col : {[p] : 0 <= p < W * NR} -> {[j] : 0 <= j < NC}",
    );
    let text = made.computation.to_string();
    for statement in [
        "B_s(q1) = ordinal(i of N0)",
        "B_W max= B_s(q1) + 1",
        "B_len(i) += 1",
        "B_col(N0 * B_s(q1) + i) = j",
    ] {
        assert!(text.contains(statement), "{text}");
    }
    let open: Vec<String> = certificate.unproved().map(ToString::to_string).collect();
    assert_eq!(open, [""; 0], "{certificate}");
}

#[test]
fn conversions_of_three_modes_are_proved() {
    let sources = [
        "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
        "(i, j, k) -> (k : dense, i : compressed, j : compressed)",
    ];
    let others = [
        "(i, j, k) -> (k : dense, j : dense, i : dense)",
        "(i, j, k) -> (j : dense, i floordiv 2 : compressed, k : compressed, i mod 2 : dense)",
    ];
    for from in sources {
        sources.iter().chain(&others).for_each(|to| prove(from, to));
    }
}

#[test]
fn sources_of_which_nothing_is_known_are_counted() {
    let descriptor = |text: &str| -> Descriptor { text.parse().expect("a descriptor") };
    let wanted = Wanted::of(ElementType::F64);
    let made = convert(&descriptor(LIST), &descriptor(DIAGONALS), &wanted);
    let certificate = made
        .and_then(|made| made.certificate())
        .expect("it is a conversion");
    assert_eq!(certificate.unproved().count(), 0, "{certificate}");
    let counted = "A_entries has its values, since what is counted is what is assumed (s0)\n";
    assert!(certificate.to_string().contains(counted), "{certificate}");
}

#[test]
fn columns_of_rows_are_counted_scanned_and_numbered() {
    let certificate = conversion("csr", "csc")
        .certificate()
        .expect("it is a conversion");
    let text = certificate.to_string();
    for line in [
        "certificate {[i, q1, j] -> [q0_, q1_] : q0_ = j && q1_ = B_q1(q1)}\n",
        "  B_pos1 is nondecreasing, since a scan of counts is nondecreasing (s1, s2)\n",
        "  B_q1 has its values, since start + ordinal within counted groups is a bijection onto 0..n (s1, s2, s3)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

/// The message, note and help of what the checker refuses.
fn refused(made: &Conversion, certificate: &Certificate) -> String {
    let error = made
        .question()
        .check(certificate)
        .expect_err("it is refused");
    assert_eq!(error.code(), code::CERTIFICATE, "{error}");
    error.to_string()
}

#[test]
fn certificates_of_less_are_refused() {
    let made = conversion("csr", "csc");
    let whole = made.certificate().expect("it is a conversion");
    made.question().check(&whole).expect("it is accepted");
    let lacking = |obligation: &Obligation| {
        let mut certificate = whole.clone();
        certificate.parts[0]
            .lines
            .retain(|line| line.obligation != *obligation);
        refused(&made, &certificate)
    };
    for line in &whole.parts[0].lines {
        let text = lacking(&line.obligation);
        assert!(text.contains("not proved"), "{text}");
    }
    let text = lacking(&Obligation::OneTuple);
    assert!(
        text.contains("no two tuples have the same coordinates"),
        "{text}"
    );
    assert!(
        text.contains("the certificate does not mention it"),
        "{text}"
    );
}

#[test]
fn other_lemmas_are_refused() {
    let made = conversion("csr", "csc");
    let whole = made.certificate().expect("it is a conversion");
    let arrays =
        |line: usize| matches!(whole.parts[0].lines[line].obligation, Obligation::Values(_));
    for line in (0..whole.parts[0].lines.len()).filter(|line| arrays(*line)) {
        for lemma in Lemma::ALL {
            let mut certificate = whole.clone();
            let proof = certificate.parts[0].lines[line]
                .proof
                .as_mut()
                .expect("it is proved");
            // What is kept at numbers suffices where each element is that of an entry.
            let suffices = (proof.lemma, lemma) == (Lemma::Keys, Lemma::Marked);
            if proof.lemma == lemma || suffices {
                continue;
            }
            proof.lemma = lemma;
            refused(&made, &certificate);
        }
    }
    let mut certificate = whole.clone();
    certificate.parts[0].lines[3].proof = None;
    assert!(refused(&made, &certificate).contains("no proof of it"));
}

#[test]
fn refusals_name_the_obligation_and_the_statement() {
    let made = conversion("csr", "csc");
    let text = made.computation.to_string();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        let mut changed = made.clone();
        changed.computation = text.replacen(from, to, 1).parse().expect("a computation");
        let proposal = changed.proposal().expect("it is a conversion");
        refused(&changed, &proposal)
    };
    let error = changed("over {[x] : 0 <= x < N1}", "over {[x] : 0 <= x < N1 - 1}");
    for part in [
        "B_pos1 has its values",
        "does not reach exactly the end",
        "`s2`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = changed("B_pos1(j + 1) += 1", "B_pos1(j) += 1");
    assert!(error.contains("`s1`"), "{error}");
    let error = changed("at [2, x, 0]", "at [3, x, 0]");
    assert!(
        error.contains("statements read only values that are final"),
        "{error}"
    );
    let error = changed("ordinal(j of N1)", "ordinal(i of N0)");
    assert!(error.contains("it starts where other groups do"), "{error}");
}

#[test]
fn text_that_is_no_certificate_is_refused() {
    let refused = |text: &str| {
        let error = text.parse::<Certificate>().expect_err("it is refused");
        assert_eq!(error.code(), code::CERTIFICATE_TEXT, "{error}");
    };
    refused("");
    refused("certificate of csr");
    refused("certificate {[i] -> [q] : q = i}\n  all is well");
    refused("certificate {[i] -> [q] : q = i}\n  all is well: not proved");
    refused("certificate {[i] -> [q] : q = i}\n  B has its length, since I say so");
    let open = "certificate {[i] -> [q] : q = i}\n  B has its length: not proved\n";
    let read: Certificate = open.parse().expect("a certificate");
    assert_eq!(read.unproved().count(), 1);
    assert_eq!(read.to_string(), open);
}

/// A key at the slot of another key is not found by a search that begins at its own.
#[test]
fn slots_of_other_keys_are_refused() {
    let made = conversion("csr", "(i, j) -> (i : dense, j : hashed)");
    let certificate = made.certificate().expect("it is a conversion");
    assert_eq!(certificate.unproved().count(), 0, "{certificate}");
    let mut changed = made.clone();
    let text = made.computation.to_string();
    let other = text.replace("slot(j of N1 + 1", "slot(N1 - j of N1 + 1");
    assert_ne!(other, text);
    changed.computation = other.parse().expect("a computation");
    let error = changed.question().check(&certificate);
    let error = error.expect_err("another key").to_string();
    assert!(
        error.contains("a search finds each key of B_crd1"),
        "{error}"
    );
}
