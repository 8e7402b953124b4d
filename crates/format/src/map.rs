//! From coordinates of modes to coordinates of levels, and back.
//!
//! Each level's expression gives its coordinate. Backwards, every mode is
//! solved for: what is known at first are the expressions of the levels, and
//! each rule makes more known until nothing new comes.
//!
//! ```text
//! known                        gives
//! e floordiv n, e mod n        e = n * (e floordiv n) + e mod n
//! a + b and a                  b;   likewise for a - b
//! morton(a, b)                 a and b, from their bits
//! i, where only i = j is stored    j
//! ```
//!
//! (i, j) -> (j - i : compressed, i : range) is solved by i = level 1 and
//! j = level 0 + i. A format whose modes cannot all be solved for is refused:
//! two entries could not be told apart.

use sparsec_base::{Deal, Diagnostic, Result, code};

use crate::coordinate::Coordinate;
use crate::format::Format;
use crate::region::Side;

/// How to get a value from coordinates of levels.
#[derive(Clone, Debug)]
enum Recipe {
    /// The coordinate of a level, before it is counted from its least.
    Level(usize),
    Integer(i64),
    Add(Box<Self>, Box<Self>),
    Subtract(Box<Self>, Box<Self>),
    /// The block, the place in it, and the size of a block.
    Place(Box<Self>, Box<Self>, i64),
    /// An argument of the curve that a level stores.
    Argument(usize, usize),
}

/// How to get each mode, or `None` where it is not determined.
fn solve(format: &Format) -> Vec<Option<Recipe>> {
    let levels = format.levels().iter().enumerate();
    let stored = levels.filter(|(_, level)| !level.coordinate.is_rank());
    let mut known: Vec<(Coordinate, Recipe)> = stored
        .map(|(number, level)| (level.coordinate.clone(), Recipe::Level(number)))
        .collect();
    let mut next = 0;
    // Each round looks at what became known, with all that is known.
    loop {
        let before = known.len();
        for at in 0..before {
            for (coordinate, recipe) in consequences(format, &known, at) {
                if known.iter().all(|(other, _)| *other != coordinate) {
                    known.push((coordinate, recipe));
                }
            }
        }
        if known.len() == before || next > format.levels().len() + 64 {
            break;
        }
        next += 1;
    }
    let mode = |mode| find(&known, &Coordinate::Mode(mode));
    (0..format.order()).map(mode).collect()
}

fn find(known: &[(Coordinate, Recipe)], coordinate: &Coordinate) -> Option<Recipe> {
    if let Coordinate::Integer(n) = coordinate {
        return Some(Recipe::Integer(*n));
    }
    let known = known.iter().find(|(other, _)| other == coordinate);
    known.map(|(_, recipe)| recipe.clone())
}

fn consequences(
    format: &Format,
    known: &[(Coordinate, Recipe)],
    at: usize,
) -> Vec<(Coordinate, Recipe)> {
    let (coordinate, recipe) = &known[at];
    let of = || Box::new(recipe.clone());
    match coordinate {
        Coordinate::Mode(mode) => match format.region {
            // Only equal coordinates are stored.
            Some(region) if region.side == Side::Diagonal && region.modes.contains(mode) => {
                let other = region.modes[usize::from(region.modes[0] == *mode)];
                vec![(other.into(), recipe.clone())]
            }
            _ => Vec::new(),
        },
        Coordinate::Sum(a, b) => {
            let one = |known_part: &Coordinate, other: &Coordinate| {
                let part = Box::new(find(known, known_part)?);
                Some((other.clone(), Recipe::Subtract(of(), part)))
            };
            one(a, b).into_iter().chain(one(b, a)).collect()
        }
        Coordinate::Difference(a, b) => {
            let left = find(known, b).map(|b| (*a.clone(), Recipe::Add(of(), Box::new(b))));
            let right = find(known, a).map(|a| (*b.clone(), Recipe::Subtract(Box::new(a), of())));
            left.into_iter().chain(right).collect()
        }
        Coordinate::FloorDivide(a, by) => {
            let place = find(known, &Coordinate::Modulo(a.clone(), *by));
            let whole = place.map(|place| Recipe::Place(of(), Box::new(place), *by as i64));
            whole.map(|whole| (*a.clone(), whole)).into_iter().collect()
        }
        Coordinate::Morton(arguments) => match recipe {
            Recipe::Level(level) => arguments
                .iter()
                .enumerate()
                .map(|(number, a)| (a.clone(), Recipe::Argument(*level, number)))
                .collect(),
            _ => Vec::new(),
        },
        Coordinate::Alto(modes) => match recipe {
            Recipe::Level(level) => modes
                .iter()
                .enumerate()
                .map(|(number, &mode)| (mode.into(), Recipe::Argument(*level, number)))
                .collect(),
            _ => Vec::new(),
        },
        Coordinate::Integer(_) | Coordinate::Modulo(..) | Coordinate::Rank { .. } => Vec::new(),
    }
}

