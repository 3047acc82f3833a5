/*
** Qualifiers, declarations, literals; functions are calls.c's. The text is preprocessed: no macros, no comments.
*/
#include "lang/opencl_c/translate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool tt__opencl_is(const tt_opencl_text *t, int64_t k, const char *spelling) {
  return tt__cudac_is(&t->scan, k, spelling);
}
char tt__opencl_kind(const tt_opencl_text *t, int64_t k) {
  return k >= 0 && k < t->scan.word.n ? t->scan.word.data[k].kind : 0;
}
const char *tt__opencl_word(const tt_opencl_text *t, int64_t k, size_t *len) {
  const tt_cudac_word *w = &t->scan.word.data[k];
  *len = w->len;
  return t->scan.text + w->at;
}

static bool among(const tt_opencl_text *t, int64_t k, const char *const *words) {
  for (; *words; words++)
    if (tt__opencl_is(t, k, *words)) return true;
  return false;
}

static int32_t name_at(const tt_opencl_text *t, int64_t k) {
  return k >= 0 && k < t->scan.word.n ? t->scan.word.data[k].name : -1;
}

bool tt__opencl_has(const tt_opencl_text *t, int64_t k, unsigned mark) {
  int32_t name = name_at(t, k);
  return name >= 0 && (t->mark[name] & mark) != 0;
}

static void copy(const tt_opencl_text *t, int64_t k, tt_str *out) {
  size_t len;
  const char *word = tt__opencl_word(t, k, &len);
  tt__str_add_n(out, word, len);
}

void tt__opencl_line_ends(tt_opencl_text *t, int64_t from, int64_t to) {
  if (from >= to || to > t->scan.word.n) return;
  const tt_cudac_word *a = &t->scan.word.data[from], *b = &t->scan.word.data[to - 1];
  for (uint32_t at = a->at; at < b->at + b->len; at++)
    if (t->scan.text[at] == '\n') tt__str_add(t->out, "\n");
}

void tt__opencl_insert(tt_opencl_text *t, int64_t before, const char *text) {
  tt_opencl_insertion i = {before, text, false};
  if (!TT_VEC_PUSH(&t->insertion, i)) t->out->failed = true;
}

/* ---- words that qualify */

static const char *const global_words[] = {"__global", "global", "__generic", "generic", "__private", "private", NULL};
static const char *const local_words[] = {"__local", "local", NULL};
static const char *const constant_words[] = {"__constant", "constant", NULL};
static const char *const kernel_words[] = {"__kernel", "kernel", NULL};

/* What C++ takes for its own, and names of ours that no program in OpenCL C knows. */
static const char *const not_c[] = {"alignas",
                                    "alignof",
                                    "and",
                                    "and_eq",
                                    "asm",
                                    "auto",
                                    "bitand",
                                    "bitor",
                                    "catch",
                                    "class",
                                    "compl",
                                    "constexpr",
                                    "const_cast",
                                    "char8_t",
                                    "char16_t",
                                    "char32_t",
                                    "decltype",
                                    "delete",
                                    "dynamic_cast",
                                    "explicit",
                                    "export",
                                    "final",
                                    "friend",
                                    "mutable",
                                    "namespace",
                                    "new",
                                    "noexcept",
                                    "not",
                                    "not_eq",
                                    "nullptr",
                                    "operator",
                                    "or",
                                    "or_eq",
                                    "override",
                                    "protected",
                                    "public",
                                    "reinterpret_cast",
                                    "static_assert",
                                    "static_cast",
                                    "template",
                                    "this",
                                    "thread_local",
                                    "throw",
                                    "try",
                                    "typeid",
                                    "typename",
                                    "using",
                                    "virtual",
                                    "wchar_t",
                                    "xor",
                                    "xor_eq",
                                    "threadIdx",
                                    "blockIdx",
                                    "blockDim",
                                    "gridDim",
                                    "warpSize",
                                    "dim3",
                                    "clock",
                                    "clock_t",
                                    "clock64",
                                    "globaltimer",
                                    "int8_t",
                                    "int16_t",
                                    "int32_t",
                                    "int64_t",
                                    "uint8_t",
                                    "uint16_t",
                                    "uint32_t",
                                    "uint64_t",
                                    "recip",
                                    NULL};

/* Behind the declaration that the qualifier at k begins: its name, or -1 where it declares a pointer. */
static int64_t declared(const tt_opencl_text *t, int64_t k) {
  int64_t n = t->scan.word.n;
  for (int64_t i = k + 1; i < n; i++) {
    char c = tt__opencl_kind(t, i);
    if (c == '{' || (c == '(' && tt__opencl_is(t, i - 1, "__attribute__"))) {
      i = tt__cudac_close(&t->scan, i);
      continue;
    }
    if (c == '*' || c == '(' || c == ')') return -1;
    if (c == '[' || c == ';' || c == ',' || c == '=') return i - 1;
  }
  return -1;
}

