/* The sum of an array of integers of 8 bytes, of what is left of it below that. */
static int64_t all(const sparsec_array *array, int64_t size) {
  const int64_t *restrict from = array->data;
  int64_t sum = 0;
  for (int64_t at = 0; at < array->len * size / 8; at++) sum += from[at];
  return sum;
}

/* The sum of the rows that coordinates lead to, each as often as they do. */
static int64_t rows(const sparsec_array *coordinates, const sparsec_tensor *dense) {
  const int32_t *restrict crd = coordinates->data;
  const int64_t *restrict from = dense->arrays[0].data;
  int64_t n_rows = dense->extents[0], sum = 0;
  if (!n_rows) return 0;
  int64_t width = dense->arrays[0].len / n_rows;
  if (width == 1) {
    for (int64_t p = 0; p < coordinates->len; p++) sum += from[crd[p]];
    return sum;
  }
  for (int64_t p = 0; p < coordinates->len; p++) {
    const int64_t *row = from + crd[p] * width;
    for (int64_t k = 0; k < width; k++) sum += row[k];
  }
  return sum;
}
