/*
** Programs from text to code, and the host's side of a call: memory, printing, threads, failures.
*/
#include "launch/python/jit.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool/cut.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cpu/cc.h"
#include "ir/dtype.h"
#include "render/dialect.h"
#include "render/proc/proc.h"
#include "render/render.h"
#include "render/trim.h"
#include "graph/session.h"
#include "run/cache/cache.h"
#include "run/exec.h"
#include "launch/python/cache_hints.h"
#include "launch/python/host_call.h"
#include "launch/python/letters.h"
#include "launch/launch.h"
#include "launch/python/seeded.h"
#include "launch/python/tier.h"

enum { POLL_NS = 50000000, BLOCK_THREADS = 1024, STATIC_SHARED = 48 << 10 };

/* ---- compiling */

/* `look`: only on disk, which is no failure; the code's address is j->fn's, once it is there. */
static tt_code find_code(struct tt_jit *j, bool look, tt_error *err) {
  const char *name = j->name;
  tt_digest key = tt__digest(name, strlen(name));
  tt_str identity = {0}, header = {0}, source = {0}, binary = {0};
  tt_kernel_fn fn = NULL;
  const char *names[1] = {name};
  tt__cc_identity(&identity);
  tt__program_header(&j->program, TT_PROGRAM_C, &header);
  tt_cache_place place = {.identity = identity.data, .header = {0}};
  bool cached = !identity.failed && identity.len > 0 && !header.failed;
  if (cached) place.header = tt__digest(header.data, header.len);
  tt_cache_item item = {.key = key, .text = name, .source = j->source.data, .symbol = name};
  if (cached) fn = tt__cache_find(&place, &item);
  tt_code c = TT_OK;
  if (!fn && !look) {
    if (!header.failed) tt__trim(header.data, j->source.data, &source);
    tt__str_add(&source, j->source.data);
    c = header.failed || source.failed ? tt__fail_memory(err, source.len)
                                       : tt__cc_compile_first(source.data, names, 1, &fn, &binary, err);
    if (c == TT_OK && cached) tt__cache_store(&place, &item, 1, binary.data, binary.len);
  }
  if (c == TT_OK && fn) __atomic_store(&j->fn, (tt_program_fn *)&fn, __ATOMIC_SEQ_CST);
  tt__str_free(&identity);
  tt__str_free(&header);
  tt__str_free(&source);
  tt__str_free(&binary);
  return c;
}

static tt_code load_or_compile(struct tt_jit *j, tt_error *err) { return find_code(j, false, err); }

/* In the background, after somebody has looked on the disk. */
static void compile_later(struct tt_jit *j) {
  (void)find_code(j, false, NULL);
  tt__cc_expect(0); /* the compiler that waited was taken; others may be expected */
}

/* A function that is called now: found on disk, or baseline code until the compiler is done, or compiled. */
static tt_code make_callable(struct tt_jit *j, tt_error *err) {
  bool begun = false, alone = false;
  if (!tt__tier_wanted(&alone) || !tt__cc_usable()) return load_or_compile(j, err);
  if (!alone) TT_TRY(find_code(j, true, err));
  if (!j->fn) TT_TRY(tt__tier_begin(j, compile_later, &begun, err));
  return j->fn || begun ? TT_OK : load_or_compile(j, err);
}

void tt__jit_expect(tt_digest key, bool *waits) {
  *waits = tt__cc_usable() && !tt__cache_hint_find(key);
  if (*waits) tt__cc_expect(1);
}

void tt__jit_settle(tt_digest key, bool compiled) {
  if (compiled) tt__cache_hint_add(key);
  tt__cc_expect(-1);
}

static void put_table(struct tt_jit *j) {
  for (int64_t i = 0; i < j->program.funcs.n; i++) {
    const tt_pfunc *f = j->program.funcs.data[i];
    char text[256];
    tt__str_addf(&j->types, "%s\n", f->name);
    for (int64_t k = 0; k < f->locals.n; k++) {
      tt__ptype_text(f->locals.data[k].type, text, sizeof text);
      if (!strchr(f->locals.data[k].name, '$')) tt__str_addf(&j->types, "  %s: %s\n", f->locals.data[k].name, text);
    }
    tt__ptype_text(f->result, text, sizeof text);
    tt__str_addf(&j->types, "  returns %s\n", text);
  }
}