static bool is_statement(const tt_opencl_text *t, int64_t k) {
  int64_t in = t->opens[k];
  return in < 0 || tt__opencl_kind(t, in) == '{';
}

static bool is_typedef(const tt_opencl_text *t, int64_t k) {
  for (int64_t i = k - 1; i >= 0 && tt__opencl_kind(t, i) == 'i'; i--)
    if (tt__opencl_is(t, i, "typedef")) return true;
  return false;
}

/* Is there another `const` among the words of the type around k? C++ takes one only. */
static bool is_const_already(const tt_opencl_text *t, int64_t k) {
  for (int64_t i = k + 1; tt__opencl_kind(t, i) == 'i'; i++)
    if (tt__opencl_is(t, i, "const")) return true;
  for (int64_t i = k - 1; tt__opencl_kind(t, i) == 'i'; i--)
    if (tt__opencl_is(t, i, "const")) return true;
  return false;
}

static int64_t write_constant(tt_opencl_text *t, int64_t k) {
  bool variable = is_statement(t, k) && !is_typedef(t, k) && declared(t, k) >= 0, outside = t->opens[k] < 0;
  bool is_static = tt__opencl_is(t, k - 1, "static");
  if (variable && outside && !tt__opencl_is(t, k - 1, "extern"))
    tt__str_add(t->out, is_static ? "__constant__ " : "__constant__ static ");
  else if (variable && !outside)
    tt__str_add(t->out, "constexpr ");
  if (!is_const_already(t, k)) tt__str_add(t->out, "const");
  return k + 1;
}

static int64_t write_qualifier(tt_opencl_text *t, int64_t k) {
  if (among(t, k, kernel_words)) {
    tt__str_add(t->out, "__global__");
    return k + 1;
  }
  if (among(t, k, local_words)) {
    bool variable = is_statement(t, k) && !is_typedef(t, k) && declared(t, k) >= 0;
    if (variable) tt__str_add(t->out, "__shared__");
    return k + 1;
  }
  if (among(t, k, constant_words)) return write_constant(t, k);
  if (!among(t, k, global_words)) return k;
  if (t->opens[k] < 0 && !is_typedef(t, k) && declared(t, k) >= 0) tt__str_add(t->out, "__device__");
  return k + 1;
}

/* __attribute__((reqd_work_group_size(x, y, z))) and hints. */
static int64_t write_attribute(tt_opencl_text *t, int64_t k) {
  static const char *const hints[] = {"work_group_size_hint",
                                      "vec_type_hint",
                                      "opencl_unroll_hint",
                                      "intel_reqd_sub_group_size",
                                      "nosvm",
                                      "endian",
                                      NULL};
  if (!tt__opencl_is(t, k + 1, "(") || !tt__opencl_is(t, k + 2, "(")) return k;
  int64_t end = tt__cudac_close(&t->scan, k + 1) + 1, name = k + 3;
  if (end > t->scan.word.n) return k;
  if (tt__opencl_is(t, name, "reqd_work_group_size") && tt__opencl_is(t, name + 1, "(")) {
    int64_t close = tt__cudac_close(&t->scan, name + 1);
    tt__str_add(t->out, "__tt_block__");
    for (int64_t i = name + 1; i <= close; i++) copy(t, i, t->out);
  } else if (!among(t, name, hints)) {
    return k;
  }
  tt__opencl_line_ends(t, k, end);
  return end;
}

/* ---- parameters of kernels that are __local */

/* The kernel whose parameters or body word k stands in, or -1. */
static int64_t kernel_of_params(const tt_opencl_text *t, int64_t open) {
  for (int64_t d = 0; d < t->scan.def.n; d++) {
    const tt_cudac_def *def = &t->scan.def.data[d];
    if (tt__cudac_params(&t->scan, def->head, def->open) != open) continue;
    for (int64_t k = def->head; k < open; k++)
      if (among(t, k, kernel_words)) return d;
  }
  return -1;
}

/* Is name changed in the words [from, to)? */
static bool is_changed(const tt_opencl_text *t, int32_t name, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    if (name_at(t, k) != name) continue;
    char a = tt__opencl_kind(t, k + 1), b = tt__opencl_kind(t, k + 2), before = tt__opencl_kind(t, k - 1);
    if ((a == '=' && b != '=') || ((a == '+' || a == '-') && (b == '=' || b == a))) return true;
    if (before == '&' || ((before == '+' || before == '-') && tt__opencl_kind(t, k - 2) == before)) return true;
  }
  return false;
}

typedef struct local_param {
  int64_t from, to, name, star, dims, dims_end; /* words: the star, or -1 for an array; extents behind the name */
} local_param;

