/* C expressions as formulas: what they become, what is refused, and that no text breaks the reader. */
#include "lang/expr/expr.h"
#include "test.h"

static const tt_formula_param xyz[] = {{.name = "x", .dtype = TT_F32},
                                       {.name = "k", .dtype = TT_I32},
                                       {.name = "r", .dtype = TT_F32, .is_raw = true},
                                       {.name = "z", .dtype = TT_F32, .is_out = true}};

static tt_code read_text(const char *text, const char *preamble, tt_str *out, tt_error *err) {
  static const tt_cx_alias alias[] = {{"T", TT_F32}};
  tt_cx_source s = {
      .text = text, .preamble = preamble, .file = "f.cu", .param = xyz, .nparam = 4, .alias = alias, .nalias = 1};
  tt_formula f;
  tt_code c = tt__cx_statements(&s, &f, err);
  if (c != TT_OK) {
    CHECK_INT(f.step.n, 0);
    return c;
  }
  CHECK(tt__formula_ok(&f, xyz, 4));
  if (out) tt__formula_print(&f, xyz, out);
  tt__formula_free(&f);
  return c;
}

static void check_text(const char *text, const char *preamble, const char *want) {
  tt_str out = {0};
  tt_error err = {0};
  CHECK_INT(read_text(text, preamble, &out, &err), TT_OK);
  if (err.code) printf("%s\n", err.message);
  CHECK_STR(out.data ? out.data : "", want);
  tt__str_free(&out);
}

static void check_refused(const char *text, tt_code code, const char *part) {
  tt_error err = {0};
  CHECK_INT(read_text(text, NULL, NULL, &err), code);
  if (!strstr(err.message, part)) printf("%s\n  %s\n", text, err.message);
  CHECK(strstr(err.message, part) != NULL);
}

TEST(arithmetic_has_the_types_of_c) {
  check_text("z = x * 2", NULL, "%0 = ELEMENT f32 x\n%1 = CONST i32 2\n%2 = CAST f32 %1\n%3 = MUL f32 %0 %2\nz = %3\n");
  check_text("z = x * 2.0", NULL,
             "%0 = ELEMENT f32 x\n%1 = CONST f64 2\n%2 = CAST f64 %0\n%3 = MUL f64 %2 %1\n%4 = CAST f32 %3\nz = %4\n");
  check_text("z = k / 3", NULL,
             "%0 = ELEMENT i32 k\n%1 = CONST i32 3\n%2 = QUOTIENT i32 %0 %1\n%3 = CAST f32 %2\nz = %3\n");
  check_text("z = k > 0u", NULL,
             "%0 = ELEMENT i32 k\n%1 = CONST u32 0\n%2 = CAST u32 %0\n%3 = GT b8 %2 %1\n%4 = CAST f32 %3\nz = %4\n");
  check_text("z = sqrtf(k)", NULL, "%0 = ELEMENT i32 k\n%1 = CAST f32 %0\n%2 = SQRT f32 %1\nz = %2\n");
  check_text("z = T(x)", NULL, "%0 = ELEMENT f32 x\nz = %0\n");
}

TEST(numbers_have_the_types_of_c) {
  check_text("z = 1e1f", NULL, "%0 = CONST f32 10\nz = %0\n");
  check_text("z = 0x10", NULL, "%0 = CONST i32 16\n%1 = CAST f32 %0\nz = %1\n");
  check_text("z = 010", NULL, "%0 = CONST i32 8\n%1 = CAST f32 %0\nz = %1\n");
  check_text("z = 0xffffffff", NULL, "%0 = CONST u32 4294967295\n%1 = CAST f32 %0\nz = %1\n");
  check_text("z = 4294967295", NULL, "%0 = CONST i64 4294967295\n%1 = CAST f32 %0\nz = %1\n");
  check_text("z = 1'0ull", NULL, "%0 = CONST u64 10\n%1 = CAST f32 %0\nz = %1\n");
  check_refused("z = 1f", TT_EVALUE, "unable to find numeric literal operator 'operator\"\"f'");
  check_refused("z = 1.0q", TT_EVALUE, "numeric literal");
}

TEST(conditions_are_selects) {
  check_text("if (k) z = 1.f; else z = x", NULL,
             "%0 = ELEMENT i32 k\n%1 = CAST b8 %0\n%2 = CONST f32 1\n%3 = ELEMENT f32 x\n%4 = WHERE f32 %1 %2 %3\n"
             "z = %4\n");
  check_text("z = x; if (k) { float t = x + z; z = t; }", NULL,
             "%0 = ELEMENT f32 x\n%1 = ELEMENT i32 k\n%2 = CAST b8 %1\n%3 = ADD f32 %0 %0\n%4 = WHERE f32 %2 %3 %0\n"
             "z = %4\n");
  check_text("if (k) return; z = x", NULL,
             "%0 = ELEMENT i32 k\n%1 = CAST b8 %0\n%2 = ELEMENT f32 x\n%3 = ELEMENT f32 z\n%4 = WHERE f32 %1 %3 %2\n"
             "z = %4\n");
}

