//! Bodies of small kernels, before and after a pass.

use sparsec_base::Source;
use sparsec_loop::{Function, verify};

const HEAD: &str = r#"fn f(
  out y "(i) -> (i : dense)" { extent n, write y: f64, write z: i64 },
  in a "(i) -> (i : compressed)" { read pos: i64, read crd: i64, read x: f64 }) "#;

pub(crate) fn parse(text: &str) -> Function {
    Function::parse(&Source::new("test", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a pass on `body` and compares the body that it makes with `expect`.
pub(crate) fn check(pass: fn(&mut Function), body: &str, expect: &str) {
    let mut function = parse(&format!("{HEAD}{{{body}}}"));
    pass(&mut function);
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    let printed = function.to_string();
    let head = parse(&format!("{HEAD}{{}}")).to_string();
    let n_head = head.lines().count() - 1;
    let lines: Vec<&str> = printed.lines().skip(n_head).collect();
    let body: Vec<&str> = lines[..lines.len() - 1]
        .iter()
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    assert_eq!(body.join("\n"), expect.trim_matches('\n'));
}
