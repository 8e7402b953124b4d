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
//! | mcoo   | the same along a Morton curve                              | any   |
//! | bsr    | dense blocks, compressed                                   | any   |
//! | dia    | diagonals that have entries                                | 2     |
//! | ell    | rows of entries, all padded to the longest                 | 2     |
//! | hyb    | a few entries of each row, the others as `coo`             | 2     |
//! | msr    | the diagonal, and the others as `csr`                      | 2     |
//! | sky    | the lower triangle, each row from its first entry          | 2     |
//! | csb    | a list of entries for each block                           | 2     |
//! | hash   | hash tables below dense rows                               | any   |
//! | bitmap | every entry, with bits that say which are stored           | any   |
//! | hicoo  | lists of entries for each block, blocks along a curve      | any   |
//! | alto   | one number for all coordinates of an entry                 | any   |
//!
//! Where two presets are the same format (`dcsr` and `csf` of order 2), the
//! first in this list is its name. `bsr(4, 4)` and others take the size of their
//! blocks. `jds`, `sell`, `fcoo` and `bcsf` permute rows, keep bits or split
//! fibers, which levels do not say: they are relations (`relational/presets.rs`).

use std::hash::{Hash, Hasher};

use sparsec_base::Result;

use crate::coordinate::Coordinate;
use crate::format::{Format, Level, Widths};
use crate::level::LevelKind;
use crate::region::{Region, Side};

/// A format with a name, for one order or for all.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in format text.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The order that it is for; `None` where it fits every order.
    pub order: Option<usize>,
    /// The numbers that it takes in parentheses.
    pub parameters: Parameters,
    build: fn(usize, &[u64]) -> Format,
}

/// A preset is its name: no two presets share one.
impl PartialEq for Preset {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Preset {}

impl Hash for Preset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The numbers that a preset takes in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// None.
    None,
    /// One.
    One,
    /// One for each mode, which say what the order is.
    EachMode,
}

const fn plain(
    name: &'static str,
    summary: &'static str,
    order: Option<usize>,
    build: fn(usize, &[u64]) -> Format,
) -> Preset {
    Preset {
        name,
        summary,
        order,
        parameters: Parameters::None,
        build,
    }
}

