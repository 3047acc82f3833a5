/*
** Which names of a text are vectors' types, vectors, members of structs; components of vectors; what is refused.
*/
#include <stdlib.h>
#include <string.h>

#include "lang/opencl_c/translate.h"

/* ---- types */

size_t tt__opencl_type(const char *text, size_t len, bool scalars) {
  static const char *const types[] = {"char", "uchar", "short", "ushort", "int",  "uint",
                                      "long", "ulong", "float", "double", "half", "bool"};
  static const char *const sizes[] = {"16", "2", "3", "4", "8"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    size_t n = strlen(types[i]);
    if (len < n || memcmp(text, types[i], n) != 0) continue;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      size_t m = strlen(sizes[s]);
      if (len >= n + m && memcmp(text + n, sizes[s], m) == 0) return n + m;
    }
    if (scalars) return n;
  }
  return 0;
}

static bool is_vector_word(const tt_opencl_text *t, int64_t k) {
  if (tt__opencl_kind(t, k) != 'i') return false;
  size_t len;
  const char *word = tt__opencl_word(t, k, &len);
  return tt__opencl_type(word, len, false) == len;
}

static void mark(tt_opencl_text *t, int64_t k, unsigned what) {
  int32_t name = t->scan.word.data[k].name;
  if (name >= 0) t->mark[name] |= (unsigned char)what;
}

/* typedef float4 real4; */
static void note_typedef(tt_opencl_text *t, int64_t k) {
  bool vector = false;
  for (int64_t i = k + 1; i < t->scan.word.n; i++) {
    char c = tt__opencl_kind(t, i);
    if (c == '*' || c == '{' || c == '(' || c == '[') return;
    if (c == ';') {
      if (vector) mark(t, i - 1, TT_OPENCL_VECTOR);
      return;
    }
    vector |= tt__opencl_has(t, i, TT_OPENCL_VECTOR);
  }
}

/* struct { float lo, hi; }: no components of vectors. */
static void note_members(tt_opencl_text *t, int64_t k) {
  int64_t open = k + 1;
  while (tt__opencl_kind(t, open) == 'i' || tt__opencl_kind(t, open) == '(')
    open = tt__opencl_kind(t, open) == '(' ? tt__cudac_close(&t->scan, open) + 1 : open + 1;
  if (tt__opencl_kind(t, open) != '{') return;
  int64_t close = tt__cudac_close(&t->scan, open);
  for (int64_t i = open + 1; i < close; i++) {
    char after = tt__opencl_kind(t, i + 1);
    if (tt__opencl_kind(t, i) == 'i' && (after == ';' || after == ',' || after == '[')) mark(t, i, TT_OPENCL_MEMBER);
  }
}

/* Names behind a type or a qualifier, up to the end of the declaration. */
static void note_variables(tt_opencl_text *t, int64_t k, unsigned what) {
  for (int64_t i = k + 1; i < t->scan.word.n; i++) {
    char c = tt__opencl_kind(t, i), after = tt__opencl_kind(t, i + 1);
    if (c == '*' && what == TT_OPENCL_VARIABLE) what = TT_OPENCL_POINTER;
    if (c == ';' || c == ')' || c == '{') return;
    if (c == '(' || c == '[') i = tt__cudac_close(&t->scan, i);
    if (c == '=')
      while (tt__opencl_kind(t, i + 1) && !strchr(",;){", tt__opencl_kind(t, i + 1))) {
        char d = tt__opencl_kind(t, i + 1);
        i = d == '(' || d == '[' ? tt__cudac_close(&t->scan, i + 1) : i + 1;
      }
    if (c == 'i' && after && strchr(";,=[)", after)) {
      mark(t, i, what == TT_OPENCL_VARIABLE && after == '[' ? TT_OPENCL_POINTER : what);
      if (t->opens[k] >= 0 && tt__opencl_kind(t, t->opens[k]) == '(') return; /* one parameter */
    }
  }
}

void tt__opencl_note_names(tt_opencl_text *t) {
  for (int64_t k = 0; k < t->scan.word.n; k++)
    if (is_vector_word(t, k)) mark(t, k, TT_OPENCL_VECTOR);
  for (int64_t k = 0; k < t->scan.word.n; k++) {
    if (tt__opencl_is(t, k, "typedef")) note_typedef(t, k);
    if (tt__opencl_is(t, k, "struct") || tt__opencl_is(t, k, "union")) note_members(t, k);
  }
  for (int64_t k = 0; k < t->scan.word.n; k++) {
    char after = tt__opencl_kind(t, k + 1);
    if (tt__opencl_has(t, k, TT_OPENCL_VECTOR) && (after == 'i' || after == '*'))
      note_variables(t, k, TT_OPENCL_VARIABLE);
    if (tt__opencl_is(t, k, "__local") || tt__opencl_is(t, k, "local")) note_variables(t, k, TT_OPENCL_LOCAL);
  }
}

/* ---- components */

static int component(char c) {
  const char *const letters[] = {"xyzw", "rgba"};
  for (int i = 0; i < 2; i++) {
    const char *at = strchr(letters[i], c);
    if (c && at) return (int)(at - letters[i]);
  }
  return -1;
}

static int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The components that a word names; 0: it is no such word. */
static int read_components(const char *word, size_t len, int out[16]) {
  bool numbers = len > 1 && (word[0] == 's' || word[0] == 'S');
  size_t n = numbers ? len - 1 : len;
  if (n > 16) return 0;
  for (size_t k = 0; k < n; k++) {
    out[k] = numbers ? hexadecimal(word[k + 1]) : component(word[k]);
    if (out[k] < 0) return 0;
  }
  return (int)n;
}

