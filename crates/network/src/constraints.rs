//! The paper's constraint system for fused structures, as data.
//!
//! A system asks: is there a statement order, a loop order of each statement and a mode order
//! of each tensor such that every intermediate is left with order `l` or less?
//!
//! | variable  | is                                              | §       |
//! |-----------|-------------------------------------------------|---------|
//! | `ap_i`    | the place of statement `i` in the order          | 3.2.1   |
//! | `dp_T_j`  | the level that stores mode `j` of tensor `T`      | 3.2.2   |
//! | `lp_i_k`  | the depth of the loop over `k` around statement `i` | 3.2.3 |
//!
//! [`System::smt2`] prints it for a solver:
//!
//! ```text
//! ; 3.2.1 places of statements
//! (declare-const ap_0 Int)
//! (assert (and (<= 0 ap_0) (< ap_0 3)))
//! …
//! ; 3.2.5 producers and consumers
//! (assert (=> (= lp_0_r 0) (= lp_1_r 0)))
//! (check-sat)
//! (get-model)
//! ```
//!
//! and [`Answer::parse`] reads what the solver says. [`System::model`] makes the model of a
//! structure found otherwise, and [`System::violated`] evaluates the formulas on a model.
//! [`checker`](crate::checker) judges the same without formulas.
//!
//! Where we differ: intermediates may be workspaces, without §3.2.4 for them, as the paper
//! allows at its end ([`SystemOptions::ordered_intermediates`] restores it); a tensor with a
//! stated layout has fixed `dp`; if an index variable is missing in a statement between a
//! producer and its consumer, it cannot be fused, which the paper leaves open.
//!
//! Source: Raje et al., "CoNST", 2024, §3.2, <https://arxiv.org/abs/2401.04836>.

mod answer;
mod expression;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sparsec_base::arena::Id;

use crate::fusion::Layouts;
use crate::loops::{Item, paths, statement_order};
use crate::network::{IndexVar, Network, OperandId};
use crate::set::Set;
use crate::tree::{Factor, StatementId, Tree};

pub use answer::Answer;

/// A value for each variable.
pub type Model = BTreeMap<String, i64>;

/// A formula over integer variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The variable lies in `0..n`.
    Below(String, i64),
    /// The variable has this value.
    Is(String, i64),
    /// The first variable is less than the second.
    Less(String, String),
    /// The variables have values of their own.
    Distinct(Vec<String>),
    /// All of them hold.
    All(Vec<Formula>),
    /// One of them holds.
    Any(Vec<Formula>),
    /// The formula does not hold.
    Not(Box<Formula>),
    /// If the first holds, so does the second.
    Implies(Box<Formula>, Box<Formula>),
}

/// Formulas of one section of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The section with its subject.
    pub title: String,
    /// The variables that it introduces.
    pub variables: Vec<String>,
    /// The constraints.
    pub formulas: Vec<Formula>,
}

/// A system of constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Its sections.
    pub sections: Vec<Section>,
}

/// The options of a constraint system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemOptions {
    /// The highest order of an intermediate, the paper's `l`.
    pub limit: usize,
    /// Whether intermediates are stored in the order of loops, not in workspaces.
    pub ordered_intermediates: bool,
    /// Fixed layouts, by tensor of the network.
    pub layouts: Layouts,
    /// Operands that can be read in any order.
    pub free: Set<OperandId>,
}

fn place(statement: StatementId) -> String {
    format!("ap_{}", statement.index())
}

fn level(tensor: &str, mode: usize) -> String {
    format!("dp_{tensor}_{mode}")
}

fn depth(network: &Network, statement: StatementId, index: IndexVar) -> String {
    format!("lp_{}_{}", statement.index(), network.variable(index).name)
}

/// A reference of a statement: the tensor, and the index variable of each mode.
pub(crate) struct Use {
    pub(crate) statement: StatementId,
    pub(crate) tensor: String,
    pub(crate) indices: Vec<IndexVar>,
    /// The operand, if it is one.
    pub(crate) operand: Option<OperandId>,
    pub(crate) is_intermediate: bool,
}

