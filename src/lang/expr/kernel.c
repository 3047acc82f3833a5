/*
** Declarations of parameters in CuPy's form, and the text of elementwise kernels; see kernel.h. It must not know
** arrays.
*/
#include "lang/expr/kernel.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "lang/expr/expr_int.h"

const char *tt__cx_type_name(tt_dtype dtype) { return cx__type_name((uint8_t)dtype); }

/* ---- words */

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

bool tt__cx_is_name(const char *s, size_t n) {
  if (n == 0 || !is_letter(*s)) return false;
  for (size_t k = 1; k < n; k++)
    if (!is_letter(s[k]) && !isdigit((unsigned char)s[k])) return false;
  return true;
}

tt_dtype tt__cx_spelled(const char *s) {
  static const struct {
    const char *name;
    tt_dtype dtype;
  } row[] = {
      {"float", TT_F32},        {"double", TT_F64},         {"int", TT_I32},
      {"unsigned int", TT_U32}, {"unsigned", TT_U32},       {"char", TT_I8},
      {"short", TT_I16},        {"long", TT_I64},           {"long long", TT_I64},
      {"unsigned char", TT_U8}, {"unsigned short", TT_U16}, {"unsigned long", TT_U64},
      {"half", TT_F16},         {"size_t", TT_U64},         {"unsigned long long", TT_U64},
      {"ptrdiff_t", TT_I64},
  };
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strcmp(tt__dtypes[t].name, s) == 0) return (tt_dtype)t;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (strcmp(row[k].name, s) == 0) return row[k].dtype;
  return TT_DTYPE_NONE;
}

static bool is_between(char c) { return isspace((unsigned char)c) || c == '*'; }

/* The next word from *at on, up to `end`; false: none. */
static bool next_word(const char **at, const char *end, const char **word, size_t *len) {
  while (*at < end && is_between(**at)) ++*at;
  for (*word = *at; *at < end && !is_between(**at);) ++*at;
  *len = (size_t)(*at - *word);
  return *len > 0;
}

static bool is_word(const char *word, size_t len, const char *is) {
  return strlen(is) == len && memcmp(word, is, len) == 0;
}

static bool is_blank(const char *from, const char *end) {
  while (from < end && isspace((unsigned char)*from)) from++;
  return from == end;
}

/* ---- one declaration, [from, end) */

typedef struct declared {
  const char *name;
  size_t len;
  char spelled[64]; /* the words of its type */
  bool is_raw;
} declared;

/* "raw const T *x" taken apart: the last word is the name. */
static bool read_words(const char *from, const char *end, declared *d) {
  const char *word;
  size_t len, at = 0;
  int n = 0;
  *d = (declared){.name = from};
  while (next_word(&from, end, &word, &len)) {
    bool raw = is_word(word, len, "raw");
    d->is_raw |= raw;
    if (raw || is_word(word, len, "const")) continue;
    if (n > 0 && at + d->len + 2 < sizeof d->spelled) { /* a longer one is no type */
      if (at) d->spelled[at++] = ' ';
      memcpy(d->spelled + at, d->name, d->len);
      at += d->len;
    }
    d->name = word;
    d->len = len;
    n++;
  }
  return n >= 2 && tt__cx_is_name(d->name, d->len);
}

static tt_code read_one(const char *from, const char *end, declared *d, tt_cx_parameter *p, tt_error *err) {
  while (from < end && isspace((unsigned char)*from)) from++;
  while (end > from && isspace((unsigned char)end[-1])) end--;
  if (!read_words(from, end, d))
    return tt__fail(err, TT_ESYNTAX, "a parameter is written 'type name' or 'raw type name', not '%.*s'",
                    (int)(end - from), from);
  *p = (tt_cx_parameter){.dtype = tt__cx_spelled(d->spelled), .letter = -1, .is_raw = d->is_raw};
  if (d->spelled[0] >= 'A' && d->spelled[0] <= 'Z' && !d->spelled[1])
    p->letter = d->spelled[0] - 'A';
  else if (p->dtype == TT_DTYPE_NONE)
    return tt__fail(err, TT_ETYPE, "'%s' is no type of a parameter: a dtype's name, or one capital letter for any",
                    d->spelled);
  if (is_word(d->name, d->len, "i") || d->name[0] == '_')
    return tt__fail(err, TT_EVALUE, "a parameter cannot be called '%.*s'", (int)d->len, d->name);
  return TT_OK;
}

/* ---- all of them */

