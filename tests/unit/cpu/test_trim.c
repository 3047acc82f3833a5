/*
** Headers less what a source cannot reach: what is kept and dropped in small ones; and that the real headers, trimmed
** for one function at a time, still hold all that it needs.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "base/os/os.h"
#include "device/cpu/cc.h"
#include "ir/user/program.h"
#include "render/proc/proc.h"
#include "render/render.h"
#include "render/trim.h"

static void check(const char *header, const char *source, const char *want) {
  tt_str got = {0};
  tt__trim(header, source, &got);
  const char *text = got.data ? got.data : "";
  CHECK(!got.failed);
  CHECK(strcmp(text, want) == 0);
  if (strcmp(text, want) != 0) fprintf(stderr, "got:\n%s\nwant:\n%s\n", text, want);
  tt__str_free(&got);
}

TEST(keeps_what_is_named_and_what_that_names) {
  const char *header =
      "static int a(void) { return 1; }\n"
      "static int b(void) { return a(); }\n"
      "static int c(void) { return b(); }\n"
      "static const int t[] = {1, 2};\n"
      "static int u(int k) { return t[k]; }\n";
  check(header, "", "");
  check(header, "int x = a;", "static int a(void) { return 1; }\n");
  check(header, "b", "static int a(void) { return 1; }\nstatic int b(void) { return a(); }\n");
  check(header, "u", "static const int t[] = {1, 2};\nstatic int u(int k) { return t[k]; }\n");
  check(header, "ab \"a\" 'a' 0xa", "");
}

TEST(apostrophes_of_comments_are_no_quotes) {
  const char *header = "static int a(void) { return 1; }\n";
  check(header, "/* the block's */ int x = a(); /* its neighbours' */", header);
  check(header, "// the block's\nint x = a(); // its neighbours'\n", header);
  check(header, "/* a */ int x; // a\n", "");
}

TEST(qualifiers_with_brackets_are_no_names) {
  const char *header = "extern SHARED ALIGNED(16) char room[];\nint f(void) __attribute__((pure));\n";
  check(header, "char *p = room;", "extern SHARED ALIGNED(16) char room[];\n");
  check(header, "int x = f();", "int f(void) __attribute__((pure));\n");
  check(header, "int x;", "");
}

TEST(keeps_types_by_tag_name_and_constant) {
  check("typedef struct s { int a; } t;\ntypedef int u;", "struct s x;", "typedef struct s { int a; } t;\n");
  check("typedef struct s { int a; } t;\ntypedef int u;", "t x;", "typedef struct s { int a; } t;\n");
  check("enum { A = 1, B };\ntypedef int u;", "B", "enum { A = 1, B };\n");
  check("struct s;\nstruct s { u v; };\ntypedef int u;", "struct s x;",
        "struct s;\nstruct s { u v; };\ntypedef int u;\n");
  check("typedef int (*f)(u);\ntypedef int u;", "u",
        "typedef int (*f)(u);\ntypedef int u;\n"); /* no name found: stays */
}

TEST(writes_out_rows_of_functions) {
  const char *header =
      "#define F(S, T) static T neg_##S(T x) { return -x; } static T abs_ ## S(T x) { return N(x); }\n"
      "#define N(x) (x)\n"
      "F(i, int) F(f,\n  float)\n";
  check(header, "", "");
  check(header, "neg_f", "static float neg_f(float x) { return -x; }\n");
  check(header, "abs_i", "#define N(x) (x)\nstatic int abs_i(int x) { return N(x); }\n");
}

TEST(rows_may_hold_rows) {
  const char *header =
      "#define G(S) static int g_##S(void) { return 0; }\n"
      "#define F(S) G(S) G(S##2) static int f_##S(void) { return g_##S(); }\n"
      "F(a)\n";
  check(header, "g_a2", "static int g_a2(void) { return 0; }\n");
  check(header, "f_a", "static int g_a(void) { return 0; }\nstatic int f_a(void) { return g_a(); }\n");
}

TEST(conditions_stay_with_what_they_ask_for) {
  const char *header =
      "#ifdef FAST\n#define ON\n#else\n#define OFF\n#endif\n"
      "#ifndef ON\nstatic int a(void) { return 1; }\n#else\nstatic int a(void) { return 2; }\n#endif\n";
  check(header, "", "#ifdef FAST\n#define ON\n#else\n#endif\n#ifndef ON\n#else\n#endif\n");
  check(header, "a",
        "#ifdef FAST\n#define ON\n#else\n#endif\n#ifndef ON\nstatic int a(void) { return 1; }\n#else\n"
        "static int a(void) { return 2; }\n#endif\n");
}

