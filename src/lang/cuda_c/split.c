/*
** A loop that a thread walks with the stride of the grid, "for (int i = index; i < n; i += stride)", is turned over:
** for each step all threads, so that memory is walked in order. That is worth it without barriers, too.
**
** A kernel's body as a row of items: groups of statements without a barrier, loops around them whose number of turns is
** the same for all threads, declarations that are the block's. A barrier ends a group. Whatever does not fit this
** picture is left to fibers: every test here may say no, none may say yes wrongly.
**
** A local variable is one of three: used in one group only (it stays where it is); made of indices and parameters, and
** never changed (it is made anew in each group); kept (an array over the threads).
*/
#include "lang/cuda_c/split.h"

#include <stdlib.h>
#include <string.h>

#include "lang/cuda_c/lockstep.h"
#include "lang/cuda_c/split_int.h"

enum { MOST_GROUPS = 64, MOST_CELLS = 64, DEEP = 32 };

static char kind(const tt_cudac_split *p, int64_t k) { return k < p->s->word.n ? p->s->word.data[k].kind : 0; }
static int32_t name_of(const tt_cudac_split *p, int64_t k) { return k < p->s->word.n ? p->s->word.data[k].name : -1; }

static bool is_among(const tt_cudac_split *p, int64_t k, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (tt__split_is(p, k, words[i])) return true;
  return false;
}
#define IS_AMONG(p, k, words) is_among(p, k, words, sizeof words / sizeof *words)

/* ---- statements */

static bool is_barrier(const tt_cudac_split *p, int64_t k) {
  return (tt__split_is(p, k, "__syncthreads") || tt__split_is(p, k, "__syncwarp")) && tt__split_is(p, k + 1, "(") &&
         tt__split_is(p, k + 2, ")") && tt__split_is(p, k + 3, ";");
}

/* As cuda_c/lockstep.c writes it. */
static bool is_exchange(const tt_cudac_split *p, int64_t k) {
  static const char *const names[] = {"tt_exchange_from", "tt_exchange_up", "tt_exchange_down", "tt_exchange_xor"};
  return IS_AMONG(p, k, names) && tt__split_is(p, k + 1, "(");
}

static bool waits_within(const tt_cudac_split *p, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++)
    if (tt__split_is(p, k, "__syncthreads") || tt__split_is(p, k, "__syncwarp") || is_exchange(p, k)) return true;
  return false;
}

/* The word behind the statement at k, or -1. */
static int64_t statement_end(const tt_cudac_split *p, int64_t k, int depth) {
  int64_t n = p->body_end;
  if (k >= n || depth > DEEP) return -1;
  while (k < n && kind(p, k) == '#') k++;
  if (kind(p, k) == '{') return tt__cudac_close(p->s, k) + 1;
  if (tt__split_is(p, k, "if") || tt__split_is(p, k, "for") || tt__split_is(p, k, "while") ||
      tt__split_is(p, k, "switch")) {
    int64_t at = k + 1;
    if (tt__split_is(p, at, "constexpr")) at++;
    if (!tt__split_is(p, at, "(")) return -1;
    int64_t end = statement_end(p, tt__cudac_close(p->s, at) + 1, depth + 1);
    if (end > 0 && tt__split_is(p, k, "if") && tt__split_is(p, end, "else")) end = statement_end(p, end + 1, depth + 1);
    return end;
  }
  if (tt__split_is(p, k, "do")) {
    int64_t end = statement_end(p, k + 1, depth + 1);
    if (end < 0 || !tt__split_is(p, end, "while") || !tt__split_is(p, end + 1, "(")) return -1;
    return tt__cudac_close(p->s, end + 1) + 2;
  }
  for (; k < n; k++) {
    char c = kind(p, k);
    if (c == '(' || c == '[' || c == '{') k = tt__cudac_close(p->s, k);
    if (c == ';') return k + 1;
    if (c == '}') return -1;
  }
  return -1;
}

int64_t tt__split_statement_end(const tt_cudac_split *p, int64_t k) { return statement_end(p, k, 0); }

