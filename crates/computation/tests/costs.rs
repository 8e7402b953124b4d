//! Costs against enumeration: how many points sets have, and what their sweeps touch.

use sparsec_base::Source;
use sparsec_computation::cost::{Cost, value};
use sparsec_computation::{Computation, cost::points};
use sparsec_relation::{Environment, Expression};

/// What is known of the arrays of two rows of trees: 3 rows, 5 entries, 2 slots each.
const HEADER: &str = "
  parameters N, M, NZ, W
  assume pos(0) = 0 && pos(N) = NZ && top(0) = 0 && top(1) = N
  function top : {[r] : 0 <= r <= 1} -> {[i] : 0 <= i <= N} nondecreasing
  function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
  function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
  function off : {[d] : 0 <= d < W} -> {[k] : 0 - N < k < M}
  given top : i64[2], pos : i64[N + 1], crd : i64[NZ], off : i64[W], A : f64[NZ]
  temporary key : i64[NZ]
  out y : f64[N * M * NZ]
";

fn computation(statements: &str) -> Computation {
    let text = format!("computation c {{{HEADER}{statements}}}");
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn of(name: &str) -> Option<f64> {
    let known = [("N", 3.0), ("M", 4.0), ("NZ", 5.0), ("W", 2.0)];
    let found = known.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value)
}

/// Compares the number of points of a set with its formula: the same, or at most that.
fn check(space: &str, is_exact: bool) {
    let made = computation(&format!("\n  s0: y(0) = 1 over {space}\n"));
    let known = Environment::new()
        .constant("N", 3)
        .constant("M", 4)
        .constant("NZ", 5)
        .constant("W", 2)
        .table("top", vec![0, 3])
        .table("pos", vec![0, 2, 2, 5])
        .table("crd", vec![0, 3, 0, 1, 2])
        .table("off", vec![-1, 2]);
    let set = &made.statements[0].space;
    let n = set.enumerate(&known, -4..13).expect("a bounded set").len() as f64;
    let cost = made
        .cost()
        .unwrap_or_else(|| panic!("no bounds of {space}"));
    let loops = points(set, &made.known()).expect("bounds");
    // The last loop goes through the points; formulas have entries in place of names.
    let counts = loops.iter().map(|part| entry_free(&part.count()));
    let counted: f64 = counts.map(|e| value(&e, &of).expect("known names")).sum();
    match is_exact {
        true => assert_eq!(counted, n, "{space}: {cost}"),
        false => assert!(counted >= n, "{counted} of {n}: {space}"),
    }
    let steps = value(&cost.total().steps, &of).expect("known names");
    assert!(steps >= counted, "{steps} of {counted}: {space}");
}

/// A formula in which entries have the values of these arrays.
fn entry_free(e: &Expression) -> Expression {
    struct Entries;
    impl sparsec_relation::Rewrite for Entries {
        fn whole(&self, e: &Expression) -> Option<Expression> {
            let Expression::Call(name, arguments) = e else {
                return None;
            };
            let is_first = arguments[..] == [Expression::Integer(0)];
            Some(match (name.as_str(), is_first) {
                (_, true) => Expression::Integer(0),
                ("pos", _) => Expression::Constant("NZ".to_owned()),
                ("top", _) => Expression::Constant("N".to_owned()),
                _ => return None,
            })
        }
    }
    e.rewritten(&Entries)
}

#[test]
fn formulas_count_points() {
    // A box, with what follows from its variables.
    check("{[]}", true);
    check("{[i, j] : 0 <= i < N && 0 <= j < M}", true);
    check("{[i, k] : 0 <= i < N && k = 2 * i + 1}", true);
    check("{[p, j] : 0 <= p < NZ && crd(p) = j && 0 <= j < M}", true);
    // Segments, one inside the other, and boxes beside them.
    check(
        "{[i, p, j] : 0 <= i < N && pos(i) <= p < pos(i + 1) && crd(p) = j && 0 <= j < M}",
        true,
    );
    check(
        "{[r, i, p] : 0 <= r < 1 && top(r) <= i < top(r + 1) && pos(i) <= p < pos(i + 1)}",
        true,
    );
    check(
        "{[i, p, s] : 0 <= i < N && pos(i) <= p < pos(i + 1) && 0 <= s < W}",
        true,
    );
    check("{[p, q] : 0 <= p < NZ && p * 2 <= q < p * 2 + 2}", true);
    // Places of dense levels, which sums give, and coordinates within blocks.
    check(
        "{[i, q, k, j] : 0 <= i < N && q = i * M + j && 0 <= q < N * M && 0 <= j < M && 0 <= k < W}",
        true,
    );
    check(
        "{[q, i, s] : 0 <= q < W && q = i floordiv 2 && s = q * 2 + i mod 2 && 0 <= i < 2 * W}",
        true,
    );
    check(
        "{[q, p, i] : 0 <= q < N && q = i floordiv 2 && pos(q) <= p < pos(q + 1) && 0 <= i < 2 * N}",
        true,
    );
    check(
        "{[p, i] : 0 <= p < NZ && crd(p) = i floordiv 2 && crd(p) mod 2 = i mod 2 && 0 <= i < 8}",
        true,
    );
    // Sets of several parts.
    check("{[i] : 0 <= i < N} union {[i] : N <= i < NZ}", true);
    // As many as an entry says, of which the range is known.
    check("{[p, j] : 0 <= p < NZ && 0 <= j < crd(p)}", false);
    // Pairs of a segment, of which the last may be half full; and as many places as pairs have.
    check(
        "{[i, s] : 0 <= i < N && 0 <= s && 2 * s < pos(i + 1) - pos(i)}",
        false,
    );
    check(
        "{[i, s] : 0 <= i < N && 0 <= s && W * s < pos(i + 1) - pos(i)}",
        false,
    );
    check(
        "{[i, s, r, k] : 0 <= i < N && 0 <= r < 2 && 0 <= s && 2 * s < pos(i + 1) - pos(i)
          && k = pos(i) + 2 * s + r && pos(i) <= k < pos(i + 1)}",
        false,
    );
    // Constraints that leave points out, and diagonals that leave the matrix.
    check("{[i, j] : 0 <= i < N && 0 <= j < M && i < j}", false);
    check(
        "{[d, i, j] : 0 <= d < W && 0 <= i < N && off(d) = j - i && 0 <= j < M}",
        false,
    );
}

