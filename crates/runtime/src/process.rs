//! Running a compiler that may have to be ended.
//!
//! A compiler runs other programs, so it gets a process group of its own and is
//! ended with all of them: when nobody waits for it any more, or when it takes so
//! long that it hangs. What it prints is read while it runs: it would wait for a
//! reader otherwise.

#![allow(unsafe_code)]

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;

/// How often to look whether the process ended.
const TICK: Duration = Duration::from_millis(1);

/// Runs a command to its end, until it is cancelled, or for as long as `limit`; what
/// it printed.
///
/// # Errors
/// What the system says where it does not start; `Interrupted` if it was cancelled,
/// `TimedOut` if it had not ended within the limit.
pub(crate) fn output(
    command: &mut Command,
    cancel: &Cancel,
    limit: Duration,
) -> io::Result<Output> {
    if cancel.is_set() {
        return Err(cancelled());
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let printed = [reader(child.stdout.take()), reader(child.stderr.take())];
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if cancel.is_set() => {
                end(&mut child);
                break Err(cancelled());
            }
            Ok(None) if started.elapsed() > limit => {
                end(&mut child);
                break Err(timed_out(limit));
            }
            Ok(None) => std::thread::sleep(TICK),
            Err(error) => break Err(error),
        }
    };
    let [stdout, stderr] = printed.map(|reader| reader.join().unwrap_or_default());
    Ok(Output {
        status: status?,
        stdout,
        stderr,
    })
}

fn cancelled() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "it was cancelled")
}

fn timed_out(limit: Duration) -> io::Error {
    let message = format!("it had not ended after {limit:?}, and was stopped");
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// Reads all of a pipe in a thread of its own.
fn reader<R: Read + Send + 'static>(pipe: Option<R>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that there is to show.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Ends a process and those that it started.
fn end(child: &mut Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the group is that of a child that was not waited for yet, so its
        // number is no other's.
        unsafe {
            libc::kill(-group, libc::SIGKILL);
        }
    }
    // It is gone, or the system says why it cannot be waited for.
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn shell(line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn all_that_is_printed_is_read() {
        let line = "i=0; while [ $i -lt 20000 ]; do echo out; echo err >&2; i=$((i+1)); done";
        let output = output(&mut shell(line), &Cancel::default(), MINUTE).unwrap();
        assert!(output.status.success());
        assert_eq!((output.stdout.len(), output.stderr.len()), (80_000, 80_000));
    }

    #[test]
    fn what_hangs_is_ended_with_all_that_it_started() {
        let cancel = Cancel::default();
        let setter = cancel.clone();
        let started = Instant::now();
        let ender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            setter.set();
        });
        let error = output(&mut shell("sleep 60 & sleep 60"), &cancel, MINUTE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        assert!(started.elapsed() < Duration::from_secs(20));
        ender.join().unwrap();
        assert!(
            output(&mut shell("true"), &cancel, MINUTE).is_err(),
            "nothing starts"
        );
    }
    #[test]
    fn what_takes_longer_than_the_limit_is_ended() {
        let started = Instant::now();
        let limit = Duration::from_millis(50);
        let mut command = shell("sleep 60 & sleep 60");
        let error = output(&mut command, &Cancel::default(), limit).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it had not ended after 50ms, and was stopped"
        );
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}
