/* Kernels given as expressions: both ways, both kinds, PyCUDA's form, bad declarations and arguments, memory that is
 * out. */
#define TEST_KEEPS_MEMORY /* plans and kernels are cached */
#include <math.h>
#include <pthread.h>

#include "base/fault.h"
#include "lang/expr/kernel.h"
#include "test.h"
#include "tutti/tutti.h"

static tt_array *ramp(int64_t n) {
  tt_array *a = NULL;
  CHECK_INT(tt_arange(TT_F32, tt_v_int(0), tt_v_int(1), n, &a, NULL), TT_OK);
  return a;
}

static void check_values(tt_array *a, int n, const float *want) {
  float got[16];
  CHECK(a != NULL);
  if (!a) return;
  CHECK_INT(tt_array_size(a), n);
  CHECK_INT(tt_read(a, got, sizeof got, NULL), TT_OK);
  for (int k = 0; k < n; k++) CHECK(got[k] == want[k]);
}

/* Without a compiler the compiled way cannot be tested. */
static bool has_compiler(void) {
  tt_program *p = NULL;
  bool ok = tt_program_cuda("__global__ void f() {}", NULL, &p, NULL) == TT_OK;
  tt_program_release(&p);
  return ok;
}

static tt_custom *make(const tt_custom_source *s) {
  tt_custom *k;
  tt_error err = {0};
  CHECK_INT((s->reduce ? tt_reduction_new : tt_elementwise_new)(s, &k, &err), TT_OK);
  CHECK_STR(err.message, "");
  return k;
}

TEST(declarations) {
  static const struct {
    const char *inputs, *outputs, *message;
    tt_code code;
  } row[] = {
      {"x", "T y", "a parameter is written 'type name' or 'raw type name', not 'x'", TT_ESYNTAX},
      {"T x", " raw const T ", "a parameter is written 'type name' or 'raw type name', not 'raw const T'", TT_ESYNTAX},
      {"T 3x", "T y", "a parameter is written 'type name' or 'raw type name', not 'T 3x'", TT_ESYNTAX},
      {"float99 x", "T y", "'float99' is no type of a parameter: a dtype's name, or one capital letter for any",
       TT_ETYPE},
      {"TT x", "T y", "'TT' is no type of a parameter: a dtype's name, or one capital letter for any", TT_ETYPE},
      {"T i", "T y", "a parameter cannot be called 'i'", TT_EVALUE},
      {"T _x", "T y", "a parameter cannot be called '_x'", TT_EVALUE},
      {"T x, T x", "T y", "two parameters have one name", TT_EVALUE},
      {"T x", "T x", "two parameters have one name", TT_EVALUE},
  };
  tt_cx_signature s;
  tt_error err;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    CHECK_INT(tt__cx_signature(row[k].inputs, row[k].outputs, &s, &err), row[k].code);
    CHECK_STR(err.message, row[k].message);
    tt__cx_signature_free(&s);
  }
  CHECK_INT(tt__cx_signature("raw const unsigned  int *x,, long long n ", "T y", &s, &err), TT_OK);
  CHECK_INT(s.n, 3);
  CHECK_INT(s.nin, 2);
  CHECK(s.param[0].is_raw && s.param[0].dtype == TT_U32 && !s.param[1].is_raw && s.param[1].dtype == TT_I64);
  CHECK_STR(s.param[1].name, "n");
  CHECK_INT(s.param[2].letter, 'T' - 'A');
  tt__cx_signature_free(&s);
  CHECK_INT(tt__cx_signature("", "", &s, &err), TT_OK);
  CHECK_INT(s.n, 0);
  tt__cx_signature_free(&s);
}

