/*
 * Two kernels that sparsec wrote, in a C program: y = A x, and C = A A.
 * `build.sh` beside this file makes the kernels, and the program of all three.
 */
#include <stdio.h>
#include <stdlib.h>

#include "spgemm.h"
#include "spmv.h"

/* A square matrix as csr: positions, coordinates, values. */
typedef struct csr {
  int64_t extents[2];
  sparsec_array arrays[3];
} csr;

static sparsec_tensor tensor(csr *matrix) {
  return (sparsec_tensor){matrix->extents, matrix->arrays};
}

static void release(sparsec_array *arrays, int count) {
  for (int i = 0; i < count; i++) free(arrays[i].data);
}

/* The second difference on `n` points: 2 on the diagonal, -1 beside it. */
static int second_difference(csr *matrix, int64_t n) {
  *matrix = (csr){{n, n}, {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}};
  int32_t *pos = malloc((size_t)(n + 1) * sizeof *pos);
  int32_t *crd = malloc((size_t)(3 * n) * sizeof *crd);
  double *vals = malloc((size_t)(3 * n) * sizeof *vals);
  int32_t p = 0;
  if (pos && crd && vals) {
    pos[0] = 0;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = i - 1; j <= i + 1; j++) {
        if (j < 0 || j >= n) continue;
        crd[p] = (int32_t)j;
        vals[p++] = i == j ? 2.0 : -1.0;
      }
      pos[i + 1] = p;
    }
  }
  matrix->arrays[0] = (sparsec_array){pos, n + 1, n + 1};
  matrix->arrays[1] = (sparsec_array){crd, p, 3 * n};
  matrix->arrays[2] = (sparsec_array){vals, p, 3 * n};
  return pos && crd && vals;
}

/* A context whose results never get memory. */
static void *never(sparsec_context *context, sparsec_array *array, int64_t entries, int64_t size) {
  (void)context;
  (void)array;
  (void)entries;
  (void)size;
  return NULL;
}

static int fail(const char *what, int32_t status) {
  fprintf(stderr, "%s: status %d\n", what, (int)status);
  return 1;
}

int main(void) {
  enum { N = 100000 };
  csr a;
  if (!second_difference(&a, N)) return fail("no memory", SPARSEC_OUT_OF_MEMORY);
  const sparsec_tensor A = tensor(&a);

  /* y = A x, with x(j) = j * j: 2 in the middle of a parabola, negated. */
  static double values[N];
  for (int j = 0; j < N; j++) values[j] = (double)j * j;
  const int64_t n[1] = {N};
  sparsec_array x_array = {values, N, N}, y_array = {NULL, 0, 0};
  const sparsec_tensor x = {n, &x_array};
  sparsec_tensor y = {n, &y_array};
  int32_t status = evaluate_spmv(NULL, &y, &A, &x);
  if (status) return fail("y = A x", status);
  const double *y_values = y_array.data;
  for (int i = 1; i < N - 1; i++) {
    if (y_values[i] != -2.0) return fail("y is wrong", i);
  }

  /* Another thread, or a handler of signals, would set it while the kernel runs. */
  volatile int32_t cancelled = 1;
  sparsec_context impatient = {0};
  impatient.cancelled = &cancelled;
  status = evaluate_spmv(&impatient, &y, &A, &x);
  if (status != SPARSEC_CANCELLED) return fail("a kernel that waits for nobody", status);
  cancelled = 0;
  status = evaluate_spmv(&impatient, &y, &A, &x);
  if (status) return fail("y = A x once more", status);
  y_values = y_array.data;

  /* C = A A: its structure once, its values for every new A. */
  csr c = {{N, N}, {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}};
  sparsec_tensor C = tensor(&c);
  status = assemble_spgemm(NULL, &C, &A, &A);
  for (int round = 1; !status && round <= 3; round++) {
    status = compute_spgemm(NULL, &C, &A, &A);
    const int32_t *pos = c.arrays[0].data;
    const double *products = c.arrays[2].data;
    if (!status && products[pos[N / 2] + 2] != 6.0 * round * round) {
      return fail("C is wrong", round);
    }
    /* A scaled from 1 to 2 to 3. */
    double *scaled = a.arrays[2].data;
    for (int64_t p = 0; p < a.arrays[2].len; p++) scaled[p] *= (round + 1.0) / round;
  }
  if (status) return fail("C = A A", status);

  /* Where there is no memory, a kernel says so. */
  sparsec_context poor = {0};
  poor.grow = never;
  sparsec_array none[3] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
  sparsec_tensor nothing = {c.extents, none};
  status = evaluate_spgemm(&poor, &nothing, &A, &A);
  if (status != SPARSEC_OUT_OF_MEMORY) return fail("memory from nowhere", status);

  printf("y(%d) = %g, C has %lld entries\n", N / 2, y_values[N / 2], (long long)c.arrays[1].len);
  release(a.arrays, 3);
  release(c.arrays, 3);
  release(&y_array, 1);
  return 0;
}
