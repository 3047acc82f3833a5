/* Types, pointers, references and declarations of memory, word by word. */
#include <assert.h>
#include <string.h>

#include "lang/cuda_c/opencl_int.h"

static const char *const memory_words[] = {"", "__global ", "__local ", "__private ", "__constant "};

/* ---- types */

bool tt__clw_is_type(const cl_writer *c, int64_t k) {
  static const char *const types[] = {"void",     "char",     "short",     "int",      "long",    "float",   "double",
                                      "unsigned", "signed",   "bool",      "size_t",   "uchar",   "ushort",  "uint",
                                      "ulong",    "int8_t",   "int16_t",   "int32_t",  "int64_t", "uint8_t", "uint16_t",
                                      "uint32_t", "uint64_t", "ptrdiff_t", "intptr_t", "float2",  "float4",  "double2",
                                      "int2",     "int4",     "uint2"};
  if (clw_kind_of(c, k) != 'i') return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (clw_is(c, k, types[i])) return true;
  return *clw_known_of(c, k) == NAME_TYPE;
}

static bool qualifies(const cl_writer *c, int64_t k) {
  return clw_is(c, k, "const") || clw_is(c, k, "volatile") || clw_is(c, k, "__restrict__") ||
         clw_is(c, k, "restrict") || clw_is(c, k, "__restrict");
}

void tt__clw_note_types(cl_writer *c) {
  for (int64_t k = 0; k < c->scan.word.n; k++) {
    if (clw_is(c, k, "struct") && clw_kind_of(c, k + 1) == 'i') *clw_known_of(c, k + 1) = NAME_TYPE;
    if (!clw_is(c, k, "typedef")) continue;
    int64_t at = k + 1;
    while (at < c->scan.word.n && clw_kind_of(c, at) != ';')
      at = clw_kind_of(c, at) == '{' ? tt__cudac_close(&c->scan, at) + 1 : at + 1;
    if (clw_kind_of(c, at - 1) == 'i') *clw_known_of(c, at - 1) = NAME_TYPE;
  }
}

/* ---- writing words */

void tt__clw_copy_to(cl_writer *c, uint32_t at) {
  assert(at >= c->done);
  tt__str_add_n(c->out, c->scan.text + c->done, at - c->done);
  c->done = at;
}

void tt__clw_leave_out(cl_writer *c, int64_t from, int64_t to) {
  tt__clw_copy_to(c, c->scan.word.data[from].at);
  for (uint32_t at = c->done; at < clw_end_of(c, to); at++)
    if (c->scan.text[at] == '\n') tt__str_add(c->out, "\n");
  c->done = clw_end_of(c, to);
}

void tt__clw_write_instead(cl_writer *c, int64_t k, const char *text) {
  tt__clw_copy_to(c, c->scan.word.data[k].at);
  tt__str_add(c->out, text);
  c->done = clw_end_of(c, k);
}

void tt__clw_put_type(const cl_writer *c, int64_t from, int64_t to, tt_str *out) {
  for (; from < to; from++) {
    int len;
    const char *word = clw_spelled(c, from, &len);
    if (qualifies(c, from) || clw_kind_of(c, from) == '*' || (clw_is(c, from, "long") && clw_is(c, from + 1, "long")))
      continue;
    if (clw_is(c, from, "bool"))
      tt__str_add(out, "uchar ");
    else if (clw_is(c, from, "size_t") || clw_is(c, from, "ptrdiff_t") || clw_is(c, from, "intptr_t"))
      tt__str_add(out, clw_is(c, from, "size_t") ? "ulong " : "long ");
    else
      tt__str_addf(out, "%.*s ", len, word);
  }
}

/* ---- pointers */

/* The memory of what stands from k on, up to the end of the expression. */
static int memory_from(const cl_writer *c, int64_t k) {
  for (; k < c->scan.word.n && clw_kind_of(c, k) != ';' && clw_kind_of(c, k) != '{'; k++) {
    uint8_t known = *clw_known_of(c, k);
    bool member = clw_kind_of(c, k - 1) == '.' || (clw_kind_of(c, k - 1) == '>' && clw_kind_of(c, k - 2) == '-');
    if (clw_kind_of(c, k) != 'i' || member) continue;
    if (known >= NAME_GLOBAL && known <= NAME_CONSTANT) return known;
    if (known == NAME_REFERENCE) return NAME_GLOBAL;
    if (known == NAME_NOTHING && clw_kind_of(c, k - 1) == '&' && clw_kind_of(c, k - 2) != '&') return NAME_PRIVATE;
  }
  return NAME_NOTHING;
}

