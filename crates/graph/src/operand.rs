//! The operands of a statement: its distinct accesses, with their formats.
//!
//! `A(i,k)` used twice is one operand, walked once; `A(i,j)` and `A(j,i)` are
//! two. The level of an operand that stores an index variable is found here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rpds::VectorSync;
use sparsec_base::arena::Id;
use sparsec_base::{Arena, define_id};
use sparsec_format::{Format, Level};
use sparsec_index::concrete::{Clause, for_each_nested};
use sparsec_index::{Access, Concrete, IndexVar, TensorVar};

define_id!(
    /// A distinct access of a statement.
    pub struct Operand, "o"
);

/// The format of every tensor of a statement.
///
/// Kernels cannot walk every format, nor assemble every one that they can walk.
/// For tensors of the others there is a format that kernels use instead: what
/// stands between the two is a conversion.
/// Clones share all but what changes ([`VectorSync`]).
#[derive(Clone, Debug, Default)]
pub struct Formats {
    /// By the number of the tensor.
    stored: VectorSync<Stored>,
}

/// How a tensor is stored, as far as it was said.
#[derive(Clone, Debug, Default)]
struct Stored {
    format: Option<Arc<Format>>,
    /// What kernels use in place of a format that they cannot assemble.
    native: Option<Arc<Format>>,
}

impl Formats {
    /// No formats yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how `tensor` is stored.
    pub fn set(&mut self, tensor: TensorVar, format: Format) {
        let is_assembled = format.is_assembled();
        let native = (!is_assembled).then(|| format.nearest().into());
        *self.stored(tensor) = Stored {
            format: Some(format.into()),
            native,
        };
    }

    /// Says what kernels use in place of the format of `tensor`, in place of the
    /// nearest that there is.
    pub fn set_native(&mut self, tensor: TensorVar, format: Format) {
        self.stored(tensor).native = Some(format.into());
    }

    fn stored(&mut self, tensor: TensorVar) -> &mut Stored {
        while self.stored.len() <= tensor.index() {
            self.stored.push_back_mut(Stored::default());
        }
        let stored = self.stored.get_mut(tensor.index());
        stored.expect("was added if it was missing")
    }

    fn native(&self, tensor: TensorVar) -> Option<&Format> {
        self.stored.get(tensor.index())?.native.as_deref()
    }

    /// The format in which kernels read `tensor`, where its own was said.
    pub fn walked(&self, tensor: TensorVar) -> Option<&Format> {
        let own = self.get(tensor)?;
        if own.is_native() {
            return Some(own);
        }
        self.native(tensor)
    }

    /// The format in which kernels write `tensor`, where its own was said.
    pub fn assembled(&self, tensor: TensorVar) -> Option<&Format> {
        self.native(tensor).or_else(|| self.get(tensor))
    }

    /// How `tensor` is stored, where it was said.
    pub fn get(&self, tensor: TensorVar) -> Option<&Format> {
        self.stored.get(tensor.index())?.format.as_deref()
    }

    /// As [`Formats::of`], to share with tensors.
    ///
    /// # Panics
    /// As there.
    pub fn shared(&self, tensor: TensorVar) -> &Arc<Format> {
        let stored = self.stored.get(tensor.index());
        let format = stored.and_then(|stored| stored.format.as_ref());
        format.expect("every tensor has a format")
    }

    /// How `tensor` is stored.
    ///
    /// # Panics
    /// If it was not said; every tensor of a planned statement has a format.
    pub fn of(&self, tensor: TensorVar) -> &Format {
        self.get(tensor).expect("every tensor has a format")
    }
}

/// How loops walk an operand, to be asked of each of them.
#[derive(Debug)]
pub struct Walk<'a> {
    access: &'a Access,
    format: &'a Format,
    /// The levels that loops walk, of an operand with other indices than plain variables.
    walks: Option<BTreeMap<IndexVar, usize>>,
}

