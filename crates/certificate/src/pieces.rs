//! Sources of several pieces, whose entries are first copied into a list `L`: the parts of a union,
//! and the mirror images of a triangle. The list is then the source of the destination's parts.
//!
//! ```text
//! L_n1 += 1, L_n2 += 1                at each entry of the piece            Counted
//! L_NZ = L_n1 + L_n2                                                        Count
//! L_at2(p) = L_n1 + ordinal()         at each entry of piece 2              Behind the pieces before
//! L_crd0(L_at2(p)) = j                                                      Listed
//! L(L_at2(p)) = A(p)
//! ```
//!
//! The numbers of a piece are those from the count of the pieces before on, as many as it has entries.
//! So no two entries of any pieces have one number, and the numbers of all pieces are `0..L_NZ`. Each
//! piece has a part of the certificate. An array of the list has one statement for each piece, and no
//! two pieces have the same one.
//!
//! All values of a union are one array. Images are in the places of the entries that they mirror.

use sparsec_computation::{Operator, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Declarations, Descriptor, Expression, Image, Set};

use crate::check::{Outcome, require};
use crate::entries::{Entries, sum, within, zero};
use crate::held::{Held, Numbering, NumberingKind};
use crate::lemmas::number::numbers;
use crate::lemmas::store::{holds, stored};
use crate::lemmas::{index, updates};
use crate::side::Side;
use crate::stage::{in_triangle, same_extents};
use crate::state::State;
use crate::{Question, Refusal};

/// A piece of a source: a part of a union, or the mirror image of the part before it.
#[derive(Clone, Copy, Debug)]
pub struct SourcePiece<'a> {
    /// What the part is, or the part whose image this is.
    pub descriptor: &'a Descriptor,
    /// The two modes whose coordinates the image exchanges, and what becomes of values. Entries at
    /// equal coordinates have no image.
    pub image: Option<([usize; 2], Image)>,
}

/// The piece at hand.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) number: usize,
    pub(crate) n_pieces: usize,
    /// The piece of the source.
    source: usize,
    /// Whether the piece has the images, in the triangle, of entries that lie outside of it.
    is_mirrored: bool,
    /// The maps of values, in order.
    pub(crate) values: Vec<Image>,
}

