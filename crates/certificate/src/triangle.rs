//! Destinations that store one triangle, whose entries stand for those on the other side of the
//! diagonal. The list `L` has each entry of the source: first the entries in the triangle, then the
//! others, at the coordinates that their images have there. The list `T` is the triangle:
//!
//! ```text
//! L_first = L_n1 + …                                   the count of the entries in the triangle    Count
//! T_at(n) = dense_rank(i of N0, j of N1)                                                           DenseRank
//! T_crd0(T_at(n)) = i                                                                              Keys
//! T(T_at(n)) = L(n)           where n < L_first        what the source has in the triangle
//! T_image(T_at(n)) = L(n)     where L_first <= n       the images of what it has outside
//! T_unmirrored += differs(T(n), T_image(n))            where i != j; assumed to be 0               Mirrored
//! ```
//!
//! The numbers of a piece of the list follow those of the pieces before, so the first `L_first`
//! numbers are those of the pieces in the triangle. Each side of `T` therefore has, at a tuple, the
//! value or the image of the one entry there, or the sum of all, or the fill.
//!
//! The source is its own mirror image if and only if no tuple has different values on both sides:
//! elsewhere, both sides have the fill. If images have other values, the list has entries on the
//! diagonal on both sides, and tuples on the diagonal count as well.

use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Constraint, Expression, Image};

use crate::Refusal;
use crate::check::{Outcome, refuse, require};
use crate::entries::{Entries, zero};
use crate::lemmas::{only_by, updates};
use crate::pieces::counts;
use crate::state::State;

/// The count of the entries of the list that lie in the triangle.
pub(crate) const FIRST: &str = "L_first";
/// The count of the tuples that differ from their images.
pub(crate) const UNMIRRORED: &str = "T_unmirrored";
/// The values of images.
const IMAGE: &str = "T_image";

impl<'a> State<'a> {
    /// One statement visits each entry in the triangle, and another one each of the others.
    pub(crate) fn both_visited(&mut self, cited: &[&'a Statement]) -> Outcome {
        let own = self.side_copy(&self.destination.name.clone(), &[])?;
        let (_, value) = self.triangle()?;
        let image = self.side_copy(IMAGE, &[value])?;
        let are_cited = cited.len() == 2
            && [own, image]
                .iter()
                .all(|copy| cited.iter().any(|it| std::ptr::eq(*it, *copy)));
        refuse(
            are_cited,
            "it is not about the two statements that copy values",
        )?;
        let [own_length, image_length] = [own, image].map(|copy| self.extent(&copy.target.space));
        refuse(
            self.are_equal(&own_length?, &image_length?),
            "the images may be more than the entries, or less",
        )?;
        let first = counts(self.question.n_first()?);
        for (copy, side) in [(own, Comparison::Less), (image, Comparison::GreaterEqual)] {
            let beyond = self.beyond_entries(copy)?;
            let mut open = beyond.iter().filter(|link| !self.at_entries(link));
            let is_side = match (open.next(), open.next()) {
                (Some(link), None) => {
                    let (comparison, end) = &link.rest[0];
                    link.first == self.entries.place
                        && *comparison == side
                        && self.are_equal(end, &first)
                }
                _ => false,
            };
            require(is_side, copy, "it may visit entries of the other side")?;
        }
        self.copy = Some(own);
        self.claimed.push(image);
        Ok(())
    }

    /// The statement that writes the values of one side. If the fill is given, one before writes the
    /// image of the fill to all places.
    fn side_copy(&self, name: &str, images: &[Image]) -> Result<&'a Statement, Refusal> {
        let writers = self.writers(name);
        let copy = match (&writers[..], self.question.has_fill) {
            ([copy], false) => *copy,
            ([a, b], true) => {
                let [fill, copy] = match crate::order::is_after(a, b) {
                    true => [*b, *a],
                    false => [*a, *b],
                };
                self.fills(fill, images)?;
                self.follows(copy, fill)?;
                copy
            }
            _ => {
                return Err(Refusal::of(format!(
                    "not one statement copies values to `{name}`"
                )));
            }
        };
        updates(copy, self.update())?;
        Ok(copy)
    }

    /// Both statements write the values of the list to the places of their tuples.
    pub(crate) fn both_hold_values(&self) -> Outcome {
        self.holds_value()?;
        let [image] = &self.claimed[..] else {
            return Err(Refusal::of("nothing says which statement copies images"));
        };
        self.copies_values(image)
    }

    fn triangle(&self) -> Result<([usize; 2], Image), Refusal> {
        let triangle = self.question.triangle.filter(|_| self.stage.is_triangle());
        triangle.ok_or_else(|| Refusal::of("the destination stores no triangle"))
    }
}

/// `T_unmirrored += differs(T(n), T_image(n))` at each tuple that has to be mirrored, and the
/// computation assumes that the count is 0.
pub(crate) fn mirrored(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let ([a, b], value) = state.triangle()?;
    let count = only_by(statements, Update::Add)?;
    let wrong = |why: &str| Err(Refusal::at(count, why));
    let [part] = count.space.parts() else {
        return wrong("its space is a union");
    };
    let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
    let tuples = Entries::of(&state.destination, &names, &state.known)?;
    let beyond = state.beyond(&tuples, count)?;
    let is_each = match (value, &beyond[..]) {
        // An entry on the diagonal is its own image.
        (Image::Same, [link]) => {
            let ends = [a, b].map(|mode| &tuples.coordinates[mode]);
            let (comparison, right) = &link.rest[0];
            let pair = [&link.first, right];
            *comparison == Comparison::NotEqual && (pair == ends || pair == [ends[1], ends[0]])
        }
        (Image::Negative | Image::Conjugate, []) => true,
        _ => false,
    };
    if !is_each {
        return wrong("it does not run over the tuples that have an image");
    }
    let element = state.computation.space(&state.destination.name);
    let element = element.map(|space| space.element);
    let may_be_nan = element.is_none_or(|it| it.is_float() || it.is_complex());
    let sides = [state.destination.name.as_str(), IMAGE];
    if !compares(&count.value, (sides, &tuples.place), may_be_nan) {
        return wrong("it does not compare the values of both sides");
    }
    let none = Expression::Constant(name.to_owned()).equals(zero());
    let assumed = state.computation.declarations.assumptions().iter();
    let is_assumed = assumed.flat_map(Constraint::split).any(|it| it == none);
    if !is_assumed || name != UNMIRRORED || !count.target.indices.is_empty() {
        return wrong("the computation does not assume that it counts nothing");
    }
    state
        .held
        .insert(name.to_owned(), crate::held::Held::Declared);
    state.assume(none)
}

/// Whether a value is 1 if two arrays differ at a place, and 0 if not. Two values that are no
/// numbers do not differ.
fn compares(value: &Value, ([a, b], place): ([&str; 2], &Expression), may_be_nan: bool) -> bool {
    let reads = |value: &Value, array: &str| {
        matches!(value, Value::Entry(read)
            if read.space == array && read.indices[..] == [place.clone()])
    };
    let differs = |value: &Value, left: &str, right: &str| matches!(value, Value::Differs(x, y) if reads(x, left) && reads(y, right));
    if !may_be_nan {
        return differs(value, a, b);
    }
    let Value::Binary(Operator::Minimum, differ, is_number) = value else {
        return false;
    };
    let Value::Binary(Operator::Subtract, one, both) = &**is_number else {
        return false;
    };
    let Value::Binary(Operator::Minimum, first, second) = &**both else {
        return false;
    };
    differs(differ, a, b)
        && **one == Value::Integer(1)
        && differs(first, a, a)
        && differs(second, b, b)
}
