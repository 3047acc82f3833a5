/*
** Programs in OpenCL C on devices; see device_text.h.
**
** A device names the types of a kernel's parameters, as the source spells them. What the language's own names mean is
** known here; what others mean (typedefs, structs) a kernel of ours behind the user's text tells, which runs once.
*/
#include "launch/opencl_c/device_text.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ir/dtype.h"
#include "ir/user/call.h"
#include "lang/cuda_c/cudac.h"

enum { MOST_TYPES = 256, MOST_LINE = 400 };

/* ---- types */

typedef struct cl_type {
  int kind, size; /* a tt_dtype, of a vector its elements', TT_CUDAC_STRUCT, TT_CUDAC_VOID; bytes, 0: not known */
} cl_type;

static const struct {
  const char *name;
  tt_dtype dtype;
} cl_numbers[] = {{"char", TT_I8},          {"uchar", TT_U8},  {"unsigned char", TT_U8},   {"short", TT_I16},
                  {"ushort", TT_U16},       {"int", TT_I32},   {"unsigned short", TT_U16}, {"uint", TT_U32},
                  {"unsigned int", TT_U32}, {"long", TT_I64},  {"ulong", TT_U64},          {"unsigned long", TT_U64},
                  {"half", TT_F16},         {"float", TT_F32}, {"double", TT_F64}};
enum { CL_NUMBERS = sizeof cl_numbers / sizeof cl_numbers[0] };

/* "float4": a number, and how many of it. False: none of the language's own. */
static bool own_type(const char *name, cl_type *out) {
  size_t n = strlen(name), word = n;
  while (word && isdigit((unsigned char)name[word - 1])) word--;
  int lanes = word < n ? atoi(name + word) : 1;
  bool vector = lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
  for (int k = 0; k < CL_NUMBERS; k++) {
    if (strlen(cl_numbers[k].name) != word || strncmp(cl_numbers[k].name, name, word) != 0) continue;
    if (word < n && !vector) continue;
    int size = (int)tt__dtype_size(cl_numbers[k].dtype);
    *out = (cl_type){(int)cl_numbers[k].dtype, size * (lanes == 3 ? 4 : lanes)};
    return true;
  }
  *out = (cl_type){TT_CUDAC_VOID, 1};
  return strcmp(name, "void") == 0;
}

/* Does the text name a type so that it can be written again: words, perhaps "struct" before one? */
static bool is_plain_name(const char *name) {
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != ' ') return false;
  return *name != 0;
}

static bool is_refused(const char *type) {
  return strncmp(type, "image", 5) == 0 || strcmp(type, "sampler_t") == 0 || strncmp(type, "pipe", 4) == 0 ||
         strcmp(type, "queue_t") == 0;
}

/* ---- what the device said: lines of words between tabs (tt_source_ops.build) */

typedef struct cl_line {
  const char *space, *is_const, *type, *name; /* `space` "kernel": is_const is the kernel's name */
} cl_line;

/* The next line, cut apart in `room`. False: there is none. */
static bool next_line(const char **at, char room[MOST_LINE], cl_line *out) {
  const char *end = *at ? strchr(*at, '\n') : NULL;
  if (!end) return false;
  snprintf(room, MOST_LINE, "%.*s", (int)(end - *at), *at);
  const char *word[4] = {room, "", "", ""};
  int n = 1;
  for (char *c = room; n < 4 && (c = strchr(c, '\t')) != NULL; n++) {
    *c++ = 0;
    word[n] = c;
  }
  *out = (cl_line){word[0], word[1], word[2], word[3]};
  *at = end + 1;
  return true;
}

/* Names of types that are not the language's own, each once. */
typedef struct cl_types {
  char name[MOST_TYPES][120];
  bool by_value[MOST_TYPES]; /* so that its size matters */
  cl_type type[MOST_TYPES];
  int n;
} cl_types;

static int find_type(const cl_types *t, const char *name) {
  int k = 0;
  while (k < t->n && strcmp(t->name[k], name) != 0) k++;
  return k;
}

