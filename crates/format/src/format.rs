//! The format tree: modes, levels, widths.

use sparsec_base::{IndexWidth, Result, Source};

use crate::check::check;
use crate::coordinate::Coordinate;
use crate::level::LevelKind;
use crate::print::print;

/// How the entries of a tensor are arranged in arrays.
///
/// Every mode is stored by exactly one level, and levels stand only where they
/// make sense (the list is at the top of `check.rs`): there is no other way to
/// get a `Format` than through those checks. Prints as the text that parses
/// back to it.
///
/// Two formats are equal if their modes have the same names too; see
/// [`Format::stores_like`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    pub(crate) modes: Vec<String>,
    pub(crate) levels: Vec<Level>,
    pub(crate) widths: Widths,
}

/// One level of storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The coordinates that this level stores.
    pub coordinate: Coordinate,
    /// What kind of level this is.
    pub kind: LevelKind,
    /// Whether no coordinate stands twice below one parent position.
    pub unique: bool,
    /// Whether coordinates ascend below one parent position; for a singleton,
    /// below equal coordinates of the levels above it that share its position.
    pub ordered: bool,
}

impl Level {
    /// A unique, ordered level of a mode or of another coordinate.
    pub fn new(coordinate: impl Into<Coordinate>, kind: LevelKind) -> Self {
        Self {
            coordinate: coordinate.into(),
            kind,
            unique: true,
            ordered: true,
        }
    }

    /// The same level with coordinates that may repeat below one parent.
    #[must_use]
    pub fn nonunique(self) -> Self {
        Self {
            unique: false,
            ..self
        }
    }

    /// The same level with coordinates in any order below one parent.
    #[must_use]
    pub fn nonordered(self) -> Self {
        Self {
            ordered: false,
            ..self
        }
    }
}

/// The declared widths of index arrays; where none is declared, the narrower
/// of 32 and 64 bits that holds the tensor's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Widths {
    /// The width of every `pos` array.
    pub pos: Option<IndexWidth>,
    /// The width of every `crd` array.
    pub crd: Option<IndexWidth>,
}

impl Format {
    /// A format of these modes and levels.
    ///
    /// # Errors
    /// `E0101` for a mode whose name is no name, and `E0116` to `E0123` for
    /// what is no format; the caret points into the format's text as it would
    /// print.
    ///
    /// ```
    /// use sparsec_format::{Format, Level, LevelKind};
    /// let rows = Level::new(0, LevelKind::Dense);
    /// let columns = Level::new(1, LevelKind::Compressed).nonordered();
    /// let format = Format::new(["i", "j"], vec![rows, columns])?;
    /// assert_eq!(
    ///     format.to_string(),
    ///     "(i, j) -> (i : dense, j : compressed(nonordered))",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn new<S: Into<String>>(
        modes: impl IntoIterator<Item = S>,
        levels: Vec<Level>,
    ) -> Result<Self> {
        let format = Self {
            modes: modes.into_iter().map(Into::into).collect(),
            levels,
            widths: Widths::default(),
        };
        format.checked()
    }

    /// The same format with the levels storing these modes, outermost first.
    ///
    /// # Errors
    /// `E0117` to `E0119` if `modes` does not name every mode exactly once.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let columns = Format::csr().with_mode_order(&[1, 0])?;
    /// assert_eq!(columns, Format::csc());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn with_mode_order(&self, modes: &[usize]) -> Result<Self> {
        let level = |(number, &mode): (usize, &usize)| match self.levels.get(number) {
            Some(level) => Level {
                coordinate: mode.into(),
                ..level.clone()
            },
            // One level too many: the checks say which mode it repeats.
            None => Level::new(mode, LevelKind::Dense),
        };
        let format = Self {
            levels: modes.iter().enumerate().map(level).collect(),
            ..self.clone()
        };
        format.checked()
    }

    /// The same format with index arrays of declared widths.
    #[must_use]
    pub fn with_widths(mut self, widths: Widths) -> Self {
        self.widths = widths;
        self
    }

    fn checked(self) -> Result<Self> {
        let (text, places) = print(&self.modes, &self.levels, self.widths);
        let source = Source::new("format", text);
        check(&source, &places, &self.modes, &self.levels)?;
        Ok(self)
    }

    /// How many modes a tensor of this format has.
    pub fn order(&self) -> usize {
        self.modes.len()
    }

    /// The names of the modes in the format's own text.
    pub fn modes(&self) -> &[String] {
        &self.modes
    }

    /// The levels, outermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The declared widths of index arrays.
    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// The level that stores `mode`.
    ///
    /// # Panics
    /// If the format has no such mode.
    pub fn level_of_mode(&self, mode: usize) -> usize {
        self.levels
            .iter()
            .position(|level| level.coordinate.mode() == Some(mode))
            .expect("every mode of a checked format has a level")
    }

    /// The mode of each level, outermost first.
    pub fn level_order(&self) -> Vec<usize> {
        self.levels.iter().map(Level::mode).collect()
    }

    /// Whether both arrange entries in the same arrays: equal but for the
    /// names of modes.
    pub fn stores_like(&self, other: &Self) -> bool {
        self.levels == other.levels && self.widths == other.widths
    }

    /// Whether every level stores a mode itself, so that the coordinates of an
    /// entry stand in its levels as they are.
    pub fn is_plain(&self) -> bool {
        let mut levels = self.levels.iter();
        levels.all(|level| level.coordinate.mode().is_some())
    }

    /// Whether every entry is stored: all levels are full. So is a scalar.
    pub fn is_all_dense(&self) -> bool {
        self.levels.iter().all(Level::is_full)
    }

    /// Whether some level stores only some of the coordinates.
    pub fn has_sparse(&self) -> bool {
        !self.is_all_dense()
    }

    /// Whether entries stand in lexicographic order of their levels.
    pub fn is_ordered(&self) -> bool {
        self.levels.iter().all(|level| level.ordered)
    }

    /// Whether no coordinates are stored twice. A nonunique level above does
    /// not tell: the singletons below it make its entries distinct.
    pub fn is_unique(&self) -> bool {
        self.levels.last().is_none_or(|level| level.unique)
    }

    /// The last level of the chain that `level` belongs to: a nonunique level
    /// and the singletons below it keep the coordinates of an entry at one
    /// shared position. Every other level is a chain of its own.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let format: Format =
    ///     "(i, j, k) -> (i : dense, j : compressed(nonunique), k : singleton)".parse()?;
    /// assert_eq!([0, 1, 2].map(|level| format.chain_end(level)), [0, 2, 2]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn chain_end(&self, level: usize) -> usize {
        let joined = |at: usize| at + 1 < self.levels.len() && !self.levels[at].unique;
        let mut end = level;
        while joined(end) {
            end += 1;
        }
        end
    }

    /// The first level of the chain that `level` belongs to; see
    /// [`Format::chain_end`].
    pub fn chain_start(&self, level: usize) -> usize {
        let joined = |at: usize| at > 0 && !self.levels[at - 1].unique;
        let mut start = level;
        while joined(start) {
            start -= 1;
        }
        start
    }
}

impl Level {
    /// The mode that the level stores.
    ///
    /// # Panics
    /// If it stores a coordinate that is computed from modes; see
    /// [`Format::is_plain`].
    pub fn mode(&self) -> usize {
        let mode = self.coordinate.mode();
        mode.expect("the levels of a plain format store modes")
    }

    /// Whether the level holds every coordinate of its mode.
    pub fn is_full(&self) -> bool {
        self.kind.capabilities().full
    }
}