#[test]
fn sets_without_bounds_have_no_cost() {
    let made = computation("\n  s0: y(0) = 1 over {[i] : 0 <= i && crd(0) < i}\n");
    assert_eq!(made.cost(), None);
}

/// Compares a sweep's work with its text.
fn works(statements: &str, expect: &str) {
    let cost = computation(statements).cost().expect("bounds");
    let text = cost.to_string();
    assert!(text.contains(expect), "{text}");
    assert_eq!(text.parse::<Cost>().expect("it parses back"), cost);
}

#[test]
fn sweeps_touch_arrays_in_order_or_anywhere() {
    works(
        "s0: y(p) = A(p) over {[p] : 0 <= p < NZ}",
        "s0: steps NZ, streams 16 * NZ\n",
    );
    // An update moves the entry twice, and an entry of a loop outside once for the loop.
    works(
        "s0: y(i) += A(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}",
        "s0: steps N + NZ, streams 24 * N + 8 * NZ\n",
    );
    works(
        "s0: y(crd(p)) = A(p) over {[p] : 0 <= p < NZ}",
        "s0: steps NZ, streams 16 * NZ, random NZ of 8 in 8 * M * N * NZ\n",
    );
    // By columns, neighbours in a loop lie apart.
    works(
        "s0: y(j * N + i) = 1 over {[i, j] : 0 <= i < N && 0 <= j < M}",
        "s0: steps M * N + N, streams 0, random M * N of 8 in 8 * M * N * NZ\n",
    );
    // Statements of one sweep read an entry once.
    works(
        "s0: y(p) = A(p) over {[p] : 0 <= p < NZ} at [0, p, 0]
         s1: key(p) = crd(p) over {[p] : 0 <= p < NZ} at [0, p, 1]
         s2: y(p) += A(p) over {[p] : 0 <= p < NZ} at [0, p, 2]",
        "s0, s1, s2: steps NZ, streams 40 * NZ\n",
    );
}

#[test]
fn windows_cost_tables_and_sorts() {
    let over = "over {[p, j] : 0 <= p < NZ && crd(p) = j && 0 <= j < M}";
    let works = |value: &str, expect: &str| works(&format!("s0: key(p) = {value} {over}"), expect);
    works("ordinal()", "s0: steps NZ, streams 16 * NZ\n");
    works("rank(p of NZ)", "s0: steps NZ, streams 16 * NZ\n");
    works(
        "ordinal(j of M)",
        "streams 16 * M + 16 * NZ, random NZ of 16 in 8 * M\n",
    );
    works(
        "rank(j of M)",
        "s0: steps M + 4 * NZ, streams 8 * M + 44 * NZ, random NZ of 8 in 4 * M",
    );
    works("rank(j of M, p of NZ)", "NZ * LOG2((M + NZ) floordiv M)");
}

#[test]
fn texts_with_another_total_are_refused() {
    let text =
        "cost c {\n  arrays: 8\n  s0: steps N, streams 8 * N\n  total: steps N, streams N\n}";
    let error = Cost::parse(&Source::new("cost", text)).unwrap_err();
    assert!(
        error.message().contains("`total: steps N, streams 8 * N`"),
        "{error}"
    );
    for broken in ["cost c {", "cost c { arrays: 8 total: steps 0 }", "costs"] {
        assert!(
            Cost::parse(&Source::new("cost", broken)).is_err(),
            "{broken}"
        );
    }
}
