//! Computations over relations.

use crate::place::Place;

#[test]
fn compute_transforms_a_computation() {
    let place = Place::new();
    let text =
        "computation chain { parameters N given x : f64[N] temporary t : f64[N] out y : f64[N]
        s0: t(i) = 2 * x(i) over {[i] : 0 <= i < N}
        s1: y(i) = t(i) + 1 over {[i] : 0 <= i < N} }";
    place.write("chain.spf", text);
    let script = "fuse(s0, s1, 2)\nshrink(t, 0)\n";
    let words = [
        "compute",
        "chain.spf",
        "--script",
        "auto",
        "--emit",
        "script",
    ];
    assert_eq!(place.call(&words).answer(), script);

    place.write("chain.script", script);
    let words = ["compute", "chain.spf", "--script", "@chain.script"];
    let replayed = place.call(&words).answer();
    assert!(replayed.contains("s1: y(i) = t + 1"), "{replayed}");
    place.write("after.spf", &replayed);
    assert_eq!(place.call(&["compute", "after.spf"]).answer(), replayed);

    // The computation is at fault, or the call.
    let words = ["compute", "chain.spf", "--script", "shrink(t, 0)"];
    place
        .call(&words)
        .refused(1, &["error[E0809]", "by this command"]);
    let words = ["compute", "chain.spf", "--script", "shrin(t, 0)"];
    place.call(&words).refused(2, &["did you mean `shrink`"]);
    let words = ["compute", "chain.spf", "--emit", "svgg"];
    place.call(&words).refused(2, &["did you mean `svg`"]);
}
