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
#include "lang/cuda_c/scan.h"

extern const char tt__cuda_opencl_head[] TT_HIDDEN; /* embedded */

/* What is known of a name: the memory of an array or pointer, or another of these. */
enum { NAME_NOTHING, NAME_GLOBAL, NAME_LOCAL, NAME_PRIVATE, NAME_CONSTANT, NAME_TYPE, NAME_REFERENCE };
static const char *const memory_words[] = {"", "__global ", "__local ", "__private ", "__constant "};

typedef struct cl_writer {
  tt_cudac_scan scan;
  const char *file;
  uint8_t *known;    /* [names]: NAME_* */
  tt_str *out;       /* where text goes now */
  uint32_t done;     /* the source before this is written, or left out */
  int64_t body, end; /* the function that is being written, its brace and the closing one; 0: none */
  int memory;        /* what pointers among its parameters point into */
  bool is_kernel;
  tt_error *err;
  tt_code code;
} cl_writer;

static bool is(const cl_writer *c, int64_t k, const char *spelling) { return tt__cudac_is(&c->scan, k, spelling); }
static char kind_of(const cl_writer *c, int64_t k) {
  return k >= 0 && k < c->scan.word.n ? c->scan.word.data[k].kind : 0;
}
static uint8_t *known_of(const cl_writer *c, int64_t k) {
  static uint8_t nothing;
  int32_t name = k >= 0 && k < c->scan.word.n ? c->scan.word.data[k].name : -1;
  return name >= 0 ? &c->known[name] : &nothing;
}
static const char *spelled(const cl_writer *c, int64_t k, int *len) {
  const tt_cudac_word *w = &c->scan.word.data[k];
  *len = (int)w->len;
  return c->scan.text + w->at;
}

/* ---- refusing */

static int line_of(const cl_writer *c, int64_t k) {
  int line = 1;
  uint32_t end = k < c->scan.word.n ? c->scan.word.data[k].at : c->scan.len;
  for (uint32_t at = 0; at < end; at++) line += c->scan.text[at] == '\n';
  return line;
}

static void refuse_word(cl_writer *c, int64_t k, const char *why) {
  int len;
  if (c->code != TT_OK) return;
  const char *word = spelled(c, k, &len);
  c->code = tt__fail(c->err, TT_ECOMPILE, "%s:%d: '%.*s': %s", c->file, line_of(c, k), len > 60 ? 60 : len, word, why);
}

typedef struct refusal {
  const char *word, *why;
} refusal;

static const char cpp[] = "OpenCL C is no C++", warps[] = "OpenCL's devices have no warps",
                  none[] = "OpenCL C has no such thing", whole[] = "OpenCL has no barrier of the whole grid";
static const refusal refusals[] = {
    {"template", cpp},
    {"typename", cpp},
    {"class", cpp},
    {"namespace", cpp},
    {"using", cpp},
    {"operator", cpp},
    {"auto", cpp},
    {"new", cpp},
    {"delete", cpp},
    {"throw", cpp},
    {"try", cpp},
    {"virtual", cpp},
    {"constexpr", cpp},
    {"nullptr", cpp},
    {"static_cast", cpp},
    {"reinterpret_cast", cpp},
    {"const_cast", cpp},
    {"dynamic_cast", cpp},
    {"decltype", cpp},
    {"public", cpp},
    {"private", cpp},
    {"__shfl_sync", warps},
    {"__shfl_up_sync", warps},
    {"__shfl_down_sync", warps},
    {"__shfl_xor_sync", warps},
    {"__shfl", warps},
    {"__shfl_up", warps},
    {"__shfl_down", warps},
    {"__shfl_xor", warps},
    {"__ballot_sync", warps},
    {"__any_sync", warps},
    {"__all_sync", warps},
    {"__match_any_sync", warps},
    {"__activemask", warps},
    {"__syncwarp", warps},
    {"warpSize", warps},
    {"this_grid", whole},
    {"grid_group", whole},
    {"cooperative_groups", whole},
    {"asm", none},
    {"__trap", none},
    {"assert", none},
    {"malloc", none},
    {"free", none},
    {"clock", none},
    {"clock64", none},
    {"__managed__", none},
    {"tex1Dfetch", none},
    {"tex2D", none},
    {"__half", none},
    {"half", none},
    {"__nv_bfloat16", none},
    {"goto", none},
    {"cudaMalloc", none},
};

