/* A = B + C, all in compressed fibers: a merge at each level, where coordinates that
   only one side has keep what is below them; appends to arrays whose room doubles. */
typedef struct side {
  const int32_t *pos[3], *crd[3];
  const double *vals;
} side;

/* Appends `value` to crd and vals of the last level. */
static int append(sparsec_context *context, sparsec_array *A, int32_t k, double value) {
  if (A[5].len == A[5].capacity || A[5].len == A[6].capacity) {
    int64_t room = 2 * A[5].len + 16;
    if (!has_room(context, &A[5], room, sizeof(int32_t))
        || !has_room(context, &A[6], room, sizeof(double)))
      return 0;
  }
  ((int32_t *)A[5].data)[A[5].len++] = k;
  ((double *)A[6].data)[A[6].len++] = value;
  return 1;
}

/* Appends a coordinate of an upper level, and where its segment ends. */
static int close(sparsec_context *context, sparsec_array *crd, sparsec_array *pos, int32_t at,
                 int64_t end) {
  if (!has_room(context, crd, crd->len + 1, sizeof(int32_t))
      || !has_room(context, pos, pos->len + 1, sizeof(int32_t)))
    return 0;
  ((int32_t *)crd->data)[crd->len++] = at;
  ((int32_t *)pos->data)[pos->len++] = end;
  return 1;
}

/* Merges the fibers [b, b_end) and [c, c_end). */
static int merge_fiber(sparsec_context *context, sparsec_array *A, const side *B, int64_t b,
                       int64_t b_end, const side *C, int64_t c, int64_t c_end) {
  while (b < b_end || c < c_end) {
    int32_t kb = b < b_end ? B->crd[2][b] : INT32_MAX, kc = c < c_end ? C->crd[2][c] : INT32_MAX;
    int32_t k = kb < kc ? kb : kc;
    double sum = 0.0;
    if (kb == k) sum += B->vals[b++];
    if (kc == k) sum += C->vals[c++];
    if (!append(context, A, k, sum)) return 0;
  }
  return 1;
}

/* Merges the slices [b, b_end) and [c, c_end). */
static int merge_slice(sparsec_context *context, sparsec_array *A, const side *B, int64_t b,
                       int64_t b_end, const side *C, int64_t c, int64_t c_end) {
  while (b < b_end || c < c_end) {
    int32_t jb = b < b_end ? B->crd[1][b] : INT32_MAX, jc = c < c_end ? C->crd[1][c] : INT32_MAX;
    int32_t j = jb < jc ? jb : jc;
    int in_b = jb == j, in_c = jc == j;
    if (!merge_fiber(context, A, B, in_b ? B->pos[2][b] : 0, in_b ? B->pos[2][b + 1] : 0, C,
                     in_c ? C->pos[2][c] : 0, in_c ? C->pos[2][c + 1] : 0)
        || !close(context, &A[3], &A[4], j, A[5].len))
      return 0;
    b += in_b;
    c += in_c;
  }
  return 1;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  sparsec_array *A = tensors[0]->arrays;
  side sides[2];
  for (int s = 0; s < 2; s++) {
    sparsec_array *from = tensors[1 + s]->arrays;
    for (int level = 0; level < 3; level++) {
      sides[s].pos[level] = from[2 * level].data;
      sides[s].crd[level] = from[2 * level + 1].data;
    }
    sides[s].vals = from[6].data;
  }
  for (int array = 0; array < 7; array++) A[array].len = 0;
  for (int level = 0; level < 3; level++) {
    sparsec_array *pos = &A[2 * level];
    if (!has_room(context, pos, 2, sizeof(int32_t))) return SPARSEC_OUT_OF_MEMORY;
    ((int32_t *)pos->data)[pos->len++] = 0;
  }
  const side *B = &sides[0], *C = &sides[1];
  int64_t b = 0, b_end = B->pos[0][1], c = 0, c_end = C->pos[0][1];
  while (b < b_end || c < c_end) {
    int32_t ib = b < b_end ? B->crd[0][b] : INT32_MAX, ic = c < c_end ? C->crd[0][c] : INT32_MAX;
    int32_t i = ib < ic ? ib : ic;
    int in_b = ib == i, in_c = ic == i;
    if (!merge_slice(context, A, B, in_b ? B->pos[1][b] : 0, in_b ? B->pos[1][b + 1] : 0, C,
                     in_c ? C->pos[1][c] : 0, in_c ? C->pos[1][c + 1] : 0)
        || !close(context, &A[1], &A[2], i, A[3].len))
      return SPARSEC_OUT_OF_MEMORY;
    b += in_b;
    c += in_c;
  }
  ((int32_t *)A[0].data)[A[0].len++] = (int32_t)A[1].len;
  return SPARSEC_OK;
}
