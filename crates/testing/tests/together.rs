//! Statements over one operand, which the same loops compute.
//!
//! Random programs of two and three statements give what the reference evaluator says, whether planning
//! computes them together, a schedule says so, or each is alone: by the interpreter, as machine
//! code and as C. Statements that read one another's results never share loops.

use sparsec::internals::runtime::Environment;
use sparsec::internals::{Compiled, Inputs, Outcome, Request, compile, reference};
use sparsec::{Backend, Format, FormatSpec, Options, Session, Source, Stage, Tensor};

const EXTENTS: [u64; 3] = [7, 9, 4];

/// Right sides with the modes of their results. `P` is the result before, over `i`.
const FORMS: [(&str, &str); 14] = [
    ("i", "A(i,j) * x(j)"),
    ("j", "A(i,j) * y(i)"),
    ("i", "A(i,j)"),
    ("i", "A(i,j) * A(i,j)"),
    ("j", "2 * A(i,j) - B(i,j)"),
    ("", "A(i,j) * x(j)"),
    ("", "A(i,j) * B(i,j)"),
    ("i,k", "A(i,j) * D(j,k)"),
    ("j,k", "A(i,j) * E(i,k)"),
    ("i,j", "A(i,j) + B(i,j)"),
    ("i", "max{j}(A(i,j) * x(j))"),
    ("i", "y(i) - A(i,j) * x(j)"),
    ("i", "select(y(i) > 0, sum{j}(A(i,j) * x(j)), 0)"),
    ("j", "A(i,j) * P(i)"),
];

const FORMATS: [&str; 9] = [
    "csr",
    "csr",
    "csc",
    "dense",
    "dcsr",
    "scoo",
    "coo",
    "ell",
    "(i, j) -> (i : dense, j : bitmap)",
];

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Small integers, whose sums are exact in any order.
    fn tensor(&mut self, extents: &[u64], format: &Format) -> Tensor {
        let share = self.pick(&[0, 2, 5]);
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for mut place in 0..extents.iter().product() {
            let is_stored = format.is_all_dense() || self.below(8) < share;
            if !is_stored {
                continue;
            }
            let mut entry = Vec::new();
            for extent in extents.iter().rev() {
                entry.push(place % extent);
                place /= extent;
            }
            coords.extend(entry.into_iter().rev());
            values.push(self.below(7) as f64 - 3.0);
        }
        let tensor = Tensor::pack(format, extents, &coords, &values);
        tensor.expect("entries within the extents")
    }
}

/// A program with the names of its results and their statements.
struct Case {
    statements: Vec<(String, String)>,
    inputs: Inputs,
}

impl Case {
    fn of(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let mut statements: Vec<(String, String)> = Vec::new();
        let mut before: Option<String> = None;
        for number in 0..2 + numbers.below(2) {
            let (modes, rhs) = numbers.pick(&FORMS);
            let rhs = match &before {
                Some(before) => rhs.replace("P(", &format!("{before}(")),
                None => rhs.replace("P(", "y("),
            };
            let name = format!("R{number}");
            let lhs = match modes {
                "" => name.clone(),
                _ => format!("{name}({modes})"),
            };
            statements.push((name.clone(), format!("{lhs} = {rhs}")));
            before = (modes == "i").then_some(name).or(before);
        }
        let text: String = statements.iter().map(|(_, text)| text.as_str()).collect();
        let [m, n, k] = EXTENTS;
        let mut inputs = Inputs::new();
        let operands: [(&str, &[u64]); 6] = [
            ("A", &[m, n]),
            ("B", &[m, n]),
            ("D", &[n, k]),
            ("E", &[m, k]),
            ("x", &[n]),
            ("y", &[m]),
        ];
        for (name, extents) in operands {
            let format = match extents.len() {
                2 if name < "C" => numbers.pick(&FORMATS),
                _ => "dense",
            };
            let spec = FormatSpec::parse(&Source::new("format", format));
            let format = spec.and_then(|spec| spec.resolve(extents.len()));
            let tensor = numbers.tensor(extents, &format.expect("a format"));
            if text.contains(&format!("{name}(")) {
                inputs.insert(name.to_owned(), tensor);
            }
        }
        Self { statements, inputs }
    }

