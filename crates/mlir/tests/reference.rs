//! The programs of the filetests, compared with MLIR itself.
//!
//! `SPARSEC_MLIR_OPT` names the `mlir-opt` of LLVM 19. Without it these tests report that they are
//! skipped. With it, every program of `filetests/mlir` that release 19 can express is printed for
//! this release, in both forms. `mlir-opt` must accept the text, and our parser must read the
//! output of `mlir-opt`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sparsec_base::Source;
use sparsec_mlir::{Dialect, Module};

/// The program in `SPARSEC_MLIR_OPT`.
fn tool() -> Option<PathBuf> {
    let tool = std::env::var_os("SPARSEC_MLIR_OPT").map(PathBuf::from);
    if tool.is_none() {
        #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
        {
            eprintln!("skipped: SPARSEC_MLIR_OPT does not name an mlir-opt of LLVM 19");
        }
    }
    tool
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

/// The valid programs of the filetests with their names.
fn programs() -> Vec<(String, Module)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/mlir");
    let mut found = Vec::new();
    for folder in ["print", "releases"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of filetests");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a filetest");
            let head = text.lines().take_while(|line| !line.starts_with("---- "));
            if head
                .clone()
                .any(|line| line.starts_with("test mlir") && line.contains("dialect="))
            {
                continue;
            }
            let program = head.filter(|line| !line.starts_with("test ") && !line.starts_with(';'));
            let program: String = program.map(|line| format!("{line}\n")).collect();
            let name = path.display().to_string();
            let module = Module::parse(&Source::new(name.as_str(), program), None);
            let module = module.unwrap_or_else(|refusal| panic!("{refusal}"));
            found.push((name, module));
        }
    }
    found
}

/// The programs that release 19 can express.
fn programs_of_today() -> Vec<(String, Module)> {
    let programs = programs().into_iter();
    let today = programs
        .filter_map(|(name, module)| Some((name, module.rewritten(Dialect::Release(19)).ok()?)));
    let today: Vec<_> = today.collect();
    assert!(
        today.len() > 12,
        "{} programs have words in release 19",
        today.len()
    );
    today
}

#[test]
fn the_reference_accepts_programs_and_is_read() {
    let Some(tool) = tool() else { return };
    for (name, module) in programs_of_today() {
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
    for (name, module) in programs_of_today() {
        let generic = module.generic();
        // The name of a structured operation determines its region.
        let is_named =
            |line: &str| line.contains("\"linalg.") && !line.contains("\"linalg.generic\"");
        let has_named = generic.lines().any(|line| {
            is_named(line)
                && !line.contains("\"linalg.yield\"")
                && !line.contains("\"linalg.index\"")
        });
        if has_named {
            continue;
        }
        if let Err(refusal) = opt(&tool, &generic, &[]) {
            panic!("{name}:\n{generic}\n{refusal}");
        }
    }
}
