//! Conversions to formats that state how their arrays are assembled from a sorted list of entries.
//!
//! ```text
//! source ──► derived: the list S_crd0, S_crd1, S ──► stated: the arrays B_… and B
//! ```
//!
//! Both are one computation, whose list is temporary. Arrays of the list that are copies of
//! the source's are not made: those of the source take their place.

mod elements;

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Result, code};
use sparsec_computation::{Access, Computation, Cost, Value};
use sparsec_relation::{Descriptor, Expression, Image, Relation, Rewrite, Variable};

use self::elements::elements;
use crate::cases::{Case, CaseKind, table};
use crate::certify::Origin;
use crate::entries::Entries;
use crate::listing::list_of;
use crate::named::Named;
use crate::problem::{Piece, Problem};
use crate::terms::below;
use crate::{
    Certificate, Conversion, Line, Optimisation, Part, Places, Wanted, convert_parts, refused,
};

/// The number of entries of the list, as assemblies name it.
const NUMBER: &str = "NZ";

/// A conversion of which the format states a part.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Which tuples of the source and of the destination have the same coordinates.
    pub relations: Vec<Relation>,
    /// The derived conversion to the list; `None` if the source is such a list.
    pub list: Option<Conversion>,
    /// The stated computation, by the names that the format uses.
    pub assembly: Computation,
    /// The same as a conversion from the list.
    stated: Conversion,
    name: String,
}

/// The conversion of a source to a format that states its `assembly` from a list of entries `A_crd0`,
/// `A_crd1`, and so on, with values `A`, which are sorted by their coordinates. With `is_list`, the
/// source is this list.
///
/// # Errors
/// As `convert_pieces`, to the list.
///
/// ```
/// use sparsec_base::ElementType;
/// use sparsec_convert::{Wanted, assembled};
/// let dense = "
///     format dense
///     extents N
///     map {[p] -> [i] : p = i && 0 <= i < N}
///     data {[p] -> [p]}
///     values {[p] : 0 <= p < N}
/// ".parse()?;
/// let backward = "
///     format backward
///     extents N
///     map {[p] -> [i] : 0 <= p < NZ && i = crd(p) && 0 <= i < N}
///     data {[p] -> [p]}
///     values {[p] : 0 <= p < NZ}
///     function crd : {[p] : 0 <= p < NZ} -> {[i] : 0 <= i < N} decreasing
/// ".parse()?;
/// let assembly = "computation assemble {
///     parameters N0, NZ
///     function A_crd0 : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N0}
///     given A_crd0 : i64[NZ], A : f64[NZ]
///     out B_crd : i64[NZ], B : f64[NZ]
///     keys: B_crd(NZ - 1 - n) = A_crd0(n) over {[n] : 0 <= n < NZ}
///     values: B(NZ - 1 - n) = A(n) over {[n] : 0 <= n < NZ}
/// }".parse()?;
/// let wanted = Wanted::of(ElementType::F64);
/// let made = assembled(&[dense], &backward, &wanted, (&assembly, false))?;
/// assert!(made.computation(None)?.to_string().contains("B_crd(S_NZ - 1 - n) = S_crd0(n)"));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn assembled(
    source: &[Descriptor],
    destination: &Descriptor,
    wanted: &Wanted,
    (assembly, is_list): (&Computation, bool),
) -> Result<Assembled> {
    let order = destination.order();
    let modes: Vec<usize> = (0..order).collect();
    let sorted = list_of(order, Some(&modes), "")?;
    let list = match is_list {
        true => None,
        false => {
            let list = std::slice::from_ref(&sorted);
            Some(convert_parts(source, list, wanted)?)
        }
    };
    let extents = named_extents(order);
    let to = Named::new(destination, "B", &extents)?;
    let (pieces, _) = Problem::of(source, std::slice::from_ref(&sorted), wanted)?;
    let relations = pieces.iter().map(|piece| {
        let mut from = Named::new(piece.descriptor, "A", &extents)?;
        if let Some(modes) = piece.image {
            from.exchange(modes);
        }
        crate::synthesis::relation(&from, &to, &from.declarations)
    });
    Ok(Assembled {
        relations: relations.collect::<Result<_>>()?,
        stated: stated(&sorted, (destination, &to), wanted, assembly)?,
        list,
        name: assembly.name.clone(),
        assembly: assembly.clone(),
    })
}

