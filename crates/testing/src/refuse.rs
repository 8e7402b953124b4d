//! Programs that are to be refused.
//!
//! ```text
//! ; Two extents for one index variable.
//! test error
//! A : f64[3, 4], csr
//! B : f64[5, 2], csr
//! C(i,j) = A(i,k) * B(k,j)
//! ; error[E0203] 21: two extents
//! ---- diagnostic
//! error[E0203]: index variable `k` has two extents, 4 and 5
//! …
//! ```
//!
//! The expectation follows the line at fault: code, column, part of the message.
//! Without a column (`; error[E0315]: …`) the diagnostic has no place. It makes
//! no difference which step refuses the program: reading, planning, emitting
//! the stages that follow on the line `test error`, or running it on empty tensors.

use sparsec::internals::{Inputs, compile};
use sparsec::{Diagnostic, Entries, Result, Session, Stage, Tensor};

use crate::file::{Filetest, Section, join, split};
use crate::stages::{Check, compare};

/// Whether a file is about a program that is to be refused.
pub fn is_refusal(text: &str) -> bool {
    text.lines()
        .any(|line| line.split_whitespace().take(2).eq(["test", "error"]))
}

/// Checks a file, or writes its section anew if `bless`; gives the new text.
///
/// # Errors
/// What is not as expected.
pub fn check(name: &str, text: &str, bless: bool) -> Check<String> {
    let (head, sections) = split(text);
    let expected = Expectation::find(name, &head)?;
    let Err(found) = refuse(name, text) else {
        return Err(format!("{name}: the program was not refused"));
    };
    expected.check(name, &found)?;
    if found.help_text().is_none() {
        return Err(format!("{name}: the diagnostic says no way out:\n{found}"));
    }
    let section = diagnostic(&found);
    if !bless {
        let [written] = sections.as_slice() else {
            return Err(format!("{name}: there should be one section, `diagnostic`"));
        };
        compare(name, written, &section)?;
    }
    Ok(join(&head, &[section]))
}

/// The section of a diagnostic.
pub(crate) fn diagnostic(found: &Diagnostic) -> Section {
    Section {
        title: "diagnostic".to_owned(),
        line: 0,
        text: format!("{}\n", found.render(false).trim_end()),
    }
}

/// Takes a program as far as it comes.
fn refuse(name: &str, text: &str) -> Result<()> {
    let file = Filetest::parse(name, text)?;
    let inputs = empty_inputs(&file)?;
    let compiled = compile(&file.request, &inputs)?;
    let stages = file.stages.iter().filter_map(|stage| Stage::parse(stage));
    for stage in stages {
        compiled.emit(&stage)?;
    }
    Session::interpreter().run(&compiled, inputs)?;
    Ok(())
}

/// A tensor without entries for each operand whose extents are declared.
fn empty_inputs(file: &Filetest) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    for tensor in file.request.names()? {
        let Some(spec) = file.request.tensors.get(&tensor.name) else {
            continue;
        };
        let (Some(element), Some(extents)) = (spec.element, &spec.extents) else {
            continue;
        };
        if !tensor.is_input {
            continue;
        }
        let format = match &spec.format {
            Some(format) => format.resolve(extents.len())?,
            None => sparsec::Format::dense(extents.len()),
        };
        let empty = Tensor::pack_entries(
            &format,
            Entries::empty(extents, element),
            sparsec::PackOptions {
                fill: spec.fill,
                ..Default::default()
            },
        )?;
        inputs.insert(tensor.name, empty);
    }
    Ok(inputs)
}

/// What the diagnostic of a file is to be.
pub(crate) struct Expectation {
    code: String,
    line: usize,
    column: Option<usize>,
    message: String,
}

impl Expectation {
    pub(crate) fn find(name: &str, head: &str) -> Check<Self> {
        let mut found = None;
        for (n, line) in head.lines().enumerate() {
            let Some(rest) = line.strip_prefix("; error[") else {
                continue;
            };
            if found.is_some() {
                return Err(format!("{name}:{}: a second expectation", n + 1));
            }
            found = Some(Self::parse(rest, n).ok_or_else(|| {
                format!(
                    "{name}:{}: expected `; error[CODE] COLUMN: part of the message`",
                    n + 1
                )
            })?);
        }
        found.ok_or_else(|| format!("{name}: there is no `; error[CODE] COLUMN: …`"))
    }

    fn parse(rest: &str, line: usize) -> Option<Self> {
        let (code, rest) = rest.split_once(']')?;
        let (column, message) = rest.split_once(':')?;
        let column = match column.trim() {
            "" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Self {
            code: code.to_owned(),
            line,
            column,
            message: message.trim().to_owned(),
        })
    }

    pub(crate) fn check(&self, name: &str, found: &Diagnostic) -> Check {
        let primary = found.labels().iter().find(|label| label.primary);
        let place = primary.map(|label| label.source.line_column(label.span.start));
        let wanted = self.column.map(|column| (self.line, column));
        if found.code().as_str() == self.code
            && place == wanted
            && found.message().contains(&self.message)
        {
            return Ok(());
        }
        Err(format!(
            "{name}:{}: expected {} at {wanted:?} with `{}`, found at {place:?}\n{}",
            self.line + 1,
            self.code,
            self.message,
            found.render(false)
        ))
    }
}