/// The modes that the levels of a format do not determine.
pub(crate) fn undetermined(format: &Format) -> Vec<usize> {
    let solved = solve(format).into_iter().enumerate();
    let unknown = solved.filter(|(_, recipe)| recipe.is_none());
    unknown.map(|(mode, _)| mode).collect()
}

/// What one level makes of the coordinates of the modes.
#[derive(Clone, Debug)]
enum Computed {
    Mode(usize),
    Value(Coordinate),
    Curve(Deal, Vec<Coordinate>),
    Rank,
}

/// The coordinates of the levels of a format (of its first part), for modes of
/// known extents.
///
/// ```
/// use sparsec_format::Format;
/// let format = Format::parse(
///     "(i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
/// )?;
/// let map = format.level_map(&[5, 5])?;
/// assert_eq!(map.extents(), [Some(3), Some(3), Some(2), Some(2)]);
/// let mut levels = [0; 4];
/// map.levels_of(&[4, 3], &mut levels);
/// assert_eq!(levels, [2, 1, 0, 1]);
/// let mut modes = [0; 2];
/// assert!(map.modes_of(&levels, &mut modes));
/// assert_eq!(modes, [4, 3]);
/// // Row 5 of the blocks is padding: the matrix has rows 0 to 4.
/// assert!(!map.modes_of(&[2, 1, 1, 1], &mut modes));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug)]
pub struct LevelMap {
    computed: Vec<Computed>,
    least: Vec<i64>,
    extents: Vec<Option<u64>>,
    recipes: Vec<Recipe>,
    mode_extents: Vec<u64>,
}

impl Format {
    /// How the levels of the format (of its first part) get their coordinates
    /// from modes of these extents.
    ///
    /// # Errors
    /// `E0406` where a coordinate does not fit in 63 bits.
    ///
    /// # Panics
    /// If there is not one extent a mode.
    pub fn level_map(&self, extents: &[u64]) -> Result<LevelMap> {
        assert_eq!(extents.len(), self.order(), "one extent a mode");
        let mut map = LevelMap {
            computed: Vec::new(),
            least: Vec::new(),
            extents: Vec::new(),
            recipes: solve(self).into_iter().flatten().collect(),
            mode_extents: extents.to_vec(),
        };
        for level in &self.levels {
            let coordinate = &level.coordinate;
            let (least, extent) = match coordinate {
                Coordinate::Rank { below, .. } => (0, *below),
                Coordinate::Mode(mode) => (0, Some(extents[*mode])),
                _ => {
                    let bounds = coordinate.bounds(extents);
                    let bounds = bounds.filter(|(least, most)| most.checked_sub(*least).is_some());
                    let (least, most) = bounds.ok_or_else(|| self.too_many(coordinate))?;
                    let extent = (most - least) as u64 + 1;
                    let mut is_empty = false;
                    coordinate.for_each_mode(&mut |mode| is_empty |= extents[mode] == 0);
                    // The place in a block has its extent also where there is no block.
                    let is_place = matches!(coordinate, Coordinate::Modulo(..));
                    (least, Some(if is_empty && !is_place { 0 } else { extent }))
                }
            };
            map.least.push(least);
            map.extents.push(extent);
            map.computed.push(match coordinate {
                Coordinate::Mode(mode) => Computed::Mode(*mode),
                Coordinate::Rank { .. } => Computed::Rank,
                Coordinate::Morton(arguments) => {
                    let deal = coordinate
                        .deal(extents)
                        .ok_or_else(|| self.too_many(coordinate))?;
                    Computed::Curve(deal, arguments.clone())
                }
                Coordinate::Alto(modes) => {
                    let deal = coordinate
                        .deal(extents)
                        .ok_or_else(|| self.too_many(coordinate))?;
                    Computed::Curve(deal, modes.iter().copied().map(Coordinate::Mode).collect())
                }
                other => Computed::Value(other.clone()),
            });
        }
        Ok(map)
    }

