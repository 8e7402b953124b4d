//! Random programs of MLIR print the same on every engine, with and without fused operations; see
//! [`sparsec_testing::mlir_random`].
//!
//! The kernel of each operation has the values of the reference evaluator. Where MLIR's
//! [tools](sparsec_testing::mlir_tools) are installed, its runner prints the same of each program,
//! or of the program with dense tensors alone. `SPARSEC_CASES=N` runs N programs of each kind,
//! those of the seeds from `SPARSEC_SEED` on.

use std::collections::BTreeMap;
use std::rc::Rc;

use sparsec::internals::index::TensorRole;
use sparsec::internals::mlir::Module;
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run::{self, FileContent, Host, Kernel};
use sparsec::internals::reference;
use sparsec::{
    Backend, Diagnostic, ElementType, Entries, Format, Options, Result, Session, Source, Tensor,
    code,
};
use sparsec_testing::mlir::printed;
use sparsec_testing::mlir_random::{of_all_shapes, program, without_encodings};
use sparsec_testing::mlir_tools::Tools;

/// Programs without `SPARSEC_CASES`.
const CASES: u64 = 40;

/// The output of a program whose operations are computed one by one, and how many kernels there
/// were of several.
fn printed_apart(module: &Module) -> Result<(String, usize)> {
    let mut output = Vec::new();
    let mut host = Apart {
        host: SessionHost::new(Session::interpreter(), &mut output),
        n_fused: 0,
    };
    mlir_run::run(module, "main", &mut host)?;
    let n_fused = host.n_fused;
    drop(host);
    Ok((String::from_utf8_lossy(&output).into_owned(), n_fused))
}

/// Compares the results of a kernel with those of the reference evaluator.
fn compare(kernel: &Kernel, operands: &[Rc<Tensor>], results: &[Tensor]) {
    let program = &kernel.program;
    let inputs = program.tensors.iter();
    let inputs = inputs.filter(|(_, data)| data.role == TensorRole::Input);
    let names = inputs.map(|(_, data)| data.name.clone());
    let known: BTreeMap<String, &Tensor> = names.zip(operands.iter().map(|it| &**it)).collect();
    for (number, result) in results.iter().enumerate() {
        let expected = reference::dense::evaluate_statement(program, number, &known);
        let expected = expected.unwrap_or_else(|fault| panic!("{program}\n{fault}"));
        if let Some(difference) = reference::compare(&expected, result) {
            panic!("{program}\n{difference}");
        }
    }
}

/// A host that refuses kernels of several operations, which are then computed one by one. It
/// compares kernels and conversions with the reference evaluator and the tensor before.
struct Apart<'a> {
    host: SessionHost<'a>,
    n_fused: usize,
}

impl Host for Apart<'_> {
    fn print(&mut self, text: &str) -> Result<()> {
        self.host.print(text)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        self.host.variable(name)
    }

    fn read(
        &mut self,
        path: &str,
        element: Option<ElementType>,
        mirrored: bool,
    ) -> Result<FileContent> {
        self.host.read(path, element, mirrored)
    }

    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()> {
        self.host.write(path, tensor)
    }

    fn write_entries(&mut self, path: Option<&str>, entries: Entries) -> Result<()> {
        self.host.write_entries(path, entries)
    }

    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>> {
        if kernel.n_inner > 0 {
            self.n_fused += 1;
            return Err(Diagnostic::new(code::NOT_RUN, "several operations").help("run one"));
        }
        let results = self.host.compute(kernel, operands)?;
        compare(kernel, operands, &results);
        Ok(results)
    }

    fn convert(&mut self, tensor: &Tensor, format: &Format) -> Result<Tensor> {
        let converted = self.host.convert(tensor, format)?;
        tensor.for_each_stored(|at, value| {
            assert_eq!(converted.get(at), value, "{format} at {at:?}")
        });
        converted
            .for_each_stored(|at, value| assert_eq!(tensor.get(at), value, "{format} at {at:?}"));
        Ok(converted)
    }

    fn seconds(&mut self) -> f64 {
        self.host.seconds()
    }
}

