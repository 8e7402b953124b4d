//! Conversions between formats, synthesized from what the formats say of themselves: no
//! format is known by name.
//!
//! Both sides are [`Descriptor`]s. The source says which coordinates each of its tuples has;
//! the destination says the same of its own tuples, of which nothing is there yet: its index
//! arrays are **unknown functions**. The conversion is a [`Computation`] that visits the
//! tuples of the source and makes them known:
//!
//! ```text
//! source        {[q0, q1] -> [i, j] : … A_crd0(q0) = i && A_crd1(q0) = j}         rows and columns, listed
//! destination   {[q0, q1] -> [i, j] : q0 = i && B_pos1(q0) <= q1 < B_pos1(q0 + 1) && B_crd1(q1) = j}
//!
//! q0  follows from the coordinates           i
//! q1  is listed: its number is that of       B_q1(p) = rank(i of N0, j of N1)
//!     (i, j) among all entries               B_pos1(i + 1) max= B_q1(p) + 1, and so on upward
//!                                            B_crd1(B_q1(p)) = j
//! value                                      B(B_q1(p)) = A(p)
//! ```
//!
//! Elements of the destination's tuple are found one after the other:
//!
//! | an element      | in the destination                                        | is                                 |
//! |-----------------|------------------------------------------------------------|------------------------------------|
//! | **determined**  | follows from coordinates and elements before               | that expression                    |
//! | **listed**      | `f(a) <= x < f(a + 1)` or `0 <= x < n`, and keys `g(x) = e` | the rank of the keys: dense where entries share them |
//! | **in a run**    | `x = f(a) + e - g(a)`, `f(a) + e` or `f(a + 1) + e`, within a segment of `f` | found from the least and the largest `e` of each `a` |
//! | **in a run of one value** | `f(a) <= x < f(a + 1)`, and `g(x + a) <= e < g(x + a + 1)`   | the number of changes of the value before it |
//! | **counted**     | `0 <= x < f(a)`                                           | the ordinal among entries that have the same `a` |
//! | **free**        | `0 <= x < w`, and nothing says more                        | the ordinal among entries that have the same other coordinates there |
//!
//! Arrays that declarations define, as in `forall r : … => tri(r + 1) = tri(r) + r + 1`, are computed
//! as these say.
//!
//! A source may have places that hold no entry: empty slots, and padding, of which a given
//! mask says where it is. Entries are counted then, and the numbers of other places are -1:
//!
//! ```text
//! B_q1(x) = -1                            for each place
//! B_q1(p) = ordinal()                     for each place that holds an entry
//! B_crd1(B_q1(p)) = j                     where 0 <= B_q1(p)
//! ```
//!
//! Where keys ascend along the source by proof, no rank is computed but the number of
//! entries so far, and no sort is made.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion and
//! Optimization", CGO 2023, §3.2. Unlike there, what a list holds is given by ranks among all
//! entries, which fix segments, coordinates and order at once; segments are filled up by a
//! running maximum.

mod arrays;
mod assembled;
mod blocks;
mod cases;
mod certify;
mod counted;
mod declare;
mod defined;
mod demands;
mod entries;
mod isolated;
mod keys;
mod least;
mod listing;
mod lists;
mod named;
mod optimise;
mod pieces;
mod problem;
mod runs;
mod segments;
mod sweeps;
mod synthesis;
mod tables;
mod terms;
mod triangle;
mod unknown;
mod value_runs;
mod waiting;

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Computation, Cost};
use sparsec_relation::{Descriptor, Expression, Relation, remembering};

use problem::{Piece, Problem, prefix};

pub use assembled::{Assembled, assembled};
pub use cases::{Case, CaseKind};
pub use optimise::Optimisation;
pub use sparsec_certificate::{Certificate, Lemma, Line, Obligation, Part, Proof, Question};

/// The types of arrays, by the names that they have in the computation.
pub type Types = BTreeMap<String, ElementType>;

/// What is wanted of a conversion beside its two formats, of which clauses of their descriptors say
/// the rest.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The type of the values.
    pub element: ElementType,
    /// The types of index arrays; 64 bits for those left out.
    pub types: Types,
    /// Whether no two places of the source's values hold entries of one coordinate. If this is
    /// not known, it is proved, or the source is refused.
    pub is_unique: bool,
    /// Whether entries of one coordinate are added up, where they may be several: of values
    /// that are integers of 64 bits, or floating-point numbers of 32 or 64.
    pub adds: bool,
    /// Which places of the source's values hold an entry.
    pub places: Places,
    /// Whether padding of the source is kept as entries.
    pub keeps_padding: bool,
    /// Whether the fill is another than 0; if not said, as the source declares.
    pub has_fill: Option<bool>,
}

