//! Certificates of conversions, and their checker.
//!
//! A conversion is a [`Computation`] that fills the arrays of a destination from those of a
//! source. Its **certificate** lists the obligations of the destination's [`Descriptor`], each with
//! the [`Lemma`] and the statements that establish it. The checker derives the obligations again.
//! It accepts a certificate only if every obligation has a proof and the side conditions of every
//! lemma hold, for tensors of any size:
//!
//! ```text
//! source, destination ──► obligations ─┐
//! computation ──► facts of arrays ─────┼──► accepted, or E0831 with the obligation
//! certificate ──► lemmas, statements ──┘                and the statement
//! ```
//!
//! The checker establishes facts array by array. A lemma looks at the statements that write an
//! array and gives the facts that hold after them. `T(p)` is stored at the place `p` of an entry,
//! `k` is a key of the entry, and `m` is a **mark**, the value of entries that nothing else writes:
//!
//! | statements                                            | lemma                | holds afterwards                          |
//! |-------------------------------------------------------|----------------------|-------------------------------------------|
//! | `n += 1`                                              | `Counted`            | `n` is the number of entries              |
//! | `T(p) = rank(k of n)`                                 | `Numbered`           | a **numbering**: entries onto `0..n`, by keys, then in the order of visits |
//! | `T(p) = dense_rank(k of n)`                           | `Numbered`           | a numbering of the distinct keys          |
//! | `T(p) = ordinal(k of n)`                              | `Numbered`           | no two entries have equal number and key; the numbers of a key are fewer than coordinates, and follow one another where entries are numbered by `k` |
//! | `T(x) = rank(k of n)` at each index `x`; `F(T(x)) = x` | `Numbered`; `Keys`, `Marked` | a permutation of the indices; its inverse |
//! | `T(p) = pos(k) + ordinal(k of n)`                     | `Start`              | a numbering by `k`, in segments of `pos`  |
//! | `T(p) = pos(k) + s`                                   | `Places`             | no two entries have equal numbers; `n` numbers below `n` leave nothing out, and are in segments of `pos` |
//! | `n max= T(p) + 1`; `n = m`; `n += 1`, `assume n = 0`  | `Greatest`, `Count`, `Tally` | `n` is the count of numbers; `n = m`; no entry was counted |
//! | `pos(k + 1) += 1`, `pos(x + 1) += pos(x)`             | `Scan`               | nondecreasing from 0 to the number of entries |
//! | `pos(k + 1) max= T(p) + 1`, and `pos(x + 1) max= pos(x)` if a segment may be empty | `RunningMaximum` | **segments**: `pos(k) <= q < pos(k + 1)` exactly for the numbers `q` of the entries of `k` |
//! | `crd(T(p)) = k`                                       | `Keys`               | each `crd(q)` is the `k` of an entry of number `q` |
//! | `crd(x) = m`, `crd(at) = k`                           | `Marked`             | each `crd(x)` is `m`, or the `k` of an entry at `x` |
//! | `crd(at) = k`                                         | `Marked`             | each `crd(x)` is 0, or the `k` of an entry at `x` |
//! | `first(x) = m`, `first(at) min= k`; `behind(at) max= k + 1` | `Least`, `Behind` | `first(at) <= k < behind(at)`          |
//! | `pos(x + 1) = pos(x) + e(x)`                          | `Summed`             | nondecreasing; segment `x` has the length `e(x)`: that of the run from `first(x)` to `behind(x)`, room for the entries of `x` twice, or the number of these |
//! | `T(x) = e(x)` at each index `x`                       | `Each`               | `T(x) = e(x)`                             |
//! | `most(g(x)) max= e(x)`, `n max= e(x)` at each index   | `Behind`, `Greatest` | `e(x) <= most(g(x))`, `e(x) <= n`         |
//! | `count(k) += 1`                                       | `Sizes`              | `count(k)` is the number of entries of `k`, and their numbers are those below it |
//! | `T(p) = slot(c of n, pos(k), pos(k + 1))`             | `Slot`               | each entry has a place of its own in segment `k` |
//! | `T(p) = K * k + min(o + (K - count(k)), c)`           | `InBlocks`           | each entry has a place of its own in block `k`, in the order of `c` |
//! | `crd(K * x + s) = s`, `crd(T(p)) = c`                 | `FilledUp`           | `crd` increases in each block             |
//! | `stored(p) = 1`                                       | `Taken`              | a part of the destination takes the entries with 1, and leaves the others |
//! | `T(p) = before + ordinal()`                           | `Placed`             | a piece of the source has the numbers behind those of the pieces before |
//! | `n += end - from`, `len(p) = max(0, end - from)`, `T(x + 1) = T(x) + len(x)` | `CountedRuns`, `RunLengths`, `Spread` | the same, of entries that share places in runs |
//! | `n += differs(T(p), T_image(p))`, `assume n = 0`      | `Mirrored`           | each entry has the value that it mirrors  |
//! | `pos(x + 1) = pos(x) + (changes(x) + 1)`; `bounds(run(x) + p) = k` | `RunStarts`, `RunBounds` | runs of coordinates with one value, which share a place |
//! | `crd(T(p)) = k`, one statement for each piece         | `Listed`             | `crd` at the number of an entry is its `k` |
//!
//! A source may have places without an entry: places at which `A_stored` is 0, or that no tuple has.
//! Arrays by places then begin with a mark, `T(x) = -1`, and facts hold at entries only.
//!
//! A destination of several parts has obligations for each part. The first part takes the entries
//! that `Taken` says, and the next part begins with those that are left; the last one has to hold all
//! of these. A source of several pieces is first listed (`pieces.rs`), and a source whose places hold
//! runs (`lemmas/spread.rs`). If the destination stores a triangle, the list is first combined with its
//! mirror images (`triangle.rs`). Each of these steps is a **stage** with obligations of its own
//! (`stage.rs`).
//!
//! Where places of the destination hold runs, entries share them, and the obligation is that they
//! have equal values (`lemmas/changes.rs`).
//!
//! With [`Question::adds`], entries may have equal coordinates. One statement adds each value to the
//! place of its tuple. If no two tuples have equal coordinates, and no two share a place, the place
//! holds the sum of exactly the entries with these coordinates.
//!
//! The provers of `sparsec_relation` prove the remaining obligations. To refute a claim about
//! elements of the destination, the checker gives each element an entry with its number (a
//! **witness**), and replaces the order of two numbers by the order of the two entries' keys
//! (`goal.rs`).
//!
//! The checker assumes about the source that
//!
//! * its arrays are as its descriptor declares;
//! * parameters are not negative, and are the extents and entries that they stand for;
//! * what the destination assumes of parameters alone holds: how long its levels are;
//! * with [`Question::is_full`], each place holds an entry; with [`Question::is_unique`], no two entries
//!   of any pieces have equal coordinates;
//! * with [`Question::has_mask`], the places at which `A_stored` is 0 hold the fill.
//!
//! It also assumes that integers do not overflow, keys along curves (`curve.rs`) among them.
//! Computations check that when they run, and they check the counts of `Tally` and `Mirrored`, and the
//! declared most of `count` in `InBlocks`.
//!
//! Source: certificates in the sense of McConnell et al., "Certifying algorithms", Computer
//! Science Review 2011, <https://doi.org/10.1016/j.cosrev.2010.09.009>; the conversions are those of
//! Popoola et al., CGO 2023, §3.2.
//!
//! ```
//! use sparsec_certificate::{Certificate, Question, SourcePiece};
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
//!     let source = vec![SourcePiece { descriptor: &dense, image: None }];
//!     let question = Question { is_full: true, is_unique: true, ..Question::new(source, std::slice::from_ref(&dense), computation) };
//!     question.check(&certificate)
//! };
//! check(&copy("N0")?)?;
//! let error = check(&copy("N0 - 1")?).unwrap_err();
//! assert_eq!(error.message(), "not proved: statements visit each entry once");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod certificate;
mod check;
mod curve;
mod entries;
mod goal;
mod held;
mod lemma;
mod lemmas;
mod obligations;
mod order;
mod pieces;
mod points;
mod side;
mod stage;
mod state;
mod triangle;
mod tuples;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_computation::Computation;
use sparsec_relation::{Descriptor, Image};

