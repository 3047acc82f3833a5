/*
** CUDA C to OpenCL C by words: qualifiers of functions and memory, the memory that pointers point into, references to
** elements, C++'s ways to write casts. Types are the compiler's business, as are functions, which the head that stands
** above has (prelude/opencl_device.cl). Line by line the same, so that what the compiler says has the user's lines.
**
** Which memory a pointer points into is what it is made of: the first name in its initial value that has one. A
** function of pointers is written once for each kind of memory.
*/
#include "lang/cuda_c/opencl_text.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "lang/cuda_c/opencl_int.h"

extern const char tt__cuda_opencl_head[] TT_HIDDEN; /* embedded */

/* ---- kernels */

typedef struct cl_params {
  tt_str field, memory, local; /* of the struct, of the memory behind it, what the body begins with */
  int pointers;
} cl_params;

/* The parameter of words [from, to). */
static void write_param(cl_writer *c, int64_t from, int64_t to, cl_params *p) {
  int stars = 0, len;
  int64_t name = to - 1;
  bool constant = false;
  if (clw_kind_of(c, name) == ']') name = to - 3;
  for (int64_t k = from; k < to; k++) {
    stars += clw_kind_of(c, k) == '*' || clw_kind_of(c, k) == '[';
    constant |= clw_is(c, k, "const");
    if (clw_kind_of(c, k) == '&' || clw_kind_of(c, k) == '=') tt__clw_refuse(c, k, tt__clw_cpp);
  }
  if (name <= from || clw_kind_of(c, name) != 'i' || tt__clw_is_type(c, name))
    tt__clw_refuse(c, from, "a parameter without a name");
  if (stars > 1) tt__clw_refuse(c, from, "a pointer to pointers: memory of OpenCL holds no addresses");
  if (c->code != TT_OK) return;
  const char *word = clw_spelled(c, name, &len);
  tt_str type = {0};
  tt__clw_put_type(c, from, name, &type);
  const char *t = type.data ? type.data : "";
  if (stars) {
    *clw_known_of(c, name) = NAME_GLOBAL;
    tt__str_addf(&p->field, "ulong %.*s; ", len, word);
    tt__str_addf(&p->memory, ", __global uchar *tt_m%d", p->pointers);
    tt__str_addf(&p->local, " __global %s%s*%.*s = (__global %s%s*)(tt_m%d + tt_given.at[%d]);",
                 constant ? "const " : "", t, len, word, constant ? "const " : "", t, p->pointers, p->pointers);
    p->pointers++;
  } else {
    tt__str_addf(&p->field, "%s%.*s; ", t, len, word);
    tt__str_addf(&p->local, " %s%.*s = tt_given.%.*s;", t, len, word, len, word);
  }
  c->out->failed |= type.failed;
  tt__str_free(&type);
}

static void write_params(cl_writer *c, int64_t open, cl_params *p) {
  int64_t close = tt__cudac_close(&c->scan, open), from = open + 1;
  if (close == from + 1 && clw_is(c, from, "void")) return;
  for (int64_t k = from; k <= close && close > open + 1; k++) {
    if (clw_kind_of(c, k) == '(' || clw_kind_of(c, k) == '[') k = k == open ? k : tt__cudac_close(&c->scan, k);
    if (clw_kind_of(c, k) != ',' && k != close) continue;
    write_param(c, from, k, p);
    from = k + 1;
  }
}

static bool has_dynamic(const cl_writer *c) {
  for (int64_t k = c->body; k < c->end; k++)
    if (clw_is(c, k, "extern")) return true;
  return false;
}

static void write_kernel(cl_writer *c, const tt_cudac_kernel *kernel, const tt_cudac_def *d) {
  int64_t open = tt__cudac_params(&c->scan, d->head, d->open);
  cl_params p = {.pointers = 0};
  if (kernel->is_overloaded) tt__clw_refuse(c, open - 1, "two kernels of one name");
  c->is_kernel = true;
  write_params(c, open, &p);
  int addresses = p.pointers ? p.pointers + p.pointers % 2 : 2;
  tt__clw_leave_out(c, d->head, d->open);
  tt__str_addf(c->out,
               "typedef struct { ulong at[%d]; %s} tt_%s_args; __kernel void %s(const tt_%s_args tt_given%s%s) {%s",
               addresses, p.field.data ? p.field.data : "", kernel->name, kernel->name, kernel->name,
               p.memory.data ? p.memory.data : "", has_dynamic(c) ? ", __local uint4 *tt_shared" : "",
               p.local.data ? p.local.data : "");
  c->out->failed |= p.field.failed || p.memory.failed || p.local.failed;
  tt__str_free(&p.field);
  tt__str_free(&p.memory);
  tt__str_free(&p.local);
  tt__clw_write_words(c, d->open + 1, d->close);
  c->is_kernel = false;
}

/* ---- other functions, and what is none */

