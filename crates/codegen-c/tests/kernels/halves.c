/* The number that the half a is: moved into place and scaled, which mends the
   exponents of subnormals too; those of infinity and NaN are set. */
static inline float sparsec_f32_of_f16(uint16_t a) {
  union { uint32_t bits; float value; } wide = { (uint32_t)(a & 0x7fff) << 13 };
  wide.value *= 0x1p112f;
  if ((a & 0x7c00) == 0x7c00) wide.bits |= 0x7f800000 | (a & 0x3ff ? 0x400000 : 0);
  wide.bits |= (uint32_t)(a & 0x8000) << 16;
  return wide.value;
}

/* The number whose upper half is a. */
static inline float sparsec_f32_of_bf16(uint16_t a) {
  union { uint32_t bits; float value; } wide = { (uint32_t)a << 16 };
  if ((a & 0x7fff) > 0x7f80) wide.bits |= 0x400000;
  return wide.value;
}

/* The half nearest to a, ties to even. What is below the least normal half is
   added to a number whose last bit has the worth of a subnormal half's. */
static inline uint16_t sparsec_f16_of_f32(float a) {
  union { float value; uint32_t bits; } wide = { a };
  uint32_t sign = wide.bits >> 16 & 0x8000;
  wide.bits &= 0x7fffffff;
  if (wide.bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (wide.bits >> 13 & 0x3ff));
  if (wide.bits >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (wide.bits < 0x38800000) {
    wide.value += 0.5f;
    return (uint16_t)(sign | (wide.bits - 0x3f000000));
  }
  return (uint16_t)(sign | ((wide.bits - 0x38000000 + 0xfff + (wide.bits >> 13 & 1)) >> 13));
}

/* a in single precision, such that rounding it to a half rounds a: where a lies
   between two numbers, the one whose last bit is 1. */
static inline float sparsec_rounded_to_odd(double a) {
  union { float value; uint32_t bits; } near = { (float)a };
  if ((double)near.value == a || a != a || near.bits & 1) return near.value;
  int below = (near.value < 0 ? -near.value : near.value) < (a < 0 ? -a : a);
  near.bits = below ? near.bits + 1 : near.bits - 1;
  return near.value;
}

/*
 * The kernel halves; its loops come first.
 *
 * out y: (i) -> (i : dense)
 *     arrays y.vals: uint16_t (bits of f16)
 * in  a: (i) -> (i : dense)
 *     arrays a.vals: uint16_t (bits of f16)
 * in  b: (i) -> (i : dense)
 *     arrays b.vals: uint16_t (bits of bf16)
 */
static inline int32_t halves_loops(
    int64_t y_n0,
    uint16_t *restrict y_vals,
    const uint16_t *restrict a_vals,
    const uint16_t *restrict b_vals) {
  for (int64_t i = 0; i < y_n0; i++) {
    float x = sparsec_f32_of_f16(a_vals[i]) * sparsec_f32_of_bf16(b_vals[i]);
    y_vals[i] = x > 0.0f ? sparsec_f16_of_f32(x) : 0x2e66;
  }
  if (y_n0 > 0) {
    y_vals[0] = sparsec_f16_of_f32(sparsec_rounded_to_odd((double)sparsec_f32_of_bf16(b_vals[0]) / 3.0));
  }
  return SPARSEC_OK;
}

int32_t halves(
    sparsec_context *context,
    sparsec_tensor *y,
    const sparsec_tensor *a,
    const sparsec_tensor *b) {
  (void)context;
  return halves_loops(y->extents[0], y->arrays[0].data, a->arrays[0].data, b->arrays[0].data);
}
