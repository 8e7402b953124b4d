//! Contraction networks: a product of tensors, and the facts known of them.
//!
//! ```text
//! tensor I[700, 300, 300] entries 21470400
//! tensor C[300, 100] entries 7032
//! tensor P[300, 300] entries 89820
//! tensor L[700, 100] entries 3220 mask
//! E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)
//! ```
//!
//! An index variable that the result lacks is summed over. A tensor is declared once and
//! may be used several times: each use is an *operand*. Other lines state more facts:
//!
//! | line                                          | says                                     |
//! |-----------------------------------------------|------------------------------------------|
//! | `tensor A[9, 9]`                              | order and extents; every entry stored    |
//! | `… entries 40`                                | how many entries are stored              |
//! | `… layout 1, 0`                               | mode 1 is stored outside of mode 0       |
//! | `… mask`                                      | its stored entries are all one           |
//! | `project A[0]: 7 tuples, 12 largest, 310 squares` | a projection, see [`Projection`]     |
//! | `match A[1] B[0]: 260`                        | pairs of entries with that coordinate equal |
//!
//! A [`Network`] exists only if it is consistent: references have as many index variables
//! as modes, no index variable occurs twice in one reference, each has one extent, and
//! each of the result occurs in an operand. Operands need not be connected:
//! [`Network::parts`] gives the parts.
//!
//! Source: the networks are those of Raje et al., "CoNST: Code Generator for Sparse Tensor
//! Networks", 2024, §2.1, <https://arxiv.org/abs/2401.04836>.

mod tensor;
mod text;

use sparsec_base::{Arena, arena::Id, define_id};

use crate::fault::Fault;
use crate::set::{MAX_MEMBERS, Set};
use crate::statistics::{Projection, Statistics};

pub use tensor::Tensor;

define_id!(
    /// An index variable of a network.
    pub struct IndexVar,
    "i"
);
define_id!(
    /// A tensor that the caller gives.
    pub struct TensorId,
    "t"
);
define_id!(
    /// One use of a tensor in the product.
    pub struct OperandId,
    "o"
);

/// A tensor with an index variable for each of its modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The tensor's name.
    pub name: String,
    /// One index variable for each mode.
    pub indices: Vec<IndexVar>,
}

/// One use of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The tensor.
    pub tensor: TensorId,
    /// One index variable for each mode.
    pub indices: Vec<IndexVar>,
}

impl Operand {
    /// Its index variables as a set.
    pub fn index_set(&self) -> Set<IndexVar> {
        self.indices.iter().copied().collect()
    }
}

/// An index variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// It runs from 0 to this, exclusive.
    pub extent: u64,
}

/// How many pairs of entries of two tensors agree in one coordinate of each:
/// `Σ_x d(x) e(x)` where `d` and `e` count the entries with coordinate `x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// A tensor and its mode.
    pub left: (TensorId, usize),
    /// The other tensor and its mode.
    pub right: (TensorId, usize),
    /// The number of pairs.
    pub pairs: f64,
}

/// A product of tensors with a result. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    tensors: Arena<TensorId, Tensor>,
    indices: Arena<IndexVar, Index>,
    operands: Arena<OperandId, Operand>,
    result: Reference,
    matches: Vec<Match>,
}

/// A reference by names, as callers give it to [`Network::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The tensor's name.
    pub tensor: String,
    /// The names of its index variables.
    pub indices: Vec<String>,
}

impl Named {
    /// The reference to `tensor` with these index variables.
    pub fn new(tensor: &str, indices: &[&str]) -> Self {
        Self {
            tensor: tensor.to_owned(),
            indices: indices.iter().map(|&index| index.to_owned()).collect(),
        }
    }
}

impl Network {
    /// The network `result = product of operands`. Index variables are numbered in the
    /// order in which they occur in the operands.
    ///
    /// # Errors
    /// The first [`Fault`] in the order of its variants.
    ///
    /// ```
    /// use sparsec_network::{Named, Network, Tensor};
    /// let network = Network::new(
    ///     vec![Tensor::sparse("A", &[9, 9], 20), Tensor::dense("x", &[9])],
    ///     &Named::new("y", &["i"]),
    ///     &[Named::new("A", &["i", "j"]), Named::new("x", &["j"])],
    /// )?;
    /// assert_eq!(network.operands().count(), 2);
    /// # Ok::<(), sparsec_network::Fault>(())
    /// ```
    pub fn new(tensors: Vec<Tensor>, result: &Named, operands: &[Named]) -> Result<Self, Fault> {
        let mut network = Self {
            tensors: Arena::new(),
            indices: Arena::new(),
            operands: Arena::new(),
            result: Reference {
                name: result.tensor.clone(),
                indices: Vec::new(),
            },
            matches: Vec::new(),
        };
        if operands.is_empty() || operands.len() > MAX_MEMBERS {
            return Err(Fault::TooLarge {
                what: "operands",
                n: operands.len(),
            });
        }
        for tensor in tensors {
            network.declare(tensor)?;
        }
        for (n, operand) in operands.iter().enumerate() {
            network.add_operand(n, operand)?;
        }
        network.set_result(result)?;
        Ok(network)
    }