/* Of the parameter in the words [from, to). */
static bool read_local(const tt_opencl_text *t, int64_t from, int64_t to, local_param *p) {
  *p = (local_param){.from = from, .to = to, .name = -1, .star = -1};
  bool local = false;
  for (int64_t k = from; k < to; k++) {
    char c = tt__opencl_kind(t, k);
    local |= p->star < 0 && among(t, k, local_words);
    if (c == '*') p->star = k;
    if (c == '[' && p->name < 0) p->name = k - 1;
  }
  if (!local) return false;
  for (int64_t k = to - 1; p->name < 0 && k > from; k--)
    if (tt__opencl_kind(t, k) == 'i') p->name = k;
  if (p->name < 0) return false;
  p->dims = p->name + 1;
  if (tt__opencl_kind(t, p->dims) == ')')
    p->dims++; /* (*name)[16] */
  else if (tt__opencl_kind(t, p->dims) == '[')
    p->dims = tt__cudac_close(&t->scan, p->dims) + 1;
  p->dims_end = to;
  return true;
}

static void write_type(const tt_opencl_text *t, const local_param *p, tt_str *out) {
  int64_t end = p->star >= 0 ? p->star : p->name;
  for (int64_t k = p->from; k < end; k++) {
    if (among(t, k, local_words) || tt__opencl_kind(t, k) == '(') continue;
    copy(t, k, out);
    tt__str_add(out, " ");
  }
}

/* The parameter is where the memory begins, the pointer a declaration in front of the body. */
static void write_local(tt_opencl_text *t, const local_param *p, const tt_cudac_def *d) {
  size_t len;
  const char *name = tt__opencl_word(t, p->name, &len);
  tt_str *b = &t->body, type = {0}, dims = {0};
  write_type(t, p, &type);
  for (int64_t k = p->dims; k < p->dims_end; k++) copy(t, k, &dims);
  const char *of = type.data ? type.data : "", *extents = dims.data ? dims.data : "";
  tt__str_addf(t->out, "tt_local_at tt_at_%.*s", (int)len, name);
  if (is_changed(t, name_at(t, p->name), d->open, d->close))
    tt__str_addf(b, " %s(*%.*s)%s = (%s(*)%s)tt_local_of(tt_at_%.*s);", of, (int)len, name, extents, of, extents,
                 (int)len, name);
  else
    tt__str_addf(b, " extern __shared__ __tt_at__(tt_at_%.*s) %s%.*s[]%s;", (int)len, name, of, (int)len, name,
                 extents);
  t->out->failed |= type.failed || dims.failed;
  tt__str_free(&type);
  tt__str_free(&dims);
}

/* Word k begins a parameter of a kernel, in the bracket `open`. */
static int64_t write_param(tt_opencl_text *t, int64_t k, int64_t open) {
  int64_t d = kernel_of_params(t, open), to = k;
  if (d < 0) return k;
  int64_t close = tt__cudac_close(&t->scan, open);
  while (to < close && tt__opencl_kind(t, to) != ',') {
    char c = tt__opencl_kind(t, to);
    to = c == '(' || c == '[' ? tt__cudac_close(&t->scan, to) + 1 : to + 1;
  }
  local_param p;
  if (!read_local(t, k, to, &p)) return k;
  write_local(t, &p, &t->scan.def.data[d]);
  tt__opencl_line_ends(t, k, to);
  return to;
}

/* ---- literals */

/* "(float4)(" is "float4(". */
static int64_t write_literal(tt_opencl_text *t, int64_t k) {
  int64_t type = tt__opencl_is(t, k + 1, "const") ? k + 2 : k + 1;
  if (!tt__opencl_has(t, type, TT_OPENCL_VECTOR) || !tt__opencl_is(t, type + 1, ")")) return k;
  if (!tt__opencl_is(t, type + 2, "(") || tt__opencl_is(t, k - 1, "sizeof")) return k;
  tt__str_add(t->out, " ");
  copy(t, type, t->out);
  tt__opencl_line_ends(t, k, type + 2);
  return type + 2;
}

/* Numbers of 16 bits, and those that an option makes floats. */
static int64_t write_number(tt_opencl_text *t, int64_t k) {
  size_t len;
  const char *word = tt__opencl_word(t, k, &len);
  char last = word[len - 1];
  bool hex = len > 1 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  bool behind_dot = tt__opencl_kind(t, k - 1) == '.' && word[-1] == '.';
  bool fraction = behind_dot || memchr(word, '.', len) || (!hex && (memchr(word, 'e', len) || memchr(word, 'E', len)));
  if (!fraction || hex) return k;
  if (last == 'h' || last == 'H') {
    tt__str_add_n(t->out, word, len - 1);
    tt__str_add(t->out, "f");
    return k + 1;
  }
  if (!t->how->single || !(last == '.' || (last >= '0' && last <= '9'))) return k;
  tt__str_add_n(t->out, word, len);
  tt__str_add(t->out, "f");
  return k + 1;
}

