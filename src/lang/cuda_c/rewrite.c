/*
** CUDA's words to C++'s. Everything else, white space and line marks included, is copied as it stands.
*/
#include <stdlib.h>
#include <string.h>

#include "lang/cuda_c/scan.h"

/* The words of a product of block number and block size, both ways round, with and without brackets. */
static int64_t match_base(const tt_cudac_scan *s, int64_t k) {
  bool bracket = tt__cudac_is(s, k, "(");
  if (bracket) k++;
  bool index = tt__cudac_is(s, k, "blockIdx"), dim = tt__cudac_is(s, k, "blockDim");
  if (!index && !dim) return -1;
  bool ok = tt__cudac_is(s, k + 1, ".") && tt__cudac_is(s, k + 2, "x") && tt__cudac_is(s, k + 3, "*") &&
            tt__cudac_is(s, k + 4, index ? "blockDim" : "blockIdx") && tt__cudac_is(s, k + 5, ".") &&
            tt__cudac_is(s, k + 6, "x") && (!bracket || tt__cudac_is(s, k + 7, ")"));
  return ok ? k + 7 + bracket : -1;
}

static int64_t match_thread(const tt_cudac_scan *s, int64_t k) {
  return tt__cudac_is(s, k, "threadIdx") && tt__cudac_is(s, k + 1, ".") && tt__cudac_is(s, k + 2, "x") ? k + 3 : -1;
}

static bool is_one_of(const tt_cudac_scan *s, int64_t k, const char *chars) {
  return k >= 0 && k < s->word.n && s->word.data[k].len == 1 && strchr(chars, s->text[s->word.data[k].at]);
}

/* "(size_t)" and its like before word k: a cast that widens, under which the sum has the same value. */
static bool widened(const tt_cudac_scan *s, int64_t k) {
  static const char *const wide[] = {"size_t", "long", "int64_t", "uint64_t", "ptrdiff_t", "ssize_t"};
  int64_t i = k - 2;
  bool is_wide = false;
  if (!tt__cudac_is(s, k - 1, ")")) return false;
  for (; i > 0 && k - i < 6 && s->word.data[i].kind == 'i'; i--)
    for (size_t w = 0; w < sizeof wide / sizeof *wide; w++) is_wide |= tt__cudac_is(s, i, wide[w]);
  return is_wide && tt__cudac_is(s, i, "(") &&
         !(i > 0 && s->word.data[i - 1].kind == 'i' && !tt__cudac_is(s, i - 1, "return"));
}

/* The end of `blockIdx.x * blockDim.x + threadIdx.x` where it stands as a whole, or -1. */
static int64_t match_index(const tt_cudac_scan *s, int64_t k) {
  bool free = k == 0 || is_one_of(s, k - 1, "=(,{[;?:<>&|!") || tt__cudac_is(s, k - 1, "return") || widened(s, k);
  if (!free || (is_one_of(s, k - 1, "&") && !is_one_of(s, k - 2, "&"))) return -1;
  int64_t at = match_base(s, k), end = -1;
  if (at >= 0 && tt__cudac_is(s, at, "+"))
    end = match_thread(s, at + 1);
  else if ((at = match_thread(s, k)) >= 0 && tt__cudac_is(s, at, "+") && !widened(s, k))
    end = match_base(s, at + 1);
  return end >= 0 && !is_one_of(s, end, "*/%.[(") ? end : -1;
}

int64_t tt__cudac_base_end(const tt_cudac_scan *s, int64_t k) { return match_base(s, k); }
int64_t tt__cudac_index_end(const tt_cudac_scan *s, int64_t k) { return match_index(s, k); }

