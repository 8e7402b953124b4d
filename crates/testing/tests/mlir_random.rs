//! Random programs of MLIR print the same on every engine, with and without fused operations; see
//! [`sparsec_testing::mlir_random`].
//!
//! Where MLIR's [tools](sparsec_testing::mlir_tools) are installed, its runner prints the same.
//! `SPARSEC_CASES=N` runs N programs, those of the seeds from `SPARSEC_SEED` on.

use sparsec::mlir::Module;
use sparsec::{Backend, Options, Session, Source};
use sparsec_testing::mlir::printed;
use sparsec_testing::mlir_random::program;
use sparsec_testing::mlir_tools::Tools;

/// Programs without `SPARSEC_CASES`.
const CASES: u64 = 40;

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
    let compiled = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    let mut n_left = 0;
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
    assert!(3 * n_left < cases, "MLIR does not run {n_left} programs");
}
