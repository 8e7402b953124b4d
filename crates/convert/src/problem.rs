//! What is converted: the pieces of the source, and what both formats say beside their relations.
//!
//! Clauses of descriptors become parts of the problem:
//!
//! ```text
//! source        padding    a given array says which places hold an entry
//!               fill       a given number, which places without an entry have in the destination
//!               mirror     a second piece of the source, at exchanged coordinates
//! destination   table      keys go to slots
//!               block      blocks are filled up
//!               mirror     the entries of one triangle are stored, and compared with the others
//! ```
//!
//! If both formats have the same mirror images, they describe the same tensors. Nothing is compared
//! then, and the triangle is converted as it is, or with exchanged coordinates.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result};
use sparsec_computation::Value;
use sparsec_relation::{
    Constraint, Descriptor, Expression, Image, Mirror, Relation, Side, Variable,
};

use crate::{Places, Types, Wanted, refused};

/// A piece of a source: a part of a union, or a mirror image of one.
///
/// An image follows its part, and has no image of an entry at equal coordinates. An image without
/// its part has those too: it is the other triangle in place of the stored one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    /// What the part is, or the part whose image this is.
    pub(crate) descriptor: &'a Descriptor,
    /// The two modes whose coordinates the image exchanges.
    pub(crate) image: Option<[usize; 2]>,
    /// What values of the image are.
    pub(crate) value: Image,
}

/// The entries on one side of a diagonal, each of which stands for its mirror image too.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    /// The two modes: the first coordinate is not smaller than the second.
    pub(crate) modes: [usize; 2],
    /// How the value of a mirror image follows from that of its entry.
    pub(crate) image: Image,
    /// All modes in the order in which entries are best listed.
    pub(crate) order: Vec<usize>,
}

/// What a conversion has to do, beside what relations say: the [`Wanted`] of its caller, and the
/// clauses of both sides.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) element: ElementType,
    pub(crate) types: Types,
    pub(crate) is_unique: bool,
    pub(crate) adds: bool,
    pub(crate) places: Places,
    /// Whether places may hold the fill as padding. The conversion is then given `A_stored`,
    /// which has a 1 for each place that holds an entry, and a 0 for each that does not.
    pub(crate) has_padding: bool,
    /// Whether places of the destination that hold no entry have another value than 0. The
    /// conversion is then given `A_fill`. Entries are not added up.
    pub(crate) has_fill: bool,
    /// The arrays that hold the keys of hash tables, by their names in the computation.
    pub(crate) tables: BTreeSet<String>,
    /// The arrays that hold the coordinates of blocks of one length. Where a block has fewer
    /// entries, the least coordinates without an entry fill it up.
    pub(crate) blocks: BTreeSet<String>,
    /// The triangle that the destination stores, if entries of it stand for their mirror
    /// images. Extents of the two modes are the same.
    pub(crate) triangle: Option<Triangle>,
}

impl Problem {
    /// The problem of converting from the parts of one format to those of another, with the pieces of
    /// the source.
    ///
    /// # Errors
    /// `E0830` for formats of different orders, entries that are added up to a fill, and mirror images
    /// that computations do not compute or compare.
    pub(crate) fn of<'a>(
        source: &'a [Descriptor],
        destination: &[Descriptor],
        wanted: &Wanted,
    ) -> Result<(Vec<Piece<'a>>, Self)> {
        let order = destination[0].order();
        if let Some(part) = source.iter().find(|part| part.order() != order) {
            let message = format!(
                "a tensor of {} modes has no format of {order}",
                part.order()
            );
            return Err(refused(message).help("name two formats of one order"));
        }
        let element = wanted.element;
        let fill = source[0].clauses().fill;
        let declares_fill = fill.is_some_and(|fill| fill.as_type(element) != element.zero());
        let mut problem = Self {
            has_padding: !wanted.keeps_padding
                && source.iter().any(|part| part.clauses().has_padding),
            has_fill: wanted.has_fill.unwrap_or(declares_fill),
            tables: named(destination, |part| &part.clauses().tables),
            blocks: named(destination, |part| &part.clauses().blocks),
            triangle: triangle(destination, element)?,
            ..Self::plain(wanted)
        };
        if problem.has_fill && problem.adds {
            return Err(refused("entries are added to the fill".to_owned())
                .help("convert a tensor without repeated entries, or one whose fill is 0"));
        }
        if let Some(piece) = problem.same_triangle(source)? {
            problem.triangle = None;
            return Ok((vec![piece], problem));
        }
        if problem.triangle.is_some() && element != element.computed() {
            let message = format!("no conversion compares mirror images of `{element}`");
            return Err(refused(message).help("convert a tensor of `f32` or `f64`"));
        }
        Ok((pieces(source, element)?, problem))
    }

    /// The problem of converting between formats without clauses.
    pub(crate) fn plain(wanted: &Wanted) -> Self {
        Self {
            element: wanted.element,
            types: wanted.types.clone(),
            is_unique: wanted.is_unique,
            adds: wanted.adds,
            places: wanted.places,
            has_padding: false,
            has_fill: false,
            tables: BTreeSet::new(),
            blocks: BTreeSet::new(),
            triangle: None,
        }
    }

    /// The source as one piece, if its mirror images are those of the destination's triangle.
    fn same_triangle<'a>(&self, source: &'a [Descriptor]) -> Result<Option<Piece<'a>>> {
        let (Some(triangle), [part]) = (&self.triangle, source) else {
            return Ok(None);
        };
        let Some(own) = part.clauses().mirror else {
            return Ok(None);
        };
        let image = image_of(own, self.element)?;
        let [a, b] = triangle.modes;
        if image != triangle.image || own.modes != [a.min(b), a.max(b)] {
            return Ok(None);
        }
        let Some(side) = part.side_of(triangle.modes) else {
            return Ok(None);
        };
        let is_other = side == Side::Upper;
        Ok(Some(Piece {
            descriptor: part,
            image: is_other.then_some(own.modes),
            value: if is_other { image } else { Image::Same },
        }))
    }
}

