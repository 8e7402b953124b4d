//! Contraction trees, as the statements that compute them.
//!
//! ```text
//! t0(K,a,i) = C(a,i) * L(K,i)             E
//! t1(K,b,i) = I(K,a,b) * t0(K,a,i)        ├── t1
//! E(K,i,m) = t1(K,b,i) * P(b,m)           │   ├── I
//!                                         │   └── t0 ── C, L
//!                                         └── P
//! ```
//!
//! Each node that is no operand is a statement: one nest of loops that multiplies its
//! factors and sums over the index variables that nothing outside of them needs. Most
//! statements have two factors. One factor is summed alone; three or more are multiplied in
//! one nest, as a masked product or the count of triangles wants it.
//!
//! Invariants: producers come before consumers; each operand and each statement but the
//! last is a factor once; the last computes the result.

mod text;

use sparsec_base::arena::Id;
use sparsec_base::{Arena, define_id};

use crate::estimate::{Estimator, Part};
use crate::fault::Fault;
use crate::network::{IndexVar, Network, OperandId};
use crate::set::Set;

define_id!(
    /// A statement of a contraction tree.
    pub struct StatementId,
    "s"
);

/// A factor of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Factor {
    /// An operand of the network.
    Operand(OperandId),
    /// The intermediate that an earlier statement computes.
    Statement(StatementId),
}

/// One contraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The tensor that it computes.
    pub name: String,
    /// Its factors.
    pub factors: Vec<Factor>,
    /// All operands of the network below it.
    pub operands: Set<OperandId>,
    /// The index variables of its factors: its loops.
    pub loops: Set<IndexVar>,
    /// The index variables of the tensor that it computes.
    pub kept: Set<IndexVar>,
    /// The statement that reads the tensor; `None` for the result.
    pub consumer: Option<StatementId>,
}

/// A contraction tree. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    statements: Arena<StatementId, Statement>,
}

/// The estimated entries and steps of one statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatementEstimate {
    /// Entries of the tensor that it computes.
    pub entries: f64,
    /// Steps of its nest, one multiply-add each.
    pub steps: f64,
}

/// Steps that writing one entry of an intermediate costs. One is the least that storing it
/// can take. The real cost of traffic depends on fusion, which is priced afterwards.
pub(crate) const WRITE: f64 = 1.0;

impl Tree {
    /// The tree whose statement `n` multiplies `products[n]`.
    ///
    /// # Errors
    /// [`Fault::Tree`] if an invariant of the [module](self) does not hold.
    ///
    /// # Panics
    /// If a factor names an operand that the network does not have.
    pub fn new(network: &Network, products: Vec<Vec<Factor>>) -> Result<Self, Fault> {
        let n = products.len();
        let named = |place| match place + 1 == n {
            true => network.result().name.clone(),
            false => network.temporary_name(place),
        };
        let names = (0..n).map(named).collect();
        Self::with_names(network, products, names)
    }

    pub(crate) fn with_names(
        network: &Network,
        products: Vec<Vec<Factor>>,
        names: Vec<String>,
    ) -> Result<Self, Fault> {
        let fault = |message: String| Err(Fault::Tree { message });
        let mut tree = Self {
            statements: Arena::new(),
        };
        for (factors, name) in products.into_iter().zip(names) {
            let id = StatementId::from_index(tree.len());
            let mut statement = Statement {
                name,
                operands: Set::EMPTY,
                loops: Set::EMPTY,
                kept: Set::EMPTY,
                consumer: None,
                factors,
            };
            if statement.factors.is_empty() {
                return fault(format!("`{}` multiplies nothing", statement.name));
            }
            for &factor in &statement.factors {
                let (below, indices) = match factor {
                    Factor::Operand(operand) => {
                        (Set::of(operand), network.operand(operand).index_set())
                    }
                    Factor::Statement(producer) => {
                        if producer.index() >= id.index() {
                            return fault(
                                "an intermediate is read before its statement".to_owned(),
                            );
                        }
                        let producer = &mut tree.statements[producer];
                        if producer.consumer.replace(id).is_some() {
                            return fault(format!("`{}` is read twice", producer.name));
                        }
                        (producer.operands, producer.kept)
                    }
                };
                if below.meets(statement.operands) {
                    return fault(format!("`{}` uses an operand twice", statement.name));
                }
                statement.operands = statement.operands.union(below);
                statement.loops = statement.loops.union(indices);
            }
            statement.kept = network.kept_by(statement.operands);
            tree.statements.push(statement);
        }
        let all = network.operand_set();
        let unread = tree
            .statements()
            .find(|(id, statement)| statement.consumer.is_none() && id.index() + 1 < tree.len());
        match unread {
            Some((_, statement)) => fault(format!("`{}` is never read", statement.name)),
            None if tree.len() == 0 || tree.root().operands != all => {
                let used = match tree.len() {
                    0 => Set::EMPTY,
                    _ => tree.root().operands,
                };
                let left = all.without(used).iter().map(|operand| {
                    let tensor = network.tensor_of(operand);
                    format!("`{}`", tensor.name)
                });
                let left: Vec<String> = left.collect();
                fault(format!("the tree does not use {}", left.join(", ")))
            }
            None => Ok(tree),
        }
    }

