/* A = B .* (C D'), A and B in compressed rows, C and D dense by rows: a dot product
   for each entry of B. A has the pattern of B, so its room is known at once. */
static void sample(int64_t n_rows, int64_t n_inner, int32_t *restrict A_pos,
                   int32_t *restrict A_crd, double *restrict A_vals,
                   const int32_t *restrict pos, const int32_t *restrict crd,
                   const double *restrict vals, const double *restrict C,
                   const double *restrict D) {
  A_pos[0] = 0;
  for (int64_t i = 0; i < n_rows; i++) {
    const double *c = C + i * n_inner;
    for (int64_t p = pos[i]; p < pos[i + 1]; p++) {
      int64_t j = crd[p];
      const double *d = D + j * n_inner;
      double sum = 0.0;
      for (int64_t k = 0; k < n_inner; k++) sum += c[k] * d[k];
      A_crd[p] = j;
      A_vals[p] = vals[p] * sum;
    }
    A_pos[i + 1] = pos[i + 1];
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[0]->arrays, *B = tensors[1]->arrays;
  sparsec_array *C = tensors[2]->arrays, *D = tensors[3]->arrays;
  int64_t n_rows = tensors[1]->extents[0], n_stored = B[1].len;
  if (!has_room(context, &A[0], n_rows + 1, sizeof(int32_t))
      || !has_room(context, &A[1], n_stored, sizeof(int32_t))
      || !has_room(context, &A[2], n_stored, sizeof(double)))
    return SPARSEC_OUT_OF_MEMORY;
  sample(n_rows, tensors[2]->extents[1], A[0].data, A[1].data, A[2].data, B[0].data, B[1].data,
         B[2].data, C[0].data, D[0].data);
  A[0].len = n_rows + 1;
  A[1].len = A[2].len = n_stored;
  return SPARSEC_OK;
}
