//! Contraction trees as text: one statement a line, operands as in the network.

use std::fmt::Write as _;

use sparsec_base::arena::Id;
use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source, Span, code, suggest};

use super::{Factor, StatementId, Tree};
use crate::estimate::Estimator;
use crate::network::{Named, Network, OperandId};
use crate::reference::{self, Placed, SYMBOLS};
use crate::set::Set;

impl Tree {
    /// Reads a tree of `network`: a line for each statement, producers first.
    ///
    /// # Errors
    /// `E0902` at the place where the tree does not fit the network, `E0101` for text that
    /// is no tree.
    ///
    /// ```
    /// use sparsec_network::{Network, Tree};
    /// let network = Network::parse("tensor A[9,9]\n tensor B[9,9]\n tensor x[9]
    ///     y(i) = A(i,j) * B(j,k) * x(k)")?;
    /// let text = "t0(j) = B(j,k) * x(k)\ny(i) = A(i,j) * t0(j)\n";
    /// assert_eq!(Tree::parse(&network, text)?.print(&network), text);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(network: &Network, text: &str) -> Result<Self> {
        let source = Source::new("tree", text);
        let mut tokens = Tokens::new(&source, SYMBOLS)?;
        let mut reader = Reader {
            network,
            source: &source,
            products: Vec::new(),
            targets: Vec::new(),
            used: Set::EMPTY,
            read: Set::EMPTY,
        };
        while !tokens.at_end() {
            let target = reference::take(&mut tokens, "(")?;
            tokens.expect("=")?;
            let product = reference::take_product(&mut tokens, "(")?;
            reader.add(target, &product)?;
        }
        reader.finish()
    }

    /// The tree as text, which [`parse`](Self::parse) reads.
    pub fn print(&self, network: &Network) -> String {
        self.lines(network).join("\n") + "\n"
    }

    /// The tree as text with the estimates of each statement behind it, as comments.
    pub fn print_estimates(&self, estimator: &Estimator<'_>) -> String {
        let lines = self.lines(estimator.network());
        let width = lines.iter().map(String::len).max().unwrap_or(0);
        let mut text = String::new();
        for ((id, _), line) in self.statements().zip(&lines) {
            let estimate = self.estimate(estimator, id);
            let _ = writeln!(
                text,
                "{line:width$}  ; {} entries, {} steps",
                rounded(estimate.entries),
                rounded(estimate.steps)
            );
        }
        text
    }

    fn lines(&self, network: &Network) -> Vec<String> {
        let lines = self.statements().map(|(id, statement)| {
            let factors: Vec<String> = statement
                .factors
                .iter()
                .map(|&factor| {
                    let name = self.factor_name(network, factor);
                    match factor {
                        Factor::Operand(operand) => {
                            reference::print(network, name, &network.operand(operand).indices, '(')
                        }
                        Factor::Statement(producer) => {
                            let indices = self.target_indices(network, producer);
                            reference::print(network, name, &indices, '(')
                        }
                    }
                })
                .collect();
            let indices = self.target_indices(network, id);
            let target = reference::print(network, &statement.name, &indices, '(');
            format!("{target} = {}", factors.join(" * "))
        });
        lines.collect()
    }
}

/// Three digits of large numbers, all of small ones.
pub(crate) fn rounded(number: f64) -> String {
    match number < 1e6 {
        true => format!("{number:.0}"),
        false => format!("{number:.2e}"),
    }
}

struct Reader<'a> {
    network: &'a Network,
    source: &'a Source,
    products: Vec<Vec<Factor>>,
    targets: Vec<Placed>,
    used: Set<OperandId>,
    read: Set<StatementId>,
}