/* A word that becomes other words, with whatever stands in brackets behind it. */
typedef struct word_row {
  const char *from, *to;
  enum { ALONE, DROP_BRACKET } bracket;
} word_row;
static const word_row rows[] = {
    {"__device__", "", ALONE},
    {"__host__", "", ALONE},
    {"__constant__", "", ALONE},
    {"__managed__", "", ALONE},
    {"__forceinline__", "inline __attribute__((always_inline))", ALONE},
    {"tt_shared", "__attribute__((aligned(64)))", ALONE}, /* in a form that runs a whole block */
    {"__noinline__", "__attribute__((noinline))", ALONE},
    {"__grid_constant__", "", ALONE},
    {"__align__", "__attribute__((aligned", ALONE},
    {"__launch_bounds__", "", DROP_BRACKET},
    {"__cluster_dims__", "", DROP_BRACKET},
    {"__maxnreg__", "", DROP_BRACKET},
    {"__tt_block__", "", DROP_BRACKET},
};

static void copy_words(const tt_cudac_scan *s, int64_t from, int64_t to, tt_str *out) {
  if (from >= to) return;
  const tt_cudac_word *a = &s->word.data[from], *b = &s->word.data[to - 1];
  tt__str_add_n(out, s->text + a->at, b->at + b->len - a->at);
}

/* Line ends that a replacement would swallow. */
static void copy_line_ends(const tt_cudac_scan *s, int64_t from, int64_t to, tt_str *out) {
  if (from >= to || to > s->word.n) return;
  const tt_cudac_word *a = &s->word.data[from], *b = &s->word.data[to - 1];
  for (uint32_t at = a->at; at < b->at + b->len; at++)
    if (s->text[at] == '\n') tt__str_add(out, "\n");
}

/* Inside a function, or at the outermost level? */
static bool is_inside(const tt_cudac_scan *s, int64_t k) {
  for (int64_t i = 0; i < s->def.n; i++)
    if (s->def.data[i].open < k && k < s->def.data[i].close) return true;
  return false;
}

/*
** extern __shared__ T name[];  becomes  T *name = (T *)tt_dynamic_shared;
** Returns the word after what was written, or -1 when the words are no such declaration.
*/
static int64_t write_dynamic(const tt_cudac_scan *s, int64_t k, tt_str *out) {
  int64_t shared = -1, name = -1, end = k, at = -1;
  while (end < s->word.n && end - k < 64 && !is_one_of(s, end, ";{}=")) {
    if (tt__cudac_is(s, end, "__shared__")) shared = end;
    if (name < 0 && is_one_of(s, end, "[")) name = end - 1;
    end++;
  }
  if (shared < 0 || name <= shared || !tt__cudac_is(s, end, ";") || s->word.data[name].kind != 'i') return -1;
  if (!tt__cudac_is(s, name + 2, "]")) return -1;
  tt_str type = {0};
  for (int64_t i = k + 1; i < name; i++) {
    if (tt__cudac_is(s, i, "__shared__") || tt__cudac_is(s, i, "static")) continue;
    if (tt__cudac_is(s, i, "__tt_at__")) { /* OpenCL C: not from the beginning on */
      at = i + 2;
      i += 3;
      continue;
    }
    if ((tt__cudac_is(s, i, "__align__") || tt__cudac_is(s, i, "alignas") || tt__cudac_is(s, i, "__attribute__")) &&
        tt__cudac_is(s, i + 1, "(")) {
      i = tt__cudac_close(s, i + 1);
      continue;
    }
    copy_words(s, i, i + 1, &type);
    tt__str_add(&type, " ");
  }
  tt_str rest = {0};
  copy_words(s, name + 3, end, &rest);
  const char *t = type.data ? type.data : "int ", *r = rest.data ? rest.data : "";
  tt_str spelled = {0};
  copy_words(s, name, name + 1, &spelled);
  const char *n = spelled.data ? spelled.data : "";
  if (is_inside(s, k)) {
    tt__str_addf(out, "%s(*%s)%s = (%s(*)%s)", t, n, r, t, r);
    if (at < 0) tt__str_add(out, "tt_dynamic_shared");
    if (at >= 0) tt__str_addf(out, "tt_local_of(%.*s)", (int)s->word.data[at].len, s->text + s->word.data[at].at);
  }
  if (!is_inside(s, k)) tt__str_addf(out, "static const tt_dynamic<%s> %s = {}", t, n);
  out->failed |= type.failed | rest.failed | spelled.failed;
  tt__str_free(&type);
  tt__str_free(&rest);
  tt__str_free(&spelled);
  copy_line_ends(s, k, end, out);
  return end;
}