impl Question<'_> {
    /// The pieces whose entries are listed. If the destination stores a triangle, these are first
    /// the entries in the triangle, then the images of the others. Images of images are
    /// left out where there are none.
    pub(crate) fn pieces(&self) -> Result<Vec<Piece>, Refusal> {
        let mut pieces = Vec::new();
        let sides: &[bool] = match self.triangle {
            Some(_) => &[false, true],
            None => &[false],
        };
        for is_mirrored in sides {
            for (source, piece) in self.source.iter().enumerate() {
                let own = piece.image.filter(|_| self.source.len() > 1);
                let mirrored = self.triangle.filter(|_| *is_mirrored);
                let values = [piece.image, mirrored].into_iter().flatten();
                let piece = Piece {
                    number: pieces.len(),
                    n_pieces: 0,
                    source,
                    is_mirrored: *is_mirrored,
                    values: values.map(|(_, value)| value).collect(),
                };
                let is_image = own.is_some() || *is_mirrored;
                if self.triangle.is_some() && is_image && self.is_empty(&piece)? {
                    continue;
                }
                pieces.push(piece);
            }
        }
        let n_pieces = pieces.len();
        pieces
            .iter_mut()
            .for_each(|piece| piece.n_pieces = n_pieces);
        Ok(pieces)
    }

    /// How many pieces have entries in the triangle. They come first.
    pub(crate) fn n_first(&self) -> Result<usize, Refusal> {
        let pieces = self.pieces()?;
        Ok(pieces.iter().filter(|piece| !piece.is_mirrored).count())
    }

    /// Whether a piece is known to have no entry.
    fn is_empty(&self, piece: &Piece) -> Result<bool, Refusal> {
        let (side, ..) = self.arrays(piece.source)?;
        let elements = side.map.inputs().chain(side.map.outputs());
        let names: Vec<String> = elements.map(|v| side.map.name(v).to_owned()).collect();
        let (_, entries, known) = self.listed_entries(piece, &names)?;
        Ok(Set::new(vec![entries.part]).is_ok_and(|set| set.is_refuted(&known)))
    }

    /// The arrays of a piece of the source, and where its values begin. An image has those of the
    /// part before it.
    fn arrays(&self, number: usize) -> Result<(Side, Expression, Expression), Refusal> {
        let is_alone = self.source.len() == 1;
        let n_parts = self.source.iter().filter(|it| it.image.is_none()).count();
        let mut sides: Vec<Side> = Vec::new();
        let mut begin = zero();
        let mut end = zero();
        let mut found = None;
        for (at, piece) in self.source.iter().enumerate() {
            if piece.image.is_none() || is_alone {
                let prefix = match n_parts {
                    0 | 1 => "A".to_owned(),
                    _ => format!("A{}", sides.len() + 1),
                };
                let side = Side::new(piece.descriptor, "A", &prefix)?;
                begin.clone_from(&end);
                end = sum(end, side.n_values()?).simplified();
                sides.push(side);
            }
            if at == number {
                found = Some((sides.last().cloned(), begin.clone()));
            }
        }
        match found {
            Some((Some(side), begin)) => Ok((side, begin, end)),
            _ => Err(Refusal::of("an image has no part before it")),
        }
    }

    /// The only piece of a source that is not listed: its arrays, its entries and what is known of
    /// them.
    pub(crate) fn only_entries(
        &self,
        names: &[String],
    ) -> Result<(Side, Entries, Declarations), Refusal> {
        self.entries_of(0, names)
    }

    /// As [`only_entries`](Self::only_entries), for a piece that is listed.
    pub(crate) fn listed_entries(
        &self,
        piece: &Piece,
        names: &[String],
    ) -> Result<(Side, Entries, Declarations), Refusal> {
        let (side, mut entries, known) = self.entries_of(piece.source, names)?;
        let Some((modes, value)) = self.triangle else {
            return Ok((side, entries, known));
        };
        let mut within = in_triangle(&entries.coordinates, modes)?;
        if piece.is_mirrored {
            let [a, b] = modes;
            entries.coordinates.swap(a, b);
            within = in_triangle(&entries.coordinates, modes)?;
            if value == Image::Same {
                // An entry on the diagonal is its own image.
                within.rest[0].0 = Comparison::Greater;
            }
        }
        entries.part.add(within);
        Ok((side, entries, known))
    }

    fn entries_of(
        &self,
        number: usize,
        names: &[String],
    ) -> Result<(Side, Entries, Declarations), Refusal> {
        let (side, begin, end) = self.arrays(number)?;
        let mut known = side.known();
        let mut entries = Entries::of(&side, names, &known)?;
        if let Some(([a, b], _)) = self.source[number].image {
            let order = entries.coordinates.len();
            if a.max(b) >= order {
                return Err(Refusal::of("an image exchanges modes that there are not"));
            }
            known.assume(same_extents([a, b]));
            entries.coordinates.swap(a, b);
            // An image alone has the entries on the diagonal too.
            if self.source.len() > 1 {
                let [a, b] = [a, b].map(|mode| entries.coordinates[mode].clone());
                let differ = Constraint::new(a, Comparison::NotEqual, b);
                entries.part.add(differ);
            }
        }
        entries.place = sum(begin, entries.place).simplified();
        entries.n_places = end;
        Ok((side, entries, known))
    }
}

/// The number that counts the entries of a piece.
pub(crate) fn count_of(piece: usize) -> String {
    format!("L_n{}", piece + 1)
}

/// The array with the numbers of the entries of a piece.
pub(crate) fn numbers_of(piece: usize) -> String {
    format!("L_at{}", piece + 1)
}

/// The array with the lengths of the runs of a piece.
pub(crate) fn lengths_of(piece: usize) -> String {
    format!("L_len{}", piece + 1)
}

