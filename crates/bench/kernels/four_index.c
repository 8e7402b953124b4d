/* V(i,m,j,n) = sum over K, L of E(K,i,m) D(K,L) F(L,j,n): E and F in compressed fibers, D and V
   dense. FORM is one of the functions below; SLICE is how many i the first of them computes. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  const int64_t *extents;
  const int32_t *pos0, *crd0, *pos1, *crd1, *pos2, *crd2;
  const double *vals;
} fibers;

typedef struct {
  double *V;
  const double *D;
  fibers E, F;
} integrals;

#define EACH(t, level, parent)                                                       \
  for (int32_t t##level = x->t.pos##level[parent], t##end##level = x->t.pos##level[(parent) + 1]; \
       t##level < t##end##level; t##level++)

/* One nest over all six indices. */
static void nary(integrals *x) {
  int64_t nL = x->F.extents[0], nM = x->E.extents[2], nJ = x->F.extents[1], nN = x->F.extents[2];
  EACH(E, 0, 0)
  EACH(F, 0, 0) {
    double d = x->D[x->E.crd0[E0] * nL + x->F.crd0[F0]];
    EACH(E, 1, E0) {
      if (x->E.crd1[E1] >= SLICE) continue;
      EACH(E, 2, E1) {
        double *v = x->V + ((int64_t)x->E.crd1[E1] * nM + x->E.crd2[E2]) * nJ * nN;
        EACH(F, 1, F0)
        EACH(F, 2, F1)
        v[x->F.crd1[F1] * nN + x->F.crd2[F2]] += x->E.vals[E2] * d * x->F.vals[F2];
      }
    }
  }
}

/* Row K of D F in `T`. */
static void row_of(integrals *x, int64_t K, double *restrict T) {
  int64_t nL = x->F.extents[0], nN = x->F.extents[2];
  memset(T, 0, x->F.extents[1] * nN * sizeof *T);
  EACH(F, 0, 0) {
    double d = x->D[K * nL + x->F.crd0[F0]];
    EACH(F, 1, F0)
    EACH(F, 2, F1)
    T[x->F.crd1[F1] * nN + x->F.crd2[F2]] += d * x->F.vals[F2];
  }
}

/* A loop over K around both products, with a row as workspace. */
static void fused(integrals *x) {
  int64_t nM = x->E.extents[2], n = x->F.extents[1] * x->F.extents[2];
  double *restrict T = malloc((n + 1) * sizeof *T);
  EACH(E, 0, 0) {
    row_of(x, x->E.crd0[E0], T);
    EACH(E, 1, E0)
    EACH(E, 2, E1) {
      double *restrict v = x->V + ((int64_t)x->E.crd1[E1] * nM + x->E.crd2[E2]) * n;
      double e = x->E.vals[E2];
      for (int64_t jn = 0; jn < n; jn++) v[jn] = __builtin_fma(e, T[jn], v[jn]);
    }
  }
  free(T);
}

/* Every place of a tensor by its first mode, rows of `width`. */
static double *dense(integrals *x, int64_t width) {
  double *all = calloc(x->E.extents[0] * width + 1, sizeof *all);
  EACH(E, 0, 0)
  EACH(E, 1, E0)
  EACH(E, 2, E1)
  all[x->E.crd0[E0] * width + x->E.crd1[E1] * x->E.extents[2] + x->E.crd2[E2]] = x->E.vals[E2];
  return all;
}

/* Two dense products in blocks. */
static void blocked(integrals *x) {
  int64_t nK = x->E.extents[0], nL = x->F.extents[0];
  int64_t im = x->E.extents[1] * x->E.extents[2], jn = x->F.extents[1] * x->F.extents[2];
  int64_t wide = padded(jn, WIDE), high = padded(nK, HIGH), both = padded(im, HIGH);
  integrals other = *x;
  other.E = x->F;
  double *F = dense(&other, wide), *E = dense(x, both);
  double *Dt = calloc(nL * high + 1, sizeof *Dt), *T = calloc(nK * wide + 1, sizeof *T);
  for (int64_t k = 0; k < nK; k++)
    for (int64_t l = 0; l < nL; l++) Dt[l * high + k] = x->D[k * nL + l];
  product(nK, wide, nL, Dt, high, F, wide, T);
  product(im, jn, nK, E, both, T, wide, x->V);
  free(F), free(E), free(Dt), free(T);
}

static fibers fibers_of(sparsec_tensor *tensor) {
  sparsec_array *a = tensor->arrays;
  return (fibers){tensor->extents, a[0].data, a[1].data, a[2].data, a[3].data,
                  a[4].data,       a[5].data, a[6].data};
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)nary, (void)fused, (void)blocked;
  const int64_t *extents = tensors[0]->extents;
  integrals x = {tensors[0]->arrays[0].data, tensors[2]->arrays[0].data, fibers_of(tensors[1]),
                 fibers_of(tensors[3])};
  memset(x.V, 0, extents[0] * extents[1] * extents[2] * extents[3] * sizeof *x.V);
  FORM(&x);
  return SPARSEC_OK;
}