    fn too_many(&self, coordinate: &Coordinate) -> Diagnostic {
        Diagnostic::new(
            code::INDEX_WIDTH_OVERFLOW,
            format!(
                "coordinates of `{}` do not fit in 63 bits",
                coordinate.text(&self.modes)
            ),
        )
        .note(format!("the format is `{self}`"))
        .help("use a format that stores the modes apart, such as `scoo`")
    }
}

impl LevelMap {
    /// The extent of each level; `None` for ranks, whose extent the entries decide.
    pub fn extents(&self) -> &[Option<u64>] {
        &self.extents
    }

    /// The value of a level's expression whose coordinate is 0.
    pub fn least(&self, level: usize) -> i64 {
        self.least[level]
    }

    /// Writes the coordinate of each level; ranks are left as they are.
    pub fn levels_of(&self, coords: &[u64], to: &mut [u64]) {
        for ((computed, least), to) in self.computed.iter().zip(&self.least).zip(to) {
            *to = match computed {
                Computed::Mode(mode) => coords[*mode],
                Computed::Value(coordinate) => (coordinate.value(coords) - least) as u64,
                Computed::Curve(deal, arguments) => {
                    deal.key(|number| arguments[number].value(coords) as u64)
                }
                Computed::Rank => continue,
            };
        }
    }

    /// Whether a level, if it stores places on a curve, has this one: those between
    /// the first and the last that have coordinates beyond an extent are none.
    pub fn has_place(&self, level: usize, coordinate: u64) -> bool {
        match &self.computed[level] {
            Computed::Curve(deal, _) => deal.holds(coordinate),
            _ => true,
        }
    }

    /// Writes the coordinate of each mode; `false` where a mode does not have
    /// it, so that the levels' coordinates are padding.
    pub fn modes_of(&self, levels: &[u64], to: &mut [u64]) -> bool {
        let recipes = self.recipes.iter().zip(&self.mode_extents);
        for ((recipe, &extent), to) in recipes.zip(to) {
            let value = self.follow(recipe, levels);
            if value < 0 || value as u64 >= extent {
                return false;
            }
            *to = value as u64;
        }
        true
    }

    fn follow(&self, recipe: &Recipe, levels: &[u64]) -> i64 {
        match recipe {
            Recipe::Level(level) => levels[*level] as i64 + self.least[*level],
            Recipe::Integer(n) => *n,
            Recipe::Add(a, b) => self.follow(a, levels).wrapping_add(self.follow(b, levels)),
            Recipe::Subtract(a, b) => self.follow(a, levels).wrapping_sub(self.follow(b, levels)),
            Recipe::Place(block, place, size) => self
                .follow(block, levels)
                .wrapping_mul(*size)
                .wrapping_add(self.follow(place, levels)),
            Recipe::Argument(level, number) => match &self.computed[*level] {
                Computed::Curve(deal, _) => deal.coordinate(levels[*level], *number) as i64,
                _ => unreachable!("arguments are those of curves"),
            },
        }
    }
}

/// The curve along which the entries of a format are sorted.
#[derive(Clone, Debug)]
pub struct Curve {
    deal: Deal,
    arguments: Vec<Coordinate>,
}

impl Curve {
    /// The curve that `format` names, for modes of these extents; `None` where
    /// it names none.
    ///
    /// # Errors
    /// `E0406` where coordinates have more than 63 bits together.
    pub fn new(format: &Format, extents: &[u64]) -> Result<Option<Self>> {
        let Some(key) = &format.order else {
            return Ok(None);
        };
        // Keys are compared alone. Three coordinates, one of 25 bits, would have keys of 75 with all bits.
        let deal = key.deal(extents).map(Deal::trimmed);
        let deal = deal.filter(|deal| deal.greatest().is_some());
        let deal = deal.ok_or_else(|| format.too_many(key))?;
        let arguments = match key {
            Coordinate::Morton(arguments) => arguments.clone(),
            Coordinate::Alto(modes) => modes.iter().copied().map(Coordinate::Mode).collect(),
            _ => Vec::new(),
        };
        Ok(Some(Self { deal, arguments }))
    }

    /// The place of an entry along the curve: a number that compares as its key does.
    pub fn key(&self, coords: &[u64]) -> u64 {
        self.deal
            .key(|number| self.arguments[number].value(coords) as u64)
    }
}
