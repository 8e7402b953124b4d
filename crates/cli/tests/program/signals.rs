//! How the program ends when the system or another process ends it.

use crate::place::Place;

/// Ctrl-C ends a kernel that would take hours, and nothing is left behind.
#[test]
fn signals_end_long_kernels() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let words = [
        "run",
        "C(i,j) = A(i,k) * B(k,j)",
        "-g",
        "A=dense:ones",
        "-g",
        "B=dense:ones",
        "-f",
        "A=dense",
        "-f",
        "B=dense",
        "-d",
        "i=3000",
        "-d",
        "j=3000",
        "-d",
        "k=3000",
        "-o",
        "C=c.npy",
        "--backend",
        "interp",
    ];
    // A program that is started to pass over a signal, as in the background of a
    // script, does so.
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says it");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.expect("a mask").trim(), 16).expect("a mask");
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        if ignored >> (number - 1) & 1 == 1 {
            continue;
        }
        let mut command = place.command(&words);
        let mut child = command
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the program");
        std::thread::sleep(std::time::Duration::from_millis(700));
        let kill = std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(kill.expect("kill").success());
        let ended = child.wait().expect("it ends");
        assert!(ended.signal().is_some(), "{signal}: {ended}");
        assert_eq!(place.files(), [""; 0]);
    }
}

/// A mapped file that another process cuts short ends the program with a diagnostic.
#[test]
fn files_that_shrink_end_the_program_with_a_diagnostic() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let mut found = false;
    for _ in 0..8 {
        place.write("a.tns", &"1 1 2.5\n".repeat(4 << 20));
        let mut command = place.command(&["info", "a.tns"]);
        let child = command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program");
        let maps = format!("/proc/{}/maps", child.id());
        let is_open = || std::fs::read_to_string(&maps).map_or(true, |it| it.contains("a.tns"));
        while !is_open() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // Rewriting the file truncates it first.
        place.write("a.tns", "1 1 2.5\n");
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.signal(), None);
        let text = String::from_utf8(ended.stderr).expect("text");
        found |= ended.status.code() == Some(1) && text.contains("became shorter");
        if found {
            break;
        }
    }
    assert!(
        found,
        "the program reads long enough for the file to shrink meanwhile"
    );
}
