//! Windows: text, values, and the transformations that keep them.

use sparsec_base::Source;
use sparsec_base::{Result, Scalar};
use sparsec_computation::{Computation, Given, Script};

const KEYS: &str = "computation windows {
  parameters N, K, L
  given k : i32[N], l : i32[N]
  out y : i64[N]

  s0: y(n) = VALUE
    over {[n] : 0 <= n < N}
    at [n]
}
";

fn computation(value: &str) -> Result<Computation> {
    KEYS.replace("VALUE", value).parse()
}

fn values(value: &str) -> Result<Vec<i64>> {
    let mut given = Given::default();
    for (name, extent) in [("N", 6), ("K", 4), ("L", 3)] {
        given.parameters.insert(name.to_owned(), extent);
    }
    for (name, keys) in [("k", [3, 1, 3, 0, 3, 1]), ("l", [2, 0, 1, 0, 2, 0])] {
        let keys = keys.map(Scalar::I32).into();
        given.data.insert(name.to_owned(), keys);
    }
    let found = computation(value)?.evaluate(&given, 0..8)?;
    let found = found["y"].iter().map(|it| match it {
        Scalar::I64(n) => *n,
        other => panic!("{other}"),
    });
    Ok(found.collect())
}

#[test]
fn windows_count_points() -> Result<()> {
    assert_eq!(values("ordinal(k(n) of K)")?, [0, 0, 1, 0, 2, 1]);
    assert_eq!(values("rank(k(n) of K)")?, [3, 1, 4, 0, 5, 2]);
    assert_eq!(values("dense_rank(k(n) of K)")?, [2, 1, 2, 0, 2, 1]);
    assert_eq!(values("rank(k(n) of K, l(n) of L)")?, [4, 1, 3, 0, 5, 2]);
    assert_eq!(
        values("dense_rank(k(n) of K, l(n) of L)")?,
        [3, 1, 2, 0, 3, 1]
    );
    assert_eq!(values("ordinal(k(n) of K, l(n) of L)")?, [0, 0, 0, 0, 1, 1]);
    assert_eq!(values("ordinal()")?, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        values("2 * ordinal() + rank(k(n) of K)")?,
        [3, 3, 8, 6, 13, 12]
    );
    Ok(())
}

#[test]
fn prints_what_it_reads() -> Result<()> {
    for value in [
        "ordinal()",
        "rank(k(n) of K, l(n) of L + 1)",
        "2 * dense_rank(n floordiv 4 of (N + 3) floordiv 4)",
    ] {
        let text = computation(value)?.to_string();
        assert_eq!(text, KEYS.replace("VALUE", value));
        assert_eq!(text.parse::<Computation>()?.to_string(), text);
    }
    Ok(())
}

#[test]
fn keys_lie_in_their_extents_and_extents_are_constants() {
    let outside = values("rank(k(n) of 3)").unwrap_err();
    assert_eq!(outside.code().to_string(), "E0808", "{outside}");
    for value in ["rank(k(n) of n)", "rank(k(n) of M)"] {
        let refused = computation(value).unwrap_err();
        assert_eq!(refused.code().to_string(), "E0801", "{refused}");
    }
}

#[test]
fn points_keep_their_order_where_windows_follow_it() -> Result<()> {
    let text = "computation grid {
  parameters N, M
  out y : i64[N, M]
  s0: y(i, j) = VALUE over {[i, j] : 0 <= i < N && 0 <= j < M} at [i, j]
}";
    let turn = Source::new("script", "interchange(s0, 0, 1)");
    for (value, may_turn) in [
        ("ordinal(i of N)", false),
        ("rank(j of M)", false),
        ("dense_rank(i of N)", true),
    ] {
        let grid: Computation = text.replace("VALUE", value).parse()?;
        assert_eq!(Script::replay(&turn, &grid).is_ok(), may_turn, "{value}");
        let unroll = Source::new("script", "unroll(s0, 0, 2)");
        let refused = Script::replay(&unroll, &grid).unwrap_err();
        assert_eq!(refused.code().to_string(), "E0809", "{refused}");
        let tile = Source::new("script", "strip_mine(s0, 0, 2)");
        assert!(Script::replay(&tile, &grid).is_ok(), "{value}");
    }
    Ok(())
}

#[test]
fn keys_are_settled_before_the_first_point() -> Result<()> {
    let text = |time: &str| {
        format!(
            "computation groups {{
  parameters N
  temporary k : i64[N]
  out y : i64[N]
  s0: k(n) = n mod 2 over {{[n] : 0 <= n < N}} at [0, n]
  s1: y(n) = ordinal(k(n) of 2) over {{[n] : 0 <= n < N}} at {time}
}}"
        )
    };
    let late: Computation = text("[1, n]").parse()?;
    late.check_settled()?;
    let early: Computation = text("[0, n, 1]").parse()?;
    let refused = early.check_settled().unwrap_err();
    assert_eq!(refused.code().to_string(), "E0806", "{refused}");
    Ok(())
}
