//! Fused plans as text.

use std::fmt::Write as _;

use sparsec_base::arena::Id;
use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::Plan;
use crate::loops::Item;
use crate::network::{IndexVar, Network, OperandId};
use crate::price::{Workspace, WorkspaceKind};
use crate::reference::{self, Placed, SYMBOLS};
use crate::set::{MAX_MEMBERS, Set};
use crate::tree::{Factor, StatementId, Tree};

/// Loops may be nested this deep in text, so that reading it needs little stack.
const MAX_DEPTH: usize = MAX_MEMBERS;

impl Plan {
    /// The plan as text, which [`parse`](Self::parse) reads.
    pub fn print(&self, network: &Network) -> String {
        let mut text = String::new();
        let mut named: Vec<&str> = Vec::new();
        for operand in self.dense.iter() {
            let tensor = network.tensor_of(operand);
            if tensor.n_stored() < tensor.size() && !named.contains(&tensor.name.as_str()) {
                named.push(&tensor.name);
                let _ = writeln!(text, "store {} dense", tensor.name);
            }
        }
        for id in self.order() {
            if let Some(space) = &self.workspaces[id.index()] {
                let kind = match space.kind {
                    WorkspaceKind::Dense => "dense",
                    WorkspaceKind::Hashed => "hashed",
                };
                let _ = writeln!(text, "workspace {} {kind}", self.tree.statement(id).name);
            }
        }
        self.print_items(network, &self.items, 0, &mut text);
        text
    }

    fn print_items(&self, network: &Network, items: &[Item], depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        for item in items {
            let mut loops = Vec::new();
            let mut body = std::slice::from_ref(item);
            while let [Item::Loop(index, inner)] = body {
                loops.push(*index);
                body = inner;
            }
            let loops = reference::names(network, &loops, ", ");
            match body {
                [Item::Statement(id)] if loops.is_empty() => {
                    let _ = writeln!(text, "{indent}{}", self.print_statement(network, *id));
                }
                [Item::Statement(id)] => {
                    let statement = self.print_statement(network, *id);
                    let _ = writeln!(text, "{indent}for {loops} {{ {statement} }}");
                }
                _ => {
                    let _ = writeln!(text, "{indent}for {loops} {{");
                    self.print_items(network, body, depth + 1, text);
                    let _ = writeln!(text, "{indent}}}");
                }
            }
        }
    }

    /// A statement as the plan prints it: `t0[i,b] += I[K,a,b] * C[i,a]`.
    pub fn print_statement(&self, network: &Network, id: StatementId) -> String {
        let statement = self.tree.statement(id);
        let modes = self.modes(network, id, None);
        let target = reference::print(network, &statement.name, &modes, '[');
        let factors: Vec<String> = statement
            .factors
            .iter()
            .map(|&factor| {
                let name = self.tree.factor_name(network, factor);
                reference::print(network, name, &self.modes(network, id, Some(factor)), '[')
            })
            .collect();
        let sign = match statement.loops == statement.kept {
            true => "=",
            false => "+=",
        };
        let blocked = match self.blocked.contains(id) {
            true => " blocked",
            false => "",
        };
        format!("{target} {sign} {}{blocked}", factors.join(" * "))
    }

    /// Reads a plan for `network`.
    ///
    /// # Errors
    /// `E0906` at the place where it is no plan for this network, `E0902` if its statements
    /// are no tree of it, `E0101` for text that is no plan.
    pub fn parse(network: &Network, text: &str) -> Result<Self> {
        let source = Source::new("plan", text);
        let mut tokens = Tokens::new(&source, SYMBOLS)?;
        let mut reader = Reader {
            network,
            source: &source,
            spaces: Vec::new(),
            dense: all_dense(network),
            statements: Vec::new(),
        };
        while reader.take_line(&mut tokens)? {}
        let items = reader.take_items(&mut tokens, 0)?;
        tokens.expect_end()?;
        reader.finish(items)
    }
}

