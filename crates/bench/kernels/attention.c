/* O(i,f) = sum over j, d of A(i,j) X(i,d) Y(j,d) Z(j,f): A by rows, the others dense. FORM is
   one of the functions below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n_rows, n_inner, n_columns;
  double *O;
  const int32_t *pos, *crd;
  const double *vals, *X, *Y, *Z;
} chain;

enum { LANES = 8 };

static double dot(int64_t n, const double *restrict x, const double *restrict y) {
  double sums[LANES] = {0}, sum = 0.0;
  int64_t d = 0;
  for (; d + LANES <= n; d += LANES)
    for (int lane = 0; lane < LANES; lane++)
      sums[lane] = __builtin_fma(x[d + lane], y[d + lane], sums[lane]);
  for (; d < n; d++) sum += x[d] * y[d];
  for (int lane = 0; lane < LANES; lane++) sum += sums[lane];
  return sum;
}

static void add(int64_t n, double *restrict out, double t, const double *restrict z) {
  for (int64_t f = 0; f < n; f++) out[f] = __builtin_fma(t, z[f], out[f]);
}

/* One nest with f innermost. */
static void nest(chain *x) {
  for (int64_t i = 0; i < x->n_rows; i++)
    for (int32_t p = x->pos[i]; p < x->pos[i + 1]; p++)
      for (int64_t d = 0; d < x->n_inner; d++) {
        double t = x->vals[p] * x->X[i * x->n_inner + d] * x->Y[x->crd[p] * x->n_inner + d];
        add(x->n_columns, x->O + i * x->n_columns, t, x->Z + x->crd[p] * x->n_columns);
      }
}

/* All entries of A times dot products, then a product with Z. */
static void apart(chain *x) {
  double *S = malloc((x->pos[x->n_rows] + 1) * sizeof *S);
  for (int64_t i = 0; i < x->n_rows; i++)
    for (int32_t p = x->pos[i]; p < x->pos[i + 1]; p++)
      S[p] = x->vals[p] * dot(x->n_inner, x->X + i * x->n_inner, x->Y + x->crd[p] * x->n_inner);
  for (int64_t i = 0; i < x->n_rows; i++)
    for (int32_t p = x->pos[i]; p < x->pos[i + 1]; p++)
      add(x->n_columns, x->O + i * x->n_columns, S[p], x->Z + x->crd[p] * x->n_columns);
  free(S);
}

/* Both for each entry of A. */
static void fused(chain *x) {
  for (int64_t i = 0; i < x->n_rows; i++)
    for (int32_t p = x->pos[i]; p < x->pos[i + 1]; p++) {
      const double *y = x->Y + x->crd[p] * x->n_inner;
      double t = x->vals[p] * dot(x->n_inner, x->X + i * x->n_inner, y);
      add(x->n_columns, x->O + i * x->n_columns, t, x->Z + x->crd[p] * x->n_columns);
    }
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)nest, (void)apart, (void)fused;
  sparsec_array *A = tensors[1]->arrays;
  chain x = {tensors[0]->extents[0], tensors[2]->extents[1], tensors[0]->extents[1],
             tensors[0]->arrays[0].data, A[0].data, A[1].data, A[2].data,
             tensors[2]->arrays[0].data, tensors[3]->arrays[0].data,
             tensors[4]->arrays[0].data};
  memset(x.O, 0, x.n_rows * x.n_columns * sizeof *x.O);
  FORM(&x);
  return SPARSEC_OK;
}