static void free_jit(struct tt_jit *j) {
  tt__program_free(&j->program);
  tt__str_free(&j->source);
  tt__str_free(&j->types);
  tt__str_free(&j->result);
  tt__mem_free(j, sizeof *j);
}

static bool is_brief(const tt_pexpr *e) {
  if (!e) return true;
  if (e->op == TT_X_CALL || e->op == TT_X_NEXT || e->op == TT_X_ALLOC || e->op == TT_X_RESIZE ||
      (e->op == TT_X_HELPER && e->k))
    return false;
  for (int k = 0; k < e->n; k++)
    if (!is_brief(e->arg[k])) return false;
  return true;
}

static bool are_brief(const tt_pstmt *s) {
  for (; s; s = s->next) {
    bool plain = s->op == TT_X_SET || s->op == TT_X_STORE || s->op == TT_X_IF || s->op == TT_X_RETURN;
    if (!plain || !is_brief(s->a) || !is_brief(s->b) || !are_brief(s->body) || !are_brief(s->other)) return false;
  }
  return true;
}

tt_code tt__jit_compile(const char *text, size_t size, const char *signature, const tt_py_options *options,
                        struct tt_jit **out, tt_error *err) {
  struct tt_jit *j = tt__mem_zalloc(sizeof *j);
  *out = NULL;
  if (!j) return tt__fail_memory(err, sizeof *j);
  tt_py_options asking = *options;
  asking.ask = tt__host_call_types;
  tt_code c = tt__py_lower(text, size, signature, &asking, &j->program, err);
  if (c != TT_OK) goto fail;
  j->local = tt__program_local_bytes(&j->program);
  j->shared = tt__program_shared_bytes(&j->program);
  if (options->kernel && j->shared > STATIC_SHARED) {
    c = tt__fail(err, TT_EVALUE, "the kernel declares %lld bytes of static shared memory: a block has %d",
                 (long long)j->shared, STATIC_SHARED);
    goto fail;
  }
  c = tt__program_render(&j->program, TT_PROGRAM_C, "tt_program", &j->source, err); /* its name is the text's digest */
  if (c != TT_OK) goto fail;
  tt_digest key = tt__digest(j->source.data, j->source.len);
  char hex[33];
  tt__digest_hex(key, hex);
  snprintf(j->name, sizeof j->name, "tt_p_%s", hex);
  const char *name = j->name;
  tt__str_clear(&j->source);
  c = tt__program_render(&j->program, TT_PROGRAM_C, name, &j->source, err);
  if (c != TT_OK) goto fail;
  j->brief = !options->kernel && are_brief(j->program.entry->body);
  j->draws = !j->source.failed && strstr(j->source.data, "tt_random_") != NULL;
  if (tt__log_on(TT_LOG_RENDER)) tt__log_artefact(TT_LOG_RENDER, name, j->source.data);
  tt__ptype_code(j->program.entry->result, &j->result);
  put_table(j);
  c = j->result.failed || j->types.failed ? tt__fail_memory(err, 1) : TT_OK;
  if (c == TT_OK && !options->kernel) c = make_callable(j, err); /* a kernel may run elsewhere: at its launch */
  if (c != TT_OK) goto fail;
  *out = j;
  return TT_OK;
fail:
  free_jit(j);
  return c;
}

tt_code tt__jit_device_text(const struct tt_jit *j, tt_program_target target, tt_str *out, tt_error *err) {
  assert(target != TT_PROGRAM_C);
  if (j->program.entry->kind != TT_X_KERNEL) return tt__fail(err, TT_ENOTIMPL, "only kernels run on a GPU");
  tt_str header = {0}, text = {0};
  tt__render_header(target == TT_PROGRAM_CUDA ? &tt__dialect_cuda : &tt__dialect_opencl, j->program.scalar, &header);
  tt__program_header(&j->program, target, &header);
  tt_code c = tt__program_render(&j->program, target, j->name, &text, err);
  if (c == TT_OK && !header.failed) tt__trim(header.data, text.data, out);
  if (c == TT_OK) tt__str_add(out, text.data);
  if (c == TT_OK && (header.failed || out->failed)) c = tt__fail_memory(err, out->len);
  tt__str_free(&header);
  tt__str_free(&text);
  return c;
}

/* ---- what a call leaves behind */

typedef struct block {
  void *data;
  size_t size;
} block;

struct tt_jit_run {
  tt_lock lock;
  tt_str text;
  TT_VEC(block) blocks;
  char *room, *room_end; /* of a generator's calls: where small parts go on */
};

