/* E(K,i,m) = sum over a, b of I(K,a,b) C(a,i) P(b,m): I in compressed fibers, C and P by
   rows, E dense. If RESTRICTED is 1, times L(K,i), which is stored by rows: C is stored by
   columns, and E has a dense row for each entry of L. FORM is one of the functions below;
   SLICE is how many matrices of I the first of them computes. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n_rows, n_columns;
  const int32_t *pos, *crd;
  const double *vals;
} rows;

typedef struct {
  int64_t nK, nI, nM, nA, nB;
  double *E;
  const int32_t *pos0, *crd0, *pos1, *crd1, *pos2, *crd2;
  const double *vals;
  rows C, P, L;
} integrals;

/* The columns of a matrix, as rows of its transpose. */
static rows turned(rows a) {
  int32_t *pos = calloc(a.n_columns + 2, sizeof *pos);
  int32_t n = a.pos[a.n_rows];
  int32_t *crd = malloc((n + 1) * sizeof *crd);
  double *vals = malloc((n + 1) * sizeof *vals);
  for (int32_t p = 0; p < n; p++) pos[a.crd[p] + 2]++;
  for (int64_t j = 0; j < a.n_columns; j++) pos[j + 2] += pos[j + 1];
  for (int64_t i = 0; i < a.n_rows; i++)
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; p++) {
      int32_t to = pos[a.crd[p] + 1]++;
      crd[to] = i;
      vals[to] = a.vals[p];
    }
  return (rows){a.n_columns, a.n_rows, pos, crd, vals};
}

static void drop(rows a) {
  free((void *)a.pos);
  free((void *)a.crd);
  free((void *)a.vals);
}

/* The columns of C, as rows. */
static rows columns(integrals *x) { return RESTRICTED ? x->C : turned(x->C); }

static void drop_columns(rows a) {
  if (!RESTRICTED) drop(a);
}

/* The rows of matrix K of E: of all orbitals, or of those that L has. */
#define EACH_ROW(K, l)                                         \
  for (int64_t l = RESTRICTED ? x->L.pos[K] : (K) * x->nI,     \
               end = RESTRICTED ? x->L.pos[(K) + 1] : l + x->nI; \
       l < end; l++)

/* The orbital of a row of matrix K. */
static int64_t orbital(integrals *x, int64_t K, int64_t l) {
  return RESTRICTED ? x->L.crd[l] : l - K * x->nI;
}

static double factor(integrals *x, int64_t l) { return RESTRICTED ? x->L.vals[l] : 1.0; }

/* Every place of a matrix, in rows of `width`. */
static double *dense(rows a, int64_t width) {
  double *all = calloc(a.n_rows * width + 1, sizeof *all);
  for (int64_t i = 0; i < a.n_rows; i++)
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; p++) all[i * width + a.crd[p]] = a.vals[p];
  return all;
}

/* One nest, as TACO writes it: loops K, i, a, b, m, with a merge over a. */
static void nary(integrals *x) {
  rows Ct = columns(x);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1] && p0 < SLICE; p0++)
    EACH_ROW(x->crd0[p0], l) {
      int64_t i = orbital(x, x->crd0[p0], l);
      double *e = x->E + l * x->nM;
      int32_t p1 = x->pos1[p0], c = Ct.pos[i];
      while (p1 < x->pos1[p0 + 1] && c < Ct.pos[i + 1]) {
        int32_t a = x->crd1[p1], other = Ct.crd[c];
        if (a == other)
          for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
            int32_t b = x->crd2[p2];
            for (int32_t m = x->P.pos[b]; m < x->P.pos[b + 1]; m++)
              e[x->P.crd[m]] += x->vals[p2] * Ct.vals[c] * x->P.vals[m] * factor(x, l);
          }
        p1 += a <= other;
        c += other <= a;
      }
    }
  drop_columns(Ct);
}

