/*
** Running steps; see exec.h.
*/
#include "run/exec.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cpu/byte_copy.h"
#include "device/cpu/row_places.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/memory.h"
#include "run/report/profile.h"
#include "run/residency.h"

/* Work (instruction-elements) below which a launch stays on the calling thread, and that a piece should have. */
#define ALONE_WORK 65536.0
#define PIECE_WORK 65536.0
/* Above this the session lock is given up while the kernel runs. */
#define LONG_WORK 200000.0
/* Above this it is timed: looking at the clock twice takes a small part of it. */
#define TIMED_WORK 8192.0
/* Points times instructions after which a thread looks whether it is to stop, at the latest: some 50 ms. */
#define LOOK_WORK 2e7
/* A transpose goes in tiles this many lines high and lanes wide: few enough lines to stay in a cache of 8 ways. */
#define TILE_OUTER 64
#define TILE_LANES 16
#define CHECK_NS 50000000
#define MOST_BUFFERS 64
#define MOST_REDUCTIONS 64

/* ---- one launch, cut into pieces */

typedef struct job {
  tt_unit *unit;
  tt_kernel_fn fn;
  const tt_kargs *args;
  int64_t outer, lanes, tile_outer, tile_lanes, nlane; /* pieces are tiles of outer x lanes; nlane tiles side by side */
  int64_t most;                                        /* tiles, or chunks, in a row */
  int64_t npartial;
  bool beside;              /* few rows that are folded together: a piece is all of them */
  void **scratch;           /* [worker * nscratch] */
  const tt_byte_copy *copy; /* done as bytes: outer counts its pieces; or NULL */
  bool finds;               /* `places` does it */
  tt_row_places places;
  bool can_stop;
  pthread_t caller;
  int64_t checked_ns;
  _Atomic int stop;
} job;

