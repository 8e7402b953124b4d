/* D = A + B + C in compressed rows: three rows are merged at once, a coordinate at a
   time, and entries are appended to arrays whose room doubles whenever it runs out. */
static int32_t merge(sparsec_context *context, int64_t n_rows, sparsec_array *D,
                     const int32_t *restrict A_pos, const int32_t *restrict A_crd,
                     const double *restrict A_vals, const int32_t *restrict B_pos,
                     const int32_t *restrict B_crd, const double *restrict B_vals,
                     const int32_t *restrict C_pos, const int32_t *restrict C_crd,
                     const double *restrict C_vals) {
  if (!has_room(context, &D[0], n_rows + 1, sizeof(int32_t))) return SPARSEC_OUT_OF_MEMORY;
  int32_t *restrict D_pos = D[0].data, *restrict D_crd = D[1].data;
  double *restrict D_vals = D[2].data;
  int64_t room = D[1].capacity < D[2].capacity ? D[1].capacity : D[2].capacity;
  int64_t d = 0;
  D_pos[0] = 0;
  for (int64_t i = 0; i < n_rows; i++) {
    int64_t a = A_pos[i], a_end = A_pos[i + 1], b = B_pos[i], b_end = B_pos[i + 1];
    int64_t c = C_pos[i], c_end = C_pos[i + 1];
    while (a < a_end || b < b_end || c < c_end) {
      int32_t ja = a < a_end ? A_crd[a] : INT32_MAX, jb = b < b_end ? B_crd[b] : INT32_MAX;
      int32_t jc = c < c_end ? C_crd[c] : INT32_MAX;
      int32_t j = ja < jb ? ja : jb;
      if (jc < j) j = jc;
      double sum = 0.0;
      if (ja == j) sum += A_vals[a++];
      if (jb == j) sum += B_vals[b++];
      if (jc == j) sum += C_vals[c++];
      if (d == room) {
        room = 2 * room + 16;
        if (!has_room(context, &D[1], room, sizeof(int32_t))
            || !has_room(context, &D[2], room, sizeof(double)))
          return SPARSEC_OUT_OF_MEMORY;
        D_crd = D[1].data;
        D_vals = D[2].data;
      }
      D_crd[d] = j;
      D_vals[d] = sum;
      d++;
    }
    D_pos[i + 1] = d;
  }
  D[0].len = n_rows + 1;
  D[1].len = D[2].len = d;
  return SPARSEC_OK;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[1]->arrays, *B = tensors[2]->arrays, *C = tensors[3]->arrays;
  return merge(context, tensors[1]->extents[0], tensors[0]->arrays, A[0].data, A[1].data,
               A[2].data, B[0].data, B[1].data, B[2].data, C[0].data, C[1].data, C[2].data);
}
