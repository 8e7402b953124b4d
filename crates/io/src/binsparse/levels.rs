//! Level trees of Binsparse and formats of ours.
//!
//! A Binsparse format is a tree without branches: levels of rank `r`, each of
//! which takes `r` modes, down to the elements. `transpose` says which mode each
//! of them is. Both sides describe the same arrays:
//!
//! | Binsparse        | ours                                                      |
//! |------------------|-----------------------------------------------------------|
//! | `dense`, rank r  | r dense levels                                            |
//! | `sparse`, rank 1 | a compressed level                                        |
//! | `sparse`, rank r | a nonunique compressed level and r - 1 singletons, of which the last is unique |
//! | `element`        | the values                                                |
//! | `transpose`      | the modes of the levels                                   |
//!
//! Names such as `CSR` stand for trees, listed once in [`PREDEFINED`]; nothing
//! else here knows a format by its name. A level of ours has the number that
//! its first mode has in the tree, so the arrays are named without a table:
//!
//! ```text
//! CSC, 4x5     dense (mode 1) ─ sparse (mode 0) ─ element
//! ours         level 0          level 1
//! arrays                        pointers_to_1 = 1.pos, indices_1 = 1.crd      values
//! ```
//!
//! The first level has one parent, so the `pos` of a sparse level there is
//! `[0, n]` and no array of the file.
//!
//! Source: the Binsparse specification, "Custom Formats",
//! <https://graphblas.org/binsparse-specification/>.

use serde_json::{Value, json};
use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Level, LevelKind, Role};

/// What a level of a tree does with its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every coordinate has a position.
    Dense,
    /// Sorted tuples of coordinates, each once.
    Sparse,
}

/// One level of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeLevel {
    /// What the level does.
    pub(super) kind: Kind,
    /// How many modes it takes.
    pub(super) rank: usize,
}

/// A tree of levels, outermost first, and the modes that they take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The levels above the elements.
    pub(super) levels: Vec<TreeLevel>,
    /// The mode of each coordinate of the tree; `None` where they are in order.
    pub(super) transpose: Option<Vec<usize>>,
}

const DENSE: TreeLevel = TreeLevel {
    kind: Kind::Dense,
    rank: 1,
};
const SPARSE: TreeLevel = TreeLevel {
    kind: Kind::Sparse,
    rank: 1,
};
const PAIRS: TreeLevel = TreeLevel {
    kind: Kind::Sparse,
    rank: 2,
};

/// A name for a tree: its levels, and whether columns come before rows.
type Predefined = (&'static str, &'static [TreeLevel], bool);

/// The names that the specification gives to trees. Of two names of one tree the
/// first is written, which every version knows.
const PREDEFINED: [Predefined; 12] = [
    ("DVEC", &[DENSE], false),
    ("DMAT", &[DENSE, DENSE], false),
    ("DMATR", &[DENSE, DENSE], false),
    ("DMATC", &[DENSE, DENSE], true),
    ("CVEC", &[SPARSE], false),
    ("CSR", &[DENSE, SPARSE], false),
    ("CSC", &[DENSE, SPARSE], true),
    ("DCSR", &[SPARSE, SPARSE], false),
    ("DCSC", &[SPARSE, SPARSE], true),
    ("COO", &[PAIRS], false),
    ("COOR", &[PAIRS], false),
    ("COOC", &[PAIRS], true),
];

/// The names of all predefined formats.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PREDEFINED.iter().map(|(name, ..)| *name)
}

