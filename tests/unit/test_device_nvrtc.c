/*
** The library's kernels as CUDA's compiler sees them: every text, for three chips in turn. Skipped without NVRTC.
*/
#define TEST_KEEPS_MEMORY
#include "device/cuda/nvrtc.h"
#include "lib/rows.h"
#include "lib/scan/host.h"
#include "render/render.h"

#include "fake_device.h"
#include "test.h"

static int compiled;

static tt_code compile_only(const tt_lib_device *on, const char *source, tt_scalar_text math, const char *name,
                            tt_routine **out, tt_error *err) {
  static const int arch[3] = {80, 90, 100};
  static char *last;
  tt_str text = {0}, binary = {0};
  (void)on;
  *out = NULL;
  if (last && strcmp(last, source) == 0) return TT_OK;
  free(last);
  last = strdup(source);
  tt__render_header(&tt__dialect_cuda, math, &text);
  tt__str_add(&text, source);
  tt_code code = tt__nvrtc_compile(arch[compiled++ % 3], 0, text.data, NULL, &binary, err);
  if (code == TT_OK) CHECK(memmem(binary.data, binary.len, name, strlen(name)) != NULL);
  tt__str_free(&text);
  tt__str_free(&binary);
  return code;
}

static tt_code launch_nothing(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args,
                              size_t size, tt_error *err) {
  (void)d, (void)s, (void)r, (void)g, (void)args, (void)size, (void)err;
  return TT_OK;
}

/* What a maker reads are ones. */
static tt_code read_ones(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  (void)on, (void)from, (void)err;
  memset(to, 0, size);
  for (size_t i = 0; i < size; i += 16) ((char *)to)[i] = 1;
  return TT_OK;
}

static void compile(const char *name, tt_dtype t, int64_t n, tt_lib_attr attr) {
  static char memory[1 << 20];
  tt_device_ops ops = fake_ops;
  tt_device d = fake_gpu;
  tt_lib_device on = fake;
  tt_error err = {0};
  ops.launch = launch_nothing;
  d.ops = &ops;
  d.target.kind = TT_DEVICE_CUDA;
  on.device = &d;
  on.routine = compile_only;
  on.read = read_ones;
  int64_t len[3] = {1, 1, n};
  tt_operand src[3];
  for (int k = 0; k < 3; k++) src[k] = (tt_operand){.data = memory, .dtype = t, .rank = 3, .len = len, .size = n};
  if (tt__lib_row(name)) {
    attr.row = tt__lib_row(name);
    tt_block out = {.data = memory, .dtype = t, .rank = 3, .len = len, .size = n};
    CHECK_INT(attr.row->run_on(&on, &attr, src, &out, &err), TT_OK);
  } else {
    tt_made made[4] = {{0}};
    CHECK_INT(tt__lib_maker(name)->run_on(&on, &attr, src, made, &err), TT_OK);
    for (int k = 0; k < 4; k++) free(made[k].data);
  }
  if (*err.message) fprintf(stderr, "%s of %s: %s\n", name, tt__dtypes[t].name, err.message);
  fake_end();
}

TEST(every_text_compiles) {
  tt_str id = {0};
  tt__nvrtc_identity(90, 0, &id);
  if (!id.len) {
    printf("skipped: no NVRTC\n");
    return;
  }
  tt__str_free(&id);
  static const tt_dtype types[] = {TT_BOOL, TT_F16, TT_F32, TT_I64, TT_C128};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tt_dtype t = types[i];
    compile("scan", t, 100000, (tt_lib_attr){.i = {i % 2 ? TT_SCAN_SUM : TT_SCAN_PROD, 100000, 1, 0}});
    compile("sort", t, 100000, (tt_lib_attr){0});
    compile("argsort", t, 100000, (tt_lib_attr){0});
    compile("argsort", t, 100, (tt_lib_attr){0});
    compile("nonzero", t, 1000, (tt_lib_attr){0});
    compile("unique", t, 1000, (tt_lib_attr){.i = {7, 1}});
    compile("searchsorted", t, 1000, (tt_lib_attr){0});
    compile("histogram_edges", t, 1000, (tt_lib_attr){0});
  }
  compile("repeat_index", TT_I64, 1000, (tt_lib_attr){0});
  compile("bincount", TT_U8, 1000, (tt_lib_attr){0});
  compile("bincount_weighted", TT_U64, 1000, (tt_lib_attr){0});
  compile("histogram_uniform", TT_F32, 1000, (tt_lib_attr){0});
  compile("histogram_uniform_weighted", TT_I32, 1000, (tt_lib_attr){0});
  for (int kind = 0; kind < 6; kind++) /* gamma and von Mises are real */
    compile("draw", kind % 5 ? TT_I64 : TT_F64, 1000, (tt_lib_attr){.i = {kind}});
  compile("reduce_complex", TT_C64, 1000, (tt_lib_attr){.i = {TT_RED_PROD}});
  compile("reduce_complex", TT_C128, 1000, (tt_lib_attr){.i = {TT_RED_ARGMAX}});
}

TEST_MAIN()