static void refuse_words(cl_writer *c) {
  for (int64_t k = 0; k < c->scan.word.n && c->code == TT_OK; k++) {
    for (size_t i = 0; kind_of(c, k) == 'i' && i < sizeof refusals / sizeof *refusals; i++)
      if (is(c, k, refusals[i].word)) refuse_word(c, k, refusals[i].why);
    if (kind_of(c, k) == ':' && kind_of(c, k + 1) == ':') refuse_word(c, k, cpp);
    if (kind_of(c, k) == '<' && kind_of(c, k + 1) == '<' && kind_of(c, k + 2) == '<')
      refuse_word(c, k, "kernels launch no kernels there");
  }
}

/* ---- types */

static bool is_type(const cl_writer *c, int64_t k) {
  static const char *const types[] = {"void",     "char",     "short",     "int",      "long",    "float",   "double",
                                      "unsigned", "signed",   "bool",      "size_t",   "uchar",   "ushort",  "uint",
                                      "ulong",    "int8_t",   "int16_t",   "int32_t",  "int64_t", "uint8_t", "uint16_t",
                                      "uint32_t", "uint64_t", "ptrdiff_t", "intptr_t", "float2",  "float4",  "double2",
                                      "int2",     "int4",     "uint2"};
  if (kind_of(c, k) != 'i') return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is(c, k, types[i])) return true;
  return *known_of(c, k) == NAME_TYPE;
}

static bool qualifies(const cl_writer *c, int64_t k) {
  return is(c, k, "const") || is(c, k, "volatile") || is(c, k, "__restrict__") || is(c, k, "restrict") ||
         is(c, k, "__restrict");
}

/* Names of types that the text declares: "typedef float T;", "struct S {". */
static void note_types(cl_writer *c) {
  for (int64_t k = 0; k < c->scan.word.n; k++) {
    if (is(c, k, "struct") && kind_of(c, k + 1) == 'i') *known_of(c, k + 1) = NAME_TYPE;
    if (!is(c, k, "typedef")) continue;
    int64_t at = k + 1;
    while (at < c->scan.word.n && kind_of(c, at) != ';')
      at = kind_of(c, at) == '{' ? tt__cudac_close(&c->scan, at) + 1 : at + 1;
    if (kind_of(c, at - 1) == 'i') *known_of(c, at - 1) = NAME_TYPE;
  }
}

/* ---- writing words */

static void copy_to(cl_writer *c, uint32_t at) {
  assert(at >= c->done);
  tt__str_add_n(c->out, c->scan.text + c->done, at - c->done);
  c->done = at;
}

static uint32_t end_of(const cl_writer *c, int64_t k) { return c->scan.word.data[k].at + c->scan.word.data[k].len; }

/* Words [from, to] are left out, but for the ends of their lines. */
static void leave_out(cl_writer *c, int64_t from, int64_t to) {
  copy_to(c, c->scan.word.data[from].at);
  for (uint32_t at = c->done; at < end_of(c, to); at++)
    if (c->scan.text[at] == '\n') tt__str_add(c->out, "\n");
  c->done = end_of(c, to);
}

static void write_instead(cl_writer *c, int64_t k, const char *text) {
  copy_to(c, c->scan.word.data[k].at);
  tt__str_add(c->out, text);
  c->done = end_of(c, k);
}

static void put_type(const cl_writer *c, int64_t from, int64_t to, tt_str *out) {
  for (; from < to; from++) {
    int len;
    const char *word = spelled(c, from, &len);
    if (qualifies(c, from) || kind_of(c, from) == '*' || (is(c, from, "long") && is(c, from + 1, "long"))) continue;
    if (is(c, from, "bool"))
      tt__str_add(out, "uchar ");
    else if (is(c, from, "size_t") || is(c, from, "ptrdiff_t") || is(c, from, "intptr_t"))
      tt__str_add(out, is(c, from, "size_t") ? "ulong " : "long ");
    else
      tt__str_addf(out, "%.*s ", len, word);
  }
}

/* ---- pointers */

