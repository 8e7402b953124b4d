//! Clauses of descriptors: what a format says of its values and its keys beside the relations.
//!
//! ```text
//! unique                               no two tuples have the same coordinates
//! padding                              a value equal to the fill may stand where no entry is
//! fill 1                               the value of coordinates that no tuple has; 0 without it
//! mirror {[i, j] -> [j, i]} negative   an entry at i != j stands for one at (j, i) too
//! table crd                            keys of hash tables
//! block crd                            coordinates of blocks of one length
//! ```
//!
//! A **mirror image** has the same value as its entry, its `negative`, or its `conjugate`. All tuples
//! lie on one side of the diagonal, which is proved of the map, so no image is stored as well.
//!
//! The keys of a **table** lie in segments. A hash of the key says at which slot of its segment a
//! search begins; no slot from there to the key is free, where the first slot follows the last one.
//! Free slots hold the extent of the key. A **block** that has fewer entries than places holds the least coordinates
//! without an entry in the others. Conversions write tables and blocks in this way; nothing that
//! reads a tensor through its relations relies on it.

use std::collections::BTreeSet;
use std::fmt;

use sparsec_base::{Diagnostic, Fill, Result, Source, Span, code};

use super::Descriptor;
use super::check::follows;
use crate::declarations::Declarations;
use crate::expression::{Comparison, Constraint, Expression};
use crate::parse::Parser;
use crate::relation::Relation;
use crate::solve::Answer;

/// The clauses of a descriptor; see the module's page.
///
/// ```
/// use sparsec_relation::{Descriptor, Image};
/// let skew: Descriptor = "
///     format skew
///     extents N, M
///     map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n) && 0 <= j < i < N && j < M}
///     data {[n] -> [n]}
///     values {[n] : 0 <= n < NZ}
///     mirror {[i, j] -> [j, i]} negative
///     assume N = M
///     function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
///     function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < M}
/// ".parse()?;
/// let mirror = skew.clauses().mirror.expect("it says one");
/// assert_eq!((mirror.modes, mirror.image), ([0, 1], Image::Negative));
/// assert!(skew.clauses().fill.is_none() && !skew.clauses().has_padding);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses {
    /// Whether no two tuples have the same coordinates.
    pub is_unique: bool,
    /// Whether a value equal to the fill may stand where no entry is.
    pub has_padding: bool,
    /// The value of coordinates that no tuple has, if it is not 0.
    pub fill: Option<Fill>,
    /// What entries stand for beside themselves.
    pub mirror: Option<Mirror>,
    /// The arrays that hold the keys of hash tables.
    pub tables: BTreeSet<String>,
    /// The arrays that hold the coordinates of blocks of one length.
    pub blocks: BTreeSet<String>,
}

/// Mirror images of entries, at exchanged coordinates of two modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The two modes, the lesser first.
    pub modes: [usize; 2],
    /// How the value there follows from that of the entry.
    pub image: Image,
}

/// How the value of a mirror image follows from that of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Image {
    /// The same.
    Same,
    /// Its negative.
    Negative,
    /// Its conjugate.
    Conjugate,
}

impl Image {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Same, Self::Negative, Self::Conjugate];

    /// The word in the text of a descriptor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Negative => "negative",
            Self::Conjugate => "conjugate",
        }
    }
}

/// The side of a diagonal on which all tuples of a descriptor lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first coordinate is not smaller than the second.
    Lower,
    /// It is not greater.
    Upper,
}

/// Where the clauses of a text stand.
#[derive(Default)]
pub(super) struct ClausePlaces {
    /// With how many coordinates it exchanges two of.
    mirror: Option<(Span, usize)>,
    /// The arrays that clauses name, and whether as keys of tables.
    arrays: Vec<(String, Span, bool)>,
}

impl Parser {
    /// Reads clauses up to the first declaration.
    pub(super) fn clauses(&mut self) -> Result<(Clauses, ClausePlaces)> {
        let mut clauses = Clauses::default();
        let mut places = ClausePlaces::default();
        loop {
            let start = self.tokens.peek().span;
            let again = if self.tokens.eat("unique") {
                std::mem::replace(&mut clauses.is_unique, true)
            } else if self.tokens.eat("padding") {
                std::mem::replace(&mut clauses.has_padding, true)
            } else if self.tokens.eat("fill") {
                let fill = Fill::read(&mut self.tokens)?;
                clauses.fill.replace(fill).is_some()
            } else if self.tokens.eat("mirror") {
                let (mirror, order) = self.mirror()?;
                places.mirror = Some((start.to(self.tokens.peek_before()), order));
                clauses.mirror.replace(mirror).is_some()
            } else if self.tokens.at("table") || self.tokens.at("block") {
                let is_table = self.tokens.at("table");
                self.tokens.take();
                let arrays = match is_table {
                    true => &mut clauses.tables,
                    false => &mut clauses.blocks,
                };
                let (array, place) = self.tokens.name("an index array")?;
                places.arrays.push((array.clone(), place, is_table));
                !arrays.insert(array)
            } else {
                return Ok((clauses, places));
            };
            if again {
                let place = start.to(self.tokens.peek_before());
                let text = self.tokens.source().slice(place).to_owned();
                let message = format!("`{text}` where such a clause stands before");
                return Err(Diagnostic::new(code::BAD_DECLARATION, message)
                    .at(self.tokens.source(), place, "here again")
                    .help("leave out one of them"));
            }
        }
    }

