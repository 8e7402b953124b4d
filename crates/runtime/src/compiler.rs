//! The C compiler of this machine.
//!
//! A compiler is found ([`Compiler::detect`]), asked for its version and tried
//! with each flag that we would like to use. That takes some tenths of a second,
//! so what was found is kept in the cache under the compiler's path, size and
//! times of change, and asked again only when one of them differs. The same, with
//! version and flags, is part of every kernel's key: a changed compiler finds no
//! kernel of the old one.
//!
//! | flags                              | why                                            |
//! |------------------------------------|------------------------------------------------|
//! | `-fwrapv -ffp-contract=off`        | the meaning of the loop IR                     |
//! | `-fno-builtin-exp …`               | constants go through the library as well, so that they round as everywhere |
//! | `-fno-math-errno -fno-trapping-math` | nobody looks at `errno` or at trap flags     |
//! | `-O3 -march=native -fno-loop-unroll-and-jam` | speed; the last because gcc jams loops over sparse segments |
//! | `-nostdlib -pipe -w`               | latency: no start files, no temporary files, no warnings |
//! | `-Wl,-Bsymbolic -Wl,--as-needed`   | a kernel's names bind to the kernel's own, and it loads only what it calls |

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sparsec_base::cancel::{Cancel, cancelled};
use sparsec_base::{Diagnostic, Result, code};

use crate::cache::{Cache, Library, Work};
use crate::environment::Environment;
use crate::key::{Key, KeyBuilder};
use crate::process;

/// Flags without which the C does not mean what it should.
const REQUIRED: &[&str] = &[
    "-std=c11",
    "-shared",
    "-fPIC",
    "-fwrapv",
    "-ffp-contract=off",
];

/// Flags that each compiler is tried with.
const WANTED: &[&str] = &[
    "-O3",
    "-march=native",
    "-fno-loop-unroll-and-jam",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-builtin-exp",
    "-fno-builtin-log",
    "-fno-builtin-pow",
    "-fno-builtin-sin",
    "-fno-builtin-cos",
    "-fno-builtin-tan",
    "-fno-builtin-asin",
    "-fno-builtin-acos",
    "-fno-builtin-atan",
    "-fno-builtin-sinh",
    "-fno-builtin-cosh",
    "-fno-builtin-exp2",
    "-fno-builtin-expm1",
    "-fno-builtin-log2",
    "-fno-builtin-log10",
    "-fno-builtin-log1p",
    "-fno-builtin-cbrt",
    "-fno-builtin-tanh",
    "-fno-builtin-hypot",
    "-fno-builtin-atan2",
    "-fno-builtin-asinh",
    "-fno-builtin-acosh",
    "-fno-builtin-atanh",
    "-fno-builtin-erf",
    "-nostdlib",
    "-pipe",
    "-w",
    "-Wl,-Bsymbolic",
    "-Wl,--as-needed",
];

/// The C of a kernel, in the directory that it is compiled in.
const SOURCE: &str = "kernel.c";

/// The library that the compiler makes of it there.
pub(crate) const LIBRARY: &str = "kernel.so";

/// Names to look for where no variable names one.
const USUAL: &[&str] = &["cc", "gcc", "clang"];

/// A C compiler that was found and probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    path: PathBuf,
    /// Arguments that the user put behind the compiler's name.
    first: Vec<OsString>,
    version: String,
    flags: Vec<String>,
    /// Path, size and times of change of the program.
    identity: String,
}

impl Compiler {
    /// Finds the compiler that the environment names and learns what it can do.
    ///
    /// # Errors
    /// `E0501` if there is none, `E0502` if it does not compile an empty file,
    /// `E0507` if it says so but does nothing, `E0509` if it does not end.
    pub fn detect(environment: &Environment, cache: &Cache) -> Result<Self> {
        Self::detect_until(environment, cache, &Cancel::default())
    }

    /// As [`Compiler::detect`], unless it is cancelled.
    pub(crate) fn detect_until(
        environment: &Environment,
        cache: &Cache,
        cancel: &Cancel,
    ) -> Result<Self> {
        let mut compiler = Self::found(environment)?;
        if is_script(&compiler.path) {
            let version = compiler.ask_version(Patience {
                limit: PROBE_LIMIT,
                cancel,
            })?;
            compiler.identity.push_str(&version);
        }
        let key = compiler.key();
        if !compiler.recall_from(cache, key) {
            let _turn = cache.turn(key, cancel);
            if !compiler.recall_from(cache, key) {
                compiler.probe(cache, cancel)?;
                cache.keep_compiler(key, &compiler.description());
            }
        }
        Ok(compiler)
    }

    /// The compiler that the environment names, if all that has to be known of it
    /// is in the cache: nothing is run.
    pub(crate) fn known(environment: &Environment, cache: &Cache) -> Option<Self> {
        let mut compiler = Self::found(environment).ok()?;
        let key = compiler.key();
        let known = !is_script(&compiler.path) && compiler.recall_from(cache, key);
        known.then_some(compiler)
    }

