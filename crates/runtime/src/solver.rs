//! Solvers of constraint systems, as programs that read SMT-LIB 2.

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use sparsec_base::{Diagnostic, Result, code};

/// Seconds after which a solver is to give up.
const PATIENCE: u32 = 60;

/// The output of the `z3` on the path for a script in SMT-LIB 2. It gives up after a minute
/// and then answers `unknown` or `timeout`.
///
/// # Errors
/// `E0910` if there is no `z3`, or if it ends without an answer.
pub fn z3(script: &str) -> Result<String> {
    answer("z3", script)
}

fn answer(program: &str, script: &str) -> Result<String> {
    let refused = |message: String| {
        Diagnostic::new(code::NETWORK_SOLVER, message).help(
            "install it (`apt install z3`), or leave out `--planner z3`: the search needs no solver",
        )
    };
    let started = Command::new(program)
        .args(["-smt2", "-in", &format!("-T:{PATIENCE}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| {
        refused(match error.kind() {
            ErrorKind::NotFound => format!("no executable `{program}` is on the path"),
            _ => format!("`{program}` does not start: {error}"),
        })
    })?;
    let input = child.stdin.take();
    let ended = std::thread::scope(|scope| {
        // The solver may write before it has read all.
        scope.spawn(move || input.map(|mut input| input.write_all(script.as_bytes())));
        child.wait_with_output()
    });
    let output = ended.map_err(|error| refused(format!("`{program}` fails: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.trim() {
        "" => Err(refused(format!(
            "`{program}` ends without an answer: {}",
            output.status
        ))),
        // Its word for a system that it gave up on.
        "timeout" => Ok("unknown\n".to_owned()),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_that_is_missing_is_refused() {
        let refused = answer("no-such-solver", "(check-sat)").unwrap_err();
        assert_eq!(refused.code(), code::NETWORK_SOLVER);
        assert!(refused.message().contains("no-such-solver"));
        // One that says nothing.
        let refused = answer("true", "(check-sat)").unwrap_err();
        assert_eq!(refused.code(), code::NETWORK_SOLVER);
    }

    #[test]
    fn answers_are_handed_on() {
        assert_eq!(
            answer("echo", "").unwrap(),
            format!("-smt2 -in -T:{PATIENCE}\n")
        );
    }
}