/* The sparse intermediate T(K,i,b) as rows, one for each K and i. */
static rows intermediate(integrals *x) {
  int64_t most = x->nK * x->nI * x->nB;
  int32_t *pos = calloc(x->nK * x->nI + 1, sizeof *pos);
  int32_t *crd = malloc((most + 1) * sizeof *crd);
  double *vals = malloc((most + 1) * sizeof *vals);
  return (rows){x->nK * x->nI, x->nB, pos, crd, vals};
}

/* Two statements, each with a merge for each entry of its result. */
static void merges(integrals *x) {
  rows Ct = turned(x->C), Pt = turned(x->P), T = intermediate(x);
  int32_t *pos = (int32_t *)T.pos, *crd = (int32_t *)T.crd, n = 0;
  double *vals = (double *)T.vals;
  int32_t *first = malloc((x->nB + 2) * sizeof *first);
  int64_t row = 0, most = x->nA * x->nB;
  int32_t *as = malloc((most + 1) * sizeof *as);
  double *vs = malloc((most + 1) * sizeof *vs);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++) {
    while (row <= x->crd0[p0] * x->nI) pos[row++] = n;
    /* The matrix K of I by columns. */
    memset(first, 0, (x->nB + 2) * sizeof *first);
    for (int32_t p2 = x->pos2[x->pos1[p0]]; p2 < x->pos2[x->pos1[p0 + 1]]; p2++)
      first[x->crd2[p2] + 2]++;
    for (int64_t b = 0; b < x->nB; b++) first[b + 2] += first[b + 1];
    for (int32_t p1 = x->pos1[p0]; p1 < x->pos1[p0 + 1]; p1++)
      for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
        int32_t to = first[x->crd2[p2] + 1]++;
        as[to] = x->crd1[p1];
        vs[to] = x->vals[p2];
      }
    for (int64_t i = 0; i < x->nI; i++) {
      for (int64_t b = 0; b < x->nB; b++) {
        int32_t p = first[b], c = Ct.pos[i];
        double sum = 0.0;
        _Bool meets = 0;
        while (p < first[b + 1] && c < Ct.pos[i + 1]) {
          int32_t a = as[p], other = Ct.crd[c];
          if (a == other) {
            sum += vs[p] * Ct.vals[c];
            meets = 1;
          }
          p += a <= other;
          c += other <= a;
        }
        if (meets) {
          crd[n] = b;
          vals[n++] = sum;
        }
      }
      pos[row++] = n;
    }
  }
  while (row <= x->nK * x->nI) pos[row++] = n;
  for (int64_t r = 0; r < T.n_rows; r++)
    for (int64_t m = 0; m < x->nM; m++) {
      int32_t p = T.pos[r], q = Pt.pos[m];
      double sum = 0.0;
      while (p < T.pos[r + 1] && q < Pt.pos[m + 1]) {
        int32_t b = T.crd[p], other = Pt.crd[q];
        if (b == other) sum += T.vals[p] * Pt.vals[q];
        p += b <= other;
        q += other <= b;
      }
      x->E[r * x->nM + m] = sum;
    }
  free(first), free(as), free(vs);
  drop(Ct), drop(Pt), drop(T);
}

/* Row (K, i) of I * C in `w`, with the touched places marked. */
static void row_of(integrals *x, rows Ct, int32_t p0, int64_t i, double *w, char *touched) {
  int32_t p1 = x->pos1[p0], c = Ct.pos[i];
  while (p1 < x->pos1[p0 + 1] && c < Ct.pos[i + 1]) {
    int32_t a = x->crd1[p1], other = Ct.crd[c];
    if (a == other)
      for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
        w[x->crd2[p2]] += x->vals[p2] * Ct.vals[c];
        touched[x->crd2[p2]] = 1;
      }
    p1 += a <= other;
    c += other <= a;
  }
}