    /// The tree of one statement, which multiplies all operands.
    pub fn flat(network: &Network) -> Self {
        let factors = network.operands().map(|(id, _)| Factor::Operand(id));
        Self::new(network, vec![factors.collect()]).expect("all operands are used once")
    }

    /// How many statements it has.
    #[allow(clippy::len_without_is_empty, reason = "a tree has a statement")]
    pub fn len(&self) -> usize {
        self.statements.iter().count()
    }

    /// The statements, producers before consumers.
    pub fn statements(&self) -> impl DoubleEndedIterator<Item = (StatementId, &Statement)> {
        self.statements.iter()
    }

    /// One statement.
    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id]
    }

    /// The statement that computes the result.
    pub fn root(&self) -> &Statement {
        let (_, last) = self
            .statements
            .iter()
            .next_back()
            .expect("a tree has a statement");
        last
    }

    /// All statements as a set.
    pub fn statement_set(&self) -> Set<StatementId> {
        self.statements.ids().collect()
    }

    /// The index variables of a factor.
    pub fn factor_indices(&self, network: &Network, factor: Factor) -> Set<IndexVar> {
        match factor {
            Factor::Operand(operand) => network.operand(operand).index_set(),
            Factor::Statement(statement) => self.statements[statement].kept,
        }
    }

    /// The name of a factor's tensor.
    pub fn factor_name<'a>(&'a self, network: &'a Network, factor: Factor) -> &'a str {
        match factor {
            Factor::Operand(operand) => &network.tensor_of(operand).name,
            Factor::Statement(statement) => &self.statements[statement].name,
        }
    }

    /// The index variables of the tensor that a statement computes, in the order of the
    /// result for the last one and of the network for others.
    pub fn target_indices(&self, network: &Network, id: StatementId) -> Vec<IndexVar> {
        match self.statements[id].consumer {
            None => network.result().indices.clone(),
            Some(_) => self.statements[id].kept.iter().collect(),
        }
    }

    /// A factor as a part, to estimate with.
    pub fn part(&self, estimator: &Estimator<'_>, factor: Factor) -> Part {
        match factor {
            Factor::Operand(operand) => estimator.operand(operand),
            Factor::Statement(statement) => estimator.summed(self.statements[statement].operands),
        }
    }

    /// The estimate of a statement that runs by itself.
    pub fn estimate(&self, estimator: &Estimator<'_>, id: StatementId) -> StatementEstimate {
        let statement = &self.statements[id];
        let factors = statement.factors.iter();
        let parts: Vec<Part> = factors
            .map(|&factor| self.part(estimator, factor))
            .collect();
        StatementEstimate {
            entries: estimator.summed(statement.operands).entries,
            steps: estimator.nest(&parts),
        }
    }

    /// The sum over all statements of their steps and of the entries that they write.
    pub fn cost(&self, estimator: &Estimator<'_>) -> f64 {
        let estimates = self
            .statements()
            .map(|(id, _)| self.estimate(estimator, id));
        estimates
            .map(|estimate| estimate.steps + WRITE * estimate.entries)
            .sum()
    }

    /// The same tree with factors and statements in one order: trees are equal up to the
    /// order of factors exactly if these are equal.
    pub fn canonical(&self, network: &Network) -> Self {
        fn visit(tree: &Tree, id: StatementId, products: &mut Vec<Vec<Factor>>) -> Factor {
            let mut factors = tree.statements[id].factors.clone();
            factors.sort_by_key(|&factor| match factor {
                Factor::Operand(operand) => operand.index() as u32,
                Factor::Statement(below) => tree.statements[below].operands.bits().trailing_zeros(),
            });
            let factors = factors.into_iter().map(|factor| match factor {
                Factor::Operand(_) => factor,
                Factor::Statement(below) => visit(tree, below, products),
            });
            let factors = factors.collect();
            products.push(factors);
            Factor::Statement(StatementId::from_index(products.len() - 1))
        }
        let mut products = Vec::new();
        visit(self, StatementId::from_index(self.len() - 1), &mut products);
        Self::new(network, products).expect("the same statements in another order")
    }
}