/// Output without the signs of zeros, which depend on whether an entry is stored.
fn without_signs(text: &str) -> String {
    let plain = |word: &str| match word.trim_end_matches(',') {
        "-0" => word.replace("-0", "0"),
        _ => word.to_owned(),
    };
    text.split_whitespace()
        .map(plain)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The number in an environment variable.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seeds of programs.
fn seeds() -> std::ops::Range<u64> {
    let first = number("SPARSEC_SEED").unwrap_or(11);
    first..first + number("SPARSEC_CASES").unwrap_or(CASES)
}

/// The output of a program on every engine, and how many kernels there were of several operations.
fn outcome(seed: u64, text: &str, compiled: &Session) -> (String, usize) {
    let fail = |what: &str| -> ! { panic!("seed {seed}: {what}\n{text}") };
    let module = Module::parse(&Source::new("random", text), None);
    let module = module.unwrap_or_else(|fault| fail(&fault.render(false)));
    if let Err(fault) = module.verify() {
        fail(&fault.render(false));
    }
    let run = |session: Session| {
        printed(&module, session, &[]).unwrap_or_else(|fault| fail(&fault.render(false)))
    };
    let ours = run(Session::interpreter());
    if run(compiled.clone()) != ours {
        fail("compiled kernels print otherwise");
    }
    let apart = printed_apart(&module);
    let (apart, n_fused) = apart.unwrap_or_else(|fault| fail(&fault.render(false)));
    if without_signs(&apart) != without_signs(&ours) {
        fail(&format!(
            "operations apart print\n{apart}\nand fused\n{ours}"
        ));
    }
    (ours, n_fused)
}

/// Whether MLIR runs a program, and prints the same.
fn is_printed_by(tools: &Tools, seed: u64, text: &str, ours: &str) -> bool {
    match tools.run(text, &[]) {
        Ok(theirs) if without_signs(&theirs) == without_signs(ours) => true,
        Ok(theirs) => {
            panic!("seed {seed}: MLIR prints\n{theirs}\nand sparsec\n{ours}\n{text}")
        }
        // Its pipeline does not lower all that it verifies.
        Err(_) => {
            if let Err(fault) = tools.verify(text) {
                panic!("seed {seed}: {fault}\n{text}");
            }
            false
        }
    }
}

#[test]
fn random_programs_print_what_the_reference_prints() {
    let tools = Tools::of_environment();
    let compiled = Session::new(Options::from_env().backend(Backend::Cranelift));
    let (mut n_left, mut n_kernels, mut n) = (0, 0, 0);
    for seed in seeds() {
        let text = program(seed);
        let (ours, n_fused) = outcome(seed, &text, &compiled);
        n_kernels += n_fused;
        n += 1;
        if let Some(tools) = &tools {
            n_left += usize::from(!is_printed_by(tools, seed, &text, &ours));
        }
    }
    assert!(n_kernels > n / 4, "{n_kernels} operations are fused");
    assert!(3 * n_left < n, "MLIR does not run {n_left} programs");
}

#[test]
fn programs_of_all_shapes_print_what_dense_ones_print() {
    let tools = Tools::of_environment();
    let compiled = Session::new(Options::from_env().backend(Backend::Cranelift));
    let (mut n_left, mut n_dense, mut n_kernels) = (0, 0, 0);
    for seed in seeds() {
        let text = of_all_shapes(seed);
        let (ours, n_fused) = outcome(seed, &text, &compiled);
        n_kernels += n_fused;
        let Some(dense) = without_encodings(&text) else {
            continue;
        };
        let (of_dense, _) = outcome(seed, &dense, &compiled);
        if without_signs(&of_dense) != without_signs(&ours) {
            panic!("seed {seed}: dense tensors print\n{of_dense}\nand sparse ones\n{ours}\n{text}");
        }
        n_dense += 1;
        if let Some(tools) = &tools {
            n_left += usize::from(!is_printed_by(tools, seed, &dense, &ours));
        }
    }
    assert!(
        n_kernels > 0 && n_dense > 0,
        "{n_kernels} kernels, {n_dense} programs"
    );
    assert!(
        3 * n_left < n_dense.max(3),
        "MLIR does not run {n_left} programs"
    );
}