TEST(sources) {
  tt_custom_source s = {.inputs = "T x", .outputs = "T y", .operation = "y = x", .name = "no name"};
  tt_custom *k;
  tt_error err;
  CHECK_INT(tt_elementwise_new(&s, &k, &err), TT_EVALUE);
  CHECK_STR(err.message, "'no name' is no name of a kernel");
  s.name = NULL;
  s.way = "gpu";
  CHECK_INT(tt_elementwise_new(&s, &k, &err), TT_EVALUE);
  CHECK_STR(err.message, "way is 'graph', 'cuda' or None, not 'gpu'");
  s.way = NULL;
  s.outputs = "T y, T z";
  CHECK_INT(tt_reduction_new(&s, &k, &err), TT_EVALUE);
  CHECK_STR(err.message, "a reduction has one output");
  s.outputs = "T y";
  s.inputs = "raw T x";
  CHECK_INT(tt_reduction_new(&s, &k, &err), TT_EVALUE);
  CHECK_STR(err.message, "a reduction's parameters cannot be raw");
  s.operation = NULL;
  CHECK_INT(tt_elementwise_new(&s, &k, NULL), TT_EVALUE);
  CHECK(!k);
  tt_custom_release(&k);
}

static void elementwise(const char *way, const char *text, const char *told) {
  static const char *const flag[] = {"-DN=2", "-DONE"};
  tt_custom *k = make(&(tt_custom_source){.inputs = "T x, T f",
                                          .outputs = "T z, int32 w",
                                          .operation = text,
                                          .name = "both",
                                          .flag = flag,
                                          .nflag = 2,
                                          .way = way});
  tt_array *x = ramp(6), *grid, *row, *out[2];
  int64_t len[2] = {2, 3};
  int32_t whole[6];
  int graph, compiled;
  tt_error err = {0};
  CHECK_INT(tt_reshape(x, 2, len, &grid, NULL), TT_OK);
  CHECK_INT(tt_arange(TT_F32, tt_v_int(1), tt_v_int(1), 3, &row, NULL), TT_OK);
  tt_custom_argument arg[4] = {tt_custom_array(grid), tt_custom_array(row)};
  CHECK_INT(tt_elementwise_call(k, arg, 2, -1, NULL, out, &err), TT_OK);
  check_values(out[0], 6, (float[]){2, 4, 8, 5, 10, 17});
  CHECK_INT(tt_read(out[1], whole, sizeof whole, NULL), TT_OK);
  for (int i = 0; i < 6; i++) CHECK_INT(whole[i], i);
  arg[1] = tt_custom_value(tt_v_int(2));
  arg[2] = tt_custom_array(out[0]); /* one is given, one is made */
  tt_array *again[2];
  CHECK_INT(tt_elementwise_call(k, arg, 4, -1, NULL, again, &err), TT_OK);
  CHECK(again[0] == out[0]);
  check_values(out[0], 6, (float[]){2, 4, 6, 8, 10, 12});
  tt_release(&again[0]);
  tt_release(&again[1]);
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, again, &err), TT_ETYPE);
  CHECK_STR(err.message, "kernel both takes 2 inputs, or 4 arguments with the outputs (1 given)");
  arg[2] = tt_custom_array(row);
  CHECK_INT(tt_elementwise_call(k, arg, 4, -1, NULL, again, &err), TT_EVALUE);
  CHECK(strstr(err.message, "output 'z' has shape (3,), not (2"));
  CHECK(!again[0] && !again[1]);
  arg[2] = tt_custom_array(out[1]);
  CHECK_INT(tt_elementwise_call(k, arg, 4, -1, NULL, again, &err), TT_ETYPE);
  CHECK_STR(err.message, "kernel both: parameter 'z' is float32, the array given is int32");
  tt_custom_parameter p;
  CHECK_STR(tt_custom_name(k), "both");
  CHECK(tt_custom_inputs(k) == 2 && tt_custom_outputs(k) == 2);
  CHECK_INT(tt_custom_parameter_at(k, 3, &p, &err), TT_OK);
  CHECK(strcmp(p.name, "w") == 0 && p.dtype == TT_I32 && !p.letter && !p.is_raw);
  CHECK_INT(tt_custom_parameter_at(k, 0, &p, &err), TT_OK);
  CHECK(p.letter == 'T' && p.dtype == TT_DTYPE_NONE);
  CHECK_INT(tt_custom_parameter_at(k, 4, &p, &err), TT_EINDEX);
  tt_custom_ways(k, &graph, &compiled);
  CHECK_INT(graph, way ? 0 : 1);
  CHECK_INT(compiled, way ? 1 : 0);
  CHECK_INT(tt_custom_launches(k), way ? 2 : 0);
  char *explained = tt_custom_explain(k), *compiled_text = tt_custom_text(k);
  CHECK(strstr(explained, told) != NULL);
  CHECK((strstr(compiled_text, "both") != NULL) == (way != NULL));
  tt_text_free(explained);
  tt_text_free(compiled_text);
  tt_release(&out[0]);
  tt_release(&out[1]);
  tt_release(&row);
  tt_release(&grid);
  tt_release(&x);
  tt_custom_release(&k);
}