/* Piece by piece: has somebody pressed Ctrl-C? Only the calling thread may ask the binding. */
static bool stopped(job *j) {
  if (!j->can_stop) return false;
  if (atomic_load_explicit(&j->stop, memory_order_relaxed)) return true;
  bool may_ask = false;
  if (pthread_equal(pthread_self(), j->caller)) {
    int64_t now = tt__clock_ns();
    may_ask = now - j->checked_ns > CHECK_NS;
    if (may_ask) j->checked_ns = now;
  }
  if (!tt__interrupt_check(may_ask)) return false;
  atomic_store(&j->stop, 1);
  return true;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void run_tiles(void *ctx, int64_t lo, int64_t hi, int worker) {
  assert(lo >= 0 && lo <= hi && worker >= 0);
  job *j = ctx;
  tt_kargs args = *j->args;
  if (j->scratch) args.scratch = j->scratch + (size_t)worker * (size_t)j->unit->kernel->nscratch;
  for (int64_t t = lo; t < hi && !stopped(j);) {
    int64_t o = t / j->nlane, c = t % j->nlane;
    int64_t run = 1;
    if (j->tile_outer == 1) run = least(least(j->nlane - c, hi - t), j->most); /* neighbours of one line go together */
    tt_krange range = {.lo = o * j->tile_outer,
                       .hi = least((o + 1) * j->tile_outer, j->outer),
                       .lane_lo = c * j->tile_lanes,
                       .lane_hi = least((c + run) * j->tile_lanes, j->lanes),
                       .part = TT_PART_WHOLE};
    if (j->copy)
      tt__byte_copy_run(j->copy, range.lo, range.hi);
    else if (j->finds)
      tt__row_places_run(&j->places, range.lo, range.hi);
    else
      tt__unit_run(j->unit, j->fn, &args, &range);
    t += run;
  }
}

static void run_chunks(void *ctx, int64_t lo, int64_t hi, int worker) {
  assert(lo >= 0 && lo <= hi && ((job *)ctx)->npartial > 0);
  (void)worker;
  job *j = ctx;
  for (int64_t t = lo; t < hi && !stopped(j);) {
    int64_t o = t / j->npartial, c = t % j->npartial, run = least(least(j->npartial - c, hi - t), j->most);
    tt_krange range = {.lo = o,
                       .hi = j->beside ? j->outer : o + 1,
                       .lane_lo = 0,
                       .lane_hi = j->lanes,
                       .chunk_lo = c,
                       .chunk_hi = c + run,
                       .part = TT_PART_CHUNK};
    tt__unit_run(j->unit, j->fn, j->args, &range);
    t += run;
  }
}

/* Chunks of one row, by the rule of ir/kernel.h. */
static int64_t chunks_of_row(const tt_kernel *k, const tt_lowered *l) {
  assert(l->row >= 0 && (k->mode != TT_MODE_ROW || l->lanes > 0));
  if (k->mode == TT_MODE_MAP) return 1;
  if (k->mode == TT_MODE_COL) return (l->row + TT_CHUNK_COL - 1) / TT_CHUNK_COL;
  if (k->naxes - k->nouter == 1) return (l->row + TT_CHUNK - 1) / TT_CHUNK;
  int64_t line = l->lanes, lines = l->row / line, a_chunk = tt__chunk_lines(line);
  return (lines + a_chunk - 1) / a_chunk;
}

static bool stores_in_row(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if ((k->inst[i].op == TT_K_STORE || k->inst[i].op == TT_K_STOREX) && k->inst[i].scope == TT_SCOPE_ROW) return true;
  return false;
}

/* Does some operand lie across the lanes while another outer axis walks it densely (a transpose)? */
static bool crosses(const tt_kernel *k, const tt_lowered *l) {
  if (k->mode != TT_MODE_MAP || k->naxes < 2 || l->len[k->naxes - 1] < TILE_OUTER || l->len[k->naxes - 2] < TILE_OUTER)
    return false;
  for (int i = 0; i < k->naccess; i++) {
    const int64_t *step = l->step + (size_t)i * k->naxes;
    int64_t across = step[k->naxes - 2] < 0 ? -step[k->naxes - 2] : step[k->naxes - 2];
    int64_t along = step[k->naxes - 1] < 0 ? -step[k->naxes - 1] : step[k->naxes - 1];
    if (k->access[i].buf >= 0 && across > 0 && across < along) return true;
  }
  return false;
}

/* How many pieces of a length cover another, at least 1. Mostly one does, without a division. */
static int64_t cover(int64_t len, int64_t piece) {
  assert(len >= 0 && piece > 0);
  return len <= piece ? 1 : (len + piece - 1) / piece;
}

/* Do few rows of a compiled kernel lie beside each other, to be folded together? */
static bool lie_beside(const job *j, const tt_lowered *l) {
  const tt_kernel *k = j->unit->kernel;
  if (k->mode != TT_MODE_ROW || k->naxes != 2 || l->outer > TT_BESIDE || l->row < TT_LANES || !j->fn) return false;
  if (k->nphase > 1 && l->row > TT_CHUNK) return false;
  for (int i = 0; i < k->naccess; i++)
    if (k->access[i].lane != TT_LANE_NONE && (l->step[2 * i] != 1 || l->step[2 * i + 1] != l->outer)) return false;
  return l->outer > 1 && tt__kernel_beside(k);
}

static void choose_tiles(job *j, const tt_launch *launch) {
  const tt_kernel *k = j->unit->kernel;
  const tt_lowered *l = launch->lowered;
  j->outer = l->outer;
  j->lanes = k->mode == TT_MODE_ROW ? 1 : l->lanes;
  int64_t want = (int64_t)(PIECE_WORK / (double)j->unit->weight); /* points a piece */
  if (want < 1024) want = 1024;
  if (j->copy) {
    j->outer = tt__byte_copy_pieces(j->copy);
    j->lanes = j->tile_lanes = 1;
    j->tile_outer = cover(want, tt__byte_copy_points(j->copy));
  } else if (k->mode == TT_MODE_ROW) {
    j->tile_lanes = 1;
    j->tile_outer = want / l->row > 1 ? want / l->row : 1;
    j->beside = lie_beside(j, l);
    if (j->beside) j->tile_outer = l->outer;
  } else if (k->mode == TT_MODE_COL) {
    int64_t share = (j->lanes / (4 * tt__pool_size()) + 63) / 64 * 64;
    j->tile_lanes = share < 64 ? 64 : least(share, 1024);
    j->tile_outer = 1;
  } else if (crosses(k, l)) {
    j->tile_lanes = TILE_LANES;
    j->tile_outer = TILE_OUTER;
  } else {
    j->tile_lanes = j->lanes > want ? (want + 1023) / 1024 * 1024 : j->lanes;
    j->tile_outer = j->lanes > want || j->outer == 1 ? 1 : want / (j->lanes ? j->lanes : 1);
  }
  if (k->serial) {
    j->tile_lanes = j->lanes;
    j->tile_outer = j->outer;
  }
  j->nlane = cover(j->lanes, j->tile_lanes);
}

static int64_t tiles(const job *j) { return cover(j->outer, j->tile_outer) * j->nlane; }

/* Few long rows: all threads fold chunks of them, then the chunks are combined in order. */
static tt_code launch_chunks(job *j, const tt_launch *launch, tt_kargs *args, tt_error *err) {
  const tt_kernel *k = j->unit->kernel;
  const tt_lowered *l = launch->lowered;
  int64_t all = l->outer * (k->mode == TT_MODE_COL ? l->lanes : 1) * j->npartial;
  size_t size = (size_t)all * 8, total = size * 2 * (size_t)k->nred;
  char *memory = tt__mem_alloc_data(total);
  if (!memory) return tt__fail_memory(err, total);
  void *partial[2 * MOST_REDUCTIONS];
  for (int i = 0; i < 2 * k->nred; i++) partial[i] = memory + (size_t)i * size;
  args->partial = partial;
  tt__pool_run((j->beside ? 1 : l->outer) * j->npartial, 1, run_chunks, j);
  if (!atomic_load(&j->stop)) {
    tt_krange finish = {
        .lo = 0, .hi = l->outer, .lane_lo = 0, .lane_hi = j->lanes, .chunk_hi = j->npartial, .part = TT_PART_FINISH};
    tt__unit_run(j->unit, j->fn, args, &finish);
  }
  tt__mem_free_data(memory, total);
  return TT_OK;
}

/* Pieces of rows that places are looked for in. */
typedef struct places_job {
  job *job;
  int64_t *place; /* [outer * pieces] */
  int64_t pieces; /* of a row, of TT_CHUNK elements */
} places_job;

static void find_pieces(void *ctx, int64_t lo, int64_t hi, int worker) {
  const places_job *p = ctx;
  (void)worker;
  for (int64_t t = lo; t < hi && !stopped(p->job); t++) {
    int64_t from = t % p->pieces * TT_CHUNK;
    p->place[t] =
        tt__row_places_piece(&p->job->places, t / p->pieces, from, least(from + TT_CHUNK, p->job->places.row));
  }
}

/* Places in long rows: every thread looks at pieces, then the places of each row's pieces are joined. */
static tt_code launch_places(job *j, bool alone, tt_error *err) {
  places_job p = {.job = j, .pieces = cover(j->places.row, TT_CHUNK)};
  int64_t all = j->outer * p.pieces;
  size_t size = (size_t)all * sizeof *p.place;
  p.place = tt__mem_alloc_data(size);
  if (!p.place) return tt__fail_memory(err, size);
  if (alone)
    find_pieces(&p, 0, all, 0);
  else
    tt__pool_run(all, 1, find_pieces, &p);
  for (int64_t o = 0; o < j->outer && !atomic_load(&j->stop); o++)
    tt__row_places_join(&j->places, o, p.place + o * p.pieces, p.pieces);
  tt__mem_free_data(p.place, size);
  return TT_OK;
}

static tt_code launch_tiles(job *j, const tt_launch *launch, bool alone, tt_error *err) {
  const tt_kernel *k = j->unit->kernel;
  void *pointers[TT_MOST_ROOTS * 64];
  char *memory = NULL;
  const int most = (int)(sizeof pointers / sizeof *pointers);
  int workers = alone ? 1 : tt__pool_size();
  if (k->nscratch > most) return tt__fail(err, TT_EINTERNAL, "exec: too many scratches");
  if (k->nscratch && workers > most / k->nscratch) workers = most / k->nscratch;
  size_t row = (size_t)launch->lowered->row * 8, total = row * (size_t)k->nscratch * (size_t)workers;
  if (total) {
    memory = tt__mem_alloc_data(total);
    if (!memory) return tt__fail_memory(err, total);
    for (size_t i = 0; i < (size_t)k->nscratch * (size_t)workers; i++) pointers[i] = memory + i * row;
    j->scratch = pointers;
  }
  if (alone)
    run_tiles(j, 0, tiles(j), 0);
  else
    tt__pool_run_numbered(workers, tiles(j), 1, run_tiles, j);
  if (memory) tt__mem_free_data(memory, total);
  return TT_OK;
}

/* Kernels fetch their pointers before they know whether they use them. */
static void *const nothing[2 * MOST_REDUCTIONS];

tt_code tt__exec_launch(const tt_launch *launch, const tt_kargs *bound, tt_kernel_fn fn, bool can_stop, tt_error *err) {
  assert(bound && launch->unit && launch->unit->kernel);
  const tt_kernel *k = launch->unit->kernel;
  tt_kargs args = *bound;
  args.partial = args.scratch = nothing;
  job j = {.unit = launch->unit, .fn = fn, .args = &args, .caller = pthread_self(), .can_stop = can_stop};
  j.checked_ns = 0;
  j.npartial = args.npartial = chunks_of_row(k, launch->lowered);
  tt_byte_copy copy;
  if (tt__byte_copy_of(k, &args, &copy)) j.copy = &copy;
  j.finds = tt__row_places_of(k, &args, &j.places);
  choose_tiles(&j, launch);
  bool is_short = launch->work.points * j.unit->weight < ALONE_WORK;
  bool alone = is_short || k->serial || tt__pool_size() == 1;
  if (is_short) j.can_stop = false; /* it is done before anybody has looked */
  if (!alone) j.checked_ns = tt__clock_ns();
  double work = launch->work.points * j.unit->weight;
  bool few = alone ? work > LOOK_WORK * (double)tiles(&j) : tiles(&j) < 4 * tt__pool_size();
  bool in_chunks = few && !k->serial && j.npartial > 1 && k->nphase == 1 && !stores_in_row(k);
  in_chunks = in_chunks && k->nred <= MOST_REDUCTIONS;
  double pieces = in_chunks ? (double)j.outer * (double)j.npartial : (double)tiles(&j);
  j.most = work > LOOK_WORK ? (int64_t)(LOOK_WORK * pieces / work) : INT64_MAX;
  if (j.most < 1) j.most = 1;
  if (j.finds && j.places.row > TT_CHUNK)
    TT_TRY(launch_places(&j, alone, err));
  else if (in_chunks)
    TT_TRY(launch_chunks(&j, launch, &args, err));
  else
    TT_TRY(launch_tiles(&j, launch, alone, err));
  if (atomic_load(&j.stop)) return tt__fail(err, TT_EINTERRUPT, "interrupted");
  return TT_OK;
}

/* ---- several launches of one kernel as one */

typedef struct jobs {
  job *job;
  const int64_t *begin; /* [n + 1]: its first tile, counted through all */
  int n;
} jobs;

static void run_jobs(void *ctx, int64_t lo, int64_t hi, int worker) {
  const jobs *all = ctx;
  int at = 0, end = all->n;
  while (end - at > 1) {
    int mid = at + (end - at) / 2;
    if (all->begin[mid] <= lo)
      at = mid;
    else
      end = mid;
  }
  for (; lo < hi; at++) {
    int64_t to = least(hi, all->begin[at + 1]);
    run_tiles(&all->job[at], lo - all->begin[at], to - all->begin[at], worker < 0 ? 0 : worker);
    lo = to;
  }
}

tt_code tt__exec_launches(const tt_step *step, tt_kargs *bound, int n, tt_kernel_fn fn, bool can_stop, tt_error *err) {
  assert(n > 0 && step->many >= n);
  size_t size = (sizeof(job) + sizeof(tt_byte_copy)) * (size_t)n + sizeof(int64_t) * ((size_t)n + 1);
  job *j = tt__mem_alloc(size);
  if (!j) return tt__fail_memory(err, size);
  tt_byte_copy *copy = (tt_byte_copy *)(j + n);
  int64_t *begin = (int64_t *)(copy + n);
  double work = 0;
  begin[0] = 0;
  for (int i = 0; i < n; i++) {
    const tt_launch *launch = step[i].launch;
    bound[i].partial = bound[i].scratch = nothing;
    bound[i].npartial = 1;
    j[i] = (job){.unit = launch->unit, .fn = fn, .args = &bound[i], .caller = pthread_self(), .most = INT64_MAX};
    if (tt__byte_copy_of(launch->unit->kernel, &bound[i], &copy[i])) j[i].copy = &copy[i];
    j[i].finds = tt__row_places_of(launch->unit->kernel, &bound[i], &j[i].places);
    choose_tiles(&j[i], launch);
    begin[i + 1] = begin[i] + tiles(&j[i]);
    work += launch->work.points * launch->unit->weight;
  }
  jobs all = {.job = j, .begin = begin, .n = n};
  bool alone = work < ALONE_WORK || tt__pool_size() == 1;
  for (int i = 0; i < n; i++) {
    if (work <= LOOK_WORK) break; /* it is done before anybody has looked */
    j[i].can_stop = can_stop;
    j[i].checked_ns = tt__clock_ns();
    j[i].most = (int64_t)(LOOK_WORK * (double)begin[n] / work) + 1;
  }
  if (alone)
    run_jobs(&all, 0, begin[n], 0);
  else
    tt__pool_run(begin[n], 1, run_jobs, &all);
  bool stop = false;
  for (int i = 0; i < n; i++) stop |= atomic_load(&j[i].stop) != 0;
  tt__mem_free(j, size);
  return stop ? tt__fail(err, TT_EINTERRUPT, "interrupted") : TT_OK;
}

/* ---- kernel steps */

/* The value of a constant. An earlier step may have written it out for a library: then any element of the memory is
 * it. */
static tt_code constant(const tt_node *n, tt_scalar *out, tt_error *err) {
  *out = (tt_scalar){.bits = {0, 0}};
  if (n->op == TT_N_BUFFER)
    return n->size ? tt__resident_peek(n->attr.buf, out, tt__dtype_size((tt_dtype)n->dtype), err) : TT_OK;
  *out = n->attr.scalar;
  return TT_OK;
}

static tt_scalar convert_scalar(const tt_lscalar *s, tt_scalar from, uint8_t to) {
  if (s->dtype == to) return from;
  tt_scalar out = from;
  tt_value v;
  switch ((tt_dtype)s->dtype) {
    case TT_C64:
      out.f32 = s->part ? from.c64.im : from.c64.re;
      return out;
    case TT_C128:
      out.f64 = s->part ? from.c128.im : from.c128.re;
      return out;
    default:
      v = tt__scalar_load((tt_dtype)s->dtype, &from);
      return tt__scalar_from(&v, (tt_dtype)to);
  }
}

tt_code tt__exec_scalars(const tt_walk *walk, const tt_step *step, const tt_launch *launch, tt_scalar *scalar,
                         tt_error *err) {
  assert(step->kind == TT_STEP_KERNEL && tt__session_is_held());
  const tt_kernel *k = launch->unit->kernel;
  for (int i = 0; i < k->nscalar; i++) {
    const tt_lscalar *s = &launch->lowered->scalar[i];
    tt_value number = {.tag = TT_V_FLOAT, .as.f = s->number};
    if (s->ref == INT32_MIN) {
      scalar[i] = tt__scalar_from(&number, (tt_dtype)k->scalar_type[i]);
      continue;
    }
    tt_scalar from;
    if (s->ref >= 0)
      TT_TRY(constant(walk->node[s->ref], &from, err));
    else
      from = step->literal[-1 - s->ref];
    scalar[i] = convert_scalar(s, from, k->scalar_type[i]);
  }
  return TT_OK;
}

tt_code tt__exec_bind(const tt_walk *walk, const tt_step *step, tt_buffer *const *result, void **buf, int64_t *buf_len,
                      tt_scalar *scalar, tt_error *err) {
  const tt_launch *launch = step->launch;
  const tt_lowered *l = launch->lowered;
  const tt_kernel *k = launch->unit->kernel;
  for (int b = 0; b < k->nbuf; b++) {
    const tt_poperand *o = &step->operand[l->buf_operand[b]];
    const tt_node *n = walk->node[o->node];
    buf_len[b] = n->size * l->buf_parts[b];
    if (!o->write) {
      buf[b] = n->attr.buf->data;
      continue;
    }
    for (int r = 0; r < step->nroot; r++)
      if (step->root[r].operand == l->buf_operand[b]) buf[b] = result[r]->data;
  }
  return tt__exec_scalars(walk, step, launch, scalar, err);
}

tt_code tt__exec_fault(const tt_kfault *fault, tt_error *err) {
  return tt__fail(err, TT_EINTERNAL, "bounds check: access %d at element %lld of %lld", fault->access - 1,
                  (long long)fault->index, (long long)fault->len);
}

static tt_code run_kernel(const tt_walk *walk, const tt_step *step, tt_buffer *const *result, tt_scalar *scalar,
                          tt_error *err) {
  const tt_launch *launch = step->launch;
  const tt_lowered *l = launch->lowered;
  void *buf[MOST_BUFFERS];
  int64_t buf_len[MOST_BUFFERS];
  tt_kfault fault = {0, 0, 0};
  TT_TRY(tt__exec_bind(walk, step, result, buf, buf_len, scalar, err));
  tt_kargs args = {
      .buf = buf, .buf_len = buf_len, .len = l->len, .off = l->off, .step = l->step, .scalar = scalar, .fault = &fault};
  tt_kernel_fn fn = tt__unit_code(launch->unit);
  bool lengthy = launch->work.points * launch->unit->weight > LONG_WORK;
  bool timed = tt__profile_on || launch->work.points * launch->unit->weight > TIMED_WORK;
  int64_t start = timed ? tt__clock_ns() : 0;
  bool can_stop = !lengthy || !tt__memory_in_place(walk, step, result); /* half a store in place is a spoiled array */
  int depth = lengthy ? tt__session_suspend() : 0;
  tt_code code = tt__exec_launch(launch, &args, fn, can_stop, err);
  if (lengthy) tt__session_resume(depth);
  int64_t end = timed ? tt__clock_ns() : 0;
  tt__unit_ran(launch->unit, fn, launch->work.points, code == TT_OK ? (double)(end - start) : 0);
  TT_COUNT(bytes_read, launch->work.bytes_read);
  TT_COUNT(bytes_written, launch->work.bytes_written);
  if (tt__profile_on) tt__profile_add(step, fn != NULL, start, end);
  return code == TT_OK && fault.access ? tt__exec_fault(&fault, err) : code;
}

static tt_code exec_kernel(const tt_walk *walk, const tt_step *step, tt_error *err) {
  const tt_kernel *k = ((const tt_launch *)step->launch)->unit->kernel;
  tt_buffer *result[TT_MOST_ROOTS];
  tt_scalar few[32], *scalar = few;
  size_t scalar_size = sizeof(tt_scalar) * (size_t)k->nscalar;
  if (k->nscalar > 32 && !(scalar = tt__mem_alloc(scalar_size))) return tt__fail_memory(err, scalar_size);
  tt_code code = tt__memory_results(walk, step, result, err);
  if (code != TT_OK) goto free_scalar;
  code = run_kernel(walk, step, result, scalar, err);
  for (int r = 0; r < step->nroot; r++) {
    if (code == TT_OK)
      tt__node_settle(walk->node[step->root[r].node], result[r]);
    else
      tt__buffer_release(result[r]);
  }
free_scalar:
  if (scalar != few) tt__mem_free(scalar, scalar_size);
  return code;
}

/* ---- steps that compute nothing: memory alone, or an old value that moves on */

static tt_code exec_empty(const tt_walk *walk, const tt_step *step, tt_error *err) {
  tt_buffer *result[TT_MOST_ROOTS];
  if (step->root[0].base >= 0) {
    tt_node *base = walk->node[step->root[0].base];
    tt__node_become_buffer(walk->node[step->root[0].node], tt__buffer_retain(base->attr.buf));
    return TT_OK;
  }
  TT_TRY(tt__memory_results(walk, step, result, err));
  tt__node_become_buffer(walk->node[step->root[0].node], result[0]);
  return TT_OK;
}

/* What the step reads must lie on the host; the lock is given up where something has to come from a device. */
tt_code tt__exec_bring_home(const tt_walk *walk, const tt_step *step, tt_error *err) {
  for (int i = 0; i < step->noperand; i++) {
    const tt_node *n = walk->node[step->operand[i].node];
    if (n->op == TT_N_BUFFER) TT_TRY(tt__buffer_host(n->attr.buf, err));
  }
  for (int i = 0; i < step->nsrc; i++) {
    const tt_node *n = walk->node[step->src[i].node];
    if (n->op == TT_N_BUFFER) TT_TRY(tt__buffer_host(n->attr.buf, err));
  }
  for (int r = 0; r < step->nroot; r++) {
    const tt_node *n = step->root[r].base >= 0 ? walk->node[step->root[r].base] : NULL;
    if (n && n->op == TT_N_BUFFER) TT_TRY(tt__buffer_host(n->attr.buf, err));
  }
  return TT_OK;
}

tt_code tt__exec_step(const tt_walk *walk, const tt_step *step, tt_error *err) {
  assert(step->kind <= TT_STEP_CALL && step->nroot >= 0);
  if (step->kind != TT_STEP_EMPTY) TT_TRY(tt__exec_bring_home(walk, step, err));
  switch (step->kind) {
    case TT_STEP_KERNEL:
      return exec_kernel(walk, step, err);
    case TT_STEP_LIB:
      return tt__exec_library(walk, step, err);
    default:
      return exec_empty(walk, step, err);
  }
}
