//! How far the computation of a conversion is optimised.
//!
//! ```text
//! none            each statement has a sweep over its points of its own
//! redundant       constraints that follow from others go, and statements without points
//! dce             statements whose results nobody reads go
//! fuse-reads      statements over the same points that share no entry share a sweep
//! fuse-producers  and those that read the entry that the other writes at the point
//! all             one sort lists entries for several numbers; numbers are taken from tables, found
//!                 again, or known without being stored
//! ```
//!
//! Source: Popoola et al., CGO 2023, §3.3, which removes redundant statements, then dead ones, and
//! fuses sweeps by what they read and by producers and consumers.

use sparsec_base::{Diagnostic, Result, code, suggest};
use sparsec_computation::Computation;
use sparsec_relation::Expression;

use crate::{Conversion, sweeps};

/// How far a computation is optimised; each step includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Optimisation {
    /// Each statement has a sweep over its points of its own.
    None,
    /// Constraints that follow from others go, and statements without points.
    Redundant,
    /// Statements whose results nobody reads go.
    Dce,
    /// Statements over the same points that share no entry share a sweep.
    FuseReads,
    /// Statements share a sweep with those that read their entries at the same point.
    FuseProducers,
    /// Numbers are taken from tables, found again in each sweep, or never stored.
    All,
}

impl Optimisation {
    /// Every step, with its name.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::None, "none"),
        (Self::Redundant, "redundant"),
        (Self::Dce, "dce"),
        (Self::FuseReads, "fuse-reads"),
        (Self::FuseProducers, "fuse-producers"),
        (Self::All, "all"),
    ];

    /// The step of a name.
    ///
    /// # Errors
    /// `E0004` for a name that no step has.
    ///
    /// ```
    /// use sparsec_convert::Optimisation;
    /// assert_eq!(Optimisation::parse("dce")?, Optimisation::Dce);
    /// assert!(Optimisation::parse("fuse").is_err());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        let mut steps = Self::ALL.iter();
        let found = steps.find(|(_, known)| *known == name);
        found.map(|(step, _)| *step).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name);
            let message = format!("conversions are not optimised by `{name}`");
            let help = match suggest::closest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("steps are {}", names.join(", ")),
            };
            Diagnostic::new(code::BAD_OPTION_VALUE, message).help(help)
        })
    }
}

impl Conversion {
    /// The computation after all steps up to `so_far`. Ranks by one key are taken from a table if
    /// `is_small` holds for the extent of the key.
    ///
    /// # Errors
    /// As [`Computation::checked`].
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// use sparsec_convert::{Optimisation, Wanted, convert};
    /// let dense = "
    ///     format dense
    ///     extents N
    ///     map {[p] -> [i] : p = i && 0 <= i < N}
    ///     data {[p] -> [p]}
    ///     values {[p] : 0 <= p < N}
    /// ".parse()?;
    /// let same = convert(&dense, &dense, &Wanted::of(ElementType::F64))?;
    /// let plain = same.optimised(Optimisation::None, &|_| true)?;
    /// let fused = same.optimised(Optimisation::FuseProducers, &|_| true)?;
    /// assert!(fused.statements.len() <= plain.statements.len());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn optimised(
        &self,
        so_far: Optimisation,
        is_small: &dyn Fn(&Expression) -> bool,
    ) -> Result<Computation> {
        let mut computation = self.written.clone();
        if so_far >= Optimisation::Redundant {
            computation.simplify_spaces();
        }
        if so_far >= Optimisation::Dce {
            computation.remove_dead();
        }
        if so_far == Optimisation::All {
            computation.list_by_rank(is_small);
        }
        match so_far {
            Optimisation::FuseReads => sweeps::schedule(&mut computation, false),
            Optimisation::FuseProducers | Optimisation::All => {
                sweeps::schedule(&mut computation, true);
            }
            _ => {}
        }
        if so_far == Optimisation::All {
            computation.tabulate_ranks(is_small);
            computation.assign_growing_maxima();
            computation.recompute_numbers(is_small);
            computation.remove_dead();
            computation.separate_copies();
        }
        computation.checked()
    }
}
