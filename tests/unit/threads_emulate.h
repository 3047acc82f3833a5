/*
** Thread kernels on this machine: a dialect whose words are calls into a scheduler that runs the
** threads of a block as fibers, one block after the other. It finds wrong results, threads that miss a barrier,
** and (by running the threads in two orders) results that depend on who comes first.
** Include "test.h" first.
*/
#ifndef THREADS_EMULATE_H
#define THREADS_EMULATE_H

#include <ucontext.h>

#include "device/cpu/cc.h"
#include "kernel_ref.h"
#include "render/render.h"
#include "render/gpu/threads.h"

enum { EMU_THREADS = 1024, EMU_STACK = 48 * 1024, EMU_SHARED = 256 * 1024 };

/* What a rendered kernel sees of the block. ORDER EMU: the text in emu_after has the same fields. */
typedef struct emu_block {
  void (*barrier)(void);
  void (*shuffle)(void *x, int size, int from);
  int tx, ty, bx, by, gx, gy, nx, ny, gz, nz;
  unsigned char *shared;
} emu_block;

typedef void (*emu_fn)(emu_block *b, const void *args);

static const char emu_after[] =
    "typedef struct {\n"
    "  void (*barrier)(void); void (*shuffle)(void *x, int size, int from);\n"
    "  int tx, ty, bx, by, gx, gy, nx, ny, gz, nz; unsigned char *shared;\n"
    "} emu_block;\n"
    "static emu_block *emu;\n"
    "#define TT_TX (emu->tx)\n#define TT_TY (emu->ty)\n#define TT_BX (emu->bx)\n#define TT_BY (emu->by)\n"
    "#define TT_GX (emu->gx)\n#define TT_GY (emu->gy)\n#define TT_NX (emu->nx)\n#define TT_NY (emu->ny)\n"
    "#define TT_GZ (emu->gz)\n#define TT_NZ (emu->nz)\n"
    "#define TT_MASKS 0\n#define TT_TAIL(m) m\n#define TT_IN(w, m) 1\n#define TT_HOLDS(n, h) ((n) > (h))\n"
    "#define TT_AHEAD(p, m)\n#define TT_PRODUCT(x) (x)\n"
    "#define TT_SHARED static\n"
    "#define TT_SHARED_AT\n"
    "#define TT_ADDRESS(type) type *\n"
    "#define TT_WORK (args->work)\n"
    "#define TT_FAULT (args->fault)\n"
    "#define TT_SHARED_BYTES (emu->shared)\n"
    "#define TT_BARRIER() emu->barrier()\n"
    "#define TT_DOWN(x, by) ({ __typeof__(x) x_ = (x); emu->shuffle(&x_, sizeof x_, -(by)); x_; })\n"
    "#define TT_FROM(x, i) ({ __typeof__(x) x_ = (x); emu->shuffle(&x_, sizeof x_, i); x_; })\n"
    "#define TT_ANY(x) ({ int any_ = (x) != 0, i_ = 0; for (; i_ < 32; i_++) any_ |= TT_FROM(any_, i_); any_; })\n"
    "#define TT_FIRST(p, x, y) ({ tt_i32 was_ = *(p); if (was_ == (x)) *(p) = (y); was_; })\n"
    "#define TT_MOST(p, x) (*(p) = *(p) > (x) ? *(p) : (x))\n"
    "#define TT_ALIGNED(n) __attribute__((aligned(n)))\n"
    "#define TT_BOUNDS(n, m)\n"
    "#define TT_EXACTLY(n, m)\n"
    "#define TT_UNROLL(n)\n"
    "typedef union {\n"
    "  tt_b8 b8; tt_i8 i8; tt_i16 i16; tt_i32 i32; tt_i64 i64; tt_u8 u8; tt_u16 u16; tt_u32 u32; tt_u64 u64;\n"
    "  tt_f32 f32; tt_f64 f64;\n"
    "} tt_scalar;\n"
    "typedef struct { tt_i32 access; tt_i64 index, len; } tt_kfault;\n"
    "static int tt_fault(tt_kfault *f, tt_i32 access, tt_i64 index, tt_i64 len) {\n"
    "  if (TT_FIRST(&f->access, 0, access + 1) == 0) { f->index = index; f->len = len; }\n"
    "  return 0;\n"
    "}\n"
    "#define TT_INBOUNDS(a, b, i) \\\n"
    "  ((tt_u64)(i) < (tt_u64)args->buf_len[b] || tt_fault(TT_FAULT, a, i, args->buf_len[b]))\n";