static int64_t write_row(const tt_cudac_scan *s, const word_row *row, int64_t k, tt_str *out) {
  tt__str_add(out, row->to);
  bool bracket = tt__cudac_is(s, k + 1, "(");
  if (!bracket) return k + 1;
  int64_t close = tt__cudac_close(s, k + 1);
  if (close >= s->word.n) return k + 1;
  if (strcmp(row->from, "__align__") == 0) {
    copy_words(s, k + 1, close + 1, out);
    tt__str_add(out, "))");
    return close + 1;
  }
  if (row->bracket != DROP_BRACKET) return k + 1;
  copy_line_ends(s, k, close + 1, out);
  return close + 1;
}

/* Is word k the name of shared memory that the function around it declares? */
static bool is_blocks_own(const tt_cudac_scan *s, int64_t k) {
  const tt_cudac_def *d = NULL;
  for (int64_t i = 0; i < s->def.n && !d; i++)
    if (s->def.data[i].open < k && k < s->def.data[i].close) d = &s->def.data[i];
  if (!d || s->word.data[k].kind != 'i') return false;
  for (int64_t i = d->open; i < k; i++) {
    if (!tt__cudac_is(s, i, "__shared__") && !tt__cudac_is(s, i, "tt_shared")) continue;
    for (; i < k && !is_one_of(s, i, ";"); i++)
      if (s->word.data[i].name == s->word.data[k].name && is_one_of(s, i + 1, "[;,=")) return true;
  }
  return false;
}

/* The declaration of shared memory that word k, a semicolon, ends: its first word, or -1. */
static int64_t shared_before(const tt_cudac_scan *s, int64_t k) {
  for (int64_t i = k - 1; i >= 0 && !is_one_of(s, i, ";{}"); i--)
    if (tt__cudac_is(s, i, "__shared__")) return tt__cudac_is(s, i - 1, "extern") ? -1 : i;
  return -1;
}

/* " + sizeof(name)" for each name that a declaration of shared memory from word k on makes. */
static void add_sizes(const tt_cudac_scan *s, int64_t k, tt_str *out) {
  for (; k < s->word.n && !is_one_of(s, k, ";{}"); k++) {
    const tt_cudac_word *w = &s->word.data[k];
    if (is_one_of(s, k, "[(")) {
      k = tt__cudac_close(s, k);
    } else if (w->kind == 'i' && is_one_of(s, k + 1, "[;,=")) {
      tt__str_add(out, " + sizeof(");
      tt__str_add_n(out, s->text + w->at, w->len);
      tt__str_add(out, ")");
    }
  }
}

/*
** A block has 48 KiB of shared memory that is declared: CUDA's assembler refuses more. What word k, the end of a
** declaration, sees of its function is added up there; what functions that are called declare is not.
*/
static void write_limit(const tt_cudac_scan *s, int64_t k, tt_str *out) {
  enum { DEEP = 64 };
  int64_t open[DEEP]; /* where the braces around word i begin */
  int depth = 0;
  const tt_cudac_def *d = NULL;
  for (int64_t i = 0; i < s->def.n && !d; i++)
    if (s->def.data[i].open < k && k < s->def.data[i].close) d = &s->def.data[i];
  if (!d) return;
  for (int64_t i = d->open; i < k; i++) {
    if (is_one_of(s, i, "{") && depth < DEEP) open[depth++] = i;
    if (is_one_of(s, i, "}") && depth > 0) depth--;
  }
  tt__str_add(out, " static_assert(0");
  for (int64_t i = d->open, at = 0; i < k; i++) {
    if (is_one_of(s, i, "{")) {
      if (at < depth && open[at] == i)
        at++;
      else
        i = tt__cudac_close(s, i); /* a block that has ended */
    } else if (tt__cudac_is(s, i, "__shared__") && !tt__cudac_is(s, i - 1, "extern")) {
      add_sizes(s, i + 1, out);
    }
  }
  tt__str_add(out, " <= 49152, \"too much shared data: more than 49152 bytes are dynamic (shared=)\");");
}

