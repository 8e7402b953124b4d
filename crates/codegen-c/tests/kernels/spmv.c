/*
 * The kernel spmv; its loops come first.
 *
 * out y: (i) -> (i : dense)
 *     arrays y.vals: double
 * in  A: (i, j) -> (i : dense, j : compressed)
 *     arrays A1.pos: int32_t, A1.crd: int32_t, A.vals: double
 * in  x: (j) -> (j : dense)
 *     arrays x.vals: double
 */
static inline int32_t spmv_loops(
    double *restrict y_vals,
    int64_t A_n0,
    const int32_t *restrict A1_pos,
    const int32_t *restrict A1_crd,
    const double *restrict A_vals,
    const double *restrict x_vals) {
  for (int64_t i = 0; i < A_n0; i++) {
    double t = 0.0;
    for (int64_t pA1 = A1_pos[i]; pA1 < A1_pos[i + 1]; pA1++) {
      int64_t j = A1_crd[pA1];
      t += A_vals[pA1] * x_vals[j];
    }
    y_vals[i] = t;
  }
  return SPARSEC_OK;
}

int32_t spmv(
    sparsec_context *context,
    sparsec_tensor *y,
    const sparsec_tensor *A,
    const sparsec_tensor *x) {
  (void)context;
  return spmv_loops(
      y->arrays[0].data,
      A->extents[0],
      A->arrays[0].data,
      A->arrays[1].data,
      A->arrays[2].data,
      x->arrays[0].data);
}
