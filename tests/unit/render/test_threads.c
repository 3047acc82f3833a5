/*
** Thread kernels, emulated, against the reference executor, bit for bit: kernels by hand, at sizes where a row
** changes from one form to another.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "kernel_texts.h"
#include "threads_emulate.h"

enum { MOST_JOBS = 192, MOST_SIZES = 8 };

static tt_kernel *parse(const char *text) {
  tt_kernel *k = NULL;
  tt_error err = {0};
  if (tt__kernel_parse(text, &k, &err) != TT_OK) fprintf(stderr, "%s\n%s\n", err.message, text);
  if (!k) exit(1);
  return k;
}

typedef struct batch {
  emu_suite s;
  emu_job job[MOST_JOBS];
  tt_kernel *k[MOST_JOBS];
  int njob, nk;
} batch;

static batch *batch_new(void) { return calloc(1, sizeof(batch)); }

static void add_sizes(batch *b, const char *text, const int64_t (*len)[4], int n) {
  tt_kernel *k = parse(text);
  b->k[b->nk++] = k;
  for (int i = 0; i < n && (i == 0 || len[i][0]); i++) {
    emu_job *j = &b->job[b->njob++];
    *j = (emu_job){.k = k, .len = {1, 1, 1, 1, 1, 1, 1, 1}, .seed = 977 + (uint64_t)i};
    for (int x = 0; x < k->naxes; x++) j->len[x] = len[i][x];
    emu_add(&b->s, j);
  }
}

static void run(batch *b) {
  bool ok = emu_compile(&b->s);
  for (int i = 0; i < b->njob; i++) ok = ok && emu_same(&b->s, &b->job[i]);
  for (int i = 0; i < b->nk; i++) tt__kernel_free(b->k[i]);
  free(b);
}

TEST(maps_and_softmax) {
  batch *b = batch_new();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_sizes(b, texts[i].text, texts[i].len, 6);
  run(b);
}

/* A kernel as a function of four lanes and of one, called for all of them; what it gives is stored as the kernel
 * would. */
static void put_called(const tt_kernel *k, int i, tt_str *out) {
  tt_error err = {0};
  char name[12];
  snprintf(name, sizeof name, "e%d", i);
  CHECK_INT(tt__threads_element(k, &emu_dialect, i % 3 ? 4 : 1, name, out, &err), TT_OK);
  tt__str_addf(out, "void call_%s(emu_block *b, const void *p) {\n  const %s_args *args = p;\n  tt_i64 l = 0;\n", name,
               name);
  for (int vec = i % 3 ? 4 : 1; vec > 0; vec -= 3) {
    tt__str_addf(out, "  for (; l + %d <= args->lanes; l += %d) {\n    const %s_%d_value v = %s_%d(args, l);\n", vec,
                 vec, name, vec, name, vec);
    for (int q = 0; q < k->ninst; q++) {
      if (k->inst[q].op != TT_K_STORE) continue;
      int a = k->inst[q].slot, buf = k->access[a].buf;
      for (int u = 0; u < vec; u++)
        tt__str_addf(out, "    ((tt_%s *)args->buf[%d])[args->off[%d] + (l + %d) * %s%d%s] = v.b%d[%d];\n",
                     tt__dtypes[k->access[a].dtype].suffix, buf, a, u, k->naxes ? "args->step[" : "", k->naxes ? a : 0,
                     k->naxes ? "]" : "", buf, u);
    }
    tt__str_add(out, "  }\n");
  }
  tt__str_add(out, "}\n");
}

static void check_called(const tt_kernel *k, const int64_t *len, emu_fn fn) {
  static const tt_pass none;
  ref_launch *want = ref_launch_new(k, len, 977), *got = ref_launch_new(k, len, 977);
  tt_lowered low = emu_lowered(k, got);
  int64_t at = 0;
  void *args = malloc(tt__threads_args_size(k));
  tt__threads_args(k, &low, &none, got->buf, got->buf_len, got->scalar, NULL, NULL, args);
  fn(NULL, args);
  ref_run(k, &want->a);
  CHECK_INT(ref_differ(want, got, &at), -1);
  free(args);
  ref_launch_free(want);
  ref_launch_free(got);
}

TEST(maps_as_functions_of_lanes) {
  enum { N = sizeof texts / sizeof *texts };
  tt_str source = {0};
  tt_kernel *k[N];
  char symbol[N][16];
  const char *name[N];
  tt_kernel_fn fn[N];
  tt_error err = {0};
  int n = 0;
  tt__render_header(&emu_dialect, TT_SCALAR_MATH, &source);
  for (size_t i = 0; i < N; i++) {
    tt_kernel *one = parse(texts[i].text);
    k[i] = NULL;
    if (!tt__threads_has_element(one)) {
      tt__kernel_free(one);
      continue;
    }
    k[i] = one;
    put_called(one, (int)i, &source);
    snprintf(symbol[n], sizeof symbol[n], "call_e%d", (int)i);
    name[n] = symbol[n];
    n++;
  }
  CHECK(n > 1);
  CHECK_INT(tt__cc_compile(source.data, name, n, fn, NULL, &err), TT_OK);
  for (size_t i = 0, at = 0; i < N; i++) {
    for (int s = 0; k[i] && s < 6 && (s == 0 || texts[i].len[s][0]); s++) {
      int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
      for (int x = 0; x < k[i]->naxes; x++) len[x] = texts[i].len[s][x];
      check_called(k[i], len, (emu_fn)(void *)fn[at]);
    }
    at += k[i] != NULL;
    tt__kernel_free(k[i]);
  }
  tt__str_free(&source);
}

TEST(folds) {
  batch *b = batch_new();
  for (size_t i = 0; i < sizeof fold_texts / sizeof *fold_texts; i++)
    add_sizes(b, fold_texts[i].text, fold_texts[i].len, 6);
  run(b);
}

TEST(rows_in_registers_and_shared_memory) {
  static const int64_t len[][4] = {{3, 16}, {2, 33}, {3, 300}, {2, 513}, {1, 2048}, {1, 3000}, {1, 9001}, {1, 33000}};
  batch *b = batch_new();
  add_sizes(b, texts[6].text, len, 8); /* softmax */
  add_sizes(b, VARIANCE("row", "1 axes=2"), len, 8);
  add_sizes(b, FOLDS("row", "1 axes=2"), len, 8);
  run(b);
}

