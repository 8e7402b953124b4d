/* A dense product in blocks of eight rows and sixteen columns, which registers hold: sums are
   vectors, and their products are fused with the additions. */
typedef double lanes __attribute__((vector_size(64), aligned(8)));
enum { HIGH = 8, LANES = 8, WIDE = 2 * LANES };

static inline int64_t padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* C(i,m) = sum over b of A(b,i) B(b,m). Rows of A and of B have a length of `width_a` and
   `width_b`, multiples of HIGH and of WIDE. */
__attribute__((optimize("fp-contract=fast"))) static void product(
    int64_t rows, int64_t columns, int64_t inner, const double *A, int64_t width_a,
    const double *B, int64_t width_b, double *C) {
  for (int64_t m0 = 0; m0 < columns; m0 += WIDE)
    for (int64_t i0 = 0; i0 < rows; i0 += HIGH) {
      lanes sum[HIGH][2] = {{{0}}};
      for (int64_t b = 0; b < inner; b++) {
        const double *a = A + b * width_a + i0;
        const lanes *p = (const lanes *)(B + b * width_b + m0);
#pragma GCC unroll 8
        for (int i = 0; i < HIGH; i++) {
          sum[i][0] += a[i] * p[0];
          sum[i][1] += a[i] * p[1];
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < HIGH; i++)
        for (int64_t m = 0; i0 + i < rows && m < WIDE && m0 + m < columns; m++)
          C[(i0 + i) * columns + m0 + m] = sum[i][m / LANES][m % LANES];
    }
}
