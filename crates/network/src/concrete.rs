//! Fused plans in the shape of concrete index notation: `forall` and `where`.
//!
//! ```text
//! forall(r, forall(j,                          for r, j {
//!   where(                                       for p, q, i { X[q,i] += … }
//!     forall(k, forall(i, R[j,k,i] += …)),       for q, k, i { Y[k,i] += … }
//!     where(                                     for k, i { R[j,k,i] += … }
//!       forall(q, forall(k, forall(i, Y[k,i] += …))),      }
//!       forall(p, forall(q, forall(i, X[q,i] += …)))))))
//! ```
//!
//! `where(C, P)` runs `P`, which computes intermediates, before `C`, which reads them. Of
//! several items in one body the last one is the consumer, and all before it are producers.
//! So the last item of the innermost `where` runs first.
//!
//! Source: Raje et al., "CoNST", 2024, §4.2, Algorithm 1,
//! <https://arxiv.org/abs/2401.04836>. Loops of the plan are the common prefixes that its first
//! stage finds; references without fused loops are those of [`Plan::modes`].

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::loops::Item;
use crate::network::{IndexVar, Network};
use crate::plan::Plan;
use crate::reference::SYMBOLS;
use crate::tree::StatementId;

/// Text may nest this deep, so that reading it needs little stack: a loop for each index
/// variable and a `where` for each statement.
const MAX_DEPTH: usize = 2 * crate::set::MAX_MEMBERS;

/// Loops and statements in concrete index notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concrete {
    /// A loop over an index variable.
    Forall(IndexVar, Box<Concrete>),
    /// A consumer and its producer. The producer runs first, and the consumer reads its result.
    Where(Box<Concrete>, Box<Concrete>),
    /// A statement of the plan's tree.
    Statement(StatementId),
}

impl Concrete {
    /// The loops of a plan.
    ///
    /// # Panics
    /// If the plan has no statement.
    ///
    /// ```
    /// use sparsec_network::{Concrete, Network, Plan};
    /// let network = Network::parse("tensor A[9,9]\n tensor B[9,9]\n tensor x[9]
    ///     y(i) = A(i,j) * B(j,k) * x(k)")?;
    /// let plan = Plan::parse(&network, "workspace t dense
    ///     for j { for k { t += B[j,k] * x[k] }  for i { y[i] += A[j,i] * t } }")?;
    /// assert_eq!(Concrete::new(&plan).print(&network, &plan),
    ///     "forall(j, where(forall(i, y[i] += A[j,i] * t), forall(k, t += B[j,k] * x[k])))");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn new(plan: &Plan) -> Self {
        Self::of_items(&plan.items)
    }

    fn of_items(items: &[Item]) -> Self {
        let (last, before) = items.split_last().expect("a body has an item");
        let consumer = match last {
            Item::Loop(index, body) => Self::Forall(*index, Box::new(Self::of_items(body))),
            Item::Statement(id) => Self::Statement(*id),
        };
        match before.is_empty() {
            true => consumer,
            false => Self::Where(Box::new(consumer), Box::new(Self::of_items(before))),
        }
    }

    /// The items of a plan with this structure.
    pub fn items(&self) -> Vec<Item> {
        match self {
            Self::Forall(index, body) => vec![Item::Loop(*index, body.items())],
            Self::Statement(id) => vec![Item::Statement(*id)],
            Self::Where(consumer, producer) => {
                let mut items = producer.items();
                items.extend(consumer.items());
                items
            }
        }
    }

    /// The text on one line, with references as the plan has them.
    pub fn print(&self, network: &Network, plan: &Plan) -> String {
        match self {
            Self::Forall(index, body) => {
                let name = &network.variable(*index).name;
                format!("forall({name}, {})", body.print(network, plan))
            }
            Self::Where(consumer, producer) => {
                let consumer = consumer.print(network, plan);
                format!("where({consumer}, {})", producer.print(network, plan))
            }
            Self::Statement(id) => plan.print_statement(network, *id),
        }
    }

    /// Reads the text of a structure with the statements of `plan`.
    ///
    /// # Errors
    /// `E0906` if a statement is none of the plan's, `E0101` for other text.
    pub fn parse(network: &Network, plan: &Plan, text: &str) -> Result<Self> {
        let source = Source::new("concrete", text);
        let mut tokens = Tokens::new(&source, SYMBOLS)?;
        let reader = Reader {
            source: &source,
            network,
            statements: plan
                .tree
                .statements()
                .map(|(id, _)| (squeezed(&plan.print_statement(network, id)), id))
                .collect(),
        };
        let concrete = reader.take(&mut tokens, 0)?;
        tokens.expect_end()?;
        Ok(concrete)
    }
}