/* The memory of what stands from k on, up to the end of the expression. */
static int memory_from(const cl_writer *c, int64_t k) {
  for (; k < c->scan.word.n && kind_of(c, k) != ';' && kind_of(c, k) != '{'; k++) {
    uint8_t known = *known_of(c, k);
    bool member = kind_of(c, k - 1) == '.' || (kind_of(c, k - 1) == '>' && kind_of(c, k - 2) == '-');
    if (kind_of(c, k) != 'i' || member) continue;
    if (known >= NAME_GLOBAL && known <= NAME_CONSTANT) return known;
    if (known == NAME_REFERENCE) return NAME_GLOBAL;
    if (known == NAME_NOTHING && kind_of(c, k - 1) == '&' && kind_of(c, k - 2) != '&') return NAME_PRIVATE;
  }
  return NAME_NOTHING;
}

/* Of a pointer without a first value: what it is made later. */
static int memory_later(const cl_writer *c, int64_t name) {
  for (int64_t k = name + 1; k < c->end; k++)
    if (c->scan.word.data[k].name == c->scan.word.data[name].name && kind_of(c, k + 1) == '=' &&
        kind_of(c, k + 2) != '=')
      return memory_from(c, k + 2);
  return NAME_NOTHING;
}

static void write_star(cl_writer *c, int64_t k) {
  int64_t at = k + 1;
  int memory = c->memory;
  if (kind_of(c, at) == '*') refuse_word(c, at, "a pointer to pointers: memory of OpenCL holds no addresses");
  while (qualifies(c, at)) at++;
  if (!c->body) {
    refuse_word(c, k, "a pointer outside functions: memory of OpenCL holds no addresses");
  } else if (k > c->body) {
    bool named = kind_of(c, at) == 'i';
    memory = !named ? memory_from(c, at + 1) : kind_of(c, at + 1) == '=' ? memory_from(c, at + 2) : memory_later(c, at);
    if (memory == NAME_NOTHING)
      refuse_word(c, named ? at : k, "a pointer of which nothing tells what memory it points into");
    if (named) *known_of(c, at) = (uint8_t)memory;
  } else if (kind_of(c, at) == 'i') {
    *known_of(c, at) = (uint8_t)memory;
  }
  copy_to(c, c->scan.word.data[k].at);
  tt__str_add(c->out, memory_words[memory]);
}

/* "T &name = expression;": from now on the name stands for what a pointer points at. */
static int64_t write_reference(cl_writer *c, int64_t k) {
  int len;
  int64_t end = k + 2;
  if (k < c->body || kind_of(c, k + 1) != 'i' || kind_of(c, k + 2) != '=') {
    refuse_word(c, k, "a reference that is no variable with a first value");
    return k + 1;
  }
  int memory = memory_from(c, k + 3);
  const char *name = spelled(c, k + 1, &len);
  while (end < c->scan.word.n && kind_of(c, end) != ';') end++;
  copy_to(c, c->scan.word.data[k].at);
  tt__str_addf(c->out, "%s*const tt_at_%.*s = &(", memory_words[memory ? memory : NAME_PRIVATE], len, name);
  c->done = end_of(c, k + 2);
  copy_to(c, c->scan.word.data[end].at);
  tt__str_add(c->out, ")");
  *known_of(c, k + 1) = NAME_REFERENCE;
  return end;
}

/* ---- declarations of memory */

static void note_memory(cl_writer *c, int64_t k, int memory) {
  for (k++; k < c->scan.word.n && kind_of(c, k) != ';' && kind_of(c, k) != '='; k++) {
    char next = kind_of(c, k + 1);
    if (kind_of(c, k) == '[')
      k = tt__cudac_close(&c->scan, k);
    else if (kind_of(c, k) == 'i' && (next == '[' || next == ',' || next == ';' || next == '='))
      *known_of(c, k) = (uint8_t)memory;
  }
}

/* "extern __shared__ T name[];" at k: memory whose size the launch says. */
static int64_t write_dynamic(cl_writer *c, int64_t k) {
  int64_t end = k;
  int len;
  while (end < c->scan.word.n && kind_of(c, end) != ';') end++;
  int64_t name = end - 3;
  if (!c->body || !c->is_kernel || kind_of(c, name) != 'i' || kind_of(c, name + 1) != '[') {
    refuse_word(c, k + 1, "memory of the block whose size the launch says, outside a kernel");
    return end;
  }
  const char *text = spelled(c, name, &len);
  tt_str type = {0};
  put_type(c, k + 2, name, &type);
  leave_out(c, k, end - 1);
  tt__str_addf(c->out, "__local %s*%.*s = (__local %s*)tt_shared", type.data ? type.data : "", len, text,
               type.data ? type.data : "");
  c->out->failed |= type.failed;
  tt__str_free(&type);
  *known_of(c, name) = NAME_LOCAL;
  return end;
}

