/* Whether an array has room for this many entries, after asking for it. */
static inline _Bool has_room(sparsec_context *context, sparsec_array *array, int64_t entries,
                             int64_t entry_size) {
  return entries <= array->capacity || context->grow(context, array, entries, entry_size);
}
