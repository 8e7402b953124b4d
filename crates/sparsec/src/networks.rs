//! The contraction tree of a planned statement, and its loops, read off its plan.
//!
//! ```text
//! forall K: where(                                        t0(K,b,i) = I(K,a,b) * C(a,i)
//!   forall b: forall i: forall m: E(K,i,m) += w(b,i) * P(b,m),     E(K,i,m) = t0(K,b,i) * P(b,m)
//!   forall b: forall i: forall a: w(b,i) += I(K,a,b) * C(a,i))
//! ```
//!
//! Every plan of a product has a tree, whoever chose it: the search for trees, the search
//! for loops, or a user's schedule. A workspace that only holds a row of the result before
//! it is assembled is no contraction, and is left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, LevelKind};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr, TensorRole, TensorVar};
use sparsec_network::constraints::SystemOptions;
use sparsec_network::fusion::{Precedence, least_order, stated_layouts};
use sparsec_network::{
    Estimator, Factor, Item, Network, OperandId, Plan as Fused, Set, StatementId, System, Tree,
    Workspace, WorkspaceKind,
};
use sparsec_plan::Plan;
use sparsec_tensor::Tensor;

use crate::compiled::Compiled;
use crate::request::{Inputs, Request, TensorSpec};
use crate::session::Session;

/// A statement of a tree, with the estimated and the actual number of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Intermediate {
    /// The contraction as index notation.
    pub text: String,
    /// How many entries were estimated.
    pub estimated: f64,
    /// How many it has; `None` if counting them would take too much memory.
    pub counted: Option<u64>,
}

/// The parts of a plan that are known while its statement is read.
struct Reader<'a> {
    plan: &'a Plan,
    network: &'a Network,
    products: Vec<Vec<Factor>>,
    /// The statement that computes each workspace.
    computed: BTreeMap<TensorVar, StatementId>,
    /// The operands that no statement has read so far.
    unread: Vec<OperandId>,
    /// Where the intermediate of each statement is kept.
    kept: Vec<TensorVar>,
}

/// The tree that a plan computes; `None` if its statement is no product of several tensors,
/// or is computed otherwise.
pub(crate) fn tree(plan: &Plan) -> Option<(&Network, Tree)> {
    let network = plan.network.as_deref()?;
    let (_, tree, _) = read(plan, network)?;
    Some((network, tree))
}

/// The tree of a plan with its loops; `None` also if loops are over derived variables.
fn fused(plan: &Plan) -> Option<(&Network, Fused)> {
    let network = plan.network.as_deref()?;
    let (reader, tree, items) = read(plan, network)?;
    let items = items?;
    let concrete = &plan.concrete;
    let workspaces = tree.statements().map(|(id, statement)| {
        statement.consumer?;
        let workspace = reader.kept[id.index()];
        let mut modes = None;
        concrete.stmt.for_each_assign(&mut |lhs, _, _| {
            if lhs.tensor == workspace {
                modes = reader.indices(lhs);
            }
        });
        let format = plan.formats.get(workspace);
        let is_hashed = |format: &Format| {
            let mut levels = format.levels().iter();
            levels.any(|level| level.kind == LevelKind::Hashed)
        };
        Some(Workspace {
            modes: modes?,
            kind: match format.is_some_and(is_hashed) {
                true => WorkspaceKind::Hashed,
                false => WorkspaceKind::Dense,
            },
        })
    });
    let copied = plan
        .conversions
        .iter()
        .filter(|it| it.format.is_all_dense());
    let names: Vec<&str> = copied
        .map(|it| concrete.tensors[it.from].name.as_str())
        .collect();
    let dense = network
        .operands()
        .map(|(id, _)| id)
        .filter(|id| names.contains(&network.tensor_of(*id).name.as_str()));
    let fused = Fused {
        workspaces: workspaces.collect(),
        dense: dense.collect(),
        blocked: Set::EMPTY,
        tree,
        items,
    };
    // Loops that a user's commands made may be none of a fused plan.
    Fused::parse(network, &fused.print(network)).ok()?;
    Some((network, fused))
}

fn read<'a>(plan: &'a Plan, network: &'a Network) -> Option<(Reader<'a>, Tree, Option<Vec<Item>>)> {
    let mut reader = Reader {
        plan,
        network,
        products: Vec::new(),
        computed: BTreeMap::new(),
        unread: network.operands().map(|(id, _)| id).collect(),
        kept: Vec::new(),
    };
    let items = reader.visit(&plan.concrete.stmt)?;
    let tree = Tree::new(network, std::mem::take(&mut reader.products)).ok()?;
    let is_of_indices = items.iter().all(Loops::is_named);
    let items = is_of_indices.then(|| items.into_iter().filter_map(Loops::item).collect());
    Some((reader, tree, items))
}

