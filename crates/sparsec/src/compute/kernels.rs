//! The kernels of a computation: one for one thread, and one in shares for several.

use std::sync::{Arc, PoisonError};

use sparsec_base::Result;
use sparsec_loop::{Function, passes};
use sparsec_lower::{Units, lower_computation_for};
use sparsec_runtime::Kernel;

use super::run::CompiledComputation;
use crate::session::{Session, SessionId};

/// A kernel, and the session that made it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    session: SessionId,
    in_shares: bool,
    kernel: Arc<Kernel>,
}

impl CompiledComputation {
    /// The same, with loops in shares of `grain` points, also for sessions of one thread. The
    /// results have the same bits.
    pub fn in_shares(self, grain: u32) -> Self {
        Self {
            shared: Arc::default(),
            made: Arc::default(),
            grain,
            is_always_shared: true,
            ..self
        }
    }

    /// The loops in shares that threads may run at once, after all passes.
    pub fn shared(&self) -> &Function {
        self.shared.get_or_init(|| {
            let units = Units::Several { grain: self.grain };
            let lowered = lower_computation_for(&self.computation, units);
            let lowered = lowered.expect("it was lowered for one unit");
            passes::optimize(lowered, &mut |_, _| {})
        })
    }

    /// The loops for as many threads as there are.
    fn function_here(&self) -> (&Function, bool) {
        match self.is_always_shared || sparsec_parallel::threads() > 1 {
            true => (self.shared(), true),
            false => (self.function(), false),
        }
    }

    /// The kernel of a session.
    pub(super) fn kernel(&self, session: &Session) -> Result<Arc<Kernel>> {
        let (function, in_shares) = self.function_here();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made
            && made.session.is(session)
            && made.in_shares == in_shares
        {
            return Ok(Arc::clone(&made.kernel));
        }
        let kernel = session.kernel(function)?;
        *made = Some(Made {
            session: session.id(),
            in_shares,
            kernel: Arc::clone(&kernel),
        });
        Ok(kernel)
    }
}