static int count_commas(const char *s) {
  int n = 0;
  for (; *s; s++) n += *s == ',';
  return n;
}

static const char *until_comma(const char *s) {
  while (*s && *s != ',') s++;
  return s;
}

static tt_code make_room(const char *inputs, const char *outputs, tt_cx_signature *s, tt_error *err) {
  s->room = count_commas(inputs) + count_commas(outputs) + 2;
  s->size = strlen(inputs) + strlen(outputs) + 2;
  s->text = tt__mem_alloc(s->size);
  s->param = tt__mem_alloc((size_t)s->room * sizeof *s->param);
  return s->text && s->param ? TT_OK : tt__fail_memory(err, s->size);
}

/* Names are copied behind one another: each is shorter than its declaration. */
static tt_code read_list(const char *text, tt_cx_signature *s, char **room, tt_error *err) {
  for (const char *end;; text = end + 1) {
    declared d;
    end = until_comma(text);
    if (!is_blank(text, end)) {
      tt_cx_parameter *p = &s->param[s->n];
      TT_TRY(read_one(text, end, &d, p, err));
      memcpy(*room, d.name, d.len);
      (*room)[d.len] = 0;
      p->name = *room;
      *room += d.len + 1;
      for (int k = 0; k < s->n; k++)
        if (strcmp(s->param[k].name, p->name) == 0) return tt__fail(err, TT_EVALUE, "two parameters have one name");
      s->n++;
    }
    if (!*end) return TT_OK;
  }
}

tt_code tt__cx_signature(const char *inputs, const char *outputs, tt_cx_signature *s, tt_error *err) {
  *s = (tt_cx_signature){0};
  TT_TRY(make_room(inputs, outputs, s, err));
  char *room = s->text;
  TT_TRY(read_list(inputs, s, &room, err));
  s->nin = s->n;
  return read_list(outputs, s, &room, err);
}

tt_code tt__cx_signature_c(const char *text, tt_cx_signature *s, tt_error *err) {
  *s = (tt_cx_signature){0};
  TT_TRY(make_room(text, "", s, err));
  char *room = s->text;
  for (const char *end;; text = end + 1) {
    end = until_comma(text);
    if (!is_blank(text, end)) {
      while (isspace((unsigned char)*text)) text++;
      size_t len = (size_t)(end - text);
      memcpy(room, text, len);
      room[len] = 0;
      s->param[s->n++] =
          (tt_cx_parameter){.name = room, .dtype = TT_DTYPE_NONE, .letter = -1, .is_raw = strchr(room, '*') != NULL};
      room += len + 1;
    }
    if (!*end) break;
  }
  s->nin = s->n;
  return TT_OK;
}

void tt__cx_signature_free(tt_cx_signature *s) {
  tt__mem_free(s->text, s->size);
  tt__mem_free(s->param, (size_t)s->room * sizeof *s->param);
  *s = (tt_cx_signature){0};
}

/* ---- the text of an elementwise kernel */

static const char whole_text[] =
    "\n"
    "template <class tt_T, int tt_N> struct tt_raw {\n"
    "  tt_T *data; ptrdiff_t n; ptrdiff_t len[tt_N ? tt_N : 1];\n"
    "  __device__ tt_T &operator[](ptrdiff_t i) const { return data[i]; }\n"
    "  __device__ tt_T &operator[](const ptrdiff_t *index) const {\n"
    "    ptrdiff_t at = 0;\n"
    "    for (int k = 0; k < tt_N; k++) at = at * len[k] + index[k];\n"
    "    return data[at];\n"
    "  }\n"
    "  __device__ ptrdiff_t size() const { return n; }\n"
    "  __device__ const ptrdiff_t *shape() const { return len; }\n"
    "  static const int ndim = tt_N;\n"
    "};\n";

/* Does a text hold the word, before a dot if `dot`? */
static bool has_word(const char *text, const char *word, bool dot) {
  size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)) != NULL; at += n) {
    const char *end = at + n;
    if ((at > text && (is_letter(at[-1]) || isdigit((unsigned char)at[-1]))) || is_letter(*end) ||
        isdigit((unsigned char)*end))
      continue;
    while (isspace((unsigned char)*end)) end++;
    if (!dot || *end == '.') return true;
  }
  return false;
}

static bool texts_have(const tt_cx_texts *k, const char *word, bool dot) {
  return has_word(k->operation, word, dot) || has_word(k->loop_prep, word, dot) || has_word(k->after_loop, word, dot) ||
         has_word(k->preamble, word, dot);
}