/* Guesses as devices make them: a unit or so away, and nothing of subnormal numbers. */
static const char emu_before[] =
    "#define TT_SCALAR_LANES\n"
    "#define TT_NEAR_F32\n"
    "#define TT_SIZE_F32(x) __builtin_fabsf(x)\n"
    "#define TT_MOST_F32(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))\n"
    "static inline float tt__guess_reciprocal(float x) {\n"
    "  float a = __builtin_fabsf(x);\n"
    "  return a < 0x1p-126f ? __builtin_copysignf(__builtin_inff(), x) : a > 0x1p126f ? 0 * x : 1 / x;\n"
    "}\n"
    "static inline float tt__guess_root(float x) {\n"
    "  if (__builtin_fabsf(x) < 0x1p-126f) return __builtin_copysignf(__builtin_inff(), x);\n"
    "  return (float)(1 / __builtin_sqrt(x));\n"
    "}\n";

#define EMU_WORDS                                                                                                \
  .name = "emulated", .after = emu_after, .kernel = "static void ", .global = "", .buffer = "args->buf[%d]",     \
  .scratch = "((char *)args->work + (%d * (tt_i64)TT_NY + TT_GY) * 8 * args->points * args->lanes)",             \
  .partial = "((char *)args->work + %d * 8 * args->parts)", .scalar = "args->scalar[%d].%s", .len = "args->len", \
  .off = "args->off", .step = "args->step", .independent = "", .unrolled = "", .masked = "",                     \
  .inbounds = "TT_INBOUNDS(%d, %d, %s)", .lacks = 1u << TT_C64 | 1u << TT_C128

static const tt_dialect emu_dialect = {EMU_WORDS, .before = emu_before, .branches = true};
/* Where blocks are cores. */
static const tt_dialect emu_cores = {EMU_WORDS, .before = "", .neighbours = true};

/* Below a rendered kernel: an entry of one signature. */
static inline void emu_entry(const char *name, bool far, tt_str *out) {
  tt__str_addf(out, "void run_%s(emu_block *b, const void *args) { emu = b; %s(%s(const %s_args *)args); }\n", name,
               name, far ? "" : "*", name);
}

/* A sanitizer of threads follows no fibers: then nothing is run. */
static inline bool emu_usable(void) {
#ifdef __SANITIZE_THREAD__
  printf("skipped: fibers confuse this sanitizer\n");
  return false;
#else
  return true;
#endif
}

/* ---- the scheduler */

static struct {
  emu_block block;
  emu_fn fn;
  const void *args;
  int n, now, backwards;
  bool bad; /* threads wait for different things */
  ucontext_t home, at[EMU_THREADS];
  char *stack;
  uint8_t state[EMU_THREADS]; /* 0 ready, 1 at a barrier, 2 at a shuffle, 3 done */
  uint8_t slot[EMU_THREADS][8];
} emu_run_state;

static inline void emu_wait(int state) {
  int me = emu_run_state.now;
  emu_run_state.state[me] = (uint8_t)state;
  swapcontext(&emu_run_state.at[me], &emu_run_state.home);
}

static void emu_barrier(void) { emu_wait(1); }

static void emu_shuffle(void *x, int size, int from) {
  int me = emu_run_state.now, lane = me % 32, source = me - lane + (from < 0 ? lane - from : from) % 32;
  memcpy(emu_run_state.slot[me], x, (size_t)size);
  emu_wait(2);
  if (from >= 0 || lane - from < 32)
    memcpy(x, emu_run_state.slot[source < emu_run_state.n ? source : me], (size_t)size);
  emu_wait(2);
}

static void emu_thread(void) {
  emu_run_state.fn(&emu_run_state.block, emu_run_state.args);
  emu_run_state.state[emu_run_state.now] = 3;
}

static inline void emu_resume(int i) {
  emu_run_state.now = i;
  emu_run_state.block.tx = i % emu_run_state.block.bx;
  emu_run_state.block.ty = i / emu_run_state.block.bx;
  emu_run_state.state[i] = 0;
  swapcontext(&emu_run_state.home, &emu_run_state.at[i]);
}