/* ---- declarations */

static int64_t skip_angles(const tt_cudac_split *p, int64_t k, int64_t end) {
  int depth = 0;
  for (; k < end; k++) {
    depth += kind(p, k) == '<';
    depth -= kind(p, k) == '>';
    if (depth == 0) return k + 1;
  }
  return end;
}

static int64_t type_end(const tt_cudac_split *p, int64_t k, int64_t end) {
  static const char *const many[] = {"const", "volatile", "unsigned", "signed", "long",
                                     "short", "int",      "char",     "double"};
  static const char *const never[] = {"return", "goto",  "break",   "continue", "delete",  "throw",  "case",
                                      "else",   "auto",  "static",  "using",    "typedef", "struct", "enum",
                                      "union",  "class", "default", "register", "extern",  "sizeof"};
  bool has_type = false;
  if (tt__split_is(p, k, "__typeof__") && kind(p, k + 1) == '(') return tt__cudac_close(p->s, k + 1) + 1;
  while (k < end && kind(p, k) == 'i') {
    if (IS_AMONG(p, k, never)) return -1;
    if (IS_AMONG(p, k, many)) {
      has_type |= !tt__split_is(p, k, "const") && !tt__split_is(p, k, "volatile");
      k++;
      continue;
    }
    if (has_type) break; /* the name */
    has_type = true;
    k++;
    while (tt__split_is(p, k, ":") && tt__split_is(p, k + 1, ":") && kind(p, k + 2) == 'i') k += 3;
    if (kind(p, k) == '<') k = skip_angles(p, k, end);
  }
  return has_type ? k : -1;
}

int64_t tt__split_type_end(const tt_cudac_split *p, int64_t k, int64_t end) { return type_end(p, k, end); }

static bool push_local(tt_cudac_split *p, tt_split_local *l) {
  if (p->nlocal == TT_SPLIT_LOCALS) return false;
  for (int k = 0; k < p->nlocal; k++)
    if (p->local[k].name == l->name) return false; /* two of one name: no */
  p->local[p->nlocal++] = *l;
  return true;
}

/* One declarator of [from, to) behind the type; the word behind it in *next. */
static bool take_declarator(tt_cudac_split *p, int64_t k, int64_t end, tt_split_local *l, int64_t *next) {
  l->stars = 0;
  while (kind(p, k) == '*' || tt__split_is(p, k, "const") || tt__split_is(p, k, "__restrict__"))
    l->stars += kind(p, k++) == '*';
  if (kind(p, k) != 'i') return false;
  l->name = name_of(p, k);
  l->name_word = k++;
  l->dims = k;
  while (kind(p, k) == '[') k = tt__cudac_close(p->s, k) + 1;
  l->dims_end = k;
  l->init = l->init_end = k;
  if (kind(p, k) == '=' && kind(p, k + 1) != '=') {
    l->init = ++k;
    while (k < end && kind(p, k) != ',' && kind(p, k) != ';')
      k = kind(p, k) == '(' || kind(p, k) == '[' || kind(p, k) == '{' ? tt__cudac_close(p->s, k) + 1 : k + 1;
    l->init_end = k;
  }
  *next = k;
  return kind(p, k) == ',' || kind(p, k) == ';';
}

/* Is [from, to) a declaration? Then its variables are noted. False: it is one that is not understood. */
static bool take_declaration(tt_cudac_split *p, int64_t from, int64_t to, int group) {
  int64_t type = from, k = type_end(p, from, to);
  if (k < 0)
    return !tt__split_is(p, from, "auto") && !tt__split_is(p, from, "static") && !tt__split_is(p, from, "struct");
  int64_t after = k;
  while (kind(p, after) == '*' || tt__split_is(p, after, "const") || tt__split_is(p, after, "__restrict__")) after++;
  if (kind(p, after) == '&') return kind(p, after + 1) != 'i' || kind(p, after - 1) != 'i'; /* a reference: no */
  if (kind(p, after) != 'i') return true;
  char c = kind(p, after + 1);
  if (c == '(' || c == '{') return false; /* T x(1); T x{1}; */
  if (c != '=' && c != ';' && c != ',' && c != '[') return true;
  int64_t end = k;
  for (bool first = true;; first = false) {
    tt_split_local l = {.type = type, .type_end = end, .from = from, .to = to, .group = group};
    if (!take_declarator(p, k, to, &l, &k)) return false;
    l.is_alone = first && kind(p, k) == ';';
    if (!push_local(p, &l)) return false;
    if (kind(p, k) == ';') return true;
    k++;
  }
}

