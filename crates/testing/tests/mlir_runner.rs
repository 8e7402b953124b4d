//! The output of programs of MLIR, compared with MLIR's own runner.
//!
//! `SPARSEC_MLIR_OPT` and `SPARSEC_MLIR_RUNNER` name the `mlir-opt` and `mlir-cpu-runner` of LLVM 19,
//! `SPARSEC_MLIR_LIB` the folder of its libraries. Without them the test reports that it is skipped.
//! With them, every program of `filetests/mlir/run` in the words of release 19 runs on both. Their
//! output must be equal, but for addresses.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that the reference does not run, with the reason.
const FAULTS: &[(&str, &str)] = &[
    (
        "conv.txt",
        "the workspace of a sparse result is not initialised",
    ),
    (
        "insert.txt",
        "insertions into columns leave a conversion behind",
    ),
    (
        "iterate.txt",
        "iteration spaces are not lowered by the pipeline",
    ),
    ("null.txt", "the writer of a null path crashes"),
    ("rest.txt", "the sizes of an unordered list crash"),
];

/// The tools and the folder of libraries.
struct Reference {
    opt: PathBuf,
    runner: PathBuf,
    libraries: PathBuf,
}

impl Reference {
    fn of_environment() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let found = Self {
            opt: path("SPARSEC_MLIR_OPT")?,
            runner: path("SPARSEC_MLIR_RUNNER")?,
            libraries: path("SPARSEC_MLIR_LIB")?,
        };
        Some(found)
    }

    /// The output of a program.
    fn run(&self, program: &str, files: &[String]) -> Result<String, String> {
        let pipeline = "--sparsifier=enable-runtime-library=false";
        let lowered = piped(Command::new(&self.opt).arg(pipeline), program)?;
        let library = |name: &str| self.libraries.join(name).display().to_string();
        let mut runner = Command::new(&self.runner);
        runner.args(["-O1", "-e", "main", "-entry-point-result=void"]);
        runner.arg(format!(
            "-shared-libs={},{}",
            library("libmlir_c_runner_utils.so"),
            library("libmlir_runner_utils.so")
        ));
        for (number, file) in files.iter().enumerate() {
            runner.env(format!("TENSOR{number}"), file);
        }
        piped(&mut runner, &lowered)
    }
}

/// The output of a command for an input.
fn piped(command: &mut Command, input: &str) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // The command may write before it has read everything.
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let _ = writer.join();
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

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
    let Some(reference) = Reference::of_environment() else {
        #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
        {
            eprintln!("skipped: SPARSEC_MLIR_OPT, _RUNNER and _LIB do not name an LLVM 19");
        }
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries =
        std::fs::read_dir(root.join("filetests/mlir/run")).expect("a folder of filetests");
    let mut n_compared = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect("a filetest");
        let (source, dialect, _) = sparsec_testing::mlir::program(&name, &text);
        if dialect.is_some() || FAULTS.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let (_, expected) = text.split_once("---- run\n").expect("a section `run`");
        let expected: Vec<&str> = expected
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            .collect();
        let files = sparsec_testing::mlir::files(&text);
        let printed = reference
            .run(source.text(), &files)
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(
            without_addresses(&printed).trim_end(),
            without_addresses(&expected.join("\n")).trim_end(),
            "{name}"
        );
        n_compared += 1;
    }
    assert!(n_compared > 15, "{n_compared} programs were compared");
}