static void add_alone(batch *b) {
  static const int64_t len[][4] = {{3, 16}, {2, 33}, {300, 7}, {2, 513}, {1, 3000}, {1, 70001}};
  add_sizes(b, texts[6].text, len, 6); /* softmax */
  add_sizes(b, VARIANCE("row", "1 axes=2"), len, 6);
  add_sizes(b, FOLDS("row", "1 axes=2"), len, 6);
  static const int64_t tall[][4] = {{3, 1}, {300, 7}, {513, 2}, {70, 600}, {1030, 513}}; /* some chunks, and lanes */
  add_sizes(b, FOLDS("col", "1 axes=2"), tall, 5);
  add_sizes(b, VARIANCE("col", "1 axes=2"), tall, 5);
  for (size_t i = 0; i < sizeof fold_texts / sizeof *fold_texts; i++)
    add_sizes(b, fold_texts[i].text, fold_texts[i].len, 2);
}

/* No thread reads another's registers: a row is one thread's, a map's thread has one lane. */
TEST(threads_that_are_alone) {
  batch *b = batch_new();
  emu_warp = 1;
  add_alone(b);
  int shared = 0;
  for (int i = 0; i < b->njob; i++)
    shared += b->job[i].k->mode == TT_MODE_ROW && b->job[i].cut[1].pass[0].variant.group > 0;
  emu_warp = 32;
  CHECK_INT(shared, 0);
  run(b);
}

/* Blocks are cores: one thread each, with the CPU's loops over its share. */
TEST(loops_of_cores) {
  static const int64_t map[][4] = {{1, 1}, {3, 5}, {1, 70001}, {300, 257}};
  batch *b = batch_new();
  emu_serial = true;
  add_alone(b);
  add_sizes(b, texts[0].text, map, 4);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_sizes(b, texts[i].text, texts[i].len, 2);
  int parts = 0, blocks = 0;
  for (int i = 0; i < b->njob; i++) {
    const tt_cut *cut = &b->job[i].cut[1];
    CHECK(cut->pass[0].variant.loops);
    CHECK_INT(cut->pass[0].grid.block[0] * cut->pass[0].grid.block[1], 1);
    parts += cut->npass > 1;
    blocks += cut->pass[0].grid.grid[0] * cut->pass[0].grid.grid[1] > 1;
  }
  emu_serial = false;
  CHECK(parts > 0);
  CHECK(blocks > 0);
  run(b);
}

/* Down columns, with what is stored in place, in the middle and at the end. */
#define COL_SOFTMAX(outer)         \
  "kernel col outer=" outer        \
  " phases=3 bufs=4 reds=2\n"      \
  "a0: read f32 buf0 unit\n"       \
  "a1: write f32 buf1 unit\n"      \
  "a2: write f16 buf2 any\n"       \
  "a3: write f64 buf3 unit\n"      \
  "%0 = load.f32 a0 @row0\n"       \
  "%1 = max.f32 r0 %0 @row0\n"     \
  "%2 = store.f32 a1 %1 @outer1\n" \
  "%3 = load.f32 a0 @row1\n"       \
  "%4 = sub.f32 %3 %1 @row1\n"     \
  "%5 = exp.f32 %4 @row1\n"        \
  "%6 = cast.f32.f64 %5 @row1\n"   \
  "%7 = store.f64 a3 %6 @row1\n"   \
  "%8 = sum.f32 r1 %5 @row1\n"     \
  "%9 = load.f32 a0 @row2\n"       \
  "%10 = sub.f32 %9 %1 @row2\n"    \
  "%11 = exp.f32 %10 @row2\n"      \
  "%12 = div.f32 %11 %8 @row2\n"   \
  "%13 = store.f32 a2 %12 @row2\n"

TEST(columns_in_shared_memory) {
  static const int64_t len[][4] = {{3, 256}, {33, 257}, {32, 300}, {50, 4097}, {1, 9000}, {64, 511}, {7, 255}, {5, 1}};
  static const int64_t more[][4] = {{2, 3, 40, 7}, {3, 33, 16, 16}, {1, 31, 3, 1400}, {2, 1, 257, 1}};
  batch *b = batch_new();
  add_sizes(b, COL_SOFTMAX("1 axes=2"), len, 8);
  add_sizes(b, COL_SOFTMAX("2 axes=4"), more, 4);
  add_sizes(b, VARIANCE("col", "1 axes=2"), len, 8);
  add_sizes(b, VARIANCE("col", "2 axes=4"), more, 4);
  run(b);
}

/* Reductions of narrow types, whose threads take four accumulators. */
#define NARROW(axes)               \
  "kernel row outer=" axes         \
  " phases=1 bufs=6 reds=4\n"      \
  "a0: read u8 buf0 unit\n"        \
  "a1: read f16 buf1 unit\n"       \
  "a2: write f32 buf2 any\n"       \
  "a3: write i64 buf3 any\n"       \
  "a4: write b8 buf4 any\n"        \
  "a5: write i64 buf5 any\n"       \
  "%0 = load.u8 a0 @row0\n"        \
  "%1 = load.f32 a1 @row0\n"       \
  "%2 = cast.u8.i64 %0 @row0\n"    \
  "%3 = cast.u8.b8 %0 @row0\n"     \
  "%4 = sum.f32 r0 %1 @row0\n"     \
  "%5 = sum.i64 r1 %2 @row0\n"     \
  "%6 = all.b8 r2 %3 @row0\n"      \
  "%7 = argmax.u8 r3 %0 @row0\n"   \
  "%8 = store.f32 a2 %4 @outer1\n" \
  "%9 = store.i64 a3 %5 @outer1\n" \
  "%10 = store.b8 a4 %6 @outer1\n" \
  "%11 = store.i64 a5 %7 @outer1\n"

TEST(rows_of_narrow_types) {
  static const int64_t flat[][4] = {{256}, {65536}, {70000}, {131075}}, deep[][4] = {{40, 256}, {36, 1028}, {33, 300}};
  batch *b = batch_new();
  add_sizes(b, NARROW("0 axes=1"), flat, 4);
  add_sizes(b, NARROW("1 axes=2"), deep, 3);
  int vectors = 0;
  for (int i = 0; i < b->njob; i++) vectors += b->job[i].cut[0].pass[0].variant.vec == 4;
  CHECK(vectors >= 2);
  run(b);
}