/* Two statements by rows: each row of a result is a sum of rows. */
static void gustavson(integrals *x) {
  rows Ct = turned(x->C), T = intermediate(x);
  int32_t *pos = (int32_t *)T.pos, *crd = (int32_t *)T.crd, n = 0;
  double *vals = (double *)T.vals, *w = calloc(x->nB + 1, sizeof *w);
  char *touched = calloc(x->nB + 1, 1);
  int64_t row = 0;
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++) {
    while (row <= x->crd0[p0] * x->nI) pos[row++] = n;
    for (int64_t i = 0; i < x->nI; i++) {
      row_of(x, Ct, p0, i, w, touched);
      for (int64_t b = 0; b < x->nB; b++)
        if (touched[b]) {
          crd[n] = b;
          vals[n++] = w[b];
          w[b] = 0.0;
          touched[b] = 0;
        }
      pos[row++] = n;
    }
  }
  while (row <= x->nK * x->nI) pos[row++] = n;
  for (int64_t r = 0; r < T.n_rows; r++) {
    double *e = x->E + r * x->nM;
    for (int32_t p = T.pos[r]; p < T.pos[r + 1]; p++)
      for (int32_t m = x->P.pos[T.crd[p]]; m < x->P.pos[T.crd[p] + 1]; m++)
        e[x->P.crd[m]] += T.vals[p] * x->P.vals[m];
  }
  free(w), free(touched);
  drop(Ct), drop(T);
}

/* CoNST's plan: loops over K and i around both, with a workspace of one mode. */
static void fused(integrals *x) {
  rows Ct = columns(x);
  double *w = calloc(x->nB + 1, sizeof *w);
  char *touched = calloc(x->nB + 1, 1);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++)
    EACH_ROW(x->crd0[p0], l) {
      double *e = x->E + l * x->nM;
      row_of(x, Ct, p0, orbital(x, x->crd0[p0], l), w, touched);
      for (int64_t b = 0; b < x->nB; b++)
        if (touched[b]) {
          double t = w[b] * factor(x, l);
          for (int32_t m = x->P.pos[b]; m < x->P.pos[b + 1]; m++)
            e[x->P.crd[m]] += t * x->P.vals[m];
          w[b] = 0.0;
          touched[b] = 0;
        }
    }
  free(w), free(touched);
  drop_columns(Ct);
}

/* The same with P dense. */
static void fused_dense(integrals *x) {
  rows Ct = columns(x);
  double *w = calloc(x->nB + 1, sizeof *w), *P = dense(x->P, x->nM);
  char *touched = calloc(x->nB + 1, 1);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++)
    EACH_ROW(x->crd0[p0], l) {
      double *restrict e = x->E + l * x->nM;
      row_of(x, Ct, p0, orbital(x, x->crd0[p0], l), w, touched);
      for (int64_t b = 0; b < x->nB; b++)
        if (touched[b]) {
          const double *restrict p = P + b * x->nM;
          double t = w[b] * factor(x, l);
          for (int64_t m = 0; m < x->nM; m++) e[m] += t * p[m];
          w[b] = 0.0;
          touched[b] = 0;
        }
    }
  free(w), free(touched), free(P);
  drop_columns(Ct);
}

/* Matrix K of I * C in W(b,i), rows of `width`. */
static void matrix_of(integrals *x, int32_t p0, double *W, int64_t width) {
  memset(W, 0, x->nB * width * sizeof *W);
  for (int32_t p1 = x->pos1[p0]; p1 < x->pos1[p0 + 1]; p1++) {
    int32_t a = x->crd1[p1];
    for (int32_t p2 = x->pos2[p1]; p2 < x->pos2[p1 + 1]; p2++) {
      double *w = W + x->crd2[p2] * width;
      for (int32_t c = x->C.pos[a]; c < x->C.pos[a + 1]; c++)
        w[x->C.crd[c]] += x->vals[p2] * x->C.vals[c];
    }
  }
}

/* A loop over K around both, with a workspace of two modes and a dense product in
   blocks. */
