//! Spaces and lattices of one-mode expressions, and the rules of `lowerable`.

use sparsec_base::Source;
use sparsec_format::{Format, FormatSpec};
use sparsec_graph::{Formats, IterationGraph, Lattice, Operands, Scope, lowerable, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Concrete, concretize};
use sparsec_notation::{Declaration, Declarations, Notation};

/// The naive statement of `text` with the formats given as `A=csr B=dense`;
/// other tensors are dense.
fn statement(text: &str, formats: &str) -> (Concrete, Formats) {
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        if !tensor.written {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
    let program = notation.resolve(&declarations).expect("resolves");
    let concrete = concretize(&program, 0);
    let mut known = Formats::new();
    for (tensor, data) in concrete.tensors.iter() {
        let asked = formats
            .split(' ')
            .find_map(|pair| pair.strip_prefix(&format!("{}=", data.name)));
        let format = match asked {
            Some(name) => FormatSpec::parse(&Source::new("format", name))
                .and_then(|spec| spec.resolve(data.order()))
                .expect("a preset"),
            None => Format::dense(data.order()),
        };
        known.set(tensor, format);
    }
    (concrete, known)
}

/// The space and the lattice of the outermost loop.
fn check(text: &str, formats: &str, expect_space: &str, expect_lattice: &str) {
    let (concrete, formats) = statement(text, formats);
    let operands = Operands::of(&concrete);
    let scope = Scope {
        concrete: &concrete,
        formats: &formats,
        operands: &operands,
    };
    let Stmt::Forall { var, body } = &concrete.stmt else {
        panic!("`{text}` has a loop");
    };
    let space = space(scope, body, *var);
    let name = |operand| operands.label(operand, *var, &concrete, &formats);
    assert_eq!(space.text(&name), expect_space, "space of `{text}`");
    assert_eq!(
        Lattice::of(&space).text(&name),
        expect_lattice,
        "lattice of `{text}`"
    );
}

#[test]
fn one_operand_is_walked() {
    check("a(i) = b(i)", "b=csf", "b0", "{b0}");
    check("a(i) = -b(i) * 2", "b=csf", "b0", "{b0}");
    check("a(i) = b(i)", "", "all", "all {}");
}

#[test]
fn products_intersect_and_sums_unite() {
    let sparse = "b=csf c=csf d=csf";
    check("a(i) = b(i) * c(i)", sparse, "b0 ∩ c0", "{b0, c0}");
    check(
        "a(i) = b(i) + c(i)",
        sparse,
        "b0 ∪ c0",
        "{b0, c0} {b0} {c0}",
    );
    check(
        "a(i) = (b(i) + c(i)) * d(i)",
        sparse,
        "(b0 ∪ c0) ∩ d0",
        "{b0, c0, d0} {b0, d0} {c0, d0}",
    );
    check(
        "a(i) = b(i) + c(i) * d(i)",
        sparse,
        "b0 ∪ (c0 ∩ d0)",
        "{b0, c0, d0} {c0, d0} {b0}",
    );
}

#[test]
fn dense_operands_are_located_in_products_and_visited_in_sums() {
    check("a(i) = b(i) * c(i)", "b=csf", "b0", "{b0}");
    check("a(i) = b(i) + c(i)", "b=csf", "b0 ∪ all", "all {b0} {}");
    check(
        "a(i) = b(i) * max(c(i), 2)",
        "b=csf c=csf",
        "b0 ∩ (c0 ∪ all)",
        "{b0, c0} {b0}",
    );
}

#[test]
fn properties_decide_not_names() {
    let sparse = "b=csf c=csf";
    check(
        "a(i) = max(b(i), c(i))",
        sparse,
        "b0 ∪ c0",
        "{b0, c0} {b0} {c0}",
    );
    check(
        "a(i) = b(i) > 0 and c(i) > 0",
        sparse,
        "b0 ∩ c0",
        "{b0, c0}",
    );
    check("a(i) = b(i) < 1 or c(i) < 1", sparse, "b0 ∩ c0", "{b0, c0}");
    check("a(i) = 0 * b(i)", sparse, "∅", "nothing");
    check("a(i) = exp(b(i))", sparse, "b0", "{b0}");
    check(
        "a(i) = b(i) / c(i)",
        sparse,
        "b0 ∪ c0",
        "{b0, c0} {b0} {c0}",
    );
}

#[test]
fn reductions_skip_identities_only() {
    check("s = sum{i}(b(i))", "b=csf", "b0", "{b0}");
    check("s = max{i}(b(i))", "b=csf", "b0 ∪ all", "all {b0} {}");
    check("s = prod{i}(b(i))", "b=csf", "b0 ∪ all", "all {b0} {}");
    check("s = or{i}(b(i) > 0)", "b=csf", "b0", "{b0}");
}

#[test]
fn temporaries_are_seen_through() {
    check(
        "y(i) = b(i) + A(i,j) * x(j)",
        "A=dcsr b=csf",
        "b0 ∪ A0",
        "{b0, A0} {b0} {A0}",
    );
    check(
        "y(i) = b(i) * sum{j}(A(i,j))",
        "A=dcsr b=csf",
        "b0 ∩ A0",
        "{b0, A0}",
    );
}

#[test]
fn graphs_ask_for_what_walking_needs() {
    let (concrete, formats) = statement("C(i,j) = A(i,k) * B(k,j)", "A=csr B=csr C=csr");
    let graph = IterationGraph::of(&concrete, &formats);
    assert_eq!(graph.text(&concrete), "i -A-> k -C-> j\nj\nk -B-> j\n");
}

/// Whether the naive statement is lowerable, or the code of why it is not.
fn verdict(text: &str, formats: &str) -> String {
    let (concrete, formats) = statement(text, formats);
    match lowerable(&concrete, &formats) {
        Ok(_) => "lowerable".to_owned(),
        Err(error) => error.code().to_string(),
    }
}

#[test]
fn lowerable_names_the_broken_rule() {
    assert_eq!(verdict("y(i) = A(i,j) * x(j)", "A=csr"), "lowerable");
    assert_eq!(verdict("y(i) = A(i,j) * x(j)", "A=csc"), "E0301");
    assert_eq!(verdict("y(i) = A(i,i)", "A=csr"), "lowerable");
    assert_eq!(verdict("C(i,j) = A(j,i)", "A=csc C=csr"), "lowerable");
    assert_eq!(verdict("C(i,j) = B(i,j)", "C=csc"), "E0303");
    assert_eq!(verdict("C(i,j) = A(i,j) + B(i,j)", "A=coo"), "E0304");
    assert_eq!(verdict("C(i,j) = A(i,j)", "A=coo"), "lowerable");
    assert_eq!(verdict("C(i,j) = A(i,j)", "A=coo C=csr"), "E0304");
    assert_eq!(
        verdict("C(i,j) = A(i,k) * B(k,j)", "A=csr B=csc C=csr"),
        "E0306"
    );
}

#[test]
fn kernel_size_is_bounded() {
    let terms = |n: usize| {
        let names: Vec<String> = (0..n).map(|term| format!("b{term}(i)")).collect();
        let formats: Vec<String> = (0..n).map(|term| format!("b{term}=csf")).collect();
        verdict(&format!("a(i) = {}", names.join(" + ")), &formats.join(" "))
    };
    assert_eq!(terms(3), "lowerable");
    assert_eq!(terms(4), "E0305");
}