    fn text(&self) -> String {
        let statements = self.statements.iter().map(|(_, text)| text.as_str());
        statements.collect::<Vec<_>>().join("\n")
    }

    fn compiled(&self, schedule: Option<&str>) -> sparsec::Result<Compiled> {
        let text = self.text();
        let mut request = Request::new(Source::new("program", text.as_str()));
        for (name, _) in &self.statements {
            request.set_format(name, "dense")?;
        }
        request.schedule = schedule.map(|text| Source::new("schedule", text));
        compile(&request, &self.inputs)
    }

    /// Runs the program, and compares every result.
    fn check(&self, compiled: &Compiled, session: &Session) -> Result<Outcome, String> {
        let schedule = compiled.emit(&Stage::Schedule).expect("a stage");
        let about = |what: &str| format!("{}\nby\n{schedule}{what}", self.text());
        let outcome = session.run(compiled, &self.inputs);
        let outcome = outcome.map_err(|error| about(&error.to_string()))?;
        let expected = reference::evaluate(compiled.resolved(), &self.inputs);
        let expected = expected.map_err(|error| about(&error.to_string()))?;
        for (name, _) in &self.statements {
            let found = &outcome.tensors[name];
            if let Some(difference) = reference::compare_exact(&expected[name], found) {
                return Err(about(&format!("{name}: {difference}")));
            }
        }
        Ok(outcome)
    }

    /// Whether a statement reads the result of an earlier one.
    fn is_chained(&self) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|(_, text)| {
            let (_, rhs) = text.split_once('=').expect("an assignment");
            rhs.contains('R')
        })
    }
}

fn sessions() -> [Session; 3] {
    let with = |backend| Session::new(Options::from_env().backend(backend));
    let environment = Environment::of_process();
    let c = Options::from_env().backend(Backend::C);
    [
        Session::interpreter(),
        with(Backend::Cranelift),
        Session::new(c.environment(environment)),
    ]
}

#[test]
fn statements_over_one_operand_are_what_the_reference_says() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|it| it.parse().ok());
    let n = cases.unwrap_or(150);
    let [interpreter, cranelift, c] = sessions();
    let (mut n_together, mut n_asked, mut n_refused) = (0, 0, 0);
    for seed in 0..n {
        let case = Case::of(seed);
        let compiled = case
            .compiled(None)
            .unwrap_or_else(|e| panic!("{}\n{e}", case.text()));
        let check = |compiled: &Compiled, session: &Session| {
            case.check(compiled, session)
                .unwrap_or_else(|why| panic!("seed {seed}: {why}"))
        };
        check(&compiled, &interpreter);
        check(&compiled, &cranelift);
        let schedule = compiled.emit(&Stage::Schedule).expect("a stage");
        let is_together = compiled.kernels().count() < compiled.statements().len();
        n_together += u64::from(is_together);
        if is_together && seed % 8 == 0 {
            check(&compiled, &c);
        }
        // The schedule that is printed is that of the plan.
        let again = case
            .compiled(Some(&schedule))
            .unwrap_or_else(|e| panic!("{schedule}{e}"));
        assert_eq!(
            again.emit(&Stage::Schedule).expect("a stage"),
            schedule,
            "seed {seed}"
        );
        // All in one, whatever it costs.
        let names: Vec<&str> = case
            .statements
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        match case.compiled(Some(&format!("{}:", names.join(", ")))) {
            Ok(asked) => {
                assert!(!case.is_chained(), "{}", case.text());
                // Parts of a statement may be others.
                let n_kernels = asked.statements().len() + 1 - names.len();
                assert_eq!(asked.kernels().count(), n_kernels);
                check(&asked, &interpreter);
                check(&asked, &cranelift);
                n_asked += 1;
            }
            Err(error) => {
                assert!(error.code().as_str().starts_with("E03"), "{error}");
                n_refused += 1;
            }
        }
    }
    assert!(
        n_together * 4 > n,
        "{n_together} of {n} have fewer kernels than statements"
    );
    assert!(
        n_asked > n_refused,
        "{n_asked} of {n} were planned as asked"
    );
}
