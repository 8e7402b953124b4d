//! The library as a program uses it: plan, bind, evaluate, assemble, compute.

mod assembled;
mod built;
mod built_refused;
mod clauses;
mod computations;
mod conversions;
mod costs;
mod definitions;
mod described;
mod einsums;
mod failures;
mod fitting;
mod functions;
mod gradients;
mod into;
mod kernels;
mod keys;
mod memory;
mod misstored;
mod networks;
mod refused;
mod relations;
mod stages;
mod stored;
mod walked;

use sparsec::{Error, Kernel, Program, Session, Tensor};

/// A session without a compiler: what is tested here is the same on all engines.
fn interpreter() -> Session {
    Session::interpreter()
}

fn matrix(format: &str, extents: [u64; 2], entries: &[([u64; 2], f64)]) -> Tensor {
    let mut builder = Tensor::builder(format, &extents).unwrap();
    builder.extend(entries.iter().copied());
    builder.build().unwrap()
}

fn a() -> Tensor {
    matrix(
        "csr",
        [2, 3],
        &[([0, 0], 1.0), ([0, 2], 2.0), ([1, 1], 3.0)],
    )
}

fn x() -> Tensor {
    Tensor::dense(&[3], [1.0, 10.0, 100.0]).unwrap()
}

fn spmv(session: &Session) -> Kernel {
    session
        .plan(&Program::parse("y(i) = A(i,j) * x(j)").unwrap())
        .unwrap()
}

fn refuse(result: Result<impl Sized, Error>, code: sparsec::Code, says: &str) {
    let Err(error) = result else {
        panic!("not refused with {code}");
    };
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
    // A way out, or at least the place.
    assert!(
        error.help_text().is_some() || !error.labels().is_empty(),
        "{error}"
    );
}
