/* The absolute value; of the least integer, itself. */
static inline int8_t sparsec_abs_i8(int8_t a) {
  return a < 0 ? -a : a;
}

/* The larger. */
static inline uint64_t sparsec_max_u64(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/*
 * The kernel integers; its loops come first.
 *
 * out y: (i) -> (i : compressed)
 *     arrays y1.pos: uint16_t, y1.crd: uint8_t, y.vals: uint64_t
 * in  a: (i) -> (i : compressed)
 *     arrays a1.pos: uint16_t, a1.crd: uint8_t, a.vals: int8_t
 * in  b: (i) -> (i : dense)
 *     arrays b.vals: uint32_t
 */
static inline int32_t integers_loops(
    sparsec_context *context,
    sparsec_array *y1_pos_array,
    sparsec_array *y1_crd_array,
    sparsec_array *y_vals_array,
    const uint16_t *restrict a1_pos,
    const uint8_t *restrict a1_crd,
    const int8_t *restrict a_vals,
    const uint32_t *restrict b_vals) {
  uint16_t *y1_pos = y1_pos_array->data;
  int64_t y1_pos_capacity = y1_pos_array->capacity;
  uint8_t *y1_crd = y1_crd_array->data;
  int64_t y1_crd_capacity = y1_crd_array->capacity;
  uint64_t *y_vals = y_vals_array->data;
  int64_t y_vals_capacity = y_vals_array->capacity;
  if (2 > y1_pos_capacity) {
    y1_pos = context->grow(context, y1_pos_array, 2, sizeof(uint16_t));
    if (!y1_pos) return SPARSEC_OUT_OF_MEMORY;
    y1_pos_capacity = y1_pos_array->capacity;
  }
  y1_pos_array->len = 2;
  y1_pos[0] = 0;
  int64_t n = 0;
  for (int64_t p = a1_pos[0]; p < a1_pos[1]; p++) {
    int64_t i = a1_crd[p];
    int8_t narrow = (int8_t)((int8_t)(a_vals[p] * a_vals[p]) + 3);
    int8_t cut = (int8_t)-sparsec_abs_i8(narrow);
    uint64_t wide = (uint64_t)b_vals[i] * b_vals[i + 1];
    if ((int64_t)b_vals[i] > cut && wide / 10u >= 7u) {
      if (n + 1 > y1_crd_capacity) {
        y1_crd = context->grow(context, y1_crd_array, n + 1, sizeof(uint8_t));
        if (!y1_crd) return SPARSEC_OUT_OF_MEMORY;
        y1_crd_capacity = y1_crd_array->capacity;
      }
      y1_crd[n] = i;
      if (n + 1 > y_vals_capacity) {
        y_vals = context->grow(context, y_vals_array, n + 1, sizeof(uint64_t));
        if (!y_vals) return SPARSEC_OUT_OF_MEMORY;
        y_vals_capacity = y_vals_array->capacity;
      }
      y_vals[n] = sparsec_max_u64(wide % 4294967296u, (uint64_t)cut) - 5u;
      n++;
    }
  }
  y1_pos[1] = n;
  if (n > y1_crd_capacity) {
    y1_crd = context->grow(context, y1_crd_array, n, sizeof(uint8_t));
    if (!y1_crd) return SPARSEC_OUT_OF_MEMORY;
    y1_crd_capacity = y1_crd_array->capacity;
  }
  if (n > y_vals_capacity) {
    y_vals = context->grow(context, y_vals_array, n, sizeof(uint64_t));
    if (!y_vals) return SPARSEC_OUT_OF_MEMORY;
    y_vals_capacity = y_vals_array->capacity;
  }
  y1_crd_array->len = n;
  y_vals_array->len = n;
  return SPARSEC_OK;
}

int32_t integers(
    sparsec_context *context,
    sparsec_tensor *y,
    const sparsec_tensor *a,
    const sparsec_tensor *b) {
  return integers_loops(
      context,
      &y->arrays[0],
      &y->arrays[1],
      &y->arrays[2],
      a->arrays[0].data,
      a->arrays[1].data,
      a->arrays[2].data,
      b->arrays[0].data);
}