TEST(arrays_are_read_by_index) {
  check_text("z = r[i + 1]", NULL,
             "%0 = INDEX i64\n%1 = CONST i32 1\n%2 = CAST i64 %1\n%3 = ADD i64 %0 %2\n%4 = LOAD f32 r %3\nz = %4\n");
  check_text("z = i > 0 ? r[i] : r.shape()[1]", NULL,
             "%0 = INDEX i64\n%1 = CONST i32 0\n%2 = CAST i64 %1\n%3 = GT b8 %0 %2\n%4 = LOAD f32 r %0 guarded\n"
             "%5 = LEN i64 r 1\n%6 = CAST f32 %5\n%7 = WHERE f32 %3 %4 %6\nz = %7\n");
  check_refused("z = r[x]", TT_EVALUE, "invalid types 'float' for array subscript");
  check_refused("r[i] = x", TT_EVALUE, "assignment of read-only variable 'r'");
  check_refused("z = *r", TT_ENOTIMPL, "line 1: '*' in an expression");
}

TEST(functions_are_read_where_they_are_called) {
  check_text("z = half_of(x)", "__device__ float half_of(const float &v) { return v / 2; }",
             "%0 = ELEMENT f32 x\n%1 = CONST i32 2\n%2 = CAST f32 %1\n%3 = DIV f32 %0 %2\nz = %3\n");
  check_text(
      "z = size_of(x)", "template <typename U> U size_of(U v) { if (v < 0) return -v; v += 1; return v; }",
      "%0 = ELEMENT f32 x\n%1 = CONST i32 0\n%2 = CAST f32 %1\n%3 = LT b8 %0 %2\n%4 = NEG f32 %0\n%5 = CONST i32 1\n"
      "%6 = CAST f32 %5\n%7 = ADD f32 %0 %6\n%8 = WHERE f32 %3 %4 %7\nz = %8\n");
  check_text("z = twice(k)", "#define TWO 2.f\ntypedef float real;\nreal twice(real v) { return v * TWO; }",
             "%0 = ELEMENT i32 k\n%1 = CAST f32 %0\n%2 = CONST f32 2\n%3 = MUL f32 %1 %2\nz = %3\n");
  tt_error err;
  CHECK_INT(read_text("z = f(x)", "float f(float x) { return f(x); }", NULL, &err), TT_ENOTIMPL);
  CHECK_INT(read_text("z = f(x, x)", "float f(float x) { return x; }", NULL, &err), TT_EVALUE);
  CHECK_INT(read_text("z = f(x)", "float f(float y) { return x; }", NULL, &err), TT_EVALUE); /* another function's x */
  CHECK(strstr(err.message, "f.cu (preamble):1:27: error: 'x' was not declared") != NULL);
}

TEST(errors_show_the_line) {
  tt_error err = {0};
  CHECK_INT(read_text("float t = x;\n  z = t + nothing;", NULL, NULL, &err), TT_EVALUE);
  CHECK_STR(
      err.message,
      "f.cu:2:11: error: 'nothing' was not declared in this scope\n    2 |   z = t + nothing;\n      |           ^");
  check_refused("z = x +;", TT_EVALUE, "expected primary-expression before ';' token");
  check_refused("z = (x", TT_EVALUE, "expected ')' at end of input");
  check_refused("z = x y", TT_EVALUE, "expected ';' before 'y'");
  check_refused("x = z", TT_EVALUE, "assignment of read-only variable 'x'");
  check_refused("z = x % k", TT_EVALUE, "invalid operands of types 'float' and 'int' to binary 'operator%'");
  check_refused("z = ~x", TT_EVALUE, "wrong type argument to bit-complement");
  check_refused("z = sin(x, x)", TT_EVALUE, "too many arguments to function 'sin'");
}

TEST(what_is_for_a_compiler) {
  check_refused("for (int j = 0; j < 3; j++) z += j", TT_ENOTIMPL, "'for' is not straight-line code");
  check_refused("z = threadIdx.x", TT_ENOTIMPL, "the name 'threadIdx' is not known");
  check_refused("z = nearbyintl(x)", TT_ENOTIMPL, "the function 'nearbyintl' is not known");
  check_refused("float4 v; z = x", TT_ENOTIMPL, "the name 'float4' is not known");
  check_refused("float v[2]; z = x", TT_ENOTIMPL, "an array or object is declared");
  check_refused("z = x; /*\n*/ __syncthreads();", TT_ENOTIMPL, "line 2: the function '__syncthreads' is not known");
  check_refused("#ifdef A\nz = x;\n#endif", TT_ENOTIMPL, "a directive of the preprocessor");
}

