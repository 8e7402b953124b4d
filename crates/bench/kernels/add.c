/* C = A + B in compressed rows: each pair of rows is merged, and entries are appended
   to arrays whose room doubles whenever it runs out. */
static int32_t merge(sparsec_context *context, int64_t n_rows, sparsec_array *C,
                     const int32_t *restrict A_pos, const int32_t *restrict A_crd,
                     const double *restrict A_vals, const int32_t *restrict B_pos,
                     const int32_t *restrict B_crd, const double *restrict B_vals) {
  if (!has_room(context, &C[0], n_rows + 1, sizeof(int32_t))) return SPARSEC_OUT_OF_MEMORY;
  int32_t *restrict C_pos = C[0].data, *restrict C_crd = C[1].data;
  double *restrict C_vals = C[2].data;
  int64_t room = C[1].capacity < C[2].capacity ? C[1].capacity : C[2].capacity;
  int64_t c = 0;

#define APPEND(column, value)                                                   \
  do {                                                                          \
    if (c == room) {                                                            \
      room = 2 * room + 16;                                                     \
      if (!has_room(context, &C[1], room, sizeof(int32_t))                      \
          || !has_room(context, &C[2], room, sizeof(double)))                   \
        return SPARSEC_OUT_OF_MEMORY;                                           \
      C_crd = C[1].data;                                                        \
      C_vals = C[2].data;                                                       \
    }                                                                           \
    C_crd[c] = column;                                                          \
    C_vals[c] = value;                                                          \
    c++;                                                                        \
  } while (0)

  C_pos[0] = 0;
  for (int64_t i = 0; i < n_rows; i++) {
    int64_t a = A_pos[i], a_end = A_pos[i + 1], b = B_pos[i], b_end = B_pos[i + 1];
    while (a < a_end && b < b_end) {
      int32_t ja = A_crd[a], jb = B_crd[b];
      if (ja == jb) {
        APPEND(ja, A_vals[a] + B_vals[b]);
        a++;
        b++;
      } else if (ja < jb) {
        APPEND(ja, A_vals[a]);
        a++;
      } else {
        APPEND(jb, B_vals[b]);
        b++;
      }
    }
    for (; a < a_end; a++) APPEND(A_crd[a], A_vals[a]);
    for (; b < b_end; b++) APPEND(B_crd[b], B_vals[b]);
    C_pos[i + 1] = c;
  }
  C[0].len = n_rows + 1;
  C[1].len = C[2].len = c;
  return SPARSEC_OK;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *C = tensors[0]->arrays, *A = tensors[1]->arrays, *B = tensors[2]->arrays;
  return merge(context, tensors[1]->extents[0], C, A[0].data, A[1].data, A[2].data, B[0].data,
               B[1].data, B[2].data);
}