/// The stated assembly, as a conversion from the list.
fn stated(
    list: &Descriptor,
    (destination, named): (&Descriptor, &Named),
    wanted: &Wanted,
    assembly: &Computation,
) -> Result<Conversion> {
    let of_list = format!("A_{NUMBER}");
    let computation = assembly.renamed(&|name| (name == NUMBER).then(|| of_list.clone()))?;
    let piece = Piece {
        descriptor: list,
        image: None,
        value: Image::Same,
    };
    let problem = Problem::plain(&Wanted {
        places: Places::Full,
        is_unique: true,
        ..Wanted::of(wanted.element)
    });
    let entries = Entries::of(
        &Named::new(list, "A", &named_extents(list.order()))?,
        &problem,
    )?;
    let by_entries = by_entries(&computation, &entries)?;
    let written = computation.spaces.iter().filter(|space| {
        let is_values = space.name == "B";
        !space.role.is_given() && !is_values
    });
    let mut cases = elements(named, &by_entries, &entries);
    cases.extend(written.map(|space| Case::array(&computation, &space.name, CaseKind::Stated)));
    Ok(Conversion {
        relations: Vec::new(),
        cases,
        written: computation,
        origin: Origin::of(&[piece], std::slice::from_ref(destination), &problem),
        computation: by_entries,
    })
}

/// The names of extents in a conversion.
fn named_extents(order: usize) -> Vec<String> {
    (0..order).map(|mode| format!("N{mode}")).collect()
}

/// The computation with statements over entries where it has them over their numbers, as derived
/// conversions do, and with coordinates in place of the arrays that hold them:
///
/// ```text
/// {[n] : 0 <= n < A_NZ}   ──►   {[n, i0, i1] : 0 <= n < A_NZ && A_crd0(n) = i0 && …}
/// ```
fn by_entries(computation: &Computation, entries: &Entries) -> Result<Computation> {
    let numbers = below("n", &Expression::Constant(format!("A_{NUMBER}")))?;
    let mut new = computation.clone();
    for statement in &mut new.statements {
        let is_number = statement.space.n_elements() == 1
            && [(&statement.space, &numbers), (&numbers, &statement.space)]
                .into_iter()
                .all(|(a, b)| a.as_box() == b.as_box() && a.as_box().is_some());
        let own = statement.variables().map(Expression::Variable);
        let is_sweep = statement.schedule.iter().skip(1).cloned().eq(own);
        if is_sweep && !is_number {
            statement.schedule.push(Expression::Integer(0));
        }
        if !is_number || !is_sweep {
            continue;
        }
        let at = AtEntry(entries);
        let tuple = entries.space.parts()[0].inputs().map(Expression::Variable);
        let times = statement.schedule.iter().take(1).cloned();
        let place = [Expression::Integer(0)];
        statement.schedule = times.chain(tuple).chain(place).collect();
        statement.space = entries.space.clone();
        let indices = statement.target.indices.iter();
        statement.target.indices = indices.map(|e| e.rewritten(&at)).collect();
        let known = &computation.declarations;
        statement.value = statement.value.with_leaves(&mut |leaf| match leaf {
            Value::Entry(access) => match at.coordinate(&access.space, &access.indices) {
                Some(coordinate) => Value::of_expression(&coordinate, known),
                None => Value::Entry(Access {
                    space: access.space.clone(),
                    indices: access.indices.iter().map(|e| e.rewritten(&at)).collect(),
                }),
            },
            Value::Window(window, keys) => {
                Value::Window(*window, keys.iter().map(|key| key.rewritten(&at)).collect())
            }
            leaf => leaf.clone(),
        });
    }
    new.checked()
}

/// The coordinates of an entry of the list in place of the arrays that hold them.
struct AtEntry<'a>(&'a Entries);

impl AtEntry<'_> {
    fn coordinate(&self, array: &str, indices: &[Expression]) -> Option<Expression> {
        let mode: usize = array.strip_prefix("A_crd")?.parse().ok()?;
        let number = Expression::Variable(Variable::from_index(0));
        let coordinate = self
            .0
            .coordinates
            .get(mode)
            .filter(|_| *indices == [number]);
        coordinate.map(|it| Expression::Variable(*it))
    }
}

impl Rewrite for AtEntry<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        match e {
            Expression::Call(name, arguments) => self.coordinate(name, arguments),
            _ => None,
        }
    }
}

/// The name of an array of the list in a chain. The conversion to the list calls its arrays `B_…`, and
/// the one from the list `A_…`.
fn in_chain(name: &str, side: &str) -> Option<String> {
    match name.strip_prefix(side)? {
        "" => Some("S".to_owned()),
        rest => rest.strip_prefix('_').map(|rest| format!("S_{rest}")),
    }
}