TEST(elementwise_in_the_graph) {
  elementwise(NULL, "z = x * f + N * ONE; w = i", "both<T=float32>: operations of the graph\n  %0 = ");
}

TEST(elementwise_compiled) {
  if (!has_compiler()) return;
  elementwise("cuda", "z = x * f + N * ONE; w = i", "both<T=float32>: CUDA C (asked for)");
}

TEST(whole_arrays_and_memory) {
  if (!has_compiler()) return;
  tt_custom *k =
      make(&(tt_custom_source){.inputs = "raw T x, T f",
                               .outputs = "T z",
                               .operation = "z = 0; for (int d = 0; d < x.ndim; d++) z += x.shape()[d] * f"});
  int64_t len[2] = {2, 3}, three = 3;
  float room[3] = {0};
  tt_array *x = ramp(6), *grid, *out[1] = {NULL};
  tt_error err = {0};
  CHECK_INT(tt_reshape(x, 2, len, &grid, NULL), TT_OK);
  tt_custom_argument arg[3] = {tt_custom_array(grid), tt_custom_value(tt_v_float(2)), {.rank = 1, .len = &three}};
  arg[2].what.kind = TT_ARG_MEMORY;
  arg[2].what.as.memory.data = room;
  arg[2].what.as.memory.size = sizeof room;
  arg[2].what.as.memory.dtype = TT_F32;
  CHECK_INT(tt_elementwise_call(k, arg, 3, -1, NULL, out, &err), TT_OK);
  CHECK(!out[0]);
  CHECK(room[0] == 10 && room[2] == 10);
  CHECK_INT(tt_elementwise_call(k, arg, 2, 2, NULL, out, &err), TT_OK);
  check_values(out[0], 2, (float[]){10, 10});
  tt_release(&out[0]);
  CHECK_INT(tt_elementwise_call(k, arg, 2, 0, NULL, out, &err), TT_OK);
  CHECK_INT(tt_array_size(out[0]), 0);
  tt_release(&out[0]);
  arg[1] = tt_custom_array(grid);
  CHECK_INT(tt_elementwise_call(k, arg, 2, 2, NULL, out, &err), TT_EVALUE);
  CHECK_STR(err.message, "Specified 'size' can be used only if all of the ndarray are 'raw'.");
  arg[0] = tt_custom_value(tt_v_float(1));
  CHECK_INT(tt_elementwise_call(k, arg, 2, -1, NULL, out, &err), TT_ETYPE);
  CHECK_STR(err.message, "parameter 'x' is an array, a number is given");
  tt_custom_release(&k);
  k = make(&(tt_custom_source){.inputs = "raw T x", .outputs = "T z", .operation = "for (;;) { z = x[i]; break; }"});
  arg[0] = tt_custom_array(grid);
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, out, &err), TT_EVALUE);
  CHECK_STR(err.message, "Loop size is undecided.");
  tt_custom_release(&k);
  tt_release(&grid);
  tt_release(&x);
}

