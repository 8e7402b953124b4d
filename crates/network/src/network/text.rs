//! Networks as text. The lines are described in [`network`](crate::network).

use std::fmt;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::{Named, Network, Tensor, TensorId};
use crate::fault::Fault;
use crate::reference::{self, Placed, SYMBOLS};
use crate::statistics::Projection;

impl Network {
    /// Reads a network.
    ///
    /// # Errors
    /// The codes of [`Fault`], each at its place, and `E0101` for text that is no network.
    ///
    /// ```
    /// let network = sparsec_network::Network::parse(
    ///     "tensor A[9, 9] entries 20\n tensor x[9]\n y(i) = A(i,j) * x(j)\n")?;
    /// assert_eq!(network.to_string(),
    ///     "tensor A[9, 9] entries 20\ntensor x[9]\ny(i) = A(i,j) * x(j)\n");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let source = Source::new("network", text);
        let mut tokens = Tokens::new(&source, SYMBOLS)?;
        let network = Self::take(&mut tokens)?;
        tokens.expect_end()?;
        Ok(network)
    }

    /// Reads a network and leaves the cursor behind it.
    pub(crate) fn take(tokens: &mut Tokens) -> Result<Self> {
        let mut facts = Facts::default();
        while facts.take(tokens)? {}
        let result = reference::take(tokens, "(")?;
        tokens.expect("=")?;
        let product = reference::take_product(tokens, "(")?;
        let operands: Vec<Named> = product.iter().map(|placed| placed.named.clone()).collect();
        let declared = facts.tensors.iter().map(|(tensor, _)| tensor.clone());
        let source = tokens.source();
        let mut network = Self::new(declared.collect(), &result.named, &operands)
            .map_err(|fault| placed(&fault, source, &facts, &result, &product))?;
        for (pairs, ends, span) in &facts.matches {
            let mut found = Vec::new();
            for (name, mode) in ends {
                let tensor = network.tensor_named(name).ok_or_else(|| {
                    Diagnostic::new(code::UNKNOWN_TENSOR, format!("no tensor is named `{name}`"))
                        .at(source, *span, "in this match")
                })?;
                found.push((tensor, *mode));
            }
            network
                .add_match(found[0], found[1], *pairs)
                .map_err(|fault| fault.diagnostic().at(source, *span, "this match"))?;
        }
        Ok(network)
    }
}

type End = (String, usize);

#[derive(Default)]
struct Facts {
    tensors: Vec<(Tensor, Span)>,
    matches: Vec<(f64, [End; 2], Span)>,
}