static void blocked(integrals *x) {
  int64_t nI = padded(x->nI, HIGH), nM = padded(x->nM, WIDE);
  double *W = malloc((x->nB * nI + 1) * sizeof *W), *P = dense(x->P, nM);
  for (int32_t p0 = x->pos0[0]; p0 < x->pos0[1]; p0++) {
    double *E = x->E + x->crd0[p0] * x->nI * x->nM;
    matrix_of(x, p0, W, nI);
    product(x->nI, x->nM, x->nB, W, nI, P, nM, E);
  }
  free(W), free(P);
}

typedef void gemm(int, int, int, int, int, int, double, const double *, int, const double *, int,
                  double, double *, int);

/* The product of an installed library; null if there is none. */
static gemm *installed(void) {
  const char *names[] = {"libmkl_rt.so.2", "libmkl_rt.so", "libopenblas.so.0", "libblas.so.3"};
  for (int n = 0; n < 4; n++) {
    void *library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
    gemm *found = library ? (gemm *)dlsym(library, "cblas_dgemm") : 0;
    if (!found) continue;
    const char *setters[] = {"openblas_set_num_threads", "MKL_Set_Num_Threads"};
    for (int s = 0; s < 2; s++) {
      void (*set)(int) = (void (*)(int))dlsym(library, setters[s]);
      if (set) set(1);
    }
    return found;
  }
  return 0;
}

/* The same with the product of that library. */
static void library(integrals *x) {
  gemm *product = installed();
  double *W = malloc((x->nB * x->nI + 1) * sizeof *W), *P = dense(x->P, x->nM);
  for (int32_t p0 = x->pos0[0]; product && p0 < x->pos0[1]; p0++) {
    matrix_of(x, p0, W, x->nI);
    product(101, 112, 111, x->nI, x->nM, x->nB, 1.0, W, x->nI, P, x->nM, 0.0,
            x->E + x->crd0[p0] * x->nI * x->nM, x->nM);
  }
  free(W), free(P);
}

static rows rows_of(sparsec_tensor *tensor) {
  return (rows){tensor->extents[0], tensor->extents[1], tensor->arrays[0].data,
                tensor->arrays[1].data, tensor->arrays[2].data};
}

/* The result of restricted integrals: the entries of L, with a dense row each. */
static _Bool assemble(sparsec_context *context, sparsec_array *E, integrals *x) {
  int64_t n = x->L.pos[x->nK];
  if (!has_room(context, &E[0], x->nK + 1, sizeof(int32_t))
      || !has_room(context, &E[1], n, sizeof(int32_t))
      || !has_room(context, &E[2], n * x->nM, sizeof(double)))
    return 0;
  memcpy(E[0].data, x->L.pos, (x->nK + 1) * sizeof(int32_t));
  memcpy(E[1].data, x->L.crd, n * sizeof(int32_t));
  x->E = E[2].data;
  E[0].len = x->nK + 1;
  E[1].len = n;
  E[2].len = n * x->nM;
  return 1;
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)nary, (void)merges, (void)gustavson, (void)fused, (void)fused_dense, (void)blocked;
  (void)library;
  sparsec_array *E = tensors[0]->arrays, *I = tensors[1]->arrays;
  const int64_t *extents = tensors[0]->extents;
  integrals x = {extents[0], extents[1], extents[2], tensors[2]->extents[0],
                 tensors[3]->extents[0], E[0].data, I[0].data, I[1].data, I[2].data,
                 I[3].data, I[4].data, I[5].data, I[6].data, rows_of(tensors[2]),
                 rows_of(tensors[3])};
  if (RESTRICTED) {
    x.L = rows_of(tensors[4]);
    if (!assemble(context, E, &x)) return SPARSEC_OUT_OF_MEMORY;
  }
  int64_t n = RESTRICTED ? x.L.pos[x.nK] : x.nK * x.nI;
  memset(x.E, 0, n * x.nM * sizeof *x.E);
  FORM(&x);
  return SPARSEC_OK;
}
