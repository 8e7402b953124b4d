/*
 * The kernel uneven; its loops come first.
 *
 * out C: (i, j) -> (i : compressed, j : compressed)
 *     arrays C0.pos: int32_t, C0.crd: int32_t, C1.pos: int32_t, C1.crd: int32_t, C.vals: double
 * in  n: (i) -> (i : dense)
 *     arrays n.vals: int64_t
 */
static inline int32_t uneven_loops(
    sparsec_context *context,
    int64_t C_n0,
    sparsec_array *C0_pos_array,
    sparsec_array *C0_crd_array,
    sparsec_array *C1_pos_array,
    sparsec_array *C1_crd_array,
    sparsec_array *C_vals_array,
    const int64_t *restrict n_vals) {
  int32_t *C0_pos = C0_pos_array->data;
  int64_t C0_pos_capacity = C0_pos_array->capacity;
  int32_t *C1_pos = C1_pos_array->data;
  int64_t C1_pos_capacity = C1_pos_array->capacity;
  int32_t *C1_crd = C1_crd_array->data;
  double *C_vals = C_vals_array->data;
  int64_t C_capacity = C1_crd_array->capacity;
  if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
  int32_t *C0_crd = C0_crd_array->data;
  int64_t C0_crd_capacity = C0_crd_array->capacity;
  /* coordinates of rows grow alone, those of entries with their values */
  if (2 > C0_pos_capacity) {
    C0_pos = context->grow(context, C0_pos_array, 2, sizeof(int32_t));
    if (!C0_pos) return SPARSEC_OUT_OF_MEMORY;
    C0_pos_capacity = C0_pos_array->capacity;
  }
  C0_pos_array->len = 2;
  C0_pos[0] = 0;
  if (1 > C1_pos_capacity) {
    C1_pos = context->grow(context, C1_pos_array, 1, sizeof(int32_t));
    if (!C1_pos) return SPARSEC_OUT_OF_MEMORY;
    C1_pos_capacity = C1_pos_array->capacity;
  }
  C1_pos[0] = 0;
  int64_t pC0 = 0;
  int64_t pC1 = 0;
  for (int64_t i = 0; i < C_n0; i++) {
    if (n_vals[i] > 0) {
      int64_t room = pC1 + n_vals[i];
      if (room > C_capacity) {
        C1_crd = context->grow(context, C1_crd_array, room, sizeof(int32_t));
        if (!C1_crd) return SPARSEC_OUT_OF_MEMORY;
        C_vals = context->grow(context, C_vals_array, room, sizeof(double));
        if (!C_vals) return SPARSEC_OUT_OF_MEMORY;
        C_capacity = C1_crd_array->capacity;
        if (C_vals_array->capacity < C_capacity) C_capacity = C_vals_array->capacity;
      }
      for (int64_t j = 0; j < n_vals[i]; j++) {
        C1_crd[pC1] = j;
        C_vals[pC1] = (double)(i * 1000 + j);
        pC1++;
      }
      if (pC0 + 1 > C0_crd_capacity) {
        C0_crd = context->grow(context, C0_crd_array, pC0 + 1, sizeof(int32_t));
        if (!C0_crd) return SPARSEC_OUT_OF_MEMORY;
        C0_crd_capacity = C0_crd_array->capacity;
      }
      if (pC0 + 2 > C1_pos_capacity) {
        C1_pos = context->grow(context, C1_pos_array, pC0 + 2, sizeof(int32_t));
        if (!C1_pos) return SPARSEC_OUT_OF_MEMORY;
        C1_pos_capacity = C1_pos_array->capacity;
      }
      C0_crd[pC0] = i;
      C1_pos[pC0 + 1] = pC1;
      pC0++;
    }
  }
  C0_pos[1] = pC0;
  if (pC0 > C0_crd_capacity) {
    C0_crd = context->grow(context, C0_crd_array, pC0, sizeof(int32_t));
    if (!C0_crd) return SPARSEC_OUT_OF_MEMORY;
    C0_crd_capacity = C0_crd_array->capacity;
  }
  C0_crd_array->len = pC0;
  if (pC0 + 1 > C1_pos_capacity) {
    C1_pos = context->grow(context, C1_pos_array, pC0 + 1, sizeof(int32_t));
    if (!C1_pos) return SPARSEC_OUT_OF_MEMORY;
    C1_pos_capacity = C1_pos_array->capacity;
  }
  C1_pos_array->len = pC0 + 1;
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

int32_t uneven(sparsec_context *context, sparsec_tensor *C, const sparsec_tensor *n) {
  return uneven_loops(
      context,
      C->extents[0],
      &C->arrays[0],
      &C->arrays[1],
      &C->arrays[2],
      &C->arrays[3],
      &C->arrays[4],
      n->arrays[0].data);
}