static tt_code collect_types(const char *lines, cl_types *out, tt_error *err) {
  char room[MOST_LINE];
  cl_line l;
  cl_type known;
  out->n = 0;
  while (next_line(&lines, room, &l)) {
    if (strcmp(l.space, "kernel") == 0) continue;
    if (is_refused(l.type))
      return tt__fail(err, TT_ECOMPILE, "parameter '%.60s' is of type %.60s: images, samplers and pipes are not there",
                      l.name, l.type);
    if (own_type(l.type, &known) || !is_plain_name(l.type)) continue;
    int k = find_type(out, l.type);
    if (k == MOST_TYPES) return tt__fail(err, TT_ECOMPILE, "kernels with more than %d types", MOST_TYPES);
    if (k == out->n) {
      snprintf(out->name[k], sizeof out->name[k], "%s", l.type);
      out->by_value[out->n++] = false;
    }
    out->by_value[k] |= strcmp(l.space, "value") == 0;
  }
  return TT_OK;
}

/* ---- the kernel that tells of types */

static void write_kinds(tt_str *out) {
  static const char *const lanes[] = {"", "2", "3", "4", "8", "16"};
  tt__str_add(out, "\n#line 1 \"tutti\"\n");
  for (int k = 0; k < CL_NUMBERS; k++) {
    if (strchr(cl_numbers[k].name, ' ')) continue; /* another name of the same */
    if (cl_numbers[k].dtype == TT_F64) tt__str_add(out, "#ifdef cl_khr_fp64\n");
    for (int i = 0; i < 6; i++)
      if (!lanes[i][0] || cl_numbers[k].dtype != TT_F16) /* vectors of halves are an extension */
        tt__str_addf(out, "uint __attribute__((overloadable)) tt_kind(%s%s *p) { return %d; }\n", cl_numbers[k].name,
                     lanes[i], (int)cl_numbers[k].dtype);
    if (cl_numbers[k].dtype == TT_F64) tt__str_add(out, "#endif\n");
  }
  tt__str_addf(out, "uint __attribute__((overloadable)) tt_kind(void *p) { return %d; }\n", TT_CUDAC_STRUCT);
}

static void write_teller(const cl_types *t, tt_str *out) {
  write_kinds(out);
  tt__str_add(out, "__kernel void tt_types(__global uint *tt_out) {\n");
  for (int k = 0; k < t->n; k++) {
    tt__str_addf(out, "  tt_out[%d] = tt_kind((%s *)0);\n", 2 * k, t->name[k]);
    if (t->by_value[k]) tt__str_addf(out, "  tt_out[%d] = (uint)sizeof(%s);\n", 2 * k + 1, t->name[k]);
  }
  tt__str_add(out, "}\n");
}

/* Run it: two words for each type. */
static tt_code run_teller(tt_device *d, tt_routine *f, uint32_t *told, size_t size, tt_error *err) {
  struct {
    void *at;
    uint64_t size;
  } args = {NULL, size};
  const tt_field field = {TT_FIELD_MEMORY, true, 0, sizeof args.at};
  const tt_grid once = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  TT_TRY(d->ops->sources->fields(d, f, &field, 1, sizeof args.at, err));
  TT_TRY(d->ops->alloc(d, size, &args.at, err));
  tt_code code = d->ops->fill(d, d->work, args.at, 0, size, err);
  if (code == TT_OK) code = d->ops->launch(d, d->work, f, &once, &args, sizeof args, err);
  if (code == TT_OK) code = d->ops->copy_out(d, d->work, told, args.at, size, err);
  if (code == TT_OK) code = d->ops->stream_wait_idle(d, d->work, err);
  d->ops->free(d, args.at, size);
  return code;
}

