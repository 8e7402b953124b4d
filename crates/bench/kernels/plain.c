/* What kernels ask of their caller, as the C library has it: results are arrays that
   `realloc` makes larger, coordinates are sorted by `qsort`. Each call makes its result
   anew and frees it, as what is generated to be compiled on its own does. */
#include <stdlib.h>
#include <string.h>

enum { MOST_WORKSPACES = 8 };

struct plain {
  void *workspaces[MOST_WORKSPACES];
  int n_workspaces;
};

static void *plain_grow(sparsec_context *context, sparsec_array *array, int64_t entries,
                        int64_t entry_size) {
  (void)context;
  if (entries <= array->capacity) return array->data;
  void *data = realloc(array->data, entries * entry_size);
  if (!data) return 0;
  array->data = data;
  array->capacity = entries;
  return data;
}

static void *plain_workspace(sparsec_context *context, int64_t entries, int64_t entry_size) {
  struct plain *own = context->state;
  if (own->n_workspaces == MOST_WORKSPACES) return 0;
  return own->workspaces[own->n_workspaces++] = calloc(entries, entry_size);
}

static int plain_order(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static int32_t plain_sort(sparsec_context *context, int32_t *data, int64_t count) {
  (void)context;
  qsort(data, count, sizeof(int32_t), plain_order);
  return SPARSEC_OK;
}

/* Runs the kernel with memory of its own. What it made goes to the caller where KEEP is 1. */
int32_t as_generated(sparsec_context *context, sparsec_tensor **tensors) {
  static const int64_t entry_sizes[] = ENTRY_SIZES;
  enum { N_ARRAYS = sizeof entry_sizes / sizeof entry_sizes[0] };
  struct plain own = {{0}, 0};
  sparsec_context plain = {0};
  plain.state = &own;
  plain.grow = plain_grow;
  plain.workspace = plain_workspace;
  plain.sort_i32 = plain_sort;
  sparsec_array arrays[N_ARRAYS] = {{0, 0, 0}};
  sparsec_tensor result = {tensors[0]->extents, arrays};
  sparsec_tensor *given = tensors[0];
  if (ALLOCATES) tensors[0] = &result;
  int32_t status = by_hand(&plain, tensors);
  tensors[0] = given;
  for (int at = 0; ALLOCATES && KEEP && status == SPARSEC_OK && at < N_ARRAYS; at++) {
    int64_t len = arrays[at].len, size = entry_sizes[at];
    void *data = context->grow(context, &given->arrays[at], len, size);
    if (!data) status = SPARSEC_OUT_OF_MEMORY;
    else memcpy(data, arrays[at].data, len * size);
    given->arrays[at].len = len;
  }
  for (int at = 0; at < own.n_workspaces; at++) free(own.workspaces[at]);
  for (int at = 0; at < N_ARRAYS; at++) free(arrays[at].data);
  return status;
}