impl Facts {
    /// Takes one line of facts, if there is one.
    fn take(&mut self, tokens: &mut Tokens) -> Result<bool> {
        if tokens.at_nth(1, "(") || tokens.at_nth(1, "=") {
            return Ok(false);
        }
        if tokens.eat("tensor") {
            let tensor = take_tensor(tokens)?;
            self.tensors.push(tensor);
        } else if tokens.eat("project") {
            self.take_projection(tokens)?;
        } else if tokens.eat("match") {
            let start = tokens.peek_before();
            let left = take_end(tokens)?;
            let right = take_end(tokens)?;
            tokens.expect(":")?;
            let (pairs, end) = reference::take_number(tokens)?;
            self.matches.push((pairs, [left, right], start.to(end)));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn take_projection(&mut self, tokens: &mut Tokens) -> Result<()> {
        let (name, span) = tokens.name("a tensor")?;
        let modes = take_modes(tokens)?;
        tokens.expect(":")?;
        let tuples = tokens.integer("a number of tuples")?.0;
        tokens.expect("tuples")?;
        tokens.expect(",")?;
        let largest = tokens
            .integer("the largest number of entries with one tuple")?
            .0;
        tokens.expect("largest")?;
        tokens.expect(",")?;
        let squares = reference::take_number(tokens)?.0;
        tokens.expect("squares")?;
        let found = self
            .tensors
            .iter_mut()
            .find(|(tensor, _)| tensor.name == name);
        let Some((tensor, _)) = found else {
            return Err(Diagnostic::new(
                code::UNKNOWN_TENSOR,
                format!("no tensor is named `{name}`"),
            )
            .at(tokens.source(), span, "not declared before this line"));
        };
        tensor.statistics.insert(Projection {
            modes,
            tuples,
            largest,
            squares,
        });
        Ok(())
    }
}

fn take_tensor(tokens: &mut Tokens) -> Result<(Tensor, Span)> {
    let (name, span) = tokens.name("a tensor")?;
    let mut tensor = Tensor::dense(name, &[]);
    if tokens.eat("[") {
        loop {
            tensor.extents.push(tokens.integer("an extent")?.0);
            if !tokens.eat(",") {
                break;
            }
        }
        tokens.expect("]")?;
    }
    loop {
        if tokens.eat("entries") {
            tensor.entries = Some(tokens.integer("a number of entries")?.0);
        } else if tokens.eat("layout") {
            let mut layout = vec![take_mode(tokens)?];
            while tokens.eat(",") {
                layout.push(take_mode(tokens)?);
            }
            tensor.layout = Some(layout);
        } else if tokens.eat("mask") {
            tensor.mask = true;
        } else {
            return Ok((tensor, span));
        }
    }
}

fn take_mode(tokens: &mut Tokens) -> Result<usize> {
    let (mode, _) = tokens.integer("a mode")?;
    Ok(usize::try_from(mode).unwrap_or(usize::MAX))
}

fn take_modes(tokens: &mut Tokens) -> Result<Vec<usize>> {
    tokens.expect("[")?;
    let mut modes = vec![take_mode(tokens)?];
    while tokens.eat(",") {
        modes.push(take_mode(tokens)?);
    }
    tokens.expect("]")?;
    Ok(modes)
}

/// Takes `A[1]`, a tensor and one of its modes.
fn take_end(tokens: &mut Tokens) -> Result<End> {
    let (name, _) = tokens.name("a tensor")?;
    tokens.expect("[")?;
    let mode = take_mode(tokens)?;
    tokens.expect("]")?;
    Ok((name, mode))
}

/// The diagnostic of a fault, at its place.
fn placed(
    fault: &Fault,
    source: &Source,
    facts: &Facts,
    result: &Placed,
    product: &[Placed],
) -> Diagnostic {
    let diagnostic = fault.diagnostic();
    let declaration = |name: &str| {
        let mut found = facts
            .tensors
            .iter()
            .rev()
            .filter(|(tensor, _)| tensor.name == name);
        found.next().map_or(result.span, |(_, span)| *span)
    };
    let mode_of = |reference: &Placed, name: &str| {
        let place = reference.named.indices.iter().rposition(|own| own == name);
        place.map_or(reference.span, |place| reference.indices[place])
    };
    match fault {
        Fault::TooLarge { .. } | Fault::Tree { .. } => {
            diagnostic.at(source, result.span, "this network")
        }
        Fault::DeclaredTwice { tensor } | Fault::BadFact { tensor, .. } => {
            diagnostic.at(source, declaration(tensor), "declared here")
        }
        Fault::UnknownTensor { operand, .. } => {
            diagnostic.at(source, product[*operand].span, "not declared")
        }
        Fault::WrongOrder { operand, order, .. } => diagnostic.at(
            source,
            product[*operand].span,
            format!("declared with {order} extents"),
        ),
        Fault::TwoExtents { first, second, .. } => {
            let label = |(operand, mode, extent): (usize, usize, u64)| {
                let reference = &product[operand];
                let text = format!(
                    "mode {mode} of `{}` has extent {extent}",
                    reference.named.tensor
                );
                (reference.indices[mode], text)
            };
            let (first, second) = (label(*first), label(*second));
            diagnostic
                .at(source, second.0, second.1)
                .also(source, first.0, first.1)
        }
        Fault::Repeated { operand, index } => {
            let reference = operand.map_or(result, |operand| &product[operand]);
            diagnostic.at(source, mode_of(reference, index), "again")
        }
        Fault::ResultIndex { index } => diagnostic.at(
            source,
            mode_of(result, index),
            format!("no operand has `{index}`"),
        ),
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, tensor) in self.tensors() {
            write_tensor(f, tensor)?;
        }
        let name = |tensor: TensorId| &self.tensor(tensor).name;
        for found in self.matches() {
            let (left, right) = (found.left, found.right);
            writeln!(
                f,
                "match {}[{}] {}[{}]: {}",
                name(left.0),
                left.1,
                name(right.0),
                right.1,
                found.pairs
            )?;
        }
        writeln!(f, "{}", self.equation())
    }
}

impl Network {
    /// The product alone, without facts: `y(i) = A(i,j) * x(j)`.
    pub fn equation(&self) -> String {
        let product: Vec<String> = self
            .operands()
            .map(|(_, operand)| {
                let name = &self.tensor(operand.tensor).name;
                reference::print(self, name, &operand.indices, '(')
            })
            .collect();
        let result = self.result();
        let result = reference::print(self, &result.name, &result.indices, '(');
        format!("{result} = {}", product.join(" * "))
    }
}

fn write_tensor(f: &mut fmt::Formatter<'_>, tensor: &Tensor) -> fmt::Result {
    let list = |numbers: &[usize]| {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    };
    write!(f, "tensor {}", tensor.name)?;
    if !tensor.extents.is_empty() {
        let extents: Vec<String> = tensor.extents.iter().map(u64::to_string).collect();
        write!(f, "[{}]", extents.join(", "))?;
    }
    if let Some(entries) = tensor.entries {
        write!(f, " entries {entries}")?;
    }
    if let Some(layout) = tensor.layout.as_ref().filter(|layout| !layout.is_empty()) {
        write!(f, " layout {}", list(layout))?;
    }
    if tensor.mask {
        write!(f, " mask")?;
    }
    writeln!(f)?;
    for projection in tensor.statistics.projections() {
        writeln!(
            f,
            "project {}[{}]: {} tuples, {} largest, {} squares",
            tensor.name,
            list(&projection.modes),
            projection.tuples,
            projection.largest,
            projection.squares
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sparsec_base::arena::Id;

    use super::*;

    const DLPNO: &str = "\
tensor I[700, 300, 300] entries 21470400
tensor C[300, 100] entries 7032
project C[0]: 300 tuples, 40 largest, 170000 squares
tensor P[300, 300] entries 89820 layout 1, 0
tensor L[700, 100] entries 3220 mask
match C[1] L[1]: 226430
E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)
";

    #[test]
    fn what_is_printed_parses_back() {
        let network = Network::parse(DLPNO).unwrap();
        assert_eq!(network.to_string(), DLPNO);
        assert_eq!(Network::parse(&network.to_string()).unwrap(), network);
        let scalar = "tensor a[4]\ns = a(i) * a(i)\n";
        assert_eq!(Network::parse(scalar).unwrap().to_string(), scalar);
    }

    fn refused(text: &str, expected: code::Code, under: &str) {
        let error = Network::parse(text).expect_err(text);
        assert_eq!(error.code(), expected, "{error}");
        let label = error.labels().iter().find(|label| label.primary).unwrap();
        let line = text[..label.span.start as usize].lines().count();
        assert_eq!(
            label.source.slice(label.span),
            under,
            "line {line}: {error}"
        );
    }

    #[test]
    fn faults_have_a_code_and_a_place() {
        refused(
            "tensor A[8, 4]\ntensor B[5, 2]\nC(i,j) = A(i,k) * B(k,j)",
            code::EXTENT_MISMATCH,
            "k",
        );
        refused("tensor A[8]\ny(i,z) = A(i)", code::NETWORK_RESULT, "z");
        refused(
            "tensor A[8]\ny(i) = A(i) * B(i)",
            code::UNKNOWN_TENSOR,
            "B(i)",
        );
        refused("tensor A[8]\ny(i) = A(i,j)", code::WRONG_ORDER, "A(i,j)");
        refused("tensor A[8,8]\ns = A(i,i)", code::NETWORK_REPEATED, "i");
        refused("tensor A[8] entries 9\ns = A(i)", code::NETWORK_FACT, "A");
        refused("tensor A[8] layout 1\ns = A(i)", code::NETWORK_FACT, "A");
        refused(
            "tensor A[8]\ntensor A[8]\ns = A(i)",
            code::NETWORK_FACT,
            "A",
        );
        refused(
            "tensor A[8]\nmatch A[0] A[3]: 7\ns = A(i)",
            code::NETWORK_FACT,
            "match A[0] A[3]: 7",
        );
        let many = format!("tensor a\ns = a{}", " * a".repeat(128));
        refused(&many, code::NETWORK_SIZE, "s");
    }

    #[test]
    fn parts_are_found() {
        let network =
            Network::parse("tensor a[4]\ntensor B[3,5]\nr(i,k) = a(i) * B(j,k) * a(i) * B(j,l)");
        let parts = network.unwrap().parts();
        let parts: Vec<u128> = parts.into_iter().map(crate::set::Set::bits).collect();
        assert_eq!(parts, [0b0101, 0b1010]);
    }

    #[test]
    fn ids_follow_the_operands() {
        let network = Network::parse("tensor A[2,3]\nr(j,i) = A(i,j)").unwrap();
        assert_eq!(network.index_named("i").map(Id::index), Some(0));
    }
}
