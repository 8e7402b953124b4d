//! Chunks that wait for their turn in emitted C, on the threads of OpenMP: which of several
//! failures the kernel reports.

use std::fs;
use std::process::Command;

use sparsec_codegen_c::kept;

/// The last chunk fails at once. The second waits for that, asks for its turn, and fails
/// by itself, as the first to do so.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <omp.h>

static int64_t n_failed;

static int32_t fails_late(
    sparsec_context *context, const void *captured, void *own, int64_t chunk) {
  (void)captured;
  (void)own;
  if (chunk == 3) {
#pragma omp atomic write seq_cst
    n_failed = 1;
    return SPARSEC_NEGATIVE_POWER;
  }
  if (chunk == 1) {
    int64_t seen = 0;
    const double begun = omp_get_wtime();
    while (!seen || omp_get_wtime() < begun + 0.05) {
#pragma omp atomic read seq_cst
      seen = n_failed;
    }
  }
  const int32_t status = context->turn(context);
  return chunk == 1 && !status ? SPARSEC_DIVISION_BY_ZERO : status;
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_num_threads(4);
  sparsec_scope scope;
  sparsec_context *context = sparsec_enter(&scope, NULL);
  const int32_t status = context->chunks(context, fails_late, NULL, 0, 4);
  if (status == SPARSEC_DIVISION_BY_ZERO) puts("the first");
  return sparsec_leave(&scope, SPARSEC_OK);
}
"#;

#[test]
fn the_first_chunk_that_fails_is_reported_though_another_failed_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, program) = (folder.path().join("kernel.c"), folder.path().join("kernel"));
    let text = kept::file(&[], &[]);
    assert!(text.contains("sparsec_run_chunks"), "{text}");
    fs::write(&file, text + PROGRAM).unwrap();
    let mut compile = Command::new("gcc");
    compile.args(["-std=c11", "-O1", "-fopenmp"]);
    let output = compile.arg(&file).arg("-o").arg(&program).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    for _ in 0..5 {
        let output = Command::new(&program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the first\n");
    }
}
