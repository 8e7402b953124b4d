/* Products of a tensor T in compressed fibers with a matrix for each mode but MODE, dense by
   rows. T has ORDER modes. Columns are multiplied entry by entry (OUTER is 0), or each with
   each (OUTER is 1):

     M(i,r)   = sum over j, k of T(i,j,k) B(j,r) D(k,r)
     Y(i,q,s) = sum over j, k of T(i,j,k) B(j,q) D(k,s)

   FORM is one of the functions below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t rank;
  const int32_t *pos[4], *crd[4];
  const double *vals;
  /* By mode: a matrix; of MODE the result. */
  double *rows[4];
  int64_t widths[4];
} fibers;

#define ADD(out, a, b) ((out) = __builtin_fma(a, b, out))

#define EACH(level, parent)                                             \
  for (int32_t p##level = x->pos[level][parent], end##level = x->pos[level][(parent) + 1]; \
       p##level < end##level; p##level++)

/* The row of the matrix of a mode that a position of T leads to. */
static inline double *row(const fibers *x, int mode, int32_t p) {
  return x->rows[mode] + x->crd[mode][p] * x->widths[mode];
}

static inline void clear(int64_t n, double *out) { memset(out, 0, n * sizeof *out); }

/* out += t a */
static inline void add(int64_t n, double *restrict out, double t, const double *restrict a) {
  for (int64_t r = 0; r < n; r++) ADD(out[r], t, a[r]);
}

/* out += a b, entry by entry or each with each. */
static inline void combine(int64_t na, int64_t nb, double *restrict out, const double *restrict a,
                           const double *restrict b) {
  if (!OUTER)
    for (int64_t r = 0; r < nb; r++) ADD(out[r], a[r], b[r]);
  else
    for (int64_t q = 0; q < na; q++)
      for (int64_t s = 0; s < nb; s++) ADD(out[q * nb + s], a[q], b[s]);
}

/* An entry t of T times a row of each matrix, columns innermost. */
static inline void entry(int64_t n, double *restrict out, double t, const double *restrict a,
                         const double *restrict b, const double *restrict c) {
  if (!OUTER && ORDER == 3)
    for (int64_t r = 0; r < n; r++) ADD(out[r], t * a[r], b[r]);
  else if (!OUTER)
    for (int64_t r = 0; r < n; r++) ADD(out[r], t * a[r] * b[r], c[r]);
  else
    for (int64_t q = 0; q < n; q++)
      if (ORDER == 3)
        for (int64_t s = 0; s < n; s++) ADD(out[q * n + s], t * a[q], b[s]);
      else
        for (int64_t s = 0; s < n; s++)
          for (int64_t u = 0; u < n; u++) ADD(out[(q * n + s) * n + u], t * a[q] * b[s], c[u]);
}

/* One nest with the loops over columns innermost. */
static void nest(const fibers *x) {
  EACH(0, 0) {
    double *r0 = row(x, 0, p0);
    EACH(1, p0) {
      double *r1 = row(x, 1, p1);
      EACH(2, p1) {
        double *r2 = row(x, 2, p2);
        if (ORDER == 3)
          entry(x->rank, MODE == 0 ? r0 : MODE == 1 ? r1 : r2, x->vals[p2], MODE == 0 ? r1 : r0,
                MODE == 2 ? r1 : r2, 0);
        else
          EACH(3, p2) {
            double *r3 = row(x, 3, p3);
            entry(x->rank, MODE == 0 ? r0 : MODE == 1 ? r1 : MODE == 2 ? r2 : r3, x->vals[p3],
                  MODE == 0 ? r1 : r0, MODE <= 1 ? r2 : r1, MODE == 3 ? r2 : r3);
          }
      }
    }
  }
}

static double *room(int64_t n) { return malloc((n + 1) * sizeof(double)); }

/* Fibers below the mode of the result are summed before they are multiplied by rows, and rows
   above it are multiplied once. */
static void factored(const fibers *x) {
  const int64_t n = x->rank, n2 = OUTER ? n * n : n, n3 = OUTER ? n2 * n : n;
  double *w = room(n), *v = room(n2), *ab = room(n2), *abc = room(n3);
  EACH(0, 0) {
    double *r0 = row(x, 0, p0);
    EACH(1, p0) {
      double *r1 = row(x, 1, p1);
      /* Of the rows of the two outer modes, that of the result and the other one. */
      double *out = MODE == 0 ? r0 : r1, *other = MODE == 0 ? r1 : r0;
      if (MODE >= 2) {
        clear(n2, ab);
        combine(n, n, ab, r0, r1);
      }
      if (ORDER == 3) {
        if (MODE == 2)
          EACH(2, p1) add(n2, row(x, 2, p2), x->vals[p2], ab);
        else {
          clear(n, w);
          EACH(2, p1) add(n, w, x->vals[p2], row(x, 2, p2));
          combine(n, n, out, other, w);
        }
        continue;
      }
      clear(n2, v);
      EACH(2, p1) {
        double *r2 = row(x, 2, p2);
        if (MODE == 3) {
          clear(n3, abc);
          combine(n2, n, abc, ab, r2);
          EACH(3, p2) add(n3, row(x, 3, p3), x->vals[p3], abc);
        } else {
          clear(n, w);
          EACH(3, p2) add(n, w, x->vals[p3], row(x, 3, p3));
          if (MODE == 2)
            combine(n2, n, r2, ab, w);
          else
            combine(n, n, v, r2, w);
        }
      }
      if (MODE < 2) combine(n, n2, out, other, v);
    }
  }
  free(w), free(v), free(ab), free(abc);
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)nest, (void)factored;
  sparsec_array *T = tensors[1]->arrays;
  fibers x = {.vals = T[2 * ORDER].data};
  int64_t width = 1;
  for (int mode = 0, next = 2; mode < ORDER; mode++) {
    x.pos[mode] = T[2 * mode].data;
    x.crd[mode] = T[2 * mode + 1].data;
    if (mode == MODE) continue;
    x.rows[mode] = tensors[next]->arrays[0].data;
    x.rank = x.widths[mode] = tensors[next++]->extents[1];
    width = OUTER ? width * x.rank : x.rank;
  }
  x.rows[MODE] = tensors[0]->arrays[0].data;
  x.widths[MODE] = width;
  clear(tensors[0]->extents[0] * width, x.rows[MODE]);
  FORM(&x);
  return SPARSEC_OK;
}
