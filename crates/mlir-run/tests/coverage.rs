//! Every operation has a filetest that runs it.
//!
//! An operation counts with the definition that its program has: `sparse_tensor.new` of release 14
//! and of release 19 count each. Of other dialects a name counts once.

use std::collections::BTreeSet;
use std::path::Path;

use sparsec_base::Source;
use sparsec_mlir::{Definition, Dialect, Module};

/// Operations that no program runs, with the reason.
const NOT_RUN: &[(&str, &str)] = &[("func.constant", "no operation calls a value")];

/// The programs of `filetests/mlir/run`.
fn programs() -> Vec<Module> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/mlir/run");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of filetests") {
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
    found
}

fn key(definition: &Definition) -> String {
    match definition.name.starts_with("sparse_tensor.") {
        true => format!("{} of {}", definition.name, definition.releases),
        false => definition.name.to_owned(),
    }
}

#[test]
fn every_operation_is_run() {
    let mut missing: BTreeSet<String> = Definition::all().iter().map(key).collect();
    assert!(missing.len() > 250, "{} operations", missing.len());
    for module in programs() {
        for op in module.walk() {
            missing.remove(&key(module.op(op).data().definition));
        }
    }
    for (name, _) in NOT_RUN {
        missing.remove(*name);
    }
    assert!(missing.is_empty(), "no filetest runs\n{missing:#?}");
}
