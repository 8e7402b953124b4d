//! Stages as text and as pictures.

use sparsec::internals::{Inputs, Request, compile};
use sparsec::{Drawing, Program, Source, Stage};

use super::interpreter;

/// Two statements, with a temporary.
fn emitted(stage: &Stage) -> String {
    let program =
        Program::parse("t1(i,j) = B(i,k) * C(k,j); A(i,j) = t1(i,j) + D(i,j) + E(j,i)").unwrap();
    let tensors = ["t1", "A", "B", "C", "D", "E"].into_iter();
    let program = tensors.fold(program, |program, name| {
        program.format(name, "csr").unwrap()
    });
    interpreter().plan(&program).unwrap().emit(stage).unwrap()
}

#[test]
fn graphs_are_of_the_formats_of_the_program() {
    let graph = emitted(&Stage::Graph);
    assert_eq!(
        graph,
        "i -B-> k -t1-> j\nj\nk -C-> j\n\ni -t1-> j -D-> j -A-> j\nj -E-> i\n"
    );
    // The temporary of a plan is none of the statement before planning.
    let program = Program::parse("A(i,j) = B(i,k) * C(k,j) + D(i,j)").unwrap();
    let program = ["A", "B", "C", "D"]
        .into_iter()
        .fold(program, |program, name| {
            program.format(name, "csr").unwrap()
        });
    let kernel = interpreter().plan(&program).unwrap();
    assert!(kernel.emit(&Stage::Graph).unwrap().contains("-B-> k"));
}

/// Levels that store expressions over modes ask for no order of the loops over these.
#[test]
fn graphs_are_of_every_format() {
    for format in [
        "bsr(2, 2)",
        "dia",
        "ell",
        "hyb(2)",
        "hicoo(2)",
        "csb(2)",
        "alto",
        "msr",
    ] {
        let program = Program::parse("y(i) = A(i,j) * x(j)").unwrap();
        let kernel = interpreter()
            .plan(&program.format("A", format).unwrap())
            .unwrap();
        for stage in [Stage::Graph, Stage::Drawn(Drawing::Graph)] {
            assert!(kernel.emit(&stage).unwrap().contains('i'), "{format}");
        }
    }
}

#[test]
fn pictures_hold_what_the_text_says() {
    for (drawing, says) in [
        (Drawing::Graph, vec![">i</text>", ">E</text>", "#d55e00"]),
        (
            Drawing::Lattice,
            vec!["{t11, D1, E_csc1}", "forall k, visits B1"],
        ),
        (
            Drawing::Concrete,
            vec!["forall k", "w(j) += B(i,k) * C(k,j)", ">w</text>"],
        ),
    ] {
        let svg = emitted(&Stage::Drawn(drawing));
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        for part in says {
            assert!(svg.contains(part), "{drawing:?}: {part} in {svg}");
        }
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
    // Letters that XML gives a meaning are escaped.
    let program = Program::parse("y(i) = select(x(i) < 2 and x(i) > 1, x(i), 0)").unwrap();
    let kernel = interpreter().plan(&program).unwrap();
    let svg = kernel.emit(&Stage::Drawn(Drawing::Concrete)).unwrap();
    assert!(svg.contains("x(i) &lt; 2"), "{svg}");
}

#[test]
fn loops_alone_have_nothing_around_them() {
    let program = Program::parse("y(i) = A(i,j) * x(j)").unwrap();
    let kernel = interpreter().plan(&program).unwrap();
    let body = kernel.emit(&Stage::CBody).unwrap();
    assert!(
        body.starts_with("for (int64_t i = 0;") && body.ends_with("}\n"),
        "{body}"
    );
    assert!(!body.contains("return SPARSEC_OK"), "{body}");
}

#[test]
fn c_to_read_begins_with_the_kernel() {
    let request = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
    let compiled = compile(&request, &Inputs::new()).unwrap();
    let (read, file) = (compiled.c_to_read(), compiled.emit(&Stage::C).unwrap());
    assert!(read.starts_with("/*\n * The kernel compute_y"), "{read}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.retain(|line| !line.is_empty() && !line.contains("In a file"));
        lines.sort();
        lines
    };
    assert_eq!(sorted(&read), sorted(&file));
}
