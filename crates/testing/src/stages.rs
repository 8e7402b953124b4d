//! Stages as text, compared with the sections of a file.
//!
//! What is text of a language is also read back: loop IR, schedules and concrete
//! notation have to print as the same text again.

use sparsec::internals::{Compiled, Function, Inputs, Request, codegen_c, compile};
use sparsec::{Source, Stage};
use sparsec_index::{Concrete, TensorRole, Tensors};
use sparsec_schedule::parse_concrete;

use crate::file::{Filetest, Section};

/// What is wrong with a file, in words.
pub type Check<T = ()> = Result<T, String>;

/// The section of `stage` as it should be.
///
/// # Errors
/// The diagnostic of a stage that cannot be emitted, what does not read back,
/// and an excerpt that is not there.
pub fn section(file: &Filetest, compiled: &Compiled, stage: &str) -> Check<Section> {
    let known = Stage::parse(stage).ok_or_else(|| format!("there is no stage `{stage}`"))?;
    read_back(file, compiled, &known)?;
    let text = match known {
        Stage::C => loops_in_c(compiled),
        _ => compiled.emit(&known).map_err(|error| error.render(false))?,
    };
    let found = file.section(stage);
    let text = match found.and_then(Section::excerpt) {
        Some(wanted) => excerpt(&text, wanted)
            .ok_or_else(|| format!("the stage `{stage}` has no `{wanted}`"))?,
        None => text,
    };
    Ok(Section {
        title: found.map_or(stage, |section| &section.title).to_owned(),
        line: found.map_or(0, |section| section.line),
        text: with_line_break(text),
    })
}

/// Compares the sections of a file with those found, one for each stage.
///
/// # Errors
/// The first section that is missing, or has another title or text.
pub fn compare_all(file: &str, expected: &[Section], found: &[Section]) -> Check {
    if expected.len() != found.len() {
        return Err(format!("{file}: there should be a section for each stage"));
    }
    for (expected, found) in expected.iter().zip(found) {
        if expected.title != found.title {
            let (title, line) = (&expected.title, expected.line);
            return Err(format!("{file}:{line}: `{title}`, not `{}`", found.title));
        }
        compare(file, expected, found)?;
    }
    Ok(())
}

/// Compares the text of a section with the text found.
///
/// # Errors
/// The first line that differs, and the whole text found.
pub fn compare(file: &str, expected: &Section, found: &Section) -> Check {
    let wanted = expected.text.trim_end();
    let text = found.text.trim_end();
    if wanted == text {
        return Ok(());
    }
    let same = wanted
        .lines()
        .zip(text.lines())
        .take_while(|(left, right)| left == right)
        .count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    Err(format!(
        "{file}:{}: `{}` is not what it was\n  expected: {}\n  found:    {}\n\nAll of it:\n{text}\n\n\
         SPARSEC_BLESS=1 writes it to the file",
        expected.line + 1 + same,
        expected.title,
        line(wanted),
        line(text),
    ))
}

fn with_line_break(text: String) -> String {
    format!("{}\n", text.trim_end())
}

/// The functions that hold the loops; what is around them is the same in
/// every file.
fn loops_in_c(compiled: &Compiled) -> String {
    let mut texts = Vec::new();
    for number in compiled.kernels() {
        let text = codegen_c::emit(&compiled.statements()[number].function);
        let lines = text
            .lines()
            .skip_while(|line| !(line.starts_with("static") && line.contains("_loops(")))
            .skip_while(|line| !line.ends_with(") {"))
            .skip(1)
            .take_while(|line| *line != "}");
        texts.push(lines.map(|line| format!("{line}\n")).collect::<String>());
    }
    texts.join("\n")
}

