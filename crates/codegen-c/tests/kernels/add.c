/*
 * The kernel add; its loops come first.
 *
 * out C: (i, j) -> (i : dense, j : compressed)
 *     arrays C1.pos: int32_t, C1.crd: int32_t, C.vals: double
 * in  A: (i, j) -> (i : dense, j : compressed)
 *     arrays A1.pos: int32_t, A1.crd: int32_t, A.vals: double
 * in  B: (i, j) -> (i : dense, j : compressed)
 *     arrays B1.pos: int32_t, B1.crd: int32_t, B.vals: double
 */
static inline int32_t add_loops(
    sparsec_context *context,
    int32_t *restrict C1_pos,
    sparsec_array *C1_crd_array,
    sparsec_array *C_vals_array,
    int64_t A_n0,
    const int32_t *restrict A1_pos,
    const int32_t *restrict A1_crd,
    const double *restrict A_vals,
    const int32_t *restrict B1_pos,
    const int32_t *restrict B1_crd,
    const double *restrict B_vals) {
  int32_t *C1_crd = C1_crd_array->data;
  double *C_vals = C_vals_array->data;
  int64_t C_capacity = C1_crd_array->capacity;
  if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  int64_t pC1 = 0;
  C1_pos[0] = 0;
  for (int64_t i = 0; i < A_n0; i++) {
    int64_t pA1 = A1_pos[i];
    int64_t pA1_end = A1_pos[i + 1];
    int64_t pB1 = B1_pos[i];
    int64_t pB1_end = B1_pos[i + 1];
    while (pA1 < pA1_end && pB1 < pB1_end) {
      int64_t jA = A1_crd[pA1];
      int64_t jB = B1_crd[pB1];
      int64_t j = jA < jB ? jA : jB;
      if (pC1 + 1 > C_capacity) {
        C1_crd = context->grow(context, C1_crd_array, pC1 + 1, sizeof(int32_t));
        if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
        C_vals = context->grow(context, C_vals_array, pC1 + 1, sizeof(double));
        if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
        C_capacity = C1_crd_array->capacity;
        if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
      }
      C1_crd[pC1] = j;
      if (jA == j && jB == j) C_vals[pC1] = A_vals[pA1] + B_vals[pB1];
      else if (jA == j) C_vals[pC1] = A_vals[pA1];
      else C_vals[pC1] = B_vals[pB1];
      pA1 += jA == j;
      pB1 += jB == j;
      pC1++;
    }
    while (pA1 < pA1_end) {
      if (pC1 + 1 > C_capacity) {
        C1_crd = context->grow(context, C1_crd_array, pC1 + 1, sizeof(int32_t));
        if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
        C_vals = context->grow(context, C_vals_array, pC1 + 1, sizeof(double));
        if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
        C_capacity = C1_crd_array->capacity;
        if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
      }
      C1_crd[pC1] = A1_crd[pA1];
      C_vals[pC1] = A_vals[pA1];
      pA1++;
      pC1++;
    }
    while (pB1 < pB1_end) {
      if (pC1 + 1 > C_capacity) {
        C1_crd = context->grow(context, C1_crd_array, pC1 + 1, sizeof(int32_t));
        if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
        C_vals = context->grow(context, C_vals_array, pC1 + 1, sizeof(double));
        if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
        C_capacity = C1_crd_array->capacity;
        if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
      }
      C1_crd[pC1] = B1_crd[pB1];
      C_vals[pC1] = B_vals[pB1];
      pB1++;
      pC1++;
    }
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

int32_t add(
    sparsec_context *context,
    sparsec_tensor *C,
    const sparsec_tensor *A,
    const sparsec_tensor *B) {
  return add_loops(
      context,
      C->arrays[0].data,
      &C->arrays[1],
      &C->arrays[2],
      A->extents[0],
      A->arrays[0].data,
      A->arrays[1].data,
      A->arrays[2].data,
      B->arrays[0].data,
      B->arrays[1].data,
      B->arrays[2].data);
}
