//! Triangles: the entries on one side of a diagonal, which stand for those on the other side.
//!
//! An entry of the source lies in the triangle, or it is the mirror image of an entry there. The
//! list `L` has all entries, images at the coordinates of the entry that they mirror. The entries
//! in the triangle come first:
//!
//! ```text
//! csr ──► csr, symmetric(i, j)
//!
//! piece 1: each entry (i, j) where i >= j        piece 2: (j, i), where i < j
//!
//! L_first = L_n1
//! T_at(n) = dense_rank(i of N0, j of N1)               for each n of the list
//! T_crd0(T_at(n)) = i                                  an entry on one side is one of the triangle
//! T(T_at(n)) = L(n)                                    where n < L_first
//! T_image(T_at(n)) = L(n)                              where L_first <= n: the value that it mirrors
//! T_unmirrored += differs(T(n), T_image(n))            where i != j
//! ```
//!
//! A tensor with `T_unmirrored > 0` is refused. A side without an entry has the fill, so an entry
//! of the fill may be stored on one side alone; the triangle stores it. A `NaN` mirrors a `NaN`.
//! Negated and conjugated images restrict the diagonal as well: `L` has each entry of it twice, and
//! a skew tensor has zeros there.
//!
//! The triangle is a sorted list without repeated entries, whatever the source is. The destination
//! is converted from this list.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Operator, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression, Image, Set, Variable};

use crate::cases::CaseKind;
use crate::entries::Entries;
use crate::listing::list;
use crate::named::{Named, joined};
use crate::pieces::{List, Listed};
use crate::problem::{Problem, Triangle, image_of_value};
use crate::synthesis::{FILL, Synthesis};
use crate::terms::{below, binary, entry, everywhere, scalar, with};

/// The triangle as a list.
pub(crate) struct Folded {
    pub(crate) named: Named,
    pub(crate) entries: Entries,
    triangle: Triangle,
}

impl Triangle {
    /// The entries of each piece that lie in the triangle, and the images of all others.
    pub(crate) fn both(&self, pieces: Vec<Listed>) -> Result<[Vec<Listed>; 2]> {
        let [a, b] = self.modes;
        let mut images = pieces.clone();
        for piece in &mut images {
            piece.entries.coordinates.swap(a, b);
            piece.values.push(self.image);
            piece.is_image = true;
        }
        let mut both = [pieces, images];
        let strict = match self.image {
            Image::Same => Comparison::Greater,
            Image::Negative | Image::Conjugate => Comparison::GreaterEqual,
        };
        for (pieces, side) in both.iter_mut().zip([Comparison::GreaterEqual, strict]) {
            for piece in pieces {
                let at = &piece.entries.coordinates;
                let [a, b] = [at[a], at[b]].map(Expression::Variable);
                piece.entries.restrict(Constraint::new(a, side, b))?;
            }
        }
        Ok(both)
    }
}

impl Folded {
    pub(crate) fn of(triangle: &Triangle, extents: &[String], problem: &Problem) -> Result<Self> {
        let [a, b] = triangle.modes;
        let named = list(
            "T",
            extents,
            Some(&triangle.order),
            &format!(" && i{a} >= i{b}"),
        )?;
        Ok(Self {
            entries: Entries::of(&named, problem)?,
            named,
            triangle: triangle.clone(),
        })
    }