/* Of a pointer without a first value: what it is made later. */
static int memory_later(const cl_writer *c, int64_t name) {
  for (int64_t k = name + 1; k < c->end; k++)
    if (c->scan.word.data[k].name == c->scan.word.data[name].name && clw_kind_of(c, k + 1) == '=' &&
        clw_kind_of(c, k + 2) != '=')
      return memory_from(c, k + 2);
  return NAME_NOTHING;
}

static void write_star(cl_writer *c, int64_t k) {
  int64_t at = k + 1;
  int memory = c->memory;
  if (clw_kind_of(c, at) == '*') tt__clw_refuse(c, at, "a pointer to pointers: memory of OpenCL holds no addresses");
  while (qualifies(c, at)) at++;
  if (!c->body) {
    tt__clw_refuse(c, k, "a pointer outside functions: memory of OpenCL holds no addresses");
  } else if (k > c->body) {
    bool named = clw_kind_of(c, at) == 'i';
    memory = !named                          ? memory_from(c, at + 1)
             : clw_kind_of(c, at + 1) == '=' ? memory_from(c, at + 2)
                                             : memory_later(c, at);
    if (memory == NAME_NOTHING)
      tt__clw_refuse(c, named ? at : k, "a pointer of which nothing tells what memory it points into");
    if (named) *clw_known_of(c, at) = (uint8_t)memory;
  } else if (clw_kind_of(c, at) == 'i') {
    *clw_known_of(c, at) = (uint8_t)memory;
  }
  tt__clw_copy_to(c, c->scan.word.data[k].at);
  tt__str_add(c->out, memory_words[memory]);
}

/* "T &name = expression;": from now on the name stands for what a pointer points at. */
static int64_t write_reference(cl_writer *c, int64_t k) {
  int len;
  int64_t end = k + 2;
  if (k < c->body || clw_kind_of(c, k + 1) != 'i' || clw_kind_of(c, k + 2) != '=') {
    tt__clw_refuse(c, k, "a reference that is no variable with a first value");
    return k + 1;
  }
  int memory = memory_from(c, k + 3);
  const char *name = clw_spelled(c, k + 1, &len);
  while (end < c->scan.word.n && clw_kind_of(c, end) != ';') end++;
  tt__clw_copy_to(c, c->scan.word.data[k].at);
  tt__str_addf(c->out, "%s*const tt_at_%.*s = &(", memory_words[memory ? memory : NAME_PRIVATE], len, name);
  c->done = clw_end_of(c, k + 2);
  tt__clw_copy_to(c, c->scan.word.data[end].at);
  tt__str_add(c->out, ")");
  *clw_known_of(c, k + 1) = NAME_REFERENCE;
  return end;
}

/* ---- declarations of memory */

void tt__clw_note_memory(cl_writer *c, int64_t k, int memory) {
  for (k++; k < c->scan.word.n && clw_kind_of(c, k) != ';' && clw_kind_of(c, k) != '='; k++) {
    char next = clw_kind_of(c, k + 1);
    if (clw_kind_of(c, k) == '[')
      k = tt__cudac_close(&c->scan, k);
    else if (clw_kind_of(c, k) == 'i' && (next == '[' || next == ',' || next == ';' || next == '='))
      *clw_known_of(c, k) = (uint8_t)memory;
  }
}

/* "extern __shared__ T name[];" at k: memory whose size the launch says. */
static int64_t write_dynamic(cl_writer *c, int64_t k) {
  int64_t end = k;
  int len;
  while (end < c->scan.word.n && clw_kind_of(c, end) != ';') end++;
  int64_t name = end - 3;
  if (!c->body || !c->is_kernel || clw_kind_of(c, name) != 'i' || clw_kind_of(c, name + 1) != '[') {
    tt__clw_refuse(c, k + 1, "memory of the block whose size the launch says, outside a kernel");
    return end;
  }
  const char *text = clw_spelled(c, name, &len);
  tt_str type = {0};
  tt__clw_put_type(c, k + 2, name, &type);
  tt__clw_leave_out(c, k, end - 1);
  tt__str_addf(c->out, "__local %s*%.*s = (__local %s*)tt_shared", type.data ? type.data : "", len, text,
               type.data ? type.data : "");
  c->out->failed |= type.failed;
  tt__str_free(&type);
  *clw_known_of(c, name) = NAME_LOCAL;
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
  const char *line = clw_spelled(c, k, &len);
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
  const char *line = clw_spelled(c, k, &len);
  int at = 1;
  while (at < len && (line[at] == ' ' || line[at] == '\t')) at++;
  if (len - at < 7 || memcmp(line + at, "include", 7) != 0) return;
  if (is_known_header(c, k))
    tt__clw_leave_out(c, k, k);
  else
    tt__clw_refuse(c, k, "a header, which is in C++");
}