/// A text about one side of the list in the names of the chain.
fn text_in_chain(text: &str, side: &str) -> String {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut renamed = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        renamed += &in_chain(word, side).unwrap_or_else(|| word.to_owned());
        let next = behind.find(is_of_word).unwrap_or(behind.len());
        renamed += &behind[..next];
        rest = &behind[next..];
    }
    renamed
}

impl Assembled {
    /// The same by another name, which its kernel has too.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The computation from the source on, the derived part optimised up to `so_far`; without it,
    /// unoptimised, as its certificate refers to it. If the source is the list, it is the stated assembly.
    ///
    /// # Errors
    /// As [`Conversion::optimised`].
    pub fn computation(&self, so_far: Option<Optimisation>) -> Result<Computation> {
        let mut computation = match &self.list {
            None => self.assembly.clone(),
            Some(list) => {
                let listed = match so_far {
                    None => list.computation.clone(),
                    Some(so_far) => list.optimised(so_far, &|_| true)?,
                };
                let listed = listed.renamed(&|name| in_chain(name, "B"))?;
                let taken = self.assembly.spaces.iter().filter(|it| it.role.is_given());
                let taken: BTreeSet<&str> = taken.map(|space| space.name.as_str()).collect();
                let own = taken
                    .iter()
                    .filter_map(|name| Some((*name, in_chain(name, "A")?)));
                let mut own: Vec<(&str, String)> = own.collect();
                own.push((NUMBER, format!("S_{NUMBER}")));
                let own: Vec<(&str, &str)> = own.iter().map(|(a, b)| (*a, b.as_str())).collect();
                let chain = listed.followed_by(&self.assembly, &own)?;
                match so_far {
                    Some(Optimisation::All) => chain.with_given_copies()?,
                    _ => chain,
                }
            }
        };
        if self.list.is_some() || so_far.is_some() {
            computation.name.clone_from(&self.name);
        }
        Ok(computation)
    }

    /// The stated computation as a conversion from the list, to which its certificate refers.
    pub fn stated(&self) -> &Conversion {
        &self.stated
    }

    /// The cost of the computation, as [`Conversion::cost`].
    ///
    /// # Errors
    /// `E0830` if nothing bounds the points of a statement; as [`computation`](Self::computation).
    pub fn cost(&self, so_far: Optimisation) -> Result<Cost> {
        let computation = self.computation(Some(so_far))?;
        computation.cost().ok_or_else(|| {
            refused("nothing bounds the points of a statement of this conversion".to_owned())
                .help("print the statements with `--emit computation`")
        })
    }

    /// The cases as a table: first those that are derived, then those that the format states.
    pub fn table(&self) -> String {
        let of_list = self.list.iter().flat_map(|list| &list.cases);
        let mut cases: Vec<Case> = of_list.map(|case| in_names(case, "B")).collect();
        let stated = self.stated.cases.iter();
        cases.extend(stated.map(|case| match self.list.is_some() {
            true => in_names(case, "A"),
            false => case.clone(),
        }));
        table(&cases)
    }

    /// The obligations of the stated assembly, none of them proved, if its statements do not determine
    /// the tuple of an entry.
    fn unproved(&self) -> Result<Certificate> {
        let question = self.stated.question();
        let parts = question.obligations()?.into_iter().map(|obligations| {
            let lines = obligations.into_iter().map(|obligation| Line {
                obligation,
                proof: None,
            });
            Ok(Part {
                tuple: "{[n] -> []}".parse()?,
                lines: lines.collect(),
            })
        });
        let parts = parts.collect::<Result<_>>()?;
        Ok(Certificate { parts })
    }

    /// The certificate of the derived list, followed by that of the stated assembly. Obligations without
    /// a proof are checked when the arrays are made.
    ///
    /// # Errors
    /// As [`Conversion::certificate`].
    pub fn certificate(&self) -> Result<String> {
        let mut text = String::new();
        if let Some(list) = &self.list {
            text = text_in_chain(&list.certificate()?.to_string(), "B");
        }
        let stated = match self.stated.certificate() {
            Err(error) if error.code() == code::CERTIFICATE => self.unproved(),
            stated => stated,
        };
        let stated = stated?.to_string();
        Ok(match self.list.is_some() {
            true => text + &text_in_chain(&stated, "A"),
            false => stated,
        })
    }
}

/// A case in the names of the chain.
fn in_names(case: &Case, side: &str) -> Case {
    let found = case.found.iter().map(|text| text_in_chain(text, side));
    Case {
        unknown: text_in_chain(&case.unknown, side),
        found: found.collect(),
        ..case.clone()
    }
}