/* ---- the row of items */

static bool push_item(tt_cudac_split *p, tt_split_kind what, int64_t from, int64_t to) {
  if (p->nitem == TT_SPLIT_ITEMS) return false;
  p->item[p->nitem++] = (tt_split_item){.kind = what, .from = from, .to = to};
  p->open = false;
  return true;
}

static bool add_statement(tt_cudac_split *p, int64_t from, int64_t to) {
  if (!p->open) {
    if (p->ngroup == MOST_GROUPS || !push_item(p, TT_SPLIT_GROUP, from, to)) return false;
    p->item[p->nitem - 1].group = p->ngroup++;
    p->open = true;
  }
  tt_split_item *g = &p->item[p->nitem - 1];
  g->to = to;
  return take_declaration(p, from, to, g->group);
}

static bool is_blocks_own(const tt_cudac_split *p, int64_t from, int64_t to) {
  static const char *const starts[] = {"constexpr", "typedef", "using", "enum", "static_assert"};
  for (int64_t k = from; k < to; k++)
    if (tt__split_is(p, k, "__shared__")) return true;
  return IS_AMONG(p, from, starts);
}

static bool leaves_within(const tt_cudac_split *p, int64_t from, int64_t to);
static bool returns_within(const tt_cudac_split *p, int64_t from, int64_t to);
static bool is_assigned(const tt_cudac_split *p, int64_t k);
static const tt_split_local *find_local(const tt_cudac_split *p, int32_t name);

/* The initial value of a variable that nobody changes, if [from, to) is one. */
static bool look_through(const tt_cudac_split *p, int64_t *from, int64_t *to) {
  const tt_split_local *l = *to == *from + 1 ? find_local(p, name_of(p, *from)) : NULL;
  if (!l || l->init == l->init_end) return false;
  for (int64_t k = p->body; k < p->body_end; k++)
    if (name_of(p, k) == l->name && k != l->name_word && is_assigned(p, k)) return false;
  *from = l->init;
  *to = l->init_end;
  return true;
}

/* Without brackets around all of it, and casts that widen, "(size_t)": those that OpenCL C's indices come with. */
static void strip(const tt_cudac_split *p, int64_t *from, int64_t *to) {
  for (;;) {
    if (kind(p, *from) == '(' && tt__cudac_close(p->s, *from) == *to - 1) {
      ++*from;
      --*to;
    } else if (kind(p, *from) == '(' && tt__split_is(p, *from + 1, "size_t") && kind(p, *from + 2) == ')') {
      *from += 3;
    } else {
      return;
    }
  }
}

static bool is_thread(const tt_cudac_split *p, int64_t from, int64_t to) {
  strip(p, &from, &to);
  if (to == from + 1 && !look_through(p, &from, &to)) return false;
  strip(p, &from, &to);
  return to == from + 3 && tt__split_is(p, from, "threadIdx") && tt__split_is(p, from + 2, "x");
}

/* What an index begins with: 1, the grid's index; 2, threadIdx.x; 0, something else. */
static int start_kind(const tt_cudac_split *p, int64_t from, int64_t to) {
  strip(p, &from, &to);
  if (to == from + 1 && !look_through(p, &from, &to)) return 0;
  strip(p, &from, &to);
  if (tt__cudac_index_end(p->s, from) == to) return 1;
  int64_t base = tt__cudac_base_end(p->s, from);
  if (base > 0 && base < to && kind(p, base) == '+' && is_thread(p, base + 1, to)) return 1;
  for (int64_t k = from + 1; k < to; k++)
    if (kind(p, k) == '+' && tt__cudac_base_end(p->s, k + 1) == to && is_thread(p, from, k)) return 1;
  return is_thread(p, from, to) ? 2 : 0;
}

