/* y = A x, A in compressed rows: a dot product for each row. */
static void multiply(int64_t n_rows, double *restrict y, const int32_t *restrict pos,
                     const int32_t *restrict crd, const double *restrict vals,
                     const double *restrict x) {
  for (int64_t i = 0; i < n_rows; i++) {
    double sum = 0.0;
    for (int64_t p = pos[i]; p < pos[i + 1]; p++) sum += vals[p] * x[crd[p]];
    y[i] = sum;
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *y = tensors[0]->arrays, *A = tensors[1]->arrays, *x = tensors[2]->arrays;
  (void)context;
  multiply(tensors[1]->extents[0], y[0].data, A[0].data, A[1].data, A[2].data, x[0].data);
  return SPARSEC_OK;
}
