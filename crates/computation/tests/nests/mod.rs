//! Computations to transform, and what a script makes of their schedules.

use sparsec_computation::{Computation, Script};

pub(crate) fn read(text: &str) -> Computation {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The schedules, or the code of the refusal.
pub(crate) fn transformed(text: &str, script: &str) -> Result<String, String> {
    let mut computation = read(text);
    for command in &script.parse::<Script>().expect("a script").commands {
        computation = computation
            .transformed(command)
            .map_err(|error| error.code().to_string())?;
    }
    let schedules = computation.statements.iter().map(|statement| {
        let text = statement.to_string();
        let at = text.rsplit_once("at ").expect("a schedule").1;
        format!("{} {}", statement.name, at)
    });
    Ok(schedules.collect::<Vec<_>>().join("; "))
}

pub(crate) fn check(text: &str, script: &str, expect: &str) {
    assert_eq!(transformed(text, script).as_deref(), Ok(expect), "{script}");
}

pub(crate) fn refuse(text: &str, script: &str, code: &str) {
    assert_eq!(transformed(text, script), Err(code.to_owned()), "{script}");
}

pub(crate) const NEST: &str = "computation nest { parameters N, M
    inout x : f64[N, M]
    s0: x(i, j) = x(i, j) + x(i - 1, j)
      over {[i, j] : 1 <= i < N && 0 <= j < M} at [i, j] }";

pub(crate) const WAVE: &str = "computation wave { parameters N
    inout x : f64[N, N]
    s0: x(i, j) = x(i - 1, j + 1) over {[i, j] : 1 <= i < N && 0 <= j < N - 1} at [i, j] }";

pub(crate) const ROWS: &str = "computation rows { parameters N, NZ
    function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    given pos : i32[N + 1], crd : i32[NZ], a : f64[NZ], x : f64[N]
    temporary t : f64[N]
    out y : f64[N]
    s0: t(i) = 0 over {[i] : 0 <= i < N} at [0, i]
    s1: t(i) += a(p) * x(crd(p))
      over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [1, i, p]
    s2: y(i) = 2 * t(i) over {[i] : 0 <= i < N} at [2, i] }";