static inline void emu_run_block(void) {
  int n = emu_run_state.n;
  for (int i = 0; i < n; i++) {
    getcontext(&emu_run_state.at[i]);
    emu_run_state.at[i].uc_stack.ss_sp = emu_run_state.stack + (size_t)i * EMU_STACK;
    emu_run_state.at[i].uc_stack.ss_size = EMU_STACK;
    emu_run_state.at[i].uc_link = &emu_run_state.home;
    emu_run_state.state[i] = 0;
    makecontext(&emu_run_state.at[i], emu_thread, 0);
  }
  for (bool more = true; more && !emu_run_state.bad;) {
    more = false;
    for (int i = 0; i < n; i++) {
      int k = emu_run_state.backwards ? n - 1 - i : i;
      if (emu_run_state.state[k] != 3) emu_resume(k);
    }
    for (int i = 0; i < n; i++) { /* a shuffle is the warp's alone, a barrier everybody's */
      int state = emu_run_state.state[i], first = emu_run_state.state[i / 32 * 32], other = emu_run_state.state[0];
      more |= state != 3;
      emu_run_state.bad |= state != first || (state != other && (state == 1 || other == 1));
    }
  }
}

/* A whole grid; `alone`: the kernel has no barriers, so its threads are plain calls. */
static inline bool emu_launch(emu_fn fn, const tt_grid *g, const void *args, bool alone, bool backwards) {
  if (!emu_run_state.stack) emu_run_state.stack = malloc((size_t)EMU_THREADS * EMU_STACK);
  static unsigned char shared[EMU_SHARED] __attribute__((aligned(16)));
  emu_run_state.fn = fn, emu_run_state.args = args, emu_run_state.bad = false, emu_run_state.backwards = backwards;
  emu_run_state.n = (int)(g->block[0] * g->block[1]);
  emu_block *b = &emu_run_state.block;
  *b = (emu_block){
      emu_barrier,     emu_shuffle, 0, 0, (int)g->block[0], (int)g->block[1], 0, 0, (int)g->grid[0], (int)g->grid[1], 0,
      (int)g->grid[2], shared};
  for (int at = 0; at < b->ny * b->nz; at++)
    for (b->gy = at % b->ny, b->gz = at / b->ny, b->gx = 0; b->gx < b->nx && !emu_run_state.bad; b->gx++) {
      memset(shared, 0xa5, g->shared);
      if (!alone) emu_run_block();
      for (int i = 0; alone && i < emu_run_state.n; i++) {
        b->tx = i % b->bx, b->ty = i / b->bx;
        fn(b, args);
      }
    }
  return !emu_run_state.bad;
}

/* ---- targets and launches */

static int emu_warp = 32;       /* 1: threads cannot read each other's registers */
static bool emu_serial = false; /* they take turns on one core */

/* A small device and a large one: what the first does in loops the second spreads out. */
static inline tt_target emu_target(int way) {
  tt_target t = {.kind = TT_DEVICE_NULL,
                 .units = way == 0 ? 1 : 132,
                 .warp = emu_warp,
                 .serial = emu_serial,
                 .block_threads = 1024,
                 .unit_threads = 2048,
                 .shared_block = way == 2 ? 48 * 1024 : 227 * 1024,
                 .param_bytes = way == 2 ? 64 : 4096,
                 .grid_max = {INT32_MAX, way == 0 ? 3 : 65535, way == 0 ? 2 : 65535}};
  return t;
}

static inline tt_lowered emu_lowered(const tt_kernel *k, ref_launch *l) {
  return (tt_lowered){.kernel = (tt_kernel *)k, .len = l->len, .off = l->off, .step = l->step};
}

static inline void emu_align(const ref_launch *l, size_t *align) {
  for (int b = 0; b < l->k->nbuf; b++) {
    uintptr_t p = (uintptr_t)l->buf[b];
    align[b] = (size_t)(p & (0 - p));
  }
}

/* The launch done by the functions of its passes. */
static inline bool emu_cover(ref_launch *l, const tt_cut *cut, const emu_fn *fn, bool backwards) {
  const tt_kernel *k = l->k;
  tt_lowered low = emu_lowered(k, l);
  size_t size = tt__threads_args_size(k);
  char *args = malloc(size), *work = malloc(cut->work_bytes + 1);
  memset(work, 0xa5, cut->work_bytes);
  memset(work, 0, cut->zero_bytes);
  bool ok = true;
  for (int p = 0; ok && p < cut->npass; p++) {
    tt__threads_args(k, &low, &cut->pass[p], l->buf, l->buf_len, l->scalar, work, &l->fault, args);
    const tt_variant *v = &cut->pass[p].variant;
    ok = emu_launch(fn[p], &cut->pass[p].grid, args,
                    (k->mode != TT_MODE_ROW || v->loops) && !v->tiled && !v->staged && !v->speculates, backwards);
  }
  free(args);
  free(work);
  return ok;
}

/* ---- many launches, compiled together */

enum { EMU_WAYS = 3, EMU_FUNCTIONS = 512 };

