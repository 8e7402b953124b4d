//! What the header of a crate says is not in it.
//!
//! ```text
//! //! […] no level kind is known by name.        crates/graph/src/lib.rs
//! LevelKind::Dense                               a fault in crates/graph/src
//! ```
//!
//! [`ABSENCES`] has the names that each such sentence rules out, and the files that are
//! excused. A sentence without its rule, or a rule without its sentence, would soon be
//! untrue: a rule whose sentence the header lacks is a fault as well. Absences that are
//! crates stand in the table of [`dependencies`](super::dependencies).

use super::Fault;
use crate::rust::code_only;

/// A sentence of a header and what it rules out.
struct Absence {
    /// The folder of the crate.
    of: &'static str,
    /// The sentence, or a part of it.
    says: &'static str,
    /// Names that the code does not have. One that ends with `::` rules out everything
    /// behind it.
    names: &'static [&'static str],
    /// Names among those that it may have.
    but: &'static [&'static str],
    /// Files and folders, below the folder of the crate, that may have them.
    except: &'static [&'static str],
}

const ABSENCES: &[Absence] = &[
    Absence {
        of: "crates/index",
        says: "Nothing here knows how a tensor is stored",
        names: &["Format", "FormatSpec", "Level", "LevelKind"],
        but: &[],
        except: &[],
    },
    Absence {
        of: "crates/notation",
        says: "Nothing here knows how a tensor is stored",
        names: &["Format", "FormatSpec", "Level", "LevelKind"],
        but: &[],
        except: &[],
    },
    Absence {
        of: "crates/graph",
        says: "no operator and no level kind is known by name",
        names: &["LevelKind", "Operator::"],
        but: &["Operator::Defined"],
        except: &[],
    },
    Absence {
        of: "crates/lower",
        says: "no level kind is known by name outside of `level`",
        names: &["LevelKind"],
        but: &[],
        except: &["src/level.rs", "src/level/"],
    },
    Absence {
        of: "crates/convert",
        says: "no format is known by name",
        names: &["Preset", "RelationPreset"],
        but: &[],
        except: &[],
    },
];

/// Every name in `text`, the file `file`, that the header of its crate rules out; of the
/// header itself, every sentence that it lacks.
pub(crate) fn check(file: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for absence in ABSENCES {
        let Some(inside) = file
            .strip_prefix(absence.of)
            .and_then(|rest| rest.strip_prefix('/'))
        else {
            continue;
        };
        if inside == "src/lib.rs" && !header(text).contains(absence.says) {
            faults.push(Fault::new(
                file,
                Some(1),
                format!(
                    "the header no longer says \"{}\"; say it, or take the rule out of ABSENCES in xtask",
                    absence.says
                ),
            ));
        }
        let is_excused = |place: &&str| inside.starts_with(place);
        if !inside.starts_with("src/") || absence.except.iter().any(is_excused) {
            continue;
        }
        for (number, line) in code_only(text).lines().enumerate() {
            if let Some(name) = absence.found(line) {
                faults.push(Fault::new(
                    file,
                    Some(number + 1),
                    format!(
                        "`{name}`, but the header of `{}` says \"{}\"",
                        absence.of, absence.says
                    ),
                ));
            }
        }
    }
    faults
}

impl Absence {
    /// The first name in a line of code that should not be there.
    fn found<'l>(&self, line: &'l str) -> Option<&'l str> {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        self.names.iter().find_map(|name| {
            line.match_indices(name).find_map(|(at, _)| {
                let rest = &line[at + name.len()..];
                let behind = rest.find(|c| !part(c)).unwrap_or(rest.len());
                let whole = &line[at..at + name.len() + behind];
                let is_name = match name.ends_with("::") {
                    true => rest.starts_with(char::is_uppercase),
                    false => behind == 0,
                };
                let is_ruled_out = is_name && !line[..at].ends_with(part);
                (is_ruled_out && !self.but.contains(&whole)).then_some(whole)
            })
        })
    }
}

/// The header of a file as one line.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
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
    fn names_that_a_header_rules_out_are_found() {
        let file = "crates/graph/src/path.rs";
        check_text(file, "let kind = LevelKind::Dense;\n", &["`LevelKind`"]);
        check_text(file, "if *op == Operator::Add {\n", &["`Operator::Add`"]);
        check_text(file, "let Operator::Defined(f) = op else {\n", &[]);
        check_text(file, "fn of(op: &Operator, kinds: &[LevelKinds]) {}\n", &[]);
        check_text(file, "// LevelKind::Dense\nlet s = \"LevelKind\";\n", &[]);
        check_text("crates/graph/tests/all.rs", "use LevelKind;\n", &[]);
        check_text("crates/format/src/level.rs", "use LevelKind;\n", &[]);
    }

    #[test]
    fn some_files_are_excused() {
        check_text("crates/lower/src/level.rs", "LevelKind::Dense\n", &[]);
        check_text("crates/lower/src/level/dense.rs", "LevelKind::Dense\n", &[]);
        check_text(
            "crates/lower/src/levels.rs",
            "LevelKind::Dense\n",
            &["`LevelKind`"],
        );
    }

    #[test]
    fn a_rule_has_its_sentence() {
        let file = "crates/graph/src/lib.rs";
        let says =
            "//! Loops.\n//!\n//! Here no operator and\n//! no level kind is known by name.\n";
        check_text(file, says, &[]);
        check_text(file, "//! Loops.\n", &["no longer says"]);
    }
}
