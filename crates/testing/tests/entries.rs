//! Entries of computations: how many there are, and of which types.

use std::collections::BTreeMap;

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Backend, Code, Diagnostic, Options, Session, Tensor, code};

/// The results on every engine that needs no compiler, which agree.
fn run(text: &str, given: &Given<'_>) -> Result<BTreeMap<String, Tensor>, Diagnostic> {
    let computation: Computation = text.parse()?;
    let compiled = compile_computation(&computation)?;
    let interpreted = Session::interpreter().compute(&compiled, given);
    let machine = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    let generated = machine.compute(&compiled, given);
    match (&interpreted, &generated) {
        (Ok(one), Ok(other)) => assert_eq!(one, other),
        (one, other) => assert_eq!(
            one.as_ref().err().map(Diagnostic::code),
            other.as_ref().err().map(Diagnostic::code)
        ),
    }
    interpreted
}

fn refused(text: &str, given: &Given<'_>) -> (Code, String) {
    let error = run(text, given).expect_err("refused");
    (error.code(), error.to_string())
}

/// What loops and extents follow is known before the stage that they are in.
#[test]
fn what_a_stage_computes_is_followed_behind_it() {
    let sized = |declared: &str, of: &str| {
        format!(
            "computation sized {{
               parameters N
               {declared}
               out y : f64[N]
               s0: n = N over {{[] : 0 <= N}} at [0]
               s1: y(i) = 1 over {{[i] : 0 <= i < N && {of}}} at [0, i]
             }}"
        )
    };
    let follows = [
        sized("out n : i64, z : f64[n]", "0 <= i"),
        sized("temporary n : i64, t : f64[n]", "0 <= i"),
        sized("inout n : i64 given x : f64[n + 1]", "0 <= i"),
        sized("temporary n : i32", "i < n"),
        sized(
            "out n : i64
             function f : {[i] : 0 <= i < n} -> {[x] : 0 <= x < N}
             given f : i32[N]",
            "0 <= i",
        ),
    ];
    for text in follows {
        let (code, why) = refused(&text, &Given::new().parameter("N", 3));
        assert_eq!(code, code::FOLLOWS_RESULT, "{why}");
        assert!(why.contains("follow") && why.contains("`n`"), "{why}");
        assert!(why.contains("written here"), "{why}");
    }
    // The place is that of the declaration, not of one whose name begins alike.
    let alike = sized(
        "out n : i64
         function fo : {[i] : 0 <= i < N} -> {[x] : 0 <= x < N}
         function f : {[i] : 0 <= i < n} -> {[x] : 0 <= x < N}
         given fo : i32[N], f : i32[N]",
        "0 <= i",
    );
    let (_, why) = refused(&alike, &Given::new().parameter("N", 3));
    assert!(
        why.contains("function f :") && !why.contains("function fo :"),
        "{why}"
    );
    // No statement writes this one.
    let text = "computation read {
        inout n : i64
        out y : f64[n]
        s0: y(i) = 1 over {[i] : 0 <= i < n}
    }";
    let n = Tensor::dense(&[], [2i64]).expect("a number");
    let results = run(text, &Given::new().data("n", &n)).expect("it runs");
    assert_eq!(results["y"].values::<f64>(), Some(&[1.0, 1.0][..]));
}

/// Products of extents that wrap would give temporary data fewer places than it has.
#[test]
fn temporaries_of_too_many_entries_are_refused() {
    let text = "computation wrapped {
        parameters N
        temporary t : f64[N, N]
        out y : f64
        s0: t(0, N - 1) = 1 over {[] : 0 < N} at [0]
        s1: y = t(0, N - 1) over {[] : 0 < N} at [1]
    }";
    let results = run(text, &Given::new().parameter("N", 3)).expect("it runs");
    assert_eq!(results["y"].values::<f64>(), Some(&[1.0][..]));
    let (code, why) = refused(text, &Given::new().parameter("N", 1 << 32));
    assert_eq!(code, code::GIVEN_MISFIT);
    assert!(why.contains("more entries than can be counted"), "{why}");
}

/// Integers of every width are computed with in 64 bits, and stored if they fit.
#[test]
fn narrow_integers_are_stored_if_they_fit() {
    for (ty, most) in [
        ("i8", i64::from(i8::MAX)),
        ("u8", i64::from(u8::MAX)),
        ("i16", i64::from(i16::MAX)),
        ("u16", i64::from(u16::MAX)),
        ("i32", i64::from(i32::MAX)),
        ("u32", i64::from(u32::MAX)),
    ] {
        let text = format!(
            "computation narrow {{
               parameters N
               temporary t : {ty}[3]
               out y : {ty}[3], z : {ty}
               s0: t(i) = i over {{[i] : 0 <= i < 3}} at [0, i]
               s1: y(i) = t(i) + 1 over {{[i] : 0 <= i < 3}} at [1, i]
               s2: z = N over {{[] : 0 <= N}} at [2]
               s3: z += 1 over {{[] : 0 <= N}} at [3]
             }}"
        );
        let results = run(&text, &Given::new().parameter("N", most - 1));
        let results = results.unwrap_or_else(|error| panic!("{ty}: {error}"));
        let value = |name: &str, at: usize| results[name].vals().get(at).to_integer();
        assert_eq!(value("z", 0), Some(most.into()));
        assert_eq!(value("y", 2), Some(3));
        let (code, why) = refused(&text, &Given::new().parameter("N", most));
        assert_eq!(code, code::CAST_OUT_OF_RANGE, "{ty}: {why}");
    }
}

/// Arrays of every integer type are followed, and searched.
#[test]
fn narrow_index_arrays_are_searched() {
    let entries = [2u8, 0, 1];
    let text = |ty: &str| {
        format!(
            "computation inverted {{
               function f : {{[i] : 0 <= i < 3}} -> {{[x] : 0 <= x < 3}} injective
               function g : {{[i] : 0 <= i < 3}} -> {{[x] : 0 <= x < 9}} increasing
               given f : {ty}[3], g : {ty}[3]
               out y : i64[3], z : i64[9]
               s0: y(x) = i over {{[x, i] : 0 <= x < 3 && 0 <= i < 3 && f(i) = x}} at [0, x]
               s1: z(x) = i + 1 over {{[x, i] : 0 <= x < 9 && 0 <= i < 3 && g(i) = x}} at [1, x]
             }}"
        )
    };
    let check = |ty: &str, f: Tensor, g: Tensor| {
        let results = run(&text(ty), &Given::new().data("f", &f).data("g", &g));
        let results = results.unwrap_or_else(|error| panic!("{ty}: {error}"));
        assert_eq!(results["y"].values::<i64>(), Some(&[1, 2, 0][..]), "{ty}");
        let z = [1, 0, 0, 0, 2, 0, 0, 3, 0];
        assert_eq!(results["z"].values::<i64>(), Some(&z[..]), "{ty}");
    };
    macro_rules! of {
        ($($ty:ident),*) => { $(
            let vector = |of: [u8; 3]| Tensor::dense(&[3], of.map(|it| it as $ty)).expect("numbers");
            check(stringify!($ty), vector(entries), vector([0, 4, 7]));
        )* };
    }
    of!(i8, u8, i16, u16, i32, u32, i64);
}
