/*
** A device of fibers: the words of hand-written kernels (lib/text) for the C compiler of this machine. Compiled, with
** the kernels below it, into a library that a test loads. Each thread of a block is a fiber; several blocks
** are under way at once and take turns at barriers and where they wait for each other, in an order that a seed decides.
** Shared memory holds rubbish when a block begins. A warp function or barrier that not all threads reach, or blocks
** that wait for ever, end the process with a message.
*/
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* Where a fiber goes on. The compiler's own jumps are nothing that a sanitizer knows better. */
#if defined(__x86_64__)
typedef void *emu_place[5];
#define EMU_SAVE(place) __builtin_setjmp(place)
#define EMU_JUMP(place) __builtin_longjmp(place, 1)
#else
typedef jmp_buf emu_place;
#define EMU_SAVE(place) _setjmp(place)
#define EMU_JUMP(place) _longjmp(place, 1)
#endif

enum { EMU_THREADS = 1024, EMU_BLOCKS = 5, EMU_STACK = 65536, EMU_SHARED = 112 << 10 };
enum { EMU_DONE, EMU_READY, EMU_AT_WARP, EMU_AT_BARRIER, EMU_SPINS };

typedef struct emu_thread {
  emu_place at;
  int state, started;
  unsigned turn; /* of the warp's slots */
} emu_thread;

typedef struct emu_block {
  unsigned index;
  int live, left, spins;
  char *shared;
  char *stacks;
  emu_thread thread[EMU_THREADS];
  uint32_t slot[2][EMU_THREADS];
} emu_block;

static emu_block *emu_now;
static unsigned emu_thread_now, emu_threads, emu_blocks, emu_seed = 1;
static emu_place emu_scheduler;
static void (*emu_kernel)(const void *);
static const void *emu_args;

/* What shared memory is: everything in this section. */
static __attribute__((section("tt_shared"), used)) char emu_first_shared[16];
extern char __start_tt_shared[], __stop_tt_shared[];

static unsigned emu_random(unsigned n) {
  emu_seed = emu_seed * 1664525u + 1013904223u;
  return (emu_seed >> 8) % n;
}

static void emu_fail(const char *what) {
  fprintf(stderr, "emulated device: %s (block %u, thread %u)\n", what, emu_now ? emu_now->index : 0, emu_thread_now);
  abort();
}

static __attribute__((noinline, noreturn)) void emu_leave(void) { EMU_JUMP(emu_scheduler); }

static __attribute__((noinline, noreturn)) void emu_enter(emu_thread *t) { EMU_JUMP(t->at); }

static __attribute__((noinline)) void emu_yield(int state) {
  emu_thread *t = &emu_now->thread[emu_thread_now];
  t->state = state;
  if (!EMU_SAVE(t->at)) emu_leave();
}

static void emu_relax(void) { emu_yield(EMU_SPINS); }

static uint32_t *emu_exchange(uint32_t x) {
  emu_thread *t = &emu_now->thread[emu_thread_now];
  uint32_t *slot = emu_now->slot[t->turn++ & 1];
  slot[emu_thread_now] = x;
  emu_yield(EMU_AT_WARP);
  return slot + emu_thread_now / 32 * 32;
}

static uint32_t emu_ballot(int x) {
  uint32_t *slot = emu_exchange(x != 0), bits = 0;
  for (unsigned i = 0; i < 32 && emu_thread_now / 32 * 32 + i < emu_threads; i++) bits |= slot[i] << i;
  return bits;
}

static uint32_t emu_read(uint32_t x, uint32_t lane) {
  uint32_t *slot = emu_exchange(x);
  return slot[lane % 32];
}

static uint32_t emu_match(uint32_t x) {
  uint32_t *slot = emu_exchange(x), bits = 0;
  for (unsigned i = 0; i < 32 && emu_thread_now / 32 * 32 + i < emu_threads; i++) bits |= (uint32_t)(slot[i] == x) << i;
  return bits;
}