/* Atomic operations on it need no lock. */
static bool is_block_atomic(const tt_cudac_scan *s, int64_t k) {
  static const char *const names[] = {"atomicAdd",  "atomicSub", "atomicMin", "atomicMax",
                                      "atomicExch", "atomicAnd", "atomicOr",  "atomicXor"};
  if (!tt__cudac_is(s, k + 1, "(")) return false;
  int64_t at = tt__cudac_is(s, k + 2, "&") ? k + 3 : k + 2;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tt__cudac_is(s, k, names[i])) return at < s->word.n && is_blocks_own(s, at);
  return false;
}

/* Does the declaration with `__global__` at word k say inline by itself? */
static bool has_inline(const tt_cudac_scan *s, int64_t k) {
  int64_t from = k, to = k;
  while (from > 0 && !is_one_of(s, from - 1, ";{}") && s->word.data[from - 1].kind != '#') from--;
  while (to < s->word.n && !is_one_of(s, to, ";{(")) to++;
  for (int64_t i = from; i < to; i++)
    if (tt__cudac_is(s, i, "inline") || tt__cudac_is(s, i, "__inline__") || tt__cudac_is(s, i, "__forceinline__"))
      return true;
  return false;
}

static bool begins_declaration(const tt_cudac_scan *s, int64_t k) {
  return k == 0 || is_one_of(s, k - 1, ";{}") || s->word.data[k - 1].kind == '#';
}

/* What lies beyond a variable is no other variable: memory of nobody stands before each of them. */
static void add_gap(int64_t k, bool shared, tt_str *out) {
  if (shared)
    tt__str_addf(out, "static __thread __attribute__((used)) char tt_gap_%lld[1024]; ", (long long)k);
  else
    tt__str_addf(out, "static __attribute__((used)) char tt_gap_%lld[1024], tt_gap_d_%lld[1024] = {1}; ", (long long)k,
                 (long long)k);
}

