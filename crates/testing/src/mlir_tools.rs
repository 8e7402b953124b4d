//! The tools of MLIR itself, for tests beside the reference.
//!
//! `SPARSEC_MLIR_OPT` and `SPARSEC_MLIR_RUNNER` name the `mlir-opt` and `mlir-cpu-runner` of LLVM 19,
//! `SPARSEC_MLIR_LIB` the folder of its libraries.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The tools and the folder of libraries.
#[derive(Clone, Debug)]
pub struct Tools {
    opt: PathBuf,
    runner: PathBuf,
    libraries: PathBuf,
}

impl Tools {
    /// The tools that the environment names; without them, a note that nothing is tested.
    pub fn of_environment() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let found = || {
            Some(Self {
                opt: path("SPARSEC_MLIR_OPT")?,
                runner: path("SPARSEC_MLIR_RUNNER")?,
                libraries: path("SPARSEC_MLIR_LIB")?,
            })
        };
        let found = found();
        if found.is_none() {
            #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
            {
                eprintln!("skipped: SPARSEC_MLIR_OPT, _RUNNER and _LIB do not name an LLVM 19");
            }
        }
        found
    }

    /// Verifies a module, and does nothing else.
    ///
    /// # Errors
    /// What `mlir-opt` says of it.
    pub fn verify(&self, module: &str) -> Result<(), String> {
        piped(&mut Command::new(&self.opt), module).map(drop)
    }

    /// The output of a program's `main`, with the files of `TENSOR0` and so on.
    ///
    /// # Errors
    /// What the tools say if they end with an error.
    pub fn run(&self, program: &str, files: &[String]) -> Result<String, String> {
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
