//! Concrete notation reads back, and slips in it are shown.

use sparsec_base::{ElementType, Source, Span};
use sparsec_index::{Concrete, TensorData, TensorRole, Tensors};
use sparsec_schedule::parse_concrete;

/// `y x` are vectors, `A` is a matrix of extents 3 and 4.
fn tensors() -> Tensors {
    let mut tensors = Tensors::new();
    for (name, extents, role) in [
        ("y", vec![None], TensorRole::Result),
        ("A", vec![Some(3), Some(4)], TensorRole::Input),
        ("x", vec![None], TensorRole::Input),
    ] {
        tensors.push(TensorData {
            name: name.to_owned(),
            earlier_of: None,
            element: ElementType::F64,
            extents,
            fill: ElementType::F64.zero(),
            role,
            span: Span::default(),
            levels_of: None,
        });
    }
    tensors
}

fn read(text: &str) -> sparsec_base::Result<Concrete> {
    parse_concrete(&Source::new("concrete", text), &tensors())
}

fn refused(text: &str, expect: &[&str]) {
    let error = read(text).expect_err(text).to_string();
    for part in expect {
        assert!(error.contains(part), "`{part}` in:\n{error}");
    }
}

#[test]
fn workspaces_are_made_where_they_are_assigned() {
    let text = "forall i: where(y(i) = f64(t), forall j: t += i32(A(i,j)) * 2)";
    let concrete = read(text).expect("reads");
    assert_eq!(concrete.to_string(), text);
    let t = concrete.tensor("t").expect("is there");
    assert_eq!(concrete.tensors[t].role, TensorRole::Workspace);
    assert_eq!(concrete.tensors[t].element, ElementType::I32);
    let i = concrete.var("i").expect("is there");
    assert_eq!(concrete.vars[i].extent, Some(3));
    assert_eq!(concrete.fresh_name("t"), "t1");
}

#[test]
fn parts_of_a_statement() {
    let text = "sequence(forall i: forall j: y(i) = A(i,j), forall j: y(j) = x(j))";
    let concrete = read(text).expect("reads");
    assert_eq!(concrete.to_string(), text);
    assert_eq!(concrete.stmt.loops().len(), 3);
    let mut n_assigns = 0;
    concrete.stmt.for_each_assign(&mut |_, reduce, _| {
        assert_eq!(reduce, None);
        n_assigns += 1;
    });
    assert_eq!(n_assigns, 2);
    assert_eq!(concrete.stmt.rewrite(&mut |_| None), concrete.stmt);
}

#[test]
fn slips_are_shown() {
    refused(
        "forall i: y(i) = x(j)",
        &["E0204", "put `forall j:` around it"],
    );
    refused("forall i: y(i) = z(i)", &["E0201"]);
    refused("forall i: y(i) = A(i)", &["E0202"]);
    refused(
        "forall i: y(i) = sum{i}(A(i,i))",
        &["E0101", "no reductions"],
    );
    refused("where(y = 1)", &["E0101"]);
    refused("forall i: t = x(i)", &["E0201", "no tensor of the program"]);
    refused(
        &format!("{}y(i) = 1", "forall i: ".repeat(10_000)),
        &["E0220"],
    );
}
