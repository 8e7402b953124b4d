//! All files of a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sparsec::internals::{Inputs, compile};

use crate::compute;
use crate::file::{Filetest, Section, join};
use crate::mlir;
use crate::refuse;
use crate::relate;
use crate::run::{self, Engines};
use crate::stages::{self, Check};

/// Every `.txt` file below a folder, sorted.
///
/// # Errors
/// Those of reading folders.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The filetests of expressions, by their names below the folder of all filetests.
///
/// # Panics
/// If the folder or a file cannot be read, or a file is no filetest.
pub fn expressions() -> Vec<(String, Filetest)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    let mut found = Vec::new();
    for path in files(&root).expect("a folder of filetests") {
        let text = fs::read_to_string(&path).expect("a filetest");
        if !is_expression(&text) {
            continue;
        }
        let name = path.strip_prefix(&root).expect("below").display();
        let name = name.to_string();
        let file = Filetest::parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        found.push((name, file));
    }
    found
}

/// Whether a file is of a program of index notation that is not refused.
fn is_expression(text: &str) -> bool {
    !refuse::is_refusal(text)
        && !mlir::is_mlir(text)
        && !compute::is_computation(text)
        && !relate::is_relation(text)
}

/// Checks one file; with `bless`, writes its stages to it.
///
/// # Errors
/// What is not as the file says.
pub fn check(path: &Path, name: &str, engines: &Engines, bless: bool) -> Check {
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let new = if refuse::is_refusal(&text) {
        refuse::check(name, &text, bless)?
    } else if mlir::is_mlir(&text) {
        mlir::check(name, &text, bless)?
    } else if compute::is_computation(&text) {
        compute::check(name, &text, bless)?
    } else if relate::is_relation(&text) {
        relate::check(name, &text, bless)?
    } else {
        check_stages(name, &text, engines, bless)?
    };
    if bless && new != text {
        fs::write(path, new).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Checks every stage that a file asks for; gives the file with what was found.
fn check_stages(name: &str, text: &str, engines: &Engines, bless: bool) -> Check<String> {
    let file = Filetest::parse(name, text).map_err(|error| error.render(false))?;
    if let Some(section) = file
        .sections
        .iter()
        .find(|section| !file.stages.iter().any(|stage| stage == section.stage()))
    {
        return Err(format!(
            "{name}:{}: `{}` is not on the line `test …`",
            section.line,
            section.stage()
        ));
    }
    let compiled = compile(&file.request, &Inputs::new()).map_err(|error| error.render(false))?;
    let mut sections: Vec<Section> = Vec::new();
    for stage in &file.stages {
        if stage == "run" {
            run::check(&file, &compiled, engines)?;
            sections.extend(file.section("run").cloned());
            continue;
        }
        let found =
            stages::section(&file, &compiled, stage).map_err(|error| format!("{name}: {error}"))?;
        if !bless {
            let written = file.section(stage).ok_or_else(|| {
                format!("{name}: there is no section `{stage}`; SPARSEC_BLESS=1 writes it")
            })?;
            stages::compare(name, written, &found)?;
        }
        sections.push(found);
    }
    Ok(join(&file.head, &sections))
}
