//! The commands that README and the pages of `docs/` show, run as they stand there.
//!
//! ````text
//! ```console
//! $ sparsec run 's = x(i)' -g x=dense:ones -d i=3       a command, on one line or several:
//! $ sparsec run 's = x(i)                               a quote that is open goes on
//! > t = s' -g x=dense:ones -d i=3                       behind `> `
//! s = 3.0                                               all that it prints, errors too
//! …                                                     any number of lines
//! ```
//! ````
//!
//! `SPARSEC_BLESS=1` rewrites what commands print, but for those that leave lines out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::place::Place;

/// A part of a page.
enum Part {
    /// Lines that are shown as they are.
    Text(String),
    /// A command with the lines that it prints.
    Command { lines: Vec<String>, prints: String },
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = vec![Part::Text(String::new())];
    let mut in_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if in_console && line.starts_with("$ ") {
            parts.push(Part::Command {
                lines: vec![line.to_owned()],
                prints: String::new(),
            });
            continue;
        } else if in_console && let Some(Part::Command { lines, prints }) = parts.last_mut() {
            match prints.is_empty() && line.starts_with("> ") {
                true => lines.push(line.to_owned()),
                false => *prints += &format!("{line}\n"),
            }
            continue;
        }
        match parts.last_mut() {
            Some(Part::Text(text)) => *text += &format!("{line}\n"),
            _ => parts.push(Part::Text(format!("{line}\n"))),
        }
    }
    parts
}

/// Whether `found` is `shown`, of which a line `…` stands for any lines.
fn agrees(found: &str, shown: &str) -> bool {
    let shown = format!("\n{shown}");
    let mut pieces = shown.split("\n…");
    let found = format!("\n{found}");
    let Some(mut rest) = pieces.next().and_then(|first| found.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    for (number, piece) in pieces.iter().enumerate() {
        let at = match number + 1 == pieces.len() {
            true => rest
                .len()
                .checked_sub(piece.len())
                .filter(|_| rest.ends_with(piece)),
            false => rest.find(piece),
        };
        let Some(at) = at else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

/// The output of a command, in a folder that has the samples.
fn printed(command: &str) -> String {
    let place = Place::new();
    let samples = root().join("samples").canonicalize().expect("samples");
    std::os::unix::fs::symlink(samples, place.path().join("samples")).expect("a link");
    // Variables may stand in front: `TENSOR0=a.mtx sparsec …`.
    let at = command.find("sparsec").expect("commands call sparsec");
    let (variables, words) = (&command[..at], &command[at + "sparsec".len()..]);
    let done = place.shell(&format!("exec 2>&1; {variables}\"$0\"{words}"));
    let lines = done
        .stdout
        .lines()
        .map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

#[test]
fn pages_show_what_commands_print() {
    let mut pages = vec![root().join("README.md")];
    let docs = std::fs::read_dir(root().join("docs")).expect("docs");
    pages.extend(docs.map(|entry| entry.expect("an entry").path()));
    pages.retain(|page| page.extension().is_some_and(|ext| ext == "md"));
    pages.sort();
    let bless = std::env::var_os("SPARSEC_BLESS").is_some();
    let (mut wrong, mut n_commands) = (String::new(), 0);
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut blessed = String::new();
        for part in parts(&text) {
            let (lines, prints) = match part {
                Part::Text(text) => {
                    blessed += &text;
                    continue;
                }
                Part::Command { lines, prints } => (lines, prints),
            };
            n_commands += 1;
            let command: Vec<&str> = lines.iter().map(|line| &line[2..]).collect();
            let command = command.join("\n");
            let found = printed(&command);
            let agrees = agrees(&found, &prints);
            if !agrees {
                let name = page.display();
                let _ = writeln!(
                    wrong,
                    "{name}: {command}\n--- shows\n{prints}--- prints\n{found}"
                );
            }
            let shown = match agrees || prints.contains('…') {
                true => &prints,
                false => &found,
            };
            blessed += &format!("{}\n{shown}", lines.join("\n"));
        }
        if bless && blessed != text {
            std::fs::write(&page, blessed).expect("a page");
        }
    }
    assert!(bless || wrong.is_empty(), "{wrong}");
    assert!(n_commands > 10, "{n_commands} commands");
}

#[test]
fn lines_may_be_left_out() {
    assert!(agrees("a\nb\nc\n", "a\n…\nc\n"));
    assert!(agrees("a\nb\n", "a\n…\n"));
    assert!(agrees("a\nb\n", "…\nb\n"));
    assert!(agrees("a\n", "a\n"));
    assert!(!agrees("a\nb\n", "a\n"));
    assert!(!agrees("a\nb\nc\n", "a\n…\nd\n"));
}
