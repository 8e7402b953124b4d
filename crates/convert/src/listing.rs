//! Temporary lists of entries: one array of coordinates for each mode, and one of values.
//!
//! ```text
//! map {[n] -> [i0, i1] : 0 <= n < L_NZ && L_crd0(n) = i0 && L_crd1(n) = i1 && …}      data [n]
//! ```
//!
//! A list declares the order in which its entries are known to come, so that a conversion of the
//! list need not sort.

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{
    Access, Computation, DataSpace, Key, Role, Statement, StatementId, Update, Value,
};
use sparsec_relation::{Descriptor, Expression};

use crate::named::{Named, joined};
use crate::pieces::Listed;
use crate::problem::Problem;
use crate::refused;
use crate::synthesis::Synthesis;

/// The arrays that count and number the entries of one piece of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListArray {
    /// How many entries the piece has.
    Count,
    /// The number of each entry, or of the first one of each place.
    Numbers,
    /// How many entries each place has.
    Lengths,
}

impl ListArray {
    const ALL: [Self; 3] = [Self::Count, Self::Numbers, Self::Lengths];

    fn prefix(self) -> &'static str {
        match self {
            Self::Count => "L_n",
            Self::Numbers => "L_at",
            Self::Lengths => "L_len",
        }
    }

    /// Its name, for a piece counted from 0.
    pub(crate) fn name(self, piece: usize) -> String {
        format!("{}{}", self.prefix(), piece + 1)
    }

    /// Which of them has this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let is_its = |array: &Self| {
            let number = name.strip_prefix(array.prefix());
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        Self::ALL.into_iter().find(is_its)
    }
}

/// An order of modes by which the entries of a single piece ascend, if one is proved.
pub(crate) fn ascending(
    pieces: &[Listed],
    problem: &Problem,
    extents: &[String],
) -> Option<Vec<usize>> {
    let [piece] = pieces else { return None };
    if !problem.is_unique {
        return None;
    }
    let space = &piece.entries.space;
    let tuple = space.parts()[0].inputs().map(Expression::Variable);
    let visits = Computation {
        name: "visits".to_owned(),
        parameters: Vec::new(),
        declarations: piece.named.declarations.clone(),
        spaces: Vec::new(),
        statements: vec![Statement {
            name: "visit".to_owned(),
            schedule: tuple.collect(),
            space: space.clone(),
            target: Access {
                space: "A".to_owned(),
                indices: vec![piece.entries.place.clone()],
            },
            update: Update::Assign,
            value: Value::Integer(0),
        }],
    };
    if let Some(shared) = &piece.entries.shared {
        // Entries of one place are numbered by place, then by the coordinate of the run.
        let numbered = [piece.entries.place.clone(), shared.coordinate()];
        let keys = numbered.map(|value| Key {
            value,
            extent: piece.entries.n_places.clone(),
        });
        if !visits.keys_ascend(StatementId::from_index(0), &keys) {
            return None;
        }
    }
    let rises = |modes: &Vec<usize>| {
        let keys = modes.iter().map(|mode| Key {
            value: Expression::Variable(piece.entries.coordinates[*mode]),
            extent: Expression::Constant(extents[*mode].clone()),
        });
        visits.keys_ascend(StatementId::from_index(0), &keys.collect::<Vec<_>>())
    };
    let modes: Vec<usize> = (0..extents.len()).collect();
    let orders = [modes.clone(), modes.into_iter().rev().collect()];
    orders.into_iter().find(rises)
}

/// A list of entries for one side of a conversion, as [`list_of`].
pub(crate) fn list(
    side: &str,
    extents: &[String],
    sorted: Option<&[usize]>,
    more: &str,
) -> Result<Named> {
    Named::new(&list_of(extents.len(), sorted, more)?, side, extents)
}

/// A list of entries. They are sorted by the modes `sorted`, if these are given, and meet the
/// constraints `more`.
pub(crate) fn list_of(order: usize, sorted: Option<&[usize]>, more: &str) -> Result<Descriptor> {
    let each = |text: &dyn Fn(usize) -> String| -> Vec<String> { (0..order).map(text).collect() };
    let modes = each(&|mode| format!("i{mode}"));
    let bounds = each(&|mode| format!("N{mode}")).join(", ");
    let is = each(&|mode| format!(" && crd{mode}(n) = i{mode} && 0 <= i{mode} < N{mode}"));
    let functions = each(&|mode| {
        format!("function crd{mode} : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N{mode}}}\n")
    });
    if order == 0 {
        return Err(refused("a scalar has one entry".to_owned()));
    }
    let key = |modes: &[usize], n: &str| match modes {
        [mode] => format!("crd{mode}({n})"),
        modes => {
            let keys = modes.iter().map(|mode| format!("crd{mode}({n})"));
            format!("LEX({})", keys.collect::<Vec<_>>().join(", "))
        }
    };
    let ordered = sorted.map(|modes| {
        let [n, m] = ["n", "m"].map(|n| key(modes, n));
        format!("forall n, m : 0 <= n < m < NZ => {n} < {m}\n")
    });
    let text = format!(
        "format list\nextents {bounds}\nmap {{[n] -> [{}] : 0 <= n < NZ{}{more}}}\ndata {{[n] -> [n]}}\n\
         values {{[n] : 0 <= n < NZ}}\n{}{}",
        modes.join(", "),
        is.concat(),
        functions.concat(),
        ordered.unwrap_or_default(),
    );
    text.parse()
}

impl Synthesis<'_> {
    /// Declares the arrays of a list that is made on the way.
    pub(crate) fn declare_list(&mut self, list: &Named) -> Result<()> {
        self.add_number(&list.constants[0].0);
        self.computation
            .declarations
            .extend(list.declarations.clone());
        for function in list.declarations.functions() {
            self.computation.spaces.push(DataSpace {
                name: function.name.clone(),
                element: ElementType::I64,
                extents: list.lengths(Some(&function.name))?,
                role: Role::Temporary,
            });
        }
        self.declare_values(&list.name, joined(&[list])?);
        Ok(())
    }

    /// An array of values that is made on the way.
    pub(crate) fn declare_values(&mut self, name: &str, extents: Vec<Expression>) {
        let element = self.computation.space("A").map(|space| space.element);
        self.computation.spaces.push(DataSpace {
            name: name.to_owned(),
            element: element.expect("the values of the source"),
            extents,
            role: Role::Temporary,
        });
    }
}