/* Signs of draws, stored as bytes: a vector of 16 is four blocks. */
#define DRAWN_BYTES                                    \
  "kernel map outer=1 axes=1 phases=1 bufs=1 reds=0\n" \
  "s0: u64\n"                                          \
  "a0: index unit\n"                                   \
  "a1: write b8 buf0 unit\n"                           \
  "%0 = const.u64 s0\n"                                \
  "%1 = index.i64 a0 @row0\n"                          \
  "%2 = cast.i64.u64 %1 @row0\n"                       \
  "%3 = normal.f32 %2 %0 %0 @row0\n"                   \
  "%4 = signbit.f32 %3 @row0\n"                        \
  "%5 = store.b8 a1 %4 @row0\n"

/* Draws beside loaded elements, each summed in one row. */
#define DRAWN_AND_LOADED(type)                         \
  "kernel row outer=1 axes=2 phases=1 bufs=2 reds=1\n" \
  "s0: u64\n"                                          \
  "a0: index unit\n"                                   \
  "a1: read " type                                     \
  " buf0 unit\n"                                       \
  "a2: write " type                                    \
  " buf1 any\n"                                        \
  "%0 = const.u64 s0\n"                                \
  "%1 = index.i64 a0 @row0\n"                          \
  "%2 = cast.i64.u64 %1 @row0\n"                       \
  "%3 = normal." type                                  \
  " %2 %0 %0 @row0\n"                                  \
  "%4 = load." type                                    \
  " a1 @row0\n"                                        \
  "%5 = mul." type                                     \
  " %3 %4 @row0\n"                                     \
  "%6 = sum." type                                     \
  " r0 %5 @row0\n"                                     \
  "%7 = store." type " a2 %6 @outer1\n"

static int drawn_by(const batch *b) {
  int n = 0;
  for (int i = 0; i < b->njob; i++)
    for (int way = 0; way < EMU_WAYS; way++) n += b->job[i].cut[way].pass[0].variant.drawn;
  return n;
}

TEST(draws_of_whole_blocks) {
  static const int64_t flat[][4] = {{40000}, {40001}, {40002}, {40003}, {9000}};
  static const int64_t long_rows[][4] = {{70000}, {140004}, {65536}}, rows[][4] = {{40, 256}, {36, 1028}, {33, 302}};
  static const int64_t deep[][4] = {{6, 8192}, {6, 8194}, {6, 8195}};
  batch *b = batch_new();
  add_sizes(b, DRAWS_STORED("1 axes=1", F32_DRAWS), flat, 5);
  add_sizes(b, DRAWS_STORED("1 axes=1", F64_DRAWS), flat, 5);
  add_sizes(b, DRAWS_STORED("1 axes=1", U64_DRAWS), flat, 5);
  add_sizes(b, DRAWN_BYTES, flat, 5);
  add_sizes(b, DRAWS_STORED("2 axes=2", F32_DRAWS), deep, 3);
  add_sizes(b, DRAWS_STORED("2 axes=2", F64_DRAWS), deep, 3);
  int maps = drawn_by(b);
  add_sizes(b, DRAWS_SUMMED("row", "0 axes=1", F32_DRAWS), long_rows, 3);
  add_sizes(b, DRAWS_SUMMED("row", "0 axes=1", F64_DRAWS), long_rows, 3);
  int chunks = drawn_by(b) - maps;
  add_sizes(b, DRAWS_SUMMED("row", "1 axes=2", F32_DRAWS), rows, 3);
  CHECK(maps >= 18);
  CHECK(chunks >= 18);
  CHECK(drawn_by(b) - maps - chunks >= 5);
  add_sizes(b, DRAWN_AND_LOADED("f32"), rows, 3);
  add_sizes(b, DRAWN_AND_LOADED("f64"), rows, 3);
  add_sizes(b, DRAWS_SUMMED("row", "1 axes=2", F64_DRAWS), rows, 3);
  run(b);
}

/* Zeros of both signs, for which the order of a largest and a smallest element tells. */
static void put_zeros(emu_job *j, ref_launch *l) {
  uint64_t seed = j->seed;
  for (int64_t i = 0; i < l->buf_len[0]; i++) {
    uint64_t r = ref_random(&seed) % 8;
    ((float *)l->buf[0])[i] = r == 0 ? 0.0f : r == 1 ? -0.0f : -1.0f;
  }
}

#define EXTREMES(axes, more)       \
  "kernel row outer=" axes         \
  " bufs=5 reds=3\n"               \
  "a0: read f32 buf0 unit\n"       \
  "a1: write f32 buf1 any\n"       \
  "a2: write f32 buf2 any\n"       \
  "a3: write i64 buf3 any\n"       \
  "a4: write f32 buf4 unit\n"      \
  "%0 = load.f32 a0 @row0\n"       \
  "%1 = max.f32 r0 %0 @row0\n"     \
  "%2 = neg.f32 %0 @row0\n"        \
  "%3 = min.f32 r1 %2 @row0\n"     \
  "%4 = argmax.f32 r2 %0 @row0\n"  \
  "%5 = store.f32 a1 %1 @outer1\n" \
  "%6 = store.f32 a2 %3 @outer1\n" \
  "%7 = store.i64 a3 %4 @outer1\n" more

TEST(signs_of_extreme_zeros) {
  static const int64_t flat[][4] = {{5000}, {70000}, {200000}}, deep[][4] = {{3, 2048}, {2, 2500}, {3, 600}, {3, 9000}};
  batch *b = batch_new();
  b->s.arrange = put_zeros;
  add_sizes(b, EXTREMES("0 axes=1 phases=1", ""), flat, 3);
  add_sizes(b, EXTREMES("1 axes=2 phases=1", ""), deep, 4);
  add_sizes(
      b,
      EXTREMES("1 axes=2 phases=2", "%8 = load.f32 a0 @row1\n%9 = add.f32 %8 %1 @row1\n%10 = store.f32 a4 %9 @row1\n"),
      deep, 4);
  run(b);
}

/* More chunks than a group holds: in two passes, and by threads that have the whole row. */
TEST(rows_of_many_chunks) {
  static const int64_t len[][4] = {{70, 33000}};
  batch *b = batch_new();
  add_sizes(b, FOLDS("row", "0 axes=2"), len, 1);
  add_sizes(b, VARIANCE("row", "0 axes=2"), len, 1);
  run(b);
}