/* The head of a loop over [k, to) with the stride of the grid or of the block. */
static bool read_strided(const tt_cudac_split *p, int64_t k, int64_t to, tt_split_item *out) {
  int64_t close = tt__cudac_close(p->s, k + 1), at = type_end(p, k + 2, close);
  if (at < 0 || kind(p, at) != 'i' || kind(p, at + 1) != '=' || tt__split_is(p, k + 2, "const")) return false;
  *out = (tt_split_item){.kind = TT_SPLIT_STRIDED, .from = k, .to = close + 1, .type = k + 2, .name = at};
  int32_t name = name_of(p, at);
  int64_t semi = at + 2;
  while (semi < close && kind(p, semi) != ';' && kind(p, semi) != ',') semi++;
  int start = kind(p, semi) == ';' ? start_kind(p, at + 2, semi) : 0;
  if (!start || find_local(p, name) || name_of(p, semi + 1) != name || kind(p, semi + 2) != '<') return false;
  out->is_of_grid = start == 1;
  out->bound = semi + 3;
  out->bound_end = out->bound;
  while (out->bound_end < close && kind(p, out->bound_end) != ';') out->bound_end++;
  int64_t s = out->bound_end + 1;
  if (kind(p, out->bound) == '=' || kind(p, out->bound) == '<' || name_of(p, s) != name) return false;
  if (kind(p, s + 1) != '+' || kind(p, s + 2) != '=') return false;
  out->step = s + 3;
  out->step_end = close;
  if (out->bound == out->bound_end || out->step >= out->step_end) return false;
  for (int64_t b = close + 1; b < to; b++)
    if (name_of(p, b) == name && is_assigned(p, b)) return false;
  return !leaves_within(p, close + 1, to) && !returns_within(p, close + 1, to);
}

/* Take the loop over [k, to) as strided; *taken tells whether it is one. False: no room. */
static bool take_strided(tt_cudac_split *p, int64_t k, int64_t to, bool *taken) {
  tt_split_item head;
  *taken = tt__split_is(p, k, "for") && read_strided(p, k, to, &head);
  if (!*taken) return true;
  if (p->nitem + 3 > TT_SPLIT_ITEMS || p->ngroup == MOST_GROUPS) return false;
  p->item[p->nitem++] = head;
  tt_split_item body = head;
  body.kind = TT_SPLIT_GROUP;
  body.is_turned = true;
  body.from = head.to;
  body.to = to;
  body.group = p->ngroup++;
  p->item[p->nitem++] = body;
  p->has_strided = true;
  return push_item(p, TT_SPLIT_END, to, to);
}

static bool take_statements(tt_cudac_split *p, int64_t k, int64_t end, int depth) {
  while (k < end) {
    if (kind(p, k) == ';' || kind(p, k) == '#') {
      k++;
      continue;
    }
    if (is_barrier(p, k)) {
      p->open = false;
      p->has_barrier = true;
      k += 4;
      continue;
    }
    int64_t to = statement_end(p, k, 0);
    if (to < 0 || to > end || depth > DEEP) return false;
    if (is_exchange(p, k)) {
      p->has_barrier = true;
      if (!push_item(p, TT_SPLIT_EXCHANGE, k, to)) return false;
    } else if (is_blocks_own(p, k, to)) {
      if (waits_within(p, k, to) || !push_item(p, TT_SPLIT_BLOCKS, k, to)) return false;
    } else if (!waits_within(p, k, to)) {
      bool taken;
      if (!take_strided(p, k, to, &taken) || (!taken && !add_statement(p, k, to))) return false;
    } else if (tt__split_is(p, k, "for")) {
      int64_t close = tt__cudac_close(p->s, k + 1), inner = close + 1;
      bool braced = kind(p, inner) == '{';
      if (!push_item(p, TT_SPLIT_LOOP, k, close + 1)) return false;
      if (!take_statements(p, inner + braced, to - braced, depth + 1) || !push_item(p, TT_SPLIT_END, to, to))
        return false;
    } else {
      return false;
    }
    k = to;
  }
  return true;
}

