//! Sources whose entries are first copied into a list, which is then converted. A source has
//! several pieces if it is a union of parts, or if its entries stand for mirror images. A source
//! whose places hold several entries each is listed as well.
//!
//! ```text
//! csr, symmetric(i, j)      piece 1: each entry (i, j)      piece 2: (j, i), where i != j
//!
//! L_n1 += 1                          for each entry of piece 1
//! L_n2 += 1                          for each of piece 2
//! L_NZ = L_n1 + L_n2
//! L_at2(p) = L_n1 + ordinal()        for each of piece 2
//! L_crd0(L_at2(p)) = j
//! L(L_at2(p)) = A(p)
//! ```
//!
//! Where a run of coordinates shares place `p`, `L_at1(p)` is the number of the first of them:
//!
//! ```text
//! (i, j) -> (i : dense, j : run_length)      bounds(q + i) <= j < bounds(q + i + 1), place q
//!
//! L_n1 += bounds(q + i + 1) - bounds(q + i)            for each run
//! L_len1(q) = bounds(q + i + 1) - bounds(q + i)
//! L_at1(x + 1) = L_at1(x) + L_len1(x)
//! L_crd1(L_at1(q) + j - bounds(q + i)) = j             for each coordinate of each run
//! ```
//!
//! A destination that stores one triangle gets it from the list; see [`triangle`](crate::triangle).

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Operator, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Declarations, Expression, Image, Variable};

use crate::entries::{Entries, Shared};
use crate::listing::{ListArray, ascending, list};
use crate::named::Named;
use crate::problem::{Piece, Problem, image_of_value};
use crate::synthesis::Synthesis;
use crate::terms::{add, below, entry, everywhere, plus_one, scalar, with};
use crate::triangle::Folded;
use crate::{Places, refused};

/// A source: one piece, or a list of the entries of several.
pub(crate) struct Source {
    /// The descriptor that is converted: of the only piece, of the list, or of its triangle.
    pub(crate) named: Named,
    pub(crate) entries: Entries,
    /// What becomes of values.
    pub(crate) value: Image,
    /// Whether entries of one coordinate are added up.
    pub(crate) adds: bool,
    list: Option<List>,
    folded: Option<Folded>,
    /// How many places the values of all pieces have.
    n_places: Expression,
    /// Two extents that are equal, since their modes are exchanged.
    same: Option<[String; 2]>,
}

/// A list of the entries of all pieces.
pub(crate) struct List {
    pub(crate) named: Named,
    pub(crate) entries: Entries,
    pieces: Vec<Listed>,
    /// How many pieces lie in the triangle, if the destination stores one.
    n_first: usize,
}

/// A piece whose entries are listed.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) named: Named,
    pub(crate) entries: Entries,
    /// What becomes of its values, one after the other.
    pub(crate) values: Vec<Image>,
    /// Whether it has the arrays of a piece before it.
    pub(crate) is_image: bool,
}