/* Several sums of one loop, with extremes and a position beside them: one team folds what a block has loaded. */
#define MOMENTS(type, axes)         \
  "kernel row outer=" axes          \
  " phases=1 bufs=6 reds=4\n"       \
  "a0: read " type                  \
  " buf0 unit\n"                    \
  "a1: read f32 buf1 any\n"         \
  "a2: write f64 buf2 any\n"        \
  "a3: write f64 buf3 any\n"        \
  "a4: write f32 buf4 any\n"        \
  "a5: write i64 buf5 any\n"        \
  "%0 = load.f32 a1 @outer0\n"      \
  "%1 = load.f32 a0 @row0\n"        \
  "%2 = sub.f32 %1 %0 @row0\n"      \
  "%3 = cast.f32.f64 %2 @row0\n"    \
  "%4 = sum.f64 r0 %3 @row0\n"      \
  "%5 = square.f64 %3 @row0\n"      \
  "%6 = sum.f64 r1 %5 @row0\n"      \
  "%7 = max.f32 r2 %2 @row0\n"      \
  "%8 = argmax.f32 r3 %1 @row0\n"   \
  "%9 = store.f64 a2 %4 @outer1\n"  \
  "%10 = store.f64 a3 %6 @outer1\n" \
  "%11 = store.f32 a4 %7 @outer1\n" \
  "%12 = store.i64 a5 %8 @outer1\n"

TEST(several_sums_of_what_a_block_loads) {
  static const int64_t one[][4] = {{9 * 65536}, {9 * 65536 - 1}, {9 * 65536 + 1}, {600000}, {700001}},
                       some[][4] = {{2, 300000}, {3, 199999}, {9, 32768}, {9, 20011}, {10, 16388}};
  batch *b = batch_new();
  add_sizes(b, MOMENTS("f32", "0 axes=1"), one, 5);
  add_sizes(b, MOMENTS("f32", "1 axes=2"), some, 5);
  add_sizes(b, MOMENTS("f16", "0 axes=1"), one, 2);
  int raw = 0;
  for (int i = 0; i < b->njob; i++) raw += b->job[i].cut[0].pass[0].variant.raw;
  CHECK(raw >= 10);
  run(b);
}

/*
** Chunks of a row that fill all units not quite twice: six blocks of a unit are there at once, also when the result is
** an index of 8 bytes, which chunks do not store; and each block has as many chunks.
*/
TEST(blocks_of_chunks_come_out_even) {
  static const char *const text[] = {
      "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write i64 buf1 any\n"
      "%0 = load.f32 a0 @row0\n%1 = argmax.f32 r0 %0 @row0\n%2 = store.i64 a1 %1 @outer1\n",
      "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 any\n"
      "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n"};
  static const struct {
    int64_t len, chunks, blocks;
  } row[] = {{100000000, 1526, 763}, {1583 * 65536, 1583, 792}, {2400 * 65536, 2400, 600}};
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < 3; r++) {
      tt_kernel *k = parse(text[i]);
      int64_t len[] = {row[r].len}, off[] = {0, 0}, step[] = {1, 0}, room[] = {row[r].len, 1};
      size_t align[] = {256, 256};
      tt_lowered low = {.kernel = k, .len = len, .off = off, .step = step};
      tt_target t = emu_target(1);
      tt_cut cut;
      tt_error err = {0};
      tt_str source = {0};
      CHECK_INT(tt__gpu_schedule(k, &low, &t, align, room, &cut, &err), TT_OK);
      CHECK_INT(cut.npass, 2);
      CHECK_INT(cut.work_bytes / 16, row[r].chunks);
      CHECK_INT(cut.pass[0].grid.grid[0], row[r].blocks);
      CHECK_INT(tt__threads_render(k, &tt__dialect_cuda, &cut.pass[0].variant, "k", &source, &err), TT_OK);
      CHECK(strstr(source.data, "TT_EXACTLY(256, 6)") != NULL);
      tt__str_free(&source);
      tt__kernel_free(k);
    }
}

/* Many partials of a column: a block fetches them for the warp that folds. */
#define TWO_OF_COLUMNS                                                        \
  "kernel col outer=1 axes=2 phases=1 bufs=3 reds=2\n"                        \
  "a0: read f32 buf0 unit\na1: write f32 buf1 unit\na2: write f32 buf2 any\n" \
  "%0 = load.f32 a0 @row0\n"                                                  \
  "%1 = sum.f32 r0 %0 @row0\n"                                                \
  "%2 = max.f32 r1 %0 @row0\n"                                                \
  "%3 = store.f32 a1 %1 @outer1\n"                                            \
  "%4 = store.f32 a2 %2 @outer1\n"

TEST(columns_of_many_chunks) {
  static const int64_t len[][4] = {{33, 17000}, {64, 16384}, {40, 16640}, {32, 70000}};
  batch *b = batch_new();
  add_sizes(b, FOLDS("col", "1 axes=2"), len, 4);
  add_sizes(b, TWO_OF_COLUMNS, len, 4);
  run(b);
}

/* What a block has no room to stage, threads fold. */
TEST(partials_of_many_reductions) {
  static const int many[] = {1, 8, 40};
  for (int i = 0; i < 3; i++) {
    int n = many[i];
    tt_str text = {0};
    tt__str_addf(&text, "kernel col outer=1 axes=2 phases=1 bufs=2 reds=%d\na0: read f64 buf0 unit\n", n);
    tt__str_add(&text, "a1: write f64 buf1 unit\n%0 = load.f64 a0 @row0\n");
    for (int r = 0; r < n; r++) tt__str_addf(&text, "%%%d = sum.f64 r%d %%0 @row0\n", r + 1, r);
    for (int r = 0; r < n; r++) tt__str_addf(&text, "%%%d = store.f64 a1 %%%d @outer1\n", n + 1 + r, r + 1);
    tt_kernel *k = parse(text.data);
    int64_t len[] = {40, 100000}, off[] = {0, 0}, step[] = {1, 40, 1, 0}, room[] = {4000000, 40};
    size_t align[] = {256, 256};
    tt_lowered low = {.kernel = k, .len = len, .off = off, .step = step};
    tt_target t = emu_target(1);
    tt_cut cut;
    tt_error err = {0};
    CHECK_INT(tt__gpu_schedule(k, &low, &t, align, room, &cut, &err), TT_OK);
    CHECK_INT(cut.npass, 2);
    CHECK_INT(cut.pass[1].variant.staged, n < 40);
    CHECK(cut.pass[1].grid.shared <= 16384);
    tt__kernel_free(k);
    tt__str_free(&text);
  }
}

/* Short rows: few threads a row, accumulators spread over them. */
TEST(short_rows) {
  static const int64_t len[][4] = {{500, 1},  {400, 3},  {300, 8},  {300, 25},
                                   {200, 40}, {200, 64}, {200, 65}, {100, 200}};
  batch *b = batch_new();
  add_sizes(b, FOLDS("row", "1 axes=2"), len, 8);
  add_sizes(b, VARIANCE("row", "1 axes=2"), len, 8);
  add_sizes(b, texts[6].text, len, 8);
  run(b);
}

