/* y = A x, A in compressed rows: a dot product for each row. */
static void multiply(int64_t n, double *restrict y, const int32_t *restrict pos,
                     const int32_t *restrict crd, const double *restrict vals,
                     const double *restrict x) {
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int64_t p = pos[i]; p < pos[i + 1]; p++) sum += vals[p] * x[crd[p]];
    y[i] = sum;
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context;
  multiply(tensors[0]->extents[0], tensors[5]->arrays[0].data, tensors[1]->arrays[0].data,
           tensors[2]->arrays[0].data, tensors[3]->arrays[0].data, tensors[4]->arrays[0].data);
  return SPARSEC_OK;
}
