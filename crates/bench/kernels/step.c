/* y(j) = M(j) sum over i of A(i,j) x(i): x and M list their entries, A by rows, y dense. FORM
   is one of the functions below. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  double *y;
  const int32_t *M_pos, *M_crd;
  const double *M;
  const int32_t *pos, *crd;
  const double *vals;
  const int32_t *x_pos, *x_crd;
  const double *x;
} step;

/* Rows of A are added, and what M lacks is dropped afterwards. */
static void pushed(step *s) {
  double *mask = calloc(s->n + 1, sizeof *mask);
  for (int32_t q = s->M_pos[0]; q < s->M_pos[1]; q++) mask[s->M_crd[q]] = s->M[q];
  for (int32_t q = s->x_pos[0]; q < s->x_pos[1]; q++)
    for (int32_t p = s->pos[s->x_crd[q]]; p < s->pos[s->x_crd[q] + 1]; p++)
      s->y[s->crd[p]] += s->x[q] * s->vals[p];
  for (int64_t j = 0; j < s->n; j++) s->y[j] *= mask[j];
  free(mask);
}

/* Each entry of a row is looked up in M. */
static void masked(step *s) {
  double *mask = calloc(s->n + 1, sizeof *mask);
  for (int32_t q = s->M_pos[0]; q < s->M_pos[1]; q++) mask[s->M_crd[q]] = s->M[q];
  for (int32_t q = s->x_pos[0]; q < s->x_pos[1]; q++)
    for (int32_t p = s->pos[s->x_crd[q]]; p < s->pos[s->x_crd[q] + 1]; p++)
      s->y[s->crd[p]] += s->x[q] * s->vals[p] * mask[s->crd[p]];
  free(mask);
}

int32_t by_hand(sparsec_context *context, sparsec_tensor **tensors) {
  (void)context, (void)pushed, (void)masked;
  sparsec_array *M = tensors[1]->arrays, *A = tensors[2]->arrays, *x = tensors[3]->arrays;
  step s = {tensors[0]->extents[0], tensors[0]->arrays[0].data, M[0].data, M[1].data, M[2].data,
            A[0].data, A[1].data, A[2].data, x[0].data, x[1].data, x[2].data};
  memset(s.y, 0, s.n * sizeof *s.y);
  FORM(&s);
  return SPARSEC_OK;
}
