//! Conversions between formats, synthesized from what the formats say of themselves.
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
//! | **in a run**    | `x = f(a) + e - g(a)`, within a segment of `f`             | found from the least `e` of each `a` and the number of them |
//! | **free**        | `0 <= x < w`, and nothing says more                        | the ordinal among entries that have the same other coordinates there |
//!
//! Where keys ascend along the source by proof, no rank is computed but the number of
//! entries so far, and no sort is made.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion and
//! Optimization", CGO 2023, §3.2. Unlike there, what a list holds is given by ranks among all
//! entries, which fix segments, coordinates and order at once; segments are filled up by a
//! running maximum.

mod arrays;
mod cases;
mod certify;
mod entries;
mod keys;
mod lists;
mod named;
mod sweeps;
mod synthesis;
mod terms;
mod unknown;

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::Computation;
use sparsec_relation::{Descriptor, Relation};

pub use cases::{Case, CaseKind};
pub use sparsec_certificate::{Certificate, Lemma, Line, Obligation, Proof, Question};

/// The types of arrays, by the names that they have in the computation.
pub type Types = BTreeMap<String, ElementType>;

/// What is wanted of a conversion beside its two formats.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The type of the values.
    pub element: ElementType,
    /// The types of index arrays; 64 bits for those left out.
    pub types: Types,
    /// Whether each place of the source's values is known to hold an entry, and no two of them
    /// one at the same coordinates. If not, the second is proved, or the source refused; and
    /// entries are counted when the conversion runs, which refuses tensors with other places.
    pub is_one_to_one: bool,
}

impl Wanted {
    /// Values of this type, and nothing known.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// assert!(!sparsec_convert::Wanted::of(ElementType::F64).is_one_to_one);
    /// ```
    pub fn of(element: ElementType) -> Self {
        Self {
            element,
            types: Types::new(),
            is_one_to_one: false,
        }
    }
}

/// A synthesized conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Which tuples of the source and of the destination have the same coordinates.
    pub relation: Relation,
    /// How each unknown of the destination is found, in the order in which they are.
    pub cases: Vec<Case>,
    /// The computation: given the source's arrays `A_…` and values `A`, it computes those
    /// of the destination, `B_…` and `B`.
    pub computation: Computation,
    /// What it was derived from, to which its certificate refers.
    pub(crate) origin: Option<certify::Origin>,
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
        certify::certificate(self, self.origin())
    }

    /// The certificate that the forms of statements suggest, unchecked: for tests of the
    /// checker, which change the computation.
    ///
    /// # Errors
    /// As [`certificate`](Self::certificate).
    pub fn proposal(&self) -> Result<Certificate> {
        certify::proposal(self, self.origin())
    }

    /// What a certificate of this conversion has to answer.
    pub fn question(&self) -> Question<'_> {
        self.origin().question(&self.computation)
    }

    /// Checks the certificate, if there is one, and returns whether statements read only values
    /// that are final. This holds of every conversion; other obligations may lack a lemma.
    fn is_settled(&self) -> bool {
        let open = |certificate: Certificate| {
            let mut open = certificate.unproved();
            open.any(|obligation| *obligation == Obligation::Settled)
        };
        !self.certificate().is_ok_and(open)
    }

    fn origin(&self) -> &certify::Origin {
        self.origin.as_ref().expect("`convert` notes it")
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
    if source.order() != destination.order() {
        let (from, to) = (source.order(), destination.order());
        let message = format!("a tensor of {from} modes has no format of {to}");
        return Err(refused(message).help("name two formats of one order"));
    }
    let extents: Vec<String> = (0..source.order()).map(|mode| format!("N{mode}")).collect();
    let origin = certify::Origin {
        source: source.clone(),
        destination: destination.clone(),
        is_one_to_one: wanted.is_one_to_one,
    };
    let source = named::Named::new(source, "A", &extents)?;
    let destination = named::Named::new(destination, "B", &extents)?;
    let entries = entries::Entries::of(&source)?;
    let made = synthesis::synthesized(&source, &destination, &entries, wanted, &extents)?;
    let conversion = Conversion {
        origin: Some(origin),
        ..made
    };
    debug_assert!(conversion.is_settled(), "{}", conversion.computation);
    Ok(conversion)
}

/// That there is no conversion, and why.
fn refused(message: String) -> Diagnostic {
    Diagnostic::new(code::NO_CONVERSION, message)
}
