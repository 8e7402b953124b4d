//! Certificates of conversions, and their checker.
//!
//! A conversion is a [`Computation`] that fills the arrays of a destination from those of a
//! source. Its **certificate** lists the obligations of the destination's [`Descriptor`], and for each
//! of these obligations the [`Lemma`] and the statements that establish it. The checker
//! derives the obligations anew, and accepts a certificate only if it has a proof of each and
//! the side conditions of each lemma hold of the statements, for tensors of any size:
//!
//! ```text
//! source, destination ──► obligations ─┐
//! computation ──► facts of arrays ─────┼──► accepted, or E0831 with the obligation
//! certificate ──► lemmas, statements ──┘                and the statement
//! ```
//!
//! Facts are established array by array. A lemma looks at the statements that write one array
//! and says what holds of it afterwards:
//!
//! | statements                                            | lemma                | holds afterwards                          |
//! |-------------------------------------------------------|----------------------|-------------------------------------------|
//! | `T(p) = rank(k of n)`                                 | `Rank`, `Ordinal`    | a **numbering**: entries onto `0..n`, by keys, then by visits |
//! | `T(p) = pos(k) + ordinal(k of n)`                     | `Start`              | the same, in segments of `pos`            |
//! | `T(p) = dense_rank(k of n)`                           | `DenseRank`          | a numbering of the different keys         |
//! | `T(p) = ordinal(k of n)`                              | `InGroup`            | equal numbers and keys are one entry's    |
//! | `n max= T(p) + 1`; `n = m`; `n += 1`, `assume n = 0`  | `Greatest`, `Count`, `Tally` | `n` numbers; `n = m`; no such entry |
//! | `pos(k + 1) += 1`, `pos(x + 1) += pos(x)`             | `Scan`               | nondecreasing from 0 to the number of entries |
//! | `pos(k + 1) max= T(p) + 1`, `pos(x + 1) max= pos(x)`  | `RunningMaximum`     | **segments**: `pos(k) <= q < pos(k + 1)` for the numbers `q` of the entries of `k`, and no others |
//! | `crd(T(p)) = k`                                       | `Keys`               | each `crd(q)` is the `k` of an entry of number `q` |
//! | `crd(x) = m`, `crd(at) = k`                           | `Marked`             | each `crd(x)` is `m`, or the `k` of an entry at `x` |
//! | `first(x) = m`, `first(at) min= k`; `behind(at) max= k + 1` | `Least`, `Behind` | `first(at) <= k < behind(at)`          |
//! | `pos(x + 1) = pos(x) + max(behind(x) - first(x), 0)`  | `Lengths`            | nondecreasing, and runs lie in their segments |
//!
//! The rest is proof by the provers of `sparsec_relation`. To refute a claim about elements of the
//! destination, each element is given an entry that has its number (a **witness**), and the
//! order of two numbers is compared with that of the two entries' keys (`goal.rs`).
//!
//! What is taken from the source: that its arrays are as its descriptor says, that the
//! parameters, none of which is negative, are the extents and the entries that they stand for, and, where
//! [`Question::is_one_to_one`] says so, that each of its places holds one entry, with
//! coordinates that no other has. Integers are taken to fit; computations check that when
//! they run, as they check what a `Tally` counts.
//!
//! Source: certificates in the sense of McConnell et al., "Certifying algorithms", Computer
//! Science Review 2011, <https://doi.org/10.1016/j.cosrev.2010.09.009>; the conversions are those of
//! Popoola et al., CGO 2023, §3.2.
//!
//! ```
//! use sparsec_certificate::{Certificate, Question};
//! use sparsec_computation::Computation;
//! let dense = "
//!     format dense
//!     extents N
//!     map {[p] -> [i] : p = i && 0 <= i < N}
//!     data {[p] -> [p]}
//!     values {[p] : 0 <= p < N}
//! ".parse()?;
//! let copy = |last: &str| -> sparsec_base::Result<Computation> {
//!     format!("computation copy {{
//!         parameters N0
//!         given A : f64[N0]
//!         out B : f64[N0]
//!         s0: B(i) = A(i) over {{[i] : 0 <= i < {last}}} at [0, i, 0]
//!     }}").parse()
//! };
//! let certificate: Certificate = "certificate {[i] -> [p] : p = i}
//!     statements read only values that are final, since sweeps follow one another
//!     entries have places of their own in the source, since the source says so
//!     B has its length, since it follows from what arrays hold
//!     statements visit each entry once, since they run over the entries of the source (s0)
//!     each entry has a tuple with its coordinates, since it follows from what arrays hold
//!     statements keep to their arrays, since it follows from what arrays hold
//!     no two tuples have the same coordinates, since it follows from what arrays hold
//!     each other tuple holds the fill, since no two tuples share a place, and nothing else is written (s0)
//!     each entry has a place of its own, since it follows from what arrays hold
//!     the place of each entry holds its value, since it follows from what arrays hold (s0)
//! ".parse()?;
//! let check = |computation: &Computation| {
//!     let question = Question { source: &dense, destination: &dense, is_one_to_one: true, computation };
//!     question.check(&certificate)
//! };
//! check(&copy("N0")?)?;
//! let error = check(&copy("N0 - 1")?).unwrap_err();
//! assert_eq!(error.message(), "not proved: statements visit each entry once");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod certificate;
mod check;
mod entries;
mod goal;
mod lemma;
mod lemmas;
mod obligations;
mod order;
mod side;
mod state;
mod tuples;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_computation::Computation;
use sparsec_relation::Descriptor;