impl Source {
    pub(crate) fn of(pieces: &[Piece<'_>], problem: &Problem, extents: &[String]) -> Result<Self> {
        let same = |[a, b]: [usize; 2]| Some([a, b].map(|mode| extents[mode].clone()));
        if let ([piece], None) = (pieces, &problem.triangle) {
            let mut named = Named::new(piece.descriptor, "A", extents)?;
            if let Some(modes) = piece.image {
                named.exchange(modes);
            }
            let entries = Entries::of(&named, problem)?;
            if entries.shared.is_none() {
                return Ok(Self {
                    n_places: entries.n_places.clone(),
                    named,
                    entries,
                    value: piece.value,
                    adds: problem.adds,
                    list: None,
                    folded: None,
                    same: piece.image.and_then(same),
                });
            }
        }
        if problem.triangle.is_some() && !problem.is_unique && !problem.adds {
            let message = "the source may hold several entries of one coordinate";
            return Err(refused(message.to_owned())
                .help("convert to a format of all entries first, or add them up"));
        }
        let (mut listed, n_places) = listed(pieces, problem, extents)?;
        let mut n_first = listed.len();
        if let Some(triangle) = &problem.triangle {
            let mut known = Declarations::new();
            for piece in &listed {
                known.extend(piece.named.declarations.clone());
            }
            let is_empty = |piece: &Listed| piece.entries.space.is_refuted(&known);
            let both = triangle.both(listed)?.into_iter();
            let both = both.map(|pieces| -> Vec<Listed> {
                let pieces = pieces.into_iter();
                pieces
                    .filter(|piece| !piece.is_image || !is_empty(piece))
                    .collect()
            });
            let both: Vec<Vec<Listed>> = both.collect();
            n_first = both[0].len();
            listed = both.concat();
        }
        let order = ascending(&listed, problem, extents);
        let named = list("L", extents, order.as_deref(), "")?;
        let full = Problem {
            places: Places::Full,
            has_padding: false,
            ..problem.clone()
        };
        let list = List {
            entries: Entries::of(&named, &full)?,
            named,
            pieces: listed,
            n_first,
        };
        let folded = problem.triangle.as_ref();
        let folded = folded.map(|triangle| Folded::of(triangle, extents, &full));
        let folded = folded.transpose()?;
        let (named, entries) = match &folded {
            Some(folded) => (folded.named.clone(), folded.entries.clone()),
            None => (list.named.clone(), list.entries.clone()),
        };
        let exchanged = problem.triangle.as_ref().map(|triangle| triangle.modes);
        Ok(Self {
            named,
            entries,
            value: Image::Same,
            adds: problem.adds,
            list: Some(list),
            folded,
            n_places,
            same: exchanged.and_then(same),
        })
    }

    /// What is wanted of the conversion of the list.
    pub(crate) fn problem(&self, problem: &Problem) -> Problem {
        match self.folded {
            // Repeated entries were added up.
            Some(_) => Problem {
                adds: false,
                is_unique: true,
                ..problem.clone()
            },
            None => problem.clone(),
        }
    }

    /// Assumes that extents of exchanged modes are equal, and that coordinates of entries lie inside
    /// of the tensor.
    ///
    /// # Errors
    /// As [`Entries::assume_inside`].
    pub(crate) fn assume(&self, known: &mut Declarations) -> Result<()> {
        if let Some(same) = &self.same {
            let [a, b] = same.clone().map(Expression::Constant);
            known.assume(a.equals(b));
        }
        match self.is_one() {
            true => self.entries.assume_inside(known),
            false => Ok(()),
        }
    }

    /// Whether the source is one piece, which is converted as it is.
    pub(crate) fn is_one(&self) -> bool {
        self.list.is_none()
    }

    /// The sides whose arrays are given, each once.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &Named> {
        let own = self.list.is_none().then_some(&self.named);
        let pieces = self.list.iter().flat_map(|list| &list.pieces);
        let pieces = pieces.filter(|piece| !piece.is_image);
        own.into_iter().chain(pieces.map(|piece| &piece.named))
    }

    /// The given array that says which places hold an entry, where one does, and how many
    /// places there are.
    pub(crate) fn masks(&self, problem: &Problem) -> Vec<(String, &Expression)> {
        match problem.has_padding {
            true => vec![("A_stored".to_owned(), &self.n_places)],
            false => Vec::new(),
        }
    }

    /// Lists the entries of all pieces, where there are several.
    pub(crate) fn list(&self, synthesis: &mut Synthesis<'_>) -> Result<()> {
        let Some(list) = &self.list else {
            return Ok(());
        };
        synthesis.declare_list(&list.named)?;
        let total = list.named.constants[0].0.clone();
        let mut counts: Vec<String> = Vec::new();
        for (number, piece) in list.pieces.iter().enumerate() {
            let count = ListArray::Count.name(number);
            synthesis.add_number(&count);
            let (space, many) = match &piece.entries.shared {
                None => (piece.entries.space.clone(), Value::Integer(1)),
                Some(shared) => (shared.places.clone(), synthesis.integer(&shared.length())),
            };
            synthesis.add(space, (count.clone(), Vec::new()), (Update::Add, many));
            counts.push(count);
        }
        let all = of_numbers(&counts);
        synthesis.add(
            everywhere()?,
            (total.clone(), Vec::new()),
            (Update::Assign, all),
        );
        for (number, piece) in list.pieces.iter().enumerate() {
            let at = match &piece.entries.shared {
                None => {
                    let array = ListArray::Numbers.name(number);
                    let ordinal = Value::Window(Window::Ordinal, Vec::new());
                    let value = match number {
                        0 => ordinal,
                        _ => add(of_numbers(&counts[..number]), ordinal),
                    };
                    self.number(synthesis, piece, (array, value), &total)?
                }
                Some(shared) => {
                    let before = of_numbers(&counts[..number]);
                    self.number_shared(synthesis, piece, (shared, number, before))?
                }
            };
            let total = Expression::Constant(total.clone());
            let within = Constraint {
                first: Expression::Integer(0),
                rest: match piece.entries.shared {
                    None => vec![(Comparison::LessEqual, at.clone())],
                    Some(_) => vec![
                        (Comparison::LessEqual, at.clone()),
                        (Comparison::Less, total),
                    ],
                },
            };
            let listed = with(&piece.entries.space, within)?;
            for (function, coordinate) in std::iter::zip(
                list.named.declarations.functions(),
                &piece.entries.coordinates,
            ) {
                let target = (function.name.clone(), vec![at.clone()]);
                let value = (Update::Assign, Value::Variable(*coordinate));
                synthesis.add(listed.clone(), target, value);
            }
            let value = entry("A", &piece.entries.place);
            let value = piece
                .values
                .iter()
                .fold(value, |value, image| image_of_value(*image, value));
            let target = (list.named.name.clone(), vec![at]);
            synthesis.add(listed, target, (Update::Assign, value));
        }
        match &self.folded {
            Some(folded) => folded.fill(synthesis, list, of_numbers(&counts[..list.n_first])),
            None => Ok(()),
        }
    }