/* ---- what stands in functions, and outside */

static bool is_known_header(const cl_writer *c, int64_t k) {
  static const char *const names[] = {
#define TT_CUDAC_HEADER(name, head) head ? name : "",
#define TT_CUDAC_REFUSED(name)
#include "lang/cuda_c/headers.def"
#undef TT_CUDAC_REFUSED
#undef TT_CUDAC_HEADER
  };
  int len;
  const char *line = spelled(c, k, &len);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i]);
    for (int at = 0; n && at + (int)n < len; at++)
      if (memcmp(line + at, names[i], n) == 0 && (line[at - (at > 0)] == '<' || line[at - (at > 0)] == '"'))
        return true;
  }
  return false;
}

static void write_directive(cl_writer *c, int64_t k) {
  int len;
  const char *line = spelled(c, k, &len);
  int at = 1;
  while (at < len && (line[at] == ' ' || line[at] == '\t')) at++;
  if (len - at < 7 || memcmp(line + at, "include", 7) != 0) return;
  if (is_known_header(c, k))
    leave_out(c, k, k);
  else
    refuse_word(c, k, "a header, which is in C++");
}

/* "%lld" of printf's formats, "10LL" and "long long" have one letter less. */
static void write_fewer(cl_writer *c, int64_t k) {
  bool text = kind_of(c, k) == 's';
  uint32_t end = end_of(c, k);
  for (uint32_t at = c->scan.word.data[k].at; at + 1 < end; at++) {
    const char *t = c->scan.text + at;
    bool twice = (t[0] == 'l' && t[1] == 'l') || (!text && t[0] == 'L' && t[1] == 'L');
    if (!twice || (text && !(at > 0 && t[-1] == '%'))) continue;
    copy_to(c, at);
    c->done++;
    at++;
  }
}

/* Write word k if it is written in another way; the last word that was. */
static int64_t write_word(cl_writer *c, int64_t k) {
  char kind = kind_of(c, k);
  int64_t before = k - 1;
  while (qualifies(c, before)) before--;
  if (kind == '#') {
    write_directive(c, k);
  } else if (kind == 's' || kind == 'n') {
    write_fewer(c, k);
  } else if (kind == '*' && is_type(c, before) && !is(c, k - 1, "restrict")) {
    write_star(c, k);
  } else if (kind == '&' && is_type(c, before)) {
    return write_reference(c, k);
  } else if (is(c, k, "extern") && kind_of(c, k + 1) == 's') {
    leave_out(c, k, k + 1);
    return k + 1;
  } else if (is(c, k, "extern") && is(c, k + 1, "__shared__")) {
    return write_dynamic(c, k);
  } else if (is(c, k, "__shared__")) {
    if (!c->is_kernel) refuse_word(c, k, "memory of the block outside a kernel");
    note_memory(c, k, NAME_LOCAL);
    write_instead(c, k, "__local __attribute__((aligned(16)))");
  } else if (is(c, k, "long") && is(c, k + 1, "long")) {
    leave_out(c, k, k);
  } else if (c->body && is_type(c, k) && kind_of(c, k + 1) == '(' && !is_type(c, k - 1) && !is(c, k - 1, "struct")) {
    copy_to(c, c->scan.word.data[k].at);
    tt__str_add(c->out, "(");
    copy_to(c, end_of(c, k));
    tt__str_add(c->out, ")");
  } else if (kind == 'i' && *known_of(c, k) == NAME_REFERENCE && kind_of(c, k - 1) != '.') {
    int len;
    const char *name = spelled(c, k, &len);
    copy_to(c, c->scan.word.data[k].at);
    tt__str_addf(c->out, "(*tt_at_%.*s)", len, name);
    c->done = end_of(c, k);
  } else if (c->body && kind == 'i' && kind_of(c, k + 1) == '[' && (is_type(c, before)) && !*known_of(c, k)) {
    *known_of(c, k) = NAME_PRIVATE;
  }
  return k;
}

