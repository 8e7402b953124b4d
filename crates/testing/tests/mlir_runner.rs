//! The output of programs of MLIR, compared with MLIR's own runner.
//!
//! Without the [tools](sparsec_testing::mlir_tools) the test reports that it is skipped. With them,
//! every program of `filetests/mlir/run` that release 19 can express runs on both, those of other
//! releases in the words of release 19. Their output must be equal, but for addresses.

use std::path::Path;

use sparsec::internals::mlir::{Dialect, Module};
use sparsec_testing::mlir_tools::Tools;

/// Programs that the reference does not run, with the reason.
const FAULTS: &[(&str, &str)] = &[
    (
        "bits-of-tensors.txt",
        "`tensor.bitcast` is not lowered by the pipeline",
    ),
    (
        "present-coordinates.txt",
        "`arith.maximumf` beside operators of the program is not lowered by the pipeline",
    ),
    (
        "present-selects.txt",
        "`arith.select` beside operators of the program is not lowered by the pipeline",
    ),
    (
        "present-products.txt",
        "its tool crashes on a sum with a number as a factor of a result of `unary`",
    ),
    (
        "lines-in-order.txt",
        "a writer of the null path reads from it",
    ),
    (
        "columns-first-parts.txt",
        "parts of a tensor whose levels are all dense are not lowered by the pipeline",
    ),
    (
        "unsigned-sparse.txt",
        "`maxui` of sparse operands is not lowered by the pipeline",
    ),
    (
        "bodies-anywhere.txt",
        "a branch in a body over sparse operands is not lowered by the pipeline",
    ),
    (
        "present-numbers.txt",
        "`reduce` of a choice is not lowered by the pipeline",
    ),
    (
        "selected-sums.txt",
        "arithmetic on a result of `select` is not lowered by the pipeline",
    ),
    (
        "stored-outputs.txt",
        "a branch in a body over sparse operands is not lowered by the pipeline",
    ),
    (
        "repeated-in-bodies.txt",
        "a branch in a body over sparse operands is not lowered by the pipeline",
    ),
    (
        "batches.txt",
        "entries are counted in the first batch alone, and `disassemble` wants outputs of just the right extents",
    ),
    (
        "max-sparse.txt",
        "the zeros that are not stored are left out of a maximum",
    ),
    (
        "output-twice.txt",
        "the sparsifier fails on an output that a reduction uses twice",
    ),
    (
        "converted-types.txt",
        "a conversion of types of entries is not lowered by the pipeline",
    ),
    (
        "conv.txt",
        "the workspace of a sparse result is not initialised",
    ),
    (
        "effects-rows.txt",
        "its analysis does not follow `compress` through loops of a program",
    ),
    (
        "file13.txt",
        "release 19 reads one triangle of a symmetric file",
    ),
    (
        "insert.txt",
        "insertions into columns leave a conversion behind",
    ),
    (
        "entries16.txt",
        "release 19 lacks the functions that read and write entry by entry",
    ),
    (
        "in-place14.txt",
        "later releases compute no result in an argument",
    ),
    (
        "insert-slices.txt",
        "insertions of sparse slices are not lowered by the pipeline",
    ),
    (
        "iterate.txt",
        "iteration spaces are not lowered by the pipeline",
    ),
    ("old14.txt", "the writer of a null path crashes"),
    ("null.txt", "the writer of a null path crashes"),
    (
        "unique-singleton.txt",
        "entries of one coordinate of the level above are lost",
    ),
    ("rest.txt", "the sizes of an unordered list crash"),
];

/// Output without addresses.
fn without_addresses(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| match line.split_once("base@ = 0x") {
            Some((before, after)) => {
                let rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
                format!("{before}{rest}")
            }
            None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_print_what_the_reference_prints() {
    let Some(reference) = Tools::of_environment() else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries =
        std::fs::read_dir(root.join("filetests/mlir/run")).expect("a folder of filetests");
    let (mut n_compared, mut n_rewritten) = (0, 0);
    let mut differ = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect("a filetest");
        if FAULTS.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let (source, dialect, _) = sparsec_testing::mlir::program(&name, &text);
        let program = match dialect {
            None => source.text().to_owned(),
            Some(dialect) => {
                let module = Module::parse(&source, Some(dialect)).expect("a program");
                let Ok(today) = module.rewritten(Dialect::Release(19)) else {
                    continue;
                };
                n_rewritten += 1;
                today.to_string()
            }
        };
        let (_, expected) = text.split_once("---- run\n").expect("a section `run`");
        let expected: Vec<&str> = expected
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            .collect();
        let files = sparsec_testing::mlir::files(&text);
        n_compared += 1;
        let expected = without_addresses(&expected.join("\n"));
        match reference.run(&program, &files) {
            Ok(printed) => {
                let printed = without_addresses(&printed);
                if printed.trim_end() != expected.trim_end() {
                    differ.push(format!("{name} prints\n{printed}\nand not\n{expected}"));
                }
            }
            Err(fault) => differ.push(format!("{name}: {fault}")),
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
    assert!(n_compared > 20, "{n_compared} programs were compared");
    assert!(n_rewritten > 4, "{n_rewritten} of other releases");
}