    /// Fills the triangle from the list of all entries. The first `n_first` lie in the triangle.
    pub(crate) fn fill(
        &self,
        synthesis: &mut Synthesis<'_>,
        list: &List,
        n_first: Value,
    ) -> Result<()> {
        let (own, all) = (&self.named, &list.entries);
        let end = own.constants[0].0.clone();
        let first = "L_first".to_owned();
        let image = "T_image".to_owned();
        synthesis.declare_list(own)?;
        synthesis.declare_values(&image, joined(&[own])?);
        synthesis.add_number(&first);
        let target = (first.clone(), Vec::new());
        synthesis.add(everywhere()?, target, (Update::Assign, n_first));

        let array = "T_at".to_owned();
        let keys = self.triangle.order.iter().map(|mode| Key {
            value: Expression::Variable(all.coordinates[*mode]),
            extent: Expression::Constant(synthesis.extents[*mode].clone()),
        });
        let rank = Value::Window(Window::DenseRank, keys.collect());
        let n = all.place.clone();
        let places = (all.n_places.clone(), true);
        synthesis.declare_numbers_at(&array, places, &Expression::Constant(end.clone()))?;
        let target = (array.clone(), vec![n.clone()]);
        synthesis.add(all.space.clone(), target, (Update::Assign, rank));
        let number = entry(&array, &n);
        let more = Value::Binary(Operator::Add, Box::new(number), Box::new(Value::Integer(1)));
        let target = (end.clone(), Vec::new());
        synthesis.add(all.space.clone(), target, (Update::Maximum, more));

        let at = Expression::Call(array, vec![n.clone()]);
        for (function, coordinate) in std::iter::zip(own.declarations.functions(), &all.coordinates)
        {
            let target = (function.name.clone(), vec![at.clone()]);
            let value = (Update::Assign, Value::Variable(*coordinate));
            synthesis.add(all.space.clone(), target, value);
        }
        self.fill_with(synthesis, &end, &image)?;
        let update = match synthesis.adds_repeated {
            true => Update::Add,
            false => Update::Assign,
        };
        let first = Expression::Constant(first);
        for (name, comparison) in [
            (&own.name, Comparison::Less),
            (&image, Comparison::GreaterEqual),
        ] {
            let side = Constraint::new(n.clone(), comparison, first.clone());
            let value = entry(&list.named.name, &n);
            let target = (name.clone(), vec![at.clone()]);
            synthesis.add(with(&all.space, side)?, target, (update, value));
        }
        self.compare(synthesis, &image)
    }

    /// Gives both sides the fill, and its image.
    fn fill_with(&self, synthesis: &mut Synthesis<'_>, end: &str, image: &str) -> Result<()> {
        if !synthesis.has_fill {
            return Ok(());
        }
        let fill = scalar(FILL);
        let places = below("x", &Expression::Constant(end.to_owned()))?;
        for (name, value) in [
            (self.named.name.as_str(), fill.clone()),
            (image, image_of_value(self.triangle.image, fill)),
        ] {
            let x = vec![Expression::Variable(Variable::from_index(0))];
            let target = (name.to_owned(), x);
            synthesis.add(places.clone(), target, (Update::Assign, value));
        }
        Ok(())
    }

    /// Counts the entries that differ from their mirror images. A tensor with one is refused.
    fn compare(&self, synthesis: &mut Synthesis<'_>, image: &str) -> Result<()> {
        let count = "T_unmirrored".to_owned();
        synthesis.add_number(&count);
        let none = Expression::Constant(count.clone()).equals(Expression::Integer(0));
        synthesis.computation.declarations.assume(none);
        let entry = |name: &str| Box::new(entry(name, &self.entries.place));
        let sides = [self.named.name.as_str(), image];
        let [a, b] = sides.map(entry);
        let differ = Value::Differs(a, b);
        let element = synthesis.computation.space("A").map(|space| space.element);
        let may_be_nan = element.is_some_and(|element| element.is_float() || element.is_complex());
        let value = match may_be_nan {
            false => differ,
            true => {
                let [a, b] = sides.map(|side| Value::Differs(entry(side), entry(side)));
                let both = binary(Operator::Minimum, a, b);
                let no_number = binary(Operator::Subtract, Value::Integer(1), both);
                binary(Operator::Minimum, differ, no_number)
            }
        };
        let space = self.compared()?;
        synthesis.add(space, (count.clone(), Vec::new()), (Update::Add, value));
        for array in ["T_at", &self.named.name, image, &count] {
            synthesis.writes(array, CaseKind::Mirrored);
        }
        Ok(())
    }

    /// The entries that have to be mirrored.
    fn compared(&self) -> Result<Set> {
        match self.triangle.image {
            Image::Negative | Image::Conjugate => Ok(self.entries.space.clone()),
            Image::Same => {
                let at = self
                    .triangle
                    .modes
                    .map(|mode| self.entries.coordinates[mode]);
                let [a, b] = at.map(Expression::Variable);
                with(
                    &self.entries.space,
                    Constraint::new(a, Comparison::NotEqual, b),
                )
            }
        }
    }
}