TEST(reductions_are_recognised) {
  static const struct {
    const char *text;
    tt_cx_fold want;
  } row[] = {{"a + b", TT_CX_FOLD_SUM},
             {"b+a", TT_CX_FOLD_SUM},
             {"((a) + (b))", TT_CX_FOLD_SUM},
             {"a * b", TT_CX_FOLD_PROD},
             {"max(a, b)", TT_CX_FOLD_FMAX},
             {"fminf(b, a)", TT_CX_FOLD_FMIN},
             {"a > b ? a : b", TT_CX_FOLD_MAX},
             {"(a < b) ? b : a", TT_CX_FOLD_MAX},
             {"b <= a ? b : a", TT_CX_FOLD_MIN},
             {"a >= b ? b : a", TT_CX_FOLD_MIN},
             {"a && b", TT_CX_FOLD_ALL},
             {"b || a", TT_CX_FOLD_ANY},
             {"a + a", TT_CX_FOLD_NONE},
             {"a + b + 1", TT_CX_FOLD_NONE},
             {"a - b", TT_CX_FOLD_NONE},
             {"f(a, b)", TT_CX_FOLD_NONE},
             {"(a + b) * b", TT_CX_FOLD_NONE},
             {"a > b ? a : a", TT_CX_FOLD_NONE},
             {"", TT_CX_FOLD_NONE},
             {"(((", TT_CX_FOLD_NONE}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    if (tt__cx_fold(row[k].text) != row[k].want) printf("%s\n", row[k].text);
    CHECK_INT(tt__cx_fold(row[k].text), row[k].want);
  }
}

TEST(deep_and_long_texts_end) {
  char *text = malloc(200010);
  static const char *const unit[] = {"(", "-", "!", "{", "if(k)", "x?", "z=", "sin(", "z+=x;", "(int)", "/*", "a("};
  for (size_t k = 0; k < sizeof unit / sizeof *unit; k++) {
    size_t n = strlen(unit[k]), at = 0;
    memcpy(text, "z=", 2);
    for (at = 2; at + n < 200000; at += n) memcpy(text + at, unit[k], n);
    text[at] = 0;
    tt_error err;
    tt_code c = read_text(text, NULL, NULL, &err);
    CHECK(c == TT_ENOTIMPL || c == TT_EVALUE);
  }
  free(text);
  tt_str chain = {0}; /* each function calls the one before it twice */
  tt__str_add(&chain, "float f0(float x) { return x + 1; }\n");
  for (int k = 1; k < 40; k++)
    tt__str_addf(&chain, "float f%d(float x) { return f%d(x) * f%d(x + %d); }\n", k, k - 1, k - 1, k);
  tt_error err;
  CHECK_INT(read_text("z = f39(x)", chain.data, NULL, &err), TT_ENOTIMPL);
  tt__str_free(&chain);
}

/* Damaged texts: an answer, never a crash. */
TEST(damaged_texts) {
  static const char text[] =
      "#define N 3\nfloat t = x * N, u = sqrt(t) + r[i - 1]; if (k > 0 && t < 2.5e1f) { u += (int)t % 7; return; } "
      "else "
      "u = max(u, x ? 1 : -x); z = u << 1; z = (float)(k << 2) / r.size(); auto q = {x}; k++; z -= twice(u);";
  static const char preamble[] =
      "template <class U> __device__ U twice(const U &v) { return v + v; }\nconst float c = 2; typedef int num;";
  uint64_t seed = 1;
  char bad[2][sizeof text + sizeof preamble + 64];
  for (int round = 0; round < 20000; round++) {
    strcpy(bad[0], text);
    strcpy(bad[1], preamble);
    for (int j = 0; j < 1 + round % 3; j++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      char *b = bad[(seed >> 20) & 1];
      size_t n = strlen(b), at = (seed >> 33) % (n + 1), len = (seed >> 24) % 9;
      if (seed >> 62 == 0 && at < n)
        b[at] = (char)(1 + (seed >> 40) % 255);
      else if (seed >> 62 == 1 && at + len < n)
        memmove(b + at, b + at + len, n - at - len + 1);
      else if (at + len < n && n + len < sizeof bad[0] - 64)
        memmove(b + at + len, b + at, n - at + 1);
    }
    tt_error err;
    read_text(bad[0], bad[1], NULL, &err);
    tt__cx_fold(bad[0]);
  }
}

TEST_MAIN()
