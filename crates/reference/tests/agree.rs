//! Random programs on random tensors: the evaluator that joins gives what the
//! one that visits every point does.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec_base::{Scalar, Source};
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_reference::{CoordinateMap, compare, compare_exact, dense, evaluate};
use sparsec_tensor::{Array, Duplicates, Entries, Format, PackOptions, Tensor};

/// Choices drawn from a list of bytes; zeros when it is used up, which choose
/// the simplest. So shorter lists and smaller bytes are simpler programs.
struct Choices<'b>(std::slice::Iter<'b, u8>);

impl Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % n
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

/// Orders by name: letters are of one type within a test.
const TENSORS: [(&str, usize); 8] = [
    ("s", 0),
    ("b", 1),
    ("c", 1),
    ("d", 1),
    ("A", 2),
    ("B", 2),
    ("T", 3),
    ("m", 1),
];

struct Writer<'b> {
    choices: Choices<'b>,
    /// Tensors of earlier statements.
    known: Vec<(String, usize)>,
    n_bound: usize,
}

impl Writer<'_> {
    fn program(&mut self) -> String {
        let n = 1 + self.choices.below(3);
        let statements = (0..n).map(|number| {
            let vars = self.choices.one(&["i", "i,j", "", "j,i", "i,j,p"]);
            let scope: Vec<String> = vars
                .split(',')
                .filter(|v| !v.is_empty())
                .map(Into::into)
                .collect();
            let depth = 1 + self.choices.below(4);
            let rhs = self.expr(&scope, depth);
            self.known.push((format!("R{number}"), scope.len()));
            format!("R{number}({vars}) = {rhs}")
        });
        statements.collect::<Vec<_>>().join("; ")
    }

    fn expr(&mut self, scope: &[String], depth: usize) -> String {
        if depth == 0 {
            return self.leaf(scope);
        }
        match self.choices.below(12) {
            0 => self.leaf(scope),
            1..=6 => {
                let op = self.choices.one(&["*", "+", "-", "*", "+", "/", "//", "%"]);
                let left = self.expr(scope, depth - 1);
                format!("({left} {op} {})", self.expr(scope, depth - 1))
            }
            7 => {
                let name = self
                    .choices
                    .one(&["abs", "-", "relu", "sign", "i64", "f32", "floor"]);
                format!("{name}({})", self.expr(scope, depth - 1))
            }
            8 => {
                let name = self.choices.one(&["min", "max"]);
                let left = self.expr(scope, depth - 1);
                format!("{name}({left}, {})", self.expr(scope, depth - 1))
            }
            9 => {
                let op = self.choices.one(&["<", "==", "!=", ">="]);
                let args = [0; 4].map(|_| self.expr(scope, depth - 1));
                let [a, b, c, d] = args;
                format!("select({a} {op} {b}, {c}, {d})")
            }
            _ => {
                let name = self.choices.one(&["sum", "max", "min", "prod"]);
                let var = format!("k{}", self.n_bound);
                self.n_bound += 1;
                let inner: Vec<String> = scope.iter().cloned().chain([var.clone()]).collect();
                let product = self.access(&inner, Some(&var));
                let op = self.choices.one(&["*", "+", "-"]);
                let body = format!("{product} {op} {}", self.expr(&inner, depth - 1));
                format!("{name}{{{var}}}({body})")
            }
        }
    }

    fn leaf(&mut self, scope: &[String]) -> String {
        match self.choices.below(6) {
            5 => self.choices.one(&["0", "1", "2", "-1", "0.5"]).to_owned(),
            _ => self.access(scope, None),
        }
    }

    /// A tensor with variables in scope, `last` for its last mode.
    fn access(&mut self, scope: &[String], last: Option<&str>) -> String {
        let known = self
            .known
            .iter()
            .map(|(name, order)| (name.clone(), *order));
        let named = TENSORS.map(|(name, order)| (name.to_owned(), order));
        let fits = |order: usize| match last {
            Some(_) => order > 0,
            None => order == 0 || !scope.is_empty(),
        };
        let all: Vec<(String, usize)> = named
            .into_iter()
            .chain(known)
            .filter(|(_, n)| fits(*n))
            .collect();
        let (name, order) = &all[self.choices.below(all.len())];
        let mut vars: Vec<String> = (0..*order)
            .map(|_| scope[self.choices.below(scope.len())].clone())
            .collect();
        if let (Some(last), Some(place)) = (last, vars.last_mut()) {
            *place = last.to_owned();
        }
        format!("{name}({})", vars.join(","))
    }
}

/// A tensor in some format, with stored zeros and other fills than zero.
fn tensor(choices: &mut Choices<'_>, order: usize, extent: u64) -> Tensor {
    let all = extent.pow(order as u32);
    let density = choices.below(4);
    let mut coords = Vec::new();
    let mut numbers: Vec<i64> = Vec::new();
    for place in 0..all {
        if choices.below(3) < density {
            coords.extend(
                (0..order as u32)
                    .rev()
                    .map(|mode| place / extent.pow(mode) % extent),
            );
            numbers.push(choices.below(6) as i64 - 2);
        }
    }
    let values = match choices.below(3) {
        0 => Array::from_vec(numbers.iter().map(|v| *v as f64).collect()),
        1 => Array::from_vec(numbers),
        _ => Array::from_vec(numbers.iter().map(|v| *v as i32).collect::<Vec<_>>()),
    };
    let fill = [0, 0, 0, 1, -1][choices.below(5)];
    let options = PackOptions {
        fill: Some(Scalar::from_i64(values.element(), fill)),
        duplicates: Duplicates::Add,
        ..PackOptions::default()
    };
    let extents = vec![extent; order];
    let entries = Entries {
        extents,
        coords: coords.into(),
        values,
    };
    Tensor::pack_entries(&format(choices, order), entries, options).unwrap()
}

