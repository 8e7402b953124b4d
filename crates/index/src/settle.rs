//! Facts that follow from the parts of a program: extents, fills, and places in its text.
//!
//! ```text
//! y(i) = sum{j}(A(i,j) * x(j))      A is 3x4:   i = 3, j = 4, x and y have extents 4 and 3
//!                                   y stores nothing where A does not: its fill is 0
//! ```

use sparsec_base::{Diagnostic, Result, Scalar, Source, Span, code};

use crate::expr::{Access, Expr};
use crate::extents;
use crate::program::{Program, Statement};
use crate::text::Names;

impl Program {
    /// Checks the program, and works out the extents and fills that follow from those that
    /// are known. A program without text gets that which it prints as, and places in it.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify); `E0203` for an index variable with two extents.
    pub fn settle(&mut self) -> Result<()> {
        self.verify_names()?;
        if self.source.text().is_empty() {
            self.place();
        }
        self.verify()?;
        let tensors = extents::of_tensors(self);
        let spread = extents::spread(self, tensors).map_err(|clash| clash.diagnostic(self))?;
        for var in self.vars.ids() {
            self.vars[var].extent = spread.vars[var];
        }
        for tensor in self.tensors.ids() {
            let extents = &spread.tensors[tensor];
            self.tensors[tensor].extents.clone_from(extents);
        }
        self.close();
        for number in 0..self.statements.len() {
            // Where it does not follow, every entry is computed, and the fill stays as it is.
            if let Some(fill) = self.fill(&self.statements[number]) {
                let result = self.statements[number].lhs.tensor;
                self.tensors[result].fill = fill;
            }
        }
        Ok(())
    }

    /// The fill of a statement's result. It is known if the fills of all tensors that the
    /// statement reads are known.
    pub fn fill(&self, statement: &Statement) -> Option<Scalar> {
        let element = self.tensors[statement.lhs.tensor].element;
        match (statement.before, &statement.reduce) {
            (Some(before), _) => self.tensors[before].fill.cast(element),
            (None, Some(op)) => op
                .identity(statement.rhs.element(&self.tensors))
                .and_then(|identity| identity.cast(element)),
            (None, None) if statement.is_partial() => None,
            (None, None) => statement.rhs.fill(&self.tensors, &self.vars),
        }
    }

    /// Reads windows that are whole modes, as `A(i(0:9))` where the mode has extent 9,
    /// as that.
    pub fn close(&mut self) {
        let Self {
            tensors,
            vars,
            statements,
            ..
        } = self;
        for statement in statements {
            statement.rhs = statement.rhs.map_accesses(&mut |access| {
                let mut access = access.clone();
                let extents = &tensors[access.tensor].extents;
                for (index, extent) in access.indices.iter_mut().zip(extents) {
                    if let Some(var) = index.as_var_apart()
                        && extent.is_some()
                        && vars[var].extent == *extent
                    {
                        *index = var.into();
                    }
                }
                Some(Expr::Access(access))
            });
        }
    }

    /// Makes the text that the program prints as its source, with the places of its
    /// statements, accesses and tensors.
    fn place(&mut self) {
        let mut text = String::new();
        let mut statements = std::mem::take(&mut self.statements);
        for (number, statement) in statements.iter_mut().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&self.text_of(statement));
            statement.span = Span::new(start, text.len());
            let names = Names {
                tensors: &self.tensors,
                vars: &self.vars,
            };
            // Accesses are printed in their order; a part that is printed once for all of
            // its occurrences has the place of the first.
            let mut from = start;
            let mut placed: Vec<(Access, Span)> = Vec::new();
            let mut span_of = |access: &Access| {
                let written = names.access(access);
                let found = find_word(&text, from, &written);
                let known = || placed.iter().find(|(it, _)| it == access);
                let span = match (found, known()) {
                    (Some(at), _) => {
                        from = at + written.len();
                        Span::new(at, from)
                    }
                    (None, Some((_, span))) => *span,
                    (None, None) => statement.span,
                };
                placed.push((access.clone(), span));
                span
            };
            statement.lhs.span = span_of(&statement.lhs);
            statement.rhs = statement.rhs.map_accesses(&mut |access| {
                Some(Expr::Access(Access {
                    span: span_of(access),
                    ..access.clone()
                }))
            });
        }
        for statement in statements.iter().rev() {
            let mut accesses = statement.rhs.accesses();
            accesses.reverse();
            accesses.push(&statement.lhs);
            for Access { tensor, span, .. } in accesses {
                let name = self.tensors[*tensor].name.len();
                let start = span.start as usize;
                self.tensors[*tensor].span = Span::new(start, start + name);
            }
        }
        self.statements = statements;
        self.source = Source::new("program", text);
    }
}

/// Where `word` stands in the text from a place on, not as part of a longer name.
fn find_word(text: &str, from: usize, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let ends_with_name = word.ends_with(part);
    let mut places = text[from..].match_indices(word).map(|(at, _)| from + at);
    places.find(|at| {
        let behind = &text[at + word.len()..];
        let goes_on = behind.starts_with(part) || behind.starts_with('(');
        let is_part = text[..*at].ends_with(part) || (ends_with_name && goes_on);
        !is_part
    })
}

impl extents::Clash {
    /// The clash as a diagnostic.
    pub fn diagnostic(&self, program: &Program) -> Diagnostic {
        let name = &program.vars[self.var].name;
        let [a, b] = self.extents;
        let message = format!("index variable `{name}` has two extents, {a} and {b}");
        Diagnostic::new(code::EXTENT_MISMATCH, message)
            .at(&program.source, self.span, "the second extent")
            .help("give tensors whose extents fit together")
    }
}
