//! The format tree: modes, levels, widths.

use sparsec_base::{Fill, IndexWidth, Result, Source};

use crate::check::check;
use crate::coordinate::Coordinate;
use crate::level::LevelKind;
use crate::map::undetermined;
use crate::print::print;
use crate::region::{Mirror, Region};

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
    /// The entries that are stored, where it is not all of them.
    pub(crate) region: Option<Region>,
    /// What stored entries stand for beside themselves; the region is a triangle then.
    pub(crate) mirror: Option<Mirror>,
    /// The curve along which entries are sorted.
    pub(crate) order: Option<Coordinate>,
    pub(crate) fill: Option<Fill>,
    /// The further parts of a union, of the same modes and without such parts.
    pub(crate) rest: Vec<Format>,
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
    /// The widths declared for this level's own arrays.
    pub widths: Widths,
}

impl Level {
    /// A unique, ordered level of a mode or of another coordinate.
    pub fn new(coordinate: impl Into<Coordinate>, kind: LevelKind) -> Self {
        Self {
            coordinate: coordinate.into(),
            kind,
            unique: true,
            ordered: true,
            widths: Widths::default(),
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
    /// `E0101` for a mode whose name is no name, and `E0116` to `E0123`, `E0125`
    /// to `E0127` for what is no format; the caret points into the format's text as it would
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
        Self::unchecked(modes.into_iter().map(Into::into).collect(), levels).checked()
    }

    pub(crate) fn unchecked(modes: Vec<String>, levels: Vec<Level>) -> Self {
        Self {
            modes,
            levels,
            widths: Widths::default(),
            region: None,
            mirror: None,
            order: None,
            fill: None,
            rest: Vec::new(),
        }
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

    /// The same format with a declared fill.
    #[must_use]
    pub fn with_fill(self, fill: Fill) -> Self {
        let fill = Some(fill);
        Self { fill, ..self }
    }

    /// This format where it declares no fill.
    pub fn without_fill(self) -> Self {
        Self { fill: None, ..self }
    }

    /// The same format with index arrays of declared widths.
    #[must_use]
    pub fn with_widths(mut self, widths: Widths) -> Self {
        self.widths = widths;
        self.rest = self
            .rest
            .into_iter()
            .map(|part| part.with_widths(widths))
            .collect();
        self
    }

    fn checked(self) -> Result<Self> {
        let (text, places) = print(&self);
        check(&Source::new("format", text), &places, &self)?;
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

    /// The levels, outermost first; of a union those of its first part.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The declared widths of index arrays.
    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// The entries that are stored, where it is not all of them.
    pub fn region(&self) -> Option<Region> {
        self.region
    }

    /// What stored entries stand for beside themselves.
    pub fn mirror(&self) -> Option<Mirror> {
        self.mirror
    }

    /// The curve along which entries are sorted, where it is not the order of
    /// the levels.
    pub fn order_key(&self) -> Option<&Coordinate> {
        self.order.as_ref()
    }

    /// The fill of tensors of which nothing else is said.
    pub fn fill(&self) -> Option<f64> {
        self.fill.map(|fill| fill.0)
    }

    /// How many parts the format is a union of.
    pub fn n_parts(&self) -> usize {
        1 + self.rest.len()
    }

    /// Whether stored positions may hold fill that nobody put there: where the last level of a part
    /// is dense or a range, and in a format of order 0.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// assert!(Format::dense(2).may_pad());
    /// assert!(!Format::csr().may_pad());
    /// ```
    pub fn may_pad(&self) -> bool {
        let parts = self.parts();
        let mut last = parts.iter().map(|part| part.levels().last());
        last.any(|last| last.is_none_or(Level::may_pad))
    }

    /// The parts of a union, each as a format of its own; of other formats the
    /// format itself.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// let hybrid = "hyb(2)".parse::<FormatSpec>()?.resolve(2)?;
    /// let parts: Vec<String> = hybrid.parts().iter().map(ToString::to_string).collect();
    /// assert_eq!(parts[0], "(i, j) -> (#i < 2 : dense, i : dense, j : singleton)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parts(&self) -> Vec<Self> {
        let first = Self {
            rest: Vec::new(),
            ..self.clone()
        };
        std::iter::once(first)
            .chain(self.rest.iter().cloned())
            .collect()
    }

    /// The format that a tensor has whose mode `m` is mode `modes[m]` of one in
    /// this format, and whose arrays are the same. Names stay in their places.
    ///
    /// # Panics
    /// If `modes` does not name every mode once.
    #[must_use]
    pub fn with_modes_moved(&self, modes: &[usize]) -> Self {
        let place = |mode: usize| {
            let place = modes.iter().position(|&from| from == mode);
            place.expect("every mode is named")
        };
        let pair = |pair: [usize; 2]| pair.map(place);
        Self {
            levels: (self.levels.iter())
                .map(|level| Level {
                    coordinate: level.coordinate.with_modes(&place),
                    ..level.clone()
                })
                .collect(),
            region: self.region.map(|region| Region {
                modes: pair(region.modes),
                ..region
            }),
            mirror: self.mirror.map(|mirror| Mirror {
                modes: pair(mirror.modes),
                ..mirror
            }),
            order: self.order.as_ref().map(|key| key.with_modes(&place)),
            rest: self
                .rest
                .iter()
                .map(|part| part.with_modes_moved(modes))
                .collect(),
            ..self.clone()
        }
    }

    /// Whether the levels down to this many determine a coordinate of each of
    /// these modes.
    pub(crate) fn determines(&self, n_levels: usize, modes: &[usize]) -> bool {
        let outer = Self {
            levels: self.levels[..n_levels].to_vec(),
            rest: Vec::new(),
            ..self.clone()
        };
        let unknown = undetermined(&outer);
        modes.iter().all(|mode| !unknown.contains(mode))
    }

    /// The level that stores `mode`.
    ///
    /// # Panics
    /// If no level stores it as it is.
    pub fn level_of_mode(&self, mode: usize) -> usize {
        self.levels
            .iter()
            .position(|level| level.coordinate.mode() == Some(mode))
            .expect("every mode of a plain format has a level")
    }

    /// The mode of each level, outermost first.
    ///
    /// # Panics
    /// If the format is not [plain](Self::is_plain).
    pub fn level_order(&self) -> Vec<usize> {
        self.levels.iter().map(Level::mode).collect()
    }

    /// Whether this part may hold places that nobody put an entry at where `other` stores
    /// entries: both would have a value there. A run within a row or a column has an end on
    /// the diagonal only where an entry is, so that a triangle of runs stays clear of a
    /// triangle on the other side, which has the diagonal.
    pub(crate) fn may_pad_in(&self, other: &Format) -> bool {
        let is_run = match self.levels.last() {
            Some(last) if !last.may_pad() => return false,
            last => last.is_some_and(|last| last.kind == LevelKind::Range),
        };
        let is_run = is_run
            && self
                .levels
                .iter()
                .all(|level| level.coordinate.mode().is_some());
        match (self.region, other.region) {
            (Some(own), Some(others)) if is_run => {
                own.side == others.side || own.modes != others.modes
            }
            _ => true,
        }
    }

    /// Whether every entry is stored once, in one part, at the coordinates that
    /// it has: each level stores a mode as it is.
    pub fn is_plain(&self) -> bool {
        let mut levels = self.levels.iter();
        self.rest.is_empty()
            && self.region.is_none()
            && levels.all(|level| level.coordinate.mode().is_some())
    }

    /// Whether positions and entries are the same: the format is plain, and
    /// every position has one parent and one coordinate.
    pub fn is_regular(&self) -> bool {
        self.is_plain() && self.levels.iter().all(|level| level.kind.is_regular())
    }

    /// Whether every entry is stored: all levels are dense. So is a scalar.
    pub fn is_all_dense(&self) -> bool {
        self.is_regular() && self.levels.iter().all(Level::is_full)
    }

    /// Whether some level stores only some of the coordinates.
    pub fn has_sparse(&self) -> bool {
        !self.is_all_dense()
    }

    /// Whether entries stand in lexicographic order of their levels.
    pub fn is_ordered(&self) -> bool {
        self.levels.iter().all(Level::is_ordered)
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

    /// Whether a `singleton` may hold the mark of no entry: not below levels that list
    /// what there is.
    pub fn may_mark(&self, level: usize) -> bool {
        let kind = |level: usize| self.levels[level].kind;
        kind(level) == LevelKind::Singleton
            && match level.checked_sub(1).map(|above| (above, kind(above))) {
                Some((_, LevelKind::Compressed)) => false,
                Some((above, LevelKind::Singleton)) => self.may_mark(above),
                _ => true,
            }
    }

    /// Whether every position of the last level is that of an entry.
    pub fn lists_entries(&self) -> bool {
        let last = self.levels.len().checked_sub(1);
        let lists = |last: usize| match self.levels[last].kind {
            LevelKind::Compressed => true,
            LevelKind::Singleton => !self.may_mark(last),
            _ => false,
        };
        self.region.is_none() && last.is_some_and(lists)
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

    /// Whether the level keeps its extent in an array: that of ranks follows from
    /// the entries.
    pub fn has_size(&self) -> bool {
        matches!(self.coordinate, Coordinate::Rank { below: None, .. })
    }

    /// Whether coordinates stand in order below one parent position.
    pub fn is_ordered(&self) -> bool {
        self.ordered && self.kind.capabilities().ordered
    }

    /// Whether the level holds places where nobody put an entry.
    pub fn may_pad(&self) -> bool {
        self.is_full() || matches!(self.kind, LevelKind::Range | LevelKind::Structured { .. })
    }

    /// Whether the position of every coordinate is computed.
    pub fn is_computed(&self) -> bool {
        self.kind.is_computed()
    }

    /// Whether the level holds every coordinate of its mode.
    pub fn is_full(&self) -> bool {
        self.kind.capabilities().full
    }
}
