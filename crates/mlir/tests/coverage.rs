//! Every operation has a filetest that reads it.
//!
//! Definitions of one name for different releases count each. Definitions of other dialects than
//! `sparse_tensor` that share a line need one file only.

use std::collections::BTreeSet;
use std::path::Path;

use sparsec_base::Source;
use sparsec_mlir::{Definition, Dialect, Module};

/// The programs of the filetests.
fn programs() -> Vec<Module> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/mlir");
    let mut found = Vec::new();
    for folder in ["print", "releases"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of filetests") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a filetest");
            let head = text.lines().take_while(|line| !line.starts_with("---- "));
            let asked = head.clone().find_map(|line| {
                let (_, after) = line.strip_prefix("test mlir")?.split_once("dialect=")?;
                Dialect::parse(after.split_whitespace().next()?)
            });
            let program = head.filter(|line| !line.starts_with("test ") && !line.starts_with(';'));
            let program: String = program.map(|line| format!("{line}\n")).collect();
            let source = Source::new(path.display().to_string(), program);
            let module = Module::parse(&source, asked);
            found.push(module.unwrap_or_else(|refusal| panic!("{refusal}")));
        }
    }
    found
}

#[test]
fn every_operation_of_the_dialect_has_a_filetest() {
    let key = |definition: &Definition| format!("{} of {}", definition.name, definition.releases);
    let mut missing: BTreeSet<String> = Definition::all()
        .iter()
        .filter(|definition| definition.name.starts_with("sparse_tensor."))
        .map(key)
        .collect();
    assert!(missing.len() > 50, "{} definitions", missing.len());
    for module in programs() {
        for op in module.walk() {
            missing.remove(&key(module.op(op).data().definition));
        }
    }
    assert!(missing.is_empty(), "no filetest has\n{missing:#?}");
}

#[test]
fn every_dialect_has_filetests() {
    let mut missing: BTreeSet<&str> = Definition::all()
        .iter()
        .filter_map(|definition| definition.name.split('.').next())
        .collect();
    for module in programs() {
        for op in module.walk() {
            let name = module.op(op).name();
            missing.remove(name.split('.').next().unwrap_or(name));
        }
    }
    assert!(missing.is_empty(), "no filetest has {missing:?}");
}
