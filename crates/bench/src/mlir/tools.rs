//! MLIR's tools, and a program that runs as long as it is measured.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use sparsec::{Diagnostic, Result, Tensor, code};

use super::program::{Kernel, text};

/// The pipeline for the dialect and for kernels of sparsec.
const PIPELINE: &str = "--sparsifier=enable-runtime-library=false";

/// The tools of LLVM 19.
pub(super) struct Tools {
    opt: OsString,
    runner: OsString,
    libraries: PathBuf,
    /// The version that `mlir-opt` states.
    pub(super) version: String,
}

impl Tools {
    /// The tools that the environment names, else those of Debian; the reason if they do not start.
    pub(super) fn find() -> std::result::Result<Self, String> {
        let named =
            |name: &str, usual: &str| std::env::var_os(name).unwrap_or_else(|| usual.into());
        let opt = named("SPARSEC_MLIR_OPT", "mlir-opt-19");
        let runner = named("SPARSEC_MLIR_RUNNER", "mlir-cpu-runner-19");
        let libraries = PathBuf::from(named("SPARSEC_MLIR_LIB", "/usr/lib/llvm-19/lib"));
        let version = |tool: &OsString| {
            let started = Command::new(tool).arg("--version").output();
            started.map_err(|error| format!("`{}` cannot be started: {error}", tool.display()))
        };
        version(&runner)?;
        let said = String::from_utf8_lossy(&version(&opt)?.stdout).into_owned();
        let mut lines = said.lines().map(str::trim);
        let version = lines.find(|line| line.contains("version"));
        Ok(Self {
            opt,
            runner,
            libraries,
            version: version.unwrap_or("MLIR").to_owned(),
        })
    }

    /// The program of a file in LLVM's dialect.
    fn lowered(&self, file: &Path) -> Result<Vec<u8>> {
        let mut opt = Command::new(&self.opt);
        output(opt.arg(file).arg(PIPELINE), "mlir-opt")
    }

    fn runner(&self, file: &Path) -> Command {
        let library = |name: &str| self.libraries.join(name).display().to_string();
        let mut runner = Command::new(&self.runner);
        runner.arg(file);
        runner.args(["-O3", "-e", "main", "-entry-point-result=void"]);
        runner.arg(format!(
            "-shared-libs={},{}",
            library("libmlir_c_runner_utils.so"),
            library("libmlir_runner_utils.so")
        ));
        runner
    }

    /// The output of a program for a matrix, from its text on.
    ///
    /// # Errors
    /// `E0010` if a tool ends with an error.
    pub(super) fn output(&self, file: &Path, matrix: &Path) -> Result<String> {
        let lowered = self.lowered(file)?;
        let lowered_file = file.with_extension("llvm.mlir");
        write(&lowered_file, &lowered)?;
        let mut runner = self.runner(&lowered_file);
        let printed = output(runner.env("TENSOR0", matrix), "mlir-cpu-runner")?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }
}

/// The output of `sparsec mlir` for the same program and matrix.
///
/// # Errors
/// `E0010` if it ends with an error.
pub(super) fn ours(program: &Path, file: &Path, matrix: &Path, cache: &Path) -> Result<String> {
    let mut command = Command::new(program);
    command.arg("mlir").arg(file).args(["--run", "main"]);
    command.env("TENSOR0", matrix);
    command.env("SPARSEC_CACHE_DIR", cache);
    let printed = output(&mut command, "sparsec")?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

fn output(command: &mut Command, name: &str) -> Result<Vec<u8>> {
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| failed(name, &error.to_string()))?;
    match ended.status.success() {
        true => Ok(ended.stdout),
        false => Err(failed(name, &String::from_utf8_lossy(&ended.stderr))),
    }
}

fn failed(name: &str, why: &str) -> Diagnostic {
    let first = why.lines().next().unwrap_or_default();
    Diagnostic::new(code::PEER_FAILED, format!("`{name}` failed: {first}"))
        .help("see whether it is that of LLVM 19, and whether there is enough memory")
}

/// A folder for files of a measurement.
///
/// # Errors
/// `E0010` if there is none.
pub(super) fn folder() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|error| failed("a temporary folder", &error.to_string()))
}

/// Writes a file.
///
/// # Errors
/// `E0010` if it cannot be written.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes)
        .map_err(|error| failed(&path.display().to_string(), &error.to_string()))
}

/// A program that has computed its result and waits for rounds.
pub(super) struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
    n_given: usize,
}

impl Running {
    /// Compiles the program of a kernel, hands over the operands, and waits for its result.
    ///
    /// # Errors
    /// `E0010` if a tool ends with an error.
    pub(super) fn start(
        tools: &Tools,
        kernel: &Kernel,
        operands: &[(&str, &Tensor)],
        result: &Tensor,
    ) -> Result<Self> {
        let folder = folder()?;
        let file = folder.path().join("kernel.mlir");
        write(&file, text(kernel, operands, result).as_bytes())?;
        let lowered = folder.path().join("lowered.mlir");
        write(&lowered, &tools.lowered(&file)?)?;
        let mut runner = tools.runner(&lowered);
        let mut n_given = 0;
        for array in operands.iter().flat_map(|(_, tensor)| tensor.arrays()) {
            let path = folder.path().join(format!("array{n_given}"));
            write(&path, array.as_bytes())?;
            runner.env(format!("TENSOR{n_given}"), path);
            n_given += 1;
        }
        for number in 0..result.arrays().len() {
            let path = folder.path().join(format!("result{number}"));
            runner.env(format!("TENSOR{}", n_given + number), path);
        }
        let mut child = runner
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("mlir-cpu-runner", &error.to_string()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("mlir-cpu-runner", "it cannot be talked to"));
        };
        let mut running = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            folder,
            n_given,
        };
        // The first line says that the result is written.
        running.line()?;
        for number in 0..running.n_given {
            let path = running.folder.path().join(format!("array{number}"));
            // It is in memory now, and files of temporary folders may be as well.
            let _ = std::fs::remove_file(path);
        }
        Ok(running)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line) {
            Ok(n) if n > 0 => Ok(line),
            _ => Err(failed("mlir-cpu-runner", "it ended early")),
        }
    }

    /// The time of one more run of the kernel.
    ///
    /// # Errors
    /// `E0010` if the program does not answer.
    pub(super) fn round(&mut self) -> Result<Duration> {
        let asked = writeln!(self.stdin).and_then(|()| self.stdin.flush());
        asked.map_err(|error| failed("mlir-cpu-runner", &error.to_string()))?;
        let line = self.line()?;
        let seconds: f64 = line
            .trim()
            .parse()
            .map_err(|_| failed("mlir-cpu-runner", &line))?;
        Ok(Duration::from_secs_f64(seconds.max(0.0)))
    }

    /// The bytes of an array of the result.
    ///
    /// # Errors
    /// `E0010` if the program did not write it.
    pub(super) fn result(&self, number: usize) -> Result<Vec<u8>> {
        let path = self.folder.path().join(format!("result{number}"));
        std::fs::read(path).map_err(|error| failed("mlir-cpu-runner", &error.to_string()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It waits for its next line, and has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