/* ---- what variables are */

static bool is_assigned(const tt_cudac_split *p, int64_t k) {
  static const char ops[] = "+-*/%&|^<>";
  char before = k > 0 ? kind(p, k - 1) : 0, a = kind(p, k + 1), b = kind(p, k + 2), c = kind(p, k + 3);
  char before2 = k > 1 ? kind(p, k - 2) : 0;
  if (a == '=' && b != '=') return true;
  if (a && strchr(ops, a) && (b == '=' || (a == b && c == '='))) {
    bool compares = (a == '<' || a == '>') && b == '=';
    if (!compares) return true;
  }
  if ((a == '+' && b == '+') || (a == '-' && b == '-')) return true;
  if ((before == '+' && before2 == '+') || (before == '-' && before2 == '-')) return true;
  bool operand = (before2 == 'i' && !tt__split_is(p, k - 2, "return")) || before2 == 'n' || before2 == ']';
  /* Its address; behind a bracket, too: that may be a cast. That of an element says nothing of a pointer. */
  return before == '&' && !operand && a != '[';
}

/* Is the name changed anywhere but where it is declared? */
static bool is_changed(const tt_cudac_split *p, int32_t name, int64_t declared) {
  for (int64_t k = p->body; k < p->body_end; k++)
    if (name_of(p, k) == name && k != declared && is_assigned(p, k)) return true;
  return false;
}

static const tt_split_local *find_local(const tt_cudac_split *p, int32_t name) {
  for (int k = 0; k < p->nlocal; k++)
    if (p->local[k].name == name) return &p->local[k];
  return NULL;
}

/* Is the name declared in the head of a loop around the groups? */
static bool is_turn(const tt_cudac_split *p, int32_t name) {
  for (int i = 0; i < p->nitem; i++)
    for (int64_t k = p->item[i].from; p->item[i].kind == TT_SPLIT_LOOP && k < p->item[i].to; k++)
      if (name_of(p, k) == name && kind(p, k + 1) == '=' && kind(p, k + 2) != '=' && kind(p, k - 1) == 'i') return true;
  return false;
}

/* Declared for the whole block: shared memory, or a constant. */
static bool is_shared(const tt_cudac_split *p, int32_t name) {
  for (int i = 0; i < p->nitem; i++)
    for (int64_t k = p->item[i].from; p->item[i].kind == TT_SPLIT_BLOCKS && k < p->item[i].to; k++)
      if (name_of(p, k) == name && !tt__split_is(p, p->item[i].from, "constexpr") &&
          !tt__split_is(p, p->item[i].from, "enum"))
        return true;
  return false;
}

/* A variable of the program, which somebody may change meanwhile. */
static bool is_global(const tt_cudac_split *p, int64_t k) {
  for (int64_t i = 0; i < p->s->global.n; i++) {
    const char *name = p->s->global.data[i].name, *colon = strrchr(name, ':');
    if (tt__split_is(p, k, colon ? colon + 1 : name)) return true;
  }
  return false;
}

static bool is_builtin_index(const tt_cudac_split *p, int64_t k) {
  static const char *const words[] = {"blockIdx", "blockDim", "gridDim"};
  return IS_AMONG(p, k, words);
}