    /// The program alone, of which nothing is known yet.
    fn found(environment: &Environment) -> Result<Self> {
        let (path, first) = find(environment)?;
        Ok(Self {
            identity: identity(&path, &first),
            path,
            first,
            version: String::new(),
            flags: Vec::new(),
        })
    }

    /// The key of what probing it finds.
    fn key(&self) -> Key {
        KeyBuilder::new("compiler")
            .part("identity", self.identity.as_bytes())
            .part("flags", WANTED.join(" ").as_bytes())
            .part("cpu", &crate::key::cpu_features())
            .finish()
    }

    fn recall_from(&mut self, cache: &Cache, key: Key) -> bool {
        let kept = cache.compiler(key);
        kept.is_some_and(|text| self.recall(&text))
    }

    /// The program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first line of what it says of its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The flags that kernels are compiled with, and that a benchmark against
    /// hand-written C should use.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// The key of the kernel that this compiler makes of `text`.
    pub(crate) fn kernel_key(&self, text: &str) -> Key {
        KeyBuilder::new("kernel")
            .part("text", text.as_bytes())
            .part("compiler", self.identity.as_bytes())
            .part("compiler version", self.version.as_bytes())
            .part("flags", self.flags.join("\0").as_bytes())
            .part("cpu", &crate::key::cpu_features())
            .finish()
    }

    /// Compiles `text` in the directory `work`, to its file [`LIBRARY`]; the library.
    ///
    /// # Errors
    /// `E0502` with what the compiler printed, `E0507` if it made no library, `E0509`
    /// if it did not end.
    pub(crate) fn compile(&self, text: &str, work: &Work, cancel: &Cancel) -> Result<Library> {
        let patience = Patience {
            limit: LIMIT,
            cancel,
        };
        self.make_library(text, &self.flags, work, patience)
    }

    fn make_library(
        &self,
        text: &str,
        flags: &[String],
        work: &Work,
        patience: Patience<'_>,
    ) -> Result<Library> {
        work.write(SOURCE, text.as_bytes())
            .map_err(|error| compile_failed(&self.path, &format!("{SOURCE}: {error}")))?;
        let mut command = self.command();
        command.args(flags).args([SOURCE, "-o", LIBRARY, "-lm"]);
        work.enter(&mut command);
        run(&self.path, &mut command, patience)?;
        match work.library(LIBRARY) {
            Ok(library) if !library.bytes.is_empty() => Ok(library),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let text = format!("{LIBRARY} cannot be read: {error}");
                Err(compile_failed(&self.path, &text))
            }
            _ => Err(no_library(&self.path)),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.first)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        command
    }

    /// The first line of what the compiler says of its version.
    fn ask_version(&self, patience: Patience<'_>) -> Result<String> {
        let output = run(&self.path, self.command().arg("--version"), patience)?;
        Ok(output.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Asks the compiler for its version and tries the flags.
    fn probe(&mut self, cache: &Cache, cancel: &Cancel) -> Result<()> {
        let patience = Patience {
            limit: PROBE_LIMIT,
            cancel,
        };
        self.version = self.ask_version(patience)?;
        // A compiler that is killed has refused nothing: every attempt counts
        // only when it failed twice.
        let compiles = |flags: &[String]| {
            let text = "int sparsec_probe(void) { return 0; }\n";
            let flags = [flags, &["-Werror".to_owned()]].concat();
            cache
                .attempt(|work| self.make_library(text, &flags, work, patience))
                .map(|_| ())
        };
        // One that hangs does so with other flags too.
        let accepts = |flags: &[String]| match compiles(flags) {
            Err(error) if error.code() == code::COMPILER_HANGS => Err(error),
            tried => Ok(tried.is_ok()),
        };
        let mut flags: Vec<String> = REQUIRED.iter().map(|&flag| flag.to_owned()).collect();
        let mut all = flags.clone();
        all.extend(WANTED.iter().map(|&flag| flag.to_owned()));
        if accepts(&all)? {
            flags = all;
        } else {
            compiles(&flags)?;
            for &flag in WANTED {
                flags.push(flag.to_owned());
                if !accepts(&flags)? {
                    flags.pop();
                }
            }
        }
        self.flags = flags;
        Ok(())
    }

    /// What the cache keeps: the version, then a line for each flag.
    fn description(&self) -> String {
        let mut text = format!("{}\n", self.version);
        for flag in &self.flags {
            text.push_str(flag);
            text.push('\n');
        }
        text.push_str("end\n");
        text
    }

    /// Takes over a [`description`](Self::description), if it is one.
    fn recall(&mut self, text: &str) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let [version, flags @ .., "end"] = lines.as_slice() else {
            return false;
        };
        let known = |flag: &&str| REQUIRED.contains(flag) || WANTED.contains(flag);
        if !flags.iter().all(known) || !REQUIRED.iter().all(|flag| flags.contains(flag)) {
            return false;
        }
        self.version = (*version).to_owned();
        self.flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        true
    }
}

