//! What lowering needs of a level kind, one file a kind.
//!
//! | kind           | as operand                   | as result                       |
//! |----------------|------------------------------|---------------------------------|
//! | [`dense`]      | located: `q = p * N + i`     | located                         |
//! | [`compressed`] | walked: `pos[p]..pos[p + 1]` | appended, segments closed       |
//! | [`singleton`]  | walked: the parent's place   | appended with its parent        |

pub(crate) mod compressed;
pub(crate) mod dense;
pub(crate) mod singleton;

use sparsec_format::LevelKind;
use sparsec_loop::{Buffer, Expr};

use crate::cursor::Place;
use crate::signature::Arrays;

/// The entries of a level below one place of its parent.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The first position.
    pub(crate) lo: Expr,
    /// The bound.
    pub(crate) hi: Expr,
    /// The coordinates.
    pub(crate) crd: Buffer,
}

/// The entries of a walked level below `parent`.
pub(crate) fn segment(kind: LevelKind, arrays: &Arrays, level: usize, parent: &Place) -> Segment {
    match kind {
        LevelKind::Compressed => compressed::segment(arrays, level, parent),
        LevelKind::Singleton => singleton::segment(arrays, level, parent),
        other => unreachable!("a `{}` level is not walked", other.text()),
    }
}
