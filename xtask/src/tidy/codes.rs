//! Every diagnostic code is provoked by a test that shows what a user sees.
//!
//! A code counts as shown where `error[E0203]` stands in a filetest below
//! `filetests/error`. Codes that no program text provokes (a missing file, an
//! option, a full disk) count as shown where a test of a crate, below its
//! `tests/`, names the code or its constant, or a unit test of the filetest
//! runner does, or a test of the Python package.

use std::path::Path;

use super::{Fault, files, read};

/// A code as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    constant: String,
    code: String,
    file: String,
    line: usize,
}

/// The codes of the workspace at `root` that nothing shows.
pub(crate) fn check_workspace(root: &Path) -> Result<Vec<Fault>, String> {
    if !root.join("filetests/error").is_dir() {
        return Ok(Vec::new());
    }
    let mut declared = Vec::new();
    for file in files(root, &["crates/base/src/code"], Some("rs"))? {
        declared.extend(declarations(&file, &read(root, &file)?));
    }
    let mut shown = String::new();
    for file in files(root, &["filetests"], None)? {
        shown.push_str(&read(root, &file)?);
    }
    let mut tests = String::new();
    for file in files(root, &["crates"], Some("rs"))? {
        let text = read(root, &file)?;
        if file.contains("/tests/") {
            tests.push_str(&text);
        } else if let Some((_, unit_tests)) = text.split_once("#[cfg(test)]") {
            tests.push_str(unit_tests);
        }
    }
    // Those of the Python package alone.
    for file in files(root, &["python/tests"], Some("py"))? {
        tests.push_str(&read(root, &file)?);
    }
    Ok(check(&declared, &shown, &tests))
}

/// The lines `NAME = "E0101", "title",` of one list of codes.
fn declarations(file: &str, text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((constant, rest)) = line.trim().split_once(" = \"E") else {
            continue;
        };
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let is_constant = constant.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        if digits.len() == 4 && is_constant && rest[4..].starts_with('"') {
            found.push(Declared {
                constant: constant.to_owned(),
                code: format!("E{digits}"),
                file: file.to_owned(),
                line: number + 1,
            });
        }
    }
    found
}

fn check(declared: &[Declared], filetests: &str, tests: &str) -> Vec<Fault> {
    let is_shown = |code: &Declared| {
        filetests.contains(&format!("error[{}]", code.code))
            || tests.contains(&code.code)
            || tests.contains(&format!("code::{}", code.constant))
    };
    declared
        .iter()
        .filter(|code| !is_shown(code))
        .map(|code| {
            let text = format!("no filetest and no other test shows {}", code.code);
            Fault::new(&code.file, Some(code.line), text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "codes! {\n    NO_SHEEP = \"E0901\", \"no sheep\",\n    \"Long text.\";\n    ONE_WOLF = \"E0902\", \"a wolf\", \"…\";\n}\n";

    #[test]
    fn codes_are_read_from_their_list() {
        let found = declarations("sheep.rs", LIST);
        let codes: Vec<&str> = found.iter().map(|code| code.code.as_str()).collect();
        assert_eq!(codes, ["E0901", "E0902"]);
        assert_eq!(found[1].constant, "ONE_WOLF");
        assert_eq!(found[1].line, 4);
    }

    #[test]
    fn codes_are_shown_by_filetests_or_tests() {
        let found = declarations("sheep.rs", LIST);
        let missing = |filetests, tests| check(&found, filetests, tests).len();
        assert_eq!(missing("", ""), 2);
        assert_eq!(missing("; error[E0901] 4: no", ""), 1);
        assert_eq!(missing("; error[E0901] 4: no", "expect(code::ONE_WOLF)"), 0);
        assert_eq!(missing("", "\"E0901\" \"E0902\""), 0);
    }
}
