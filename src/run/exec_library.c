/*
** Steps of the library on the host: a row's function over operands and results where they lie.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/apart.h"
#include "base/os/os.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/memory.h"
#include "run/exec.h"
#include "run/machine/library_pace.h"
#include "run/report/profile.h"

#define TIMED_BYTES 4096 /* above this a call is timed: looking at the clock twice takes a small part of it */
/* Calls that may take longer than somebody waits who has pressed Ctrl-C; a thread for them costs 0.05 ms. */
#define APART_BYTES 1.6e7
#define APART_FLOPS 3e8

/* The ledger's and tt_strict's view of a call that a missing library leaves to us. */
static tt_code count_fallback(const tt_lib_row *row, const tt_operand *src, int64_t bytes, tt_error *err) {
  if (!row->falls_back || !row->falls_back(src)) return TT_OK;
  if (tt__session_strict_fallback)
    return tt__fail(err, TT_ESTRICT, "strict: %s by a fallback is not allowed, and no library that has it was found",
                    row->name);
  TT_COUNT(fallbacks, 1);
  TT_COUNT(fallback_bytes, bytes);
  return TT_OK;
}

/* A call with all that it needs, so that it may outlive the step. */
typedef struct library_call {
  tt_lib_attr attr;
  tt_operand src[TT_NODE_SRC];
  tt_block out[TT_MOST_ROOTS];
  tt_buffer *source[TT_NODE_SRC], *result[TT_MOST_ROOTS];
  int nsource, nresult;
  tt_code code;
  tt_error err;
  int64_t *lengths; /* that src and out point into */
  size_t lengths_size;
} library_call;

static int64_t *keep(int64_t **to, const int64_t *from, int n) {
  int64_t *at = *to;
  if (n) memcpy(at, from, sizeof *at * (size_t)n);
  *to += n;
  return at;
}

static tt_code copy_lengths(library_call *c, tt_error *err) {
  int64_t n = 1, *to;
  for (int i = 0; i < c->nsource; i++) n += 2 * c->src[i].rank;
  for (int r = 0; r < TT_MOST_ROOTS; r++) n += c->out[r].rank;
  c->lengths_size = sizeof *to * (size_t)n;
  if (!(to = c->lengths = tt__mem_alloc(c->lengths_size))) return tt__fail_memory(err, c->lengths_size);
  for (int i = 0; i < c->nsource; i++) {
    c->src[i].len = keep(&to, c->src[i].len, c->src[i].rank);
    c->src[i].step = keep(&to, c->src[i].step, c->src[i].rank);
  }
  for (int r = 0; r < TT_MOST_ROOTS; r++) c->out[r].len = keep(&to, c->out[r].len, c->out[r].rank);
  return TT_OK;
}

static void call_library(void *ctx) {
  library_call *c = ctx;
  c->code = c->attr.row->run(&c->attr, c->src, c->out, &c->err);
}

/* Session lock held. */
static void free_call(library_call *c) {
  for (int i = 0; i < c->nsource; i++) tt__buffer_release(c->source[i]);
  for (int i = 0; i < c->nresult; i++) tt__buffer_release(c->result[i]);
  tt__mem_free(c->lengths, c->lengths_size);
  tt__mem_free(c, sizeof *c);
}

static void end_left_call(void *ctx) {
  tt__session_lock();
  free_call(ctx);
  tt__session_unlock();
}

/* On a thread of its own: who waits for it hears Ctrl-C. Its buffers are held, so nobody writes into them. */
static tt_code run_apart(const tt_walk *walk, const tt_step *step, const tt_operand *src, const tt_block *out,
                         tt_buffer *const *result, tt_error *err) {
  library_call *c = tt__mem_zalloc(sizeof *c);
  if (!c) return tt__fail_memory(err, sizeof *c);
  c->attr = *walk->node[step->lib]->attr.lib;
  c->nsource = step->nsrc;
  memcpy(c->src, src, sizeof c->src);
  memcpy(c->out, out, sizeof c->out);
  for (int i = 0; i < step->nsrc; i++) c->source[i] = tt__buffer_retain(walk->node[step->src[i].node]->attr.buf);
  for (; c->nresult < step->nroot; c->nresult++) c->result[c->nresult] = tt__buffer_retain(result[c->nresult]);
  tt_code code = copy_lengths(c, err);
  if (code == TT_OK) {
    int depth = tt__session_suspend();
    code = tt__apart_run(call_library, end_left_call, c, err);
    tt__session_resume(depth);
    if (code == TT_EINTERRUPT) return code;
  }
  if (code == TT_OK && c->code != TT_OK) {
    code = c->code;
    if (err) *err = c->err;
  }
  free_call(c);
  return code;
}

