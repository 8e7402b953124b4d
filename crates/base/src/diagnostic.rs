//! Coded errors with places in the source and the way out.
//!
//! A diagnostic says what is wrong in the user's terms, shows every place that
//! matters, and suggests at most one fix:
//!
//! ```
//! use sparsec_base::{code, Diagnostic, Source, Span};
//! let source = Source::new("expression", "y(i) = A(i,j) * x(j");
//! let error = Diagnostic::new(code::UNEXPECTED_TOKEN, "the list of indices of `x` is not closed")
//!     .at(&source, Span::new(19, 19), "expected `)`")
//!     .help("write `x(j)`");
//! assert!(error.to_string().contains("error[E0101]"));
//! ```

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::code::Code;
use crate::source::{Source, Span};

/// A result whose error is a [`Diagnostic`].
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// One error for a user, with a code, places and help.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: Code,
    message: String,
    labels: Vec<Label>,
    notes: Vec<String>,
    help: Option<String>,
}

/// A place in a source, with what is to be said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The text that the span points into.
    pub source: Source,
    /// The place.
    pub span: Span,
    /// What is said of it.
    pub text: String,
    /// Whether this is where the error is, rather than a place it depends on.
    pub primary: bool,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                code,
                message: message.into(),
                labels: Vec::new(),
                notes: Vec::new(),
                help: None,
            }),
        }
    }

    /// Adds the place of the error.
    #[must_use]
    pub fn at(self, source: &Source, span: Span, text: impl Into<String>) -> Self {
        self.label(source, span, text.into(), true)
    }

    /// Adds the place of the error, unless it has one: for what is wrong with data of
    /// which only the caller knows where they come from.
    #[must_use]
    pub fn or_at(self, source: &Source, span: Span, text: impl Into<String>) -> Self {
        match self.labels().is_empty() {
            true => self.at(source, span, text),
            false => self,
        }
    }

    /// Adds a place that the error depends on.
    #[must_use]
    pub fn also(self, source: &Source, span: Span, text: impl Into<String>) -> Self {
        self.label(source, span, text.into(), false)
    }

    /// Moves the error to another place, the cause of the faults at the places that it has.
    /// These stay as secondary labels.
    #[must_use]
    pub fn behind(mut self, source: &Source, span: Span, text: impl Into<String>) -> Self {
        for label in &mut self.inner.labels {
            label.primary = false;
        }
        let mut moved = self.at(source, span, text);
        moved.inner.labels.rotate_right(1);
        moved
    }

    fn label(mut self, source: &Source, span: Span, text: String, primary: bool) -> Self {
        self.inner.labels.push(Label {
            source: source.clone(),
            span,
            text,
            primary,
        });
        self
    }

    /// Adds a fact that helps to understand the error.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.inner.notes.push(text.into());
        self
    }

    /// Says the way out.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.inner.help = Some(text.into());
        self
    }

    /// Says the way out, unless something closer to the fault did: for what a whole
    /// text looks like, where only its reader knows.
    #[must_use]
    pub fn or_help(self, text: impl Into<String>) -> Self {
        match self.help_text() {
            Some(_) => self,
            None => self.help(text),
        }
    }

    /// The same diagnostic for the users of another front end. Each pair of `words` has a name of
    /// the Rust library and its replacement. A hole `{}` stands for any text without a backtick, and
    /// is filled with it in the replacement.
    ///
    /// ```
    /// use sparsec_base::{Diagnostic, code};
    /// let error = Diagnostic::new(code::NO_COMPILER, "there is no C compiler");
    /// let error = error.help("run without one: `Backend::Cranelift`");
    /// let told = error.in_words(&[("`Backend::Cranelift`", "`--backend cranelift`")]);
    /// assert_eq!(told.help_text(), Some("run without one: `--backend cranelift`"));
    /// let error = Diagnostic::new(code::MISSING_EXTENT, "no extent").help("say it: `.extent(\"i\", 9)`");
    /// let told = error.in_words(&[("`.extent(\"{}\", {})`", "`-d {}={}`")]);
    /// assert_eq!(told.help_text(), Some("say it: `-d i=9`"));
    /// ```
    #[must_use]
    pub fn in_words(mut self, words: &[(&str, &str)]) -> Self {
        let inner = &mut self.inner;
        let texts = inner.notes.iter_mut().chain(&mut inner.help);
        for text in texts.chain([&mut inner.message]) {
            for (name, word) in words {
                if let Some(told) = told(text, name, word) {
                    *text = told;
                }
            }
        }
        self
    }

    /// The code, as `sparsec explain` takes it.
    pub fn code(&self) -> Code {
        self.inner.code
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The places, in the order in which they were added.
    pub fn labels(&self) -> &[Label] {
        &self.inner.labels
    }

    /// The notes, in the order in which they were added.
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// The way out, where there is one.
    pub fn help_text(&self) -> Option<&str> {
        self.inner.help.as_deref()
    }

    /// The diagnostic as a terminal shows it, with colours if `colour`.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut group = Group::with_title(
            Level::ERROR
                .primary_title(self.message())
                .id(self.code().as_str()),
        );
        let mut shown: Vec<&Source> = Vec::new();
        for label in self.labels() {
            if shown.contains(&&label.source) {
                continue;
            }
            shown.push(&label.source);
            group = group.element(self.snippet(&label.source));
        }
        for note in self.notes() {
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(help) = self.help_text() {
            group = group.element(Level::HELP.message(help));
        }
        renderer.render(&[group])
    }

    fn snippet<'a>(&'a self, source: &'a Source) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let annotations = self
            .labels()
            .iter()
            .filter(|label| label.source == *source)
            .map(|label| {
                let kind = if label.primary {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                kind.span(clamp(label.span, source))
                    .label(label.text.as_str())
            });
        Snippet::source(source.text())
            .path(source.name())
            .line_start(source.first_line())
            .annotations(annotations)
    }
}

/// Keeps a span inside its text and on character boundaries.
fn clamp(span: Span, source: &Source) -> std::ops::Range<usize> {
    let text = source.text();
    let floor = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// A conversion that cannot fail where one that may is asked for.
impl From<std::convert::Infallible> for Diagnostic {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
/// A text with `word` in place of each `name`, if it has one.
fn told(text: &str, name: &str, word: &str) -> Option<String> {
    let mut parts = name.split("{}");
    let first = parts.next()?;
    let parts: Vec<&str> = parts.collect();
    let (mut done, mut rest) = (String::new(), text);
    let mut is_told = false;
    while let Some(at) = rest.find(first) {
        let mut after = &rest[at + first.len()..];
        let filled = parts.iter().try_fold(word.to_owned(), |word, part| {
            let end = after.find(part)?;
            let filler = &after[..end];
            after = &after[end + part.len()..];
            (!filler.contains('`')).then(|| word.replacen("{}", filler, 1))
        });
        done.push_str(&rest[..at]);
        match filled {
            Some(word) => {
                done.push_str(&word);
                rest = after;
                is_told = true;
            }
            None => {
                done.push_str(first);
                rest = &rest[at + first.len()..];
            }
        }
    }
    is_told.then(|| done + rest)
}
