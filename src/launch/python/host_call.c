/*
** Functions of arrays for compiled code: text and words to values, and back.
*/
#include "launch/python/host_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fn/function.h"
#include "graph/host.h"
#include "graph/session.h"
#include "ir/dtype.h"
#include "launch/python/jit.h"

enum { MOST_VALUES = 64, MOST_PARAMS = 32, MOST_TEXT = 256, MOST_TRIED = 1024 };

/* A call being read: its values, and what belongs to them. */
typedef struct reader {
  const char *at;
  const int64_t *word; /* NULL: only types are asked for */
  int64_t length;      /* of each axis of an array that stands for one then */
  tt_value value[MOST_VALUES];
  tt_array *array[MOST_VALUES];
  char text[MOST_TEXT];
  size_t ntext;
  int nvalue, narray;
} reader;

/* ---- values */

static tt_dtype read_dtype(const char **at) {
  size_t n = strcspn(*at, ":;|)");
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strlen(tt__dtypes[t].suffix) == n && memcmp(tt__dtypes[t].suffix, *at, n) == 0) {
      *at += n;
      return (tt_dtype)t;
    }
  return TT_DTYPE_NONE;
}

/* An array of zeros but for ones at its first and last element, in a matrix on the diagonal: it has an inverse. */
static tt_code stand_in(tt_dtype d, int rank, int64_t length, tt_array **out, tt_error *err) {
  int64_t len[TT_PROGRAM_RANK], n = 1;
  double at[MOST_TRIED] = {0};
  for (int k = 0; k < rank; k++) n *= len[k] = length;
  if (n > MOST_TRIED) return tt__fail(err, TT_ENOTIMPL, "an array of %d axes here", rank);
  for (int64_t k = 0; k < n; k += rank == 2 ? length + 1 : n > 1 ? n - 1 : 1) at[k] = 1;
  tt_array *wide;
  TT_TRY(tt__from_data(TT_F64, rank, len, at, NULL, &wide, err));
  tt_code c = tt__cast(wide, d, true, out, err);
  tt__array_release(wide);
  return c;
}

static tt_code read_array(reader *r, tt_value *v, tt_error *err) {
  r->at++;
  tt_dtype d = read_dtype(&r->at);
  int rank = r->at[1] - '0';
  r->at += 2 + (r->at[2] == 'C' || r->at[2] == 'A');
  tt_array **a = &r->array[r->narray];
  if (r->narray == MOST_VALUES) return tt__fail(err, TT_ENOTIMPL, "a function of more than %d arrays", MOST_VALUES);
  if (r->word) {
    int64_t stride[TT_PROGRAM_RANK];
    for (int k = 0; k < rank; k++) stride[k] = r->word[1 + rank + k] * (int64_t)tt__dtype_size(d);
    TT_TRY(tt__from_data(d, rank, r->word + 1, (const void *)(intptr_t)r->word[0], stride, a, err));
    r->word += 1 + 2 * rank;
  } else {
    TT_TRY(stand_in(d, rank, r->length, a, err));
  }
  *v = (tt_value){.tag = TT_V_ARRAY, .as.array = *a};
  r->narray++;
  return TT_OK;
}

static void read_number(reader *r, tt_value *v) {
  static const int64_t one[2] = {1, 0}, real_one = 0x3ff0000000000000;
  tt_dtype d = read_dtype(&r->at);
  const int64_t *w = r->word ? r->word : one;
  if (d == TT_BOOL) {
    *v = (tt_value){.tag = TT_V_BOOL, .as.b = w[0] != 0};
  } else if (d == TT_U64) {
    *v = (tt_value){.tag = TT_V_UINT, .as.u = (uint64_t)w[0]};
  } else if (tt__is_complex(d)) {
    *v = (tt_value){.tag = TT_V_COMPLEX};
    memcpy(&v->as.z, r->word ? w : one, sizeof v->as.z);
  } else if (tt__is_float(d)) {
    *v = (tt_value){.tag = TT_V_FLOAT};
    memcpy(&v->as.f, r->word ? w : &real_one, sizeof v->as.f);
  } else {
    *v = tt_v_int(w[0]);
  }
  if (r->word) r->word += tt__is_complex(d) ? 2 : 1;
}

