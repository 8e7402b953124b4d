/* s = sum over i, j, k of B(i,j,k) C(i,j,k), both in compressed fibers: a merge at each
   level, which goes deeper where coordinates meet. */
static double inner(const int32_t *restrict B_pos0, const int32_t *restrict B_crd0,
                    const int32_t *restrict B_pos1, const int32_t *restrict B_crd1,
                    const int32_t *restrict B_pos2, const int32_t *restrict B_crd2,
                    const double *restrict B_vals, const int32_t *restrict C_pos0,
                    const int32_t *restrict C_crd0, const int32_t *restrict C_pos1,
                    const int32_t *restrict C_crd1, const int32_t *restrict C_pos2,
                    const int32_t *restrict C_crd2, const double *restrict C_vals) {
  double sum = 0.0;
  int64_t b0 = B_pos0[0], c0 = C_pos0[0];
  while (b0 < B_pos0[1] && c0 < C_pos0[1]) {
    int32_t ib = B_crd0[b0], ic = C_crd0[c0], i = ib < ic ? ib : ic;
    if (ib == i && ic == i) {
      int64_t b1 = B_pos1[b0], c1 = C_pos1[c0];
      while (b1 < B_pos1[b0 + 1] && c1 < C_pos1[c0 + 1]) {
        int32_t jb = B_crd1[b1], jc = C_crd1[c1], j = jb < jc ? jb : jc;
        if (jb == j && jc == j) {
          int64_t b2 = B_pos2[b1], c2 = C_pos2[c1];
          while (b2 < B_pos2[b1 + 1] && c2 < C_pos2[c1 + 1]) {
            int32_t kb = B_crd2[b2], kc = C_crd2[c2], k = kb < kc ? kb : kc;
            if (kb == k && kc == k) sum += B_vals[b2] * C_vals[c2];
            b2 += kb == k;
            c2 += kc == k;
          }
        }
        b1 += jb == j;
        c1 += jc == j;
      }
    }
    b0 += ib == i;
    c0 += ic == i;
  }
  return sum;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *B = tensors[1]->arrays, *C = tensors[2]->arrays;
  (void)context;
  *(double *)tensors[0]->arrays[0].data
      = inner(B[0].data, B[1].data, B[2].data, B[3].data, B[4].data, B[5].data, B[6].data,
              C[0].data, C[1].data, C[2].data, C[3].data, C[4].data, C[5].data, C[6].data);
  return SPARSEC_OK;
}
