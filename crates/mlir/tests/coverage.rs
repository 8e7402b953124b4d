//! Every operation, in every release that has it, has a filetest that reads it; and every key of
//! encodings.
//!
//! A filetest covers the releases of its own words, and those that it can be rewritten for. The
//! table of `docs/mlir.md` names a filetest for each operation, and one that runs it.
//! `SPARSEC_BLESS=1` writes the table anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparsec_base::Source;
use sparsec_mlir::{Definition, Dialect, Module};

/// A program of a filetest.
struct Program {
    /// The folder and the name, such as `run/spmv`.
    name: String,
    text: String,
    module: Module,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs of the filetests, those that run last.
fn programs() -> Vec<Program> {
    let mut found = Vec::new();
    for folder in ["print", "releases", "run"] {
        let entries = std::fs::read_dir(root().join("filetests/mlir").join(folder));
        let entries = entries.expect("a folder of filetests");
        let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a filetest");
            let head = text.lines().take_while(|line| !line.starts_with("---- "));
            let asked = head.clone().find_map(|line| {
                let (_, after) = line.strip_prefix("test mlir")?.split_once("dialect=")?;
                Dialect::parse(after.split_whitespace().next()?)
            });
            let program = head.filter(|line| !line.starts_with("test ") && !line.starts_with(';'));
            let text: String = program.map(|line| format!("{line}\n")).collect();
            let source = Source::new(path.display().to_string(), text.as_str());
            let module = Module::parse(&source, asked);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            found.push(Program {
                name: format!("{folder}/{stem}"),
                text,
                module: module.unwrap_or_else(|refusal| panic!("{refusal}")),
            });
        }
    }
    found
}

/// The operations of the dialect, those of one name for different releases each.
fn operations() -> impl Iterator<Item = &'static Definition> {
    let all = Definition::all().iter();
    all.filter(|definition| definition.name.starts_with("sparse_tensor."))
}

fn key(definition: &Definition) -> String {
    format!("{} of {}", definition.name, definition.releases)
}

#[test]
fn every_operation_has_a_filetest_in_every_release() {
    let mut missing: BTreeSet<(String, u8)> = BTreeSet::new();
    for definition in operations() {
        let releases = definition.releases.from..=definition.releases.to;
        missing.extend(releases.map(|release| (key(definition), release)));
    }
    assert!(missing.len() > 150, "{} operations", missing.len());
    for program in programs() {
        let own = program.module.dialect();
        for release in Dialect::OLDEST..=Dialect::NEWEST {
            let dialect = Dialect::Release(release);
            let read = |text: &str| Module::parse(&Source::new("text", text), Some(dialect));
            // As it is written, and in the words of the release.
            let as_written = read(&program.text).ok();
            let rewritten = program.module.rewritten(dialect).ok();
            let rewritten = rewritten.filter(|_| own != Dialect::Sparsec);
            let rewritten = rewritten.map(|module| {
                let text = module.to_string();
                let again = read(&text);
                again.unwrap_or_else(|refusal| panic!("{}: {refusal}", program.name))
            });
            for module in as_written.iter().chain(&rewritten) {
                for op in module.walk() {
                    missing.remove(&(key(module.op(op).data().definition), release));
                }
            }
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
    for program in programs() {
        for op in program.module.walk() {
            let name = program.module.op(op).name();
            missing.remove(name.split('.').next().unwrap_or(name));
        }
    }
    assert!(missing.is_empty(), "no filetest has {missing:?}");
}

#[test]
fn every_key_of_encodings_is_read_and_run() {
    let keys = [
        "dimLevelType",
        "dimOrdering",
        "higherOrdering",
        "pointerBitWidth",
        "indexBitWidth",
        "slice =",
        "lvlTypes",
        "dimToLvl",
        "dimSlices",
        "map =",
        "posWidth",
        "crdWidth",
        "explicitVal",
        "implicitVal",
        "compressed-nu\"",
        "compressed-nu-no",
        "singleton-no",
        "compressed-hi",
        "compressed-hi-nu",
        "dense",
        "batch",
        "compressed",
        "loose_compressed",
        "singleton",
        "structured[",
        "block2_4",
        "nonunique",
        "nonordered",
        "soa",
        "#sparse_tensor<slice(",
    ];
    let programs = programs();
    for key in keys {
        let is_read = programs.iter().any(|program| program.text.contains(key));
        assert!(is_read, "no filetest has `{key}`");
    }
    let run: Vec<&Program> = programs
        .iter()
        .filter(|program| program.name.starts_with("run/"))
        .collect();
    let not_run = keys.iter().filter(|key| {
        let mut run = run.iter();
        !run.any(|program| program.text.contains(**key))
    });
    let not_run: Vec<&&str> = not_run.collect();
    assert!(not_run.is_empty(), "no program that runs has {not_run:?}");
}

/// A row for each operation: its releases, a filetest, and one that runs it.
fn table(programs: &[Program]) -> String {
    let mut files: BTreeMap<String, [Option<&str>; 2]> = BTreeMap::new();
    for program in programs {
        let place = usize::from(program.name.starts_with("run/"));
        for op in program.module.walk() {
            let key = key(program.module.op(op).data().definition);
            files.entry(key).or_default()[place].get_or_insert(&program.name);
        }
    }
    let mut text = "| operation | releases | read in | run in |\n|---|---|---|---|\n".to_owned();
    for definition in operations() {
        let [read, run] = files.get(&key(definition)).copied().unwrap_or_default();
        let name = definition.name.trim_start_matches("sparse_tensor.");
        let releases = definition.releases.to_string();
        let releases = releases.split_once(' ').map_or("", |(_, rest)| rest);
        let read = read.or(run).unwrap_or_default();
        let run = run.unwrap_or_else(|| panic!("no program that runs has {}", key(definition)));
        text += &format!("| `{name}` | {releases} | {read} | {run} |\n");
    }
    text
}

#[test]
fn the_page_names_a_filetest_for_every_operation() {
    let path = root().join("docs/mlir.md");
    let page = std::fs::read_to_string(&path).expect("a page");
    let table = table(&programs());
    let begin = page.find("| operation | releases |").expect("a table");
    let end = page[begin..]
        .find("\n\n")
        .map_or(page.len(), |at| begin + at + 1);
    if std::env::var_os("SPARSEC_BLESS").is_some() {
        let written = format!("{}{table}{}", &page[..begin], &page[end..]);
        std::fs::write(&path, written).expect("the page is written");
        return;
    }
    assert_eq!(&page[begin..end], table, "SPARSEC_BLESS=1 writes the table");
}