static void write_words(cl_writer *c, int64_t from, int64_t to) {
  for (int64_t k = from; k <= to && k < c->scan.word.n && c->code == TT_OK; k++) k = write_word(c, k);
}

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
  if (kind_of(c, name) == ']') name = to - 3;
  for (int64_t k = from; k < to; k++) {
    stars += kind_of(c, k) == '*' || kind_of(c, k) == '[';
    constant |= is(c, k, "const");
    if (kind_of(c, k) == '&' || kind_of(c, k) == '=') refuse_word(c, k, cpp);
  }
  if (name <= from || kind_of(c, name) != 'i' || is_type(c, name)) refuse_word(c, from, "a parameter without a name");
  if (stars > 1) refuse_word(c, from, "a pointer to pointers: memory of OpenCL holds no addresses");
  if (c->code != TT_OK) return;
  const char *word = spelled(c, name, &len);
  tt_str type = {0};
  put_type(c, from, name, &type);
  const char *t = type.data ? type.data : "";
  if (stars) {
    *known_of(c, name) = NAME_GLOBAL;
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
  if (close == from + 1 && is(c, from, "void")) return;
  for (int64_t k = from; k <= close && close > open + 1; k++) {
    if (kind_of(c, k) == '(' || kind_of(c, k) == '[') k = k == open ? k : tt__cudac_close(&c->scan, k);
    if (kind_of(c, k) != ',' && k != close) continue;
    write_param(c, from, k, p);
    from = k + 1;
  }
}

static bool has_dynamic(const cl_writer *c) {
  for (int64_t k = c->body; k < c->end; k++)
    if (is(c, k, "extern")) return true;
  return false;
}

static void write_kernel(cl_writer *c, const tt_cudac_kernel *kernel, const tt_cudac_def *d) {
  int64_t open = tt__cudac_params(&c->scan, d->head, d->open);
  cl_params p = {.pointers = 0};
  if (kernel->is_overloaded) refuse_word(c, open - 1, "two kernels of one name");
  c->is_kernel = true;
  write_params(c, open, &p);
  int addresses = p.pointers ? p.pointers + p.pointers % 2 : 2;
  leave_out(c, d->head, d->open);
  tt__str_addf(c->out,
               "typedef struct { ulong at[%d]; %s} tt_%s_args; __kernel void %s(const tt_%s_args tt_given%s%s) {%s",
               addresses, p.field.data ? p.field.data : "", kernel->name, kernel->name, kernel->name,
               p.memory.data ? p.memory.data : "", has_dynamic(c) ? ", __local uchar *tt_shared" : "",
               p.local.data ? p.local.data : "");
  c->out->failed |= p.field.failed || p.memory.failed || p.local.failed;
  tt__str_free(&p.field);
  tt__str_free(&p.memory);
  tt__str_free(&p.local);
  write_words(c, d->open + 1, d->close);
  c->is_kernel = false;
}

/* ---- other functions, and what is none */

static bool has_star(const cl_writer *c, int64_t open) {
  int64_t close = tt__cudac_close(&c->scan, open);
  for (int64_t k = open; k < close; k++)
    if (kind_of(c, k) == '*' || kind_of(c, k) == '[') return true;
  return false;
}

/* Once for each memory that its pointers may point into. */
static void write_function(cl_writer *c, const tt_cudac_def *d, int64_t open) {
  int64_t from = d->head;
  int last = has_star(c, open) ? NAME_PRIVATE : NAME_GLOBAL;
  if (is(c, from, "extern") && kind_of(c, from + 1) == 's') from += 2;
  copy_to(c, c->scan.word.data[d->head].at);
  for (int memory = NAME_GLOBAL; memory <= last && c->code == TT_OK; memory++) {
    c->memory = memory;
    c->done = c->scan.word.data[from].at;
    if (last > NAME_GLOBAL) tt__str_addf(c->out, "\n#line %d\n", line_of(c, from));
    tt__str_add(c->out, "TT_SEVERAL ");
    for (int64_t k = from; k < open; k++)
      if (is(c, k, "static") || is(c, k, "inline") || is(c, k, "__inline__"))
        leave_out(c, k, k);
      else
        k = write_word(c, k);
    write_words(c, open, d->close);
    copy_to(c, end_of(c, d->close));
  }
}