/* The host's view of one call; all threads' tt_pcalls point at it. */
typedef struct host {
  struct tt_jit_run *run;
  tt_lock lock; /* making `run` */
  int32_t failed, line;
  const char *message;
  pthread_t caller;
} host;

static struct tt_jit_run *run_of(host *h) {
  tt__lock(&h->lock);
  if (!h->run) {
    h->run = tt__mem_zalloc(sizeof *h->run);
    if (h->run) pthread_mutex_init(&h->run->lock.mutex, NULL);
  }
  struct tt_jit_run *r = h->run;
  tt__unlock(&h->lock);
  return r;
}

static void *host_alloc(tt_pcall *call, int64_t bytes, int32_t zero) {
  struct tt_jit_run *r = bytes < 0 ? NULL : run_of(call->host);
  if (!r) return NULL;
  block b = {.size = (size_t)bytes + 64}; /* never empty, so that every array has an address of its own */
  b.data = tt__mem_alloc_data(b.size);
  if (!b.data) return NULL;
  tt__lock(&r->lock);
  bool kept = TT_VEC_PUSH(&r->blocks, b);
  tt__unlock(&r->lock);
  if (!kept) {
    tt__mem_free_data(b.data, b.size);
    return NULL;
  }
  if (zero) memset(b.data, 0, (size_t)bytes);
  return b.data;
}

/* Recursion may take so many bytes of a thread's stack: no system's threads have less than twice that. */
enum { STACK_OF_RECURSION = 448 << 10 };
static const char *stack_floor(const char *here) { return (const char *)((uintptr_t)here - STACK_OF_RECURSION); }

/* As Python prints them. */
static void put_float(tt_str *out, double f) {
  char text[40];
  int digits = 1;
  if (f != f || f - f != 0) {
    tt__str_add(out, f != f ? "nan" : f < 0 ? "-inf" : "inf");
    return;
  }
  do snprintf(text, sizeof text, "%.*g", digits, f);
  while (strtod(text, NULL) != f && ++digits <= 17);
  double size = f < 0 ? -f : f;
  if (size != 0 && (size >= 1e16 || size < 1e-4)) {
    snprintf(text, sizeof text, "%.*e", digits > 17 ? 16 : digits - 1, f);
    tt__str_add(out, text);
    return;
  }
  for (int places = 1; places < 24; places++) {
    snprintf(text, sizeof text, "%.*f", places, f);
    if (strtod(text, NULL) == f) break;
  }
  tt__str_add(out, text);
}

static void put_value(tt_str *out, int dtype, const int64_t *w) {
  tt_scalar s = {.i64 = w[0]};
  if (dtype == TT_BOOL)
    tt__str_add(out, w[0] ? "True" : "False");
  else if (dtype == TT_F64)
    put_float(out, s.f64);
  else if (dtype == TT_F32)
    put_float(out, (double)s.f32);
  else if (dtype == TT_U64)
    tt__str_addf(out, "%llu", (unsigned long long)w[0]);
  else if (dtype == TT_C128 || dtype == TT_C64) {
    double re, im;
    if (dtype == TT_C64) {
      re = (double)s.c64.re;
      im = (double)s.c64.im;
    } else {
      memcpy(&re, w, 8);
      memcpy(&im, w + 1, 8);
    }
    tt__str_add(out, "(");
    put_float(out, re);
    if (!(im < 0)) tt__str_add(out, "+");
    put_float(out, im);
    tt__str_add(out, "j)");
  } else {
    tt__str_addf(out, "%lld", (long long)w[0]);
  }
}

_Static_assert(TT_BOOL == 0 && TT_I64 == 4 && TT_U64 == 8 && TT_F64 == 12 && TT_C128 == 14, "as proc_text.h has them");

/* A number as Python writes it; the text is the call's, NULL: there is no memory. */
static const char *host_format(tt_pcall *call, int64_t dtype, const int64_t *word) {
  tt_str out = {0};
  put_value(&out, (int)dtype, word);
  char *kept = out.failed ? NULL : host_alloc(call, (int64_t)out.len + 1, 0);
  if (kept) memcpy(kept, out.data, out.len + 1);
  tt__str_free(&out);
  return kept;
}

