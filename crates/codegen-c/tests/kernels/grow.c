/* In a loop of few turns: it is not worth vectors, nor a call. */
static inline void sparsec_short_loop(void) {
#ifdef __GNUC__
  __asm__("");
#endif
}

/*
 * The kernel grow; its loops come first.
 *
 * out C: (i, j) -> (i : dense, j : compressed)
 *     arrays C1.pos: int32_t, C1.crd: int32_t, C.vals: double
 * in  x: (j) -> (j : dense)
 *     arrays x.vals: double
 */
static inline int32_t grow_loops(
    sparsec_context *context,
    int64_t C_n0,
    int32_t *restrict C1_pos,
    sparsec_array *C1_crd_array,
    sparsec_array *C_vals_array,
    int64_t x_n0,
    const double *restrict x_vals) {
  int32_t *C1_crd = C1_crd_array->data;
  double *C_vals = C_vals_array->data;
  int64_t C_capacity = C1_crd_array->capacity;
  if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  int64_t p = 0;
  C1_pos[0] = 0;
  for (int64_t i = 0; i < C_n0; i++) {
    int64_t first = p;
    for (int64_t j = 0; j < x_n0; j++) {
      if (x_vals[j] > (double)i) {
        if (p + 1 > C_capacity) {
          C1_crd = context->grow(context, C1_crd_array, p + 1, sizeof(int32_t));
          if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
          C_vals = context->grow(context, C_vals_array, p + 1, sizeof(double));
          if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
          C_capacity = C1_crd_array->capacity;
          if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
        }
        C1_crd[p] = j;
        C_vals[p] = x_vals[j];
        if (p > first) C_vals[p] = C_vals[p] + C_vals[p - 1];
        p++;
      }
      for (int64_t k = first; k < p; k++) {
        C_vals[k] += 1.0;
      }
    }
    int64_t last = p;
    while (last > first && p < first + 1000) {
      sparsec_short_loop();
      last--;
      C_vals[last] = C_vals[last] * 2.0 - C_vals[first];
    }
    C1_pos[i + 1] = p;
  }
  if (p > C_capacity) {
    C1_crd = context->grow(context, C1_crd_array, p, sizeof(int32_t));
    if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
    C_vals = context->grow(context, C_vals_array, p, sizeof(double));
    if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
    C_capacity = C1_crd_array->capacity;
    if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  }
  C1_crd_array->len = p;
  C_vals_array->len = p;
  return SPARSEC_OK;
}

int32_t grow(sparsec_context *context, sparsec_tensor *C, const sparsec_tensor *x) {
  return grow_loops(
      context,
      C->extents[0],
      C->arrays[0].data,
      &C->arrays[1],
      &C->arrays[2],
      x->extents[0],
      x->arrays[0].data);
}