impl Reader<'_> {
    fn fault(&self, message: String, span: Span, label: &str) -> Diagnostic {
        Diagnostic::new(code::NETWORK_TREE, message).at(self.source, span, label)
    }

    fn add(&mut self, target: Placed, product: &[Placed]) -> Result<()> {
        let name = &target.named.tensor;
        let taken = self.network.tensor_named(name).is_some()
            || self.targets.iter().any(|other| other.named.tensor == *name);
        if taken {
            return Err(self.fault(
                format!("`{name}` is a tensor already"),
                target.span,
                "a name of its own is wanted",
            ));
        }
        if self.targets.len() == crate::set::MAX_MEMBERS {
            return Err(self.fault(
                "a tree of more than 128 statements".to_owned(),
                target.span,
                "one too many",
            ));
        }
        let mut factors = Vec::new();
        for factor in product {
            let found = self.factor(factor)?;
            factors.push(found);
        }
        self.products.push(factors);
        self.targets.push(target);
        Ok(())
    }

    fn factor(&mut self, placed: &Placed) -> Result<Factor> {
        let named = &placed.named;
        let statement = self
            .targets
            .iter()
            .position(|target| target.named.tensor == named.tensor);
        if let Some(place) = statement {
            let id = StatementId::from_index(place);
            if self.read.contains(id) {
                return Err(self.fault(
                    format!("`{}` is read twice", named.tensor),
                    placed.span,
                    "again",
                ));
            }
            if !same_names(&self.targets[place].named, named) {
                return Err(self
                    .fault(
                        format!("`{}` has other index variables", named.tensor),
                        placed.span,
                        "not those of its statement",
                    )
                    .also(self.source, self.targets[place].span, "computed here"));
            }
            self.read.insert(id);
            return Ok(Factor::Statement(id));
        }
        let operands = self.network.operands();
        let same: Vec<OperandId> = operands
            .filter(|(_, operand)| self.named(operand.tensor, &operand.indices) == *named)
            .map(|(id, _)| id)
            .collect();
        let unused = same.iter().find(|&&id| !self.used.contains(id));
        match (unused.copied(), same.first()) {
            (Some(id), _) => {
                self.used.insert(id);
                Ok(Factor::Operand(id))
            }
            (None, Some(_)) => Err(self.fault(
                format!("`{}` is used more often than in the network", named.tensor),
                placed.span,
                "used before",
            )),
            (None, None) => {
                let error = self.fault(
                    format!("no operand and no statement above is `{}`", show(named)),
                    placed.span,
                    "not in the network",
                );
                let operands: Vec<String> = self
                    .network
                    .operands()
                    .map(|(_, operand)| show(&self.named(operand.tensor, &operand.indices)))
                    .collect();
                let names = operands.iter().map(String::as_str);
                Err(match suggest::closest(&show(named), names) {
                    Some(close) => error.help(format!("did you mean `{close}`?")),
                    None => error.help(format!("the network is `{}`", self.network.equation())),
                })
            }
        }
    }

    fn named(&self, tensor: crate::TensorId, indices: &[crate::IndexVar]) -> Named {
        let names = indices
            .iter()
            .map(|&index| self.network.variable(index).name.clone());
        Named {
            tensor: self.network.tensor(tensor).name.clone(),
            indices: names.collect(),
        }
    }

    fn finish(self) -> Result<Tree> {
        let names = self
            .targets
            .iter()
            .map(|target| target.named.tensor.clone());
        let last = self
            .targets
            .last()
            .map_or(Span::default(), |target| target.span);
        let tree = Tree::with_names(self.network, self.products.clone(), names.collect())
            .map_err(|fault| fault.diagnostic().at(self.source, last, "up to here"))?;
        for (id, statement) in tree.statements() {
            let target = &self.targets[id.index()];
            let wanted = Named {
                tensor: statement.name.clone(),
                indices: tree
                    .target_indices(self.network, id)
                    .into_iter()
                    .map(|index| self.network.variable(index).name.clone())
                    .collect(),
            };
            let is_result = statement.consumer.is_none();
            if is_result && statement.name != self.network.result().name {
                let text = format!(
                    "the last statement computes `{}`",
                    self.network.result().name
                );
                return Err(self.fault(text, target.span, "not the result"));
            }
            if !same_names(&wanted, &target.named) {
                return Err(self
                    .fault(
                        format!("`{}` keeps other index variables", statement.name),
                        target.span,
                        "not those that are needed later",
                    )
                    .help(format!("write `{}`", show(&wanted))));
            }
        }
        Ok(tree)
    }
}