static void host_print(tt_pcall *call, const char *kinds, const int64_t *word) {
  struct tt_jit_run *r = run_of(call->host);
  if (!r) return;
  tt__lock(&r->lock);
  for (const char *k = kinds; *k; k++) {
    if (*k == 's') {
      const char *s;
      memcpy(&s, word, sizeof s);
      tt__str_add(&r->text, s);
      word++;
    } else if (*k == 'N') {
      tt__str_add(&r->text, "None");
    } else {
      put_value(&r->text, *k - 'a', word);
      word += *k - 'a' == TT_C128 ? 2 : 1;
    }
  }
  tt__str_add(&r->text, "\n");
  tt__unlock(&r->lock);
}

static void host_outside(tt_pcall *call, const char *array, int64_t axis, int64_t index, int64_t len, int64_t line,
                         const int64_t *place) {
  char text[320];
  int n = snprintf(text, sizeof text, "index %lld is out of bounds for axis %lld of '%s' with size %lld",
                   (long long)index, (long long)axis, array, (long long)len);
  if (place && n > 0 && (size_t)n < sizeof text)
    snprintf(text + n, sizeof text - (size_t)n, "; block (%lld, %lld, %lld), thread (%lld, %lld, %lld)",
             (long long)place[0], (long long)place[1], (long long)place[2], (long long)place[3], (long long)place[4],
             (long long)place[5]);
  tt__jit_fail(call, TT_EINDEX, text, line);
}