    fn declare(&mut self, tensor: Tensor) -> Result<(), Fault> {
        let name = &tensor.name;
        if self.tensor_named(name).is_some() {
            return Err(Fault::DeclaredTwice {
                tensor: name.clone(),
            });
        }
        let order = tensor.order();
        let fits = |modes: &[usize]| {
            let mut sorted = modes.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == modes.len() && sorted.iter().all(|&mode| mode < order)
        };
        let layout_fits = tensor
            .layout
            .as_ref()
            .is_none_or(|layout| layout.len() == order && fits(layout));
        let projections_fit = tensor
            .statistics
            .projections()
            .iter()
            .all(|projection| fits(&projection.modes));
        let entries_fit = tensor.n_stored() <= tensor.size();
        if !(layout_fits && projections_fit && entries_fit) {
            return Err(Fault::BadFact {
                tensor: name.clone(),
                fact: match (layout_fits, entries_fit) {
                    (false, _) => "its layout does not list each mode once",
                    (_, false) => "it has more entries than places",
                    _ => "a projection names a mode that it lacks, or one twice",
                },
            });
        }
        self.tensors.push(tensor);
        Ok(())
    }

    fn add_operand(&mut self, n: usize, operand: &Named) -> Result<(), Fault> {
        let Some(tensor) = self.tensor_named(&operand.tensor) else {
            return Err(Fault::UnknownTensor {
                operand: n,
                name: operand.tensor.clone(),
            });
        };
        let order = self.tensors[tensor].order();
        if order != operand.indices.len() {
            return Err(Fault::WrongOrder {
                operand: n,
                order,
                given: operand.indices.len(),
            });
        }
        let mut indices = Vec::with_capacity(order);
        for (mode, name) in operand.indices.iter().enumerate() {
            let extent = self.tensors[tensor].extents[mode];
            let index = match self.index_named(name) {
                Some(index) if self.indices[index].extent != extent => {
                    let (first, first_mode) = self
                        .first_use(index)
                        .unwrap_or((OperandId::from_index(n), mode));
                    return Err(Fault::TwoExtents {
                        index: name.clone(),
                        first: (first.index(), first_mode, self.indices[index].extent),
                        second: (n, mode, extent),
                    });
                }
                Some(index) => index,
                None if self.indices.iter().count() == MAX_MEMBERS => {
                    return Err(Fault::TooLarge {
                        what: "index variables",
                        n: MAX_MEMBERS + 1,
                    });
                }
                None => self.indices.push(Index {
                    name: name.clone(),
                    extent,
                }),
            };
            if indices.contains(&index) {
                return Err(Fault::Repeated {
                    operand: Some(n),
                    index: name.clone(),
                });
            }
            indices.push(index);
        }
        self.operands.push(Operand { tensor, indices });
        Ok(())
    }

    /// The first operand and mode that have `index`, among those added so far.
    fn first_use(&self, index: IndexVar) -> Option<(OperandId, usize)> {
        self.operands.iter().find_map(|(id, operand)| {
            let mode = operand.indices.iter().position(|&own| own == index)?;
            Some((id, mode))
        })
    }

    fn set_result(&mut self, result: &Named) -> Result<(), Fault> {
        for name in &result.indices {
            let Some(index) = self.index_named(name) else {
                return Err(Fault::ResultIndex {
                    index: name.clone(),
                });
            };
            if self.result.indices.contains(&index) {
                return Err(Fault::Repeated {
                    operand: None,
                    index: name.clone(),
                });
            }
            self.result.indices.push(index);
        }
        Ok(())
    }

    /// States how many pairs of entries of two tensors agree in one coordinate of each.
    ///
    /// # Errors
    /// [`Fault::BadFact`] if a tensor has no such mode or `pairs` is no finite count.
    pub fn add_match(
        &mut self,
        left: (TensorId, usize),
        right: (TensorId, usize),
        pairs: f64,
    ) -> Result<(), Fault> {
        for (tensor, mode) in [left, right] {
            if mode >= self.tensors[tensor].order() || !pairs.is_finite() || pairs < 0.0 {
                return Err(Fault::BadFact {
                    tensor: self.tensors[tensor].name.clone(),
                    fact: "a match names a mode that it lacks, or no number of pairs",
                });
            }
        }
        self.matches.push(Match { left, right, pairs });
        Ok(())
    }