/// Whether two references have the same index variables, in any order.
fn same_names(left: &Named, right: &Named) -> bool {
    let sorted = |named: &Named| {
        let mut names = named.indices.clone();
        names.sort();
        names
    };
    sorted(left) == sorted(right)
}

fn show(named: &Named) -> String {
    match named.indices.is_empty() {
        true => named.tensor.clone(),
        false => format!("{}({})", named.tensor, named.indices.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network::parse(
            "tensor A[4,4]\n tensor B[4,4]\n tensor C[4,4]
            E(i,l) = A(i,j) * B(j,k) * C(k,l) * A(i,l)",
        )
        .unwrap()
    }

    #[test]
    fn what_is_printed_parses_back() {
        let network = network();
        for text in [
            "t0(i,k) = A(i,j) * B(j,k)\nE(i,l) = t0(i,k) * C(k,l) * A(i,l)\n",
            "u(j,l) = B(j,k) * C(k,l)\nv(i,l) = A(i,j) * u(j,l)\nE(i,l) = A(i,l) * v(i,l)\n",
            "E(i,l) = A(i,j) * B(j,k) * C(k,l) * A(i,l)\n",
        ] {
            let tree = Tree::parse(&network, text).unwrap();
            assert_eq!(tree.print(&network), text);
            let estimator = Estimator::new(&network);
            let with_estimates = tree.print_estimates(&estimator);
            assert_eq!(Tree::parse(&network, &with_estimates).unwrap(), tree);
        }
        assert_eq!(
            Tree::flat(&network).print(&network),
            "E(i,l) = A(i,j) * B(j,k) * C(k,l) * A(i,l)\n"
        );
    }

    #[test]
    fn factors_may_be_in_any_order() {
        let network = network();
        let canonical = |text: &str| Tree::parse(&network, text).unwrap().canonical(&network);
        assert_eq!(
            canonical("a(i,k)=B(j,k)*A(i,j)\nb(k,l,i)=A(i,l)*C(k,l)\nE(i,l)=b(k,l,i)*a(k,i)"),
            canonical("b(k,l,i)=C(k,l)*A(i,l)\na(i,k)=A(i,j)*B(j,k)\nE(l,i)=a(k,i)*b(k,l,i)"),
        );
    }

    #[test]
    fn a_tree_uses_each_tensor_once() {
        let network = network();
        let refused = |text: &str, under: &str| {
            let error = Tree::parse(&network, text).expect_err(text);
            assert_eq!(error.code(), code::NETWORK_TREE, "{error}");
            let label = error.labels().iter().find(|label| label.primary).unwrap();
            assert_eq!(label.source.slice(label.span), under, "{error}");
        };
        refused("E(i,l) = A(i,j) * B(j,k) * C(k,l)", "E(i,l)");
        refused(
            "E(i,l) = A(i,j) * A(i,j) * B(j,k) * C(k,l) * A(i,l)",
            "A(i,j)",
        );
        refused("E(i,l) = A(j,i) * B(j,k) * C(k,l) * A(i,l)", "A(j,i)");
        refused(
            "t(i,k) = A(i,j) * B(j,k)\nE(i,l) = t(i,k) * t(i,k) * C(k,l) * A(i,l)",
            "t(i,k)",
        );
        refused(
            "t(i) = A(i,j) * B(j,k)\nE(i,l) = t(i) * C(k,l) * A(i,l)",
            "t(i)",
        );
        refused("t(i,l) = A(i,j) * B(j,k) * C(k,l) * A(i,l)", "t(i,l)");
        refused(
            "A(i,k) = A(i,j) * B(j,k)\nE(i,l) = A(i,k) * C(k,l) * A(i,l)",
            "A(i,k)",
        );
        refused(
            "t(i,k) = A(i,j) * B(j,k)\nE(i,l) = C(k,l) * A(i,l)",
            "E(i,l)",
        );
        refused("", "");
    }
}
