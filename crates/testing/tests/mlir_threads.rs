//! Programs of MLIR print the same at any number of threads.

use std::fmt::Write as _;

use sparsec::internals::mlir::Module;
use sparsec::internals::parallel::with_threads;
use sparsec::{Backend, Options, Session, Source};
use sparsec_testing::mlir::printed;

/// Rows of the matrix: enough for loops to be divided.
const ROWS: usize = 30_000;

/// A product and the sums of its rows, of which all bits are printed as one number.
const PROGRAM: &str = "
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#rows = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = [\"parallel\", \"reduction\"]
}
module {
  func.func private @getTensorFilename(index) -> !llvm.ptr
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %f0 = arith.constant 0.0 : f64
    %third = arith.constant 0.3 : f64
    %file = call @getTensorFilename(%c0) : (index) -> !llvm.ptr
    %A = sparse_tensor.new %file : !llvm.ptr to tensor<?x?xf64, #CSR>
    %n = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
    %empty = tensor.empty(%n, %n) : tensor<?x?xf64, #CSR>
    %B = linalg.matmul ins(%A, %A : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>)
                       outs(%empty : tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
    %e = tensor.empty(%n) : tensor<?xf64>
    %x = linalg.fill ins(%third : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %z = linalg.fill ins(%f0 : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %y = linalg.generic #rows ins(%B, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) {
      ^bb0(%a: f64, %b: f64, %c: f64):
        %0 = arith.mulf %a, %b : f64
        %1 = arith.addf %c, %0 : f64
        linalg.yield %1 : f64
    } -> tensor<?xf64>
    %bits = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i64) {
      %v = tensor.extract %y[%i] : tensor<?xf64>
      %b = arith.bitcast %v : f64 to i64
      %t = arith.addi %s, %s : i64
      %u = arith.xori %t, %b : i64
      scf.yield %u : i64
    }
    vector.print %bits : i64
    %nse = sparse_tensor.number_of_entries %B : tensor<?x?xf64, #CSR>
    vector.print %nse : index
    return
  }
}";

/// A file of a matrix with rows of different lengths.
fn matrix() -> String {
    let mut entries = String::new();
    let mut n_stored = 0;
    for i in 0..ROWS {
        for n in 0..i % 9 {
            let j = (i * 7 + n * n * 131) % ROWS;
            let value = 1.0 / (1 + i + n) as f64;
            let _ = writeln!(entries, "{} {} {value}", i + 1, j + 1);
            n_stored += 1;
        }
    }
    format!("%%MatrixMarket matrix coordinate real general\n{ROWS} {ROWS} {n_stored}\n{entries}")
}

#[test]
fn threads_change_no_bit() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let file = folder.path().join("matrix.mtx");
    std::fs::write(&file, matrix()).expect("a file");
    let files = [file.display().to_string()];
    let module = Module::parse(&Source::new("program", PROGRAM), None)
        .unwrap_or_else(|error| panic!("{error}"));
    module.verify().unwrap_or_else(|error| panic!("{error}"));
    let run = |threads| {
        let session = Session::new(Options::from_env().backend(Backend::Cranelift));
        let printed = with_threads(threads, || printed(&module, session, &files));
        printed.unwrap_or_else(|error| panic!("{error}"))
    };
    let one = run(1);
    assert!(one.lines().count() == 2 && !one.starts_with("0\n"), "{one}");
    assert_eq!(run(2), one);
    assert_eq!(run(5), one);
}
