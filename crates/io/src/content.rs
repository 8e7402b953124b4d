//! What a file holds, as entries or as arrays in a format of its own.
//!
//! ```text
//! .mtx .tns .rb     ──► Content::Entries ──► into_tensor: packed
//! .npy .npz .h5 …   ──► Content::Tensor  ──► into_tensor: taken as it is, or converted
//! .npz              ──► Content::Relation ─► into_tensor: unpacked, packed
//! ```

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::Format;
use sparsec_tensor::{Entries, PackOptions, RelationTensor, Stored, Tensor};

/// What a file holds, and how.
#[derive(Clone, Debug)]
pub struct FileTensor {
    /// The entries, or a tensor in the format that the file has it in.
    pub content: Content,
    /// Whether the file states its extents; if not, they were given or are
    /// those of the largest coordinates.
    pub states_extents: bool,
    /// Whether the file says what entries are that it does not state. Where it does not,
    /// they are the fill of the format that it is read into.
    pub states_fill: bool,
    /// Which entries stand for their mirror images too. The content has the
    /// images unless the reader was asked to keep what is stored.
    pub structure: Structure,
    /// How many entries the file has, mirror images not counted.
    pub n_stored: u64,
}

/// The entries of a file in the form that it has them in.
#[derive(Clone, Debug)]
pub enum Content {
    /// Coordinates and values in any order: what text files hold.
    Entries(Entries),
    /// Arrays in a format: what binary files hold.
    Tensor(Tensor),
    /// Arrays as a relation says.
    Relation(RelationTensor),
}

/// Which entries of a square matrix the others follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// None: every entry is stored.
    #[default]
    General,
    /// `a(j,i) = a(i,j)`: one triangle is stored.
    Symmetric,
    /// `a(j,i) = -a(i,j)`: one triangle is stored, and no diagonal.
    SkewSymmetric,
    /// `a(j,i)` is the conjugate of `a(i,j)`: one triangle is stored.
    Hermitian,
}

impl Structure {
    /// All structures.
    pub const ALL: [Self; 4] = [
        Self::General,
        Self::Symmetric,
        Self::SkewSymmetric,
        Self::Hermitian,
    ];

    /// The name: `general symmetric skew-symmetric hermitian`.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
            Self::Hermitian => "hermitian",
        }
    }
}

impl std::fmt::Display for Structure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FileTensor {
    /// The tensor of a file that states its extents and every entry; no fill.
    pub fn of_tensor(tensor: Tensor) -> Self {
        Self {
            states_extents: true,
            states_fill: false,
            structure: Structure::General,
            n_stored: tensor.n_stored() as u64,
            content: Content::Tensor(tensor),
        }
    }

    /// The tensor of a file that is stored as a relation says.
    pub fn of_relation(tensor: RelationTensor) -> Self {
        Self {
            states_extents: true,
            states_fill: false,
            structure: Structure::General,
            n_stored: tensor.values().len() as u64,
            content: Content::Relation(tensor),
        }
    }

    /// One extent a mode.
    pub fn extents(&self) -> &[u64] {
        match &self.content {
            Content::Entries(entries) => &entries.extents,
            Content::Tensor(tensor) => tensor.extents(),
            Content::Relation(tensor) => tensor.extents(),
        }
    }

    /// How many modes there are.
    pub fn order(&self) -> usize {
        self.extents().len()
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        match &self.content {
            Content::Entries(entries) => entries.element(),
            Content::Tensor(tensor) => tensor.element(),
            Content::Relation(tensor) => tensor.element(),
        }
    }

    /// The stored entries in any order, maybe with duplicates.
    ///
    /// Free for a file of entries; a tensor is unpacked.
    ///
    /// # Errors
    /// `E0407` when memory is out; of a relation, as [`RelationTensor::entries`].
    pub fn into_entries(self) -> Result<Entries> {
        match self.content {
            Content::Entries(entries) => Ok(entries),
            Content::Tensor(tensor) => Ok(tensor.entries()),
            Content::Relation(tensor) => tensor.entries(),
        }
    }

    /// What the file holds, as it is: entries are packed into `format`.
    ///
    /// # Errors
    /// As [`Tensor::pack_entries`].
    pub fn into_stored(self, format: &Format, options: PackOptions) -> Result<Stored> {
        match self.content {
            Content::Entries(entries) => {
                Tensor::pack_entries(format, entries, options).map(Stored::Levels)
            }
            Content::Tensor(tensor) => Ok(Stored::Levels(tensor)),
            Content::Relation(tensor) => Ok(Stored::Relation(tensor)),
        }
    }

    /// The tensor in `format`, without a copy where the file has it so.
    ///
    /// `options` say how entries are packed; a file with a tensor in a format of
    /// its own has its duplicates if it may have some, and its fill, unless it states
    /// none and the format does.
    ///
    /// # Errors
    /// As [`Tensor::pack_entries`] and [`Tensor::convert`]; `E0403` for a format that
    /// declares another fill than the file states.
    pub fn into_tensor(self, format: &Format, options: PackOptions) -> Result<Tensor> {
        match self.content {
            Content::Entries(entries) => Tensor::pack_entries(format, entries, options),
            Content::Relation(tensor) => {
                let fill = tensor.fill();
                match format.fill() {
                    Some(declared) if !agrees(fill, declared) => Err(other_fill(fill, declared)),
                    _ => {
                        let fill = Some(fill);
                        let options = PackOptions { fill, ..options };
                        Tensor::pack_entries(format, tensor.entries()?, options)
                    }
                }
            }
            Content::Tensor(tensor) => match format.fill() {
                Some(declared) if !agrees(tensor.fill(), declared) => match self.states_fill {
                    true => Err(other_fill(tensor.fill(), declared)),
                    false => Tensor::pack_entries(format, tensor.entries(), options),
                },
                _ if tensor.format() == format => Ok(tensor),
                _ => tensor.convert(format),
            },
        }
    }
}

/// Whether a format that declares a fill agrees with a tensor that has this one.
fn agrees(fill: Scalar, declared: f64) -> bool {
    Scalar::F64(declared).as_type(fill.element()) == Some(fill)
        || (declared.is_nan() && fill.to_c128().is_nan())
}

fn other_fill(stated: Scalar, declared: f64) -> Diagnostic {
    let message = format!("the file states fill {stated}, the format says `fill {declared}`");
    Diagnostic::new(code::ARRAY_MISMATCH, message)
        .help(format!("leave `fill {declared}` out of the format"))
}