/* Which F is meant only the compiler knows: the row stays as it is, with both. */
TEST(rows_of_a_macro_under_a_condition_stay) {
  const char *header = "#ifdef FAST\n#define F(S) int S;\n#else\n#define F(S) long S;\n#endif\nF(a)\n";
  check(header, "", "#ifdef FAST\n#define F(S) int S;\n#else\n#define F(S) long S;\n#endif\nF(a)\n");
}

TEST(comments_and_continued_lines_go) {
  check("/* a */ static int b; // c\n#define D(x) \\\n  x + \\\n  1\n", "D b",
        "static int b;\n#define D(x)    x +    1\n");
}

TEST(nonsense_ends) {
  const char *odd[] = {"(", "{ a", "static int f(", "#define",           "#", "#if",    "\"",
                       "'", "/*",  "F(a",           "#define F(a\nF(b)", "}", "a }}) ;"};
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    tt_str got = {0};
    tt__trim(odd[k], "a F f", &got);
    CHECK(!got.failed);
    tt__str_free(&got);
  }
}

/* ---- the real headers */

static bool run(const char *flags, const char *in, const char *out) {
  char told[2048];
  tt_cc_info info = tt__cc_info();
  const char *argv[] = {"/bin/sh", "-c", told, NULL};
  int status = 1;
  tt_str said = {0};
  snprintf(told, sizeof told, "%s -march=native -std=gnu11 %s -x c %s -o %s", info.path, flags, in, out);
  bool ok = tt__spawn(argv, 60, &status, &said, NULL) == TT_OK && status == 0;
  if (!ok) fprintf(stderr, "%s\n", said.data ? said.data : told);
  tt__str_free(&said);
  return ok;
}

/* The name of the next function or table after "static". */
static const char *next_name(const char *s, char name[64]) {
  while ((s = strstr(s, "static ")) != NULL) {
    s += 7;
    const char *end = s;
    size_t n = 0;
    for (int depth = 0; *end && *end != ';' && *end != '{' && *end != '='; end++) {
      bool letter =
          (*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z') || *end == '_' || (*end >= '0' && *end <= '9');
      if (depth == 0 && (*end == '(' || *end == '[') && n && strncmp(end - n, "__attribute__", n) != 0) break;
      depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
      n = letter ? n + 1 : 0;
    }
    if (n == 0 || n >= 64) continue;
    memcpy(name, end - n, n);
    name[n] = 0;
    return end;
  }
  return NULL;
}

/* Each `step`th function of `header`, alone in a source. */
static void check_functions(const char *header, int step, int least) {
  char c_path[512], out_path[512], name[64];
  tt_str all = {0};
  snprintf(c_path, sizeof c_path, "%s/trim.c", tt__dir_scratch());
  snprintf(out_path, sizeof out_path, "%s/trim.i", tt__dir_scratch());
  CHECK_INT(tt__file_write(c_path, header, strlen(header), NULL), TT_OK);
  CHECK(run("-E -P", c_path, out_path));
  CHECK_INT(tt__file_read(out_path, &all, NULL), TT_OK);
  int n = 0, bad = 0;
  for (const char *s = all.data; s && (s = next_name(s, name)) != NULL; n++) {
    if (n % step) continue;
    tt_str one = {0};
    tt__trim(header, name, &one);
    tt__str_addf(&one, "const void *tt_test(void) { return (const void *)%s; }\n", name);
    CHECK_INT(tt__file_write(c_path, one.data, one.len, NULL), TT_OK);
    bool ok = run("-fsyntax-only -Werror=implicit-function-declaration", c_path, "/dev/null");
    if (!ok) fprintf(stderr, "trimmed for %s\n", name), bad++;
    tt__str_free(&one);
  }
  CHECK_INT(bad, 0);
  CHECK(n >= least);
  unlink(c_path);
  unlink(out_path);
  tt__str_free(&all);
}

TEST(functions_of_kernels_keep_what_they_need) {
  tt_str header = {0};
  if (!tt__cc_usable()) return;
  tt__render_header(&tt__dialect_c, TT_SCALAR_MATH, &header);
  check_functions(header.data, 37, 500);
  tt__str_free(&header);
}

TEST(functions_of_programs_keep_what_they_need) {
  tt_str header = {0};
  tt_proc p = {.scalar = TT_SCALAR_MATH};
  if (!tt__cc_usable()) return;
  tt__program_header(&p, TT_PROGRAM_C, &header);
  check_functions(header.data, 37, 800);
  tt__str_free(&header);
}

TEST_MAIN()