/// The construct that `wanted` names: `while 2` is the second line that begins
/// with `while`, with all that its braces hold.
fn excerpt(text: &str, wanted: &str) -> Option<String> {
    let (word, number) = wanted.rsplit_once(' ')?;
    let number: usize = number.parse().ok()?;
    let lines: Vec<&str> = text.lines().collect();
    let first = (0..lines.len())
        .filter(|&n| lines[n].trim_start().starts_with(word))
        .nth(number.checked_sub(1)?)?;
    let mut depth = 0;
    let mut out = String::new();
    for line in &lines[first..] {
        out.push_str(line);
        out.push('\n');
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
        if depth == 0 {
            break;
        }
    }
    Some(out)
}

fn read_back(file: &Filetest, compiled: &Compiled, stage: &Stage) -> Check {
    for statement in compiled.statements() {
        match stage {
            Stage::Loop => same_function(&statement.function)?,
            Stage::LoopAfter(pass) if pass == "lower" => same_function(&statement.lowered)?,
            Stage::Concrete => {
                let text = statement.plan.concrete.to_string();
                let source = Source::new("concrete", text.as_str());
                let read = parse_concrete(&source, &without_workspaces(&statement.plan.concrete))
                    .map_err(|error| error.render(false))?;
                same_text("concrete", &text, &read.to_string())?;
            }
            _ => {}
        }
    }
    match stage {
        Stage::Schedule => schedule_suffices(&file.request, &Inputs::new(), compiled),
        Stage::Gradient(_) => {
            let text = compiled.emit(stage).map_err(|error| error.render(false))?;
            let mut request = file.request.clone();
            request.expression = Source::new("gradient", text.as_str());
            let read = compile(&request, &Inputs::new());
            let read = read.map_err(|error| error.render(false))?;
            same_text("gradient", text.trim_end(), &read.resolved().to_string())
        }
        Stage::Linalg => match compiled.emit(stage) {
            Ok(text) => crate::linalg::verified(&text).map(drop),
            Err(error) => Err(error.render(false)),
        },
        _ => Ok(()),
    }
}

/// The tensors that a statement does not bring in itself, copies of operands
/// in other formats included.
fn without_workspaces(concrete: &Concrete) -> Tensors {
    let mut tensors = Tensors::new();
    for (_, data) in concrete.tensors.iter() {
        if data.role != TensorRole::Workspace {
            tensors.push(data.clone());
        }
    }
    tensors
}

/// The commands that planning chose, given as a user would, are to make the
/// same plan.
pub(crate) fn schedule_suffices(request: &Request, inputs: &Inputs, compiled: &Compiled) -> Check {
    let emit = |compiled: &Compiled, stage: &Stage| {
        let text = compiled.emit(stage);
        text.map_err(|error| error.render(false))
    };
    let schedule = emit(compiled, &Stage::Schedule)?;
    let mut request = request.clone();
    request.schedule = Some(Source::new("schedule", schedule.as_str()));
    let again = compile(&request, inputs).map_err(|error| {
        let error = error.render(false);
        format!("the plan does not replay:\n{schedule}\n{error}")
    })?;
    for (name, stage) in [("schedule", Stage::Schedule), ("concrete", Stage::Concrete)] {
        same_text(name, &emit(compiled, &stage)?, &emit(&again, &stage)?)?;
    }
    Ok(())
}

fn same_function(function: &Function) -> Check {
    let text = function.to_string();
    let read = Function::parse(&Source::new("loop", text.as_str()))
        .map_err(|error| error.render(false))?;
    // Ids of variables may differ: passes leave some without a use.
    same_text("loop", &text, &read.to_string())
}

fn same_text(stage: &str, written: &str, read: &str) -> Check {
    match written == read {
        true => Ok(()),
        false => Err(format!(
            "`{stage}` reads back as something else:\n{written}\n\n{read}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_with_its_braces() {
        let text = "a\n  while x {\n    b\n  }\n  while y {\n    c\n  } else {\n    d\n  }\ne\n";
        assert_eq!(
            excerpt(text, "while 1").unwrap(),
            "  while x {\n    b\n  }\n"
        );
        assert!(excerpt(text, "while 2").unwrap().ends_with("d\n  }\n"));
        assert_eq!(excerpt(text, "while 3"), None);
    }
}