/* Something known: a letter for what it is, and what it is. */
static tt_code read_known(reader *r, tt_value *v, tt_error *err) {
  char kind = r->at[1];
  r->at += 2;
  const char *from = r->at;
  size_t n = strcspn(from, ";|)");
  r->at += n;
  *v = (tt_value){.tag = TT_V_NONE};
  if (kind == 'i') *v = tt_v_int(strtoll(from, NULL, 10));
  if (kind == 'f') *v = tt_v_float(strtod(from, NULL));
  if (kind == 'b') *v = (tt_value){.tag = TT_V_BOOL, .as.b = *from == '1'};
  if (kind == 'd') {
    const char *at = from;
    *v = (tt_value){.tag = TT_V_DTYPE, .as.dtype = read_dtype(&at)};
  }
  if (kind != 's') return TT_OK;
  if (r->ntext + n + 1 > MOST_TEXT) return tt__fail(err, TT_ENOTIMPL, "words longer than %d letters", MOST_TEXT);
  *v = (tt_value){.tag = TT_V_STRING, .as.s = memcpy(r->text + r->ntext, from, n)};
  r->ntext += n + 1;
  return TT_OK;
}

static tt_code read_value(reader *r, tt_value *v, tt_error *err) {
  if (*r->at == '-') {
    r->at++;
    *v = (tt_value){.tag = TT_V_MISSING};
    return TT_OK;
  }
  if (*r->at == '=') return read_known(r, v, err);
  if (*r->at == 'A') return read_array(r, v, err);
  if (*r->at != '(') {
    read_number(r, v);
    return TT_OK;
  }
  tt_value item[MOST_PARAMS];
  int n = 0;
  for (r->at++; *r->at && *r->at != ')'; r->at += *r->at == ';') {
    if (n == MOST_PARAMS) return tt__fail(err, TT_ENOTIMPL, "more than %d items in a tuple", MOST_PARAMS);
    TT_TRY(read_value(r, &item[n++], err));
  }
  r->at++;
  if (r->nvalue + n > MOST_VALUES) return tt__fail(err, TT_ENOTIMPL, "more than %d values", MOST_VALUES);
  *v = (tt_value){.tag = TT_V_TUPLE, .as.tuple = {.item = &r->value[r->nvalue], .n = n}};
  if (n) memcpy(&r->value[r->nvalue], item, sizeof *item * (size_t)n);
  r->nvalue += n;
  return TT_OK;
}

/* ---- the function */

/* Functions that change what they are given, or draw: of copies that would be seen by nobody. */
static bool is_of_values(const char *name) {
  static const char *const others[] = {"put",    "place", "putmask", "copyto",     "fill_diagonal", "put_along_axis",
                                       "ufunc.", "nn.",   "random.", "generator.", "empty",         NULL};
  for (int k = 0; others[k]; k++)
    if (strncmp(name, others[k], strlen(others[k])) == 0) return false;
  return true;
}

/* NumPy's name with or without its module. */
static const tt_function_row *row_of(const char *name, size_t n) {
  static const char *const modules[] = {"", "linalg.", "fft."};
  char full[64];
  for (size_t k = 0; k < sizeof modules / sizeof *modules; k++) {
    snprintf(full, sizeof full, "%s%.*s", modules[k], (int)n, name);
    const tt_function_row *row = tt__function_named(full);
    if (row) return is_of_values(row->info.name) ? row : NULL;
  }
  return NULL;
}

/* The call in the text at r->at, behind its name; its arrays are the reader's. */
static tt_code run(const tt_function_row *row, reader *r, tt_call_frame *f, tt_error *err) {
  tt_value arg[MOST_PARAMS];
  int n = 0;
  for (; *r->at && *r->at != '|'; r->at += *r->at == ';') {
    if (n == MOST_PARAMS) return tt__fail(err, TT_ENOTIMPL, "more than %d arguments", MOST_PARAMS);
    TT_TRY(read_value(r, &arg[n++], err));
  }
  f->arg = arg;
  f->narg = n;
  TT_TRY(row->run(f, err));
  if (f->none || f->out.n == 0)
    return tt__fail(err, TT_ENOTIMPL, "%s() in a compiled function: it gives nothing back", row->info.name);
  return TT_OK;
}

