//! How much the laws were checked on: relations that were enumerated, and what they held.

use std::cell::Cell;

thread_local! {
    static RELATIONS: Cell<usize> = const { Cell::new(0) };
    static TUPLES: Cell<usize> = const { Cell::new(0) };
}

/// Counts an enumeration that found so many tuples.
pub(crate) fn enumerated(n_tuples: usize) {
    RELATIONS.set(RELATIONS.get() + 1);
    TUPLES.set(TUPLES.get() + n_tuples);
}

/// Checks laws one after the other, and prints how much each was checked on. A law
/// of which all relations were empty has not been checked.
#[expect(clippy::print_stdout, reason = "the counts are for people")]
pub(crate) fn check(laws: &[(&str, fn())]) {
    let line = |name: &str, relations: usize, tuples: usize| {
        println!("{name:<40}{relations:>8} enumerated{tuples:>9} tuples");
    };
    let mut total = (0, 0);
    for (name, law) in laws {
        RELATIONS.set(0);
        TUPLES.set(0);
        law();
        let (relations, tuples) = (RELATIONS.get(), TUPLES.get());
        assert!(tuples > 0, "{name}: nothing but empty relations");
        line(name, relations, tuples);
        total = (total.0 + relations, total.1 + tuples);
    }
    line(&format!("{} laws", laws.len()), total.0, total.1);
}
