/*
** Thread kernels, emulated, against the reference executor over kernels made up at random, bit for bit. An
** argument is the first seed, a second one the number of kernels.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "kernel_random.h"
#include "threads_emulate.h"

enum { BATCH = 8, WAYS = 3, MOST = BATCH * WAYS * TT_MOST_PASSES };

typedef struct job {
  maker m;
  tt_str text;
  tt_kernel *k;
  int64_t len[REF_AXES];
  uint64_t seed;
  tt_cut cut[WAYS];
  emu_fn fn[WAYS][TT_MOST_PASSES];
} job;

static char symbols[MOST][24];
static const char *names[MOST];
static emu_fn *places[MOST];
static int count_fn;

/* Render what the passes of all ways need. */
static void render(job *j, int number, tt_str *source) {
  tt_error err = {0};
  ref_launch *l = ref_launch_new(j->k, j->len, j->seed);
  tt_lowered low = emu_lowered(j->k, l);
  size_t align[REF_ACCESS];
  emu_align(l, align);
  for (int way = 0; way < WAYS; way++) {
    tt_target t = emu_target(way);
    CHECK_INT(tt__threads_cut(j->k, &low, &t, align, &j->cut[way], &err), TT_OK);
    for (int p = 0; p < j->cut[way].npass; p++) {
      tt_variant *v = &j->cut[way].pass[p].variant;
      if (way == 2) v->wide = 1;
      char name[16];
      snprintf(name, sizeof name, "k%d_%d_%d", number, way, p);
      CHECK_INT(tt__threads_render(j->k, &emu_dialect, v, name, source, &err), TT_OK);
      emu_entry(name, v->far, source);
      snprintf(symbols[count_fn], sizeof symbols[0], "run_%s", name);
      names[count_fn] = symbols[count_fn];
      places[count_fn++] = &j->fn[way][p];
    }
  }
  ref_launch_free(l);
}

static bool same_everywhere(job *j) {
  ref_launch *want = ref_launch_new(j->k, j->len, j->seed);
  int differs = -1, way = 0;
  int64_t at = 0;
  ref_run(j->k, &want->a);
  for (; differs < 0 && way < WAYS; way++) {
    ref_launch *got = ref_launch_new(j->k, j->len, j->seed);
    if (!emu_cover(got, &j->cut[way], j->fn[way], way & 1)) differs = 1000;
    if (differs < 0) differs = ref_differ(want, got, &at);
    ref_launch_free(got);
  }
  ref_launch_free(want);
  CHECK_INT(differs, -1);
  if (differs >= 0)
    fprintf(stderr, "way %d, len %lld %lld %lld %lld: buffer %d element %lld\n", way - 1, (long long)j->len[0],
            (long long)j->len[1], (long long)j->len[2], (long long)j->len[3], differs, (long long)at);
  return differs < 0;
}

static bool check_batch(uint64_t first, int n) {
  static job jobs[BATCH];
  tt_kernel_fn fn[MOST];
  tt_str source = {0};
  tt_error err = {0};
  count_fn = 0;
  tt__render_header(&emu_dialect, true, &source);
  for (int i = 0; i < n; i++) {
    job *j = &jobs[i];
    *j = (job){.m = {.seed = first + (uint64_t)i}, .seed = first + (uint64_t)i};
    j->k = make_kernel(&j->m, &j->text);
    for (int x = 0; x < REF_AXES; x++) j->len[x] = 1;
    make_lengths(&j->m, j->len);
    render(j, i, &source);
  }
  if (getenv("SHOW")) fputs(source.data, stdout);
  tt_code c = tt__cc_compile(source.data, names, count_fn, fn, NULL, &err);
  bool ok = c == TT_OK;
  CHECK(ok);
  if (!ok) fprintf(stderr, "%s\n", err.message);
  for (int i = 0; ok && i < count_fn; i++) *places[i] = (emu_fn)(void *)fn[i];
  for (int i = 0; i < n; i++) {
    if (ok && !same_everywhere(&jobs[i])) {
      fprintf(stderr, "seed %llu\n%s", (unsigned long long)jobs[i].seed, jobs[i].text.data);
      ok = false;
    }
    tt__kernel_free(jobs[i].k);
    tt__str_free(&jobs[i].text);
  }
  tt__str_free(&source);
  return ok;
}

static uint64_t first = 1, count = 48;

TEST(random_kernels_in_threads) {
  for (uint64_t n = 0; n < count; n += BATCH)
    if (!check_batch(first + n, count - n < BATCH ? (int)(count - n) : BATCH)) break;
}

int main(int argc, char **argv) {
  setenv("TUTTI_CC_TIMEOUT", "300", 0); /* on a busy machine a compiler may take its time */
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
