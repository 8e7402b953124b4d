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
use sparsec_relation::{Comparison, Constraint, Declarations, Descriptor, Expression};

use crate::check::Outcome;
use crate::entries::Entries;
use crate::held::Held;
use crate::lemmas::number::numbers;
use crate::lemmas::store::{holds, stored};
use crate::lemmas::{index, updates};
use crate::side::Side;
use crate::state::State;
use crate::{Question, Refusal};

/// A piece of a source: a part of a union, or the mirror image of the part before it.
#[derive(Clone, Copy, Debug)]
pub struct SourcePiece<'a> {
    /// What the part is, or the part whose image this is.
    pub descriptor: &'a Descriptor,
    /// The two modes whose coordinates the image exchanges, and what becomes of values. Entries at
    /// equal coordinates have no image.
    pub image: Option<([usize; 2], ImageValue)>,
}

/// The value of a mirror image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageValue {
    /// The value that it mirrors.
    Same,
    /// The negative of that value.
    Negative,
    /// The conjugate of that value.
    Conjugate,
}

/// The piece at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) number: usize,
    pub(crate) n_pieces: usize,
    pub(crate) value: ImageValue,
}

impl Question<'_> {
    /// The pieces of the source, if they are listed before they are converted.
    pub(crate) fn n_listed(&self) -> usize {
        match self.source.len() {
            1 => 0,
            n => n,
        }
    }

    /// The list of the entries of all pieces.
    pub(crate) fn list(&self) -> Result<Side, Refusal> {
        let order = self.destination.first().map_or(0, Descriptor::order);
        let each = |text: &dyn Fn(usize) -> String, by: &str| -> String {
            let all: Vec<String> = (0..order).map(text).collect();
            all.join(by)
        };
        let is = |m: usize| format!("crd{m}(n) = i{m} && 0 <= i{m} < N{m}");
        let array = |m: usize| {
            format!("function crd{m} : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N{m}}}")
        };
        let text = format!(
            "format list\nextents {}\nmap {{[n] -> [{}] : 0 <= n < NZ && {}}}\ndata {{[n] -> [n]}}\n\
             values {{[n] : 0 <= n < NZ}}\n{}\n",
            each(&|m| format!("N{m}"), ", "),
            each(&|m| format!("i{m}"), ", "),
            each(&is, " && "),
            each(&array, "\n"),
        );
        let list: Descriptor = text
            .parse()
            .map_err(|_| Refusal::of("a scalar has no list of entries"))?;
        Side::new(&list, "L", "L")
    }

    /// The arrays of a piece, and where its values begin. An image has those of the part before it.
    fn sides(&self, number: usize) -> Result<(Side, Expression, Expression), Refusal> {
        let n_parts = self.source.iter().filter(|it| it.image.is_none()).count();
        let mut sides: Vec<Side> = Vec::new();
        let mut begin = Expression::Integer(0);
        let mut end = Expression::Integer(0);
        let mut found = None;
        for (at, piece) in self.source.iter().enumerate() {
            if piece.image.is_none() {
                let prefix = match n_parts {
                    1 => "A".to_owned(),
                    _ => format!("A{}", sides.len() + 1),
                };
                let side = Side::new(piece.descriptor, "A", &prefix)?;
                begin.clone_from(&end);
                end = sum(&end, &side.n_values()?);
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

    /// The entries of a piece, its arrays and what is known of them.
    pub(crate) fn piece(
        &self,
        number: usize,
        names: &[String],
    ) -> Result<(Side, Entries, Declarations), Refusal> {
        let (side, begin, end) = self.sides(number)?;
        let mut known = side.known();
        let mut entries = Entries::of(&side, names, &known)?;
        if let Some(([a, b], _)) = self.source[number].image {
            let order = entries.coordinates.len();
            if a.max(b) >= order {
                return Err(Refusal::of("an image exchanges modes that there are not"));
            }
            // A format with images has equal extents in both modes.
            let [first, second] = [a, b].map(|mode| Expression::Constant(format!("N{mode}")));
            known.assume(first.equals(second));
            entries.coordinates.swap(a, b);
            let [a, b] = [a, b].map(|mode| entries.coordinates[mode].clone());
            entries
                .part
                .add(Constraint::new(a, Comparison::NotEqual, b));
        }
        entries.place = sum(&begin, &entries.place);
        entries.n_places = end;
        Ok((side, entries, known))
    }
}

fn sum(a: &Expression, b: &Expression) -> Expression {
    Expression::Add(Box::new(a.clone()), Box::new(b.clone())).simplified()
}

/// The number that counts the entries of a piece.
pub(crate) fn count_of(piece: usize) -> String {
    format!("L_n{}", piece + 1)
}

/// The array with the numbers of the entries of a piece.
pub(crate) fn numbers_of(piece: usize) -> String {
    format!("L_at{}", piece + 1)
}

/// The count of the first pieces.
fn counts(n: usize) -> Expression {
    let counts = (0..n).map(|piece| Expression::Constant(count_of(piece)));
    let add = |a, b| Expression::Add(Box::new(a), Box::new(b));
    counts.reduce(add).unwrap_or(Expression::Integer(0))
}

/// `T(p) = before + ordinal()`, where `before` is the count of the pieces before.
pub(crate) fn placed(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Some(piece) = state.piece else {
        return wrong("the source has one piece");
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
    state.note_fact(Constraint {
        first: before.clone(),
        rest: vec![
            (Comparison::LessEqual, number),
            (Comparison::Less, sum(&before, &own)),
        ],
    })
}

/// `crd(T(p)) = k` at each entry of a piece, where `T` numbers these; one statement for each piece.
pub(crate) fn listed(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let Some(piece) = state.piece else {
        return Err(Refusal::of("the source has one piece"));
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
    let array = numbers_of(piece.number);
    let number = Expression::Call(array.clone(), vec![state.entries.place.clone()]);
    let is_each = writers.len() == piece.n_pieces;
    if !is_each || *index(writer)? != number || !state.held.contains_key(&array) {
        return Err(Refusal::at(
            writer,
            "it does not write at the numbers of the piece",
        ));
    }
    state.visits(writer)?;
    let value = stored(writer)?;
    state.claimed.push(writer);
    let any = (Expression::Integer(i64::MIN), None);
    state.note(name, any, None, Held::Declared)?;
    holds(state, writer, value)
}
