//! A folder to call the program in, and what a call did.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder to call the program in.
pub(crate) struct Place {
    folder: TempDir,
}

/// What a call did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect(name);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect(name)
    }

    /// The names of files, hidden ones included, but for the cache.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|name| name != "cache")
            .collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparsec"));
        command
            .args(words)
            .current_dir(self.path())
            .env("SPARSEC_CACHE_DIR", self.path().join("cache"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, words: &[&str]) -> Done {
        Done::of(self.command(words))
    }

    /// Runs a command of the shell, to which the program is `$0`.
    pub(crate) fn shell(&self, text: &str) -> Done {
        let mut command = Command::new("sh");
        command
            .args(["-c", text, env!("CARGO_BIN_EXE_sparsec")])
            .current_dir(self.path())
            .env("SPARSEC_CACHE_DIR", self.path().join("cache"))
            .stdin(Stdio::null());
        Done::of(command)
    }

    /// Calls the program where no file may grow beyond so many blocks.
    pub(crate) fn call_limited(&self, blocks: u32, words: &[&str]) -> Done {
        self.call_bounded(&format!("-f {blocks}"), words)
    }

    /// Calls the program where a process has so many kilobytes of addresses.
    pub(crate) fn call_with_addresses(&self, kilobytes: u32, words: &[&str]) -> Done {
        self.call_bounded(&format!("-v {kilobytes}"), words)
    }

    /// Calls the program where the first thread has this many kilobytes of stack.
    pub(crate) fn call_with_stack(&self, kilobytes: u32, words: &[&str]) -> Done {
        self.call_bounded(&format!("-s {kilobytes}"), words)
    }

    fn call_bounded(&self, bound: &str, words: &[&str]) -> Done {
        let limited = format!("ulimit {bound}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &limited, env!("CARGO_BIN_EXE_sparsec")])
            .args(words)
            .current_dir(self.path())
            .env("SPARSEC_CACHE_DIR", self.path().join("cache"))
            .stdin(Stdio::null());
        Done::of(command)
    }
}

impl Done {
    fn of(mut command: Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("the program");
        Self {
            code: status.code(),
            stdout: String::from_utf8(stdout).expect("UTF-8"),
            stderr: String::from_utf8(stderr).expect("UTF-8"),
        }
    }

    /// The call went well; what it printed.
    #[track_caller]
    pub(crate) fn answer(self) -> String {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (Some(0), ""),
            "{}",
            self.stdout
        );
        self.stdout
    }

    /// The call went well, and noted this; what it printed.
    #[track_caller]
    pub(crate) fn noted(self, text: &str) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        assert!(self.stderr.contains(text), "{}", self.stderr);
        self.stdout
    }

    /// The call failed with this exit code, and said all of this.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        for text in texts {
            assert!(
                self.stderr.contains(text),
                "`{text}` is not in\n{}",
                self.stderr
            );
        }
        assert_eq!(self.stdout, "");
    }
}

pub(crate) const MATRIX: &str = "\
%%MatrixMarket matrix coordinate real general
3 4 4
1 1 2
1 4 1
3 2 3
3 3 -1
";

/// A product of a file's matrix and ones, by the interpreter.
pub(crate) const PRODUCT: [&str; 8] = [
    "run",
    "y(i) = A(i,j) * x(j)",
    "-i",
    "A=a.mtx",
    "-g",
    "x=dense:ones",
    "--backend",
    "interp",
];

pub(crate) fn with_matrix() -> Place {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    place
}
