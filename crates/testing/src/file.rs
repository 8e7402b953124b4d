//! The parts of a filetest.
//!
//! ```text
//! ; what it shows                          comments, anywhere above sections
//! test concrete loop run                   the stages
//! A : f64[6, 4], csr                       tensors: type, extents, fill, format
//! y : f64 fill -inf, (i) -> (i : dense)
//! extent k = 4                             extents of index variables
//! reads y                                  results that the caller reads; all without it
//! schedule reorder(j, i)                   commands, one a line
//! y(i) = A(i,j) * x(j)                     statements
//! ---- concrete                            a section for each stage
//! ```
//!
//! Expression, schedule and declarations are sources of their own that keep the
//! place they have in the file, so that diagnostics point into the file.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::types;
use sparsec_base::{Complex, Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_format::parse_spec;

use sparsec::internals::{Request, TensorSpec};

/// What begins the header of a section.
const SECTION: &str = "---- ";

/// One file.
#[derive(Clone, Debug)]
pub struct Filetest {
    /// What diagnostics call the file.
    pub name: String,
    /// The text above the first section.
    pub head: String,
    /// What the `test` line asks for.
    pub stages: Vec<String>,
    /// The program, with all that is declared.
    pub request: Request,
    /// The sections in order.
    pub sections: Vec<Section>,
}

/// One section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The stage, with the excerpt that is shown of it, if not all is.
    pub title: String,
    /// The line of its header, counted from 1.
    pub line: usize,
    /// The lines below the header; each ends with a line break.
    pub text: String,
}

impl Section {
    /// The stage without an excerpt.
    pub fn stage(&self) -> &str {
        self.title.split(" (").next().unwrap_or(&self.title)
    }

    /// What is inside `(excerpt: …)`.
    pub fn excerpt(&self) -> Option<&str> {
        self.title
            .split_once(" (excerpt: ")
            .and_then(|(_, rest)| rest.strip_suffix(')'))
    }
}

impl Filetest {
    /// Reads a file. `name` is what diagnostics call it.
    ///
    /// # Errors
    /// A diagnostic of the line that is not understood. What is wrong with the
    /// program itself is found when it is compiled, but for the formats: those
    /// are read here.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let (head_text, sections) = split(text);
        let mut head = Head::new(name);
        for (n, line) in head_text.lines().enumerate() {
            head.line(n, line)?;
        }
        if head.stages.is_empty() {
            return Err(fault(name, &head_text, 1, "there is no line `test STAGE…`"));
        }
        if !head_text.starts_with("; ") {
            return Err(fault(
                name,
                &head_text,
                1,
                "the first line is to say what this shows",
            ));
        }
        let mut request = head.request;
        request.expression = placed(name, &head.statements);
        request.schedule = (!head.commands.is_empty()).then(|| placed(name, &head.commands));
        Ok(Self {
            name: name.to_owned(),
            head: head_text,
            stages: head.stages,
            request,
            sections,
        })
    }

    /// The section of a stage, or `None` where there is none.
    pub fn section(&self, stage: &str) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| section.stage() == stage)
    }
}

/// The text of a file from its parts.
pub fn join(head: &str, sections: &[Section]) -> String {
    let mut out = head.to_owned();
    for section in sections {
        out.push_str(&format!("{SECTION}{}\n{}", section.title, section.text));
    }
    out
}

/// A diagnostic of a line of a filetest.
pub fn fault(name: &str, line: &str, number: usize, message: &str) -> Diagnostic {
    let line = line.lines().next().unwrap_or("");
    let source = Source::excerpt(name, line, number);
    Diagnostic::new(code::UNEXPECTED_TOKEN, message).at(&source, Span::new(0, line.len()), "here")
}

/// What is above the first section, and the sections.
pub fn split(text: &str) -> (String, Vec<Section>) {
    let mut head = String::new();
    let mut sections: Vec<Section> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if let Some(title) = line.strip_prefix(SECTION) {
            sections.push(Section {
                title: title.trim().to_owned(),
                line: n + 1,
                text: String::new(),
            });
            continue;
        }
        let part = match sections.last_mut() {
            Some(section) => &mut section.text,
            None => &mut head,
        };
        part.push_str(line);
        part.push('\n');
    }
    (head, sections)
}

/// Lines of a file as one source, each where it is in the file.
fn placed(name: &str, lines: &[(usize, String)]) -> Source {
    let Some((first, _)) = lines.first() else {
        return Source::new(name, "");
    };
    let mut text = String::new();
    let mut at = *first;
    for (n, line) in lines {
        text.push_str(&"\n".repeat(n - at));
        text.push_str(line);
        at = *n;
    }
    Source::excerpt(name, text, first + 1)
}

/// The lines above the sections, sorted by what they are.
struct Head<'a> {
    name: &'a str,
    stages: Vec<String>,
    request: Request,
    commands: Vec<(usize, String)>,
    statements: Vec<(usize, String)>,
}