pub use certificate::{Certificate, Line, Obligation, Part, Proof};
pub use lemma::Lemma;
pub use pieces::SourcePiece;

/// A conversion and the facts known about its source.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The source, whose arrays are `A_…` and `A`. The entries of several pieces, with arrays `A1_…`,
    /// `A2_…` and `A`, are listed before they are converted.
    pub source: Vec<SourcePiece<'a>>,
    /// The parts of the destination, whose arrays are `B_…` and `B`; of several parts, `B1_…`, `B2_…`
    /// and `B`.
    pub destination: &'a [Descriptor],
    /// Whether each place of the source holds an entry.
    pub is_full: bool,
    /// Whether no two entries of the source have equal coordinates.
    pub is_unique: bool,
    /// Whether values of equal coordinates are added up.
    pub adds: bool,
    /// Whether the given array `A_stored` says which places hold an entry: it has a 1 for these, and
    /// other places hold the fill.
    pub has_mask: bool,
    /// Whether the fill is the given `A_fill`. If not, it is 0.
    pub has_fill: bool,
    /// The modes of the triangle that the destination stores, and what becomes of the values of
    /// mirror images, if its entries stand for these too. In the triangle the coordinate of the first
    /// mode is not smaller than that of the second.
    pub triangle: Option<([usize; 2], Image)>,
    /// The statements of the conversion.
    pub computation: &'a Computation,
}