/*
** Is the expression [from, to) one of indices, parameters that stay, constants and variables like it? *uniform: the
** same for all threads of the block. Names that we do not know are constants, unless they are called or changed.
*/
static bool is_plain(const tt_cudac_split *p, int64_t from, int64_t to, bool *uniform) {
  static const char *const calls[] = {"min", "max", "ceil", "ceilf", "floor", "sizeof", "int", "unsigned", "float"};
  for (int64_t k = from; k < to; k++) {
    char c = kind(p, k);
    if (c == 's' || c == '{' || c == '[' || c == '&' || c == '=' || c == '#') {
      bool is_and = c == '&' && k > from && (kind(p, k - 1) == 'i' || kind(p, k - 1) == 'n' || kind(p, k - 1) == ')');
      bool compares = c == '=' && k > from && strchr("=<>!", kind(p, k - 1));
      if (!is_and && !compares && !(c == '=' && kind(p, k + 1) == '=')) return false;
    }
    if (c == '*' && (k == from || strchr("(+-*/%<>=,&|", kind(p, k - 1)))) return false; /* reads memory */
    if (c != 'i') continue;
    if (k > from && kind(p, k - 1) == '.') continue; /* .x */
    if (tt__split_is(p, k, "threadIdx")) {
      *uniform = false;
      continue;
    }
    if (is_builtin_index(p, k)) continue;
    if (kind(p, k + 1) == '(' && !IS_AMONG(p, k, calls)) return false;
    if (kind(p, k + 1) == '.' || (kind(p, k + 1) == '-' && kind(p, k + 2) == '>')) return false;
    const tt_split_local *l = find_local(p, name_of(p, k));
    if (l && !l->is_made_anew) return false;
    if (l && !l->is_uniform) *uniform = false;
    if (is_turn(p, name_of(p, k)) || is_shared(p, name_of(p, k)) || is_global(p, k)) return false;
    if (is_changed(p, name_of(p, k), l ? l->name_word : -1)) return false;
  }
  return true;
}

/* A value that the threads exchange lies in memory. */
static bool is_exchanged(const tt_cudac_split *p, int32_t name) {
  for (int i = 0; i < p->nitem; i++) {
    const tt_split_item *it = &p->item[i];
    if (it->kind == TT_SPLIT_EXCHANGE && (name_of(p, it->from + 2) == name || name_of(p, it->from + 4) == name))
      return true;
  }
  return false;
}

static void sort_locals(tt_cudac_split *p) {
  for (int i = 0; i < p->nlocal; i++) {
    tt_split_local *l = &p->local[i];
    for (int g = 0; g < p->nitem; g++) {
      const tt_split_item *it = &p->item[g];
      for (int64_t k = it->from; k < it->to && it->kind != TT_SPLIT_END; k++) {
        if (name_of(p, k) != l->name) continue;
        l->used |= it->kind == TT_SPLIT_GROUP ? 1ull << it->group : ~0ull;
      }
    }
    bool uniform = true;
    bool plain = l->init < l->init_end && l->dims == l->dims_end && is_plain(p, l->init, l->init_end, &uniform) &&
                 !is_changed(p, l->name, l->name_word);
    plain = plain && !is_exchanged(p, l->name);
    l->is_made_anew = plain;
    l->is_uniform = plain && uniform;
  }
}

/* Elements of an array of the thread's own, if they are written in digits and few. */
static bool is_small(const tt_cudac_split *p, const tt_split_local *l) {
  long cells = 1;
  for (int64_t k = l->dims; k < l->dims_end; k++) {
    if (kind(p, k) != '[') continue;
    if (kind(p, k + 1) != 'n' || kind(p, k + 2) != ']') return false;
    const tt_cudac_word *w = &p->s->word.data[k + 1];
    char text[12] = "";
    if (w->len >= sizeof text) return false;
    memcpy(text, p->s->text + w->at, w->len);
    long n = strtol(text, NULL, 0);
    if (n < 1 || n > MOST_CELLS) return false;
    cells *= n;
    if (cells > MOST_CELLS) return false;
  }
  return true;
}