/// All references of a tree.
pub(crate) fn uses(network: &Network, tree: &Tree) -> Vec<Use> {
    let mut found = Vec::new();
    for (id, statement) in tree.statements() {
        for &factor in &statement.factors {
            found.push(match factor {
                Factor::Operand(operand) => Use {
                    statement: id,
                    tensor: network.tensor_of(operand).name.clone(),
                    indices: network.operand(operand).indices.clone(),
                    operand: Some(operand),
                    is_intermediate: false,
                },
                Factor::Statement(producer) => Use {
                    statement: id,
                    tensor: tree.statement(producer).name.clone(),
                    indices: tree.target_indices(network, producer),
                    operand: None,
                    is_intermediate: true,
                },
            });
        }
        found.push(Use {
            statement: id,
            tensor: statement.name.clone(),
            indices: tree.target_indices(network, id),
            operand: None,
            is_intermediate: statement.consumer.is_some(),
        });
    }
    found
}

impl System {
    /// The system of a tree.
    pub fn new(network: &Network, tree: &Tree, options: &SystemOptions) -> Self {
        let builder = Builder {
            network,
            tree,
            options,
        };
        Self {
            sections: vec![
                builder.places(),
                builder.levels(),
                builder.depths(),
                builder.consistency(),
                builder.pairs(),
            ],
        }
    }

    /// All variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let variables = self.sections.iter().flat_map(|section| &section.variables);
        variables.map(String::as_str)
    }

    /// The system as a script in SMT-LIB 2, which asks for a model.
    pub fn smt2(&self) -> String {
        let mut text = String::from("(set-logic QF_LIA)\n");
        for section in &self.sections {
            let _ = writeln!(text, "; {}", section.title);
            for variable in &section.variables {
                let _ = writeln!(text, "(declare-const {variable} Int)");
            }
            for formula in &section.formulas {
                let _ = writeln!(text, "(assert {formula})");
            }
        }
        text.push_str("(check-sat)\n(get-model)\n");
        text
    }

    /// The first formula that does not hold, with its section.
    ///
    /// # Panics
    /// If the model lacks a variable; [`Answer::parse`] gives complete models.
    pub fn violated(&self, model: &Model) -> Option<(&Section, &Formula)> {
        let formulas = self.sections.iter().flat_map(|section| {
            let formulas = section.formulas.iter();
            formulas.map(move |formula| (section, formula))
        });
        formulas
            .into_iter()
            .find(|(_, formula)| !formula.holds(model))
    }

    /// The model of a structure whose tensors are stored in the order of the loops around
    /// them, those of `layouts` as they are.
    pub fn model(network: &Network, tree: &Tree, items: &[Item], layouts: &Layouts) -> Model {
        let mut model = Model::new();
        for (n, id) in statement_order(items).into_iter().enumerate() {
            model.insert(place(id), n as i64);
        }
        let paths = paths(tree, items);
        for (id, _) in tree.statements() {
            for (n, &index) in paths[id.index()].iter().enumerate() {
                model.insert(depth(network, id, index), n as i64);
            }
        }
        for read in uses(network, tree) {
            let path = &paths[read.statement.index()];
            let fixed = read
                .operand
                .and_then(|operand| layouts[network.operand(operand).tensor.index()].clone());
            let layout = fixed.unwrap_or_else(|| {
                let in_order = path
                    .iter()
                    .filter_map(|index| read.indices.iter().position(|own| own == index));
                in_order.collect()
            });
            for (n, mode) in layout.into_iter().enumerate() {
                model.entry(level(&read.tensor, mode)).or_insert(n as i64);
            }
        }
        model
    }
}

struct Builder<'a> {
    network: &'a Network,
    tree: &'a Tree,
    options: &'a SystemOptions,
}

