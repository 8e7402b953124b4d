/* c = sum over i, j, k, l of A(i,j) A(i,k) A(i,l) A(j,k) A(j,l) A(k,l), A by rows with entries
   above the diagonal. FORM is one of the functions below. */
#include <stdlib.h>

typedef struct {
  int64_t n;
  const int32_t *pos, *crd;
  const double *vals;
} graph;

static int64_t longest(graph *a) {
  int64_t most = 1;
  for (int64_t i = 0; i < a->n; i++)
    if (a->pos[i + 1] - a->pos[i] > most) most = a->pos[i + 1] - a->pos[i];
  return most;
}

/* Neighbours of both i and j, and of all three, by merges of sorted lists. */
static double merges(graph *a) {
  int64_t most = longest(a);
  int32_t *both = malloc(most * sizeof *both);
  double sum = 0.0, *weight = malloc(most * sizeof *weight);
  for (int64_t i = 0; i < a->n; i++)
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p], q = a->pos[i], r = a->pos[j], n = 0;
      while (q < a->pos[i + 1] && r < a->pos[j + 1]) {
        int32_t k = a->crd[q], other = a->crd[r];
        if (k == other) {
          both[n] = k;
          weight[n++] = a->vals[q] * a->vals[r];
        }
        q += k <= other;
        r += other <= k;
      }
      for (int32_t m = 0; m < n; m++) {
        int32_t o = 0, s = a->pos[both[m]];
        double part = 0.0;
        while (o < n && s < a->pos[both[m] + 1]) {
          int32_t l = both[o], other = a->crd[s];
          if (l == other) part += weight[o] * a->vals[s];
          o += l <= other;
          s += other <= l;
        }
        sum += a->vals[p] * weight[m] * part;
      }
    }
  free(both), free(weight);
  return sum;
}

/* Row i is spread over an array, and so are the neighbours of both i and j. */
static double bitmaps(graph *a) {
  int64_t most = longest(a);
  int32_t *both = malloc(most * sizeof *both);
  double sum = 0.0, *row = calloc(a->n + 1, sizeof *row), *weight = calloc(a->n + 1, sizeof *row);
  for (int64_t i = 0; i < a->n; i++) {
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = a->vals[q];
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p], n = 0;
      for (int32_t r = a->pos[j]; r < a->pos[j + 1]; r++)
        if (row[a->crd[r]] != 0.0) {
          both[n++] = a->crd[r];
          weight[a->crd[r]] = row[a->crd[r]] * a->vals[r];
        }
      for (int32_t m = 0; m < n; m++) {
        int32_t k = both[m];
        double part = 0.0;
        for (int32_t s = a->pos[k]; s < a->pos[k + 1]; s++) part += a->vals[s] * weight[a->crd[s]];
        sum += a->vals[p] * weight[k] * part;
      }
      for (int32_t m = 0; m < n; m++) weight[both[m]] = 0.0;
    }
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = 0.0;
  }
  free(both), free(row), free(weight);
  return sum;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)merges, (void)bitmaps;
  sparsec_array *A = tensors[1]->arrays;
  graph a = {tensors[1]->extents[0], A[0].data, A[1].data, A[2].data};
  *(double *)tensors[0]->arrays[0].data = FORM(&a);
  return SPARSEC_OK;
}