    fn mirror(&mut self) -> Result<(Mirror, usize)> {
        let start = self.tokens.peek().span;
        let relation = self.relation()?;
        let place = start.to(self.tokens.peek_before());
        let Some(modes) = exchanged(&relation) else {
            let message = "a mirror image that does not exchange two modes";
            return Err(Diagnostic::new(code::BAD_DECLARATION, message)
                .at(self.tokens.source(), place, "not an exchange")
                .help("exchange two of the coordinates, as in `mirror {[i, j] -> [j, i]} same`"));
        };
        let image = Image::ALL.into_iter().find(|it| self.tokens.eat(it.name()));
        let image = image.ok_or_else(|| {
            let expected = "`same`, `negative` or `conjugate`";
            let error = self.tokens.unexpected(expected);
            error.help("say what the value at exchanged coordinates is")
        })?;
        Ok((Mirror { modes, image }, relation.n_inputs()))
    }
}

/// The two modes that a relation from coordinates to coordinates exchanges, if it does no more.
fn exchanged(relation: &Relation) -> Option<[usize; 2]> {
    let n = relation.n_inputs();
    let names: Vec<String> = (0..n).map(|mode| format!("i{mode}")).collect();
    let is_same = |modes: &[usize; 2]| {
        let exchange: Relation = exchange(&names, *modes).parse().expect("it is well formed");
        let answer = relation.is_equal(&exchange, &Declarations::new());
        matches!(answer, Ok(Answer::Yes))
    };
    if relation.n_outputs() != n {
        return None;
    }
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
    pairs.into_iter().find(is_same)
}

