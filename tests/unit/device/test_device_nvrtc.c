/*
** The library's kernels as CUDA's compiler sees them: every text, for three chips in turn. Skipped without NVRTC.
*/
#define TEST_KEEPS_MEMORY
#include "device/cuda/nvrtc.h"
#include "ir/recurrent.h"
#include "ir/convolution.h"
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
  tt_code code = tt__nvrtc_compile(arch[compiled++ % 3], 0, text.data, "--Ofast-compile=min", &binary, err);
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

/* A device whose kernels are compiled, and not run. */
typedef struct compiler {
  tt_device_ops ops;
  tt_device gpu;
  tt_lib_device on;
} compiler;

static const tt_lib_device *open_compiler(compiler *c) {
  c->ops = fake_ops;
  c->ops.launch = launch_nothing;
  c->gpu = fake_gpu;
  c->gpu.ops = &c->ops;
  c->gpu.target.kind = TT_DEVICE_CUDA;
  c->gpu.target.arch = 80;
  c->gpu.target.shared_block = 160 << 10;
  c->on = fake;
  c->on.device = &c->gpu;
  c->on.routine = compile_only;
  c->on.read = read_ones;
  return &c->on;
}

static char memory[1 << 20];

static void compile(const char *name, tt_dtype t, int64_t n, tt_lib_attr attr) {
  compiler c;
  const tt_lib_device *on = open_compiler(&c);
  tt_error err = {0};
  int64_t len[3] = {1, 1, n};
  tt_operand src[3];
  for (int k = 0; k < 3; k++) src[k] = (tt_operand){.data = memory, .dtype = t, .rank = 3, .len = len, .size = n};
  if (tt__lib_row(name)) {
    attr.row = tt__lib_row(name);
    tt_block out = {.data = memory, .dtype = t, .rank = 3, .len = len, .size = n};
    CHECK_INT(attr.row->run_on(on, &attr, src, &out, &err), TT_OK);
  } else {
    tt_made made[4] = {{0}};
    CHECK_INT(tt__lib_maker(name)->run_on(on, &attr, src, made, &err), TT_OK);
    for (int k = 0; k < 4; k++) free(made[k].data);
  }
  if (*err.message) fprintf(stderr, "%s of %s: %s\n", name, tt__dtypes[t].name, err.message);
  fake_end();
}

/* One row of places with a window of `kernel`. */
static void compile_convolution(tt_dtype t, int64_t groups, int64_t outputs, int64_t in, int64_t kernel) {
  compiler c;
  const tt_lib_device *on = open_compiler(&c);
  tt_error err = {0};
  int64_t lx[4] = {2, groups, 3, in}, lw[4] = {groups, outputs, 3, kernel},
          ly[3] = {2, groups * outputs, in - kernel + 1};
  int64_t sx[4] = {3 * groups * in, 3 * in, in, 1}, sw[4] = {3 * outputs * kernel, 3 * kernel, kernel, 1};
  tt_operand src[2] = {{.data = memory, .dtype = t, .rank = 4, .len = lx, .step = sx},
                       {.data = memory, .dtype = t, .rank = 4, .len = lw, .step = sw}};
  tt_lib_attr attr = {.row = tt__lib_row("convolution")};
  const tt_conv_axis axis = {1, 1, 1, 0};
  tt__conv_tell(&attr, &axis, 1, false);
  tt_block out = {.data = memory, .dtype = t, .rank = 3, .len = ly};
  CHECK_INT(attr.row->run_on(on, &attr, src, &out, &err), TT_OK);
  fake_end();
}

