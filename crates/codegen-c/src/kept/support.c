#ifndef SPARSEC_SUPPORT
#define SPARSEC_SUPPORT

/*
 * What kernels take from the C library where their caller's context gives them
 * nothing: memory with malloc, sorting by merging. Chunks of loops run one after
 * another, or, compiled with -fopenmp, at once; functions of the caller's context
 * are then called from several threads.
 */

#if defined(_OPENMP) && !defined(__STDC_NO_THREADS__)
#include <threads.h>
#endif

/* A workspace; its memory follows. */
typedef struct sparsec_workspace {
  struct sparsec_workspace *next;
} sparsec_workspace;

/* How far the chunks of a loop are that run at once. */
typedef struct sparsec_line {
  int64_t passed; /* these have passed their turn on, in their order */
  int64_t ended;  /* so many have returned well */
  int64_t failed; /* the first that failed, or how many there are */
} sparsec_line;

/* One call of a kernel: its context, and workspaces that end with it. */
typedef struct sparsec_scope {
  sparsec_context context;
  sparsec_workspace *workspaces;
  void *own; /* what chunks of loops have of their own */
  int64_t own_size;
  int64_t chunk;
  int32_t has_passed; /* its turn on */
  int32_t gave_up;    /* because a chunk before it failed */
  sparsec_line *line; /* in which it stands, if others run meanwhile */
  int32_t never;      /* stays 0 */
} sparsec_scope;

/* Room in front of a workspace that keeps it aligned for vectors; the room that arrays have
   at least; how often a thread that waits looks before it lets others run. */
enum { SPARSEC_ALIGNMENT = 64, SPARSEC_RUN = 16, SPARSEC_LOOKS = 1000 };

/* Waits until all chunks before are that far, or one of them fails. Chunks behind count for
   nothing: which chunk fails first does not depend on timing. */
static inline int32_t sparsec_wait(sparsec_scope *scope, const int64_t *counter) {
  const sparsec_line *line = scope->line;
  int64_t reached, failed, looks = 0;
  do {
#if defined(_OPENMP) && !defined(__STDC_NO_THREADS__)
    if (++looks > SPARSEC_LOOKS) thrd_yield();
#endif
#ifdef _OPENMP
#pragma omp atomic read seq_cst
#endif
    reached = *counter;
#ifdef _OPENMP
#pragma omp atomic read seq_cst
#endif
    failed = line->failed;
  } while (failed >= scope->chunk && reached != scope->chunk);
  (void)looks;
  scope->gave_up = failed < scope->chunk;
  return scope->gave_up ? SPARSEC_OUT_OF_MEMORY : SPARSEC_OK;
}

static inline void *sparsec_malloc_array(
    sparsec_context *context, sparsec_array *array, int64_t entries, int64_t entry_size) {
  sparsec_scope *scope = (sparsec_scope *)context; /* its first member */
  if (scope->line && sparsec_wait(scope, &scope->line->ended)) return NULL;
  const int64_t most = (int64_t)(PTRDIFF_MAX / entry_size);
  if (entries > most) return NULL;
  int64_t wanted = array->capacity <= most / 2 ? 2 * array->capacity : most;
  if (wanted < entries) wanted = entries;
  if (wanted < SPARSEC_RUN && SPARSEC_RUN <= most) wanted = SPARSEC_RUN;
  void *data = realloc(array->data, (size_t)(wanted * entry_size));
  if (!data && wanted > entries && entries > 0) {
    wanted = entries;
    data = realloc(array->data, (size_t)(wanted * entry_size));
  }
  if (!data) return NULL;
  array->data = data;
  array->capacity = wanted;
  return data;
}

static inline void *sparsec_malloc_workspace(
    sparsec_context *context, int64_t entries, int64_t entry_size) {
  sparsec_scope *scope = (sparsec_scope *)context; /* its first member */
  if (entries > (PTRDIFF_MAX - SPARSEC_ALIGNMENT) / entry_size) return NULL;
  char *memory = calloc(1, (size_t)(entries * entry_size) + SPARSEC_ALIGNMENT);
  if (!memory) return NULL;
  sparsec_workspace *workspace = (sparsec_workspace *)memory;
  workspace->next = scope->workspaces;
  scope->workspaces = workspace;
  return memory + SPARSEC_ALIGNMENT;
}

/* Waits until all chunks before have passed their turn on. */
static inline int32_t sparsec_wait_for_turn(sparsec_context *context) {
  sparsec_scope *scope = (sparsec_scope *)context; /* its first member */
  return scope->line ? sparsec_wait(scope, &scope->line->passed) : SPARSEC_OK;
}

