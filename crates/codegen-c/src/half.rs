//! Halves, which C computes with as `float`: conversions by bits.
//!
//! ```text
//! f16    s eeeee mmmmmmmmmm            value = 1.m * 2^(e - 15)
//! bf16   s eeeeeeee mmmmmmm            the upper half of a float
//! float  s eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm
//! ```
//!
//! Kernels hold a half as the `uint16_t` of its bits. C11 has no type for it, and
//! what compilers offer differs; these few lines give the same bits with all of
//! them: rounded to nearest, ties to even, subnormals and infinities included,
//! any `NaN` to a quiet one with the upper bits that it had.

use sparsec_base::ElementType;

/// From a half to single precision, which is exact.
pub(crate) fn single(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bf16 => {
            "
/* The number whose upper half is a. */
static inline float sparsec_f32_of_bf16(uint16_t a) {
  union { uint32_t bits; float value; } wide = { (uint32_t)a << 16 };
  if ((a & 0x7fff) > 0x7f80) wide.bits |= 0x400000;
  return wide.value;
}
"
        }
        _ => {
            "
/* The number that the half a is: moved into place and scaled, which mends the
   exponents of subnormals too; those of infinity and NaN are set. */
static inline float sparsec_f32_of_f16(uint16_t a) {
  union { uint32_t bits; float value; } wide = { (uint32_t)(a & 0x7fff) << 13 };
  wide.value *= 0x1p112f;
  if ((a & 0x7c00) == 0x7c00) wide.bits |= 0x7f800000 | (a & 0x3ff ? 0x400000 : 0);
  wide.bits |= (uint32_t)(a & 0x8000) << 16;
  return wide.value;
}
"
        }
    }
}

/// From single precision to the nearest half.
pub(crate) fn half(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bf16 => {
            "
/* The upper half of a, rounded to nearest, ties to even. */
static inline uint16_t sparsec_bf16_of_f32(float a) {
  union { float value; uint32_t bits; } wide = { a };
  if (a != a) return (uint16_t)(wide.bits >> 16 | 0x40);
  return (uint16_t)((wide.bits + 0x7fff + (wide.bits >> 16 & 1)) >> 16);
}
"
        }
        _ => {
            "
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
"
        }
    }
}

/// From double precision to single on the way to a half.
pub(crate) const ODD: &str = "
/* a in single precision, such that rounding it to a half rounds a: where a lies
   between two numbers, the one whose last bit is 1. */
static inline float sparsec_rounded_to_odd(double a) {
  union { float value; uint32_t bits; } near = { (float)a };
  if ((double)near.value == a || a != a || near.bits & 1) return near.value;
  int below = (near.value < 0 ? -near.value : near.value) < (a < 0 ? -a : a);
  near.bits = below ? near.bits + 1 : near.bits - 1;
  return near.value;
}
";
