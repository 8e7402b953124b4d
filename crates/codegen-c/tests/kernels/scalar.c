/*
 * The kernel scalar; its loops come first.
 *
 * out s: () -> ()
 *     arrays s.vals: double
 * in  A: (i) -> (i : compressed)
 *     arrays A0.pos: int32_t, A0.crd: int32_t, A.vals: double
 */
static inline int32_t scalar_loops(
    double *restrict s_vals,
    const int32_t *restrict A0_pos,
    const double *restrict A_vals) {
  double t = 0.0;
  int64_t p = A0_pos[0];
  (void)p;
  int64_t end = A0_pos[1];
  int64_t n_end = end;
  for (int64_t n = 0; n < n_end; n++) {
    end--;
    t -= A_vals[n];
  }
  s_vals[0] = t;
  return SPARSEC_OK;
}

int32_t scalar(sparsec_context *context, sparsec_tensor *s, const sparsec_tensor *A) {
  (void)context;
  return scalar_loops(s->arrays[0].data, A->arrays[0].data, A->arrays[2].data);
}
