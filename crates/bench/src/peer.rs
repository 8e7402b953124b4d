//! Python in a process of its own, asked for one thing at a time.
//!
//! The process stays, so that neither its start nor its imports are timed, and
//! both sides can take turns. It times itself; see `io/peer.py` and
//! `peers.py`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use sparsec::{Diagnostic, Result, code};

/// A running Python with SciPy.
pub(crate) struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What it says first: what it has.
    pub(crate) hello: Value,
}

impl Peer {
    /// Starts the Python that `SPARSEC_PYTHON` names, else `python3`, on a script;
    /// the reason if it has no SciPy.
    pub(crate) fn start(
        script: &str,
        variables: &[(&str, String)],
    ) -> std::result::Result<Self, String> {
        let python = std::env::var_os("SPARSEC_PYTHON").unwrap_or_else(|| "python3".into());
        let shown = python.to_string_lossy().into_owned();
        let mut child = Command::new(&python)
            .args(["-c", script])
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`{shown}` cannot be started: {error}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("`{shown}` cannot be talked to"));
        };
        let mut peer = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            hello: Value::Null,
        };
        peer.hello = peer.answer().ok_or(format!("`{shown}` says nothing"))?;
        match peer.hello["error"].as_str() {
            Some(error) => Err(format!("`{shown}`: {error}")),
            None => Ok(peer),
        }
    }

    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Has one thing done.
    ///
    /// # Errors
    /// `E0010` if the process does not answer.
    pub(crate) fn ask(&mut self, what: &str, mut with: Value) -> Result<Value> {
        with["do"] = json!(what);
        writeln!(self.stdin, "{with}")
            .and_then(|()| self.stdin.flush())
            .ok()
            .and_then(|()| self.answer())
            .ok_or_else(|| {
                Diagnostic::new(
                    code::PEER_FAILED,
                    format!("Python ended when it was asked to {what}"),
                )
                .help("see whether it has enough memory, or measure `--size small`")
            })
    }

    /// Has one thing done, and says how long it took.
    pub(crate) fn time(&mut self, what: &str, with: Value) -> Result<(Duration, Value)> {
        let answer = self.ask(what, with)?;
        let seconds = answer["seconds"].as_f64().unwrap_or(f64::INFINITY);
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Ok((time, answer))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for its next line, and has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stdout)] // Says that it skips.
    fn a_peer_that_ended_is_an_error() {
        let Ok(mut peer) = Peer::start(include_str!("io/peer.py"), &[]) else {
            println!("skipped: there is no SciPy");
            return;
        };
        peer.child.kill().expect("it runs");
        let error = peer.ask("pack", json!({})).expect_err("it has ended");
        assert_eq!(error.code(), code::PEER_FAILED);
    }
}
