/* t = sum over i, j, k of A(i,j) A(j,k) A(i,k), A by rows. FORM is one of the functions
   below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  const int32_t *pos, *crd;
  const double *vals;
} graph;

/* Two rows at a time, merged. */
static double merges(graph *a) {
  double sum = 0.0;
  for (int64_t i = 0; i < a->n; i++)
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p], q = a->pos[i], r = a->pos[j];
      while (q < a->pos[i + 1] && r < a->pos[j + 1]) {
        int32_t k = a->crd[q], other = a->crd[r];
        if (k == other) sum += a->vals[p] * a->vals[q] * a->vals[r];
        q += k <= other;
        r += other <= k;
      }
    }
  return sum;
}

/* Row i is spread over an array, in which entries of the rows j are looked up. */
static double bitmaps(graph *a) {
  double sum = 0.0, *row = calloc(a->n + 1, sizeof *row);
  for (int64_t i = 0; i < a->n; i++) {
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = a->vals[q];
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p];
      double part = 0.0;
      for (int32_t r = a->pos[j]; r < a->pos[j + 1]; r++) part += a->vals[r] * row[a->crd[r]];
      sum += a->vals[p] * part;
    }
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = 0.0;
  }
  free(row);
  return sum;
}

/* Row i is kept in a table of at least twice its entries, in which entries of the rows j are
   looked up. */
static double hashing(graph *a) {
  int64_t longest = 0, size = 4;
  for (int64_t i = 0; i < a->n; i++)
    if (a->pos[i + 1] - a->pos[i] > longest) longest = a->pos[i + 1] - a->pos[i];
  while (size < 2 * longest) size *= 2;
  int32_t *key = malloc(size * sizeof *key);
  double sum = 0.0, *value = malloc(size * sizeof *value);
  for (int64_t i = 0; i < a->n; i++) {
    int64_t used = 4, length = a->pos[i + 1] - a->pos[i];
    while (used < 2 * length) used *= 2;
    uint32_t mask = used - 1;
    memset(key, 0xff, used * sizeof *key);
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) {
      uint32_t at = ((uint32_t)a->crd[q] * 2654435769u >> 7) & mask;
      while (key[at] >= 0) at = (at + 1) & mask;
      key[at] = a->crd[q];
      value[at] = a->vals[q];
    }
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p];
      for (int32_t r = a->pos[j]; r < a->pos[j + 1]; r++) {
        uint32_t at = ((uint32_t)a->crd[r] * 2654435769u >> 7) & mask;
        while (key[at] >= 0 && key[at] != a->crd[r]) at = (at + 1) & mask;
        if (key[at] >= 0) sum += a->vals[p] * a->vals[r] * value[at];
      }
    }
  }
  free(key), free(value);
  return sum;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)merges, (void)bitmaps, (void)hashing;
  sparsec_array *A = tensors[1]->arrays;
  graph a = {tensors[1]->extents[0], A[0].data, A[1].data, A[2].data};
  *(double *)tensors[0]->arrays[0].data = FORM(&a);
  return SPARSEC_OK;
}