impl Descriptor {
    /// The side of the diagonal of two modes on which the map puts all tuples, if that is proved.
    ///
    /// ```
    /// use sparsec_relation::{Descriptor, Side};
    /// let list: Descriptor = "
    ///     format below
    ///     extents N, M
    ///     map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n) && 0 <= j < i < N && j < M}
    ///     data {[n] -> [n]}
    ///     values {[n] : 0 <= n < NZ}
    ///     function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
    ///     function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < M}
    /// ".parse()?;
    /// assert_eq!(list.side_of([0, 1]), Some(Side::Lower));
    /// assert_eq!(list.side_of([1, 0]), Some(Side::Upper));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn side_of(&self, modes: [usize; 2]) -> Option<Side> {
        let is_on = |comparison| {
            self.map().parts().iter().all(|part| {
                let coordinates: Vec<Expression> =
                    part.outputs().map(Expression::Variable).collect();
                let [a, b] = modes.map(|mode| coordinates[mode].clone());
                follows(
                    part,
                    &Constraint::new(a, comparison, b),
                    self.declarations(),
                )
            })
        };
        match is_on(Comparison::GreaterEqual) {
            true => Some(Side::Lower),
            false => is_on(Comparison::LessEqual).then_some(Side::Upper),
        }
    }

    /// Whether the place of each tuple's value is an element of the tuple. Places that are computed, as
    /// in rows of one length, may have no tuple.
    ///
    /// ```
    /// use sparsec_relation::Descriptor;
    /// let pairs: Descriptor = "
    ///     format pairs
    ///     extents N
    ///     map {[r, s] -> [i] : 0 <= r < M && 0 <= s < 2 && i = crd(2 * r + s)}
    ///     data {[r, s] -> [2 * r + s]}
    ///     values {[p] : 0 <= p < 2 * M}
    ///     function crd : {[p] : 0 <= p < 2 * M} -> {[i] : 0 <= i < N}
    /// ".parse()?;
    /// assert!(!pairs.has_places());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn has_places(&self) -> bool {
        self.data().parts().iter().all(|part| {
            let place = part.outputs().next().map(Expression::Variable);
            let mut links = part.constraints().iter().flat_map(Constraint::links);
            links.any(|(a, comparison, b)| {
                let is_element = |e: &Expression| matches!(e, Expression::Variable(_));
                let is_place = |e: &Expression| Some(e) == place.as_ref();
                comparison == Comparison::Equal
                    && (is_place(a) && is_element(b) || is_place(b) && is_element(a))
            })
        })
    }

    /// Whether the map reads keys of elements from an array: of elements of segments, which another
    /// array bounds, or of elements of blocks, which are as many in each.
    fn holds_keys(&self, array: &str, of_segments: bool) -> bool {
        let is_range = |from: &Expression, to: &Expression| match (from, to) {
            (Expression::Call(a, _), Expression::Call(b, _)) => of_segments && a == b,
            _ => {
                let length = Expression::Subtract(Box::new(to.clone()), Box::new(from.clone()));
                !of_segments && matches!(length.collected(), Expression::Integer(_))
            }
        };
        self.map().parts().iter().all(|part| {
            let links: Vec<Constraint> = (part.constraints().iter())
                .flat_map(Constraint::split)
                .collect();
            let mut elements = part.inputs().chain(part.exists()).map(Expression::Variable);
            elements.any(|element| {
                let key = Expression::Call(array.to_owned(), vec![element.clone()]);
                let (mut from, mut to, mut has_key) = (Vec::new(), Vec::new(), false);
                for Constraint { first, rest } in &links {
                    match &rest[0] {
                        (Comparison::Equal, other) => has_key |= *first == key || *other == key,
                        (Comparison::LessEqual, other) if *other == element => from.push(first),
                        (Comparison::Less, end) if *first == element => to.push(end),
                        _ => {}
                    }
                }
                has_key && (from.iter()).any(|from| to.iter().any(|to| is_range(from, to)))
            })
        })
    }

    /// Clauses speak of modes and arrays that the descriptor has.
    pub(super) fn check_clauses(&self, source: &Source, places: &ClausePlaces) -> Result<()> {
        for (array, place, is_table) in &places.arrays {
            if self.declarations().function(array).is_none() {
                let message = format!("nothing is known of the function `{array}`");
                return Err(Diagnostic::new(code::DESCRIPTOR_FUNCTION, message)
                    .at(source, *place, "named here, and not declared")
                    .help("name an index array that is declared"));
            }
            if !self.holds_keys(array, *is_table) {
                let (of, map) = match is_table {
                    true => ("segments", "pos(p) <= q < pos(p + 1) && crd(q) = j"),
                    false => (
                        "blocks of one length",
                        "4 * p <= q < 4 * p + 4 && crd(q) = j",
                    ),
                };
                let message = format!("`{array}` holds no keys of {of}");
                return Err(Diagnostic::new(code::BAD_DECLARATION, message)
                    .at(source, *place, "not read so in the map")
                    .help(format!("name the array of the keys, as `crd` in `{map}`")));
            }
        }
        let (Some(mirror), Some((place, order))) = (self.clauses().mirror, places.mirror) else {
            return Ok(());
        };
        let refused = |message: String, label: &str, help: String| {
            let error = Diagnostic::new(code::BAD_DECLARATION, message);
            Err(error.at(source, place, label).help(help))
        };
        if order != self.order() {
            let message = format!(
                "a mirror image of {order} coordinates for {} modes",
                self.order()
            );
            return refused(
                message,
                "not the coordinates of the map",
                "exchange two of the coordinates of the map".to_owned(),
            );
        }
        let extents = mirror.modes.map(|mode| &self.extents()[mode]);
        let [a, b] = [0, 1].map(|at: usize| Expression::Constant(extents[at].clone()));
        let are_equal = a.equals(b);
        if !self
            .map()
            .parts()
            .iter()
            .all(|part| follows(part, &are_equal, self.declarations()))
        {
            return refused(
                "mirror images of modes whose extents may differ".to_owned(),
                "not known to be equal",
                format!(
                    "say that they are: `assume {} = {}`",
                    extents[0], extents[1]
                ),
            );
        }
        if self.side_of(mirror.modes).is_none() {
            return refused(
                "entries and their mirror images may both be stored".to_owned(),
                "on both sides of the diagonal",
                "keep to one side in the map: `i >= j` or `i <= j`".to_owned(),
            );
        }
        Ok(())
    }
}

impl Descriptor {
    pub(super) fn write_clauses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clauses = self.clauses();
        if clauses.is_unique {
            writeln!(f, "unique")?;
        }
        if clauses.has_padding {
            writeln!(f, "padding")?;
        }
        if let Some(fill) = clauses.fill {
            writeln!(f, "fill {fill}")?;
        }
        if let Some(Mirror { modes, image }) = clauses.mirror {
            let names: Vec<String> = match self.map().parts() {
                [part, ..] => part.outputs().map(|v| part.name(v).to_owned()).collect(),
                [] => (0..self.order()).map(|mode| format!("i{mode}")).collect(),
            };
            writeln!(f, "mirror {} {}", exchange(&names, modes), image.name())?;
        }
        for array in &clauses.tables {
            writeln!(f, "table {array}")?;
        }
        for array in &clauses.blocks {
            writeln!(f, "block {array}")?;
        }
        Ok(())
    }
}

/// The text of the relation that exchanges two coordinates.
fn exchange(names: &[String], [a, b]: [usize; 2]) -> String {
    let mut exchanged = names.to_vec();
    exchanged.swap(a, b);
    format!("{{[{}] -> [{}]}}", names.join(", "), exchanged.join(", "))
}
