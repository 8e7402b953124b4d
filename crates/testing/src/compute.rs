//! Filetests of computations over relations.
//!
//! ```text
//! ; Loops that change places.
//! test compute computation
//! script interchange(s0, 1, 2)
//! computation nest {
//!   …
//! }
//! ---- computation
//! …
//! ```
//!
//! The stages are those of [`ComputeStage`]. A line `script auto` asks for the
//! automatic pipeline; a file that asks for `diagnostic` is to be refused, and
//! the section is what the user reads.

use sparsec::internals::compute::{ComputeStage, Transformations, compute};
use sparsec::{Result, Source};

use crate::file::{Section, join, split};
use crate::stages::{Check, compare_all};

/// Whether a file is about a computation.
pub fn is_computation(text: &str) -> bool {
    text.lines()
        .any(|line| line.split_whitespace().take(2).eq(["test", "compute"]))
}

/// Checks a file, or writes its sections anew if `bless`; gives the new text.
///
/// # Errors
/// What is not as expected.
pub fn check(name: &str, text: &str, bless: bool) -> Check<String> {
    let (head, sections) = split(text);
    let mut stages = Vec::new();
    let mut transformations = Transformations::Nothing;
    let mut lines = head.lines().enumerate();
    let program = lines.find_map(|(n, line)| {
        if let Some(names) = line.strip_prefix("test compute") {
            stages.extend(names.split_whitespace().map(str::to_owned));
        }
        if let Some(script) = line.strip_prefix("script ") {
            transformations = match script.trim() {
                "auto" => Transformations::Pipeline,
                script => Transformations::Script(Source::excerpt(name, script, n + 1)),
            };
        }
        line.starts_with("computation").then_some(n)
    });
    let first = program.ok_or_else(|| format!("{name}: there is no computation"))?;
    let program: String = head.split_inclusive('\n').skip(first).collect();
    let source = Source::excerpt(name, program, first + 1);

    let found = emitted(&source, &transformations, &stages);
    let sections_found: Vec<Section> = match found {
        Err(error) if stages.iter().eq(["diagnostic"]) => {
            vec![section(
                "diagnostic",
                format!("{}\n", error.render(false).trim_end()),
            )]
        }
        Err(error) => return Err(format!("{name}: {}", error.render(false))),
        Ok(_) if stages.iter().any(|stage| stage == "diagnostic") => {
            return Err(format!("{name}: the computation was not refused"));
        }
        Ok(found) => found,
    };
    if !bless {
        compare_all(name, &sections, &sections_found)?;
    }
    Ok(join(&head, &sections_found))
}

fn emitted(
    source: &Source,
    transformations: &Transformations,
    stages: &[String],
) -> Result<Vec<Section>> {
    let computed = compute(source, transformations)?;
    let emit = |stage: &String| {
        let known = ComputeStage::parse(stage).ok_or_else(|| ComputeStage::unknown(stage))?;
        Ok(section(stage, computed.emit(known)?))
    };
    let stages = stages.iter().filter(|stage| *stage != "diagnostic");
    stages.map(emit).collect()
}

fn section(title: &str, text: String) -> Section {
    Section {
        title: title.to_owned(),
        line: 0,
        text,
    }
}
