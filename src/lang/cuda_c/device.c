/*
** Text for NVIDIA's run-time compiler. No preprocessor runs here, so kernels that stand under #if are a guess.
*/
#include "lang/cuda_c/device.h"

#include <string.h>

#include "ir/device.h"
#include "lang/cuda_c/scan.h"
#include "scalar/texts.h"
#include "tutti/types.h"

extern const char tt__cuda_device_head[] TT_HIDDEN, tt__cuda_complex[] TT_HIDDEN,
    tt__cuda_groups[] TT_HIDDEN; /* embedded */

/* Headers whose names the head stands for; "" where it does not. */
static const char *const dropped[] = {
#define TT_CUDAC_HEADER(name, head) head ? name : "",
#define TT_CUDAC_REFUSED(name)
#include "lang/cuda_c/headers.def"
#undef TT_CUDAC_REFUSED
#undef TT_CUDAC_HEADER
};

static bool is_dropped(const char *line, size_t len) {
  size_t at = 0;
  while (at < len && (line[at] == ' ' || line[at] == '\t')) at++;
  if (at >= len || line[at++] != '#') return false;
  while (at < len && (line[at] == ' ' || line[at] == '\t')) at++;
  if (len - at < 8 || strncmp(line + at, "include", 7) != 0) return false;
  for (at += 7; at < len && (line[at] == ' ' || line[at] == '\t'); at++) continue;
  if (at >= len || (line[at] != '<' && line[at] != '"')) return false;
  const char *name = line + at + 1, *end = line + len;
  size_t n = 0;
  while (name + n < end && name[n] != '>' && name[n] != '"') n++;
  for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++)
    if (n > 0 && strlen(dropped[k]) == n && strncmp(dropped[k], name, n) == 0) return true;
  return false;
}

static void add_source(const char *source, tt_str *out) {
  while (*source) {
    size_t len = strcspn(source, "\n");
    if (!is_dropped(source, len)) tt__str_add_n(out, source, len);
    tt__str_add(out, "\n");
    source += len;
    if (*source) source++;
  }
}

/* ---- options */

static void add_option(tt_str *out, const char *word) { tt__str_addf(out, "\"%s\" ", word); }

/* What nvcc knows and the run-time compiler does not, or what is ours to say. */
static bool is_foreign(const char *f) {
  static const char *const starts[] = {"-arch",  "--gpu-arch", "-code",  "-gencode",     "--gpu-code", "-O",
                                       "-Xcomp", "--compiler", "-ccbin", "-Xptxas",      "--ptxas",    "-m64",
                                       "-w",     "-D",         "-U",     "--generate-c", "-Wno"};
  for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
    if (strncmp(f, starts[k], strlen(starts[k])) == 0) return true;
  return f[0] != '-';
}

static void add_flags(const tt_cudac_options *o, tt_cudac_device_text *out) {
  bool has_std = false;
  for (int k = 0; k < o->nflag; k++) {
    const char *f = o->flag[k];
    bool define = strncmp(f, "-D", 2) == 0, undefine = strncmp(f, "-U", 2) == 0;
    if (define || undefine) {
      const char *name = f[2] ? f + 2 : k + 1 < o->nflag ? o->flag[++k] : "";
      size_t n = strcspn(name, "=");
      if (define)
        tt__str_addf(&out->text, "#define %.*s %s\n", (int)n, name, name[n] ? name + n + 1 : "1");
      else
        tt__str_addf(&out->text, "#undef %s\n", name);
      continue;
    }
    has_std |= strstr(f, "std=") != NULL;
    if (!is_foreign(f)) add_option(&out->options, f);
  }
  if (!has_std) add_option(&out->options, "--std=c++17");
}

/* ---- conditions */

/* How kernels stand to the #if lines before them: 0 free of any, 1 under one, 2 under "#if 0". */
static int condition_at(const tt_cudac_scan *s, int64_t word) {
  enum { DEEP = 64 };
  bool dead[DEEP];
  int depth = 0, worst = 0;
  for (int64_t k = 0; k < word; k++) {
    const tt_cudac_word *w = &s->word.data[k];
    if (w->kind != '#') continue;
    const char *line = s->text + w->at + 1, *end = s->text + w->at + w->len;
    while (line < end && *line == ' ') line++;
    size_t left = (size_t)(end - line);
    if (left >= 2 && strncmp(line, "if", 2) == 0) {
      if (depth < DEEP) dead[depth] = left >= 4 && strncmp(line, "if 0", 4) == 0;
      depth++;
    } else if (left >= 4 && strncmp(line, "else", 4) == 0) {
      if (depth > 0 && depth <= DEEP) dead[depth - 1] = false;
    } else if (left >= 5 && strncmp(line, "endif", 5) == 0) {
      depth -= depth > 0;
    }
  }
  for (int k = 0; k < depth && k < DEEP; k++) worst = dead[k] ? 2 : worst > 1 ? 2 : 1;
  return worst;
}

/* ---- entries */