fn format(choices: &mut Choices<'_>, order: usize) -> Format {
    match (choices.below(5), order) {
        (1, 2) => Format::csr(),
        (2, 2) => Format::csc(),
        (0 | 1, _) | (_, 0) => Format::dense(order),
        (2, _) => Format::coo(order),
        _ => Format::csf(order),
    }
}

fn near(a: Scalar, b: Scalar) -> bool {
    let (x, y) = (a.to_f64(), b.to_f64());
    let relative = if a.element().is_float() { 1e-6 } else { 0.0 };
    x == y
        || (x.is_nan() && y.is_nan())
        || (x - y).abs() <= relative * x.abs().max(y.abs()).max(1.0)
}

fn agree(a: &CoordinateMap, b: &CoordinateMap) -> bool {
    let entries = std::iter::zip(a.iter(), b.iter());
    a.len() == b.len()
        && near(a.fill(), b.fill())
        && entries
            .into_iter()
            .all(|((at, a), (other, b))| at == other && near(a, b))
}

/// The result as a tensor in a format of choice.
fn packed(map: &CoordinateMap, format: &Format) -> Tensor {
    let mut values = Array::filled(map.fill(), map.len()).unwrap();
    let mut coords = Vec::new();
    for (n, (at, value)) in map.iter().enumerate() {
        coords.extend_from_slice(at);
        values.set(n, value);
    }
    let entries = Entries {
        extents: map.extents().to_vec(),
        coords: coords.into(),
        values,
    };
    let options = PackOptions {
        fill: Some(map.fill()),
        ..PackOptions::default()
    };
    Tensor::pack_entries(format, entries, options).unwrap()
}

/// What happened to one random program.
#[derive(PartialEq, Debug)]
enum Outcome {
    Refused,
    Failed,
    Agreed,
}

fn try_one(bytes: &[u8]) -> Result<Outcome, TestCaseError> {
    let mut writer = Writer {
        choices: Choices(bytes.iter()),
        known: Vec::new(),
        n_bound: 0,
    };
    let text = writer.program();
    let mut choices = writer.choices;
    let extent = [2, 3, 1, 0][choices.below(4)];
    let Ok(notation) = Notation::parse(&Source::new("expression", text.clone())) else {
        return Err(TestCaseError::fail(format!("`{text}` does not parse")));
    };
    let mut inputs = BTreeMap::new();
    let mut declarations = Declarations::new();
    // Only variables that the program has may be given an extent.
    for var in ["i", "j", "p"] {
        let on_the_left = |statement: &str| {
            statement
                .split_once('=')
                .is_some_and(|(l, _)| l.contains(var))
        };
        if text.split(';').any(on_the_left) {
            declarations.set_extent(var, extent);
        }
    }
    for named in notation
        .tensor_names()
        .iter()
        .filter(|named| !named.written)
    {
        let (name, order) = TENSORS
            .iter()
            .find(|(name, _)| *name == named.name)
            .unwrap();
        let tensor = tensor(&mut choices, *order, extent);
        let declaration = Declaration {
            fill: Some(tensor.fill()),
            ..Declaration::with_extents(tensor.extents()).of(tensor.element())
        };
        declarations.declare(*name, declaration);
        inputs.insert((*name).to_owned(), tensor);
    }
    let Ok(program) = notation.resolve(&declarations) else {
        return Ok(Outcome::Refused);
    };
    let shown = format!("{program}\n{inputs:#?}");
    let (sparse, dense) = match (
        evaluate(&program, &inputs),
        dense::evaluate(&program, &inputs),
    ) {
        (Ok(sparse), Ok(dense)) => (sparse, dense),
        (Err(sparse), Err(dense)) => {
            // Of several failures either may be met first.
            let codes = ["E0511", "E0512"];
            for error in [sparse, dense] {
                prop_assert!(codes.contains(&error.code().as_str()), "{error}");
            }
            return Ok(Outcome::Failed);
        }
        (sparse, dense) => {
            let report = format!("{shown}\nsparse: {sparse:?}\ndense: {dense:?}");
            return Err(TestCaseError::fail(report));
        }
    };
    for (name, expected) in &dense {
        let found = &sparse[name];
        prop_assert!(
            agree(expected, found),
            "{name}: {found} is not {expected}\n{shown}"
        );
        let format = format(&mut choices, expected.extents().len());
        let tensor = packed(expected, &format);
        prop_assert_eq!(compare(found, &tensor), None);
        prop_assert_eq!(compare_exact(expected, &tensor), None);
    }
    Ok(Outcome::Agreed)
}

#[test]
fn both_evaluators_agree() {
    let cases = std::env::var("SPARSEC_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let config = ProptestConfig {
        cases: cases.unwrap_or(3000),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcomes = std::cell::RefCell::new(Vec::new());
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config.clone(),
        proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm),
    );
    let bytes = proptest::collection::vec(any::<u8>(), 0..240);
    let result = runner.run(&bytes, |bytes| {
        let outcome = try_one(&bytes)?;
        outcomes.borrow_mut().push(outcome);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let n = |outcome| outcomes.borrow().iter().filter(|o| **o == outcome).count();
    let (refused, agreed) = (n(Outcome::Refused), n(Outcome::Agreed));
    assert!(
        agreed > refused,
        "{agreed} programs compared, {refused} refused"
    );
}
