//! Choices in relations: how many there may be.

use sparsec_base::{Source, code};
use sparsec_relation::Relation;

/// A relation that compares pairs `n` times: each comparison has two cases.
fn compared(n: usize) -> String {
    let choices: Vec<String> = (0..n).map(|k| format!("[i, j] != [{k}, {k}]")).collect();
    format!("{{[i] -> [j] : {}}}", choices.join(" && "))
}

#[test]
fn relations_of_too_many_parts_are_refused() {
    let few = Relation::parse(&Source::new("relation", compared(2)));
    assert!(few.is_ok(), "{few:?}");
    let many = Relation::parse(&Source::new("relation", compared(12))).unwrap_err();
    assert_eq!(many.code(), code::RELATION_TOO_LARGE);
    assert!(many.to_string().contains("E0701"), "{many}");
}
