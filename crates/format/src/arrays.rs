//! The named, typed arrays that a format declares.

use sparsec_base::IndexWidth;

use crate::format::Format;
use crate::level::Part;

/// What an array of a stored tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Where the segment of each parent position begins in the level; one
    /// entry more than the parent level has positions.
    Pos(usize),
    /// The coordinate at each position of the level.
    Crd(usize),
    /// Where the segment of each parent position ends.
    End(usize),
    /// The first coordinate of the run of each parent position.
    First(usize),
    /// Whether each position of the level is stored, a byte each.
    Bits(usize),
    /// Where the runs of a level begin and end, one entry more for each parent
    /// than it has runs.
    Bounds(usize),
    /// The extent of a level of ranks, one entry.
    Size(usize),
    /// The values, one for each position of the last level.
    Vals,
}

/// One array that a format declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArraySpec {
    /// What the array is for.
    pub role: Role,
}

impl ArraySpec {
    /// The array's name in a tensor called `tensor`: `A1.pos`, `A1.crd`, `A.vals`.
    pub fn name(&self, tensor: &str) -> String {
        match self.role {
            Role::Pos(level) => format!("{tensor}{level}.pos"),
            Role::Crd(level) => format!("{tensor}{level}.crd"),
            Role::End(level) => format!("{tensor}{level}.end"),
            Role::First(level) => format!("{tensor}{level}.first"),
            Role::Bits(level) => format!("{tensor}{level}.bits"),
            Role::Bounds(level) => format!("{tensor}{level}.bounds"),
            Role::Size(level) => format!("{tensor}{level}.size"),
            Role::Vals => format!("{tensor}.vals"),
        }
    }
}

impl Role {
    /// The name of the array in the format's [descriptor](Format::descriptors): `pos1`.
    /// The values have none there.
    pub fn in_descriptor(self) -> Option<String> {
        Some(match self {
            Self::Pos(level) => format!("pos{level}"),
            Self::Crd(level) => format!("crd{level}"),
            Self::End(level) => format!("end{level}"),
            Self::First(level) => format!("first{level}"),
            Self::Bits(level) => format!("bits{level}"),
            Self::Bounds(level) => format!("bounds{level}"),
            Self::Size(level) => format!("size{level}"),
            Self::Vals => return None,
        })
    }

    /// The level that the array belongs to.
    pub fn level(self) -> Option<usize> {
        match self {
            Self::Pos(level)
            | Self::Crd(level)
            | Self::End(level)
            | Self::First(level)
            | Self::Bits(level)
            | Self::Bounds(level)
            | Self::Size(level) => Some(level),
            Self::Vals => None,
        }
    }

    /// Whether the array holds positions, coordinates, or neither.
    pub fn holds(self) -> Holds {
        match self {
            Self::Pos(_) | Self::End(_) => Holds::Positions,
            Self::Crd(_) | Self::First(_) | Self::Bounds(_) | Self::Size(_) => Holds::Coordinates,
            Self::Bits(_) => Holds::Bits,
            Self::Vals => Holds::Values,
        }
    }

    /// The role of the same array where the levels of other parts come first.
    #[must_use]
    pub fn after(self, n_levels: usize) -> Self {
        match self {
            Self::Pos(level) => Self::Pos(level + n_levels),
            Self::Crd(level) => Self::Crd(level + n_levels),
            Self::End(level) => Self::End(level + n_levels),
            Self::First(level) => Self::First(level + n_levels),
            Self::Bits(level) => Self::Bits(level + n_levels),
            Self::Bounds(level) => Self::Bounds(level + n_levels),
            Self::Size(level) => Self::Size(level + n_levels),
            Self::Vals => Self::Vals,
        }
    }
}

/// What the entries of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Positions, of the width that `pos` arrays have.
    Positions,
    /// Coordinates, of the width that `crd` arrays have.
    Coordinates,
    /// 0 or 1 in a byte.
    Bits,
    /// Values.
    Values,
}

impl Format {
    /// The arrays of a tensor in this format, outermost level first, a level's
    /// arrays in the order in which its kind lists them, and the values last.
    /// The levels of a union are numbered on from part to part; the values of
    /// all parts are one array.
    pub fn arrays(&self) -> Vec<ArraySpec> {
        let mut arrays = Vec::new();
        let mut before = 0;
        for part in std::iter::once(self).chain(&self.rest) {
            for (number, level) in part.levels.iter().enumerate() {
                let size = level.has_size().then_some(Part::Size);
                for part in size.iter().chain(level.kind.spec().arrays) {
                    let role = part.role(before + number);
                    arrays.push(ArraySpec { role });
                }
            }
            before += part.levels.len();
        }
        arrays.push(ArraySpec { role: Role::Vals });
        arrays
    }

    /// The declared width of an array of the format; `None` where none is
    /// declared, and for arrays that are no index arrays.
    pub fn declared_width(&self, role: Role) -> Option<IndexWidth> {
        let mut level = role.level()?;
        for part in std::iter::once(self).chain(&self.rest) {
            let Some(own) = part.levels.get(level) else {
                level -= part.levels.len();
                continue;
            };
            return match role.holds() {
                Holds::Positions => own.widths.pos.or(part.widths.pos),
                Holds::Coordinates => own.widths.crd.or(part.widths.crd),
                Holds::Bits | Holds::Values => None,
            };
        }
        None
    }
}