TEST(vectors_of_lanes) {
  static const int64_t flat[][4] = {{128}, {511}, {4097}}, deep[][4] = {{2, 3, 128}, {3, 2, 260}, {2, 2, 513}};
  batch *b = batch_new();
  add_sizes(b, "kernel map outer=1 axes=1 phases=1 bufs=4 reds=0\n" CHAIN, flat, 3);
  add_sizes(b, "kernel map outer=3 axes=3 phases=1 bufs=4 reds=0\n" CHAIN, deep, 3);
  run(b);
}

/* Operands for which short forms of functions are not right: none, a few, every other, in rows. */
static void put_far(emu_job *j, ref_launch *l) {
  static const float far[] = {0,  -0.0f,  INFINITY, -INFINITY, NAN,    1e-42f,  -1e-42f, 3e38f,
                              -1, 1e-33f, 100,      -87.5f,    1e-38f, -3e-38f, 2e38f,   7e4f};
  static const int one_in[] = {INT32_MAX, 300, 20, 2, 1};
  uint64_t seed = j->seed;
  for (int b = 0; b < 2; b++)
    for (int64_t i = 0; i < l->buf_len[b]; i++) {
      uint64_t r = ref_random(&seed);
      bool is_far = r % (uint64_t)one_in[j->seed % 5] == 0 && (j->seed % 2 || i % 700 < 400);
      float x = is_far ? far[(r >> 20) % 16] : 0.01f + (float)((r >> 20) % 10000) * 1e-3f;
      if (l->k->access[b].dtype == TT_F32)
        ((float *)l->buf[b])[i] = x;
      else
        ((uint16_t *)l->buf[b])[i] = (uint16_t)(is_far ? 0x7c00 + r % 3 : 0x3000 + r % 0x1000);
    }
}

#define FAR_OUT(type)              \
  "a0: read f32 buf0 unit\n"       \
  "a1: read " type                 \
  " buf1 unit\n"                   \
  "a2: read f32 buf2 none\n"       \
  "a3: write f32 buf3 unit\n"      \
  "a4: write f16 buf4 any\n"       \
  "%0 = load.f32 a0 @row0\n"       \
  "%1 = load.f32 a1 @row0\n"       \
  "%2 = load.f32 a2 @row0\n"       \
  "%3 = div.f32 %0 %1 @row0\n"     \
  "%4 = log.f32 %3 @row0\n"        \
  "%5 = sqrt.f32 %1 @row0\n"       \
  "%6 = reciprocal.f32 %5 @row0\n" \
  "%7 = exp.f32 %0 @row0\n"        \
  "%8 = mul.f32 %7 %2 @row0\n"     \
  "%9 = sub.f32 %4 %6 @row0\n"     \
  "%10 = store.f32 a3 %9 @row0\n"  \
  "%11 = add.f32 %8 %5 @row0\n"    \
  "%12 = store.f32 a4 %11 @row0\n"

/* Each function's result by itself: nothing behind it is far where it is. */
#define FAR_ALONE(op, operands)                        \
  "kernel map outer=1 axes=1 phases=1 bufs=4 reds=0\n" \
  "a0: read f32 buf0 unit\n"                           \
  "a1: read f32 buf1 unit\n"                           \
  "a2: write f32 buf2 unit\n"                          \
  "a3: write f32 buf3 unit\n"                          \
  "%0 = load.f32 a0 @row0\n"                           \
  "%1 = load.f32 a1 @row0\n"                           \
  "%2 = " op ".f32 " operands                          \
  " @row0\n"                                           \
  "%3 = abs.f32 %1 @row0\n"                            \
  "%4 = add.f32 %3 %3 @row0\n"                         \
  "%5 = cos.f32 %4 @row0\n"                            \
  "%6 = store.f32 a2 %2 @row0\n"                       \
  "%7 = store.f32 a3 %5 @row0\n"

TEST(lanes_that_are_far_out) {
  static const int64_t len[][4] = {{4096}, {4097}, {9003}, {40002}, {140003}};
  batch *b = batch_new();
  b->s.arrange = put_far;
  add_sizes(b, "kernel map outer=1 axes=1 phases=1 bufs=5 reds=0\n" FAR_OUT("f32"), len, 5);
  add_sizes(b, "kernel map outer=1 axes=1 phases=1 bufs=5 reds=0\n" FAR_OUT("f16"), len, 5);
  add_sizes(b, FAR_ALONE("div", "%0 %1"), len, 5);
  add_sizes(b, FAR_ALONE("reciprocal", "%1"), len, 5);
  add_sizes(b, FAR_ALONE("sqrt", "%1"), len, 5);
  add_sizes(b, FAR_ALONE("log", "%1"), len, 5);
  add_sizes(b, FAR_ALONE("exp", "%1"), len, 5);
  int speculates = 0;
  for (int i = 0; i < b->njob; i++)
    for (int way = 0; way < EMU_WAYS; way++) speculates += b->job[i].cut[way].pass[0].variant.speculates;
  CHECK(speculates >= 20);
  run(b);
}

/* A launch of a two- or three-axis map whose first access runs along the first axis instead of the lane. */
static void transpose(emu_job *j, ref_launch *l) {
  int n = j->k->naxes;
  l->off[0] = 0;
  l->step[0] = 1;
  for (int x = 1; x < n; x++) l->step[x] = l->step[x - 1] * l->len[x - 1];
  free(l->base[0]); /* an axis may have been broadcast: then the buffer was smaller */
  l->buf_len[0] = l->step[n - 1] * l->len[n - 1];
  l->size[0] = 2 * (size_t)l->buf_len[0];
  l->base[0] = ref_guarded(l->size[0]);
  l->buf[0] = l->base[0] + REF_GUARD;
  for (int64_t i = 0; i < l->buf_len[0]; i++) ((uint16_t *)l->buf[0])[i] = (uint16_t)(0x3000 + i % 0x1fff);
}

