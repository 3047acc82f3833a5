/* The language's row for lang/cuda_c/cudac.c, and its options. */
#include "lang/opencl_c/opencl.h"

#include <string.h>

#include "lang/opencl_c/log.h"
#include "lang/opencl_c/translate.h"

extern const char tt__opencl_prelude[] TT_HIDDEN; /* embedded: CMakeLists.txt has its parts */

/* TRANSLATION: raise it when the same text becomes another program. */
enum { TRANSLATION_OF_OPENCL = 1 };

static const char SINGLE[] = "-cl-single-precision-constant";

static bool has_flag(const tt_cudac_options *o, const char *flag) {
  for (int k = 0; k < o->nflag; k++)
    if (strcmp(o->flag[k], flag) == 0) return true;
  return false;
}

static tt_code translate_words(const char *text, size_t len, const tt_cudac_options *o, tt_str *out, tt_error *err) {
  const tt_opencl_how how = {
      .file = o->file && o->file[0] ? o->file : "kernel.cl", .offset = o->offset, .single = has_flag(o, SINGLE)};
  return tt__opencl_translate(text, len, &how, out, err);
}

static const char *const opencl_defines[] = {"-DTT_OPENCL=1", NULL};

const tt_cudac_language tt__opencl_language = {.name = "OpenCL C",
                                               .file = "kernel.cl",
                                               .prelude = tt__opencl_prelude,
                                               .define = opencl_defines,
                                               .version = TRANSLATION_OF_OPENCL,
                                               .translate = translate_words,
                                               .mend = tt__opencl_mend_log};

/* ---- options */

/* The next one of `options`: words end at white space, but not between quotes. False: there is none. */
static bool next_option(const char **options, tt_str *out) {
  const char *p = *options;
  char quote = 0;
  while (*p == ' ' || *p == '\t' || *p == '\n') p++;
  if (!*p) return false;
  for (; *p && (quote || (*p != ' ' && *p != '\t' && *p != '\n')); p++) {
    if (quote ? *p == quote : *p == '"' || *p == '\'')
      quote = quote ? 0 : *p;
    else
      tt__str_add_n(out, *p == '\\' && (p[1] == '"' || p[1] == '\\') ? ++p : p, 1);
  }
  *options = p;
  return true;
}

/* What an option becomes: itself, another text, "" (it says nothing here), NULL (there is none such). */
static const char *meaning(const char *option) {
  static const char *const nothing[] = {"-cl-mad-enable",
                                        "-cl-opt-disable",
                                        "-cl-no-signed-zeros",
                                        "-cl-denorms-are-zero",
                                        "-cl-finite-math-only",
                                        "-cl-fp32-correctly-rounded-divide-sqrt",
                                        "-cl-uniform-work-group-size",
                                        "-cl-no-subgroup-ifp",
                                        "-cl-kernel-arg-info",
                                        "-cl-strict-aliasing",
                                        "-w",
                                        "-Werror",
                                        "-g",
                                        "-s",
                                        NULL};
  static const char *const fast[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations", NULL};
  for (const char *const *n = nothing; *n; n++)
    if (strcmp(option, *n) == 0) return "";
  for (const char *const *f = fast; *f; f++)
    if (strcmp(option, *f) == 0) return strcmp(option, fast[0]) == 0 ? "-D__FAST_RELAXED_MATH__=1" : "";
  if (strcmp(option, SINGLE) == 0 || option[0] == 0) return option;
  if (strncmp(option, "-cl-std=CL", 10) == 0) return "";
  bool known = strncmp(option, "-D", 2) == 0 || strncmp(option, "-I", 2) == 0 || strncmp(option, "-U", 2) == 0;
  return known ? option : NULL;
}

tt_code tt__opencl_flags(const char *options, tt_str *out, int *n, tt_error *err) {
  *n = 0;
  tt_str one = {0};
  tt_code code = TT_OK;
  while (code == TT_OK && options && next_option(&options, &one)) {
    const char *text = one.data ? one.data : "", *flag = meaning(text);
    bool follows = strcmp(text, "-D") == 0 || strcmp(text, "-I") == 0;
    if (!flag) code = tt__fail(err, TT_EVALUE, "OpenCL C has no build option '%.100s'", text);
    if (flag && flag[0]) {
      tt__str_add(out, flag);
      if (!follows) {
        tt__str_add_n(out, "", 1);
        ++*n;
      } else if (next_option(&options, (tt__str_clear(&one), &one))) { /* "-D NAME" is "-DNAME" */
        tt__str_add(out, one.data ? one.data : "");
        tt__str_add_n(out, "", 1);
        ++*n;
      } else {
        code = tt__fail(err, TT_EVALUE, "the build option '%s' needs a name behind it", flag);
      }
    }
    tt__str_clear(&one);
  }
  if (code == TT_OK && (out->failed || one.failed)) code = tt__fail_memory(err, out->len);
  tt__str_free(&one);
  return code;
}
