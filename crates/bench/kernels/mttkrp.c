/* A(i,r) = sum over j, k of B(i,j,k) C(j,r) D(k,r), B in compressed fibers, the
   others dense by rows. */
static void mttkrp(int64_t n_rows, int64_t rank, double *restrict A,
                   const int32_t *restrict pos0, const int32_t *restrict crd0,
                   const int32_t *restrict pos1, const int32_t *restrict crd1,
                   const int32_t *restrict pos2, const int32_t *restrict crd2,
                   const double *restrict vals, const double *restrict C,
                   const double *restrict D) {
  for (int64_t at = 0; at < n_rows * rank; at++) A[at] = 0.0;
  for (int64_t p0 = pos0[0]; p0 < pos0[1]; p0++) {
    double *a = A + crd0[p0] * rank;
    for (int64_t p1 = pos1[p0]; p1 < pos1[p0 + 1]; p1++) {
      const double *c = C + crd1[p1] * rank;
      for (int64_t p2 = pos2[p1]; p2 < pos2[p1 + 1]; p2++) {
        const double *d = D + crd2[p2] * rank;
        double b = vals[p2];
        for (int64_t r = 0; r < rank; r++) a[r] += b * c[r] * d[r];
      }
    }
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[0]->arrays, *B = tensors[1]->arrays;
  sparsec_array *C = tensors[2]->arrays, *D = tensors[3]->arrays;
  (void)context;
  mttkrp(tensors[0]->extents[0], tensors[0]->extents[1], A[0].data, B[0].data, B[1].data,
         B[2].data, B[3].data, B[4].data, B[5].data, B[6].data, C[0].data, D[0].data);
  return SPARSEC_OK;
}
