/* C = A B in compressed rows, after Gustavson (1978): each row of C is summed in a
   dense row, whose coordinates are listed as they turn up, then sorted. */
static int32_t multiply(sparsec_context *context, int64_t n_rows, int64_t n_columns,
                        sparsec_array *C, const int32_t *restrict A_pos,
                        const int32_t *restrict A_crd, const double *restrict A_vals,
                        const int32_t *restrict B_pos, const int32_t *restrict B_crd,
                        const double *restrict B_vals) {
  double *restrict sums = context->workspace(context, n_columns, sizeof(double));
  char *restrict is_set = context->workspace(context, n_columns, 1);
  int32_t *restrict list = context->workspace(context, n_columns, sizeof(int32_t));
  if (!sums || !is_set || !list || !has_room(context, &C[0], n_rows + 1, sizeof(int32_t)))
    return SPARSEC_OUT_OF_MEMORY;
  int32_t *restrict C_pos = C[0].data;
  int64_t room = C[1].capacity < C[2].capacity ? C[1].capacity : C[2].capacity;
  int64_t n_stored = 0;
  C_pos[0] = 0;
  for (int64_t i = 0; i < n_rows; i++) {
    int64_t n = 0;
    for (int64_t p = A_pos[i]; p < A_pos[i + 1]; p++) {
      int64_t k = A_crd[p];
      double a = A_vals[p];
      for (int64_t q = B_pos[k]; q < B_pos[k + 1]; q++) {
        int32_t j = B_crd[q];
        if (is_set[j]) {
          sums[j] += a * B_vals[q];
        } else {
          is_set[j] = 1;
          list[n++] = j;
          sums[j] = a * B_vals[q];
        }
      }
    }
    if (context->sort_i32(context, list, n)) return SPARSEC_OUT_OF_MEMORY;
    while (n_stored + n > room) room = 2 * room + 16;
    if (!has_room(context, &C[1], room, sizeof(int32_t))
        || !has_room(context, &C[2], room, sizeof(double)))
      return SPARSEC_OUT_OF_MEMORY;
    int32_t *restrict C_crd = C[1].data;
    double *restrict C_vals = C[2].data;
    for (int64_t p = 0; p < n; p++) {
      int32_t j = list[p];
      C_crd[n_stored] = j;
      C_vals[n_stored] = sums[j];
      n_stored++;
      is_set[j] = 0;
    }
    C_pos[i + 1] = n_stored;
  }
  C[0].len = n_rows + 1;
  C[1].len = C[2].len = n_stored;
  return SPARSEC_OK;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *C = tensors[0]->arrays, *A = tensors[1]->arrays, *B = tensors[2]->arrays;
  return multiply(context, tensors[1]->extents[0], tensors[2]->extents[1], C, A[0].data,
                  A[1].data, A[2].data, B[0].data, B[1].data, B[2].data);
}
