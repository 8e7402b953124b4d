//! The kernels that a statement takes: one, or two that can be timed apart.

use std::sync::Arc;

use sparsec_runtime::{Kernel, Origin};

/// The kernels of one statement.
#[derive(Clone, Debug)]
pub(crate) enum Parts {
    /// One kernel that assembles and computes.
    Whole(Arc<Kernel>),
    /// One that assembles, and one that computes values of what is assembled.
    Apart {
        assemble: Arc<Kernel>,
        compute: Arc<Kernel>,
    },
}

impl Parts {
    /// Where each kernel came from.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        let kernels = match self {
            Self::Whole(kernel) => vec![kernel],
            Self::Apart { assemble, compute } => vec![assemble, compute],
        };
        kernels.iter().map(|kernel| kernel.build().origin).collect()
    }

    /// The kernel that runs first.
    pub(crate) fn first(&self) -> &Kernel {
        match self {
            Self::Whole(kernel) => kernel,
            Self::Apart { assemble, .. } => assemble,
        }
    }
}