static bool has_star(const cl_writer *c, int64_t open) {
  int64_t close = tt__cudac_close(&c->scan, open);
  for (int64_t k = open; k < close; k++)
    if (clw_kind_of(c, k) == '*' || clw_kind_of(c, k) == '[') return true;
  return false;
}

/* Once for each memory that its pointers may point into. */
static void write_function(cl_writer *c, const tt_cudac_def *d, int64_t open) {
  int64_t from = d->head;
  int last = has_star(c, open) ? NAME_PRIVATE : NAME_GLOBAL;
  if (clw_is(c, from, "extern") && clw_kind_of(c, from + 1) == 's') from += 2;
  tt__clw_copy_to(c, c->scan.word.data[d->head].at);
  for (int memory = NAME_GLOBAL; memory <= last && c->code == TT_OK; memory++) {
    c->memory = memory;
    c->done = c->scan.word.data[from].at;
    if (last > NAME_GLOBAL) tt__str_addf(c->out, "\n#line %d\n", tt__clw_line(c, from));
    tt__str_add(c->out, "TT_SEVERAL ");
    for (int64_t k = from; k < open; k++)
      if (clw_is(c, k, "static") || clw_is(c, k, "inline") || clw_is(c, k, "__inline__"))
        tt__clw_leave_out(c, k, k);
      else
        k = tt__clw_write_word(c, k);
    tt__clw_write_words(c, open, d->close);
    tt__clw_copy_to(c, clw_end_of(c, d->close));
  }
}

static void write_struct(cl_writer *c, const tt_cudac_def *d) {
  for (int64_t k = d->open; k < d->close; k++) {
    if (clw_kind_of(c, k) == '*') tt__clw_refuse(c, k, "a pointer in a struct: memory of OpenCL holds no addresses");
    if (clw_kind_of(c, k) == '(') tt__clw_refuse(c, k - 1, tt__clw_cpp);
  }
  if (clw_is(c, d->head, "struct") && clw_kind_of(c, d->head + 1) == 'i') {
    int len;
    const char *name = clw_spelled(c, d->head + 1, &len);
    tt__clw_copy_to(c, c->scan.word.data[d->head].at);
    tt__str_addf(c->out, "typedef struct %.*s %.*s; ", len, name, len, name);
  }
  tt__clw_write_words(c, d->head, d->close);
}

static const tt_cudac_kernel *kernel_of(const cl_writer *c, int64_t def) {
  for (int64_t k = 0; k < c->scan.kernel.n; k++)
    if (c->scan.kernel.data[k].def == def) return &c->scan.kernel.data[k];
  return NULL;
}

static void write_def(cl_writer *c, int64_t def, uint8_t *kept) {
  const tt_cudac_def *d = &c->scan.def.data[def];
  const tt_cudac_kernel *kernel = kernel_of(c, def);
  int64_t open = tt__cudac_params(&c->scan, d->head, d->open);
  memcpy(kept, c->known, (size_t)c->scan.names);
  c->body = d->open;
  c->end = d->close;
  if (kernel)
    write_kernel(c, kernel, d);
  else if (open > d->head)
    write_function(c, d, open);
  c->body = c->end = 0;
  memcpy(c->known, kept, (size_t)c->scan.names); /* its variables are its own */
  if (!kernel && open <= d->head) write_struct(c, d);
}

/* Variables at k outside functions, up to their end: constants, and those that nobody names. */
static int64_t write_variable(cl_writer *c, int64_t k) {
  int64_t end = k, name = k;
  bool given = false;
  for (; end < c->scan.word.n && clw_kind_of(c, end) != ';'; end++) {
    if (clw_kind_of(c, end) == '=') given = true;
    if (clw_kind_of(c, end) == 'i' && !given) name = end;
    if (clw_kind_of(c, end) == '[' || clw_kind_of(c, end) == '{') end = tt__cudac_close(&c->scan, end);
  }
  int uses = 0;
  for (int64_t i = 0; i < c->scan.word.n; i++) uses += c->scan.word.data[i].name == c->scan.word.data[name].name;
  if (clw_is(c, k, "__constant__") && given) {
    tt__clw_note_memory(c, k, NAME_CONSTANT);
    tt__clw_write_instead(c, k, "__constant");
    tt__clw_write_words(c, k + 1, end);
  } else if (uses == 1) {
    tt__clw_leave_out(c, k, end);
  } else {
    tt__clw_refuse(c, name, "a variable of the program: OpenCL C 1.2 has constants with a value alone");
  }
  return end;
}