pub use certificate::{Certificate, Line, Obligation, Proof};
pub use lemma::Lemma;

/// A conversion of which something is claimed.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The format of its source, whose arrays are `A_…` and `A`.
    pub source: &'a Descriptor,
    /// The format of its destination, whose arrays are `B_…` and `B`.
    pub destination: &'a Descriptor,
    /// Whether each place of the source is known to hold an entry of its own coordinates.
    pub is_one_to_one: bool,
    /// The statements.
    pub computation: &'a Computation,
}

/// Why an obligation is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) why: String,
    pub(crate) statement: Option<String>,
}

impl Refusal {
    pub(crate) fn of(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            statement: None,
        }
    }

    pub(crate) fn at(statement: &sparsec_computation::Statement, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            statement: Some(statement.name.clone()),
        }
    }
}

impl Question<'_> {
    /// The obligations of the destination, without proofs: those of computed arrays first, in
    /// the order in which the statements write them.
    ///
    /// # Errors
    /// `E0831` for descriptors that are no single map.
    pub fn obligations(&self) -> Result<Vec<Obligation>> {
        obligations::obligations(self).map_err(|refusal| refused(None, &refusal))
    }

    /// Accepts a certificate, for tensors of all sizes, or refuses it.
    ///
    /// Time: some proofs for each obligation, none of which depends on a tensor.
    ///
    /// # Errors
    /// `E0831` names the first obligation that is missing, not proved, or not established by
    /// its lemma, and the statement of which a side condition does not hold.
    pub fn check(&self, certificate: &Certificate) -> Result<()> {
        let checked = check::examine(self, certificate, true);
        let checked = checked.map_err(|refusal| refused(None, &refusal))?;
        for (line, outcome) in checked {
            let unproved = || Err(Refusal::of("the certificate has no proof of it"));
            let outcome = match (outcome, &line.proof) {
                (Ok(()), None) => unproved(),
                (outcome, _) => outcome,
            };
            outcome.map_err(|refusal| refused(Some(&line.obligation), &refusal))?;
        }
        Ok(())
    }

    /// The certificate with the proofs that the checker accepts, and why it refuses the others.
    ///
    /// # Errors
    /// `E0831` where there is no conversion to speak of, as for a tuple of another length.
    pub fn examine(&self, certificate: &Certificate) -> Result<(Vec<Line>, Vec<Diagnostic>)> {
        let examined = check::examine(self, certificate, false);
        let examined = examined.map_err(|refusal| refused(None, &refusal))?;
        let mut failed = Vec::new();
        let mut lines = Vec::new();
        for (mut line, outcome) in examined {
            if let Err(refusal) = outcome {
                failed.push(refused(Some(&line.obligation), &refusal));
                line.proof = None;
            }
            lines.push(line);
        }
        Ok((lines, failed))
    }
}

fn refused(obligation: Option<&Obligation>, refusal: &Refusal) -> Diagnostic {
    let message = match obligation {
        Some(obligation) => format!("not proved: {obligation}"),
        None => "the certificate is not of this conversion".to_owned(),
    };
    let error = Diagnostic::new(code::CERTIFICATE, message).note(refusal.why.clone());
    match &refusal.statement {
        Some(name) => error.help(format!("look at the statement `{name}`")),
        None => error.help("print the statements with `--emit computation`"),
    }
}
