/* Merges [begin, middle) and [middle, end), each ascending, by rotations. */
static inline void sparsec_merge_pairs(
    int64_t *keys, int64_t *along, int64_t begin, int64_t middle, int64_t end) {
  while (begin < middle && middle < end) {
    while (begin < middle && keys[begin] <= keys[middle]) begin++;
    if (begin == middle) return;
    int64_t least = middle; /* those below keys[begin] move before it */
    while (least < end && keys[least] < keys[begin]) least++;
    for (int64_t i = middle; i < least; i++) {
      const int64_t key = keys[i], entry = along[i];
      memmove(keys + begin + 1, keys + begin, (size_t)(i - begin) * sizeof(int64_t));
      memmove(along + begin + 1, along + begin, (size_t)(i - begin) * sizeof(int64_t));
      keys[begin] = key;
      along[begin] = entry;
      begin++;
    }
    middle = least;
  }
}

/* Sorts `keys`, ascending, and moves the entries of `along` as those of `keys`;
 * equal keys stay in their order. */
static inline int32_t sparsec_sort_pairs(
    sparsec_context *context, int64_t *keys, int64_t *along, int64_t count) {
  (void)context;
  int64_t sorted = 1;
  while (sorted < count && keys[sorted - 1] <= keys[sorted]) sorted++;
  if (sorted >= count) return SPARSEC_OK;
  const size_t room = (size_t)count * sizeof(int64_t);
  int64_t *other = (uint64_t)count <= PTRDIFF_MAX / (2 * sizeof(int64_t)) ? malloc(2 * room) : NULL;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count - width; begin += 2 * width) {
      const int64_t middle = begin + width;
      const int64_t end = count - middle < width ? count : middle + width;
      if (keys[middle - 1] <= keys[middle]) continue;
      if (!other) {
        sparsec_merge_pairs(keys, along, begin, middle, end);
        continue;
      }
      int64_t a = begin, b = middle, n = 0;
      for (; a < middle || b < end; n++) {
        const int64_t i = b == end || (a < middle && keys[a] <= keys[b]) ? a++ : b++;
        other[n] = keys[i];
        other[count + n] = along[i];
      }
      memcpy(keys + begin, other, (size_t)n * sizeof(int64_t));
      memcpy(along + begin, other + count, (size_t)n * sizeof(int64_t));
    }
  }
  free(other);
  return SPARSEC_OK;
}