static void write_all(cl_writer *c, uint8_t *kept) {
  int64_t def = 0, closing = -1;
  for (int64_t k = 0; k < c->scan.word.n && c->code == TT_OK; k++) {
    while (def < c->scan.def.n && c->scan.def.data[def].head < k) def++;
    int64_t end = k;
    while (end < c->scan.word.n && clw_kind_of(c, end) != ';' && clw_kind_of(c, end) != '{' &&
           clw_kind_of(c, end) != '(')
      end = clw_kind_of(c, end) == '[' ? tt__cudac_close(&c->scan, end) + 1 : end + 1;
    bool variable = (clw_is(c, k, "__device__") || clw_is(c, k, "__constant__")) && clw_kind_of(c, end) != '(' &&
                    !(def < c->scan.def.n && c->scan.def.data[def].head == k);
    if (clw_is(c, k, "extern") && clw_kind_of(c, k + 1) == 's' && clw_kind_of(c, k + 2) == '{') {
      tt__clw_leave_out(c, k, k + 2);
      closing = tt__cudac_close(&c->scan, k + 2);
      k += 2;
    } else if (k == closing) {
      tt__clw_leave_out(c, k, k);
    } else if (def < c->scan.def.n && c->scan.def.data[def].head == k) {
      write_def(c, def, kept);
      k = c->scan.def.data[def].close;
    } else if (variable) {
      k = write_variable(c, k);
    } else {
      k = tt__clw_write_word(c, k);
    }
  }
  if (c->code == TT_OK) tt__clw_copy_to(c, c->scan.len);
}

/* ---- the whole */

/* What the text may call by words of OpenCL C: its own functions, and whatever has a keyword for a name. */
static void rename_words(cl_writer *c) {
  static const char *const keywords[] = {"global",  "local",      "constant",   "kernel",  "read_only",
                                         "generic", "write_only", "read_write", "uniform", "pipe"};
  int len;
  for (int64_t d = 0; d < c->scan.def.n; d++) {
    int64_t open = tt__cudac_params(&c->scan, c->scan.def.data[d].head, c->scan.def.data[d].open);
    if (open <= c->scan.def.data[d].head || clw_kind_of(c, open - 1) != 'i') continue;
    const char *name = clw_spelled(c, open - 1, &len);
    tt__str_addf(c->out, "#define %.*s " TT_CUDAC_OPENCL_NAME "%.*s\n", len, name, len, name);
  }
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    for (int64_t k = 0; k < c->scan.word.n; k++)
      if (clw_is(c, k, keywords[i])) {
        tt__str_addf(c->out, "#define %s " TT_CUDAC_OPENCL_NAME "%s\n", keywords[i], keywords[i]);
        break;
      }
}

static void add_entries(cl_writer *c, tt_cudac_device_text *out) {
  for (int64_t k = 0; k < c->scan.kernel.n; k++) {
    const tt_cudac_kernel *kernel = &c->scan.kernel.data[k];
    tt__str_addf(&out->entries, "%s\t%d\t%s\n", kernel->name, kernel->sync, kernel->params);
  }
  out->nentry = (int)c->scan.kernel.n;
}

static void add_options(const tt_cudac_options *o, tt_str *out) {
  tt__str_add(out, "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt");
  for (int k = 0; k < o->nflag; k++)
    if (strncmp(o->flag[k], "-D", 2) == 0)
      tt__str_addf(out, " %s", o->flag[k]);
    else if (strcmp(o->flag[k], "--fmad=false") == 0 || strcmp(o->flag[k], "-fmad=false") == 0)
      tt__str_add(out, " -DTT_NO_FMAD");
    else if (strcmp(o->flag[k], "--use_fast_math") == 0 || strcmp(o->flag[k], "-use_fast_math") == 0)
      tt__str_add(out, " -cl-fast-relaxed-math");
}

tt_code tt__cudac_opencl_text(const char *source, const tt_cudac_options *o, tt_cudac_device_text *out, tt_error *err) {
  assert(source && o && out);
  *out = (tt_cudac_device_text){0};
  cl_writer c = {.file = o->file ? o->file : "kernel.cu", .err = err, .out = &out->text};
  c.code = tt__cudac_scan(&c.scan, source, strlen(source), err);
  size_t names = (size_t)c.scan.names;
  uint8_t *kept = tt__mem_zalloc(names);
  c.known = tt__mem_zalloc(names);
  if (c.code == TT_OK && names && (!kept || !c.known)) c.code = tt__fail_memory(err, names);
  if (c.code == TT_OK) {
    tt__str_add(&out->text, tt__cuda_opencl_head);
    rename_words(&c);
    tt__str_addf(&out->text, "#line 1 \"%s\"\n", c.file);
    tt__clw_refuse_all(&c);
    tt__clw_note_types(&c);
    write_all(&c, kept);
    add_entries(&c, out);
    add_options(o, &out->options);
  }
  if (c.code == TT_OK && (out->text.failed || out->entries.failed || out->options.failed))
    c.code = tt__fail_memory(err, out->text.len);
  tt__mem_free(kept, names);
  tt__mem_free(c.known, names);
  tt__cudac_scan_free(&c.scan);
  return c.code;
}