TEST(transposes_through_shared_memory) {
  static const int64_t flat[][4] = {{16, 17}, {32, 64}, {100, 33}, {256, 260}}, deep[][4] = {{33, 2, 40}, {17, 5, 16}};
  static const char square[] =
      "a0: read f16 buf0 any\n"
      "a1: read f32 buf1 unit\n"
      "a2: read f32 buf2 none\n"
      "a3: write f32 buf3 unit\n"
      "%0 = load.f32 a0 @row0\n"
      "%1 = load.f32 a1 @row0\n"
      "%2 = load.f32 a2 @row0\n"
      "%3 = mul.f32 %0 %1 @row0\n"
      "%4 = add.f32 %3 %2 @row0\n"
      "%5 = store.f32 a3 %4 @row0\n";
  char text[2][600];
  snprintf(text[0], sizeof text[0], "kernel map outer=2 axes=2 phases=1 bufs=4 reds=0\n%s", square);
  snprintf(text[1], sizeof text[1], "kernel map outer=3 axes=3 phases=1 bufs=4 reds=0\n%s", square);
  batch *b = batch_new();
  b->s.arrange = transpose;
  add_sizes(b, text[0], flat, 4);
  add_sizes(b, text[1], deep, 2);
  for (int i = 0; i < b->njob; i++) CHECK_INT(b->job[i].cut[0].pass[0].variant.tiled, 1);
  run(b);
}

static void transpose_wide(emu_job *j, ref_launch *l) {
  int n = j->k->naxes;
  int64_t size = 1;
  for (int x = 0; x < n; x++) size *= l->len[x];
  for (int a = 0; a < 3; a++) {
    free(l->base[a]);
    l->buf_len[a] = size;
    l->size[a] = 4 * (size_t)size;
    l->base[a] = ref_guarded(l->size[a]);
    l->buf[a] = l->base[a] + REF_GUARD;
    for (int64_t i = 0; i < size; i++)
      if (a == 1)
        ((int32_t *)l->buf[a])[i] = (int32_t)(i % 97);
      else
        ((float *)l->buf[a])[i] = (float)(i % 1009) - 500;
    l->off[a] = 0;
    int64_t step = 1;
    for (int x = 0; x < n; x++) { /* the first one transposed */
      int axis = a ? n - 1 - x : x;
      l->step[a * n + axis] = step;
      step *= l->len[axis];
    }
  }
}

TEST(transposes_by_four) {
  static const int64_t flat[][4] = {{256, 256}, {260, 324}, {300, 257}}, deep[][4] = {{256, 2, 260}};
  static const char square[] =
      "a0: read f32 buf0 any\n"
      "a1: read i32 buf1 unit\n"
      "a2: write f32 buf2 unit\n"
      "%0 = load.f32 a0 @row0\n"
      "%1 = load.i32 a1 @row0\n"
      "%2 = cast.i32.f32 %1 @row0\n"
      "%3 = add.f32 %0 %2 @row0\n"
      "%4 = store.f32 a2 %3 @row0\n";
  char text[2][600];
  snprintf(text[0], sizeof text[0], "kernel map outer=2 axes=2 phases=1 bufs=3 reds=0\n%s", square);
  snprintf(text[1], sizeof text[1], "kernel map outer=3 axes=3 phases=1 bufs=3 reds=0\n%s", square);
  batch *b = batch_new();
  b->s.arrange = transpose_wide;
  add_sizes(b, text[0], flat, 3);
  add_sizes(b, text[1], deep, 1);
  for (int i = 0; i < b->njob; i++) {
    CHECK_INT(b->job[i].cut[0].pass[0].variant.tiled, 1);
    CHECK_INT(b->job[i].cut[0].pass[0].variant.unroll, i == 2 ? 1 : 4); /* 257 is no multiple of four */
  }
  run(b);
}

/* A stencil on slices of a plane with a border of one: rows of 128, the inner 126 computed. */
static void plane(emu_job *j, ref_launch *l) {
  static const int64_t at[] = {1, 257, 128, 130, 129};
  for (int b = 0; b < 2; b++) {
    free(l->base[b]);
    l->buf_len[b] = (l->len[0] + 2) * 128;
    l->size[b] = 4 * (size_t)l->buf_len[b];
    l->base[b] = ref_guarded(l->size[b]);
    l->buf[b] = l->base[b] + REF_GUARD;
    for (int64_t i = 0; i < l->buf_len[b]; i++) ((float *)l->buf[b])[i] = (float)(i * 37 % 101 + b);
  }
  for (int a = 0; a < j->k->naccess; a++) {
    l->off[a] = at[a];
    l->step[2 * a] = 128;
    l->step[2 * a + 1] = 1;
  }
}

TEST(stencils_begin_at_a_line) {
  static const int64_t len[][4] = {{60, 126}, {40, 120}};
  batch *b = batch_new();
  b->s.arrange = plane;
  add_sizes(b,
            "kernel map outer=2 axes=2 phases=1 bufs=2 reds=0\n"
            "a0: read f32 buf0 unit\n"
            "a1: read f32 buf0 unit\n"
            "a2: read f32 buf0 unit\n"
            "a3: read f32 buf0 unit\n"
            "a4: write f32 buf1 unit\n"
            "%0 = load.f32 a0 @row0\n"
            "%1 = load.f32 a1 @row0\n"
            "%2 = load.f32 a2 @row0\n"
            "%3 = load.f32 a3 @row0\n"
            "%4 = add.f32 %0 %1 @row0\n"
            "%5 = add.f32 %4 %2 @row0\n"
            "%6 = add.f32 %5 %3 @row0\n"
            "%7 = store.f32 a4 %6 @row0\n",
            len, 2);
  CHECK(b->job[0].cut[0].pass[0].variant.unroll > 1);
  run(b);
}

/* Slices that begin anywhere: accesses some rows and columns from the middle, the store elsewhere, as the seed says. */
static void slices(emu_job *j, ref_launch *l) {
  static const int rows[] = {0, 0, 0, 1, -1}, columns[] = {0, -1, 3, 0, 0};
  const tt_kernel *k = j->k;
  int n = k->naxes, from = (int)j->seed % 7, to = (int)(j->seed / 7) % 5;
  int64_t last = l->len[n - 1], pitch = (last + 16 + 15) / 16 * 16 + (j->seed % 11 == 0), lines = 1;
  for (int x = 0; x < n - 1; x++) lines *= l->len[x];
  for (int a = 0; a < k->naccess; a++) {
    int b = k->access[a].buf, size = (int)tt__dtype_size((tt_dtype)k->access[a].dtype);
    int64_t step = pitch;
    l->off[a] = k->access[a].write ? to : (n > 1 ? (1 + rows[a]) * pitch : 0) + 1 + from + columns[a];
    l->step[a * n + n - 1] = 1;
    for (int x = n - 2; x >= 0; x--) {
      l->step[a * n + x] = step;
      step *= l->len[x];
    }
    if (a != 0 && !k->access[a].write) continue;
    free(l->base[b]);
    l->buf_len[b] = n > 1 ? (lines + 2) * pitch : last + 12 + (int)j->seed % 3;
    l->size[b] = size * (size_t)l->buf_len[b];
    l->base[b] = ref_guarded(l->size[b]);
    l->buf[b] = l->base[b] + REF_GUARD;
    for (int64_t i = 0; i < l->buf_len[b]; i++) {
      int x = (int)(i * 37 % 101);
      if (size == 1) ((int8_t *)l->buf[b])[i] = (int8_t)x;
      if (size == 4) ((float *)l->buf[b])[i] = (float)x;
      if (size == 8) ((double *)l->buf[b])[i] = x;
    }
  }
}