static void write_struct(cl_writer *c, const tt_cudac_def *d) {
  for (int64_t k = d->open; k < d->close; k++) {
    if (kind_of(c, k) == '*') refuse_word(c, k, "a pointer in a struct: memory of OpenCL holds no addresses");
    if (kind_of(c, k) == '(') refuse_word(c, k - 1, cpp);
  }
  if (is(c, d->head, "struct") && kind_of(c, d->head + 1) == 'i') {
    int len;
    const char *name = spelled(c, d->head + 1, &len);
    copy_to(c, c->scan.word.data[d->head].at);
    tt__str_addf(c->out, "typedef struct %.*s %.*s; ", len, name, len, name);
  }
  write_words(c, d->head, d->close);
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
  for (; end < c->scan.word.n && kind_of(c, end) != ';'; end++) {
    if (kind_of(c, end) == '=') given = true;
    if (kind_of(c, end) == 'i' && !given) name = end;
    if (kind_of(c, end) == '[' || kind_of(c, end) == '{') end = tt__cudac_close(&c->scan, end);
  }
  int uses = 0;
  for (int64_t i = 0; i < c->scan.word.n; i++) uses += c->scan.word.data[i].name == c->scan.word.data[name].name;
  if (is(c, k, "__constant__") && given) {
    note_memory(c, k, NAME_CONSTANT);
    write_instead(c, k, "__constant");
    write_words(c, k + 1, end);
  } else if (uses == 1) {
    leave_out(c, k, end);
  } else {
    refuse_word(c, name, "a variable of the program: OpenCL C 1.2 has constants with a value alone");
  }
  return end;
}

static void write_all(cl_writer *c, uint8_t *kept) {
  int64_t def = 0, closing = -1;
  for (int64_t k = 0; k < c->scan.word.n && c->code == TT_OK; k++) {
    while (def < c->scan.def.n && c->scan.def.data[def].head < k) def++;
    int64_t end = k;
    while (end < c->scan.word.n && kind_of(c, end) != ';' && kind_of(c, end) != '{' && kind_of(c, end) != '(')
      end = kind_of(c, end) == '[' ? tt__cudac_close(&c->scan, end) + 1 : end + 1;
    bool variable = (is(c, k, "__device__") || is(c, k, "__constant__")) && kind_of(c, end) != '(' &&
                    !(def < c->scan.def.n && c->scan.def.data[def].head == k);
    if (is(c, k, "extern") && kind_of(c, k + 1) == 's' && kind_of(c, k + 2) == '{') {
      leave_out(c, k, k + 2);
      closing = tt__cudac_close(&c->scan, k + 2);
      k += 2;
    } else if (k == closing) {
      leave_out(c, k, k);
    } else if (def < c->scan.def.n && c->scan.def.data[def].head == k) {
      write_def(c, def, kept);
      k = c->scan.def.data[def].close;
    } else if (variable) {
      k = write_variable(c, k);
    } else {
      k = write_word(c, k);
    }
  }
  if (c->code == TT_OK) copy_to(c, c->scan.len);
}

/* ---- the whole */

/* What the text may call by words of OpenCL C: its own functions, and whatever has a keyword for a name. */
static void rename_words(cl_writer *c) {
  static const char *const keywords[] = {"global",  "local",      "constant",   "kernel",  "read_only",
                                         "generic", "write_only", "read_write", "uniform", "pipe"};
  int len;
  for (int64_t d = 0; d < c->scan.def.n; d++) {
    int64_t open = tt__cudac_params(&c->scan, c->scan.def.data[d].head, c->scan.def.data[d].open);
    if (open <= c->scan.def.data[d].head || kind_of(c, open - 1) != 'i') continue;
    const char *name = spelled(c, open - 1, &len);
    tt__str_addf(c->out, "#define %.*s " TT_CUDAC_OPENCL_NAME "%.*s\n", len, name, len, name);
  }
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    for (int64_t k = 0; k < c->scan.word.n; k++)
      if (is(c, k, keywords[i])) {
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
    refuse_words(&c);
    note_types(&c);
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