static tt_code ask_types(tt_device *d, const char *source, const char *options, cl_types *t, tt_error *err) {
  uint32_t told[2 * MOST_TYPES];
  tt_str text = {0}, binary = {0};
  tt_module *m = NULL;
  tt_routine *f;
  if (t->n == 0) return TT_OK;
  tt__str_add(&text, source);
  write_teller(t, &text);
  tt_code code = text.failed ? tt__fail_memory(err, text.len) : d->ops->compile(d, text.data, options, &binary, err);
  if (code == TT_OK) code = d->ops->load(d, binary.data, binary.len, &m, err);
  if (code == TT_OK) code = d->ops->routine(d, m, "tt_types", &f, NULL, err);
  if (code == TT_OK) code = run_teller(d, f, told, 2 * sizeof told[0] * (size_t)t->n, err);
  for (int k = 0; code == TT_OK && k < t->n; k++) t->type[k] = (cl_type){(int)told[2 * k], (int)told[2 * k + 1]};
  if (m) d->ops->unload(d, m);
  tt__str_free(&text);
  tt__str_free(&binary);
  return code;
}

/* ---- parameters: a line for each kernel, then "kind size name" for each parameter, kept with the binary */

static tt_code resolve_line(const cl_line *l, const cl_types *t, tt_str *out, tt_error *err) {
  cl_type type;
  const int pointer = TT_CUDAC_POINTER | (strcmp(l->is_const, "const") == 0 ? TT_CUDAC_CONST : 0);
  if (!own_type(l->type, &type)) {
    int k = find_type(t, l->type);
    type = k < t->n ? t->type[k] : (cl_type){TT_CUDAC_STRUCT, 0};
  }
  if (strcmp(l->space, "local") == 0)
    type = (cl_type){TT_CUDAC_LOCAL, sizeof(tt_cudac_local)};
  else if (strcmp(l->space, "value") != 0)
    type = (cl_type){(type.kind == TT_CUDAC_STRUCT ? TT_CUDAC_VOID : type.kind) | pointer, sizeof(void *)};
  else if (type.kind < TT_DTYPE_COUNT && type.size != (int)tt__dtype_size((tt_dtype)type.kind))
    type.kind = TT_CUDAC_STRUCT; /* a vector */
  if (type.size == 0)
    return tt__fail(err, TT_ECOMPILE, "nothing says how long parameter '%.60s' is, of type %.100s", l->name, l->type);
  tt__str_addf(out, "%d %d %s\n", type.kind, type.size, l->name);
  return TT_OK;
}

static tt_code resolve_lines(const char *lines, const cl_types *t, tt_str *out, tt_error *err) {
  char room[MOST_LINE];
  cl_line l;
  while (next_line(&lines, room, &l)) {
    if (strcmp(l.space, "kernel") == 0)
      tt__str_addf(out, "kernel %s\n", l.is_const);
    else
      TT_TRY(resolve_line(&l, t, out, err));
  }
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}

/* Compile, and put the parameters' lines, their length and a mark behind the binary. The mark: another number when the
** lines become others. */
static const char PARAMETERS[] = "TTPARAM2";

static tt_code make_described(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  tt_str lines = {0}, resolved = {0};
  cl_types *types = tt__mem_zalloc(sizeof *types);
  if (!types) return tt__fail_memory(err, sizeof *types);
  tt_code code = d->ops->sources->build(d, source, options, binary, &lines, err);
  if (code == TT_OK) code = collect_types(lines.data, types, err);
  if (code == TT_OK) code = ask_types(d, source, options, types, err);
  if (code == TT_OK) code = resolve_lines(lines.data, types, &resolved, err);
  const uint64_t n = resolved.len;
  if (code == TT_OK) {
    tt__str_add_n(binary, resolved.data ? resolved.data : "", n);
    tt__str_add_n(binary, (const char *)&n, sizeof n);
    tt__str_add_n(binary, PARAMETERS, sizeof PARAMETERS - 1);
    if (binary->failed) code = tt__fail_memory(err, binary->len);
  }
  tt__str_free(&lines);
  tt__str_free(&resolved);
  tt__mem_free(types, sizeof *types);
  return code;
}

static tt_code described(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  bool keep = !strstr(source, "#include") && !strstr(options, "-I");
  return tt__device_binary(d, &(tt_device_source){source, options, PARAMETERS, keep, make_described}, binary, err);
}

/* ---- the program */