static uint32_t emu_up(uint32_t x, uint32_t by) {
  uint32_t *slot = emu_exchange(x), lane = emu_thread_now % 32;
  return lane >= by ? slot[lane - by] : x;
}

/* x, of `size` bytes, becomes that of the lane whose number differs by the bits of `by`. */
static void emu_xor(void *x, size_t size, uint32_t by) {
  uint32_t word[4] = {0};
  memcpy(word, x, size);
  for (size_t i = 0; 4 * i < size; i++) word[i] = emu_read(word[i], emu_thread_now ^ by);
  memcpy(x, word, size);
}

/* Values of all lanes, for functions of a whole warp: what lane i gave is at [i] until the next such call but one. */
typedef struct emu_given {
  const void *row;
  uint32_t word[6];
} emu_given;

static emu_given *emu_give(const emu_given *g) {
  static emu_given given[2][EMU_THREADS];
  emu_given *slot = given[emu_now->thread[emu_thread_now].turn++ & 1];
  slot[emu_thread_now] = *g;
  emu_yield(EMU_AT_WARP);
  return slot + emu_thread_now / 32 * 32;
}

/* Element (row, column) of the left factor, (column, row) of the right one: where lanes have it. */
static uint16_t emu_half(const emu_given *g, int first, int row, int column) {
  const uint32_t word = g[row % 8 * 4 + column % 8 / 2].word[first];
  return (uint16_t)(column % 2 ? word >> 16 : word);
}

static void emu_multiply(float *c, const uint32_t *a, const uint32_t *b, float (*to_f32)(uint16_t)) {
  emu_given mine = {.word = {a[0], a[1], a[2], a[3], b[0], b[1]}}, *g = emu_give(&mine);
  const int lane = (int)(emu_thread_now % 32);
  for (int i = 0; i < 4; i++) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; k++)
      c[i] += to_f32(emu_half(g, row / 8 + k / 8 * 2, row, k)) * to_f32(emu_half(g, 4 + k / 8, column, k));
  }
}

static float emu_f16(uint16_t x) { return tt_cast_f16_f32(x); }
static float emu_bf16(uint16_t x) { return tt_cast_bf16_f32(x); }

static void emu_matrices(uint32_t *to, const void *row, int turned) {
  emu_given mine = {.row = row}, *g = emu_give(&mine);
  const int lane = (int)(emu_thread_now % 32);
  for (int m = 0; m < 4; m++) {
    uint16_t pair[2];
    for (int h = 0; h < 2; h++) {
      const int r = turned ? lane % 4 * 2 + h : lane / 4, c = turned ? lane / 4 : lane % 4 * 2 + h;
      pair[h] = ((const uint16_t *)g[m * 8 + r].row)[c];
    }
    to[m] = pair[0] | (uint32_t)pair[1] << 16;
  }
}

static void emu_copy(void *to, const void *from, size_t size, int bytes) {
  memset(to, 0, size);
  memcpy(to, from, (size_t)bytes);
}

static void emu_body(void) {
  emu_kernel(emu_args);
  emu_now->thread[emu_thread_now].state = EMU_DONE;
  emu_leave();
}

static __attribute__((noinline)) void emu_resume(emu_block *b, unsigned i) {
  emu_thread *t = &b->thread[i];
  emu_thread_now = i;
  if (EMU_SAVE(emu_scheduler)) return;
  if (t->started) emu_enter(t);
  t->started = 1;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = b->stacks + (size_t)i * EMU_STACK;
  context.uc_stack.ss_size = EMU_STACK;
  context.uc_link = NULL;
  makecontext(&context, emu_body, 0);
  setcontext(&context);
}