/// Why an obligation is not met, and the statement at fault.
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

impl<'a> Question<'a> {
    /// A conversion from a source of which nothing is known.
    pub fn new(
        source: Vec<SourcePiece<'a>>,
        destination: &'a [Descriptor],
        computation: &'a Computation,
    ) -> Self {
        Self {
            source,
            destination,
            is_full: false,
            is_unique: false,
            adds: false,
            has_mask: false,
            has_fill: false,
            triangle: None,
            computation,
        }
    }

    /// The obligations of each listed piece of the source and of each part of the destination, in the order in which lemmas need them. Those of
    /// computed arrays come in the order in which the statements write them.
    ///
    /// # Errors
    /// `E0831` for a descriptor whose map is a union.
    pub fn obligations(&self) -> Result<Vec<Vec<Obligation>>> {
        let all = self
            .stages()
            .and_then(|stages| obligations::obligations(self, &stages));
        all.map_err(|refusal| refused(None, &refusal))
    }

    /// Accepts a certificate for tensors of all sizes, or refuses it.
    ///
    /// Takes a few proofs for each obligation, independent of any tensor.
    ///
    /// # Errors
    /// `E0831` names the first obligation that is missing, that has no proof, or whose lemma does
    /// not apply, and the statement at fault.
    pub fn check(&self, certificate: &Certificate) -> Result<()> {
        let checked = check::examine(self, certificate, true);
        let checked = checked.map_err(|refusal| refused(None, &refusal))?;
        for (line, outcome) in checked.into_iter().flatten() {
            let unproved = || Err(Refusal::of("the certificate has no proof of it"));
            let outcome = match (outcome, &line.proof) {
                (Ok(()), None) => unproved(),
                (outcome, _) => outcome,
            };
            outcome.map_err(|refusal| refused(Some(&line.obligation), &refusal))?;
        }
        Ok(())
    }

    /// Returns the certificate with the accepted proofs only, and the reasons why the others are refused.
    ///
    /// # Errors
    /// `E0831` if the certificate does not fit the formats: its tuple has another length, for
    /// example.
    pub fn examine(&self, certificate: &Certificate) -> Result<(Certificate, Vec<Diagnostic>)> {
        let examined = check::examine(self, certificate, false);
        let examined = examined.map_err(|refusal| refused(None, &refusal))?;
        let mut failed = Vec::new();
        let mut parts = Vec::new();
        for (part, examined) in certificate.parts.iter().zip(examined) {
            let mut lines = Vec::new();
            for (mut line, outcome) in examined {
                if let Err(refusal) = outcome {
                    failed.push(refused(Some(&line.obligation), &refusal));
                    line.proof = None;
                }
                lines.push(line);
            }
            let tuple = part.tuple.clone();
            parts.push(Part { tuple, lines });
        }
        Ok((Certificate { parts }, failed))
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