void tt__cx_typedefs(const tt_cx_types *types, tt_str *out) {
  for (int k = 0; k < TT_CX_LETTERS; k++)
    if (types->of[k]) tt__str_addf(out, "typedef %s %c;\n", cx__type_name((uint8_t)(types->of[k] - 1)), 'A' + k);
}

/* A whole array: what the kernel is given, and the object of the parameter's name, which is `plain` an address where
 * nobody asks it for more. */
static void add_whole(const char *name, const char *type, const char *qualifier, int rank, bool plain, tt_str *head,
                      tt_str *body) {
  for (int d = 0; d <= rank; d++) tt__str_addf(head, "ptrdiff_t _%s_%d, ", name, d);
  if (plain) {
    tt__str_addf(body, "%s%s *const %s = _%s;\n", qualifier, type, name, name);
    return;
  }
  tt__str_addf(body, "const tt_raw<%s%s, %d> %s = {_%s, _%s_0, {", qualifier, type, rank, name, name, name);
  for (int d = 1; d <= rank; d++) tt__str_addf(body, "%s_%s_%d", d > 1 ? ", " : "", name, d);
  tt__str_add(body, rank ? "}};\n" : "0}};\n");
}

static void add_parameter(const tt_cx_signature *s, int k, const tt_cx_types *types, int form, bool plain, tt_str *head,
                          tt_str *body) {
  const tt_cx_parameter *p = &s->param[k];
  const char *type = cx__type_name((uint8_t)tt__cx_dtype(types, p)), *qualifier = k < s->nin ? "const " : "";
  if (form == TT_CX_NUMBER) {
    tt__str_addf(head, "%s %s, ", type, p->name);
    return;
  }
  tt__str_addf(head, "%s%s *_%s, ", qualifier, type, p->name);
  if (p->is_raw)
    add_whole(p->name, type, qualifier, form - TT_CX_WHOLE, plain, head, body);
  else if (k < s->nin)
    tt__str_addf(body, "const %s %s = _%s[i];\n", type, p->name, p->name);
  else
    tt__str_addf(body, "%s &%s = _%s[i];\n", type, p->name, p->name);
}

static bool has_name(const tt_cx_signature *s, const char *name) {
  for (int k = 0; k < s->n; k++)
    if (strcmp(s->param[k].name, name) == 0) return true;
  return false;
}

void tt__cx_elementwise(const tt_cx_signature *s, const tt_cx_texts *k, const tt_cx_types *types, const uint8_t *form,
                        tt_str *out) {
  tt_str head = {0}, body = {0};
  bool index = texts_have(k, "_ind", false), plain = !index;
  for (int p = 0; p < s->n; p++) plain &= !s->param[p].is_raw || !texts_have(k, s->param[p].name, true);
  for (int p = 0; p < s->n; p++) add_parameter(s, p, types, form[p], plain, &head, &body);
  if (!plain) tt__str_add(out, whole_text);
  if (index) tt__str_add(out, "struct tt_index { ptrdiff_t n; __device__ ptrdiff_t size() const { return n; } };\n");
  tt__cx_typedefs(types, out);
  tt__str_addf(out,
               "%s\n"
               "extern \"C\" __global__ void %s(%sptrdiff_t _from, int _n, ptrdiff_t _all) {\n"
               "%s"
               "%s;\n"
               "const int _i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "if (_i < _n) {\n"
               "const ptrdiff_t i = _from + _i;\n"
               "%s%s%s;\n"
               "}\n"
               "%s;\n"
               "}\n",
               k->preamble, k->name, head.data ? head.data : "",
               index ? "const tt_index _ind = {_all}; (void)_ind;\n" : "", k->loop_prep,
               has_name(s, "n") ? "" : "const ptrdiff_t n = _all; (void)n;\n", body.data ? body.data : "", k->operation,
               k->after_loop);
  out->failed |= head.failed || body.failed;
  tt__str_free(&head);
  tt__str_free(&body);
}

void tt__cx_elementwise_c(const tt_cx_signature *s, const tt_cx_texts *k, tt_str *out) {
  tt__str_addf(out, "%s\nextern \"C\" __global__ void %s(", k->preamble, k->name);
  for (int p = 0; p < s->n; p++) tt__str_addf(out, "%s, ", s->param[p].name);
  tt__str_addf(out,
               "int n) {\n"
               "  %s;\n"
               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (i < n) {\n"
               "    %s;\n"
               "  }\n"
               "  %s;\n"
               "}\n",
               k->loop_prep, k->operation, k->after_loop);
}
