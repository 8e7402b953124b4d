/*
 * Parallel kernels on threads of their own caller, which lends its pool to them: a
 * context with `chunks`, `turn` and `pass` made of nothing but POSIX threads, so that
 * the sanitizer of threads sees every order that the contract promises, and no other.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add.h"
#include "dot.h"
#include "spgemm.h"
#include "spmv.h"

enum { THREADS = 4, N = 20000, ROW = 5 };

/* The chunks of one loop. */
typedef struct line {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int64_t next;   /* to be run */
  int64_t passed; /* their turn on, in their order */
  int64_t ended;
  int32_t status;
} line;

typedef struct memory {
  struct memory *next;
  double aligned[7];
} memory;

/* What a kernel or a thread of one has; `state` of its context. */
typedef struct unit {
  line *line;
  int64_t chunk;
  int has_passed;
  memory *workspaces;
} unit;

/* What a thread runs. */
typedef struct job {
  const sparsec_context *context;
  line *line;
  int32_t (*body)(sparsec_context *, const void *, void *, int64_t);
  const void *captured;
  int64_t own_size, n;
} job;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* Waits until so many chunks are that far; whether none has failed. */
static int reach(line *line, const int64_t *counter, int64_t wanted) {
  pthread_mutex_lock(&line->lock);
  while (line->status == SPARSEC_OK && *counter < wanted) {
    pthread_cond_wait(&line->moved, &line->lock);
  }
  const int is_well = line->status == SPARSEC_OK;
  pthread_mutex_unlock(&line->lock);
  return is_well;
}

static int32_t turn(sparsec_context *context) {
  unit *unit = context->state;
  const int is_well = !unit->line || reach(unit->line, &unit->line->passed, unit->chunk);
  return is_well ? SPARSEC_OK : SPARSEC_OUT_OF_MEMORY;
}

static void pass(sparsec_context *context) {
  unit *unit = context->state;
  if (!unit->line || unit->has_passed) return;
  unit->has_passed = 1;
  pthread_mutex_lock(&unit->line->lock);
  unit->line->passed = unit->chunk + 1;
  pthread_cond_broadcast(&unit->line->moved);
  pthread_mutex_unlock(&unit->line->lock);
}

/* Chunks before may still write to what would move. */
static void *grow(sparsec_context *context, sparsec_array *array, int64_t entries, int64_t size) {
  unit *unit = context->state;
  if (unit->line && !reach(unit->line, &unit->line->ended, unit->chunk)) return NULL;
  if (entries < 2 * array->capacity) entries = 2 * array->capacity;
  void *data = realloc(array->data, (size_t)(entries * size));
  if (!data) return NULL;
  array->data = data;
  array->capacity = entries;
  return data;
}

static void *workspace(sparsec_context *context, int64_t entries, int64_t size) {
  unit *unit = context->state;
  memory *made = calloc(1, sizeof(memory) + (size_t)(entries * size));
  if (!made) return NULL;
  made->next = unit->workspaces;
  unit->workspaces = made;
  return made + 1;
}

static void leave(unit *unit) {
  while (unit->workspaces) {
    memory *gone = unit->workspaces;
    unit->workspaces = gone->next;
    free(gone);
  }
}

static void *work(void *given) {
  const job *job = given;
  line *line = job->line;
  unit unit = {line, 0, 0, NULL};
  sparsec_context context = *job->context;
  context.state = &unit;
  void *own = job->own_size ? workspace(&context, job->own_size, 1) : NULL;
  if (job->own_size && !own) fail("no memory");
  for (;;) {
    pthread_mutex_lock(&line->lock);
    unit.chunk = line->next < job->n ? line->next++ : -1;
    pthread_mutex_unlock(&line->lock);
    if (unit.chunk < 0) break;
    unit.has_passed = 0;
    const int32_t status = job->body(&context, job->captured, own, unit.chunk);
    pthread_mutex_lock(&line->lock);
    if (status) line->status = status;
    if (!unit.has_passed) line->passed = unit.chunk + 1;
    line->ended++;
    pthread_cond_broadcast(&line->moved);
    pthread_mutex_unlock(&line->lock);
  }
  leave(&unit);
  return NULL;
}

