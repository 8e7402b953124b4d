//! Loops visit the points of sets: each once, in order, and no call is outside
//! of its function's domain.

use std::ops::Range;

use proptest::prelude::*;
use sparsec_base::code;
use sparsec_relation::{Declarations, Relation, Set, Visit, scan};
use world::{World, visited};

mod world;

fn set(text: &str) -> Set {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn declared(text: &str) -> Declarations {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

const MATRICES: &str = "
    assume 0 <= N && 0 <= M && 0 <= NZ && 0 <= ND && 0 < B
    assume pos(0) = 0 && pos(N) = NZ
    function pos : {[i] : 0 <= i <= N} -> {[k] : 0 <= k <= NZ} nondecreasing
    function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}
    function off : {[d] : 0 <= d < ND} -> {[x] : -N < x < M} increasing
    function perm : {[t] : 0 <= t < N} -> {[i] : 0 <= i < N} injective
    function fall : {[d] : 0 <= d < ND} -> {[x]} nonincreasing
    forall i, a, b : pos(i) <= a < b < pos(i + 1) => crd(a) < crd(b)
";

fn matrices() -> World {
    World::default()
        .constant("N", 4)
        .constant("M", 5)
        .constant("NZ", 6)
        .constant("ND", 3)
        .constant("B", 2)
        .array("pos", &[0, 2, 2, 5, 6])
        .array("crd", &[1, 4, 0, 2, 3, 1])
        .array("off", &[-2, 0, 3])
        .array("perm", &[2, 0, 3, 1])
        .array("fall", &[5, 5, 1])
}

/// The loops of a set have this text, and visit what there is.
#[track_caller]
fn check(text: &str, expect: &str) {
    let (set, declarations, world) = (set(text), declared(MATRICES), matrices());
    let loops = set
        .scan(&declarations)
        .unwrap_or_else(|error| panic!("{error}"));
    let points = set
        .enumerate(&world.environment(), -9..10)
        .unwrap_or_else(|error| panic!("{error}"));
    let visited: Vec<_> = visited(&loops, &world)
        .into_iter()
        .map(|(_, p)| p)
        .collect();
    assert_eq!(visited, Vec::from_iter(points), "{loops}");
    assert_eq!(loops.to_string(), expect.trim_start());
}

#[test]
fn affine_bounds() {
    check(
        "{[i, j] : 0 <= i < N && 0 <= j <= i}",
        "
for i in 0..N
  for j in 0..i + 1
    visit(i, j)
",
    );
    check(
        "{[j, i] : 0 <= i < N && 0 <= j <= i}",
        "
for j in 0..N
  for i in j..N
    visit(j, i)
",
    );
    check(
        "{[t, i] : exists j : t = i + j && 0 <= i < N && 0 <= j < M}",
        "
for t in 0..M + N - 1
  for i in max(0, t + 1 - M)..min(N, t + 1)
    let j = t - i
    visit(t, i)
",
    );
}

#[test]
fn compressed_rows() {
    check(
        "{[i, k, j] : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "
for i in 0..N
  for k in pos(i)..pos(i + 1)
    let j = crd(k)
    visit(i, k, j)
",
    );
    check(
        "{[i, j] : exists k : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "
for i in 0..N
  for k in pos(i)..pos(i + 1)
    let j = crd(k)
    visit(i, j)
",
    );
    check(
        "{[k, i] : pos(i) <= k < pos(i + 1)}",
        "
for k in 0..NZ
  let i = pos.first(k + 1) - 1
  visit(k, i)
",
    );
    check(
        "{[j, i] : exists k : pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "
for j in 0..M
  for i in 0..N
    for k in pos(i)..pos(i + 1)
      if crd(k) = j
        visit(j, i)
",
    );
}

#[test]
fn places_are_searched() {
    check(
        "{[i, d, j] : 0 <= i < N && j = i + off(d) && 0 <= j < M}",
        "
for i in 0..N
  for d in 0..ND
    let j = i + off(d)
    if 0 <= j and j < M
      visit(i, d, j)
",
    );
    check(
        "{[i, j, d] : 0 <= i < N && 0 <= j < M && off(d) = j - i}",
        "
for i in 0..N
  for d in 0..ND
    let j = i + off(d)
    if 0 <= j and j < M
      visit(i, j, d)
",
    );
    check(
        "{[i, t] : i = perm(t)}",
        "
for i in 0..N
  let t = perm.inverse(i)
  if 0 <= t and t < N and perm(t) = i
    visit(i, t)
",
    );
    // One search suffices, since `off` is injective.
    check(
        "{[i, x, d] : 0 <= i < N && x = perm(i) && off(d + 1) = x}",
        "
for i in 0..N
  let x = perm(i)
  let d = off.inverse(x) - 1
  if 0 <= d + 1 and d + 1 < ND and x = off(d + 1)
    visit(i, x, d)
",
    );
    check(
        "{[x, d] : 0 <= x < 7 && fall(d) = x}",
        "
for x in 0..7
  for d in fall.first(x)..fall.first(x - 1)
    visit(x, d)
",
    );
    check(
        "{[x, d] : 0 <= x < 7 && fall(d) < x}",
        "
for x in 0..7
  for d in fall.first(x - 1)..ND
    visit(x, d)
",
    );
}

#[test]
fn quotients() {
    check(
        "{[i, b, r] : 0 <= i < N && i = B * b + r && 0 <= r < B}",
        "
for i in 0..N
  let b = i floordiv B
  let r = i - b * B
  visit(i, b, r)
",
    );
    check(
        "{[i, b, r] : 0 <= i < 9 && i = 4 * b + r && 0 <= r < 4}",
        "
for i in 0..9
  let b = i floordiv 4
  let r = i - 4 * b
  visit(i, b, r)
",
    );
    check(
        "{[b, r, i] : 0 <= i < 9 && i = 4 * b + r && 0 <= r < 4}",
        "
for b in 0..3
  for r in 0..min(9 - 4 * b, 4)
    let i = 4 * b + r
    visit(b, r, i)
",
    );
    check(
        "{[i] : 0 <= 3 * i < 9 && i mod 2 = 0}",
        "
for i in 0..3
  if 0 = i mod 2
    visit(i)
",
    );
}

#[test]
fn unions() {
    check(
        "{[i] : 0 <= i < 3} union {[i] : 5 <= i < 8}",
        "
for i in 0..3
  visit(i)
for i_1 in 5..8
  visit(i_1)
",
    );
    check(
        "{[i] : 0 <= i < 6} union {[i] : 3 <= i < 8}",
        "
for i in 0..8
  if i <= 5
    visit(i)
  if 3 <= i
    search
      if i <= 5
        found
    if not found
      visit(i)
",
    );
    check(
        "{[i, j] : 0 <= i < N && j = 0} union {[i, j] : 0 <= i < N && j = 2}",
        "
for i in 0..N
  visit(i, 0)
  visit(i, 2)
",
    );
    check(
        "{[i, j] : 0 <= i < N && pos(i) <= j < pos(i + 1)} union {[i, j] : 1 <= i < N && j = 2}",
        "
for i in 0..N
  for j in min(pos(i), 2)..max(pos(i + 1), 3)
    if pos(i) <= j and j < pos(i + 1)
      visit(i, j)
    if 1 <= i and 2 = j
      search
        if pos(i) <= 2 and 3 <= pos(i + 1)
          found
      if not found
        visit(i, 2)
",
    );
    // One part alone has points of a row: what tells which is asked once a row.
    check(
        "{[i, j] : 0 <= i < N && 0 <= j < 3 && i mod 2 = 0} union {[i, j] : 0 <= i < N && 1 <= j < 4 && i mod 2 = 1}",
        "
for i in 0..N
  if 0 = i mod 2
    for j in 0..3
      visit(i, j)
  if 1 = i mod 2
    for j_1 in 1..4
      visit(i, j_1)
",
    );
}

/// A set, and the times of its points.
fn visit(text: &str, time: &[&str]) -> Visit {
    let schedule = text.replacen(']', &format!("] -> [{}]", time.join(", ")), 1);
    let schedule: Relation = schedule
        .parse()
        .unwrap_or_else(|error| panic!("{schedule}: {error}"));
    let times = schedule.solve(&Declarations::new());
    Visit {
        set: set(text),
        time: times.expect("a function").remove(0),
    }
}

#[test]
fn statements_share_loops() {
    let (declarations, world) = (declared(MATRICES), matrices());
    let clear = visit("{[i] : 0 <= i < N}", &["i", "0"]);
    let add = visit(
        "{[i, k] : 0 <= i < N && pos(i) <= k < pos(i + 1)}",
        &["i", "1", "k"],
    );
    let loops = scan(&[clear.clone(), add], &declarations).expect("bounded");
    assert_eq!(
        loops.to_string(),
        "\
for i in 0..N
  visit(i)
  for k in pos(i)..pos(i + 1)
    visit1(i, k)
"
    );

    // One ends before the other begins; the last runs where both do.
    let late = visit("{[i] : 0 <= i < N}", &["i + N", "0"]);
    let odd = visit("{[i] : 0 <= i < N}", &["2 * i + 1"]);
    let loops = scan(&[clear, late, odd], &declarations).expect("bounded");
    assert_eq!(
        loops.to_string(),
        "\
for i in 0..2 * N
  if i < N
    visit(i)
  if N <= i
    visit1(i - N)
  for i_2 in i floordiv 2..(i - 1) floordiv 2 + 1
    visit2(i_2)
"
    );
    let order: Vec<_> = visited(&loops, &world);
    let expect = [
        [(0, 0), (0, 1), (2, 0)],
        [(0, 2), (0, 3), (2, 1)],
        [(1, 0), (1, 1), (2, 2)],
        [(1, 2), (1, 3), (2, 3)],
    ];
    let expect = expect.concat().into_iter();
    let expect: Vec<_> = expect.map(|(number, i)| (number, vec![i])).collect();
    assert_eq!(order, expect);
}

#[test]
fn sets_without_points_share_no_loops() {
    let (declarations, world) = (declared(MATRICES), matrices());
    let rows = "{[i, p, t] : 0 <= i < N && pos(i) <= p < pos(i + 1) && ";
    let visits = [
        visit(&format!("{rows}1 = 3 * t}}"), &["t", "i", "p"]),
        visit(&format!("{rows}1 = 3 * t + 1}}"), &["t", "p", "i"]),
    ];
    let loops = scan(&visits, &declarations).expect("bounded");
    assert!(!loops.to_string().contains("visit("), "{loops}");
    let found = visited(&loops, &world);
    assert!(!found.is_empty() && found.iter().all(|(number, _)| *number == 1));
}

#[test]
fn what_cannot_be_scanned_is_refused() {
    let refused = |text: &str| {
        let error = set(text).scan(&declared(MATRICES)).expect_err("refused");
        (error.code(), error.to_string())
    };
    let (code, text) = refused("{[i, j] : 0 <= i < N && i <= j}");
    assert_eq!(code, code::SCAN_UNBOUNDED);
    assert!(text.contains("`j` has no upper bound"), "{text}");
    let (code, text) = refused("{[i] : 0 <= i < N && unknown(i) = 1}");
    assert_eq!(code, code::SCAN_DOMAIN);
    assert!(
        text.contains("nothing says where `unknown` has values"),
        "{text}"
    );
}

fn small() -> World {
    World::default()
        .constant("N", 2)
        .constant("M", 3)
        .array("f", &[1, 0, 2])
        .array("up", &[0, 1, 1, 3])
        .array("down", &[2, 1, -1])
        .array("perm", &[2, 0, 1])
}

const SMALL: &str = "
    assume 0 <= N <= M
    function f : {[i] : 0 <= i < 3} -> {[x] : 0 <= x < M}
    function up : {[i] : 0 <= i <= M} -> {[x] : 0 <= x <= M} nondecreasing
    function down : {[i] : 0 <= i < M} -> {[x] : -1 <= x < M} decreasing
    function perm : {[i] : 0 <= i < M} -> {[x] : 0 <= x < M} injective
";

const BOX: Range<i64> = -1..4;

fn expression(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let name = || prop::sample::select(names).prop_map(String::from);
    let leaf = prop_oneof![
        (-2i64..4).prop_map(|n| n.to_string()),
        prop::sample::select(vec!["N", "M"]).prop_map(String::from),
        name(),
        name(),
        name(),
    ];
    leaf.prop_recursive(2, 4, 2, |e| {
        let operator = prop::sample::select(vec!["+", "-", "-", "+", "*"]);
        let function = prop::sample::select(vec!["f", "up", "down", "perm"]);
        let divide = prop::sample::select(vec!["floordiv", "mod"]);
        prop_oneof![
            3 => (e.clone(), operator, e.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
            3 => (function, e.clone()).prop_map(|(f, e)| format!("{f}({e})")),
            1 => (e, divide, 2..4).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        ]
    })
}

fn conjunction() -> impl Strategy<Value = String> {
    let names: &'static [&'static str] = &["i", "j", "k"];
    let comparison = prop::sample::select(vec!["<", "<=", "=", "=", ">=", "!="]);
    let link = (expression(names), comparison, expression(names));
    let link = link.prop_map(|(a, c, b)| format!(" && {a} {c} {b}"));
    (prop::collection::vec(link, 0..4), any::<bool>()).prop_map(|(links, exists)| {
        let (tuple, exists) = match exists {
            true => ("i, j", "exists k : "),
            false => ("i, j, k", ""),
        };
        let tail = links.concat();
        format!("{{[{tuple}] : {exists}-1 <= i < 4 && -1 <= j < 4 && -1 <= k < 4{tail}}}")
    })
}

fn agrees(set: &Set) {
    let (declarations, world) = (declared(SMALL), small());
    let points = set
        .enumerate(&world.environment(), BOX)
        .expect("small numbers");
    let loops = set
        .scan(&declarations)
        .unwrap_or_else(|error| panic!("{error}"));
    let visited: Vec<_> = visited(&loops, &world)
        .into_iter()
        .map(|(_, p)| p)
        .collect();
    assert_eq!(visited, Vec::from_iter(points), "{set}\n{loops}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn loops_visit_each_point_in_order(text in conjunction()) {
        agrees(&set(&text));
    }

    #[test]
    fn unions_are_visited_once(first in conjunction(), second in conjunction()) {
        let same = |text: &String| text.contains("exists");
        prop_assume!(same(&first) == same(&second));
        agrees(&set(&format!("{first} union {second}")));
    }
}