void tt__jit_fail(tt_pcall *call, tt_code code, const char *message, int64_t line) {
  int32_t none = 0;
  if (!__atomic_compare_exchange_n(call->failed, &none, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  size_t size = strlen(message) + 1;
  char *text = host_alloc(call, (int64_t)size, 0);
  if (text) memcpy(text, message, size);
  *call->message = text ? text : "out of memory";
  *call->line = (int32_t)line;
}

static int32_t host_poll(tt_pcall *call) {
  host *h = call->host;
  if (__atomic_load_n(&h->failed, __ATOMIC_RELAXED)) return 1;
  if (!tt__interrupt_check(pthread_equal(pthread_self(), h->caller))) return 0;
  (void)tt__interrupted();
  __atomic_store_n(&h->failed, TT_EINTERRUPT, __ATOMIC_RELAXED);
  h->message = "interrupted";
  return 1;
}

/* ---- parallel loops */

typedef struct team {
  tt_pcall *call;
  void (*body)(tt_pcall *call, void *env, int64_t chunk, int64_t chunks);
  void *env;
  int64_t chunks;
} team;

static void run_chunks(void *ctx, int64_t lo, int64_t hi, int worker) {
  team *t = ctx;
  (void)worker;
  for (int64_t k = lo; k < hi && !__atomic_load_n(t->call->failed, __ATOMIC_RELAXED); k++) {
    tt_pcall own = *t->call; /* each chunk draws its own random numbers, whoever runs it */
    own.room = own.room_end = NULL;
    own.floor = stack_floor((const char *)&own);
    own.reseed = NULL;
    own.draw = NULL;
    own.random[0] ^= (uint64_t)(k + 1) * 0x9e3779b97f4a7c15u;
    own.random[1] += (uint64_t)(k + 1) * 0xd1342543de82ef95u;
    t->body(&own, t->env, k, t->chunks);
  }
}

static void host_parallel(tt_pcall *call, int64_t n,
                          void (*body)(tt_pcall *call, void *env, int64_t chunk, int64_t chunks), void *env) {
  team t = {call, body, env, n};
  tt__pool_run(n, 1, run_chunks, &t);
  call->random[0] += 0x9e3779b97f4a7c15u;
}

/* ---- calls */

static uint64_t seeds[2]; /* where the next call's random numbers go on */
TT_LOCK(seed_lock, 0);

/* `draws`: does it draw random numbers? The others need no seed. */
static void begin(tt_pcall *call, host *h, const int64_t *hidden, bool draws) {
  memset(h, 0, sizeof *h);
  h->caller = pthread_self();
  pthread_mutex_init(&h->lock.mutex, NULL);
  *call = (tt_pcall){.failed = &h->failed,
                     .message = &h->message,
                     .line = &h->line,
                     .hidden = hidden,
                     .host = h,
                     .alloc = host_alloc,
                     .print = host_print,
                     .format = host_format,
                     .parallel = host_parallel,
                     .outside = host_outside,
                     .function = tt__host_call,
                     .letter = tt__letter,
                     .floor = stack_floor((const char *)call),
                     .poll = host_poll};
  if (!draws) return;
  tt__lock(&seed_lock);
  if (!seeds[0] && !seeds[1]) tt__entropy(seeds, sizeof seeds), seeds[1] |= 1;
  memcpy(call->random, seeds, sizeof seeds);
  seeds[0] += 0x9e3779b97f4a7c15u; /* when the call draws none, the next one need not repeat */
  tt__unlock(&seed_lock);
}

static tt_code end(const struct tt_jit *j, tt_pcall *call, host *h, bool drew, struct tt_jit_run **run, tt_error *err) {
  if (drew) {
    tt__lock(&seed_lock);
    memcpy(seeds, call->random, sizeof seeds);
    tt__unlock(&seed_lock);
  }
  pthread_mutex_destroy(&h->lock.mutex);
  *run = h->run;
  if (!h->failed) return TT_OK;
  tt_code code = h->failed >= TT_X_ASSERTION ? TT_EINTERNAL : (tt_code)h->failed;
  const char *name = j->program.entry->name;
  if (h->failed >= TT_X_RAISED)
    return tt__fail(err, TT_EINTERNAL, "raised %d\nin %s, line %d\n%s", (int)h->failed - TT_X_RAISED, name, h->line,
                    h->message);
  if (h->failed == TT_X_DEEP) return tt__fail(err, TT_EINTERNAL, "RecursionError: %s\nin %s", h->message, name);
  if (h->failed == TT_X_STOP) return tt__fail(err, TT_EINTERNAL, "StopIteration: \nin %s, line %d", name, h->line);
  if (h->failed == TT_X_KEY)
    return tt__fail(err, TT_EINTERNAL, "KeyError: %s\nin %s, line %d", h->message, name, h->line);
  if (h->failed == TT_X_ASSERTION)
    return tt__fail(err, code, "AssertionError: %s\nin %s, line %d", h->message, name, h->line);
  return h->line ? tt__fail(err, code, "%s\nin %s, line %d", h->message, name, h->line)
                 : tt__fail(err, code, "%s", h->message);
}

tt_code tt__jit_call(const struct tt_jit *j, const int64_t *word, const int64_t *hidden, int64_t *out,
                     struct tt_jit_run **run, tt_error *err) {
  tt_pcall call;
  host h;
  begin(&call, &h, hidden, j->draws);
  if (j->draws) tt__seeded_attach(&call); /* not in kernels, whose threads are many */
  uint64_t before[2] = {call.random[0], call.random[1]};
  tt_program_fn fn = __atomic_load_n(&j->fn, __ATOMIC_ACQUIRE);
  if (fn)
    fn(&call, word, out);
  else
    tt__tier_call(j, &call, word, out);
  return end(j, &call, &h, j->draws && memcmp(before, call.random, sizeof before) != 0, run, err);
}

typedef int (*step_fn)(tt_pcall *call, tt_jit_list *self, bool *more);

/* The words of a generator begin with its state and the address of its code (render/proc/generator.c). */
tt_code tt__jit_next(const struct tt_jit *j, tt_jit_list *generator, const int64_t *hidden, struct tt_jit_run **run,
                     bool *more, tt_error *err) {
  tt_pcall call;
  host h;
  step_fn step;
  begin(&call, &h, hidden, j->draws);
  if (j->draws) tt__seeded_attach(&call);
  uint64_t before[2] = {call.random[0], call.random[1]};
  h.run = *run;
  if (h.run) {
    tt__str_clear(&h.run->text);
    call.room = h.run->room;
    call.room_end = h.run->room_end;
  }
  memcpy(&step, &generator->word[1], sizeof step);
  *more = false;
  (void)step(&call, generator, more);
  if (h.run) {
    h.run->room = call.room;
    h.run->room_end = call.room_end;
  }
  return end(j, &call, &h, j->draws && memcmp(before, call.random, sizeof before) != 0, run, err);
}

/* ---- launches */

typedef struct crew {
  const struct tt_jit *j;
  tt_pcall *call;
  const int64_t *word;
  const tt_grid *launch;
  int64_t begun;
  char *memory; /* of each worker: dynamic shared memory, private arrays */
  size_t each;
  int workers;
  _Alignas(64) int64_t busy; /* ns that threads have worked: all read what stands above, and each piece writes this */
} crew;

static void run_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  crew *c = ctx;
  tt_pcall own = *c->call;
  const uint32_t *g = c->launch->grid, *b = c->launch->block;
  if (__atomic_load_n(own.failed, __ATOMIC_RELAXED)) return;
  int64_t start = tt__clock_ns();
  if (start - c->begun > POLL_NS && host_poll(&own)) return; /* long launches hear Ctrl-C between blocks */
  own.shared = c->memory ? c->memory + (size_t)worker * c->each : NULL;
  own.local = own.shared ? own.shared + ((c->launch->shared + 63) & ~(int64_t)63) : NULL;
  own.random[0] += (uint64_t)lo;
  own.floor = stack_floor((const char *)&own);
  int64_t at[9] = {lo, hi, b[0], b[1], b[2], g[0], g[1], g[2], c->launch->shared};
  c->j->fn(&own, c->word, at);
  __atomic_fetch_add(&c->busy, tt__clock_ns() - start, __ATOMIC_RELAXED);
}

static void run_cut(crew *c, int64_t blocks) {
  int64_t threads = tt__grid_threads(c->launch);
  if (c->j->draws)
    tt__pool_run_numbered(c->workers, blocks, 1, run_blocks, c);
  else
    tt__cut_run(c->j, c->workers, blocks, threads, run_blocks, c);
  if (!__atomic_load_n(c->call->failed, __ATOMIC_RELAXED)) tt__cut_note(c->j, blocks, threads, c->busy);
}

tt_code tt__jit_ready(struct tt_jit *j, tt_error *err) {
  if (__atomic_load_n(&j->fn, __ATOMIC_ACQUIRE)) return TT_OK;
  tt_code c = load_or_compile(j, err); /* twice in a race: the same */
  tt__cc_expect(0);                    /* the compiler that waited was taken; others may be expected */
  return c;
}

tt_code tt__jit_launch(struct tt_jit *j, const int64_t *word, const int64_t *hidden, const tt_grid *launch,
                       struct tt_jit_run **run, tt_error *err) {
  tt_pcall call;
  host h;
  int64_t blocks = tt__grid_blocks(launch);
  *run = NULL;
  assert(blocks > 0 && tt__grid_threads(launch) <= BLOCK_THREADS && launch->shared >= 0);
  TT_TRY(tt__jit_ready(j, err));
  crew c = {.j = j, .call = &call, .word = word, .launch = launch, .begun = tt__clock_ns(), .workers = tt__pool_size()};
  int64_t local = j->program.grid ? 0 : j->local * BLOCK_THREADS;
  size_t total = 0;
  if (launch->shared || local) {
    c.each = ((size_t)launch->shared + 127 + (size_t)local) & ~(size_t)63;
    total = c.each * (size_t)c.workers;
    c.memory = tt__mem_alloc_data(total);
    if (!c.memory) return tt__fail_memory(err, total);
  }
  begin(&call, &h, hidden, j->draws);
  tt_error why = {0};
  if (tt__program_single(&j->program)) {
    call.local = c.memory ? c.memory + ((launch->shared + 63) & ~(int64_t)63) : NULL;
    (void)tt__jit_launch_checked(j, &call, word, launch, &why);
  } else if (j->program.grid)
    run_blocks(&c, 0, blocks, 0); /* every block is there at once: one loop over all threads */
  else
    run_cut(&c, blocks);
  tt__mem_free_data(c.memory, total);
  TT_TRY(end(j, &call, &h, false, run, err));
  return why.code == TT_OK ? TT_OK : tt__fail(err, why.code, "%s", why.message);
}

/* ---- giving back */

const char *tt__jit_run_text(const struct tt_jit_run *run) { return run && run->text.data ? run->text.data : ""; }

bool tt__jit_run_take(struct tt_jit_run *run, const void *p, void **data, size_t *size) {
  for (int64_t k = 0; run && k < run->blocks.n; k++) {
    block b = run->blocks.data[k];
    if ((const char *)p < (const char *)b.data || (const char *)p >= (const char *)b.data + b.size) continue;
    run->blocks.data[k] = run->blocks.data[--run->blocks.n];
    *data = b.data;
    *size = b.size;
    return true;
  }
  return false;
}

void tt__jit_run_free(struct tt_jit_run *run) {
  if (!run) return;
  for (int64_t k = 0; k < run->blocks.n; k++) tt__mem_free_data(run->blocks.data[k].data, run->blocks.data[k].size);
  TT_VEC_FREE(&run->blocks);
  tt__str_free(&run->text);
  pthread_mutex_destroy(&run->lock.mutex);
  tt__mem_free(run, sizeof *run);
}