static void add_entry(tt_cudac_device_text *out, const char *name, int waits, const char *params) {
  tt__str_addf(&out->text,
               "extern \"C\" __device__ tt_table<decltype(tt_the_kernel(&%s))>::type tt_types_%d = "
               "tt_table<decltype(tt_the_kernel(&%s))>::value;\n",
               name, out->nentry, name);
  tt__str_addf(&out->options, "\"" TT_NVRTC_NAME "(decltype(tt_the_kernel(&%s)))&%s\" ", name, name);
  tt__str_addf(&out->entries, "%s\t%d\t%s\n", name, waits, params);
  out->nentry++;
}

static void add_entries(tt_cudac_scan *s, const tt_cudac_options *o, bool conditional, tt_cudac_device_text *out) {
  for (int64_t k = 0; k < s->kernel.n; k++) {
    const tt_cudac_kernel *f = &s->kernel.data[k];
    int condition = condition_at(s, s->def.data[f->def].head);
    if (f->is_template || f->is_overloaded || condition == 2 || (condition == 1 && !conditional)) continue;
    out->is_unsure |= condition == 1;
    add_entry(out, f->name, f->sync + f->together, f->params);
  }
  for (int k = 0; k < o->nexpression; k++) {
    const char *params = "";
    size_t len = strcspn(o->expression[k], "< ");
    bool known = false;
    int waits = 0;
    for (int64_t i = 0; i < s->kernel.n; i++) {
      const tt_cudac_kernel *f = &s->kernel.data[i];
      if (strlen(f->name) != len || strncmp(f->name, o->expression[k], len) != 0) continue;
      params = f->params;
      if (f->sync + f->together > waits) waits = f->sync + f->together;
      known |= strcmp(f->name, o->expression[k]) == 0 && !f->is_template && !f->is_overloaded;
    }
    if (!known) add_entry(out, o->expression[k], waits, params);
  }
  for (int64_t k = 0; k < s->global.n; k++) {
    tt__str_addf(&out->options, "\"" TT_NVRTC_NAME "&%s\" ", s->global.data[k].name);
    tt__str_addf(&out->variables, "%s\n", s->global.data[k].name);
    out->nvariable++;
  }
}

/* In the source or in the name of an instance that was asked for. */
static bool says(const char *source, const tt_cudac_options *o, const char *word) {
  if (strstr(source, word)) return true;
  for (int k = 0; k < o->nexpression; k++)
    if (strstr(o->expression[k], word)) return true;
  return false;
}

tt_code tt__cudac_device_text(const char *source, const tt_cudac_options *o, bool conditional,
                              tt_cudac_device_text *out, tt_error *err) {
  tt_cudac_scan s;
  *out = (tt_cudac_device_text){0};
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) \
  tt__str_addf(&out->text, "#define TT_D_%s %d\n", #E, (int)TT_##E);
#include "tutti/dtype.def"
#undef TT_DTYPE
  tt__str_addf(&out->text,
               "#define TT_CUDAC_STRUCT %d\n#define TT_CUDAC_POINTER %d\n#define TT_CUDAC_VOID %d\n#define "
               "TT_CUDAC_CONST %d\n",
               TT_CUDAC_STRUCT, TT_CUDAC_POINTER, TT_CUDAC_VOID, TT_CUDAC_CONST);
  tt__str_add(&out->text, tt__cuda_device_head);
  if (says(source, o, "half"))
    tt__str_add(&out->text, "#include <cuda_fp16.h>\ntypedef __half float16;\nTT_KIND(__half, TT_D_F16)\n");
  if (says(source, o, "bfloat16"))
    tt__str_add(&out->text, "#include <cuda_bf16.h>\nTT_KIND(__nv_bfloat16, TT_D_BF16)\n");
  if (says(source, o, "complex<")) {
    tt__str_add(&out->text, tt__cuda_complex);
    tt__str_add(&out->text, "TT_KIND(complex<float>, TT_D_C64)\nTT_KIND(complex<double>, TT_D_C128)\n");
  }
  if (says(source, o, "cooperative_groups")) {
    tt__str_add(&out->text, "#define TT_GROUP __device__ __forceinline__\n");
    tt__str_add(&out->text, tt__cuda_barrier);
    tt__str_add(&out->text, tt__cuda_groups);
  }
  add_flags(o, out);
  TT_TRY(tt__cudac_scan(&s, source, strlen(source), err));
  tt__cudac_name_widths(&s, &out->text);
  tt__str_addf(&out->text, "#line 1 \"%s\"\n", o->file ? o->file : "kernel.cu");
  add_source(source, &out->text);
  tt__str_add(&out->text, "\n#line 1 \"tutti\"\n");
  add_entries(&s, o, conditional, out);
  tt__cudac_scan_free(&s);
  bool failed = out->text.failed || out->options.failed || out->entries.failed || out->variables.failed;
  return failed ? tt__fail_memory(err, out->text.len) : TT_OK;
}

void tt__cudac_device_free(tt_cudac_device_text *t) {
  tt__str_free(&t->text);
  tt__str_free(&t->options);
  tt__str_free(&t->entries);
  tt__str_free(&t->variables);
}