/* Do words that are no part of a head, or a head behind its first part, say the same to all threads, in each turn? */
static bool is_same(const tt_cudac_split *p, int64_t from, int64_t to, int32_t turn) {
  for (int64_t k = from; k < to; k++) {
    if (kind(p, k) == '[' || kind(p, k) == 's' || tt__split_is(p, k, "threadIdx")) return false;
    if (kind(p, k) != 'i' || name_of(p, k) == turn || is_builtin_index(p, k) || kind(p, k - 1) == '.') continue;
    if (kind(p, k + 1) == '(' || is_global(p, k) || is_shared(p, name_of(p, k))) return false;
    if (is_turn(p, name_of(p, k))) {
      if (turn >= 0) return false; /* another loop's: only an exchange inside of it may name it */
      continue;
    }
    const tt_split_local *l = find_local(p, name_of(p, k));
    if (l && !l->is_uniform) return false;
    if (is_changed(p, name_of(p, k), l ? l->name_word : -1)) return false;
  }
  return true;
}

/* Both values are variables over the threads, and all threads say the same of the distance and the width. */
static bool is_fit_exchange(const tt_cudac_split *p, const tt_split_item *it) {
  const tt_split_local *to = find_local(p, name_of(p, it->from + 2)), *from = find_local(p, name_of(p, it->from + 4));
  return to && from && to->dims == to->dims_end && from->dims == from->dims_end &&
         is_same(p, it->from + 6, it->to - 2, -1);
}

/* Is it in the head of a loop around groups, which declares what it counts with? */
static bool is_in_head(const tt_cudac_split *p, int64_t k) {
  for (int i = 0; i < p->nitem; i++)
    if (p->item[i].kind == TT_SPLIT_LOOP && p->item[i].from <= k && k < p->item[i].to) return true;
  return false;
}

/* A head "for (int k = a; k < b; k += c)" that all threads see the same. */
static bool is_uniform_loop(const tt_cudac_split *p, const tt_split_item *loop) {
  int64_t k = loop->from + 2, type = type_end(p, k, loop->to);
  if (type < 0 || kind(p, type) != 'i' || kind(p, type + 1) != '=') return false;
  int32_t turn = name_of(p, type);
  if (find_local(p, turn)) return false;
  bool uniform = true;
  int64_t semi = type + 2;
  while (semi < loop->to && kind(p, semi) != ';') {
    if (kind(p, semi) == ',') return false;
    semi++;
  }
  if (!is_plain(p, type + 2, semi, &uniform) || !uniform) return false;
  if (!is_same(p, semi + 1, loop->to - 1, turn)) return false; /* condition and step: the turn, and plain things */
  for (k = loop->to; k < p->body_end; k++)                     /* nobody else turns it */
    if (name_of(p, k) == turn && is_assigned(p, k) && !is_in_head(p, k)) {
      bool another = kind(p, k - 1) == 'i' && kind(p, k + 1) == '='; /* a declaration of the same name */
      if (!another) return false;
    }
  return true;
}

static bool returns_within(const tt_cudac_split *p, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++)
    if (tt__split_is(p, k, "return") || tt__split_is(p, k, "goto") || tt__split_is(p, k, "asm") ||
        tt__split_is(p, k, "__asm__"))
      return true;
  return false;
}

/* A word that would leave, in a loop around the groups, the thread loop instead. */
static bool leaves_within(const tt_cudac_split *p, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++)
    if (tt__split_is(p, k, "break") || tt__split_is(p, k, "continue")) return true;
  return false;
}

/* "if (index < limit) statement" as a whole, the limit the same for all threads: the loop over them ends there. */
static void note_guard(const tt_cudac_split *p, tt_split_item *g) {
  static const char never[] = "&|?,=<>!";
  int64_t open = g->from + 1, close = tt__cudac_close(p->s, open), less = open + 1;
  if (g->is_turned || !tt__split_is(p, g->from, "if") || kind(p, open) != '(' || close >= g->to) return;
  while (less < close && kind(p, less) != '<') less = kind(p, less) == '(' ? tt__cudac_close(p->s, less) + 1 : less + 1;
  for (int64_t k = open + 1; k < close; k++)
    if (k != less && kind(p, k) && strchr(never, kind(p, k))) return;
  if (less >= close || tt__split_statement_end(p, close + 1) != g->to) return;
  if (!is_thread(p, open + 1, less) || !is_same(p, less + 1, close, -1)) return;
  g->guarded = close + 1;
  g->index = open + 1;
  g->limit = less + 1;
  g->limit_end = close;
}

