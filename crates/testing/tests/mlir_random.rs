//! Random programs of MLIR print the same on every engine, with and without fused operations; see
//! [`sparsec_testing::mlir_random`].
//!
//! Where MLIR's [tools](sparsec_testing::mlir_tools) are installed, its runner prints the same.
//! `SPARSEC_CASES=N` runs N programs, those of the seeds from `SPARSEC_SEED` on.

use std::rc::Rc;

use sparsec::internals::mlir::Module;
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run::{self, Host, Kernel};
use sparsec::{
    Backend, Diagnostic, ElementType, Entries, Format, Options, Result, Session, Source, Tensor,
    code,
};
use sparsec_testing::mlir::printed;
use sparsec_testing::mlir_random::program;
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

/// A host that refuses kernels of several operations, which are then computed one by one.
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

    fn read(&mut self, path: &str, element: ElementType, mirrored: bool) -> Result<Entries> {
        self.host.read(path, element, mirrored)
    }

    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()> {
        self.host.write(path, tensor)
    }

    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>> {
        if kernel.n_inner > 0 {
            self.n_fused += 1;
            return Err(Diagnostic::new(code::NOT_RUN, "several operations").help("run one"));
        }
        self.host.compute(kernel, operands)
    }

    fn convert(&mut self, tensor: &Tensor, format: &Format) -> Result<Tensor> {
        self.host.convert(tensor, format)
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

#[test]
fn random_programs_print_what_the_reference_prints() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases: u64 = number("SPARSEC_CASES").unwrap_or(CASES);
    let first: u64 = number("SPARSEC_SEED").unwrap_or(11);
    let tools = Tools::of_environment();
    let compiled = Session::new(Options::from_env().backend(Backend::Cranelift));
    let (mut n_left, mut n_kernels) = (0, 0);
    for seed in first..first + cases {
        let text = program(seed);
        let fail = |what: &str| -> ! { panic!("seed {seed}: {what}\n{text}") };
        let module = Module::parse(&Source::new("random", text.as_str()), None);
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
        let (apart, n_fused) =
            printed_apart(&module).unwrap_or_else(|fault| fail(&fault.render(false)));
        if without_signs(&apart) != without_signs(&ours) {
            fail(&format!(
                "operations apart print\n{apart}\nand fused\n{ours}"
            ));
        }
        n_kernels += n_fused;
        let Some(tools) = &tools else { continue };
        match tools.run(&text, &[]) {
            Ok(theirs) if without_signs(&theirs) == without_signs(&ours) => {}
            Ok(theirs) => fail(&format!("MLIR prints\n{theirs}\nand sparsec\n{ours}")),
            // Its pipeline does not lower all that it verifies.
            Err(_) => {
                if let Err(fault) = tools.verify(&text) {
                    fail(&fault);
                }
                n_left += 1;
            }
        }
    }
    assert!(
        n_kernels as u64 > cases / 4,
        "{n_kernels} operations are fused"
    );
    assert!(3 * n_left < cases, "MLIR does not run {n_left} programs");
}