/// Arrays of a destination that clauses name, by their names in the computation.
fn named(
    destination: &[Descriptor],
    arrays: impl Fn(&Descriptor) -> &BTreeSet<String>,
) -> BTreeSet<String> {
    let n = destination.len();
    let parts = destination.iter().enumerate();
    let of_part = |(number, part)| {
        let prefix = prefix(number, n);
        arrays(part)
            .iter()
            .map(move |array| format!("{prefix}_{array}"))
    };
    parts.flat_map(of_part).collect()
}

/// The side of a part of a destination of `n` parts, with which names of its arrays begin.
pub(crate) fn prefix(number: usize, n: usize) -> String {
    match n {
        1 => "B".to_owned(),
        _ => format!("B{}", number + 1),
    }
}

/// The parts of a source, each with the mirror image that its entries stand for.
fn pieces(source: &[Descriptor], element: ElementType) -> Result<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    for descriptor in source {
        pieces.push(Piece {
            descriptor,
            image: None,
            value: Image::Same,
        });
        if let Some(mirror) = descriptor.clauses().mirror {
            pieces.push(Piece {
                descriptor,
                image: Some(mirror.modes),
                value: image_of(mirror, element)?,
            });
        }
    }
    Ok(pieces)
}

/// The triangle that a destination stores, if its entries stand for their mirror images.
fn triangle(destination: &[Descriptor], element: ElementType) -> Result<Option<Triangle>> {
    let mirror = destination.iter().find_map(|part| part.clauses().mirror);
    let Some(mirror) = mirror else {
        return Ok(None);
    };
    let [a, b] = mirror.modes;
    let (modes, part) = match destination {
        [part] => match part.side_of(mirror.modes) {
            Some(Side::Lower) => ([a, b], part),
            Some(Side::Upper) => ([b, a], part),
            None => return Err(several()),
        },
        _ => return Err(several()),
    };
    Ok(Some(Triangle {
        modes,
        image: image_of(mirror, element)?,
        order: order_of_modes(part.map()),
    }))
}

fn several() -> Diagnostic {
    refused("the destination stores more than one triangle, or less".to_owned())
        .help("convert to a format of one part that stores a triangle")
}

/// How values of a type are mirrored. The conjugate of a real number is the number.
///
/// # Errors
/// `E0830` for negatives of a type that computations do not negate.
fn image_of(mirror: Mirror, element: ElementType) -> Result<Image> {
    use ElementType::{F32, F64, I64};
    match mirror.image {
        Image::Negative if ![F32, F64, I64].contains(&element) => {
            let message = format!("no conversion computes the mirror images of `{element}`");
            Err(refused(message).help("convert a tensor of `f64`, `f32` or `i64`"))
        }
        Image::Conjugate if !element.is_complex() => Ok(Image::Same),
        image => Ok(image),
    }
}

/// The value of a mirror image, from that of its entry.
pub(crate) fn image_of_value(image: Image, value: Value) -> Value {
    match image {
        Image::Same => value,
        Image::Negative => Value::Negate(Box::new(value)),
        Image::Conjugate => Value::Conjugate(Box::new(value)),
    }
}

/// The modes in the order in which elements of the tuple determine their coordinates.
fn order_of_modes(map: &Relation) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    for part in map.parts() {
        let mut add = |mode| {
            if !order.contains(&mode) {
                order.push(mode);
            }
        };
        for (n, _) in part.inputs().enumerate() {
            // Coordinates that a constraint ties to the first elements, and to no later one.
            let is_late = |v: &Variable| v.index() > n && v.index() < part.inputs().len();
            let is_early = |v: &Variable| v.index() <= n;
            for link in part.constraints().iter().flat_map(Constraint::split) {
                let mentioned = mentioned(&link);
                if mentioned.iter().any(is_early) && !mentioned.iter().any(is_late) {
                    let outputs = part.outputs().enumerate();
                    let tied = outputs.filter(|(_, output)| mentioned.contains(output));
                    tied.for_each(|(mode, _)| add(mode));
                }
            }
        }
        (0..part.outputs().len()).for_each(add);
    }
    order
}

/// The variables that a constraint mentions.
fn mentioned(constraint: &Constraint) -> Vec<Variable> {
    let mut mentioned = Vec::new();
    for e in constraint.expressions() {
        e.visit(&mut |e| {
            if let Expression::Variable(v) = e {
                mentioned.push(*v);
            }
        });
    }
    mentioned
}
