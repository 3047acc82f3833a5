/* The scanner of CUDA C: what it finds and replaces, and that no text breaks it. */
#include "lang/cuda_c/scan.h"
#include "test.h"

#define INDEX "tt_index_x(tt_global_x, threadIdx.x, blockIdx.x, blockDim.x)"
static void check_rewrite(const char *text, const char *want) {
  tt_cudac_scan s;
  tt_str out = {0};
  CHECK(tt__cudac_scan(&s, text, strlen(text), NULL) == TT_OK);
  tt__cudac_rewrite(&s, false, &out);
  const char *got = out.data ? out.data : "";
  if (strcmp(got, want) != 0) printf("got  %s\nwant %s\n", got, want);
  CHECK(strcmp(got, want) == 0);
  tt__str_free(&out);
  tt__cudac_scan_free(&s);
}

TEST(replaces_words) {
  check_rewrite("", "");
  check_rewrite("int a; // __global__\n\"__shared__\"", "int a; // __global__\n\"__shared__\"");
  check_rewrite("__device__ int f() { return 1; }", " int f() { return 1; }");
  check_rewrite("__global__ void f() {}", "inline __attribute__((always_inline)) void f() {}");
  check_rewrite("inline __global__ void f();", "inline __attribute__((always_inline)) void f();");
  check_rewrite("struct __align__(16) P {};", "struct __attribute__((aligned(16))) P {};");
  check_rewrite("__launch_bounds__(64,\n2) x", "\n x");
  check_rewrite("void f() { extern __shared__ float s[]; }", "void f() { float (*s) = (float (*))tt_dynamic_shared; }");
  check_rewrite("extern __shared__ int4 s[];", "static const tt_dynamic<int4 > s = {};");
  check_rewrite("static __shared__ int s;", "static thread_local __attribute__((aligned(64))) int s;");
}

TEST(replaces_whole_indices_only) {
  check_rewrite("i = blockIdx.x * blockDim.x + threadIdx.x;", "i = " INDEX ";");
  check_rewrite("i = threadIdx.x + (blockDim.x*blockIdx.x);", "i = " INDEX ";");
  check_rewrite("i = (long)blockIdx.x\n* blockDim.x + threadIdx.x;", "i = (long)" INDEX "\n;");
  static const char *const kept[] = {
      "i = 2 * blockIdx.x * blockDim.x + threadIdx.x;",  "i = blockIdx.x * blockDim.x + threadIdx.x * 2;",
      "i = blockIdx.x * blockDim.y + threadIdx.x;",      "i = 1.f + blockIdx.x * blockDim.x + threadIdx.x;",
      "i = (int)blockIdx.x * blockDim.x + threadIdx.x;", "i = (float)blockIdx.x * blockDim.x + threadIdx.x;",
      "i = -blockIdx.x * blockDim.x + threadIdx.x;"};
  for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) check_rewrite(kept[k], kept[k]);
}

TEST(finds_kernels_and_variables) {
  static const char text[] =
      "__constant__ float c[2] = {1, 2}; static __device__ int x, *y; __device__ int f(int);\n"
      "__device__ int g(int k) { __syncthreads(); return k; }\n"
      "__device__ int h(int k) { return g(k); }\n"
      "namespace n { extern \"C\" { template <class T> __global__ void a(T *p, int (&q)[3], int r = 2) { h(r); } } }\n"
      "__global__ void b(const float *g) { g[0] = 1; }\n"
      "__global__ __launch_bounds__(128) void b(int) {}\n";
  tt_cudac_scan s;
  CHECK(tt__cudac_scan(&s, text, sizeof text - 1, NULL) == TT_OK);
  CHECK_INT(s.kernel.n, 3);
  CHECK(strcmp(s.kernel.data[0].name, "n::a") == 0);
  CHECK(s.kernel.data[0].is_template && s.kernel.data[0].sync);
  CHECK(strcmp(s.kernel.data[1].name, "b") == 0);
  CHECK(strcmp(s.kernel.data[1].params, "g") == 0);
  CHECK(s.kernel.data[1].is_overloaded && s.kernel.data[2].is_overloaded);
  CHECK_INT(s.kernel.data[2].most_threads, 128);
  CHECK_INT(s.global.n, 3);
  CHECK(strcmp(s.global.data[0].name, "c") == 0 && strcmp(s.global.data[2].name, "y") == 0);
  CHECK(tt__cudac_expression_waits(&s, "n::a<float>"));
  CHECK(!tt__cudac_expression_waits(&s, "unknown<float>"));
  tt__cudac_scan_free(&s);
}

static void scan_any(const char *text, size_t len) {
  tt_cudac_scan s;
  tt_str out = {0};
  CHECK(tt__cudac_scan(&s, text, len, NULL) == TT_OK);
  tt__cudac_rewrite(&s, false, &out);
  (void)tt__cudac_expression_waits(&s, "f<a, b>");
  tt__str_free(&out);
  tt__cudac_scan_free(&s);
}

TEST(survives_any_text) {
  static const char *const piece[] = {"__global__",
                                      "void",
                                      "f",
                                      "(",
                                      ")",
                                      "{",
                                      "}",
                                      ";",
                                      "extern",
                                      "__shared__",
                                      "float",
                                      "x",
                                      "[",
                                      "]",
                                      "<",
                                      ">",
                                      "template",
                                      "namespace",
                                      "a",
                                      "::",
                                      "\"",
                                      "'",
                                      "/*",
                                      "*/",
                                      "//",
                                      "\n",
                                      "#define",
                                      "#",
                                      "R\"(",
                                      ")\"",
                                      "\\",
                                      "=",
                                      ",",
                                      "\x80",
                                      "blockIdx.x",
                                      "*",
                                      "+",
                                      "blockDim.x",
                                      "threadIdx.x",
                                      "operator",
                                      "struct",
                                      "0x1'0",
                                      "R",
                                      "static",
                                      "__align__(8",
                                      "__align__",
                                      "__launch_bounds__",
                                      "__device__",
                                      "__syncthreads",
                                      "&"};
  unsigned seed = 1;
  for (int run = 0; run < 20000; run++) {
    char text[512];
    size_t n = 0;
    for (int k = 0; k < 24; k++) {
      seed = seed * 1664525u + 1013904223u;
      const char *p = piece[(seed >> 8) % (sizeof piece / sizeof *piece)];
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", p, seed >> 31 ? " " : "");
    }
    char *exact = malloc(n); /* so that a sanitizer sees a read behind the end */
    memcpy(exact, text, n);
    for (size_t cut = n; cut > n - n / 4; cut--) scan_any(exact, run % 50 ? n : cut);
    free(exact);
  }
}

TEST_MAIN()