/// Loops as a plan has them.
enum Loops {
    /// A loop over an index variable of the network, or over a derived one.
    Loop(Option<sparsec_network::IndexVar>, Vec<Loops>),
    Statement(StatementId),
}

impl Loops {
    fn is_named(&self) -> bool {
        match self {
            Self::Statement(_) => true,
            Self::Loop(index, body) => index.is_some() && body.iter().all(Self::is_named),
        }
    }

    /// The loops; `None` for those around nothing.
    fn item(self) -> Option<Item> {
        match self {
            Self::Statement(id) => Some(Item::Statement(id)),
            Self::Loop(index, body) => {
                let body: Vec<Item> = body.into_iter().filter_map(Self::item).collect();
                (!body.is_empty()).then_some(Item::Loop(index?, body))
            }
        }
    }
}

impl Reader<'_> {
    fn concrete(&self) -> &Concrete {
        &self.plan.concrete
    }

    fn visit(&mut self, stmt: &Stmt) -> Option<Vec<Loops>> {
        Some(match stmt {
            Stmt::Forall { var, body } => {
                let name = &self.concrete().vars[*var].name;
                let index = self.network.index_named(name);
                vec![Loops::Loop(index, self.visit(body)?)]
            }
            Stmt::Where { consumer, producer } => {
                let mut items = self.visit(producer)?;
                items.extend(self.visit(consumer)?);
                items
            }
            Stmt::Sequence(_) => return None,
            Stmt::Assign { lhs, rhs, .. } => {
                let mut factors = Vec::new();
                self.factors(rhs, &mut factors)?;
                match factors[..] {
                    [] => return None,
                    // The result, or a part of it, is copied from its workspace.
                    [Factor::Statement(of)] => {
                        self.computed.insert(lhs.tensor, of);
                        self.kept[of.index()] = lhs.tensor;
                        Vec::new()
                    }
                    _ => {
                        let id = StatementId::from_index(self.products.len());
                        self.products.push(factors);
                        self.kept.push(lhs.tensor);
                        let before = self.computed.insert(lhs.tensor, id);
                        if before.is_some() {
                            return None;
                        }
                        vec![Loops::Statement(id)]
                    }
                }
            }
        })
    }

    /// The factors of a product; `None` if it is none.
    fn factors(&mut self, expr: &Expr, found: &mut Vec<Factor>) -> Option<()> {
        match expr {
            Expr::Apply { args, .. } => args.iter().try_for_each(|arg| self.factors(arg, found)),
            Expr::Access(access) => {
                if let Some(id) = self.computed.get(&access.tensor) {
                    found.push(Factor::Statement(*id));
                    return Some(());
                }
                if access.indices.is_empty() {
                    return Some(());
                }
                let name = self.original(access.tensor)?;
                let indices = self.indices(access)?;
                let place = self.unread.iter().position(|id| {
                    let operand = self.network.operand(*id);
                    self.network.tensor(operand.tensor).name == name && operand.indices == indices
                })?;
                found.push(Factor::Operand(self.unread.remove(place)));
                Some(())
            }
            _ => expr.vars().is_empty().then_some(()),
        }
    }

    /// The name of the operand that a tensor of the plan is, or is a copy of.
    fn original(&self, mut tensor: TensorVar) -> Option<String> {
        while let Some(copy) = self.plan.conversions.iter().find(|it| it.to == tensor) {
            tensor = copy.from;
        }
        let data = &self.concrete().tensors[tensor];
        (data.role != TensorRole::Workspace).then(|| data.name.clone())
    }

    fn indices(&self, access: &Access) -> Option<Vec<sparsec_network::IndexVar>> {
        let vars = access.plain_vars()?.into_iter();
        vars.map(|var| self.network.index_named(&self.concrete().vars[var].name))
            .collect()
    }
}

/// A stage that only statements have that multiply several tensors.
fn missing(compiled: &Compiled, number: usize) -> String {
    let text = compiled.program().statement_text(number);
    format!("; {}: no product of three tensors or more\n", text.trim())
}

impl Compiled {
    /// The tree of a statement as text, with estimates as comments.
    pub(crate) fn tree_text(&self, number: usize) -> String {
        match tree(&self.statements()[number].plan) {
            Some((network, tree)) => tree.print_estimates(&Estimator::new(network)),
            None => missing(self, number),
        }
    }