impl Walk<'_> {
    /// As [`Operands::is_sparse_at`].
    pub fn is_sparse_at(&self, var: IndexVar) -> Option<bool> {
        if let Some(walks) = &self.walks {
            return self.access.uses(var).then_some(walks.contains_key(&var));
        }
        let (_, level) = level_at(self.access, var, self.format)?;
        Some(!level.kind.capabilities().full)
    }
}

/// The distinct accesses of a statement.
#[derive(Clone, Debug)]
pub struct Operands {
    accesses: Arena<Operand, Access>,
    /// The loops around each operand with other indices than plain variables,
    /// once for each place where it is read.
    nests: BTreeMap<Operand, Vec<Vec<IndexVar>>>,
}

impl Operands {
    /// The operands of a statement, left to right; results come where they
    /// are read, as accumulated workspaces do.
    pub fn of(concrete: &Concrete) -> Self {
        let mut operands = Self {
            accesses: Arena::new(),
            nests: BTreeMap::new(),
        };
        for_each_nested(&concrete.stmt, &mut |nested| {
            nested.rhs.for_each_access(&mut |access| {
                let known = operands.find(access);
                let operand = known.unwrap_or_else(|| operands.accesses.push(access.clone()));
                if access.plain_vars().is_some() {
                    return;
                }
                let nests = operands.nests.entry(operand).or_default();
                nests.push(nested.loops.to_vec());
            });
        });
        operands
    }

    /// The level of an operand that a loop over `var` walks, where that one is
    /// inside the loops over the variables outside the level.
    pub fn walked_level(
        &self,
        operand: Operand,
        var: IndexVar,
        formats: &Formats,
    ) -> Option<usize> {
        let access = self.access(operand);
        if let Some(walks) = self.walks(operand, formats) {
            return walks.get(&var).copied();
        }
        let (number, level) = level_at(access, var, formats.of(access.tensor))?;
        (!level.is_full()).then_some(number)
    }

    /// The levels that loops walk of an operand with other indices than plain
    /// variables, by the variable of the loop: those that are walked wherever it
    /// is read.
    fn walks(&self, operand: Operand, formats: &Formats) -> Option<BTreeMap<IndexVar, usize>> {
        let access = self.access(operand);
        let format = formats.of(access.tensor);
        let nests = self.nests.get(&operand)?.iter();
        nests
            .map(|loops| walks(access, format, loops))
            .reduce(|mut all, walks| {
                all.retain(|var, level| walks.get(var) == Some(level));
                all
            })
    }

    /// Whether entries of an operand are looked for where a loop is, rather than
    /// walked, so that there may be none.
    pub fn is_searched(&self, access: &Access, concrete: &Concrete, formats: &Formats) -> bool {
        self.n_searched(access, concrete, formats) > 0
    }

    /// At how many levels entries of an operand are looked for so.
    pub fn n_searched(&self, access: &Access, concrete: &Concrete, formats: &Formats) -> usize {
        let levels = formats.of(access.tensor).levels();
        let operand = self.find(access);
        let walks = operand.and_then(|operand| self.walks(operand, formats));
        let is_searched = |(number, level): &(usize, &Level)| {
            let index = &access.indices[level.mode()];
            match (level.is_full(), &walks) {
                (true, _) => !is_inside(access, level.mode(), concrete),
                (false, Some(walks)) => !walks.values().any(|walked| walked == number),
                (false, None) => levels[..*number]
                    .iter()
                    .any(|outer| access.indices[outer.mode()] == *index),
            }
        };
        levels.iter().enumerate().filter(is_searched).count()
    }

    /// The operand that an access is.
    pub fn find(&self, access: &Access) -> Option<Operand> {
        self.accesses.find(|known| known == access)
    }

    /// The access that an operand is.
    pub fn access(&self, operand: Operand) -> &Access {
        &self.accesses[operand]
    }

    /// All operands.
    pub fn ids(&self) -> impl Iterator<Item = Operand> + use<> {
        self.accesses.ids()
    }