/// Which places of a source's values hold an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Each does: that is known.
    Full,
    /// Each does. The conversion counts entries when it runs, and refuses other tensors.
    Checked,
    /// Some do. The conversion counts entries.
    Some,
}

impl Wanted {
    /// Values of this type, and nothing known of the source.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// assert!(!sparsec_convert::Wanted::of(ElementType::F64).is_unique);
    /// ```
    pub fn of(element: ElementType) -> Self {
        Self {
            element,
            types: Types::new(),
            is_unique: false,
            adds: false,
            places: Places::Checked,
            keeps_padding: false,
            has_fill: None,
        }
    }
}

/// A synthesized conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Which tuples of the source and of the destination have the same coordinates: for each
    /// part of the one and each of the other.
    pub relations: Vec<Relation>,
    /// How each unknown of the destination is found, in the order in which they are.
    pub cases: Vec<Case>,
    /// The computation: given the source's arrays `A_…` and values `A`, it computes those
    /// of the destination, `B_…` and `B`. Sweeps are fused as by [`Optimisation::FuseProducers`].
    /// No constraint is removed, since certificates refer to all of them.
    pub computation: Computation,
    /// The computation before it was optimised.
    pub(crate) written: Computation,
    /// What it was derived from, to which its certificate refers.
    pub(crate) origin: certify::Origin,
}

impl Conversion {
    /// The obligations of the destination, each with the lemma and the statements that
    /// establish it. The checker has accepted each of these proofs for tensors of all sizes;
    /// [`Certificate::unproved`] are the obligations that no lemma covers.
    ///
    /// Time: that of some hundred small proofs, some milliseconds each.
    ///
    /// # Errors
    /// `E0831` for a conversion of a form that certificates cannot speak of.
    ///
    /// ```
    /// # use sparsec_base::ElementType;
    /// # use sparsec_convert::{Wanted, convert};
    /// let dense = "
    ///     format dense
    ///     extents N
    ///     map {[p] -> [i] : p = i && 0 <= i < N}
    ///     data {[p] -> [p]}
    ///     values {[p] : 0 <= p < N}
    /// ".parse()?;
    /// let same = convert(&dense, &dense, &Wanted::of(ElementType::F64))?;
    /// let certificate = same.certificate()?;
    /// assert_eq!(certificate.unproved().count(), 0, "{certificate}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn certificate(&self) -> Result<Certificate> {
        remembering(|| certify::certificate(self, &self.origin))
    }

    /// The certificate that the forms of statements suggest, unchecked: for tests of the
    /// checker, which change the computation.
    ///
    /// # Errors
    /// As [`certificate`](Self::certificate).
    pub fn proposal(&self) -> Result<Certificate> {
        certify::proposal(self, &self.origin)
    }

    /// What a certificate of this conversion has to answer.
    pub fn question(&self) -> Question<'_> {
        self.origin.question(&self.computation)
    }

    /// The cost of the computation after all steps up to `so_far`, as formulas of extents (`N0`), of counts
    /// of the source (`A_pos1_end`) and of counts that it computes (`B_pos0_end`). Ranks by one
    /// key are taken from a table if `is_small` holds for the extent of the key.
    ///
    /// # Errors
    /// `E0830` if nothing bounds the points of a statement; those of
    /// [`optimised`](Self::optimised).
    ///
    /// ```
    /// # use sparsec_base::ElementType;
    /// # use sparsec_convert::{Optimisation, Wanted, convert};
    /// let dense = "
    ///     format dense
    ///     extents N
    ///     map {[p] -> [i] : p = i && 0 <= i < N}
    ///     data {[p] -> [p]}
    ///     values {[p] : 0 <= p < N}
    /// ".parse()?;
    /// let same = convert(&dense, &dense, &Wanted::of(ElementType::F64))?;
    /// let total = same.cost(Optimisation::All, &|_| true)?.total().to_string();
    /// assert!(total.ends_with("streams 16 * N0"), "{total}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn cost(
        &self,
        so_far: Optimisation,
        is_small: &dyn Fn(&Expression) -> bool,
    ) -> Result<Cost> {
        let computation = self.optimised(so_far, is_small)?;
        computation.cost().ok_or_else(|| {
            refused("nothing bounds the points of a statement of this conversion".to_owned())
                .help("print the statements with `--emit computation`")
        })
    }

    /// The same by another name, which its kernel has too; `convert` without one.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        for computation in [&mut self.computation, &mut self.written] {
            name.clone_into(&mut computation.name);
        }
        self
    }

    /// The cases as a table.
    ///
    /// ```
    /// # use sparsec_base::ElementType;
    /// # use sparsec_convert::{Wanted, convert};
    /// let dense = "
    ///     format dense
    ///     extents N
    ///     map {[p] -> [i] : p = i && 0 <= i < N}
    ///     data {[p] -> [p]}
    ///     values {[p] : 0 <= p < N}
    /// ".parse()?;
    /// let same = convert(&dense, &dense, &Wanted::of(ElementType::F64))?;
    /// assert!(same.table().starts_with("p   follows from coordinates   p = i\n"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn table(&self) -> String {
        cases::table(&self.cases)
    }
}