/* Is what ends before word k assigned: `= += ++`? */
static bool is_target(const tt_opencl_text *t, int64_t k) {
  char a = tt__opencl_kind(t, k), b = tt__opencl_kind(t, k + 1), c = tt__opencl_kind(t, k + 2);
  if (a == '=') return b != '=';
  if (!a || !strchr("+-*/%&|^<>", a)) return false;
  if (a == b && (a == '<' || a == '>')) return c == '=';
  return a == b ? a == '+' || a == '-' : b == '=' && a != '<' && a != '>';
}

/* Behind components of components: `.lo.x`. */
static int64_t chain_end(const tt_opencl_text *t, int64_t k) {
  while (tt__opencl_kind(t, k) == '.' && tt__opencl_kind(t, k + 1) == 'i') k += 2;
  return k;
}

/* Is what stands before the dot at k - 1 a vector for sure? */
static bool is_behind_vector(const tt_opencl_text *t, int64_t k) {
  int64_t at = k - (tt__opencl_kind(t, k - 1) == '.' ? 2 : 3);
  if (tt__opencl_kind(t, at) != ']' && tt__opencl_kind(t, at - 1) == '.' && !tt__opencl_has(t, at, TT_OPENCL_VARIABLE))
    return is_behind_vector(t, at); /* components of components */
  if (tt__opencl_kind(t, at) != ']') return tt__opencl_has(t, at, TT_OPENCL_VARIABLE);
  for (int64_t open = at; open >= 0; open--)
    if (tt__opencl_kind(t, open) == '[' && t->opens[open] == t->opens[at])
      return tt__opencl_has(t, open - 1, TT_OPENCL_POINTER);
  return false;
}

int64_t tt__opencl_swizzle(tt_opencl_text *t, int64_t k) {
  static const char *const parts[] = {"lo", "hi", "even", "odd"};
  size_t len;
  const char *word = tt__opencl_word(t, k, &len);
  int of[16], n = read_components(word, len, of);
  bool target = is_target(t, chain_end(t, k + 1));
  if (tt__opencl_has(t, k, TT_OPENCL_MEMBER) && !is_behind_vector(t, k)) return k;
  if (n > 1) {
    tt__str_add(t->out, target ? "tt_at<" : "tt_get<");
    for (int i = 0; i < n; i++) tt__str_addf(t->out, "%s%d", i ? ", " : "", of[i]);
    tt__str_add(t->out, ">()");
    return k + 1;
  }
  if (n == 1 && word[0] == 'S') {
    tt__str_addf(t->out, "s%c", word[1]);
    return k + 1;
  }
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (!tt__opencl_is(t, k, parts[i])) continue;
    tt__str_addf(t->out, "tt_%s%s()", parts[i], target ? "_at" : "");
    return k + 1;
  }
  return k;
}

/* ---- what is not there */

/* The line of word k, from the mark before it, '# 12 "kernel.cl"', and its column in the preprocessed text. */
static void place(const tt_opencl_text *t, int64_t k, int *line, int *column) {
  const tt_cudac_word *word = t->scan.word.data;
  uint32_t at = 0, end = word[k].at, begin = 0;
  *line = 1;
  for (int64_t i = k - 1; i >= 0; i--) {
    char *digits = NULL;
    if (word[i].kind != '#') continue;
    const char *first = t->scan.text + word[i].at + 1;
    int n = (int)strtol(first, &digits, 10);
    if (digits == first) continue;
    at = word[i].at + word[i].len;
    *line = n - 1; /* the mark's own line end follows */
    break;
  }
  for (; at < end; at++)
    if (t->scan.text[at] == '\n') {
      ++*line;
      begin = at + 1;
    }
  *column = (int)(end - begin) + 1;
}

static bool starts(const char *word, size_t len, const char *with) {
  size_t n = strlen(with);
  return len >= n && memcmp(word, with, n) == 0;
}

static const char *reason(const char *word, size_t len) {
  static const struct {
    const char *start, *why;
  } rows[] = {{"image1d_", "images"},
              {"image2d_", "images"},
              {"image3d_", "images"},
              {"read_image", "images"},
              {"write_image", "images"},
              {"get_image_", "images"},
              {"sampler_t", "images"},
              {"CLK_NORMALIZED_", "images"},
              {"CLK_ADDRESS_", "images"},
              {"read_pipe", "pipes"},
              {"write_pipe", "pipes"},
              {"reserve_id_t", "pipes"},
              {"get_pipe_", "pipes"},
              {"enqueue_kernel", "queues of a device"},
              {"enqueue_marker", "queues of a device"},
              {"get_default_queue", "queues of a device"},
              {"ndrange_t", "queues of a device"},
              {"clk_event_t", "queues of a device"},
              {"queue_t", "queues of a device"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (starts(word, len, rows[i].start)) return rows[i].why;
  return NULL;
}

tt_code tt__opencl_refuse(const tt_opencl_text *t, tt_error *err) {
  for (int64_t k = 0; k < t->scan.word.n; k++) {
    if (tt__opencl_kind(t, k) != 'i') continue;
    size_t len;
    int line, column;
    const char *word = tt__opencl_word(t, k, &len), *why = reason(word, len);
    bool pipe = tt__opencl_is(t, k, "pipe") && tt__opencl_kind(t, k + 1) == 'i';
    if (!why && !pipe) continue;
    place(t, k, &line, &column);
    return tt__fail(err, TT_ECOMPILE,
                    "%s:%d:%d: the program does not build: '%.*s': %s are not there for OpenCL C on the CPU",
                    t->how->file, line, column, (int)len, word, why ? why : "pipes");
  }
  return TT_OK;
}