impl<'a> Head<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            stages: Vec::new(),
            request: Request::new(Source::new(name, "")),
            commands: Vec::new(),
            statements: Vec::new(),
        }
    }

    fn line(&mut self, n: usize, line: &str) -> Result<()> {
        if line.trim().is_empty() || line.starts_with(';') {
            return Ok(());
        }
        if let Some(stages) = line.strip_prefix("test ") {
            self.stages
                .extend(stages.split_whitespace().map(str::to_owned));
            return Ok(());
        }
        if let Some(command) = line.strip_prefix("schedule ") {
            // Spaces keep the columns of the file.
            self.commands.push((n, format!("{:9}{command}", "")));
            return Ok(());
        }
        if let Some(results) = line.strip_prefix("reads ") {
            let read = self.request.results.get_or_insert_default();
            read.extend(results.split_whitespace().map(str::to_owned));
            return Ok(());
        }
        if let Some(extent) = line.strip_prefix("extent ") {
            let Some((var, number)) = extent
                .split_once('=')
                .and_then(|(var, number)| Some((var.trim(), number.trim().parse().ok()?)))
            else {
                return Err(fault(
                    self.name,
                    line,
                    n + 1,
                    "expected `extent NAME = NUMBER`",
                ));
            };
            self.request.extents.insert(var.to_owned(), number);
            return Ok(());
        }
        let is_declaration = line
            .split_once(':')
            .is_some_and(|(name, _)| is_name(name.trim()));
        if is_declaration {
            return self.declaration(&Source::excerpt(self.name, line, n + 1));
        }
        self.statements.push((n, line.to_owned()));
        Ok(())
    }

    /// `A : f64[6, 4] fill 0, csr`: all after the type may be left out.
    fn declaration(&mut self, source: &Source) -> Result<()> {
        let mut tokens = Tokens::new(source, &["->"])?;
        let (name, _) = tokens.name("a tensor")?;
        tokens.expect(":")?;
        let element = ElementType::parse(tokens.text(tokens.peek()))
            .ok_or_else(|| tokens.unexpected("an element type"))?;
        tokens.take();
        let mut spec = TensorSpec {
            element: Some(element),
            ..TensorSpec::default()
        };
        if tokens.eat("[") {
            let mut extents = Vec::new();
            while !tokens.eat("]") {
                let (extent, span) = tokens.integer("an extent")?;
                extents.push(extent);
                spec.places.push((source.clone(), span));
                if !tokens.at("]") {
                    tokens.expect(",")?;
                }
            }
            spec.extents = Some(extents);
        }
        if tokens.eat("fill") {
            spec.fill = Some(scalar(&mut tokens, element)?);
        }
        if tokens.eat(",") {
            spec.format = Some(parse_spec(&mut tokens)?);
        }
        tokens.expect_end()?;
        self.request.tensors.insert(name, spec);
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A number, `true`, `false`, `inf` or `nan`, with or without a sign; a complex
/// one as `2`, `-1.5j` or `2-1.5j`.
///
/// # Errors
/// `E0101` and `E0103`.
pub fn scalar(tokens: &mut Tokens, element: ElementType) -> Result<Scalar> {
    if !element.is_complex() {
        return real(tokens, element);
    }
    let part = |tokens: &mut Tokens| real(tokens, ElementType::F64).map(Scalar::to_f64);
    let first = part(tokens)?;
    let value = if tokens.eat("j") {
        Complex::new(0.0, first)
    } else if tokens.at("-") || tokens.eat("+") {
        let second = part(tokens)?;
        tokens.expect("j")?;
        Complex::new(first, second)
    } else {
        first.into()
    };
    let value = Scalar::C128(value).cast(element);
    Ok(value.expect("complex numbers convert"))
}

fn real(tokens: &mut Tokens, element: ElementType) -> Result<Scalar> {
    let negative = tokens.eat("-");
    let token = tokens.peek();
    let text = tokens.text(token).to_owned();
    let signed = format!("{}{text}", if negative { "-" } else { "" });
    let value = match (token.kind, element.kind()) {
        (Kind::Name, types::Kind::Bool) if text == "true" || text == "false" => {
            Some(Scalar::Bool(text == "true"))
        }
        (Kind::Integer, types::Kind::Signed) => {
            let value = signed.parse().map(Scalar::I64).ok();
            value.filter(|value| {
                value.cast(element).and_then(Scalar::to_integer) == value.to_integer()
            })
        }
        (Kind::Integer, types::Kind::Unsigned) => {
            let value = signed.parse().map(Scalar::U64).ok();
            value.filter(|value| {
                value.cast(element).and_then(Scalar::to_integer) == value.to_integer()
            })
        }
        (Kind::Name | Kind::Integer | Kind::Float, types::Kind::Float) => {
            let value: f64 = signed.parse().map_err(|_| tokens.unexpected("a number"))?;
            Some(Scalar::F64(value))
        }
        _ => return Err(tokens.unexpected(&format!("a value of {element}"))),
    };
    let Some(value) = value.and_then(|value| value.cast(element)) else {
        let message = format!("`{signed}` does not fit {element}");
        return Err(Diagnostic::new(code::BAD_NUMBER, message).at(
            tokens.source(),
            token.span,
            "too large",
        ));
    };
    tokens.take();
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_places() {
        let text = "; Shows.\ntest loop\nb : f64[2], csf\n\na(i) = b(i)\n; more\nc(i) = b(i)\n---- loop (excerpt: for 1)\nx\n";
        let file = Filetest::parse("f", text).unwrap();
        assert_eq!(file.request.expression.first_line(), 5);
        assert_eq!(file.request.expression.text(), "a(i) = b(i)\n\nc(i) = b(i)");
        let section = file.section("loop").unwrap();
        assert_eq!((section.line, section.excerpt()), (8, Some("for 1")));
        assert_eq!(join(&file.head, &file.sections), text);
    }

    #[test]
    fn faults_name_the_line() {
        let error = Filetest::parse("f", "; Shows.\ntest loop\nb : f65[2]\n").unwrap_err();
        assert!(
            error.render(false).contains("f:3:5"),
            "{}",
            error.render(false)
        );
    }
}