struct Reader<'a> {
    source: &'a Source,
    network: &'a Network,
    /// By their text without spaces.
    statements: Vec<(String, StatementId)>,
}

impl Reader<'_> {
    fn fault(&self, message: String, span: Span) -> Diagnostic {
        Diagnostic::new(code::NETWORK_PLAN, message).at(self.source, span, "here")
    }

    fn take(&self, tokens: &mut Tokens, depth: usize) -> Result<Concrete> {
        let start = tokens.peek().span;
        if depth > MAX_DEPTH {
            return Err(self.fault(format!("nested deeper than {MAX_DEPTH}"), start));
        }
        let is_call = tokens.at_nth(1, "(");
        if is_call && tokens.eat("forall") {
            tokens.expect("(")?;
            let (name, span) = tokens.name("an index variable")?;
            let Some(index) = self.network.index_named(&name) else {
                return Err(self.fault(format!("no index variable is named `{name}`"), span));
            };
            tokens.expect(",")?;
            let body = self.take(tokens, depth + 1)?;
            tokens.expect(")")?;
            return Ok(Concrete::Forall(index, Box::new(body)));
        }
        if is_call && tokens.eat("where") {
            tokens.expect("(")?;
            let consumer = self.take(tokens, depth + 1)?;
            tokens.expect(",")?;
            let producer = self.take(tokens, depth + 1)?;
            tokens.expect(")")?;
            return Ok(Concrete::Where(Box::new(consumer), Box::new(producer)));
        }
        self.take_statement(tokens)
    }

    /// Takes tokens up to a `,` or `)` outside of brackets.
    fn take_statement(&self, tokens: &mut Tokens) -> Result<Concrete> {
        let mut span = tokens.peek().span;
        let mut in_brackets = false;
        while !tokens.at_end() && (in_brackets || !(tokens.at(",") || tokens.at(")"))) {
            in_brackets = match () {
                () if tokens.at("[") => true,
                () if tokens.at("]") => false,
                () => in_brackets,
            };
            span = span.to(tokens.take().span);
        }
        let text = squeezed(self.source.slice(span));
        let found = self.statements.iter().find(|(known, _)| *known == text);
        match found {
            Some((_, id)) => Ok(Concrete::Statement(*id)),
            None => Err(self.fault("no statement of this plan".to_owned(), span)),
        }
    }
}

/// The text without white space.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE_5: &str = "workspace X dense workspace Y dense
        for r, j {
          for p, q, i { X[q,i] += A[p,q,i] * B[r,j,p] }
          for q, k, i { Y[k,i] += X[q,i] * C[r,q,k] }
          for k, i { R[j,k,i] += Y[k,i] * D[r,j,k] }
        }";

    fn figure_5() -> (Network, Plan) {
        let network = Network::parse(
            "tensor A[9,9,9]\n tensor B[9,9,9]\n tensor C[9,9,9]\n tensor D[9,9,9]
            R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)",
        )
        .unwrap();
        let plan = Plan::parse(&network, FIGURE_5).unwrap();
        (network, plan)
    }

    #[test]
    fn the_paper_example_has_the_papers_structure() {
        let (network, plan) = figure_5();
        let concrete = Concrete::new(&plan);
        assert_eq!(
            concrete.print(&network, &plan),
            "forall(r, forall(j, where(\
                forall(k, forall(i, R[j,k,i] += Y[k,i] * D[r,j,k])), \
                where(forall(q, forall(k, forall(i, Y[k,i] += X[q,i] * C[r,q,k]))), \
                forall(p, forall(q, forall(i, X[q,i] += A[p,q,i] * B[r,j,p])))))))"
        );
        assert_eq!(concrete.items(), plan.items);
    }

    #[test]
    fn what_is_printed_parses_back() {
        let (network, plan) = figure_5();
        let concrete = Concrete::new(&plan);
        let text = concrete.print(&network, &plan);
        assert_eq!(Concrete::parse(&network, &plan, &text).unwrap(), concrete);
        for (from, to) in [
            ("forall(r", "forall(z"),
            ("Y[k,i] * D", "Y[i,k] * D"),
            (")))))))", ""),
            ("forall(k, forall(i, R[j,k,i] += Y[k,i] * D[r,j,k])), ", ""),
        ] {
            let text = text.replacen(from, to, 1);
            let error = Concrete::parse(&network, &plan, &text).expect_err(&text);
            assert!([code::NETWORK_PLAN, code::UNEXPECTED_TOKEN].contains(&error.code()));
        }
        let deep = "where(".repeat(9999);
        assert!(Concrete::parse(&network, &plan, &deep).is_err());
    }
}
