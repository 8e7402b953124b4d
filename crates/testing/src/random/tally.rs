//! What became of random programs.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use sparsec::Diagnostic;

/// Counts of programs, by what became of them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs that ran and agreed with the oracle.
    pub agreed: usize,
    /// Kernels that were compiled as C, and agreed.
    pub as_c: usize,
    /// Programs that mean nothing, which the generator does not avoid.
    pub meaningless: usize,
    /// Programs that the oracle, or loops over all coordinates, would take too long for.
    pub large: usize,
    /// Programs that ended as they should: with an error of their values.
    pub stopped: usize,
    /// Programs that ran with hashed workspaces too.
    pub hashed: usize,
    /// Programs over huge extents that agreed.
    pub huge: usize,
    /// Programs whose results another spelling had too.
    pub respelled: usize,
    /// Changed plans that agreed.
    pub rescheduled: usize,
    /// Changed plans that were refused.
    pub unscheduled: usize,
    /// Diagnostics of programs and plans that did not run, by code.
    pub codes: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts a diagnostic by its code.
    pub(crate) fn count(&mut self, error: &Diagnostic) {
        *self.codes.entry(error.code().as_str()).or_default() += 1;
    }

    /// How many programs ran, or mean nothing.
    pub fn programs(&self) -> usize {
        self.agreed + self.meaningless
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.agreed += other.agreed;
        self.as_c += other.as_c;
        self.meaningless += other.meaningless;
        self.large += other.large;
        self.stopped += other.stopped;
        self.hashed += other.hashed;
        self.huge += other.huge;
        self.respelled += other.respelled;
        self.rescheduled += other.rescheduled;
        self.unscheduled += other.unscheduled;
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>8} programs", self.programs())?;
        writeln!(f, "{:>8} agreed with the oracle", self.agreed)?;
        writeln!(
            f,
            "{:>8}   of these ended with the error that is due",
            self.stopped
        )?;
        writeln!(
            f,
            "{:>8}   of these ran with hashed workspaces too",
            self.hashed
        )?;
        writeln!(f, "{:>8}   of these are over huge extents", self.huge)?;
        writeln!(
            f,
            "{:>8}   of these ran in another spelling",
            self.respelled
        )?;
        writeln!(f, "{:>8} kernels ran as C too", self.as_c)?;
        writeln!(f, "{:>8} changed plans agreed", self.rescheduled)?;
        writeln!(f, "{:>8} changed plans were refused", self.unscheduled)?;
        writeln!(f, "{:>8} programs mean nothing", self.meaningless)?;
        writeln!(f, "{:>8} programs are too large to run", self.large)?;
        for (code, count) in &self.codes {
            writeln!(f, "{count:>8} {code}")?;
        }
        Ok(())
    }
}