/* Let the threads of a warp go on until each waits or is done; whether anything moved but spinning. */
static int emu_run_warp(emu_block *b, unsigned first) {
  unsigned end = first + 32 < emu_threads ? first + 32 : emu_threads;
  int moved = 0, waits = 0, others = 0;
  for (unsigned i = first; i < end; i++) {
    if (b->thread[i].state != EMU_READY && b->thread[i].state != EMU_SPINS) continue;
    emu_resume(b, i);
    moved |= b->thread[i].state != EMU_SPINS;
  }
  for (unsigned i = first; i < end; i++) {
    waits += b->thread[i].state == EMU_AT_WARP;
    others += b->thread[i].state != EMU_AT_WARP && b->thread[i].state != EMU_DONE;
  }
  if (!waits || others) return moved;
  for (unsigned i = first; i < end; i++)
    if (b->thread[i].state == EMU_AT_WARP) b->thread[i].state = EMU_READY;
  return 1;
}

/* Until the block is done, waits for others, or was at a barrier and gives way. */
static void emu_run_block(emu_block *b) {
  size_t size = (size_t)(__stop_tt_shared - __start_tt_shared);
  emu_now = b;
  memcpy(__start_tt_shared, b->shared, size);
  for (;;) {
    int moved = 0, done = 0, at_barrier = 0, at_warp = 0;
    for (unsigned i = 0; i < emu_threads; i += 32) moved |= emu_run_warp(b, i);
    for (unsigned i = 0; i < emu_threads; i++) {
      done += b->thread[i].state == EMU_DONE;
      at_barrier += b->thread[i].state == EMU_AT_BARRIER;
      at_warp += b->thread[i].state == EMU_AT_WARP;
    }
    if (done == (int)emu_threads) {
      b->live = 0;
      break;
    }
    if (done + at_barrier == (int)emu_threads) {
      if (done) emu_fail("some threads ended before a barrier");
      for (unsigned i = 0; i < emu_threads; i++) b->thread[i].state = EMU_READY;
      b->spins = 0;
      if (emu_random(3) == 0) break;
    } else if (!moved) {
      int spins = (int)emu_threads - done - at_barrier - at_warp;
      if (!spins) emu_fail("threads wait for each other at different places");
      b->spins++;
      break;
    }
  }
  memcpy(b->shared, __start_tt_shared, size);
}

static void emu_begin(emu_block *b, unsigned index) {
  size_t size = (size_t)(__stop_tt_shared - __start_tt_shared);
  b->index = index;
  b->live = 1;
  b->spins = 0;
  memset(b->shared, 0xa5, size);
  memset(b->thread, 0, sizeof b->thread);
  for (unsigned i = 0; i < emu_threads; i++) b->thread[i].state = EMU_READY;
}

__attribute__((visibility("default"))) void emu_launch(void (*kernel)(const void *), unsigned blocks, unsigned threads,
                                                       const void *args, unsigned seed) {
  size_t size = (size_t)(__stop_tt_shared - __start_tt_shared);
  static emu_block *room[EMU_BLOCKS];
  emu_kernel = kernel;
  emu_args = args;
  emu_threads = threads;
  emu_blocks = blocks;
  emu_seed = seed;
  for (int i = 0; i < EMU_BLOCKS; i++) {
    if (!room[i]) {
      room[i] = calloc(1, sizeof *room[i]);
      room[i]->shared = malloc(size);
      room[i]->stacks = malloc((size_t)EMU_THREADS * EMU_STACK);
    }
    room[i]->live = 0;
  }
  for (unsigned next = 0, running = 0; next < blocks || running;) {
    unsigned i = emu_random(EMU_BLOCKS);
    emu_block *b = room[i];
    if (!b->live) {
      if (next == blocks) {
        for (i = 0; !room[i]->live;) i++;
        b = room[i];
      } else {
        emu_begin(b, next++);
        running++;
      }
    }
    if (b->spins > 10000) emu_fail("blocks wait for ever");
    emu_run_block(b);
    running -= !b->live;
  }
}

#define TT_KERNEL(NAME, ARGS, THREADS_)                                           \
  static void NAME##_body(const ARGS a);                                          \
  __attribute__((visibility("default"))) void NAME(const void *p) {               \
    if (emu_threads > (THREADS_)) emu_fail("more threads than the kernel takes"); \
    NAME##_body(*(const ARGS *)p);                                                \
  }                                                                               \
  static void NAME##_body(const ARGS a)
