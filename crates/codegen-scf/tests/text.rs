//! Modules read as expected.
//!
//! The kernels are those of `codegen-c`. `SPARSEC_BLESS=1` rewrites the modules in `tests/kernels`.

use std::fs;
use std::path::Path;

use sparsec_base::Source;
use sparsec_codegen_scf::emit;
use sparsec_loop::{Function, verify};

#[test]
fn modules_are_as_expected() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bless = std::env::var_os("SPARSEC_BLESS").is_some();
    let mut n_compared = 0;
    for entry in fs::read_dir(here.join("../codegen-c/tests/kernels")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "loop") {
            continue;
        }
        let source = Source::new("kernel", fs::read_to_string(&path).unwrap());
        let function = Function::parse(&source).unwrap_or_else(|error| panic!("{error}"));
        verify(&function).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = emit(&[&function]);
        let name = Path::new(path.file_name().unwrap()).with_extension("mlir");
        let expected = here.join("tests/kernels").join(name);
        if bless {
            fs::write(&expected, &found).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(wanted, found, "{}", expected.display());
        n_compared += 1;
    }
    assert!(n_compared > 10, "{n_compared} kernels");
}

/// Kernels of one module have symbols of their own, and none that a function of the module has.
#[test]
fn symbols_differ() {
    let function = |name: &str| sparsec_loop::Builder::new(name).finish();
    let functions = ["y", "y", "sqrt", "sparsec_min_f64", "main", "1"].map(function);
    let text = emit(&functions.iter().collect::<Vec<_>>());
    for symbol in [
        "@y()",
        "@y_1()",
        "@_sqrt()",
        "@_sparsec_min_f64()",
        "@_main()",
        "@_1()",
    ] {
        assert!(text.contains(symbol), "{symbol}\n{text}");
    }
}