TEST(texts_that_do_not_compile) {
  tt_array *x = ramp(3), *out[1];
  tt_error err;
  tt_custom_argument arg[1] = {tt_custom_array(x)};
  tt_custom *k = make(&(tt_custom_source){.inputs = "T x", .outputs = "T y", .operation = "y = nothing"});
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, out, &err), TT_ECOMPILE);
  CHECK(strstr(err.message, "kernel.cu:1:5: error: 'nothing' was not declared") != NULL);
  tt_custom_release(&k);
  k = make(&(tt_custom_source){.inputs = "T x", .outputs = "T y", .operation = "while (y < x) y = x", .way = "graph"});
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, out, &err), TT_ENOTIMPL);
  CHECK(strstr(err.message, "kernel kernel: line 1: 'while' is not straight-line code") != NULL);
  tt_custom_release(&k);
  k = make(&(tt_custom_source){.inputs = "T x", .outputs = "T y", .operation = "y = nothing", .way = "cuda"});
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, out, &err), TT_ECOMPILE);
  CHECK(!out[0]);
  tt_custom_release(&k);
  k = make(&(tt_custom_source){.inputs = "T x", .outputs = "U y", .operation = "y = x"});
  CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, out, &err), TT_ETYPE);
  CHECK_STR(err.message, "kernel kernel: nothing given says what type U is");
  tt_custom_release(&k);
  tt_release(&x);
}

static void reduction(const char *way) {
  tt_custom *k = make(&(tt_custom_source){.inputs = "T x, T f",
                                          .outputs = "T y",
                                          .operation = "x * x",
                                          .reduce = "a + b",
                                          .post = "y = sqrt(a) * f",
                                          .identity = "0",
                                          .name = "norm",
                                          .way = way});
  tt_array *x = ramp(4), *grid, *out = NULL, *to = ramp(2), *none;
  int64_t len[2] = {2, 2}, nothing[2] = {2, 0};
  int axis = -1, both[2] = {0, 0};
  tt_error err = {0};
  CHECK_INT(tt_reshape(x, 2, len, &grid, NULL), TT_OK);
  CHECK_INT(tt_empty(TT_F32, 2, nothing, &none, NULL), TT_OK);
  tt_custom_argument arg[3] = {tt_custom_array(grid), tt_custom_value(tt_v_int(2)), tt_custom_array(to)};
  CHECK_INT(tt_reduction_call(k, arg, 2, NULL, 0, false, NULL, &out, &err), TT_OK);
  CHECK_INT(tt_array_rank(out), 0);
  check_values(out, 1, (float[]){2 * sqrtf(14)});
  tt_release(&out);
  CHECK_INT(tt_reduction_call(k, arg, 2, &axis, 1, true, NULL, &out, &err), TT_OK);
  CHECK_INT(tt_array_rank(out), 2);
  check_values(out, 2, (float[]){2, 2 * sqrtf(13)});
  tt_release(&out);
  axis = 0;
  CHECK_INT(tt_reduction_call(k, arg, 3, &axis, 1, false, NULL, &out, &err), TT_OK);
  CHECK(out == to);
  check_values(to, 2, (float[]){4, 2 * sqrtf(10)});
  tt_release(&out);
  axis = 2;
  CHECK_INT(tt_reduction_call(k, arg, 2, &axis, 1, false, NULL, &out, &err), TT_EAXIS);
  CHECK_STR(err.message, "axis 2 is out of bounds for array of dimension 2");
  CHECK_INT(tt_reduction_call(k, arg, 2, both, 2, false, NULL, &out, &err), TT_EVALUE);
  CHECK_STR(err.message, "duplicate value in 'axis'");
  CHECK_INT(tt_reduction_call(k, arg, 3, NULL, 0, false, NULL, &out, &err), TT_EVALUE);
  CHECK(strstr(err.message, "the output has 2 elements, not 1") != NULL);
  CHECK(!out);
  CHECK_INT(tt_reduction_call(k, arg, 1, NULL, 0, false, NULL, &out, &err), TT_ETYPE);
  CHECK_STR(err.message, "kernel norm takes 2 inputs (1 given)");
  arg[0] = tt_custom_array(none);
  axis = 1;
  CHECK_INT(tt_reduction_call(k, arg, 2, &axis, 1, false, NULL, &out, &err), TT_OK);
  check_values(out, 2, (float[]){0, 0});
  tt_release(&out);
  arg[0] = tt_custom_value(tt_v_float(1));
  CHECK_INT(tt_reduction_call(k, arg, 2, NULL, 0, false, NULL, &out, &err), TT_ETYPE);
  CHECK_STR(err.message, "kernel norm: at least one input is an array");
  CHECK_INT(tt_elementwise_call(k, arg, 2, -1, NULL, &out, &err), TT_ETYPE);
  tt_release(&none);
  tt_release(&to);
  tt_release(&grid);
  tt_release(&x);
  tt_custom_release(&k);
}

