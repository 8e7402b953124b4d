//! Rules for single source files: unsafe code, the file system, headers,
//! length, and leftovers.

use super::Fault;
use crate::rust::{code_only, has_word};

/// Where unsafe code may be; each place has a reason that safe code has none for.
const UNSAFE: &[&str] = &[
    "crates/base/src/elementary.rs",
    "crates/parallel/src/",
    "crates/tensor/src/borrowed.rs",
    "crates/runtime/src/",
    "crates/runtime/tests/",
    "crates/io/src/mapping.rs",
    "crates/sparsec/src/checked.rs",
    "crates/bench/src/by_hand.rs",
    "crates/codegen-cranelift/src/",
    "crates/python/src/",
];

/// Whose libraries may open files; `parallel` reads how much memory the system has.
const FILES: &[&str] = &["io", "runtime", "cli", "bench", "testing", "parallel"];

/// Lines beyond which a file says why it is long, and beyond which it is too long.
const LONG: usize = 500;
const TOO_LONG: usize = 1000;

/// Words of a header that say nothing.
const PLACEHOLDERS: &[&str] = &["wip", "placeholder", "tbd"];

/// Marks of work that is left over. They are put together here, so that this
/// file does not hold them.
const LEFTOVERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("HA", "CK"),
    concat!("XX", "X"),
];

/// Everything in `text`, the file `file`, that is against a rule.
pub(crate) fn check(file: &str, text: &str) -> Vec<Fault> {
    let code = code_only(text);
    let mut faults = Vec::new();
    check_header(file, text, &mut faults);
    check_length(file, text, &mut faults);
    for (number, (line, code)) in text.lines().zip(code.lines()).enumerate() {
        let mut fault = |text: String| faults.push(Fault::new(file, Some(number + 1), text));
        if let Some(mark) = LEFTOVERS.iter().find(|mark| has_word(line, mark)) {
            fault(format!("`{mark}`: finish it or leave it out"));
        }
        if has_word(code, "unsafe") {
            if !UNSAFE.iter().any(|place| file.starts_with(place)) {
                fault("unsafe code belongs to the places that `UNSAFE` lists".to_owned());
            } else if code.contains("unsafe {") && !is_explained(text, number) {
                fault("no `SAFETY:` comment says why this is sound".to_owned());
            }
        }
        if opens_files(code) && !may_open_files(file) {
            fault("only io, parallel, runtime, cli and bench touch the file system".to_owned());
        }
    }
    faults
}

/// Files need a header, but for the unit tests of the file above them.
fn check_header(file: &str, text: &str, faults: &mut Vec<Fault>) {
    if file.contains("/src/") && file.ends_with("/tests.rs") {
        return;
    }
    let header = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//! "));
    let says = header.is_some_and(|header| {
        !header.trim().is_empty()
            && !PLACEHOLDERS
                .iter()
                .any(|word| has_word(&header.to_lowercase(), word))
    });
    if !says {
        faults.push(Fault::new(
            file,
            Some(1),
            "a file begins with a `//!` header that says what it is",
        ));
    }
}

fn check_length(file: &str, text: &str, faults: &mut Vec<Fault>) {
    let n_lines = text.lines().count();
    let excused = text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .any(|line| line.starts_with("//! Length: "));
    if n_lines > TOO_LONG {
        faults.push(Fault::new(
            file,
            None,
            format!("{n_lines} lines; a file has {TOO_LONG} at most"),
        ));
    } else if n_lines > LONG && !excused {
        faults.push(Fault::new(
            file,
            None,
            format!(
                "{n_lines} lines; find the seam, or say why in a `//! Length:` line of its header"
            ),
        ));
    }
}

/// Whether the comment above line `number`, or the statement it is in, says
/// why unsafe code is sound.
fn is_explained(text: &str, number: usize) -> bool {
    /// Lines of comment and of the statement that may stand before the block.
    const NEAR: usize = 8;
    let lines: Vec<&str> = text.lines().take(number + 1).collect();
    lines
        .iter()
        .rev()
        .take(NEAR)
        .any(|line| line.contains("SAFETY:"))
}

fn may_open_files(file: &str) -> bool {
    let mut parts = file.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("crates"), Some(name), Some("src")) => FILES.contains(&name),
        // Tests make scratch files; `xtask` reads the workspace.
        _ => true,
    }
}

fn opens_files(code: &str) -> bool {
    let std_list = code.trim_start().starts_with("use std::{") && has_word(code, "fs");
    [
        "std::fs",
        "fs::File",
        "File::open",
        "File::create",
        "OpenOptions",
    ]
    .iter()
    .any(|name| has_word(code, name))
        || std_list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(file: &str, text: &str, expect: &[&str]) {
        let faults = check(file, text);
        assert_eq!(faults.len(), expect.len(), "{faults:?}");
        for (fault, expect) in faults.iter().zip(expect) {
            assert!(fault.text.contains(expect), "{fault}");
        }
    }

    #[test]
    fn a_good_file_passes() {
        check_text(
            "crates/a/src/lib.rs",
            "//! Counts sheep.\n\npub fn count() {}\n",
            &[],
        );
    }

    #[test]
    fn a_header_says_something() {
        check_text("a.rs", "fn f() {}\n", &["header"]);
        check_text("a.rs", "//! wip on this\n", &["header"]);
        check_text("a.rs", "", &["header"]);
        check_text("crates/a/src/b/tests.rs", "fn f() {}\n", &[]);
        check_text("crates/a/tests/tests.rs", "fn f() {}\n", &["header"]);
    }

    #[test]
    fn unsafe_code_has_its_places() {
        let text = "//! Reads memory.\n// SAFETY: it is there.\nlet x = unsafe { *p };\n";
        check_text("crates/plan/src/lib.rs", text, &["unsafe code belongs"]);
        check_text("crates/runtime/src/lib.rs", text, &[]);
        let bare = "//! Reads memory.\nlet x = unsafe { *p };\n";
        check_text("crates/runtime/src/lib.rs", bare, &["SAFETY"]);
        let named = "//! Says `unsafe`.\nlet x = \"unsafe\"; // unsafe\n";
        check_text("crates/plan/src/lib.rs", named, &[]);
    }

    #[test]
    fn files_have_their_places() {
        let text = "//! Opens files.\nuse std::fs;\n";
        check_text("crates/plan/src/lib.rs", text, &["file system"]);
        check_text("crates/plan/tests/all.rs", text, &[]);
        check_text("crates/io/src/lib.rs", text, &[]);
        check_text(
            "crates/plan/src/lib.rs",
            "//! Opens files.\nuse std::{fs, io};\n",
            &["file system"],
        );
    }

    #[test]
    fn long_files_say_why() {
        let lines = |n: usize| "x\n".repeat(n);
        check_text("a.rs", &format!("//! Two words.\n{}", lines(499)), &[]);
        check_text(
            "a.rs",
            &format!("//! Two words.\n{}", lines(500)),
            &["find the seam"],
        );
        check_text(
            "a.rs",
            &format!("//! Two words.\n//! Length: one match.\n{}", lines(500)),
            &[],
        );
        check_text(
            "a.rs",
            &format!("//! Two words.\n//! Length: one match.\n{}", lines(999)),
            &["at most"],
        );
    }

    #[test]
    fn leftovers_are_found_in_comments_too() {
        let text = format!("//! Two words.\n// {}: later\n", LEFTOVERS[0]);
        check_text("a.rs", &text, &["finish it"]);
    }
}
