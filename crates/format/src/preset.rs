//! Formats with names.
//!
//! | preset | levels                                                     | order |
//! |--------|------------------------------------------------------------|-------|
//! | dense  | all dense                                                  | any   |
//! | csr    | dense rows, compressed columns                             | 2     |
//! | csc    | dense columns, compressed rows                             | 2     |
//! | dcsr   | compressed rows, compressed columns                        | 2     |
//! | dcsc   | compressed columns, compressed rows                        | 2     |
//! | csf    | all compressed                                             | any   |
//! | coo    | a compressed and then singletons, in any order, unique     | any   |
//! | scoo   | the same in lexicographic order                            | any   |
//!
//! Where two presets are the same format (`dcsr` and `csf` of order 2), the
//! first in this list is its name.

use sparsec_base::Result;

use crate::format::{Format, Level, Widths};
use crate::level::LevelKind;

/// A format with a name, for one order or for all.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in format text.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The order that it is for; `None` where it fits every order.
    pub order: Option<usize>,
    levels: fn(usize) -> Vec<Level>,
}

const PRESETS: [Preset; 8] = [
    Preset {
        name: "dense",
        summary: "every entry, row by row",
        order: None,
        levels: |order| (0..order).map(dense).collect(),
    },
    Preset {
        name: "csr",
        summary: "compressed sparse rows",
        order: Some(2),
        levels: |_| vec![dense(0), compressed(1)],
    },
    Preset {
        name: "csc",
        summary: "compressed sparse columns",
        order: Some(2),
        levels: |_| vec![dense(1), compressed(0)],
    },
    Preset {
        name: "dcsr",
        summary: "compressed sparse rows, only rows with entries",
        order: Some(2),
        levels: |_| vec![compressed(0), compressed(1)],
    },
    Preset {
        name: "dcsc",
        summary: "compressed sparse columns, only columns with entries",
        order: Some(2),
        levels: |_| vec![compressed(1), compressed(0)],
    },
    Preset {
        name: "csf",
        summary: "compressed sparse fibers: a tree of coordinates",
        order: None,
        levels: |order| (0..order).map(compressed).collect(),
    },
    Preset {
        name: "coo",
        summary: "a list of coordinates in any order, each once",
        order: None,
        levels: |order| coordinate_list(order, false),
    },
    Preset {
        name: "scoo",
        summary: "a list of coordinates in order, each once",
        order: None,
        levels: |order| coordinate_list(order, true),
    },
];

/// All presets.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The preset called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset for tensors of `order`, or `None` where there is none.
    pub fn format(&self, order: usize) -> Option<Format> {
        self.fits(order).then(|| self.build(order))
    }

    /// Whether the preset stores tensors of `order`.
    pub fn fits(&self, order: usize) -> bool {
        self.order.is_none_or(|only| only == order)
    }

    /// The format; the preset has to fit the order.
    pub(crate) fn build(&self, order: usize) -> Format {
        Format {
            modes: mode_names(order),
            levels: (self.levels)(order),
            widths: Widths::default(),
        }
    }
}

impl Format {
    /// Every entry of a tensor of `order`, row by row.
    pub fn dense(order: usize) -> Self {
        preset("dense", order)
    }

    /// Compressed sparse rows: `(i, j) -> (i : dense, j : compressed)`.
    pub fn csr() -> Self {
        preset("csr", 2)
    }

    /// Compressed sparse columns: `(i, j) -> (j : dense, i : compressed)`.
    pub fn csc() -> Self {
        preset("csc", 2)
    }

    /// Compressed sparse rows without the empty ones.
    pub fn dcsr() -> Self {
        preset("dcsr", 2)
    }

    /// Compressed sparse columns without the empty ones.
    pub fn dcsc() -> Self {
        preset("dcsc", 2)
    }

    /// Compressed sparse fibers: every level compressed, modes in order.
    pub fn csf(order: usize) -> Self {
        preset("csf", order)
    }

    /// A list of coordinates in any order, each once.
    pub fn coo(order: usize) -> Self {
        preset("coo", order)
    }

    /// A list of coordinates in lexicographic order, each once.
    pub fn scoo(order: usize) -> Self {
        preset("scoo", order)
    }

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
        if self.widths != Widths::default() {
            return None;
        }
        PRESETS
            .iter()
            .filter(|preset| preset.fits(self.order()))
            .find(|preset| (preset.levels)(self.order()) == self.levels)
            .map(|preset| preset.name)
    }

    /// The preset's name where this format is one, else its text.
    pub fn short_name(&self) -> String {
        match self.preset_name() {
            Some(name) => name.to_owned(),
            None => self.to_string(),
        }
    }

    /// A format with these levels whose modes have their usual names
    /// `i, j, k, …`.
    ///
    /// # Errors
    /// As [`Format::new`].
    pub fn from_levels(levels: Vec<Level>) -> Result<Self> {
        Self::new(mode_names(levels.len()), levels)
    }
}

fn preset(name: &str, order: usize) -> Format {
    let preset = Preset::find(name).expect("constructors name presets");
    preset.build(order)
}

fn dense(mode: usize) -> Level {
    Level::new(mode, LevelKind::Dense)
}

fn compressed(mode: usize) -> Level {
    Level::new(mode, LevelKind::Compressed)
}

/// Every level but the last repeats coordinates; the last makes them unique.
fn coordinate_list(order: usize, ordered: bool) -> Vec<Level> {
    let level = |mode: usize| Level {
        coordinate: mode.into(),
        kind: match mode {
            0 => LevelKind::Compressed,
            _ => LevelKind::Singleton,
        },
        unique: mode + 1 == order,
        ordered,
    };
    (0..order).map(level).collect()
}

/// `i, j, k, …` up to `p`; beyond eight modes `i0, i1, …`.
fn mode_names(order: usize) -> Vec<String> {
    let letters = 'i'..='p';
    if order <= letters.clone().count() {
        letters.take(order).map(String::from).collect()
    } else {
        (0..order).map(|mode| format!("i{mode}")).collect()
    }
}