/// The program that the environment names, with its first arguments.
fn find(environment: &Environment) -> Result<(PathBuf, Vec<OsString>)> {
    let missing = |tried: &str| {
        Diagnostic::new(
            code::NO_COMPILER,
            "there is no C compiler to compile kernels with",
        )
        .note(format!("tried: {tried}"))
        .help(
            "install gcc, name a compiler in SPARSEC_CC, or run without one: `Backend::Cranelift`",
        )
    };
    if let Some(wanted) = &environment.sparsec_cc {
        return locate(wanted, environment)
            .ok_or_else(|| missing(&format!("SPARSEC_CC={}", wanted.display())));
    }
    let mut tried = String::new();
    if let Some(wanted) = &environment.cc {
        if let Some(found) = locate(wanted, environment) {
            return Ok(found);
        }
        tried = format!("CC={}, ", wanted.display());
    }
    USUAL
        .iter()
        .find_map(|name| locate(OsStr::new(name), environment))
        .ok_or_else(|| missing(&format!("{tried}{} in PATH", USUAL.join(", "))))
}

/// Finds a program given by path or by name; what follows a space are arguments,
/// unless the whole is a path.
fn locate(wanted: &OsStr, environment: &Environment) -> Option<(PathBuf, Vec<OsString>)> {
    if let Some(path) = program(Path::new(wanted), environment) {
        return Some((path, Vec::new()));
    }
    let mut words = wanted.to_str()?.split_whitespace();
    let path = program(Path::new(words.next()?), environment)?;
    Some((path, words.map(OsString::from).collect()))
}

fn program(wanted: &Path, environment: &Environment) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    // It is run in another directory than ours.
    let absolute = |path: PathBuf| std::path::absolute(path).ok();
    if wanted.components().count() > 1 {
        return absolute(wanted.to_owned()).filter(runs);
    }
    let path = environment.path.as_ref()?;
    std::env::split_paths(path)
        .filter_map(|folder| absolute(folder.join(wanted)))
        .find(runs)
}

/// What tells one compiler from another without running it. The time of its last
/// change in any way is part of it, as copying may keep size and time of writing.
fn identity(path: &Path, first: &[OsString]) -> String {
    // Names like `cc` are links; what they lead to is what changes.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let seen = fs::metadata(&real).map(|data| {
        let written = (data.mtime(), data.mtime_nsec());
        (data.size(), written, (data.ctime(), data.ctime_nsec()))
    });
    format!("{path:?} {real:?} {first:?} {:?}", seen.ok())
}

/// Whether the program is a script, which may run another compiler than it did
/// without having changed: such a one is asked for its version each time.
fn is_script(path: &Path) -> bool {
    let mut first = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"#!"
}

/// How long a compiler may take: many times what the largest kernel needs.
const LIMIT: Duration = Duration::from_secs(60);

/// How long it may take to say its version, or to compile next to nothing.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// How long a compiler is waited for.
#[derive(Clone, Copy)]
struct Patience<'a> {
    limit: Duration,
    cancel: &'a Cancel,
}

/// Runs a compiler; what it printed.
fn run(path: &Path, command: &mut Command, patience: Patience<'_>) -> Result<String> {
    let output = process::output(command, patience.cancel, patience.limit).map_err(|error| {
        match error.kind() {
            io::ErrorKind::TimedOut => hangs(path, &error),
            io::ErrorKind::Interrupted if patience.cancel.is_set() => cancelled(),
            _ => compile_failed(path, &error.to_string()),
        }
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let mut printed = printed.trim().to_owned();
    if printed.is_empty() {
        printed = format!("it ended with {}", output.status);
    }
    Err(compile_failed(path, &printed))
}

/// Lines of a compiler's output that are shown.
const SHOWN_LINES: usize = 20;

fn compile_failed(path: &Path, printed: &str) -> Diagnostic {
    let lines: Vec<&str> = printed.lines().collect();
    let mut shown = lines[..lines.len().min(SHOWN_LINES)].join("\n");
    if lines.len() > SHOWN_LINES {
        shown.push_str("\n…");
    }
    let message = format!("the C compiler `{}` failed", path.display());
    Diagnostic::new(code::COMPILE_FAILED, message)
        .note(shown)
        .help("try another compiler with SPARSEC_CC, or run without one: `Backend::Cranelift`")
}

fn hangs(path: &Path, why: &io::Error) -> Diagnostic {
    let message = format!("the C compiler `{}` does not end", path.display());
    Diagnostic::new(code::COMPILER_HANGS, message)
        .note(why.to_string())
        .help("try another compiler with SPARSEC_CC, or run without one: `Backend::Cranelift`")
}

fn no_library(path: &Path) -> Diagnostic {
    let message = format!(
        "the C compiler `{}` ended without an error but wrote no library",
        path.display()
    );
    Diagnostic::new(code::NO_LIBRARY, message)
        .help("name a C compiler in SPARSEC_CC, or run without one: `Backend::Cranelift`")
}