const PRESETS: [Preset; 20] = [
    plain("dense", "every entry, row by row", None, |order, _| {
        levels(order, (0..order).map(dense).collect())
    }),
    plain("csr", "compressed sparse rows", Some(2), |_, _| {
        levels(2, vec![dense(0), compressed(1)])
    }),
    plain("csc", "compressed sparse columns", Some(2), |_, _| {
        levels(2, vec![dense(1), compressed(0)])
    }),
    plain(
        "dcsr",
        "compressed sparse rows, only rows with entries",
        Some(2),
        |_, _| levels(2, vec![compressed(0), compressed(1)]),
    ),
    plain(
        "dcsc",
        "compressed sparse columns, only columns with entries",
        Some(2),
        |_, _| levels(2, vec![compressed(1), compressed(0)]),
    ),
    plain(
        "csf",
        "compressed sparse fibers: a tree of coordinates",
        None,
        |order, _| levels(order, (0..order).map(compressed).collect()),
    ),
    plain(
        "coo",
        "a list of coordinates in any order, each once",
        None,
        |order, _| levels(order, coordinate_list(order, false)),
    ),
    plain(
        "scoo",
        "a list of coordinates in order, each once",
        None,
        |order, _| levels(order, coordinate_list(order, true)),
    ),
    plain(
        "mcoo",
        "a list of coordinates along a Morton curve",
        None,
        |order, _| Format {
            order: (order > 0)
                .then(|| Coordinate::Morton((0..order).map(Coordinate::Mode).collect())),
            ..levels(order, coordinate_list(order, false))
        },
    ),
    Preset {
        parameters: Parameters::EachMode,
        ..plain("bsr", "dense blocks, compressed", None, |order, sizes| {
            let block = |mode: usize| Coordinate::FloorDivide(Box::new(mode.into()), sizes[mode]);
            let place = |mode: usize| Coordinate::Modulo(Box::new(mode.into()), sizes[mode]);
            let outer = (0..order).map(|mode| match mode {
                0 if order > 1 => Level::new(block(mode), LevelKind::Dense),
                _ => Level::new(block(mode), LevelKind::Compressed),
            });
            let inner = (0..order).map(|mode| Level::new(place(mode), LevelKind::Dense));
            levels(order, outer.chain(inner).collect())
        })
    },
    plain("dia", "diagonals that have entries", Some(2), |_, _| {
        let diagonal = Coordinate::Difference(Box::new(1.into()), Box::new(0.into()));
        levels(
            2,
            vec![
                Level::new(diagonal, LevelKind::Compressed),
                Level::new(0, LevelKind::Range),
            ],
        )
    }),
    plain(
        "ell",
        "rows of entries, all padded to the longest",
        Some(2),
        |_, _| ranked(None),
    ),
    Preset {
        parameters: Parameters::One,
        ..plain(
            "hyb",
            "a few entries of each row, the others as `coo`",
            Some(2),
            |_, width| Format {
                rest: vec![levels(2, coordinate_list(2, false))],
                ..ranked(Some(width[0]))
            },
        )
    },
    plain(
        "msr",
        "the diagonal, and the others as `csr`",
        Some(2),
        |_, _| Format {
            region: Some(Region {
                side: Side::Diagonal,
                modes: [0, 1],
            }),
            rest: vec![levels(2, vec![dense(0), compressed(1)])],
            ..levels(2, vec![dense(0)])
        },
    ),
    plain(
        "sky",
        "the lower triangle, each row from its first entry",
        Some(2),
        |_, _| Format {
            region: Some(Region {
                side: Side::Lower,
                modes: [0, 1],
            }),
            ..levels(2, vec![dense(0), Level::new(1, LevelKind::Range)])
        },
    ),
    Preset {
        parameters: Parameters::One,
        ..plain(
            "csb",
            "a list of entries for each block",
            Some(2),
            |_, size| {
                let blocks = (0..2).map(|mode: usize| {
                    let block = Coordinate::FloorDivide(Box::new(mode.into()), size[0]);
                    Level::new(block, LevelKind::Dense)
                });
                levels(2, blocks.chain(places(2, size[0])).collect())
            },
        )
    },
    plain("hash", "hash tables below dense rows", None, |order, _| {
        let level = |mode| match mode {
            0 if order > 1 => dense(mode),
            _ => Level::new(mode, LevelKind::Hashed),
        };
        levels(order, (0..order).map(level).collect())
    }),
    plain(
        "bitmap",
        "every entry, with bits that say which are stored",
        None,
        |order, _| {
            let level = |mode| match mode + 1 == order {
                true => Level::new(mode, LevelKind::Bitmap),
                false => dense(mode),
            };
            levels(order, (0..order).map(level).collect())
        },
    ),
    Preset {
        parameters: Parameters::One,
        ..plain(
            "hicoo",
            "lists of entries for each block, blocks along a curve",
            None,
            |order, size| {
                let block = |mode: usize| Coordinate::FloorDivide(Box::new(mode.into()), size[0]);
                let curve = Coordinate::Morton((0..order).map(block).collect());
                let outer = (order > 0).then(|| Level::new(curve, LevelKind::Compressed));
                levels(
                    order,
                    outer.into_iter().chain(places(order, size[0])).collect(),
                )
            },
        )
    },
    plain(
        "alto",
        "one number for all coordinates of an entry",
        None,
        |order, _| {
            let curve = Coordinate::Alto((0..order).collect());
            let level = (order > 0).then(|| Level::new(curve, LevelKind::Compressed));
            levels(order, level.into_iter().collect())
        },
    ),
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

    /// The preset for tensors of `order`, with blocks of 2 where it takes sizes,
    /// or `None` where there is none.
    pub fn format(&self, order: usize) -> Option<Format> {
        self.fits(order)
            .then(|| self.build(order, &self.examples(order)))
    }

    /// How the preset is written for tensors of `order`, with blocks of 2 where
    /// it takes sizes.
    ///
    /// ```
    /// use sparsec_format::Preset;
    /// let text = |name| Preset::find(name).map(|preset| preset.text(3));
    /// assert_eq!(text("bsr").as_deref(), Some("bsr(2, 2, 2)"));
    /// assert_eq!(text("csf").as_deref(), Some("csf"));
    /// ```
    pub fn text(&self, order: usize) -> String {
        with_arguments(self.name, &self.examples(order))
    }

    pub(crate) fn examples(&self, order: usize) -> Vec<u64> {
        match self.parameters {
            Parameters::None => Vec::new(),
            Parameters::One => vec![2],
            Parameters::EachMode => vec![2; order],
        }
    }

    /// Whether the preset stores tensors of `order`.
    pub fn fits(&self, order: usize) -> bool {
        // Without a mode there is nothing to give a size for.
        let has_sizes = self.parameters != Parameters::EachMode || order > 0;
        self.order.is_none_or(|only| only == order) && has_sizes
    }

    /// The format; the preset has to fit the order, and the arguments too.
    pub(crate) fn build(&self, order: usize, arguments: &[u64]) -> Format {
        (self.build)(order, arguments)
    }
}

/// A name with numbers in parentheses, where there are any.
pub(crate) fn with_arguments(name: &str, arguments: &[u64]) -> String {
    let numbers: Vec<String> = arguments.iter().map(u64::to_string).collect();
    match numbers[..] {
        [] => name.to_owned(),
        _ => format!("{name}({})", numbers.join(", ")),
    }
}

fn levels(order: usize, levels: Vec<Level>) -> Format {
    Format::unchecked(mode_names(order), levels)
}

/// ELLPACK: the entries of all rows by their rank, so many of them.
fn ranked(below: Option<u64>) -> Format {
    let rank = Coordinate::Rank { of: vec![0], below };
    levels(
        2,
        vec![
            Level::new(rank, LevelKind::Dense),
            dense(0),
            Level::new(1, LevelKind::Singleton),
        ],
    )
}

/// A list of the places in a block.
fn places(order: usize, size: u64) -> impl Iterator<Item = Level> {
    coordinate_list(order, true)
        .into_iter()
        .map(move |level| Level {
            coordinate: Coordinate::Modulo(Box::new(level.coordinate), size),
            ..level
        })
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

    /// A value for every coordinate, and a bit that says which are stored: all levels are
    /// `dense` but the last, which is `bitmap`.
    ///
    /// # Panics
    /// If `order` is 0.
    pub fn dense_bitmap(order: usize) -> Self {
        let kind = |mode| match mode + 1 == order {
            true => LevelKind::Bitmap,
            false => LevelKind::Dense,
        };
        let levels = (0..order).map(|mode| Level::new(mode, kind(mode)));
        Self::from_levels(levels.collect()).expect("a mode for each level")
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
    preset.build(order, &[])
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
        widths: Widths::default(),
    };
    (0..order).map(level).collect()
}

/// `i, j, k, …` up to `p`; beyond eight modes `i0, i1, …`.
pub(crate) fn mode_names(order: usize) -> Vec<String> {
    let letters = 'i'..='p';
    if order <= letters.clone().count() {
        letters.take(order).map(String::from).collect()
    } else {
        (0..order).map(|mode| format!("i{mode}")).collect()
    }
}