static void end_call(reader *r, tt_call_frame *f) {
  while (f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
  TT_VEC_FEW_FREE(&f->out);
  while (r->narray > 0) tt__array_release(r->array[--r->narray]);
}

/* ---- parameters in their order */

typedef struct parameter {
  const char *name;
  size_t n;
  bool rest; /* *name: all arguments from here on */
} parameter;

static int parameters(const char *signature, parameter *out) {
  int n = 0, depth = 0;
  bool quoted = false;
  const char *from = signature;
  for (const char *s = signature;; s++) {
    if (*s == '\'') quoted = !quoted;
    if (!quoted) depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    if (*s && (*s != ',' || depth || quoted)) continue;
    while (*from == ' ') from++;
    bool rest = *from == '*' && from + 1 < s && from[1] != ',';
    from += rest;
    size_t size = strcspn(from, ":=, ");
    if (size && *from != '*' && *from != '/' && n < MOST_PARAMS) out[n++] = (parameter){from, size, rest};
    if (!*s) return n;
    from = s + 1;
  }
}

/* Where an argument's text ends. */
static size_t extent(const char *at) {
  int depth = 0;
  size_t n = 0;
  for (; at[n] && at[n] != '|' && (at[n] != ';' || depth); n++) depth += (at[n] == '(') - (at[n] == ')');
  return n;
}

static int named(const parameter *p, int n, const char *word, size_t size) {
  for (int k = 0; k < n; k++)
    if (p[k].n == size && memcmp(p[k].name, word, size) == 0) return k;
  return -1;
}

/* The arguments of a question, each at its parameter's place. */
static tt_code arrange(const tt_function_row *row, const char *at, tt_str *out, tt_error *err) {
  parameter p[MOST_PARAMS];
  const char *given[MOST_PARAMS] = {NULL}, *rest = NULL;
  int n = parameters(row->info.signature, p), next = 0;
  for (; *at; at += extent(at), at += *at == ';') {
    int k = next;
    if (*at == '@') {
      size_t size = strcspn(at + 1, " ");
      k = named(p, n, at + 1, size);
      if (k < 0) return tt__fail(err, TT_ETYPE, "%s() has no '%.*s'", row->info.name, (int)size, at + 1);
      at += size + 2;
    } else if (k < n && p[k].rest) {
      if (!rest) rest = at;
      continue;
    } else {
      next++;
    }
    if (k >= n) return tt__fail(err, TT_ETYPE, "%s() takes %d arguments", row->info.name, n);
    given[k] = at;
  }
  for (int k = 0; k < n; k++) {
    if (k) tt__str_add(out, ";");
    if (p[k].rest && rest)
      tt__str_addf(out, "(%.*s)", (int)strcspn(rest, "@"), rest);
    else
      tt__str_addf(out, "%.*s", given[k] ? (int)extent(given[k]) : 1, given[k] ? given[k] : "-");
  }
  return TT_OK;
}

static void put_result_type(const tt_array *a, bool scalar, tt_str *out) {
  int rank = a->rank;
  const char *suffix = tt__dtypes[(tt_dtype)a->dtype].suffix;
  if (scalar || rank == 0)
    tt__str_add(out, suffix);
  else
    tt__str_addf(out, "A%s:%dC", suffix, rank);
}

static tt_code try_with(const tt_function_row *row, int64_t length, tt_str *answer, tt_error *err) {
  tt_call_frame f = {.arg = NULL};
  reader r = {.at = strchr(answer->data, '|') + 1, .length = length};
  tt_str types = {0};
  tt__session_lock();
  tt_code c = run(row, &r, &f, err);
  bool many = c == TT_OK && (f.tuple || f.out.n > 1);
  if (many) tt__str_add(&types, "(");
  for (int k = 0; c == TT_OK && k < f.out.n; k++) {
    if (k) tt__str_add(&types, ",");
    put_result_type(f.out.data[k], f.scalar, &types);
  }
  end_call(&r, &f);
  tt__session_unlock();
  if (c == TT_OK) tt__str_addf(answer, "|%s%s", types.data ? types.data : "", many ? ")" : "");
  tt__str_free(&types);
  return c;
}

tt_code tt__host_call_types(const char *question, tt_str *answer, tt_error *err) {
  size_t n = strcspn(question, "|");
  const tt_function_row *row = row_of(question, n);
  if (!row) return tt__fail(err, TT_ENOTIMPL, "np.%.*s() in a compiled function", (int)n, question);
  tt__str_addf(answer, "%s|", row->info.name);
  TT_TRY(arrange(row, question + n + (question[n] == '|'), answer, err));
  if (answer->failed) return tt__fail_memory(err, answer->len);
  tt_code c = TT_EVALUE;
  static const int64_t lengths[] = {3, 2, 1, 32};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths && c != TT_OK && c != TT_ENOTIMPL; k++)
    c = try_with(row, lengths[k], answer, err);
  return c;
}

