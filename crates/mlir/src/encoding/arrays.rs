//! The arrays of a tensor, and their types.
//!
//! ```text
//! (b, i, j) -> (b : batch, i : dense, j : compressed)     tensor<2x4x6xf64, …>
//! positions of level 2      memref<2x?xindex>
//! coordinates of level 2    memref<2x?xindex>
//! values                    memref<2x?xf64>
//! ```
//!
//! Each `batch` level is a mode of all arrays. Coordinates that are parts of tuples are strided.

use std::sync::Arc;

use sparsec_format::LevelKind;

use crate::attribute::Attribute;
use crate::module::Operation;
use crate::types::{Layout, MemRefType, Type};

use super::Encoding;

/// The integer type of this width; 0 for `index`.
pub(crate) fn of_width(width: u32) -> Type {
    match width {
        0 => Type::Index,
        width => Type::integer(width),
    }
}

impl Operation<'_> {
    /// The type that releases from 19 on infer for an operation that gives an array of a tensor;
    /// none for other operations. Earlier releases leave extents and layout to the text.
    pub(crate) fn array_type(self) -> Option<Type> {
        let word = self.name().strip_prefix("sparse_tensor.")?;
        if !matches!(
            word,
            "positions" | "coordinates" | "coordinates_buffer" | "values"
        ) {
            return None;
        }
        let tensor = self.operand_type("tensor");
        let encoding = tensor.encoding()?;
        let level = self.attribute("level").and_then(Attribute::natural);
        let is_part = |start| level.is_some_and(|level| level >= start as u64);
        let is_strided = word == "coordinates" && encoding.tuples_start().is_some_and(is_part);
        let mut shape = encoding.level_shape(&tensor.shape()?);
        shape.truncate(encoding.n_batch_levels());
        shape.push(None);
        let layout = is_strided.then(|| Layout::Strided {
            strides: vec![None; shape.len()],
            offset: None,
        });
        Some(Type::MemRef(Arc::new(MemRefType {
            shape,
            element: match word {
                "positions" => of_width(encoding.pos_width),
                "values" => tensor.element().clone(),
                _ => of_width(encoding.crd_width),
            },
            layout,
            space: None,
        })))
    }
}

impl Encoding {
    /// The number of `batch` levels, which are outermost.
    pub fn n_batch_levels(&self) -> usize {
        let levels = self.levels.iter();
        levels
            .take_while(|level| level.kind == LevelKind::Batch)
            .count()
    }

    /// The first level of a trailing coordinate list that is stored as one array of tuples.
    pub fn tuples_start(&self) -> Option<usize> {
        let from = self.coo_start()?;
        let is_apart = self.levels[from + 1..].iter().any(|level| level.soa);
        (!is_apart).then_some(from)
    }

    /// The arrays of a tensor in the order of the operands of `assemble`: positions and coordinates
    /// level by level, then values. A coordinate list is one array of tuples.
    pub fn arrays(&self) -> Vec<String> {
        let tuples = self.tuples_start();
        let mut found = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            if level.has_positions() {
                found.push(match level.kind {
                    LevelKind::LooseCompressed => format!("pairs of positions of level {number}"),
                    _ => format!("positions of level {number}"),
                });
            }
            match tuples {
                Some(start) if number == start => {
                    found.push(format!(
                        "tuples of coordinates of levels {start} to {}",
                        self.n_levels() - 1
                    ));
                }
                Some(start) if number > start => {}
                // `spec` names the arrays of kinds that only sparsec has.
                _ if is_ours(level.kind) => {
                    let parts = level.kind.spec().arrays.iter().map(|part| part.name());
                    found.extend(parts.map(|part| format!("`{part}` of level {number}")));
                }
                _ if level.has_coordinates() => {
                    found.push(format!("coordinates of level {number}"))
                }
                _ => {}
            }
        }
        found.push("values".to_owned());
        found
    }
}

/// Whether only sparsec has levels of this kind.
fn is_ours(kind: LevelKind) -> bool {
    matches!(
        kind,
        LevelKind::Range | LevelKind::Bitmap | LevelKind::Hashed | LevelKind::RunLength
    )
}
