/* y = A x, A in jagged diagonals: the s-th entries of all rows, longest rows first. */
static void multiply(int64_t n, int64_t n_diagonals, double *restrict y,
                     const int32_t *restrict ptr, const int32_t *restrict perm,
                     const int32_t *restrict crd, const double *restrict vals,
                     const double *restrict x) {
  for (int64_t i = 0; i < n; i++) y[i] = 0.0;
  for (int64_t s = 0; s < n_diagonals; s++) {
    for (int64_t k = ptr[s]; k < ptr[s + 1]; k++) y[perm[k - ptr[s]]] += vals[k] * x[crd[k]];
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  int64_t *sizes = (int64_t *)tensors[0]->extents;
  (void)context;
  multiply(sizes[0], sizes[2], tensors[6]->arrays[0].data, tensors[1]->arrays[0].data,
           tensors[2]->arrays[0].data, tensors[3]->arrays[0].data, tensors[4]->arrays[0].data,
           tensors[5]->arrays[0].data);
  return SPARSEC_OK;
}
