//! Random programs as calls of the program `sparsec`, with the expected answer.
//!
//! ```text
//! sparsec run 'Z(i) = sum{j}(A(i, j))' -f A=csr -t A=f32 -g A=random(…) -d i=3 -d j=4 --json
//! ```
//!
//! Only programs whose operands stand at index variables alone become calls: others
//! have extents that no option says.

use std::collections::BTreeSet;

use sparsec::internals::{Inputs, compile, generate_with};
use sparsec::{Code, PackOptions, Scalar, Session, Source, Tensor, UserFunction};

use super::expression::{NAMES, RESULTS, VARS};
use super::program::{Case, FUNCTIONS};

/// A call with the answer that the library gives.
#[derive(Debug)]
pub struct Call {
    /// The words behind `sparsec`.
    pub words: Vec<String>,
    /// Every result by its name, or the code of the error.
    pub answer: Result<Vec<(String, Tensor)>, Code>,
}

/// The call of a program, if options say all of it.
pub(crate) fn of(case: &Case, functions: &[UserFunction]) -> Option<Call> {
    if case.is_huge() || case.is_large() || !case.has_plain_operands() {
        return None;
    }
    let (request, inputs) = case.request(functions);
    let text = request.expression.text().to_owned();
    let mut words = vec!["run".to_owned(), text.clone()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let used: BTreeSet<&str> = text.split(|c| !is_word(c)).collect();
    for (function, definition) in functions.iter().zip(FUNCTIONS) {
        if text.contains(function.name()) {
            option("--define", definition.to_owned());
        }
    }
    for (var, extent) in VARS.iter().zip(case.extents()) {
        if used.contains(var) {
            option("-d", format!("{var}={extent}"));
        }
    }
    for (name, format) in RESULTS.iter().zip(case.formats()) {
        if let Some(format) = format {
            option("-f", format!("{name}={format}"));
        }
    }
    let mut given = Inputs::new();
    for (slot, extents) in case.shapes() {
        let (name, operand) = (NAMES[slot], case.operand(slot));
        let tensor = inputs.get(name)?;
        let is_one = tensor.format().n_parts() == 1;
        let fill = Some(tensor.fill()).filter(|fill| is_one && !fill.is_zero());
        let spec = operand.spec();
        let options = PackOptions {
            fill: Some(fill.unwrap_or(operand.element.zero())),
            ..PackOptions::default()
        };
        let source = Source::new("-g", spec.as_str());
        let format = tensor.format();
        // Wider where entries do not fit, and another where a matrix is not square.
        if operand.resolved(extents.len()).to_string() != format.to_string() {
            return None;
        }
        // Of some types there are no negative numbers, of some formats not all entries.
        let tensor = generate_with(&source, &extents, Some(format), operand.element, options);
        given.insert(name.to_owned(), tensor.ok()?);
        let clause = fill.map_or(String::new(), |fill| {
            format!(", fill {}", fill.to_c128().re)
        });
        option("-t", format!("{name}={}", operand.element));
        option("-f", format!("{name}={}{clause}", operand.format));
        option("-g", format!("{name}={spec}"));
    }
    if request.strict {
        words.push("--strict".to_owned());
    }
    words.extend(["--backend", "cranelift", "--json"].map(str::to_owned));
    let ran = compile(&request, &given)
        .and_then(|compiled| Session::interpreter().run(&compiled, &given));
    Some(Call {
        words,
        answer: ran
            .map(|outcome| outcome.tensors.into_iter().collect())
            .map_err(|error| error.code()),
    })
}

/// Whether the answer `value` is this scalar, as people read it.
pub fn reads_as(value: &str, scalar: Scalar) -> bool {
    match scalar.to_integer() {
        Some(integer) if scalar.element().is_integer() => value == integer.to_string(),
        _ if scalar.element().is_float() && scalar.to_f64().is_finite() => {
            value.parse() == Ok(scalar.to_f64())
        }
        _ => value == scalar.to_string(),
    }
}