static int64_t most_chunks;

static int32_t chunks(
    sparsec_context *context,
    int32_t (*body)(sparsec_context *, const void *, void *, int64_t),
    const void *captured, int64_t own_size, int64_t n) {
  line line = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, SPARSEC_OK};
  job job = {context, &line, body, captured, own_size, n};
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++) {
    if (pthread_create(&threads[t], NULL, work, &job)) fail("no thread");
  }
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  if (n > most_chunks) most_chunks = n;
  return line.status;
}

/* Five entries in each row, in columns that follow from `step`. */
typedef struct csr {
  int64_t extents[2];
  sparsec_array arrays[3];
} csr;

static csr matrix(int32_t step) {
  int32_t *pos = malloc((N + 1) * sizeof *pos), *crd = malloc(N * ROW * sizeof *crd);
  double *vals = malloc(N * ROW * sizeof *vals);
  if (!pos || !crd || !vals) fail("no memory");
  for (int32_t i = 0; i <= N; i++) pos[i] = ROW * i;
  for (int32_t p = 0; p < N * ROW; p++) {
    crd[p] = (p / ROW * step + p % ROW * 7) % (N - 4 * 7 - ROW) + p % ROW;
    vals[p] = p % 11 - 5;
    /* Columns ascend: those of a row that wraps begin anew. */
    if (p % ROW && crd[p] <= crd[p - 1]) crd[p] = crd[p - 1] + 1;
  }
  return (csr){{N, N}, {{pos, N + 1, N + 1}, {crd, N * ROW, N * ROW}, {vals, N * ROW, N * ROW}}};
}

/* Whether both hold the same bytes; frees them. */
static void same(sparsec_array *a, sparsec_array *b, int n, const size_t *sizes, const char *what) {
  for (int k = 0; k < n; k++) {
    const int is_same = a[k].len == b[k].len && a[k].len > 0 &&
        !memcmp(a[k].data, b[k].data, (size_t)a[k].len * sizes[k]);
    if (!is_same) fail(what);
    free(a[k].data);
    free(b[k].data);
  }
}

/* The result of a kernel alone and on the pool. */
#define COMPARE(call, Y, extents, n, ...)                                       \
  do {                                                                          \
    unit unit = {0};                                                            \
    const sparsec_context pool = {&unit, grow,   workspace, NULL, NULL,         \
                                  NULL,  chunks, turn,      pass, NULL};        \
    sparsec_array alone[3] = {{0}}, pooled[3] = {{0}};                          \
    const sparsec_context *context = NULL;                                      \
    sparsec_tensor Y = {extents, alone};                                        \
    if (call) fail(#call);                                                      \
    context = &pool;                                                            \
    Y.arrays = pooled;                                                          \
    if (call) fail(#call " on threads");                                        \
    leave(&unit);                                                               \
    same(alone, pooled, n, (const size_t[]){__VA_ARGS__}, #call " differs");    \
  } while (0)

int main(void) {
  csr a = matrix(3), b = matrix(5);
  const sparsec_tensor A = {a.extents, a.arrays}, B = {b.extents, b.arrays};
  static double values[N];
  for (int i = 0; i < N; i++) values[i] = i % 13 - 6;
  sparsec_array x_array = {values, N, N};
  const int64_t n[1] = {N};
  const sparsec_tensor x = {n, &x_array};

  COMPARE(evaluate_spmv(context, &y, &A, &x), y, n, 1, sizeof(double));
  COMPARE(evaluate_dot(context, &s, &x, &x), s, NULL, 1, sizeof(double));
  COMPARE(evaluate_spgemm(context, &C, &A, &B), C, a.extents, 3, 4, 4, 8);
  COMPARE(evaluate_add(context, &C, &A, &B), C, a.extents, 3, 4, 4, 8);
  for (int k = 0; k < 3; k++) {
    free(a.arrays[k].data);
    free(b.arrays[k].data);
  }
  if (most_chunks < THREADS) fail("no loop had a chunk for each thread");
  printf("the same on %d threads\n", THREADS);
  return 0;
}
