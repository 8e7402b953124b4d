/* A(i,j) = sum over k of B(i,j,k) c(k), A and B in compressed fibers: each fiber of B
   becomes an entry of A, so that rooms are known at once. */
static void contract(int32_t *restrict A_pos0, int32_t *restrict A_crd0,
                     int32_t *restrict A_pos1, int32_t *restrict A_crd1,
                     double *restrict A_vals, const int32_t *restrict pos0,
                     const int32_t *restrict crd0, const int32_t *restrict pos1,
                     const int32_t *restrict crd1, const int32_t *restrict pos2,
                     const int32_t *restrict crd2, const double *restrict vals,
                     const double *restrict c) {
  A_pos0[0] = 0;
  A_pos0[1] = pos0[1];
  A_pos1[0] = 0;
  for (int64_t p0 = pos0[0]; p0 < pos0[1]; p0++) {
    for (int64_t p1 = pos1[p0]; p1 < pos1[p0 + 1]; p1++) {
      double sum = 0.0;
      for (int64_t p2 = pos2[p1]; p2 < pos2[p1 + 1]; p2++) sum += vals[p2] * c[crd2[p2]];
      A_crd1[p1] = crd1[p1];
      A_vals[p1] = sum;
    }
    A_crd0[p0] = crd0[p0];
    A_pos1[p0 + 1] = pos1[p0 + 1];
  }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[0]->arrays, *B = tensors[1]->arrays, *c = tensors[2]->arrays;
  int64_t n_slices = B[1].len, n_fibers = B[3].len;
  if (!has_room(context, &A[0], 2, sizeof(int32_t))
      || !has_room(context, &A[1], n_slices, sizeof(int32_t))
      || !has_room(context, &A[2], n_slices + 1, sizeof(int32_t))
      || !has_room(context, &A[3], n_fibers, sizeof(int32_t))
      || !has_room(context, &A[4], n_fibers, sizeof(double)))
    return SPARSEC_OUT_OF_MEMORY;
  contract(A[0].data, A[1].data, A[2].data, A[3].data, A[4].data, B[0].data, B[1].data,
           B[2].data, B[3].data, B[4].data, B[5].data, B[6].data, c[0].data);
  A[0].len = 2;
  A[1].len = n_slices;
  A[2].len = n_slices + 1;
  A[3].len = A[4].len = n_fibers;
  return SPARSEC_OK;
}