typedef struct emu_job {
  tt_kernel *k; /* borrowed */
  int64_t len[REF_AXES];
  uint64_t seed;
  tt_cut cut[EMU_WAYS];
  int fn[EMU_WAYS][TT_MOST_PASSES]; /* number of the suite's function */
} emu_job;

typedef struct emu_suite {
  void (*arrange)(emu_job *j, ref_launch *l); /* (optional) changes offsets and steps within the buffers */
  tt_str source;
  int n;
  char symbol[EMU_FUNCTIONS][16];
  const char *name[EMU_FUNCTIONS];
  tt_digest key[EMU_FUNCTIONS];
  tt_variant variant[EMU_FUNCTIONS];
  tt_kernel_fn fn[EMU_FUNCTIONS];
} emu_suite;

/* The suite's function for a variant of a kernel, rendered if it is new. */
static inline int emu_function(emu_suite *s, const tt_kernel *k, const tt_variant *v) {
  tt_error err = {0};
  for (int i = 0; i < s->n; i++)
    if (memcmp(&s->key[i], &k->key, sizeof k->key) == 0 && memcmp(&s->variant[i], v, sizeof *v) == 0) return i;
  int i = s->n++;
  char name[12];
  CHECK(s->n <= EMU_FUNCTIONS);
  s->key[i] = k->key;
  s->variant[i] = *v;
  snprintf(name, sizeof name, "k%d", i);
  snprintf(s->symbol[i], sizeof s->symbol[i], "run_k%d", i);
  s->name[i] = s->symbol[i];
  CHECK_INT(tt__threads_render(k, emu_serial ? &emu_cores : &emu_dialect, v, name, &s->source, &err), TT_OK);
  emu_entry(name, v->far, &s->source);
  return i;
}

static inline ref_launch *emu_launch_of(const emu_suite *s, emu_job *j) {
  ref_launch *l = ref_launch_new(j->k, j->len, j->seed);
  if (s->arrange) s->arrange(j, l);
  return l;
}

/* Cut the launch for each target and render what the passes need. */
static inline void emu_add(emu_suite *s, emu_job *j) {
  tt_error err = {0};
  ref_launch *l = emu_launch_of(s, j);
  tt_lowered low = emu_lowered(j->k, l);
  size_t align[REF_ACCESS];
  if (!s->source.data) tt__render_header(emu_serial ? &emu_cores : &emu_dialect, TT_SCALAR_MATH, &s->source);
  emu_align(l, align);
  for (int way = 0; way < EMU_WAYS; way++) {
    tt_target t = emu_target(way);
    CHECK_INT(tt__gpu_schedule(j->k, &low, &t, align, l->buf_len, &j->cut[way], &err), TT_OK);
    for (int p = 0; p < j->cut[way].npass; p++) {
      tt_variant *v = &j->cut[way].pass[p].variant;
      if (way == 2) v->wide = 1;
      j->fn[way][p] = emu_function(s, j->k, v);
    }
  }
  ref_launch_free(l);
}

static inline bool emu_compile(emu_suite *s) {
  tt_error err = {0};
  if (getenv("SHOW")) fputs(s->source.data, stdout);
  tt_code c = tt__cc_compile(s->source.data, s->name, s->n, s->fn, NULL, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  CHECK_INT(c, TT_OK);
  tt__str_free(&s->source);
  return c == TT_OK;
}

/* All ways of a launch give what the reference gives. */
static inline bool emu_same(const emu_suite *s, emu_job *j) {
  ref_launch *want = emu_launch_of(s, j);
  int differs = -1, way = 0;
  int64_t at = 0;
  ref_run(j->k, &want->a);
  for (; differs < 0 && way < EMU_WAYS; way++) {
    ref_launch *got = emu_launch_of(s, j);
    emu_fn fn[TT_MOST_PASSES];
    for (int p = 0; p < j->cut[way].npass; p++) fn[p] = (emu_fn)(void *)s->fn[j->fn[way][p]];
    if (!emu_cover(got, &j->cut[way], fn, way & 1)) differs = 1000; /* a barrier was missed */
    if (differs < 0) differs = ref_differ(want, got, &at);
    ref_launch_free(got);
  }
  ref_launch_free(want);
  CHECK_INT(differs, -1);
  if (differs >= 0) {
    tt_str text = {0};
    tt__kernel_print(j->k, &text);
    fprintf(stderr, "way %d, len %lld %lld %lld %lld, seed %llu: buffer %d element %lld\n%s", way - 1,
            (long long)j->len[0], (long long)j->len[1], (long long)j->len[2], (long long)j->len[3],
            (unsigned long long)j->seed, differs, (long long)at, text.data);
    tt__str_free(&text);
  }
  return differs < 0;
}

#endif
