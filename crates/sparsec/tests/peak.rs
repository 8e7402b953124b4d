//! How much memory a computation takes at its peak. A process of its own, so that nothing
//! else takes any.

#![cfg(target_os = "linux")]

use sparsec::{Backend, Options, Program, Session, Tensor};

/// A figure of this process in bytes, as Linux calls it.
fn of_process(figure: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with(figure));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    1024 * kilobytes
        .and_then(|it| it.parse::<u64>().ok())
        .expect("in kB")
}

/// An `n` by `n` matrix with 16 entries a row.
fn matrix(n: u64, seed: u64) -> Tensor {
    let mut builder = Tensor::builder("csr", &[n, n]).unwrap();
    let column = |i: u64, k: u64| (i * 7919 + seed * 31 + k * k * 104_729 + k) % n;
    builder.extend((0..n).flat_map(|i| (0..16).map(move |k| ([i, column(i, k)], 0.5))));
    builder.build().unwrap()
}

/// What is there, what comes out and workspaces, which are counted by hand here: a row of
/// values, flags and coordinates a thread.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "takes a minute where code is not optimised"
)]
fn peaks_are_what_is_needed() {
    let n = 1 << 17;
    let (a, b) = (matrix(n, 1), matrix(n, 2));
    let x = Tensor::dense(&[n], vec![1.0; 1 << 17]).unwrap();
    let d = Tensor::dense(&[n, 32], vec![1.0; 32 << 17]).unwrap();
    let row = n * (8 + 1 + 8) * 2;
    let cases = [
        ("y(i) = A(i,j) * x(j)", "dense", 0),
        ("C(i,j) = A(i,j) + B(i,j)", "csr", 0),
        ("C(i,j) = A(i,k) * B(k,j)", "csr", row),
        ("C(i,k) = A(i,j) * D(j,k)", "dense", 0),
        ("C(i,j) = A(i,j) * D(i,k) * D(j,k)", "csr", 0),
    ];
    for threads in [1, 2] {
        let session = Session::new(
            Options::from_env()
                .backend(Backend::Cranelift)
                .threads(threads),
        );
        for (text, format, workspaces) in cases {
            let given = [("A", &a), ("B", &b), ("x", &x), ("D", &d)];
            let used = given
                .into_iter()
                .filter(|(name, _)| text.contains(&format!("{name}(")));
            let mut program = Program::parse(text).unwrap();
            program = program.format(&text[..1], format).unwrap();
            let mut inputs = 0;
            for (name, tensor) in used.clone() {
                program = program.like(name, tensor).unwrap();
                inputs += tensor.bytes() as u64;
            }
            let kernel = session.plan(&program).unwrap();
            let mut binding = kernel.binding();
            for (name, tensor) in used {
                binding = binding.bind(name, tensor).unwrap();
            }
            // Code is made before; the peak of the process begins anew.
            binding.emit(&sparsec::Stage::Loop).unwrap();
            std::fs::write("/proc/self/clear_refs", "5").unwrap();
            let before = of_process("VmRSS:");
            let result = binding.evaluate().unwrap();
            let taken = of_process("VmHWM:").saturating_sub(before);
            let needed = inputs + result.bytes() as u64 + workspaces;
            let share = (inputs + taken) as f64 / needed as f64;
            assert!(
                share <= 1.2,
                "{text} on {threads} threads: {taken} bytes beside inputs of {inputs}, where {needed} are needed in all"
            );
        }
    }
}