#define TT_KERNEL_OF_MANY(NAME, ARGS, THREADS_, BLOCKS) TT_KERNEL(NAME, ARGS, THREADS_)
#define TT_GLOBAL
#define TT_SHARED static __attribute__((section("tt_shared")))
#define TT_THREAD ((tt_u32)emu_thread_now)
#define TT_BLOCK ((tt_u32)emu_now->index)
#define TT_BLOCKS ((tt_u32)emu_blocks)
#define TT_BARRIER() emu_yield(EMU_AT_BARRIER)
#define TT_WARP_SYNC() emu_yield(EMU_AT_WARP)
#define TT_WARP_BALLOT(x) emu_ballot(x)
#define TT_WARP_READ(x, lane) emu_read(x, lane)
#define TT_WARP_MATCH(x) emu_match(x)
#define TT_WARP_UP(x, by) emu_up(x, by)
#define TT_WARP_XOR(x, by)       \
  ({                             \
    __typeof__(x) x_ = (x);      \
    emu_xor(&x_, sizeof x_, by); \
    x_;                          \
  })
#define TT_EXP2_F32(x) __builtin_exp2f(x)
#define TT_MATRICES(to, row) emu_matrices(to, row, 0)
#define TT_MATRICES_TURNED(to, row) emu_matrices(to, row, 1)
#define TT_MULTIPLY_F16(c, a, b) emu_multiply(c, a, b, emu_f16)
#define TT_MULTIPLY_BF16(c, a, b) emu_multiply(c, a, b, emu_bf16)
#define TT_PAIR_F16(low, high) (tt_cast_f32_f16(low) | (tt_u32)tt_cast_f32_f16(high) << 16)
#define TT_PAIR_BF16(low, high) (tt_cast_f32_bf16(low) | (tt_u32)tt_cast_f32_bf16(high) << 16)
#define TT_COPY_16(to, from, bytes) emu_copy(to, from, 16, bytes)
#define TT_COPY_4(to, from, bytes) emu_copy(to, from, 4, bytes)
#define TT_COPIES_DONE()
#define TT_POPCOUNT(x) ((tt_u32)__builtin_popcount(x))
#define TT_TOP_BIT(x) (31u - (tt_u32)__builtin_clz(x))
#define TT_ATOMIC_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define TT_ATOMIC_OR(p, v) __atomic_fetch_or(p, v, __ATOMIC_RELAXED)
#define TT_ATOMIC_MIN(p, v)     \
  ({                            \
    __typeof__(*(p)) o_ = *(p); \
    if ((v) < o_) *(p) = (v);   \
    o_;                         \
  })
#define TT_ATOMIC_MAX(p, v)     \
  ({                            \
    __typeof__(*(p)) o_ = *(p); \
    if ((v) > o_) *(p) = (v);   \
    o_;                         \
  })
#define TT_PEEK(p) (*(const volatile tt_u64 *)(p))
#define TT_PEEK_U32(p) (*(const volatile tt_u32 *)(p))
#define TT_POKE(p, v) (*(volatile tt_u64 *)(p) = (v))
#define TT_POKE_U32(p, v) (*(volatile tt_u32 *)(p) = (v))
#define TT_RELAX() emu_relax()
#define TT_MULTIPLY_ADD(x, y, s) ((x) * (y) + (s))
#define TT_UNROLLED
#define TT_UNROLLED_FEW
#define TT_ROLLED
#define TT_UNROLLED_8
#ifndef TT_FMA_F64
#define TT_FMA_F64(a, b, c) __builtin_fma(a, b, c)
#endif
#define TT_ALIGNED(n) __attribute__((aligned(n)))
/* What a launch adds to shared memory; it begins anywhere. */
static __attribute__((section("tt_shared"), used, aligned(16))) unsigned char TT_SHARED_BYTES[EMU_SHARED];
typedef struct tt_vec16 {
  uint32_t x, y, z, w;
} __attribute__((aligned(16))) tt_vec16;