/// Operands of which every entry is stored.
fn all_dense(network: &Network) -> Set<OperandId> {
    let dense = network.operands().filter(|(id, _)| {
        let tensor = network.tensor_of(*id);
        tensor.n_stored() == tensor.size()
    });
    dense.map(|(id, _)| id).collect()
}

struct Read {
    target: Placed,
    adds: bool,
    factors: Vec<Placed>,
    blocked: bool,
}

struct Reader<'a> {
    network: &'a Network,
    source: &'a Source,
    spaces: Vec<(String, WorkspaceKind, Span)>,
    dense: Set<OperandId>,
    statements: Vec<Read>,
}

impl Reader<'_> {
    fn fault(&self, message: String, span: Span, label: &str) -> Diagnostic {
        Diagnostic::new(code::NETWORK_PLAN, message).at(self.source, span, label)
    }

    /// Takes one line before the loops, if there is one.
    fn take_line(&mut self, tokens: &mut Tokens) -> Result<bool> {
        if tokens.peek_at(1).kind != Kind::Name || tokens.at("for") {
            return Ok(false);
        }
        if tokens.eat("store") {
            let (name, span) = tokens.name("a tensor")?;
            tokens.expect("dense")?;
            let Some(tensor) = self.network.tensor_named(&name) else {
                return Err(self.fault(
                    format!("no tensor is named `{name}`"),
                    span,
                    "not in the network",
                ));
            };
            for (id, operand) in self.network.operands() {
                if operand.tensor == tensor {
                    self.dense.insert(id);
                }
            }
            return Ok(true);
        }
        if tokens.eat("workspace") {
            let (name, span) = tokens.name("an intermediate")?;
            let kind = if tokens.eat("hashed") {
                WorkspaceKind::Hashed
            } else {
                tokens.expect("dense")?;
                WorkspaceKind::Dense
            };
            self.spaces.push((name, kind, span));
            return Ok(true);
        }
        Ok(false)
    }

    fn take_items(&mut self, tokens: &mut Tokens, depth: usize) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        while !tokens.at_end() && !tokens.at("}") {
            if tokens.at("for") && tokens.peek_at(1).kind == Kind::Name {
                tokens.take();
                let mut indices = Vec::new();
                loop {
                    let (name, span) = tokens.name("an index variable")?;
                    indices.push(self.index(&name, span)?);
                    if !tokens.eat(",") {
                        break;
                    }
                }
                let at = tokens.expect("{")?;
                let depth = depth + indices.len();
                if depth > MAX_DEPTH {
                    let message = format!("loops nested deeper than {MAX_DEPTH}");
                    return Err(self.fault(message, at, "here"));
                }
                let body = self.take_items(tokens, depth)?;
                tokens.expect("}")?;
                items.extend(Item::nest(indices.into_iter(), body));
            } else {
                let id = self.take_statement(tokens)?;
                items.push(Item::Statement(id));
            }
        }
        Ok(items)
    }

    fn index(&self, name: &str, span: Span) -> Result<IndexVar> {
        self.network.index_named(name).ok_or_else(|| {
            self.fault(
                format!("no index variable is named `{name}`"),
                span,
                "not in the network",
            )
        })
    }

    fn take_statement(&mut self, tokens: &mut Tokens) -> Result<StatementId> {
        let target = reference::take(tokens, "[")?;
        let adds = tokens.eat("+=");
        if !adds {
            tokens.expect("=")?;
        }
        let factors = reference::take_product(tokens, "[")?;
        let is_word = !["[", "=", "+="].iter().any(|next| tokens.at_nth(1, next));
        let blocked = is_word && tokens.eat("blocked");
        if self.statements.len() == MAX_MEMBERS {
            return Err(self.fault(
                "more than 128 statements".to_owned(),
                target.span,
                "one too many",
            ));
        }
        self.statements.push(Read {
            target,
            adds,
            factors,
            blocked,
        });
        Ok(StatementId::from_index(self.statements.len() - 1))
    }

    fn finish(self, items: Vec<Item>) -> Result<Plan> {
        let names: Vec<String> = self
            .statements
            .iter()
            .map(|read| read.target.named.tensor.clone())
            .collect();
        let mut used = Set::EMPTY;
        let mut products = Vec::new();
        for read in &self.statements {
            let factors: Result<Vec<Factor>> = read
                .factors
                .iter()
                .map(|placed| self.factor(placed, &mut used))
                .collect();
            products.push(factors?);
        }
        let last = self.statements.last().map(|read| read.target.span);
        let last = last.unwrap_or_default();
        let tree = Tree::with_names(self.network, products, names)
            .map_err(|fault| fault.diagnostic().at(self.source, last, "up to here"))?;
        if tree.root().name != self.network.result().name {
            let message = format!(
                "the last statement computes `{}`",
                self.network.result().name
            );
            return Err(self.fault(message, last, "not the result"));
        }
        let workspaces = self.workspaces(&tree)?;
        let blocked = self
            .statements
            .iter()
            .enumerate()
            .filter(|(_, read)| read.blocked);
        let plan = Plan {
            blocked: blocked.map(|(n, _)| StatementId::from_index(n)).collect(),
            tree,
            items,
            workspaces,
            dense: self.dense,
        };
        plan.check(self.network).map_err(|(id, message)| {
            let span = self.statements[id.index()].target.span;
            self.fault(message, span, "this statement")
        })?;
        for (id, statement) in plan.tree.statements() {
            let read = &self.statements[id.index()];
            self.check_modes(&plan, id, None, &read.target)?;
            for (&factor, placed) in statement.factors.iter().zip(&read.factors) {
                self.check_modes(&plan, id, Some(factor), placed)?;
            }
            let adds = statement.loops != statement.kept;
            if adds != read.adds {
                let (message, fix) = match adds {
                    true => ("a sum is written with `+=`", "it sums over a loop"),
                    false => ("nothing is summed here", "write `=`"),
                };
                return Err(self.fault(message.to_owned(), read.target.span, fix));
            }
        }
        Ok(plan)
    }

    /// The workspaces that `workspace` lines declare, with the modes of the targets.
    fn workspaces(&self, tree: &Tree) -> Result<Vec<Option<Workspace>>> {
        for (name, _, span) in &self.spaces {
            let is_intermediate = |statement: &crate::tree::Statement| {
                statement.name == *name && statement.consumer.is_some()
            };
            if !tree
                .statements()
                .any(|(_, statement)| is_intermediate(statement))
            {
                let message = format!("no statement computes an intermediate `{name}`");
                return Err(self.fault(message, *span, "not in the loops"));
            }
        }
        let mut found = Vec::new();
        for (id, statement) in tree.statements() {
            let read = &self.statements[id.index()];
            let space = self
                .spaces
                .iter()
                .find(|(name, ..)| *name == statement.name);
            found.push(match (statement.consumer, space) {
                (None, _) => None,
                (Some(_), Some((_, kind, _))) => Some(Workspace {
                    modes: self.indices(&read.target)?,
                    kind: *kind,
                }),
                (Some(_), None) => {
                    let message = format!("`{}` has no workspace", statement.name);
                    let error = self.fault(message, read.target.span, "an intermediate");
                    return Err(error.help(format!("write `workspace {} dense`", statement.name)));
                }
            });
        }
        Ok(found)
    }

    fn indices(&self, placed: &Placed) -> Result<Vec<IndexVar>> {
        let names = placed.named.indices.iter().zip(&placed.indices);
        names.map(|(name, &span)| self.index(name, span)).collect()
    }

    fn factor(&self, placed: &Placed, used: &mut Set<OperandId>) -> Result<Factor> {
        let name = &placed.named.tensor;
        let statement = self
            .statements
            .iter()
            .position(|read| read.target.named.tensor == *name);
        if let Some(place) = statement {
            return Ok(Factor::Statement(StatementId::from_index(place)));
        }
        let indices: Set<IndexVar> = self.indices(placed)?.into_iter().collect();
        let operand = self.network.operands().find(|(id, operand)| {
            !used.contains(*id)
                && operand.index_set() == indices
                && self.network.tensor(operand.tensor).name == *name
        });
        match operand {
            Some((id, _)) => {
                used.insert(id);
                Ok(Factor::Operand(id))
            }
            None => Err(self.fault(
                format!("no operand left that is `{name}` with these index variables"),
                placed.span,
                "not in the network",
            )),
        }
    }

    fn check_modes(
        &self,
        plan: &Plan,
        id: StatementId,
        factor: Option<Factor>,
        placed: &Placed,
    ) -> Result<()> {
        let modes = plan.modes(self.network, id, factor);
        if self.indices(placed)? == modes {
            return Ok(());
        }
        let wanted = reference::print(self.network, &placed.named.tensor, &modes, '[');
        Err(self
            .fault(
                "modes that are not in the order of the loops".to_owned(),
                placed.span,
                "in another order, or not all of them",
            )
            .help(format!("write `{wanted}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network::parse(
            "tensor A[9,9,9]\n tensor B[9,9,9] entries 50\n tensor C[9,9,9]\n tensor D[9,9,9]
            R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)",
        )
        .unwrap()
    }

    /// The paper's Fig. 5.
    const FIGURE_5: &str = "\
workspace X dense
workspace Y hashed
for r, j {
  for p, q, i { X[q,i] += A[p,q,i] * B[r,j,p] }
  for q, k, i { Y[k,i] += X[q,i] * C[r,q,k] }
  for k, i { R[j,k,i] += Y[k,i] * D[r,j,k] blocked }
}
";

    #[test]
    fn what_is_printed_parses_back() {
        let network = network();
        let plan = Plan::parse(&network, FIGURE_5).unwrap();
        assert_eq!(plan.print(&network), FIGURE_5);
        assert_eq!(plan.layout(&network, OperandId::from_index(0)), [1, 2, 0]);
        let stored = format!("store B dense\n{FIGURE_5}");
        assert_eq!(
            Plan::parse(&network, &stored).unwrap().print(&network),
            stored
        );
    }

    #[test]
    fn plans_that_compute_something_else_are_refused() {
        let network = network();
        let refused = |from: &str, to: &str, under: &str| {
            assert!(FIGURE_5.contains(from));
            let text = FIGURE_5.replacen(from, to, 1);
            let error = Plan::parse(&network, &text).expect_err(&text);
            assert_eq!(error.code(), code::NETWORK_PLAN, "{error}");
            let label = error.labels().iter().find(|label| label.primary).unwrap();
            assert_eq!(label.source.slice(label.span), under, "{error}");
        };
        refused("for p, q, i", "for p, i", "X[q,i]");
        refused("for k, i", "for k, i, p", "R[j,k,i]");
        refused("B[r,j,p]", "B[j,r,p]", "B[j,r,p]");
        refused("X[q,i] += A", "X[i,q] += A", "X[q,i]");
        refused("X[q,i] += A", "X[r,q,i] += A", "X[r,q,i]");
        refused("R[j,k,i] +=", "R[j,k,i] =", "R[j,k,i]");
        refused("workspace X dense\n", "", "X[q,i]");
        refused("workspace X", "workspace Z", "Z");
        refused("D[r,j,k]", "A[p,q,i]", "A[p,q,i]");
        refused("for r, j", "for r, j, z", "z");
        let swapped = "workspace X dense workspace Y dense for r, j {
            for q, k, i { Y[k,i] += X[q,i] * C[r,q,k] }
            for p, q, i { X[q,i] += A[p,q,i] * B[r,j,p] }
            for k, i { R[j,k,i] += Y[k,i] * D[r,j,k] } }";
        let error = Plan::parse(&network, swapped).expect_err("X is read first");
        assert_eq!(error.code(), code::NETWORK_TREE);
        assert!(Plan::parse(&network, &"for i { ".repeat(2000)).is_err());
    }
}