static bool is_fit(tt_cudac_split *p) {
  int loops = 0;
  sort_locals(p);
  for (int i = 0; i < p->nitem; i++)
    if (p->item[i].kind == TT_SPLIT_GROUP) note_guard(p, &p->item[i]);
  for (int i = 0; i < p->nitem; i++) {
    const tt_split_item *it = &p->item[i];
    loops += (it->kind == TT_SPLIT_LOOP || it->kind == TT_SPLIT_STRIDED) - (it->kind == TT_SPLIT_END);
    bool uniform = true;
    if (it->kind == TT_SPLIT_STRIDED && (!is_plain(p, it->bound, it->bound_end, &uniform) ||
                                         !is_plain(p, it->step, it->step_end, &uniform) || !uniform))
      return false;
    if (loops && it->kind == TT_SPLIT_GROUP && leaves_within(p, it->from, it->to)) return false;
    if (it->kind == TT_SPLIT_LOOP && !is_uniform_loop(p, it)) return false;
    if (it->kind == TT_SPLIT_EXCHANGE && !is_fit_exchange(p, it)) return false;
    if (it->kind == TT_SPLIT_GROUP && returns_within(p, it->from, it->to)) return false;
  }
  for (int i = 0; i < p->nlocal; i++) {
    tt_split_local *l = &p->local[i];
    /* (a plain one inside a loop may read the loop's turn of its own time only: is_plain refuses turns) */
    if (tt__split_is_kept(l) && !is_small(p, l)) return false;
    if (tt__split_is_kept(l) && l->dims < l->dims_end && !l->is_alone) return false;
  }
  for (int64_t k = p->params; k < p->params_end; k++) /* parameters that a thread changes for itself: no */
    if (name_of(p, k) >= 0 && is_changed(p, name_of(p, k), -1)) return false;
  return true;
}

/* Only the kernel itself waits, and only by plain barriers. */
static bool waits_plainly(const tt_cudac_split *p) {
  for (int64_t k = p->body; k < p->body_end; k++) {
    const tt_cudac_word *w = &p->s->word.data[k];
    bool barrier = tt__split_is(p, k, "__syncthreads") || tt__split_is(p, k, "__syncwarp");
    if (w->kind == 'i' && !barrier && tt__cudac_is_wait(p->s->text + w->at, w->len)) return false;
    if (w->kind == 'i' && tt__split_is(p, k, "volatile")) return false; /* threads that watch each other */
  }
  return !tt__cudac_callees_have(p->s, p->body, p->body_end, tt__cudac_is_wait);
}

static bool split(tt_cudac_scan *s, const tt_cudac_kernel *k, tt_str *out) {
  const tt_cudac_def *d = &s->def.data[k->def];
  tt_cudac_split one = {.s = s, .body = d->open + 1, .body_end = d->close}, *p = &one;
  p->params = tt__cudac_params(s, d->head, d->open);
  if (p->params < 0) return false;
  p->params_end = tt__cudac_close(s, p->params);
  if (!take_statements(p, p->body, p->body_end, 0)) return false;
  if (!p->has_barrier && !p->has_strided) return false;
  if (!waits_plainly(p) || !is_fit(p)) return false;
  tt__cudac_split_write(p, k, out);
  return true;
}

bool tt__cudac_split(tt_cudac_scan *s, const tt_cudac_kernel *k, tt_str *out) {
  if (split(s, k, out)) return true;
  tt_str text = {0};
  tt_cudac_scan again = {0};
  bool good = tt__cudac_lockstep(s, k, &text) && tt__cudac_scan(&again, text.data, text.len, NULL) == TT_OK &&
              again.kernel.n == s->kernel.n;
  if (good) {
    tt_cudac_kernel same = *k;
    same.def = again.kernel.data[k - s->kernel.data].def;
    good = split(&again, &same, out);
  }
  tt__cudac_scan_free(&again);
  tt__str_free(&text);
  return good;
}