/* "%lld" of printf's formats, "10LL" and "long long" have one letter less. */
static void write_fewer(cl_writer *c, int64_t k) {
  bool text = clw_kind_of(c, k) == 's';
  uint32_t end = clw_end_of(c, k);
  for (uint32_t at = c->scan.word.data[k].at; at + 1 < end; at++) {
    const char *t = c->scan.text + at;
    bool twice = (t[0] == 'l' && t[1] == 'l') || (!text && t[0] == 'L' && t[1] == 'L');
    if (!twice || (text && !(at > 0 && t[-1] == '%'))) continue;
    tt__clw_copy_to(c, at);
    c->done++;
    at++;
  }
}

int64_t tt__clw_write_word(cl_writer *c, int64_t k) {
  char kind = clw_kind_of(c, k);
  int64_t before = k - 1;
  while (qualifies(c, before)) before--;
  if (kind == '#') {
    write_directive(c, k);
  } else if (kind == 's' || kind == 'n') {
    write_fewer(c, k);
  } else if (kind == '*' && tt__clw_is_type(c, before) && !clw_is(c, k - 1, "restrict")) {
    write_star(c, k);
  } else if (kind == '&' && tt__clw_is_type(c, before)) {
    return write_reference(c, k);
  } else if (clw_is(c, k, "__launch_bounds__") && clw_kind_of(c, k + 1) == '(') { /* before a kernel's declaration */
    int64_t close = tt__cudac_close(&c->scan, k + 1);
    tt__clw_leave_out(c, k, close);
    return close;
  } else if (clw_is(c, k, "extern") && clw_kind_of(c, k + 1) == 's') {
    tt__clw_leave_out(c, k, k + 1);
    return k + 1;
  } else if (clw_is(c, k, "extern") && clw_is(c, k + 1, "__shared__")) {
    return write_dynamic(c, k);
  } else if (clw_is(c, k, "__shared__")) {
    if (!c->is_kernel) tt__clw_refuse(c, k, "memory of the block outside a kernel");
    tt__clw_note_memory(c, k, NAME_LOCAL);
    tt__clw_write_instead(c, k, "__local __attribute__((aligned(16)))");
  } else if (clw_is(c, k, "long") && clw_is(c, k + 1, "long")) {
    tt__clw_leave_out(c, k, k);
  } else if (c->body && tt__clw_is_type(c, k) && clw_kind_of(c, k + 1) == '(' && !tt__clw_is_type(c, k - 1) &&
             !clw_is(c, k - 1, "struct")) {
    tt__clw_copy_to(c, c->scan.word.data[k].at);
    tt__str_add(c->out, "(");
    tt__clw_copy_to(c, clw_end_of(c, k));
    tt__str_add(c->out, ")");
  } else if (kind == 'i' && *clw_known_of(c, k) == NAME_REFERENCE && clw_kind_of(c, k - 1) != '.') {
    int len;
    const char *name = clw_spelled(c, k, &len);
    tt__clw_copy_to(c, c->scan.word.data[k].at);
    tt__str_addf(c->out, "(*tt_at_%.*s)", len, name);
    c->done = clw_end_of(c, k);
  } else if (c->body && kind == 'i' && clw_kind_of(c, k + 1) == '[' && (tt__clw_is_type(c, before)) &&
             !*clw_known_of(c, k)) {
    *clw_known_of(c, k) = NAME_PRIVATE;
  }
  return k;
}

void tt__clw_write_words(cl_writer *c, int64_t from, int64_t to) {
  for (int64_t k = from; k <= to && k < c->scan.word.n && c->code == TT_OK; k++) k = tt__clw_write_word(c, k);
}