#define SLICES(type) \
  "a0: read " type   \
  " buf0 unit\n"     \
  "a1: read " type   \
  " buf0 unit\n"     \
  "a2: read " type   \
  " buf0 unit\n"     \
  "a3: read " type   \
  " buf0 unit\n"     \
  "a4: read " type   \
  " buf0 unit\n"     \
  "a5: write " type  \
  " buf1 unit\n"     \
  "%0 = load." type  \
  " a1 @row0\n"      \
  "%1 = load." type  \
  " a0 @row0\n"      \
  "%2 = load." type  \
  " a2 @row0\n"      \
  "%3 = load." type  \
  " a3 @row0\n"      \
  "%4 = load." type  \
  " a4 @row0\n"      \
  "%5 = sub." type   \
  " %0 %1 @row0\n"   \
  "%6 = mul." type   \
  " %5 %2 @row0\n"   \
  "%7 = sub." type   \
  " %6 %3 @row0\n"   \
  "%8 = add." type   \
  " %7 %4 @row0\n"   \
  "%9 = store." type " a5 %8 @row0\n"

TEST(slices_that_begin_anywhere) {
  static const char *const text[] = {
      "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0\n" SLICES("f32"),
      "kernel map outer=2 axes=2 phases=1 bufs=2 reds=0\n" SLICES("f32"),
      "kernel map outer=3 axes=3 phases=1 bufs=2 reds=0\n" SLICES("f64"),
      "kernel map outer=2 axes=2 phases=1 bufs=2 reds=0\n" SLICES("i8"),
  };
  static const int64_t len[][4] = {{4500}, {33, 129}, {3, 5, 200}, {20, 1030}};
  int apart = 0, beside = 0, self = 0;
  for (int i = 0; i < 4; i++) {
    batch *b = batch_new();
    b->s.arrange = slices;
    b->k[b->nk++] = parse(text[i]);
    for (uint64_t seed = 0; seed < 35; seed++) {
      emu_job *j = &b->job[b->njob++];
      *j = (emu_job){.k = b->k[0], .len = {1, 1, 1, 1, 1, 1, 1, 1}, .seed = seed};
      for (int x = 0; x < j->k->naxes; x++) j->len[x] = len[i][x] + (int64_t)(seed % 4);
      emu_add(&b->s, j);
      const tt_variant *v = &j->cut[0].pass[0].variant;
      apart += v->apart;
      for (int a = 0; a < j->k->naccess; a++) {
        beside += v->with[a] != 0 && v->with[a] != TT_APART_SELF;
        self += v->with[a] == TT_APART_SELF;
      }
    }
    run(b);
  }
  CHECK(apart >= 80);
  CHECK(beside >= 40);
  CHECK(self >= 80);
}

/* Both parts of an element, as complex numbers are scattered. */
#define SCATTER(axes)                \
  "kernel map outer=" axes           \
  " phases=1 bufs=4 reds=0 serial\n" \
  "s0: i64\n"                        \
  "a0: read i64 buf0 unit\n"         \
  "a1: read f32 buf1 any\n"          \
  "a2: write f16 buf2 unit\n"        \
  "a3: write f32 buf3 unit\n"        \
  "%0 = const.i64 s0\n"              \
  "%1 = load.i64 a0 @row0\n"         \
  "%2 = load.f32 a1 @row0\n"         \
  "%3 = storex.f32 a2 %1 %2 @row0\n" \
  "%4 = add.i64 %1 %0 @row0\n"       \
  "%5 = neg.f32 %2 @row0\n"          \
  "%6 = storex.f32 a2 %4 %5 @row0\n" \
  "%7 = store.f32 a3 %5 @row0\n"

/* The indices of a scatter fall into its buffer, many on one place. */
static void small_indices(emu_job *j, ref_launch *l) {
  (void)j;
  uint64_t seed = 5, range = (uint64_t)l->buf_len[2] / 2;
  l->scalar[0].i64 = l->buf_len[2] > 1 ? 1 : 0;
  for (int64_t i = 0; i < l->buf_len[0]; i++)
    ((int64_t *)l->buf[0])[i] = range ? (int64_t)(ref_random(&seed) % (range < 20 ? range : range / 3)) : 0;
}

/* Many elements go to few places; the last must win. */
TEST(scatters) {
  static const int64_t flat[][4] = {{1}, {300}, {5000}}, deep[][4] = {{3, 50}, {40, 33}};
  batch *b = batch_new();
  add_sizes(b, SCATTER("1 axes=1"), flat, 3);
  add_sizes(b, SCATTER("2 axes=2"), deep, 2);
  b->s.arrange = small_indices;
  for (int i = 0; i < b->njob; i++) CHECK_INT(b->job[i].cut[0].npass, 3);
  run(b);
}

TEST(all_ops) {
  static const int64_t len[][4] = {{4099}};
  for (int slow = 0; slow < 2; slow++) {
    batch *b = batch_new();
    for (int type = 0; type <= TT_F64; type++) {
      tt_str text = {0};
      if (type != TT_F16 && type != TT_BF16 && put_op_kernel(type, slow, &text)) add_sizes(b, text.data, len, 1);
      tt__str_free(&text);
    }
    run(b);
  }
}

/* ---- bounds */

static void check_fault(emu_suite *s, const emu_job *j, int64_t shift) {
  for (int way = 0; way < EMU_WAYS; way++) {
    ref_launch *got = ref_launch_new(j->k, j->len, j->seed), *want;
    got->off[0] -= shift;
    want = ref_launch_copy(got);
    ref_run(j->k, &want->a);
    emu_fn fn = (emu_fn)(void *)s->fn[j->fn[way][0]];
    CHECK(emu_cover(got, &j->cut[way], &fn, false));
    int64_t at;
    CHECK_INT(ref_differ(want, got, &at), -1);
    CHECK_INT(got->fault.access, want->fault.access);
    if (way != 1) CHECK_INT(got->fault.index, want->fault.index); /* threads run in order */
    CHECK_INT(got->fault.len, want->fault.len);
    ref_launch_free(got);
    ref_launch_free(want);
  }
}