impl Tree {
    /// The tree that a predefined format stands for.
    pub(super) fn predefined(name: &str) -> Option<Self> {
        let found = PREDEFINED.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, levels, columns_first)| Self {
            levels: levels.to_vec(),
            transpose: columns_first.then(|| vec![1, 0]),
        })
    }

    /// How many modes the levels take.
    pub(super) fn order(&self) -> usize {
        self.levels.iter().map(|level| level.rank).sum()
    }

    /// The name of this tree, if it has one.
    fn name(&self) -> Option<&'static str> {
        let mut all = PREDEFINED.iter();
        let is_this = |(name, ..): &&Predefined| Self::predefined(name).as_ref() == Some(self);
        all.find(is_this).map(|(name, ..)| *name)
    }

    /// `format`, and where it is `custom` the tree itself, as a descriptor has them.
    pub(super) fn describe(&self) -> (&'static str, Option<Value>) {
        if let Some(name) = self.name() {
            return (name, None);
        }
        let mut level = json!({"level_desc": "element"});
        for outer in self.levels.iter().rev() {
            let kind = match outer.kind {
                Kind::Dense => "dense",
                Kind::Sparse => "sparse",
            };
            level = json!({"level_desc": kind, "rank": outer.rank, "level": level});
        }
        let custom = match &self.transpose {
            None => json!({"level": level}),
            Some(modes) => json!({"level": level, "transpose": modes}),
        };
        ("custom", Some(custom))
    }

    /// The format of ours with the same arrays.
    ///
    /// The modes have to be a permutation, which the descriptor's reader checks.
    pub(super) fn format(&self) -> Result<Format> {
        let mut levels = Vec::with_capacity(self.order());
        for level in &self.levels {
            for number in 0..level.rank {
                let at = levels.len();
                let mode = self.transpose.as_ref().map_or(at, |modes| modes[at]);
                let is_last = number + 1 == level.rank;
                levels.push(match (level.kind, number) {
                    (Kind::Dense, _) => Level::new(mode, LevelKind::Dense),
                    (Kind::Sparse, _) => Level {
                        unique: is_last,
                        ..Level::new(
                            mode,
                            match number {
                                0 => LevelKind::Compressed,
                                _ => LevelKind::Singleton,
                            },
                        )
                    },
                });
            }
        }
        Format::from_levels(levels)
    }

    /// The tree with the arrays of `format`.
    ///
    /// # Errors
    /// `E0465` for a format that has none.
    pub(super) fn of(format: &Format) -> Result<Self> {
        if !format.is_regular() {
            let message = format!(
                "Binsparse has no form for the format `{}`",
                format.short_name()
            );
            return Err(Diagnostic::new(code::NOT_EXPRESSIBLE_IN_BINSPARSE, message)
                .note("its levels store modes, and every entry at a position of its own")
                .help("store the tensor as `scoo` or `csr`, or write a plain `.npz`"));
        }
        let mut levels = Vec::new();
        let mut at = 0;
        while let Some(level) = format.levels().get(at) {
            let end = format.chain_end(at);
            let chain = &format.levels()[at..=end];
            if let Some(number) = chain.iter().position(|level| !level.ordered) {
                return Err(refused(format, at + number, "has coordinates in any order"));
            }
            if !chain[chain.len() - 1].unique {
                return Err(refused(format, end, "may have coordinates more than once"));
            }
            let kind = match level.kind {
                LevelKind::Dense => Kind::Dense,
                LevelKind::Compressed => Kind::Sparse,
                kind => {
                    let why = format!("is a `{}` level of its own", kind.spec().name);
                    return Err(refused(format, at, &why));
                }
            };
            let joined = |level: &Level| level.kind == LevelKind::Singleton;
            if let Some(number) = chain[1..].iter().position(|level| !joined(level)) {
                let why = "stands below coordinates that repeat";
                return Err(refused(format, at + 1 + number, why));
            }
            let rank = chain.len();
            levels.push(TreeLevel { kind, rank });
            at = end + 1;
        }
        let modes = format.level_order();
        let in_order = modes.iter().enumerate().all(|(at, &mode)| at == mode);
        Ok(Self {
            levels,
            transpose: (!in_order).then_some(modes),
        })
    }
}

fn refused(format: &Format, level: usize, why: &str) -> Diagnostic {
    let message = format!(
        "Binsparse has no form for the format `{}`",
        format.short_name()
    );
    let error = Diagnostic::new(code::NOT_EXPRESSIBLE_IN_BINSPARSE, message)
        .note(format!("level {level} of `{format}` {why}"));
    error.help("store the tensor as `scoo` or `csr`, or write a plain `.npz`")
}

/// The name of an array in the container; `None` for the `pos` of the first
/// level, which is not stored.
pub(super) fn array_name(role: Role) -> Option<String> {
    match role {
        Role::Pos(0) => None,
        Role::Pos(level) => Some(format!("pointers_to_{level}")),
        Role::Crd(level) => Some(format!("indices_{level}")),
        Role::Vals => Some("values".to_owned()),
        other => unreachable!("no level of a Binsparse tensor has an array {other:?}"),
    }
}
