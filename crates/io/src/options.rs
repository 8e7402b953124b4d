//! How files are read and written.

use sparsec_base::ElementType;
use sparsec_parallel::MemoryLimit;

use crate::content::Structure;
use crate::mapping::Mapping;
use crate::progress::Progress;

/// What the reader of a file knows and wants.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The type of the values; if not given, that of the file: the one that its header or
    /// a comment of its writer states, else `f64`. A type that would lose a value is refused.
    pub element: Option<ElementType>,
    /// Extents for a file that states none, one a mode; a mode without one
    /// has its largest coordinate's. Files that state their extents ignore it.
    pub extents: Option<Vec<Option<u64>>>,
    /// Whether a symmetric, skew-symmetric or hermitian matrix is read as it is
    /// stored, without the mirror images; [`FileTensor::structure`] then says
    /// what it stands for.
    ///
    /// [`FileTensor::structure`]: crate::FileTensor::structure
    pub keep_structure: bool,
    /// The group of an HDF5 file that holds the tensor, where there are several;
    /// if not given, the root or the only group that has one. Other types have
    /// no groups and ignore it.
    pub group: Option<String>,
    /// How much memory the expanded bytes of a file may take; at most half of the
    /// machine's in any case. Mapped files take none.
    pub memory: MemoryLimit,
    /// Maps plain files instead of reading them. If another process shortens one of them,
    /// the program [ends](Mapping).
    pub mapping: Option<Mapping>,
    /// Who is told how far a long read has come.
    pub progress: Option<Progress>,
}

/// How a file is to state a tensor.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The structure that a file states instead of every entry; the tensor
    /// must have it, or is refused.
    pub structure: Structure,
    /// Whether a `.tns` file gets the extended header, which states the extents
    /// and which plain FROSTT files have not; a tensor of order 0 has none to state.
    /// [`loses_extents`](crate::tns::loses_extents) says where they would be lost. Other
    /// types always state them.
    pub states_extents: bool,
}
