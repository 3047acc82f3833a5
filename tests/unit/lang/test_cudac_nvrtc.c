/* CUDA C programs as they go to NVIDIA's compiler: they compile for the chips of the day, and their symbols come
 * back. */
#define TEST_KEEPS_MEMORY
#include "device/cuda/nvrtc.h"
#include "ir/device.h"
#include "lang/cuda_c/device.h"
#include "test.h"

static bool has_nvrtc(void) {
  tt_str id = {0};
  tt__nvrtc_identity(90, 0, &id);
  bool has = id.len > 0;
  tt__str_free(&id);
  if (!has) printf("no NVRTC here\n");
  return has;
}

static const char *const flags[] = {"-DN=4", "-arch=sm_80", "--use_fast_math", "-DTEXT=(1 + 2)"};
static const char *const expressions[] = {"scale<float, 3>", "scale<double>"};
static const tt_cudac_options options = {.flag = flags, .nflag = 4, .expression = expressions, .nexpression = 2};

static const char text[] =
    "#include <cuda_runtime.h>\n"
    "#include <stdio.h>\n"
    "#include <cuda_fp16.h>\n"
    "#include <math.h>\n"
    "struct P { int n; double f; };\n"
    "__constant__ float coef[N]; static __device__ int counter; namespace s { __device__ int inner; }\n"
    "extern \"C\" __global__ void add(float *c, const float *a, const float *b, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) c[i] = a[i] + b[i] * coef[0] + float(M_PI) * TEXT;\n"
    "  assert(n > 0);\n"
    "  printf(\"%d\\n\", i);\n"
    "}\n"
    "template <class T, int K = 1> __global__ void scale(T *a, T f) { a[threadIdx.x] *= f * K; }\n"
    "namespace s { __global__ void in(P p, __half h, const complex<float> *z, int64_t *o) {\n"
    "  extern __shared__ int x[]; x[0] = p.n; __syncthreads(); o[0] = x[0] + (int)abs(z[0]) + (float)h; } }\n"
    "#if 0\n__global__ void never(Q *q) {}\n#endif\n"
    "#ifdef MISSING\n__global__ void perhaps(Q *q) {}\n#endif\n";

static bool compile(int arch, const tt_cudac_device_text *t, tt_str *binary, bool quiet) {
  tt_error err = {0};
  tt_code c = tt__nvrtc_compile(arch, 0, t->text.data, t->options.data, binary, &err);
  if (c != TT_OK && !quiet) printf("%s\n", err.message);
  return c == TT_OK;
}

TEST(programs_compile) {
  static const int archs[] = {80, 90, 100};
  if (!has_nvrtc()) return;
  tt_cudac_device_text t;
  CHECK(tt__cudac_device_text(text, &options, false, &t, NULL) == TT_OK);
  CHECK_INT(t.nentry, 4);
  CHECK_INT(t.nvariable, 3);
  for (int k = 0; k < 3; k++) {
    tt_str binary = {0};
    CHECK(compile(archs[k], &t, &binary, false));
    CHECK(binary.len > 16 && memcmp(binary.data + binary.len - 8, TT_NVRTC_MARK, 8) == 0);
    uint64_t size;
    memcpy(&size, binary.data + binary.len - 16, 8);
    char *lines = binary.data + binary.len - 16 - size;
    lines[size] = 0;
    static const char want[] =
        "add\n_ZN1s2inE1P6__halfPK7complexIfEPl\n_Z5scaleIfLi3EEvPT_S0_\n_Z5scaleIdLi1EEvPT_S0_\ncoef\n";
    if (strncmp(lines, want, sizeof want - 1) != 0) printf("%s\n", lines);
    CHECK(strncmp(lines, want, sizeof want - 1) == 0);
    tt__str_free(&binary);
  }
  tt__cudac_device_free(&t);
}

/* Types that only the names of instances mention are there all the same. */
TEST(instances_bring_their_types) {
  static const char *const names[] = {"twice<complex<double>>", "twice<half>"};
  static const tt_cudac_options o = {.expression = names, .nexpression = 2};
  if (!has_nvrtc()) return;
  tt_cudac_device_text t;
  tt_str binary = {0};
  CHECK(tt__cudac_device_text("template <class T> __global__ void twice(T *x) { x[0] = x[0] + x[0]; }", &o, false, &t,
                              NULL) == TT_OK);
  CHECK_INT(t.nentry, 2);
  CHECK(compile(90, &t, &binary, false));
  tt__cudac_device_free(&t);
  tt__str_free(&binary);
}

TEST(kernels_under_conditions_are_a_guess) {
  if (!has_nvrtc()) return;
  tt_cudac_device_text t;
  tt_str binary = {0};
  CHECK(tt__cudac_device_text(text, &options, true, &t, NULL) == TT_OK);
  CHECK(t.is_unsure);
  CHECK_INT(t.nentry, 5);
  CHECK(!compile(90, &t, &binary, true));
  tt__cudac_device_free(&t);
  tt__str_free(&binary);
}

TEST(errors_show_the_users_line) {
  static const tt_cudac_options plain = {.file = "mine.cu"};
  if (!has_nvrtc()) return;
  tt_cudac_device_text t;
  tt_str binary = {0};
  tt_error err = {0};
  CHECK(tt__cudac_device_text("#include <cstdio>\n__global__ void f(int *a) {\n  a[0] = nothing;\n}\n", &plain, true,
                              &t, NULL) == TT_OK);
  CHECK(tt__nvrtc_compile(90, 0, t.text.data, t.options.data, &binary, &err) == TT_EDEVICE);
  CHECK(strstr(err.message, "mine.cu(3): error: identifier \"nothing\" is undefined"));
  tt__cudac_device_free(&t);
  tt__str_free(&binary);
}

TEST_MAIN()
