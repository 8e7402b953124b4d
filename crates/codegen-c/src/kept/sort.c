/* Exchanges data[i] with the larger of its children until none is larger. */
static inline void sparsec_sift_TYPE(TYPE_t *data, int64_t i, int64_t count) {
  for (int64_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
    if (child + 1 < count && data[child] < data[child + 1]) child++;
    if (data[i] >= data[child]) return;
    const TYPE_t moved = data[i];
    data[i] = data[child];
    data[child] = moved;
    i = child;
  }
}

/* Sorts, ascending: short runs by insertion, which are then merged; where there
 * is no memory for that, by a heap. */
static inline int32_t sparsec_sort_TYPE(sparsec_context *context, TYPE_t *data, int64_t count) {
  (void)context;
  int64_t sorted = 1;
  while (sorted < count && data[sorted - 1] <= data[sorted]) sorted++;
  if (sorted >= count) return SPARSEC_OK;
  TYPE_t *other = NULL;
  if (count > SPARSEC_RUN) {
    other = malloc((size_t)count * sizeof(TYPE_t));
    if (!other) {
      for (int64_t i = count / 2; i-- > 0;) sparsec_sift_TYPE(data, i, count);
      for (int64_t end = count - 1; end > 0; end--) {
        const TYPE_t largest = data[0];
        data[0] = data[end];
        data[end] = largest;
        sparsec_sift_TYPE(data, 0, end);
      }
      return SPARSEC_OK;
    }
  }
  for (int64_t begin = 0; begin < count; begin += SPARSEC_RUN) {
    const int64_t end = count - begin < SPARSEC_RUN ? count : begin + SPARSEC_RUN;
    for (int64_t i = begin + 1; i < end; i++) {
      const TYPE_t key = data[i];
      int64_t hole = i;
      for (; hole > begin && data[hole - 1] > key; hole--) data[hole] = data[hole - 1];
      data[hole] = key;
    }
  }
  TYPE_t *from = data, *to = other;
  for (int64_t width = SPARSEC_RUN; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      const int64_t middle = count - begin < width ? count : begin + width;
      const int64_t end = count - middle < width ? count : middle + width;
      int64_t a = begin, b = middle;
      for (int64_t i = begin; i < end; i++) {
        to[i] = b == end || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
      }
    }
    TYPE_t *swapped = from;
    from = to;
    to = swapped;
  }
  if (from != data) memcpy(data, from, (size_t)count * sizeof(TYPE_t));
  free(other);
  return SPARSEC_OK;
}