/* There and back, of a tile or two. */
static void compile_attention(tt_dtype t, int64_t width, bool causal) {
  compiler c;
  const tt_lib_device *on = open_compiler(&c);
  tt_error err = {0};
  tt_dtype sums = t == TT_F64 ? t : TT_F32;
  int64_t len[2] = {70, width}, step[2] = {width, 1}, lg[2] = {70, width + 2}, sg[2] = {width + 2, 1};
  tt_operand m = {.data = memory, .dtype = t, .rank = 2, .len = len, .step = step};
  tt_operand src[4] = {m, m, m, {.data = memory, .dtype = sums, .rank = 2, .len = lg, .step = sg}};
  tt_lib_attr attr = {.row = tt__lib_row("attention"), .i = {causal}, .f = {1}};
  tt_block one = {.data = memory, .dtype = t, .rank = 2, .len = len}, out[3] = {one, one, one};
  CHECK_INT(attr.row->run_on(on, &attr, src, out, &err), TT_OK);
  attr.row = tt__lib_row("attention_back");
  CHECK_INT(attr.row->run_on(on, &attr, src, out, &err), TT_OK);
  if (tt__dtype_size(t) == 2) {
    int64_t ll[2] = {70, 1}, sl[2] = {1, 1};
    const tt_operand lse = {.data = memory, .dtype = sums, .rank = 2, .len = ll, .step = sl};
    attr.row = tt__lib_row("attention_whole_back");
    CHECK_INT(attr.row->run_on(on, &attr, (tt_operand[6]){m, m, m, m, m, lse}, out, &err), TT_OK);
  }
  fake_end();
}

/* There and back; of many images a thread has several. */
static void compile_recurrent(tt_dtype t, tt_recurrent_kind kind, int64_t images) {
  compiler c;
  const tt_lib_device *on = open_compiler(&c);
  tt_error err = {0};
  const int64_t wide = 8, gates = tt__recurrent_gates(kind) * wide, of_kept = tt__recurrent_kept(kind) * wide;
  int64_t lx[3] = {2, images, gates}, lw[2] = {gates, wide}, lk[3] = {2, images, of_kept}, lg[3] = {3, images, wide};
  tt_operand x = {.data = memory, .dtype = t, .rank = 3, .len = lx}, w = {.data = memory, .dtype = t, .len = lw},
             kept = {.data = memory, .dtype = t, .rank = 3, .len = lk}, g = {.data = memory, .dtype = t, .len = lg};
  tt_lib_attr attr = {.row = tt__lib_row("recurrent"), .i = {kind, 0, images}};
  tt_block one = {.data = memory, .dtype = t, .rank = 3, .len = lx}, out[3] = {one, one, one};
  CHECK_INT(attr.row->run_on(on, &attr, (tt_operand[3]){x, w, g}, out, &err), TT_OK);
  attr.row = tt__lib_row("recurrent_back");
  CHECK_INT(attr.row->run_on(on, &attr, (tt_operand[3]){w, kept, g}, out, &err), TT_OK);
  if (*err.message) fprintf(stderr, "recurrent of %s: %s\n", tt__dtypes[t].name, err.message);
  fake_end();
}

TEST(every_text_compiles) {
  setenv("TUTTI_CUDNN", "none", 1); /* the device that they are compiled for is not there */
  tt_str id = {0};
  tt__nvrtc_identity(90, 0, &id);
  if (!id.len) {
    printf("skipped: no NVRTC\n");
    return;
  }
  tt__str_free(&id);
  static const tt_dtype types[] = {TT_BOOL, TT_F16, TT_F32, TT_I64, TT_C128};
  static const tt_dtype floats[] = {TT_F32, TT_F64, TT_F16, TT_BF16};
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
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
    compile_convolution(floats[i], 1, i < 2 ? 70 : 20, 300, 3);
    compile_convolution(floats[i], 4, 2, 300, 3);
    compile_convolution(floats[i], 4, 2, 602, 600);
    compile_attention(floats[i], i % 2 ? 64 : 65, i > 1);
  }
  compile_attention(TT_F16, 128, false);
  for (int kind = 0; kind < TT_RECURRENT_KINDS; kind++) {
    compile_recurrent(TT_F32, (tt_recurrent_kind)kind, 4);
    compile_recurrent(TT_F64, (tt_recurrent_kind)kind, 4000);
  }
}

TEST_MAIN()