/* ---- all words */

static bool is_member(const tt_opencl_text *t, int64_t k) {
  char a = tt__opencl_kind(t, k - 1), b = tt__opencl_kind(t, k - 2);
  if (a == '.') return b == 'i' || b == ')' || b == ']';
  return a == '>' && b == '-' && t->scan.word.data[k - 1].at == t->scan.word.data[k - 2].at + 1;
}

/* The replacement of what begins at word k. Returns the word behind it; k itself: nothing to replace. */
static int64_t replace(tt_opencl_text *t, int64_t k) {
  char c = tt__opencl_kind(t, k);
  int64_t next, in = t->opens[k];
  if (in >= 0 && (in == k - 1 || tt__opencl_kind(t, k - 1) == ',') && tt__opencl_kind(t, in) == '(' &&
      t->opens[in] < 0 && (next = write_param(t, k, in)) != k)
    return next;
  if (c == '(') return write_literal(t, k);
  if (c == '{' && t->body.len && in < 0) {
    tt__str_add(t->out, "{");
    tt__str_add_n(t->out, t->body.data, t->body.len);
    tt__str_clear(&t->body);
    return k + 1;
  }
  if (c == ';' && in < 0) tt__str_clear(&t->body); /* a declaration without a body */
  if (c == 'n') return write_number(t, k);
  if (c != 'i') return k;
  if (is_member(t, k) && (next = tt__opencl_swizzle(t, k)) != k) return next;
  if ((next = write_qualifier(t, k)) != k) return next;
  if (tt__opencl_is(t, k, "restrict")) {
    tt__str_add(t->out, "__restrict__");
    return k + 1;
  }
  if (tt__opencl_is(t, k, "__attribute__")) return write_attribute(t, k);
  if (among(t, k, not_c)) {
    tt__str_add(t->out, "tt_c_");
    copy(t, k, t->out);
    return k + 1;
  }
  return is_member(t, k) ? k : tt__opencl_call(t, k);
}

/* False: instead of the word. */
static bool insert_at(tt_opencl_text *t, int64_t k) {
  bool instead = false;
  for (int64_t i = 0; i < t->insertion.n; i++) {
    if (t->insertion.data[i].before != k) continue;
    tt__str_add(t->out, t->insertion.data[i].text);
    instead |= t->insertion.data[i].instead;
  }
  return !instead;
}

static void write_all(tt_opencl_text *t) {
  uint32_t at = 0;
  for (int64_t k = 0; k < t->scan.word.n;) {
    const tt_cudac_word *w = &t->scan.word.data[k];
    tt__str_add_n(t->out, t->scan.text + at, w->at - at);
    int64_t next = insert_at(t, k) ? replace(t, k) : k + 1;
    if (next == k) {
      copy(t, k, t->out);
      next = k + 1;
    }
    const tt_cudac_word *last = &t->scan.word.data[next - 1];
    at = last->at + last->len;
    k = next;
  }
  tt__str_add_n(t->out, t->scan.text + at, t->scan.len - at);
}

static void note_brackets(tt_opencl_text *t) {
  int64_t in = -1;
  for (int64_t k = 0; k < t->scan.word.n; k++) {
    char c = tt__opencl_kind(t, k);
    if ((c == ')' || c == ']' || c == '}') && in >= 0) in = t->opens[in];
    t->opens[k] = in;
    if (c == '(' || c == '[' || c == '{') in = k;
  }
}

tt_code tt__opencl_translate(const char *text, size_t len, const tt_opencl_how *how, tt_str *out, tt_error *err) {
  tt_opencl_text t = {.how = how, .out = out};
  TT_TRY(tt__cudac_scan(&t.scan, text, len, err));
  size_t names = (size_t)t.scan.names + 1, opens = ((size_t)t.scan.word.n + 1) * sizeof *t.opens;
  t.mark = tt__mem_zalloc(names);
  t.opens = tt__mem_alloc(opens);
  tt_code code = t.mark && t.opens ? TT_OK : tt__fail_memory(err, opens);
  if (code == TT_OK) {
    note_brackets(&t);
    tt__opencl_note_names(&t);
    code = tt__opencl_refuse(&t, err);
    tt__opencl_choices(&t);
  }
  if (code == TT_OK) write_all(&t);
  if (code == TT_OK && (out->failed || t.body.failed)) code = tt__fail_memory(err, out->len);
  TT_VEC_FREE(&t.insertion);
  tt__str_free(&t.body);
  tt__mem_free(t.mark, t.mark ? names : 0);
  tt__mem_free(t.opens, t.opens ? opens : 0);
  tt__cudac_scan_free(&t.scan);
  return code;
}
