/* C = A B, A in compressed rows, B and C dense by rows: a multiple of a row of B
   for each entry of A. Each row of C is cleared where it is about to be used. */
static void multiply(int64_t n_rows, int64_t n_columns, double *restrict C,
                     const int32_t *restrict pos, const int32_t *restrict crd,
                     const double *restrict vals, const double *restrict B) {
  for (int64_t i = 0; i < n_rows; i++) {
    double *c = C + i * n_columns;
    for (int64_t k = 0; k < n_columns; k++) c[k] = 0.0;
    for (int64_t p = pos[i]; p < pos[i + 1]; p++) {
      double a = vals[p];
      const double *b = B + crd[p] * n_columns;
      for (int64_t k = 0; k < n_columns; k++) c[k] += a * b[k];
    }
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *C = tensors[0]->arrays, *A = tensors[1]->arrays, *B = tensors[2]->arrays;
  (void)context;
  multiply(tensors[1]->extents[0], tensors[2]->extents[1], C[0].data, A[0].data, A[1].data,
           A[2].data, B[0].data);
  return SPARSEC_OK;
}
