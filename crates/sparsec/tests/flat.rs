//! Memory over many calls. A process of its own, so that nothing else takes any.

#![cfg(target_os = "linux")]

use sparsec::{Backend, Options, Program, Session, Tensor};

/// How much memory this process has touched, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    1024 * kilobytes
        .and_then(|it| it.parse::<u64>().ok())
        .expect("in kB")
}

/// A million where the library is optimised; a debug build of it takes minutes.
const CALLS: usize = if cfg!(debug_assertions) {
    100_000
} else {
    1_000_000
};

#[test]
fn memory_stays_flat() -> sparsec::Result<()> {
    let a = Tensor::builder("csr", &[3, 3])?
        .push([0, 1], 2.0)
        .push([1, 0], 3.0)
        .push([2, 1], 4.0)
        .build()?;
    let program = Program::parse("C(i,j) = A(i,k) * A(k,j)")?
        .format("C", "csr")?
        .like("A", &a)?;
    let session = Session::new(Options::from_env().backend(Backend::Cranelift));
    let kernel = session.plan(&program)?;
    let binding = kernel.bind("A", &a)?;
    let mut assembled = binding.assemble()?;
    let mut call = |n: usize| {
        // One in a hundred makes its result anew.
        if n.is_multiple_of(100) {
            assert_eq!(binding.evaluate()?.n_stored(), 3);
        }
        assert_eq!(assembled.compute()?.n_stored(), 3);
        sparsec::Result::Ok(())
    };
    (0..CALLS / 100).try_for_each(&mut call)?;
    let before = resident();
    (0..CALLS).try_for_each(&mut call)?;
    let grown = resident().saturating_sub(before);
    // A call that kept 16 bytes would have kept 1.6 MB, or 16.
    assert!(grown < 1 << 20, "{grown} bytes more");
    Ok(())
}
