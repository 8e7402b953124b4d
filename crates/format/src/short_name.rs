//! Short names of formats: a preset with its clauses, where there is one.
//!
//! ```text
//! (r, c) -> (r : dense, c : compressed)                          csr
//! (r, c) -> (r : dense, c : compressed), lower(r, c), pos = 32   csr, lower(i, j), pos = 32
//! (i, j) -> (i : compressed, j : dense)                          its text: no preset
//! ```

use crate::format::{Format, Widths};
use crate::preset::{Parameters, mode_names, presets};
use crate::print::{clauses, print_widths};

impl Format {
    /// The name of the preset that this format is, whatever its modes are
    /// called; `None` for other formats and where widths are declared.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let rows: Format = "(row, col) -> (row : dense, col : compressed)".parse()?;
    /// assert_eq!(rows.preset_name(), Some("csr"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn preset_name(&self) -> Option<&'static str> {
        if self.widths != Widths::default() || self.fill.is_some() {
            return None;
        }
        presets()
            .iter()
            .filter(|preset| preset.parameters == Parameters::None && preset.fits(self.order()))
            .find(|preset| preset.build(self.order(), &[]).stores_like(self))
            .map(|preset| preset.name)
    }

    /// The preset's name where this format is one, with the clauses that follow it in
    /// [`FormatSpec`](crate::FormatSpec); else its text.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let lower: Format = "(r, c) -> (r : dense, c : compressed), lower(r, c), fill 1".parse()?;
    /// assert_eq!(lower.short_name(), "csr, lower(i, j), fill 1");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn short_name(&self) -> String {
        if let Some(name) = self.preset_name() {
            return name.to_owned();
        }
        let without_clauses = Self {
            region: None,
            mirror: None,
            order: None,
            fill: None,
            widths: Widths::default(),
            ..self.clone()
        };
        match without_clauses.preset_name() {
            Some(name) if self.rest.is_empty() => {
                let named = self.clone().with_usual_modes();
                let clauses = clauses(&named).into_iter();
                let clauses: String = clauses.map(|clause| format!(", {clause}")).collect();
                format!("{name}{clauses}{}", print_widths(self.widths))
            }
            _ => self.to_string(),
        }
    }

    /// The same format with the names of modes that presets give them: `i`, `j`, and so on.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let format: Format = "(r, c) -> (r : compressed, c : dense)".parse()?;
    /// assert_eq!(format.with_usual_modes().to_string(), "(i, j) -> (i : compressed, j : dense)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn with_usual_modes(self) -> Self {
        Self {
            modes: mode_names(self.order()),
            rest: self
                .rest
                .iter()
                .cloned()
                .map(Self::with_usual_modes)
                .collect(),
            ..self
        }
    }

    /// As [`short_name`](Self::short_name), whatever the widths: those of a tensor
    /// mostly follow from its data, and nobody wrote them.
    pub fn arrangement(&self) -> String {
        let plain = self.clone().with_widths(Widths::default());
        plain.short_name()
    }
}