static char *keep_text(const char *from, size_t n) {
  char *text = tt__mem_alloc(n + 1);
  if (!text) return NULL;
  memcpy(text, from, n);
  text[n] = 0;
  return text;
}

/* The kernel's line and those of its parameters, up to the next kernel's. */
static tt_code read_entry(tt_device_program *p, tt_device_entry *e, const char **at, const char *stop, tt_error *err) {
  tt_str names = {0};
  tt_cudac_param param[TT_CALL_ARRAYS];
  int n = 0;
  const char *end = memchr(*at, '\n', (size_t)(stop - *at));
  e->name = keep_text(*at + 7, (size_t)(end - *at - 7));
  for (*at = end + 1; *at < stop && strncmp(*at, "kernel ", 7) != 0 && n < TT_CALL_ARRAYS; n++) {
    char *rest;
    param[n].kind = (int)strtol(*at, &rest, 10);
    param[n].size = (int)strtol(rest, &rest, 10);
    int align = param[n].size & -param[n].size;
    param[n].align = align < 16 ? align : 16;
    end = memchr(rest, '\n', (size_t)(stop - rest));
    tt__str_addf(&names, "%s%.*s", n ? "," : "", (int)(end - rest - 1), rest + 1);
    *at = end + 1;
  }
  e->waits = true; /* nobody looked */
  e->params = keep_text(names.data ? names.data : "", names.len);
  e->param = n ? tt__mem_dup(param, (size_t)n * sizeof *param) : NULL;
  e->nparam = e->param ? n : 0;
  bool good = e->name && e->params && !names.failed && e->nparam == n;
  tt__str_free(&names);
  if (!good) return tt__fail_memory(err, (size_t)n * sizeof *param);
  if (*at < stop && strncmp(*at, "kernel ", 7) != 0)
    return tt__fail(err, TT_EVALUE, "kernel %.200s takes more than %d arguments", e->name, TT_CALL_ARRAYS);
  return p->device->ops->routine(p->device, p->module, e->name, &e->routine, &e->info, err);
}

static int count_kernels(const char *lines, const char *stop) {
  int n = 0;
  for (const char *at = lines; at < stop; at = (const char *)memchr(at, '\n', (size_t)(stop - at)) + 1)
    n += strncmp(at, "kernel ", 7) == 0;
  return n;
}

static tt_code read_entries(tt_device_program *p, const tt_str *binary, tt_error *err) {
  size_t size = 0;
  const char *at = tt__device_behind(binary, PARAMETERS, &size), *stop = at ? at + size : NULL;
  if (!at) return tt__fail(err, TT_EDEVICE, "%s: nothing says what the kernels take", p->device->name);
  TT_TRY(p->device->ops->load(p->device, binary->data, (size_t)(at - binary->data), &p->module, err));
  int n = count_kernels(at, stop);
  p->entry = tt__mem_zalloc(((size_t)n + !n) * sizeof *p->entry);
  if (!p->entry) return tt__fail_memory(err, (size_t)n * sizeof *p->entry);
  p->n = n;
  for (int k = 0; k < n; k++) TT_TRY(read_entry(p, &p->entry[k], &at, stop, err));
  return TT_OK;
}

tt_code tt__device_program_opencl(tt_device *d, const char *source, const char *file, const char *options,
                                  tt_device_program **out, tt_error *err) {
  tt_str text = {0}, binary = {0};
  *out = NULL;
  assert(source && file);
  if (!d->ops->sources) return tt__fail(err, TT_ENOTIMPL, "%s has no compiler for OpenCL C", d->name);
  tt_device_program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  p->device = d;
  tt__str_addf(&text, "#line 1 \"%s\"\n%s", file, source);
  tt_code code =
      text.failed ? tt__fail_memory(err, text.len) : described(d, text.data, options ? options : "", &binary, err);
  if (code == TT_OK) code = read_entries(p, &binary, err);
  tt__str_free(&text);
  tt__str_free(&binary);
  if (code == TT_OK)
    *out = p;
  else
    tt__device_program_close(p);
  return code;
}
