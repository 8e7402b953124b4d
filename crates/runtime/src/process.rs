//! Runs a compiler, and ends it if it hangs or is cancelled.
//!
//! A compiler starts other programs, so it gets a process group of its own:
//!
//! ```text
//! cc ──► cc1, as, ld, …      one group, which is killed as a whole
//!  └──► stdout, stderr       two pipes, read while it runs
//! ```
//!
//! * The group is killed if the run is cancelled, if the compiler exceeds its time limit,
//!   and after the compiler has ended: no program that it started in the group goes on.
//! * [`output`] waits for the compiler alone. A program that left the group and still holds
//!   a pipe delays nothing: the pipes are read without blocking, until the compiler has
//!   ended.
//! * The first [`SHOWN`] bytes of each pipe are kept. The rest is read and dropped, so a
//!   compiler that prints for ever fills no memory.
//!
//! The group is killed before its leader is waited for: until then no other process can
//! have the leader's number.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use sparsec_base::Cancel;
use sparsec_parallel::fault::{self, Fault};

use crate::clock;

/// How often to look whether the process ended or nobody waits for it.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

/// How many bytes of a pipe are kept.
const SHOWN: usize = 1 << 20;

/// Runs a command to its end, until it is cancelled, or until the time `limit`. Returns
/// its output.
///
/// # Errors
/// The system's error if the command does not start; `Interrupted` if it was cancelled,
/// `TimedOut` if it had not ended within the limit.
pub(crate) fn output(
    command: &mut Command,
    cancel: &Cancel,
    limit: Duration,
) -> io::Result<Output> {
    if cancel.is_set() {
        return Err(cancelled());
    }
    let started = clock::now();
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let mut group = Group {
        leader: child,
        was_waited_for: false,
    };
    let mut stdout = Pipe::new(group.leader.stdout.take())?;
    let mut stderr = Pipe::new(group.leader.stderr.take())?;
    if fault::strikes(Fault::Killed) {
        group.kill();
    }
    while !group.has_ended()? {
        if cancel.is_set() {
            return Err(cancelled());
        }
        if clock::now().saturating_duration_since(started) > limit {
            return Err(timed_out(limit));
        }
        wait_for_output(&[&stdout, &stderr]);
        stdout.read();
        stderr.read();
    }
    group.kill();
    stdout.read();
    stderr.read();
    Ok(Output {
        status: group.wait()?,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
    })
}

fn cancelled() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "it was cancelled")
}

fn timed_out(limit: Duration) -> io::Error {
    let message = format!("it had not ended after {limit:?}, and was stopped");
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// A process and the processes that it started. Dropping this kills them.
struct Group {
    leader: Child,
    /// Whether the leader was waited for: then its number may be another process's.
    was_waited_for: bool,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.leader.id()).ok()?)
    }

    /// Whether the leader has ended. Does not wait for it, so its number stays its own.
    fn has_ended(&self) -> io::Result<bool> {
        let pid = self.pid().ok_or(io::ErrorKind::InvalidInput)?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(ended) => Ok(ended.is_some()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills the group, whose leader was not waited for yet.
    fn kill(&self) {
        if let Some(pid) = self.pid() {
            // An error says that nothing was left to kill.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        self.was_waited_for = true;
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.was_waited_for {
            self.kill();
            // It is gone, or the system says why it cannot be waited for.
            let _ = self.wait();
        }
    }
}

/// A pipe, and the bytes that were read from it so far.
struct Pipe {
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Pipe {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> io::Result<Self> {
        let file = match pipe {
            Some(pipe) => {
                let file = File::from(pipe.into());
                fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
                Some(file)
            }
            None => None,
        };
        Ok(Self {
            file,
            bytes: Vec::new(),
        })
    }

    /// Reads the bytes that are in the pipe, without waiting for more.
    fn read(&mut self) {
        /// The most reads in one call: together a few times the size of a pipe. A writer
        /// that never stops delays us no longer.
        const READS: usize = 64;
        let mut piece = [0; 16 << 10];
        for _ in 0..READS {
            let Some(file) = &mut self.file else { return };
            match file.read(&mut piece) {
                Ok(n @ 1..) => {
                    let room = SHOWN.saturating_sub(self.bytes.len());
                    self.bytes.extend_from_slice(&piece[..n.min(room)]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // At an error, the bytes so far are all that can be shown.
                Ok(0) | Err(_) => self.file = None,
            }
        }
    }
}

/// Waits until there is something to read, but no longer than a tick.
fn wait_for_output(pipes: &[&Pipe; 2]) {
    let open = pipes.iter().filter_map(|pipe| pipe.file.as_ref());
    let mut polled: Vec<PollFd<'_>> = open
        .map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN))
        .collect();
    // Interrupted by a signal, it is a short tick.
    let _ = poll(&mut polled, Some(&TICK));
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    /// As long as ending a process may take on a busy machine.
    const SOON: Duration = Duration::from_secs(20);

    fn shell(line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        command
    }

    fn run(line: &str, limit: Duration) -> io::Result<Output> {
        output(&mut shell(line), &Cancel::default(), limit)
    }

    #[test]
    fn all_that_is_printed_is_read() {
        let line = "i=0; while [ $i -lt 20000 ]; do echo out; echo err >&2; i=$((i+1)); done";
        let output = run(line, MINUTE).unwrap();
        assert!(output.status.success());
        assert_eq!((output.stdout.len(), output.stderr.len()), (80_000, 80_000));
        assert_eq!(run("exit 3", MINUTE).unwrap().status.code(), Some(3));
    }

    #[test]
    fn what_is_printed_for_ever_is_bounded() {
        let limit = Duration::from_millis(300);
        let error = run("yes", limit).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let output = run("yes | head -c 3000000", MINUTE).unwrap();
        assert_eq!(output.stdout.len(), SHOWN);
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
        assert!(started.elapsed() < SOON);
        ender.join().unwrap();
        assert!(
            output(&mut shell("true"), &cancel, MINUTE).is_err(),
            "nothing starts"
        );
    }

    #[test]
    fn what_takes_longer_than_the_limit_is_ended() {
        let started = Instant::now();
        let error = run("sleep 60 & sleep 60", Duration::from_millis(50)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it had not ended after 50ms, and was stopped"
        );
        assert!(started.elapsed() < SOON);
    }

    #[test]
    fn a_grandchild_that_holds_the_pipes_is_not_waited_for() {
        let started = Instant::now();
        let output = run("echo done; sleep 60 &", MINUTE).unwrap();
        assert!(output.status.success() && output.stdout == b"done\n");
        // A program that left the group is not killed, but delays nobody.
        let output = run("echo done; setsid sleep 30 & sleep 0.1", MINUTE).unwrap();
        assert_eq!(output.stdout, b"done\n");
        let limit = Duration::from_millis(200);
        let error = run("setsid sleep 30 & sleep 60", limit).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < SOON);
    }

    #[test]
    fn what_a_process_leaves_behind_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("late");
        let line = format!("(sleep 0.4; echo late > {}) & exit 0", file.display());
        assert!(run(&line, MINUTE).unwrap().status.success());
        std::thread::sleep(Duration::from_millis(700));
        assert!(!file.exists());
    }
}