/* ---- calls */

static int put_number(tt_array *a, int64_t *out, tt_error *err) {
  tt_dtype d = (tt_dtype)a->dtype;
  union {
    char bytes[16];
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t word[2];
  } v = {{0}};
  if (tt__read(a, v.bytes, sizeof v.bytes, err) != TT_OK) return -1;
  out[0] = d == TT_I8 ? v.i8 : d == TT_I16 ? v.i16 : d == TT_I32 ? v.i32 : v.word[0];
  if (d == TT_C128) out[1] = v.word[1];
  return d == TT_C128 ? 2 : 1;
}

/* A result in memory of the call's; how many words, or -1. */
static int put_array(tt_pcall *call, tt_array *a, int64_t *out, tt_error *err) {
  int rank = a->rank;
  int64_t n = 1, size = (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  for (int k = rank - 1; k >= 0; k--) {
    out[1 + k] = tt__array_len(a)[k];
    out[1 + rank + k] = n;
    n *= out[1 + k];
  }
  void *data = call->alloc(call, n * size, 0);
  if (!data) {
    (void)tt__fail_memory(err, (size_t)(n * size));
    return -1;
  }
  out[0] = (int64_t)(intptr_t)data;
  return tt__read(a, data, (size_t)(n * size) + 1, err) == TT_OK ? 1 + 2 * rank : -1;
}

/* The types that were told once must be those of each call: code was made for them. */
static tt_code put_results(tt_pcall *call, const tt_call_frame *f, const char *types, int64_t *out, tt_error *err) {
  types += *types == '(';
  for (int k = 0; k < f->out.n; k++) {
    tt_array *a = f->out.data[k];
    tt_str own = {0};
    put_result_type(a, f->scalar, &own);
    size_t n = own.len;
    bool same = !own.failed && strncmp(types, own.data, n) == 0;
    bool number = own.data && own.data[0] != 'A';
    tt__str_free(&own);
    if (!same) return tt__fail(err, TT_ETYPE, "the result's type hangs on values");
    types += n + (types[n] == ',');
    int words = number ? put_number(a, out, err) : put_array(call, a, out, err);
    if (words < 0) return err->code;
    out += words;
  }
  return TT_OK;
}

int32_t tt__host_call(tt_pcall *call, const char *answer, const int64_t *word, int64_t *out, int64_t line) {
  size_t n = strcspn(answer, "|");
  const tt_function_row *row = row_of(answer, n);
  tt_call_frame f = {.arg = NULL};
  reader r = {.at = answer + n + 1, .word = word};
  tt_error err = {0};
  tt__session_lock();
  tt_code c = row ? run(row, &r, &f, &err) : tt__fail(&err, TT_EINTERNAL, "no function '%.*s'", (int)n, answer);
  if (c == TT_OK) c = put_results(call, &f, strrchr(answer, '|') + 1, out, &err);
  end_call(&r, &f);
  tt__session_unlock();
  if (c == TT_OK) return 0;
  tt__jit_fail(call, c, err.message, line);
  return 1;
}