    /// Whether the level of `access` at `var` holds only stored coordinates,
    /// so that a loop over `var` walks it; `None` where no level is at `var`.
    pub fn is_sparse_at(&self, access: &Access, var: IndexVar, formats: &Formats) -> Option<bool> {
        self.walk(access, formats).is_sparse_at(var)
    }

    /// How loops walk what `access` reads.
    pub fn walk<'a>(&self, access: &'a Access, formats: &'a Formats) -> Walk<'a> {
        let operand = self.find(access);
        Walk {
            access,
            format: formats.of(access.tensor),
            walks: operand.and_then(|operand| self.walks(operand, formats)),
        }
    }

    /// The operand's name and level at `var`, such as `B1`.
    pub fn label(
        &self,
        operand: Operand,
        var: IndexVar,
        concrete: &Concrete,
        formats: &Formats,
    ) -> String {
        let access = self.access(operand);
        let name = &concrete.tensors[access.tensor].name;
        match level_using(access, var, formats.of(access.tensor)) {
            Some((level, _)) => format!("{name}{level}"),
            None => name.clone(),
        }
    }
}

/// The first level of `format` that stores the mode where `access` has `var`.
pub fn level_at<'f>(
    access: &Access,
    var: IndexVar,
    format: &'f Format,
) -> Option<(usize, &'f Level)> {
    format
        .levels()
        .iter()
        .enumerate()
        .find(|(_, level)| access.var(level.mode()) == Some(var))
}

/// The first level of `format` that stores a mode whose index in `access`
/// depends on `var`.
pub fn level_using<'f>(
    access: &Access,
    var: IndexVar,
    format: &'f Format,
) -> Option<(usize, &'f Level)> {
    let mut levels = format.levels().iter().enumerate();
    levels.find(|(_, level)| access.indices[level.mode()].uses(var))
}

/// Whether no coordinate of an access along `mode` is outside of its tensor.
pub fn is_inside(access: &Access, mode: usize, concrete: &Concrete) -> bool {
    let index = &access.indices[mode];
    let tensor = &concrete.tensors[access.tensor];
    let bound = tensor.extents[mode];
    let extent = |var: IndexVar| concrete.vars[var].extent;
    let Some(var) = index.as_var() else {
        return index.is_within(bound, &extent);
    };
    match concrete.made_by(var) {
        // A sum that a level is of has the values that the level has; another one goes as
        // far as its variables do.
        Some(Clause::Skew { var: a, along, .. }) => {
            let modes = tensor.levels_of.as_ref().map(|of| &of.modes);
            let is_of_level = modes.is_some_and(|it| it.contains(a) && it.contains(along));
            let most = concrete.extent(var);
            is_of_level || most.zip(bound).is_some_and(|(most, bound)| most <= bound)
        }
        _ => true,
    }
}

/// The levels that loops walk of an access with other indices than variables,
/// by the variable of the loop. A level whose coordinate is `a * v + b` with
/// positive `a` is walked by the loop over `v` if that is inside those over all
/// variables of `b` and of the levels outside, where the coordinates come in order.
/// Any other level of stored coordinates is searched.
fn walks(access: &Access, format: &Format, loops: &[IndexVar]) -> BTreeMap<IndexVar, usize> {
    let place = |var: &IndexVar| loops.iter().position(|known| known == var);
    let mut outer: BTreeSet<IndexVar> = BTreeSet::new();
    let mut found = BTreeMap::new();
    for (number, level) in format.levels().iter().enumerate() {
        let index = &access.indices[level.mode()];
        let innermost = index.vars().into_iter().max_by_key(place);
        let is_walked = !level.is_full() && level.kind.capabilities().ordered;
        if let (true, Some(var)) = (is_walked, innermost)
            && index.linear_in(var).is_some_and(|(factor, _)| factor > 0)
            // Loops that are derived from others are not over variables.
            && index.vars().iter().all(|var| place(var).is_some())
            && outer.iter().all(|outer| place(outer).is_some() && place(outer) < place(&var))
        {
            found.insert(var, number);
        }
        outer.extend(index.vars());
    }
    found
}