/* The replacement of what begins at word k. Returns the word behind it; k itself: nothing to replace. */
static int64_t replace(const tt_cudac_scan *s, int64_t k, bool check, tt_str *out) {
  const tt_cudac_word *w = &s->word.data[k];
  if (w->kind != 'i' && w->kind != '(') return k;
  int64_t end = match_index(s, k);
  if (end >= 0) {
    tt__str_add(out, "tt_index_x(tt_global_x, threadIdx.x, blockIdx.x, blockDim.x)");
    copy_line_ends(s, k, end, out);
    return end;
  }
  if (w->kind != 'i') return k;
  if (!check && is_block_atomic(s, k)) {
    tt__str_add(out, "tt_block_");
    tt__str_add_n(out, s->text + w->at, w->len);
    return k + 1;
  }
  if (check && tt__cudac_is(s, k, "return") && tt__cudac_is(s, k + 1, ";")) {
    tt__str_add(out, "{ tt_leaves(); return; }");
    return k + 2;
  }
  if (tt__cudac_is(s, k, "extern") && (end = write_dynamic(s, k, out)) >= 0) return end;
  if (tt__cudac_is(s, k, "__shared__")) {
    bool is_static = tt__cudac_is(s, k - 1, "static");
    if (check && begins_declaration(s, k)) add_gap(k, true, out);
    tt__str_add(out, is_static ? "thread_local" : "static thread_local");
    tt__str_add(out, " __attribute__((aligned(64)))");
    return k + 1;
  }
  bool is_variable = tt__cudac_is(s, k, "__constant__") || tt__cudac_is(s, k, "__device__");
  if (check && is_variable && begins_declaration(s, k) && !is_inside(s, k)) add_gap(k, false, out);
  if (tt__cudac_is(s, k, "__global__")) {
    tt__str_add(out, has_inline(s, k) ? "" : "inline "); /* not compiled by itself */
    tt__str_add(out, "__attribute__((always_inline))");
    return k + 1;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (tt__cudac_is(s, k, rows[i].from)) return write_row(s, &rows[i], k, out);
  return k;
}

/* ---- types of fixed widths, which the prelude defines and some programs do, too */

enum { NWIDTH = 8 };
static const char *const widths[NWIDTH] = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                                           "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

/* The words from which on they mean the program's own: `typedef unsigned long long uint64_t;`. */
static void own_widths(const tt_cudac_scan *s, int64_t from[NWIDTH]) {
  for (int i = 0; i < NWIDTH; i++) from[i] = INT64_MAX;
  for (int64_t k = 0; k < s->word.n; k++) {
    if (!tt__cudac_is(s, k, "typedef") || is_inside(s, k)) continue;
    int64_t end = k;
    while (end < s->word.n && !is_one_of(s, end, ";{")) end++;
    for (int i = 0; i < NWIDTH; i++)
      if (from[i] == INT64_MAX && tt__cudac_is(s, end - 1, widths[i])) from[i] = k;
  }
}

static bool is_own_width(const tt_cudac_scan *s, int64_t k, const int64_t from[NWIDTH]) {
  for (int i = 0; i < NWIDTH; i++)
    if (from[i] < k && tt__cudac_is(s, k, widths[i])) return true;
  return false;
}

void tt__cudac_name_widths(const tt_cudac_scan *s, tt_str *out) {
  int64_t from[NWIDTH];
  own_widths(s, from);
  for (int i = 0; i < NWIDTH; i++)
    if (from[i] != INT64_MAX) tt__str_addf(out, "#define %s tt_own_%s\n", widths[i], widths[i]);
}

/* ---- what is refused */

/* The line of word k: counted from the last line mark before it, '# 12 "kernel.cu"', or from the beginning. */
static int marked_line(const tt_cudac_scan *s, int64_t k) {
  uint32_t at = 0, end = s->word.data[k].at;
  int line = 1;
  for (int64_t i = 0; i < k; i++) {
    const tt_cudac_word *w = &s->word.data[i];
    if (w->kind != '#') continue;
    char *digits = NULL;
    int n = (int)strtol(s->text + w->at + 1, &digits, 10);
    if (digits == s->text + w->at + 1) continue;
    at = w->at + w->len;
    line = n - 1; /* the mark's own line end follows */
  }
  for (; at < end; at++) line += s->text[at] == '\n';
  return line;
}

tt_code tt__cudac_refuse(const tt_cudac_scan *s, const char *file, tt_error *err) {
  for (int64_t k = 1; k + 2 < s->word.n; k++) {
    uint32_t at = s->word.data[k].at;
    if (!is_one_of(s, k, "<") || at + 2 >= s->len || strncmp(s->text + at, "<<<", 3) != 0) continue;
    const tt_cudac_word *name = &s->word.data[k - 1];
    return tt__fail(err, TT_ECOMPILE,
                    "%s:%d: the program does not compile: %.*s<<<...>>>: launches in a text are not there: launch the "
                    "kernel from the host, get_function(\"%.*s\")",
                    file, marked_line(s, k), (int)name->len, s->text + name->at, (int)name->len, s->text + name->at);
  }
  return TT_OK;
}

void tt__cudac_rewrite(const tt_cudac_scan *s, bool check, tt_str *out) {
  uint32_t at = 0;
  int64_t own[NWIDTH];
  own_widths(s, own);
  for (int64_t k = 0; k < s->word.n;) {
    const tt_cudac_word *w = &s->word.data[k];
    tt__str_add_n(out, s->text + at, w->at - at);
    at = w->at;
    if (is_own_width(s, k, own)) tt__str_add(out, "tt_own_");
    int64_t next = replace(s, k, check, out);
    if (next == k) {
      tt__str_add_n(out, s->text + at, w->len);
      if (is_one_of(s, k, ";") && shared_before(s, k) >= 0) write_limit(s, k, out);
      next = k + 1;
    }
    const tt_cudac_word *last = &s->word.data[next - 1];
    at = last->at + last->len;
    k = next;
  }
  tt__str_add_n(out, s->text + at, s->len - at);
}
