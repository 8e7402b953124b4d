/* Of the C library: link with -lm. */
double copysign(double x, double y);
double exp(double x);
double fabs(double x);
double floor(double x);
double fmod(double x, double y);
double pow(double x, double y);
double tanh(double x);
float copysignf(float x, float y);
float fabsf(float x);
float floorf(float x);
float fmodf(float x, float y);
float sqrtf(float x);

/* The absolute value; of the least integer, itself. */
static inline int32_t sparsec_abs_i32(int32_t a) {
  return a < 0 ? -a : a;
}

/* The floor of the quotient; b is not 0. */
static inline int32_t sparsec_floordiv_i32(int32_t a, int32_t b) {
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The floor of the exact quotient. */
static inline double sparsec_floordiv_f64(double a, double b) {
  if (b == 0) return a / b;
  double rest = fmod(a, b);
  double whole = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) whole -= 1;
  if (whole == 0) return copysign(0, a / b);
  double below = floor(whole);
  return whole - below > 0.5 ? below + 1 : below;
}

/* The remainder of the floored quotient; b is not 0. */
static inline int32_t sparsec_mod_i32(int32_t a, int32_t b) {
  if (b == -1) return 0;
  int32_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The remainder of the floored quotient, exact, with the sign of b. */
static inline float sparsec_mod_f32(float a, float b) {
  float rest = fmodf(a, b);
  if (rest == 0) return copysignf(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The smaller. */
static inline int64_t sparsec_min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The smaller; NaN if either is. */
static inline float sparsec_min_f32(float a, float b) {
  return a < b || a != a ? a : b;
}

/* The smaller; NaN if either is. */
static inline double sparsec_min_f64(double a, double b) {
  return a < b || a != a ? a : b;
}

/* The larger. */
static inline int32_t sparsec_max_i32(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* The larger; NaN if either is. */
static inline float sparsec_max_f32(float a, float b) {
  return a > b || a != a ? a : b;
}

/* The larger; NaN if either is. */
static inline double sparsec_max_f64(double a, double b) {
  return a > b || a != a ? a : b;
}

/*
 * The kernel types; its loops come first.
 *
 * out y: (i) -> (i : dense)
 *     arrays y.vals: float
 * out m: (i) -> (i : dense)
 *     arrays m.vals: bool
 * out k: (i) -> (i : dense)
 *     arrays k.vals: int32_t
 * out int: (i) -> (i : dense)
 *     arrays int.vals: double
 * in  x: (i) -> (i : dense)
 *     arrays x.vals: float
 * in  z: (i) -> (i : dense)
 *     arrays z.vals: double
 * in  c: (i) -> (i : dense)
 *     arrays c.vals: int32_t
 * in  e: (i) -> (i : dense)
 *     arrays e.vals: int32_t
 * in  s: (i) -> (i : dense)
 *     arrays s.vals: bool
 */
static inline int32_t types_loops(
    int64_t y_n0,
    float *restrict y_vals,
    bool *restrict m_vals,
    int32_t *restrict k_vals,
    double *restrict int_vals,
    const float *restrict x_vals,
    const double *restrict z_vals,
    const int32_t *restrict c_vals,
    const int32_t *restrict e_vals,
    const bool *restrict s_vals) {
  for (int64_t i = 0; i < y_n0; i++) {
    float double_ = x_vals[i];
    y_vals[i] = (double_ - 0.1f) * (double_ - (double_ - double_)) / 3.0f;
    y_vals[i] = sparsec_max_f32(y_vals[i], double_);
    y_vals[i] = sparsec_min_f32(y_vals[i], __builtin_inff());
    y_vals[i] += sqrtf(fabsf(double_)) + sparsec_mod_f32(floorf(double_), 0.75f);
    m_vals[i] = (x_vals[i] < 1.0f && s_vals[i]) || !s_vals[i];
    m_vals[i] = m_vals[i] || z_vals[i] != z_vals[i];
    m_vals[i] = m_vals[i] && s_vals[i] == (c_vals[i] < 3);
    k_vals[i] = e_vals[i] * e_vals[i] + INT32_MIN - (-e_vals[i]);
    k_vals[i] = sparsec_floordiv_i32(k_vals[i], 7) - sparsec_mod_i32(k_vals[i], -3) + sparsec_abs_i32(k_vals[i]);
    k_vals[i] = sparsec_max_i32(k_vals[i], e_vals[i]);
    k_vals[i] += (int32_t)(((int64_t)c_vals[i] * c_vals[i]) >> 16);
    int_vals[i] = (double)((int64_t)c_vals[i] * c_vals[i]) + sparsec_floordiv_f64(z_vals[i], 0.3) + 1e30 + (-(-1.5));
    int_vals[i] -= sparsec_max_f64(z_vals[i], -__builtin_inf()) - (z_vals[i] > 1000000000.0 ? __builtin_nan("") : sparsec_min_f64(z_vals[i], 0.5));
    int_vals[i] *= (double)((int64_t)c_vals[i] + 1) + (double)s_vals[i] + (double)x_vals[i];
    int_vals[i] += exp(z_vals[i]) + pow(fabs(z_vals[i]), 0.5) + tanh(z_vals[i]);
    int_vals[i] += (double)sparsec_min_i64(c_vals[i], 5) + (double)INT64_MIN + (double)((int64_t)s_vals[i] - 1);
  }
  return SPARSEC_OK;
}

int32_t types(
    sparsec_context *context,
    sparsec_tensor *y,
    sparsec_tensor *m,
    sparsec_tensor *k,
    sparsec_tensor *int_,
    const sparsec_tensor *x,
    const sparsec_tensor *z,
    const sparsec_tensor *c,
    const sparsec_tensor *e,
    const sparsec_tensor *s) {
  (void)context;
  return types_loops(
      y->extents[0],
      y->arrays[0].data,
      m->arrays[0].data,
      k->arrays[0].data,
      int_->arrays[0].data,
      x->arrays[0].data,
      z->arrays[0].data,
      c->arrays[0].data,
      e->arrays[0].data,
      s->arrays[0].data);
}
