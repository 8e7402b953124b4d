/*
 * The kernel scale; its loops come first.
 *
 * out y: (i) -> (i : dense)
 *     arrays y.vals: double
 * in  x: (i) -> (i : dense)
 *     arrays x.vals: double
 */
/* What each unit has of its own. */
struct scale_own {
  double *w;
  int64_t *list;
  int64_t list_capacity;
};

static inline int32_t scale_chunk(
    sparsec_context *context,
    struct scale_own *own,
    int64_t x_n0,
    double factor,
    int64_t w_len,
    int64_t list_len,
    double *restrict y_vals,
    const double *restrict x_vals,
    int64_t chunk) {
  if (!own->w) {
    own->w = context->workspace(context, w_len, sizeof(double));
    if (!own->w) return SPARSEC_OUT_OF_MEMORY;
  }
  double *w = own->w;
  if (!own->list) {
    own->list = context->workspace(context, list_len, sizeof(int64_t));
    if (!own->list) return SPARSEC_OUT_OF_MEMORY;
    own->list_capacity = list_len;
  }
  int64_t *list = own->list;
  int64_t list_capacity = own->list_capacity;
  for (int64_t i = (x_n0 * chunk) >> 2; i < ((x_n0 * (chunk + 1)) >> 2); i++) {
    if ((i + 1) > list_capacity) {
      int64_t *list_moved = context->workspace(context, 2 * (i + 1), sizeof(int64_t));
      if (!list_moved) return SPARSEC_OUT_OF_MEMORY;
      for (int64_t at = 0; at < list_capacity; at++) list_moved[at] = list[at];
      list = list_moved;
      list_capacity = 2 * (i + 1);
      own->list = list;
      own->list_capacity = list_capacity;
    }
    list[i] = i;
    w[i] = x_vals[i] * factor;
    y_vals[list[i]] = w[i];
  }
  return SPARSEC_OK;
}

struct scale_chunk_captured {
  int64_t x_n0;
  double factor;
  int64_t w_len;
  int64_t list_len;
  double *y_vals;
  const double *x_vals;
};

static int32_t scale_chunk_run(
    sparsec_context *context,
    const void *captured,
    void *own,
    int64_t chunk) {
  const struct scale_chunk_captured *with = captured;
  return scale_chunk(
      context,
      own,
      with->x_n0,
      with->factor,
      with->w_len,
      with->list_len,
      with->y_vals,
      with->x_vals,
      chunk);
}

static inline int32_t scale_chunk_2(double *restrict y_vals, int64_t chunk) {
  y_vals[chunk] = 0.0;
  return SPARSEC_OK;
}

struct scale_chunk_2_captured {
  double *y_vals;
};

static int32_t scale_chunk_2_run(
    sparsec_context *context,
    const void *captured,
    void *own,
    int64_t chunk) {
  (void)context;
  (void)own;
  const struct scale_chunk_2_captured *with = captured;
  return scale_chunk_2(with->y_vals, chunk);
}

static inline int32_t scale_loops(
    sparsec_context *context,
    double *restrict y_vals,
    int64_t x_n0,
    const double *restrict x_vals) {
  int64_t w_len = x_n0;
  int64_t list_len = 4;
  double factor = 2.0;
  struct scale_chunk_captured captured = {x_n0, factor, w_len, list_len, y_vals, x_vals};
  int32_t status = context->chunks(
      context, scale_chunk_run, &captured, sizeof(struct scale_own), 4);
  if (status) return status;
  struct scale_chunk_2_captured captured_2 = {y_vals};
  int32_t status_2 = context->chunks(context, scale_chunk_2_run, &captured_2, 0, 2);
  if (status_2) return status_2;
  return SPARSEC_OK;
}

int32_t scale(sparsec_context *context, sparsec_tensor *y, const sparsec_tensor *x) {
  return scale_loops(context, y->arrays[0].data, x->extents[0], x->arrays[0].data);
}