TEST(checked_kernels_touch_nothing_outside) {
  static const int64_t len[][4] = {{100}, {0}};
  batch *b = batch_new();
  add_sizes(b,
            "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0 checked\n"
            "a0: read f32 buf0 unit\n"
            "a1: write f32 buf1 unit\n"
            "%0 = load.f32 a0 @row0\n"
            "%1 = store.f32 a1 %0 @row0\n",
            len, 1);
  if (emu_compile(&b->s)) {
    check_fault(&b->s, &b->job[0], 0);
    check_fault(&b->s, &b->job[0], 3);
  }
  tt__kernel_free(b->k[0]);
  free(b);
}

TEST(refuses_what_it_cannot_order) {
  tt_kernel *k = parse(
      "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0 serial\n"
      "a0: read i64 buf0 unit\n"
      "a1: read f32 buf1 none\n"
      "a2: write f32 buf1 none\n"
      "%0 = load.i64 a0 @row0\n"
      "%1 = loadx.f32 a1 %0 @row0\n"
      "%2 = neg.f32 %1 @row0\n"
      "%3 = storex.f32 a2 %0 %2 @row0\n");
  int64_t len[1] = {10}, off[3] = {0}, step[3] = {1, 0, 0}, buf_len[2] = {10, 10};
  size_t align[2] = {256, 256};
  tt_lowered low = {.kernel = k, .len = len, .off = off, .step = step};
  tt_target t = emu_target(1);
  tt_cut cut;
  tt_error err = {0};
  CHECK_INT(tt__gpu_schedule(k, &low, &t, align, buf_len, &cut, &err), TT_ENOTIMPL);
  tt__kernel_free(k);
}

/* ---- launches of one kernel as one, by a table */

static bool same_pass(const tt_pass *a, const tt_pass *b) {
  return memcmp(&a->variant, &b->variant, sizeof a->variant) == 0 && memcmp(a->grid.block, b->grid.block, 12) == 0;
}

static emu_fn table_function(const tt_kernel *k, const tt_variant *v) {
  tt_str source = {0};
  tt_error err = {0};
  const char *name = "run_t";
  tt_kernel_fn fn = NULL;
  tt__render_header(&emu_dialect, TT_SCALAR_MATH, &source);
  CHECK_INT(tt__threads_render(k, &emu_dialect, v, "t", &source, &err), TT_OK);
  tt__str_add(&source, "void run_t(emu_block *b, const void *args) { emu = b; t(*(const t_table *)args); }\n");
  CHECK_INT(tt__cc_compile(source.data, &name, 1, &fn, NULL, &err), TT_OK);
  tt__str_free(&source);
  return (emu_fn)(void *)fn;
}

typedef struct table {
  const tt_kernel *k;
  ref_launch *want[MOST_SIZES], *got[MOST_SIZES];
  tt_pass first;
  int n;
  uint32_t blocks;
  char *rows;
} table;

/* A launch of `lanes` becomes a row, if it goes with those before. */
static void add_row(table *t, int64_t lanes, int way) {
  int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
  size_t align[REF_ACCESS];
  tt_target target = emu_target(way);
  tt_pass pass;
  tt_cut cut;
  len[t->k->naxes - 1] = lanes;
  ref_launch *l = ref_launch_new(t->k, len, 31 + (uint64_t)lanes);
  tt_lowered low = emu_lowered(t->k, l);
  emu_align(l, align);
  CHECK_INT(tt__gpu_schedule(t->k, &low, &target, align, l->buf_len, &cut, NULL), TT_OK);
  bool joins = tt__threads_joins(t->k, &low, &cut, &pass);
  if (t->n == 0) t->first = pass;
  if (!joins || !same_pass(&t->first, &pass)) {
    ref_launch_free(l);
    return;
  }
  char *row = t->rows + tt__threads_row_size(t->k) * (size_t)t->n;
  tt__threads_args(t->k, &low, &pass, l->buf, l->buf_len, l->scalar, NULL, NULL, row);
  tt__threads_row_blocks(t->k, t->blocks, pass.grid.grid[0], row);
  t->blocks += pass.grid.grid[0];
  t->got[t->n] = l;
  t->want[t->n++] = ref_launch_new(t->k, len, 31 + (uint64_t)lanes);
}

/* The launches of those lengths that go with the first: how many. Each does what the reference does. */
static int check_table(const tt_kernel *k, const int64_t *lanes, int n, int way, bool far) {
  char *memory = calloc(1, 8 + tt__threads_row_size(k) * MOST_SIZES);
  table t = {.k = k, .rows = memory + 8};
  int64_t at = 0;
  for (int i = 0; i < n; i++) add_row(&t, lanes[i], way);
  int64_t head[2] = {t.n, (int64_t)(intptr_t)t.rows};
  memcpy(memory, head, 8);
  t.first.variant.many = far ? 1 : MOST_SIZES;
  t.first.variant.far = far;
  t.first.grid.grid[0] = t.blocks;
  emu_fn fn = table_function(k, &t.first.variant);
  CHECK(emu_launch(fn, &t.first.grid, far ? (void *)head : memory, !t.first.variant.speculates, far));
  for (int i = 0; i < t.n; i++) {
    ref_run(k, &t.want[i]->a);
    CHECK_INT(ref_differ(t.want[i], t.got[i], &at), -1);
    ref_launch_free(t.want[i]);
    ref_launch_free(t.got[i]);
  }
  free(memory);
  return t.n;
}

TEST(several_launches_by_a_table) {
  static const int64_t small[] = {1, 7, 64, 256, 257, 1000, 1500}, large[] = {70000, 5000, 30001, 9001};
  for (int i = 0; i < 3; i++) {
    tt_kernel *k = parse(texts[i == 2 ? 3 : 0].text);
    CHECK_INT(check_table(k, small, 7, 1, i == 1), 7);
    CHECK(check_table(k, large, 4, 0, i == 1) > 1);
    tt__kernel_free(k);
  }
}

int main(int argc, char **argv) {
  if (!emu_usable()) return 0;
  setenv("TUTTI_CC_TIMEOUT", "300", 0); /* on a busy machine a compiler may take its time */
  return test_main(argc, argv);
}
