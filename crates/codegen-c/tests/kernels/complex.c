/* The two parts of a number are rounded as they are written. */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#pragma GCC optimize ("no-tree-slp-vectorize")
#endif

/* A complex number. */
typedef struct sparsec_c64 {
  float re;
  float im;
} sparsec_c64;

/* A complex number. */
typedef struct sparsec_c128 {
  double re;
  double im;
} sparsec_c128;

/* Of the C library: link with -lm. */
double fabs(double x);
double hypot(double x, double y);
double sqrt(double x);
float hypotf(float x, float y);

/* The larger; NaN if either is. */
static inline float sparsec_max_f32(float a, float b) {
  return a > b || a != a ? a : b;
}

/* a where all bits of mask are set, b where none is; compilers would guess which, by a
   branch. */
static inline double sparsec_pick_f64(int64_t mask, double a, double b) {
#if defined(__GNUC__)
  typedef double floats __attribute__((vector_size(16)));
  typedef int64_t words __attribute__((vector_size(16)));
  const words wanted = { mask };
  const floats x = { a }, y = { b };
  return ((floats)(((words)x & wanted) | ((words)y & ~wanted)))[0];
#else
  union { double value; uint64_t bits; } x = { a }, y = { b };
  x.bits = (x.bits & (uint64_t)mask) | (y.bits & ~(uint64_t)mask);
  return x.value;
#endif
}

static inline float sparsec_abs_c64(sparsec_c64 a) {
  return hypotf(a.re, a.im);
}

static inline sparsec_c128 sparsec_add_c128(sparsec_c128 a, sparsec_c128 b) {
  return (sparsec_c128){ a.re + b.re, a.im + b.im };
}

static inline sparsec_c64 sparsec_conj_c64(sparsec_c64 a) {
  return (sparsec_c64){ a.re, -a.im };
}

static inline sparsec_c128 sparsec_div_c128(sparsec_c128 a, sparsec_c128 b) {
  bool t = fabs(b.re) < fabs(b.im);
  double t_2 = sparsec_pick_f64(-(int64_t)(t), b.im, b.re);
  double t_3 = sparsec_pick_f64(-(int64_t)(t), b.re, b.im);
  double t_4 = t_3 == 0.0 ? 0.0 : t_3 / t_2;
  double t_5 = t_2 + t_3 * t_4;
  double t_6 = sparsec_pick_f64(-(int64_t)(t), a.im, a.re);
  double t_7 = sparsec_pick_f64(-(int64_t)(t), a.re, a.im);
  double t_8 = t_7 + t_6 * (-t_4);
  return (sparsec_c128){ (t_6 + t_7 * t_4) / t_5, (t ? -t_8 : t_8) / t_5 };
}

static inline sparsec_c128 sparsec_mul_c128(sparsec_c128 a, sparsec_c128 b) {
  return (sparsec_c128){ a.re * b.re + a.im * (-b.im), a.re * b.im + a.im * b.re };
}

static inline sparsec_c128 sparsec_neg_c128(sparsec_c128 a) {
  return (sparsec_c128){ -a.re, -a.im };
}

static inline sparsec_c128 sparsec_sqrt_c128(sparsec_c128 a) {
  double t = sqrt(hypot(a.re, a.im) * 0.5 + fabs(a.re) * 0.5);
  double t_2 = a.im / t * 0.5;
  bool t_3 = a.re < 0.0;
  double t_4 = -t;
  bool t_5 = a.re == 0.0 && a.im == 0.0;
  return (sparsec_c128){ t_5 ? 0.0 : t_3 ? fabs(t_2) : t, t_5 ? a.im : t_3 ? (a.im < 0.0 ? t_4 : 1.0 / a.im < 0.0 ? t_4 : t) : t_2 };
}

/*
 * The kernel complex; its loops come first.
 *
 * out y: (i) -> (i : dense)
 *     arrays y.vals: pairs of double (real and imaginary)
 * out s: () -> ()
 *     arrays s.vals: float
 * in  A: (i, j) -> (i : dense, j : compressed)
 *     arrays A1.pos: int32_t, A1.crd: int32_t, A.vals: pairs of float (real and imaginary)
 * in  x: (i) -> (i : dense)
 *     arrays x.vals: pairs of double (real and imaginary)
 */
static inline int32_t complex_loops(
    int64_t y_n0,
    sparsec_c128 *restrict y_vals,
    float *restrict s_vals,
    const int32_t *restrict A1_pos,
    const int32_t *restrict A1_crd,
    const sparsec_c64 *restrict A_vals,
    const sparsec_c128 *restrict x_vals) {
  float most = 0.0f;
  for (int64_t i = 0; i < y_n0; i++) {
    sparsec_c128 t = (sparsec_c128){ 0.0, 0.0 };
    for (int64_t pA1 = A1_pos[i]; pA1 < A1_pos[i + 1]; pA1++) {
      int64_t j = A1_crd[pA1];
      sparsec_c64 value = sparsec_conj_c64(A_vals[pA1]);
      t = sparsec_add_c128(t, sparsec_mul_c128((sparsec_c128){ (double)value.re, (double)value.im }, x_vals[j]));
      most = sparsec_max_f32(most, sparsec_abs_c64(A_vals[pA1]));
    }
    y_vals[i] = t.re == 0.0 ? sparsec_div_c128(sparsec_sqrt_c128(t), (sparsec_c128){ 1.0, -0.5 }) : sparsec_neg_c128(t);
    y_vals[i] = sparsec_mul_c128(y_vals[i], (sparsec_c128){ 2.0, 0 });
  }
  s_vals[0] = most;
  return SPARSEC_OK;
}

int32_t complex(
    sparsec_context *context,
    sparsec_tensor *y,
    sparsec_tensor *s,
    const sparsec_tensor *A,
    const sparsec_tensor *x) {
  (void)context;
  return complex_loops(
      y->extents[0],
      y->arrays[0].data,
      s->arrays[0].data,
      A->arrays[0].data,
      A->arrays[1].data,
      A->arrays[2].data,
      x->arrays[0].data);
}