    /// Numbers the entries of a piece by an array; where no entry is, it holds -1.
    fn number(
        &self,
        synthesis: &mut Synthesis<'_>,
        piece: &Listed,
        (array, value): (String, Value),
        total: &str,
    ) -> Result<Expression> {
        let place = piece.entries.place.clone();
        let end = Expression::Constant(total.to_owned());
        synthesis.declare_numbers_at(&array, (self.n_places.clone(), false), &end)?;
        let target = (array.clone(), vec![place.clone()]);
        synthesis.add(piece.entries.space.clone(), target, (Update::Assign, value));
        Ok(Expression::Call(array, vec![place]))
    }

    /// Numbers the first entry of each place, behind the numbers `before`.
    fn number_shared(
        &self,
        synthesis: &mut Synthesis<'_>,
        piece: &Listed,
        (shared, number, before): (&Shared, usize, Value),
    ) -> Result<Expression> {
        let place = piece.entries.place.clone();
        let array = ListArray::Numbers.name(number);
        let lengths = ListArray::Lengths.name(number);
        for (name, length) in [
            (&lengths, self.n_places.clone()),
            (&array, plus_one(&self.n_places)),
        ] {
            synthesis.add_array(name, length);
        }
        let length = synthesis.integer(&shared.length());
        // A run that ends before it begins has no entries.
        let none = Box::new(Value::Integer(0));
        let length = Value::Binary(Operator::Maximum, none, Box::new(length));
        let target = (lengths.clone(), vec![shared.at_place(&place)]);
        synthesis.add(shared.places.clone(), target, (Update::Assign, length));
        let first = (array.clone(), vec![Expression::Integer(0)]);
        synthesis.add(everywhere()?, first, (Update::Assign, before));
        let x = Expression::Variable(Variable::from_index(0));
        let entry = |space: &str| entry(space, &x);
        let next = add(entry(&array), entry(&lengths));
        let target = (array.clone(), vec![plus_one(&x)]);
        synthesis.add(below("x", &self.n_places)?, target, (Update::Assign, next));
        let first = Expression::Call(array, vec![place]);
        Ok(Expression::Add(Box::new(first), Box::new(shared.offset())))
    }
}

/// The pieces as they are listed, and how many places there are in all.
fn listed(
    pieces: &[Piece<'_>],
    problem: &Problem,
    extents: &[String],
) -> Result<(Vec<Listed>, Expression)> {
    let is_whole = pieces.len() == 1;
    let n_parts = pieces.iter().filter(|piece| piece.image.is_none()).count();
    let mut listed: Vec<Listed> = Vec::new();
    let mut before = Expression::Integer(0);
    let mut offset = before.clone();
    let mut number = 0;
    for piece in pieces {
        let is_image = piece.image.is_some() && !is_whole;
        if !is_image {
            number += 1;
            offset.clone_from(&before);
        }
        let prefix = match n_parts {
            0 | 1 => "A".to_owned(),
            _ => format!("A{number}"),
        };
        let mut named = Named::new(piece.descriptor, &prefix, extents)?;
        if let Some(modes) = piece.image {
            named.exchange(modes);
        }
        let mut entries = Entries::of(
            &named,
            &Problem {
                has_padding: false,
                ..problem.clone()
            },
        )?;
        if let Some([a, b]) = piece.image.filter(|_| !is_whole) {
            let [a, b] = [a, b].map(|mode| Expression::Variable(entries.coordinates[mode]));
            entries.restrict(Constraint::new(a, Comparison::NotEqual, b))?;
        }
        entries.place = sum(&offset, &entries.place);
        if problem.has_padding {
            let stored = Expression::Call("A_stored".to_owned(), vec![entries.place.clone()]);
            entries.restrict(stored.equals(Expression::Integer(1)))?;
        }
        if !is_image {
            before = sum(&before, &entries.n_places);
        }
        listed.push(Listed {
            named,
            entries,
            values: vec![piece.value],
            is_image,
        });
    }
    Ok((listed, before))
}

fn sum(a: &Expression, b: &Expression) -> Expression {
    Expression::Add(Box::new(a.clone()), Box::new(b.clone())).simplified()
}

/// The sum of integers without extents.
fn of_numbers(names: &[String]) -> Value {
    let entries = names.iter().map(|name| scalar(name));
    entries.reduce(add).unwrap_or(Value::Integer(0))
}