/// The count of the first pieces.
pub(crate) fn counts(n: usize) -> Expression {
    let counts = (0..n).map(|piece| Expression::Constant(count_of(piece)));
    counts.reduce(sum).unwrap_or(zero())
}

/// `T(p) = before + ordinal()`, where `before` is the count of the pieces before.
pub(crate) fn placed(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Some(piece) = state.stage.piece().cloned() else {
        return wrong("it lists no piece of the source");
    };
    let is_ordinal =
        |value: &Value| matches!(value, Value::Window(Window::Ordinal, keys) if keys.is_empty());
    let before = match &statement.value {
        value if is_ordinal(value) => Some(Expression::Integer(0)),
        Value::Binary(Operator::Add, before, ordinal) if is_ordinal(ordinal) => {
            before.to_expression()
        }
        _ => None,
    };
    let Some(before) = before else {
        return wrong("its value is no ordinal behind other entries");
    };
    let own = Expression::Constant(count_of(piece.number));
    let end = Expression::Constant("L_NZ".to_owned());
    let is_counted = state.counted.as_ref() == Some(&own)
        && state.are_equal(&before, &counts(piece.number))
        && state.are_equal(&end, &counts(piece.n_pieces));
    if !is_counted || *name != numbers_of(piece.number) {
        return wrong("it does not begin behind the entries of the pieces before");
    }
    state.visits(statement)?;
    let is_whole = state.are_equal(&state.extent(name)?, &state.entries.n_places);
    if !state.are_apart || !is_whole || *index(statement)? != state.entries.place {
        return wrong("entries may share the places of their numbers");
    }
    let any = (Expression::Integer(i64::MIN), None);
    state.note(name, any, None, Held::Declared)?;
    let number = Expression::Call(name.to_owned(), statement.target.indices.clone());
    state.listed_at = Some(number.clone());
    state.note_fact(within(
        before.clone(),
        number.clone(),
        sum(before, own).simplified(),
    ))?;
    numbered(state, &piece, (number, Vec::new()), end)
}

/// The numbers of the only piece are a numbering of all entries.
pub(crate) fn numbered(
    state: &mut State<'_>,
    piece: &Piece,
    (value, keys): (Expression, Vec<Expression>),
    end: Expression,
) -> Outcome {
    if piece.n_pieces == 1 {
        state.numberings.push(Numbering {
            value,
            keys,
            kind: NumberingKind::Entries,
            end: Some(end),
        });
    }
    Ok(())
}

/// `crd(T(p)) = k` at each entry of a piece, where `T` numbers these; one statement for each piece.
pub(crate) fn listed(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let Some(piece) = state.stage.piece().cloned() else {
        return Err(Refusal::of("it lists no piece of the source"));
    };
    let [statement] = statements else {
        return Err(Refusal::of("it is not about one statement"));
    };
    let writers = state.writers(name);
    let writer = writers.iter().find(|it| std::ptr::eq(**it, *statement));
    let writer = *writer.ok_or_else(|| Refusal::at(statement, "it writes another array"))?;
    writers
        .iter()
        .try_for_each(|it| updates(it, Update::Assign))?;
    let is_each = writers.len() == piece.n_pieces;
    let is_own = state.listed_at.as_ref() == Some(index(writer)?);
    require(
        is_each && is_own,
        writer,
        "it does not write at the numbers of the piece",
    )?;
    state.visits(writer)?;
    let value = stored(writer)?;
    state.claimed.push(writer);
    let any = (Expression::Integer(i64::MIN), None);
    // The numbers of the only piece leave nothing out.
    let numbering = state.numbering(index(writer)?);
    let is_whole = state.are_equal(
        &state.extent(name)?,
        &Expression::Constant("L_NZ".to_owned()),
    );
    let held = match numbering.filter(|_| is_whole && piece.n_pieces == 1) {
        Some(numbering) => Held::Keys {
            numbering,
            value: value.clone(),
        },
        None => Held::Declared,
    };
    state.note(name, any, None, held)?;
    holds(state, writer, value)
}
