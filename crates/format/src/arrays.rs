//! The named, typed arrays that a format declares.

use crate::format::Format;

/// What an array of a stored tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Where the segment of each parent position begins in the level; one
    /// entry more than the parent level has positions.
    Pos(usize),
    /// The coordinate at each position of the level.
    Crd(usize),
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
            Role::Vals => format!("{tensor}.vals"),
        }
    }
}

impl Format {
    /// The arrays of a tensor in this format, outermost level first, a level's
    /// `pos` before its `crd`, and the values last.
    pub fn arrays(&self) -> Vec<ArraySpec> {
        let mut arrays = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            for &part in level.kind.spec().arrays {
                arrays.push(ArraySpec {
                    role: part.role(number),
                });
            }
        }
        arrays.push(ArraySpec { role: Role::Vals });
        arrays
    }
}