    /// Fixes the layout of a tensor, or frees it.
    ///
    /// # Panics
    /// If `layout` does not list each mode once.
    pub fn set_layout(&mut self, tensor: TensorId, layout: Option<Vec<usize>>) {
        if let Some(layout) = &layout {
            let mut sorted = layout.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..self.tensors[tensor].order()));
        }
        self.tensors[tensor].layout = layout;
    }

    /// Replaces the statistics of a tensor by counted ones. Projections onto
    /// modes that the tensor lacks are left out.
    pub fn set_statistics(&mut self, tensor: TensorId, statistics: Statistics) {
        let order = self.tensors[tensor].order();
        let projections = statistics.projections().iter();
        let fits = |it: &&Projection| it.modes.iter().all(|&mode| mode < order);
        self.tensors[tensor].statistics = Statistics::new(projections.filter(fits).cloned());
    }

    /// The tensors with their facts.
    pub fn tensors(&self) -> impl DoubleEndedIterator<Item = (TensorId, &Tensor)> {
        self.tensors.iter()
    }

    /// The operands in the order of the product.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = (OperandId, &Operand)> {
        self.operands.iter()
    }

    /// All index variables.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = (IndexVar, &Index)> {
        self.indices.iter()
    }

    /// The result.
    pub fn result(&self) -> &Reference {
        &self.result
    }

    /// The index variables of the result.
    pub fn result_set(&self) -> Set<IndexVar> {
        self.result.indices.iter().copied().collect()
    }

    /// The facts about pairs of tensors.
    pub fn matches(&self) -> &[Match] {
        &self.matches
    }

    /// The tensor with this id.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id]
    }

    /// The operand with this id.
    pub fn operand(&self, id: OperandId) -> &Operand {
        &self.operands[id]
    }

    /// The tensor that an operand uses.
    pub fn tensor_of(&self, id: OperandId) -> &Tensor {
        &self.tensors[self.operands[id].tensor]
    }

    /// The index variable with this id.
    pub fn variable(&self, id: IndexVar) -> &Index {
        &self.indices[id]
    }

    /// The extent of an index variable, as a number to compute with.
    pub fn extent(&self, id: IndexVar) -> f64 {
        self.indices[id].extent as f64
    }

    /// How many places index variables span together.
    pub fn size_of(&self, indices: Set<IndexVar>) -> f64 {
        indices.iter().map(|index| self.extent(index)).product()
    }

    /// All operands as a set.
    pub fn operand_set(&self) -> Set<OperandId> {
        self.operands.ids().collect()
    }

    /// The index variables of some operands.
    pub fn indices_of(&self, operands: Set<OperandId>) -> Set<IndexVar> {
        operands.iter().fold(Set::EMPTY, |set, operand| {
            set.union(self.operands[operand].index_set())
        })
    }

    /// The index variables that the product of `operands` keeps: those of the result and
    /// those of other operands.
    pub fn kept_by(&self, operands: Set<OperandId>) -> Set<IndexVar> {
        let outside = self.indices_of(self.operand_set().without(operands));
        self.indices_of(operands)
            .intersection(outside.union(self.result_set()))
    }

    /// The index variable with this name.
    pub fn index_named(&self, name: &str) -> Option<IndexVar> {
        self.indices.find(|index| index.name == name)
    }

    /// The tensor with this name.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        self.tensors.find(|tensor| tensor.name == name)
    }

    /// The operands in connected parts: two are connected if they share an index variable.
    /// A network of several parts is allowed; the parts multiply as an outer product.
    pub fn parts(&self) -> Vec<Set<OperandId>> {
        let mut parts: Vec<(Set<OperandId>, Set<IndexVar>)> = Vec::new();
        for (id, operand) in self.operands() {
            let mut joined = (Set::of(id), operand.index_set());
            parts.retain(|part| {
                let meets = part.1.meets(joined.1);
                if meets {
                    joined = (part.0.union(joined.0), part.1.union(joined.1));
                }
                !meets
            });
            parts.push(joined);
        }
        parts.sort_by_key(|part| part.0.bits().trailing_zeros());
        parts.into_iter().map(|part| part.0).collect()
    }

    /// The index variables of an operand in the order of its layout, if it is stated.
    pub fn stated_modes(&self, operand: OperandId) -> Option<Vec<IndexVar>> {
        let own = &self.operands[operand].indices;
        let layout = self.tensor_of(operand).layout.as_ref()?;
        Some(layout.iter().map(|&mode| own[mode]).collect())
    }

    /// The projection of an operand onto `indices`, if it is known.
    pub(crate) fn projection(
        &self,
        operand: OperandId,
        indices: Set<IndexVar>,
    ) -> Option<&Projection> {
        let own = &self.operands[operand].indices;
        let statistics = &self.tensors[self.operands[operand].tensor].statistics;
        statistics.projections().iter().find(|projection| {
            let modes = projection.modes.iter();
            modes.map(|&mode| own[mode]).collect::<Set<IndexVar>>() == indices
        })
    }

    /// A name for an intermediate, `t` and a number, that no tensor has.
    pub(crate) fn temporary_name(&self, n: usize) -> String {
        let mut prefix = "t".to_owned();
        let taken = |prefix: &str| {
            let numbered = |name: &str| {
                name.strip_prefix(prefix).is_some_and(|rest| {
                    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
                })
            };
            numbered(&self.result.name) || self.tensors().any(|(_, tensor)| numbered(&tensor.name))
        };
        while taken(&prefix) {
            prefix.push('t');
        }
        format!("{prefix}{n}")
    }
}
