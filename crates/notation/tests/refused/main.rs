//! Codes of notation, as they are shown.
//!
//! | module    | refusals about                                                       |
//! |-----------|----------------------------------------------------------------------|
//! | `names`   | names of tensors, index variables and functions; where sums stand     |
//! | `extents` | extents of index variables, and the indices that say them             |
//! | `values`  | types of values, numbers, sizes of statements                         |

mod extents;
mod names;
mod values;

use sparsec_base::{ElementType, Source};
use sparsec_notation::{Declaration, Declarations, Notation};

/// A program that is refused, what is declared for it, and the diagnostic.
#[derive(Clone, Copy)]
struct Refusal {
    text: &'static str,
    declare: fn(&mut Declarations),
    expect: &'static str,
}

fn nothing(_: &mut Declarations) {}

fn matrices(declarations: &mut Declarations) {
    for name in ["A", "B"] {
        declarations.declare(name, Declaration::with_order(2));
    }
}

fn matrix_and_vector(declarations: &mut Declarations) {
    declarations.declare("A", Declaration::with_order(2));
    declarations.declare("x", Declaration::with_order(1));
}

fn vector(declarations: &mut Declarations) {
    declarations.declare("x", Declaration::with_order(1));
}

fn two_lengths(declarations: &mut Declarations) {
    declarations.declare("x", Declaration::with_extents(&[3]));
    declarations.declare("z", Declaration::with_extents(&[4]));
}

fn complex_numbers(declarations: &mut Declarations) {
    for name in ["x", "z"] {
        declarations.declare(name, Declaration::with_order(1).of(ElementType::C64));
    }
}

fn truth_values(declarations: &mut Declarations) {
    for name in ["x", "z"] {
        let declaration = Declaration::with_order(1).of(ElementType::Bool);
        declarations.declare(name, declaration);
    }
}

fn integers(declarations: &mut Declarations) {
    let declaration = Declaration::with_order(1).of(ElementType::I32);
    declarations.declare("x", declaration);
}

fn diagnostic(refusal: &Refusal) -> sparsec_base::Diagnostic {
    let mut declarations = Declarations::new();
    (refusal.declare)(&mut declarations);
    let text = match refusal.text {
        "LARGE" => format!("s = {}1", "1 + ".repeat(501)),
        text => text.to_owned(),
    };
    let notation = Notation::parse(&Source::new("expression", text));
    notation
        .and_then(|notation| notation.resolve(&declarations))
        .expect_err(refusal.text)
}

#[test]
fn refusals_say_what_is_wrong_and_where() {
    for refusal in [names::REFUSALS, extents::REFUSALS, values::REFUSALS].concat() {
        let shown = diagnostic(&refusal).to_string();
        let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(shown.join("\n"), refusal.expect, "for `{}`", refusal.text);
    }
}
