/* A(i,j,l) = sum over k of B(i,j,k) C(k,l), B in compressed fibers, A in compressed
   fibers over dense rows, C dense by rows: a row of A for each fiber of B. */
static void contract(int64_t n_columns, int32_t *restrict A_pos0, int32_t *restrict A_crd0,
                     int32_t *restrict A_pos1, int32_t *restrict A_crd1,
                     double *restrict A_vals, const int32_t *restrict pos0,
                     const int32_t *restrict crd0, const int32_t *restrict pos1,
                     const int32_t *restrict crd1, const int32_t *restrict pos2,
                     const int32_t *restrict crd2, const double *restrict vals,
                     const double *restrict C) {
  A_pos0[0] = 0;
  A_pos0[1] = pos0[1];
  A_pos1[0] = 0;
  for (int64_t p0 = pos0[0]; p0 < pos0[1]; p0++) {
    for (int64_t p1 = pos1[p0]; p1 < pos1[p0 + 1]; p1++) {
      double *a = A_vals + p1 * n_columns;
      for (int64_t l = 0; l < n_columns; l++) a[l] = 0.0;
      for (int64_t p2 = pos2[p1]; p2 < pos2[p1 + 1]; p2++) {
        double b = vals[p2];
        const double *c = C + crd2[p2] * n_columns;
        for (int64_t l = 0; l < n_columns; l++) a[l] += b * c[l];
      }
      A_crd1[p1] = crd1[p1];
    }
    A_crd0[p0] = crd0[p0];
    A_pos1[p0 + 1] = pos1[p0 + 1];
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[0]->arrays, *B = tensors[1]->arrays, *C = tensors[2]->arrays;
  int64_t n_columns = tensors[2]->extents[1], n_slices = B[1].len, n_fibers = B[3].len;
  if (!has_room(context, &A[0], 2, sizeof(int32_t))
      || !has_room(context, &A[1], n_slices, sizeof(int32_t))
      || !has_room(context, &A[2], n_slices + 1, sizeof(int32_t))
      || !has_room(context, &A[3], n_fibers, sizeof(int32_t))
      || !has_room(context, &A[4], n_fibers * n_columns, sizeof(double)))
    return SPARSEC_OUT_OF_MEMORY;
  contract(n_columns, A[0].data, A[1].data, A[2].data, A[3].data, A[4].data, B[0].data,
           B[1].data, B[2].data, B[3].data, B[4].data, B[5].data, B[6].data, C[0].data);
  A[0].len = 2;
  A[1].len = n_slices;
  A[2].len = n_slices + 1;
  A[3].len = n_fibers;
  A[4].len = n_fibers * n_columns;
  return SPARSEC_OK;
}
