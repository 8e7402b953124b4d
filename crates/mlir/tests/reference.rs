//! The programs of the filetests, compared with MLIR itself.
//!
//! `SPARSEC_MLIR_OPT` names the `mlir-opt` of LLVM 19. Without it these tests report that they are
//! skipped. With it, every program of `filetests/mlir` that release 19 can express is printed for
//! this release, in both forms. `mlir-opt` must accept the text, and our parser must read the
//! output of `mlir-opt`.
//!
//! `SPARSEC_MLIR_OPT_13` to `_16` name those of earlier releases, which must accept the same programs
//! in their words. `SPARSEC_MLIR_PYTHON_17`, `_18` and `_20` name a Python with the wheel of `jaxlib`
//! that `verify.py` tells, which must accept them in the generic form.
//!
//! `mlir-opt` must refuse the programs of `filetests/mlir/error` that break a rule of MLIR.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sparsec_base::Source;
use sparsec_mlir::{Dialect, Module};

/// The program in an environment variable.
fn tool_of(variable: &str) -> Option<PathBuf> {
    let tool = std::env::var_os(variable).map(PathBuf::from);
    if tool.is_none() {
        #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
        {
            eprintln!("skipped: {variable} does not name an mlir-opt of its release");
        }
    }
    tool
}

fn tool() -> Option<PathBuf> {
    tool_of("SPARSEC_MLIR_OPT")
}

