/*
 * The kernel spgemm; its loops come first.
 *
 * out C: (i, j) -> (i : dense, j : compressed)
 *     arrays C1.pos: int32_t, C1.crd: int32_t, C.vals: double
 * in  A: (i, k) -> (i : dense, k : compressed)
 *     arrays A1.pos: int32_t, A1.crd: int32_t, A.vals: double
 * in  B: (k, j) -> (k : dense, j : compressed)
 *     arrays B1.pos: int32_t, B1.crd: int32_t, B.vals: double
 */
/* Apart, so that its loops have all registers. */
#ifdef __GNUC__
__attribute__((noinline))
#endif
static int64_t spgemm_nest(
    const int32_t *restrict A1_pos,
    const int32_t *restrict A1_crd,
    const double *restrict A_vals,
    const int32_t *restrict B1_pos,
    const int32_t *restrict B1_crd,
    const double *restrict B_vals,
    double *restrict w,
    int32_t *restrict w_list,
    bool *restrict w_seen,
    int64_t i,
    int64_t n) {
  for (int64_t pA1 = A1_pos[i]; pA1 < A1_pos[i + 1]; pA1++) {
    int64_t k = A1_crd[pA1];
    for (int64_t pB1 = B1_pos[k]; pB1 < B1_pos[k + 1]; pB1++) {
      int64_t j = B1_crd[pB1];
      if (!w_seen[j]) {
        w_seen[j] = true;
        w_list[n] = j;
        n++;
      }
      w[j] += A_vals[pA1] * B_vals[pB1];
    }
  }
  return n;
}

static inline int32_t spgemm_loops(
    sparsec_context *context,
    int32_t *restrict C1_pos,
    sparsec_array *C1_crd_array,
    sparsec_array *C_vals_array,
    int64_t A_n0,
    const int32_t *restrict A1_pos,
    const int32_t *restrict A1_crd,
    const double *restrict A_vals,
    int64_t B_n1,
    const int32_t *restrict B1_pos,
    const int32_t *restrict B1_crd,
    const double *restrict B_vals) {
  int32_t *C1_crd = C1_crd_array->data;
  double *C_vals = C_vals_array->data;
  int64_t C_capacity = C1_crd_array->capacity;
  if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  double *w = context->workspace(context, B_n1, sizeof(double));
  if (!w) return SPARSEC_OUT_OF_MEMORY;
  int32_t *w_list = context->workspace(context, B_n1, sizeof(int32_t));
  if (!w_list) return SPARSEC_OUT_OF_MEMORY;
  bool *w_seen = context->workspace(context, B_n1, sizeof(bool));
  if (!w_seen) return SPARSEC_OUT_OF_MEMORY;
  int64_t pC1 = 0;
  C1_pos[0] = 0;
  for (int64_t i = 0; i < A_n0; i++) {
    int64_t n = 0;
    n = spgemm_nest(A1_pos, A1_crd, A_vals, B1_pos, B1_crd, B_vals, w, w_list, w_seen, i, n);
    const int32_t status = context->sort_i32(context, w_list, n);
    if (status) return status;
    /* append the row and clear what it touched */
    if (pC1 + n > C_capacity) {
      C1_crd = context->grow(context, C1_crd_array, pC1 + n, sizeof(int32_t));
      if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
      C_vals = context->grow(context, C_vals_array, pC1 + n, sizeof(double));
      if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
      C_capacity = C1_crd_array->capacity;
      if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
    }
    for (int64_t e = 0; e < n; e++) {
      int64_t j = w_list[e];
      C1_crd[pC1] = j;
      C_vals[pC1] = w[j];
      w[j] = 0.0;
      w_seen[j] = false;
      pC1++;
    }
    if (pC1 > 2147483647) return SPARSEC_WIDTH_OVERFLOW;
    C1_pos[i + 1] = pC1;
  }
  if (pC1 > C_capacity) {
    C1_crd = context->grow(context, C1_crd_array, pC1, sizeof(int32_t));
    if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
    C_vals = context->grow(context, C_vals_array, pC1, sizeof(double));
    if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
    C_capacity = C1_crd_array->capacity;
    if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  }
  C1_crd_array->len = pC1;
  C_vals_array->len = pC1;
  return SPARSEC_OK;
}

int32_t spgemm(
    sparsec_context *context,
    sparsec_tensor *C,
    const sparsec_tensor *A,
    const sparsec_tensor *B) {
  return spgemm_loops(
      context,
      C->arrays[0].data,
      &C->arrays[1],
      &C->arrays[2],
      A->extents[0],
      A->arrays[0].data,
      A->arrays[1].data,
      A->arrays[2].data,
      B->extents[1],
      B->arrays[0].data,
      B->arrays[1].data,
      B->arrays[2].data);
}