TEST(reductions_in_the_graph) { reduction(NULL); }

TEST(reductions_compiled) {
  if (has_compiler()) reduction("cuda");
}

TEST(partial_results_that_are_structs) {
  if (!has_compiler()) return;
  tt_custom *k = make(&(tt_custom_source){
      .inputs = "float32 x",
      .outputs = "float32 y",
      .operation = "Pair(x)",
      .reduce = "Pair(fminf(a.lo, b.lo), fmaxf(a.hi, b.hi))",
      .post = "y = a.hi - a.lo",
      .inner = "Pair",
      .preamble =
          "struct Pair { float lo, hi; __device__ Pair() {} __device__ explicit Pair(float v) : lo(v), hi(v) {}\n"
          "__device__ Pair(float l, float h) : lo(l), hi(h) {} };"});
  int64_t len[2] = {2, 50000};
  int axis = 1;
  tt_array *x = ramp(100000), *grid, *out = NULL, *none;
  tt_error err = {0};
  CHECK_INT(tt_reshape(x, 2, len, &grid, NULL), TT_OK);
  tt_custom_argument arg[1] = {tt_custom_array(grid)};
  CHECK_INT(tt_reduction_call(k, arg, 1, &axis, 1, false, NULL, &out, &err), TT_OK);
  CHECK_STR(err.message, "");
  check_values(out, 2, (float[]){49999, 49999});
  tt_release(&out);
  len[1] = 0;
  CHECK_INT(tt_empty(TT_F32, 2, len, &none, NULL), TT_OK);
  arg[0] = tt_custom_array(none);
  CHECK_INT(tt_reduction_call(k, arg, 1, &axis, 1, false, NULL, &out, &err), TT_EVALUE);
  CHECK_STR(err.message, "kernel kernel: zero-size array to a reduction which has no identity");
  char *text = tt_custom_explain(k);
  CHECK_STR(text, "kernel: CUDA C (partial results are Pair)");
  tt_text_free(text);
  tt_release(&none);
  tt_release(&grid);
  tt_release(&x);
  tt_custom_release(&k);
}

TEST(declared_as_in_c) {
  tt_custom *k = make(
      &(tt_custom_source){.declaration = "float *y, const float *x, float a", .operation = "y[i] = a * x[n - 1 - i]"});
  tt_array *x = ramp(3), *y = ramp(3);
  tt_error err = {0};
  tt_custom_argument arg[3] = {tt_custom_array(y), tt_custom_array(x), tt_custom_value(tt_v_int(3))};
  CHECK_INT(tt_elementwise_call(k, arg, 3, -1, NULL, NULL, &err), TT_OK);
  check_values(y, 3, (float[]){6, 3, 0});
  tt_custom_release(&k);
  k = make(&(tt_custom_source){.declaration = "float *y, int m",
                               .operation = "for (int j = 0; j < m; j++) y[i] += 1",
                               .loop_prep = "",
                               .after_loop = "(void)m"});
  arg[1] = tt_custom_value(tt_v_int(2));
  if (has_compiler()) {
    CHECK_INT(tt_elementwise_call(k, arg, 2, -1, NULL, NULL, &err), TT_OK);
    check_values(y, 3, (float[]){8, 5, 2});
    CHECK_INT(tt_elementwise_call(k, arg, 1, -1, NULL, NULL, &err), TT_ETYPE);
    CHECK_STR(err.message, "kernel kernel takes 3 arguments (2 given)");
  }
  tt_custom_release(&k);
  tt_release(&x);
  tt_release(&y);
}