/* Lets the next chunk have its turn, unless results might move meanwhile. */
static inline void sparsec_pass_turn(sparsec_context *context) {
  sparsec_scope *scope = (sparsec_scope *)context; /* its first member */
  const int is_early = context->grow == sparsec_malloc_array;
  if (!scope->line || scope->has_passed || !is_early) return;
  scope->has_passed = 1;
#ifdef _OPENMP
#pragma omp atomic write seq_cst
#endif
  scope->line->passed = scope->chunk + 1;
}

#ifdef _OPENMP
static inline sparsec_context *sparsec_enter(sparsec_scope *scope, const sparsec_context *given);
static inline int32_t sparsec_leave(sparsec_scope *scope, int32_t status);

/* Chunks on the threads of OpenMP, each of which has its own context and workspaces. */
static inline int32_t sparsec_run_chunks(
    sparsec_context *context,
    int32_t (*body)(sparsec_context *, const void *captured, void *own, int64_t chunk),
    const void *captured, int64_t own_size, int64_t n) {
  int32_t status = SPARSEC_OK;
  int64_t first = n; /* the chunk whose status that is */
  sparsec_line line = {0, 0, n};
#pragma omp parallel if (n > 1)
  {
    sparsec_scope unit;
    sparsec_context *mine = sparsec_enter(&unit, context);
    void *own = own_size > 0 ? mine->workspace(mine, own_size, 1) : NULL;
    unit.line = &line;
/* In ascending order, so that the first that has not returned waits for nobody. */
#pragma omp for schedule(monotonic : dynamic)
    for (int64_t chunk = 0; chunk < n; chunk++) {
      int32_t ended = SPARSEC_OUT_OF_MEMORY;
      unit.chunk = chunk;
      unit.has_passed = 0;
      unit.gave_up = 0;
      if (own || own_size == 0) ended = body(mine, captured, own, chunk);
      if (ended == SPARSEC_OK) {
        if (!unit.has_passed) {
#pragma omp atomic write seq_cst
          line.passed = chunk + 1;
        }
#pragma omp atomic update seq_cst
        line.ended++;
        continue;
      }
      if (unit.gave_up) continue; /* whoever failed says why */
#pragma omp critical(sparsec)
      if (chunk < first) {
        first = chunk;
        status = ended;
#pragma omp atomic write seq_cst
        line.failed = chunk;
      }
    }
    sparsec_leave(&unit, SPARSEC_OK);
  }
  return status;
}
#else
/* One chunk after another. */
static inline int32_t sparsec_run_chunks(
    sparsec_context *context,
    int32_t (*body)(sparsec_context *, const void *captured, void *own, int64_t chunk),
    const void *captured, int64_t own_size, int64_t n) {
  sparsec_scope *scope = (sparsec_scope *)context; /* its first member */
  if (own_size > scope->own_size) {
    scope->own = context->workspace(context, own_size, 1);
    if (!scope->own) return SPARSEC_OUT_OF_MEMORY;
    scope->own_size = own_size;
  }
  int32_t status = SPARSEC_OK;
  for (int64_t chunk = 0; chunk < n && status == SPARSEC_OK; chunk++) {
    status = body(context, captured, scope->own, chunk);
  }
  return status;
}
#endif

SORTS
/* Completes the context of a caller, which may be null, for one call. */
static inline sparsec_context *sparsec_enter(sparsec_scope *scope, const sparsec_context *given) {
  const sparsec_scope empty = {0};
  *scope = empty;
  if (given) scope->context = *given;
  sparsec_context *context = &scope->context;
  if (!context->grow) context->grow = sparsec_malloc_array;
  if (!context->workspace) context->workspace = sparsec_malloc_workspace;
  if (!context->sort_i32) context->sort_i32 = sparsec_sort_i32;
  if (!context->sort_i64) context->sort_i64 = sparsec_sort_i64;
  if (!context->sort_pairs) context->sort_pairs = sparsec_sort_pairs;
  if (!context->cancelled) context->cancelled = &scope->never;
  if (!context->chunks || !context->turn) {
    context->chunks = sparsec_run_chunks;
    context->turn = sparsec_wait_for_turn;
  }
  if (!context->pass) context->pass = sparsec_pass_turn;
  return context;
}

/* Ends the workspaces of a call; its status. */
static inline int32_t sparsec_leave(sparsec_scope *scope, int32_t status) {
  while (scope->workspaces) {
    sparsec_workspace *workspace = scope->workspaces;
    scope->workspaces = workspace->next;
    free(workspace);
  }
  return status;
}

#endif
