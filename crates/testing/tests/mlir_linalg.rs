//! Modules of `--emit linalg` have the values of the programs: run by sparsec, and by MLIR where its
//! [tools](sparsec_testing::mlir_tools) are installed.

use sparsec::internals::Inputs;
use sparsec::internals::mlir::Module;
use sparsec::{Session, Source, Stage, code};
use sparsec_testing::mlir_tools::Tools;
use sparsec_testing::{linalg, mlir, run, suite};

/// The most entries of an operand: programs have them as text.
const MOST_POINTS: u128 = 1 << 12;

/// Programs that MLIR runs to another result, with the reason.
const FAULTS: &[(&str, &str)] = &[(
    "formats/result-transposed.txt",
    "an operand that an operation reads in two orders is lost to the next operation",
)];

/// The name of a filetest, a program with a `main`, and the results that it prints.
struct Case {
    name: String,
    program: String,
    results: Vec<sparsec::Tensor>,
}

impl Case {
    fn compare(&self, printed: &str) -> Result<(), String> {
        let results: Vec<&sparsec::Tensor> = self.results.iter().collect();
        linalg::compare(printed, &results)
            .map_err(|error| format!("{}: {error}\n{}\n{printed}", self.name, self.program))
    }
}

/// The cases of all filetests of expressions that have a module.
fn cases() -> Vec<Case> {
    let mut found = Vec::new();
    for (name, file) in suite::expressions() {
        let Ok(cases) = run::inputs(&file) else {
            continue;
        };
        for (compiled, inputs) in cases {
            let module = match compiled.emit(&Stage::Linalg) {
                Ok(module) => module,
                Err(refusal) => {
                    let codes = [code::NO_GENERIC, code::NO_ENCODING, code::NOT_IN_RELEASE];
                    assert!(codes.contains(&refusal.code()), "{name}: {refusal}");
                    continue;
                }
            };
            let is_large = |tensor: &sparsec::Tensor| {
                let points = tensor.extents().iter().map(|extent| u128::from(*extent));
                points.product::<u128>() > MOST_POINTS
            };
            if inputs.values().any(is_large) {
                continue;
            }
            let outcome = Session::interpreter().run(&compiled, inputs.clone());
            let (Ok(outcome), Ok(program)) = (outcome, linalg::program(&module, &inputs)) else {
                // Without extents there are no entries to give.
                linalg::verified(&module).unwrap_or_else(|error| panic!("{name}: {error}"));
                continue;
            };
            let Some(results) = results(&compiled, &outcome.tensors) else {
                continue;
            };
            found.push(Case {
                name: name.clone(),
                program,
                results,
            });
        }
    }
    found
}

/// The results in the order of their last values; `None` if the outcome lacks one.
fn results(
    compiled: &sparsec::internals::Compiled,
    tensors: &Inputs,
) -> Option<Vec<sparsec::Tensor>> {
    let program = compiled.resolved();
    let statements = program.statements.iter();
    let data = statements.map(|statement| &program.tensors[statement.lhs.tensor]);
    let last = data.filter(|data| data.earlier_of.is_none());
    let tensor = |name: &str| Some(tensors.get(name)?.try_clone().expect("memory for a copy"));
    last.map(|data| tensor(&data.name)).collect()
}

#[test]
fn modules_have_the_values_of_programs() {
    let cases = cases();
    assert!(cases.len() > 100, "{} cases", cases.len());
    for case in &cases {
        let source = Source::new(case.name.as_str(), case.program.as_str());
        let module = Module::parse(&source, None).unwrap_or_else(|error| panic!("{error}"));
        module.verify().unwrap_or_else(|error| panic!("{error}"));
        let printed = mlir::printed(&module, Session::interpreter(), &[]);
        let printed = printed.unwrap_or_else(|error| panic!("{error}\n{}", case.program));
        case.compare(&printed)
            .unwrap_or_else(|error| panic!("sparsec: {error}"));
    }
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let (mut n_same, mut left, mut differ) = (0, Vec::new(), Vec::new());
    for case in &cases {
        match tools.run(&case.program, &[]) {
            Ok(printed) => match case.compare(&printed) {
                Ok(()) => n_same += 1,
                Err(_) if FAULTS.iter().any(|(known, _)| *known == case.name) => {}
                Err(error) => differ.push(error),
            },
            // Its pipeline does not lower all that it verifies.
            Err(error) => {
                tools
                    .verify(&case.program)
                    .unwrap_or_else(|error| panic!("{}: {error}\n{}", case.name, case.program));
                left.push((&case.name, error));
            }
        }
    }
    assert!(differ.is_empty(), "MLIR: {}", differ.join("\n\n"));
    #[expect(clippy::print_stderr, reason = "says what MLIR does not run")]
    for (name, error) in &left {
        eprintln!("{name}: {}", error.lines().next().unwrap_or_default());
    }
    assert!(
        n_same > 2 * left.len(),
        "{n_same} run, {} do not",
        left.len()
    );
}
