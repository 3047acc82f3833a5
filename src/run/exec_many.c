/*
** Running several steps as one launch (tt_step.many) on the host; see exec.h.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/exec.h"
#include "run/memory.h"
#include "run/report/profile.h"

/* Work (instruction-elements) above which the session lock is given up while the launch runs. */
#define LONG_WORK 200000.0

/* What the steps of one launch bind: memory for all of them, and where each one's begins. */
typedef struct bound_many {
  size_t size;
  tt_kargs *args;     /* [n] */
  tt_buffer **result; /* [n * TT_MOST_ROOTS] */
  void **buf;         /* [n * nbuf], */
  int64_t *buf_len;
  tt_scalar *scalar; /* [n * nscalar] */
} bound_many;

static tt_code many_open(const tt_kernel *k, int n, bound_many *m, tt_error *err) {
  size_t scalars = sizeof *m->scalar * (size_t)k->nscalar, args = sizeof *m->args,
         results = TT_MOST_ROOTS * sizeof(void *);
  m->size = (size_t)n * (scalars + args + results + (size_t)k->nbuf * (sizeof *m->buf + sizeof *m->buf_len));
  m->scalar = tt__mem_zalloc(m->size);
  if (!m->scalar) return tt__fail_memory(err, m->size);
  m->args = (tt_kargs *)(m->scalar + (size_t)n * (size_t)k->nscalar);
  m->result = (tt_buffer **)(m->args + n);
  m->buf = (void **)(m->result + (size_t)n * TT_MOST_ROOTS);
  m->buf_len = (int64_t *)(m->buf + (size_t)n * (size_t)k->nbuf);
  return TT_OK;
}

static tt_code many_bind(const tt_walk *walk, const tt_step *step, int i, bound_many *m, tt_error *err) {
  const tt_launch *launch = step[i].launch;
  const tt_kernel *k = launch->unit->kernel;
  const tt_lowered *l = launch->lowered;
  tt_scalar *scalar = m->scalar + (ptrdiff_t)i * k->nscalar;
  void **buf = m->buf + (ptrdiff_t)i * k->nbuf;
  int64_t *buf_len = m->buf_len + (ptrdiff_t)i * k->nbuf;
  tt_buffer **result = m->result + (ptrdiff_t)i * TT_MOST_ROOTS;
  m->args[i] =
      (tt_kargs){.buf = buf, .buf_len = buf_len, .len = l->len, .off = l->off, .step = l->step, .scalar = scalar};
  TT_TRY(tt__exec_bring_home(walk, &step[i], err));
  tt_code code = tt__memory_results(walk, &step[i], result, err);
  if (code != TT_OK) return memset(result, 0, sizeof *result * TT_MOST_ROOTS), code; /* it has let go of them */
  return tt__exec_bind(walk, &step[i], result, buf, buf_len, scalar, err);
}

/* The launch, with what the ledger, the profile and the compiler's queue are told of it. */
static tt_code many_run(const tt_walk *walk, const tt_step *step, int n, bound_many *m, tt_error *err) {
  const tt_launch *first = step->launch;
  tt_kernel_fn fn = tt__unit_code(first->unit);
  double points = 0;
  bool can_stop = true;
  for (int i = 0; i < n; i++) points += ((const tt_launch *)step[i].launch)->work.points;
  bool lengthy = points * first->unit->weight > LONG_WORK;
  for (int i = 0; i < n && lengthy; i++)
    can_stop &= !tt__memory_in_place(walk, &step[i], m->result + (ptrdiff_t)i * TT_MOST_ROOTS);
  int64_t start = tt__clock_ns();
  int depth = lengthy ? tt__session_suspend() : 0;
  tt_code code = tt__exec_launches(step, m->args, n, fn, can_stop, err);
  if (lengthy) tt__session_resume(depth);
  int64_t end = tt__clock_ns();
  tt__unit_ran(first->unit, fn, points, code == TT_OK ? (double)(end - start) : 0);
  for (int i = 0; i < n; i++) {
    const tt_launch *launch = step[i].launch;
    TT_COUNT(bytes_read, launch->work.bytes_read);
    TT_COUNT(bytes_written, launch->work.bytes_written);
  }
  if (tt__profile_on) tt__profile_add_many(step, n, fn != NULL, start, end);
  return code;
}

tt_code tt__exec_many(const tt_walk *walk, const tt_step *step, int n, tt_error *err) {
  bound_many m = {0};
  int bound = 0;
  assert(n > 1 && n <= step->many);
  TT_TRY(many_open(((const tt_launch *)step->launch)->unit->kernel, n, &m, err));
  tt_code code = TT_OK;
  for (; bound < n && code == TT_OK; bound++) code = many_bind(walk, step, bound, &m, err);
  if (code == TT_OK) code = many_run(walk, step, n, &m, err);
  for (int i = 0; i < bound; i++)
    for (int r = 0; r < step[i].nroot; r++) {
      tt_buffer *b = m.result[(ptrdiff_t)i * TT_MOST_ROOTS + r];
      if (!b) continue;
      if (code == TT_OK)
        tt__node_settle(walk->node[step[i].root[r].node], b);
      else
        tt__buffer_release(b);
    }
  tt__mem_free(m.scalar, m.size);
  return code;
}
