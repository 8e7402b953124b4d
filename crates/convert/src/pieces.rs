//! Sources of several pieces: unions of parts, and entries that stand for mirror images.
//!
//! The entries of all pieces are listed first, and the list is what is converted:
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

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{Access, DataSpace, Operator, Role, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Descriptor, Expression, Function, Set, Variable};

use crate::entries::Entries;
use crate::named::{Named, joined};
use crate::synthesis::Synthesis;
use crate::terms::{below, between, everywhere};
use crate::{Piece, Places, Wanted, refused};

/// A source: one piece, or a list of the entries of several.
pub(crate) struct Source {
    /// The one piece, or the list.
    pub(crate) named: Named,
    pub(crate) entries: Entries,
    pieces: Vec<Listed>,
    /// How many places the values of all pieces have.
    n_places: Expression,
}

/// A piece whose entries are listed.
struct Listed {
    named: Named,
    entries: Entries,
    negates: bool,
    /// Whether it has the arrays of the piece before it.
    is_image: bool,
}

impl Source {
    pub(crate) fn of(pieces: &[Piece<'_>], wanted: &Wanted, extents: &[String]) -> Result<Self> {
        if let [piece] = pieces
            && piece.image.is_none()
        {
            let named = Named::new(piece.descriptor, "A", extents)?;
            let entries = Entries::of(&named, wanted)?;
            return Ok(Self {
                n_places: entries.n_places.clone(),
                named,
                entries,
                pieces: Vec::new(),
            });
        }
        let n_parts = pieces.iter().filter(|piece| piece.image.is_none()).count();
        let mut listed: Vec<Listed> = Vec::new();
        let mut before = Expression::Integer(0);
        let mut offset = before.clone();
        let mut number = 0;
        for piece in pieces {
            let is_image = piece.image.is_some();
            if !is_image {
                number += 1;
                offset.clone_from(&before);
            }
            let prefix = match n_parts {
                1 => "A".to_owned(),
                _ => format!("A{number}"),
            };
            let named = Named::new(piece.descriptor, &prefix, extents)?;
            let mut entries = Entries::of(
                &named,
                &Wanted {
                    has_padding: false,
                    ..wanted.clone()
                },
            )?;
            if let Some([a, b]) = piece.image {
                entries.coordinates.swap(a, b);
                let [a, b] = [a, b].map(|mode| Expression::Variable(entries.coordinates[mode]));
                entries.restrict(Constraint::new(a, Comparison::NotEqual, b))?;
            }
            entries.place = sum(&offset, &entries.place);
            if wanted.has_padding {
                let stored = Expression::Call("A_stored".to_owned(), vec![entries.place.clone()]);
                entries.restrict(stored.equals(Expression::Integer(1)))?;
            }
            if !is_image {
                before = sum(&before, &entries.n_places);
            }
            listed.push(Listed {
                named,
                entries,
                negates: piece.negates,
                is_image,
            });
        }
        let list = list(extents.len())?;
        let named = Named::new(&list, "L", extents)?;
        let full = Wanted {
            places: Places::Full,
            has_padding: false,
            ..wanted.clone()
        };
        Ok(Self {
            entries: Entries::of(&named, &full)?,
            named,
            pieces: listed,
            n_places: before,
        })
    }

    /// Whether the source is one piece, which is converted as it is.
    pub(crate) fn is_one(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The sides whose arrays are given, each once.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &Named> {
        let own = self.pieces.is_empty().then_some(&self.named);
        let pieces = self.pieces.iter().filter(|piece| !piece.is_image);
        own.into_iter().chain(pieces.map(|piece| &piece.named))
    }

    /// The given array that says which places hold an entry, where one does, and how many
    /// places there are.
    pub(crate) fn masks(&self, wanted: &Wanted) -> Vec<(String, &Expression)> {
        match wanted.has_padding {
            true => vec![("A_stored".to_owned(), &self.n_places)],
            false => Vec::new(),
        }
    }

    /// Lists the entries of all pieces, where there are several.
    pub(crate) fn list(&self, synthesis: &mut Synthesis<'_>) -> Result<()> {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let list = &self.named;
        let total = list.constants[0].0.clone();
        synthesis.add_number(&total);
        for function in list.declarations.functions() {
            synthesis.computation.declarations.declare(function.clone());
            synthesis.computation.spaces.push(DataSpace {
                name: function.name.clone(),
                element: ElementType::I64,
                extents: list.lengths(Some(&function.name))?,
                role: Role::Temporary,
            });
        }
        let element = synthesis.computation.space("A").map(|space| space.element);
        synthesis.computation.spaces.push(DataSpace {
            name: list.name.clone(),
            element: element.expect("the values of the source"),
            extents: joined(&[list])?,
            role: Role::Temporary,
        });
        let mut counts: Vec<String> = Vec::new();
        for (number, piece) in (1..).zip(&self.pieces) {
            let count = format!("L_n{number}");
            synthesis.add_number(&count);
            let one = (Update::Add, Value::Integer(1));
            synthesis.add(
                piece.entries.space.clone(),
                (count.clone(), Vec::new()),
                one,
            );
            counts.push(count);
        }
        let all = of_numbers(&counts);
        synthesis.add(
            everywhere()?,
            (total.clone(), Vec::new()),
            (Update::Assign, all),
        );
        for (number, piece) in self.pieces.iter().enumerate() {
            let place = piece.entries.place.clone();
            let array = format!("L_at{}", number + 1);
            synthesis.computation.spaces.push(DataSpace {
                name: array.clone(),
                element: ElementType::I64,
                extents: vec![self.n_places.clone()],
                role: Role::Temporary,
            });
            let places = below("p", &self.n_places)?;
            let end = Expression::Constant(total.clone());
            synthesis.computation.declarations.declare(Function {
                name: array.clone(),
                domain: places.clone(),
                range: between("q", &Expression::Integer(-1), &end)?,
                injective: false,
                monotone: None,
            });
            let every = vec![Expression::Variable(Variable::from_index(0))];
            let none = (Update::Assign, Value::Integer(-1));
            synthesis.add(places, (array.clone(), every), none);
            let ordinal = Value::Window(Window::Ordinal, Vec::new());
            let value = match number {
                0 => ordinal,
                _ => add(of_numbers(&counts[..number]), ordinal),
            };
            let space = &piece.entries.space;
            let target = (array.clone(), vec![place.clone()]);
            synthesis.add(space.clone(), target, (Update::Assign, value));
            let at = Expression::Call(array, vec![place.clone()]);
            let listed = with(
                space,
                Constraint::new(Expression::Integer(0), Comparison::LessEqual, at.clone()),
            )?;
            for (function, coordinate) in
                std::iter::zip(list.declarations.functions(), &piece.entries.coordinates)
            {
                let target = (function.name.clone(), vec![at.clone()]);
                let value = (Update::Assign, Value::Variable(*coordinate));
                synthesis.add(listed.clone(), target, value);
            }
            let value = Value::Entry(Access {
                space: "A".to_owned(),
                indices: vec![place],
            });
            let value = match piece.negates {
                true => Value::Negate(Box::new(value)),
                false => value,
            };
            let target = (list.name.clone(), vec![at]);
            synthesis.add(listed, target, (Update::Assign, value));
        }
        Ok(())
    }
}

/// A list of entries of so many modes.
fn list(order: usize) -> Result<Descriptor> {
    let modes: Vec<String> = (0..order).map(|mode| format!("i{mode}")).collect();
    let each = |text: &dyn Fn(usize) -> String| -> Vec<String> { (0..order).map(text).collect() };
    let extents = each(&|mode| format!("N{mode}")).join(", ");
    let is = each(&|mode| format!(" && crd{mode}(n) = i{mode} && 0 <= i{mode} < N{mode}"));
    let functions = each(&|mode| {
        format!("function crd{mode} : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N{mode}}}\n")
    });
    if order == 0 {
        return Err(refused("a scalar has one entry".to_owned()));
    }
    let text = format!(
        "format list\nextents {extents}\nmap {{[n] -> [{}] : 0 <= n < NZ{}}}\ndata {{[n] -> [n]}}\n\
         values {{[n] : 0 <= n < NZ}}\n{}",
        modes.join(", "),
        is.concat(),
        functions.concat(),
    );
    text.parse()
}

fn sum(a: &Expression, b: &Expression) -> Expression {
    Expression::Add(Box::new(a.clone()), Box::new(b.clone())).simplified()
}

fn add(a: Value, b: Value) -> Value {
    Value::Binary(Operator::Add, Box::new(a), Box::new(b))
}

/// The sum of integers without extents.
fn of_numbers(names: &[String]) -> Value {
    let entries = names.iter().map(|name| {
        Value::Entry(Access {
            space: name.clone(),
            indices: Vec::new(),
        })
    });
    entries.reduce(add).unwrap_or(Value::Integer(0))
}

/// The points of which one more thing holds.
fn with(space: &Set, constraint: Constraint) -> Result<Set> {
    let mut part = space.parts()[0].clone();
    part.add(constraint);
    Set::new(vec![part])
}
