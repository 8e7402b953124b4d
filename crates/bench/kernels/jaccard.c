/* J(i,j) = A(i,j) n / (d(i) + d(j) - n) where n is A(i,j) times the sum over k of A(i,k) A(j,k):
   A and J by rows, d dense. FORM is one of the functions below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  const int32_t *pos, *crd;
  const double *vals, *d;
  double *J;
} graph;

static void keep(graph *a, int64_t i, int32_t p, double both) {
  both *= a->vals[p];
  a->J[p] = a->vals[p] * (both / (a->d[i] + a->d[a->crd[p]] - both));
}

/* Two rows at a time, merged. */
static void merges(graph *a) {
  for (int64_t i = 0; i < a->n; i++)
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p], q = a->pos[i], r = a->pos[j];
      double both = 0.0;
      while (q < a->pos[i + 1] && r < a->pos[j + 1]) {
        int32_t k = a->crd[q], other = a->crd[r];
        if (k == other) both += a->vals[q] * a->vals[r];
        q += k <= other;
        r += other <= k;
      }
      keep(a, i, p, both);
    }
}

/* Row i is spread over an array, in which entries of the rows j are looked up. */
static void bitmaps(graph *a) {
  double *row = calloc(a->n + 1, sizeof *row);
  for (int64_t i = 0; i < a->n; i++) {
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = a->vals[q];
    for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
      int32_t j = a->crd[p];
      double both = 0.0;
      for (int32_t r = a->pos[j]; r < a->pos[j + 1]; r++) both += a->vals[r] * row[a->crd[r]];
      keep(a, i, p, both);
    }
    for (int32_t q = a->pos[i]; q < a->pos[i + 1]; q++) row[a->crd[q]] = 0.0;
  }
  free(row);
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)merges, (void)bitmaps;
  sparsec_array *J = tensors[0]->arrays, *A = tensors[1]->arrays;
  graph a = {tensors[1]->extents[0], A[0].data, A[1].data, A[2].data,
             tensors[2]->arrays[0].data, 0};
  int64_t n = a.pos[a.n];
  if (!has_room(context, &J[0], a.n + 1, sizeof(int32_t))
      || !has_room(context, &J[1], n, sizeof(int32_t))
      || !has_room(context, &J[2], n, sizeof(double)))
    return SPARSEC_OUT_OF_MEMORY;
  memcpy(J[0].data, a.pos, (a.n + 1) * sizeof(int32_t));
  memcpy(J[1].data, a.crd, n * sizeof(int32_t));
  a.J = J[2].data;
  J[0].len = a.n + 1;
  J[1].len = J[2].len = n;
  FORM(&a);
  return SPARSEC_OK;
}
