//! Products of atoms: the unknowns of linear comparisons, and the keys of their maps.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::Atom;

/// Atoms that are multiplied, in their order.
#[derive(Clone, Debug)]
pub(crate) enum Product {
    One,
    Alone(Atom),
    Several(Rc<[Atom]>),
}

impl Product {
    pub(super) fn atoms(&self) -> &[Atom] {
        match self {
            Self::One => &[],
            Self::Alone(atom) => std::slice::from_ref(atom),
            Self::Several(atoms) => atoms,
        }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::One, product) | (product, Self::One) => product.clone(),
            _ => {
                let mut atoms = [self.atoms(), other.atoms()].concat();
                atoms.sort();
                Self::Several(atoms.into())
            }
        }
    }
}

impl Product {
    /// The product of the other atoms, if all of some are in it; those are in their order.
    pub(super) fn without(&self, by: &[Atom]) -> Option<Self> {
        let mut rest = self.atoms().to_vec();
        for atom in by {
            let at = rest.iter().position(|it| it == atom)?;
            rest.remove(at);
        }
        Some(match rest.len() {
            0 => Self::One,
            1 => Self::Alone(rest.remove(0)),
            _ => Self::Several(rest.into()),
        })
    }

    /// Calls `visit` with every atom, arguments of calls included.
    pub(crate) fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Atom)) {
        for atom in self.atoms() {
            visit(atom);
            match atom {
                Atom::Variable(_) | Atom::Constant(_) => {}
                Atom::Call(_, arguments) => arguments.iter().for_each(|a| a.visit(visit)),
                Atom::FloorDivide(a, b) | Atom::Modulo(a, b) => {
                    a.visit(visit);
                    b.visit(visit);
                }
            }
        }
    }
}

impl PartialEq for Product {
    fn eq(&self, other: &Self) -> bool {
        self.atoms() == other.atoms()
    }
}

impl Eq for Product {}

impl Hash for Product {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.atoms().hash(state);
    }
}

/// Maps by products take slices of atoms as keys.
impl Borrow<[Atom]> for Product {
    fn borrow(&self) -> &[Atom] {
        self.atoms()
    }
}

impl PartialOrd for Product {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Product {
    fn cmp(&self, other: &Self) -> Ordering {
        self.atoms().cmp(other.atoms())
    }
}