    /// The fused plan of a statement as text.
    pub(crate) fn fused_text(&self, number: usize) -> String {
        match fused(&self.statements()[number].plan) {
            Some((network, fused)) => fused.print(network),
            None => missing(self, number),
        }
    }

    /// The product of a statement as text, with what is known of its tensors.
    pub(crate) fn network_text(&self, number: usize) -> String {
        match &self.statements()[number].plan.network {
            Some(network) => network.to_string(),
            None => missing(self, number),
        }
    }

    /// The constraint system of the least order that a statement's tree can have.
    pub(crate) fn system_text(&self, number: usize) -> String {
        let Some((network, tree)) = tree(&self.statements()[number].plan) else {
            return missing(self, number);
        };
        let layouts = stated_layouts(network);
        let precedence = Precedence::of(network, &tree, &layouts, Set::EMPTY);
        let highest = tree.statements().map(|(_, statement)| statement.kept.len());
        let limit = least_order(&tree, &precedence).unwrap_or(highest.max().unwrap_or(0));
        let options = SystemOptions {
            limit,
            layouts,
            ..SystemOptions::default()
        };
        let mut text = String::new();
        let _ = writeln!(text, "; intermediates of order {limit} or less");
        text + &System::new(network, &tree, &options).smt2()
    }

    /// Counts the entries of the intermediates of a statement's tree, by computing each as a
    /// tensor of its own from `inputs`. Values that nothing stores and zeros that are stored
    /// count as the kernels have them.
    ///
    /// Takes as long as contracting without fused loops. Intermediates that are thought to
    /// take more than `bytes` are not counted, and neither are those that read them.
    ///
    /// # Errors
    /// Those of running a program.
    #[doc(hidden)]
    pub fn intermediates(
        &self,
        session: &Session,
        number: usize,
        inputs: &Inputs,
        bytes: u64,
    ) -> Result<Vec<Intermediate>> {
        let Some((network, tree)) = tree(&self.statements()[number].plan) else {
            return Ok(Vec::new());
        };
        let estimator = Estimator::new(network);
        let text = tree.print(network);
        let mut known: BTreeMap<String, Tensor> = BTreeMap::new();
        let mut found = Vec::new();
        for ((id, statement), line) in tree.statements().zip(text.lines()) {
            if statement.consumer.is_none() {
                continue;
            }
            let estimated = tree.estimate(&estimator, id).entries;
            let names = statement.factors.iter();
            let names: Vec<&str> = names.map(|it| tree.factor_name(network, *it)).collect();
            let operands: Option<Inputs> = names
                .iter()
                .map(|name| {
                    let tensor = known.get(*name).or_else(|| inputs.get(*name))?;
                    Some(((*name).to_owned(), tensor.clone()))
                })
                .collect();
            // A coordinate for each mode and a value.
            let entry = 8.0 * (statement.kept.len() + 1) as f64;
            let operands = operands.filter(|_| estimated * entry <= bytes as f64);
            let counted = match operands {
                None => None,
                Some(operands) => {
                    let tensor = computed(session, line, &statement.name, operands)?;
                    let counted = tensor.n_filled() as u64;
                    known.insert(statement.name.clone(), tensor);
                    Some(counted)
                }
            };
            // A row that is kept is no intermediate.
            if statement.factors.len() > 1 {
                found.push(Intermediate {
                    text: line.to_owned(),
                    estimated,
                    counted,
                });
            }
        }
        Ok(found)
    }
}

/// The tensor that a statement of index notation computes, stored sparse.
fn computed(session: &Session, text: &str, name: &str, inputs: Inputs) -> Result<Tensor> {
    let source = sparsec_base::Source::new("intermediate", text);
    let mut request = Request::new(source);
    let order = text
        .split('=')
        .next()
        .map_or(0, |lhs| match lhs.contains('(') {
            true => lhs.matches(',').count() + 1,
            false => 0,
        });
    let format = match order {
        0 => Format::dense(0),
        _ => Format::csf(order),
    };
    let spec = TensorSpec {
        format: Some((&format).into()),
        ..TensorSpec::default()
    };
    request.tensors.insert(name.to_owned(), spec);
    let compiled = crate::compile::compile(&request, &inputs)?;
    let mut outcome = session.run(&compiled, &inputs)?;
    outcome
        .tensors
        .remove(name)
        .ok_or_else(|| Diagnostic::new(code::UNUSED_NAME, format!("nothing computes `{name}`")))
}