/// The conversion of tensors from one format to another.
///
/// # Errors
/// `E0830` where the destination's tuples do not follow from coordinates, and for sources
/// that may hold two entries at one coordinate.
///
/// ```
/// use sparsec_base::ElementType;
/// use sparsec_convert::{Wanted, convert};
/// let list = "
///     format list
///     extents NR, NC
///     map {[n] -> [i, j] : 0 <= n < NZ && row(n) = i && col(n) = j && 0 <= i < NR && 0 <= j < NC}
///     data {[n] -> [n]}
///     values {[n] : 0 <= n < NZ}
///     function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
///     function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
///     forall n, m : 0 <= n < m < NZ => LEX(row(n), col(n)) != LEX(row(m), col(m))
/// ".parse()?;
/// let diagonals = "
///     format dia
///     extents NR, NC
///     map {[d, i] -> [i, j] : 0 <= d < ND && 0 <= i < NR && off(d) = j - i && 0 <= j < NC}
///     data {[d, i] -> [NR * d + i]}
///     values {[p] : 0 <= p < ND * NR}
///     function off : {[d] : 0 <= d < ND} -> {[k] : 0 - NR < k < NC} increasing
/// ".parse()?;
/// let conversion = convert(&list, &diagonals, &Wanted::of(ElementType::F64))?;
/// let text = conversion.computation.to_string();
/// assert!(text.contains("B_off(B_d(n)) = j - i"), "{text}");
/// assert!(text.contains("B(B_d(n) * N0 + i) = A(n)"), "{text}");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn convert(
    source: &Descriptor,
    destination: &Descriptor,
    wanted: &Wanted,
) -> Result<Conversion> {
    let [source, destination] = [source, destination].map(std::slice::from_ref);
    convert_parts(source, destination, wanted)
}

/// As [`convert`], of sources and destinations of several parts. A part of the destination holds the
/// entries that it can and none before it holds. The values of all parts are one array.
///
/// # Errors
/// As [`convert`]; `E0830` for formats of different orders, entries that are added up to a fill, and
/// mirror images that computations do not compute or compare.
pub fn convert_parts(
    source: &[Descriptor],
    destination: &[Descriptor],
    wanted: &Wanted,
) -> Result<Conversion> {
    let (pieces, problem) = Problem::of(source, destination, wanted)?;
    converted(&pieces, destination, &problem)
}

/// The conversion that solves a problem.
fn converted(
    pieces: &[Piece<'_>],
    destination: &[Descriptor],
    problem: &Problem,
) -> Result<Conversion> {
    let order = destination[0].order();
    let extents: Vec<String> = (0..order).map(|mode| format!("N{mode}")).collect();
    let parts = destination.iter().enumerate().map(|(number, part)| {
        let prefix = prefix(number, destination.len());
        let mut named = named::Named::new(part, &prefix, &extents)?;
        named.map = isolated::isolated(&named.map, &named.declarations);
        Ok(named)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let origin = certify::Origin::of(pieces, destination, problem);
    let mut source = pieces::Source::of(pieces, problem, &extents)?;
    // A part holds some of the entries.
    source.entries.is_full &= parts.len() == 1;
    let problem = &source.problem(problem);
    synthesis::synthesized(&source, &parts, (problem, origin), &extents)
}

/// That there is no conversion, and why.
fn refused(message: String) -> Diagnostic {
    Diagnostic::new(code::NO_CONVERSION, message)
}
