/* y = A x, A by diagonals: a multiple of a part of x for each. */
static void multiply(int64_t n, int64_t m, int64_t nd, double *restrict y,
                     const int32_t *restrict off, const double *restrict vals,
                     const double *restrict x) {
  for (int64_t i = 0; i < n; i++) y[i] = 0.0;
  for (int64_t d = 0; d < nd; d++) {
    int64_t o = off[d];
    int64_t begin = o < 0 ? -o : 0, end = n < m - o ? n : m - o;
    for (int64_t i = begin; i < end; i++) y[i] += vals[d * n + i] * x[i + o];
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  int64_t *sizes = (int64_t *)tensors[0]->extents;
  (void)context;
  multiply(sizes[0], sizes[1], sizes[2], tensors[4]->arrays[0].data, tensors[1]->arrays[0].data,
           tensors[2]->arrays[0].data, tensors[3]->arrays[0].data);
  return SPARSEC_OK;
}