static tt_code run_here(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int depth = tt__session_suspend();
  tt_code code = attr->row->run(attr, src, out, err);
  tt__session_resume(depth);
  return code;
}

/* A step of the library while it runs. */
typedef struct library_step {
  const tt_walk *walk;
  const tt_step *step;
  tt_operand src[TT_NODE_SRC];
  tt_block out[TT_MOST_ROOTS]; /* by which result of the row it is */
  tt_buffer *result[TT_MOST_ROOTS];
  int made;              /* results that have memory */
  int64_t read, written; /* bytes */
} library_step;

static void find_operands(library_step *s) {
  for (int i = 0; i < s->step->nsrc; i++) {
    const tt_plib_src *from = &s->step->src[i];
    tt_node *n = s->walk->node[from->node];
    size_t size = tt__dtype_size((tt_dtype)n->dtype);
    s->src[i] = (tt_operand){.data = (char *)n->attr.buf->data + from->off * (int64_t)size,
                             .dtype = (tt_dtype)n->dtype,
                             .rank = from->rank,
                             .len = from->len,
                             .step = from->step,
                             .size = 1};
    for (int d = 0; d < from->rank; d++) s->src[i].size *= from->len[d];
    s->read += s->src[i].size * (int64_t)size;
  }
}

static tt_code make_results(library_step *s, tt_error *err) {
  for (; s->made < s->step->nroot; s->made++) {
    tt_node *n = s->walk->node[s->step->root[s->made].node];
    size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
    tt_buffer *b = s->result[s->made] = tt__buffer_new(size, err);
    if (!b) return TT_ENOMEM;
    s->out[n->attr.pick] = (tt_block){
        .data = b->data, .dtype = (tt_dtype)n->dtype, .rank = n->rank, .len = tt__node_len(n), .size = n->size};
    s->written += (int64_t)size;
  }
  return TT_OK;
}

/* The call, timed where its time says something of the machine. */
static tt_code run_library(library_step *s, tt_error *err) {
  const tt_lib_attr *attr = s->walk->node[s->step->lib]->attr.lib;
  bool timed = tt__profile_on || s->read + s->written > TIMED_BYTES;
  tt_cost_call call = {0};
  if (timed) call = tt__cost_call(s->walk, s->step);
  int64_t start = timed ? tt__clock_ns() : 0;
  bool lengthy = call.bytes > APART_BYTES || call.work.flops > APART_FLOPS;
  tt_code code = count_fallback(attr->row, s->src, s->read + s->written, err);
  if (code == TT_OK && lengthy)
    code = run_apart(s->walk, s->step, s->src, s->out, s->result, err);
  else if (code == TT_OK)
    code = run_here(attr, s->src, s->out, err);
  int64_t end = timed ? tt__clock_ns() : 0;
  if (code == TT_OK && timed) tt__library_took(&call, NULL, (double)(end - start));
  TT_COUNT(library_calls, 1);
  TT_COUNT(bytes_read, s->read);
  TT_COUNT(bytes_written, s->written);
  if (tt__profile_on) tt__profile_add(s->step, true, start, end);
  return code;
}

tt_code tt__exec_library(const tt_walk *walk, const tt_step *step, tt_error *err) {
  library_step s = {.walk = walk, .step = step};
  assert(step->nsrc <= TT_NODE_SRC && step->nroot <= TT_MOST_ROOTS);
  find_operands(&s);
  tt_code code = make_results(&s, err);
  if (code == TT_OK) code = run_library(&s, err);
  for (int r = 0; r < s.made; r++) {
    if (code == TT_OK)
      tt__node_settle(walk->node[step->root[r].node], s.result[r]);
    else
      tt__buffer_release(s.result[r]);
  }
  return code;
}

bool tt__exec_library_now(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out) {
  int64_t read = 0, written = out->size * (int64_t)tt__dtype_size(out->dtype);
  if (tt__profile_on) return false; /* it times steps */
  for (int i = 0; i < attr->row->nsrc; i++) read += src[i].size * (int64_t)tt__dtype_size(src[i].dtype);
  if (count_fallback(attr->row, src, read + written, NULL) != TT_OK) return false;
  TT_COUNT(library_calls, 1);
  TT_COUNT(bytes_read, read);
  TT_COUNT(bytes_written, written);
  return attr->row->run(attr, src, out, NULL) == TT_OK;
}
