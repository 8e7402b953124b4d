/* M(i,r) = sum over j, k of T(i,j,k) B(j,r) D(k,r): T in compressed fibers, the others dense
   by rows. FORM is one of the functions below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t rank;
  double *M;
  const int32_t *pos0, *crd0, *pos1, *crd1, *pos2, *crd2;
  const double *vals, *B, *D;
} fibers;

/* One nest with r innermost. */
static void nest(fibers *x) {
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++) {
    double *restrict m = x->M + x->crd0[p0] * x->rank;
    for (int32_t p1 = x->pos1[p0]; p1 < x->pos1[p0 + 1]; p1++) {
      const double *restrict b = x->B + x->crd1[p1] * x->rank;
      for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
        const double *restrict d = x->D + x->crd2[p2] * x->rank;
        double t = x->vals[p2];
        for (int64_t r = 0; r < x->rank; r++) m[r] += t * b[r] * d[r];
      }
    }
  }
}

/* Each fiber is summed before it is multiplied by a row of B. */
static void factored(fibers *x) {
  double *restrict w = malloc((x->rank + 1) * sizeof *w);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++) {
    double *restrict m = x->M + x->crd0[p0] * x->rank;
    for (int32_t p1 = x->pos1[p0]; p1 < x->pos1[p0 + 1]; p1++) {
      const double *restrict b = x->B + x->crd1[p1] * x->rank;
      memset(w, 0, x->rank * sizeof *w);
      for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
        const double *restrict d = x->D + x->crd2[p2] * x->rank;
        double t = x->vals[p2];
        for (int64_t r = 0; r < x->rank; r++) w[r] += t * d[r];
      }
      for (int64_t r = 0; r < x->rank; r++) m[r] += w[r] * b[r];
    }
  }
  free(w);
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)nest, (void)factored;
  sparsec_array *M = tensors[0]->arrays, *T = tensors[1]->arrays;
  sparsec_array *B = tensors[2]->arrays, *D = tensors[3]->arrays;
  fibers x = {tensors[0]->extents[1], M[0].data, T[0].data, T[1].data, T[2].data, T[3].data,
              T[4].data, T[5].data, T[6].data, B[0].data, D[0].data};
  memset(x.M, 0, tensors[0]->extents[0] * x.rank * sizeof *x.M);
  FORM(&x);
  return SPARSEC_OK;
}
