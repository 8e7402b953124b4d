/* The floor of the quotient; b is not 0. */
static inline int64_t sparsec_floordiv_i64(int64_t a, int64_t b) {
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The remainder of the floored quotient; b is not 0. */
static inline int64_t sparsec_mod_i64(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Whether a, truncated, is an int32_t. */
static inline int sparsec_fits_i32(double a) {
  return a > -2147483649.0 && a < 2147483648.0;
}

/* Whether a, truncated, is an int64_t. */
static inline int sparsec_fits_i64(double a) {
  return a >= -9223372036854775808.0 && a < 9223372036854775808.0;
}

/*
 * The kernel quotient; its loops come first.
 *
 * out q: (i) -> (i : dense)
 *     arrays q.vals: int64_t
 * in  a: (i) -> (i : dense)
 *     arrays a.vals: int64_t
 * in  b: (i) -> (i : dense)
 *     arrays b.vals: int64_t
 * in  f: (i) -> (i : dense)
 *     arrays f.vals: double
 */
static inline int32_t quotient_loops(
    int64_t q_n0,
    int64_t *restrict q_vals,
    const int64_t *restrict a_vals,
    const int64_t *restrict b_vals,
    const double *restrict f_vals) {
  for (int64_t at = 0; at < q_n0; at++) q_vals[at] = 7;
  for (int64_t i = 0; i < q_n0; i++) {
    bool holds = b_vals[i] != 0;
    if (holds) {
      int64_t divisor = b_vals[i];
      if (divisor == 0) return SPARSEC_DIVISION_BY_ZERO;
      holds = sparsec_floordiv_i64(a_vals[i], divisor) > 1;
    }
    if (holds) {
      int64_t divisor_2 = b_vals[i];
      if (divisor_2 == 0) return SPARSEC_DIVISION_BY_ZERO;
      q_vals[i] = sparsec_floordiv_i64(q_vals[i], divisor_2);
    } else if (b_vals[i] == 0) {
      q_vals[i] = -1;
    } else {
      int64_t divisor_3 = b_vals[i];
      if (divisor_3 == 0) return SPARSEC_DIVISION_BY_ZERO;
      if (sparsec_mod_i64(a_vals[i], divisor_3) == 1) {
        int64_t chosen;
        if (a_vals[i] > 0) {
          int64_t divisor_4 = b_vals[i];
          if (divisor_4 == 0) return SPARSEC_DIVISION_BY_ZERO;
          chosen = sparsec_floordiv_i64(a_vals[i], divisor_4);
        } else {
          chosen = b_vals[i];
        }
        q_vals[i] += chosen;
      }
    }
    double value = f_vals[i];
    if (!sparsec_fits_i64(value)) return SPARSEC_CAST_OUT_OF_RANGE;
    int64_t t = (int64_t)value;
    while ((t >> 1) > 0) {
      t = t >> 1;
    }
    double value_2 = f_vals[i] * 0.5;
    if (!sparsec_fits_i32(value_2)) return SPARSEC_CAST_OUT_OF_RANGE;
    q_vals[i] += t * (int32_t)value_2;
  }
  return SPARSEC_OK;
}

int32_t quotient(
    sparsec_context *context,
    sparsec_tensor *q,
    const sparsec_tensor *a,
    const sparsec_tensor *b,
    const sparsec_tensor *f) {
  (void)context;
  return quotient_loops(
      q->extents[0],
      q->arrays[0].data,
      a->arrays[0].data,
      b->arrays[0].data,
      f->arrays[0].data);
}
