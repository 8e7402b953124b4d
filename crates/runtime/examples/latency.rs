//! How long kernels take to get ready, and what appending to a result costs.
//!
//! ```text
//! cargo run --release -p sparsec-runtime --example latency
//! ```
//!
//! Prints the least and the median of several rounds: a kernel compiled into an
//! empty cache (the compiler is probed already), one found on disk, one launched
//! on a small result; and `C = A + B` against C written by hand, which makes room
//! for all entries at once.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use sparsec_base::{Result, Scalar, Source};
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Environment, Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::{Format, Tensor};

#[path = "../tests/trusted/mod.rs"]
mod trusted;

/// `C = A + B`, appending to arrays that have room for every entry.
const BY_HAND: &str = r#"
static int32_t merge(int64_t n, int32_t *restrict C_pos, int32_t *restrict C_crd,
    double *restrict C_vals, const int32_t *restrict A_pos, const int32_t *restrict A_crd,
    const double *restrict A_vals, const int32_t *restrict B_pos,
    const int32_t *restrict B_crd, const double *restrict B_vals) {
  int64_t c = 0;
  C_pos[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t a = A_pos[i], a_end = A_pos[i + 1], b = B_pos[i], b_end = B_pos[i + 1];
    while (a < a_end && b < b_end) {
      int64_t ja = A_crd[a], jb = B_crd[b], j = ja < jb ? ja : jb;
      C_crd[c] = j;
      if (ja == j && jb == j) C_vals[c] = A_vals[a] + B_vals[b];
      else if (ja == j) C_vals[c] = A_vals[a];
      else C_vals[c] = B_vals[b];
      a += ja == j;
      b += jb == j;
      c++;
    }
    for (; a < a_end; a++, c++) { C_crd[c] = A_crd[a]; C_vals[c] = A_vals[a]; }
    for (; b < b_end; b++, c++) { C_crd[c] = B_crd[b]; C_vals[c] = B_vals[b]; }
    C_pos[i + 1] = c;
  }
  return c;
}
int32_t add_launch(sparsec_context *context, sparsec_tensor **t) {
  sparsec_array *C = t[0]->arrays, *A = t[1]->arrays, *B = t[2]->arrays;
  int64_t room = A[1].len + B[1].len;
  if (room > C[1].capacity && !context->grow(context, &C[1], room, 4)) return 4;
  if (room > C[2].capacity && !context->grow(context, &C[2], room, 8)) return 4;
  C[1].len = C[2].len = merge(t[0]->extents[0], C[0].data, C[1].data, C[2].data, A[0].data,
      A[1].data, A[2].data, B[0].data, B[1].data, B[2].data);
  return 0;
}
"#;

fn main() -> Result<()> {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => panic!("{error}"),
    };
    let mut environment = Environment::of_process();
    environment.cache_dir = Some(folder.path().into());
    let cache = Cache::open(&environment)?;
    report("probe", 1, || Compiler::detect(&environment, &cache))?;
    let compiler = Compiler::detect(&environment, &cache)?;
    println!("{}: {}", compiler.version(), compiler.flags().join(" "));
    report("detect, probed", 20, || {
        Compiler::detect(&environment, &Cache::open(&environment)?)
    })?;
    for name in ["spmv", "add", "spgemm"] {
        let function = sample(name)?;
        let text = sparsec_codegen_c::emit_unit(&function);
        let mut round = 0;
        report(&format!("{name}: compile"), 15, || {
            round += 1;
            let text = format!("{text}/* round {round} */\n");
            build(&function, &text, &compiler, &cache)
        })?;
        build(&function, &text, &compiler, &cache)?;
        report(&format!("{name}: load"), 15, || {
            build(&function, &text, &compiler, &Cache::open(&environment)?)
        })?;
    }
    let function = sample("add")?;
    let emitted = sparsec_codegen_c::emit_unit(&function);
    let by_hand = sparsec_codegen_c::emit_file(&[], &Default::default()) + BY_HAND;
    let emitted = build(&function, &emitted, &compiler, &cache)?;
    let by_hand = build(&function, &by_hand, &compiler, &cache)?;
    let small = [matrix(4, 4, 2)?, matrix(4, 4, 3)?];
    report("add: launch and finish, 4x4", 1000, || {
        add(&emitted, &small)
    })?;
    let large = [matrix(100_000, 100_000, 9)?, matrix(100_000, 100_000, 7)?];
    // In turns, so that both meet the same machine.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        ours.push(time_add(&emitted, &large)?);
        theirs.push(time_add(&by_hand, &large)?);
    }
    print("add: kernel, large", &mut ours);
    print("add: by hand, large", &mut theirs);
    let ratio = theirs[10].as_secs_f64() / ours[10].as_secs_f64();
    println!("add: {ratio:.3} of the speed of C by hand");
    let mut finishing = Vec::new();
    for _ in 0..5 {
        let output = launch(&emitted, &large)?.0;
        let started = Instant::now();
        let sum = output.finish()?;
        finishing.push(started.elapsed());
        drop(sum);
    }
    print("add: finish, large", &mut finishing);
    Ok(())
}

fn sample(name: &str) -> Result<Function> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen-c/tests/kernels");
    let path = folder.join(name).with_extension("loop");
    match std::fs::read_to_string(&path) {
        Ok(text) => Function::parse(&Source::new(name, text)),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

fn build(function: &Function, text: &str, compiler: &Compiler, cache: &Cache) -> Result<Kernel> {
    let entry = sparsec_codegen_c::launch_name(function);
    trusted::compile_c(function, text, &entry, compiler, cache)
}

/// About one million entries in the largest, scattered by a rule.
fn matrix(rows: u64, columns: u64, seed: u64) -> Result<Tensor> {
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for i in 0..rows {
        for k in 0..10.min(columns) {
            coords.extend([i, (i * seed * 31 + k * k * 97 * seed + k) % columns]);
            values.push(k as f64);
        }
    }
    Tensor::pack(&Format::csr(), &[rows, columns], &coords, &values)
}

fn launch(kernel: &Kernel, given: &[Tensor; 2]) -> Result<(OutputTensor, Duration)> {
    let function = kernel.function();
    let extents = given[0].extents().to_vec();
    let fill = Scalar::F64(0.0);
    let mut output = OutputTensor::new(
        function,
        &function.arguments[0],
        Format::csr(),
        extents,
        fill,
    )?;
    let mut arguments = [
        KernelArgument::Out(&mut output),
        KernelArgument::In(&given[0]),
        KernelArgument::In(&given[1]),
    ];
    let started = Instant::now();
    trusted::launch(kernel, &mut arguments)?;
    Ok((output, started.elapsed()))
}

fn add(kernel: &Kernel, given: &[Tensor; 2]) -> Result<Tensor> {
    launch(kernel, given)?.0.finish()
}

fn time_add(kernel: &Kernel, given: &[Tensor; 2]) -> Result<Duration> {
    Ok(launch(kernel, given)?.1)
}

fn report<T>(what: &str, rounds: usize, mut run: impl FnMut() -> Result<T>) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        run()?;
        times.push(started.elapsed());
    }
    print(what, &mut times);
    Ok(())
}

fn print(what: &str, times: &mut [Duration]) {
    times.sort();
    let (least, median) = (times[0], times[times.len() / 2]);
    println!("{what:32} least {least:>10.2?}  median {median:>10.2?}");
}