/// The output of the tool for a text.
fn opt(tool: &Path, text: &str, arguments: &[&str]) -> Result<String, String> {
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("the tool reads");
    drop(input);
    let output = child.wait_with_output().expect("the tool ends");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The files of a folder of filetests of MLIR.
fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/mlir");
    let entries = std::fs::read_dir(root.join(folder)).expect("a folder of filetests");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// The lines of a filetest before its first section.
fn head(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.lines().take_while(|line| !line.starts_with("---- "))
}

/// The program of a filetest.
fn program(text: &str) -> String {
    let lines = head(text).filter(|line| !line.starts_with("test ") && !line.starts_with(';'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The valid programs of the filetests with their names, but for those with words of sparsec.
fn programs() -> Vec<(String, Module)> {
    let mut found = Vec::new();
    for folder in ["print", "releases", "run"] {
        for path in files(folder) {
            let text = std::fs::read_to_string(&path).expect("a filetest");
            let asked = head(&text).find_map(|line| {
                let (_, after) = line.strip_prefix("test mlir")?.split_once("dialect=")?;
                Dialect::parse(after.split_whitespace().next()?)
            });
            if asked == Some(Dialect::Sparsec) {
                continue;
            }
            let name = path.display().to_string();
            let module = Module::parse(&Source::new(name.as_str(), program(&text)), asked);
            let module = module.unwrap_or_else(|refusal| panic!("{refusal}"));
            found.push((name, module));
        }
    }
    found
}

/// The programs that a release can express, in its words.
fn programs_of(release: u8) -> Vec<(String, Module)> {
    let programs = programs().into_iter();
    let found = programs.filter_map(|(name, module)| {
        Some((name, module.rewritten(Dialect::Release(release)).ok()?))
    });
    let found: Vec<_> = found.collect();
    assert!(
        found.len() > 5,
        "{} programs have words in release {release}",
        found.len()
    );
    found
}

/// Whether the operation of a line has a region that its name determines.
fn is_named(line: &str) -> bool {
    let others = ["generic", "yield", "index"];
    line.contains("\"linalg.")
        && !others
            .iter()
            .any(|it| line.contains(&format!("\"linalg.{it}\"")))
}

#[test]
fn the_reference_accepts_programs_and_is_read() {
    let Some(tool) = tool() else { return };
    for (name, module) in programs_of(19) {
        let printed = opt(&tool, &module.to_string(), &[]);
        let printed = printed.unwrap_or_else(|refusal| panic!("{name}:\n{module}\n{refusal}"));
        let generic =
            opt(&tool, &module.to_string(), &["--mlir-print-op-generic"]).expect("it was accepted");
        let mut read = Vec::new();
        for text in [&printed, &generic] {
            let source = Source::new("mlir-opt", text.as_str());
            let again =
                Module::parse(&source, None).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            again
                .verify()
                .unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            read.push(again);
        }
        // The tool must print the same text for our print of its own print.
        for again in read {
            let twice = opt(&tool, &again.to_string(), &[])
                .unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            assert_eq!(twice, printed, "{name}");
        }
    }
}

#[test]
fn the_reference_accepts_the_generic_form() {
    let Some(tool) = tool() else { return };
    for (name, module) in programs_of(19) {
        let generic = module.generic();
        // The name of a structured operation determines its region.
        if generic.lines().any(is_named) {
            continue;
        }
        if let Err(refusal) = opt(&tool, &generic, &[]) {
            panic!("{name}:\n{generic}\n{refusal}");
        }
    }
}

#[test]
fn earlier_references_accept_their_words() {
    let mut faults = Vec::new();
    for release in 13..=16 {
        let Some(tool) = tool_of(&format!("SPARSEC_MLIR_OPT_{release}")) else {
            continue;
        };
        for (name, module) in programs_of(release) {
            for text in [module.to_string(), module.generic()] {
                // The name of a structured operation determines its region.
                if text.lines().any(is_named) {
                    continue;
                }
                if let Err(refusal) = opt(&tool, &text, &[]) {
                    faults.push(format!("release {release}, {name}:\n{text}\n{refusal}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Words of programs that the library for release 17 cannot judge.
const UNKNOWN_TO_17: [(&str, &str); 2] = [
    (
        "sparse_tensor.unpack",
        "it gives lengths only since weeks later",
    ),
    (
        "func.call",
        "a loop around it, of an unknown dialect, hides the function",
    ),
];

#[test]
fn libraries_of_other_releases_accept_their_words() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify.py");
    let mut faults = Vec::new();
    for release in [17, 18, 20] {
        let variable = format!("SPARSEC_MLIR_PYTHON_{release}");
        let Some(python) = tool_of(&variable) else {
            continue;
        };
        let mut programs = programs_of(release);
        programs.retain(|(_, module)| {
            let text = module.generic();
            // The wheels lack the dialect of these attributes.
            let has_complex = text.contains("#complex.number");
            !has_complex
                && (release != 17 || !UNKNOWN_TO_17.iter().any(|(word, _)| text.contains(word)))
        });
        let folder = std::env::temp_dir().join(format!("sparsec-verify-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut paths = Vec::new();
        for (number, (_, module)) in programs.iter().enumerate() {
            let path = folder.join(format!("{release}-{number}.mlir"));
            std::fs::write(&path, module.generic()).expect("a file");
            paths.push(path);
        }
        let output = Command::new(python).arg(&script).args(&paths).output();
        let output = output.expect("Python runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let answers = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(answers.lines().count(), programs.len(), "{told}");
        for ((name, module), answer) in programs.iter().zip(answers.lines()) {
            if answer != "accepted" {
                let text = module.generic();
                faults.push(format!("release {release}, {name}:\n{text}\n{answer}"));
            }
        }
        std::fs::remove_dir_all(&folder).expect("our folder");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Programs that break no rule of MLIR, by the start of their names, with the reason of our refusal.
const STRICTER: [(&str, &str); 28] = [
    ("E0406-width", "found in a run"),
    ("E1002-dialect", "a type of a dialect without tensors"),
    ("E1003-encoding", "an encoding of another dialect"),
    ("E1005-key", "the last of two values of a key counts there"),
    ("E1007-nested", "a limit of ours"),
    ("E1010-counter16", "a rule of releases up to 16"),
    ("E1010-step16", "a rule of releases up to 16"),
    ("E1011-reorder-map", "said, and not refused"),
    ("E1013-order", "an order is not looked at before it is used"),
    ("E1016-computed", "found in a run"),
    ("E1016-dim16", "a rule of releases up to 16"),
    ("E1016-sort", "a length is not looked at before it is used"),
    ("E1016-too-many", "a product of 2^128 is 0 there"),
    (
        "E1017-listed-twice",
        "the last of them counts there, or both",
    ),
    ("E1017-product", "a product of 2^128 is 0 there"),
    (
        "E1025-implicit",
        "a fill that is not zero has no kernels there",
    ),
    ("E1027-symbol", "no format has the map"),
    ("E1031-dense", "the array is empty there"),
    ("E1031-specifier", "the array is empty there"),
    ("E1035-reduced-output", "a rule of releases up to 15"),
    ("E1036-batch", "modes are not counted before they are used"),
    (
        "E1036-tuples",
        "a length is not looked at before it is used",
    ),
    ("E1039-", "uses after a release are undefined there"),
    ("E1050-declared", "another release is asked for"),
    ("E1050-encoding", "another release is asked for"),
    ("E1050-operation", "another release is asked for"),
    ("E1050-unused", "another release is asked for"),
    ("E106", "found in a run"),
];

#[test]
fn the_reference_refuses_what_we_refuse() {
    let Some(tool) = tool() else { return };
    let mut faults = Vec::new();
    for path in files("error") {
        let text = std::fs::read_to_string(&path).expect("a filetest");
        let name = path.file_stem().expect("a name").to_string_lossy();
        // Formats that MLIR lacks, and words of other releases, are refused by both, for other reasons.
        let is_unknown = text.contains("dialect=sparsec") || text.contains("dialect=17");
        let is_stricter = !is_unknown && STRICTER.iter().any(|(start, _)| name.starts_with(start));
        match opt(&tool, &program(&text), &[]) {
            Ok(_) if !is_stricter => faults.push(format!("accepted: {name}")),
            Err(refusal) if is_stricter => faults.push(format!("refused: {name}: {refusal}")),
            _ => {}
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