impl Builder<'_> {
    fn places(&self) -> Section {
        let n = self.tree.len() as i64;
        let variables: Vec<String> = self.tree.statements().map(|(id, _)| place(id)).collect();
        let range = |variable: &String| Formula::Below(variable.clone(), n);
        let mut formulas: Vec<Formula> = variables.iter().map(range).collect();
        if n > 1 {
            formulas.push(Formula::Distinct(variables.clone()));
        }
        for (id, statement) in self.tree.statements() {
            if let Some(consumer) = statement.consumer {
                formulas.push(Formula::Less(place(id), place(consumer)));
            }
        }
        Section {
            title: "3.2.1 places of statements".to_owned(),
            variables,
            formulas,
        }
    }

    fn levels(&self) -> Section {
        let mut orders: BTreeMap<String, (usize, Option<Vec<usize>>)> = BTreeMap::new();
        for read in uses(self.network, self.tree) {
            let fixed = read.operand.and_then(|operand| {
                let tensor = self.network.operand(operand).tensor;
                self.options.layouts.get(tensor.index()).cloned().flatten()
            });
            orders
                .entry(read.tensor)
                .or_insert((read.indices.len(), fixed));
        }
        let mut section = Section {
            title: "3.2.2 levels of modes".to_owned(),
            variables: Vec::new(),
            formulas: Vec::new(),
        };
        for (tensor, (order, layout)) in orders {
            let own: Vec<String> = (0..order).map(|mode| level(&tensor, mode)).collect();
            permutation(&own, &mut section.formulas);
            for (n, mode) in layout.into_iter().flatten().enumerate() {
                section
                    .formulas
                    .push(Formula::Is(level(&tensor, mode), n as i64));
            }
            section.variables.extend(own);
        }
        section
    }

    fn depths(&self) -> Section {
        let mut section = Section {
            title: "3.2.3 depths of loops".to_owned(),
            variables: Vec::new(),
            formulas: Vec::new(),
        };
        for (id, statement) in self.tree.statements() {
            let loops = statement.loops.iter();
            let own: Vec<String> = loops.map(|index| depth(self.network, id, index)).collect();
            permutation(&own, &mut section.formulas);
            section.variables.extend(own);
        }
        section
    }

    fn consistency(&self) -> Section {
        let mut formulas = Vec::new();
        for read in uses(self.network, self.tree) {
            let is_free = match read.operand {
                Some(operand) => self.options.free.contains(operand),
                None => read.is_intermediate && !self.options.ordered_intermediates,
            };
            if is_free {
                continue;
            }
            for (j, &outer) in read.indices.iter().enumerate() {
                for (k, &inner) in read.indices.iter().enumerate() {
                    if j != k {
                        formulas.push(implies(
                            Formula::Less(level(&read.tensor, j), level(&read.tensor, k)),
                            Formula::Less(
                                depth(self.network, read.statement, outer),
                                depth(self.network, read.statement, inner),
                            ),
                        ));
                    }
                }
            }
        }
        Section {
            title: "3.2.4 loops follow modes".to_owned(),
            variables: Vec::new(),
            formulas,
        }
    }

    fn pairs(&self) -> Section {
        let mut formulas = Vec::new();
        for (producer, statement) in self.tree.statements() {
            let Some(consumer) = statement.consumer else {
                continue;
            };
            let kept: Vec<IndexVar> = statement.kept.iter().collect();
            let n_fused = kept.len().saturating_sub(self.options.limit);
            for at in 0..n_fused as i64 {
                let is_at = |statement: StatementId, index: IndexVar| {
                    Formula::Is(depth(self.network, statement, index), at)
                };
                let any = kept.iter().map(|&index| is_at(producer, index));
                formulas.push(Formula::Any(any.collect()));
                for &index in &kept {
                    formulas.push(implies(is_at(producer, index), is_at(consumer, index)));
                }
                for (other, between) in self.tree.statements() {
                    if other == producer || other == consumer {
                        continue;
                    }
                    let lies_between = Formula::All(vec![
                        Formula::Less(place(producer), place(other)),
                        Formula::Less(place(other), place(consumer)),
                    ]);
                    for &index in &kept {
                        let fused = match between.loops.contains(index) {
                            true => implies(is_at(producer, index), is_at(other, index)),
                            false => Formula::Not(Box::new(is_at(producer, index))),
                        };
                        formulas.push(implies(lies_between.clone(), fused));
                    }
                }
            }
        }
        Section {
            title: "3.2.5 producers and consumers".to_owned(),
            variables: Vec::new(),
            formulas,
        }
    }
}

fn implies(left: Formula, right: Formula) -> Formula {
    Formula::Implies(Box::new(left), Box::new(right))
}

fn permutation(variables: &[String], formulas: &mut Vec<Formula>) {
    let n = variables.len() as i64;
    let range = |variable: &String| Formula::Below(variable.clone(), n);
    formulas.extend(variables.iter().map(range));
    if n > 1 {
        formulas.push(Formula::Distinct(variables.to_vec()));
    }
}

#[cfg(test)]
mod tests;