/* Several threads meet types that the kernel has not seen: what is read and compiled is one for all of them. */
enum { CALLERS = 4 };

static void *caller(void *kernel) {
  static const tt_dtype type[] = {TT_F32, TT_I32, TT_F64};
  for (int i = 0; i < 12; i++) {
    tt_array *x = NULL, *out[1] = {NULL};
    tt_value sum = {TT_V_NONE, {0}};
    tt_code code = tt_arange(type[i % 3], tt_v_int(0), tt_v_int(1), 10, &x, NULL);
    tt_custom_argument arg[1] = {tt_custom_array(x)};
    if (code == TT_OK) code = tt_elementwise_call(kernel, arg, 1, -1, NULL, out, NULL);
    tt_array *last = NULL;
    if (code == TT_OK) code = tt_get(out[0], tt_v_int(9), &last, NULL);
    if (code == TT_OK) code = tt_item(last, &sum, NULL);
    double got = sum.tag == TT_V_FLOAT ? sum.as.f : (double)sum.as.i;
    tt_release(&last);
    tt_release(&out[0]);
    tt_release(&x);
    if (code != TT_OK || got != 19) return kernel;
  }
  return NULL;
}

static void call_from_threads(const char *way) {
  pthread_t thread[CALLERS];
  int graph, compiled;
  tt_custom *k = make(&(tt_custom_source){.inputs = "T x", .outputs = "T y", .operation = "y = x * 2 + 1", .way = way});
  for (int i = 0; i < CALLERS; i++) CHECK_INT(pthread_create(&thread[i], NULL, caller, k), 0);
  for (int i = 0; i < CALLERS; i++) {
    void *failed;
    pthread_join(thread[i], &failed);
    CHECK(!failed);
  }
  tt_custom_ways(k, &graph, &compiled);
  CHECK_INT(graph + compiled, 3);
  tt_custom_release(&k);
}

TEST(threads) {
  call_from_threads("graph");
  if (has_compiler()) call_from_threads("cuda");
}

/* Each allocation fails once: an error that says so, and nothing is left of the call. */
static void starve(const tt_custom_source *s, bool reduces) {
  tt_array *x = ramp(8);
  tt_custom_argument arg[1] = {tt_custom_array(x)};
  for (int64_t n = 0;; n++) {
    bool fired;
    tt_custom *k = NULL;
    tt_array *out = NULL;
    tt_error err = {0};
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code code = (reduces ? tt_reduction_new : tt_elementwise_new)(s, &k, &err);
    if (code == TT_OK && reduces)
      code = tt_reduction_call(k, arg, 1, NULL, 0, false, NULL, &out, &err);
    else if (code == TT_OK)
      code = tt_elementwise_call(k, arg, 1, -1, NULL, &out, &err);
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    CHECK(code == TT_OK || !out);
    if (code != TT_OK && code != TT_ENOMEM) CHECK_STR(err.message, "out of memory");
    tt_release(&out);
    if (k) { /* it can be called again */
      code = reduces ? tt_reduction_call(k, arg, 1, NULL, 0, false, NULL, &out, &err)
                     : tt_elementwise_call(k, arg, 1, -1, NULL, &out, &err);
      CHECK_INT(code, TT_OK);
      if (code == TT_OK) CHECK_INT(tt_eval(&out, 1, &err), TT_OK);
      char *text = tt_custom_explain(k);
      CHECK(text && *text);
      tt_text_free(text);
    }
    tt_release(&out);
    tt_custom_release(&k);
    if (!fired) break;
  }
  tt_release(&x);
}

TEST(memory_that_is_out) {
  tt_custom_source s = {.inputs = "T x", .outputs = "T y", .operation = "y = x * 2 + N", .preamble = "#define N 3\n"};
  starve(&s, false);
  s.operation = "x";
  s.reduce = "a + b";
  s.post = "y = a";
  s.identity = "0";
  starve(&s, true);
  if (!has_compiler()) return;
  s.way = "cuda";
  starve(&s, true);
  s.operation = "y = x + 1";
  starve(&s, false);
}

TEST_MAIN()
